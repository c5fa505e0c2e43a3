-- Scripts in processes of their own, with memory errors planted (tools/peek.c): what these reach, and what they cost.  Each is
-- tried in the curator's own process as well, where it must succeed: else the attack, not the defence, would be what failed.
local pn = require "penumbra"
local build, busted_program = os.getenv("PN_BUILD") or "build", os.getenv "PENUMBRA"

-- Half of the key, which is text in its file and bytes in memory, as peek.find takes it.
local function masked_key(path)
  local file = assert(io.open(path .. ".key"))
  local hex = file:read("a"):match "(%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x)%s*$"
  file:close()
  return (hex:gsub("%x%x", function(two) return ("\\x%02x"):format(tonumber(two, 16) ~ 0x5a) end))
end

local function lines_of(command)
  local pipe, found = assert(io.popen(command)), {}
  for line in pipe:lines() do
    local name, value = line:match "^(.-)\t(.*)$"
    if name then found[name] = value end
  end
  return found, pipe:close()
end

describe("a script with a memory error", function()
  local told, ended

  setup(function()
    local path, program = os.tmpname(), build .. "/mutants/program"
    os.remove(path)
    pn.ledger { epsilon = 4, delta = 1e-6, path = path }:close()
    told, ended = lines_of(("PN_TEST_SECRET=a-word-of-the-host-5512 '%s' tests/tools/peek.lua '%s' '%s' '%s' 2>&1"):format(
      program, program, path, masked_key(path)))
    for _, suffix in ipairs { "", ".key", ".head" } do
      os.remove(path .. suffix)
    end
  end)

  local function count(name) return tonumber((told[name] or ""):match "^(%d+)\ttrue") end

  it("finds records, other answers and the environment in the curator's process", function()
    assert.is_true(ended)
    for _, name in ipairs { "record", "answer", "environment", "own" } do
      assert.is_truthy(count("shared " .. name), name .. ": " .. tostring(told["shared " .. name]))
      assert.is_true(count("shared " .. name) > 0, name)
    end
  end)

  it("finds none of them, and no key, in a process of its own", function()
    assert.is_true(count "own own" > 0) -- the search works there
    for _, name in ipairs { "record", "key", "answer", "environment" } do
      assert.equal(0, count("own " .. name), name .. ": " .. tostring(told["own " .. name]))
    end
  end)

  it("does not find the ledger's key in the curator's process either", function()
    assert.equal(0, count "shared key", told["shared key"])
  end)

  it("ends when it reads or writes records, or anything that is not there, and tells nothing", function()
    for _, name in ipairs { "read", "write", "wild" } do
      local said = told["at " .. name]
      assert.truthy(said:find("EIO script: its process was ended by the system: Segmentation fault", 1, true), said)
      assert.is_nil(said:find "hello")
    end
    assert.equal("0", told["at copy"]:match "^%d+", told["at copy"])
    assert.equal("0", told["after work"]:match "^%d+", told["after work"])
    assert.equal("0", told["in a schedule"]:match "^%d+", told["in a schedule"])
    assert.equal("0", told["in a step"]:match "^-?%d+", told["in a step"])
  end)

  it("costs nothing but itself", function()
    assert.equal(0, tonumber(told["spent by errors"]))
    assert.equal("3", told.after)
  end)

  it("opens no file or socket, signals nobody, starts no process and makes no code", function()
    for _, name in ipairs { "open", "socket", "signal", "execute", "fork" } do
      assert.equal("true", told["shared " .. name], name)
      assert.equal("false", told["own " .. name], name)
    end
  end)
end)

