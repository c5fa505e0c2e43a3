-- Prices: noise so small that a price overflows, vanishes or is none, on a budget of epsilon and delta.
return {
  budget = { epsilon = 40, delta = 1e-6 },
  { tries = "Count with an epsilon at whose Renyi orders 1 + x is 1.",
    script = [[local function count(e)
        return pn.query.count{data=data.d, columns={1}, low={-1}, high={1}, epsilon=e} end
      for i = 0, 99 do local ok, why = pcall(count, 1e11 * 1.3^i) assert(not ok, why) end
      for _, e in ipairs{1e100, 1e300, 1.7e308} do local ok, why = pcall(count, e) assert(not ok, why) end]],
    expects = "nothing new" },
  { tries = "Sum by Gaussian noise of such a price.",
    script = [[local function sum(o)
        o.data, o.columns, o.low, o.high = data.d, {1, 2}, {-1, -1}, {1, 1}
        return pn.query.sum(o) end
      for i = 0, 99 do
        local e = 1e6 * 2^i
        assert(not pcall(sum, {epsilon=e, delta=1e-7}) and not pcall(sum, {rho=e}), e) end]], expects = "nothing new" },
  { tries = "Select by weights that differ so much that a loss between them rounds to none.",
    script = [[local function median(e)
        return pn.query.quantile{data=data.d, column=1, candidates={-1, 0, 1}, q=0.5, epsilon=e} end
      for _, e in ipairs{1e11, 1e13, 1e14, 1e15, 1e16, 1e17, 1e20, 1e100, 1e300} do
        local ok, why = pcall(median, e) assert(not ok, why) end]], expects = "nothing new" },
  { tries = "Train at such a price.",
    script = [[for i = 0, 20 do
        local e = 1e14 * 3.1^i
        assert(not pcall(pn.solve.gradient_descent, obj, {epsilon=e, delta=1e-7, iterations=2}), e)
        assert(not pcall(pn.solve.frank_wolfe, obj, {epsilon=e, delta=1e-7, iterations=2}), e)
        assert(not pcall(pn.solve.gradient_descent, obj, {rho=e, iterations=2}), e) end]], expects = "nothing new" },
  { tries = "Ask an oracle for a gradient of such a price.",
    script = [[local ask = pn.oracle{objective=obj}
      for i = 0, 99 do assert(not pcall(ask.gradient, ask, zero, {rho=1e6 * 2^i})) end
      return ask.spent]], expects = "^0" },
}
