/* llevels.c -- pn.query.levels: the categories of columns of a file that nobody knows, for a price.
 * Depends on: lquery.h, lrecipe.h, lsession.h, objective/passes/levels.h.  Used by: lquery.c. */
#include <math.h>
#include <string.h>

#include "bindings/objective/lquery.h"
#include "bindings/privacy/lsession.h"
#include "bindings/recipe/lrecipe.h"
#include "core/alloc.h"
#include "objective/passes/levels.h"

enum { EPSILON, DELTA, PARAMS };

static const char owner[] = "query.levels";
static const char *const by_hand[] = { "data", "columns", "na", "csv", "ledger", "rng", "label", NULL };

static const pn_param levels_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "of all columns together" },
    { "delta", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "of all columns together" },
    PN_PARAM_END,
};

/* ---- what a call holds ---- */

typedef struct work {
    size_t columns;
    pn_word_counts *counts; /* [columns] secret */
    pn_levels *levels;      /* [columns] released */
} work;

static void free_work(void *of)
{
    work *self = of;

    for (size_t c = 0; c < self->columns; c++) {
        pn_word_counts_clear(&self->counts[c]);
        pn_levels_clear(&self->levels[c]);
    }
    pn_free(self->counts);
    pn_free(self->levels);
    pn_free(self);
}

static int work_tostring(lua_State *L)
{
    lua_pushliteral(L, "levels that are being counted");
    return 1;
}

static const pnl_row work_rows[] = {
    { "__tostring", work_tostring, PNL_META, PNL_NOTHING, "tostring(levels) -> string", "What it is, in a few words." },
    PNL_ROW_END,
};

/* No script has one: it frees the counts when an error comes between. */
static const pnl_class work_class = { "pn.levels", free_work,
                                      work_rows,   "What pn.query.levels has counted, while it does.",
                                      NULL,        NULL };

static work *push_work(lua_State *L, size_t columns)
{
    void **slot = pnl_newbox(L, &work_class);
    work *made = pn_calloc(1, sizeof *made);

    if (made) {
        made->counts = pn_calloc(columns, sizeof *made->counts);
        made->levels = pn_calloc(columns, sizeof *made->levels);
    }
    if (!made || !made->counts || !made->levels) {
        if (made)
            free_work(made);
        pnl_no_memory(L, "%s: out of memory", owner);
        return NULL;
    }
    made->columns = columns;
    *slot = made;
    return made;
}

/* ---- reading ---- */

/* Push the list of names that `columns` is, of which a text is one. */
static size_t push_names(lua_State *L)
{
    int type = lua_getfield(L, 1, "columns");

    if (type == LUA_TSTRING) {
        lua_createtable(L, 1, 0);
        lua_insert(L, -2);
        lua_rawseti(L, -2, 1);
    }
    if (!lua_istable(L, -1) || lua_rawlen(L, -1) == 0 || lua_rawlen(L, -1) > 4096)
        pnl_error(L, "%s: columns must be the name of a column, or a list of 1 to 4096 names, got %s", owner,
                  pnl_got(L, -1));
    for (lua_Integer c = 1; c <= (lua_Integer)lua_rawlen(L, -1); c++) {
        if (lua_rawgeti(L, -1, c) != LUA_TSTRING)
            pnl_error(L, "%s: name %d of columns must be a text, got %s", owner, (int)c, pnl_got(L, -1));
        lua_pop(L, 1);
    }
    return lua_rawlen(L, -1);
}

/* Push the recipe that reads these columns as texts: a hole is in no level. */
static pn_recipe *push_reader(lua_State *L, int names, size_t count)
{
    lua_createtable(L, 0, 3);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer c = 1; c <= (lua_Integer)count; c++) {
        lua_createtable(L, 1, 2);
        lua_pushliteral(L, "-"); /* a column of categories has one */
        lua_rawseti(L, -2, 1);
        lua_rawgeti(L, names, c);
        lua_setfield(L, -2, "name");
        lua_pushliteral(L, "indicator");
        lua_setfield(L, -2, "missing");
        lua_rawseti(L, -2, c);
    }
    lua_setfield(L, -2, "features");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "intercept");
    lua_getfield(L, 1, "na");
    lua_setfield(L, -2, "na");
    pnl_push_json(L, lua_gettop(L), "recipe");
    return (pn_recipe *)(size_t)pnl_push_recipe(L, lua_tostring(L, -1)); /* nobody else has it */
}

/* Push the data set that the reader makes of the option `data`, whose texts are counted. */
static const pn_dataset *push_data(lua_State *L, pn_recipe *reader, work *all)
{
    int recipe = lua_gettop(L), type;

    for (size_t c = 0; c < all->columns; c++)
        reader->columns[c].counts = &all->counts[c];
    lua_getfield(L, recipe, "data");
    lua_pushvalue(L, recipe);
    type = lua_getfield(L, 1, "data");
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        pnl_error(L, "%s: data must be the path of a CSV file or a table of columns, got %s", owner, pnl_got(L, -1));
    lua_getfield(L, 1, "csv");
    lua_call(L, 3, 1);
    for (size_t c = 0; c < all->columns; c++)
        reader->columns[c].counts = NULL;
    return pnl_check(L, -1, &pnl_dataset_class);
}

