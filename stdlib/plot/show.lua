-- plot_show.lua -- shows a figure: on the terminal as graphics or characters, in a file, or as a string.  gnuplot draws; where it
-- is not installed the terminal gets plain characters and a line that says what to install.
-- Depends on: penumbra.colour, penumbra.files, plot_program, plot_cells, plot_plain.  Used by: penumbra.plot, the reproductions.
local colour = require "penumbra.colour"
local program = require "penumbra.plot.program"
local cells = require "penumbra.plot.cells"

-- reserved: lines of the window that somebody else wants beside a picture.  display(svg, words): who shows pictures instead of the
-- terminal, as a notebook does; nil: nobody.
local show = { reserved = 0, display = nil }

local INSTALL = "sudo apt install gnuplot-nox"

-- ---- gnuplot ----

-- What a plain drawing says of its reason, and a file that cannot be written.
local lacking = { missing = "gnuplot is not installed", poor = "gnuplot is installed without this way of drawing" }

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a" or ""
  if file then file:close() end
  return text
end

-- gnuplot's own sentence: the line that its prompt's mark `^` stands under comes before it.
local function complaint(text)
  local last = text:match "([^\n]+)%s*$" or "it gave no reason"
  return (last:gsub('^"[^"]*"[, ]*', ""):gsub("^%s*line %d+: ", ""))
end

-- Runs a program with gnuplot and gives what it wrote on standard output; nil and why, which is "missing" where there is none and
-- "poor" where it was built without a way of drawing that is asked for.
-- The command has no word of the caller's in it: the program is a file with a name from os.tmpname.
function show.gnuplot(text)
  local input = os.tmpname()
  local named, errors = pcall(os.tmpname)
  local ok, result, why = pcall(function()
    if not named then error(errors, 0) end
    local written, problem = require "penumbra.files".put(input, text)
    if not written then return nil, problem end
    local pipe = assert(io.popen(("env -u LD_PRELOAD gnuplot -d '%s' 2>'%s'"):format(input, errors), "r"))
    local output = pipe:read "a"
    local fine, _, code = pipe:close()
    if fine then return output end
    if code == 127 then return nil, "missing" end
    local reason = complaint(read(errors))
    return nil, reason:find("unknown or ambiguous terminal", 1, true) and "poor" or reason
  end)
  os.remove(input)
  if named then os.remove(errors) end
  if not ok then error(result, 0) end
  return result, why
end

function show.installed() return os.execute "command -v gnuplot >/dev/null 2>&1" or false end

-- ---- the terminal ----

-- What the program knows about the terminal; scripts under another Lua ask the shell.
local function terminal()
  local fine, known = pcall(require, "penumbra.terminal")
  return fine and known or nil
end

local function is_terminal()
  local known = terminal()
  if known then return known.is_terminal(1) end
  return os.execute "test -t 1" or false
end

-- Columns and rows of the window; 80 x 24 where nobody knows.
local function window()
  if not is_terminal() then return 80, 24 end
  local known = terminal()
  if known then return known.size() end
  local pipe = io.popen("stty size </dev/tty 2>/dev/null", "r")
  local rows, columns = (pipe and pipe:read "a" or ""):match "^(%d+) (%d+)"
  if pipe then pipe:close() end
  rows, columns = tonumber(rows) or 0, tonumber(columns) or 0
  return columns > 0 and columns or 80, rows > 0 and rows or 24
end

local ways = { sixel = true, kitty = true, block = true, braille = true, ascii = true }

local function utf8_locale()
  local set = os.getenv "LC_ALL"
  if not set or set == "" then set = os.getenv "LC_CTYPE" end
  if not set or set == "" then set = os.getenv "LANG" end
  return set and set:lower():find "utf%-?8" and true or false
end

