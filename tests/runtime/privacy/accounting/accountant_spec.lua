-- accountant_spec.lua -- composition and conversion.  Numbers come from accounting.md items 3 and 10, frank-wolfe.md
-- section 3,
-- closed forms, and 30-digit arithmetic (mpmath) with its own search over orders.
local pn = require "penumbra"
local event, accountant = pn.event, pn.accountant
local inf = math.huge

local function mixed(rng)
  local pick = rng:integer(5)
  local x = 0.01 + 0.3 * rng:uniform()
  if pick == 1 then
    return event.exponential { epsilon = x }
  elseif pick == 2 then
    return event.pure { epsilon = x }
  elseif pick == 3 then
    return event.laplace { scale = 1, sensitivity = x }
  elseif pick == 4 then
    return event.gaussian { sigma = 1 / x, sensitivity = 1 }
  end
  return event.zcdp { rho = x * x }
end

describe("conversion to epsilon", function()
  it("shows zCDP rho = 1/2 at delta 1e-5: 4.728387 at order 5.43", function()
    for _, name in ipairs { "zcdp", "rdp" } do
      local epsilon, order = accountant[name] {}:add(event.zcdp { rho = 0.5 }):epsilon(1e-5)
      assert.near(4.72838698494, epsilon, 1e-9) -- mpmath; the specification says 4.728387
      assert.near(5.43, order, 5e-3)
      assert.is_true(epsilon < 0.5 + 2 * math.sqrt(0.5 * math.log(1e5)))
    end
  end)

  it("finds the best real order of composed curves", function()
    local cases = { -- epsilon and order from mpmath
      { event.repeated(event.exponential { epsilon = 0.05 }, 100), 1e-6, 1.135070973, 19.9805820479 },
      { event.repeated(event.pure { epsilon = 0.05 }, 100), 1e-6, 2.36183043728, 11.2472515248 },
      {
        event.compose {
          event.repeated(event.laplace { scale = 5, sensitivity = 1 }, 20),
          event.repeated(event.zcdp { rho = 0.01 }, 10),
        },
        1e-5,
        4.2751832807,
        6.56090897398,
      },
    }
    for _, case in ipairs(cases) do
      local epsilon, order = case[1]:epsilon(case[2])
      assert.near(case[3], epsilon, 2e-10)
      assert.is_true(epsilon >= case[3] - 1e-11)
      assert.near(case[4], order, 2e-3)
    end
  end)

  it("searches beyond both ends of the grid", function()
    local epsilon, order = event.zcdp { rho = 1e-9 }:epsilon(1e-6)
    assert.is_true(order > 1024)
    assert.is_true(epsilon < 1e-3)
    local large, low_order = event.zcdp { rho = 1e5 }:epsilon(1e-6)
    assert.is_true(low_order < 1.1)
    -- the minimum lies below the textbook conversion and above rho - ln(...) > rho
    assert.is_true(large < 1e5 + 2 * math.sqrt(1e5 * math.log(1e6)) and large > 1e5)
  end)

  it("includes pure composition as the order inf", function()
    local epsilon, order = event.pure { epsilon = 0.4 }:epsilon(1e-12)
    assert.equal(0.4, epsilon)
    assert.equal(inf, order)
    assert.equal(0.7, (accountant.rdp {}:add(event.pure { epsilon = 0.35 }, 2):epsilon(0)))
    assert.equal(inf, (accountant.rdp {}:add(event.gaussian { sigma = 1, sensitivity = 1 }):epsilon(0)))
    assert.equal(inf, (accountant.zcdp {}:add(event.pure { epsilon = 1 }):epsilon(0)))
  end)

  it("never exceeds the pure total, and falls with delta", function()
    local rng = pn.rng.seeded(3)
    for _ = 1, 40 do
      local e, k = 0.01 + 2 * rng:uniform(), rng:integer(200)
      local event_k = event.repeated(event.pure { epsilon = e }, k)
      local before = inf
      for _, delta in ipairs { 0, 1e-12, 1e-8, 1e-5, 1e-2, 0.5 } do
        local epsilon = event_k:epsilon(delta)
        assert.is_true(epsilon <= k * e * (1 + 1e-15) and epsilon <= before)
        before = epsilon
      end
    end
  end)

  it("is 0 where delta alone covers the release", function()
    local acc = accountant.zcdp {}:add(event.zcdp { rho = 1e-8 })
    assert.equal(0, (acc:epsilon(0.9)))
    assert.is_true(acc:delta(0) < 0.9)
  end)
end)

