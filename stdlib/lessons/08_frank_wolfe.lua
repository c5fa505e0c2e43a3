-- 08_frank_wolfe.lua -- the lesson on choices: how the path of plain Frank-Wolfe gives a record away, the exponential mechanism
-- over the vertices, the private LASSO, and the fingerprinting attack behind its lower bound.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

-- 101 people have each one of two marks, and 50 of the first 100 have the first; `last` is the row of the 101st.
local function people(last)
  local X, y = {}, {}
  for i = 1, 100 do X[i], y[i] = i % 2 == 0 and { 1, 0, 0, 0 } or { 0, 1, 0, 0 }, 1 end
  X[101], y[101] = last, 1
  local d = pn.data.from(pn.mat(X), y):clip_rows("linf", 1):clip_labels(-1, 1)
  return pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 4 } }
end

-- How many of 2000 private runs of one step, epsilon = 1, end in the first vertex.
local function hits(source)
  return function(objective)
    local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, iterations = 1, selection = "exponential" })
    local count = 0
    for _ = 1, 2000 do
      if plan:run { rng = source }.theta[1] == 1 then count = count + 1 end
    end
    return count
  end
end

local function fingerprint(seed)
  return pn.data.synthetic.fingerprint { users = 8, p = 1024, informative = 900, ridge = 1024, seed = seed }
end

local function lasso_over(code, missing)
  return pn.objective { data = code:dataset(missing), loss = pn.loss.squared(), set = pn.set.l1_ball { dim = code.p } }
end

local absent = 7 -- in the exercise

local function check_odds(env)
  local odds, delta = env.odds, 4 / 101
  if not odds then return false, "odds is still to come" end
  local ok, size = pcall(function() return #odds, odds:dot(pn.vec.zeros(8)) end)
  if not ok or size ~= 8 then return false, "odds should be a vector of 8 probabilities" end
  local function is(factor)
    local w = pn.exp(factor * env.scores / delta)
    return (odds - w / w:sum()):norm(math.huge) < 1e-6
  end
  if is(0.5) then return true end
  if is(1) then return false, "one record raises one score and lowers another: the exponent has a 2 below" end
  if is(-0.5) then return false, "this prefers the worst vertex" end
  if not near(odds:sum(), 1, 1e-6) then return false, ("they add up to %.4g"):format(odds:sum()) end
  return false, "they add up to 1, but are not in proportion to exp(epsilon score / (2 Delta))"
end

local function check_sensitivity(env)
  local s = env.s
  if near(s, 6e-4, 1e-8) then return true end
  if near(s, 3e-4, 1e-8) then return false, "that is for a record that leaves; one that is replaced moves the mean twice" end
  if near(s, 2e-4, 1e-8) then return false, "that is for radius 1: both the vertex and the prediction grow with r" end
  if near(s, 4e-4, 1e-8) then return false, "the slope <x, theta> - y can be as large as r + 1" end
  if near(s, 12, 1e-8) then return false, "the gradient is a mean over n records" end
  return false, "that is not how far one record can move a score"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 1, delta = 1e-9 })
  if flaw then return false, flaw end
  local plan = env.fit.plan
  if plan.objective.p ~= 100 then return false, "it was trained on other data than obj's" end
  if plan.iterations > 20 then
    return false, ("it uses %d features, and after %d steps it could be as many"):format(env.fit.nonzeros, plan.iterations)
  end
  if env.fit.nonzeros < 4 or plan.iterations < 12 then return false, "it stopped before it saw the five features that matter" end
  return true
end

local function check_missing(env)
  local missing = env.missing
  if missing == absent then return true end
  if missing == nil then return false, "missing is still to come" end
  local scores = env.other:trace(env.mystery)
  if math.type(missing) ~= "integer" and not (type(missing) == "number" and missing % 1 == 0) then
    return false, "missing should be a user's number, 1 to 9"
  end
  local _, highest = scores:max()
  if missing == highest then return false, "the highest score is that of one who is certainly there" end
  return false, "that user's row has left its trace in theta"
