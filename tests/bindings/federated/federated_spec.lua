local pn = require "penumbra"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal

-- 80 records, 6 columns within [-1, 1].
local function problem()
  local rng, rows, labels = pn.rng.seeded(11), {}, {}
  for i = 1, 80 do
    rows[i] = {}
    for j = 1, 6 do rows[i][j] = 2 * rng:uniform() - 1 end
    labels[i] = 0.6 * rows[i][2] - 0.3 * rows[i][5]
  end
  local data = pn.data.from(rows, labels):clip_rows("linf", 1):clip_labels(-1, 1)
  return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 6, radius = 1 } }
end

local function run(objective, options)
  options.progress = false
  return pn.solve.federated_frank_wolfe(objective, options)
end

-- The message of what goes wrong, without the place.

describe("pn.federated.in_process", function()
  it("runs without noise to the minimum of the product of balls", function()
    local transport = pn.federated.in_process { parties = 2 }
    local fit = run(problem(), { transport = transport, privacy = false, iterations = 2000,
      sketch = { kind = "identity" }, radii = { 0.6, 0.4 } })
    -- Noise-free labels: the truth, (0, 0.6, 0 | 0, -0.3, 0), lies in the product, and the value there is 0.
    assert.is_true(fit.value < 1e-4)
    assert.near(0.6, fit.theta[2], 0.02)
    assert.near(-0.3, fit.theta[5], 0.02)
  end)

  it("counts bytes, scalars and messages of each party, up and down", function()
    local transport = pn.federated.in_process { columns = { 4, 2 } }
    local fit = run(problem(), { transport = transport, epsilon = 4, delta = 1e-3, iterations = 9,
      sketch = { kind = "gaussian", m = 16, seed = 3 }, rng = pn.rng.seeded(1) })
    assert.equal(9, fit.steps)
    local up, down, report = transport.uplink, transport.downlink, transport:report()
    assert.equal(2, #up)
    assert.equal(2, #report)
    local features = report[1].features + report[2].features
    assert.equal(up[1].bytes + up[2].bytes, up.bytes)
    assert.equal(up[1].scalars + up[2].scalars, up.scalars)
    -- One code a round and party, m numbers and an index for each feature at most.
    assert.is_true(up.scalars >= 2 * 9 + 16 * features and up.scalars <= 2 * 9 + 17 * features, tostring(up.scalars))
    assert.is_true(up.bytes >= 8 * 16 * features)
    assert.is_true(down.scalars >= 2 * 9 * 16) -- q to each party in each round
    for k, row in ipairs(report) do
      assert.equal(up[k].bytes, row.bytes_up)
      assert.equal(9, row.selections)
      assert.equal(math.huge, row.epsilon) -- seeded
      assert.is_true(row.nominal_epsilon > 0 and row.nominal_epsilon <= 4)
    end
    assert.equal(4, report[1].columns)
    assert.equal(2, report[2].columns)
  end)

  it("gives the same model for the same seed, and another for another", function()
    local function theta(seed)
      return run(problem(), { transport = pn.federated.in_process { parties = 3 }, epsilon = 4, delta = 1e-3,
        iterations = 12, rng = pn.rng.seeded(seed) }).theta
    end
    assert.equal(theta(1), theta(1))
    assert.are_not.equal(theta(1), theta(2))
  end)

  it("draws new noise when the same generator is used again, of which the first run is that of its seed", function()
    local rng, transport = pn.rng.seeded(1), pn.federated.in_process { parties = 3 }
    local function theta(generator)
      return run(problem(), { transport = transport, epsilon = 4, delta = 1e-3, iterations = 12, rng = generator }).theta
    end
    local first, second, third = theta(rng), theta(rng), theta(rng)
    assert.equal(first, theta(pn.rng.seeded(1)))
    assert.are_not.equal(first, second)
    assert.are_not.equal(second, third)
  end)

  it("charges each party's own ledger for exactly its part", function()
    local ledgers = {}
    for k = 1, 2 do ledgers[k] = pn.ledger { epsilon = 20, delta = 1e-3, teaching = true } end
    local transport = pn.federated.in_process { parties = 2, ledgers = ledgers }
    run(problem(), { transport = transport, epsilon = 4, delta = 1e-3, iterations = 7, rng = pn.rng.seeded(1) })
    for k, row in ipairs(transport:report()) do
      local entries = 0
      for _, entry in ipairs(ledgers[k]:report()) do entries = entries + (entry.count or 1) end
      assert.equal(7, row.selections)
      assert.equal(row.selections + row.features, entries)
    end
  end)

  it("refuses a run that a party's ledger does not cover, and charges nothing", function()
    local ledgers = { pn.ledger { epsilon = 20, delta = 1e-3, teaching = true },
      pn.ledger { epsilon = 0.01, delta = 1e-3, teaching = true } }
    local transport = pn.federated.in_process { parties = 2, ledgers = ledgers }
    pn.federated.failure()
    local message = refusal(run, problem(),
      { transport = transport, epsilon = 4, delta = 1e-3, iterations = 7, rng = pn.rng.seeded(1) })
    assert.truthy(message:find("Requested", 1, true), message)
    local kind = pn.federated.failure()
    assert.is_true(kind == "EPRIVACY" or kind == "EBUDGET", kind)
    assert.is_nil(pn.federated.failure())
    for k = 1, 2 do assert.equal(0, #ledgers[k]:report()) end
  end)

  it("refuses seeded noise on a real ledger", function()
    local transport = pn.federated.in_process { parties = 1, ledgers = { pn.ledger { epsilon = 20, delta = 1e-3 } } }
    local message = refusal(run, problem(),
      { transport = transport, epsilon = 4, delta = 1e-3, iterations = 7, rng = pn.rng.seeded(1) })
    assert.truthy(message:find("teaching", 1, true), message)
  end)

  it("keeps the transport alive for a plan, and lets go of it when both are gone", function()
    local plan = pn.solve.federated_frank_wolfe.plan(problem(),
      { transport = pn.federated.in_process { parties = 2 }, privacy = false, iterations = 3 })
    collectgarbage()
    collectgarbage()
    assert.equal(3, plan:run { progress = false }.steps)
    local transport = pn.federated.in_process { parties = 2 }
    plan = pn.solve.federated_frank_wolfe.plan(problem(), { transport = transport, privacy = false, iterations = 3 })
    transport:close()
    assert.equal(3, plan:run { progress = false }.steps)
  end)

  it("says what is wrong with its options", function()
    local in_process = pn.federated.in_process
    for options, message in pairs {
      [{}] = "say how many parties there are: parties = 4, or columns = {3, 3, 2}",
      [{ parties = 0 }] = "parties must be a whole number from 1, got 0",
      [{ parties = 5000 }] = "parties must be a whole number from 1 to 4096, got 5000",
      [{ parties = 2, columns = { 1 } }] = "columns has 1 entries for 2 parties",
      [{ columns = { 1, 1.5 } }] = "columns[2] must be a whole number from 1 to 2^48, got 1.5",
      [{ parties = 2, ledgers = { 1 } }] = "ledgers has 1 entries for 2 parties",
      [{ parties = 1, ledgers = { "x" } }] = 'ledgers[1] must be an open pn.ledger, got the string "x"',
      [{ party = 2 }] = "unknown option 'party'; it takes parties, columns, ledgers",
    } do
      assert.equal("federated.in_process: " .. message, refusal(in_process, options))
    end
  end)

  it("names both sizes when the columns do not add up", function()
    local message = refusal(run, problem(), { transport = pn.federated.in_process { columns = { 4, 4 } },
      privacy = false, iterations = 3 })
    assert.truthy(message:find("8", 1, true) and message:find("6", 1, true), message)
  end)

  it("has nothing to gather", function()
    local transport = pn.federated.in_process { parties = 2 }
    assert.truthy(refusal(transport.data, transport):find("take their columns from the objective", 1, true))
    assert.is_nil(transport.endpoint)
    assert.equal("in_process", transport.name)
    assert.equal(2, transport.parties)
    assert.matches("^transport: in_process, 2 parties\n  up 0 bytes, down 0 bytes", tostring(transport))
  end)
end)

describe("a transport as an option", function()
  it("is required, and must be one", function()
    local plan = pn.solve.federated_frank_wolfe.plan
    assert.truthy(refusal(plan, problem(), { privacy = false }):find("transport is missing", 1, true))
    assert.truthy(refusal(plan, problem(), { privacy = false, transport = 3 })
      :find("transport must be a pn.transport, got 3", 1, true))
  end)
end)

describe("pn.federated over sockets", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
  end)

  after_each(function() os.execute("rm -r " .. folder) end)

  local function keys(name)
    return pn.federated.keygen(folder .. "/" .. name), folder .. "/" .. name
  end

  it("makes keys that only their owner reads, and never over others", function()
    local public, path = keys "a"
    assert.equal(40, #public)
    assert.truthy(program.read_all(path .. ".pub"):find(public, 1, true))
    assert.is_nil(program.read_all(path .. ".pub"):find("secret", 1, true))
    local mode = io.popen("stat -c %a " .. path)
    assert.equal("600", mode:read())
    mode:close()
    local before = program.read_all(path)
    assert.truthy(refusal(pn.federated.keygen, path):find(path, 1, true))
    assert.equal(before, program.read_all(path))
    assert.truthy(refusal(pn.federated.keygen):find "expected the path of a new file, got nothing")
  end)

  it("says what is wrong with a server's options", function()
    local public, path = keys "a"
    local function given(changes)
      local options = { listen = "tcp://127.0.0.1:0", keys = path, parties = { { name = "a", key = public } } }
      for name, value in pairs(changes) do options[name] = value or nil end
      return options
    end
    for _, row in ipairs {
      { { listen = false }, "listen is missing" },
      { { listen = 5 }, "listen must be a string, got 5" },
      { { listen = "nowhere" }, "nowhere" },
      { { keys = false }, "keys is missing" },
      { { keys = folder .. "/none" }, folder .. "/none" },
      { { parties = { a = public } }, "parties must be a list" },
      { { parties = { "a" } }, "parties[1] must be a table" },
      { { parties = { { name = "a" } } }, "parties[1].key must be a string, got nil" },
      { { parties = { { name = "a", key = public, host = "b" } } }, "parties[1] has an unknown field 'host'" },
      { { parties = { { name = "a", key = public }, { name = "a", key = public } } }, "both called \"a\"" },
      { { parties = { { name = "a", key = public }, { name = "b", key = public } } }, "have the same key" },
      { { parties = { { name = "a", key = "too short" } } }, "too short" },
      { { timeout = -1 }, "timeout must be a positive number, got -1" },
      { { log = "x" }, "log must be a function(line, what), got the string \"x\"" },
      { { lissen = 1 }, "unknown option 'lissen'" },
    } do
      local message = refusal(pn.federated.server, given(row[1]))
      assert.truthy(message:find(row[2], 1, true), message)
    end
  end)

  it("says what is wrong with a party's options", function()
    local public, path = keys "a"
    local data = problem().data
    local function given(changes)
      local options = { connect = "tcp://127.0.0.1:9", server = public, keys = path, data = data, nonprivate = true }
      for name, value in pairs(changes) do options[name] = value or nil end
      return options
    end
    for _, row in ipairs {
      { { connect = false }, "connect is missing" },
      { { server = false }, "server is missing" },
      { { keys = false }, "keys is missing" },
      { { data = false }, "data is missing" },
      { { data = 3 }, "data must be a pn.dataset, got 3" },
      { { alignment = "ab" }, "alignment must be a digest of 64 hexadecimal digits, got the string \"ab\"" },
      { { person_epsilon = -1 }, "person_epsilon must be" }, { { person_epsilon = 0 }, "person_epsilon must be" },
      { { person_epsilon = "3" }, "person_epsilon must be" }, { { person_epsilon = 0 / 0 }, "person_epsilon must be" },
      { { person_epsilon = 3 }, "person_epsilon is a cap at the delta of a ledger; give a ledger" },
      { { ledger = {} }, "ledger must be a pn.ledger, got a table" },
      { { name = ("x"):rep(70) }, "name is longer than 63 bytes" },
      { { nonprivate = false }, "ledger" },
      { { data = pn.data.from({ { 5 } }, { 1 }), nonprivate = false, ledger = pn.ledger { epsilon = 1, delta = 1e-3 } },
        "linf" },
      { { checkpoint = folder .. "/state", ledger = pn.ledger { epsilon = 1, delta = 1e-3 } }, "ledger that has a file" },
    } do
      local message = refusal(pn.federated.party, given(row[1]))
      assert.truthy(message:find(row[2], 1, true), message)
    end
    local party = pn.federated.party(given { name = "clinic" })
    assert.equal("clinic", party.name)
    assert.equal("new", party.phase)
    assert.equal(6, party.columns)
    assert.equal(pn.vec.zeros(6), party.theta)
    assert.equal(0, party:report().selections)
    assert.matches("^party: clinic, 6 columns, new", tostring(party))
  end)

  it("listens where it says, and frees the port when it is closed", function()
    local public, path = keys "a"
    local options = { listen = "tcp://127.0.0.1:0", keys = path, parties = { { name = "a", key = public } } }
    local transport = pn.federated.server(options)
    assert.matches("^tcp://127%.0%.0%.1:%d+$", transport.endpoint)
    assert.truthy(tostring(transport):find(transport.endpoint, 1, true))
    options.listen = transport.endpoint
    assert.truthy(refusal(pn.federated.server, options):find(options.listen, 1, true))
    transport:close()
    transport = pn.federated.server(options)
    assert.equal(options.listen, transport.endpoint)
    transport:close()
  end)

  it("gives up on a party that does not come, and on a server that is not there", function()
    local public, path = keys "a"
    local transport = pn.federated.server { listen = "tcp://127.0.0.1:0", keys = path, timeout = 0.2,
      parties = { { name = "clinic_a", key = public } } }
    pn.federated.failure()
    assert.truthy(refusal(transport.data, transport, { progress = false }):find("clinic_a", 1, true))
    assert.equal("EIO", pn.federated.failure())
    transport:close()
    local party = pn.federated.party { connect = "tcp://127.0.0.1:9", server = public, keys = path, timeout = 0.2,
      data = problem().data, nonprivate = true }
    assert.truthy(#refusal(party.serve, party, { progress = false }) > 10)
    assert.equal("EIO", pn.federated.failure())
    assert.equal("new", party.phase)
  end)
end)

describe("help on federated runs", function()
  it("has every row, with options", function()
    for name, words in pairs {
      ["federated.server"] = { "listen", "parties", "keys", "timeout", "checkpoint", "CURVE" },
      ["federated.party"] = { "connect", "server", "ledger", "checkpoint", "alignment", "nonprivate" },
      ["federated.in_process"] = { "parties", "columns", "ledgers" },
      ["federated_frank_wolfe"] = { "transport", "mode", "sampled" },
      ["pn.transport:report"] = { "bytes_up", "own" },
      ["pn.party:serve"] = { "timeout" },
    } do
      local text = program.capture(function() pn.help(name) end)
      for _, word in ipairs(words) do assert.truthy(text:find(word, 1, true), name .. ": " .. word) end
    end
  end)
end)
