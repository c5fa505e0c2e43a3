/* draw.h -- points uniform in unit balls, in doubles: for starts, tests and pictures, never as private noise.
 * Depends on: random.  Used by: the sets of vectors of this room. */
#ifndef PN_GEOMETRY_DRAW_H
#define PN_GEOMETRY_DRAW_H

#include <stddef.h>

#include "random/rng.h"

/** out[n]: exponential numbers of mean 1. */
void pn_draw_exponentials(pn_rng *rng, size_t n, double *out);

/** Gamma of a shape > 0 and scale 1.  Source: Marsaglia, Tsang (2000). */
double pn_draw_gamma(pn_rng *rng, double shape);

/** out[n]: uniform over {x >= 0, sum x = 1}; over {x >= 0, sum x <= 1}; over {||x||_1 <= 1}. */
void pn_draw_simplex(pn_rng *rng, size_t n, double *out);
void pn_draw_unit_simplex(pn_rng *rng, size_t n, double *out);
void pn_draw_l1_ball(pn_rng *rng, size_t n, double *out);

#endif
