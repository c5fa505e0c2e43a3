-- train_program_spec.lua -- from a messy CSV file to predictions in two commands: `penumbra train`, `penumbra predict`; and what
-- is refused, with a message and a status and no file.
local pn = require "penumbra"
local program = require "tests.tools.program"

local folder = program.shell "mktemp -d":match "%S+"
teardown(function() program.shell("rm -r " .. program.quote(folder)) end)
local function at(name) return folder .. "/" .. name end

-- Semicolons, decimal commas, a byte order mark, a newline inside quotes, NA words, a column that nobody asked for.
local function messy()
  local lines = { '\xEF\xBB\xBF"name";"age";"weight";"job";"bought"' }
  for i = 1, 200 do
    local age = (i * 37) % 80 + 15
    lines[#lines + 1] = ('"B%d\r\nof ""X""";%s;%d,5;%s;%s'):format(i, i % 13 == 0 and "NA" or age, 50 + i % 40,
      ({ "cook", '"clerk"', "?", "other one" })[i % 4 + 1], age > 50 and "yes" or "no")
  end
  program.write_all(at "people.csv", table.concat(lines, "\r\n") .. "\r\n")
end

local RECIPE = [[
label = {bought = {"no", "yes"}}
features = {age = {15, 95, missing = "indicator"}, weight = {40, 100}, job = {"cook", "clerk", missing = "indicator"}}
]]

local function train(...) return program.run { "train", ... } end

