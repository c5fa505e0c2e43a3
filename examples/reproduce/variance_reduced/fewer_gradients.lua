-- fewer_gradients.lua -- where SVRG reaches the risk of gradient descent with fewer gradients, by what factor, and where the
-- valid calibration takes that away.  Logistic losses on rows of norm 1 plus (mu/2) ||theta||^2, mu = L/kappa; the rows'
-- covariance falls from the first axis to the last by the factor kappa.  For each n, kappa and epsilon:
--   svrg runs with its default plan; gradient descent with T from a geometric grid, both its last iterate and its average,
--   whichever is the better, until one reaches the risk of svrg.  factor = gradients of that run / gradients of svrg.  Where no
--   T reaches it (the noise grows with T), `reached` is no and the factor is that of the T with the least risk.  `least`: of
--   the largest T of the grid that did not reach it.
-- control: what the plan of svrg leaves without noise.  Where that is more than a fifth of its risk, risks are those of the way,
-- not of privacy, and nothing is promised.
-- Beside it, in passes over the data: what the paper counts, T (1 + 2 m/n), for batches of one record; and what a valid
-- guarantee costs, T + 2 epsilon sqrt(T m / ln(1/delta)), for the batches that bring the noise down to the paper's order.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local p, delta = 20, 1e-6
local runs, scan = common.size(5, 20), common.size(3, 5)

-- Records of norm 1 whose covariance falls by the factor kappa; labels by the logistic law of a vector with like parts on all
-- axes.
local function records(n, kappa)
  local rng = pn.rng.seeded(5)
  local X, y, truth, scale = pn.mat.zeros(n, p), pn.vec.zeros(n), pn.vec.normal(p, rng), {}
  for j = 1, p do scale[j] = kappa ^ (-0.5 * (j - 1) / (p - 1)) end
  for i = 1, n do
    local row = pn.vec.normal(p, rng)
    for j = 1, p do row[j] = row[j] * scale[j] end
    X[i]:axpy(1 / row:norm(), row)
    y[i] = rng:uniform() < 1 / (1 + math.exp(-3 * X[i]:dot(truth))) and 1 or -1
  end
  return pn.data.from(X, y):clip_rows("l2", 1)
end

local function problem(n, kappa)
  local f = pn.objective { data = records(n, kappa), loss = pn.loss.logistic(), reg = pn.reg.l2(0.25 / kappa) }
  return f, pn.solve.exact(f, { tol = 1e-12 }).value
end

-- One run of gradient descent where it is far from `risk`, as many as it takes where it is near.
local function descent(f, best, budget, T, output, risk)
  local plan = comparison.plan({ solver = "gradient_descent",
    options = function() return { iterations = T, output = output, momentum = 0 } end }, f, budget)
  local at = comparison.measure(plan, 1, best)
  if at.excess < 2.5 * risk then at = comparison.measure(plan, scan, best) end
  at.output = output
  return at
end

-- The cheapest T of gradient descent that is as good as `risk`, or nil, and the best that was tried (one that is not better by
-- a tenth is no better).  A T of twice the best so far, and of 400, is past the valley: noise grows with T.
local function descend(f, best, budget, risk, first)
  local least, below = nil, nil
  local T = math.max(5, math.floor(first))
  while not least or T <= math.max(2 * least.passes, common.size(0, 400)) do
    for _, output in ipairs { "last", "average" } do
      local at = descent(f, best, budget, T, output, risk)
      if not least or at.excess < 0.9 * least.excess then least = at end
      if at.excess <= risk then
        at.below = below
        return at, least
      end
    end
    below, T = T, math.ceil(T * 1.4)
  end
  return nil, least
end

local function compare(out, n, kappa, epsilon)
  local f, best = problem(n, kappa)
  local budget = { epsilon = epsilon, delta = delta }
  local svrg = comparison.measure(comparison.plan({ solver = "svrg" }, f, budget), runs, best)
  local sgd = comparison.measure(comparison.plan({ solver = "sgd" }, f, budget), scan, best)
  local T, m = svrg.plan.settings.epochs or svrg.plan.iterations, svrg.plan.settings.inner
  local reached, least = descend(f, best, budget, svrg.excess, svrg.passes / 4)
  local gd = reached or least
  local row = { n = n, kappa = kappa, epsilon = epsilon, passes = svrg.passes, gd_passes = gd.passes, reached = reached ~= nil,
    control = common.still(svrg.plan, best) / svrg.excess, risk = gd.excess / svrg.excess, factor = gd.passes / svrg.passes,
    least = (reached and reached.below or gd.passes) / svrg.passes,
    paper = T * (1 + 2 * m / n), honest = T + 2 * epsilon * math.sqrt(T * m / math.log(1 / delta)) }
  out:row(n, kappa, epsilon, svrg.excess, svrg.low, svrg.high, row.control * svrg.excess, row.passes, gd.output, gd.excess,
    gd.passes,
    row.reached and "yes" or "no", row.factor, row.least, row.paper, row.honest, sgd.excess, sgd.passes)
  return row