end

local function bounds()
  local steps, from_steps, from_noise, total = {}, {}, {}, {}
  local d = pn.data.synthetic.lasso { n = 20000, p = 100, seed = 1 }
  local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 100 } }
  for k, T in ipairs { 5, 10, 20, 40, 80, 160, 320, 640 } do
    local plan = pn.solve.frank_wolfe.plan(obj, { epsilon = 1, delta = 1e-9, iterations = T })
    steps[k], total[k] = T, plan.bound
    from_steps[k], from_noise[k] = plan.lines["risk from steps"], plan.lines["risk from noise"]
  end
  pn.plot.line { { x = steps, y = total, label = "bound" }, { x = steps, y = from_steps, label = "from steps" },
    { x = steps, y = from_noise, label = "from noise" }, title = "Private LASSO, n = 20000, epsilon = 1", xlabel = "T",
    ylabel = "excess risk", logx = true, logy = true }
end

-- Scores of the nine users of the first code, without user 2, by the minimiser and by a private run.
local function traces()
  local code = fingerprint(1)
  local obj = lasso_over(code, 2)
  local quiet = pn.solve.frank_wolfe(obj, { epsilon = 0.1, delta = 1e-7, rng = pn.rng.seeded(1) })
  local users = pn.vec.linspace(1, 9, 9)
  pn.plot.scatter { { x = users, y = code:trace(pn.solve.exact(obj, { tol = 1e-6 }).theta), label = "minimiser" },
    { x = users, y = code:trace(quiet.theta), label = "private" }, title = "Tracing: user 2 is not in the data", xlabel = "user",
    ylabel = "score" }
end

