-- event_sampled_spec.lua -- sampled events and sparse vector: which combinations have a proof, what they cost, what the
-- others say.  Numbers come from accounting.md items 1, 2, 6 and 10, and from closed forms.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like
local event, accountant = pn.event, pn.accountant
local inf = math.huge

local function gaussian(sigma, neighbours)
  return event.gaussian { sigma = sigma, sensitivity = 1, neighbours = neighbours }
end

local function poisson(q, inner)
  return event.poisson_sampled { q = q, event = inner }
end

local function fixed(batch, n, inner)
  return event.fixed_sampled { batch = batch, n = n, event = inner }
end

-- The specification converts on a grid of orders; searching all of them gives a little less.
local function on_the_grid(step, count, delta)
  local best = inf
  for i = 1, 152 do
    local alpha = i < 100 and 1 + i / 10 or i - 89
    local penalty = math.log(1 - 1 / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)
    best = math.min(best, count * step:rdp(alpha) + penalty)
  end
  return best
end

describe("sampled Gaussian noise", function()
  it("shows the numbers of the specification for each scheme and relation", function()
    local three = {
      poisson(0.01, gaussian(1.5, "add_remove")),
      fixed(1, 100, gaussian(1.5)),
      poisson(0.01, gaussian(1.5)),
    }
    local numbers = {
      { 5.596077e-5, 9.890338e-5, 2.331682e-4, 0.53177856 },
      { 8.295114e-5, 1.4524265e-4, 3.3324826e-4, 0.53177856 },
      { 1.8243518e-4, 3.1937763e-4, 7.3188356e-4, 0.54182861 },
    }
    for i, e in ipairs(three) do
      for k, alpha in ipairs { 2, 3.5, 8, 24 } do
        assert.near(1, e:rdp(alpha) / numbers[i][k], 1e-6)
      end
    end
    assert.equal(three[1]:rdp(3.5), poisson(0.01, gaussian(1.5, "zero_out")):rdp(3.5))
    assert.near(0.82820, on_the_grid(three[2], 500, 1e-5), 5e-6)
    assert.near(0.82820, (event.repeated(three[2], 500):epsilon(1e-5)), 2e-4)
  end)

  it("costs 10000 steps what the specification says", function()
    local step = poisson(0.01, gaussian(1.1, "add_remove"))
    local epsilon, order = event.repeated(step, 10000):epsilon(1e-5)
    assert.near(5.63199237, on_the_grid(step, 10000, 1e-5), 6e-9)
    assert.near(5.63199237, epsilon, 2e-4)
    assert.is_true(epsilon < 5.63199237)
    assert.near(4.7, order, 0.05)
    assert.equal(epsilon, (accountant.rdp {}:add(step, 10000):epsilon(1e-5)))
    -- item 7: z = 2, T = 1000
    local other = poisson(0.01, gaussian(2, "add_remove"))
    assert.near(0.686185, on_the_grid(other, 1000, 1e-5), 6e-7)
    assert.near(0.686185, (event.repeated(other, 1000):epsilon(1e-5)), 3e-4)
  end)

  it("takes z from sigma and sensitivity alone", function()
    local a = event.fixed_sampled { batch = 3, n = 30, event = event.gaussian { sigma = 6, sensitivity = 4 } }
    local b = fixed(1, 10, gaussian(1.5))
    assert.equal(b:rdp(4.5), a:rdp(4.5))
  end)

  it("costs nothing at rate 0 and the whole release at rate 1", function()
    local g, r = gaussian(2, "add_remove"), gaussian(2)
    assert.equal(0, poisson(0, g):rdp(7))
    assert.equal(0, poisson(0, g):rdp(inf))
    assert.equal(0, poisson(0, g).rho)
    assert.equal(0, (poisson(0, g):epsilon(1e-9)))
    assert.equal(g:rdp(7), poisson(1, g):rdp(7))
    assert.equal(r:rdp(7), fixed(4, 4, r):rdp(7))
    -- replacing one record moves a sum of contributions up to 1 by up to 2
    assert.equal(4 * r:rdp(7), poisson(1, r):rdp(7))
    for _, pair in ipairs { { poisson(1 - 1e-13, g), 1 }, { poisson(1 - 1e-13, r), 4 } } do
      assert.near(pair[2], pair[1]:rdp(7) / g:rdp(7), 1e-9)
    end
  end)

  it("never costs more than unsampled, and rho is that of the unsampled release", function()
    assert.equal(0.125, poisson(0.3, gaussian(2, "zero_out")).rho)
    assert.equal(0.125, fixed(3, 10, gaussian(2)).rho)
    assert.equal(0.5, poisson(0.3, gaussian(2)).rho)
    for _, e in ipairs { poisson(0.3, gaussian(2, "zero_out")), fixed(3, 10, gaussian(2)), poisson(0.3, gaussian(2)) } do
      for _, alpha in ipairs { 1.001, 1.5, 4, 30, 1000 } do
        assert.is_true(e:rdp(alpha) < e.rho * alpha)
      end
      assert.is_true(e:rdp(60000) > 0.24 * 0.5 * 60000 * 0.99)
      assert.equal(inf, e:rdp(inf))
    end
  end)

  it("falls with noise and delta, grows with rate and steps, and does not mind the order of composition", function()
    local function cost(q, z, steps, delta)
      return (event.repeated(poisson(q, gaussian(z, "add_remove")), steps):epsilon(delta))
    end
    for _, z in ipairs { 0.7, 1.3, 4 } do
      assert.is_true(cost(0.02, z * 1.01, 100, 1e-6) < cost(0.02, z, 100, 1e-6))
      assert.is_true(cost(0.02, z, 100, 1e-5) < cost(0.02, z, 100, 1e-6))
      assert.is_true(cost(0.021, z, 100, 1e-6) > cost(0.02, z, 100, 1e-6))
      assert.is_true(cost(0.02, z, 101, 1e-6) > cost(0.02, z, 100, 1e-6))
    end
    local a, b = poisson(0.02, gaussian(1, "add_remove")), gaussian(5, "add_remove")
    assert.equal((event.compose { a, b, a }:epsilon(1e-6)), (event.compose { b, a, a }:epsilon(1e-6)))
  end)

  it("has an infinite epsilon at delta 0", function()
    local epsilon, order = fixed(1, 10, gaussian(1)):epsilon(0)
    assert.equal(inf, epsilon)
    assert.equal(0, order)
  end)

  it("takes the neighbours of the event inside, and says what it is made of", function()
    local e = poisson(0.01, gaussian(1.1, "zero_out"))
    assert.equal("zero_out", e.neighbours)
    assert.equal("poisson_sampled", e.name)
    assert.equal("poisson_sampled(q=0.01, event=gaussian(sigma=1.1, sensitivity=1)), zero_out", tostring(e))
    assert.equal(
      "fixed_sampled(batch=2, n=9, event=gaussian(sigma=3, sensitivity=1)), replace_one",
      tostring(fixed(2, 9, gaussian(3)))
    )
    local e2 = event.poisson_sampled { q = 0.5, event = gaussian(1, "zero_out"), neighbours = "zero_out" }
    assert.equal("zero_out", e2.neighbours)
  end)

  it("keeps the event inside alive", function()
    local e = poisson(0.01, gaussian(1.1, "zero_out"))
    local before = e:rdp(3)
    collectgarbage()
    collectgarbage()
    assert.equal(before, e:rdp(3))
  end)
end)

