/* hessian_impl.h -- what the forming of a Hessian and the bounds on it share.
 * Depends on: objective_impl.h.  Used by: hessian*.c. */
#ifndef PN_OBJECTIVE_HESSIAN_IMPL_H
#define PN_OBJECTIVE_HESSIAN_IMPL_H

#include "objective/passes/objective_impl.h"

#define PN_HESSIAN_ROWS   256 /* of a panel; at least a block, and two blocks of half that */
#define PN_HESSIAN_GROUPS 16  /* at most */

/* Partial sums of a Hessian over many records, at most: by public numbers. */
size_t pn_hessian_groups(const pn_objective *objective);

/* dim (dim + 1)/2, or 0 where that is no size. */
size_t pn_hessian_size(size_t dim);

/* PN_EUNSUPPORTED, with what to use instead, for losses without second derivatives and for what is clipped and not
 * convex. */
pn_status pn_need_hessian(const pn_objective *objective, pn_err *err);

/* bend[count] = l'' at the margins z, clamped and 0 where slope[count] is clipped; along[count]: scratch.
 * Losses of one margin. */
void pn_bend_one(const pn_objective *objective, const pn_block *block, const double *z, const double *y,
                 const double *slope, double *along, double *bend);
/* bend[pair][count] = the Hessian in the margins, column after column; along, column: [margins][count], scratch. */
void pn_bend_margins(const pn_objective *objective, size_t count, const double *z, const double *y, double *along,
                     double *column, double *bend);
/* weight[count], l'' at the margins z, is raised to the majorant's, which are in [0, B];
 * slope[count] is enforced.  Losses of one margin. */
void pn_majorant_weights(const pn_objective *objective, const pn_block *block, const double *z, const double *y,
                         double *slope, double *weight);

/* ---- the packed upper triangle, column after column ----
 * Of several margins it has blocks of order p: (k, l), k <= l, is the one whose rows are those of margin k. */

/* packed += the records of the block, bend[count] times each with itself, of the pair (k, l). */
void pn_packed_add_sparse(double *packed, const pn_block *block, size_t k, size_t l, const double *bend);

/* A part of one block: rows x columns from row i and column j of it on; column c begins at values[c * side]. */
typedef struct pn_tile {
    const double *values;
    size_t side, i, j, rows, columns;
} pn_tile;

/* packed += the tile of the pair (k, l).  Off the diagonal a block is symmetric, too, and all of it is in the upper
 * triangle. */
void pn_packed_add_tile(double *packed, size_t p, size_t k, size_t l, const pn_tile *tile);
/* packed = the upper triangle of matrix[p * p]. */
void pn_packed_copy(double *packed, const double *matrix, size_t p);

#endif
