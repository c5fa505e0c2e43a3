-- Names that are not ASCII have fewer characters than bytes: tables that counted bytes lost their columns, and cut characters
-- apart.
local pn = require "penumbra"

-- What is printed of records whose columns have these names.
local function printed(short, long)
  local recipe = pn.recipe { label = { y = { -1, 1 } }, features = { [short] = { 0, 2 }, [long] = { 0, 2 } } }
  local records = { [short] = {}, [long] = {}, y = {} }
  for i = 1, 200 do records[short][i], records[long][i], records.y[i] = i % 3, i % 2, (-1) ^ i end
  local data = recipe:data(records)
  local L = pn.ledger { epsilon = 1, delta = 1e-6, teaching = true }
  local m = pn.model.linear { data = records, recipe = recipe, epsilon = 1, rng = pn.rng.seeded(1), test = false }
  return { recipe = tostring(recipe), coefficients = tostring(m:coefficients()), model = tostring(m), head = tostring(data:head()),
    description = tostring(data:describe { ledger = L, epsilon = 0.5, rng = pn.rng.seeded(1) }),
    intervals = tostring(pn.solve.sufficient_statistics(pn.objective { data = data, loss = pn.loss.squared() },
      { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(1) }):intervals()), }
end

describe("tables with names beyond ASCII", function()
  it("are those of names with as many ASCII characters", function()
    local plain, wide = printed("size", ("z"):rep(40)), printed("sïzé", ("ž"):rep(40))
    for what, text in pairs(wide) do
      assert.is_truthy(utf8.len(text), what .. " cuts a character apart")
      assert.equal(plain[what], (text:gsub("sïzé", "size"):gsub("ž", "z")), what)
    end
  end)
end)
