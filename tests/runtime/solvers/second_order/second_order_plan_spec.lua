-- second_order_plan_spec.lua -- the plans of second_order: constants, iterations, budget, conditions, tolerances, what they
-- print and what they refuse.  Numbers are those of second-order.md, section 11, unless another source stands beside them.
local pn = require "penumbra"

local n_covertype = 581012

local made = {}
local function blank(n, p, unclipped) -- records of which only the number and the bound matter
  local key = n .. "x" .. p .. tostring(unclipped)
  if not made[key] then
    local y = pn.vec.zeros(n)
    for i = 1, n do y[i] = i % 2 == 0 and 1 or -1 end
    local data = pn.data.from(pn.mat.zeros(n, p), y)
    made[key] = unclipped and data or data:clip_rows("l2", 1)
  end
  return made[key]
end

local function objective(parts)
  parts = parts or {}
  parts.data, parts.loss = parts.data or blank(1000, 54), parts.loss or pn.loss.logistic()
  return pn.objective(parts)
end

local function planned(options, parts)
  local full = {}
  if not options.rho and options.privacy ~= false then full.epsilon, full.delta = 1, 1e-6 end
  for name, value in pairs(options) do full[name] = value end
  return pn.solve.second_order.plan(objective(parts), full)
end

-- The article's experiments: what is claimed of G, M and the gap, packed noise, its conversion.
local function published(options)
  local full = {epsilon = 1, delta = 1 / n_covertype, calibration = "paper", smoothness = 1, hessian_lipschitz = 1, gap = 0.5,
    tolerance = {gradient = 0.06}, hessian_noise = "packed"}
  for name, value in pairs(options or {}) do full[name] = value end
  return planned(full)
end

local function warnings(plan)
  return (tostring(plan):gsub("%s+", " "):match("( warning .*)") or "")
end

local function needed(plan, line) -- "needs n >= ..." of a condition
  return tonumber(tostring(plan):match(line .. "%s+%S+.-needs%s+n%s+>=%s+(%S+)"))
end

