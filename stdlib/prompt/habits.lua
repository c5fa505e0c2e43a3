-- habits.lua -- what people write who come from Python, R, Julia or C, and what Lua writes for it.
-- Depends on: penumbra.prompt.near, penumbra.prompt.tokens.  Used by: penumbra.errors, penumbra.prompt.
local near = require "penumbra.prompt.near"

local habits = {}

-- Names that Lua does not have: as nil they are no error where they are only read.
local constants = { True = "true", False = "false", TRUE = "true", FALSE = "false", None = "nil", NULL = "nil", null = "nil" }

local functions = {
  len = "#x", length = "#x", range = "for i = 1, n do ... end", str = "tostring(x)", int = "math.floor(x)", float = "tonumber(x)",
  c = "{1, 2, 3}", list = "{1, 2, 3}", dict = "{name = value}", println = "print(x)", printf = "print(('%d'):format(n))",
  library = "require 'name'", paste = "a .. b", nrow = "d.n", ncol = "d.p", max = "math.max(a, b)", min = "math.min(a, b)",
  abs = "math.abs(x)", sqrt = "math.sqrt(x)", exp = "math.exp(x)", log = "math.log(x)",
}

-- In a line that is no Lua: what was meant, and how Lua writes it.  The first that is found counts.
local lines = {
  { "^%s*def%s+([%w_.]+)%s*(%b())%s*:?", "function %1%2 ... end" },
  { "^%s*([%w_.]+)%s*=%s*lambda%s*([%w_, ]*):", "%1 = function(%2) return ... end" },
  { "lambda%s*([%w_, ]*):", "function(%1) return ... end" },
  { "^%s*for%s+([%w_]+)%s+in%s+range%s*%b()%s*:?", "for %1 = 1, n do ... end" },
  { "^%s*for%s*%(", "for i = 1, n do ... end" },
  { "^%s*for%s+([%w_]+)%s+in%s+[^,]-:%s*$", "for i, %1 in ipairs(list) do ... end" },
  { "^%s*while%s+.-:%s*$", "while ... do ... end" },
  { "^%s*while%s*%b()%s*{", "while ... do ... end" },
  { "^%s*elif%f[%W]", "elseif ... then" },
  { "^%s*else%s+if%s*%(", "elseif ... then" },
  { "^%s*if%s+.-:%s*$", "if ... then ... end" },
  { "^%s*if%s*%b()%s*{", "if ... then ... end" },
  { "^%s*from%s+([%w_.]+)%s+import", 'require "%1"' },
  { "^%s*import%s+([%w_.]+)", 'require "%1"' },
  { "^%s*print%s+([%w_][^\"']*)$", "print(%1)" },
  { "([%w_.]+)%s*<%-%s*function", "function %1(...) ... end" },
  { "([%w_.]+)%s*<%-", "%1 =" },
  { "([%w_.]+)%+%+", "%1 = %1 + 1" },
  { "([%w_.]+)%-%-$", "%1 = %1 - 1" },
  { "%*%*", "^" },
  { "%f[%w]f([\"'])", "%1%%d%1:format(n)" },
  { "=%s*(%b[])%s*$", function(list) return "{" .. list:sub(2, -2) .. "}" end },
  { "[(,]%s*(%b[])%s*[,)]", function(list) return "{" .. list:sub(2, -2) .. "}" end },
  { "^%s*(%b[])", function(list) return "{" .. list:sub(2, -2) .. "}" end },
  { "{%s*[\"']([%w_]+)[\"']%s*:", "{%1 = ...}" },
  { "%f[!]!([%w_(])", "not %1" },
}

local pieces = { ["!="] = "~=", ["&&"] = "and", ["||"] = "or", ["“"] = '"', ["”"] = '"', ["‘"] = "'", ["’"] = "'" }

-- At the token: "!=", "+=", a word processor's quotes.
local function at_token(text, token)
  local from = token.from
  local known = pieces[token.text] or pieces[text:sub(from, from + 1)] or pieces[text:sub(from - 1, from)]
  if known then return known end
  local name, operator = text:sub(1, from):match "([%w_.]+)%s*([-+*/^%%])=$"
  return name and ("%s = %s %s"):format(name, name, operator)
end

-- A misspelt keyword before the place: "wihle true do", "fro i = 1, 2 do".
local function keyword_before(text, token)
  local before = text:sub(1, (token and token.from or #text + 1) - 1):match "([%a_]+)%s*$"
  return before and near.keyword(before)
end

local function in_line(line)
  for _, row in ipairs(lines) do
    local found, _, first, second = line:find(row[1])
    if found then
      if type(row[2]) == "function" then return row[2](first) end
      return (row[2]:gsub("%%(.)", { ["1"] = first or "", ["2"] = second or "", ["%"] = "%" }))
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

-- For a global that is nil.
function habits.of_name(name)
  local known = constants[name] or functions[name]
  return known and ("Lua writes `%s`"):format(known) or nil
end

-- The first name of an entry that is a constant elsewhere and nothing here.
function habits.unknown(entry, env)
  local list = require "penumbra.prompt.tokens"(entry)
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
