-- private_logistic9.lua -- a private classifier without a number to choose.
--   penumbra examples/private_logistic9.lua FOLDER      (with a9a.gz and a9a.t.gz)
local pn = require "penumbra"
local folder, epsilon = arg[1] or os.getenv "PENUMBRA_DATA", tonumber(arg[2] or 1)
local real = folder and folder ~= ""
local train, test = pn.data.synthetic.logistic { n = 40000, p = 50, sparsity = 5, seed = 3 }:split(0.8, pn.rng.seeded(1))
if real then
  train, test = pn.data.libsvm(folder .. "/a9a.gz", { cols = 123 }), pn.data.libsvm(folder .. "/a9a.t.gz", { cols = 123 })
end
train, test = train:clip_rows("l2", 1), test:clip_rows("l2", 1)
local objective = pn.objective { data = train, loss = pn.loss.logistic() }
local fit = pn.solve.objective_perturbation(objective, { epsilon = epsilon, delta = 1 / train.n ^ 2 })
local accuracy = pn.objective { data = test, loss = pn.loss.logistic() }:accuracy(fit.theta)
print(fit)
print(("test accuracy %.4f on %s"):format(accuracy, real and "a9a" or "synthetic data; give a folder for a9a"))
