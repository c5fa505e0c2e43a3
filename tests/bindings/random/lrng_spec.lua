-- lrng_spec.lua -- pn.rng: secure and seeded streams.  Depends on: penumbra.  The seeded constants are from a Python
-- program (hashlib.blake2b, and ChaCha20 written out from RFC 8439): the first word of seed 42 is 0xe6c2ccd5e9c3e6b6.
local pn = require "penumbra"

local function draws(rng, n)
  local out = {}
  for i = 1, n do out[i] = rng:uniform() end
  return out
end

describe("rng", function()
  it("gives the same stream for the same seed", function()
    assert.same(draws(pn.rng.seeded(42), 5), draws(pn.rng.seeded(42), 5))
    assert.are_not.same(draws(pn.rng.seeded(42), 5), draws(pn.rng.seeded(43), 5))
  end)

  it("makes a number from the upper 53 bits of a word", function()
    assert.equal((0xe6c2ccd5e9c3e6b6 >> 11) * 0x1p-53, pn.rng.seeded(42):uniform())
  end)

  it("never repeats a secure stream", function()
    assert.are_not.same(draws(pn.rng.secure(), 4), draws(pn.rng.secure(), 4))
  end)

  it("says which streams protect nobody", function()
    assert.is_true(pn.rng.seeded(1).simulated)
    assert.is_true(pn.rng.seeded(1):split(2).simulated)
    assert.is_false(pn.rng.secure().simulated)
    assert.is_false(pn.rng.secure():split(2).simulated)
    assert.matches("no privacy", tostring(pn.rng.seeded(1)), 1, true)
    assert.matches("secure", tostring(pn.rng.secure()), 1, true)
  end)

  it("takes negative seeds and floats that are whole", function()
    assert.equal(pn.rng.seeded(7):uniform(), pn.rng.seeded(7.0):uniform())
    assert.are_not.equal(pn.rng.seeded(-7):uniform(), pn.rng.seeded(7):uniform())
  end)

  it("splits a seeded stream by name, whatever has been drawn", function()
    local a, b = pn.rng.seeded(5), pn.rng.seeded(5)
    a:uniform()
    assert.same(draws(a:split(3), 4), draws(b:split(3), 4))
    assert.are_not.same(draws(b:split(3), 4), draws(b:split(4), 4))
    assert.are_not.same(draws(b:split(3), 4), draws(pn.rng.seeded(3), 4))
  end)

  it("splits a secure stream into new ones every time", function()
    local rng = pn.rng.secure()
    assert.are_not.same(draws(rng:split(1), 4), draws(rng:split(1), 4))
  end)

  it("draws integers from 1 to n and permutations of them", function()
    local rng, seen = pn.rng.seeded(9), {}
    -- one of the three is missing with probability 3 (2/3)^200 < 1e-34
    for _ = 1, 200 do seen[rng:integer(3)] = true end
    assert.same({ true, true, true }, seen)
    assert.equal(1, rng:integer(1))
    local far = 0
    for _ = 1, 64 do far = math.max(far, rng:integer(math.maxinteger)) end
    assert.is_true(far > 1 << 60) -- n is no size: it is not capped as one (missed once in 2^192)
    local order = rng:permutation(50)
    table.sort(order)
    for i = 1, 50 do assert.equal(i, order[i]) end
    assert.is_nil(order[51])
  end)

  it("draws directions of length 1, points inside the ball, and each from its seed", function()
    local rng = pn.rng.seeded(10)
    local u, again = rng:sphere(7), pn.rng.seeded(10):sphere(7)
    local square, inner = 0, 0
    for i = 1, 7 do square = square + u[i] ^ 2 end
    assert.is_true(math.abs(square - 1) < 1e-14)
    assert.is_true(u == again)
    local x = rng:ball(3)
    for i = 1, 3 do inner = inner + x[i] ^ 2 end
    assert.is_true(inner <= 1 and inner > 0)
    assert.equal(1, math.abs(rng:sphere(1)[1]))
  end)

  local refusals = {
    { "a sphere without coordinates", function() pn.rng.seeded(1):sphere(0) end,
      "rng:sphere: n must be a whole number from 1, got 0" },
    { "a ball of a negative dimension", function() pn.rng.seeded(1):ball(-2) end,
      "rng:ball: n must be a whole number from 1, got -2" },
    { "a sphere of no size", function() pn.rng.seeded(1):sphere(1 << 60) end,
      "rng:sphere: n must be at most 2^48, got 1152921504606846976" },
    { "a seed that is not a whole number", function() pn.rng.seeded(1.5) end,
      "rng.seeded: the seed must be a whole number, got 1.5" },
    { "a seed in a string", function() pn.rng.seeded("42") end,
      'rng.seeded: the seed must be a whole number, got the string "42"' },
    { "a missing seed", function() pn.rng.seeded() end, "rng.seeded: the seed must be a whole number, got nothing" },
    { "an integer below nothing", function() pn.rng.seeded(1):integer(0) end,
      "rng:integer: n must be a whole number from 1, got 0" },
    { "a permutation of half a thing", function() pn.rng.seeded(1):permutation(0.5) end,
      "rng:permutation: n must be a whole number from 1, got 0.5" },
    { "a permutation that would not fit", function() pn.rng.seeded(1):permutation(2 ^ 40 // 1 | 0) end,
      "rng:permutation: n must be at most 2^30, got 1099511627776" },
    { "an unknown field", function() return pn.rng.seeded(1).seed end, "pn.rng has no field 'seed'" },
    { "assignment", function() pn.rng.seeded(1).simulated = false end, "cannot be changed" },
    { "a stream that is closed", function()
      local kept
      do
        local rng <close> = pn.rng.secure()
        kept = rng
      end
      return kept.simulated
    end, "closed" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      local ok, message = pcall(case[2])
      assert.is_false(ok)
      assert.matches(case[3], message, 1, true)
    end)
  end
end)
