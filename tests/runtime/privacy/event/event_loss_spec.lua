-- event_loss_spec.lua -- declared privacy loss distributions against closed forms, optimal composition and enumeration.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local of_law = tier.law(it)
local event, inf = pn.event, math.huge

local function response(e)
  local p = { 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e)) }
  return event.loss_distribution { p = p, q = { p[2], p[1] } }
end

local function pld(e, count)
  return pn.accountant.pld {}:add(e, count or 1)
end

-- ln(sum p^a q^(1-a))/(a-1), the textbook form.
local function renyi(p, q, a)
  local sum = 0
  for i = 1, #p do sum = sum + p[i] ^ a * q[i] ^ (1 - a) end
  return math.log(sum) / (a - 1)
end

-- delta(epsilon) of `turns`, a list of {P, Q}, released together: all sequences of outcomes.
local function enumerated(turns, epsilon)
  local function walk(k, p, q)
    if k > #turns then return math.max(0, p - math.exp(epsilon) * q) end
    local sum = 0
    for i = 1, #turns[k][1] do sum = sum + walk(k + 1, p * turns[k][1][i], q * turns[k][2][i]) end
    return sum
  end
  return walk(1, 1, 1)
end

-- delta(eps) of k optimal (e, d)-DP mechanisms (Kairouz, Oh, Viswanath 2015, Theorem 3.3).
local function optimal(e, d, k, eps)
  local sum, choose = 0, 1
  for l = 0, k do
    local loss = (k - 2 * l) * e
    if loss > eps then
      sum = sum + choose * math.exp((k - l) * e - k * math.log(1 + math.exp(e))) * (1 - math.exp(eps - loss))
    end
    choose = choose * (k - l) / (l + 1)
  end
  return 1 - (1 - d) ^ k * (1 - sum)
end

local P, Q = { 0.6, 0.3, 0.1 }, { 0.4, 0.35, 0.25 }

