-- 18_csv_model.lua -- the lesson on the way from a CSV file to a private model: scaling by the data's own ends gives a salary
-- away, a recipe of public facts, unknown categories and holes, pn.model, predictions, and the model card.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local N, DANA = 2000, 320 -- people, and the largest income
local jobs = { "cook", "clerk", "nurse" }
local asked = { epsilon = 1, delta = 1e-6 }

-- The file's text and its incomes, simulated; person 700 earns most.
local function people()
  local source, lines, income = pn.rng.seeded(3), { "age,income,job,bought" }, {}
  for i = 1, N do
    local age, job = 18 + source:integer(60), jobs[source:integer(3)]
    local earns = i == 700 and DANA or math.floor(200 + 600 * source:uniform() * source:uniform()) / 10
    local z = (earns - 35) / 7 + (age - 48) / 10 + (job == "nurse" and 2 or 0)
    lines[i + 1] = ("%d,%.1f,%s,%s"):format(age, earns, job, source:uniform() < 1 / (1 + math.exp(-z)) and "yes" or "no")
    income[i] = earns
  end
  return table.concat(lines, "\n") .. "\n", pn.vec(income)
end

local file -- written once; its owner removes it when Lua ends

-- Where no file may be opened at all, as where a course is graded, the steps that read it fail, and the others do not.
local function no_files()
  local null <close> = io.open "/dev/null"
  return not null
end

local function write_once()
  if no_files() then return "customers.csv", select(2, people()) end
  if file then return file.path, file.income end
  local text, income = people()
  local path = os.tmpname()
  assert(require "penumbra.files".put(path, text))
  file = setmetatable({ path = path, income = income }, { __gc = function(self) os.remove(self.path) end })
  return path, income
end

local function check_dana(env)
  local x = env.dana
  if kit.near(x, DANA, 1e-6) then return true end
  if type(x) ~= "number" then return false, "dana should be a number" end
  if kit.near(x, env.shipped.width, 1e-6) then return false, "that is the width; the range begins at lo" end
  if kit.near(x, env.shipped.lo, 1e-6) then return false, "that is the lowest income" end
  return false, "lo and width say where the range ends, and Dana is there"
end

-- The mean scaled income, and that after Dana's income became 10000.
local function means(income)
  local other = income:copy()
  local _, place = income:max()
  other[place] = 10000
  local function mean(v)
    local lo, hi = v:min(), v:max()
    return ((v - lo) / (hi - lo)):mean()
  end
  return mean(income), mean(other)
end

local function check_moved(env)
  local x = env.moved
  if type(x) ~= "number" then return false, "moved should be a number" end
  local before, after = means(env.income)
  if kit.near(math.abs(x), before - after, 1e-4) then return true end
  if kit.near(x, after, 1e-5) or kit.near(x, before, 1e-5) then return false, "that is one of the two means" end
  if kit.near(math.abs(x), 1 / N, 1e-5) then return false, "that holds for a fixed range, where nobody else's number moves" end
  return false, "scale the changed incomes by their own ends, and compare the two means"
end

-- The features that a recipe makes of columns, as rows, or nil and why not.
local function rows_of(r, columns)
  local ok, data = pcall(function() return r:data(columns, { label = false }) end)
  if not ok then return nil, (tostring(data):gsub("^.-: ", "", 1)) end
  return data.X
end

-- Whether two rows of X are equal.
local function same(X, i, k)
  return (X[i] - X[k]):norm() < 1e-12
end

-- Whether a column runs over [lo, hi]: what lies beyond is clipped, what lies within is not.
local function runs_over(r, column, lo, hi)
  local columns = { age = { 40, 40, 40, 40, 40, 40 }, income = { 40, 40, 40, 40, 40, 40 } }
  columns.job = { "cook", "cook", "cook", "cook", "cook", "cook" }
  columns[column] = { lo - 5, lo, lo + 1, hi - 1, hi, hi + 5 }
  local X, why = rows_of(r, columns)
  if not X then return false, why end
  return same(X, 1, 2) and same(X, 5, 6) and not same(X, 2, 3) and not same(X, 4, 5), column .. " has another range"
