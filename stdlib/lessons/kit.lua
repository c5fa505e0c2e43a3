-- kit.lua -- what several lessons have in common: checks and data.  It is no lesson: the list in init.lua does not name it.
-- Depends on: penumbra.  Used by: lessons.
local pn = require "penumbra"

local kit = {}

function kit.near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

-- Whether v is a vector of n numbers.
function kit.is_vec(v, n)
  return pcall(function() return v:dot(pn.vec.zeros(n)) end)
end

-- The check of a step of code whose last line is an expression: done when the names are there and a value was looked at.
function kit.looked(...)
  local names = { ... }
  return function(env, value)
    for _, name in ipairs(names) do
      if env[name] == nil then return false, name .. " is still to come" end
    end
    return value ~= nil, "the last line is still to come"
  end
end

-- What keeps a fit from being as private as asked: nil, or a reason.  asked: epsilon and delta, or rho.
function kit.flaw(fit, asked)
  local ok, privacy = pcall(function() return fit.privacy, fit.plan end)
  if fit == nil then return "fit is still to come" end
  if not ok then return "fit should be what a solver returned" end
  if not privacy then return "it has no noise at all, and no guarantee" end
  if privacy.simulated then return "its noise is seeded: whoever knows the seed can take it off again" end
  local has = { rho = privacy.rho, epsilon = privacy.epsilon, delta = privacy.delta }
  if asked.epsilon and privacy.rho and not (privacy.epsilon and privacy.epsilon < math.huge) then -- a budget in rho, converted
    has.epsilon = pn.accountant.zcdp {}:add(pn.event.zcdp { rho = privacy.rho }):epsilon(asked.delta)
    has.delta = asked.delta
  end
  for _, name in ipairs { "rho", "epsilon", "delta" } do
    if asked[name] and not (has[name] and has[name] <= asked[name] * (1 + 1e-9)) then
      return ("its %s is above %g"):format(name, asked[name])
    end
  end
  return nil
end

-- n records of l2 norm 1: the first of p features is the label with 1 record in 10 told wrong, the others are a random direction.
function kit.one_tells(n, p)
  local r = pn.rng.seeded(7)
  local X, y = {}, {}
  for i = 1, n do
    y[i] = r:uniform() < 0.5 and -1 or 1
    X[i] = 0.6 * r:sphere(p)
    X[i][1] = r:uniform() < 0.1 and -0.8 * y[i] or 0.8 * y[i]
  end
  return pn.data.from(pn.mat(X), y):clip_rows("l2", 1)
end

return kit
