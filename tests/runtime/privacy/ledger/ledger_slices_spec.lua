-- ledger_slices_spec.lua -- parts of a split, slices that pass their charges through, closing; and the odometer.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local tier = require "tests.tools.tier"
local law = tier.law(it)
local event = pn.event

-- Charge `part` with x in the unit of its budget.
local function charge(part, x)
  part:spend(part.rho and event.zcdp { rho = x } or event.pure { epsilon = x }, "share")
end

describe("the parts of a split", function()
  law("admit a k-th of the budget however the quotient is rounded", function()
    local rng = pn.rng.seeded(21)
    for trial = 1, 400 do
      local k = trial <= 120 and trial or rng:integer(2000)
      local w = trial % 7 == 0 and 2 ^ (rng:integer(20) - 10) or 10 ^ (4 * rng:uniform() - 2)
      for _, unit in ipairs { "epsilon", "rho" } do
        local L = pn.ledger { [unit] = w }
        local parts = { L:split(k) }
        assert.equal(k, #parts)
        local ways = { w / k, w * (1 / k), parts[1][unit], w - (k - 1) * parts[1][unit], w - (k - 1) * (w / k) }
        for i, x in ipairs(ways) do
          local part = parts[(i - 1) % k + 1]
          if part.spent == 0 then
            charge(part, x)
            assert.is_false(pcall(charge, part, 1e-8 * w / k))
          end
        end
      end
    end
  end)

  it("add up to the whole", function()
    local rng = pn.rng.seeded(22)
    for _ = 1, 100 do
      local k, w, delta = rng:integer(500), 10 ^ (4 * rng:uniform() - 2), 10 ^ (-9 * rng:uniform())
      local L = pn.ledger { epsilon = w, delta = delta }
      local parts = { L:split(k) }
      assert.equal(w / k, parts[k].epsilon)
      assert.equal(delta / k, parts[k].delta)
      local whole = pn.ledger { epsilon = w } -- whose own sums are exact
      for _, part in ipairs(parts) do
        whole:spend(event.pure { epsilon = part.epsilon }, "part")
      end
      assert.near(w, whole.spent, w * 2 ^ -52)
    end
  end)

  it("add up by tenths, sevenths and so on when each step of a part is a fraction again", function()
    for _, k in ipairs { 3, 6, 7, 10, 49 } do
      for _, part in ipairs { pn.ledger({ epsilon = 0.7 }):split(k) } do
        for _ = 1, 13 do
          part:spend(event.pure { epsilon = part.epsilon / 13 }, "step")
        end
        assert.is_true(part.remaining <= 1e-16)
      end
    end
  end)

  it("take plans for epsilon/k and delta/k", function()
    for _, k in ipairs { 2, 3, 7, 11 } do
      local L = pn.ledger { epsilon = 1, delta = 1e-5 }
      local each = pn.calibrate.exponential { epsilon = L.epsilon / k, delta = L.delta / k, count = 20 }
      for _, part in ipairs { L:split(k) } do
        part:spend(event.exponential { epsilon = each }, "plan", 20)
      end
    end
  end)

  it("stay usable when another part refuses, and use the whole up", function()
    local L = pn.ledger { epsilon = 1 }
    local a, b, c = L:split(3)
    a:spend(event.pure { epsilon = 1 / 3 }, "all")
    assert.matches("Requested epsilon 0.1, Remaining 0, Difference 0.1", refusal(charge, a, 0.1), 1, true)
    b:spend(event.pure { epsilon = 1 / 3 }, "all")
    c:spend(event.pure { epsilon = 0.2 }, "some")
    assert.near(1 / 3 - 0.2, c.remaining, 1e-15)
    assert.equal(0, L.remaining)
    assert.matches("the budget was split", refusal(charge, L, 1e-6), 1, true)
    assert.matches("only an untouched budget", refusal(L.split, L, 2), 1, true)
    assert.equal("part 2 of 3", b.name)
  end)

  it("are the same when the same split is asked for again", function()
    local L = pn.ledger { rho = 1 }
    local a = L:split(4)
    charge(a, 0.25)
    local _, b = L:split(4)
    assert.equal(0, (L:split(4)).remaining)
    assert.equal(0.25, b.remaining)
  end)

  it("are listed in the report of what was split", function()
    local L = pn.ledger { epsilon = 1 }
    local a, b = L:split(2)
    a:spend(event.pure { epsilon = 0.5 }, "x")
    b:spend(event.pure { epsilon = 0.25 }, "y")
    local report = L:report()
    assert.equal("part 1 of 2: x", report[1].label)
    assert.equal("part 2 of 2: y", report[2].label)
    assert.equal(0.75, report.spent)
  end)

  it("go down to sixteen levels, slices and parts alike", function()
    local L, levels = pn.ledger { epsilon = 1 }, 0
    for i = 1, 40 do
      local ok, next_one
      if i % 2 == 0 then
        ok, next_one = pcall(L.split, L, 1)
      else
        ok, next_one = pcall(pn.ledger, { parent = L, epsilon = 1 })
      end
      if not ok then
        assert.matches("go down to 16 levels", next_one, 1, true)
        break
      end
      L, levels = next_one, levels + 1
    end
    assert.equal(16, levels)
    charge(L, 0.5)
    assert.equal(0.5, L.spent)
  end)

  it("can be split again", function()
    local L = pn.ledger { epsilon = 1 }
    local a = L:split(3)
    for _, part in ipairs { a:split(7) } do
      charge(part, 1 / 21)
    end
    assert.near(1 / 3, L.spent, 1e-15)
  end)
end)

describe("a slice of a budget", function()
  local function class()
    local L = pn.ledger { epsilon = 1 }
    return L, pn.ledger { parent = L, name = "ann", epsilon = 0.6 }, pn.ledger { parent = L, name = "bob", epsilon = 0.6 }
  end

  it("passes its charges through, under its name", function()
    local L, ann, bob = class()
    charge(ann, 0.25)
    bob:spend(event.pure { epsilon = 0.5 }, "mean")
    L:spend(event.pure { epsilon = 0.125 }, "teacher")
    assert.equal(0.875, L.spent)
    assert.equal(0.25, ann.spent)
    local labels = {}
    for i, row in ipairs(L:report()) do
      labels[i] = row.label
    end
    assert.same({ "ann: share", "bob: mean", "teacher" }, labels)
    assert.equal("share", ann:report()[1].label)
  end)

  it("needs room in itself and in the budget above, and charges neither where one refuses", function()
    local L, ann, bob = class()
    charge(ann, 0.5)
    assert.matches("Requested epsilon 0.25, Remaining 0.1, Difference 0.15", refusal(charge, ann, 0.25), 1, true)
    local message = refusal(charge, bob, 0.55)
    assert.matches('"bob" has room, the budget above it has not', message, 1, true)
    assert.matches("Requested epsilon 0.55, Remaining 0.5, Difference 0.05", message, 1, true)
    assert.equal(0.5, L.spent)
    assert.equal(0, bob.spent)
    assert.equal(0, #bob:report())
    assert.equal(0.5, bob.remaining) -- not its own 0.6
    charge(bob, 0.5)
    assert.equal(0, L.remaining)
    assert.equal(0, ann.remaining)
  end)

  it("may have a budget of another kind", function()
    local L = pn.ledger { epsilon = 2, delta = 1e-6 }
    local slice = pn.ledger { parent = L, rho = 0.01 }
    local deeper = pn.ledger { parent = slice, name = "deeper", alpha = 4, epsilon = 0.03 }
    deeper:spend(event.zcdp { rho = 0.005 }, "x")
    assert.equal(0.005, slice.spent)
    assert.equal(event.zcdp({ rho = 0.005 }):epsilon(1e-6), L.spent)
    assert.equal("slice 1: deeper: x", L:report()[1].label)
    local message = refusal(deeper.spend, deeper, event.rdp { alpha = 4, epsilon = 0.009 })
    assert.matches('"deeper" has room, the budget above it has not: ledger: Requested rho inf', message, 1, true)
  end)

  it("bounds the whole by the filter above, however slices interleave", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-5, orders = { 8, 16, 32, 64 } }
    local alone = pn.ledger { epsilon = 1, delta = 1e-5, orders = { 8, 16, 32, 64 } }
    local slices, e = {}, event.gaussian { sigma = 50, sensitivity = 1 }
    for i = 1, 5 do
      slices[i] = pn.ledger { parent = L, epsilon = 0.9, delta = 1e-6 }
    end
    local count, at = 0, 0
    while slices[at % 5 + 1]:covers(e) do
      slices[at % 5 + 1]:spend(e, "x")
      count, at = count + 1, at + 3
    end
    local direct = 0
    while alone:covers(e) do
      alone:spend(e, "x")
      direct = direct + 1
    end
    assert.equal(direct, count)
    assert.equal(alone.spent, L.spent)
  end)

  it("has the relation and the teaching flag of its parent", function()
    local L = pn.ledger { rho = 1, neighbours = "zero_out", teaching = true }
    local slice = pn.ledger { parent = L, rho = 0.5 }
    assert.equal("zero_out", slice.neighbours)
    assert.is_true(slice.teaching)
    assert.matches('"replace_one" neighbours, its parent for "zero_out"',
      refusal(pn.ledger, { parent = L, rho = 1, neighbours = "replace_one" }), 1, true)
    assert.matches("teaching", refusal(pn.ledger, { parent = pn.ledger { rho = 1 }, rho = 1, teaching = true }))
    assert.matches("leave path out", refusal(pn.ledger, { parent = L, rho = 1, path = "x" }))
  end)

  it("is the same when it is opened again by its name", function()
    local L, ann = class()
    charge(ann, 0.25)
    assert.equal(0.25, pn.ledger({ parent = L, name = "ann" }).spent)
    assert.equal(0.25, pn.ledger({ parent = L, name = "ann", epsilon = 0.6 }).spent)
    local message = refusal(pn.ledger, { parent = L, name = "ann", epsilon = 0.7 })
    assert.matches("ann has the budget epsilon=0.6, .* not epsilon=0.7,", message)
    assert.matches('no slice "eve" yet', refusal(pn.ledger, { parent = L, name = "eve" }), 1, true)
  end)

  it("says which slice refuses, and takes no empty name", function()
    local budget = pn.ledger { epsilon = 1 }
    local ann = pn.ledger { parent = budget, name = "ann", epsilon = 0.25 }
    assert.matches('slice "ann": ledger: Requested epsilon 0.5', refusal(charge, ann, 0.5), 1, true)
    assert.matches("name is empty", refusal(pn.ledger, { parent = budget, name = "", epsilon = 0.1 }), 1, true)
    assert.matches("orders is empty", refusal(pn.ledger, { epsilon = 1, delta = 1e-6, orders = {} }), 1, true)
  end)

  it("is closed when its parent is", function()
    local L, ann = class()
    local inner = pn.ledger { parent = ann, epsilon = 0.1 }
    L:close()
    for _, slice in ipairs { ann, inner } do
      assert.matches("the ledger above it is closed", refusal(charge, slice, 0.05), 1, true)
      assert.equal(0, slice.remaining)
      assert.equal("the ledger above it is closed", slice.ended)
    end
    assert.matches("takes no more charges", refusal(pn.ledger, { parent = L, epsilon = 1 }))
  end)

  it("can be closed alone, and split", function()
    local L, ann, bob = class()
    ann:close()
    assert.matches("the ledger is closed", refusal(charge, ann, 0.1))
    local x, y = bob:split(2)
    charge(x, 0.3)
    assert.equal(0.3, L.spent)
    assert.equal("bob: part 1 of 2: share", L:report()[1].label)
    charge(L, 0.5)
    assert.matches('"part 2 of 2" has room', refusal(charge, y, 0.3), 1, true)
    charge(y, 0.2)
    assert.equal(1, L.spent)
  end)

  it("keeps what is above it", function()
    local slice
    do
      local L <close> = pn.ledger { epsilon = 1 }
      slice = pn.ledger { parent = L, name = "ann", epsilon = 0.5 }
    end
    collectgarbage()
    collectgarbage()
    charge(slice, 0.5)
    assert.equal(0.5, slice.spent)
  end)
end)

describe("the odometer", function()
  -- Levels first 2^k with delta/(k(k+1)), eight orders each; recomputed here from the formulas.
  local function level_by_formula(rdp, first, delta, uniform)
    for k = 1, 60 do
      local epsilon, share = first * 2 ^ k, delta / (k * (k + 1)) / 8
      local best = 2 * math.log(1 / (share * 8)) / epsilon -- delta_k is 8 shares
      for j = 0, 7 do
        local a = 1 + best / 8 * 64 ^ (j / 7)
        local cost = uniform and rdp(a) + math.log(1 / share) / (a - 1)
          or rdp(a) + math.log(1 - 1 / a) - (math.log(share) + math.log(a)) / (a - 1)
        if cost <= epsilon then
          return epsilon, k
        end
      end
    end
  end

  it("is the smallest level whose filter is not exhausted", function()
    local rng = pn.rng.seeded(23)
    for _ = 1, 60 do
      local L = pn.ledger { epsilon = 50, delta = 1e-4 }
      local x, delta = 0.02 + 0.5 * rng:uniform(), 10 ^ (-8 * rng:uniform() - 1)
      local count, uniform = rng:integer(40), rng:uniform() < 0.5
      L:spend(event.gaussian { sigma = 1 / x, sensitivity = 1 }, "x", count)
      local seen = L:odometer { first = 0.01, delta = delta, uniform = uniform }
      local epsilon, k = level_by_formula(function(a) return count * a * x * x / 2 end, 0.01, delta, uniform)
      assert.equal(epsilon, seen.epsilon)
      assert.equal(k, seen.level)
      assert.is_true(seen.epsilon >= 0)
    end
  end)

  it("says what it means, and calls the plain figure naive", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    assert.equal(0, L:odometer().epsilon)
    L:spend(event.gaussian { sigma = 20, sensitivity = 1 }, "x")
    local seen = L:odometer()
    assert.equal(1e-6, seen.delta)
    assert.equal(1 / 32 * 2 ^ seen.level, seen.epsilon)
    assert.equal(L.spent, seen.naive)
    assert.equal("naive (not valid at data-dependent stopping)", seen.naive_label)
    assert.matches("wherever the analyst stops", tostring(seen), 1, true)
    assert.matches("with probability 1 - 1e-06 the loss is below", tostring(L:odometer { uniform = true }), 1, true)
    assert.is_true(seen.epsilon >= seen.naive)
    assert.matches("unknown option 'levels'", refusal(L.odometer, L, { levels = 3 }))
    assert.matches("first must be a positive number", refusal(L.odometer, L, { first = 0 }))
  end)

  it("is infinite where nothing bounds the loss", function()
    local L = pn.ledger { alpha = 1.001, epsilon = 1 }
    L:spend(event.rdp { alpha = 1.001, epsilon = 0.5 }, "next to nothing is known")
    assert.is_true(L:odometer().epsilon > 1e3)
  end)

  it("never goes down, and bounds the worst rule of stopping that a player of coins can find", function()
    -- Randomised response with epsilon 0.3, up to 40 times; the player stops where (1 - exp(E - loss))_+ is best for him, E the
    -- level that the odometer then shows.  Dynamic programming over (releases, loss): at most delta.
    local delta, levels, L = 0.05, { [0] = 0 }, pn.ledger { epsilon = 100 }
    for i = 1, 40 do
      L:spend(event.pure { epsilon = 0.3 }, "coin")
      levels[i] = L:odometer({ first = 0.05, delta = delta }).epsilon
      assert.is_true(levels[i] >= levels[i - 1])
    end
    local p, worst = 1 / (1 + math.exp(-0.3)), {}
    for i = 40, 0, -1 do
      local now = {}
      for ups = 0, i do
        local stop = math.max(0, 1 - math.exp(levels[i] - 0.3 * (2 * ups - i)))
        local go = i < 40 and p * worst[ups + 1] + (1 - p) * worst[ups] or 0
        now[ups] = math.max(stop, go)
      end
      worst = now
    end
    assert.is_true(worst[0] <= delta)
    assert.is_true(worst[0] > 0) -- some luck pays: the test can see
  end)

  it("bounds the loss at all times when asked for the uniform one", function()
    -- The chance that the loss of up to 60 coins is ever above the level then shown: dynamic programming, at most delta.
    local delta, levels, L = 0.3, {}, pn.ledger { epsilon = 100 }
    for i = 1, 60 do
      L:spend(event.pure { epsilon = 0.3 }, "coin")
      levels[i] = L:odometer({ first = 0.05, delta = delta, uniform = true }).epsilon
      assert.is_true(levels[i] >= L:odometer({ first = 0.05, delta = delta }).epsilon)
    end
    local p, alive, ever = 1 / (1 + math.exp(-0.3)), { [0] = 1 }, 0
    for i = 1, 60 do
      local now = {}
      for ups = 0, i do
        local mass = (alive[ups - 1] or 0) * p + (alive[ups] or 0) * (1 - p)
        if 0.3 * (2 * ups - i) > levels[i] then
          ever, mass = ever + mass, 0
        end
        now[ups] = mass
      end
      alive = now
    end
    assert.is_true(ever <= delta)
    assert.is_true(ever > 0)
  end)
end)
