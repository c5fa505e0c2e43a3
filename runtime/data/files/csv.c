/* csv.c -- reads comma-separated values with RFC 4180 quoting; a quoted field ends on its line.
 * The plan of a file says what each column is; it is made from the options, the first line and, when needed, its names.
 * Depends on: dataset.h, text.h, number.h, spool.h, labels.h, csv_plan.h, csv_text.h.  Used by: bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/files/csv_plan.h"
#include "data/files/csv_text.h"
#include "data/labels.h"
#include "data/number.h"
#include "data/spool.h"
#include "data/files/text.h"

#define FREE_BYTES   0x1p26 /* of a dense table, however few numbers are in it */
#define SPARSE_BELOW 5      /* features for each column, from which on a larger one is sparse */

typedef struct reader {
    pn_text text;
    pn_spool spool;
    pn_csv_plan plan;
    const pn_csv_options *options;
    double *row;      /* [plan.features]: features, or codes of categories, in the order asked for */
    pn_csv_word word; /* the text in hand */
    bool text_labels; /* binary labels that are text: the spool holds 0 and 1 */
    pn_words label_words;
} reader;

static pn_status no_memory(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", self->text.path, self->text.line);
}

/* Adds what can be done about a field that is no number at all. */
static pn_status with_hint(pn_err *err, pn_status status, const char *hint)
{
    size_t used = err ? strlen(err->message) : 0;

    if (err)
        (void)snprintf(err->message + used, sizeof err->message - used, "%s", hint);
    return status;
}

/* One number, perhaps in quotes; moves to the separator or the end of the line. */
static pn_status read_number(pn_csv_cursor *cursor, double *value, const char *hint, pn_err *err)
{
    const pn_text *text = cursor->text;
    const char *end = pn_csv_number(cursor, value), *start, *after;
    char separator = cursor->separator, stop[2] = { separator, '\0' };
    double part;

    if (end && isfinite(*value)) {
        cursor->at = end;
        return PN_OK;
    }
    start = pn_csv_skip_blanks(cursor->at, separator);
    if (*start == separator || pn_csv_is_end(start))
        return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected a finite number, found an empty field", text->path,
                       text->line, start - cursor->line + 1);
    after = pn_number_read(start + (*start == '"'), &part, text->c_locale);
    return with_hint(err, pn_text_fail(text, cursor->line, start, stop, err, "a finite number"), after ? "" : hint);
}

/* A column that may be either becomes what its first record is. */
static void decide(pn_csv_coding *coding, const pn_csv_cursor *cursor)
{
    double value;
    const char *start = pn_csv_skip_blanks(cursor->at, cursor->separator);
    bool empty = *start == cursor->separator || pn_csv_is_end(start); /* no reason to call it text */

    coding->kind = pn_csv_number(cursor, &value) || empty ? PN_CSV_NUMBER : PN_CSV_ALL_TEXT;
}

static pn_status read_feature(reader *self, pn_csv_cursor *cursor, size_t feature, pn_err *err)
{
    pn_csv_coding *coding = &self->plan.coding[feature];

    if (coding->kind == PN_CSV_UNDECIDED)
        decide(coding, cursor);
    if (coding->kind == PN_CSV_NUMBER)
        return read_number(cursor, &self->row[feature], "; `one_hot` makes a column of text into 0/1 features", err);
    return pn_csv_read_code(coding, &self->word, cursor, &self->row[feature], err);
}

static pn_status read_label(reader *self, pn_csv_cursor *cursor, double *label, pn_err *err)
{
    const pn_label_options *labels = &self->options->labels;
    double value;

    if (labels->to)
        return pn_csv_map_label(labels, &self->word, cursor, label, err);
    if (labels->binary && self->spool.records == 0)
        self->text_labels = !pn_csv_number(cursor, &value);
    if (self->text_labels)
        return pn_csv_binary_label(&self->label_words, &self->word, cursor, label, err);
    return read_number(cursor, label, "; `labels` maps text to numbers", err);
}

