-- Reaching below Lua's values: metatables, debug, bytecode, coroutines, finalizers, and the library's own tables.
return {
  { tries = "Load source text.", script = [[return load("return data.d.X")()]], expects = "refused" },
  { tries = "Dump a function to bytecode.", script = [[return string.dump(function() return data.d end)]], expects = "refused" },
  { tries = "Dump by the method of a string.", script = [[return ("x").dump(print)]], expects = "refused" },
  { tries = "Send bytecode as the script.", raw = true, script = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8", expects = "binary chunk" },
  { tries = "Walk the stack by debug.", script = [[return debug.getlocal(1, 1)]], expects = "refused" },
  { tries = "Reach the registry by debug.", script = [[return debug.getregistry()]], expects = "refused" },
  { tries = "Find debug by another way to the globals.", script = [[return _ENV._G["de" .. "bug"].sethook]], expects = "refused" },
  { tries = "Find a library among package.loaded.", script = [[return package.loaded.debug]], expects = "refused" },
  { tries = "Read globals without their metatable.",
    script = [[for _, k in ipairs{"load", "debug", "io", "os", "require", "collectgarbage"} do print(k, rawget(_G, k)) end
      local n = 0 for k in next, _G do n = n + 1 end return n]], expects = "nothing new" },
  { tries = "Take the metatable off the globals.", script = [[return setmetatable(_G, nil)]], expects = "protected" },
  { tries = "Change what all strings have.",
    script = [[getmetatable("").__index = function() return print end]], expects = "index a boolean" },
  { tries = "Reach the stock string library by the metatable of strings.", script = [[return getmetatable("").__index.dump]],
    expects = "index a boolean" },
  { tries = "Change the metatable of data sets so that X is a method.",
    script = [[local mt = getmetatable(data.d) mt.__index = function() return "mine" end return data.d.n, data.d.X]],
    expects = "refused" },
  { tries = "Read the hidden getters out of the metatable of a data set.",
    script = [[local mt, keys = getmetatable(data.d), {} for k, v in next, mt do keys[#keys + 1] = tostring(k) .. type(v) end
      table.sort(keys) return table.concat(keys, " ")]], expects = "nothing new" },
  { tries = "Give a metatable of one class to a table, and pass that for a data set.",
    script = [[return pn.objective{data=setmetatable({}, getmetatable(data.d)), loss=pn.loss.logistic()}]],
    expects = "data must be" },
  { tries = "Name a table as the class is named.",
    script = [[return pn.query.count{data=setmetatable({n=1}, {__name="pn.dataset"}), columns={1}, low={0}, high={1},
      epsilon=0.01}]],
    expects = "data must be a pn.dataset" },
  { tries = "Register a finalizer that runs when the library computes.",
    script = [[setmetatable({}, {__gc = print})]], expects = "__gc is not" },
  { tries = "Add a finalizer to a metatable after it was set.",
    script = [[local mt = {} local t = setmetatable({}, mt) mt.__gc = function() print("finalized") end t = nil
      for i = 1, 2000 do t = {} end return "end"]], expects = "nothing new" },
  { tries = "Close a data set, and read what is left of it.",
    script = [[do local d <close> = data.d end return data.d.n, pcall(function() return data.d.X end)]],
    expects = "not available" },
  { tries = "Close an objective in the middle of planning, by a __close in a table of options.",
    script = [[local x = pn.objective{data=data.d, loss=pn.loss.logistic(), set=C}
      local o = setmetatable({rho=0.01}, {__index=function() local y <close> = x end})
      return pn.solve.gradient_descent.plan(x, o)]],
    expects = "must not have __index" },
  { tries = "Give __pairs and __len to options, so that they change between check and use.",
    script = [[local turn = 0
      local o = setmetatable({rho=0.01, iterations=2}, {__pairs=function(t) turn = turn + 1 return next, {privacy=false}, nil end,
        __len=function() turn = turn + 1 return 9 end})
      local plan = pn.solve.gradient_descent.plan(obj, o) return turn, plan.rho]], expects = "^0\t" },
  { tries = "Collect garbage to time the runtime.",
    script = [[collectgarbage() return collectgarbage("count")]], expects = "refused" },
  { tries = "Read a method of a coroutine's stack from another coroutine.",
    script = [[local co = coroutine.create(function() local secret = data.d coroutine.yield() return secret.X end)
      coroutine.resume(co) return coroutine.resume(co)]], expects = "false\tpn.dataset.X is not available" },
  { tries = "Change the library, so that what it calls within is the script's.",
    script = [[pn.query.count = function() return "mine" end
      return pn.query.mean{data=data.d, columns={1}, low={-1}, high={1}, epsilon=0.1}.deviation]],
    expects = "nothing new", pays = 0.005 },
  { tries = "Overwrite entries of the library by rawset, and have the library call them with records.",
    script = [[local called = 0 for _, k in ipairs{"count", "sum", "mean"} do rawset(pn.query, k, function() called = called + 1
      end) end
      rawset(pn.mechanism, "gaussian", function(...) called = called + 1 end)
      pn.query.histogram{data=data.d, column=1, edges={-1, 0, 1}, epsilon=0.01} return called]], expects = "^0$", pays = 0.00005 },
  { tries = "Unset the metatable of the library, and see what is below.",
    script = [[return setmetatable(pn, nil)]], expects = "protected" },
  { tries = "Find the host's own objects in the upvalues of what the library returns.",
    script = [[local t = pn.trace(function(z) return z end) return tostring(getmetatable(t)), rawequal(t, t)]],
    expects = "nothing new" },
}
