/* active_set.h -- the nearest point of { x : A x <= b }, and linear programs over it through nearest points.
 * For small dense systems: a step costs O(dim (rows + k^2)) with k active rows.
 * Depends on: core, blas.h.  Used by: polyhedron.c, polytope.c. */
#ifndef PN_GEOMETRY_ACTIVE_SET_H
#define PN_GEOMETRY_ACTIVE_SET_H

#include <stdbool.h>

#include "core/status.h"
#include "core/view.h"

/* Rows of length 1, or 0 (then b >= 0: such a row says nothing).  Borrowed. */
typedef struct pn_inequalities {
    pn_mat A;
    const double *b; /* [A.rows], or NULL for zeros */
} pn_inequalities;

/**
 * x[A.cols] <- the nearest point, to about 1e-12 of the numbers' size; x unchanged on failure.
 *   weight  [A.rows] or NULL: out, w >= 0 with before - after = A^T w, positive only on rows that hold with equality.
 *   *empty  no point satisfies all rows: x and weight are left alone.
 * Errors: PN_ENOMEM, PN_ENUMERIC when the active set does not settle.
 * Source: Goldfarb, Idnani (1983), A numerically stable dual method for strictly convex quadratic programs.
 */
pn_status pn_nearest_in(double *x, double *weight, bool *empty, pn_inequalities in, pn_err *err);

/**
 * max <c, x> over A x <= b, from a point x[A.cols] of the set, which ends as a maximiser.
 *   weight  [A.rows] or NULL: out, w >= 0 with A^T w = c up to rounding: the dual solution.
 *   *value  +inf when there is no maximum: then x and weight are left alone.  Decided by the distance of c from the
 *           cone of the rows, to 1e-11 of ||c||.
 * Errors: as above.
 * Source: Rockafellar (1976), the proximal point method, which ends after finitely many steps on linear programs.
 */
pn_status pn_maximise_in(double *value, double *x, double *weight, const double *c, pn_inequalities in, pn_err *err);

#endif
