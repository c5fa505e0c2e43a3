-- second_order_accounting_spec.lua -- what runs of second-order methods cost: second-order.md, section 6 and items 2 and 10.
-- Beside each number stands its formula, evaluated here by sums over grids.
local pn = require "penumbra"
local event, calibrate = pn.event, pn.calibrate
local exp, log, sqrt, pi = math.exp, math.log, math.sqrt, math.pi

local function fixed(batch, n, inner)
  return event.fixed_sampled { batch = batch, n = n, event = inner }
end

local function gaussian(z, neighbours)
  return event.gaussian { sigma = z, sensitivity = 1, neighbours = neighbours }
end

-- ln(1 + int_{1/2}^inf phi_z(x) (r^alpha - 1)(1 - r^(1-alpha)) dx)/(alpha-1), r = 1-q+q exp((2x-1)/(2 z^2)): the midpoint rule
local function fixed_size(q, z, alpha)
  local step, sum = z / 400, 0
  local x = 0.5 + step / 2
  while x < alpha + 14 * z do
    local r = 1 - q + q * exp((2 * x - 1) / (2 * z * z))
    sum = sum + exp(-x * x / (2 * z * z)) * (r ^ alpha - 1) * (1 - r ^ (1 - alpha))
    x = x + step
  end
  return log(1 + sum * step / (z * sqrt(2 * pi))) / (alpha - 1)
end

-- Renyi divergence of (1-q) N(c, z^2 I) + q N(a, z^2 I) from the same with b in place of a, in the plane; a, b and c are the
-- corners of a triangle with sides of length one.
local function triangle(q, z, alpha)
  local corners = { { 0, 0 }, { 1, 0 }, { 0.5, sqrt(3) / 2 } }
  local step, sum = 0.1, 0
  local function density(x, y, corner)
    local dx, dy = x - corners[corner][1], y - corners[corner][2]
    return exp(-(dx * dx + dy * dy) / (2 * z * z))
  end
  for i = -80, 110 do
    for j = -80, 110 do
      local x, y = i * step, j * step
      local common = (1 - q) * density(x, y, 1)
      local p, other = common + q * density(x, y, 2), common + q * density(x, y, 3)
      sum = sum + p * (p / other) ^ (alpha - 1)
    end
  end
  return log(sum * step * step / (2 * pi * z * z)) / (alpha - 1)
end

describe("batches of a fixed size", function()
  it("cost more than the Poisson formula says, where three points are at mutual distance one", function()
    local truth = triangle(0.01, 1, 3)
    local poisson = event.poisson_sampled { q = 0.01, event = gaussian(1, "add_remove") }:rdp(3)
    local charged = fixed(1, 100, gaussian(1)):rdp(3)
    assert.near(2.646e-4, poisson, 5e-8)
    assert.near(3.087e-4, truth, 5e-8)
    assert.near(4.229e-4, charged, 5e-8)
    assert.is_true(poisson < truth and truth < charged)
  end)

  it("never cost less than three points at mutual distance one do", function()
    for _, with in ipairs { { 0.01, 1, 2 }, { 0.1, 1.5, 4 }, { 0.3, 1, 3 }, { 0.02, 0.8, 5 } } do
      local q, z, alpha = table.unpack(with)
      assert.is_true(fixed(math.tointeger(q * 100), 100, gaussian(z)):rdp(alpha) > triangle(q, z, alpha))
    end
  end)

  it("cost what the integral says", function()
    for _, with in ipairs { { 1, 2, 4, 7.8173e-5, 5e-10 }, { 10, 1.5, 8, 0.0410086, 5e-8 } } do
      local batch, z, alpha, want, digits = table.unpack(with)
      local charged = fixed(batch, 100, gaussian(z)):rdp(alpha)
      assert.near(want, charged, digits)
      assert.near(1, charged / fixed_size(batch / 100, z, alpha), 1e-5)
    end
  end)
end)

describe("a search on a batch", function()
  it("is of epsilon' = ln(1 + q (e^epsilon - 1)), and costs no more than min(alpha epsilon'^2/2, epsilon')", function()
    for _, lambda in ipairs { 0.5, 2.0333, 277.8 } do
      local search = fixed(1, 100, event.sparse_vector { epsilon = 1 / lambda })
      local epsilon = log(1 + 0.01 * (exp(1 / lambda) - 1))
      assert.near(1, search:rdp(math.huge) / epsilon, 1e-9)
      assert.near(1, search.rho / (epsilon * epsilon / 2), 1e-9)
      for _, alpha in ipairs { 1.5, 10, 100, 1e4 } do
        assert.is_true(search:rdp(alpha) <= math.min(alpha * epsilon * epsilon / 2, epsilon) * (1 + 1e-9))
      end
    end
  end)
end)

describe("iterations of a second-order method on batches", function()
  local function run(z, search)
    local query = fixed(1, 100, gaussian(z))
    local parts = { query, query, search and fixed(1, 100, event.sparse_vector { epsilon = 1 / z }) or nil }
    return event.repeated(event.compose(parts), 421)
  end

  it("get the multipliers of the specification, within 1% and below", function()
    for _, with in ipairs { { 1, false, 1.7277 }, { 1, true, 2.0333 }, { 0.2, false, 6.3805 } } do
      local epsilon, search, want = table.unpack(with)
      local z = calibrate.noise {
        epsilon = epsilon,
        delta = 1e-6,
        event = function(s)
          return run(s, search)
        end,
      }
      assert.near(want, z, 0.01 * want)
      assert.is_true(z < want)
      assert.is_true((run(want, search):epsilon(1e-6)) > 0.99 * epsilon)
    end
  end)

  -- All Gaussian releases on all records, by comparison: no amplification, and rho is the sum.
  it("on all records cost the rho of the specification at its sigma", function()
    local rho = (sqrt(1 + log(581012)) - sqrt(log(581012))) ^ 2
    assert.near(1.815806e-2, rho, 5e-9)
    local whole = event.repeated(gaussian(152.267), 2 * 421)
    assert.near(1, whole.rho / rho, 1e-5)
  end)
end)

describe("the conversion of the experiments", function()
  local delta = 1 / 581012

  it("gives the rho of the specification", function()
    for _, with in ipairs { { 0.2, 7.478123e-4 }, { 0.6, 6.631853e-3 }, { 1, 1.815806e-2 } } do
      local rho = (sqrt(with[1] + log(1 / delta)) - sqrt(log(1 / delta))) ^ 2
      assert.near(1, rho / with[2], 1e-6)
    end
  end)

  it("gives away a third: the optimal conversion allows 1.68, 1.49 and 1.41 times that rho", function()
    for _, with in ipairs { { 0.2, 7.478123e-4, 1.679 }, { 0.6, 6.631853e-3, 1.487 }, { 1, 1.815806e-2, 1.409 } } do
      assert.near(with[3], calibrate.rho { epsilon = with[1], delta = delta } / with[2], 1e-3)
    end
  end)

  it("is far from the exact curve of Gaussian noise, which allows sigma 119.32 where it asks for 152.267 at epsilon 1", function()
    local sigma = calibrate.gaussian { epsilon = 1, delta = delta, sensitivity = sqrt(2 * 421) }
    assert.near(119.32, sigma, 0.01)
    assert.is_true(152.267 / sigma > 1.27)
  end)
end)
