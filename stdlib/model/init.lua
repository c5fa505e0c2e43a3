-- model/init.lua -- pn.model: from a file to a private model in one call.  It reads the file by the recipe, holds records out by
-- position, chooses the solver from public numbers and trains; what it chose it says.
-- Depends on: penumbra.model.kinds, .ranges, .show, penumbra.shown.  Used by: penumbra (init.lua), penumbra.sandbox.
--
-- What a call needs is taken from pn when it is made, before a script of an analyst's may put other functions in its place; none
-- of these files calls a method of a string.
local error, ipairs, next, pairs, pcall, rawget, rawset = error, ipairs, next, pairs, pcall, rawget, rawset
local math_type, setmetatable, type = math.type, setmetatable, type
local concat, find, format, gsub = table.concat, string.find, string.format, string.gsub
local sort, debug_metatable = table.sort, debug.getmetatable
local kinds = require "penumbra.model.kinds"
local ranges = require "penumbra.model.ranges"
local show = require "penumbra.model.show"
local shown = require "penumbra.shown"

local models = {}

local EVERY = 5

local params = {
  { name = "data", expects = "a path, a table of columns or a pn.dataset", required = true,
    doc = "a CSV file that the recipe reads, or a data set whose rows and labels have public bounds" },
  { name = "recipe", expects = "a pn.recipe, or a table for one", required = false,
    doc = "what the columns are, from public facts; needed with a file" },
  { name = "share", expects = "a number", required = false, default = 0.1,
    doc = 'of the price, as zCDP, that estimates the open ranges of a recipe with ranges = "private"' },
  { name = "epsilon", expects = "a number", required = false, doc = "price of the fit; this or rho, unless privacy = false" },
  { name = "delta", expects = "a number", required = false,
    doc = "at this delta; 1/n^2 with n the number of records, which is public but under add_remove", default = "auto" },
  { name = "rho", expects = "a number", required = false, doc = "the price as zCDP, in place of epsilon and delta" },
  { name = "neighbours", expects = "text", required = false, default = "replace_one",
    doc = '"replace_one", "zero_out" or "add_remove"; the last holds nothing out and needs a delta' },
  { name = "ledger", expects = "a pn.ledger", required = false, doc = "charged for the fit; the session counts it in any case" },
  { name = "test", expects = "a whole number or false", required = false, default = EVERY,
    doc = "each test-th record is held out, by its position in the file; false: none" },
  { name = "csv", expects = "a table", required = false, doc = "how the file is read: {sep=, decimal=, encoding=, header=}" },
  { name = "radius", expects = "a number", required = false, default = "auto", doc = "of the set of models" },
  { name = "clip", expects = "a number", required = false, default = "auto",
    doc = "l2 norm to which a record's gradient is scaled down; linear, poisson, lasso" },
  { name = "classes", expects = "a whole number", required = false, doc = "of multinomial without a recipe" },
  { name = "privacy", expects = "true or false", required = false, default = true, doc = "false: the control without noise" },
  { name = "progress", expects = "a function or true or false", required = false, doc = "as for the solvers" },
  { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes the model a simulation" },
}

local known = {}
for _, param in ipairs(params) do known[param.name] = true end

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

-- What the plan is to cost, and the delta that was chosen.
local function price(owner, options, n)
  local free = options.privacy == false
  if options.rho and (options.epsilon or options.delta) then error(owner .. ": give epsilon and delta, or rho, not both", 0) end
  if free and (options.epsilon or options.rho) then
    error(owner .. ": privacy = false adds no noise, so it takes neither epsilon nor rho", 0)
  end
  if not free and not options.epsilon and not options.rho then
    error(owner .. ": epsilon is missing: what may the fit cost?  1 is common, .1 is strict, above 10 protects little", 0)
  end
  if free or options.rho or options.delta then return options.delta end
  if options.neighbours == "add_remove" then
    error(owner .. ": delta is missing: under add_remove the number of records is private, so 1/n^2 would tell it; give a number "
      .. "below 1 over a public bound on the number of records", 0)
  end
  return 1 / n ^ 2, 1 / n ^ 2
end

-- each how many-th record is held out; nil: none.
local function held(owner, options, n)
  local every, moves = options.test, options.neighbours == "add_remove"
  if every == nil and moves then every = false end
  if every == nil then every = EVERY end
  if every == false then return nil end
  if moves then
    error(owner .. ": test= holds records out by their position, and under add_remove a record that is removed moves the others; "
      .. "give test = false, or neighbours = \"replace_one\"", 0)
  end
  if math_type(every) ~= "integer" or every < 2 then
    error(format("%s: test must be a whole number from 2 (each test-th record is held out), or false, got %s", owner,
      shown(every)), 0)
  end
  if n < every then
    error(format("%s: %d records have no %dth one to hold out; give test = false", owner, n, every), 0)
  end
  return every
end

-- ---- the records ----

local function recipe_of(with, owner, options)
  local recipe = options.recipe
  if type(recipe) == "table" then
    local open = type(recipe.features) == "table" and ranges.open_of(recipe)[1]
    if open then
      error(format("%s: column '%s' has no range: state one, {low, high}, or say ranges = \"private\" in the recipe, which "
        .. "pays for it from the price", owner, open.name), 0)
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
  if options.ledger then
    error(owner .. ": with ledger=, estimate the ranges first: recipe = pn.recipe.estimate{data=, recipe=, rho=, ledger=}", 0)
  end
  if type(options.data) ~= "string" and type(options.data) ~= "table" then
    error(owner .. ': ranges = "private" reads a file or a table of columns; a data set has its ranges', 0)
  end
  price(owner, options, 2)
  if options.privacy == false then error(owner .. ': ranges = "private" costs privacy, so privacy = false cannot have it', 0) end
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

local function check_bounds(owner, d)
  if not d.bounds.l2 then
    error(owner .. ": the rows of this data set have no public bound, so no noise would hide a record; give the file with recipe=, "
      .. "whose ranges bound them, or data:rescale{age = {17, 90}, ...}; clip_rows bounds rows too, but where one column is "
      .. "much larger than the others it leaves little of those", 0)
  end
end

-- ---- a model ----

local fields = { "what", "kind", "fit", "plan", "recipe", "train", "test", "every", "clip", "delta", "default_delta", "ranges",
  "together", "warnings" }
local is_field = {}
for _, name in ipairs(fields) do is_field[name] = true end

local methods = {}
for _, name in ipairs { "probabilities", "coefficients", "card", "save", "export" } do
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
  __name = "pn.model", __metatable = false,
  __index = function(_, name)
    if methods[name] then return methods[name] end
    if is_field[name] then return nil end
    error(format("a model has no '%s'; it has %s, and the methods %s", shown(name), concat(fields, ", "), names_of(methods)), 2)
  end,
  __tostring = show,
}

