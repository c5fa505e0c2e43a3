local pn = require "penumbra"
local clock = require("penumbra.workers").seconds
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- A curator of a logistic problem, with a budget and limits of its own.  What the table and the sandbox refuse, they refuse in
-- this process, where nothing else would hold; the thorough tier asks a process of its own, which takes five times as long.
local function curator(options)
  options = options or {}
  local data = pn.data.synthetic.logistic { n = 400, p = 5, seed = 3 }:clip_rows("l2", 1)
  local ledger = options.ledger or pn.ledger { epsilon = options.epsilon or 4, delta = 1e-6 }
  return pn.curator { data = { adult = data }, ledger = ledger, memory = options.memory or 64,
    seconds = options.seconds or 20, instructions = options.instructions or 20000000, threads = 1,
    process = options.process or tier.thorough }, ledger, data
end

local prelude = [[
local obj = pn.objective{data=data.adult, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=5, radius=1}}
local function plan() return pn.solve.sgd.plan(obj, {rho=0.0001, iterations=2}) end
local function train() return plan():run{} end
]]

local function answer(code, options)
  local result = curator(options):run(code, "a")
  assert.is_true(result.ok, result.error)
  return result.answer, result
end

local function refusal(code, options)
  local result = curator(options):run(code, "a")
  assert.is_false(result.ok, code .. " answered " .. tostring(result.answer))
  return result.error, result
end

-- Of each row: a script, and what its refusal says.
local function all_refused(rows, options)
  local made = curator(options)
  for _, row in ipairs(rows) do
    local result = made:run(prelude .. row[1], "a")
    assert.is_false(result.ok, row[1] .. " answered " .. tostring(result.answer))
    assert.truthy(result.error:find(row[2], 1, true), row[1] .. " says: " .. result.error)
    assert.is_nil(result.error:find "0x%x+", row[1] .. " shows an address: " .. result.error)
  end
end

local raw = "without noise"

