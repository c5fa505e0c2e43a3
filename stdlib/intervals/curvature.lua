-- intervals/curvature.lua -- how far an answer moves, from a released Hessian: H~ = H + E at the answer theta.
-- Depends on: nothing.  Used by: penumbra.intervals.
--
-- c: matrix (the mean loss's Hessian as released, H~), noise and frobenius (deviation on the diagonal of E; beside it
-- 1/sqrt(2) of that, or as much), regular_diagonal and regular_gradient (of r at theta), damping and pull (d, and what else
-- the gradient of f is balanced with at the answer), clip (of gradients; 0: none).  It answers like fit.curvature.
--
-- A = H~ + Hessian of r + d I is what answers the gradient: noise e on it moves theta by -A^-1 e, to first order.  In the
-- eigenvectors of A noise that is alike on all coordinates stays apart: V_P = sum_k variance(a_k) v_k v_k^T, a_k the
-- eigenvalues; variance(a) is the solver's.
--
-- V_S.  Of a likelihood that holds (logistic, Poisson, softmax) the mean square of a record's gradient is the Hessian:
-- V_S = A^-1 H~ A^-1/n.  Of the squared loss it is r^2 H~, r^2 the residual variance, `residual`.
--
-- Bias.  theta minimises f where grad f = -pull, so that the minimum of f is about theta + A^-1 pull, and that of the mean
-- loss, which the population's value answers to, theta + A^-1 (pull + grad r): what `debias` adds.
--
-- Eigenvalues are raised to the least that r has, no further: raised to the noise they would claim what nobody knows.
-- Those that are still below sqrt(2 p) times the noise, about the norm of E, say nothing about their directions.  A
-- coefficient of which more than a hundredth of the squared length lies there is undetermined; of others the part that leaks
-- there, by the noise in eigenvectors, counts with that norm.
local ipairs, max, min, pairs, sqrt = ipairs, math.max, math.min, pairs, math.sqrt

local LENGTH = 0.01

-- The covariances of a row, a table {feature = factor}; see the header.
return function(c, how)
  local p, A = c.matrix.rows, c.matrix:copy()
  local least = math.huge
  for j = 1, p do
    least = min(least, c.regular_diagonal[j])
    A:set(j, j, A:get(j, j) + c.regular_diagonal[j])
  end
  local values, V = A:eigen()
  local norm = c.noise * sqrt((c.frobenius and 2 or 4) * p)
  local lost, variance, inverse = {}, {}, {}
  for k = 1, p do
    local found = max(values[k], least)
    lost[k] = found < norm
    local a = max(found, norm) + c.damping
    variance[k], inverse[k] = how.variance(a), 1 / a
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
      x[k] = parts[k] * inverse[k]
      sum = sum + x[k] ^ 2 * (1 / inverse[k] - c.damping)
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

  -- What debias adds to theta: A^-1 of the sum of some vectors.
  function out.shift(vectors)
    local b
    for _, one in ipairs(vectors) do b = b and b + one or one end
    local parts = V:t() * b
    for k = 1, p do parts[k] = parts[k] * inverse[k] end
    return V * parts
  end

  return out
end
