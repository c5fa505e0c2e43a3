/* csv_text.c -- fields of CSV text that are no numbers.  Depends on: csv_text.h, csv_plan.h, labels.h, core.
 * Used by: csv.c, csv_plan.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/files/csv_plan.h"
#include "data/files/csv_text.h"
#include "data/labels.h"

/* ---- fields ---- */

void pn_csv_word_clear(pn_csv_word *word)
{
    pn_free(word->unquoted);
    memset(word, 0, sizeof *word);
}

static pn_status expected(const pn_csv_cursor *cursor, const char *at, pn_err *err, const char *what)
{
    char stop[2] = { cursor->separator, '\0' };

    return pn_text_fail(cursor->text, cursor->line, at, stop, err, "%s", what);
}

/* "start[..stop)" with the quotes, a doubled one standing for one. */
static pn_status unquote(pn_csv_word *word, const pn_csv_cursor *cursor, const char *start, const char *stop,
                         pn_err *err)
{
    const char *at = start + 1;
    size_t length = 0;

    if (word->room < (size_t)(stop - start)) {
        char *larger = pn_resize(word->unquoted, 2 * (size_t)(stop - start), 1);

        PN_TRY(pn_made(larger, err, "%.300s:%zu: out of memory", cursor->text->path, cursor->text->line));
        word->unquoted = larger;
        word->room = 2 * (size_t)(stop - start);
    }
    for (; at < stop && !(*at == '"' && !(at + 1 < stop && at[1] == '"')); at++) {
        at += *at == '"';
        word->unquoted[length++] = *at;
    }
    if (at >= stop)
        return expected(cursor, start, err, "a quoted text that ends on its line");
    if (at + 1 < stop)
        return expected(cursor, at + 1, err, "the separator after a quoted text");
    word->text = word->unquoted;
    word->length = length;
    return PN_OK;
}

pn_status pn_csv_read_word(pn_csv_word *word, pn_csv_cursor *cursor, pn_err *err)
{
    const char *start = pn_csv_skip_blanks(cursor->at, cursor->separator);
    const char *end = pn_csv_field_end(start, cursor->separator), *stop = end;
    const char *zero = memchr(start, '\0', (size_t)(end - start));

    while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    if (zero)
        return expected(cursor, zero, err, "text without zero bytes");
    word->text = start;
    word->length = (size_t)(stop - start);
    if (*start == '"') {
        PN_TRY(unquote(word, cursor, start, stop, err));
    }
    cursor->at = end;
    return PN_OK;
}

static bool is_word(const pn_csv_word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(text, word->text, word->length) == 0;
}

/* ---- categories ---- */

pn_status pn_csv_coding_declare(pn_csv_coding *coding, const pn_csv_one_hot *one_hot, pn_err *err)
{
    coding->kind = PN_CSV_TEXT;
    coding->declared = one_hot->categories ? one_hot : NULL;
    for (size_t k = 0; one_hot->categories && k < one_hot->count; k++) {
        const char *category = one_hot->categories[k];
        size_t number = pn_words_add(&coding->words, category, strlen(category));

        if (number == PN_NO_WORD)
            return pn_fail(err, PN_ENOMEM, "csv: out of memory for %zu categories", one_hot->count);
        if (number != k)
            return pn_fail(err, PN_EINVAL, "csv: category '%.80s' is declared twice in `one_hot`", category);
    }
    return PN_OK;
}

static pn_status read_declared(const pn_csv_coding *coding, const pn_csv_word *word, const pn_csv_cursor *cursor,
                               const char *start, double *code, pn_err *err)
{
    size_t number = pn_words_find(&coding->words, word->text, word->length);

    *code = number == PN_NO_WORD ? 0.0 : (double)(number + 1);
    if (number != PN_NO_WORD || coding->declared->unknown_zeros)
        return PN_OK;
    if (word->length == 0)
        return pn_fail(err, PN_EPARSE,
                       "%.300s:%zu:%td: expected a category declared in `one_hot`, found an empty field",
                       cursor->text->path, cursor->text->line, start - cursor->line + 1);
    return expected(cursor, start, err, "a category declared in `one_hot` (unknown = \"zeros\" lets others pass)");
}

