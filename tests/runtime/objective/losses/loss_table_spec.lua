-- loss_table_spec.lua -- every loss of one margin against the formulas of formulas.lua: numbers, kinks, certified extremes, and
-- the same formula typed by a user, which must bound and compute the same.
local pn = require "penumbra"
local formulas = require "tests.runtime.objective.losses.formulas"

local parts = { "value", "slope", "curvature", "third" }

local function holds(condition, format, ...) -- luassert only when it fails: the loops below are long
  if not condition then assert.is_true(false, format:format(...)) end
end

local boxes = {
  { { -3, 3 }, { -1, 1 } }, { { 0.5, 2 }, { -1, 1 } }, { { -7, -0.25 }, { -1, 1 } }, { { -2, 5 }, { -1, 1 } },
  { { -0.125, 0.25 }, { -1, 1 } }, { { -40, 30 }, { -1, 1 } }, { { 1.5, 1.5 }, { -1, 1 } }, { { -1e-3, 4 }, { -1, 1 } },
}
local real_labels = { { 0.3, 4 }, { -2.5, -2.5 }, { -0.5, 0 }, { 0, 10 } }

local function each_box(formula, see)
  for i, box in ipairs(boxes) do
    see(box[1], box[2])
    if formula.labels == "real" then see(box[1], real_labels[(i - 1) % #real_labels + 1]) end
  end
end

for name, l, formula, title in formulas.each(pn) do
  describe(title .. " loss", function()
    it("has the value, slope and curvature of its textbook formula", function()
      for _, y in ipairs(formulas.some_labels(formula)) do
        local z, labels = {}, {}
        for i = 1, 600 do z[i], labels[i] = (i - 300) / 29.7, y end
        local got = { l:evaluate(z, labels) }
        for k = 1, 3 do
          for i = 1, #z do
            local want = formula[parts[k]](z[i], y)
            -- a residual of 1e-16 may fall on either side of a kink; none of these margins lies so near to one
            local scale = math.max(math.abs(want), 1e-3)
            holds(math.abs(got[k][i] - want) <= 2e-12 * scale, "%s at z = %.17g, y = %g: %.17g, not %.17g", parts[k], z[i], y,
              got[k][i], want)
          end
        end
      end
    end)

    it("takes the documented slope at its kinks", function()
      for _, y in ipairs(formulas.some_labels(formula)) do
        for _, place in ipairs(formula.residual and formula.places or { 1, -1 }) do
          local z = formula.residual and place + y or place
          if not formula.residual or z - y == place then
            local _, slope = l:evaluate({ z }, { y })
            assert.is_near(formula.slope(z, y), slope[1], 1e-12)
          end
        end
      end
    end)

    it("has certified ranges that hold the true extremes and are tight to 1e-6", function()
      each_box(formula, function(z, y)
        local range = l:range(z, y)
        for _, part in ipairs(parts) do
          local low, high = formulas.extremes(formula, part, z, y)
          local slack = 1e-6 * math.max(math.abs(low), math.abs(high)) + 1e-300
          local text = ("%s over z in [%g, %g], y in [%g, %g]: [%.17g, %.17g], not [%.17g, %.17g]"):format(part, z[1], z[2], y[1],
            y[2], range[part][1], range[part][2], low, high)
          -- the formulas above are rounded, too
          holds(range[part][1] <= low + 1e-15 * math.abs(low) and range[part][2] >= high - 1e-15 * math.abs(high), "%s", text)
          holds(low - range[part][1] <= slack and range[part][2] - high <= slack, "loose: %s", text)
        end
      end)
    end)

    it("knows whether it is convex and where it breaks", function()
      assert.equal(formula.convex, l.convex)
      local range = l:range({ -20, 20 }, { -1, 1 })
      assert.is_true(range.continuous)
      assert.equal(formula.convex, range.convex)
      assert.equal(formula.smooth or false, range.smooth)
      assert.equal(formula.twice_smooth or false, range.twice_smooth)
    end)

    it("is the same loss when a user types it", function()
      local labels = formula.labels == "binary" and { labels = { -1, 1 } } or nil
      local typed = pn.loss.glm(formula.typed(pn), labels)
      assert.equal(l.formula, typed.formula)
      each_box(formula, function(z, y) assert.same(l:range(z, y), typed:range(z, y)) end)
      local rng, X, y = pn.rng.seeded(11), {}, {}
      for i = 1, 700 do
        X[i] = {}
        for j = 1, 7 do X[i][j] = 4 * rng:uniform() - 2 end
        y[i] = rng:uniform() < 0.4 and -1 or 1
      end
      local data = pn.data.from(X, y):clip_rows("l2", 3):clip_labels(-1, 1)
      local set = pn.set.l1_ball { dim = 7, radius = 2 }
      local mine = pn.objective { data = data, loss = typed, set = set }
      local theirs = pn.objective { data = data, loss = l, set = set }
      local theta = pn.vec { 0.3, -0.2, 0.5, 0, 0.4, -0.1, 0.2 }
      assert.same(theirs.bounds, mine.bounds)
      assert.equal(theirs:value(theta), mine:value(theta))
      assert.is_true(theirs:gradient(theta) == mine:gradient(theta))
      assert.is_true(theirs:hvp(theta, theta) == mine:hvp(theta, theta))
    end)

    it("refuses labels that it does not take, with what it takes", function()
      local data = pn.data.from({ { 1 }, { 2 } }, { 1, 0.5 })
      local ok, message = pcall(pn.objective, { data = data, loss = l })
      if formula.labels == "real" then
        assert.is_true(ok, message)
      else
        assert.is_false(ok)
        assert.truthy(message:find(name .. " needs labels -1 and 1; load with labels=\"binary\"", 1, true), message)
      end
    end)
  end)
end
