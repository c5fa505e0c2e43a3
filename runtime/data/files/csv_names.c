/* csv_names.c -- the names of features that were read from CSV.  Depends on: csv_plan.h, core.  Used by: csv.c. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/files/csv_plan.h"

typedef struct names {
    char *text;
    size_t used, room;
} names;

static bool append(names *self, const char *bytes, size_t count)
{
    if (self->room - self->used < count) {
        size_t room = 2 * self->room + count;
        char *larger = pn_resize(self->text, room, 1);

        if (!larger)
            return false;
        self->text = larger;
        self->room = room;
    }
    memcpy(self->text + self->used, bytes, count);
    self->used += count;
    return true;
}

/* A field of the header, without blanks around it and quotes; zero bytes of a damaged file become '?'. */
static bool append_field(names *self, const char *at, char separator)
{
    const char *end = pn_csv_field_end(at, separator);
    bool quoted, fine = true;

    at = pn_csv_skip_blanks(at, separator);
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    quoted = at < end && *at == '"';
    for (at += quoted; fine && at < end && !(quoted && *at == '"' && !(at + 1 < end && at[1] == '"')); at++) {
        at += quoted && *at == '"';
        fine = append(self, *at ? at : "?", 1);
    }
    return fine;
}

/* The name of a column: its field in the header, or its number. */
static bool append_column(names *self, const pn_csv_plan *plan, const char *field, size_t column)
{
    char number[24];

    if (field)
        return append_field(self, field, plan->separator);
    return append(self, number, (size_t)snprintf(number, sizeof number, "%zu", column + 1));
}

/* Of the column's features: the column, or column=category for each in its place. */
static bool append_features(names *self, const pn_csv_plan *plan, const char *field, size_t column, const size_t *place)
{
    const pn_csv_coding *coding = &plan->coding[plan->role[column]];
    bool fine = true;

    if (!place)
        return append_column(self, plan, field, column) && append(self, "", 1);
    for (size_t k = 0; fine && k < coding->words.count; k++) {
        size_t word = 0;

        while (place[word] != k) /* at most PN_CSV_CATEGORIES words, once for each file */
            word++;
        fine = append_column(self, plan, field, column) && append(self, "=", 1) &&
               append(self, pn_words_at(&coding->words, word), strlen(pn_words_at(&coding->words, word)) + 1);
    }
    return fine;
}

/* fields[column]: where the header's fields begin; returns how many there are up to plan->columns + 1. */
static size_t find_fields(const pn_csv_plan *plan, const char **fields)
{
    const char *at = plan->header;
    size_t count = 0;

    for (; count <= plan->columns; at++) {
        if (count < plan->columns)
            fields[count] = at;
        count++;
        at = pn_csv_field_end(at, plan->separator);
        if (*at != plan->separator)
            break;
    }
    return count;
}

static bool any_text(const size_t *const *place, size_t features)
{
    size_t k = 0;

    while (k < features && !place[k])
        k++;
    return k < features;
}

pn_status pn_csv_name_features(const pn_csv_plan *plan, const size_t *const *place, pn_dataset *data, pn_err *err)
{
    const char **fields = pn_calloc(plan->columns, sizeof *fields);
    size_t *column_of = pn_alloc(plan->features, sizeof *column_of);
    bool has_header, fine = fields && column_of;
    names self = { NULL, 0, 0 };

    has_header = fine && plan->header && find_fields(plan, fields) == plan->columns;
    for (size_t column = 0; fine && column < plan->columns; column++) {
        if (plan->role[column] < plan->features)
            column_of[plan->role[column]] = column;
    }
    if (has_header || any_text(place, plan->features)) {
        for (size_t k = 0; fine && k < plan->features; k++)
            fine = append_features(&self, plan, has_header ? fields[column_of[k]] : NULL, column_of[k], place[k]);
    }
    pn_free(fields);
    pn_free(column_of);
    if (!fine) {
        pn_free(self.text);
        return pn_fail(err, PN_ENOMEM, "%.300s: out of memory for the names of features", data->name);
    }
    data->features = self.text;
    data->feature_bytes = self.used;
    return PN_OK;
}
