/* recipe_file.c -- a data set from a CSV file by a recipe, the texts of its columns, and their names.
 * Depends on: recipe.h, recipe_field.h, data (text.h, csv_text.h, csv_plan.h, spool.h), core.  Used by: hosts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/files/csv_plan.h"
#include "data/build.h"
#include "data/files/text.h"
#include "recipe/recipe_field.h"

typedef struct reader {
    pn_text text;
    pn_spool spool;
    const pn_recipe *recipe; /* or NULL: */
    pn_recipe_text *texts;   /* [wanted_count] what is read; NULL too: the names alone */
    const char *const *wanted;
    size_t wanted_count;
    const pn_recipe_file *options;
    pn_recipe_reading reading;
    pn_field_reader field;
    pn_words names, twice; /* twice: those that came again */
    size_t *role;          /* [width] NULL until the header was read */
    size_t width;          /* fields of every record */
    double *kept;          /* [recipe->stored] the record in hand */
    double label;
    bool labelled;
} reader;

static pn_status no_memory(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", self->text.path, self->text.line);
}

/* Puts the place of the byte `at` of the record before a message that has none. */
static pn_status placed(const reader *self, const char *line, const char *at, pn_status status, pn_err *err)
{
    char message[PN_ERR_MAX];

    if (!err)
        return status;
    (void)snprintf(message, sizeof message, "%s", err->message);
    return pn_fail(err, status, "%.300s:%zu:%td: %.120s", self->text.path, self->text.line, at - line + 1, message);
}

/* ---- the header ---- */

static char find_separator(const reader *self, const char *line)
{
    if (self->options->separator)
        return self->options->separator;
    if (!self->options->decimal_comma)
        return pn_csv_find_separator(line);
    return pn_csv_count(line, '\t') > pn_csv_count(line, ';') ? '\t' : ';';
}

/* A name that is empty, as often the first of a table whose rows are numbered, or was there before, is that of no
 * column. */
static pn_status add_place(reader *self, pn_err *err)
{
    size_t before = self->names.count;
    char number[40];
    int length = snprintf(number, sizeof number, "(column %zu)", before + 1);

    if (pn_words_add(&self->names, number, (size_t)length) == PN_NO_WORD)
        return no_memory(self, err);
    if (self->names.count == before)
        return pn_fail(err, PN_EINVAL, "%.300s: two columns are named '%s'", self->text.path, number);
    return PN_OK;
}

static pn_status add_name(reader *self, const char *name, size_t length, pn_err *err)
{
    size_t before = self->names.count;

    if (length == 0)
        return add_place(self, err);
    if (pn_words_add(&self->names, name, length) == PN_NO_WORD)
        return no_memory(self, err);
    if (self->names.count > before)
        return PN_OK;
    if (pn_words_add(&self->twice, name, length) == PN_NO_WORD)
        return no_memory(self, err);
    return add_place(self, err);
}

/* Of names that are there twice nobody asks. */
static pn_status check_twice(const reader *self, pn_err *err)
{
    for (size_t k = 0; k < self->names.count; k++) {
        const char *name = pn_words_at(&self->names, k);

        if (self->role[k] != PN_RECIPE_SKIP && pn_words_find(&self->twice, name, strlen(name)) != PN_NO_WORD)
            return pn_fail(err, PN_EINVAL, "%.300s: two columns are named '%.80s'", self->text.path, name);
    }
    return PN_OK;
}

static pn_status read_names(reader *self, const char *line, pn_err *err)
{
    const char *at = line;

    for (;; at++) {
        pn_recipe_value name;
        pn_status status = pn_field_read(&self->field, at, &name, &at, err);

        if (status != PN_OK)
            return placed(self, line, at, status, err);
        PN_TRY(add_name(self, name.text, name.length, err));
        if (pn_csv_is_end(at))
            return PN_OK;
    }
}

static pn_status learn(reader *self, pn_err *err)
{
    self->width = self->names.count;
    PN_TRY(pn_new(&self->role, self->width, err, "%.300s: out of memory", self->text.path));
    if (self->recipe)
        PN_TRY(pn_recipe_match(self->recipe, &self->names, self->labelled, self->text.path, self->role, err));
    else
        PN_TRY(pn_recipe_match_names(self->wanted, self->wanted_count, &self->names, self->text.path, self->role, err));
    return check_twice(self, err);
}

/* Nothing is wanted but the names: reading ends. */
static pn_status learn_or_end(reader *self, pn_err *err)
{
    return self->recipe || self->texts ? learn(self, err) : PN_ECANCELLED;
}

/* "sep=;": what spreadsheets read, and write, before the header. */
static bool names_separator(const char *line)
{
    return strncmp(line, "sep=", 4) == 0 && !pn_csv_is_end(line + 4) && pn_csv_is_end(line + 5);
}

