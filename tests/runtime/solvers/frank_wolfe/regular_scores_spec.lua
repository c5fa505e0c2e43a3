-- regular_scores_spec.lua -- what a regulariser adds to the curvature and to the scores of private Frank-Wolfe.
local pn = require "penumbra"

local dim = 3
local data = pn.data.from({ { 1, 0, 0 }, { 0, 1, 0 } }, { -1, 1 }):clip_rows("linf", 1):clip_labels(-1, 1)
local set = pn.set.l1_ball { dim = dim, radius = 1 }

local function objective(reg) return pn.objective { data = data, loss = pn.loss.squared(), set = set, reg = reg } end

describe("a regulariser of Frank-Wolfe", function()
  it("adds its curvature times the squared diameter", function()
    local plain, bent = objective().bounds.curvature, objective(pn.reg.l2(5)).bounds.curvature
    assert.is_true(bent >= plain + 5 * 4)
    assert.is_true(bent <= (plain + 5 * 4) * (1 + 1e-9))
  end)

  it("has its rounding in the lattice of the scores", function()
    local size = 1e12 -- |r'| <= size over the ball
    local text = tostring(pn.solve.frank_wolfe.plan(objective(pn.reg.l2(size)), { rho = 1, iterations = 3 }))
    local lattice = tonumber(text:match "score lattice%s+(%S+)")
    assert.is_true(lattice >= 2 * (dim + 1) * 2 ^ -53 * size)
  end)

  it("leaves the choice among vertices to the records where it is the same for all", function()
    local X, y = {}, {}
    for i = 1, 100 do X[i], y[i] = { -1, 0, 0 }, 1 end
    local same = pn.objective {
      data = pn.data.from(X, y):clip_rows("linf", 1):clip_labels(-1, 1),
      loss = pn.loss.squared(), set = set, reg = pn.reg.separable(function(w) return 10 * w end),
    }
    local plan = pn.solve.frank_wolfe.plan(same, { rho = 1e4, iterations = 1 })
    for _ = 1, 10 do -- scores differ by 1, the noise has scale 3e-4: a false alarm has probability below e^-3000
      assert.near(-1, plan:run().theta[1], 1e-12)
    end
  end)
end)
