/* ldata.c -- pn.data objects: fields, what is enforced, and the transformations, each of which makes a new data set.
 * Depends on: lnumbers.h, ldata.h, data/dataset.h.  Used by: ldata_load.c, objectives and solvers (pnl_dataset_class). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ldata.h"
#include "lnumbers.h"
#include "pnl.h"

static pn_dataset *check_data(lua_State *L)
{
    return pnl_check(L, 1, &pnl_dataset_class);
}

static pn_dataset **new_data(lua_State *L)
{
    return (pn_dataset **)pnl_newbox(L, &pnl_dataset_class);
}

static size_t weight_of(const pn_dataset *data)
{
    if (!data->sparse)
        return data->n * (data->p + 1) * sizeof(double);
    return data->csr.start[data->n] * (sizeof(double) + sizeof(uint32_t)) + data->n * 2 * sizeof(double);
}

int pnl_data_made(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err)
{
    pnl_status(L, status, err);
    pnl_weight(L, weight_of(*slot));
    return 1;
}

/* ---- fields ---- */

static int data_n(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)check_data(L)->n);
    return 1;
}

static int data_p(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)check_data(L)->p);
    return 1;
}

static int data_sparse(lua_State *L)
{
    lua_pushboolean(L, check_data(L)->sparse);
    return 1;
}

static int data_name(lua_State *L)
{
    lua_pushstring(L, check_data(L)->name);
    return 1;
}

static int data_X(lua_State *L)
{
    pn_dataset *data = check_data(L);

    if (data->sparse) { /* a pn.sparse cannot be changed anyhow */
        pnl_view_sparse(L, &data->csr, 1);
    } else {
        pnl_view_mat(L, data->dense, data->n, data->p, 1);
        pnl_freeze(L, -1);
    }
    return 1;
}

static int data_y(lua_State *L)
{
    pn_dataset *data = check_data(L);

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
        lua_setfield(L, -2, "labels");
    }
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
    (void)snprintf(piece, sizeof piece, "%.80s: %zu x %zu, %s", data->name, data->n, data->p,
                   data->sparse ? "sparse" : "dense");
    luaL_addstring(&text, piece);
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
    luaL_pushresult(&text);
    return 1;
}

/* ---- summary ---- */

