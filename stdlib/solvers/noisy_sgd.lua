-- noisy_sgd.lua -- stochastic gradient descent: every step sees a batch that nobody else knows, and pays less for it.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.noisy_sgd).
--
-- A batch of b records has noise of about z/b where all records would have z'/n.  From b = 11 G/(noise sqrt(T)) on, noise the
-- deviation of one gradient that takes the whole budget, secrecy of the batch makes up for b/n but for a few per cent, so that a
-- smaller one is not better, and a larger one costs time only.
local choose = require "penumbra.solvers.choose"

local FACTOR = 11

local function size_of(s, T)
  local wanted = FACTOR * s.objective.bounds.lipschitz.l2 / (s.noise * math.sqrt(T))
  local size = math.ceil(math.min(math.max(wanted, s.n / 50), s.n))
  return choose.number(s, "size", 1, math.huge, s.noise > 0 and size or math.min(s.n, 1000))
end

return {
  name = "noisy_sgd",
  doc = "Stochastic gradient descent on secret batches, and the last point or the mean of the last half.",
  source = "Abadi et al. (2016); Shamir, Zhang (2013) for averages of the last points",
  options = { rate = "auto", momentum = "auto", size = "auto", output = "average" },
  about = {
    rate = "step size: a number, a vector of T numbers, or a function of the step; auto: 1/L, or less where that is too far",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    size = "records of a batch, where batch= is not given; auto: from the noise, at least n/50",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) -- fewer steps have larger batches: T times its batch is as sqrt(T), or as T
    local T = choose.steps(s, 0)
    local _, full = choose.within(s, T, size_of(s, T) / s.n)
    while choose.within(s, T, size_of(s, T) / s.n) < T do T = math.max(math.floor(0.9 * T), 1) end
    return T, full
  end,
  start = function(s)
    choose.output(s)
    choose.schedule(s, "rate")
    local size = size_of(s, s.steps)
    s.batch = s.options.batch == nil and size < s.n and { size = size } or s.options.batch or false
    choose.sample(s, size * s.steps)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    s.auto = choose.rate(s, s.momentum)
    s.velocity = 0 * s.x
  end,
  step = function(s, ask)
    local rate = choose.at_step(s, "rate", s.auto)
    local x = s.set:project(s.x + s.momentum * s.velocity - rate * ask:gradient(s.x, { batch = s.batch }))
    s.velocity, s.x = x - s.x, x
    choose.keep(s)
  end,
  answer = choose.answer,
}
