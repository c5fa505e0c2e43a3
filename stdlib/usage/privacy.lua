-- privacy.lua -- examples for events, accountants, calibration, mechanisms, samplers, ledgers, trees and audits.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {
  ["event.gaussian"] = [[
    e = pn.event.gaussian{sigma = 4, sensitivity = 1}
    print(e, e:epsilon(1e-6))
    print(pn.accountant.pld{}:add(e, 10):epsilon(1e-6))]],
  ["event.compose"] = [[
    e = pn.event.compose{pn.event.gaussian{sigma = 4, sensitivity = 1}, pn.event.laplace{scale = 10, sensitivity = 1}}
    print(e, e:epsilon(1e-6))]],
  ["event.repeated"] = [[
    e = pn.event.repeated(pn.event.gaussian{sigma = 4, sensitivity = 1}, 100)
    print(e, e:epsilon(1e-6))]],
  ["event.poisson_sampled"] = [[
    one = pn.event.gaussian{sigma = 1, sensitivity = 1, neighbours = "add_remove"}
    e = pn.event.poisson_sampled{q = 0.01, event = one}
    print(pn.accountant.rdp{}:add(e, 1000):epsilon(1e-5))]],
  ["event.fixed_sampled"] = [[
    e = pn.event.fixed_sampled{batch = 100, n = 10000, event = pn.event.gaussian{sigma = 2, sensitivity = 1}}
    print(e, pn.accountant.rdp{}:add(e, 100):epsilon(1e-6))]],
  ["event.curve"] = [[
    -- measured at four orders, and as a function of the order
    print(pn.event.curve{orders = {2, 4, 8, 32}, divergences = {0.02, 0.04, 0.09, 0.4}}:epsilon(1e-6))
    e = pn.event.curve{divergence = function(order) return 0.01 * order end}
    print(e, pn.accountant.rdp{}:add(e, 20):epsilon(1e-6))]],
  ["event.either"] = [[
    -- one of two mechanisms, drawn by a coin that knows nothing of the records
    noise = pn.event.gaussian{sigma = 6, sensitivity = 1}
    e = pn.event.either{first = noise, second = pn.event.exponential{epsilon = 0.3}}
    print(e, e:epsilon(1e-5), noise:epsilon(1e-5))]],
  ["event.selection"] = [[
    -- the best of about ten runs, of a number that nobody learns: by Renyi orders, and by its whole profile
    e = pn.event.selection{event = pn.event.gaussian{sigma = 6, sensitivity = 1}, law = "geometric", mean = 10}
    print(e, e:epsilon(1e-5), pn.accountant.pld{}:add(e):epsilon(1e-5))]],
  ["event.loss_distribution"] = [[
    -- the laws of three outcomes under two neighbours
    e = pn.event.loss_distribution{p = {0.5, 0.3, 0.2}, q = {0.4, 0.3, 0.3}}
    print(e, e:epsilon(0), pn.accountant.pld{}:add(e, 20):epsilon(1e-6))
    -- losses and their probabilities, one in 10^9 of them infinite
    e = pn.event.loss_distribution{losses = {0.1, -0.1}, probabilities = {0.525, 0.475 - 1e-9}, delta = 1e-9}
    print(pn.accountant.pld{}:add(e, 20):epsilon(1e-6))]],
  ["accountant.rdp"] = [[
    acc = pn.accountant.rdp{}:add(pn.event.gaussian{sigma = 5, sensitivity = 1}, 20)
    print(acc, acc:epsilon(1e-6))]],
  ["accountant.zcdp"] = [[
    acc = pn.accountant.zcdp{}:add(pn.event.zcdp{rho = 0.01}, 20)
    print(acc, acc:epsilon(1e-6))]],
  ["accountant.pld"] = [[
    acc = pn.accountant.pld{}:add(pn.event.gaussian{sigma = 5, sensitivity = 1}, 20)
    print(acc:epsilon_interval(1e-6))    -- what is true lies between; the second may be charged]],
  ["accountant.advanced"] = [[
    acc = pn.accountant.advanced{}:add(pn.event.pure{epsilon = 0.1}, 20)
    print(acc, acc:epsilon(1e-6))]],
  ["accountant.selftest"] = [[
    report = pn.accountant.selftest()
    print(report)]],
  ["calibrate.gaussian"] = [[
    sigma = pn.calibrate.gaussian{epsilon = 1, delta = 1e-6, sensitivity = 0.5}
    print(sigma, pn.event.gaussian{sigma = sigma, sensitivity = 0.5})]],
  ["calibrate.laplace"] = [[
    print(pn.calibrate.laplace{epsilon = 0.5, sensitivity = 1})]],
  ["calibrate.noise"] = [[
    sigma, cost = pn.calibrate.noise{epsilon = 1, delta = 1e-6, event = function(sigma)
      return pn.event.repeated(pn.event.gaussian{sigma = sigma, sensitivity = 1}, 50)
    end}
    print(sigma, cost)]],
  ["calibrate.rate"] = [[
    q, cost = pn.calibrate.rate{epsilon = 1, delta = 1e-6, event = function(q)
      local one = pn.event.gaussian{sigma = 2, sensitivity = 1, neighbours = "add_remove"}
      return pn.event.repeated(pn.event.poisson_sampled{q = q, event = one}, 1000)
    end}
    print(q, cost)]],
  ["calibrate.steps"] = [[
    print(pn.calibrate.steps{epsilon = 1, delta = 1e-6, event = pn.event.gaussian{sigma = 40, sensitivity = 1}})]],
  ["calibrate.epsilon"] = [[
    x, cost = pn.calibrate.epsilon{epsilon = 1, delta = 1e-6, event = function(x)
      return pn.event.repeated(pn.event.pure{epsilon = x}, 30)
    end}
    print(x, cost)]],
  ["calibrate.exponential"] = [[
    epsilon, order = pn.calibrate.exponential{epsilon = 1, delta = 1e-6, count = 50}
    print(epsilon, order)]],
  ["calibrate.report_noisy_max"] = [[
    epsilon, order = pn.calibrate.report_noisy_max{epsilon = 1, delta = 1e-6, count = 50}
    print(epsilon, order)]],
  ["calibrate.rho"] = [[
    print(pn.calibrate.rho{epsilon = 1, delta = 1e-6})]],
  ["mechanism.gaussian"] = [[
    L = pn.ledger{epsilon = 1, delta = 1e-6}
    m = pn.mechanism.gaussian{sigma = 10, sensitivity = 1, dim = 3}
    print(m:release({120, 80, 43}, {ledger = L}))
    print(L)]],
  ["mechanism.analytic_gaussian"] = [[
    m = pn.mechanism.analytic_gaussian{epsilon = 1, delta = 1e-6, sensitivity = 1}
    print(m)
    print(m:release(120, {ledger = pn.ledger{epsilon = 2, delta = 1e-6}}))]],
  ["mechanism.laplace"] = [[
    L = pn.ledger{epsilon = 1}
    print(pn.mechanism.laplace{epsilon = 0.1, sensitivity = 1}:release(120, {ledger = L}))
    print(L)]],
  ["mechanism.sparse_vector"] = [[
    L = pn.ledger{epsilon = 1}
    m = pn.mechanism.sparse_vector{epsilon = 0.5, sensitivity = 1, threshold = 100, answers = 1}
    run = m:open{ledger = L}
    for _, value in ipairs{12, 30, 200} do
      print(value, run:above(value))
      if run.left == 0 then break end    -- its one answer is given: it has halted
    end]],
  ["sampler.full"] = [[
    s = pn.sampler.full{n = 1000}
    print(s, s:event{sigma = 50, contribution = 1})]],
  ["sampler.poisson"] = [[
    s = pn.sampler.poisson{n = 1000, q = 0.02}
    print(s, #s:draw(pn.rng.seeded(1)))
    print(s:event{sigma = 5, contribution = 1})]],
  ["sampler.declared"] = [[
    q = {}
    for i = 1, 1000 do q[i] = i <= 100 and 0.1 or 0.01 end    -- two public strata
    s = pn.sampler.declared{q = q}
    print(s, #s:draw(pn.rng.seeded(1)))
    print(s:event{sigma = 5, contribution = 1}:epsilon(1e-6))    -- what is charged: the price of the first stratum
    print(pn.sampler.poisson{n = 1000, q = 0.01}:event{sigma = 5, contribution = 1}:epsilon(1e-6))    -- of the second]],
  ["sampler.fixed"] = [[
    s = pn.sampler.fixed{n = 1000, batch = 20}
    print(s, #s:draw(pn.rng.seeded(1)))
    print(s:event{sigma = 5, contribution = 1})]],
  ["sampler.shuffled"] = [[
    s = pn.sampler.shuffled{n = 1000, batch = 100}
    print(s, s:events(20))
    print(s:event{sigma = 5, contribution = 1})]],
  ["sampler.with_replacement"] = [[
    print(pcall(pn.sampler.with_replacement, {n = 1000, batch = 20}))    -- says why there is none]],
  ["ledger"] = [[
    L = pn.ledger{epsilon = 1, delta = 1e-6}
    L:spend(pn.event.gaussian{sigma = 20, sensitivity = 1}, "a mean")
    print(L, L.remaining)]],
  ["budget"] = [[
    d = pn.data.from({{1, 0}, {0, 1}, {1, 1}, {0, 0}}, {1, -1, 1, -1})
    B = pn.budget{data = d, epsilon = 1}
    print(pn.query.mean{data = d, columns = {1}, low = {0}, high = {1}, epsilon = 0.2}.value)    -- no ledger= is needed
    print(pcall(pn.query.mean, {data = d:take(3), columns = {2}, low = {0}, high = {1}, epsilon = 2}))
    print(B)]],
  ["session"] = [[
    d = pn.data.from({{1, 0}, {0, 1}, {1, 1}}, {1, -1, 1})
    pn.query.mean{data = d, columns = {1}, low = {0}, high = {1}, epsilon = 0.2, ledger = pn.ledger{epsilon = 1}}
    print(pn.session())    -- %ledger at the prompt]],
  ["tree"] = [[
    t = pn.tree{dim = 1, horizon = 8, sensitivity = 1, rho = 0.5}
    for day, count in ipairs{3, 5, 2, 8} do
      print(day, t:push{count})
    end
    C = pn.mat{{1, 0, 0}, {0.5, 1, 0}, {0, 0.5, 1}}    -- a factorization of one's own: noise C^-1 z
    print(pn.tree{dim = 1, sensitivity = 1, rho = 0.5, matrix = C, participations = 2, separation = 2})]],
  ["tree.resume"] = [[
    t = pn.tree{dim = 1, horizon = 8, sensitivity = 1, rho = 0.5}
    t:push{3}
    t:save("sums")
    t = pn.tree.resume("sums")
    print(t.count, t:push{5})]],
  ["audit"] = [[
    claim = pn.event.laplace{scale = 1, sensitivity = 1}
    result = pn.audit(function(data, rng) return data.value + math.log(rng:uniform() / rng:uniform()) end,
      {neighbours = {{value = 0}, {value = 1}}, trials = 2000, event = claim, rng = pn.rng.seeded(1)})
    print(result)]],
}

-- Events that stand for one release each.
for name, args in pairs {
  approximate = "epsilon = 0.5, delta = 1e-7", exponential = "epsilon = 0.1", laplace = "scale = 10, sensitivity = 1",
  pure = "epsilon = 0.1", rdp = "alpha = 8, epsilon = 0.1", report_noisy_max = "scale = 20, sensitivity = 1",
  sparse_vector = "epsilon = 0.5, answers = 3", zcdp = "rho = 0.01",
  objective_perturbation = "sigma = 20, sensitivity = 1, jacobian = 0.01, dim = 10",
  fixed_sampled_and_whole = "batch = 100, n = 10000, sigma = 50, sampled_sensitivity = 4, whole_sensitivity = 1",
} do
  usage["event." .. name] = ([[
    e = pn.event.%s{%s}
    print(e)
    print(e:epsilon(1e-6))]]):format(name, args)
end
for name, args in pairs {
  exponential = "epsilon = 0.5, sensitivity = 1", permute_and_flip = "epsilon = 0.5, sensitivity = 1",
  report_noisy_max = "scale = 4, sensitivity = 1",
} do
  usage["mechanism." .. name] = ([[
    L = pn.ledger{epsilon = 1}
    m = pn.mechanism.%s{%s}
    print(m:release({12, 30, 7, 28}, {ledger = L}))    -- which score is the largest, about
    print(L)]]):format(name, args)
end

-- Queries on columns of records, charged to a ledger.
for name, args in pairs {
  count = "columns = {1}, low = {0}, high = {1}, epsilon = 0.5",
    sum = "columns = {1, 2}, low = {-1, -1}, high = {1, 1}, epsilon = 0.5",
  mean = "columns = {1, 2}, low = {-1, -1}, high = {1, 1}, epsilon = 0.5",
  histogram = "column = 1, edges = {-1, 0, 1}, epsilon = 0.5",
  quantile = "column = 1, candidates = {-1, -0.5, 0, 0.5, 1}, q = 0.5, epsilon = 0.5",
} do
  usage["query." .. name] = ([[
    d = pn.data.synthetic.logistic{n = 2000, p = 3, seed = 1}:clip_rows("l2", 1)
    L = pn.ledger{epsilon = 1}
    result = pn.query.%s{data = d, %s, ledger = L}
    print(result.value, L.remaining)]]):format(name, args)
end

local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "\n    " .. call
  end
end

method("pn.event", "    e = pn.event.gaussian{sigma = 4, sensitivity = 1}", {
  epsilon = "print(e:epsilon(1e-6))    -- and the Renyi order that gave it",
  rdp = "print(e:rdp(8), 8 / (2 * 4^2))",
})
method("pn.accountant", "    acc = pn.accountant.pld{}:add(pn.event.gaussian{sigma = 4, sensitivity = 1}, 10)", {
  add = "print(acc:add(pn.event.laplace{scale = 10, sensitivity = 1}, 5))",
  delta = "print(acc:delta(3))",
  epsilon = "print(acc:epsilon(1e-6))",
  epsilon_interval = "print(acc:epsilon_interval(1e-6))",
  rdp = "print(acc:rdp(8))",
})
method("pn.ledger", "    L, e = pn.ledger{epsilon = 1, delta = 1e-6}, pn.event.gaussian{sigma = 20, sensitivity = 1}", {
  close = "L:close()\n    print(pcall(L.spend, L, e))",
  covers = "print(L:covers(e, 3))\n    print(L:covers(e, 1000))",
  odometer = "L:spend(e)\n    print(L:odometer{delta = 1e-6}.statement)",
  price = "print(L:price(e), L:price(e, 2))    -- what it would cost now",
  report = 'L:spend(e, "a mean")\n    print(L:report())',
  receipt = 'L:spend(e, "a mean")\n    print(L:receipt())',
  reserve = "L:reserve(e, 10)\n    print(L.remaining)    -- nothing is charged",
  retire = "L:retire()\n    print(L)",
  spend = 'L:spend(e, "a mean", 3)\n    print(L)',
  split = "a, b = L:split(2)\n    a:spend(e)\n    print(a, b)",
})
method("pn.mechanism", "    L = pn.ledger{epsilon = 1, delta = 1e-6}", {
  open = "m = pn.mechanism.sparse_vector{epsilon = 0.5, sensitivity = 1, threshold = 10}\n"
    .. "    run = m:open{ledger = L}\n    print(run:above(2))",
  release = "m = pn.mechanism.gaussian{sigma = 10, sensitivity = 1}\n"
    .. "    value, release = m:release(120, {ledger = L})\n    print(value, release)",
})
usage["pn.sparse_run:above"] = usage["pn.mechanism:open"]
method("pn.sampler", "    s = pn.sampler.fixed{n = 1000, batch = 20}", {
  draw = "batch = s:draw(pn.rng.seeded(1))\n    print(#batch, batch[1])",
  event = "print(s:event{sigma = 5, contribution = 1})",
  events = "print(s:events(10))",
})
method("pn.tree", "    t = pn.tree{dim = 1, horizon = 4, sensitivity = 1, rho = 0.5, keep_root = true}\n"
  .. "    for _, count in ipairs{3, 5, 2} do t:push{count} end", {
  close = "t:close()",
  complete = "print(t:complete())",
  push = "print(t:push{4})    -- the noisy sum so far",
  receipt = "print(t:receipt())",
  save = 't:save("stream")\n    print(pn.tree.resume("stream").count)',
  value = "print(t:value())",
  variance = "print(t:variance(3))    -- of the third prefix",
  variances = "print(t:variances(4))",
})
usage["pn.tree:all"] = [[
    t = pn.tree{dim = 1, horizon = 4, sensitivity = 1, rho = 0.5, estimator = "full"}
    for _, count in ipairs{3, 5, 2, 8} do t:push{count} end
    print(t:all())]]
local RECEIPT = [[
    L = pn.ledger{epsilon = 1, delta = 1e-6}
    L:spend(pn.event.gaussian{sigma = 20, sensitivity = 1}, "a mean")
    receipt = L:receipt()
]]
usage["receipt"] = RECEIPT .. '    receipt:save("means.receipt")\n    print(pn.receipt("means.receipt"))'
usage["pn.receipt:save"] = usage["receipt"]
usage["pn.receipt:table"] = RECEIPT .. "    print(receipt:table().ledger.entries[1].label)"
usage["query.count"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}
    local L = pn.ledger{epsilon=1}
    print(pn.query.count{data=d, columns={1}, low={0}, high={1}, epsilon=0.5, ledger=L})]]
usage["query.sum"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}
    local L = pn.ledger{epsilon=1}
    print(pn.query.sum{data=d, columns={1}, low={-1}, high={1}, epsilon=0.5, ledger=L})]]
