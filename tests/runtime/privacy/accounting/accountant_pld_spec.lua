-- accountant_pld_spec.lua -- certified intervals of composed events, and advanced composition.  Numbers come from
-- accounting.md section 9, items 1, 3, 4, 6, 7, 8, and from closed forms named beside them.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local of_law = tier.law(it)
local event, accountant = pn.event, pn.accountant
local inf = math.huge

local function poisson(q, z, neighbours)
  neighbours = neighbours or "add_remove"
  return event.poisson_sampled { q = q, event = event.gaussian { sigma = z, sensitivity = 1, neighbours = neighbours } }
end

local function fixed(batch, n, z)
  return event.fixed_sampled { batch = batch, n = n, event = event.gaussian { sigma = z, sensitivity = 1 } }
end

local function interval(e, count, delta, options)
  local low, high = accountant.pld(options or {}):add(e, count):epsilon_interval(delta)
  assert.is_true(0 <= low and low <= high)
  return low, high
end

-- The interval lies in [from, to] and is narrower than `width`.
local function inside(from, to, width, e, count, delta)
  local low, high = interval(e, count, delta)
  assert.is_true(from <= low and high <= to, ("[%.9g, %.9g]"):format(low, high))
  assert.is_true(high - low <= width, ("[%.9g, %.9g]"):format(low, high))
end

