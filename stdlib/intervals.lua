-- intervals.lua -- fit:intervals{...}: how far coefficients may be from what they estimate, from what the run released alone, so
-- that it costs nothing more.
-- Depends on: penumbra.call, penumbra.cell (bindings/core/lprint.c), penumbra.scores (quantiles of the normal law), penumbra.wrap.
-- Used by: bindings/solvers/lfit_moments.c.
--
-- Two questions, never mixed.  target = "records": where would the answer without noise be, on these records?  Its variance V_P
-- is of the noise alone.  target = "population": where is the value of the population that the records are a sample of?  V_P and
-- the variance of the sample, V_S.  Intervals are theta_j +- z sqrt(V_jj), z the quantile of the normal law.
--
--   sufficient_statistics  V_P and V_P + V_S by fit:covariance: first order in the noise, whose law is known.  V_S supposes a
--                          linear model with errors of one variance.  ("approx")
--   output_perturbation    theta is the end point plus Gaussian noise of a known deviation: V_P = sigma^2 I.  ("exact"; with a
--                          set, onto which the sum is projected, "heuristic")
--
-- Others release nothing that says how noise moved their last point: gradients of a path do not, without a Hessian.
--
-- Original units.  Of a recipe's features the coefficient of a column, and the constant, are linear in theta: o = A theta + b, so
-- their covariance is A V A^T.  With f_j the factor of feature j (scale, times half the label's width where that is a range) and
-- m_j its offset: o_j = f_j theta_j, constant = sum f_j (-m_j) theta_j + f_0 theta_0 + middle, theta_0 the intercept's.
local call = require "penumbra.call"
local cell = require "penumbra.cell"
local scores = require "penumbra.scores"
local wrap = require "penumbra.wrap"

local shown = call.shown
local params = { { name = "level" }, { name = "target" }, { name = "joint" } }

local function fail(...) error("fit:intervals: " .. string.format(...), 0) end

local function read(options)
  if options == nil then options = {} end
  call.check("fit:intervals", params, options)
  local level, target, joint = options.level or 0.95, options.target or "population", options.joint or false
  if type(level) ~= "number" or not (level > 0 and level < 1) then
    fail("level must be a number between 0 and 1, got %s", shown(level))
  end
  if target ~= "population" and target ~= "records" then
    fail('target must be "population" or "records", got %s', shown(target))
  end
  if joint ~= false and joint ~= "bonferroni" then fail('joint must be "bonferroni" or left out, got %s', shown(joint)) end
  return level, target, joint
end

-- ---- variances ----

local methods = {}

-- The answer is not the least squares one where a set or a regulariser of the objective moved it: what the noise does is then
-- another thing, on a boundary above all.
local function moved(theta, free)
  for j = 1, #theta do
    if math.abs(theta[j] - free[j]) > 1e-6 * math.max(math.abs(theta[j]), math.abs(free[j])) then return true end
  end
  return false
end

function methods.sufficient_statistics(fit, target)
  if not fit.moments then fail("the run ended before it released its moments; run it to its end") end
  local out = { privacy = fit:covariance { of = "privacy" }, kind = "approx", notes = {} }
  if target == "population" then out.total = fit:covariance { of = "total" } end
  local free = fit:path()[1]
  if moved(fit.theta, free.theta) then
    out.kind = "heuristic"
    out.notes[1] = "that the set or the regulariser moved the answer: no coverage is claimed"
  end
  if free.ridge > 0 then
    out.notes[#out.notes + 1] = ("the bias of the ridge, %.3g, which pulls coefficients to 0"):format(free.ridge)
  end
  if target == "population" then out.notes[#out.notes + 1] = "errors whose variance differs from record to record" end
  return out
end

-- Of a run that ended before its last step nothing was released, and theta is the start.
function methods.output_perturbation(fit, target)
  local plan = fit.plan
  if type(plan) ~= "userdata" or not pcall(function() return plan.objective end) then
    fail("a fit that was loaded does not keep the deviation of its noise; ask before it is saved")
  end
  if fit.steps < plan.iterations then
    fail("the run ended after %d of %d steps, before it released anything; run it to its end", fit.steps, plan.iterations)
  end
  local sigma = plan.sigma
  if not sigma or not tostring(plan.event or ""):find "gaussian%(" then
    fail("the noise of this run is not Gaussian, and its law is not kept; fit with a delta, or with rho")
  end
  if target == "population" then
    fail('output_perturbation releases nothing about the sample\'s own spread; target = "records" says how far noise moved the '
      .. "coefficients")
  end
  local V = {}
  for j = 1, #fit.theta do
    V[j] = setmetatable({ [j] = sigma ^ 2 }, { __index = function() return 0 end })
  end
  local set = plan.objective.set ~= nil
  return { privacy = V, kind = set and "heuristic" or "exact",
    notes = { "steps that end before the minimum", set and "what the set cuts off the noise: no coverage is claimed" or nil } }
end

-- ---- units ----

-- Rows of A, for each coefficient and the constant, as tables {feature number = factor}; nil for what has no recipe.
local function to_original(fit)
  local recipe = fit.recipe
  if not recipe or #recipe:features() ~= #fit.theta then return nil end -- of several classes each has theirs
  local label = recipe:label()
  local half, middle = 1, 0
  if label and label.low then
    half, middle = (label.high - label.low) / 2, (label.high + label.low) / 2
  end
  local rows, constant = {}, {}
  for j, feature in ipairs(recipe:features()) do
    local factor = feature.scale * half
    rows[j] = { [j] = factor }
    constant[j] = feature.kind == "intercept" and factor or -feature.offset * factor
  end
  return rows, constant, middle
end

local function spread(V, row)
  local sum = 0
  for i, a in pairs(row) do
    for j, b in pairs(row) do sum = sum + a * b * V[i][j] end
  end
  return math.sqrt(math.max(0, sum))
end

-- ---- the table ----

local meta = { __name = "pn.intervals" }

function meta.__tostring(t)
  local what = t.target == "records" and "the answer without noise on these records" or "the value of the population"
  local lines = { ("intervals of %g %%%s, %s: %s"):format(100 * t.level, t.joint and " for all together" or "", t.kind, what) }
  if t.simulated then lines[1] = lines[1] .. "\n  the noise is seeded: a simulation, which protects nobody" end
  lines[2] = ("  %-26s %11s %11s %11s %9s %9s"):format("feature", "estimate", "low", "high", "noise", "sample")
  for _, one in ipairs(t) do
    lines[#lines + 1] = ("  %s %11.5g %11.5g %11.5g %9.2g %9s"):format(cell(one.name, 26), one.estimate, one.low, one.high,
      one.sd_privacy, one.sd_sampling and ("%.2g"):format(one.sd_sampling) or "-")
  end
  lines[#lines + 1] = wrap("  ", "not covered: " .. table.concat(t.notes, "; "), 2):sub(1, -2)
  return table.concat(lines, "\n")
end

local function add(out, name, estimate, row, of, z, unit)
  local noise = spread(of.privacy, row)
  local total = of.total and spread(of.total, row) or noise
  out[#out + 1] = { name = name, estimate = estimate, low = estimate - z * total, high = estimate + z * total, sd_privacy = noise,
    sd_sampling = of.total and math.sqrt(math.max(0, total ^ 2 - noise ^ 2)) or nil, kind = of.kind, unit = unit }
end

-- The coefficients that are entries of theta, in their order.
local function entries(fit)
  local out = {}
  for _, one in ipairs(fit:coefficients()) do
    if one.scaled then out[#out + 1] = one end
  end
  return out
end

local function add_all(out, fit, of, z)
  local theta, rows, constant, middle = fit.theta, to_original(fit)
  for j, one in ipairs(entries(fit)) do
    local name = one.class and ("%s, %s"):format(one.class, one.name) or one.name
    if rows and one.original then
      add(out, name, one.original, rows[j], of, z, "file")
    else
      add(out, name, theta[j], { [j] = 1 }, of, z, "scaled")
    end
  end
  if rows then
    local estimate = middle
    for j = 1, #theta do estimate = estimate + constant[j] * theta[j] end
    add(out, "(constant)", estimate, constant, of, z, "file")
  end
end

-- Where the released residual is no more than its noise the records seem to have no errors.
local function warn_of_residual(out)
  for _, one in ipairs(out) do
    if one.sd_sampling ~= 0 then return end
  end
  table.insert(out.notes, 1, "the spread of the sample: the released residual is lost in the noise, and counts as 0")
end

return function(fit, options)
  local level, target, joint = read(options)
  local solver = fit.plan.solver
  local method = methods[solver]
  if not method then
    fail("%s releases nothing that says how far noise moved its coefficients; solve.sufficient_statistics has intervals, and "
      .. 'solve.output_perturbation has those of target = "records"', solver)
  end
  if not fit.privacy then fail("a run without privacy has no noise to tell of") end
  local of = method(fit, target)
  local count = #fit.theta + (to_original(fit) and 1 or 0)
  local z = scores.quantile(1 - (1 - level) / 2 / (joint and count or 1))
  local out = { level = level, target = target, joint = joint, kind = of.kind, notes = of.notes,
    simulated = fit.privacy.simulated }
  table.insert(out.notes, "the bias of clipping rows and labels")
  table.insert(out.notes, "a model that was chosen among several by the same records")
  add_all(out, fit, of, z)
  if target == "population" then warn_of_residual(out) end
  return setmetatable(out, meta)
end
