-- objective.lua -- examples for losses, regularisers, objectives, samplings of blocks and what measures a point.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {
  ["loss.names"] = [[
    print(table.concat(pn.loss.names(), " "))]],
  ["reg.names"] = [[
    print(table.concat(pn.reg.names(), " "))]],
  ["loss.glm"] = [[
    l = pn.loss.glm(function(z, y) return pn.log1p(pn.exp(-y * z)) end, {labels = {-1, 1}})
    print(l)
    print(l:range({-5, 5}).slope[2])    -- certified by intervals]],
  ["loss.margins"] = [[
    net = pn.loss.margins{k = 3, extra = 4, labels = {-1, 1}, name = "two layers", f = function(z, w, y)
      local s = w[4]
      for j = 1, 3 do s = s + w[j] * pn.tanh(z[j]) end
      return pn.softplus(-y * s)
    end}
    d = pn.data.synthetic.logistic{n = 2000, p = 5, seed = 1}:clip_rows("l2", 1)
    obj = pn.objective{data = d, loss = net, clip = 1}    -- theta: 3 rows of 5, then w
    start = pn.rng.seeded(2):sphere(19)    -- at 0 nothing moves but w[4]
    print(pn.solve.gradient_descent.plan(obj, {epsilon = 2, delta = 1e-7, iterations = 50, step = 1, start = start}))]],
  ["logsumexp"] = [[
    print(pn.logsumexp{1000, 1000, 999})
    print(pn.loss.margins{k = 2, f = function(z, w, y) return pn.logsumexp(z) - z[1] end})]],
  ["loss.black_box"] = [[
    d = pn.data.synthetic.lasso{n = 200, p = 3, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
    l = pn.loss.black_box{lipschitz = 2, value = function(theta, x, y) return math.abs(x:dot(theta) - y) end}
    print(pn.objective{data = d, loss = l, set = pn.set.l2_ball{dim = 3}}:value{0, 0, 0})]],
  ["loss.program"] = [[
    absolute = "read hello; echo ready; " .. -- |theta|, of any record
      "while read theta rest; do echo ${theta#-}; done"
    l = pn.loss.program{command = {"sh", "-c", absolute}, lipschitz = 1}
    d = pn.data.from({{1}, {2}, {3}}, {1, 2, 3}):clip_rows("l2", 1)
    print(pn.objective{data = d, loss = l}:value{-0.5})]],
  ["loss.softmax"] = [[
    d = pn.data.from({{1, 0}, {0, 1}, {1, 1}}, {1, 2, 3}):clip_rows("l2", 1)
    print(pn.objective{data = d, loss = pn.loss.softmax{classes = 3}})]],
  ["reg.separable"] = [[
    r = pn.reg.separable(function(w) return 0.1 * pn.log1p(w^2) end)
    print(r, r:value{1, 2}, r:gradient{1, 2})]],
  ["objective"] = [[
    d = pn.data.synthetic.logistic{n = 1000, p = 5, seed = 1}:clip_rows("l2", 1)
    obj = pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 5}, reg = pn.reg.l2(0.01)}
    print(obj)
    print(obj.bounds.smoothness, obj.bounds.strong_convexity)]],
  ["sampling.full"] = [[
    s = pn.sampling.full{blocks = 5}
    print(s, s:inclusion(1))]],
  ["sampling.serial"] = [[
    s = pn.sampling.serial{blocks = 5}
    print(s, s:draw(pn.rng.seeded(1))[1], s:inclusion(1))]],
  ["sampling.nice"] = [[
    s = pn.sampling.nice{blocks = 5, tau = 2}
    print(s, table.concat(s:draw(pn.rng.seeded(1)), " "), s:pair(1, 2))]],
  ["sampling.distributed"] = [[
    s = pn.sampling.distributed{blocks = 6, groups = 2, tau = 1}
    print(s, table.concat(s:draw(pn.rng.seeded(1)), " "))]],
  ["sampling.custom"] = [[
    s = pn.sampling.custom{blocks = 2, p = {0.5, 0.5}, draw = function(rng) return {rng:uniform() < 0.5 and 1 or 2} end}
    print(s, s:inclusion(1))]],
  ["curvature"] = [[
    d = pn.data.synthetic.lasso{n = 200, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.linf_ball{dim = 4}}
    print(pn.curvature(obj, pn.sampling.nice{blocks = 4, tau = 2}).value)]],
  ["second_order_gap"] = [[
    d = pn.data.synthetic.logistic{n = 500, p = 4, seed = 1}:clip_rows("l2", 1)
    gap = pn.second_order_gap(pn.objective{data = d, loss = pn.loss.sigmoid()}, pn.vec.zeros(4))
    print(gap.gradient_norm, gap.eigenvalue)    -- of the exact data: not private]],
  ["stationarity"] = [[
    d = pn.data.synthetic.logistic{n = 500, p = 4, seed = 1}:clip_rows("l2", 1)
    obj = pn.objective{data = d, loss = pn.loss.hinge()}
    print(pn.stationarity(obj, pn.vec.zeros(4), {radius = 0.1, rng = pn.rng.seeded(1)}))]],
  ["advise"] = [[
    d = pn.data.synthetic.logistic{n = 5000, p = 50, seed = 1}:clip_rows("l2", 1)
    budget = {epsilon = 1, delta = 1e-8, solvers = {"mirror_descent", "frank_wolfe"}}
    print(pn.advise(d, pn.loss.logistic(), budget))    -- stars a solver over each set, and no set
    budget.sets = {pn.set.l2_ball{dim = 50, radius = 4}}
    print(pn.advise(d, pn.loss.logistic(), budget).best.plan)]],
}

