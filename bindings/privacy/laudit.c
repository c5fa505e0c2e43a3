/* laudit.c -- pn.audit: run a mechanism many times, or once with many canaries, and say how private it can at most be.
 * Depends on: pnl.h, progress.h, privacy/audit/audit.h.  Used by: lprivacy.c. */
#include <math.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/privacy/laudit.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"
#include "privacy/accounting/accountant.h"

#define MOST_KINDS 64 /* whole numbers of more kinds than this are scores, not categories */
#define MOST_SIZE  ((size_t)1 << 30)

/* ---- options ---- */

enum { TRIALS, CANARIES, GUESSES, DELTA, CONFIDENCE, GAUSSIAN, EVENT, EPSILON, OPTIONS };

static const char *const event_name[] = { "pn.event", NULL };

static const pn_param audit_params[] = {
    { "trials", PN_COUNT, PN_OPTIONAL, PN_ANY, 10000.0, NULL, "runs on each of the two data sets, at least 100" },
    { "canaries", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "how many canaries, for an audit in one run" },
    { "guesses", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "how many canaries to guess on, the surest (all); half of them as present" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.0, NULL, "the delta, below 1, at which epsilon is bounded" },
    { "confidence", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.95, NULL, "the chance that a true claim is not refuted" },
    { "gaussian", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "assume Gaussian-DP: sharper, and true only where that holds" },
    { "event", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, event_name,
      "the claim, as an event; its epsilon at delta is tested" },
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, NAN, NULL, "the claim, as a number; none when left out" },
    PN_PARAM_END,
};
static const char *const audit_extra[] = { "neighbours", "rng", "score", "progress", "profile", NULL };

/* ---- one call of the user's function, protected ---- */

typedef enum output_kind { UNKNOWN = 0, NUMBER, LABEL, VECTOR } output_kind;

typedef struct call {
    size_t n, dim, trial; /* trial in [0, 2n): even ones on the first data set */
    output_kind kind;
    bool whole;     /* every number so far was a whole one */
    size_t labels;  /* kinds of output so far */
    double *values; /* [2][n][dim] */
    size_t *ids;    /* [2][n] */
    unsigned char *included;
    double *scores; /* [m] */
} call;

/* Stack of a protected call: 1 the call, then these.  KEEP holds what outlives the call. */
enum { FUNCTION = 2, DATA, SCORE, RNG, KEEP };
enum { KEPT_VALUES = 1, KEPT_IDS, KEPT_LABELS };

static void *kept_buffer(lua_State *L, int slot, size_t count, size_t size)
{
    void *buffer;

    if (count > MOST_SIZE / size)
        luaL_error(L, "audit: the outputs of all trials together are too large");
    buffer = lua_newuserdatauv(L, count * size, 0);
    lua_rawseti(L, KEEP, slot);
    return buffer;
}

static void begin_kind(lua_State *L, call *self)
{
    self->dim = 1;
    self->whole = true;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        self->kind = NUMBER;
    } else if (lua_type(L, -1) == LUA_TBOOLEAN || lua_type(L, -1) == LUA_TSTRING) {
        self->kind = LABEL;
    } else {
        if (!lua_istable(L, -1) && !pnl_test(L, -1, &pnl_vec_class))
            luaL_error(L, "audit: the function must return a number, a boolean, a string or a vector, got %s",
                       luaL_typename(L, -1));
        self->dim = pnl_check_vec(L, lua_gettop(L)).n;
        self->kind = VECTOR;
    }
    if (self->dim > MOST_SIZE)
        luaL_error(L, "audit: the function returned a vector that is too long");
    self->values = kept_buffer(L, KEPT_VALUES, 2 * self->n * self->dim, sizeof *self->values);
    if (self->kind != VECTOR) {
        self->ids = kept_buffer(L, KEPT_IDS, 2 * self->n, sizeof *self->ids);
        lua_newtable(L);
        lua_rawseti(L, KEEP, KEPT_LABELS);
    }
}

