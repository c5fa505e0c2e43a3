/* ldata_synthetic.c -- pn.data.synthetic: data with a known truth.
 * Depends on: ldata.h, progress.h, data/dataset.h.  Used by: ldata_load.c. */
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "core/vault.h"

/* The options in the table at 1, of which `seed` and `progress` are read elsewhere. */
static void read_options(lua_State *L, const char *owner, const pn_param *params, pn_arg *args)
{
    static const char *const extra[] = { "seed", "progress", NULL };
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, params, args, extra);
    pnl_status(L, pn_args_check(owner, params, args, &err), &err);
}

/* The truth and the box of the data are on the top. */
static void begin(lua_State *L, const char *owner)
{
    lua_getfield(L, 1, "progress");
    pnl_run_begin_at(L, -1, owner);
}

static int hand_over(lua_State *L, pn_dataset **slot, pn_status status, const pn_err *err)
{
    pnl_run_end(L);
    lua_pop(L, 1);
    pnl_data_made(L, slot, status, err);
    lua_insert(L, -2);
    return 2;
}

/* ---- a sparse truth ---- */

enum { MAKE_N, MAKE_P, MAKE_SPARSITY, MAKE_NOISE, MAKE_SIGNAL, MAKE_COUNT };

#define SIZE_PARAMS                                                                                                    \
    [MAKE_N] = { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of records" },                                 \
    [MAKE_P] = { "p", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of features" },                                \
    [MAKE_SPARSITY] = { "sparsity", PN_COUNT, PN_OPTIONAL, PN_ANY, 5.0, NULL, "non-zeros of theta*, at most p" }

static const pn_param lasso_params[] = {
    SIZE_PARAMS,
    [MAKE_NOISE] = { "noise", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.1, NULL,
                     "standard deviation of the label noise" },
    [MAKE_SIGNAL] = { "signal", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.5, NULL, "l1 norm of theta*" },
    PN_PARAM_END,
};

static const pn_param logistic_params[] = {
    SIZE_PARAMS,
    [MAKE_NOISE] = { "noise", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.1, NULL, "probability of a flipped label" },
    [MAKE_SIGNAL] = { "signal", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 5.0, NULL, "l1 norm of theta*" },
    PN_PARAM_END,
};

typedef pn_status (*synthetic_fn)(pn_dataset **, const pn_synthetic_options *, double *, pn_err *);

/* The option `seed` of the table at 1: any whole number, 1 when absent. */
uint64_t pnl_data_seed(lua_State *L, const char *owner)
{
    int exact = 0, type = lua_istable(L, 1) ? lua_getfield(L, 1, "seed") : LUA_TNIL;
    lua_Integer seed = 1;

    if (type != LUA_TNIL) {
        seed = lua_tointegerx(L, -1, &exact);
        if (type != LUA_TNUMBER || !exact)
            pnl_error(L, "%s: seed must be a whole number, got %s", owner, pnl_text(L, -1));
    }
    return (uint64_t)seed;
}

static int synthetic(lua_State *L, const char *owner, const pn_param *params, synthetic_fn make)
{
    pn_synthetic_options options = { .task = pnl_task(L) };
    pn_arg args[MAKE_COUNT];
    pn_dataset **slot;
    double *truth;
    pn_err err;

    read_options(L, owner, params, args);
    options.n = args[MAKE_N].count;
    options.p = args[MAKE_P].count;
    options.sparsity = args[MAKE_SPARSITY].count;
    if (!args[MAKE_SPARSITY].given && options.sparsity > options.p)
        options.sparsity = options.p;
    options.noise = args[MAKE_NOISE].real;
    options.signal = args[MAKE_SIGNAL].real;
    options.seed = pnl_data_seed(L, owner);
    truth = pnl_new_vec(L, options.p);
    slot = pnl_new_data(L);
    begin(L, owner);
    return hand_over(L, slot, PN_WITH_RECORDS(make(slot, &options, truth, &err)), &err);
}

static int synthetic_lasso(lua_State *L)
{
    return synthetic(L, "data.synthetic.lasso", lasso_params, pn_dataset_synthetic_lasso);
}

static int synthetic_logistic(lua_State *L)
{
    return synthetic(L, "data.synthetic.logistic", logistic_params, pn_dataset_synthetic_logistic);
}

/* ---- a truth that is a matrix ---- */

enum { CLASS_N, CLASS_P, CLASS_CLASSES, CLASS_SEPARATION, CLASS_NOISE, CLASS_COUNT };

