-- lask_clip_spec.lua -- gradients clipped to a length that is known when asked, and the share of records within a length.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local n, p = 300, 5
local data = pn.data.synthetic.logistic { n = n, p = p, seed = 2 }
local obj = pn.objective { data = data, loss = pn.loss.logistic(), clip = 3, reg = pn.reg.l2(0.1) }

-- A solver whose step is `ask_at`, and what its answer is without noise.
local function exactly(objective, ask_at)
  local got
  local probe = pn.solver { name = "probe", step = function(s, ask) got = ask_at(ask, s) end }
  probe(objective, { privacy = false, iterations = 1, rng = pn.rng.seeded(1) })
  return got
end

-- Each record's gradient at x, by hand.
local function parts(set, x)
  local rows = {}
  for i = 1, set.n do
    local row, y = set.X[i], set.y[i]
    rows[i] = row * (-y / (1 + math.exp(y * row:dot(x))))
  end
  return rows
end

local x = pn.vec { 0.3, -1, 0.5, 0.2, 2 }

-- The noise of that question in a plan of one step, in units of what a record of length 1 moves.
local function multiplier(plan)
  return tonumber(tostring(plan):match "multiplier z%s+(%S+)")
end

describe("a gradient with clip", function()
  it("is the mean of gradients that are scaled to that length, and the regulariser's", function()
    for _, clip in ipairs { 0.01, 0.4, 1, 2.9 } do
      local sum = pn.vec.zeros(p)
      for _, g in ipairs(parts(data, x)) do sum = sum + g * math.min(1, clip / g:norm()) end
      local got = exactly(obj, function(ask) return ask:gradient(x, { clip = clip }) end)
      assert.is_true((got - sum * (1 / n) - 0.1 * x):norm() < 1e-12, clip)
    end
    local most = exactly(obj, function(ask) return ask:gradient(x, { clip = 1e9 }) - ask:gradient(x) end)
    assert.is_true(most:norm() < 1e-14, "nothing is longer than the objective's clip")
  end)

  it("costs the same whatever the clip, and has noise in proportion to it", function()
    local function run(clip)
      local probe = pn.solver {
        name = "probe",
        step = function(s, ask) s.x = ask:gradient(0 * s.x, { clip = clip(s.step) }) end,
      }
      local plan = probe.plan(obj, { rho = 0.1, iterations = 2 })
      return plan
    end
    local tiny, small, large = 1e-9, run(function() return 0.5 end), run(function(t) return t end)
    assert.equal(tostring(small.event), tostring(large.event))
    assert.is_true(math.abs(small.sigma - 2 * multiplier(small) / n) < 1e-4 * small.sigma, "2 c/n times z")
    -- 1000 numbers that are all noise: their mean square is 1 +- 0.045
    local squares, mean = 0, exactly(obj, function(ask, s) return ask:gradient(0 * s.x, { clip = tiny }) end)
    local plan = run(function() return tiny end)
    for seed = 1, 200 do squares = squares + (plan:run { rng = pn.rng.seeded(seed) }.theta - mean):norm() ^ 2 end
    local ratio = squares / (1000 * (tiny * plan.sigma) ^ 2)
    assert.is_true(math.abs(ratio - 1) < 0.23, "of the claimed variance: " .. ratio) -- five deviations: 6e-7
  end)

  it("moves by what a record at the clip can add, and that is what is paid for", function()
    local ones = pn.mat { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 9, 0 } }
    local with, without = pn.vec { -1, 1, -1, 1 }, pn.vec { -1, 1, -1, -1 }
    local answers = {}
    for i, labels in ipairs { with, without } do
      local two = pn.objective { data = pn.data.from(ones, labels):clip_labels(-1, 1), loss = pn.loss.logistic(), clip = 5 }
      answers[i] = exactly(two, function(ask) return ask:gradient(pn.vec.zeros(2), { clip = 2 }) end)
    end
    assert.is_true(math.abs((answers[1] - answers[2]):norm() - 2 * 2 / 4) < 1e-12)
  end)

  it("takes batches, losses of several margins and rows that are bounded in place of a clip", function()
    local three = pn.data.from(data.X, pn.vec.ones(n) * 2):clip_labels(1, 3):clip_rows("l2", 1)
    local soft = pn.objective { data = three, loss = pn.loss.softmax { classes = 3 } }
    local theta = pn.vec.linspace(-1, 1, 3 * p)
    local got = exactly(soft, function(ask) return ask:gradient(theta, { clip = 0.05 }) end)
    assert.is_true(got:norm() <= 0.05 + 1e-12 and got:norm() > 1e-4)
    local fit = pn.solver { name = "batched", step = function(s, ask)
      s.x = s.x - ask:gradient(s.x, { clip = 1 / s.step, batch = 30 })
    end } (obj, { epsilon = 1, delta = 1e-6, iterations = 5 })
    local said = tostring(fit.plan):gsub("%s+", " ")
    assert.truthy(said:find("times the length asked for, once a step, of fixed batches of 30", 1, true), said)
  end)

  it("is refused without a length, or where nothing bounds a record", function()
    local function ask_with(options, objective)
      return function() return exactly(objective or obj, function(ask) return ask:gradient(x, options) end) end
    end
    refused("clip of a gradient must be a positive number, got 0", ask_with { clip = 0 })
    refused("clip of a gradient must be a positive number, got -1", ask_with { clip = -1 })
    refused("clip of a gradient must be a positive number, got a table", ask_with { clip = { -1, 1 } })
    local free = pn.objective { data = pn.data.from(data.X, data.y):clip_labels(-1, 1), loss = pn.loss.logistic() }
    local plan = pn.solver { name = "free", step = function(s, ask) s.x = ask:gradient(s.x, { clip = 1 }) end }.plan
    refused("give clip= to pn.objective, or scale the columns by their public ranges", plan, free, { rho = 1, iterations = 1 })
  end)

  it("must have been planned with a clip, and is answered again for the same clip only", function()
    local function step(s, ask)
      s.x = ask:gradient(0 * s.x, s.step > 1 and { clip = 1 } or nil)
    end
    local plan = pn.solver { name = "late", step = step }.plan(obj, { rho = 1, iterations = 2 })
    refused("the step asks gradient in that form, which the plan does not have", plan.run, plan, { rng = pn.rng.seeded(1) })
    local clip, tries = 1, 0
    local ledger = pn.ledger { rho = 1, teaching = true }
    local again = pn.solver { name = "again", step = function(s, ask)
      tries = tries + 1
      s.x = ask:gradient(0 * s.x, { clip = clip })
      if tries == 2 then error "once more" end -- the first try is that of the plan
    end }.plan(obj, { rho = 1, iterations = 1 })
    local walk = again:steps { ledger = ledger, rng = pn.rng.seeded(1) }
    assert.is_false(pcall(walk.step, walk))
    local spent = ledger.spent
    clip = 2
    refused("at another point than the one that was answered", walk.step, walk)
    clip = 1
    walk:step()
    assert.equal(spent, ledger.spent)
  end)
