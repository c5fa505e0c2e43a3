/* csv_plan.c -- what each column of a CSV file is for: separator, header, label, features.
 * Depends on: csv_plan.h, csv_text.h, labels.h, number.h, core.  Used by: csv.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/files/csv_plan.h"
#include "data/labels.h"
#include "data/number.h"

void pn_csv_plan_clear(pn_csv_plan *plan)
{
    for (size_t k = 0; plan->coding && k < plan->features; k++)
        pn_words_clear(&plan->coding[k].words);
    pn_free(plan->coding);
    pn_free(plan->header);
    pn_free(plan->role);
    memset(plan, 0, sizeof *plan);
}

/* ---- lines into fields ---- */

static bool is_blank(const char *at, char separator)
{
    return (*at == ' ' || *at == '\t') && *at != separator;
}

/* After the closing quote, or at the end of a line that has none; `at` is behind the opening one. */
static const char *quote_end(const char *at)
{
    for (; !pn_csv_is_end(at); at++) {
        if (*at == '"' && at[1] == '"')
            at++; /* a doubled quote stands for one */
        else if (*at == '"')
            return at + 1;
    }
    return at;
}

const char *pn_csv_field_end(const char *at, char separator)
{
    while (is_blank(at, separator))
        at++;
    if (*at == '"')
        at = quote_end(at + 1);
    while (*at != separator && !pn_csv_is_end(at))
        at++;
    return at;
}

size_t pn_csv_count(const char *line, char separator)
{
    size_t count = 1;

    for (line = pn_csv_field_end(line, separator); *line == separator; count++)
        line = pn_csv_field_end(line + 1, separator);
    return count;
}

