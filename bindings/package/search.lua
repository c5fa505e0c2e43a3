-- search.lua -- what the search of the site looks through: a script that calls penumbraIndex with one row for each page, heading,
-- entry of help and declaration: [address, title, kind or page, first words, other words].  A page that is opened from a
-- file may load a script, and nothing else.
-- Depends on: nothing.  Used by: site.lua.  Read by: site/search.js.
local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n" }

local function quoted(text)
  return '"' .. text:gsub('["\\\n]', ESCAPES):gsub("%c", " ") .. '"'
end

return function(groups)
  local out = {}
  for _, group in ipairs(groups) do
    for _, page in ipairs(group.pages) do
      for _, row in ipairs(page.rows) do
        local words = {}
        for i, text in ipairs(row) do words[i] = quoted(text) end
        out[#out + 1] = "[" .. table.concat(words, ",") .. "]"
      end
    end
  end
  return "penumbraIndex([\n" .. table.concat(out, ",\n") .. "\n]);\n"
end
