local pn = require "penumbra"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal

local function path()
  local name = os.tmpname()
  os.remove(name)
  finally(function() os.remove(name) end)
  return name
end

local function read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- What a small experiment measures, by settings and repeat.
local function drawn(options)
  local all = { grid = { a = { 1, 2 }, b = { "x", "y" } }, repeats = 3, progress = false,
    run = function(row, rng) return { draw = rng:uniform(), a10 = 10 * row.a } end }
  for name, value in pairs(options or {}) do all[name] = value end
  local found = {}
  for _, row in ipairs(pn.experiment(all).rows) do
    found[("%s %s %d"):format(row.a, row.b, row.rep)] = row.draw
  end
  return found
end

local function count(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

describe("experiment", function()
  it("runs every combination of settings, each as often as asked", function()
    local r = pn.experiment { grid = { a = { 1, 2, 3 }, b = { true, false }, c = "one" }, repeats = 4, progress = false,
      run = function(row) return { product = row.a * row.rep } end }
    assert.equal(24, #r)
    local sum = 0
    for _, row in ipairs(r.rows) do
      assert.equal(row.a * row.rep, row.product)
      assert.equal("one", row.c)
      sum = sum + row.product
    end
    assert.equal(2 * 6 * 10, sum)
  end)

  it("gives the same numbers on one process and on several", function()
    local one = drawn { processes = 1 }
    assert.equal(12, count(one))
    assert.same(one, drawn { processes = 2 })
    assert.same(one, drawn { processes = 5 })
  end)

  it("gives every run a stream of its own, and the same one when the grid grows", function()
    local small, large, seen = drawn(), drawn { grid = { a = { 2, 1, 7 }, b = { "y", "x" } } }, {}
    for key, value in pairs(small) do
      assert.is_nil(seen[value])
      seen[value] = true
      assert.equal(value, large[key])
    end
    assert.not_same(small, drawn { seed = 2 })
  end)

  it("gives all rows of a repeat the same stream when they are paired", function()
    local found = drawn { paired = true }
    for rep = 1, 3 do
      assert.equal(found["1 x " .. rep], found["2 y " .. rep])
    end
    assert.not_equal(found["1 x 1"], found["1 x 2"])
  end)

  it("says that seeded streams are simulation, and gives secure ones for seed = false", function()
    local function simulated(seed)
      local r = pn.experiment { rows = { { a = 1 } }, seed = seed, progress = false,
        run = function(_, rng) return { simulated = rng.simulated } end }
      return r.rows[1].simulated, tostring(r):find("no privacy", 1, true) ~= nil
    end
    assert.same({ true, true }, { simulated(3) })
    assert.same({ false, false }, { simulated(false) })
  end)

  it("draws different secure noise in different processes", function()
    local r = pn.experiment { grid = { a = { 1, 2, 3, 4, 5, 6, 7, 8 } }, seed = false, processes = 4, progress = false,
      run = function(_, rng) return rng:uniform() end }
    local seen = {}
    for _, row in ipairs(r.rows) do
      assert.is_nil(seen[row.value])
      seen[row.value] = true
    end
  end)

  it("trains as a call by hand with the same stream does", function()
    local data = pn.data.synthetic.logistic { n = 300, p = 4, seed = 1 }:clip_rows("l2", 1)
    local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 4, radius = 1 } }
    local function train(row, rng)
      return pn.solve.gradient_descent(obj, { epsilon = row.epsilon, delta = 1e-5, rng = rng, progress = false }).value
    end
    local here = pn.experiment { grid = { epsilon = { 1, 4 } }, repeats = 2, processes = 1, progress = false, run = train }
    local there = pn.experiment { grid = { epsilon = { 1, 4 } }, repeats = 2, processes = 3, progress = false, run = train }
    for i = 1, 4 do assert.equal(here.rows[i].value, there.rows[i].value) end
  end)

  it("does not let a run charge a ledger of the process that began the experiment", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    finally(function() ledger:close() end)
    local ok, message = pcall(pn.experiment, { rows = { { a = 1 } }, processes = 2, progress = false,
      run = function() ledger:spend(pn.event.zcdp { rho = 1e-3 }, "twice") return 1 end })
    assert.is_false(ok)
    assert.truthy(message:find("process", 1, true), message)
    assert.truthy(message:find("; open it in run, or give processes=1", 1, true), message)
    assert.equal(1, ledger.remaining)
  end)

  it("does so on a machine with one processor, too, unless it is told to stay in this process", function()
    local workers, ledger = require "penumbra.workers", pn.ledger { epsilon = 1, delta = 1e-6 }
    local processors = workers.processors
    finally(function() workers.processors = processors ledger:close() end)
    workers.processors = function() return 1 end
    local function charge(processes)
      return pcall(pn.experiment, { rows = { { a = 1 } }, processes = processes, progress = false,
        run = function() ledger:spend(pn.event.zcdp { rho = 1e-3 }, "once") return 1 end })
    end
    assert.is_false(charge(nil))
    assert.equal(1, ledger.remaining)
    assert.is_true(charge(1))
    assert.is_true(ledger.remaining < 1)
  end)

  it("draws other noise in every process from one secure stream that was there before, used or not", function()
    local fresh, used = pn.rng.secure(), pn.rng.secure()
    used:uniform()
    local m, budget = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }, { epsilon = 10, delta = 1e-5 }
    local r = pn.experiment { grid = { a = { 1, 2, 3, 4, 5, 6 } }, seed = false, processes = 3, progress = false,
      run = function()
        return { one = fresh:uniform(), two = used:uniform(), three = m:release(0, { ledger = pn.ledger(budget) }) }
      end }
    local seen = {}
    for _, row in ipairs(r.rows) do
      for _, name in ipairs { "one", "two", "three" } do
        assert.is_nil(seen[row[name]])
        seen[row[name]] = true
      end
    end
  end)
