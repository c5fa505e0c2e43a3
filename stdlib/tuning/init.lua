-- tuning/init.lua -- pn.tune: a configuration, its model and its score by private selection with a secret number of runs.
-- Depends on: penumbra.selection (bindings/solvers/lselection.c), penumbra.tuning.read, .run.  Used by: penumbra (init.lua),
-- penumbra.sandbox.
--
-- What a run calls is taken from pn here, before a script of an analyst's may put other functions in its place; none of these files
-- calls a method of a string, reads an option with its metamethods, or gives a plan, a fit or an own budget of a run away.
local next, rawget, rawset, setmetatable, type = next, rawget, rawset, setmetatable, type

local tuning = {}

-- Of the solvers what plans, by name.
local function planners(solve)
  local plan_of = {}
  for name, entry in next, solve do
    local plan = type(entry) == "table" and rawget(entry, "plan")
    if type(plan) == "function" then plan_of[name] = plan end
  end
  return plan_of
end

-- pn.tune{...} and pn.tune.plan{...}.
function tuning.add(pn)
  local with = {
    plan_of = planners(pn.solve), objective = pn.objective, calibrate = pn.calibrate.epsilon, sigma = pn.calibrate.gaussian,
    gaussian = pn.event.gaussian, selection = pn.event.selection, approximate = pn.event.approximate,
    either = pn.event.either, secure = pn.rng.secure, zeros = pn.vec.zeros,
  }
  local function plan(options)
    return require("penumbra.tuning.run").plan(with, options)
  end
  rawset(pn, "tune", setmetatable({ plan = plan }, {
    __call = function(_, options) return require("penumbra.tuning.run").run(with, options) end,
    __tostring = function() return 'pn.tune{...} runs, pn.tune.plan{...} only plans: help "tune"' end,
    __metatable = false,
  }))
end

local params = {
  { name = "solver", expects = "text", required = true, doc = "name of a solver of pn.solve" },
  { name = "objective", expects = "a pn.objective", required = true, doc = "what is trained; the records held out score" },
  { name = "grid", expects = "a table", required = true,
    doc = "option = {values}, or {lo=, hi=, log=true, whole=true}: a range, for solvers whose noise is Gaussian alone; each run "
      .. "draws one of all combinations, uniformly" },
  { name = "options", expects = "a table", required = false, doc = "further options of the solver, the same in each run" },
  { name = "score", expects = "text", required = true, doc = '"accuracy", "log_loss" or "rmse", on the held-out records' },
  { name = "range", expects = "a number", required = false,
    doc = "where a record's log_loss, or its error for rmse, is cut; public; ln 2 times 4 for log_loss", default = "auto" },
  { name = "epsilon", expects = "a number", required = true, doc = "price of the whole search" },
  { name = "delta", expects = "a number", required = true, doc = "at this delta" },
  { name = "neighbours", expects = "text", required = false, default = "replace_one", doc = '"replace_one" or "zero_out"' },
  { name = "ledger", expects = "a pn.ledger", required = false,
    doc = "charged once, before the first run; by default the search's own price is the budget" },
  { name = "accountant", expects = "text", required = false, default = "auto",
    doc = '"profile": the whole price at once, as event approximate; "rdp": beside other charges, the default with a ledger' },
  { name = "mean", expects = "a number", required = false, default = 10, doc = "expected number of runs, above 1" },
  { name = "target", expects = "a number", required = false,
    doc = "a public score: stop at the first run that reaches it, or give up with probability 1/mean after each other one" },
  { name = "holdout", expects = "a whole number", required = false, default = 5,
    doc = "of each `holdout` records in a row one is held out, by d:holdout's rule of positions" },
  { name = "pad", expects = "true or false", required = false, default = false,
    doc = "go on with runs that are thrown away, so that time does not tell how many counted" },
  { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes all of it a simulation" },
}

local source = "Liu, Talwar (2019); Papernot, Steinke (2022); Koskela, Redberg, Wang (2024)"

tuning.rows = {
  tune = {
    signature = "pn.tune{solver=, objective=, grid=, score=, epsilon=, delta=, ...} -> {theta=, configuration=, score=, price=}",
    doc = "Chooses a configuration by training with several, and pays for the choice: private selection with random stopping.  "
      .. "Each run draws a configuration, trains on the records that are not held out and scores the model on those that are, "
      .. "with Gaussian noise of the same cost; since the two parts hold different records, a run costs the larger of the two.  "
      .. "After each run the search ends with probability 1/mean.  It returns the best run: theta (the model), configuration, "
      .. "score (noisy, and biased upwards: no estimate of later accuracy) and price.  The price holds only while the number of "
      .. "runs and the results of the others stay secret, so there is neither progress= nor on_step=; elapsed time reveals the "
      .. "number of runs roughly, and pad = true hides it.  The ledger is charged the whole price before the first run.  A run "
      .. "that fails counts as the worst.  Where a target was given and no run reached it, found is false and there is no "
      .. "model.  Confidence intervals for a configuration that was fixed beforehand do not hold for the winner.  plan:tune{...} "
      .. "compares predicted risks and spends nothing: try it first.",
    source = source, reveals = "paid", kind = "function", params = params,
  },
  ["tune.plan"] = {
    signature = "pn.tune.plan{solver=, objective=, grid=, score=, epsilon=, delta=, ...} -> plan",
    doc = "Plans what pn.tune would do, and spends nothing: mu (sensitivity/sigma of all noise of one run, or of its score alone "
      .. "where the solver's noise is not all Gaussian), run_epsilon (of one run, in that case only), mu_single (of one fit for "
      .. "the same price), mean and q99 of the number of runs, chance that one of the best 10 % of configurations is seen, "
      .. "deviation of the score's noise, event, accountant, train and held (records), configurations; and the mu that one fit "
      .. "at the default configuration would have instead.  The plan prints itself.",
    source = source, reveals = "nothing", kind = "function", params = params,
  },
}

return tuning
