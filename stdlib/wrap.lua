-- wrap.lua -- wrap(lead, text, indent): words filled into lines of 80 columns; the first line follows `lead`, the others are
-- indented by `indent`; the last one ends with a line end.
-- Depends on: nothing.  Used by: penumbra.help, penumbra.advise.
local WIDTH = 80

return function(lead, text, indent)
  local lines, line, fresh = {}, lead, true
  for word in text:gmatch "%S+" do
    if not fresh and #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line, fresh = (" "):rep(indent), true
    end
    line = line .. (fresh and "" or " ") .. word
    fresh = false
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end
