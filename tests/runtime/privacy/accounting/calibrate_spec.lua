-- calibrate_spec.lua -- the largest privacy parameter and the least noise that a total allows: what comes back fits,
-- and a little more, or less noise, does not.
local pn = require "penumbra"
local event, calibrate = pn.event, pn.calibrate

local function noisy_max(e)
  return event.report_noisy_max { scale = 2 / e, sensitivity = 1 }
end

local function exponential(e)
  return event.exponential { epsilon = e }
end

describe("calibration of selections", function()
  it("returns the largest epsilon that fits, on the safe side", function()
    for law, make in pairs { exponential = exponential, report_noisy_max = noisy_max } do
      for _, total in ipairs { 0.01, 1, 8 } do
        for _, delta in ipairs { 1e-12, 1e-6, 0.01 } do
          for _, count in ipairs { 1, 2, 100, 1348 } do
            local e, order = calibrate[law] { epsilon = total, delta = delta, count = count }
            local cost, at = event.repeated(make(e), count):epsilon(delta)
            assert.is_true(cost <= total)
            assert.is_true(at == order or math.abs(at / order - 1) < 1e-3)
            assert.is_true(event.repeated(make(e * (1 + 1e-6)), count):epsilon(delta) > total)
          end
        end
      end
    end
  end)

  it("divides a pure budget evenly", function()
    assert.equal(1 / 7, (calibrate.exponential { epsilon = 1, delta = 0, count = 7 }))
    assert.equal(1 / 7, (calibrate.exponential { epsilon = 1, count = 7 }))
    assert.near(1 / 7, (calibrate.report_noisy_max { epsilon = 1, count = 7 }), 1e-15)
  end)

  it("gives the exponential mechanism about twice the epsilon of noisy max", function()
    local wide = calibrate.exponential { epsilon = 1, delta = 1e-6, count = 100 }
    local narrow = calibrate.report_noisy_max { epsilon = 1, delta = 1e-6, count = 100 }
    assert.is_true(wide > 1.9 * narrow and wide < 2.1 * narrow)
  end)

  it("is at least as good as going through zCDP", function()
    for _, count in ipairs { 1, 10, 500 } do
      local rho = calibrate.rho { epsilon = 1, delta = 1e-6 }
      local through = calibrate.exponential { rho = rho, count = count }
      assert.is_true(calibrate.exponential { epsilon = 1, delta = 1e-6, count = count } >= through)
    end
  end)

  it("is sqrt(8 rho/T) and sqrt(2 rho/T) under rho, and fits", function()
    for _, count in ipairs { 1, 3, 100, 225 } do
      for law, factor in pairs { exponential = 8, report_noisy_max = 2 } do
        local e = calibrate[law] { rho = 0.3, count = count }
        local make = law == "exponential" and exponential or noisy_max
        assert.near(1, e / math.sqrt(factor * 0.3 / count), 1e-14)
        assert.is_true(event.repeated(make(e), count).rho <= 0.3)
      end
    end
  end)

  it("finds the rho of an (epsilon, delta) budget to 1e-9, on the safe side", function()
    for _, epsilon in ipairs { 1e-3, 0.5, 4.728387, 50 } do
      for _, delta in ipairs { 1e-10, 1e-5, 0.1 } do
        local rho = calibrate.rho { epsilon = epsilon, delta = delta }
        assert.is_true(event.zcdp { rho = rho }:epsilon(delta) <= epsilon)
        assert.is_true(event.zcdp { rho = rho * (1 + 2e-9) }:epsilon(delta) > epsilon)
      end
    end
    -- accounting.md item 3 backwards
    assert.near(0.5, calibrate.rho { epsilon = 4.72838698494, delta = 1e-5 }, 1e-9)
  end)

  it("refuses targets that make no sense", function()
    assert.error_matches(function()
      calibrate.exponential { epsilon = 1, rho = 1 }
    end, "either epsilon .* or rho")
    assert.error_matches(function()
      calibrate.exponential { epsilon = 1, delta = 1 }
    end, "delta must be below 1, got 1")
    assert.error_matches(function()
      calibrate.rho { epsilon = 0, delta = 1e-6 }
    end, "epsilon must be a positive number, got 0")
  end)
end)

