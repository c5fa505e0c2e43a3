-- smallest_noise_spec.lua -- prices where noise vanishes beside what it hides, over 600 powers of ten: each is a number, none
-- falls as noise does, and what a ledger admits costs no more than its budget and is read again.  Orders just above 1, where 1 + x
-- rounds to 1, and losses whose difference rounds to none have priced such noise at nothing.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local event = pn.event

local function gaussian(t, neighbours)
  return event.gaussian { sigma = 1 / t, sensitivity = 1, neighbours = neighbours }
end

local function laplace(t, neighbours)
  return event.laplace { scale = 1 / t, sensitivity = 1, neighbours = neighbours }
end

-- Events of a number that grows as their noise falls.
local kinds = {
  pure = function(t) return event.pure { epsilon = t } end,
  laplace = laplace,
  laplace_drawn = function(t) return event.laplace { scale = 1 / t, sensitivity = 1, draws = 10 } end,
  exponential = function(t) return event.exponential { epsilon = t } end,
  noisy_max = function(t) return event.report_noisy_max { scale = 1 / t, sensitivity = 1, steps = 4 } end,
  sparse_vector = function(t) return event.sparse_vector { epsilon = t, answers = 3 } end,
  gaussian = gaussian,
  gaussian_drawn = function(t) return event.gaussian { sigma = 1 / t, sensitivity = 1, draws = 10 } end,
  zcdp = function(t) return event.zcdp { rho = t } end,
  approximate = function(t) return event.approximate { epsilon = t, delta = 1e-9 } end,
  rdp = function(t) return event.rdp { alpha = 8, epsilon = t } end,
  curve = function(t) return event.curve { orders = { 2, 4, 8 }, divergences = { t, 2 * t, 4 * t } } end,
  selection = function(t) return event.selection { event = gaussian(t), law = "geometric", mean = 10 } end,
  selection_pure = function(t) return event.selection { event = event.pure { epsilon = t }, law = "geometric", mean = 10 } end,
  poisson = function(t) return event.poisson_sampled { q = 0.01, event = gaussian(t, "add_remove") } end,
  poisson_laplace = function(t) return event.poisson_sampled { q = 0.01, event = laplace(t, "add_remove") } end,
  fixed = function(t) return event.fixed_sampled { batch = 10, n = 1000, event = gaussian(t) } end,
  fixed_exponential = function(t)
    return event.fixed_sampled { batch = 10, n = 1000, event = event.exponential { epsilon = t } }
  end,
  and_whole = function(t)
    return event.fixed_sampled_and_whole { batch = 10, n = 1000, sigma = 1 / t, sampled_sensitivity = 1,
      whole_sensitivity = 0.1 }
  end,
  objective = function(t)
    return event.objective_perturbation { sigma = 1 / t, sensitivity = 1, jacobian = 0.01, dim = 10 }
  end,
  repeated = function(t) return event.repeated(event.exponential { epsilon = t }, 1000) end,
  compose = function(t) return event.compose { event.exponential { epsilon = t }, gaussian(t) } end,
  either = function(t) return event.either { first = gaussian(t), second = event.exponential { epsilon = t } } end,
  loss_distribution = function(t)
    local p = 1 / (1 + math.exp(-math.min(t, 700)))
    return event.loss_distribution { losses = { t, -t }, probabilities = { p, 1 - p } }
  end,
}

-- Numbers from 1e-320 to 1e308, in disorder within their decades; those that an event refuses are passed over.
local function each(name, stride, body)
  for x = -320, 308, stride do
    local t = 10.0 ^ x * (1 + x % 3)
    local made, e = pcall(kinds[name], t)
    if made then body(t, e) end
  end
end

