-- plot_privacy.lua -- figures of privacy and of runs: epsilon against delta or steps by accountants, values of a fit's trace.
-- Depends on: penumbra.core, penumbra.frame (bindings/core/lprogress.c), penumbra.plot.values.  Used by: penumbra.plot.
local pn = require "penumbra.core"
local frame = require "penumbra.frame"
local values = require "penumbra.plot.values"
local refuse = values.refuse

local builders = {}

local function label_of(owner, options, k)
  local labels = options.labels
  if labels == nil then return end
  if type(labels) ~= "table" then refuse(owner, "labels must be a list of strings, got %s", values.shown(labels)) end
  return values.text(owner, ("labels[%d]"):format(k), labels[k])
end

-- ---- traces ----

-- The solver and the cost that its run states; of a simulation, what the same run with secret noise would have.
local function budget_of(fit)
  local privacy, plan = fit.privacy, fit.plan
  if not privacy then return plan.solver .. ", not private" end
  local spent = privacy.simulated and plan or privacy
  local text = spent.epsilon and ("epsilon %.3g, delta %.1g"):format(spent.epsilon, spent.delta or 0)
    or spent.rho and ("rho %.3g"):format(spent.rho) or "private"
  return ("%s, %s%s"):format(plan.solver, text, privacy.simulated and ", simulation" or "")
end

local function reference_of(owner, reference)
  if type(reference) == "table" then reference = reference.value end
  if reference == nil then return end
  return values.list(owner, "reference", { reference })[1]
end

-- Why there is no point of fit %d.
local function why_empty(fit, left_out)
  if left_out > 0 then return "no value of fit %d can be drawn on a logarithmic axis" end
  if fit.privacy and not fit.privacy.simulated then
    return "the trace of fit %d has no values: it was a private run, whose values on the way are not released; "
      .. "a run with rng=pn.rng.seeded(1) is a simulation and has them"
  end
  return "the trace of fit %d has no values: solve." .. fit.plan.solver .. " does not compute the objective on its way; "
    .. "collect what you want to see with run{on_step=} and draw it with plot.line"
end

