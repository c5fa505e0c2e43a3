/* lask_options.c -- what a question is told besides its points: share, batch, clip, reach, radius, price.
 * Depends on: lask.h.  Used by: lask.c, lsolver.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/solvers/lask.h"
#include "core/vault.h"
#include "oracle/gradient_batch.h"

#define PREFIX_OPTIONS 24 /* at most */

enum { SHARE = 0, BUDGET, REACH, RADIUS, THRESHOLD, ANSWERS, SIGMA, RHO, EPSILON, DELTA, COUNT, HORIZON };

static const pn_param params[] = {
    { "share", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "precision relative to the plan's other questions" },
    { "budget", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "of a plan: the part of its budget that pays for these answers alone; the others share the rest" },
    { "reach", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "of difference: clipped at reach x smoothness x distance" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "of differences" },
    { "threshold", PN_REAL, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of watch" },
    { "answers", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of watch: how often it says above before it ends" },
    { "sigma", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "standard deviation of the noise on each number" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "zCDP price of this answer" },
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "price of this answer, at delta" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "with epsilon" },
    { "count", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of queries: how often a step asks" },
    { "horizon", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of prefix by itself: how often it is pushed" },
    PN_PARAM_END,
};

/* ---- batches ---- */

void pnl_ask_batch(lua_State *L, int index, const pnl_ask *self, pn_question *question)
{
    static const pn_param batch[] = { PN_BATCH_PARAMS, PN_PARAM_END };
    int top = lua_gettop(L);
    pn_arg args[PN_BATCH_OPTIONS];
    pn_err err;

    question->objective = self->objective;
    question->neighbours = self->neighbours;
    lua_pushvalue(L, index);
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "batch");
    pnl_options(L, -1, self->owner, batch, args, NULL);
    pnl_status(L, pn_args_check(self->owner, batch, args, &err), &err);
    pnl_status(L, pn_batch_read(question, self->owner, args, &err), &err);
    lua_settop(L, top);
}

/* ---- the rest ---- */

/* A number c for [-c, c], or {low, high}. */
static void read_clip(lua_State *L, const char *owner, pn_question *question)
{
    double ends[2] = { NAN, NAN };

    if (lua_type(L, -1) == LUA_TNUMBER) {
        ends[1] = lua_tonumber(L, -1);
        ends[0] = -ends[1];
    } else if (lua_istable(L, -1)) {
        for (int i = 0; i < 2; i++) {
            lua_rawgeti(L, -1, i + 1);
            ends[i] = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
            lua_pop(L, 1);
        }
    }
    if (!(ends[0] < ends[1] && isfinite(ends[1] - ends[0])))
        pnl_error(L, "%s: clip must be a positive number or {low, high} with low < high, got %s", owner,
                  pnl_got(L, -1));
    question->clip = (pn_interval){ ends[0], ends[1] };
}

double pnl_ask_length(lua_State *L, int index, const pnl_ask *self, const char *what)
{
    double length = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : NAN;

    if (!(length > 0.0 && isfinite(length)))
        pnl_error(L, "%s: %s must be a positive number, got %s", self->owner, what, pnl_got(L, index));
    return length;
}

static double given_or(const pn_arg *arg, double otherwise)
{
    return arg->given ? arg->real : otherwise;
}

/* An option that a kind does not have is not ignored: clip= beside gradient would promise what is not done. */
static void check_kind(lua_State *L, const char *owner, const pn_question *question)
{
    const pn_question_ops *ops = question->ops;
    bool numbers = ops == &pn_question_value || ops == &pn_question_values || ops == &pn_question_mean ||
                   ops == &pn_question_choose || ops == &pn_question_differences;
    const char *wrong = question->clip.low < question->clip.high && !numbers        ? "clip"
                        : question->reach > 0.0 && ops != &pn_question_difference   ? "reach"
                        : question->radius > 0.0 && ops != &pn_question_differences ? "radius"
                                                                                    : NULL;

    if (wrong)
        pnl_error(L, "%s: %s does not take %s=; leave it out%s", owner, ops->name, wrong,
                  strcmp(wrong, "clip") == 0 ? ", or give clip= to pn.objective" : "");
}

void pnl_ask_options(lua_State *L, int index, const pnl_ask *self, pnl_told *told)
{
    static const char *const extra[] = { "batch", "clip", "phi", NULL };
    static const pn_param none[] = { PN_PARAM_END };
    bool sums = told->question.ops == &pn_question_prefix;
    pn_arg args[sizeof params / sizeof *params], method[PREFIX_OPTIONS];
    pn_question *question = &told->question;
    bool batch = false;
    pn_err err;

    pnl_options2(L, index, self->owner, params, args, sums ? pn_prefix_params : none, method, extra);
    pnl_status(L, pn_args_check(self->owner, params, args, &err), &err);
    if (sums) {
        pnl_status(L, pn_args_check(self->owner, pn_prefix_params, method, &err), &err);
        pnl_status(L, pn_prefix_read_options(&question->prefix, self->owner, method, &err), &err);
    }
    question->threshold = given_or(&args[THRESHOLD], NAN);
    question->answers = args[ANSWERS].given ? args[ANSWERS].count : 1;
    told->horizon = args[HORIZON].given ? args[HORIZON].count : 0;
    question->share = given_or(&args[SHARE], 1.0);
    question->budget = given_or(&args[BUDGET], 0.0);
    question->reach = given_or(&args[REACH], question->reach);
    question->radius = given_or(&args[RADIUS], question->radius);
    told->sigma = given_or(&args[SIGMA], NAN);
    told->rho = given_or(&args[RHO], NAN);
    told->epsilon = given_or(&args[EPSILON], NAN);
    told->delta = given_or(&args[DELTA], 0.0);
    told->count = args[COUNT].given ? args[COUNT].count : 1;
    if (lua_istable(L, index)) {
        if (lua_getfield(L, index, "clip") != LUA_TNIL && question->ops == &pn_question_gradient) {
            question->clips = true;
            told->length = pnl_ask_length(L, -1, self, "clip of a gradient");
        } else if (!lua_isnil(L, -1)) {
            read_clip(L, self->owner, question);
        }
        lua_pop(L, 1);
        batch = lua_getfield(L, index, "batch") != LUA_TNIL;
        if (batch && lua_toboolean(L, -1)) /* false: all records */
            pnl_ask_batch(L, -1, self, question);
        lua_pop(L, 1);
    }
    check_kind(L, self->owner, question);
    if (!batch && question->ops->batches && self->batch.scheme) {
        question->scheme = self->batch.scheme;
        question->batch = self->batch.batch;
    }
}

/* FNV-1a: two texts that are told apart by their first characters or by this are different questions. */
static unsigned long long hash(unsigned long long h, const void *bytes, size_t count)
{
    for (const unsigned char *at = bytes; count > 0; at++, count--)
        h = (h ^ *at) * 0x100000001b3u;
    return h;
}

/* The method of a running sum. */
static unsigned long long hash_method(unsigned long long h, const pn_prefix_options *how)
{
    char text[256];
    int used =
        snprintf(text, sizeof text, "%s|%d|%d|%d|%d|%d|%d|%zu|%d|%zu", how->factorization ? how->factorization : "",
                 (int)how->estimator, how->estimator_given, (int)how->memory, (int)how->scale, how->keep_root,
                 (int)how->growth, how->bands, (int)how->fit, how->buffers);

    h = hash(h, text, (size_t)used);
    h = hash(h, how->coefficients.data, how->coefficients.n * sizeof(double));
    h = hash(h, how->theta.data, how->theta.n * sizeof(double));
    h = hash(h, how->omega.data, how->omega.n * sizeof(double));
    return hash(h, how->matrix.data, how->matrix.rows * how->matrix.cols * sizeof(double));
}

bool pnl_ask_about(pn_question *question)
{
    char phi[2048] = "", text[2600];
    unsigned long long key = 0xcbf29ce484222325u;
    int used;

    if (question->graph)
        pn_graph_text(question->graph, question->phi, phi, sizeof phi);
    used = snprintf(text, sizeof text, "%s|%s|%zu|%.17g|%.17g|%.17g|%.17g|%zu|%.17g|%zu|%d", phi,
                    question->scheme ? question->scheme : "", question->scheme ? question->batch : 0,
                    question->clip.low, question->clip.high, question->reach, question->radius, question->points,
                    question->threshold, question->answers, question->clips);
    key = hash_method(hash(key, text, (size_t)used), &question->prefix);
    (void)snprintf(question->about, sizeof question->about, "%.60s#%016llx", phi, key);
    return strstr(phi, "...") == NULL;
}

/* The method's vectors stand on the stack of the call: the question gets its own. */
static pn_status own_numbers(pn_question *question, pn_err *err)
{
    pn_prefix_options *how = &question->prefix;
    pn_vec matrix = { how->matrix.data, how->matrix.rows * how->matrix.cols };
    pn_vec *const parts[] = { &how->coefficients, &how->theta, &how->omega, &matrix };
    size_t used = 0;

    for (size_t i = 0; i < 4; i++)
        used += parts[i]->n;
    if (used == 0)
        return PN_OK;
    PN_TRY(pn_new(&question->numbers, used, err, "prefix: out of memory"));
    used = 0;
    for (size_t i = 0; i < 4; i++) {
        if (parts[i]->n == 0)
            continue;
        memcpy(question->numbers + used, parts[i]->data, parts[i]->n * sizeof(double));
        parts[i]->data = question->numbers + used;
        used += parts[i]->n;
    }
    how->matrix.data = matrix.data;
    return PN_OK;
}

pn_question *pnl_ask_plan(lua_State *L, pnl_ask *self, const pnl_told *told)
{
    pn_question *question = NULL;
    pn_err err;

    pnl_status(L, pn_plan_ask(&question, self->plan, told->question.ops, &err), &err);
    *question = told->question;
    question->objective = self->plan->objective;
    question->neighbours = self->neighbours;
    question->exact = self->plan->request.kind == PN_NONPRIVATE;
    question->each = told->count;
    question->design = NULL;
    if (question->graph)
        (void)pn_graph_keep(question->graph);
    question->numbers = NULL;
    if (own_numbers(question, &err) != PN_OK ||
        PN_WITH_RECORDS(pn_question_certify(question, &err)) !=
            PN_OK) { /* a step that catches the error must not have it planned */
        pn_question_clear(question);
        self->plan->question_count--;
        pnl_status(L, pn_fail_in(&err, err.status, self->owner), &err);
    }
    return question;
}