end

print "SVRG beside gradient descent: the fewest passes with which the latter reaches the risk of the former"
local out = common.table("fewer_gradients", { "n", "kappa", "epsilon", "svrg", "quartile1", "quartile3", "control",
  "passes", "gd_output", "gd", "gd_passes", "reached", "factor", "least", "paper", "honest", "sgd", "sgd_passes" })
local rows = {}
for _, place in ipairs(common.size({ { 20000, { 30 }, { 1, 10 } } },
  { { 100000, { 100 }, { 1 } }, { 50000, { 10, 30, 100, 300 }, { 0.1, 1 } },
    { 20000, { 10, 30, 100, 300 }, { 1, 10 } } })) do
  local n, kappas, epsilons = table.unpack(place)
  for _, epsilon in ipairs(epsilons) do
    for _, kappa in ipairs(kappas) do rows[#rows + 1] = compare(out, n, kappa, epsilon) end
  end
end
out:close()

-- ---- figure and checks ----

local function pick(n, epsilon)
  local list = {}
  for _, row in ipairs(rows) do
    if row.n == n and row.epsilon == epsilon then list[#list + 1] = row end
  end
  return list
end

-- Factors against kappa, a line for every n and epsilon.
local function factors()
  local series = {}
  for k, place in ipairs(common.size({ { 20000, 1 }, { 20000, 10 } },
    { { 50000, 0.1 }, { 50000, 1 }, { 20000, 1 }, { 20000, 10 } })) do
    local of = pick(place[1], place[2])
    series[k] = { label = ("n %d, eps %g"):format(place[1], place[2]), x = comparison.column(of, "kappa"),
      y = comparison.column(of, "factor"), colour = k - 1 }
  end
  return { title = "gradients of descent / of SVRG", xlabel = "condition number kappa", ylabel = "factor", logx = true, logy = true,
    series = series, key = "outside below Left reverse samplen 1 maxrows 2" }
end

-- Passes against kappa at one n and epsilon, beside the two complexities.
local function passes(n, epsilon)
  local of = pick(n, epsilon)
  local kappa = comparison.column(of, "kappa")
  local function line(label, key, colour, dashed)
    return { label = label, x = kappa, y = comparison.column(of, key), colour = colour, dashed = dashed }
  end
  return { title = ("n = %d, epsilon = %g"):format(n, epsilon), xlabel = "condition number kappa", ylabel = "gradients / n",
    logx = true, logy = true, key = "outside below Left reverse samplen 2 maxrows 2",
    series = { line("gradient descent", "gd_passes", 1), line("SVRG", "passes", 0), line("valid, batches", "honest", 2, true),
      line("paper's count", "paper", 4, 3) } }
end

local where = common.size({ { 20000, 1 }, { 20000, 10 } }, { { 50000, 1 }, { 20000, 10 } })
common.figure { name = "fewer_gradients", title = "Gradients with which SVRG and gradient descent reach the same risk",
  panels = { factors(), passes(where[1][1], where[1][2]), passes(where[2][1], where[2][2]) } }

local most, fewest
for _, row in ipairs(rows) do
  if row.control <= 1 / 5 then
    if not most or row.least > most.least then most = row end
    if not fewest or row.factor < fewest.factor then fewest = row end
  end
end
common.expect_silently(most, "one place at least has a control of a fifth of the risk")
common.expect(most.least >= common.size(5, 10),
  "n = %d, kappa = %g, epsilon = %g: gradient descent needs more than %.0f times the gradients of SVRG", most.n, most.kappa,
  most.epsilon, most.least)
common.expect(fewest.epsilon == 10 and fewest.factor < common.size(4, 2) and fewest.risk < common.size(2.5, 1.6),
  "n = %d, kappa = %g, epsilon = %g: with %.1f times the gradients it has %.2f times the risk; the paper counts %.0f times",
  fewest.n, fewest.kappa, fewest.epsilon, fewest.factor, fewest.risk, fewest.gd_passes / fewest.paper)
for _, row in ipairs(rows) do
  if row.epsilon == 10 then
    common.control(1, row.control, "n = %d, kappa = %g, epsilon = %g", row.n, row.kappa, row.epsilon)
    common.expect(row.passes > 5 * row.paper and row.passes < 1.1 * row.honest,
      "n = %d, kappa = %g, epsilon = %g: %.0f passes; %.1f by the paper's count, %.0f by the valid one", row.n, row.kappa,
      row.epsilon, row.passes, row.paper, row.honest)
  end
end