static const pn_param classification_params[] = {
    [CLASS_N] = { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of records" },
    [CLASS_P] = { "p", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of features" },
    [CLASS_CLASSES] = { "classes", PN_COUNT, PN_OPTIONAL, PN_ANY, 3.0, NULL, "number of classes, at least 2" },
    [CLASS_SEPARATION] = { "separation", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 3.0, NULL,
                           "distance of the classes' means, in standard deviations" },
    [CLASS_NOISE] = { "noise", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.0, NULL,
                      "probability that a label becomes another class's" },
    PN_PARAM_END,
};

static int synthetic_classification(lua_State *L)
{
    static const char owner[] = "data.synthetic.classification";
    pn_classification_options options;
    pn_arg args[CLASS_COUNT];
    pn_dataset **slot;
    double *truth;
    pn_err err;

    read_options(L, owner, classification_params, args);
    options = (pn_classification_options){
        .n = args[CLASS_N].count,
        .p = args[CLASS_P].count,
        .classes = args[CLASS_CLASSES].count,
        .separation = args[CLASS_SEPARATION].real,
        .noise = args[CLASS_NOISE].real,
        .seed = pnl_data_seed(L, owner),
        .task = pnl_task(L),
    };
    truth = pnl_new_mat(L, options.classes, options.p);
    slot = pnl_new_data(L);
    begin(L, owner);
    return hand_over(L, slot, PN_WITH_RECORDS(pn_dataset_synthetic_classification(slot, &options, truth, &err)), &err);
}

enum { RANK_ROWS, RANK_COLS, RANK_N, RANK_RANK, RANK_NOISE, RANK_SIGNAL, RANK_COUNT };

static const pn_param low_rank_params[] = {
    [RANK_ROWS] = { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of M*" },
    [RANK_COLS] = { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of M*" },
    [RANK_N] = { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of records" },
    [RANK_RANK] = { "rank", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "rank of M*, at most rows and cols" },
    [RANK_NOISE] = { "noise", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.1, NULL,
                     "standard deviation of the label noise" },
    [RANK_SIGNAL] = { "signal", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.2, NULL, "nuclear norm of M*" },
    PN_PARAM_END,
};

static int synthetic_low_rank(lua_State *L)
{
    static const char owner[] = "data.synthetic.low_rank";
    pn_low_rank_options options;
    pn_arg args[RANK_COUNT];
    pn_dataset **slot;
    double *truth;
    pn_err err;

    read_options(L, owner, low_rank_params, args);
    options = (pn_low_rank_options){
        .n = args[RANK_N].count,
        .rows = args[RANK_ROWS].count,
        .cols = args[RANK_COLS].count,
        .rank = args[RANK_RANK].count,
        .noise = args[RANK_NOISE].real,
        .signal = args[RANK_SIGNAL].real,
        .seed = pnl_data_seed(L, owner),
        .task = pnl_task(L),
    };
    truth = pnl_new_mat(L, options.rows, options.cols);
    slot = pnl_new_data(L);
    begin(L, owner);
    return hand_over(L, slot, PN_WITH_RECORDS(pn_dataset_synthetic_low_rank(slot, &options, truth, &err)), &err);
}

/* ---- the library ---- */

/* The parameter tables stand in for rows: help and completion read them. */
void pnl_open_synthetic(lua_State *L)
{
    static const pnl_row none[] = { PNL_ROW_END };

    pnl_library(L, "data.synthetic", "Synthetic data with a known truth.", none);
    lua_pushcfunction(L, synthetic_lasso);
    lua_setfield(L, -2, "lasso");
    pnl_reference(
        L, "data.synthetic", "lasso", PNL_NOTHING,
        "pn.data.synthetic.lasso{n=, p=, sparsity=, noise=, signal=, seed=, progress=} -> data, truth",
        "Sparse linear regression: x_ij = 1 or -1, fair; theta* has `sparsity` entries of size signal/sparsity at "
        "random places with "
        "random signs; y = <x, theta*> + noise N(0, 1), clipped to [-1, 1].  Bounds enforced: linf 1, labels "
        "[-1, 1].  truth is theta*, a pn.vec.  The same seed (default 1) gives the same data.",
        NULL, lasso_params);
    lua_pushcfunction(L, synthetic_logistic);
    lua_setfield(L, -2, "logistic");
    pnl_reference(
        L, "data.synthetic", "logistic", PNL_NOTHING,
        "pn.data.synthetic.logistic{n=, p=, sparsity=, noise=, signal=, seed=, progress=} -> data, truth",
        "Sparse logistic regression: x_ij = 1 or -1, fair; theta* as in lasso; y = 1 with probability "
        "1/(1 + exp(-<x, theta*>)), else -1, then "
        "flipped with probability `noise`.  Bounds enforced: linf 1, labels -1 or 1.  truth is theta*, a pn.vec.  The "
        "same seed (default 1) gives the same data.",
        NULL, logistic_params);
    lua_pushcfunction(L, synthetic_classification);
    lua_setfield(L, -2, "classification");
    pnl_reference(
        L, "data.synthetic", "classification", PNL_NOTHING,
        "pn.data.synthetic.classification{n=, p=, classes=, separation=, noise=, seed=, progress=} -> data, truth",
        "Labels 1 to `classes`, equally likely; x = mean of its class + N(0, I).  With classes <= p + 1 the means are "
        "the corners of a regular simplex in a random position, `separation` apart; else they have that simplex's "
        "radius and random directions.  So P(y = k | x) is the softmax of the <mean, x>: truth, a pn.mat classes x p, "
        "is theta* of pn.loss.softmax (truth:vec() in the order of fit.theta), and of two classes the least error is "
        "Phi(-separation/2).  Then a label becomes one of the others with probability `noise`.  Bounds enforced: "
        "labels [1, classes]; rows have none, so clip them.  The same seed (default 1) gives the same data.",
        NULL, classification_params);
    lua_pushcfunction(L, synthetic_low_rank);
    lua_setfield(L, -2, "low_rank");
    pnl_reference(
        L, "data.synthetic", "low_rank", PNL_NOTHING,
        "pn.data.synthetic.low_rank{rows=, cols=, n=, rank=, noise=, signal=, seed=, progress=} -> data, truth",
        "Matrix sensing: a record is a matrix of signs, 1 or -1, fair, its rows * cols features row by row, as "
        "pn.set.nuclear_ball{rows=, cols=} has them; y = <X, M*> + noise N(0, 1), clipped to [-1, 1].  M* has `rank` "
        "singular values signal/rank and random singular vectors; it is truth, a pn.mat (truth:vec() in the order of "
        "fit.theta).  But for the clipping the variance of y is signal^2/rank + noise^2.  Bounds enforced: linf 1, "
        "labels [-1, 1].  The same seed (default 1) gives the same data.",
        NULL, low_rank_params);
    pnl_open_fingerprint(L);
}
