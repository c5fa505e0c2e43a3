/* event_read.c -- events as text that reads back to the same doubles: reading.  Depends on: event_text.h, core/.
 * Used by: ledger_record.c. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/table.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"

#define MAX_PARAMS 16
#define MAX_NAME   48

static pn_status read_event(pn_event **out, const char **cursor, pn_neighbours around, int depth, pn_err *err);

/* A word up to one of the delimiters, at most MAX_NAME - 1 long. */
static pn_status read_word(char word[MAX_NAME], const char **cursor, pn_err *err)
{
    size_t length = strcspn(*cursor, "(),=@; \"");

    if (length == 0 || length >= MAX_NAME)
        return pn_text_malformed(err, "a word", *cursor);
    memcpy(word, *cursor, length);
    word[length] = '\0';
    *cursor += length;
    return PN_OK;
}

static pn_status read_number(double *number, const char **cursor, pn_err *err)
{
    char *end;
    pn_status status = PN_OK;

    *number = strtod(*cursor, &end);
    if (end == *cursor)
        status = pn_text_malformed(err, "a number", *cursor);
    *cursor = end;
    return status;
}

/* "(1,2.5)" into *numbers, which is allocated here and freed by the caller in any case. */
static pn_status read_vector(pn_vec *vector, double **numbers, const char **cursor, pn_err *err)
{
    size_t n = 0, room = strcspn(*cursor, ")") / 2; /* a number and what stands before it */
    pn_status status;

    if (**cursor != '(')
        return pn_text_malformed(err, "numbers in brackets", *cursor);
    PN_TRY(pn_new(numbers, room + 1, err, "out of memory for an event's numbers"));
    do {
        (*cursor)++;
        status = read_number(&(*numbers)[n], cursor, err);
        n += status == PN_OK;
    } while (status == PN_OK && **cursor == ',' && n <= room); /* "nan(...)" has a bracket of its own */
    if (status == PN_OK && **cursor != ')')
        status = pn_text_malformed(err, "a comma or a closing bracket", *cursor);
    if (status == PN_OK)
        (*cursor)++;
    *vector = (pn_vec){ *numbers, n };
    return status;
}

/* `owned` and `numbers` receive what is to be dropped after the outer event has been made; `word` outlives
 * arg->text. */
static pn_status read_value(const pn_param *param, pn_arg *arg, pn_event **owned, double **numbers, char word[MAX_NAME],
                            const char **cursor, pn_neighbours around, int depth, pn_err *err)
{
    pn_status status = PN_OK;

    arg->given = true;
    switch (param->kind) {
    case PN_REAL:
        return read_number(&arg->real, cursor, err);
    case PN_VECTOR:
        return read_vector(&arg->vector, numbers, cursor, err);
    case PN_COUNT:
        return pn_text_size(&arg->count, cursor, err);
    case PN_FLAG:
    case PN_CHOICE:
        status = read_word(word, cursor, err);
        arg->flag = status == PN_OK && strcmp(word, "true") == 0;
        arg->text = word;
        return status;
    case PN_OBJECT:
        if (strcmp(param->choices[0], "pn.event") != 0)
            return pn_text_malformed(err, "another parameter", *cursor);
        status = read_event(owned, cursor, around, depth + 1, err);
        arg->object = *owned;
        return status;
    default:
        return pn_text_malformed(err, "another parameter", *cursor);
    }
}

/* From behind the opening bracket to behind the closing one; the relation stands behind that. */
typedef struct leaf_reader {
    const pn_event_ops *ops;
    pn_arg args[MAX_PARAMS];
    pn_event *owned[MAX_PARAMS];
    double *numbers[MAX_PARAMS];
    char words[MAX_PARAMS][MAX_NAME];
} leaf_reader;

static pn_status read_params(leaf_reader *reader, const char **cursor, pn_neighbours relation, int depth, pn_err *err)
{
    size_t count = pn_param_count(reader->ops->params);
    pn_status status = PN_OK;
    char word[MAX_NAME];

    while (status == PN_OK && **cursor != ')') {
        size_t i;

        if ((status = read_word(word, cursor, err)) != PN_OK)
            break;
        i = pn_param_find(reader->ops->params, word);
        if (i == count || i >= MAX_PARAMS || reader->args[i].given || **cursor != '=')
            return pn_text_malformed(err, "a parameter of the event", *cursor);
        (*cursor)++;
        status = read_value(&reader->ops->params[i], &reader->args[i], &reader->owned[i], &reader->numbers[i],
                            reader->words[i], cursor, relation, depth, err);
        if (status == PN_OK && **cursor == ',')
            (*cursor)++;
        else if (status == PN_OK && **cursor != ')')
            status = pn_text_malformed(err, "a comma or a closing bracket", *cursor);
    }
    return status;
}

