-- tiny_compositions_spec.lua -- sets whose squares leave the range of numbers were projected on wrongly, without a word:
-- sums and intersections to points far from the nearest, polars to NaN.
local pn = require "penumbra"

describe("compositions of very small and very large sets", function()
  for _, size in ipairs {1e-300, 1e-160, 1e150, 1e300} do
    it(("refuse what squares cannot measure, at %g"):format(size), function()
      local C, D = size * pn.set.l1_ball{dim = 2}, size * pn.set.linf_ball{dim = 2, radius = 0.7}
      for _, body in ipairs {
        function() return (C + D):project{3 * size, size} end,
        function() return (C + D):polar():project{3, 1} end,
        function() return C:intersect(D):project{3 * size, size} end,
      } do
        local ok, message = pcall(body)
        assert.is_false(ok)
        local told = message:find("range", 1, true) or message:find("1e-120", 1, true)
        assert.truthy(told or message:find("not finite", 1, true), message)
      end
    end)
  end

  it("work from 1e-100 to 1e100", function()
    for _, size in ipairs {1e-100, 1, 1e100} do
      local C, D = size * pn.set.l1_ball{dim = 2}, size * pn.set.linf_ball{dim = 2, radius = 0.7}
      local x = C:intersect(D):project{3 * size, size}
      assert.is_near(0.7, x[1] / size, 1e-9) -- by hand: the corner (0.7, 0.3)
      assert.is_near(0.3, x[2] / size, 1e-9)
      x = (C + D):project{3 * size, size}
      assert.is_near(1.7, x[1] / size, 1e-9) -- the end (1.7, 0.7) of the edge that looks right; (1.85, 0.55) is beyond it
      assert.is_near(0.7, x[2] / size, 1e-9)
    end
  end)
end)
