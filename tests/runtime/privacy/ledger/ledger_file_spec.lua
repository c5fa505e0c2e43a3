-- ledger_file_spec.lua -- ledgers kept in files: what comes back, what is refused, and what a file cannot be talked into.
local pn = require "penumbra"
local program = require "tests.tools.program"
local refusal = require("tests.tools.refusal").refusal
local event = pn.event

local base = os.tmpname()
local path = base .. ".ledger"
local ends = { "", ".key", ".head" }

local function remove()
  for _, tail in ipairs(ends) do
    os.remove(path .. tail)
  end
end

local function let_go()
  collectgarbage()
  collectgarbage()
end

-- Open, hand over, let go.
local function with(options, body)
  options.path = options.path or path
  local L <close> = pn.ledger(options)
  local answer = body(L)
  return answer
end

local function read(tail)
  return program.read_all(path .. tail)
end

local function write(tail, text)
  program.write_all(path .. tail, text)
end

local function spent(moved)
  return with({ moved = moved }, function(L)
    return L.spent
  end)
end

-- A ledger with `count` charges of 1/16 each, and its files after each of them: history[i] = {ledger, head}.
local function history(count)
  local files = {}
  remove()
  with({ epsilon = 4 }, function(L)
    files[0] = { read "", read ".head" }
    for i = 1, count do
      L:spend(event.pure { epsilon = 1 / 16 }, "release " .. i)
      files[i] = { read "", read ".head" }
    end
  end)
  return files
end

-- As new files, which are then to be opened with moved = true: what a crash or a backup left.
local function put(ledger, head)
  os.remove(path)
  os.remove(path .. ".head")
  write("", ledger)
  write(".head", head)
end

