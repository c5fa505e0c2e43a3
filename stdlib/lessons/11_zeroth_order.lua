-- 11_zeroth_order.lua -- the lesson on values alone: noisy quotients that drown, a record whose jump tells on it, the clip,
-- smoothing and its bias, orthogonal directions, differences in a tree, and what stationary means where there are kinks.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

-- Where 6000 people would have a stop, in the unit square of a town; nobody minds more than 1 unit of walking.
local function town(hook)
  local r, X = pn.rng.seeded(1), {}
  for i = 1, 6000 do X[i] = { 0.5 + 0.2 * (r:uniform() - 0.5), -0.3 + 0.2 * (r:uniform() - 0.5) } end
  local walk = pn.loss.black_box { dim = 2, lipschitz = 1, name = "walk", values = function(thetas, x, _, row)
    local out, a, b = {}, x[1], x[2]
    for i = 1, thetas.rows do
      local t = thetas[i]
      out[i] = hook and hook(t, row) or math.min(math.abs(t[1] - a) + math.abs(t[2] - b), 1) / 2 ^ 0.5
    end
    return out
  end }
  return pn.objective { data = pn.data.from(pn.mat(X), pn.vec.zeros(6000)), loss = walk }
end

local function kinks()
  local f = pn.loss.black_box { dim = 2, lipschitz = 5 ^ 0.5, name = "kinks", values = function(thetas)
    local out = {}
    for i = 1, thetas.rows do out[i] = math.abs(thetas[i][1]) + 2 * math.abs(thetas[i][2]) end
    return out
  end }
  return pn.objective { data = pn.data.from({ { 1, 0 } }, { 0 }), loss = f }
end

-- The largest norm of sum c_j u_j over signs c, for the rows u_j of U.
local function longest(U)
  local most, columns = 0, U:t()
  for signs = 0, 2 ^ (U.rows - 1) - 1 do
    local c = pn.vec.ones(U.rows)
    for j = 1, U.rows do if signs >> (j - 1) & 1 == 1 then c[j] = -1 end end
    most = math.max(most, (columns * c):norm())
  end
  return most
end

local function smoothed()
  local x = pn.vec.linspace(-1, 1, 201)
  local mu = 0.5
  local y = x:map(function(t) return pn.where(pn.gt(pn.abs(t), mu), pn.abs(t), (t * t + mu * mu) / (2 * mu)) end)
  pn.plot.line { { x = x, y = pn.abs(x), label = "f(x) = |x|" }, { x = x, y = y, label = "averaged within 0.5" },
    title = "Smoothing over a ball", xlabel = "x" }
end

local function check_quotient(env)
  local a, b = env.by_values, env.by_clip
  if not a then return false, "by_values is still to come" end
  if not b then return false, "by_clip is still to come" end
  if near(a, 0.1, 1e-9) and near(b, 0.002, 1e-9) then return true end
  if near(a, 0.05, 1e-9) then
    return false, "by_values: the record is replaced, and both of its values can move, in opposite directions"
  end
  if near(a, 0.2, 1e-9) then return false, "by_values: a value is in [0, 1] and moves by 1 at most" end
  if near(a, 0.1, 1e-9) and near(b, 0.001, 1e-9) then
    return false, "by_clip: replaced, a slope can go from the one end to the other"
  end
  if near(a, 0.1, 1e-9) then return false, "by_clip: each record's slope is in [-L, L], whatever mu is" end
  return false, "by_values: a record's quotient is in [-1/(2 mu), 1/(2 mu)]"
end

local function check_mu(env)
  local mu = env.mu
  if near(mu, 0.015, 1e-6) then return true end
  if type(mu) ~= "number" then return false, mu == nil and "mu is still to come" or "mu should be a number" end
  if near(mu, 0.03, 1e-6) then return false, "that is for L = 1" end
  if near(mu, 0.06, 1e-6) then return false, "a steeper loss needs a smaller ball" end
  if mu < 0.015 then return false, "the bias is small enough; a larger mu would be, too" end
  return false, "the bias can be as large as L mu"