describe("penumbra train", function()
  messy()
  program.write_all(at "recipe.lua", RECIPE)

  it("makes a model file of a messy CSV that penumbra predict takes", function()
    local text, err, code = train("logistic", at "people.csv", "--recipe", at "recipe.lua", "--epsilon", "8", "--decimal", ",",
      "--output", at "m.json")
    assert.same({ "", 0 }, { err, code })
    for _, part in ipairs { "model: logistic regression, label bought", "160 train the model", "epsilon = 8, delta = 2.5e-05",
      "written  " .. at "m.json" } do
      assert.truthy(text:find(part, 1, true), part .. " is not in\n" .. text)
    end
    local out
    out, err, code = program.run { "predict", at "m.json", at "people.csv", "--decimal", "," }
    assert.same({ "", 0 }, { err, code })
    local right, at_line = 0, 0
    for line in out:gmatch "[^\n]+" do
      if at_line > 0 and line == ((at_line * 37) % 80 + 15 > 50 and "yes" or "no") then right = right + 1 end
      at_line = at_line + 1
    end
    assert.equal(201, at_line)
    assert.is_true(right > 140, right .. " of 200")
  end)

  it("takes a recipe as JSON, and writes a model file", function()
    local recipe = pn.recipe { label = { bought = { "no", "yes" } }, features = { weight = { 40, 100 } } }
    program.write_all(at "recipe.json", recipe:json())
    local _, err, code = train("logistic", at "people.csv", "-r", at "recipe.json", "-e", "1", "--decimal", ",", "--test", "0",
      "--neighbours", "zero_out", "--delta", "1e-6", "-o", at "m.model")
    assert.same({ "", 0 }, { err, code })
    local fit = pn.load(at "m.model")
    assert.same({ "zero_out", 1e-6, 200 }, { fit.privacy.neighbours, fit.privacy.delta, fit.plan.records })
  end)

  it("pays for ranges that a recipe leaves open", function()
    local lines = { "x,y" }
    for i = 1, 3000 do lines[#lines + 1] = 20 + i * 37 % 60 .. "," .. i % 100 end
    program.write_all(at "open.csv", table.concat(lines, "\n") .. "\n")
    program.write_all(at "open.lua", 'ranges = "private"\nlabel = {y = {0, 100}}\nfeatures = {x = "number"}\n')
    local text, err, code = train("linear", at "open.csv", "-r", at "open.lua", "-e", "4")
    assert.same({ "", 0 }, { err, code })
    assert.truthy(text:find("ranges, estimated", 1, true))
    assert.truthy(text:find("ranges and fit, composed", 1, true))
  end)

  it("takes public records and a file without a line of names", function()
    for name, first in pairs { ["private.csv"] = 1, ["public.csv"] = 3001 } do
      local lines = {}
      for i = first, first + 999 do lines[#lines + 1] = i .. ";" .. 20 + i * 37 % 60 .. ",5;" .. i * 37 % 60 + 20 + i % 7 end
      program.write_all(at(name), table.concat(lines, "\n") .. "\n")
    end
    program.write_all(at "line.lua", "label = {y = {0, 100}}\nfeatures = {x = {0, 100}}\n")
    local words = { "train", "linear", at "private.csv", "-r", at "line.lua", "-e", "1", "--header", "id,x,y", "--decimal", ",",
      "-o", at "public.json", "--public", at "public.csv" }
    local text, err, code = program.run(words)
    assert.same({ "", 0 }, { err, code })
    assert.truthy(text:find("public   1000 records, declared public by the caller", 1, true), text)
    assert.same({ 800, 1 }, { pn.load(at "public.json").plan.records, select(2, text:gsub("epsilon = 1, delta = 1e%-06", "")) })
    words[#words] = "/nowhere"
    os.remove(at "public.json")
    text, err, code = program.run(words)
    assert.same({ "", 1 }, { text, code })
    assert.equal("penumbra train: --public: the public records: /nowhere: No such file or directory\n", err)
    assert.is_nil(io.open(at "public.json"))
  end)

  it("ends with a message and a status, and no file, where it cannot", function()
    program.write_all(at "bad.lua", "label = {bought = {0, 1}}\nfeatures = {weight = {40, 100}}\n")
    program.write_all(at "worse.lua", "label = \n")
    local good = { "-r", at "recipe.lua", "-e", "1" }
    for k, case in ipairs {
      { 2, "expected a kind", "logistic", "-r", "x", "-e", "1" }, { 2, "unknown kind 'ridge'", "ridge", "x", "-r", "x", "-e", "1" },
      { 2, "--recipe is missing", "logistic", "x", "-e", "1" }, { 2, "--epsilon is missing", "logistic", "x", "-r", "x" },
      { 2, "takes a number, got 'one'", "logistic", "x", "-r", "x", "-e", "one" }, { 2, "unknown option '--moon'", "--moon" },
      { 2, "--encoding takes utf-8 or windows-1252, got 'ascii'", "logistic", "x", "-r", "x", "-e", "1", "--encoding", "ascii" },
      { 2, "--header takes names between commas, such as id,age, got ','", "logistic", "x", "-r", "x", "-e", "1", "--header", "," },
      { 2, "a value is missing", "logistic", "x", "-r" }, { 1, "No such file", "logistic", "/nowhere", good },
      { 1, "No such file", "logistic", at "people.csv", "-r", "/nowhere", "-e", "1" },
      { 1, "which pn.model.linear takes", "logistic", at "people.csv", "-r", at "bad.lua", "-e", "1" },
      { 1, "worse.lua", "logistic", at "people.csv", "-r", at "worse.lua", "-e", "1" },
      { 1, "column 'weight'", "logistic", at "people.csv", good },
      { 1, "penumbra train: --output: the model: ", "logistic", at "people.csv", "-o", "/nowhere/m.json", good },
      { 1, "epsilon", "logistic", at "people.csv", "-r", at "recipe.lua", "-e", "-1", "--decimal", "," },
    } do
      local words = { "train", "-o", at "none.json" }
      for part = 3, #case do
        local more = case[part]
        if type(more) == "string" then words[#words + 1] = more else table.move(more, 1, #more, #words + 1, words) end
      end
      local out, err, code = (k == 1 and program.run or program.call)(words)
      assert.same({ "", case[1] }, { out, code }, case[2])
      assert.truthy(err:find(case[2], 1, true), case[2] .. " is not in " .. err)
      assert.truthy(err:find("penumbra train: ", 1, true))
      assert.is_nil(io.open(at "none.json"))
    end
    local out, _, code = train "--help"
    assert.equal(0, code)
    assert.truthy(out:find("usage: penumbra train KIND CSV", 1, true))
  end)
end)
