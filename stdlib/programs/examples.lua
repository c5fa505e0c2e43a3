-- examples.lua -- the program `penumbra examples`: which examples are installed, and what each is about.
-- Depends on: penumbra.kernel, penumbra.wrap, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra examples                     list the examples, each with the first line of its comment
They are programs to run and to change: penumbra FOLDER/private_lasso.lua, with the folder that the list names.
  -h, --help         print this
Exit status: 0 done; 1 there are none; 2 wrong usage.
]]

local function parse(words)
  local asked, wrong = main.words(words, {}, {})
  if asked and #asked > 0 then return nil, ("unexpected word '%s'"):format(asked[1]) end
  return asked, wrong
end

local function quoted(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function lines_of(command)
  local pipe <close> = assert(io.popen("{ " .. command .. "; } 2>/dev/null"))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  return lines
end

-- The folder of the examples: under the program's prefix, or of the checkout that it was built in, as build/ or build/san/.
local function folder()
  local own = require "penumbra.kernel".program():match "^(.*)/[^/]*$"
  for _, place in ipairs { "/../share/doc/penumbra/examples", "/../examples", "/../../examples" } do
    local found = lines_of(("cd %s && pwd"):format(quoted(own .. place)))[1]
    if found then return found end
  end
  error(("the examples are not installed: they belong into share/doc/penumbra/examples beside %s"):format(own), 0)
end

-- The first line of the comment at the head of a file, without the file's name.
local function about(path)
  local file <close> = assert(io.open(path, "rb"))
  local line = file:read "l" or ""
  if line:find "^#!" then line = file:read "l" or "" end
  line = line:match "^%-%-+%s*(.*)$" or line:match "^/%*%s*(.-)%s*%*?/?$" or line:match "^#%s*(.*)$"
  return line and (line:gsub("^[%w_.]+ %-%- ", "")) or ""
end

local function list()
  local place, wrap = folder(), require "penumbra.wrap"
  local files = lines_of(("cd %s && find . -name '*.lua' -o -name '*.c' -o -name '*.py'"):format(quoted(place)))
  for k, name in ipairs(files) do files[k] = name:gsub("^%./", "") end
  table.sort(files, function(a, b) -- what stands in the folder itself comes first
    local deep_a, deep_b = a:find("/", 1, true) ~= nil, b:find("/", 1, true) ~= nil
    if deep_a ~= deep_b then return deep_b end
    return a < b
  end)
  local parts = { place .. "\n" }
  for _, name in ipairs(files) do
    local text = about(place .. "/" .. name)
    local lead = "  " .. name
    if #lead < 26 then lead = lead .. (" "):rep(25 - #lead) else lead = lead .. "\n" .. (" "):rep(25) end
    parts[#parts + 1] = wrap(lead, text, 26)
  end
  return table.concat(parts)
end

return main.program("penumbra examples", usage, parse, list)
