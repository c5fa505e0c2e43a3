-- federated_fields.lua -- what the configurations of `penumbra party` and `penumbra server` may hold, with kinds and help texts.
-- Depends on: penumbra, penumbra.programs.config, penumbra.programs.federated_sets.  Used by: penumbra.programs.federated.
local pn = require "penumbra"
local config = require "penumbra.programs.config"
local sets = require "penumbra.programs.federated_sets"

-- ---- fields that both configurations have ----

local ledger_fields = {
  { name = "path", kinds = "path", required = true, doc = "the file of the budget, made when there is none" },
  { name = "key", kinds = "path", doc = "the file that authenticates it; path .. \".key\" when left out" },
  { name = "epsilon", kinds = "positive", doc = "the total epsilon" },
  { name = "delta", kinds = "number", doc = "the total delta" },
  { name = "rho", kinds = "positive", doc = "or the total rho" },
  { name = "neighbours", kinds = "text", doc = "replace_one (default) or zero_out" },
  { name = "filter", kinds = "text", doc = "as in pn.ledger" },
  { name = "teaching", kinds = "boolean", doc = "accepts seeded noise, which protects nobody" },
  { name = "moved", kinds = "boolean",
    doc = "the ledger was copied here and the one it was copied from will not be opened again: for one start" },
}

local function common_fields(more)
  local fields = {
    { name = "keys", kinds = "path", required = true, doc = "the file of its own secret key, as federated.keygen makes it" },
    { name = "checkpoint", kinds = "path", doc = "the file from which a restart goes on" },
    { name = "model", kinds = "path", doc = "the file for the model, .npy; written whole or not at all" },
    { name = "ledger", kinds = "table", fields = ledger_fields, doc = "the budget: {path=, epsilon=, delta=}" },
    { name = "timeout", kinds = "positive", doc = "seconds of silence before it gives up (server 60, party 600)" },
    { name = "progress", kinds = "positive", doc = "seconds between lines of progress (5)" },
    { name = "rng", kinds = "pn.rng", doc = "a seeded stream, for teaching: no privacy" },
  }
  local all = {}
  for pass = 1, 2 do -- first those that must be there
    for _, list in ipairs { more, fields } do
      for _, field in ipairs(list) do
        if (pass == 1) == (field.required == true) then all[#all + 1] = field end
      end
    end
  end
  return all
end

local data_fields = {
  { name = "csv", kinds = "path", doc = "a CSV file" },
  { name = "libsvm", kinds = "path", doc = "or a LIBSVM file" },
  { name = "npy", kinds = "table", doc = "or two NumPy files, {x, y}" },
  { name = "options", kinds = "table", doc = "of the loader: {label =, columns =, labels = ...}" },
}

local clip_fields = {
  { name = "features", kinds = "positive", required = true, doc = "|x| <= this for each entry, enforced; public" },
  { name = "labels", kinds = "table", required = true, doc = "{low, high}, enforced; public" },
}

local alignment_fields = {
  { name = "key", kinds = "path", required = true,
    doc = "the file of the key that the parties share and the server must not have" },
  { name = "csv", kinds = "path", doc = "the file with the identifiers, in the order of the data; data.csv when left out" },
  { name = "column", kinds = "text|count", required = true, doc = "which column has them" },
}

local party_fields = common_fields {
  { name = "connect", kinds = "text", required = true, doc = 'where the server is: "tcp://host:5571"' },
  { name = "server", kinds = "text", required = true, doc = "the server's public key, or the file of it" },
  { name = "name", kinds = "text", doc = "for the log" },
  { name = "data", kinds = "table|function", required = true,
    doc = "{csv = path, options = {...}}, libsvm, npy; or a function that returns a data set" },
  { name = "clip", kinds = "table", fields = clip_fields, doc = "bounds to enforce: {features=, labels={low, high}}" },
  { name = "alignment", kinds = "table", fields = alignment_fields,
    doc = "sort the records by a keyed hash of an identifier: {key=, column=}" },
  { name = "person_epsilon", kinds = "positive",
    doc = "refuse terms that let all parties together spend more than this on one person, at the ledger's delta" },
  { name = "nonprivate", kinds = "boolean", doc = "true agrees to runs without any noise" },
}

local row_fields = {
  { name = "name", kinds = "text", doc = "for the log" },
  { name = "key", kinds = "text", required = true, doc = "the party's public key, or the file of it" },
  { name = "set", kinds = "table", doc = "the set that the party's part of the model lies in" },
}

local server_fields = common_fields {
  { name = "listen", kinds = "text", required = true, doc = 'where to wait for parties: "tcp://0.0.0.0:5571"' },
  { name = "parties", kinds = "table", required = true,
    doc = "{{name=, key=its public key or the file, set=}, ...}; the model's columns stand in this order; set = {kind=, ...} "
      .. "of its own columns, of every party or of none, is one of " .. table.concat(sets.own, ", ")
      .. ", with the options of pn.set" },
  { name = "loss", kinds = "text", choices = { "squared", "logistic" }, doc = "squared (default) or logistic" },
  { name = "radius", kinds = "positive", doc = "of the l1 ball that the model lies in" },
  { name = "set", kinds = "table", doc = "or another set that all parties share, {kind=, ...}: " ..
    table.concat(sets.shared.product, ", ") .. '; in mode "ball" ' .. table.concat(sets.shared.ball, ", ") },
}

-- Options of the solver may stand in the server's configuration, too.
local taken = { transport = true, ledger = true, rng = true, start = true, progress = true, on_step = true }

local function solver_field(name, param)
  local field = config.field_of(name, param)
  field.solver = true
  return field
end

-- The names of the solver's options; their fields join the server's, those of sketch.m and its kin as a table.
local function solver_options()
  local names, groups, entry = {}, {}, pn.reference()["solve.federated_frank_wolfe"]
  for _, param in ipairs(entry and entry.params or {}) do
    local name, rest = param.name:match "^([^.]*)%.?(.*)$"
    local group = groups[name]
    if not taken[name] and not group then
      names[#names + 1] = name
      if rest == "" then
        server_fields[#server_fields + 1] = solver_field(name, param)
      else
        group = {}
        groups[name] = group
        server_fields[#server_fields + 1] = { name = name, kinds = "table", fields = group, solver = true, doc = "" }
      end
    end
    if group then group[#group + 1] = solver_field(rest, param) end
  end
  return names
end

local options = solver_options()

return { party = party_fields, server = server_fields, data = data_fields, row = row_fields, solver_options = options }
