/* csv_text.h -- fields of CSV text that are no numbers: categories and labels.  Depends on: dataset.h,
 * number.h, text.h, words.h.
 * Used by: csv.c, csv_plan.c. */
#ifndef PN_DATA_CSV_TEXT_H
#define PN_DATA_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "data/dataset.h"
#include "data/number.h"
#include "data/files/text.h"
#include "data/words.h"

/* A field in hand. */
typedef struct pn_csv_cursor {
    const pn_text *text;
    const char *line, *at; /* at: the field's first byte, then the separator or end of line after it */
    char separator;
} pn_csv_cursor;

static inline bool pn_csv_is_end(const char *at)
{
    return *at == '\n' || (*at == '\r' && at[1] == '\n');
}

static inline const char *pn_csv_skip_blanks(const char *at, char separator)
{
    while ((*at == ' ' || *at == '\t') && *at != separator)
        at++;
    return at;
}

/** The end of the field when a number, perhaps in quotes, is all it holds; else NULL.  The value may be infinite. */
static inline const char *pn_csv_number_at(const char *at, char separator, void *c_locale, double *value)
{
    bool quoted;

    at = pn_csv_skip_blanks(at, separator);
    quoted = *at == '"';
    if (quoted)
        at = pn_csv_skip_blanks(at + 1, separator);
    at = pn_number_next(at, value, c_locale);
    if (at)
        at = pn_csv_skip_blanks(at, separator);
    if (at && quoted)
        at = *at == '"' ? pn_csv_skip_blanks(at + 1, separator) : NULL;
    return at && (*at == separator || pn_csv_is_end(at)) ? at : NULL;
}

static inline const char *pn_csv_number(const pn_csv_cursor *cursor, double *value)
{
    return pn_csv_number_at(cursor->at, cursor->separator, cursor->text->c_locale, value);
}

/* What a field reads, without the blanks around it and the quotes; valid until the next one is read. */
typedef struct pn_csv_word {
    const char *text; /* [length] */
    size_t length;
    char *unquoted; /* [room] */
    size_t room;
} pn_csv_word;

/** Moves to the end of the field.  Errors: PN_EPARSE for a zero byte in it, or a quote that is not closed or that
 *  something follows; PN_ENOMEM. */
pn_status pn_csv_read_word(pn_csv_word *word, pn_csv_cursor *cursor, pn_err *err);
void pn_csv_word_clear(pn_csv_word *word);
typedef enum pn_csv_kind {
    PN_CSV_NUMBER = 0,
    PN_CSV_UNDECIDED, /* one_hot_text: the first record decides */
    PN_CSV_TEXT,      /* asked for as text */
    PN_CSV_ALL_TEXT   /* found to be text: may hold no number */
} pn_csv_kind;

/* A column of features.  All zeros: of numbers. */
typedef struct pn_csv_coding {
    pn_csv_kind kind;
    const pn_csv_one_hot *declared; /* borrowed from the options; or NULL: categories are those found */
    pn_words words;                 /* the categories */
} pn_csv_coding;

/** Takes the declared categories.  Errors: PN_EINVAL for one that is given twice; PN_ENOMEM. */
pn_status pn_csv_coding_declare(pn_csv_coding *coding, const pn_csv_one_hot *one_hot, pn_err *err);
/** *code = the number of the category from 1, or 0 for none.  Errors: PN_EPARSE, PN_EDOMAIN, PN_ENOMEM. */
pn_status pn_csv_read_code(pn_csv_coding *coding, pn_csv_word *word, pn_csv_cursor *cursor, double *code, pn_err *err);

/** A label by the options' mapping.  Errors: PN_EPARSE for one that is not in it; as pn_csv_read_word. */
pn_status pn_csv_map_label(const pn_label_options *options, pn_csv_word *word, pn_csv_cursor *cursor, double *label,
                           pn_err *err);
/** One of two texts: *label = 0 for the one that came first.  Errors: PN_EPARSE for a third; PN_ENOMEM. */
pn_status pn_csv_binary_label(pn_words *words, pn_csv_word *word, pn_csv_cursor *cursor, double *label, pn_err *err);

#endif
