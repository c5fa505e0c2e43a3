-- usage_spec.lua -- every function has an example, and every example runs as it stands.
local pn = require "penumbra"
local usage = require "penumbra.usage"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"

local function names_where(wanted)
  local names = {}
  for name, entry in pairs(pn.reference()) do
    if wanted(name, entry) then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- What needs several processes says so in its first line.
local function ranks_of(code)
  return code:match "^%-%- mpirun %-n (%d+) penumbra script%.lua\n"
end

local with_example = names_where(function(name) return usage[name] ~= nil end)

-- Runs each of the examples in a process, in an environment of its own; prints "NAME\tmessage" for those that fail.
local RUNNER = [[
  local pn, usage = require "penumbra", require "penumbra.usage"
  local file = assert(io.open "names")
  for name in file:lines() do
    local env = setmetatable({ pn = pn, print = function() end }, { __index = _G })
    local said = io.stdout
    if name == "help" or name:match "^plot" then io.output "said" end -- they write to stdout: that is what they are for
    local chunk, message = load(usage[name], "=" .. name, "t", env)
    local ok, problem = true, nil
    if chunk then ok, problem = xpcall(chunk, debug.traceback) else ok, problem = false, message end
    io.output(said)
    if not ok then io.stderr:write(name, "\t", tostring(problem), "\n") end
  end
]]

-- A scratch folder to run in; gone at the end.
local function in_folder(body)
  local folder = program.shell "mktemp -d":match "%S+"
  local ok, message = pcall(body, folder)
  program.shell("rm -r " .. program.quote(folder))
  assert(ok, message)
end

local absolute = program.shell("realpath " .. program.quote(program.path)):match "%S+"

describe("an example", function()
  it("stands beside every function", function()
    local without = names_where(function(name, entry)
      return entry.kind == "function" and not usage[name]
    end)
    assert.same({}, without)
  end)

  it("stands beside every method of the objects that people hold", function()
    local without = names_where(function(name, entry)
      return entry.kind == "method" and not usage[name]
    end)
    -- These need the other end of a wire.
    assert.same({ "pn.party:report", "pn.party:serve", "pn.transport:data" }, without)
  end)

  it("belongs to something that there is", function()
    local unknown = {}
    for _, part in ipairs { "numbers", "data", "geometry", "privacy", "objective", "solve", "federated", "looking" } do
      for name in pairs(require("penumbra.usage." .. part)) do
        if not pn.reference()[name] then unknown[#unknown + 1] = name end
      end
    end
    assert.same({}, unknown)
  end)

  it("is short: at most nine lines that fit a terminal of 140 columns, flush with the margin", function()
    for _, name in ipairs(with_example) do
      local lines = 0
      for line in (usage[name] .. "\n"):gmatch "(.-)\n" do
        lines = lines + 1
        assert.is_true(#line <= 140, name .. ": " .. line)
      end
      assert.is_true(lines <= 9, name)
      assert.is_nil(usage[name]:find "^%s", name)
    end
  end)

  it("names what it is for", function()
    for _, name in ipairs(with_example) do
      local last = name:match "[%w_]+$"
      assert.truthy(usage[name]:find(last, 1, true), name)
    end
  end)

  it("runs as it stands", function()
    in_folder(function(folder)
      local mine = {}
      local slow = tier.draws("", "accountant.selftest") -- under a sanitizer, where its own test runs it
      for _, name in ipairs(with_example) do
        if not ranks_of(usage[name]) and name ~= slow then mine[#mine + 1] = name .. "\n" end
      end
      assert.is_true(#mine > 250)
      program.write_all(folder .. "/names", table.concat(mine))
      program.write_all(folder .. "/runner.lua", RUNNER)
      local _, err, code = program.shell(("cd %s && %s runner.lua"):format(program.quote(folder), program.quote(absolute)))
      assert.equal("", err)
      assert.equal(0, code)
    end)
  end)

  it("runs under mpirun when it says so", function()
    if os.getenv "PN_PRELOAD" or select(3, program.shell "command -v mpirun") ~= 0
      or not io.open(program.tree .. "/lua/penumbra/mpi.so") then
      return pending "no MPI here"
    end
    in_folder(function(folder)
      for _, name in ipairs(with_example) do
        local ranks = ranks_of(usage[name])
        if ranks then
          program.write_all(folder .. "/script.lua", usage[name])
          local out, err, code = program.shell(("cd %s && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
            .. "PENUMBRA_THREADS=1 timeout 120 mpirun --oversubscribe --mca btl self,vader -n %s %s script.lua"):format(
              program.quote(folder), ranks, program.quote(absolute)))
          assert.equal(0, code, name .. "\n" .. out .. err)
        end
      end
    end)
  end)
end)
