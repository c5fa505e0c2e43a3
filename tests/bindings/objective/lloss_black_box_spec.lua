-- lloss_black_box_spec.lua -- losses of which only values are known: Lua functions that raise, close things, yield, call objectives
-- and are stopped, and other programs.  Depends on: sh, awk.
local pn = require "penumbra"
local program = require "tests.tools.program"
local refusals = require "tests.tools.refusal"
local refused, refusal = refusals.refused, refusals.refusal

describe("a black box", function()
  local X, y = { { 1, 2 }, { 3, -4 }, { 0.5, 0 } }, { 1, -1, 0.5 }
  local data = pn.data.from(X, y)
  local sparse = pn.data.from(pn.sparse { rows = 3, cols = 2, i = { 1, 1, 2, 2, 3 }, j = { 1, 2, 1, 2, 1 }, x = { 1,
    2, 3, -4, 0.5 } }, y)

  local function objective_of(value, from, lipschitz)
    return pn.objective { data = from or data, loss = pn.loss.black_box { value = value, lipschitz = lipschitz } }
  end
  local function square(theta, x, label) return (theta:dot(x) - label) ^ 2 / 2 end

  it("is the mean of what the function gives for every record, however they are stored", function()
    local theta = pn.vec { 0.25, -0.5 }
    local mean = pn.objective { data = data, loss = pn.loss.squared() }
    local U = pn.mat { { 1, 0 }, { 0.5, 2 } }
    for _, from in ipairs { data, sparse, data:float32(), sparse:float32() } do
      local objective = objective_of(square, from)
      assert.is_near(mean:value(theta), objective:value(theta), 1e-15)
      assert.is_near(mean:value(theta, { 3, 1, 3 }), objective:value(theta, { 3, 1, 3 }), 1e-15)
      assert.is_near(mean:value(theta, { rows = { 2 }, denominator = 5 }), objective:value(theta, { rows = { 2 },
        denominator = 5 }), 1e-15)
      assert.is_true((mean:losses(theta) - objective:losses(theta)):norm() < 1e-14)
      assert.is_true((mean:differences(theta, U, 0.1) - objective:differences(theta, U, 0.1)):norm() < 1e-12)
      assert.is_true((mean:differences(theta, U, 0.1, { 2, 2 }) - objective:differences(theta, U, 0.1, { 2, 2 })):norm() < 1e-12)
    end
  end)

  it("adds a regulariser to its value", function()
    local objective = pn.objective { data = data, loss = pn.loss.black_box { value = square }, reg = pn.reg.l2(2) }
    assert.is_near(objective_of(square):value { 1, 2 } + 5, objective:value { 1, 2 }, 1e-15)
  end)

  it("says what it cannot give", function()
    local objective = objective_of(square)
    assert.error_matches(function() objective:gradient { 0, 0 } end, "a black box has values, but no gradient")
    assert.error_matches(function() objective:hvp({ 0, 0 }, { 1, 1 }) end, "no Hessian")
    assert.error_matches(function() objective:factors { 0, 0 } end, "no factors")
    assert.error_matches(function() objective:accuracy { 0, 0 } end, "a black box has no margins")
    assert.error_matches(function() objective.loss:evaluate({ 0 }, { 1 }) end, "takes theta and a record")
    assert.error_matches(function() objective.loss:range() end, "the loss is a black box")
    assert.error_matches(function() pn.objective { data = data, loss = objective.loss, clip = 1 } end, "declare its lipschitz=")
    assert.is_false(objective.loss.convex)
    assert.is_nil(objective.loss.formula)
    assert.equal(0, objective.loss.margins)
    assert.is_nil(objective.bounds.source)
    assert.truthy(objective.bounds.missing:find("declare lipschitz=", 1, true))
    assert.truthy(tostring(objective):find("not certified", 1, true))
  end)

  it("has the bound that is declared", function()
    local bounds = objective_of(square, data, 2.5).bounds
    assert.equal("declared", bounds.source)
    assert.equal(2.5, bounds.lipschitz.l2)
    assert.equal(math.huge, bounds.lipschitz.l1)
  end)

  it("reveals records to its function, and says so", function()
    assert.equal("raw", pn.reference()["loss.black_box"].reveals)
  end)

  it("wants a function and a positive constant", function()
    assert.error_matches(function() pn.loss.black_box {} end, "value must be a function")
    assert.error_matches(function() pn.loss.black_box() end, "value must be a function")
    assert.error_matches(function() pn.loss.black_box { value = 3 } end, "value must be a function.*got 3")
    for _, bad in ipairs { 0, -1, 0 / 0, math.huge } do
      assert.error_matches(function() pn.loss.black_box { value = square, lipschitz = bad } end, "lipschitz must be")
    end
    assert.error_matches(function() pn.loss.black_box { value = square, lipshitz = 1 } end, "unknown option 'lipshitz'")
  end)

  it("hands the caller the very error that its function raised, and works afterwards", function()
    local mine, calls, broken = { "mine" }, 0, true
    local objective = objective_of(function(theta, x, label)
      calls = calls + 1
      if broken and calls == 2 then error(mine) end
      return square(theta, x, label)
    end)
    for _, call in ipairs {
      function() return objective:value { 0, 0 } end, function() return objective:losses { 0, 0 } end,
      function() return objective:differences({ 0, 0 }, pn.mat { { 1, 1 } }, 1) end,
    } do
      calls = 0
      local ok, problem = pcall(call)
      assert.is_false(ok)
      assert.equal(mine, problem)
      assert.equal(2, calls)
    end
    broken = false
    assert.is_near((1 + 1 + 0.25) / 6, objective:value { 0, 0 }, 1e-15)
  end)

  it("wants a finite number back", function()
    local function message(value) return select(2,
      pcall(function() objective_of(function() return value end):value { 0, 0 } end)) end
    for _, bad in ipairs { 0 / 0, math.huge, -math.huge } do
      assert.truthy(message(bad):find("must return a finite number", 1, true), message(bad))
    end
    assert.truthy(message(nil):find("must return a number, got nil", 1, true))
    assert.truthy(message("3"):find("must return a number, got the string \"3\"", 1, true))
    assert.truthy(message({}):find("must return a number, got a table", 1, true))
    assert.equal(3, objective_of(function() return 3 end):value { 0, 0 })
  end)

  it("gives copies: what the function does to them changes nothing", function()
    local theta = pn.vec { 1, 1 }
    local kept = {}
    local objective = objective_of(function(t, x)
      kept[#kept + 1] = x
      t[1], x[1] = 99, 99
      return 0
    end)
    objective:value(theta)
    assert.is_true(theta == pn.vec { 1, 1 })
    assert.equal(1, data.X:get(1, 1))
    collectgarbage()
    assert.equal(-4, kept[2][2])
  end)

  it("survives a function that closes everything in sight", function()
    local theta, U = pn.vec { 1, 1 }, pn.mat { { 1, 0 } }
    local own = pn.data.from(X, y)
    local loss, objective
    loss = pn.loss.black_box { value = function(t, x, label)
      for _, thing in ipairs { theta, U, own, objective, loss, t, x } do
        local _ <close> = thing
      end
      collectgarbage()
      return label
    end }
    objective = pn.objective { data = own, loss = loss }
    assert.is_near(0.5 / 3, objective:value(theta), 1e-15)
    assert.equal(3, #objective:losses(theta))
    U = pn.mat { { 1, 0 } } -- the last one was closed: no call was using it
    assert.equal(0, objective:differences(theta, U, 1)[1])
    assert.equal(1, U:get(1, 1)) -- in use by the call, so it was not closed under it
    assert.is_near(0.5 / 3, objective:value(theta), 1e-15)
  end)

  it("survives a function that drops everything in sight", function()
    local own = { }
    own.objective = objective_of(function(_, x)
      own = {}
      collectgarbage()
      collectgarbage()
      return x[1]
    end, pn.data.from(X, y))
    assert.is_near(1.5, own.objective:value(pn.vec { 1, 1 }), 1e-15)
  end)

  it("may call objectives, its own too, from inside", function()
    local plain, depth = pn.objective { data = data, loss = pn.loss.squared() }, 0
    local objective
    objective = objective_of(function(theta, x, label)
      depth = depth + 1
      local inner = depth <= 2 and objective:value(theta) or 0
      depth = depth - 1
      return square(theta, x, label) + 0 * (inner + plain:value(theta) + plain:gradient(theta)[1])
    end)
    assert.is_near(plain:value { 1, 2 }, objective:value { 1, 2 }, 1e-14)
  end)

  it("hands on an error through nested calls", function()
    local mine, objective = {}, nil
    local depth = 0
    objective = objective_of(function(theta)
      depth = depth + 1
      if depth == 3 then error(mine) end
      return objective:value(theta)
    end)
    local ok, problem = pcall(objective.value, objective, { 0, 0 })
    assert.is_false(ok)
    assert.equal(mine, problem)
  end)

  it("stops a function that calls itself without end", function()
    local objective
    objective = objective_of(function(theta) return objective:value(theta) end)
    local ok, problem = pcall(objective.value, objective, { 0, 0 })
    assert.is_false(ok)
    assert.truthy(tostring(problem):find("overflow", 1, true), tostring(problem))
  end)

  it("runs in a coroutine, which it cannot yield across", function()
    local objective = objective_of(square)
    local run = coroutine.wrap(function()
      coroutine.yield(1)
      return objective:value { 1, 2 }
    end)
    run()
    assert.is_near(objective:value { 1, 2 }, run(), 1e-15)
    local yielding = objective_of(function() coroutine.yield() return 1 end)
    local ok, problem = coroutine.resume(coroutine.create(function() return yielding:value { 1, 2 } end))
    assert.is_false(ok)
    assert.truthy(tostring(problem):find("yield", 1, true))
    assert.equal(1, objective_of(function()
      return coroutine.wrap(function() coroutine.yield(0) return 1 end)() + 1
    end):value { 0, 0 })
  end)

  it("is collected with a function that mentions its own objective", function()
    local gone = setmetatable({}, { __mode = "v" })
    do
      local objective
      local function value() return objective and 1 or 2 end
      objective = objective_of(value)
      assert.equal(1, objective:value { 0, 0 })
      gone[1], gone[2] = objective, value
    end
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(gone[1])
    assert.is_nil(gone[2])
  end)

  it("may be made in a coroutine that is gone", function()
    local loss = coroutine.wrap(function() return pn.loss.black_box { value = square } end)()
    collectgarbage()
    collectgarbage()
    assert.is_near(objective_of(square):value { 1, 2 }, pn.objective { data = data, loss = loss }:value { 1, 2 }, 0)
  end)

  it("stops at Ctrl-C, between records and in a function that does not end", function()
    -- the function sends the signal itself, so that nothing depends on time
    for _, ending in ipairs { "return 1", "for _ = 1, 3e9 do end return 1", "for _ = 1, 1e8 do pcall(error) end return 1" } do
      local script = [[
        local calls = 0
        local function value()
          calls = calls + 1
          if calls ~= 2 then return 1 end
          io.popen("kill -INT $PPID"):close()
          ]] .. ending .. [[
        end
        local data = pn.data.from({ { 1 }, { 2 }, { 3 } }, { 1, 1, 1 })
        local objective = pn.objective { data = data, loss = pn.loss.black_box { value = value } }
        print(pcall(objective.value, objective, { 0 }))
        print(calls, objective:value { 0 })
      ]]
      local out, _, code = program.run { "-e", script }
      assert.equal(0, code)
      assert.matches("^false\t.*stopped by the user\n2\t1.0\n$", out)
    end
  end)
end)

describe("the arguments of a black box", function()
  local X, y = { { 1, 2 }, { 3, -4 }, { 0.5, 0 } }, { 1, -1, 0.5 }
  local data = pn.data.from(X, y)
  local function objective_of(options) return pn.objective { data = data, loss = pn.loss.black_box(options) } end
  local function square(theta, x, label) return (theta:dot(x) - label) ^ 2 / 2 end
  local function squares(thetas, x, label)
    local r = thetas * x - label
    return r * r / 2
  end

  it("end with the record's position, in batches too", function()
    local seen = {}
    local objective = objective_of { value = function(_, x, label, row)
      seen[#seen + 1] = row
      assert.equal("integer", math.type(row))
      assert.equal(X[row][1], x[1])
      assert.equal(y[row], label)
      return 0
    end }
    objective:value { 0, 0 }
    objective:value({ 0, 0 }, { 3, 1, 3 })
    assert.same({ 1, 2, 3, 3, 1, 3 }, seen)
  end)

  it("hold all points of a record at once in the form `values`", function()
    local calls, heights = {}, {}
    local objective = objective_of { values = function(thetas, x, label, row)
      calls[#calls + 1], heights[#heights + 1] = row, thetas.rows
      return squares(thetas, x, label)
    end }
    local single = objective_of { value = square }
    local U = pn.mat { { 1, 0 }, { 0.5, 2 }, { -1, 1 } }
    local theta = pn.vec { 0.25, -0.5 }
    assert.is_true((objective:differences(theta, U, 0.5) - single:differences(theta, U, 0.5)):norm() < 1e-14)
    assert.same({ 1, 2, 3 }, calls)
    assert.same({ 6, 6, 6 }, heights)
    assert.is_near(single:value(theta), objective:value(theta), 1e-15)
    assert.equal(1, heights[4])
    assert.is_true((objective:losses(theta) - single:losses(theta)):norm() < 1e-15)
  end)

  it("are copies in the form `values`, too", function()
    local kept = {}
    local objective = objective_of { values = function(thetas, x)
      kept[#kept + 1] = { thetas, x }
      local _ <close> = thetas
      x[1] = 99
      return { 1 }
    end }
    assert.equal(1, objective:value { 1, 1 })
    collectgarbage()
    assert.equal(1, data.X:get(1, 1))
    assert.equal(-4, kept[2][2][2])
  end)

  it("have a theta of another length when dim says so", function()
    local hidden = 3 -- f(x) = sum_k w_k max(0, <u_k, x>): a network of 2 layers, of 3 * 2 + 3 weights
    local function net(theta, x, label)
      local out = 0
      for k = 0, hidden - 1 do out = out + theta[7 + k] * math.max(0, theta[2 * k + 1] * x[1] + theta[2 * k + 2] * x[2]) end
      return math.abs(out - label)
    end
    local objective = objective_of { value = net, dim = 9 }
    local theta = pn.vec { 1, 0, 0, 1, -1, -1, 1, 2, 3 }
    assert.is_near((math.abs(5 - 1) + math.abs(6 + 1) + math.abs(0.5 - 0.5)) / 3, objective:value(theta), 1e-15)
    assert.equal(2, #objective:differences(theta, pn.mat { { 1, 0, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, 0, 0, 1 } }, 0.1))
    assert.error_matches(function() objective:value { 1, 2 } end, "9")
    assert.error_matches(function()
      return pn.objective { data = data, loss = objective.loss, set = pn.set.l2_ball { dim = 2, radius = 1 } }
    end, "the loss says dim = 9")
    for _, bad in ipairs { 0, -1, 1.5, "9", true } do
      assert.error_matches(function() return pn.loss.black_box { value = net, dim = bad } end, "dim")
    end
  end)
end)

describe("what a black box gives back", function()
  local data = pn.data.from({ { 1, 2 }, { 3, -4 }, { 0.5, 0 } }, { 1, -1, 0.5 })
  local function objective_of(options) return pn.objective { data = data, loss = pn.loss.black_box(options) } end

  it("is one number a point, as a vector or a table", function()
    local U = pn.mat { { 1, 0 }, { 0, 1 } }
    local function message(result)
      local objective = objective_of { values = function() return result end }
      return select(2, pcall(objective.differences, objective, { 0, 0 }, U, 1))
    end
    local function has(text, result) assert.truthy(message(result):find(text, 1, true), message(result)) end
    has("loss.black_box: values must return a vector of 4 numbers, got nil", nil)
    has("values must return a vector of 4 numbers, got 3", 3)
    has("values must return a vector of 4 numbers, got 5 of them", pn.vec { 1, 2, 3, 4, 5 })
    has("values must return a vector of 4 numbers, got 3 of them", { 1, 2, 3 })
    has("values must return a vector of 4 numbers, got the string \"x\" at entry 2", { 1, "x", 2, 3 })
    has("must return a vector of 4 numbers, got a pn.mat", pn.mat { { 1, 2, 3, 4 } })
    has("must return a finite number, got inf", { 1, 2, math.huge, 4 })
    has("must return a finite number, got nan", { 1, 2, 3, -(0 / 0) })
    assert.is_true(message { 3, 1, 1, 1 } == pn.vec { 1, 0 })
  end)

  it("is the function's own error when it raises", function()
    local mine = { "mine" }
    local objective = objective_of { values = function() error(mine) end }
    local ok, problem = pcall(objective.value, objective, { 0, 0 })
    assert.is_false(ok)
    assert.equal(mine, problem)
  end)

  it("comes from exactly one function", function()
    local function f() return 0 end
    assert.error_matches(function() pn.loss.black_box { value = f, values = f } end, "give value or values, not both")
    assert.error_matches(function() pn.loss.black_box { lipschitz = 1 } end, "got neither")
    assert.error_matches(function() pn.loss.black_box { values = 3 } end, "values must be a function, got 3")
    assert.error_matches(function() pn.loss.black_box { value = "f" } end, "value must be a function, got the string")
  end)

  it("is called by the name that it was given", function()
    local function f() return 0 end
    assert.equal("my net", pn.loss.black_box { value = f, name = "my net" }.name)
    assert.equal("black_box", pn.loss.black_box { value = f }.name)
    assert.error_matches(function() pn.loss.black_box { value = f, name = "" } end, "name")
    assert.error_matches(function() pn.loss.black_box { value = f, name = {} } end, "loss.black_box: name must be a string")
  end)
end)

describe("a program as a loss", function()
  local X, y = { { 1, 2 }, { 3, -4 }, { 0.5, 0 } }, { 1, -1, 0.5 }
  local data = pn.data.from(X, y)
  local theta = pn.vec { 0.25, -0.5 }
  -- |<theta, x> - y| + row, and a little server around other answers
  local ABSOLUTE = [[{ split($0, part, "|"); p = split(part[1], t, " "); split(part[2], x, " "); s = -part[3];
    for (j = 1; j <= p; j++) s += t[j] * x[j]; printf "%.17g\n", (s < 0 ? -s : s) + part[4]; fflush() }]]
  local function awk(body) return { "awk", "-W", "interactive", 'NR == 1 { print "ready"; fflush(); next } ' .. body } end
  local function shell(body) return { "sh", "-c", "read -r hello; echo ready; while read -r line; do " .. body .. "; done" } end
  local function objective_of(command, options)
    options = options or {}
    options.command = command
    return pn.objective { data = data, loss = pn.loss.program(options) }
  end
  local function message(command, options)
    local objective = objective_of(command, options)
    return refusal(objective.value, objective, theta)
  end
  local function has(text, ...)
    local problem = message(...)
    assert.truthy(problem:find(text, 1, true), problem)
  end

  it("gives what the same loss in Lua gives", function()
    local function absolute(t, x, label, row) return math.abs(t:dot(x) - label) + row end
    local program_, lua = objective_of(awk(ABSOLUTE)), pn.objective { data = data, loss = pn.loss.black_box { value = absolute } }
    local U = pn.mat { { 1, 0 }, { 0.5, 2 }, { -1, 1 } }
    for _ = 1, 3 do
      assert.is_near(lua:value(theta), program_:value(theta), 1e-15)
      assert.is_near(lua:value(theta, { 3, 1, 3 }), program_:value(theta, { 3, 1, 3 }), 1e-15)
      assert.is_true((lua:losses(theta) - program_:losses(theta)):norm() < 1e-15)
      assert.is_true((lua:differences(theta, U, 0.25) - program_:differences(theta, U, 0.25)):norm() < 1e-13)
    end
  end)

  it("is a black box to plans and print-outs", function()
    local loss = pn.loss.program { command = { "true" }, lipschitz = 2, dim = 7, name = "sim" }
    assert.equal("sim", loss.name)
    assert.equal("program", pn.loss.program { command = { "true" } }.name)
    assert.equal(0, loss.margins)
    assert.is_nil(loss.formula)
    assert.truthy(tostring(loss):find("another program computes", 1, true))
    local objective = pn.objective { data = data, loss = loss }
    assert.equal(2, objective.bounds.lipschitz.l2)
    assert.equal("raw", pn.reference()["loss.program"].reveals)
    assert.error_matches(function() objective:gradient(pn.vec { 1, 2, 3, 4, 5, 6, 7 }) end, "has values, but no gradient")
  end)

  it("wants a list of words and sensible numbers", function()
    local function no_program(text, options)
      refused(text, pn.loss.program, options)
    end
    no_program("loss.program: command must be a list of words", nil)
    no_program("got nothing", {})
    no_program("got the string \"true\"", { command = "true" })
    no_program("got an empty table", { command = {} })
    no_program("got 1 as word 2", { command = { "true", 1 } })
    no_program("got an empty string as word 1", { command = { "" } })
    no_program("got a zero byte as word 2", { command = { "echo", "a\0b" } })
    for _, bad in ipairs { 0, -1, 0 / 0, math.huge } do
      no_program("timeout must be", { command = { "true" }, timeout = bad })
      no_program("lipschitz must be", { command = { "true" }, lipschitz = bad })
    end
    no_program("unknown option 'time_out'", { command = { "true" }, time_out = 1 })
    no_program("loss.program: name must be a string", { command = { "true" }, name = 3 })
  end)

  it("says what went wrong, and with which program", function()
    has("loss.program: ./no such program: cannot be started: No such file or directory", { "./no such program" })
    has("loss.program: false: it ended with exit code 1 before the first question", { "false" })
    has("loss.program: cat: answered \"penumbra 1 2 2\", expected the line \"ready\"", { "cat" })
    has("sh: it ended with exit code 9 after 0 of 1 answers", shell "exit 9")
    has("sh: it was ended by signal 9 after 0 of 1 answers", shell "kill -KILL $$")
    has("sh: answered \"no idea\", expected a number", shell "echo no idea")
    has("sh: did not answer within 0.1 s (timeout=)", shell "sleep 60", { timeout = 0.1 })
    has("loss.program: the function must return a finite number, got inf", shell "echo inf")
    has("loss.program: the function must return a finite number, got nan", shell "echo nan")
  end)

  it("can be asked again after it has failed", function()
    local objective = objective_of(awk '{ if ($1 > 1) exit 3; print 5; fflush() }')
    assert.equal(5, objective:value { 0, 0 })
    assert.error_matches(function() objective:value { 2, 0 } end, "exit code 3")
    assert.equal(5, objective:value { 0, 0 })
  end)

  it("ends when its loss is closed or collected", function()
    local path = os.tmpname()
    local function started()
      local objective = objective_of(shell('echo $$ > ' .. path .. '; echo 1'))
      assert.equal(1, objective:value(theta))
      local file <close> = assert(io.open(path))
      return objective, file:read "l"
    end
    local function runs(pid) return (os.execute("kill -0 " .. pid .. " 2>/dev/null")) or false end
    do
      local objective, pid = started()
      assert.is_true(runs(pid))
      assert.equal(1, objective:value(theta))
    end
    local pid = select(2, started()) -- the same file; the one before may be collected by now
    collectgarbage()
    collectgarbage()
    assert.is_false(runs(pid))
    os.remove(path)
  end)

  it("stops at Ctrl-C while it is waited for, and can be asked again", function()
    -- the program sends the signal itself, so that nothing depends on time
    local out, _, code = program.run { "-e", [[
      local data = pn.data.from({ { 1 }, { 2 } }, { 1, 1 })
      local body = "case $line in 0*) kill -INT $PPID; sleep 100;; esac; echo 1"
      body = "read -r hello; echo ready; while read -r line; do " .. body .. "; done"
      local objective = pn.objective { data = data, loss = pn.loss.program { command = { "sh", "-c", body }, timeout = 90 } }
      print(pcall(objective.value, objective, { 0 }))
      print(objective:value { 5 })
    ]] }
    assert.equal(0, code)
    assert.matches("^false\t.*stopped by the user\n1.0\n$", out)
  end)
end)