describe("the plan of second_order", function()
  it("has the published constants and iterations", function()
    local plan = published()
    local lines = plan.lines
    assert.is_near(0.0545455, lines["threshold eps_g"], 5e-8)
    assert.is_near(0.2226809, lines["threshold eps_H"], 5e-8)
    assert.is_near(0.00119008, lines["decrease a step"], 5e-9)
    assert.equal(421, lines["iterations T"])
    assert.equal(421, plan.iterations)
    local searching = plan:with {line_search = true}
    assert.is_near(0.000535537, searching.lines["decrease a step"], 5e-10)
    assert.equal(934, searching.lines["iterations T"])
    assert.is_near(0.6, searching.lines["gradient steps"], 1e-12)
    assert.is_near(1.6462861, searching.lines["curvature steps"], 5e-8)
    for _, case in ipairs {{0.03, false, 1681}, {0.03, true, 3735}} do
      assert.equal(case[3], published {tolerance = {gradient = case[1]}, line_search = case[2]}.lines["iterations T"])
    end
  end)

  it("certifies the constants of the experiments by itself", function()
    local parts = {reg = pn.reg.nonconvex(1e-3)}
    local lines = planned({gap = 0.5, tolerance = {gradient = 0.06}}, parts).lines
    assert.is_near(0.252, lines["smoothness G of f"], 1e-9)
    assert.is_near(0.1008936, lines["change M of f"], 5e-8)
    assert.is_near(1, lines["bound B_g"], 1e-9)
    assert.is_near(0.25, lines["bound B_H"], 1e-9)
    assert.equal(106, lines["iterations T"])
    assert.equal(236, planned({gap = 0.5, tolerance = {gradient = 0.06}, line_search = true}, parts).lines["iterations T"])
  end)

  it("has the published budget, noise and numbers of records", function()
    for epsilon, rho in pairs {[0.2] = 7.478123e-4, [0.6] = 6.631853e-3, [1] = 1.815806e-2} do
      assert.is_near(rho, published {epsilon = epsilon}.lines["budget"], rho * 1e-6)
    end
    local plan = published()
    assert.is_near(152.267, plan.lines["multiplier z"], 1e-3)
    assert.is_near(854899, needed(plan, "gradient error"), 5)
    assert.is_near(4212631, needed(published {epsilon = 0.2}, "gradient error"), 25)
    assert.is_near(50067, needed(plan, "Hessian error"), 2)
    assert.is_near(520313, needed(published {hessian_bound = "generic"}, "Hessian error"), 5)
    local searching = published {line_search = true}
    assert.is_near(277.8, searching.lines["multiplier z"], 0.05)
    assert.is_near(3.16e6, searching.lines["gradient tests"], 5e3)
    assert.is_near(6.32e7, searching:with {svt = "value"}.lines["gradient tests"], 5e4)
  end)

  it("splits the budget equally, and shows what each release costs", function()
    for _, searching in ipairs {false, true} do
      local lines = published {line_search = searching}.lines
      local T, total = lines["iterations T"], lines["budget"]
      local share = total / T / (searching and 3 or 2)
      assert.is_near(share, lines["gradient costs"], share * 1e-4)
      assert.is_near(share, lines["Hessian costs"], share * 1e-4)
      if searching then assert.is_near(share, lines["search costs"], share * 1e-4) end
      local sum = lines["gradient costs"] + lines["Hessian costs"] + (lines["search costs"] or 0)
      assert.is_true(T * sum <= total)
    end
  end)

  it("costs no more than is asked for, in whichever unit", function()
    for _, options in ipairs {{}, {line_search = true}, {batch = 50}, {batch = 50, line_search = true}, {phases = 2},
      {calibration = "paper"}, {use_filter = true}, {start = pn.vec.zeros(54) + 0.1}} do
      options.tolerance = {gradient = 0.1}
      local plan = planned(options)
      assert.is_true(plan.epsilon <= 1, plan.epsilon)
      assert.is_true(options.calibration == "paper" or plan.epsilon > 1 - 1e-4, plan.epsilon)
    end
    assert.is_near(0.1, planned({rho = 0.1}).rho, 1e-9)
  end)

  it("has the mini-batch multipliers of the accountant", function()
    local options = {batch = 100, gap = 0.5, smoothness = 1, hessian_lipschitz = 1, tolerance = {gradient = 0.06},
      iterations = 421}
    local parts = {data = blank(10000, 5)}
    for _, case in ipairs {{1, false, 1.7277}, {1, true, 2.0333}, {0.2, false, 6.3805}} do
      options.epsilon, options.delta, options.line_search = case[1], 1e-6, case[2]
      local lines = planned(options, parts).lines
      assert.equal(421, lines["iterations T"])
      assert.is_near(case[3], lines["multiplier z"], case[3] * 0.01)
    end
  end)

  it("needs less noise with the exact curve than with the article's conversion", function()
    local tight, paper = published {calibration = "tight"}.lines, published().lines
    assert.is_true(tight["multiplier z"] < paper["multiplier z"])
    assert.matches("exact Gaussian curve", (tostring(published {calibration = "tight"}):gsub("%s+", " ")))
    -- mu^2/2 of all releases; two an iteration
    local mu = math.sqrt(2 * tight["budget"])
    assert.is_near(math.sqrt(2 * 421) / mu, tight["multiplier z"], 1e-3)
  end)

  it("counts searches on all records in the unit that has less noise", function()
    -- one iteration: epsilon of the search counts as min(alpha epsilon^2/2, epsilon) at a Renyi order, and zCDP sees only the first
    local lines = planned {line_search = true, iterations = 1, tolerance = {gradient = 0.06}}.lines
    assert.is_true(lines["Renyi order"] > 1)
    assert.is_near(1 / lines["multiplier z"], lines["search costs"], lines["search costs"] * 0.25)
    assert.is_true(lines["search costs"] < 0.6 * lines["gradient costs"])
  end)

  it("pays for no search that tests nothing", function()
    local plan = planned {line_search = true, b0 = 1, tolerance = {gradient = 0.3}}
    assert.is_nil(plan.lines["search costs"])
    assert.matches("each of 2 equal shares", (tostring(plan):gsub("%s+", " ")))
  end)
end)