static bool has_lone_return(const char *line)
{
    size_t length = strcspn(line, "\r\n");

    return line[length] == '\r' && line[length + 1] != '\n';
}

static pn_status read_header(reader *self, const char *line, pn_err *err)
{
    if (memcmp(line, "\xFF\xFE", 2) == 0 || memcmp(line, "\xFE\xFF", 2) == 0)
        return pn_fail(err, PN_EPARSE, "%.300s: the file is in UTF-16; write it in UTF-8", self->text.path);
    if (names_separator(line) && !self->options->separator) {
        self->field.separator = line[4];
        return PN_OK;
    }
    if (!self->field.separator)
        self->field.separator = find_separator(self, line);
    if (has_lone_return(line))
        return pn_fail(err, PN_EPARSE, "%.300s: its lines end in carriage returns alone; write it with newlines",
                       self->text.path);
    PN_TRY(read_names(self, line, err));
    return learn_or_end(self, err);
}

static pn_status take_names(reader *self, pn_err *err)
{
    for (size_t k = 0; k < self->options->header_count; k++)
        PN_TRY(add_name(self, self->options->header[k], strlen(self->options->header[k]), err));
    return learn(self, err);
}

/* ---- records ---- */

static pn_status add_text(pn_recipe_text *text, const pn_recipe_value *value, pn_err *err)
{
    size_t needed = text->used + value->length + 1;

    if (needed > text->room) {
        char *larger = pn_resize(text->bytes, 2 * needed, 1);

        PN_TRY(pn_made(larger, err, "out of memory for a text"));
        text->bytes = larger;
        text->room = 2 * needed;
    }
    memcpy(text->bytes + text->used, value->text, value->length);
    text->bytes[needed - 1] = '\0';
    text->used = needed;
    text->records++;
    return PN_OK;
}

static pn_status read_field(reader *self, const char *line, const char **at, size_t role, pn_err *err)
{
    const pn_recipe *recipe = self->recipe;
    pn_recipe_place place = { self->text.path, self->text.line, (size_t)(*at - line) + 1 };
    pn_recipe_value value;
    pn_status status = pn_field_read(&self->field, *at, &value, at, err);

    if (status == PN_OK && self->texts)
        status = add_text(&self->texts[role], &value, err);
    if (status != PN_OK || self->texts)
        return status == PN_OK ? PN_OK : placed(self, line, *at, status, err);
    if (role == recipe->count)
        return pn_recipe_take_label(recipe, &value, &self->reading, &place, &self->label, err);
    return pn_recipe_take(recipe, &recipe->columns[role], &value, &self->reading, &place, self->kept, err);
}

/* Plain numbers, the frequent ones; NULL for anything else. */
static const char *read_plain(reader *self, const char *at, size_t role)
{
    const pn_recipe *recipe = self->recipe;
    double value;

    if (!recipe || role >= recipe->count || recipe->columns[role].kind != PN_COLUMN_NUMBER ||
        self->reading.decimal_comma)
        return NULL;
    at = pn_csv_number_at(at, self->field.separator, self->reading.c_locale, &value);
    return at && isfinite(value) && pn_recipe_keep_number(recipe, &recipe->columns[role], value, self->kept) ? at
                                                                                                             : NULL;
}

static size_t count_fields(const char *line, char separator)
{
    size_t count = 1;

    for (line = pn_field_end(line, separator); *line == separator; count++)
        line = pn_field_end(line + 1, separator);
    return count;
}

static pn_status read_record(reader *self, const char *line, pn_err *err)
{
    char separator = self->field.separator;
    const char *at = line;

    for (size_t k = 0; k < self->width; k++) {
        const char *end =
            self->role[k] == PN_RECIPE_SKIP ? pn_field_end(at, separator) : read_plain(self, at, self->role[k]);

        if (end)
            at = end;
        else
            PN_TRY(read_field(self, line, &at, self->role[k], err));
        if (k + 1 == self->width ? !pn_csv_is_end(at) : *at != separator)
            return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected %zu fields as in the header, found %zu",
                           self->text.path, self->text.line, at - line + 1, self->width, count_fields(line, separator));
        at++;
    }
    return self->texts || pn_recipe_keep(self->recipe, &self->spool, self->kept, self->label) ? PN_OK
                                                                                              : no_memory(self, err);
}

static const char *record_ends(const void *of, const char *line, const char *end)
{
    const reader *self = of;

    return pn_field_record_end(line, end, self->field.separator ? self->field.separator : find_separator(self, line));
}

static pn_status read_line(void *of, const char *line, pn_err *err)
{
    reader *self = of;

    if (pn_csv_is_end(pn_csv_skip_blanks(line, '\t'))) /* a line of tabs is a record of empty fields */
        return PN_OK;
    if (!self->role)
        return read_header(self, line, err);
    if (!self->field.separator)
        self->field.separator = find_separator(self, line);
    return read_record(self, line, err);
}