describe("a ledger in a file", function()
  before_each(remove)
  teardown(function()
    let_go()
    remove()
    os.remove(base)
  end)

  it("says the same after it was opened again", function()
    local before = with({ epsilon = 2, delta = 1e-6, neighbours = "add_remove" }, function(L)
      L:spend(event.gaussian { sigma = 50, sensitivity = 1 / 3, draws = 7, neighbours = "add_remove" }, "a \"mean\"\\\n\t", 3)
      L:spend(event.laplace { scale = 100 / 3, sensitivity = 1, neighbours = "add_remove" })
      L:spend(event.laplace { scale = 100 / 3, sensitivity = 1, neighbours = "add_remove" }, "Größe")
      local all = event.compose {
        event.repeated(event.zcdp { rho = 1e-5, neighbours = "add_remove" }, 12),
        event.pure { epsilon = 0.01, neighbours = "add_remove" },
      }
      L:spend(event.repeated(all, 5), "nested")
      L:spend(event.repeated(event.exponential { epsilon = 1e-3, neighbours = "add_remove" }, 5), "repeated", 2)
      local report = L:report()
      return { report, tostring(report), tostring(L), L.orders, L.remaining, tostring(L:odometer()) }
    end)
    local after = with({}, function(L)
      local report = L:report()
      return { report, tostring(report), tostring(L), L.orders, L.remaining, tostring(L:odometer()) }
    end)
    assert.equal(5, #after[1])
    assert.same(before, after)
  end)

  it("brings back every kind of budget", function()
    local kinds = {
      { epsilon = 1 }, { rho = 0.3 }, { alpha = 8, epsilon = 1 / 3 },
      { epsilon = 1, delta = 1e-6, filter = "gaussian" }, { epsilon = 1, delta = 1e-5, orders = { 8, 16.5, 1000 / 3 } },
      { epsilon = 1, delta = 1e-5, teaching = true, neighbours = "zero_out" },
    }
    for _, options in ipairs(kinds) do
      remove()
      local fields = { "epsilon", "delta", "rho", "alpha", "filter", "teaching", "neighbours", "orders", "theorem" }
      local e = options.filter and { sigma = 100, sensitivity = 1 } or { epsilon = 1e-3 }
      e.neighbours = options.neighbours
      local function look(L)
        local seen = { tostring(L), L.remaining, L.spent }
        for _, name in ipairs(fields) do
          seen[name] = L[name]
        end
        return seen
      end
      local before = with(options, function(L)
        L:spend(options.filter and event.gaussian(e) or event.pure(e), "x", 7)
        return look(L)
      end)
      options.path = nil
      assert.same(before, with({}, look))
      assert.same(before, with(options, look))
    end
  end)

  it("writes and reads every kind of event to the last digit", function()
    local guess, seen = require "tests.tools.defaults", 0
    local function inner(relation)
      return event.gaussian { sigma = 40 / 3, sensitivity = 1 / 3, neighbours = relation }
    end
    local made = {
      gaussian = { { sigma = math.pi, sensitivity = 1 / 3 }, { sigma = 7, sensitivity = 1, draws = 1000 } },
      laplace = { { scale = 1e5 / 3, sensitivity = 1, draws = 3 } },
      poisson_sampled = { { q = 1 / 3, event = "inner" } },
      fixed_sampled = { { batch = 7, n = 1000, event = "inner" } },
      fixed_sampled_and_whole = {
        { batch = 7, n = 1000, sigma = 4 / 3, sampled_sensitivity = 1 / 7, whole_sensitivity = 1e-3 / 3, draws = 9 },
      },
      approximate = { { epsilon = 1 / 7, delta = 1e-16 / 3 } },
      sparse_vector = { { epsilon = 1 / 7, answers = 3 }, { epsilon = 0.1 } },
      rdp = { { alpha = 1000, epsilon = 1e-3 } },
      curve = {
        { orders = { 4 / 3, 2, 1000 }, divergences = { 1e-3 / 3, 1e-3 / 2, 0.1 } },
        { divergence = function(order) return order * 1e-3 / 3 end },
      },
      loss_distribution = {
        { p = { 1 / 3, 1 / 3, 1 / 3 }, q = { 1 / 7, 2 / 7, 4 / 7 } },
        { losses = { 0.1, -1 / 7 }, probabilities = { 0.7, 0.3 }, delta = 0 },
      },
      objective_perturbation = { { sigma = 400 / 3, sensitivity = 1 / 3, jacobian = 1 / 7, dim = 12 } },
    }
    for name in pairs(event) do
      local relation = (name:find "^fixed_sampled" or name == "objective_perturbation") and "replace_one" or "add_remove"
      for _, options in ipairs(made[name] or name ~= "compose" and name ~= "repeated" and guess("event", name) or {}) do
        local given = { neighbours = relation }
        for key, value in pairs(options) do
          given[key] = value == "inner" and inner(relation) or value
        end
        remove()
        local function look(L)
          return L:report()[1].event .. tostring(L:report()) .. L.spent
        end
        local before = with({ epsilon = 1e6, delta = 1e-6, neighbours = relation, orders = { 1.5, 3, 999 } }, function(L)
          L:spend(event[name](given), "x", 2)
          return look(L)
        end)
        assert.matches(name, before, 1, true)
        assert.equal(before, with({}, look))
        seen = seen + 1
      end
    end
    assert.is_true(seen >= 10)
  end)

  it("keeps slices, parts and their end", function()
    with({ epsilon = 1 }, function(L)
      local ann = pn.ledger { parent = L, name = "ann \"A\"", rho = 0.5 }
      local inner = pn.ledger { parent = ann, name = "hw1", epsilon = 0.25 }
      inner:spend(event.pure { epsilon = 0.125 }, "x")
      local bob = pn.ledger { parent = L, name = "bob", epsilon = 0.5 }
      local _, second = bob:split(2)
      second:spend(event.pure { epsilon = 0.25 }, "y")
      local eve = pn.ledger { parent = L, name = "eve", epsilon = 1 }
      eve:retire()
    end)
    let_go()
    with({}, function(L)
      assert.equal(0.375, L.spent)
      assert.same({ 'ann "A": hw1: x', "bob: part 2 of 2: y" }, { L:report()[1].label, L:report()[2].label })
      local ann = pn.ledger { parent = L, name = "ann \"A\"" }
      assert.equal(0.125 ^ 2 / 2, ann.spent)
      assert.equal(0.125, pn.ledger({ parent = ann, name = "hw1", epsilon = 0.25 }).remaining)
      local bob = pn.ledger { parent = L, name = "bob" }
      assert.equal("the budget was split", bob.ended)
      local first, second = bob:split(2)
      assert.equal(0, second.remaining)
      first:spend(event.pure { epsilon = 0.25 }, "z")
      assert.equal(0.625, L.spent)
      local eve = pn.ledger { parent = L, name = "eve" }
      assert.matches("the budget was retired", refusal(eve.spend, eve, event.pure { epsilon = 0.1 }), 1, true)
    end)
    let_go()
    assert.equal(0.625, spent())
  end)

  it("can be closed and opened again", function()
    local first = pn.ledger { path = path, rho = 1 }
    local ann = pn.ledger { parent = first, name = "ann", rho = 0.5 }
    ann:spend(event.zcdp { rho = 0.25 }, "x")
    first:close()
    first:close()
    assert.equal("the ledger is closed", first.ended)
    assert.equal("the ledger above it is closed", ann.ended)
    assert.matches("Remaining 0", refusal(first.spend, first, event.zcdp { rho = 0.25 }), 1, true)
    assert.matches("Remaining 0", refusal(ann.spend, ann, event.zcdp { rho = 0.25 }), 1, true)
    assert.equal(0.25, first.spent)
    local second = pn.ledger { path = path }
    assert.equal(0.25, second.spent)
    second:spend(event.zcdp { rho = 0.5 }, "y")
    second:close()
    with({}, function(L) assert.equal(0.75, L.spent) end)
  end)

  it("charges no file that was removed or replaced while it was open", function()
    with({ rho = 1 }, function(L)
      local e = event.zcdp { rho = 0.25 }
      L:spend(e, "x")
      os.rename(path, path .. ".old")
      assert.matches("no longer the file that was opened", refusal(L.spend, L, e), 1, true)
      write("", "another file")
      assert.matches("nothing was charged", refusal(L.spend, L, e), 1, true)
      os.rename(path .. ".old", path)
      L:spend(e, "y")
      assert.equal(0.5, L.spent)
    end)
  end)

  it("stays retired", function()
    with({ rho = 1 }, function(L)
      L:spend(event.zcdp { rho = 0.25 }, "x")
      L:retire()
    end)
    with({}, function(L)
      assert.equal("the budget was retired", L.ended)
      assert.equal(0.25, L.spent)
      assert.equal(0, L.remaining)
      assert.matches("the budget was retired", refusal(L.spend, L, event.zcdp { rho = 0.25 }), 1, true)
    end)
  end)

  it("does not choose its orders anew", function()
    local before = with({ epsilon = 1, delta = 1e-6 }, function(L)
      L:spend(event.exponential { epsilon = pn.calibrate.exponential { epsilon = 1, delta = 1e-6, count = 50 } }, "a", 50)
      assert.equal(1, #L.orders)
      return L.orders
    end)
    with({}, function(L)
      assert.same(before, L.orders)
      assert.is_false((L:covers(event.exponential { epsilon = 0.01 })))
    end)
  end)

  it("is refused with another budget, naming both", function()
    with({ epsilon = 1, delta = 1e-6 }, function() end)
    local message = refusal(pn.ledger, { path = path, epsilon = 2, delta = 1e-6 })
    assert.matches("has the budget epsilon=1, delta=.*, not epsilon=2, delta=", message)
    assert.matches("not rho=1", refusal(pn.ledger, { path = path, rho = 1 }), 1, true)
    assert.matches('is for "replace_one" neighbours, not "zero_out"',
      refusal(pn.ledger, { path = path, neighbours = "zero_out" }), 1, true)
    let_go()
    with({ epsilon = 1, delta = 1e-6 }, function() end)
  end)

  it("is not started without a budget, nor where it cannot be", function()
    assert.matches("there is no such ledger; give a budget", refusal(pn.ledger, { path = path }), 1, true)
    assert.matches("its directory does not exist", refusal(pn.ledger, { path = path .. "/x/y", epsilon = 1 }), 1, true)
    local directory = base:match "^(.*)/"
    assert.matches("is a directory", refusal(pn.ledger, { path = directory, epsilon = 1 }), 1, true)
    assert.matches("is no regular file", refusal(pn.ledger, { path = "/dev/null", epsilon = 1 }), 1, true)
    assert.matches("epsilon must be a positive", refusal(pn.ledger, { path = path, epsilon = -1 }))
    for _, tail in ipairs(ends) do
      assert.is_nil(io.open(path .. tail))
    end
  end)

  it("starts in an empty file", function()
    write("", "")
    with({ epsilon = 1 }, function(L)
      L:spend(event.pure { epsilon = 0.5 })
    end)
    assert.equal(0.5, spent())
  end)

  it("is not anything else", function()
    for _, text in ipairs { "hello\n", "x", "\0\0\0", "penumbra-ledgers\n", ("x\n"):rep(1000) } do
      write("", text)
      assert.matches("this is no ledger", refusal(pn.ledger, { path = path, epsilon = 1 }), 1, true)
      assert.equal(text, read "")
    end
  end)

  it("is of format 1", function()
    local text = history(2)[2][1]
    write("", (text:gsub("^penumbra%-ledger 1", "penumbra-ledger 2")))
    assert.matches("is of format 2; this program reads format 1", refusal(pn.ledger, { path = path }), 1, true)
    os.remove(path .. ".head")
    write("", "penumbra-ledger 2 whatever\n")
    assert.matches("is of format 2", refusal(pn.ledger, { path = path, epsilon = 1 }), 1, true)
  end)
end)

describe("the authentication of a ledger", function()
  it("notices every changed byte, with the line", function()
    local files = history(3)
    local text, head = files[3][1], files[3][2]
    local line = 1
    for i = 1, #text do
      local byte = text:byte(i)
      local changed = text:sub(1, i - 1) .. string.char(byte ~ 1 << (i % 7)) .. text:sub(i + 1)
      put(changed, head)
      local message = refusal(pn.ledger, { path = path, moved = true })
      if line > 1 then
        local joined = byte == 10 or changed:sub(i, i) == "\n"
        assert.is_true(joined or message:find("line " .. line .. " was changed", 1, true) ~= nil, message)
      end
      line = line + (byte == 10 and 1 or 0)
    end
    put(text, head)
    assert.equal(3 / 16, spent(true))
  end)

  it("notices lines that are cut off, dropped, moved, doubled or added", function()
    local files = history(4)
    local text, head = files[4][1], files[4][2]
    for length = 0, #text - 1 do
      put(text:sub(1, length), head)
      refusal(pn.ledger, { path = path, moved = true })
    end
    local lines = {}
    for each in text:gmatch "[^\n]*\n" do
      lines[#lines + 1] = each
    end
    for i = 2, #lines do
      for j = 2, #lines do
        local moved = { table.unpack(lines) }
        table.insert(moved, j, table.remove(moved, i))
        put(table.concat(moved), head)
        if i ~= j then
          refusal(pn.ledger, { path = path, moved = true })
        end
        local doubled = { table.unpack(lines) }
        table.insert(doubled, j, lines[i])
        put(table.concat(doubled), head)
        if i < #lines or j < #lines then -- one line too many at the very end is cut off, like a torn one
          refusal(pn.ledger, { path = path, moved = true })
        end
      end
      local dropped = { table.unpack(lines) }
      table.remove(dropped, i)
      put(table.concat(dropped), head)
      refusal(pn.ledger, { path = path, moved = true })
    end
    put(text .. "\n", head)
    assert.is_true(with({ moved = true }, function(L) return L.recovered end)) -- an empty line at the end was never a charge
    put(text .. lines[4] .. lines[5], head)
    assert.matches("line 7 was changed", refusal(pn.ledger, { path = path, moved = true }))
    put(text, head)
    assert.equal(4 / 16, spent(true))
  end)

  it("does not take the head of a copy that went another way", function()
    local mine = history(2)
    put(mine[1][1], mine[1][2])
    with({ moved = true }, function(L)
      L:spend(event.pure { epsilon = 1 / 16 }, "something else")
    end)
    put(read "", mine[2][2]) -- the same key and name
    assert.matches("is of another or an older ledger", refusal(pn.ledger, { path = path, moved = true }), 1, true)
  end)

  it("remembers the share of delta that the first charge fixed for tails", function()
    for _, sigma in ipairs { 0.165, 0.155 } do
      remove()
      local small = event.pure { epsilon = 1e-9 }
      local e = event.compose { event.gaussian { sigma = sigma, sensitivity = 1, draws = 10 }, small }
      local left, spent_there
      with({ epsilon = e:epsilon(1e-6) * 1.5, delta = 1e-6 }, function(L)
        L:spend(e, "most of it")
        left, spent_there = L.remaining, L.spent
        assert.is_true((L:covers(small)))
      end)
      with({}, function(L)
        assert.equal(left, L.remaining)
        assert.equal(spent_there, L.spent)
        assert.is_true((L:covers(small)))
      end)
    end
  end)

  it("does not take the lines of another ledger with the same key", function()
    local key = path .. ".key"
    local mine = history(2)[2]
    os.remove(path)
    os.remove(path .. ".head")
    with({ epsilon = 4, key = key }, function(L)
      L:spend(event.pure { epsilon = 1 / 16 }, "release 1")
      L:spend(event.pure { epsilon = 1 / 16 }, "release 2")
    end)
    local other = { read "", read ".head" }
    put(mine[1], other[2])
    assert.matches("missing or was changed", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    put((mine[1]:gsub("[^\n]*\n", other[1]:match "[^\n]*\n", 1)), other[2])
    refusal(pn.ledger, { path = path, moved = true })
    put(table.unpack(mine))
    assert.equal(2 / 16, spent(true))
  end)

  it("needs the key, and nobody else to read it", function()
    history(1)
    local key = read ".key"
    write(".key", (key:gsub("%x\n$", function(last) return (last == "0\n" and "1" or "0") .. "\n" end)))
    assert.matches("line 2 was changed, or is not of this ledger and key",
      refusal(pn.ledger, { path = path, moved = true }), 1, true)
    write(".key", "no key\n")
    assert.matches("this is no key of a ledger", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    os.remove(path .. ".key")
    assert.matches("the key cannot be opened", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    write(".key", key)
    program.shell("chmod 644 " .. program.quote(path .. ".key"))
    assert.matches("others than its owner may read or write it (mode 644); chmod 600 " .. path .. ".key",
      refusal(pn.ledger, { path = path, moved = true }), 1, true)
    program.shell("chmod 600 " .. program.quote(path .. ".key"))
    assert.equal(1 / 16, spent())
    local mode = program.shell("stat -c %a " .. program.quote(path .. ".key"))
    assert.equal("600\n", mode)
  end)

  it("takes a key from elsewhere", function()
    remove()
    local elsewhere = base .. ".other"
    os.remove(elsewhere)
    with({ rho = 1, key = elsewhere }, function() end)
    assert.is_nil(io.open(path .. ".key"))
    assert.matches("cannot be opened", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    with({ key = elsewhere }, function() end)
    os.remove(elsewhere)
    remove()
  end)
end)

describe("a ledger after a crash", function()
  it("has every charge that returned, whatever became of the last one", function()
    local files = history(3)
    local before, after = files[2], files[3]
    for length = #before[1], #after[1] - 1 do -- the write was torn: the head is before it
      put(after[1]:sub(1, length), before[2])
      local seen = with({ moved = true }, function(L)
        L:spend(event.pure { epsilon = 1 / 16 }, "next")
        return { L.recovered, L.spent }
      end)
      assert.same({ length > #before[1], 3 / 16 }, seen)
      assert.equal(3 / 16, spent())
    end
    local zeros = before[1] .. ("\0"):rep(#after[1] - #before[1])
    for _, torn in ipairs { zeros, after[1]:sub(1, -20) .. ("\0"):rep(19) .. "\n" } do
      put(torn, before[2])
      assert.equal(2 / 16, spent(true))
    end
    put(after[1], before[2]) -- written, but the head was not: charged
    assert.equal(3 / 16, spent(true))
    assert.equal(3 / 16, spent())
  end)

  it("does not take a head that was torn or blanked", function()
    local files = history(3)
    for length = 0, 140, 20 do
      put(files[3][1], files[3][2]:sub(1, length) .. ("x"):rep(512 - length) .. files[3][2]:sub(513))
      assert.matches("head is missing or was changed", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    end
  end)

  it("refuses to go backwards", function()
    local files = history(4)
    for older = 0, 3 do
      put(files[older][1], files[4][2])
      assert.matches("goes backwards: " .. older + 1 .. " whole record", refusal(pn.ledger, { path = path, moved = true }))
      assert.matches("says that there were 5", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    end
    put("", files[4][2])
    assert.matches("goes backwards: it is empty", refusal(pn.ledger, { path = path, epsilon = 4 }), 1, true)
    os.remove(path)
    assert.matches("is missing, but", refusal(pn.ledger, { path = path, epsilon = 4 }), 1, true)
    assert.is_nil(io.open(path))
    put(files[4][1], files[2][2])
    assert.matches("is of another or an older ledger", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    put(files[4][1], "")
    os.remove(path .. ".head")
    assert.matches("head is missing or was changed", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    put(files[4][1], ("x"):rep(1536))
    assert.matches("head is missing or was changed", refusal(pn.ledger, { path = path, moved = true }), 1, true)
    put(files[4][1], files[4][2])
    assert.equal(4 / 16, spent(true))
  end)

  it("starts over where it had not begun", function()
    local files = history(0)
    local second = files[0][1]:find("\n", 1, true)
    for length = 0, #files[0][1] do -- the key is there; the first two lines may be torn, and the head is not there yet
      os.remove(path .. ".head")
      os.remove(path)
      write("", files[0][1]:sub(1, length))
      with({ epsilon = 4 }, function(L)
        L:spend(event.pure { epsilon = 1 }, "x")
      end)
      assert.equal(1, spent())
    end
    assert.is_true(second < #files[0][1])
  end)
end)

describe("a ledger that others have", function()
  local function child(script)
    local text = ("local pn = require 'penumbra'\n%s"):format(script)
    local file = base .. ".lua"
    program.write_all(file, text)
    return program.interpreter() .. " " .. program.quote(file)
  end

  teardown(function()
    os.remove(base .. ".lua")
    os.remove(base .. ".out")
    remove()
  end)

  it("is open once in a process", function()
    remove()
    local L = pn.ledger { path = path, epsilon = 1 }
    assert.matches("is open in this process already", refusal(pn.ledger, { path = path }), 1, true)
    L:spend(event.pure { epsilon = 0.5 })
    L = nil
    let_go()
    assert.is_nil(L)
    assert.equal(0.5, spent())
  end)

  it("is refused while another process has it, which it names", function()
    remove()
    local pipe = assert(io.popen(child(([[
      local L = pn.ledger { path = %q, epsilon = 1 }
      L:spend(pn.event.pure { epsilon = 0.25 })
      io.open(%q, "w"):write("ready"):close()
      io.read "l"
      L:spend(pn.event.pure { epsilon = 0.25 })
    ]]):format(path, base .. ".out")), "w"))
    for _ = 1, 1e9 do
      local file = io.open(base .. ".out")
      local ready = file and file:read "a"
      if file then file:close() end
      if ready == "ready" then break end
    end
    local message = refusal(pn.ledger, { path = path })
    assert.matches("is locked by process %d+; wait until it ends", message)
    pipe:write "\n"
    pipe:close()
    assert.equal(0.5, spent())
  end)

  it("loses nothing and charges nothing twice when it may not grow", function()
    remove()
    local out = program.shell("ulimit -f 8; " .. child(([[
      local L = pn.ledger { path = %q, epsilon = 1000 }
      local count, message = 0
      while true do
        local ok, why = pcall(L.spend, L, pn.event.pure { epsilon = 1 }, ("x"):rep(40))
        if not ok then message = why break end
        count = count + 1
      end
      print(count, L.spent, L.ended, message)
      print(pcall(L.spend, L, pn.event.pure { epsilon = 1 }, ("y"):rep(400)))
      print(L.spent, L.ended)
    ]]):format(path)))
    local count, total, ended, message = out:match "^(%d+)%s+(%S+)%s+(%S+)%s+([^\n]*)"
    assert.is_true(tonumber(count) > 10)
    assert.equal(tonumber(count), tonumber(total))
    assert.equal("nil", ended)
    assert.matches("cannot be written: File too large; nothing was charged or released", message, 1, true)
    assert.matches("\nfalse.*File too large.*\n" .. total .. "%s+nil\n", out)
    assert.equal(tonumber(total), spent())
    with({}, function(L)
      L:spend(event.pure { epsilon = 1 }, "and on")
      assert.equal(total + 1, L.spent)
    end)
    assert.equal(total + 1, spent())
  end)
end)