describe("the iterations of second_order", function()
  it("follow from what is public of the start", function()
    local plan = planned {tolerance = {gradient = 0.1}} -- at 0 every record's loss is ln 2
    assert.is_near(math.log(2), plan.lines["gap"], 1e-12)
    assert.is_nil(plan.lines["value at w0"])
    assert.equal(math.ceil(plan.lines["gap"] / plan.lines["decrease a step"]), plan.iterations)
    local far = plan:with {start = pn.vec.zeros(54) + 1 / math.sqrt(54)} -- |w| = 1: losses up to ln(1 + e)
    assert.is_near(math.log(1 + math.exp(1)), far.lines["gap"], 1e-6)
    assert.is_near(0.01, 1 - far.lines["gradient costs"] * 2 * far.iterations / far.lines["budget"], 1e-4)
    -- D_f sigma_f: range of the losses over n, z of a hundredth of mu^2/2
    local range = math.log(1 + math.exp(1)) - math.log(1 + math.exp(-1))
    assert.is_near(range / 1000 / math.sqrt(0.02 * far.lines["budget"]), far.lines["value at w0"], 1e-6)
    local start, r = pn.vec.zeros(54) + 0.1, 54 * 0.01 / 1.01 -- sum of w^2/(1 + w^2)
    local with_r = planned({tolerance = {gradient = 0.1}, start = start}, {reg = pn.reg.nonconvex(0.01)}).lines["gap"]
    assert.is_near(0.01 * r, with_r - planned({tolerance = {gradient = 0.1}, start = start}).lines["gap"], 1e-9)
    assert.is_nil(far:with {value_share = 0}.lines["value at w0"])
    assert.is_nil(far:with {gap = 1}.lines["value at w0"])
  end)

  it("rest on a value whose rounding is paid for, that of a quadratic form in many parameters too", function()
    -- losses (z - y)^2/2 at z = 0, y in [1e4, 1e4 + 1e-6]: of range 1e-2 and size 5e7, and up to n + 2 p additions of such sizes
    local data = pn.data.from(pn.mat.zeros(2, 1000), {1e4, 1e4}):clip_rows("l2", 1):clip_labels(1e4, 1e4 + 1e-6)
    local quadratic = pn.objective {data = data, loss = pn.loss.squared(), set = pn.set.l2_ball {dim = 1000, radius = 1}}
    local plan = pn.solve.second_order.plan(quadratic, {rho = 1, value_share = 0.5, floor = 0, iterations = 1,
      hessian_lipschitz = 1, tolerance = {gradient = 1, hessian = 1}})
    local moved, rounding = 1e-2 / 2, 2 * (2 + 2 * 1000) * 2 ^ -53 * 5e7
    assert.is_true(plan.lines["value at w0"] >= moved + rounding) -- at multiplier 1
    assert.is_near(moved + rounding, plan.lines["value at w0"], 1e-6)
  end)

  it("are capped by iterations= and counted from floor= and gap=", function()
    local plan = planned {tolerance = {gradient = 0.1}, iterations = 10}
    assert.equal(10, plan.iterations)
    assert.matches("iterations= ends it before the gap is used up",
      (tostring(planned {tolerance = {gradient = 0.1}, iterations = 10, privacy = false}):gsub("%s+", " ")))
    assert.is_near(math.log(2) - 0.5, planned({tolerance = {gradient = 0.1}, floor = 0.5}).lines["gap"], 1e-12)
    assert.equal(1, planned({tolerance = {gradient = 0.5}, gap = 1e-9}).iterations)
  end)

  it("go on with a filter, and begin with the root of T in two phases", function()
    local T = published().iterations
    local filter = published {use_filter = true}
    assert.equal(T, filter.lines["iterations T"])
    assert.is_true(filter.iterations >= 2 * T and filter.iterations <= 2 * T + 2) -- gradients cost half
    local two = published {phases = 2}
    assert.equal(math.ceil(math.sqrt(T)) + T, two.iterations)
    local total, first = two.lines["budget"], math.ceil(math.sqrt(T))
    assert.is_near(math.sqrt(first * 2 / (2 * 0.75 * total)), two.lines["phase 1 z"], 1e-3)
    assert.is_near(math.sqrt(T * 2 / (2 * 0.25 * total)), two.lines["phase 2 z"], 1e-2)
    assert.is_near(needed(published(), "gradient error") * two.lines["phase 2 z"] / published().lines["multiplier z"],
      needed(two, "gradient error"), 1e3) -- what phase 2 has at least is what the conditions are about
    local other = published {phases = 2, first_share = 0.5, first_iterations = 7}
    assert.is_near(math.sqrt(7 * 2 / total), other.lines["phase 1 z"], 1e-3)
    assert.equal(7 + T, other.iterations)
  end)

  it("need no budget without privacy", function()
    local plan = planned {privacy = false, tolerance = {gradient = 0.06}, smoothness = 1, hessian_lipschitz = 1, gap = 0.5}
    assert.equal(421, plan.iterations)
    assert.is_nil(plan.lines["budget"])
    assert.equal(0, plan.lines["gradient error"])
    assert.is_near(0.01, planned({privacy = false}).lines["gradient a_g"], 1e-9)
  end)
end)

