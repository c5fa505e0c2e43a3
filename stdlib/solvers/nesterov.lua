-- nesterov.lua -- accelerated gradient descent: the gradient is taken where momentum leads, not where it comes from.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.nesterov).
--
-- The only difference from heavy_ball is the point that is asked about.  It keeps steps of 1/L stable for every convex loss, where
-- heavy_ball may swing; averaging the last half of the points takes off part of the noise that is left.
local choose = require "penumbra.solvers.choose"

return {
  name = "nesterov",
  doc = "Accelerated gradient descent with a constant momentum, and the mean of the last half of its points.",
  source = "Nesterov (1983); Devolder, Glineur, Nesterov (2014) for noise in accelerated methods",
  options = { rate = "auto", momentum = "auto", output = "average" },
  about = {
    rate = "step size; auto: 1/L, or less where that would go too far",
    momentum = "share of the last step that leads to the next point asked about; auto: at most 1 - 10/T",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) return choose.steps(s) end,
  start = function(s)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    s.rate = choose.number(s, "rate", 0, math.huge, choose.rate(s, s.momentum))
    choose.output(s)
    s.ahead = s.x
  end,
  step = function(s, ask)
    local x = s.set:project(s.ahead - s.rate * ask:gradient(s.ahead))
    s.ahead = x + s.momentum * (x - s.x)
    s.x = x
    choose.keep(s)
  end,
  answer = choose.answer,
}
