/* options.c -- options by name: kept as they were given, read as the rows of a parameter table say.
 * Depends on: options.h, alloc.h.  Used by: what is made by name. */
#define _GNU_SOURCE /* strtod_l, newlocale */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"

/* Kinds of values as they were given; the typed ones are those of rows. */
enum { BY_TEXT = -1 };

typedef struct option {
    struct option *next;
    char *name, *text; /* text: of BY_TEXT, PN_CHOICE, and the type of PN_OBJECT */
    int kind;          /* BY_TEXT, or a pn_param_kind */
    pn_arg value;      /* owns its numbers */
    bool all_numbers;  /* of BY_TEXT: the whole of it is value.vector */
} option;

struct pn_options {
    option *first, **last;
    bool short_of_memory;
};

pn_status pn_options_new(pn_options **out, pn_err *err)
{
    *out = pn_calloc(1, sizeof **out);
    if (!*out)
        return pn_fail(err, PN_ENOMEM, "options: out of memory");
    (*out)->last = &(*out)->first;
    return PN_OK;
}

static void free_option(option *one)
{
    pn_free(one->name);
    pn_free(one->text);
    pn_free(one->value.vector.data);
    pn_free(one->value.matrix.data);
    pn_free(one);
}

void pn_options_free(pn_options *options)
{
    option *next;

    for (option *one = options ? options->first : NULL; one; one = next) {
        next = one->next;
        free_option(one);
    }
    pn_free(options);
}

/* ---- setters ---- */

/* A new option at the end; NULL, and noted, when memory is short. */
static option *add(pn_options *options, const char *name, int kind, const char *text)
{
    option *one = pn_calloc(1, sizeof *one);

    if (one) {
        one->name = pn_strdup(name);
        one->text = pn_strdup(text);
        one->kind = kind;
        one->value.given = true;
    }
    if (!one || !one->name || (text && !one->text)) {
        if (one)
            free_option(one);
        options->short_of_memory = true;
        return NULL;
    }
    *options->last = one;
    options->last = &one->next;
    return one;
}

static double *copy_numbers(pn_options *options, const double *value, size_t rows, size_t cols)
{
    double *copy = cols > 0 && rows > SIZE_MAX / cols ? NULL : pn_alloc(rows * cols, sizeof *copy);

    if (!copy)
        options->short_of_memory = true;
    else if (rows * cols > 0)
        memcpy(copy, value, rows * cols * sizeof *copy);
    return copy;
}

/* The numbers between commas in `text`, counted; written to out[] unless that is NULL.
 * SIZE_MAX when it is no list of numbers. */
static size_t read_numbers(const char *text, double *out, locale_t plain)
{
    size_t count = 0;

    for (;;) {
        char *end;
        double number = strtod_l(text, &end, plain);

        if (end == text)
            return SIZE_MAX;
        if (out)
            out[count] = number;
        count++;
        end += strspn(end, " \t");
        if (*end == '\0')
            return count;
        if (*end != ',')
            return SIZE_MAX;
        text = end + 1;
    }
}

void pn_options_set(pn_options *options, const char *name, const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    option *one = plain ? add(options, name, BY_TEXT, text) : NULL;
    size_t count = one ? read_numbers(text, NULL, plain) : SIZE_MAX;

    if (count != SIZE_MAX) {
        one->value.vector = (pn_vec){ pn_alloc(count, sizeof(double)), count };
        one->all_numbers = one->value.vector.data != NULL;
        if (one->all_numbers)
            (void)read_numbers(text, one->value.vector.data, plain);
        else
            options->short_of_memory = true;
    }
    if (plain)
        freelocale(plain);
    else
        options->short_of_memory = true;
}

void pn_options_real(pn_options *options, const char *name, double value)
{
    option *one = add(options, name, PN_REAL, NULL);

    if (one)
        one->value.real = value;
}

void pn_options_count(pn_options *options, const char *name, size_t value)
{
    option *one = add(options, name, PN_COUNT, NULL);

    if (one) {
        one->value.count = value;
        one->value.real = (double)value;
    }
}

void pn_options_flag(pn_options *options, const char *name, bool value)
{
    option *one = add(options, name, PN_FLAG, NULL);

    if (one)
        one->value.flag = value;
}

void pn_options_text(pn_options *options, const char *name, const char *value)
{
    (void)add(options, name, PN_CHOICE, value);
}

void pn_options_vector(pn_options *options, const char *name, const double *value, size_t n)
{
    option *one = add(options, name, PN_VECTOR, NULL);

    if (one)
        one->value.vector = (pn_vec){ copy_numbers(options, value, n, 1), n };
}

void pn_options_matrix(pn_options *options, const char *name, const double *value, size_t rows, size_t cols)
{
    option *one = add(options, name, PN_MATRIX, NULL);

    if (one)
        one->value.matrix = (pn_mat){ copy_numbers(options, value, rows, cols), rows, cols };
}

void pn_options_object(pn_options *options, const char *name, const char *type, const void *object)
{
    option *one = add(options, name, PN_OBJECT, type);

    if (one)
        one->value.object = object;
}

/* ---- reading ---- */

static pn_status refuse_unknown(const char *owner, const char *name, const pn_option_rows *tables, size_t count,
                                pn_err *err)
{
    const char *near = NULL;
    char known[PN_ERR_MAX] = "";
    size_t used = 0;

    for (size_t t = 0; t < count; t++) {
        for (const pn_param *row = tables[t].params; row && row->name; row++) {
            int n = used < sizeof known
                        ? snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", row->name)
                        : 0;

            used += n > 0 ? (size_t)n : 0;
            near = pn_nearer(name, near, row->name);
        }
    }
    return pn_fail(err, PN_EINVAL, "%s: unknown option \"%.60s\"%s%s; it takes %s", owner, name,
                   near ? ", the nearest is " : "", near ? near : "", used ? known : "none");
}

