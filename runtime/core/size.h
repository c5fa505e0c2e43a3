/* size.h -- sizes that a caller sets: one cap for all of them, and sums and products that cannot wrap around.
 * Depends on: status.h.  Used by: core/param.c, which caps every count of a table,
 * and whatever makes a size of two others. */
#ifndef PN_CORE_SIZE_H
#define PN_CORE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* The largest dimension, number of records, count or length that anything takes: more bytes than a processor can
 * address, and small enough that sixteen bits are left above it for what the code multiplies sizes with. */
#define PN_SIZE_MAX ((size_t)1 << 48)

/** *out = a + b, or a * b; false, and *out untouched, when the result is more than PN_SIZE_MAX. */
bool pn_size_add(size_t *out, size_t a, size_t b);
bool pn_size_multiply(size_t *out, size_t a, size_t b);

/** *out = x, a whole number from 0 to PN_SIZE_MAX; false, and *out untouched, for any other x,
 *  NaN too: what a cast is undefined for. */
bool pn_size_from(size_t *out, double x);

/** PN_OK for a value up to PN_SIZE_MAX.  Errors: PN_EINVAL "owner: name must be at most 2^48,
 *  got 9223372036854775807". */
pn_status pn_size_check(const char *owner, const char *name, size_t value, pn_err *err);

/**
 * *out = a + b, or a * b.
 *   what  says what is added up or multiplied: "the dimensions of both sets", "rows x cols".
 * Errors: PN_EINVAL "owner: what, 5 x 7, must be at most 2^48"; *out is then untouched.
 */
pn_status pn_size_sum(size_t *out, const char *owner, const char *what, size_t a, size_t b, pn_err *err);
pn_status pn_size_product(size_t *out, const char *owner, const char *what, size_t a, size_t b, pn_err *err);

#endif