-- What `price(e, i)` says of row i, which must be a number in [0, most] and must not fall by more than `slack` of itself.
local function falls(name, stride, rows, slack, most, price)
  local largest, wrong = {}, {}
  each(name, stride, function(t, e)
    for i, row in ipairs(rows) do
      local value = price(e, row)
      if not (value >= 0 and value <= most) or value < (largest[i] or 0) * (1 - slack) - slack then
        wrong[#wrong + 1] = ("%s %g at %g: %s after %s"):format(name, t, row, value, largest[i])
      end
      largest[i] = math.max(value, largest[i] or 0)
    end
  end)
  return wrong
end

local inf = math.huge
local orders = { 1 + 2 ^ -52, 1 + 2 ^ -45, 1 + 2 ^ -30, 1 + 2 ^ -10, 2, 7.9, 65536, 1e12, inf }
local deltas = { 1e-300, 1e-12, 1e-6, 1e-3, 0.5, 1 - 1e-9 }

describe("the price of vanishing noise", function()
  for name in pairs(kinds) do
    it("does not fall with it: " .. name, function()
      local stride = tier.times(3, 1)
      assert.same({}, falls(name, stride, orders, 1e-9, inf, function(e, alpha) return e:rdp(alpha) end))
      assert.same({}, falls(name, stride, deltas, 1e-6, inf, function(e, delta) return e:epsilon(delta) end))
      assert.same({}, falls(name, stride, { 1e-3, 1, 1e3, 1e6 }, 1e-6, 1, function(e, epsilon)
        return pn.accountant.rdp {}:add(e, 1):delta(epsilon)
      end))
    end)

    tier.it(it)("does not fall with it by loss distributions: " .. name, function()
      local function pld(e)
        return pcall(function() return pn.accountant.pld {}:add(e, 1) end)
      end
      local made = pcall(function() return pn.accountant.pld {}:add(kinds[name](1), 1):epsilon(1e-6) end)
      if not made then return end -- it has none
      assert.same({}, falls(name, 16, { 1e-12, 1e-3 }, 1e-3, inf, function(e, delta)
        local made_one, one = pld(e)
        return made_one and one:epsilon(delta) or inf
      end))
      assert.same({}, falls(name, 16, { 1, 1e6 }, 1e-3, 1, function(e, epsilon)
        local made_one, one = pld(e)
        return made_one and one:delta(epsilon) or 1
      end))
    end)
  end

  it("is that of the whole range for a selection, but for what its worst pair lacks", function()
    for _, alpha in ipairs { 1.5, 3, 100 } do
      local gap = -math.log(1 - 1 / alpha) -- t is e - gap in the limit, and A is (1 - exp(-gap)) exp((alpha - 1) t)
      for x = 2, 150, 2 do
        local e = 10.0 ^ x
        local want = e - gap + math.log(1 - math.exp(-gap)) / (alpha - 1)
        assert.near(want, event.exponential { epsilon = e }:rdp(alpha), 2e-12 * e)
      end
    end
  end)

  it("is at no order below the limit at order 1, however much rounding weighs there", function()
    for x = 0, 60 do
      local e = 50 * 1.3 ^ x
      local log_mean = math.log(e) - math.log(1 - math.exp(-e)) -- the divergence of Kullback and Leibler of the worst pair
      local least = math.exp(log_mean) - 1 - log_mean
      for k = 10, 52 do
        assert.is_true(event.exponential { epsilon = e }:rdp(1 + 2.0 ^ -k) >= least * (1 - 2 ^ -50))
      end
    end
  end)

  it("is certain loss of privacy for the best of a few runs without noise", function()
    for _, t in ipairs { 1e3, 1e7, 1e12, 1e15, 1e17, 1e28, 1e70 } do
      local A = pn.accountant.pld {}:add(kinds.selection(t), 1)
      assert.is_true(A:delta(1) > 1 - 1e-12 and A:epsilon(1e-6) > 0.49 * t * t)
    end
  end)
end)

describe("a ledger", function()
  local path = os.tmpname()
  local tails = { "", ".key", ".head" }

  local function remove()
    for _, tail in ipairs(tails) do os.remove(path .. tail) end
  end

  teardown(remove)

  it("admits no event at a price above its budget", function()
    local admitted, wrong = 0, {}
    for name in pairs(kinds) do
      each(name, tier.times(60, 7), function(t, e)
        for _, budget in ipairs { { 1, 1e-6 }, { 1e9, 0.01 }, { 1e17, 0.9 }, { 1e30, 1e-300 } } do
          local L = pn.ledger { epsilon = budget[1], delta = budget[2], neighbours = e.neighbours }
          for count = 1, 7, 3 do
            if pcall(L.spend, L, e, "x", count) then
              local price = event.repeated(e, count):epsilon(budget[2])
              admitted = admitted + 1
              if not (price <= budget[1] * (1 + 1e-6)) then
                wrong[#wrong + 1] = ("%s %g, %d times, on %g: %g"):format(name, t, count, budget[1], price)
              end
            end
          end
        end
      end)
    end
    assert.same({}, wrong)
    assert.is_true(admitted > 300)
  end)

  it("reads again what it wrote, however large its budget and whatever it refused", function()
    for _, epsilon in ipairs { 1e-12, 1, 3e7, 3e17, 1.4e22, 1.7e308 } do
      for _, delta in ipairs { 5e-324, 1e-6, 0.5, 1 - 2 ^ -53 } do
        for _, e in ipairs { event.pure { epsilon = 1e-9 }, gaussian(1), gaussian(1e9), event.pure { epsilon = 1e17 } } do
          remove()
          local spent, entries
          do
            local L <close> = pn.ledger { path = path, epsilon = epsilon, delta = delta }
            pcall(L.spend, L, e, "x", 3)
            pcall(L.spend, L, e, "x", 1)
            spent, entries = L.spent, #L:report()
            assert.is_true(spent <= epsilon)
          end
          local L <close> = pn.ledger { path = path }
          assert.same({ spent, entries }, { L.spent, #L:report() })
        end
      end
    end
  end)
end)
