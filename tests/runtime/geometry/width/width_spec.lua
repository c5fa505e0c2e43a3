-- width_spec.lua -- Gaussian widths by pn.width: known numbers, the rules of geometry.md section 1, refusals.
-- Draws have a fixed seed; before it was fixed each interval missed with the probability that is stated.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local law = require("tests.tools.tier").law(it)

local function monte_carlo(C, draws, confidence)
  return pn.width(C, {method = "monte_carlo", draws = draws, confidence = confidence})
end

describe("the width by draws", function()
  law("has the numbers of geometry.md, section 4", function()
    local nuclear = monte_carlo(pn.set.nuclear_ball{rows = 10, cols = 10}, 20000)
    assert.is_near(5.630, nuclear.value, 0.012)
    assert.is_true(nuclear.standard_error < 0.005)
    local mixed = monte_carlo(pn.set.interpolation_ball{dim = 10, alpha = 0.5}, 40000)
    assert.is_near(2.044, mixed.value, 0.012)
    assert.is_true(mixed.value > 1.8807 and mixed.value < 2.4825)
    local triangle = monte_carlo(pn.set.polytope{vertices = {{1, 0}, {0, 1}, {-1, -1}}}, 200000)
    assert.is_near(1.175, triangle.value, 0.005)
  end)

  it("certifies the half-width rho sqrt(2 ln(2/(1 - confidence))/N)", function()
    local w = monte_carlo(pn.set.linf_ball{dim = 2}, 200000, 0.95) -- rho = sqrt 2
    assert.is_near(0.0085894, w.high - w.value, 5e-8)
    assert.is_near(0.0085894, w.value - w.low, 5e-8)
    assert.equal("monte_carlo", w.method)
    assert.equal(200000, w.draws)
    assert.equal(0.95, w.confidence)
  end)

  it("draws as often as tol asks for", function()
    local w = pn.width(pn.set.l2_ball{dim = 3, radius = 5}, {method = "monte_carlo", tol = 0.05, confidence = 0.9})
    assert.equal(math.ceil(2 * math.log(20) / 0.05 ^ 2), w.draws)
    assert.is_true(w.high - w.value <= 0.05 * 5)
  end)

  it("holds what is known exactly, except with probability 1e-9", function()
    for _, C in ipairs {
      pn.set.l1_ball{dim = 30, radius = 2}, pn.set.l2_ball{dim = 30}, pn.set.simplex{dim = 30},
      pn.set.box{lower = {-1, 0, 5}, upper = {1, 4, 6}}, pn.set.group_ball{dim = 12, k = 4},
    } do
      local exact, drawn = pn.width(C), monte_carlo(C, 20000, 1 - 1e-9)
      assert.is_true(drawn.low <= exact.value and exact.value <= drawn.high, tostring(C))
      assert.is_near(exact.value, drawn.value, 6 * drawn.standard_error)
    end
  end)

  it("is the same with a seed, and new with every question to one rng", function()
    local C = pn.set.simplex{dim = 5}
    local function ask(rng) return pn.width(C, {method = "monte_carlo", draws = 1000, rng = rng}).value end
    local rng = pn.rng.seeded(3)
    local first = ask(rng)
    assert.equal(ask(pn.rng.seeded(3)), first)
    assert.are_not.equal(first, ask(rng))
    assert.are_not.equal(first, ask(pn.rng.seeded(4)))
    assert.equal(ask(nil), ask(nil))
  end)
end)

describe("the width", function()
  local vertices = {{1, 0, 2}, {0, 3, -1}, {-1, -1, 0}, {2, 2, 2}}
  local sets = {
    pn.set.l1_ball{dim = 3}, pn.set.simplex{dim = 3}, pn.set.polytope{vertices = vertices},
    pn.set.l2_ball{dim = 3, center = {4, 5, 6}},
  }

  it("of r C is r times that of C, and of C + v and -C that of C", function()
    for _, C in ipairs(sets) do
      for _, method in ipairs {"auto", "monte_carlo"} do
        local function of(D) return pn.width(D, {method = method, draws = 3000}).value end
        local plain = of(C)
        assert.is_near(2.5 * plain, of(2.5 * C), 1e-12 * plain)
        assert.is_near(plain, of(C + {7, -8, 9}), 1e-12 * plain)
        assert.is_near(plain, of(-C), 1e-12 * plain)
      end
    end
  end)

  it("of a sum is the sum", function()
    for i, C in ipairs(sets) do
      local D = sets[i % #sets + 1]
      local both, c, d = pn.width(C + D, {draws = 20000}), pn.width(C, {draws = 20000}), pn.width(D, {draws = 20000})
      assert.is_near(c.value + d.value, both.value, 6 * (c.standard_error + d.standard_error + both.standard_error) + 1e-12)
      local drawn = monte_carlo(C + D, 20000, 1 - 1e-9)
      assert.is_true(drawn.low <= both.high and both.low <= drawn.high)
    end
  end)

  it("is larger for a larger set", function()
    local a, b, c = pn.set.l1_ball{dim = 6}, pn.set.l2_ball{dim = 6}, pn.set.linf_ball{dim = 6}
    for _, method in ipairs {"auto", "monte_carlo"} do
      local function of(D) return pn.width(D, {method = method, draws = 50}).value end
      assert.is_true(of(a) < of(b) and of(b) < of(c))
    end
  end)

  it("of a point is 0", function()
    local w = pn.width(pn.set.polytope{vertices = {{5, -6e7, 7}}}, {draws = 100})
    assert.equal(0, w.value)
    assert.equal(0, w.high)
  end)

  it("prints itself, and is also a method", function()
    local w = pn.set.simplex{dim = 4}:width()
    assert.truthy(tostring(w):find('method = "', 1, true))
    assert.equal(w.value, pn.width(pn.set.simplex{dim = 4}).value)
  end)

  it("refuses what it cannot do and says what it can", function()
    local function no_width(text, ...)
      refused(text, pn.width, ...)
    end
    local C = pn.set.polytope{vertices = vertices}
    no_width('use method="monte_carlo" or "auto"', C, {method = "exact"})
    no_width("unbounded", pn.set.free{dim = 2})
    no_width("method", C, {method = "guess"})
    no_width("tol", C, {tol = -1})
    no_width("confidence", C, {confidence = 1})
    no_width("give tol or draws, not both", C, {tol = 0.1, draws = 10})
    no_width("more than 1e+09", C, {tol = 1e-6})
    no_width("draws", C, {draws = 0})
    no_width("unknown option 'draw'", C, {draw = 7})
    no_width("rng must be a pn.rng, got 7", C, {rng = 7})
    no_width("expected a pn.set, got a table", {})
    no_width("progress must be", C, {progress = 3})
  end)

  it("tells how far it is, and hands on what that function raises", function()
    local calls, mine = 0, {}
    pn.width(pn.set.simplex{dim = 1000}, {method = "monte_carlo", draws = 3000, progress = function(done, total)
      calls = calls + 1
      assert.equal(3000, total)
      assert.is_true(done <= total)
    end})
    assert.is_true(calls > 0)
    local ok, got = pcall(pn.width, pn.set.simplex{dim = 1000}, {method = "monte_carlo", progress = function() error(mine) end})
    assert.is_false(ok)
    assert.equal(mine, got)
  end)
end)
