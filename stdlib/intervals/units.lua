-- intervals/units.lua -- coefficients in the units in which they are read, as rows over theta.
-- Depends on: nothing.  Used by: penumbra.intervals.
--
-- Of a recipe's features the coefficient of a column, and the constant, are linear in theta: o = A theta + b, so that their
-- covariance is A V A^T.  With f_j the factor of feature j (scale, times half the label's width where that is a range) and m_j
-- its offset: o_j = f_j theta_j, constant = sum f_j (-m_j) theta_j + f_0 theta_0 + middle, theta_0 the intercept's.
local format, ipairs = string.format, ipairs

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

-- The coefficients that are entries of theta, in their order.
local function entries(fit)
  local out = {}
  for _, one in ipairs(fit:coefficients()) do
    if one.scaled then out[#out + 1] = one end
  end
  return out
end

-- A list of {name=, estimate=, row=, unit=}.
return function(fit)
  local out, theta, rows, constant, middle = {}, fit.theta, to_original(fit)
  for j, one in ipairs(entries(fit)) do
    local name = one.class and format("%s, %s", one.class, one.name) or one.name
    if rows and one.original then
      out[j] = { name = name, estimate = one.original, row = rows[j], unit = "file" }
    else
      out[j] = { name = name, estimate = theta[j], row = { [j] = 1 }, unit = "scaled" }
    end
  end
  if rows then
    local estimate = middle
    for j = 1, #theta do estimate = estimate + constant[j] * theta[j] end
    out[#out + 1] = { name = "(constant)", estimate = estimate, row = constant, unit = "file" }
  end
  return out
end