bool pn_csv_field_is(const char *at, char separator, const char *name)
{
    const char *end = pn_csv_field_end(at, separator);

    while (is_blank(at, separator))
        at++;
    while (end > at && is_blank(end - 1, separator))
        end--;
    if (at < end && *at == '"') {
        for (at++; at < end && !(*at == '"' && at[1] != '"'); at++, name++) {
            at += *at == '"';
            if (*at != *name || *name == '\0') /* a damaged file may hold zero bytes */
                return false;
        }
        return *name == '\0';
    }
    return (size_t)(end - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0;
}

static bool is_number(const char *at, const char *end, void *c_locale)
{
    const char *after;
    double value;
    bool quoted;

    while (*at == ' ')
        at++;
    quoted = *at == '"';
    after = pn_number_read(at + quoted, &value, c_locale);
    if (!after)
        return false;
    after += quoted && *after == '"';
    while (after < end && (*after == ' ' || *after == '\t'))
        after++;
    return after == end;
}

static size_t count_numbers(const char *line, char separator, void *c_locale)
{
    size_t count = 0;

    for (;; line++) {
        const char *end = pn_csv_field_end(line, separator);

        count += is_number(line, end, c_locale);
        if (*end != separator)
            return count;
        line = end;
    }
}

char pn_csv_find_separator(const char *line)
{
    static const char candidates[] = { ',', ';', '\t' };
    char best = ',';
    size_t most = 1;

    for (size_t i = 0; i < sizeof candidates; i++) {
        size_t count = pn_csv_count(line, candidates[i]);

        if (count > most) {
            most = count;
            best = candidates[i];
        }
    }
    return best;
}

/* ---- options ---- */

static bool looks_up_names(const pn_csv_options *options)
{
    bool named = options->label_name || options->column_names;

    for (size_t k = 0; k < options->one_hot_count; k++)
        named = named || options->one_hot[k].name;
    return named;
}

static bool takes_text(const pn_csv_options *options)
{
    return options->one_hot_count > 0 || options->one_hot_text || options->labels.binary || options->labels.to;
}

pn_status pn_csv_check_options(const pn_csv_options *options, pn_err *err)
{
    char separator = options->separator;

    if (separator && strchr("\"\r\n+-.0123456789eE", separator))
        return pn_fail(err, PN_EINVAL,
                       "csv: sep must be a character that cannot be part of a number or end a line, "
                       "got '%c'",
                       separator);
    if (options->columns && options->column_names)
        return pn_fail(err, PN_EINVAL, "csv: columns are given by name or by number, not both");
    if ((options->columns || options->column_names) && options->column_count == 0)
        return pn_fail(err, PN_EINVAL, "csv: columns must name at least one feature");
    if (looks_up_names(options) && options->header == PN_HEADER_NO)
        return pn_fail(err, PN_EINVAL, "csv: columns asked for by name need a header line, but header = false");
    for (size_t k = 0; k < options->one_hot_count; k++) {
        if (options->one_hot[k].categories && options->one_hot[k].count == 0)
            return pn_fail(err, PN_EINVAL, "csv: the declared categories of a column are none");
    }
    return pn_labels_check("csv", &options->labels, err);
}

/* The column (from 0) of that name in the header. */
static pn_status find_name(const pn_csv_plan *plan, const pn_text *text, const char *name, size_t *column, pn_err *err)
{
    const char *at = plan->header;

    if (!at)
        return pn_fail(err, PN_EINVAL, "%.300s: column '%.80s' asked for by name, but the file has no header line",
                       text->path, name);
    for (*column = 0; *column < plan->columns; ++*column) {
        const char *end = pn_csv_field_end(at, plan->separator);

        if (pn_csv_field_is(at, plan->separator, name))
            return PN_OK;
        if (*end != plan->separator)
            break;
        at = end + 1;
    }
    return pn_fail(err, PN_EINVAL, "%.300s: no column is named '%.80s'; the header is %.*s", text->path, name,
                   (int)fmin(160.0, (double)strcspn(plan->header, "\r\n")), plan->header);
}

static pn_status check_column(const pn_csv_plan *plan, const pn_text *text, size_t number, const char *what,
                              pn_err *err)
{
    if (number == 0 || number > plan->columns)
        return pn_fail(err, PN_EINVAL, "%.300s: %s %zu asked for, the file has columns 1 to %zu", text->path, what,
                       number, plan->columns);
    return PN_OK;
}

static pn_status place_label(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, pn_err *err)
{
    size_t column = options->label_column ? options->label_column - 1 : plan->columns - 1;
    pn_status status = PN_OK;

    if (options->label_name)
        status = find_name(plan, text, options->label_name, &column, err);
    else if (options->label_column)
        status = check_column(plan, text, options->label_column, "label column", err);
    if (status == PN_OK)
        plan->role[column] = PN_CSV_LABEL;
    return status;
}

/* The k-th feature asked for (from 0). */
static pn_status place_feature(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, size_t k,
                               pn_err *err)
{
    size_t column = 0;
    pn_status status;

    if (options->column_names) {
        status = find_name(plan, text, options->column_names[k], &column, err);
    } else {
        status = check_column(plan, text, options->columns[k], "column", err);
        column = options->columns[k] - 1;
    }
    if (status != PN_OK)
        return status;
    if (plan->role[column] == PN_CSV_LABEL)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu is the label and cannot be a feature too", text->path,
                       column + 1);
    if (plan->role[column] != PN_CSV_SKIP)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu is asked for twice", text->path, column + 1);
    plan->role[column] = k;
    return PN_OK;
}

static void take_all_but_label(pn_csv_plan *plan)
{
    for (size_t column = 0; column < plan->columns; column++) {
        if (plan->role[column] != PN_CSV_LABEL)
            plan->role[column] = plan->features++;
    }
}

static pn_status place_one_hot(pn_csv_plan *plan, const pn_text *text, const pn_csv_one_hot *one_hot, pn_err *err)
{
    size_t column = one_hot->column - 1, role;

    PN_TRY(one_hot->name ? find_name(plan, text, one_hot->name, &column, err)
                         : check_column(plan, text, one_hot->column, "column", err));
    role = plan->role[column];
    if (role == PN_CSV_LABEL)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu of `one_hot` is the label; `labels` maps its values",
                       text->path, column + 1);
    if (role == PN_CSV_SKIP)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu of `one_hot` is not among `columns`", text->path,
                       column + 1);
    if (plan->coding[role].kind == PN_CSV_TEXT)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu is twice in `one_hot`", text->path, column + 1);
    return pn_csv_coding_declare(&plan->coding[role], one_hot, err);
}

