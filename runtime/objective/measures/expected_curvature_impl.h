/* expected_curvature_impl.h -- what the files of the expected curvature share: the Hessian's bound in terms of blocks.
 * Depends on: expected_curvature.h.  Used by: expected_curvature*.c and block_structure.c only. */
#ifndef PN_OBJECTIVE_EXPECTED_CURVATURE_IMPL_H
#define PN_OBJECTIVE_EXPECTED_CURVATURE_IMPL_H

#include "objective/measures/expected_curvature.h"

/* ---- expected_curvature_blocks.c, expected_curvature_corners.c ---- */

/* The extreme points of M_i - M_i, where it is known to have few. */
typedef struct pn_differences {
    double *point; /* [count][dim of the block], or NULL: not listed */
    size_t count;
} pn_differences;

/* A^T A and what the blocks make of it. */
typedef struct pn_bent_blocks {
    const pn_blocks *blocks;
    size_t dim;
    double *hessian; /* [dim * dim], owned; of intervals scaled by their lengths */
    /* [count * count], owned: upper bounds of <A_i z_i, A_j z_j>; of intervals the same as |hessian|, and NULL */
    double *reach;
    pn_differences *all; /* [count], owned; NULL for intervals */
    bool sharp;          /* the diagonal of reach is reached */
} pn_bent_blocks;

/* ---- expected_curvature_vertices.c ---- */

/* Vertices, each once. */
typedef struct pn_vertices {
    double *point; /* [count][dim of the block] */
    size_t count;  /* 0: not listed, being more than was asked for or none that choices make */
} pn_vertices;

/** Errors: PN_ENOMEM. */
pn_status pn_vertices_list(pn_vertices *out, const pn_set *set, size_t most, pn_err *err);
void pn_vertices_clear(pn_vertices *list);
/** *most = max <u - v, H (u - v)> over two of them; H is the symmetric part of a matrix of rows `stride` long.
 *  Errors: PN_ENOMEM. */
pn_status pn_vertices_spread(double *most, const pn_vertices *list, const double *hessian, size_t dim, size_t stride,
                             pn_err *err);

/* ---- expected_curvature_blocks.c ---- */

/** Takes over hessian[dim * dim], also on failure.  Errors: PN_ENOMEM, PN_ENUMERIC, PN_ECANCELLED,
 *  what support functions return. */
pn_status pn_bent_blocks_init(pn_bent_blocks *out, const pn_blocks *blocks, double *hessian, pn_task *task,
                              pn_err *err);
void pn_bent_blocks_clear(pn_bent_blocks *bent);
double pn_bent_reach(const pn_bent_blocks *bent, size_t i, size_t j);

/** Whether max sum_ij P_ij <A_i z_i, A_j z_j> can be found by looking at every combination of extreme points. */
bool pn_bent_enumerable(const pn_bent_blocks *bent);
/** And that maximum.  The sampling declares its pairs.  Errors: PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_bent_largest(const pn_bent_blocks *bent, const pn_block_sampling *sampling, double *value, pn_task *task,
                          pn_err *err);

/** max s^T Q s over signs, Q[d * d] symmetric and positive semidefinite, 1 <= d <= 30. */
pn_status pn_largest_corner(const double *Q, size_t d, double *value, pn_task *task, pn_err *err);

#endif
