/* recipe_spec.c -- one column of a recipe, or its label, from JSON.
 * Depends on: recipe_spec.h, data (number.h), core, jansson.  Used by: recipe_read.c. */
#define _GNU_SOURCE /* newlocale */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/number.h"
#include "recipe/recipe_spec.h"

void *pn_recipe_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void pn_recipe_free_locale(void *c_locale)
{
    if (c_locale)
        freelocale((locale_t)c_locale);
}

bool pn_recipe_is_weight(double weight)
{
    return weight >= 1e-6 && weight <= 1e6;
}

bool pn_recipe_is_empty(const json_t *value)
{
    return json_is_object(value) && json_object_size(value) == 0;
}

bool pn_recipe_is_number(const pn_recipe_value *value, void *c_locale, double *number)
{
    return pn_number_read(value->text, number, c_locale) == value->text + value->length && isfinite(*number);
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* ---- ranges and categories ---- */

static bool is_range(const json_t *values)
{
    return json_array_size(values) == 2 && json_is_number(json_array_get(values, 0)) &&
           json_is_number(json_array_get(values, 1));
}

static pn_status read_range(const char *name, const json_t *values, double *low, double *high, pn_err *err)
{
    *low = json_number_value(json_array_get(values, 0));
    *high = json_number_value(json_array_get(values, 1));
    if (!(*low < *high) || !isfinite(*high - *low))
        return pn_fail(err, PN_EINVAL, "recipe: the range of column '%.80s' must go from low to high, got %g and %g",
                       name, *low, *high);
    return PN_OK;
}

static pn_status read_words(const char *name, const json_t *values, pn_words *words, pn_err *err)
{
    for (size_t k = 0; k < json_array_size(values); k++) {
        const json_t *value = json_array_get(values, k);
        size_t before = words->count;

        if (!json_is_string(value))
            return pn_fail(err, PN_EINVAL,
                           "recipe: column '%.80s': a range is two numbers, categories are texts; value %zu is neither",
                           name, k + 1);
        if (pn_words_add(words, json_string_value(value), json_string_length(value)) == PN_NO_WORD)
            return pn_fail(err, PN_ENOMEM, "recipe: out of memory for categories");
        if (words->count == before)
            return pn_fail(err, PN_EINVAL, "recipe: column '%.80s' has '%.80s' twice", name, json_string_value(value));
    }
    return PN_OK;
}

/* "other" is always there, as the last. */
static pn_status read_levels(pn_recipe_column *column, const json_t *values, pn_err *err)
{
    size_t count = json_array_size(values);

    column->kind = PN_COLUMN_CATEGORY;
    if (count > PN_CSV_CATEGORIES)
        return pn_fail(err, PN_EINVAL, "recipe: column '%.80s' has %zu categories, %d are the most", column->name,
                       count, PN_CSV_CATEGORIES);
    PN_TRY(read_words(column->name, values, &column->levels, err));
    if (pn_words_find(&column->levels, "other", 5) != PN_NO_WORD)
        return pn_fail(err, PN_EINVAL,
                       "recipe: column '%.80s': \"other\" is there without being declared; leave it out", column->name);
    return PN_OK;
}

static pn_status read_dates(pn_recipe_column *column, const json_t *spec, pn_err *err)
{
    const json_t *from = json_object_get(spec, "from"), *to = json_object_get(spec, "to");

    column->kind = PN_COLUMN_DATE;
    if (!json_is_string(from) || !json_is_string(to) ||
        !pn_recipe_day(json_string_value(from), json_string_length(from), &column->low) ||
        !pn_recipe_day(json_string_value(to), json_string_length(to), &column->high) || !(column->low < column->high))
        return pn_fail(err, PN_EINVAL,
                       "recipe: column '%.80s' of dates needs from= and to=, two days such as \"2001-12-31\", the "
                       "first before the second",
                       column->name);
    return PN_OK;
}

static pn_status read_values(pn_recipe_column *column, const json_t *spec, const json_t *values, pn_err *err)
{
    const json_t *first = json_is_array(values) ? json_array_get(values, 0) : values;
    bool one = !json_is_array(values) || json_array_size(values) == 1;
    bool ends = json_object_get(spec, "from") || json_object_get(spec, "to");

    if (one && is_text(first, "date"))
        return read_dates(column, spec, err);
    if (ends)
        return pn_fail(err, PN_EINVAL,
                       "recipe: column '%.80s': from= and to= are of dates, as in {\"date\", from = "
                       "\"2001-01-01\", to = \"2020-12-31\"}",
                       column->name);
    if (one && is_text(first, "flag")) {
        column->kind = PN_COLUMN_FLAG;
        column->high = 1.0;
        return PN_OK;
    }
    if (is_range(values))
        return read_range(column->name, values, &column->low, &column->high, err);
    if (json_is_array(values) && json_array_size(values) > 0)
        return read_levels(column, values, err);
    return pn_fail(err, PN_EINVAL,
                   "recipe: column '%.80s' must be a range {17, 90}, a list of categories {\"a\", \"b\"}, \"flag\", or "
                   "{\"date\", from =, to =}",
                   column->name);
}

/* ---- holes ---- */

static pn_status wrong_fill(const pn_recipe_column *column, const char *expected, pn_err *err)
{
    return pn_fail(err, PN_EINVAL,
                   "recipe: missing of column '%.80s' must be \"refuse\", \"indicator\", or %s that fills a hole",
                   column->name, expected);
}

static pn_status read_fill_text(pn_recipe_column *column, const json_t *missing, pn_err *err)
{
    size_t length = json_string_length(missing), level;

    if (!json_is_string(missing))
        return wrong_fill(column, column->kind == PN_COLUMN_DATE ? "a day" : "a category", err);
    if (column->kind == PN_COLUMN_DATE) {
        if (!pn_recipe_day(json_string_value(missing), length, &column->fill))
            return wrong_fill(column, "a day", err);
        column->fill = fmin(fmax(column->fill, column->low), column->high);
        return PN_OK;
    }
    level = pn_words_find(&column->levels, json_string_value(missing), length);
    if (level == PN_NO_WORD && !is_text(missing, "other"))
        return wrong_fill(column, "one of its categories or \"other\"", err);
    column->fill = (double)((level == PN_NO_WORD ? column->levels.count : level) + 1);
    return PN_OK;
}

static pn_status read_fill(pn_recipe_column *column, const json_t *missing, pn_err *err)
{
    column->missing = PN_MISSING_FILL;
    if (column->kind == PN_COLUMN_CATEGORY || column->kind == PN_COLUMN_DATE)
        return read_fill_text(column, missing, err);
    if (column->kind == PN_COLUMN_FLAG) {
        column->fill = json_is_true(missing) ? 1.0 : 0.0;
        return json_is_boolean(missing) ? PN_OK : wrong_fill(column, "true or false", err);
    }
    column->fill = json_number_value(missing);
    if (!json_is_number(missing) || !(column->fill >= column->low && column->fill <= column->high))
        return wrong_fill(column, "a number of its range", err);
    return PN_OK;
}

static pn_status read_missing(pn_recipe_column *column, const json_t *missing, pn_err *err)
{
    if (!missing || is_text(missing, "refuse"))
        return PN_OK; /* PN_MISSING_REFUSE */
    if (!is_text(missing, "indicator"))
        return read_fill(column, missing, err);
    column->missing = PN_MISSING_INDICATOR;
    if (pn_words_find(&column->levels, "missing", 7) != PN_NO_WORD)
        return pn_fail(err, PN_EINVAL,
                       "recipe: column '%.80s' has a category \"missing\" and an indicator, which has that name",
                       column->name);
    return PN_OK;
}

/* ---- columns ---- */

static pn_status keep_name(char **out, const char *name, pn_err *err)
{
    if (!name[0])
        return pn_fail(err, PN_EINVAL, "recipe: a column has an empty name");
    return pn_made(*out = pn_strdup(name), err, "recipe: out of memory");
}

static pn_status read_weight(pn_recipe_column *column, const json_t *weight, pn_err *err)
{
    column->weight = weight ? json_number_value(weight) : 1.0;
    if (!pn_recipe_is_weight(column->weight))
        return pn_fail(err, PN_EINVAL, "recipe: the weight of column '%.80s' must be a number from 1e-6 to 1e6",
                       column->name);
    return PN_OK;
}

pn_status pn_recipe_read_column(pn_recipe_column *column, const char *name, const json_t *spec, const json_t *missing,
                                pn_err *err)
{
    static const char *const known[] = { "name", "values", "from", "to", "missing", "weight", NULL };
    const json_t *values = json_is_object(spec) ? json_object_get(spec, "values") : spec;
    const json_t *own = json_object_get(spec, "missing");

    PN_TRY(keep_name(&column->name, name, err));
    if (json_is_object(spec))
        PN_TRY(pn_recipe_check_keys(spec, "a column", known, err));
    PN_TRY(read_values(column, spec, values, err));
    PN_TRY(read_weight(column, json_object_get(spec, "weight"), err));
    return read_missing(column, own ? own : missing, err);
}

/* ---- the label ---- */

/* {"name": "income", "values": [...]} or {"income": [...]}. */
static pn_status find_label(const json_t *spec, const char **name, const json_t **values, pn_err *err)
{
    static const char *const known[] = { "name", "values", "positive", "count", NULL };
    void *first = json_object_iter((json_t *)(size_t)spec);

    if (json_is_string(json_object_get(spec, "name"))) {
        PN_TRY(pn_recipe_check_keys(spec, "a label", known, err));
        *name = json_string_value(json_object_get(spec, "name"));
        *values = json_object_get(spec, "values");
        return PN_OK;
    }
    if (json_object_size(spec) != 1)
        return pn_fail(err, PN_EINVAL,
                       "recipe: label must be one column, such as {income = {\"<=50K\", \">50K\"}}, or "
                       "{name = \"income\", values = {...}, positive = \">50K\"}");
    *name = json_object_iter_key(first);
    *values = json_object_iter_value(first);
    return json_is_object(*values) ? pn_recipe_check_keys(*values, "a label", known + 1, err) : PN_OK;
}

static pn_status read_positive(pn_recipe_label *label, const json_t *positive, pn_err *err)
{
    label->positive = 1;
    if (!positive)
        return PN_OK;
    if (json_is_string(positive))
        label->positive = pn_words_find(&label->classes, json_string_value(positive), json_string_length(positive));
    if (label->classes.count != 2 || label->positive > 1)
        return pn_fail(err, PN_EINVAL, "recipe: positive must be one of the two classes of label '%.80s'", label->name);
    return PN_OK;
}

static pn_status read_count(pn_recipe_label *label, const json_t *most, const json_t *values, pn_err *err)
{
    label->kind = PN_LABEL_COUNT;
    label->high = json_number_value(most);
    if (values || !(label->high >= 1.0 && label->high <= 0x1p53) || label->high != floor(label->high))
        return pn_fail(err, PN_EINVAL,
                       "recipe: the count of label '%.80s' must be the largest one, a whole number from 1 to 2^53, and "
                       "stand alone, as in {visits = {count = 20}}",
                       label->name);
    return PN_OK;
}

pn_status pn_recipe_read_label(pn_recipe_label *label, const json_t *spec, pn_err *err)
{
    const char *name = NULL;
    const json_t *values = NULL, *positive;

    if (!spec || json_is_null(spec) || json_is_false(spec))
        return PN_OK;
    PN_TRY(find_label(spec, &name, &values, err));
    PN_TRY(keep_name(&label->name, name, err));
    if (json_is_object(values)) /* of Lua: {income = {"<=50K", ">50K", positive = "<=50K"}} */
        spec = values;
    positive = json_object_get(spec, "positive");
    values = json_is_object(values) ? json_object_get(values, "values") : values;
    if (json_object_get(spec, "count"))
        return read_count(label, json_object_get(spec, "count"), positive ? positive : values, err);
    if (is_range(values) && !positive) {
        label->kind = PN_LABEL_RANGE;
        return read_range(name, values, &label->low, &label->high, err);
    }
    label->kind = PN_LABEL_CLASSES;
    if (json_array_size(values) < 2)
        return pn_fail(err, PN_EINVAL,
                       "recipe: label '%.80s' must be a range {0, 100}, at least two classes, "
                       "or {count = 20}, counts up to the largest",
                       name);
    PN_TRY(read_words(name, values, &label->classes, err));
    return read_positive(label, positive, err);
}