describe("a curator", function()
  it("answers a script that plans, trains with a traced loss, walks, asks a mechanism and prints", function()
    local c, ledger = curator { process = true }
    local result = c:run([[
      local loss = pn.loss.glm(function(z, y) return pn.log1p(pn.exp(-y * z)) end, {labels={-1, 1}})
      local C = pn.set.l2_ball{dim=5, radius=1}
      local obj = pn.objective{data=data.adult, loss=loss, set=C, reg=pn.reg.l2(0.01)}
      local plan = pn.solve.sgd.plan(obj, {epsilon=1, delta=1e-7, iterations=10})
      assert(budget:covers(plan) and budget:price(plan) > 0.5)
      local fit = plan:run()
      local half = data.adult:take(200)
      for state in plan:with{epsilon=0.5}:steps() do print(state.step) end
      local noisy, release = pn.mechanism.gaussian{sigma=10, sensitivity=1}:release(3)
      assert(release.private and type(noisy) == "number")
      print(plan.iterations, half.n, fit.trace[3].step)
      return #fit.theta, fit.privacy.epsilon, fit:predict(pn.vec{1, 0, 0, 0, 0}) == fit.theta[1]
    ]], "a")
    assert.is_true(result.ok, result.error)
    assert.truthy(result.answer:find "^5\t", result.answer)
    assert.truthy(result.answer:find "\ttrue$", result.answer)
    assert.truthy(result.output:find "1\n2\n.*10\t200\t3\n", result.output)
    assert.truthy(result.spent > 1 and result.spent < 4)
    assert.equal(ledger.spent, result.spent)
    assert.equal(3, #ledger:report())
  end)

  it("charges its own ledger without being asked, and refuses what is not covered", function()
    local c, ledger = curator { epsilon = 0.5 }
    local result = c:run(prelude .. "pn.solve.sgd(obj, {epsilon=2, delta=1e-7}) ", "a")
    assert.equal("EBUDGET", result.status)
    assert.equal(0, ledger.spent)
    result = c:run("return pn.mechanism.laplace{epsilon=0.4, sensitivity=1}:release(1)", "a")
    assert.is_true(result.ok, result.error)
    assert.truthy(math.abs(ledger.spent - 0.4) < 0.01)
    result = c:run("return pn.mechanism.laplace{epsilon=0.4, sensitivity=1}:release(1)", "a")
    assert.equal("EBUDGET", result.status)
    assert.equal(0, result.spent)
  end)

  it("keeps nothing of one script for the next", function()
    local c = curator()
    assert.is_true(c:run("x = 1; string.y = 2; pn.z = nil; getmetatable(pn.vec{1}).a = 3 return x", "a").ok
      or c:run("x = 1; string.y = 2 return x", "a").ok)
    assert.equal("nil\tnil", c:run("return x, string.y", "a").answer)
  end)

  it("tells syntax errors from others, and shows the name of the script", function()
    local c = curator()
    local result = c:run("return +", "report")
    assert.equal("EINVAL", result.status)
    assert.truthy(result.error:find("report:1:", 1, true))
    assert.truthy(c:run("\n error 'x'", "report").error:find("report:2: x", 1, true))
    assert.equal("EINVAL", c:run("\27Lua", "report").status)
  end)

  it("refuses data without bounds, names that are none, and ledgers that hide sizes or take seeded noise", function()
    local data = pn.data.synthetic.logistic { n = 40, p = 2, seed = 3 }
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local function fails(text, options)
      refused(text, pn.curator, options)
    end
    fails("clip_rows", { data = { a = pn.data.from({ { 1, 2 } }, { 1 }) }, ledger = ledger })
    local fine = data:clip_rows("l2", 1)
    fails("must be a Lua identifier", { data = { ["a b"] = fine }, ledger = ledger })
    fails("a table of data sets", { data = { a = 3 }, ledger = ledger })
    fails("add_remove", { data = { a = fine },
      ledger = pn.ledger { epsilon = 1, delta = 1e-6, neighbours = "add_remove" } })
    fails("teaching", { data = { a = fine }, ledger = pn.ledger { epsilon = 1, delta = 1e-6, teaching = true } })
  end)
end)

describe("the records", function()
  it("are not shown by any field or method", function()
    all_refused {
      { "return data.adult.X", raw }, { "return data.adult.y", raw }, { "return data.adult:summary()", raw },
      { "return data.adult:clip_rows(pn.norm.minkowski(obj.set), 1)", "depends on the records" },
      { "pn.mechanism.laplace{epsilon=1, sensitivity=1}:release(1, {label=('x'):rep(101)})", "more than 100 bytes" },
      { "return data.adult.features", raw }, { "return data.adult:float32()", "whether it fails" },
      { "return obj:value(pn.vec.zeros(5))", raw }, { "return obj:gradient(pn.vec.zeros(5))", raw },
      { "return obj:hvp(pn.vec.zeros(5), pn.vec.ones(5))", raw }, { "return obj:losses(pn.vec.zeros(5))", raw },
      { "return obj:factors(pn.vec.zeros(5))", raw }, { "return obj:accuracy(pn.vec.zeros(5))", raw },
      { "return obj:differences(pn.vec.zeros(5), pn.mat{{1,0,0,0,0}}, 1)", raw },
      { "return obj:exact_curvature()", raw }, { "return obj.data.X", raw }, { "return plan().objective.data.y", raw },
      { "return train().plan.objective:value(pn.vec.zeros(5))", raw }, { "return pn.solve.exact(obj)", raw },
      { "return pn.stationarity(obj, pn.vec.zeros(5))", raw }, { "return pn.second_order_gap(obj, pn.vec.zeros(5))", raw },
      { "return pn.curvature(obj, pn.sampling.full{blocks=5})", raw },
      { "return train().value", raw }, { "return train():excess()", raw }, { "return train().gradients", raw },
      { "return train().seconds", "the records" }, { "return train():predict(data.adult)", "not released" },
      { "return train():predict(data.adult:take(1))", "not released" },
      { "return pn.sampler.fixed{n=400, batch=3}:draw()", raw },
      { "return pn.audit(print, {neighbours={1, 2}, trials=1})", "not available" },
      { "return pn.solve.objective_perturbation(obj, {epsilon=1, delta=1e-7})", "whether it fails" },
      { "return pn.solve.output_perturbation(obj, {epsilon=1, delta=1e-7})", "whether it fails" },
    }
  end)

  it("are not handed to functions of the script's", function()
    local why = "a function of yours"
    all_refused {
      { "pn.loss.black_box{value=function() return 1 end, lipschitz=1}", why },
      { "pn.loss.program{command={'cat'}, lipschitz=1}", "other processes" },
      { "pn.set.custom{dim=5, support=function(g) return g end, radius=1}", why },
      { "pn.potential.custom{value=print, gradient=print, inverse_gradient=print}", why },
      { "pn.prox.custom{prox=print}", why }, { "pn.sampling.custom{blocks=2, p={1,1}, draw=print}", why },
      { "plan():run{on_step=print}", "on_step is not available" },
      { "plan():run{progress=print}", "progress" },
      { "pn.solve.mirror_descent(obj, {rho=0.1, noise={oracle=function(x) return x end}})", "" },
    }
  end)

  it("train a network that is traced, and cannot reach a record by it", function()
    local data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 1 }:clip_rows("l2", 1)
    local c = pn.curator { data = { d = data }, ledger = pn.ledger { epsilon = 1, delta = 1e-6 } }
    local net = [[
      local net = pn.loss.margins{k=2, extra=3, labels={-1, 1}, f=function(z, w, y)
        return pn.softplus(-y * (w[1] * pn.tanh(z[1]) + w[2] * pn.tanh(z[2]) + w[3]))
      end}
      local obj = pn.objective{data=data.d, loss=net, clip=1} ]]
    local result = c:run(net .. "return #pn.solve.sgd(obj, {epsilon=0.5, delta=1e-7, iterations=3, batch=50, step=1}).theta", "a")
    assert.is_true(result.ok, result.error)
    assert.equal("9", result.answer)
    result = c:run(net .. "return obj:gradient(pn.vec.zeros(9))", "a")
    assert.is_false(result.ok)
    result = c:run("return pn.logsumexp{0, 0}", "a")
    assert.is_true(result.ok, result.error)
  end)

  it("are not told by errors that depend on them: the labels of a loss", function()
    local data = pn.data.from({ { 1 }, { 0.5 } }, { 0.25, 0.75 }):clip_rows("l2", 1):clip_labels(0, 1)
    local c = pn.curator { data = { d = data }, ledger = pn.ledger { epsilon = 1, delta = 1e-6 } }
    for _, loss in ipairs { "pn.loss.glm(function(z, y) return (z - y)^2 end, {labels={0.25, 0.75}})",
                            "pn.loss.glm(function(z, y) return (z - y)^2 end, {labels={0.25, 0.5}})",
                            "pn.loss.logistic()", "pn.loss.softmax{classes=2}" } do
      local result = c:run("pn.objective{data=data.d, loss=" .. loss .. "}", "a")
      assert.equal("EPRIVACY", result.status)
      assert.truthy(result.error:find("whether it takes them all depends on the records", 1, true), result.error)
    end
    assert.is_true(c:run("return pn.objective{data=data.d, loss=pn.loss.squared()}", "a").ok)
  end)

  it("are not told by the label bit of a part of the data", function()
    local data = pn.data.from({ { 1 }, { 0.5 } }, { 1, 0.5 }):clip_rows("l2", 1):clip_labels(-1, 1)
    local c = pn.curator { data = { d = data }, ledger = pn.ledger { epsilon = 1, delta = 1e-6 } }
    assert.is_nil(c:run("return data.d:take(1)", "a").answer:find "labels %-1 or 1")
  end)

  it("are not told by what objects print: no time, no value, no file's name", function()
    local text = answer(prelude .. "local f = train() return f, f.plan, obj, data.adult")
    assert.is_nil(text:find "steps in ")
    assert.truthy(text:find("adult: 400 x 5", 1, true))
    assert.equal("nil\tnil\tnil", answer(prelude ..
      "local row = train().trace[1] return row.value, row.gap, row.gradients"))
  end)
end)

