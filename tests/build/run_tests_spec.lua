-- run_tests_spec.lua -- the runner believes no test program that dies, fails or does not count.
local lua = os.getenv("PN_LUA") or "lua5.4"

describe("the test runner", function()
  local folder

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute(("mkdir '%s'"):format(folder)))
  end)

  teardown(function()
    os.execute(("rm -r '%s'"):format(folder))
  end)

  -- An executable of the folder, made of shell lines.
  local function program(name, lines)
    local path = folder .. "/" .. name
    local file = assert(io.open(path, "w"))
    file:write("#!/bin/sh\n", lines, "\n")
    file:close()
    assert(os.execute(("chmod +x '%s'"):format(path)))
    return path
  end

  local function spec(name, body)
    local path = folder .. "/" .. name .. "_spec.lua"
    local file = assert(io.open(path, "w"))
    file:write(body)
    file:close()
    return path
  end

  -- Exit success and last line of the runner, and the whole.
  local function run(...)
    local words = { ... }
    for i, word in ipairs(words) do
      words[i] = "'" .. word .. "'"
    end
    local pipe = assert(io.popen(("%s tests/tools/run_tests.lua %s 2>&1"):format(lua, table.concat(words, " "))))
    local last, all = nil, {}
    for line in pipe:lines() do
      last, all[#all + 1] = line, line
    end
    return pipe:close() == true, last, table.concat(all, "\n")
  end

  it("adds up what programs and specs count", function()
    local a, b = program("a_test", "echo 3 passed, 0 failed"), program("b_test", "echo 4 passed, 0 failed")
    local c = spec("c", [[it("one", function() end) it("two", function() end)]])
    local ok, last = run(a, b, "--", c)
    assert.is_true(ok)
    assert.equal("9 passed, 0 failed", last)
  end)

  it("runs specs one by one when LeakSanitizer died of looking at them, and not when it found a leak", function()
    local log = folder .. "/attempts"
    local dies = spec("dies", ([[it("one", function() end)
      local file = io.open(%q, "a+")
      local before = #file:read "a"
      file:write("x"):close()
      if before == 0 then print "==1==LeakSanitizer has encountered a fatal error" os.exit(1) end]]):format(log))
    local ok, last, all = run("--", dies, spec("second", [[it("two", function() end)]]))
    assert.is_true(ok, all)
    assert.equal("2 passed, 0 failed", last)
    os.remove(log)
    assert.is_false((run("--", dies))) -- alone it is run once
    os.remove(log)
    local leaks = spec("leaks", ([[it("one", function() end)
      local file = io.open(%q, "a")
      file:write("x"):close()
      print "LeakSanitizer: detected memory leaks" os.exit(1)]]):format(log))
    assert.is_false((run("--", leaks, spec("second", [[it("two", function() end)]]))))
    assert.equal("x", io.open(log):read "a")
  end)

  it("fails when a check of a program fails", function()
    local ok, last = run(program("a_test", "echo 3 passed, 2 failed; exit 1"), "--")
    assert.is_false(ok)
    assert.equal("3 passed, 2 failed", last)
  end)

  it("fails when a program dies, before or after it has counted", function()
    local before = program("a_test", "kill -SEGV $$")
    local after = program("b_test", "echo 1 passed, 0 failed; kill -ABRT $$")
    local ok, last = run(before, after, "--")
    assert.is_false(ok)
    assert.equal("1 passed, 2 failed", last)
  end)

  it("fails when a program counts nothing", function()
    local ok, last = run(program("a_test", "true"), "--")
    assert.is_false(ok)
    assert.equal("0 passed, 1 failed", last)
  end)

  it("fails when a spec fails, raises or kills the interpreter", function()
    local ok, last = run("--", spec("c", [[it("one", function() assert.is_true(false) end) it("two", function() end)]]))
    assert.is_false(ok)
    assert.equal("1 passed, 1 failed", last)
    ok, last = run("--", spec("c", [[it("one", function() error("no") end) it("two", function() end)]]))
    assert.is_false(ok)
    assert.equal("1 passed, 1 failed", last)
    ok, last = run("--", spec("c", [[it("one", function() os.exit(0) end)]]))
    assert.is_false(ok)
    assert.equal("0 passed, 1 failed", last)
    ok = run("--", spec("c", "this is not Lua"))
    assert.is_false(ok)
  end)

  it("says once more at the end what failed", function()
    local bad = program("a_test", "echo x.c:3: does not hold: 1 == 2; echo 3 passed, 1 failed; exit 1")
    local good = program("b_test", "echo 1 passed, 0 failed")
    local dead = program("d_test", "kill -9 $$")
    local _, _, all = run(bad, good, dead, "--", spec("c", [[it("one", function() error("no") end)]]))
    local _, first = all:find("x.c:3: does not hold: 1 == 2", 1, true)
    local report = all:sub(all:find("  x.c:3: does not hold: 1 == 2\n", first, true), -1)
    assert.truthy(all:find(bad .. ":\n  x.c:3: does not hold", 1, true), all)
    assert.truthy(all:find("c_spec.lua:\n  Error -> ", 1, true), all)
    assert.truthy(all:find(dead .. ":\nended by status 137\nno count\n", 1, true), all)
    assert.is_nil(report:find("b_test", 1, true), all)
  end)

  it("fails when there is nothing to run", function()
    local ok, last = run("--")
    assert.is_false(ok)
    assert.equal("0 passed, 1 failed", last)
  end)
end)
