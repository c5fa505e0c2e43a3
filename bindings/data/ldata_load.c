/* ldata_load.c -- pn.data: loaders but for CSV, data sets from Lua values, and what all that make data sets share.
 * Depends on: lnumbers.h, progress.h, ldata.h, data/dataset.h.  Used by: module.c. */
#include <math.h>
#include <string.h>

#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/numeric/lnumbers.h"
#include "core/vault.h"

/* ---- what every maker does ---- */

static size_t weight_of(const pn_dataset *data)
{
    size_t entry = data->float32 ? sizeof(float) : sizeof(double), entries;

    if (data->absent || data->folder) /* elsewhere, or on disk */
        return 0;
    if (!data->sparse)
        return (pn_dataset_held_end(data) - data->first) * data->p * entry + data->n * sizeof(double);
    pn_vault_enter();
    entries = pn_csr_place(data, pn_dataset_held_end(data));
    pn_vault_leave();
    return entries * (entry + sizeof(uint32_t)) + data->n * 2 * sizeof(double);
}

int pnl_data_made(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err)
{
    pnl_status(L, status, err);
    pnl_weight(L, weight_of(*slot));
    return 1;
}

void pnl_data_pass(lua_State *L)
{
    pnl_run_begin(L, false);
    pnl_run_lend_task(L);
}

int pnl_data_passed(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err)
{
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, err);
}

/* ---- clipping what is loaded ---- */

pnl_row_clip pnl_data_row_clip(lua_State *L, int index, const char *owner)
{
    pnl_row_clip clip = { .norm = PN_LP_COUNT };
    int number;

    if (!lua_istable(L, index) || lua_getfield(L, index, "clip_rows") == LUA_TNIL)
        return clip;
    if (!lua_istable(L, -1))
        pnl_error(L, "%s: clip_rows must be a norm and a bound such as {\"l2\", 1}, got %s", owner, pnl_text(L, -1));
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    if (lua_type(L, -2) != LUA_TSTRING || !pn_lp_find(&clip.norm, lua_tostring(L, -2)))
        pnl_error(L, "%s: the norm of clip_rows must be \"l1\", \"l2\" or \"linf\", got %s", owner, pnl_text(L, -2));
    clip.bound = lua_tonumberx(L, -1, &number);
    if (!number)
        pnl_error(L, "%s: the bound of clip_rows must be a number, got %s", owner, pnl_text(L, -1));
    clip.given = true;
    lua_pop(L, 3);
    return clip;
}

