-- network.lua -- a private two-layer network: a loss of several margins, written as a formula.
--   penumbra examples/network.lua           points of a disc and of a ring around it, made up here
--   SEED=1 penumbra examples/network.lua    seeded noise: the same numbers every time, no privacy, and it says so
local pn = require "penumbra"

local seed = math.tointeger(tonumber(os.getenv "SEED"))
local hidden = 6

-- Label 1 within, -1 around it; the last feature is a bias.  Rows are at most 1 long.
local function rings(n, rng)
  local rows, labels = {}, {}
  for i = 1, n do
    local inner, angle = i % 2 == 0, 2 * math.pi * rng:uniform()
    local r = inner and 0.35 * rng:uniform() or 0.7 + 0.3 * rng:uniform()
    rows[i], labels[i] = { 0.7 * r * math.cos(angle), 0.7 * r * math.sin(angle), 0.7 }, inner and 1 or -1
  end
  return pn.data.from(rows, labels):clip_rows("l2", 1)
end

local train, test = rings(20000, pn.rng.seeded(1)), rings(2000, pn.rng.seeded(2))

-- theta holds a row of 3 weights for each hidden unit, of which z[j] = <x, row j>, and then w: what leads out of the units, and
-- a bias.
local function out(z, w)
  local sum = w[hidden + 1]
  for j = 1, hidden do sum = sum + w[j] * pn.tanh(z[j]) end
  return sum
end
local network = pn.loss.margins {
  k = hidden, extra = hidden + 1, labels = { -1, 1 }, name = "network",
  f = function(z, w, y) return pn.softplus(-y * out(z, w)) end,
}

-- No set: nothing bounds the slopes, so each record's gradient is clipped, in z and w together.
local objective = pn.objective { data = train, loss = network, clip = 1 }
print(objective)

-- From theta = 0 the units would never part; the steps were tried on these same data, which nobody paid for here.
local start = 4 * pn.rng.seeded(8):sphere(3 * hidden + hidden + 1)
local how = { iterations = 300, step = 4, start = start, output = "last" }
local function with(more)
  for name, value in pairs(how) do more[name] = value end
  return more
end
local fit = pn.solve.gradient_descent(objective,
  with { epsilon = 2, delta = 1 / train.n ^ 2, rng = seed and pn.rng.seeded(seed) or nil })
local open = pn.solve.gradient_descent(objective, with { privacy = false })
print(fit)

-- fit:predict gives the margins z, a row for every record; what they mean the formula says.
local function right(theta, margins)
  local count, w = 0, theta:slice(3 * hidden + 1, #theta)
  for i = 1, test.n do
    count = count + ((out(margins[i], w) >= 0) == (test.y[i] > 0) and 1 or 0)
  end
  return count / test.n
end
print(("\n  right of the test records: private %.3f, without privacy %.3f"):format(
  right(fit.theta, fit:predict(test)), right(open.theta, open:predict(test))))
