-- softmax.lua -- a private classifier with several classes: theta holds a row for each class, and one l1 ball holds them all.
--   penumbra examples/softmax.lua           three classes made up here
--   penumbra examples/softmax.lua FOLDER    seven forest cover types, FOLDER/covtype.sample50k.csv.gz (or PENUMBRA_DATA=FOLDER)
--   SEED=1 penumbra examples/softmax.lua    seeded noise: the same numbers every time, no privacy, and it says so
local pn = require "penumbra"

local folder = arg and arg[1] or os.getenv "PENUMBRA_DATA"
local seed = math.tointeger(tonumber(os.getenv "SEED"))

-- Metres of elevation in the region, degrees of aspect and slope, rounded distances in metres, 8-bit hill shades: public ranges.
local function covtype()
  local low = { 1500, 0, 0, 0, -200, 0, 0, 0, 0, 0 }
  local high = { 4350, 360, 90, 1500, 600, 7200, 255, 255, 255, 7200 }
  for j = 11, 54 do low[j], high[j] = -1, 1 end -- wilderness area and soil type, one-hot: left as they are
  return pn.data.csv(folder .. "/covtype.sample50k.csv.gz"):rescale(low, high):clip_labels(1, 7), 7, 60
end

-- Points of a square; which of three directions leads furthest is the class, save for one label in ten.
local function three_sectors()
  local rng, rows, labels = pn.rng.seeded(5), {}, {}
  for i = 1, 20000 do
    local u, v = 2 * rng:uniform() - 1, 2 * rng:uniform() - 1
    local best = math.max(v, 0.9 * u - 0.5 * v, -0.9 * u - 0.5 * v)
    labels[i] = rng:uniform() < 0.1 and rng:integer(3) or best == v and 1 or best == 0.9 * u - 0.5 * v and 2 or 3
    rows[i] = { u, v }
  end
  return pn.data.from(rows, labels):clip_rows("linf", 1):clip_labels(1, 3), 3, 20
end

local data, classes, radius
if folder and folder ~= "" then
  data, classes, radius = covtype()
else
  print "no folder was given: synthetic data"
  data, classes, radius = three_sectors()
end
local train, test = data:split(0.8, pn.rng.seeded(1))

-- The radius and the steps were tried on these same data, which nobody paid for here.
local set = pn.set.l1_ball { dim = classes * train.p, radius = radius }
local objective = pn.objective { data = train, loss = pn.loss.softmax { classes = classes }, set = set }
print(objective)

local fit = pn.solve.frank_wolfe(objective,
  { epsilon = 1, delta = 1 / train.n ^ 2, iterations = 300, rng = seed and pn.rng.seeded(seed) or nil })
local open = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 1000 })
print(fit)

-- The test set is somebody else's.  fit:predict gives a matrix, a row of class margins for every record.
local counts, guesses = {}, {}
for k = 1, classes do counts[k], guesses[k] = 0, 0 end
local margins = fit:predict(test)
for i = 1, test.n do
  local best = 1
  for k = 2, classes do best = margins[i][k] > margins[i][best] and k or best end
  guesses[best], counts[test.y[i]] = guesses[best] + 1, counts[test.y[i]] + 1
end
print "\n  class   test records   private guesses"
for k = 1, classes do print(("  %5d   %12d   %15d"):format(k, counts[k], guesses[k])) end

local score = pn.objective { data = test, loss = pn.loss.softmax { classes = classes } }
print(("\ntest accuracy %.4f at epsilon 1; without privacy %.4f; always the largest class %.4f"):format(
  score:accuracy(fit.theta), score:accuracy(open.theta), math.max(table.unpack(counts)) / test.n))
