-- ftrl.lua -- follow the regularised leader: every point is the start less the private sum of all gradients so far.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.ftrl).
--
-- Noise is added to the running sum, correlated from step to step so that it does not add up, and one charge pays for all steps.
-- Each record is in one batch, so that a run is one pass, and nothing rests on batches that nobody knows: the guarantee holds for
-- any order.  The objective's regulariser is not in the sums: the set, or the start, holds the answer.
local choose = require "penumbra.solvers.choose"

return {
  name = "ftrl",
  doc = "Follow the regularised leader with momentum, on correlated noise: one pass, and no secret batches.",
  source = "Kairouz, McMahan, Song, Thakkar, Thakurta, Xu (2021)",
  options = { rate = "auto", momentum = "auto", factorization = "blt", output = "average" },
  about = {
    rate = "step size; auto: 1/L, or less where that would go too far",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    factorization = "of the running sums, as pn.tree takes it: blt, banded, or binary, the tree of the article",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s)
    choose.sample(s, s.n)
    return math.min(choose.steps(s, 0), s.n)
  end,
  start = function(s)
    choose.output(s)
    choose.factorization(s)
    choose.sample(s, s.n)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    s.batch = math.max(s.n // s.steps, 1)
    s.first, s.moved = s.x, 0 * s.x
  end,
  step = function(s, ask)
    local rate = choose.number(s, "rate", 0, math.huge, choose.rate_of_sums(s, s.momentum, ask:noise "prefix"))
    local sums = ask:prefix { factorization = s.options.factorization, batch = { scheme = "shuffled", size = s.batch } }
    s.moved = s.momentum * s.moved + sums:push(s.x)
    s.x = s.set:project(s.first - rate * s.moved)
    choose.keep(s)
  end,
  answer = choose.answer,
}
