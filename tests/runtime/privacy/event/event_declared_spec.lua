-- event_declared_spec.lua -- Renyi curves of a user's own: what they cost against closed forms, and what is refused.
local pn = require "penumbra"
local refusal = require "tests.tools.refusal"
local refused, refused_like = refusal.refused, refusal.refused_like
local event, inf = pn.event, math.huge

-- The curve of `e` at orders whose distance from 1 grows by `factor`.
local function at_orders(e, factor)
  local orders, divergences = {}, {}
  local distance = 0.01
  while distance < 1e5 do
    orders[#orders + 1] = 1 + distance
    divergences[#divergences + 1] = e:rdp(1 + distance)
    distance = distance * factor
  end
  return event.curve { orders = orders, divergences = divergences }
end

local function as_function(e)
  return event.curve { divergence = function(order) return e:rdp(order) end }
end

local function cost(e, count, delta)
  return (pn.accountant.rdp {}:add(e, count):epsilon(delta))
end

local mechanisms = {
  gaussian = event.zcdp { rho = 0.02 },
  laplace = event.laplace { scale = 4, sensitivity = 1 },
  exponential = event.exponential { epsilon = 0.5 },
  pure = event.pure { epsilon = 0.3 },
  sampled = event.poisson_sampled {
    q = 0.02, event = event.gaussian { sigma = 1.2, sensitivity = 1, neighbours = "add_remove" },
  },
  objective = event.objective_perturbation { sigma = 20, sensitivity = 1, jacobian = 0.01, dim = 10 },
}

describe("event.curve", function()
  it("costs at least what the mechanism costs, and within 1% where its orders are dense", function()
    for name, e in pairs(mechanisms) do
      for _, curve in ipairs { at_orders(e, 1.02), as_function(e) } do
        for _, count in ipairs { 1, 30, 1000 } do
          for _, delta in ipairs { 1e-9, 1e-5, 1e-2 } do
            local truth, got = cost(e, count, delta), cost(curve, count, delta)
            if e:rdp(inf) == inf then -- a pure epsilon belongs to the order inf, where no curve is
              assert.is_true(got <= truth * 1.01, ("%s: %g, %g"):format(name, got, truth))
            end
            assert.is_true(got >= truth * (1 - 1e-9), ("%s: %.12g is below %.12g"):format(name, got, truth))
          end
        end
      end
    end
  end)

  it("is not below the true curve between its orders, nor 1% above it where they are dense", function()
    local rng = pn.rng.seeded(5)
    for name, e in pairs(mechanisms) do
      local dense, sparse = as_function(e), at_orders(e, 8)
      for _ = 1, 400 do
        local order = 1 + 2 ^ (19 * rng:uniform() - 4)
        local truth = e:rdp(order)
        -- the curve of sampling has a step, where the line is 30% above it
        assert.is_true(dense:rdp(order) <= truth * (name == "sampled" and 1.31 or 1.01), name)
        assert.is_true(dense:rdp(order) >= truth * (1 - 1e-11), name)
        assert.is_true(sparse:rdp(order) >= truth * (1 - 1e-11), name)
      end
    end
  end)

  it("interpolates (order - 1) times the divergence, holds below its first order and ends at its last", function()
    local e = event.curve { orders = { 2, 5, 9 }, divergences = { 0.5, 1, 2 } }
    assert.equal(0.5, e:rdp(1.0001))
    assert.equal(0.5, e:rdp(2))
    assert.equal(1, e:rdp(5))
    assert.equal(2, e:rdp(9))
    -- at 3 a third of the way from 1 * 0.5 to 4 * 1, over 2; at 6 a quarter of the way from 4 * 1 to 8 * 2, over 5
    assert.near((0.5 + 3.5 / 3) / 2, e:rdp(3), 1e-14)
    assert.near(7 / 5, e:rdp(6), 1e-14)
    assert.is_true(e:rdp(6) >= 7 / 5)
    assert.equal(inf, e:rdp(9.0001))
    assert.equal(inf, e:rdp(inf))
    assert.equal(inf, e.rho)
    assert.equal("curve(0.5 at order 2 to 2 at order 9, 3 orders), replace_one", (tostring(e):gsub("%s+", " ")))
  end)

  it("equals a declared order where it has one", function()
    local one = event.curve { orders = { 8 }, divergences = { 0.05 } }
    local rdp = event.rdp { alpha = 8, epsilon = 0.05 }
    for _, count in ipairs { 1, 7, 500 } do assert.equal(cost(rdp, count, 1e-6), cost(one, count, 1e-6)) end
    assert.equal("curve(0.05 at order 8), replace_one", tostring(one))
  end)

  it("takes the larger of two directions", function()
    local e = event.curve { orders = { 2, 4 }, divergences = { 0.1, 0.5 }, reverse = { 0.2, 0.4 } }
    assert.equal(0.2, e:rdp(2))
    assert.equal(0.5, e:rdp(4))
    e = event.curve { orders = { 2, 4 }, divergence = function(order) return order / 20, order == 2 and 0.15 or 0.1 end }
    assert.equal(0.15, e:rdp(2))
    assert.equal(0.2, e:rdp(4))
  end)

  it("asks a function at its orders once, and keeps nothing of it", function()
    local asked, calls = setmetatable({}, { __mode = "k" }), 0
    local function made()
      local function f(order)
        calls = calls + 1
        return order / 8
      end
      asked[f] = true
      return event.curve { divergence = f }
    end
    local e = made()
    assert.equal(305, calls)
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(asked))
    assert.equal(2 / 8, e:rdp(2))
    assert.equal(305, calls)
    event.curve { orders = { 2, 3, 4 }, divergence = function(order)
      calls = calls + 1
      return order
    end }
    assert.equal(308, calls)
  end)

  it("ends where a function becomes infinite, and does not ask it again", function()
    local last
    local e = event.curve { divergence = function(order)
      last = order
      return order < 10 and order / 2 or inf
    end }
    assert.equal(10, last)
    assert.equal(9.5 / 2, e:rdp(9.5))
    assert.equal(inf, e:rdp(9.6))
  end)

  it("hands back what a function raises", function()
    local boom = { "boom" }
    local ok, err = pcall(event.curve, { divergence = function() error(boom) end })
    assert.is_false(ok)
    assert.equal(boom, err)
  end)

  it("adds up, in a composition and in a ledger", function()
    local e = event.curve { orders = { 2, 6, 20 }, divergences = { 0.01, 0.03, 0.12 } }
    local both = event.compose { event.repeated(e, 3), event.zcdp { rho = 0.01 } }
    assert.near(3 * e:rdp(4) + 0.04, both:rdp(4), 1e-15)
    local L = pn.ledger { alpha = 6, epsilon = 0.1 }:spend(e, "mine", 3)
    assert.near(0.09, L.spent, 1e-15)
    refused("Requested", function() L:spend(e) end)
    refused("Requested rho inf", function() pn.ledger { rho = 100 }:spend(e) end)
    L = pn.ledger { epsilon = 2, delta = 1e-6 }
    assert.near(cost(e, 1, 1e-6), L:spend(e, "mine").spent, 0.5)
  end)

  it("is another event where one number differs", function()
    local made = {}
    for i = 1, 3 do
      made[i] = event.curve { orders = { 2, 6, 20 }, divergences = { 0.01, 0.02 + 0.01 * i, 0.3 } }
    end
    local acc, L = pn.accountant.rdp {}, pn.ledger { alpha = 6, epsilon = 1 }
    for i = 1, 3 do
      acc:add(made[i])
      L:spend(made[i])
    end
    assert.near(0.12, acc:rdp(6), 1e-15)
    assert.near(0.12, L.spent, 1e-15)
  end)

  it("has no place where a pure epsilon or a loss distribution is needed", function()
    local e = event.curve { orders = { 2 }, divergences = { 0.01 } }
    refused("no privacy loss distribution belongs to an event.curve", function() pn.accountant.pld {}:add(e) end)
    refused("an event.curve has no pure epsilon", function() pn.accountant.advanced {}:add(e) end)
    refused("no proof for an inner curve", function() event.poisson_sampled { q = 0.1, event = e } end)
    assert.equal(inf, (pn.accountant.zcdp {}:add(e):epsilon(1e-6)))
    assert.equal(inf, (e:epsilon(0)))
  end)

  local function list(orders, divergences) return { orders = orders, divergences = divergences } end
  local function from(f) return { divergence = f } end
  local refusals = {
    { "a divergence that falls", list({ 2, 4 }, { 0.1, 0.05 }), "got 0.05 at order 4 after 0.1 at order 2" },
    { "what is not convex", list({ 2, 4, 8 }, { 0.1, 2, 2 }), "divergence of 2 at order 4, where those at 2 and 8 imply "
      .. "at most 1.577777778" },
    { "negative divergences", list({ 2, 4 }, { -0.1, 0.2 }), "got -0.1 at order 2" },
    { "divergences that are no numbers", list({ 2, 4 }, { 0.1, 0 / 0 }), "divergences: entry 2 must be a finite number" },
    { "an order of 1", list({ 1, 4 }, { 0.1, 0.2 }), "greater than 1, got 1 at entry 1" },
    { "orders that do not increase", list({ 4, 4 }, { 0.1, 0.2 }), "got 4 after 4 at entry 2" },
    { "an order that is infinite", list({ 4, inf }, { 0.1, 0.2 }), "orders: entry 2 must be a finite number, got inf" },
    { "lists of different lengths", list({ 2, 4 }, { 0.1 }), "divergences must have an entry for each of the 2 orders" },
    { "no orders", list(nil, { 0.1 }), "orders is missing" },
    { "no entries", list({}, {}), "orders must have 1 to 4096 entries, got 0" },
    { "nothing", {}, "give either divergences, one for each order, or divergence" },
    { "both", { orders = { 2 }, divergences = { 1 }, divergence = print }, "give either divergences" },
    { "reverse beside a function", { orders = { 2 }, reverse = { 1 }, divergence = print }, "give either divergences" },
    { "what is no function", from(3), "divergence must be a function, got 3" },
    { "a function that returns nothing", from(function() end), "must return a number, or two, got nil at order 1.0625" },
    { "a function that returns NaN", from(function(a) return a > 3 and 0 / 0 or a end), "got nan at order 3.125" },
    { "a second NaN", from(function(a) return a, a > 3 and 0 / 0 or a end), "got nan at order 3.125" },
    { "a function below 0", from(function(a) return a - 2 end), "got -0.9375 at order 1.0625" },
    { "a function that falls", from(function(a) return 1 / a end), "got 0.9377289377 at order 1.06640625 after" },
    { "a function that is nowhere finite", from(function() return inf end), "finite at some order" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      local said = refused(case[3], event.curve, case[2])
      assert.equal("event.curve", said:match "^[%w.]+")
    end)
  end

  it("refuses what falls or is not convex at the order where that is so, and not what was rounded to six digits", function()
    refused_like("at order 17", event.curve, from(function(a) return a == 17 and 0.5 or a / 16 end))
    local function rounded(order) return tonumber(("%.7g"):format(0.013 * order)) end
    assert.near(0.13, event.curve { divergence = rounded }:rdp(10), 1e-7)
  end)
end)