describe("accountant.pld", function()
  it("gives the intervals of the specification for sampled Gaussians", function()
    inside(5.1900, 5.1930, 1e-4, poisson(0.01, 1.1), 10000, 1e-5) -- item 1
    inside(0.7494, 0.7496, 1e-4, fixed(1, 100, 1.5), 500, 1e-5) -- item 6
    inside(0.62190, 0.62208, 1e-4, poisson(0.01, 2), 1000, 1e-5) -- item 7: 0.62203, 0.71857, 1.20520
    inside(0.71848, 0.71862, 1e-4, fixed(1, 100, 2), 1000, 1e-5)
    inside(1.20510, 1.20525, 1e-4, poisson(0.01, 2, "replace_one"), 1000, 1e-5)
    inside(6.1877 - 1e-4, 6.1877 + 6e-5, 1e-4, poisson(0.01, 1), 10000, 1e-5) -- 6.1877 on a lattice of 1e-4
  end)

  it("has the exact Gaussian inside", function()
    inside(4.3771, 4.3773, 1e-8, event.gaussian { sigma = 10, sensitivity = 1 }, 100, 1e-5) -- item 3
    local exact = { [0.01] = { 1e-6, 0.0291 }, [1] = { 1e-5, 4.3771780957 }, [5] = { 1e-5, 33.1037323359 } } -- item 2
    for mu, case in pairs(exact) do
      local low, high = interval(event.gaussian { sigma = 1 / mu, sensitivity = 1 }, 1, case[1])
      if mu >= 1 then
        assert.near(case[2], low, 3e-9)
        assert.near(case[2], high, 3e-9)
      end
      -- 10000 of them with 100 times the noise are the same mechanism
      local many_low, many_high = interval(event.gaussian { sigma = 100 / mu, sensitivity = 1 }, 10000, case[1])
      assert.is_true(many_low <= high * (1 + 1e-9) and low <= many_high * (1 + 1e-9))
    end
  end)

  it("has optimal composition inside", function()
    inside(4.774567586, 4.774567590, 1e-8, event.pure { epsilon = 0.1 }, 100, 1e-6) -- item 4
    local rr = event.pure { epsilon = math.log(3) }
    -- once: delta(eps) = 3/4 - exp(eps)/4
    local low, high = interval(rr, 1, 0.1)
    assert.near(math.log(2.6), low, 1e-9)
    assert.near(math.log(2.6), high, 1e-9)
    assert.is_true(low <= math.log(2.6) and math.log(2.6) <= high)
  end)

  it("knows the profile of one Laplace release", function()
    -- delta(eps) = 1 - exp((eps - e)/2) for eps <= e
    local acc = accountant.pld {}:add(event.laplace { scale = 2, sensitivity = 1 })
    for _, delta in ipairs { 1e-9, 1e-3, 0.1 } do
      local low, high = acc:epsilon_interval(delta)
      local exact = 0.5 + 2 * math.log(1 - delta)
      assert.near(exact, low, 1e-9)
      assert.near(exact, high, 1e-9)
      assert.is_true(low <= exact + 1e-15 and exact - 1e-15 <= high)
    end
    assert.equal(0.5, (acc:epsilon(0)))
  end)

  it("lies between its own lower end and the Renyi bound", function()
    for _, e in ipairs {
      event.exponential { epsilon = 0.2 },
      event.report_noisy_max { scale = 10, sensitivity = 1 },
      event.laplace { scale = 5, sensitivity = 1 },
      event.pure { epsilon = 0.2 },
      event.sparse_vector { epsilon = 0.2 },
      event.gaussian { sigma = 5, sensitivity = 1 },
      fixed(3, 100, 1),
      poisson(0.05, 1, "replace_one"),
      event.compose { event.laplace { scale = 5, sensitivity = 1 }, fixed(3, 100, 1) },
    } do
      local low, high = interval(e, 20, 1e-6)
      local renyi = accountant.rdp {}:add(e, 20):epsilon(1e-6)
      assert.is_true(low > 0 and high <= renyi * (1 + 1e-12), tostring(e))
    end
  end)

  it("gives narrow intervals for mixtures of everything", function()
    local acc = accountant.pld {}
    acc:add(event.pure { epsilon = 0.1 }, 5):add(poisson(0.02, 1.3, "replace_one"), 300)
    acc:add(event.laplace { scale = 7, sensitivity = 1 }, 20):add(event.gaussian { sigma = 5, sensitivity = 1 }, 3)
    local low, high = acc:epsilon_interval(1e-6)
    assert.is_true(high - low < 1e-3 * high)
    assert.is_true(high < accountant.rdp {}:add(event.pure { epsilon = 0.1 }, 5):add(poisson(0.02, 1.3, "replace_one"), 300)
      :add(event.laplace { scale = 7, sensitivity = 1 }, 20):add(event.gaussian { sigma = 5, sensitivity = 1 }, 3)
      :epsilon(1e-6))
  end)

  it("agrees with direct integration of two and three steps", function()
    -- delta_T(eps) = E_P[delta_{T-1}(eps - L)] by the trapezoid rule, in another program
    inside(0.2453, 0.2455, 1e-4, poisson(0.01, 1), 2, 1e-5)
    for _, case in ipairs {
      { poisson(0.01, 1), 2, 1e-5, 0.2454706012 },
      { poisson(0.01, 1, "replace_one"), 2, 1e-5, 0.2577575574 },
      { poisson(0.05, 1.5), 3, 1e-4, 0.3105485284 },
      { poisson(0.1, 0.8, "replace_one"), 2, 1e-6, 3.9857171077 },
      { poisson(0.3, 0.6), 3, 1e-8, 14.3304378419 },
      { poisson(0.3, 0.6, "replace_one"), 3, 1e-8, 15.3991378286 },
    } do
      local low, high = interval(case[1], case[2], case[3])
      assert.is_true(low <= case[4] and case[4] <= high, ("[%.10f, %.10f]"):format(low, high))
    end
  end)

  it("has references of sixty digits inside", function()
    -- mpmath at 60 digits.  Single releases: P(x) - e^eps Q(x) of the normal tails, where the loss at x is eps; pure
    -- compositions: the sum over how many answers were the unlikely one, for two events over both numbers; epsilon by
    -- bisection, cut after 17 digits.
    local function pure(e)
      return event.pure { epsilon = e }
    end
    for _, case in ipairs {
      { poisson(1e-6, 0.3), 1, 1e-9, 1.5708684901189457, 1e-9 },
      { poisson(1e-4, 0.5), 1, 1e-7, 0.17899414941966206, 1e-9 },
      { poisson(0.01, 1), 1, 1e-12, 2.0754261097625319, 1e-9 },
      { poisson(0.5, 0.7), 1, 1e-15, 11.208601756223597, 1e-9 },
      { poisson(1e-3, 0.3), 1, 1e-5, 5.6537925361192711, 1e-9 },
      { pure(0.1), 100, 1e-6, 4.7745675881079862, 1e-8 },
      { pure(0.01), 3000, 1e-9, 3.2051615605435479, 1e-6 },
      { pure(1), 50, 1e-15, 49.999999993655592, 1e-8 },
      { pure(0.003), 7, 1e-3, 0.0064624914141415410, 1e-6 },
      { event.compose { event.repeated(pure(0.1), 30), event.repeated(pure(0.37), 9) }, 1, 1e-7, 5.4234228873600860, 1e-6 },
    } do
      local low, high = interval(case[1], case[2], case[3])
      local text = ("%s: [%.17g, %.17g] for %.17g"):format(tostring(case[1]), low, high, case[4])
      assert.is_true(low <= case[4] * (1 + 4e-16) and case[4] <= high * (1 + 4e-16), text)
      assert.is_true(high - low <= case[5] * math.max(1, high), text)
    end
  end)

  it("has quadrature of two rarely sampled releases inside", function()
    -- delta_2(eps) = E_P delta_1(eps - L), mpmath at 25 digits
    inside(0.25957, 0.25962, 5e-5, poisson(1e-4, 0.5), 2, 1e-7)
    for _, case in ipairs {
      { 1e-4, 0.5, 1e-7, 0.259596279899313 },
      { 1e-6, 0.3, 1e-9, 2.14198957218232 },
      { 0.02, 0.8, 1e-10, 3.83983750632946 },
    } do
      local low, high = interval(poisson(case[1], case[2]), 2, case[3])
      local text = ("[%.15g, %.15g] for %.15g"):format(low, high, case[4])
      assert.is_true(low <= case[4] and case[4] <= high and high - low <= 2e-3 * high, text)
    end
  end)

  it("agrees with composition on a lattice where that was narrow", function()
    -- intervals of the program before this one: laws rounded to a lattice, release by release, and transformed
    for _, case in ipairs {
      { fixed(100, 1000000, 0.4), 100000, 1e-5, 6.4283865, 6.4286154 },
      { fixed(100, 1000000, 0.3), 100, 1e-9, 13.1988260, 13.1990888 },
      { poisson(1e-3, 1), 100000, 1e-5, 1.6368482, 1.6371865 },
      { poisson(1e-6, 0.3), 10, 1e-12, 8.4676698, 8.4708372 },
      { poisson(1e-3, 0.5, "replace_one"), 1000, 1e-9, 6.9871263, 6.9871830 },
    } do
      local low, high = interval(case[1], case[2], case[3])
      local text = ("%s: [%.9g, %.9g]"):format(tostring(case[1]), low, high)
      assert.is_true(low <= case[5] and case[4] <= high and high - low <= 1e-3 * high, text)
    end
  end)

  it("stays within 1 % at small sampling rates", function()
    for _, case in ipairs {
      { poisson(1e-4, 0.5), 100000, 1e-5 },
      { poisson(1e-4, 0.4), 10000, 1e-5 },
      { poisson(1e-5, 0.7), 1000000, 1e-12 },
      { poisson(1e-5, 0.3, "replace_one"), 1000, 1e-3 },
      { poisson(1e-6, 0.5), 10000000, 1e-15 },
      { poisson(0.5, 0.3), 1000000, 1e-3 },
      { fixed(1, 1000000, 0.7), 1000, 1e-7 },
      -- next to the largest loss there is
      { event.laplace { scale = 0.4, sensitivity = 1 }, 10, 1e-9 },
      { event.laplace { scale = 1 / 12, sensitivity = 1 }, 40, 1e-12 }, -- a first cell far wider than 1 / tilt
      { event.laplace { scale = 1 / 40, sensitivity = 1 }, 10, 1e-3 },
      { event.pure { epsilon = 3 }, 100, 1e-15 },
    } do
      local low, high = interval(case[1], case[2], case[3])
      assert.is_true(high - low <= math.max(1e-4, 1e-2 * high), ("%s: [%.9g, %.9g]"):format(tostring(case[1]), low, high))
    end
  end)

  it("keeps its bounds where a tilt is too steep for the resolution", function()
    -- Of q against p, twice, epsilon above ln(0.5/0.3) less ln(0.6999/0.5): only the second outcome twice has so large a
    -- loss, and delta(epsilon) = 0.5^2 - exp(epsilon) 0.3^2.
    local r, e = 1e-4, 40
    local law = event.loss_distribution { p = { 0.7 - r, 0.3, r }, q = { 0.5 - r * math.exp(-e), 0.5, r * math.exp(-e) } }
    for _, delta in ipairs { 9e-4, 1e-3, 1.1e-3 } do
      local low, high = interval(law, 2, delta)
      local exact = math.log((0.25 - delta) / 0.09)
      assert.is_true(low <= exact * (1 + 1e-9) and exact <= high, ("[%.17g, %.17g] for %.17g"):format(low, high, exact))
    end
    for _, steps in ipairs { 2, 3, 10 } do
      interval(law, steps, 1e-3)
    end
  end)

  it("answers for delta at epsilons next to 0", function()
    local acc = accountant.pld {}:add(poisson(1e-6, 0.3), 10)
    local least, most = acc:delta(1e-4), acc:delta(1e-8) * (1 + 1e-2)
    assert.is_true(least < most)
    for _, epsilon in ipairs { 1e-12, 1e-14, 1e-16, 1e-100, 1e-310, 5e-324 } do
      local delta = acc:delta(epsilon)
      assert.is_true(least < delta and delta < most, ("%g at %g"):format(delta, epsilon))
    end
  end)

  it("says how it found an answer, and why an interval is wide", function()
    local acc = accountant.pld {}:add(poisson(0.01, 1), 100)
    assert.is_nil(acc.method)
    local low, high = acc:epsilon_interval(1e-5)
    assert.equal("loss distributions", acc.method)
    assert.equal(("accountant.pld: 100 releases, add_remove\n  epsilon from %.6g to %.6g at delta 1e-05 (loss distributions)")
      :format(low, high), tostring(acc))
    acc:add(poisson(0.01, 1))
    assert.is_nil(acc.method)
    local gaussian = accountant.pld {}:add(event.gaussian { sigma = 3, sensitivity = 1 }, 5)
    gaussian:epsilon(1e-5)
    assert.equal("exact loss distribution", gaussian.method)
    local choices = accountant.pld {}:add(event.exponential { epsilon = 0.01 }, 20000)
    local _, order = choices:epsilon(1e-6)
    assert.equal(("Renyi order %.4g"):format(order), choices.method)
    assert.matches("6.6 %% wide: the upper end is\n? *for all candidates together", tostring(choices))
    assert.is_nil(accountant.rdp {}:add(poisson(0.01, 1)).method)
  end)

  it("has its two ends in order for noise in whole steps, the lower one that of continuous noise", function()
    for _, scale in ipairs { 0.5, 3, 30 } do
      local function noisy(steps) return event.report_noisy_max { scale = scale, sensitivity = 1, steps = steps } end
      for _, delta in ipairs { 0, 1e-6, 0.01 } do
        local low, high = interval(noisy(1), 1, delta)
        assert.is_true(low <= high and high <= 2 / scale * (1 + 1e-9))
        assert.is_true(math.abs(low - interval(noisy(), 1, delta)) <= 1e-9)
      end
      local low, high = interval(noisy(1), 10, 1e-6)
      assert.is_true(low <= high)
    end
  end)

  it("takes many different events", function()
    local acc = accountant.pld {}
    for i = 1, 60 do
      acc:add(poisson(0.01, 1 + i / 60), 10)
    end
    local low, high = acc:epsilon_interval(1e-5)
    local most = interval(poisson(0.01, 1), 600, 1e-5)
    local _, least = interval(poisson(0.01, 2), 600, 1e-5)
    assert.is_true(least < low and high < most and high - low < 0.01 * high)
  end)

  it("holds out at extreme parameters", function()
    for _, case in ipairs {
      { poisson(0.01, 1), 10000, 1e-12 }, -- tiny delta
      { poisson(0.001, 2), 1000000, 1e-6 }, -- many steps
      { poisson(0.01, 0.3), 100, 1e-5 }, -- little noise
      { poisson(0.1, 0.7), 2000, 1e-5 }, -- epsilon above 50
      { event.laplace { scale = 1, sensitivity = 1 }, 20, 1e-6 }, -- nearly all of the largest loss
      { event.pure { epsilon = 1 }, 3, 1e-9 },
      { poisson(0.01, 1), 2, 1e-5 },
    } do
      local low, high = interval(case[1], case[2], case[3])
      assert.is_true(high < inf and high - low <= 0.01 * high, ("[%.9g, %.9g]"):format(low, high))
      assert.is_true(high <= accountant.rdp {}:add(case[1], case[2]):epsilon(case[3]))
    end
  end)

  it("falls with noise and delta, and rises with the rate and the count", function()
    local base = interval(poisson(0.02, 1.5), 100, 1e-5)
    for _, case in ipairs {
      { poisson(0.02, 1.6), 100, 1e-5 },
      { poisson(0.018, 1.5), 100, 1e-5 },
      { poisson(0.02, 1.5), 90, 1e-5 },
      { poisson(0.02, 1.5), 100, 2e-5 },
    } do
      local _, high = interval(case[1], case[2], case[3])
      assert.is_true(high < base) -- even the upper end is below the other's lower end
    end
  end)

  it("does not mind order or grouping, nor a question asked twice", function()
    local a, b = event.laplace { scale = 9, sensitivity = 1 }, event.pure { epsilon = 0.05 }
    local one = accountant.pld {}:add(a, 7):add(b, 9)
    local two = accountant.pld {}:add(b, 9):add(a, 3):add(a, 4)
    assert.near(one:epsilon(1e-6), two:epsilon(1e-6), 1e-9)
    assert.equal(one:epsilon(1e-6), one:epsilon(1e-6))
    local before = one:epsilon(1e-6)
    one:add(b)
    assert.is_true(one:epsilon(1e-6) > before)
  end)

  it("inverts itself", function()
    local acc = accountant.pld {}:add(poisson(0.02, 1.2), 400)
    for _, delta in ipairs { 1e-8, 1e-5, 1e-3 } do
      local epsilon = acc:epsilon(delta)
      assert.is_true(acc:delta(epsilon) <= delta * 1.01 and acc:delta(epsilon) >= 0.99 * delta)
    end
    assert.equal(0, accountant.pld {}:add(event.pure { epsilon = 0.5 }, 2):delta(1))
    assert.equal(0, (accountant.pld {}:epsilon(1e-6)))
    assert.equal(0, accountant.pld {}:delta(0))
  end)

  it("finds delta at epsilon 0 of composed events", function()
    -- k answers of randomised response: sum_i C(k, i) (e^((k-i) e) - e^(i e))_+ / (1 + e^e)^k
    for _, case in ipairs { { 0.1, 10 }, { 0.01, 200 }, { 1, 3 } } do
      local e, k, exact, ways = case[1], case[2], 0, 1
      for i = 0, k do
        local all = k * math.log(1 + math.exp(e))
        exact = exact + ways * math.max(0, math.exp((k - i) * e - all) - math.exp(i * e - all))
        ways = ways * (k - i) / (i + 1)
      end
      local delta = accountant.pld {}:add(event.pure { epsilon = e }, k):delta(0)
      assert.is_true(exact <= delta and delta <= exact * 1.01, ("%.9g for %.9g"):format(delta, exact))
    end
  end)

  it("finds delta beyond the largest loss of one of its two directions", function()
    -- whoever adds a record loses at most 10 ln(1/(1-q)) = 1e-5; delta is at most the chance 10 q that it is ever sampled
    local delta = accountant.pld {}:add(poisson(1e-6, 0.05), 10):delta(0.5)
    assert.is_true(0.99e-5 <= delta and delta <= 1.01e-5, ("%.9g"):format(delta))
  end)

  it("says when a step is too fine for the losses that were composed", function()
    local acc = accountant.pld { discretization = 1e-5 }:add(event.exponential { epsilon = 3 }, 20)
    local ok, message = pcall(acc.delta, acc, 20)
    assert.is_false(ok)
    assert.matches("a step of 1e%-05 needs %d+ points, at most 524288 are allowed", message)
  end)

  it("costs nothing where nothing is sampled", function()
    local low, high = interval(poisson(0, 1), 100, 1e-6)
    assert.equal(0, low)
    assert.equal(0, high)
  end)

  it("covers pure composition at delta 0", function()
    local low, high = interval(event.pure { epsilon = 0.25 }, 4, 0)
    assert.near(1, low, 1e-9)
    assert.equal(1, high)
    assert.equal(inf, (accountant.pld {}:add(event.gaussian { sigma = 1, sensitivity = 1 }):epsilon(0)))
  end)

  it("takes a lattice step, and is never below the finer answer with a coarse one", function()
    local _, fine = interval(poisson(0.01, 1), 1000, 1e-5)
    local low, coarse = interval(poisson(0.01, 1), 1000, 1e-5, { discretization = 1e-2 })
    assert.is_true(low < fine and fine < coarse)
    assert.has_error(function()
      accountant.pld { discretization = 0 }
    end)
    for _, step in ipairs { 0 / 0, 1, 1e308, 1e-320 } do
      assert.has_error(function()
        accountant.pld { discretization = step }
      end)
    end
    local ok, message = pcall(interval, poisson(0.01, 1), 1000, 1e-5, { discretization = 1e-8 })
    assert.is_false(ok)
    assert.matches("a step of 1e%-08 needs %d+ points, at most 524288 are allowed", message)
  end)

  it("refuses events that are only Renyi bounds, and says what takes them", function()
    for _, e in ipairs { event.zcdp { rho = 0.1 }, event.rdp { alpha = 4, epsilon = 0.1 } } do
      local acc = accountant.pld {}
      local ok, message = pcall(acc.add, acc, e)
      assert.is_false(ok)
      assert.matches("only a bound on Renyi divergences; use accountant.rdp", message, 1, true)
      ok = pcall(acc.add, acc, event.compose { event.pure { epsilon = 1 }, e })
      assert.is_false(ok)
      assert.equal("accountant.pld: nothing added", tostring(acc))
    end
  end)

  it("refuses to mix relations", function()
    local acc = accountant.pld {}:add(poisson(0.01, 1))
    local ok, message = pcall(acc.add, acc, fixed(1, 100, 1))
    assert.is_false(ok)
    assert.matches("what they protect differs", message, 1, true)
  end)

  it("refuses a delta outside [0, 1), and an interval where there is no lower bound", function()
    local acc = accountant.pld {}:add(event.pure { epsilon = 1 })
    for _, delta in ipairs { -1e-9, 1, 0 / 0, inf } do
      assert.is_false((pcall(acc.epsilon_interval, acc, delta)))
    end
    local rdp = accountant.rdp {}
    local ok, message = pcall(rdp.epsilon_interval, rdp, 1e-6)
    assert.is_false(ok)
    assert.matches("accountant.rdp knows no lower bound; use accountant.pld", message, 1, true)
  end)

  it("adds the distance of sampled noise from the ideal law", function()
    local ideal = accountant.pld {}:add(event.laplace { scale = 10, sensitivity = 1 }, 10):epsilon(1e-6)
    local drawn = accountant.pld {}:add(event.laplace { scale = 10, sensitivity = 1, draws = 1000 }, 10):epsilon(1e-6)
    assert.is_true(drawn >= ideal and drawn - ideal < 1e-12)
  end)
end)

