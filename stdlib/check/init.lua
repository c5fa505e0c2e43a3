-- check.lua -- pn.check(piece): does a set, norm, potential or proximal operator keep its promises?  By random probing through the
-- same methods that everyone uses, so a custom piece and a built-in one are judged alike.
-- Depends on: penumbra.core, penumbra.brief, penumbra.frame (bindings/core/lprogress.c), penumbra.passing, penumbra.check.sets,
-- penumbra.check.functions.  Used by: penumbra (pn.check).
local brief = require "penumbra.brief"
local frame = require "penumbra.frame"
local pn = require "penumbra.core"
local passing = require "penumbra.passing"

local check = {}

-- The laws of each kind: list of { name, function(piece, probe) -> worst violation or nil, detail }.  A violation is
-- relative: 0 when
-- the law holds to the last bit; nil when it does not apply to this piece.
local laws = {
  ["pn.set"] = function() return require "penumbra.check.sets" end,
  ["pn.norm"] = function() return require "penumbra.check.functions".norm end,
  ["pn.potential"] = function() return require "penumbra.check.functions".potential end,
  ["pn.prox"] = function() return require "penumbra.check.functions".prox end,
}

local report = {}
report.__index = report

function report:__tostring()
  local lines = { ("check: %s"):format(self.piece) }
  for _, row in ipairs(self) do
    local verdict = row.ok == nil and "-   " or row.ok and "ok  " or "FAIL"
    local worst = row.worst and (" (off by %.2g, allowed %.2g)"):format(row.worst, row.tolerance) or ""
    lines[#lines + 1] = ("  %s %s%s%s"):format(verdict, row.name, row.ok and "" or worst,
      row.detail and ": " .. row.detail or "")
  end
  local verdict = self.ok and "keeps all promises that %d probes could test" or "BREAKS a promise (%d probes)"
  lines[#lines + 1] = "  " .. verdict:format(self.probes)
  return table.concat(lines, "\n")
end

-- What the laws draw from.  Plain tables of numbers are slow and the pieces want pn.vec anyway.
-- `note` hears of every draw.
local function prober(options, note)
  local rng = pn.rng.seeded(options.seed)
  local probe = { rng = rng, count = options.probes, tolerance = options.tolerance, set = options.set }

  function probe.normal(dim)
    note()
    return pn.vec.normal(dim, rng)
  end

  -- Directions, among them a unit vector and one with a single large entry.
  function probe.directions(dim)
    local out = {}
    for k = 1, options.probes do
      out[k] = k == 1 and pn.vec.basis(dim, 1) or k == 2 and -1 * pn.vec.basis(dim, dim) or probe.normal(dim)
    end
    return out
  end

  function probe.uniform()
    note()
    return rng:uniform()
  end
  return probe
end

local function run_law(law, piece, probe)
  local ok, worst, detail = pcall(law[2], piece, probe)
  local row = { name = law[1], tolerance = law[3] or probe.tolerance }
  if passing(worst) then
    error(worst, 0)
  elseif not ok then
    row.ok, row.detail = false, tostring(worst)
  elseif worst == nil then
    row.detail = detail or "does not apply"
  else
    row.worst, row.ok = worst, worst <= row.tolerance -- false for NaN too
    row.detail = not row.ok and detail or nil
  end
  return row
end

local known = { probes = 40, seed = 1, tolerance = 1e-7, set = false, progress = false }

local function read_options(options)
  if options ~= nil and type(options) ~= "table" then
    error(("check: expected a table of options, got %s"):format(type(options)), 0)
  end
  local out = { probes = 40, seed = 1, tolerance = 1e-7 }
  for name, value in pairs(options or {}) do
    if known[name] == nil then
      error(("check: unknown option '%s'; it takes probes, progress, seed, set, tolerance"):format(tostring(name)), 0)
    end
    out[name] = value
  end
  if math.type(out.probes) ~= "integer" or out.probes < 3 then
    error(("check: probes must be a whole number from 3, got %s"):format(tostring(out.probes)), 0)
  end
  if type(out.tolerance) ~= "number" or not (out.tolerance > 0) then
    error(("check: tolerance must be a positive number, got %s"):format(tostring(out.tolerance)), 0)
  end
  return out
end

-- pn.check(piece, {probes=, seed=, tolerance=, set=})
function check.run(piece, options)
  local metatable = debug.getmetatable(piece)
  local kind = type(piece) == "userdata" and metatable and rawget(metatable, "__name")
  if not laws[kind] then
    error(("check: expected a set, norm, potential or prox, got %s"):format(kind or type(piece)), 0)
  end
  options = read_options(options)
  local result = setmetatable({ piece = brief(piece), kind = kind, probes = options.probes, ok = true }, report)
  local list = laws[kind]()
  frame("check", #list, options.progress, function(tell)
    local fine, problem = true, nil
    local function note() -- its error is not the law's
      fine, problem = pcall(tell, #result)
      if not fine then error(problem, 0) end
    end
    for _, law in ipairs(list) do
      local row = run_law(law, piece, prober(options, note))
      if not fine then error(problem, 0) end
      result[#result + 1] = row
      result.ok = result.ok and row.ok ~= false
    end
  end)
  return result
end

check.rows = {
  check = {
    signature = 'pn.check(piece, {probes=, seed=, tolerance=, set=, progress=}) -> report',
    doc = 'Probe a set, norm, potential or proximal operator at random points and report which of its promises hold: support is '
      .. 'convex, attained and matches projection and gauge; dual norms fit; a potential has its gradient, is strongly convex '
      .. 'with the declared constant, its inverse gradient inverts, and its steps over set= are optimal; a prox minimises.  The '
      .. 'report prints itself; report.ok is true when nothing failed, report[i] = {name=, ok=, worst=, tolerance=, detail=}.  '
      .. 'probes: 40 by default; tolerance: 1e-7, relative.  It can find a broken promise, not prove one kept.',
    reveals = 'nothing', touches = 'modules',
    kind = 'function',
  },
}

return check