describe("calibration of noise in closed form", function()
  it("finds the analytic Gaussian's sigma", function()
    -- accounting.md item 2
    local rows = {
      { 1, 1e-5, 3.730631635 },
      { 0.5, 1e-6, 8.057618481 },
      { 8, 1e-6, 0.652935384 },
      { 0.01, 1e-8, 412.356942 },
    }
    for _, row in ipairs(rows) do
      local sigma = calibrate.gaussian { epsilon = row[1], delta = row[2], sensitivity = 1 }
      assert.near(1, sigma / row[3], 2e-9)
      assert.near(1, calibrate.gaussian { epsilon = row[1], delta = row[2], sensitivity = 7 } / (7 * sigma), 1e-14)
    end
    local unit = calibrate.gaussian { epsilon = 1, delta = 1e-5, sensitivity = 1 }
    assert.equal(unit, calibrate.gaussian { epsilon = 1, delta = 1e-5 })
    assert.is_true(calibrate.gaussian { epsilon = 0, delta = 1e-5 } > 39000)
  end)

  it("finds the Laplace scale", function()
    local scale = calibrate.laplace { epsilon = 0.3, sensitivity = 2 }
    assert.near(2 / 0.3, scale, 1e-14)
    assert.is_true(event.laplace { scale = scale, sensitivity = 2 }:epsilon(0) <= 0.3)
    assert.equal(0.5, calibrate.laplace { epsilon = 2 })
  end)

  it("refuses nonsense", function()
    for _, bad in ipairs { -1, math.huge, 0 / 0 } do
      assert.error_matches(function()
        calibrate.gaussian { epsilon = bad, delta = 1e-5 }
      end, "calibrate.gaussian: epsilon must be a number >= 0")
      assert.error_matches(function()
        calibrate.gaussian { epsilon = 1, delta = 1e-5, sensitivity = bad }
      end, "sensitivity must be a positive number")
    end
    for _, bad in ipairs { 0, 1, -1, 0 / 0 } do
      assert.error_matches(function()
        calibrate.gaussian { epsilon = 1, delta = bad }
      end, "delta must be a number between 0 and 1, both excluded")
    end
    assert.error_matches(function()
      calibrate.laplace { epsilon = 0 }
    end, "epsilon must be a positive number")
    assert.error_matches(function()
      calibrate.laplace { epsilon = 1e-300, sensitivity = 1e300 }
    end, "out of the range of numbers")
  end)
end)

