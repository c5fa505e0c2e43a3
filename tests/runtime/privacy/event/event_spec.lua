-- event_spec.lua -- the Renyi and zCDP curves of events.  Numbers come from accounting.md section 9, item 5, from
-- closed forms, and from 60-digit arithmetic (mpmath) where it says so.
local pn = require "penumbra"
local event = pn.event
local inf = math.huge

-- The textbook forms, good for moderate e and alpha only.
local naive = {}

function naive.pure(e, a)
  return math.log((math.exp(a * e) + math.exp((1 - a) * e)) / (1 + math.exp(e))) / (a - 1)
end

function naive.laplace(e, a)
  return math.log(a / (2 * a - 1) * math.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * math.exp(-a * e)) / (a - 1)
end

-- The supremum over t by golden section, not by the closed form of the worst point.
function naive.exponential(e, a)
  local function at(t)
    local w = (1 - math.exp(t - e)) / (math.exp(t) - math.exp(t - e))
    return math.log(w * math.exp(a * t) + (1 - w) * math.exp(a * (t - e))) / (a - 1)
  end
  local lo, hi, g = 0, e, (math.sqrt(5) - 1) / 2
  for _ = 1, 90 do
    local left, right = hi - g * (hi - lo), lo + g * (hi - lo)
    if at(left) > at(right) then
      hi = right
    else
      lo = left
    end
  end
  return at((lo + hi) / 2)
end

local function make(kind, e)
  if kind == "laplace" then
    return event.laplace { scale = 1, sensitivity = e }
  end
  return event[kind] { epsilon = e }
end

local function near(expected, got, relative)
  local ok = expected == got or math.abs(got - expected) <= relative * math.abs(expected)
  assert(ok, ("expected %.17g, got %.17g"):format(expected, got))
end

describe("events", function()
  it("shows the nine numbers of the specification at e = 1", function()
    local rows = {
      laplace = { 0.619123630, 0.813689297, 0.955906768 },
      pure = { 0.735325664, 0.895883260, 0.979115888 },
      exponential = { 0.240229014, 0.429533441, 0.781200760 },
    }
    for kind, row in pairs(rows) do
      for i, alpha in ipairs { 2, 4, 16 } do
        assert.near(row[i], make(kind, 1):rdp(alpha), 1.001e-9)
      end
    end
  end)

  it("keeps every digit for tiny, large and extreme parameters", function()
    -- e, alpha, pure, laplace, exponential: mpmath with 60 digits, the last by golden section
    local rows = {
      { 1e-7, 1.5, 7.49999999999998e-15, 7.49999975e-15, 1.875e-15 },
      { 1e-7, 1e6, 4.99168882993562e-9, 4.99168866393294e-9, 1.24982642763337e-9 },
      { 0.001, 1.0009765625, 5.00488239461108e-7, 5.00321493440459e-7, 1.25122068572995e-7 },
      { 0.03, 40, 0.0149001604851419, 0.014786103110023, 0.00441484531184792 },
      { 2.5, 1.0009765625, 2.1215636776175, 1.58306484753963, 0.722275850641248 },
      { 3, 1.1, 2.78369741434466, 2.154695178123, 1.09653426786312 },
      { 7.5, 6.25, 7.49989467971898, 7.38385417683412, 6.9766888554513 },
      { 0.5, 65536, 0.499992766048918, 0.499989423368412, 0.499829746011597 },
      { 300, 1.25, 300.0, 299.270713772824, 297.497987882309 },
      { 800, 1024, 800.0, 799.999322914193, 799.992247328089 },
    }
    for _, row in ipairs(rows) do
      for i, kind in ipairs { "pure", "laplace", "exponential" } do
        near(row[2 + i], make(kind, row[1]):rdp(row[2]), 4e-12)
      end
    end
  end)

  it("agrees with the textbook forms at random parameters and never lies below them", function()
    local rng = pn.rng.seeded(7)
    for _ = 1, 300 do
      local e, alpha = 0.05 + 5 * rng:uniform(), 1.05 + 40 * rng:uniform() ^ 2
      for _, kind in ipairs { "pure", "laplace", "exponential" } do
        local want, got = naive[kind](e, alpha), make(kind, e):rdp(alpha)
        near(want, got, 1e-9)
        assert.is_true(got >= want * (1 - 1e-10))
      end
    end
  end)

  it("orders the curves: bounded range, Laplace, pure, and their caps", function()
    local rng = pn.rng.seeded(8)
    for _ = 1, 300 do
      local e, alpha = 10 ^ (6 * rng:uniform() - 4), 1 + 10 ^ (7 * rng:uniform() - 3)
      local range, laplace, pure =
        make("exponential", e):rdp(alpha), make("laplace", e):rdp(alpha), make("pure", e):rdp(alpha)
      assert.is_true(range <= math.min(alpha * e * e / 8, e))
      assert.is_true(pure <= math.min(alpha * e * e / 2, e))
      assert.is_true(range <= laplace * (1 + 2e-12) and laplace <= pure * (1 + 2e-12))
      assert.is_true(range > 0)
    end
  end)

  it("grows with the order and with epsilon", function()
    for _, kind in ipairs { "pure", "laplace", "exponential" } do
      local before = 0
      for _, alpha in ipairs { 1.001, 1.1, 1.5, 2, 4, 8, 16, 39, 41, 100, 1e4, inf } do
        local now = make(kind, 1):rdp(alpha)
        assert.is_true(now > before)
        before = now
      end
      before = 0
      for e = 0.1, 30, 0.7 do
        local now = make(kind, e):rdp(3)
        assert.is_true(now > before)
        before = now
      end
    end
  end)

  it("gives pure mechanisms their epsilon at the order inf, and the others none", function()
    assert.equal(0.3, event.pure { epsilon = 0.3 }:rdp(inf))
    assert.equal(0.3, event.exponential { epsilon = 0.3 }:rdp(inf))
    assert.equal(0.5, event.laplace { scale = 2, sensitivity = 1 }:rdp(inf))
    assert.equal(1.0, event.report_noisy_max { scale = 2, sensitivity = 1 }:rdp(inf))
    assert.equal(inf, event.gaussian { sigma = 1, sensitivity = 1 }:rdp(inf))
    assert.equal(inf, event.zcdp { rho = 1 }:rdp(inf))
  end)

  it("charges report noisy max as Laplace noise with e = 2 sensitivity/scale, never as bounded range", function()
    local noisy = event.report_noisy_max { scale = 4, sensitivity = 1 }
    local laplace = event.laplace { scale = 2, sensitivity = 1 }
    for _, alpha in ipairs { 1.5, 3, 30 } do
      assert.equal(laplace:rdp(alpha), noisy:rdp(alpha))
    end
    assert.equal(0.125, noisy.rho)
    assert.is_true(noisy:rdp(2) > 3 * event.exponential { epsilon = 0.5 }:rdp(2))
  end)

  it("knows rho: e^2/8, e^2/2, (sensitivity/sigma)^2/2", function()
    assert.equal(0.125, event.exponential { epsilon = 1 }.rho)
    assert.equal(0.5, event.pure { epsilon = 1 }.rho)
    assert.equal(0.125, event.laplace { scale = 2, sensitivity = 1 }.rho)
    assert.equal(0.125, event.gaussian { sigma = 2, sensitivity = 1 }.rho)
    assert.equal(0.7, event.zcdp { rho = 0.7 }.rho)
    assert.equal(inf, event.rdp { alpha = 4, epsilon = 1 }.rho)
  end)

  it("charges a Gaussian alpha/(2 z^2) and a declared order up to that order only", function()
    assert.near(3 / (2 * 25), event.gaussian { sigma = 10, sensitivity = 2 }:rdp(3), 1e-16)
    local declared = event.rdp { alpha = 4, epsilon = 0.3 }
    assert.equal(0.3, declared:rdp(4))
    assert.equal(0.3, declared:rdp(1.5))
    assert.equal(inf, declared:rdp(4.5))
  end)
end)

