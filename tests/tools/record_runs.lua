-- record_runs.lua -- plans, prices and seeded runs of every solver on small problems, to the last bit: what a change that is meant
-- to change nothing must not change.
--   penumbra tests/tools/record_runs.lua >before.txt, then with the new build >after.txt, on one machine; diff says the rest.
-- With the name of a solver as argument: that one's only.
-- Depends on: penumbra.  Run by hand.
local pn = require "penumbra"

local dense = pn.data.synthetic.logistic { n = 400, p = 6, seed = 3 }:clip_rows("l2", 1)
local real = pn.data.synthetic.lasso { n = 400, p = 6, seed = 4 }:clip_rows("l2", 1):clip_labels(-1, 1)
local function sparse_records()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i = 1, 400 do
    file:write(("%d %d:0.5 %d:%g\n"):format(i % 3 == 0 and -1 or 1, 1 + i % 4, 5 + i * 7 % 5, (i * 13 % 17 - 8) / 9))
  end
  file:close()
  local rows = pn.data.libsvm(path, { cols = 9 })
  os.remove(path)
  return rows:clip_rows("l2", 1)
end
local sparse = sparse_records()
local classes = pn.data.synthetic.classification { n = 400, p = 5, classes = 3, seed = 5 }:clip_rows("l2", 1)

local function l1(dim) return pn.set.l1_ball { dim = dim, radius = 2 } end
local function l2(dim) return pn.set.l2_ball { dim = dim, radius = 2 } end
local problems = {
  { "logistic", { data = dense, loss = pn.loss.logistic() } },
  { "logistic, sparse", { data = sparse, loss = pn.loss.logistic() } },
  { "logistic over l2", { data = dense, loss = pn.loss.logistic(), set = l2(6) } },
  { "logistic over l1", { data = dense, loss = pn.loss.logistic(), set = l1(6) } },
  { "logistic and l2", { data = sparse, loss = pn.loss.logistic(), reg = pn.reg.l2(0.01) } },
  { "logistic and l1", { data = dense, loss = pn.loss.logistic(), reg = pn.reg.l1(0.01) } },
  { "hinge", { data = dense, loss = pn.loss.hinge() } },
  { "huber", { data = real, loss = pn.loss.huber { delta = 0.5 } } },
  { "squared, clipped", { data = real, loss = pn.loss.squared(), clip = 1 } },
  { "squared over l2", { data = real, loss = pn.loss.squared(), set = l2(6) } },
  { "softmax over l2", { data = classes, loss = pn.loss.softmax { classes = 3 }, set = l2(15) } },
}
local budgets = {
  { epsilon = 0.5, delta = 1e-6 }, { epsilon = 4, delta = 1e-6, neighbours = "zero_out" }, { rho = 0.1 }, { epsilon = 1 },
  { privacy = false, iterations = 6 },
}

local function bits(theta)
  local words = {}
  for j = 1, #theta do words[j] = ("%a"):format(theta[j]) end
  return table.concat(words, " ")
end

local function try(call, ...)
  local results = table.pack(pcall(call, ...)) -- what is refused is recorded, too
  if not results[1] then print("  " .. tostring(results[2])) end
  return results[1] and results[2] or nil
end

local function record(name, problem, budget)
  local options = {}
  for key, value in pairs(budget) do options[key] = value end
  local obj = try(pn.objective, problem[2])
  local plan = obj and try(pn.solve[name].plan, obj, options)
  if not plan then return end
  print(plan)
  if plan.event then print("  " .. tostring(plan.event)) end
  local fit = try(plan.run, plan, { rng = pn.rng.seeded(7) })
  if fit then print(("  %d steps, %s: %s"):format(fit.steps, tostring(fit.privacy), bits(fit.theta))) end
end

local solvers = {}
for name, solver in pairs(pn.solve) do
  if type(solver) == "table" and (not arg[1] or arg[1] == name) then solvers[#solvers + 1] = name end
end
table.sort(solvers)
for _, name in ipairs(solvers) do
  for _, problem in ipairs(problems) do
    for k, budget in ipairs(budgets) do
      print(("== %s, %s, budget %d"):format(name, problem[1], k))
      record(name, problem, budget)
    end
  end
end

for _, name in ipairs { "gradient_descent", "mirror_descent", "accelerated_mirror_descent", "frank_wolfe_convex" } do
  for _, problem in ipairs(problems) do
    for k, budget in ipairs(budgets) do
      for _, batch in ipairs { 50, { scheme = "poisson", rate = 0.1 }, { scheme = "shuffled", size = 50 } } do
        print(("== %s of batches, %s, budget %d"):format(name, problem[1], k))
        budget.batch = batch
        record(name, problem, budget)
      end
    end
  end
end

-- Options that take another way through a solver, each with some problems.
local clipped = { "logistic, clipped rows of norm 1", problems[1][2] }
local strong = { "logistic and strong l2", { data = dense, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1) } }
local simplex = { "logistic over simplex", { data = dense, loss = pn.loss.logistic(), set = pn.set.simplex { dim = 6 } } }
local box = { "logistic over a box", { data = dense,
  loss = pn.loss.logistic(), set = pn.set.box { lower = { -1, -1, -1, -1, -1, -1 }, upper = { 1, 1, 1, 1, 1, 1 } } } }
