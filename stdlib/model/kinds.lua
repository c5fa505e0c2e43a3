-- kinds.lua -- the kinds of models of pn.model, a row each: its loss, its set and its clip from public numbers, and what its labels
-- must be.
-- Depends on: penumbra.model.noise.  Used by: penumbra.model.
--
-- Public numbers are R = d.bounds.l2 (row norm) and Y (largest absolute label).
--
-- Radii.  A recipe makes rows of norm at most 1 in which a feature's share is about 1/sqrt(columns), so coefficients of the
-- features, which have to be larger by that factor, need room: 40/R for logistic and multinomial leaves margins to +-40.  A ball
-- that is too large costs little, since the noise does not grow with it; one that is too small costs accuracy that no budget
-- buys back.
--
-- Clips.  A clip c puts c in the noise of every gradient and leaves out what records have beyond it.  It is a part f of S R, S the
-- largest slope: 1 for logistic; Y/2 for linear, half of the largest at the start, since larger ones come about only where a
-- prediction is worse than 0 is.  Two public numbers say how much is left out:
--   u, the root mean square of row norms that a recipe's form lets one expect, as a part of R (1 where no recipe says): with f = u
--      the gradient of a logistic loss is never clipped at a row of that norm;
--   r = c sqrt(p)/(n mu), the norm of one released gradient's noise beside S R: much noise hides what is left out, with little it
--      is the error that stays.
-- logistic f = u (K/r)^(1/8), from min(u, 0.8) to 1; linear f = (K/r)^(1/2), from 0.8 u to 1; K = 0.002.  Without privacy f = 1.
-- Default times of solvers are those of the loss without the clip (pn_margin_slope): gradients are followed 1/f times as long
-- before noise has done as much.  How the numbers were found and tested: tests/bench/utility/front_door.md.
-- Poisson and lasso: half of R Y.  In an l1 ball clips change the solver as well: without one, the bound on gradients grows with
-- the radius times R, and on 5000 x 200 synthetic records at epsilon 4 the model stayed at 0 (loss .028 of .030); with it .009.
local noise = require "penumbra.model.noise"

local max, min, abs, log, huge = math.max, math.min, math.abs, math.log, math.huge
local format = string.format

local function largest_label(d)
  local labels = d.bounds.labels
  return labels and max(abs(labels[1]), abs(labels[2]))
end

-- ---- what labels must be ----

-- What a recipe's label is, and the kind of model that takes it.
local function of(label)
  if label.most then return "a count, which pn.model.poisson takes" end
  if label.low then return "a range, which pn.model.linear takes" end
  if #label.classes == 2 then return "of two classes, which pn.model.logistic takes" end
  return format("of %d classes, which pn.model.multinomial takes", #label.classes)
end

-- A text that says what is wrong, or nil.
local function two_classes(label, d)
  if label and not (label.classes and #label.classes == 2) then
    return format("the recipe's label %s is %s; it must name two classes, such as {income = {\"<=50K\", \">50K\"}}", label.name,
      of(label))
  end
  local range = not label and d.bounds.labels -- pn.objective looks at labels of which nothing is enforced
  if range and (range[1] ~= -1 or range[2] ~= 1) then
    return "its labels must be -1 and 1; a recipe with a label of two classes makes them so"
  end
end

local function range(label, d)
  if label and not label.low then
    return format("the recipe's label %s is %s; it must be a range, such as {price = {0, 1e6}}", label.name, of(label))
  end
  local most = not label and largest_label(d)
  if not label and not (most and most > 0 and most < huge) then
    return "its labels have no public range; give a recipe whose label is a range, or data:clip_labels(low, high)"
  end
end

local function classes(label, _, options)
  if label and not (label.classes and #label.classes > 2) then
    return format("the recipe's label %s is %s; it must name three classes or more", label.name, of(label))
  end
  if not label and math.type(options.classes) ~= "integer" then
    return "give classes=, the number of classes, whose labels are 1, 2, ...; a recipe whose label names them says it"
  end
end

local function counts(label, d)
  if label then
    if label.most then return nil end
    return format("the recipe's label %s is %s; it must be a count, such as {%s = {count = 20}}, 20 the largest", label.name,
      of(label), label.name)
  end
  local labels = d.bounds.labels
  if not labels or labels[1] < 0 or not (labels[2] >= 1 and labels[2] < huge) then
    return "its labels must be counts with a public range; data:clip_labels(0, most) makes one"
  end
end

-- ---- the clip ----

local LITTLE = 0.002 -- K

-- f, between `least` and 1; `there` where r = K.  Without noise 1, of (K/0)^power.
local function part(with, d, options, delta, there, power, least)
  return max(least, min(there * (LITTLE / noise.part(with, options, d, delta)) ^ power, 1))
end

-- What the caller says (false: none), or `otherwise`().
local function clip(options, otherwise)
  if options.clip ~= nil then return options.clip or nil end
  return otherwise()
end

-- u.
local function usual(d)
  return (d.bounds.usual or d.bounds.l2) / d.bounds.l2
end

-- ---- the kinds ----

-- labels(label, d, options): what is wrong with the labels, or nil; label is recipe:label() or nil, d nil for a file that has not
-- been read.  objective(with, d, options, label, delta): what pn.objective takes, but for data; with: the functions of pn.  clips:
-- whether the option clip= is for it; squared: its loss is the squared one; vertices: its set is an l1 ball.
local kinds = {
  logistic = {
    what = "logistic regression", labels = two_classes, clips = true,
    objective = function(with, d, options, _, delta)
      local radius, u = options.radius or 40 / d.bounds.l2, usual(d)
      local function chosen()
        local f = part(with, d, options, delta, u, 1 / 8, min(u, 0.8))
        return f < 1 and d.bounds.l2 * f or nil
      end
      return { loss = with.logistic(), set = with.l2_ball { dim = d.p, radius = radius }, clip = clip(options, chosen) }
    end,
  },
  linear = {
    what = "linear regression", labels = range, clips = true, squared = true,
    objective = function(with, d, options, _, delta)
      local radius = options.radius or 10 * largest_label(d) / d.bounds.l2
      local function chosen()
        return d.bounds.l2 * largest_label(d) / 2 * part(with, d, options, delta, 1, 1 / 2, 0.8 * usual(d))
      end
      return { loss = with.squared(), set = with.l2_ball { dim = d.p, radius = radius }, clip = clip(options, chosen) }
    end,
  },
  poisson = {
    what = "Poisson regression", labels = counts, clips = true,
    objective = function(with, d, options)
      return { loss = with.poisson(),
        set = with.l2_ball { dim = d.p, radius = options.radius or 2 * log(1 + largest_label(d)) / d.bounds.l2 },
        clip = clip(options, function() return d.bounds.l2 * largest_label(d) / 2 end) }
    end,
  },
  multinomial = {
    what = "multinomial regression", labels = classes,
    objective = function(with, d, options, label)
      local k = label and #label.classes or options.classes
      local radius = options.radius or 40 / d.bounds.l2
      return { loss = with.softmax { classes = k }, set = with.l2_ball { dim = k * d.p, radius = radius } }
    end,
  },
  lasso = {
    what = "linear regression in an l1 ball", labels = range, clips = true, squared = true, vertices = true,
    objective = function(with, d, options)
      return { loss = with.squared(),
        set = with.l1_ball { dim = d.p, radius = options.radius or 2 * largest_label(d) / d.bounds.linf },
        clip = clip(options, function() return d.bounds.l2 * largest_label(d) / 2 end) }
    end,
  },
}

return kinds