for name, args in pairs {
  absolute = "()", cauchy = "{scale = 1}", hinge = "()", huber = "{delta = 1}", logistic = "()", poisson = "()",
  quantile = "{tau = 0.9}", sigmoid = "()", smooth_hinge = "{width = 0.5}", squared = "()",
} do
  usage["loss." .. name] = ([[
    l = pn.loss.%s%s
    value, slope, curvature = l:evaluate({-1, 0.5, 2}, {1, 1, 1})    -- at the margins z = <x, theta>
    print(l, value, slope)]]):format(name, args)
end
for name, call in pairs {
  none = "()", l1 = "(0.1)", l2 = "(0.1)", nonconvex = "(0.1)", elastic_net = "{l1 = 0.1, l2 = 0.1}",
  quadratic = "{A = pn.mat{{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, 4}}, lambda = 0.1}",
  group = "{lambda = 0.1, size = 2}", nuclear = "{lambda = 0.1, rows = 2, cols = 2}",
} do
  usage["reg." .. name] = ([[
    r = pn.reg.%s%s
    print(r, r:value{1, -2, 0, 3})
    print(r:bounds().smoothness, r:bounds().convex)]]):format(name, call)
end

local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "\n    " .. call
  end
end

method("pn.loss", "    l = pn.loss.logistic()", {
  evaluate = "value, slope, curvature = l:evaluate({-1, 0, 1}, {1, 1, 1})\n    print(value, slope, curvature)",
  range = "print(l:range({-3, 3}).slope[1], l:range({-3, 3}).slope[2])",
})
method("pn.reg", "    r = pn.reg.l2(0.5)", {
  bounds = "print(r:bounds({-1, 1}).gradient, r:bounds().strong_convexity)",
  gradient = "print(r:gradient{1, -2})",
  hvp = "print(r:hvp({1, -2}, {1, 0}))",
  prox = "print(r:prox()(pn.vec{1, -2}, 1))",
  value = "print(r:value{1, -2})",
})
method("pn.objective", "    d = pn.data.synthetic.logistic{n = 500, p = 3, seed = 1}:clip_rows(\"l2\", 1)\n"
  .. "    obj = pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 3}}", {
  accuracy = "print(obj:accuracy{1, 0, 0})    -- not private, as all that follows here",
  differences = "print(obj:differences({0, 0, 0}, {{1, 0, 0}, {0, 1, 0}}, 1e-3))",
  factors = "print(obj:factors{0, 0, 0})",
  gradient = "print(obj:gradient{0, 0, 0})",
  hvp = "print(obj:hvp({0, 0, 0}, {1, 0, 0}))",
  hessian = "w = obj:hessian({0, 0, 0}):eigen()\n    print(w)",
  losses = "print(obj:losses{0, 0, 0})",
  value = "print(obj:value{0, 0, 0}, math.log(2))",
})
usage["pn.objective:exact_curvature"] = [[
    d = pn.data.synthetic.lasso{n = 200, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 4}}
    print(obj:exact_curvature(), obj.bounds.curvature)]]
method("pn.block_sampling", "    s = pn.sampling.nice{blocks = 5, tau = 2}", {
  draw = 'print(table.concat(s:draw(pn.rng.seeded(1)), " "))',
  inclusion = "print(s:inclusion(1))",
  pair = "print(s:pair(1, 2))",
})

return usage
