/* libsvm.c -- reads "label index:value ..." text.  Depends on: dataset.h, text.h, number.h, spool.h, labels.h.
 * Used by: bindings. */
#include <math.h>
#include <string.h>

#include "data/build.h"
#include "data/labels.h"
#include "data/number.h"
#include "data/spool.h"
#include "data/files/text.h"

#define LARGEST_INDEX 2147483648u /* 2^31 */

/* Of a dense table as wide as the largest index: what it may take always, and how many of its numbers there may be for
 * one in the file where it takes more. */
#define FREE_BYTES 0x1p26
#define THINNEST   1000.0

typedef struct reader {
    pn_text text;
    pn_spool spool;
    const pn_libsvm_options *options;
    size_t largest_index;
    size_t limit; /* indices up to here are allowed */
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* At the end of what a record may hold: the line's end (also CR LF) or a comment. */
static bool is_end(const char *at)
{
    return *at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n');
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static pn_status no_memory(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", self->text.path, self->text.line);
}

/* Finite, and followed by white space or the end. */
static pn_status read_value(reader *self, const char *line, const char **at, double *value, const char *what,
                            pn_err *err)
{
    const char *after = pn_number_next(*at, value, self->text.c_locale);

    if (!after || !isfinite(*value) || !(is_blank(*after) || is_end(after)))
        return pn_text_fail(&self->text, line, *at, "", err, "%s (a finite number)", what);
    *at = after;
    return PN_OK;
}

static pn_status map_label(const reader *self, const char *line, const char *at, double *label, pn_err *err)
{
    const pn_label_options *labels = &self->options->labels;
    char known[80];

    for (size_t i = 0; i < labels->count; i++) {
        if (*label == labels->from[i]) {
            *label = labels->to[i];
            return PN_OK;
        }
    }
    pn_labels_list(known, sizeof known, labels);
    return pn_text_fail(&self->text, line, at, "", err, "a label that the `labels` option maps (%s)", known);
}

static pn_status wrong_index(const reader *self, const char *line, const char *at, uint64_t index, size_t previous,
                             pn_err *err)
{
    if (index == 0)
        return pn_text_fail(&self->text, line, at, "", err, "an index from 1");
    if (index > self->limit)
        return pn_text_fail(&self->text, line, at, "", err, "an index up to %zu%s", self->limit,
                            self->options->cols ? " (`cols`)" : "");
    return pn_text_fail(&self->text, line, at, "", err, "an index above %zu (they rise along a line)", previous);
}

/* index:value */
static pn_status read_entry(reader *self, const char *line, const char **cursor, size_t *previous, pn_err *err)
{
    const char *at = *cursor, *start = at;
    uint64_t index = 0;
    unsigned digit;
    double value;

    while ((digit = (unsigned)(unsigned char)*at - '0') <= 9) {
        index = index <= LARGEST_INDEX ? index * 10 + digit : index;
        at++;
    }
    if (at == start)
        return pn_text_fail(&self->text, line, at, "", err, "index:value");
    if (*at != ':')
        return pn_text_fail(&self->text, line, at, "", err, "':' after the index");
    if (index <= *previous || index > self->limit)
        return wrong_index(self, line, start, index, *previous, err);
    at++;
    PN_TRY(read_value(self, line, &at, &value, "a value", err));
    if (!pn_spool_entry(&self->spool, (uint32_t)index, value))
        return no_memory(self, err);
    *previous = (size_t)index;
    *cursor = at;
    return PN_OK;
}

static pn_status read_record(reader *self, const char *line, const char *at, pn_err *err)
{
    const char *start = at;
    size_t previous = 0;
    double label;
    pn_status status = read_value(self, line, &at, &label, "a label", err);

    if (status == PN_OK && self->options->labels.to)
        status = map_label(self, line, start, &label, err);
    if (status == PN_OK && !pn_spool_label(&self->spool, label))
        status = no_memory(self, err);
    while (status == PN_OK && !is_end(at = skip_blanks(at)))
        status = read_entry(self, line, &at, &previous, err);
    if (previous > self->largest_index)
        self->largest_index = previous;
    return status;
}

static pn_status read_line(void *self, const char *line, pn_err *err)
{
    const char *at = skip_blanks(line);

    return is_end(at) ? PN_OK : read_record(self, line, at, err);
}

static pn_status read_all(reader *self, pn_err *err)
{
    pn_status status = pn_text_each_line(&self->text, read_line, self, err);

    if (status == PN_OK && self->spool.records == 0)
        status = pn_fail(err, PN_EPARSE, "%.300s: the file holds no records", self->text.path);
    if (status == PN_OK && self->options->cols == 0 && self->largest_index == 0)
        status =
            pn_fail(err, PN_EPARSE, "%.300s: the file holds no features; give their number as `cols`", self->text.path);
    return status;
}

static pn_status check_options(const pn_libsvm_options *options, pn_err *err)
{
    if (options->cols > LARGEST_INDEX)
        return pn_fail(err, PN_EINVAL, "libsvm: cols must be at most %u, got %zu", LARGEST_INDEX, options->cols);
    return pn_labels_check("libsvm", &options->labels, err);
}

/* One large index in a few bytes would make a dense table of any size, unless somebody said how wide it is. */
static pn_status check_width(const reader *self, pn_err *err)
{
    double cells = (double)self->spool.records * (double)self->largest_index, bytes = 8.0 * cells;

    if (self->options->storage != PN_STORAGE_DENSE || self->options->cols > 0 || bytes <= FREE_BYTES ||
        (double)self->spool.entries * THINNEST >= cells)
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "%.300s: the largest index is %zu, so that a dense table of %zu records takes %.0f MB, and the file "
                   "has %zu values; give cols=%zu if it is right, or leave sparse=false out",
                   self->text.path, self->largest_index, self->spool.records, bytes / 0x1p20, self->spool.entries,
                   self->largest_index);
}

static pn_status finish(pn_dataset **out, reader *self, pn_err *err)
{
    const pn_libsvm_options *options = self->options;
    pn_dataset *data = NULL;
    pn_status status = pn_spool_finish(&data, &self->spool, options->cols ? options->cols : self->largest_index,
                                       options->storage, NULL, self->text.name, err);

    if (status == PN_OK && options->labels.binary)
        status = pn_labels_make_binary(data, self->text.path, err);
    if (status == PN_OK)
        status = pn_dataset_set_origin(data, pn_ahead_content(self->text.ahead), err);
    if (status != PN_OK) {
        pn_dataset_free(data);
        return status;
    }
    pn_labels_enforce(data, &options->labels);
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_load_libsvm(pn_dataset **out, const char *path, const pn_libsvm_options *options, pn_task *task,
                                 pn_err *err)
{
    static const pn_libsvm_options defaults = { 0 };
    reader self = { .options = options ? options : &defaults };
    pn_status status = check_options(self.options, err);

    self.limit = self.options->cols ? self.options->cols : LARGEST_INDEX;
    if (status == PN_OK)
        status = pn_text_open(&self.text, path, task, err);
    if (status != PN_OK)
        return status;
    status = read_all(&self, err);
    if (status == PN_OK)
        status = check_width(&self, err);
    if (status == PN_OK)
        status = finish(out, &self, err);
    pn_spool_clear(&self.spool);
    pn_text_close(&self.text);
    return status;
}
