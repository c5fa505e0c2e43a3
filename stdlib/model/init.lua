-- model/init.lua -- pn.model: from a file to a private model in one call.  It reads the file by the recipe, holds records out by
-- position, chooses the solver from public numbers and trains; what it chose it says.
-- Depends on: penumbra.model.kinds, .public, .ranges, .show, penumbra.call.  Used by: penumbra (init.lua), penumbra.sandbox.
--
-- What a call needs is taken from pn when it is made, before a script of an analyst's may put other functions in its place; none
-- of these files calls a method of a string.
local error, ipairs, next, pairs, pcall, rawget, rawset = error, ipairs, next, pairs, pcall, rawget, rawset
local math_type, setmetatable, type = math.type, setmetatable, type
local concat, format = table.concat, string.format
local sort, debug_metatable = table.sort, debug.getmetatable
local call = require "penumbra.call"
local kinds = require "penumbra.model.kinds"
local public = require "penumbra.model.public"
local ranges = require "penumbra.model.ranges"
local show = require "penumbra.model.show"

local shown = call.shown
local models = {}

local EVERY = 5

local params = {
  { name = "data", expects = "a path, a table of columns or a pn.dataset", required = true,
    doc = "a CSV file that the recipe reads, or a data set whose rows and labels have public bounds" },
  { name = "recipe", expects = "a pn.recipe, or a table for one", required = false,
    doc = "what the columns are, from public facts; needed with a file" },
  { name = "share", expects = "a number", required = false, default = 0.1,
    doc = 'share share of the price, as zCDP, that estimates open ranges and levels of a recipe with ranges = "private"' },
  { name = "epsilon", expects = "a number", required = false, doc = "price of the model; this or rho, unless privacy = false" },
  { name = "delta", expects = "a number", required = false,
    doc = "at this delta; by default 1/n^2, n the number of records, which is public", default = "auto" },
  { name = "rho", expects = "a number", required = false, doc = "the price as zCDP, in place of epsilon and delta" },
  { name = "neighbours", expects = "text", required = false, default = "replace_one",
    doc = '"replace_one" or "zero_out": under both the number of records is public' },
  { name = "ledger", expects = "a pn.ledger", required = false, doc = "charged for the fit; the session counts it in any case" },
  { name = "test", expects = "a whole number or false", required = false, default = EVERY,
    doc = "of each `test` records in a row one is held out, by d:holdout's rule of positions; false: none" },
  { name = "csv", expects = "a table", required = false, doc = "how the file is read: {sep=, decimal=, encoding=, header=}" },
  { name = "radius", expects = "a number", required = false, default = "auto", doc = "of the set of models" },
  { name = "clip", expects = "a number or false", required = false, default = "auto",
    doc = "l2 norm to which a record's gradient is scaled down, false: none; not for multinomial" },
  { name = "classes", expects = "a whole number", required = false, doc = "of multinomial without a recipe" },
  { name = "public", expects = "a path, a table of columns, a pn.dataset, or {data=, use=, ...}", required = false,
    doc = "records that you declare public, read as the private ones; of a table, offset, moment and prior (true or false; prior "
      .. "also a weight) and quantile, where offset clips" },
  { name = "privacy", expects = "true or false", required = false, default = true, doc = "false: the control without noise" },
  { name = "progress", expects = "a function or true or false", required = false, doc = "as for the solvers" },
  { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes the model a simulation" },
}

local function is(value, class)
  local metatable = type(value) == "userdata" and debug_metatable(value)
  return metatable and rawget(metatable, "__name") == class
end

local function names_of(t)
  local names = {}
  for name in next, t do names[#names + 1] = name end
  sort(names)
  return concat(names, ", ")
end

-- ---- the rules ----

-- The delta that the plan is to have, and the same where it was chosen here.
local function price(owner, options, n)
  local free = options.privacy == false
  if options.rho and (options.epsilon or options.delta) then error(owner .. ": give epsilon and delta, or rho, not both", 0) end
  if free and (options.epsilon or options.rho) then
    error(owner .. ": privacy = false adds no noise, so it takes neither epsilon nor rho", 0)
  end
  if not free and not options.epsilon and not options.rho then
    error(owner .. ": epsilon is missing; give the price of the model, such as epsilon = 1", 0)
  end
  if options.neighbours == "add_remove" then
    error(owner .. ": neighbours must be \"replace_one\" or \"zero_out\": add_remove keeps the number of records secret, by which "
      .. "the mean loss is divided", 0)
  end
  if free or options.rho or options.delta then return options.delta end
  local delta = 1 / (n > 1 and n or 2) ^ 2
  return delta, delta
end

-- Of how many records in a row one is held out; nil: none.
local function held(owner, options, n)
  local every = options.test
  if every == nil then every = EVERY end
  if every == false then return nil end
  if math_type(every) ~= "integer" or every < 2 then
    error(format("%s: test must be a whole number from 2 (of each `test` records in a row one is held out), or false, got %s",
      owner, shown(every)), 0)
  end
  if n < every then
    error(format("%s: there are %d records, fewer than test = %d; give test = false to hold none out", owner, n, every), 0)
  end
  return every
end

-- ---- the records ----

local function recipe_of(with, owner, options)
  local recipe = options.recipe
  if type(recipe) == "table" then
    local open = type(recipe.features) == "table" and ranges.open_of(recipe)[1]
    if open then
      error(format("%s: column '%s' has no %s, or say ranges = \"private\" in the recipe, which pays for %s from the price", owner,
        open.name, open.category and 'levels: list them, {"a", "b"}' or "range: state one, {low, high}",
        open.category and "them" or "it"), 0)
    end
    return with.recipe(recipe)
  end
  if recipe ~= nil and not is(recipe, "pn.recipe") then
    error(format("%s: recipe must be a pn.recipe or a table for one, got %s", owner, type(recipe)), 0)
  end
  return recipe
end

local function check_label(owner, row, recipe, data, options)
  local wrong = row.labels(recipe and recipe:label(), data, options)
  if wrong then error(owner .. ": " .. wrong, 0) end
end

-- A table for a recipe whose open columns a part of the price is to close.
local function wants_ranges(recipe)
  return type(recipe) == "table" and recipe.ranges == "private"
end

-- The options with the recipe that was paid for, and what is left to pay the fit.
local function with_ranges(with, owner, options)
  local all, chosen = {}, nil
  for name, value in next, options do all[name] = value end
  local recipe, found, ledger = ranges.part(with, options, function(n)
    local delta
    delta, chosen = price(owner, options, n)
    return with.ledger { epsilon = options.epsilon, delta = delta, rho = options.rho, neighbours = options.neighbours,
      teaching = options.rng ~= nil and options.rng.simulated or nil }
  end)
  all.recipe, all.ledger, all.share = recipe, ledger, nil
  if options.rho then all.rho = ledger.remaining else all.epsilon, all.delta = ranges.rest(with, ledger), ledger.delta end
  return all, found, chosen
end

-- The options with a recipe of any ranges, for a plan that shows what is wrong before the ranges are paid for.
local function with_trial(with, owner, options)
  local all = {}
  if options.ledger then
    error(owner .. ": with ledger=, estimate the ranges first: recipe = pn.recipe.estimate{data=, recipe=, rho=, ledger=}", 0)
  end
  if options.privacy == false then error(owner .. ': ranges = "private" costs privacy, so privacy = false cannot have it', 0) end
  if type(options.data) ~= "string" and type(options.data) ~= "table" then
    error(owner .. ': ranges = "private" reads a file or a table of columns; a data set has its ranges', 0)
  end
  for name, value in next, options do all[name] = value end
  if options.public ~= nil then
    error(owner .. ': with public=, state the ranges of columns from the public records, in place of ranges = "private"', 0)
  end
  all.recipe = ranges.trial(with, options.recipe)
  return all
end

-- The data set and its recipe, whose label is one for the kind.
local function records(with, owner, row, options)
  local data, recipe = options.data, recipe_of(with, owner, options)
  if is(data, "pn.dataset") then
    if recipe then error(owner .. ": recipe= reads a file; a data set is already made: leave recipe= out, or give the file", 0) end
    check_label(owner, row, data.recipe, data, options)
    return data, data.recipe
  end
  if type(data) ~= "string" and type(data) ~= "table" then
    error(format("%s: data must be the path of a CSV file, a table of columns or a pn.dataset, got %s", owner, type(data)), 0)
  end
  if not recipe then
    error(format("%s: recipe= is missing: it says what the columns are, such as {label = {income = {\"<=50K\", \">50K\"}}, "
      .. "features = {age = {17, 90}}}; pn.recipe.columns(path) lists the names of the file", owner), 0)
  end
  if not recipe:label() then error(owner .. ": the recipe has no label, so there is nothing to predict; give it label=", 0) end
  check_label(owner, row, recipe, nil, options)
  return type(data) == "table" and recipe:data(data) or recipe:data(data, options.csv), recipe
end

-- What an objective misses, whose slopes are bounded where rows are.
local function check_bounds(with, owner, d)
  if not d.bounds.l2 then error(owner .. ": " .. with.objective { data = d, loss = with.huber() }.bounds.missing, 0) end
end

-- ---- a model ----

local fields = { "what", "kind", "fit", "trained", "plan", "recipe", "train", "test", "every", "clip", "delta", "default_delta",
  "ranges", "together", "public", "warnings" }
local is_field = {}
for _, name in ipairs(fields) do is_field[name] = true end

local methods = {}
for _, name in ipairs { "probabilities", "coefficients", "intervals", "card", "save", "export" } do
  methods[name] = function(self, ...)
    local fit = self.fit
    return fit[name](fit, ...)
  end
end

-- Classes by their names where the recipe has them.
function methods.predict(self, data, options)
  local label = self.recipe and self.recipe:label()
  local named = label and label.classes and (type(data) == "string" or is(data, "pn.dataset"))
  local all = {}
  for name, value in pairs(options or {}) do all[name] = value end
  if named and all.labels == nil then all.labels = true end
  return self.fit:predict(data, next(all) and all or nil)
end

-- On the part that was held out, unless other records are given.
local function evaluates(evaluate)
  function methods.evaluate(self, options)
    local all = {}
    for name, value in pairs(options or {}) do all[name] = value end
    all.model = self.fit
    if all.data == nil then all.data = self.test end
    return evaluate(all)
  end
end

local meta = {
  __name = "pn.model", __metatable = false, __methods = methods, __fields = is_field,
  __as = { evaluate = "evaluate", predict = "pn.fit:predict", probabilities = "pn.fit:probabilities",
    intervals = "pn.fit:intervals", save = "pn.fit:save", export = "pn.fit:export" }, -- whose options a method takes
  __index = function(_, name)
    if methods[name] then return methods[name] end
    if is_field[name] then return nil end
    error(format("a model has no '%s'; it has %s, and the methods %s", shown(name), concat(fields, ", "), names_of(methods)), 2)
  end,
  __tostring = show,
}

-- All but the run: looks at no record but to read them, and spends nothing.
local function prepare(with, owner, row, options)
  local d, recipe = records(with, owner, row, options)
  check_bounds(with, owner, d)
  local delta, chosen = price(owner, options, d.n)
  local every, part, test = held(owner, options, d.n), d, nil
  if every then part, test = d:holdout(every) end
  local label, from, problem = recipe and recipe:label()
  if options.public ~= nil then
    from = public.problem(with, owner, row, options, part, recipe, label, delta)
    problem = from.problem
  else
    problem = row.objective(with, part, options, label, delta)
    problem.data = part
  end
  local objective = with.objective(problem)
  local function plan(epsilon)
    return with.plan(objective, { epsilon = epsilon, delta = delta, rho = options.rho, privacy = options.privacy,
      neighbours = options.neighbours, ledger = options.ledger, start = from and from.start })
  end
  return { plan = plan(options.epsilon), again = plan, recipe = recipe, train = part, test = test, every = every,
    clip = problem.clip, delta = delta, default_delta = chosen, public = from }
end

local function train(with, kind, options)
  local owner, row = "model." .. kind, kinds[kind]
  call.check(owner, params, options)
  if options.clip and not row.clips then
    error(format("%s: the gradients of its loss have a certified bound, so clip= is not needed; leave it out", owner), 0)
  end
  local found, default
  if wants_ranges(options.recipe) then
    prepare(with, owner, row, with_trial(with, owner, options))
    options, found, default = with_ranges(with, owner, options)
  end
  local m = prepare(with, owner, row, options)
  if found then
    if not options.ledger:covers(m.plan.event) then m.plan = m.again(options.ledger.remaining) end -- its noise is not all Gaussian
    m.default_delta, m.ranges, m.together = default, found, options.ledger
  end
  m.again = nil
  m.what, m.kind, m.warnings = row.what, kind, public.warnings(m.public, m.plan)
  m.trained = m.plan:run { progress = options.progress, rng = options.rng }
  m.fit = m.trained
  if m.public then m.fit, m.public = m.public.finish(m.trained), public.about(m.public) end
  return setmetatable(m, meta)
end

-- ---- pn.model ----

-- What is denied to analysts is denied when it is called, in its own words.
local function taken(get)
  local fine, value = pcall(get)
  return fine and value or function() error(value, 0) end
end

models.class = meta

function models.add(pn)
  local with = {
    recipe = pn.recipe, objective = pn.objective, plan = taken(function() return pn.solve.auto.plan end),
    l2_ball = pn.set.l2_ball, l1_ball = pn.set.l1_ball, l2 = pn.reg.l2, quadratic = pn.reg.quadratic,
    exact = taken(function() return pn.solve.exact end), seeded = pn.rng.seeded, is = is,
    mat = pn.mat, vec = pn.vec, basis = pn.vec.basis, zeros = pn.vec.zeros,
    quantile = pn.query.quantile, levels = taken(function() return pn.query.levels end), sigma = pn.calibrate.gaussian,
    gaussian = pn.event.gaussian, event = pn.event.exponential, approximate = pn.event.approximate, repeated = pn.event.repeated,
    compose = pn.event.compose,
    ledger = pn.ledger,
    logistic = pn.loss.logistic, squared = pn.loss.squared, poisson = pn.loss.poisson, softmax = pn.loss.softmax,
    huber = pn.loss.huber,
  }
  local library = {}
  evaluates(pn.evaluate)
  rawset(pn.recipe, "estimate", function(options) return call.finish("recipe.estimate", pcall(ranges.estimate, with, options)) end)
  for kind in next, kinds do
    library[kind] = function(options) return call.finish("model." .. kind, pcall(train, with, kind, options)) end
  end
  rawset(pn, "model", setmetatable(library, {
    __name = "pn.library", __metatable = false,
    __index = function(_, name)
      error(format("pn.model has no '%s'; it has %s", shown(name), names_of(kinds)), 2)
    end,
    __tostring = function() return 'library model: help "model" lists what it has' end,
  }))
end

local shared = "  The rows of the file become features by the recipe; of each `test` records in a row one is held out in "
  .. "m.test, by position (d:holdout); solve.auto picks the solver from public numbers.  The model has predict(data, options) "
  .. "(of a file with names of classes), probabilities, coefficients, intervals, card, save and export as a fit has them, "
  .. "evaluate{epsilon=} (pn.evaluate on m.test), and the fields " .. concat(fields, ", ")
  .. ".  It prints what was chosen and why, the price and the largest coefficients.  public= costs nothing and improves the fit by "
  .. "records that you declare public: their exact model is the first point (start); for linear and lasso its prediction is "
  .. "subtracted from the labels, and the remainder clipped at a quantile (offset), so that noise shrinks with it; and a "
  .. "quadratic prior about it weighs them against the noise (prior).  moment = true also scales rows by the root of their second "
  .. "moment and clips them again (not for lasso): it gains where the public records are like the private ones, and loses much "
  .. "where they are not.  m.fit is in the columns' coordinates, m.trained the run itself.  The price and the "
  .. "statement concern the private records alone: what you declare public is not protected, and nobody can see "
  .. "whether it shares people with them."

local docs = {
  logistic = "Logistic regression for two classes, in the l2 ball of radius 40/R with R the bound of rows, with gradients clipped "
    .. "at a part of R that is about the row norm to be expected by the recipe's form.  Population intervals of a clipped model "
    .. "claim no coverage; clip = false leaves its gradients whole.",
  linear = "Linear regression for numbers with a public range, with gradients clipped at a quarter to a half of the largest at the "
    .. "start, the more the larger the noise.",
  poisson = "Poisson regression for counts from 0 to a public bound, in the l2 ball that lets predictions reach the square of it, "
    .. "with clipped gradients.",
  multinomial = "Multinomial regression for three classes or more, in the l2 ball of radius 40/R.",
  lasso = "Linear regression in an l1 ball, for many features of which few matter; by default predictions reach twice the "
    .. "largest label.",
}

models.rows = {
  model = {
    kind = "library", reveals = "nothing", signature = "pn.model.logistic, pn.model.linear, ...",
    doc = "From a CSV file and a recipe to a private model in one call, with a solver that public numbers choose.",
  },
}
models.rows["recipe.estimate"] = {
  kind = "function", reveals = "paid",
  signature = "pn.recipe.estimate{data=, recipe=, epsilon=, delta=, ledger=, ...} -> recipe, ranges",
  doc = "The recipe with ranges, estimated from the records, of the columns that leave them open: age = \"number\", or {range = "
    .. "\"private\", missing = ...}; also of the label; and with levels, job = \"category\" or {levels = \"private\", ...}, which "
    .. "pn.query.levels releases first, for delta.  Two quantiles of each range, tail and 1 - tail, are released by the "
    .. "exponential mechanism over a grid of 0 and +-2^(k/2) up to 2^60, the same for every file; the ledger is charged "
    .. "before each.  Records that are too few for their noise, and a ledger that does not cover all, are refused before "
    .. "anything is spent.  The second answer prints the ranges, and the recipe says what they cost (r.estimated).  In "
    .. "estimating, missing values with an indicator count as 0.  A list {\"number\"} is a list of one category.",
  source = "Smith (2011); McSherry, Talwar (2007)",
  params = ranges.params,
}
for kind, doc in next, docs do
  models.rows["model." .. kind] = {
    kind = "function", reveals = "paid", params = params, doc = doc .. shared, source = "see pn.solve.auto",
    signature = format("pn.model.%s{data=, recipe=, epsilon=, delta=, ...} -> model", kind),
  }
end

return models
