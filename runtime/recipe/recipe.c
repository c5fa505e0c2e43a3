/* recipe.c -- recipes: what they make of columns, and why rows are bounded.
 *
 * Each column j adds a block of features to a row, and has a weight w_j:
 *   a number, date or flag x, clipped to [low, high]:  w_j u,  u = (x - middle)/half in [-1, 1];
 *   with an indicator: (w_j u, 0), or (0, w_j) for a hole;
 *   a category: w_j in one of its features, 0 in the others; a hole with an indicator is one more category.
 * At most one entry of a block is not 0, and it is at most w_j in absolute value: every lp norm of the block is at most
 * w_j.  So that of a row with the intercept kappa is at most the lp norm of (w_1, ..., w_B, kappa): for l2 and weights
 * of 1, sqrt(B + 1), with equality when numbers are at the ends of their ranges.  An indicator costs nothing.
 * Rows are divided by
 * that norm, size, and have norm at most 1: noise is for the bound, so what a column's values do not use of their
 * block is lost; a weight says which columns the model should have more of.
 * With clip = c the features of a row (without the intercept, which stays constant and public) are scaled down to norm
 * c where they exceed it, and size is the norm of (c, kappa).  A category fills its block always, numbers seldom: c
 * between the norm of the categories' weights and that of all.
 *
 * What rows use of that bound is not known, and cannot be looked at; what their form lets one expect is public.  A
 * number or a date that fills its range evenly has the mean square 1/3, flags, categories and the intercept have all of
 * theirs:
 *   usual^2 = (sum of w_j^2 {1/3 or 1} + kappa^2)/size^2,  the features within the clip.
 * Real columns lie anywhere about it: the mean square of rows was .31 to .83 of the bound's in 11 tables of numbers, of
 * which this says .34 to .44.  No bound and no noise rests on it.
 *
 * Rounding: a feature is clamped to limit_j = fl(w_j/size) after it was computed; the bounds are the norms of the
 * limits, rounded upwards, and size is enlarged by what makes that of recipe->norm at most 1.
 * Depends on: recipe.h, core.  Used by: recipe_read.c, hosts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "recipe/recipe.h"

static void clear_columns(pn_recipe *recipe)
{
    for (size_t j = 0; recipe->columns && j < recipe->count; j++) {
        pn_free(recipe->columns[j].name);
        pn_words_clear(&recipe->columns[j].levels);
    }
    pn_free(recipe->columns);
}

void pn_recipe_free(pn_recipe *recipe)
{
    if (!recipe)
        return;
    clear_columns(recipe);
    pn_free(recipe->label.name);
    pn_words_clear(&recipe->label.classes);
    pn_words_clear(&recipe->estimated.columns);
    pn_words_clear(&recipe->na);
    pn_free(recipe->na_numbers);
    pn_free(recipe->offset);
    pn_free(recipe->scale);
    pn_free(recipe->limit);
    pn_free(recipe->names);
    pn_free(recipe->json);
    pn_free(recipe);
}

/* ---- bounds ---- */

static double up(double x)
{
    return nextafter(x, INFINITY);
}

/* The norm of the entry `x` beside others of norm `norm`, rounded upwards. */
static double join(pn_lp lp, double norm, double x)
{
    if (lp == PN_LINF)
        return fmax(norm, x);
    if (lp == PN_L1)
        return up(norm + x);
    return up(hypot(norm, x) * (1.0 + 0x1p-50)); /* hypot is within an ulp */
}

/* Of the columns alone, each weight divided by `size`. */
static double columns_norm(const pn_recipe *recipe, pn_lp lp, double size)
{
    double norm = 0.0;

    for (size_t j = 0; j < recipe->count; j++)
        norm = join(lp, norm, recipe->columns[j].weight / size);
    return norm;
}

static double row_norm(const pn_recipe *recipe, pn_lp lp, double size)
{
    double columns = columns_norm(recipe, lp, size);

    if (lp == recipe->norm && isfinite(recipe->clip))
        columns = fmin(columns, recipe->clip / size);
    return join(lp, columns, recipe->intercept / size);
}

#define EVENLY (1.0 / 3.0) /* mean square of a number that fills [-1, 1] */

