/* nearest.h -- the point of conv{v_1..v_k} that is nearest to x.  Depends on: core.  Used by: polytope.c. */
#ifndef PN_GEOMETRY_NEAREST_H
#define PN_GEOMETRY_NEAREST_H

#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

/**
 * Wolfe's minimum-norm-point method.
 *   residual  [cols] out: nearest - x.
 *   vertices  rows are the vertices, at least one.
 *   reach     stop as soon as the distance is shown to be <= reach or > reach; negative: find the nearest point to about
 *             1e-12 of the vertices' distances from x.
 * *distance: the length of residual; when it was shown to be > reach, a lower bound that is > reach.
 * Errors: PN_ENOMEM, PN_ENUMERIC.
 * Source: Wolfe (1976), Finding the nearest point in a polytope.
 */
pn_status pn_nearest_point(double *residual, double *distance, pn_mat vertices, const double *x, double reach,
                           pn_err *err);

#endif
