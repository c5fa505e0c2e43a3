/* ldata_csv.c -- pn.data.csv, and what the loaders' options have in common.
 * Depends on: progress.h, ldata.h, data/dataset.h.  Used by: ldata_load.c. */
#include <string.h>

#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"

pn_dataset **pnl_new_data(lua_State *L)
{
    return (pn_dataset **)pnl_newbox(L, &pnl_dataset_class);
}

const char *pnl_data_path(lua_State *L, int index, const char *owner)
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

int pnl_data_option(lua_State *L, const char *name)
{
    if (lua_istable(L, 2))
        return lua_getfield(L, 2, name);
    lua_pushnil(L);
    return LUA_TNIL;
}

/* ---- labels ---- */

static int wrong_labels(lua_State *L, const char *owner, bool text, const char *got)
{
    return pnl_error(L, "%s: labels must be \"binary\" or a table from %s such as %s, got %s", owner,
                     text ? "numbers or texts to numbers" : "numbers to numbers",
                     text ? "{no = -1, yes = 1}" : "{[1] = -1, [2] = 1}", got);
}

static bool is_label(lua_State *L, int index, bool text)
{
    int type = lua_type(L, index);

    return type == LUA_TNUMBER ||
           (text && type == LUA_TSTRING && strlen(lua_tostring(L, index)) == lua_rawlen(L, index));
}

/* The mapping at the top of the stack into arrays, which stay on the stack as userdata. */
static void read_mapping(lua_State *L, const char *owner, bool text, pn_label_options *options)
{
    int mapping = lua_gettop(L);
    size_t count = 0;
    double *from, *to;
    const char **texts;

    for (lua_pushnil(L); lua_next(L, mapping); lua_pop(L, 1)) {
        if (!is_label(L, -2, text) || lua_type(L, -1) != LUA_TNUMBER)
            wrong_labels(L, owner, text, "a table that holds something else");
        count++;
    }
    if (count == 0)
        wrong_labels(L, owner, text, "an empty table");
    from = lua_newuserdatauv(L, 2 * count * sizeof *from, 0);
    to = from + count;
    texts = lua_newuserdatauv(L, count * sizeof *texts, 0);
    count = 0;
    for (lua_pushnil(L); lua_next(L, mapping); lua_pop(L, 1), count++) {
        bool is_text = lua_type(L, -2) == LUA_TSTRING;

        texts[count] = is_text ? lua_tostring(L, -2) : NULL; /* belongs to the table */
        from[count] = is_text ? 0.0 : lua_tonumber(L, -2);
        to[count] = lua_tonumber(L, -1);
    }
    *options = (pn_label_options){ .from = from, .to = to, .text = texts, .count = count };
}

void pnl_data_labels(lua_State *L, const char *owner, bool text, pn_label_options *options)
{
    switch (pnl_data_option(L, "labels")) {
    case LUA_TNIL:
        break;
    case LUA_TSTRING:
        if (strcmp(lua_tostring(L, -1), "binary") != 0)
            wrong_labels(L, owner, text, pnl_text(L, -1));
        options->binary = true;
        break;
    case LUA_TTABLE:
        read_mapping(L, owner, text, options);
        break;
    default:
        wrong_labels(L, owner, text, pnl_text(L, -1));
    }
}

/* ---- columns ---- */

static void read_label(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "label");

    if (type == LUA_TNUMBER)
        options->label_column = pnl_check_count(L, -1, "data.csv: label");
    else if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "last") != 0)
        options->label_name = lua_tostring(L, -1);
    else if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "data.csv: label must be the name of a column, its number, or \"last\", got %s", pnl_text(L, -1));
}

static void read_separator(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "sep");
    size_t length = 0;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;

    if (type != LUA_TNIL && length != 1)
        pnl_error(L, "data.csv: sep must be a string of one character, got %s", pnl_text(L, -1));
    if (text)
        options->separator = text[0];
}

static void read_header(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "header");

    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        pnl_error(L, "data.csv: header must be true or false, got %s", pnl_text(L, -1));
    if (type == LUA_TBOOLEAN)
        options->header = lua_toboolean(L, -1) ? PN_HEADER_YES : PN_HEADER_NO;
}

static void read_storage(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "sparse");

    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        pnl_error(L, "data.csv: sparse must be true or false, got %s", pnl_text(L, -1));
    if (type == LUA_TBOOLEAN)
        options->storage = lua_toboolean(L, -1) ? PN_STORAGE_SPARSE : PN_STORAGE_DENSE;
}

