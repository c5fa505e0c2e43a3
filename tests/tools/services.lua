-- services.lua -- programs that run beside a spec: started, killed, started again as a service manager would.
-- Depends on: program.lua, POSIX sh.  Used by: specs of federated runs.
local program = require "tests.tools.program"
local quote = program.quote

local services = {}
services.__index = services

-- A group of programs that share a folder; their logs and exit statuses lie in it.
function services.new(folder)
  return setmetatable({ folder = folder, all = {} }, services)
end

local function read(path)
  local file = io.open(path)
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- Start (or start again) the program with these words; its log goes to <name>.log.
function services:start(name, words)
  local one = self.all[name] or { name = name, starts = 0 }
  one.words, one.starts, one.ended = words or one.words, one.starts + 1, nil
  self.all[name] = one
  local base = self.folder .. "/" .. name
  os.remove(base .. ".pid")
  os.remove(base .. ".status")
  local parts = { quote(program.path) }
  for _, word in ipairs(one.words) do parts[#parts + 1] = quote(word) end
  -- The status appears whole: it is written aside and renamed.
  local script = ("%s 2>>%s >>%s </dev/null & echo $! >%s; wait $!; echo $? >%s; mv %s %s"):format(table.concat(parts, " "),
    quote(base .. ".log"), quote(base .. ".out"), quote(base .. ".pid"), quote(base .. ".now"), quote(base .. ".now"),
    quote(base .. ".status"))
  os.execute(("env -u LD_PRELOAD PENUMBRA_THREADS=1 sh -c %s >/dev/null 2>&1 &"):format(quote(script)))
  return one
end

-- The exit status of a program that has ended (128 + signal), or nil while it runs.
function services:ended(name)
  local one = self.all[name]
  if not one.ended then
    local text = read(self.folder .. "/" .. name .. ".status")
    one.ended = text and tonumber(text)
  end
  return one.ended
end

function services:kill(name, signal)
  local pid
  for _ = 1, 200 do
    pid = tonumber(read(self.folder .. "/" .. name .. ".pid") or "")
    if pid then break end
    services.sleep(0.01)
  end
  if pid and not self:ended(name) then os.execute(("kill -%s %d 2>/dev/null"):format(signal or "KILL", pid)) end
end

function services.sleep(seconds)
  os.execute(("sleep %.3f"):format(seconds))
end

-- Wait until all of `names` have ended; false after `seconds`.
function services:wait(names, seconds)
  local last = os.time() + seconds
  repeat
    local running = false
    for _, name in ipairs(names) do running = running or not self:ended(name) end
    if not running then return true end
    services.sleep(0.03)
  until os.time() > last
  return false
end

function services:log(name)
  return read(self.folder .. "/" .. name .. ".log") or ""
end

-- Everything that still runs goes, whatever happened.
function services:stop()
  for name in pairs(self.all) do
    if not self:ended(name) then self:kill(name, "KILL") end
  end
  for name in pairs(self.all) do self:wait({ name }, 5) end
end

return services
