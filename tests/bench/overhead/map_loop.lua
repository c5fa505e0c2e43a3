-- map_loop.lua -- the Lua side of map_lua.sh: the two expressions of map_bench.c in a loop; prints the best of five times of each.
local n = tonumber(arg and arg[1]) or 1000000
local x, y, out = {}, {}, {}
local exp, log, abs, min, max = math.exp, math.log, math.abs, math.min, math.max

math.randomseed(1)
for i = 1, n do
  x[i], y[i], out[i] = 4 * math.random() + 0.001, 4 * math.random() + 0.001, 0.0
end

local function arithmetic()
  for i = 1, n do
    local a, b = x[i], y[i]
    out[i] = min(abs((a * 0.5 + b) * (a - b) - a / (b * b + 3.0)), 5.0)
  end
end

local function functions()
  for i = 1, n do
    local a, b = x[i], y[i]
    local t = a - b
    out[i] = max(log(exp(-(t * t * 0.5)) + 2.0) + a * b, 0.1)
  end
end

for _, run in ipairs { arithmetic, functions } do
  local best = math.huge
  for _ = 1, 5 do
    local start = os.clock()
    run()
    best = math.min(best, os.clock() - start)
  end
  assert(out[1] == out[1] and out[n] == out[n], "a value is not a number")
  print(("%.6f"):format(best))
end
