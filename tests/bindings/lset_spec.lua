-- lset_spec.lua -- how pn.set takes its options and hands out its methods.
local pn = require "penumbra"

describe("pn.set", function()
  it("has one constructor for each name, which the reference explains", function()
    local names = pn.set.names()
    assert.is_true(#names >= 6)
    for _, name in ipairs(names) do
      assert.equal("function", type(pn.set[name]))
      assert.truthy(pn.reference()["set." .. name].signature:find("pn.set." .. name .. "{", 1, true))
    end
  end)

  it("names an unknown option and lists the known ones", function()
    assert.has_error(function() pn.set.simplex{dim = 2, size = 1} end,
      "set.simplex: unknown option 'size'; it takes dim, radius")
  end)

  it("names a missing option", function()
    local ok, message = pcall(pn.set.l1_ball)
    assert.is_false(ok)
    assert.truthy(message:find("set.l1_ball: dim is missing", 1, true), message)
  end)

  it("takes 1 as the radius that is not given", function()
    assert.equal(1, pn.set.l1_ball{dim = 7}.radius)
  end)
end)

describe("a set", function()
  local C = pn.set.l1_ball{dim = 3, radius = 2}

  it("knows its name and dimension", function()
    assert.equal("l1_ball", C.name)
    assert.equal(3, C.dim)
    assert.equal("integer", math.type(C.dim))
    assert.equal("scaled", (2 * C).name)
    assert.equal("shifted", (C + {1, 1, 1}).name)
    assert.equal("l1_ball(dim=3, radius=2)", tostring(C))
  end)

  it("leaves the vector that it projects as it was", function()
    local v = pn.vec{3, 0, 0}
    assert.equal(2, C:project(v)[1])
    assert.equal(3, v[1])
  end)

  it("names the norms that it knows", function()
    assert.has_error(function() C:radius_in("l3") end, 'C:radius_in: norm must be "l1", "l2" or "linf", got l3')
    assert.has_error(function() C:diameter_in(2) end, 'C:diameter_in: norm must be "l1", "l2" or "linf", got 2')
  end)

  it("refuses NaN and infinity with their position", function()
    for _, method in ipairs {"support", "project", "contains", "gauge"} do
      local ok, message = pcall(C[method], C, pn.vec{1, 2, 1e308} * 10)
      assert.is_false(ok)
      assert.truthy(message:find("must hold finite numbers, got inf at entry 3", 1, true), message)
    end
  end)

  it("refuses a negative tolerance", function()
    assert.has_error(function() C:contains({1, 0, 0}, -1) end, "C:contains: tol must be a number >= 0, got -1")
  end)

  it("allows 1e-9 by default in contains", function()
    assert.is_true(C:contains{2 + 5e-10, 0, 0})
    assert.is_false(C:contains{2 + 2e-9, 0, 0})
  end)

  it("refuses a list of vertices too long to be one", function()
    local ok, message = pcall(function() return pn.set.l1_ball{dim = 100000}:vertices() end)
    assert.is_false(ok)
    assert.truthy(message:find("C:vertices: 200000 vertices of 100000 entries", 1, true), message)
  end)

  it("cannot be changed and has no other fields", function()
    assert.has_error(function() C.dim = 4 end)
    assert.has_error(function() return C.width end)
  end)

  it("is closed by a to-be-closed variable and says so afterwards", function()
    local kept
    do
      local D <close> = pn.set.simplex{dim = 2}
      kept = D
    end
    local ok, message = pcall(function() return kept:center() end)
    assert.is_false(ok)
    assert.truthy(message:find("closed", 1, true), message)
  end)
end)