static double field(lua_State *L, int table, const char *name)
{
    double value;

    lua_getfield(L, table, name);
    value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

static void add_label_counts(lua_State *L, luaL_Buffer *text, int counts)
{
    for (lua_Integer k = 1; k <= 2; k++) {
        char piece[80];
        double label, count;

        if (lua_rawgeti(L, counts, k) != LUA_TTABLE) {
            lua_pop(L, 1);
            return;
        }
        label = field(L, -1, "label");
        count = field(L, -1, "count");
        lua_pop(L, 1);
        (void)snprintf(piece, sizeof piece, "%s%.6g (%.0f times)", k == 1 ? "; smallest: " : ", ", label, count);
        luaL_addstring(text, piece);
    }
}

/* Of the table that data_summary makes. */
static int summary_tostring(lua_State *L)
{
    char piece[400];
    luaL_Buffer text;
    int counts;

    lua_settop(L, 1);
    lua_getfield(L, 1, "label_counts");
    counts = lua_gettop(L);
    lua_getfield(L, 1, "name");
    (void)snprintf(piece, sizeof piece,
                   "%.80s: %.0f records, %.0f features, %.4g %% of the entries are not zero\n"
                   "largest row: l1 %.6g, l2 %.6g, linf %.6g\n"
                   "labels: from %.6g to %.6g, mean %.6g",
                   lua_isstring(L, -1) ? lua_tostring(L, -1) : "data", field(L, 1, "n"), field(L, 1, "p"),
                   100.0 * field(L, 1, "density"), field(L, 1, "max_l1"), field(L, 1, "max_l2"),
                   field(L, 1, "max_linf"), field(L, 1, "label_min"), field(L, 1, "label_max"),
                   field(L, 1, "label_mean"));
    lua_pop(L, 1);
    luaL_buffinit(L, &text);
    luaL_addstring(&text, piece);
    if (lua_istable(L, counts))
        add_label_counts(L, &text, counts);
    (void)snprintf(piece, sizeof piece, "; others: %.0f\nThese are observed values of the records: not private.",
                   field(L, 1, "other_labels"));
    luaL_addstring(&text, piece);
    luaL_pushresult(&text);
    return 1;
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_count(lua_State *L, const char *name, size_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_label_counts(lua_State *L, const pn_dataset_summary *facts)
{
    double labels[2] = { facts->first_label, facts->second_label };
    size_t counts[2] = { facts->first_count, facts->second_count };

    lua_createtable(L, 2, 0);
    for (int k = 0; k < 2 && counts[k] > 0; k++) {
        lua_createtable(L, 0, 2);
        set_number(L, "label", labels[k]);
        set_count(L, "count", counts[k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, "label_counts");
}

static int data_summary(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_dataset_summary facts;

    pn_dataset_summarise(data, &facts);
    lua_createtable(L, 0, 14);
    lua_pushstring(L, data->name);
    lua_setfield(L, -2, "name");
    set_count(L, "n", data->n);
    set_count(L, "p", data->p);
    set_count(L, "nonzeros", facts.nonzeros);
    set_number(L, "density", (double)facts.nonzeros / ((double)data->n * (double)data->p));
    set_number(L, "max_l1", facts.max_norm[PN_L1]);
    set_number(L, "max_l2", facts.max_norm[PN_L2]);
    set_number(L, "max_linf", facts.max_norm[PN_LINF]);
    set_number(L, "label_min", facts.label_min);
    set_number(L, "label_max", facts.label_max);
    set_number(L, "label_mean", facts.label_mean);
    set_label_counts(L, &facts);
    set_count(L, "other_labels", facts.other_count);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, summary_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    return 1;
}

/* ---- transformations ---- */

static int data_clip_rows(lua_State *L)
{
    static const char *const names[] = { "l1", "l2", "linf", NULL };
    const pn_dataset *data = check_data(L);
    const char *given = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    int norm = 0;
    double bound;
    pn_dataset **slot;
    pn_err err;

    while (names[norm] && !(given && strcmp(given, names[norm]) == 0))
        norm++;
    if (!names[norm])
        return pnl_error(L, "clip_rows: norm must be one of l1, l2, linf, got %s", luaL_tolstring(L, 2, NULL));
    bound = pnl_check_finite(L, 3, "clip_rows: bound");
    slot = new_data(L);
    return pnl_data_made(L, slot, pn_dataset_clip_rows(slot, data, (pn_lp)norm, bound, &err), &err);
}

static int data_rescale(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_vec low = pnl_check_vec(L, 2), high = pnl_check_vec(L, 3);
    pn_dataset **slot;
    pn_err err;

    if (low.n != high.n)
        luaL_error(L, "rescale: low has %d entries, high has %d", (int)low.n, (int)high.n);
    slot = new_data(L);
    return pnl_data_made(L, slot, pn_dataset_rescale(slot, data, low.data, high.data, low.n, &err), &err);
}

static int data_clip_labels(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    double low = pnl_check_finite(L, 2, "clip_labels: lo"), high = pnl_check_finite(L, 3, "clip_labels: hi");
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, pn_dataset_clip_labels(slot, data, low, high, &err), &err);
}

static int data_with_labels(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_vec y = pnl_check_vec(L, 2);
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, pn_dataset_with_labels(slot, data, y.data, y.n, &err), &err);
}

static int data_add_bias(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, pn_dataset_add_bias(slot, data, &err), &err);
}

/* Row numbers live in a userdata on the stack. */
static size_t *new_rows(lua_State *L, size_t count)
{
    return lua_newuserdatauv(L, count * sizeof(size_t), 0);
}

static int push_subset(lua_State *L, const pn_dataset *data, const size_t *rows, size_t count)
{
    pn_dataset **slot = new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, pn_dataset_subset(slot, data, rows, count, &err), &err);
}

static int data_take(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    size_t count = pnl_check_count(L, 2, "take: n"), *rows;

    if (count > data->n)
        return pnl_error(L, "take: n must be at most %zu, the number of records, got %zu", data->n, count);
    rows = new_rows(L, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = i;
    return push_subset(L, data, rows, count);
}

static size_t *shuffled_rows(lua_State *L, const pn_dataset *data, int rng_index)
{
    pn_rng *rng = pnl_rng(L, rng_index);
    size_t *rows = new_rows(L, data->n);

    pn_rng_permutation(rng, data->n, rows);
    return rows;
}

static int data_shuffle(lua_State *L)
{
    const pn_dataset *data = check_data(L);

    return push_subset(L, data, shuffled_rows(L, data, 2), data->n);
}

static int data_split(lua_State *L)
{
    const pn_dataset *data = check_data(L);
    double fraction = pnl_check_finite(L, 2, "split: fraction");
    size_t train, *rows;

    if (!(fraction > 0.0 && fraction < 1.0))
        return pnl_error(L, "split: fraction must be a number in (0, 1), got %g", fraction);
    train = (size_t)round(fraction * (double)data->n);
    if (train == 0 || train >= data->n)
        return pnl_error(L, "split: fraction %g of %zu records gives parts of %zu and %zu; both must hold at least one",
                         fraction, data->n, train, data->n - train);
    rows = shuffled_rows(L, data, 3);
    push_subset(L, data, rows, train);
    push_subset(L, data, rows + train, data->n - train);
    return 2;
}

/* ---- the class ---- */

static const pnl_row data_rows[] = {
    { "n", data_n, PNL_FIELD, PNL_NOTHING, "d.n -> integer",
      "Number of records; public under replace-one neighbours." },
    { "p", data_p, PNL_FIELD, PNL_NOTHING, "d.p -> integer", "Number of features." },
    { "sparse", data_sparse, PNL_FIELD, PNL_NOTHING, "d.sparse -> boolean", "Whether features are stored sparse." },
    { "name", data_name, PNL_FIELD, PNL_NOTHING, "d.name -> string", "Where the data came from: a file's name." },
    { "X", data_X, PNL_FIELD, PNL_RAW, "d.X -> pn.mat or pn.sparse",
      "The features, n x p: a view, which cannot be changed; copy it to do so." },
    { "y", data_y, PNL_FIELD, PNL_RAW, "d.y -> pn.vec",
      "The n labels: a view, which cannot be changed; copy it to do so." },
    { "bounds", data_bounds, PNL_FIELD, PNL_NOTHING, "d.bounds -> {l1=, l2=, linf=, labels={lo, hi}}",
      "What is enforced for every record that could have been loaded: row norms and the range of the labels; nil where "
      "nothing is.  Labels that are all -1 or 1 count as enforced: the alphabet is taken as public." },
    { "summary", data_summary, PNL_METHOD, PNL_RAW, "d:summary() -> table",
      "Observed, not private: n, p, nonzeros, density, max_l1, max_l2, max_linf (largest row norms), label_min, "
      "label_max, label_mean, label_counts (the two smallest labels: {label=, count=}), other_labels.  Prints "
      "itself." },
    { "clip_rows", data_clip_rows, PNL_METHOD, PNL_NOTHING, "d:clip_rows(norm, bound) -> data",
      "Scale each row whose norm exceeds the bound down to it and record the bound, with those it implies in the other "
      "norms.  norm is \"l2\", \"l1\" or \"linf\"; bound a positive number.  The bound holds in real arithmetic: rows "
      "within rounding of it (about p 2^-51) are scaled, too." },
    { "rescale", data_rescale, PNL_METHOD, PNL_NOTHING, "d:rescale(low, high) -> data",
      "Feature j clamped to the public range [low[j], high[j]] and mapped to [-1, 1], which is then enforced (linf <= "
      "1); "
      "dense. The range -1, 1 leaves a feature as it is. Take the ranges from units and documentation, never from the "
      "data: "
      "that would not be paid for." },
    { "clip_labels", data_clip_labels, PNL_METHOD, PNL_NOTHING, "d:clip_labels(lo, hi) -> data",
      "Clamp the labels to [lo, hi], lo < hi, and record the range; a narrower one that was enforced before stays." },
    { "with_labels", data_with_labels, PNL_METHOD, PNL_NOTHING, "d:with_labels(y) -> data",
      "The same features with n other labels (pn.vec or table of finite numbers).  Label bounds are forgotten, unless "
      "all new labels are -1 or 1; row bounds stay." },
    { "add_bias", data_add_bias, PNL_METHOD, PNL_NOTHING, "d:add_bias() -> data",
      "One more feature, the constant 1, at the end.  Row bounds grow: l1 by 1, l2 to sqrt(l2^2 + 1), linf to at least "
      "1." },
    { "take", data_take, PNL_METHOD, PNL_NOTHING, "d:take(n) -> data",
      "The first n records; bounds stay.  Error when there are fewer." },
    { "shuffle", data_shuffle, PNL_METHOD, PNL_NOTHING, "d:shuffle(rng) -> data",
      "All records in random order; rng is a pn.rng, or nil for the secure one." },
    { "split", data_split, PNL_METHOD, PNL_NOTHING, "d:split(fraction, rng) -> train, test",
      "Shuffle and part: the first has round(fraction n) records, the second the rest; fraction in (0, 1), neither "
      "part "
      "empty.  Bounds stay.  rng is a pn.rng, or nil for the secure one." },
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
    "n records (x, y): features dense or sparse, one label each, and what is enforced "
    "about them.  Immutable: every method makes a new data set.",
    NULL,
    NULL
};
