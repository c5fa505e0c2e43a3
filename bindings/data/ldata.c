/* ldata.c -- pn.data objects: fields, what is enforced, and the transformations, each of which makes a new data set.
 * Depends on: lnumbers.h, progress.h, ldata.h, lrecipe.h, data/dataset.h, geometry/potentials/norm.h.
 * Used by: ldata_load.c, objectives and solvers (pnl_dataset_class). */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/recipe/lrecipe.h"
#include "core/vault.h"
#include "data/rows.h"
#include "geometry/potentials/norm.h"

static pn_dataset *check_data(lua_State *L)
{
    return pnl_check(L, 1, &pnl_dataset_class);
}

/* The same where its records are to be read. */
static pn_dataset *check_present(lua_State *L, const char *who)
{
    pn_dataset *data = check_data(L);
    pn_err err;

    pnl_status(L, pn_dataset_need_records(data, who, &err), &err);
    return data;
}

static pn_dataset **new_data(lua_State *L)
{
    return (pn_dataset **)pnl_newbox(L, &pnl_dataset_class);
}

/* ---- fields ---- */

PNL_GETTER(data_n, check_data(L)->n);
PNL_GETTER(data_p, check_data(L)->p);
PNL_GETTER(data_sparse, check_data(L)->sparse);
PNL_GETTER(data_storage, check_data(L)->float32 ? "float32" : "float64");

/* Names from a file, or nil. */
static int data_features(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    const char *name = data->features;

    if (!name) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, data->p < INT_MAX ? (int)data->p : 0, 0);
    for (size_t j = 1; j <= data->p; j++, name += strlen(name) + 1) {
        lua_pushstring(L, name);
        lua_rawseti(L, -2, (lua_Integer)j);
    }
    return 1;
}

static int data_recipe(lua_State *L)
{
    return pnl_push_recipe(L, check_data(L)->recipe), 1;
}

PNL_GETTER(data_name, check_data(L)->name);

static void push_widened_sparse(lua_State *L, const pn_dataset *data)
{
    const pn_csr *from = &data->csr;
    pnl_sparse *made = pnl_new_sparse(L);
    pn_err err;

    pnl_status(L, pn_csr_init(&made->csr, from->rows, from->cols, from->start[from->rows], &err), &err);
    memcpy(made->csr.start, from->start, (from->rows + 1) * sizeof *from->start);
    memcpy(made->csr.column, from->column, from->start[from->rows] * sizeof *from->column);
    pn_widen(made->csr.value, data->csr_single, from->start[from->rows]);
    pnl_weigh(L, from->start[from->rows] * (sizeof(double) + sizeof(uint32_t)));
}

static int data_X(lua_State *L)
{
    pn_dataset *data = check_present(L, "X");

    if (data->float32 && data->sparse) {
        push_widened_sparse(L, data);
    } else if (data->float32) {
        pn_widen(pnl_new_mat(L, data->n, data->p), data->single, data->n * data->p);
        pnl_freeze(L, -1);
    } else if (data->sparse) { /* a pn.sparse cannot be changed anyhow */
        pnl_view_sparse(L, &data->csr, 1);
    } else {
        pnl_view_mat(L, data->dense, data->n, data->p, 1);
        pnl_freeze(L, -1);
    }
    return 1;
}

static int data_y(lua_State *L)
{
    pn_dataset *data = check_present(L, "y");

    pnl_view_vec(L, data->y, data->n, 1);
    pnl_freeze(L, -1);
    return 1;
}

static int data_bounds(lua_State *L)
{
    const pn_record_bounds *bounds = &check_data(L)->bounds;

    lua_createtable(L, 0, 4);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        if (!isnan(bounds->norm[norm])) {
            lua_pushnumber(L, bounds->norm[norm]);
            lua_setfield(L, -2, pn_lp_name((pn_lp)norm));
        }
    }
    if (!isnan(bounds->label_low)) {
        lua_createtable(L, 2, 0);
        lua_pushnumber(L, bounds->label_low);
        lua_rawseti(L, -2, 1);
        lua_pushnumber(L, bounds->label_high);
        lua_rawseti(L, -2, 2);
        pnl_list(L);
        lua_setfield(L, -2, "labels");
    }
    if (bounds->usual > 0.0) {
        lua_pushnumber(L, bounds->usual);
        lua_setfield(L, -2, "usual");
    }
    pnl_list(L);
    return 1;
}

/* ---- printing ---- */

