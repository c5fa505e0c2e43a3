-- heavy_ball.lua -- gradient descent with momentum: every step goes on with part of the one before.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.heavy_ball).
--
-- Noise of a step of size eta that lasts 1/(1 - beta) steps moves theta as that of plain steps of size eta/(1 - beta): the answer
-- is as good as that of gradient descent, for about sqrt(10 T) steps in place of T, and so for so many fewer passes.
local choose = require "penumbra.solvers.choose"

return {
  name = "heavy_ball",
  doc = "Gradient descent with momentum: as good as without, in far fewer passes over the records.",
  source = "Polyak (1964); Bassily, Smith, Thakurta (2014) for the noise",
  options = { rate = "auto", momentum = "auto", output = "average" },
  about = {
    rate = "step size; auto: 1/L, or less where that would go too far",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) return choose.steps(s) end,
  start = function(s)
    choose.output(s)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    s.rate = choose.number(s, "rate", 0, math.huge, choose.rate(s, s.momentum))
    s.velocity = 0 * s.x
  end,
  step = function(s, ask)
    local x = s.set:project(s.x + s.momentum * s.velocity - s.rate * ask:gradient(s.x))
    s.velocity = x - s.x -- as far as the set lets it
    s.x = x
    choose.keep(s)
  end,
  answer = choose.answer,
}