usage["query.mean"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}
    local L = pn.ledger{epsilon=1}
    print(pn.query.mean{data=d, columns={1}, low={-1}, high={1}, epsilon=0.5, ledger=L})
    -- or with the columns by place, and by name where there are names
    print(pn.query.mean(d, "label", {low=-1, high=1, epsilon=0.1, ledger=L}).value)]]
usage["query.describe"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}:clip_rows("linf", 1)
    local L = pn.ledger{epsilon=1}
    print(pn.query.describe(d, {1, 2}, {epsilon=0.5, ledger=L}))]]
usage["query.histogram"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}
    local L = pn.ledger{epsilon=1}
    print(pn.query.histogram{data=d, column=1, edges={-1, 1}, bins=4, epsilon=0.5, ledger=L}.value)]]
usage["query.quantile"] = [[
    local d = pn.data.synthetic.logistic{n=2000, p=3, seed=1}
    local L = pn.ledger{epsilon=1}
    local grid = pn.vec.linspace(-1, 1, 201)
    print(pn.query.quantile{data=d, column=1, candidates=grid, q=0.5, epsilon=0.5, ledger=L}.value)]]
usage["query.levels"] = [[
    local job = {}
    for i = 1, 3000 do job[i] = ({"cook", "clerk", "only " .. i})[i % 3 + 1] end
    local L = pn.ledger{epsilon=1, delta=1e-6}
    local found = pn.query.levels{data={job=job}, columns="job", epsilon=0.5, delta=1e-8, ledger=L}
    print(found.levels.job, found.counts.job, found.threshold)]]

return usage
