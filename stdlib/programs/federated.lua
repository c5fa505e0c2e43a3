-- federated.lua -- the programs `penumbra party` and `penumbra server`: a configuration in, a log on stderr, an exit status out.
-- Depends on: penumbra, penumbra.programs.config, .federated_fields and .federated_sets, penumbra.wrap, penumbra.stopped.
-- Used by: bindings/prompt/main.c.
local pn = require "penumbra"
local config = require "penumbra.programs.config"
local fields = require "penumbra.programs.federated_fields"
local sets = require "penumbra.programs.federated_sets"
local stopped = require "penumbra.stopped"
local wrap = require "penumbra.wrap"

local DONE, UNFORESEEN, USAGE, REFUSED, LOST, INTERRUPTED = 0, 1, 2, 3, 4, 5

local statuses = {
  { DONE, "done" },
  { UNFORESEEN, "an unexpected error" },
  { USAGE, "usage: the command line, the configuration, or a file that it names" },
  { REFUSED, "refused: a budget, terms or data that do not fit together; a restart will not help" },
  { LOST, "a time-out, or the other side went away: worth a restart" },
  { INTERRUPTED, "stopped by SIGINT or SIGTERM; a restart goes on from the checkpoint" },
}

-- What the runtime's errors come to, once everything has been opened.
local status_of = {
  EBUDGET = REFUSED, EPRIVACY = REFUSED, EINVAL = REFUSED, EDIM = REFUSED, EDOMAIN = REFUSED, EUNSUPPORTED = REFUSED,
  EIO = LOST, ENOMEM = LOST, ECANCELLED = INTERRUPTED,
}

-- ---- the log: one line an event, for people and for journald ----

local function log(level, format, ...)
  local text = select("#", ...) > 0 and format:format(...) or format
  for line in text:gmatch "[^\n]+" do
    io.stderr:write(os.date "!%Y-%m-%dT%H:%M:%SZ", (" %-5s "):format(level), line, "\n")
  end
end

local quiet = { joined = true, back = true, ready = true, connected = true, terms = true }

-- The log function of a transport.
-- The first two lines of an object's text as one, and where its file is: the rest is for a screen.
local function in_a_line(object)
  local text = tostring(object)
  local head, second = text:match "^([^\n]*)\n?%s*([^\n]*)"
  local file = text:match "\n  (file .*)$"
  return head .. (second ~= "" and "; " .. second or "") .. (file and "; " .. file:gsub("\n%s*", " ") or "")
end

local function log_event(line, what)
  log(quiet[what] and "info" or "warn", "%s", line)
end

-- progress= that writes a line every `seconds`, of what happens or of what `say()` returns.
local function progress_every(seconds, say)
  local last = os.time()
  return function(done, total, label)
    local now = os.time()
    if os.difftime(now, last) < seconds then return end
    last = now
    log("info", "%s", say and say() or total and ("%s: %.0f of %.0f"):format(label, done, total) or label)
  end
end

-- ---- opening what a configuration names ----

local function resolve_table(place, given, ...)
  if not given then return nil end
  local copy = {}
  for name, value in pairs(given) do copy[name] = value end
  for _, name in ipairs { ... } do
    if copy[name] then copy[name] = config.resolve(place, copy[name]) end
  end
  return copy
end

-- A public key stands for itself, unless a file has that name.  name: of the field, for errors.
local function public_key(place, text, name)
  local path = config.resolve(place, text)
  local file = io.open(path, "rb")
  if file then file:close() end
  if not file and #text == 40 then return text end
  return config.readable(path, place, name)
end

local function open_ledger(place, cfg)
  local given = resolve_table(place, cfg.ledger, "path", "key")
  return given and pn.ledger(given)
end

local loaders = {
  csv = function(place, spec)
    return pn.data.csv(config.readable(config.resolve(place, spec.csv), place, "data"), spec.options)
  end,
  libsvm = function(place, spec)
    return pn.data.libsvm(config.readable(config.resolve(place, spec.libsvm), place, "data"), spec.options)
  end,
  npy = function(place, spec)
    local x, y = table.unpack(spec.npy)
    if type(x) ~= "string" or type(y) ~= "string" then config.fail("%s: data.npy must be two paths, {x, y}", place) end
    return pn.data.npy(config.resolve(place, x), config.resolve(place, y))
  end,
}

