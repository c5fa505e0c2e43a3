-- Plans, advice, tuning and models: what they say before anything is paid, and what they take when something is.
local solvers = { "gradient_descent", "sgd", "svrg", "noisy_sgd", "frank_wolfe_convex", "mirror_descent",
      "accelerated_mirror_descent",
                  "auto", "newton", "ftrl", "adam", "nesterov", "heavy_ball" }
local attacks = {
  { tries = "Read bounds of the objective, which must follow from declared ones.",
    script = [[return tostring(obj.bounds), tostring(obj)]], expects = "nothing new" },
  { tries = "Compare predictions of plans on both data sets.",
    script = [[local p = pn.solve.gradient_descent.plan(obj, asked) return p.predicted, p.bound, p.sigma, p.hopeless, p.seconds]],
    expects = "nothing new" },
  { tries = "Rank solvers by advice, whose probe might look at records.",
    script = [[return pn.advise(data.d, pn.loss.logistic(), {rho=0.1})]], expects = "refused" },
  { tries = "Ask advice to probe.",
    script = [[return pn.advise(data.d, pn.loss.logistic(), {rho=0.1, probe=0.5, sets={C}, solvers={"sgd"}})]],
    expects = "refused" },
  { tries = "Tune a plan by its method, which loads a module.",
    script = [[return pn.solve.gradient_descent.plan(obj, asked):tune{}]], expects = "refused" },
  { tries = "Tune without a price.",
    script = [[return pn.tune{solver="gradient_descent", objective=obj, grid={step={0.1, 1}, iterations={2}}, score="accuracy"}]],
    expects = "epsilon must be a positive number" },
  { tries = "Tune with a score of one's own.",
    script = [[return pn.tune{solver="gradient_descent", objective=obj, grid={step={1}}, epsilon=1, delta=1e-6, score=function()
      return 1 end}]],
    expects = "would not be paid for" },
  { tries = "Count the runs of a search by a step size that is a function.",
    script = [[return pn.tune{solver="gradient_descent", objective=obj, grid={step=function()
      end}, epsilon=1, delta=1e-6, score="accuracy"}]],
    expects = "a function could read them" },
  { tries = "Watch a search by progress.",
    script = [[return pn.tune{solver="gradient_descent", objective=obj, grid={step={1}}, epsilon=1, delta=1e-6, score="accuracy",
      progress=print}]],
    expects = "how many runs" },
  { tries = "Ask a search for more epsilon than there is.",
    script = [[return pn.tune{solver="gradient_descent", objective=obj, grid={step={1}, iterations={2}}, epsilon=1e5, delta=1e-6,
      score="accuracy"}]],
    expects = "Requested rho inf" },
  { tries = "Fit a model whose rows come from a file.",
    script = [[return pn.model.logistic{data="/etc/passwd", recipe={label={a={"0", "1"}}, features={b={0, 1}}}, epsilon=1,
      delta=1e-6}]],
    expects = "refused" },
  { tries = "Fit a model without a price.", script = [[return pn.model.logistic{data=data.d}]], expects = "epsilon is missing" },
  { tries = "Fit a model with records declared public that are the curator's.",
    script = [[return pn.model.logistic{data=data.d, public=data.d, epsilon=0.1, delta=1e-7}]], expects = "refused" },
  { tries = "Read the raw rows that a model held out.",
    script = [[local m = pn.model.logistic{data=data.d, epsilon=0.1, delta=1e-7} return m.test.X]],
    expects = "refused", pays = true },
  { tries = "Read a receipt of a fit in words.", script = [[return pn.solve.gradient_descent(obj, asked):receipt()]],
    expects = "^receipt of a fit", pays = 0.01 },
  { tries = "Read every line of a receipt, whose digests might be of the records.",
    script = [[print(pn.solve.gradient_descent(obj, asked):receipt().json)]], expects = "nothing new", pays = 0.01, noisy = true },
  { tries = "Save a receipt.", script = [[pn.solve.gradient_descent(obj, asked):receipt():save "$FILE"]],
    expects = "refused", pays = 0.01 },
  { tries = "Read a receipt from a file.", script = [[return pn.receipt "$FILE"]], expects = "refused" },
  { tries = "Ask the budget for the receipt of all analysts.", script = [[return budget:receipt()]],
    expects = "budget has no 'receipt'" },
  { tries = "Check a set by pn.check, whose seed repeats.", script = [[return pn.check(C, {seed=1})]], expects = "refused" },
  { tries = "Switch the neighbouring relation of one question to the cheaper one.",
    script = [[return pn.mechanism.gaussian{sigma=1, sensitivity=1, neighbours="add_remove"}:release(0)]],
    expects = "make both for the same relation" },
  { tries = "Switch the neighbouring relation of a plan.",
    script = [[return pn.solve.gradient_descent(obj, {rho=0.01, iterations=2, neighbours="zero_out"})]],
    expects = "they must agree" },
  { tries = "Train with a loss without a bound, after removing the clip.",
    script = [[local o = pn.objective{data=data.d, loss=pn.loss.glm(function(z, y) return z^4 end, {labels={-1, 1}})}
      return pn.solve.gradient_descent(o, asked)]], expects = "cannot be certified" },
  { tries = "Plan with a clip, and remove it by plan:with.",
    script = [[local o = pn.objective{data=data.d, loss=pn.loss.logistic(), set=C, clip=0.1}
      return pn.solve.gradient_descent.plan(o, asked):with{clip=false}]], expects = "unknown option 'clip'" },
  { tries = "Clip by no number, infinity and a negative norm.",
    script = [[for _, v in ipairs{0/0, math.huge, -1, 0, 5e-324, 1e308} do
      print(pcall(pn.objective, {data=data.d, loss=pn.loss.logistic(), set=C, clip=v})) end]], expects = "nothing new" },
  { tries = "Ask for a billion iterations, and for a fraction of one.",
    script = [[for _, v in ipairs{1 << 62, 0.5, -1, 0, 0/0, math.huge, "2"} do
      print(pcall(pn.solve.gradient_descent.plan, obj, {rho=0.01, iterations=v})) end]], expects = "nothing new" },
  { tries = "Ask for batches of no records, of more than all, and of 2^63.",
    script = [[for _, v in ipairs{0, 25, -1, 1 << 62, math.mininteger, 0/0} do
      print(pcall(pn.solve.noisy_sgd.plan, obj, {rho=0.01, iterations=2, batch=v})) end]], expects = "nothing new" },
  { tries = "Step by sizes that are no numbers.",
    script = [[for _, v in ipairs{0/0, math.huge, -1, 0} do
      print(pcall(pn.solve.gradient_descent.plan, obj, {rho=0.01, iterations=2, step=v})) end]], expects = "nothing new" },
  { tries = "Train on a plan of a hostile objective: sets of two dimensions for data of three.",
    script = [[return pn.objective{data=data.d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=2, radius=1}}]],
    expects = "the set has dimension 2, the data has 3" },
}
for _, name in ipairs(solvers) do
  attacks[#attacks + 1] = {
    tries = "Read every line of a plan of " .. name .. ", and the shape of its answer, for what depends on records.",
    script = ([[
      local ok, plan = pcall(pn.solve.%s.plan, obj, {epsilon=0.05, delta=1e-7})
      print(plan)
      if not ok then return end
      local fine, fit = pcall(plan.run, plan)
      return fine, fine and #fit.theta or fit, fine and fit.steps, fine and tostring(fit.privacy.epsilon)]]):format(name),
    expects = "nothing new", pays = true }
end
return attacks
