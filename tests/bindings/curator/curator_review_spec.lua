-- Attacks on curated states that once went through, each with what refuses it now; see bindings/curator/CURATOR.md.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local function curator(options)
  options = options or {}
  local data = pn.data.synthetic.logistic { n = 400, p = 5, seed = 3 }:clip_rows("l2", 1)
  return pn.curator { data = { adult = options.data or data }, ledger = options.ledger or pn.ledger { epsilon = 20, delta = 1e-6 },
    memory = options.memory or 64, seconds = options.seconds or 60, instructions = options.instructions or 20000000, threads = 1,
    process = options.process or tier.thorough } -- in this process the table and the sandbox alone hold
end

local prelude = [[
local C = pn.set.l2_ball{dim=5, radius=1}
local obj = pn.objective{data=data.adult, loss=pn.loss.logistic(), set=C}
]]

local function refused(code, status, text)
  local result = curator():run(prelude .. code, "a")
  assert.is_false(result.ok, code)
  assert.truthy(result.error:find(text, 1, true), code .. " says: " .. result.error)
  assert.equal(status, result.status)
end

describe("an analyst's script", function()
  it("cannot free an object in the table of a group of options, which is read after the object was", function()
    refused([[
      local p = pn.potential.euclidean{}
      local noise = setmetatable({}, {__index = function() local x <close> = p end})
      return pn.solve.mirror_descent.plan(obj, {potential=p, rho=0.1, iterations=2, noise=noise})]],
      "ECALLBACK", "must not have __index")
  end)

  it("cannot have a run end where the loss of a record is no number, for then it is told which is", function()
    local code = [[
      local partial = pn.loss.glm(function(z, y) return pn.sqrt(-z) end, {labels={-1, 1}})
      local o = pn.objective{data=data.adult, loss=partial, clip=1}
      return pn.solve.%s(o, {rho=0.01, start={1, 0, 0, 0, 0}, strict=%s})]]
    for _, solver in ipairs { "zeroth_order", "zeroth_order_naive" } do
      refused(code:format(solver, "true"), "EPRIVACY", "whether the run ends early depends on the records")
      assert.is_true(curator():run(prelude .. code:format(solver, "false"), "a").ok)
    end
    refused([[return pn.solve.zeroth_order.plan(pn.objective{data=data.adult, loss=pn.loss.logistic()},
      {rho=0.01}):with{strict=true}]], "EPRIVACY", "whether the run ends early depends on the records")
  end)

  it("is not held up by what sets of sets ask each other for their sizes", function()
    local result = curator { seconds = 5 }:run([[
      local s = pn.set.l2_ball{dim=2, radius=1}
      for i = 1, 18 do s = s:image(pn.mat{{1, 0.1}, {0.1, 1}}) end
      return s]], "a")
    assert.is_true(result.ok, result.error)
  end)

  law("cannot fill the host's memory with charges that cost next to nothing", function()
    local ledger = pn.ledger { epsilon = 20, delta = 1e-6 }
    local c = curator { ledger = ledger, instructions = 1 << 40 }
    local result = c:run([[
      local m = pn.mechanism.laplace{scale=1e12, sensitivity=1}
      for i = 1, 10100 do m:release(0, {label="a"}) end
      for i = 1, 10100 do m:release(0, {label=i % 2 == 0 and "b" or "c"}) end
      local n = 0
      while pcall(m.release, m, 0, {label="d" .. n}) do n = n + 1 end
      local ok, message = pcall(m.release, m, 0)
      print(message)
      return n]], "a")
    assert.is_true(result.ok, result.error)
    assert.truthy(tonumber(result.answer) <= 10000)
    assert.truthy(result.output:find("a script can add 10000 entries", 1, true), result.output)
    assert.truthy(#ledger:report() <= 11010)
    assert.is_true(c:run("pn.mechanism.laplace{scale=1e12, sensitivity=1}:release(0)", "a").ok)
    -- A run that takes turns between two releases.
    local before = #ledger:report()
    result = c:run(prelude .. "return pn.solve.svrg(obj, {rho=1e-4, epochs=1000}).steps", "a")
    assert.equal("1000", result.answer, result.error)
    local report = ledger:report()
    assert.equal(before + 2, #report)
    assert.same({ 1000, 1000 }, { report[before + 1].count, report[before + 2].count })
  end)

  it("cannot have the ledger keep long labels of queries", function()
    refused([[return pn.query.count{data=data.adult, columns={0}, low={-1}, high={1}, epsilon=1, label=("x"):rep(101)}]],
      "ECALLBACK", "at most 100 bytes")
  end)

  it("learns neither the time nor an address from the seed that Lua would take, or from errors of its own __tostring", function()
    refused("return math.randomseed()", "EPRIVACY", "the clock is not available")
    for _, code in ipairs { "error(setmetatable({}, {__tostring=function() error({}) end}))",
                            "error(setmetatable({}, {__tostring=function() error(print) end}))",
                            "return setmetatable({}, {__tostring=function() error({}) end})" } do
      local result = curator():run(code, "a")
      assert.is_false(result.ok)
      assert.is_nil(result.error:find "0x%x+", result.error)
      assert.is_nil(result.error:find("sandbox", 1, true), result.error)
    end
  end)

  it("is told where a limit stopped it, and nothing of the sandbox or of how much memory was in use", function()
    local small = { instructions = 2000000, memory = 24 }
    for code, place in pairs { ["\nwhile true do end"] = "a:2: ", ["pcall(function() while true do end end)"] = "a:1: ",
                               ["return setmetatable({}, {__tostring=function() while true do end end})"] = "a: ",
                               ["while true do pcall(string.rep, 'x', 9) end"] = "a: " } do
      local result = curator(small):run(code, "a")
      assert.equal("ELIMIT", result.status)
      assert.truthy(result.error == place .. "the limit of 2000000 instructions was reached" or
        result.error == "a:1: the limit of 2000000 instructions was reached", result.error)
    end
    for _, code in ipairs { "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end",
                            "local t = {} while true do t[#t + 1] = pn.vec.zeros(100000) end",
                            "return coroutine.wrap(function() local s = 'x' while true do s = s .. s end end)()" } do
      local result = curator(small):run(code, "a")
      assert.equal("ENOMEM", result.status)
      assert.is_nil(result.error:find("in use", 1, true) or result.error:find("traceback", 1, true), result.error)
    end
  end)

  it("meets a Lua whose known holes are mended", function()
    -- CVE-2022-28805: a constant _ENV read beyond the memory of the parser.  CVE-2022-33099: an error in a handler of overflows.
    for _, code in ipairs { "local _ENV <const> = 1 x = 2", "local function f() local _ENV <const> = 1 return x end f()" } do
      assert.truthy(curator():run(code, "a").error:find("attempt to index a number value", 1, true))
    end
    assert.equal("string", curator():run([[
      local function loop() assert(pcall(loop)) end
      local _, message = xpcall(loop, loop)
      return type(message)]], "a").answer)
  end)

  it("has no clock in what it could print until its time was over", function()
    local c = curator { seconds = 0.2, instructions = 1 << 40 }
    local result = c:run("local n = 0 while true do n = n + 1 if n % 1000 == 0 and n < 10^6 then print(n) end end", "a")
    assert.equal("ELIMIT", result.status)
    assert.equal("", result.output)
    assert.equal("a: the limit of 0.2 seconds was reached", result.error)
    result = c:run("return setmetatable({}, {__tostring=function() print(1) while true do end end})", "a")
    assert.equal("ELIMIT\t", result.status .. "\t" .. result.output)
    -- Instructions are the same in every run.
    result = curator():run("print(1) while true do end", "a")
    assert.equal("ELIMIT\t1\n", result.status .. "\t" .. result.output)
    result = curator():run("print(1) error 'x'", "a")
    assert.equal("1\n", result.output)
  end)

  it("cannot spend all that remains by leaving out what a run may cost", function()
    for _, options in ipairs { "{}", "{iterations=2}", "{delta=1e-7}", "{privacy=true}" } do
      for _, form in ipairs { "pn.solve.sgd(obj, %s)", "pn.solve.sgd.plan(obj, %s)" } do
        refused(form:format(options), "EINVAL", "all that remains of the curator's budget")
      end
    end
    local changed = "return pn.solve.sgd.plan(obj, {rho=0.1, iterations=2}):with{step=1}.iterations"
    assert.equal("2", curator():run(prelude .. changed, "a").answer)
  end)

  it("sends no control characters to the terminal of whoever reads its output, answer and errors", function()
    local c = curator()
    local result = c:run("print('\\27]0;x\\7', 'a\\nb') return '\\27[2J\\0end'", "a")
    assert.equal("\\x1b]0;x\\x07\ta\nb\n", result.output)
    assert.equal("\\x1b[2J\\x00end", result.answer)
    assert.equal("\\xc2\\x9b31m \u{E9}", c:run("return '\\u{9B}31m \\u{E9}'", "a").answer)
    assert.equal("a:1: \\x1bE", c:run("error '\\27E'", "a").error)
    assert.equal("error value: \\x1bE",
      c:run("error(setmetatable({}, {__tostring=function() return '\\27E' end}))", "a").error)
    assert.is_nil(c:run("goto \27", "a").error:find "%c")
  end)

  it("finds errors of string functions at its own lines, with the names it used", function()
    for code, want in pairs { ["local x = ('x'):sub({})"] = "a:1: bad argument #2 to 'string.sub' (number expected, got table)",
                              ["local x = string.format('%d', 'x')"] = "a:1: bad argument #2 to 'string.format'",
                              ["local x = ('x'):rep(2.5)"] = "a:1: bad argument #2 to 'string.rep'",
                              ["local x = string.char(-1)"] = "a:1: bad argument #1 to 'string.char'",
                              ["local x = table.concat({}, nil, 1, 'x')"] = "a:1: table.concat: expected numbers",
                              ["local x = setmetatable({}, 1)"] = "a:1: bad argument #2 to 'setmetatable'",
                              ["local x = budget:price({event=1})"] = "a:1: budget:price: expected an event" } do
      local message = curator():run(code, "a").error
      assert.equal(want, message:sub(1, #want))
    end
  end)

  it("makes no string that is longer than what its functions take, however much memory there is", function()
    refused("return #('x'):rep(2000000)", "ECALLBACK", "would be longer than 1048576 bytes")
    refused("return #('x'):rep(3, ('y'):rep(600000))", "ECALLBACK", "would be longer than 1048576 bytes")
    refused("local s = ('y'):rep(600000) return string.format('%s%s', s, s)", "ECALLBACK",
      "would be longer than 1048576 bytes")
  end)
end)
