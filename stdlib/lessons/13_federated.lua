-- 13_federated.lua -- the lesson on columns in different hands: sums of large groups that tell on one person, gradients that are
-- equations, fresh noise that averages out, and private Frank-Wolfe between parties.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

local people, ada = 1000, 17

-- Clinic B's column: whether each of 1000 people tested positive.
local function tests()
  local r, b = pn.rng.seeded(5), pn.vec.zeros(people)
  for i = 1, people do b[i] = r:uniform() < 0.3 and 1 or 0 end
  b[ada] = 1
  return b
end

-- Clinic B's desk: the number of positives in a group (a vector of zeros and ones) of at least 900.
local function desk(noise)
  local b = tests()
  return function(group)
    local off = group * group - group
    if #group ~= people or off:dot(off) ~= 0 then error("the desk: a group is a vector of 1000 zeros and ones", 2) end
    if group:sum() < 900 then error("the desk: groups of fewer than 900 people are not counted", 2) end
    return b:dot(group) + noise()
  end
end

-- n records of 8 columns, mostly 0, of which the second and the seventh tell the label.
local function sparse(n)
  local r, X, y = pn.rng.seeded(1), {}, {}
  for i = 1, n do
    X[i] = {}
    for j = 1, 8 do X[i][j] = r:uniform() < 0.1 and 1 or 0 end
    y[i] = 0.5 * X[i][2] + 0.5 * X[i][7] + 0.1 * (r:uniform() - 0.5)
  end
  local d = pn.data.from(pn.mat(X), y):clip_rows("linf", 1):clip_labels(-1, 1)
  return pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 8 } }
end

local function check_ada(env)
  if near(env.result, 1, 1e-9) then return true end
  if env.result == nil then return false, "result is still to come" end
  if near(env.result, -1, 1e-9) then return false, "the sign: the larger group is the one with her" end
  return false, "the two groups should differ in her and in nobody else"
end

local function check_guess(env)
  local g = env.guess
  if near(g, 1, 0.6) then return true end
  if type(g) ~= "number" then return false, g == nil and "guess is still to come" or "guess should be a number" end
  return false, ("%.3g is not near her value; the noise of one difference has a deviation of 14"):format(g)
end

local function check_answers(env)
  local a = env.answers
  if near(a, 100, 0.5) then return true end
  if a == nil then return false, "answers is still to come" end
  if near(a, 10, 0.5) then return false, "rho adds up, its root does not" end
  if near(a, 50, 0.5) then return false, "rho = 1/(2 sigma^2), with a 2 below" end
  return false, "each answer costs 1/(2 sigma^2); how often does that go into 1/2?"
end

local function check_choice(env)
  local e = env.eps0
  if near(e, (0.4 / 24) ^ 0.5, 1e-5) then return true end
  if e == nil then return false, "eps0 is still to come" end
  if near(e, (0.4 / 12) ^ 0.5, 1e-5) then
    return false, "that counts one party. They hold different columns, but of the same people"
  end
  if near(e, (0.1 / 24) ^ 0.5, 1e-5) then return false, "valid, but an exponential mechanism costs only eps0^2/8" end
  return false, "24 choices at eps0^2/8 each, together 0.05"
end

local function check_sketch(env)
  local s, J = env.s, env.J
  local longest, columns = 0, J:t()
  for j = 1, J.cols do longest = math.max(longest, columns[j]:norm()) end
  if near(s, 2 * longest, 1e-6) then return true end
  if s == nil then return false, "s is still to come" end
  if near(s, longest, 1e-6) then return false, "the entry of a replaced record can go from -1 to 1" end
  local _, values = J:svd()
  if near(s, 2 * values[1], 1e-3) or near(s, values[1], 1e-3) then
    return false, "that is how far all records together could stretch it. One record is one entry of the column"
  end
  return false, "if entry j of the column moves by 2, J times the column moves by 2 times column j of J"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 3, delta = 1e-6 })
  if flaw then return false, flaw end
  local lines = env.fit.plan.lines
  if not lines["parties K"] then return false, "private, but somebody needed all columns in one place" end
  if lines["parties K"] < 2 then return false, "two clinics, two parties" end
  return true
end

-- Excess risk over epsilon, mean of three simulated runs.
local function curves()
  local obj = sparse(5000)
  local best, x, apart, together = pn.solve.exact(obj).value, { 0.5, 1, 2, 4, 8, 16 }, {}, {}
  for k, epsilon in ipairs(x) do
    apart[k], together[k] = 0, 0
    for seed = 1, 3 do
      local o = { epsilon = epsilon, delta = 1e-6, iterations = 12, rng = pn.rng.seeded(seed) }
      together[k] = together[k] + (pn.solve.frank_wolfe(obj, o).value - best) / 3
      o.transport, o.sketch, o.rng = pn.federated.in_process { parties = 2 }, { m = 64 }, pn.rng.seeded(seed)
      o.progress = false
      apart[k] = apart[k] + (pn.solve.federated_frank_wolfe(obj, o).value - best) / 3
    end
  end
  pn.plot.line { { x = x, y = apart, label = "two parties" }, { x = x, y = together, label = "all columns in one place" },
    title = "12 rounds, 5000 records", xlabel = "epsilon", ylabel = "excess risk", logx = true, logy = true }