/* The number (from 0) of the label on the top. */
static size_t label_id(lua_State *L, call *self)
{
    size_t id;

    lua_rawgeti(L, KEEP, KEPT_LABELS);
    lua_pushvalue(L, -2);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pushvalue(L, -3);
        lua_pushinteger(L, (lua_Integer)self->labels);
        lua_rawset(L, -4);
        id = self->labels++;
    } else {
        id = (size_t)lua_tointeger(L, -1);
    }
    lua_pop(L, 2);
    return id;
}

static void changed_kind(lua_State *L)
{
    luaL_error(L, "audit: the function must return the same kind of output each time, got %s after another",
               luaL_typename(L, -1));
}

/* The output is on the top. */
static void store(lua_State *L, call *self)
{
    size_t at = self->trial % 2 * self->n + self->trial / 2;

    if (self->kind == UNKNOWN)
        begin_kind(L, self);
    if (self->kind == VECTOR) {
        pn_vec v = pnl_check_vec(L, lua_gettop(L));

        if (v.n != self->dim)
            luaL_error(L, "audit: the function returned %d numbers after %d", (int)v.n, (int)self->dim);
        memcpy(self->values + at * self->dim, v.data, self->dim * sizeof *v.data);
    } else if (self->kind == LABEL) {
        if (lua_type(L, -1) != LUA_TBOOLEAN && lua_type(L, -1) != LUA_TSTRING)
            changed_kind(L);
        self->ids[at] = label_id(L, self);
    } else {
        if (lua_type(L, -1) != LUA_TNUMBER)
            changed_kind(L);
        self->whole = self->whole && lua_isinteger(L, -1);
        self->values[at] = lua_tonumber(L, -1);
        if (self->whole && self->labels <= MOST_KINDS)
            self->ids[at] = label_id(L, self);
    }
}

static int trial_body(lua_State *L)
{
    call *self = lua_touserdata(L, 1);

    lua_pushvalue(L, FUNCTION);
    lua_rawgeti(L, DATA, (lua_Integer)(self->trial % 2) + 1);
    lua_pushvalue(L, RNG);
    lua_call(L, 2, 1);
    if (!lua_isnil(L, SCORE)) {
        lua_pushvalue(L, SCORE);
        lua_insert(L, -2);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            luaL_error(L, "audit: score must return a number, got %s", luaL_typename(L, -1));
        lua_pushnumber(L, lua_tonumber(L, -1)); /* a score is no category, be it whole or not */
    }
    store(L, self);
    return 0;
}

