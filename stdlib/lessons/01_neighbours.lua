-- 01_neighbours.lua -- the lesson on neighbouring data sets: two harmless averages give away a salary, suppressing small groups
-- does not help, and what a guarantee must therefore compare; sensitivity.
-- Depends on: penumbra.  Used by: penumbra.lesson.
local pn = require "penumbra"

local names = { "Ada", "Ben", "Cleo", "Dana", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kira", "Liam" }
local pay = { 41, 38.5, 62, 87.3, 45, 52, 39.9, 71, 48.2, 55, 44.1, 66 }
local visits = { 0, 2, 1, 17, 3, 0, 4, 1, 2, 0, 5, 1 }
local dana = 4

-- Sums of visits over at least five people, as a careful clinic would give them.
local function total(choose)
  local sum, count = 0, 0
  for i, name in ipairs(names) do
    if choose(name) then sum, count = sum + visits[i], count + 1 end
  end
  if count < 5 then
    error(("total: a group of %d is too small to be told about, 5 are needed"):format(count), 0)
  end
  return sum
end

local function median(values)
  local sorted = table.pack(table.unpack(values))
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end

local function near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

local function check_dana(env)
  local x = env.dana
  if near(x, pay[dana], 0.01) then return true end
  if type(x) ~= "number" then return false, "dana should be a number" end
  if near(x, env.before - env.after, 0.01) then
    return false, "that is how far the average moved. An average is a sum divided by how many there are"
  end
  if near(x, env.before, 0.01) or near(x, env.after, 0.01) then return false, "that is the average of all" end
  return false, "the two sums, with her and without her, differ by something else"
end

local function check_visits(env)
  local v = env.visits
  if near(v, visits[dana], 0.01) then return true end
  if type(v) ~= "number" then return false, "visits should be a number" end
  return false, "that is not hers alone: two totals that differ in nobody but Dana differ by her visits"
end

local function check_mean(env)
  local s = env.mean_sensitivity
  if near(s, 200 / 12, 0.01) then return true end
  if near(s, 200, 1e-6) then return false, "that is how much one salary can change; the mean divides it" end
  if near(s, 200 / 11, 0.01) then return false, "under replace_one there are 12 records before and after" end
  if near(s, 400 / 12, 0.01) then return false, "one salary moves within [0, 200]: by no more than its length" end
  return false, "replace one salary by the worst other one, and see how far the mean goes"
end

local function check_norms(env)
  if near(env.add, 1, 1e-9) and near(env.replace, 2, 1e-9) then return true end
  if near(env.add, 1, 1e-9) and near(env.replace, 1, 1e-9) then
    return false, "when a record v becomes a record w, the sum moves by w - v. How long can that be?"
  end
  if near(env.add, 2, 1e-9) then return false, "adding a record moves the sum by that record alone" end
  return false, "add and replace are two numbers: the longest moves of the sum"
end

-- Whether `other` is the payroll but for one place, and the payroll is as it was.
local function check_other(env)
  local fine, moved, changed = pcall(function()
    local truth = pn.vec(pay)
    return env.other - truth, (env.pay - truth):norm() > 0
  end)
  if not fine then return false, "other should be a vector as long as pay" end
  if changed then
    return false, "pay itself has changed: `other = pay` makes no copy, so both names stand for one vector. "
      .. "Type `reset` to have pay back, and let other be a copy"
  end
  local places = 0
  for i = 1, 12 do places = places + (moved[i] ~= 0 and 1 or 0) end
  if places == 0 then return false, "the change of a place in other is still to come" end
  if not (env.other:min() >= 0 and env.other:max() <= 200) then return false, "no contract allows a salary outside [0, 200]" end
  return places == 1, ("it differs from pay in %d places, a neighbour differs in one"):format(places)
end

-- The number of entries in which two lists differ, or nil and why they are no tables of salaries.
local function differences(D, E)
  if type(D) ~= "table" or type(E) ~= "table" or #D ~= 5 or #E ~= 5 then
    return nil, "D and E should be tables of five numbers"
  end
  local count = 0
  for i = 1, 5 do
    for _, x in ipairs { D[i], E[i] } do
      if type(x) ~= "number" or not (x >= 0 and x <= 200) then return nil, "all salaries should be numbers from 0 to 200" end
    end
    count = count + (D[i] ~= E[i] and 1 or 0)
  end
  return count
end

local function check_median(env)
  local count, why = differences(env.D, env.E)
  if not count then return false, why end
  if count ~= 1 then return false, ("D and E differ in %d places; neighbours differ in one"):format(count) end
  local moved = math.abs(median(env.D) - median(env.E))
  if moved >= 100 then return true end
  return false, ("they are neighbours, but the median moves by %g only"):format(moved)
end

local function check_people(env)
  local n = env.n
  if n == 400 then return true end
  if type(n) ~= "number" or n ~= math.floor(n) then return false, "n should be a whole number" end
  if n < 1 then return false, "somebody should work there" end
  local scale = 200 / n / 0.5
  if scale > 1 then return false, ("with n = %d the scale of the noise is %.4g thousand"):format(n, scale) end
  return false, "that is enough, but fewer people would do"
end

-- The mean against the salary that stands in Dana's place.
local function sweep(env)
  local others, x, y = 0, {}, {}
  for i, salary in ipairs(pay) do others = others + (i ~= dana and salary or 0) end
  for k = 0, 20 do x[k + 1], y[k + 1] = 10 * k, (others + 10 * k) / 12 end
  pn.plot.scatter { { x = x, y = y, label = "neighbours" },
    { x = { pay[dana] }, y = { env.before }, label = "the payroll itself" },
    title = "The mean of 12 salaries", xlabel = "salary in Dana's place", ylabel = "mean" }
end

return {
  name = "neighbours",
  title = "What a neighbour is",
  minutes = 10,
  about = "How two harmless averages give a salary away, and what a promise of privacy has to compare.",
  source = "Denning, Denning, Schwartz (1979); Dwork, McSherry, Nissim, Smith (2006)",
  setup = function(env)
    env.pay = pn.vec(pay)
    env.after = (env.pay:sum() - pay[dana]) / 11
    env.total, env.median = total, median
  end,
  steps = {
    { id = "table", text = [[
Twelve people work at a company. `pay` holds what they earn, in thousands a
year. Individual salaries are secret. The average is not: it goes into the
annual report, and everybody finds that harmless.

It seems that a figure about many people hides each of them. This lesson shows
that it does not, and then states what has to hold instead.]] },

    { id = "mean", text = [[
Here is this year's average, as the report prints it. We keep it.]],
      code = [[before = pay:sum() / #pay]], defines = { "before" },
      check = function(env) return near(env.before, 54.1667, 0.001), "before is not the mean of pay" end },

    { id = "difference", text = [[
In spring Dana leaves, as everybody knows, and nobody else comes or goes. The
next report says that 11 people now earn `after` on average (type `after` to
see it). Both averages are true, both are about everybody, neither names Dana.

You have `before` and `after`, and know that there were 12 people and now are
11.]],
      ask = "Find out what Dana earned: set `dana`, from `before` and `after` only.",
      answer = [[dana = 12 * before - 11 * after]],
      wrong = { [[dana = before - after]], [[dana = before]], [[dana = "much"]], [[dana = 11 * before - 12 * after]] },
      hint = { "An average times the number of people is their sum.",
        "The sum of 12 less the sum of 11 is what the twelfth earns: 12 times one thing, less 11 times another." },
      check = check_dana },

    { id = "exact", text = [[
Dana earned 87.3, to the last digit. This is a differencing attack. It used no
name, no leak and no clever statistics, only two aggregates over nearly the
same people.

A tempting defence is to refuse answers about small groups. A clinic does so:
total(choose) gives the visits of all patients whose name `choose` accepts,
and refuses groups of fewer than five people. Try to ask it about Dana alone.]],
      code = [[ok, why = pcall(total, function(name) return name == "Dana" end)]], defines = { "ok", "why" } },

    { id = "tracker", text = [[
The clinic refuses, and `why` says so. But Dana can also be the one person who
is missing from a large group. The patients are the same twelve people.]],
      ask = "Set `visits` to the number of Dana's visits, by calls of total() that are all allowed.",
      answer = [[visits = total(function() return true end)
  - total(function(name) return name ~= "Dana" end)]],
      wrong = { [[visits = total(function() return true end)]],
        [[visits = total(function(name) return name ~= "Dana" end)]],
        [[visits = total(function() return true end) / 12]] },
      hint = { "Two groups of at least five that differ in nobody but Dana.",
        "Everybody; and everybody whose name ~= \"Dana\"." },
      check = check_visits },

    { id = "lesson-of-it", text = [[
A rule that looks at one answer at a time cannot see what two of them tell
together. Denning, Denning and Schwartz (1979) show that such trackers beat
minimum sizes in nearly every database.

What gave Dana away is always the same: two data sets that differ in one
person had answers that differ visibly. So that is what has to be forbidden.]] },

    { id = "neighbours", text = [[
Two data sets are neighbours when they differ in one person. Two readings:

  replace_one   equally many records, one of them another   (the default here)
  add_remove    one of the two has one record more

A mechanism M, which answers at random, is (epsilon, delta)-differentially
private when for all neighbours D, E and every set S of answers
  P[M(D) in S] <= exp(epsilon) P[M(E) in S] + delta    (Dwork et al. 2006).]] },

    { id = "make-one", text = [[
Make a neighbour of the payroll under replace_one: Dana's place is the fourth,
and salaries are between 0 and 200 by contract.]],
      code = [[other = pay:copy()
other[4] = 200]], defines = { "other" },
      check = check_other },

    { id = "picture", text = [[
Here are the means of payrolls that differ from `pay` in Dana's place alone.
All of them are neighbours of each other.]], plot = sweep },

    { id = "sensitivity", text = [[
The (global) sensitivity of a query is the most that it can move between
neighbours: the largest |q(D) - q(E)|. It ranges over ALL possible data sets,
not only the one at hand: a sensitivity computed from the records would itself
reveal something about them. All that is public is that there are 12 salaries,
each in [0, 200].]],
      ask = "Set `mean_sensitivity` to the sensitivity of the mean of 12 salaries, under replace_one.",
      answer = [[mean_sensitivity = 200 / 12]],
      wrong = { [[mean_sensitivity = 200]], [[mean_sensitivity = 200 / 11]], [[mean_sensitivity = 400 / 12]],
        [[mean_sensitivity = 0]] },
      hint = { "Which neighbours are farthest apart? One person goes from one end of the range to the other.",
        "The sum moves by at most 200 then. The mean is a twelfth of the sum." },
      check = check_mean },

    { id = "relation", text = [[
The relation matters. Let records be vectors of l2 norm at most 1, as
gradients are after clipping, and let the query be their SUM. How far, in l2
norm, does it move when a record is added, and how far when one is replaced?]],
      ask = "Set `add` and `replace` to the two sensitivities.",
      answer = [[add, replace = 1, 2]],
      wrong = { [[add, replace = 1, 1]], [[add, replace = 2, 2]], [[add, replace = 2, 4]] },
      hint = { "The sum changes by v when v is added, and by w - v when v becomes w.",
        "v and w may point in opposite directions." },
      check = check_norms },

    { id = "median", text = [[
A query may look robust on the data at hand and not be so. The median of five
salaries hardly moves in most payrolls when one of them changes (its local
sensitivity is small there); but what counts is the worst case. `median`
computes it for a table of numbers.]],
      ask = "Find neighbours under replace_one, tables `D` and `E` of five salaries in [0, 200] each, whose medians are 100 "
        .. "or more apart.",
      answer = [[D = {0, 0, 0, 200, 200}
E = {0, 0, 200, 200, 200}]],
      wrong = { [[D = {40, 50, 60, 70, 80} E = {40, 50, 200, 70, 80}]], [[D = {0, 0, 0, 0, 0} E = {200, 200, 200, 200, 200}]],
        [[D = {0, 0, 0, 500, 500} E = {0, 0, 500, 500, 500}]] },
      hint = { "The median of five is the third when they are sorted. Put nothing near it.",
        "Two at one end, two at the other, and the fifth changes sides." },
      check = check_median },

    { id = "noise", text = [[
The defence: add noise as large as what one person can change. Laplace noise
of scale sensitivity / epsilon makes a query epsilon-private (delta = 0; Dwork
et al. 2006). A ledger pays for it before the noise is drawn. The noise is
real: you will not get the same number twice.]],
      code = [[L = pn.ledger{epsilon=1}
m = mechanism.laplace{epsilon=0.5, sensitivity=200/12}
noisy = m:release(before, {ledger=L})]], defines = { "L", "m", "noisy" } },

    { id = "price", text = [[
The scale is 33 thousand, which hides Dana and drowns the average as well: the
mean of 12 people cannot be both private and useful. The noise shrinks as 1/n,
and what is worth knowing about many people does not.]],
      ask = "Set `n` to the least number of employees for which the noise on the mean, at epsilon = 0.5 and with salaries in "
        .. "[0, 200], has a scale of at most 1 thousand.",
      answer = [[n = 400]],
      wrong = { [[n = 200]], [[n = 12]], [[n = 1000]], [[n = 100.5]] },
      hint = { "The scale is sensitivity / epsilon, and the sensitivity of the mean is 200 / n.",
        "200 / n / 0.5 should be 1." },
      check = check_people },

    { id = "end", text = [[
A neighbour is a data set that differs in one person; a query's sensitivity is
how far neighbours push it; noise of that size hides which of them is true.
Costs add up: a second release of the same mean would cost another 0.5, and
the ledger, which held 1, would refuse a third.

Next: noise that is too weak, averaged away; and the Gaussian mechanism.]] },
  },
}
