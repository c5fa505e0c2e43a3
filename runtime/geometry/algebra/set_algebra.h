/* set_algebra.h -- sets made of sets.  Each result keeps its parts and offers what follows from what they offer.
 * Depends on: set.h.  Used by: norms, potentials, bindings. */
#ifndef PN_GEOMETRY_SET_ALGEBRA_H
#define PN_GEOMETRY_SET_ALGEBRA_H

#include "geometry/convex/set.h"
#include "penumbra/set.h"

/** The factors of C:product(D), borrowed; false for any other set, a scaled or shifted product included. */
bool pn_set_product_parts(const pn_set *set, const pn_set **a, const pn_set **b);
/** The summands of C + D, likewise. */
bool pn_set_sum_parts(const pn_set *set, const pn_set **a, const pn_set **b);
/** C and A of {A x : x in C}, likewise. */
bool pn_set_image_parts(const pn_set *set, const pn_set **inner, pn_mat *A);
/** Upper bounds of max ||A x||_q over ||x||_t <= 1, by [t][q], that hold for the sizes of A's entries as well but for t
 *  = q = 2. */
void pn_set_image_norms(const pn_set *image, double norms[PN_LP_COUNT][PN_LP_COUNT]);
/** The sets of C:intersect(D), likewise. */
bool pn_set_intersection_parts(const pn_set *set, const pn_set **a, const pn_set **b);
/** What coordinates first .. first + count - 1 of a product are in: factors, or a part of a box, scaled and shifted as
 *  the product is; `set` itself, kept, for all of them.  Errors: PN_EUNSUPPORTED where they cut through a factor (names
 *  it, and its coordinates from 1); PN_EDIM where there are not so many; PN_ENOMEM. */
pn_status pn_set_slice(pn_set **out, const pn_set *set, size_t first, size_t count, pn_err *err);
/** The sets of C:hull(D), likewise. */
bool pn_set_hull_parts(const pn_set *set, const pn_set **a, const pn_set **b);
/** factor * set + shift[dim], shift NULL for none: `set` itself, kept, where that is no change. */
pn_status pn_set_moved(pn_set **out, const pn_set *set, double factor, const double *shift, pn_err *err);
/** {(x, y) : weight[0] N_a(x)^2 + weight[1] N_b(y)^2 <= 1} for the gauges of two symmetric sets with supports, or
 *  {x + y} for `sum`, for which the dimensions agree.  Keeps both.  Errors: PN_ENOMEM; PN_EINVAL as set.h. */
pn_status pn_set_joined(pn_set **out, pn_set *a, pn_set *b, const double weight[2], bool sum, pn_err *err);
/** What such a set was made of, borrowed; false for any other set. */
bool pn_set_joined_parts(const pn_set *set, const pn_set *parts[2], double weight[2]);
/** Q = conv(C u -C): C itself when symmetric, the l1 ball for a simplex, else a hull. */
pn_status pn_set_symmetric_hull(pn_set **out, pn_set *set, pn_err *err);

#endif
