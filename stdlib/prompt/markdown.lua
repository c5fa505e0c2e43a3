-- markdown.lua -- a page of Markdown as text for a terminal: headings, paragraphs, lists, tables, code.  The part of Markdown that
-- the handbook uses; code stands as it is.
-- Depends on: penumbra.wrap, penumbra.columns, penumbra.colour.  Used by: penumbra.guide.
local colour = require "penumbra.colour"
local columns = require "penumbra.columns"
local wrap = require "penumbra.wrap"

-- Links as their text, without marks of emphasis; what stands between backticks stays.
local function inline(text)
  local out, code = {}, false
  text = text:gsub("!?%[([^%]]*)%]%([^)]*%)", "%1")
  for part, mark in text:gmatch "([^`]*)(`?)" do
    out[#out + 1] = code and part or part:gsub("%*%*([^*]+)%*%*", "%1"):gsub("%*(%S[^*]-)%*", "%1")
    code = code ~= (mark == "`")
  end
  return table.concat(out)
end

-- ---- tables ----

-- The cells of a row; a "|" between backticks is none of its own.
local function cells(line)
  local out = {}
  for cell in line:gsub("^|%s*", ""):gmatch "%s*(.-)%s*|" do out[#out + 1] = inline(cell) end
  return out
end

local function width_of(text) return utf8.len(text) or #text end

-- How wide each column is: as its widest cell; the widest columns are narrowed until all fit, but none below its longest word.
local function widths(rows, room)
  local out, least, total = {}, {}, 0
  for _, row in ipairs(rows) do
    for j, cell in ipairs(row) do
      out[j] = math.max(out[j] or 0, width_of(cell))
      for word in cell:gmatch "%S+" do least[j] = math.max(least[j] or 0, width_of(word)) end
    end
  end
  for _, width in ipairs(out) do total = total + width + 2 end
  while total > room do
    local widest
    for j, width in ipairs(out) do
      if width > (least[j] or 0) and (not widest or width > out[widest]) then widest = j end
    end
    if not widest then break end
    out[widest], total = out[widest] - 1, total - 1
  end
  return out
end

-- A cell as lines of at most that width.
local function folded(cell, width)
  local lines, line = {}, ""
  for word in cell:gmatch "%S+" do
    if line ~= "" and width_of(line) + 1 + width_of(word) > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function row_text(row, wide, right)
  local parts, most, out = {}, 1, {}
  for j in ipairs(wide) do
    parts[j] = folded(row[j] or "", wide[j])
    most = math.max(most, #parts[j])
  end
  for i = 1, most do
    local line = " "
    for j, width in ipairs(wide) do
      local text = parts[j][i] or ""
      local pad = (" "):rep(width - width_of(text))
      line = line .. " " .. (right[j] and pad .. text or text .. pad) .. (j < #wide and " " or "")
    end
    out[i] = line:gsub("%s+$", "") .. "\n"
  end
  return table.concat(out)
end

-- The lines of a table: a head, a line of dashes that says which columns are numbers, rows.
local function table_text(lines)
  local rows, right, out = {}, {}, {}
  for i, line in ipairs(lines) do
    local row = cells(line)
    if i == 2 then
      for j, cell in ipairs(row) do right[j] = cell:find ":$" ~= nil end
    else
      rows[#rows + 1] = row
    end
  end
  local wide = widths(rows, columns())
  for i, row in ipairs(rows) do
    local text = row_text(row, wide, right)
    out[i] = i == 1 and text:find "%S" and colour.paint(text:gsub("\n$", ""), "heading") .. "\n" or text
  end
  return table.concat(out)
end

-- ---- blocks ----

local function code_text(block)
  local text = "    " .. table.concat(block.lines, "\n    "):gsub("\n +\n", "\n\n") .. "\n"
  return block.language == "lua" and colour.code(text) or text
end

local function item_text(block)
  local mark, rest = table.concat(block.lines, " "):match "^([-*]) +(.*)$"
  return wrap("  " .. mark .. " ", inline(rest), 4)
end

local texts = {
  code = code_text,
  item = item_text,
  table = function(block) return table_text(block.lines) end,
  heading = function(block) return colour.paint(inline((block.lines[1]:gsub("^#+ ", ""))), "heading") .. "\n" end,
  text = function(block)
    local text = table.concat(block.lines, " ")
    return text:find "^!%[" and "" or wrap("", inline(text), 0) -- a picture is none here
  end,
}

local function kind_of(line)
  return line:find "^#+ " and "heading" or line:find "^[-*] " and "item" or line:find "^|" and "table" or "text"
end

-- The blocks of a page: {kind=, lines=, language=}.
local function blocks(page)
  local out, block = {}, nil
  local function begin(kind, language)
    block = { kind = kind, lines = {}, language = language }
    out[#out + 1] = block
  end
  for line in page:gmatch "([^\n]*)\n" do
    local fence = line:match "^```(.*)$"
    local kind = kind_of(line)
    if block and block.kind == "code" then
      if fence then block = nil else table.insert(block.lines, line) end
    elseif fence then
      begin("code", fence)
    elseif line == "" then
      block = nil
    else
      local more = block and (kind == block.kind and kind ~= "item" or block.kind == "item" and kind == "text")
      if not more then begin(kind) end
      table.insert(block.lines, (line:gsub("^%s+", "")))
    end
  end
  return out
end

return function(page)
  local out, last = {}, nil
  for _, block in ipairs(blocks(page)) do
    local text = texts[block.kind](block)
    if text ~= "" then
      local close = not last or last == "item" and block.kind == "item"
      out[#out + 1] = (close and "" or "\n") .. text
      last = block.kind
    end
  end
  return table.concat(out)
end
