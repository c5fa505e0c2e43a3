-- solve.lua -- examples for solvers, plans, walks and fits.
-- Depends on: nothing.  Used by: penumbra.usage.
local LOGISTIC = [[
    d = pn.data.synthetic.logistic{n = 5000, p = 10, seed = 1}:clip_rows("l2", 1)
    obj = pn.objective{data = d, loss = pn.loss.logistic(), SET}
]]
local usage = {
  ["solve.exact"] = LOGISTIC:gsub("SET", "set = pn.set.l2_ball{dim = d.p}") .. [[
    print(pn.solve.exact(obj).value)    -- without privacy: what a private fit can be compared with]],
}

-- name -> rest of the objective, options beside epsilon and delta, loss.  The plan and the run share the example.
local BALL, L1 = "set = pn.set.l2_ball{dim = d.p}", "set = pn.set.l1_ball{dim = d.p}"
local solvers = {
  accelerated_mirror_descent = { BALL, "iterations = 20" },
  adam = { BALL, "iterations = 50" },
  adaptive_clipping = { BALL, "iterations = 50" },
  auto = { BALL, "" },
  coordinate_descent = { BALL, "blocks = 2" },
  frank_wolfe = { L1, "iterations = 20" },
  frank_wolfe_convex = { BALL, "iterations = 20" },
  ftrl = { BALL, "factorization = \"binary\"" },
  gradient_descent = { BALL, "iterations = 20, batch = 1000" },
  heavy_ball = { BALL, "momentum = 0.8, iterations = 50" },
  matrix_factorization_sgd = { BALL, "epochs = 8" },
  mirror_descent = { L1, "iterations = 20" },
  nesterov = { BALL, "" },
  newton = { "reg = pn.reg.l2(0.01)", "iterations = 3" },
  noisy_sgd = { BALL, "rate = function(step) return 4 / step ^ 0.5 end" },
  objective_perturbation = { BALL, "" },
  output_perturbation = { "set = pn.set.l2_ball{dim = d.p}, reg = pn.reg.l2(0.1)", "" },
  second_order = { "reg = pn.reg.nonconvex(0.01)", "tolerance = {gradient = 0.3, hessian = 0.5}", loss = "sigmoid" },
  sgd = { BALL, "iterations = 200, batch = 100" },
  sufficient_statistics = { BALL, "label_bound = 1", loss = "squared" },
  svrg = { "reg = pn.reg.l2(0.01)", "epochs = 2, inner = 50, batch = 100" },
  svrg_pp = { BALL, "epochs = 2, inner = 50, batch = 100" },
  trust_region = { "reg = pn.reg.nonconvex(0.01)", "iterations = 3", loss = "sigmoid" },
  zeroth_order = { "reg = pn.reg.nonconvex(0.01)", "iterations = 20", loss = "hinge" },
  zeroth_order_naive = { "reg = pn.reg.nonconvex(0.01)", "iterations = 20", loss = "hinge" },
}
for name, of in pairs(solvers) do
  local objective = LOGISTIC:gsub("SET", of[1]):gsub("logistic%(%)", (of.loss or "logistic") .. "()")
  local options = "epsilon = 1, delta = 1e-8" .. (of[2] ~= "" and ", " .. of[2] or "")
  usage["solve." .. name] = ("%s    fit = pn.solve.%s(obj, {%s})\n    print(fit)\n    print(fit.theta)"):format(objective, name,
    options)
  usage["solve." .. name .. ".plan"] =
    ("%s    plan = pn.solve.%s.plan(obj, {%s})    -- spends nothing\n    print(plan)"):format(objective, name, options)
end

local BLOCKS = [[
    d = pn.data.synthetic.lasso{n = 500, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
    obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.linf_ball{dim = 4}}
    options = {privacy = false, iterations = 50, sampling = pn.sampling.nice{blocks = 4, tau = 2}}
]]
usage["solve.block_frank_wolfe"] = BLOCKS .. "    print(pn.solve.block_frank_wolfe(obj, options))"
usage["solve.block_frank_wolfe.plan"] = BLOCKS .. "    print(pn.solve.block_frank_wolfe.plan(obj, options))"

local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "    " .. call
  end
end

local PLAN = LOGISTIC:gsub("SET", L1)
  .. "    plan = pn.solve.frank_wolfe.plan(obj, {epsilon = 1, delta = 1e-8, iterations = 20})\n"
