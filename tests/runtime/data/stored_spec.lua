-- stored_spec.lua -- data sets that stay on disk: the same records, bounds and runs as in memory, within a limit of memory.
local pn = require "penumbra"
local people = require "tests.tools.people"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal
local tier = require "tests.tools.tier"
local files = dofile(debug.getinfo(1, "S").source:match("^@(.*)stored_spec.lua$") .. "files.lua")

local function stored(...)
  return pn.data.store(files.write "", ...)
end

local function sparse_text()
  local lines = {}
  for i = 1, 300 do
    lines[i] = ("%d %d:%.3f %d:%.3f %d:1"):format(i % 2, i % 7 + 1, math.sin(i), i % 7 + 9, math.cos(i), 30 + i % 50)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Data sets of every storage, with all that a file can carry.
local makers = {
  dense = function() return pn.data.synthetic.logistic { n = 500, p = 8, seed = 3 }:clip_rows("l2", 1):add_bias() end,
  dense32 = function() return pn.data.synthetic.lasso { n = 500, p = 8, seed = 4 }:clip_rows("l1", 2):float32() end,
  sparse = function() return pn.data.libsvm(files.write(sparse_text()), { labels = "binary" }):clip_rows("l2", 1) end,
  sparse32 = function()
    return pn.data.libsvm(files.write(sparse_text()), { labels = "binary", clip_rows = { "linf", .5 } }):float32()
  end,
  recipe = function()
    local path = people.write(400)
    files.made[#files.made + 1] = path
    return people.recipe(people.labels.logistic):data(path)
  end,
}

local function rows(d)
  return files.rows(d.sparse and d.X:dense() or d.X)
end

local function each(visit)
  for _, name in ipairs { "dense", "dense32", "sparse", "sparse32", "recipe" } do visit(makers[name](), name) end
end

local function teaching()
  return { epsilon = 1, delta = 1e-6, ledger = pn.ledger { epsilon = 1, delta = 1e-6, teaching = true }, rng = pn.rng.seeded(7) }
end

local function options(more)
  local out = teaching()
  for key, value in pairs(more) do out[key] = value end
  return out
end

-- A run of each way to read records: passes, batches, batches without order, snapshots, Hessians.
local RUNS = {
  gradient_descent = {}, newton = {}, svrg = { calibration = "tight" }, sgd = { batch = 20 }, frank_wolfe = {},
  objective_perturbation = {},
}

local function fits(d)
  local out = {}
  for name, more in pairs(RUNS) do
    local linf = name == "frank_wolfe"
    local bounded = linf and d:clip_rows("linf", 1) or d:clip_rows("l2", 1)
    local set = linf and pn.set.l1_ball { dim = d.p, radius = 2 } or pn.set.l2_ball { dim = d.p, radius = 2 }
    local o = pn.objective { loss = pn.loss.logistic(), data = bounded, set = set }
    out[name] = pn.solve[name](o, options(more)).theta:table()
  end
  return out
end

describe("a stored data set", function()
  after_each(files.clear)

  it("has the records, labels, bounds, names and recipe of the one that was written", function()
    each(function(d, name)
      local s = stored(d)
      assert.equal(tostring(d), tostring(s), name)
      assert.same(rows(d), rows(s), name)
      assert.same(d.y:table(), s.y:table(), name)
      assert.same(d.bounds, s.bounds, name)
      assert.same({ d.name, d.storage, d.sparse, d.features }, { s.name, s.storage, s.sparse, s.features }, name)
      assert.equal(tostring(d.recipe), tostring(s.recipe), name)
    end)
  end)

  it("gives every solver the run that memory gives, number for number", function()
    for _, name in ipairs { "dense", "sparse" } do
      local d = makers[name]()
      assert.same(fits(d), fits(stored(d)), name)
    end
  end)

  it("makes of itself what a data set in memory makes", function()
    each(function(d, name)
      local s = stored(d)
      for _, make in ipairs {
        function(x) return x:clip_rows("l2", .25) end, function(x) return x:float32() end, function(x) return x:take(7) end,
        function(x) return (x:holdout(5)) end, function(x) return x:with_labels(pn.vec.ones(x.n)) end,
        function(x) return x:add_bias() end,
      } do
        local a, b = make(d), make(s)
        assert.equal(tostring(a), tostring(b), name)
        assert.same(a.bounds, b.bounds, name)
        assert.same(rows(a), rows(b), name)
      end
    end)
  end)

  it("is the same people as the records that were written", function()
    local path = files.write(sparse_text())
    local d = pn.data.libsvm(path, { labels = "binary", clip_rows = { "l2", 1 } })
    local function releases(data)
      local o = pn.objective { loss = pn.loss.logistic(), data = data, set = pn.set.l2_ball { dim = data.p, radius = 1 } }
      return tonumber(tostring(pn.solve.newton(o, { epsilon = .1, delta = 1e-6 })):match "in (%d+) release")
    end
    local before = releases(d)
    assert.equal(before + 1, releases(stored(d)))
    assert.equal(before + 2, releases(stored(d):clip_rows("l2", .5)))
  end)

  it("is made by a function with its arrays on disk, and opened later by its path alone", function()
    local path = files.write ""
    local text = files.write "y,a,b\n1,2,3\n-1,4,5\n"
    local s = pn.data.store(path, pn.data.csv, text, { label = "y", clip_rows = { "linf", 8 } })
    assert.same({ { 2, 3 }, { 4, 5 } }, rows(s))
    assert.same({ { 2, 3 }, { 4, 5 } }, rows(pn.data.store(path)))
    assert.equal(tostring(s), tostring(pn.data.store(path)))
  end)

  it("passes on what a function fails with, and leaves the file as it was", function()
    local path = files.write "before"
    assert.is_truthy(refusal(pn.data.store, path, error, "made on purpose"):find "made on purpose")
    assert.is_truthy(refusal(pn.data.store, path, function() return 3 end)
      :find("data.store: needs a data set to write, or a function that returns one, got number", 1, true))
    assert.is_truthy(refusal(pn.data.store, path, pn.data.csv, "/no/such.csv"):find "/no/such.csv")
    assert.equal("before", program.read_all(path))
    assert.is_truthy(refusal(pn.data.store, "/no/such/folder/x.pnd", makers.dense):find "/no/such/folder")
    assert.is_truthy(refusal(pn.data.store, "/no/such/folder/x.pnd", pn.data.synthetic.lasso, { n = 9, p = 2 })
      :find("no room for 4096 bytes in the folder /no/such/folder: No such file or directory", 1, true))
  end)

  it("refuses files of another kind by what they are", function()
    for _, text in ipairs { "", "y,a\n1,2\n", ("x"):rep(70000) } do
      assert.is_truthy(files.error_of(files.write(text), pn.data.store, files.made[#files.made])
        :find("FILE: not a stored data set of this version and this kind of machine", 1, true))
    end
    assert.is_truthy(refusal(pn.data.store, "/no/such/file"):find "No such file")
    assert.is_truthy(refusal(pn.data.store, "/tmp"):find "Is a directory")
  end)

  it("is refused before anything is spent once its file was changed", function()
    local path = files.write ""
    local d = pn.data.store(path, makers.dense())
    local o = pn.objective { loss = pn.loss.logistic(), data = d, set = pn.set.l2_ball { dim = d.p, radius = 1 } }
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local file = assert(io.open(path, "ab"))
    file:write "x"
    file:close()
    for _, name in ipairs { "gradient_descent", "sgd", "newton", "objective_perturbation" } do
      assert.is_truthy(refusal(pn.solve[name], o, { epsilon = .1, delta = 1e-7, ledger = ledger })
        :find "was changed since it was opened; open it again")
    end
    assert.equal(0, ledger.spent)
    assert.is_truthy(refusal(o.gradient, o, pn.vec.zeros(d.p)):find "was changed since it was opened")
  end)

  -- 60 MB of numbers, of which a process that may have 21 MB of its own, libraries and all, holds a page at a time.
  tier.it(it)("trains on three times the memory that a process is allowed, where memory alone does not load it", function()
    local path, script = files.write "", files.write [[
      local pn = require "penumbra"
      local path, where = ...
      local function make() return pn.data.synthetic.logistic { n = 150000, p = 50, seed = 1 }:clip_rows("l2", 1) end
      local d = where == "disk" and pn.data.store(path, make) or make()
      local o = pn.objective { loss = pn.loss.logistic(), data = d, set = pn.set.l2_ball { dim = 50, radius = 1 } }
      for name, count in pairs { gradient_descent = 2, sgd = 20 } do
        pn.solve[name](o, { epsilon = 1, delta = 1e-8, iterations = count })
      end
      for line in io.lines "/proc/self/status" do if line:find "RssAnon" then print(line) end end]]
    local function run(where)
      return program.shell(("ulimit -d 21000; PENUMBRA_THREADS=1 OPENBLAS_NUM_THREADS=1 exec %s %s %s %s"):format(
        program.quote(program.path), script, path, where))
    end
    if not (os.getenv "PN_PRELOAD" or ""):find "asan" then -- whose shadow of memory is beyond every limit
      local out, err, code = run "disk"
      assert.equal(0, code, err)
      assert.is_true(tonumber(out:match "RssAnon:%s*(%d+)") < 21000)
      assert.is_true(assert(io.open(path)):seek "end" > 3 * 20e6)
      out, err, code = run "memory"
      assert.is_true(code ~= 0 and err:find "memory" ~= nil, out .. err)
    end
  end)
end)
