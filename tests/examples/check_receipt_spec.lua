-- check_receipt_spec.lua -- examples/check_receipt.py: it accepts receipts of every solver, of ledgers that were charged every kind
-- of event, of running sums and of federated runs and their parties, and refuses each of a list of lies, which are told
-- consistently where a liar could.
local pn = require "penumbra"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local told = require "tests.examples.receipt_lies"

local P, PRICE = 5, { epsilon = 1, delta = 1e-6 }

local function with(more)
  local options = {}
  for _, from in ipairs { PRICE, more or {} } do
    for k, v in pairs(from) do options[k] = v end
  end
  return options
end

local binary = pn.data.synthetic.logistic { n = 1000, p = P, seed = 1 }:clip_rows("l2", 1)
local real = pn.data.synthetic.lasso { n = 1000, p = P, seed = 2 }:clip_rows("l2", 1):clip_labels(-1, 1)
local function logistic(more)
  local options = { data = binary, loss = pn.loss.logistic() }
  for k, v in pairs(more or {}) do options[k] = v end
  return pn.objective(options)
end
local objectives = {
  function() return logistic { set = pn.set.l2_ball { dim = P, radius = 2 } } end,
  function() return logistic { set = pn.set.l1_ball { dim = P, radius = 2 } } end,
  function() return logistic() end,
  function() return logistic { reg = pn.reg.l2(0.1) } end,
  function() return logistic { clip = 0.5 } end,
  function() return pn.objective { data = real, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = P, radius = 2 } } end,
  function() return pn.objective { data = real, loss = pn.loss.huber { delta = 0.5 } } end,
}

-- A run of parties that hold two and four columns, and the parties' own ledgers.
local function federated(more)
  local columns = pn.data.synthetic.lasso { n = 300, p = 6, seed = 1 }:clip_rows("linf", 1):clip_labels(-1, 1)
  local ledgers = { pn.ledger { epsilon = 9, delta = 1e-4 }, pn.ledger { epsilon = 9, delta = 1e-4 } }
  local options = with { iterations = 3, transport = pn.federated.in_process { columns = { 2, 4 }, ledgers = ledgers } }
  for k, v in pairs(more or {}) do options[k] = v end
  local objective = pn.objective { data = columns, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 6 } }
  return pn.solve.federated_frank_wolfe(objective, options), ledgers
end

local function tree(options)
  options.dim, options.sensitivity, options.epsilon, options.delta = 2, 1, 1, 1e-6
  return pn.tree(options)
end

local lower = {}
for t = 1, 12 do
  lower[t] = {}
  for s = 1, 12 do lower[t][s] = s > t and 0 or s == t and 1 + 0.1 * (t % 3) or t - s < 5 and (-0.4) ^ (t - s) or 0 end
end

-- ---- receipts ----

