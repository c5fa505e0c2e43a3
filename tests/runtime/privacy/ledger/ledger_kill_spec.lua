-- ledger_kill_spec.lua -- scripts that release from a ledger in a file and are killed -9: whatever they had released is charged.
-- (ledger_crash_test.c does the same without an interpreter, at every step and more often.)
local pn = require "penumbra"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local base = os.tmpname()
local path, out, script, pipe = base .. ".ledger", base .. ".out", base .. ".lua", base .. ".pipe"

local function lines(file)
  local count = 0
  for _ in io.lines(file) do
    count = count + 1
  end
  return count
end

-- Run the script and kill it `delay` seconds later, or that long after its first release, however long it takes to get there;
-- the status that it ended with.
local function kill_after(delay, first_release)
  local _, err, code = program.shell(([[
    rm -f %s; mkfifo %s
    %s %s >%s & child=$!
    exec 3<%s
    %s
    sleep %.5f; kill -KILL $child; wait $child
  ]]):format(pipe, pipe, program.interpreter(), program.quote(script), pipe, pipe, first_release and "read word <&3" or "",
    delay))
  return code, err
end

describe("a script that is killed", function()
  teardown(function()
    collectgarbage()
    collectgarbage()
    for _, file in ipairs { base, path, path .. ".key", path .. ".head", out, script, pipe } do
      os.remove(file)
    end
  end)

  law("has charged all that it released, and at most one release more", function()
    program.write_all(script, ([[
      local pn = require "penumbra"
      local L = pn.ledger { path = %q, rho = 1e6 }
      local m = pn.mechanism.exponential { epsilon = 4, sensitivity = 1 } -- rho 2
      local out, told = io.open(%q, "a"), false
      while true do
        out:write(m:release({ 1, 2, 3 }, { ledger = L }), "\n")
        out:flush()
        if not told then
          told = io.write "released\n":flush()
        end
      end
    ]]):format(path, out))
    program.write_all(out, "")
    do -- it exists before the first script does
      local L <close> = pn.ledger { path = path, rho = 1e6 }
      assert.equal(2, L:price(pn.mechanism.exponential({ epsilon = 4, sensitivity = 1 }).event))
    end
    local rng, charged = pn.rng.seeded(31), 0
    for run = 1, 40 do
      local before = lines(out)
      local code, err = kill_after(0.01 + 0.08 * rng:uniform(), run % 2 == 0)
      assert.equal(137, code, err)
      local L <close> = pn.ledger { path = path }
      local released = lines(out) - before
      local now = L.spent / 2
      assert.is_true(now >= charged + released)
      assert.is_true(now <= charged + released + 1)
      L:spend(pn.event.zcdp { rho = 2 }, "next")
      charged = now + 1
    end
    assert.is_true(lines(out) > 0)
  end)
end)