describe("sampled pure mechanisms", function()
  local function amplified(e, q)
    return math.log(1 + q * (math.exp(e) - 1))
  end

  it("have epsilon ln(1 + q(e^epsilon - 1))", function()
    local inner = {
      event.pure { epsilon = 0.7, neighbours = "add_remove" },
      event.laplace { scale = 2, sensitivity = 1.4, neighbours = "add_remove" },
      event.exponential { epsilon = 0.7, neighbours = "add_remove" },
      event.report_noisy_max { scale = 2, sensitivity = 0.7, neighbours = "add_remove" },
      event.sparse_vector { epsilon = 0.7, answers = 3, neighbours = "add_remove" },
    }
    for _, e in ipairs(inner) do
      for _, q in ipairs { 1e-6, 0.01, 0.5, 0.99 } do
        assert.near(1, poisson(q, e):rdp(inf) / amplified(0.7, q), 1e-8)
        assert.is_true(poisson(q, e):rdp(2) <= event.pure { epsilon = amplified(0.7, q) * (1 + 1e-8) }:rdp(2))
        assert.is_true(poisson(q, e):rdp(2) <= e:rdp(2))
        assert.is_true(poisson(q, e).rho <= e.rho)
      end
      assert.equal(0, poisson(0, e):rdp(inf))
      assert.equal(e:rdp(2), poisson(1, e):rdp(2))
    end
    local batch = fixed(1, 10, event.pure { epsilon = 0.7 })
    assert.near(amplified(0.7, 0.1), batch:rdp(inf), 1e-14)
    assert.near(800 + math.log(0.1), fixed(1, 10, event.pure { epsilon = 800 }):rdp(inf), 1e-10)
  end)

  it("are not amplified by more than enumeration of a coin allows", function()
    -- one record, randomised response with e, included with probability q, else a fair coin: both directions
    local e, q = 1.2, 0.3
    local yes = math.exp(e) / (1 + math.exp(e))
    local with, without = q * yes + (1 - q) * (1 - yes), 1 - yes
    local bound = poisson(q, event.pure { epsilon = e, neighbours = "add_remove" }):rdp(inf)
    assert.near(math.log(with / without), bound, 1e-12) -- attained
  end)
end)