local function warnings_of(plan)
  local fine, warnings = pcall(function() return plan.warnings end)
  return fine and warnings or {}
end

local function train(with, kind, options)
  local owner, row = "model." .. kind, kinds[kind]
  if type(options) ~= "table" then error(format("%s: expected a table of options, got %s", owner, type(options)), 0) end
  for name in next, options do
    if not known[name] then
      error(format("%s: unknown option '%s'; it takes %s", owner, shown(name), names_of(known)), 0)
    end
  end
  if options.clip and not row.clips then
    error(format("%s: the gradients of its loss have a certified bound, so clip= is not needed; leave it out", owner), 0)
  end
  local found, default
  if wants_ranges(options.recipe) then options, found, default = with_ranges(with, owner, options) end
  local d, recipe = records(with, owner, row, options)
  check_bounds(owner, d)
  local delta, chosen = price(owner, options, d.n)
  local every, part, test = held(owner, options, d.n), d, nil
  if every then part, test = d:holdout(every) end
  local problem = row.objective(with, part, options, recipe and recipe:label())
  problem.data = part
  local objective = with.objective(problem)
  local function planned(epsilon)
    return with.plan(objective, { epsilon = epsilon, delta = delta, rho = options.rho, privacy = options.privacy,
      neighbours = options.neighbours, ledger = options.ledger })
  end
  local plan = planned(options.epsilon)
  if found and not options.ledger:covers(plan.event) then plan = planned(options.ledger.remaining) end -- not all Gaussian
  chosen = chosen or default
  local fit = plan:run { progress = options.progress, rng = options.rng }
  return setmetatable({ what = row.what, kind = kind, fit = fit, plan = plan, recipe = recipe, train = part, test = test,
    every = every, clip = problem.clip, delta = delta, default_delta = chosen, ranges = found,
    together = found and options.ledger, warnings = warnings_of(plan) }, meta)
end

