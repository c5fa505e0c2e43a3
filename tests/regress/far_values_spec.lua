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
end)