/* Sizes and what is enforced; nothing that was computed from the records. */
static int data_tostring(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    const pn_record_bounds *bounds = &data->bounds;
    bool none = true;
    luaL_Buffer text;
    char piece[160];

    luaL_buffinit(L, &text);
    (void)snprintf(piece, sizeof piece, "%.80s: %zu x %zu, %s%s", data->name, data->n, data->p,
                   data->sparse ? "sparse" : "dense", data->float32 ? ", float32" : "");
    luaL_addstring(&text, piece);
    if (data->partial) {
        (void)snprintf(piece, sizeof piece, ", of which this rank holds %zu to %zu", data->first + 1,
                       pn_dataset_held_end(data));
        luaL_addstring(&text, piece);
    }
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        if (isnan(bounds->norm[norm]))
            continue;
        (void)snprintf(piece, sizeof piece, "%s %s <= %.6g", none ? "\n  rows" : ",", pn_lp_name((pn_lp)norm),
                       bounds->norm[norm]);
        luaL_addstring(&text, piece);
        none = false;
    }
    if (none)
        luaL_addstring(&text, "\n  rows not bounded");
    if (bounds->labels_binary)
        (void)snprintf(piece, sizeof piece, "; labels -1 or 1");
    else if (isnan(bounds->label_low))
        (void)snprintf(piece, sizeof piece, "; labels not bounded");
    else
        (void)snprintf(piece, sizeof piece, "; labels in [%.6g, %.6g]", bounds->label_low, bounds->label_high);
    luaL_addstring(&text, piece);
    if (bounds->categories_found)
        luaL_addstring(&text, "\n  WARNING: categories were found in the records, and nothing pays for what they\n"
                              "  tell; declare them: pn.recipe, or one_hot={column = {\"a\", \"b\"}}");
    luaL_pushresult(&text);
    return 1;
}

/* ---- transformations ---- */

static pn_status row_value(void *self, const double *x, size_t p, double *value, pn_err *err)
{
    return pn_norm_value(self, x, p, value, err);
}

/* "l1", "l2", "linf", or the pn.norm that is one of them: *lp; NULL.  Another pn.norm is given back. */
static pn_norm *check_row_norm(lua_State *L, int index, pn_lp *lp)
{
    pn_norm *norm = pnl_test(L, index, &pnl_norm_class);

    if (norm)
        return pn_norm_is_lp(norm, lp) ? NULL : norm;
    if (lua_type(L, index) == LUA_TSTRING && pn_lp_find(lp, lua_tostring(L, index)))
        return NULL;
    pnl_error(L, "clip_rows: norm must be \"l1\", \"l2\", \"linf\" or a pn.norm, got %s", pnl_got(L, index));
    return NULL;
}

/* Rows must be clipped each by itself, and be shown to nobody: who knows what a user's functions do. */
static void refuse_functions(lua_State *L, const pn_norm *norm, size_t p)
{
    pn_set *ball = NULL;
    pn_err err;
    bool calls;

    if (pn_norm_ball(&ball, norm, p, &err) != PN_OK)
        return; /* which its radius tells */
    calls = ball->ops->single_thread;
    pn_set_free(ball);
    if (calls)
        pnl_error(L, "clip_rows: the norm calls functions of yours, which would see the records and may clip one by "
                     "the others; use one of pn.norm's own, or the norm of a set of pn.set's own");
}

static pn_row_gauge gauge_of(lua_State *L, pn_norm *norm, size_t p)
{
    pn_row_gauge gauge = { .value = row_value, .self = norm };
    size_t dim = pn_norm_dim(norm);
    pn_err err;

    if (dim && dim != p)
        pnl_error(L, "clip_rows: the norm has %zu entries, the rows have %zu", dim, p);
    refuse_functions(L, norm, p);
    for (int lp = 0; lp < PN_LP_COUNT; lp++)
        pnl_status(L, pn_norm_radius(norm, (pn_lp)lp, p, &gauge.radius[lp], &err), &err);
    return gauge;
}

static int data_clip_rows(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_lp lp = PN_L2;
    pn_norm *norm = check_row_norm(L, 2, &lp);
    double bound = pnl_check_finite(L, 3, "clip_rows: bound");
    pn_row_gauge gauge;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    if (norm) {
        pnl_refuse_analyst(L, "clip_rows: this norm",
                           "whether it can be computed of a row depends on the records; \"l1\", \"l2\" and \"linf\" "
                           "always can");
        gauge = gauge_of(L, norm, data->p);
    }
    slot = new_data(L);
    pnl_data_pass(L);
    if (norm) {
        pnl_pin(L, 1);
        pnl_pin(L, 2);
        status = PN_WITH_RECORDS(pn_dataset_clip_rows_to(slot, data, &gauge, bound, &err));
    } else {
        status = PN_WITH_RECORDS(pn_dataset_clip_rows(slot, data, lp, bound, &err));
    }
    return pnl_data_passed(L, slot, status, &err);
}

