-- adaptive_clipping.lua -- gradient descent whose clip follows a quantile of the lengths of the records' gradients.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.adaptive_clipping).
--
-- The objective's clip, or the length of its rows, bounds what a record can ever add, and may be much too large.  A step clips to
-- c, with noise in proportion, and asks as well which share of the gradients was within c, at 1/20 of the gradient's precision; c
-- then changes by a factor, so that the share comes to the quantile.  Both answers are paid, and c is public.
-- In the first tenth of the steps nothing but c moves.  Gradients become short as a model fits, and a clip that follows them leaves
-- out what the misfitted records say: the article's does, this one stays above `keep` times what the first tenth found.
local choose = require "penumbra.solvers.choose"

local SHARE = 0.05

-- From -1, all are longer than the clip, by 0, the quantile is met, to 1, all are within.
local function over(s, ask)
  local share, quantile = ask:within(s.x, s.clip, { share = SHARE }), s.quantile
  return math.max(-1, math.min((share - quantile) / (share > quantile and 1 - quantile or quantile), 1))
end

return {
  name = "adaptive_clipping",
  doc = "Gradient descent with momentum whose clip follows a private quantile of the gradients' lengths.",
  source = "Andrew, Thakkar, McMahan, Ramaswamy (2021)",
  options = { rate = "auto", momentum = "auto", quantile = 0.98, keep = 1, speed = 0.2, output = "average" },
  about = {
    rate = "step size; auto: 1/L, where records may have any length a guess from the clip, or less",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    quantile = "share of the gradients that are not to be clipped, above 0 and below 1",
    keep = "the clip stays above this share of what it settled at, from 0, the article's, to 1",
    speed = "the clip changes by a factor from exp(-speed) to exp(speed) in a step",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) return choose.steps(s, 2) end,
  start = function(s)
    choose.output(s)
    s.quantile, s.speed = choose.number(s, "quantile", 1e-6, 1), choose.number(s, "speed", 0, math.huge)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    choose.number(s, "rate", 0, math.huge, 1)
    s.keep, s.most = choose.number(s, "keep", 0, 1 + 1e-9), math.min(s.objective.bounds.lipschitz.l2, 1e300)
    s.clip, s.least, s.velocity = s.most / 10, 1e-9 * s.most, 0 * s.x
  end,
  step = function(s, ask)
    local settling = s.step <= s.steps / 10
    local factor = math.exp(-(settling and 1 or s.speed) * over(s, ask))
    local g = (s.step == 1 or not settling) and ask:gradient(s.x, { clip = s.clip }) -- what the first step asks is planned
    if not settling then
      s.least = math.max(s.least, s.rate and 0 or s.keep * s.clip)
      s.rate = s.rate or choose.number(s, "rate", 0, math.huge, choose.rate(s, s.momentum, s.clip))
      local x = s.set:project(s.x + s.momentum * s.velocity - s.rate * g)
      s.velocity, s.x = x - s.x, x
    end
    s.clip = math.max(s.least, math.min(s.clip * factor, s.most))
    choose.keep(s)
  end,
  answer = choose.answer,
}
