-- init.lua -- require "penumbra": the C half, finished by the Lua half.
-- Depends on: penumbra.core (bindings/), penumbra.help, penumbra.advise,
-- penumbra.check.  Used by: scripts, the program.
local pn = require "penumbra.core"

-- Loaded when it is first asked for, so that `require` stays quick.
function pn.help(...)
  return require "penumbra.help"(...)
end

pn.reference().help = {
  signature = 'pn.help(x)',
  doc = 'Print what is known about x: a name ("frank_wolfe", "set.l1_ball", "pn.vec:dot"), a function, a library, '
    .. 'an object (then its class), or nothing for an overview.  A name that is not known is answered with the '
    .. 'nearest ones.  Returns nothing.',
  reveals = 'nothing',
  kind = 'function',
}

-- pn.advise(data, loss, budget): see advise.lua.
function pn.advise(...)
  return require "penumbra.advise".run(...)
end

pn.reference().advise = {
  signature = 'pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, sets=, solvers=}) -> ranking',
  doc = 'Plan every solver over every set and rank them by the excess risk that its theorem predicts from width, n, p and the '
    .. 'budget.  Spends nothing and looks at no record.  sets: a list; by default the l2, l1, simplex, group and interpolation '
    .. 'balls of the given radius (1).  solvers: a list of names; by default all private ones.  The ranking prints itself; '
    .. 'ranking[i] = {set=, width=, solver=, bound=, iterations=, theorem=, source=, plan=, reason=}, ranking.best the first '
    .. 'with a bound: ranking.best.plan:run() trains.  Other options go to the plans (neighbours=, iterations= ...).',
  reveals = 'nothing',
  kind = 'function',
}

-- pn.check(piece, options): see check.lua.
function pn.check(...)
  return require "penumbra.check".run(...)
end

pn.reference().check = {
  signature = 'pn.check(piece, {probes=, seed=, tolerance=, set=}) -> report',
  doc = 'Probe a set, norm, potential or proximal operator at random points and report which of its promises hold: support is '
    .. 'convex, attained and matches projection and gauge; dual norms fit; a potential has its gradient, is strongly convex '
    .. 'with the declared constant, its inverse gradient inverts, and its steps over set= are optimal; a prox minimises.  The '
    .. 'report prints itself; report.ok is true when nothing failed, report[i] = {name=, ok=, worst=, tolerance=, detail=}.  '
    .. 'probes: 40 by default; tolerance: 1e-7, relative.  It can find a broken promise, not prove one kept.',
  reveals = 'nothing',
  kind = 'function',
}

return pn