/* The ranges are at 2 and 3. */
static int rescale(lua_State *L, const pn_dataset *data)
{
    pn_vec low = pnl_check_vec(L, 2), high = pnl_check_vec(L, 3);
    pn_dataset **slot;
    pn_err err;

    if (low.n != high.n)
        pnl_error(L, "rescale: low has %zu entries, high has %zu", low.n, high.n);
    slot = new_data(L);
    pnl_data_pass(L);
    return pnl_data_passed(L, slot, PN_WITH_RECORDS(pn_dataset_rescale(slot, data, low.data, high.data, low.n, &err)),
                           &err);
}

static int data_rescale(lua_State *L)
{
    const pn_dataset *data = check_data(L);

    if (lua_gettop(L) == 2 && lua_istable(L, 2) && lua_rawlen(L, 2) == 0)
        pnl_data_named_ranges(L, data);
    return rescale(L, data);
}

static int data_clip_labels(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    double low = pnl_check_finite(L, 2, "clip_labels: lo"), high = pnl_check_finite(L, 3, "clip_labels: hi");
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, PN_WITH_RECORDS(pn_dataset_clip_labels(slot, data, low, high, &err)), &err);
}

static int data_offset_labels(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_vec theta = pnl_check_vec(L, 2);
    double bound = pnl_check_finite(L, 3, "offset_labels: bound");
    pn_dataset **slot = new_data(L);
    pn_status status;
    pn_err err;

    pnl_data_pass(L);
    status = PN_WITH_RECORDS(pn_dataset_offset_labels(slot, data, theta.data, theta.n, bound, &err));
    return pnl_data_passed(L, slot, status, &err);
}

static int data_transform(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_mat map = pnl_check_mat_of(L, 2, "transform");
    pn_dataset **slot = new_data(L);
    pn_err err;

    pnl_data_pass(L);
    return pnl_data_passed(L, slot, PN_WITH_RECORDS(pn_dataset_transform(slot, data, map, &err)), &err);
}

static int data_float32(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_dataset **slot;
    pn_err err;

    lua_settop(L, 1);
    if (data->float32)
        return 1;
    slot = new_data(L);
    pnl_data_pass(L);
    return pnl_data_passed(L, slot, pn_dataset_to_float32(slot, data, &err), &err);
}

static int data_with_labels(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_vec y = pnl_check_vec(L, 2);
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, PN_WITH_RECORDS(pn_dataset_with_labels(slot, data, y.data, y.n, &err)), &err);
}

static int data_add_bias(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_dataset **slot = new_data(L);
    pn_err err;

    pnl_data_pass(L);
    return pnl_data_passed(L, slot, PN_WITH_RECORDS(pn_dataset_add_bias(slot, data, &err)), &err);
}

/* ---- the class ---- */

