-- Questions about columns, mechanisms and trees: ranges, sizes and orders of charges.
local q = [[local function q(kind, more)
  local o = {data=data.d, epsilon=0.1}
  if kind == "count" or kind == "sum" or kind == "mean" then o.columns, o.low, o.high = {1}, {-1}, {1} end
  for k, v in pairs(more or {}) do o[k] = v end
  return pn.query[kind](o)
end ]]
local function ask(tries, script, expects, pays, noisy)
  return { tries = tries, script = q .. script, expects = expects, pays = pays, noisy = noisy }
end
return {
  ask("Answer an answer's deviation, event and shape, which must follow from public numbers.",
    [[local a = q("mean") return a.deviation, tostring(a.event), type(a.value)]], "nothing new", 0.005),
  ask("Repeat a count, and see whether the noise repeats.", [[return q("sum").value]], "nothing new", 0.005, true),
  ask("Count over a range so narrow that one record decides.",
    [[return q("count", {low={0.1}, high={0.1000001}}).deviation]], "nothing new", 0.005),
  ask("Sum over an infinite range.", [[return q("sum", {high={math.huge}})]], "finite"),
  ask("Sum over a range that is no number.", [[return q("sum", {low={0/0}})]], "finite number"),
  ask("Sum over a range of 1e308, whose steps are larger than records.",
    [[return q("sum", {low={-1e308}, high={1e308}})]], "both finite"),
  ask("Sum over a range of denormals.", [[return q("sum", {low={0}, high={5e-324}}).deviation]], "nothing new", 0.005),
  ask("Turn low and high.", [[return q("sum", {low={1}, high={-1}})]], "low must be below high"),
  ask("Ask for columns beyond the last, of a negative number, and of none.",
    [[for _, c in ipairs{{4}, {-1}, {1 << 62}, {1.5}, {}, {"1"}} do print(pcall(q, "sum", {columns=c})) end]], "nothing new", nil),
  ask("Ask for one column ten times in one charge.", [[local t, l, h = {}, {}, {} for i = 1, 10 do t[i], l[i], h[i] = 1, -1, 1 end
    local ok, a = pcall(q, "sum", {columns=t, low=l, high=h}) return ok, ok and a.deviation or a]], "given twice"),
  ask("Histogram with edges that fall between every two records.",
    [[local e = {} for i = 0, 400 do e[i + 1] = -1 + i / 200 end return #q("histogram", {column=1, edges=e}).value]],
    "nothing new", 0.005),
  ask("Histogram with edges that are no numbers.", [[return q("histogram", {column=1, edges={-1, 0/0, 1}})]], "edges"),
  ask("A quantile whose candidates include no number and infinity.",
    [[return q("quantile", {column=1, q=0.5, candidates={-1, 0/0, math.huge}})]], "candidates"),
  ask("The minimum as a quantile of 0.",
    [[return q("quantile", {column=1, q=0, candidates={-1, 0, 1}}).rank_error]], "nothing new", true),
  ask("A query with seeded noise.", [[return q("sum", {rng=pn.rng.seeded(1)})]], "refused"),
  ask("A query on another ledger.", [[return q("sum", {ledger=1})]], "refused"),
  ask("A query of a data set of the script's by an option that a registered one hides behind.",
    [[return q("sum", {data=setmetatable({}, {__index=data.d})})]], "data"),
  ask("Levels of texts in the host's file.",
    [[return pn.query.levels{data="/etc/passwd", columns="root", epsilon=1, delta=1e-7}]], "refused"),
  { tries = "Release a private number by a mechanism with a sensitivity of zero.",
    script = [[return pn.mechanism.gaussian{sigma=1, sensitivity=0}:release(3)]], expects = "sensitivity must be a positive" },
  { tries = "Release by a mechanism with noise of no width.",
    script = [[return pn.mechanism.laplace{scale=0, sensitivity=1}:release(3)]], expects = "scale must be a positive" },
  { tries = "Release the data set itself.",
    script = [[return pn.mechanism.gaussian{sigma=100, sensitivity=1}:release(data.d)]], expects = "must be a number" },
  { tries = "Push the data set into a tree.",
    script = [[return pn.tree{dim=3, horizon=4, sensitivity=1, rho=0.01}:push(data.d)]], expects = "must be a number" },
  { tries = "Open a stream, and ask it more than it halts at.",
    script = [[local run = pn.mechanism.sparse_vector{epsilon=0.1, sensitivity=1, threshold=-1e6, answers=1}:open() run:above(0)
      return run:above(0)]],
    expects = "halted", pays = 0.005 },
  { tries = "Draw a batch's members by a sampler.",
    script = [[return pn.sampler.fixed{n=24, batch=3}:draw()]], expects = "refused" },
  { tries = "Describe all columns within ranges, and read exact counts beyond them.",
    script = [[local t = pn.query.describe{data=data.d, columns={1}, low={-1}, high={1}, rho=0.01} return #t, type(t[1].outside)]],
    expects = "^1\tnumber$", pays = 0.01 },
  { tries = "Label an entry of the ledger with the contents of an answer, at length.",
    script = q .. [[return q("sum", {label=("secret"):rep(100)})]], expects = "100 bytes" },
  { tries = "Label an entry with control characters, for the host's terminal.",
    script = q .. [[q("sum", {label="\27[31m\0"}) return "labelled"]], expects = "nothing new", pays = true },
}
