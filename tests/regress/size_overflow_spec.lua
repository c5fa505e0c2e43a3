-- size_overflow_spec.lua -- sizes that wrap around when they are added or multiplied.  A product of two sets of 2^63 - 1
-- coordinates each and a third of 4 had dimension 2, and its operations read memory at an offset that a script in the sandbox
-- chose: other people's records.  A hull of two balls of 2^62 coordinates took no memory for its numbers and wrote on what came
-- after.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like

local HUGE = { 2 ^ 31 - 1, 2 ^ 31, 2 ^ 32, 2 ^ 32 + 1, 2 ^ 48 - 1, 2 ^ 48 }
local TOO_LARGE = { (1 << 48) + 1, 1 << 53, 1 << 61, 1 << 62, math.maxinteger - 1, math.maxinteger }

local function whole(n)
  return math.tointeger(n) or n
end

describe("sets of a script's dimensions", function()
  it("are refused above 2^48, whatever they are", function()
    for _, n in ipairs(TOO_LARGE) do
      for _, name in ipairs { "l1_ball", "l2_ball", "linf_ball", "simplex" } do
        refused_like("set." .. name .. ": dim must be at most 2^48, got " .. n, pn.set[name], { dim = n, radius = 1 })
      end
      for _, name in ipairs { "free", "nonnegative", "second_order_cone", "rotated_second_order_cone", "permutahedron" } do
        refused_like("set." .. name .. ": dim must be at most 2^48, got " .. n, pn.set[name], { dim = n })
      end
      refused_like("n must be at most", pn.set.birkhoff, { n = n })
      refused_like("n must be at most", pn.set.spectrahedron, { n = n, radius = 1 })
      refused_like("dim must be at most 2^48", pn.set.custom, { dim = n, project = function(v) return v end })
      refused_like("dim must be at most 2^48", pn.potential.group, { dim = n })
    end
  end)

  it("do not wrap around in a product", function()
    refused_like("dim must be at most 2^48", pn.set.free, { dim = math.maxinteger }) -- two of them and a third of 4 made 2
    local large = pn.set.nonnegative { dim = 1 << 48 }
    refused_like("C:product: the dimensions of both sets, 281474976710656 %+ 3, must be at most 2^48", large.product, large,
      pn.set.nonnegative { dim = 3 })
    refused_like("must be at most 2^48", large.product, large, large)
    local half = pn.set.nonnegative { dim = 1 << 47 }
    local all = half:product(half)
    assert.equal(1 << 48, all.dim)
    refused_like("the set has 281474976710656", all.contains, all, { 1, 2 })
    refused_like("the set has 281474976710656", all.gauge, all, { 1, 2 })
  end)

  it("do not wrap around in a hull, a sum, an intersection, a polar or an image", function()
    refused_like("dim must be at most 2^48", function()
      local ball = pn.set.l2_ball { dim = 1 << 62, radius = 1 }
      return ball:hull(ball)
    end)
    local ball = pn.set.l2_ball { dim = 1 << 48, radius = 1 }
    local shifted = pn.set.l2_ball { dim = 1 << 48, radius = 2 }
    refused_like("must be at most 2^48", ball.hull, ball, shifted)
    refused_like("must be at most 2^48", function() return ball + shifted end)
    refused_like("memory", ball.intersect, ball, shifted)
    refused_like("A is 1 x 1", ball.image, ball, pn.mat { { 1 } })
    assert.equal(1 << 48, ball:polar().dim)
    refused_like("memory", function() return pn.set.simplex { dim = 1 << 48, radius = 1 }:polar() end)
  end)

  it("have operations that look at the length of the vector first", function()
    for _, size in ipairs(HUGE) do
      local n = whole(size)
      for _, set in ipairs { pn.set.l1_ball { dim = n, radius = 1 }, pn.set.l2_ball { dim = n, radius = 1 },
        pn.set.linf_ball { dim = n, radius = 1 }, pn.set.nonnegative { dim = n }, pn.set.simplex { dim = n, radius = 1 },
        pn.set.lp_ball { dim = n, radius = 1, q = 1.5 }, pn.set.group_ball { dim = n, radius = 1, k = 2 },
        pn.set.nuclear_ball { rows = n, cols = 1, radius = 1 } } do
        for _, method in ipairs { "project", "contains", "gauge", "dual_norm" } do
          refused_like("has 2 entries, the set has " .. n, set[method], set, { 1, 2 })
        end
        assert.equal(n, set.dim)
        assert.is_string(tostring(set))
      end
    end
  end)
end)

describe("matrices of a script's shape", function()
  it("do not wrap around when rows and columns are multiplied", function()
    for _, shape in ipairs { { 1 << 32, 1 << 32 }, { 1 << 24, (1 << 24) + 1 }, { 1 << 48, 2 }, { 3, 1 << 47 } } do
      local rows, cols = shape[1], shape[2]
      local wrong = "must be at most 2^48"
      refused_like(wrong, pn.mat.zeros, rows, cols)
      refused_like(wrong, pn.set.nuclear_ball, { rows = rows, cols = cols, radius = 1 })
      refused_like(wrong, pn.set.spectral_ball, { rows = rows, cols = cols, radius = 1 })
      refused_like(wrong, pn.norm.nuclear, { rows = rows, cols = cols })
      refused_like(wrong, pn.norm.spectral, { rows = rows, cols = cols })
      refused_like(wrong, pn.potential.schatten, { rows = rows, cols = cols })
      refused_like(wrong, pn.prox.nuclear, { lambda = 1, rows = rows, cols = cols })
      refused_like(wrong, pn.reg.nuclear, { lambda = 1, rows = rows, cols = cols })
    end
  end)

  it("are no larger than a vector that is folded", function()
    refused_like("do not fill", function() return pn.vec.zeros(4):reshape(1 << 32, 1 << 32) end)
    refused_like("do not fill", function() return pn.vec.zeros(4):reshape(1 << 48, 1 << 48) end)
  end)

  it("are refused when sparse ones have more rows than a size", function()
    for _, n in ipairs(TOO_LARGE) do
      refused_like("sparse: rows must be at most 2^48", pn.sparse, { rows = n, cols = 1, i = { 1 }, j = { 1 }, x = { 1 } })
    end
    refused_like("memory", pn.sparse, { rows = 1 << 48, cols = 1, i = { 1 }, j = { 1 }, x = { 1 } })
    refused_like("columns", pn.sparse, { rows = 1, cols = 1 << 48, i = { 1 }, j = { 1 }, x = { 1 } })
  end)
end)