describe("composed events", function()
  local a, b = event.exponential { epsilon = 0.1 }, event.gaussian { sigma = 3, sensitivity = 1 }

  it("add their curves, exactly whatever the nesting", function()
    local flat = event.compose { a, a, a, b, b, b }
    local nested = event.repeated(event.compose { a, b }, 3)
    for _, alpha in ipairs { 1.3, 2, 17, 300 } do
      near(3 * a:rdp(alpha) + 3 * b:rdp(alpha), flat:rdp(alpha), 1e-15)
      assert.equal(flat:rdp(alpha), nested:rdp(alpha))
    end
    assert.equal(flat.rho, nested.rho)
    assert.equal(inf, flat:rdp(inf))
    assert.equal(1.0, event.repeated(a, 10):rdp(inf))
    assert.equal(1.0, event.compose { a, a, a, a, a, a, a, a, a, a }:rdp(inf))
  end)

  it("refuse different neighbouring relations and name both", function()
    local other = event.pure { epsilon = 1, neighbours = "add_remove" }
    assert.error_matches(function()
      event.compose { a, other }
    end, '"replace_one".*event 2.*"add_remove"')
    assert.equal("add_remove", event.repeated(other, 2).neighbours)
  end)

  it("can be nested ten thousand deep", function()
    local deep = a
    for _ = 1, 10000 do
      deep = event.compose { deep, a }
    end
    assert.near(10001 * a:rdp(2), deep:rdp(2), 1e-12)
  end)

  it("refuse nothing, no count, and counts beyond what can be counted", function()
    assert.has_error(function()
      event.compose {}
    end)
    assert.has_error(function()
      event.repeated(a, 0)
    end)
    assert.error_matches(function()
      event.repeated(event.repeated(a, 1 << 40), 1 << 9)
    end, "must be at most 2^48 times in all")
    assert.error_matches(function()
      event.repeated(a, math.maxinteger)
    end, "at most 2^48")
  end)

  it("print what they are made of", function()
    assert.equal("exponential(epsilon=0.1), replace_one", tostring(a))
    assert.equal("repeated(exponential(epsilon=0.1), 100), replace_one", tostring(event.repeated(a, 100)))
    assert.equal(
      "compose(repeated(exponential(epsilon=0.1), 2), gaussian(sigma=3, sensitivity=1)), replace_one",
      (tostring(event.compose { a, a, b }):gsub("%s+", " "))
    )
    assert.equal("pure(epsilon=0.30000000000000004), replace_one", tostring(event.pure { epsilon = 0.1 + 0.2 }))
    local long = event.compose { a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b }
    assert.is_true(#tostring(long) > 500 and #tostring(long) < 600)
    assert.truthy(tostring(long):find("%.%.%.,%s+replace_one$")) -- and says that it was cut
    assert.truthy(long.words:find "%.%.%.$")
    assert.falsy(tostring(event.compose { a, b }):find("...", 1, true))
  end)
end)
