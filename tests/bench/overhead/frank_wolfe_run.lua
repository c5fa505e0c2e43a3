-- frank_wolfe_run.lua -- the twin of frank_wolfe_run.c through the Lua module; for lua_overhead.sh.
-- usage: lua5.4 frank_wolfe_run.lua FILE STEPS RECORDS
local pn = require "penumbra"
local path, steps, records = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])

local data = pn.data.libsvm(path, { labels = "binary", sparse = false }):take(records):clip_rows("l2", 1)
local objective = pn.objective {
  data = data,
  loss = pn.loss.logistic(),
  set = pn.set.l1_ball { dim = data.p, radius = 16 },
}
local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, delta = 1e-10, iterations = steps })
print(plan:run().steps .. " steps")
