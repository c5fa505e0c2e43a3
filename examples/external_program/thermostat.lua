-- thermostat.lua -- a simulator in a program of its own: a day in a room with a heater that is on or off.
-- It knows nothing of penumbra but the protocol: "penumbra 1 DIM P" is answered by "ready"; then every line that comes,
--     POWER THRESHOLD | OUTSIDE LEAK | HOURS | ROW
-- is answered by one line, the loss: how far the heater's simulated hours a day are from those that were measured.
-- Run by ../external_program.lua; by hand:  printf 'penumbra 1 2 2\n3 19 | 2 0.1 | 12 | 1\n' | lua5.4 thermostat.lua
io.stdout:setvbuf "line" -- every answer leaves at once: who forgets this makes penumbra wait until its time-out

local function numbers(text)
  local out = {}
  for word in text:gmatch "%S+" do out[#out + 1] = tonumber(word) end
  return table.unpack(out)
end

-- Hours of heating in a day of steps of three minutes, from 15 degrees.  The switch makes it jump: it has no derivative.
local function heated(power, threshold, outside, leak)
  local temperature, hours, step = 15, 0, 0.05
  for _ = 1, 24 / step do
    local on = temperature < threshold
    temperature = temperature + step * ((on and power or 0) - leak * (temperature - outside))
    hours = hours + (on and step or 0)
  end
  return hours
end

assert(io.read():match "^penumbra 1 2 2$", "this simulator takes 2 parameters and 2 features")
print "ready"
for line in io.lines() do
  local theta, x, y = line:match "^(.-)|(.-)|(.-)|"
  local power, threshold = numbers(theta)
  local outside, leak = numbers(x)
  print(("%.17g"):format(math.abs(heated(power, threshold, outside, leak) - numbers(y))))
end