end

return {
  name = "federated",
  title = "Columns in different hands",
  minutes = 15,
  about = "Two clinics train one model; why sums are not enough, and what is.",
  source = "Lou, Cheung (2018), Algorithm 2, corrected; Dinur, Nissim (2003) for the attack",
  setup = function(env)
    local noise, sketch = pn.rng.seeded(9), pn.rng.seeded(3)
    env.ask = desk(function() return 0 end)
    env.ask_noisy = desk(function() return 10 * pn.vec.normal(1, noise)[1] end)
    env.everybody, env.ada = pn.vec.ones(people), ada
    env.column = tests():slice(1, 40)
    env.Q = (pn.vec.normal(1600, sketch)):reshape(40, 40)
    env.J = (pn.vec.normal(64 * 2000, sketch) / 8):reshape(64, 2000)
    env.obj = sparse(20000)
  end,
  steps = {
    { id = "desk", text = [[
Clinic A and clinic B have measured different things on the same 1000 people.
They would like to learn from all of it, and may not show each other a
column. "Sums are harmless," says B, and opens a desk: ask(group) tells how
many of a group tested positive. A group is a vector of zeros and ones; with
fewer than 900 people in it, the desk refuses.]],
      code = [[
ask(everybody), pcall(ask, vec.basis(1000, 17))]] },

    { id = "difference", text = [[
Ada is number 17 of the list (`ada`).]],
      ask = [[
Did she test positive? Set `result` to 1 or 0 as the desk's answers say,
computed from them.]],
      answer = [[
result = ask(everybody) - ask(everybody - vec.basis(1000, ada))]],
      wrong = {
        [[result = ask(everybody - vec.basis(1000, ada)) - ask(everybody)]],
        [[result = ask(everybody) - ask(everybody - vec.basis(1000, ada) - vec.basis(1000, 1))]],
        [[result = 0]],
      },
      hint = { "Two large groups can differ in one person.", "everybody - vec.basis(1000, ada) is the group without her." },
      check = check_ada },

    { id = "gradients", text = [[
Two sums over large groups did it. But who would ask for them? Training does.
In each round it needs a^T q of a column a, where q is the fit so far: a
weighted sum, with weights that the other side chose. 40 people and 40 rounds;
the rows of `Q` are the q's, `column` is B's:]],
      code = [[
sums = Q * column
stolen = Q:solve(sums)
stolen:slice(1, 8), (stolen - column):norm(math.huge) < 1e-6]], check = kit.looked("sums", "stolen") },

    { id = "fresh", text = [[
Every sum is an equation, and 40 of them determine a column. So B adds noise,
fresh for every answer, with a standard deviation of 10: ask_noisy(group). A
difference of two answers is now off by 14, typically.]],
      ask = [[
Set `guess` to within 0.6 of Ada's value, from ask_noisy alone.]],
      answer = [[
without = everybody - vec.basis(1000, ada)
guess = 0
for k = 1, 4000 do
  guess = guess + (ask_noisy(everybody) - ask_noisy(without)) / 4000
end
print(guess)]],
      wrong = {
        [[guess = ask_noisy(everybody)]],
        [[guess = 1000 * (ask_noisy(everybody) - ask_noisy(everybody))]],
        [[guess = "positive"]],
      },
      hint = { "Who forbids to ask twice?", "The mean of some thousand differences." },
      check = check_guess },

    { id = "repeats", text = [[
Noise that is drawn anew is averaged away. What if the same question gets the
same noise? That stops repeats, and is right for messages that are sent again;
parties here answer a repeated request with the same bytes. But new questions
with the same difference are easily found. What helps is to count.

With sigma = 10 an answer costs 1/(2 sigma^2) in rho (zCDP), as a person moves
it by 1 at most.]],
      ask = [[
Set `answers` to how many B can give for rho = 1/2 in all.]],
      answer = [[
answers = 0.5 / (1 / (2 * 10^2))]],
      wrong = { [[answers = 0.5 * 10^2]], [[answers = 10]], [[answers = 4000]] },
      hint = { "An answer costs 1/200.", "1/2 divided by 1/200." },
      check = check_answers },

    { id = "refused", text = [[
B can give 100 answers, whose mean still has a deviation of 1: with rho = 1/2,
however it is divided, nobody sees a person more sharply than that. A ledger
does the counting, and refuses:]],
      code = [[
function serve()
  local purse, given = pn.ledger{rho=0.5, teaching=true}, 0
  local count = pn.mechanism.gaussian{sigma=10, sensitivity=1}
  local how = {ledger=purse, rng=rng.seeded(1)}
  while pcall(count.release, count, 300, how) do given = given + 1 end
  return given
end
print(serve())]], defines = { "serve" } },

    { id = "protocol", text = [[
(99: the lattice that the noise lives on costs a little, too.) With so few
answers, what should training ask? Lou and Cheung (2018), corrected. Each
round every party looks for the column of its own that fits the residual
best, by the exponential mechanism. It sends
  the name of the choice, privately chosen;
  and once per column the column itself: shortened, with Gaussian noise.
The server computes model and fit from these alone, and sends the fit back.]] },

    { id = "choices", text = [[
Two parties make 24 choices in 12 rounds; each is an exponential mechanism of
eps0, and costs eps0^2/8 in rho.]],
      ask = [[
Set `eps0` such that all choices together cost rho = 0.05.]],
      answer = [[
eps0 = sqrt(8 * 0.05 / 24)]],
      wrong = { [[eps0 = sqrt(8 * 0.05 / 12)]], [[eps0 = sqrt(2 * 0.05 / 24)]], [[eps0 = 8 * 0.05 / 24]] },
      hint = { "Parts of the same person are at both parties.", "24 eps0^2/8 = 0.05" },
      check = check_choice },

    { id = "sketch", text = [[
It is 0.129. Parties do not protect each other: all K T choices add up.

A column of 2000 numbers is shortened by a public random matrix `J`, 64 x 2000
here, and noise is added to J a. Entries are between -1 and 1. One record is
one entry of the column.]],
      ask = [[
Set `s` to how far replacing a record can move J a, in l2 norm.]],
      answer = [[
s = 0
columns = J:t()
for j = 1, 2000 do s = max(s, 2 * columns[j]:norm()) end]],
      wrong = {
        [[U, values = J:svd() s = 2 * values[1] ]],
        [[s = 0 columns = J:t() for j = 1, 2000 do s = max(s, columns[j]:norm()) end]],
        [[s = 2]],
      },
      hint = { "J (a + 2 e_j) - J a = 2 J e_j.", "Twice the longest column of J; J:t()[j] is column j." },
      check = check_sketch },

    { id = "sketch-noise", text = [[
The article takes the largest singular value of J in place of the longest
column. And it says that the sketch makes the noise small. It does not: the
noise reaches <a, Ax> with a deviation of |J a| sigma, which is about |a|
sigma, at any length. What it shortens is the message.]],
      code = [[
U, values = J:svd()
values[1], s / 2]], check = kit.looked "values" },

    { id = "run", text = [[
Now together. `obj` has 20,000 records of 8 sparse columns, the first four at
A, the others at B. In one process, but the messages are those of a network,
and are counted (seeded: a simulation):]],
      code = [[
t = federated.in_process{columns={4, 4}}
options = {transport=t, epsilon=3, delta=1e-6, iterations=12,
  sketch={m=128}, progress=false, rng=rng.seeded(2)}
sim = solve.federated_frank_wolfe(obj, options)
sim.theta, sim.value, solve.exact(obj).value]], check = kit.looked("t", "sim") },

    { id = "charges", text = [[
Columns 2 and 7 were found, one at each clinic. Each party keeps its own
ledger, and is told what that was charged:]],
      code = [[
for k, party in ipairs(t:report()) do
  print(k, party.selections, party.features, party.bytes_up,
    party.charged_epsilon)
end]] },

    { id = "picture", text = [[
Each party was charged 1.54 for what it released, and both together at most 3:
the guarantee is about a person. 1416 bytes left each clinic; its four columns
are 640,000. What does it cost not to bring columns together? Means of three
simulated runs:]],
      plot = curves },

    { id = "train", text = [[
At small epsilon two hands are worse: columns have to be sent, and their noise
enters every later round. At large epsilon they are better, which is a gift of
this example: each party moves within an l1 ball of its own, of radius 1/2,
and the truth has just 1/2 at each. Had it 0.9 and 0.1, it would be out of
reach (see `radii=`).]],
      ask = [[
Train for real, in two hands: set `fit` to a run on obj at epsilon = 3,
delta = 1e-6 between two parties.]],
      answer = [[
fit = solve.federated_frank_wolfe(obj, {epsilon=3, delta=1e-6,
  transport=federated.in_process{columns={4, 4}}, iterations=12,
  sketch={m=128}, progress=false})
print(fit)]],
      wrong = {
        [[fit = solve.frank_wolfe(obj, {epsilon=3, delta=1e-6})]],
        [[fit = sim]],
        [[fit = solve.federated_frank_wolfe(obj, {epsilon=4, delta=1e-6, iterations=12, sketch={m=64},
  transport=federated.in_process{columns={4, 4}}, progress=false})]],
      },
      hint = { "The call of the simulation, with a transport of its own and without rng.",
        "solve.federated_frank_wolfe(obj, {epsilon=3, delta=1e-6, transport=federated.in_process{columns={4, 4}}})" },
      check = check_fit },

    { id = "end", text = [[
Three things. A sum is an equation, whoever asks for it. Noise protects only
as long as somebody counts the answers. And what is private once, a choice or
a sketch, may be used by everybody in every later round for nothing.

Between real hosts the same run is `penumbra server` and `penumbra party`,
with keys and ledgers of their own: see help "federated".]] },
  },
}
