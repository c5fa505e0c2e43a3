/* alloc_test.c -- the Lua module when memory runs out: Lua's allocations and the runtime's are one sequence, and the
 * k-th fails, for every k (in the fast tier for every 13th, and each call in the text).  Nothing may leak, crash, or
 * be reported as done when it was not.  usage_alloc_test.c does the same with all examples.
 * Depends on: check.h, fail_alloc.h, Lua, bindings/. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include <lualib.h>

#include "bindings/core/pnl.h"

#include "fail_alloc.h"

#define OPENING_VARIES                                                                                                 \
    64 /* more allocations than openings differ by: tables grow by their keys' hashes, which are random (4 or so) */

/* One loop over a thousand rows makes it, so the same places allocate again and again.  Sanitizers, which take twenty
 * times as long, see every seventh of these. */
#define REFERENCE "the reference"
#ifdef __SANITIZE_ADDRESS__
#define REFERENCE_STRIDE 7
#else
#define REFERENCE_STRIDE 1
#endif

typedef struct script {
    const char *name, *text;
} script;

/* Each is called as script(pn) in a fresh state; the first only opens the module. */
static const script scripts[] = {
    { "the module", "return ..." },
    { REFERENCE, "local pn = ...\n"
                 "assert(pn.reference()['set.l1_ball'].params)" },
    { "vectors and matrices", "local pn = ...\n"
                              "local v = pn.vec { 1, 2, 3 }\n"
                              "assert((2 * v + v):dot(v) == 42 and v:slice(2, 3):sum() == 5)\n"
                              "local A = pn.mat { { 2, 0 }, { 0, 3 } }\n"
                              "assert((A * A):get(2, 2) == 9 and A:t().rows == 2)\n"
                              "assert(math.abs(A:solve(pn.vec { 2, 3 })[2] - 1) < 1e-14)\n"
                              "local U, s, V = A:svd()\n"
                              "assert(math.abs(s[1] - 3) < 1e-14 and U.rows == 2 and V.rows == 2)\n"
                              "local S = pn.sparse { rows = 2, cols = 2, i = { 1, 2 }, j = { 2, 1 }, x = { 5, 7 } }\n"
                              "assert((S * pn.vec { 1, 1 })[1] == 5 and S:t().nnz == 2)\n"
                              "assert(pn.exp(pn.vec { 0, 0 }):sum() == 2 and tostring(v))\n" },
    { "traces, bounds and maps",
      "local pn = ...\n"
      "local e = pn.trace(function(z, y) return pn.softplus(-y * z) + pn.where(pn.gt(z, 1), z ^ 2, 1) end)\n"
      "assert(#tostring(e) > 20 and e.variables[2] == 'y' and math.abs(e(0, 1) - 1.693147) < 1e-6)\n"
      "assert(e:derivative('z')({ 0, 0 }, 1)[2] == -0.5)\n"
      "assert(e:bound { z = { -1, 1 }, y = { values = { -1, 1 } } }.max[2] < 2.32)\n"
      "assert(tostring(pn.bound(function(t) return t ^ 2 - t end, { t = { 0, 1 } })))\n"
      "assert(pn.vec { 1, 2 }:map(function(t) return t + 1 end)[2] == 3)\n"
      "assert(pn.mat { { 1, 2 } }:map(pn.exp).cols == 2)\n" },
    { "traces that fail", "local pn = ...\n"
                          "local v, kept = pn.vec { 1, 2 }, nil\n"
                          "local function fails(part, f, ...)\n"
                          "  local fine, problem = pcall(f, ...)\n"
                          "  if fine or not tostring(problem):find(part, 1, true) then error(problem, 0) end\n"
                          "end\n"
                          "fails('cannot be decided', v.map, v, function(t) kept = t return t > 0 end)\n"
                          "fails('traced before', v.map, v, function(t) return t + kept end)\n"
                          "fails('enough', pn.bound, function(t) error('enough', 0) end, { t = { 0, 1 } })\n"
                          "fails('table: ', pn.trace, function(t) error {} end)\n"
                          "fails('returned nil', pn.trace, function(t) return (t + 1) and nil end)\n"
                          "fails('not used', pn.trace, function(t) return pn.lt(t, 0) and t end)\n"
                          "fails('use pn.exp', pn.trace, function(t) return math.exp(t) end)\n"
                          "fails('no range is given for t', pn.bound, function(t) return t end, {})\n"
                          "fails('unbounded', pn.bound, function(t) return pn.log(t) end, { t = { 0, 1 } })\n" },
    { "sets", "local pn = ...\n"
              "local C = pn.set.l1_ball { dim = 3, radius = 1 } + pn.vec { 1, 0, 0 }\n"
              "assert(C:contains(C:project(pn.vec { 5, 5, 5 }), 1e-12) and (2 * C):support(pn.vec { 1, 0, 0 }) == 4)\n"
              "local P = pn.set.polytope { vertices = { { 1, 0 }, { 0, 1 }, { -1, -1 } } }\n"
              "assert(P:project(pn.vec { 3, 3 }):sum() < 1 + 1e-9 and P:vertices().rows == 3)\n"
              "local B = pn.set.box { lower = { -1, -2 }, upper = { 1, 2 } }\n"
              "assert(B:support(pn.vec { 1, 1 }) == 3 and tostring(B))\n" },
    { "data sets",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 }):clip_rows('l2', 1):clip_labels(-1, 1)\n"
      "assert(d.bounds.l2 == 1 and d:add_bias().p == 3 and d:take(2).n == 2)\n"
      "local train, test = d:split(0.5, pn.rng.seeded(1))\n"
      "assert(train.n + test.n == 3 and d.X.rows == 3)\n"
      "assert(pn.data.synthetic.lasso { n = 5, p = 3, seed = 1 }.n == 5 and tostring(d))\n" },
    { "privacy", "local pn = ...\n"
                 "local L = pn.ledger { epsilon = 2, delta = 1e-6 }\n"
                 "local e = pn.event.compose { pn.event.gaussian { sigma = 9, sensitivity = 1 }, pn.event.pure { "
                 "epsilon = 0.1 } }\n"
                 "L:spend(e, 'first')\n"
                 "assert(L.remaining < 2 and L:price(e) > 0 and tostring(L:report()))\n"
                 "assert(not pcall(L.spend, L, pn.event.pure { epsilon = 5 }, 'too much'))\n"
                 "local half, rest = pn.ledger({ rho = 1 }):split(2)\n"
                 "assert(half.remaining == 0.5 and rest.remaining == 0.5)\n"
                 "local acc = pn.accountant.rdp {}\n"
                 "acc:add(e, 3)\n"
                 "assert(acc:epsilon(1e-6) > 0.1)\n" },
    { "receipts",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 }):clip_rows('l2', 1):clip_labels(-1, 1)\n"
      "local o = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 2, radius = 1 } }\n"
      "local L = pn.ledger { epsilon = 1, delta = 1e-6 }\n"
      "local options = { epsilon = 0.4, delta = 1e-7, iterations = 2, ledger = L:split(2) }\n"
      "local r = pn.solve.gradient_descent(o, options):receipt()\n"
      "assert(#r.words > 100 and r:table().subject == 'fit' and L:receipt():table().subject == 'ledger')\n"
      "assert(#pn.tree { dim = 2, sigma = 3, sensitivity = 1, horizon = 4 }:receipt().json > 100)\n" },
    { "releases", "local pn = ...\n"
                  "local L = pn.ledger { rho = 100 }\n"
                  "local g = pn.mechanism.gaussian { sigma = 2, sensitivity = 1, dim = 2 }\n"
                  "local v, r = g:release({ 1, 2 }, { ledger = L, label = 'two means' })\n"
                  "assert(#v == 2 and r.private and r.label == 'two means' and r.rho < 0.126 and tostring(r))\n"
                  "local s = pn.mechanism.sparse_vector { epsilon = 8, sensitivity = 1, answers = 2, restart = true }\n"
                  "assert(#s:release({ 500, 500, 500 }, { ledger = L }) == 2)\n"
                  "local run = s:open { ledger = L, rng = pn.rng.secure() }\n"
                  "assert(run:above(500) and run.left == 1 and tostring(run) and tostring(s))\n"
                  "assert(#L:report() == 2)\n" },
    { "samplers",
      "local pn = ...\n"
      "for _, s in ipairs { pn.sampler.full { n = 9 }, pn.sampler.poisson { n = 9, q = 0.5 },\n"
      "  pn.sampler.fixed { n = 9, batch = 3 }, pn.sampler.shuffled { n = 9, batch = 3 } } do\n"
      "  assert(#s:draw(pn.rng.seeded(1)) <= 9 and s:event { sigma = 2, contribution = 1 } and tostring(s))\n"
      "end\n" },
    { "samplings",
      "local pn = ...\n"
      "local function draw(rng) return { rng:integer(2) } end\n"
      "local half = pn.mat { { 0.5, 0 }, { 0, 0.5 } }\n"
      "local obj = pn.objective { data = pn.data.from({ { 1, 2 }, { 3, 1 } }, { 1, 2 }), loss = pn.loss.squared(),\n"
      "  set = pn.set.box { lower = { -1 }, upper = { 1 } }:product(2 * pn.set.l1_ball { dim = 1, radius = 1 }) }\n"
      "for _, s in ipairs { pn.sampling.full { blocks = 2 }, pn.sampling.serial { blocks = 2, p = { 0.9, 0.1 } },\n"
      "  pn.sampling.distributed { blocks = 2, groups = 2, tau = 1, sizes = { 1, 1 } },\n"
      "  pn.sampling.custom { blocks = 2, p = { 0.5, 0.5 }, pairs = half, draw = draw } } do\n"
      "  assert(#s:draw(pn.rng.seeded(1)) <= 2 and pn.curvature(obj, s).exact and tostring(s))\n"
      "  local fit = pn.solve.block_frank_wolfe(obj, { privacy = false, sampling = s, iterations = 3 })\n"
      "  assert(#fit.trace == 3)\n"
      "end\n" },
    { "audits",
      "local pn = ...\n"
      "local event = pn.event.pure { epsilon = 3 }\n"
      "local options = { neighbours = { {}, { 1 } }, trials = 100, event = event, delta = 0.1, progress = false }\n"
      "for _, unit in ipairs { 1, 0.5, true, 'yes', { 1, 2 } } do\n"
      "  options.rng = pn.rng.seeded(1)\n"
      "  local found = pn.audit(function() return unit end, options)\n"
      "  assert(found.epsilon_lower == 0 and not found.violated and tostring(found))\n"
      "end\n"
      "local run = pn.audit(function(included) return pn.vec.zeros(#included) end, { canaries = 9 })\n"
      "assert(run.hits[2] == 9)\n"
      "local fine, problem = pcall(pn.audit, function() error('enough', 0) end, options)\n"
      "if problem ~= 'enough' then error(problem, 0) end\n" },
    { "a plan and its run",
      "local pn = ...\n"
      "local data = pn.data.synthetic.lasso { n = 20, p = 3, seed = 1 }\n"
      "local set = pn.set.l1_ball { dim = 3, radius = 1 }\n"
      "local obj = pn.objective { data = data, loss = pn.loss.squared(), set = set }\n"
      "local plan = pn.solve.frank_wolfe.plan(obj, { rho = 0.5, iterations = 2 })\n"
      "local steps = 0\n"
      "local fit = plan:run { on_step = function() steps = steps + 1 end, progress = false }\n"
      "assert(steps == 2 and fit.steps == 2 and #fit.trace == 2 and fit.theta:norm(1) <= 1 + 1e-12)\n"
      "assert(tostring(plan) and tostring(fit) and fit.privacy.rho <= 0.5)\n" },
    { "questions, and a solver that asks them",
      "local pn = ...\n"
      "local data = pn.data.synthetic.logistic { n = 20, p = 2, seed = 1 }:clip_rows('l2', 1)\n"
      "local set = pn.set.l1_ball { dim = 2, radius = 1 }\n"
      "local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = set }\n"
      "local x, e, L = { 0, 0 }, { 1, 0 }, pn.ledger { rho = 1 }\n"
      "local ask = pn.oracle { objective = obj, ledger = L }\n"
      "assert(#ask:gradient(x, { rho = 0.01 }) == 2 and ask:hvp(x, e, { rho = 0.01, batch = 5 }))\n"
      "assert(ask:mean(pn.tanh, x, { rho = 0.01 }) and ask:choose({ x, e }, { rho = 0.01 }) < 3 and L.spent <= 0.04)\n"
      "local own = pn.solver { name = 'own', options = { rate = 1 }, step = function(s, ask)\n"
      "  local g, v = ask:gradient(s.x, { share = 2 }), ask:values { s.x, e }\n"
      "  s.x, s.v = s.set:project(s.x - s.options.rate * g), v\n"
      "end }\n"
      "local fit = own.plan(obj, { rho = 0.1, iterations = 2 }):run { ledger = L, progress = false }\n"
      "assert(fit.steps == 2 and L.spent <= 0.14 and L.spent > 0.139 and tostring(own) and tostring(fit.plan))\n" },
    { "losses that users write",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 })\n"
      "local l = pn.loss.glm(function(z, y) return pn.log(1 + pn.exp(-y * z)) end, { labels = { -1, 1 } })\n"
      "local obj = pn.objective { data = d, loss = l, clip = 0.5, reg = pn.reg.l2(0.1) }\n"
      "assert(obj:gradient({ 1, 2 }):norm() < 1 and obj:value({ 0, 0 }, { 1, 3 }) > 0.69)\n"
      "assert(obj.bounds.lipschitz.l2 == 0.5 and tostring(obj) and tostring(l) and l.slope_formula)\n"
      "assert(#obj:factors({ 1, 2 }) == 3 and #obj:losses({ 1, 2 }) == 3)\n" },
    { "losses of several margins",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 }):clip_rows('l2', 1)\n"
      "local l = pn.loss.margins { k = 2, extra = 2, labels = { -1, 1 }, name = 'net', f = function(z, w, y)\n"
      "  return pn.softplus(-y * (w[1] * pn.tanh(z[1]) + w[2] * pn.tanh(z[2]))) end }\n"
      "local theta = { 1, 2, 3, 4, 5, 6 }\n"
      "local obj = pn.objective { data = d, loss = l, set = pn.set.l2_ball { dim = 6 } }\n"
      "assert(#obj:gradient(theta) == 6 and #obj:hvp(theta, theta) == 6 and obj.bounds.source == 'certified')\n"
      "assert(tostring(l) and l.formula and #l:evaluate({ { 1 }, { 1 }, { 1 }, { 1 } }, { 1 }) == 1)\n"
      "obj = pn.objective { data = d, loss = l, clip = 0.5 }\n"
      "assert(#obj:gradient(theta, { 1, 3 }) == 6 and obj:factors(theta).rows == 4)\n" },
    { "black boxes",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 })\n"
      "local l = pn.loss.black_box { value = function(t, x, y) return t:dot(x) * y end, lipschitz = 5 }\n"
      "local obj = pn.objective { data = d, loss = l }\n"
      "assert(obj:value({ 1, 1 }) == (7 - 1 + 2) / 3 and obj.bounds.source == 'declared')\n"
      "assert(obj:differences({ 0, 0 }, pn.mat { { 1, 0 } }, 1)[1] == 2 / 3)\n"
      "local bad = pn.objective { data = d, loss = pn.loss.black_box { value = function() error('enough', 0) end } }\n"
      "local fine, problem = pcall(bad.value, bad, { 1, 1 })\n"
      "if problem ~= 'enough' then error(problem, 0) end\n" },
    { "black boxes of many points",
      "local pn = ...\n"
      "local d = pn.data.from({ { 3, 4 }, { 1, 0 } }, { 1, -1 })\n"
      "local function values(T, x, y, row) return T * x * row end\n"
      "local l = pn.loss.black_box { values = values, dim = 2, name = 'linear' }\n"
      "local obj = pn.objective { data = d, loss = l }\n"
      "assert(obj:differences({ 0, 0 }, pn.mat { { 1, 0 }, { 0, 1 } }, 1)[1] == 2.5 and l.name == 'linear')\n" },
    { "programs", "local pn = ...\n"
                  "local d = pn.data.from({ { 3, 4 }, { 1, 0 } }, { 1, -1 })\n"
                  "local body = 'read -r hello; echo ready; while read -r line; do echo 3; done'\n"
                  "local l = pn.loss.program { command = { 'sh', '-c', body }, name = 'three' }\n"
                  "assert(pn.objective { data = d, loss = l }:value({ 1, 1 }) == 3 and tostring(l))\n" },
    { "sets that users write",
      "local pn = ...\n"
      "local function f(v) return v * (1 / math.max(1, v:norm())) end\n"
      "local C = pn.set.custom { dim = 2, radius = 1, project = f, contains = function(v) return v:norm() <= 1 end }\n"
      "assert(math.abs((2 * C + { 1, 0 }):support({ 3, 4 }) - 13) < 1e-8 and tostring(C))\n"
      "assert(C:radius_in(pn.norm.l1()) >= 1.41 and C:contains({ 0, 1 }) and (C + C):project({ 9, 0 })[1] > 1.99)\n"
      "local w = pn.width(C, { draws = 5 })\n"
      "assert(w.draws == 5 and w.low <= w.value and tostring(w))\n"
      "local options = { dim = 2, support = function() error('enough', 0) end }\n"
      "local fine, problem = pcall(pn.set.custom, options)\n"
      "if problem ~= 'enough' then error(problem, 0) end\n" },
    { "several classes", "local pn = ...\n"
                         "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, 3, 2 }):clip_rows('l2', 1)\n"
                         "local obj = pn.objective { data = d, loss = pn.loss.softmax { classes = 3 }, set = "
                         "pn.set.l2_ball { dim = 6 } }\n"
                         "local theta = pn.mat.zeros(3, 2)\n"
                         "assert(math.abs(obj:value(theta) - math.log(3)) < 1e-14 and obj:factors(theta).rows == 3)\n"
                         "assert(#obj:hvp(theta, theta) == 6 and obj:accuracy(theta) > 0.3 and tostring(obj))\n"
                         "assert(#obj:differences(theta, pn.mat.zeros(2, 6), 1, { 2, 2 }) == 2)\n" },
    { "a run that its callback ends",
      "local pn = ...\n"
      "local data = pn.data.synthetic.lasso { n = 20, p = 3, seed = 1 }\n"
      "local set = pn.set.l1_ball { dim = 3, radius = 1 }\n"
      "local obj = pn.objective { data = data, loss = pn.loss.squared(), set = set }\n"
      "local plan = pn.solve.frank_wolfe.plan(obj, { rho = 0.5, iterations = 2 })\n"
      "local fine, problem = pcall(plan.run, plan, { on_step = function() error('enough', 0) end })\n"
      "if problem ~= 'enough' then error(problem, 0) end\n" },
    { "parties in this process",
      "local pn = ...\n"
      "local d = pn.data.from({ { 1, 0 }, { 0, -1 }, { 1, 1 } }, { 1, -1, 1 }):clip_rows('linf', 1):clip_labels(-1, "
      "1)\n"
      "local set = pn.set.l1_ball { dim = 2, radius = 1 }\n"
      "local obj = pn.objective { data = d, loss = pn.loss.squared(), set = set }\n"
      "local own = { pn.ledger { rho = 9 }, pn.ledger { rho = 9 } }\n"
      "local t = pn.federated.in_process { columns = { 1, 1 }, ledgers = own }\n"
      "local fit = pn.solve.federated_frank_wolfe(obj, { transport = t, rho = 0.5, iterations = 2, progress = false "
      "})\n"
      "assert(fit.steps == 2 and #t:report() == 2 and t.uplink[2].bytes > 0 and tostring(t))\n"
      "assert(#own[1]:report() > 0 and fit.theta:norm(1) < 1 + 1e-12)\n"
      "t:close()\n" },
};

