-- check_layers.lua -- the rooms of runtime/, and the floors of a room, open only the doors below them, and runtime/ keeps its
-- promises.
-- Usage: lua check_layers.lua [ROOT [OBJECTS]]; prints FILE:LINE: rule for each breach and fails when there is one.  OBJECTS is a
-- folder with the object files of ROOT/runtime: then a function or table that is used above where it is defined is a breach too,
-- whether a header or an extern declared it.
-- Depends on: POSIX find, nm.  Used by: make check-layers.
local root, objects = arg[1] or ".", arg[2]

-- Who may open whose door; a room may always open its own.
local all = {}
local may_open = {
  core = {},
  numeric = { "core" },
  random = { "core", "numeric" },
  expr = { "core", "numeric" },
  data = { "core", "numeric", "random" },
  recipe = { "core", "numeric", "random", "data" },
  geometry = { "core", "numeric", "random", "expr" },
  privacy = { "core", "numeric", "random" },
  continual = { "core", "numeric", "random", "privacy" },
  objective = { "core", "numeric", "random", "expr", "data", "geometry", "privacy", "continual" },
  minimise = { "core", "numeric", "random", "expr", "data", "geometry", "objective" },
  oracle = { "core", "numeric", "random", "expr", "data", "geometry", "privacy", "continual", "objective" },
  solvers = { "core", "numeric", "random", "expr", "data", "geometry", "privacy", "continual", "objective", "oracle",
    "minimise" },
  receipt = { "core", "numeric", "random", "expr", "data", "recipe", "geometry", "privacy", "continual", "objective", "oracle",
    "minimise", "solvers" },
  model = { "core", "numeric", "random", "data", "recipe", "geometry", "privacy", "continual", "objective", "minimise", "oracle",
    "solvers", "receipt" },
  federated = all,
}
for room in pairs(may_open) do
  all[#all + 1] = room
end

-- The floors of the rooms that have them, from the lowest; those of one line do not know each other.  A file of a floor may open
-- its own floor and those below; "" is the room itself, beside its floors.
local floors = {
  numeric = { "simd", "" },
  random = { "tables", "" },
  oracle = { "", "second_order" },
  data = { "", "files" },
  geometry = { "kernels", "convex", "width", "sets", "algebra", "potentials", "prox" },
  privacy = { "event", "text", "accounting", "ledger", "mechanism", "audit" },
  objective = { "losses regularisers", "passes", "measures" },
  solvers = {
    "engine", "first_order frank_wolfe variance_reduced zeroth_order perturbation second_order least_squares", "catalogue",
  },
  federated = { "sketch", "wire", "party", "transport", "server", "solver" },
}
local height = {}
for room, lines in pairs(floors) do
  height[room] = {}
  for level, line in ipairs(lines) do
    if line == "" then height[room][""] = level end
    for floor in line:gmatch "%S+" do height[room][floor] = level end
  end
end

-- The rooms of what hosts include, runtime/include/penumbra/NAME.h: a room includes what is declared for it and for those below.
local public = {}
for room, names in pairs {
  core = "memory numbers options ranks status task version",
  random = "rng",
  data = "dataset",
  recipe = "recipe",
  geometry = "norm potential prox set",
  privacy = "accountant event ledger mechanism sampler",
  continual = "prefix",
  objective = "loss objective regulariser",
  oracle = "plan",
  model = "model",
  federated = "federated",
} do
  for name in names:gmatch "%S+" do public["penumbra/" .. name .. ".h"] = room end
end

-- Headers that runtime/ never includes, and why.
local foreign = {
  ["lua.h"] = "Lua stays in bindings/",
  ["lauxlib.h"] = "Lua stays in bindings/",
  ["lualib.h"] = "Lua stays in bindings/",
  ["lua.hpp"] = "Lua stays in bindings/",
  ["readline/readline.h"] = "the terminal belongs to the program",
  ["readline/history.h"] = "the terminal belongs to the program",
  ["setjmp.h"] = "longjmp never crosses the runtime",
  ["pnl.h"] = "bindings/ is above runtime/",
  ["penumbra.h"] = "the umbrella header is for hosts",
}

-- Calls that runtime/ never makes, and why.
local forbidden = {
  printf = "the runtime never prints",
  vprintf = "the runtime never prints",
  puts = "the runtime never prints",
  putchar = "the runtime never prints",
  perror = "the runtime never prints",
  exit = "the runtime never exits",
  _exit = "the runtime never exits",
  quick_exit = "the runtime never exits",
  abort = "the runtime never exits",
  assert = "the runtime returns a status",
  setjmp = "longjmp never crosses the runtime",
  longjmp = "longjmp never crosses the runtime",
}
-- These only in the file that is the one door for memory.
local allocators = { malloc = true, calloc = true, realloc = true, free = true, strdup = true }
local one_door = "runtime/core/alloc.c"
-- These only in the files that are the door for descriptors, in bindings/ too: others might get the number of a standard file that
-- the host has closed, or stay open in what it starts.
local openers = {}
for name in ("open openat open64 creat fopen freopen tmpfile mkstemp mkostemp gzopen dup dup2 dup3 pipe pipe2 socket " ..
  "socketpair memfd_create eventfd epoll_create1 popen"):gmatch "%S+" do
  openers[name] = true
end
local doors_of_files = { ["runtime/core/file.c"] = true, ["runtime/core/file_draft.c"] = true }

local breaches = 0

local function breach(path, line, text)
  print(("%s:%d: %s"):format(path, line, text))
  breaches = breaches + 1
end

local function contains(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then
      return true
    end
  end
  return false
end

-- Room and floor of a path below runtime/; the floor is "" for a file of the room itself.
local function place(path)
  if public[path] then return public[path], "" end
  local room, rest = path:match "^([^/]+)/(.*)$"
  return room, rest and rest:match "^([^/]+)/" or ""
end

-- nil, or why what is at `from` may not use what is at `to`; both are paths below runtime/.
local function upward(from, to)
  local room, floor = place(from)
  local target, target_floor = place(to)
  if not may_open[target] then return nil end
  if target ~= room then
    local below = table.concat(may_open[room], ", ")
    return not contains(may_open[room], target)
        and ("%s/ may open %s"):format(room, below == "" and "no other room" or below) or nil
  end
  local levels = height[room]
  if not levels or floor == target_floor or not levels[floor] or not levels[target_floor] then return nil end
  return levels[target_floor] >= levels[floor]
      and ("%s/%s is not below %s/%s"):format(room, target_floor, room, floor) or nil
end

-- The source without comments, strings and character constants; every line break stays where it was.
local function bare(source)
  local out, at = {}, 1
  local function skip(last)
    out[#out + 1] = " " .. source:sub(at, last):gsub("[^\n]+", "")
    at = last + 1
  end
  while at <= #source do
    local start = source:find("[/\"']", at)
    if not start then
      break
    end
    out[#out + 1] = source:sub(at, start - 1)
    at = start
    local two, one = source:sub(at, at + 1), source:sub(at, at)
    if two == "/*" then
      skip(select(2, source:find("*/", at + 2, true)) or #source)
    elseif two == "//" then
      skip((source:find("\n", at, true) or #source + 1) - 1)
    elseif one == "/" then
      out[#out + 1] = one
      at = at + 1
    else
      local last = at + 1
      while last <= #source and source:sub(last, last) ~= one and source:sub(last, last) ~= "\n" do
        last = last + (source:sub(last, last) == "\\" and 2 or 1)
      end
      skip(math.min(last, #source))
    end
  end
  out[#out + 1] = source:sub(at)
  return table.concat(out)
end

local function check_include(path, line, header, quoted)
  local name = header:match("([^/]+)$")
  if foreign[header] or (quoted and foreign[name]) then
    breach(path, line, ("runtime/ never includes <%s>: %s"):format(header, foreign[header] or foreign[name]))
  elseif quoted and header:find("..", 1, true) then
    breach(path, line, ('"%s": headers are named from runtime/, as in "core/status.h"'):format(header))
  elseif quoted then
    local why = upward(path:gsub("^runtime/", ""), header)
    if why then breach(path, line, ('may not include "%s": %s'):format(header, why)) end
  end
end

-- room: nil for a file of bindings/, which answers for its descriptors only.
local function check_calls(path, number, line, room)
  for before, name in line:gmatch("(.?.?)%f[%w_]([%a_][%w_]*)%s*%(") do
    local member = before:match("%.$") or before == "->"
    if room and forbidden[name] and not member then
      breach(path, number, ("%s(): %s"):format(name, forbidden[name]))
    elseif room and allocators[name] and not member and path ~= one_door then
      breach(path, number, ("%s(): all memory goes through pn_alloc and pn_free"):format(name))
    elseif openers[name] and not member and not doors_of_files[path] then
      breach(path, number, ("%s(): descriptors come from core/file.h, above those of the standard files"):format(name))
    end
  end
end

local function check_file(path, room)
  local file = assert(io.open(root .. "/" .. path))
  local source = file:read("a")
  file:close()
  local number = 0
  for line in (source .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local mark, header = line:match('^%s*#%s*include%s*([<"])([^>"]+)[>"]')
    if room and header then
      check_include(path, number, header, mark == '"')
    end
  end
  number = 0
  for line in (bare(source) .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    check_calls(path, number, line, room)
    if room and (line:find("%f[%w_]stdout%f[^%w_]") or line:find("%f[%w_]stderr%f[^%w_]")) then
      breach(path, number, "stdout, stderr: the runtime never prints")
    end
  end
end

-- A public header includes public ones of its room and of those below, and nothing of runtime/.
local function check_public(path)
  local number, header = 0, path:gsub("^runtime/include/", "")
  if not public[header] then breach(path, 1, "no room has this header; the table is in tests/tools/check_layers.lua") return end
  for line in io.lines(root .. "/" .. path) do
    number = number + 1
    local included = line:match '^%s*#%s*include%s*"([^"]+)"'
    local why = included and (not public[included] and "what hosts include knows nothing of runtime/" or upward(header, included))
    if why then breach(path, number, ('may not include "%s": %s'):format(included, why)) end
  end
end

local function files_of(folder)
  local pipe = assert(io.popen(("cd '%s' && find '%s' -name '*.[ch]' | sort"):format(root, folder)))
  local paths = {}
  for path in pipe:lines() do
    paths[#paths + 1] = path
  end
  assert(pipe:close(), "cannot read " .. root .. "/" .. folder)
  return paths
end

-- What each object defines and needs, by nm; sources: of paths without their endings.
local function check_objects(sources)
  local pipe = assert(io.popen(("cd '%s' && find . -name '*.o' | sort | xargs nm -A"):format(objects)))
  local defined, needed = {}, {}
  for line in pipe:lines() do
    local object, kind, symbol = line:match "^%./(.-)%.o:%s*%x*%s+(%a)%s+(%S+)$"
    if not object or not sources["runtime/" .. object] then
      kind = nil -- left from a source that was moved or removed
    end
    if kind == "U" then
      needed[#needed + 1] = { object, symbol }
    elseif kind and kind:match "[A-Z]" then
      defined[symbol] = object
    end
  end
  assert(pipe:close(), "cannot read the objects of " .. objects)
  for _, need in ipairs(needed) do
    local object, symbol = need[1], need[2]
    local why = defined[symbol] and place(object) and upward(object, defined[symbol])
    if why then breach("runtime/" .. object .. ".c", 1, ("may not use %s of %s: %s"):format(symbol, defined[symbol], why)) end
  end
end

local checked, sources = 0, {}
for _, path in ipairs(files_of("runtime")) do
  local below = path:gsub("^runtime/", "")
  local room, floor = place(below)
  if room == "include" and floor == "penumbra" then
    check_public(path)
  elseif room == "include" then -- penumbra.h, which has them all
    checked = checked + 1
  elseif room and not may_open[room] then
    breach(path, 1, ("'%s' is no room of runtime/; the table is in tests/tools/check_layers.lua"):format(room))
  elseif room and not (height[room] or { [""] = 1 })[floor] then
    breach(path, 1, ("'%s/%s' is no floor; the table is in tests/tools/check_layers.lua"):format(room, floor))
  elseif room then
    check_file(path, room)
    checked, sources[(path:gsub("%.[ch]$", ""))] = checked + 1, true
  else
    breach(path, 1, "every file of runtime/ lives in a room")
  end
end
if objects then check_objects(sources) end

-- A copy of the tree may have only runtime/.
for _, path in ipairs(os.execute(("test -d '%s/bindings'"):format(root)) and files_of("bindings") or {}) do
  check_file(path)
end

print(("layers: %d files, %d breaches"):format(checked, breaches))
os.exit(breaches == 0)