describe("a solver", function()
  -- The same script, where the rows say what they reveal and where none does.
  local function answer(mutant)
    local script = os.tmpname()
    local file = assert(io.open(script, "w"))
    file:write [[
      local d = pn.data.synthetic.logistic{n=50, p=3, seed=1}:clip_rows("l2", 1)
      local c = pn.curator{data={d=d}, ledger=pn.ledger{epsilon=9, delta=1e-6}, process=false}
      local r = c:run[==[
        local o = pn.objective{data=data.d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=3, radius=1}}
        return #pn.solve.gradient_descent(o, {epsilon=1, delta=1e-7, iterations=2}).theta]==]
      print(r.answer or r.status .. r.error)]]
    file:close()
    local pipe = io.popen(("PENUMBRA_MUTANT='%s' '%s/mutants/program' %s"):format(mutant, build, script))
    local text = pipe:read "a"
    pipe:close()
    os.remove(script)
    return text
  end

  it("is denied to scripts until its row says what it reveals", function()
    assert.equal("3\n", answer "")
    assert.equal("EPRIVACYscript:2: pn.solve.gradient_descent is not available to analysts: what it reveals is not declared\n",
      answer "no_solver_judged")
  end)
end)

describe("the process of a script", function()
  local data = pn.data.from({ { 0.1, 0.2 }, { 0.3, -0.1 } }, { 1, -1 }):clip_rows("l2", 1)

  local function curator(options)
    options.data, options.ledger = { d = data }, pn.ledger { epsilon = 1 }
    return pn.curator(options)
  end

  it("is refused with its remedy where its program is not there, or is another one", function()
    local r = curator { program = "/nowhere/penumbra" }:run "return 1"
    assert.equal("EIO", r.status)
    assert.truthy(r.error:find("/nowhere/penumbra could not be started", 1, true), r.error)
    assert.truthy(r.error:find("process=false", 1, true), r.error)
    r = curator { program = "/bin/true" }:run "return 1"
    assert.equal("EIO", r.status)
    assert.truthy(r.error:find("its process ended before the script did", 1, true), r.error)
  end)

  it("is the default, and gives what a script in this process gives", function()
    for _, options in ipairs { {}, { process = true, program = busted_program }, { process = false } } do
      local r = curator(options):run "print('a\\0b', data.d.n) return data.d.bounds.l2, budget.remaining, pn.vec{1, 2}"
      assert.is_true(r.ok, r.error)
      assert.equal("a\\x00b\t2\n", r.output)
      assert.equal("1.0\t1.0\tvec(2): 1 2", r.answer)
    end
  end)

  it("is killed soon after its limit of time in the middle of a factorization, which nothing else stops", function()
    local clock = require("penumbra.workers").seconds
    local begun = clock()
    local r = curator { seconds = 0.3, memory = 2048, threads = 1 }:run([[
      local A = pn.mat.zeros(4000, 4000)
      for i = 1, 4000 do A:set(i, i, i) A:set(1, i, 1) A:set(i, 1, 1) end
      return A:svd()]], "a")
    assert.equal("ELIMIT", r.status)
    assert.equal("a: the limit of 0.3 seconds was reached", r.error)
    assert.is_true(clock() - begun < 20) -- the whole takes minutes
  end)

  it("answers under the least limit of address space that CURATOR.md states", function()
    local memory, threads = 64, 2
    local kilobytes = (2 * memory + 512 + 128 * threads) * 1024
    local script = os.tmpname()
    local file = assert(io.open(script, "w"))
    file:write(([[
      local d = pn.data.synthetic.logistic{n=2000, p=6, seed=1}:clip_rows("l2", 1)
      local c = pn.curator{data={d=d}, ledger=pn.ledger{epsilon=1, delta=1e-6}, memory=%d, threads=%d}
      print(c:run("local A = pn.mat.zeros(200, 200) for i = 1, 200 do A:set(i, i, 1) end local U, s = A:svd() " ..
        "local o = pn.objective{data=data.d:take(400), loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=6, radius=1}} " ..
        "return s[1], (A * A).rows, #pn.solve.sgd(o, {epsilon=0.5, delta=1e-7}).theta").answer)]]):format(memory, threads))
    file:close()
    local pipe = io.popen(("ulimit -v %d; '%s' %s 2>&1"):format(kilobytes, busted_program, script))
    assert.equal("1.0\t200\t6\n", pipe:read "a")
    pipe:close()
    os.remove(script)
  end)

  it("is ended when it sends what no script's process sends, and tells, charges and breaks nothing", function()
    local ready, output, ask, done = 5, 8, 6, 9 -- kinds of frames, wire.h
    local function frame(kind, body, size) return string.pack("<I4I4", kind, size or #body) .. body end
    local function text(bytes) return string.pack("<I8", #bytes) .. bytes .. "\0" end
    local said = frame(output, string.pack("<I8", 0) .. text "leaked")
    local begun = frame(ready, "")
    for what, bytes in pairs {
      ["noise"] = ("\xa5"):rep(64),
      ["a frame that is too large"] = begun .. frame(output, "", 0xffffffff),
      ["an end before the start"] = frame(done, string.pack("<I8", 0) .. text "forged"),
      ["a text beyond its frame"] = begun .. frame(output, string.pack("<I8I8", 0, 1 << 40)),
      ["a text without its end"] = begun .. frame(output, string.pack("<I8I8", 0, 3) .. "abcd"),
      ["a channel that there is not"] = begun .. frame(output, string.pack("<I8", 7) .. text "x"),
      ["a charge without an event"] = begun .. frame(ask, string.pack("<I8I8I8I8", 2, 1, -1, -1)) .. said,
      ["a charge of nonsense"] = begun .. frame(ask, string.pack("<I8I8", 2, 1) .. text "gaussian(sigma=1e999" .. text "l"),
      ["output and then silence"] = begun .. said,
    } do
      local path = os.tmpname()
      local file = assert(io.open(path, "w"))
      local octal = bytes:gsub(".", function(c) return ("\\%03o"):format(c:byte()) end)
      file:write("#!/bin/sh\nprintf '", octal, "' >&3\n")
      file:close()
      os.execute("chmod +x " .. path)
      local c = curator { program = path }
      for _ = 1, 2 do -- it can be asked again
        local r = c:run "return 1"
        assert.is_false(r.ok, what)
        assert.truthy(r.status == "EIO" or r.status == "EPARSE", what .. ": " .. tostring(r.status) .. " " .. r.error)
        assert.equal("", r.output, what)
        assert.equal(0, r.spent, what)
      end
      os.remove(path)
    end
  end)

  it("is nothing that a person can start", function()
    local pipe = io.popen(("'%s' --curated </dev/null 2>&1; echo $?"):format(busted_program))
    assert.equal("3\n", pipe:read "a")
    pipe:close()
  end)
end)