describe("an accountant", function()
  it("is the inverse of itself: delta(epsilon(delta)) = delta", function()
    local rng = pn.rng.seeded(4)
    for _, name in ipairs { "rdp", "zcdp" } do
      for _ = 1, 20 do
        local acc = accountant[name] {}
        for _ = 1, 5 do
          acc:add(mixed(rng), rng:integer(20))
        end
        for _, delta in ipairs { 1e-9, 1e-6, 1e-3 } do
          local epsilon, order = acc:epsilon(delta)
          if order < inf then
            assert.near(1, acc:delta(epsilon) / delta, 1e-6)
          end
        end
      end
    end
  end)

  it("gives delta 0 only where composition is pure", function()
    local acc = accountant.rdp {}:add(event.pure { epsilon = 0.5 }, 2)
    assert.equal(0, acc:delta(1))
    assert.is_true(acc:delta(0.999) > 0)
    assert.is_true(accountant.zcdp {}:add(event.pure { epsilon = 0.5 }, 2):delta(1) > 0)
  end)

  it("counts k times as k additions, to the last bit", function()
    for _, name in ipairs { "rdp", "zcdp" } do
      local e = event.exponential { epsilon = 0.1 }
      local once, many = accountant[name] {}:add(e, 1000), accountant[name] {}
      for _ = 1, 1000 do
        many:add(event.exponential { epsilon = 0.1 })
      end
      assert.equal(once:rdp(7.3), many:rdp(7.3))
      assert.equal((once:epsilon(1e-6)), (many:epsilon(1e-6)))
      assert.equal(once.rho, many.rho)
      assert.equal((event.repeated(e, 1000):epsilon(1e-6)), (accountant.rdp {}:add(e, 1000):epsilon(1e-6)))
    end
  end)

  it("does not care about the order or the grouping of what is added", function()
    local rng = pn.rng.seeded(5)
    for _ = 1, 30 do
      local events = {}
      for i = 1, 6 do
        events[i] = { mixed(rng), rng:integer(50) }
      end
      local forward, backward = accountant.rdp {}, accountant.rdp {}
      for i = 1, 6 do
        forward:add(events[i][1], events[i][2])
        local e, count = events[7 - i][1], events[7 - i][2]
        backward:add(event.repeated(e, count)):add(e):add(e, count)
      end
      for i = 1, 6 do
        local e, count = events[i][1], events[i][2]
        forward:add(e, count + 1)
      end
      assert.equal(forward:rdp(3.7), backward:rdp(3.7))
      assert.equal(forward.rho, backward.rho)
      assert.equal((forward:epsilon(1e-6)), (backward:epsilon(1e-6)))
    end
  end)

  it("is never beaten by zCDP when it sees the whole curve", function()
    local rng = pn.rng.seeded(6)
    for _ = 1, 40 do
      local rdp, zcdp = accountant.rdp {}, accountant.zcdp {}
      for _ = 1, 4 do
        local e, k = mixed(rng), rng:integer(30)
        rdp:add(e, k)
        zcdp:add(e, k)
      end
      assert.is_true(rdp:epsilon(1e-6) <= zcdp:epsilon(1e-6) * (1 + 1e-12))
      assert.is_true(rdp:rdp(4) <= zcdp:rdp(4) * (1 + 1e-12))
      assert.equal(rdp.rho, zcdp.rho)
    end
  end)

  it("shows that the paper's Frank-Wolfe noise for epsilon 1 is only 1.797 by zCDP", function()
    -- frank-wolfe.md section 3: T = 100, delta = 1e-6: eps0 = 4/sqrt(8 T ln(1/delta)) = 0.0380
    local eps0 = 4 / math.sqrt(8 * 100 * math.log(1e6))
    local selection = event.report_noisy_max { scale = 2 / eps0, sensitivity = 1 }
    assert.near(0.0380, eps0, 5e-5)
    assert.near(1.797, (accountant.zcdp {}:add(selection, 100):epsilon(1e-6)), 5e-4)
    assert.is_true(accountant.rdp {}:add(selection, 100):epsilon(1e-6) > 1)
  end)

  it("refuses to add different neighbouring relations, and stays as it was", function()
    for _, name in ipairs { "rdp", "zcdp" } do
      local acc = accountant[name] {}:add(event.pure { epsilon = 1 })
      assert.error_matches(function()
        acc:add(event.pure { epsilon = 1, neighbours = "zero_out" })
      end, '"zero_out".*"replace_one"')
      assert.equal(0.5, acc.rho)
      assert.equal("replace_one", acc.neighbours)
    end
  end)
end)

describe("noise as drawn", function()
  it("is charged by every accountant: its slack and its cut", function()
    -- 2^48 draws at mu = 1: 2 Q(12) each; 2^48 exp(30) 2^-125 would be more.
    local e = pn.event.gaussian { sigma = 1, sensitivity = 1, draws = 2 ^ 48 }
    for _, name in ipairs { "rdp", "zcdp", "pld" } do
      local acc = pn.accountant[name]():add(e)
      assert.is_true(acc:delta(30) >= 2 ^ 48 * 3.552964e-33, name)
      assert.is_true(acc:delta(30) <= 2 ^ 48 * 3.6e-33, name)
    end
  end)
end)