-- Terminals that are known to draw pixels.  They are not asked (ESC [ c): the answer would mix with what is typed ahead.  Inside
-- tmux and screen the variables are those of the terminal around them, and graphics do not come through.
local function graphics()
  local term, name = os.getenv "TERM" or "", os.getenv "TERM_PROGRAM" or ""
  if os.getenv "TMUX" or term:find "^screen" or term:find "^tmux" then return end
  if term == "xterm-kitty" or os.getenv "KITTY_WINDOW_ID" or term == "xterm-ghostty" or name == "ghostty" then return "kitty" end
  if term:find "^foot" or term:find "^mlterm" or term:find "^contour" or term:find "sixel" or name == "WezTerm"
    or name == "iTerm.app" or name == "mintty" then
    return "sixel"
  end
end

-- How to draw: PENUMBRA_PLOT, or the best that standard output can show.
local function way_of(owner, text_only)
  local asked = os.getenv "PENUMBRA_PLOT"
  if asked == "" then asked = nil end
  if asked and not ways[asked] then
    error(("%s: PENUMBRA_PLOT must be sixel, kitty, block, braille or ascii, got '%s'"):format(owner, asked), 0)
  end
  if asked and not (text_only and (asked == "sixel" or asked == "kitty")) then return asked end
  if text_only then return "braille" end
  return is_terminal() and graphics() or utf8_locale() and "braille" or "ascii"
end

-- ---- in characters ----

local function plain_text(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  return (text:gsub("\xc2[\x80-\x9f]", " "):gsub("%c", " "))
end

local function cut(text, width) return program.cut(plain_text(text), width) end

local function centred(text, width)
  text = cut(text, width)
  return (" "):rep((width - utf8.len(text)) // 2) .. text
end

local samples = { braille = "⠤", block = "▄", heat = "▄" }

local function sample(layer, options, several)
  local id = cells.id_of(layer)
  if options.style == "ascii" then return cells.glyph("ascii", 1, id) end
  if options.colour then return cells.painted({ "━━", id }, options) end
  local short = samples[options.style]
  return several and short .. cells.letter(id) .. short or short .. short
end

-- The legend as lines of at most `width` characters.
local function legend(figure, options, width)
  local lines, line, used, several = {}, {}, 0, program.labels(figure) > 1
  for _, layer in ipairs(figure.layers) do
    if layer.label then
      local label = cut(layer.label, width - 8)
      local size = utf8.len(label) + 7
      if used > 0 and used + size > width then
        lines[#lines + 1], line, used = table.concat(line, "   "), {}, 0
      end
      line[#line + 1], used = sample(layer, options, several) .. " " .. label, used + size
    end
  end
  if used > 0 then lines[#lines + 1] = table.concat(line, "   ") end
  return lines
end

local function scale_of(figure, options)
  for _, layer in ipairs(figure.layers) do
    if layer.kind == "heat" then
      local low, high = math.huge, -math.huge
      for _, row in ipairs(layer.z) do
        for _, z in ipairs(row) do low, high = math.min(low, z), math.max(high, z) end
      end
      local bar = options.style == "ascii" and ".:-=+*#@" or "░▒▓█"
      if options.colour then bar = cells.bar() end
      return ("%s%.4g %s %.4g"):format(figure.zlabel and cut(figure.zlabel, 30) .. ": " or "", low, bar, high)
    end
  end
end

local function is_heat(figure)
  for _, layer in ipairs(figure.layers) do
    if layer.kind == "heat" then return true end
  end
  return false
end

-- Columns and lines of the drawing in which a unit is as long across as upwards; a character is twice as high as wide.
local function square_size(figure, width, height)
  local x, y = figure.xrange, figure.yrange
  local ratio, lines, margin = 2 * (x[2] - x[1]) / (y[2] - y[1]), height - 3, 10
  if ratio * lines + margin > width then lines = (width - margin) / ratio end
  return math.floor(ratio * lines + margin + 0.5), math.max(math.floor(lines + 3.5), 8)
end

-- What stands below the drawing.
local function feet(figure, options, width)
  local lines = legend(figure, options, width)
  lines[#lines + 1] = scale_of(figure, options)
  return lines
end

-- Head lines, then the drawing of the given height, then the legend: never more than `width` columns and `height` lines.
function show.text(owner, figure, options)
  local width, head = options.width, {}
  figure = cells.figure(figure)
  if figure.title then head[#head + 1] = centred(figure.title, width) end
  if figure.ylabel then head[#head + 1] = cut(figure.ylabel, width) end
  local foot = feet(figure, options, width)
  options.heat, options.centred = is_heat(figure), centred
  options.drawing = math.max(options.height - #head - #foot, 8)
  if figure.square then width, options.drawing = square_size(figure, width, options.drawing) end
  figure.grey = not options.colour
  local output, why = show.gnuplot(cells.program(figure, options.heat and "heat" or options.style, width, options.drawing))
  local lines
  if output then
    lines, why = cells.lines(output, figure, options)
  elseif lacking[why] then
    lines = require "penumbra.plot.plain" (figure, width, options.drawing, options)
    options.style = "ascii" -- the marks that it draws with
    foot = feet(figure, options, options.width)
  end
  if not lines then error(("%s: gnuplot failed: %s"):format(owner, why), 0) end
  table.move(lines, 1, #lines, #head + 1, head)
  table.move(foot, 1, #foot, #head + 1, head)
  return table.concat(head, "\n") .. "\n", lacking[why]
end

-- ---- as graphics ----

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(text)
  local out = {}
  for i = 1, #text, 3 do
    local a, b, c = text:byte(i, i + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 1, 4 do
      local index = bits >> (24 - 6 * k) & 63
      out[#out + 1] = k > 2 and (k == 3 and not b or k == 4 and not c) and "=" or alphabet:sub(index + 1, index + 1)
    end
  end
  return table.concat(out)
end
show.base64 = base64

-- A PNG in kitty's protocol, scaled to columns x rows; chunks of at most 4096 characters.
function show.kitty(png, columns, rows)
  local text, out = base64(png), {}
  for start = 1, #text, 4096 do
    out[#out + 1] = ("\27_G%sm=%d;%s\27\\"):format(start == 1 and ("a=T,f=100,c=%d,r=%d,"):format(columns, rows) or "",
      start + 4096 <= #text and 1 or 0, text:sub(start, start + 4095))
  end
  return table.concat(out) .. "\n"
end

local function graphic(owner, figure, way, columns, rows)
  local kitty = way == "kitty"
  local across, down = kitty and 10 or 8, kitty and 20 or 16 -- pixels of a cell; kitty scales the picture to the cells
  local output, why = show.gnuplot(program.picture(figure, kitty and "png" or "sixel", columns * across, rows * down))
  if not output then
    if lacking[why] then return end
    error(("%s: gnuplot failed: %s"):format(owner, why), 0)
  end
  return kitty and show.kitty(output, columns, rows) or output .. "\n"
end

-- ---- files ----

local function format_of(owner, path)
  if path:find("\0", 1, true) then error(owner .. ": a file name must not contain a zero byte", 0) end
  local ending = path:match "%.(%w+)$"
  ending = ending and ending:lower()
  for _, format in ipairs(program.formats) do
    if format == ending then return format end
  end
  error(("%s: cannot tell from '%s' what to write; the name must end in .%s"):format(owner, path,
    table.concat(program.formats, ", ."):gsub(", (%.%w+)$", " or %1")), 0)
end

function show.picture(owner, figure, format, options, what)
  local output, why = show.gnuplot(program.picture(figure, format, options.width or 800, options.height or 500))
  if output and #output > 0 then return output end
  if lacking[why] then error(("%s: cannot write %s: %s; install it with: %s"):format(owner, what, lacking[why], INSTALL), 0) end
  error(("%s: cannot write %s: gnuplot failed: %s"):format(owner, what, why or "it drew nothing"), 0)
end

-- The file appears complete or not at all.
local function save(owner, figure, options)
  local path = options.file
  local output = show.picture(owner, figure, format_of(owner, path), options, path)
  local ok, why = require "penumbra.files".put(path, output)
  if not ok then error(("%s: cannot write %s"):format(owner, why), 0) end
  return path
end

-- ---- the door ----

-- Shows the figure as the options say: file=, as= ("text", "svg"), width=, height=.  Gives the path, the string, or nothing.
function show.figure(owner, figure, options)
  if options.file then return save(owner, figure, options) end
  if options.as == "svg" then return show.picture(owner, figure, "svg", options, "the picture") end
  if options.as == "text" then
    return (show.text(owner, figure, { width = options.width or 80, height = options.height or 22, style = way_of(owner, true) }))
  end
  if show.display and show.installed() then
    return show.display(show.picture(owner, figure, "svg", options, "the picture"), figure.title or "picture")
  end
  local columns, rows = window()
  local width = math.max(math.min(options.width or math.min(columns, 120), columns), 20)
  local height = options.height or math.max(math.min(rows - 2 - show.reserved, 30), 8)
  local way = way_of(owner)
  if way == "kitty" or way == "sixel" then
    local drawing = graphic(owner, figure, way, width, height)
    if drawing then
      io.write(drawing)
      return
    end
    way = "braille"
  end
  local text, missing = show.text(owner, figure, { width = width, height = height, style = way, colour = colour.wanted(io.stdout) })
  io.write(text)
  if missing then io.write(missing, ": for finer plots, ", INSTALL, "\n") end
end

return show
