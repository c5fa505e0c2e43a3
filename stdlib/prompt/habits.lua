-- habits.lua -- what people write who come from Python, R, Julia or C, and what Lua writes for it.
-- Depends on: penumbra.prompt.near, penumbra.prompt.tokens.  Used by: penumbra.errors, penumbra.prompt.
local near = require "penumbra.prompt.near"
local tokens = require "penumbra.prompt.tokens"

local habits = {}

-- Names that Lua does not have: as nil they are no error where they are only read.
local constants = { True = "true", False = "false", TRUE = "true", FALSE = "false", None = "nil", NULL = "nil", null = "nil",
  NA = "nil", undefined = "nil", NaN = "0/0", nan = "0/0", Inf = "math.huge", inf = "math.huge", pi = "math.pi",
  continue = "goto continue" }

local functions = {
  len = "#x", length = "#x", range = "for i = 1, n do ... end", str = "tostring(x)", int = "math.floor(x)", float = "tonumber(x)",
  c = "{1, 2, 3}", list = "{1, 2, 3}", dict = "{name = value}", println = "print(x)", printf = "print(('%d'):format(n))",
  library = "require 'name'", paste = "a .. b", nrow = "d.n", ncol = "d.p", max = "math.max(a, b)", min = "math.min(a, b)",
  abs = "math.abs(x)", sqrt = "math.sqrt(x)", exp = "math.exp(x)", log = "math.log(x)", sum = "pn.vec(t):sum()",
  mean = "pn.vec(t):mean()", sd = "pn.vec(t):std()", std = "pn.vec(t):std()", sorted = "table.sort(t)",
  enumerate = "for i, x in ipairs(t) do ... end", zip = "for i = 1, #a do ... a[i], b[i] ... end", round = "math.floor(x + 0.5)",
  seq = "for i = a, b do ... end", input = "io.read()", open = "io.open(path)", throw = "error('what is wrong')",
  append = "t[#t + 1] = x", isinstance = "type(x) == 'number'",
}

-- Of a table that has no such field.
local fields = { append = "t[#t + 1] = x", push = "t[#t + 1] = x", length = "#t", size = "#t", len = "#t",
  pop = "table.remove(t)", join = "table.concat(t, ', ')", items = "for k, v in pairs(t) do ... end",
  keys = "for k in pairs(t) do ... end" }

-- "f(a, b=2)" as f(a, {b=2}), and "f(b=2)" as f{b=2}.
local function with_options(name, arguments)
  local first = arguments:find "%f[%w_][%w_]+%s*=[^=]"
  local before, options = arguments:sub(1, first - 1):gsub("%s+$", ""), arguments:sub(first)
  return before == "" and ("%s{%s}"):format(name, options) or ("%s(%s {%s})"):format(name, before, options)
end

local function braces(list)
  return "{" .. list:sub(2, -2) .. "}"
end

