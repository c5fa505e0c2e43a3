/* support_by_project.h -- the support function of a bounded set that can only be projected on.
 * Depends on: set.h.  Used by: custom_set.c, set_intersect.c, sets without a support function of their own. */
#ifndef PN_GEOMETRY_SUPPORT_BY_PROJECT_H
#define PN_GEOMETRY_SUPPORT_BY_PROJECT_H

#include "geometry/convex/set.h"

/**
 * max <g, x> and a point of the set that attains it to within 1e-10 radius ||g||_2, as pn_set_ops.support; the value is
 * that of the point, so never too large.  By the proximal point method x <- P(x + t g), which stops by its own
 * certificate: for every v of the set <g, v - x'> <= <x' - x, v - x'>/t <= ||x' - x|| 2 radius/t.  Exact after finitely
 * many steps over polytopes; when 300 steps do not show 1e-10, 1e-7 is enough.
 *   point  [dim] or NULL; untouched on failure.
 * Errors: what the projection fails with; PN_ENUMERIC when 300 steps do not reach that; PN_ENOMEM.
 * Source: Rockafellar (1976), Monotone operators and the proximal point algorithm.
 */
pn_status pn_support_by_project(const pn_set *set, const double *g, double *point, double *value, pn_err *err);

/** Where the next proximal step starts: start <- best, and on in the direction of the last move as long as that is
 *  forward along g.  last[dim] <- best; *since counts forward moves, 0 at first.  Source: Guler (1992),
 *  New proximal point algorithms. */
void pn_proximal_ahead(double *start, double *last, const double *best, const double *g, double *since, size_t dim);

#endif
