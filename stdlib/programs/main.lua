-- main.lua -- what programs do around their work: usage, errors as messages, exit statuses.
-- Depends on: penumbra.files.  Used by: penumbra.programs.predict, .train.
local files = require "penumbra.files"

local DONE, REFUSED, USAGE = 0, 1, 2

local main = {}

-- A message without the place in a file of Lua.
function main.plain(message)
  return (tostring(message):gsub("^[^\n]-%.lua:%d+: ", ""))
end

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
    io.stderr:write(name, ": ", main.plain(why or text), "\n")
    return REFUSED
  end
end

return main
