-- symbols.lua -- what the shared libraries show to the world: the names that installed headers declare, and nothing else.
--   lua symbols.lua map NODE HEADER ... -- OBJECT ... -- OWN ...   a linker version script; what the objects of other libraries from this
--                                                                  very source need of the library's OWN gets a private node
--   lua symbols.lua layout HEADER ...                     a C program that prints sizes and offsets of the public structs
-- Depends on: headers.lua, nm.  Used by: Makefile, check_abi.sh.
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
  local pipe <close> = assert(io.popen(("nm %s %s"):format(option, table.concat(objects, " "))))
  for name in pipe:read("a"):gmatch "%s%u ([%w_]+)" do names[name] = true end
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

-- The members of `struct name { ... }`; what has no name of its own is left out.
local function members(body)
  local names = {}
  for field in body:gsub("/%*.-%*/", ""):sub(2, -2):gsub("%b{}", ""):gmatch "[^;]+" do
    local called = field:match "%(%*([%w_]+)%)%s*%("
    if called then
      names[#names + 1] = called
    else
      for declarator in (field .. ","):gsub("%b[]", ""):gmatch "([%w_]+)%s*," do names[#names + 1] = declarator end
    end
  end
  return names
end

function symbols.layout(paths)
  local out = { "#include <penumbra.h>\n#include <stddef.h>\n#include <stdio.h>\n\nint main(void)\n{\n" }
  for _, path in ipairs(paths) do
    for _, item in ipairs(headers.read(path).items) do
      local body = item.kind == "type" and item.code:match "^typedef struct[^{;]*(%b{})"
      if body then
        out[#out + 1] = ('    printf("%s %%zu\\n", sizeof(%s));\n'):format(item[1], item[1])
        for _, member in ipairs(members(body)) do
          out[#out + 1] = ('    printf("%s.%s %%zu\\n", offsetof(%s, %s));\n'):format(item[1], member, item[1], member)
        end
      end
    end
  end
  out[#out + 1] = "    return 0;\n}\n"
  return table.concat(out)
end

if arg and arg[0]:match "symbols%.lua$" then
  local mode, lists = arg[1], { {}, {}, {} }
  local k = 1
  for i = mode == "map" and 3 or 2, #arg do
    if arg[i] == "--" then
      k = k + 1
    else
      table.insert(lists[k], arg[i])
    end
  end
  io.write(mode == "map" and symbols.map(arg[2], table.unpack(lists)) or symbols.layout(lists[1]))
end

return symbols
