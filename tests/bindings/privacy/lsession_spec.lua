-- lsession_spec.lua -- what a session has spent on each data set, and the budgets that data sets may have.  Each test has records
-- of its own: the session is that of the whole process.
-- Depends on: tests/tools/refusal.lua, tests/runtime/data/files.lua.
local pn = require "penumbra"
local files = require "tests.runtime.data.files"
local refused = require("tests.tools.refusal").refused

local N, DELTA = 400, 1 / 400 ^ 2
local made = 0

-- Numbers that no other test has.
local function records()
  made = made + 1
  local rng, rows, y = pn.rng.seeded(20261123 + made), {}, {}
  for i = 1, N do
    rows[i] = pn.vec.normal(3, rng):table()
    y[i] = i % 2 == 0 and 1 or -1
  end
  return rows, y
end

local function data()
  return pn.data.from(records())
end

local function objective(d)
  return pn.objective { data = d:clip_rows("l2", 1), loss = pn.loss.logistic {}, set = pn.set.l2_ball { dim = d.p, radius = 1 } }
end

local function fit(d, options)
  options = options or {}
  options.epsilon, options.delta, options.iterations = options.epsilon or 0.5, options.delta or 1e-6, 5
  if options.privacy == false then options.epsilon, options.delta = nil, nil end
  return pn.solve.sgd(objective(d), options)
end

-- The session's row of what was made after `before` rows were there; nil where there is none.
local function watch()
  local before = #pn.session()
  return function() return pn.session()[before + 1] end
end

local function about(expected, found)
  assert.is_true(math.abs(expected - found) <= 1e-9 * expected, ("%.12g is not %.12g"):format(found, expected))
end

