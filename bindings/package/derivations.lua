-- derivations.lua -- from a line of a plan to where it is derived: in tables of the columns "plan line | formula | section" every
-- row gets an anchor and is found by a search, and the numbers of sections become links to their headings.
-- Depends on: markup.lua.  Used by: documents.lua, html.lua.
local markup = require "markup"

local derivations = {}

-- { number = id } of headings such as "4.2 Noise" and "5. Work".
local function numbered(sections)
  local out = {}
  for _, section in ipairs(sections) do
    local number = section.title:match "^(%d[%d.]*)%s"
    if number then out[number:gsub("%.$", "")] = section.id end
  end
  return out
end

-- "1, 3.5" with links.
local function linked(cell, ids)
  return (cell:gsub("%f[%w]%d+[%d.]*", function(number)
    return ids[number] and ('<a href="#%s">%s</a>'):format(ids[number], number)
  end))
end

-- Rewrites the tables of a document, { sections=, file=, title= }; returns the HTML and rows for the search.
function derivations.tables(html, page)
  local ids, rows, seen = numbered(page.sections), {}, {}
  local function row(line, middle, cell)
    local name = markup.plain(line)
    local id = "line-" .. name:lower():gsub("[^%w]+", "-"):gsub("^%-", ""):gsub("%-$", "")
    if seen[id] then return nil end
    seen[id] = true
    rows[#rows + 1] = { page.file .. "#" .. id, name, page.title, markup.summed_up(markup.plain(middle)) }
    return ('<tr id="%s">%s%s<td>%s</td>\n</tr>'):format(markup.escape(id), line, middle, linked(cell, ids))
  end
  html = html:gsub("<thead>%s*<tr[^>]*>%s*<th[^>]*>plan line</th>.-</table>", function(table)
    return (table:gsub("<tr[^>]*>(%s*<td[^>]*>.-</td>)(%s*<td[^>]*>.-</td>%s*)<td[^>]*>(.-)</td>%s*</tr>", row))
  end)
  return html, rows
end

-- The section that explains the lines of a plan: its id, and its heading without a number.
function derivations.section(page)
  for _, section in ipairs(page.sections) do
    local heading = section.title:match "^[%d.]* ?(What.-plans?.- prints?.*)"
    if heading then return section.id, heading end
  end
end

return derivations
