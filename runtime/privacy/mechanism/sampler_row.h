/* sampler_row.h -- what the schemes of the sampler table share.  Private to privacy/.
 * Depends on: sampler.h.  Used by: sampler*.c. */
#ifndef PN_PRIVACY_SAMPLER_ROW_H
#define PN_PRIVACY_SAMPLER_ROW_H

#include "privacy/mechanism/sampler.h"

/* One row, one line. */
#define PN_SAMPLERS(X)                                                                                                 \
    X(full)                                                                                                            \
    X(poisson)                                                                                                         \
    X(declared)                                                                                                        \
    X(fixed)                                                                                                           \
    X(shuffled)
#define PN_DECLARE(name) extern const pn_sampler_ops pn_sampler_##name;
PN_SAMPLERS(PN_DECLARE)
#undef PN_DECLARE

/* A scheme that is only proven for some relations says so here. */
typedef struct pn_sampler_proof {
    bool has[3];         /* by pn_neighbours */
    const char *because; /* why the others are missing */
} pn_sampler_proof;

/** A zeroed sampler of `size` bytes (the scheme's own struct) with n indices.
 *  Errors: PN_EUNSUPPORTED for a relation without proof; PN_EINVAL for a batch outside 1..n; PN_ENOMEM. */
pn_status pn_sampler_make(pn_sampler **out, size_t size, const pn_sampler_ops *ops, const pn_sampler_proof *proof,
                          size_t n, size_t batch, pn_neighbours neighbours, pn_err *err);
/** Likewise without indices: of a scheme whose every batch is all records.  Errors: as above. */
pn_status pn_sampler_make_all(pn_sampler **out, size_t size, const pn_sampler_ops *ops, const pn_sampler_proof *proof,
                              size_t n, size_t batch, pn_neighbours neighbours, pn_err *err);
void pn_sampler_destroy(pn_sampler *self);

/** 2 under replace_one, else 1: what one record does to the sum of all. */
double pn_sampler_whole(const pn_sampler *self);
/** The batch's event is the whole event. */
pn_status pn_sampler_same_event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err);

#endif