describe("a sampled event without a proof", function()
  local g, r = gaussian(1, "add_remove"), gaussian(1)

  it("is refused when the relations do not fit", function()
    local make, batch = event.poisson_sampled, event.fixed_sampled
    refused_like('inner event is for "replace_one".*"add_remove"', make, { q = 0.1, event = r, neighbours = "add_remove" })
    refused_like('has a proof for "replace_one" neighbours only, got "add_remove"', batch, { batch = 1, n = 2, event = g })
    refused_like('"replace_one" neighbours only, got "zero_out"', fixed, 1, 2, gaussian(1, "zero_out"))
    refused_like('inner pure has a proof for "add_remove" and "zero_out"', poisson, 0.1, event.pure { epsilon = 1 })
    refused_like('inner laplace .* got "replace_one"', poisson, 0.1, event.laplace { scale = 1, sensitivity = 1 })
  end)

  it("is refused for composed, sampled and declared events", function()
    refused_like("no proof for an inner repeated; sample each release anew", poisson, 0.1, event.repeated(g, 2))
    refused_like("no proof for an inner compose; sample each", fixed, 1, 2, event.compose { r, r })
    refused_like("no proof for an inner poisson_sampled; give the mechanism itself", poisson, 0.1, poisson(0.1, g))
    refused_like("no proof for an inner zcdp; amplification by sampling is known for gaussian", fixed, 1, 2, event.zcdp { rho = 1 })
    refused_like("no proof for an inner rdp", fixed, 1, 2, event.rdp { alpha = 2, epsilon = 1 })
  end)

  it("is refused for draws with replacement, which have no event", function()
    refused_like("batch must be at most n = 3, got 4 .draws with replacement have no event", fixed, 4, 3, r)
    assert.is_nil(rawget(event, "with_replacement"))
  end)

  it("is refused for parameters outside their ranges", function()
    for _, q in ipairs { -0.1, 1.1, inf, -inf, 0 / 0 } do
      refused_like("q must be a number from 0 to 1, got", poisson, q, g)
    end
    refused_like("q is missing", event.poisson_sampled, { event = g })
    refused_like("event is missing", event.poisson_sampled, { q = 0.1 })
    refused_like("event must be a pn.event, got 3", event.poisson_sampled, { q = 0.1, event = 3 })
    for _, bad in ipairs { 0, -1, 1.5, "2" } do
      refused_like("batch must be a whole number from 1", fixed, bad, 10, r)
      refused_like("n must be a whole number from 1", fixed, 1, bad, r)
    end
    refused_like("unknown option 'rate'; it takes q, event, neighbours", event.poisson_sampled, { rate = 1, event = g })
    for _, bad in ipairs { 0, -1, inf, 0 / 0 } do
      refused_like("sigma must be a positive number", event.gaussian, { sigma = bad, sensitivity = 1 })
      refused_like("sensitivity must be a positive number", event.gaussian, { sigma = 1, sensitivity = bad })
      refused_like("epsilon must be a positive number", event.sparse_vector, { epsilon = bad })
    end
    refused_like("answers must be a whole number from 1", event.sparse_vector, { epsilon = 1, answers = 0 })
  end)
end)

describe("a run of sparse vector", function()
  it("is one pure release, whatever it answers", function()
    local e = event.sparse_vector { epsilon = 0.6, answers = 20 }
    for _, alpha in ipairs { 1.5, 3, 40, inf } do
      assert.equal(event.pure { epsilon = 0.6 }:rdp(alpha), e:rdp(alpha))
    end
    assert.equal(0.18, e.rho)
    assert.equal("sparse_vector(epsilon=0.6, answers=20), replace_one", tostring(e))
  end)
end)