static pn_status wrong_count(const reader *self, const char *line, const char *at, size_t found, pn_err *err)
{
    const char *hint = self->plan.header_found && self->options->header == PN_HEADER_AUTO
                           ? "; if the first line is not a header of names, say header = true to pass over it"
                           : "";

    return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected %zu fields as in line %zu, found %zu%s", self->text.path,
                   self->text.line, at - line + 1, self->plan.columns, self->plan.first_line, found, hint);
}

/* Any field; the byte after it.  The frequent ones, plain numbers of features, have been tried by the caller. */
static const char *read_field(reader *self, const char *line, const char *at, size_t role, double *label,
                              pn_status *status, pn_err *err)
{
    pn_csv_cursor cursor = { &self->text, line, at, self->plan.separator };

    if (role == PN_CSV_SKIP)
        cursor.at = pn_csv_field_end(at, self->plan.separator);
    else if (role == PN_CSV_LABEL)
        *status = read_label(self, &cursor, label, err);
    else
        *status = read_feature(self, &cursor, role, err);
    return cursor.at;
}

static pn_status keep_record(reader *self, double label, pn_err *err)
{
    bool fine = pn_spool_label(&self->spool, label);

    for (size_t j = 0; fine && j < self->plan.features; j++)
        fine = pn_spool_entry(&self->spool, (uint32_t)(j + 1), self->row[j]);
    return fine ? PN_OK : no_memory(self, err);
}

