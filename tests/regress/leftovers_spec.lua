-- leftovers_spec.lua -- a save that was killed left its half beside the file for ever; the next save takes it away.
-- (tests/runtime/core/file_test.c does the same without an interpreter, and shows what must stay.)
local program = require "tests.tools.program"

local mutants = program.tree .. "/mutants"

local SAVES = {
  model = [[
    local d = pn.data.synthetic.lasso { n = 50, p = 3, seed = 1 }
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 3 } }
    pn.solve.frank_wolfe(obj, { privacy = false, iterations = 2 }):save(PATH)]],
  vector = "pn.vec { 1, 2 }:save(PATH)",
  stream = "os.remove(PATH) pn.tree { dim = 2, horizon = 16, sensitivity = 1, rho = 0.5, rng = pn.rng.seeded(5) }:save(PATH)",
  text = "require 'penumbra.files'.put(PATH, 'text')",
  results = [[pn.experiment { grid = { x = { 1 } }, progress = false, run = function() return { a = 1 } end }:save(PATH)]],
}

describe("a save that is killed", function()
  local folder, path

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    path = folder .. "/file"
  end)
  after_each(function() os.execute("rm -r " .. folder) end)

  local function files()
    return select(2, program.shell("ls -A " .. folder):gsub("\n", ""))
  end

  -- The exit status of a save in a process of its own, which dies at `point`.
  local function save(code, point)
    local script = folder .. ".lua"
    program.write_all(script, ("local PATH = %q local pn = require 'penumbra' %s"):format(path, code))
    local out, err, status = program.shell(("PENUMBRA_MUTANT=%s LUA_CPATH='%s/?.so;;' exec %s %s"):format(point or "none", mutants,
      program.interpreter(), script))
    os.remove(script)
    return status, out .. err
  end

  for what, code in pairs(SAVES) do
    it("leaves no trace once there was another one: " .. what, function()
      local built = io.open(mutants .. "/penumbra/core.so")
      if not built then return pending "the module with crash points is not built" end
      built:close()
      for _, point in ipairs { "file_crash_begun", "file_crash_written" } do
        local status, said = save(code, point)
        assert.equal(137, status, said)
        assert.equal(1, files())
        status, said = save(code)
        assert.equal(0, status, said)
        assert.equal(1, files(), program.shell("ls -A " .. folder))
        os.remove(path)
      end
    end)
  end
end)
