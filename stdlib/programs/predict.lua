-- predict.lua -- the program `penumbra predict`: a model and a CSV file in, a CSV file of predictions out, an exit status.
-- Depends on: penumbra, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local pn = require "penumbra"
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra predict MODEL CSV [options]
MODEL is a file that fit:save or fit:export (JSON) wrote, of a fit that has a recipe.  CSV is a file with the recipe's
columns, plain or gzip; it needs no label.  The output is CSV with a column "prediction" and a line for each record.
  --probabilities       add a column "probability NAME" for each class
  -o, --output FILE     write there, whole or not at all; default: standard output
  --sep CHAR            what separates fields; default: found among , ; tab
  --decimal CHAR        the decimal mark, "." or ","; default "."
  --encoding NAME       utf-8 (default) or windows-1252
  -h, --help            print this
Exit status: 0 done; 1 the model or a file was refused, or could not be read or written; 2 wrong usage.
]]

-- The option's name in the table of options; of those of the recipe, what recipe:data calls it.
local takes = { ["--output"] = "output", ["-o"] = "output", ["--sep"] = "sep", ["--decimal"] = "decimal",
  ["--encoding"] = "encoding" }

-- {model=, csv=, ...}, or nil and what is wrong.
local function parse(words)
  local asked, plain, k = {}, false, 1
  while k <= #words do
    local word = words[k]
    if plain or word:sub(1, 1) ~= "-" then
      asked[#asked + 1] = word
    elseif word == "--" then
      plain = true
    elseif word == "-h" or word == "--help" then
      asked.help = true
    elseif word == "--probabilities" then
      asked.probabilities = true
    elseif takes[word] then
      k = k + 1
      if not words[k] then return nil, ("a value is missing after '%s'"):format(word) end
      asked[takes[word]] = words[k]
    else
      return nil, ("unknown option '%s'"):format(word)
    end
    k = k + 1
  end
  if not asked.help and #asked ~= 2 then return nil, "expected a model and a CSV file" end
  return asked
end

local function quoted(text)
  text = tostring(text)
  return text:find '[,;"\r\n\t]' and '"' .. text:gsub('"', '""') .. '"' or text
end

local function number(x)
  return math.type(x) == "float" and x == math.floor(x) and math.abs(x) < 2 ^ 53 and ("%d"):format(x) or ("%.17g"):format(x)
end

local function predict(asked)
  local fit = pn.load(asked[1])
  local is_fit, recipe = pcall(function() return fit.recipe end) -- of a .npy file it is a vector or matrix
  if not is_fit then error(asked[1] .. ": this file is not a model", 0) end
  if not recipe then
    error(asked[1] .. ": the model has no recipe, which says what the columns of a file mean", 0)
  end
  local d = recipe:data(asked[2], { label = false, sep = asked.sep, decimal = asked.decimal, encoding = asked.encoding })
  local label = recipe:label()
  local classes = label and label.classes
  local values = fit:predict(d, { labels = classes and true or false })
  local head, chances, names = { "prediction" }, nil, {}
  if asked.probabilities then
    chances, names = fit:probabilities(d)
    chances = chances:vec():table() -- row by row
    for k, name in ipairs(names) do head[k + 1] = quoted("probability " .. name) end
  end
  local lines = { table.concat(head, ",") }
  for i = 1, d.n do
    local fields = { classes and quoted(values[i]) or number(values[i]) }
    for k = 1, #names do fields[k + 1] = number(chances[(i - 1) * #names + k]) end
    lines[i + 1] = table.concat(fields, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

return main.program("penumbra predict", usage, parse, function(asked) return predict(asked), asked.output end)