-- Places and values of a fit's trace; on a logarithmic axis the points that are not positive are left out and counted.
local function trace_layer(owner, options, fit, k, reference)
  if values.kind(fit) ~= "pn.fit" then refuse(owner, "argument %d must be a fit, got %s", k, values.shown(fit)) end
  local layer, left_out = { kind = "line", x = {}, y = {}, colour = k }, 0
  for _, row in ipairs(fit.trace) do
    local y = row.value and row.value - (reference or 0)
    if y and (y > 0 or not options.logy) and y == y and y < math.huge then
      layer.x[#layer.x + 1], layer.y[#layer.y + 1] = row[options.x], y
    elseif y then
      left_out = left_out + 1
    end
  end
  if #layer.x == 0 then refuse(owner, why_empty(fit, left_out), k) end
  layer.label = label_of(owner, options, k) or budget_of(fit)
  if left_out > 0 then layer.label = ("%s (%d points <= 0 left out)"):format(layer.label, left_out) end
  layer.marks = #layer.x == 1
  return layer
end

-- pn.plot.trace
function builders.trace(owner, options, fits)
  local reference, layers = reference_of(owner, options.reference), {}
  options.x = options.x or "step"
  if options.x ~= "step" and options.x ~= "gradients" then
    refuse(owner, "x must be 'step' or 'gradients', got %s", values.shown(options.x))
  end
  if options.logy == nil then options.logy = reference ~= nil end
  for k, fit in ipairs(fits) do
    layers[k] = trace_layer(owner, options, fit, k, reference)
    if options.logx then values.positive(owner, options.x, layers[k].x) end
  end
  return {
    layers = layers, logx = options.logx, logy = options.logy, ylabel = reference and "excess risk" or "objective",
    xlabel = options.x == "step" and "step" or "gradient evaluations of one record",
  }
end

-- ---- privacy ----

local function short(text)
  text = tostring(text):gsub("\n.*", ""):gsub("^pn%.%w+: ", ""):gsub("^accountant%.", "")
  return #text > 50 and text:sub(1, 47) .. "..." or text
end

-- What has a curve, the event of a plan or mechanism, an event, an accountant; and its name, without the relation.
local function curve_of(owner, thing, k)
  local kind = values.kind(thing)
  local event = (kind == "pn.plan" or kind == "pn.mechanism") and thing.event
  if kind == "pn.event" or kind == "pn.accountant" then
    local text = tostring(thing)
    return thing, kind, short(thing.neighbours and text:gsub(", " .. thing.neighbours .. "$", "") or text)
  elseif event then
    return event, "pn.event", kind == "pn.plan" and thing.solver or ("%s(%.4g)"):format(thing.name, thing.scale)
  end
  refuse(owner, "argument %d must be an event, plan, mechanism or accountant, got %s", k,
    kind == "pn.plan" and "a plan without privacy" or values.shown(thing))
end

-- The things as { curve, kind, label }, and the relation when they have one in common; different ones are in the labels.
local function curves_of(owner, options, things)
  local curves, relation, several = {}, nil, false
  for k, thing in ipairs(things) do
    local curve, kind, own = curve_of(owner, thing, k)
    relation = relation or curve.neighbours
    several = several or curve.neighbours ~= nil and curve.neighbours ~= relation
    curves[k] = { curve = curve, kind = kind, label = label_of(owner, options, k) or own }
  end
  for _, one in ipairs(several and curves or {}) do
    if one.curve.neighbours then one.label = one.label .. ", " .. one.curve.neighbours end
  end
  return curves, not several and relation or nil
end

local function is_accountant(name)
  return type(name) == "string" and name ~= "selftest" and rawget(pn.accountant, name) ~= nil
end

local function known_accountants()
  local known = {}
  for name in pairs(pn.accountant) do known[#known + 1] = is_accountant(name) and name or nil end
  table.sort(known)
  return table.concat(known, ", ")
end

local function accountant_names(owner, given)
  if given == nil then return { "rdp" } end
  if type(given) ~= "table" or #given == 0 then
    refuse(owner, "accountants must be a list of names, got %s", values.shown(given))
  end
  for k, name in ipairs(given) do
    if not is_accountant(name) then
      refuse(owner, "accountants[%d]: there is no accountant %s; known are %s", k, values.shown(name), known_accountants())
    end
  end
  return given
end

local function accountant(name, event, count)
  return pn.accountant[name] {}:add(event, count)
end

-- gnuplot's dash types of the second, third and fourth of each four curves: those that coincide are all seen.
local DASHES = { 2, 4, 5 }

-- Adds the curve of epsilon(place) over places; what has no finite epsilon somewhere has no point there.
local function put_curve(layers, places, epsilon_at, label)
  local layer = { kind = "line", x = {}, y = {}, label = label, colour = #layers + 1, dashed = DASHES[#layers % 4] }
  frame("plot.privacy", #places, nil, function(tell)
    for k, place in ipairs(places) do
      local epsilon = epsilon_at(place)
      if epsilon < math.huge then layer.x[#layer.x + 1], layer.y[#layer.y + 1] = place, epsilon end
      tell(k, epsilon)
    end
  end)
  if #layer.x > 0 then
    layer.marks = #layer.x == 1
    layers[#layers + 1] = layer
  end
end

local function spread(low, high, count)
  local list = {}
  for i = 0, count - 1 do list[i + 1] = low * (high / low) ^ (i / (count - 1)) end
  return list
end

-- What the legend says of a thing composed by an accountant: what tells it from the others.
local function named(one, accounted, curves, accountants)
  if accountants == 1 then return one.label end
  return curves > 1 and one.label .. ", " .. accounted or accounted
end

local function against_delta(owner, options, curves, names, layers)
  local ends = values.range(owner, "deltas", options.deltas) or { 1e-12, 1e-2 }
  if not (ends[1] > 0 and ends[2] < 1) then refuse(owner, "deltas must be {low, high} between 0 and 1") end
  local deltas = spread(ends[1], ends[2], 41)
  for _, one in ipairs(curves) do
    if one.kind == "pn.accountant" or options.accountants == nil then
      put_curve(layers, deltas, function(delta) return (one.curve:epsilon(delta)) end, one.label)
    else
      for _, name in ipairs(names) do
        local made = accountant(name, one.curve, 1)
        put_curve(layers, deltas, function(delta) return (made:epsilon(delta)) end, named(one, name, #curves, #names))
      end
    end
  end
  return "delta"
end

-- Whole numbers from 1 to the largest, closer together at first: about 30 of them.
local function step_numbers(owner, given)
  if type(given) == "table" then
    local list = values.list(owner, "steps", given)
    for i = 1, #list do values.whole(owner, ("steps[%d]"):format(i), list[i], 1) end
    return list
  end
  local most, list = values.whole(owner, "steps", given, 1) or 1000, {}
  for _, place in ipairs(spread(1, math.max(most, 2), 30)) do
    local whole = math.min(math.floor(place + 0.5), most)
    if whole ~= list[#list] then list[#list + 1] = whole end
  end
  return list
end

local function against_steps(owner, options, curves, names, layers)
  local delta = values.number(owner, "delta", options.delta, 0) or 1e-6
  if delta >= 1 then refuse(owner, "delta must be below 1, got %g", delta) end
  local steps = step_numbers(owner, options.steps)
  for k, one in ipairs(curves) do
    if one.kind == "pn.accountant" then
      refuse(owner, "argument %d is an accountant: give the event that happens in each step, and accountants={names}", k)
    end
    for _, name in ipairs(names) do
      local text = named(one, name, #curves, #names)
      put_curve(layers, steps, function(count) return (accountant(name, one.curve, count):epsilon(delta)) end, text)
    end
  end
  return "steps", ("epsilon at delta = %g"):format(delta)
end

-- pn.plot.privacy
function builders.privacy(owner, options, things)
  local against, layers = options.against or "delta", {}
  if against ~= "delta" and against ~= "steps" then
    refuse(owner, "against must be 'delta' or 'steps', got %s", values.shown(against))
  end
  local names = accountant_names(owner, options.accountants)
  local draw = against == "delta" and against_delta or against_steps
  local curves, relation = curves_of(owner, options, things)
  local xlabel, ylabel = draw(owner, options, curves, names, layers)
  if #layers == 0 then refuse(owner, "no epsilon is finite: there is nothing to draw") end
  if options.logx == nil then options.logx = true end
  ylabel = (ylabel or "epsilon") .. (relation and ", " .. relation or "")
  return { layers = layers, logx = options.logx, logy = options.logy, xlabel = xlabel, ylabel = ylabel,
    title = #curves == 1 and #names > 1 and curves[1].label or nil }
end

return builders
