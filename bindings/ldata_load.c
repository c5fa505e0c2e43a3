/* ldata_load.c -- pn.data: loaders, data sets from Lua values, and synthetic data.
 * Depends on: lnumbers.h, progress.h, ldata.h, data/dataset.h.  Used by: module.c. */
#include <math.h>
#include <string.h>

#include "ldata.h"
#include "lnumbers.h"
#include "pnl.h"
#include "progress.h"

static pn_dataset **new_data(lua_State *L)
{
    return (pn_dataset **)pnl_newbox(L, &pnl_dataset_class);
}

/* The path at `index`; a zero byte in it would silently name another file. */
static const char *check_path(lua_State *L, int index, const char *owner)
{
    size_t length = 0;
    const char *path = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;

    if (!path)
        pnl_error(L, "%s: the %s argument must be the path of a file, got %s", owner, index == 1 ? "first" : "second",
                  luaL_typename(L, index));
    if (strlen(path) != length)
        pnl_error(L, "%s: the path contains a zero byte", owner);
    return path;
}

static void check_args(lua_State *L, const char *owner, const pn_param *params, pn_arg *args)
{
    pn_err err;

    pnl_status(L, pn_args_check(owner, params, args, &err), &err);
}

/* Push option `name` of the table at 2 (nil without a table); returns its type. */
static int push_option(lua_State *L, const char *name)
{
    if (lua_istable(L, 2))
        return lua_getfield(L, 2, name);
    lua_pushnil(L);
    return LUA_TNIL;
}

/* ---- LIBSVM ---- */

enum { LIBSVM_COLS, LIBSVM_SPARSE, LIBSVM_COUNT };

static const pn_param libsvm_params[] = {
    [LIBSVM_COLS] = { "cols", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                      "number of features; default: the largest index found" },
    [LIBSVM_SPARSE] = { "sparse", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                        "storage; default: sparse when fewer than 1 entry in 5 is present" },
    PN_PARAM_END,
};

static int wrong_labels(lua_State *L, const char *got)
{
    return pnl_error(L,
                     "data.libsvm: labels must be \"binary\" or a table from numbers to numbers such as "
                     "{[1] = -1, [2] = 1}, got %s",
                     got);
}

/* The mapping at the top of the stack into two arrays, which stay on the stack as userdata. */
static void read_mapping(lua_State *L, pn_libsvm_options *options)
{
    int mapping = lua_gettop(L);
    size_t count = 0;
    double *from, *to;

    for (lua_pushnil(L); lua_next(L, mapping); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TNUMBER || lua_type(L, -1) != LUA_TNUMBER)
            wrong_labels(L, "a table that holds something else");
        count++;
    }
    if (count == 0)
        wrong_labels(L, "an empty table");
    from = lua_newuserdatauv(L, 2 * count * sizeof(double), 0);
    to = from + count;
    count = 0;
    for (lua_pushnil(L); lua_next(L, mapping); lua_pop(L, 1), count++) {
        from[count] = lua_tonumber(L, -2);
        to[count] = lua_tonumber(L, -1);
    }
    options->label_from = from;
    options->label_to = to;
    options->label_count = count;
}

static void read_labels(lua_State *L, pn_libsvm_options *options)
{
    switch (push_option(L, "labels")) {
    case LUA_TNIL:
        break;
    case LUA_TSTRING:
        if (strcmp(lua_tostring(L, -1), "binary") != 0)
            wrong_labels(L, luaL_tolstring(L, -1, NULL));
        options->binary_labels = true;
        break;
    case LUA_TTABLE:
        read_mapping(L, options);
        break;
    default:
        wrong_labels(L, luaL_tolstring(L, -1, NULL));
    }
}

static int load_libsvm(lua_State *L)
{
    static const char *const extra[] = { "labels", NULL };
    const char *path = check_path(L, 1, "data.libsvm");
    pn_libsvm_options options = { 0 };
    pn_arg args[LIBSVM_COUNT];
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "data.libsvm", libsvm_params, args, extra);
    options.cols = args[LIBSVM_COLS].given ? args[LIBSVM_COLS].count : 0;
    if (args[LIBSVM_SPARSE].given)
        options.storage = args[LIBSVM_SPARSE].flag ? PN_STORAGE_SPARSE : PN_STORAGE_DENSE;
    read_labels(L, &options);
    slot = new_data(L);
    pnl_run_begin(L, true);
    status = pn_load_libsvm(slot, path, &options, pnl_task(L), &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

/* ---- CSV ---- */

static void read_label(lua_State *L, pn_csv_options *options)
{
    int type = push_option(L, "label");

    if (type == LUA_TNUMBER)
        options->label_column = pnl_check_count(L, -1, "data.csv: label");
    else if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "last") != 0)
        options->label_name = lua_tostring(L, -1);
    else if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "data.csv: label must be the name of a column, its number, or \"last\", got %s",
                  luaL_tolstring(L, -1, NULL));
}

