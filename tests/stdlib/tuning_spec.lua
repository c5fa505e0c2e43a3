-- tuning_spec.lua -- pn.tune: what it plans, pays, tells and keeps to itself, and what it refuses.
-- Figures: programs written apart from the runtime (the largest mu of a run for a whole price).
local pn = require "penumbra"
local refusal = require "tests.tools.refusal"
local tier = require "tests.tools.tier"
local law = tier.law(it)
local refused, refused_like = refusal.refused, refusal.refused_like
local selection = require "penumbra.selection"

local function objective(n, options)
  local data = pn.data.synthetic.logistic { n = n or 2000, p = 3, seed = 5 }:clip_rows("l2", 1)
  local parts = { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3, radius = 10 } }
  for name, value in pairs(options or {}) do parts[name] = value end
  return pn.objective(parts)
end

local shared = objective()

local function options(changes)
  local all = { solver = "gradient_descent", objective = shared, grid = { step = { 0.001, 5 }, iterations = { 10 } },
    score = "accuracy", epsilon = 1, delta = 1e-5 }
  for name, value in pairs(changes or {}) do
    if value == "none" then all[name] = nil else all[name] = value end
  end
  return all
end

local function near(want, got) assert.is_true(math.abs(got - want) <= 2e-6 * want, want .. " " .. got) end

describe("pn.tune.plan", function()
  it("has the mu of a run, of a single fit, the runs and the chance", function()
    for _, row in ipairs {
      { 1, 0.168932297, 0.268051123 }, { 4, 0.626137348, 0.924930898 }, { 1, 0.197376663, 0.268051123, 0.9 },
      { 4, 0.718303631, 0.924930898, 0.9 },
    } do
      local plan = pn.tune.plan(options { epsilon = row[1], target = row[4] })
      near(row[2], plan.mu)
      assert.is_true(plan.mu <= row[2] * (1 + 1e-8))
      near(row[3], plan.mu_single)
      assert.equal(44, plan.q99)
      assert.near(0.526316, plan.chance, 1e-6)
    end
    local plan = pn.tune.plan(options())
    assert.same({ 1600, 400, 2 }, { plan.train, plan.held, plan.configurations })
    near(1 / (400 * plan.mu), plan.deviation)
    assert.is_nil(pn.tune.plan(options { grid = { step = { lo = 0.1, hi = 10, log = true } } }).configurations)
  end)

  it("parts the records by the rule of d:holdout", function()
    local y = {}
    for i = 1, 43 do y[i] = i end
    local data = pn.data.from(pn.mat.zeros(43, 1), y)
    local train, held = selection.parts(data, 5)
    local kept, out = data:holdout(5)
    assert.same({ kept.y:table(), out.y:table() }, { train.y:table(), held.y:table() })
  end)

  it("prints itself, with the honest alternative", function()
    local text = tostring(pn.tune.plan(options()))
    for _, part in ipairs { "nothing is spent yet", "epsilon 1 at delta 1e%-05", "at most 44 with probability 0.99",
      "0.526 that one of the best 10 %%", "one fit at the default configuration with epsilon 1: mu 0.268051, 1.59 times as much",
      "plan:tune compares predicted risks and costs nothing" } do
      assert.truthy(text:find(part), part)
    end
  end)

  it("spends nothing", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-5 }
    local plan = pn.tune.plan(options { ledger = ledger })
    assert.equal(0, ledger.spent)
    assert.equal("rdp", plan.accountant)
    assert.is_true(plan.mu < pn.tune.plan(options()).mu)
    assert.is_true(plan.event:epsilon(1e-5) <= 1)
  end)
end)

