-- conformance_spec.lua -- what every loss of pn.loss must do: derivatives that are derivatives, ranges that are certified.
-- A new loss joins through pn.loss.names(); a line in `examples` adds cases to what its parameters suggest.
local pn = require "penumbra"
local defaults = require "tests.tools.defaults"
local tier = require "tests.tools.tier"

-- Options for each loss; {} for the defaults.
local examples = {
  squared = {{}},
  logistic = {{}},
}
for _, name in ipairs(pn.loss.names()) do
  examples[name] = examples[name] or defaults("loss", name)
end

local label_sets = {["-1 and 1"] = {-1, 1}, real = {-2.5, -1, 0, 0.3, 4}}
local label_ranges = {["-1 and 1"] = {{-1, 1}, {1, 1}, {-1, -1}}, real = {{-1, 1}, {0.3, 4}, {-2.5, -2.5}}}
local margins = {{-3, 3}, {0.5, 2}, {-7, -0.25}, {0, 0}, {1.5, 1.5}, {-40, 30}}
local parts = {"value", "slope", "curvature"}

local function holds(condition, message) -- luassert only when it fails: the loops below are long
  if not condition then
    assert.is_true(condition, message)
  end
end

-- l, l' and l'' at each z for the one label y, as {value=, slope=, curvature=} of vectors.
local function at(l, z, y)
  local labels = {}
  for i = 1, #z do
    labels[i] = y
  end
  local out = {}
  out.value, out.slope, out.curvature = l:evaluate(z, labels)
  return out
end

local function grid(low, high, n)
  local out = {}
  for i = 0, n do
    out[i + 1] = math.min(high, low + (high - low) * i / n)
  end
  return out
end

local function shifted(z, by)
  local out = {}
  for i = 1, #z do
    out[i] = z[i] + by
  end
  return out
end

local checks = {}

checks["has slope and curvature that are the differences of value and slope"] = function(l)
  local h = 2 ^ -17 -- central: truncation h^2 / 6 < 1e-11, rounding 1e-16 / h < 1e-10 of the value
  for _, y in ipairs(label_sets[l.labels]) do
    local z = grid(-6.1, 6.3, 400)
    local here, up, down = at(l, z, y), at(l, shifted(z, h), y), at(l, shifted(z, -h), y)
    for i = 1, #z do
      local tolerance = 1e-9 * (1 + math.abs(here.value[i]))
      holds(math.abs((up.value[i] - down.value[i]) / (2 * h) - here.slope[i]) <= tolerance, "slope")
      holds(math.abs((up.slope[i] - down.slope[i]) / (2 * h) - here.curvature[i]) <= tolerance, "curvature")
    end
  end
end

checks["is convex where it says so"] = function(l)
  if not l.convex then
    return
  end
  for _, y in ipairs(label_sets[l.labels]) do
    local here = at(l, grid(-30, 30, 500), y)
    for i = 1, #here.curvature do
      holds(here.curvature[i] >= 0, "negative curvature")
    end
  end
end

-- That they are attained is shown against closed forms in loss_table_spec.lua.
checks["has ranges that hold every computed number"] = function(l)
  for _, z in ipairs(margins) do
    for _, y in ipairs(label_ranges[l.labels]) do
      local range, low, high = l:range(z, y), {}, {}
      local labels = l.labels == "real" and grid(y[1], y[2], 8) or {y[1], y[2]}
      local points = grid(z[1], z[2], tier.times(200, 2000))
      points[#points + 1] = math.max(z[1], math.min(z[2], 0))
      for _, label in ipairs(labels) do
        local here = at(l, points, label)
        for _, part in ipairs(parts) do
          for i = 1, #points do
            local number = here[part][i]
            low[part] = math.min(low[part] or number, number)
            high[part] = math.max(high[part] or number, number)
          end
        end
      end
      for _, part in ipairs(parts) do
        -- computed numbers are rounded (program.h): a few units in the last place
        local rounding = 4e-15 * math.max(math.abs(low[part]), math.abs(high[part]))
        holds(range[part][1] - rounding <= low[part] and high[part] <= range[part][2] + rounding, part .. " leaves its range")
      end
    end
  end
end

checks["has no NaN for margins up to 1e100"] = function(l) -- there squares and their squares overflow, and so does exp
  local z = {0, 1e3, -1e3, 1e100, -1e100, 5e-324, -745.2, 745.2}
  for _, y in ipairs(label_sets[l.labels]) do
    local here = at(l, z, y)
    for _, part in ipairs(parts) do
      for i = 1, #z do
        holds(here[part][i] == here[part][i], part .. " is NaN")
      end
    end
  end
end

checks["gives the same numbers alone and in a long block"] = function(l)
  local rng, z, y = pn.rng.seeded(9), {}, {}
  local labels = label_sets[l.labels]
  for i = 1, 1031 do
    z[i] = 20 * rng:uniform() - 10
    y[i] = labels[rng:integer(#labels)]
  end
  local block = {}
  block.value, block.slope, block.curvature = l:evaluate(z, y)
  for i = 1, #z, 17 do
    local here = at(l, {z[i]}, y[i])
    for _, part in ipairs(parts) do
      holds(math.abs(block[part][i] - here[part][1]) <= 4e-15 * math.abs(here[part][1]), part)
    end
  end
end

checks["says where an unbounded part is unbounded"] = function(l)
  local range, unbounded = l:range({-math.huge, math.huge}, {-1, 1})
  for _, part in ipairs(parts) do
    unbounded = unbounded or math.max(-range[part][1], range[part][2]) == math.huge
  end
  holds(not unbounded or range.missing:find("unbounded where", 1, true), tostring(range.missing))
end

checks["refuses margins in the wrong order"] = function(l)
  for _, z in ipairs {{2, 1}, {0 / 0, 1}} do
    local ok, message = pcall(l.range, l, z, {-1, 1})
    assert.is_false(ok)
    assert.truthy(message:find("lo <= hi", 1, true), message)
  end
end

describe("every loss", function()
  it("has an example in this file", function()
    for _, name in ipairs(pn.loss.names()) do
      assert.truthy(examples[name], "pn.loss." .. name .. " has no example: add one to `examples` in conformance_spec.lua")
    end
  end)

  it("has documentation and a source that the reference shows", function()
    for _, name in ipairs(pn.loss.names()) do
      local entry = pn.reference()["loss." .. name]
      assert.truthy(entry and #entry.doc > 0 and #entry.source > 0, name)
      assert.equal("nothing", entry.reveals)
    end
  end)
end)

for _, name in ipairs(pn.loss.names()) do
  for k, options in ipairs(name ~= "softmax" and examples[name] or {}) do -- softmax_loss_spec.lua: several margins
    describe(("%s %d"):format(name, k), function()
      for title, check in pairs(checks) do
        it(title, function()
          local l = pn.loss[name](options)
          assert.equal(name, l.name)
          check(l)
        end)
      end
    end)
  end
end
