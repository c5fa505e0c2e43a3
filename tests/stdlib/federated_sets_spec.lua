-- Sets of a server's configuration, once the parties have told their columns.
local pn = require "penumbra"
local sets = require "penumbra.programs.federated_sets"

local function parties(...)
  local list = {}
  for i, set in ipairs { ... } do list[i] = { key = "k", set = set } end
  return { parties = list }
end

-- The same vertices in the directions of a few vectors: sets have no equality.
local function assert_same(a, b)
  local rng = pn.rng.seeded(3)
  assert.equal(a.dim, b.dim)
  for _ = 1, 20 do
    local g = pn.vec.normal(a.dim, rng)
    assert.equal(a:support(g), b:support(g))
  end
end

local function refused(words, ...)
  local ok, message = pcall(sets.build, "server.lua", ...)
  assert.is_false(ok)
  assert.truthy(tostring(message):find(words, 1, true), tostring(message))
end

describe("the set of a server's configuration", function()
  it("is shared by all columns", function()
    local l1 = pn.set.l1_ball { dim = 5, radius = 2 }
    assert_same(l1, sets.build("c", { radius = 2, parties = {} }, { 3, 2 }))
    assert_same(l1, sets.build("c", { set = { kind = "l1_ball", radius = 2 }, parties = {} }, { 3, 2 }))
    assert_same(pn.set.simplex { dim = 5 }, sets.build("c", { set = { kind = "simplex" }, mode = "ball", parties = {} }, { 3, 2 }))
    assert_same(pn.set.box { lower = { -1, -1, -1 }, upper = { 1, 0, 2 } },
      sets.build("c", { set = { kind = "box", lower = -1, upper = { 1, 0, 2 } }, parties = {} }, { 1, 2 }))
  end)

  it("is the product of the parties' sets in their order", function()
    local shifted = { kind = "linf_ball", radius = 0.5, center = { 1, 0 } }
    assert_same(pn.set.ksparse_polytope { dim = 3, k = 2 }:product(pn.set.linf_ball { dim = 2, radius = 0.5, center = { 1, 0 } }),
      sets.build("c", parties({ kind = "ksparse_polytope", k = 2 }, shifted), { 3, 2 }))
    assert_same(pn.set.linf_ball { dim = 2, radius = 0.5, center = { 1, 0 } }, sets.build("c", parties(shifted), { 2 }))
  end)

  it("must fit the columns", function()
    refused("server.lua: parties[2].set: this polytope has 2 coordinates, and there are 3 columns",
      parties({ kind = "simplex" }, { kind = "polytope", vertices = { { 0, 1 }, { 1, 0 } } }), { 1, 3 })
    refused("server.lua: parties[1].set: set.hypersimplex: k must be", parties { kind = "hypersimplex", k = 3 }, { 2 })
    refused("server.lua: set: this box has 2 coordinates, and there are 5 columns",
      { set = { kind = "box", lower = { 0, 0 }, upper = { 1, 1 } }, parties = {} }, { 3, 2 })
  end)
end)
