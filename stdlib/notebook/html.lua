-- html.lua -- what the prompt shows as text, as HTML: plans, fits, ledgers and other pages of labels and values become tables, as
-- do lists of records and matrices.  The text is the only source, so that both always say the same.
-- Depends on: penumbra.escape.  Used by: penumbra.notebook.
local escaped = require "penumbra.escape"

local LEAST_ROWS = 2
local LEFT = ' style="text-align:left"'

local function lines_of(text)
  local out = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do out[#out + 1] = line end
  return out
end

-- What two blanks or more part.
local function cells_of(line)
  local out = {}
  for cell in (line:gsub("%s%s+", "\n") .. "\n"):gmatch "([^\n]*)\n" do
    if cell ~= "" then out[#out + 1] = cell end
  end
  return out
end

local function tag(name, inner, attributes)
  return ("<%s%s>%s</%s>"):format(name, attributes or "", inner, name)
end

local function table_of(caption, rows)
  local head = caption ~= "" and tag("caption", tag("b", escaped(caption)), ' style="text-align:left;caption-side:top"') or ""
  return tag("table", head .. tag("tbody", table.concat(rows)))
end

-- ---- pages of labels and values ----

local LABEL = 17 -- columns of a plan's labels, which may touch the value

-- A line of a page as its label and what is behind it; nil for one that goes on with the line before.
local function labelled(line)
  local label, rest = line:match "^  (%S.-)%s%s+(%S.*)$"
  if label and #label <= LABEL + 1 then return label, rest end
  if line:find "^  %S" and line:sub(3 + LABEL, 3 + LABEL) == " " and #line > 4 + LABEL then
    return (line:sub(3, 2 + LABEL):gsub("%s+$", "")), line:sub(4 + LABEL)
  end
end

local FILLED = 78 -- columns, to which lines of text are filled

-- Whether a line ended although the first word of the next one had room in it: a new sentence, not text that goes on.
local function broken(line, next_line)
  local word = next_line:match "%S+"
  return (utf8.len(line) or #line) + 1 + (utf8.len(word) or #word) <= FILLED
end

local function page(lines)
  local rows, labels = {}, 0
  for i = 2, #lines do
    local label, rest = labelled(lines[i])
    if label then
      rows[#rows + 1] = { label = label, cells = cells_of(rest) }
      labels = labels + 1
    elseif lines[i]:find "^  %S" then -- a remark
      rows[#rows + 1] = { cells = { lines[i]:sub(3) } }
    elseif #rows == 0 or not lines[i]:find "^   " then
      return nil
    else
      local cells, more = rows[#rows].cells, cells_of((lines[i]:gsub("^%s+", "")))
      if #more > 1 and #cells > 1 then
        rows[#rows + 1] = { label = "", cells = more }
      else
        cells[#cells] = cells[#cells] .. (broken(lines[i - 1], lines[i]) and "\n" or " ") .. table.concat(more, "  ")
      end
    end
  end
  if labels < LEAST_ROWS then return nil end
  local width = 1
  for _, row in ipairs(rows) do width = math.max(width, #row.cells) end
  for i, row in ipairs(rows) do
    local cells = { row.label and tag("th", escaped(row.label), LEFT) or nil }
    local whole = row.label and width or width + 1
    for k, cell in ipairs(row.cells) do
      local wide = k == #row.cells and k < whole and (' colspan="%d"'):format(whole - k + 1) or ""
      cells[#cells + 1] = tag("td", (escaped(cell):gsub("\n", "<br>")), LEFT .. wide)
    end
    rows[i] = tag("tr", table.concat(cells))
  end
  return table_of(lines[1]:gsub(":$", ""), rows)
end

-- ---- lists of records, and matrices ----

local function records(lines)
  local rows = {}
  for i = 2, #lines do
    local cells = cells_of(lines[i])
    for k, cell in ipairs(cells) do cells[k] = tag(i == 2 and "th" or "td", escaped(cell)) end
    rows[#rows + 1] = tag("tr", table.concat(cells))
  end
  return table_of(lines[1]:gsub(":$", ""), rows)
end

local function matrix(lines)
  local rows = {}
  for i = 2, #lines do
    local cells = {}
    for cell in lines[i]:gmatch "%S+" do cells[#cells + 1] = tag("td", escaped(cell)) end
    rows[#rows + 1] = tag("tr", table.concat(cells))
  end
  return table_of(lines[1]:gsub(":$", ""), rows)
end

-- The text as HTML; nil where it has no such form.
return function(text)
  local lines = lines_of(text)
  if #lines <= LEAST_ROWS then return nil end
  if lines[1]:find "^%d+ rows:$" then return records(lines) end
  if lines[1]:find "^mat%(.*%):$" then return matrix(lines) end
  if lines[1]:find "^[%w_.]" then return page(lines) end
end
