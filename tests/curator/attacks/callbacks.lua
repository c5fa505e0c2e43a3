-- Functions of the script's that the library might call with records: each is refused, traced with symbols, or called with public
-- numbers alone.
local function refused(tries, script) return { tries = tries, script = script, expects = "refused" } end
return {
  refused("A loss as a black box, which is called with each record.",
    [[return pn.loss.black_box{lipschitz=1, value=function(theta, x, y) print(x[1], y) return 0 end}]]),
  refused("A set with a support function of its own, which is called with gradients.",
    [[return pn.set.custom{dim=3, radius=1, support=function(g) print(g) return g end}]]),
  refused("A potential of one's own, which is called with iterates.",
    [[return pn.potential.custom{value=print, gradient=print, inverse_gradient=print}]]),
  refused("A proximal map of one's own.", [[return pn.prox.custom{prox=function(x) print(x) return x end}]]),
  refused("A norm of one's own for clipping rows.",
    [[return data.d:clip_rows(pn.norm.custom{value=function(x) print(x) return 1 end}, 1)]]),
  refused("A sampling of one's own, which counts its draws.",
    [[return pn.sampling.custom{blocks=2, p={1, 1}, draw=function() print "drawn" return {1} end}]]),
  refused("on_step of a run.", [[return pn.solve.gradient_descent.plan(obj, asked):run{on_step=print}]]),
  { tries = "progress of a run.",
    script = [[return pn.solve.gradient_descent.plan(obj, asked):run{progress=print}]], expects = "progress" },
  { tries = "A loss that counts how often it is called, in planning and in the run.",
    script = [[local calls = 0
      local l = pn.loss.glm(function(z, y) calls = calls + 1 return pn.log1p(pn.exp(-y * z)) end, {labels={-1, 1}})
      local before = calls
      pn.solve.sgd(pn.objective{data=data.d, loss=l, set=C}, asked) return before == calls, calls]],
      expects = "^true\t", pays = 0.01 },
  { tries = "A loss that keeps what it was called with.",
    script = [[local kept
      local l = pn.loss.glm(function(z, y) kept = kept or {z, y} return (z - y)^2 end, {labels={-1, 1}})
      pn.solve.sgd(pn.objective{data=data.d, loss=l, set=C}, asked) return kept[1], kept[2], type(kept[1])]],
    expects = "userdata$", pays = 0.01 },
  { tries = "A loss that branches on the margin.",
    script = [[return pn.loss.glm(function(z, y) if z > 0 then return z end return -z end, {labels={-1, 1}})]],
    expects = "cannot be decided while" },
  { tries = "A loss that branches on the label by a table.",
    script = [[local t = {[-1] = "low", [1] = "high"} return pn.loss.glm(function(z, y) return z * #t[y] end, {labels={-1, 1}})]],
    expects = "length of a nil value" },
  { tries = "A loss that prints the margin.",
    script = [[local l = pn.loss.glm(function(z, y) print(z, y) return z * y end, {labels={-1, 1}}) return l.name]],
    expects = "nothing new" },
  { tries = "A loss that turns the margin into a number.",
    script = [[return pn.loss.glm(function(z, y) return tonumber(tostring(z)) or error("margin " .. tostring(z))
      end, {labels={-1, 1}})]],
    expects = "margin" },
  { tries = "A loss that loops as often as the margin says.",
    script = [[return pn.loss.glm(function(z, y) local s = 0 for i = 1, z do s = s + i end return s end, {labels={-1, 1}})]],
    expects = "'for' limit" },
  { tries = "A loss that uses the margin as a key of a table, to remember records it has seen.",
    script = [[local seen, n = {}, 0
      local l = pn.loss.glm(function(z, y) if not seen[z] then seen[z] = true n = n + 1 end return (z - y)^2 end, {labels={-1, 1}})
      pn.solve.sgd(pn.objective{data=data.d, loss=l, set=C}, asked) return n]], expects = "nothing new", pays = 0.01 },
  { tries = "A loss that trains another model whenever it is traced.",
    script = [[local n = 0
      pn.loss.glm(function(z, y) n = n + 1 pn.solve.gradient_descent(obj, {rho=0.001, iterations=2}) return z * y
      end, {labels={-1, 1}})
      return n]],
    expects = "^10$", pays = 0.01 },
  { tries = "A loss that yields out of its trace, so that the trace stays half done.",
    script = [[local co = coroutine.wrap(function() return pn.loss.glm(function(z, y) coroutine.yield(z) return z
      end, {labels={-1, 1}}) end)
      return co()]], expects = "yield" },
  { tries = "A regulariser that is not separable, and is called with the iterate.",
    script = [[local r = pn.reg.separable(function(w) print(w) return w^2 end) return r.name]], expects = "nothing new" },
  { tries = "A table with __index as a point, which is read while the library computes.",
    script = [[local t = setmetatable({}, {__index=function(_, i) print("read", i) return 0 end, __len=function() return 3 end})
      return pn.solve.gradient_descent(obj, {rho=0.01, iterations=2, start=t})]], expects = "start has 0 entries" },
  { tries = "An event of one's own that calibrate calls, with a run inside.",
    script = [[local n = 0
      return pcall(pn.calibrate.noise, {epsilon=1, delta=1e-6, event=function(s) n = n + 1 return data.d.X end})]],
      expects = "pn.dataset.X is not available" },
  { tries = "A step size that is a function, and is called with raw gradients.",
    script = [[local seen = 0
      local ok, e = pcall(pn.solve.gradient_descent, obj, {rho=0.01, iterations=2, step=function(k, g) seen = g return 0.1 end})
      return ok, seen]], expects = "^true\tnil$", pays = 0.01 },
  { tries = "Upvalues of a traced function changed between two runs of one plan.",
    script = [[local scale = 1
      local l = pn.loss.glm(function(z, y) return (z - y)^2 * scale end, {labels={-1, 1}})
      local plan = pn.solve.gradient_descent.plan(pn.objective{data=data.d, loss=l, set=C}, {rho=0.001, iterations=2})
      local before = tostring(plan) scale = 1e300 plan:run() return tostring(plan) == before]], expects = "^true$", pays = 0.001 },
  { tries = "A map over a vector of one's own that calls for records.",
    script = [[return pn.vec{1, 2}:map(function(x) return data.d.y end)]], expects = "refused" },
  { tries = "pn.audit with a mechanism of the script's that reads both neighbours.",
    script = [[return pn.audit(function(d) return d.n end, {neighbours={data.d, data.r}, trials=10})]], expects = "refused" },
  { tries = "pn.experiment, which forks processes and calls a function in them.",
    script = [[return pn.experiment{run=function() return data.d.n end, repetitions=2}]], expects = "refused" },
}