local function load_data(place, cfg)
  local spec = cfg.data
  if type(spec) == "function" then
    local data = spec()
    if (debug.getmetatable(data) or {}).__name ~= "pn.dataset" then
      config.fail("%s: the function in data must return a data set, got a %s", place, type(data))
    end
    return data
  end
  config.check(spec, fields.data, place .. ": data")
  local kind
  for name in pairs(loaders) do
    if spec[name] then
      if kind then config.fail("%s: data names more than one of csv, libsvm, npy", place) end
      kind = name
    end
  end
  if not kind then config.fail("%s: data names none of csv, libsvm, npy", place) end
  return loaders[kind](place, spec)
end

local function clip(place, cfg, data)
  if not cfg.clip then return data end
  local low, high = table.unpack(cfg.clip.labels)
  if not (math.type(low) and math.type(high) and low < high) then
    config.fail("%s: clip.labels must be {low, high} with low < high", place)
  end
  return data:clip_rows("linf", cfg.clip.features):clip_labels(low, high)
end

local function align(place, cfg, data)
  local spec = cfg.alignment
  if not spec then return data end
  local csv = spec.csv or type(cfg.data) == "table" and cfg.data.csv
  if not csv then config.fail("%s: alignment.csv is missing: the file with the identifiers", place) end
  local key = config.resolve(place, spec.key)
  local file = io.open(key, "rb")
  if file then
    file:close()
  else
    log("info", "%s is a new key: all parties need this very file, and the server must not see it", key)
  end
  return pn.federated.align(data, {
    key = key, csv = config.resolve(place, csv), column = spec.column,
  })
end

-- A relative path, seen from the configuration's folder, or nil.
local function path_of(place, cfg, name)
  return cfg[name] and config.resolve(place, cfg[name])
end

local function check_results(place, cfg)
  for _, name in ipairs { "checkpoint", "model" } do
    if cfg[name] then config.writable(path_of(place, cfg, name), place, name) end
  end
end

-- ---- errors ----

-- The text of an error without the place in the programs' files where it was raised.
local function plain(message)
  return (tostring(message):gsub("^[^\n]-/programs/[%w_]+%.lua:%d+: ", ""))
end

