/* sum_noise.h -- the noise of private prefix sums before a design is made, from their number alone: its size, and how
 * much of it what follows has already seen.
 * Depends on: core/.  Used by: solvers/zeroth_order, tests. */
#ifndef PN_CONTINUAL_SUM_NOISE_H
#define PN_CONTINUAL_SUM_NOISE_H

#include <stdbool.h>
#include <stddef.h>

/* PN_SUM_TREE is plain, PN_SUM_HONAKER weighs by inverse variances, and is never worse than a plain tree without the
 * root of 2^k leaves (pn_prefix_options.keep_root). */
typedef enum pn_sum_kind { PN_SUM_TREE = 0, PN_SUM_HONAKER, PN_SUM_SQRT, PN_SUM_BLT, PN_SUM_COUNT } pn_sum_kind;

/* The noise N_t of prefixes, in units of sigma^2 and of one coordinate. */
typedef struct pn_sum_noise {
    double gain;   /* sigma rho / sensitivity of a leaf, rho^2/2 the zCDP of the run */
    double spread; /* mean over t of Var N_t */
    double past;   /* mean over t of the variance of what earlier prefixes have shown of N_t */
    double drift;  /* variance of the mean over t of N_t */
} pn_sum_noise;

/** That of a sum over `rounds` leaves; root: a tree keeps the node of all 2^k leaves.
 *  False for buffers past the table. */
bool pn_sum_noise_of(pn_sum_kind sum, bool root, size_t rounds, pn_sum_noise *noise);

#endif
