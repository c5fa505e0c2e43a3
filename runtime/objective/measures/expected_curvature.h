/* expected_curvature.h -- C_ES: how much f bends, in expectation, along a step that moves a random subset of blocks
 * toward vertices.
 *     C_ES = sup over x, s in M, gamma in (0, 1] of
 *                E (2/gamma^2) [f(x + gamma (s - x)_[T]) - f(x) - gamma <(s - x)_[T], grad f(x)>]
 *          <= max over z in M - M of sum_ij P_ij <A_i z_i, A_j z_j>,
 *             where f(y) <= f(x) + <y - x, grad f(x)> + |A (y - x)|^2 / 2,
 * with equality for quadratics of Hessian A^T A.  M is a product of blocks.
 * Depends on: objective.h, random/block_sampling.h, geometry.  Used by: solvers/block_frank_wolfe*.c, bindings.
 * Source: Lou, Cheung (2018), Propositions 1 to 4; Proposition 4 with K (K - 1) tau^2 mu3,
 * as the printed K (K - 1) mu3 is false for tau > 1. */
#ifndef PN_OBJECTIVE_EXPECTED_CURVATURE_H
#define PN_OBJECTIVE_EXPECTED_CURVATURE_H

#include "objective/passes/objective.h"
#include "random/block_sampling.h"

/* Blocks of a product set: intervals of a box or linf ball one by one, or the factors of C:product(D), whatever they
 * are (a box that is a factor is one block; a product is taken apart).  Scaled and shifted ones as well. */
typedef struct pn_blocks {
    size_t count;
    const size_t *first;      /* [count + 1] block i is the coordinates first[i] .. first[i + 1] - 1 */
    const pn_set *const *set; /* [count] borrowed; NULL: intervals of a box or linf ball */
    const double *low, *high; /* [count] ends of the intervals; NULL unless every block is one */
    const double *diameter;   /* [count] l2, upper bounds */
} pn_blocks;

typedef struct pn_block_structure pn_block_structure; /* owns a pn_blocks */
/** Errors: PN_EUNSUPPORTED for a set that is no product (says which are: box, linf_ball, product), PN_ENOMEM; what the
 *  support function of a factor in one dimension fails with. */
pn_status pn_block_structure_new(pn_block_structure **out, const pn_set *set, pn_err *err);
const pn_blocks *pn_block_structure_blocks(const pn_block_structure *structure);
void pn_block_structure_free(pn_block_structure *structure); /* NULL allowed */

/** What every norm says of one block: its l1, l2 or linf diameter, an upper bound. */
double pn_block_diameter(const pn_blocks *blocks, size_t i, pn_lp norm);

typedef struct pn_expected_curvature {
    double value; /* an upper bound on C_ES; equal to it, but for rounding, when `exact` */
    bool exact;
    const char *method;   /* static: "corners", "vertices", "serial", "entries", "eso", "mu", "set" or "bounds" */
    double eso, mu;       /* Propositions 1; 3 and 4; +inf where they do not apply */
    double set_curvature; /* of full sampling, likewise bounded: C_f */
} pn_expected_curvature;

#define PN_CURVATURE_CORNERS  20   /* most intervals whose corners are all visited */
#define PN_CURVATURE_VERTICES 2048 /* most differences of vertices, over all blocks, whose combinations are */
#define PN_CURVATURE_DIM      4096 /* largest dimension of theta */

/**
 * From the records: raw, not private.  Intervals up to 20, or products of at most 2^20 combinations of vertex
 * differences, and serial sampling, exactly (quadratics); else the least of the bounds.  O(n p^2) for the Gram matrix.
 * Errors: PN_EDIM when the sampling has another number of blocks; PN_EUNSUPPORTED for a set that is no product, a loss
 * without a bound on its curvature, more than 4096 dimensions; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_expected_curvature(pn_objective *objective, const pn_block_sampling *sampling,
                                          pn_expected_curvature *out, pn_task *task, pn_err *err);
/** From enforced bounds alone: public.  +inf when nothing bounds it. */
pn_status pn_objective_public_curvature(const pn_objective *objective, const pn_block_sampling *sampling,
                                        pn_expected_curvature *out, pn_err *err);

/**
 * The public bound that both rest on: sup over z in M - M and records of top sum_i weights[i] |A_i z_i|^2, with that of
 * r; +inf when nothing bounds it.  weights = p and top = lambda'(P) bound C_ES; steps of gamma scale[i] on single
 * blocks have p_i scale[i]^2 and 1.
 */
double pn_objective_weighted_curvature(const pn_objective *objective, const pn_blocks *blocks, const double *weights,
                                       double top);

#endif
