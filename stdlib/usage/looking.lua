-- looking.lua -- examples for help, the reference, plots, lessons, experiments and the curator.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {
  ["help"] = [[
    pn.help "frank_wolfe"
    pn.help(pn.set.l1_ball)
    pn.help()]],
  ["guide"] = [[
    pn.guide()
    pn.guide "spend a budget"]],
  ["reference"] = [[
    entry = pn.reference()["set.l1_ball"]
    print(entry.signature, entry.reveals)
    for _, param in ipairs(entry.params) do print(param.name, param.expects, param.default) end]],
  ["experiment"] = [[
    r = pn.experiment{grid = {epsilon = {0.5, 1, 2}, n = {1000, 4000}}, repeats = 5, run = function(row, rng)
      local d = pn.data.synthetic.lasso{n = row.n, p = 20, seed = row.rep}:clip_rows("linf", 1):clip_labels(-1, 1)
      local obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 20}}
      return {risk = pn.solve.frank_wolfe(obj, {epsilon = row.epsilon, delta = 1e-6, rng = rng}):excess()}
    end}
    print(r)]],
  ["lesson"] = [[
    pn.lesson()    -- which there are; pn.lesson "gaussian" at the prompt begins one]],
  ["plot.line"] = [[
    t = pn.vec.linspace(-3, 3, 61)
    pn.plot.line{{x = t, y = pn.tanh(t), label = "tanh"}, {x = t, y = pn.sigmoid(t), label = "sigmoid"}, title = "Slopes"}
    pn.plot.line{{x = t, y = pn.exp(t)}, logy = true, file = "curve.svg"}]],
  ["plot.scatter"] = [[
    rng = pn.rng.seeded(1)
    pn.plot.scatter{{x = pn.vec.normal(100, rng), y = pn.vec.normal(100, rng), label = "normal"}, title = "A cloud"}]],
  ["plot.heat"] = [[
    z = pn.mat.zeros(20, 30)
    for i = 1, 20 do for j = 1, 30 do z:set(i, j, math.sin(i / 4) * math.cos(j / 5)) end end
    pn.plot.heat{z = z, title = "Hills"}]],
  ["plot.histogram"] = [[
    pn.plot.histogram{mechanism = pn.mechanism.gaussian{sigma = 2, sensitivity = 1}, bins = 40}
    pn.plot.histogram{samples = pn.vec.normal(2000, pn.rng.seeded(1)),
      density = function(x) return math.exp(-x * x / 2) / math.sqrt(2 * math.pi) end}]],
  ["plot.privacy"] = [[
    e = pn.event.gaussian{sigma = 20, sensitivity = 1}
    pn.plot.privacy(e, {against = "steps", delta = 1e-6, steps = 1000, accountants = {"rdp", "pld"}})]],
  ["plot.set2d"] = [[
    C = pn.set.l1_ball{dim = 2, radius = 1} + 0.3 * pn.set.l2_ball{dim = 2}
    pn.plot.set2d(C, {gauge = true, path = {{0, 0}, {0.5, 0.2}, {0.7, 0.6}}})]],
  ["plot.trace"] = [[
    d = pn.data.synthetic.logistic{n = 2000, p = 5, seed = 1}:clip_rows("l2", 1)
    obj = pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 5, radius = 4}}
    fit = pn.solve.gradient_descent(obj, {privacy = false, iterations = 50})
    pn.plot.trace(fit, {reference = pn.solve.exact(obj).value})]],
}

local CURATOR = [==[
    d = pn.data.synthetic.logistic{n = 2000, p = 5, seed = 1}:clip_rows("l2", 1)
    L = pn.ledger{epsilon = 1, delta = 1e-8}
    c = pn.curator{data = {people = d}, ledger = L, memory = 256, seconds = 20, instructions = 10^8}
]==]
usage["curator"] = CURATOR .. [==[
    print(c:run("return data.people.n").answer)
    print(c:run("return data.people.X").error)    -- records are not for analysts]==]
usage["pn.curator:run"] = CURATOR .. [==[
    result = c:run("local obj = pn.objective{data = data.people, loss = pn.loss.logistic(), set = pn.set.l1_ball{dim = 5}} "
      .. "return pn.solve.frank_wolfe(obj, {epsilon = 0.5, delta = 1e-8, iterations = 20}).theta")
    print(result.answer or result.error, L)]==]

return usage
