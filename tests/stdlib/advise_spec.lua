-- advise_spec.lua -- pn.advise ranks the plans of solvers over each set and spends nothing; the probe is in advise_probe_spec.
local pn = require "penumbra"

local function data(n, p)
  return (pn.data.synthetic.logistic {n = n, p = p, seed = 1}):clip_rows("l2", 1)
end

describe("pn.advise", function()
  it("ranks the solvers of each set by what is predicted, else by bound, and every figure is that of its plan", function()
    local d = data(2000, 16)
    -- plans of objective_perturbation take a third of a second each where their price is an epsilon at a delta
    local budgets = {[{rho = 0.02}] = false, [{epsilon = 1, delta = 1e-7}] = {pn.set.l1_ball {dim = 16}}}
    for budget, over in pairs(budgets) do
      local ranking = pn.advise(d, pn.loss.logistic(), {rho = budget.rho, epsilon = budget.epsilon, delta = budget.delta,
        sets = over or nil})
      assert.equal(over and 1 or 4, #ranking.sets)
      assert.is_true(#ranking >= 12 * #ranking.sets)
      local set, last
      for _, row in ipairs(ranking) do
        if row.set ~= set then set, last = row.set, 0 end
        local figure = row.predicted or row.bound
        if figure then
          assert.is_true(figure >= last)
          last = figure
          assert.is_true(#(row.theorem or row.prediction) > 0 and #row.source > 0)
          local objective = pn.objective {data = d, loss = pn.loss.logistic(), set = row.set}
          local again = pn.solve[row.solver].plan(objective, budget)
          assert.same({again.bound, again.predicted}, {row.bound, row.predicted})
          assert.equal(objective.bounds.reach, row.reach)
        else
          assert.is_true(#row.reason > 0)
          last = math.huge -- none with a figure comes after it
        end
      end
    end
  end)

  it("stars the best solver of each set and no set, which predicted risks do not compare", function()
    local ranking = pn.advise(data(2000, 16), pn.loss.logistic(), {epsilon = 1, delta = 1e-7,
      solvers = {"mirror_descent", "frank_wolfe", "gradient_descent", "adam"}})
    local first, stars, names = {}, 0, {}
    for _, row in ipairs(ranking) do
      assert.equal(first[row.set] == nil, row.best_of_set == true)
      first[row.set] = true
      stars = stars + (row.best_of_set and 1 or 0)
      names[row.set.name] = true
    end
    assert.equal(4, stars)
    assert.is_nil(ranking.best)
    assert.same({l2_ball = true, l1_ball = true, group_ball = true, interpolation_ball = true}, names) -- no one-sided simplex
    local text = tostring(ranking)
    assert.is_nil(text:find("recommended: solve", 1, true))
    for _, part in ipairs {"no set is recommended", "probe=0.1", "radius 1 is a guess", "nothing is spent"} do
      assert.truthy((text:gsub("%s+", " ")):find(part, 1, true), part)
    end
    for line in (text .. "\n"):gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
  end)

  it("recommends over the one set that was asked about, were it the simplex", function()
    local ranking = pn.advise(data(2000, 16), pn.loss.logistic(), {epsilon = 1, delta = 1e-7,
      sets = {pn.set.simplex {dim = 16}}, solvers = {"mirror_descent", "frank_wolfe"}})
    assert.equal(ranking[1], ranking.best)
    assert.is_true(ranking.best.best_of_set)
    assert.truthy(tostring(ranking):find("* recommended: solve." .. ranking.best.solver, 1, true))
    assert.is_nil(tostring(ranking):find("is a guess", 1, true)) -- the caller has chosen it
  end)

  -- epsilon 0.01 on 100 records: noise of the whole budget is far above what is to be learned.
  it("stars nothing over a set where half of what the loss can fall is not to be expected", function()
    local options = {epsilon = 0.01, delta = 1e-7, solvers = {"gradient_descent", "output_perturbation"},
      sets = {pn.set.l2_ball {dim = 50, radius = 4}}}
    local ranking = pn.advise(data(100, 50), pn.loss.logistic(), options)
    assert.is_nil(ranking.best)
    for _, row in ipairs(ranking) do assert.is_nil(row.best_of_set) end
    assert.is_true((ranking[1].predicted or ranking[1].bound) >= ranking[1].reach / 2)
    assert.truthy((tostring(ranking):gsub("%s+", " ")):find("learned over it at this budget", 1, true))
    options.epsilon = 1000
    assert.truthy(pn.advise(data(100, 50), pn.loss.logistic(), options).best)
  end)

  -- ln 2 - ln(1 + exp(-r)) is 0.0350 at r = 0.0712 and 0.0344 at r = 0.07; 0.05 ln 2 = 0.03466.
  it("stars nothing over a set that is too small to move predictions", function()
    local d = data(2000, 4)
    local function best(radius)
      return pn.advise(d, pn.loss.logistic(), {epsilon = 100, delta = 1e-7, solvers = {"gradient_descent"},
        sets = {pn.set.l2_ball {dim = 4, radius = radius}}})
    end
    assert.is_nil(best(0.07).best)
    assert.truthy(tostring(best(0.07)):find("too small a set to move predictions", 1, true))
    assert.truthy(best(0.0712).best)
  end)

  it("takes several radii of the default sets", function()
    local ranking = pn.advise(data(2000, 9), pn.loss.logistic(), {epsilon = 1, delta = 1e-7, radii = {1, 4, 16},
      solvers = {"mirror_descent"}})
    assert.equal(12, #ranking)
    for k, row in ipairs(ranking) do assert.is_near(({1, 4, 16})[(k + 3) // 4], row.set.radius, 1e-9) end
    assert.is_nil(tostring(ranking):find("is a guess", 1, true))
  end)

  it("names a second-order solver that no bound ranks, where one fits", function()
    local d, budget = data(20000, 5), {epsilon = 1, delta = 1e-9, sets = {pn.set.l2_ball {dim = 5}},
      solvers = {"gradient_descent", "newton", "second_order", "trust_region"}}
    local convex = tostring(pn.advise(d, pn.loss.logistic(), budget))
    assert.matches("no figure in 3 of 4 rows: ranking[i].reason says why", convex, 1, true)
    assert.matches("solve.newton(pn.objective{data=,", convex, 1, true)
    assert.is_nil(convex:find("certifies a second-order", 1, true))
    local other = tostring(pn.advise(d, pn.loss.sigmoid(), budget))
    assert.matches("second_order certifies a second-order stationary", other, 1, true)
    assert.is_nil(other:find("solve.newton", 1, true))
    local squared = tostring(pn.advise(d, pn.loss.squared(), {epsilon = 1, delta = 1e-9, sets = budget.sets,
      solvers = {"gradient_descent", "newton", "sufficient_statistics"}}))
    assert.matches("solve.sufficient_statistics(", squared:gsub("%s+", " "), 1, true)
    assert.is_nil(squared:find("newton has no bound", 1, true))
    local noise = pn.advise(data(200, 60), pn.loss.logistic(), {epsilon = 0.01, delta = 1e-9,
      sets = {pn.set.l2_ball {dim = 60}}, solvers = budget.solvers})
    local planned = 0
    for _, row in ipairs(noise) do planned = planned + (row.solver == "newton" and row.plan and 1 or 0) end
    assert.is_true(planned > 0)
    assert.is_nil(tostring(noise):find("solve.newton", 1, true)) -- nothing is left of its Hessian
    for line in (convex .. "\n" .. other):gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
  end)

  it("says what is recommended right below the tables, and asks no solver that cannot be meant", function()
    local ranking = pn.advise(data(581, 9), pn.loss.logistic(), {rho = 0.02})
    local text = tostring(ranking)
    assert.is_true(text:find("no set is recommended", 1, true) < text:find("no figure in ", 1, true))
    for _, row in ipairs(ranking) do
      assert.is_false(row.solver == "block_frank_wolfe" or row.solver == "federated_frank_wolfe")
    end
    local asked = pn.advise(data(581, 9), pn.loss.logistic(), {rho = 0.02, solvers = {"block_frank_wolfe", "frank_wolfe"}})
    local reasons = {}
    for _, row in ipairs(asked) do reasons[row.solver] = row.reason end
    assert.is_true(#reasons.block_frank_wolfe > 0)
  end)

  it("counts the rows without a figure in one line, and keeps their reasons", function()
    local ranking = pn.advise(data(581, 9), pn.loss.logistic(), {epsilon = 1, solvers = {"frank_wolfe", "gradient_descent", "sgd",
      "svrg"}})
    local text = tostring(ranking)
    local lacking, needy = 0, 0
    for _, row in ipairs(ranking) do
      lacking = lacking + (row.reason and 1 or 0)
      needy = needy + (row.reason and row.reason:find("Gaussian noise needs a delta", 1, true) and 1 or 0)
    end
    assert.same({15, 12}, {lacking, needy}) -- frank_wolfe has a figure over the l1 ball
    assert.equal("  no figure in 15 of 16 rows: ranking[i].reason says why", text:match "[^\n]*$")
    assert.is_nil(text:find("needs a delta", 1, true))
    assert.is_nil(tostring(pn.advise(data(581, 9), pn.loss.logistic(), {rho = 0.02, sets = {pn.set.l1_ball {dim = 9}},
      solvers = {"frank_wolfe"}})):find("no figure", 1, true))
  end)

  it("spends nothing of a ledger, and its best plan runs", function()
    local ledger = pn.ledger {epsilon = 1, delta = 1e-7}
    local ranking = pn.advise(data(500, 9), pn.loss.logistic(), {ledger = ledger, sets = {pn.set.l2_ball {dim = 9}}})
    assert.equal(1, ledger.remaining)
    local fit = ranking.best.plan:run()
    assert.is_true(fit.privacy.private)
    assert.is_true(ledger.remaining < 1)
  end)

  it("prefers the geometry with the smaller width in high dimension", function()
    local d = data(1000, 400)
    local function bound(set)
      return pn.advise(d, pn.loss.hinge(), {rho = 0.1, sets = {set}, solvers = {"mirror_descent"}}).best.bound
    end
    assert.is_true(bound(pn.set.simplex {dim = 400}) < bound(pn.set.l2_ball {dim = 400}))
  end)

  it("takes the user's sets, solvers and radius, and passes other options to the plans", function()
    local d = data(500, 6)
    local C = pn.set.box {lower = {0, 0, 0, 0, 0, 0}, upper = {1, 1, 1, 1, 1, 1}}
    local ranking = pn.advise(d, pn.loss.logistic(),
      {rho = 1, sets = {C}, solvers = {"mirror_descent", "frank_wolfe_convex"}, iterations = 17})
    assert.equal(2, #ranking)
    assert.equal(17, ranking[1].iterations)
    for _, row in ipairs(pn.advise(d, pn.loss.logistic(), {rho = 1, radius = 3})) do
      assert.is_near(3, row.set.radius, 1e-9)
    end
  end)

  it("is clear about what is wrong", function()
    local d, loss = data(100, 4), pn.loss.logistic()
    local cases = {
      {function() pn.advise(d, loss) end, "give a budget"},
      {function() pn.advise(d, loss, {}) end, "no privacy budget"},
      {function() pn.advise(d, loss, {epsilon = -1, delta = 1e-6}) end, "epsilon must be a positive number"},
      {function() pn.advise(d, loss, {rho = 1, radius = 0}) end, "radius must be a positive number, got 0"},
      {function() pn.advise(d, loss, {rho = 1, radii = {1, -2}}) end, "radii must be positive numbers, got -2"},
      {function() pn.advise(d, loss, {rho = 1, radius = 1, radii = {1}}) end, "give radius= or radii=, not both"},
      {function() pn.advise(d, loss, {rho = 1, radius = 1, sets = {pn.set.l2_ball {dim = 4}}}) end,
        "leave them out beside sets="},
      {function() pn.advise(d, loss, {rho = 1, sets = {}}) end, "sets must be a list"},
      {function() pn.advise(d, loss, {rho = 1, solvers = {"newton2"}}) end, 'there is no solver "newton2"; known are'},
      {function() pn.advise(d, loss, {rho = 1, sets = {pn.set.l2_ball {dim = 5}}}) end, "5"},
      {function() pn.advise(pn.data.from({{1, 2}}, {1}), loss, {rho = 1}) end, "no plan can be made"},
      {function() pn.advise(d, pn.loss.logistic, {rho = 1}) end, "advise: loss must be a pn.loss, got a function; call it"},
      {function() pn.advise(d, "logistic", {rho = 1}) end, 'advise: loss must be a pn.loss, got "logistic"'},
      {function() pn.advise(pn.vec {1}, loss, {rho = 1}) end, "advise: data must be a pn.dataset, got a pn.vec"},
      {function() pn.advise(d, loss, {eps = 1, delta = 1e-6}) end,
        "advise: unknown option 'eps'; it takes epsilon, delta, rho, neighbours, ledger, radius, radii, sets, solvers"},
      {function() pn.advise(d, loss, {rho = 1, sets = {"l1_ball"}}) end, 'advise: set must be a pn.set, got the string'},
    }
    for _, case in ipairs(cases) do
      local ok, message = pcall(case[1])
      assert.is_false(ok, case[2])
      assert.truthy(tostring(message):find(case[2], 1, true), tostring(message))
      assert.is_nil(tostring(message):find("advise.lua", 1, true), message) -- no file of the library's own
    end
  end)

  it("ends when the user stops it, and takes no stop for a reason", function()
    local set = pn.set.custom {dim = 4, radius = 1, support = function(g)
      if g[1] > 2 then error "interrupted" end -- as Ctrl-C at the prompt raises it
      return g:norm() > 0 and g / g:norm() or g
    end}
    local ok, message = pcall(pn.advise, data(100, 4), pn.loss.logistic(), {rho = 1, sets = {set}})
    assert.is_false(ok)
    assert.truthy(message:find "interrupted$", message)
  end)
end)
