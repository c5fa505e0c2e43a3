-- intervals/init.lua -- fit:intervals{...}: how far coefficients may be from what they estimate, from what the run released.
-- Depends on: penumbra.call, penumbra.cell (bindings/core/lprint.c), penumbra.intervals.curvature, penumbra.intervals.units,
-- penumbra.passing, penumbra.scores (quantiles of the normal law, links), penumbra.wrap.
-- Used by: bindings/solvers/lfit_moments.c; penumbra.sandbox, which loads it for analysts.  No method of a string is called: in
-- a curated state those are the script's.
--
-- Two questions, never mixed.  target = "records": where would the answer without noise be, on these records?  Its variance V_P
-- is of the noise alone.  target = "population": where is the value of the population that the records are a sample of?  V_P and
-- the variance of the sample, V_S.  Intervals are theta_j +- z sqrt(V_jj), z the quantile of the normal law.
--
--   sufficient_statistics  V_P and V_P + V_S by fit:covariance: first order in the noise, whose law is known.  V_S supposes a
--                          linear model with errors of one variance.  ("approx")
--   output_perturbation    theta is the end point plus Gaussian noise of a known deviation: V_P = sigma^2 I.  ("exact"; with a
--                          set, onto which the sum is projected, "heuristic")
--   newton                 its last step ends where A (theta - w) = -(g + grad r), A the Hessian of f near theta and g the
--                          gradient at w, known from all releases with noise of deviation s on each coordinate: V_P = s^2 A^-2,
--                          V_S as in intervals/curvature.lua.  s is the run's own account: the noise of releases that were
--                          averaged, what predictions between them may be off, and what A's noise makes of the last step.
--                          ("approx": first order)
--
--   objective_perturbation theta minimises f + (d/2) ||theta - start||^2 + <b, theta>/n, b Gaussian, and has noise of its own:
--                          V_P = (sigma/n)^2 (A + d I)^-2 + sigma_o^2 I.  ("approx")
--   gradient_descent, sgd  gradients with noise along the path: V_P and what is left of the start by the recursion of
--                          descent_response.c, as if the Hessian were A all the way.  ("approx")
--
-- The last two release no Hessian: fit:intervals{ledger=, rho=} pays for one at theta.  `released` of the answer is that
-- Hessian, which further calls take for nothing.
--
-- "heuristic" claims no coverage: where an interval reaches the boundary of the set, which cuts the noise off; where gradients
-- are clipped and the population is asked for, whose value they do not lead to.
local error, ipairs, math_abs, math_max, pairs = error, ipairs, math.abs, math.max, pairs
local pcall, setmetatable, sqrt, tostring, type = pcall, setmetatable, math.sqrt, tostring, type
local concat, find, format, insert, sub = table.concat, string.find, string.format, table.insert, string.sub
local call = require "penumbra.call"
local cell = require "penumbra.cell"
local curvature = require "penumbra.intervals.curvature"
local passing = require "penumbra.passing"
local scores = require "penumbra.scores"
local units = require "penumbra.intervals.units"
local wrap = require "penumbra.wrap"

local shown = call.shown
local params = { { name = "level" }, { name = "target" }, { name = "joint" }, { name = "debias" }, { name = "released" },
  { name = "ledger" }, { name = "rho" }, { name = "epsilon" }, { name = "delta" }, { name = "rng" } }

local function fail(...) error("fit:intervals: " .. format(...), 0) end

local function read(options)
  if options == nil then options = {} end
  call.check("fit:intervals", params, options)
  local ask = { level = options.level or 0.95, target = options.target or "population", joint = options.joint or false,
    debias = options.debias or false, released = options.released }
  for _, name in ipairs { "ledger", "rho", "epsilon", "delta", "rng" } do
    if options[name] ~= nil then
      ask.price = ask.price or {}
      ask.price[name] = options[name]
    end
  end
  if type(ask.level) ~= "number" or not (ask.level > 0 and ask.level < 1) then
    fail("level must be a number between 0 and 1, got %s", shown(ask.level))
  end
  if ask.target ~= "population" and ask.target ~= "records" then
    fail('target must be "population" or "records", got %s', shown(ask.target))
  end
  if ask.joint ~= false and ask.joint ~= "bonferroni" then
    fail('joint must be "bonferroni" or left out, got %s', shown(ask.joint))
  end
  if type(ask.debias) ~= "boolean" then fail("debias must be true or false, got %s", shown(ask.debias)) end
  return ask
end

-- ---- what is known of the run ----

-- Of a fit that was loaded there is no objective: nil.
local function objective_of(fit)
  local fine, objective = pcall(function() return fit.plan.objective end)
  if not fine and passing(objective) then error(objective, 0) end
  return fine and objective or nil
