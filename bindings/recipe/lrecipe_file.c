/* lrecipe_file.c -- how the recipe binding reads CSV files: options, the names of columns, and their texts.
 * Depends on: lrecipe.h, ldata.h, progress.h, recipe/recipe.h.  Used by: lrecipe.c. */
#include <limits.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/recipe/lrecipe.h"
#include "core/alloc.h"

/* ---- options ---- */

static void read_character(lua_State *L, const char *name, char *out)
{
    int type = pnl_data_option(L, name);
    size_t length = 0;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;

    if (type != LUA_TNIL && length != 1)
        pnl_error(L, "recipe: %s must be a string of one character, got %s", name, pnl_text(L, -1));
    if (text)
        *out = text[0];
}

static void read_encoding(lua_State *L, pn_recipe_file *file)
{
    int type = pnl_data_option(L, "encoding");
    const char *name = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;

    if (type == LUA_TNIL || (name && strcmp(name, "utf-8") == 0))
        return;
    if (!name || strcmp(name, "windows-1252") != 0)
        pnl_error(L, "recipe: encoding must be \"utf-8\" or \"windows-1252\", got %s", pnl_text(L, -1));
    file->encoding = PN_WINDOWS_1252;
}

/* The texts of the list at `list`, whose strings it holds; the array stays on the stack. */
static const char *const *push_names(lua_State *L, int list, const char *owner, const char *option)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    const char **names = lua_newuserdatauv(L, (size_t)count * sizeof *names, 0);

    for (lua_Integer k = 1; k <= count; k++) {
        if (lua_rawgeti(L, list, k) != LUA_TSTRING || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
            pnl_error(L, "%s: name %d of %s must be a text, got %s", owner, (int)k, option, pnl_got(L, -1));
        names[k - 1] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return names;
}

static void read_names(lua_State *L, const char *owner, pn_recipe_file *file)
{
    int type = pnl_data_option(L, "header"), list = lua_gettop(L);
    size_t count = type == LUA_TTABLE ? (size_t)lua_rawlen(L, list) : 0;

    if (type == LUA_TNIL || (type == LUA_TBOOLEAN && lua_toboolean(L, list)))
        return;
    if (count == 0)
        pnl_error(L, "%s: header must be the list of names of a file that has none, got %s", owner, pnl_got(L, list));
    file->header = push_names(L, list, owner, "header");
    file->header_count = count;
}

void pnl_recipe_read_file(lua_State *L, const char *owner, pn_recipe_file *file)
{
    char decimal = '.';

    read_character(L, "sep", &file->separator);
    read_character(L, "decimal", &decimal);
    if (decimal != '.' && decimal != ',')
        pnl_error(L, "%s: decimal must be \".\" or \",\", got %c", owner, decimal);
    file->decimal_comma = decimal == ',';
    read_encoding(L, file);
    read_names(L, owner, file);
}

/* ---- names of columns ---- */

static void free_columns(void *columns)
{
    pn_recipe_free_columns(columns);
}

static const pnl_row columns_rows[] = { PNL_ROW_END };
/* No script has one: it frees the names when an error comes between. */
static const pnl_class columns_class = { "pn.recipe_columns", free_columns, columns_rows, "", NULL, NULL };

int pnl_recipe_columns(lua_State *L)
{
    static const char *const known[] = { "sep", "encoding", NULL };
    pn_recipe_file file = { 0 };
    const char *path;
    pn_status status;
    pn_words **names;
    pn_err err;

    lua_settop(L, 2);
    if (lua_type(L, 1) != LUA_TSTRING)
        return pnl_wrong_argument(L, 1, "the path of a file");
    path = pnl_data_path(L, 1, "recipe.columns");
    pnl_options(L, 2, "recipe.columns", NULL, NULL, known);
    read_character(L, "sep", &file.separator);
    read_encoding(L, &file);
    names = (pn_words **)pnl_newbox(L, &columns_class);
    pnl_run_begin(L, true);
    status = pn_recipe_columns(names, path, &file, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_createtable(L, (int)(*names)->count, 0);
    for (size_t k = 0; k < (*names)->count; k++) {
        lua_pushstring(L, pn_words_at(*names, k));
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    return 1;
}

/* ---- texts of columns ---- */

typedef struct columns_of_text {
    pn_recipe_text *each; /* [count] */
    size_t count;
} columns_of_text;

static void free_texts(void *of)
{
    columns_of_text *self = of;

    for (size_t c = 0; self->each && c < self->count; c++)
        pn_recipe_text_clear(&self->each[c]);
    pn_free(self->each);
    pn_free(self);
}

static const pnl_row texts_rows[] = { PNL_ROW_END };
/* No script has one: it frees the texts when an error comes between. */
static const pnl_class texts_class = { "pn.recipe_texts", free_texts, texts_rows, "", NULL, NULL };

static columns_of_text *push_texts(lua_State *L, size_t count)
{
    void **slot = pnl_newbox(L, &texts_class);
    columns_of_text *made = pn_calloc(1, sizeof *made);

    if (made) {
        made->count = count;
        made->each = pn_calloc(count, sizeof *made->each);
        *slot = made;
    }
    if (!made || !made->each)
        pnl_no_memory(L, "recipe.texts: out of memory");
    return made;
}

static void push_list(lua_State *L, const pn_recipe_text *text)
{
    const char *at = text->bytes;

    lua_createtable(L, (int)(text->records < INT_MAX ? text->records : INT_MAX), 0);
    for (size_t k = 0; k < text->records; k++, at += strlen(at) + 1) {
        lua_pushstring(L, at);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
}

/* The options go to 2, where pnl_data_option looks; the names are at 3. */
int pnl_recipe_texts(lua_State *L)
{
    static const char *const known[] = { "sep", "decimal", "encoding", "header", NULL };
    pn_recipe_file file = { 0 };
    const char *path, *const *names;
    columns_of_text *texts;
    pn_status status;
    size_t count;
    pn_err err;

    lua_settop(L, 3);
    if (lua_type(L, 1) != LUA_TSTRING)
        return pnl_wrong_argument(L, 1, "the path of a file");
    path = pnl_data_path(L, 1, "recipe.texts");
    if (!lua_istable(L, 2) || lua_rawlen(L, 2) == 0)
        return pnl_error(L, "recipe.texts: columns must be a list of one name or more, got %s", pnl_got(L, 2));
    lua_pushvalue(L, 2);
    lua_insert(L, 3);
    lua_replace(L, 2);
    count = (size_t)lua_rawlen(L, 3);
    pnl_options(L, 2, "recipe.texts", NULL, NULL, known);
    pnl_recipe_read_file(L, "recipe.texts", &file);
    names = push_names(L, 3, "recipe.texts", "columns");
    texts = push_texts(L, count);
    pnl_run_begin(L, true);
    status = pn_recipe_texts(texts->each, names, count, path, &file, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_createtable(L, 0, (int)count);
    for (size_t c = 0; c < count; c++) {
        push_list(L, &texts->each[c]);
        lua_setfield(L, -2, names[c]);
    }
    return 1;
}