end)

describe("the share within a length", function()
  it("counts the records whose gradients are not longer", function()
    local lengths = {}
    for i, g in ipairs(parts(data, x)) do lengths[i] = math.min(g:norm(), 3) end
    for _, length in ipairs { 0.05, 0.3, 1, 1.7, 2.5, 3.1 } do
      local count = 0
      for _, norm in ipairs(lengths) do count = count + (norm <= length and 1 or 0) end
      assert.is_true(math.abs(exactly(obj, function(ask) return ask:within(x, length) end) - count / n) < 1e-12, length)
    end
  end)

  it("has noise for one record of n, half of that for one left out", function()
    for neighbours, moved in pairs { replace_one = 1, zero_out = 0.5 } do
      local probe = pn.solver { name = "probe", step = function(s, ask) ask:within(s.x, 1) end }
      local plan = probe.plan(obj, { rho = 0.125, iterations = 4, neighbours = neighbours })
      local ideal = moved / n * 4 -- sqrt(T/(2 rho)) = 4
      assert.is_true(plan.sigma >= ideal and plan.sigma < 1.001 * ideal, neighbours .. ": " .. plan.sigma)
    end
  end)

  it("is charged at the prompt as it says, for a length and an answer that are numbers", function()
    local ledger = pn.ledger { rho = 1 }
    local ask = pn.oracle { objective = obj, ledger = ledger }
    local share = ask:within(x, 1, { rho = 0.25 })
    assert.is_true(math.type(share) == "float" and share > -1 and share < 2)
    assert.is_true(math.abs(ledger.spent - 0.25) < 1e-3)
    refused("length must be a positive number, got nil", ask.within, ask, x)
    refused("length must be a positive number, got inf", ask.within, ask, x, math.huge, { rho = 0.1 })
    refused("say what this answer may cost", ask.within, ask, x, 1)
    assert.is_true(math.abs(ledger.spent - 0.25) < 1e-3)
  end)
end)