end)

describe("what an experiment measured", function()
  local function known()
    return pn.experiment { grid = { a = { 1, 2 }, b = { "x,\"y" } }, repeats = 5, progress = false,
      run = function(row) return { m = 100 * row.a + row.rep, word = "w" .. row.rep } end }
  end

  it("has medians and quantiles of each row", function()
    local r = known():aggregate {}
    assert.equal(2, #r)
    assert.same({ 203, 202, 204, 203, 5 }, { r[2].m.median, r[2].m.low, r[2].m.high, r[2].m.mean, r[2].m.count })
    local wide = known():aggregate { by = "b", interval = 0.8 }
    assert.equal(1, #wide) -- 101 .. 105, 201 .. 205: order statistics at 0.9, 4.5 and 8.1 behind the first
    assert.near(153, wide[1].m.median, 1e-12)
    assert.near(101.9, wide[1].m.low, 1e-12)
    assert.near(204.1, wide[1].m.high, 1e-12)
  end)

  it("is kept under another name where its own is a setting's or one of the result's", function()
    local name = path()
    local function go()
      return pn.experiment { grid = { epsilon = { 1, 2 } }, repeats = 3, path = name, progress = false,
        run = function(row) return { epsilon = 10 * row.epsilon, count = 7, seconds = 8, rep = 9 } end }
    end
    for _, r in ipairs { go(), go() } do
      local row, group = r.rows[4], r:aggregate()[2]
      assert.same({ 2, 20, 7, 1, 9 }, { row.epsilon, row.result_epsilon, row.result_count, row.rep, row.result_rep })
      assert.same({ 2, 3, 20 }, { group.epsilon, group.count, group.result_epsilon.median })
    end
  end)

  it("prints as a table of at most 80 columns", function()
    local text = tostring(known())
    assert.truthy(text:find("203 [202, 204]", 1, true), text)
    local many = pn.experiment { grid = { a = { 1 } }, progress = false, run = function()
      local values = {}
      for i = 1, 30 do values["measure_" .. i] = i / 3 end
      return values
    end }
    for line in tostring(many):gmatch "[^\n]+" do
      if not line:find "not shown" then assert.is_true(#line <= 80, line) end
    end
    assert.truthy(tostring(many):find("not shown: ", 1, true))
  end)

  it("is saved as CSV, a line a run, numbers to the last bit", function()
    local name = path()
    known():save(name)
    local lines = {}
    for line in read(name):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(11, #lines)
    assert.equal("a,b,rep,m,word,seconds,message", lines[1])
    local numbers = { 0.1, 1 / 3, 1e-300, 123456789.125, 0 / 0, math.huge, -math.huge }
    pn.experiment { grid = { k = { 1, 2, 3, 4, 5, 6, 7 } }, progress = false, run = function(row) return numbers[row.k] end }
      :save(name)
    local fields = {}
    for text in read(name):gmatch "\n%d,1,([^,]+)" do fields[#fields + 1] = text end
    assert.same({ "0.1", "0.3333333333333333", "1e-300", "123456789.125", "NaN", "Inf", "-Inf" }, fields)
    assert.truthy(lines[2]:find('^1,"x,""y",1,101,w1,'), lines[2])
    assert.has_error(function() known():save "/nowhere/at/all.csv" end)
  end)

  it("is drawn as a line with its band", function()
    local text = known():plot { x = "a", y = "m", as = "text" }
    assert.truthy(text:find("median and quartiles of the runs over all b\n", 1, true), text)
    text = known():plot { x = "a", y = "m", by = "b", interval = 0.8, as = "text" }
    assert.truthy(text:find("median and central 80 % of the runs\n", 1, true), text)
    assert.truthy(known():plot({ x = "a", title = "mine", as = "text" }):find("^ +mine\n"))
    local ok, message = pcall(function() known():plot { x = "c" } end)
    assert.is_false(ok)
    assert.equal("experiment: plot: there is no setting 'c'; there are a, b", message)
  end)
end)

describe("an experiment with a record", function()
  it("runs only what is missing when it is started again", function()
    local name, calls = path(), 0
    local function go(repeats, stop_after)
      return pn.experiment { grid = { a = { 1, 2 } }, repeats = repeats, path = name, processes = 1, progress = false,
        run = function(_, rng)
          calls = calls + 1
          if stop_after and calls > stop_after then error "interrupted" end
          return rng:uniform()
        end }
    end
    local cut = go(4, 3)
    assert.equal(3, #cut)
    assert.equal("stopped by the user", cut.stopped)
    assert.equal(5, cut.missing)
    assert.truthy(tostring(cut):find("goes on from", 1, true))
    calls = 0
    local whole = go(4)
    assert.same({ 5, 3, 8 }, { calls, whole.kept, #whole })
    os.remove(name)
    local fresh = go(4)
    for i = 1, 8 do assert.equal(fresh.rows[i].value, whole.rows[i].value) end
  end)

  it("forgets a torn last line, and keeps strings with tabs and line ends", function()
    local name = path()
    local function go(calls)
      return pn.experiment { rows = { { s = "a\tb\n\"c\\" }, { s = "plain" } }, path = name, progress = false, processes = 1,
        run = function(row) calls.n = calls.n + 1 return { back = row.s } end }
    end
    go { n = 0 }
    local text = read(name)
    local out = io.open(name, "wb")
    out:write((text:sub(1, -10)), ("1"):rep(1000000)) -- read in milliseconds; in an hour where that is quadratic
    out:close()
    local calls = { n = 0 }
    local r = go(calls)
    assert.equal(1, calls.n)
    assert.equal("a\tb\n\"c\\", r.rows[1].back)
    assert.equal("plain", r.rows[2].back)
    calls.n = 0
    go(calls)
    assert.equal(0, calls.n)
  end)

  it("tries again what failed, and refuses another seed or a file that is none", function()
    local name, broken = path(), true
    local function go(seed)
      return pn.experiment { grid = { a = { 1, 2 } }, path = name, seed = seed, processes = 1, progress = false,
        run = function(row) if broken and row.a == 2 then error "not yet" end return row.a end }
    end
    local first = go(1)
    assert.equal(1, #first.failures)
    assert.truthy(first.failures[1].message:find "not yet")
    broken = false
    local second = go(1)
    assert.same({ 0, 1 }, { #second.failures, second.kept })
    local ok, message = pcall(go, 2)
    assert.is_false(ok)
    assert.truthy(message:find("begun with seed=1", 1, true), message)
    local other = path()
    local out = io.open(other, "w")
    out:write "my diary\n"
    out:close()
    ok, message = pcall(pn.experiment, { rows = { { a = 1 } }, path = other, run = function() return 1 end })
    assert.is_false(ok)
    assert.truthy(message:find("not a record of an experiment", 1, true), message)
    assert.equal("my diary\n", read(other))
  end)

  it("says when what is kept was done by another text of run, wherever the text stands", function()
    local name, file = path(), path()
    local function go(code)
      local out = assert(io.open(file, "w"))
      out:write(code)
      out:close()
      return pn.experiment { grid = { a = { 1, 2 } }, path = name, progress = false, run = dofile(file) }
    end
    go "return function(row) return row.a end"
    local moved = go "-- a line more\n\nreturn function(row)\n  return row.a end"
    assert.same({ 2, 0 }, { moved.kept, moved.older })
    local changed = go "return function(row) return 2 * row.a end"
    assert.same({ 2, 2 }, { changed.kept, changed.older })
    assert.truthy(tostring(changed):find("2 runs kept from another version of run", 1, true))
    assert.is_falsy(tostring(moved):find("another version", 1, true))
    os.remove(file)
  end)

  it("goes on after the program was killed", function()
    local name = path()
    local code = ([[
      local r = pn.experiment { grid = { a = { 1, 2, 3, 4, 5, 6 } }, path = %q, processes = 2, progress = false,
        run = function(row, rng) if row.a == KILL then os.execute "kill -9 $PPID" end return rng:uniform() end }
      for i = 1, #r do io.write(("%%.17g "):format(r.rows[i].value)) end]]):format(name)
    local _, err, status = program.run({ "-e", (code:gsub("KILL", "5")) })
    assert.not_equal(0, status)
    assert.truthy(err:find("signal 9", 1, true), err)
    local out = program.run { "-e", (code:gsub("KILL", "0")) }
    os.remove(name)
    assert.equal(out, (program.run { "-e", (code:gsub("KILL", "0")) }))
    assert.equal(6, select(2, out:gsub("%S+", "")))
  end)
end)

describe("experiment, with mistakes", function()
  local function no_experiment(options)
    return refusal(pn.experiment, options)
  end

  it("names what is wrong and what would be right", function()
    local function run() return 1 end
    assert.equal("experiment: expected a table of options, got nil", no_experiment(nil))
    assert.equal("experiment: run must be a function(row, rng), got nil", no_experiment {})
    assert.equal("experiment: give grid or rows, one of them", no_experiment { run = run })
    assert.truthy(no_experiment({ run = run, grd = {} }):find "unknown option 'grd'; it takes run, grid, rows")
    assert.equal("experiment: a has no values", no_experiment { run = run, grid = { a = {} } })
    assert.truthy(no_experiment({ run = run, grid = { a = { {} } } }):find "values of a must be numbers, strings or booleans")
    assert.truthy(no_experiment({ run = run, grid = { rep = { 1 } } }):find "may not be called rep")
    assert.equal("experiment: repeats must be a whole number from 1 to 1000000, got 0",
      no_experiment { run = run, grid = {}, repeats = 0 })
    assert.truthy(no_experiment({ run = run, rows = { { a = 1 }, { a = 1 } } }):find "two rows are the same: a=1")
    assert.truthy(no_experiment({ run = run, grid = {}, seed = "x" }):find "seed must be a whole number or false")
  end)

  it("keeps the message of a run that failed, and raises when all did", function()
    local r = pn.experiment { grid = { a = { 1, 2, 3 } }, processes = 2, progress = false,
      run = function(row) if row.a == 2 then error("no " .. row.a) end return row.a end }
    assert.equal(1, #r.failures)
    assert.truthy(tostring(r):find("1 failed; the first: ", 1, true))
    assert.truthy(no_experiment({ grid = { a = { 1, 2 } }, run = function() error "never" end, progress = false })
      :find "all 2 runs failed; the first: .*never")
    assert.truthy(no_experiment({ grid = {}, run = function() return "word" end, progress = false })
      :find "must return a number or a table")
    assert.truthy(no_experiment({ grid = {}, run = function() return { f = print } end, progress = false })
      :find "returned a function as f")
  end)

  it("keeps the others when the error of one cannot be shown", function()
    local unshown = setmetatable({}, { __tostring = function() return false end })
    local r = pn.experiment { grid = { a = { 1, 2, 3 } }, processes = 2, progress = false,
      run = function(row) if row.a == 2 then error(unshown) end return row.a end }
    assert.equal(1, #r.failures)
    assert.truthy(tostring(r):find("'__tostring' must return a string", 1, true))
  end)

  it("stops at the error of a progress function", function()
    assert.equal("enough", no_experiment { grid = { a = { 1, 2 } }, processes = 2, run = function() return 1 end,
      progress = function() error("enough", 0) end })
  end)
end)

describe("the table of an experiment", function()
  local result = pn.experiment { grid = { epsilon = { 0.5, 1 }, solver = { "gradient_descent", "sgd" } }, repeats = 4,
    progress = false, run = function(_, rng) return { accuracy = rng:uniform(), excess = rng:uniform() / 1000 } end }

  it("takes fewer digits where a column would not fit with four", function()
    local text = tostring(result)
    assert.matches("epsilon  solver +accuracy +excess\n", text)
    assert.is_nil(text:find("not shown", 1, true))
    for line in text:gmatch "[^\n]+" do assert.truthy(#line <= 80, line) end
  end)

  it("is what aggregates print as", function()
    local text = require "penumbra.prompt.show".text(result:aggregate { by = "solver" })
    assert.matches("^2 rows:\n  solver +count  failed  accuracy\n", text)
    assert.matches("\n  sgd +8 +0  0%.%d+ %[", text)
    local m = result:aggregate { by = "solver" }[1].accuracy
    assert.equal(("%.3g [%.3g, %.3g]"):format(m.median, m.low, m.high), tostring(m))
  end)

  it("goes on below with the measures that do not fit beside the others, and cuts long settings", function()
    local r = pn.experiment { grid = { name_of_a_setting = { ("long "):rep(30), "b" }, n = { 1e5 } }, repeats = 3, progress = false,
      run = function(_, rng)
        local values = { number = 123456789 }
        for k = 1, 2 do values["measure" .. k] = -1e-9 * rng:uniform() end
        return values
      end }
    local text, heads = tostring(r), 0
    for line in text:gmatch "[^\n]+" do
      assert.is_true(#line <= 80, line)
      if line:find "^  n +name_of_a_" then heads = heads + 1 end
    end
    assert.equal(3, heads)
    assert.truthy(text:find("  123456789 [123456789, 123456789]", 1, true), text)
    assert.truthy(text:find("\n  100000  long long", 1, true), text)
    for _, name in ipairs { "number", "measure1", "measure2" } do assert.truthy(text:find(name, 1, true), name) end
  end)

  it("says how many runs a median is of, where others gave NaN or nothing", function()
    local r = pn.experiment { grid = { a = { 1, 2 } }, repeats = 3, progress = false,
      run = function(row) return { m = row.a == 2 and row.rep == 3 and 0 / 0 or row.rep, n = row.a == 1 and 5 or nil } end }
    local text = tostring(r)
    assert.matches("\n  1 +2 %[1.5, 2.5%] +5 %[5, 5%]\n", text)
    assert.matches("\n  2 +1.5 %[1.25, 1.75%], 2 of 3 +%-$", text)
    assert.is_falsy(tostring(pn.experiment { rows = { { a = 1 }, { b = 2 } }, progress = false, run = function() return 1 end })
      :find("nil", 1, true))
  end)

  it("counts one run as one run", function()
    local one = pn.experiment { run = function() return 3 end, grid = { x = 3 }, progress = false }
    assert.matches("^experiment: 1 run, 1 repeat a row;", tostring(one))
  end)
end)
