/* sampler.h -- the sampler makes the event: the object that draws the batch is the one that says what a release on it costs,
 * so a scheme that is run and another that is accounted for cannot be written down.
 * Depends on: event.h, random/sample.h.  Used by: solvers, bindings.  Spec: accounting.md sections 1 and 4, noise.md section 8. */
#ifndef PN_PRIVACY_SAMPLER_H
#define PN_PRIVACY_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "privacy/event/event.h"
#include "random/rng.h"

typedef struct pn_sampler pn_sampler;

typedef struct pn_sampler_ops {
    const char *name; /* "full", "poisson", "fixed", "shuffled" */
    const char *doc;
    const char *source;
    const pn_param *params; /* n first; the binding adds `neighbours` */
    pn_status (*create)(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err);
    void (*destroy)(pn_sampler *self);
    /* l2 (or l1) sensitivity of the batch's event when one record contributes at most 1 to the sum over the batch. */
    double (*sensitivity)(const pn_sampler *self);
    /* Wrap the event of one noisy batch sum (its sensitivity as `sensitivity` says) into that of `per_event` of them. */
    pn_status (*event)(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err);
    /* Fill indices, where there are any, with the next batch. */
    pn_status (*draw)(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err);
} pn_sampler_ops;

/* Which relations a scheme has:
 *     full       replace_one, add_remove, zero_out (add_remove for sums; what divides by n would reveal it)
 *     poisson    all three; under replace_one the same coin decides about either version of the record
 *     fixed      replace_one
 *     shuffled   replace_one, zero_out
 * With replacement there is none: multiplicities make that another mechanism, and no bound for it composes.
 * Under add_remove the number of records is itself protected: divide by a public constant there, not by n or batch. */
struct pn_sampler {
    const pn_sampler_ops *ops;
    pn_neighbours neighbours;
    size_t n;         /* records */
    size_t batch;     /* records in a batch: exact for fixed and shuffled, expected (rounded) for poisson */
    size_t per_event; /* batches that one event covers: 1, or all of a shuffled pass */
    size_t *indices; /* [n]: the drawn records, increasing within a batch; secret.  NULL: all records, in every batch */
};

/** The table, ended by NULL. */
const pn_sampler_ops *const *pn_sampler_table(void);
/** Errors: PN_EUNSUPPORTED for an unknown scheme, and for a relation that the scheme has no proof for (the message names
 *  those that it has); PN_EINVAL; PN_ENOMEM. */
pn_status pn_sampler_new(pn_sampler **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
void pn_sampler_free(pn_sampler *sampler);
/** Why there is no scheme with replacement. */
extern const char pn_sampler_no_replacement[];

/**
 * The event of releasing, for every batch that it covers, the batch's sum of contributions plus Gaussian noise.
 *   contribution  bound on the l2 norm of what one record adds to the sum, > 0: certified or clipped by the caller.
 *   sigma         of the noise on the sum.       draws  scalar draws of lattice noise in one release.
 *   rounding      what rounding to the lattice adds to the l2 sensitivity (pn_lattice_l2 minus the exact one), >= 0.
 * Errors: PN_EINVAL for a number outside its range; PN_ENOMEM.
 */
pn_status pn_sampler_gaussian(pn_event **out, const pn_sampler *sampler, double sigma, double contribution,
                              double rounding, size_t draws, pn_err *err);

/** How many events `batches` batches cost from the start of a new sampler on: a pass that is begun costs the whole event. */
size_t pn_sampler_events(const pn_sampler *sampler, size_t batches);

/** The next batch: sampler->indices[0 .. *count-1], valid until the next draw; of full all records, without indices.  Secret: it never reaches a script or a
 *  message, unless the stream is simulated.  Errors: PN_ENOMEM. */
pn_status pn_sampler_draw(pn_sampler *sampler, pn_rng *rng, size_t *count, pn_err *err);

#endif
