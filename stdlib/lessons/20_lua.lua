-- 20_lua.lua -- the lesson on Lua for those who know Python: what looks alike and is not, lists from 1, nil, functions, methods,
-- errors.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local looked = require "penumbra.lessons.kit".looked

-- The values of f(...), or nil and why it did not return.
local function call(name, f, ...)
  if type(f) ~= "function" then return nil, name .. " should be a function" end
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.pack(table.unpack(results, 2, results.n)) end
  return nil, name .. " ends in an error: " .. tostring(results[2]):gsub("^[^\n]-:%d+: ", "")
end

local function shown(value)
  return type(value) == "table" and "a table" or tostring(value)
end

-- Tries cases {arguments, expected, text}: true, or false and the first that fails.
local function try(name, f, cases)
  for _, case in ipairs(cases) do
    local got, why = call(name, f, table.unpack(case[1], 1, case[1].n or #case[1]))
    if not got then return false, why end
    for i = 1, #case[2] do
      if got[i] ~= case[2][i] then return false, ("%s is %s"):format(case[3], shown(got[i])) end
    end
  end
  return true
end

local function check_differ(env)
  return try("differ", env.differ, {
    { { 1, 2 }, { true }, "differ(1, 2)" }, { { 1, 1 }, { false }, "differ(1, 1)" },
    { { "a", "b" }, { true }, 'differ("a", "b")' }, { { n = 2, nil, false }, { true }, "differ(nil, false)" },
  })
end

local function check_label(env)
  local x = env.label
  if type(x) ~= "string" then return false, "label should be a string" end
  if x == "epsilon = 0.5" then return true end
  return false, ('label is "%s"; mind spaces and the number'):format(x)
end

local function check_last(env)
  return try("last", env.last, {
    { { { 41, 38.5, 62, 87.3 } }, { 87.3 }, "last{41, 38.5, 62, 87.3}" }, { { { "only" } }, { "only" }, 'last{"only"}' },
  })
end

local function check_total(env)
  return try("total", env.total, {
    { { { 1, 2, 3 } }, { 6 }, "total{1, 2, 3}" }, { { { 10 } }, { 10 }, "total{10}" }, { { {} }, { 0 }, "total{}" },
  })
end

local function check_has(env)
  return try("has", env.has, {
    { { { rho = 1 }, "rho" }, { true }, 'has({rho=1}, "rho")' }, { { { rho = 1 }, "mu" }, { false }, 'has({rho=1}, "mu")' },
    { { { paid = false }, "paid" }, { true }, 'has({paid=false}, "paid")' },
  })
end

local function check_spread(env)
  local fine, why = try("spread", env.spread, { { { { 3, 1, 2 } }, { 1 }, "the first value of spread{3, 1, 2}" } })
  if not fine then return false, why end
  return try("spread", env.spread, {
    { { { 3, 1, 2 } }, { 1, 3 }, "the second value of spread{3, 1, 2}" },
    { { { -5 } }, { -5, -5 }, "a value of spread{-5}" }, { { { 4, 9 } }, { 4, 9 }, "a value of spread{4, 9}" },
  })
end

local function check_counter(env)
  local c = env.counter
  if type(c) ~= "table" or type(c.add) ~= "function" then return false, "counter should be a table with a method add" end
  local other = { count = 10, add = c.add }
  local ok = pcall(function()
    other:add(2)
    other:add(3)
  end)
  if not ok then return false, "called as other:add(2) on another counter, it ends in an error: the first argument is self" end
  if other.count == 15 then return c.count ~= nil, "counter has no count" end
  return false, ("another counter of 10 has %s after other:add(2) and other:add(3): it should count in self"):format(
    tostring(other.count))
end

local function check_safe(env)
  return try("safe", env.safe, {
    { { function() return 7 end }, { 7 }, "safe(function() return 7 end)" },
    { { function() error "no budget" end, n = 1 }, { "failed" }, 'safe(function() error "no budget" end)' },
    { { function() return nil + 1 end, n = 1 }, { "failed" }, "safe(function() return nil + 1 end)" },
  })
end

return {
  name = "lua",
  title = "Lua for people who know Python",
  minutes = 20,
  about = "A first hour of Lua: what looks like Python and is not. There is no privacy in this lesson.",
  source = "Ierusalimschy, Programming in Lua (4th edition, 2016); the Lua 5.4 reference manual",
  setup = function(env) env.epsilon = 0.5 end,
  steps = {
    { id = "python", text = [[
Penumbra speaks Lua 5.4. Much of it looks like Python. What looks alike and
behaves differently costs the most time. Here are three lines of Python.
load(text) compiles a text as Lua, and returns nil and a message if it fails:]],
      code = [[print(load "x != 1")
print(load "x += 1")
print(load "if x == 1: y = 2")]] },

    { id = "blocks", text = [[
There is no `!=`, no `+=`, and no colon after a condition. In Lua these are

  x ~= 1        x = x + 1        if x == 1 then y = 2 end

Blocks end with `end`; indentation means nothing. A comment begins with two
dashes, --. and, or, not are as in Python; true and false are small. A
function is

  function twice(x) return 2 * x end]],
      ask = "Write a function `differ(a, b)` that returns true if a and b are different, and false otherwise.",
      answer = [[function differ(a, b)
  return a ~= b
end]],
      wrong = { [[function differ(a, b) return not a == b end]], [[function differ(a, b) return a == b end]],
        [[function differ(a, b) a = a ~= b end]] },
      hint = { "`~=` is Python's `!=`.", "return a ~= b. By the way: not a == b is (not a) == b in Lua." },
      check = check_differ },

    { id = "plus", text = [[
+ adds numbers only. Between a text and a number it tries to read the text as
a number, and fails where there is none. Texts are joined by two dots:]],
      code = [[print(pcall(function() return "pay " + 1 end))
sum, joined = "10" + 1, "pay " .. 1
sum, joined]], defines = { "sum", "joined" }, check = looked("sum", "joined") },

    { id = "label", text = [[
.. turns numbers into text. For formats there is ("%.2f"):format(x), as in C.
You have `epsilon` = 0.5.]],
      ask = "Set `label` to the text \"epsilon = 0.5\", made from the number in `epsilon`.",
      answer = [[label = "epsilon = " .. epsilon]],
      wrong = { [[label = "epsilon" .. epsilon]], [[label = epsilon]], [[label = "epsilon = epsilon"]] },
      hint = { "A text in quotes, two dots, and the name.", "\"epsilon = \" .. epsilon" },
      check = check_label },

    { id = "numbers", text = [[
/ always divides, // rounds down, % is the remainder, all as in Python. A
power is ^, not **, and it is a float. Numbers are integers of 64 bits, which
wrap around, or floats; there are no long integers.]],
      code = [[7 / 2, 7 // 2, 7 % 2, 2^10, 2^0.5]], check = looked() },

    { id = "lists", text = [[
There is one container, the table. As a list it counts from 1. # is its
length. What is not there is nil, and reading it is no error:]],
      code = [[pay = {41, 38.5, 62, 87.3}
pay[1], pay[0], pay[5], #pay]], defines = { "pay" }, check = looked "pay" },

    { id = "last", text = [[
41, nil, nil, 4. An index of -1 is nil, too: it does not count from the end.]],
      ask = "Write a function `last(list)` that returns the last element of a list.",
      answer = [[function last(list)
  return list[#list]
end]],
      wrong = { [[function last(list) return list[-1] end]], [[function last(list) return list[#list - 1] end]],
        [[function last(list) return #list end]] },
      hint = { "The first has the index 1. Which index has the last of n?", "list[#list]" },
      check = check_last },

    { id = "loops", text = [[
  for i = 1, 10 do print(i) end            both ends: 1, 2, ..., 10
  for i, x in ipairs(list) do ... end      index and element, in order
  for key, x in pairs(t) do ... end        all keys, in no order
  while x > 1 do x = x / 2 end             and break leaves a loop

range(n) ends before n; `for i = 1, n` does not. There is no `continue` and no
list comprehension. list[#list + 1] = x appends.]],
      ask = "Write a function `total(list)` that returns the sum of a list of numbers, 0 for an empty one.",
      answer = [[function total(list)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum
end]],
      wrong = { [[function total(list) local s = 0 for i = 1, #list - 1 do s = s + list[i] end return s end]],
        [[function total(list) local s = 0 for i in ipairs(list) do s = s + i end return s + 1 end]],
        [[function total(list) local s for _, x in ipairs(list) do s = s + x end return s end]] },
      hint = { "Begin with local sum = 0, and add each element.", "for _, x in ipairs(list) do sum = sum + x end" },
      check = check_total },

    { id = "keys", text = [[
A table is also a dictionary. Keys that are names need no quotes, and t.name
is t["name"]. A key that is misspelt is nil, without a word:]],
      code = [[budget = {epsilon=1, delta=1e-6}
budget.rho = 0.5
budget.delta = nil
budget.epsilon, budget["rho"], budget.delta, budget.epsilom]], defines = { "budget" }, check = looked "budget" },

    { id = "truth", text = [[
To set a key to nil removes it: a table holds no nil. In conditions nil and
false count as false, and everything else as true: 0, "" and {} as well. So
x or 1 is the usual default: it is 1 if x is nil, and 0 if x is 0.]],
      ask = "Write a function `has(t, key)`: true if the table has that key, whatever value it has, and false otherwise.",
      answer = [[function has(t, key)
  return t[key] ~= nil
end]],
      wrong = { [[function has(t, key) return t[key] end]], [[function has(t, key) return t[key] and true or false end]],
        [[function has(t, key) return t.key ~= nil end]] },
      hint = { "The value may be false. Which value can it not be?", "Compare t[key] with nil. (t.key is t[\"key\"].)" },
      check = check_has },

    { id = "several", text = [[
A function may return several values: return a, b. They are no tuple: x, y =
f() takes two, x = f() the first, and missing ones are nil. math.min(3, 1, 2)
takes numbers, not a list; table.unpack(list) makes them of a list. A name set
in a function is global, unless `local` stands before it.]],
      ask = "Write a function `spread(list)` that returns the smallest and the largest number of a list.",
      answer = [[function spread(list)
  local numbers = pn.vec(list)
  return (numbers:min()), (numbers:max())
end]],
      wrong = { [[function spread(list) return {math.min(table.unpack(list)), math.max(table.unpack(list))} end]],
        [[function spread(list) return math.min(table.unpack(list)) end]],
        [[function spread(list) return list[1], list[#list] end]] },
      hint = { "math.min(table.unpack(list)) is the smallest.", "The largest likewise: return math.min(...), math.max(...)" },
      check = check_spread },

    { id = "colon", text = [[
Methods are called with a colon: v:norm() is v.norm(v). With a dot the object
is missing, and that is the most frequent mistake of all:]],
      code = [[v = pn.vec{3, 4}
ok, why = pcall(function() return v.norm() end)
print(why:match "norm.*")
v:norm(), v.norm(v)]], defines = { "v", "ok", "why" }, check = looked("v", "why") },

    { id = "self", text = [[
function t:f(x) ... end defines a method. Its hidden first argument is self:
it is function t.f(self, x) ... end. A counter, say, is a table with a field
count = 0.]],
      ask = "Make a table `counter` with count = 0 and a method add: counter:add(n) adds n to its count.",
      answer = [[counter = {count=0}
function counter:add(n)
  self.count = self.count + n
end]],
      wrong = { [[counter = {count=0, add=function(n) counter.count = counter.count + n end}]], [[counter = {count=0}]],
        [[counter = {count=0} function counter:add(n) self.count = n end]] },
      hint = { "counter = {count=0}, then function counter:add(n) ... end", "self.count = self.count + n" },
      check = check_counter },

    { id = "errors", text = [[
error("text") raises an error. pcall(f, ...) stands for try and except: it
calls f(...), and returns true and the values, or false and the message.]],
      ask = "Write a function `safe(f)` that returns what f() returns, or the text \"failed\" if f ends in an error.",
      answer = [[function safe(f)
  local ok, value = pcall(f)
  if ok then return value end
  return "failed"
end]],
      wrong = { [[function safe(f) return f() end]], [[function safe(f) return pcall(f) end]],
        [[function safe(f) if pcall(f) then return "failed" end return f() end]] },
      hint = { "local ok, value = pcall(f)", "if ok then return value end, and \"failed\" after it." },
      check = check_safe },

    { id = "options", text = [[
There are no keyword arguments. f{a=1} is short for f({a=1}), one table, and
that is how options are given here. Functions are values. This picture is
pn.plot.line{x=x, y=x:map(function(t) return t^2 end), title="t^2"}:]],
      plot = function()
        local x = pn.vec.linspace(-2, 2, 41)
        pn.plot.line { x = x, y = x:map(function(t) return t ^ 2 end), title = "t^2" }
      end },

    { id = "end", text = [[
Two more habits. other = pay makes no copy, as in Python: both names are one
table. A vector copies itself by v:copy(). And `import` is `local name =
require "name"` in a file; at the prompt pn and its parts are there already,
and a `local` name lives for one entry only.

After this lesson, the prompt answers Python's habits with Lua's way: type
x != 1 and see. help() lists what there is, help "vec" tells about vectors.
Privacy begins with the lesson "neighbours".]] },
  },
}
