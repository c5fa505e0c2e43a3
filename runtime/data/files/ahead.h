/* ahead.h -- reads a gzip or plain file piece by piece, inflating the next piece while this one is parsed.
 * Depends on: core, zlib, POSIX threads.  Used by: text.c. */
#ifndef PN_DATA_AHEAD_H
#define PN_DATA_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include <zlib.h>

#include "core/origin.h"

#define PN_PIECE_BYTES ((size_t)256 << 10) /* the most at a time: small enough for the second-level cache */

typedef struct pn_piece {
    char *bytes;
    size_t used;
    bool last;     /* nothing comes after it */
    int code;      /* Z_OK, or zlib's error; then it is the last, and its bytes are void */
    double offset; /* compressed bytes read so far */
    char why[64];  /* zlib's words */
} pn_piece;

typedef struct pn_ahead pn_ahead;

/**
 * file      kept; nobody else may use it until pn_ahead_close.
 * bytes     of a piece, at most PN_PIECE_BYTES; the last one has fewer.
 * threaded  read in a thread of its own; without it, or when none can be had, pieces are read when they are asked for.
 * NULL when memory is short.
 */
pn_ahead *pn_ahead_open(gzFile file, size_t bytes, bool threaded);
/** The next piece, valid until the next call; not to be called after the last one. */
const pn_piece *pn_ahead_next(pn_ahead *ahead);
/** The hash of all bytes of the pieces so far: of the whole file, inflated, once the last is handed out. */
pn_content pn_ahead_content(const pn_ahead *ahead);
/** Stops the thread; NULL is allowed.  The file stays open. */
void pn_ahead_close(pn_ahead *ahead);

#endif
