-- plot_series.lua -- figures of numbers that are given as they are: lines with bands, points, heat maps, histograms.
-- Depends on: penumbra.core, penumbra.plot.values.  Used by: penumbra.plot.
local pn = require "penumbra.core"
local values = require "penumbra.plot.values"
local refuse = values.refuse

local builders = {}

-- ---- series ----

local function names_of(list)
  local known = {}
  for _, name in ipairs(list) do known[name] = true end
  return known
end

-- The series of a call: tables in its list part, or the one whose fields lie beside the options.
local function series_of(owner, options, fields)
  local list = {}
  for i, one in ipairs(options) do
    if type(one) ~= "table" then refuse(owner, "series %d must be a table, got %s", i, values.shown(one)) end
    for name in pairs(one) do
      if not fields[name] then
        refuse(owner, "unknown field '%s' of series %d; it takes %s", tostring(name), i, fields.list)
      end
    end
    list[i] = one
  end
  if #list > 0 then
    for name in pairs(fields) do
      if name ~= "list" and options[name] ~= nil then
        refuse(owner, "%s is beside the series; put it into one of them", name)
      end
    end
  else
    list[1] = options
  end
  return list
end

local function fields(text)
  local names = {}
  for name in text:gmatch "%w+" do names[#names + 1] = name end
  local known = names_of(names)
  known.list = text
  return known
end

local function counted(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- Where a message says a number is: "y" of a single series, "series 2: y" of several.
local function place(several, k, name)
  return several and ("series %d: %s"):format(k, name) or name
end

-- x and y of a series, of one length, fit for the axes.
local function coordinates(owner, options, one, at)
  local y = values.list(owner, at "y", one.y)
  local x = one.x == nil and counted(#y) or values.list(owner, at "x", one.x)
  values.same_length(owner, at "x", x, at "y", #y)
  if options.logx then values.positive(owner, at "x", x) end
  if options.logy then values.positive(owner, at "y", y) end
  return x, y
end

local function companion(owner, options, one, at, name, length)
  if one[name] == nil then return end
  local list = values.list(owner, at(name), one[name])
  values.same_length(owner, at(name), list, at "y", length)
  if options.logy and (name == "low" or name == "high") then values.positive(owner, at(name), list) end
  return list
end

local function colour(owner, at, one, k)
  return values.whole(owner, at "colour", one.colour, 1) or k
end

-- ---- line ----

local line_fields = fields "x, y, label, low, high, error, dashed, marks, colour"

-- The ends of the bars of a series with error=.
local function error_bars(owner, options, one, at, y)
  local lengths, low, high = companion(owner, options, one, at, "error", #y), {}, {}
  if not lengths then return end
  for i = 1, #y do
    if lengths[i] < 0 then refuse(owner, "%s[%d] must not be negative, got %g", at "error", i, lengths[i]) end
    low[i], high[i] = y[i] - lengths[i], y[i] + lengths[i]
  end
  return low, high
end

local function line_layers(owner, options, one, at, k, layers)
  local x, y = coordinates(owner, options, one, at)
  local low, high = companion(owner, options, one, at, "low", #y), companion(owner, options, one, at, "high", #y)
  if (low == nil) ~= (high == nil) then
    refuse(owner, "%s is given without %s", at(low and "low" or "high"), low and "high" or "low")
  end
  local hue = colour(owner, at, one, k)
  if low then layers[#layers + 1] = { kind = "band", x = x, y = y, low = low, high = high, colour = hue } end
  local dashed = one.dashed
  if type(dashed) ~= "boolean" then dashed = values.whole(owner, at "dashed", dashed, 1) end
  local marks = values.flag(owner, at "marks", one.marks)
  local layer = { kind = "line", x = x, y = y, label = values.text(owner, at "label", one.label), colour = hue, dashed = dashed,
    marks = marks or #y == 1 }
  layer.low, layer.high = error_bars(owner, options, one, at, y)
  layers[#layers + 1] = layer
end

-- pn.plot.line
function builders.line(owner, options)
  local list, layers = series_of(owner, options, line_fields), {}
  for k, one in ipairs(list) do
    line_layers(owner, options, one, function(name) return place(#options > 0, k, name) end, k, layers)
  end
  return { layers = layers, logx = options.logx, logy = options.logy }
end

-- ---- scatter ----

local scatter_fields = fields "x, y, label, groups, values, sizes, colour"

-- Layers of one series, one for each name among its groups, in the order of their first point.
local function grouped(owner, one, at, layer, layers)
  if type(one.groups) ~= "table" or #one.groups ~= #layer.y then
    refuse(owner, "%s must be a list of %d names, one for each point", at "groups", #layer.y)
  end
  local of = {}
  for i, name in ipairs(one.groups) do
    name = tostring(name)
    if not of[name] then
      of[name] = { kind = "points", x = {}, y = {}, label = name, colour = #layers + 1, sizes = layer.sizes and {} }
      layers[#layers + 1] = of[name]
    end
    local group = of[name]
    for _, key in ipairs { "x", "y", "sizes" } do
      if group[key] then group[key][#group[key] + 1] = layer[key][i] end
    end
  end
end

local function sizes_of(owner, options, one, at, length)
  local sizes = companion(owner, options, one, at, "sizes", length)
  if not sizes then return end
  values.positive(owner, at "sizes", sizes)
  local largest, out = math.max(table.unpack(sizes, 1, math.min(#sizes, 200))), {}
  for i = 1, #sizes do largest = math.max(largest, sizes[i]) end
  for i = 1, #sizes do out[i] = 3 * math.sqrt(sizes[i] / largest) end -- areas are in proportion
  return out
end

-- pn.plot.scatter
function builders.scatter(owner, options)
  local list, layers = series_of(owner, options, scatter_fields), {}
  for k, one in ipairs(list) do
    local function at(name) return place(#options > 0, k, name) end
    local x, y = coordinates(owner, options, one, at)
    local layer = { kind = "points", x = x, y = y, label = values.text(owner, at "label", one.label),
      sizes = sizes_of(owner, options, one, at, #y), values = companion(owner, options, one, at, "values", #y) }
    if one.groups ~= nil then
      if one.values ~= nil then refuse(owner, "give %s or groups, not both", at "values") end
      grouped(owner, one, at, layer, layers)
    else
      layer.colour = colour(owner, at, one, #layers + 1)
      layers[#layers + 1] = layer
    end
  end
  return { layers = layers, logx = options.logx, logy = options.logy }
end

-- ---- heat ----

-- Places of columns or rows: rising numbers.
local function places(owner, name, given, count, log)
  local list = given == nil and counted(count) or values.list(owner, name, given)
  if #list ~= count then
    refuse(owner, "%s has %d numbers and z has %d %s", name, #list, count, name == "x" and "columns" or "rows")
  end
  for i = 2, #list do
    if not (list[i] > list[i - 1]) then refuse(owner, "%s must increase, and %s[%d] = %.14g does not", name, name, i, list[i]) end
  end
  if log then values.positive(owner, name, list) end
  return list
end

-- pn.plot.heat
function builders.heat(owner, options)
  local rows = values.rows(owner, "z", options.z)
  local layer = { kind = "heat", z = rows, colour = 1 }
  layer.x = places(owner, "x", options.x, #rows[1], options.logx)
  layer.y = places(owner, "y", options.y, #rows, options.logy)
  return { layers = { layer }, logx = options.logx, logy = options.logy }
end

-- ---- histogram ----

local histogram_fields = fields "samples, label, density, mechanism, draws, seed"
local MOST_BINS = 200

-- The width by the rule of Freedman and Diaconis (1981): 2 (interquartile range) n^(-1/3); as a number of bins.
local function bin_count(sorted)
  local n, low, high = #sorted, sorted[1], sorted[#sorted]
  local spread = sorted[math.ceil(0.75 * n)] - sorted[math.ceil(0.25 * n)]
  if not (spread > 0) then return math.max(math.min(math.ceil(math.sqrt(n)), 50), 1) end
  return math.max(math.min(math.ceil((high - low) / (2 * spread * n ^ (-1 / 3))), MOST_BINS), 5)
end

-- Shares of the samples by bins between low and high, per unit: an estimate of the density.
local function counted_bins(samples, low, high, count)
  local layer = { kind = "boxes", x = {}, y = {}, low = {}, high = {} }
  local width = (high - low) / count
  for i = 1, count do
    layer.low[i], layer.high[i] = low + (i - 1) * width, low + i * width
    layer.x[i], layer.y[i] = low + (i - 0.5) * width, 0
  end
  for i = 1, #samples do
    local k = math.min(math.floor((samples[i] - low) / width) + 1, count)
    layer.y[k] = layer.y[k] + 1 / (#samples * width)
  end
  return layer
end

local laws = {
  gaussian = function(s) return function(x) return math.exp(-0.5 * (x / s) ^ 2) / (s * math.sqrt(2 * math.pi)) end end,
  laplace = function(b) return function(x) return math.exp(-math.abs(x) / b) / (2 * b) end end,
}
laws.analytic_gaussian = laws.gaussian

-- Noise of a mechanism around 0, by its own sampler and a seeded stream: a simulation, charged to a ledger made for it.
local function drawn(owner, one)
  local m = one.mechanism
  if values.kind(m) ~= "pn.mechanism" or not laws[m.name] then
    refuse(owner, "mechanism must be a gaussian or laplace mechanism, got %s",
      values.kind(m) == "pn.mechanism" and m.name or values.shown(m))
  end
  local dim = m.dim or 1
  local draws = values.whole(owner, "draws", one.draws, 1) or 2000
  local rng = pn.rng.seeded(values.whole(owner, "seed", one.seed, 0) or 1)
  local ledger = pn.ledger { rho = 1e300, teaching = true, neighbours = m.event.neighbours }
  local samples, zero = {}, dim > 1 and pn.vec.zeros(dim) or 0
  while #samples < draws do
    local noise = m:release(zero, { ledger = ledger, rng = rng })
    if dim == 1 then
      samples[#samples + 1] = noise
    else
      for i = 1, math.min(dim, draws - #samples) do samples[#samples + 1] = noise[i] end
    end
  end
  return samples, laws[m.name](m.scale), ("%s(%.4g)"):format(m.name, m.scale), draws
end

local function density_layer(owner, density, low, high, label, hue)
  if type(density) ~= "function" then refuse(owner, "density must be a function of a number, got %s", values.shown(density)) end
  local layer = { kind = "line", x = {}, y = {}, label = label, colour = hue }
  for i = 0, 200 do
    local x = low + (high - low) * i / 200
    local y = density(x)
    if type(y) ~= "number" or y ~= y or y < 0 or y == math.huge then
      refuse(owner, "density(%.6g) must be a number from 0, got %s", x, type(y) == "number" and tostring(y) or values.shown(y))
    end
    layer.x[#layer.x + 1], layer.y[#layer.y + 1] = x, y
  end
  return layer
end

local function all_samples(owner, options, list)
  local low, high, most = math.huge, -math.huge, 0
  local out = {}
  for k, one in ipairs(list) do
    local function at(name) return place(#options > 0, k, name) end
    local entry = { label = values.text(owner, at "label", one.label), density = one.density }
    if one.mechanism ~= nil then
      if one.samples ~= nil then refuse(owner, "give %s or mechanism, not both", at "samples") end
      local draws
      entry.samples, entry.law, entry.name, draws = drawn(owner, one)
      entry.label = entry.label or ("%d draws of %s, seeded: simulation"):format(draws, entry.name)
      entry.density = entry.density or entry.law
    else
      entry.samples = values.list(owner, at "samples", one.samples)
    end
    local sorted = table.move(entry.samples, 1, #entry.samples, 1, {})
    table.sort(sorted)
    low, high, most = math.min(low, sorted[1]), math.max(high, sorted[#sorted]), math.max(most, bin_count(sorted))
    out[k] = entry
  end
  return out, low, high, most
end

-- The law of a mechanism by its name; another density by that of its samples where there are several.
local function density_label(entry, several)
  if entry.law and entry.density == entry.law then return "law of " .. entry.name end
  return several > 1 and entry.label and "density of " .. entry.label or "density"
end

-- pn.plot.histogram
function builders.histogram(owner, options)
  local list = series_of(owner, options, histogram_fields)
  local entries, low, high, count = all_samples(owner, options, list)
  count = values.whole(owner, "bins", options.bins, 1) or count
  if count > 10000 then refuse(owner, "bins must be at most 10000, got %d", count) end
  if low == high then low, high = low - 0.5, high + 0.5 end
  local layers, laws_drawn = {}, {}
  for _, entry in ipairs(entries) do
    local layer = counted_bins(entry.samples, low, high, count)
    layer.label, layer.colour = entry.label, #layers + 1
    layers[#layers + 1] = layer
  end
  for _, entry in ipairs(entries) do
    if entry.density then
      local hue = #layers + #laws_drawn + 1
      laws_drawn[#laws_drawn + 1] = density_layer(owner, entry.density, low, high, density_label(entry, #entries), hue)
    end
  end
  table.move(laws_drawn, 1, #laws_drawn, #layers + 1, layers)
  return { layers = layers, ylabel = "density", xlabel = entries[1].law and "noise" or nil }
end

return builders