/* Lua's allocator on top of the runtime's.  Lua relies on shrinking never to fail. */
static void *lua_allocate(void *self, void *block, size_t old_size, size_t new_size)
{
    void *moved;

    (void)self;
    if (new_size == 0) {
        pn_free(block);
        return NULL;
    }
    if (!block)
        return pn_alloc(new_size, 1);
    moved = pn_resize(block, new_size, 1);
    return moved || new_size > old_size ? moved : block;
}

/* One script, once. */
typedef struct attempt {
    const script *script;
    bool for_good;
} attempt;

/* Lua calls a finalizer once.  When there is no memory left even for that call, what the object owns is lost, and
 * nobody outside Lua can help it.  So where memory is gone for good the collector rests until the state is closed,
 * which has room for such calls. */
static int run_script(lua_State *L)
{
    const attempt *self = lua_touserdata(L, 1);

    if (self->for_good)
        (void)lua_gc(L, LUA_GCSTOP);
    luaL_openlibs(L);
    if (luaL_loadstring(L, self->script->text) != LUA_OK)
        return lua_error(L);
    luaL_requiref(L, "penumbra.core", luaopen_penumbra_core, 0);
    lua_call(L, 1, 0);
    return 0;
}

static pn_status scenario(void *self, pn_err *err)
{
    lua_State *L = lua_newstate(lua_allocate, NULL);
    pn_status status = PN_OK;

    if (!L)
        return pn_fail(err, PN_ENOMEM, "no Lua state");
    lua_pushcfunction(L, run_script);
    lua_pushlightuserdata(L, self);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        const char *message = lua_tostring(L, -1);
        bool memory = message && (strstr(message, "out of memory") || strstr(message, "not enough memory"));

        status = pn_fail(err, memory ? PN_ENOMEM : PN_ECALLBACK, "%s", message ? message : "no message");
        if (!memory)
            (void)fprintf(stderr, "    %s\n", err->message);
    }
    lua_close(L);
    return status;
}

