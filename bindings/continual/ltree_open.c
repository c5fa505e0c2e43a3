/* ltree_open.c -- pn.tree{...} and pn.tree.resume: streams from options and from files.
 * Depends on: ltree.h, lnumbers.h, lprivacy_check.h, continual/prefix.h.  Used by: module.c. */
#include <string.h>

#include "bindings/continual/ltree.h"
#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/privacy/lprivacy_check.h"

static const char *const ledger_class[] = { "pn.ledger", NULL };
static const char *const rng_class[] = { "pn.rng", NULL };
static const char *const string_type[] = { "string", NULL };

enum { DIM, HORIZON, RHO, EPSILON, DELTA, SIGMA, PARTICIPATIONS, SEPARATION, BOUND, STRICT, OWN };

static const pn_param own_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "entries of a leaf" },
    { "horizon", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the most leaves; unknown when left out (see growth)" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "zero-concentrated privacy of the whole stream (an article's own rho is sqrt(2 rho))" },
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "or epsilon of the whole stream, with delta" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "delta that goes with epsilon" },
    { "sigma", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "or the standard deviation of the noise, on one entry of a node (binary) or of z (factorizations)" },
    { "participations", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "leaves that one record may influence" },
    { "separation", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "leaves from one of them to the next, at least" },
    { "bound", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "public bound on every |entry| of a leaf; what is beyond it is clamped to it; less is added for rounding then" },
    { "strict", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "refuse a leaf with an entry beyond the bound instead: for the owner of the data, since a refusal tells that it "
      "happened and costs nothing" },
    PN_PARAM_END,
};

/* Read by hand; the table is for help and completion. */
static const char *const by_hand[] = { "sensitivity", "ledger", "rng", "path", NULL };

static const pn_param by_hand_params[] = {
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "how far one record can move a leaf, in l2; one number, or a vector with one for each leaf" },
    { "ledger", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ledger_class,
      "what the first push is charged to; when left out, a budget of exactly what was asked for" },
    { "rng", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, rng_class, "where the key of the noise comes from" },
    { "path", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type,
      "a new file that is kept up to date: the state after a push is durable before its release is handed out" },
    PN_PARAM_END,
};

#define BY_HAND (sizeof by_hand_params / sizeof by_hand_params[0] - 1)

/* ---- reading ---- */

/* The option `name`, left on the stack. */
static int option(lua_State *L, int options, const char *name)
{
    return lua_istable(L, options) ? lua_getfield(L, options, name) : (lua_pushnil(L), LUA_TNIL);
}

static void read_sensitivity(lua_State *L, pn_prefix_options *options)
{
    int type = option(L, 1, "sensitivity");
    pn_vec each;

    if (type == LUA_TNUMBER) {
        options->sensitivity = lua_tonumber(L, -1);
        if (!(options->sensitivity > 0.0))
            pnl_error(L, "tree: sensitivity must be a positive number, got %s", pnl_got(L, -1));
        return;
    }
    if (type != LUA_TTABLE && !pnl_test(L, -1, &pnl_vec_class))
        pnl_error(L, "tree: sensitivity must be a positive number, or a vector with one for each leaf, got %s",
                  type == LUA_TNIL ? "nothing" : pnl_got(L, -1));
    each = pnl_check_vec_of(L, -1, "tree: sensitivity");
    if (each.n == 0)
        pnl_error(L, "tree: sensitivity is an empty vector; give one number for each leaf");
    if (options->horizon == 0)
        options->horizon = each.n;
    if (each.n != options->horizon)
        pnl_error(L, "tree: sensitivity has %zu entries and the horizon is %zu; give one for each leaf", each.n,
                  options->horizon);
    options->sensitivities = each.data;
}

static pn_ledger *read_ledger(lua_State *L, int options)
{
    pn_ledger *ledger;

    pnl_push_ledger(L, options, "tree");
    if (lua_isnil(L, -1))
        return NULL;
    ledger = pnl_test(L, -1, &pnl_ledger_class);
    if (!ledger)
        pnl_error(L, "tree: ledger must be an open pn.ledger, got %s", pnl_got(L, -1));
    return ledger;
}

static void check_one_price(lua_State *L, const pn_arg *args)
{
    int ways = args[RHO].given + (args[EPSILON].given || args[DELTA].given) + args[SIGMA].given;

    if (ways != 1 || args[EPSILON].given != args[DELTA].given)
        pnl_error(L, "tree: say how much noise by rho, by epsilon with delta, or by sigma; got %s",
                  ways == 0           ? "none of them"
                  : ways > 1          ? "more than one of them"
                  : args[DELTA].given ? "delta without epsilon"
                                      : "epsilon without delta");
}

