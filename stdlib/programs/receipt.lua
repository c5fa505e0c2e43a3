-- receipt.lua -- the program `penumbra receipt`: a model, ledger or checkpoint in, its receipt as JSON out, an exit status.
-- Depends on: penumbra, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local pn = require "penumbra"
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra receipt FILE [options]
FILE is a model that fit:save wrote, the file of a ledger (with its key beside it), a checkpoint of a tree, or a receipt.
The output is JSON: what was done to the records, from which sensitivities and prices can be worked out again.  A tree's
checkpoint stays as it is; a ledger may not be open elsewhere.
  --words             a few lines for people instead
  -o, --output FILE   write there, whole or not at all; default: standard output
  -h, --help          print this
Exit status: 0 done; 1 the file was refused, or could not be read or written; 2 wrong usage.
]]

local function parse(words)
  local asked, wrong = main.words(words, { ["--output"] = "output", ["-o"] = "output" }, { ["--words"] = "words" })
  if asked and not asked.help and #asked ~= 1 then return nil, "expected one file" end
  return asked, wrong
end

return main.program("penumbra receipt", usage, parse, function(asked)
  local receipt = pn.receipt(asked[1])
  return asked.words and receipt.words .. "\n" or receipt.json, asked.output
end)
