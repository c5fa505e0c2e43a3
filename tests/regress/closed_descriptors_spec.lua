-- closed_descriptors_spec.lua -- a process that starts with a standard file closed got its number for a file of its own: a ledger
-- was overwritten by what the script printed, and the exit status was 0.
local program = require "tests.tools.program"

local base = os.tmpname()
local path, script, told = base .. ".ledger", base .. ".lua", base .. ".told"

local SCRIPT = [[
  local pn = require "penumbra"
  local function say(n)
    for _ = 1, n do
      print("PRINTED line of a chatty script")
      io.stderr:write("PRINTED complaint of a chatty script\n")
    end
    io.stdout:flush()
  end
  local L = pn.ledger { path = %q, rho = 100 }
  say(30)
  pn.mechanism.exponential { epsilon = 1, sensitivity = 1 }:release({ 1, 2, 3 }, { ledger = L })
  say(30)
  local told = assert(io.open(%q, "w"))
  told:write(tostring(L.spent))
  told:close()
]]

local function remove_all()
  for _, file in ipairs { base, path, path .. ".key", path .. ".head", script, told } do os.remove(file) end
end

-- Run the script by `command` with what the shell's word closes; the exit status.
local function run(command, closing)
  remove_all()
  program.write_all(script, SCRIPT:format(path, told))
  local out, err, code = program.shell(("exec %s %s %s"):format(command, program.quote(script), closing))
  return code, out, err
end

local function check_ledger(closing)
  assert.equal("0.125", program.read_all(told), closing)
  for _, file in ipairs { path, path .. ".key", path .. ".head" } do
    assert.is_nil(program.read_all(file):find("PRINTED", 1, true), closing .. ": " .. file)
  end
  local L <close> = require "penumbra".ledger { path = path, rho = 100 }
  assert.equal(0.125, L.spent, closing)
end

local WAYS = { ">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-" }

describe("a script that is started with standard files closed", function()
  teardown(remove_all)

  it("by the program leaves its ledger whole, and lost output is a failure", function()
    for _, closing in ipairs(WAYS) do
      local code, _, err = run(program.quote(program.path), closing)
      check_ledger(closing)
      local lost = closing:find("^[^2]*[^2]>&%-") or closing:find "^>&%-"
      assert.equal(lost and 1 or 0, code, closing)
      if lost and not closing:find("2>&-", 1, true) then
        assert.truthy(err:find("standard output could not be written", 1, true), err)
      end
    end
  end)

  it("by a host leaves its ledger whole", function()
    for _, closing in ipairs(WAYS) do
      run(program.interpreter(), closing)
      check_ledger(closing)
    end
  end)

  it("and prints nothing ends well", function()
    local out, err, code = program.shell(("exec %s -e 'x = 1' >&-"):format(program.quote(program.path)))
    assert.same({ "", "", 0 }, { out, err, code })
  end)

  it("has no script where standard input is closed and is what is to be read", function()
    local _, err, code = program.shell(("exec %s - <&-"):format(program.quote(program.path)))
    assert.equal(1, code)
    assert.truthy(err:find("stdin", 1, true), err)
  end)

  -- It was ended by SIGXFSZ, and said nothing.
  it("says that its output is lost where files may not grow", function()
    local _, err, code = program.shell(("ulimit -f 8; exec %s -e 'io.write((\"x\"):rep(100000))' >%s"):format(
      program.quote(program.path), program.quote(told)))
    assert.equal(1, code)
    assert.truthy(err:find("standard output could not be written", 1, true), err)
  end)
end)
