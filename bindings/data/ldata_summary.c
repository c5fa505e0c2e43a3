/* ldata_summary.c -- d:summary(): observed facts about the records as a table that prints itself.
 * Depends on: ldata.h, data/dataset.h.  Used by: ldata.c. */
#include <stdio.h>

#include "bindings/core/lprint.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"

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

/* Of the table that pnl_data_summary makes. */
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
    pnl_wrap_lines(L);
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

int pnl_data_summary(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    pn_dataset_summary facts;
    pn_status status;
    pn_err err;

    pnl_data_pass(L);
    status = pn_dataset_summarise(data, &facts, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
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
