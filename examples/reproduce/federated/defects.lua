-- defects.lua -- what is wrong in the article's algorithm, made visible, beside what takes its place.
--   1. A party that minimises over the columns that it sampled, and over those only, does not converge: f = -x_1 over two columns,
--      one of them looked at in a round.  May it also stay where it is, it does.
--   2. Vertices of K parties, each of norm r, sum to points outside of the l1 ball: mode "paper" ends there.
--   3. The sketch does not reduce the injected error: <J a, xi> has the deviation |J a| sigma, about |a| sigma, whatever m is.
--   4. sigma(J) is no sensitivity: a record moves one column of J, and max |J e_j| is a fraction of it.
--   5. Proposition 4 forgets tau^2: C_ES of one row of ones is 64 and 144 where the printed formula has 40 and 80.
--   penumbra examples/reproduce/federated/defects.lua [folder]
-- Source: Lou, Cheung (2018), Algorithms 1 and 2, Proposition 4.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local tab = common.table("defects", { "what", "case", "article", "corrected" }, { what = 34, case = 20 })

-- ---- 1. sampled columns ----

-- (1/2n) sum (x_1 - 1)^2 over the ball of radius 1 has its minimum where f = -x_1 has: at x_1 = 1, with the gradient there that
-- vanishes only at the end.  A second column has nothing to say.
local rows, labels = {}, {}
for i = 1, 20 do
  rows[i], labels[i] = { 1, 0 }, 1
end
local flat = pn.objective { data = pn.data.from(rows, labels):clip_rows("linf", 1):clip_labels(-1, 1), loss = pn.loss.squared(),
  set = pn.set.l1_ball { dim = 2, radius = 1 } }
local rounds = common.size(2000, 20000)

local function first(stay, T)
  local fit = pn.solve.federated_frank_wolfe(flat, { transport = pn.federated.in_process { parties = 1 }, privacy = false,
    iterations = T, sampled = 1, stay = stay, sketch = { kind = "identity" }, rng = pn.rng.seeded(1), progress = false })
  return fit.theta[1], fit.theta[2]
end

local marks, with, without = common.quick and { 10, 100, 2000 } or { 10, 30, 100, 300, 1000, 3000, 20000 }, {}, {}
for k, T in ipairs(marks) do
  with[k], without[k] = 1 - first(true, T), 1 - first(false, T)
end
local free, other = first(false, rounds)
local held = first(true, rounds)
tab:row("sampled columns only: x_1", ("%d rounds"):format(rounds), free, held)
common.expect(math.abs(free - 0.5) < (common.quick and 0.03 or 0.01) and math.abs(math.abs(other) - 0.5) < 0.03,
  "one of two columns in a round: x = (%.3f, %.3f) without stay, where the minimum is at x_1 = 1", free, other)
common.expect(held > (common.quick and 0.999 or 0.999999), "x_1 = %.8f where the party may stay", held)

-- ---- 2. mode "paper" leaves the ball ----

local n, d = common.size(500, 2000), 24
local data = pn.data.synthetic.lasso { n = n, p = d, sparsity = 8, signal = 1, seed = 1 }
local obj = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = d, radius = 1 } }
local parties, paper_norm, product_norm = { 1, 2, 4, 8 }, {}, {}
for k, K in ipairs(parties) do
  local function norm(mode)
    return pn.solve.federated_frank_wolfe(obj, { transport = pn.federated.in_process { parties = K }, mode = mode, epsilon = 4,
      delta = 1e-6, iterations = 50, sketch = { kind = "sparse", m = 64 }, rng = pn.rng.seeded(3), progress = false }).theta:norm(1)
  end
  paper_norm[k], product_norm[k] = norm "paper", norm "product"
  tab:row("||x||_1, radius 1", ("K = %d"):format(K), paper_norm[k], product_norm[k])
  common.expect_silently(product_norm[k] <= 1 + 1e-12, "K = %d: product stays in the ball, %.3g", K, product_norm[k])
  common.expect_silently(paper_norm[k] <= K + 1e-9, "K = %d: paper within K r, %.3g", K, paper_norm[k])
end
common.expect(paper_norm[4] > 2, "8 parties: mode \"paper\" ends at ||x||_1 = %.2f for a radius of 1 (up to 8); product at %.2f",
  paper_norm[4], product_norm[4])

