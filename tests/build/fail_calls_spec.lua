-- fail_calls_spec.lua -- the calls in runtime/ and bindings/ that allocate: some C test makes each of them fail.
-- The C tests of the same run have written which ones they made fail (tests/fail_calls.h) into the folder PN_FAILED_CALLS; which
-- ones there are stands in the machine code.  This spec runs after them (tests/tools/run_tests.lua), in the thorough tier.
-- Depends on: objdump, addr2line, find, grep.
local build = os.getenv "PN_BUILD" or "build"
local folder = os.getenv "PN_FAILED_CALLS" or ""
local thorough_it = require("tests.tools.tier").it(it)

-- Calls that cannot fail, by file: how many.
local certain = {
  ["runtime/federated/transport/zeromq_party.c"] = 1, -- zmq_socket_monitor(socket, NULL, 0) ends a watch and asks for nothing
}

local function lines_of(command)
  local pipe, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- {address, ...} -> address -> {file =, line =}, of the calls that return there.
local function places(module, addresses)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  for _, address in ipairs(addresses) do file:write(("%x\n"):format(address - 1)) end
  file:close()
  local known = {}
  for i, line in ipairs(lines_of(("addr2line -e '%s' <%s"):format(module, name))) do
    local path, number = line:match "^%./(.-):(%d+)"
    if not path then path, number = line:match "/?([rb][ui][ni][td][i%l]-/.-):(%d+)" end
    known[addresses[i]] = path and { file = path, line = number }
  end
  os.remove(name)
  return known
end

-- Where the module's calls of wrapped functions return to: address -> name of the function.
local function calls_of(module)
  local calls, pending = {}, nil
  for line in io.popen(("objdump -d --no-show-raw-insn '%s'"):format(module)):lines() do
    local address, kind, rest = line:match "^%s+(%x+):\t(%S+)%s*(.*)$"
    if address then
      if pending then calls[tonumber(address, 16)] = pending end
      pending = (kind:find "^call" or kind == "bl") and rest:match "<__wrap_([%w_]-)@?p?l?t?>$" or nil
    end
  end
  return calls
end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

-- What the tests wrote: programs that did, and "FILE:LINE" of the calls that failed.
local function recorded()
  local programs, by_module, failed = {}, {}, {}
  for _, line in ipairs(lines_of(("cat '%s'/*"):format(folder))) do
    local program = line:match "^program (%S+)$"
    local module, address, how = line:match "^(%S+) (%x+) ([FS])$"
    if program then programs[program] = true end
    if module and how == "F" then
      by_module[module] = by_module[module] or {}
      by_module[module][tonumber(address, 16)] = true
    end
  end
  for module, addresses in pairs(by_module) do
    for _, at in pairs(places(module, sorted(addresses))) do
      if at then failed[at.file .. ":" .. at.line] = true end
    end
  end
  return programs, failed
end

describe("each call that allocates", function()
  thorough_it("is made to fail by some test", function()
    local programs, failed = recorded()
    for _, source in ipairs(lines_of "grep -rlE 'fail_(alloc|scripts|calls)[.]h' tests --include='*_test.c'") do
      if not programs[source:match "([%w_]+)%.c$"] then return pending("not all C tests ran: " .. source) end
    end
    local left, seen = {}, {}
    for _, module in ipairs { "libruntime.so", "bindings/core/usage_alloc_test", "bindings/prompt/programs_alloc_test" } do
      module = build .. "/tests/" .. module
      local calls = calls_of(module)
      local at = places(module, sorted(calls))
      for address, name in pairs(calls) do
        local place = at[address]
        local key = place and ("%s:%s %s"):format(place.file, place.line, name)
        if key and not name:find "^lua" and place.file:find "^[rb][ui]n" and not seen[key] then
          seen[key] = true
          if not failed[place.file .. ":" .. place.line] then
            left[place.file] = left[place.file] or {}
            table.insert(left[place.file], key)
          end
        end
      end
    end
    assert.is_true(#sorted(seen) > 900) -- it can see them
    for file, list in pairs(left) do
      table.sort(list)
      assert.is_true(#list <= (certain[file] or 0), "no test makes these fail:\n  " .. table.concat(list, "\n  "))
    end
  end)
end)