static pn_status read_record(reader *self, const char *line, pn_err *err)
{
    const pn_csv_plan *plan = &self->plan;
    const char *at = line;
    double label = 0.0, value = 0.0;

    for (size_t column = 0; column < plan->columns; column++) {
        size_t role = plan->role[column];
        bool last = column + 1 == plan->columns;
        bool plain = role < plan->features && plan->coding[role].kind == PN_CSV_NUMBER;
        const char *end = plain ? pn_csv_number_at(at, plan->separator, self->text.c_locale, &value) : NULL;

        if (end && isfinite(value)) {
            self->row[role] = value;
            at = end;
        } else {
            pn_status status = PN_OK;

            at = read_field(self, line, at, role, &label, &status, err);
            if (status != PN_OK)
                return status;
        }
        if (last ? !pn_csv_is_end(at) : *at != plan->separator)
            return wrong_count(self, line, at, pn_csv_count(line, plan->separator), err);
        at++;
    }
    return keep_record(self, label, err);
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

static pn_status read_line(void *of, const char *line, pn_err *err)
{
    reader *self = of;
    bool is_header = false;
    pn_status status = PN_OK;

    if (pn_csv_is_end(pn_csv_skip_blanks(line, '\0')) && self->plan.separator != '\t')
        return PN_OK;
    if (pn_csv_is_end(line))
        return PN_OK;
    if (!self->plan.role)
        status = plan_from(self, line, &is_header, err);
    if (status == PN_OK && !is_header && self->plan.header_guessed)
        status = pn_csv_check_guess(&self->plan, &self->text, line, err);
    if (status == PN_OK && !is_header)
        status = read_record(self, line, err);
    return status;
}

static pn_status read_all(reader *self, pn_err *err)
{
    pn_status status = pn_text_each_line(&self->text, read_line, self, err);

    if (status == PN_OK && self->spool.records == 0)
        status = pn_fail(err, PN_EPARSE, "%.300s: the file holds no records", self->text.path);
    return status;
}

/* ---- from columns to features ---- */

/* place[k]: where the categories of column k come among its features; NULL for numbers. */
static pn_status place_categories(const reader *self, size_t **place, pn_err *err)
{
    for (size_t k = 0; k < self->plan.features; k++) {
        const pn_csv_coding *coding = &self->plan.coding[k];

        if (coding->kind == PN_CSV_NUMBER)
            continue;
        place[k] = pn_alloc(coding->words.count, sizeof **place);
        if (!place[k])
            return no_memory(self, err);
        for (size_t word = 0; coding->declared && word < coding->words.count; word++)
            place[k][word] = word;
        if (!coding->declared && !pn_words_sort(&coding->words, place[k], self->text.c_locale))
            return no_memory(self, err);
    }
    return PN_OK;
}

static void lay_out(const reader *self, size_t *const *place, size_t *first)
{
    first[0] = 0;
    for (size_t k = 0; k < self->plan.features; k++)
        first[k + 1] = first[k] + (place[k] ? self->plan.coding[k].words.count : 1);
}

/* Categories that fill a large table with zeros are kept without them.  By counts of records and columns alone: with
 * declared categories all of that is public. */
static pn_storage storage_of(const reader *self, size_t p)
{
    double cells = (double)self->spool.records * (double)p;

    if (self->options->storage != PN_STORAGE_AUTO)
        return self->options->storage;
    return sizeof(double) * cells > FREE_BYTES && self->plan.features * SPARSE_BELOW < p ? PN_STORAGE_SPARSE
                                                                                         : PN_STORAGE_DENSE;
}

static pn_status make_features(pn_dataset **out, reader *self, pn_err *err)
{
    size_t columns = self->plan.features;
    size_t **place = pn_calloc(columns, sizeof *place), *first = pn_alloc(columns + 1, sizeof *first);
    pn_spool_layout layout = { columns, first, (const size_t *const *)place };
    pn_status status = place && first ? place_categories(self, place, err) : no_memory(self, err);

    if (status == PN_OK) {
        lay_out(self, place, first);
        status = pn_spool_finish(out, &self->spool, first[columns], storage_of(self, first[columns]), &layout,
                                 self->text.name, err);
    }
    if (status == PN_OK)
        status = pn_csv_name_features(&self->plan, layout.place, *out, err);
    for (size_t k = 0; place && k < columns; k++)
        pn_free(place[k]);
    pn_free(place);
    pn_free(first);
    return status;
}

/* Two texts, kept as 0 and 1 in the order in which they came, become -1 and 1 in sorted order. */
static pn_status sign_texts(pn_dataset *data, const reader *self, pn_err *err)
{
    size_t place[2];

    if (self->label_words.count < 2)
        return pn_fail(err, PN_EDOMAIN, "%.300s: binary labels need two label values, found only '%.80s'",
                       self->text.path, pn_words_at(&self->label_words, 0));
    if (!pn_words_sort(&self->label_words, place, self->text.c_locale))
        return no_memory(self, err);
    for (size_t i = 0; i < data->n; i++)
        data->y[i] = place[data->y[i] != 0.0] == 0 ? -1.0 : 1.0;
    return PN_OK;
}

static pn_status finish(pn_dataset **out, reader *self, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status = make_features(&data, self, err);

    if (status == PN_OK && self->text_labels)
        status = sign_texts(data, self, err);
    else if (status == PN_OK && self->options->labels.binary)
        status = pn_labels_make_binary(data, self->text.path, err);
    if (status == PN_OK)
        status = pn_dataset_set_origin(data, pn_ahead_content(self->text.ahead), err);
    if (status != PN_OK) {
        pn_dataset_free(data);
        return status;
    }
    pn_labels_enforce(data, &self->options->labels);
    for (size_t k = 0; k < self->plan.features; k++) {
        const pn_csv_coding *coding = &self->plan.coding[k];

        data->bounds.categories_found |= coding->kind != PN_CSV_NUMBER && !coding->declared;
    }
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_load_csv(pn_dataset **out, const char *path, const pn_csv_options *options, pn_task *task,
                              pn_err *err)
{
    static const pn_csv_options defaults = { 0 };
    reader self = { .options = options ? options : &defaults };
    pn_status status = pn_csv_check_options(self.options, err);

    if (status == PN_OK)
        status = pn_text_open(&self.text, path, task, err);
    if (status != PN_OK)
        return status;
    status = read_all(&self, err);
    if (status == PN_OK)
        status = finish(out, &self, err);
    pn_free(self.row);
    pn_words_clear(&self.label_words);
    pn_csv_word_clear(&self.word);
    pn_csv_plan_clear(&self.plan);
    pn_spool_clear(&self.spool);
    pn_text_close(&self.text);
    return status;
}
