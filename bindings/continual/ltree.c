/* ltree.c -- pn.tree: private sums of a growing stream of vectors, their release,
 * and what is public about them.  Paying is part of the first
 * push.  Depends on: pnl.h, lnumbers.h, lprivacy_check.h, progress.h, continual/prefix.h.  Used by: module.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/continual/ltree.h"
#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/privacy/lprivacy_check.h"
#include "bindings/privacy/lreceipt.h"
#include "continual/prefix.h"
#include "privacy/ledger/ledger_watch.h"
#include "receipt/receipt.h"

static void free_tree(void *ud)
{
    pnl_tree *self = ud;

    pn_prefix_free(self->stream);
    pn_ledger_free(self->ledger);
    pn_free(self);
}

static pnl_tree *check_tree(lua_State *L)
{
    pnl_tree *self = pnl_check(L, 1, &pnl_tree_class);

    if (!self->stream)
        pnl_error(L, "tree: this tree was closed");
    return self;
}

static const pn_prefix_design *design_of(lua_State *L)
{
    return pn_prefix_design_of(check_tree(L)->stream);
}

static const pn_prefix_options *options_of(lua_State *L)
{
    return pn_prefix_options_of(design_of(L));
}

void pnl_tree_status(lua_State *L, pn_status status, const pn_err *err)
{
    static const char runtime[] = "prefix: ";

    if (status != PN_OK && strncmp(err->message, runtime, sizeof runtime - 1) == 0)
        pnl_error(L, "tree: %s", err->message + sizeof runtime - 1);
    pnl_status(L, status, err);
}

/* ---- paying ---- */

/* What was asked for; where that was sigma, what it comes to. */
static pn_status exact_budget(pn_ledger **out, const pn_prefix *stream, pn_err *err)
{
    const pn_prefix_design *design = pn_prefix_design_of(stream);
    const pn_prefix_options *options = pn_prefix_options_of(design);
    const pn_event *event = pn_prefix_design_event(design);
    bool curve = options->epsilon > 0.0;
    pn_budget budget = { .epsilon = curve ? options->epsilon : (double)NAN,
                         .delta = curve ? options->delta : 0.0,
                         .rho = curve                ? (double)NAN
                                : options->rho > 0.0 ? options->rho
                                                     : event->ops->zcdp(event),
                         .neighbours = options->neighbours,
                         .teaching = pn_prefix_simulated(stream) };

    return pn_ledger_new(out, &budget, err);
}

static pn_status pay(pnl_tree *self, pn_err *err)
{
    const pn_ledger_watch *before;
    pn_ledger *ledger = NULL;
    pn_status status = PN_OK;

    if (pn_prefix_is_paid(self->stream))
        return PN_OK;
    if (self->ledger)
        ledger = pn_ledger_keep(self->ledger);
    else
        status = exact_budget(&ledger, self->stream, err);
    before = pn_ledger_watched(NULL); /* nobody knows whose numbers it adds up */
    if (status == PN_OK)
        status = pn_prefix_pay(self->stream, ledger, "tree", false, err);
    (void)pn_ledger_watched(before);
    pn_ledger_free(ledger);
    return status;
}

/* ---- releases ---- */

/* What one leaf was clipped to must not be more than what its noise was made for. */
static pn_status check_enforced(const pnl_tree *self, const pn_arg *enforced, pn_err *err)
{
    const pn_prefix_options *options = pn_prefix_options_of(pn_prefix_design_of(self->stream));
    size_t before = (size_t)pn_prefix_count(self->stream);
    double declared = options->sensitivities ? options->sensitivities[before] : options->sensitivity;

    if (!enforced->given || enforced->real <= declared)
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "tree:push: leaf %zu is clipped to sensitivity %.17g and the noise was made for %.17g; clip it to "
                   "that, or make a tree with the larger sensitivity",
                   before + 1, enforced->real, declared);
}

/* A leaf that would be refused costs nothing. */
static pn_status pay_and_push(pnl_tree *self, const double *leaf, const pn_arg *enforced, double *out, pn_task *task,
                              pn_err *err)
{
    pn_status status = pn_prefix_admits(self->stream, leaf, err);

    if (status == PN_OK) /* past this there is a leaf to come, so it has a sensitivity */
        status = check_enforced(self, enforced, err);
    if (status == PN_OK)
        status = pay(self, err);
    return status == PN_OK ? pn_prefix_push(self->stream, leaf, out, task, err) : status;
}

static const pn_param push_params[] = {
    { "sensitivity", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "what this leaf's records were clipped to, in l2; refused when it is more than the tree was made for" },
    PN_PARAM_END,
};

