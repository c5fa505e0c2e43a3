-- logsumexp.lua -- pn.logsumexp(list): ln sum exp of numbers, vectors or symbols, without overflow.
-- Depends on: penumbra.core.  Used by: penumbra.parts, losses of several margins.
--
-- ln(e^a + e^b) = a + softplus(b - a), by halves of the list.  Of symbols pn.loss.margins knows this form: its derivatives are
-- sigmoids of differences, which do not cancel, and it is bounded by its values at the ends.
local pn = require "penumbra.core"

local function by_halves(list, first, last)
  if first == last then
    return list[first]
  end
  local middle = (first + last) // 2
  local a, b = by_halves(list, first, middle), by_halves(list, middle + 1, last)
  return a + pn.softplus(b - a)
end

local logsumexp = {}

-- pn.logsumexp(list)
function logsumexp.run(list)
  if type(list) ~= "table" or #list == 0 then
    error(("logsumexp: expected a list with at least one entry, got %s"):format(
      type(list) == "table" and "an empty one" or type(list)), 2)
  end
  return by_halves(list, 1, #list)
end

logsumexp.rows = {
  logsumexp = {
    signature = "pn.logsumexp(list) -> number, vec or symbol",
    doc = "ln(exp(list[1]) + exp(list[2]) + ...) without overflow, for a list of numbers, of vectors of one length, or of "
      .. "symbols in a function that is traced, such as the list z of pn.loss.margins: of these its derivatives do not cancel "
      .. "and its bounds are tight.  An error for an empty list.",
    reveals = "nothing",
    kind = "function",
  },
}

return logsumexp
