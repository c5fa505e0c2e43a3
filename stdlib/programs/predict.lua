-- predict.lua -- the program `penumbra predict`: a model and a CSV file in, predictions as CSV or JSON lines out, an exit status.
-- Depends on: penumbra, penumbra.passing, penumbra.programs.main.  Used by: bindings/prompt/main.c.
local pn = require "penumbra"
local main = require "penumbra.programs.main"
local passing = require "penumbra.passing"

local usage = [[
usage: penumbra predict MODEL CSV [options]
MODEL is a file that fit:save or fit:export (JSON) wrote, of a fit that has a recipe.  CSV is a file with the recipe's
columns, plain or gzip; it needs no label.  The output is CSV with a column "prediction" and a line for each record.
  --keep NAME[,NAME]    copy these columns of the file, such as ids, in front of the predictions; reads the file
                        twice, which a pipe does not allow
  --probabilities       add a column "probability NAME" for each class
  --format NAME         csv (default), or jsonl: a JSON object for each record, with the names of the columns; null
                        stands for a number that is not finite
  -o, --output FILE     write there, whole or not at all; default: standard output
]] .. main.reading .. [[
  -h, --help            print this
Exit status: 0 done; 1 the model or a file was refused, or could not be read or written; 2 wrong usage.
]]

local takes = { ["--output"] = "output", ["-o"] = "output", ["--keep"] = "keep", ["--format"] = "format" }

-- {model=, csv=, ...}, or nil and what is wrong.
local function parse(words)
  local asked, wrong = main.words(words, takes, { ["--probabilities"] = "probabilities" })
  if not asked or asked.help then return asked, wrong end
  if #asked ~= 2 then return nil, "expected a model and a CSV file" end
  asked.format = asked.format or "csv"
  if asked.format ~= "csv" and asked.format ~= "jsonl" then
    return nil, ("--format takes csv or jsonl, got '%s'"):format(asked.format)
  end
  wrong = main.list_of(asked, "keep")
  if wrong then return nil, wrong end
  return asked
end

-- ---- fields ----

local function quoted(text)
  return text:find '[,;"\r\n\t]' and '"' .. text:gsub('"', '""') .. '"' or text
end

local function number(x)
  return math.type(x) == "float" and x == math.floor(x) and math.abs(x) < 2 ^ 53 and ("%d"):format(x) or ("%.17g"):format(x)
end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

-- A text as JSON has it.
local function literal(text)
  if not utf8.len(text) then
    error(("--format jsonl: '%s' is not UTF-8; --encoding windows-1252 reads other text"):format(text:gsub("[^ -~]", "?")), 0)
  end
  return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function literal_number(x) return x - x == 0 and number(x) or "null" end -- JSON has none that is not finite

local formats = {
  csv = function(head)
    local names = {}
    for k, name in ipairs(head) do names[k] = quoted(name) end
    return table.concat(names, ",") .. "\n", function(values)
      for k, value in ipairs(values) do values[k] = type(value) == "string" and quoted(value) or number(value) end
      return table.concat(values, ",") .. "\n"
    end
  end,
  jsonl = function(head)
    local names = {}
    for k, name in ipairs(head) do names[k] = literal(name) .. ": " end
    local function field(k, value) return names[k] .. (type(value) == "string" and literal(value) or literal_number(value)) end
    return "", function(values)
      for k, value in ipairs(values) do values[k] = field(k, value) end
      return "{" .. table.concat(values, ", ") .. "}\n"
    end
  end,
}

-- ---- columns ----

local function model_of(path)
  local fit = pn.load(path)
  local fine, recipe = pcall(function() return fit.recipe end)
  if not fine and passing(recipe) then error(recipe, 0) end
  if not fine then error(path .. ": this file is not a model", 0) end -- of a .npy file it is a vector or matrix
  if not recipe then error(path .. ": the model has no recipe, which says what the columns of a file mean", 0) end
  return fit, recipe
end

-- The columns of the file that --keep names, for `count` records.
local function keep(asked, count)
  local fine, texts = pcall(pn.recipe.texts, asked[2], asked.keep, main.reading_of(asked))
  if not fine then error("--keep: " .. main.plain(texts), 0) end
  local columns = {}
  for k, name in ipairs(asked.keep) do
    if #texts[name] ~= count then error("--keep: " .. asked[2] .. ": the file changed while it was read; run this again", 0) end
    columns[k] = { name = name, at = function(i) return texts[name][i] end }
  end
  return columns
end

-- The columns of the output in their order, {name=, at = number of a record -> text or number}, and how many records there are.
local function columns_of(asked)
  local fit, recipe = model_of(asked[1])
  local reading = main.reading_of(asked)
  reading.label = false
  local d = recipe:data(asked[2], reading)
  local columns = asked.keep and keep(asked, d.n) or {}
  local label = recipe:label()
  local values = fit:predict(d, { labels = label and label.classes and true or false })
  columns[#columns + 1] = { name = "prediction", at = function(i) return values[i] end }
  if asked.probabilities then
    local chances, names = fit:probabilities(d)
    chances = chances:vec():table() -- row by row
    for k, name in ipairs(names) do
      columns[#columns + 1] = { name = "probability " .. name, at = function(i) return chances[(i - 1) * #names + k] end }
    end
  end
  return columns, d.n
end

local function predict(asked)
  local columns, count = columns_of(asked)
  local head, seen = {}, {}
  for k, column in ipairs(columns) do
    if seen[column.name] then
      error(("--keep: the output has a column '%s' of its own; rename that of the file"):format(column.name), 0)
    end
    head[k], seen[column.name] = column.name, true
  end
  local first, line = formats[asked.format](head)
  local lines = { first }
  for i = 1, count do
    local values = {}
    for k, column in ipairs(columns) do values[k] = column.at(i) end
    lines[i + 1] = line(values)
  end
  return table.concat(lines)
end

return main.program("penumbra predict", usage, parse, function(asked) return predict(asked), asked.output end)
