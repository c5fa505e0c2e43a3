-- custom_loss.lua -- losses of your own, typed as formulas, trained privately: Tukey's biweight and a smoothed pinball loss.
--   penumbra examples/custom_loss.lua           synthetic data with outliers
--   penumbra examples/custom_loss.lua FOLDER    the house prices in FOLDER/cal_housing.csv.gz (or PENUMBRA_DATA=FOLDER)
--   SEED=1 penumbra examples/custom_loss.lua    seeded noise: the same numbers every time, no privacy, and it says so
-- A loss is a plain function of the margin z = <x, theta> and the label y.  It is called once, with symbols; what it returns is
-- differentiated, bounded by intervals over all admissible records, and compiled.  The bounds set the noise.
-- Radius, widths and steps were chosen by trying some on these very data, and "open" fits see them exactly: an experiment.
local pn = require "penumbra"

local folder = arg and arg[1] or os.getenv "PENUMBRA_DATA"
local seed = math.tointeger(tonumber(os.getenv "SEED"))
local epsilon, radius, steps = 1, 4, 300

local function heading(text) print(("\n%s\n%s"):format(text, ("-"):rep(#text))) end
local function refusal(f) return (select(2, pcall(f)):gsub("^[^:]*%.lua:%d+: ", "")) end

-- 1. The data.  Ranges come from units (degrees, years, counts of a census block, 10,000 dollars), never from the values:
--    looking at those would have to be paid for.  Labels go from 0 .. 500,000 dollars to -1 .. 1.
local data, unit, form
if folder and folder ~= "" then
  data = pn.data.csv(folder .. "/cal_housing.csv.gz")
  data = data:rescale({ -125, 32, 0, 0, 0, 0, 0, 0 }, { -114, 42, 60, 10000, 2000, 5000, 2000, 10 })
  data = data:with_labels((data.y - 250000) / 250000):clip_labels(-1, 1)
  unit, form = 250000, "%9.0f"
else
  data = pn.data.synthetic.lasso { n = 20000, p = 8, sparsity = 3, noise = 0.2, seed = 7 }
  unit, form = 1, "%9.4f"
  print "no folder was given: synthetic data\n"
end
local train, test = data:add_bias():split(0.8, pn.rng.seeded(1))

-- Every fifth training label is entered as the largest one there is.  The test labels stay as they are.
local rng, labels = pn.rng.seeded(2), train.y:copy()
for i = 1, #labels do if rng:uniform() < 0.2 then labels[i] = 1 end end
local dirty = train:with_labels(labels):clip_labels(-1, 1)
print(train)

heading "A loss is a function"
local c = 0.8 -- beyond this residual a record has no say at all
local tukey = pn.loss.glm(function(z, y)
  local u = pn.min(((z - y) / c) ^ 2, 1)
  return c ^ 2 / 6 * (1 - (1 - u) ^ 3)
end, { labels = { lo = -1, hi = 1 } })
print(tukey)
print("  dl/dz = " .. tukey.slope_formula)
local _, slope = tukey:evaluate({ 0.1, 0.3, 0.9 }, { 0, 0, 0 })
print(("  slope at residuals 0.1, 0.3 and 0.9: %.4f, %.4f, %.4f"):format(slope[1], slope[2], slope[3]))

heading "Its bounds are certified"
local range = tukey:range({ -radius, radius }, { -1, 1 })
print(("slope in [%.4f, %.4f], curvature in [%.4f, %.4f], smooth: %s, convex: %s"):format(range.slope[1], range.slope[2],
  range.curvature[1], range.curvature[2], range.smooth, range.convex))
local peak = pn.bound(function(s) return c * s * (1 - s ^ 2) ^ 2 end, { s = { 0, 1 } }).max[2]
print(("by hand: c s (1 - s^2)^2 with s = r/c is at most 16 c/(25 sqrt 5) = %.4f; pn.bound says %.4f"):format(
  16 * c / (25 * math.sqrt(5)), peak))

heading "What cannot be traced says what to write"
local tau, width = 0.9, 0.02
print(refusal(function()
  pn.loss.glm(function(z, y) if z - y > 0 then return (1 - tau) * (z - y) else return tau * (y - z) end end)
end))
local kinked = pn.loss.glm(function(z, y) return pn.max((1 - tau) * (z - y), tau * (y - z)) end)
print("or pn.max: " .. kinked.formula .. "\n  but, for the curvature: " .. kinked:range({ -1, 1 }, { -1, 1 }).missing)
local pinball = pn.loss.glm(function(z, y)
  return tau * (y - z) + width * pn.softplus((z - y) / width)
end, { labels = { lo = -1, hi = 1 } })
print("smoothed: " .. pinball.formula .. "\n  dl/dz = " .. pinball.slope_formula)

local set = pn.set.l1_ball { dim = train.p, radius = radius }
local function objective(loss, records, clip) return pn.objective { data = records, loss = loss, set = set, clip = clip } end

heading "The plan rests on the certified slope"
local ledger = pn.ledger { epsilon = 6 * epsilon, delta = 6 / train.n ^ 2, teaching = seed ~= nil }
local budget = { epsilon = epsilon, delta = 1 / train.n ^ 2, iterations = steps }
print(pn.solve.frank_wolfe.plan(objective(tukey, dirty), budget))
print(("the squared loss has |slope| <= %.3f on the same records, Tukey's %.3f: the noise is in proportion"):format(
  objective(pn.loss.squared(), dirty).bounds.slope, objective(tukey, dirty).bounds.slope))

local function fit(loss, records, clip)
  local plan = pn.solve.frank_wolfe.plan(objective(loss, records, clip), budget)
  local private = plan:run { ledger = ledger, rng = seed and pn.rng.seeded(seed) or nil }
  return private, pn.solve.frank_wolfe(objective(loss, records, clip), { privacy = false, iterations = 1000 })
end

heading "Outliers"
-- The test set is somebody else's: scoring on it releases nothing about the training records beyond theta.
local score = objective(pn.loss.absolute(), test)
local function error_of(model) return score:value(model.theta) * unit end
print(("mean absolute error on clean test records, in %s; private fits at epsilon %g each"):format(
  unit > 1 and "dollars" or "label units", epsilon))
print "             clean labels   a fifth wrong   ratio"
for _, row in ipairs { { "squared", pn.loss.squared() }, { "Tukey", tukey } } do
  local private, open = fit(row[2], train)
  local hurt, hurt_open = fit(row[2], dirty)
  for _, pair in ipairs { { "open", open, hurt_open }, { "private", private, hurt } } do
    local before, after = error_of(pair[2]), error_of(pair[3])
    print(("  %-8s %-8s " .. form .. "     " .. form .. "  %7.2f"):format(row[1], pair[1], before, after, after / before))
  end
end

heading "A quantile"
local function coverage(model)
  local z, covered = model:predict(test), 0
  for i = 1, test.n do covered = covered + (test.y[i] <= z[i] and 1 or 0) end
  return covered / test.n
end
local private, open = fit(pinball, train)
print(("pinball at tau = %g: %.4f of the test labels lie below the private fit, %.4f below the non-private one"):format(tau,
  coverage(private), coverage(open)))

heading "A loss without a bound"
local root = pn.loss.glm(function(z, y) return pn.sqrt(pn.abs(z - y)) end)
print(refusal(function() pn.solve.frank_wolfe.plan(objective(root, dirty), budget) end))
local clipped, open_clipped = fit(root, dirty, 0.5)
print(objective(root, dirty, 0.5))
print(("with clip = 0.5 and a fifth wrong: error " .. form .. " private, " .. form .. " open"):format(error_of(clipped),
  error_of(open_clipped)))

heading "The bill"
print(ledger)
print(clipped)
