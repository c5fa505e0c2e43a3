local program = require "tests.tools.program"

-- Two processes, one thread each, over shared memory or loopback only.
local MPIRUN = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PENUMBRA_THREADS=1 timeout 60 "
  .. "mpirun --oversubscribe --mca btl self,vader -n %d %s %s"

local function missing()
  if os.getenv "PN_PRELOAD" then
    return "Open MPI leaks under the sanitizers"
  end
  if select(3, program.shell "command -v mpirun") ~= 0 then
    return "there is no mpirun here"
  end
  local file = io.open(program.tree .. "/lua/penumbra/mpi.so")
  if not file then
    return "built without MPI"
  end
  file:close()
end

local path = os.tmpname()

local function run(ranks, script)
  program.write_all(path, script)
  return program.shell(MPIRUN:format(ranks, program.quote(program.path), path))
end

-- What a script prints on one process without ranks.
local function run_alone(script)
  program.write_all(path, script)
  local out, err, code = program.run { path }
  assert(code == 0, err)
  return out
end

-- Numbers with all their bits; records of both storages.
local COMMON = [[
  local pn = require "penumbra"
  local function bits(x)
    if type(x) == "number" then return ("%a"):format(x) end
    local out = {}
    for i = 1, #x do out[i] = ("%a"):format(x[i]) end
    return table.concat(out, " ")
  end
  local n, p = 5000, 12
  local rng, X, y = pn.rng.seeded(7), {}, {}
  for i = 1, n do
    X[i] = {}
    for j = 1, p do X[i][j] = rng:uniform() < 0.4 and rng:uniform() - 0.5 or 0 end
    y[i] = rng:uniform() < 0.5 and -1 or 1
  end
  local function zeros() return pn.vec((function() local t = {} for j = 1, p do t[j] = 0 end return t end)()) end
  local dense = pn.data.from(X, y):clip_rows("l2", 1)
]]