static pn_status place_codings(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, pn_err *err)
{
    pn_status status = PN_OK;

    PN_TRY(pn_new_zeroed(&plan->coding, plan->features, err, "%.300s: out of memory for %zu columns", text->path,
                         plan->columns));
    for (size_t k = 0; k < plan->features; k++)
        plan->coding[k].kind = options->one_hot_text ? PN_CSV_UNDECIDED : PN_CSV_NUMBER;
    for (size_t k = 0; status == PN_OK && k < options->one_hot_count; k++)
        status = place_one_hot(plan, text, &options->one_hot[k], err);
    return status;
}

static pn_status assign_roles(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, pn_err *err)
{
    pn_status status;

    PN_TRY(pn_new(&plan->role, plan->columns, err, "%.300s: out of memory for %zu columns", text->path, plan->columns));
    for (size_t column = 0; column < plan->columns; column++)
        plan->role[column] = PN_CSV_SKIP;
    status = place_label(plan, text, options, err);
    if (status == PN_OK && (options->columns || options->column_names)) {
        plan->features = options->column_count;
        for (size_t k = 0; status == PN_OK && k < options->column_count; k++)
            status = place_feature(plan, text, options, k, err);
    } else if (status == PN_OK) {
        take_all_but_label(plan);
    }
    if (status == PN_OK)
        status = place_codings(plan, text, options, err);
    return status;
}

/* ---- the first lines ---- */

static pn_status keep_header(pn_csv_plan *plan, const pn_text *text, const char *line, pn_err *err)
{
    size_t length = 1;

    while (line[length - 1] != '\n') /* no strchr: a damaged file may hold zero bytes */
        length++;
    plan->header_found = true;
    PN_TRY(pn_new(&plan->header, length + 1, err, "%.300s: out of memory", text->path));
    memcpy(plan->header, line, length);
    plan->header[length] = '\0';
    return PN_OK;
}

pn_status pn_csv_check_guess(pn_csv_plan *plan, const pn_text *text, const char *line, pn_err *err)
{
    bool unclear = plan->header_guessed && count_numbers(line, plan->separator, text->c_locale) == 0;

    plan->header_guessed = false;
    if (unclear)
        return pn_fail(err, PN_EINVAL,
                       "%.300s: the first two lines hold no number, so that the first may be a header or a record: say "
                       "header = true or false",
                       text->path);
    return PN_OK;
}

static pn_status learn_columns(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, const char *line,
                               pn_err *err)
{
    plan->columns = pn_csv_count(line, plan->separator);
    plan->first_line = text->line;
    if (plan->columns < 2)
        return pn_fail(err, PN_EPARSE,
                       "%.300s:%zu:1: expected a label and at least one feature, found 1 field (separator '%c'; `sep` "
                       "names another)",
                       text->path, text->line, plan->separator);
    return assign_roles(plan, text, options, err);
}

pn_status pn_csv_plan_line(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, const char *line,
                           bool *is_header, pn_err *err)
{
    bool named = looks_up_names(options);
    size_t numbers;
    pn_status status = PN_OK;

    *is_header = false;
    if (!plan->separator)
        plan->separator = options->separator ? options->separator : pn_csv_find_separator(line);
    numbers = count_numbers(line, plan->separator, text->c_locale);
    if (!plan->header_found && options->header == PN_HEADER_AUTO) {
        plan->header_guessed = takes_text(options) && !named && numbers == 0;
        *is_header =
            plan->header_guessed || ((named || !takes_text(options)) && numbers < pn_csv_count(line, plan->separator));
    }
    *is_header = *is_header || (!plan->header_found && options->header == PN_HEADER_YES);
    if (*is_header)
        status = keep_header(plan, text, line, err);
    /* A header that the caller vouches for and that no name is looked up in may have any number of fields. */
    if (status == PN_OK && !(*is_header && options->header == PN_HEADER_YES && !named))
        status = learn_columns(plan, text, options, line, err);
    return status;
}
