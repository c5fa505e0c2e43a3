-- near.lua -- the nearest known name for one that is not: among globals, fields, options, words of Lua.
-- Depends on: penumbra.prompt.names.  Used by: penumbra.errors, penumbra.prompt.magic.
local names = require "penumbra.prompt.names"

local near = {}

-- The name of the list that is most like `name`: a few letters other, or the only one that begins so; nil when none is.
function near.nearest(name, list)
  local wanted, best, least = name:lower(), nil, nil
  local limit = math.max(1, #wanted // 3)
  for _, known in ipairs(list) do
    local away = known ~= name and math.abs(#known - #name) <= limit and names.distance(wanted, known:lower())
    if away and away <= limit and away < #wanted and (not least or away < least or away == least and known < best) then
      best, least = known, away
    end
  end
  if best or #name < 3 then return best end
  for _, known in ipairs(list) do
    if known:sub(1, #name):lower() == wanted and known ~= name and (not best or #known < #best) then best = known end
  end
  return best
end

local function add_keys(list, t)
  for key in next, t do
    if type(key) == "string" then list[#list + 1] = key end
  end
end

-- Keys of a table and of the tables behind its __index, raw.
local function keys_of(t)
  local list = {}
  for _ = 1, 8 do
    if type(t) ~= "table" then break end
    add_keys(list, t)
    local metatable = debug.getmetatable(t)
    t = type(metatable) == "table" and rawget(metatable, "__index")
  end
  return list
end

function near.globals(env)
  return keys_of(env)
end

function near.of_library(name)
  local value = require "penumbra"
  for part in name:gmatch "[^.]+" do
    value = type(value) == "table" and rawget(value, part)
  end
  return type(value) == "table" and keys_of(value) or nil
end

local function of_metatable(metatable)
  local list = {}
  for _, part in ipairs { "__methods", "__fields" } do
    local t = rawget(metatable, part)
    if type(t) == "table" then add_keys(list, t) end
  end
  local index = rawget(metatable, "__index")
  if type(index) == "table" then add_keys(list, index) end
  return list
end

function near.of_class(name)
  local metatable = names.classes()[name]
  return metatable and of_metatable(metatable)
end

-- What stands behind a chain of names, looked up raw.
function near.fields(chain, env)
  local value = env
  for i, key in ipairs(chain or {}) do
    local found
    local t = value
    for _ = 1, 8 do
      if type(t) ~= "table" then break end
      found = rawget(t, key)
      if found ~= nil then break end
      local metatable = debug.getmetatable(t)
      t = type(metatable) == "table" and rawget(metatable, "__index")
    end
    if found == nil then return nil end
    value = found
    if i == #chain then
      if type(value) == "table" then return keys_of(value) end
      local metatable = debug.getmetatable(value)
      return type(metatable) == "table" and of_metatable(metatable) or nil
    end
  end
end

-- "dim, radius and center" as a list.
function near.of_list(text)
  local list = {}
  for name in text:gsub(" and ", ", "):gmatch "[%w_.]+" do list[#list + 1] = name end
  return list
end

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
  "or", "repeat", "return", "then", "true", "until", "while",
}

-- A word of Lua that differs by one letter or two exchanged ones.
function near.keyword(name)
  for _, word in ipairs(keywords) do
    if #name > 2 and name ~= word and names.distance(name, word) == 1 then return word end
  end
end

return near
