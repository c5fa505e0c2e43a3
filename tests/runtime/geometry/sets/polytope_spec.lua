-- polytope_spec.lua -- hulls of given points, beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

local function random_rows(rng, rows, cols, offset)
  local out = {}
  for i = 1, rows do
    out[i] = {}
    for j = 1, cols do
      out[i][j] = (offset or 0) + 2 * rng:uniform() - 1
    end
  end
  return out
end

describe("polytope", function()
  it("projects on the edge and the corner of a triangle", function()
    local C = pn.set.polytope{vertices = {{0, 0}, {2, 0}, {0, 2}}}
    local edge, corner = C:project{3, 2}, C:project{5, -1}
    assert.is_near(1.5, edge[1], 1e-12)
    assert.is_near(0.5, edge[2], 1e-12)
    assert.equal(2, corner[1])
    assert.equal(0, corner[2])
  end)

  it("projects as the closed forms do when it is their hull", function()
    local rng = pn.rng.seeded(3)
    for _, C in ipairs {pn.set.l1_ball{dim = 6, radius = 2}, pn.set.simplex{dim = 9, radius = 0.5}} do
      local hull = pn.set.polytope{vertices = C:vertices()}
      for _ = 1, 30 do
        local z = random_rows(rng, 1, C.dim)[1]
        local want, got = C:project(z), hull:project(z)
        for j = 1, C.dim do
          assert.is_near(want[j], got[j], 1e-11)
        end
      end
    end
  end)

  it("certifies projections on the hull of many points, near and far from the origin", function()
    local rng = pn.rng.seeded(11)
    for _, offset in ipairs {0, 1000} do
      local C = pn.set.polytope{vertices = random_rows(rng, 120, 8, offset)}
      for _ = 1, 10 do
        local z, away = random_rows(rng, 1, 8, offset)[1], {}
        for j = 1, 8 do
          z[j] = offset + 3 * (z[j] - offset)
        end
        local p, gap = C:project(z), 0
        for j = 1, 8 do
          away[j] = z[j] - p[j]
        end
        local _, s = C:support(away)
        for j = 1, 8 do
          gap = gap + away[j] * (s[j] - p[j])
        end
        assert.is_true(gap <= 1e-11 * (1 + offset), gap)
        assert.is_true(C:contains(p, 1e-9))
      end
    end
  end)

  it("tells inside from outside to the tolerance", function()
    local C = pn.set.polytope{vertices = {{0, 0}, {1, 0}, {0, 1}}}
    assert.is_true(C:contains({0.5, 0.5}, 0))
    assert.is_true(C:contains({0.25, 0.25}, 0))
    assert.is_false(C:contains({0.5 + 1e-6, 0.5 + 1e-6}, 1e-6)) -- its distance is 1.41e-6
    assert.is_true(C:contains({0.5 + 1e-6, 0.5 + 1e-6}, 1.5e-6))
  end)

  it("finds the edge among thousands of vertices that are nearly as near", function()
    -- a regular polygon in the unit circle: from outside, through the middle of an edge, at the distance cos(pi / n)
    local n, rows = 4000, {}
    for i = 1, n do
      rows[i] = {math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)}
    end
    local C = pn.set.polytope{vertices = rows}
    for _, edge in ipairs {0, 1, 1777} do
      local angle, apothem = math.pi * (2 * edge + 1) / n, math.cos(math.pi / n)
      local p = C:project{2 * math.cos(angle), 2 * math.sin(angle)}
      assert.is_near(apothem * math.cos(angle), p[1], 1e-12)
      assert.is_near(apothem * math.sin(angle), p[2], 1e-12)
    end
  end)

  it("measures the distance to an edge, not to the nearest vertex, when it asks for membership", function()
    local C = pn.set.polytope{vertices = {{-1, 0}, {1, 0}, {0, -1}}}
    assert.is_true(C:contains({0.1, 2}, 2.01)) -- 2 to the edge, 2.19 to the vertex (1, 0)
    assert.is_false(C:contains({0.1, 2}, 1.99))
  end)

  it("supports at the first best vertex", function()
    local value, x = pn.set.polytope{vertices = {{0, 1}, {2, 0}, {2, 5}}}:support{1, 0}
    assert.equal(2, value)
    assert.equal(0, x[2])
  end)

  it("scores about the middle of its bounding box when that is smaller", function()
    local far = pn.set.polytope{vertices = {{100, 100}, {101, 100}, {100, 101}}}
    local scores, radius = far:vertex_scores{1, 0}
    assert.equal(-0.5, scores[1]) -- c = (100.5, 100.5)
    assert.equal(0.5, scores[2])
    assert.is_near(1, radius.l1, 1e-15)
    assert.equal(0.5, radius.linf)
    scores, radius = pn.set.polytope{vertices = {{1, 0}, {-1, 0}}}:vertex_scores{1, 0}
    assert.equal(1, scores[1])
    assert.is_near(1, radius.l1, 1e-15)
  end)

  it("is a point when there is one vertex", function()
    local C = pn.set.polytope{vertices = {{3, 4}}}
    assert.is_near(5, C.radius, 1e-14)
    assert.equal(0, C.diameter)
    assert.is_true(C:contains({3, 4}, 0))
    assert.equal(4, C:project({0, 0})[2])
  end)

  it("keeps its own copy of the vertices, which vertices() gives back exactly", function()
    local rows = {{0.1, 1 / 3}, {1e-300, -7}}
    local V = pn.set.polytope{vertices = rows}:vertices()
    for i = 1, 2 do
      for j = 1, 2 do
        assert.equal(rows[i][j], V:get(i, j))
      end
    end
  end)

  it("bounds the diameter from above when there are too many pairs", function()
    -- 20000 points of the square [0, 1]^2 and dim 6: 1.2e9 multiplications, so it is a bound; the truth is sqrt 2
    local rng, rows = pn.rng.seeded(5), {{0.5, 0.5, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0}}
    for i = 4, 20000 do
      rows[i] = {rng:uniform(), rng:uniform(), 0, 0, 0, 0}
    end
    local diameter = pn.set.polytope{vertices = rows}.diameter
    assert.is_true(diameter >= math.sqrt(2))
    assert.is_true(diameter <= math.sqrt(2) * (1 + 1e-12)) -- twice the radius about the middle of the square
  end)

  -- The rows of the unit matrix, of which there are too many pairs: the diameters of a simplex are 2, sqrt 2 and 1.
  it("has the diameters and the curvature of the simplex whose vertices it lists, however many", function()
    local dim = 1300
    local data = pn.data.synthetic.logistic{n = 50, p = dim, seed = 1}:clip_rows("l2", 1)
    local named = pn.set.simplex{dim = dim}
    local function unit(i)
      local row = pn.vec.zeros(dim)
      row[i] = 1
      return row
    end
    local listed = pn.set.polytope{vertices = unit, count = dim}
    for norm, truth in pairs{l1 = 2, l2 = math.sqrt(2), linf = 1} do
      assert.is_true(listed:diameter_in(norm) >= truth)
      assert.is_near(named:diameter_in(norm), listed:diameter_in(norm), 1e-12)
    end
    local function curvature(set) return pn.objective{data = data, loss = pn.loss.logistic(), set = set}.bounds.curvature end
    assert.is_near(curvature(named), curvature(listed), 1e-12)
    local far = pn.set.polytope{vertices = function(i) return unit(i) * -3 + 7 end, count = dim} -- all on the other side
    assert.is_near(3 * math.sqrt(2), far:diameter_in "l2", 1e-12)
    assert.is_near(3, far:diameter_in "linf", 1e-12)
  end)

  it("bounds every distance of points on all sides when there are too many pairs", function()
    local rng, rows = pn.rng.seeded(6), {}
    for i = 1, 20000 do
      rows[i] = {}
      for j = 1, 6 do rows[i][j] = rng:uniform() * 2 - 1 + 5 * (j % 3) end
    end
    local C = pn.set.polytope{vertices = rows}
    local most_l2, most_linf = C:diameter_in "l2", C:diameter_in "linf"
    for i = 1, 400 do
      local l2, linf = 0, 0
      for j = 1, 6 do
        local apart = rows[i][j] - rows[20001 - i][j]
        l2, linf = l2 + apart ^ 2, math.max(linf, math.abs(apart))
      end
      assert.is_true(math.sqrt(l2) <= most_l2 and linf <= most_linf)
    end
    assert.is_true(most_linf < 2 and most_l2 < 2 * math.sqrt(6))
  end)

  it("has no wider a bound than the simplex whose vertices it lists", function()
    local data = pn.data.synthetic.logistic{n = 1000, p = 3, seed = 1}:clip_rows("l2", 1)
    local function width(set)
      local objective = pn.objective{data = data, loss = pn.loss.logistic(), set = set}
      return pn.solve.frank_wolfe_convex.plan(objective, {rho = 1}).lines["width G of C"]
    end
    -- E max(b_1, b_2, b_3) = 3/(2 sqrt(pi))
    assert.is_near(3 / (2 * math.sqrt(math.pi)), width(pn.set.simplex{dim = 3}), 1e-9)
    assert.is_near(3 / (2 * math.sqrt(math.pi)), width(pn.set.polytope{vertices = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}), 1e-9)
  end)

  it("refuses a NaN with its position", function()
    local ok, message = pcall(pn.set.polytope, {vertices = {{1, 2}, {3, 0 / 0}}})
    assert.is_false(ok)
    assert.truthy(message:find("row 2: entry 2 must be a finite number", 1, true), message)
  end)

  it("has the gauges that its hull has in closed form", function()
    local rng = pn.rng.seeded(13)
    local ball = pn.set.l1_ball{dim = 5, radius = 2}
    local simplex = pn.set.simplex{dim = 5, radius = 2}
    local hull, face = pn.set.polytope{vertices = ball:vertices()}, pn.set.polytope{vertices = simplex:vertices()}
    local whole, of_face = pn.norm.minkowski(simplex), pn.norm.minkowski(face) -- of conv(C u -C)
    for _ = 1, 50 do
      local x, positive = random_rows(rng, 1, 5)[1], {}
      for j = 1, 5 do
        positive[j] = math.abs(x[j])
      end
      assert.is_near(ball:gauge(x), hull:gauge(x), 1e-12)
      assert.is_near(simplex:gauge(positive), face:gauge(positive), 1e-12)
      assert.is_near(ball:gauge(x), whole:value(x), 1e-14) -- the hull of a simplex and its negative is the l1 ball
      assert.is_near(ball:gauge(x), of_face:value(x), 1e-12)
      positive[2] = -0.1
      assert.equal(math.huge, face:gauge(positive))
    end
  end)

  it("has an infinite gauge off its span and the least multiple where several fit", function()
    local C = pn.set.polytope{vertices = {{1, 0, 0}, {2, 0, 0}, {0, 1, 0}}}
    assert.equal(math.huge, C:gauge{1, 1, 1e-3})
    assert.is_near(2, C:gauge{2, 1, 0}, 1e-13) -- (2, 0, 0) + (0, 1, 0)
    assert.equal(math.huge, C:gauge{-1, 1, 0})
    assert.equal(0, C:gauge{0, 0, 0})
    assert.is_near(2, pn.norm.minkowski(C):value{-2, 1, 0}, 1e-13)
  end)

  it("keeps its gauge at any scale", function()
    for _, unit in ipairs{1e-150, 1e-8, 1e8, 1e150} do
      local C = pn.set.polytope{vertices = {{unit, 0}, {0, 2 * unit}, {-unit, -unit}}}
      assert.is_near(1.5, C:gauge{unit, unit}, 1e-12)
      assert.is_near(1, C:gauge{-unit, -unit}, 1e-12)
    end
  end)
end)
