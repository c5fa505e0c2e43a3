-- calibrate_spec.lua -- the largest privacy parameter that a total allows: what comes back fits, and a little more
-- does not.
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
