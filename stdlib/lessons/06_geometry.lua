-- 06_geometry.lua -- the lesson on constraint sets: the same data, budget and noise over an l2 ball and an l1 ball, the Gaussian
-- width that tells them apart, its rules, and the proof that noise costs the width.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

local function is_set(C)
  return pcall(function() return C.dim, C:support(pn.vec.zeros(C.dim)) end)
end

local function widths()
  local dims, l2, l1, simplex = { 2, 5, 10, 30, 100, 300, 1000, 3000, 10000 }, {}, {}, {}
  for k, p in ipairs(dims) do
    l2[k] = pn.width(pn.set.l2_ball { dim = p }).value
    l1[k] = pn.width(pn.set.l1_ball { dim = p }).value
    simplex[k] = pn.width(pn.set.simplex { dim = p }).value
  end
  pn.plot.line { { x = dims, y = l2, label = "l2 ball" }, { x = dims, y = l1, label = "l1 ball" },
    { x = dims, y = simplex, label = "simplex" }, title = "Gaussian width", xlabel = "p", ylabel = "width",
    logx = true, logy = true }
end

return {
  name = "geometry",
  title = "Geometry and width",
  minutes = 15,
  about = "Why the same noise is cheap over one set and ruinous over another.",
  source = "Talwar, Thakurta, Zhang (2014), section 2 and Theorem 5.6",
  setup = function(env)
    env.d = kit.one_tells(500, 1000)
    env.source = pn.rng.seeded(3)
    env.average = function(count, f) -- the mean of f() over count calls
      local sum = 0
      for _ = 1, count do sum = sum + f() end
      return sum / count
    end
  end,
  steps = {
    { id = "question", text = [[
Private training adds noise to every coordinate of a gradient. With 1000
features there are 1000 noises, and only 500 people to drown them out. It is
often said that private learning in high dimension is therefore hopeless.

We try it, twice: the same records, the same budget, the same noise. Only the
constraint set differs. Then we find the one number that explains the result.]] },

    { id = "l2-best", text = [[
`d` holds 500 synthetic records of 1000 features, each of l2 norm 1. One
feature is the label, flipped in one record of ten; the rest is irrelevant.
First the l2 ball of radius 2. What can be reached there without privacy?]],
      code = [[
obj2 = pn.objective{data=d, loss=loss.logistic(),
  set=set.l2_ball{dim=1000, radius=2}}
best2 = solve.exact(obj2).value]], defines = { "obj2", "best2" } },

    { id = "l2-private", text = [[
`best2` is 0.365; theta = 0 has ln 2 = 0.693. Now ten noisy Frank-Wolfe steps
at rho = 0.1 (zCDP). Each step asks for the gradient, adds Gaussian noise to
all of its coordinates, and moves toward the point of the set that is best
for what it heard. The noise is seeded here, so this run is a simulation.]],
      code = [[
steps = {rho=0.1, iterations=10, rng=rng.seeded(1)}
fit2 = solve.frank_wolfe_convex(obj2, steps)
fit2.value]], check = kit.looked "fit2" },

    { id = "l1-private", text = [[
0.549: less than half of the way from 0.693 to 0.365. The pessimist is right,
it seems. Change one word: the l1 ball. It lies inside the l2 ball of the
same radius, so its best point can only be worse.]],
      code = [[
obj1 = pn.objective{data=d, loss=loss.logistic(),
  set=set.l1_ball{dim=1000, radius=2}}
best1 = solve.exact(obj1).value
steps = {rho=0.1, iterations=10, rng=rng.seeded(1)}
fit1 = solve.frank_wolfe_convex(obj1, steps)
fit1.value, best1, fit1.plan.sigma == fit2.plan.sigma]], check = kit.looked("obj1", "best1", "fit1") },

    { id = "puzzle", text = [[
The best point is worse by 0.002, the private one is better by 0.137. And
sigma is the same: the same 1000 noises of the same size were added.

So it is not the noise that differs, but what the set does with it. Look at a
noise vector as the set sees it.]],
      code = [[
b = vec.normal(1000, rng.seeded(2))
b:norm(), b:norm(math.huge)]], check = kit.looked "b" },

    { id = "support", text = [[
Its length is 32, about sqrt(1000). Its largest entry is only 3.5. A point of
the unit l2 ball can lie along b and collect the whole length. A point of the
unit l1 ball has to choose: it can do no better than to put all its weight on
one coordinate. The most that a set C can collect from b is its support
function, h(b) = max over v in C of <b, v>.]],
      code = [[
set.l2_ball{dim=1000}:support(b), (set.l1_ball{dim=1000}:support(b))]] },

    { id = "two-dimensions", text = [[
In two dimensions: the l1 ball lies in the l2 ball and touches it at four
corners. In 1000 dimensions it still does, at 2000 corners; but in nearly all
other directions it ends at about 1/25 of the way to the sphere.]],
      plot = function()
        pn.plot.set2d { pn.set.l2_ball { dim = 2 }, pn.set.l1_ball { dim = 2 } }
      end },

    { id = "width", text = [[
The average of that maximum is the Gaussian width of the set,

    G(C) = E max over v in C of <b, v>,    b ~ N(0, I).

It is a number of the set alone: no data, so no privacy is spent on it. Here
average(n, f) is the mean of n calls of f, and `source` a seeded stream.]],
      ask = [[
Estimate the width of the unit l1 ball in 1000 dimensions: set `w` to the
mean of the maximum over at least 300 draws of b.]],
      answer = [[
w = average(300, function()
  return vec.normal(1000, source):norm(math.huge)
end)]],
      wrong = {
        [[w = average(300, function() return vec.normal(1000, source):norm() end)]],
        [[w = average(300, function() return (vec.normal(1000, source):max()) end)]],
        [[w = vec.normal(1000, rng.seeded(4)):norm(math.huge)]],
      },
      hint = { "What is the largest <b, v> when the entries of v may add up to 1 in size, with any signs? You computed it above.",
        "w = average(300, function() return ... end): inside, the norm of order math.huge of vec.normal(1000, source)." },
      check = function(env)
        local w = env.w
        if near(w, 3.435, 0.1) then return true end
        if type(w) ~= "number" then return false, w == nil and "w is still to come" or "w should be a number" end
        if near(w, 31.62, 0.5) then return false, "that is the width of the l2 ball: it collects the whole length of b" end
        if near(w, 3.24, 0.095) then
          return false, "close, but the l1 ball has the corners -e_j too: a large negative entry of b counts as much"
        end
        return false, ("%.4g is not within 0.1 of the width; a single draw can be 0.3 off"):format(w)
      end },

    { id = "exact", text = [[
No draws are needed where the law is known. The length of b has the mean
sqrt(2) Gamma((p+1)/2) / Gamma(p/2), about sqrt(p); the mean of the largest
|b_j| is an integral, at most sqrt(2 ln 2p). `pn.width` takes whichever way a
set has, and says how sure it is: low <= width <= high.]],
      code = [[
l1, l2 = set.l1_ball{dim=1000}, set.l2_ball{dim=1000}
pn.width(l1).value, pn.width(l2).value]], check = kit.looked("l1", "l2") },

    { id = "picture", text = [[
Width against dimension, both axes logarithmic. The l2 ball climbs with slope
1/2, the square root. The l1 ball and the simplex bend over: they grow like
sqrt(2 ln p), and from p = 1000 to p = 10,000 they gain less than a fifth.]],
      plot = widths },

    { id = "theorem", text = [[
Why does the risk follow it? A step hears g + b, b of size sigma, and takes
v, the best point for that; v* is best for g. So <g + b, v> <= <g + b, v*>,
and what is lost, <g, v - v*>, is at most <b, v*> - <b, v>. On average <b,
v*> is 0, as v* does not depend on b, and -<b, v> <= h(-b). So a step loses
at most sigma G(C) on average (Theorem 5.6). Nowhere does p enter by itself.
Measured over the l1 ball, with g = 0.1 e_1 and sigma = 0.05:]],
      code = [[
g = 0.1 * vec.basis(1000, 1)
lost = average(200, function()
  local _, v = l1:support(-(g + 0.05 * vec.normal(1000, source)))
  return g:dot(v) + 0.1
end)
lost, 0.05 * pn.width(l1).value]], check = kit.looked("g", "lost") },

    { id = "cost", text = [[
About 0.1 was lost; the theorem allows at most 0.172. Over the l2 ball the
same noise may cost 0.05 x 31.6, which is 1.58.

The plans of our two runs hold the same sigma, and the sets have radius 2.
The width scales: G(r C) = r G(C).]],
      ask = [[
What does the theorem charge a step over obj1's set for its noise? Set
`cost1` to it, and `cost2` to the same for obj2's set.]],
      answer = [[
cost1 = fit1.plan.sigma * pn.width(obj1.set).value
cost2 = fit2.plan.sigma * pn.width(obj2.set).value]],
      wrong = {
        [[cost1 = fit1.plan.sigma * pn.width(set.l1_ball{dim=1000}).value
cost2 = fit2.plan.sigma * pn.width(set.l2_ball{dim=1000}).value]],
        [[cost1 = fit1.plan.sigma * 1000
cost2 = fit2.plan.sigma * 1000]],
        [[cost1 = pn.width(obj1.set).value
cost2 = pn.width(obj2.set).value]],
      },
      hint = { "sigma times width. fit1.plan.sigma is the one, pn.width(obj1.set).value the other.",
        "Take the width of the set that the run used (obj1.set has radius 2), and multiply it by the plan's sigma." },
      check = function(env)
        local c1, c2 = env.cost1, env.cost2
        if not c1 then return false, "cost1 is still to come" end
        local s, g1, g2 = 0.0249127, 6.8700, 63.2298
        if near(c1, s * g1, 1e-2 * s * g1) and near(c2, s * g2, 1e-2 * s * g2) then return true end
        if near(c1, s * g1 / 2, 1e-3) then return false, "half of it: the radius is 2, and the width grows with it" end
        if near(c1, g1, 0.1) then return false, "that is a width. The noise has a size, too" end
        if near(c1, s * g1, 1e-2 * s * g1) then return false, c2 and "cost1 is right, cost2 is not" or "cost2 is still to come" end
        return false, "neither the dimension nor its root is what the theorem charges: it is sigma times the width of the run's set"
      end },

    { id = "sum", text = [[
The theorem charges 0.171 and 1.575; the measured excess was 0.045 and 0.184.
Rules worth knowing: G(C + v) = G(C), a shift costs nothing; a set inside
another has the smaller width; and for Minkowski sums widths add,
G(C + D) = G(C) + G(D).

Sets add in Lua as on paper: `C + 0.1 * D` is "sparse plus small".]],
      ask = [[
Build `C`: the unit l1 ball of 1000 dimensions plus an l2 ball whose radius
you choose such that the width of the sum is 6. (`l1` and `l2` are the unit
balls.)]],
      answer = [[
C = l1 + (6 - pn.width(l1).value) / pn.width(l2).value * l2]],
      wrong = {
        [[C = set.l1_ball{dim=1000} + 6 * set.l2_ball{dim=1000}]],
        [[C = 6 / pn.width(set.l1_ball{dim=1000}).value * set.l1_ball{dim=1000}]],
        [[C = set.l1_ball{dim=1000} + 0.1 * set.l2_ball{dim=1000}]],
      },
      hint = { "Two rules: the width of r * D is r times that of D, and the widths of the summands add.",
        "Solve pn.width(l1).value + r * pn.width(l2).value == 6 for r, then C = l1 + r * l2." },
      check = function(env)
        local C = env.C
        if not C then return false, "C is still to come" end
        if not is_set(C) then return false, "C should be a set: set.l1_ball{...} + r * set.l2_ball{...}" end
        if C.dim ~= 1000 then return false, ("C has dimension %d, not 1000"):format(C.dim) end
        local corner = C:support(pn.vec.basis(1000, 1))
        local diagonal = C:support(pn.vec.ones(1000))
        local r = corner - 1 -- of the l2 part, if the l1 part has radius 1
        if not near(diagonal, 1 + r * 1000 ^ 0.5, 1e-6) or r <= 0 then
          return false, "C should be the unit l1 ball plus a multiple of the l2 ball"
        end
        local G = pn.width(C).value
        if near(G, 6, 0.05) then return true end
        return false, ("the width of your sum is %.3f"):format(G)
      end },

    { id = "train", text = [[
So much for simulation. A run that protects the 500 takes its noise from the
operating system's generator: leave `rng=` out, and the fit says what holds.]],
      ask = [[
Train for real: set `fit` to a run at rho = 0.1 or less, over that one of the
two sets on which the noise costs less.]],
      answer = [[
fit = solve.frank_wolfe_convex(obj1, {rho=0.1, iterations=10})
print(fit)]],
      wrong = {
        [[fit = fit1]],
        [[fit = solve.frank_wolfe_convex(obj1, {rho=0.2, iterations=10})]],
        [[fit = solve.frank_wolfe_convex(obj2, {rho=0.1, iterations=10})]],
        [[fit = solve.frank_wolfe_convex(obj1, {privacy=false, iterations=10})]],
      },
      hint = { "The call is the one of before without its rng: an absent rng is a secure one.",
        "solve.frank_wolfe_convex(obj1, {rho=0.1, iterations=10})" },
      check = function(env)
        local fit = env.fit
        local flaw = kit.flaw(fit, { rho = 0.1 })
        if flaw then return false, flaw end
        local C = fit.plan.objective.set
        if C.dim ~= 1000 or pn.width(C).value > 7 then
          return false, "it is private, over the set on which the noise costs nine times as much"
        end
        return true
      end },

    { id = "no-gift", text = [[
Is the l1 ball always the better one? It was, because a good theta lies in
it: one feature tells the label. To be sure to hold every theta that the l2
ball of radius 1 holds, the l1 ball must be blown up until it contains that
ball: ||v||_1 <= sqrt(p) ||v||_2, and all-equal entries attain this.]],
      ask = [[
Set `big` to the smallest l1 ball in 1000 dimensions that contains the unit
l2 ball. Then look at its width.]],
      answer = [[
big = set.l1_ball{dim=1000, radius=1000^0.5}
print(pn.width(big).value)]],
      wrong = {
        [[big = set.l1_ball{dim=1000, radius=1000}]],
        [[big = set.l1_ball{dim=1000, radius=1}]],
        [[big = set.l1_ball{dim=1000, radius=30}]],
      },
      hint = { "The farthest point of the unit l2 ball, in l1 norm, has 1000 entries of size 1/sqrt(1000).",
        "Its l1 norm is 1000/sqrt(1000) = sqrt(1000): that is the radius." },
      check = function(env)
        local C = env.big
        if not is_set(C) or C.dim ~= 1000 then return false, "big should be a set of dimension 1000" end
        local e = pn.vec.basis(1000, 1)
        if not near(C:support(pn.vec.ones(1000)), C:support(e), 1e-6) or not near(C:support(-e), C:support(e), 1e-6) then
          return false, "big should be an l1 ball around 0"
        end
        local r = C:support(e)
        if near(r, 1000 ^ 0.5, 1e-6) then return true end
        if r < 1000 ^ 0.5 then return false, "the point with all entries 1/sqrt(1000) has l2 norm 1 and is outside" end
        return false, "it contains the l2 ball, but a smaller one does, too"
      end },

    { id = "end", text = [[
Its width is 109, against the l2 ball's 32: holding everything costs more than
the l2 ball itself. The gain is not in the corners as such. It is in knowing,
before the data are seen, that a good answer is near them.

That is the lesson: noise costs sigma times the width of the set you search,
and the set is a public choice. `pn.advise` compares a dozen of them.]] },
  },
}
