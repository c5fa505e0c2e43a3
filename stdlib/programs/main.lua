-- main.lua -- what programs do around their work: words of the command line, usage, errors as messages, exit statuses.
-- Depends on: penumbra.files.  Used by: penumbra.programs.predict, .train, .kernel.
local files = require "penumbra.files"

local DONE, REFUSED, USAGE = 0, 1, 2

local main = {}

-- A message without the place in a file of Lua.
function main.plain(message)
  return (tostring(message):gsub("^[^\n]-%.lua:%d+: ", ""))
end

-- ---- words ----

-- What reads CSV files, of every program that takes one.
main.reading = [[
  --sep CHAR            what separates fields; default: found among , ; tab
  --header NAME[,NAME]  the names of the columns of a file that has no line of names
  --decimal CHAR        the decimal mark, "." or ","; default "."
  --encoding NAME       utf-8 (default) or windows-1252
]]

local reads = { ["--sep"] = "sep", ["--header"] = "header", ["--decimal"] = "decimal", ["--encoding"] = "encoding" }

-- Names between commas; a name with a comma in it is quoted as in a CSV file.  nil: none is there, or one is empty.
local function names_of(text)
  local names, at = {}, 1
  repeat
    local quoted, last = text:match('^"([^"]+)"()', at)
    if not quoted then quoted, last = text:match('^([^,"]+)()', at) end
    if not quoted then return nil end
    names[#names + 1] = quoted
    at = last
    if at <= #text and text:sub(at, at) ~= "," then return nil end
    at = at + 1
  until at > #text + 1
  return names
end

local function list_of(asked, name)
  local text = asked[name]
  if not text then return end
  asked[name] = names_of(text)
  return not asked[name] and ("--%s takes names between commas, such as id,age, got '%s'"):format(name, text)
end
main.list_of = list_of

local function wrong_reading(asked)
  local encoding, decimal, sep = asked.encoding, asked.decimal, asked.sep
  if sep and #sep ~= 1 then return ("--sep takes one character, got '%s'"):format(sep) end
  if decimal and decimal ~= "." and decimal ~= "," then return ('--decimal takes "." or ",", got \'%s\''):format(decimal) end
  if encoding and encoding ~= "utf-8" and encoding ~= "windows-1252" then
    return ("--encoding takes utf-8 or windows-1252, got '%s'"):format(encoding)
  end
  return list_of(asked, "header")
end

-- The words as a table: what stands beside options by number, values by the names in `takes`, true by those in `flags`; or nil and
-- what is wrong.
function main.words(words, takes, flags)
  local asked, plain, k = {}, false, 1
  while k <= #words do
    local word = words[k]
    local name = takes[word] or reads[word]
    if plain or word:sub(1, 1) ~= "-" then
      asked[#asked + 1] = word
    elseif word == "--" then
      plain = true
    elseif word == "-h" or word == "--help" then
      asked.help = true
    elseif flags[word] then
      asked[flags[word]] = true
    elseif name then
      k = k + 1
      if not words[k] then return nil, ("a value is missing after '%s'"):format(word) end
      asked[name] = words[k]
    else
      return nil, ("unknown option '%s'"):format(word)
    end
    k = k + 1
  end
  local wrong = not asked.help and wrong_reading(asked)
  if wrong then return nil, wrong end
  return asked
end

-- How a CSV file is read, for r:data and its like.
function main.reading_of(asked)
  return { sep = asked.sep, header = asked.header, decimal = asked.decimal, encoding = asked.encoding }
end

-- ---- running ----

local function write(text, path)
  if path then return files.put(path, text) end
  local fine, why = io.stdout:write(text)
  if fine then fine, why = io.stdout:flush() end
  return fine, why
end

-- parse(words) -> what is asked (help: print the usage), or nil and what is wrong; work(asked) -> a text and the path of the file
-- for it, nil for standard output.
function main.program(name, usage, parse, work)
  return function(_, ...)
    local asked, wrong = parse { ... }
    if not asked then
      io.stderr:write(name, ": ", wrong, "\n", usage)
      return USAGE
    end
    if asked.help then
      io.stdout:write(usage)
      return DONE
    end
    local fine, text, path = pcall(work, asked)
    local written, why
    if fine then written, why = write(text, path) end
    if fine and written then return DONE end
    local said = main.plain(why or text):gsub("^" .. name:match "%S+$" .. ": ", "") -- a call of the same name says it, too
    io.stderr:write(name, ": ", said, "\n")
    return REFUSED
  end
end

return main
