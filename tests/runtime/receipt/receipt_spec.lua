-- receipt_spec.lua -- receipts of every solver: events that are all there and read back, sensitivities that events do not fall
-- short of, and no number that the records have a part in.
local pn = require "penumbra"

local P = 4

local function binary(seed, n)
  return pn.data.synthetic.logistic { n = n or 1500, p = P, seed = seed }:clip_rows("l2", 1)
end

local function numbers(seed)
  return pn.data.synthetic.lasso { n = 1500, p = P, seed = seed }:clip_rows("l2", 1):clip_labels(-1, 1)
end

local makers = {
  ball = function(seed)
    return pn.objective { data = binary(seed), loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = P } }
  end,
  cross = function(seed)
    return pn.objective { data = binary(seed), loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = P } }
  end,
  box = function(seed)
    return pn.objective { data = binary(seed), loss = pn.loss.logistic(), set = pn.set.linf_ball { dim = P } }
  end,
  ridge = function(seed)
    return pn.objective { data = binary(seed), loss = pn.loss.logistic(), reg = pn.reg.l2 { lambda = 0.1 } }
  end,
  clipped = function(seed) return pn.objective { data = binary(seed), loss = pn.loss.logistic(), clip = 0.5 } end,
  free = function(seed) return pn.objective { data = binary(seed), loss = pn.loss.logistic() } end,
  squares = function(seed) return pn.objective { data = numbers(seed), loss = pn.loss.squared() } end,
  lasso = function(seed)
    return pn.objective { data = numbers(seed), loss = pn.loss.squared(), set = pn.set.l1_ball { dim = P } }
  end,
}

-- Columns are in different hands.
makers.shared = function(seed)
  local d = pn.data.synthetic.lasso { n = 500, p = P, seed = seed }:clip_rows("linf", 1):clip_labels(-1, 1)
  return pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = P } }
end

local PRICE = { epsilon = 2, delta = 1e-6 }

-- One case or more for each solver: where, and what besides the price.
local cases = {
  gradient_descent = { { "ball", iterations = 5 }, { "clipped", iterations = 5, neighbours = "zero_out" },
    { "ball", iterations = 5, batch = 100 } },
  sgd = { { "ball", iterations = 10 } },
  noisy_sgd = { { "ball", iterations = 10 } },
  adam = { { "clipped", iterations = 5 } },
  heavy_ball = { { "ball", iterations = 5 } },
  nesterov = { { "ball", iterations = 5 } },
  ftrl = { { "ball", iterations = 8 } },
  matrix_factorization_sgd = { { "ball" } },
  adaptive_clipping = { { "clipped", iterations = 5 } },
  coordinate_descent = { { "cross", iterations = 5 } },
  mirror_descent = { { "cross", iterations = 5 } },
  accelerated_mirror_descent = { { "ball", iterations = 5 } },
  frank_wolfe = { { "cross", iterations = 5 }, { "box", iterations = 5 } },
  frank_wolfe_convex = { { "cross" } },
  svrg = { { "ball", epochs = 2, inner = 5, batch = 50 } },
  svrg_pp = { { "ball" } },
  objective_perturbation = { { "free" } },
  output_perturbation = { { "ridge" } },
  sufficient_statistics = { { "squares" } },
  newton = { { "ball", iterations = 4 }, { "clipped", iterations = 4 } },
  trust_region = { { "free", iterations = 4 } },
  second_order = { { "ball" } },
  zeroth_order = { { "free" } },
  zeroth_order_naive = { { "free" } },
  auto = { { "ball" } },
  federated_frank_wolfe = { { "shared", iterations = 3 } },
}
local without = { exact = true, block_frank_wolfe = true } -- they have no private form

local function options_of(case)
  local options = {}
  for k, v in pairs(PRICE) do options[k] = v end
  for k, v in pairs(case) do
    if k ~= 1 then options[k] = v end
  end
  if case[1] == "shared" then options.transport = pn.federated.in_process { columns = { 2, P - 2 } } end
  return options
end

local function fit_of(name, case, seed)
  return pn.solve[name](makers[case[1]](seed or 1), options_of(case))
end

-- ---- events ----

-- An event made again of what a receipt says of it.
local function event_of(e)
  if e.kind == "compose" then
    local parts = {}
    for i, part in ipairs(e.parts) do parts[i] = pn.event.repeated(event_of(part.event), part.times) end
    return pn.event.compose(parts)
  end
  local parameters = { neighbours = e.neighbours }
  for name, value in pairs(e.parameters) do
    if type(value) == "table" and value.kind then value = event_of(value) end
    if not (math.type(value) == "integer" and value == 0) then parameters[name] = value end -- draws = 0 is left out
  end
  return pn.event[e.kind](parameters)