/* Root mean square of l2 norms of rows to be expected. */
static double usual_norm(const pn_recipe *recipe)
{
    double squares = 0.0, size = recipe->size;

    for (size_t j = 0; j < recipe->count; j++) {
        const pn_recipe_column *column = &recipe->columns[j];
        bool spread = column->kind == PN_COLUMN_NUMBER || column->kind == PN_COLUMN_DATE;

        squares += column->weight * column->weight * (spread ? EVENLY : 1.0);
    }
    if (recipe->norm == PN_L2)
        squares = fmin(squares, recipe->clip * recipe->clip);
    return hypot(sqrt(squares), recipe->intercept) / size;
}

static pn_status bound_rows(pn_recipe *recipe, pn_err *err)
{
    double whole = columns_norm(recipe, recipe->norm, 1.0), size;
    pn_record_bounds bounds = { .norm = { NAN, NAN, NAN } };

    if (isfinite(recipe->clip) && recipe->clip >= whole)
        return pn_fail(
            err, PN_EINVAL,
            "recipe: clip = %g clips nothing: the features of a row have norm %.6g at most, by their weights",
            recipe->clip, whole);
    size = row_norm(recipe, recipe->norm, 1.0);
    while (row_norm(recipe, recipe->norm, size) > 1.0)
        size *= 1.0 + 0x1p-51;
    recipe->size = size;
    recipe->clip_to = recipe->clip / size; /* rounding is in row_norm, too */
    pn_bounds_tighten(&bounds, recipe->p, recipe->norm, 1.0);
    for (int lp = 0; lp < PN_LP_COUNT; lp++) {
        if (lp != (int)recipe->norm)
            pn_bounds_tighten(&bounds, recipe->p, (pn_lp)lp, row_norm(recipe, (pn_lp)lp, size));
    }
    memcpy(recipe->bound, bounds.norm, sizeof recipe->bound);
    recipe->usual = usual_norm(recipe);
    return PN_OK;
}

/* ---- features ---- */

static void count_features(pn_recipe *recipe)
{
    recipe->p = recipe->stored = 0;
    for (size_t j = 0; j < recipe->count; j++) {
        pn_recipe_column *column = &recipe->columns[j];
        bool category = column->kind == PN_COLUMN_CATEGORY, marked = column->missing == PN_MISSING_INDICATOR;

        column->first = recipe->p;
        column->count = (category ? column->levels.count + 1 : 1) + marked;
        column->stored = recipe->stored;
        recipe->p += column->count;
        recipe->stored += marked && !category ? 2 : 1;
    }
    recipe->p += recipe->intercept > 0.0;
    recipe->stored += recipe->intercept > 0.0;
}

static pn_status scale_column(pn_recipe *recipe, const pn_recipe_column *column, pn_err *err)
{
    double limit = column->weight / recipe->size;
    double half = 0.5 * column->high - 0.5 * column->low, middle = 0.5 * column->low + 0.5 * column->high;

    for (size_t k = column->first; k < column->first + column->count; k++) {
        recipe->offset[k] = 0.0;
        recipe->scale[k] = recipe->limit[k] = limit;
    }
    if (column->kind == PN_COLUMN_CATEGORY)
        return PN_OK;
    recipe->offset[column->first] = middle;
    recipe->scale[column->first] = limit / half;
    if (!isnormal(recipe->scale[column->first]))
        return pn_fail(err, PN_EINVAL, "recipe: the range of column '%.80s', %g to %g, cannot be scaled to [-1, 1]",
                       column->name, column->low, column->high);
    return PN_OK;
}

static pn_status scale_features(pn_recipe *recipe, pn_err *err)
{
    PN_TRY(pn_new(&recipe->offset, recipe->p, err, "recipe: out of memory for %zu features", recipe->p));
    PN_TRY(pn_new(&recipe->scale, recipe->p, err, "recipe: out of memory for %zu features", recipe->p));
    PN_TRY(pn_new(&recipe->limit, recipe->p, err, "recipe: out of memory for %zu features", recipe->p));
    for (size_t j = 0; j < recipe->count; j++)
        PN_TRY(scale_column(recipe, &recipe->columns[j], err));
    if (recipe->intercept > 0.0) {
        recipe->offset[recipe->p - 1] = 0.0;
        recipe->scale[recipe->p - 1] = recipe->limit[recipe->p - 1] = recipe->intercept / recipe->size;
    }
    return PN_OK;
}