/* A list of names or of numbers; the array stays on the stack, names belong to the list. */
static void read_columns(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "columns"), list = lua_gettop(L);
    lua_Integer count = type == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    const char **names;
    size_t *numbers;

    if (type == LUA_TNIL)
        return;
    if (count == 0)
        pnl_error(L, "data.csv: columns must be a list of column names or numbers, got %s",
                  type == LUA_TTABLE ? "an empty table" : pnl_text(L, -1));
    names = lua_newuserdatauv(L, (size_t)count * sizeof *names, 0);
    numbers = lua_newuserdatauv(L, (size_t)count * sizeof *numbers, 0);
    type = lua_rawgeti(L, list, 1);
    lua_pop(L, 1);
    for (lua_Integer k = 1; k <= count; k++) {
        int found = lua_rawgeti(L, list, k);

        if (found != type || (type != LUA_TSTRING && type != LUA_TNUMBER))
            pnl_error(L, "data.csv: columns must be all names or all numbers; entry %lld is %s", (long long)k,
                      pnl_text(L, -1));
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

/* ---- one_hot ---- */

static int wrong_one_hot(lua_State *L, const char *got)
{
    return pnl_error(
        L,
        "data.csv: one_hot must be true or a table of columns such as {\"job\", 4} or, with their categories, {job = "
        "{\"clerk\", \"cook\"}}, got %s",
        got);
}

/* The name or number of a column at `index`. */
static void read_column(lua_State *L, int index, pn_csv_one_hot *column)
{
    if (lua_type(L, index) == LUA_TSTRING)
        column->name = lua_tostring(L, index);
    else
        column->column = pnl_check_count(L, index, "data.csv: a column number of one_hot");
}

static const char *column_label(lua_State *L, const pn_csv_one_hot *column)
{
    return column->name ? column->name : lua_pushfstring(L, "%d", (int)column->column);
}

/* Other keys of a list of categories than 1, 2, ...: unknown = "zeros". */
static void read_unknown(lua_State *L, int list, pn_csv_one_hot *column)
{
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TNUMBER)
            continue;
        if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "unknown") != 0)
            pnl_error(L, "data.csv: the categories of column %s are a list and unknown = \"zeros\"; %s is neither",
                      column_label(L, column), pnl_text(L, -2));
        if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "zeros") != 0)
            pnl_error(L, "data.csv: unknown of column %s must be \"zeros\", got %s", column_label(L, column),
                      pnl_text(L, -1));
        column->unknown_zeros = true;
    }
}

/* The list of categories at the top of the stack; texts made of whole numbers are kept in the table at `keep`. */
static const char **read_categories(lua_State *L, int keep, pn_csv_one_hot *column)
{
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    const char **categories = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *categories, 0);

    lua_rawsetp(L, keep, categories);
    if (count == 0)
        pnl_error(L, "data.csv: the categories of column %s must be a list of texts, got none",
                  column_label(L, column));
    for (lua_Integer k = 1; k <= count; k++) {
        int type = lua_rawgeti(L, list, k);
        size_t length;

        if (type != LUA_TSTRING && !lua_isinteger(L, -1))
            pnl_error(L, "data.csv: category %d of column %s must be a text, got %s", (int)k, column_label(L, column),
                      pnl_text(L, -1));
        categories[k - 1] = lua_tolstring(L, -1, &length);
        if (strlen(categories[k - 1]) != length)
            pnl_error(L, "data.csv: category %d of column %s contains a zero byte", (int)k, column_label(L, column));
        lua_pushboolean(L, 1);
        lua_rawset(L, keep);
    }
    read_unknown(L, list, column);
    column->count = (size_t)count;
    return categories;
}

/* One entry, key and value on the top: a column and nothing, `true`, or its categories. */
static void read_one_hot_entry(lua_State *L, int keep, pn_csv_one_hot *column)
{
    bool listed = lua_type(L, -2) == LUA_TNUMBER && !lua_istable(L, -1) && !lua_isboolean(L, -1);

    if (lua_type(L, -2) != LUA_TNUMBER && lua_type(L, -2) != LUA_TSTRING)
        wrong_one_hot(L, "a table with other keys");
    if (listed && lua_type(L, -1) != LUA_TNUMBER && lua_type(L, -1) != LUA_TSTRING)
        wrong_one_hot(L, pnl_text(L, -1));
    read_column(L, listed ? -1 : -2, column);
    if (lua_istable(L, -1))
        column->categories = read_categories(L, keep, column);
    else if (!listed && !(lua_isboolean(L, -1) && lua_toboolean(L, -1)))
        pnl_error(L, "data.csv: one_hot of column %s must be true or a list of categories, got %s",
                  column_label(L, column), pnl_text(L, -1));
}

/* What the options point into stays on the stack. */
static void read_one_hot(lua_State *L, pn_csv_options *options)
{
    int type = pnl_data_option(L, "one_hot"), table = lua_gettop(L), keep;
    pn_csv_one_hot *columns;
    size_t count = 0;

    if (type == LUA_TBOOLEAN)
        options->one_hot_text = lua_toboolean(L, table);
    else if (type != LUA_TNIL && type != LUA_TTABLE)
        wrong_one_hot(L, pnl_text(L, table));
    if (type != LUA_TTABLE)
        return;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        count++;
    if (count == 0)
        wrong_one_hot(L, "an empty table");
    columns = lua_newuserdatauv(L, count * sizeof *columns, 0);
    memset(columns, 0, count * sizeof *columns);
    lua_newtable(L);
    keep = lua_gettop(L);
    options->one_hot = columns;
    options->one_hot_count = count;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        read_one_hot_entry(L, keep, columns++);
}

/* ---- the loader ---- */

int pnl_data_csv(lua_State *L)
{
    static const char *const extra[] = { "label",  "header",    "sep",    "columns", "one_hot",
                                         "labels", "clip_rows", "sparse", NULL };
    const char *path = pnl_data_path(L, 1, "data.csv");
    pn_csv_options options = { 0 };
    pnl_row_clip clip;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "data.csv", NULL, NULL, extra);
    read_label(L, &options);
    read_separator(L, &options);
    read_header(L, &options);
    read_columns(L, &options);
    read_one_hot(L, &options);
    read_storage(L, &options);
    clip = pnl_data_row_clip(L, 2, "data.csv");
    pnl_data_labels(L, "data.csv", true, &options.labels);
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_dataset_load_csv(slot, path, &options, pnl_task(L), &err);
    status = pnl_data_clipped(slot, &clip, status, &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}
