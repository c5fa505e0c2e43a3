/* potential_parts.h -- what the rows of the table of potentials share.
 * Depends on: potential.h.  Used by: potential_*.c. */
#ifndef PN_GEOMETRY_POTENTIAL_PARTS_H
#define PN_GEOMETRY_POTENTIAL_PARTS_H

#include <stdbool.h>

#include "geometry/potential.h"

/* Rows work in pieces that stay in the first cache. */
#define PN_POTENTIAL_PIECE 1024

/** A box of the table, scaled and shifted as may be: there a separable potential's step clips what it does without the set. */
bool pn_set_is_a_box(const pn_set *set);

/**
 * Whether the l1 norm (or what `reach` is measured in) stays in the part of space where the constant of a potential holds.
 * Errors: PN_EINVAL, which says the radius that would do.
 */
pn_status pn_potential_reach(const char *owner, double radius, double reach, const char *norm, pn_err *err);

/** out[n] is finite, or PN_ENUMERIC with the entry: for results that may overflow. */
pn_status pn_potential_finite(const char *owner, const double *out, size_t n, pn_err *err);

/** max x[n], n >= 1. */
double pn_potential_largest(const double *x, size_t n);

/** A bound rounded outward past the rounding of its own formula. */
static inline double pn_potential_up(double bound)
{
    return bound * (1.0 + 1e-14);
}

#endif