local bases = {
  gradient = function() return pn.solve.gradient_descent(objectives[1](), with { iterations = 20 }):receipt() end,
  sampled = function() return pn.solve.noisy_sgd(objectives[5](), with { iterations = 20 }):receipt() end,
  two = function() return pn.solve.adaptive_clipping(objectives[3](), with { iterations = 5 }):receipt() end,
  tree = function() return tree { horizon = 100, factorization = "binary" }:receipt() end,
  buffers = function() return tree { horizon = 100, theta = { 0.99, 0.5 }, omega = { 0.1, 0.2 } }:receipt() end,
  banded = function()
    return tree { horizon = 30, fit = "optimal", bands = 4, participations = 3, separation = 7 }:receipt()
  end,
  matrix = function() return tree { horizon = 12, matrix = pn.mat(lower), participations = 3, separation = 2 }:receipt() end,
  nodes = function()
    return pn.solve.zeroth_order(objectives[3](), with { distance = 1, first_batch = 40, batch = 20, rounds = 10,
      prefix = { factorization = "binary", scale = "node" } }):receipt()
  end,
  steps = function() return pn.solve.output_perturbation(objectives[4](), with { iterations = 20 }):receipt() end,
  minimum = function()
    return pn.solve.output_perturbation(objectives[4](), with { method = "exact", tolerance = 0.01 }):receipt()
  end,
  values = function()
    return pn.solve.zeroth_order(objectives[3](), with { directions = "iid", passes = 2, distance = 1 }):receipt()
  end,
  leaves = function()
    return pn.solve.matrix_factorization_sgd(objectives[1](), with { iterations = 33, epochs = 4 }):receipt()
  end,
  parties = function() return (federated()):receipt() end,
  scores = function() return (federated { mode = "ball", sampled = 1, stay = true }):receipt() end,
  party = function() return select(2, federated())[1]:receipt() end,
  slices = function()
    local ledger = pn.ledger(PRICE)
    local slice = pn.ledger { parent = ledger, name = "a", epsilon = 0.5, delta = 1e-7 }
    slice:spend(pn.event.gaussian { sigma = 20, sensitivity = 1, draws = 3 }, "one", 2)
    ledger:spend(pn.event.laplace { scale = 30, sensitivity = 1 }, "two")
    return ledger:receipt()
  end,
  ledger = function()
    local ledger = pn.ledger(PRICE)
    pn.solve.gradient_descent(objectives[1](), { epsilon = 0.4, delta = 1e-7, iterations = 3, ledger = ledger })
    return ledger:receipt()
  end,
  whole = function() return pn.solve.noisy_sgd(objectives[5](), with { iterations = 20, accountant = "pld" }):receipt() end,
}

-- ---- running it ----

local python = "python3"
local paths = {}

local function write(name, receipt)
  paths[name] = paths[name] or os.tmpname()
  program.write_all(paths[name], receipt.json)
  return paths[name]
end

local function check(path)
  return program.shell(("%s examples/check_receipt.py %s"):format(python, program.quote(path)))
end

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

