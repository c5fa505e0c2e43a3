-- mutants_tune.lua -- audits of pn.tune for mutants.lua.
--   law    the winner's score on two data sets that differ in one held-out label
--   price  what a figure of the source's theorem has instead
--   worse  what one of two mechanisms has instead of the worse one's price
--   runs   how often the coin ends a search after its first run
-- Depends on: penumbra.  Used by: mutants.lua.
local pn = require "penumbra"
local selection = require "penumbra.selection"

local DELTA = 0.01

-- Four records, of which two are held out, one with this label, and a model so near 0 that only its sign counts.
local rows = { { 1 }, { 1 }, { 1 }, { 1 } }
local held = math.tointeger(select(2, pn.data.from(rows, { 1, 2, 3, 4 }):holdout(2)).y[2])

local function of_label(label)
  local y = { 1, 1, 1, 1 }
  y[held] = label
  local data = pn.data.from(rows, y):clip_rows("l2", 1)
  return pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 1, radius = 1e-6 } }
end

local function search(changes)
  local all = { solver = "gradient_descent", objective = of_label(1), grid = { step = { 1 }, iterations = { 1 } },
    score = "accuracy", epsilon = 2, delta = DELTA, holdout = 2 }
  for name, value in pairs(changes) do all[name] = value end
  return all
end

local function tune(audit)
  return {
    law = function()
      return audit(function(objective, rng) return pn.tune(search { objective = objective, rng = rng }).score end,
        { neighbours = { of_label(1), of_label(-1) }, trials = 800, delta = DELTA, event = pn.tune.plan(search {}).event })
    end,
    price = function()
      local e = pn.event.selection { event = pn.event.gaussian { sigma = 10, sensitivity = 1 }, law = "geometric", mean = 10 }
      local got = e:epsilon(1e-5)
      return math.abs(got - 0.610158700) > 1e-8, ("%.9f"):format(got)
    end,
    worse = function()
      local one, two = pn.event.gaussian { sigma = 20, sensitivity = 1 }, pn.event.gaussian { sigma = 10, sensitivity = 1 }
      local got, least = pn.event.either { first = one, second = two }:epsilon(1e-5), two:epsilon(1e-5)
      return got < least, ("%.9f below %.9f"):format(got, least)
    end,
    runs = function() -- a tenth, to 5.5 standard deviations
      local rng, first, tosses = pn.rng.seeded(3), 0, 20000
      for _ = 1, tosses do first = first + (selection.stops("geometric", 10, rng) and 1 or 0) end
      return math.abs(first / tosses - 0.1) > 5.5 * math.sqrt(0.09 / tosses), tostring(first / tosses)
    end,
  }
end

return function(audit)
  return { tune = function() return tune(audit) end }
end