static int one_run_body(lua_State *L)
{
    call *self = lua_touserdata(L, 1);
    pn_vec scores;

    lua_pushvalue(L, FUNCTION);
    lua_createtable(L, (int)self->n, 0);
    for (size_t i = 0; i < self->n; i++) {
        lua_pushboolean(L, self->included[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushvalue(L, RNG);
    lua_call(L, 2, 1);
    if (!lua_istable(L, -1) && !pnl_test(L, -1, &pnl_vec_class))
        luaL_error(L, "audit: the function must return a vector of one score per canary, got %s",
                   luaL_typename(L, -1)); /* no value: it may come from records */
    scores = pnl_check_vec(L, lua_gettop(L));
    if (scores.n != self->n)
        luaL_error(L, "audit: the function must return one score per canary, %d, got %d", (int)self->n, (int)scores.n);
    memcpy(self->scores, scores.data, self->n * sizeof *scores.data);
    return 0;
}

static pn_status protected(lua_State *L, lua_CFunction body, call *self, const int *at, pn_err *err)
{
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, self);
    for (int i = FUNCTION; i <= KEEP; i++)
        lua_pushvalue(L, at[i]);
    if (lua_pcall(L, KEEP, 0, 0) == LUA_OK)
        return PN_OK;
    pnl_set_error(L);
    return pn_fail(err, PN_ECALLBACK, "audit: the function raised an error");
}

/* ---- the two forms ---- */

/* Scores from what the runs gave: numbers as they are, categories and vectors by what the first half teaches. */
static pn_status two_samples(lua_State *L, call *self, const pn_audit_options *options, pn_audit_result *result,
                             pn_err *err)
{
    size_t n = self->n;
    double *first = self->values, *second = self->values + n * self->dim, *scores;
    bool labels = self->kind == LABEL || (self->kind == NUMBER && self->whole && self->labels <= MOST_KINDS);
    pn_status status = PN_OK;

    if (labels || self->kind == VECTOR) {
        scores = lua_newuserdatauv(L, 2 * n * sizeof *scores, 0);
        status = labels ? pn_audit_score_categories(self->ids, self->ids + n, n, self->labels, scores, scores + n, err)
                        : pn_audit_score_vectors(first, second, n, self->dim, scores, scores + n, err);
        first = scores;
        second = scores + n;
    }
    return status == PN_OK ? pn_audit_two_sample(result, first, second, n, options, err) : status;
}

static pn_status run_trials(lua_State *L, call *self, const int *at, pn_err *err)
{
    pn_status status = PN_OK;

    for (; self->trial < 2 * self->n && status == PN_OK; self->trial++) {
        if (self->trial % 64 == 0)
            status = pn_task_report(pnl_task(L), "audit", (double)self->trial, 2.0 * (double)self->n, err);
        if (status == PN_OK)
            status = protected(L, trial_body, self, at, err);
    }
    return status;
}

/* Push a stream of our own: the coins, or all that the function draws. */
static pn_rng *push_stream(lua_State *L, const pn_rng *parent, uint64_t stream)
{
    pn_rng **slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pn_err err;

    pnl_status(L, pn_rng_split(slot, parent, stream, &err), &err);
    return *slot;
}

static void throw_coins(lua_State *L, call *self, const pn_rng *parent)
{
    pn_rng *rng = push_stream(L, parent, 0);

    self->included = lua_newuserdatauv(L, self->n, 0);
    self->scores = lua_newuserdatauv(L, self->n * sizeof *self->scores, 0);
    for (size_t i = 0; i < self->n; i++)
        self->included[i] = (unsigned char)(pn_rng_u64(rng) & 1);
}

/* ---- pn.audit ---- */

/* The sharpest certified epsilon of the event at delta. */
static double claimed_epsilon(pn_event *event, double delta)
{
    double epsilon = pn_event_epsilon(event, 1, delta, NULL), other;
    pn_accountant *pld = NULL;
    pn_arg args[8] = { { 0 } };

    if (delta > 0.0 && pn_accountant_from_args(&pld, "pld", args, NULL) == PN_OK &&
        pn_accountant_add(pld, event, 1, NULL) == PN_OK && pld->ops->epsilon(pld, delta, &other, NULL, NULL) == PN_OK)
        epsilon = fmin(epsilon, other);
    pn_accountant_free(pld);
    return epsilon;
}

/* The field's index on the stack, checked to be nil or of the type. */
static int field(lua_State *L, const char *name, int type, const char *what)
{
    if (lua_getfield(L, 2, name) != LUA_TNIL && lua_type(L, -1) != type)
        pnl_error(L, "audit: %s must be %s, got %s", name, what, pnl_got(L, -1));
    return lua_gettop(L);
}

/* Push the parent stream: what was given, or a seeded one whose seed the secure stream draws. */
static const pn_rng *push_parent(lua_State *L, pnl_audit *self)
{
    pn_rng **slot;
    pn_err err;

    if (lua_getfield(L, 2, "rng") != LUA_TNIL) {
        if (!pnl_test(L, -1, &pnl_rng_class))
            pnl_error(L, "audit: rng must be an open pn.rng, got %s", pnl_got(L, -1));
        pnl_pin(L, -1);
        slot = NULL;
    } else {
        self->seed = pn_rng_u64(pnl_rng(L, -1)) >> 11;
        self->has_seed = true;
        slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
        pnl_status(L, pn_rng_seeded(slot, self->seed, &err), &err);
    }
    self->simulated = pn_rng_simulated(pnl_check(L, -1, &pnl_rng_class));
    return pnl_check(L, -1, &pnl_rng_class);
}

static void check_forms(lua_State *L, const pn_arg *args, int neighbours, int score)
{
    if (args[CANARIES].given == !lua_isnil(L, neighbours))
        pnl_error(L, "audit: give either neighbours = {D, D2} or canaries = m");
    if (args[CANARIES].given && (args[TRIALS].given || !lua_isnil(L, score)))
        pnl_error(L, "audit: trials and score are for audits with neighbours, not for canaries");
    if (args[GUESSES].given && args[GUESSES].count > args[CANARIES].count)
        pnl_error(L, "audit: guesses must be at most the number of canaries, %zu, got %zu", args[CANARIES].count,
                  args[GUESSES].count);
    if (!(args[DELTA].real < 1.0))
        pnl_error(L, "audit: delta must be below 1, got %g", args[DELTA].real);
    if (args[GAUSSIAN].flag && args[DELTA].real == 0.0)
        pnl_error(L, "audit: gaussian needs a delta above 0: no Gaussian mechanism has a pure epsilon");
    if (!lua_isnil(L, neighbours) && lua_rawlen(L, neighbours) != 2)
        pnl_error(L, "audit: neighbours must hold two data sets, got %d", (int)lua_rawlen(L, neighbours));
    if (lua_getfield(L, 2, "profile") != LUA_TNIL && !args[CANARIES].given)
        pnl_error(L, "audit: profile is for canaries");
    lua_pop(L, 1);
    if (args[EVENT].given && args[EPSILON].given)
        pnl_error(L, "audit: claim either an event or an epsilon, not both");
    if (args[TRIALS].count > MOST_SIZE || args[CANARIES].count > MOST_SIZE)
        pnl_error(L, "audit: trials and canaries must be at most 2^30, got %zu",
                  args[CANARIES].given ? args[CANARIES].count : args[TRIALS].count);
    if (!args[CANARIES].given && args[TRIALS].count < 100)
        pnl_error(L, "audit: trials must be at least 100, got %zu", args[TRIALS].count);
}

/* Push the result, filled with what is known before the runs. */
static pnl_audit *push_result(lua_State *L, const pn_arg *args)
{
    pnl_audit **slot = (pnl_audit **)pnl_newbox(L, &pnl_audit_class), *out;

    out = *slot = pn_calloc(1, sizeof **slot);
    if (!out)
        pnl_no_memory(L, "audit: out of memory");
    out->delta = args[DELTA].real;
    out->one_run = args[CANARIES].given;
    out->claimed = NAN;
    if (args[EVENT].given)
        out->claimed = claimed_epsilon((pn_event *)(size_t)args[EVENT].object, out->delta);
    else if (args[EPSILON].given)
        out->claimed = args[EPSILON].real;
    return out;
}

static void run(lua_State *L, call *self, const int *at, bool one_run)
{
    pn_status status;
    pn_err err;

    luaL_checkstack(L, 24, "audit");
    lua_getfield(L, 2, "progress");
    pnl_run_begin_at(L, -1, "audit");
    status = one_run ? protected(L, one_run_body, self, at, &err) : run_trials(L, self, at, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
}

static int audit_run(lua_State *L)
{
    pn_arg args[OPTIONS];
    call self = { 0 };
    pn_audit_options options;
    pn_audit_curve curve;
    const pn_rng *parent;
    pnl_audit *out;
    int at[KEEP + 1] = { 0 }, result;
    bool has_curve;
    size_t guesses;
    pn_err err;

    if (!lua_isfunction(L, 1))
        return pnl_error(L, "audit: the first argument must be the mechanism, function(data, rng), got %s",
                         pnl_got(L, 1));
    if (!lua_istable(L, 2))
        return pnl_error(L, "audit: the second argument must be the options, {neighbours = {D, D2}, ...}, got %s",
                         pnl_got(L, 2));
    lua_settop(L, 2);
    pnl_options(L, 2, "audit", audit_params, args, audit_extra);
    pnl_status(L, pn_args_check("audit", audit_params, args, &err), &err);
    at[FUNCTION] = 1;
    at[DATA] = field(L, "neighbours", LUA_TTABLE, "a table of two data sets");
    at[SCORE] = field(L, "score", LUA_TFUNCTION, "a function");
    check_forms(L, args, at[DATA], at[SCORE]);
    lua_newtable(L);
    at[KEEP] = lua_gettop(L);
    out = push_result(L, args);
    result = lua_gettop(L);
    lua_getfield(L, 2, "profile");
    has_curve = pnl_audit_curve(L, lua_gettop(L), (pn_event *)(size_t)args[EVENT].object, &curve);
    parent = push_parent(L, out);
    (void)push_stream(L, parent, 1);
    at[RNG] = lua_gettop(L);
    self.n = out->one_run ? args[CANARIES].count : args[TRIALS].count;
    if (out->one_run)
        throw_coins(L, &self, parent);
    run(L, &self, at, out->one_run);
    options = (pn_audit_options){ out->delta, args[CONFIDENCE].real, args[GAUSSIAN].flag, has_curve ? &curve : NULL };
    guesses = args[GUESSES].given ? args[GUESSES].count : 0;
    pnl_status(L,
               out->one_run ? pn_audit_one_run(&out->result, self.scores, self.included, self.n, guesses - guesses / 2,
                                               guesses / 2, &options, &err)
                            : two_samples(L, &self, &options, &out->result, &err),
               &err);
    lua_settop(L, result);
    return 1;
}

void pnl_open_audit(lua_State *L)
{
    pnl_open_class(L, &pnl_audit_class);
    lua_pushcfunction(L, audit_run);
    lua_setfield(L, -2, "audit");
    pnl_reference(
        L, "", "audit", PNL_RAW | PNL_CALLS_BACK,
        "pn.audit(function(data, rng) ... return output end, {neighbours={D, D2}, trials=, delta=, event=, rng=, "
        "score=, progress=}) -> result",
        "How private a mechanism can at most be: a lower bound on epsilon at delta that a mechanism which keeps "
        "(epsilon, delta)-DP exceeds with chance at most 1 - confidence.  The function runs `trials` times on each of "
        "two neighbouring data sets that the auditor makes up; an event that one of them makes more likely is chosen "
        "on the first half of the runs and counted on the second, and the least ln((p1 - delta) / p2) of all chances "
        "p1 and p2 that both counts together allow, by exact binomial laws, bounds epsilon.  output: a number (the "
        "score itself); a whole number of at most 64 kinds, a boolean or a string (a category: its likelihood ratio is "
        "learned); a vector (projected on the difference of the means); score = function(output) -> number replaces "
        "this.  Or in one run: pn.audit(function(included, rng) ... return scores end, {canaries=m, delta=}): included "
        "holds m booleans, fair coins that say which canaries take part (neighbours add_remove); scores, larger for "
        "more likely present.  The function draws from a stream split from rng; without rng a seeded one, so releases "
        "need a teaching ledger: the law is that of secure noise, which rng = pn.rng.secure() gives.  event= or "
        "epsilon= is a claim: result.violated says whether it is refuted.  In one run the claim may be a whole "
        "trade-off curve: profile = {{epsilon, delta}, ...}, all of which hold at once, or profile = true for that of "
        "event=; result.p_value is the largest chance of guesses so good under it, and violated that it is at most 1 - "
        "confidence.  Errors raised in the function reach the caller as they are.",
        "Jagielski, Ullman, Oprea (2020); Nasr et al. (2023); Steinke, Nasr, Jagielski (2023), with a sharp bound; "
        "Mahloujifar, Melis, Chaudhuri (2025)",
        audit_params);
}