static pn_status read_found(pn_csv_coding *coding, const pn_csv_word *word, const pn_csv_cursor *cursor,
                            const char *start, double *code, pn_err *err)
{
    size_t number;

    if (word->length == 0)
        return pn_fail(
            err, PN_EPARSE,
            "%.300s:%zu:%td: expected a category, found an empty field; if that is one, declare the categories in "
            "`one_hot`, \"\" among them",
            cursor->text->path, cursor->text->line, start - cursor->line + 1);
    number = pn_words_add(&coding->words, word->text, word->length);
    if (number == PN_NO_WORD)
        return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory for categories", cursor->text->path,
                       cursor->text->line);
    if (number == PN_CSV_CATEGORIES)
        return pn_fail(err, PN_EDOMAIN,
                       "%.300s:%zu:%td: a column of `one_hot` holds more than %d categories; declare those that count",
                       cursor->text->path, cursor->text->line, start - cursor->line + 1, PN_CSV_CATEGORIES);
    *code = (double)(number + 1);
    return PN_OK;
}

pn_status pn_csv_read_code(pn_csv_coding *coding, pn_csv_word *word, pn_csv_cursor *cursor, double *code, pn_err *err)
{
    const char *start = pn_csv_skip_blanks(cursor->at, cursor->separator);
    double value;

    if (coding->kind == PN_CSV_ALL_TEXT && pn_csv_number(cursor, &value))
        return expected(
            cursor, start, err,
            "text as in the first record (a column of both is named in `one_hot`; names on the first line need header "
            "= true)");
    PN_TRY(pn_csv_read_word(word, cursor, err));
    return coding->declared ? read_declared(coding, word, cursor, start, code, err)
                            : read_found(coding, word, cursor, start, code, err);
}

/* ---- labels ---- */

/* As text before it is looked for as a number; options->count when it is neither. */
static size_t find_label(const pn_label_options *options, const pn_csv_word *word, const double *value)
{
    size_t i = 0;

    while (i < options->count && !(options->text && options->text[i] && is_word(word, options->text[i])))
        i++;
    if (i < options->count || !value)
        return i;
    for (i = 0; i < options->count; i++) {
        if (!(options->text && options->text[i]) && *value == options->from[i])
            break;
    }
    return i;
}

pn_status pn_csv_map_label(const pn_label_options *options, pn_csv_word *word, pn_csv_cursor *cursor, double *label,
                           pn_err *err)
{
    const char *start = pn_csv_skip_blanks(cursor->at, cursor->separator);
    char known[80];
    double value = NAN;
    size_t found;
    bool is_number = pn_csv_number(cursor, &value) != NULL;

    PN_TRY(pn_csv_read_word(word, cursor, err));
    found = find_label(options, word, is_number ? &value : NULL);
    if (found < options->count) {
        *label = options->to[found];
        return PN_OK;
    }
    pn_labels_list(known, sizeof known, options);
    if (word->length == 0)
        return pn_fail(err, PN_EPARSE,
                       "%.300s:%zu:%td: expected a label that the `labels` option maps (%s), found an empty field",
                       cursor->text->path, cursor->text->line, start - cursor->line + 1, known);
    return pn_text_fail(cursor->text, cursor->line, start, (char[]){ cursor->separator, '\0' }, err,
                        "a label that the `labels` option maps (%s)", known);
}

pn_status pn_csv_binary_label(pn_words *words, pn_csv_word *word, pn_csv_cursor *cursor, double *label, pn_err *err)
{
    const char *start = pn_csv_skip_blanks(cursor->at, cursor->separator);
    pn_status status = pn_csv_read_word(word, cursor, err);
    size_t number;

    if (status != PN_OK)
        return status;
    if (word->length == 0)
        return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected a label, found an empty field", cursor->text->path,
                       cursor->text->line, start - cursor->line + 1);
    number = pn_words_add(words, word->text, word->length);
    if (number == PN_NO_WORD)
        return pn_fail(err, PN_ENOMEM, "%.300s:%zu: out of memory", cursor->text->path, cursor->text->line);
    if (number >= 2)
        return pn_text_fail(cursor->text, cursor->line, start, (char[]){ cursor->separator, '\0' }, err,
                            "'%.30s' or '%.30s' (a table of `labels` maps more than two)", pn_words_at(words, 0),
                            pn_words_at(words, 1));
    *label = (double)number;
    return PN_OK;
}
