-- 07_mirror_descent.lua -- the lesson on potentials: noisy Euclidean steps go nowhere on the simplex, multiplicative ones arrive;
-- Bregman divergences, the two numbers that a potential is judged by, and private mirror descent.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

local p = 1000

-- 100 noisy gradients of <c, x> from the centre of C, each followed by x = step(x, g): how far the mean of the points is above the
-- least value, -0.5.
local function walk(C, c)
  return function(step)
    local source, x, mean = pn.rng.seeded(1), C:center(), pn.vec.zeros(p)
    for _ = 1, 100 do
      mean:axpy(0.01, x)
      x = step(x, c + pn.vec.normal(p, source))
    end
    return c:dot(mean) + 0.5
  end
end

-- Bounds of Theorem 3.2 without their common factor: sqrt((G^2 + R^2) D2), Euclidean over entropy.
local function gain(dim)
  local l2, l1 = pn.width(pn.set.l2_ball { dim = dim }).value, pn.width(pn.set.l1_ball { dim = dim }).value
  return math.sqrt((l2 ^ 2 + 1) * (1 - 1 / dim) / 2 / ((l1 ^ 2 + 1) * math.log(dim)))
end

local function gains()
  local x, y, one = { 3, 10, 30, 70, 100, 300, 1000, 3000, 10000 }, {}, {}
  for k, dim in ipairs(x) do y[k], one[k] = gain(dim), 1 end
  pn.plot.line { { x = x, y = y, label = "Euclidean / entropy" }, { x = x, y = one, label = "equal" },
    title = "Risk bounds on the simplex", xlabel = "p", ylabel = "ratio", logx = true, logy = true }
end

-- Whether step(x, g) is x_i exp(-0.4 g_i), normalised, at random points.
local function check_step(env)
  local entropy, source = pn.potential.entropy {}, pn.rng.seeded(11)
  local C = pn.set.simplex { dim = p } -- the lesson's own: an answer may use it
  local x, g = C:sample(source), pn.vec.normal(p, source)
  if not env.step then return false, "step is still to come" end
  local ok, y = pcall(env.step, x:copy(), g:copy())
  if not ok then return false, "step raises an error: " .. tostring(y) end
  if not kit.is_vec(y, p) then return false, "step(x, g) should return a vector as long as x" end
  local function is(other) return (y - other):norm(math.huge) < 1e-9 end
  local right = entropy:mirror_step(x, g, 0.4, C)
  if is(right) then return true end
  if is(x * pn.exp(-0.4 * g)) then return false, "these are the right proportions, but the entries do not add up to 1" end
  if is(entropy:mirror_step(x, g, -0.4, C)) then
    return false, "this climbs: a large gradient should make a weight smaller"
  end
  if is(entropy:mirror_step(x, g, 1, C)) then return false, "a step of length 1; eta is 0.4" end
  if not near(y:sum(), 1, 1e-9) then return false, ("the entries of step(x, g) add up to %.4g, not to 1"):format(y:sum()) end
  return false, "on the simplex, but elsewhere than the mirror step: each weight is to be multiplied by exp(-0.4 g_i)"
end

local function check_divergence(env)
  local D, entropy = env.D, pn.potential.entropy {}
  local a, b = pn.vec { 0.5, 0.3, 0.2 }, pn.vec { 0.2, 0.2, 0.6 }
  if near(D, entropy:bregman(a, b), 1e-6) then return true end
  if near(D, entropy:bregman(b, a), 1e-6) then
    return false, "that is the divergence the other way round: the tangent is to be taken at b"
  end
  if near(D, entropy:value(a) - entropy:value(b), 1e-6) then return false, "the tangent at b is missing" end
  if near(D, (a - b):dot(a - b) / 2, 1e-6) then return false, "that is the divergence of the Euclidean potential" end
  if type(D) ~= "number" then return false, D == nil and "D is still to come" or "D should be a number" end
  return false, ("D is %.4g; Psi(a) - Psi(b) - <grad Psi(b), a - b> is another number"):format(D)
