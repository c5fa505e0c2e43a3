-- external_program.lua -- a loss that another program computes: the simulator external_program/thermostat.lua, asked over a pipe.
--   penumbra examples/external_program.lua
-- Of 60 rooms the bill tells how many hours a day the heater ran.  Which power and which threshold of the thermostat explain that?
-- Everything here sees the records exactly: an experiment, nothing private.
local pn = require "penumbra"
local folder = arg and arg[0] and arg[0]:match "^(.*)/" or "examples"

-- 1. The loss is the program: started when it is first asked, asked for many points at once, ended with the loss.
local loss = pn.loss.program {
  command = { "lua5.4", folder .. "/external_program/thermostat.lua" },
  dim = 2, timeout = 30, name = "thermostat",
}
print(loss)

-- 2. Records: the temperature outside, how much a room leaks, and the hours of its heater, of 3 degrees an hour up to 20 degrees.
-- The simulator says them itself, as distances from labels of 0; then they are off by up to 20 minutes.
local rng, rows, zeros = pn.rng.seeded(1), {}, {}
for i = 1, 60 do rows[i], zeros[i] = { 10 * rng:uniform() - 2, 0.05 + 0.05 * rng:uniform() }, 0 end
local hours = pn.objective { data = pn.data.from(rows, zeros), loss = loss }:losses { 3, 20 }
for i = 1, #hours do hours[i] = hours[i] + (2 * rng:uniform() - 1) / 3 end
local objective = pn.objective { data = pn.data.from(rows, hours), loss = loss }

print "\nmean error in hours a day"
print "             threshold 18      20      22"
for _, power in ipairs { 2, 3, 4 } do
  local line = {}
  for k, threshold in ipairs { 18, 20, 22 } do line[k] = ("%8.3f"):format(objective:value { power, threshold }) end
  print(("  power %d       %s"):format(power, table.concat(line)))
end

-- 3. Values are all there is; differences along directions stand for a gradient.  All points of a record are in flight at once.
local theta, step = pn.vec { 2, 20 }, 1
local both = pn.mat { { 1, 0 }, { 0, 1 } }
local value = objective:value(theta)
for _ = 1, 40 do
  local slope = objective:differences(theta, both, 0.25)
  local moved = theta - slope * (step / math.max(slope:norm(), 1e-9))
  local there = objective:value(moved)
  if there < value then theta, value = moved, there else step = step * 0.7 end
end
print(("\nsearch: power %.2f, threshold %.2f, mean error %.3f"):format(theta[1], theta[2], value))

-- 4. A program that does not keep to the protocol is an error that says so, not a wait without end.
local function refusal(command, timeout)
  local bad = pn.objective { data = objective.data, loss = pn.loss.program { command = command, timeout = timeout or 30 } }
  return (select(2, pcall(bad.value, bad, { 0, 0 })):gsub("^[^:]*%.lua:%d+: ", ""))
end
print ""
print(refusal { "no-such-simulator" })
print(refusal { "sh", "-c", "read -r hello; echo ready; read -r request; exit 3" })
print(refusal { "sh", "-c", "read -r hello; echo ready; read -r request; echo oops" })
print(refusal({ "sh", "-c", "read -r hello; echo ready; sleep 100" }, 0.5)) -- others may take as long as a busy machine does
