-- slow.lua -- busted's helper that prints what a processor spent on each spec file, "cost 1.25 s PATH", and on tests that took more
-- than half a second, "slow 1.25 s NAME".  The time is that of the process and of the children that it has waited for.
-- Depends on: busted, /proc.  Used by: tests/tools/run_tests.lua.
local busted = require "busted"
local LEAST = 0.5 -- seconds
local TICKS = 100 -- of /proc in a second, on every Linux machine

-- Seconds so far; nil without /proc.
local function spent()
  local file = io.open "/proc/self/stat"
  if not file then
    return nil
  end
  local sum, i = 0, 2
  for field in file:read("a"):match("^.*%) (.*)$"):gmatch "%S+" do
    i = i + 1
    if i >= 14 and i <= 17 then
      sum = sum + tonumber(field)
    end
  end
  file:close()
  return sum / TICKS
end

local before
busted.subscribe({ "test", "start" }, function()
  before = spent()
  return nil, true
end)
busted.subscribe({ "test", "end" }, function(element, parent)
  local seconds = before and spent() - before or 0
  if seconds >= LEAST then
    print(("slow %.2f s %s: %s"):format(seconds, parent.name or "", element.name))
  end
  return nil, true
end)

local began
busted.subscribe({ "file", "start" }, function()
  began = spent()
  return nil, true
end)
busted.subscribe({ "file", "end" }, function(element)
  if began then
    print(("cost %.2f s %s"):format(spent() - began, element.name))
  end
  return nil, true
end)
