/* recipe_value.c -- what a value of a column becomes in a kept record, and what is said of one that cannot.
 * Depends on: recipe.h, data (number.h), core (text.h).  Used by: recipe_file.c, recipe_rows.c, recipe_read.c. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "data/number.h"
#include "recipe/recipe.h"

#define QUOTED  24 /* bytes of a value that a message repeats */
#define LONGEST 64 /* bytes of a number with a decimal comma */

/* ---- messages ---- */

static void quote(char out[QUOTED + 32], const pn_recipe_value *value)
{
    size_t used = 1, at = 0, step;

    if (value->is_number) {
        (void)snprintf(out, QUOTED + 32, "%.17g", value->number);
        return;
    }
    if (value->length == 0) {
        (void)snprintf(out, QUOTED + 32, "an empty field");
        return;
    }
    out[0] = '\'';
    for (; at < value->length && used < QUOTED; at += step) {
        step = pn_text_printable(value->text + at, value->length - at);
        if (step == 0) {
            out[used++] = '?';
            step = 1;
        } else {
            memcpy(out + used, value->text + at, step);
            used += step;
        }
    }
    (void)snprintf(out + used, QUOTED + 32 - used, "%s'", at < value->length ? "..." : "");
}

static const char finite[] = "a finite number";

/* 1,5 and not 1,000, which may be a thousand. */
static bool has_decimal_comma(const pn_recipe_value *value)
{
    const char *comma = value->is_number ? NULL : memchr(value->text, ',', value->length);
    size_t after = comma ? value->length - (size_t)(comma + 1 - value->text) : 0;

    return after > 0 && after != 3 && !memchr(comma + 1, ',', after);
}

static pn_status refuse(const pn_recipe_place *place, const char *column, const pn_recipe_value *value,
                        const char *expected, pn_err *err)
{
    char found[QUOTED + 32];

    quote(found, value);
    if (strcmp(expected, finite) == 0 && has_decimal_comma(value))
        expected = "a finite number (decimal = \",\" reads 1,5)";
    if (place->byte == 0)
        return pn_fail(err, PN_EPARSE, "%.300s: row %zu: column '%.80s': expected %s, found %s", place->owner,
                       place->row, column, expected, found);
    return pn_fail(err, PN_EPARSE, "%.300s:%zu:%zu: column '%.80s': expected %s, found %s", place->owner, place->row,
                   place->byte, column, expected, found);
}

/* ---- texts ---- */

static bool has_comma(const pn_recipe_value *value, char from[LONGEST])
{
    for (size_t k = 0; k < value->length; k++) {
        if (value->text[k] == '.')
            return false;
        from[k] = value->text[k] == ',' ? '.' : value->text[k];
    }
    from[value->length] = '\n';
    return true;
}

/* The number that is all of the value. */
static bool read_number(const pn_recipe_value *value, const pn_recipe_reading *reading, double *number)
{
    char copy[LONGEST];
    const char *from = value->text, *end;

    *number = value->number;
    if (value->is_number)
        return isfinite(*number);
    if (reading->decimal_comma) {
        if (value->length >= LONGEST || !has_comma(value, copy))
            return false;
        from = copy;
    }
    end = pn_number_read(from, number, reading->c_locale);
    return end == from + value->length && isfinite(*number);
}

static bool is_word(const pn_recipe_value *value, const char *word)
{
    size_t k = 0;

    while (k < value->length && word[k] && tolower((unsigned char)value->text[k]) == word[k])
        k++;
    return k == value->length && word[k] == '\0';
}

static bool read_flag(const pn_recipe_value *value, double *flag)
{
    static const char *const words[] = { "false", "true", "f", "t", "no", "yes", "n", "y", "off", "on", "0", "1" };

    if (value->is_number) {
        *flag = value->number;
        return *flag == 0.0 || *flag == 1.0;
    }
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (is_word(value, words[k])) {
            *flag = (double)(k % 2);
            return true;
        }
    }
    return false;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0, step; at < length; at += step) {
        step = (unsigned char)text[at] < 0x80 ? 1 : pn_text_printable(text + at, length - at);
        if (step == 0)
            return false;
    }
    return true;
}

static bool is_hole(const pn_recipe *recipe, const pn_recipe_value *value)
{
    if (!value->is_number)
        return pn_words_find(&recipe->na, value->text, value->length) != PN_NO_WORD;
    if (isnan(value->number))
        return true;
    for (size_t k = 0; k < recipe->na_count; k++) {
        if (value->number == recipe->na_numbers[k])
            return true;
    }
    return false;
}

/* Numbers of a table stand for their texts: 3 for "3". */
static pn_recipe_value as_text(const pn_recipe_value *value, char digits[32])
{
    if (!value->is_number || !isfinite(value->number))
        return *value;
    return (pn_recipe_value){ .text = digits, .length = (size_t)snprintf(digits, 32, "%.17g", value->number) };
}

/* ---- values ---- */

