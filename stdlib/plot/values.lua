-- plot_values.lua -- what is given to pn.plot, checked and as Lua lists: numbers, series, options.
-- Depends on: nothing.  Used by: penumbra.plot and its builders.
local values = {}

-- ---- errors ----

-- An error without a position: the reader's call is what is wrong.
function values.refuse(owner, text, ...)
  error(("%s: %s"):format(owner, text:format(...)), 0)
end
local refuse = values.refuse

-- What a value is, in words: its class, its type, or the value itself when it is short.
function values.kind(value)
  local metatable = type(value) == "userdata" and debug.getmetatable(value)
  return metatable and rawget(metatable, "__name") or type(value)
end
local kind = values.kind

local function shown(value)
  if type(value) == "string" then return ("'%s'"):format(value) end
  return type(value) == "number" and ("%.14g"):format(value) or kind(value)
end
values.shown = shown

-- ---- numbers ----

local LARGEST = 1e305 -- beyond it ranges overflow, and gnuplot draws nothing

-- A pn.vec or a table of finite numbers as a list; what: its name in messages.
function values.list(owner, what, given)
  local list = given
  if kind(given) == "pn.vec" then
    list = given:table()
  elseif type(given) ~= "table" then
    refuse(owner, "%s must be a vector or a list of numbers, got %s", what, given == nil and "nothing" or shown(given))
  end
  for i = 1, #list do
    local x = list[i]
    if type(x) ~= "number" then refuse(owner, "%s[%d] must be a number, got %s", what, i, shown(x)) end
    if x ~= x or x == math.huge or x == -math.huge then refuse(owner, "%s[%d] is not a finite number: %s", what, i, tostring(x)) end
    if math.abs(x) > LARGEST then refuse(owner, "%s[%d] is %g; numbers up to %g can be drawn", what, i, x, LARGEST) end
  end
  if #list == 0 then refuse(owner, "%s is empty: there is nothing to draw", what) end
  return list
end

-- Refuses numbers that have no place on a logarithmic axis.
function values.positive(owner, what, list)
  for i = 1, #list do
    if not (list[i] > 0) then refuse(owner, "%s[%d] is %.14g, which has no place on a logarithmic axis", what, i, list[i]) end
  end
end

function values.same_length(owner, what, list, other, length)
  if #list ~= length then refuse(owner, "%s has %d numbers and %s has %d", what, #list, other, length) end
end

-- Rows of a pn.mat, or of a list of rows (tables or vectors), as lists of one length.
function values.rows(owner, what, given)
  local rows = {}
  if kind(given) == "pn.mat" then
    for i = 1, given.rows do rows[i] = values.list(owner, ("%s[%d]"):format(what, i), given[i]) end
  elseif type(given) == "table" then
    for i = 1, #given do rows[i] = values.list(owner, ("%s[%d]"):format(what, i), given[i]) end
  else
    refuse(owner, "%s must be a matrix or a list of rows, got %s", what, given == nil and "nothing" or shown(given))
  end
  if #rows == 0 then refuse(owner, "%s is empty: there is nothing to draw", what) end
  for i = 2, #rows do
    values.same_length(owner, ("%s[%d]"):format(what, i), rows[i], ("%s[1]"):format(what), #rows[1])
  end
  return rows
end

-- ---- options ----

-- Refuses the options that are not among `params` (rows of the reference); what is in the list part is left to the caller.
function values.known(owner, options, params, group)
  local names, known = {}, {}
  for _, param in ipairs(params) do
    names[#names + 1], known[param.name] = param.name, true
  end
  for name in pairs(options) do
    if math.type(name) ~= "integer" and not known[name] then
      refuse(owner, "unknown option '%s'%s; it takes %s", tostring(name), group or "", table.concat(names, ", "))
    end
  end
end

local function number_of(owner, name, value, low, whole)
  if value == nil then return end
  if type(value) ~= "number" or not (value >= low) or value == math.huge or whole and math.type(value) ~= "integer" then
    refuse(owner, "%s must be %s from %g, got %s", name, whole and "a whole number" or "a number", low, shown(value))
  end
  return value
end

function values.whole(owner, name, value, low) return number_of(owner, name, value, low, true) end
function values.number(owner, name, value, low) return number_of(owner, name, value, low, false) end

function values.copy(t)
  local out = {}
  for key, value in pairs(t) do out[key] = value end
  return out
end

function values.text(owner, name, value)
  if value ~= nil and type(value) ~= "string" then refuse(owner, "%s must be a string, got %s", name, shown(value)) end
  return value
end

function values.flag(owner, name, value)
  if value ~= nil and type(value) ~= "boolean" then refuse(owner, "%s must be true or false, got %s", name, shown(value)) end
  return value or false
end

-- {low, high}, low < high.
function values.range(owner, name, value)
  if value == nil then return end
  local pair = values.list(owner, name, value)
  if #pair ~= 2 or not (pair[1] < pair[2]) then refuse(owner, "%s must be {low, high} with low below high", name) end
  return pair
end

return values
