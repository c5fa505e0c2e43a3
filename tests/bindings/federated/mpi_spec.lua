local program = require "tests.tools.program"

-- Two processes, one thread each, over shared memory or loopback only.
local MPIRUN = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PENUMBRA_THREADS=1 timeout 120 "
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
  for rank = 0, ranks - 1 do
    os.remove(path .. "." .. rank) -- of a test that failed
  end
  program.write_all(path, script)
  return program.shell(MPIRUN:format(ranks, program.quote(program.path), path))
end

-- What a rank has kept, which is gone then: mpirun mixes what they print.
local function kept(rank)
  local text = program.read_all(path .. "." .. rank)
  os.remove(path .. "." .. rank)
  return text
end

-- What a script prints on one process without ranks.
local function run_alone(script)
  program.write_all(path, script)
  local out, err, code = program.run { path }
  assert(code == 0, err)
  return out
end

-- Numbers with all their bits; records of both storages.
local COMMON = ("local path = %q"):format(path)
  .. [[

  local pn = require "penumbra"
  local function keep(rank, text)
    local file <close> = assert(io.open(path .. "." .. rank, "a"))
    assert(file:write(text))
  end
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
  local ball2 = pn.set.l1_ball { dim = p, radius = 2 }
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
      local _, err, code = run(
        ranks,
        "local ranks = require('penumbra').ranks()\n"
          .. PASSES
          .. [[ keep(ranks.rank, table.concat(lines, "\n") .. "\n") ]]
      )
      assert.equal(0, code, err)
      for rank = 0, ranks - 1 do
        assert.truthy(kept(rank) == alone, "the numbers of rank " .. rank .. " differ")
      end
    end
  end)

  -- 60000 x 8, then 240 MB.
  local X, y = path .. ".X.npy", path .. ".y.npy"
  teardown(function()
    os.remove(X)
    os.remove(y)
  end)

  local function npy(file, shape, block, times)
    local out <close> = assert(io.open(file, "wb"))
    local header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n"):format(shape)
    assert(out:write("\x93NUMPY\1\0", string.pack("<s2", header)))
    for _ = 1, times do
      assert(out:write(block))
    end
  end

  -- The same `distinct` records again and again.
  local function write_matrix(n, p, distinct)
    local features, labels, state = {}, {}, 1
    for i = 1, distinct do
      local row = {}
      for j = 1, p do
        state = (state * 1103515245 + 12345) % 2147483648
        row[j] = state / 2147483648 - 0.5
      end
      features[i] = string.pack(("<" .. ("d"):rep(p)), table.unpack(row))
      labels[i] = string.pack("<d", row[1] + row[2] > 0 and 1 or -1)
    end
    npy(X, ("%d, %d"):format(n, p), table.concat(features), n // distinct)
    npy(y, ("%d,"):format(n), table.concat(labels), n // distinct)
  end

  it("shares out records: passes and private models with the bits of one process, refusals of what needs others", function()
    write_matrix(60000, 8, 60000)
    local script = ([[
      local X, y = %q, %q
      local n, p = 60000, 8
      local function passes(data, ranks)
        data = data:clip_rows("l2", 1)
        local theta, v = zeros(), zeros()
        for j = 1, p do theta[j], v[j] = 0.1 * j - 0.5, 0.3 - 0.05 * j end
        local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = p, radius = 2 },
          ranks = ranks }
        local fit = pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6, iterations = 20, rng = pn.rng.seeded(4) })
        return table.concat({ bits(obj:value(theta)), bits(obj:gradient(theta)), bits(obj:hvp(theta, v)),
          bits(obj:losses(theta)), bits(obj:factors(theta)), bits(fit.theta) }, "\n"), data
      end
    ]]):format(X, y)
    local common = COMMON:gsub("n, p = 5000, 12", "n, p = 1, 8")
    local alone = run_alone(common .. script .. " print((passes(pn.data.npy(X, y))))")
    local out, err, code = run(2, common .. script .. [[
      local r = pn.ranks()
      local loaded, data = passes(pn.data.npy(X, y, { ranks = r }), r)
      keep(r.rank, loaded .. "\n" .. passes(pn.data.npy(X, y):share(r), r) .. "\n")
      local file = X .. r.rank .. ".pnd" -- a store per rank
      assert(passes(pn.data.store(file, pn.data.npy, X, y, { ranks = r }), r) == loaded)
      assert(passes(pn.data.store(file), r) == loaded)
      os.remove(file)
      local function refuses(what, f, ...)
        local fine, why = pcall(f, ...)
        assert(not fine and tostring(why):find("needs all records, and this rank holds", 1, true), what .. ": " .. tostring(why))
      end
      local box = pn.loss.black_box { value = function() return 0 end }
      refuses("a black box", pn.objective, { data = data, loss = box, ranks = r })
      for _, name in ipairs { "take", "summary", "add_bias", "shuffle" } do
        refuses(name, data[name], data, name == "take" and 3 or nil)
      end
      refuses("X", function() return data.X end)
      refuses("sharing again", data.share, data, r)
      if r.rank == 0 then print(tostring(data):match "this rank holds %d+ to %d+") end
    ]])
    assert.equal(0, code, err)
    assert.equal("this rank holds 1 to 38959\n", out)
    assert.equal(alone .. alone, kept(0))
    assert.equal(alone .. alone, kept(1))
  end)

  -- Solvers that draw batches, by a seeded stream: what they answer, cost and spend, of 40000 x 50 dense records or of as many
  -- sparse ones; the sizes are those of one chunk, of several, and whatever coins say.
  local BATCHES = COMMON:match "^(.-)local n, p = 5000"
    .. [[
  local function made(sparse)
    if not sparse then return pn.data.synthetic.logistic { n = 40000, p = 50, seed = 3 }:clip_rows("l2", 1) end
    local n, p, rng, i, j, x, y = 40000, 50, pn.rng.seeded(7), {}, {}, {}, {}
    for row = 1, n do
      local first, last = rng:uniform() * 10 // 1 + 1, rng:uniform() * 40 // 1 + 11
      i[#i + 1], j[#j + 1], x[#x + 1] = row, first, rng:uniform()
      i[#i + 1], j[#j + 1], x[#x + 1] = row, last, -rng:uniform()
      y[row] = rng:uniform() < 0.3 and 1 or -1
    end
    return pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, y):clip_rows("l2", 1)
  end
  local function fits(data, ranks, rng)
    local lines = {}
    local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 50, radius = 2 },
      ranks = ranks }
    local function fit(name, options)
      local ledger = pn.ledger { epsilon = 3, delta = 1e-5, teaching = not rng,
        neighbours = options.neighbours or "replace_one" }
      options.epsilon, options.delta, options.ledger, options.progress = 1, 1e-6, ledger, false
      options.rng = rng or pn.rng.seeded(5)
      local got = pn.solve[name](obj, options)
      lines[#lines + 1] = name .. " " .. bits(got.theta) .. " " .. bits(got.privacy.epsilon) .. " " .. bits(ledger.spent)
    end
    fit("sgd", { batch = 300, iterations = 6 })
    fit("sgd", { batch = 9000, iterations = 4, sampling = "poisson" })
    fit("sgd", { batch = 300, iterations = 6, sampling = "poisson", neighbours = "zero_out" })
    fit("sgd", { batch = 5000, epochs = 1, sampling = "shuffled" })
    fit("svrg", { epochs = 2, inner = 3, batch = 500 })
    fit("mirror_descent", { iterations = 4, batch = { size = 700 } })
    return table.concat(lines, "\n") .. "\n"
  end
  ]]

  it("draws batches of records that are shared out: fits, prices and charges of one process", function()
    local alone = run_alone(BATCHES .. "io.write(fits(made(false)), fits(made(true)))")
    assert.equal(12, select(2, alone:gsub("\n", "")))
    for ranks = 2, 3 do
      local _, err, code = run(ranks, BATCHES .. [[
        local r = pn.ranks()
        local file = path .. ".pnd" .. r.rank -- a sparse share in a store per rank
        pn.data.store(file, made(true):share(r))
        assert(tostring(pn.data.store(file)):find("40000 x 50, sparse, of which this rank holds", 1, true))
        keep(r.rank, fits(made(false):share(r), r) .. fits(pn.data.store(file), r))
        os.remove(file)
      ]])
      assert.equal(0, code, err)
      for rank = 0, ranks - 1 do
        assert.truthy(kept(rank) == alone, "the fits of rank " .. rank .. " of " .. ranks .. " differ")
      end
    end
  end)

  it("draws secure batches that all ranks agree on", function()
    local _, err, code = run(2, BATCHES .. [[
      local r = pn.ranks()
      keep(r.rank, fits(made(false):share(r), r, r:rng()))
    ]])
    assert.equal(0, code, err)
    local first = kept(0)
    assert.equal(6, select(2, first:gsub("\n", "")))
    assert.equal(first, kept(1))
  end)

  it("keeps in memory what a rank needs", function()
    write_matrix(300000, 100, 1000)
    local script = ([[
      local r = pn.ranks()
      local function resident()
        for line in io.lines "/proc/self/status" do
          local kilobytes = line:match "^VmHWM:%%s*(%%d+)"
          if kilobytes then return tonumber(kilobytes) * 1024 end
        end
      end
      local before = resident()
      local data = pn.data.npy(%q, %q, { ranks = r })
      local obj = pn.objective { data = data, loss = pn.loss.logistic(), ranks = r }
      local theta = {}
      for j = 1, data.p do theta[j] = 0.01 end
      assert(#obj:gradient(pn.vec(theta)) == data.p)
      keep(r.rank, tostring(resident() - before))
    ]]):format(X, y)
    local head = COMMON:match "^(.-)local n, p = 5000"
    local _, err, code = run(2, head .. script)
    assert.equal(0, code, err)
    for rank = 0, 1 do
      local bytes = tonumber(kept(rank)) -- of 240 MB
      assert.truthy(bytes > 0.45 * 240e6 and bytes < 0.65 * 240e6, ("rank %d grew by %.0f MB"):format(rank, bytes / 1e6))
    end
  end)

  it("trains one private model: the same on all ranks, with secure noise", function()
    local script = COMMON
      .. [[
      local ranks = pn.ranks()
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), set = ball2, ranks = ranks }
      for _, rng in ipairs { false, ranks:rng() } do
        local fit = pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6, iterations = 30, rng = rng or nil })
        assert(fit.privacy.private and not fit.privacy.simulated)
        keep(ranks.rank, bits(fit.theta) .. "\n")
      end
    ]]
    local _, err, code = run(2, script)
    assert.equal(0, code, err)
    local first, second = kept(0), kept(1)
    assert.equal(2, select(2, first:gsub("\n", "")))
    assert.equal(first, second)
    assert.not_equal(first:match "^[^\n]+", first:match "\n([^\n]+)")
    code = select(3, run(2, script))
    assert.equal(0, code)
    assert.not_equal(first, kept(0))
    assert.truthy(kept(1))
  end)

  it("refuses a secure rng that each rank has for itself", function()
    local _, err, code = run(2, COMMON .. [[
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), set = ball2, ranks = pn.ranks() }
      pn.solve.frank_wolfe(obj, { epsilon = 1, delta = 1e-6, iterations = 3, rng = pn.rng.secure() })
    ]])
    assert.not_equal(0, code)
    assert.truthy(err:find("leave rng out, or take ranks:rng()", 1, true))
  end)

  it("gives all ranks the same answers of an oracle, and refuses one whose ranks have noise of their own", function()
    local _, err, code = run(2, COMMON .. [[
      local ranks = pn.ranks()
      local obj = pn.objective { data = dense, loss = pn.loss.logistic(), set = ball2, ranks = ranks }
      local _, why = pcall(pn.oracle, { objective = obj, ledger = pn.ledger { rho = 1 }, rng = pn.rng.secure() })
      assert(why:find("oracle: 2 ranks share the work, and each would draw noise of its own", 1, true), why)
      assert(not pcall(pn.oracle, { objective = obj, ledger = pn.ledger { rho = 1 } }))
      local ask = pn.oracle { objective = obj, ledger = pn.ledger { rho = 1 }, rng = ranks:rng() }
      local own = pn.solver { name = "own", step = function(s, a) s.x = s.set:project(s.x - a:gradient(s.x)) end }
      keep(ranks.rank, bits(ask:gradient(zeros(), { rho = 0.1 })) .. bits(ask:gradient(zeros(), { rho = 0.1, batch = 9 }))
        .. bits(own(obj, { rho = 0.1, iterations = 5, progress = false }).theta))
    ]])
    assert.equal(0, code, err)
    assert.equal(kept(0), kept(1))
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
    assert.truthy(out:find("rank 1 diverged from rank 0", 1, true), out)
  end)

  -- Two parties of 7 and 5 columns.
  local FEDERATED = COMMON .. [[
  local bounded = pn.data.from(X, y):clip_rows("linf", 0.5):clip_labels(-1, 1)
  local ball = pn.set.l1_ball { dim = p, radius = 1 }
  local function train(data, transport, rng)
    local obj = pn.objective { data = data, loss = pn.loss.squared(), set = ball }
    return pn.solve.federated_frank_wolfe(obj, { transport = transport, iterations = 6, epsilon = 2, delta = 1e-6,
      sketch = { kind = "gaussian", m = 64, seed = 1 }, rng = rng, progress = false, ledger = rng and
      pn.ledger { epsilon = 2, delta = 1e-6, teaching = true } or nil })
  end
  local function columns(first, last)
    local part = {}
    for i = 1, n do part[i] = { table.unpack(X[i], first, last) } end
    return pn.data.from(part, y):clip_rows("linf", 0.5):clip_labels(-1, 1)
  end
  ]]

  it("serves the parties of a federated run with the numbers and the traffic of one process", function()
    local alone = run_alone(FEDERATED .. [[
      local transport = pn.federated.in_process { columns = { 7, 5 } }
      local fit = train(bounded, transport, pn.rng.seeded(5))
      print(bits(fit.theta), transport.uplink.bytes, transport.downlink.bytes)
    ]])
    local out, err, code = run(3, FEDERATED .. [[
      local ranks = pn.ranks()
      if ranks.rank == 0 then
        local transport = pn.federated.mpi { ranks = ranks, timeout = 30 }
        assert(transport.name == "mpi" and transport.parties == 2)
        local fit = train(transport:data(), transport, pn.rng.seeded(99))
        print(bits(fit.theta), transport.uplink.bytes, transport.downlink.bytes)
      else
        local k = ranks.rank
        local party = pn.federated.party {
          ranks = ranks, data = k == 1 and columns(1, 7) or columns(8, 12), rng = pn.rng.seeded(5):split(k - 1),
          name = "party " .. k, timeout = 30, ledger = pn.ledger { epsilon = 2, delta = 1e-6, teaching = true } }
        assert(party:serve { progress = false }.phase == "done")
        assert(party.theta:dot(party.theta) >= 0)
      end
    ]])
    assert.equal(0, code, err)
    assert.equal(alone, out)
  end)

  it("refuses a server that is not rank 0, and a party that is", function()
    local out, err, code = run(2, FEDERATED .. [[
      local ranks = pn.ranks()
      if ranks.rank == 1 then
        local _, why = pcall(pn.federated.mpi, { ranks = ranks })
        assert(why:find("the server is rank 0; rank 1 is a party", 1, true), why)
      else
        local party = pn.federated.party { ranks = ranks, data = bounded, nonprivate = true }
        local _, why = pcall(party.serve, party)
        print(why)
      end
      ranks:barrier()
    ]])
    assert.equal(0, code, err)
    assert.truthy(out:find("federated.mpi: rank 0 is the server; parties are the other ranks", 1, true), out)
  end)

  it("names a party that says nothing", function()
    local out, err, code = run(2, [[
      local pn = require "penumbra"
      local ranks = pn.ranks()
      if ranks.rank == 0 then
        local transport = pn.federated.mpi { ranks = ranks, timeout = 0.3 }
        local _, why = pcall(transport.data, transport)
        print(why)
      end
      ranks:barrier()
    ]])
    assert.equal(0, code, err)
    assert.truthy(out:find("federated.mpi: party 1 (rank 1) has not answered for 0.3 s", 1, true), out)
  end)
end)
