/* set_algebra.h -- sets made of sets.  Each result keeps its parts and offers what follows from what they offer.
 * Depends on: set.h.  Used by: norms, potentials, bindings. */
#ifndef PN_GEOMETRY_SET_ALGEBRA_H
#define PN_GEOMETRY_SET_ALGEBRA_H

#include "geometry/convex/set.h"

/* All: PN_EDIM when dimensions do not fit (names both), PN_EINVAL for sizes above 2^48 (size.h), PN_ENOMEM.  Parts are kept. */

/** C + D = {x + y}.  Support, radius (bound) and width add.  Projection by the support points (set.h). */
pn_status pn_set_sum(pn_set **out, pn_set *a, pn_set *b, pn_err *err);
/** C n D.  Projection by Dykstra's alternation to 1e-10; support by the same on far points is refused: see set_intersect.c for what is
 *  computed and to which tolerance.  PN_EINVAL when the sets are found to be disjoint. */
pn_status pn_set_intersect(pn_set **out, pn_set *a, pn_set *b, pn_err *err);
/** C x D in dimension dim C + dim D: everything blockwise. */
pn_status pn_set_product(pn_set **out, pn_set *a, pn_set *b, pn_err *err);
/** The factors of C:product(D), borrowed; false for any other set, a scaled or shifted product included. */
bool pn_set_product_parts(const pn_set *set, const pn_set **a, const pn_set **b);
/** conv(C u D).  Support is the larger one. */
pn_status pn_set_hull(pn_set **out, pn_set *a, pn_set *b, pn_err *err);
/** {A x : x in C}, A copied [rows x dim].  Support of g is that of A^T g. */
pn_status pn_set_image(pn_set **out, pn_set *set, pn_mat A, pn_err *err);
/** {y : <y, x> <= 1 for all x in C}.  Support and gauge change places.  Balls of the table give the ball of the dual norm.
 *  PN_EUNSUPPORTED unless the origin is inside and a gauge exists. */
pn_status pn_set_polar(pn_set **out, pn_set *set, pn_err *err);
/** Q = conv(C u -C): C itself when symmetric, the l1 ball for a simplex, else a hull. */
pn_status pn_set_symmetric_hull(pn_set **out, pn_set *set, pn_err *err);

#endif
