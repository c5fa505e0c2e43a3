-- usage.lua -- an example for every function of the reference, by name: two to six lines of Lua that run as they stand, in a
-- script or at the prompt, and write files, if at all, into the current folder.
-- A row of the reference may have its own (`example = "..."`); the others stand in usage/, a file for each part of the library.
-- Depends on: usage/*.lua, penumbra (the reference).  Used by: help, the generated documents, tests/stdlib/usage_spec.lua.
local parts = { "numbers", "data", "geometry", "privacy", "objective", "solve", "federated", "looking" }

local known

local function load_all()
  known = {}
  for _, part in ipairs(parts) do
    for name, code in pairs(require("penumbra.usage." .. part)) do
      assert(not known[name], name)
      known[name] = code
    end
  end
end

-- Indented long strings read better in the files; what is shown begins at the margin.
local function at_margin(code)
  local indent = code:match "^\n?(%s*)%S"
  return (("\n" .. code):gsub("\n" .. indent, "\n"):gsub("^%s+", ""):gsub("%s+$", ""))
end

-- usage[name] is the text or nil.
return setmetatable({}, {
  __index = function(self, name)
    if not known then
      load_all()
    end
    local row = require("penumbra").reference()[name]
    local code = row and row.example or known[name]
    code = code and at_margin(code)
    rawset(self, name, code)
    return code
  end,
})