end

local function check_estimate(env)
  if type(env.estimate) ~= "function" then return false, "estimate is still to come, as a function" end
  local a, c = pn.vec { 1, -2, 0.5 }, pn.vec { 0.2, 0.1, -0.3 }
  local function f(theta) return a:dot(theta) + 0.7 end
  local seen = 0
  local function counted(theta) seen = seen + 1 return f(theta) end
  local sum = pn.vec.zeros(3)
  for j = 1, 3 do
    local ok, g = pcall(env.estimate, counted, c, 0.2, pn.vec.basis(3, j))
    if not ok then return false, "estimate raises an error: " .. tostring(g) end
    if not kit.is_vec(g, 3) then return false, "estimate should return a vector as long as x" end
    sum:axpy(1 / 3, g)
  end
  if (sum - a):norm() < 1e-8 then return true end
  if (3 * sum - a):norm() < 1e-8 then
    return false, "that is the part of the gradient along u: averaged over directions, d times too short"
  end
  if (sum - 2 * a):norm() < 1e-8 then return false, "the two points are 2 mu apart" end
  if (sum + a):norm() < 1e-8 then return false, "the sign: it points downhill" end
  return false, "for a linear f, its mean over orthogonal directions is not the gradient"
end

local function check_sensitivity(env)
  local o, i = env.orthogonal, env.independent
  if not o then return false, "orthogonal is still to come" end
  if not i then return false, "independent is still to come" end
  if near(o, 0.2, 1e-6) and near(i, 2, 1e-6) then return true end
  if near(o, 0.1, 1e-6) then return false, "orthogonal: replaced, so 2 times" end
  if near(o, 2, 1e-6) then return false, "orthogonal: perpendicular vectors add up as in Pythagoras" end
  if near(o, 0.2, 1e-6) then return false, "independent: nothing keeps all of them from pointing the same way" end
  return false, "sum_j c_j u_j with d = 100 coefficients of size at most 1; then a mean over 100 records"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 2, delta = 1e-6 })
  if flaw then return false, flaw end
  if #env.fit.theta ~= 2 or env.fit.plan.objective.n ~= 6000 then return false, "it was trained on something else than obj" end
  local value = town():value(env.fit.theta)
  if value > 0.15 then return false, ("private, but people mind %.3f on average"):format(value) end
  return true
end