describe("accountant.advanced", function()
  it("is the textbook formula", function()
    local acc = accountant.advanced {}:add(event.pure { epsilon = 0.1 }, 100)
    assert.near(6.308231, acc:epsilon(1e-6), 2e-6) -- item 4
    local other = accountant.advanced {}:add(event.pure { epsilon = 0.1 }, 50):add(event.laplace { scale = 5, sensitivity = 1 }, 20)
    local drift = 50 * 0.1 * (math.exp(0.1) - 1) / (math.exp(0.1) + 1) + 20 * 0.2 * (math.exp(0.2) - 1) / (math.exp(0.2) + 1)
    assert.near(drift + math.sqrt(2 * math.log(1e6) * (50 * 0.01 + 20 * 0.04)), other:epsilon(1e-6), 1e-8)
  end)

  it("never exceeds basic composition, and is above the certified interval", function()
    local acc = accountant.advanced {}:add(event.pure { epsilon = 0.5 }, 3)
    assert.near(1.5, acc:epsilon(1e-6), 1e-9)
    assert.near(1.5, acc:epsilon(0), 1e-9)
    assert.equal(0, acc:delta(1.6))
    local low = interval(event.pure { epsilon = 0.1 }, 100, 1e-6)
    assert.is_true(low < accountant.advanced {}:add(event.pure { epsilon = 0.1 }, 100):epsilon(1e-6))
    local hundred = accountant.advanced {}:add(event.pure { epsilon = 0.1 }, 100)
    assert.near(1e-6, hundred:delta(hundred:epsilon(1e-6)), 1e-11)
    assert.equal(1, hundred:delta(0.5))
  end)

  it("refuses events without a pure epsilon", function()
    local acc = accountant.advanced {}
    local ok, message = pcall(acc.add, acc, event.gaussian { sigma = 1, sensitivity = 1 })
    assert.is_false(ok)
    assert.matches("event.gaussian has no pure epsilon", message, 1, true)
  end)
end)

describe("accountant.selftest", function()
  of_law("finds nothing wrong, and prints what it looked at", function()
    local report = accountant.selftest()
    assert.equal(0, report.failed, tostring(report))
    assert.is_true(report.passed > 400)
    assert.equal(report.passed, #report.rows)
    local row = report.rows[1]
    assert.is_true(row.passed and #row.claim > 0 and #row.subject > 0 and type(row.got) == "number")
    assert.matches("count k equals k times +(%d+) of +%1\n", tostring(report))
    assert.matches("%d+ passed, 0 failed$", tostring(report))
  end)
end)
