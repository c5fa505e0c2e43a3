-- screen_to_svg.lua -- a terminal's screen, as `tmux capture-pane -e -p` prints it, as a picture in SVG.
--   lua screen_to_svg.lua COLUMNS TITLE <screen >picture.svg
-- Depends on: nothing.  Used by: make.sh.
local columns, title = assert(math.tointeger(tonumber(arg[1]))), arg[2] or ""

local WIDTH, HEIGHT, PAD, BAR = 8.4, 18, 14, 30 -- of a cell, in pixels; around the text; of the window's bar
local FORE, BACK, DIM = "#d7dce6", "#161a22", "#8a93a6"
local PALETTE = { [0] = "#2b3140", "#f0766a", "#8fd18a", "#e8c66a", "#7aa8ff", "#d08fe0", "#6fd0d8", "#d7dce6",
                  "#8a93a6", "#ff9a8f", "#b0e6aa", "#ffe08f", "#a5c4ff", "#e6b3f2", "#9be8ee", "#ffffff" }

-- ---- colours ----

local function of_256(n)
  if n < 16 then return PALETTE[n] end
  if n >= 232 then
    local grey = 8 + 10 * (n - 232)
    return ("#%02x%02x%02x"):format(grey, grey, grey)
  end
  local steps = { [0] = 0, 95, 135, 175, 215, 255 }
  n = n - 16
  return ("#%02x%02x%02x"):format(steps[n // 36], steps[n // 6 % 6], steps[n % 6])
end

-- Apply "1;31" and the like to a style.
local function apply(style, codes)
  local list = {}
  for code in (codes == "" and "0" or codes):gmatch "%d+" do list[#list + 1] = tonumber(code) end
  local i = 1
  while i <= #list do
    local code = list[i]
    if code == 0 then
      style = {}
    elseif code == 1 then style.bold = true
    elseif code == 2 then style.dim = true
    elseif code == 3 then style.italic = true
    elseif code == 4 then style.underline = true
    elseif code == 7 then style.reverse = true
    elseif code == 22 then style.bold, style.dim = nil, nil
    elseif code == 23 then style.italic = nil
    elseif code == 24 then style.underline = nil
    elseif code == 27 then style.reverse = nil
    elseif code >= 30 and code <= 37 then style.fore = PALETTE[code - 30]
    elseif code >= 90 and code <= 97 then style.fore = PALETTE[code - 82]
    elseif code == 39 then style.fore = nil
    elseif code >= 40 and code <= 47 then style.back = PALETTE[code - 40]
    elseif code >= 100 and code <= 107 then style.back = PALETTE[code - 92]
    elseif code == 49 then style.back = nil
    elseif (code == 38 or code == 48) and list[i + 1] == 5 then
      style[code == 38 and "fore" or "back"] = of_256(list[i + 2])
      i = i + 2
    elseif (code == 38 or code == 48) and list[i + 1] == 2 then
      style[code == 38 and "fore" or "back"] = ("#%02x%02x%02x"):format(list[i + 2], list[i + 3], list[i + 4])
      i = i + 4
    end
    i = i + 1
  end
  return style
end

local function copy(style)
  local made = {}
  for key, value in pairs(style) do made[key] = value end
  return made
end

-- ---- lines into runs of one style ----

local function runs_of(line, style)
  local runs, column, at = {}, 0, 1
  while at <= #line do
    local codes, after = line:match("^\27%[([%d;:]*)m()", at)
    if codes then
      style, at = apply(copy(style), codes), after
    elseif line:byte(at) == 27 or line:byte(at) < 32 then
      at = line:match("^\27[()]%a()", at) or at + 1 -- other escapes: none are shown
    else
      local text, rest = line:match("^([^\27%c]+)()", at)
      runs[#runs + 1] = { text = text, column = column, width = utf8.len(text), style = style }
      column, at = column + utf8.len(text), rest
    end
  end
  return runs, style
end

local function escape(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

local function draw_run(out, run, y)
  local style, x, width = run.style, PAD + run.column * WIDTH, run.width * WIDTH
  local fore, back = style.fore or style.dim and DIM or FORE, style.back
  if style.reverse then fore, back = back or BACK, fore end
  if back then
    out[#out + 1] = ('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>\n'):format(x, y - 13.5, width, HEIGHT, back)
  end
  if not run.text:find "%S" then return end
  local attributes = (fore ~= FORE and (' fill="%s"'):format(fore) or "") .. (style.bold and ' font-weight="bold"' or "")
    .. (style.italic and ' font-style="italic"' or "") .. (style.underline and ' text-decoration="underline"' or "")
  out[#out + 1] = ('<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>\n'):format(x, y, width, attributes, escape(run.text))
end

local lines = {}
for line in io.lines() do lines[#lines + 1] = line end
while #lines > 0 and not lines[#lines]:gsub("\27%[[%d;]*m", ""):find "%S" do lines[#lines] = nil end

local total_width, total_height = 2 * PAD + columns * WIDTH, BAR + PAD + #lines * HEIGHT + PAD // 2
local out = {
  ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">\n'):format(
    total_width, total_height, total_width, total_height),
  ("<title>%s</title>\n<style>text { white-space: pre }</style>\n"):format(escape(title)), -- browsers that forgot xml:space
  ('<rect width="100%%" height="100%%" rx="8" fill="%s"/>\n'):format(BACK),
  '<circle cx="18" cy="16" r="5" fill="#f0766a"/><circle cx="36" cy="16" r="5" fill="#e8c66a"/>',
  '<circle cx="54" cy="16" r="5" fill="#8fd18a"/>\n',
  ('<text x="50%%" y="20" fill="%s" font-family="system-ui, sans-serif" font-size="12" text-anchor="middle">%s</text>\n'):format(
    DIM, escape(title)),
  ('<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="14" fill="%s" '):format(FORE),
  'xml:space="preserve">\n',
}
local style = {}
for i, line in ipairs(lines) do
  local runs
  runs, style = runs_of(line, style)
  for _, run in ipairs(runs) do draw_run(out, run, BAR + PAD + (i - 1) * HEIGHT + 5) end
end
out[#out + 1] = "</g>\n</svg>\n"
io.write(table.concat(out))