-- In a line that is no Lua: what was meant, and how Lua writes it, where %1 and %2 stand for what was found.  The first that is
-- found counts.
local lines = {
  { "^%s*def%s+([%w_.]+)%s*(%b())%s*:?", "function %1%2 ... end" },
  { "^%s*class%s+([%w_]+)", "%1 = {}" },
  { "^%s*([%w_.]+)%s*=%s*lambda%s*([%w_, ]*):%s*(.-)%s*$", "%1 = function(%2) return %3 end" },
  { "lambda%s*([%w_, ]*):", "function(%1) return ... end" },
  { "%[%s*(.-)%s+for%s+([%w_]+)%s+in%s+range%s*%b()", "for %2 = 1, n do t[#t + 1] = %1 end" },
  { "%[%s*(.-)%s+for%s+([%w_]+)%s+in%s+([%w_.]+)", "for i, %2 in ipairs(%3) do t[#t + 1] = %1 end" },
  { "^%s*for%s+([%w_]+)%s+in%s+range%s*%b()%s*:?", "for %1 = 1, n do ... end" },
  { "^%s*for%s*%(", "for i = 1, n do ... end" },
  { "^%s*for%s+([%w_]+)%s+in%s+([^,]-)%s*:%s*$", "for i, %1 in ipairs(%2) do ... end" },
  { "^%s*while%s+.-:%s*$", "while ... do ... end" },
  { "^%s*while%s*%b()%s*{", "while ... do ... end" },
  { "^%s*elif%f[%W]", "elseif ... then" },
  { "^%s*else%s+if%s*%(", "elseif ... then" },
  { "^%s*if%s+(.-)%s+is%s+None%s*:?%s*$", "if %1 == nil then ... end" },
  { "^%s*if%s+(.-)%s+is%s+not%s+None%s*:?%s*$", "if %1 ~= nil then ... end" },
  { "^%s*if%s+.-:%s*$", "if ... then ... end" },
  { "^%s*if%s*%b()%s*{", "if ... then ... end" },
  { "%f[%w_]elif%f[^%w_]", "elseif" },
  { "^%s*else:%s*$", "else" },
  { "^%s*try%s*[:{]", "pcall(f)" },
  { "^%s*except.*:%s*$", "if not pcall(f) then ... end" },
  { "^%s*raise%s", "error('what is wrong')" },
  { "^%s*with%s+open%s*(%b())%s+as%s+([%w_]+)", "%2 = io.open%1" },
  { "^%s*from%s+([%w_.]+)%s+import", 'require "%1"' },
  { "^%s*import%s+([%w_.]+)", 'require "%1"' },
  { "^%s*assert%s+(.-)%s*$", "assert(%1)" },
  { "^%s*del%s+([%w_.]+)", "%1 = nil" },
  { "^%s*%l+%s+([%w_]+%s*=[^=;]*)", function(assignment) return (assignment:gsub("%s+$", "")) end }, -- var, let, int
  { "^%s*print%s+([%w_][^\"']*)$", "print(%1)" },
  { "^%s*print%s*%((.-),%s*end%s*=", "io.write(%1)" },
  { "([%w_.]+)%s*<%-%s*function%s*(%b())%s*([^{%s].*)$", "function %1%2 return %3 end" },
  { "([%w_.]+)%s*<%-%s*function%s*(%b())", "function %1%2 ... end" },
  { "([%w_.]+)%s*<?<%-", "%1 =" },
  { "^%s*function%s*(%b())%s*([%w_(].*)$", function(arguments, body)
    return not body:find "%f[%w_]end%f[^%w_]" and ("function%s return %s end"):format(arguments, body) or nil
  end },
  { "^%s*%+%+([%w_.]+)", "%1 = %1 + 1" },
  { "([%w_.]+)%+%+", "%1 = %1 + 1" },
  { "([%w_.]+)%-%-$", "%1 = %1 - 1" },
  { "([%w_.]+)%s*%%%*%%%s*([%w_.]+)", "%1 * %2" },
  { "%*%*", "^" },
  { "^%s*//", "-- ..." },
  { "^%s*/%*", "-- ..." },
  { "%s#%s", "-- ..." },
  { "=%s*(.-)%s*%?%s*(.-)%s*:%s*(.-)%s*$", "%1 and %2 or %3" },
  { "=%s*(.-)%s+if%s+(.-)%s+else%s+(.-)%s*$", "%2 and %1 or %3" },
  { "([%w_.:]+)%s*%(([^()]*%f[%w_][%w_]+%s*=[^=].*)%)", with_options },
  { "([%w_.]+)%[%s*(%d+)%s*:%s*(%d+)%s*%]", "%1:slice(%2, %3)" },
  { "=%s*(%b[])%s*$", braces },
  { "[(,]%s*(%b[])%s*[,)]", braces },
  { "=%s*(%b[])", braces },
  { "^%s*(%b[])", braces },
  { "{%s*[\"']([%w_]+)[\"']%s*:", "{%1 = ...}" },
  { "([\"'])([%w_]*)%1%.([%w_]+)%s*%(", "(%1%2%1):%3(...)" },
  { "([%w_.]+)%$([%w_.]+)", "%1.%2" },
  { "([%w_.]+)%s+is%s+not%s+None", "%1 ~= nil" },
  { "([%w_.]+)%s+is%s+None", "%1 == nil" },
  { "%f[!]!([%w_(])", "not %1" },
}

local pieces = { ["!="] = "~=", ["&&"] = "and", ["||"] = "or", ["“"] = '"', ["”"] = '"', ["‘"] = "'", ["’"] = "'" }

-- At the token: "!=", "+=", a word processor's quotes.
local function at_token(text, token)
  local from = token.from
  local known = pieces[token.text] or pieces[text:sub(from, from + 1)] or pieces[text:sub(from - 1, from)]
  if known then return known end
  if token.text ~= "=" and text:sub(from + 1, from + 1) == "=" then from = from + 1 end
  local name, operator = text:sub(1, from):match "([%w_.%[%]]+)%s*([-+*/^%%])=$"
  local rest = name and text:sub(from + 1):match "^%s*([^;\n]*)":gsub("%s+$", "")
  return name and ("%s = %s %s %s"):format(name, name, operator, rest == "" and "..." or rest) or nil
end

