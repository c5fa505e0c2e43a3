-- defaults.lua -- options for a table entry that a conformance test has no example of, from what its parameters expect.
-- Used by: the conformance specs.  Returns nil for an entry that cannot be guessed (a required vector, say).
local pn = require "penumbra"

local guesses = {
  ["a whole number from 1"] = 4,
  ["a positive number"] = 2,
  ["a number >= 0"] = 1,
  ["a finite number"] = 1,
  ["a number between 0 and 1, both excluded"] = 0.5,
  ["a number from 0 to 1"] = 0.5,
  ["a number from 1, or infinity"] = 3,
}

return function(place, name)
  local options = {}
  for _, param in ipairs(pn.reference()[place .. "." .. name].params or {}) do
    if param.required then
      options[param.name] = guesses[param.expects]
      if options[param.name] == nil then return nil end
    end
  end
  return { options }
end
