/* recipe.h -- recipes inside: columns, and how a record is kept until it is a row.
 * Depends on: penumbra/recipe.h, data (words.h, spool.h).  Used by: recipe, bindings. */
#ifndef PN_RECIPE_RECIPE_H
#define PN_RECIPE_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"
#include "data/spool.h"
#include "data/word_counts.h"
#include "data/words.h"
#include "penumbra/recipe.h"

typedef enum pn_column_kind { PN_COLUMN_NUMBER, PN_COLUMN_DATE, PN_COLUMN_FLAG, PN_COLUMN_CATEGORY } pn_column_kind;
typedef enum pn_missing { PN_MISSING_REFUSE, PN_MISSING_FILL, PN_MISSING_INDICATOR } pn_missing;

typedef struct pn_recipe_column {
    char *name;
    pn_column_kind kind;
    double low, high; /* of numbers; of dates in days since 1970-01-01; 0 and 1 of flags */
    pn_words levels;  /* the categories; code k + 1 is the k-th, one more is "other", one more a hole with a feature */
    pn_missing missing;
    double fill; /* PN_MISSING_FILL: the number or code of a hole */
    double weight;
    size_t first, count;    /* its features; with an indicator the last is that */
    pn_word_counts *counts; /* of a category: counts texts that are no holes and not "other"; kept; NULL: none */
    size_t stored;          /* where its value stands in a kept record; an indicator that is no category follows it */
} pn_recipe_column;

typedef enum pn_recipe_label_kind {
    PN_LABEL_NONE,
    PN_LABEL_RANGE,
    PN_LABEL_COUNT,
    PN_LABEL_CLASSES
} pn_recipe_label_kind;

typedef struct pn_recipe_label {
    char *name;
    pn_recipe_label_kind kind;
    double low, high; /* a count: 0 and the most */
    pn_words classes;
    size_t positive; /* of two classes */
} pn_recipe_label;

/* Columns whose ranges or levels were estimated from records, and the price of all of them together. */
typedef struct pn_recipe_estimated {
    pn_words columns; /* empty: none were */
    double epsilon, delta;
    double rho;             /* NAN: no zCDP is known */
    const char *neighbours; /* "replace_one", "add_remove" or "zero_out" */
    bool simulated;         /* the noise was seeded: it protects nobody */
} pn_recipe_estimated;

struct pn_recipe {
    pn_recipe_column *columns; /* [count] */
    size_t count;
    pn_recipe_label label;
    pn_recipe_estimated estimated;
    pn_words na;
    double *na_numbers; /* [na_count] those of `na` that are numbers */
    size_t na_count;
    double intercept; /* its weight; 0: none */
    pn_lp norm;
    double clip;               /* INFINITY: none */
    double size;               /* rows are divided by it */
    double clip_to;            /* the bound of the features after that */
    double bound[PN_LP_COUNT]; /* of rows */
    double usual;              /* root mean square of their l2 norms, to be expected; nothing enforces it */
    size_t p, stored;          /* features of a row, values of a kept record */
    double *offset, *scale;    /* [p] */
    double *limit;             /* [p] the largest absolute value of the feature */
    char *names;               /* p names, each ended by a zero byte */
    size_t name_bytes;
    char *json;
};

/** p, the scales, bounds and names, of columns that are there.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_recipe_lay_out(pn_recipe *recipe, pn_err *err);
/** recipe->json.  Errors: PN_ENOMEM. */
pn_status pn_recipe_write(pn_recipe *recipe, pn_err *err);
/** The column of that name; recipe->count: none. */
size_t pn_recipe_find(const pn_recipe *recipe, const char *name);

/** Days from 1970-01-01 to the day text[length], YYYY-MM-DD in the Gregorian calendar, perhaps with a time after a T or
 *  a blank, which does not count. */
bool pn_recipe_day(const char *text, size_t length, double *day);
/** The same back: "2001-01-31". */
void pn_recipe_day_text(char out[32], double day);

/* ---- values ---- */

/* Where a value stands, for messages: a line of a file and the byte in it, or (byte 0) a row of a table. */
typedef struct pn_recipe_place {
    const char *owner; /* the file */
    size_t row;
    size_t byte;
} pn_recipe_place;

