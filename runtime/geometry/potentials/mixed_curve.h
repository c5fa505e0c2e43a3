/* mixed_curve.h -- the root y of y^e + y = tau as a function of ln tau, from a table: many roots with one exponent.
 * Depends on: libm, numeric/simd/simd.h.  Used by: mixed_root.c. */
#ifndef PN_GEOMETRY_MIXED_CURVE_H
#define PN_GEOMETRY_MIXED_CURVE_H

#include <stddef.h>

#define PN_MIXED_NODES 1536

typedef struct pn_mixed_node {
    double z, power; /* ln y and y^e */
    double c[3];     /* ln y = z + t (c0 + t (c1 + t c2)) at the share t of the way to the next node */
} pn_mixed_node;

/* Nodes every `step` (two widths, since the curve bends sharply below `knee`) for ln tau in [low, high]. */
typedef struct pn_mixed_curve {
    double e, low, high;
    double step[2], per_unit[2]; /* below and above the knee, and their reciprocals */
    size_t below;                /* nodes below the knee */
    pn_mixed_node node[PN_MIXED_NODES];
} pn_mixed_curve;

/** For one exponent 0.04 < e <= 0.11: 1 / ln n for n from 10^4 to 10^10. */
void pn_mixed_curve_open(pn_mixed_curve *curve, double e);

/** y[n], to about 1e-14 relatively, and slope[n] = dy/dtau, to 1e-5, at tau > 0 with its logarithms;
 *  n <= PN_POTENTIAL_PIECE.  All apart. */
void pn_mixed_curve_at(const pn_mixed_curve *curve, size_t n, const double *tau, const double *log_tau, double *y,
                       double *slope);

#endif
