-- lpotential_spec.lua -- pn.potential from Lua: the rows, formulas, functions of a user's own, and the one that fits a set.
-- Numbers: closed forms beside them, and geometry.md section 4.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function close(a, b, tol)
  assert(math.abs(a - b) <= (tol or 1e-12), ("%.17g is not %.17g"):format(a, b))
end

describe("pn.potential", function()
  it("takes the entropy step over the simplex", function()
    local y = pn.potential.entropy{}:mirror_step({ .25, .25, .25, .25 }, { 3, -1, .5, 2 }, .5, pn.set.simplex{ dim = 4 })
    for j, want in ipairs{ 0.0739201, 0.5461998, 0.2580065, 0.1218736 } do close(y[j], want, 5e-8) end
  end)

  it("inverts gradients and measures with them", function()
    local P = pn.potential.lp{ q = 1.5 }
    local x = { 0.3, -2, 0, 1 }
    local back = P:inverse_gradient(P:gradient(x))
    for j = 1, 4 do close(back[j], x[j]) end
    close(pn.potential.euclidean{}:bregman({ 1, 2 }, { 4, 6 }), 12.5)
    close(P:bregman(x, x), 0)
    assert.equal(1.0, P.strong_convexity)
    assert.equal("lp", P.name)
    assert.is_nil(P.dim)
    assert.equal(pn.norm.lp(1.5), P.norm)
    assert.equal(pn.norm.l1(), pn.potential.lp{ dim = 20 }.norm)
  end)

  it("fits the set, scaled and shifted too", function()
    local want = {
      { pn.set.simplex{ dim = 5 }, "entropy" }, { pn.set.l1_ball{ dim = 5 } * 3, "signed_entropy" },
      { pn.set.nuclear_ball{ rows = 2, cols = 3 }, "schatten" }, { pn.set.l2_ball{ dim = 5 }, "euclidean" },
      { pn.set.simplex{ dim = 3 } + { 1, 2, 3 }, "entropy" },
      { pn.set.polytope{ vertices = { { 1, 0 }, { 0, 1 }, { -1, -1 } } }, "polytope" },
    }
    for _, case in ipairs(want) do
      local P, why = pn.potential.for_set(case[1])
      assert.equal(case[2], P.name)
      assert(#why > 0)
      assert(P:range(case[1]) > 0)
      if not P.vertices then assert(case[1]:contains(P:start(case[1]))) end
    end
    local shifted = pn.set.l1_ball{ dim = 3 } + { 1, 2, 3 }
    local start = pn.potential.for_set(shifted):start(shifted)
    for j = 1, 3 do close(start[j], j) end
  end)

  it("bounds the range of a formula over sets of many coordinates", function()
    local function range(psi, C, domain) return pn.potential.separable(psi, domain and {domain = domain}):range(C) end
    local function square(t) return t ^ 2 / 2 end
    -- by the slope at the minimum and the largest second derivative
    assert.is_near(4.5, range(square, pn.set.l2_ball{ dim = 2500, radius = 3 }), 1e-6)
    -- |a| = 5: ((1 + 5)^2 - (5 - 1)^2)/2
    assert.is_near(10, range(function(t) return (t - 0.1) ^ 2 / 2 end, pn.set.l2_ball{ dim = 2500 }), 1e-6)
    -- at a vertex of the l1 ball, whose vertices are too many to be listed, and of the one around another set
    local function quartic(t) return t ^ 2 / 2 + t ^ 4 / 4 end
    assert.is_near(6, range(quartic, pn.set.l1_ball{ dim = 8000, radius = 2 }), 1e-6)
    local lens = pn.set.l1_ball{ dim = 3000, radius = 2 }:intersect(pn.set.l2_ball{ dim = 3000, radius = 1 })
    assert.is_near(6, range(quartic, lens), 1e-6)
    -- the domain ends inside of the set
    refused("has no bound", range, square, pn.set.l2_ball{ dim = 2500, radius = 3 }, { -1, 1 })
  end)

  it("lifts a polytope to weights on its vertices", function()
    local C = pn.set.polytope{ vertices = { { 1, 0 }, { 0, 1 }, { -1, -1 } } }
    local P = pn.potential.polytope{ set = C }
    assert.equal(3, P.dim)
    assert.equal(-1.0, P.vertices[3][2])
    close(P:range(C), math.log(3))
    close(P:start(C)[2], 1 / 3)
    refused("not the polytope", P.start, P, pn.set.polytope{ vertices = { { 1, 0 }, { 0, 1 } } })
    refused("list of vertices", pn.potential.polytope, { set = pn.set.l2_ball{ dim = 2 } })
  end)
end)

describe("pn.potential.separable", function()
  local P = pn.potential.separable(function(t) return t ^ 2 + t ^ 4 end, { domain = { -1, 2 } })

  it("certifies the constant of a formula", function()
    assert.equal(2.0, P.strong_convexity)
    close(P:value{ 1, 0.5 }, 2 + 0.25 + 0.0625)
    close(P:gradient{ 1, 0.5 }[2], 1.5)
    assert.equal(math.huge, P:value{ 3 })
    refused("outside the domain", P.gradient, P, { 0, 3 })
    refused("second derivative", pn.potential.separable, function(t) return t ^ 4 end)
    refused("does not jump", pn.potential.separable, function(t) return pn.abs(t) + t ^ 2 end, { domain = { -1, 1 } })
    refused("interval", pn.potential.separable, function(t) return t ^ 2 end, { domain = { values = { 1, 2 } } })
  end)

  it("inverts slopes, and stops at the ends of the domain", function()
    local back = P:inverse_gradient{ 6, -1.5, 1e9, -1e9, 0 }
    for j, want in ipairs{ 1, -0.5, 2, -1, 0 } do close(back[j], want, 1e-14) end
  end)

  it("agrees with the entropy over the simplex", function()
    local E = pn.potential.separable(function(t) return t * pn.log(t) end, { domain = { 1e-12, 1 } })
    local C = pn.set.simplex{ dim = 4 }
    local y = E:mirror_step({ .25, .25, .25, .25 }, { 3, -1, .5, 2 }, .5, C)
    local want = pn.potential.entropy{}:mirror_step({ .25, .25, .25, .25 }, { 3, -1, .5, 2 }, .5, C)
    for j = 1, 4 do close(y[j], want[j], 1e-12) end
  end)

  it("clips to a box, and bounds its range over it", function()
    local box = pn.set.box{ lower = { -1, 0.25 }, upper = { 0.5, 2 } }
    local y = P:mirror_step({ 0, 1 }, { -10, 100 }, 1, box)
    close(y[1], 0.5)
    close(y[2], 0.25)
    local least = 0.25 ^ 2 + 0.25 ^ 4
    close(P:range(box), 2 + 20 - least, 1e-9)
    assert(P:range(box) >= 22 - least)
  end)

  it("steps over other sets by iteration", function()
    local C = pn.set.l2_ball{ dim = 3, radius = 0.5 }
    local x = P:mirror_step({ 0, 0, 0 }, { -3, 1, 0.5 }, 1, C)
    local c, g = pn.vec{ 3, -1, -0.5 }, P:gradient(x)
    local slope = {}
    local here = 0
    for j = 1, 3 do
      slope[j] = c[j] - g[j]
      here = here + slope[j] * x[j]
    end
    assert(C:support(slope) - here <= 1e-7)
  end)
end)

describe("pn.potential.custom", function()
  local function half_square(extra)
    local options = {
      value = function(x)
        local sum = 0
        for j = 1, #x do sum = sum + x[j] ^ 2 / 2 end
        return sum
      end,
      gradient = function(x) return x end,
      strong_convexity = 1,
    }
    for k, v in pairs(extra or {}) do options[k] = v end
    return pn.potential.custom(options)
  end

  it("steps as the Euclidean potential when it is that", function()
    local C = pn.set.simplex{ dim = 4 }
    local x, g = { .25, .25, .25, .25 }, { 3, -1, .5, 2 }
    local y, want = half_square():mirror_step(x, g, .2, C), pn.potential.euclidean{}:mirror_step(x, g, .2, C)
    for j = 1, 4 do close(y[j], want[j], 1e-6) end
    close(half_square():range(C), 0.5 - 0.125, 1e-7)
  end)

  it("hands back the error value of a function, and refuses wrong results", function()
    local boom = { "boom" }
    local P = half_square{ gradient = function() error(boom) end }
    local ok, message = pcall(P.mirror_step, P, { 0, 1 }, { 1, 1 }, 1, pn.set.simplex{ dim = 2 })
    assert.is_false(ok)
    assert.equal(boom, message)
    local short = half_square{ gradient = function() return { 1 } end }
    refused("gradient must return a vector of 2 numbers", short.gradient, short, { 1, 2 })
    refused("value must be a function", pn.potential.custom, { gradient = print, strong_convexity = 1 })
    refused("strong_convexity", pn.potential.custom, { value = print, gradient = print })
    refused("no inverse of the gradient is known", P.inverse_gradient, P, { 1 })
  end)

  it("uses an inverse gradient over all of space", function()
    local P = half_square{ inverse_gradient = function(u) return u end, norm = pn.norm.linf(), dim = 2 }
    local y = P:mirror_step({ 1, 2 }, { 1, 1 }, .5, pn.set.free{ dim = 2 })
    close(y[1], 0.5)
    assert.equal(pn.norm.linf(), P.norm)
    refused("2", P.value, P, { 1, 2, 3 })
  end)
end)
