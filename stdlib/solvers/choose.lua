-- choose.lua -- what the shipped solvers choose where the caller does not: steps, momentum and step sizes, from public numbers.
-- Depends on: nothing; `s` is the state of a pn.solver.  Used by: penumbra.solvers.NAME.
--
-- With L the certified smoothness and time = step size x steps, after which noise has done as much harm as more steps would do
-- good (s.time, from the noise, not from T), T steps of 1/L take T/L.  Momentum beta makes each last 1/(1 - beta) times as long,
-- and 1 - beta >= 10/T forgets the start: sqrt(10 L time) steps are enough.  MOST keeps a run short, and s.passes one on large
-- data; they are no bounds.
--
-- The constants here and in the solvers were chosen by looking at a9a, ijcnn1, abalone, cal_housing and usps, those of s.time at
-- Covertype, breast cancer and Reuters as well: on these sets the defaults are better than they would be on others.
local choose = {}

local FORGET, FEWEST, MOST = 10, 10, 400

-- What a message calls a value.
local function got(value)
  if type(value) == "string" then return ('"%s"'):format(value) end
  if type(value) == "table" or type(value) == "function" then return "a " .. type(value) end
  return type(value) == "userdata" and "an object" or tostring(value)
end

-- The option `name`: a number from low to high, `high` excluded when it is finite, or what `otherwise` says where it is "auto".
function choose.number(s, name, low, high, otherwise)
  local value = s.options[name]
  if value == "auto" and otherwise then return otherwise end
  if math.type(value) and value >= low and value < high then return value end
  error(("%s: %s must be a number from %g%s%s, got %s"):format(s.called, name, low,
    high < math.huge and (" to below %g"):format(high) or "", otherwise and ', or "auto"' or "", got(value)), 0)
end

-- The option `name`: one of the words.
function choose.word(s, name, words)
  local value = s.options[name]
  for _, word in ipairs(words) do
    if value == word then return word end
  end
  error(('%s: %s must be "%s" or "%s", got %s'):format(s.called, name, table.concat(words, '", "', 1, #words - 1), words[#words],
    got(value)), 0)
end

-- ---- options with a number for each step ----

local function refuse_step(s, name, found, step)
  error(('%s: %s must be a number from 0, %d of them in a vector, a function of the step or "auto", got %s%s'):format(s.called,
    name, s.steps, found, step and " at step " .. step or ""), 0)
end

local function is_list(value)
  return type(value) == "table" or type(value) == "userdata"
end

-- In `start`: a vector is as long as the run.
function choose.schedule(s, name)
  local value = s.options[name]
  if not is_list(value) then return end
  local ok, length = pcall(function() return #value end)
  if not ok then refuse_step(s, name, "something else") end
  if length ~= s.steps then refuse_step(s, name, length .. " in a vector") end
end

-- In `step`: the number of this step.
function choose.at_step(s, name, auto)
  local value = s.options[name]
  if is_list(value) then value = value[s.step] elseif type(value) == "function" then value = value(s.step) end
  if value == "auto" then return auto end
  if math.type(value) and value >= 0 and value < math.huge then return value end
  refuse_step(s, name, got(value), s.step)
end

-- The length of theta over which slopes change by their bound, for records with gradients of length G: G/L of a logistic loss.
function choose.margin(s, G)
  local bounds = s.objective.bounds
  local certified = bounds.smoothness > 0 and bounds.smoothness < math.huge
  G = G or bounds.lipschitz.l2
  return certified and G / bounds.smoothness or 4 * bounds.slope / G
end

-- L, or of smooth losses a guess, G/margin, where records may have any length: of gradients of length G; nil of kinks.
local function smoothness(s, G)
  local bounds = s.objective.bounds
  local L = bounds.smoothness
  if L > 0 and L < math.huge then return L end
  L = (G or bounds.lipschitz.l2) / choose.margin(s, G)
  return bounds.smooth and L > 0 and L < math.huge and L or nil
end

-- Batches are a noise, too, of about G^2/b; but it is in the directions that curve, which hold it down: per coordinate it harms the
-- risk by about time G^2/(p records), records = b T.  A longer s.time than has 0.01 G margin of that is shortened.
function choose.sample(s, records)
  s.time = math.min(s.time, 0.01 * s.dim * records * choose.margin(s) / s.objective.bounds.lipschitz.l2)
end

-- `share`: passes over the records that a step takes, 1 by default.  A second result where s.passes leaves fewer steps.
function choose.steps(s, share)
  local L = smoothness(s)
  local T = L and math.sqrt(FORGET * L * s.time) or s.dim * (s.objective.bounds.lipschitz.l2 / (s.dim * s.noise)) ^ 2
  return choose.within(s, T < MOST and math.max(math.ceil(T), FEWEST) or MOST, share)
end

-- T, or fewer where T steps of that share of the records are more than s.passes; then also how many passes T would be.
-- What a step of batch= takes is the caller's choice.
function choose.within(s, T, share)
  local passes = s.options.batch == nil and T * (share or 1) or 0
  if passes <= s.passes then return T end
  return math.max(math.floor(T * s.passes / passes), 1), passes
end

-- The least momentum with which s.steps of 1/L, or of 1/(L blocks) with blocks that move in turn, take s.time.
function choose.momentum(s, blocks)
  local L, T = smoothness(s), s.steps / (blocks or 1)
  return L and math.max(math.min(1 - T / (L * s.time), 1 - FORGET / T), 0) or 0
end

-- The largest step that is stable: 1/L; of kinks, T steps of length G go over the margin sqrt(T) times.
function choose.longest(s, G)
  local L = smoothness(s, G)
  G = G or s.objective.bounds.lipschitz.l2
  local most = L and 1 / L or choose.margin(s, G) / (G * math.sqrt(s.steps))
  return most > 0 and most < math.huge and most or 1
end

-- The longest, or less where that goes too far: where gradients are clipped to G, noise is less and s.time longer.
function choose.rate(s, momentum, G)
  local time = G and s.time * (s.objective.bounds.lipschitz.l2 / G) ^ 2 or s.time
  return math.min(time * (1 - momentum) / s.steps, choose.longest(s, G))
end

-- Where the noise of the last running sum is more than that of T gradients which together cost the budget, s.noise T, by so much
-- less.
function choose.rate_of_sums(s, momentum, noise)
  return choose.rate(s, momentum) * (noise > 0 and math.min(s.noise * s.steps / noise, 1) or 1)
end

function choose.factorization(s)
  choose.word(s, "factorization", { "binary", "sqrt", "banded", "blt" })
end

-- ---- which point is the answer: option output ----

function choose.output(s)
  choose.word(s, "output", { "average", "last" })
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
