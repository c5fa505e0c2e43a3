-- coordinate_descent.lua -- blocks of coordinates that move in turn.
-- Depends on: penumbra.core, penumbra.solvers.choose.  Used by: penumbra.solvers (pn.solve.coordinate_descent).
--
-- What is paid: a record of l2 norm 1 may lie in one block as well as in all of them, so that a block of a gradient costs what the
-- whole gradient costs.  Each answer therefore pays for all coordinates, and a solver that threw away the others would have b times
-- the noise with b blocks.  Here they are kept: the block whose turn it is moves along the sum of all answers since it last moved.
-- The others have moved in between, which is what there is to gain.
local pn = require "penumbra.core"
local choose = require "penumbra.solvers.choose"

-- A vector for each block: 1 in it, 0 elsewhere.
local function blocks_of(s, count)
  local blocks = {}
  for k = 1, count do
    local inside = {}
    for j = 1, s.dim do inside[j] = (j - 1) * count // s.dim == k - 1 and 1 or 0 end
    blocks[k] = pn.vec(inside)
  end
  return blocks
end

local function count_of(s)
  local count = choose.number(s, "blocks", 1, s.dim + 1)
  if count == count // 1 then return count // 1 end
  error(("%s: blocks must be a whole number, got %g"):format(s.called, count), 0)
end

return {
  name = "coordinate_descent",
  doc = "Blocks of coordinates move in turn, each along all that was answered since it last moved, with momentum.",
  source = "Wright (2015); Mangold, Bellet, Salmon, Tommasi (2022)",
  options = { rate = "auto", momentum = "auto", blocks = 2, output = "average" },
  about = {
    rate = "step size for each answer; auto: 1/(L blocks), or less where that would go too far",
    momentum = "share of the last step that the next one keeps, from 0 to below 1; auto: at most 1 - 10/T",
    blocks = "how many, of neighbouring coordinates; at most as many as there are",
    output = "average: the mean of the points of the last half; last: the last one",
  },
  iterations = function(s) return choose.within(s, math.ceil(choose.steps(s, 0) * count_of(s))) end,
  start = function(s)
    choose.output(s)
    local count = count_of(s)
    s.blocks = blocks_of(s, count)
    s.momentum = choose.number(s, "momentum", 0, 1, choose.momentum(s, count))
    s.rate = choose.number(s, "rate", 0, math.huge, math.min(choose.rate(s, s.momentum), choose.longest(s) / count))
    s.kept, s.velocity = 0 * s.x, 0 * s.x
  end,
  step = function(s, ask)
    local block = s.blocks[(s.step - 1) % #s.blocks + 1]
    s.kept = s.kept + ask:gradient(s.x)
    local x = s.set:project(s.x + block * (s.momentum * s.velocity - s.rate * s.kept))
    s.velocity = s.velocity + block * (x - s.x - s.velocity)
    s.kept = s.kept - block * s.kept
    s.x = x
    choose.keep(s)
  end,
  answer = choose.answer,
}