end

local function check_recipe(env)
  local r = env.r
  local ok, label = pcall(function() return r:label() end)
  if r == nil or not ok then return false, "r should be a pn.recipe" end
  if not label or label.name ~= "bought" then return false, "it has no label bought" end
  if not (label.classes and #label.classes == 2 and label.classes[1] == "no" and label.classes[2] == "yes") then
    return false, "the two values of the label are no and yes, and yes should be the positive one"
  end
  for _, one in ipairs { { "age", 18, 90 }, { "income", 0, 100 } } do
    local fine, why = runs_over(r, table.unpack(one))
    if not fine then return false, why end
  end
  local X = rows_of(r, { age = { 40, 40, 40, 40 }, income = { 40, 40, 40, 40 }, job = { "cook", "clerk", "nurse", "pilot" } })
  for i = 1, 3 do
    for k = i + 1, 4 do
      if same(X, i, k) then return false, "two of the three jobs look alike, or one is not declared" end
    end
  end
  return true
end

local function check_where(env)
  local X = rows_of(env.r, { age = { 30, 30 }, income = { 20, 20 }, job = { "pilot", "cook" } })
  for i, feature in ipairs(env.r:features()) do
    if feature.name == env.where then
      local pilot, cook = X[1][i], X[2][i]
      if pilot ~= 0 and cook == 0 then return true end
      return false, cook ~= 0 and "a cook has the same number there" or "the pilot has 0 there"
    end
  end
  return false, "that is not the name of a feature of r"
end

local function check_model(env)
  local m = env.m
  local ok, fit = pcall(function() return m.fit end)
  if m == nil or not ok or not fit then return false, "m should be what pn.model.logistic returned" end
  local flaw = kit.flaw(fit, asked)
  if flaw then return false, flaw end
  if not m.recipe then return false, "it does not use the recipe" end
  return m.train.n >= 1000, "most records should train it"
end

local function check_house(env)
  local x = env.house
  if kit.near(x, 4, 1e-9) then return true end
  if type(x) ~= "number" then return false, "house should be a number" end
  if kit.near(x, 1, 1e-9) then return false, "that protects one record. The household has four" end
  if kit.near(x, 2, 1e-9) then return false, "epsilons of a group add up plainly; roots belong to noise" end
  return false, "the card says how epsilon grows with the records of one household"
end

-- Incomes scaled by the data's own ends, and by a public range.
local function scales(env)
  local lo, hi = env.income:min(), env.income:max()
  local own, public = {}, {}
  for i = 1, #env.income do
    own[i] = (env.income[i] - lo) / (hi - lo)
    public[i] = math.min(env.income[i], 100) / 100
  end
  pn.plot.histogram { { samples = own, label = "by the data's ends" }, { samples = public, label = "by 0 to 100" }, bins = 40,
    title = "2000 scaled incomes", xlabel = "scaled income" }
end

return {
  name = "csv_model",
  title = "From a CSV to a model",
  minutes = 15,
  about = "Why the data's own ends are no ranges, and how a file becomes a private model that predicts.",
  source = "Dwork, Lei (2009), on statistics computed from the records; Mitchell et al. (2019), on model cards",
  setup = function(env) env.path, env.income = write_once() end,
  steps = {
    { id = "file", text = [[
A shop has a file of 2000 customers: age, income in thousands a year, job, and
whether they bought. (They are simulated.) It wants a model that predicts who
buys, and no customer should be visible in it. `path` is the file's name. You
own the data, so you may look at the first lines:]],
      code = [[lines = io.lines(path)
for i = 1, 4 do print(lines()) end]], defines = { "lines" } },

    { id = "usual", text = [[
Features should be of similar size. The usual way scales each column to [0, 1]
by its smallest and its largest value. `income` is the column of incomes.
Whoever predicts must scale in the same way, so the numbers are shipped with
the model:]],
      code = [[lo, hi = income:min(), income:max()
scaled = (income - lo) / (hi - lo)
shipped = {lo=lo, width=hi - lo}]], defines = { "lo", "hi", "scaled", "shipped" } },

    { id = "attack", text = [[
In this town everybody knows that Dana earns most, and that she shops here.
Nobody knows how much she earns.]],
      ask = "Set `dana` to Dana's income. Use `shipped` only.",
      answer = [[dana = shipped.lo + shipped.width]],
      wrong = { [[dana = shipped.width]], [[dana = shipped.lo]], [[dana = 100]] },
      hint = { "Dana's income is where the range ends.", "shipped.lo is its beginning, shipped.width its length." },
      check = check_dana },

    { id = "moved", text = [[
320, to the digit. No noise in the training helps: the number was shipped
beside the model. And if it is not shipped? Let Dana earn 10000, in thousands,
and scale again. Everybody else's feature moves, too: one record has changed
2000 of them.]],
      ask = "Set `moved` to how far the mean of all scaled incomes moves when Dana's income becomes 10000.",
      answer = [[other = income:copy()
largest, place = income:max()
other[place] = 10000
lo2, hi2 = other:min(), other:max()
moved = scaled:mean() - ((other - lo2) / (hi2 - lo2)):mean()]],
      wrong = { [[moved = 1 / 2000]], [[moved = scaled:mean()]], [[moved = (10000 - 320) / 2000]] },
      hint = { "other = income:copy(); income:max() returns the largest value and its place.",
        "Scale `other` by its own min and max, and subtract its mean from scaled:mean()." },
      check = check_moved },

    { id = "picture", text = [[
0.047. With a range that is fixed beforehand it is at most 1/2000 = 0.0005.
Fixed ranges also make better features: one rich customer squeezes all others
into a corner.]], plot = scales },

    { id = "recipe", text = [[
A recipe declares what the columns are, from public facts only. Here: ages are
from 18 to 90. Nearly all incomes are from 0 to 100; higher ones will be
clipped to 100. The jobs are cook, clerk and nurse. The label is bought: no or
yes. {lo, hi} is a range, a list of texts is a column of categories:

  pn.recipe{label={bought={"no", "yes"}}, features={age={18, 90}, ...}}]],
      ask = "Set `r` to the recipe with that label and the three features age, income and job.",
      answer = [[r = pn.recipe{label={bought={"no", "yes"}}, features={
  age={18, 90}, income={0, 100}, job={"cook", "clerk", "nurse"}}}]],
      wrong = { [[r = {age={18, 90}}]],
        [[r = pn.recipe{label={bought={"no", "yes"}}, features={age={18, 90}, income={0, 320},
            job={"cook", "clerk", "nurse"}}}]],
        [[r = pn.recipe{label={bought={"no", "yes"}}, features={age={18, 90}, income={0, 100}, job={"cook", "clerk"}}}]],
        [[r = pn.recipe{features={age={18, 90}, income={0, 100}, job={"cook", "clerk", "nurse"}}}]] },
      hint = { "features = {age = {18, 90}, income = ..., job = ...}", "income = {0, 100}, job = {\"cook\", ...}" },
      check = check_recipe },

    { id = "bounds", text = [[
The recipe costs nothing, since it has seen no record. It reads the file and
bounds each row on the way. A bound that holds for all possible rows is what
the sensitivity of the training will be derived from.]],
      code = [[d = r:data(path)
d, d.bounds.l2]], defines = { "d" }, check = kit.looked "d" },

    { id = "unknown", text = [[
Next month a pilot comes. Why not take the list of jobs from the file? Because
then a job that only one customer has becomes a feature, and its name in the
model says that this customer is in the data. The jobs are declared instead.
The recipe also reads tables of columns, and r:features() lists the features:]],
      ask = "Set `where` to the name of the feature that is not 0 for a pilot, and 0 for a cook.",
      answer = [[X = r:data({age={30, 30}, income={20, 20}, job={"pilot", "cook"}},
  {label=false}).X
for i, f in ipairs(r:features()) do
  if X[1][i] ~= 0 and X[2][i] == 0 then where = f.name end
end]],
      wrong = { [[where = "pilot"]], [[where = "job=cook"]], [[where = "age"]] },
      hint = { "r:data({age={30}, income={20}, job={\"pilot\"}}, {label=false}).X shows the pilot's row.",
        "for _, f in ipairs(r:features()) do print(f.name) end" },
      check = check_where },

    { id = "holes", text = [[
A hole is refused, unless the recipe says what becomes of it. A column with
missing="indicator" has one more feature that is 1 where the value is missing:]],
      code = [[ok, why = pcall(r.data, r, {age={""}, income={20}, job={"cook"}},
  {label=false})
r2 = pn.recipe{features={age={18, 90, missing="indicator"}}}
print(why:match "column[^,]*")
print(r2:data{age={30, ""}}.X)]], defines = { "ok", "why", "r2" } },

    { id = "model", text = [[
Now the model. pn.model.logistic{data=, recipe=, epsilon=} reads the file,
holds out one record in five, chooses solver, clipping and number of steps
from public numbers, and pays once. Without delta= it takes 1/n^2.]],
      ask = "Set `m` to a model of the file `path` by the recipe `r` with epsilon = 1.",
      answer = [[m = pn.model.logistic{data=path, recipe=r, epsilon=1}]],
      wrong = { [[m = pn.model.logistic{data=path, recipe=r, privacy=false}]], [[m = r]],
        [[m = pn.model.logistic{data=path, recipe=r, epsilon=1, rng=rng.seeded(1)}]],
        [[m = pn.model.logistic{data=path, recipe=r, epsilon=4}]] },
      hint = { "help \"pn.model.logistic\"", "pn.model.logistic{data=path, recipe=r, epsilon=1}" },
      check = check_model },

    { id = "predict", text = [[
print(m) says what was chosen and why. The model knows its recipe: it scales
new records in the same way, by ranges that were public from the beginning,
and a job that it has never seen becomes "other".]],
      code = [[new = {age={30, 70}, income={20, 90}, job={"pilot", "nurse"}}
m:predict(new, {labels=true}), m:probabilities(new)]], defines = { "new" }, check = kit.looked "new" },

    { id = "evaluate", text = [[
How good is it? Accuracy on the held-out records is a statistic of people,
too, so it has a price. The interval counts its noise.]],
      code = [[report = m:evaluate{epsilon=0.5, figures={"accuracy"}}
print(report)]], defines = { "report" } },

    { id = "card", text = [[
Whoever receives the model should know what it promises. The card is made from
the run itself: the guarantee, the columns, and what the model does not say,
which is the part to read first. print(m:card()) prints all of it.]],
      code = [[print(m:card():match "What this does not say.*")]] },

    { id = "house", text = [[
The card says whom the guarantee covers. In a household of four, all four are
customers, with a record each. They ask what the model tells about their
household as a whole.]],
      ask = "Set `house` to the epsilon that holds for the four records together.",
      answer = [[house = 4 * 1]],
      wrong = { [[house = 1]], [[house = 2]], [[house = 0.25]] },
      hint = { "The first point under \"What this does not say\".", "For k records epsilon is k times as large." },
      check = check_house },

    { id = "end", text = [[
Ranges, categories and bounds come from what is known without the data: laws,
forms, units. A range that is too wide costs accuracy, one from the records
costs privacy. If nothing is known, the records can be asked at a price:
ranges="private" in a recipe, or pn.recipe.estimate.

m:save("m.model") keeps the model, m:export("m.json") hands it to other
programs; the card goes with it.]] },
  },
}