static int push(lua_State *L)
{
    size_t dim = options_of(L)->dim;
    bool scalar;
    pnl_tree *self;
    pn_vec leaf;
    pn_task *task;
    double *out;
    pn_status status;
    pn_arg enforced[1];
    pn_err err;

    lua_settop(L, 3);
    pnl_options(L, 3, "tree:push", push_params, enforced, NULL);
    pnl_status(L, pn_args_check("tree:push", push_params, enforced, &err), &err);
    lua_settop(L, 2);
    leaf = pnl_check_query(L, 2, "tree:push", "leaf", &scalar);
    if (leaf.n != dim)
        return pnl_error(L, "tree:push: the leaf has %zu entr%s and the tree was made with dim = %zu", leaf.n,
                         leaf.n == 1 ? "y" : "ies", dim);
    out = pnl_new_vec(L, dim);
    task = pnl_task(L);
    pnl_run_begin(L, false);
    self = pnl_test(L, 1, &pnl_tree_class); /* what was allocated may have run a finalizer */
    if (!self || !self->stream || (lua_type(L, 2) == LUA_TUSERDATA && !pnl_test(L, 2, &pnl_vec_class)))
        status = pn_fail(&err, PN_EINVAL, "tree:push: the tree or the leaf was closed meanwhile");
    else
        status = pay_and_push(self, leaf.data, enforced, out, task, &err);
    pnl_run_end(L);
    pnl_tree_status(L, status, &err);
    return 1;
}

static int value(lua_State *L)
{
    double *out = pnl_new_vec(L, options_of(L)->dim);
    pn_err err;

    pnl_tree_status(L, pn_prefix_read(check_tree(L)->stream, out, &err), &err);
    return 1;
}

static int complete(lua_State *L)
{
    double *out = pnl_new_vec(L, options_of(L)->dim), variance = 0.0;
    pn_task *task = pnl_task(L);
    pn_err err;

    pnl_tree_status(L, pn_prefix_complete(check_tree(L)->stream, out, &variance, task, &err), &err);
    lua_pushnumber(L, variance);
    return 2;
}

static int all(lua_State *L)
{
    const pn_prefix_options *options = options_of(L);
    pn_task *task = pnl_task(L);
    double *out;
    pn_err err;

    if (options->estimator != PN_PREFIX_FULL ||
        options->horizon == 0) /* before memory for a result that there is not */
        return pnl_error(
            L, "tree: all prefixes are estimated by estimator = \"full\", which has a horizon 2^k; this is %s",
            options->estimator == PN_PREFIX_FULL            ? "of unknown horizon"
            : strcmp(options->factorization, "binary") != 0 ? options->factorization
                                                            : pn_prefix_estimator_names[options->estimator]);
    if (pn_prefix_count(check_tree(L)->stream) < options->horizon)
        return pnl_error(L, "tree: all prefixes are estimated after the last leaf, %zu; there are %d", options->horizon,
                         (int)pn_prefix_count(check_tree(L)->stream));
    out = pnl_new_mat(L, options->horizon, options->dim);
    pnl_tree_status(L, pn_prefix_all(check_tree(L)->stream, out, task, &err), &err);
    return 1;
}

/* ---- what is public ---- */

static int variance_at(lua_State *L)
{
    const pn_prefix_design *design = design_of(L);
    size_t i = pnl_check_count(L, 2, "tree:variance: i"), horizon = pn_prefix_options_of(design)->horizon;

    if (horizon > 0 && i > horizon)
        return pnl_error(L, "tree:variance: i must be at most the horizon, %zu, got %zu", horizon, i);
    lua_pushnumber(L, pn_prefix_design_variance(design, i));
    return 1;
}

static int variances(lua_State *L)
{
    const pn_prefix_design *design = design_of(L);
    size_t n, horizon = pn_prefix_options_of(design)->horizon;

    if (lua_isnoneornil(L, 2) && horizon == 0)
        return pnl_error(L, "tree:variances: n is missing; the horizon is unknown, so give the number of prefixes");
    n = lua_isnoneornil(L, 2) ? horizon : pnl_check_count(L, 2, "tree:variances: n");
    if (horizon > 0 && n > horizon)
        return pnl_error(L, "tree:variances: n must be at most the horizon, %zu, got %zu", horizon, n);
    pn_prefix_variances(design, n, pnl_new_vec(L, n));
    return 1;
}

PNL_GETTER(get_count, pn_prefix_count(check_tree(L)->stream));
PNL_GETTER_IF(get_horizon, options_of(L)->horizon > 0, options_of(L)->horizon);
PNL_GETTER_IF(get_dim, options_of(L)->dim > 0, options_of(L)->dim);
PNL_GETTER(get_sigma, pn_prefix_design_sigma(design_of(L)));

static int get_rho(lua_State *L)
{
    double mu = pn_prefix_design_mu(design_of(L));

    lua_pushnumber(L, mu * mu / 2.0);
    return 1;
}

