-- advise_spec.lua -- pn.advise ranks plans by their theorems' bounds and spends nothing.
local pn = require "penumbra"

local function data(n, p)
  return (pn.data.synthetic.logistic {n = n, p = p, seed = 1}):clip_rows("l2", 1)
end

describe("pn.advise", function()
  it("ranks by predicted risk, smallest first, and every figure is that of its plan", function()
    local d = data(2000, 16)
    local ranking = pn.advise(d, pn.loss.logistic(), {epsilon = 1, delta = 1e-7})
    assert.is_true(#ranking >= 12)
    local last = 0
    for _, row in ipairs(ranking) do
      if row.bound then
        assert.is_true(row.bound >= last)
        last = row.bound
        assert.equal(row.plan.bound, row.bound)
        assert.is_true(#row.theorem > 0 and #row.source > 0)
        local again = pn.solve[row.solver].plan(pn.objective {data = d, loss = pn.loss.logistic(), set = row.set},
          {epsilon = 1, delta = 1e-7})
        assert.equal(again.bound, row.bound)
      else
        assert.is_true(#row.reason > 0)
      end
    end
    assert.equal(ranking[1], ranking.best)
    assert.truthy(tostring(ranking):find("recommended: solve." .. ranking.best.solver, 1, true))
  end)

  it("names a second-order solver that no bound ranks, where one fits", function()
    local d, budget = data(20000, 5), {epsilon = 1, delta = 1e-9, sets = {pn.set.l2_ball {dim = 5}},
      solvers = {"gradient_descent", "newton", "second_order", "trust_region"}}
    local convex = tostring(pn.advise(d, pn.loss.logistic(), budget))
    assert.matches("no figure for newton over l2_ball: ", convex, 1, true)
    assert.matches("solve.newton(pn.objective{data=,", convex, 1, true)
    assert.is_nil(convex:find("certifies a second-order", 1, true))
    local other = tostring(pn.advise(d, pn.loss.sigmoid(), budget))
    assert.matches("second_order certifies a second-order stationary", other, 1, true)
    assert.is_nil(other:find("solve.newton", 1, true))
    local squared = tostring(pn.advise(d, pn.loss.squared(), {epsilon = 1, delta = 1e-9, sets = budget.sets,
      solvers = {"gradient_descent", "newton", "sufficient_statistics"}}))
    assert.matches("solve.sufficient_statistics(", squared:gsub("%s+", " "), 1, true)
    assert.is_nil(squared:find("newton has no bound", 1, true))
    local noise = tostring(pn.advise(data(200, 60), pn.loss.logistic(), {epsilon = 0.01, delta = 1e-9}))
    assert.is_nil(noise:find("solve.newton", 1, true)) -- nothing is left of its Hessian
    for line in (convex .. "\n" .. other):gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
  end)

  it("recommends right below the table, before the reasons, and asks no solver that cannot be meant", function()
    local text = tostring(pn.advise(data(581, 9), pn.loss.logistic(), {epsilon = 1, delta = 1e-6}))
    assert.is_true(text:find("* recommended: solve.", 1, true) < text:find("no figure for ", 1, true))
    assert.is_nil(text:find("block_frank_wolfe", 1, true) or text:find("federated_frank_wolfe", 1, true))
    assert.truthy(tostring(pn.advise(data(581, 9), pn.loss.logistic(), {epsilon = 1, delta = 1e-6,
      solvers = {"block_frank_wolfe", "frank_wolfe"}})):find("no figure for block_frank_wolfe", 1, true))
  end)

  it("names once what several solvers lack", function()
    local text = tostring(pn.advise(data(581, 9), pn.loss.logistic(), {epsilon = 1, solvers = {"frank_wolfe",
      "gradient_descent", "sgd", "svrg"}})):gsub("%s+", " ")
    local _, times = text:gsub("needs a delta", "")
    assert.equal(1, times)
    assert.truthy(text:find("no figure for gradient_descent, sgd, svrg over l2_ball, l1_ball, simplex, group_ball, "
      .. "interpolation_ball: Gaussian noise needs a delta", 1, true))
  end)

  it("spends nothing of a ledger, and its best plan runs", function()
    local ledger = pn.ledger {epsilon = 1, delta = 1e-7}
    local ranking = pn.advise(data(500, 9), pn.loss.logistic(), {ledger = ledger})
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
      {function() pn.advise(d, loss, {rho = 1, sets = {}}) end, "sets must be a list"},
      {function() pn.advise(d, loss, {rho = 1, solvers = {"newton2"}}) end, 'there is no solver "newton2"; known are'},
      {function() pn.advise(d, loss, {rho = 1, sets = {pn.set.l2_ball {dim = 5}}}) end, "5"},
      {function() pn.advise(pn.data.from({{1, 2}}, {1}), loss, {rho = 1}) end, "no plan can be made"},
      {function() pn.advise(d, pn.loss.logistic, {rho = 1}) end, "advise: loss must be a pn.loss, got a function; call it"},
      {function() pn.advise(d, "logistic", {rho = 1}) end, 'advise: loss must be a pn.loss, got "logistic"'},
      {function() pn.advise(pn.vec {1}, loss, {rho = 1}) end, "advise: data must be a pn.dataset, got a pn.vec"},
      {function() pn.advise(d, loss, {eps = 1, delta = 1e-6}) end,
        "advise: unknown option 'eps'; it takes epsilon, delta, rho, neighbours, ledger, radius, sets, solvers"},
      {function() pn.advise(d, loss, {rho = 1, sets = {"l1_ball"}}) end, 'advise: set must be a pn.set, got the string'},
    }
    for _, case in ipairs(cases) do
      local ok, message = pcall(case[1])
      assert.is_false(ok, case[2])
      assert.truthy(tostring(message):find(case[2], 1, true), tostring(message))
      assert.is_nil(tostring(message):find("advise.lua", 1, true), message) -- no file of the library's own
    end
  end)

  it("says what to take when weights need not be a mixture", function()
    local ranking = pn.advise(data(2000, 16), pn.loss.logistic(), {epsilon = 1, delta = 1e-7})
    assert.equal("simplex", ranking.best.set.name)
    local first
    for _, row in ipairs(ranking) do first = first or row.set.symmetric and row end
    local note = ("known to be >= 0 with this sum: solve.%s over %s"):format(first.solver, tostring(first.set):match "^[^:]*")
    assert.truthy((tostring(ranking):gsub("%s+", " ")):find(note, 1, true), tostring(ranking))
    local symmetric = pn.advise(data(100, 4), pn.loss.logistic(), {rho = 1, sets = {pn.set.l2_ball {dim = 4}}})
    assert.is_nil(tostring(symmetric):find("this sum", 1, true))
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
