/* origin.h -- whose records a data set holds: a hash of what was read, and a name.  Every data set that is made of
 * another shares its origin, so that what was spent on any of them is spent on the same people.
 *
 * The hash (XXH3, 128 bits) is fast and not keyed: equal content gives equal numbers, by chance other content does in
 * one of 2^128 pairs, and who wants two files to have one hash can make them.  It is a fact about secret content, so
 * nobody is shown it: it is compared, and nothing else.
 * Depends on: status.h, xxhash.  Used by: data, privacy/ledger. */
#ifndef PN_CORE_ORIGIN_H
#define PN_CORE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct pn_content {
    uint64_t word[2];
} pn_content;

/* A hash that is made piece by piece; where the pieces end does not change it. */
typedef struct pn_digest pn_digest;

/** NULL when memory is short. */
pn_digest *pn_digest_new(void);
void pn_digest_free(pn_digest *digest); /* NULL allowed */
void pn_digest_add(pn_digest *digest, const void *bytes, size_t count);
/** Of all that was added so far. */
pn_content pn_digest_content(const pn_digest *digest);

/* Immutable; shared by counting, from any thread. */
typedef struct pn_origin pn_origin;

/** `name` is copied; `records` are those of the whole.  Errors: PN_ENOMEM. */
pn_status pn_origin_new(pn_origin **out, pn_content content, size_t records, const char *name, pn_err *err);
/** NULL gives NULL. */
pn_origin *pn_origin_keep(pn_origin *origin);
void pn_origin_free(pn_origin *origin); /* NULL allowed */

/** Whether the content is the same, whatever the name. */
bool pn_origin_same(const pn_origin *a, const pn_origin *b);
/** Not to be shown. */
pn_content pn_origin_content(const pn_origin *origin);
size_t pn_origin_records(const pn_origin *origin);
const char *pn_origin_name(const pn_origin *origin);

#endif
