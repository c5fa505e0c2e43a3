-- frank_wolfe_smooth.lua -- the lambda-smooth row of the paper's table: Frank-Wolfe with Gaussian noise on the gradient and
-- the exact vertex of the noisy gradient, losses that are 1-Lipschitz in l2, sets of l2 radius 1.  Its bound is
--   2.38 Gamma^(1/3) (sqrt 2 L G_C/(n sqrt rho))^(2/3),   Gamma = 4 lambda,   G_C the Gaussian width of the set.
--   1. Against n: the bound's slope is -2/3.
--   2. Against p: the width of the l2 ball grows like p^(1/2) and its bound like p^(1/3), that of the l1 ball like (ln p)^(1/2) and
--      its bound like (ln p)^(1/3).
--   3. Against lambda: the bound grows like lambda^(1/3).
-- The measured risk lies below the bound everywhere, by a factor of 7 and more, and has exponents of its own: the bound
-- charges sigma G_C to every step, but the l2 ball is round.  Once the noise is smaller than the gradient, the vertex of g +
-- b loses only about sigma^2 p/(2 |g|); with sigma^2 in proportion to T/n^2 and T to (n lambda/p^(1/2))^(2/3) as planned this
-- is in proportion to n^(-4/3), p^(2/3) and lambda^(2/3).  In between the exponents lie in between: n from -2/3 to -4/3, p
-- from 1/3 to 2/3.  On the l1 ball a noise smaller than the differences of the gradient's entries chooses the right vertices
-- all the time, whatever p is.
--   penumbra examples/reproduce/geometry/frank_wolfe_smooth.lua [folder]
-- Source: Talwar, Thakurta, Zhang (2014), Algorithm 5 and Theorem 5.6, corrected.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local rho = 0.5

-- Records of l2 norm 1: four features +-0.4 that each agree with the label four times of five, and p - 4 of pure noise.  So
-- the best theta is about (1, 1, 1, 1, 0, ..)/2 in the l2 ball and half of that in the l1 ball, no vertex, and what the start
-- costs does not depend on p.
local function records(n, p, seed)
  local rng, rows, labels = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    local x = pn.vec.normal(p, rng)
    for j = 1, 4 do x[j] = 0 end
    x = (0.6 / x:norm()) * x
    labels[i] = rng:uniform() < 0.5 and -1 or 1
    for j = 1, 4 do x[j] = (rng:uniform() < 0.2 and -0.4 or 0.4) * labels[i] end
    rows[i] = x
  end
  return pn.data.from(rows, labels):clip_rows("l2", 1)
end

local function objective(data, set, lambda)
  return pn.objective { data = data, loss = pn.loss.smooth_hinge { width = 1 / lambda }, set = set { dim = data.p } }
end

local function plan(f)
  return pn.solve.frank_wolfe_convex.plan(f, { rho = rho, preset = "theory" })
end

-- Mean excess, its standard error and the plan's bound, once the control is small.
local function measure(made, runs)
  local mean, spread, bound = common.excess(made, runs)
  common.control(mean, common.still(made), "%s, n = %d, p = %d", made.objective.set.name, made.objective.n, made.objective.p)
  return mean, spread, bound
end

-- ---- 1. against n ----

local function against_n()
  print "Frank-Wolfe over the l2 ball, p = 20, lambda = 1, rho = 0.5: mean excess risk against n"
  local rows = common.table("frank_wolfe_smooth", { "n", "T", "excess", "std_error", "bound" })
  local s = { n = {}, mean = {}, spread = {}, bound = {} }
  for exponent = 10, common.size(12, 15) do
    local f, i = objective(records(1 << exponent, 20, exponent), pn.set.l2_ball, 1), #s.n + 1
    local made = plan(f)
    s.n[i] = f.n
    s.mean[i], s.spread[i], s.bound[i] = measure(made, common.size(5, 20))
    rows:row(f.n, made.iterations, s.mean[i], s.spread[i], s.bound[i])
    common.expect(s.mean[i] + 4 * s.spread[i] < s.bound[i], "below the bound")
  end
  rows:close()
  local slope, of_bound = common.slope(s.n, s.mean), common.slope(s.n, s.bound)
  common.expect(math.abs(of_bound + 2 / 3) < 0.02, "the bound's slope %.3f is -2/3", of_bound)
  common.expect(slope >= -1.3 and slope <= -0.6, "log-log slope %.3f in [-1.3, -0.6]", slope)
  return { title = "p = 20", xlabel = "records n", ylabel = "excess risk", logx = true, logy = true,
    key = "outside top center maxrows 2", series = {
    { label = "bound", x = s.n, y = s.bound, dashed = true, colour = 0 },
    { label = "measured", x = s.n, y = s.mean, error = s.spread, colour = 0 },
  } }
end

-- ---- 2. against p ----

