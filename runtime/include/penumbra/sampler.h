/* sampler.h -- the sampler makes the event: what draws the batch is what says how much a release on it costs.
 * Depends on: event.h, options.h, rng.h. */
#ifndef PENUMBRA_SAMPLER_H
#define PENUMBRA_SAMPLER_H

#include <stddef.h>

#include "penumbra/event.h"
#include "penumbra/options.h"
#include "penumbra/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_sampler pn_sampler;

/** Errors: PN_EUNSUPPORTED for an unknown scheme, and for a relation that the scheme has no proof for (the message
 *  names those that it has); PN_EINVAL; PN_ENOMEM. */
pn_status pn_sampler_new(pn_sampler **out, const char *name, const pn_options *options, pn_err *err);

void pn_sampler_free(pn_sampler *sampler);

/**
 * The event of releasing, for every batch that it covers, the batch's sum of contributions plus Gaussian noise.
 *   contribution  bound on the l2 norm of what one record adds to the sum, > 0: certified or clipped by the caller.
 *   sigma         of the noise on the sum.       draws  scalar draws of lattice noise in one release.
 *   rounding      what rounding to the lattice adds to the l2 sensitivity, >= 0.
 * Errors: PN_EINVAL for a number outside its range; PN_ENOMEM.
 */
pn_status pn_sampler_gaussian(pn_event **out, const pn_sampler *sampler, double sigma, double contribution,
                              double rounding, size_t draws, pn_err *err);

/** How many events `batches` batches cost from the start of a new sampler on: a pass that is begun costs the whole
 *  event. */
size_t pn_sampler_events(const pn_sampler *sampler, size_t batches);

/** The next batch: sampler->indices[0 .. *count-1], valid until the next draw; of full all records, without indices.
 *  Secret: it never reaches a script or a message, unless the stream is simulated.  Errors: PN_ENOMEM. */
pn_status pn_sampler_draw(pn_sampler *sampler, pn_rng *rng, size_t *count, pn_err *err);

/** The records of the batch that was drawn last, [count] from 0 and increasing; NULL: all of them.  Secret; valid
 *  until the next draw. */
const size_t *pn_sampler_batch(const pn_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