pn_status pnl_data_clipped(pn_dataset *const *slot, const pnl_row_clip *clip, pn_status status, pn_err *err)
{
    if (status != PN_OK || !clip->given)
        return status;
    return PN_WITH_RECORDS(pn_dataset_clip_rows_here(*slot, clip->norm, clip->bound, err));
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

static int load_libsvm(lua_State *L)
{
    static const char *const extra[] = { "labels", "clip_rows", NULL };
    const char *path = pnl_data_path(L, 1, "data.libsvm");
    pn_libsvm_options options = { 0 };
    pn_arg args[LIBSVM_COUNT];
    pnl_row_clip clip;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "data.libsvm", libsvm_params, args, extra);
    pnl_status(L, pn_args_check("data.libsvm", libsvm_params, args, &err), &err);
    options.cols = args[LIBSVM_COLS].given ? args[LIBSVM_COLS].count : 0;
    if (args[LIBSVM_SPARSE].given)
        options.storage = args[LIBSVM_SPARSE].flag ? PN_STORAGE_SPARSE : PN_STORAGE_DENSE;
    clip = pnl_data_row_clip(L, 2, "data.libsvm");
    pnl_data_labels(L, "data.libsvm", false, &options.labels);
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_dataset_load_libsvm(slot, path, &options, pnl_task(L), &err);
    status = pnl_data_clipped(slot, &clip, status, &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

/* ---- NPY ---- */

static const char *const ranks_name[] = { "pn.ranks", NULL };

static const pn_param npy_params[] = {
    { "ranks", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ranks_name,
      "pn.ranks(): read and keep what d:share(ranks) would, no more" },
    PN_PARAM_END,
};

static int load_npy(lua_State *L)
{
    static const char *const extra[] = { "clip_rows", NULL };
    const char *xpath = pnl_data_path(L, 1, "data.npy"), *ypath = pnl_data_path(L, 2, "data.npy");
    pn_arg args[1];
    pnl_row_clip clip;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 3);
    pnl_options(L, 3, "data.npy", npy_params, args, extra);
    clip = pnl_data_row_clip(L, 3, "data.npy");
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_dataset_load_npy_share(slot, xpath, ypath, (const pn_ranks *)(size_t)args[0].object, pnl_task(L), &err);
    status = pnl_data_clipped(slot, &clip, status, &err);
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
        dense = pnl_check_mat_of(L, 1, "data.from: X");
    y = pnl_check_vec(L, 2);
    rows = sparse ? sparse->csr.rows : dense.rows;
    if (y.n != rows)
        return pnl_error(L, "data.from: X has %zu rows, y has %zu labels", rows, y.n);
    slot = pnl_new_data(L);
    pn_vault_enter();
    status = sparse ? pn_dataset_from_csr(slot, &sparse->csr, y.data, "data", &err)
                    : pn_dataset_from_dense(slot, dense.data, dense.rows, dense.cols, y.data, "data", &err);
    pn_vault_leave();
    return pnl_data_made(L, slot, status, &err);
}

/* ---- the library ---- */

static const pnl_row data_functions[] = {
    { "libsvm", load_libsvm, PNL_FUNCTION, PNL_NOTHING | PNL_FILES,
      "pn.data.libsvm(path, {cols=, sparse=, labels=nil | \"binary\" | {[1]=-1, [2]=1}, clip_rows=}) -> data",
      "Read LIBSVM text (\"label index:value ...\", indices from 1, increasing, # starts a comment), gzip or plain. "
      " cols: number of features, default the largest index found.  sparse: storage, default sparse when fewer than "
      "1 entry in 5 is present; false without cols is refused above 64 MB where fewer than 1 in 1000 is.  labels: "
      "\"binary\" makes the two values found -1 (smaller) and 1 (larger), a table maps each label; both enforce the "
      "label range, as do labels that are all -1 or 1 (the alphabet is taken as public).  clip_rows: {\"l2\", 1} "
      "does what d:clip_rows(\"l2\", 1) does, before anybody has the rows, so that there is never a second copy of "
      "them.  Errors name file, line and column." },
    { "csv", pnl_data_csv, PNL_FUNCTION, PNL_NOTHING | PNL_FILES,
      "pn.data.csv(path, {label=, header=, sep=, columns=, one_hot=, sparse=, labels=, clip_rows=}) -> data",
      "Read CSV (RFC 4180 quoting, a quoted field ends on its line), gzip or plain.  label: the label column by "
      "name, by number, or \"last\" (default).  header: whether the first line holds names; default: when a field of "
      "it is not a number, or, with one_hot or labels and no column asked for by name, when all are not; true passes "
      "over any first line.  sep: one character; default: found among , ; tab.  columns: the features by name or "
      "number, in that order; default: all but the label.  one_hot: the columns of text, each of which becomes 0/1 "
      "features named \"column=category\": {\"job\", 4} (names, numbers), true (all whose first record is not a "
      "number; then none of them may hold one), or with declared categories {job = {\"clerk\", \"cook\"}, [4] = "
      "{\"a\", \"b\"}}, in that order; a text that is not declared is an error, or with unknown = \"zeros\" beside the "
      "categories all zeros.  Without declaration the categories are those found, at most 10000, sorted (numbers by "
      "value, then bytes): they and their number come from the records, and nothing pays for that, so declare what is "
      "public knowledge.  sparse: storage, default dense, but sparse where 0/1 features make a dense table above 64 MB "
      "with more than 5 features for each column.  labels: \"binary\" makes the two values found -1 and 1 (the "
      "smaller number, or first text, -1), a table maps each, as in {[\"<=50K\"] = -1, [\">50K\"] = 1}; both enforce "
      "the label range.  clip_rows: as for pn.data.libsvm.  Errors name file, line and column." },
    { "npy", load_npy, PNL_FUNCTION, PNL_NOTHING | PNL_FILES, "pn.data.npy(xpath, ypath, {ranks=, clip_rows=}) -> data",
      "Read two NumPy files, gzip or plain: features, n x p, and labels, n or n x 1; '<f8', '<f4', whole numbers or "
      "'|b1' (as 0 and 1), C or Fortran order.  Dense, stored as doubles; d:float32() halves them.  clip_rows: as for "
      "pn.data.libsvm.  Errors name the file and the position; sizes that do not fit, both files.  With "
      "ranks=pn.ranks() each rank reads the rows of its share alone, as d:share(ranks) says, so that a set larger than "
      "the memory of one machine can be loaded." },
    { "store", pnl_data_store, PNL_FUNCTION, PNL_NOTHING | PNL_FILES, "pn.data.store(path, data | make, ...) -> data",
      "A data set that stays on disk: records may be more than memory holds.  With a data set: writes it as the file "
      "`path`, whole or not at all, and opens that.  With a function: calls make(...), which loads or makes the data "
      "set with its arrays on disk, in the folder of `path`, then does the same; pn.data.store(\"big.pnd\", "
      "pn.data.csv, \"big.csv\", {label = \"y\"}) takes about three times the file's room on disk meanwhile, and "
      "memory for a record.  With the path alone: opens.  The file is mapped: solvers, samplers and objectives read "
      "the pages they need, and the system gives them back.  Opening reads all once: each block has a check sum, and "
      "every row and label must be within the bounds that the file calls enforced.  A file that was cut or changed is "
      "refused then, and before each later pass; one that is cut during a pass ends the process.  What is made of such "
      "a data set (clip_rows, float32, take) is on disk, too, until nobody has it.  A rank's share (d:share(ranks), "
      "pn.data.npy with ranks=) makes a file of that share: one for each rank, on machines of their own.  The file "
      "holds the records themselves, for this kind of machine: its mode is 0600." },
    { "from", from_values, PNL_FUNCTION, PNL_NOTHING, "pn.data.from(X, y) -> data",
      "A data set of copies: X a pn.mat, a pn.sparse or a table of rows, n x p; y n labels (pn.vec or table).  Finite "
      "numbers only.  Labels that are all -1 or 1 count as enforced." },
    PNL_ROW_END
};

void pnl_open_data(lua_State *L)
{
    pnl_open_class(L, &pnl_dataset_class);
    pnl_library(L, "data", "Data sets: loading them from files, making them from values, synthetic ones.",
                data_functions);
    pnl_open_synthetic(L);
    lua_setfield(L, -2, "synthetic");
    lua_setfield(L, -2, "data");
}