local function against_p()
  local n = common.size(2048, 4096)
  print(("l2 ball against l1 ball, n = %d: mean excess risk against p"):format(n))
  local rows = common.table("frank_wolfe_smooth_dimension",
    { "p", "l2_width", "l2_excess", "l2_bound", "l1_width", "l1_excess", "l1_bound" })
  local p, log_p, at = {}, {}, {}
  for name, set in pairs { l2 = pn.set.l2_ball, l1 = pn.set.l1_ball } do
    at[name] = { set = set, width = {}, mean = {}, spread = {}, bound = {} }
  end
  for i, columns in ipairs(common.size({ 16, 64 }, { 8, 16, 32, 64, 128, 256 })) do
    local data = records(n, columns, 7)
    p[i], log_p[i] = columns, math.log(2 * columns)
    for _, ball in pairs(at) do
      local f = objective(data, ball.set, 1)
      ball.width[i] = f.set:width().value
      ball.mean[i], ball.spread[i], ball.bound[i] = measure(plan(f), common.size(5, 10))
      common.expect(ball.mean[i] + 4 * ball.spread[i] < ball.bound[i], "below the bound")
    end
    local l2, l1 = at.l2, at.l1
    rows:row(columns, l2.width[i], l2.mean[i], l2.bound[i], l1.width[i], l1.mean[i], l1.bound[i])
  end
  rows:close()
  local l2, l1 = at.l2, at.l1
  common.expect(math.abs(common.slope(p, l2.width) - 0.5) < 0.02 and math.abs(common.slope(p, l2.bound) - 1 / 3) < 0.02,
    "l2 ball: width like p^%.3f, bound like p^%.3f", common.slope(p, l2.width), common.slope(p, l2.bound))
  for i = 1, #p do
    local share = l1.width[i] / math.sqrt(2 * log_p[i])
    common.expect(share > 0.7 and share <= 1, "l1 ball, p = %d: the width is %.3f of (2 ln 2p)^(1/2)", p[i], share)
  end
  for _, ball in pairs(at) do
    local slope = common.slope(ball.width, ball.bound)
    common.expect(math.abs(slope - 2 / 3) < 0.02, "the bound grows like G^%.3f, promised 2/3", slope)
  end
  local grows, worst = common.slope(p, l2.mean), math.max(table.unpack(l1.mean))
  common.expect(grows > 0.3 and grows < 2 / 3 + 0.05, "measured on the l2 ball: like p^%.2f, from p^(1/3) to p^(2/3)", grows)
  local least = math.min(table.unpack(l2.mean))
  common.expect(worst < least / 5, "the l1 ball costs at most %.1g, a fifth of the least on the l2 ball", worst)
  return { title = ("n = %d"):format(n), xlabel = "features p", ylabel = "excess risk", logx = true, logy = true,
    key = "outside top center maxrows 2", series = {
    { label = "l2 ball: bound", x = p, y = l2.bound, dashed = true, colour = 0 },
    { label = "l2 ball: measured", x = p, y = l2.mean, error = l2.spread, colour = 0 },
    { label = "l1 ball: bound", x = p, y = l1.bound, dashed = true, colour = 1 },
    { label = "l1 ball: measured", x = p, y = l1.mean, error = l1.spread, colour = 1 },
  } }
end

-- ---- 3. against lambda ----

local function against_lambda()
  local n = common.size(2048, 4096)
  print(("l2 ball, p = 20, n = %d: mean excess risk against the smoothness lambda"):format(n))
  local rows = common.table("frank_wolfe_smooth_lambda", { "lambda", "T", "excess", "std_error", "bound" })
  local data, s = records(n, 20, 7), { lambda = {}, mean = {}, spread = {}, bound = {} }
  for i, lambda in ipairs(common.size({ 0.5, 4 }, { 0.5, 1, 2, 4, 8, 16 })) do
    local made = plan(objective(data, pn.set.l2_ball, lambda))
    s.lambda[i] = lambda
    s.mean[i], s.spread[i], s.bound[i] = measure(made, common.size(5, 20))
    rows:row(lambda, made.iterations, s.mean[i], s.spread[i], s.bound[i])
    common.expect(s.mean[i] + 4 * s.spread[i] < s.bound[i], "below the bound")
  end
  rows:close()
  local slope = common.slope(s.lambda, s.bound)
  common.expect(math.abs(slope - 1 / 3) < 0.02, "the bound grows like lambda^%.3f", slope)
  local last = #s.lambda
  local rise = math.log(s.mean[last] / s.mean[last - 1]) / math.log(s.lambda[last] / s.lambda[last - 1])
  common.expect(rise < 2 / 3 + 0.05, "measured: at the end like lambda^%.2f, at most 2/3", rise)
  return { title = ("p = 20, n = %d"):format(n), xlabel = "smoothness lambda", ylabel = "excess risk", logx = true, logy = true,
    key = "outside top center maxrows 2", series = {
      { label = "bound", x = s.lambda, y = s.bound, dashed = true, colour = 0 },
      { label = "measured", x = s.lambda, y = s.mean, error = s.spread, colour = 0 },
    } }
end

common.figure { name = "frank_wolfe_smooth", title = "Private Frank-Wolfe for smooth losses, rho = 0.5",
  panels = { against_n(), against_p(), against_lambda() } }
