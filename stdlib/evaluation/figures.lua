-- evaluation/figures.lua -- figures of a model and their intervals from noisy counts and means: nothing here sees a record.
-- Depends on: nothing.  Used by: penumbra.evaluation.
--
-- Counts.  Records fall into cells c, N_c of them, and n = sum N_c.  What is released is C_c = N_c + noise of deviation s, one
-- independent draw a cell.  A figure is f(C); with its gradient g_c = df/dC_c its variance is, to first order,
--
--     V_noise = s^2 sum g_c^2,      V_sampling = sum N_c g_c^2 - (sum N_c g_c)^2 / n
--
-- (a multinomial sample; N_c is estimated by max(C_c, 0)).  The interval is f +- z sqrt(V_noise + V_sampling).
--
-- Where n is public (replace_one, zero_out), sum C_c is known to be n, so (sum C - n)/cells is taken off each C_c first: that
-- removes the part of the noise along (1, ..., 1), and gradients of the figures that divide by n are taken minus their mean.
--
-- Of two classes with bins j of the predicted probability, P_j and N_j count the labels 1 and -1.
--   A figure that is linear, f = sum w_c C_c / n, has g_c = (w_c - mean w)/n, or (w_c - f)/sum C where n is not public.
--   AUC = sum_j P_j (N_{<j} + N_j/2)/(P N), on the counts as they are (setting negative ones to 0 would move it):
--     dAUC/dP_j = (N_{<j} + N_j/2 - AUC N)/(P N),   dAUC/dN_j = (P_{>j} + P_j/2 - AUC P)/(P N).
--   Where P or N is below five deviations of itself, 5 s sqrt(bins), the ratio says nothing, and there is no AUC.
local sqrt, max, min, log, huge = math.sqrt, math.max, math.min, math.log, math.huge

local figures = {}

-- ---- intervals ----

-- Value and ends are put into [low, high], where the figure itself is.
local function figure(name, value, noise, sampling, z, low, high)
  local half = z * sqrt(noise + sampling)
  local function inside(x) return max(low or -huge, min(high or huge, x)) end
  return { name = name, value = inside(value), low = inside(value - half), high = inside(value + half), noise = sqrt(noise),
    sampling = sqrt(sampling) }
end

-- Of f(C) with the gradient g; total: sum of the counts.
local function of_gradient(name, value, g, counts, total, s, z, low, high)
  local noise, square, mean = 0, 0, 0
  for c = 1, #counts do
    local count = max(counts[c], 0)
    noise, square, mean = noise + g[c] * g[c], square + count * g[c] * g[c], mean + count * g[c]
  end
  return figure(name, value, s * s * noise, max(0, square - mean * mean / max(total, 1)), z, low, high)
end

-- f = sum w_c C_c / total
local function linear(name, w, counts, total, known, s, z, low, high)
  local value, mean, g = 0, 0, {}
  for c = 1, #counts do value, mean = value + w[c] * counts[c] / total, mean + w[c] / #counts end
  for c = 1, #counts do g[c] = (w[c] - (known and mean or value)) / total end
  return of_gradient(name, value, g, counts, total, s, z, low, high)
end

-- The counts with the public total; and the total.
local function projected(counts, n)
  local total, out = 0, {}
  for c = 1, #counts do total = total + counts[c] end
  if not n then return counts, total end
  for c = 1, #counts do out[c] = counts[c] - (total - n) / #counts end
  return out, n
end

-- ---- two classes ----

local function half_counts(counts, bins)
  local P, N, negative, positive = 0, 0, {}, {}
  for j = 1, bins do
    negative[j], positive[j] = counts[j], counts[bins + j]
    P, N = P + positive[j], N + negative[j]
  end
  return positive, negative, P, N
end

local function auc(counts, bins, total, s, z)
  local positive, negative, P, N = half_counts(counts, bins)
  local least = 5 * s * sqrt(bins)
  if P < max(least, 1) or N < max(least, 1) then
    return nil, ("too few: %s records of a class, and the noise on that count is %.3g"):format(
      ("%.0f"):format(max(0, min(P, N))), s * sqrt(bins))
  end
  local below, sum, g = 0, 0, {}
  for j = 1, bins do
    sum = sum + positive[j] * (below + negative[j] / 2)
    below = below + negative[j]
  end
  local value = sum / (P * N)
  local under, over = 0, P
  for j = 1, bins do
    over = over - positive[j]
    g[bins + j] = (under + negative[j] / 2 - value * N) / (P * N)
    g[j] = (over + positive[j] / 2 - value * P) / (P * N)
    under = under + negative[j]
  end
  return of_gradient("auc", value, g, counts, total, s, z, 0, 1)
end

