-- plot_sets.lua -- figures of sets in the plane: outlines by support points, contours of the gauge, points that walk in a set.
-- Depends on: penumbra.core, penumbra.plot.values.  Used by: penumbra.plot.
local pn = require "penumbra.core"
local values = require "penumbra.plot.values"
local refuse = values.refuse

local builders = {}

local DIRECTIONS, MOST_CONTOURS = 360, 50

-- ---- outlines ----

-- Calls visit(cosine, sine) for directions all around, in turn.
local function around(visit)
  for k = 0, DIRECTIONS - 1 do
    local angle = 2 * math.pi * k / DIRECTIONS
    visit(math.cos(angle), math.sin(angle))
  end
end

-- Adds a point unless it is the one before.
local function put(layer, x, y, scale)
  local n = #layer.x
  if n > 0 and math.abs(layer.x[n] - x) + math.abs(layer.y[n] - y) <= 1e-9 * scale then return end
  layer.x[n + 1], layer.y[n + 1] = x, y
end

local function closed(layer)
  layer.x[#layer.x + 1], layer.y[#layer.y + 1] = layer.x[1], layer.y[1]
  return layer
end

-- The projection of C onto coordinates i and j: its support points in the directions of that plane.
local function projection(C, i, j)
  local layer, scale = { kind = "line", x = {}, y = {} }, C.radius + 1e-300
  around(function(cosine, sine)
    local direction = pn.vec.zeros(C.dim)
    direction[i], direction[j] = cosine, sine
    local _, point = C:support(direction)
    put(layer, point[i], point[j], scale)
  end)
  return closed(layer)
end

-- The slice of C through a point of it, where the other coordinates stay as they are: how far each direction stays inside.
local function slice(C, i, j, at)
  local layer, reach = { kind = "line", x = {}, y = {} }, C.diameter
  local point = at:copy()
  around(function(cosine, sine)
    local low, high = 0, reach
    for _ = 1, 50 do
      local middle = (low + high) / 2
      point[i], point[j] = at[i] + middle * cosine, at[j] + middle * sine
      if C:contains(point, 1e-9) then low = middle else high = middle end
    end
    put(layer, at[i] + low * cosine, at[j] + low * sine, reach)
  end)
  return closed(layer)
end

-- ---- what is given ----

local function coordinates_of(owner, options, sets)
  local dims = options.dims
  if dims == nil then
    for k, C in ipairs(sets) do
      if C.dim ~= 2 then refuse(owner, "set %d has %d dimensions; say which two to draw, as in dims={1, 2}", k, C.dim) end
    end
    return 1, 2
  end
  local pair = values.list(owner, "dims", dims)
  if #pair ~= 2 or pair[1] == pair[2] then refuse(owner, "dims must be two different coordinates, as in {1, 2}") end
  for k, C in ipairs(sets) do
    for n = 1, 2 do
      values.whole(owner, ("dims[%d]"):format(n), pair[n], 1)
      if pair[n] > C.dim then refuse(owner, "dims[%d] is %d and set %d has %d dimensions", n, pair[n], k, C.dim) end
    end
  end
  return pair[1], pair[2]
end

local function check_sets(owner, sets)
  for k, C in ipairs(sets) do
    if values.kind(C) ~= "pn.set" then refuse(owner, "argument %d must be a set, got %s", k, values.shown(C)) end
    if not C.bounded then refuse(owner, "set %d is not bounded: it has no outline", k) end
  end
end

local function slice_point(owner, options, sets)
  if options.at == nil then return end
  local at = pn.vec(values.list(owner, "at", options.at))
  for k, C in ipairs(sets) do
    if #at ~= C.dim then refuse(owner, "at has %d numbers and set %d has %d dimensions", #at, k, C.dim) end
    if not C:contains(at) then refuse(owner, "at is not in set %d: there is no slice through it", k) end
  end
  return at
end

local function levels_of(owner, given)
  if given == nil or given == false then return {} end
  if given == true then given = 4 end
  if type(given) == "number" then
    local count, list = values.whole(owner, "gauge", given, 1), {}
    if count > MOST_CONTOURS then refuse(owner, "gauge must be at most %d contours, got %d", MOST_CONTOURS, count) end
    for k = 1, count do list[k] = k / count end
    return list
  end
  local list = values.list(owner, "gauge", given)
  values.positive(owner, "gauge", list)
  if #list > MOST_CONTOURS then refuse(owner, "gauge must be at most %d contours, got %d", MOST_CONTOURS, #list) end
  return list
end

-- ---- points ----

-- Two columns of the rows of a path, a table of points.
local function walked(owner, name, given, i, j, dim)
  local layer = { x = {}, y = {} }
  for k, point in ipairs(values.rows(owner, name, given)) do
    if #point ~= dim and #point ~= 2 then
      refuse(owner, "%s[%d] has %d numbers; the set has %d dimensions", name, k, #point, dim)
    end
    local flat = #point == 2
    layer.x[k], layer.y[k] = point[flat and 1 or i], point[flat and 2 or j]
  end
  return layer
end

-- A list of paths, when what is given is one: its first entry is a matrix or a list of points itself.
local function paths_of(given)
  local first = type(given) == "table" and given[1]
  local inner = type(first) == "table" and values.kind(first[1])
  local nested = values.kind(first) == "pn.mat" or inner == "table" or inner == "pn.vec"
  return nested and given or { given }
end

local function put_paths(owner, options, i, j, dim, layers)
  if options.path == nil then return end
  local list = paths_of(options.path)
  for k, path in ipairs(list) do
    local name = #list > 1 and ("path[%d]"):format(k) or "path"
    local layer = walked(owner, name, path, i, j, dim)
    layer.kind, layer.marks, layer.colour, layer.width, layer.label = "line", true, #layers.hues + 1, 1, name
    layers.hues[#layers.hues + 1], layers[#layers + 1] = true, layer
    local last = #layer.x
    layers[#layers + 1] = {
      kind = "points", x = { layer.x[last] }, y = { layer.y[last] }, colour = layer.colour, size = 1.2, dot = true,
    }
  end
end

local function put_points(owner, options, i, j, dim, layers)
  if options.points == nil then return end
  local layer = walked(owner, "points", options.points, i, j, dim)
  layer.kind, layer.colour, layer.label = "points", #layers.hues + 1, "points"
  layers[#layers + 1] = layer
end

-- ---- the figure ----

local function named(owner, options, C, k)
  local labels = options.labels
  if labels == nil then return C.name end
  if type(labels) ~= "table" then refuse(owner, "labels must be a list of strings, got %s", values.shown(labels)) end
  return values.text(owner, ("labels[%d]"):format(k), labels[k])
end

-- "gauge 0.25, 0.5, 0.75, 1"; of many contours the first, the second and the last.
local function gauge_label(levels)
  local texts = {}
  for k, t in ipairs(levels) do texts[k] = ("%.4g"):format(t) end
  if #texts > 6 then texts = { texts[1], texts[2], "...", texts[#texts] } end
  return "gauge " .. table.concat(texts, ", ")
end

-- Contours of the gauge of an outline around the origin: {x: gauge(x) = t} is t times the outline.
local function put_contours(owner, options, sets, outline, layers)
  local levels = levels_of(owner, options.gauge)
  if #levels == 0 then return end
  if options.at then refuse(owner, "gauge is of the whole set; leave it out with at=") end
  if not sets[1]:contains(pn.vec.zeros(sets[1].dim)) then
    refuse(owner, "gauge needs the origin in the set, and %s does not have it", sets[1].name)
  end
  for _, t in ipairs(levels) do
    local contour = { kind = "line", x = {}, y = {}, colour = "grey", width = 1 }
    for k = 1, #outline.x do contour.x[k], contour.y[k] = t * outline.x[k], t * outline.y[k] end
    if t ~= 1 then layers[#layers + 1] = contour end
  end
  if layers[1] then layers[1].label = gauge_label(levels) end
end

-- "slice at x[3] = 0.5"; of many coordinates only that they are those of the point.
local function slice_title(at, i, j)
  local parts = {}
  for k = 1, #at do
    if k ~= i and k ~= j then parts[#parts + 1] = ("x[%d] = %.3g"):format(k, at[k]) end
  end
  if #parts <= 3 then return "slice at " .. table.concat(parts, ", ") end
  return ("slice through at, the other %d coordinates fixed"):format(#parts)
end

local function wider(low, high)
  local pad = 0.06 * (high - low)
  if pad == 0 then pad = 0.5 end
  return { low - pad, high + pad }
end

-- pn.plot.set2d
function builders.set2d(owner, options, sets)
  check_sets(owner, sets)
  local i, j = coordinates_of(owner, options, sets)
  local at, layers, outlines = slice_point(owner, options, sets), { hues = {} }, {}
  for k, C in ipairs(sets) do
    outlines[k] = at and slice(C, i, j, at) or projection(C, i, j)
    outlines[k].label, outlines[k].colour, layers.hues[k] = named(owner, options, C, k), k, true
  end
  put_contours(owner, options, sets, outlines[1], layers)
  table.move(outlines, 1, #outlines, #layers + 1, layers)
  put_paths(owner, options, i, j, sets[1].dim, layers)
  put_points(owner, options, i, j, sets[1].dim, layers)
  local figure = { layers = layers, square = true, xlabel = ("x[%d]"):format(i), ylabel = ("x[%d]"):format(j) }
  local program = require "penumbra.plot.program"
  figure.xrange, figure.yrange = wider(program.extent(figure, "x")), wider(program.extent(figure, "y"))
  if sets[1].dim > 2 then figure.title = at and slice_title(at, i, j) or ("projection onto x[%d], x[%d]"):format(i, j) end
  return figure
end

return builders
