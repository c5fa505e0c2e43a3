-- Solvers and oracles of the script's own: questions that were not planned, answers that were not paid for, branches on either.
local own = [[local function own(step, more)
  local parts = {name="own", step=step, queries={gradient=1}}
  for k, v in pairs(more or {}) do parts[k] = v end
  return pn.solver(parts)
end ]]
local function step(tries, script, expects, pays)
  return { tries = tries, script = own .. script, expects = expects, pays = pays }
end
return {
  step("Ask the exact gradient inside a step.",
    [[return own(function(s, ask) return obj:gradient(s.x) end)(obj, asked)]], "refused"),
  step("Run the own solver without privacy.",
    [[return own(function(s, ask) s.x = ask:gradient(s.x) end)(obj, {privacy=false, iterations=2})]],
    "refused"),
  step("Ask twice in a step that pays for one.",
    [[return own(function(s, ask) ask:gradient(s.x) ask:gradient(s.x) end)(obj, asked)]], "more often than its plan pays", 0.005),
  step("Ask a second time under pcall, and answer whether it went through.",
    [[local n = 0 own(function(s, ask) ask:gradient(s.x) if pcall(ask.gradient, ask, s.x) then n = n + 1 end end)(obj, asked)
      return n]],
    "^0$", 0.01),
  step("Ask a finer share than planned.",
    [[return own(function(s, ask) ask:gradient(s.x, {share=1e9}) end)(obj, asked)]], "with share 1e%+09"),
  step("Ask another question than planned.",
    [[return own(function(s, ask) ask:gradient(s.x) ask:value(s.x) end)(obj, asked)]], "asks value in that form", 0.005),
  step("Keep the oracle, and ask it after the run.",
    [[local kept own(function(s, ask) kept = ask ask:gradient(s.x) end)(obj, asked) return kept:gradient(zero)]],
    "inside its own step only", 0.01),
  step("Ask from a coroutine that outlives its step.",
    [[local co, said = nil, {}
      own(function(s, ask)
        co = co or coroutine.wrap(function() while true do said[#said + 1] = (pcall(ask.gradient, ask, zero)) coroutine.yield() end
        end)
        co() ask:gradient(s.x) end)(obj, asked)
      co() return said[#said] ]], "more often", 0.005),
  step("Branch on noisy numbers to ask more in the better case.",
    [[local n = 0
      pcall(own(function(s, ask) local g = ask:gradient(s.x) for i = 1, 5 do
      if g[1] > -1e9 and pcall(ask.gradient, ask, g) then n = n + 1 end end end), obj, asked)
      return n]], "^0$", 0.01),
  step("Price a question in a step at nothing.",
    [[return own(function(s, ask) ask:gradient(s.x, {sigma=1e-9}) end)(obj, asked)]], "a price in a step"),
  step("Clip a gradient in a step where no clip was planned.",
    [[return own(function(s, ask) ask:gradient(s.x, {clip=1e-9}) end)(obj, asked)]],
    "asks gradient in that form"),
  step("Loop without an end in a step.", [[return own(function(s, ask) while true do end end)(obj, asked)]], "limit"),
  step("Walk, and go back to an earlier step by changing s.step.",
    [[own(function(s, ask) s.step = 1 s.x = ask:gradient(s.x) end)(obj, asked) return "end"]], "nothing new", 0.01),
  step("Say that there are fewer iterations than the step does.",
    [[return own(function(s, ask) for i = 1, 5 do ask:gradient(s.x) end end, {iterations=function() return 1
      end})(obj, {rho=0.01})]],
    "more often than its plan pays", 0.01),
  step("Take other data in the step than those that are planned.",
    [[local other = pn.objective{data=data.r, loss=pn.loss.squared(), set=C}
      return own(function(s, ask) local g = other:gradient(s.x) ask:gradient(s.x) end)(obj, asked)]], "refused"),
  { tries = "Ask an oracle without a price.",
    script = [[return pn.oracle{objective=obj}:gradient(zero)]], expects = "say what this answer may cost" },
  { tries = "Ask an oracle with noise of no width.",
    script = [[return pn.oracle{objective=obj}:gradient(zero, {sigma=0})]], expects = "sigma" },
  { tries = "Ask an oracle with noise so small that its price is no number.",
    script = [[return pn.oracle{objective=obj}:gradient(zero, {sigma=1e-200})]], expects = "outside what can be accounted for" },
  { tries = "Ask an oracle on a ledger of one's own.",
    script = [[return pn.oracle{objective=obj, ledger=pn.ledger{rho=9}}]], expects = "refused" },
  { tries = "Ask an oracle at a point beyond the set, where losses are steep.",
    script = [[return #pn.oracle{objective=obj}:gradient(pn.vec{1e300, 1e300, 0}, {rho=0.001})]],
    expects = "nothing new", pays = 0.001 },
  { tries = "Ask an oracle at no number.",
    script = [[return pn.oracle{objective=obj}:gradient({0/0, 0, 0}, {rho=0.001})]], expects = "finite number" },
  { tries = "Ask the same question twice, in the hope that the second answer is remembered and free.",
    script = [[local ask = pn.oracle{objective=obj} local a = ask:gradient(zero, {rho=0.001})
      local b = ask:gradient(zero, {rho=0.001})
      return (a - b):norm() > 0]], expects = "^true$", pays = 0.002 },
  { tries = "Ask an unpaid value by a watch whose threshold is never reached.",
    script = [[local w = pn.oracle{objective=obj}:watch{threshold=1e9, rho=0.001} for i = 1, 9 do w:above(zero) end return "nine"]],
    expects = "nine", pays = 0.001 },
  { tries = "Ask a watch for more truths than it pays for.",
    script = [[local w = pn.oracle{objective=obj}:watch{threshold=-1e9, rho=0.001} w:above(zero) return w:above(zero)]],
    expects = "as often as it was planned for", pays = 0.001 },
  { tries = "Choose among points that differ in one record's loss, without a price.",
    script = [[return pn.oracle{objective=obj}:choose({zero, pn.vec.ones(3)})]], expects = "say what this answer may cost" },
}
