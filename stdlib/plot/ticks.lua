-- plot_ticks.lua -- the marks of an axis: which numbers stand beside it, with how many digits, and where the axis ends.  Numbers
-- are left out until no two touch, since gnuplot in characters writes one number over another.
-- Depends on: nothing.  Used by: penumbra.plot.program, plot_plain.
local ticks = {}

-- ---- numbers ----

-- The least of 1, 2, 5, 10, ... times a power of ten that is not below x.
local function nice(x)
  local power = 10.0 ^ math.floor(math.log(x, 10) + 1e-9)
  for _, digit in ipairs { 1, 2, 5 } do
    if digit * power >= x * (1 - 1e-9) then return digit * power end
  end
  return 10 * power
end

-- How numbers `step` apart are written so that they differ: with six digits (or `least`), or more where they are far from 0.
function ticks.format(low, high, step, least)
  local largest, digits = math.max(math.abs(low), math.abs(high)), 0
  if largest > 0 and step > 0 and largest / step < math.huge then
    digits = math.floor(math.log(largest, 10)) - math.floor(math.log(step, 10) + 1e-9) + 1
  end
  return ("%%.%dg"):format(math.max(least or 6, math.min(digits, 15)))
end

-- The same for an axis whose marks are gnuplot's own choice, at least a twentieth of it apart.
function ticks.axis_format(low, high)
  return ticks.format(low, high, high > low and nice((high - low) / 20) or 0)
end

-- ---- ends ----

-- Room around a single place; else as it is.
function ticks.apart(low, high, log)
  if log then
    if high > low then return low, high end
    return low / 2, high * 2
  end
  local largest = math.max(math.abs(low), math.abs(high))
  if high - low > 1e-12 * largest then return low, high end
  local room = largest > 0 and 0.1 * largest or 1
  return low - room, high + room
end

-- ---- which ----

local function multiples(low, high, step)
  local list = {}
  for k = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) do list[#list + 1] = k * step end
  return list
end

local function digits_of_decades(low, high, digits, every)
  local list = {}
  for power = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10)) do
    for _, digit in ipairs(power % every == 0 and digits or {}) do
      local x = tonumber(("%de%d"):format(digit, power))
      if x >= low * (1 - 1e-9) and x <= high * (1 + 1e-9) then list[#list + 1] = x end
    end
  end
  return list
end

local function steps_from(low, high)
  local step = nice((high - low) / 20)
  return function()
    local this = step
    step = nice(1.5 * step)
    return this
  end
end

-- Whether no two numbers touch; room: { columns = } of an axis across, where a number takes its length, or { rows = } upwards.
local function fits(list, format, low, high, room, log)
  local to = log and math.log or function(x) return x end
  local cells, before, half = (room.columns or room.rows) - 1, nil, 0
  for _, x in ipairs(list) do
    local place = cells * (to(x) - to(low)) / (to(high) - to(low))
    local width = room.columns and (#format:format(x) + 4) / 2 or 0.75
    if before and place - before < half + width then return false end
    before, half = place, width
  end
  return true
end

-- Marks between low and high, as many as have room.  extend: the axis may be longer, to end at marks.
-- Gives the marks, how they are written, and the ends.
function ticks.linear(low, high, room, extend)
  for step in steps_from(low, high) do
    local first, last = low, high
    if extend then first, last = math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step end
    local list, format = multiples(first, last, step), ticks.format(first, last, step)
    if #list < 3 and not extend or step > high - low or fits(list, format, first, last, room) then
      return list, format, first, last
    end
  end
end

-- Digits at every so many decades, from many marks to few.
local decades = {
  { { 1, 2, 5 }, 1 }, { { 1 }, 1 }, { { 1 }, 2 }, { { 1 }, 3 }, { { 1 }, 5 }, { { 1 }, 10 }, { { 1 }, 50 }, { { 1 }, 200 },
}

-- The same of a logarithmic axis: at 1, 2 and 5 times the powers of ten, or at powers; evenly where none of them is there.
function ticks.logarithmic(low, high, room)
  for _, one in ipairs(decades) do
    local list = digits_of_decades(low, high, one[1], one[2])
    if #list < 2 then break end
    if fits(list, "%.6g", low, high, room, true) then return list, "%.6g" end
  end
  for step in steps_from(low, high) do
    local list, format = multiples(low, high, step), ticks.format(low, high, step)
    if #list > 0 and list[1] <= 0 then table.remove(list, 1) end
    if #list < 3 or fits(list, format, low, high, room, true) then return list, format end
  end
end

return ticks
