-- people.lua -- a made-up table of persons as a CSV file with all that recipes know: numbers, holes, days, flags, categories,
-- and fits of it.  Depends on: penumbra.  Used by: specs of models.
local pn = require "penumbra"

local people = { none = {} } -- people.none: leave an option out

local JOBS = { "cook", "clerk", "b,oss", "none of these" }

-- A file of n records, made by hand so that it is the same everywhere; its path.
function people.write(n)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write "age,job,born,member,income,price,kind,visits\n"
  for i = 1, n do
    local age = (i * 37) % 90 + 10 -- some beyond the range
    file:write(("%s,\"%s\",%d-%02d-%02d,%s,%s,%d,%s,%d\n"):format(i % 11 == 0 and "NA" or age, JOBS[i % 4 + 1], 1925 + i % 90,
      i % 12 + 1, i % 28 + 1, i % 3 == 0 and "Yes" or "f", (age + 20 * (i % 4)) % 120 > 60 and ">50K" or "<=50K",
      1000 * age + 500 * (i % 3), ({ "a", "b", "c" })[age // 34 + 1] or "c", age // 12 + i % 2))
  end
  file:close()
  return path
end

function people.recipe(label, more)
  local recipe = { label = label, features = { age = { 17, 90, missing = "indicator" }, job = { "cook", "clerk", "b,oss" },
    born = { "date", from = "1930-01-01", to = "2010-12-31" }, member = "flag" } }
  for name, value in pairs(more or {}) do recipe[name] = value end
  return pn.recipe(recipe)
end

people.labels = {
  logistic = { income = { ">50K", "<=50K", positive = ">50K" } },
  squared = { price = { 10000, 100000 } },
  softmax = { kind = { "a", "b", "c" } },
  poisson = { visits = { count = 6 } }, -- there are up to 9
}

-- A private fit with that loss, its recipe and its data.
function people.fit(path, loss, more, options)
  local recipe = people.recipe(people.labels[loss], more)
  local d = recipe:data(path)
  local k = loss == "softmax" and 3 or 1
  local objective = pn.objective { data = d, loss = loss == "softmax" and pn.loss.softmax { classes = 3 } or pn.loss[loss](),
    set = pn.set.l2_ball { dim = k * d.p, radius = 5 } }
  local asked = { epsilon = 4, delta = 1e-6, iterations = 60 }
  for name, value in pairs(options or {}) do
    if value == people.none then asked[name] = nil else asked[name] = value end
  end
  return pn.solve.gradient_descent(objective, asked), recipe, d
end

return people
