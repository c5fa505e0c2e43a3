-- holdout_spec.lua -- which records d:holdout holds out: one of each block, at a place that follows no period.
local pn = require "penumbra"
local people = require "tests.tools.people"
local refused = require("tests.tools.refusal").refused

-- Records 1 to n, each labelled with its number.
local function numbered(n)
  local y = {}
  for i = 1, n do y[i] = i end
  return pn.data.from(pn.mat.zeros(n, 1), pn.vec(y))
end

-- Half the width of an interval that holds the share of one outcome among `blocks` independent draws, for each of `outcomes`
-- outcomes at once, but for a probability of 1e-6 (Hoeffding's inequality and the union bound).
local function width(blocks, outcomes) return math.sqrt(math.log(2 * outcomes / 1e-6) / (2 * blocks)) end

local BLOCKS = 20000
local all = numbered(10 * BLOCKS)

-- The most that the share of a residue modulo `period` among the records held out differs from 1/period.
local function excess(every, period)
  local counts, worst = {}, 0
  local _, test = all:take(every * BLOCKS):holdout(every)
  for _, i in ipairs(test.y:table()) do counts[i % period] = (counts[i % period] or 0) + 1 end
  for residue = 0, period - 1 do worst = math.max(worst, math.abs((counts[residue] or 0) / test.n - 1 / period)) end
  return worst
end

describe("d:holdout", function()
  it("holds out one record of each block and none behind the last whole one", function()
    for every = 2, 10 do
      for n = every, 4 * every + 1 do
        local train, test = numbered(n):holdout(every)
        assert.same({ n - n // every, n // every }, { train.n, test.n })
        local parts, seen = { train.y:table(), test.y:table() }, {}
        for _, part in ipairs(parts) do
          for k, i in ipairs(part) do
            assert.is_nil(seen[i])
            seen[i] = true
            assert.is_true(k == 1 or part[k - 1] < i) -- in their order
          end
        end
        assert.equal(n, #seen)
        for block, i in ipairs(parts[2]) do assert.equal(block, math.ceil(i / every)) end
      end
    end
  end)

  it("draws the place in a block uniformly", function()
    for every = 2, 10 do assert.is_true(excess(every, every) < width(BLOCKS, 54), every) end
  end)

  it("gives a part with the mix of the whole where an order has a period", function()
    for every = 2, 5 do
      for times = 2, 5 do
        local period = every * times
        assert.is_true(excess(every, period) < width(BLOCKS, 14 * 14), ("%d of %d"):format(every, period))
      end
    end
  end)

  it("makes the same parts each time, with bounds and recipe", function()
    local d = numbered(23):clip_rows("l2", 9)
    local train, test = d:holdout(3)
    local again, other = d:holdout(3)
    assert.same({ train.y:table(), test.y:table() }, { again.y:table(), other.y:table() })
    assert.same({ 9, 9 }, { train.bounds.l2, test.bounds.l2 })
    local csv = people.write(40)
    assert.truthy(select(2, people.recipe(people.labels.logistic):data(csv):holdout(2)).recipe)
    os.remove(csv)
  end)

  it("keeps a record whose values change where it is", function()
    local before = { numbered(23):holdout(4) }
    for i = 1, 23 do
      local X, y = pn.mat.zeros(23, 1), numbered(23).y:table()
      X:set(i, 1, 7)
      y[i] = -1
      for part, after in ipairs { pn.data.from(X, pn.vec(y)):holdout(4) } do
        local expected, moved = before[part].y:table(), {}
        for k, label in ipairs(expected) do
          if label == i then expected[k], moved[k] = -1, 7 end
        end
        assert.same(expected, after.y:table())
        for k, value in ipairs(after.X:vec():table()) do assert.equal(moved[k] or 0, value) end
      end
    end
  end)

  it("has the places of the hash as a program apart from the runtime computes them", function()
    assert.same({ 1, 6, 15, 20, 23, 26, 34, 36 }, select(2, numbered(40):holdout(5)).y:table())
  end)

  it("refuses what parts nothing", function()
    for _, every in ipairs { 1, 6, 0, -2 } do
      refused("holdout: every", function() numbered(5):holdout(every) end)
    end
  end)
end)