-- Run body(...); its results, or nil and an exit status after a line of the log.  unless: of errors of that kind, the status.
local function try(unless, body, ...)
  pn.federated.failure()
  local results = table.pack(pcall(body, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local message, kind = results[2], pn.federated.failure()
  if config.failed(message) then
    log("error", "%s", message.message)
    return nil, USAGE
  end
  if kind == "ECANCELLED" or stopped(message) then
    log("info", "stopped")
    return nil, INTERRUPTED
  end
  local status = kind and (unless[kind] or status_of[kind]) or unless.other or UNFORESEEN
  log("error", "%s", plain(message))
  return nil, status
end

-- While things are opened a file that cannot be read is a matter of the configuration; so is an argument of the wrong type.
local opening = { EIO = USAGE, EPARSE = USAGE, EINVAL = USAGE, EDIM = USAGE, EDOMAIN = USAGE, EUNSUPPORTED = USAGE, other = USAGE }

-- ---- the party ----

-- What only a run without noise does without.
local function check_private(place, cfg)
  if cfg.nonprivate then return end
  if not cfg.ledger then
    config.fail("%s: field 'ledger' is missing: {path=, epsilon=, delta=}; nonprivate = true agrees to runs without noise", place)
  end
  if type(cfg.data) == "table" and not cfg.clip then
    config.fail("%s: field 'clip' is missing: {features=, labels={low, high}}, the bounds that privacy rests on", place)
  end
end

local function open_party(place, cfg)
  check_private(place, cfg)
  check_results(place, cfg)
  local data, digest = align(place, cfg, clip(place, cfg, load_data(place, cfg)))
  log("info", "data: %s", (tostring(data):gsub("\n%s*", "; ")))
  if digest then
    log("info", "the records are sorted; digest %s", digest)
  else
    log("info", "no alignment: row i has to be the same person at every party, and nothing checks it")
  end
  local ledger = open_ledger(place, cfg)
  if ledger then log("info", "budget: %s", in_a_line(ledger)) end
  return pn.federated.party {
    connect = cfg.connect, server = public_key(place, cfg.server, "server"), name = cfg.name,
    keys = config.readable(path_of(place, cfg, "keys"), place, "keys"),
    data = data, ledger = ledger, checkpoint = path_of(place, cfg, "checkpoint"), alignment = digest,
    person_epsilon = cfg.person_epsilon, timeout = cfg.timeout, nonprivate = cfg.nonprivate, rng = cfg.rng, log = log_event,
  }
end

-- What a party's part has cost, for the log: what holds of it wherever the run ends, and what its ledger was charged.
local function cost(report)
  local parts = {}
  if report.simulated then parts[1] = "seeded noise, no privacy;" end
  local epsilon = report.nominal_epsilon or report.epsilon
  if epsilon and report.delta then
    parts[#parts + 1] = ("epsilon %.4g at delta %.3g (charged %.4g)"):format(epsilon, report.delta, report.charged_epsilon)
  else
    parts[#parts + 1] = "nothing that a budget counts"
  end
  return table.concat(parts, " ")
end

local function party_ended(place, cfg, report)
  log("info", "%s after %d rounds; released %d selections and %d features; cost %s", report.phase, report.rounds,
    report.selections, report.features, cost(report))
  if report.phase == "refused" then
    log("error", "%s", report.reason)
    return (report.status == "ECANCELLED" or report.status == "EIO") and LOST or REFUSED
  end
  if cfg.model then
    local saved = try(opening, function()
      report.theta:save(path_of(place, cfg, "model"))
      return true
    end)
    if not saved then return UNFORESEEN end
    log("info", "this party's part of the model is in %s", path_of(place, cfg, "model"))
  end
  return DONE
end

local function run_party(place, cfg, check_only)
  local party, status = try(opening, open_party, place, cfg)
  if not party then return status end
  if check_only then return DONE end
  log("info", "%s with %d columns connects to %s", party.name, party.columns, cfg.connect)
  local function so_far()
    local at = party:report()
    return ("%s, round %d; released %d selections and %d features; cost %s"):format(at.phase, at.rounds, at.selections,
      at.features, cost(at))
  end
  local report
  report, status = try({}, party.serve, party, { progress = progress_every(cfg.progress or 5, so_far) })
  if report then return party_ended(place, cfg, report) end
  if status ~= UNFORESEEN then log("info", "%s", so_far()) end
  return status
end

-- ---- the server ----

local function check_rows(place, cfg)
  for i, one in ipairs(cfg.parties) do
    if type(one) ~= "table" or type(one.key) ~= "string" then
      config.fail('%s: parties[%d] must be {name = "...", key = "..."}', place, i)
    end
    config.check(one, fields.row, ("%s: parties[%d]"):format(place, i))
  end
end

local function open_server(place, cfg)
  local parties = {}
  check_results(place, cfg)
  check_rows(place, cfg)
  sets.check(place, cfg)
  for i, one in ipairs(cfg.parties) do
    parties[i] = { name = one.name, key = public_key(place, one.key, ("parties[%d].key"):format(i)) }
  end
  if cfg.privacy ~= false and not cfg.epsilon and not cfg.rho then
    config.fail("%s: no budget for the run: give epsilon and delta, or rho, or privacy = false", place)
  end
  return pn.federated.server {
    listen = cfg.listen, parties = parties, timeout = cfg.timeout, log = log_event,
    keys = config.readable(path_of(place, cfg, "keys"), place, "keys"),
    checkpoint = path_of(place, cfg, "checkpoint"),
  }
end

local function plan_of(place, cfg, transport, data)
  local given, columns = { transport = transport }, {}
  for _, name in ipairs(fields.solver_options) do given[name] = cfg[name] end
  for i, row in ipairs(transport:report()) do columns[i] = row.columns end
  local objective = pn.objective {
    data = data, loss = pn.loss[cfg.loss or "squared"](), set = sets.build(place, cfg, columns),
  }
  return pn.solve.federated_frank_wolfe.plan(objective, given)
end

-- The model is on the disk after the last step, and before the program ends.
-- ledger: the server's own, or nil: charged for each release before parties are asked for it; after a restart for what is left.
local function run_plan(place, cfg, plan, ledger)
  local path = path_of(place, cfg, "model")
  local fit = plan:run {
    rng = cfg.rng, ledger = ledger, progress = progress_every(cfg.progress or 5),
    on_step = path and function(state)
      if state.step == plan.iterations then state.theta:save(path) end
    end,
  }
  if path and not fit.stopped then fit.theta:save(path) end
  return fit
end

local function log_traffic(transport)
  for _, row in ipairs(transport:report()) do
    log("info", "%s: up %d bytes, %d numbers in %d messages; down %d bytes, %d numbers", row.name, row.bytes_up,
      row.scalars_up, row.messages_up, row.bytes_down, row.scalars_down)
  end
end

local function server_ended(place, cfg, transport, fit)
  log_traffic(transport)
  if fit.stopped then
    log("info", "stopped after %d of %d rounds: %s", fit.steps, fit.plan.iterations, fit.stopped)
    return fit.stopped == "interrupted" and INTERRUPTED or REFUSED
  end
  log("info", "%s", in_a_line(fit))
  if cfg.model then log("info", "the model is in %s", path_of(place, cfg, "model")) end
  return DONE
end

local function run_server(place, cfg, check_only)
  local ledger
  local transport, status = try({ EIO = LOST, other = USAGE, EINVAL = USAGE, EPARSE = USAGE }, function()
    ledger = open_ledger(place, cfg)
    return open_server(place, cfg)
  end)
  if not transport then return status end
  if check_only then return DONE end
  log("info", "listening at %s for %d parties", transport.endpoint, transport.parties)
  local data, plan, fit
  data, status = try({}, transport.data, transport, { progress = progress_every(cfg.progress or 5) })
  if not data then return status end
  log("info", "all parties have joined: %d records, %d columns", data.n, data.p)
  plan, status = try({ EINVAL = USAGE, other = USAGE }, plan_of, place, cfg, transport, data)
  if not plan then return status end
  log("plan", "%s", tostring(plan))
  fit, status = try({}, run_plan, place, cfg, plan, ledger)
  if ledger then log("info", "budget: %s", in_a_line(ledger)) end
  if fit then return server_ended(place, cfg, transport, fit) end
  log_traffic(transport)
  return status
end

-- ---- the command line ----

local programs = {
  party = { run = run_party, fields = fields.party,
    text = "One party of a federated run: keeps its columns, answers the server, pays from its own ledger." },
  server = { run = run_server, fields = fields.server,
    text = "The server of a federated run: waits for its parties, runs the solver, writes the model." },
}

local function usage(name, out)
  local program = programs[name]
  out:write(("usage: penumbra %s [--check] CONFIG\n"):format(name), wrap("", program.text, 0))
  out:write("  --check  open everything that the configuration names, and stop\n\n")
  out:write(wrap("", "CONFIG is a Lua file that returns a table, or sets these fields (! must be there); paths are seen from "
    .. "its folder.  It is data: it computes with math, string, table, pn.rng and pn.data, and opens and changes nothing.",
    0), "\n")
  local names = {}
  for _, field in ipairs(program.fields) do
    if field.solver then
      names[#names + 1] = field.name
    else
      out:write(wrap(("  %-12s"):format((field.required and "!" or " ") .. field.name), field.doc, 14))
    end
  end
  if #names > 0 then
    out:write(wrap("  options of solve.federated_frank_wolfe: ", table.concat(names, ", "), 4))
  end
  out:write "\nThe log goes to stderr, a line an event.  Exit status:\n"
  for _, row in ipairs(statuses) do out:write(wrap(("  %d "):format(row[1]), row[2], 5)) end
end

local function complain(name, format, ...)
  io.stderr:write("penumbra ", name, ": ", format:format(...), "\n")
  usage(name, io.stderr)
  return USAGE
end

-- main("party" | "server", ...): the words of the command line; returns the exit status.
return function(name, ...)
  local path, check_only
  for _, word in ipairs { ... } do
    if word == "-h" or word == "--help" then
      usage(name, io.stdout)
      return DONE
    elseif word == "--check" then
      check_only = true
    elseif word:sub(1, 1) == "-" then
      return complain(name, "unknown option '%s'", word)
    elseif path then
      return complain(name, "more than one configuration: '%s' and '%s'", path, word)
    else
      path = word
    end
  end
  if not path then return complain(name, "the configuration is missing") end
  local cfg, status = try(opening, function()
    return config.check(config.read(path), programs[name].fields, path)
  end)
  return cfg and programs[name].run(path, cfg, check_only) or status
end
