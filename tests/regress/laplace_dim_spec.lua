-- laplace_dim_spec.lua -- a Laplace mechanism whose sampling cost is near its epsilon was searched for without end.
local pn = require "penumbra"

describe("mechanism.laplace", function()
  it("answers or refuses at once, however many values a release has", function()
    for bits = 0, 48 do
      local fine, result = pcall(pn.mechanism.laplace, { epsilon = 1, sensitivity = 1, dim = 1 << bits })
      if fine then
        assert.is_true(result.event:epsilon(0) <= 1, "dim 2^" .. bits)
      else
        assert.matches("mechanism.laplace: no scale on the lattice gives epsilon 1", result, 1, true)
      end
    end
    local fine, message = pcall(pn.mechanism.laplace, { epsilon = 1, sensitivity = 1, dim = math.maxinteger })
    assert.is_false(fine)
    assert.matches("dim must be at most 2^48, got 9223372036854775807", message, 1, true)
  end)
end)
