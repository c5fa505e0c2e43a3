-- lsymbol_spec.lua -- symbols, the trace, and the expressions that come of it.
local pn = require "penumbra"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal
local vec = pn.vec

local function has(part, message)
  assert.is_truthy(message:find(part, 1, true), ("%q is not in %q"):format(part, message))
end

-- The trace of f fails with `part` in a message that starts with the owner and the line of f, which must be one line long.
local function fails_at(part, f, ...)
  local info = debug.getinfo(f, "S")
  local message = refusal(pn.trace, f, ...)
  assert.equal(info.linedefined, info.lastlinedefined)
  local head = ("trace: %s:%d: "):format(info.short_src, info.linedefined)
  assert.equal(head, message:sub(1, #head))
  has(part, message)
  assert.is_nil(message:find("trace: ", 2, true))
end

local function near(want, got, what)
  if want ~= want then
    assert.is_true(got ~= got, what)
  elseif want ~= got then
    assert.is_true(math.abs(got - want) <= 1e-15 * math.abs(want), ("%s: %.17g, not %.17g"):format(what, got, want))
  end
end

-- Conditions of numbers are booleans, those of symbols 1 and 0.
local function number(x)
  if type(x) == "boolean" then return x and 1 or 0 end
  return x
end

local points = { -700, -2.5, -1, -0.25, 0, 1e-10, 0.5, 1, 2, 3.75, 700 }

describe("symbols", function()
  local functions = {
    "exp", "log", "log1p", "expm1", "sqrt", "abs", "sign", "relu", "tanh", "sigmoid", "softplus", "erf", "sin", "cos",
  }

  it("take every function of one number, with the value that the number has", function()
    for _, name in ipairs(functions) do
      local f = pn[name]
      local e = pn.trace(function(x) return f(x) end)
      for _, x in ipairs(points) do
        near(f(x), e(x), name .. "(" .. x .. ")")
      end
    end
  end)

  it("leave out no function of one number that pn has", function()
    local known = {}
    for _, name in ipairs(functions) do known[name] = true end
    for name, entry in pairs(pn.reference()) do
      if entry.signature == "pn." .. name .. "(x) -> number or vec" then
        assert.is_true(known[name], name)
      end
    end
  end)

  it("take every operator with symbols and numbers on either side", function()
    local operators = {
      ["+"] = function(a, b) return a + b end,
      ["-"] = function(a, b) return a - b end,
      ["*"] = function(a, b) return a * b end,
      ["/"] = function(a, b) return a / b end,
      ["^"] = function(a, b) return a ^ b end,
      min = pn.min, max = pn.max, lt = pn.lt, le = pn.le, gt = pn.gt, ge = pn.ge,
      minus = function(a, b) return -a - -b end,
      clamp = function(a, b) return pn.clamp(a, -1, 2) + pn.clamp(0.5, pn.min(a, b), pn.max(a, b)) end,
      fold = function(a, b) return pn.max(a, b, 0.25) - pn.min(1, a, b) end,
      where = function(a, b) return pn.where(pn.lt(a, b), a + 1, b) end,
    }
    for name, f in pairs(operators) do
      local both = pn.trace(function(a, b) return f(a, b) end)
      for _, x in ipairs(points) do
        local left, right = pn.trace(function(a) return f(a, x) end), pn.trace(function(b) return f(x, b) end)
        for _, y in ipairs(points) do
          local what = ("%s of %g and %g"):format(name, x, y)
          near(number(f(x, y)), both(x, y), what)
          near(number(f(y, x)), left(y), "right number: " .. what)
          near(number(f(x, y)), right(y), "left number: " .. what)
        end
      end
    end
  end)

  it("choose by any condition, also by a product of conditions or a boolean", function()
    local band = pn.trace(function(z) return pn.where(pn.gt(z, -1) * pn.lt(z, 1), z ^ 2, 1) end)
    assert.same({ 1, 0.25, 0.5625, 1 }, band({ -3, -0.5, 0.75, 2 }):table())
    local steep = true
    local taken = pn.trace(function(z) return pn.where(steep, 2 * z, z) end)
    assert.equal("2*z", tostring(taken))
    taken = pn.trace(function(z) return pn.where(pn.lt(1, 0), 2 * z, z) end)
    assert.equal("z", tostring(taken))
  end)

  it("print their expression, while the function is traced and afterwards", function()
    local during, kept
    pn.trace(function(z, y)
      kept = 1 - z * y
      during = tostring(kept)
      return kept
    end)
    assert.equal("1 - z*y", during)
    assert.equal("1 - z*y", tostring(kept))
  end)

  it("refuse to be decided about, at the user's line, with what to write", function()
    fails_at("z > 0 cannot be decided while the function is traced: write pn.where(pn.gt(z, 0), a, b)",
      function(z) return z > 0 and z or -z end)
    fails_at("write pn.where(pn.lt(z, 0), a, b)", function(z) return z < 0 and z or -z end)
    fails_at("write pn.where(pn.le(z, y), a, b)", function(z, y) return z <= y and z or y end)
    fails_at("(z - 1) >= 2", function(z) return z - 1 >= 2 and z or 0 end)
    fails_at("z == y cannot be decided", function(z, y) return z == y and 1 or 0 end)
    fails_at("z == y cannot be decided", function(z, y) return z ~= y and 1 or 0 end)
    fails_at("a symbol mixes with numbers", function(z) return z < nil and z or 0 end)
  end)

  it("do not go unnoticed where a condition counts as true", function()
    fails_at("the condition pn.gt(z, 0) is made and not used", function(z) if pn.gt(z, 0) then return z end return 0 end)
    fails_at("pn.where(pn.le(z, y), a, b)", function(z, y) return pn.le(z, y) and z or y end)
    fails_at("pn.lt(1, z)", function(z) return pn.where(pn.ge(z, 0), z, not pn.lt(1, z) and 1 or 2) end)
    -- used by an operator, returned, or printed; more of them than are watched; and only one is forgotten
    assert.equal(3, pn.trace(function(z) return 2 + pn.gt(z, 0) end)(1))
    assert.equal(0, pn.trace(function(z) return pn.gt(z, 0) end)(-1))
    pn.trace(function(z) return z + #tostring(pn.gt(z, 0)) end)
    local many = pn.trace(function(z)
      local conditions, sum = {}, 0
      for i = 1, 100 do conditions[i] = pn.gt(z, i) end
      for i = 1, 100 do sum = sum + pn.where(conditions[i], 1, 0) end
      return sum
    end)
    assert.equal(42, many(42.5))
  end)

  it("refuse what is no operation of numbers, by name", function()
    fails_at("a symbol is not text", function(z) return z .. "x" end)
    fails_at("a symbol is not text", function(z) return "x" .. z end)
    fails_at("#(z + 1): a symbol stands for one number", function(z) return #(z + 1) end)
    fails_at("z has no 'foo'", function(z) return z.foo end)
    fails_at("write pn.exp(z)", function(z) return z:exp() end)
    fails_at("z has no '1'", function(z) return z[1] end)
    fails_at("cannot be changed", function(z) z.x = 1 end)
    fails_at("z(...): a symbol stands for one number, it cannot be called", function(z) return z(2) end)
    for operator, f in pairs {
      ["z // 2"] = function(z) return z // 2 end,
      ["z % 2"] = function(z) return z % 2 end,
      ["z & 2"] = function(z) return z & 2 end,
      ["2 | z"] = function(z) return 2 | z end,
      ["z ~ 2"] = function(z) return z ~ 2 end,
      ["~z"] = function(z) return ~z end,
      ["z << 2"] = function(z) return z << 2 end,
      ["z >> 2"] = function(z) return z >> 2 end,
    } do
      fails_at(operator .. ": a symbol has + - * / ^", f)
    end
  end)

  it("mix with finite numbers only", function()
    local v, A, inf, nan = vec { 1, 2 }, pn.mat { { 1, 2 } }, math.huge, 0 / 0
    local scalar = "the function is traced with one scalar symbol per argument"
    fails_at("z * vec: " .. scalar, function(z) return z * v end)
    fails_at("vec - z: " .. scalar, function(z) return v - z end)
    fails_at("mat + z: " .. scalar, function(z) return A + z end)
    fails_at("table + z: " .. scalar, function(z) return { 1 } + z end)
    fails_at("pn.max(z, vec): " .. scalar, function(z) return pn.max(z, v) end)
    fails_at(scalar, function(z) return pn.where(pn.gt(z, 0), v, 0) end)
    fails_at("got a pn.symbol", function(z) return v:scale(z) end)
    fails_at("the constant inf in z + inf is not a finite number", function(z) return z + inf end)
    fails_at("the constant -inf in pn.max(-inf, z)", function(z) return pn.max(-inf, z) end)
    fails_at("the constant nan in (z + 1) * nan", function(z) return (z + 1) * nan end)
    fails_at("the constant inf in pn.where(lt(z, 0), inf, z)", function(z) return pn.where(pn.lt(z, 0), inf, z) end)
    fails_at("nil * symbol is not defined; is a name misspelt?", function(z) return select(3, v) * z end)
  end)

  it("point to pn where Lua's own functions want a number", function()
    local renamed = math.exp
    fails_at("use pn.exp: Lua's math library takes numbers only", function(z) return math.exp(z) end)
    fails_at("in place of math.max use pn.max", function(z) return math.max(0, z) end)
    fails_at("Lua's math library does not", function(z) return math.floor(z) end)
    fails_at("Lua's math library does not", function(z) return renamed(z) end)
    fails_at("Lua's math library does not", function(z) return string.format("%d", z) end)
    has("use pn.exp", refusal(pn.trace, math.exp))
    has("boom", refusal(pn.trace, function() error("boom: number expected, got nothing of ours") end))
  end)

  it("mean nothing after the trace, nor in the trace of another function", function()
    local kept
    pn.trace(function(z) kept = z return z end)
    fails_at("z is a symbol of a function that was traced before (by trace)", function(t) return t + kept end)
    fails_at("z is a symbol of a function", function() return -kept end)
    fails_at("z is a symbol of a function", function() return kept < 1 and 2 end)
    has("z is a symbol of a function", refusal(pn.trace, function() return kept end))
    has("z is a symbol of a function", refusal(function() return pn.exp(kept) end))
    has("do not mix", refusal(pn.trace, function(z) return pn.trace(function(t) return z + t end)(1) end))
    has("do not mix", refusal(pn.trace, function(z) return pn.trace(function() return z end)(1) end))
    -- of a trace that failed, too
    pcall(pn.trace, function(z) kept = z error "no" end)
    has("z is a symbol of a function", refusal(function() return kept + 1 end))
  end)
end)

describe("the trace", function()
  it("calls the function once", function()
    local calls, types = 0, nil
    local e = pn.trace(function(z, y, ...)
      calls, types = calls + 1, { type(z), getmetatable(y).__name, select("#", ...) }
      return z + y
    end)
    assert.same({ "userdata", "pn.symbol", 0 }, types)
    e(1, 2)
    e({ 1, 2 }, 3)
    e:derivative "z"
    assert.equal(1, calls)
  end)

  it("works for functions without named parameters, with too few, and written in C", function()
    assert.equal("exp(x)", tostring(pn.trace(pn.exp)))
    assert.equal("x + 1", tostring(pn.trace(function(...) return (...) + 1 end)))
    local stripped = load(string.dump(function(a, b) return a + 0 * (b or 1) end, true))
    assert.equal(1, #pn.trace(stripped).variables)
    assert.equal("7", tostring(pn.trace(function() return 7 end)))
    assert.equal(7, pn.trace(function() return 7 end)())
    assert.same({ 9, 9 }, vec({ 1, 2 }):map(function() return 9 end):table())
    assert.same({ 2, 3 }, vec({ 1, 2 }):map(function(...) return 1 + ... end):table())
    assert.equal("2*x", tostring(pn.trace(coroutine.wrap(function(q) return q * 2 end))))
  end)

  it("says what came back and what is wanted", function()
    -- luacheck: push ignore 212
    local line = debug.getinfo(1, "l").currentline
    local cases = {
      { "the function returned nil; it must return an expression of z and y: is a `return` missing?", function(z, y) end },
      { "the function returned nil; it must return an expression of z: is a `return` missing?", function(z) return nil end },
      { "the function returned true; it must return an expression of z: conditions come from pn.lt", function(z) return true end },
      { "the function returned a pn.vec; it must return an expression of z", function(z) return vec { 1 } end },
      { "the function returned a table", function(z) return { z } end },
      { "the function returned the string \"z\"", function(z) return "z" end },
      { "the function returned a function", function(z) return print end },
      { "the function returned 2 values; it must return an expression of a, b and c", function(a, b, c) return a, b end },
      { "the function returned inf; it must return a number with finite constants", function() return 1 / 0 end },
      { "the function returned nan", function() return 0 / 0 end },
      { "the function returned 100000 values", function() return table.unpack({}, 1, 100000) end },
    }
    -- luacheck: pop
    for i, case in ipairs(cases) do
      local message = refusal(function() pn.trace(case[2]) end)
      has("trace: " .. case[1], message)
      has(("lsymbol_spec.lua:%d)"):format(line + 1 + i), message)
    end
  end)

  it("hands on what the function raises, with its context when it is a message", function()
    local boom = setmetatable({ "boom" }, { __tostring = function() return "no" end })
    for _, value in ipairs { boom, 42, false, print } do
      local ok, err = pcall(pn.trace, function() error(value) end)
      assert.is_false(ok)
      assert.equal(value, err)
    end
    assert.same({ false }, { pcall(pn.trace, function() error() end) })
    assert.equal("trace: boom", refusal(pn.trace, function() error("boom", 0) end))
    assert.equal("v:map: boom", refusal(vec { 1 }.map, vec { 1 }, function() error("boom", 0) end))
    fails_at("went wrong", function() error("went wrong") end)
    assert.equal("trace: " .. ("x"):rep(5000), refusal(pn.trace, function() error(("x"):rep(5000), 0) end))
    fails_at("attempt to index a nil value", function(z) return z + nowhere.x end) -- luacheck: ignore
  end)

  it("survives deep recursion, traces within traces and very long expressions", function()
    local function deep(z) return 1 + deep(z) end
    has("stack overflow", refusal(pn.trace, deep))
    local function within() return pn.trace(within) end
    local message = refusal(pn.trace, within)
    has("trace: ", message)
    has("stack overflow", message)
    assert.is_true(#message < 300)
    local function long(z)
      local sum = 0
      for i = 1, math.huge do sum = sum + pn.sin(i * z) end
      return sum
    end
    message = refusal(pn.trace, long)
    has("more than 50000 operations", message)
    has(("lsymbol_spec.lua:%d: "):format(debug.getinfo(long, "S").linedefined + 2), message)
    -- what was refused is not forgotten when the function swallows the error
    has("more than 50000 operations", refusal(pn.trace, function(z)
      pcall(long, z)
      return z
    end))
    -- and a long expression that is not too long is fine: 9999 terms of 1/k z
    local e = pn.trace(function(z)
      local sum = 0
      for k = 1, 9999 do sum = sum + z * (k % 7) end
      return sum
    end)
    assert.equal(29994, e(1)) -- 9999 = 7 * 1428 + 3: the remainders add up to 1428 * 21 + 1 + 2 + 3
  end)

  it("yields no more than any call from C, and works within a coroutine", function()
    local routine = coroutine.wrap(function()
      local ok, err = pcall(pn.trace, function(z) coroutine.yield(z) return z end)
      coroutine.yield(ok, err)
      return tostring(pn.trace(function(z) return 2 * z end))
    end)
    local ok, err = routine()
    assert.is_false(ok)
    has("attempt to yield across a C-call boundary", err)
    assert.equal("2*z", routine())
    -- symbols work on other threads of the same trace
    assert.equal("z + 1", tostring(pn.trace(function(z) return coroutine.wrap(function() return z + 1 end)() end)))
  end)

  it("refuses what is no function", function()
    has("trace: expected a function, got 3", refusal(pn.trace, 3))
    has("trace: expected a function, got nil", refusal(pn.trace))
    has("v:map: expected a function, got a table", refusal(vec { 1 }.map, vec { 1 }, {}))
    local names = {}
    for i = 1, 17 do names[i] = "a" .. i end
    local list = table.concat(names, ", ")
    has("more than 16 parameters", refusal(pn.trace, load("return function(" .. list .. ") return a1 end")()))
    list = list:gsub(", a17", "")
    assert.equal(16, #pn.trace(load("return function(" .. list .. ") return a16 end")()).variables)
  end)

  it("stops at Ctrl-C when the function does not end", function()
    -- the function sends the signal itself, so that nothing depends on time
    local script = [[
      local ok, err = pcall(pn.trace, function(z)
        io.popen("kill -INT $PPID"):close()
        while true do z = z + 0 end
      end)
      print(ok, err)
      print(pn.trace(function(z) return z + 1 end))
    ]]
    local out, err, code = program.run { "-e", script }
    assert.equal("", err)
    assert.equal(0, code)
    assert.matches("^false\ttrace: .*interrupted\nz %+ 1\n$", out)
  end)
end)

describe("expressions", function()
  it("print simplified and tell their variables", function()
    local e = pn.trace(function(z, y) return pn.log(1 + pn.exp(-y * z)) end)
    assert.equal("softplus(-(z*y))", tostring(e))
    assert.equal("{\"z\", \"y\"}", tostring(e.variables))
  end)

  it("read back as Lua to the same values", function()
    local e = pn.trace(function(z, y) return pn.where(pn.lt(z, y), (z - y) ^ 3 / 7, -pn.exp(z) * 0.1) end)
    local again = pn.trace(load("local lt, where, exp = ... return function(z, y) return " .. tostring(e) .. " end")(
      pn.lt, pn.where, pn.exp))
    assert.equal(tostring(e), tostring(again))
    assert.equal(e(0.3, 0.7), again(0.3, 0.7))
  end)

  it("evaluate at numbers and at vectors, spreading numbers", function()
    local e = pn.trace(function(z, y) return z ^ 2 - y end)
    assert.equal(7, e(3, 2))
    assert.same({ 7, -1, 1 }, e(vec { 3, 1, -2 }, { 2, 2, 3 }):table())
    assert.same({ 7, 5 }, e(3, vec { 2, 4 }):table())
    assert.same({ 7, 14 }, e({ 3, 4 }, 2):table())
    assert.equal(0, #e(vec {}, 1))
    local v = vec { 1, 2 }
    e(v, v)[1] = 5
    assert.same({ 1, 2 }, v:table())
  end)

  it("refuse arguments of other shapes", function()
    local e = pn.trace(function(z, y) return z * y end)
    has("expected values for z and y, got 1", refusal(e, 1))
    has("expected values for z and y, got 3", refusal(e, 1, 2, 3))
    has("arguments of 3 and 2 entries", refusal(e, { 1, 2, 3 }, vec { 1, 2 }))
    has("arguments of 0 and 1 entries", refusal(e, {}, { 1 }))
    has("got the string \"a\"", refusal(e, "a", 1))
    has("not the symbol t - 1: call the Lua function", refusal(pn.trace, function(t) return e(t - 1, 2) end))
    has("entry 2 must be a finite number", refusal(e, { 1, 0 / 0 }, 1))
    has("no field 'nope'", refusal(function() return e.nope end))
    has("cannot be changed", refusal(function() e.variables = {} end))
  end)

  it("have derivatives, again expressions, that leave them alone", function()
    local e = pn.trace(function(z, y) return pn.softplus(-y * z) + pn.abs(z) end)
    local slope, at = e:derivative "z", { -1.5, 0, 0.25, 3 }
    assert.equal("softplus(-(z*y)) + abs(z)", tostring(e))
    for _, z in ipairs(at) do
      -- d/dz: -y / (1 + e^(yz)) + sign(z)
      near(-2 / (1 + math.exp(2 * z)) + (z > 0 and 1 or z < 0 and -1 or 0), slope(z, 2), "slope at " .. z)
    end
    assert.equal("cos(t)", tostring(pn.trace(function(t) return pn.sin(t) end):derivative()))
    assert.equal(6, pn.trace(function(t) return t ^ 3 end):derivative():derivative()(1))
    has("expected the name of a variable, got nil; the variables are z and y", refusal(e.derivative, e))
    has("got the string \"w\"; the variables are z and y", refusal(e.derivative, e, "w"))
  end)

  it("stay usable when a derivative of theirs grows too large", function()
    local e = pn.trace(function(t)
      local f = t
      for i = 1, 12 do f = pn.sin(f * t + i) * pn.exp(f) end
      return f
    end)
    local value, text, failed = e(0.5), tostring(e), nil
    local d = e
    for _ = 1, 30 do
      local ok, result = pcall(d.derivative, d)
      if not ok then failed = result break end
      d = result
    end
    has("e:derivative: the expression has more than 50000 operations", failed)
    assert.equal(value, e(0.5))
    assert.equal(text, tostring(e))
    assert.is_true(#tostring(e:derivative()) > 0)
  end)

  it("keep long names of parameters", function()
    local e = pn.trace(function(predicted_margin_left, predicted_margin_right)
      return predicted_margin_left / predicted_margin_right
    end)
    assert.equal("{\"predicted_margin_left\", \"predicted_margin_right\"}", tostring(e.variables))
    assert.equal(-0.25, e:derivative "predicted_margin_right"(1, 2))
  end)

  it("are closed like any object, and outlive the function", function()
    local weak = setmetatable({ function(z) return z + 1 end }, { __mode = "v" })
    local e = pn.trace(weak[1])
    collectgarbage()
    assert.is_nil(weak[1])
    assert.equal(3, e(2))
    do
      local _ <close> = e
    end
    has("closed", refusal(e, 1))
  end)
end)
