/* csv.c -- reads numeric comma-separated values with RFC 4180 quoting; a quoted field ends on its line.
 * The plan of a file says what each column is; it is made from the options, the first line and, when needed, its names.
 * Depends on: dataset.h, text.h, number.h, store.h, build.h, csv_plan.h.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/csv_plan.h"
#include "data/number.h"
#include "data/store.h"
#include "data/text.h"

typedef struct reader {
    pn_text text;
    pn_store store;
    pn_csv_plan plan;
    const pn_csv_options *options;
    double *row; /* [plan.features]: features in the order asked for */
} reader;

static pn_status no_memory(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", self->text.path, self->text.line);
}

static bool is_end(const char *at)
{
    return *at == '\n' || (*at == '\r' && at[1] == '\n');
}

static const char *skip_blanks(const char *at, char separator)
{
    while ((*at == ' ' || *at == '\t') && *at != separator)
        at++;
    return at;
}

/* One number, perhaps in quotes; moves to the separator or the end of the line. */
static pn_status read_number(const reader *self, const char *line, const char **cursor, double *value, pn_err *err)
{
    char separator = self->plan.separator, stop[2] = { separator, '\0' };
    const char *start = skip_blanks(*cursor, separator), *at = start;
    bool quoted = *at == '"';

    if (quoted)
        at = skip_blanks(at + 1, separator);
    at = pn_number_next(at, value, self->text.c_locale);
    if (at)
        at = skip_blanks(at, separator);
    if (at && quoted)
        at = *at == '"' ? skip_blanks(at + 1, separator) : NULL;
    if (!at || !isfinite(*value) || !(*at == separator || is_end(at))) {
        if (*start == separator || is_end(start))
            return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected a finite number, found an empty field",
                           self->text.path, self->text.line, start - line + 1);
        return pn_text_fail(&self->text, line, start, stop, err, "a finite number");
    }
    *cursor = at;
    return PN_OK;
}

static pn_status wrong_count(const reader *self, const char *line, const char *at, size_t found, pn_err *err)
{
    const char *hint = self->plan.header_found && self->options->header == PN_HEADER_AUTO
                           ? "; if the first line is not a header of names, say header = true to pass over it"
                           : "";

    return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected %zu fields as in line %zu, found %zu%s", self->text.path,
                   self->text.line, at - line + 1, self->plan.columns, self->plan.first_line, found, hint);
}

static pn_status read_record(reader *self, const char *line, pn_err *err)
{
    const pn_csv_plan *plan = &self->plan;
    const char *at = line;
    double label = 0.0, value;

    for (size_t column = 0; column < plan->columns; column++) {
        size_t role = plan->role[column];
        bool last = column + 1 == plan->columns;

        if (role == PN_CSV_SKIP) {
            at = pn_csv_field_end(at, plan->separator);
        } else {
            pn_status status = read_number(self, line, &at, &value, err);

            if (status != PN_OK)
                return status;
            if (role == PN_CSV_LABEL)
                label = value;
            else
                self->row[role] = value;
        }
        if (last ? !is_end(at) : *at != plan->separator)
            return wrong_count(self, line, at, pn_csv_count(line, plan->separator), err);
        at++;
    }
    if (!pn_store_label(&self->store, label))
        return no_memory(self, err);
    for (size_t j = 0; j < plan->features; j++) {
        if (!pn_store_entry(&self->store, (uint32_t)(j + 1), self->row[j]))
            return no_memory(self, err);
    }
    return PN_OK;
}

/* The first lines make the plan; *is_header tells the caller to pass over this one. */
static pn_status plan_from(reader *self, const char *line, bool *is_header, pn_err *err)
{
    pn_status status = pn_csv_plan_line(&self->plan, &self->text, self->options, line, is_header, err);

    if (status == PN_OK && self->plan.role && !self->row) {
        self->row = pn_alloc(self->plan.features, sizeof(double));
        if (!self->row)
            status = no_memory(self, err);
    }
    return status;
}

static pn_status read_line(reader *self, const char *line, pn_err *err)
{
    bool is_header = false;
    pn_status status = PN_OK;

    if (is_end(skip_blanks(line, '\0')) && self->plan.separator != '\t')
        return PN_OK;
    if (is_end(line))
        return PN_OK;
    if (!self->plan.role)
        status = plan_from(self, line, &is_header, err);
    if (status == PN_OK && !is_header)
        status = read_record(self, line, err);
    return status;
}

static pn_status read_all(reader *self, pn_err *err)
{
    char *line, *end;
    pn_status status;

    while ((status = pn_text_lines(&self->text, &line, &end, err)) == PN_OK && line < end) {
        while (line < end) {
            self->text.line++;
            status = read_line(self, line, err);
            if (status != PN_OK)
                return status;
            line = (char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        }
    }
    if (status == PN_OK && self->store.records == 0)
        status = pn_fail(err, PN_EPARSE, "%.300s: no records in it", self->text.path);
    return status;
}

pn_status pn_load_csv(pn_dataset **out, const char *path, const pn_csv_options *options, pn_task *task, pn_err *err)
{
    static const pn_csv_options defaults = { 0 };
    reader self = { .options = options ? options : &defaults };
    pn_dataset *data = NULL;
    pn_status status = pn_csv_check_options(self.options, err);

    if (status == PN_OK)
        status = pn_text_open(&self.text, path, task, err);
    if (status != PN_OK)
        return status;
    status = read_all(&self, err);
    if (status == PN_OK)
        status = pn_store_finish(&data, &self.store, self.plan.features, PN_STORAGE_DENSE, self.text.name, err);
    if (status == PN_OK) {
        pn_dataset_see_labels(data);
        *out = data;
    }
    pn_free(self.row);
    pn_csv_plan_clear(&self.plan);
    pn_store_clear(&self.store);
    pn_text_close(&self.text);
    return status;
}