end

local function parts_of(charge, sum)
  sum = sum or {}
  if charge.event.kind == "compose" then
    for _, part in ipairs(charge.event.parts) do
      sum[part.event.text] = (sum[part.event.text] or 0) + part.times * charge.times
    end
  else
    sum[charge.event.text] = (sum[charge.event.text] or 0) + charge.times
  end
  return sum
end

-- What a Gaussian event is charged for, inside sampling too; nil for others.
local function gaussian(e)
  while e.parameters and e.parameters.event do e = e.parameters.event end
  if e.kind == "fixed_sampled_and_whole" then return e.parameters.sampled_sensitivity end
  return e.kind == "gaussian" and e.parameters.sensitivity or nil
end

describe("the receipt of a fit", function()
  it("is there for every solver", function()
    for name in pairs(pn.solve) do assert.is_truthy(cases[name] or without[name], name .. " has no case here") end
    for name in pairs(cases) do assert.is_truthy(pn.solve[name], name) end
  end)

  for name, list in pairs(cases) do
    for k, case in ipairs(list) do
      describe(("by %s, case %d,"):format(name, k), function()
        local fit, text, r

        setup(function()
          fit = fit_of(name, case)
          text = fit:receipt().json
          r = fit:receipt():table()
        end)

        it("says what the fit says", function()
          assert.same({ "penumbra receipt", 1, "fit" }, { r.format, r.schema, r.subject })
          assert.equal(fit.privacy.epsilon, r.guarantee.price.epsilon)
          assert.equal(fit.privacy.delta, r.guarantee.price.delta)
          assert.equal(fit.privacy.neighbours, r.neighbours.relation)
          assert.equal(fit.steps, r.run.steps)
          assert.same({ "secure", true }, { r.noise.source, r.noise.protects })
          assert.equal(fit:receipt().json, text)
        end)

        it("has events that read back and cost what it says", function()
          local e = pn.event.repeated(event_of(r.plan.charge.event), r.plan.charge.times)
          assert.is_true(e:epsilon(PRICE.delta) <= r.plan.price.epsilon * (1 + 1e-9) or r.plan.whole)
          for _, release in ipairs(r.plan.releases) do
            if release.event then assert.equal(release.event.neighbours, event_of(release.event).neighbours) end
          end
        end)

        it("lists every release that it charges", function()
          local fine, sum = true, {}
          for _, release in ipairs(r.plan.releases) do
            assert.is_truthy(release.sensitivity, release.question)
            fine = fine and release.times
            if release.event then
              for e, times in pairs(parts_of { times = release.times or 0, event = release.event }) do
                sum[e] = (sum[e] or 0) + times
              end
            end
          end
          assert.is_true(#r.plan.releases > 0)
          if fine and not r.plan.whole then assert.same(parts_of(r.plan.charge), sum) end
        end)

        it("charges no less than its sensitivities", function()
          for _, release in ipairs(r.plan.releases) do
            local s, charged = release.sensitivity, release.event and gaussian(release.event)
            assert.near(s.value, s.contributions * s.contribution * s.factor / s.divisor + s.rounding, 1e-12 * s.value)
            local batches = release.mechanism.batches
            local unit = batches and batches.scheme ~= "full" and s.divisor > 1 and batches.batch or 1
            if charged and release.mechanism.kind ~= "stream" then
              local stated = s.value * unit
              assert.is_true(charged >= stated * (1 - 1e-13), ("%s: %.17g < %.17g"):format(release.question, charged, stated))
              assert.is_true(charged <= stated * (1 + 1e-6), ("%s: %.17g > %.17g"):format(release.question, charged, stated))
            end
            if s.rule == "gradient" then
              local bounds, clip = r.objective.bounds, r.objective.clip or math.huge
              local most = math.max(-bounds.slope.low, bounds.slope.high) * r.objective.rows.l2
              assert.is_true(s.contribution >= math.min(most, clip) * (1 - 1e-12))
            end
          end
        end)

        it("has no number that the records have a part in", function()
          local adaptive = fit.privacy.charged_epsilon or #r.plan.releases == 0 or name == "second_order"
          local function public(json)
            json = json:gsub('"theta": "%x+"', "")
            if adaptive then json = json:gsub('"paid": "%x+"', ""):gsub('\n "run": %b{}', "") end
            return json
          end
          for _, seed in ipairs { 2, 3 } do
            local other = fit_of(name, case, seed):receipt().json
            assert.are_not.equal(text:match '"theta": "(%x+)"', other:match '"theta": "(%x+)"')
            assert.equal(public(text), public(other))
          end
        end)
      end)
    end
  end

  it("states the whole plan's price of a run that was stopped, and what was charged beside it", function()
    local walk = pn.solve.gradient_descent.plan(makers.ball(1), { epsilon = 1, delta = 1e-6, iterations = 20 }):steps()
    for _ = 1, 7 do walk() end
    local r = walk:fit():receipt():table()
    assert.equal(7, r.run.steps)
    assert.equal(7, r.run.paid.times)
    assert.equal(20, r.plan.charge.times)
    assert.equal(r.plan.price.epsilon, r.guarantee.price.epsilon)
    assert.is_true(r.run.paid_price.epsilon < 0.7 * r.guarantee.price.epsilon)
    assert.same({ false, true }, { r.stops[1].charged, r.stops[2].charged })
    assert.equal(r.plan.price.epsilon, r.stops[2].price.epsilon)
    assert.equal(20, r.stops[2].to)
    assert.are_not.equal(r.digests.plan, r.digests.paid)
  end)

  it("says that seeded noise protects nobody", function()
    local fit = pn.solve.gradient_descent(makers.ball(1), { epsilon = 1, delta = 1e-6, iterations = 2, rng = pn.rng.seeded(1) })
    local receipt = fit:receipt()
    local r = receipt:table()
    assert.same({ "simulated", false, false }, { r.noise.source, r.noise.protects, r.guarantee.holds })
    assert.matches("protects anybody", receipt.words)
  end)

  it("refuses a run without privacy", function()
    local fit = pn.solve.gradient_descent(makers.ball(1), { privacy = false, iterations = 2 })
    assert.has_error(function() return fit:receipt() end)
  end)

  it("has rho where rho was asked for, and numbers of a solver of one's own", function()
    local mine = pn.solver { name = "mine", step = function(s, ask)
      s.x = s.set:project(s.x - ask:gradient(s.x))
      s.seen = ask:value(s.x, { share = 0.5 })
    end }
    local r = mine(makers.ball(1), { rho = 0.1, iterations = 3 }):receipt():table()
    assert.same({ "rho", "zcdp" }, { r.plan.asked.unit, r.plan.accountant })
    assert.is_nil(r.plan.price.epsilon)
    local rules = {}
    for _, release in ipairs(r.plan.releases) do rules[release.question] = release.sensitivity.rule end
    assert.same({ gradient = "gradient", value = "range" }, rules)
  end)
end)

describe("a receipt in a file", function()
  local path = os.tmpname()

  teardown(function()
    for _, ending in ipairs { "", ".key", ".head", ".json" } do os.remove(path .. ending) end
  end)

  it("comes back as it was, of a model and by itself", function()
    local fit = pn.solve.frank_wolfe(makers.cross(1), { epsilon = 1, delta = 1e-6, iterations = 3 })
    local receipt = fit:receipt()
    fit:save(path)
    assert.equal(receipt.json, pn.load(path):receipt().json)
    assert.equal(receipt.json, pn.receipt(path).json)
    pn.load(path):save(path)
    assert.equal(receipt.json, pn.receipt(path).json)
    assert.equal(path .. ".json", receipt:save(path .. ".json"))
    assert.equal(receipt.json, pn.receipt(path .. ".json").json)
    assert.matches("^receipt of a fit, penumbra", tostring(receipt))
    assert.matches("document   " .. #receipt.json .. " bytes of JSON", tostring(receipt))
  end)

  it("is left out of a model without privacy", function()
    local fit = pn.solve.gradient_descent(makers.ball(1), { privacy = false, iterations = 2 })
    fit:save(path)
    local refused, why = pcall(pn.receipt, path)
    assert.is_false(refused)
    assert.matches("without privacy", tostring(why))
  end)

  it("is refused of files that have none, whatever they hold", function()
    for _, text in ipairs { "", "x", "{", "{}", '{"format": "penumbra receipt"', "penumbra-ledger ", "\0\0\0",
      ("x"):rep(5000), '{"format": "penumbra receip"}', "[1]" } do
      local file <close> = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      local read, why = pcall(pn.receipt, path)
      assert.is_false(read, text)
      assert.is_string(why)
    end
    assert.is_false(pcall(pn.receipt, path .. ".nowhere"))
    assert.is_false(pcall(pn.receipt, "/"))
  end)
end)
