/* lfit_coefficients.c -- fit:coefficients(): as a table of records that prints as a table.
 * Depends on: lfit_coefficients.h, lrecipe.h, lprint.h.  Used by: lfit.c, lfit_export.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/recipe/lrecipe.h"
#include "bindings/solvers/lfit_coefficients.h"
#include "core/text.h"

#define NAME_WIDTH 30

void pnl_coefficients_of(lua_State *L, pnl_coefficients *out)
{
    size_t margins;

    *out = (pnl_coefficients){ .fit = pnl_check(L, 1, &pnl_fit_class) };
    pnl_fit_about(L, &out->about);
    out->recipe = pnl_push_recipe(L, out->about.recipe);
    margins = out->about.margins > 0 ? out->about.margins : 1;
    out->p = (out->fit->p - out->about.extra) / margins;
    out->count = margins * (out->p + (out->recipe ? 1 : 0)) + out->about.extra;
    if (!out->recipe)
        return;
    out->original = lua_newuserdatauv(L, margins * (out->p + 1) * sizeof(double), 0);
    for (size_t k = 0; k < margins; k++)
        pn_model_original(out->recipe, out->fit->theta + k * out->p,
                          pn_model_link_of(out->about.loss, out->about.margins) == PN_LINK_IDENTITY,
                          out->original + k * (out->p + 1));
}

static const char *name_at(const pn_model_about *about, size_t j)
{
    const char *name = about->features;

    for (size_t k = 0; name && k < j; k++)
        name += strlen(name) + 1;
    return name;
}

static void describe(const pnl_coefficients *self, size_t j, pnl_coefficient *out)
{
    const char *name = j < self->about.feature_count ? name_at(&self->about, j) : NULL;
    pn_recipe_feature feature;

    if (name)
        (void)snprintf(out->name, sizeof out->name, "%s", name);
    else
        (void)snprintf(out->name, sizeof out->name, "x%zu", j + 1);
    if (!self->recipe || pn_recipe_describe(self->recipe, j, &feature, NULL) != PN_OK)
        return;
    out->column = feature.column;
    out->kind = feature.kind;
    out->per = strcmp(feature.kind, "number") == 0      ? "1"
               : strcmp(feature.kind, "date") == 0      ? "day"
               : strcmp(feature.kind, "intercept") == 0 ? NULL
                                                        : "record that has it";
}

void pnl_coefficient_at(const pnl_coefficients *self, size_t row, pnl_coefficient *out)
{
    size_t each = self->p + (self->recipe ? 1 : 0), j = row % each, k = row / each;
    size_t margins = self->about.margins > 0 ? self->about.margins : 1;

    *out = (pnl_coefficient){ .scaled = NAN, .original = NAN, .class = k };
    if (k >= margins) {
        size_t extra = row - margins * each;

        (void)snprintf(out->name, sizeof out->name, "(parameter %zu)", extra + 1);
        out->scaled = self->fit->theta[margins * self->p + extra];
        out->class = margins;
        return;
    }
    if (j == self->p) {
        (void)snprintf(out->name, sizeof out->name, "(constant)");
        out->original = self->original[k * (self->p + 1) + j];
        return;
    }
    describe(self, j, out);
    out->scaled = self->fit->theta[k * self->p + j];
    if (self->original && out->per)
        out->original = self->original[k * (self->p + 1) + j];
}

const char *pnl_coefficients_class(const pnl_coefficients *self, size_t k, char number[32])
{
    const pn_recipe_label *label = self->recipe ? &self->recipe->label : NULL;

    if (self->about.margins < 2 || k >= self->about.margins)
        return NULL;
    if (label && label->kind == PN_LABEL_CLASSES && label->classes.count == self->about.margins)
        return pn_words_at(&label->classes, k);
    (void)snprintf(number, 32, "%zu", k + 1);
    return number;
}

/* ---- the table ---- */

static void set_text(lua_State *L, const char *key, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, double x)
{
    if (isnan(x))
        return;
    lua_pushnumber(L, x);
    lua_setfield(L, -2, key);
}

static void push_row(lua_State *L, const pnl_coefficients *self, const pnl_coefficient *row)
{
    char number[32];

    lua_createtable(L, 0, 7);
    set_text(L, "name", row->name);
    set_text(L, "column", row->column);
    set_text(L, "kind", row->kind);
    set_text(L, "per", row->per);
    set_number(L, "scaled", row->scaled);
    set_number(L, "original", row->original);
    set_text(L, "class", pnl_coefficients_class(self, row->class, number));
    pnl_list(L);
}

/* ---- as text ---- */

static void add_number(luaL_Buffer *text, double x)
{
    char number[PNL_NUMBER_BYTES];

    pnl_add_format(text, " %13s", isnan(x) ? "" : pnl_number_text(number, x, 6));
}

static void add_notes(luaL_Buffer *text, const pnl_coefficients *self)
{
    if (!self->recipe) {
        luaL_addstring(text, "\n  the data set had no recipe, so the original units are not known");
        return;
    }
    luaL_addstring(text, "\n  original: z, or a label that is a range, is the constant plus the sum of coefficient "
                         "times value; categories have no reference level");
    for (size_t j = 0; j < self->recipe->count; j++) {
        if (self->recipe->columns[j].missing == PN_MISSING_INDICATOR &&
            self->recipe->columns[j].kind != PN_COLUMN_CATEGORY) {
            luaL_addstring(text, "\n  a hole with an indicator counts as the middle of the column's range");
            break;
        }
    }
    if (isfinite(self->recipe->clip))
        luaL_addstring(text,
                       "\n  rows that the recipe clips (clip=) are scaled down first: these do not hold for them");
}

static void push_text(lua_State *L, const pnl_coefficients *self)
{
    size_t class = SIZE_MAX;
    luaL_Buffer text;
    char number[32], name[PN_TEXT_CELL_BYTES(NAME_WIDTH)];

    luaL_buffinit(L, &text);
    pnl_add_format(&text, "coefficients: %s loss, %zu feature%s", self->about.loss, self->p, self->p == 1 ? "" : "s");
    pnl_add_format(&text, "\n  %-*s %13s %13s  per", NAME_WIDTH, "feature", "scaled", "original");
    for (size_t k = 0; k < self->count; k++) {
        pnl_coefficient row;

        pnl_coefficient_at(self, k, &row);
        if (self->about.margins > 1 && row.class != class && row.class < self->about.margins)
            pnl_add_format(&text, "\n class %.60s", pnl_coefficients_class(self, row.class, number));
        class = row.class;
        pnl_add_format(&text, "\n  %s", pn_text_cell(name, row.name, NAME_WIDTH, false));
        add_number(&text, row.scaled);
        add_number(&text, row.original);
        pnl_add_format(&text, "%s%s", row.per ? "  " : "", row.per ? row.per : "");
    }
    add_notes(&text, self);
    luaL_pushresult(&text);
    pnl_wrap_lines(L);
}

static int say_text(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
}

int pnl_fit_coefficients(lua_State *L)
{
    pnl_coefficients self;

    lua_settop(L, 1);
    pnl_coefficients_of(L, &self);
    lua_createtable(L, (int)self.count, 0);
    for (size_t k = 0; k < self.count; k++) {
        pnl_coefficient row;

        pnl_coefficient_at(&self, k, &row);
        push_row(L, &self, &row);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_createtable(L, 0, 2);
    push_text(L, &self);
    lua_pushcclosure(L, say_text, 1);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    return 1;
}
