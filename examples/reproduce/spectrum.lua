-- spectrum.lua -- records whose mean square has the curvatures that one asks for, exactly.  Loaded with dofile by
-- variance_reduced/*.lua; needs penumbra and nothing else.
--
-- Row i has the entries H_ij h_j^(1/2) with Hadamard's signs H, whose columns are orthogonal over any 2^k > p rows, so X^T X/n is
-- diagonal with h on it, and every row has the l2 norm (h_1 + .. + h_p)^(1/2) = 1.  h is spread evenly in logarithms over four
-- decades: whatever time a method takes, some directions have just that curvature, so the problem is hard at every size.
local pn = require "penumbra"

local spectrum = {}

local function sign(i, j)
  local bits, odd = i & j, false
  while bits > 0 do bits, odd = bits & (bits - 1), not odd end
  return odd and -1 or 1
end

-- h_1 > .. > h_p, of sum 1.
function spectrum.curvatures(p)
  local h, sum = {}, 0
  for j = 1, p do
    h[j] = 10 ^ (-4 * (j - 0.5) / p)
    sum = sum + h[j]
  end
  for j = 1, p do h[j] = h[j] / sum end
  return h
end

-- n records, n a power of two above p, with labels that theta_j = truth(j) meets exactly: no loss is above 0 there.
function spectrum.records(n, p, truth)
  local X, y, h = pn.mat.zeros(n, p), pn.vec.zeros(n), spectrum.curvatures(p)
  for i = 1, n do
    local label = 0
    for j = 1, p do
      local entry = sign(i - 1, j) * math.sqrt(h[j])
      X:set(i, j, entry)
      label = label + entry * truth(j)
    end
    y[i] = label
  end
  return pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1)
end

return spectrum
