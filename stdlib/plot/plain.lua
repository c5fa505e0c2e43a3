-- plot_plain.lua -- a figure in plain characters where gnuplot is not installed: curves and points as marks, numbers at the ends of
-- the axes.  Simple on purpose: what is fine is gnuplot's.
-- Depends on: penumbra.plot.program, plot_cells, plot_ticks.  Used by: penumbra.plot.show.
local program = require "penumbra.plot.program"
local cells = require "penumbra.plot.cells"
local ticks = require "penumbra.plot.ticks"

-- Ends of an axis: the figure's, or the data's with a little room where they are one place.
local function ends(figure, axis)
  local low, high = program.extent(figure, axis)
  local range = figure[axis .. "range"]
  if range then low, high = range[1], range[2] end
  return ticks.apart(low, high, figure["log" .. axis])
end

-- place(value) -> cell from 0 to cells - 1, or nil outside.
local function scale(low, high, log, count)
  local to = log and math.log or function(x) return x end
  return function(value)
    local share = (to(value) - to(low)) / (to(high) - to(low))
    if share >= -1e-9 and share <= 1 + 1e-9 then return math.floor(math.min(math.max(share, 0), 1) * (count - 1) + 0.5) end
  end
end

local function put_line(put, x, y, to_x, to_y)
  for i = 1, #x do
    local a, b = to_x(x[i]), to_y(y[i])
    local c, d = i > 1 and to_x(x[i - 1]), i > 1 and to_y(y[i - 1])
    if a and b and c and d then
      local count = math.max(math.abs(a - c), math.abs(b - d), 1)
      for k = 0, count do put(math.floor(c + (a - c) * k / count + 0.5), math.floor(d + (b - d) * k / count + 0.5)) end
    elseif a and b then
      put(a, b)
    end
  end
end

local function put_heat(put, layer, columns, rows)
  local low, high = math.huge, -math.huge
  for _, row in ipairs(layer.z) do
    for _, z in ipairs(row) do low, high = math.min(low, z), math.max(high, z) end
  end
  for row = 0, rows - 1 do
    for column = 0, columns - 1 do
      local z = layer.z[row * #layer.z // rows + 1][column * #layer.z[1] // columns + 1]
      put(column, row, cells.shade((z - low) / (high - low), "ascii"))
    end
  end
end

local function put_layers(put, figure, to_x, to_y, columns, rows)
  for _, layer in ipairs(figure.layers) do
    local mark = cells.glyph("ascii", 1, cells.id_of(layer))
    local function marked(column, row, shade) put(column, row, shade or mark) end
    if layer.kind == "heat" then
      put_heat(marked, layer, columns, rows)
    elseif layer.kind == "band" then
      local function faint(column, row) put(column, row, ".") end
      put_line(faint, layer.x, layer.low, to_x, to_y)
      put_line(faint, layer.x, layer.high, to_x, to_y)
    elseif layer.kind == "points" then
      for i = 1, #layer.x do
        local column, row = to_x(layer.x[i]), to_y(layer.y[i])
        if column and row then marked(column, row) end
      end
    else
      put_line(marked, layer.x, layer.y, to_x, to_y)
    end
  end
end

local function middle(low, high, log)
  return log and math.sqrt(low) * math.sqrt(high) or (low + high) / 2
end

-- Both ends and the middle as text, with digits enough to differ.
local function numbers_of(low, high, log)
  local format = log and "%.4g" or ticks.format(low, high, (high - low) / 2, 4)
  return format:format(low), format:format(middle(low, high, log)), format:format(high)
end

-- The numbers of the axis below.
local function foot(left, centre, right, margin, columns)
  local line = (" "):rep(margin) .. left
  local at = margin + columns // 2 - #centre // 2
  if at > #line + 1 and at + #centre + 1 < margin + columns - #right then line = line .. (" "):rep(at - #line) .. centre end
  return line .. (" "):rep(margin + columns - #right - #line) .. right
end

-- The figure as lines, `width` x `height` characters.
return function(figure, width, height, options)
  local x1, x2 = ends(figure, "x")
  local y1, y2 = ends(figure, "y")
  local below, half, above = numbers_of(y1, y2, figure.logy)
  local margin = math.max(#below, #half, #above, 8) + 2 -- columns left of the frame
  local columns, rows = math.max(width - margin - 1, 2), height - 2 - (figure.xlabel and 1 or 0)
  local grid = {}
  put_layers(function(column, row, mark)
    grid[row] = grid[row] or {}
    grid[row][column] = mark
  end, figure, scale(x1, x2, figure.logx, columns), scale(y1, y2, figure.logy, rows), columns, rows)
  local lines, numbers = {}, { [rows - 1] = above, [0] = below, [(rows - 1) // 2] = half }
  for row = rows - 1, 0, -1 do
    local line = {}
    for column = 0, columns - 1 do line[#line + 1] = grid[row] and grid[row][column] or " " end
    local text = numbers[row] or ""
    lines[#lines + 1] = ((" "):rep(margin - 2 - #text) .. text .. " |" .. table.concat(line)):gsub("%s+$", "")
  end
  lines[#lines + 1] = (" "):rep(margin - 1) .. "+" .. ("-"):rep(columns)
  local left, centre, right = numbers_of(x1, x2, figure.logx)
  lines[#lines + 1] = foot(left, centre, right, margin, columns)
  if figure.xlabel then lines[#lines + 1] = options.centred(figure.xlabel, width) end
  return lines
end
