-- covertype.lua -- Covertype as the second-order experiments take it: its ten numeric columns standardised (public
-- preprocessing), everything divided by 4, rows clipped to norm 1; file label 1 is +1, 2 is -1.  Used by: the specs beside it.
-- Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM.
local pn = require "penumbra"

return function(folder)
  local raw = pn.data.libsvm(folder .. "/covtype.libsvm.binary.gz", {labels = {[1] = 1, [2] = -1}, sparse = false})
  local X, n, numeric = raw.X, raw.n, 10
  local mean, square, scale = X:t() * (pn.vec.ones(n) / n), pn.vec.zeros(raw.p), pn.vec.ones(raw.p) / 4
  for j = numeric + 1, raw.p do mean[j] = 0 end
  for i = 1, n do
    local off = X[i] - mean
    square:axpy(1, off * off)
  end
  for j = 1, numeric do scale[j] = 0.25 / math.sqrt(square[j] / n) end
  local scaled = pn.mat.zeros(n, raw.p)
  for i = 1, n do scaled[i]:axpy(1, (X[i] - mean) * scale) end
  return pn.data.from(scaled, raw.y):clip_labels(-1, 1):clip_rows("l2", 1)
end