/* ---- all of it ---- */

static pn_status check_options(const pn_recipe_file *options, pn_err *err)
{
    char separator = options->separator;

    if (separator && strchr("\"\r\n+-.0123456789eE", separator))
        return pn_fail(err, PN_EINVAL, "recipe: sep must be a character that is no part of a number or line, got '%c'",
                       separator);
    if (separator == ',' && options->decimal_comma)
        return pn_fail(err, PN_EINVAL, "recipe: sep and decimal are both ','");
    return PN_OK;
}

static pn_status open_reader(reader *self, const char *path, pn_task *task, pn_err *err)
{
    PN_TRY(check_options(self->options, err));
    self->field.separator = self->options->separator;
    self->field.encoding = self->options->encoding;
    return pn_text_open(&self->text, path, task, err);
}

static pn_status read_records(reader *self, pn_err *err)
{
    if (self->options->header)
        PN_TRY(take_names(self, err));
    return pn_text_each_record(&self->text, record_ends, read_line, self, err);
}

static pn_status no_records(const reader *self, pn_err *err)
{
    return pn_fail(err, PN_EPARSE, "%.300s: the file holds no records", self->text.path);
}

static pn_status read_all(reader *self, pn_err *err)
{
    self->reading = (pn_recipe_reading){ self->text.c_locale, self->options->decimal_comma };
    self->labelled = self->recipe->label.kind != PN_LABEL_NONE && !self->options->no_label;
    PN_TRY(pn_new(&self->kept, self->recipe->stored, err, "%.300s: out of memory", self->text.path));
    if (self->recipe->intercept > 0.0)
        self->kept[self->recipe->stored - 1] = 1.0;
    PN_TRY(read_records(self, err));
    return self->spool.records > 0 ? PN_OK : no_records(self, err);
}

static void close_reader(reader *self)
{
    pn_free(self->kept);
    pn_free(self->role);
    pn_words_clear(&self->names);
    pn_words_clear(&self->twice);
    pn_field_clear(&self->field);
    pn_spool_clear(&self->spool);
    pn_text_close(&self->text);
}

pn_status pn_recipe_load(pn_dataset **out, const pn_recipe *recipe, const char *path, const pn_recipe_file *options,
                         pn_task *task, pn_err *err)
{
    static const pn_recipe_file defaults = { 0 };
    reader self = { .recipe = recipe, .options = options ? options : &defaults };
    pn_dataset *data = NULL;
    pn_status status;

    PN_TRY(open_reader(&self, path, task, err));
    status = read_all(&self, err);
    if (status == PN_OK)
        status = pn_recipe_finish(&data, recipe, &self.spool, self.labelled, self.text.name, err);
    if (status == PN_OK)
        status = pn_dataset_set_origin(data, pn_ahead_content(self.text.ahead), err);
    status = pn_dataset_deliver(out, data, status);
    close_reader(&self);
    return status;
}

pn_status pn_recipe_texts(pn_recipe_text *texts, const char *const *names, size_t count, const char *path,
                          const pn_recipe_file *options, pn_task *task, pn_err *err)
{
    reader self = { .texts = texts, .wanted = names, .wanted_count = count, .options = options };
    pn_status status;

    PN_TRY(open_reader(&self, path, task, err));
    status = read_records(&self, err);
    if (status == PN_OK && count > 0 && texts[0].records == 0)
        status = no_records(&self, err);
    close_reader(&self);
    return status;
}

void pn_recipe_text_clear(pn_recipe_text *text)
{
    pn_free(text->bytes);
    memset(text, 0, sizeof *text);
}

static pn_status read_columns(reader *self, pn_err *err)
{
    pn_status status = pn_text_each_record(&self->text, record_ends, read_line, self, err);

    if (status == PN_OK)
        return pn_fail(err, PN_EPARSE, "%.300s: no header in it", self->text.path);
    return status == PN_ECANCELLED && self->names.count > 0 ? PN_OK : status;
}

pn_status pn_recipe_columns(pn_words **out, const char *path, const pn_recipe_file *options, pn_task *task, pn_err *err)
{
    reader self = { .options = options };
    pn_status status;

    PN_TRY(open_reader(&self, path, task, err));
    status = read_columns(&self, err);
    if (status == PN_OK)
        status = pn_new(out, 1, err, "recipe: out of memory");
    if (status == PN_OK) {
        **out = self.names;
        memset(&self.names, 0, sizeof self.names);
    }
    close_reader(&self);
    return status;
}

void pn_recipe_free_columns(pn_words *columns)
{
    if (columns)
        pn_words_clear(columns);
    pn_free(columns);
}
