-- oracle_pairs.lua -- for every question a pair of data sets that it tells apart as well as its certified sensitivity allows, to be
-- audited.
-- Depends on: penumbra.  Used by: tests/runtime/oracle/audit_spec.lua, tests/regress/mutants_oracle.lua.
local pn = require "penumbra"

local at_ball, at_interval = { set = pn.set.l2_ball { dim = 1, radius = 1 } }, { set = pn.set.l1_ball { dim = 1, radius = 1 } }

-- Four records on the line; the first is the one that differs.
local function four(x, y, loss, rest, others)
  others = others or { 0, 0, 0 }
  local data = pn.data.from({ { x }, { others[1] }, { others[2] }, { others[3] } }, { y, 1, 1, 1 })
    :clip_rows("l2", 1):clip_labels(-1, 1)
  local parts = { data = data, loss = loss }
  for name, value in pairs(rest or {}) do parts[name] = value end
  return pn.objective(parts)
end

-- Curvature of either sign, and a slope of +-1 at 0.
local bowl = pn.loss.glm(function(z, y) return y * pn.sqrt(1 + z ^ 2) end, { labels = { lo = -1, hi = 1 } })
local zero, one, leaning = { 0 }, { 1 }, { 1, 1, -1 }

local function label(z, y) return y + 0 * z end

-- name -> the pair under replace_one; how it is asked; the number of the answer that tells, or nil for a choice.
local function first(answer) return answer[1] end
local function itself(answer) return answer end

local pairs_of = {
  gradient = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options) return ask:gradient(zero, options) end, first },
  clipped_gradient = { { four(1, 1, pn.loss.squared(), { clip = 0.5 }), four(1, -1, pn.loss.squared(), { clip = 0.5 }) },
    function(ask, options) return ask:gradient(zero, options) end, first },
  moment = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options) return ask:moment(label, zero, options) end, first },
  difference = { { four(1, 1, bowl, at_ball), four(1, -1, bowl, at_ball) },
    function(ask, options)
      local with = { reach = 0.5 } -- clipped on both sides
      for name, value in pairs(options) do with[name] = value end
      return ask:difference(one, zero, with)
    end, first },
  hessian = { { four(1, 1, bowl, at_ball), four(1, -1, bowl, at_ball) },
    function(ask, options) return ask:hessian(zero, options) end, function(answer) return answer[1][1] end },
  hvp = { { four(1, 1, bowl, at_ball), four(1, -1, bowl, at_ball) },
    function(ask, options) return ask:hvp(zero, one, options) end, first },
  convex_hvp = { { four(1, 1, pn.loss.squared(), at_ball), four(0, 1, pn.loss.squared(), at_ball) },
    function(ask, options) return ask:hvp(zero, one, options) end, first },
  mean = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options) return ask:mean(label, zero, options) end, itself },
  value = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options) return ask:value(one, options) end, itself },
  values = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options) return ask:values({ one, one, one }, options) end,
    function(answer) return answer[1] + answer[2] + answer[3] end },
  differences = { { four(1, 1, pn.loss.hinge(), at_ball), four(1, -1, pn.loss.hinge(), at_ball) },
    function(ask, options)
      local with = { radius = 0.5 }
      for name, value in pairs(options) do with[name] = value end
      return ask:differences(zero, { one, { -1 } }, with)
    end, function(answer) return answer[1] - answer[2] end },
  -- the others lean to one side: the choice of the other has odds of 1 against e^-epsilon
  vertex = { { four(1, 1, pn.loss.hinge(), at_interval, leaning), four(1, -1, pn.loss.hinge(), at_interval, leaning) },
    function(ask, options) return select(2, ask:vertex(zero, options)) end },
  choose = { { four(1, 1, pn.loss.hinge(), at_ball, leaning), four(1, -1, pn.loss.hinge(), at_ball, leaning) },
    function(ask, options) return ask:choose({ one, { -1 } }, options) end },
}

local out = {}
for name, parts in pairs(pairs_of) do
  out[name] = { neighbours = parts[1], ask = parts[2], score = parts[3] }
end

-- A function for pn.audit that asks with those options, and the epsilon at delta that the ledger was charged for one answer.
function out.asker(name, options, delta)
  local of = out[name]
  local function ask(objective, rng, ledger)
    local answer = of.ask(pn.oracle { objective = objective, ledger = ledger, rng = rng }, options)
    return of.score and of.score(answer) or answer
  end
  local once = pn.ledger { epsilon = 1e6, delta = delta > 0 and delta or nil, teaching = true }
  ask(of.neighbours[1], pn.rng.seeded(1), once)
  local ledger = pn.ledger { rho = 1e12, teaching = true }
  return function(objective, rng) return ask(objective, rng, ledger) end, once.spent, of.neighbours
end

return out
