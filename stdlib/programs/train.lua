-- train.lua -- the program `penumbra train`: a CSV file and a recipe in, a model file out, an exit status.
-- Depends on: penumbra, penumbra.programs.config, .main.  Used by: bindings/prompt/main.c.
local pn = require "penumbra"
local config = require "penumbra.programs.config"
local main = require "penumbra.programs.main"

local usage = [[
usage: penumbra train KIND CSV --recipe FILE --epsilon E [options]
KIND is logistic, linear, poisson, multinomial or lasso.  CSV is a file with the recipe's columns, plain or gzip.  The model is
printed; `penumbra predict` takes the file that --output names.
  -r, --recipe FILE     what the columns are: JSON (r:json()), or Lua that sets label = {...} and features = {...};
                        with ranges = "private" a tenth of the price estimates the ranges of columns that
                        it declares as "number", and the levels of those that it declares as "category"
  -e, --epsilon E       price of the fit
  --delta D             at this delta; default: 1/n^2, n the number of records
  --neighbours NAME     replace_one (default) or zero_out
  --test K              hold out one of each K records in a row, by position; default 5; 0: none
  --public FILE         records that you declare public, read as the CSV is: they improve the fit at no price, and
                        nothing protects them
  -o, --output FILE     write the model there, whole or not at all; JSON if it ends in .json
]] .. main.reading .. [[
  -h, --help            print this
Exit status: 0 done; 1 a file, the recipe or the fit was refused; 2 wrong usage.  What is refused costs nothing.
]]

local takes = { ["--recipe"] = "recipe", ["-r"] = "recipe", ["--epsilon"] = "epsilon", ["-e"] = "epsilon", ["--delta"] = "delta",
  ["--neighbours"] = "neighbours", ["--test"] = "test", ["--public"] = "public", ["--output"] = "output", ["-o"] = "output" }
local numbers = { "epsilon", "delta", "test" }
local kinds = { logistic = true, linear = true, poisson = true, multinomial = true, lasso = true }

local function parse(words)
  local asked, wrong = main.words(words, takes, {})
  if not asked or asked.help then return asked, wrong end
  if #asked ~= 2 then return nil, "expected a kind of model and a CSV file" end
  if not kinds[asked[1]] then return nil, ("unknown kind '%s'"):format(asked[1]) end
  for _, name in ipairs { "recipe", "epsilon" } do
    if not asked[name] then return nil, ("--%s is missing"):format(name) end
  end
  for _, name in ipairs(numbers) do
    local value = asked[name]
    if value then asked[name] = tonumber(value) end
    if value and not asked[name] then return nil, ("--%s takes a number, got '%s'"):format(name, value) end
  end
  return asked
end

local function recipe_of(path)
  local file, message = io.open(path, "rb")
  if not file then error(message, 0) end
  local text = file:read "a"
  file:close()
  if text and text:match "^\xEF?\xBB?\xBF?%s*{" then return pn.recipe.from_json(text) end
  local fine, recipe = pcall(function()
    local fields = config.read(path)
    return fields.ranges == "private" and fields or pn.recipe(fields) -- open ranges are the model's to pay for
  end)
  if fine then return recipe end
  local why = main.plain(recipe)
  error(why:find(path, 1, true) and why or path .. ": " .. why, 0)
end

local function train(asked)
  local recipe = recipe_of(asked.recipe)
  if asked.output then config.writable(asked.output, "--output", "the model") end
  if asked.public then config.readable(asked.public, "--public", "the public records") end
  local test = asked.test
  if test == 0 then test = false end
  local model = pn.model[asked[1]] { data = asked[2], recipe = recipe, epsilon = asked.epsilon, delta = asked.delta,
    neighbours = asked.neighbours, test = test, public = asked.public, csv = main.reading_of(asked) }
  if asked.output then
    if asked.output:match "%.json$" then model:export(asked.output) else model:save(asked.output) end
  end
  return tostring(model) .. "\n" .. (asked.output and "written  " .. asked.output .. "\n" or "")
end

return main.program("penumbra train", usage, parse, train)
