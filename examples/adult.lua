-- adult.lua -- private logistic regression on Adult: a model of someone's census row, without that row showing.
--   penumbra examples/adult.lua FOLDER      (with a9a.gz and a9a.t.gz, Adult as the LIBSVM page has it; gzip or not)
local pn = require "penumbra"
local folder = arg[1] or os.getenv "PENUMBRA_DATA"
local function load(name)
  return pn.data.libsvm(folder .. "/" .. name, { cols = 123 }):clip_rows("l2", 1)
end
local all = not folder and pn.data.synthetic.logistic { n = 40000, p = 50, sparsity = 5, seed = 3 }:clip_rows("l2", 1)
local train, test
if all then train, test = all:split(0.8, pn.rng.seeded(1)) else train, test = load "a9a.gz", load "a9a.t.gz" end
local objective = pn.objective { data = train, loss = pn.loss.logistic() }
local fit = pn.solve.sgd(objective, { epsilon = 1, delta = 1 / train.n ^ 2 })
print(fit)
print(("test accuracy %.4f%s"):format(pn.objective { data = test, loss = pn.loss.logistic() }:accuracy(fit.theta),
  all and " on synthetic data; give a folder for Adult" or ""))
