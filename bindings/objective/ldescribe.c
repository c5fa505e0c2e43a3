/* ldescribe.c -- the table that d:describe gives, which prints itself.
 * Depends on: lquery.h, lprint.h, objective/passes/describe.h, privacy/accounting/weak.h.  Used by: lquery.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/objective/lquery.h"
#include "core/text.h"
#include "objective/passes/describe.h"
#include "privacy/accounting/weak.h"

#define NAME_COLUMNS   14
#define SHOWN_SHARES   3 /* that fit on a line */
#define NUMBER_COLUMNS 9

/* ---- printing ---- */

static double field(lua_State *L, int table, const char *name)
{
    double value;

    lua_getfield(L, table, name);
    value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

static void add_cell(char *line, size_t size, const char *text)
{
    size_t used = strlen(line);

    (void)snprintf(line + used, size - used, " %*s", NUMBER_COLUMNS, text);
}

static void add_number(char *line, size_t size, double x)
{
    char number[PNL_NUMBER_BYTES];

    add_cell(line, size, pnl_number_text(number, x, 4));
}

static void begin_line(char *line, size_t size, const char *name)
{
    char cell[PN_TEXT_CELL_BYTES(NAME_COLUMNS)];

    (void)snprintf(line, size, "\n%s", pn_text_cell(cell, name ? name : "", NAME_COLUMNS, false));
}

/* Pushes "\nname outside mean sd 25% 50% 75%". */
static void push_heading(lua_State *L)
{
    static const char *const names[] = { "outside", "mean", "sd" };
    char line[200];
    pn_vec shares;

    lua_getfield(L, 1, "shares");
    shares = pnl_check_vec(L, -1);
    begin_line(line, sizeof line, "column");
    for (size_t k = 0; k < 3; k++)
        add_cell(line, sizeof line, names[k]);
    for (size_t k = 0; k < shares.n && k < SHOWN_SHARES; k++) {
        char share[40];

        (void)snprintf(share, sizeof share, "%.3g%%", 100.0 * shares.data[k]);
        add_cell(line, sizeof line, share);
    }
    lua_pop(L, 1);
    lua_pushstring(L, line);
}

/* Of row i of the table at 1. */
static void push_line(lua_State *L, lua_Integer i)
{
    int row = lua_gettop(L) + 1;
    char line[200];
    pn_vec quantiles;

    lua_rawgeti(L, 1, i);
    luaL_checktype(L, row, LUA_TTABLE);
    lua_getfield(L, row, "name");
    begin_line(line, sizeof line, lua_tostring(L, -1));
    add_number(line, sizeof line, field(L, row, "outside"));
    add_number(line, sizeof line, field(L, row, "mean"));
    add_number(line, sizeof line, field(L, row, "sd"));
    lua_getfield(L, row, "quantiles");
    quantiles = pnl_check_vec(L, -1);
    for (size_t k = 0; k < quantiles.n && k < SHOWN_SHARES; k++)
        add_number(line, sizeof line, quantiles.data[k]);
    lua_settop(L, row - 1);
    lua_pushstring(L, line);
}

static int description_tostring(lua_State *L)
{
    lua_Integer rows;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    rows = (lua_Integer)lua_rawlen(L, 1);
    lua_getfield(L, 1, "says");
    push_heading(L);
    lua_concat(L, 2);
    for (lua_Integer i = 1; i <= rows; i++) {
        push_line(L, i);
        lua_concat(L, 2);
    }
    return 1;
}

/* ---- making ---- */

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* Of column j, from 1.  Where a script may not see names it gets none. */
static void push_name(lua_State *L, const pn_dataset *data, size_t column)
{
    const char *name = pnl_curated(L) ? NULL : data->features;

    for (size_t j = 1; name && j < column; j++)
        name += strlen(name) + 1;
    if (column == 0)
        lua_pushliteral(L, "label");
    else if (name)
        lua_pushstring(L, name);
    else
        lua_pushfstring(L, "column %d", (int)column);
}

static void push_row(lua_State *L, const pn_query *query, size_t c, const pn_column_facts *facts,
                     const double *quantiles, size_t shares)
{
    lua_createtable(L, 0, 9);
    lua_pushinteger(L, (lua_Integer)query->columns[c]);
    lua_setfield(L, -2, "column");
    push_name(L, query->data, query->columns[c]);
    lua_setfield(L, -2, "name");
    set_number(L, "low", query->low[c]);
    set_number(L, "high", query->high[c]);
    set_number(L, "outside", facts->outside);
    set_number(L, "mean", facts->mean);
    set_number(L, "mean_deviation", facts->mean_deviation);
    set_number(L, "sd", facts->sd);
    memcpy(pnl_new_vec(L, shares), quantiles, shares * sizeof *quantiles);
    lua_setfield(L, -2, "quantiles");
}

/* "2 columns within their public ranges, epsilon 0.5, replace_one; counts have noise of deviation 14.1". */
static void push_says(lua_State *L, const pn_query *query, const pn_budget *budget, const pn_query_answer *answer)
{
    const pn_query_price *price = &query->price;
    char cost[120], weak[128], text[480];

    if (!isnan(price->rho))
        (void)snprintf(cost, sizeof cost, "rho %.6g", price->rho);
    else if (!isnan(price->delta))
        (void)snprintf(cost, sizeof cost, "epsilon %.6g at delta %.6g", price->epsilon, price->delta);
    else
        (void)snprintf(cost, sizeof cost, "epsilon %.6g", price->epsilon);
    (void)pn_weak_epsilon(weak, sizeof weak, isnan(price->rho) ? price->epsilon : NAN);
    (void)snprintf(text, sizeof text,
                   "%zu column%s within public ranges, in one release: %s, %s%s\ncounts are off by %.4g (standard "
                   "deviation), means by mean_deviation of each row%s%s",
                   query->count, query->count == 1 ? "" : "s", cost, pn_neighbours_names[budget->neighbours],
                   budget->teaching ? "; teaching: noise may be simulated: no privacy" : "",
                   pn_describe_count_deviation(answer), weak[0] ? "\nwarning: " : "", weak);
    lua_pushstring(L, text);
    pnl_wrap_lines(L);
}

void pnl_push_description(lua_State *L, const pn_query *query, const pn_budget *budget, const pn_query_answer *answer,
                          pn_vec shares)
{
    int event = lua_gettop(L);
    pn_column_facts *facts = lua_newuserdatauv(L, query->count * sizeof *facts, 0);
    double *quantiles = lua_newuserdatauv(L, (query->count * shares.n + 1) * sizeof *quantiles, 0);

    pn_describe_columns(query, budget->neighbours, answer, shares.data, shares.n, facts, quantiles);
    lua_createtable(L, (int)query->count, 5);
    for (size_t c = 0; c < query->count; c++) {
        push_row(L, query, c, &facts[c], quantiles + c * shares.n, shares.n);
        lua_rawseti(L, -2, (lua_Integer)c + 1);
    }
    lua_pushvalue(L, event);
    lua_setfield(L, -2, "event");
    memcpy(pnl_new_vec(L, shares.n), shares.data, shares.n * sizeof *shares.data);
    lua_setfield(L, -2, "shares");
    set_number(L, "deviation", pn_describe_count_deviation(answer));
    push_says(L, query, budget, answer);
    lua_setfield(L, -2, "says");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, description_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
}
