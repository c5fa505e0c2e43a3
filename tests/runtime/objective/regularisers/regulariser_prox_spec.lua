-- regulariser_prox_spec.lua -- r:prox() is the proximal operator of r itself, scaling and weights included: its value is r's, and a
-- step along it lands where r says the minimum is.
local pn = require "penumbra"

local R = pn.reg

local kinds = {
  R.l2(0.3), R.l1(0.3), R.elastic_net{l1 = 0.3, l2 = 0.2}, R.elastic_net{l1 = 0, l2 = 0.2}, R.elastic_net{l1 = 0.3, l2 = 0},
  R.group{lambda = 0.3, size = 2}, R.group{lambda = 0.3, size = 2, weights = {1, 2, 0.5}},
  R.group{lambda = 0.3, groups = {1, 2, 2, 1, 3, 2}}, R.group{lambda = 0.3, groups = {1, 2, 2, 1, 3, 2}, weights = {1, 2, 0.5}},
  R.nuclear{lambda = 0.3, rows = 2, cols = 3}, R.nuclear{lambda = 0.3, rows = 6, cols = 1},
}

local function random_vector(rng, scale)
  local v = {}
  for j = 1, 6 do v[j] = scale * (2 * rng:uniform() - 1) end
  return pn.vec(v)
end

describe("r:prox", function()
  it("has r's own value", function()
    local rng = pn.rng.seeded(1)
    for _, r in ipairs(kinds) do
      for _, scale in ipairs{0, 0.1, 3} do
        local w = random_vector(rng, scale)
        assert.near(r:value(w), r:prox():value(w), 4e-15 * r:value(w))
      end
    end
  end)

  it("minimises r(x) + ||x - v||^2 / (2 step), with r as r:value says", function()
    local rng = pn.rng.seeded(2)
    for _, r in ipairs(kinds) do
      local prox = r:prox()
      for _, step in ipairs{0.2, 3} do
        local v = random_vector(rng, 2)
        local x = prox(v, step)
        local least = r:value(x) + (x - v):norm() ^ 2 / (2 * step)
        for _ = 1, 40 do
          local y = x + random_vector(rng, 10 ^ (1 - 4 * rng:uniform()))
          local other = r:value(y) + (y - v):norm() ^ 2 / (2 * step)
          assert.is_true(other >= least + (y - x):norm() ^ 2 / (2 * step) - 1e-13, tostring(r))
        end
      end
    end
  end)

  it("is nil where there is no regulariser, and an error where there is no closed form", function()
    assert.is_nil(R.none():prox())
    local r = R.separable(function(w) return pn.abs(w) end)
    for name, other in pairs{nonconvex = R.nonconvex(1), separable = r} do
      assert.has_error(function() other:prox() end, "reg." .. name .. ": there is no closed proximal map; where it is smooth its "
        .. "gradient serves, else use none, l2, l1, elastic_net, group or nuclear of pn.reg")
    end
  end)
end)
