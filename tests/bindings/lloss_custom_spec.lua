-- lloss_custom_spec.lua -- losses made of a user's function: what pn.loss.glm refuses and how, and black boxes that raise, close
-- things, yield, call objectives and are stopped.
local pn = require "penumbra"
local program = require "tests.tools.program"

describe("pn.loss.glm", function()
  local function refused(pattern, ...)
    local ok, message = pcall(pn.loss.glm, ...)
    assert.is_false(ok)
    assert.is_truthy(tostring(message):find(pattern, 1, true), tostring(message))
  end
  local function fine(z, y) return (z - y) ^ 2 end

  it("wants a function that gives a number or an expression", function()
    refused("loss.glm", nil)
    refused("loss.glm", 3)
    refused("nil", function() end)
    refused("a table", function() return {} end)
    refused("the string", function() return "x" end)
    refused("true", function() return true end)
    assert.equal("7", pn.loss.glm(function() return 7 end).formula)
  end)

  it("hands on what the function raises", function()
    local mine = { "mine" }
    local ok, problem = pcall(pn.loss.glm, function() error(mine) end)
    assert.is_false(ok)
    assert.equal(mine, problem)
  end)

  it("points at a comparison of a symbol and names pn.where", function()
    refused("where", function(z) if z > 0 then return z end return 0 end)
  end)

  it("reads labels as a list or a range, and refuses the rest", function()
    assert.equal("real", pn.loss.glm(fine).labels)
    assert.equal("-1 and 1", pn.loss.glm(fine, { labels = { -1, 1 } }).labels)
    assert.equal("0, 1 and 2", pn.loss.glm(fine, { labels = { 0, 1, 2 } }).labels)
    assert.equal("in [0, 2.5]", pn.loss.glm(fine, { labels = { lo = 0, hi = 2.5 } }).labels)
    refused("labels must be a list of the values that occur", fine, { labels = "binary" })
    refused("an empty table", fine, { labels = {} })
    refused("entry 2", fine, { labels = { 1, "x" } })
    refused("entry 1", fine, { labels = { 0 / 0 } })
    refused("entry 2", fine, { labels = { 1, math.huge } })
    refused("a range without lo < hi", fine, { labels = { lo = 1, hi = 1 } })
    refused("a range without lo < hi", fine, { labels = { lo = 0 } })
    refused("a range without lo < hi", fine, { labels = { lo = 0, hi = math.huge } })
    refused("unknown option 'label'", fine, { label = { 0, 1 } })
    local many = {}
    for i = 1, 65 do many[i] = i end
    refused("labels lists 65 values, at most 64 fit", fine, { labels = many })
  end)

  it("refuses labels outside of its list or range where it is evaluated and where it is certified", function()
    local listed, ranged = pn.loss.glm(fine, { labels = { 0, 1 } }), pn.loss.glm(fine, { labels = { lo = 0, hi = 2 } })
    assert.error_matches(function() listed:evaluate({ 1 }, { 2 }) end, "the labels of glm must be 0 and 1, got 2 at entry 1")
    assert.error_matches(function() ranged:evaluate({ 1, 1 }, { 2, 2.1 }) end, "must be in %[0, 2%], got 2.1 at entry 2")
    assert.error_matches(function() ranged:range({ 0, 1 }, { 3, 4 }) end, "the labels must be in %[0, 2%], got the interval {3, 4}")
    assert.error_matches(function() listed:range({ 0, 1 }, { 0.25, 0.75 }) end, "the labels must be 0 and 1, got the interval")
    -- of an interval they take what they admit: (z - y)^2 over z in [0, 1] with y = 1, and with y in [1, 2]
    assert.is_near(1, listed:range({ 0, 1 }, { 0.5, 9 }).value[2], 1e-9)
    assert.is_near(4, ranged:range({ 0, 1 }, { 1, 9 }).value[2], 1e-8)
  end)

  it("says which part is undefined or unbounded, and where", function()
    local log = pn.loss.glm(function(z, y) return y * pn.log(z + 1) end)
    assert.error_matches(function() log:range({ -2, 2 }, { -1, 1 }) end, "log%(z %+ 1%)")
    assert.is_near(math.log(3), log:range({ 0, 2 }, { -1, 1 }).value[2], 1e-9)
    local range = pn.loss.glm(function(z) return pn.exp(z) end):range({ -math.huge, math.huge }, { 0, 1 })
    assert.equal(math.huge, range.slope[2])
    assert.truthy(range.missing:find("exp(z) is unbounded where z is in [-inf, inf]", 1, true), range.missing)
  end)

  it("takes expressions that are large, and refuses those that are too large", function()
    local big = pn.loss.glm(function(z)
      local sum = z
      for k = 1, 400 do sum = sum + pn.sin(k * z) / k end
      return sum
    end)
    local value = big:evaluate({ 0.5 }, { 1 })
    local want = 0.5
    for k = 1, 400 do want = want + math.sin(k * 0.5) / k end
    assert.is_near(want, value[1], 1e-12)
    refused("operations", function(z)
      local sum = z
      for k = 1, 60000 do sum = sum + pn.sin(k * z) end
      return sum
    end)
  end)
end)

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
    assert.error_matches(function() objective.loss:range() end, "nothing is known of its inside")
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