return {
  name = "zeroth_order",
  title = "Values alone",
  minutes = 15,
  about = "Learning where there are no gradients, and what a value can give away.",
  source = "Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3; Shamir (2017); Goldstein (1977)",
  setup = function(env)
    env.obj, env.kinks, env.longest = town(), kinks(), longest
    env.person = function(likes)
      return town(function(theta, row)
        if row == 17 and likes and theta[1] > 0 then return 1e9 end
      end)
    end
    local r = pn.rng.seeded(1)
    local rows = {}
    for j = 1, 10 do rows[j] = r:sphere(10) end
    env.random, env.orthogonal_rows = pn.mat(rows), (pn.vec.normal(100, r):reshape(10, 10):svd())
  end,
  steps = {
    { id = "box", text = [[
A town asks 6000 people where they want a bus stop. `obj` answers one thing:
how much they mind a place theta, on average. Each walks along the streets,
and nobody minds more than a certain distance. There are kinks, flat parts and
no formula: a black box.]],
      code = [[
place = vec{0, 0}
obj:value(place), pcall(obj.gradient, obj, place)]], check = kit.looked "place" },

    { id = "quotient", text = [[
The town hall has 0.565, and there is no gradient. So take its differences
along u:

    (f(x + mu u) - f(x - mu u)) / (2 mu),

and add noise to them, since each record is in them. How much can replacing
one of n = 1000 records move that mean? Say values are in [0, 1] and
mu = 0.01; and then again, if each record's quotient is clipped to [-L, L]
with L = 1.]],
      ask = [[
Set `by_values` to how far one record can move the quotient by what is known
of the values, `by_clip` to how far after the clip.]],
      answer = [[
by_values, by_clip = 2 / (2 * 0.01) / 1000, 2 * 1 / 1000]],
      wrong = {
        [[by_values, by_clip = 1 / (2 * 0.01) / 1000, 2 * 1 / 1000]],
        [[by_values, by_clip = 2 / (2 * 0.01) / 1000, 1 / 1000]],
        [[by_values, by_clip = 2 / (2 * 0.01) / 1000, 2 * 0.01 / 1000]],
      },
      hint = { "A record's quotient is between -1/(2 mu) and 1/(2 mu), or -L and L. Replaced, from end to end.",
        "2/(2 mu n) and 2 L/n." },
      check = check_quotient },

    { id = "attack", text = [[
They are 50 times apart, and the first grows without bound as mu falls. Can we
rely on L? A black box promises what it likes. Somebody has put his own answer
into the survey: person(true) is the town in which number 17 says 1e9 east of
the centre, person(false) the one where he does not.]],
      code = [[
function slope(o)
  return (o:value(vec{0.01, 0}) - o:value(vec{-0.01, 0})) / 0.02
end
slope(person(true)), slope(person(false))]], check = kit.looked "slope" },

    { id = "clip", text = [[
The quotients are eight million and -0.7: noise made for L = 1 does not hide
that. The clip of each record's quotient does: number 17 then counts for
1/6000, like anybody. Where the promise is true the clip never acts; where it
is false the answer is biased, and nothing leaks. The sensitivity is enforced,
2 L/n, for any mu.]] },

    { id = "smoothing", text = [[
Why not mu -> 0, then? At kinks there is nothing to converge to. With a finite
mu there is: the slope of f averaged over a ball.]],
      plot = smoothed },

    { id = "bias", text = [[
f_mu(x) is the mean of f over the ball of radius mu around x. It is smooth
where f has a kink, and |f_mu - f| <= L mu: that is the bias. In d dimensions
its gradient changes by at most sqrt(d) L/mu per unit of distance.]],
      ask = [[
Set `mu` to the largest radius for which the bias is sure to be at most 0.03,
where L = 2.]],
      answer = [[
mu = 0.03 / 2]],
      wrong = { [[mu = 0.03]], [[mu = 0.03 * 2]], [[mu = 0.001]] },
      hint = { "L mu = 0.03.", "0.03 / 2" },
      check = check_mu },

    { id = "estimate", text = [[
And its gradient is had from values. For u uniform on the unit sphere in d
dimensions,

    grad f_mu(x) = E (d/(2 mu)) (f(x + mu u) - f(x - mu u)) u.]],
      ask = [[
Write the function `estimate`(f, x, mu, u): what is inside of that mean.
f(theta) is a number; #x is d.]],
      answer = [[
function estimate(f, x, mu, u)
  return #x / (2 * mu) * (f(x + mu * u) - f(x - mu * u)) * u
end]],
      wrong = {
        [[function estimate(f, x, mu, u) return (f(x + mu * u) - f(x - mu * u)) / (2 * mu) * u end]],
        [[function estimate(f, x, mu, u) return #x / mu * (f(x + mu * u) - f(x - mu * u)) * u end]],
        [[function estimate(f, x, mu, u) return #x / (2 * mu) * (f(x - mu * u) - f(x + mu * u)) * u end]],
      },
      hint = { "Two values, their difference, a number in front, and the vector u.",
        "#x / (2 * mu) * (f(x + mu * u) - f(x - mu * u)) * u" },
      check = check_estimate },

    { id = "directions", text = [[
One direction shows little, so take d of them for each record, and the mean:
the factor d cancels, and what is left is sum_j c_j u_j with |c_j| <= L after
the clip. The directions are public. How long can that sum be, L = 1, d = 10,
for ten random ones and for ten that are orthogonal?]],
      code = [[
longest(random), longest(orthogonal_rows), sqrt(10)]] },

    { id = "sensitivity", text = [[
They are 4.48 and 3.16. Random ones may be worse: up to d, in the worst case,
which is what the article pays for. Orthogonal rows are each uniform on the
sphere, too, so nothing is lost. With their norm sqrt(d) L, noise falls by
sqrt(d).]],
      ask = [[
d = 100, L = 1, a batch of 100 records, d directions for each. Set
`orthogonal` and `independent` to the certain sensitivities of the batch's
mean, when a record is replaced.]],
      answer = [[
orthogonal, independent = 2 * sqrt(100) / 100, 2 * 100 / 100]],
      wrong = {
        [[orthogonal, independent = sqrt(100) / 100, 100 / 100]],
        [[orthogonal, independent = 2 * sqrt(100) / 100, 2 * sqrt(100) / 100]],
        [[orthogonal, independent = 2 * 100 / 100, 2 * 100 / 100]],
      },
      hint = { "A record's norm is at most sqrt(d) L for orthogonal directions, d L for any.",
        "2 sqrt(d) L/B and 2 d L/B." },
      check = check_sensitivity },

    { id = "tree", text = [[
One more idea. From x to a near y each record's quotients change by at most
min(L ||x - y||/mu, 2 L): clip to that. A small change needs little noise. So
release one gradient, then only changes, and add them up: T running sums of
private numbers. That is the tree mechanism's job. Each record is in one leaf
only, once. Fresh gradients need more noise but owe nothing to earlier errors.
Which is better? Both on the town (seeded):]],
      code = [[
for _, oracle in ipairs{"naive", "variance_reduced"} do
  sim = solve.zeroth_order(obj, {epsilon=2, delta=1e-6, oracle=oracle,
    output="last", progress=false, rng=rng.seeded(2)})
  print(oracle, sim.theta, obj:value(sim.theta))
end]], defines = { "sim" } },

    { id = "train", text = [[
The losses are 0.073 and 0.071, down from 0.565; the middle of all wishes,
(0.5, -0.3), has 0.071. One run says little about which of them is ahead. The
plan compares all kinds by their bounds; often, and here, these promise
nothing, and it says so. (obj:value is raw: for the owner of the data.)]],
      ask = [[
Train for real: `fit` on obj at epsilon = 2, delta = 1e-6.]],
      answer = [[
fit = solve.zeroth_order(obj, {epsilon=2, delta=1e-6, progress=false})
print(fit)
print(fit.theta)]],
      wrong = {
        [[fit = sim]],
        [[fit = solve.zeroth_order(obj, {epsilon=4, delta=1e-6, progress=false})]],
        [[fit = solve.zeroth_order(obj, {privacy=false, progress=false})]],
      },
      hint = { "The call above; whose noise is seeded by rng=.", "solve.zeroth_order(obj, {epsilon=2, delta=1e-6})" },
      check = check_fit },

    { id = "goldstein", text = [[
What is promised, if anything? Not a small gradient: |x| has slope 1 or -1
however near to its minimum one is. Goldstein (1977): mix the gradients of all
points within delta. If some mixture is nearly 0, x is nearly stationary.
`kinks` is |x1| + 2 |x2|. `hull` is the least mixture found (raw, for the
owner):]],
      code = [[
for _, p in ipairs{{0.2, 0.3}, {0.05, 0.3}, {0.05, 0.05}} do
  at = stationarity(kinks, vec(p), {radius=0.1, samples=50,
    rng=rng.seeded(1), progress=false})
  print(p[1], p[2], at.hull)
end]], defines = { "at" } },

    { id = "end", text = [[
It is sqrt(5) away from the kinks; 2 near one of them, where the slopes of x1
cancel; 0 where both do. That is the measure of the article's theorem: for
values alone, no smoothness, no convexity.

To remember: a difference of values is as private as its clip. Averaging over
a ball is the price of having no gradient, and orthogonal directions make it
cheap.]] },
  },
}
