-- federated_sets.lua -- the set that a server's configuration names: {kind = "simplex", radius = 2}, a set of pn.set by its name
-- and its options, but for the number of coordinates, which the parties tell.  One for all columns, or one for each party.
-- Depends on: penumbra, penumbra.programs.config.  Used by: penumbra.programs.federated and .federated_fields.
local pn = require "penumbra"
local config = require "penumbra.programs.config"

local sets = {}

-- Those that the modes of the solver take for all parties together: parties cut a box, and share a ball or, in mode "ball", a
-- simplex.
sets.shared = { product = { "l1_ball", "box", "linf_ball" }, ball = { "l1_ball", "simplex" }, paper = { "l1_ball" } }

-- Those whose vertices a party makes of choices of its own.
sets.own = { "l1_ball", "simplex", "box", "linf_ball", "hypersimplex", "unit_hypersimplex", "ksparse_polytope", "polytope" }

local WITHOUT_DIM = { box = true, polytope = true } -- whose numbers say it

local function fields_of(kind)
  local fields = { { name = "kind", kinds = "text" } }
  for _, param in ipairs(pn.reference()["set." .. kind].params) do
    if param.name ~= "dim" then
      local field = config.field_of(param.name, param)
      field.required = param.required
      if kind == "box" then field.kinds = "number|" .. field.kinds end
      fields[#fields + 1] = field
    end
  end
  return fields
end

local function check_one(given, kinds, place)
  config.check({ kind = given.kind },
    { { name = "kind", kinds = "text", required = true, choices = kinds, doc = "one of " .. table.concat(kinds, ", ") } }, place)
  config.check(given, fields_of(given.kind), place)
end

local function check_shared(place, cfg, mode)
  check_one(cfg.set, sets.shared[mode], ('%s: set, which all parties share in mode "%s"'):format(place, mode))
  if cfg.set.kind == "l1_ball" and cfg.set.center then
    config.fail("%s: set: an l1_ball that all parties share lies about 0; leave center out, or give parties[i].set", place)
  end
end

local function check_own(place, cfg, mode)
  for i, one in ipairs(cfg.parties) do
    local name = ("%s: parties[%d].set"):format(place, i)
    if one.set == nil then config.fail("%s is missing: every party has one, or none", name) end
    if mode ~= "product" then config.fail('%s is for mode = "product"; in mode "%s" give radius or set', name, mode) end
    check_one(one.set, sets.own, name)
  end
end

-- Refuse all that is wrong whatever the parties bring.
function sets.check(place, cfg)
  local own, mode, given = false, cfg.mode or "product", {}
  for _, one in ipairs(cfg.parties) do own = own or one.set ~= nil end
  if cfg.radius then given[#given + 1] = "radius" end
  if cfg.set then given[#given + 1] = "set" end
  if own then given[#given + 1] = "parties[i].set" end
  if #given ~= 1 then
    config.fail("%s: the set of the model must be given once, by radius (of an l1 ball), set = {kind=, ...}, or parties[i].set of "
      .. "every party; got %s", place, #given == 0 and "none of them" or table.concat(given, " and "))
  end
  if cfg.set then check_shared(place, cfg, mode) end
  if own then check_own(place, cfg, mode) end
end

local function made(given, dim, place)
  local options = {}
  for name, value in pairs(given) do options[name] = value end
  options.kind = nil
  if not WITHOUT_DIM[given.kind] then options.dim = dim end
  for _, name in ipairs { "lower", "upper" } do -- of a box: a number stands for that of every column
    if math.type(options[name]) then options[name] = pn.vec.ones(dim) * options[name] end
  end
  local ok, set = pcall(pn.set[given.kind], options)
  if not ok then config.fail("%s: %s", place, (tostring(set):gsub("^[^\n]-%.lua:%d+: ", ""))) end
  if set.dim ~= dim then
    config.fail("%s: this %s has %d coordinates, and there are %d columns", place, given.kind, set.dim, dim)
  end
  return set
end

-- columns: of each party.
function sets.build(place, cfg, columns)
  local whole, all = nil, 0
  for _, count in ipairs(columns) do all = all + count end
  if cfg.radius then return pn.set.l1_ball { dim = all, radius = cfg.radius } end
  if cfg.set then return made(cfg.set, all, place .. ": set") end
  for i, one in ipairs(cfg.parties) do
    local set = made(one.set, columns[i], ("%s: parties[%d].set"):format(place, i))
    whole = whole and whole:product(set) or set
  end
  return whole
end

return sets
