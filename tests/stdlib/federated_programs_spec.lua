-- Four parties and a server as real processes on loopback.  What they must come to is what the in-process transport gives for
-- the same seeds: the noise is simulated, so that the model can be compared bit for bit.
local pn = require "penumbra"
local program = require "tests.tools.program"
local services = require "tests.tools.services"

local PARTIES, COLUMNS, RECORDS, SEED = 4, 3, 60, 5
local BUDGET = { epsilon = 6, delta = 1e-3 }

-- Moments of the kills: another run, other moments; the seed is printed when something fails.
local chaos = tonumber(os.getenv "FEDERATED_SEED") or os.time()
local most = tonumber(os.getenv "FEDERATED_KILLS") or 24

local folder, group, keys, address

-- 60 records within [-1, 1]; party k has columns 3k-2 ... 3k.
local rows, labels = {}, {}
do
  local rng = pn.rng.seeded(77)
  for i = 1, RECORDS do
    rows[i] = {}
    for j = 1, PARTIES * COLUMNS do rows[i][j] = 2 * rng:uniform() - 1 end
    labels[i] = 0.5 * rows[i][2] - 0.4 * rows[i][8]
  end
end

local function name_of(k) return "party_" .. k end

local function write_csv(k)
  local lines = { "a,b,c,y" }
  for i = 1, RECORDS do
    local cells = table.move(rows[i], COLUMNS * (k - 1) + 1, COLUMNS * k, 1, {})
    cells[#cells + 1] = labels[i]
    for j, value in ipairs(cells) do cells[j] = ("%.17g"):format(value) end
    lines[#lines + 1] = table.concat(cells, ",")
  end
  program.write_all(("%s/%s.csv"):format(folder, name_of(k)), table.concat(lines, "\n") .. "\n")
end

local party_config = [[
connect, server, keys, name = %q, %q, %q, %q
data = { csv = %q, options = { label = "y" } }
clip = { features = 1, labels = { -1, 1 } }
ledger = { path = %q, epsilon = %s, delta = 1e-3, teaching = true }
checkpoint, model, timeout, progress = %q, %q, %s, 1
rng = pn.rng.seeded(%d):split(%d)
person_epsilon = %s
]]

-- changes: epsilon, keys, person_epsilon
local function write_party(k, changes)
  changes = changes or {}
  local name = name_of(k)
  program.write_all(("%s/%s.lua"):format(folder, name), party_config:format(address, keys.server,
    changes.keys or name .. ".key", name, name .. ".csv", name .. ".ledger", changes.epsilon or 6, name .. ".state",
    name .. ".npy", 300, SEED, k - 1, changes.person_epsilon or "nil"))
end

-- sets: of each party, as text; without them it is the l1 ball of radius 1, and parties sample 2 columns.
local function write_server(steps, more, sets)
  local list, shared = {}, sets and "" or "radius = 1, sampled = 2,"
  for k = 1, PARTIES do
    list[k] = ("{ name = %q, key = %q, set = %s }"):format(name_of(k), keys[k], sets and sets[k] or "nil")
  end
  program.write_all(folder .. "/server.lua", ([[
    return { listen = %q, keys = "server.key", parties = { %s }, %s epsilon = %s, delta = %s, iterations = %d,
      sketch = { kind = "gaussian", m = 16, seed = 3 }, checkpoint = "server.state", model = "model.npy",
      ledger = { path = "server.ledger", epsilon = 8, delta = 1e-3, teaching = true },
      rng = pn.rng.seeded(%d), progress = 1, %s }]]):format(address, table.concat(list, ", "), shared, BUDGET.epsilon, BUDGET.delta,
    steps, SEED, more or ""))
end

-- What the same seeds give in one process: the model's bytes and the features that each party uploads.
local function expected(steps, set)
  local data = pn.data.from(rows, labels):clip_rows("linf", 1):clip_labels(-1, 1)
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = set or pn.set.l1_ball { dim = data.p } }
  local transport = pn.federated.in_process { parties = PARTIES }
  local fit = pn.solve.federated_frank_wolfe(objective, { transport = transport, iterations = steps, sampled = not set and 2 or nil,
    epsilon = BUDGET.epsilon, delta = BUDGET.delta, sketch = { kind = "gaussian", m = 16, seed = 3 },
    rng = pn.rng.seeded(SEED), progress = false })
  fit.theta:save(folder .. "/expected.npy")
  return program.read_all(folder .. "/expected.npy"), transport:report()
end

-- Charges of somebody's ledger file, by what they are for.
local function charges(name)
  local ledger = pn.ledger { path = ("%s/%s.ledger"):format(folder, name) }
  local counts = { selection = 0, feature = 0, other = 0 }
  for _, entry in ipairs(ledger:report()) do
    local kind = entry.label:match "selection" or entry.label:match "feature" or "other"
    counts[kind] = counts[kind] + (entry.count or 1)
  end
  ledger:close()
  return counts
end

local function start_all()
  group:start("server", { "server", folder .. "/server.lua" })
  for k = 1, PARTIES do group:start(name_of(k), { "party", ("%s/%s.lua"):format(folder, name_of(k)) }) end
end

local function everybody()
  local names = { "server" }
  for k = 1, PARTIES do names[#names + 1] = name_of(k) end
  return names
end

local function logs()
  local parts = { "FEDERATED_SEED=" .. chaos }
  for _, name in ipairs(everybody()) do parts[#parts + 1] = "== " .. name .. "\n" .. group:log(name) end
  return table.concat(parts, "\n")
end

local function assert_exact(steps, model, report)
  assert.equal(model, program.read_all(folder .. "/model.npy"), logs())
  local features = 0
  for k = 1, PARTIES do
    assert.same({ selection = steps, feature = report[k].features, other = 0 }, charges(name_of(k)), logs())
    features = features + report[k].features
  end
  assert.same({ selection = PARTIES * steps, feature = features, other = 0 }, charges "server", logs())
end

describe("penumbra server and penumbra party", function()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    group = services.new(folder)
    address = "tcp://127.0.0.1:" .. services.port()
    keys = { server = pn.federated.keygen(folder .. "/server.key") }
    for k = 1, PARTIES do
      keys[k] = pn.federated.keygen(("%s/%s.key"):format(folder, name_of(k)))
      write_csv(k)
      write_party(k)
    end
  end)

  after_each(function()
    group:stop()
    os.execute("rm -r " .. folder)
  end)

  it("come to the same model as one process, bit for bit, and charge each ledger for exactly what was released", function()
    write_server(20)
    local model, report = expected(20)
    start_all()
    assert.is_true(group:wait(everybody()), logs())
    for _, name in ipairs(everybody()) do assert.equal(0, group:ended(name), logs()) end
    assert_exact(20, model, report)
    local whole = pn.load(folder .. "/model.npy")
    for k = 1, PARTIES do
      assert.equal(whole:slice(COLUMNS * (k - 1) + 1, COLUMNS * k), pn.load(("%s/%s.npy"):format(folder, name_of(k))))
    end
    assert.matches("%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ info  listening at tcp://127%.0%.0%.1:%d+ for 4 parties\n",
      group:log "server")
    assert.truthy(group:log("party_2"):find("done after 20 rounds; released 20 selections", 1, true), logs())
  end)

  it("move in the sets that the server's configuration names for each party", function()
    write_server(6, nil, { '{ kind = "simplex", radius = 0.5 }', '{ kind = "box", lower = { -1, 0, -0.5 }, upper = 0.25 }',
      '{ kind = "unit_hypersimplex", k = 2, radius = 0.3 }',
      '{ kind = "polytope", vertices = { { 0, 0, 0 }, { 0.5, -0.25, 0 } } }' })
    local set = pn.set.simplex { dim = 3, radius = 0.5 }
      :product(pn.set.box { lower = { -1, 0, -0.5 }, upper = { 0.25, 0.25, 0.25 } })
      :product(pn.set.unit_hypersimplex { dim = 3, k = 2, radius = 0.3 })
      :product(pn.set.polytope { vertices = { { 0, 0, 0 }, { 0.5, -0.25, 0 } } })
    local model = expected(6, set)
    start_all()
    assert.is_true(group:wait(everybody()), logs())
    for _, name in ipairs(everybody()) do assert.equal(0, group:ended(name), logs()) end
    assert.equal(model, program.read_all(folder .. "/model.npy"), logs())
    assert.is_true(set:contains(pn.load(folder .. "/model.npy"), 1e-9))
  end)

  it("learn that a set does not fit a party's columns before anything is spent", function()
    local simplex = '{ kind = "simplex" }'
    write_server(6, nil, { simplex, simplex, '{ kind = "hypersimplex", k = 4 }', simplex })
    start_all()
    assert.is_true(group:wait { "server" }, logs())
    assert.equal(2, group:ended "server", logs())
    assert.truthy(group:log("server"):find("server.lua: parties[3].set: set.hypersimplex: k must be", 1, true), logs())
    write_server(6, nil, { simplex, '{ kind = "box", lower = { 0, 0 }, upper = 1 }', simplex, simplex })
    group:start "server"
    assert.is_true(group:wait { "server" }, logs())
    assert.truthy(group:log("server"):find("server.lua: parties[2].set: ", 1, true), logs())
    group:stop()
    for k = 1, PARTIES do assert.same({ selection = 0, feature = 0, other = 0 }, charges(name_of(k))) end
  end)

  it("give the same again when they are started after the end, and nobody pays twice", function()
    write_server(8)
    local model, report = expected(8)
    for _ = 1, 2 do
      start_all()
      assert.is_true(group:wait(everybody()), logs())
      for _, name in ipairs(everybody()) do assert.equal(0, group:ended(name), logs()) end
      assert_exact(8, model, report)
      os.remove(folder .. "/model.npy")
    end
  end)

  it("need no parties any more once the run is done", function()
    write_server(8)
    local model, report = expected(8)
    start_all()
    assert.is_true(group:wait(everybody()), logs())
    os.remove(folder .. "/model.npy")
    group:start "server" -- whose time-out is a minute
    assert.is_true(group:wait { "server" }, logs())
    assert.equal(0, group:ended "server", logs())
    assert_exact(8, model, report)
  end)

  it("finish with the same model and exact ledgers, whoever is killed whenever", function()
    local steps, kills = math.max(60, 4 * most), 0
    local rng = pn.rng.seeded(chaos)
    write_server(steps)
    local model, report = expected(steps)
    start_all()
    local names, deadline = everybody(), os.time() + 300 + 2 * most -- a guard against hanging, not a measure
    while group:ended "server" ~= 0 do
      assert.is_true(os.time() < deadline, logs())
      services.sleep(0.02 + 0.2 * rng:uniform())
      for _, name in ipairs(names) do
        local status = group:ended(name)
        if status and not (name == "server" and status == 0) then
          assert.is_true(status == 137 or status == 4 or status == 0, name .. " ended with " .. status .. "\n" .. logs())
          group:start(name)
        end
      end
      if kills < most then
        kills = kills + 1
        group:kill(names[1 + math.floor(rng:uniform() * #names)], "KILL")
      end
    end
    group:stop() -- a party that was started again after the end waits for the next run
    assert_exact(steps, model, report)
    assert.is_true(kills >= 5, "only " .. kills .. " kills")
  end)

  it("stop cleanly for SIGTERM, and go on from their checkpoints", function()
    write_server(40)
    local model, report = expected(40)
    start_all()
    -- Nobody listens to signals before it has started; the first checkpoint says that all have, and that the run has begun.
    assert.truthy(services.await(function() return io.open(folder .. "/server.state") end), logs())
    for _, name in ipairs(everybody()) do group:kill(name, "TERM") end
    assert.is_true(group:wait(everybody()), logs())
    for _, name in ipairs(everybody()) do
      local status = group:ended(name)
      assert.is_true(status == 5 or status == 0, name .. " ended with " .. status .. "\n" .. logs())
    end
    start_all()
    assert.is_true(group:wait { "server" }, logs())
    assert.equal(0, group:ended "server", logs())
    group:stop()
    assert_exact(40, model, report)
  end)

  it("refuse a key that is not in the server's list", function()
    pn.federated.keygen(folder .. "/stranger.key")
    write_party(1, { keys = "stranger.key" })
    write_server(5, "timeout = 300")
    start_all()
    assert.is_true(group:wait { "party_1" }, logs())
    assert.equal(3, group:ended "party_1", logs())
    group:kill("server", "TERM")
    assert.is_true(group:wait { "server" }, logs())
    local before = #group:log "server"
    write_server(5, "timeout = 1") -- who waits no longer for who did not come
    group:start "server"
    assert.is_true(group:wait { "server" }, logs())
    assert.equal(4, group:ended "server", logs())
    assert.truthy(group:log("server"):find("party_1", before + 1, true), logs())
    assert.same({ selection = 0, feature = 0, other = 0 }, charges(name_of(1)))
  end)

  it("refuse a run that a party's budget does not cover, before anybody has paid", function()
    write_party(3, { epsilon = 0.05 })
    write_server(20)
    start_all()
    assert.is_true(group:wait { "server", "party_3" }, logs())
    assert.equal(3, group:ended "party_3", logs())
    assert.equal(3, group:ended "server", logs())
    assert.truthy(group:log("party_3"):find("Requested", 1, true), logs())
    group:stop() -- ledgers are locked while a party runs
    for k = 1, PARTIES do assert.same({ selection = 0, feature = 0, other = 0 }, charges(name_of(k))) end
  end)

  it("refuse terms that let all parties spend more on a person than one's owner admits, and say of others what they allow",
    function()
      write_party(1, { person_epsilon = 100 })
      write_party(3, { person_epsilon = 5 })
      write_server(20)
      start_all()
      assert.is_true(group:wait { "server", "party_3" }, logs())
      assert.equal(3, group:ended "party_3", logs())
      assert.equal(3, group:ended "server", logs())
      assert.matches("terms refused: party: the terms let 4 parties spend epsilon 12%.%d+ at delta 0%.001 on one person, and "
        .. "its person_epsilon is 5;", group:log "party_3", logs())
      assert.matches("terms: seeded noise, no privacy; 4 parties, which together may spend epsilon 12%.%d+ at delta 0%.001 "
        .. "on one person, within person_epsilon 100", group:log "party_1", logs())
      group:stop()
      for k = 1, PARTIES do assert.same({ selection = 0, feature = 0, other = 0 }, charges(name_of(k))) end
    end)
end)

describe("the configuration of a party or a server", function()
  local path

  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  -- What the program says of this configuration; by `run`, program.run or program.call.
  local function answer(word, text, run)
    program.write_all(path, text)
    local _, err, code = (run or program.run) { word, path }
    return (err:gsub("^%S+ error ", "")), code
  end

  it("is explained by --help, with the exit statuses", function()
    for _, word in ipairs { "party", "server" } do
      local out, err, code = program.run { word, "--help" }
      assert.equal("", err)
      assert.equal(0, code)
      for _, line in ipairs { "usage: penumbra " .. word, "!keys", "0 done", "2 usage", "3 refused", "4 a time%-out",
        "5 stopped by SIGINT or SIGTERM" } do
        assert.matches(line, out)
      end
      for line in out:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    end
    assert.matches("penumbra party CONFIG", (program.run { "--help" }))
  end)

  it("must be there, once", function()
    for _, words in ipairs { { "party" }, { "server", "a", "b" }, { "party", "--frobnicate", "a" } } do
      local _, err, code = program.run(words)
      assert.matches("usage: penumbra " .. words[1], err)
      assert.equal(2, code)
    end
    assert.equal(2, (select(3, program.run { "party", "no_such_file.lua" })))
  end)

  it("is refused with the field, its value and what would be right", function()
    for k, row in ipairs {
      { "party", "return { conect = 1 }", "unknown field 'conect'; it takes connect, server" },
      { "party", "return { connect = 3 }", "connect must be a text, got 3" },
      { "party", "return { connect = 'x' }", "field 'server' is missing: the server's public key, or the file of it" },
      { "party", "return 3", "a configuration returns a table, or sets its fields; this one returned number" },
      { "party", "connect = 'x' return { connect = 'y' }", "field 'connect' is set twice" },
      { "party", "", "the configuration is empty" },
      { "party", "return {", "unexpected symbol near <eof>" },
      { "party", "io.open 'x'", "global 'io'" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = {}, ledger = { epsilon = 1 } }",
        "ledger: field 'path' is missing" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = {} }",
        "field 'ledger' is missing: {path=, epsilon=, delta=}; nonprivate = true agrees to runs without noise" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = {}, ledger = { path = 'l', epsilon = 1 } }",
        "field 'clip' is missing" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = {}, nonprivate = true }",
        "data names none of csv, libsvm, npy" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = { csv = 'none.csv' }, nonprivate = true }",
        "none.csv" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = function() return 3 end, nonprivate = true }",
        "must return a data set, got a number" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = -1 }", "radius must be a positive number, got -1" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, loss = 'hinge' }",
        'loss must be one of squared, logistic, got "hinge"' },
      { "server", "return { listen = 'x', keys = 'k', parties = { 'a' }, radius = 1 }", "parties[1] must be" },
      { "server", "return { listen = 'x', keys = 'k', parties = {} }",
        "the set of the model must be given once, by radius (of an l1 ball), set = {kind=, ...}, or parties[i].set of every party; "
          .. "got none of them" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, set = { kind = 'box', lower = 0, upper = 1 } }",
        "got radius and set" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, set = { radius = 1 } }",
        'set, which all parties share in mode "product": field \'kind\' is missing: one of l1_ball, box, linf_ball' },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, set = { kind = 'simplex' } }",
        'kind must be one of l1_ball, box, linf_ball, got "simplex"' },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, mode = 'ball', set = { kind = 'box', lower = 0, upper = 1 } }",
        'kind must be one of l1_ball, simplex, got "box"' },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, set = { kind = 'l1_ball', center = { 1 } } }",
        "an l1_ball that all parties share lies about 0; leave center out, or give parties[i].set" },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'l2_ball' } } } }",
        'parties[1].set: kind must be one of l1_ball, simplex, box, linf_ball, hypersimplex, unit_hypersimplex, ksparse_polytope, '
          .. 'polytope, got "l2_ball"' },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'simplex', dim = 3 } } } }",
        "parties[1].set: unknown field 'dim'; it takes kind, radius" },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'simplex', radius = -1 } } } }",
        "parties[1].set: radius must be a positive number, got -1" },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'hypersimplex' } } } }",
        "parties[1].set: field 'k' is missing" },
      { "server", "return {listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'box', lower = 'x', upper = 1 } } }}",
        "lower must be a number or a table or a pn.vec, got \"x\"" },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'simplex' } }, { key = 'b' } } }",
        "parties[2].set is missing: every party has one, or none" },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', set = { kind = 'simplex' } } }, mode = 'ball' }",
        'parties[1].set is for mode = "product"; in mode "ball" give radius or set' },
      { "server", "return { listen = 'x', keys = 'k', parties = { { key = 'a', sett = 1 } }, radius = 1 }",
        "parties[1]: unknown field 'sett'; it takes name, key, set" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1 }",
        "no budget for the run: give epsilon and delta, or rho, or privacy = false" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, mode = 'produkt' }",
        'mode must be one of product, ball, paper, got "produkt"' },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, iterations = 0 }",
        "iterations must be a whole number from 1, got 0" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, delta = 1 }",
        "delta must be a number between 0 and 1, both excluded, got 1" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, sketch = { m = 0 } }",
        "sketch: m must be a whole number from 1, got 0" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, sketch = { rows = 9 } }",
        "sketch: unknown field 'rows'; it takes kind, m, seed, accuracy, failure" },
      { "server", "return { listen = 'x', keys = 'k', parties = {}, radius = 1, model = '/nonexistent/model.npy' }",
        "model: /nonexistent/model.npy" },
      { "party", "return { connect = 'x', server = 'y', keys = 'k', data = {}, nonprivate = true, checkpoint = '/nonexistent/c' }",
        "checkpoint: /nonexistent/c" },
    } do
      local message, code = answer(row[1], row[2], k > 1 and program.call)
      assert.truthy(message:find(row[3], 1, true), message)
      assert.equal(2, code, message)
      assert.is_nil(io.open(path .. ".probe"))
    end
  end)

  it("leaves the words to scripts that are called so", function()
    local out, err = program.shell(("d=$(mktemp -d) && cd $d && echo 'print(6 * 7)' >party && %s -- party; %s ./party; rm -r $d")
      :format(program.quote(program.path:match "^/" and program.path or "build/penumbra"),
        program.quote(program.path:match "^/" and program.path or "build/penumbra")))
    assert.equal("42\n42\n", out, err)
  end)
end)
