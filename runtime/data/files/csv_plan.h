/* csv_plan.h -- what each column of a CSV file is for.  Depends on: dataset.h, text.h, csv_text.h.
 * Used by: csv.c, csv_text.c, csv_column.c. */
#ifndef PN_DATA_CSV_PLAN_H
#define PN_DATA_CSV_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/files/csv_text.h"
#include "data/dataset.h"
#include "data/files/text.h"

#define PN_CSV_SKIP  SIZE_MAX
#define PN_CSV_LABEL (SIZE_MAX - 1)

typedef struct pn_csv_plan {
    char separator;
    bool header_found, header_guessed; /* guessed: because all its fields are text */
    char *header;                      /* the header's line, kept until the columns are known */
    size_t first_line;                 /* number of the line that told the number of columns */
    size_t columns, features;          /* features: columns of them */
    size_t *role;          /* [columns] PN_CSV_SKIP, PN_CSV_LABEL, or which feature (from 0); NULL until it is known */
    pn_csv_coding *coding; /* [features] */
} pn_csv_plan;

void pn_csv_plan_clear(pn_csv_plan *plan);

/** Errors: PN_EINVAL. */
pn_status pn_csv_check_options(const pn_csv_options *options, pn_err *err);

/**
 * Learn from a line that is not blank, until plan->role is there; *is_header when the line is a header.
 * Errors: PN_EPARSE, PN_EINVAL when the options ask for columns that are not there, PN_ENOMEM.
 */
pn_status pn_csv_plan_line(pn_csv_plan *plan, const pn_text *text, const pn_csv_options *options, const char *line,
                           bool *is_header, pn_err *err);

/** The first record, after a header that was guessed from its text alone, must hold a number: else it is not clear that
 *  the header is no record.  Errors: PN_EINVAL. */
pn_status pn_csv_check_guess(pn_csv_plan *plan, const pn_text *text, const char *line, pn_err *err);

/** The names of the features that the columns become, in data->features; none without a header of plan->columns fields
 *  and without columns of text.  place[features]: as in pn_spool_layout.  Errors: PN_ENOMEM. */
pn_status pn_csv_name_features(const pn_csv_plan *plan, const size_t *const *place, pn_dataset *data, pn_err *err);

/** The separator, or end of line, that ends the field at `at`. */
const char *pn_csv_field_end(const char *at, char separator);
/** Fields of a line. */
size_t pn_csv_count(const char *line, char separator);
/** Does the field at `at` read `name`?  Blanks around it and quotes do not count. */
bool pn_csv_field_is(const char *at, char separator, const char *name);
/** Whichever of , ; tab parts the line into most fields. */
char pn_csv_find_separator(const char *line);

#endif
