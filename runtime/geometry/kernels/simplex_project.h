/* simplex_project.h -- Euclidean projection onto {x >= 0, sum x = radius}.
 * Depends on: libc.  Used by: simplex.c, l1_ball.c, group_ball.c. */
#ifndef PN_GEOMETRY_SIMPLEX_PROJECT_H
#define PN_GEOMETRY_SIMPLEX_PROJECT_H

#include <stddef.h>

/**
 * x[n] <- its nearest point of the simplex of size `radius`, n >= 1.  scratch[n].
 * No sort: entries that cannot be positive are dropped by ever better thresholds; expected O(n).
 * Source: Michelot (1986), with the first threshold max x - radius of Condat (2016), bettered by a sample.
 */
void pn_simplex_project(double *x, size_t n, double radius, double *scratch);

/** As pn_simplex_project of the sizes |x_j|, with the signs of x: the nearest point of the l1 ball when ||x||_1 >=
 *  radius. */
void pn_l1_sphere_project(double *x, size_t n, double radius, double *scratch);

/**
 * A bound on the l2 error of both, and of leaving alone what has a computed sum of sizes <= radius: 4 n (n + 6) 2^-53
 * radius.  With u = 2^-53, differences to the largest entry that may count are of size radius, so a computed threshold
 * is off by at most d = (n + 4) u radius.  What it drops is at most d above the true one, which may lower the last
 * threshold, over k entries that end up positive, by (n/k + 1) d; those k entries are off by (n/sqrt(k) + sqrt(k)) d,
 * the others by n d in sum, and the sum of sizes of a point that is left alone is off by n u radius.
 */
double pn_simplex_project_error(size_t n, double radius);

#endif
