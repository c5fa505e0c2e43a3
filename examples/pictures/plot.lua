-- plot.lua -- the plot of the README: what privacy costs over the number of records, against the bound that the plan predicts.
--   penumbra plot.lua        writes plot.svg
-- The noise is seeded, so that the picture is the same every time: a simulation, without any guarantee.
local pn = require "penumbra"

local sizes = { 1000, 2000, 4000, 8000, 16000, 32000 }
local repeats = 20
local curves, bound = {}, {}
for _, epsilon in ipairs { 0.5, 2 } do
  local median, low, high = {}, {}, {}
  for i, n in ipairs(sizes) do
    local d = pn.data.synthetic.lasso { n = n, p = 100, sparsity = 5, noise = 0.2, seed = 1 }:clip_rows("linf",
      1):clip_labels(-1, 1)
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = d.p, radius = 1 } }
    local best, risks = pn.solve.exact(obj).value, {}
    local plan = pn.solve.frank_wolfe.plan(obj, { epsilon = epsilon, delta = 1e-6 })
    for k = 1, repeats do
      risks[k] = obj:value(plan:run { rng = pn.rng.seeded(k), progress = false }.theta) - best
    end
    table.sort(risks)
    median[i], low[i], high[i] = risks[repeats // 2], risks[repeats // 10], risks[repeats - repeats // 10]
    if epsilon == 2 then bound[i] = plan.bound end
  end
  curves[#curves + 1] = { x = sizes, y = median, low = low, high = high, label = ("epsilon = %g"):format(epsilon) }
end
curves[#curves + 1] = { x = sizes, y = bound, label = "bound of the plan, epsilon = 2" }
curves.title = "Private LASSO by Frank-Wolfe: excess risk, median and 80 % of 20 runs"
curves.xlabel, curves.ylabel, curves.logx, curves.logy, curves.file = "records", "excess risk", true, true, "plot.svg"
pn.plot.line(curves)