method("pn.plan", PLAN, {
  run = "fit = plan:run{ledger = pn.ledger{epsilon = 1, delta = 1e-8}, progress = false}\n    print(fit)",
  steps = "for state in plan:steps() do\n      if state.step <= 3 then print(state.step, state.atom, state.step_size) end\n    end",
  tune = "best, tried = plan:tune{iterations = {10, 20, 40, 80}}\n    print(tried)",
  with = "print(plan:with{epsilon = 2})\n    print(plan:with{step = function(t) return 1 / t end})    -- in place of 2/(t + 1)",
})
method("pn.walk", PLAN, {
  step = "walk = plan:steps()\n    state = walk:step()\n    print(state.step, state.theta)",
  fit = "walk = plan:steps()\n    walk:step()\n    print(walk:fit())    -- what one step reached; its epsilon is the whole plan's",
})
method("pn.fit", PLAN .. "    fit = plan:run()\n", {
  excess = "print(fit:excess())    -- above the exact minimum: not private",
  predict = "print(fit:predict(d.X))",
  probabilities = "print(fit:probabilities(d.X))",
  coefficients = "print(fit:coefficients())",
  card = "print(fit:card())",
  receipt = 'receipt = fit:receipt()\n    print(receipt)\n    receipt:save("people.receipt")    -- to hand over beside the model',
  export = 'fit:export "people.json"    -- for other programs\n    print(pn.load("people.json"):card())',
  save = 'fit:save("people.model")    -- what was released, and no more\n    again = pn.load "people.model"\n'
    .. "    print(again)\n    print(again.plan)",
})

method("pn.fit", [[
    d = pn.data.synthetic.lasso{n = 5000, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
    known = pn.vec{0.5, 0, 0, 0}    -- a public model
    obj = pn.objective{data = d:offset_labels(known, 0.5), loss = pn.loss.squared()}
    fit = pn.solve.sufficient_statistics(obj, {epsilon = 1, delta = 1e-8})
]], {
  in_terms_of = 'print(fit:in_terms_of(d, {shift = known, declared = "a model"}).theta)    -- known + fit.theta',
})

local MOMENTS = [[
    d = pn.data.synthetic.lasso{n = 5000, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1):add_bias()
    obj = pn.objective{data = d, loss = pn.loss.squared()}
    fit = pn.solve.sufficient_statistics(obj, {epsilon = 1, delta = 1e-8})
]]
method("pn.fit", MOMENTS, {
  path = "print(fit:path{columns = {1, 2}})    -- other models, for nothing\n    print(fit:path{ridge = {10}})",
  intervals = "print(fit:intervals{level = 0.9, target = \"records\"})",
  covariance = "C = fit:covariance{of = \"privacy\"}\n    print(C[1][1] ^ 0.5)    -- how far noise moved theta[1], about",
})

usage.solver = LOGISTIC:gsub("SET", BALL) .. [[
    plain = pn.solver{name = "plain", options = {rate = 2}, step = function(s, ask)
      s.x = s.set:project(s.x - s.options.rate * ask:gradient(s.x))
    end}
    print(plain.plan(obj, {epsilon = 1, delta = 1e-8, iterations = 20}))    -- what it asks and costs
    print(plain(obj, {epsilon = 1, delta = 1e-8, iterations = 20}))]]

local TUNE = LOGISTIC:gsub("SET", BALL) .. [[
    search = {solver = "gradient_descent", objective = obj, epsilon = 2, delta = 1e-6, score = "accuracy",
              grid = {step = {0.1, 1, 10}, iterations = {10, 30}}}
]]
usage.tune = TUNE .. [[
    best = pn.tune(search)    -- plan:tune compares predicted risks for nothing: ask it first
    print(best)
    print(best.theta, best.configuration.step)]]
usage["tune.plan"] = TUNE .. [[
    print(pn.tune.plan(search))    -- spends nothing; says what one fit would have instead]]

usage.evaluate = LOGISTIC:gsub("SET", BALL) .. [[
    train, test = d:holdout(5)
    obj = pn.objective{data = train, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = d.p}}
    fit = pn.solve.auto(obj, {epsilon = 1, delta = 1e-6})
    e = pn.evaluate{model = fit, data = test, epsilon = 1, delta = 1e-6}
    print(e, e.auc)
    print(pn.evaluate{model = fit, data = test, epsilon = 0.5, figures = {"accuracy"}})]]