static void one_round(const script *self, fail_alloc count)
{
    attempt one = { self, count.for_good };
    pn_status status = fail_alloc_run(&count, scenario, &one);

    if (!CHECK(status == PN_OK || status == PN_ENOMEM) || !CHECK(count.live == 0))
        (void)fprintf(stderr, "    %s: allocation %ld failed%s, asked for at %p\n", self->name, count.fail_at,
                      count.for_good ? " for good" : "", count.last);
}

/* Once with memory to spare; then with the k-th allocation failing alone, which Lua may survive
 * (it collects garbage and tries again; the script's own assertions then hold); then with all from the k-th on failing;
 * and the same with each call of the runtime's text that none of these was.
 * Returns the number of allocations of the whole script; k starts at `from`. */
static long sweep(const script *self, long from)
{
    static fail_places found;
    fail_alloc count = { .found = &found };
    attempt one = { self, false };
    long stride = check_times(23, 1) * (strcmp(self->name, REFERENCE) == 0 ? REFERENCE_STRIDE : 1);

    memset(&found, 0, sizeof found);
    if (!CHECK(fail_alloc_run(&count, scenario, &one) == PN_OK) || !CHECK(count.live == 0))
        return 0;
    for (long k = from; k <= count.calls; k += stride) {
        one_round(self, (fail_alloc){ .fail_at = k });
        one_round(self, (fail_alloc){ .fail_at = k, .for_good = true });
    }
    for (size_t i = 0; i < found.n; i++) {
        if (fail_calls_has_failed((const void *)(size_t)found.at[i]))
            continue;
        one_round(self, (fail_alloc){ .fail_place = found.at[i] });
        one_round(self, (fail_alloc){ .fail_place = found.at[i], .for_good = true });
    }
    return count.calls;
}

