-- public.lua -- public= of pn.model: records that the caller declares public give the private fit a place to begin, an offset, a
-- scale and a prior.  All here is computed from those records and from public numbers (sizes, bounds, the price); of the private
-- data set only what is enforced is looked at, and no figure compares the two.
-- Depends on: penumbra.call, penumbra.model.noise, penumbra.passing.  Used by: penumbra.model.
--
-- The public model is the exact minimum over the kind's set, with the ridge of RIDGES that is best on parts of the public records
-- which the minimum has not seen: SPLITS times a fifth, by coins of fixed seeds, so that the same records give the same model.  It
-- is the first point of the private fit.  Beside that:
--
--   offset   labels y - <x, theta_pub>, clipped to Y0, a quantile of the residuals on those unseen parts (residuals of the records
--            that a model was fitted to are too small).  Set and clip of the kind follow from Y0 as they do from the range of
--            labels, so that the noise shrinks by Y0/Y.  For the squared loss.
--   moment   rows z = P x, P = H^(-1/2), H = (1/m) sum x x' + a I of the public records, a = FLOOR tr(H)/p.  A bound of rows
--            becomes ||P|| R, which is large, so they are clipped again, at the quantile INSIDE of ||P x|| over the public records.
--            theta = shift + P' theta_z is put back before anybody sees a model.  Only when asked for: where the private records
--            lie along directions in which the public ones vary little, the second clip cuts what is to be learned.
--   prior    (lambda/2) (theta - theta_pub)' H (theta - theta_pub) is added, H the Hessian of the public loss at theta_pub.  A mean
--            gradient of m public records spreads by the draw of these: v/m on all d coordinates together, v = tr(H) of a
--            likelihood and r^2 tr(H) of the squared loss, r^2 the mean square of its residuals.  That of the n private ones
--            spreads by v/n, and one release of it with all of the budget has noise d (c G/(n mu))^2, c = 2 for replace_one and 1
--            for zero_out, G the most that a record's gradient has: as a mean of n' records would spread,
--            1/n' = 1/n + d (c G/(n mu))^2/v.
--            lambda = m/n' weighs the public records by what they tell.
local call = require "penumbra.call"
local passing = require "penumbra.passing"
local price = require "penumbra.model.noise".price

local error, getmetatable, ipairs, pcall, type = error, getmetatable, ipairs, pcall, type
local abs, ceil, huge, log, max, sqrt = math.abs, math.ceil, math.huge, math.log, math.max, math.sqrt
local concat, format, sort = table.concat, string.format, table.sort
local shown = call.shown

local public = {}

local RIDGES = { 1e-4, 1e-3, 1e-2, 1e-1, 1 } -- times R^2/p, R the bound of rows
local SPLITS, PART = 5, 0.8
local FLOOR, INSIDE = 1e-3, 0.95
local FEWEST = 20 -- public records
local WIDEST = 1500 -- coordinates of theta that have a matrix

local params = {
  { name = "data", expects = "a path, a table of columns or a pn.dataset" },
  { name = "offset", expects = "true or false" },
  { name = "quantile", expects = "a number" },
  { name = "moment", expects = "true or false" },
  { name = "prior", expects = "true or false or a number" },
}

-- ---- what is asked ----

local function flag(owner, asked, name, default)
  local value = asked[name]
  if value == nil then return default end
  if type(value) ~= "boolean" then error(format("%s: public.%s must be true or false, got %s", owner, name, shown(value)), 0) end
  return value
end

local function read(owner, row, value, dim)
  local asked = type(value) == "table" and getmetatable(value) == nil and value.data ~= nil and value or { data = value }
  call.check(owner .. ": public", params, asked)
  local small, prior, q = dim <= WIDEST, asked.prior, asked.quantile
  local of = { data = asked.data, quantile = q }
  of.offset = flag(owner, asked, "offset", row.squared or false)
  of.moment = flag(owner, asked, "moment", false)
  if prior == nil then prior = small end
  if type(prior) == "number" and prior > 0 and prior < huge then
    of.prior, of.weight = true, prior
  elseif type(prior) == "boolean" then
    of.prior = prior
  else
    error(format("%s: public.prior must be true, false or a number above 0, its weight, got %s", owner, shown(prior)), 0)
  end
  if of.offset and not row.squared then
    error(owner .. ": public.offset is for the squared loss, of model.linear and model.lasso; leave it out", 0)
  end
  if of.moment and row.vertices then
    error(owner .. ": public.moment changes the coordinates, in which an l1 ball is no longer one; leave it out", 0)
  end
  if (of.moment or of.prior) and not small then
    error(format("%s: public.moment and public.prior are for at most %d coefficients, there are %d", owner, WIDEST, dim), 0)
  end
  if q ~= nil and not (type(q) == "number" and q > 0 and q < 1) then
    error(format("%s: public.quantile must be a number between 0 and 1, got %s", owner, shown(q)), 0)
  end
  return of
