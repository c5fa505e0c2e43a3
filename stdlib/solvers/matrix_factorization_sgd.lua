-- matrix_factorization_sgd.lua -- several passes over batches in a fixed order, with noise that later steps take back in part.
-- Depends on: penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.matrix_factorization_sgd).
--
-- The running sums of gradients are A g, A of ones below the diagonal; with A = B C they are released as B (C g + noise).  A record
-- is in one batch of every pass, so that its steps lie n/batch apart: what C g may change by is bounded for these alone.
-- A step follows the difference of two sums; its noise is partly that of the step before, with the opposite sign.
local choose = require "penumbra.solvers.choose"

return {
  name = "matrix_factorization_sgd",
  doc = "Gradient descent on batches in a fixed order, over several passes, with noise correlated by a matrix factorization.",
  source = "Choquette-Choo, Dvijotham, Pillutla, Ganesh, Steinke, Thakurta (2023); Dvijotham, McMahan, Pillutla, Steinke, "
    .. "Thakurta (2024)",
  options = { rate = "auto", momentum = "auto", epochs = 16, factorization = "banded", output = "average" },
  about = {
    rate = "step size; auto: 1/L, or less where that would go too far",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    epochs = "passes over the records; at most T",
    factorization = "of the running sums, as pn.tree takes it: banded, blt, ...",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s)
    choose.sample(s, s.n * choose.number(s, "epochs", 0, math.huge))
    return math.min(choose.steps(s, 0), s.n)
  end,
  start = function(s)
    choose.output(s)
    choose.factorization(s)
    local epochs = choose.number(s, "epochs", 0, math.huge)
    choose.sample(s, s.n * epochs)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s))
    s.batch = math.ceil(s.n * math.min(epochs / s.steps, 1))
    s.sum, s.velocity = 0 * s.x, 0 * s.x
  end,
  step = function(s, ask)
    local rate = choose.number(s, "rate", 0, math.huge, choose.rate_of_sums(s, s.momentum, ask:noise "prefix"))
    local sums = ask:prefix { factorization = s.options.factorization, batch = { scheme = "shuffled", size = s.batch } }
    local sum = sums:push(s.x)
    local x = s.set:project(s.x + s.momentum * s.velocity - rate * (sum - s.sum))
    s.sum, s.velocity, s.x = sum, x - s.x, x
    choose.keep(s)
  end,
  answer = choose.answer,
}
