-- advise/show.lua -- how the answer of pn.advise prints itself.
-- Depends on: penumbra.brief, penumbra.wrap.  Used by: penumbra.advise.
local brief = require "penumbra.brief"
local wrap = require "penumbra.wrap"

local SHOWN = 4 -- solvers of a set, where there are several sets

local function number(x)
  return x and ("%.4g"):format(x) or "-"
end

-- At most 51 columns of it.
local function short(text)
  return #text <= 51 and text or text:sub(1, 48) .. "..."
end

local function filled(text, lead, indent)
  return (wrap(lead or "  ", text, indent or 4):gsub("\n$", ""))
end

-- ---- the tables ----

local function heading(group)
  return filled(("over %s, reach %s%s"):format(brief(group.set), group.reach and number(group.reach) or "unknown",
    group.width and (", width %s"):format(number(group.width)) or ""))
end

local function group_lines(self, group, names, lines)
  local format, most = "%s %-" .. names .. "s %7s %11s %9s", #self.sets > 1 and SHOWN or math.huge
  local shown, left = 0, 0
  lines[#lines + 1] = heading(group)
  for _, row in ipairs(group.rows) do
    if not row.reason and shown < most then
      if shown == 0 then lines[#lines + 1] = format:format("   ", "solver", "steps", "predicted", "risk <=") end
      lines[#lines + 1] = format:format(row.best_of_set and "  *" or "   ", row.solver, row.iterations, number(row.predicted),
        number(row.bound))
      shown = shown + 1
    elseif not row.reason then
      left = left + 1
    end
  end
  if left > 0 then lines[#lines + 1] = ("    and %d more, each in ranking[i]"):format(left) end
  if group.why then lines[#lines + 1] = filled("no solver is recommended: " .. group.why, "    ", 6) end
end

local function tables(self, lines)
  local names = 6
  for _, row in ipairs(self) do names = math.max(names, row.reason and 0 or #row.solver) end
  for _, group in ipairs(self.sets) do group_lines(self, group, names, lines) end
end

-- ---- the probe ----

local function probe_lines(self, lines)
  local probe = self.probe
  local function line(mark, name, loss)
    lines[#lines + 1] = ("  %s %-51s %10s +- %s"):format(mark, short(name), number(loss), number(probe.sd))
  end
  lines[#lines + 1] = filled(("probe%s: mean losses of models that a share of %g of the budget has paid for, with noise"):format(
    probe.simulated and ", a simulation with seeded noise" or "", probe.share))
  line(" ", "theta = 0", probe.start)
  for _, group in ipairs(self.sets) do
    if group.probe_loss then line(group.set == probe.set and "*" or " ", brief(group.set), group.probe_loss) end
  end
  for _, group in ipairs(self.sets) do
    if group.unprobed then lines[#lines + 1] = filled(("not probed over %s: %s"):format(brief(group.set), group.unprobed)) end
  end
end

local function probe_verdict(self, lines)
  local probe, best = self.probe, self.best
  if best then
    lines[#lines + 1] = filled(("* recommended: solve.%s over %s, with what is left"):format(best.solver, brief(best.set)))
  elseif probe.set then
    lines[#lines + 1] = filled(("* recommended: %s, but no plan over it can be made with what is left"):format(brief(probe.set)))
  else
    lines[#lines + 1] = filled(("no set beats the start by more than the noise of the probe (%s +- %s)"):format(
      number(probe.start), number(probe.sd)))
  end
  local left = self.ledger
  lines[#lines + 1] = filled(("left for the final fit: %s %s, in ranking.ledger"):format(left.rho and "rho" or "epsilon",
    number(left.remaining)))
  lines[#lines + 1] = filled "the probe's fits have less budget than the final one, so it favours sets that need little"
end

-- ---- the recommendation ----

local function recommendation(self)
  if #self.sets > 1 then
    return filled "no set is recommended: figures of different sets are about different best models"
  end
  local best = self.best
  return filled(best and ("* recommended: solve.%s over %s"):format(best.solver, brief(best.set))
    or "nothing can be recommended over this set")
end

-- What tells sets apart, and that the radius was not chosen by anybody.
local function what_next(self, lines)
  if #self.sets > 1 and not self.probe then
    lines[#lines + 1] = filled("which set fits is in the records: probe=0.1 with ledger= spends a tenth of the budget to compare "
      .. "the starred solvers on them, pn.advise(data, loss, {epsilon=, delta=, probe=0.1, ledger=L})")
  end
  if self.guess then
    lines[#lines + 1] = filled(("radius %s is a guess: give radius= or radii={1, 4, 16}; over a set that is too small margins "
      .. "stay near those of the start"):format(number(self.guess)))
  end
end

-- ---- sources ----

-- Where each solver's figures come from, once, and how many rows have none.
local function sources(rows, lines)
  local lacking, told = 0, {}
  for _, row in ipairs(rows) do
    if row.reason then
      lacking = lacking + 1
    elseif not told[row.solver] then
      told[row.solver] = true
      lines[#lines + 1] = filled(("%s: %s; %s"):format(row.solver, row.theorem or row.prediction, row.source))
    end
  end
  if lacking > 0 then
    lines[#lines + 1] = filled(("no figure in %d of %d rows: ranking[i].reason says why"):format(lacking, #rows))
  end
end

-- Solvers that no bound ranks, where a plan of theirs can be made: what else speaks for them.
local unranked = {
  { "sufficient_statistics", "for the squared loss one release of all second moments was ahead of gradients without clip= "
    .. "over nearly every ball that was tried; it needs no set: solve.sufficient_statistics(pn.objective{data=, loss=}, budget)" },
  { "newton", "newton has no bound to be ranked by, yet few steps suffice it and it was ahead on ill-conditioned records "
    .. "of moderate dimension; it needs no set: solve.newton(pn.objective{data=, loss=}, budget)" },
  { "second_order", "the loss is not convex: second_order certifies a second-order stationary point in place of a risk; "
    .. "it needs no set: solve.second_order(pn.objective{data=, loss=}, budget)" },
}

-- The first of them that fits: a warning says that noise leaves nothing of its second derivatives.
local function beyond_ranking(rows)
  for _, candidate in ipairs(unranked) do
    for _, row in ipairs(rows) do
      local plan = row.solver == candidate[1] and row.plan
      if plan and not tostring(plan):find("\n  warning ", 1, true) and rows.convex == (row.solver ~= "second_order") then
        return filled(candidate[2])
      end
    end
  end
end

return function(self)
  local lines = { filled(("advice for %s, %s; %s"):format(self.problem, self.budget,
    self.probe and "the probe is paid for" or "nothing is spent"), "", 4),
    filled("Risks compare solvers over one set, never sets: each is that over the best point of its set.  Reach is the most that "
      .. "the mean loss can fall below its value at the start.", "  ", 2) }
  tables(self, lines)
  if self.probe then
    probe_lines(self, lines)
    probe_verdict(self, lines)
  else
    lines[#lines + 1] = recommendation(self)
  end
  what_next(self, lines)
  lines[#lines + 1] = beyond_ranking(self)
  sources(self, lines)
  return table.concat(lines, "\n")
end