/* The module's own sweep starts worker threads; the others do without, which allocates the same but for these, and
 * takes a fifth less time. */
static void sweep_all(void)
{
    fail_alloc count = { .fail_at = 0 };
    attempt opening = { &scripts[0], false };

    (void)sweep(&scripts[0], 1);
    CHECK(setenv("PENUMBRA_THREADS", "1", 1) == 0);
    CHECK(fail_alloc_run(&count, scenario, &opening) == PN_OK && count.calls > OPENING_VARIES);
    /* Every script opens the module first. */
    for (size_t i = 1; i < sizeof scripts / sizeof scripts[0]; i++)
        CHECK(sweep(&scripts[i], count.calls - OPENING_VARIES) > count.calls);
}

/* ---- the self-test of accountants ---- */

static int open_core(lua_State *L)
{
    luaL_requiref(L, "penumbra.core", luaopen_penumbra_core, 0);
    lua_getfield(L, -1, "accountant");
    lua_getfield(L, -1, "selftest");
    return 1;
}

/* It takes a second, so it ends at one of its first allocations, until both of the report's own were among them. */
static pn_status ends_early(void *object, pn_err *err)
{
    fail_alloc *count = object;
    lua_State *L = luaL_newstate(); /* with an allocator of its own */
    int of_report = 0;

    (void)err;
    CHECK(lua_gc(L, LUA_GCSTOP) == 0);
    lua_pushcfunction(L, open_core);
    lua_call(L, 0, 1);
    for (long k = 1; k < 1000 && of_report < 2; k++) {
        count->fail_at = atomic_load(&count->calls) + k;
        lua_pushvalue(L, 1);
        CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN && strstr(lua_tostring(L, -1), "out of memory"));
        of_report += strstr(lua_tostring(L, -1), "accountant.selftest: out of memory") != NULL;
        lua_settop(L, 1);
    }
    count->fail_at = 0;
    CHECK(of_report == 2);
    lua_close(L);
    return PN_OK;
}

static void the_self_test_stops_where_memory_ends(void)
{
    fail_alloc count = { .fail_at = 0 };

    CHECK(fail_alloc_run(&count, ends_early, &count) == PN_OK && count.live == 0);
}

int main(void)
{
    the_self_test_stops_where_memory_ends();
    sweep_all();
    return check_summary();
}
