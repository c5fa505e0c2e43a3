/* text.h -- a text file, gzip or plain, handed out line by line.
 * Depends on: core, ahead.h, zlib.  Used by: libsvm.c, csv.c, csv_column.c,
 * recipe. */
#ifndef PN_DATA_TEXT_H
#define PN_DATA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <zlib.h>

#include "core/status.h"
#include "core/task.h"
#include "data/files/ahead.h"

typedef struct pn_text {
    const char *path; /* kept */
    const char *name; /* the last part of the path */
    char label[96];   /* "reading NAME", for progress */
    pn_task *task;    /* kept; may be NULL */
    gzFile file;
    pn_ahead *ahead; /* reads the file */
    size_t piece;    /* bytes that it reads at a time, but for the last */
    double bytes;    /* size of the file as it lies on disk, 0 when unknown */
    void *c_locale;  /* a locale_t: the "C" locale, whatever the user has set */
    char *buffer;
    size_t capacity, next, end; /* buffer[next..end): read, not yet handed out */
    bool finished;
    size_t line; /* number of the line in hand */
} pn_text;

/** Open a file.  On failure nothing needs closing.  Errors: PN_EIO, PN_ENOMEM. */
pn_status pn_text_open(pn_text *text, const char *path, pn_task *task, pn_err *err);
/** A zeroed or opened text. */
void pn_text_close(pn_text *text);

/**
 * Call read(self, line) for each line of the file, counted in text->line and ended by a newline
 * (one is added to a last line that has
 * none).  A byte order mark at the start is left out.  What `read` returns other than PN_OK ends it.
 * Errors: PN_EIO when reading fails or the gzip stream is damaged or cut short; PN_ENOMEM; PN_ECANCELLED;
 * those of `read`.
 */
pn_status pn_text_each_line(pn_text *text, pn_status (*read)(void *self, const char *line, pn_err *err), void *self,
                            pn_err *err);

#define PN_TEXT_RECORD ((size_t)8 << 20) /* more than the bytes of any record of several lines */

/**
 * As pn_text_each_line for records that may go over several lines; text->line is that in which a record begins.
 *   ends  gives the newline that ends the record which begins at `line`, before `end`; NULL when it goes on past `end`.
 * Errors: also PN_EPARSE for a record that goes on at the end of the file, or for one of more than
 * half of PN_TEXT_RECORD bytes.
 */
pn_status pn_text_each_record(pn_text *text, const char *(*ends)(const void *self, const char *line, const char *end),
                              pn_status (*read)(void *self, const char *line, pn_err *err), void *self, pn_err *err);

/**
 * "FILE:LINE:COLUMN: expected ..., found ..." as PN_EPARSE.
 *   line  start of the line in hand (number text->line);  at  the offending byte in it;
 *   stop  bytes that end the quoted piece besides white space, e.g. ",;".
 */
pn_status pn_text_fail(const pn_text *text, const char *line, const char *at, const char *stop, pn_err *err,
                       const char *expected, ...) PN_PRINTF(6, 7);

#endif