static void read_separator(lua_State *L, pn_csv_options *options)
{
    int type = push_option(L, "sep");
    size_t length = 0;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;

    if (type != LUA_TNIL && length != 1)
        pnl_error(L, "data.csv: sep must be a string of one character, got %s", luaL_tolstring(L, -1, NULL));
    if (text)
        options->separator = text[0];
}

static void read_header(lua_State *L, pn_csv_options *options)
{
    int type = push_option(L, "header");

    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        pnl_error(L, "data.csv: header must be true or false, got %s", luaL_tolstring(L, -1, NULL));
    if (type == LUA_TBOOLEAN)
        options->header = lua_toboolean(L, -1) ? PN_HEADER_YES : PN_HEADER_NO;
}

/* A list of names or of numbers; the array stays on the stack, names belong to the list. */
static void read_columns(lua_State *L, pn_csv_options *options)
{
    int type = push_option(L, "columns"), list = lua_gettop(L);
    lua_Integer count = type == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    const char **names;
    size_t *numbers;

    if (type == LUA_TNIL)
        return;
    if (count == 0)
        pnl_error(L, "data.csv: columns must be a list of column names or numbers, got %s",
                  type == LUA_TTABLE ? "an empty table" : luaL_tolstring(L, -1, NULL));
    names = lua_newuserdatauv(L, (size_t)count * sizeof *names, 0);
    numbers = lua_newuserdatauv(L, (size_t)count * sizeof *numbers, 0);
    type = lua_rawgeti(L, list, 1);
    lua_pop(L, 1);
    for (lua_Integer k = 1; k <= count; k++) {
        int found = lua_rawgeti(L, list, k);

        if (found != type || (type != LUA_TSTRING && type != LUA_TNUMBER))
            pnl_error(L, "data.csv: columns must be all names or all numbers; entry %lld is %s", (long long)k,
                      luaL_tolstring(L, -1, NULL));
        if (type == LUA_TSTRING)
            names[k - 1] = lua_tostring(L, -1);
        else
            numbers[k - 1] = pnl_check_count(L, -1, "data.csv: a column number");
        lua_pop(L, 1);
    }
    options->column_names = type == LUA_TSTRING ? names : NULL;
    options->columns = type == LUA_TNUMBER ? numbers : NULL;
    options->column_count = (size_t)count;
}

