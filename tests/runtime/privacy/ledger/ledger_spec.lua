-- ledger_spec.lua -- budgets, the adaptive filter, refusals and slices.  Numbers come from accounting.md item 9 and
-- section 7;
-- the filter's decisions are recomputed here from the formulas alone.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local event = pn.event
local inf = math.huge

-- Canonne, Kamath, Steinke (2020), Proposition 12, solved for the Renyi divergence.
local function budget_at(alpha, epsilon, delta)
  return epsilon - math.log(1 - 1 / alpha) + (math.log(delta) + math.log(alpha)) / (alpha - 1)
end

-- A ledger that is charged with `e` until it refuses; how often it was admitted.
local function admit_all(L, e)
  local count = 0
  while L:covers(e) do
    L:spend(e, "release")
    count = count + 1
  end
  return count
end

describe("a pure budget", function()
  it("is ten releases of a tenth, and not one more", function()
    local L = pn.ledger { epsilon = 1 }
    for i = 1, 10 do
      L:spend(event.pure { epsilon = 0.1 }, "step")
      assert.near(i / 10, L.spent, 1e-15)
    end
    assert.equal(1, L.spent)
    assert.equal(0, L.remaining)
    local message = refusal(L.spend, L, event.pure { epsilon = 1e-9 })
    assert.matches("Requested epsilon 1e%-09, Remaining 0, Difference 1e%-09", message)
  end)

  it("refuses with Requested, Remaining and Difference, and stays usable", function()
    local L = pn.ledger { epsilon = 1 }
    L:spend(event.pure { epsilon = 0.8 }, "first")
    local message = refusal(L.spend, L, event.pure { epsilon = 0.5 }, "second")
    assert.matches("ledger: Requested epsilon 0.5, Remaining 0.2, Difference 0.3", message, 1, true)
    assert.equal(0.8, L.spent)
    assert.equal(1, #L:report())
    L:spend(event.pure { epsilon = 0.2 }, "third")
    assert.equal(0, L.remaining)
  end)

  it("never admits a Gaussian", function()
    local L = pn.ledger { epsilon = 100 }
    assert.matches("Requested epsilon inf", refusal(L.spend, L, event.gaussian { sigma = 1e6, sensitivity = 1 }))
    assert.equal(100, L.remaining)
  end)
end)

describe("a budget of rho", function()
  it("adds up rho", function()
    local L = pn.ledger { rho = 0.5 }
    L:spend(event.gaussian { sigma = 2, sensitivity = 1 }, "a"):spend(event.exponential { epsilon = 1 }, "b", 2)
    assert.equal(0.375, L.spent)
    assert.equal(0.125, L.remaining)
    local message = refusal(L.spend, L, event.zcdp { rho = 0.25 })
    assert.matches("Requested rho 0.25, Remaining 0.125, Difference 0.125", message, 1, true)
    L:spend(event.zcdp { rho = 0.125 }, "c")
    assert.equal(0, L.remaining)
    assert.is_nil(L.orders)
  end)

  it("refuses what has no rho", function()
    local L = pn.ledger { rho = 0.5 }
    assert.matches("Requested rho inf", refusal(L.spend, L, event.rdp { alpha = 4, epsilon = 1e-3 }))
  end)
end)

describe("an (epsilon, delta) filter", function()
  local item9 = { 1.5, 2.5, 4, 6, 10, 16, 32, 64 }

  it("admits 110 Gaussians of noise multiplier 50 over the orders of the specification", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-5, orders = item9 }
    for i, order in ipairs(L.orders) do -- a negative budget is dead from the start
      assert.equal(item9[i], order.order)
      assert.equal(item9[i] > 10, order.alive)
    end
    local g, admitted = event.gaussian { sigma = 50, sensitivity = 1 }, 0
    while L:covers(g) do
      L:spend(g, "release")
      admitted = admitted + 1
    end
    assert.equal(110, admitted)
    assert.is_true(L.orders[7].alive) -- order 32 survives longest
    assert.is_false(L.orders[6].alive or L.orders[8].alive)
    -- B(32) = 0.705083179, of which each release takes 32/5000
    assert.matches(
      ("0.0064 asked, %.6g left"):format(0.705083179 - 110 * 0.0064),
      refusal(L.spend, L, g)
    )
  end)

  it("decides as the formulas do, on random adaptive sequences, and never exceeds a budget", function()
    local rng = pn.rng.seeded(11)
    local orders = { 3, 8, 20, 60 }
    local delta = 1e-4
    for _ = 1, 60 do
      local epsilon = 0.5 + 3 * rng:uniform()
      local L = pn.ledger { epsilon = epsilon, delta = delta, orders = orders }
      local spent, alive, accepted, declined = { 0, 0, 0, 0 }, {}, 0, 0
      for j, alpha in ipairs(orders) do
        alive[j] = budget_at(alpha, epsilon, delta / 4) >= 0
      end
      for _ = 1, 60 do
        local x = 0.02 + 0.4 * rng:uniform()
        local cost, e
        if rng:uniform() < 0.5 then
          e = event.gaussian { sigma = 1 / x, sensitivity = 1 }
          cost = function(a)
            return a * x * x / 2
          end
        else
          e = event.pure { epsilon = x }
          cost = function(a)
            return math.log((math.exp(a * x) + math.exp((1 - a) * x)) / (1 + math.exp(x))) / (a - 1)
          end
        end
        local survivors, any = {}, false
        for j, alpha in ipairs(orders) do
          survivors[j] = alive[j] and spent[j] + cost(alpha) <= budget_at(alpha, epsilon, delta / 4)
          any = any or survivors[j]
        end
        assert.equal(any, pcall(L.spend, L, e, "x"))
        if any then
          accepted = accepted + 1
          alive = survivors
          for j, alpha in ipairs(orders) do
            spent[j] = spent[j] + cost(alpha)
            assert.equal(alive[j], L.orders[j].alive)
          end
        else
          declined = declined + 1
        end
      end
      assert.is_true(declined > 0)
      local within = false
      for j, alpha in ipairs(orders) do
        within = within or (alive[j] and spent[j] <= budget_at(alpha, epsilon, delta / 4) + 1e-9)
      end
      assert.is_true(within or accepted == 0)
    end
  end)

  it("keeps dead orders dead, and kills none by a refusal", function()
    local L = pn.ledger { epsilon = 2, delta = 1e-4, orders = { 3, 8, 20, 60 } }
    L:spend(event.gaussian { sigma = 3.9, sensitivity = 1 }, "60/(2 3.9^2) = 1.97 > B(60) = 1.91")
    assert.is_false(L.orders[4].alive)
    local before = L.orders
    refusal(L.spend, L, event.gaussian { sigma = 0.5, sensitivity = 1 })
    for j, order in ipairs(L.orders) do
      assert.equal(before[j].alive, order.alive)
    end
    L:spend(event.pure { epsilon = 0.01 }, "small")
    assert.is_false(L.orders[4].alive)
  end)

  it("bounds the exact worst case over adaptive strategies", function()
    -- accounting.md item 9: randomised response with epsilon 0.1 or 0.3, at most 22 releases, epsilon 1, delta 0.05,
    -- orders 2.5 and 6: dynamic programming over (releases of each kind, privacy loss) gives 0.0199832.
    local most = 22
    local kinds = { { units = 1, e = event.pure { epsilon = 0.1 } }, { units = 3, e = event.pure { epsilon = 0.3 } } }
    local allowed = {} -- allowed[a][b]: a and b releases of the two kinds are admitted
    for a = 0, most + 1 do
      allowed[a] = {}
      local L = pn.ledger { epsilon = 1, delta = 0.05, orders = { 2.5, 6 } }
      local ok = a == 0 or pcall(L.spend, L, kinds[1].e, "a", a)
      for b = 0, most + 1 do
        allowed[a][b] = ok and (b == 0 or pcall(L.spend, L, kinds[2].e, "b"))
        ok = allowed[a][b]
      end
    end
    local memo = {}
    local function worst(a, b, loss)
      local key = (a * 32 + b) * 1024 + loss + 200
      if memo[key] then
        return memo[key]
      end
      local best = math.max(0, 1 - math.exp(1 - loss / 10))
      for i, kind in ipairs(kinds) do
        local a2, b2 = a + (i == 1 and 1 or 0), b + (i == 2 and 1 or 0)
        if a2 + b2 <= most and allowed[a2][b2] then
          local p = 1 / (1 + math.exp(-kind.units / 10))
          best = math.max(best, p * worst(a2, b2, loss + kind.units) + (1 - p) * worst(a2, b2, loss - kind.units))
        end
      end
      memo[key] = best
      return best
    end
    assert.near(0.0199832, worst(0, 0, 0), 5e-8)
  end)

  it("admits a plan that fits the budget exactly, at once or step by step", function()
    for _, count in ipairs { 1, 7, 100, 1000 } do
      for _, delta in ipairs { 1e-9, 1e-6, 1e-2 } do
        local epsilon = 0.3 + count / 500
        local each = pn.calibrate.exponential { epsilon = epsilon, delta = delta, count = count }
        local e = event.exponential { epsilon = each }
        local whole = pn.ledger { epsilon = epsilon, delta = delta }
        assert.is_true(event.repeated(e, count):epsilon(delta) <= epsilon)
        whole:spend(event.repeated(e, count), "plan")
        local steps = pn.ledger { epsilon = epsilon, delta = delta }:reserve(e, count)
        for _ = 1, count do
          steps:spend(e, "step")
        end
        assert.equal(whole.spent, steps.spent)
        assert.near(epsilon, steps.spent, 1e-9 * epsilon)
        assert.is_true(steps.spent <= epsilon)
        assert.is_false((steps:covers(e)))
      end
    end
  end)

  it("admits exactly what prices say, on an empty ledger", function()
    local rng = pn.rng.seeded(12)
    for _ = 1, 100 do
      local e = event.compose {
        event.gaussian { sigma = 5 + 20 * rng:uniform(), sensitivity = 1 },
        event.exponential { epsilon = 0.3 * rng:uniform() + 1e-3 },
      }
      local count = rng:integer(30)
      local price = event.repeated(e, count):epsilon(1e-6)
      local L = pn.ledger { epsilon = price, delta = 1e-6 }
      assert.equal(price, L:price(e, count))
      assert.is_true((L:covers(e, count)))
      L:spend(e, "all", count)
      assert.equal(price, L.spent)
      local short = pn.ledger { epsilon = price * (1 - 1e-9), delta = 1e-6 }
      assert.is_false((short:covers(e, count)))
    end
  end)

  it("takes eight orders when the first request is small, one when it needs all", function()
    local small = pn.ledger { epsilon = 1, delta = 1e-6 }
    assert.is_nil(small.orders)
    small:spend(event.exponential { epsilon = 0.1 }, "small")
    local best = 2 * math.log(1e6)
    assert.equal(8, #small.orders)
    assert.near(1 + best / 8, small.orders[1].order, 1e-12)
    assert.near(1 + best * 8, small.orders[8].order, 1e-9)
    local rho = pn.calibrate.rho { epsilon = 1, delta = 1e-6 }
    local large = pn.ledger { epsilon = 1, delta = 1e-6 }
    large:spend(event.zcdp { rho = rho }, "all")
    assert.equal(1, #large.orders)
  end)

  it("may choose its orders anew as long as nothing has been charged", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    L:reserve(event.pure { epsilon = 0.01 }, 10)
    assert.equal(0, L.spent)
    assert.equal(1, L.remaining)
    L:spend(event.pure { epsilon = 1 }, "needs the order inf")
    assert.equal(inf, L.orders[1].order)
    assert.equal(0, L.remaining)
  end)

  it("says what a zCDP release may still cost", function()
    local L = pn.ledger { epsilon = 2, delta = 1e-6 }
    local before = L.remaining
    assert.equal(2, before)
    for _ = 1, 20 do
      L:spend(event.zcdp { rho = 2e-3 }, "step")
      local now = L.remaining
      assert.is_true(now < before)
      local rho = now > 0 and pn.calibrate.rho { epsilon = now, delta = 1e-6 } or 0
      assert.is_true(rho == 0 or (L:covers(event.zcdp { rho = rho * (1 - 1e-8) })))
      assert.is_false((L:covers(event.zcdp { rho = rho * (1 + 1e-6) + 1e-12 })))
      before = now
    end
  end)

  it("refuses a first request beyond the whole budget by its price", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    local e = event.gaussian { sigma = 1, sensitivity = 1 }
    local message = refusal(L.spend, L, e)
    local price = L:price(e)
    local want = ("Requested epsilon %.6g, Remaining 1, Difference %.6g"):format(price, price - 1)
    assert.matches(want, message, 1, true)
    assert.equal(1, L.remaining)
    assert.equal(0, #L:report())
  end)
end)

describe("a large budget", function()
  it("admits what prices say where the tails of drawn noise need a larger share of delta", function()
    -- A draw's tail 2^-125 times exp(epsilon) fills 2^-30 of delta near epsilon 45.
    for _, sigma in ipairs { 0.3, 0.18, 0.165, 0.155 } do
      local e = event.gaussian { sigma = sigma, sensitivity = 1, draws = 10 }
      local L = pn.ledger { epsilon = e:epsilon(1e-6), delta = 1e-6 }
      assert.is_true(L.epsilon < inf)
      L:spend(e, "all of it")
      assert.near(L.epsilon, L.spent, 1e-12 * L.epsilon)
      assert.is_false((L:covers(e)))
    end
  end)

  it("admits its price where the budget is larger than the request", function()
    for _, sigma in ipairs { 1, 0.3, 0.2, 0.165, 0.155 } do
      local e = event.gaussian { sigma = sigma, sensitivity = 1, draws = 10 }
      for _, factor in ipairs { 1, 1.05, 1.5, 3 } do
        local L = pn.ledger { epsilon = factor * e:epsilon(1e-6), delta = 1e-6 }
        L:spend(e, "it")
        assert.near(e:epsilon(1e-6), L.spent, 1e-3 * L.spent)
      end
    end
  end)

  it("admits small charges of drawn noise", function()
    local L = pn.ledger { epsilon = 200, delta = 1e-6 }
    local e = event.gaussian { sigma = 1, sensitivity = 1, draws = 1000 }
    L:spend(e, "first"):spend(e, "second")
    assert.is_true(L.spent < 20)
  end)
end)

describe("noise as drawn", function()
  it("is charged to pure and (epsilon, delta) budgets, and stated for the others", function()
    local laplace = event.laplace { scale = 10, sensitivity = 1, draws = 100 }
    local pure = pn.ledger { epsilon = 1 }
    pure:spend(laplace, "a", 3)
    assert.equal(3 * 100 * 2 * 2 ^ -82, pure.slack.epsilon) -- PN_LAPLACE_ETA, which also pays for few steps
    assert.equal(0, pure.slack.tail)
    local gaussian = event.gaussian { sigma = 10, sensitivity = 1, draws = 2 ^ 30 }
    local rho = pn.ledger { rho = 1 }
    rho:spend(gaussian, "b", 2)
    assert.near(0.01, rho.spent, 1e-15)
    assert.equal(2 ^ -44, rho.slack.epsilon)
    assert.equal(2 ^ -94, rho.slack.tail)
    assert.matches("approximate by them", tostring(rho:report()), 1, true)
    local order = pn.ledger { alpha = 2, epsilon = 1 }
    order:spend(gaussian, "c")
    assert.near(0.01 + 1.5 * 2 ^ -45, order.spent, 1e-17)
    assert.matches("approximate by them", tostring(order:report()), 1, true)
    local both = pn.ledger { epsilon = 1, delta = 1e-6 }
    both:spend(gaussian, "d")
    assert.matches("beyond the ideal, charged", tostring(both:report()), 1, true)
  end)

  it("takes its share of delta and its distance from the ideal out of an order's budget", function()
    -- B of order 64 at delta (1 - 2^-30), the S of 2^37 draws on top (accounting.md section 8); both to 1e-13.
    local alpha, delta, draws = 64, 1e-6, math.tointeger(2 ^ 37)
    local function limit(share)
      return 1 - math.log(1 - 1 / alpha) + (math.log(delta) + math.log(alpha) + share) / (alpha - 1)
    end
    local function admits(rdp, count)
      local L = pn.ledger { epsilon = 1, delta = delta, orders = { alpha } }
      local sigma = math.sqrt(alpha / (2 * rdp))
      return (L:covers(event.gaussian { sigma = sigma, sensitivity = 1, draws = count }))
    end
    local share = math.log(1 - 2 ^ -30)
    assert.is_true(admits(limit(share) * (1 - 1e-13)))
    assert.is_false(admits(limit(0) * (1 - 1e-13)))
    local slack = draws * 2 ^ -75
    assert.is_true(admits(limit(share) - slack - 1e-13, draws))
    assert.is_false(admits(limit(share) - slack / 2, draws))
  end)

  it("is refused where it would need more of delta than its share", function()
    -- Half of the slack is draws 2^-76; a 128th of 2^-30 is for it.
    for _, filter in ipairs { "renyi", "gaussian" } do
      local L = pn.ledger { epsilon = 1, delta = 1e-6, filter = filter, orders = filter == "renyi" and { 32 } or nil }
      assert.is_true((L:covers(event.gaussian { sigma = 1e3, sensitivity = 1, draws = math.tointeger(2 ^ 37) })))
      assert.is_false((L:covers(event.gaussian { sigma = 1e3, sensitivity = 1, draws = math.tointeger(2 ^ 40) })))
    end
  end)
end)

describe("the Gaussian filter", function()
  it("admits 179 Gaussians of noise multiplier 50 at epsilon 1, delta 1e-5", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-5, filter = "gaussian" }
    assert.equal("gaussian", L.filter)
    assert.is_nil(L.orders)
    assert.equal(179, admit_all(L, event.gaussian { sigma = 50, sensitivity = 1 }))
    -- sigma 3.730631635 is (1, 1e-5) exactly: mu^2 = 0.0718517, and 179 of 1/2500 leave 0.000251.
    local mu2 = 1 / 3.730631635 ^ 2
    assert.matches(("0.0004 asked, %.3g"):format(mu2 - 179 / 2500),
      refusal(L.spend, L, event.gaussian { sigma = 50, sensitivity = 1 }), 1, true)
  end)

  it("takes a single release that is calibrated exactly, and no other kind of noise", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-5, filter = "gaussian" }
    local exact = event.gaussian { sigma = 3.730631636, sensitivity = 1 }
    assert.near(1, L:price(exact), 1e-9)
    assert.is_false((L:covers(event.gaussian { sigma = 3.7306316, sensitivity = 1 })))
    assert.matches("gaussian events only", refusal(L.spend, L, event.laplace { scale = 1000, sensitivity = 1 }))
    assert.equal(inf, L:price(event.zcdp { rho = 1e-6 }))
    L:spend(exact, "all")
    assert.near(1, L.spent, 1e-9)
    assert.is_true(L.remaining < 1e-3)
  end)

  it("adds up mu^2 whatever the order, in compositions too", function()
    local L = pn.ledger { epsilon = 3, delta = 1e-6, filter = "gaussian" }
    local a, b = event.gaussian { sigma = 5, sensitivity = 1 }, event.gaussian { sigma = 8, sensitivity = 2 }
    L:spend(event.compose { a, event.repeated(b, 2) }, "x"):spend(a, "y")
    local one = pn.ledger { epsilon = 3, delta = 1e-6, filter = "gaussian" }
    one:spend(event.gaussian { sigma = 1, sensitivity = math.sqrt(2 / 25 + 2 / 16) }, "same")
    assert.near(one.spent, L.spent, 1e-12)
  end)
end)

describe("a budget of one Renyi order", function()
  it("adds up the divergence of that order", function()
    local L = pn.ledger { alpha = 8, epsilon = 0.5 }
    local g = event.gaussian { sigma = 10, sensitivity = 1 } -- 8/200
    assert.near(0.04, L:price(g), 1e-15)
    assert.equal(12, admit_all(L, g))
    assert.near(0.48, L.spent, 1e-14)
    assert.near(0.02, L.remaining, 1e-14)
    assert.equal(8, L.alpha)
    assert.matches("Requested epsilon 0.04, Remaining 0.02, Difference 0.02 (Renyi epsilon of order 8)",
      refusal(L.spend, L, g), 1, true)
    assert.matches("alpha=8, epsilon=0.5", tostring(L), 1, true)
    assert.is_false((L:covers(event.rdp { alpha = 7, epsilon = 1e-3 }))) -- nothing known at 8
    assert.is_true((L:covers(event.rdp { alpha = 8, epsilon = 0.02 })))
  end)
end)

describe("every ledger", function()
  it("does not refuse for a last digit", function()
    local L = pn.ledger { epsilon = 0.7 }
    L:spend(event.pure { epsilon = 0.7 / 3 }, "a"):spend(event.pure { epsilon = 0.7 / 3 }, "b")
    L:spend(event.pure { epsilon = 0.7 * (1 / 3) }, "c")
    assert.is_false((L:covers(event.pure { epsilon = 1e-15 })))
  end)

  it("names the theorem", function()
    assert.matches("Rogers, Roth, Ullman, Vadhan 2016", pn.ledger({ epsilon = 1 }).theorem, 1, true)
    assert.matches("zCDP %(Feldman, Zrnic 2021", pn.ledger({ rho = 1 }).theorem)
    assert.matches("one order %(Feldman, Zrnic 2021; Lecuyer 2021", pn.ledger({ alpha = 2, epsilon = 1 }).theorem)
    assert.matches("Feldman, Zrnic 2021; Lecuyer 2021", pn.ledger({ epsilon = 1, delta = 1e-6 }).theorem, 1, true)
    assert.matches("Smith, Thakurta 2022",
      pn.ledger({ epsilon = 1, delta = 1e-6, filter = "gaussian" }).theorem, 1, true)
  end)

  it("refuses events for other neighbours, naming both", function()
    local L = pn.ledger { epsilon = 1, neighbours = "zero_out" }
    assert.matches('"replace_one".*"zero_out"', refusal(L.spend, L, event.pure { epsilon = 0.1 }))
    assert.matches('"replace_one".*"zero_out"', refusal(L.covers, L, event.pure { epsilon = 0.1 }))
    L:spend(event.pure { epsilon = 0.1, neighbours = "zero_out" })
    assert.equal(0.1, L.spent)
  end)

  it("records charges, equal ones in a row as one", function()
    local L = pn.ledger { epsilon = 3, delta = 1e-6 }
    local e = event.exponential { epsilon = 0.01 }
    L:spend(e, "fw"):spend(event.exponential { epsilon = 0.01 }, "fw"):spend(e, "other"):spend(e, "fw", 3)
    local report = L:report()
    assert.equal(3, #report)
    assert.same({ 2, 1, 3 }, { report[1].count, report[2].count, report[3].count })
    assert.same({ "fw", "other", "fw" }, { report[1].label, report[2].label, report[3].label })
    assert.equal("exponential(epsilon=0.01)", report[1].event)
    assert.equal(L:price(e, 2), report[1].price)
    assert.equal(event.repeated(e, 6):epsilon(1e-6), L.spent)
    assert.equal(L.spent, report.spent)
    assert.equal(L.remaining, report.remaining)
  end)

  it("spends slices of a pure budget as a tenth each", function()
    for _, part in ipairs { pn.ledger({ epsilon = 1 }):split(10) } do
      part:spend(event.pure { epsilon = 0.1 })
      assert.equal(0, part.remaining)
    end
  end)

  it("does not split after a charge, but does after a reservation", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    L:reserve(event.pure { epsilon = 0.1 })
    assert.equal(2, select("#", L:split(2)))
    local charged = pn.ledger { epsilon = 1 }
    charged:spend(event.pure { epsilon = 0.1 })
    assert.matches("has been charged already", refusal(charged.split, charged, 2))
  end)

  it("hands its relation, its orders and its teaching flag to the slices", function()
    local L = pn.ledger { epsilon = 4, delta = 1e-2, orders = { 16, 64 }, teaching = true, neighbours = "add_remove" }
    local part = L:split(2)
    assert.is_true(part.teaching)
    assert.equal("add_remove", part.neighbours)
    assert.equal(16, part.orders[1].order)
  end)

  it("admits nothing once closed, and says so", function()
    local L = pn.ledger { epsilon = 1 }
    L:close()
    local message = refusal(L.spend, L, event.pure { epsilon = 0.1 })
    assert.matches("Remaining 0, Difference 0.1 (the ledger is closed)", message, 1, true)
    assert.is_false((L:covers(event.pure { epsilon = 0.1 })))
    assert.equal(0, L.remaining)
  end)

  it("refuses budgets that make no sense", function()
    local cases = {
      { {}, "either epsilon" },
      { { epsilon = 1, rho = 1 }, "either epsilon" },
      { { epsilon = 0 }, "epsilon must be a positive number, got 0" },
      { { epsilon = -1, delta = 1e-6 }, "epsilon must be a positive number, got %-1" },
      { { epsilon = inf }, "epsilon must be a positive number, got inf" },
      { { epsilon = 1, delta = 1 }, "delta .* not including 1, got 1" },
      { { epsilon = 1, delta = -0.1 }, "delta must be .*, got %-0.1" },
      { { rho = 1, delta = 1e-6 }, "rho has no delta" },
      { { rho = 0 }, "rho must be a positive number" },
      { { epsilon = 1, neighbours = "same" }, '"replace_one", "add_remove" or "zero_out"' },
      { { epsilon = 1, paht = "x" }, "unknown option 'paht'" },
      { { epsilon = 1, path = "" }, "path is empty" },
      { { epsilon = 1, path = 3 }, "path must be a string, got 3" },
      { { epsilon = 1, path = "a\0b" }, "zero byte" },
      { { epsilon = 1, key = "x" }, "key is the key of a file" },
      { { epsilon = 1, name = "x" }, "name is the name of a slice" },
      { { epsilon = 1, alpha = 1 }, "alpha must be greater than 1, got 1" },
      { { rho = 1, alpha = 2 }, "alpha goes with epsilon alone" },
      { { epsilon = 1, delta = 1e-6, alpha = 2 }, "alpha goes with epsilon alone" },
      { { epsilon = 1, filter = "gaussian" }, "Gaussian filter is for a budget with epsilon and delta" },
      { { epsilon = 1, delta = 1e-6, filter = "gaussian", orders = { 8 } }, "has no orders" },
      { { epsilon = 1, filter = "none" }, '"renyi" or "gaussian", got "none"' },
      { { epsilon = 1, orders = { 2 } }, "orders belong to a budget with epsilon and delta" },
      { { epsilon = 1, delta = 1e-6, orders = { 4, 1 } }, "greater than 1, got 1 at entry 2" },
      { { epsilon = 1, delta = 1e-6, orders = { 1.1, 2 } }, "none of the 2 orders leaves anything" },
    }
    for _, case in ipairs(cases) do
      assert.matches(case[2], refusal(pn.ledger, case[1]))
    end
  end)
end)

describe("spend", function()
  it("refuses a label that is a number: the count comes after the label", function()
    local L = pn.ledger { epsilon = 1 }
    local ok, message = pcall(L.spend, L, event.pure { epsilon = 0.001 }, 100)
    assert.is_false(ok)
    assert.matches("label must be a string, got 100; the count comes third", message, 1, true)
    assert.matches("zero byte", select(2, pcall(L.spend, L, event.pure { epsilon = 0.001 }, "a\0b")), 1, true)
    assert.equal(0, L.spent)
    L:spend(event.pure { epsilon = 0.001 }, nil, 100)
    assert.near(0.1, L.spent, 1e-15)
  end)
end)

describe("a ledger for Gaussian noise alone", function()
  it("admits a release for exactly its budget, by the Gaussian filter", function()
    for _, epsilon in ipairs { 0.01, 1, 8, 30 } do
      local m = pn.mechanism.analytic_gaussian { epsilon = epsilon, delta = 1e-5, sensitivity = 1 }
      local L = pn.ledger { epsilon = epsilon, delta = 1e-5 }
      assert.is_true(L:price(m.event) <= epsilon)
      assert.near(epsilon, L:price(m.event), 1e-9)
      m:release(0, { ledger = L })
      assert.equal("gaussian", L.filter)
      assert.is_nil(L.orders)
      assert.near(epsilon, L.spent, 1e-9)
      assert.matches("gaussian events only", select(2, pcall(L.spend, L, event.pure { epsilon = 1e-6 })), 1, true)
    end
  end)

  it("keeps its choice in the file", function()
    local path = os.tmpname()
    os.remove(path)
    local e = event.gaussian { sigma = 4, sensitivity = 1 }
    local first = pn.ledger { epsilon = e:epsilon(1e-5), delta = 1e-5, path = path }
    first:spend(e, "all")
    first:close()
    local second = pn.ledger { path = path }
    assert.equal("gaussian", second.filter)
    assert.equal(first.spent, second.spent)
    assert.is_false((second:covers(event.gaussian { sigma = 400, sensitivity = 1 })))
    second:close()
    for _, tail in ipairs { "", ".key", ".head" } do os.remove(path .. tail) end
  end)

  it("admits what it reserved, step by step", function()
    local e = event.gaussian { sigma = 30, sensitivity = 1, draws = 54 }
    local total = event.repeated(e, 100)
    local L = pn.ledger { epsilon = total:epsilon(1e-6), delta = 1e-6 }
    L:reserve(e, 100)
    for _ = 1, 100 do L:spend(e, "step") end
    assert.equal("gaussian", L.filter)
    assert.is_false((L:covers(e)))
  end)
end)
