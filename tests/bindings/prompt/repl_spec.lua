local program = require "tests.tools.program"

describe("the prompt, on a terminal", function()
  local play = program.play
  local history

  before_each(function()
    history = os.tmpname()
    os.remove(history)
  end)

  after_each(function()
    os.remove(history)
  end)

  -- Each line waits for the prompt.
  local function session(lines, path)
    local keys = {}
    for _, line in ipairs(lines) do
      keys[#keys + 1] = "expect pn>\nsend " .. line .. "\n"
    end
    return play(table.concat(keys) .. "expect pn>\nsend \\x04\n", program.prompt(history, path))
  end

  it("greets, prompts, and leaves at Ctrl-D with status 0", function()
    local screen, code = session { "6 * 7\\n" }
    assert.truthy(screen:find("Penumbra ", 1, true))
    assert.truthy(screen:find("_1 = 42\r\n", 1, true))
    assert.equal(0, code)
  end)

  it("shows another prompt for the lines of an unfinished entry", function()
    local _, code = play([[
      expect pn>
      send for i = 1, 2 do\n
      expect ..>
      send print(i * 111)\n
      expect ..>
      send end\n
      expect 111
      expect 222
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code)
  end)

  it("keeps an entry of several lines as one, in a file that only its owner reads", function()
    play([[
      expect pn>
      send if true then\n
      expect ..>
      send print(12 * 12)\n
      expect ..>
      send end\n
      expect 144
      expect pn>
      send \x04
    ]], program.prompt(history))
    local mode = program.shell("stat -c %a " .. history)
    assert.equal("600\n", mode)
    -- In the next session one Up brings all of it back.
    local _, code = play([[
      expect pn>
      send \e[A
      expect print(12 * 12)
      send \n
      expect 144
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code)
  end)

  it("keeps the history short", function()
    local entries = {}
    for i = 1, 2500 do entries[i] = ("#%d\nx = %d\n"):format(1700000000 + i, i) end
    program.write_all(history, table.concat(entries))
    session {}
    local kept = program.read_all(history)
    assert.truthy(kept:find("x = 2500\n", 1, true))
    assert.is_nil(kept:find("x = 500\n", 1, true))
    assert.equal(2000, select(2, kept:gsub("x = ", "")))
  end)

  it("works without a home", function()
    local screen, code = play([[
      expect pn>
      send 5 + 5\n
      expect 10
      expect pn>
      send \x04
    ]], "env -u HOME -u PENUMBRA_HISTORY " .. program.path)
    assert.equal(0, code, screen)
    local _, unwritable = play("expect pn>\nsend \\x04\n", program.prompt "/proc/no/such/place")
    assert.equal(0, unwritable)
  end)

  it("begins with the entries of the startup file, and shows what is wrong with them", function()
    local file = os.tmpname()
    local function with(text, entry)
      program.write_all(file, text)
      return play("expect pn>\nsend " .. entry .. "\\n\nexpect pn>\nsend \\x04\n",
        "env PENUMBRA_STARTUP=" .. file .. " " .. program.prompt(history))
    end
    local screen = with("favourite = 41", "favourite + 1")
    assert.truthy(screen:find("_1 = 42\r\n", 1, true), screen)
    screen = with("favourite = nosuch.field", "6 * 7")
    assert.truthy(screen:find("attempt to index a nil value", 1, true), screen)
    assert.truthy(screen:find("_1 = 42\r\n", 1, true), screen)
    screen = with("for", "6 * 7")
    assert.truthy(screen:find("<name> expected", 1, true), screen)
    os.remove(file)
  end)

  it("says what Lua writes for another language's True", function()
    local screen = session { "x = True\\n", "True\\n", "t = {True = 1}\\n" }
    assert.equal(2, select(2, screen:gsub("there is no `True`; Lua writes `true`", "")), screen)
  end)

  it("tells those who assign with an arrow or count from 0 what Lua does", function()
    local screen = session { "x = 1\\n", "x <- 5\\n", "t = {7}\\n", "t[0]\\n", "t[-1]\\n", "t[1] <- 2\\n" }
    assert.matches("this compares `x` with `-5`; Lua assigns with `x = 5`", screen, 1, true)
    assert.matches("lists begin at 1: the first is `t[1]`", screen, 1, true)
    assert.matches("the last is `t[#t]`", screen, 1, true)
    assert.equal(1, select(2, screen:gsub("this compares", "")), screen)
  end)

  it("says once that a local ends with its entry", function()
    local screen = session { "local a = 1\\n", "local b = 2\\n" }
    assert.equal(1, select(2, screen:gsub("a local lasts for its entry only", "")))
  end)

  it("drops the line at Ctrl-C, and an unfinished entry", function()
    local screen, code = play([[
      expect pn>
      send print 'dropped'
      expect dropped'
      send \x03
      expect pn>
      send 7 * 7\n
      expect 49
      expect pn>
      send while true do\n
      expect ..>
      send \x03
      expect pn>
      send 8 * 8\n
      expect 64
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
    assert.is_nil(screen:find("\ndropped", 1, true))
  end)

  it("leaves a search in the history at Ctrl-C", function()
    local screen, code = play([[
      expect pn>
      send x = 12345\n
      expect pn>
      send \x12
      expect search
      send 5
      expect x = 1234
      sleep 200
      send \x03
      expect pn>
      send 9 * 9\n
      expect 81
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("interrupts a Lua loop at Ctrl-C", function()
    local screen, code = play([[
      expect pn>
      send print 'go' while true do end\n
      expect go\x0d\n
      sleep 200
      send \x03
      expect interrupted
      expect pn>
      send 3 * 37\n
      expect 111
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  -- A write that Ctrl-C interrupts fails; whoever printed too much is to leave as if nothing had been wrong.
  it("takes what Ctrl-C cuts off for no failure of the terminal", function()
    local screen, code = play([[
      expect pn>
      send while true do io.write("x") end\n
      expect xxxx
      stall 200
      send \x03
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen:sub(-1000))
  end)

  it("interrupts a loop that swallows errors at the second Ctrl-C", function()
    local screen, code = play([[
      expect pn>
      send function f() while true do end end\n
      expect pn>
      send print 'go' while true do pcall(f) print 'again' end\n
      expect go\x0d\n
      sleep 200
      send \x03
      expect again\x0d\n
      sleep 200
      send \x03
      expect interrupted
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("interrupts a loop in a coroutine", function()
    local screen, code = play([[
      expect pn>
      send coroutine.wrap(function() print 'go' while true do end end)()\n
      expect go\x0d\n
      sleep 200
      send \x03
      expect interrupted
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("completes globals and the parts of libraries", function()
    local screen, code = play([[
      expect pn>
      send pn.vers\t\n
      expect pn.version
      expect "0
      expect pn>
      send rng.see\t(1)\n
      expect rng.seeded(1)
      expect pn>
      send coro\t.wr\t\n
      expect coroutine.wrap
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("lists what a name may go on with at Tab", function()
    local screen, code = play([[
      expect pn>
      send rng.\t
      expect secure
      expect seeded
      expect pn> rng.se
      send \x15\n
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("indents at Tab where nothing has been typed", function()
    local screen, code = play([[
      expect pn>
      send \t1 + 1\n
      expect   1 + 1
      expect 2
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("stops a running call at Ctrl-C without an error, and shows what it reached", function()
    local screen, code = play([[
      expect pn>
      send print 'go' return pn.busy{ms = 60000, progress = false}\n
      expect go\x0d\n
      sleep 200
      send \x03
      expect stopped by Ctrl-C
      expect PN_ECANCELLED
      expect pn>
      send \x04
    ]], program.prompt(history, program.with_busy()))
    assert.equal(0, code, screen)
    assert.is_nil(screen:find("interrupted", 1, true))
  end)

  it("stops a fit at Ctrl-C and shows what it reached, and leaves nothing of its bar", function()
    local screen, code = play([[
      expect pn>
      send d = pn.data.synthetic.lasso{n=500, p=20, sparsity=3, noise=0.1, seed=1}\n
      expect pn>
      send obj = pn.objective{data=d, loss=pn.loss.squared(), set=pn.set.l1_ball{dim=20, radius=1}}\n
      expect pn>
      send pn.solve.frank_wolfe(obj, {privacy=false, iterations=100000000})\n
      expect frank_wolfe  [
      send \x03
      expect stopped by Ctrl-C
      expect interrupted
      expect pn>
      send _.stopped\n
      expect "interrupted"
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
    -- The last thing before the note clears the line of the bar, ^C included: 77 columns of bar, 2 of ^C.
    assert.truthy(screen:find("\r" .. (" "):rep(70) .. " *\r\r%(stopped by Ctrl%-C"))
  end)

  it("says what it waits for when a call does not stop, and how to leave", function()
    local screen, code = play([[
      expect pn>
      send print 'go' return ("a"):rep(60):find(("a*"):rep(30) .. "b")\n
      expect go\x0d\n
      sleep 1000
      send \x03
      expect (waiting for 'find'; Ctrl-C again stops what follows, Ctrl-\\ ends the program)
      send \x03
      expect (waiting for 'find', which cannot be stopped at once; Ctrl-\\ ends the program)
      send \x1c
    ]], program.prompt(history))
    assert.equal(128 + 3, code, screen)
  end)

  it("stops what sets compute", function()
    local screen, code = play([[
      expect pn>
      send C = set.l1_ball{dim=20000, radius=1}:intersect(set.l2_ball{dim=20000, radius=0.3})\n
      expect pn>
      send C = C:intersect(set.linf_ball{dim=20000, radius=0.01}) v = vec.normal(20000, rng.seeded(1))\n
      expect pn>
      send print 'go' while true do C:support(v) end\n
      expect go\x0d\n
      sleep 1000
      send \x03
      expect stopped by the user
      expect pn>
      send print 'again' pn.width(C, {method="monte_carlo", draws=100000})\n
      expect again\x0d\n
      sleep 1000
      send \x03
      expect stopped by the user
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("stops maps and normal numbers, and says how far they are", function()
    local screen, code = play([[
      expect pn>
      send for i = 1, 1e9 do pn.vec.normal(60000000, pn.rng.seeded(i)) end\n
      expect vec.normal  [
      send \x03
      expect vec.normal: stopped by the user
      expect pn>
      send v = pn.vec.zeros(20000000)\n
      expect pn>
      send for i = 1, 1e9 do v:map(function(t) for k = 1, 12 do t = sin(exp(tanh(t))) end return t end) end\n
      expect map  [
      send \x03
      expect ^C
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("ends a line that an entry left open, and takes no file for a result", function()
    local screen, code = play([[
      expect pn>
      send io.write 'abc' return 4\n
      expect abc\x0d\n_1 = 4
      expect pn>
      send io.write 'def'\n
      expect def\x0d\n
      expect pn>
      send _\n
      expect _2 = 4
      expect pn>
      send \x04
    ]], program.prompt(history))
    assert.equal(0, code, screen)
  end)

  it("fits a narrow terminal: the mark is below its place", function()
    local screen, code = program.play([[
      expect pn>
      send long_name, another_name = set.l1_ball{dim = 3, radus = 1}, 5\n
      expect `radius`?
      expect pn>
      send \x04
    ]], program.prompt(history), 40)
    assert.equal(0, code, screen)
    local line, mark = screen:match "\n> ([^\r]*radus[^\r]*)\r\n  ( *%^+)\r"
    assert.truthy(line, screen)
    assert.truthy(#line <= 38, line)
    assert.equal("radus", line:sub(mark:find "%^+"))
  end)

  it("stops a loop of running calls at the second Ctrl-C", function()
    local screen, code = play([[
      expect pn>
      send for i = 1, 1e6 do print('go', i) pn.busy{ms = 60000, progress = false} end\n
      expect 1\x0d\n
      sleep 200
      send \x03
      expect 2\x0d\n
      sleep 200
      send \x03
      expect interrupted
      expect pn>
      send \x04
    ]], program.prompt(history, program.with_busy()))
    assert.equal(0, code, screen)
  end)
end)

describe("Ctrl-C in a script", function()
  local function play_script(keys, code)
    return program.play(keys, program.with_busy() .. " -e " .. program.quote(code))
  end

  it("ends the program as a signal does, and says where", function()
    local screen, code = play_script([[
      expect go\x0d\n
      sleep 100
      send \x03
      expect interrupted
    ]], "print 'go' while true do end")
    assert.equal(130, code, screen)
    assert.truthy(screen:find("(-e):1: interrupted", 1, true))
  end)

  it("stops a running call, and the script goes on with what it reached", function()
    local screen, code = play_script([[
      expect go\x0d\n
      sleep 200
      send \x03
    ]], "print 'go' print((pn.busy{ms = 60000, progress = false})) print 'went on'")
    assert.truthy(screen:find("PN_ECANCELLED", 1, true))
    assert.truthy(screen:find("went on", 1, true))
    assert.equal(0, code)
  end)

  it("ends the script at the next Ctrl-C", function()
    local screen, code = play_script([[
      expect go\x0d\n
      sleep 200
      send \x03
      expect on\x0d\n
      sleep 1300
      send \x03
      expect interrupted
    ]], [[
      local function busy() pn.busy{ms = 60000, progress = false} end
      print 'go' busy() print 'on' busy() print 'never'
    ]])
    assert.equal(130, code, screen)
    assert.is_nil(screen:find("never\r\n", 1, true))
  end)

  it("kills the program when it comes twice within a second", function()
    -- In a call that looks at nothing: the hook, which ends what only catches errors, does not end it.  Pressed until it is dead:
    -- on a busy machine several may arrive as one, or more than a second apart.
    local screen, code = play_script([[
      expect go\x0d\n
      sleep 200
      press \x03
    ]], "print 'go' print(('a'):rep(60):find(('a?'):rep(60) .. ('a'):rep(60)))")
    assert.equal(130, code, screen)
  end)
end)
