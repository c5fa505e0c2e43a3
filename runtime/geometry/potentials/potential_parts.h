/* potential_parts.h -- what the rows of the table of potentials share.
 * Depends on: potential.h.  Used by: potential_*.c. */
#ifndef PN_GEOMETRY_POTENTIAL_PARTS_H
#define PN_GEOMETRY_POTENTIAL_PARTS_H

#include <stdbool.h>

#include "geometry/potentials/potential.h"

/* Rows work in pieces that stay in the first cache. */
#define PN_POTENTIAL_PIECE 1024

/* A list of vertices that holds more numbers than this is not walked through. */
#define PN_POTENTIAL_MOST_VERTEX_NUMBERS 1e8

/** A box of the table, scaled and shifted as may be: there a separable potential's step clips what it does without the
 *  set. */
bool pn_set_is_a_box(const pn_set *set);

/** set = other n box, a box of the table among its two parts?  Borrowed. */
bool pn_set_boxed_parts(const pn_set *set, const pn_set **other, const pn_set **box);

/* Makes the potential of a part, in which noise that is seen through A is to cost least; A.data NULL: as it is. */
typedef pn_status (*pn_part_potential)(pn_potential **out, pn_set *part, pn_mat A, pn_err *err);

/**
 * The potential of a product, sum or image, set == C x D, C + D, M C, or one of these scaled and shifted
 * (potential_composed.c), to be seen through A, as above.  *out stays NULL where the parts have no range, an image is
 * one point, or the set is none of these.
 */
pn_status pn_potential_composed(pn_potential **out, pn_set *set, pn_mat A, pn_part_potential fitting, pn_err *err);

/** *square = the largest ||A e_j - c||_2^2, the less of that about c = 0 and, where `centered`, about the mean of the
 *  columns.  Errors: PN_ENOMEM. */
pn_status pn_potential_largest_column(pn_mat A, bool centered, double *square, pn_err *err);

/**
 * Whether the l1 norm (or what `reach` is measured in) stays in the part of space where the constant of a potential
 * holds.
 * Errors: PN_EINVAL, which says the radius that would do.
 */
pn_status pn_potential_reach(const char *owner, double radius, double reach, const char *norm, pn_err *err);

/** out[n] is finite, or PN_ENUMERIC with the entry: for results that may overflow. */
pn_status pn_potential_finite(const char *owner, const double *out, size_t n, pn_err *err);
/** The same where the first such entry is known; n: none. */
pn_status pn_potential_finite_to(const char *owner, size_t bad, size_t n, pn_err *err);

/** ends[2n]: the least and then the largest entries of the points of a set, by its support function; a box has two
 *  corners that show them all.  room[n].  Errors: of the support function. */
pn_status pn_potential_ends(const pn_set *set, double *room, double *ends, pn_err *err);

/** max x[n], n >= 1. */
double pn_potential_largest(const double *x, size_t n);
/** min x[n], n >= 1. */
double pn_potential_least(const double *x, size_t n);
/** max |x[n]|, n >= 1. */
double pn_potential_magnitude(const double *x, size_t n);

/** All of space. */
bool pn_set_is_free(const pn_set *set);

/** For rows with a `center` option: *out = the potential shifted there, or itself when none is given.  Takes over the
 *  caller's reference, also on failure.  Errors: PN_EDIM (both sizes), PN_ENOMEM. */
pn_status pn_potential_center_at(pn_potential **out, pn_potential *potential, const char *owner, const pn_arg *center,
                                 pn_err *err);

/** A bound rounded outward past the rounding of its own formula. */
static inline double pn_potential_up(double bound)
{
    return bound * (1.0 + 1e-14);
}

#endif