describe("the budget", function()
  it("cannot be got around", function()
    all_refused {
      { "pn.solve.sgd(obj, {privacy=false})", "privacy = false" },
      { "pn.solve.sgd.plan(obj, {privacy=false})", "privacy = false" },
      { "plan():with{privacy=false, rho=nil}", "" },
      { "plan():run{ledger=budget}", "the curator's" }, { "pn.ledger{epsilon=1}", "the curator's" },
      { "pn.mechanism.gaussian{sigma=1, sensitivity=1}:release(1, {ledger=1})", "the curator's" },
      { "pn.tree{dim=1, horizon=4, sensitivity=1, rho=1, ledger=budget}", "the curator's" },
      { "pn.tree{dim=1, horizon=4, sensitivity=1, rho=1, path='x'}", "writes a file" },
      { "pn.rng.seeded(1)", "leave rng out" }, { "plan():run{rng=1}", "rng" },
      { "pn.curator{data={a=data.adult}, ledger=budget}", "the curator's" },
      { "budget.remaining = 7", "cannot be changed" }, { "return budget.spend", "has no 'spend'" },
      { "return budget:spend(pn.event.pure{epsilon=1})", "has no 'spend'" }, { "budget:close()", "has no 'close'" },
      { "return budget:spend(pn.event.curve{orders={2}, divergences={0}})", "has no 'spend'" },
      { "return budget.split", "has no 'split'" }, { "return budget.ledger", "has no 'ledger'" },
      { "setmetatable(budget, {})", "protected" }, { "setmetatable(data, {})", "protected" },
    }
  end)

  it("is not charged by looking, and is charged when a run is walked or its errors are caught", function()
    local c, ledger = curator()
    assert.is_true(c:run(prelude .. "plan() budget:price(plan()) return budget, budget.remaining, budget:covers(plan())", "a").ok)
    assert.equal(0, ledger.spent)
    local result = c:run(prelude .. "local w = plan():steps() w:step() error('x')", "a")
    assert.is_false(result.ok)
    assert.truthy(result.spent > 0)
  end)

  it("charges a tree when it is first pushed to", function()
    local c, ledger = curator()
    local result = c:run("local t = pn.tree{dim=1, horizon=4, sensitivity=1, rho=0.01} t:push{1} return t.paid, t.simulated", "a")
    assert.equal("true\tfalse", result.answer, result.error)
    assert.truthy(ledger.spent > 0)
  end)

  it("cannot be closed away from the host, nor can its data", function()
    local c, ledger = curator()
    assert.is_true(c:run("do local d <close> = data.adult end return 1", "a").ok)
    assert.is_true(c:run("return data.adult.n", "a").ok)
    assert.is_nil(ledger.ended)
  end)
end)

