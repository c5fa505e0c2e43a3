-- wrap.lua -- wrap(lead, text, indent): words filled into lines of 80 columns, or of a narrower terminal; the first line follows
-- `lead`, the others are indented by `indent`; the last one ends with a line end.
-- Depends on: penumbra.columns.  Used by: penumbra.prompt.help, penumbra.advise.
local columns = require "penumbra.columns"

return function(lead, text, indent)
  local lines, line, fresh, width = {}, lead, true, columns()
  for word in text:gmatch "%S+" do
    if not fresh and #line + 1 + #word > width then
      lines[#lines + 1] = line
      line, fresh = (" "):rep(indent), true
    end
    line = line .. (fresh and "" or " ") .. word
    fresh = false
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end