static void keep_hole(const pn_recipe_column *column, double *kept)
{
    bool category = column->kind == PN_COLUMN_CATEGORY;

    if (column->missing == PN_MISSING_FILL) {
        kept[column->stored] = column->fill;
    } else if (category) {
        kept[column->stored] = (double)(column->levels.count + 2);
    } else {
        kept[column->stored] = NAN; /* 0 once centred */
        kept[column->stored + 1] = 1.0;
    }
}

static bool is_other(const pn_recipe_value *value)
{
    return value->length == 5 && memcmp(value->text, "other", 5) == 0;
}

static pn_status take_category(const pn_recipe *recipe, const pn_recipe_column *column, const pn_recipe_value *given,
                               const pn_recipe_place *place, double *kept, pn_err *err)
{
    char digits[32];
    pn_recipe_value value = as_text(given, digits);
    size_t level = value.text ? pn_words_find(&column->levels, value.text, value.length) : PN_NO_WORD;

    if (level == PN_NO_WORD && is_hole(recipe, given)) {
        if (column->missing == PN_MISSING_REFUSE)
            return refuse(place, column->name, given,
                          "a category, not a missing value (missing= says what becomes "
                          "of those)",
                          err);
        keep_hole(column, kept);
        return PN_OK;
    }
    if (!value.text)
        return refuse(place, column->name, given, "a text", err); /* an infinite number */
    if (level == PN_NO_WORD && !is_utf8(value.text, value.length))
        return refuse(place, column->name, &value, "UTF-8 (encoding = \"windows-1252\" reads other text)", err);
    if (column->counts && !is_other(&value) && !pn_word_counts_add(column->counts, value.text, value.length))
        return pn_fail(err, PN_ENOMEM, "%.300s: out of memory", place->owner);
    kept[column->stored] = (double)(level == PN_NO_WORD ? column->levels.count + 1 : level + 1);
    return PN_OK;
}

static bool read_value(const pn_recipe_column *column, const pn_recipe_value *value, const pn_recipe_reading *reading,
                       double *number)
{
    if (column->kind == PN_COLUMN_NUMBER)
        return read_number(value, reading, number);
    if (column->kind == PN_COLUMN_FLAG)
        return read_flag(value, number);
    return !value->is_number && pn_recipe_day(value->text, value->length, number);
}

pn_status pn_recipe_take(const pn_recipe *recipe, const pn_recipe_column *column, const pn_recipe_value *value,
                         const pn_recipe_reading *reading, const pn_recipe_place *place, double *kept, pn_err *err)
{
    static const char *const expected[] = { finite, "a day such as 2001-12-31", "true or false" };
    double number;

    if (column->kind == PN_COLUMN_CATEGORY)
        return take_category(recipe, column, value, place, kept, err);
    if (!is_hole(recipe, value)) {
        if (!read_value(column, value, reading, &number))
            return refuse(place, column->name, value, expected[column->kind], err);
        if (pn_recipe_keep_number(recipe, column, number, kept))
            return PN_OK;
    }
    if (column->missing == PN_MISSING_REFUSE) {
        char text[96];

        (void)snprintf(text, sizeof text, "%s, not a missing value (missing= says what becomes of those)",
                       expected[column->kind]);
        return refuse(place, column->name, value, text, err);
    }
    keep_hole(column, kept);
    return PN_OK;
}

static pn_status take_class(const pn_recipe_label *label, const pn_recipe_value *given, const pn_recipe_place *place,
                            double *out, pn_err *err)
{
    char digits[32], known[160];
    pn_recipe_value value = as_text(given, digits);
    size_t k = value.text ? pn_words_find(&label->classes, value.text, value.length) : PN_NO_WORD;

    if (k == PN_NO_WORD) {
        size_t used = 0;

        for (size_t c = 0; c < label->classes.count && used < 100; c++)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s'%.30s'", c ? ", " : "one of ",
                                     pn_words_at(&label->classes, c));
        return refuse(place, label->name, given, known, err);
    }
    *out = label->classes.count > 2 ? (double)(k + 1) : k == label->positive ? 1.0 : -1.0;
    return PN_OK;
}

pn_status pn_recipe_take_label(const pn_recipe *recipe, const pn_recipe_value *value, const pn_recipe_reading *reading,
                               const pn_recipe_place *place, double *out, pn_err *err)
{
    const pn_recipe_label *label = &recipe->label;
    double number, half = 0.5 * label->high - 0.5 * label->low, middle = 0.5 * label->low + 0.5 * label->high;

    if (label->kind == PN_LABEL_CLASSES)
        return take_class(label, value, place, out, err);
    if (!read_number(value, reading, &number))
        return refuse(place, label->name, value, finite, err);
    if (label->kind == PN_LABEL_COUNT) {
        if (!(number >= 0.0) || number != floor(number))
            return refuse(place, label->name, value, "a count: a whole number from 0", err);
        *out = fmin(number, label->high);
        return PN_OK;
    }
    number = fmin(fmax(number, label->low), label->high);
    *out = fmin(fmax((number - middle) / half, -1.0), 1.0);
    return PN_OK;
}
