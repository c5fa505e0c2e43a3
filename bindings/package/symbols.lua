-- symbols.lua -- what the shared libraries show to the world: the names that installed headers declare, and nothing else.
--   lua symbols.lua map NODE HEADER ... -- OBJECT ... -- OWN ...   a linker version script; what the objects of other libraries
-- from this very source need of the library's OWN gets a private node
-- Depends on: headers.lua, nm.  Used by: Makefile.
package.path = (arg and arg[0]:match "^(.*/)" or "./") .. "?.lua;" .. package.path
local headers = require "headers"

local symbols = {}

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- The functions and objects that the headers declare, sorted.
function symbols.declared(paths)
  local names = {}
  for _, path in ipairs(paths) do
    for _, item in ipairs(headers.read(path).items) do
      if item.kind == "function" or item.kind == "object" then
        for _, name in ipairs(item) do names[name] = true end
      end
    end
  end
  return sorted(names)
end

-- The names that nm says of the objects, as a set.
local function names_of(option, objects)
  local names = {}
  if #objects == 0 then return names end
  local pipe = assert(io.popen(("nm %s %s"):format(option, table.concat(objects, " "))))
  for name in pipe:read("a"):gmatch "%s%u ([%w_]+)" do names[name] = true end
  assert(pipe:close(), "nm could not read all objects")
  return names
end

local function needed(objects, own, declared)
  local names, defined = names_of("-u", objects), names_of("-g --defined-only", own)
  for _, name in ipairs(declared) do names[name] = nil end
  for name in pairs(names) do names[name] = defined[name] end
  return sorted(names)
end

function symbols.map(node, paths, objects, own)
  local declared = symbols.declared(paths)
  local private = needed(objects, own, declared)
  local out = { ("%s {\n  global:\n    %s;\n  local: *;\n};\n"):format(node, table.concat(declared, ";\n    ")) }
  if #private > 0 then
    out[2] = ("%s_PRIVATE {\n  global:\n    %s;\n};\n"):format(node, table.concat(private, ";\n    "))
  end
  return table.concat(out)
end

if arg and arg[0]:match "symbols%.lua$" then
  local lists = { {}, {}, {} }
  local k = 1
  for i = 3, #arg do
    if arg[i] == "--" then
      k = k + 1
    else
      table.insert(lists[k], arg[i])
    end
  end
  io.write(symbols.map(arg[2], table.unpack(lists)))
end

return symbols
