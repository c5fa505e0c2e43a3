-- terms.lua -- terms of the field and what the library calls them, for help: terms.find "DP-SGD" is {"solve.sgd", ...}.
-- Depends on: nothing.  Used by: penumbra.prompt.help.
local terms = {}

-- What stands behind the colon are names of the reference, the best first.
local TEXT = [[
dp sgd, dpsgd, sgd, noisy sgd, private sgd: solve.sgd, solve.noisy_sgd, solve.adam
cross validation, crossvalidation, model selection, grid search, hyperparameter, hyperparameter search: tune, tune.plan, evaluate
hyperparameter tuning, parameter tuning, tuning: tune, tune.plan, evaluate
logistic regression, classification, classifier, binary classification: model.logistic, loss.logistic
linear regression, least squares, ordinary least squares, ols: model.linear, solve.sufficient_statistics, loss.squared
ridge, ridge regression, weight decay, l2 regularisation, l2 regularization: reg.l2, model.linear
lasso regression, l1 regularisation, l1 regularization, sparse regression: model.lasso, set.l1_ball
multinomial regression, softmax regression, multiclass, multiclass classification: model.multinomial, loss.softmax
poisson regression, count regression: model.poisson, loss.poisson
svm, support vector machine: loss.hinge, loss.smooth_hinge
intercept, bias, bias term, constant term: recipe, pn.dataset:add_bias
average, private mean: query.mean
counting query, private count: query.count
median, private median, percentile: query.quantile
gaussian mechanism, gaussian noise: mechanism.gaussian, calibrate.gaussian, event.gaussian
laplace mechanism, laplace noise: mechanism.laplace, calibrate.laplace, event.laplace
composition, moments accountant, privacy accountant, renyi differential privacy, rdp, renyi: accountant, accountant.rdp
zcdp, concentrated differential privacy: accountant.zcdp, event.zcdp
subsampling, amplification, privacy amplification, amplification by subsampling: event.poisson_sampled, event.fixed_sampled
privacy budget, spent budget: ledger, budget, session
adaptive composition, privacy filter, odometer: ledger, pn.ledger:odometer
gradient clipping, clipping, clip norm: objective, pn.dataset:clip_rows, solve.adaptive_clipping
membership inference, attack, privacy attack, empirical privacy: audit
confidence interval, standard error, uncertainty: pn.fit:intervals
train test split, test set, holdout set: pn.dataset:holdout, evaluate
accuracy, auc, roc: evaluate
one hot, categorical, categories, missing values, feature engineering: recipe, pn.recipe:data
pandas, dataframe, data frame, read csv: pn.recipe:data, data.csv
local differential privacy, randomised response, randomized response: lesson
federated learning, vertical federated learning: federated, solve.federated_frank_wolfe
continual release, continual observation, binary mechanism, tree aggregation: tree, solve.ftrl
model card: pn.fit:card
]]

local function plain(text)
  return (text:lower():gsub("[^%w]+", " "):gsub("^ ", ""):gsub(" $", ""))
end

local known

-- The names that a term leads to, or nil; plurals count as their singular.
function terms.find(text)
  if not known then
    known = {}
    for words, entries in TEXT:gmatch "([^\n:]*): ([^\n]*)" do
      local list = {}
      for name in entries:gmatch "[^,%s]+" do list[#list + 1] = name end
      for term in (words .. ","):gmatch "%s*(.-)," do known[term] = list end
    end
  end
  local wanted = plain(text)
  return known[wanted] or known[(wanted:gsub("s$", ""))]
end

return terms