/* What a field reads: a number, or text[length], which is followed by a byte that belongs to no number. */
typedef struct pn_recipe_value {
    bool is_number;
    double number;
    const char *text;
    size_t length;
} pn_recipe_value;

/** The "C" locale, a locale_t; NULL when memory is short. */
void *pn_recipe_locale(void);
void pn_recipe_free_locale(void *c_locale);

/* How texts of numbers are read. */
typedef struct pn_recipe_reading {
    void *c_locale;
    bool decimal_comma;
} pn_recipe_reading;

/** kept[column->stored ..] = what the value is.  Errors: PN_EPARSE, with the place and the column. */
pn_status pn_recipe_take(const pn_recipe *recipe, const pn_recipe_column *column, const pn_recipe_value *value,
                         const pn_recipe_reading *reading, const pn_recipe_place *place, double *kept, pn_err *err);
/** *label = what the value is: in [-1, 1], a count, -1 or 1, or from 1. */
pn_status pn_recipe_take_label(const pn_recipe *recipe, const pn_recipe_value *value, const pn_recipe_reading *reading,
                               const pn_recipe_place *place, double *label, pn_err *err);
/** A number that is no hole, kept[0] = it: false when it is one. */
static inline bool pn_recipe_keep_number(const pn_recipe *recipe, const pn_recipe_column *column, double number,
                                         double *kept)
{
    for (size_t k = 0; k < recipe->na_count; k++) {
        if (number == recipe->na_numbers[k])
            return false;
    }
    number = number < column->low ? column->low : number;
    kept[column->stored] = number > column->high ? column->high : number;
    if (column->missing == PN_MISSING_INDICATOR)
        kept[column->stored + 1] = 0.0;
    return true;
}

/** Append a record.  False when memory is short. */
bool pn_recipe_keep(const pn_recipe *recipe, pn_spool *spool, const double *kept, double label);
/** The data set of the records in the spool, which is emptied.  labelled: the labels are the recipe's. */
pn_status pn_recipe_finish(pn_dataset **out, const pn_recipe *recipe, pn_spool *spool, bool labelled, const char *name,
                           pn_err *err);

/* ---- tables ---- */

/** The data set of `count` records, value(self, row, column) giving each value; column recipe->count is the label.
 *  labelled: there is one.  content: whose records they are (origin.h), of the whole table, so that recipes which look
 *  at other columns of it make data sets of the same records.  owner: for messages. */
pn_status pn_recipe_from_values(pn_dataset **out, const pn_recipe *recipe, size_t count, bool labelled,
                                pn_recipe_value (*value)(void *self, size_t row, size_t column), void *self,
                                pn_content content, const char *owner, pn_err *err);

/* ---- names of columns ---- */

/** The names in the first line of a file, in their order.  Errors: as pn_recipe_load. */
pn_status pn_recipe_columns(pn_words **out, const char *path, const pn_recipe_file *options, pn_task *task,
                            pn_err *err);
void pn_recipe_free_columns(pn_words *columns);

/* What the fields of one column hold, record by record, each ended by a zero byte.  All zeros: nothing. */
typedef struct pn_recipe_text {
    char *bytes; /* [room] owned */
    size_t used, room, records;
} pn_recipe_text;

/** texts[count], all zeros before: the texts of these columns of a file, without quotes and the blanks around them, of
 *  the records that pn_recipe_load makes of it.  The caller clears them, after a failure too.
 *  Errors: PN_EINVAL for a name that is twice in names[count]; else as pn_recipe_load.  Messages quote the file. */
pn_status pn_recipe_texts(pn_recipe_text *texts, const char *const *names, size_t count, const char *path,
                          const pn_recipe_file *options, pn_task *task, pn_err *err);
void pn_recipe_text_clear(pn_recipe_text *text);

#define PN_RECIPE_SKIP SIZE_MAX

/** role[names->count]: for each name of a header the column of the recipe, recipe->count for the label, or
 *  PN_RECIPE_SKIP.  Errors: PN_EINVAL for a column that is not there. */
pn_status pn_recipe_match(const pn_recipe *recipe, const pn_words *names, bool labelled, const char *owner,
                          size_t *role, pn_err *err);
/** The same for wanted[count]: role is a place in that list, or PN_RECIPE_SKIP. */
pn_status pn_recipe_match_names(const char *const *wanted, size_t count, const pn_words *names, const char *owner,
                                size_t *role, pn_err *err);

#endif
