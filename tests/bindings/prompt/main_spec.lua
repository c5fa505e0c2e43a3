local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local run = program.run
local law = tier.law(it) -- where a sanitizer maps terabytes

-- A script file that is there while `body` runs.
local function with_script(text, body)
  local path = os.tmpname()
  program.write_all(path, text)
  body(path)
  os.remove(path)
end

describe("penumbra", function()
  it("runs a script with its arguments and exits with 0", function()
    with_script("print(arg[0], arg[1], arg[2], arg[3], ...)", function(path)
      local out, err, code = run { path, "a", "b c" }
      assert.equal(path .. "\ta\tb c\tnil\ta\tb c\n", out)
      assert.equal("", err)
      assert.equal(0, code)
    end)
  end)

  it("counts what stands before the script backwards in arg", function()
    with_script("print(arg[-1], arg[-2])", function(path)
      assert.equal("--strict\t" .. program.path .. "\n", (run { "--strict", path }))
    end)
  end)

  law("warns of a limit on address space under which OpenBLAS waits for ever, and of no other", function()
    local function under(kilobytes)
      return select(2, program.shell(("ulimit -v %d; export OPENBLAS_NUM_THREADS=1; exec '%s' -e 'return 1'"):format(kilobytes,
        program.path)))
    end
    assert.matches("warning: the limit on address space, 219 MiB, is below the 224 MiB that", under(225000), 1, true)
    assert.equal("", under(230000))
  end)

  it("hands a script's exit status on", function()
    assert.equal(7, (select(3, run { "-e", "os.exit(7)" })))
  end)

  it("prints an uncaught error with a traceback on stderr and exits with 1", function()
    with_script("local function inner() error 'went wrong' end\ninner()", function(path)
      local out, err, code = run { path }
      assert.equal("", out)
      assert.truthy(err:find(path .. ":1: went wrong", 1, true))
      assert.truthy(err:find("stack traceback", 1, true))
      assert.truthy(err:find("'inner'", 1, true))
      assert.equal(1, code)
    end)
  end)

  it("shows an error value by its own __tostring", function()
    local _, err, code = run { "-e", "error(setmetatable({}, {__tostring = function() return 'my own words' end}))" }
    assert.equal("penumbra: my own words\n", err)
    assert.equal(1, code)
  end)

  it("says of which type an error value without words is", function()
    local _, err = run { "-e", "error {}" }
    assert.truthy(err:find("the error is a table, not a message", 1, true))
  end)

  it("says when its output could not be written", function()
    local _, err, code = program.shell(program.quote(program.path) .. " -e 'print(1)' >/dev/full")
    assert.equal("penumbra: standard output could not be written: not all of it is there\n", err)
    assert.equal(1, code)
  end)

  it("survives an error value whose __tostring fails", function()
    local _, err, code = run { "-e", "error(setmetatable({}, {__tostring = function() error 'again' end}))" }
    assert.truthy(err:find("penumbra: ", 1, true))
    assert.equal(1, code)
  end)

  it("reports a syntax error with file and line", function()
    with_script("x = = 2", function(path)
      local _, err, code = run { path }
      assert.truthy(err:find(path .. ":1: unexpected symbol near '='", 1, true))
      assert.equal(1, code)
    end)
  end)

  it("names a script that is not there", function()
    local _, err, code = run { "no_such_script.lua" }
    assert.truthy(err:find("no_such_script.lua", 1, true))
    assert.equal(1, code)
  end)

  it("runs several -e in order, before the script", function()
    with_script("print(x)", function(path)
      assert.equal("1\n2\n2\n", (run { "-e", "x = 1 print(x)", "-ex = x + 1 print(x)", path }))
    end)
  end)

  it("does not go on after an -e that failed", function()
    local out, _, code = run { "-e", "error 'no'", "-e", "print 'still here'" }
    assert.equal("", out)
    assert.equal(1, code)
  end)

  it("reads a script from stdin for - and when stdin is no terminal", function()
    assert.equal("read\tx\n", (run({ "-", "x" }, "print('read', ...)")))
    assert.equal("read\n", (run({}, "print('read', ...)")))
  end)

  it("takes what follows -- as the script", function()
    local _, err, code = run { "--", "-e" }
    assert.truthy(err:find("cannot open -e", 1, true))
    assert.equal(1, code)
  end)

  it("prints version and usage on stdout", function()
    for _, option in ipairs { "-v", "--version" } do
      local out, err, code = run { option }
      assert.truthy(out:match "^Penumbra %d+%.%d+%.%d+ %(Lua 5%.4")
      assert.equal("", err)
      assert.equal(0, code)
    end
    for _, option in ipairs { "-h", "--help" } do
      local out, _, code = run { option }
      for _, word in ipairs { "usage: penumbra", "-e CODE", "-i ", "--strict", "--version" } do
        assert.truthy(out:find(word, 1, true), word)
      end
      assert.equal(0, code)
    end
  end)

  it("answers an unknown option with the option, the usage and status 2", function()
    local out, err, code = run { "--frobnicate" }
    assert.equal("", out)
    assert.truthy(err:find("unknown option '--frobnicate'", 1, true))
    assert.truthy(err:find("usage: penumbra", 1, true))
    assert.equal(2, code)
  end)

  it("answers -e without code with status 2", function()
    local _, err, code = run { "-e" }
    assert.truthy(err:find("code is missing after '-e'", 1, true))
    assert.equal(2, code)
  end)

  it("has pn, its parts and help as globals", function()
    assert.equal("true\ttrue\ttrue\n", (run { "-e",
      "print(rng == pn.rng, help == pn.help, pn == require 'penumbra')" }))
  end)

  it("leaves out all but pn and help with --strict", function()
    assert.equal("nil\tnil\tfunction\ttrue\n", (run { "--strict", "-e",
      "print(rng, set, type(help), pn == require 'penumbra')" }))
  end)

  it("never replaces a name of Lua, though pn has some of the same", function()
    local out = run { "-e", "print(load('return 6 * 7')(), select('#', 1, 2), math.type(1), type(next))" }
    assert.equal("42\t2\tinteger\tfunction\n", out)
  end)

  it("finds its Lua half beside it, wherever it is called from", function()
    local out, err = program.shell(([[path=$(realpath %s) && cd / &&
      exec env -u LUA_PATH -u LUA_CPATH $path -e 'print(pn.version)']]):format(program.quote(program.path)))
    assert.truthy(out:match "^%d+%.%d+%.%d+\n$", out .. err)
  end)

  -- Copies the program into an empty folder, "$root/bin"; then runs `commands` there, without LUA_PATH.
  local function elsewhere(commands)
    return program.shell(([[root=$(mktemp -d) && mkdir -p $root/bin && cp %s $root/bin/penumbra || exit
      tree=$(realpath %s)
      unset LUA_PATH LUA_CPATH; cd /; %s; code=$?; rm -r "$root"; exit $code]])
      :format(program.quote(program.path), program.quote(program.tree), commands))
  end

  it("finds its Lua half where it is installed", function()
    local out, err = elsewhere [[mkdir -p $root/share/lua/5.4/penumbra
      cp -r $tree/lua/penumbra/. $root/share/lua/5.4/penumbra
      $root/bin/penumbra -e 'print(package.searchpath("penumbra", package.path))']]
    assert.truthy(out:find("share/lua/5.4/penumbra/init.lua", 1, true), out .. err)
  end)

  it("says so when its Lua half is nowhere", function()
    local _, err, code = elsewhere "$root/bin/penumbra -e 1"
    assert.truthy(err:find("its Lua half is missing", 1, true), err)
    assert.equal(1, code)
  end)

  it("shows the prompt after a script with -i, also after an error", function()
    assert.equal("2\n", (run({ "-i", "-e", "x = 1" }, "x + 1\n")))
    assert.equal("1\n", (run({ "-i", "-e", "x = 1 error 'no'" }, "x\n")))
  end)

  it("runs coroutines as Lua does", function()
    -- The same code in the interpreter that runs this spec says what is right.
    local code = [[
      local out = {}
      local function note(...) for _, v in ipairs(table.pack(...)) do out[#out + 1] = tostring(v) end end
      local gen = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end return "end" end)
      note(gen(10), gen(20), gen(30), gen(40), (pcall(gen)))
      local co = coroutine.create(function(...)
        note(select("#", ...), coroutine.isyieldable(), (select(2, coroutine.running())))
        note(coroutine.wrap(function() note(coroutine.yield(1)) return 2 end)())
        error({ code = 7 })
      end)
      local fine, value = coroutine.resume(co, nil, 2, nil)
      note(fine, value.code, coroutine.status(co), coroutine.resume(co))
      note((pcall(coroutine.resume, 1)), (pcall(coroutine.wrap, 1)))
      local ok, boom = pcall(coroutine.wrap(function() local t <close> = setmetatable({}, { __close = function()
        note "closed" end }) error({}) end))
      note(ok, type(boom))
      return table.concat(out, " ")]]
    local expected = assert(load(code))()
    assert.equal(expected .. "\n", (run { "-e", "print((function() " .. code .. " end)())" }))
  end)

  it("prints warnings", function()
    local _, err = run { "-e", "warn 'delta is large'" }
    assert.truthy(err:find("delta is large", 1, true))
  end)
end)
