-- What analysts are told besides noisy values is the same for all neighbours: texts, bounds, plans, errors and whether there is
-- one, shapes, numbers of steps, charges.  Neighbours differ in one record, replaced by awkward ones.  See CURATOR.md.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- Writes down all that is public of a data set under the name d, and of objectives and plans on what can be made of it.
local facts = [==[
local lines, texts = {}, {}

local function text_of(value, depth)
  if type(value) ~= "table" or depth > 3 then return tostring(value) end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = key .. "=" .. text_of(value[tonumber(key) or key], depth + 1) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function note(label, f)
  local results = { pcall(f) }
  for i = 1, #results do results[i] = text_of(results[i], 0) end
  lines[#lines + 1] = label .. ": " .. table.concat(results, " | ") .. " spent " .. budget.spent
  return #results > 1 and results[1] == "true"
end

local function made(f, ...)
  local ok, value = pcall(f, ...)
  return ok and value or nil
end

local d = data.d
local parts = {
  { "whole", function() return d end }, { "part", function() return d:take(3) end }, { "one", function() return d:take(1) end },
  { "l1", function() return d:clip_rows("l1", 0.5) end }, { "tiny", function() return d:clip_rows("linf", 2^-400) end },
  { "group", function() return d:clip_rows(pn.norm.group(2), 0.5) end },
  { "lp", function() return d:clip_rows(pn.norm.lp(3), 0.5) end },
  { "labels", function() return d:clip_labels(-1, 1) end }, { "label 1", function() return d:clip_labels(0.5, 1) end },
  { "bias", function() return d:add_bias() end }, { "with", function() return d:with_labels { 1, -1, 0.5, 2, 3, 4 } end },
  { "scaled", function() return d:rescale({ -1, 0 }, { 1, 2^-300 }) end }, { "wrong", function() return d:rescale(1, -1) end },
  { "mapped", function() return d:transform { { 1, 2 }, { 0, 1e-3 } } end },
  { "no map", function() return d:transform { { 1 } } end },
  { "shuffled", function() return d:shuffle(pn.rng.secure()) end },
  { "split", function() return d:split(0.5, pn.rng.secure()) end },
}
local losses = {
  { "logistic", pn.loss.logistic }, { "squared", pn.loss.squared }, { "hinge", pn.loss.hinge }, { "poisson", pn.loss.poisson },
  { "softmax", function() return pn.loss.softmax { classes = 2 } end },
  { "listed", function() return pn.loss.glm(function(z, y) return (z - y)^2 end, { labels = { -1, 1 } }) end },
  { "other list", function() return pn.loss.glm(function(z, y) return (z - y)^2 end, { labels = { -1, 0.5 } }) end },
  { "no number", function() return pn.loss.glm(function(z) return pn.sqrt(z) end, { labels = { lo = -1, hi = 1 } }) end },
  { "pole", function() return pn.loss.glm(function(z, y) return 1 / (z - y) end, { labels = { lo = -1, hi = 1 } }) end },
  { "steep", function() return pn.loss.glm(function(z, y) return pn.exp(700 * z) end, { labels = { lo = -1, hi = 1 } }) end },
}
for _, part in ipairs(parts) do
  note(part[1], function()
    local x, other = part[2]()
    return x, x.bounds, x.n, x.p, x.sparse, x.storage, x.name, other
  end)
  local x = made(part[2])
  for _, loss in ipairs(x and losses or {}) do
    for _, clip in ipairs { false, 0.5 } do
      note(part[1] .. " " .. loss[1], function()
        local o = pn.objective { data = x, loss = loss[2](), set = pn.set.l2_ball { dim = x.p, radius = 1 }, clip = clip or nil }
        return o, o.bounds
      end)
    end
  end
end

-- Runs: that they end well, what they charge, the shape of what they give.
local solvers = { "gradient_descent", "sgd", "svrg", "svrg_pp", "mirror_descent", "accelerated_mirror_descent", "frank_wolfe",
                  "frank_wolfe_convex", "newton", "zeroth_order", "zeroth_order_naive" }
local ends_by_noise = { "second_order", "trust_region" }
local function objective(solver, loss)
  local free = solver:find "zeroth_order" or solver == "second_order" or solver == "trust_region"
  return pn.objective { data = d:clip_labels(-1, 1), loss = loss[2](),
    set = not free and pn.set.l1_ball { dim = 2, radius = 1 } or nil,
    reg = free and pn.reg.l2(0.1) or nil, clip = solver ~= "newton" and 0.5 or nil }
end
for _, at in ipairs { 1, 2, 8, 9, 10 } do
  for _, solver in ipairs(solvers) do
    note(solver .. " " .. losses[at][1], function()
      local plan = pn.solve[solver].plan(objective(solver, losses[at]), { rho = 1e-3, iterations = 2 })
      local text, fit = tostring(plan), plan:run()
      return text, plan.settings, #fit.theta, #fit.trace, fit.steps, fit.stopped, fit.privacy
    end)
  end
end

-- Questions: shapes and errors.
local box = { columns = { 1, 2, 0 }, low = { -1, 0, -1 }, high = { 1, 1, 1 } }
for _, kind in ipairs { "count", "sum", "mean", "histogram", "quantile" } do
  for _, wrong in ipairs { false, true } do
    local options = { data = d, epsilon = 1e-3, q = kind == "quantile" and 0.5 or nil }
    if kind == "histogram" then options.column, options.edges = 1, wrong and { 1, 0 } or { -1, 0, 0.1, 1 }
    elseif kind == "quantile" then options.column, options.candidates = 0, wrong and { 0 } or { -1, 0, 0.1, 1 }
    else options.columns, options.low, options.high = box.columns, box.low, wrong and { 1, 0, 1 } or box.high end
    local ok, answer = pcall(pn.query[kind], options)
    note("query " .. kind, function()
      if not ok then return answer end
      local kind = type(answer.value)
      return kind, kind == "userdata" and #answer.value, answer.deviation, answer.rank_error, answer.event
    end)
  end
end

-- Last, for what these spend depends on what was released.
for _, solver in ipairs(ends_by_noise) do
  local before = budget.spent
  local ok = pcall(function() return pn.solve[solver](objective(solver, losses[1]), { rho = 1e-3 }) end)
  lines[#lines + 1] = solver .. tostring(ok) .. tostring(budget.spent > before)
end

-- 64 KiB can be printed: a checksum of each line.
for _, line in ipairs(lines) do
  local sum = 5381
  for j = 1, #line do sum = (sum * 33 + line:byte(j)) & 0xffffffffffff end
  print(line:sub(1, 30), sum)
end
return #lines
]==]

local base = { { 0.6, 0.8 }, { -0.3, 0.2 }, { 0.1, -0.9 }, { 0.5, 0.5 }, { -0.6, 0.1 }, { 0.2, 0.3 } }
local labels = { 1, -1, 1, -1, 1, -1 }

-- The base with record i replaced.
local function replaced(i, row, label)
  local X, y = {}, {}
  for k = 1, #base do
    X[k], y[k] = k == i and row or base[k], k == i and label or labels[k]
  end
  return X, y
end

local storages = {
  dense = function(X, y) return pn.data.from(X, y) end,
  float32 = function(X, y) return pn.data.from(X, y):float32() end,
  sparse = function(X, y)
    local entries = { rows = #X, cols = 2, i = {}, j = {}, x = {} }
    for i, row in ipairs(X) do
      for j, x in ipairs(row) do
        if x ~= 0 then
          entries.i[#entries.i + 1], entries.j[#entries.j + 1], entries.x[#entries.x + 1] = i, j, x
        end
      end
    end
    return pn.data.from(pn.sparse(entries), y)
  end,
}

local function told(storage, X, y)
  local ledger = pn.ledger { rho = 100 }
  local c = pn.curator { data = { d = storages[storage](X, y):clip_rows("l2", 1) }, ledger = ledger, memory = 64, seconds = 60,
    instructions = 10^9, threads = 1, process = tier.thorough }
  local result = c:run(facts, "a")
  assert.is_true(result.ok, result.error)
  return result.output, tonumber(result.answer)
end

describe("what analysts are told besides noisy values", function()
  local records = { { 0, 0 }, { 1, 0 }, { 5e-324, 0 }, { 1e-310, -1e-310 }, { 3e38, 3e38 }, { 0.1, -0.9 } }

  for storage in pairs(storages) do
    local once = storage == "dense" and it or law
    once("is the same for all neighbours of " .. storage .. " data", function()
      local want, count = told(storage, base, labels)
      assert.truthy(count > 300)
      for k = 1, tier.draws(#records, 2) do
        local record = records[k]
        local got = told(storage, replaced(k % 2 == 0 and 1 or 6, record, k % 3 == 0 and 1 or -1))
        local other = got:gmatch "[^\n]+"
        for line in want:gmatch "[^\n]+" do
          assert.equal(line, other(), ("record %g, %g"):format(record[1], record[2]))
        end
      end
    end)
  end

  it("is not the same of other data, so that differences would show", function()
    local want = told("dense", base, labels)
    assert.truthy(want ~= told("dense", replaced(1, base[1], 0.5)))
  end)
end)
