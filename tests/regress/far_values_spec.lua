-- far_values_spec.lua -- values beyond 2^22 standard deviations were cut there, and nobody was told: the mechanisms answered
-- 4194304 for 1e7, and leaves of streams were cut alike.
local pn = require "penumbra"

local far = { 1e7, -3e9, 1e12, 5e6, -1e15, 2e18 }

local function budget() return pn.ledger { epsilon = 1e6, delta = 1e-6, teaching = true } end

describe("a value far beyond the noise", function()
  it("is carried by mechanisms", function()
    for name, m in pairs {
      gaussian = pn.mechanism.gaussian { sigma = 1, sensitivity = 1 },
      exact = pn.mechanism.gaussian { sigma = 1, sensitivity = 1, exact = true },
      laplace = pn.mechanism.laplace { epsilon = 1, sensitivity = 1 },
    } do
      local rng = pn.rng.seeded(3)
      for _, x in ipairs(far) do
        local out = m:release(x, { ledger = budget(), rng = rng })
        assert.is_true(math.abs(out - x) < 60 + math.abs(x) * 0x1p-52, ("%s: %.17g for %.17g"):format(name, out, x))
      end
      assert.matches("clamped", tostring(m), 1, true) -- and it says from where on it is not
    end
  end)

  it("is carried by streams of every kind, and gives way to small ones again", function()
    local C = pn.mat.zeros(12, 12)
    for i = 1, 12 do
      for j = math.max(1, i - 2), i do C:set(i, j, i == j and 2 or 1) end
    end
    for name, more in pairs {
      plain = { factorization = "binary" },
      regenerate = { factorization = "binary", memory = "regenerate" },
      honaker = { factorization = "binary", estimator = "honaker" },
      node = { factorization = "binary", scale = "node", sensitivity = { 1, 2, 3, 1, 1, 1, 2, 1, 1, 1, 1, 1 } },
      doubling = { horizon = false },
      sqrt = { factorization = "sqrt" },
      banded = { factorization = "banded", bands = 3 },
      blt = { factorization = "blt" },
      matrix = { factorization = "matrix", matrix = C },
    } do
      local options = { dim = 2, horizon = 12, sensitivity = 1, sigma = 1, rng = pn.rng.seeded(4) }
      for k, v in pairs(more) do options[k] = v or nil end
      if more.horizon == false then options.sigma, options.rho = nil, 0.5 end
      if more.horizon == false then options.horizon = nil end
      local t, sum, size = pn.tree(options), 0, 0
      local leaves = {}
      for _, x in ipairs(far) do leaves[#leaves + 1] = x end
      for i = #far, 1, -1 do leaves[#leaves + 1] = -far[i] end
      for i, x in ipairs(leaves) do
        sum, size = sum + x, size + math.abs(x)
        local out = t:push { x, 1 }
        assert.is_true(math.abs(out[1] - sum) < 14 * math.sqrt(t:variance(i)) + size * 0x1p-48,
          ("%s: %.17g for %.17g at leaf %d"):format(name, out[1], sum, i))
        assert.is_true(math.abs(out[2] - i) < 14 * math.sqrt(t:variance(i)), name)
      end
    end
  end)

  it("moves no neighbour: the same noise under leaves that are far and leaves that are not", function()
    for _, factorization in ipairs { "binary", "sqrt", "banded", "blt" } do
      local made = function()
        return pn.tree { dim = 1, horizon = 8, sensitivity = 1, sigma = 1, factorization = factorization, rng = pn.rng.seeded(9) }
      end
      local one, two, total = made(), made(), 0
      for i = 1, 8 do
        local leaf = (i % 2 == 0 and -1 or 1) * 2 ^ 23 * i -- whole numbers of steps
        total = total + leaf
        local difference = one:push(leaf)[1] - two:push(0)[1]
        assert.is_true(math.abs(difference - total) < 1e-6, factorization)
      end
    end
  end)

  it("is compared with a threshold that is as far, by the law that is there near 0", function()
    local near
    for _, at in ipairs { 0, 1e7, -1e12, 1e15 } do
      local L, rng = budget(), pn.rng.seeded(5)
      local m = pn.mechanism.sparse_vector { epsilon = 1, sensitivity = 1, threshold = at, answers = 200 }
      local asked = {}
      for i = 1, 400 do asked[i] = at + (i % 2 == 0 and 8 or -8) end -- of few noise scales
      local answers = m:release(asked, { ledger = L, rng = rng })
      local key = {}
      for i, above in ipairs(answers) do key[i] = above and "1" or "0" end
      near = near or table.concat(key)
      assert.equal(near, table.concat(key), tostring(at))
      assert.is_truthy(near:find "01" and near:find "10")
    end
    local far_off = pn.mechanism.sparse_vector { epsilon = 1, sensitivity = 1, threshold = 1e7, answers = 3 }
    local said = far_off:release({ -1e300, 9e6, 2e7, 1e300, -2e15, 1e15, 3 }, { ledger = budget(), rng = pn.rng.seeded(6) })
    assert.same({ false, false, true, true, false, true }, said)
  end)

  it("is refused where it is no number, before anything is paid", function()
    for _, m in ipairs {
      pn.mechanism.gaussian { sigma = 1, sensitivity = 1 },
      pn.mechanism.laplace { scale = 1, sensitivity = 1 },
      pn.mechanism.sparse_vector { epsilon = 1, sensitivity = 1 },
    } do
      local L = budget()
      for _, x in ipairs { 0 / 0, math.huge, -math.huge } do
        local fine, why = pcall(m.release, m, { x }, { ledger = L, rng = pn.rng.seeded(1) })
        assert.is_false(fine)
        assert.matches("NaN or infinity", tostring(why), 1, true)
      end
      assert.equal(0, L.spent)
    end
  end)

  it("is cut where what is printed says so beforehand, and nowhere else", function()
    local function said(object) return tonumber((tostring(object):gsub("%s+", " "):match "beyond %+%-([%d.e+-]+)")) end
    for scale, make in pairs {
      [3] = function() return pn.mechanism.gaussian { sigma = 3, sensitivity = 1 } end,
      [0.25] = function() return pn.mechanism.laplace { scale = 0.25, sensitivity = 1 } end,
    } do
      local edge = said(make())
      assert.is_true(math.abs(edge / (scale * 2 ^ 85) - 1) < 1e-8)
      for x, expected in pairs { [edge * 0.9] = edge * 0.9, [edge * 4] = scale * 2 ^ 85, [-1e300] = -scale * 2 ^ 85 } do
        local out = make():release(x, { ledger = budget(), rng = pn.rng.seeded(2) })
        assert.is_true(math.abs(out / expected - 1) < 1e-12)
      end
    end
    for _, case in ipairs {
      { { horizon = 16, factorization = "binary" }, 2 ^ 84 / 16 },
      { { horizon = 12, factorization = "sqrt" }, 2 ^ 85 },
      { { horizon = 12, factorization = "banded", bands = 3 }, 2 ^ 85 },
      { { horizon = 3, factorization = "binary", scale = "node", sensitivity = { 1, 2, 4 } }, 2 ^ 84 / 3 / 4096 },
      { { horizon = 2, factorization = "matrix", matrix = pn.mat { { 4, 0 }, { 1, 4 } } }, 2 ^ 85 / 4 },
      { { growth = "endless" }, 2 ^ 36 },
    } do
      local options = { dim = 1, sensitivity = 1, sigma = 2, rng = pn.rng.seeded(3) }
      for k, v in pairs(case[1]) do options[k] = v end
      local edge = 2 * case[2]
      local one = pn.tree(options)
      assert.is_true(math.abs(said(one) / edge - 1) < 1e-8, tostring(one))
      options.rng = pn.rng.seeded(3)
      local two = pn.tree(options)
      assert.equal(one:push(edge * 8)[1], two:push(edge)[1]) -- cut
      options.bound, options.rng = edge * 1.01, pn.rng.seeded(3)
      assert.has_error(function() pn.tree(options) end)
      options.bound, options.rng = edge * 0.99, pn.rng.seeded(3)
      assert.is_true(math.abs(pn.tree(options):push(edge * 0.98)[1] / edge - 0.98) < 1e-9)
    end
    local doubling = pn.tree { dim = 1, sensitivity = 1, rho = 1 }
    assert.is_true(math.abs(said(doubling) / (doubling.sigma * 2 ^ 84) - 1) < 1e-8)
    assert.matches("over the leaves of their epoch", (tostring(doubling):gsub("%s+", " ")), 1, true)
    assert.has_error(function() pn.tree { dim = 1, sensitivity = 1, rho = 1, bound = 1e40 } end)
  end)
end)