-- A misspelt keyword before the place: "wihle true do", "fro i = 1, 2 do".
local function keyword_before(text, token)
  local before = text:sub(1, (token and token.from or #text + 1) - 1):match "([%a_]+)%s*$"
  return before and near.keyword(before)
end

-- The line with all but words blotted out of its strings, and of comments everything: what stands there is nobody's habit.
local function without_strings(line)
  local out = {}
  for i, token in ipairs(tokens(line)) do
    local text = token.text
    if token.kind == "string" and not token.open and text:find "^[\"']" then
      text = text:sub(1, 1) .. text:sub(2, -2):gsub("[^%w_]", "_") .. text:sub(-1)
    elseif token.kind == "string" or token.kind == "comment" then
      text = token.kind == "comment" and text == "--" and text or ("_"):rep(#text)
    end
    out[i] = text
  end
  return table.concat(out)
end

local function in_line(line)
  local bare = without_strings(line)
  for _, row in ipairs(lines) do
    local from = bare:find(row[1])
    local found, _, first, second, third = line:find(row[1], row[1]:sub(1, 1) == "^" and 1 or from)
    if from and found == from then
      if type(row[2]) == "function" then
        local text = row[2](first, second)
        if text then return text end
      else
        return (row[2]:gsub("%%(.)", { ["1"] = first or "", ["2"] = second or "", ["3"] = third or "", ["%"] = "%" }))
      end
    end
  end
end

-- What Lua writes for the line of `text` that does not compile, at the token that the message names (or nil): a whole sentence.
function habits.of_code(text, line, token)
  local known = token and at_token(text, token)
  if known then return ("did you mean `%s`?"):format(known) end
  known = line and in_line(line)
  if known then return ("Lua writes `%s`"):format(known) end
  known = token and keyword_before(text, token)
  return known and ("did you mean `%s`?"):format(known) or nil
end

local heads = { "^%s*for%s.*:%s*$", "^%s*while%s.*:%s*$", "^%s*if%s.*:%s*$", "^%s*elif%s.*:%s*$", "^%s*else:%s*$", "^%s*try:%s*$",
  "^%s*except.*:%s*$", "^%s*for%s+[%w_]+%s+in%s+range%s*%b()%s*:", "^%s*if%s*%([^()]*[<>=][^()]*%)%s*{",
  "^%s*while%s*%([^()]*[<>=][^()]*%)%s*{", "=%s*lambda%s+[%w_, ]*:" }

-- Whether no further line makes Lua of what begins so: "for x in data:", "try:", "if (x > 1) { y = 2 }".
function habits.never_ends(entry)
  local first = without_strings(entry:match "^[^\n]*")
  for _, head in ipairs(heads) do
    if first:find(head) then return true end
  end
  return false
end

-- For a global that is nil.
function habits.of_name(name)
  local known = constants[name] or functions[name]
  return known and ("Lua writes `%s`"):format(known) or nil
end

-- For a field that is nil.
function habits.of_field(name)
  return fields[name] and ("Lua writes `%s`"):format(fields[name]) or nil
end

-- For a line that is Lua and raised `message`: "x <- 5" compares, "+" does not join, "f" before a string is a call.
function habits.of_error(message, line)
  local name, value = line:match "^%s*([%a_][%w_.]*)%s*<%-%s+(.-)%s*$"
  if name then return ("Lua writes `%s = %s`"):format(name, value) end
  local strings = message:find "arithmetic on a string" or message:find " a 'string' with " or message:find "with a 'string'$"
  if strings then
    return line:find "%+" and "Lua joins strings with `..`" or nil
  elseif message:find "global 'f'" and line:find "%f[%w_]f[\"']" then
    return "Lua writes `(\"x is %g\"):format(x)`"
  end
  return line:find "^%s*#%s" and message:find "attempt to get length" and "Lua writes `-- ...`" or nil
end

-- What is said of an entry that ran but hardly as meant: `is_nil` of one whose value is nil.
function habits.note(entry, env, values)
  local name, known = habits.unknown(entry, env)
  if name then return ("there is no `%s`; Lua writes `%s`"):format(name, known) end
  local number
  name, number = entry:match "^%s*([%a_][%w_.]*)%s*<%-%s+([%w_.]+)%s*$"
  if name and type(values[1]) == "boolean" then
    return ("this compares `%s` with `-%s`; Lua assigns with `%s = %s`"):format(name, number, name, number)
  end
  name, number = entry:match "([%a_][%w_.]*)%[(%-?%d+)%]%s*$"
  if name and values.n == 1 and values[1] == nil and tonumber(number) <= 0 then
    return number == "0" and ("lists begin at 1: the first is `%s[1]`"):format(name)
      or ("lists end at their length: the last is `%s[#%s]`"):format(name, name)
  end
end

-- The first name of an entry that is a constant elsewhere and nothing here.
function habits.unknown(entry, env)
  local list = tokens(entry)
  for i, token in ipairs(list) do
    local apart = not list[i - 1] or list[i - 1].text ~= "." and list[i - 1].text ~= ":"
    local after = list[i + 1] and list[i + 1].kind == "space" and list[i + 2] or list[i + 1]
    local key = after and after.text == "="
    if token.kind == "name" and constants[token.text] and apart and not key and env[token.text] == nil then
      return token.text, constants[token.text]
    end
  end
end

return habits