-- ---- 3. the sketch and the injected error ----

-- What a feature's noise does to <a, A x> where x = e_i: the deviation of <J a, xi> for a dense a of n entries +-1, with sigma = 1.
local rng, records = pn.rng.seeded(5), 1000
local function normal()
  return math.sqrt(-2 * math.log(1 - rng:uniform())) * math.cos(2 * math.pi * rng:uniform())
end
-- J has N(0, 1/m) entries, of which J a is the sum of `records` with signs: N(0, records/m).
local function injected(m)
  local images, draws, squares = common.size(10, 100), common.size(20, 100), 0
  for _ = 1, images do
    local image = {}
    for row = 1, m do image[row] = normal() * math.sqrt(records / m) end
    for _ = 1, draws do
      local error = 0
      for row = 1, m do error = error + image[row] * normal() end
      squares = squares + error * error / (images * draws)
    end
  end
  return math.sqrt(squares / records)
end
local sketched, widths = {}, common.quick and { 16, 64 } or { 16, 64, 256 }
for k, m in ipairs(widths) do
  sketched[k] = injected(m)
  tab:row("deviation of <J a, xi>/(|a| sigma)", ("m = %d of %d"):format(m, records), "less", sketched[k])
  common.expect_silently(math.abs(sketched[k] - 1) < 0.3, "m = %d: injected error %.3f |a| sigma", m, sketched[k])
end
common.expect(true, "the injected error is |a| sigma with every m: %.3f at m = %d, %.3f at m = %d; 1 without sketch", sketched[1],
  widths[1], sketched[#widths], widths[#widths])

-- ---- 4. sigma(J) ----

local wide = pn.data.synthetic.lasso { n = 2000, p = 10, seed = 1 }
local wide_obj = pn.objective { data = wide, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 10, radius = 1 } }
local transport = pn.federated.in_process { parties = 2 }
local options = { transport = transport, epsilon = 2, delta = 1e-6, iterations = 5, sketch = { kind = "gaussian", m = 64 } }
local tight = pn.solve.federated_frank_wolfe.plan(wide_obj, options)
options.mode = "paper"
local paper = pn.solve.federated_frank_wolfe.plan(wide_obj, options)
local ratio = paper.lines["sigma(J)"] / tight.lines["sensitivity s_J"]
tab:row("sensitivity of a feature", "n = 2000, m = 64", paper.lines["sigma(J)"], tight.lines["sensitivity s_J"])
common.expect(ratio > 2.4 and ratio < 2.8,
  "n = 2000, m = 64: sigma(J) = %.2f where s_J = 2 max |J e_j| = %.2f does: %.2f times less noise",
  paper.lines["sigma(J)"], tight.lines["sensitivity s_J"], ratio)

-- ---- 5. Proposition 4 ----

local row = {}
for j = 1, 6 do row[j] = 1 end
local ones = pn.objective { data = pn.data.from({ row }, { 0 }), loss = pn.loss.squared(),
  set = pn.set.linf_ball { dim = 6, radius = 1 } }
for _, tau in ipairs { 2, 3 } do
  local found = pn.curvature(ones, pn.sampling.distributed { blocks = 6, groups = 2, tau = tau })
  local printed = 2 * tau * 4 + 2 * tau * (tau - 1) * 4 + 2 * 4
  tab:row("C_ES, one row of ones", ("2 x %d of 3"):format(tau), printed, found.value)
  common.expect(found.exact and printed < found.value and found.value == ({ nil, 64, 144 })[tau],
    "2 x %d: C_ES = %g, the printed formula has %g", tau, found.value, printed)
end
tab:close()

common.figure { name = "defects", title = "Two defects of the article's algorithm", panels = {
  { title = "one of two columns in a round", xlabel = "rounds", ylabel = "1 - x_1", logx = true, logy = true, key = "bottom left",
    series = { { label = "sampled columns only", x = marks, y = without, colour = 1 },
      { label = "with stay", x = marks, y = with, colour = 0 } } },
  { title = "||x||_1 for a ball of radius 1", xlabel = "parties K", ylabel = "||x||_1", logx = true, key = "top left",
    series = { { label = "mode paper", x = parties, y = paper_norm, colour = 1 },
      { label = "mode product", x = parties, y = product_norm, colour = 0 } } },
} }
