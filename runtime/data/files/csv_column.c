/* csv_column.c -- one column of a CSV file as text: what tells rows apart.
 * Depends on: alignment.h, csv_plan.h, csv_text.h, text.h.  Used by: bindings. */
#include <string.h>

#include "core/alloc.h"
#include "data/alignment.h"
#include "data/files/csv_plan.h"
#include "data/files/csv_text.h"

typedef struct reader {
    pn_text text;
    const pn_csv_column_options *options;
    pn_csv_word word;
    char separator;
    size_t fields, first_line; /* in every line; the line that told */
    size_t column;             /* from 0 */
    char *bytes;               /* the words, one after the other */
    size_t used, room;
    size_t *sizes; /* [capacity] */
    size_t count, capacity;
} reader;

static pn_status no_memory(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", self->text.path, self->text.line);
}

static pn_status keep_word(reader *self, pn_err *err)
{
    if (!self->bytes || self->room - self->used < self->word.length) {
        size_t room = 2 * self->room + self->word.length + 4096;
        char *larger = pn_resize(self->bytes, room, 1);

        if (!larger)
            return no_memory(self, err);
        self->bytes = larger;
        self->room = room;
    }
    if (self->count == self->capacity) {
        size_t capacity = 2 * self->capacity + 1024;
        size_t *larger = pn_resize(self->sizes, capacity, sizeof *larger);

        if (!larger)
            return no_memory(self, err);
        self->sizes = larger;
        self->capacity = capacity;
    }
    memcpy(self->bytes + self->used, self->word.text, self->word.length);
    self->used += self->word.length;
    self->sizes[self->count++] = self->word.length;
    return PN_OK;
}

static pn_status find_name(reader *self, const char *line, pn_err *err)
{
    const char *at = line;

    for (self->column = 0; self->column < self->fields; self->column++) {
        if (pn_csv_field_is(at, self->separator, self->options->name))
            return PN_OK;
        at = pn_csv_field_end(at, self->separator) + 1;
    }
    return pn_fail(err, PN_EINVAL, "%.300s: no column is named '%.80s'; the header is %.*s", self->text.path,
                   self->options->name, (int)(strcspn(line, "\r\n") % 160), line);
}

/* The first line; *is_header when the column is looked up in it. */
static pn_status learn(reader *self, const char *line, bool *is_header, pn_err *err)
{
    self->separator = pn_csv_find_separator(line);
    self->fields = pn_csv_count(line, self->separator);
    self->first_line = self->text.line;
    *is_header = self->options->name != NULL;
    if (*is_header)
        return find_name(self, line, err);
    self->column = self->options->column - 1;
    if (self->options->column == 0 || self->options->column > self->fields)
        return pn_fail(err, PN_EINVAL, "%.300s: column %zu asked for, the file has columns 1 to %zu", self->text.path,
                       self->options->column, self->fields);
    return PN_OK;
}

static pn_status read_record(reader *self, const char *line, pn_err *err)
{
    pn_csv_cursor cursor = { &self->text, line, line, self->separator };
    size_t found = pn_csv_count(line, self->separator);
    pn_status status;

    if (found != self->fields)
        return pn_fail(err, PN_EPARSE, "%.300s:%zu:1: expected %zu fields as in line %zu, found %zu", self->text.path,
                       self->text.line, self->fields, self->first_line, found);
    for (size_t k = 0; k < self->column; k++)
        cursor.at = pn_csv_field_end(cursor.at, self->separator) + 1;
    status = pn_csv_read_word(&self->word, &cursor, err);
    return status == PN_OK ? keep_word(self, err) : status;
}

static pn_status read_line(void *of, const char *line, pn_err *err)
{
    reader *self = of;
    bool is_header = false;
    pn_status status = PN_OK;

    if (pn_csv_is_end(pn_csv_skip_blanks(line, '\0')) && (self->separator != '\t' || pn_csv_is_end(line)))
        return PN_OK;
    if (self->fields == 0)
        status = learn(self, line, &is_header, err);
    if (status == PN_OK && !is_header)
        status = read_record(self, line, err);
    return status;
}

/* Without a name to look up, a line too many is the header. */
static pn_status count_records(const reader *self, size_t *skipped, pn_err *err)
{
    size_t records = self->options->records;

    *skipped = !self->options->name && self->count == records + 1 ? 1 : 0;
    if (self->count - *skipped != records)
        return pn_fail(err, PN_EDIM, "%.300s: %zu identifiers in it, the data set has %zu records", self->text.path,
                       self->count, records);
    return PN_OK;
}

static pn_status hand_out(pn_identifiers *out, reader *self, pn_err *err)
{
    size_t skipped = 0, at = 0;
    const char **ids;

    PN_TRY(count_records(self, &skipped, err));
    ids = pn_alloc(self->count, sizeof *ids);
    if (!ids)
        return no_memory(self, err);
    for (size_t i = 0; i < self->count; i++) {
        if (i >= skipped)
            ids[i - skipped] = self->bytes + at;
        at += self->sizes[i];
    }
    self->count -= skipped;
    memmove(self->sizes, self->sizes + skipped, self->count * sizeof *self->sizes);
    *out = (pn_identifiers){ ids, self->sizes, self->count, self->bytes };
    self->sizes = NULL;
    self->bytes = NULL;
    return PN_OK;
}

pn_status pn_csv_column(pn_identifiers *out, const char *path, const pn_csv_column_options *options, pn_task *task,
                        pn_err *err)
{
    reader self = { .options = options };
    pn_status status;

    PN_TRY(pn_text_open(&self.text, path, task, err));
    status = pn_text_each_line(&self.text, read_line, &self, err);
    if (status == PN_OK)
        status = hand_out(out, &self, err);
    pn_free(self.bytes);
    pn_free(self.sizes);
    pn_csv_word_clear(&self.word);
    pn_text_close(&self.text);
    return status;
}
