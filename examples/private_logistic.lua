-- private_logistic.lua -- a private classifier on a file: load, clip, train, see what it cost.
--   penumbra examples/private_logistic.lua                        synthetic data
--   DATA=train.gz TEST=test.gz penumbra examples/private_logistic.lua     LIBSVM files with two labels
--   BOUND=0.2673 bounds every feature after scaling rows into the unit l2 ball (public knowledge only)
local pn = require "penumbra"

local epsilon = tonumber(os.getenv "EPSILON" or 1)
local radius = tonumber(os.getenv "RADIUS" or 16)
local bound = tonumber(os.getenv "BOUND" or 1)

local train, test
if os.getenv "DATA" then
  train = pn.data.libsvm(os.getenv "DATA", { labels = "binary" })
  if os.getenv "TEST" then
    test = pn.data.libsvm(os.getenv "TEST", { labels = "binary", cols = train.p })
  else
    train, test = train:split(0.8, pn.rng.seeded(1))
  end
else
  train, test = pn.data.synthetic.logistic { n = 50000, p = 50, sparsity = 5, seed = 3 }:split(0.8, pn.rng.seeded(1))
  radius, bound = 8, 1
end

-- Every record is scaled into the unit l2 ball; a smaller bound on single features means less noise.
local function prepare(data) return data:clip_rows("l2", os.getenv "DATA" and 1 or 10):clip_rows("linf", bound) end
train, test = prepare(train), prepare(test)
print(train)

local set = pn.set.l1_ball { dim = train.p, radius = radius }
local objective = pn.objective { data = train, loss = pn.loss.logistic(), set = set }
local plan = pn.solve.frank_wolfe.plan(objective,
  { epsilon = epsilon, delta = 1 / train.n ^ 2, iterations = tonumber(os.getenv "ITERATIONS") })
print(plan)

local fit = plan:run()
print(fit)

-- The test set is somebody else's: scoring on it releases nothing about the training records beyond theta.
local function accuracy(model)
  return pn.objective { data = test, loss = pn.loss.logistic() }:accuracy(model)
end
local open = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 500 })
print(("test accuracy %.4f at epsilon %g; without privacy %.4f"):format(accuracy(fit.theta), epsilon,
  accuracy(open.theta)))
