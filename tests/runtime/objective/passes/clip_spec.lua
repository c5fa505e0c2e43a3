-- clip_spec.lua -- clip= from Lua: objectives that nothing bounds but clipping, their sensitivity by replacing records, and private
-- training on them.  The arithmetic of clipping itself is in clip_test.c.
local pn = require "penumbra"

local n, p, clip = 120, 5, 0.25

local function records(seed, scale)
  local rng, X, y = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    X[i], y[i] = {}, 6 * rng:uniform() - 3
    for j = 1, p do X[i][j] = scale * (2 * rng:uniform() - 1) * 10 ^ math.floor(5 * rng:uniform() - 2) end
  end
  return X, y
end

local function copy(X)
  local out = {}
  for i, row in ipairs(X) do out[i] = { table.unpack(row) } end
  return out
end

local losses = {
  squared = pn.loss.squared(), huber = pn.loss.huber(), poisson = pn.loss.poisson(), cauchy = pn.loss.cauchy(),
  ["exp(3 z) (unbounded)"] = pn.loss.glm(function(z, y) return pn.exp(3 * z) + y * z end),
  ["log z (undefined for half of the margins)"] = pn.loss.glm(function(z) return -pn.log(z) end),
  ["a jump"] = pn.loss.glm(function(z, y) return pn.where(pn.lt(z, y), z * z, 7 - z) end),
}

local thetas = { pn.vec.zeros(p), pn.vec { 0.1, -0.2, 0.3, 0.1, -0.1 }, pn.vec { 50, -80, 3, 1, 9 },
  pn.vec { 1e150, 0, 0, 1, -1e150 } }

