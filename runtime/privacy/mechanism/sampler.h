/* sampler.h -- the sampler makes the event: the object that draws the batch is the one that says what a release on it
 * costs, so a scheme that is run and another that is accounted for cannot be written down.
 * Depends on: event.h, random/sample.h.  Used by: solvers, bindings.  See accounting.md sections 1 and 4,
 * noise.md section 8. */
#ifndef PN_PRIVACY_SAMPLER_H
#define PN_PRIVACY_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "privacy/event/event.h"
#include "random/rng.h"
#include "penumbra/sampler.h"

typedef struct pn_sampler_ops {
    const char *name; /* "full", "poisson", "declared", "fixed", "shuffled" */
    const char *doc;
    const char *source;
    const pn_param *params; /* n first, of which declared needs none; the binding adds `neighbours` */
    pn_status (*create)(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err);
    void (*destroy)(pn_sampler *self);
    /* l2 (or l1) sensitivity of the batch's event when one record contributes at most 1 to the sum over the batch. */
    double (*sensitivity)(const pn_sampler *self);
    /* Wrap the event of one noisy batch sum (its sensitivity as `sensitivity` says) into that of `per_event` of
     * them. */
    pn_status (*event)(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err);
    /* Fill indices, where there are any, with the next batch. */
    pn_status (*draw)(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err);
} pn_sampler_ops;

/* Which relations a scheme has:
 *     full       replace_one, add_remove, zero_out (add_remove for sums; what divides by n would reveal it)
 *     declared   replace_one, zero_out
 *     poisson    all three; under replace_one the same coin decides about either version of the record
 *     fixed      replace_one
 *     shuffled   replace_one, zero_out
 * With replacement there is none: multiplicities make that another mechanism, and no bound for it composes.
 * Under add_remove the number of records is itself protected: divide by a public constant there, not by n or batch. */
struct pn_sampler {
    const pn_sampler_ops *ops;
    pn_neighbours neighbours;
    size_t n;     /* records */
    size_t batch; /* records in a batch: exact for fixed and shuffled, expected (rounded) for poisson and declared */
    size_t per_event; /* batches that one event covers: 1, or all of a shuffled pass */
    size_t *indices; /* [n]: the drawn records, increasing within a batch; secret.  NULL: all records, in every batch */
};

/** The table, ended by NULL. */
const pn_sampler_ops *const *pn_sampler_table(void);
/** pn_sampler_new with its arguments, one for each row of its table, and a relation. */
pn_status pn_sampler_from_args(pn_sampler **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
/** Why there is no scheme with replacement. */
extern const char pn_sampler_no_replacement[];

#endif