local net = { "logistic, elastic net", { data = sparse,
  loss = pn.loss.logistic(), reg = pn.reg.elastic_net { l1 = 0.01, l2 = 0.1 } } }
local strong_ball = { "logistic and l2 over l2", { data = dense, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1), set = l2(6) } }
local raw = { "huber, unbounded rows",
  { data = pn.data.synthetic.lasso { n = 40, p = 3, seed = 9 }, loss = pn.loss.huber { delta = 0.5 } } }
local strong_l1 = { "logistic and strong l2 over l1", { data = dense,
  loss = pn.loss.logistic(), reg = pn.reg.l2(0.1), set = l1(6) } }
local ways = {
  zeroth_order = {
    over = { clipped, problems[5], problems[9], raw },
    { oracle = "naive" }, { oracle = "variance_reduced" }, { directions = "iid" }, { directions = "one" },
    { directions = "iid", level = 2 },
    { level = 0.5 }, { passes = 3, epochs = 2, oracle = "variance_reduced" }, { passes = 3 }, { output = "random" },
    { output = "best" },
    { target = 0.5 }, { stationarity = 0.2 }, { epochs = 3, rounds = 8 }, { rounds = 1 },
    { rounds = 8, oracle = "variance_reduced" },
    { batch = 4, first_batch = 16, rounds = 8 }, { batch = 3 }, { first_batch = 50 }, { epochs = 1000 }, { smoothing = 0.3 },
    { radius = 0.01 }, { smoothing = 0.1, radius = 0.02, step = 0.5 }, { step = 0.1 }, { smoothing = 1e-300 }, { radius = 1e300 },
    { gap = 0.7 }, { gap = 0.7, lipschitz = 3 }, { lipschitz = 0.1 }, { lipschitz = 1e-300 }, { distance = 4 }, { iterations = 5 },
    { iterations = 1e6 }, { group = 4, oracle = "variance_reduced" }, { strict = true }, { calibration = "paper" },
    { calibration = "paper", directions = "orthogonal" }, { calibration = "paper", oracle = "naive" },
    { calibration = "paper", rounds = 4 }, { start = { 1, 1, 1, 1, 1, 1 } }, { prefix = { factorization = "sqrt" }, rounds = 8 },
    { prefix = { factorization = "blt" }, rounds = 9 }, { prefix = { factorization = "blt", fit = "optimal" }, rounds = 9 },
    { prefix = { factorization = "binary" }, rounds = 8 }, { prefix = { estimator = "plain" }, rounds = 8 },
    { prefix = { estimator = "honaker", scale = "node" }, rounds = 8 }, { prefix = { estimator = "full" } },
    { prefix = { keep_root = true }, rounds = 8 }, { prefix = { memory = "regenerate" }, rounds = 8 },
    { prefix = { factorization = "banded", bands = 3 }, rounds = 8 }, { prefix = { buffers = 2 }, rounds = 8 },
  },
  zeroth_order_naive = {
    over = { clipped, problems[5] },
    { directions = "orthogonal" }, { directions = "iid" }, { batch = 4 }, { batch = 4, rounds = 4, epochs = 5 }, { passes = 2 },
    { output = "best" }, { target = 0.3 }, { calibration = "paper" }, { iterations = 7 }, { smoothing = 0.2 }, { strict = true },
  },
  objective_perturbation = {
    over = { clipped, problems[3], problems[4], problems[7], problems[10], strong, simplex, box, strong_l1, raw },
    { lambda = 0.02 }, { lambda = 0 }, { lambda = 1e-9 }, { split = 0.9 }, { tolerance = 1e-3 }, { tolerance = 1e-30 },
    { approximate = false }, { calibration = "paper" }, { calibration = "paper", unproven = true }, { accountant = "rdp" },
    { accountant = "pld" }, { iterations = 3 }, { start = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 }, lambda = 0.1 },
    { neighbours = "add_remove" },
  },
  output_perturbation = {
    over = { clipped, problems[5], problems[6], strong, net, box, strong_ball, strong_l1, problems[7], problems[11], raw },
    { method = "exact" }, { method = "exact", tolerance = 1e-3 }, { method = "exact", tolerance = 1e-30 }, { method = "sgd" },
    { method = "sgd", passes = 3, batch = 20, seed = 5 }, { method = "sgd", batch = 401 }, { method = "sgd", step = 0.5 },
    { iterations = 7 }, { step = 0.1 }, { step = 100 }, { step = 5 }, { batch = 5 }, { method = "exact", step = 1 },
    { method = "sgd", iterations = 3 },
    { method = "exact", iterations = 3 }, { tolerance = 0.1 }, { calibration = "paper" }, { neighbours = "add_remove" },
    { start = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 } }, { method = "sgd", passes = 1000000, batch = 1 }, { step = 1e290 },
  },
  svrg = {
    over = { clipped, problems[5], problems[6], strong, net, strong_ball, problems[7] },
    { form = "printed" }, { calibration = "paper" }, { calibration = "paper", c = 20 }, { c = 3 }, { preset = "theory" },
    { preset = "theory", step = 0.001 }, { preset = "theory", step = 10 }, { preset = "theory", step = { 0.1, 0.1 } },
    { epochs = 2 }, { epochs = 2, iterations = 2 }, { iterations = 3 }, { inner = 9 }, { batch = 7 }, { batch = 401 },
    { step = 0.3 }, { step = { 0.5, 0.25 }, epochs = 2 }, { step = { 0.5, 0.25 } }, { anchor_share = 0.5 }, { tail = 0 },
    { tail = 1.5 },
    { restart = "average" }, { restart = "last" }, { reach = 1 }, { reach = 0 }, { accountant = "rdp" }, { accountant = "pld" },
    { strong_convexity = 0.3 }, { epochs = 2000000 }, { inner = 1e13 }, { neighbours = "add_remove" },
    { form = "printed", neighbours = "zero_out" },
  },
}
ways.svrg_pp = ways.svrg
local function together(budget, way)
  local options = {}
  for key, value in pairs(budget) do options[key] = value end
  for key, value in pairs(way) do options[key] = value end
  if way.passes == 1000000 and budget.privacy == false then options.passes = 3 end -- which would take an hour
  if way.calibration == "paper" and budget.privacy == false then options.calibration = nil end
  if budget.iterations and (way.epochs or way.method) then options.iterations = way.iterations end
  return options