static pn_prefix_options read_options(lua_State *L, pn_arg *relation)
{
    pn_param both[OWN + 2];
    pn_arg args[OWN + 1], method[PNL_MAX_PARAMS];
    pn_prefix_options options = { 0 };
    pn_err err;

    if (pn_param_count(pn_prefix_params) > PNL_MAX_PARAMS)
        pnl_error(L, "tree: has more options than the binding reads");
    memcpy(both, own_params, OWN * sizeof *both);
    both[OWN] = pn_neighbours_params[0];
    both[OWN + 1] = (pn_param)PN_PARAM_END;
    pnl_options2(L, 1, "tree", both, args, pn_prefix_params, method, by_hand);
    pnl_status(L, pn_args_check("tree", both, args, &err), &err);
    pnl_status(L, pn_args_check("tree", pn_prefix_params, method, &err), &err);
    pnl_refuse_strict(L, "tree", both, args, "whether a leaf is refused depends on it, and costs nothing");
    if (args[STRICT].flag && !args[BOUND].given)
        pnl_error(L, "tree: strict applies to a bound; give bound as well");
    check_one_price(L, args);
    options.dim = args[DIM].count;
    options.horizon = args[HORIZON].given ? args[HORIZON].count : 0;
    options.rho = args[RHO].given ? args[RHO].real : 0.0;
    options.epsilon = args[EPSILON].given ? args[EPSILON].real : 0.0;
    options.delta = args[DELTA].given ? args[DELTA].real : 0.0;
    options.sigma = args[SIGMA].given ? args[SIGMA].real : 0.0;
    options.participations = args[PARTICIPATIONS].given ? args[PARTICIPATIONS].count : 0;
    options.separation = args[SEPARATION].given ? args[SEPARATION].count : 0;
    options.bound = args[BOUND].given ? args[BOUND].real : 0.0;
    options.clamp = args[BOUND].given && !args[STRICT].flag;
    options.neighbours = (pn_neighbours)args[OWN].count;
    pnl_tree_status(L, pn_prefix_read_options(&options, "tree", method, &err), &err);
    options.horizon = options.horizon > 0 ? options.horizon : options.matrix.rows;
    read_sensitivity(L, &options);
    *relation = args[OWN];
    return options;
}

/* ---- making ---- */

static pnl_tree *new_tree(lua_State *L)
{
    void **slot = pnl_newbox(L, &pnl_tree_class);
    pnl_tree *self = pn_calloc(1, sizeof *self);

    if (!self)
        pnl_no_memory(L, "tree: out of memory");
    *slot = self;
    return self;
}

static pn_status start(pnl_tree *self, const pn_prefix_options *options, pn_rng *rng, const char *path, pn_err *err)
{
    pn_prefix_design *design = NULL;
    pn_status status = pn_prefix_design_new(&design, options, err);

    if (status == PN_OK)
        status = pn_prefix_new(&self->stream, design, rng, err);
    if (status == PN_OK && path)
        status = pn_prefix_follow(self->stream, path, err);
    pn_prefix_design_free(design);
    return status;
}

/* Who has a ledger gets the refusal of what can never be paid before the first leaf is there. */
static void check_ledger(lua_State *L, const pn_ledger *ledger, const pn_rng *rng, pn_neighbours neighbours)
{
    const pn_budget *budget = pn_ledger_budget(ledger);

    if (pn_rng_simulated(rng) && !budget->teaching)
        pnl_error(
            L,
            "tree: this rng is seeded (simulated noise, no privacy) and the ledger is a real budget; leave rng out, or "
            "open the ledger with teaching = true");
    if (budget->neighbours != neighbours)
        pnl_error(L, "tree: the ledger is for \"%s\" neighbours, the tree for \"%s\"",
                  pn_neighbours_names[budget->neighbours], pn_neighbours_names[neighbours]);
}

/* pn.tree{...}: argument 1 is the library */
static int tree_call(lua_State *L)
{
    pn_prefix_options options;
    pn_arg relation;
    pn_ledger *ledger;
    const char *path;
    pnl_tree *self;
    pn_rng *rng;
    pn_status status;
    int rng_index, box;
    pn_err err;

    lua_remove(L, 1);
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        return pnl_error(L,
                         "tree: expected a table of options, as in pn.tree{dim = 10, horizon = 1000, sensitivity = 1, "
                         "rho = 0.5}, got %s",
                         pnl_got(L, 1));
    options = read_options(L, &relation);
    if (option(L, 1, "rng") != LUA_TNIL && !pnl_test(L, -1, &pnl_rng_class))
        return pnl_error(L, "tree: rng must be an open pn.rng, got %s", pnl_got(L, -1));
    rng_index = lua_gettop(L);
    if (option(L, 1, "path") != LUA_TNIL)
        pnl_refuse_analyst(L, "tree: path", "it writes a file");
    path = lua_isnil(L, -1) ? NULL : pnl_tree_path(L, -1, "tree");
    (void)pnl_rng(L, rng_index); /* makes the one that is used when there is no option */
    self = new_tree(L);
    box = lua_gettop(L);
    ledger = read_ledger(L, 1); /* looked up last: memory may run a finalizer, which may close it */
    rng = pnl_rng(L, rng_index);
    if (ledger) {
        if (!relation.given)
            options.neighbours = pn_ledger_budget(ledger)->neighbours;
        check_ledger(L, ledger, rng, options.neighbours);
        self->ledger = pn_ledger_keep(ledger);
    }
    pnl_run_begin(L, false); /* coefficients for many bands take long */
    pnl_run_lend_task(L);
    rng = lua_isnil(L, rng_index) ? rng : pnl_test(L, rng_index, &pnl_rng_class); /* a finalizer may have closed it */
    status =
        rng ? start(self, &options, rng, path, &err) : pn_fail(&err, PN_EINVAL, "tree: the rng was closed meanwhile");
    pnl_run_end(L);
    pnl_tree_status(L, status, &err);
    lua_settop(L, box);
    return 1;
}