return {
  name = "frank_wolfe",
  title = "Frank-Wolfe, the LASSO and a lower bound",
  minutes = 20,
  about = "Training by private choices, and an attack that no good method escapes.",
  source = "Talwar, Thakurta, Zhang (2014), Algorithm 4, Theorems 5.8 and 5.9; McSherry, Talwar (2007); Tardos (2008)",
  setup = function(env)
    env.A, env.B = people { 1, 0, 0, 0 }, people { 0, 1, 0, 0 }
    env.hits = hits(pn.rng.seeded(4))
    env.scores = -env.A.set:vertex_scores(env.A:gradient(pn.vec.zeros(4)))
    local d = pn.data.synthetic.lasso { n = 20000, p = 100, seed = 1 }
    env.obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 100 } }
    env.other = fingerprint(6)
    env.mystery = pn.solve.exact(lasso_over(env.other, absent), { tol = 1e-6 }).theta
  end,
  steps = {
    { id = "attack", text = [[
Frank-Wolfe trains without any projection. Over the l1 ball it looks for the
corner +e_j or -e_j along which the loss falls fastest, and moves toward it.
The model is a mixture of a few corners: sparse, small, a list of names.
Surely that says little about any one person?

100 people have one of two marks, fifty each. Ada is the 101st. In `A` she
has the first mark, in `B` the second; nothing else differs. One step, no
noise:]],
      code = [[
one = {privacy=false, iterations=1}
solve.frank_wolfe(A, one).theta, solve.frank_wolfe(B, one).theta]], check = kit.looked "one" },

    { id = "path", text = [[
A whole unit of weight moved because of one person in 101. Whoever knows the
other 100 reads Ada's mark off the model with certainty: no epsilon is large
enough for this. More steps do not hide her. Counted in parts of 101:]],
      code = [[
many = {privacy=false, iterations=100}
a, b = solve.frank_wolfe(A, many).theta, solve.frank_wolfe(B, many).theta
101 * a, 101 * b]], check = kit.looked("many", "a", "b") },

    { id = "choice", text = [[
A difference of 1 in 101 gives her away at a glance: without noise, any
difference does.

So make each choice private. The vertices are public, their scores <v,
-gradient> depend on the data, and one record moves a score by at most Delta.
The exponential mechanism picks v with probability proportional to

    exp(epsilon score(v) / (2 Delta)).]] },

    { id = "odds", text = [[
Nothing numeric is released, only which vertex. Between neighbours every
weight changes by a factor of at most e^(epsilon/2), and so does their sum:
epsilon-DP, for any number of vertices (McSherry, Talwar 2007).

`scores` are those of the 8 vertices for A at theta = 0; Delta is 4/101 here.]],
      ask = [[
Set `odds` to the vector of the 8 probabilities at epsilon = 1.]],
      answer = [[
weights = exp(scores / (2 * 4/101))
odds = weights / weights:sum()]],
      wrong = {
        [[odds = exp(scores / (4/101)) odds = odds / odds:sum()]],
        [[odds = exp(scores / (2 * 4/101))]],
        [[odds = exp(-scores / (2 * 4/101)) odds = odds / odds:sum()]],
      },
      hint = { "exp takes a whole vector; Delta = 4/101 and epsilon = 1 go into the exponent.",
        "exp(scores / (2 * Delta)), divided by its own sum." },
      check = check_odds },

    { id = "hidden", text = [[
The odds are 0.53 for the first corner, 0.47 for the second, and next to
nothing for the six poor ones. `hits(obj)` makes 2000 private one-step runs
(simulated) and counts those that end in the first corner.]],
      code = [[
hits(A), hits(B)]] },

    { id = "sensitivity", text = [[
Of two equally likely worlds no attacker names the right one with probability
above e/(1 + e) = 0.73 at epsilon = 1; here it is little above one half.

Everything rests on Delta. Take the LASSO: |x_j| <= 1, |y| <= 1, radius r. A
record's gradient is x (<x, theta> - y), no entry of it above r + 1; a vertex
has one entry, r; and a replaced record counts twice, as it goes and as the
other comes.]],
      ask = [[
Set `s` to the sensitivity of the scores for r = 2 and n = 20000.]],
      answer = [[
s = 2 * 2 * (2 + 1) / 20000]],
      wrong = {
        [[s = 2 * (2 + 1) / 20000]],
        [[s = 2 * 1 * (1 + 1) / 20000]],
        [[s = 2 * 2 * 2 / 20000]],
      },
      hint = { "A score of one record is at most r (r + 1) in size. Replaced, it can go from one end to the other.",
        "2 r (r + 1) / n" },
      check = check_sensitivity },

    { id = "steps", text = [[
T choices compose. Each has bounded range epsilon_0 and so costs
epsilon_0^2/8 in zCDP, a quarter of what epsilon_0-DP alone would give. After
T steps of size 2/(t+2) the expected excess risk is at most

    2 Gamma / (T + 2)  +  beta ln k,      beta = 2 Delta / epsilon_0,

Gamma = 4 r^2 the curvature, k = 2p vertices.]] },

    { id = "trade", text = [[
More steps come nearer to the minimum, but make each of them noisier:]],
      plot = bounds },

    { id = "step-size", text = [[
The article prints a constant step, 1/(T+2). It does not converge: a share of
about 1/e of the starting point stays for ever. Start in a corner, take 300
steps without noise, and look at the excess:]],
      code = [[
best = solve.exact(obj, {tol=1e-9}).value
function excess(T, step)
  local o = {privacy=false, iterations=T, step=step}
  o.start = -vec.basis(100, 1)
  return solve.frank_wolfe(obj, o).value - best
end
excess(300, "standard"), excess(300, "paper")]], check = kit.looked("best", "excess") },

    { id = "train", text = [[
The excess is 3.4e-5 and 4.8e-3 at T = 300; at T = 30 it was 1.4e-3 and
6.2e-3. The first step converges, and is the default.

Now privately. `obj` has 20,000 synthetic records of 100 features, five of
which matter. After T steps at most T features are used: sparsity is a
promise here.]],
      ask = [[
Train `fit` on obj at epsilon = 1, delta = 1e-9, such that it is sure to use
at most 20 features, and has steps enough to find the five.]],
      answer = [[
fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=20})
print(fit)
print(fit.value - best)]],
      wrong = {
        [[fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9})]],
        [[fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=3})]],
        [[fit = solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=20, rng=rng.seeded(1)})]],
        [[fit = solve.frank_wolfe(obj, {epsilon=2, delta=1e-9, iterations=20})]],
      },
      hint = { "Each step touches one feature, so `iterations` bounds how many are used.",
        "solve.frank_wolfe(obj, {epsilon=1, delta=1e-9, iterations=20})" },
      check = check_fit },

    { id = "lower", text = [[
Optimised over T, the bound falls like (n epsilon)^(-2/3), up to logarithms.
Can another method do better? No: for epsilon <= 0.1 and delta = o(1/n^2)
there are data on which every private method has an excess risk of order
n^(-2/3), up to logarithms (Theorems 5.8, 5.9).

The proof is an attack. It builds data on which whoever has a small loss must
give away who is in them.]] },

    { id = "code", text = [[
Nine users hold a row each of a Tardos code, 900 columns of +1 and -1; 1024
more records keep theta small. User 2 is left out. With a small loss theta
must have the sign that the other eight agree on, column by column, wherever
they agree. `f:trace(theta)` knows the code and scores each user by how
theta's signs follow his row. The exact minimiser:]],
      code = [[
f = data.synthetic.fingerprint{users=8, p=1024, informative=900,
  ridge=1024, seed=1}
lasso = pn.objective{data=f:dataset(2), loss=loss.squared(),
  set=set.l1_ball{dim=1024}}
minimiser = solve.exact(lasso, {tol=1e-6}).theta
f:trace(minimiser), lasso:value(minimiser)]], check = kit.looked("f", "lasso", "minimiser") },

    { id = "missing", text = [[
All present users score above 24, user 2 scores -29: the model of 1024
numbers has told who was not in its data. It is no accident of this draw:
`mystery` is the minimiser for another code, `other`, from which one of the
nine was left out.]],
      ask = [[
Who? Set `missing` to the number of the user who is not in the data.]],
      answer = [[
score, missing = other:trace(mystery):min()
print(score, missing)]],
      wrong = {
        [[_, missing = other:trace(mystery):max()]],
        [[missing = other:trace(mystery):min()]],
        [[missing = 2]],
      },
      hint = { "other:trace(mystery) is the vector of nine scores.",
        "The lowest score. v:min() returns the value and then its index." },
      check = check_missing },

    { id = "private", text = [[
Now a private minimiser of the first data set, at epsilon = 0.1 and
delta = 1e-7 (a simulation, seeded so that the numbers are these).]],
      code = [[
quiet = solve.frank_wolfe(lasso, {epsilon=0.1, delta=1e-7,
  rng=rng.seeded(1)})
blind = vec.zeros(1024)
f:trace(quiet.theta), lasso:value(quiet.theta), lasso:value(blind)]], check = kit.looked("quiet", "blind") },

    { id = "picture", text = [[
Users 1 to 8, the absent one among them, have one score: theta has three
entries, and there these rows agree. At epsilon = 0.1 no score can place a
present user above the absent one with probability above 0.525, over codes.
The price is the loss: 0.20, not 0.0007; theta = 0, blind, has 0.0039.]],
      plot = traces },

    { id = "end", text = [[
Three things to keep. A choice can leak as much as a number. The exponential
mechanism makes a choice private at a price of ln k, not k. And where the
loss itself identifies people, no cleverness helps: small risk and privacy
exclude each other, and n^(-2/3) is where they meet.]] },
  },
}
