/* recipe_field.h -- one field of CSV text whose quoted texts may hold newlines.  Depends on: recipe.h, data.
 * Used by: recipe_file.c, recipe_field.c. */
#ifndef PN_RECIPE_FIELD_H
#define PN_RECIPE_FIELD_H

#include "data/files/csv_text.h"
#include "recipe/recipe.h"

/* Text of fields that is not what the file has: without quotes, in UTF-8.  All zeros: empty. */
typedef struct pn_field_text {
    char *bytes; /* [room] */
    size_t room;
} pn_field_text;

typedef struct pn_field_reader {
    char separator;
    pn_encoding encoding;
    pn_field_text plain, utf8;
} pn_field_reader;

void pn_field_clear(pn_field_reader *reader);

/** The newline that ends the record which begins at `line`, before `end`; NULL when a quoted text goes on past it. */
const char *pn_field_record_end(const char *line, const char *end, char separator);
/** The byte after the field at `at`, which is in a whole record. */
const char *pn_field_end(const char *at, char separator);

/**
 * The field at `at` without the blanks around it and its quotes, valid until the next is read.
 *   *after  the separator or end of the record that ends it.
 * Errors: PN_EPARSE ("text after a quoted text") with *after where it is; PN_ENOMEM.  The message has no place.
 */
pn_status pn_field_read(pn_field_reader *reader, const char *at, pn_recipe_value *value, const char **after,
                        pn_err *err);

#endif
