-- course_csv.lua -- rows as CSV (RFC 4180) that a spreadsheet opens without running anything: a text that would begin a formula
-- gets an apostrophe, control characters are \xHH.
-- Depends on: penumbra.programs.config_guard.  Used by: penumbra.course.grade.
-- Source: RFC 4180; OWASP, "CSV Injection".
local visible = require "penumbra.programs.config_guard".visible

local function cell(value)
  if math.type(value) then return tostring(value) end
  local text = visible(value):gsub("[\n\t]", function(c) return ("\\x%02x"):format(c:byte()) end)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", function(c) return ("\\x%02x"):format(c:byte()) end) end
  if text:find "^%s*[=+@-]" then text = "'" .. text end
  return text:find '[",;]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- A line for each row, a list of texts and numbers.
return function(rows)
  local lines = {}
  for k, row in ipairs(rows) do
    local cells = {}
    for i, value in ipairs(row) do cells[i] = cell(value) end
    lines[k] = table.concat(cells, ",") .. "\n"
  end
  return table.concat(lines)
end
