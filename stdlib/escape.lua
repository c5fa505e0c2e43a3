-- escape.lua -- text as HTML shows it.  Depends on: nothing.  Used by: penumbra.notebook.html, penumbra.lesson.handout.
local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

return function(text)
  return (text:gsub('[&<>"]', entities))
end
