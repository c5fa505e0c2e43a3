/* mixed_root.h -- sums of roots s_j of power s^e + linear s = b_j, and the step over the ball of the mixed norm that
 * they make.
 * Depends on: numeric/.  Used by: potential_interpolation.c.  See geometry.md section 3.3. */
#ifndef PN_GEOMETRY_MIXED_ROOT_H
#define PN_GEOMETRY_MIXED_ROOT_H

#include <stddef.h>

/* min over s >= 0 of sum power s^{e+1}/(e+1) + alpha s^2/2 - |c_j| s_j,
 * with (1 - alpha) sum s + alpha ||s||_2 <= size. */
typedef struct pn_mixed_problem {
    const double *c; /* [n] */
    size_t n;
    double alpha, power, exponent; /* exponent in (0, 1] */
    double size;
} pn_mixed_problem;

/* The optimum has s_j with power s^e + (alpha + w) s = (|c_j| - nu (1 - alpha))_+ and w ||s||_2 = nu alpha. */
typedef struct pn_mixed_root {
    double nu, w;
} pn_mixed_root;

/** out[n] = the signed s_j at the optimum; out may be c.  size INFINITY: without the bound. */
void pn_mixed_step(const pn_mixed_problem *problem, double *out);

#endif