/* The relation of the event whose opening bracket is at `open`: what stands behind its closing one. */
static pn_status find_relation(const char *open, pn_neighbours around, pn_neighbours *relation, pn_err *err)
{
    size_t depth = 0;
    const char *at = open;

    do {
        depth += *at == '(';
        depth -= *at == ')';
    } while (*at++ && depth > 0);
    *relation = around;
    if (depth > 0)
        return pn_text_malformed(err, "a closing bracket", open);
    if (*at != '@')
        return PN_OK;
    for (int i = 0; pn_neighbours_names[i]; i++) {
        size_t length = strlen(pn_neighbours_names[i]);

        if (strncmp(at + 1, pn_neighbours_names[i], length) == 0) {
            *relation = (pn_neighbours)i;
            return PN_OK;
        }
    }
    return pn_text_malformed(err, "a relation", at);
}

static pn_status read_leaf(pn_event **out, const char *name, const char **cursor, pn_neighbours relation, int depth,
                           pn_err *err)
{
    const pn_event_ops *ops = pn_table_find(pn_event_table(), name);
    leaf_reader *reader;
    pn_status status;

    if (!ops)
        return pn_fail(err, PN_EPARSE, "there is no event '%s'", name);
    PN_TRY(pn_new_zeroed(&reader, 1, err, "out of memory for an event"));
    reader->ops = ops;
    status = read_params(reader, cursor, relation, depth, err);
    if (status == PN_OK)
        status = pn_event_from_args(out, name, reader->args, relation, err);
    for (size_t i = 0; i < MAX_PARAMS; i++) {
        pn_event_free(reader->owned[i]);
        pn_free(reader->numbers[i]);
    }
    pn_free(reader);
    return status;
}

/* a,b,c up to the closing bracket, or a,count for repeated. */
static pn_status read_parts(pn_event ***events, size_t *count, size_t *times, const char **cursor,
                            pn_neighbours relation, int depth, pn_err *err)
{
    pn_status status = PN_OK;
    size_t room = 0;

    while (status == PN_OK && **cursor != ')') {
        if (*times == 0 && *count == 1) /* repeated: the second is the count */
            return pn_text_size(times, cursor, err);
        if (*count == room) {
            pn_event **more = pn_resize(*events, room ? 2 * room : 8, sizeof *more);

            PN_TRY(pn_made(more, err, "out of memory for composed events"));
            *events = more;
            room = room ? 2 * room : 8;
        }
        status = read_event(&(*events)[*count], cursor, relation, depth + 1, err);
        *count += status == PN_OK;
        if (status == PN_OK && **cursor == ',')
            (*cursor)++;
        else if (status == PN_OK && **cursor != ')')
            status = pn_text_malformed(err, "a comma or a closing bracket", *cursor);
    }
    return status;
}

static pn_status read_composed(pn_event **out, bool repeats, const char **cursor, pn_neighbours relation, int depth,
                               pn_err *err)
{
    pn_event **events = NULL;
    size_t count = 0, times = repeats ? 0 : 1;
    pn_status status = read_parts(&events, &count, &times, cursor, relation, depth, err);

    if (status == PN_OK && (**cursor != ')' || (repeats && count != 1)))
        status = pn_text_malformed(err, "a closing bracket", *cursor);
    if (status == PN_OK)
        status = repeats ? pn_event_repeated(out, events[0], times, err) : pn_event_compose(out, events, count, err);
    while (count > 0)
        pn_event_free(events[--count]);
    pn_free(events);
    return status;
}

static pn_status read_event(pn_event **out, const char **cursor, pn_neighbours around, int depth, pn_err *err)
{
    char name[MAX_NAME];
    pn_neighbours relation;
    bool repeats;
    pn_status status;

    *out = NULL;
    if (depth > 2 * PN_EVENT_DEPTH)
        return pn_text_malformed(err, "fewer brackets", *cursor);
    if ((status = read_word(name, cursor, err)) != PN_OK)
        return status;
    if (**cursor != '(')
        return pn_text_malformed(err, "an opening bracket", *cursor);
    if ((status = find_relation(*cursor, around, &relation, err)) != PN_OK)
        return status;
    (*cursor)++;
    repeats = strcmp(name, "repeated") == 0;
    if (repeats || strcmp(name, "compose") == 0)
        status = read_composed(out, repeats, cursor, relation, depth, err);
    else
        status = read_leaf(out, name, cursor, relation, depth, err);
    if (status == PN_OK) {
        (*cursor)++;
        if (**cursor == '@')
            *cursor += 1 + strlen(pn_neighbours_names[relation]);
    }
    return status;
}

pn_status pn_event_read(pn_event **out, const char **cursor, pn_neighbours around, pn_err *err)
{
    return read_event(out, cursor, around, 0, err);
}
