/* width_draws.h -- the mean of many draws of max_{v in C} <b, v>, b standard normal.
 * Depends on: set.h.  Used by: width.c. */
#ifndef PN_GEOMETRY_WIDTH_DRAWS_H
#define PN_GEOMETRY_WIDTH_DRAWS_H

#include "geometry/convex/set.h"

typedef struct pn_draws_mean {
    size_t count;
    double mean, squares; /* sum of (draw - mean)^2 */
} pn_draws_mean;

/**
 * Add `draws` draws to *of.  Each block of draws has its own stream split from `rng`, which itself gives one number, so
 * that the result depends on the seed and not on the threads.
 *   both  average each draw with that of -b.
 * Errors: what the support fails with; PN_ECANCELLED; PN_ENOMEM.
 */
pn_status pn_draw_widths(const pn_set *set, size_t draws, bool both, pn_rng *rng, pn_task *task, pn_draws_mean *of,
                         pn_err *err);

#endif
