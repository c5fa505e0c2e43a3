-- services.lua -- programs that run beside a spec: started, killed, started again as a service manager would.
-- Depends on: program.lua, POSIX sh.  Used by: specs of federated runs.
local program = require "tests.tools.program"
local quote = program.quote

local PATIENCE = 300 -- seconds: a guard against hanging, not a measure

local services = {}
services.__index = services

-- A group of programs that share a folder; their logs and exit statuses lie in it.  Each works on `threads`, by default one.
function services.new(folder, threads)
  return setmetatable({ folder = folder, threads = threads or 1, all = {} }, services)
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
  os.execute(("env PENUMBRA_THREADS=%d sh -c %s >/dev/null 2>&1 &"):format(self.threads, quote(script)))
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

function services.sleep(seconds)
  os.execute(("sleep %.3f"):format(seconds))
end

-- Wait until happened() is true, which is returned; false after PATIENCE.
function services.await(happened)
  local last = os.time() + PATIENCE
  repeat
    local true_now = happened()
    if true_now then return true_now end
    services.sleep(0.01)
  until os.time() > last
  return false
end

function services:kill(name, signal)
  local path = self.folder .. "/" .. name .. ".pid"
  local pid = services.await(function() return tonumber(read(path) or "") end)
  assert(pid, name .. " was not started")
  if not self:ended(name) then os.execute(("kill -%s %d 2>/dev/null"):format(signal or "KILL", pid)) end
end

-- Wait until all of `names` have ended; false when they do not.
function services:wait(names)
  return services.await(function()
    for _, name in ipairs(names) do
      if not self:ended(name) then return false end
    end
    return true
  end)
end

function services:log(name)
  return read(self.folder .. "/" .. name .. ".log") or ""
end

-- Everything that still runs goes, whatever happened.
function services:stop()
  for name in pairs(self.all) do
    if not self:ended(name) then self:kill(name, "KILL") end
  end
  for name in pairs(self.all) do self:wait { name } end
end

-- A port of this host that nobody has, and that the system gives to nobody who asks for no port in particular: a program that
-- connects to a server which is not there (yet) could otherwise get the server's own port.
function services.port()
  local first, last = 10240, tonumber((read "/proc/sys/net/ipv4/ip_local_port_range" or ""):match "%d+" or 32768) - 1
  if last - first < 1000 then first, last = 61000, 65535 end
  local taken = {}
  for _, path in ipairs { "/proc/net/tcp", "/proc/net/tcp6" } do
    for port in (read(path) or ""):gmatch "\n *%d+: %x+:(%x+)" do taken[tonumber(port, 16)] = true end
  end
  local port
  repeat port = math.random(first, last) until not taken[port]
  return port
end

return services
