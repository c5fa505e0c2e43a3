/* ldata_head.c -- d:head(k): the first records with the names of their columns, as a table that prints itself.
 * Depends on: ldata.h, lprint.h, data/rows.h.  Used by: ldata.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/data/ldata.h"
#include "core/text.h"
#include "data/rows.h"

#define MOST_ROWS    1000
#define CELL_COLUMNS 9
#define SHOWN        7 /* cells that fit on a line of 80 beside the record's number */

/* ---- printing ---- */

/* Of the list on the top of the stack, the label last: "\n     1      0.25 ...        -1", popped. */
static void add_line(lua_State *L, char *line, size_t size, const char *first)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    size_t used = (size_t)snprintf(line, size, "%6.6s", first);

    for (lua_Integer j = 1; j <= count && used < size; j++) {
        char number[PNL_NUMBER_BYTES], cell[PN_TEXT_CELL_BYTES(CELL_COLUMNS)];
        const char *text = number;

        if (count > SHOWN && j >= SHOWN - 1 && j < count) {
            if (j == SHOWN - 1)
                used += (size_t)snprintf(line + used, size - used, " %*s", CELL_COLUMNS, "...");
            continue;
        }
        lua_rawgeti(L, -1, j);
        if (lua_type(L, -1) == LUA_TSTRING)
            text = lua_tostring(L, -1);
        else
            (void)pnl_number_text(number, lua_tonumber(L, -1), 4);
        used += (size_t)snprintf(line + used, size - used, " %s", pn_text_cell(cell, text, CELL_COLUMNS, true));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static int head_tostring(lua_State *L)
{
    lua_Integer rows;
    char line[400], number[24];

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    rows = (lua_Integer)lua_rawlen(L, 1);
    lua_getfield(L, 1, "columns");
    luaL_checktype(L, -1, LUA_TTABLE);
    add_line(L, line, sizeof line, "");
    lua_pushstring(L, line);
    for (lua_Integer i = 1; i <= rows; i++) {
        lua_rawgeti(L, 1, i);
        luaL_checktype(L, -1, LUA_TTABLE);
        (void)snprintf(number, sizeof number, "%lld", (long long)i);
        add_line(L, line, sizeof line, number);
        lua_pushfstring(L, "\n%s", line);
        lua_concat(L, 2);
    }
    lua_pushliteral(L, "\nThese are records: not private.");
    lua_concat(L, 2);
    return 1;
}

/* ---- making ---- */

static void push_columns(lua_State *L, const pn_dataset *data)
{
    const char *name = data->features;

    lua_createtable(L, (int)data->p + 1, 0);
    for (size_t j = 1; j <= data->p; j++) {
        if (name)
            lua_pushstring(L, name);
        else
            lua_pushfstring(L, "x%d", (int)j);
        lua_rawseti(L, -2, (lua_Integer)j);
        name = name ? name + strlen(name) + 1 : NULL;
    }
    lua_pushliteral(L, "label");
    lua_rawseti(L, -2, (lua_Integer)data->p + 1);
}

/* Features and the label of record i, from 0, into numbers[p + 1]. */
static void read_record(const pn_rows *rows, size_t i, double *numbers)
{
    const pn_dataset *data = rows->data;
    size_t entries;
    const double *row = pn_rows_get(rows, i, &entries);

    memset(numbers, 0, data->p * sizeof *numbers);
    for (size_t e = 0; e < entries; e++)
        numbers[data->sparse ? data->csr.column[data->csr.start[i] + e] : e] = row[e];
    numbers[data->p] = data->y[i];
}

int pnl_data_head(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);
    size_t count = lua_isnoneornil(L, 2) ? 5 : pnl_check_count(L, 2, "head: k");
    double *numbers;
    pn_rows rows;
    pn_err err;

    if (count > MOST_ROWS || data->p > (size_t)1 << 20)
        return pnl_error(L, "head: shows at most %d records of at most 2^20 features, got k = %zu and %zu features",
                         MOST_ROWS, count, data->p);
    count = count < data->n ? count : data->n;
    numbers = pnl_new_mat(L, count, data->p + 1);
    pnl_status(L, pn_rows_open(&rows, data, &err), &err);
    for (size_t i = 0; i < count; i++)
        read_record(&rows, i, numbers + i * (data->p + 1));
    pn_rows_close(&rows);
    lua_createtable(L, (int)count, 1);
    for (size_t i = 0; i < count; i++) {
        lua_createtable(L, (int)data->p + 1, 0);
        for (size_t j = 0; j <= data->p; j++) {
            lua_pushnumber(L, numbers[i * (data->p + 1) + j]);
            lua_rawseti(L, -2, (lua_Integer)j + 1);
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    push_columns(L, data);
    lua_setfield(L, -2, "columns");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, head_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    return 1;
}