end

local function check_ratio(env)
  local r = env.ratio
  if r == nil then return false, "ratio is still to come" end
  if near(r, gain(p), 0.03) then return true end
  if near(r, gain(p) ^ 2, 0.15) then return false, "that is the square of it: the bound has a root" end
  if near(r, 1 / gain(p), 0.02) then return false, "upside down: Euclidean over entropy" end
  if near(r, math.sqrt(1000.5 / 12.80), 0.3) then return false, "the widths are in it; the ranges D2 are not" end
  return false, "it should be sqrt((G^2 + R^2) D2) of the one over that of the other"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 1, delta = 1e-6 })
  if flaw then return false, flaw end
  local plan = env.fit.plan
  local line = plan.lines.potential
  if plan.solver ~= "mirror_descent" or not tostring(line):find "^entropy" then
    return false, "it is private, but not mirror descent with the potential that fits the simplex"
  elseif plan.iterations < 50 or plan.iterations > 200 then
    return false, ("100 iterations or so are asked for, it has %d"):format(plan.iterations)
  end
  return true
end

return {
  name = "mirror_descent",
  title = "Mirror descent",
  minutes = 15,
  about = "Why straight steps get nowhere on the simplex, and which ones do.",
  source = "Talwar, Thakurta, Zhang (2014), Section 3 and Theorem 3.2; Beck, Teboulle (2003)",
  setup = function(env)
    env.C = pn.set.simplex { dim = p }
    env.c = -0.5 * pn.vec.basis(p, 1)
    env.walk = walk(env.C, env.c)
    env.obj = pn.objective { data = kit.one_tells(500, p), loss = pn.loss.hinge(), set = env.C }
  end,
  steps = {
    { id = "problem", text = [[
You look for a mixture of a thousand forecasters: weights x in the simplex C,
x >= 0 and sum x = 1. The loss is linear, <c, x>, and the first forecaster is
better by 0.5: c = -0.5 e_1.

You never see c. A hundred times you hear c + b with b ~ N(0, I), as when
each gradient is released with noise. `walk(step)` makes these hundred steps
from the centre, and returns how far the mean of its points is above the
minimum.]] },

    { id = "euclid", text = [[
The centre itself is 0.4995 above. Now the plainest algorithm: step against
what you heard, project back onto C.]],
      code = [[
walk(function(x, g) return C:project(x - 0.1 * g) end)]] },

    { id = "step-sizes", text = [[
It ends 0.497 above: next to nothing was learned from a hundred gradients. Is
the step size wrong? Try a range of them.]],
      code = [[
for _, eta in ipairs{0.001, 0.01, 0.1, 1} do
  print(eta, walk(function(x, g) return C:project(x - eta * g) end))
end]] },

    { id = "waste", text = [[
None of them helps. See what one step does to the centre, where every
weight is 0.001, if its gradient is nothing but noise.]],
      code = [[
noise = vec.normal(1000, rng.seeded(2))
x = C:project(C:center() - 0.1 * noise)
sign(x):sum(), (x - C:center()):norm(1)]], check = kit.looked("noise", "x") },

    { id = "why", text = [[
27 weights of 1000 are left, those with the luckiest noise, and x is 1.95
from the centre in l1 norm, where 2 is as far as it gets. To a Euclidean
step, moving 1000 coordinates by 0.1 each is a length of 3, to be undone by
the projection.

The next step throws most of these 27 out again. What is needed is a step
that a thousand small noises cannot carry far.]] },

    { id = "multiply", text = [[
Multiply instead of adding: x_i becomes x_i exp(-eta g_i), divided by what
makes the sum 1 again. Where eta g_i is 0.1, a weight changes by a tenth of
itself, and none falls to 0.]],
      ask = [[
Write `step`, a function of the vectors x and g that returns the new weights
with eta = 0.4.]],
      answer = [[
function step(x, g)
  local y = x * exp(-0.4 * g)
  return y / y:sum()
end]],
      wrong = {
        [[function step(x, g) return x * exp(-0.4 * g) end]],
        [[function step(x, g) local y = x * exp(0.4 * g) return y / y:sum() end]],
        [[function step(x, g) return pn.set.simplex{dim=#x}:project(x - 0.4 * g) end]],
      },
      hint = { "exp works on a whole vector, and * multiplies vectors entry by entry.",
        "y = x * exp(-0.4 * g), and then y / y:sum()." },
      check = check_step },

    { id = "arrives", text = [[
Use the same hundred noisy gradients with the new step.]],
      code = [[
walk(step)]] },

    { id = "mirror", text = [[
The result is 0.193 in place of 0.497. What did we do? Every such step has the
form

    y = argmin over C of  eta <g, y> + D(y, x),
    D(y, x) = Psi(y) - Psi(x) - <grad Psi(x), y - x>.

Psi is a convex potential, and D its Bregman divergence: how far Psi is above
its tangent at x. Psi = ||x||^2 / 2 gives D = ||y - x||^2 / 2, the projected
step. Psi = sum x_i ln x_i, the entropy, gives the multiplied one.]] },

    { id = "bregman", text = [[
The divergence of the entropy has a name of its own.]],
      ask = [[
Let a = {0.5, 0.3, 0.2} and b = {0.2, 0.2, 0.6}, and P = potential.entropy{}.
Set `D` to the divergence D(a, b), from P:value and P:gradient.]],
      answer = [[
a, b = vec{0.5, 0.3, 0.2}, vec{0.2, 0.2, 0.6}
P = potential.entropy{}
D = P:value(a) - P:value(b) - P:gradient(b):dot(a - b)
print(D, P:bregman(a, b), (a * log(a / b)):sum())]],
      wrong = {
        [[P = potential.entropy{} D = P:bregman(vec{0.2, 0.2, 0.6}, vec{0.5, 0.3, 0.2})]],
        [[P = potential.entropy{} D = P:value(vec{0.5, 0.3, 0.2}) - P:value(vec{0.2, 0.2, 0.6})]],
        [[D = (vec{0.5, 0.3, 0.2} - vec{0.2, 0.2, 0.6}):norm()^2 / 2]],
      },
      hint = { "D(a, b) is Psi(a) less the tangent at b: Psi(b) + <grad Psi(b), a - b>.",
        "P:value(a) - P:value(b) - P:gradient(b):dot(a - b)" },
      check = check_divergence },

    { id = "two-numbers", text = [[
It is the relative entropy, sum a_i ln(a_i/b_i), and at least ||a - b||_1^2 /
2 (Pinsker). So the entropy is 1-strongly convex in the l1 norm, as ||x||^2/2
is in the l2 norm. That norm measures the noise: the excess risk of T steps
is at most M sqrt(2 D2/T) on average, where

    M = L R + sigma sqrt(G^2 + R^2),   D2 = max of Psi over C - min of Psi,

L the slope, G and R width and radius of the norm's unit ball (Theorem 3.2).]] },

    { id = "predict", text = [[
When noise dominates, the bound goes with sqrt((G^2 + R^2) D2). On the
simplex: the l2 ball and D2 = (1 - 1/p)/2, against the l1 ball and D2 = ln p.
R is 1.]],
      ask = [[
Set `ratio` to the bound of the Euclidean potential over that of the entropy,
for p = 1000. (pn.width gives G.)]],
      answer = [[
G2 = pn.width(set.l2_ball{dim=1000}).value
G1 = pn.width(set.l1_ball{dim=1000}).value
ratio = sqrt((G2^2 + 1) * 0.4995 / ((G1^2 + 1) * log(1000)))
print(ratio)]],
      wrong = {
        [[G2, G1 = pn.width(set.l2_ball{dim=1000}).value, pn.width(set.l1_ball{dim=1000}).value
ratio = sqrt((G2^2 + 1) / (G1^2 + 1))]],
        [[G2, G1 = pn.width(set.l2_ball{dim=1000}).value, pn.width(set.l1_ball{dim=1000}).value
ratio = (G2^2 + 1) * 0.4995 / ((G1^2 + 1) * log(1000))]],
        [[ratio = sqrt(1000)]],
      },
      hint = { "Four numbers: G2^2 + 1 and 0.4995 for the one, G1^2 + 1 and log(1000) for the other; and a root.",
        "sqrt((G2^2 + 1) * 0.4995 / ((G1^2 + 1) * log(1000))" },
      check = check_ratio },

    { id = "when", text = [[
A factor of 2.4, and it grows. The line at 1 is where both are equal: between
p = 30 and 100 the logarithms cost as much as the root of p. Below, plain
Euclidean steps are the better ones.]],
      plot = gains },

    { id = "start", text = [[
Where to start? The article says anywhere. Its proof needs D(best,
start) <= D2, and that holds at the minimum of Psi: the centre. Start the
entropy with a weight of 0 and it stays 0: 0 times anything. For other sets,
`potential.for_set` picks.]],
      code = [[
for _, S in ipairs{C, set.l1_ball{dim=9}, set.l2_ball{dim=9}} do
  print(select(2, potential.for_set(S)))
end
P = potential.entropy{}
P:bregman(vec.basis(1000, 1), P:start(C)), P:range(C)]], check = kit.looked "P" },

    { id = "private", text = [[
Now on data. `obj` is a hinge loss over 500 synthetic records and this
simplex; its minimum is 0.382. Noise goes on each mean gradient: replacing a
record moves it by at most 2L/n in l2. The potential comes after the noise,
so it is free. 400 steps of the theorem at rho = 0.1, both potentials, the
same seed (a simulation):]],
      code = [[
for _, P in ipairs{potential.euclidean{}, potential.entropy{}} do
  print(solve.mirror_descent(obj, {rho=0.1, iterations=400, potential=P,
    preset="theory", rng=rng.seeded(1)}).value)
end]] },

    { id = "train", text = [[
The losses are 0.574 and 0.532, an excess of 0.192 and 0.149. They differ by
less than the bounds do, which are worst cases. Left alone (no preset), the
plan takes longer steps, made for the noise of the whole budget, and the mean
of the later points only; these 400 then end at the minimum. It also takes the
potential in which noise costs less.]],
      ask = [[
Train for real: `fit` is to be mirror descent on obj at epsilon = 1,
delta = 1e-6, with 100 iterations or so and the potential that fits the
simplex.]],
      answer = [[
fit = solve.mirror_descent(obj, {epsilon=1, delta=1e-6, iterations=100,
  potential=potential.entropy{}})
print(fit)]],
      wrong = {
        [[fit = solve.mirror_descent(obj, {epsilon=1, delta=1e-6, iterations=100,
  potential=potential.euclidean{}})]],
        [[fit = solve.mirror_descent(obj, {epsilon=1, delta=1e-6, iterations=100,
  potential=potential.entropy{}, rng=rng.seeded(1)})]],
        [[fit = solve.mirror_descent(obj, {rho=1, iterations=100, potential=potential.entropy{}})]],
      },
      hint = { "solve.mirror_descent(obj, {...}) with epsilon, delta, iterations and potential, and no rng.",
        "The potential is potential.entropy{}, or potential.for_set(C)." },
      check = check_fit },

    { id = "end", text = [[
Mirror descent releases the same noisy gradients as gradient descent, for the
same price. Only what is done with them differs, and that is post-processing.
The potential is the geometry: its norm sets what the noise costs, its range
what the way costs. `tostring(fit.plan)` lists both: D2, and for the noise K,
which is at most G^2 + R^2.]] },
  },
}