end

local function ledgers()
  local plain = pn.ledger { epsilon = 3, delta = 1e-6 }
  local begun = pn.ledger { epsilon = 3, delta = 1e-6 }
  begun:spend(pn.event.laplace { scale = 2, sensitivity = 1 }, "before")
  local gaussian = pn.ledger { epsilon = 3, delta = 1e-6 }
  gaussian:spend(pn.event.gaussian { sigma = 5, sensitivity = 1 }, "before")
  return { { "fresh", plain }, { "begun", begun }, { "begun by Gaussian noise", gaussian },
    { "of rho", pn.ledger { rho = 0.2 } }, { "of lessons", pn.ledger { epsilon = 3, delta = 1e-6, teaching = true } },
    { "pure", pn.ledger { epsilon = 3 } } }
end

for _, name in ipairs(solvers) do
  local function show(way)
    local words = {}
    for key, value in pairs(way) do words[#words + 1] = ("%s=%s"):format(key, type(value) == "table" and "list" or value) end
    table.sort(words)
    return table.concat(words, " ")
  end
  for _, problem in ipairs(ways[name] and ways[name].over or {}) do
    for w, way in ipairs(ways[name]) do
      for k, budget in ipairs { budgets[1], budgets[2], budgets[3], budgets[5], { epsilon = 1e-4, delta = 1e-300 },
        { epsilon = 80, delta = 1e-6 } } do
        if k < 3 or (w + k) % 3 == 0 then
          print(("== %s, %s, way %d (%s), budget %d"):format(name, problem[1], w, show(way), k))
          record(name, problem, together(budget, way))
        end
      end
    end
    for _, way in ipairs { {}, { approximate = false }, { passes = 2 }, { accountant = "rdp" }, { method = "exact" } } do
      for _, ledger in ipairs(ledgers()) do
        print(("== %s, %s, %s, ledger %s"):format(name, problem[1], show(way), ledger[1]))
        record(name, problem, together({ ledger = ledger[2] }, way))
      end
    end
  end
end

-- ---- the options of second-order solvers, with traces and certificates, some in teaching ledgers ----

local bent = pn.objective { data = dense, loss = pn.loss.sigmoid(), reg = pn.reg.nonconvex(0.01) }
local many = pn.data.synthetic.logistic { n = 20000, p = 5, seed = 6 }:clip_rows("l2", 1)
local large = pn.objective { data = many, loss = pn.loss.logistic(), reg = pn.reg.nonconvex(1e-3) }
local sloped = pn.objective { data = real, loss = pn.loss.squared(), clip = 1, reg = pn.reg.l2(0.05) }
local away = { 0.3, -0.2, 0.1, 0, 0.4, -0.1 }
local cosine = pn.objective { data = dense, loss = pn.loss.logistic(),
  reg = pn.reg.separable(function(w) return 0.1 * pn.cos(w) end) }
local huber = pn.objective { data = real, loss = pn.loss.huber { delta = 0.5 }, set = l2(6) }
local searching = { line_search = true }
local variations = {
  second_order = {
    {}, searching, { line_search = true, svt = "value", beta_g = 0.4, beta_h = 0.6, b0 = 4, c_g = 0.4, c_h = 0.3 },
    { line_search = true, b0 = 1 }, { batch = 50 }, { batch = 50, line_search = true }, { phases = 2 },
    { phases = 2, first_share = 0.5, first_iterations = 3, line_search = true }, { use_filter = true },
    { phases = 2, use_filter = true, batch = 100 }, { eigen = "lanczos" }, { eigen = "dense" }, { eigen = "matrix_free" },
    { eigen = "matrix_free", batch = 30 }, { smoothness = 0.1 }, { smoothness = 3, hessian_lipschitz = 0.05 }, { gap = 0.4 },
    { floor = -0.5 }, { floor = 5 }, { start = away }, { start = away, value_share = 0.2 }, { start = away, value_share = 0 },
    { gap = 1, floor = 0 }, { gap = 1, value_share = 0.1 }, { value_share = 1 }, { hessian_bound = "generic" },
    { hessian_noise = "packed" }, { failure = 0.01, c = 0.05, c1 = 0.2, c2 = 0.05 }, { c = 0.3 }, { c1 = 0.5 },
    { tolerance = { gradient = 0.3, hessian = 0.4 } }, { tolerance = { hessian = 0.3 } }, { tolerance = { gradient = 0.02 } },
    { tolerance = { hessian = 1e300 } }, { iterations = 3 }, { phases = 3 }, { b0 = 10 }, { first_share = 0.5 },
    { batch = 1e6 }, { calibration = "paper" }, { line_search = true, c_h = 0.7 }, { line_search = true, beta_h = 0.1 },
  },
  trust_region = {
    {}, { tolerance = { gradient = 0.1 } }, { tolerance = { gradient = 0.1 }, radius = 0.2 }, { radius = 0.5 }, { batch = 40 },
    { smoothness = 0.3 }, { hessian_lipschitz = 0.05 }, { hessian_lipschitz = 3 }, { gap = 0.2 }, { floor = -0.5 },
    { floor = 5 }, { gap = 1, floor = 1 }, { hessian_noise = "packed" }, { hessian_bound = "generic" },
    { hess_noise_factor = 2 }, { hess_noise_factor = 0.5 }, { failure = 0.01 }, { start = away }, { iterations = 4 },
    { calibration = "paper" }, { batch = 1e6 }, { tolerance = { gradient = 0.3 }, batch = 100, iterations = 5 },
  },
  newton = {
    {}, { hessians = 2 }, { hessians = 12 }, { hessians = 3, iterations = 2 }, { hessian_share = 0.4 }, { start_share = 0.3 },
    { damping = 2 }, { gradients = "full" }, { gradients = "differences" }, { hessian_noise = "packed" }, { start = away },
    { iterations = 1 }, { iterations = 1, start_share = 0.3 }, { iterations = 7, hessians = 7 }, { iterations = 20000 },
    { calibration = "paper" },
  },
}
local prices = { { epsilon = 2, delta = 1e-6 }, { rho = 5, neighbours = "zero_out" }, { privacy = false },
  { epsilon = 300, delta = 1e-3 }, { ledger = true } }

local function ledger_of(rho)
  return rho and pn.ledger { rho = 3, teaching = true } or pn.ledger { epsilon = 3, delta = 1e-6, teaching = true }
end

local function show_fit(fit)
  print(("  %s, %s: %s"):format(fit.stopped, tostring(fit.privacy), bits(fit.theta)))
  for name, value in pairs { "status", "gradient_norm", "eigenvalue", "probability", "released_gradient_norm",
    "released_eigenvalue", "gradient_error", "hessian_error", "gradient_target", "eigenvalue_target" } do
    local of = fit.certificate and fit.certificate[value]
    print(("    %d %s %s"):format(name, value, type(of) == "number" and ("%a"):format(of) or tostring(of)))
  end
  for k, row in ipairs(fit.trace) do
    if k > 40 then break end
    print(("    %s %a %a %a %a %d"):format(row.kind, row.value or 0, row.step_size or 0, row.gradient_norm or 0,
      row.eigenvalue or 0, row.gradients or 0))
  end
end

local function vary(solver, objective, options)
  local plan = try(pn.solve[solver].plan, objective, options)
  if not plan then return end
  print(plan)
  if plan.event then print("  " .. tostring(plan.event)) end
  if plan.iterations > 20000 then return end
  local ledger = options.ledger or (plan.event and options.privacy ~= false and ledger_of(options.rho)) or nil
  local fit = try(plan.run, plan, { rng = pn.rng.seeded(11) })
  if fit then show_fit(fit) end
  fit = ledger and not options.ledger and try(plan.run, plan, { rng = pn.rng.seeded(12), ledger = ledger })
  if fit then show_fit(fit) end
  if fit then print(("  spent %a"):format(ledger.spent)) end
end

local targets = { bent = bent, large = large, cosine = cosine, huber = huber, sloped = sloped,
  over = pn.objective { data = dense, loss = pn.loss.sigmoid(), set = l2(6) },
  softmax = pn.objective { data = classes, loss = pn.loss.softmax { classes = 3 }, reg = pn.reg.l2(0.1) },
  saddle = pn.objective { data = pn.data.from(pn.mat.zeros(400, 6), pn.vec.zeros(400) + 1):clip_rows("l2", 1),
    loss = pn.loss.sigmoid(), reg = pn.reg.separable(function(w) return 0.2 * pn.cos(w) end) },
  wide = pn.objective { data = pn.data.from(pn.mat.zeros(100, 60), pn.vec.zeros(100) + 1):clip_rows("l2", 1),
    loss = pn.loss.sigmoid() },
  raw = pn.objective { data = pn.data.synthetic.logistic { n = 50, p = 6, seed = 1 }, loss = pn.loss.logistic() } }
local claims = { saddle = { gap = 1, smoothness = 0.3, hessian_lipschitz = 0.2, tolerance = { gradient = 0.1, hessian = 0.1 } } }
local names = {}
for name in pairs(targets) do names[#names + 1] = name end
table.sort(names)
for _, solver in ipairs { "newton", "second_order", "trust_region" } do
  for k, given in ipairs(variations[solver]) do
    for _, name in ipairs(names) do
      for j, price in ipairs(prices) do
        -- all options on one problem, and the problems with a few options
        local whole = name == "bent" or (name == "saddle" and solver ~= "newton" and j > 1) or (name == "sloped" and
          solver == "newton")
        if whole or k <= 2 or (j == 1 and k % 7 == 0) then
          local options = { iterations = name ~= "bent" and solver ~= "newton" and 12 or nil }
          for key, value in pairs(price) do options[key] = value end
          for key, value in pairs(solver ~= "newton" and claims[name] or {}) do options[key] = value end
          for key, value in pairs(given) do options[key] = value end
          if options.ledger then options.ledger = ledger_of(k % 2 == 0) end
          if name == "wide" or name == "softmax" or name == "large" then options.start = nil end
          print(("== %s of %s, options %d, price %d"):format(solver, name, k, j))
          vary(solver, targets[name], options)
        end
      end
    end
  end
end

local gaussian = pn.event.gaussian { sigma = 3, sensitivity = 1 }
local events = {
  gaussian, pn.event.laplace { scale = 2, sensitivity = 1 },
  pn.event.poisson_sampled { q = 0.02, event = pn.event.gaussian { sigma = 1, sensitivity = 1, neighbours = "add_remove" } },
  pn.event.fixed_sampled { batch = 10, n = 400, event = gaussian }, pn.event.exponential { epsilon = 0.1 },
}
for _, event in ipairs(events) do
  for _, row in ipairs { "rdp", "zcdp", "pld", "advanced" } do
    print(("== %s of 50 x %s"):format(row, event))
    local accountant = try(pn.accountant[row], {})
    if accountant and try(function() return accountant:add(event, 50) or true end) then
      local epsilon = try(accountant.epsilon, accountant, 1e-6)
      print(("  %a"):format(epsilon or 0))
    end
  end
end