/* ---- answering ---- */

static void push_column(lua_State *L, const pn_levels *levels)
{
    double *counts;

    lua_createtable(L, (int)levels->count, 0);
    for (size_t k = 0; k < levels->count; k++) {
        lua_pushstring(L, levels->level[k].name);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    pnl_list(L);
    counts = pnl_new_vec(L, levels->count);
    for (size_t k = 0; k < levels->count; k++)
        counts[k] = levels->level[k].count;
}

static void push_answer(lua_State *L, const work *all, int names, double threshold, int event)
{
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, event);
    lua_setfield(L, -2, "event");
    lua_pushnumber(L, threshold);
    lua_setfield(L, -2, "threshold");
    lua_createtable(L, 0, (int)all->columns);
    lua_createtable(L, 0, (int)all->columns);
    for (size_t c = 0; c < all->columns; c++) {
        push_column(L, &all->levels[c]);
        lua_rawgeti(L, names, (lua_Integer)c + 1);
        lua_insert(L, -2);
        lua_settable(L, -4); /* counts */
        lua_rawgeti(L, names, (lua_Integer)c + 1);
        lua_insert(L, -2);
        lua_settable(L, -4); /* levels */
    }
    pnl_list(L);
    lua_setfield(L, -3, "counts");
    pnl_list(L);
    lua_setfield(L, -2, "levels");
    pnl_list(L);
}

static int ask_levels(lua_State *L)
{
    pn_arg args[PARAMS + 1];
    pn_levels_query query = { .most = PN_CSV_CATEGORIES };
    double threshold, columns;
    pn_spending spending;
    const pn_dataset *data;
    const char *label;
    pn_ledger *ledger;
    pn_bill *account;
    pn_event **event, *each = NULL;
    pn_status status;
    pn_rng *rng;
    int names, ledger_at, rng_at;
    work *all;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, levels_params, args, by_hand);
    pnl_status(L, pn_args_check(owner, levels_params, args, &err), &err);
    query.columns = push_names(L);
    columns = (double)query.columns;
    names = lua_gettop(L);
    query.epsilon = args[EPSILON].real / columns;
    query.delta = args[DELTA].real / columns;
    label = pnl_query_label(L, owner);
    pnl_push_ledger(L, 1, owner);
    ledger_at = lua_gettop(L);
    lua_getfield(L, 1, "rng");
    rng_at = lua_gettop(L);
    (void)pnl_rng(L, rng_at);
    all = push_work(L, query.columns);
    query.counts = all->counts;
    data = push_data(L, push_reader(L, names, query.columns), all);
    event = (pn_event **)pnl_newbox(L, &pnl_event_class);
    account = pnl_bill(L, data);
    rng = pnl_rng(L, rng_at);
    ledger = pnl_query_ledger(L, ledger_at, account, pn_rng_simulated(rng), owner);
    pnl_status(L,
               pn_levels_threshold(&threshold, query.epsilon, query.delta, pn_ledger_budget(ledger)->neighbours, &err),
               &err);
    pn_spending_init(&spending, account, pn_rng_simulated(rng));
    status = PN_SPENDING(&spending, pn_levels_ask(&query, ledger, label, rng, all->levels, &each, &err));
    pnl_status(L, pnl_bill_refused(account, ledger, owner, status, &err), &err);
    status = pn_event_repeated(event, each, query.columns, &err);
    pn_event_free(each);
    pnl_status(L, status, &err);
    push_answer(L, all, names, threshold, lua_gettop(L));
    return 1;
}

void pnl_open_levels(lua_State *L)
{
    static const pnl_row row = {
        "levels",
        ask_levels,
        PNL_FUNCTION,
        PNL_PAID | PNL_FILES,
        "pn.query.levels{data=, columns=, epsilon=, delta=, na=, csv=, ledger=, rng=, label=} -> {levels=, counts=, "
        "threshold=, event=}",
        "The texts that columns of a CSV file (a path, or a table of columns) hold often, when they are not known "
        "beforehand: levels and counts, by the name of the column, of the texts whose count with Laplace noise is "
        "at least threshold, sorted by their bytes; 10000 of a column at most.  threshold is public: 1 + 2 ln(1/(2 "
        "delta))/epsilon for replace_one and 1 + ln(1/(2 delta))/epsilon for the others, with a column's part of "
        "both.  A text that one record alone has is released with probability delta; others below the threshold "
        "leave no trace.  Missing values (na, as of a recipe) and \"other\" count for nothing.  columns: a name, or "
        "a list of names for one charge.  The ledger needs a budget of epsilon and delta, and sets the part of "
        "delta aside at its first charge: ask this first."
    };

    pnl_open_class(L, &work_class);
    pnl_push_function(L, "query", ".", &row);
    lua_setfield(L, -2, row.name);
    pnl_reference(L, "query", row.name, row.reveals, row.signature, row.doc,
                  "Korolova, Kenthapadi, Mishra, Ntoulas (2009)", levels_params);
}
