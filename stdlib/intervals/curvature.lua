-- intervals/curvature.lua -- how far an answer moves, from a released Hessian: H~ = H + E at the answer theta.
-- Depends on: nothing.  Used by: penumbra.intervals.
--
-- c: matrix (the mean loss's Hessian as released, H~), noise and frobenius (deviation on the diagonal of E; beside it
-- 1/sqrt(2) of that, or as much), regular_diagonal and regular_gradient (of r at theta), as fit.curvature has them.
--
-- In the eigenvectors v of A = H~ + Hessian of r noise that is alike on all coordinates stays apart, and so does the way from
-- the start.  Along each the solver says how the answer of a quadratic follows (how.respond, of the curvatures of the mean loss
-- and of r): the variance of its noise, and which part `left` of the distance from the start to the minimum is left without
-- noise.  V_P = sum of variance v v^T.
--
-- V_S.  The empirical minimum has the covariance A^-1 G A^-1/n, G the mean square of a record's gradient.  Of a likelihood that
-- holds (logistic, Poisson, softmax) G is the Hessian, H~ (how.residual = 1).  Of what the minimum moves, theta has 1 - left.
--
-- Bias.  Without noise theta - start is 1 - left of what the minimum of f is away, so that this is left/(1 - left) of theta -
-- start further on; and r has moved it by -A^-1 grad r from the minimum of the mean loss, which the population's value
-- answers to.  `debias` adds both to theta, which divides its noise by 1 - left, too.
--
-- Eigenvalues are raised to the least that r has, no further: raised to the noise they would claim what nobody knows.
-- Those that are still below sqrt(2 p) times the noise, about the norm of E, say nothing about their directions.  A
-- coefficient of which more than a hundredth of the squared length lies there is undetermined; of others the part that leaks
-- there, by the noise in eigenvectors, counts with that norm.
local max, min, pairs, sqrt = math.max, math.min, pairs, math.sqrt

local LENGTH = 0.01

-- Curvatures along each eigenvector: V, and lists of that of the mean loss, of r, and whether it is lost in the noise.
local function decompose(c)
  local p, A, least = c.matrix.rows, c.matrix:copy(), math.huge
  for j = 1, p do
    least = min(least, c.regular_diagonal[j])
    A:set(j, j, A:get(j, j) + c.regular_diagonal[j])
  end
  local values, V = A:eigen()
  local norm = c.noise * sqrt((c.frobenius and 2 or 4) * p)
  local loss, regular, lost = {}, {}, {}
  for k = 1, p do
    local own = 0
    for j = 1, p do own = own + V[j][k] ^ 2 * c.regular_diagonal[j] end
    local found = max(values[k], least)
    regular[k], lost[k] = own, found < norm
    loss[k] = max(found, norm) - own
  end
  return V, loss, regular, lost
end

-- how: respond, start, debias, residual (nil: V_S is not asked for), n, regular (whether r's gradient is bias).
return function(c, how)
  local p = c.matrix.rows
  local V, loss, regular, lost = decompose(c)
  local variance, follows, left = {}, {}, {}
  for k = 1, p do
    local part
    variance[k], part = how.respond(loss[k], regular[k])
    left[k], follows[k] = part, how.debias and 1 or 1 - part
    if how.debias then variance[k] = variance[k] / (1 - part) ^ 2 end
  end

  -- Along eigenvectors; V[j] is a unit vector there.
  local function turn(row)
    local parts
    for j, factor in pairs(row) do
      local one = V[j] * factor
      parts = parts and parts + one or one
    end
    return parts
  end

  -- x^T H~ x, x = A^-1 row: the sum over eigenvectors counts the regulariser, too.
  local function curved(parts)
    local x, sum = parts:copy(), 0
    for k = 1, p do
      local a = loss[k] + regular[k]
      x[k] = parts[k] * follows[k] / a
      sum = sum + x[k] ^ 2 * a
    end
    x = V * x
    for j = 1, p do sum = sum - c.regular_diagonal[j] * x[j] ^ 2 end
    return max(0, sum)
  end

  local out = {}

  -- Privacy, sampling (nil where it is not asked for), and whether neither is known.
  function out.spread(row)
    local parts = turn(row)
    local whole, hidden, noise = 0, 0, 0
    for k = 1, p do
      local square = parts[k] ^ 2
      whole, noise = whole + square, noise + square * variance[k]
      if lost[k] then hidden = hidden + square end
    end
    return noise, how.residual and how.residual * curved(parts) / how.n or nil, hidden > LENGTH * whole
  end

  -- What debias adds to theta.
  function out.shift(theta)
    local back = V:t()
    local way, pull = back * (theta - how.start), how.regular and back * c.regular_gradient
    for k = 1, p do
      way[k] = way[k] * left[k] / (1 - left[k]) + (pull and pull[k] / (loss[k] + regular[k]) or 0)
    end
    return V * way
  end

  return out
end