describe("one noise on a batch and on all records", function()
  local function both(options)
    local all = { batch = 20, n = 10000, sigma = 0.445, sampled_sensitivity = 0.2, whole_sensitivity = 2e-4 }
    for key, value in pairs(options or {}) do
      all[key] = value
    end
    return event.fixed_sampled_and_whole(all)
  end

  it("costs more than either release alone and less than both together unsampled", function()
    local e, whole = both(), event.gaussian { sigma = 0.445, sensitivity = 2e-4 }
    local sampled = fixed(20, 10000, event.gaussian { sigma = 0.445, sensitivity = 0.2 })
    for _, alpha in ipairs { 1.5, 4, 20, 300 } do
      assert.is_true(e:rdp(alpha) > sampled:rdp(alpha))
      assert.is_true(e:rdp(alpha) > whole:rdp(alpha))
      assert.is_true(e:rdp(alpha) < e.rho * alpha)
    end
    assert.near(0.5 * (0.2002 / 0.445) ^ 2, e.rho, 1e-12)
    assert.equal(inf, (e:epsilon(0)))
  end)

  it("makes the noise of a printed variance-reduced run that of the specification", function()
    local sigma, epsilon = pn.calibrate.noise {
      epsilon = 1,
      delta = 1e-6,
      event = function(s)
        return event.repeated(both { sigma = s }, 19210)
      end,
    }
    assert.near(1, sigma / 0.4509, 0.03)
    assert.is_true(epsilon <= 1 and epsilon > 1 - 1e-5)
  end)

  it("says what it is, and for whom it has a proof", function()
    assert.equal(
      "fixed_sampled_and_whole(batch=20, n=10000, sigma=0.445, sampled_sensitivity=0.2, whole_sensitivity=0.0002, "
        .. "draws=5), replace_one",
      (tostring(both { draws = 5 }):gsub("%s+", " "))
    )
    refused_like('"replace_one" neighbours only, got "zero_out"', both, { neighbours = "zero_out" })
    refused_like("batch must be at most n = 10000, got 10001", both, { batch = 10001 })
    refused_like("no proof for an inner fixed_sampled_and_whole", fixed, 1, 2, both())
    refused_like("use accountant.rdp", function()
      accountant.pld {}:add(both())
    end)
  end)
end)

describe("an (epsilon, delta) mechanism", function()
  local function run(epsilon, delta)
    return event.approximate { epsilon = epsilon, delta = delta }
  end

  it("fits a budget of just its epsilon and delta, also from a file", function()
    local path = os.tmpname()
    os.remove(path)
    for _, part in ipairs { 1, 0.99, 0.7, 0.3, 1e-4, 1e-12 } do
      do
        local L <close> = pn.ledger { path = path, epsilon = 1, delta = 1e-6 }
        L:spend(run(1, part * 1e-6), "run")
        assert.is_true(L.spent > 0.99 and L.spent <= 1)
      end
      local L <close> = pn.ledger { path = path }
      assert.is_true(L.spent > 0.99 and L.spent <= 1)
      assert.is_false((pcall(L.spend, L, run(0.02, 1e-9), "more")))
      assert.equal(1, #L:report())
      L:close()
      for _, suffix in ipairs { "", ".key", ".head" } do
        os.remove(path .. suffix)
      end
    end
  end)

  it("leaves the rest of delta to other events, unless it takes all", function()
    local L = pn.ledger { epsilon = 3, delta = 1e-6 }
    L:spend(run(1, 0.5e-6), "run")
    L:spend(gaussian(20), "noise")
    assert.is_true(L.spent > 1 and L.spent < 1.4)
    local full = pn.ledger { epsilon = 3, delta = 1e-6 }
    full:spend(run(1, 1e-6), "run")
    full:spend(event.pure { epsilon = 2 }, "count")
    assert.equal(3, full.spent)
    refused_like("Requested", full.spend, full, gaussian(1000), "noise")
  end)

  it("is named when a budget has no place for its delta", function()
    local L = pn.ledger { rho = 1 }
    refused_like("takes delta 1e%-06, and a budget of rho has none", L.spend, L, run(0.1, 1e-6))
    assert.equal(0, L.spent)
    assert.equal(inf, run(0.1, 1e-6).rho)
    assert.equal("approximate(epsilon=0.1, delta=1e-06), replace_one", tostring(run(0.1, 1e-6)))
    refused_like("delta must be", event.approximate, { epsilon = 1, delta = 0 })
  end)
end)
