-- adam.lua -- Adam with noise: a step size for each coordinate, from squares of released gradients less those of the noise.
-- Depends on: penumbra.core, penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.adam).
--
-- A released gradient is g + N(0, sigma^2), so its mean square is too large by sigma^2, which is public: without taking it off, the
-- square root is sigma in every coordinate, and Adam a slow gradient descent.  What is left may be negative: `floor` bounds it.
local pn = require "penumbra.core"
local choose = require "penumbra.solvers.choose"

return {
  name = "adam",
  doc = "Adam whose second moment is corrected for the variance of the noise, which is public.",
  source = "Kingma, Ba (2015); Tang, Shpilevskiy, Lecuyer (2023)",
  options = { rate = "auto", floor = "auto", beta1 = 0.9, beta2 = 0.95, output = "average" },
  about = {
    rate = "how far a coordinate moves in a step where its gradient is larger than the noise; auto: 20 G/(L T)",
    floor = "least root of a second moment; auto: where a step is then that of heavy_ball",
    beta1 = "share of the mean gradient that a step keeps, from 0 to below 1",
    beta2 = "share of the mean square that a step keeps, from 0 to below 1",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) return choose.steps(s) end,
  start = function(s)
    choose.output(s)
    s.beta1, s.beta2 = choose.number(s, "beta1", 0, 1), choose.number(s, "beta2", 0, 1)
    s.rate = choose.number(s, "rate", 0, math.huge, 20 * choose.margin(s) / s.steps)
    s.floor = choose.number(s, "floor", 0, math.huge, s.rate / math.min(s.time / s.steps, 2 * s.steps))
    s.mean1, s.mean2 = 0 * s.x, 0 * s.x
  end,
  step = function(s, ask)
    local g, noise = ask:gradient(s.x), ask:noise "gradient"
    s.mean1 = s.beta1 * s.mean1 + (1 - s.beta1) * g
    s.mean2 = s.beta2 * s.mean2 + (1 - s.beta2) * g * g
    local square = s.mean2 / (1 - s.beta2 ^ s.step) - noise ^ 2
    local root = pn.max(pn.sqrt(pn.max(square, 0)), s.floor)
    s.x = s.set:project(s.x - s.rate / (1 - s.beta1 ^ s.step) * s.mean1 / root)
    choose.keep(s)
  end,
  answer = choose.answer,
}