describe("the tolerances of second_order", function()
  it("are coupled by M where one is given", function()
    local lines = planned({tolerance = {gradient = 0.09}, hessian_lipschitz = 4}).lines
    assert.is_near(0.6, lines["curvature a_H"], 1e-12)
    assert.is_near(0.09, planned({tolerance = {hessian = 0.6}, hessian_lipschitz = 4}).lines["gradient a_g"], 1e-12)
    lines = planned({tolerance = {hessian = 0.6, gradient = 0.2}, hessian_lipschitz = 4}).lines
    assert.is_near(0.2, lines["gradient a_g"], 1e-12)
    assert.is_near(0.6, lines["curvature a_H"], 1e-12)
  end)

  -- The mean square of the gradient's noise is d (z D_g)^2; the Hessian's norm is at most sqrt(2 d) z D_H on average.
  it("are by default twice the typical noise, with the least that has a promise beside", function()
    local parts, d = {data = blank(200000, 4)}, 4
    for _, options in ipairs {{}, {line_search = true}, {phases = 2}, {epsilon = 4}} do
      options.delta = 1e-6
      options.epsilon = options.epsilon or 1
      local plan = planned(options, parts)
      local lines = plan.lines
      assert.equal("", warnings(plan))
      assert.is_near(lines["threshold eps_g"] / 2, math.sqrt(d) * lines["gradient noise"], 2e-3 * lines["threshold eps_g"])
      assert.is_true(math.sqrt(2 * d) * lines["Hessian noise"] <= lines["threshold eps_H"] / 2)
      assert.equal("none", lines["promise"])
      local a = lines["theorem reaches"]
      local proven = plan:with {tolerance = {gradient = a * 1.001}}
      assert.equal("", warnings(proven))
      assert.is_near(options.line_search and 0.8 or 0.9, proven.lines["promise"], 1e-12)
      local less = plan:with {tolerance = {gradient = a * 0.99}}
      assert.matches("need n >= .*the smallest that the theorem reaches", warnings(less))
      local named = tonumber(warnings(less):match("gradient = (%S+),"))
      assert.is_near(a, named, a * 2e-3)
    end
  end)

  it("ask by default for less curvature where the Hessian's noise hides what goes with a_g", function()
    local lines = planned({epsilon = 1, delta = 1e-6, hessian_bound = "generic"}, {data = blank(20000, 30)}).lines
    assert.is_near(lines["threshold eps_H"] / 2, math.sqrt(60) * lines["Hessian noise"], 1e-6)
    assert.is_true(lines["curvature a_H"] > 1.1 * math.sqrt(lines["change M of f"] * lines["gradient a_g"]))
  end)

  it("leave the start where those of the theorem hold already, and end nearer to a stationary point", function()
    local d = pn.data.synthetic.logistic {n = 20000, p = 6, seed = 1}:clip_rows("l2", 1)
    local o = pn.objective {data = d, loss = pn.loss.logistic(), reg = pn.reg.nonconvex(1e-3)}
    local plan = pn.solve.second_order.plan(o, {epsilon = 1, delta = 1e-8})
    local proven = plan:with {tolerance = {gradient = plan.lines["theorem reaches"] * 1.001}}
    local function ends(at)
      local fit = at:run {rng = pn.rng.seeded(1), ledger = pn.ledger {epsilon = 1, delta = 1e-8, teaching = true}}
      assert.equal("certified", fit.stopped)
      return fit
    end
    assert.equal(1, ends(proven).steps)
    local near = pn.second_order_gap(o, ends(plan).theta).gradient_norm
    assert.is_true(near < pn.second_order_gap(o, ends(proven).theta).gradient_norm / 2)
  end)

  it("say what is the smallest, and that a dimension is hopeless", function()
    local text = warnings(planned({tolerance = {gradient = 1e-2}, epsilon = 0.01}, {data = blank(100, 200)}))
    assert.matches("need n >= %S+; the smallest that the theorem reaches here are gradient = %S+ hessian = %S+", text)
    assert.matches("d = 200 is hopeless here: a Hessian's noise has norm up to %S+ the Hessian at most 0.25", text)
    text = warnings(planned({}, {data = blank(100, 200)}))
    assert.matches("noise drowns the gradients: by public bounds they are at most 1,.*d = 200 is hopeless", text)
  end)
end)

