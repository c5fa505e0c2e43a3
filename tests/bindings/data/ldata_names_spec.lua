-- ldata_names_spec.lua -- what names of features are good for: ranges by name, and a warning about names found in records.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match("^@(.*)bindings/data/ldata_names_spec.lua$")
local files = dofile(here .. "runtime/data/files.lua")

local text = "age,job,y\n20,cook,1\n55,clerk,-1\n"
local warning = "WARNING: categories were found in the records"

local function load(one_hot)
  return pn.data.csv(files.write(text), { header = true, label = "y", one_hot = one_hot })
end

local function plan_of(d)
  d = d:clip_rows("l2", 1)
  local set = pn.set.l2_ball { dim = d.p, radius = 1 }
  return tostring(pn.solve.sgd.plan(pn.objective { data = d, loss = pn.loss.logistic(), set = set }, { epsilon = 1, delta = 1e-6 }))
end

describe("names of features", function()
  after_each(files.clear)

  it("name the ranges of rescale, which leaves 0/1 features alone", function()
    local d = load(true):add_bias():rescale { age = { 20, 90 } }
    assert.same({ { -1, 0, 1, 1 }, { 0, 1, 0, 1 } }, files.rows(d.X))
    assert.equal(1, d.bounds.linf)
  end)

  it("must be known, and every feature has a range", function()
    local d = load(true)
    for message, ranges in pairs {
      ["rescale: there is no feature 'agee', the nearest is age; d.features lists them"] = { agee = { 1, 2 } },
      ["rescale: feature 'age' has no range; all but 0/1 features (column=category) need one"] = { ["job=cook"] = { 0, 1 } },
      ["rescale: the range of 'age' must be two numbers such as {17, 90}, got a table"] = { age = { 2 } },
      ["rescale: low must be below high for every feature, got 2 and 1 for feature 1"] = { age = { 2, 1 } },
    } do
      assert.has_error(function() d:rescale(ranges) end, message)
    end
    assert.has_error(function() pn.data.from({ { 1 } }, { 1 }):rescale { age = { 1, 2 } } end,
      "rescale: the features of this data set have no names; give two lists, low and high")
  end)

  it("that were found in records are warned of, by the data set, by what is made of it, and by plans", function()
    for _, found in ipairs { load(true), load { "job" } } do
      assert.truthy(tostring(found:clip_rows("l2", 1):add_bias():take(1)):find(warning, 1, true))
      assert.truthy(plan_of(found):gsub("%s+", " "):find("categories of text columns were found in the records", 1, true))
    end
    local declared = load { job = { "cook", "clerk" } }
    assert.is_nil(tostring(declared):find("WARNING", 1, true))
    assert.is_nil(plan_of(declared):find("categories of text columns", 1, true))
  end)
end)