static const pnl_row data_rows[] = {
    { "n", data_n, PNL_FIELD, PNL_NOTHING, "d.n -> integer",
      "Number of records; public under replace-one neighbours." },
    { "p", data_p, PNL_FIELD, PNL_NOTHING, "d.p -> integer", "Number of features." },
    { "sparse", data_sparse, PNL_FIELD, PNL_NOTHING, "d.sparse -> boolean", "Whether features are stored sparse." },
    { "storage", data_storage, PNL_FIELD, PNL_NOTHING, "d.storage -> string",
      "\"float64\" or \"float32\": how the features are stored.  Labels and all sums are double in any case." },
    { "features", data_features, PNL_FIELD, PNL_RAW, "d.features -> table or nil",
      "The names of the p features: those of a CSV file's header, \"column=category\" for one of a text column, "
      "\"bias\" for that of add_bias; nil where there are none.  Categories that were found in the records are not "
      "public facts." },
    { "recipe", data_recipe, PNL_FIELD, PNL_NOTHING, "d.recipe -> recipe or nil",
      "The recipe that made it, which fits of it keep.  take, split, subset, clip_labels, float32 and clip_rows that "
      "clips nothing keep it; what changes columns, their scales or the labels' unit drops it: nil." },
    { "name", data_name, PNL_FIELD, PNL_NOTHING, "d.name -> string", "Where the data came from: a file's name." },
    { "X", data_X, PNL_FIELD, PNL_RAW, "d.X -> pn.mat or pn.sparse",
      "The features, n x p: a view, which cannot be changed; copy it to do so.  Of float32 data it is a copy in "
      "doubles, made each time it is asked for." },
    { "y", data_y, PNL_FIELD, PNL_RAW, "d.y -> pn.vec",
      "The n labels: a view, which cannot be changed; copy it to do so." },
    { "bounds", data_bounds, PNL_FIELD, PNL_NOTHING, "d.bounds -> {l1=, l2=, linf=, labels={lo, hi}, usual=}",
      "What is enforced for every record that could have been loaded: row norms and the range of the labels; nil "
      "where nothing is.  Labels that are all -1 or 1 count as enforced: the alphabet is taken as public.  usual is "
      "not a bound but a guess from the form of the recipe alone: the root mean square of row l2 norms to be "
      "expected." },
    { "summary", pnl_data_summary, PNL_METHOD, PNL_RAW, "d:summary() -> table",
      "Observed, not private: n, p, nonzeros, density, max_l1, max_l2, max_linf (largest row norms), label_min, "
      "label_max, label_mean, label_counts (the two smallest labels: {label=, count=}), other_labels.  Prints "
      "itself." },
    { "head", pnl_data_head, PNL_METHOD, PNL_RAW, "d:head(k) -> table",
      "The first k records (5 when left out, at most 1000), not private: a list of lists of numbers, the label last; "
      "columns= holds the names.  Prints itself, with the first columns and the label where there are many." },
    { "describe", pnl_data_describe, PNL_METHOD, PNL_PAID,
      "d:describe{ledger=, epsilon=, delta=, rho=, columns=, low=, high=, bins=, quantiles=, label=, rng=} -> table",
      "What each column looks like within its public range, with noise, for one charge: a row for each with column, "
      "name, low, high, outside (how many values lie beyond the range; loaders refuse missing ones), mean, "
      "mean_deviation, sd and quantiles (a pn.vec: those of quantiles=, read off a noisy histogram of bins= bins); "
      "deviation is that of the noise in a count.  low and high: one number for each column or for all; when left out "
      "what is enforced (d.bounds), and an error where nothing is.  The noise of all columns grows with their number, "
      "so ask for those you need: l1 sensitivity 5 a column (add_remove: 4), l2 its root.  Price as in pn.query: "
      "epsilon alone, epsilon with delta, or rho.  Prints itself." },
    { "clip_rows", data_clip_rows, PNL_METHOD, PNL_NOTHING, "d:clip_rows(norm, bound) -> data",
      "Scale each row whose norm exceeds the bound down to it and record the bound, with those it implies in the other "
      "norms.  norm is \"l2\", \"l1\", \"linf\" or a pn.norm; bound a positive number.  The bound holds in real "
      "arithmetic: rows within rounding of it (about p 2^-51) are scaled, too.  For another pn.norm that holds of the "
      "l1, l2 and linf bounds that it implies, which are what is recorded; a row outside the span of a flat ball "
      "becomes 0." },
    { "rescale", data_rescale, PNL_METHOD, PNL_NOTHING,
      "d:rescale(low, high) or d:rescale{age = {17, 90}, ...} -> data",
      "Feature j clamped to the public range [low[j], high[j]] and mapped to [-1, 1], which is then enforced (linf <= "
      "1); dense.  The range -1, 1 leaves a feature as it is.  By names (d.features) every feature has its range but "
      "those that are 0 or 1, \"column=category\" and \"bias\", which stay.  Take the ranges from units and "
      "documentation, never from the data: that would not be paid for." },
    { "clip_labels", data_clip_labels, PNL_METHOD, PNL_NOTHING, "d:clip_labels(lo, hi) -> data",
      "Clamp the labels to [lo, hi], lo < hi, and record the range; a narrower one that was enforced before stays." },
    { "offset_labels", data_offset_labels, PNL_METHOD, PNL_NOTHING, "d:offset_labels(theta, bound) -> data",
      "The labels less a linear prediction that is public, y - <x, theta>, clamped to [-bound, bound], which is then "
      "enforced; features and row bounds stay, the recipe goes.  theta has p finite numbers; bound is positive, in the "
      "unit of the labels.  Least squares on the result finds what theta lacks: theta + fit.theta predicts the labels "
      "of d, and the noise of solve.sufficient_statistics grows with bound instead of the labels' range.  Take theta "
      "and bound from public records or an earlier release, never from d: that would not be paid for." },
    { "transform", data_transform, PNL_METHOD, PNL_NOTHING, "d:transform(P) -> data",
      "Features z = P x by a public linear map, P a mat with a row for each new feature and a column for each of d; "
      "dense, without names; the labels stay, the recipe goes.  Of bounds on rows there is what follows from ||z||_2 "
      "<= ||P|| ||x||_2, ||P|| the operator norm: the old ones do not pass.  Of an ill-conditioned P that is large, "
      "so clip again, d:transform(P):clip_rows(\"l2\", bound), bound a quantile of ||P x|| over public records.  <z, "
      "theta> = <x, P^T theta>: fit:in_terms_of(d, {map = P}) is the fit for records x.  Take P from public records "
      "or an earlier release, never from d: that would not be paid for.  Errors: sizes that do not agree; rows "
      "without a bound." },
    { "with_labels", data_with_labels, PNL_METHOD, PNL_NOTHING, "d:with_labels(y) -> data",
      "The same features with n other labels (pn.vec or table of finite numbers).  Label bounds are forgotten, unless "
      "all new labels are -1 or 1; row bounds stay." },
    { "add_bias", data_add_bias, PNL_METHOD, PNL_NOTHING, "d:add_bias() -> data",
      "One more feature, the constant 1, at the end.  Row bounds grow: l1 by 1, l2 to sqrt(l2^2 + 1), linf to at least "
      "1." },
    { "float32", data_float32, PNL_METHOD, PNL_NOTHING | PNL_FAILS, "d:float32() -> data",
      "The same records with the features stored as float32: half the memory, and dense passes over the data take "
      "about half the time.  Entries are rounded toward zero, so that every enforced row bound stays valid; labels "
      "stay double, and all sums are of doubles.  What is made of the result is float32, too; a float32 data set gives "
      "itself.  An error, with its position, for an entry beyond 3.4e38." },
    { "take", pnl_data_take, PNL_METHOD, PNL_NOTHING, "d:take(n) -> data",
      "The first n records; bounds stay.  Error when there are fewer." },
    { "shuffle", pnl_data_shuffle, PNL_METHOD, PNL_NOTHING, "d:shuffle(rng) -> data",
      "All records in random order; rng is a pn.rng, or nil for the secure one." },
    { "share", pnl_data_share, PNL_METHOD, PNL_NOTHING | PNL_PROCESSES, "d:share(ranks) -> data",
      "The records that this rank needs for its share of each pass of an objective with ranks=, and all labels: "
      "about n/size records and n/32 more, and all of them where they are at most 4228.  Of sparse data it has the "
      "lengths of all rows, too, and more records where there are few entries for each feature.  Values, gradients, "
      "Hessians and solvers have the bits of one process.  So have batches: all ranks draw the same one, whose law "
      "and price are those of one process, and rows that a rank needs for it and does not hold are sent by another, "
      "to all.  What needs other records says so: black boxes, predictions, evaluations, the question `within` "
      "(which adaptive_clipping asks), take, shuffle, split, rescale, transform, add_bias, summary.  Keep no "
      "reference to d, so that its memory is given back; pn.data.npy{ranks=} never takes it." },
    { "split", pnl_data_split, PNL_METHOD, PNL_NOTHING, "d:split(fraction, rng) -> train, test",
      "Shuffle and part: the first has round(fraction n) records, the second the rest; fraction in (0, 1), neither "
      "part empty.  Bounds stay.  rng is a pn.rng, or nil for the secure one." },
    { "holdout", pnl_data_holdout, PNL_METHOD, PNL_NOTHING, "d:holdout(every) -> train, test",
      "Splits the records by position alone.  Of each block of `every` consecutive records, one is held out, at a "
      "place that a fixed public hash of the block's number draws; the others train, in their order, as do records "
      "after the last whole block.  So floor(n/every) are held out.  every is a whole number from 2 to n.  The same "
      "n and `every` always give the same positions, whatever the records hold: under replace_one and zero_out, "
      "changing one record changes one part.  The hash keeps a file whose order has a period from giving the parts "
      "different laws.  Under add_remove the rule is not private: removing a record moves those after it.  Bounds "
      "and the recipe stay." },
    { "__tostring", data_tostring, PNL_META, PNL_NOTHING, "tostring(d) -> string",
      "Name, size, storage and what is enforced; no value of a record." },
    PNL_ROW_END
};

static void free_data(void *data)
{
    pn_dataset_free(data);
}

const pnl_class pnl_dataset_class = {
    "pn.dataset",
    free_data,
    data_rows,
    "n records (x, y): features dense or sparse, one label each, and what is enforced about them.  Immutable: every "
    "method makes a new data set.",
    NULL,
    NULL
};
