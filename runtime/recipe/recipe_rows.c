/* recipe_rows.c -- kept records become rows with a bound.  Depends on: recipe.h, data (build.h, rows.h, spool.h), core.
 * Used by: recipe_file.c, bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/rows.h"
#include "recipe/recipe.h"

bool pn_recipe_keep(const pn_recipe *recipe, pn_spool *spool, const double *kept, double label)
{
    bool fine = pn_spool_label(spool, label);

    for (size_t k = 0; fine && k < recipe->stored; k++)
        fine = pn_spool_entry(spool, (uint32_t)(k + 1), kept[k]);
    return fine;
}

/* ---- where kept values go ---- */

/* first[stored + 1]; codes of categories are features in their order, so that one list of 0, 1, 2, ... is for all. */
static void lay_out(const pn_recipe *recipe, size_t *first, const size_t **place, const size_t *in_order)
{
    for (size_t j = 0; j < recipe->count; j++) {
        const pn_recipe_column *column = &recipe->columns[j];

        first[column->stored] = column->first;
        if (column->kind == PN_COLUMN_CATEGORY)
            place[column->stored] = in_order;
        else if (column->missing == PN_MISSING_INDICATOR)
            first[column->stored + 1] = column->first + 1;
    }
    if (recipe->intercept > 0.0)
        first[recipe->stored - 1] = recipe->p - 1;
    first[recipe->stored] = recipe->p;
}

static pn_status fill_matrix(pn_dataset **out, const pn_recipe *recipe, pn_spool *spool, const char *name, pn_err *err)
{
    size_t *first = pn_alloc(recipe->stored + 1, sizeof *first), *in_order = pn_alloc(recipe->p, sizeof *in_order);
    const size_t **place = pn_calloc(recipe->stored, sizeof *place);
    pn_spool_layout layout = { recipe->stored, first, place };
    pn_status status = pn_made(first && in_order && place, err, "recipe: out of memory for %zu features", recipe->p);

    if (status == PN_OK) {
        for (size_t k = 0; k < recipe->p; k++)
            in_order[k] = k;
        lay_out(recipe, first, place, in_order);
        status = pn_spool_finish(out, spool, recipe->p, PN_STORAGE_DENSE, &layout, name, err);
    }
    pn_free(first);
    pn_free(in_order);
    pn_free(place);
    return status;
}

/* ---- rows ---- */

static void scale_row(const pn_recipe *recipe, double *row)
{
    const double *offset = recipe->offset, *scale = recipe->scale, *limit = recipe->limit;

    for (size_t j = 0; j < recipe->p; j++) {
        double x = (row[j] - offset[j]) * scale[j];

        x = x > limit[j] ? limit[j] : x;
        x = x < -limit[j] ? -limit[j] : x;
        row[j] = x == x ? x : 0.0; /* a hole */
    }
}

static pn_status scale_rows(const pn_recipe *recipe, pn_dataset *data, pn_err *err)
{
    size_t features = recipe->p - (recipe->intercept > 0.0);
    pn_status status = PN_OK;

    for (size_t i = 0; i < data->n && status == PN_OK; i++) {
        double *row = data->dense + i * recipe->p;

        scale_row(recipe, row);
        if (isfinite(recipe->clip_to))
            pn_row_clip(row, features, recipe->norm, recipe->clip_to);
        status = pn_rows_stopped(i, err);
    }
    return status;
}

static pn_status name_features(const pn_recipe *recipe, pn_dataset *data, pn_err *err)
{
    PN_TRY(pn_new(&data->features, recipe->name_bytes, err, "recipe: out of memory for names"));
    memcpy(data->features, recipe->names, recipe->name_bytes);
    data->feature_bytes = recipe->name_bytes;
    return PN_OK;
}

static void enforce(const pn_recipe *recipe, bool labelled, pn_record_bounds *bounds)
{
    const pn_recipe_label *label = &recipe->label;

    memcpy(bounds->norm, recipe->bound, sizeof bounds->norm);
    bounds->usual = recipe->usual;
    if (!labelled)
        return;
    bounds->label_low = -1.0;
    bounds->label_high = 1.0;
    bounds->labels_binary = label->kind == PN_LABEL_CLASSES && label->classes.count == 2;
    if (label->kind == PN_LABEL_COUNT) {
        bounds->label_low = 0.0;
        bounds->label_high = label->high;
    } else if (label->classes.count > 2) {
        bounds->label_low = 1.0;
        bounds->label_high = (double)label->classes.count;
    }
}

pn_status pn_recipe_finish(pn_dataset **out, const pn_recipe *recipe, pn_spool *spool, bool labelled, const char *name,
                           pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status = fill_matrix(&data, recipe, spool, name, err);

    if (status == PN_OK)
        status = scale_rows(recipe, data, err);
    if (status == PN_OK)
        status = name_features(recipe, data, err);
    if (status == PN_OK)
        status = pn_dataset_set_recipe(data, recipe->json, err);
    if (status == PN_OK)
        enforce(recipe, labelled, &data->bounds);
    return pn_dataset_deliver(out, data, status);
}

/* ---- tables ---- */

typedef struct table {
    const pn_recipe *recipe;
    pn_recipe_reading reading;
    pn_spool spool;
    double *kept;
} table;

static pn_status read_row(table *self, size_t row, bool labelled,
                          pn_recipe_value (*value)(void *self, size_t row, size_t column), void *of, const char *owner,
                          pn_err *err)
{
    const pn_recipe *recipe = self->recipe;
    pn_recipe_place place = { owner, row + 1, 0 };
    double label = 0.0;

    for (size_t j = 0; j < recipe->count; j++) {
        pn_recipe_value found = value(of, row, j);

        PN_TRY(pn_recipe_take(recipe, &recipe->columns[j], &found, &self->reading, &place, self->kept, err));
    }
    if (labelled) {
        pn_recipe_value found = value(of, row, recipe->count);

        PN_TRY(pn_recipe_take_label(recipe, &found, &self->reading, &place, &label, err));
    }
    return pn_made(pn_recipe_keep(recipe, &self->spool, self->kept, label), err, "%s: out of memory", owner);
}

pn_status pn_recipe_from_values(pn_dataset **out, const pn_recipe *recipe, size_t count, bool labelled,
                                pn_recipe_value (*value)(void *self, size_t row, size_t column), void *self,
                                pn_content content, const char *owner, pn_err *err)
{
    table made = { .recipe = recipe, .kept = pn_alloc(recipe->stored, sizeof(double)) };
    pn_dataset *data = NULL;
    pn_status status;

    made.reading.c_locale = pn_recipe_locale();
    status = pn_made(made.kept && made.reading.c_locale, err, "%s: out of memory", owner);
    if (status == PN_OK && recipe->intercept > 0.0)
        made.kept[recipe->stored - 1] = 1.0;
    for (size_t row = 0; row < count && status == PN_OK; row++)
        status = read_row(&made, row, labelled, value, self, owner, err);
    if (status == PN_OK)
        status = PN_WITH_RECORDS(pn_recipe_finish(&data, recipe, &made.spool, labelled, "table", err));
    if (status == PN_OK)
        status = pn_dataset_set_origin(data, content, err);
    status = pn_dataset_deliver(out, data, status);
    pn_spool_clear(&made.spool);
    pn_recipe_free_locale(made.reading.c_locale);
    pn_free(made.kept);
    return status;
}