describe("calibration of a program", function()
  local function sampled(q, sigma, steps)
    local noise = event.gaussian { sigma = sigma, sensitivity = 1, neighbours = "add_remove" }
    return event.repeated(event.poisson_sampled { q = q, event = noise }, steps)
  end

  local function sgd(sigma)
    return sampled(0.01, sigma, 10000)
  end

  it("finds the least noise, on the safe side, and says what it costs", function()
    local sigma, epsilon = calibrate.noise { epsilon = 2, delta = 1e-5, event = sgd }
    assert.near(2.2782, sigma, 3e-4) -- accounting.md item 1, on its grid of orders
    assert.equal(sgd(sigma):epsilon(1e-5), epsilon)
    assert.is_true(epsilon <= 2 and sgd(sigma * (1 - 2e-6)):epsilon(1e-5) > 2)
  end)

  it("works with every accountant", function()
    local want = math.sqrt(15 / calibrate.rho { epsilon = 0.5, delta = 1e-6 })
    for _, name in ipairs { "rdp", "zcdp" } do
      local asked = 0
      local sigma, epsilon = calibrate.noise {
        epsilon = 0.5,
        delta = 1e-6,
        accountant = name,
        event = function(s)
          asked = asked + 1
          return event.repeated(event.gaussian { sigma = s, sensitivity = 1 }, 30)
        end,
      }
      assert.is_true(asked <= 30)
      assert.is_true(epsilon <= 0.5)
      assert.near(1, sigma / want, 1.1e-6)
    end
  end)

  it("asks slow accountants little, and gains by them", function()
    local function noise(name)
      local asked, steps = 0, 1000
      local sigma, epsilon = calibrate.noise {
        epsilon = 2,
        delta = 1e-5,
        accountant = name,
        event = function(s)
          asked = asked + 1
          return sampled(0.01, s, steps)
        end,
      }
      assert.is_true(asked <= 40 and epsilon <= 2 and epsilon > 2 * (1 - 1e-5))
      return sigma
    end
    assert.is_true(noise "pld" < 0.95 * noise "rdp")
    local sigma = calibrate.noise {
      epsilon = 1,
      delta = 1e-5,
      accountant = "pld",
      event = function(s)
        return event.gaussian { sigma = s, sensitivity = 1 }
      end,
    }
    local exact = calibrate.gaussian { epsilon = 1, delta = 1e-5 }
    assert.is_true(sigma > exact * (1 - 1e-9) and sigma < exact * 1.0001)
    local step = sampled(0.02, 1.5, 1)
    local count, at = calibrate.steps { epsilon = 1, delta = 1e-5, accountant = "pld", event = step }
    assert.is_true(at <= 1 and pn.accountant.pld {}:add(step, count + 1):epsilon(1e-5) > 1)
    assert.is_true(count > calibrate.steps { epsilon = 1, delta = 1e-5, event = step })
  end)

  it("finds the largest rate, the largest parameter and the most steps", function()
    local q, at_q = calibrate.rate {
      epsilon = 2,
      delta = 1e-5,
      event = function(rate)
        return sampled(rate, 1, 1000)
      end,
    }
    assert.is_true(at_q <= 2 and sampled(q * (1 + 2e-6), 1, 1000):epsilon(1e-5) > 2)
    local e = calibrate.epsilon {
      epsilon = 2,
      delta = 1e-5,
      event = function(x)
        return event.repeated(event.exponential { epsilon = x }, 50)
      end,
    }
    assert.near(1, e / calibrate.exponential { epsilon = 2, delta = 1e-5, count = 50 }, 2e-6)
    for _, target in ipairs { 1, 2, 20, 3000 } do
      local step = sampled(0.01, 1, 1)
      local steps, at = calibrate.steps { epsilon = target, delta = 1e-5, event = step }
      assert.equal("integer", math.type(steps))
      assert.equal((event.repeated(step, steps):epsilon(1e-5)), at)
      assert.is_true(at <= target and event.repeated(step, steps + 1):epsilon(1e-5) > target)
    end
    assert.equal(12345, (calibrate.steps { epsilon = 123.45, delta = 0, event = event.pure { epsilon = 0.01 } }))
  end)

  it("gives the whole rate when even that fits", function()
    local q = calibrate.rate {
      epsilon = 9,
      delta = 1e-5,
      event = function(rate)
        return sampled(rate, 3, 1)
      end,
    }
    assert.equal(1, q)
  end)

  it("says what can be reached when the target cannot", function()
    local ok, message = pcall(calibrate.noise, { epsilon = 1e-12, delta = 1e-5, event = function(s)
      return event.repeated(event.gaussian { sigma = s, sensitivity = 1e4 }, 1000)
    end })
    assert.is_false(ok)
    assert.matches("no sigma from 0.0009.* to 1.04858e%+06 reaches epsilon 1e%-12 .*; the least is epsilon 1%.%d+", message)
    local loud = event.gaussian { sigma = 0.1, sensitivity = 1 }
    ok, message = pcall(calibrate.steps, { epsilon = 1, delta = 1e-6, event = loud })
    assert.is_false(ok)
    assert.matches("1 of it cost epsilon 100%.%d+ at delta 1e%-06 already, more than 1", message)
    ok, message = pcall(calibrate.noise, { epsilon = 1, delta = 0, event = sgd })
    assert.is_false(ok)
    assert.matches("no finite epsilon at delta 0 .Gaussian noise never has.; give delta > 0", message)
    local free = event.poisson_sampled { q = 0, event = event.gaussian { sigma = 1, sensitivity = 1 } }
    ok, message = pcall(calibrate.steps, { epsilon = 1, delta = 1e-6, event = free })
    assert.is_false(ok)
    assert.matches("the event costs next to nothing", message)
  end)

  it("hands back the caller's own error value, and refuses what is no event", function()
    local boom, calls = { "boom" }, 0
    local ok, got = pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = function(s)
      calls = calls + 1
      if calls == 3 then
        error(boom)
      end
      return sgd(s)
    end })
    assert.is_false(ok)
    assert.equal(boom, got)
    for _, bad in ipairs { 1, "event", false, {}, pn.accountant.rdp {} } do
      ok, got = pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = function()
        return bad
      end })
      assert.is_false(ok)
      assert.matches("calibrate.noise: the event function must return a pn.event, got %a+ at sigma = 1", got)
      assert.is_false((pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = bad })))
    end
    ok, got = pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = sgd, accountant = "nobody" })
    assert.is_false(ok)
    assert.matches('^calibrate.noise: there is no accountant "nobody"; known are rdp', got)
    ok, got = pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = sgd, accountant = 3 })
    assert.is_false(ok)
    assert.matches('accountant must be a name, as "rdp", got 3', got)
    ok, got = pcall(calibrate.steps, { epsilon = 1, delta = 1e-5, event = sgd })
    assert.is_false(ok)
    assert.matches("event must be a pn.event, got a function", got)
    ok, got = pcall(calibrate.noise, { epsilon = 1, delta = 1, event = sgd })
    assert.is_false(ok)
    assert.matches("delta must be a number from 0 up to but not including 1", got)
  end)

  it("notices a function that does not answer the same twice", function()
    local more = 0
    local ok, message = pcall(calibrate.noise, { epsilon = 1, delta = 1e-5, event = function(s)
      more = more + 1
      return event.gaussian { sigma = s / (1 + 0.01 * more), sensitivity = 1 }
    end })
    assert.is_false(ok)
    assert.matches("changed when it was asked again; the event must depend on sigma alone", message)
  end)

  it("can be asked from inside the function that it calls", function()
    local sigma = calibrate.noise {
      epsilon = 1,
      delta = 1e-5,
      event = function(s)
        local laplace = event.laplace { scale = calibrate.laplace { epsilon = 1 / s }, sensitivity = 1 }
        return event.compose { event.gaussian { sigma = s, sensitivity = 1 }, laplace }
      end,
    }
    assert.is_true(sigma > 3.7)
  end)
end)
