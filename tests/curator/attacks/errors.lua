-- Errors: what they say, where they come from, and whether they come at all.
return {
  { tries = "Raise the data set as an error.", script = [[error(data.d)]], expects = "error value: d: 24 x 3" },
  { tries = "Raise a table that holds the records.", script = [[error({data.d})]], expects = "error value: table" },
  { tries = "Raise an object whose __tostring reads the records.",
    script = [[error(setmetatable({}, {__tostring=function() return tostring(data.d.X) end}))]], expects = "error value: " },
  { tries = "Have assert show the records as its message.",
    script = [[assert(false, data.d)]], expects = "error value: d: 24 x 3" },
  { tries = "Read a traceback in the handler of an error inside the library.",
    script = [[return xpcall(function() return obj:value(zero) end, function(m) return m .. tostring(debug) end)]],
    expects = "false\t" },
  { tries = "Catch the error of a raw value, and look for digits in it.",
    script = [[local ok, m = pcall(function() return obj:value(zero) end) return ok, m]],
    expects = "objective:value is not available" },
  { tries = "Have a refused label named, by asking for a loss that lists labels.",
    script = [[return pn.objective{data=data.r, loss=pn.loss.logistic()}]], expects = "refused" },
  { tries = "Ask for a list of labels that all records of one data set have.",
    script = [[return pn.objective{data=data.r, loss=pn.loss.glm(function(z, y) return (z - y)^2 end, {labels={-1, 1, 0.5}})}]],
    expects = "refused" },
  { tries = "Clip to a smaller bound, and read from an error which row was over it.",
    script = [[return tostring(data.d:clip_rows("l2", 1e-12)), data.d:clip_rows("l2", 1e-12).bounds.l2]], expects = "nothing new" },
  { tries = "Ask for a norm whose value may not converge for some rows.",
    script = [[return data.d:clip_rows(pn.norm.minkowski(C), 1)]], expects = "refused" },
  { tries = "Store in single precision, which fails where records are too large for it.", script = [[return data.d:float32()]],
    expects = "refused" },
  { tries = "Have a loss divide by zero where a record is zero.",
    script = [[local l = pn.loss.glm(function(z, y) return 1 / z end, {labels={-1, 1}})
      local o = pn.objective{data=data.d, loss=l, set=C, clip=1}
      return #pn.solve.sgd(o, asked).theta]], expects = "^3$", pays = 0.01 },
  { tries = "Have a loss that is no number for half of the margins, and strict = true to hear of it.",
    script = [[local l = pn.loss.glm(function(z) return pn.sqrt(z) end, {labels={-1, 1}})
      return pn.solve.zeroth_order(pn.objective{data=data.d, loss=l, clip=1}, {rho=0.01, start={1, 0, 0}, strict=true})]],
    expects = "refused" },
  { tries = "Have an exponential overflow for large margins, and catch it.",
    script = [[local l = pn.loss.glm(function(z, y) return pn.exp(900 * z * y) end, {labels={-1, 1}})
      local o = pn.objective{data=data.d, loss=l, set=C, clip=1}
      local ok, fit = pcall(pn.solve.sgd, o, asked) return ok, ok and #fit.theta]], expects = "true\t3", pays = 0.01 },
  { tries = "Fail inside the trace of a loss with the symbol of the margin in the message.",
    script = [[return pn.loss.glm(function(z, y) error("margin " .. tostring(z)) end, {labels={-1, 1}})]], expects = "margin" },
  { tries = "Start outside of the set, so that the error tells the objective's value there.",
    script = [[return pn.solve.gradient_descent(obj, {rho=0.01, iterations=2, start={9, 9, 9}})]],
    expects = "start is not in the constraint set" },
  { tries = "Start at no number.", script = [[return pn.solve.gradient_descent(obj, {rho=0.01, iterations=2, start={0/0, 0, 0}})]],
    expects = "start: entry 1 must be a finite" },
  { tries = "Use vectors of the wrong length, and read sizes of the private ones from the error.",
    script = [[return pn.solve.gradient_descent(obj, {rho=0.01, iterations=2, start={0}})]], expects = "start has 1 entries" },
  { tries = "Overflow the stack of C within the library.",
    script = [[local s = pn.set.l2_ball{dim=3, radius=1} for i = 1, 300 do s = s:product(pn.set.l2_ball{dim=1, radius=1}) end
      return pcall(tostring, s)]], expects = "nothing new" },
  { tries = "Raise nil, and an error with a level beyond the stack.",
    script = [[return pcall(error, nil), pcall(error, "x", 100), pcall(error, data.d, 2)]], expects = "nothing new" },
  { tries = "Nest a hundred xpcalls whose handlers fail.",
    script = [[local f = function() error "x" end for i = 1, 100 do local g = f f = function() return xpcall(g, function() error "y"
      end) end end
      return f()]], expects = "nothing new" },
}