describe("clipping", function()
  for name, l in pairs(losses) do
    it("keeps the sensitivity of a mean gradient at 2 clip / n: " .. name, function()
      local X, y = records(5, 1)
      local far, strange = 0, { { 1e300, -1e300, 0, 0, 1 }, { 0, 0, 0, 0, 0 }, { 1e-300, 0, 0, 0, 0 }, { 3, -4, 5, -6, 7 },
        { -3e4, 4e4, -5e4, 6e4, 7e4 }, { 1, 1, 1, 1, 1 } }
      local before = pn.objective { data = pn.data.from(X, y), loss = l, clip = clip }
      for k, row in ipairs(strange) do
        for _, label in ipairs { -1e10, 0.5, 1e300 } do
          local X2, y2 = copy(X), { table.unpack(y) }
          X2[k], y2[k] = row, label
          local after = pn.objective { data = pn.data.from(X2, y2), loss = l, clip = clip }
          for _, theta in ipairs(thetas) do
            local moved = (before:gradient(theta) - after:gradient(theta)):norm()
            assert.is_true(moved <= 2 * clip / n * (1 + 1e-12), ("moved %g of %g"):format(moved, 2 * clip / n))
            far = math.max(far, moved)
          end
        end
      end
      assert.is_true(far > 0.5 * clip / n, far) -- it is not that nothing moves
    end)
  end

  it("attains 2 clip / n by a record that is turned around", function()
    local X, y = records(6, 1)
    X[1], y[1] = { 0.3, 0, 0, 0, 0 }, 100
    local X2 = copy(X)
    X2[1][1] = -0.3
    local function gradient(rows)
      return pn.objective { data = pn.data.from(rows, y), loss = losses.squared, clip = clip }:gradient(thetas[1])
    end
    assert.is_near(2 * clip / n, (gradient(X) - gradient(X2)):norm(), 1e-15)
  end)

  it("leaves the gradient alone where every record is short enough", function()
    local X, y = records(7, 1e-6)
    local data = pn.data.from(X, y)
    local theta = thetas[2]
    assert.is_true(pn.objective { data = data, loss = losses.huber }:gradient(theta) ==
      pn.objective { data = data, loss = losses.huber, clip = clip }:gradient(theta))
  end)

  it("does not touch values, and gives factors that are clipped", function()
    local X, y = records(8, 1)
    local data = pn.data.from(X, y)
    local plain = pn.objective { data = data, loss = losses.squared }
    local clipped = pn.objective { data = data, loss = losses.squared, clip = clip }
    assert.equal(plain:value(thetas[2]), clipped:value(thetas[2]))
    local factors, slopes = clipped:factors(thetas[2]), plain:factors(thetas[2])
    for i = 1, n do
      local norm = pn.vec(X[i]):norm()
      assert.is_true(math.abs(factors[i]) * norm <= clip)
      assert.is_near(slopes[i] * math.min(1, clip / math.abs(slopes[i]) / norm), factors[i], 1e-12 * math.abs(slopes[i]))
    end
  end)

  it("gives the Lipschitz constants that follow: clip in l1 and l2, sqrt(p) clip in linf", function()
    local X, y = records(9, 1)
    local objective = pn.objective { data = pn.data.from(X, y), loss = losses.squared, clip = clip }
    local bounds = objective.bounds
    assert.equal("clipped", bounds.source)
    assert.equal(clip, bounds.lipschitz.l1)
    assert.equal(clip, bounds.lipschitz.l2)
    assert.is_near(math.sqrt(p) * clip, bounds.lipschitz.linf, 1e-12)
    assert.truthy(tostring(objective):find("clipped: each record's gradient to l2 norm 0.25", 1, true))
    -- what is certified below the clip stays
    local data = pn.data.from(X, y):clip_rows("l2", 0.1)
    local set = pn.set.l2_ball { dim = p }
    bounds = pn.objective { data = data, loss = losses.huber, set = set, clip = clip }.bounds
    assert.equal("clipped", bounds.source)
    assert.is_near(0.1, bounds.lipschitz.l2, 1e-9)
    assert.is_near(0.1, bounds.lipschitz.l1, 1e-9)
  end)

  it("keeps a convex loss of one margin convex, and promises nothing of several", function()
    local X, y = records(10, 1)
    local data, set = pn.data.from(X, y):clip_rows("l2", 1), pn.set.l2_ball { dim = p }
    assert.is_true(pn.objective { data = data, loss = losses.huber, set = set, clip = clip }.bounds.convex)
    assert.is_false(pn.objective { data = data, loss = losses.cauchy, set = set, clip = clip }.bounds.convex)
    for i = 1, n do y[i] = 1 + i % 3 end
    local softmax, big = pn.loss.softmax { classes = 3 }, pn.set.l2_ball { dim = 3 * p }
    data = pn.data.from(X, y):clip_rows("l2", 1)
    assert.is_true(pn.objective { data = data, loss = softmax, set = big }.bounds.convex)
    local bounds = pn.objective { data = data, loss = softmax, set = big, clip = clip }.bounds
    assert.is_false(bounds.convex)
    assert.equal(clip, bounds.lipschitz.l2)
    assert.is_near(math.sqrt(3 * p) * clip, bounds.lipschitz.linf, 1e-12)
  end)

  it("has no Hessian, and says so", function()
    local X, y = records(11, 1)
    local objective = pn.objective { data = pn.data.from(X, y), loss = losses.squared, clip = clip }
    assert.error_matches(function() objective:hvp(thetas[1], thetas[1]) end, "clipped to norm 0.25 have no Hessian")
  end)

  it("lets Frank-Wolfe train and pay where nothing is certified", function()
    local X, y = records(12, 1)
    local data = pn.data.from(X, y)
    local set = pn.set.l1_ball { dim = p, radius = 2 }
    assert.error_matches(function()
      pn.solve.frank_wolfe.plan(pn.objective { data = data, loss = losses.squared, set = set }, { rho = 1 })
    end, "clip")
    local objective = pn.objective { data = data, loss = losses.squared, set = set, clip = clip }
    local ledger = pn.ledger { rho = 1 }
    local fit = pn.solve.frank_wolfe(objective, { rho = 0.5, iterations = 12, ledger = ledger, rng = pn.rng.secure() })
    assert.equal(12, fit.steps)
    assert.is_true(fit.theta:norm(1) <= 2 + 1e-12)
    assert.is_true(ledger.remaining >= 0.5 and ledger.remaining < 0.5001)
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, iterations = 12 })
    -- a score is <vertex, gradient>: |.| <= radius * (linf of a record's gradient <= clip), and one record replaces another
    assert.is_near(2 * 2 * clip / n, plan.lines["sensitivity Delta"], 1e-9)
  end)
end)
