-- config_spec.lua -- a configuration is data: what it computes stays in it, and it ends.
local program = require "tests.tools.program"
local config = require "penumbra.programs.config"
local pn = require "penumbra"
local law = require("tests.tools.tier").law(it)

local path, trace

before_each(function()
  path, trace = os.tmpname(), os.tmpname()
  os.remove(trace)
end)
after_each(function()
  os.remove(path)
  os.remove(trace)
end)

local function read(text)
  program.write_all(path, (text:gsub("TRACE", trace)))
  return config.read(path)
end

local function message_of(text)
  local ok, err = pcall(read, text)
  assert.is_false(ok, text)
  assert.is_true(config.failed(err), tostring(err))
  return err.message
end

describe("a configuration", function()
  it("computes with numbers, texts and tables", function()
    local got = read [[
      local names = {}
      for i = 1, 3 do names[i] = ("party_%d"):format(i) end
      connect = "tcp://host:" .. tostring(math.floor(5571.9)) .. ("x"):upper()
      parties = names
      table.sort(names, function(a, b) return a > b end)
      text = table.concat(names, ",")
      rng = pn.rng.seeded(3):split(1)
      return { number = select("#", 1, 2) + #utf8.char(228), found = ("abc"):find("b") }
    ]]
    assert.equal("tcp://host:5571X", got.connect)
    assert.same({ "party_3", "party_2", "party_1" }, got.parties)
    assert.equal("party_3,party_2,party_1", got.text)
    assert.equal(4, got.number)
    assert.equal(2, got.found)
    assert.equal(pn.rng.seeded(3):split(1):uniform(), got.rng:uniform())
  end)

  it("writes no file, by whatever way", function()
    for _, text in ipairs {
      "io.open('TRACE', 'w'):close()", "os.execute 'touch TRACE'", "require 'os'.execute 'touch TRACE'",
      "debug.getregistry()", "load 'x = 1' ()", "loadfile 'x'", "dofile 'x'", "package.loaded.io.open('TRACE', 'w')",
      "pn.vec { 1 }:save 'TRACE'", "pn.rng.seeded(1):sphere(3):save 'TRACE'", "pn.rng.seeded(1):sphere(3).save(1, 'TRACE')",
      "pn.data.synthetic.lasso { n = 9, p = 2, seed = 1 }.y:save 'TRACE'",
      "pn.data.synthetic.lasso { n = 9, p = 2, seed = 1 }.X:save 'TRACE'",
      "pn.ledger { path = 'TRACE', rho = 1 }", "pn.loss.program { command = { 'touch', 'TRACE' } }", "pn.federated.keygen 'TRACE'",
    } do
      message_of(text)
      assert.is_nil(io.open(trace), text)
    end
    local vector = pn.vec { 1 } -- afterwards they save as before
    assert.equal("function", type(vector.save))
  end)

  it("says what is not there, and why", function()
    assert.matches("global 'io' is not available to a configuration: it is data, which opens no files", message_of "io.open 'x'", 1,
      true)
    assert.matches("global 'nonsense'", message_of "nonsense()")
    assert.matches("string.gsub is not available to a configuration: patterns can be made to run for ever",
      message_of "('x'):gsub('x', 'y')", 1, true)
    assert.matches("pn.ledger is not available to a configuration", message_of "pn.ledger {}", 1, true)
    assert.matches("save is not available to a configuration: it is data, which writes no files",
      message_of "pn.rng.seeded(1):sphere(3):save 'x'", 1, true)
  end)

  it("changes nothing that the rest of the program uses", function()
    local before = {}
    for _, library in ipairs { "string", "table", "math", "utf8", "_G" } do
      before[library] = {}
      for name, value in pairs(library == "_G" and _G or _G[library]) do before[library][name] = value end
    end
    local rng, synthetic = pn.rng.seeded, pn.data.synthetic.lasso
    for _, text in ipairs {
      "string.format = nil x = 1", "rawset(string, 'format', print)", "getmetatable('').__index.format = print",
      "setmetatable(string, {})", "('').format = print", "table.concat = print x = 1", "math.floor = print x = 1",
      "utf8.char = print x = 1", "pn.rng.seeded = print x = 1", "pn.data.synthetic.lasso = print x = 1", "pn.vec = print x = 1",
      "string.format = function() while true do end end print 'x' x = ('%d'):rep(3)", "error {}", "error(setmetatable)",
      "_ENV.string.rep = print x = 1", "math.randomseed(1)", "coroutine.wrap(function() end)()",
    } do
      pcall(read, text)
      for library, values in pairs(before) do
        local now = {}
        for name, value in pairs(library == "_G" and _G or _G[library]) do now[name] = value end
        assert.same(values, now, text)
      end
      assert.equal(string, getmetatable("").__index, text)
      assert.is_nil(getmetatable("").__metatable)
      assert.equal(rng, pn.rng.seeded, text)
      assert.equal(synthetic, pn.data.synthetic.lasso, text)
      assert.equal("7|x", ("%d|%s"):format(7, "x"), text)
    end
  end)

  it("ends after ten seconds in few steps, too", function()
    local clock, seconds = os.clock, 0
    finally(function() os.clock = clock end)
    os.clock = function() -- luacheck: ignore 122
      seconds = seconds + 4
      return seconds
    end
    assert.matches("more than 10 seconds", message_of "local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end", 1, true)
    assert.is_true(seconds < 40)
  end)

  law("ends, and is not large", function()
    local started = os.clock()
    local garbage = {} -- what waits for the collector is no room above the limit
    for i = 1, 200 do garbage[i] = ("x"):rep(1 << 20) end
    assert.equal(200, #garbage)
    garbage = nil -- luacheck: ignore 311
    assert.matches("more than 64 megabytes", message_of "local t = {} for i = 1, 1e9 do t[i] = { i } end", 1, true)
    for _, row in ipairs {
      { "\nwhile true do end", ":2: it takes more than 10 million steps" },
      { "while true do pcall(function() while true do end end) end", "more than 10 million steps" },
      { "local function f() return f() end f()", "more than 10 million steps" },
      { "local s = 'x' while true do s = s .. s end", "more than 64 megabytes" },
      { "x = string.rep('x', 1e10)", "the result would be longer than" },
      { "x = ('x'):rep(1e10)", "the result would be longer than" },
      { "table.move({}, 1, 1e15, 2)", "table.move is not available" },
      { "table.concat({}, 'x', 1, 1e15)", "item 1 is a nil" },
      { "table.unpack({}, 1, 1e7)", "at most 250 items" },
      { "table.sort({ 1, 2, 3 }, function() while true do end end)", "more than 10 million steps" },
      { "return { f = function() while true do end end }", nil },
    } do
      if row[2] then
        assert.matches(row[2], message_of(row[1]), 1, true)
      else
        local ok, message = pcall(read(row[1]).f)
        assert.is_false(ok)
        assert.matches("more than 10 million steps", tostring(message), 1, true)
      end
    end
    assert.is_true(os.clock() - started < 120)
    assert.is_nil(debug.gethook())
  end)

  it("gives plain values: what code is left in it runs under the same rules", function()
    local got = read [[
      local shared = { 1 }
      local loop = {}
      loop.self = loop
      return { a = shared, b = shared, loop = loop,
        data = function(n) return pn.data.synthetic.lasso { n = n, p = 2, seed = 1 } end,
        bad = function() return pn.ledger {} end, late = function() return ("").rep end }
    ]]
    assert.equal(got.a, got.b)
    assert.equal(got.loop, got.loop.self)
    assert.equal(9, got.data(9).n)
    assert.is_false((pcall(got.bad)))
    assert.not_equal(string.rep, got.late())
    assert.equal(string, getmetatable("").__index)
  end)

  it("prints, with control characters shown", function()
    program.write_all(path, "print('a', 1, 'b\\27[2Jc', {}) x = 1")
    local said = program.run { "-e", ("require('penumbra.programs.config').read(%q)"):format(path) }
    assert.equal("a\t1\tb\\x1b[2Jc\ttable\n", said)
  end)

  it("tells its errors with their lines", function()
    assert.equal(path .. ":2: my own words", message_of "\nerror 'my own words'")
    assert.matches("error value: a table", message_of "error {}", 1, true)
    assert.matches(":1: attempt to perform arithmetic on a nil value", message_of "x = nil + 1", 1, true)
  end)
end)
