-- evaluation/init.lua -- pn.evaluate: how good a model is on private records that it was not trained on, paid for.
-- Depends on: penumbra.scores (bindings/solvers/lscores.c), penumbra.selection (lselection.c), penumbra.call,
-- penumbra.evaluation.figures, .show.  Used by: penumbra (init.lua), penumbra.model, penumbra.sandbox.
--
-- The records become a data set of cells (penumbra.scores), of which pn.query.histogram or pn.query.mean releases counts or
-- means: they check the range, charge the ledger and what the data set has cost, and draw the noise.  All else is arithmetic
-- on what they gave.  No method of a string is called: in a curated state those are the script's.
local error, ipairs, pairs, pcall, rawget, rawset = error, ipairs, pairs, pcall, rawget, rawset
local setmetatable, type, math_type = setmetatable, type, math.type
local format, metatable_of = string.format, debug.getmetatable
local call = require "penumbra.call"
local figures = require "penumbra.evaluation.figures"
local scores = require "penumbra.scores"
local weak = require("penumbra.selection").weak
local show = require "penumbra.evaluation.show"

local shown = call.shown

local evaluation = {}

local params = {
  { name = "model", expects = "a fit, or a model of pn.model", required = true, doc = "of any solver, or loaded" },
  { name = "data", expects = "a pn.dataset, or the path of a CSV file", required = true,
    doc = "records that the model was not trained on; a file when the model has a recipe" },
  { name = "epsilon", expects = "a number", required = false, doc = "price of the evaluation; this or rho" },
  { name = "delta", expects = "a number", required = false, default = "auto",
    doc = "at this delta; default: the ledger's, or 1/n^2" },
  { name = "rho", expects = "a number", required = false, doc = "the price as zCDP, in place of epsilon and delta" },
  { name = "ledger", expects = "a pn.ledger", required = false,
    doc = "charged once, before the noise; without one the price is the budget" },
  { name = "neighbours", expects = "text", required = false, default = "replace_one",
    doc = '"replace_one", "zero_out" or "add_remove"; of a ledger its own' },
  { name = "figures", expects = "a list", required = false,
    doc = '{"accuracy"}: that one alone, with less noise; default: all that the model\'s kind has' },
  { name = "bins", expects = "a whole number", required = false, default = 20,
    doc = "of the predicted probability; even, from 2 to 1000" },
  { name = "range", expects = "a number", required = false, default = "auto",
    doc = "where errors of a regression are cut, in the label's unit; public; default: the width of the labels' public range" },
  { name = "confidence", expects = "a number", required = false, default = 0.95, doc = "of the intervals, between 0 and 1" },
  { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes it a simulation" },
}

local function fail(...) error("evaluate: " .. format(...), 0) end

local function class_of(value)
  local metatable = type(value) == "userdata" and metatable_of(value)
  return metatable and rawget(metatable, "__name") or type(value)
end

-- ---- what is asked ----

local function check_options(options)
  call.check("evaluate", params, options)
  local bins, confidence = options.bins, options.confidence
  if bins ~= nil and not (math_type(bins) == "integer" and bins >= 2 and bins <= 1000 and bins % 2 == 0) then
    fail("bins must be an even whole number from 2 to 1000, got %s", shown(bins))
  end
  if confidence ~= nil and not (type(confidence) == "number" and confidence > 0 and confidence < 1) then
    fail("confidence must be a number between 0 and 1, got %s", shown(confidence))
  end
end

local function fit_of(model)
  if type(model) == "table" then model = rawget(model, "fit") end
  if class_of(model) ~= "pn.fit" then
    fail("model must be a fit (of a solver, of pn.load or of pn.model), got %s", class_of(model))
  end
  return model
end

local function records(fit, data)
  if class_of(data) == "pn.dataset" then return data end
  if type(data) ~= "string" and type(data) ~= "table" then
    fail("data must be a pn.dataset or the path of a CSV file, got %s", class_of(data))
  end
  local recipe = fit.recipe
  if not recipe then fail("the model has no recipe, which says what the columns of a file mean; give a data set") end
  return recipe:data(data)
end

-- "accuracy", or nil for all.
local function wanted(options, kind)
  local list = options.figures
  if list == nil then return nil end
  if type(list) ~= "table" or #list ~= 1 or list[1] ~= "accuracy" then
    fail('figures must be {"accuracy"}, which has less noise alone, or left out for all')
  end
  if kind == "error" then fail('a regression has no accuracy; leave figures out for the RMSE') end
  return "accuracy"
end

-- Kinds of scores by what margins say.
local kinds = { logistic = "bins", softmax = "confusion", sign = "right", identity = "error", exp = "error" }

local function kind_of(fit)
  local link, margins = scores.link(fit)
  local kind = kinds[link]
  if not kind then fail("the loss is one of your own, and nothing says what its margins mean") end
  if kind == "confusion" and margins > 100 then fail("%d classes make more cells than are released; at most 100", margins) end
  return kind, margins
end

-- Half the width of a label that is a range, in its unit, and where errors are cut, in that unit.
local function units(options, fit, data)
  local label = fit.recipe and fit.recipe:label()
  local unit = label and label.low and (label.high - label.low) / 2 or 1
  local labels = data.bounds.labels
  local range = options.range
  if range == nil and labels then range = (labels[2] - labels[1]) * unit end
  if range == nil then
    fail("range is missing: give the error at which a record's error is cut, in the label's unit; a public number")
  end
  if type(range) ~= "number" or not (range > 0 and range < math.huge) then
    fail("range must be a positive number, got %s", shown(range))
  end
  return unit, range
end

-- ---- the price ----

local function delta_of(options, n)
  if options.rho ~= nil or options.delta ~= nil then return options.delta end
  local ledger = options.ledger
  if ledger and ledger.delta and ledger.delta > 0 then return ledger.delta end
  if options.neighbours == "add_remove" then
    fail("delta is missing: under add_remove the number of records is private, so 1/n^2 would tell it")
  end
  return 1 / (n > 1 and n or 2) ^ 2
end

-- What the query takes, and the relation.
local function price(with, options, n)
  if (options.epsilon == nil) == (options.rho == nil) then fail("give epsilon (and delta) or rho, the price") end
  if options.rho ~= nil and options.delta ~= nil then fail("give epsilon and delta, or rho, not both") end
  local delta, ledger = delta_of(options, n), options.ledger
  if ledger and options.neighbours and ledger.neighbours ~= options.neighbours then
    fail("neighbours is \"%s\" and the ledger's \"%s\"; leave it out", shown(options.neighbours), ledger.neighbours)
  end
  if not ledger and not with.curated then
    ledger = with.ledger { epsilon = options.epsilon, delta = delta, rho = options.rho, neighbours = options.neighbours,
      teaching = options.rng ~= nil and options.rng.simulated or nil }
  end
  return { epsilon = options.epsilon, delta = delta, rho = options.rho, ledger = ledger, rng = options.rng, label = "evaluate" },
    ledger and ledger.neighbours or with.curated
end

local function copy(t)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  return out
end

-- ---- the releases ----

local function counts_of(with, cells, width, paid)
  local ask, edges = copy(paid), {}
  for c = 0, width do edges[c + 1] = c end
  ask.data, ask.column, ask.edges = cells, 1, edges
  local answer = with.histogram(ask)
  return answer.value:table(), answer.deviation, answer.event
end

local function means_of(with, cells, columns, paid)
  local ask = copy(paid)
  ask.data, ask.columns, ask.low, ask.high = cells, columns, {}, {}
  for c = 1, #columns do ask.low[c], ask.high[c] = 0, 1 end
  local answer = with.mean(ask)
  if #columns == 1 then return answer.value, answer.deviation, answer.event end
  return answer.value:table(), answer.deviation[1], answer.event
end

-- Figures, and what was charged.
local function release(with, options, fit, data, paid, relation, z)
  local kind, margins = kind_of(fit)
  local public = relation ~= "add_remove" and data.n or nil
  local bins = options.bins or 20
  if wanted(options, kind) or kind == "right" then
    if not public then fail("accuracy alone divides by the number of records, which add_remove keeps private") end
    local value, s, event = means_of(with, scores.of(fit, data, "right", 2, 1), { 1 }, paid())
    return figures.share(value, s, data.n, z), event
  end
  if kind == "error" then
    if not public then fail("a mean error divides by the number of records, which add_remove keeps private") end
    local unit, range = units(options, fit, data)
    local means, s, event = means_of(with, scores.of(fit, data, "error", 2, range / unit), { 1, 2 }, paid())
    return figures.error(means, s, data.n, z, range), event
  end
  local width = kind == "bins" and 2 * bins or margins * margins
  local counts, s, event = counts_of(with, scores.of(fit, data, kind, bins, 1), width, paid())
  if kind == "bins" then return figures.two(counts, bins, s, public, z), event end
  return figures.several(counts, margins, s, public, z), event
end

local meta = { __name = "pn.evaluation", __tostring = show, __metatable = false }

local function evaluate(with, options)
  check_options(options)
  local fit = fit_of(options.model)
  local data = records(fit, options.data)
  local ask, relation = price(with, options, data.n)
  local confidence = options.confidence or 0.95
  local found, event = release(with, options, fit, data, function() return ask end, relation,
    scores.quantile(1 - (1 - confidence) / 2))
  local out = { figures = found.list, records = found.records, confidence = confidence, no_auc = found.no_auc, roc = found.roc,
    calibration = found.calibration, confusion = found.confusion, counts = found.counts, event = event,
    simulated = options.rng ~= nil and options.rng.simulated or false, neighbours = relation,
    warning = not ask.rho and weak(ask.epsilon) or nil }
  for _, one in ipairs(found.list) do out[one.name] = one.value end
  out.privacy = out.simulated and "none: the noise is seeded" or ask.rho and format("rho = %.4g, %s", ask.rho, relation)
    or format("epsilon = %.4g, delta = %.3g, %s", ask.epsilon, ask.delta, relation)
  return setmetatable(out, meta)
end

-- ---- pn.evaluate ----

-- curated: the relation of the curator's ledger, which pays there.
function evaluation.add(pn, curated)
  local with = { histogram = pn.query.histogram, mean = pn.query.mean, ledger = pn.ledger, curated = curated }
  rawset(pn, "evaluate", function(options) return call.finish("evaluate", pcall(evaluate, with, options)) end)
end

evaluation.rows = {
  evaluate = {
    signature = "pn.evaluate{model=, data=, epsilon=, delta=, ledger=, figures=, ...} -> evaluation",
    doc = "How good a model is on private records, for one charge before the noise.  A model of two classes: the counts of both "
      .. "labels in bins of the predicted probability are released once (one record moves two of them by 1), and accuracy, AUC, "
      .. "log_loss (at centres of bins), positives (share of label 1), roc {threshold=, fpr=, tpr=}, calibration (of each bin "
      .. "predicted, share, low, high, count), confusion and counts follow from them for nothing.  Of several classes: confusion "
      .. "and accuracy.  A regression: rmse, with errors cut at range.  figures = {\"accuracy\"} releases one number instead, with "
      .. "about a fourth of the noise of 20 bins.  Each of e.figures has value, low, high, noise and sampling (deviations): the "
      .. "interval counts the noise and that the records are a sample.  Where a class has too few records for its noise there is "
      .. "no AUC.  Evaluate on records that neither trained the model nor chose it: pn.model holds some out, d:holdout makes such "
      .. "a part.",
    source = "Dwork, Roth (2014), section 3.3; Hanley, McNeil (1982) for the area as a rank statistic",
    reveals = "paid", kind = "function", params = params,
  },
}

return evaluation