static int resume(lua_State *L)
{
    static const pn_param none[] = { PN_PARAM_END };
    static const char *const extra[] = { "ledger", NULL };
    const char *path = pnl_tree_path(L, 1, "tree.resume");
    pn_arg unused[1];
    pn_ledger *ledger;
    pnl_tree *self;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "tree.resume", none, unused, extra);
    self = new_tree(L);
    ledger = read_ledger(L, 2);
    if (ledger)
        self->ledger = pn_ledger_keep(ledger);
    pnl_run_begin(L, false); /* what a file asks for may take as long as what a script does */
    pnl_run_lend_task(L);
    status = pn_prefix_resume(&self->stream, path, &err);
    pnl_run_end(L);
    pnl_tree_status(L, status, &err);
    lua_settop(L, 3);
    return 1;
}

/* ---- the library ---- */

static const pnl_row library_rows[] = {
    { "resume", resume, PNL_FUNCTION, PNL_NOTHING | PNL_FILES, "pn.tree.resume(path, {ledger=}) -> tree",
      "Go on with a stream from its file.  Where it was saved (t:save), the file is marked as taken, durably, before "
      "anything else, and a second resume is refused: it would reuse noise.  Where it kept itself (path=), the new "
      "object goes on doing so; after a crash nothing that was released is forgotten: t.count says where it is, "
      "t:value() what was released last.  What was paid for stays paid for; ledger: what the first push is charged to "
      "if there was none yet.  Noise that is still to come gets a new key (of seeded streams, and with memory = "
      "\"regenerate\", the old one: the same bits as if never interrupted).  Errors: a file that was resumed before, "
      "is a copy, or had an earlier copy put back into it; one that another tree has open; one that is damaged, of "
      "another version, or no such file." },
    PNL_ROW_END,
};

static const char doc[] =
    "Private sums of a growing stream of vectors: t:push(v) releases the sum of all leaves so far, for a price that "
    "grows with the logarithm of their number.  One record may influence one leaf (or participations= leaves, "
    "separation= apart), each by at most the sensitivity in l2; the object cannot see records, so the caller clips "
    "the leaves.  Leaves may depend on what was released before.  factorization: \"binary\" is the tree, \"sqrt\", "
    "\"banded\" and \"blt\" have less noise and no exact nodes; chosen by horizon and dim when left out.  "
    "\"matrix\": matrix = C of one's own, whose noise on the leaves is C^-1 z.  What a record in several leaves "
    "moves is exact for participations = 2, for a C of at most 2 separation bands and for nonincreasing Toeplitz "
    "coefficients >= 0, and an upper bound otherwise; tostring(t) says which.  Without a ledger its own rho or "
    "epsilon is the budget; a seeded rng then makes a tree that says \"simulated: no privacy\", and a real ledger "
    "refuses it.  path: the state after each push is durable before its release is handed out, so that "
    "pn.tree.resume(path) goes on after a crash.";

static const char signature[] =
    "pn.tree{dim=, horizon=, sensitivity=, rho= or epsilon= and delta= or sigma=; factorization=, estimator=, "
    "memory=, scale=, keep_root=, growth=, bands=, fit=, coefficients=, buffers=, theta=, omega=, matrix=, "
    "participations=, separation=, bound=, neighbours=, ledger=, rng=, path=} -> tree";

static void enter(lua_State *L)
{
    pn_param params[OWN + 1 + PNL_MAX_PARAMS + BY_HAND + 1];
    size_t methods = pn_param_count(pn_prefix_params);

    methods = methods < PNL_MAX_PARAMS ? methods : PNL_MAX_PARAMS;
    memcpy(params, own_params, OWN * sizeof *params);
    memcpy(params + OWN, by_hand_params, BY_HAND * sizeof *params);
    params[OWN + BY_HAND] = pn_neighbours_params[0];
    memcpy(params + OWN + BY_HAND + 1, pn_prefix_params, methods * sizeof *params);
    params[OWN + BY_HAND + 1 + methods] = (pn_param)PN_PARAM_END;
    pnl_reference(
        L, "", "tree", PNL_NOTHING, signature, doc,
        "Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015); Henzinger, Upadhyay, Upadhyay "
        "(2023); Denisov et al. (2022) and Choquette-Choo et al. (2023), banded and matrix; Dvijotham et al. (2024); "
        "Zhang, Tran, Cutkosky (2024)",
        params);
}

void pnl_open_tree(lua_State *L)
{
    pnl_open_class(L, &pnl_tree_class);
    pnl_library(L, "tree", doc, library_rows);
    pnl_callable(L, "tree", tree_call, signature, doc);
    enter(L);
    lua_setfield(L, -2, "tree");
}