static int load_csv(lua_State *L)
{
    static const char *const extra[] = { "label", "header", "sep", "columns", NULL };
    const char *path = check_path(L, 1, "data.csv");
    pn_csv_options options = { 0 };
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "data.csv", NULL, NULL, extra);
    read_label(L, &options);
    read_separator(L, &options);
    read_header(L, &options);
    read_columns(L, &options);
    slot = new_data(L);
    pnl_run_begin(L, true);
    status = pn_load_csv(slot, path, &options, pnl_task(L), &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

/* ---- NPY ---- */

static int load_npy(lua_State *L)
{
    const char *xpath = check_path(L, 1, "data.npy"), *ypath = check_path(L, 2, "data.npy");
    pn_dataset **slot = new_data(L);
    pn_status status;
    pn_err err;

    pnl_run_begin(L, true);
    status = pn_load_npy(slot, xpath, ypath, pnl_task(L), &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

/* ---- from Lua values ---- */

static int from_values(lua_State *L)
{
    const pnl_sparse *sparse = pnl_test(L, 1, &pnl_sparse_class);
    pn_mat dense = { NULL, 0, 0 };
    size_t rows;
    pn_vec y;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    if (!sparse)
        dense = pnl_check_mat(L, 1);
    y = pnl_check_vec(L, 2);
    rows = sparse ? sparse->csr.rows : dense.rows;
    if (y.n != rows)
        return pnl_error(L, "data.from: X has %zu rows, y has %zu labels", rows, y.n);
    slot = new_data(L);
    status = sparse ? pn_dataset_from_csr(slot, &sparse->csr, y.data, "data", &err)
                    : pn_dataset_from_dense(slot, dense.data, dense.rows, dense.cols, y.data, "data", &err);
    return pnl_data_made(L, slot, status, &err);
}

/* ---- synthetic ---- */

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
static uint64_t read_seed(lua_State *L, const char *owner)
{
    int exact = 0, type = lua_istable(L, 1) ? lua_getfield(L, 1, "seed") : LUA_TNIL;
    lua_Integer seed = 1;

    if (type != LUA_TNIL) {
        seed = lua_tointegerx(L, -1, &exact);
        if (type != LUA_TNUMBER || !exact)
            pnl_error(L, "%s: seed must be a whole number, got %s", owner, luaL_tolstring(L, -1, NULL));
    }
    return (uint64_t)seed;
}

static int synthetic(lua_State *L, const char *owner, const pn_param *params, synthetic_fn make)
{
    static const char *const extra[] = { "seed", NULL };
    pn_synthetic_options options;
    pn_arg args[MAKE_COUNT];
    pn_dataset **slot;
    double *truth;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, params, args, extra);
    check_args(L, owner, params, args);
    options.n = args[MAKE_N].count;
    options.p = args[MAKE_P].count;
    options.sparsity = args[MAKE_SPARSITY].count;
    if (!args[MAKE_SPARSITY].given && options.sparsity > options.p)
        options.sparsity = options.p;
    options.noise = args[MAKE_NOISE].real;
    options.signal = args[MAKE_SIGNAL].real;
    options.seed = read_seed(L, owner);
    truth = pnl_new_vec(L, options.p);
    slot = new_data(L);
    pnl_data_made(L, slot, make(slot, &options, truth, &err), &err);
    lua_insert(L, -2);
    return 2;
}

static int synthetic_lasso(lua_State *L)
{
    return synthetic(L, "data.synthetic.lasso", lasso_params, pn_synthetic_lasso);
}

static int synthetic_logistic(lua_State *L)
{
    return synthetic(L, "data.synthetic.logistic", logistic_params, pn_synthetic_logistic);
}

/* ---- the library ---- */

static const pnl_row data_functions[] = {
    { "libsvm", load_libsvm, PNL_FUNCTION, PNL_NOTHING,
      "pn.data.libsvm(path, {cols=, sparse=, labels=nil | \"binary\" | {[1]=-1, [2]=1}}) -> data",
      "Read LIBSVM text (\"label index:value ...\", indices from 1 and rising, # starts a comment), gzip or plain.  "
      "cols: "
      "number of features, default the largest index found.  sparse: storage, default sparse when fewer than 1 entry "
      "in 5 "
      "is present.  labels: \"binary\" makes the two values found -1 (smaller) and 1 (larger), a table maps each "
      "label; "
      "both enforce the label range, as do labels that are all -1 or 1 (the alphabet is taken as public).  Errors name "
      "file, line and column." },
    { "csv", load_csv, PNL_FUNCTION, PNL_NOTHING, "pn.data.csv(path, {label=, header=, sep=, columns=}) -> data",
      "Read numeric CSV (RFC 4180 quoting, a quoted field ends on its line), gzip or plain, dense.  label: the label "
      "column by name, by number, or \"last\" (default).  header: whether the first line holds names; default: when a "
      "field of it is not a number; true passes over any first line.  sep: one character; default: found among , ; "
      "tab.  "
      "columns: the features by name or number, in that order; default: all but the label.  Errors name file, line and "
      "column." },
    { "npy", load_npy, PNL_FUNCTION, PNL_NOTHING, "pn.data.npy(xpath, ypath) -> data",
      "Read two NumPy files, gzip or plain: features, n x p, and labels, n or n x 1; '<f8', '<f4', whole numbers or "
      "'|b1' (as 0 and 1), C or Fortran order.  Dense, stored as doubles; d:float32() halves them.  Errors name the "
      "file "
      "and the position; sizes that do not fit, both files." },
    { "from", from_values, PNL_FUNCTION, PNL_NOTHING, "pn.data.from(X, y) -> data",
      "A data set of copies: X a pn.mat, a pn.sparse or a table of rows, n x p; y n labels (pn.vec or table).  Finite "
      "numbers only.  Labels that are all -1 or 1 count as enforced." },
    PNL_ROW_END
};

/* The parameter tables stand in for rows: help and completion read them. */
static void open_synthetic(lua_State *L)
{
    static const pnl_row none[] = { PNL_ROW_END };

    pnl_library(L, "data.synthetic", "Synthetic data with a known truth.", none);
    lua_pushcfunction(L, synthetic_lasso);
    lua_setfield(L, -2, "lasso");
    pnl_reference(L, "data.synthetic", "lasso", PNL_NOTHING,
                  "pn.data.synthetic.lasso{n=, p=, sparsity=, noise=, signal=, seed=} -> data, truth",
                  "x_ij = 1 or -1, fair; theta* has `sparsity` entries of size signal/sparsity at random places with "
                  "random signs; y = <x, theta*> + noise N(0, 1), clipped to [-1, 1].  Bounds enforced: linf 1, labels "
                  "[-1, 1].  truth is theta*, a pn.vec.  The same seed (default 1) gives the same data.",
                  NULL, lasso_params);
    lua_pushcfunction(L, synthetic_logistic);
    lua_setfield(L, -2, "logistic");
    pnl_reference(
        L, "data.synthetic", "logistic", PNL_NOTHING,
        "pn.data.synthetic.logistic{n=, p=, sparsity=, noise=, signal=, seed=} -> data, truth",
        "x_ij = 1 or -1, fair; theta* as in lasso; y = 1 with probability 1/(1 + exp(-<x, theta*>)), else -1, "
        "then flipped with probability `noise`.  Bounds enforced: linf 1, labels -1 or 1.  truth is theta*, a "
        "pn.vec.  The same seed (default 1) gives the same data.",
        NULL, logistic_params);
}

void pnl_open_data(lua_State *L)
{
    pnl_register(L, &pnl_dataset_class);
    pnl_library(L, "data", "Data sets: loading them from files, making them from values, synthetic ones.",
                data_functions);
    open_synthetic(L);
    lua_setfield(L, -2, "synthetic");
    lua_setfield(L, -2, "data");
}
