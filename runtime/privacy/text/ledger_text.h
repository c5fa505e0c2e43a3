/* ledger_text.h -- a text that grows, and quoted texts, and sizes in texts.  Private to privacy/.  Depends on: core/.
 * Used by: event_text.c, event_read.c, ledger_*.c. */
#ifndef PN_PRIVACY_LEDGER_TEXT_H
#define PN_PRIVACY_LEDGER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* Start with all zero.  After a failed allocation it stays as it is and says so. */
typedef struct pn_text {
    char *data; /* NUL-terminated, owned; NULL while empty */
    size_t used, room;
    bool failed;
} pn_text;

void pn_text_add(pn_text *text, const char *format, ...) PN_PRINTF(2, 3);
/** In quotes, with \\, \", \n and \xHH for control characters. */
void pn_text_quote(pn_text *text, const char *plain);
void pn_text_clear(pn_text *text);

/* Numbers are written and read in the "C" locale, whatever the host has set: between these two, on one thread. */
typedef struct pn_plain_numbers {
    void *plain, *before; /* locale_t */
} pn_plain_numbers;
/** Errors: PN_ENOMEM, and there is nothing to end. */
pn_status pn_plain_begin(pn_plain_numbers *self, pn_err *err);
void pn_plain_end(pn_plain_numbers *self);

/** Undo pn_text_quote at *cursor and move it behind: *out is allocated.  Errors: PN_EPARSE, PN_ENOMEM. */
pn_status pn_text_unquote(char **out, const char **cursor, pn_err *err);
/** Read a whole number from 0 to PN_SIZE_MAX at *cursor and move it behind.  Errors: PN_EPARSE. */
pn_status pn_text_size(size_t *out, const char **cursor, pn_err *err);
/** PN_EPARSE: expected `what` at `where`. */
pn_status pn_text_malformed(pn_err *err, const char *what, const char *where);

#endif
