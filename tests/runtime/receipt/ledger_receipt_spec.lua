-- ledger_receipt_spec.lua -- receipts of budgets, with slices, parts and files, of running sums and their checkpoints, and what an
-- analyst of a curator may have of them.
local pn = require "penumbra"

local path = os.tmpname()

teardown(function()
  for _, ending in ipairs { "", ".key", ".head" } do os.remove(path .. ending) end
end)

local function fresh()
  for _, ending in ipairs { "", ".key", ".head" } do os.remove(path .. ending) end
  return path
end

local data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 3 }:clip_rows("l2", 1)
local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3 } }
local noise = pn.event.gaussian { sigma = 20, sensitivity = 1, draws = 3 }

describe("the receipt of a ledger", function()
  it("lists what runs, questions and hands have charged, in order", function()
    local ledger = pn.ledger { epsilon = 5, delta = 1e-5 }
    pn.solve.gradient_descent(objective, { rho = 0.01, iterations = 3, ledger = ledger })
    pn.oracle { objective = objective, ledger = ledger }:gradient({ 0, 0, 0 }, { rho = 0.002 })
    ledger:spend(noise, "by hand", 2)
    local r = ledger:receipt():table()
    assert.same({ "ledger", "secure" }, { r.subject, r.noise.source })
    local entries, report = r.ledger.entries, ledger:report()
    assert.equal(#report, #entries)
    for i, row in ipairs(report) do assert.same({ row.label, row.count }, { entries[i].label, entries[i].times }) end
    assert.same({ "gradient_descent", 3, "gaussian" }, { entries[1].label, entries[1].times, entries[1].event.kind })
    assert.same({ sigma = 20.0, sensitivity = 1.0, draws = 3 }, entries[#entries].event.parameters)
    assert.equal(ledger.spent, r.ledger.spent)
    assert.same({ 5.0, 1e-5 }, { r.stops[1].price.epsilon, r.stops[1].price.delta })
    assert.equal(ledger:odometer().epsilon, r.stops[1].odometer.epsilon)
    assert.is_nil(r.digests.chain)
  end)

  it("has its slices and parts with all that they were charged", function()
    local ledger = pn.ledger { rho = 1 }
    local slice = pn.ledger { parent = ledger, name = "a", rho = 0.5 }
    slice:spend(noise, "one")
    pn.ledger { parent = slice, name = "deeper", rho = 0.1 }:spend(noise, "two", 4)
    pn.ledger { parent = ledger, name = "b", rho = 0.25 }
    local r = ledger:receipt():table()
    local a = r.ledger.children[1]
    assert.same({ "a", "b" }, { a.name, r.ledger.children[2].name })
    assert.equal("deeper", a.children[1].name)
    assert.same({ "two", 4 }, { a.children[1].entries[1].label, a.children[1].entries[1].times })
    assert.equal(2, #r.ledger.entries) -- each of them is the parent's too
    local first, second = pn.ledger { epsilon = 2 }:split(2)
    second:spend(pn.event.laplace { scale = 10, sensitivity = 1 }, "c")
    assert.equal(1, #second:receipt():table().ledger.entries)
    assert.equal(1.0, first:receipt():table().stops[1].price.epsilon)
  end)

  it("names the last line of its file, and is the file's", function()
    local ledger = pn.ledger { path = fresh(), epsilon = 1, delta = 1e-6 }
    local before = ledger:receipt():table().digests
    ledger:spend(noise, "first")
    local json, after = ledger:receipt().json, ledger:receipt():table().digests
    assert.are_not.equal(before.chain, after.chain)
    assert.are_not.equal(before.charged, after.charged)
    local file = assert(io.open(path, "rb"))
    local last = file:read("a"):match "| (%x+)\n$"
    file:close()
    assert.equal(last, after.chain)
    ledger:close()
    assert.equal(json:gsub('"ended": [^\n]*', ""), (pn.receipt(path).json:gsub('"ended": [^\n]*', "")))
    os.remove(path .. ".key")
    assert.is_false(pcall(pn.receipt, path))
  end)

  it("is that of a lesson where noise may be seeded, and takes labels that are no UTF-8", function()
    local ledger = pn.ledger { rho = 1, teaching = true }
    ledger:spend(noise, "a\xffb\n\"")
    local r = ledger:receipt():table()
    assert.same({ "simulated", false }, { r.noise.source, r.noise.protects })
    assert.equal('a\\xffb\n"', r.ledger.entries[1].label)
  end)
end)

describe("the receipt of a tree", function()
  it("has the factors of its sensitivity", function()
    for horizon, layers in pairs { [1] = 1, [2] = 1, [3] = 2, [4] = 2, [5] = 3, [100] = 7, [128] = 7, [129] = 8 } do
      for _, root in ipairs { false, true } do
        local tree = pn.tree { dim = 2, horizon = horizon, sensitivity = 0.5, rho = 0.1, factorization = "binary",
          keep_root = root }
        local r = tree:receipt():table()
        assert.near(r.stream.layers, r.stream.gain ^ 2, 1e-6)
        if not root then assert.equal(layers, r.stream.layers) end
        assert.near(r.stream.gain * 0.5, r.charge.event.parameters.sensitivity, 1e-6)
        assert.near(r.stream.mu * r.stream.sigma, r.charge.event.parameters.sensitivity, 1e-12)
      end
    end
    local c, square = 1, 1
    for k = 1, 63 do
      c = c * (2 * k - 1) / (2 * k)
      square = square + c * c
    end
    local r = pn.tree { dim = 1, horizon = 64, sensitivity = 1, rho = 0.1, factorization = "sqrt" }:receipt():table()
    assert.near(math.sqrt(square), r.stream.gain, 1e-9)
  end)

  it("is paid once, whatever is pushed, and depends on no leaf", function()
    local function receipt(x, pushes)
      local tree = pn.tree { dim = 1, horizon = 10, sensitivity = 1, epsilon = 1, delta = 1e-6 }
      for _ = 1, pushes do tree:push { x } end
      return tree:receipt()
    end
    local r = receipt(0.3, 4):table()
    assert.same({ 4, 1 }, { r.run.leaves, r.run.paid.times })
    assert.is_true(r.stops[2].price.epsilon <= 1 and r.stops[2].price.epsilon > 0.99)
    assert.is_nil(receipt(0.3, 0):table().run.paid)
    assert.equal(receipt(0.3, 4).json, receipt(-0.9, 4).json)
  end)

  it("can be had of a checkpoint, which can be resumed afterwards", function()
    local tree = pn.tree { dim = 1, horizon = 10, sensitivity = 1, rho = 0.5 }
    tree:push { 1 }
    local json = tree:receipt().json
    tree:save(fresh())
    assert.equal(json, pn.receipt(path).json)
    assert.equal(json, pn.receipt(path).json)
    local again = pn.tree.resume(path)
    again:push { 1 }
    assert.equal(2, again:receipt():table().run.leaves)
    assert.is_false(pcall(pn.receipt, path)) -- taken
  end)

  it("is refused without noise", function()
    assert.is_false(pcall(function() return pn.tree { dim = 1, horizon = 4, privacy = false }:receipt() end))
  end)
end)

describe("a curator's analyst", function()
  for _, process in ipairs { false, true } do
    it("has the receipt of a run that was paid for, and no files" .. (process and ", in a process" or ""), function()
      local ledger = pn.ledger { rho = 1 }
      local curator = pn.curator { data = { people = data }, ledger = ledger, memory = 64, seconds = 20, instructions = 20000000,
        threads = 1, process = process or nil }
      local result = curator:run([[
        local obj = pn.objective{data=data.people, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=3, radius=1}}
        local receipt = pn.solve.gradient_descent(obj, {rho=0.1, iterations=4}):receipt()
        local t = receipt:table()
        local saved = pcall(function() return receipt:save("x") end)
        local read = pcall(function() return pn.receipt("x") end)
        return #receipt.json > 1000, t.guarantee.price.rho, t.run.paid.times, saved, read]], "a")
      assert.is_true(result.ok, result.error)
      assert.equal("true\t0.1\t4\tfalse\tfalse", result.answer)
    end)
  end
end)