local PASSES = COMMON
  .. [[
  local rows = {}
  for i = 1, 30000 do rows[i] = (i * 1009) % n + 1 end
  local theta, v = zeros(), zeros()
  for j = 1, p do theta[j], v[j] = 0.1 * j - 0.5, 0.3 - 0.05 * j end
  local i, j, x = {}, {}, {}
  for row = 1, n do
    for col = 1, p do
      if X[row][col] ~= 0 then i[#i + 1], j[#j + 1], x[#x + 1] = row, col, X[row][col] end
    end
  end
  local sparse = pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, y):clip_rows("l2", 1)
  local lines = {}
  for _, data in ipairs { dense, sparse } do
    for _, loss in ipairs { pn.loss.logistic(), pn.loss.squared() } do
      local obj = pn.objective { data = data, loss = loss, set = pn.set.l1_ball { dim = p, radius = 2 }, ranks = ranks }
      lines[#lines + 1] = bits(obj:value(theta))
      lines[#lines + 1] = bits(obj:gradient(theta))
      lines[#lines + 1] = bits(obj:gradient(theta, rows))
      lines[#lines + 1] = bits(obj:hvp(theta, v))
      lines[#lines + 1] = bits(obj:losses(theta))
      lines[#lines + 1] = bits(obj:factors(theta))
    end
  end
]]

local why = missing()
describe("pn.ranks" .. (why and (" (skipped: " .. why .. ")") or ""), function()
  if why then
    return
  end
  teardown(function() os.remove(path) end)

  it("refuses a process that stands alone, and says how to start several", function()
    local _, err, code = program.run { "-e", "pn.ranks()" }
    assert.equal(1, code)
    assert.truthy(err:find("ranks: this process stands alone; start the script with `mpirun -n 2 penumbra SCRIPT`", 1, true))
  end)

  it("says who is who", function()
    local out, err, code = run(2, [[
      local r = pn.ranks()
      assert(r == pn.ranks() and r.size == 2 and r.name == "mpi")
      assert(tostring(r) == ("ranks: rank %d of 2, mpi"):format(r.rank))
      r:barrier()
      if r.rank == 0 then print "both" end
    ]])
    assert.equal(0, code, err)
    assert.equal("both\n", out)
  end)

  it("gives values, gradients and products with Hessians to the last bit of one process, dense and sparse", function()
    local alone = run_alone("local ranks\n" .. PASSES .. [[ print(table.concat(lines, "\n")) ]])
    assert.equal(4 * 6, select(2, alone:gsub("\n", "")))
    for ranks = 2, 3 do
      local out, err, code = run(
        ranks,
        "local ranks = require('penumbra').ranks()\n"
          .. PASSES
          .. ("for rank = 0, %d do ranks:barrier() if rank == ranks.rank then "):format(ranks - 1)
          .. [[io.write(table.concat(lines, "\n"), "\n") io.flush() end end ]]
      )
      assert.equal(0, code, err)
      assert.truthy(out == alone:rep(ranks), "the ranks' numbers differ")
    end
  end)

  it("trains one private model: the same on all ranks, with secure noise", function()
    local script = COMMON
      .. [[
      local ranks = pn.ranks()
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = p, radius = 2 }, ranks = ranks }
      for _, rng in ipairs { false, ranks:rng() } do
        local fit = pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6, iterations = 30, rng = rng or nil })
        assert(not tostring(fit.privacy):find 'simulated')
        for rank = 0, 1 do
          ranks:barrier()
          if rank == ranks.rank then io.write(bits(fit.theta), "\n") io.flush() end
        end
      end
    ]]
    local out, err, code = run(2, script)
    assert.equal(0, code, err)
    local models = {}
    for line in out:gmatch "[^\n]+" do models[#models + 1] = line end
    assert.equal(4, #models)
    assert.equal(models[1], models[2])
    assert.equal(models[3], models[4])
    assert.not_equal(models[1], models[3])
    local again = run(2, script)
    assert.not_equal(out, again)
  end)

  it("refuses a secure rng that each rank has for itself", function()
    local _, err, code = run(2, COMMON .. [[
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = p, radius = 2 }, ranks = pn.ranks() }
      pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6, iterations = 3, rng = pn.rng.secure() })
    ]])
    assert.not_equal(0, code)
    assert.truthy(err:find("leave rng out, or take ranks:rng()", 1, true))
  end)

  it("ends all ranks with the message of the one that failed, without waiting for ever", function()
    local _, err, code = run(2, COMMON .. [[
      local r = pn.ranks()
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), ranks = r }
      if r.rank == 1 then error "this rank has had enough" end
      while true do obj:gradient(zeros()) end
    ]])
    assert.truthy(code ~= 0 and code ~= 124, "the exit status is " .. code)
    assert.truthy(err:find("this rank has had enough", 1, true))
  end)

  it("tells the others what a callback failed with on one rank", function()
    local out, err, code = run(2, COMMON .. [[
      local r, mine = pn.ranks(), { "the box is empty" }
      local box = pn.loss.black_box { value = function(theta, x, label, row)
        if r.rank == 1 then error(mine) end
        return 0
      end }
      local obj = pn.objective { data = dense, loss = box, ranks = r }
      local fine, why = pcall(obj.value, obj, zeros())
      assert(not fine)
      if r.rank == 1 then assert(why == mine) else print(why) end
    ]])
    assert.equal(0, code, err)
    assert.truthy(out:find("rank 1: ", 1, true), out)
  end)

  it("notices ranks that are at different points", function()
    local out, err, code = run(2, COMMON .. [[
      local r = pn.ranks()
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), ranks = r }
      local theta = zeros()
      theta[3] = r.rank
      local fine, why = pcall(obj.gradient, obj, theta)
      assert(not fine)
      if r.rank == 0 then print(why) end
    ]])
    assert.equal(0, code, err)
    assert.truthy(out:find("rank 1 does not do what rank 0 does", 1, true), out)
  end)
end)