/* ---- names ---- */

static const char *suffix_of(const pn_recipe_column *column, size_t k)
{
    if (column->missing == PN_MISSING_INDICATOR && k + 1 == column->count)
        return "missing";
    if (column->kind != PN_COLUMN_CATEGORY)
        return NULL;
    return k < column->levels.count ? pn_words_at(&column->levels, k) : "other";
}

static size_t put_name(char *out, const char *column, const char *suffix)
{
    size_t length = strlen(column), more = suffix ? strlen(suffix) + 1 : 0;

    if (out) {
        memcpy(out, column, length);
        if (suffix) {
            out[length] = '=';
            memcpy(out + length + 1, suffix, more - 1);
        }
        out[length + more] = '\0';
    }
    return length + more + 1;
}

/* Writes them when there is room, and says how much it takes. */
static size_t put_names(const pn_recipe *recipe, char *out)
{
    size_t used = 0;

    for (size_t j = 0; j < recipe->count; j++) {
        const pn_recipe_column *column = &recipe->columns[j];

        for (size_t k = 0; k < column->count; k++)
            used += put_name(out ? out + used : NULL, column->name, suffix_of(column, k));
    }
    if (recipe->intercept > 0.0)
        used += put_name(out ? out + used : NULL, "intercept", NULL);
    return used;
}

pn_status pn_recipe_lay_out(pn_recipe *recipe, pn_err *err)
{
    count_features(recipe);
    if (recipe->p >= UINT32_MAX)
        return pn_fail(err, PN_EINVAL, "recipe: %zu features are too many", recipe->p);
    PN_TRY(bound_rows(recipe, err));
    PN_TRY(scale_features(recipe, err));
    recipe->name_bytes = put_names(recipe, NULL);
    PN_TRY(pn_new(&recipe->names, recipe->name_bytes, err, "recipe: out of memory for names"));
    (void)put_names(recipe, recipe->names);
    return PN_OK;
}

/* ---- what is known of it ---- */

size_t pn_recipe_features(const pn_recipe *recipe)
{
    return recipe->p;
}

double pn_recipe_row_bound(const pn_recipe *recipe, pn_lp norm)
{
    return recipe->bound[norm];
}

const char *pn_recipe_json(const pn_recipe *recipe)
{
    return recipe->json;
}

size_t pn_recipe_find(const pn_recipe *recipe, const char *name)
{
    size_t j = 0;

    while (j < recipe->count && strcmp(recipe->columns[j].name, name) != 0)
        j++;
    return j;
}

static void describe(const pn_recipe_column *column, size_t k, pn_recipe_feature *out)
{
    static const char *const kinds[] = { "number", "date", "flag", "category" };

    out->column = column->name;
    if (column->missing == PN_MISSING_INDICATOR && k + 1 == column->count) {
        out->kind = "missing";
        return;
    }
    out->kind = kinds[column->kind];
    if (column->kind == PN_COLUMN_CATEGORY && k < column->levels.count)
        out->category = pn_words_at(&column->levels, k);
}

pn_status pn_recipe_describe(const pn_recipe *recipe, size_t index, pn_recipe_feature *out, pn_err *err)
{
    const char *name = recipe->names;
    size_t j = 0;

    if (index >= recipe->p)
        return pn_fail(err, PN_EDIM, "recipe: there is no feature %zu from 0, the recipe has %zu", index, recipe->p);
    for (size_t k = 0; k < index; k++)
        name += strlen(name) + 1;
    *out = (pn_recipe_feature){ .name = name, .offset = recipe->offset[index], .scale = recipe->scale[index] };
    while (j < recipe->count && index >= recipe->columns[j].first + recipe->columns[j].count)
        j++;
    if (j == recipe->count)
        out->kind = "intercept";
    else
        describe(&recipe->columns[j], index - recipe->columns[j].first, out);
    return PN_OK;
}
