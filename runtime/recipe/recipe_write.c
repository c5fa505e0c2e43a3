/* recipe_write.c -- the JSON of a recipe.  Depends on: recipe_spec.h, core, jansson.  Used by: recipe_read.c. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/alloc.h"
#include "recipe/recipe_spec.h"

/* A call that fails leaves NULL behind, which the next one refuses: the root tells in the end. */
json_t *pn_recipe_words_json(const pn_words *words)
{
    json_t *list = json_array();

    for (size_t k = 0; list && k < words->count; k++) {
        if (json_array_append_new(list, json_string(pn_words_at(words, k))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *range_of(double low, double high)
{
    return json_pack("[f, f]", low, high);
}

static json_t *day_of(double day)
{
    char text[32];

    pn_recipe_day_text(text, day);
    return json_string(text);
}

static json_t *fill_of(const pn_recipe_column *column)
{
    size_t level = (size_t)column->fill - 1;

    if (column->kind == PN_COLUMN_NUMBER)
        return json_real(column->fill);
    if (column->kind == PN_COLUMN_FLAG)
        return json_boolean(column->fill != 0.0);
    if (column->kind == PN_COLUMN_DATE)
        return day_of(column->fill);
    return json_string(level < column->levels.count ? pn_words_at(&column->levels, level) : "other");
}

static json_t *missing_of(const pn_recipe_column *column)
{
    if (column->missing == PN_MISSING_FILL)
        return fill_of(column);
    return json_string(column->missing == PN_MISSING_INDICATOR ? "indicator" : "refuse");
}

static json_t *values_of(const pn_recipe_column *column)
{
    switch (column->kind) {
    case PN_COLUMN_NUMBER:
        return range_of(column->low, column->high);
    case PN_COLUMN_DATE:
        return json_pack("[s]", "date");
    case PN_COLUMN_FLAG:
        return json_pack("[s]", "flag");
    case PN_COLUMN_CATEGORY:
        break;
    }
    return pn_recipe_words_json(&column->levels);
}

static json_t *column_of(const pn_recipe_column *column)
{
    json_t *made = json_pack("{s:s, s:o}", "name", column->name, "values", values_of(column));
    bool fine = made != NULL;

    if (column->kind == PN_COLUMN_DATE)
        fine = fine && json_object_set_new(made, "from", day_of(column->low)) == 0 &&
               json_object_set_new(made, "to", day_of(column->high)) == 0;
    fine = fine && json_object_set_new(made, "missing", missing_of(column)) == 0 &&
           json_object_set_new(made, "weight", json_real(column->weight)) == 0;
    if (!fine) {
        json_decref(made);
        return NULL;
    }
    return made;
}

static json_t *columns_of(const pn_recipe *recipe)
{
    json_t *list = json_array();

    for (size_t j = 0; list && j < recipe->count; j++) {
        if (json_array_append_new(list, column_of(&recipe->columns[j])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *label_of(const pn_recipe_label *label)
{
    if (label->kind == PN_LABEL_NONE)
        return json_null();
    if (label->kind == PN_LABEL_RANGE)
        return json_pack("{s:s, s:o}", "name", label->name, "values", range_of(label->low, label->high));
    if (label->kind == PN_LABEL_COUNT)
        return json_pack("{s:s, s:f}", "name", label->name, "count", label->high);
    if (label->classes.count > 2)
        return json_pack("{s:s, s:o}", "name", label->name, "values", pn_recipe_words_json(&label->classes));
    return json_pack("{s:s, s:o, s:s}", "name", label->name, "values", pn_recipe_words_json(&label->classes),
                     "positive", pn_words_at(&label->classes, label->positive));
}

/* ---- text ---- */

typedef struct text {
    char *bytes;
    size_t used, room;
    bool failed; /* jansson passes over some failures of its callback */
} text;

static int append(const char *bytes, size_t count, void *of)
{
    text *self = of;

    if (self->room - self->used <= count) {
        size_t room = 2 * self->room + count + 1;
        char *larger = self->failed ? NULL : pn_resize(self->bytes, room, 1);

        self->failed = self->failed || !larger;
        if (self->failed)
            return -1;
        self->bytes = larger;
        self->room = room;
    }
    memcpy(self->bytes + self->used, bytes, count);
    self->used += count;
    self->bytes[self->used] = '\0';
    return 0;
}

pn_status pn_json_text(char **out, const json_t *root, size_t flags, const char *owner, pn_err *err)
{
    text made = { NULL, 0, 0, false };
    int failed = root ? json_dump_callback(root, append, &made, flags | JSON_REAL_PRECISION(17)) : -1;

    if (failed != 0 || made.failed) {
        pn_free(made.bytes);
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for its JSON", owner);
    }
    *out = made.bytes;
    return PN_OK;
}

pn_status pn_recipe_write(pn_recipe *recipe, pn_err *err)
{
    json_t *root =
        json_pack("{s:s, s:i, s:o, s:o, s:o, s:f, s:s, s:o}", "format", "penumbra recipe", "version", 1, "label",
                  label_of(&recipe->label), "features", columns_of(recipe), "na", pn_recipe_words_json(&recipe->na),
                  "intercept", recipe->intercept, "norm", pn_lp_name(recipe->norm), "clip",
                  isfinite(recipe->clip) ? json_real(recipe->clip) : json_null());
    bool fine = root && (recipe->estimated.columns.count == 0 ||
                         json_object_set_new(root, "estimated", pn_recipe_estimated_json(recipe)) == 0);
    pn_status status = pn_json_text(&recipe->json, fine ? root : NULL, JSON_COMPACT, "recipe", err);

    json_decref(root);
    return status;
}
