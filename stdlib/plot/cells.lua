-- plot_cells.lua -- a figure in characters.  gnuplot draws it twice: its terminal `dumb` gives frame, marks and words, and sixel
-- gives the curves as pixels, which become braille or block characters here and are laid over the frame.
-- Depends on: penumbra.plot.program, plot_ticks.  Used by: penumbra.plot.show, plot_plain.
local program = require "penumbra.plot.program"
local ticks = require "penumbra.plot.ticks"

local cells = {}

-- Pixels of a cell, columns and rows, and what its bits look like.
local styles = {
  braille = { across = 2, down = 4 },
  block = { across = 2, down = 2 },
  ascii = { across = 1, down = 1 },
  heat = { across = 1, down = 2 },
}

-- ---- the program ----

-- Each colour of the figure is a number from 1, drawn in a shade of its own: six levels of red, green and blue.
local function shade(id)
  return ("'#%02x%02x%02x'"):format(51 * (id % 6), 51 * (id // 6 % 6), 51 * (id // 36 % 6))
end

-- The numbers: colours 1 .. 90, the same of faint curves (edges of bands) 101 .. 190, grey.
local GREY, FAINT, BACKGROUND = 200, 100, 215

local function id_of(layer)
  return layer.colour == "grey" and GREY or (layer.colour - 1) % 90 + 1
end

local drawn = {
  line = function(layer, lc, style)
    local main = ("using 1:2 with lines lw 1 lc rgb %s%s"):format(lc, layer.dashed and " dt 2" or "")
    if layer.low then return { main, ("using 1:3:(0):($4-$3) with vectors nohead lw 1 lc rgb %s"):format(lc) } end
    if layer.marks then
      return { main, ("using 1:2 with points pt %s lc rgb %s"):format(style == "ascii" and "0" or "1 ps 0.3", lc) }
    end
    return { main }
  end,
  points = function(layer, lc)
    return { ("using 1:2 with points pt %s lc rgb %s"):format(layer.marks and "2 ps 0.3" or "0", lc) }
  end,
  band = function(layer)
    local lc = shade(FAINT + id_of(layer))
    return { ("using 1:2 with lines lw 1 lc rgb %s"):format(lc), ("using 1:3 with lines lw 1 lc rgb %s"):format(lc) }
  end,
  heat = function() return { "using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder fc palette" } end,
}

local function plot_command(figure, style)
  local parts = {}
  for k, layer in ipairs(figure.layers) do
    for _, part in ipairs(drawn[layer.kind](layer, shade(id_of(layer)), style)) do
      parts[#parts + 1] = ("$d%d %s notitle"):format(k, part)
    end
  end
  return "plot " .. table.concat(parts, ", ") .. "\n"
end

-- The outline of the boxes of a histogram, as a line.
local function outlined(boxes)
  local layer = { kind = "line", x = { boxes.low[1] }, y = { 0 }, label = boxes.label, colour = boxes.colour }
  for i = 1, #boxes.x do
    local n = #layer.x
    layer.x[n + 1], layer.y[n + 1] = boxes.low[i], boxes.y[i]
    layer.x[n + 2], layer.y[n + 2] = boxes.high[i], boxes.y[i]
  end
  layer.x[#layer.x + 1], layer.y[#layer.y + 1] = boxes.high[#boxes.x], 0
  return layer
end

-- The figure as it is drawn in characters: without boxes.
function cells.figure(figure)
  local layers = {}
  for k, layer in ipairs(figure.layers) do layers[k] = layer.kind == "boxes" and outlined(layer) or layer end
  return setmetatable({ layers = layers }, { __index = figure })
end

-- Columns and rows that the inside of the frame will have, or a little fewer.
local function room_of(figure, width, height)
  local low, high = program.extent(figure, "y")
  local range = figure.yrange or { low, high }
  local format = ticks.axis_format(range[1], range[2])
  local numbers = math.max(#format:format(range[1]), #format:format(range[2]))
  return { columns = math.max(width - numbers - 6, 4), rows = math.max(height - (figure.xlabel and 3 or 2), 3) }
end

-- Draws the words, then the pixels of the frame's inside; "\1" begins what is for the reader of the output.
function cells.program(figure, style, width, height)
  local at, out, plot = styles[style], { "set encoding utf8\nset print '-'\n" }, plot_command(figure, style)
  program.data(figure, out)
  out[#out + 1] = "unset key\nunset colorbox\n" .. (style == "heat" and figure.grey and "set palette gray\n" or program.palette)
  program.axes(figure, out, room_of(figure, width, height))
  out[#out + 1] = "set size noratio\n"
  out[#out + 1] = ("set terminal dumb size %d,%d mono noenhanced\n"):format(width, height)
  if figure.xlabel then out[#out + 1] = ("set xlabel %s\n"):format(program.quoted(figure.xlabel)) end
  out[#out + 1] = "set border 3\nset tics nomirror in scale 1\nset ytics scale 0\n"
  out[#out + 1] = "set tmargin 0\nset rmargin 2\nplot NaN\n"
  out[#out + 1] = "print \"\\001region \", GPVAL_TERM_XMIN, GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX\n"
  out[#out + 1] = ("set terminal sixelgd size %d*(GPVAL_TERM_XMAX-GPVAL_TERM_XMIN+1),%d*(GPVAL_TERM_YMAX-GPVAL_TERM_YMIN+1) "
    .. "notruecolor background '#ffffff'\n"):format(at.across, at.down)
  out[#out + 1] = "unset tics\nunset border\nunset xlabel\nset lmargin at screen 0\nset rmargin at screen 1\n"
    .. "set bmargin at screen 0\nset tmargin at screen 1\n"
  out[#out + 1] = plot
  return table.concat(out)
end

-- ---- sixels ----

-- The pixels of a sixel picture: rows of palette numbers (nil: background), and the palette as {r, g, b} in percent.
function cells.pixels(text)
  local palette, rows, x, top, colour = {}, {}, 0, 0, nil
  local place = select(2, text:find("\27P[%d;]*q", 1)) + 1
  local function paint(byte, count)
    local bits = byte - 63
    for bit = 0, 5 do
      if bits >> bit & 1 == 1 then
        local row = rows[top + bit] or {}
        rows[top + bit] = row
        for i = x, x + count - 1 do row[i] = colour end
      end
    end
    x = x + count
  end
  while place <= #text do
    local c = text:byte(place)
    if c == 35 then -- #number or #number;2;r;g;b
      local id, rest, stop = text:match("^#(%d+)([;%d]*)()", place)
      local r, g, b = rest:match "^;2;(%d+);(%d+);(%d+)"
      if r then palette[tonumber(id)] = { tonumber(r), tonumber(g), tonumber(b) } else colour = tonumber(id) end
      place = stop
    elseif c == 33 then -- !count and a character
      local count, stop = text:match("^!(%d+)()", place)
      paint(text:byte(stop), tonumber(count))
      place = stop + 1
    elseif c == 34 then -- "aspect;aspect;width;height
      place = text:match('^"[%d;]*()', place)
    elseif c == 36 then
      x, place = 0, place + 1
    elseif c == 45 then
      x, top, place = 0, top + 6, place + 1
    elseif c == 27 then
      break
    else
      if c >= 63 and c <= 126 then paint(c, 1) end
      place = place + 1
    end
  end
  return rows, palette
end

-- ---- characters ----

-- Bits of the dots of a braille cell, by row and column; U+2800 is the empty one.
local dots = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } }
local quadrants = { [0] = " ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█" }
local marks = { "*", "o", "+", "x", "#", "%", "@", "&" }

local function glyph(style, bits, id)
  if style == "braille" then return utf8.char(0x2800 + bits) end
  if style == "block" then return quadrants[bits] end
  return id >= FAINT and "." or marks[(id - 1) % #marks + 1]
end

local function bit_of(style, row, column)
  if style == "braille" then return dots[row][column] end
  return 1 << (2 * (row - 1) + column - 1)
end

local function id_of_rgb(rgb)
  local function level(percent) return (percent + 10) // 20 end
  return level(rgb[1]) + 6 * level(rgb[2]) + 36 * level(rgb[3])
end

-- Whose cell it is when curves meet: the later one's, and of those in full colour before faint and grey ones.
local function over(id, other)
  if (id < FAINT) ~= (other < FAINT) then return math.min(id, other) end
  return math.max(id, other)
end

-- Dots of a cell for one pixel: in braille a few points that stand alone have four, or they would not be seen.
local function dots_of(style, i, j, stout)
  if style ~= "braille" or not stout then return bit_of(style, i, j) end
  return i <= 2 and 0x1b or 0xe4
end

-- The dots of one cell and whose it is; 0 when it is empty.  Of faint curves every third dot is kept.
local function cell_of(rows, ids, stout, style, row, column)
  local at, bits, owner = styles[style], 0, nil
  for i = 0, at.down - 1 do
    local line = rows[at.down * row + i]
    for j = 0, line and at.across - 1 or -1 do
      local x = at.across * column + j
      local id = ids[line[x]] or BACKGROUND
      if id ~= BACKGROUND and (id < FAINT or id == GREY or x % 3 == 0) then
        bits, owner = bits | dots_of(style, i + 1, j + 1, stout[id]), owner and over(id, owner) or id
      end
    end
  end
  return bits, owner
end

local FEW = 500 -- points

-- Cells of the inside: grid[row][column] = { glyph, id }, from the top left, counted from 0.
local function curves(rows, palette, figure, style, region)
  local grid, ids, stout = {}, {}, {}
  for k, rgb in pairs(palette) do ids[k] = id_of_rgb(rgb) end
  for _, layer in ipairs(figure.layers) do
    if layer.kind == "points" and not layer.dot and #layer.x <= FEW then stout[id_of(layer)] = true end
  end
  for row = 0, region.rows - 1 do
    grid[row] = {}
    for column = 0, region.columns - 1 do
      local bits, owner = cell_of(rows, ids, stout, style, row, column)
      if bits > 0 then grid[row][column] = { glyph(style, bits, owner), owner } end
    end
  end
  return grid
end

-- A heat map: two pixels to a cell, as colours of the upper half block or as shades.
local shades = { "░", "▒", "▓", "█" }
local ascii_shades = { ".", ":", "-", "=", "+", "*", "#", "@" }

-- The shade of a share from 0 to 1.
function cells.shade(share, style)
  local list = style == "ascii" and ascii_shades or shades
  if share ~= share then share = 0 end
  return list[math.min(math.floor(share * #list) + 1, #list)]
end

local function heat(rows, palette, region, options)
  local grid = {}
  for row = 0, region.rows - 1 do
    grid[row] = {}
    for column = 0, region.columns - 1 do
      local upper, lower = palette[(rows[2 * row] or {})[column]], palette[(rows[2 * row + 1] or {})[column]]
      if upper and lower then
        if options.colour then
          grid[row][column] = { "▀", upper = upper, lower = lower }
        else
          grid[row][column] = { cells.shade((upper[1] + lower[1]) / 200, options.style), 1 }
        end
      end
    end
  end
  return grid
end

-- ---- the drawing ----

-- Colours of 256 that are seen on dark and on light ground alike.
local inks = { 33, 208, 36, 170, 178, 39, 245 }

local function painted(cell, options)
  if not options.colour then return cell[1] end
  if cell.upper then
    local function rgb(c) return ("2;%d;%d;%d"):format(255 * c[1] // 100, 255 * c[2] // 100, 255 * c[3] // 100) end
    return ("\27[38;%s;48;%sm%s\27[0m"):format(rgb(cell.upper), rgb(cell.lower), cell[1])
  end
  if cell[2] == GREY then return "\27[90m" .. cell[1] .. "\27[0m" end
  return ("\27[%s38;5;%dm%s\27[0m"):format(cell[2] > FAINT and "2;" or "", inks[(cell[2] % FAINT - 1) % #inks + 1], cell[1])
end

-- Puts the letter of a series on its cells at every `period`-th column from `phase` on, or on one cell where none of them is there.
local function put_letter(grid, region, id, period, phase)
  local letter, lone, found = cells.letter(id), nil, false
  for row = 0, region.rows - 1 do
    for column = 0, region.columns - 1 do
      local cell = grid[row][column]
      if cell and cell[2] == id then
        lone = lone or cell
        if column % period == phase % period then cell[1], found = letter, true end
      end
    end
  end
  if lone and not found then lone[1] = letter end
end

-- Without colour, series are told apart by letters: a curve's at columns of its own, of points each one.
local function put_letters(grid, region, figure)
  if program.labels(figure) < 2 then return end
  local several = {}
  for _, layer in ipairs(figure.layers) do
    if layer.label then several[#several + 1] = layer end
  end
  for k, layer in ipairs(several) do
    put_letter(grid, region, id_of(layer), layer.kind == "points" and 1 or 12, math.floor(12 * k / #several))
  end
end

function cells.letter(id) return id == GREY and "." or string.char(65 + (id - 1) % 26) end

-- The frame: gnuplot's marks of the lower axis point inwards; here they are on the line, and the inside is the curves'.  Those of
-- the other axis, which would be among them, are where a number is.
local corner, mark_left, mark_below, upright, level = "└", "┤", "┬", "│", "─"

local function frame_of(line, above, region, row, column, ascii)
  local bottom = row == region.rows - 1
  if column == region.left then
    local marked = bottom or line:sub(1, column):find "%d"
    if ascii then return marked and "+" or "|" end
    return bottom and corner or marked and mark_left or upright
  end
  if not bottom then return " " end
  local marked = above:sub(column + 1, column + 1) == "+"
  if ascii then return marked and "+" or "-" end
  return marked and mark_below or level
end

-- A line of the words with the cells of its row over it; above: the line before.
local function merged(line, above, row, grid, region, options)
  local out = { line:sub(1, region.left) .. (" "):rep(region.left - #line) }
  for column = region.left, region.left + region.columns - 1 do
    local cell = grid[row][column - region.left]
    out[#out + 1] = cell and painted(cell, options) or frame_of(line, above, region, row, column, options.style == "ascii")
  end
  return (table.concat(out):gsub(" +$", ""))
end

-- What gnuplot gave to the program above, as lines; options: { style, colour }.
function cells.lines(output, figure, options)
  local words, left, right, bottom, top, rest = output:match "^(.-)\1region +([%d.]+) ([%d.]+) ([%d.]+) ([%d.]+)\n(.*)$"
  if not words then return nil, "its output is not understood" end
  local lines = {}
  for line in words:gsub("\f", ""):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  local height = options.drawing
  local region = { left = math.floor(left), columns = math.floor(right - left) + 1, rows = math.floor(top - bottom) + 1 }
  region.top = height - 1 - math.floor(top)
  local rows, palette = cells.pixels(rest)
  local grid = options.heat and heat(rows, palette, region, options) or curves(rows, palette, figure, options.style, region)
  if not options.colour and options.style ~= "ascii" and not options.heat then put_letters(grid, region, figure) end
  local out = {}
  for k, line in ipairs(lines) do
    local row = k - 1 - region.top
    if row >= 0 and row < region.rows then
      out[#out + 1] = merged(line, lines[k - 1] or "", row, grid, region, options)
    else
      out[#out + 1] = (line:gsub("%s+$", ""))
    end
  end
  while #out > 0 and out[#out] == "" do out[#out] = nil end
  return out
end

-- The palette as eight cells of colour, for the legend.
function cells.bar()
  local anchors, out = { { 27, 0, 33 }, { 23, 32, 55 }, { 13, 57, 55 }, { 37, 79, 38 }, { 99, 91, 15 } }, {}
  for _, c in ipairs(anchors) do out[#out + 1] = painted({ "▀", upper = c, lower = c }, { colour = true }) end
  return table.concat(out)
end

cells.painted = painted
cells.id_of = id_of
cells.glyph = glyph

return cells