/* A whole number in digits. */
static bool read_count(const char *text, size_t *out)
{
    unsigned long long number;

    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    number = strtoull(text, NULL, 10);
    *out = (size_t)number;
    return errno == 0 && number <= SIZE_MAX;
}

/* One number, several, or a name. */
static bool read_schedule(const option *given, const pn_param *row, pn_arg *arg)
{
    if (!given->all_numbers)
        arg->text = given->text;
    else if (given->value.vector.n == 1)
        arg->real = given->value.vector.data[0];
    else
        arg->vector = given->value.vector;
    return given->all_numbers ? given->value.vector.n > 0 : row->choices != NULL;
}

/* Text as what the row takes; false when it is no such thing. */
static bool read_text(const option *given, const pn_param *row, pn_arg *arg)
{
    arg->given = true;
    switch (row->kind) {
    case PN_REAL:
        arg->real = given->all_numbers ? given->value.vector.data[0] : (double)NAN;
        return given->all_numbers && given->value.vector.n == 1;
    case PN_COUNT:
        return read_count(given->text, &arg->count);
    case PN_FLAG:
        arg->flag = strcmp(given->text, "true") == 0;
        return arg->flag || strcmp(given->text, "false") == 0;
    case PN_CHOICE:
        arg->text = given->text;
        return true;
    case PN_VECTOR:
        arg->vector = given->value.vector;
        return given->all_numbers;
    case PN_SCHEDULE:
        return read_schedule(given, row, arg);
    case PN_MATRIX:
    case PN_OBJECT:
        break;
    }
    return false;
}

static bool read_value(const option *given, const pn_param *row, pn_arg *arg)
{
    if (given->kind == BY_TEXT)
        return read_text(given, row, arg);
    *arg = given->value;
    arg->text = given->text;
    if (given->kind == PN_OBJECT)
        return row->kind == PN_OBJECT && given->value.object && strcmp(row->choices[0], given->text) == 0;
    if (row->kind == PN_SCHEDULE)
        return given->kind == PN_REAL || given->kind == PN_COUNT || (given->kind == PN_CHOICE && row->choices) ||
               (given->kind == PN_VECTOR && given->value.vector.n > 0);
    return given->kind == (int)row->kind || (given->kind == PN_COUNT && row->kind == PN_REAL);
}

static pn_status refuse_kind(const char *owner, const pn_param *row, const option *given, pn_err *err)
{
    static const char *const kinds[] = {
        "a number", "a whole number", "true or false", "a name", "a vector", "a matrix", "an object",
    };
    char expects[128], got[96];

    if (row->kind == PN_OBJECT)
        (void)snprintf(expects, sizeof expects, "a %.60s, by pn_options_object", row->choices[0]);
    else if (row->kind == PN_CHOICE)
        (void)snprintf(expects, sizeof expects, "one of the names \"%.40s\", ...", row->choices[0]);
    else if (row->kind == PN_MATRIX)
        (void)snprintf(expects, sizeof expects, "a matrix, by pn_options_matrix");
    else
        (void)snprintf(expects, sizeof expects, "%s", pn_param_expects(row));
    if (given->kind == BY_TEXT)
        (void)snprintf(got, sizeof got, "\"%.60s\"", given->text);
    else if (given->kind == PN_OBJECT)
        (void)snprintf(got, sizeof got, given->value.object ? "a %.60s" : "NULL for a %.60s", given->text);
    else
        (void)snprintf(got, sizeof got, "%s", kinds[given->kind]);
    return pn_fail(err, PN_EINVAL, "%s: %s must be %s, got %s", owner, row->name, expects, got);
}

static pn_status read_option(const char *owner, const option *given, const pn_option_rows *tables, size_t count,
                             pn_err *err)
{
    for (size_t t = 0; t < count; t++) {
        size_t row = pn_param_find(tables[t].params, given->name);

        if (row == pn_param_count(tables[t].params))
            continue;
        if (tables[t].args[row].given)
            return pn_fail(err, PN_EINVAL, "%s: %s is given twice; give it once", owner, given->name);
        return read_value(given, &tables[t].params[row], &tables[t].args[row])
                   ? PN_OK
                   : refuse_kind(owner, &tables[t].params[row], given, err);
    }
    return refuse_unknown(owner, given->name, tables, count, err);
}

pn_status pn_options_spread(const pn_options *options, const char *owner, const pn_option_rows *tables, size_t count,
                            pn_err *err)
{
    if (options && options->short_of_memory)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for its options", owner);
    for (size_t t = 0; t < count; t++)
        memset(tables[t].args, 0, pn_param_count(tables[t].params) * sizeof *tables[t].args);
    for (const option *given = options ? options->first : NULL; given; given = given->next) {
        PN_TRY(read_option(owner, given, tables, count, err));
    }
    return PN_OK;
}

pn_status pn_options_read(const pn_options *options, const pn_table *table, const char *caller, const char *name,
                          pn_arg args[PN_ARGS_MAX], pn_err *err)
{
    const pn_row *row = pn_table_find(table->rows, name);
    char owner[80];

    if (!row)
        return pn_table_refuse(table, caller, name, err);
    (void)snprintf(owner, sizeof owner, "%s.%s", table->library, name);
    return pn_options_spread(options, owner, &(pn_option_rows){ row->params, args }, 1, err);
}
