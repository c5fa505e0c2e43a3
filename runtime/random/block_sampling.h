/* block_sampling.h -- which blocks of [d] a step looks at: a distribution over subsets,
 * drawn independently in every step.
 *   full         all of them
 *   serial       one, uniformly or with weights p
 *   nice         a uniform subset of tau
 *   distributed  d blocks in K groups of c = d/K (unequal groups allowed); tau of every group
 *   custom       drawn by a callback, with declared inclusion probabilities
 * Depends on: core, rng.h.  Used by: objective/measures/expected_curvature.h,
 * solvers/frank_wolfe/block_frank_wolfe.c, bindings.
 * Source: Lou, Cheung (2018), section 3; Richtarik, Takac (2016) for the names. */
#ifndef PN_RANDOM_BLOCK_SAMPLING_H
#define PN_RANDOM_BLOCK_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "random/rng.h"

typedef struct pn_block_sampling pn_block_sampling;

/* Blocks first[k] .. first[k + 1] - 1 are group k, of which a draw takes tau at random,
 * of each group alike and independently. */
typedef struct pn_block_groups {
    size_t count, tau;
    const size_t *first; /* [count + 1] borrowed */
} pn_block_groups;

typedef struct pn_block_sampling_ops {
    const char *name; /* "nice" */
    const char *doc, *source;
    const pn_param *params; /* every row begins with `blocks`; NULL for custom, which is no row of the table */
    pn_status (*create)(pn_block_sampling **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_block_sampling *self);
    /* indices[blocks] rising, *count of them: may be 0. */
    pn_status (*draw)(const pn_block_sampling *self, pn_rng *rng, size_t *indices, size_t *count, pn_err *err);
    double (*inclusion)(const pn_block_sampling *self, size_t i); /* p_i > 0 */
    double (*pair)(const pn_block_sampling *self, size_t i,
                   size_t j);                     /* P(i and j), p_i for i = j; NaN: not declared */
    double (*top)(const pn_block_sampling *self); /* lambda'(P) */
    void (*groups)(const pn_block_sampling *self, pn_block_groups *out); /* NULL: it is not drawn group by group */
} pn_block_sampling_ops;

/* Implementations embed this head first. */
struct pn_block_sampling {
    const pn_block_sampling_ops *ops;
    size_t blocks;
    double least; /* p_min */
    double mean;  /* E |T| = sum p_i */
    int references;
};

/** full, serial, nice, distributed; ended by NULL. */
const pn_block_sampling_ops *const *pn_block_sampling_table(void);
/** By name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for probabilities that are not in
 *  (0, 1] or do not sum to 1 (serial), tau beyond its group, more than 2^26 blocks; PN_EDIM for lists of another
 *  length; PN_ENOMEM. */
pn_status pn_block_sampling_new(pn_block_sampling **out, const char *name, pn_arg *args, pn_err *err);
pn_block_sampling *pn_block_sampling_keep(pn_block_sampling *sampling);
void pn_block_sampling_free(pn_block_sampling *sampling); /* NULL allowed */

/** indices[blocks]: rising, from 0; what a callback drew is sorted, and refused (PN_EINVAL) with a repeat or an index
 *  out of range.  rng NULL only for full.  Errors: PN_ENOMEM; what a callback returns. */
pn_status pn_block_sampling_draw(const pn_block_sampling *sampling, pn_rng *rng, size_t *indices, size_t *count,
                                 pn_err *err);
/** Whether P(i and j) is declared for every pair. */
bool pn_block_sampling_has_pairs(const pn_block_sampling *sampling);
/** lambda'(P): the top eigenvalue of Diag(P)^-1/2 P Diag(P)^-1/2, an upper bound; in [1, blocks].  Of named samplings,
 *  whose draws are all of one size, it is that size; by LAPACK from declared pairs;
 *  `blocks` where nothing is declared. */
double pn_block_sampling_top(const pn_block_sampling *sampling);
/** full, nice (one group) and distributed; false for the others. */
bool pn_block_sampling_groups(const pn_block_sampling *sampling, pn_block_groups *out);

/** For custom: a callback of a host's. */
typedef struct pn_block_draw {
    void *self;
    pn_status (*draw)(void *self, pn_rng *rng, size_t *indices, size_t *count, size_t blocks, pn_err *err);
    void (*release)(void *self); /* NULL: nothing.  Not called when pn_block_sampling_custom fails */
} pn_block_draw;
/** p[blocks] in (0, 1]; pairs: symmetric, p on its diagonal, and such as some law of subsets has
 *  (each entry possible for its two blocks, no negative eigenvalue), else PN_EINVAL.  Whether the callback keeps to
 *  them is not seen: bounds rest on what is declared. */
pn_status pn_block_sampling_custom(pn_block_sampling **out, size_t blocks, const double *p,
                                   const double *pairs /* [blocks * blocks] or NULL */, const pn_block_draw *draw,
                                   pn_err *err);

/* ---- for implementations ---- */

extern const pn_block_sampling_ops pn_block_sampling_full, pn_block_sampling_serial, pn_block_sampling_nice,
    pn_block_sampling_distributed;

#define PN_BLOCKS_MAX ((size_t)1 << 26)

/** Fill the head, with one reference. */
void pn_block_sampling_init(pn_block_sampling *self, const pn_block_sampling_ops *ops, size_t blocks, double least,
                            double mean);

#endif
