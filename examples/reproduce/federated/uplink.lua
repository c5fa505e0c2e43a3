-- uplink.lua -- what parties send, counted by the transport, against n: K = 4 parties, 60 columns.
--   fixed T      200 rounds, columns sketched to m = 128 numbers, a budget so small that every column is chosen at some time: then
--                the plan's prediction, K T codes and m numbers of each feature, is not only the most but the very number
--   T of plan    the default T at epsilon = 4; T grows with n, features do not beyond d
--   paper        its T = (n epsilon)^(2/3) at epsilon = 4, counted; and its form K T (m + 1), which sends a feature in every round
--   raw          active features of 10 rounds as they are, n numbers each, counted (sketch.kind = "identity")
-- and computed beside them: m d of sketching every column first, with m fixed and with the m that an error 20/sqrt(n) takes, which
-- is O(n); and n d of sending all there is.
--   penumbra examples/reproduce/federated/uplink.lua [folder]
-- Source: Lou, Cheung (2018), Section "Communication"; counting as in the corrected Algorithm 2.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local d, K, m, epsilon, delta = 60, 4, 128, 4, 1e-6
local sizes = common.quick and { 500, 1000, 2000 } or { 1000, 2000, 4000, 8000, 16000, 32000 }
local tab = common.table("uplink", { "n", "what", "T", "m", "features", "predicted", "scalars_up", "bytes_up", "scalars_down",
  "bytes_down", "bytes_a_scalar" }, { what = 22, n = 6, T = 5, m = 6, features = 8 })

local function problem(n)
  local data = pn.data.synthetic.lasso { n = n, p = d, sparsity = 5, signal = 1, seed = 7 }
  return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = d, radius = 1 } }
end

-- One run: what was counted.  The plan names the most; what it names is exact for the features that were uploaded.
local function count(obj, what, o)
  local transport = pn.federated.in_process { parties = K }
  o.transport = transport
  local plan = pn.solve.federated_frank_wolfe.plan(obj, o)
  plan:run { rng = pn.rng.seeded(1), progress = false }
  local features, up, down = 0, transport.uplink, transport.downlink
  for _, row in ipairs(transport:report()) do features = features + row.features end
  local scores = o.mode == "ball" and K * plan.iterations or 0
  local rows = o.sketch.kind == "identity" and obj.data.n or o.sketch.m
  local most = plan.lines["uplink codes"] + plan.lines["uplink floats"]
  common.expect_silently(up.scalars == K * plan.iterations + scores + rows * features and up.scalars <= most,
    "%s, n = %d: %d scalars are codes, scores and %d features, at most the plan's %d", what, obj.data.n, up.scalars, features, most)
  tab:row(obj.data.n, what, plan.iterations, rows, features, math.floor(most), up.scalars, up.bytes, down.scalars, down.bytes,
    up.bytes / up.scalars)
  return { up = up.scalars, most = most, T = plan.iterations, features = features, bytes = up.bytes }
end

local function series(label, colour, dashed) return { label = label, colour = colour, dashed = dashed, x = {}, y = {} } end
local fixed, planned, ball, paper, raw = series("fixed T = 200", 0), series("T of the plan", 1), series("T of the plan, ball", 2),
  series("paper's T", 3), series("raw active features, T = 10", 4)
local form, first, growing, all = series("paper's form K T (m + 1)", 3, true), series("sketch all first, m fixed", 0, 3),
  series("sketch all first, error 20/sqrt(n)", 5, true), series("all columns, n d", 7, true)
local function add(to, n, value)
  to.x[#to.x + 1], to.y[#to.y + 1] = n, value
end

local rounds = common.size(200, 200)
for _, n in ipairs(sizes) do
  local obj, sketch = problem(n), { kind = "sparse", m = m }
  local poor = count(obj, "fixed T", { rho = 1e-5, iterations = rounds, sketch = sketch })
  common.expect_silently(poor.up == poor.most, "n = %d, fixed T: the plan's %d are counted", n, poor.most)
  add(fixed, n, poor.up)
  add(planned, n, count(obj, "T of plan", { epsilon = epsilon, delta = delta, sketch = sketch }).up)
  add(ball, n, count(obj, "T of plan, ball", { epsilon = epsilon, delta = delta, sketch = sketch, mode = "ball" }).up)
  local article = count(obj, "paper's T", { epsilon = epsilon, delta = delta, sketch = sketch, mode = "paper" })
  add(paper, n, article.up)
  add(form, n, K * article.T * (m + 1))
  local plain = count(obj, "raw active features",
    { epsilon = epsilon, delta = delta, iterations = 10, sketch = { kind = "identity" } })
  add(raw, n, plain.up)
  local iota = math.min(20 / math.sqrt(n), 0.5)
  local accurate = math.min(n, math.ceil(4 * math.log(4 * d * (d + 1) / 2 / 0.05) / (iota ^ 2 - iota ^ 3)))
  add(first, n, m * d)
  add(growing, n, accurate * d)
  add(all, n, n * d)
  for _, row in ipairs { { "paper's form", m, K * article.T * (m + 1) }, { "sketch first, m fixed", m, m * d },
    { "sketch first, 20/sqrt n", accurate, accurate * d }, { "all columns", n, n * d } } do
    tab:row(n, row[1], "-", row[2], "-", row[3], "-", "-", "-", "-", "-")
  end
end
tab:close()

local function slope(s) return common.slope(s.x, s.y) end
local last = #sizes
common.expect(fixed.y[1] == fixed.y[last], "fixed T: %d scalars at n = %d, %d at n = %d; as many as the plan said", fixed.y[1],
  sizes[1], fixed.y[last], sizes[last])
common.expect(slope(planned) < 2 / 3 and slope(ball) < 2 / 3, "T of the plan: slope %.2f, ball %.2f, below the paper's 2/3",
  slope(planned), slope(ball))
common.expect(math.abs(slope(form) - 2 / 3) < 0.01, "the paper's form has slope %.3f; counted, each feature once, its T has %.2f",
  slope(form), slope(paper))
local tail = common.slope({ table.unpack(raw.x, last - 2) }, { table.unpack(raw.y, last - 2) })
if not common.quick then
  common.expect(math.abs(tail - 1) < 0.1, "raw active features, n numbers each: slope %.3f over the last three sizes", tail)
end
common.expect(slope(growing) > (common.quick and 0 or 0.5),
  "sketching first with error 20/sqrt(n): slope %.2f, and %.0f times ours at n = %d",
  slope(growing), growing.y[last] / planned.y[last], sizes[last])
common.figure { name = "uplink", title = ("Numbers that %d parties send, d = %d, m = %d"):format(K, d, m), legend = 310,
  panels = { { title = "", xlabel = "records n", ylabel = "scalars up", logx = true, logy = true,
  series = { all, form, growing, raw, fixed, first, paper, ball, planned } } } }
