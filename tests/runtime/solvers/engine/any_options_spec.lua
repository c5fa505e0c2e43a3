-- any_options_spec.lua -- solvers on random data, losses, regularisers, sets and options, right and wrong ones: a plan is refused
-- in words, or it prints whole and runs to a model that keeps what the plan says.  Seeded; CASES=n and SEED=s for longer looks.
local pn = require "penumbra"
local tier = require "tests.tools.tier"

local CASES = tonumber(os.getenv "CASES") or tier.times(60, 300)
local SEED = tonumber(os.getenv "SEED") or 1
local solvers = { "svrg", "svrg_pp", "sgd", "gradient_descent", "accelerated_mirror_descent", "output_perturbation",
  "mirror_descent", "frank_wolfe_convex" }
local by_values = { "zeroth_order", "zeroth_order_naive" } -- which know no sets
local by_curvature = { "second_order", "trust_region", "newton" } -- nor do most of these

-- ---- dice: a generator of its own, so that a case is the same on every machine ----

local state

local function dice(k) -- 1 .. k
  state = (1103515245 * state + 12345) % 2147483648
  return (state >> 8) % k + 1
end
local function pick(list) return list[dice(#list)] end
local function chance(percent) return dice(100) <= percent end

-- ---- problems ----

local function labels(n, classes)
  local y = {}
  for i = 1, n do y[i] = classes and dice(classes) or 2 * dice(2) - 3 end
  return y
end

local function dense(n, p, classes)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, p do rows[i][j] = (dice(2001) - 1001) / 500 end
  end
  return pn.data.from(rows, labels(n, classes))
end

local function sparse(n, p, classes)
  local i, j, x = { n }, { p }, { 1 }
  for row = 1, n do
    local seen = { [row == n and p or 0] = true }
    for _ = 1, dice(4) do
      local column = dice(p)
      if not seen[column] then i[#i + 1], j[#j + 1], x[#x + 1] = row, column, (dice(2001) - 1001) / 500 end
      seen[column] = true
    end
  end
  return pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, pn.vec(labels(n, classes)))
end

local losses = {
  pn.loss.logistic, pn.loss.logistic, pn.loss.logistic, pn.loss.logistic,
  pn.loss.squared, pn.loss.hinge, pn.loss.absolute, pn.loss.sigmoid,
  function() return pn.loss.huber { delta = 0.5 } end,
  function() return pn.loss.smooth_hinge { width = 0.5 } end,
  function() return pn.loss.cauchy { scale = 1 } end,
  function() return pn.loss.glm(function(z, y) return pn.log1p(pn.exp(-z * y)) end) end,
}

local function regulariser(p)
  return pick {
    function() end, function() end, function() return pn.reg.none() end,
    function() return pn.reg.l2(pick { 1e-6, 0.01, 1, 100 }) end,
    function() return pn.reg.l2(0.01) end,
    function() return pn.reg.l1(pick { 1e-4, 0.05, 10 }) end,
    function() return pn.reg.elastic_net { l1 = 0.01, l2 = 0.1 } end,
    function() return pn.reg.group { lambda = 0.02, size = p % 2 == 0 and 2 or 1 } end,
    function()
      local rows = p % 2 == 0 and 2 or 1
      return pn.reg.nuclear { lambda = 0.02, rows = rows, cols = p // rows }
    end,
    function() return pn.reg.nonconvex(0.01) end,
    function() return pn.reg.separable(function(w) return 0.01 * w * w end) end,
  }()
end

local function disc(p, radius)
  return pn.set.custom { dim = p, radius = radius,
    support = function(g) return radius / math.max(g:norm(), 1e-300) * g end,
    project = function(v) return v:norm() > radius and radius / v:norm() * v or v end }
end

local function constraint(p)
  local radius = pick { 0.01, 1, 30 }
  return pick {
    function() end, function() end, function() end,
    function() return pn.set.l2_ball { dim = p, radius = radius } end,
    function() return pn.set.l2_ball { dim = p, radius = radius } end,
    function() return pn.set.l1_ball { dim = p, radius = radius } end,
    function() return pn.set.simplex { dim = p, radius = radius } end,
    function() return pn.set.box { lower = -0.5 * pn.vec.ones(p), upper = radius * pn.vec.ones(p) } end,
    function() return pn.set.free { dim = p } end,
    function() return pn.set.halfspace { normal = pn.vec.ones(p), offset = 0.5 } end,
    function() return p > 1 and pn.set.l2_ball { dim = 1 }:product(pn.set.l1_ball { dim = p - 1, radius = radius }) or nil end,
    function() return p > 1 and pn.set.l2_ball { dim = 1 }:product(pn.set.free { dim = p - 1 }) or nil end,
    function() return pn.set.l2_ball { dim = p, radius = radius }:intersect(pn.set.linf_ball { dim = p, radius = radius / 2 }) end,
    function() return disc(p, radius) end,
  }()
end

local function objective()
  local n, p = pick { 2, 3, 5, 20, 100, 300 }, pick { 1, 2, 7, 30 }
  local classes = chance(6) and 3 or nil
  local data = pick { dense, dense, sparse } (n, p, classes)
  if chance(96) then data = data:clip_rows(pick { "l2", "l2", "l1" }, pick { 1, 1, 0.1, 20 }) end
  if classes then data = data:clip_labels(1, classes) elseif chance(60) then data = data:clip_labels(-1, 1) end
  if chance(20) then data = data:float32() end
  local dim = p * (classes or 1)
  return { data = data, loss = classes and pn.loss.softmax { classes = classes } or pick(losses)(), reg = regulariser(dim),
    set = constraint(dim), clip = chance(15) and pick { 0.1, 1 } or nil }, dim
end

-- ---- options, from the tables that describe them ----

local wrong = { -1, 0, 0 / 0, 1 / 0, -1 / 0, 1e300, "no", true, {}, 2.5 }
local right = {
  ["a positive number"] = { 1e-3, 0.1, 0.5, 1, 3 },
  ["a number >= 0"] = { 0, 1, 3 },
  ["a number from 0 to 1"] = { 0, 0.3, 1 },
  ["a number between 0 and 1, both excluded"] = { 1e-9, 0.3, 0.9 },
  ["a whole number from 1"] = { 1, 2, 3, 9 },
  ["a number above 0, at most 1"] = { 0.01, 0.5, 1 },
  ["true or false"] = { true },
}
local own_right = { epsilon = { 1e-2, 1, 8 }, delta = { 1e-9, 1e-5, 1e-3 }, rho = { 1e-4, 0.05, 1 } }

local function value_of(param, dim, errors)
  if chance(errors) then return pick(wrong) end
  if param.choices then return pick(param.choices) end
  if param.expects == "a vector" then
    return pick { pn.vec.zeros(dim), 0.01 * pn.vec.ones(dim), pn.vec.zeros(dim + 1) }
  end
  if param.expects == "a pn.prox" then
    return pick { pn.prox.l1(0.1), pn.prox.squared_l2(0.1), pn.prox.elastic_net { l1 = 0.1, l2 = 0.1 } }
  end
  if param.expects:find "a function of the step$" then
    local eta = pick { 1e-3, 0.1, 0.5, 1, 3 }
    return pick { eta, eta, { eta, eta / 2 }, function(t) return eta / t end }
  end
  if param.expects == "a pn.potential" then return pn.potential.euclidean() end
  return right[param.expects] and pick(own_right[param.name] or right[param.expects])
end

-- prefix = {estimator = ...} is the option "prefix.estimator".
local function give(options, name, value)
  local group, inner = name:match "^(.-)%.(.+)$"
  if not group then options[name] = value return end
  options[group] = options[group] or {}
  options[group][inner] = value
end

local budget_words = { epsilon = true, delta = true, rho = true, privacy = true, neighbours = true }

local function options_for(solver, dim)
  local options, params = {}, pn.reference()["solve." .. solver].params
  local budget = dice(10)
  if budget <= 8 then options.epsilon, options.delta = pick { 0.05, 1, 1, 4 }, pick { 1e-6, 1e-3 }
  elseif budget == 9 then options.rho = pick { 1e-3, 0.1, 2 }
  elseif chance(90) then options.privacy = false end
  if chance(60) then options.iterations = dice(6) end
  local errors = chance(25) and 40 or 0
  for _ = 1, dice(4) - 1 do
    local param = pick(params)
    if errors > 0 or chance(10) or not budget_words[param.name] then give(options, param.name, value_of(param, dim, errors)) end
  end
  if chance(2) then options["no_such_option"] = 1 end
  return options
end

-- ---- what holds ----

local function told(options) -- for messages: the case in one line
  local words = {}
  for name, value in pairs(options) do words[#words + 1] = name .. "=" .. tostring(value) end
  table.sort(words)
  return table.concat(words, ", ")
end

local function refused_in_words(message)
  if type(message) ~= "string" then return "an error that is no text: " .. tostring(message) end
  local words = message:gsub("^[^:]*any_options_spec%.lua:%d+: ", "")
  if not words:find "^[%a_][%w_.:]*: %S" then return "a message without its owner" end
  if words:find("traceback", 1, true) or words:find "%.lua:%d" or words:find "%.c:%d" then return "a message from the inside" end
  if words:find("(null)", 1, true) or words:gsub("got %-?nan", ""):find "%f[%a]nan%f[%A]" then return "a message with a hole" end
end

-- A run may end in an error of the geometry (an iteration without end), of the ledger or of its own, not of a number it made.
local function within(message)
  local astray = message:find "^prox: " or message:find("finite", 1, true) and not message:find "^solve"
  return astray and "a step went astray: " .. message or nil
end

local function printed_whole(text, width)
  if text:find("(null)", 1, true) or text:find "%f[%a]nan%f[%A]" then return "a print-out with a hole" end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if utf8.len(line) > width then return "a line of " .. utf8.len(line) .. " characters: " .. line end
    if not line:find "%S" then return "an empty line" end
    if line:find "%s$" then return "a line that ends in a blank: " .. line end
  end
end

local function inside(objective_, theta)
  local set = objective_.set
  return not set or set:contains(theta, 1e-6 * math.max(1, theta:norm()))
end

local function wrong_with_fit(case, plan, fit, again)
  for i = 1, #fit.theta do
    if not (math.abs(fit.theta[i]) < 1 / 0) then return "a coordinate that is not finite" end
  end
  if not inside(case.parts, fit.theta) then return "a model outside the set" end
  local asked, paid = plan.epsilon, fit.privacy and (fit.privacy.nominal_epsilon or fit.privacy.epsilon)
  if case.options.epsilon and not case.options.rho and case.options.privacy ~= false then
    local simulation_only = case.options.eigen == "matrix_free" and asked == 1 / 0 -- whose rounding no budget pays for
    if case.options.calibration ~= "paper" and not simulation_only and not (plan.epsilon <= case.options.epsilon * (1 + 1e-9)) then
      return ("a plan of epsilon %s"):format(asked)
    end
    if not (paid <= asked * (1 + 1e-9)) then return ("epsilon %s charged, planned %s"):format(paid, asked) end
  end
  local batch = case.options.batch
  local coins = case.options.sampling == "poisson" or type(batch) == "table" and (batch.scheme or "poisson") == "poisson"
  if not fit.stopped and plan.gradients and not coins and plan.gradients ~= fit.gradients then
    return ("%s gradients counted, %s planned"):format(fit.gradients, plan.gradients)
  end
  if again.theta ~= fit.theta then return "another model from the same seed" end
  return printed_whole(tostring(fit), 80)
end

-- Returns what became of a case, and what is wrong with that (nil: nothing).
local function outcome(case)
  local made, f = pcall(pn.objective, case.parts)
  if not made then return "objective", refused_in_words(f), f end
  local hole = printed_whole(tostring(f), 80)
  if hole then return "objective", hole .. "\n" .. tostring(f) end
  local solver = pn.solve[case.solver]
  local ok, plan = pcall(solver.plan, f, case.options)
  if not ok then return "refused", refused_in_words(plan), plan end
  local bad = printed_whole(tostring(plan), 80)
  if bad then return "plan", bad .. "\n" .. tostring(plan) end
  if (plan.gradients or plan.iterations * f.data.n) * case.dim > 3e6 then return "long" end
  local ran, fit = pcall(plan.run, plan, { rng = pn.rng.seeded(7) })
  if not ran then return "stopped", refused_in_words(fit) or within(fit), fit end
  local early = fit.stopped and fit.stopped ~= "certified" and fit.stopped ~= "budget"
  return early and "stopped" or "run", wrong_with_fit(case, plan, fit, plan:run { rng = pn.rng.seeded(7) }), fit.stopped
end

local function case_of(number, among)
  state = (SEED * 7919 + number * 104729) % 2147483648
  for _ = 1, 3 do dice(2) end
  local parts, dim = objective()
  local solver = pick(among)
  if among == by_values and chance(90) or among == by_curvature and chance(75) then parts.set = nil end
  if among == by_curvature and chance(50) then
    parts.loss = parts.loss.name ~= "softmax" and pick { pn.loss.logistic, pn.loss.sigmoid } () or parts.loss
    parts.reg = pick { function() end, function() return pn.reg.l2(0.01) end, function() return pn.reg.nonconvex(0.01) end } ()
  end
  return { dim = dim, parts = parts, solver = solver, options = options_for(solver, dim) }
end

describe("a solver on anything", function()
  local function try(among, cases)
    local count, faults = {}, {}
    for number = 1, cases do
      local case = case_of(number, among)
      local before = os.clock()
      local ok, what, fault, why = pcall(outcome, case)
      if not ok then what, fault = "raised", what end
      count[what] = (count[what] or 0) + 1
      if os.getenv "VERBOSE" then
        print(number, case.solver, what, ("%.2f s"):format(os.clock() - before), told(case.options), why)
      end
      if fault then
        faults[#faults + 1] = ("case %d of seed %d, solve.%s{%s} on %s, %s: %s"):format(number, SEED, case.solver,
          told(case.options), case.parts.loss.name or "?", tostring(case.parts.set), fault)
      end
    end
    assert.equal("", table.concat(faults, "\n"))
    assert.is_true(count.run >= cases // 4 and count.refused >= cases // 20) -- both kinds were tried
  end

  it("refuses in words, or runs to what its plan says", function() try(solvers, CASES) end)
  it("does so by values alone", function() try(by_values, CASES // 2) end)
  it("does so by second derivatives", function() try(by_curvature, CASES) end)
end)
