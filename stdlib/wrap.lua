-- wrap.lua -- wrap(lead, text, indent): words filled into lines of 80 columns, or of a narrower terminal; the first line follows
-- `lead`, the others are indented by `indent`; the last one ends with a line end.
-- Depends on: penumbra.columns.  Used by: penumbra.prompt.help, penumbra.advise, penumbra.model.show.
local columns = require "penumbra.columns"

-- In a curated state, methods of strings are the script's.
local concat, gmatch, rep, utf8 = table.concat, string.gmatch, string.rep, utf8

local function width_of(text) return utf8.len(text) or #text end

return function(lead, text, indent)
  local lines, line, fresh, width = {}, lead, true, columns()
  for word in gmatch(text, "%S+") do
    if not fresh and width_of(line) + 1 + width_of(word) > width then
      lines[#lines + 1] = line
      line, fresh = rep(" ", indent), true
    end
    line = line .. (fresh and "" or " ") .. word
    fresh = false
  end
  lines[#lines + 1] = line
  return concat(lines, "\n") .. "\n"
end