describe("examples/check_receipt.py", function()
  local verdicts = {}

  setup(function()
    local lines, script = {}, os.tmpname()
    for name, make in pairs(bases) do
      if name ~= "whole" or tier.thorough then
        lines[#lines + 1] = ("[%s, %s, \"pass\"]"):format(quoted(name), quoted(write(name, make())))
      end
    end
    for _, lie in ipairs(told.lies) do
      if paths[lie[2]] then
        lines[#lines + 1] = ("[%s, %s, %s]"):format(quoted(lie[1]), quoted(paths[lie[2]]), quoted(lie[4]))
      end
    end
    program.write_all(script, told.driver)
    local out, err, code = program.shell(("%s %s"):format(python, script), table.concat(lines, "\n") .. "\n")
    os.remove(script)
    assert(code == 0, out .. err)
    for name, status, said in out:gmatch "([^\t\n]*)\t(%d)\t([^\n]*)\n" do verdicts[name] = { tonumber(status), said } end
  end)

  teardown(function()
    for _, path in pairs(paths) do os.remove(path) end
  end)

  it("has at most 400 lines, and imports nothing but the standard library and its laws", function()
    local imports = {}
    for _, name in ipairs { "check_receipt", "receipt_laws" } do
      local text = program.read_all("examples/" .. name .. ".py")
      assert.is_true(select(2, text:gsub("\n", "")) <= 400)
      for line in text:gmatch "\n([^\n]*import [^\n]*)" do imports[#imports + 1] = line end
    end
    assert.same({ "import ast, functools, hashlib, heapq, itertools, json, math, re, sys",
      "from receipt_laws import composed, exp, gaussian, lowest, parts, price, single",
      "import decimal, itertools, math, types" }, imports)
  end)

  it("says what it found, line by line, and ends with 0 for what is true and 1 for what is not", function()
    local out, err, code = check(paths.gradient)
    assert.same({ "", 0 }, { err, code })
    assert.is_truthy(out:find "valid: plan: epsilon: 1\n" or out:find "valid: plan: epsilon: 0.99999", out)
    assert.is_nil(out:find "not checked" or out:find "NOT VALID")
    local bad = write("bad", { json = program.read_all(paths.gradient):gsub('"schema": 1', '"schema": 7') })
    out, err, code = check(bad)
    assert.same({ "", 1 }, { err, code })
    assert.is_truthy(out:find "^NOT VALID: format, schema")
    for _, path in ipairs { "README.md", "nowhere" } do
      out, err, code = check(path)
      assert.same({ "", 2 }, { err, code })
      assert.is_truthy(out:find("not checked: " .. path .. " is no receipt: ", 1, true), out)
    end
  end)

  it("accepts the example beside the schema", function()
    assert.same({ 0, "" }, { select(3, check "runtime/receipt/example.json"), "" })
  end)

  for name in pairs(bases) do
    tier.it(it, name ~= "whole")("accepts a true receipt: " .. name, function()
      assert.same({ 0, "" }, verdicts[name])
    end)
  end

  local function accepts(name, receipt)
    local out, _, code = check(write("more", receipt))
    assert.equal(0, code, name .. "\n" .. out)
  end

  -- Of the first two nothing is private; the last one is among the federated runs.
  local without = { exact = true, block_frank_wolfe = true, federated_frank_wolfe = true }

  tier.it(it)("accepts a receipt of every solver", function()
    for name in pairs(pn.solve) do
      local found
      for _, make in ipairs(objectives) do
        local ok, fit = pcall(function() return pn.solve[name](make(), with()) end)
        if ok and fit.privacy then
          accepts(name, fit:receipt())
          found = true
        end
      end
      assert.is_truthy(found or without[name], name .. " has no receipt")
    end
  end)

  tier.it(it)("accepts receipts of the ways that solvers derive sensitivities for whole runs", function()
    for _, more in ipairs { { method = "gd", iterations = 9 }, { method = "sgd" },
      { method = "sgd", neighbours = "zero_out" }, { method = "exact" } } do
      accepts("output, ridge, " .. more.method, pn.solve.output_perturbation(objectives[4](), with(more)):receipt())
      if more.method ~= "exact" then
        accepts("output, ball, " .. more.method, pn.solve.output_perturbation(objectives[1](), with(more)):receipt())
        accepts("output, l1, " .. more.method,
          pn.solve.output_perturbation(logistic { reg = pn.reg.elastic_net { l1 = 0.05, l2 = 0.1 } }, with(more)):receipt())
      end
    end
    for _, name in ipairs { "zeroth_order", "zeroth_order_naive" } do
      for _, directions in ipairs { "orthogonal", "iid", "one" } do
        for _, neighbours in ipairs { "replace_one", "zero_out" } do
          local ok, fit = pcall(pn.solve[name], objectives[3](),
            with { directions = directions, neighbours = neighbours, distance = 1 })
          if ok then accepts(name .. ", " .. directions, fit:receipt()) end
        end
      end
    end
    for _, factorization in ipairs { "binary", "sqrt", "banded", "blt" } do
      for _, name in ipairs { "ftrl", "matrix_factorization_sgd" } do
        accepts(name .. ", " .. factorization,
          pn.solve[name](objectives[1](), with { iterations = 33, factorization = factorization }):receipt())
      end
    end
  end)

  tier.it(it)("accepts running sums of every factorization, horizon and number of participations", function()
    for _, options in ipairs { { factorization = "binary" }, { factorization = "binary", keep_root = true },
      { estimator = "honaker" },
      { memory = "regenerate" }, { factorization = "sqrt" }, { bands = 4 }, { fit = "optimal", bands = 5 },
      { coefficients = { 1, -0.5, 0.25 } }, { factorization = "blt" }, { theta = { 0.9, 0.5 }, omega = { 0.1, 0.2 } },
      {} } do
      for _, horizon in ipairs { 0, 1, 5, 16, 100 } do
        for _, times in ipairs { 1, 3, 100 } do
          local more = { horizon = horizon > 0 and horizon or nil, participations = times > 1 and times or nil,
            separation = times > 1 and 5 or nil }
          for k, v in pairs(options) do more[k] = v end
          local ok, stream = pcall(tree, more)
          if ok then accepts("tree", stream:receipt()) end
        end
      end
    end
    accepts("endless", tree { growth = "endless" }:receipt())
  end)

  -- One of every kind of event.
  local noise = pn.event.gaussian { sigma = 20, sensitivity = 1, draws = 3 }
  local laplace = pn.event.laplace { scale = 30, sensitivity = 1 }
  local sampled = { batch = 10, n = 1000, event = pn.event.gaussian { sigma = 2, sensitivity = 1 } }
  local events = {
    gaussian = noise, laplace = laplace, exponential = pn.event.exponential { epsilon = 0.05 },
    report_noisy_max = pn.event.report_noisy_max { scale = 60, sensitivity = 1, steps = 4097 },
    pure = pn.event.pure { epsilon = 0.05 }, approximate = pn.event.approximate { epsilon = 0.05, delta = 1e-9 },
    zcdp = pn.event.zcdp { rho = 0.001 }, rdp = pn.event.rdp { alpha = 12, epsilon = 0.02 },
    sparse_vector = pn.event.sparse_vector { epsilon = 0.05, answers = 3 },
    objective_perturbation = pn.event.objective_perturbation { sigma = 40, sensitivity = 1, jacobian = 0.01, dim = 4 },
    fixed_sampled = pn.event.fixed_sampled(sampled), poisson_sampled = pn.event.poisson_sampled { q = 0.01, event = sampled.event },
    fixed_sampled_and_whole = pn.event.fixed_sampled_and_whole {
      batch = 10, n = 1000, sigma = 20, sampled_sensitivity = 10, whole_sensitivity = 0.1 },
    selection = pn.event.selection { event = noise, mean = 5 }, either = pn.event.either { first = noise, second = laplace },
    compose = pn.event.compose { noise, laplace }, repeated = pn.event.repeated(noise, 2),
    curve = pn.event.curve { orders = { 2, 4, 8, 16, 32 }, divergences = { 0.002, 0.004, 0.008, 0.02, 0.05 } },
    loss_distribution = pn.event.loss_distribution { losses = { -0.05, 0, 0.05 }, probabilities = { 0.2, 0.55, 0.25 } },
  }
  local budgets = { { epsilon = 3, delta = 1e-6 }, { rho = 0.5 }, { epsilon = 3 }, { alpha = 8, epsilon = 1 },
    { epsilon = 3, delta = 1e-6, filter = "gaussian" } }

  it("accepts a ledger whose budget is so large that orders next to 1 are none", function()
    local ledger = pn.ledger { epsilon = 1e22, delta = 1e-6 }
    ledger:spend(pn.event.gaussian { sigma = 1e-9, sensitivity = 1 }, "next to no noise", 3)
    accepts("a large budget", ledger:receipt())
  end)

  tier.it(it)("accepts ledgers of every budget that were charged every kind of event", function()
    for kind in pairs(pn.event) do
      assert.is_truthy(events[kind], kind)
      local taken = 0
      for k, budget in ipairs(budgets) do
        local ledger = pn.ledger(budget)
        if pcall(ledger.spend, ledger, events[kind], kind, 3) then
          taken = taken + 1
          if k == 1 or kind ~= "fixed_sampled_and_whole" then accepts(kind .. ", budget " .. k, ledger:receipt()) end
        end
      end
      assert.is_true(taken > 0, kind)
    end
  end)

  tier.it(it)("accepts federated runs and the ledgers of their parties", function()
    for _, more in ipairs { {}, { mode = "ball" }, { mode = "ball", sampled = 1, stay = true }, { neighbours = "zero_out" },
      { clip = 0.5 }, { iterations = 12 } } do
      local ok, fit, ledgers = pcall(federated, more)
      if ok then
        accepts("server", fit:receipt())
        for k = 1, 2 do accepts("party " .. k, ledgers[k]:receipt()) end
      end
    end
  end)

  for _, lie in ipairs(told.lies) do
    tier.it(it, not lie.slow)("refuses " .. lie[1], function()
      local found = verdicts[lie[1]]
      assert.equal(1, found[1], found[2])
      assert.is_truthy((" | " .. found[2]):find(lie[3], 1, true), found[2])
    end)
  end
end)
