/* lrecipe_print.c -- what a recipe prints: its columns as a table, the label, the bound of rows.
 * Depends on: lrecipe.h, lprint.h.  Used by: lrecipe.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/recipe/lrecipe.h"
#include "core/text.h"

#define NAME_WIDTH    16
#define VALUES_WIDTH  28
#define MISSING_WIDTH 10
#define VALUES_BYTES  PN_TEXT_CELL_BYTES(VALUES_WIDTH)

/* "a, b, ..." as far as it fits. */
static void list_words(char out[VALUES_BYTES], const pn_words *words)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t k = 0; k < words->count; k++) {
        const char *word = pn_words_at(words, k);

        if (pn_text_columns(out, used) + pn_text_columns(word, strlen(word)) + 7 > VALUES_WIDTH) {
            (void)snprintf(out + used, VALUES_BYTES - used, "%s...", k ? ", " : "");
            return;
        }
        used += (size_t)snprintf(out + used, VALUES_BYTES - used, "%s%s", k ? ", " : "", word);
    }
}

static void describe_values(char out[VALUES_BYTES], const pn_recipe_column *column)
{
    char low[PNL_NUMBER_BYTES], high[PNL_NUMBER_BYTES];

    switch (column->kind) {
    case PN_COLUMN_NUMBER:
        pnl_number_text(low, column->low, 6);
        pnl_number_text(high, column->high, 6);
        break;
    case PN_COLUMN_DATE:
        pn_recipe_day_text(low, column->low);
        pn_recipe_day_text(high, column->high);
        break;
    case PN_COLUMN_FLAG:
        (void)snprintf(low, sizeof low, "false");
        (void)snprintf(high, sizeof high, "true");
        break;
    case PN_COLUMN_CATEGORY:
        list_words(out, &column->levels);
        return;
    }
    (void)snprintf(out, VALUES_BYTES, "%.12s to %.12s", low, high);
}

static void describe_missing(char out[32], const pn_recipe_column *column)
{
    if (column->missing != PN_MISSING_FILL)
        (void)snprintf(out, 32, "%s", column->missing == PN_MISSING_REFUSE ? "refuse" : "indicator");
    else if (column->kind == PN_COLUMN_DATE)
        pn_recipe_day_text(out, column->fill);
    else if (column->kind == PN_COLUMN_FLAG)
        (void)snprintf(out, 32, "%s", column->fill != 0.0 ? "true" : "false");
    else if (column->kind == PN_COLUMN_NUMBER)
        (void)pnl_number_text(out, column->fill, 6);
    else if ((size_t)column->fill > column->levels.count)
        (void)snprintf(out, 32, "other");
    else
        (void)snprintf(out, 32, "%.12s", pn_words_at(&column->levels, (size_t)column->fill - 1));
}

static void add_column(luaL_Buffer *text, const pn_recipe_column *column)
{
    static const char *const kinds[] = { "number", "date", "flag", "category" };
    char values[VALUES_BYTES], missing[32], weight[PNL_NUMBER_BYTES];
    char name[PN_TEXT_CELL_BYTES(NAME_WIDTH)], cell[VALUES_BYTES];
    char fill[PN_TEXT_CELL_BYTES(MISSING_WIDTH)];

    describe_values(values, column);
    describe_missing(missing, column);
    pnl_add_format(text, "\n  %s %-8s %s %s %4zu %6s", pn_text_cell(name, column->name, NAME_WIDTH, false),
                   kinds[column->kind], pn_text_cell(cell, values, VALUES_WIDTH, false),
                   pn_text_cell(fill, missing, MISSING_WIDTH, false), column->count,
                   pnl_number_text(weight, column->weight, 4));
}

static void add_label(luaL_Buffer *text, const pn_recipe_label *label)
{
    const pn_words *classes = &label->classes;

    if (label->kind == PN_LABEL_NONE)
        luaL_addstring(text, "\n  no label");
    else if (label->kind == PN_LABEL_RANGE)
        pnl_add_format(text, "\n  label %.60s: %g to %g, mapped to -1 to 1", label->name, label->low, label->high);
    else if (label->kind == PN_LABEL_COUNT)
        pnl_add_format(text, "\n  label %.60s: counts, those above %.17g become %.17g", label->name, label->high,
                       label->high);
    else if (classes->count == 2)
        pnl_add_format(text, "\n  label %.60s: '%.60s' is 1, '%.60s' is -1", label->name,
                       pn_words_at(classes, label->positive), pn_words_at(classes, 1 - label->positive));
    else
        for (size_t k = 0; k < classes->count; k++)
            pnl_add_format(text, "%s'%.60s' is %zu", k ? ", " : "\n  label: ", pn_words_at(classes, k), k + 1);
}

/* "age, job, ..." as far as it fits. */
static void add_estimated(luaL_Buffer *text, const pn_recipe_estimated *from)
{
    char names[VALUES_BYTES], epsilon[PNL_NUMBER_BYTES], delta[PNL_NUMBER_BYTES], rho[PNL_NUMBER_BYTES];

    if (from->columns.count == 0)
        return;
    list_words(names, &from->columns);
    pnl_add_format(text, "\n  estimated from records: %s, for epsilon = %s", names,
                   pnl_number_text(epsilon, from->epsilon, 4));
    if (from->delta > 0.0)
        pnl_add_format(text, ", delta = %s", pnl_number_text(delta, from->delta, 3));
    if (!isnan(from->rho))
        pnl_add_format(text, " (rho = %s)", pnl_number_text(rho, from->rho, 4));
    pnl_add_format(text, ",\n    %s%s", from->neighbours,
                   from->simulated ? "; the noise was simulated (seeded) and protects nobody" : "");
}

static void add_rows(luaL_Buffer *text, const pn_recipe *recipe)
{
    char size[PNL_NUMBER_BYTES], clip[PNL_NUMBER_BYTES], intercept[PNL_NUMBER_BYTES];
    const char *norm = pn_lp_name(recipe->norm);

    pnl_number_text(size, recipe->size, 6);
    if (recipe->intercept > 0.0)
        pnl_add_format(text, "\n  intercept of weight %s, the last feature",
                       pnl_number_text(intercept, recipe->intercept, 6));
    if (isfinite(recipe->clip))
        pnl_add_format(text, "\n  rows: features clipped to %s norm %s, then divided by %s: %s <= 1", norm,
                       pnl_number_text(clip, recipe->clip, 6), size, norm);
    else
        pnl_add_format(text, "\n  rows: divided by %s, the %s norm of the weights: %s <= 1 by construction", size, norm,
                       norm);
}

void pnl_recipe_push_text(lua_State *L, const pn_recipe *recipe)
{
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    pnl_add_format(&text, "recipe: %zu column%s, %zu feature%s", recipe->count, recipe->count == 1 ? "" : "s",
                   recipe->p, recipe->p == 1 ? "" : "s");
    if (recipe->count > 0)
        pnl_add_format(&text, "\n  %-*s %-8s %-*s %-10s %4s %6s", NAME_WIDTH, "column", "kind", VALUES_WIDTH,
                       "range or categories", "missing", "into", "weight");
    for (size_t j = 0; j < recipe->count; j++)
        add_column(&text, &recipe->columns[j]);
    add_label(&text, &recipe->label);
    add_estimated(&text, &recipe->estimated);
    add_rows(&text, recipe);
    luaL_pushresult(&text);
}