describe("a session", function()
  after_each(files.clear)

  it("counts runs without a ledger as their whole plan, by the exact price of all", function()
    local row, d = watch(), data()
    local plan = pn.solve.sgd.plan(objective(d), { epsilon = 0.5, delta = 1e-6, iterations = 5 })
    assert.is_nil(row())
    plan:run()
    about(plan.event:epsilon(DELTA), row().epsilon)
    plan:run { on_step = function() return false end } -- its fit states all of the plan
    about(pn.event.repeated(plan.event, 2):epsilon(DELTA), row().epsilon)
    plan:steps():step()
    about(pn.event.repeated(plan.event, 3):epsilon(DELTA), row().epsilon)
    about(3 * plan.rho, row().rho)
    local r = row()
    assert.same({ "data", N, "replace_one", 3, 0, 0 }, { r.name, r.records, r.neighbours, r.releases, r.simulated, r.exact })
    about(DELTA, r.delta)
    assert.is_nil(r.budget)
  end)

  it("knows a table of columns again, whichever of them a recipe looks at", function()
    local row, columns = watch(), { x = {}, y = {}, z = {} }
    local rng = pn.rng.seeded(20261128)
    for i = 1, N do columns.x[i], columns.y[i], columns.z[i] = rng:uniform(), i % 2, tostring(i) end
    local function spend(features, changed)
      local d = pn.recipe { features = features, label = { y = { 0, 1 } } }:data(changed or columns)
      fit(d, { epsilon = 0.1 })
    end
    spend { x = { 0, 1 } }
    spend { x = { -5, 5, weight = 2 } }
    spend { z = { "1", "2" } }
    local copy = { z = columns.z, y = { table.unpack(columns.y) }, x = columns.x, note = "no column" }
    spend({ x = { 0, 1 } }, copy)
    assert.same({ "table", N, 4 }, { row().name, row().records, row().releases })
    local others = #pn.session()
    copy.y[3] = 1 - copy.y[3]
    spend({ x = { 0, 1 } }, copy) -- another record in the third row
    copy = { x = columns.z, y = columns.y, z = columns.x } -- the same values under other names
    spend({ z = { 0, 1 } }, copy)
    assert.equal(others + 2, #pn.session())
    assert.equal(4, row().releases)
  end)

  it("states a price where a release has a delta of its own that is far above the others'", function()
    local row, L, t = watch(), pn.ledger { epsilon = 3, delta = 1e-3 }, { x = {} }
    for i = 1, N do t.x[i] = i % 2 == 0 and "even" or "odd" end
    pn.query.levels { data = t, columns = "x", epsilon = 0.1, delta = 1e-4, ledger = L }
    local d = pn.recipe { features = { x = { "even" } } }:data(t)
    pn.query.quantile { data = d, column = 1, candidates = { 0, 1 }, q = 0.5, epsilon = 0.1, ledger = L }
    assert.equal(2, row().releases)
    assert.is_true(row().epsilon > 0.1 and row().epsilon <= 0.2 + 1e-9, tostring(row().epsilon))
    about(1e-4 * (1 + 1 / 16), row().delta)
  end)

  it("lets no run that began before the budget spend beside it", function()
    local d = data()
    local plan = pn.solve.gradient_descent.plan(objective(d), { epsilon = 2, delta = 1e-6, iterations = 5 })
    local L = pn.ledger { epsilon = 20, delta = 1e-6 }
    local fresh, paid = plan:steps(), plan:steps { ledger = L }
    paid:step()
    local spent = L.spent
    local B = pn.budget { data = d, epsilon = 4 }
    local charged = B.spent
    assert.is_true(charged > 0)
    for _, walk in ipairs { fresh, paid } do
      refused("got a budget (pn.budget) after this run began", walk.step, walk)
    end
    assert.equal(spent, L.spent)
    assert.equal(charged, B.spent)
  end)

  it("lets a walk whose whole plan was charged to the younger budget go on, and takes no more for it", function()
    local d = data()
    local walk = pn.solve.gradient_descent.plan(objective(d), { epsilon = 1, delta = 1e-6, iterations = 5 }):steps()
    walk:step()
    local B = pn.budget { data = d, epsilon = 4 }
    local charged = B.spent
    walk:step()
    assert.is_true(charged > 0)
    assert.equal(charged, B.spent)
  end)

  it("stops a run that sets the budget from its own callback", function()
    local d, L = data(), pn.ledger { epsilon = 20, delta = 1e-6 }
    local plan = pn.solve.gradient_descent.plan(objective(d), { epsilon = 1, delta = 1e-6, iterations = 5 })
    refused("got a budget (pn.budget) after this run began", plan.run, plan,
      { ledger = L, on_step = function() pn.budget { data = d, epsilon = 4 } end })
  end)

  it("counts a walk when its first step is charged, and once", function()
    local row, d = watch(), data()
    local plan = pn.solve.sgd.plan(objective(d), { epsilon = 0.5, delta = 1e-6, iterations = 5 })
    local walk = plan:steps()
    assert.is_nil(row())
    walk:step()
    walk:step()
    walk:fit()
    assert.equal(1, row().releases)
    about(plan.event:epsilon(DELTA), row().epsilon)
  end)

  it("counts what a ledger is charged, and nothing that it refuses", function()
    local row, d, L = watch(), data(), pn.ledger { epsilon = 1, delta = 1e-6 }
    fit(d, { ledger = L })
    local once = row().epsilon
    refused("Requested", fit, d, { ledger = L, epsilon = 2 })
    assert.same({ 1, once }, { row().releases, row().epsilon })
    local plan = pn.solve.sgd.plan(objective(d), { epsilon = 0.1, delta = 1e-6, iterations = 5 })
    local before = row().rho
    plan:run { ledger = L, on_step = function() return false end }
    about(before + plan.rho / 5, row().rho)
  end)

  it("counts answers, streams and queries", function()
    local row, d, L = watch(), data(), pn.ledger { rho = 1 }
    local ask = pn.oracle { objective = objective(d), ledger = L }
    ask:gradient({ 0, 0, 0 }, { rho = 0.01 })
    ask:value({ 0, 0, 0 }, { rho = 0.02 })
    pcall(ask.gradient, ask, { 0, 0, 0 }, { rho = 5 })
    local sums = ask:prefix { horizon = 4, rho = 0.03 }
    for _ = 1, 3 do sums:push { 0, 0, 0 } end
    pn.query.mean { data = d, columns = { 1 }, low = { -1 }, high = { 1 }, rho = 0.04, ledger = L }
    assert.is_true(math.abs(row().rho - 0.1) < 1e-6)
    assert.is_true(math.abs(row().rho - L.spent) < 1e-12)
    assert.equal(4, row().releases)
  end)

  it("lists seeded noise and exact results by number", function()
    local row, d = watch(), data()
    fit(d, { rng = pn.rng.seeded(1) })
    fit(d, { privacy = false })
    pn.solve.exact(objective(d))
    local r = row()
    assert.same({ 0, 0, 1, 2 }, { r.epsilon, r.releases, r.simulated, r.exact })
    assert.is_truthy(tostring(pn.session()):find("exact    2 results without any privacy", 1, true))
    assert.is_truthy(tostring(pn.session()):find("seeded   1 release with seeded noise: no privacy, not counted", 1, true))
  end)

  it("tells data sets by their records, whatever is made of them", function()
    local rows, y = records()
    local d, row = pn.data.from(rows, y), watch()
    local other = {}
    for i = 1, N do other[i] = -y[i] end
    local train, test = d:split(0.5)
    local all = { d, d:take(100), d:shuffle(), train, test, d:float32(), d:clip_rows("l1", 1):clip_labels(-1, 1),
      d:rescale({ -1, -1, -1 }, { 1, 1, 1 }), d:add_bias(), d:with_labels(other), pn.data.from(rows, y) }
    for _, part in ipairs(all) do fit(part) end
    assert.equal(#all, row().releases)
    assert.equal(N, row().records)
    rows[7][2] = rows[7][2] + 1e-12
    local changed = watch()
    fit(pn.data.from(rows, y))
    assert.equal(1, changed().releases)
    fit(pn.data.from(rows, other)) -- other labels of numbers are other numbers
    assert.equal(1, changed().releases)
  end)

  it("tells files by their bytes, whatever the options, compressed or not", function()
    local rows, y = records()
    local csv, svm = {}, {}
    for i = 1, N do
      csv[i] = ("%.17g,%.17g,%.17g,%d"):format(rows[i][1], rows[i][2], rows[i][3], y[i])
      svm[i] = ("%d 1:%.17g 2:%.17g 3:%.17g"):format(y[i], rows[i][1], rows[i][2], rows[i][3])
    end
    local text, lines = table.concat(csv, "\n") .. "\n", table.concat(svm, "\n") .. "\n"
    local row = watch()
    fit(pn.data.csv(files.write(text)))
    fit(pn.data.csv(files.write(files.gzip(text)), { clip_rows = { "l2", 0.5 } }))
    fit(pn.data.csv(files.write(text), { columns = { 3, 1 } }))
    assert.equal(3, row().releases)
    local second = watch()
    fit(pn.data.libsvm(files.write(lines)))
    fit(pn.data.libsvm(files.write(files.gzip(lines)), { sparse = true, cols = 5 }))
    assert.equal(2, second().releases)
    local third = watch()
    fit(pn.data.csv(files.write(text .. text:match "[^\n]*\n")))
    assert.equal(1, third().releases)
  end)

  it("counts a search as one release, and lets the budget pay for it", function()
    local d, row = data(), watch()
    local function search(epsilon)
      return pn.tune { solver = "gradient_descent", objective = objective(d), grid = { step = { 1, 4 } }, score = "accuracy",
        epsilon = epsilon, delta = 1e-6 }
    end
    search(0.5)
    assert.equal(1, row().releases)
    local B = pn.budget { data = d, epsilon = 2 }
    local before = B.spent
    search(0.5)
    assert.equal(2, row().releases)
    assert.is_true(B.spent > before)
    refused("(pn.budget): ledger: Requested epsilon", search, 3)
    assert.equal(2, row().releases)
  end)

  it("knows the records of a recipe again, whatever it makes of them", function()
    local lines = { "age,kind" }
    for i = 1, 50 do lines[#lines + 1] = ("%d,%s"):format(20 + made + i % 40, i % 2 == 0 and "a" or "b") end
    local path = files.write(table.concat(lines, "\n") .. "\n")
    local before = #pn.session()
    for _, range in ipairs { { 0, 100 }, { 10, 90 } } do
      local d = pn.recipe { label = { kind = { "a", "b" } }, features = { age = range } }:data(path)
      pn.query.mean { data = d, columns = { 1 }, low = { -1 }, high = { 1 }, epsilon = 0.1, ledger = pn.ledger { epsilon = 1 } }
    end
    assert.equal(before + 1, #pn.session())
    assert.equal(2, pn.session()[before + 1].releases)
  end)

  it("does not count what is made up", function()
    local row = watch()
    fit((pn.data.synthetic.logistic { n = 100, p = 3 }))
    assert.is_nil(row())
  end)

  it("keeps relations apart", function()
    local row, d = watch(), data()
    fit(d)
    local first = #pn.session()
    fit(d, { neighbours = "zero_out" })
    local all = pn.session()
    assert.same({ "replace_one", "zero_out" }, { all[first].neighbours, all[first + 1].neighbours })
    assert.equal(1, row().releases)
  end)

  it("is said by a fit", function()
    local d = data()
    fit(d)
    local f = fit(d)
    assert.is_truthy(tostring(f):find("so far   its data set has cost epsilon = [%d.]+ at delta = 6.25e%-06,\n +in 2 releases"))
    assert.is_nil(tostring(fit(d, { rng = pn.rng.seeded(1) })):find("so far", 1, true))
    assert.is_nil(tostring(fit(d, { privacy = false })):find("so far", 1, true))
  end)

  it("knows nothing of charges by hand, also from inside of a run", function()
    local row, d, L = watch(), data(), pn.ledger { rho = 1 }
    local plan = pn.solve.sgd.plan(objective(d), { rho = 0.01, iterations = 5 })
    plan:run {
      ledger = L,
      on_step = function()
        L:spend(pn.event.zcdp { rho = 0.01 })
        pn.mechanism.gaussian { sigma = 10, sensitivity = 1 }:release(1, { ledger = L })
        pn.tree { dim = 1, horizon = 2, sensitivity = 1, rho = 0.01, ledger = L }:push { 1 }
      end,
    }
    about(plan.rho, row().rho)
  end)

  it("counts what the processes of an experiment have spent", function()
    local row, d, e = watch(), data(), data()
    local plan = pn.solve.sgd.plan(objective(d), { rho = 0.01, iterations = 5 })
    local result = pn.experiment {
      rows = { { k = 1 }, { k = 2 }, { k = 3 }, { k = 4 } }, processes = 2, progress = false, seed = false,
      run = function(r)
        plan:run()
        if r.k == 2 then
          fit(e)
          fit(e, { privacy = false })
        end
        if r.k == 3 then error "late" end
        return { k = r.k, seen = pn.session()[1] and 1 or 0 }
      end,
    }
    assert.equal(4, #result.rows)
    assert.equal(4, row().releases)
    about(4 * plan.rho, row().rho)
    local last = pn.session()[#pn.session()]
    assert.same({ N, 1, 1 }, { last.records, last.releases, last.exact })
    plan:run()
    assert.equal(5, row().releases)
    pn.budget { data = d, rho = 1 }
    result = pn.experiment { rows = { { k = 1 }, { k = 2 } }, processes = 2, progress = false, seed = false,
      run = function()
        local fine, message = pcall(plan.run, plan)
        return { refused = not fine and message:find("child process", 1, true) and 1 or 0 }
      end }
    assert.same({ 1, 1 }, { result.rows[1].refused, result.rows[2].refused })
    assert.equal(5, row().releases)
  end)

  it("takes no more memory for a thousand equal runs", function()
    local row, d = watch(), data()
    local plan = pn.solve.sgd.plan(objective(d), { rho = 1e-6, iterations = 2 })
    for _ = 1, 1000 do plan:run() end
    assert.equal(1000, row().releases)
    assert.is_true(math.abs(row().rho - 1e-3) < 1e-9)
  end)
end)

describe("pn.budget", function()
  after_each(files.clear)

  it("pays for runs, answers and queries that name no ledger, and refuses what is beyond it", function()
    local d = data()
    local B = pn.budget { data = d, epsilon = 1, delta = 1e-6 }
    local f = fit(d:take(200))
    about(f.privacy.epsilon, B.spent)
    pn.oracle { objective = objective(d) }:gradient({ 0, 0, 0 }, { epsilon = 0.1, delta = 1e-7 })
    pn.query.mean { data = d, columns = { 1 }, low = { -1 }, high = { 1 }, epsilon = 0.01 }
    local spent = B.spent
    refused('the budget of "data" (pn.budget): ledger: Requested epsilon', fit, d, { epsilon = 2 })
    refused('the budget of "data" (pn.budget): ledger:', pn.query.mean,
      { data = d, columns = { 1 }, low = { -1 }, high = { 1 }, epsilon = 2 })
    refused('the budget of "data" (pn.budget): ledger:', function()
      pn.oracle { objective = objective(d) }:gradient({ 0, 0, 0 }, { epsilon = 2, delta = 1e-7 })
    end)
    refused('the budget of "data" (pn.budget): ledger:', function()
      pn.solve.sgd.plan(objective(d), { epsilon = 2, delta = 1e-6, iterations = 5 }):steps()
    end)
    assert.equal(spent, B.spent)
    assert.is_truthy(tostring(f):find("; its budget has", 1, true))
    B:retire()
    refused("pn.budget", fit, d, { epsilon = 0.01 })
  end)

  it("refuses other ledgers, and takes its slices and their parts", function()
    local d, L = data(), pn.ledger { epsilon = 1, delta = 1e-6 }
    local plan = pn.solve.sgd.plan(objective(d), { epsilon = 0.2, delta = 1e-6, iterations = 5, ledger = L })
    local ask = pn.oracle { objective = objective(d), ledger = L }
    local sums = ask:prefix { horizon = 4, epsilon = 0.1, delta = 1e-7 }
    local B = pn.budget { data = d, epsilon = 1, delta = 1e-6 }
    local wrong = 'has a budget (pn.budget), and this ledger is neither it nor a slice of it'
    refused(wrong, fit, d, { ledger = L })
    refused(wrong, plan.run, plan)
    refused(wrong, plan.steps, plan)
    refused(wrong, ask.gradient, ask, { 0, 0, 0 }, { rho = 0.01 })
    refused(wrong, sums.push, sums, { 0, 0, 0 })
    refused(wrong, pn.query.mean, { data = d, columns = { 1 }, low = { -1 }, high = { 1 }, epsilon = 0.1, ledger = L })
    assert.equal(0, L.spent)
    local slice = pn.ledger { parent = B, epsilon = 0.6, delta = 5e-7 }
    fit(d, { ledger = slice, epsilon = 0.3, delta = 5e-7 })
    fit(d, { ledger = pn.ledger { parent = slice, epsilon = 0.1, delta = 1e-7 }, epsilon = 0.05, delta = 1e-7 })
    assert.is_true(slice.spent > 0.2 and B.spent > 0.2)
    fit(d, { ledger = B, epsilon = 0.05, delta = 1e-7 })
  end)

  it("leaves seeded noise and exact results alone, which pay nothing", function()
    local d = data()
    local B = pn.budget { data = d, epsilon = 0.1, delta = 1e-6 }
    fit(d, { rng = pn.rng.seeded(1) })
    fit(d, { privacy = false })
    assert.equal(0, B.spent)
  end)

  it("counts what was spent before it was set, and refuses when that is more", function()
    local d = data()
    local f = fit(d)
    refused("budget: what this session has spent already: ledger: Requested", pn.budget, { data = d, epsilon = 0.1, delta = 1e-6 })
    local B = pn.budget { data = d, epsilon = 1, delta = 1e-6 }
    about(f.privacy.epsilon, B.spent)
    local e = data()
    fit(e, { neighbours = "zero_out" })
    refused('give neighbours="zero_out"', pn.budget, { data = e, epsilon = 1 })
    pn.budget { data = e, epsilon = 1, delta = 1e-6, neighbours = "zero_out" }
  end)

  it("can be asked for again, not changed", function()
    local d = data()
    local B = pn.budget { data = d, epsilon = 1 }
    assert.same({ 1, DELTA }, { B.epsilon, B.delta })
    fit(d, { epsilon = 0.5, delta = 1e-6 })
    for _, same in ipairs { {}, { epsilon = 1 }, { epsilon = 1, delta = DELTA }, { neighbours = "replace_one" } } do
      same.data = d:take(10)
      assert.equal(B.spent, pn.budget(same).spent)
    end
    refused("has the budget epsilon=1", pn.budget, { data = d, epsilon = 2 })
    refused("has the budget epsilon=1", pn.budget, { data = d, rho = 1 })
    refused("has the budget epsilon=1", pn.budget, { data = d, neighbours = "zero_out" })
    refused("has its budget without a file", pn.budget, { data = d, path = os.tmpname() })
  end)

  it("is kept in a file", function()
    local d, path = data(), os.tmpname()
    local B = pn.budget { data = d, epsilon = 1, delta = 1e-6, path = path }
    fit(d)
    B:close()
    refused("closed", fit, d)
    local L = pn.ledger { path = path }
    assert.equal(1, L.epsilon)
    assert.is_true(L.spent > 0.4)
    L:close()
    local e = data()
    pn.budget { data = e, path = path }
    refused("Requested", fit, e, { epsilon = 0.9 })
    for _, ending in ipairs { "", ".key", ".head" } do os.remove(path .. ending) end
  end)

  it("is what a curator of the records charges", function()
    local d = data():clip_rows("l2", 1)
    local B = pn.budget { data = d, epsilon = 1, delta = 1e-6 }
    refused("neither it nor a slice of it", pn.curator, { data = { d = d }, ledger = pn.ledger { epsilon = 1, delta = 1e-6 } })
    local rows = #pn.session()
    for _, process in ipairs { true, false } do
      local c = pn.curator { data = { d = d }, ledger = pn.ledger { parent = B, epsilon = 0.4, delta = 1e-7 }, process = process }
      local before = B.spent
      local told = c:run [[
        return pn.query.mean{data = data.d, columns = {1}, low = {-1}, high = {1}, epsilon = 0.1} and true, pcall(pn.session),
          pcall(pn.budget, {data = data.d, epsilon = 1})]]
      assert.is_true(told.ok, told.error)
      assert.is_true(B.spent > before)
      assert.is_truthy(told.answer:find "^true%s+false%s+false", told.answer)
    end
    assert.equal(rows, #pn.session())
  end)

  it("says what is wrong with a call", function()
    local d = data()
    refused("data", pn.budget, { epsilon = 1 })
    refused("this data set holds no records to protect", pn.budget,
      { data = (pn.data.synthetic.logistic { n = 10, p = 2 }), epsilon = 1 })
    refused("budget: give a limit: epsilon= with delta= or without (1/n^2), or rho=", pn.budget, { data = d })
    refused("budget: key is the key of a file", pn.budget, { data = d, epsilon = 1, key = "x" })
    refused("path must be a path", pn.budget, { data = d, epsilon = 1, path = 3 })
    refused("epsilon", pn.budget, { data = d, epsilon = -1 })
    refused("either epsilon", pn.budget, { data = d, epsilon = 1, rho = 1 })
  end)
end)
