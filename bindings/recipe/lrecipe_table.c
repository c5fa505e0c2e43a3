/* lrecipe_table.c -- r:data{...} of columns that are Lua tables.  Depends on: lrecipe.h, ldata.h.
 * Used by: lrecipe.c. */
#include <math.h>
#include <string.h>

#include "bindings/data/ldata.h"
#include "bindings/recipe/lrecipe.h"

/* ---- whose records they are ---- */

/* A value and its type: 1 and "1" are something else.  Nothing here raises. */
static void digest_value(lua_State *L, pn_digest *digest)
{
    int type = lua_type(L, -1);
    bool flag = lua_toboolean(L, -1);
    size_t length = sizeof(double);
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    double number = lua_tonumber(L, -1);

    pn_digest_add(digest, &type, sizeof type);
    if (type == LUA_TSTRING || type == LUA_TNUMBER) {
        pn_digest_add(digest, &length, sizeof length);
        pn_digest_add(digest, text ? text : (const char *)&number, length);
    } else {
        pn_digest_add(digest, &flag, sizeof flag);
    }
}

/* Of the column on the top, whose name is below it. */
static bool digest_column(lua_State *L, pn_content *content)
{
    pn_digest *digest = pn_digest_new();
    lua_Integer rows = (lua_Integer)lua_rawlen(L, -1);

    if (!digest)
        return false;
    lua_pushvalue(L, -2);
    digest_value(L, digest);
    lua_pop(L, 1);
    for (lua_Integer i = 1; i <= rows; i++) {
        lua_rawgeti(L, -1, i);
        digest_value(L, digest);
        lua_pop(L, 1);
    }
    *content = pn_digest_content(digest);
    pn_digest_free(digest);
    return true;
}

/* Of every column of the table at 2, also those that the recipe does not look at; the order of the columns, which
 * tables of Lua do not have, does not matter to a sum. */
static pn_content content_of(lua_State *L)
{
    pn_content sum = { { 0, 0 } }, one;

    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        if (!lua_istable(L, -1))
            continue;
        if (!digest_column(L, &one))
            pnl_no_memory(L, "recipe.data: out of memory");
        sum.word[0] += one.word[0];
        sum.word[1] += one.word[1];
    }
    return sum;
}

/* ---- values ---- */

/* Values of all columns, one after the other; texts belong to the tables. */
typedef struct values {
    const pn_recipe_value *of; /* [(columns + 1) * rows] */
    size_t rows;
} values;

static pn_recipe_value value_at(void *of, size_t row, size_t column)
{
    const values *self = of;

    return self->of[column * self->rows + row];
}

static const char *name_of(const pn_recipe *recipe, size_t j)
{
    return j < recipe->count ? recipe->columns[j].name : recipe->label.name;
}

/* Push column j of the table at 2. */
static size_t push_column(lua_State *L, const pn_recipe *recipe, size_t j)
{
    const char *name = name_of(recipe, j);

    if (lua_getfield(L, 2, name) != LUA_TTABLE)
        pnl_error(L, "recipe.data: column '%s' must be a list of values, got %s", name,
                  lua_isnil(L, -1) ? "nothing" : pnl_got(L, -1));
    return lua_rawlen(L, -1);
}

/* The value on the top, which the table keeps; nil is a hole: not a number. */
static pn_recipe_value read_value(lua_State *L, const char *name, size_t row)
{
    pn_recipe_value value = { .is_number = true, .number = NAN };

    switch (lua_type(L, -1)) {
    case LUA_TNIL:
        return value;
    case LUA_TNUMBER:
        value.number = lua_tonumber(L, -1);
        return value;
    case LUA_TBOOLEAN:
        value.is_number = false;
        value.text = lua_toboolean(L, -1) ? "true" : "false";
        value.length = strlen(value.text);
        return value;
    case LUA_TSTRING:
        value.is_number = false;
        value.text = lua_tolstring(L, -1, &value.length);
        if (!memchr(value.text, '\0', value.length))
            return value;
        break;
    default:
        break;
    }
    pnl_error(L, "recipe.data: row %d: column '%s': must be a number, a text, true, false or nil, got %s", (int)row,
              name, pnl_got(L, -1));
    return value;
}

static void read_column(lua_State *L, const pn_recipe *recipe, size_t j, size_t rows, pn_recipe_value *out)
{
    size_t found = push_column(L, recipe, j);

    if (found != rows)
        pnl_error(L, "recipe.data: column '%s' has %d rows, another has %d; write \"\" for a missing value",
                  name_of(recipe, j), (int)found, (int)rows);
    for (size_t i = 0; i < rows; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        out[i] = read_value(L, name_of(recipe, j), i + 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

int pnl_recipe_table(lua_State *L, const pn_recipe *recipe)
{
    bool labelled = recipe->label.kind != PN_LABEL_NONE;
    size_t columns, rows = 0;
    pn_recipe_value *all;
    values found;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    if (lua_istable(L, 3)) {
        labelled = labelled && (lua_getfield(L, 3, "label") == LUA_TNIL || lua_toboolean(L, -1));
        lua_pop(L, 1);
    }
    columns = recipe->count + labelled;
    for (size_t j = 0; j < columns; j++) {
        size_t length = push_column(L, recipe, j);

        rows = length > rows ? length : rows;
        lua_pop(L, 1);
    }
    if (rows == 0)
        pnl_error(L, "recipe.data: the table has no rows");
    all = lua_newuserdatauv(L, columns * rows * sizeof *all, 0);
    for (size_t j = 0; j < columns; j++)
        read_column(L, recipe, j, rows, all + j * rows);
    found = (values){ all, rows };
    slot = pnl_new_data(L);
    status = pn_recipe_from_values(slot, recipe, rows, labelled, value_at, &found, content_of(L), "recipe.data", &err);
    return pnl_data_made(L, slot, status, &err);
}
