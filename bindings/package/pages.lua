-- pages.lua -- the reference as pages: one for each library and class, and one for the functions of pn itself.  What help
-- shows is here, and nothing else.
-- Depends on: penumbra (the reference), penumbra.usage.
-- Used by: html.lua, luals.lua, tests/build/package_spec.lua.
local pn = require "penumbra"
local usage = require "penumbra.usage"

local ORDER = { "function", "field", "method", "meta" }
local rank = {}
for i, kind in ipairs(ORDER) do rank[kind] = i end

local function sorted(of)
  local keys = {}
  for key in pairs(of) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- "set.l1_ball" belongs to "set", "pn.vec:dot" to "pn.vec", "exp" to "pn".
local function owner(name, heads)
  local head = name
  repeat
    head = head:match "^(.*)[.:][^.:]+$"
  until not head or heads[head]
  return head or "pn"
end

local pages = { list = {}, by_id = {}, page_of = {} }

local function page(id, entry)
  local made = { id = id, file = id .. ".html", entry = entry, members = {} }
  pages.by_id[id] = made
  pages.list[#pages.list + 1] = made
  return made
end

local reference = pn.reference()
page("pn", { signature = 'local pn = require "penumbra"', kind = "library",
  doc = "The functions of the module itself.  In the program everything in pn is a global, too." })
for _, name in ipairs(sorted(reference)) do
  local entry = reference[name]
  if entry.kind == "library" or entry.kind == "class" then
    page(name, entry)
    pages.page_of[name] = pages.by_id[name]
  end
end
for _, name in ipairs(sorted(reference)) do
  local entry = reference[name]
  if not pages.by_id[name] then
    local where = pages.by_id[owner(name, pages.by_id)]
    local short = where.id == "pn" and name or name:sub(#where.id + 2)
    table.insert(where.members, { name = name, short = short, entry = entry, example = usage[name] })
    pages.page_of[name] = where
  elseif usage[name] then
    pages.by_id[name].example = usage[name]
  end
end
for _, one in ipairs(pages.list) do
  table.sort(one.members, function(a, b)
    local left, right = rank[a.entry.kind] or 9, rank[b.entry.kind] or 9
    if left ~= right then return left < right end
    return a.name < b.name
  end)
end

-- The entry that a word in a text means: "pn.set.l1_ball", "set.l1_ball", "solve.exact", "pn.vec:dot", a class in a result.
function pages.named(word)
  local trimmed = word:gsub("[.:]+$", "")
  for _, name in ipairs { trimmed, (trimmed:gsub("^pn%.", "")) } do
    if reference[name] then return name end
  end
end

function pages.anchor(name)
  return name
end

pages.reference = reference
pages.version = pn.version
return pages
