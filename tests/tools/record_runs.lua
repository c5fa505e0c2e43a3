-- record_runs.lua -- plans, prices and seeded runs of every solver on small problems, to the last bit: what a change that is meant
-- to change nothing must not change.
--   penumbra tests/tools/record_runs.lua >before.txt, then with the new build >after.txt, on one machine; diff says the rest.
-- Depends on: penumbra.  Run by hand.
local pn = require "penumbra"

local dense = pn.data.synthetic.logistic { n = 400, p = 6, seed = 3 }:clip_rows("l2", 1)
local real = pn.data.synthetic.lasso { n = 400, p = 6, seed = 4 }:clip_rows("l2", 1):clip_labels(-1, 1)
local function sparse_records()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i = 1, 400 do
    file:write(("%d %d:0.5 %d:%g\n"):format(i % 3 == 0 and -1 or 1, 1 + i % 4, 5 + i * 7 % 5, (i * 13 % 17 - 8) / 9))
  end
  file:close()
  local rows = pn.data.libsvm(path, { cols = 9 })
  os.remove(path)
  return rows:clip_rows("l2", 1)
end
local sparse = sparse_records()
local classes = pn.data.synthetic.classification { n = 400, p = 5, classes = 3, seed = 5 }:clip_rows("l2", 1)

local function l1(dim) return pn.set.l1_ball { dim = dim, radius = 2 } end
local function l2(dim) return pn.set.l2_ball { dim = dim, radius = 2 } end
local problems = {
  { "logistic", { data = dense, loss = pn.loss.logistic() } },
  { "logistic, sparse", { data = sparse, loss = pn.loss.logistic() } },
  { "logistic over l2", { data = dense, loss = pn.loss.logistic(), set = l2(6) } },
  { "logistic over l1", { data = dense, loss = pn.loss.logistic(), set = l1(6) } },
  { "logistic and l2", { data = sparse, loss = pn.loss.logistic(), reg = pn.reg.l2(0.01) } },
  { "logistic and l1", { data = dense, loss = pn.loss.logistic(), reg = pn.reg.l1(0.01) } },
  { "hinge", { data = dense, loss = pn.loss.hinge() } },
  { "huber", { data = real, loss = pn.loss.huber { delta = 0.5 } } },
  { "squared, clipped", { data = real, loss = pn.loss.squared(), clip = 1 } },
  { "squared over l2", { data = real, loss = pn.loss.squared(), set = l2(6) } },
  { "softmax over l2", { data = classes, loss = pn.loss.softmax { classes = 3 }, set = l2(15) } },
}
local budgets = {
  { epsilon = 0.5, delta = 1e-6 }, { epsilon = 4, delta = 1e-6, neighbours = "zero_out" }, { rho = 0.1 }, { epsilon = 1 },
  { privacy = false, iterations = 6 },
}

local function bits(theta)
  local words = {}
  for j = 1, #theta do words[j] = ("%a"):format(theta[j]) end
  return table.concat(words, " ")
end

local function try(call, ...)
  local results = table.pack(pcall(call, ...)) -- what is refused is recorded, too
  if not results[1] then print("  " .. tostring(results[2])) end
  return results[1] and results[2] or nil
end

local function record(name, problem, budget)
  local options = {}
  for key, value in pairs(budget) do options[key] = value end
  local obj = try(pn.objective, problem[2])
  local plan = obj and try(pn.solve[name].plan, obj, options)
  if not plan then return end
  print(plan)
  if plan.event then print("  " .. tostring(plan.event)) end
  local fit = try(plan.run, plan, { rng = pn.rng.seeded(7) })
  if fit then print(("  %d steps, %s: %s"):format(fit.steps, tostring(fit.privacy), bits(fit.theta))) end
end

local solvers = {}
for name, solver in pairs(pn.solve) do
  if type(solver) == "table" then solvers[#solvers + 1] = name end
end
table.sort(solvers)
for _, name in ipairs(solvers) do
  for _, problem in ipairs(problems) do
    for k, budget in ipairs(budgets) do
      print(("== %s, %s, budget %d"):format(name, problem[1], k))
      record(name, problem, budget)
    end
  end
end

for _, name in ipairs { "gradient_descent", "mirror_descent", "accelerated_mirror_descent", "frank_wolfe_convex" } do
  for _, problem in ipairs(problems) do
    for k, budget in ipairs(budgets) do
      for _, batch in ipairs { 50, { scheme = "poisson", rate = 0.1 }, { scheme = "shuffled", size = 50 } } do
        print(("== %s of batches, %s, budget %d"):format(name, problem[1], k))
        budget.batch = batch
        record(name, problem, budget)
      end
    end
  end
end

local gaussian = pn.event.gaussian { sigma = 3, sensitivity = 1 }
local events = {
  gaussian, pn.event.laplace { scale = 2, sensitivity = 1 },
  pn.event.poisson_sampled { q = 0.02, event = pn.event.gaussian { sigma = 1, sensitivity = 1, neighbours = "add_remove" } },
  pn.event.fixed_sampled { batch = 10, n = 400, event = gaussian }, pn.event.exponential { epsilon = 0.1 },
}
for _, event in ipairs(events) do
  for _, row in ipairs { "rdp", "zcdp", "pld", "advanced" } do
    print(("== %s of 50 x %s"):format(row, event))
    local accountant = try(pn.accountant[row], {})
    if accountant and try(function() return accountant:add(event, 50) or true end) then
      local epsilon = try(accountant.epsilon, accountant, 1e-6)
      print(("  %a"):format(epsilon or 0))
    end
  end
end
