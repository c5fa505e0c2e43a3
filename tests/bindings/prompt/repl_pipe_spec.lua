local program = require "tests.tools.program"

-- What the prompt prints on stdout and stderr for lines from a pipe.
local function type_in(...)
  local out, err, code = program.run({ "-i" }, table.concat({ ... }, "\n") .. "\n")
  assert.equal(0, code, err)
  return out, err
end

describe("the prompt, from a pipe", function()
  it("prints what an expression is worth and nothing for an assignment", function()
    assert.equal("2\n", (type_in("1 + 1", "x = 5")))
  end)

  it("prints nothing for a call without results, and nil for nil", function()
    assert.equal("nil\n", (type_in("(function() end)()", "nothing_known")))
  end)

  it("prints several values side by side", function()
    assert.equal('1\t"two"\tnil\n', (type_in '1, "two", nil'))
  end)

  it("keeps the last value as _", function()
    assert.equal("6\n7\n7\n", (type_in("2 * 3", "_ + 1", "x = 1", "_")))
  end)

  it("helps at the bare word, unless it is somebody's own", function()
    assert.equal((type_in "help()"), (type_in "help"))
    assert.equal("5\n", (type_in("help = 5", "help")))
  end)

  it("waits for the rest of an entry of several lines", function()
    assert.equal("1\n2\n", (type_in("for i = 1, 2 do", "  print(i)", "end")))
    assert.equal('"a\\nb"\n', (type_in("[[a", "b]]")))
    assert.equal("3\n", (type_in("1 +", "2")))
  end)

  it("shows the last line of an entry of several when that is an expression", function()
    local screen, code = program.play([[
      expect pn>
      send \e[200~a = 20\na + 1\e[201~
      expect a + 1
      send \n
      expect 21
      expect pn>
      send \x04
    ]], program.prompt())
    assert.equal(0, code, screen)
  end)

  it("says at the end of input that an entry is not finished", function()
    local out, err = type_in "function f()"
    assert.equal("", out)
    assert.truthy(err:find("'end' expected near <eof>", 1, true))
  end)

  it("goes on after an error, and says it without a traceback of the entry itself", function()
    local out, err = type_in("error 'went wrong'", "1")
    assert.equal("1\n", out)
    assert.matches("^%[1%]:1: went wrong\n", err)
  end)

  it("adds a traceback when a function was on the way", function()
    local _, err = type_in("function f() error 'deep' end", "f()")
    assert.truthy(err:find("[1]:1: deep\n> function f() error 'deep' end\nstack traceback:\n", 1, true))
    assert.truthy(err:find("\t[1]:1: in function 'f'\n\t[2]:1: in the entry\n", 1, true))
  end)

  it("marks an option whose value is refused", function()
    local _, err = type_in("set.l1_ball{dim=2, radius=-1}")
    assert.equal("[1]:1: set.l1_ball: radius must be a positive number, got -1\n> set.l1_ball{dim=2, radius=-1}\n"
      .. (" "):rep(21) .. "^^^^^^\n", err)
  end)

  it("prints the last of several statements on a line when it is an expression", function()
    local out, err = type_in("x = 3; x", "y = 1; z = 'a;b'; y + x, z", "for i = 1, 2 do y = i; end", "y")
    assert.equal("", err)
    assert.equal('3\n4\t"a;b"\n2\n', out)
  end)

  it("knows what other languages write", function()
    local _, err = type_in("x != 2", "x += 1", "a && b", "x = “a”", "größe = 1", "x = @")
    assert.truthy(err:find("> x != 2\n    ^\ndid you mean `~=`?", 1, true), err)
    assert.truthy(err:find("did you mean `x = x + 1`?", 1, true), err)
    assert.truthy(err:find("did you mean `and`?", 1, true), err)
    assert.truthy(err:find("near '“'\n> x = “a”\n      ^\ndid you mean `\"`?", 1, true), err)
    assert.truthy(err:find("near 'ö'\n> größe = 1\n    ^\n[6]", 1, true), err)
  end)

  it("answers with Lua's way what Python, R and C write", function()
    local cases, typed = {
      { "def f(x): return x", "function f(x) ... end" }, { "for i in range(10):", "for i = 1, n do ... end" },
      { "for (i in 1:10) { }", "for i = 1, n do ... end" }, { "x = [1, 2]", "{1, 2}" }, { "f([1, 2])", "{1, 2}" },
      { "x = 2 ** 3", "^" }, { "if x == 1:", "if ... then ... end" }, { "elif x:", "elseif ... then" },
      { "while x < 3:", "while ... do ... end" }, { "import numpy", 'require "numpy"' }, { "i++", "i = i + 1" },
      { "print x", "print(x)" }, { 'x = {"a": 1}', "{a = ...}" }, { "f = lambda x: x", "f = function(x) return x end" },
      { "len({1})", "#x" }, { "range(3)", "for i = 1, n do ... end" }, { "c(1, 2)", "{1, 2, 3}" }, { "not !x", "not x" },
      { "[x^2 for x in data]", "for i, x in ipairs(data) do t[#t + 1] = x^2 end" },
      { "for x in data:", "for i, x in ipairs(data) do ... end" }, { "if x is None:", "if x == nil then ... end" },
      { "try:", "pcall(f)" }, { "if (x > 1) { y = 2 }", "if ... then ... end" },
      { "if x then y() elif z then y() end", "elseif" }, { "x <- 5", "x = 5" },
      { "f <- function(x) x + 1", "function f(x) return x + 1 end" }, { "x = y ? 1 : 2", "y and 1 or 2" },
      { "x = 1 if y else 2", "y and 1 or 2" }, { "d$x", "d.x" }, { "let x = 5;", "x = 5" },
      { "solve.sgd(obj, epsilon=1)", "solve.sgd(obj, {epsilon=1})" }, { "set.l1_ball(dim=2)", "set.l1_ball{dim=2}" },
      { "x[1:3]", "x:slice(1, 3)" }, { "assert x == 1", "assert(x == 1)" }, { "++i", "i = i + 1" },
      { "t = {} t.append(1)", "t[#t + 1] = x" }, { '"abc".upper()', '("abc"):upper(...)' }, { "x = 5 # five", "-- ..." },
      { 'f"a {x}"', '("x is %g"):format(x)' },
    }, {}
    for i, case in ipairs(cases) do typed[i] = case[1] end
    local _, err = type_in(table.unpack(typed))
    for i, case in ipairs(cases) do
      local said = err:match(("%%[%d%%]:1:.-\n(Lua writes `[^\n]*`)\n"):format(i)) or err
      assert.equal("Lua writes `" .. case[2] .. "`", said, case[1])
    end
    _, err = type_in "'a' + 'b'"
    assert.matches("Lua joins strings with `..`", err, 1, true)
  end)

  it("finds no habit in what is Lua", function()
    local out, err = type_in('s = "a ** b"', "t = {len = 3}", "#t",
      "for k, v in pairs(t) do -- of t:\nlast = k end", "last, 7 // 2", "if #s > 1 then -- import:\nlast = 'lambda x: y' end",
      "last", "t[ [[for (i]] ] = 1 - -1", "pi = 3", "pi", "x = 4", "x <-5", "5 %2")
    assert.equal("", err)
    assert.equal('0\n"len"\t3\n"lambda x: y"\n3\nfalse\n1\n', out)
  end)

  it("blames nothing that stands in a string or a comment", function()
    local entries = { "x = 'a != b' 5", "print('[1,2]' 3)", "y = 'import x' 'lambda x: x'", "z = ) -- i++", "s = '2 ** 3' )" }
    local _, err = type_in(table.unpack(entries))
    assert.equal(#entries, select(2, err:gsub(" near ", "")), err)
    assert.falsy(err:find("Lua writes", 1, true) or err:find("did you mean", 1, true), err)
  end)

  it("takes a pasted session without its prompts and answers", function()
    local out, err = type_in("pn> x = 20", "pn> for i = 1, 2 do", "..>   x = x + i", "..> end", "pn> x")
    assert.equal("", err)
    assert.equal("23\n", out)
  end)

  it("runs a line for the shell", function()
    local out, err = type_in("!echo from the shell", "!exit 3", "!", "1 + 1")
    assert.equal("from the shell\n(exit status 3)\n2\n", out)
    assert.truthy(err:find("give a command for the shell: !ls", 1, true), err)
  end)

  it("leaves at exit and quit, also without parentheses", function()
    for _, word in ipairs { "exit", "quit", "exit()", "quit(3)" } do
      local out, err, code = program.run({ "-i" }, "1\n" .. word .. "\n2\n")
      assert.equal("1\n", out)
      assert.equal("", err)
      assert.equal(word == "quit(3)" and 3 or 0, code)
    end
  end)

  it("shows an error value that is no message", function()
    local _, err = type_in("error{code = 3}", "error(nil)")
    assert.equal("(the error is a table, not a message: {code = 3})\n> error{code = 3}\n"
      .. "(the error is nil, not a message)\n> error(nil)\n", err)
  end)

  it("saves what ran as a script that runs, with results under their names", function()
    local path = os.tmpname()
    local out, err = type_in("2 * 3", "_ + 1", "nosuch.x", "help zzz", "_?", "function f(x)\n  return x\nend; f(_2)", "%time f(_)",
      "print(_1, _2, _3)", "%save " .. path, "%save " .. path .. ".part 7 1", "wihle")
    assert.truthy(out:find("4 entries in " .. path, 1, true), out)
    assert.truthy(out:find("2 entries in " .. path .. ".part", 1, true), out)
    local again = program.run { path }
    assert.equal("6\t7\t7\n", again)
    assert.equal("_4 = f(_3)\n_1 = 2 * 3\n", program.read_all(path .. ".part"))
    os.remove(path)
    os.remove(path .. ".part")
    assert.truthy(err:find("nosuch", 1, true))
  end)

  it("refuses words behind % that make no sense", function()
    local _, err = type_in("%save 1-3", "%save x.lua y", "%who 3", "%history x", "%edit x", "%ledger L")
    assert.equal("give a file and entries: %save work.lua 1-5 8\ngive a file and entries: %save work.lua 1-5 8\n"
      .. "%who takes nothing behind it, got 3\ngive how many entries to show, as in %history 5, not x\n"
      .. "give the number of an entry, as in %edit 3, not x\n%ledger takes nothing behind it, got L\n", err)
    assert.is_nil(io.open "1-3")
  end)

  it("finds what is near a misspelt member of a value, and helps with methods", function()
    local out = type_in("f = pn.vec{1, 2}", "?f.nrom", "f:dot?", "L = ledger{epsilon = 1}", "?L.remaining")
    assert.truthy(out:find("value  1.0\nfield  What a request may still cost", 1, true), out)
    assert.truthy(out:find('Nothing is named "pn.vec.nrom".  Near it:\n  pn.vec:norm', 1, true), out)
    assert.truthy(out:find("v:dot(w) -> number", 1, true), out)
  end)

  it("shows no traceback of the library's own functions", function()
    local _, err = type_in("pn.check(3)")
    assert.equal("[1]:1: check: expected a set, norm, potential or prox, got number\n> pn.check(3)\n", err)
    _, err = type_in("function f() pn.check(3) end", "f()")
    assert.truthy(err:find("got number\n> function f() pn.check(3) end\nstack traceback:\n", 1, true))
  end)

  it("shows syntax errors", function()
    local _, err = type_in "x = = 1"
    assert.truthy(err:find("[1]:1: unexpected symbol near '='", 1, true))
  end)

  it("understands help without quotes", function()
    local plain = type_in 'help "rng.seeded"'
    assert.truthy(plain:find("pn.rng.seeded", 1, true))
    assert.equal(plain, (type_in "help rng.seeded"))
    assert.equal(plain, (type_in "help  seeded "))
    assert.equal((type_in 'help "cross validation"'), (type_in "help cross validation"))
    assert.equal((type_in 'guide "train a model"'), (type_in "guide train a model "))
    assert.equal((type_in "guide()"), (type_in "guide"))
  end)

  it("keeps results by number, but neither nil nor what a statement does", function()
    assert.equal("4\n9\nnil\n4\n9\n16\n", (type_in("2 * 2", "x = 1", "3 * 3", "nil", "_1", "_2", "_1 ^ 2 // 1 | 0")))
  end)

  it("prints nothing for an entry that ends in a semicolon, but keeps its value", function()
    assert.equal('7\n";"\n', (type_in("3 + 4;", "_", '";"', "1; -- silent")))
  end)

  it("says what a person can act on: the line, the place, the nearest name", function()
    local _, err = type_in "solv.svrg(1)"
    assert.equal("[1]:1: attempt to index a nil value (global 'solv')\n> solv.svrg(1)\n  ^^^^\ndid you mean `solve`?\n", err)
    _, err = type_in("set.l1_ball{", "  radius = 1,", "  dmi = 3 }")
    assert.truthy(err:find(">   dmi = 3 }\n    ^^^\ndid you mean `dim`?\n", 1, true), err)
  end)

  it("hands entries to a mode, which sees them before and after", function()
    local out, err = type_in([[prompt = require "penumbra.prompt"]], [[prompt.push_mode{name = "demo",
      prompt = function() return "demo> " end, env = setmetatable({ y = 20 }, { __index = _G }),
      command = function(entry) if entry == "hint" or entry == "" then print("told", entry) return true end end,
      after = function(fine, values, entry) print(fine, fine and values.n or values, entry) return entry:find "quiet" end}]],
      "hint", "", "y + 1", "z = 3", "quiet = 1, 2", "error 'bad'", "x = = 1", "prompt.pop_mode();", "z", "y")
    assert.equal(1, out:find("told\thint\ntold\t\ntrue\t1\ty + 1\n21\ntrue\t0\tz = 3\ntrue\t0\tquiet = 1, 2\n", 1, true), out)
    assert.truthy(out:find("false\t[6]:1: bad\terror 'bad'\n", 1, true), out)
    assert.truthy(out:find("false\t[7]:1: unexpected symbol near '='\tx = = 1\n", 1, true), out)
    assert.truthy(out:find("nil\nnil\n$"), out)
    assert.truthy(err:find("bad\n> error 'bad'\n", 1, true), err)
  end)

  it("refuses a mode without a prompt", function()
    local _, err = type_in 'require "penumbra.prompt".push_mode{name = "demo"}'
    assert.truthy(err:find("the mode has no `prompt`", 1, true))
  end)

  it("reads a last line that does not end", function()
    assert.equal("4\n", (program.run({ "-i" }, "2 + 2")))
  end)
end)