static int get_event(lua_State *L)
{
    void **slot;

    (void)check_tree(L);
    slot = pnl_newbox(L, &pnl_event_class);
    *slot = pn_event_keep(pn_prefix_design_event(design_of(L)));
    return 1;
}

PNL_GETTER(get_factorization, options_of(L)->factorization);
PNL_GETTER(get_neighbours, pn_neighbours_names[options_of(L)->neighbours]);
PNL_GETTER(get_simulated, pn_prefix_simulated(check_tree(L)->stream));
PNL_GETTER(get_paid, pn_prefix_is_paid(check_tree(L)->stream));
PNL_GETTER(get_memory, pn_prefix_room(design_of(L), pn_prefix_count(check_tree(L)->stream)));

static int to_string(lua_State *L)
{
    pnl_tree *self = pnl_check(L, 1, &pnl_tree_class);
    char method[200], limit[120] = "", text[600];
    const pn_prefix_options *options;
    const pn_prefix_design *design;
    unsigned long long count;

    if (!self->stream) {
        lua_pushliteral(L, "pn.tree: closed");
        return 1;
    }
    design = pn_prefix_design_of(self->stream);
    count = (unsigned long long)pn_prefix_count(self->stream);
    options = pn_prefix_options_of(design);
    pn_prefix_design_describe(design, method, sizeof method);
    if (options->bound > 0.0)
        (void)snprintf(limit, sizeof limit, "; entries beyond +-%.9g are %s", options->bound,
                       options->clamp ? "clamped" : "refused");
    else if (isfinite(pn_prefix_design_farthest(design)))
        (void)snprintf(
            limit, sizeof limit, "; entries beyond +-%.9g%s are clamped: the lattice ends there",
            pn_prefix_design_farthest(design),
            options->horizon == 0 && options->growth == PN_PREFIX_DOUBLING ? ", over the leaves of their epoch," : "");
    (void)snprintf(text, sizeof text, "pn.tree: %s; dim %zu, %llu lea%s, sigma %.6g, rho %.6g%s%s%s", method,
                   options->dim, count, count == 1 ? "f" : "ves", pn_prefix_design_sigma(design),
                   pn_prefix_design_mu(design) * pn_prefix_design_mu(design) / 2.0,
                   pn_prefix_is_paid(self->stream) ? "" : ", to be paid at the first push", limit,
                   pn_prefix_simulated(self->stream) ? "; simulated: no privacy" : "");
    lua_pushstring(L, text);
    return 1;
}

/* ---- files ---- */

const char *pnl_tree_path(lua_State *L, int index, const char *owner)
{
    if (lua_type(L, index) != LUA_TSTRING)
        pnl_error(L, "%s: path must be a string, the name of a file, got %s", owner, pnl_got(L, index));
    if (strlen(lua_tostring(L, index)) != lua_rawlen(L, index))
        pnl_error(L, "%s: path must not have a zero byte in it", owner);
    return lua_tostring(L, index);
}

/* The file does not know of a ledger: who resumes it could forget to name the one that was to pay. */
static int save(lua_State *L)
{
    const char *path = pnl_tree_path(L, 2, "tree:save");
    pnl_tree *self = check_tree(L);
    pn_err err;

    if (self->ledger)
        pnl_tree_status(L, pay(self, &err), &err);
    pnl_tree_status(L, pn_prefix_save(self->stream, path, &err), &err);
    return 0;
}

static int close_tree(lua_State *L)
{
    pnl_tree *self = pnl_check(L, 1, &pnl_tree_class);
    pn_prefix *stream = self->stream;

    self->stream = NULL;
    pn_prefix_free(stream);
    return 0;
}

/* ---- the class ---- */

static int tree_receipt(lua_State *L)
{
    const pnl_tree *self = check_tree(L);
    char **slot = pnl_new_receipt(L);
    pn_err err;

    pnl_status(L, pn_prefix_receipt(slot, self->stream, PNL_LUA_VERSION, &err), &err);
    return 1;
}