describe("the sandbox", function()
  law("has no way out of it: what is not there says why", function()
    local rows = {}
    for _, name in ipairs { "load", "loadstring", "loadfile", "dofile", "require", "package", "debug", "io", "os",
                            "collectgarbage", "utf8", "warn" } do
      rows[#rows + 1] = { "return " .. name, name .. " is not available to analysts: " }
      rows[#rows + 1] = { "return _G." .. name, name .. " is not available to analysts: " }
      rows[#rows + 1] = { "return _ENV['" .. name .. "']", name .. " is not available to analysts: " }
    end
    for _, name in ipairs { "dump", "gsub", "match", "gmatch", "pack", "unpack", "packsize" } do
      rows[#rows + 1] = { "return string." .. name .. "('a', 'b')", "is not available to analysts" }
      rows[#rows + 1] = { "return ('x'):" .. name .. "('b')", "is not available to analysts" }
    end
    for _, name in ipairs { "help", "check", "advise", "load", "audit", "ranks", "ledger", "curator" } do
      rows[#rows + 1] = { "return pn." .. name .. "()", "is not available to analysts" }
    end
    for _, name in ipairs { "libsvm", "csv", "npy" } do
      rows[#rows + 1] = { "return pn.data." .. name .. "('/etc/passwd')", "files" }
    end
    for _, code in ipairs { "pn.vec{1}:save('x')", "pn.mat{{1}}:save('x')",
                            "pn.tree{dim=1, horizon=2, sensitivity=1, rho=1}:save('x')", "pn.tree.resume('x')",
                            "pn.federated.keygen('x')" } do
      rows[#rows + 1] = { code, "it reads or writes files" }
    end
    rows[#rows + 1] = { "pn.federated.in_process{parties=2}", "other processes" }
    rows[#rows + 1] = { "pn.federated.server{}", "other processes" }
    rows[#rows + 1] = { "return string.format('%p', {})", "%p is not available" }
    rows[#rows + 1] = { "setmetatable({}, {__gc = print})", "__gc is not available" }
    all_refused(rows)
  end)

  it("hides metatables that lead elsewhere", function()
    assert.equal("false\tfalse\tfalse\tfalse\tfalse", answer [[
      return getmetatable(""), getmetatable(pn), getmetatable(pn.solve), getmetatable(data), getmetatable(budget)]])
    assert.equal("nil\tnil", answer [[
      local mt = getmetatable(data.adult) return rawget(mt, "__index"), rawget(mt, "__gc")]])
    assert.equal("nil", answer "return rawget(_G, 'load')")
    assert.equal("true", answer "return ('x').rep == string.rep")
  end)

  it("runs no code of an analyst with more than the sandbox has, whatever calls it", function()
    for _, code in ipairs {
      "return pn.trace(function(z) return load or z end)",
      "return pn.loss.glm(function(z, y) return io.open('x') end, {labels={-1,1}})",
      "return pn.vec{1}:map(function(z) return os.time() * z end)",
      "return pn.calibrate.noise{epsilon=1, delta=1e-6, event=function(s) return debug.getregistry() end}",
      "return tostring(setmetatable({}, {__tostring=function() return require 'os' end}))",
      "do local x <close> = setmetatable({}, {__close=function() io.write('x') end}) end",
      "table.sort({2, 1}, function() return os.exit() end)",
      "return coroutine.wrap(function() return dofile 'x' end)()",
      "return select(2, xpcall(error, function() return package.loaded end))()",
    } do
      assert.truthy(refusal(code):find("not available", 1, true) or refusal(code):find("attempt to call", 1, true), code)
    end
  end)

  it("shows no address", function()
    local text = answer [[
      local seen = {}
      for _, value in ipairs { {}, print, coroutine.create(print), pn, pn.set, pn.solve.sgd, data, data.adult, budget,
                               setmetatable({}, {__name="n"}), pn.vec,
                               setmetatable({}, {__name=("n"):rep(1000)}),
                               setmetatable({}, {__name="x: 0x1\n"}), pn.objective, string, pn.rng.secure() } do
        seen[#seen + 1] = tostring(value) .. string.format("%s", value)
      end
      local tries = { function() return pn[{}] end, function() return pn.vec{1}[print] end, function() return data[{}] end,
        function() return data.adult[{}] end, function() pn.set.l2_ball{dim={}} end, function() pn.set.l2_ball{[{}]=1} end,
        function() pn.rng.secure():split({}) end, function() return budget[{}] end, function() pn.solve.sgd({}, {}) end,
        function() error({}) end, function() error(print) end, function() return pn.vec{print} end,
        function() return pn.width(pn.set.l2_ball{dim=2, radius=1}, {progress={}}) end,
        function() return pn.clamp({}, print, {}) end, function() return pn.vec{1, 2}:norm({}) end }
      for _, f in ipairs(tries) do seen[#seen + 1] = tostring(select(2, pcall(f))) end
      return table.concat(seen, "\n")]]
    assert.is_nil(text:find "0x%x%x%x", text)
    assert.is_nil(text:find "builtin: %x")
  end)

  it("draws its random numbers from nothing of the process", function()
    assert.equal(answer "return math.random(1 << 40)", answer "return math.random(1 << 40)")
  end)

  it("bounds what is printed and answered", function()
    assert.truthy(refusal("while true do print(('x'):rep(1000)) end"):find("print: more than 65536 bytes", 1, true))
    assert.truthy(refusal("while true do print() end"):find("print: more than", 1, true))
    assert.truthy(refusal("return ('x'):rep(70000)"):find("more than 65536 bytes", 1, true))
    local _, result = refusal("error(('x'):rep(1000000))")
    assert.truthy(#result.error < 3000)
  end)
end)

describe("limits", function()
  -- A short script is answered after one that was stopped.  Opening its state is within its time, which may run out before the
  -- machine comes to it: that is no failure when as much has really passed, and is asked again.
  local function works(c, seconds)
    for _ = 1, 100 do
      local begun = clock()
      local result = c:run("return 1", "a")
      local passed = clock() - begun
      if result.ok then return end
      assert.equal("ELIMIT", result.status)
      assert.is_true(passed >= seconds, ("ended after %g of %g s"):format(passed, seconds))
    end
    error "a short script runs out of time again and again"
  end

  local function stopped(code, seconds)
    local c = curator { instructions = 1 << 50, seconds = seconds }
    local result = c:run(prelude .. code, "a")
    assert.is_false(result.ok, code)
    assert.equal("ELIMIT", result.status, code .. ": " .. result.error)
    works(c, seconds)
  end

  it("end loops, however they are hidden", function()
    for _, code in ipairs {
      "while true do end", "repeat until false", "for i = 1, math.huge do end", "::a:: goto a",
      "while true do pcall(function() while true do end end) end",
      "while true do pcall(error, 'x') end",
      "local function f() return f() end f()",
      "xpcall(function() while true do end end, function() while true do end end)",
      "coroutine.wrap(function() while true do end end)()",
      "while true do coroutine.wrap(function() for i = 1, 10 do end end)() end",
      "local co = coroutine.create(function() while true do end end) while true do coroutine.resume(co) end",
      "table.sort({3, 2, 1}, function() while true do end end)",
      "return setmetatable({}, {__index=function(t, k) return t[k + 1] end})[1]",
      "tostring(setmetatable({}, {__tostring=function() while true do end end}))",
      "return setmetatable({}, {__tostring=function() while true do end end})",
      "error(setmetatable({}, {__tostring=function() while true do end end}))",
      "do local x <close> = setmetatable({}, {__close=function() while true do end end}) end",
      "pn.trace(function(z) while true do end end)", "pn.vec{1}:map(function() while true do end end)",
      "pn.loss.glm(function(z, y) while true do end end, {labels={-1, 1}})",
      "pn.calibrate.noise{epsilon=1, delta=1e-6, event=function() while true do end end}",
      "for _ in pairs(setmetatable({}, {__pairs=function() while true do end end})) do end",
      "for _ in ipairs(setmetatable({}, {__index=type})) do end",
      "table.insert(setmetatable({}, {__len=function() return 1 << 60 end}), 1, 1)",
      "table.remove(setmetatable({}, {__len=function() return 1 << 60 end}), 1)",
    } do
      local c = curator { instructions = 2000000 }
      local result = c:run(code, "a")
      assert.is_false(result.ok, code)
      assert.truthy(result.status == "ELIMIT" or result.error:find("overflow", 1, true), code .. ": " .. result.error)
    end
  end)

  it("refuse what would run long in C", function()
    for _, code in ipairs {
      "return ('x'):rep(1 << 60)", "return (''):rep(1 << 60) .. 'x' .. nil", "return ('x'):rep(1 << 40, 'y')",
      "return table.concat(setmetatable({}, {__index=type}), '', 1, 1 << 60)",
      "return table.concat({}, 'x', 1, 1 << 60)",
      "return table.unpack({}, 1, 1 << 30)", "table.move(setmetatable({}, {__index=type}), 1, 1 << 60, 2)",
      "table.sort(setmetatable({}, {__len=function() return 1 << 30 end, __index=type})) error 'sorted nothing'",
      "return string.format('%99999d', 1)",
      "return ('a'):rep(1000000):find(('a'):rep(500000) .. 'b')",
      "return ('x'):rep(100000):match(('.-'):rep(20) .. 'y')",
      "return ('x'):rep(100000):gsub('(.-)*', print)",
      "return string.char(table.unpack(setmetatable({}, {__index=function() return 65 end}), 1, 1 << 20))",
    } do
      refusal(code, { instructions = 2000000 })
    end
  end)

  it("end recursion without end", function()
    for _, code in ipairs { "local function f() return 1 + f() end f()", "local function f() pcall(f) error 'x' end f()",
                            "local function f(x) return tostring(setmetatable({}, {__tostring=f})) end f()",
                            "local function f() return coroutine.wrap(f)() end f()",
                            "local t = {} t = setmetatable(t, {__index=function(s, k) return s[k] end}) return t.x",
                            "local s = ('('):rep(100000) return pn.trace(function(z) return s + z end)" } do
      refusal(code, { instructions = 5000000 })
    end
  end)

  it("end memory, of Lua and of the runtime alike, and leave the curator usable", function()
    local c = curator { memory = 24 }
    for _, code in ipairs { "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end",
                            "local s = 'x' while true do s = s .. s end", "return pn.vec.zeros(1 << 40)",
                            "local t = {} while true do t[#t + 1] = pn.vec.zeros(100000) end",
                            "return pn.mat.zeros(1 << 20, 1 << 20)", "return pn.rng.secure():permutation(1 << 30)",
                            "local t = {} while true do t[#t + 1] = data.adult:take(400) end" } do
      local result = c:run(code, "a")
      assert.is_false(result.ok, code)
      assert.truthy(result.status == "ENOMEM" or result.error:find("memory", 1, true), code .. ": " .. result.error)
    end
    assert.equal("1", c:run("return 1", "a").answer)
  end)

  it("end time", function()
    stopped("while true do end", 0.2)
    stopped("while true do pn.vec.zeros(1000):sum() end", 0.2)
    stopped("pn.width(pn.set.birkhoff{n=40}, {method='monte_carlo', draws=1 << 40})", 0.3)
    stopped("pn.solve.sgd(obj, {rho=0.01, iterations=100000000, batch=400}) while true do end", 0.3)
  end)
end)

-- ---- the table is the sandbox ----

-- Makes one object of each class that analysts can come by, by the class's name.
local objects = [[
local plan, fit = plan(), train()
local walk = plan:steps()
local gaussian, release = pn.mechanism.gaussian{sigma=10, sensitivity=1}
_, release = gaussian:release(1)
local sparse = pn.mechanism.sparse_vector{epsilon=0.1, sensitivity=1, threshold=1}
local ask = pn.oracle{objective=obj}
local z
pn.trace(function(t) z = t return t end)
local objects = {
  ["pn.dataset"] = data.adult, ["pn.objective"] = obj, ["pn.plan"] = plan, ["pn.fit"] = fit, ["pn.receipt"] = fit:receipt(),
  ["pn.walk"] = walk,
  ["pn.vec"] = pn.vec{1, 2}, ["pn.mat"] = pn.mat{{1, 2}}, ["pn.set"] = obj.set, ["pn.event"] = gaussian.event,
  ["pn.sparse"] = pn.sparse{rows=1, cols=1, i={1}, j={1}, x={1}}, ["pn.accountant"] = pn.accountant.zcdp{},
  ["pn.mechanism"] = gaussian, ["pn.release"] = release, ["pn.sparse_run"] = sparse:open{}, ["pn.rng"] = pn.rng.secure(),
  ["pn.sampler"] = pn.sampler.fixed{n=4, batch=2}, ["pn.tree"] = pn.tree{dim=1, horizon=2, sensitivity=1, rho=0.01},
  ["pn.loss"] = obj.loss, ["pn.reg"] = pn.reg.l2(1), ["pn.norm"] = pn.norm.l2(), ["pn.prox"] = pn.prox.l1(1),
  ["pn.potential"] = pn.potential.euclidean{}, ["pn.expression"] = pn.trace(function(t) return t end), ["pn.symbol"] = z,
  ["pn.block_sampling"] = pn.sampling.full{blocks=2},
  ["pn.fingerprint"] = pn.data.synthetic.fingerprint{m=3},
  ["pn.sums"] = ask:prefix{horizon=2, rho=0.001}, ["pn.watch"] = ask:watch{threshold=0, rho=0.001},
  ["pn.oracle"] = ask, ["pn.solver"] = pn.solver{name="own", step=function() end},
  ["pn.recipe"] = pn.recipe{features={age={17, 90}}},
}
]]

local function is_safe(entry)
  return entry.reveals ~= "raw" and not entry.touches
end

local slow = { ["accountant.selftest"] = true }

describe("the table of what functions reveal", function()
  it("is what analysts get of the libraries: every function, refused or not", function()
    local lines, rows = { "local refused = {}" }, 0
    for name, entry in pairs(pn.reference()) do
      if entry.kind == "function" and not name:find "^pn%." and name ~= "version" and not slow[name] then
        rows = rows + 1
        lines[#lines + 1] = ("do local ok, f = pcall(function() return pn.%s end) if ok then ok, f = pcall(f) end " ..
          "refused[%q] = not ok and tostring(f):find('is not available', 1, true) ~= nil end"):format(name, name)
      end
    end
    lines[#lines + 1] = "for name, yes in pairs(refused) do print(name, yes) end"
    assert.truthy(rows > 200)
    local result = curator { epsilon = 100 }:run(table.concat(lines, "\n"), "a")
    assert.is_true(result.ok, result.error)
    local wrong, seen = {}, 0
    for name, yes in result.output:gmatch "(%S+)\t(%S+)\n" do
      seen = seen + 1
      local entry = pn.reference()[name]
      if is_safe(entry) == (yes == "true") then wrong[#wrong + 1] = name end
    end
    assert.equal(rows, seen)
    assert.same({}, wrong)
  end)

  it("says of the parts of the Lua half why analysts do not get them", function()
    local c = curator { epsilon = 100 }
    for _, part in ipairs(require "penumbra.parts") do
      local call = part.functions and part[1] .. "." .. part.functions[1] or part[1]
      local result = c:run(("pn.%s(1)"):format(call), "a")
      assert.equal("EPRIVACY", result.status)
      assert.matches("^a:1: pn%." .. part[1] .. " is not available to analysts: it loads a module", result.error)
      local row = pn.reference()[call]
      assert.is_true(row.reveals == "raw" or row.touches ~= nil, call)
    end
    assert.matches("pn.solve.sgd.plan(obj, {rho = 1}).predicted", c:run("pn.advise()", "a").error, 1, true)
  end)

  it("is what analysts get of the objects: every field and method, refused or not", function()
    local lines, rows, without = { prelude, objects, "local refused = {}" }, 0, {}
    for name, entry in pairs(pn.reference()) do
      local class, _, member = name:match "^(pn%.[%w_]+)([.:])([%w_]+)$"
      if class and objects:find('["' .. class .. '"]', 1, true) and (entry.kind == "field" or entry.kind == "method") then
        rows = rows + 1
        lines[#lines + 1] = ("do local o = objects[%q] local ok, x = pcall(function() return o.%s end) "):format(class, member) ..
          (entry.kind == "method" and "if ok then ok, x = pcall(x, o) end " or "") ..
          ("refused[%q] = not ok and tostring(x):find(%q, 1, true) ~= nil end"):format(name, name .. " is not available")
      elseif class and entry.kind ~= "class" and not objects:find('["' .. class .. '"]', 1, true) then
        without[class] = true
      end
    end
    lines[#lines + 1] = "for name, yes in pairs(refused) do print(name, yes) end"
    assert.truthy(rows > 200)
    local result = curator { epsilon = 100 }:run(table.concat(lines, "\n"), "a")
    assert.is_true(result.ok, result.error)
    local wrong, seen = {}, 0
    for name, yes in result.output:gmatch "(%S+)\t(%S+)\n" do
      seen = seen + 1
      if is_safe(pn.reference()[name]) == (yes == "true") then wrong[#wrong + 1] = name end
    end
    assert.equal(rows, seen)
    assert.same({}, wrong)
    -- The rest has no constructor there, or is of the budget, which the sandbox keeps to itself.
    local names = {}
    for class in pairs(without) do
      names[#names + 1] = class
    end
    table.sort(names)
    assert.same({ "pn.audit_result", "pn.books", "pn.curator", "pn.function", "pn.ledger", "pn.levels", "pn.npy", "pn.party",
                  "pn.ranks", "pn.saved_plan", "pn.selftest", "pn.stationarity", "pn.transport" }, names)
  end)

  it("is all that can be reached from the globals, beside Lua's own functions", function()
    local result = curator { epsilon = 100 }:run([[
      local seen, found = {}, {}
      local function walk(value, path)
        if (type(value) ~= "table" and type(value) ~= "function" and type(value) ~= "userdata") or seen[value] then return end
        seen[value] = true
        if type(value) ~= "table" then print(type(value), path) return end
        if path == "" and value ~= _G then error "globals" end
        for key, inner in next, value do
          walk(key, path .. "<key>")
          if type(key) == "string" then
            walk(inner, path == "" and key or path .. "." .. key)
          else
            walk(inner, path .. "<" .. tostring(key) .. ">")
          end
        end
        local metatable = getmetatable(value)
        if metatable then walk(metatable, path .. "<metatable>") end
      end
      walk(_G, "")
      walk(getmetatable(data.adult), "data.adult<metatable>")
      for name in pairs(data) do walk(data[name], "data." .. name) end
    ]], "a")
    assert.is_true(result.ok, result.error)
    local known = {}
    for name in ([[assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select tonumber type xpcall
      setmetatable tostring print string.byte string.lower string.len string.reverse string.sub string.upper string.char
      string.rep string.format string.find string.gmatch string.gsub string.match string.dump string.pack string.packsize
      string.unpack table.insert table.remove table.move table.pack table.concat table.sort table.unpack coroutine.close
      coroutine.create coroutine.isyieldable coroutine.resume coroutine.running coroutine.status coroutine.wrap
      coroutine.yield]]):gmatch "%S+" do
      known[name] = true
    end
    local odd, count = {}, 0
    for kind, path in result.output:gmatch "(%S+)\t(%S+)\n" do
      count = count + 1
      local fine = kind == "function" and (known[path] or path:find "^math%.[%w]+$" or
        path:find "^pn%." and pn.reference()[path:sub(4)]) or kind == "userdata" and path == "data.adult"
      if not fine then odd[#odd + 1] = kind .. " " .. path end
    end
    assert.same({}, odd)
    assert.truthy(count > 200)
  end)
end)