describe("event.loss_distribution", function()
  it("is randomized response where it has two outcomes with opposite losses", function()
    for _, e in ipairs { 1e-4, 0.1, 1, 3, 12 } do
      local mine, pure = response(e), event.pure { epsilon = e }
      assert.near(e, (mine:epsilon(0)), 1e-11 * e)
      assert.near(math.min(e * e / 2, e), mine.rho, 1e-11 * e * e)
      for _, order in ipairs { 1.001, 1.5, 2, 7.3, 50, 1e4, inf } do
        assert.near(pure:rdp(order), mine:rdp(order), 1e-10 * pure:rdp(order))
      end
      for _, count in ipairs { 1, 5, 40 } do
        local exact = 0
        for power = 1, 60 do -- delta falls with epsilon
          local further = exact + count * e / 2 ^ power
          if optimal(e, 0, count, further) > 1e-6 then exact = further end
        end
        for _, one in ipairs { pure, mine } do
          local low, high = pld(one, count):epsilon_interval(1e-6)
          assert.is_true(low <= exact * (1 + 1e-9) and high >= exact * (1 - 1e-9))
          assert.near(low, high, 1e-4 * high) -- a hundredth of what is wide
        end
      end
    end
  end)

  it("has the Renyi divergences of its laws, the larger direction of each order, and not below", function()
    local e = event.loss_distribution { p = P, q = Q }
    for _, order in ipairs { 1.01, 1.5, 2, 3.7, 20, 100 } do
      local want = math.max(renyi(P, Q, order), renyi(Q, P, order))
      assert.near(want, e:rdp(order), 1e-11 * want)
      assert.is_true(e:rdp(order) >= want * (1 - 1e-13))
    end
    assert.near(math.log(2.5), e:rdp(inf), 1e-15)
    assert.is_true(e:rdp(1e6) <= math.log(2.5) and e:rdp(1e6) > math.log(2.5) - 1e-5)
    assert.near(math.log(2.5 * 1.5) ^ 2 / 8, e.rho, 1e-14)
  end)

  it("counts what the other neighbour alone can give", function()
    -- p always gives what q gives with probability 1/k: the divergence is ln k at every order
    for _, k in ipairs { 1.001, 2, 1000 } do
      local e = event.loss_distribution { losses = { math.log(k) }, probabilities = { 1 } }
      for _, order in ipairs { 1.1, 2, 40, inf } do assert.near(math.log(k), e:rdp(order), 1e-11 * math.log(k)) end
      assert.near(math.log(k), e.rho, 1e-11 * math.log(k))
      local epsilon = 5 * math.log(k)
      local want = 1 - math.exp(epsilon) / k ^ 10 -- all of P at the loss 10 ln k
      assert.near(want, pld(e, 10):delta(epsilon), 1e-6 * want)
      assert.is_true(pld(e, 10):delta(epsilon) >= want * (1 - 1e-12))
    end
  end)

  it("keeps its digits where the laws hardly differ", function()
    -- p = 1/2 (1 +- x): D(a) = a x^2 2 + O(x^4) for q = 1/2 (1 -+ x)
    local x = 1e-7
    local e = event.loss_distribution { p = { (1 + x) / 2, (1 - x) / 2 }, q = { (1 - x) / 2, (1 + x) / 2 } }
    for _, order in ipairs { 1.5, 8, 100 } do assert.near(2 * order * x * x, e:rdp(order), 1e-9 * order * x * x) end
  end)

  it("has the exact delta of one release, in the worse direction", function()
    local e = event.loss_distribution { p = P, q = Q }
    for _, epsilon in ipairs { 0, 0.1, 0.3, 0.5, 0.9 } do
      local want = math.max(enumerated({ { P, Q } }, epsilon), enumerated({ { Q, P } }, epsilon))
      assert.near(want, pld(e):delta(epsilon), 1e-12)
      assert.is_true(pld(e):delta(epsilon) >= want * (1 - 1e-15))
      local low, high = pld(e):epsilon_interval(want + 1e-12)
      assert.is_true(low <= epsilon and high >= epsilon - 1e-9 and high <= epsilon + 1e-9)
    end
  end)

  of_law("bounds every composition, whichever neighbour has which law in each release", function()
    local e = event.loss_distribution { p = P, q = Q }
    for _, count in ipairs { 2, 3, 5 } do
      for _, epsilon in ipairs { 0, 0.4, 1, 1.5, 2.5 } do
        local got, same = pld(e, count):delta(epsilon), 0
        for mask = 0, (1 << count) - 1 do
          local turns = {}
          for k = 1, count do turns[k] = mask >> (k - 1) & 1 == 0 and { P, Q } or { Q, P } end
          local want = enumerated(turns, epsilon)
          assert.is_true(got >= want * (1 - 1e-9), ("%d at %g: %.12g is below %.12g"):format(count, epsilon, got, want))
          if mask == 0 or mask == (1 << count) - 1 then same = math.max(same, want) end
        end
        if same > 1e-9 then
          assert.is_true(got <= 1.5 * same, ("%d at %g: %.6g, %.6g"):format(count, epsilon, got, same))
          local low, high = pld(e, count):epsilon_interval(same)
          assert.is_true(low <= epsilon + 1e-9 and high >= epsilon - 1e-9)
        end
      end
    end
  end)

  of_law("bounds compositions of any two laws, outcomes that one of them never gives included", function()
    local rng = pn.rng.seeded(11)
    local function law(n)
      local p, sum = {}, 0
      for i = 1, n do
        p[i] = rng:uniform() < 0.2 and 0 or rng:uniform() ^ 4 + 1e-3
        sum = sum + p[i]
      end
      for i = 1, n do p[i] = p[i] / sum end
      return p
    end
    for _ = 1, 60 do
      local n = 2 + math.floor(3 * rng:uniform())
      local both = { { law(n), law(n) }, { law(n), law(n) } }
      local ok, first = pcall(event.loss_distribution, { p = both[1][1], q = both[1][2] })
      local fine, second = pcall(event.loss_distribution, { p = both[2][1], q = both[2][2] })
      local epsilon = 3 * rng:uniform()
      if ok and fine then
        local acc = pn.accountant.pld {}:add(first, 2):add(second)
        local got = acc:delta(epsilon)
        for mask = 0, 7 do
          local turns = {}
          for k = 1, 3 do
            local pair = both[k < 3 and 1 or 2]
            turns[k] = mask >> (k - 1) & 1 == 0 and pair or { pair[2], pair[1] }
          end
          local want = enumerated(turns, epsilon)
          assert.is_true(got >= want * (1 - 1e-9), ("%.12g is below %.12g"):format(got, want))
          if mask == 0 and want > 1e-9 and want < 0.999 then
            local low, high = acc:epsilon_interval(want)
            assert.is_true(high >= epsilon * (1 - 1e-9) and low <= high, ("%.12g %.12g %.12g"):format(low, epsilon, high))
          end
        end
        for _, order in ipairs { 1.2, 3, 30 } do
          local want = math.max(renyi(both[1][1], both[1][2], order), renyi(both[1][2], both[1][1], order))
          if want == want and want < inf then assert.near(want, first:rdp(order), 1e-9 * want + 1e-12) end
        end
      end
    end
  end)

  it("is certified from below by what one of its laws against the other attains", function()
    local e = event.loss_distribution { p = P, q = Q }
    for _, epsilon in ipairs { 0.5, 1.5 } do
      local turns = { { P, Q }, { P, Q }, { P, Q } }
      local want = math.max(enumerated(turns, epsilon), enumerated({ { Q, P }, { Q, P }, { Q, P } }, epsilon))
      local low, high = pld(e, 3):epsilon_interval(want)
      assert.is_true(low <= epsilon + 1e-9 and low >= epsilon - 1e-2, ("%.9g %.9g"):format(low, epsilon))
      assert.is_true(high >= epsilon - 1e-9)
    end
  end)

  it("composes with other events, also of two directions", function()
    local e = event.loss_distribution { p = P, q = Q, neighbours = "add_remove" }
    local one = event.gaussian { sigma = 1.5, sensitivity = 1, neighbours = "add_remove" }
    local sampled = event.poisson_sampled { q = 0.1, event = one }
    local function price(...)
      local acc = pn.accountant.pld {}
      for _, part in ipairs { ... } do acc:add(part, 5) end
      return acc:epsilon_interval(1e-5)
    end
    local low, high = price(e, sampled)
    local _, mine = price(e)
    local _, other = price(sampled)
    assert.is_true(low < high and high < mine + other and high > math.max(mine, other))
    local by_renyi = pn.accountant.rdp {}:add(e, 5):add(sampled, 5):epsilon(1e-5)
    assert.is_true(high <= by_renyi and low <= by_renyi)
  end)

  it("composes losses that dominate both directions exactly", function()
    local losses = {}
    for i = 1, 3 do losses[i] = math.log(P[i] / Q[i]) end
    local e = event.loss_distribution { losses = losses, probabilities = P }
    for _, epsilon in ipairs { 0, 0.3, 0.8 } do
      local want = enumerated({ { P, Q }, { P, Q }, { P, Q } }, epsilon)
      assert.near(want, pld(e, 3):delta(epsilon), 1e-4 * want)
      assert.is_true(pld(e, 3):delta(epsilon) >= want * (1 - 1e-12))
    end
    assert.near(renyi(P, Q, 3), e:rdp(3), 1e-12)
  end)

  of_law("is the optimal (epsilon, delta) mechanism where it has its outcomes", function()
    local e, d = 1, 1e-6
    local a, b = (1 - d) / (1 + math.exp(-e)), (1 - d) / (1 + math.exp(e))
    local forms = {
      event.loss_distribution { p = { d, a, b, 0 }, q = { 0, b, a, d } },
      event.loss_distribution { losses = { e, -e }, probabilities = { a, b }, delta = d },
    }
    for _, mine in ipairs(forms) do
      assert.equal(inf, mine:rdp(2))
      assert.equal(inf, mine.rho)
      assert.equal(inf, (mine:epsilon(1e-3)))
      for _, count in ipairs { 1, 3, 10, 30 } do
        for _, epsilon in ipairs { 0.5, 3.5, 8.25 } do
          local want = optimal(e, d, count, epsilon)
          local got = pld(mine, count):delta(epsilon)
          assert.near(want, got, 1e-7 * want)
          assert.is_true(got >= want * (1 - 1e-12) - 1e-15) -- what the sum above rounds
          local low, high = pld(mine, count):epsilon_interval(want)
          if count > epsilon then
            assert.is_true(low <= epsilon and high >= epsilon - 1e-12, ("%.12g %.12g"):format(low, high))
            assert.near(low, high, 2e-6)
          end
        end
        assert.is_true(pld(mine, count):epsilon(0.999 * (1 - (1 - d) ^ count)) == inf)
      end
    end
  end)

  it("is close to the Gaussian mechanism whose outcomes it has in fine bins", function()
    -- of N(0, 1) and N(1, 1), by the midpoints of the bins
    local p, q, n = {}, {}, 4000
    local sums = { 0, 0 }
    for i = 1, n do
      local x = -8 + 17 * (i - 0.5) / n
      q[i], p[i] = math.exp(-x * x / 2), math.exp(-(x - 1) ^ 2 / 2)
      sums = { sums[1] + q[i], sums[2] + p[i] }
    end
    for i = 1, n do p[i], q[i] = p[i] / sums[2], q[i] / sums[1] end
    local mine = event.loss_distribution { p = p, q = q }
    local gaussian = event.gaussian { sigma = 1, sensitivity = 1 }
    for _, count in ipairs { 1, 4 } do
      local want, got = pld(gaussian, count):epsilon(1e-4), pld(mine, count):epsilon(1e-4)
      assert.is_true(math.abs(got - want) <= 3e-3 * want, ("%d: %.9g, %.9g"):format(count, got, want))
    end
    assert.near(gaussian:rdp(2), mine:rdp(2), 1e-3)
  end)

  it("counts what is missing from a sum as an infinite loss, and rounding as rounding", function()
    local e = event.loss_distribution { p = { 0.5, 0.5 - 1e-10 }, q = { 0.4, 0.6 } }
    assert.equal(inf, e:rdp(2))
    assert.near(1e-10, pld(e):delta(5), 1e-13)
    assert.equal(inf, (pld(e):epsilon(0.9e-10)))
    local third = 1 / 3
    e = event.loss_distribution { p = { third, third, third }, q = { 0.1, 0.2, 0.7 } }
    assert.is_true(e:rdp(2) < inf)
    e = event.loss_distribution { p = { 0.5, 0.5 + 1e-10 }, q = { 0.4, 0.6 } }
    assert.is_true(e:rdp(2) < inf)
    -- losses whose other law has too much by rounding become larger
    e = event.loss_distribution { losses = { -1e-10 }, probabilities = { 1 } }
    assert.is_true(e:rdp(inf) >= 0 and e:rdp(2) >= 0)
  end)

  it("costs nothing where no neighbour can be told from another", function()
    local e = event.loss_distribution { p = { 0.5, 0.25, 0.25, 0 }, q = { 0.5, 0.25, 0.25, 0 } }
    assert.equal(0, e:rdp(17))
    assert.equal(0, e.rho)
    assert.equal(0, (pld(e, 1000):epsilon(1e-9)))
  end)

  it("prints its size, its losses and what is infinite", function()
    local e = event.loss_distribution { losses = { 0.5, -0.5 }, probabilities = { 0.6, 0.3 }, delta = 0.1 }
    assert.equal("loss_distribution(2 outcomes, losses -0.5 to 0.5, infinite with 0.1), replace_one",
      (tostring(e):gsub("%s+", " ")))
  end)

  it("can be charged in every kind of budget that has a place for it, and an infinite loss in none", function()
    local e = response(0.125)
    assert.near(0.375, pn.ledger { epsilon = 1 }:spend(e, "x", 3).spent, 1e-12)
    assert.near(3 * e.rho, pn.ledger { rho = 1 }:spend(e, "x", 3).spent, 1e-12)
    assert.near(3 * e:rdp(8), pn.ledger { alpha = 8, epsilon = 1 }:spend(e, "x", 3).spent, 1e-12)
    assert.is_true(pn.ledger { epsilon = 1, delta = 1e-6 }:spend(e, "x", 3).spent < 1)
    e = event.loss_distribution { losses = { 0.1, -0.1 }, probabilities = { 0.525, 0.475 - 1e-9 }, delta = 1e-9 }
    refused("Requested", function() pn.ledger { epsilon = 100, delta = 1e-3 }:spend(e) end)
    refused("no pure epsilon", function() pn.accountant.advanced {}:add(e) end)
  end)

  local function laws(p, q) return { p = p, q = q } end
  local function losses(l, p, d) return { losses = l, probabilities = p, delta = d } end
  local refusals = {
    { "laws that do not sum to 1", laws({ 0.5, 0.5 }, { 0.5, 0.4 }), "q must sum to 1 within 1e-9, got 0.9" },
    { "sums that are off by more than 1e-9", laws({ 0.5, 0.5 - 2e-9 }, { 0.5, 0.5 }), "p must sum to 1 within 1e-9" },
    { "negative probabilities", laws({ 1.5, -0.5 }, { 0, 1 }), "p must hold probabilities >= 0, got -0.5 at entry 2" },
    { "laws of different lengths", laws({ 0.5, 0.5 }, { 1 }), "p has 2 entries and q 1" },
    { "laws without a common outcome", laws({ 1, 0 }, { 0, 1 }), "no outcome in common" },
    { "no outcomes", laws({}, {}), "1 to 65536 outcomes, got 0" },
    { "one law", { p = { 1 } }, "give either p and q" },
    { "three lists", { p = { 1 }, q = { 1 }, losses = { 0 } }, "give either p and q" },
    { "delta beside two laws", { p = { 1 }, q = { 1 }, delta = 0.1 }, "give either p and q" },
    { "losses that no mechanism has", losses({ -1, -2 }, { 0.5, 0.5 }), "must be at most 1, got 5.0536" },
    { "losses without numbers", losses({ 0 / 0 }, { 1 }), "losses: entry 1 must be a finite number" },
    { "infinite losses in the list", losses({ inf, 0 }, { 0.5, 0.5 }), "losses: entry 1 must be a finite number" },
    { "probabilities that leave no room for delta", losses({ 0 }, { 1 }, 0.5), "sum to 1, with delta, within 1e-9, got 1.5" },
    { "a delta of 1", losses({ 0 }, { 1 }, 1), "delta must be" },
    { "huge losses", losses({ -1e300, 1e300 }, { 0.5, 0.5 }), "got inf" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      local said = refused(case[3], event.loss_distribution, case[2])
      assert.equal("event.loss_distribution", said:match "^[%w._]+")
    end)
  end
end)