static const pnl_row tree_rows[] = {
    { "push", push, PNL_METHOD, PNL_PAID, "t:push(v, {sensitivity=}) -> vec",
      "The next leaf, dim numbers (a pn.vec, a table, or a number where dim is 1), in place; the answer is the "
      "private sum of all leaves so far.  The first push pays for the whole stream: t.event is charged under the "
      "label \"tree\" to the ledger that the tree was made with, or to a budget of exactly what it was made for.  "
      "The caller makes sure that one record changes the leaf by at most the sensitivity in l2; sensitivity: what "
      "this leaf was clipped to, public, refused when it is more than the tree was made for.  Entries beyond bound= "
      "count as it, and a NaN as -bound; without bound= entries of any size are carried, up to 2^85 sigma, in "
      "binary trees 2^84 sigma over the horizon (2^74 with scale \"node\"), of factorization \"matrix\" divided by "
      "C_tt, beyond which they count as that.  Errors, which change nothing and cost nothing: a leaf of another "
      "length; one that is not finite, without bound=, or beyond it, with strict=true; such a sensitivity; a push "
      "past the horizon or after t:save; a ledger that does not cover it.  Source: Dwork, Naor, Pitassi, Rothblum "
      "(2010); Chan, Shi, Song (2011)." },
    { "value", value, PNL_METHOD, PNL_PAID, "t:value() -> vec",
      "What the last push released, again: the same numbers, never fresh noise.  An error before the first push." },
    { "variance", variance_at, PNL_METHOD, PNL_NOTHING, "t:variance(i) -> number",
      "The variance of the noise on one entry after leaf i, from 1 to the horizon, exact; of estimator \"full\" that "
      "of t:all()." },
    { "variances", variances, PNL_METHOD, PNL_NOTHING, "t:variances(n) -> vec",
      "t:variance(i) for i = 1 to n, in time linear in n; n is the horizon when left out." },
    { "complete", complete, PNL_METHOD, PNL_PAID, "t:complete() -> vec, variance",
      "End the stream early and estimate its total best, in place: leaves of zero up to the next power of two, then "
      "the root.  No more pushes.  For binary trees made with keep_root = true, or of unknown horizon; an error "
      "otherwise and before the first push." },
    { "all", all, PNL_METHOD, PNL_PAID, "t:all() -> mat",
      "The best linear unbiased estimate of every prefix, a row for each leaf, after the last one; for estimator = "
      "\"full\".  Not causal: it uses noise that came later, so it must not be fed back into a run as if it had been "
      "there.  Source: Hay et al. (2010); Honaker (2015)." },
    { "save", save, PNL_METHOD, PNL_RAW | PNL_FILES, "t:save(path)",
      "Move the stream into a file (mode 600, durable), from which pn.tree.resume(path) goes on once; this object "
      "takes no more pushes.  The file holds the exact sums and the key of the noise: it is as secret as the records.  "
      "It may be renamed but not copied: a copy is refused.  What the tree's ledger was to pay at the first push is "
      "paid before.  Errors: a ledger that does not cover it; a file that cannot be written, or is there and is not "
      "this stream's." },
    { "receipt", tree_receipt, PNL_METHOD, PNL_PAID, "t:receipt() -> receipt",
      "Sensitivities, method, noise and the one event that pays for all leaves, as JSON from which others work out the "
      "price again; r.json, r:save(path).  Error: a tree without noise." },
    { "close", close_tree, PNL_METHOD, PNL_NOTHING, "t:close()",
      "Let go of the stream and of the file that it keeps itself in (path=).  What was not saved is lost; what was "
      "paid stays paid." },
    { "count", get_count, PNL_FIELD, PNL_NOTHING, "t.count -> integer", "How many leaves have been pushed." },
    { "horizon", get_horizon, PNL_FIELD, PNL_NOTHING, "t.horizon -> integer or nil",
      "The most leaves; nil when it is unknown." },
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "t.dim -> integer", "The number of entries of a leaf." },
    { "sigma", get_sigma, PNL_FIELD, PNL_NOTHING, "t.sigma -> number",
      "Standard deviation of the noise on one entry of a node (binary) or of z (factorizations); of an unknown horizon "
      "in the first epoch." },
    { "rho", get_rho, PNL_FIELD, PNL_NOTHING, "t.rho -> number",
      "What the whole stream costs in zero-concentrated privacy, rounding to the lattice included." },
    { "event", get_event, PNL_FIELD, PNL_NOTHING, "t.event -> event",
      "The event of the whole stream up to the horizon (of an unknown one: for ever): one Gaussian release." },
    { "factorization", get_factorization, PNL_FIELD, PNL_NOTHING, "t.factorization -> string",
      "The method, as given or as chosen." },
    { "neighbours", get_neighbours, PNL_FIELD, PNL_NOTHING, "t.neighbours -> string",
      "Who is protected: the neighbouring relation of the charge." },
    { "simulated", get_simulated, PNL_FIELD, PNL_NOTHING, "t.simulated -> boolean",
      "True when the noise comes from a seeded stream: it protects nobody." },
    { "paid", get_paid, PNL_FIELD, PNL_NOTHING, "t.paid -> boolean",
      "Whether the stream has been paid for, which the first push does." },
    { "memory", get_memory, PNL_FIELD, PNL_NOTHING, "t.memory -> number",
      "How many numbers of 8 bytes the stream keeps now, all in all." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(t) -> string",
      "Method, sizes, noise and price; \"simulated: no privacy\" when that is so." },
    PNL_ROW_END,
};

const pnl_class pnl_tree_class = {
    "pn.tree", free_tree, tree_rows, "The private running sum of a stream of vectors.  t:push(v) changes it in place.",
    NULL,      NULL,
};