end

-- A set, or its name where the fit was loaded; nil: none.
local function set_of(fit, objective)
  if objective then return objective.set end
  return fit.plan.set
end

local function from_matrix(privacy, total)
  local function quadratic(V, row)
    local sum = 0
    for i, a in pairs(row) do
      for j, b in pairs(row) do sum = sum + a * b * V[i][j] end
    end
    return math_max(0, sum)
  end
  return function(row)
    local noise = quadratic(privacy, row)
    return noise, total and math_max(0, quadratic(total, row) - noise) or nil, false
  end
end

local methods = {}

-- The answer is not the least squares one where a set or a regulariser of the objective moved it: what the noise does is then
-- another thing, on a boundary above all.
local function moved(theta, free)
  for j = 1, #theta do
    if math_abs(theta[j] - free[j]) > 1e-6 * math_max(math_abs(theta[j]), math_abs(free[j])) then return true end
  end
  return false
end

function methods.sufficient_statistics(fit, ask)
  if not fit.moments then fail("the run ended before it released its moments; run it to its end") end
  if ask.debias then fail("debias needs a solver that has a Hessian; here fit:path{ridge = {0}} is the model without a ridge") end
  local population = ask.target == "population"
  local out = { kind = "approx", notes = {},
    spread = from_matrix(fit:covariance { of = "privacy" }, population and fit:covariance { of = "total" } or nil) }
  local free = fit:path()[1]
  if moved(fit.theta, free.theta) then
    out.kind = "heuristic"
    out.notes[1] = "that the set or the regulariser moved the answer: no coverage is claimed"
  end
  if free.ridge > 0 then
    out.notes[#out.notes + 1] = format("the bias of the ridge, %.3g, which pulls coefficients to 0", free.ridge)
  end
  if population then out.notes[#out.notes + 1] = "errors whose variance differs from record to record" end
  return out
end

-- Of a run that ended before its last step nothing was released, and theta is the start.
function methods.output_perturbation(fit, ask)
  local plan, objective = fit.plan, objective_of(fit)
  if not objective then
    fail("a fit that was loaded does not keep the deviation of its noise; ask before it is saved")
  end
  if fit.steps < plan.iterations then
    fail("the run ended after %d of %d steps, before it released anything; run it to its end", fit.steps, plan.iterations)
  end
  local sigma = plan.sigma
  if not sigma or not find(tostring(plan.event or ""), "gaussian(", 1, true) then
    fail("the noise of this run is not Gaussian, and its law is not kept; fit with a delta, or with rho")
  end
  if ask.debias then fail("debias needs a solver that has a Hessian; output_perturbation releases none") end
  if ask.target == "population" then
    fail('output_perturbation releases nothing about the sample\'s own spread; target = "records" says how far noise moved the '
      .. "coefficients")
  end
  local set = objective.set ~= nil
  return { kind = set and "heuristic" or "exact",
    notes = { "steps that end before the minimum", set and "noise that the set cuts off: no coverage is claimed" or nil },
    spread = function(row)
      local sum = 0
      for _, a in pairs(row) do sum = sum + a ^ 2 end
      return sigma ^ 2 * sum, nil, false
    end }
end

-- ---- from second derivatives ----

-- The factor of the Hessian that is a record's mean squared gradient.
local function residual_of(fit)
  local link, objective = scores.link(fit), objective_of(fit)
  if link == "logistic" or link == "softmax" or link == "exp" then return 1 end
  fail('of loss.%s nothing was released that says how the records scatter; target = "records" says how far noise moved the '
    .. "coefficients%s", objective and objective.loss.name or fit.plan.loss,
    link == "identity" and ", and solve.sufficient_statistics has both" or "")
end

local function any(v)
  for j = 1, #v do
    if v[j] ~= 0 then return true end
  end
  return false
end

-- c: as fit.curvature; respond: as intervals/curvature.lua has it; early: what moves the answer towards its start.
local function by_curvature(fit, c, ask, respond, start, early)
  local population, objective = ask.target == "population", objective_of(fit)
  local regular = population and any(c.regular_gradient)
  local law = curvature(c, { respond = respond, start = start, debias = ask.debias, n = objective and objective.n
    or fit.plan.records, residual = population and residual_of(fit) or nil, regular = regular })
  local out = { kind = "approx", notes = {}, spread = law.spread, set = set_of(fit, objective),
    shift = (early or regular) and law.shift(fit.theta) or nil,
    bias_of = early and regular and early .. " and the regulariser" or early or "the regulariser" }
  if population and c.clip > 0 then
    out.kind = "heuristic"
    out.notes[1] = "the bias of clipped gradients: no coverage is claimed"
  end
  return out
end

function methods.newton(fit, ask)
  local c = fit.curvature
  if not c then
    fail("the run released no Hessian near its end: it ended early, kept its start, has hessians = 1, or a "
      .. "regulariser that is not of single coordinates, such as reg.quadratic")
  end
  local s, d = c.gradient_noise, c.damping
  local function respond(loss, regular)
    local whole = loss + regular + d
    return (s / whole) ^ 2, d / whole
  end
  return by_curvature(fit, c, ask, respond, d > 0 and fit.theta - c.pull / d or fit.theta, d > 0 and "damping" or nil)
end

-- ---- from a Hessian that is paid for ----

local released = setmetatable({}, { __mode = "k" }) -- of which fit each was

local function price_of(ask)
  local price = ask.price
  if not price then
    fail("the run released no Hessian, from which intervals follow; give ledger= and rho= (or epsilon= and delta=), and one is "
      .. "released at theta for that price; or fit with solve.newton, which releases one")
  end
  if (price.rho == nil) == (price.epsilon == nil) then fail("give rho, or epsilon and delta: the price of the Hessian") end
  return price
end

-- The Hessian at theta, charged before its noise is drawn, without the regulariser's part.
local function release(fit, objective, ask, oracle)
  local price = price_of(ask)
  local asks = oracle { objective = objective, ledger = price.ledger, rng = price.rng }
  local theta, reg = fit.theta, objective.reg
  local matrix = asks:hessian(theta, { rho = price.rho, epsilon = price.epsilon, delta = price.delta })
  local none = theta * 0
  local c = { matrix = matrix, noise = asks:noise "hessian", frobenius = true, clip = objective.clip or 0,
    regular_diagonal = reg and reg:hvp(theta, none + 1) or none, regular_gradient = reg and reg:gradient(theta) or none,
    simulated = price.rng ~= nil and price.rng.simulated or false }
  for j = 1, #theta do matrix:set(j, j, matrix:get(j, j) - c.regular_diagonal[j]) end
  released[c] = fit
  return c
end

local function hessian_of(fit, objective, ask, oracle)
  if not ask.released then return release(fit, objective, ask, oracle) end
  if ask.price then fail("released= is a Hessian that was paid for; leave ledger and the price out") end
  if released[ask.released] ~= fit then fail("released must be `released` of intervals of the same fit") end
  return ask.released
end

local function by_release(fit, ask, oracle)
  local plan, objective = fit.plan, objective_of(fit)
  if not objective then fail("a fit that was loaded has no records to release a Hessian of; ask before it is saved") end
  if fit.steps < plan.iterations or fit.stopped then
    fail("the run ended after %d of %d steps; run it to its end", fit.steps, plan.iterations)
  end
  if objective.reg and objective.reg.name == "quadratic" then
    fail("reg.quadratic joins coordinates, and intervals know regularisers that are sums over them; fit without it, which in "
      .. "public= of a model is the prior: prior = false")
  end
  if ask.target == "population" then residual_of(fit) end -- fails before anything is paid
  local function respond(loss, regular) return scores.response(plan, math_max(loss, 0), regular) end
  local _, left, start = respond(1e-3, 0)
  local c = hessian_of(fit, objective, ask, oracle)
  local out = by_curvature(fit, c, ask, respond, start,
    plan.solver == "objective_perturbation" and "the quadratic term" or left ~= 0 and "steps that end before the minimum" or nil)
  out.released, out.simulated = c, c.simulated
  if plan.settings.batch then insert(out.notes, "the draw of batches beyond the bound that is counted") end
  return out
end

for _, name in ipairs { "gradient_descent", "sgd", "objective_perturbation" } do methods[name] = by_release end

-- ---- the table ----

local meta = { __name = "pn.intervals", __metatable = false }

local function line_of(one)
  if one.undetermined then
    return format("  %s %11.5g   direction undetermined", cell(one.name, 26), one.estimate)
  end
  return format("  %s %11.5g %11.5g %11.5g %9.2g %9s", cell(one.name, 26), one.estimate, one.low, one.high,
    one.sd_privacy, one.sd_sampling and format("%.2g", one.sd_sampling) or "-")
end

function meta.__tostring(t)
  local what = t.target == "records" and "the answer without noise on these records" or "the value of the population"
  local lines = { format("intervals of %g %%%s, %s: %s", 100 * t.level, t.joint and " for all together" or "", t.kind, what) }
  if t.simulated then lines[1] = lines[1] .. "\n  the noise is seeded: a simulation, which protects nobody" end
  lines[2] = format("  %-26s %11s %11s %11s %9s %9s", "feature", "estimate", "low", "high", "noise", "sample")
  for _, one in ipairs(t) do lines[#lines + 1] = line_of(one) end
  lines[#lines + 1] = sub(wrap("  ", "not covered: " .. concat(t.notes, "; "), 2), 1, -2)
  return concat(lines, "\n")
end

local function entry(one, of, ask, z)
  local noise, sampling, undetermined = of.spread(one.row)
  local total, shift = sqrt(noise + (sampling or 0)), 0
  if of.shift then
    for j, factor in pairs(one.row) do shift = shift + factor * of.shift[j] end
  end
  local out = { name = one.name, unit = one.unit, kind = of.kind, estimate = one.estimate + (ask.debias and shift or 0),
    bias = of.shift and not ask.debias and -shift or nil }
  if undetermined then
    out.undetermined = true
    return out
  end
  out.low, out.high = out.estimate - z * total, out.estimate + z * total
  out.sd_privacy, out.sd_sampling = sqrt(noise), sampling and sqrt(sampling) or nil
  return out
end

-- Whether an interval of an entry of theta reaches the boundary of the set.
local function sticks_out(fit, of, z)
  if type(of.set) == "string" then return true end
  for j = 1, #fit.theta do
    local noise, sampling, undetermined = of.spread { [j] = 1 }
    for side = -1, 1, 2 do
      local x = fit.theta:copy()
      x[j] = x[j] + side * z * sqrt(noise + (sampling or 0))
      if undetermined or not of.set:contains(x) then return true end
    end
  end
  return false
end

local function note_of_set(out, fit, of, z)
  if not of.set or not sticks_out(fit, of, z) then return end
  out.kind = "heuristic"
  insert(out.notes, 1, type(of.set) == "string"
    and "the effect of the set, which the file does not keep: no coverage is claimed; ask before the fit is saved"
    or "the effect of the set, whose boundary is within reach: no coverage is claimed")
end

local function note_of_bias(out, of, ask)
  if not of.shift then return end
  if ask.debias then
    insert(out.notes, "what the first order leaves of the bias by " .. of.bias_of)
    return
  end
  local most = 0
  for _, one in ipairs(out) do
    if one.low then most = math_max(most, math_abs(one.bias) / (one.high - one.low)) end
  end
  insert(out.notes, format("the bias by %s, up to %.2g of an interval's width, which debias = true takes away", of.bias_of, most))
end

local function note_of_directions(out)
  for _, one in ipairs(out) do
    if one.undetermined then
      insert(out.notes, 1, "directions in which the released Hessian is lost in its noise")
      return
    end
  end
end

-- Where the released residual is no more than its noise the records seem to have no errors.
local function note_of_residual(out)
  for _, one in ipairs(out) do
    if one.sd_sampling ~= 0 then return end
  end
  insert(out.notes, 1, "the spread of the sample: the released residual is lost in the noise, and counts as 0")
end

return function(fit, options, oracle)
  local ask = read(options)
  if fit.declared then
    fail("fit:in_terms_of made this fit of another, by numbers that were declared public (%s), and intervals do not count what "
      .. "these do to theta; ask the fit that it was made of (m.trained of a model), or fit without public=", fit.declared)
  end
  local solver = fit.plan.solver
  local method = methods[solver]
  if not method then
    fail("%s releases nothing that says how far noise moved its coefficients; solve.sufficient_statistics and solve.newton have "
      .. "intervals, solve.gradient_descent, sgd and objective_perturbation for a price, and solve.output_perturbation those of "
      .. 'target = "records"', solver)
  end
  if not fit.privacy then fail("a run without privacy has no noise") end
  if method ~= by_release and (ask.price or ask.released) then
    fail("intervals of %s cost nothing; leave ledger, the price and released out", solver)
  end
  local of = method(fit, ask, oracle)
  local list = units(fit)
  local z = scores.quantile(1 - (1 - ask.level) / 2 / (ask.joint and #list or 1))
  local out = { level = ask.level, target = ask.target, joint = ask.joint, kind = of.kind, notes = of.notes,
    simulated = fit.privacy.simulated or of.simulated or false, released = of.released }
  note_of_set(out, fit, of, z)
  of.kind = out.kind
  for k, one in ipairs(list) do out[k] = entry(one, of, ask, z) end
  note_of_bias(out, of, ask)
  note_of_directions(out)
  if ask.target == "population" then note_of_residual(out) end
  insert(out.notes, "the bias of clipping rows and labels")
  insert(out.notes, "selection: they are not valid for a model that was chosen among several by the same records")
  return setmetatable(out, meta)
end