end

-- ---- the records ----

-- As the private ones are: by the same recipe, and clipped to the same bounds.
local function records(with, owner, data, options, part, recipe)
  local d = data
  if d == options.data then
    error(owner .. ": public.data and data are the same: public records need no privacy, and private ones are not public", 0)
  end
  if type(d) == "string" or type(d) == "table" then
    if not recipe then error(owner .. ": public.data is a file, and the private data set has no recipe to read it by", 0) end
    d = type(d) == "table" and recipe:data(d) or recipe:data(d, options.csv)
  elseif not with.is(d, "pn.dataset") then
    error(format("%s: public.data must be the path of a CSV file, a table of columns or a pn.dataset, got %s", owner, shown(d)), 0)
  elseif recipe and not (d.recipe and d.recipe:json() == recipe:json()) then
    error(owner .. ": public.data is not of the private data set's recipe; make it by recipe:data(path)", 0)
  end
  if d.p ~= part.p then error(format("%s: public.data has %d features, the private one %d", owner, d.p, part.p), 0) end
  if d.n < FEWEST then error(format("%s: public.data has %d records; %d are the fewest", owner, d.n, FEWEST), 0) end
  local labels = part.bounds.labels
  return labels and d:clip_rows("l2", part.bounds.l2):clip_labels(labels[1], labels[2]) or d:clip_rows("l2", part.bounds.l2)
end

-- ---- the public model ----

local function minimum(with, d, problem, ridge)
  return with.exact(with.objective { data = d, loss = problem.loss, set = problem.set, reg = with.l2(ridge) }, { tol = 1e-6 }).theta
end

-- |y - <x, theta>|, appended to `out`.
local function residuals(d, theta, out)
  local y = d:offset_labels(theta, 1e300).y
  for i = 1, #y do out[#out + 1] = abs(y[i]) end
end

local function on_parts(with, parts, problem, ridge, squared)
  local out = { ridge = ridge, risk = 0, residuals = {} }
  for _, part in ipairs(parts) do
    local theta = minimum(with, part.train, problem, ridge)
    out.risk = out.risk + with.objective { data = part.test, loss = problem.loss }:value(theta) / #parts
    if squared then residuals(part.test, theta, out.residuals) end
  end
  return out
end

local function split(with, d)
  local parts = {}
  for k = 1, SPLITS do
    local train, test = d:split(PART, with.seeded(k))
    parts[k] = { train = train, test = test }
  end
  return parts
end

-- Hessian of the objective: a column for each coordinate.
local function hessian(with, objective, theta)
  local columns, p = {}, #theta
  for j = 1, p do columns[j] = objective:hvp(theta, with.basis(p, j)):table() end
  return with.mat(columns)
end

-- The mean of x x' over the records.
local function second_moment(with, d)
  return hessian(with, with.objective { data = d, loss = with.squared() }, with.zeros(d.p))
end

local function trace(H)
  local sum = 0
  for j = 1, H.rows do sum = sum + H:get(j, j) end
  return sum
end

local function learn(with, d, problem, squared)
  local parts, best = split(with, d), nil
  for _, factor in ipairs(RIDGES) do
    local one = on_parts(with, parts, problem, factor * d.bounds.l2 ^ 2 / d.p, squared)
    if not best or one.risk < best.risk then best = one end
  end
  best.theta = minimum(with, d, problem, best.ridge)
  sort(best.residuals)
  return best
end