describe("second_order", function()
  local function refuses(options, pattern, parts)
    assert.error_matches(function() planned(options, parts) end, pattern)
  end

  it("refuses indefinite constants with the condition", function()
    refuses({c1 = 0.5}, "c1 must be in %(0, 1/2%).*got 0.5")
    refuses({c = 0.3}, "c %+ c2 must be below 1/3.*got 0.383333")
    refuses({c2 = 0.3}, "c %+ c2 must be below 1/3.*got 0.4")
    refuses({line_search = true, c_g = 0.95}, "c1 %+ c_g below 1.*got c_g = 0.95")
    refuses({line_search = true, c_h = 0.6}, "c_h.*got c_h = 0.6")
    refuses({line_search = true, beta_h = 0.1}, "beta_h must be above t1/t2.*got 0.1")
    refuses({line_search = true, b0 = 0.5}, "b0 must be at least 1.*got 0.5")
    refuses({failure = 1}, "failure must be a number between 0 and 1")
    refuses({tolerance = {gradient = 0}}, "tolerance.gradient must be a positive number, got 0")
    refuses({tolerance = {gradient = 0 / 0}}, "tolerance.gradient must be a positive number")
    refuses({tolerance = {hessian = -2}}, "tolerance.hessian must be a positive number, got %-2")
    refuses({tolerance = {gradiant = 1}}, "gradiant")
    refuses({tolerance = 0.1}, "tolerance must be a table of options, as tolerance={gradient=, hessian=}, got 0.1")
    refuses({tolerance = {hessian = 1e300}}, "no tolerance.gradient follows from tolerance.hessian = 1e%+300; give both")
  end)

  it("refuses options that contradict each other", function()
    refuses({b0 = 10}, "b0= is about line_search=true")
    refuses({svt = "value"}, "svt= is about line_search=true")
    refuses({first_share = 0.5}, "first_share= is about phases=2")
    refuses({phases = 3}, "phases must be 1 or 2, got 3")
    refuses({gap = 1, floor = 0}, "gap= or floor=")
    refuses({gap = 1, value_share = 0.1}, "gap= or value_share=")
    refuses({value_share = 1}, "value_share must be in %[0, 1%), got 1")
    refuses({floor = 1}, "floor = 1 is above what the objective is at the start, at most 0.693147")
    refuses({batch = 1001}, "batch must be at most.*1000, got 1001")
    refuses({tolerance = {gradient = 1e-6}, iterations = 2 ^ 40 // 1},
      "tolerances ask for %d+ iterations.*larger tolerances, or iterations=")
    assert.equal(100000, planned({tolerance = {gradient = 1e-6}}).iterations) -- that it is the most is said in the plan
    refuses({calibration = "paper", rho = 1}, "paper.*epsilon and delta")
    refuses({privacy = false, calibration = "paper"}, "paper.*epsilon and delta")
    assert.error_matches(function() pn.solve.second_order.plan(objective(), {epsilon = 1}) end, "needs a delta")
  end)

  it("refuses losses, regularisers and sets that it cannot serve, with what to use", function()
    refuses({}, "slope of the hinge loss jumps.*use logistic", {loss = pn.loss.hinge()})
    refuses({}, "nothing certifies how fast the Hessian.*smooth_hinge.*hessian_lipschitz=", {loss = pn.loss.smooth_hinge()})
    refuses({privacy = false}, "M = 0.*solve.gradient_descent", {loss = pn.loss.squared()})
    refuses({}, "regulariser l1 has kinks.*use l2 or nonconvex", {reg = pn.reg.l1(0.1)})
    refuses({}, "clip", {data = blank(100, 3, true)})
    refuses({value_share = 0.1, smoothness = 1, hessian_lipschitz = 1}, "value_share= needs floor=",
      {reg = pn.reg.separable(function(w) return pn.cos(w) end)})
    refuses({neighbours = "add_remove"}, "add_remove")
    refuses({neighbours = "zero_out", batch = 10}, "replace_one")
    assert.error_matches(function()
      local box = pn.loss.black_box {value = function() return 0 end, lipschitz = 1}
      pn.solve.second_order.plan(objective {loss = box}, {privacy = false})
    end, "black box.*zeroth_order")
    refuses({tolerance = {gradient = 0.1}, smoothness = 1, hessian_lipschitz = 1}, "from below.*give floor=, gap= or iterations=",
      {reg = pn.reg.separable(function(w) return pn.cos(w) end)})
  end)

  it("asks for a claim where nothing is certified, and warns of small ones", function()
    local plan = planned({hessian_lipschitz = 1, tolerance = {gradient = 0.3}}, {loss = pn.loss.smooth_hinge()})
    assert.matches("as claimed; nothing certifies it", tostring(plan):gsub("%s+", " "))
    local text = warnings(planned({smoothness = 0.1, tolerance = {gradient = 0.3}}))
    assert.matches("smoothness = 0.1 is claimed, 0.25 is certified", text)
    assert.is_nil(warnings(planned({smoothness = 1, hessian_lipschitz = 1})):find "claimed")
  end)

  it("keeps products without a Hessian to simulated runs", function()
    local plan = planned {eigen = "matrix_free", tolerance = {gradient = 0.3}}
    assert.equal(math.huge, plan.epsilon)
    assert.matches("simulated runs", warnings(plan))
    assert.is_near(0.3 ^ 0.5 * 0.31020 / 1.2, plan.lines["threshold eps_H"], 1e-4) -- tau = 0.1 eps_H, M = 0.096225
  end)

  it("says that zCDP does not see batches", function()
    local plan = planned {rho = 0.1, batch = 10, tolerance = {gradient = 0.3}}
    assert.matches("do?e?s not see that batches are secret", warnings(plan))
    assert.is_near(planned({rho = 0.1, tolerance = {gradient = 0.3}}).lines["multiplier z"], plan.lines["multiplier z"], 1e-4)
  end)

  it("halves sensitivities where a record may only be left out", function()
    local options = {tolerance = {gradient = 0.3}}
    local replace, out = planned(options).lines, planned({tolerance = {gradient = 0.3}, neighbours = "zero_out"}).lines
    assert.is_near(replace["sensitivity D_g"] / 2, out["sensitivity D_g"], 1e-9)
    assert.is_near(replace["sensitivity D_H"] / math.sqrt(2), out["sensitivity D_H"], 1e-9)
  end)

  it("explains itself in 80 columns and spends nothing", function()
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    for _, options in ipairs {{}, {line_search = true, phases = 2, use_filter = true, batch = 20},
      {start = pn.vec.zeros(54) + 0.3, tolerance = {gradient = 1e-2}, smoothness = 0.1, hessian_lipschitz = 0.01},
      {privacy = false}, {eigen = "matrix_free"}, {floor = -1, value_share = 0.1, iterations = 5}} do
      if options.privacy ~= false then options.ledger, options.epsilon, options.delta = ledger, 1, 1e-6 end
      local text = tostring(pn.solve.second_order.plan(objective {reg = pn.reg.nonconvex(1e-3)}, options))
      for row in text:gmatch("[^\n]+") do assert.is_true(#row <= 80, "longer than 80: " .. row) end
      assert.is_nil(text:find "%f[%a]nan%f[%A]")
      assert.matches("promise", text)
      assert.matches("eigenpair", text)
    end
    assert.equal(0, ledger.spent)
  end)

  it("takes every option that it documents", function()
    local options = {tolerance = {gradient = 0.2, hessian = 0.3}, line_search = true, svt = "slope", batch = 20, phases = 2,
      first_share = 0.6, first_iterations = 3, use_filter = true, smoothness = 0.5, hessian_lipschitz = 0.2, floor = 0,
      value_share = 0.05, hessian_noise = "frobenius", hessian_bound = "certified", eigen = "dense", failure = 0.05,
      c = 0.1, c1 = 0.1, c2 = 0.08, c_g = 0.6, c_h = 0.2, beta_g = 0.7, beta_h = 0.6, b0 = 10}
    local known = {gap = true}
    for name, value in pairs(options) do
      if type(value) == "table" then
        for inner in pairs(value) do known[name .. "." .. inner] = true end
      else
        known[name] = true
      end
    end
    options.start = pn.vec.zeros(54) + 0.1
    local plan = planned(options)
    assert.is_true(plan.iterations > 3)
    local common = {epsilon = 1, delta = 1, rho = 1, privacy = 1, neighbours = 1, calibration = 1, iterations = 1, start = 1,
      ledger = 1, rng = 1, progress = 1, on_step = 1}
    for _, row in ipairs(pn.reference()["solve.second_order"].params) do
      assert.is_true(known[row.name] or common[row.name] ~= nil, "not tried: " .. row.name)
    end
  end)
end)