local function model(kind, data, options)
  local call = "    m = pn.model.%s{data = d, epsilon = 1%s}\n    print(m)\n    print(m:predict(m.test)[1])"
  usage["model." .. kind] = data .. call:format(kind, options or "")
end
usage["model.logistic"] = [[
    io.open("adults.csv", "w"):write("age,income\n", ("31,<=50K\n52,>50K\n44,>50K\n"):rep(50)):close()
    m = pn.model.logistic{data = "adults.csv", epsilon = 1,
      recipe = {label = {income = {"<=50K", ">50K"}}, features = {age = {17, 90}}}}
    print(m)
    print(m:predict("adults.csv")[1])]]
model("linear", '    d = pn.data.synthetic.lasso{n = 1000, p = 4, sparsity = 2, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)\n')
model("lasso", '    d = pn.data.synthetic.lasso{n = 1000, p = 50, seed = 1}:clip_rows("linf", 1):clip_rows("l2", 5)\n'
  .. "    d = d:clip_labels(-1, 1)\n")
model("multinomial", '    d = pn.data.synthetic.classification{n = 1000, p = 4, seed = 1}:clip_rows("l2", 4)\n', ", classes = 3")
model("poisson", '    x = pn.data.synthetic.logistic{n = 1000, p = 4, seed = 1}:clip_rows("l2", 1)\n'
  .. "    d = x:with_labels(x.y + 1):clip_labels(0, 2)    -- counts\n")

local ASK = LOGISTIC:gsub("SET", L1) .. "    ask = pn.oracle{objective = obj, ledger = pn.ledger{rho = 1}}\n"
  .. "    x = pn.vec.zeros(d.p)\n"
usage.oracle = ASK .. "    print(ask:gradient(x, {rho = 0.01}))    -- priced, charged, then drawn\n    print(ask.left)"
local UNIT = "e = pn.vec.zeros(d.p); e[1] = 1\n    "
method("pn.oracle", ASK, {
  gradient = "print(ask:gradient(x, {rho = 0.01}))\n    print(ask:gradient(x, {rho = 0.01, batch = 500}))",
  moment = "print(ask:moment(function(z, y) return pn.tanh(y * z - 1) end, x, {rho = 0.01}))",
  difference = UNIT .. "print(ask:difference(e, x, {rho = 0.01}))",
  hessian = "print(ask:hessian(x, {rho = 0.01})[1])",
  hvp = UNIT .. "print(ask:hvp(x, e, {rho = 0.01}))",
  mean = "print(ask:mean(function(z, y) return pn.sigmoid(-y * z) end, x, {rho = 0.01}))",
  within = "print(ask:within(x, 0.4, {rho = 0.01}))    -- the share of gradients of norm 0.4 at most",
  value = "print(ask:value(x, {rho = 0.01}))",
  values = UNIT .. "print(ask:values({x, e, 0.5 * e}, {rho = 0.01}))    -- one release",
  differences = UNIT .. "print(ask:differences(x, {e}, {radius = 0.1, rho = 0.01}))",
  vertex = "v, number = ask:vertex(x, {rho = 0.01})\n    print(number, v)",
  choose = UNIT .. "print(ask:choose({x, e, -e}, {rho = 0.01}))",
  prefix = "sums = ask:prefix{factorization = \"sqrt\", horizon = 64, rho = 0.01}\n"
    .. "    for t = 1, 8 do total = sums:push(x) end    -- a running sum of 64 gradients at most, paid for once\n    print(total)",
  watch = "run = ask:watch{threshold = 0.6, answers = 1, rho = 0.01}\n    print(run:above(x))",
  noise = "s = pn.solver{name = \"s\", step = function(s, ask)\n"
    .. "      s.x = s.set:project(s.x - ask:gradient(s.x) / (1 + ask:noise \"gradient\"))\n    end}\n"
    .. "    print(s(obj, {rho = 0.1, iterations = 20}))",
})
method("pn.sums", ASK .. "    sums = ask:prefix{factorization = \"sqrt\", horizon = 64, rho = 0.01}\n", {
  push = "print(sums:push(x))",
})
method("pn.watch", ASK .. "    run = ask:watch{threshold = 0.6, answers = 1, rho = 0.01}\n", {
  above = "print(run:above(x))    -- whether the mean loss at x is at least 0.6, with noise",
})

return usage