local function quantile(list, q)
  return list[max(1, ceil(q * #list))]
end

-- ---- what becomes of the private problem ----

-- Where noise is small beside what clipping leaves out, less is clipped.
local function where_to_clip(options, n)
  local epsilon = options.epsilon or options.rho and 2 * sqrt(options.rho * log(n * n)) or huge
  return n * epsilon > 1e4 and 0.99 or 0.95
end

-- of.data: labels less the prediction of the public model, whose quantile the bound is.
local function take_offset(of, options)
  local q = of.asked.quantile or where_to_clip(options, of.part.n)
  local bound = quantile(of.learned.residuals, q)
  if not (bound > 0) then error(of.owner .. ": the public model leaves no residuals, so nothing is left to learn", 0) end
  of.data, of.records = of.part:offset_labels(of.learned.theta, bound), of.records:offset_labels(of.learned.theta, bound)
  of.shift, of.bound, of.quantile, of.start = of.learned.theta, bound, q, nil
  of.say[#of.say + 1] = format("their model's prediction is subtracted from the labels, and the remainder is clipped at %.4g, the "
    .. "quantile %g of their residuals", bound, q)
end

-- H^power, H symmetric and positive.
local function power(with, H, exponent)
  local U, s = H:svd()
  local rows, across = {}, U:t()
  for k = 1, #s do rows[k] = (s[k] ^ exponent * across[k]):table() end
  return U * with.mat(rows)
end

-- Each margin's part of theta.
local function mapped(with, matrix, theta)
  local out, p = {}, matrix.cols
  for first = 1, #theta, p do
    for _, x in ipairs((matrix * theta:slice(first, first + p - 1)):table()) do out[#out + 1] = x end
  end
  return with.vec(out)
end

local function take_moment(with, of)
  local H, p, norms = second_moment(with, of.records), of.records.p, {}
  local floor = FLOOR * trace(H) / p
  for j = 1, p do H:set(j, j, H:get(j, j) + floor) end
  local P = power(with, H, -0.5)
  local z = of.records:transform(P)
  local rows = z.X
  for i = 1, z.n do norms[i] = rows[i]:norm() end
  sort(norms)
  of.map, of.inside = P, quantile(norms, INSIDE)
  of.data, of.records = of.data:transform(P):clip_rows("l2", of.inside), z:clip_rows("l2", of.inside)
  of.start = of.start and mapped(with, power(with, H, 0.5), of.start)
  of.say[#of.say + 1] = format("rows are scaled by the root of their second moment and clipped at norm %.4g", of.inside)
end

-- m/n', as the head has it.
local function weight(with, options, of, problem, H, delta)
  local n, mu, c = of.part.n, price(with, options, delta)
  local spread = trace(H) * (of.row.squared and 2 * of.learned.risk or 1)
  local noise = H.rows * (c * with.objective(problem).bounds.lipschitz.l2 / (n * mu)) ^ 2
  return of.records.n * (1 / n + noise / max(spread, 1e-300))
end

local function take_prior(with, options, of, problem, delta)
  local dim = problem.set.dim
  local H = hessian(with, with.objective { data = of.records, loss = problem.loss }, of.start or with.zeros(dim))
  of.weight = of.asked.weight or weight(with, options, of, problem, H, delta)
  problem.reg = with.quadratic { A = H, center = of.start, lambda = of.weight }
  of.say[#of.say + 1] = format("a prior about their model, with the curvature of their loss, has the weight %.3g", of.weight)
end

-- The problem of the private part with what the public records make of it: {problem =, start =, finish = fit -> fit in the
-- coordinates of `part`, ...}.
function public.problem(with, owner, row, options, part, recipe, label, delta)
  local fine, why = pcall(with.seeded, 1)
  if not fine and passing(why) then error(why, 0) end
  if not fine then
    error(owner .. ": public= is not available to analysts: it computes models of records without noise, which nothing pays for", 0)
  end
  local plain = row.objective(with, part, options, label, delta)
  local asked = read(owner, row, options.public, plain.set.dim)
  local d = records(with, owner, asked.data, options, part, recipe)
  local learned = learn(with, d, plain, row.squared)
  local of = { owner = owner, row = row, asked = asked, part = part, data = part, records = d, learned = learned,
    start = learned.theta, say = {} }
  if asked.offset then take_offset(of, options) end
  if asked.moment then take_moment(with, of) end
  local problem = row.objective(with, of.data, options, label, delta)
  problem.data, of.problem = of.data, problem
  if asked.moment and of.start then
    problem.set = with.l2_ball { dim = #of.start, radius = problem.set.radius, center = of.start }
  end
  if asked.prior then take_prior(with, options, of, problem, delta) end
  local words = { asked.offset and "offset" or "start", asked.moment and "second moment" or nil }
  words[#words + 1] = asked.prior and "prior" or nil
  local declared = format("%s from %d records", concat(words, ", "), d.n)
  function of.finish(fit) return fit:in_terms_of(part, { map = of.map, shift = of.shift, declared = declared }) end
  return of
end

-- A plan from an offset takes 0 for a constant prediction; here it is the public model.
function public.warnings(of, plan)
  if not (of and of.asked.offset and plan.hopeless) then return plan.warnings end
  local all = {}
  for k, text in ipairs(plan.warnings) do all[k] = text end
  all[1] = "the noise is predicted to hide what the private records add to the public model: more records or a larger budget "
    .. "would help"
  return all
end

-- What the model keeps of it.
function public.about(of)
  return { theta = of.learned.theta, records = of.records.n, offset = of.asked.offset, moment = of.asked.moment,
    prior = of.asked.prior, bound = of.bound, quantile = of.quantile, inside = of.inside, map = of.map, weight = of.weight,
    text = concat(of.say, "; ") }
end

return public