-- Points from (0, 0) to (1, 1), for thresholds from 1 down to 0.
local function roc(counts, bins)
  local positive, negative, P, N = half_counts(counts, bins)
  local hits, false_alarms, out = 0, 0, { threshold = { 1 }, fpr = { 0 }, tpr = { 0 } }
  for j = bins, 1, -1 do
    hits, false_alarms = hits + positive[j], false_alarms + negative[j]
    local k = #out.fpr + 1
    out.threshold[k], out.fpr[k], out.tpr[k] = (j - 1) / bins, false_alarms / N, hits / P
  end
  return out
end

-- Of each bin: what was predicted, at its centre, and which share of its records has label 1.
local function calibration(counts, bins, s, z)
  local out = {}
  for j = 1, bins do
    local P, total = counts[bins + j], counts[bins + j] + counts[j]
    local row = { predicted = (j - 0.5) / bins, count = total }
    if total >= 5 * s * sqrt(2) and total >= 1 then
      local share = P / total
      local inside = max(0, min(1, share))
      local noise = s * s * ((1 - share) ^ 2 + share ^ 2) / total ^ 2
      local one = figure("share", share, noise, inside * (1 - inside) / total, z, 0, 1)
      row.share, row.low, row.high = one.value, one.low, one.high
    end
    out[j] = row
  end
  return out
end

-- counts[2 bins], s the deviation of each; n public or nil; z of the intervals.  bins is even: 1/2 is an edge.
function figures.two(raw, bins, s, n, z)
  local counts, total = projected(raw, n)
  local right, loss, label = {}, {}, {}
  for j = 1, bins do
    local p = (j - 0.5) / bins
    right[j], right[bins + j] = p < 0.5 and 1 or 0, p < 0.5 and 0 or 1
    loss[j], loss[bins + j] = -log(1 - p), -log(p)
    label[j], label[bins + j] = 0, 1
  end
  local list = { linear("accuracy", right, counts, total, n, s, z, 0, 1) }
  local area, why = auc(raw, bins, total, s, z)
  list[#list + 1] = area
  list[#list + 1] = linear("log_loss", loss, counts, total, n, s, z, 0)
  list[#list + 1] = linear("positives", label, counts, total, n, s, z, 0, 1)
  local confusion = { true_positive = 0, false_negative = 0, true_negative = 0, false_positive = 0 }
  for j = 1, bins do
    local high = j > bins / 2
    local p, m = high and "true_positive" or "false_negative", high and "false_positive" or "true_negative"
    confusion[p], confusion[m] = confusion[p] + counts[bins + j], confusion[m] + counts[j]
  end
  return { list = list, no_auc = why, roc = roc(raw, bins), calibration = calibration(raw, bins, s, z), confusion = confusion,
    counts = counts, records = total }
end

-- ---- several classes, one figure, errors ----

-- counts[k k], of label a and prediction b at (a - 1) k + b.
function figures.several(raw, classes, s, n, z)
  local counts, total = projected(raw, n)
  local right, confusion = {}, {}
  for a = 1, classes do
    confusion[a] = {}
    for b = 1, classes do
      local c = (a - 1) * classes + b
      right[c], confusion[a][b] = a == b and 1 or 0, counts[c]
    end
  end
  return { list = { linear("accuracy", right, counts, total, n, s, z, 0, 1) }, confusion = confusion, counts = counts,
    records = total }
end

-- The share of n records that are named rightly, with noise of deviation s.
function figures.share(value, s, n, z)
  local inside = max(0, min(1, value))
  return { list = { figure("accuracy", value, s * s, inside * (1 - inside) / n, z, 0, 1) }, records = n }
end

-- Means of u = min(e^2/B^2, 1) and u^2 over n records, each with noise of deviation s: the root of the first, in units of B.
-- V_sampling = (mean u^2 - (mean u)^2)/n, mean u^2 taken a deviation of its noise higher, so that noise that falls short of
-- (mean u)^2 does not hide the spread, and at most u (1 - u)/n, which no u in [0, 1] exceeds.  The ends of the interval of
-- mean u are what the root is taken of.
function figures.error(means, s, n, z, B)
  local u, inside = means[1], max(0, min(1, means[1]))
  local spread = min(inside * (1 - inside), max(0, means[2] + s - inside ^ 2))
  local one = figure("mean", u, s * s, spread / n, z, 0, 1)
  local value = B * sqrt(max(0, u))
  if value == 0 then -- the noise hides it: the root of a deviation
    return { list = { { name = "rmse", value = 0, low = 0, high = B * sqrt(one.high), noise = B * sqrt(s), sampling = 0 } },
      records = n }
  end
  local slope = B * B / (2 * value)
  return { list = { { name = "rmse", value = value, low = B * sqrt(one.low), high = B * sqrt(one.high), noise = one.noise * slope,
    sampling = one.sampling * slope } }, records = n }
end

return figures