describe("pn.tune of a solver whose noise is not Gaussian alone", function()
  local over_l1 = objective(2000, { set = pn.set.l1_ball { dim = 3, radius = 10 } })
  local rows = { { "sgd", { iterations = { 20, 100 }, batch = { 100, 400 } }, shared }, { "sgd", { step = { 0.1, 1 } }, shared },
    { "frank_wolfe", { iterations = { 5, 20 } }, over_l1 }, { "objective_perturbation", { lambda = { 0.01, 0.1 } }, shared } }

  it("costs the price asked, whose base is at least each configuration and the score", function()
    for _, row in ipairs(rows) do
      local given = options { solver = row[1], grid = row[2], objective = row[3], iterations = "none" }
      local plan = pn.tune.plan(given)
      local cost = plan.event:epsilon(1e-5)
      assert.is_true(cost <= 1 and cost >= 0.98, row[1] .. " " .. cost)
      near(1 / (400 * plan.mu), plan.deviation)
      assert.truthy(tostring(plan):find "epsilon [%d.]+ for its model, by Renyi curves", row[1])
      assert.is_true(plan.run_epsilon < 1 and plan.run_epsilon > 0.2)
      local one = pn.event.gaussian { sigma = 1 / plan.mu, sensitivity = 1 }
      assert.is_true(pn.event.selection { event = one }:epsilon(1e-5) <= cost)
    end
  end)

  -- The event's own words without line breaks, as long as they are not cut.
  local function words(event) return (tostring(event):gsub("%s+", " "):gsub(", replace_one$", "")) end

  it("prices what each configuration is charged by itself", function()
    local train = { shared = objective(1600), l1 = objective(1600, { set = pn.set.l1_ball { dim = 3, radius = 10 } }) }
    for _, row in ipairs { { "sgd", "step", { 0.1, 1 }, shared, train.shared },
      { "frank_wolfe", "iterations", { 5, 20 }, over_l1, train.l1 } } do
      local plan = pn.tune.plan(options { solver = row[1], grid = { [row[2]] = row[3] }, objective = row[4] })
      for _, value in ipairs(row[3]) do
        local one = pn.solve[row[1]].plan(row[5], { epsilon = plan.run_epsilon, delta = 1e-5, [row[2]] = value })
        assert.truthy(words(plan.event):find(words(one.event), 1, true), words(plan.event) .. " has no " .. words(one.event))
      end
      near(1 / plan.mu, tonumber(words(plan.event):match "either%(gaussian%(sigma=([%d.]+), sensitivity=1, draws=1%)"))
    end
  end)

  it("prices grids of which only a part is Gaussian noise alone", function()
    local plan = pn.tune.plan(options { solver = "svrg", grid = { epochs = { 1, 3 } }, options = { batch = 1600 } })
    assert.is_true(plan.event:epsilon(1e-5) <= 1)
    local some = pn.tune.plan(options { solver = "sgd", grid = { batch = { 1600, 100 } } })
    local cost = some.event:epsilon(1e-5)
    assert.is_true(some.run_epsilon < 1 and cost <= 1 and cost >= 0.98)
  end)

  it("refuses more curves than it can tell apart, and runs nothing that costs another curve", function()
    local many = {}
    for i = 1, 65 do many[i] = i end
    refused("cost 65 different curves; give a grid with at most 64",
      pn.tune.plan, options { solver = "frank_wolfe", objective = over_l1, grid = { iterations = many } })
    local kept, asked = selection.same, 0
    selection.same = function() asked = asked + 1 return false end
    local ok, answer = pcall(pn.tune, options { solver = "frank_wolfe", objective = over_l1, grid = { iterations = { 5, 20 } } })
    selection.same = kept
    assert(ok, answer)
    assert.is_true(answer.failed and asked > 0)
  end)

  it("pays once, and tells a model", function()
    for _, row in ipairs(rows) do
      local ledger = pn.ledger { epsilon = 1, delta = 1e-5 }
      local answer = pn.tune(options { solver = row[1], grid = row[2], objective = row[3], ledger = ledger })
      assert.equal(3, #answer.theta)
      assert.equal(1, #ledger:report())
      assert.is_true(ledger.spent <= 1 and ledger.spent >= 0.98)
    end
  end)
end)

describe("pn.tune", function()
  law("finds what differs by much more than the noise", function()
    local good = 0
    for seed = 1, 20 do
      local answer = pn.tune(options { objective = shared, epsilon = 20, score = "log_loss", mean = 30, rng = pn.rng.seeded(seed) })
      good = good + (answer.configuration.step == 5 and 1 or 0)
    end
    -- all runs of a search draw the worse one with probability 1/(30 + 1) = .032: 8 of 20 have probability below 1e-7
    assert.is_true(good > 12, good)
  end)

  it("tells a model, its configuration, its score and the whole price, and no number of runs", function()
    local answer = pn.tune(options())
    local names = {}
    for name in pairs(answer) do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "configuration", "found", "plan", "price", "score", "score_name", "theta" }, names)
    assert.equal(3, #answer.theta)
    assert.same({ epsilon = 1, delta = 1e-5, neighbours = "replace_one", accountant = "profile", simulated = false,
      private = true }, answer.price)
    assert.truthy(tostring(answer):find("selection score accuracy .*biased upwards"))
    assert.truthy(tostring(answer):find "not valid after selection")
  end)

  it("charges once, before the first run, and nothing runs where the ledger refuses", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-5 }
    pn.tune(options { ledger = ledger })
    local report = ledger:report()
    assert.same({ 1, 1 }, { #report, report[1].count })
    assert.truthy(tostring(report[1].event):find "^selection%(gaussian")
    local spent = ledger.spent
    refused("Requested", pn.tune, options { ledger = ledger })
    assert.equal(spent, ledger.spent)
    ledger = pn.ledger { epsilon = 1, delta = 1e-5 }
    pn.tune(options { ledger = ledger, accountant = "profile" })
    assert.truthy(tostring(ledger:report()[1].event):find "^approximate")
  end)

  it("is a simulation with a seeded stream, the same each time, which a real ledger refuses", function()
    local first, second = pn.tune(options { rng = pn.rng.seeded(9) }), pn.tune(options { rng = pn.rng.seeded(9) })
    assert.equal(first.score, second.score)
    assert.is_true(first.price.simulated and not first.price.private)
    assert.same({ math.huge, 1 }, { first.price.epsilon, first.price.nominal_epsilon })
    assert.truthy(tostring(first):find "simulated: no privacy, nominally epsilon 1")
    local ledger = pn.ledger { epsilon = 1, delta = 1e-5 }
    refused("seeded noise", pn.tune, options { rng = pn.rng.seeded(9), ledger = ledger })
    assert.equal(0, ledger.spent)
    pn.tune(options { rng = pn.rng.seeded(9), ledger = pn.ledger { epsilon = 1, delta = 1e-5, teaching = true } })
  end)

  it("scores by log loss and by error as well, and pads", function()
    local answer = pn.tune(options { score = "log_loss", epsilon = 10, pad = true, mean = 2 })
    assert.is_true(answer.score > 0 and answer.score < 1.5)
    local data = pn.data.synthetic.lasso { n = 500, p = 3, seed = 1 }:clip_rows("l2", 1):clip_labels(-1, 1)
    local regression = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 3 } }
    answer = pn.tune(options { objective = regression, score = "rmse", range = 2, epsilon = 10 })
    assert.is_true(answer.score >= 0 and answer.score < 2.5)
  end)

  it("stops at a known target, or tells that it was not found", function()
    local found, lost = pn.tune(options { target = -1e6 }), pn.tune(options { target = 1e6, mean = 2 })
    assert.is_true(found.found and #found.theta == 3)
    assert.is_false(lost.found)
    assert.is_nil(lost.theta or lost.configuration or lost.score)
    assert.truthy(tostring(lost):find "no run was found to reach the target")
  end)

  -- With functions of the C half replaced for one search.
  local function with(replaced, f)
    local kept = {}
    for name, new in pairs(replaced) do kept[name], selection[name] = selection[name], new end
    local ok, result = pcall(f)
    for name, old in pairs(kept) do selection[name] = old end
    assert(ok, result)
    return result
  end

  it("takes a run that fails for the worst one, and tells the start where all of them do", function()
    local scores = { 0.7, false, 0.1 }
    local function search(answers)
      local made = 0
      return with({
        score = function()
          made = made + 1
          return assert(answers[made], "not finite")
        end,
        stops = function() return made == #answers end,
      }, function() return pn.tune(options { score = "log_loss" }) end)
    end
    assert.equal(0.1, search(scores).score)
    assert.equal(0.7, search { false, 0.7, false }.score)
    local failed = search { false, false }
    assert.is_true(failed.found and failed.failed)
    assert.equal(0, failed.theta:norm())
    assert.truthy(tostring(failed):find "every run that counted had failed")
  end)

  it("makes runs until the coin says so, and thrown away ones when it pads", function()
    for _, pad in ipairs { false, true } do
      local scored, tossed = 0, 0
      with({
        score = function()
          scored = scored + 1
          return scored == 4 and 1 or 0.1 / scored -- the fourth is thrown away
        end,
        stops = function()
          tossed = tossed + 1
          return tossed == 3
        end,
      }, function() assert.equal(0.1, pn.tune(options { pad = pad }).score) end)
      assert.same({ 3, pad and 66 or 3 }, { tossed, scored }) -- 66: the 0.999 quantile of 1 - 0.9^k
    end
  end)

  it("charges before anything is drawn", function()
    local order = {}
    with({
      charge = function() order[#order + 1] = "charge" end,
      score = function() order[#order + 1] = "score" return 1 end,
      stops = function() return true end,
    }, function() pn.tune(options()) end)
    assert.same({ "charge", "score" }, order)
  end)

  it("draws from ranges, whole numbers too", function()
    for seed = 1, 10 do
      local at = pn.tune(options { rng = pn.rng.seeded(seed), mean = 2, solver = "gradient_descent",
        grid = { step = { lo = 0.01, hi = 100, log = true }, iterations = { lo = 2, hi = 6, whole = true } } }).configuration
      assert.is_true(at.step >= 0.01 and at.step <= 100 and math.type(at.iterations) == "integer" and at.iterations >= 2
        and at.iterations <= 6)
    end
  end)

  it("refuses what its price does not hold for", function()
    local own = pn.solver { name = "own", step = function() end }
    for _, row in ipairs {
      { { runs = 5 }, "a number of runs that is fixed" }, { { count = 5 }, "a number of runs that is fixed" },
      { { mean = 1 }, "mean must be above 1" }, { { on_step = print }, "it would tell how many runs" },
      { { progress = true }, "it would tell how many runs" }, { { score = function() end }, "would not be paid for" },
      { { score = "auc" }, "score must be" }, { { score = "rmse" }, "range is missing" },
      { { holdout = function() end }, "a choice by labels" }, { { holdout = 1 }, "a whole number from 2" },
      { { holdout = 1500 }, "too few on one side" }, { { train = shared }, "by its position alone" },
      { { solver = own }, "could read earlier runs" }, { { solver = "sgdd" }, "name of a solver" },
      { { solver = "sgd", grid = { step = { lo = 1, hi = 2 } } }, "grid.step is a range" },
      { { grid = { step = function() end } }, "a function could read them" },
      { { options = { step = function() end }, grid = { iterations = { 3 } } }, "a function could read them" },
      { { grid = { step = { 1, -1 } } }, "a run with step = %-1 cannot be planned" }, { { grid = {} }, "grid is empty" },
      { { grid = { epsilon = { 1 } } }, "belongs to the search" }, { { options = { privacy = false } }, "belongs to the search" },
      { { grid = { step = { lo = 2, hi = 1 } } }, "lo must be a number below hi" },
      { { grid = { step = { lo = 0, hi = 1, log = true } } }, "needs lo above 0" },
      { { neighbours = "add_remove" }, "leave each record its place" }, { { ledger = pn.ledger { rho = 1 } }, "ledger: Requested" },
      { { epsilon = "none" }, "epsilon must be" }, { { delta = 1 }, "delta must be" }, { { objective = 3 }, "a pn.objective" },
      { { stpe = 1 }, "unknown option 'stpe'" }, { { target = "x" }, "target must be" },
      { { objective = objective(200, { loss = pn.loss.softmax { classes = 3 },
        data = pn.data.from(pn.mat.zeros(10, 1), { 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 }):clip_rows("l2", 1) }),
        score = "log_loss" }, "no single margin" },
    } do
      local message = refused_like(row[2], pn.tune, options(row[1]))
      assert.truthy(message:find "^tune: " or message:find "ledger", message)
    end
    refused("plan:tune{...}, of a plan", pn.tune, shared)
  end)

  it("reads its options without metamethods", function()
    local asked = false
    local spy = setmetatable({ 5 }, { __index = function() asked = true end, __len = function() asked = true return 1 end,
      __pairs = function() asked = true return next, {}, nil end })
    pn.tune(options { grid = { step = spy } })
    assert.is_false(asked)
  end)

  law("costs no more than it says, between worst neighbours", function()
    -- four records, of which two are held out; the label of one of these is turned, at a model that is nearly 0
    local rows = { { 1 }, { 1 }, { 1 }, { 1 } }
    local held = math.tointeger(select(2, pn.data.from(rows, { 1, 2, 3, 4 }):holdout(2)).y[2])
    local function neighbour(label)
      local y = { 1, 1, 1, 1 }
      y[held] = label
      local data = pn.data.from(rows, y):clip_rows("l2", 1)
      return pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 1, radius = 1e-6 } }
    end
    local claimed = options { epsilon = 2, delta = 0.01, holdout = 2, grid = { step = { 1 }, iterations = { 1 } } }
    claimed.objective = neighbour(-1)
    local event = pn.tune.plan(claimed).event
    local result = pn.audit(function(one, rng)
      claimed.objective, claimed.rng = one, rng
      return pn.tune(claimed).score
    end, { neighbours = { neighbour(1), neighbour(-1) }, trials = 400, delta = 0.01, event = event, confidence = 1 - 1e-8,
      rng = pn.rng.seeded(4), progress = false })
    assert.is_false(result.violated)
  end)
end)
