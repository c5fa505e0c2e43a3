-- plot_program.lua -- a figure as a program for gnuplot.  A figure is
--   { title=, xlabel=, ylabel=, zlabel=, logx=, logy=, xrange=, yrange=, xticks=, key=, square=, layers = {...} }; a layer is
--   { kind = "line", "points", "band" (low, high), "boxes" (low, high: left and right ends) or "heat" (z: rows), x=, y=, label=,
--     colour = 1 .. or "grey", dashed=, marks=, low= and high= (of a line: ends of error bars), values= and sizes= (of points) }.
-- What people write reaches gnuplot as octal digits only, so that no text is ever read as a command.
-- Depends on: penumbra.plot.ticks.  Used by: penumbra.plot.show, plot_cells, plot_plain, plot_sets.
local ticks = require "penumbra.plot.ticks"

local program = {}

-- Okabe and Ito's colours, which the colour-blind tell apart; yellow is left out, since it is not seen on white.
program.colours = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000" }
program.grey = "#8c8c8c"

-- ---- texts ----

-- Text as a string of gnuplot: letters, spaces and UTF-8 as they are, the rest in octal (digits too: gnuplot would read them as
-- more digits of an octal number before them); control characters are spaces.
function program.quoted(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  text = text:gsub("\r?\n", "\n"):gsub("\xc2[\x80-\x9f]", " ")
  return '"' .. text:gsub("[^%a \x80-\xff]", function(c)
    if c == "\n" then return "\\n" end
    return c:find "%c" and " " or ("\\%03o"):format(c:byte())
  end) .. '"'
end
local quoted = program.quoted

-- Text of at most `width` characters; what is longer ends in three dots.
function program.cut(text, width)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  if utf8.len(text) <= width then return text end
  return text:sub(1, utf8.offset(text, math.max(width - 2, 1)) - 1) .. "..."
end

-- The same on two lines, broken at a space.
local function folded(text, width)
  if #text <= width or text:find "\n" then return text end
  local last = (text:sub(1, width + 1):find " [^ ]*$") or 0
  if last <= width // 3 then return program.cut(text, width) end
  return text:sub(1, last - 1) .. "\n" .. program.cut(text:sub(last + 1), width)
end

local function number(x) return ("%.15g"):format(x) end

-- ---- data ----

local function put_columns(out, columns)
  local format = ("%.12g "):rep(#columns) .. "\n"
  local unpack, row = table.unpack, {}
  for i = 1, #columns[1] do
    for k = 1, #columns do row[k] = columns[k][i] end
    out[#out + 1] = format:format(unpack(row))
  end
end

-- Half-way between neighbours, outwards by half a step at the ends; on a logarithmic axis between logarithms.
local function edges(centres, log)
  local to, back = function(x) return x end, function(x) return x end
  if log then to, back = math.log, math.exp end
  local n, out = #centres, {}
  if n == 1 then return { back(to(centres[1]) - 0.5), back(to(centres[1]) + 0.5) } end
  for i = 2, n do out[i] = back((to(centres[i - 1]) + to(centres[i])) / 2) end
  out[1] = back(to(centres[1]) - (to(centres[2]) - to(centres[1])) / 2)
  out[n + 1] = back(to(centres[n]) + (to(centres[n]) - to(centres[n - 1])) / 2)
  return out
end

local function put_heat(out, layer, figure)
  local x, y = edges(layer.x, figure.logx), edges(layer.y, figure.logy)
  for i, row in ipairs(layer.z) do
    for j, z in ipairs(row) do
      out[#out + 1] = ("%.12g %.12g %.12g %.12g %.12g %.12g %.12g\n"):format(layer.x[j], layer.y[i], x[j], x[j + 1], y[i],
        y[i + 1], z)
    end
  end
end

-- Very many points are drawn as fewer that look the same.
local MANY, TOGETHER = 20000, 5000

-- part(value) -> the number of one of `count` equal parts from the least to the greatest of a list.
local function part_of(list, log, count)
  local to, low, high = log and math.log or function(x) return x end, math.huge, -math.huge
  for i = 1, #list do low, high = math.min(low, list[i]), math.max(high, list[i]) end
  low, high = to(low), to(high)
  local scale = high > low and count / (high - low) or 0
  return function(value) return math.floor((to(value) - low) * scale) end
end

-- Calls visit(first, last) for runs of places that fall into one part; false when they do not rise.
local function runs(x, log, visit)
  for i = 2, #x do
    if not (x[i] >= x[i - 1]) then return false end
  end
  local place, first = part_of(x, log, TOGETHER), 1
  while first <= #x do
    local last, part = first, place(x[first])
    while last < #x and place(x[last + 1]) == part do last = last + 1 end
    visit(first, last)
    first = last + 1
  end
  return true
end

-- A line: the first, least, greatest and last of those that fall together.
local function thinned_line(layer, log)
  local x, y, out = layer.x, layer.y, { x = {}, y = {} }
  local fine = runs(x, log, function(first, last)
    local least, most, before = first, first, nil
    for k = first + 1, last do
      if y[k] < y[least] then least = k end
      if y[k] > y[most] then most = k end
    end
    for _, k in ipairs { first, math.min(least, most), math.max(least, most), last } do
      if k ~= before then out.x[#out.x + 1], out.y[#out.y + 1] = x[k], y[k] end
      before = k
    end
  end)
  return fine and out or layer
end

-- A band: the least and greatest of its ends.
local function thinned_band(layer, log)
  local out = { x = {}, low = {}, high = {} }
  local fine = runs(layer.x, log, function(first, last)
    local n, low, high = #out.x + 1, layer.low[first], layer.high[first]
    for k = first + 1, last do low, high = math.min(low, layer.low[k]), math.max(high, layer.high[k]) end
    out.x[n], out.low[n], out.high[n] = layer.x[first], low, high
  end)
  return fine and out or layer
end

-- Points: one of those at the same place of a thousand by a thousand.
local function thinned_points(layer, figure)
  local across, up = part_of(layer.x, figure.logx, 1000), part_of(layer.y, figure.logy, 1000)
  local out, seen = { x = {}, y = {} }, {}
  for i = 1, #layer.x do
    local place = across(layer.x[i]) * 1001 + up(layer.y[i])
    if not seen[place] then
      seen[place], out.x[#out.x + 1], out.y[#out.y + 1] = true, layer.x[i], layer.y[i]
    end
  end
  return out
end

local columns_of = {
  line = function(layer, figure)
    if layer.low then return { layer.x, layer.y, layer.low, layer.high } end
    if #layer.x > MANY and not layer.marks then layer = thinned_line(layer, figure.logx) end
    return { layer.x, layer.y }
  end,
  points = function(layer, figure)
    if #layer.x > MANY and not layer.sizes and not layer.values then layer = thinned_points(layer, figure) end
    local columns = { layer.x, layer.y }
    if layer.sizes then columns[#columns + 1] = layer.sizes end
    if layer.values then columns[#columns + 1] = layer.values end
    return columns
  end,
  band = function(layer, figure)
    if #layer.x > MANY then layer = thinned_band(layer, figure.logx) end
    return { layer.x, layer.low, layer.high }
  end,
  boxes = function(layer) return { layer.x, layer.y, layer.low, layer.high } end,
}

-- The data of all layers, as named blocks.
function program.data(figure, out)
  for k, layer in ipairs(figure.layers) do
    out[#out + 1] = ("$d%d << EOD\n"):format(k)
    if layer.kind == "heat" then
      put_heat(out, layer, figure)
    else
      put_columns(out, columns_of[layer.kind](layer, figure))
    end
    out[#out + 1] = "EOD\n"
  end
end

-- ---- layers ----

local function colour_of(layer)
  if layer.colour == "grey" then return program.grey end
  return program.colours[(layer.colour - 1) % #program.colours + 1]
end

-- gnuplot's solid, dashed, dash-dotted, dash-dot-dotted and dotted lines: curves differ in more than colour, for print and for who
-- sees none.  With seven colours the first 35 differ in one or the other.
local dashes = { 1, 2, 4, 5, 3 }

local function dash_of(layer)
  if layer.dashed then return layer.dashed == true and 2 or layer.dashed end
  return type(layer.colour) == "number" and dashes[(layer.colour - 1) % #dashes + 1] or 1
end

local function even(list)
  local step = #list > 1 and list[2] - list[1]
  for i = 3, #list do
    if math.abs(list[i] - list[i - 1] - step) > 1e-6 * step then return false end
  end
  return #list > 1
end

local point_types = { 7, 5, 9, 13, 11, 15, 6 }

local function point_type(layer)
  if layer.marks then return 2 end
  return not layer.dot and type(layer.colour) == "number" and point_types[(layer.colour - 1) % #point_types + 1] or 7
end

local drawn = {
  line = function(layer, title, colour)
    if layer.low then
      return { ("using 1:2:3:4 with yerrorlines lw 2 pt 7 ps 0.6 lc rgb %s dt %d %s"):format(colour, dash_of(layer), title) }
    end
    return { ("using 1:2 with %s lw %g lc rgb %s dt %d %s"):format(layer.marks and "linespoints pt 7 ps 0.6" or "lines",
      layer.width or 2, colour, dash_of(layer), title) }
  end,
  points = function(layer, title, colour)
    local variable = layer.sizes and 4 or 3
    return { ("using 1:2%s%s with points pt %d ps %s lc %s %s"):format(layer.sizes and ":3" or "",
      layer.values and ":" .. variable or "", point_type(layer), layer.sizes and "variable" or number(layer.size or 0.7),
      layer.values and "palette" or "rgb " .. colour, title) }
  end,
  band = function(_, title, colour)
    return { ("using 1:2:3 with filledcurves lc rgb %s fs transparent solid 0.2 noborder %s"):format(colour, title) }
  end,
  boxes = function(_, title, colour)
    return { ("using 1:($2/2):3:4:(0):2 with boxxyerror lc rgb %s fs transparent solid 0.35 border lc rgb %s %s"):format(colour,
      colour, title) }
  end,
  heat = function(layer, title, _, figure)
    if figure.image and even(layer.x) and even(layer.y) and not figure.logx and not figure.logy then
      return { "using 1:2:7 with image " .. title }
    end
    return { "using 1:2:3:4:5:6:7 with boxxyerror lw 0.5 lc palette fs solid 1 border " .. title }
  end,
}

local function plot_command(figure, room)
  local parts = {}
  for k, layer in ipairs(figure.layers) do
    local title = layer.label and "title " .. quoted(program.cut(layer.label, room.columns - 8)) or "notitle"
    for _, part in ipairs(drawn[layer.kind](layer, title, "'" .. colour_of(layer) .. "'", figure)) do
      parts[#parts + 1] = ("$d%d %s"):format(k, part)
    end
  end
  return "plot " .. table.concat(parts, ", ") .. "\n"
end

-- ---- axes ----

-- The least and greatest number of an axis ("x" or "y") over all layers.
function program.extent(figure, axis)
  local low, high = math.huge, -math.huge
  local log = figure["log" .. axis]
  local function take(list)
    for i = 1, #(list or {}) do
      if not log or list[i] > 0 then low, high = math.min(low, list[i]), math.max(high, list[i]) end
    end
  end
  for _, layer in ipairs(figure.layers) do
    take(layer.kind == "heat" and edges(layer[axis], log) or layer[axis])
    if (layer.kind == "boxes") == (axis == "x") then
      take(layer.low)
      take(layer.high)
    end
    if layer.kind == "boxes" and axis == "y" then low = math.min(low, 0) end
  end
  return low, high
end

-- Marks of a logarithmic axis of a file with few decades, where gnuplot may have a single number; more it finds itself.
local function log_marks(axis, low, high)
  local wide = axis == "x" and (high >= 1e4 or low < 1e-3) -- long numbers side by side would run into one another
  if high / low >= (wide and 20 or axis == "x" and 200 or 1000) then return end
  return ticks.logarithmic(low, high, axis == "x" and { columns = 80 } or { rows = 30 })
end

local SMALLEST = 1e-305 -- beyond it gnuplot's own arithmetic ends

local function has_dots(figure)
  for _, layer in ipairs(figure.layers) do
    if layer.kind == "points" or layer.marks or layer.kind == "line" and layer.low then return true end
  end
  return false
end

-- Where an axis begins and ends, and whether it may go on to the next mark.
local function ends_of(figure, axis)
  local low, high = program.extent(figure, axis)
  local range, log = figure[axis .. "range"], figure["log" .. axis]
  if range then return range[1], range[2] end
  if figure.layers[1].kind == "heat" then return low, high end
  if log and low <= high then -- gnuplot would go on to the next mark, and has no room around a single place
    local room = low < high and math.exp(0.04 * (math.log(high) - math.log(low))) or 2
    return math.max(low / room, SMALLEST), math.min(high * room, 1 / SMALLEST)
  end
  low, high = ticks.apart(low, high)
  if not has_dots(figure) then return low, high, true end
  local room = 0.03 * (high - low) -- no dot or bar stands on the frame
  return low - room, high + room
end

-- room: of a drawing in characters, whose numbers are all chosen here.
local function put_axis(out, figure, axis, room)
  local log, low, high, free = figure["log" .. axis], ends_of(figure, axis)
  local marks, format
  if room then
    if log then
      marks, format = ticks.logarithmic(low, high, room)
    else
      marks, format, low, high = ticks.linear(low, high, room, free)
    end
  elseif log then
    marks, format = log_marks(axis, low, high)
  end
  if room or log or not free then out[#out + 1] = ("set %srange [%s:%s]\n"):format(axis, number(low), number(high)) end
  if log then out[#out + 1] = ("set logscale %s\n"):format(axis) end
  out[#out + 1] = ("set format %s '%s'\n"):format(axis, format or log and "%g" or ticks.axis_format(low, high))
  marks = not room and figure[axis .. "ticks"] or marks
  if not marks then return end
  for k, mark in ipairs(marks) do marks[k] = type(mark) == "number" and number(mark) or mark end
  out[#out + 1] = ("set %stics (%s)\n"):format(axis, table.concat(marks, ", "))
end

-- Ends of the colours: the least and greatest of the numbers that they stand for.
local function put_colours(out, figure)
  local low, high = math.huge, -math.huge
  for _, layer in ipairs(figure.layers) do
    for _, list in ipairs(layer.z or { layer.values }) do
      for _, z in ipairs(list) do low, high = math.min(low, z), math.max(high, z) end
    end
  end
  if low > high then return end
  low, high = ticks.apart(low, high)
  out[#out + 1] = ("set cbrange [%s:%s]\nset format cb '%s'\n"):format(number(low), number(high), ticks.axis_format(low, high))
end

function program.axes(figure, out, room)
  put_axis(out, figure, "x", room and { columns = room.columns })
  put_axis(out, figure, "y", room and { rows = room.rows })
  put_colours(out, figure)
  if figure.square then out[#out + 1] = "set size ratio -1\n" end
end

-- Dark to light in one run of lightness, so that it reads in grey too (the five anchors are those of viridis).
program.palette = "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"

-- ---- a picture ----

local terminals = {
  sixel = "sixelgd size %d,%d truecolor",
  svg = "svg size %d,%d dynamic font 'Helvetica,%d'",
  png = "pngcairo size %d,%d font 'sans,11'",
  pdf = "pdfcairo size %gin,%gin font 'sans,11'",
}

local BELOW = "outside bottom center horizontal Left reverse samplen 3 height 0.6 width 2"
program.formats = { "pdf", "png", "svg" }

local function labels(figure)
  local count = 0
  for _, layer in ipairs(figure.layers) do count = count + (layer.label and 1 or 0) end
  return count
end

-- What is above, below and beside the axes; key: where the legend is in gnuplot's words, false for none; room: columns and rows of
-- characters that there are.
local function put_words(out, figure, key, room)
  local words = { title = folded(figure.title or "", room.columns), xlabel = program.cut(figure.xlabel or "", room.columns),
    ylabel = program.cut(figure.ylabel or "", room.rows), cblabel = program.cut(figure.zlabel or "", room.rows) }
  for _, name in ipairs { "title", "xlabel", "ylabel", "cblabel" } do
    out[#out + 1] = ("set %s %s\n"):format(name, quoted(words[name]))
  end
  key = key == nil and BELOW or key
  out[#out + 1] = key and labels(figure) > 0 and ("set key %s\n"):format(key) or "unset key\n"
end

local BOUNDLESS = { columns = math.huge, rows = math.huge } -- panels: who makes them chooses texts that fit

local function put_panel(out, figure, key, room)
  program.data(figure, out)
  put_words(out, figure, key, room or BOUNDLESS)
  program.axes(figure, out)
  out[#out + 1] = plot_command(figure, room or BOUNDLESS)
end

-- Panels side by side, one legend for all of them in figure.legend pixels at the right when it is given.
local function put_panels(out, figure, width)
  local legend, grow = figure.legend or 0, (figure.font or 14) / 14
  local plots, key = width - legend, nil
  out[#out + 1] = ("set multiplot layout 1,%d title %s"):format(#figure.panels, quoted(figure.title or ""))
  if legend > 0 then -- margins of the panels and the room between them, in shares of the whole
    key = ("at screen %.4f,0.84 left top Left reverse samplen 2"):format(plots / width)
    out[#out + 1] = (" margins %.4f,%.4f,%.4f,%.4f spacing %.4f"):format(100 * grow / width, (plots - 20) / width, 0.14 * grow,
      1 - 0.16 * grow, 110 * grow / width)
  end
  out[#out + 1] = "\n"
  for k, panel in ipairs(figure.panels) do
    if k > 1 then out[#out + 1] = "unset logscale\nset autoscale\nset xtics auto\nset ytics auto\n" end
    local own = panel.key
    if own == nil and k > 1 and key then own = false end
    put_panel(out, panel, own == nil and key or own)
  end
  out[#out + 1] = "unset multiplot\n"
end

-- The program that draws a file's contents onto standard output; width and height in pixels.  figure.panels: a list of figures that
-- stand side by side.
function program.picture(figure, format, width, height)
  local out, scale = { "set encoding utf8\n" }, format == "pdf" and 0.01 or 1 -- inches of a hundred pixels
  local terminal = terminals[format]:format(width * scale, height * scale, figure.font or 14)
  out[#out + 1] = ("set terminal %s noenhanced background '#ffffff'\n"):format(terminal)
  out[#out + 1] = "set grid lc rgb '#e0e0e0' lt 1 lw 1\nset border 3 lc rgb '#404040'\nset tics nomirror out scale 0.6\n"
  out[#out + 1] = "set format '%g'\n" .. program.palette
  -- Viewers smooth the images of vector formats; there a map is boxes, whose borders close the seams.
  local z = figure.layers and figure.layers[1].z
  figure.image = format == "png" or format == "sixel" or z and #z * #z[1] > 2500 -- such files would be megabytes
  local character = 0.6 * (figure.font or 14) -- its width, on average
  if figure.panels then
    put_panels(out, figure, width)
  else
    put_panel(out, figure, figure.key, { columns = width // character, rows = height // character })
  end
  return table.concat(out)
end

program.labels = labels
program.dash_of = dash_of
program.number = number

return program