-- Errors of what was called on the way name the call, and the place of its caller.
local function finish(owner, fine, answer)
  if fine then return answer end
  if type(answer) ~= "string" then error(answer, 0) end
  answer = gsub(answer, "^[^\n]-model/%w+%.lua:%d+: ", "")
  if find(answer, owner, 1, true) ~= 1 then answer = owner .. ": " .. answer end
  error(answer, 3)
end

-- ---- pn.model ----

-- What is denied to analysts is denied when it is called, in its own words.
local function taken(get)
  local fine, value = pcall(get)
  return fine and value or function() error(value, 0) end
end

function models.add(pn)
  local with = {
    recipe = pn.recipe, objective = pn.objective, plan = taken(function() return pn.solve.auto.plan end),
    l2_ball = pn.set.l2_ball, l1_ball = pn.set.l1_ball,
    quantile = pn.query.quantile, gaussian = pn.event.gaussian, event = pn.event.exponential, sigma = pn.calibrate.gaussian,
    ledger = pn.ledger,
    logistic = pn.loss.logistic, squared = pn.loss.squared, poisson = pn.loss.poisson, softmax = pn.loss.softmax,
  }
  local library = {}
  evaluates(pn.evaluate)
  rawset(pn.recipe, "estimate", function(options) return ranges.finish(pcall(ranges.estimate, with, options)) end)
  for kind in next, kinds do
    library[kind] = function(options) return finish("model." .. kind, pcall(train, with, kind, options)) end
  end
  rawset(pn, "model", setmetatable(library, {
    __name = "pn.library", __metatable = false,
    __index = function(_, name)
      error(format("pn.model has no '%s'; it has %s", shown(name), names_of(kinds)), 2)
    end,
    __tostring = function() return 'library model: help "model" lists what it has' end,
  }))
end

local shared = "  The rows of the file become features by the recipe; each test-th record, by its position, is held out in m.test; "
  .. "solve.auto picks the solver from public numbers.  The model has predict(data, options) (of a file with names of classes), "
  .. "probabilities, coefficients, card, save and export as a fit has them, "
  .. "evaluate{epsilon=} (pn.evaluate on m.test), and the fields " .. concat(fields, ", ")
  .. ".  It prints what was "
  .. "chosen and why, the price and the largest coefficients."

local docs = {
  logistic = "Logistic regression for two classes, in the l2 ball of radius 40/R with R the bound of rows.",
  linear = "Linear regression for numbers with a public range, with gradients clipped at half of the largest at the start.",
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
  kind = "function", reveals = "paid", signature = "pn.recipe.estimate{data=, recipe=, epsilon=, ledger=, ...} -> recipe, ranges",
  doc = "The recipe with ranges, estimated from the records, of the columns that leave them open: age = \"number\", or {range = "
    .. "\"private\", missing = ...}; also of the label.  Two quantiles of each, tail and 1 - tail, are released by the exponential "
    .. "mechanism over a grid of 0 and +-2^(k/2) up to 2^60, the same for every file; the ledger is charged before each.  Records "
    .. "that are too few for their noise, and a ledger that does not cover all, are refused before anything is spent.  The second "
    .. "answer prints the ranges.  In estimating, holes with an indicator count as 0.  "
    .. "A list {\"number\"} is a list of one category.",
  source = "Smith (2011); McSherry, Talwar (2007)",
  params = {
    { name = "data", expects = "a path or a table of columns", required = true, doc = "a CSV file with the open columns" },
    { name = "recipe", expects = "a table", required = true, doc = "as pn.recipe takes it, with open columns" },
    { name = "epsilon", expects = "a number", required = false, doc = "pure price of all ranges together; this or rho" },
    { name = "rho", expects = "a number", required = false, doc = "the price as zCDP: less noise where there are many columns" },
    { name = "ledger", expects = "a pn.ledger", required = true, doc = "pays; replace_one or zero_out" },
    { name = "tail", expects = "a number", required = false, default = 0.05, doc = "share of records beyond each end, about" },
    { name = "csv", expects = "a table", required = false, doc = "how the file is read: {sep=, decimal=, encoding=, header=}" },
    { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes it a simulation" },
  },
}
for kind, doc in next, docs do
  models.rows["model." .. kind] = {
    kind = "function", reveals = "paid", params = params, doc = doc .. shared, source = "see pn.solve.auto",
    signature = format("pn.model.%s{data=, recipe=, epsilon=, delta=, ...} -> model", kind),
  }
end

return models
