-- choose.lua -- what the shipped solvers choose where the caller does not: steps, momentum and step sizes, from public numbers.
-- Depends on: nothing; `s` is the state of a pn.solver.  Used by: penumbra.solvers.NAME.
--
-- With L the certified smoothness and time = step size x steps, after which noise has done as much harm as more steps would do
-- good (s.time, from the noise, not from T), T steps of 1/L take T/L.  Momentum beta makes each last 1/(1 - beta) times as long, and
-- 1 - beta >= 10/T forgets the start: sqrt(10 L time) steps are enough.  MOST keeps a run short on a machine of today; it is no bound.
-- 10 and the constants of s.time were compared on a9a, Covertype, usps, breast cancer, Reuters, abalone, cal_housing and ijcnn1.
local choose = {}

local FORGET, FEWEST, MOST = 10, 10, 400

-- The option `name`: a number from low to high, `high` excluded when it is finite, or what `otherwise` says where it is "auto".
function choose.number(s, name, low, high, otherwise)
  local value = s.options[name]
  if value == "auto" and otherwise then return otherwise end
  if math.type(value) and value >= low and value < high then return value end
  error(("%s: %s must be a number from %g%s%s, got %s"):format(s.name, name, low,
    high < math.huge and (" to below %g"):format(high) or "", otherwise and ', or "auto"' or "", tostring(value)), 0)
end

-- L, or nil where nothing bounds it: kinks, rows of any length.
local function smoothness(s)
  local L = s.objective.bounds.smoothness
  return L and L > 0 and L < math.huge and L or nil
end

function choose.steps(s)
  local L = smoothness(s)
  local T = L and math.sqrt(FORGET * L * s.time) or s.dim * (s.objective.bounds.lipschitz.l2 / (s.dim * s.noise)) ^ 2
  return T < MOST and math.max(math.ceil(T), FEWEST) or MOST
end

-- The least momentum with which s.steps of 1/L take s.time.
function choose.momentum(s)
  local L = smoothness(s)
  return L and math.max(math.min(1 - s.steps / (L * s.time), 1 - FORGET / s.steps), 0) or 0
end

-- 1/L, or less where that goes too far; without L, as subgradients go: over the length 4 slope/G in T steps of length G.
function choose.rate(s, momentum)
  local bounds, L, each = s.objective.bounds, smoothness(s), s.time * (1 - momentum) / s.steps
  local G = bounds.lipschitz.l2
  local most = L and 1 / L or 4 * bounds.slope / (G * G * math.sqrt(s.steps)) * (1 - momentum)
  return math.min(each, most < math.huge and most or 1)
end

-- ---- which point is the answer: option output ----

function choose.output(s)
  local output = s.options.output
  if output ~= "average" and output ~= "last" then
    error(('%s: output must be "average" or "last", got %s'):format(s.name, tostring(output)), 0)
  end
end

-- After a step: the mean of the points of the last half.
function choose.keep(s)
  local first = s.steps // 2 + 1
  if s.step == first then s.mean = s.x end
  if s.step > first then s.mean = s.mean + (s.x - s.mean) * (1 / (s.step - first + 1)) end
end

function choose.answer(s)
  return s.options.output == "average" and s.mean or s.x
end

return choose
