-- colour.lua -- colours of the terminal, by the role of a text.  They are off unless stdout is a terminal; NO_COLOR and
-- TERM=dumb turn them off, PENUMBRA_COLOR=always|never decides against all of that.
-- Depends on: penumbra.terminal (in the program only), penumbra.prompt.tokens.  Used by: the prompt, penumbra.prompt.help, lessons.
--
-- tostring() never holds an escape: colour is put on where a text is written.
local colour = {}

-- The sixteen colours of the terminal's own scheme, which its owner can read on its background.
local codes = {
  number = "36", string = "32", name = "34", keyword = "35", comment = "90", error = "1;31", warning = "33", dim = "90",
  good = "32", bad = "31", heading = "1",
}
colour.roles = codes

-- Whether stdout (1) or stderr (2) is a terminal.  Outside of the program the shell knows.
local function is_terminal(number)
  local fine, terminal = pcall(require, "penumbra.terminal")
  if fine then
    return terminal.is_terminal(number)
  end
  local run = type(os) == "table" and os.execute
  return run and run(("test -t %d"):format(number)) == true or false
end

local known = {} -- by the number of the file

function colour.wanted(file)
  if type(os) ~= "table" or not os.getenv or type(io) ~= "table" then
    return false -- a host's state without them
  end
  file = file or io.stdout
  local number = file == io.stdout and 1 or file == io.stderr and 2
  local asked = os.getenv "PENUMBRA_COLOR"
  if asked == "always" or asked == "never" then
    return asked == "always"
  elseif not number or (os.getenv "NO_COLOR" or "") ~= "" or os.getenv "TERM" == "dumb" then
    return false
  end
  if known[number] == nil then
    known[number] = is_terminal(number)
  end
  return known[number]
end

-- That what is written to this file is shown by something that knows escapes, whatever it is.
function colour.assume(file)
  known[file == io.stdout and 1 or 2] = true
end

local function put_on(text, role)
  local code = codes[role]
  if not code then
    error(("colour.paint: unknown role '%s'"):format(tostring(role)), 3)
  end
  return text == "" and text or "\27[" .. code .. "m" .. text .. "\27[0m"
end

function colour.paint(text, role, file)
  if not colour.wanted(file) then
    return text
  end
  return put_on(text, role)
end

-- Lua code with its numbers, strings, keywords and comments painted.
function colour.code(text, file)
  if not colour.wanted(file) then
    return text
  end
  local out = {}
  for i, token in ipairs(require "penumbra.prompt.tokens"(text)) do
    local role = token.kind ~= "name" and codes[token.kind] and token.kind
    out[i] = role and put_on(token.text, role) or token.text
  end
  return table.concat(out)
end

local words = { ["nil"] = "keyword", ["true"] = "keyword", ["false"] = "keyword", nan = "number", inf = "number" }

local function result_role(list, i)
  local token, before = list[i], list[i - 1]
  local after = list[i + 1] and list[i + 1].kind == "space" and list[i + 2] or list[i + 1]
  if token.kind == "name" and after and after.text == "=" then
    return "name"
  elseif token.kind == "number" and before and before.kind == "name" or token.open then
    return nil
  end
  return (token.kind == "number" or token.kind == "string") and token.kind or words[token.text]
end

-- The text of a result: its numbers, quoted strings, true, false, nil, and the names before "=" painted.
function colour.result(text, file)
  if not colour.wanted(file) then
    return text
  end
  -- An apostrophe, a dash or a bracket of brackets is none of Lua's here.
  local out, list = {}, require "penumbra.prompt.tokens"((text:gsub("'", "\1"):gsub("%-%-", "\1\1"):gsub("%[([%[=])", "\1%1")))
  for i, token in ipairs(list) do
    local role, own = result_role(list, i), text:sub(token.from, token.to)
    out[i] = role and put_on(own, role) or own
  end
  return table.concat(out)
end

return colour
