/* width_quadrature.h -- Gaussian widths that are known functions or one-dimensional integrals of the normal and chi
 * laws.  All are of unit bodies; each states an interval that holds the rounding and the error of the rule.
 * Depends on: width.h, numeric/quadrature.h, numeric/special.h.  Used by: the sets of vectors of this room.
 * See geometry.md sections 2.1 to 2.5. */
#ifndef PN_GEOMETRY_WIDTH_QUADRATURE_H
#define PN_GEOMETRY_WIDTH_QUADRATURE_H

#include <stddef.h>

#include "geometry/width/width.h"

/** `value` of a formula, good to 1e-13 relative. */
pn_width pn_width_exactly(double value);
/** The width of factor times the body, factor > 0. */
pn_width pn_width_times(pn_width width, double factor);

pn_width pn_width_of_l2(size_t dim);               /* E ||b||_2 */
pn_width pn_width_of_l1(size_t dim);               /* E max |b_j| */
pn_width pn_width_of_simplex(size_t dim);          /* E max b_j */
pn_width pn_width_of_unit_simplex(size_t dim);     /* E max(0, b_1, .., b_dim) */
pn_width pn_width_of_groups(size_t dim, size_t k); /* E max over blocks of k of ||b^(j)||_2; the last may be shorter */
pn_width pn_width_of_reaches(const double *reach, size_t count); /* E max reach_j |b_j|, reach_j >= 0 */

#endif
