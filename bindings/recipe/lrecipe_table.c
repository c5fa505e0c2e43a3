/* lrecipe_table.c -- r:data{...} of columns that are Lua tables.  Depends on: lrecipe.h, ldata.h.
 * Used by: lrecipe.c. */
#include <math.h>
#include <string.h>

#include "bindings/data/ldata.h"
#include "bindings/recipe/lrecipe.h"

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
        pnl_error(L, "recipe.data: column '%s' has %d rows, another has %d; \"\" is a hole", name_of(recipe, j),
                  (int)found, (int)rows);
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
    status = pn_recipe_from_values(slot, recipe, rows, labelled, value_at, &found, "recipe.data", &err);
    return pnl_data_made(L, slot, status, &err);
}
