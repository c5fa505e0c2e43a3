-- context.lua -- context(before): what an unfinished entry ends in, for completion.
-- prefix: the name that is being typed; start: where it begins.
-- separator, chain: it stands behind "." or ":", and the steps (names, literal indices, false for a call) to the value before
--   that; chain is nil where that is the value of another expression.
-- call: the chain of the function in whose table it stands; group: the table within it, "" or "cage", "*" those of a list;
--   key: an option's name may stand here; given: the options that are there; value_of: the option whose value stands here.
-- callee, argument: it stands at that place between the parentheses of a call.
-- call: the steps to the function in whose table it stands; group: the table within it, "" or "cage", "*" those of a list;
-- assigned: the steps to the values that names got in this entry.
-- nil where nothing may be offered: in a comment, behind a number.
-- Depends on: penumbra.prompt.tokens.  Used by: penumbra.prompt.complete, penumbra.errors.
local tokens = require "penumbra.prompt.tokens"

-- Without blanks and comments.
local function code_of(list)
  local code = {}
  for _, token in ipairs(list) do
    if token.kind ~= "space" and token.kind ~= "comment" then code[#code + 1] = token end
  end
  return code
end

local function literal(token)
  if token.kind == "number" then return math.tointeger(token.text) or tonumber(token.text) end
  return token.kind == "string" and not token.open and token.text:match "^[\"']([^\\]*)[\"']$" or nil
end

local openers = { ["("] = true, ["{"] = true, ["["] = true }
local closers = { [")"] = true, ["}"] = true, ["]"] = true }

-- The bracket that the one at token `at` closes.
local function opener_of(code, at)
  local depth = 0
  for i = at, 1, -1 do
    if code[i].kind == "operator" then
      depth = depth + (closers[code[i].text] and 1 or openers[code[i].text] and -1 or 0)
      if depth == 0 then return i end
    end
  end
end

-- Whether a value can end at the token, so that a bracket or string behind it is a call.
local function ends_value(token)
  return token and (token.kind == "name" or closers[token.text] or token.kind == "string")
end

-- Where the arguments of a call begin that ends at token `at`, and whether there is a callee before them; nil when none ends there.
local function arguments_at(code, at)
  local token = code[at]
  local first = token.kind == "string" and at or (token.text == ")" or token.text == "}") and opener_of(code, at) or nil
  return first, first and ends_value(code[first - 1])
end

-- The steps of the value that ends at token `last`, a.b[3].c or f(x).c, and where it begins; nil when something else is part of it.
local function chain_to(code, last)
  local steps, at = {}, last
  while true do
    local key
    while code[at] do
      local first, called = arguments_at(code, at)
      if first and called then
        table.insert(steps, 1, false)
        at = first - 1
      elseif first and code[at].text == ")" then
        local inner, from = chain_to(code, at - 1)
        if not inner or from ~= first + 1 then return nil end
        return table.move(steps, 1, #steps, #inner + 1, inner), first
      else
        break
      end
    end
    local token = code[at]
    if not token then return nil end
    if token.kind == "name" then
      key, at = token.text, at - 1
    elseif token.text == "]" and code[at - 2] and code[at - 2].text == "[" then
      key, at = literal(code[at - 1]), at - 3
      if key == nil then return nil end
    else
      return nil
    end
    table.insert(steps, 1, key)
    local before = code[at]
    if token.kind == "name" then
      if not before or before.text ~= "." and before.text ~= ":" then return steps, at + 1 end
      at = at - 1
    end
  end
end

-- The brackets that are open before token `last`, innermost last: { at = token, given = names assigned in it, commas = so many }.
local function open_brackets(code, last)
  local open = {}
  for i = 1, last do
    local token, inside = code[i], open[#open]
    if token.kind == "operator" then
      if openers[token.text] then
        open[#open + 1] = { at = i, text = token.text, given = {}, commas = 0 }
      elseif closers[token.text] then
        open[#open] = nil
      elseif inside and token.text == "," then
        inside.commas = inside.commas + 1
      end
    elseif token.kind == "name" and inside and code[i + 1] and code[i + 1].text == "=" then
      inside.given[token.text] = true
    end
  end
  return open
end

-- Which call, and which group of its options, the innermost table belongs to: from there outwards until a table is an argument.
local function call_of(code, open, into)
  local depth, group = #open, {}
  into.given = open[depth] and open[depth].given
  while open[depth] and open[depth].text == "{" do
    local before, outer = code[open[depth].at - 1], open[depth - 1]
    if before and ends_value(before) then
      into.call = chain_to(code, open[depth].at - 1)
    elseif before and outer and outer.text == "(" and (before.text == "(" or before.text == ",") then
      into.call = chain_to(code, outer.at - 1)
    elseif before and outer and outer.text == "{" then
      local name = before.text == "=" and code[open[depth].at - 2]
      table.insert(group, 1, not name and "*" or name.kind == "name" and name.text or "?")
      depth = depth - 1
      goto outwards
    end
    into.group = table.concat(group, ".")
    break
    ::outwards::
  end
end

-- What stands before token number `at` (which is being typed) decides what it can be.
local function place(code, at, into)
  local open, before = open_brackets(code, at - 1), code[at - 1]
  local inside = open[#open]
  call_of(code, open, into)
  into.key = before and (before.text == "{" or before.text == "," or before.text == ";") and inside and inside.text == "{" or nil
  if before and before.text == "=" and code[at - 2] and code[at - 2].kind == "name" then
    into.value_of = code[at - 2].text
  end
  if inside and inside.text == "(" and (before.text == "(" or before.text == ",") and ends_value(code[inside.at - 1]) then
    into.callee, into.argument = chain_to(code, inside.at - 1), inside.commas + 1
  end
  return into
end

local operators = { ["=="] = true, ["~="] = true, [".."] = true, ["<"] = true, [">"] = true, ["<="] = true, [">="] = true }

local function in_string(code, token)
  local quote = token.text:match "^%[=*%[" or token.text:sub(1, 1)
  local into = { string = true, quote = quote, prefix = token.text:sub(#quote + 1), start = token.from + #quote }
  local at = #code
  place(code, at, into)
  local before = code[at - 1]
  if ends_value(before) then into.callee, into.argument = chain_to(code, at - 1), 1 end
  if before and before.text == "[" and ends_value(code[at - 2]) then into.index = chain_to(code, at - 2) end
  into.compared = before and operators[before.text]
  return into
end

-- The token behind the bracket that opens at `at`; nil when it is not closed.
local function behind(code, at)
  local depth = 0
  for i = at, #code do
    if code[i].kind == "operator" then
      depth = depth + (openers[code[i].text] and 1 or closers[code[i].text] and -1 or 0)
      if depth == 0 then return i + 1 end
    end
  end
end

-- The last token of a value that begins at `at` with a name: a.b[1]:c(x){y}"z".
local function value_end(code, at)
  local token = code[at]
  if not token or token.kind ~= "name" then return nil end
  while true do
    local after = code[at + 1]
    if not after then return at end
    if (after.text == "." or after.text == ":") and code[at + 2] and code[at + 2].kind == "name" then
      at = at + 2
    elseif openers[after.text] then
      local next_one = behind(code, at + 1)
      if not next_one then return nil end
      at = next_one - 1
    elseif after.kind == "string" and not after.open then
      at = at + 1
    else
      return at
    end
  end
end

-- The steps to what names got by `name = value` outside of all brackets, the last one of each, from what the entry did not set.
local function assigned(code)
  local found, depth = {}, 0
  for i, token in ipairs(code) do
    if token.kind == "operator" then
      depth = depth + (openers[token.text] and 1 or closers[token.text] and -1 or 0)
    elseif depth == 0 and token.kind == "name" and code[i + 1] and code[i + 1].text == "="
      and not (code[i - 1] and code[i - 1].text:find "^[.:,]$") then
      local last = value_end(code, i + 2)
      local chain = last and chain_to(code, last)
      local earlier = chain and found[chain[1]]
      found[token.text] = earlier and table.move(chain, 2, #chain, #earlier + 1, table.move(earlier, 1, #earlier, 1, {})) or chain
    end
  end
  return found
end

return function(before)
  local list = tokens(before)
  local last = list[#list]
  if last and (last.kind == "comment" or last.kind == "number") then return nil end
  local code = code_of(list)
  if last and last.kind == "string" and last.open then
    local into = in_string(code, last)
    into.assigned = assigned(code)
    return into
  end
  local typed = last and (last.kind == "name" or last.kind == "keyword") and last
  if typed and list[#list - 1] and list[#list - 1].kind == "number" then return nil end
  local into = { prefix = typed and typed.text or "", start = typed and typed.from or #before + 1, assigned = assigned(code) }
  local at = typed and #code or #code + 1
  local separator = code[at - 1] and code[at - 1].text
  if separator == "." or separator == ":" then
    into.separator, into.chain = separator, chain_to(code, at - 2)
    return into
  elseif separator == ".." or separator == "..." and not typed then
    return into
  end
  return place(code, at, into)
end
