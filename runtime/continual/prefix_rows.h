/* prefix_rows.h -- the options of prefix sums as rows of a table, in the order of pn_prefix_params: for tables of
 * others that nest them, as `prefix = {...}` does.
 * Depends on: prefix.h.  Used by: prefix_options.c, solvers/zeroth_order/zeroth_order_problem.c. */
#ifndef PN_CONTINUAL_PREFIX_ROWS_H
#define PN_CONTINUAL_PREFIX_ROWS_H

#include "continual/prefix.h"

extern const char *const pn_prefix_factorization_names[]; /* of PN_PREFIXES, NULL */

/* `of`: a literal that all names begin with, "" or "prefix." */
/* One option, one row. */
/* clang-format off */
#define PN_PREFIX_ROWS(of) \
    { of "factorization", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, pn_prefix_factorization_names, \
      "how the sums are measured; chosen by horizon and dim when absent" }, \
    { of "estimator", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, pn_prefix_estimator_names, \
      "binary: how nodes become prefixes; when absent plain, or honaker without a factorization or a horizon" }, \
    { of "memory", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_memory_names, \
      "binary, plain: keep the noise of nodes, or draw it again for each release" }, \
    { of "scale", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_scale_names, \
      "binary: equal noise for all nodes, or in proportion to the largest sensitivity of a node's leaves" }, \
    { of "keep_root", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, \
      "binary: measure the sum of all leaves too, so that a stream can be completed early" }, \
    { of "growth", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_growth_names, \
      "unknown horizon: epochs that double, or one tree without end" }, \
    { of "bands", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, \
      "banded: coefficients that are not 0; the separation of participations when absent, else 8" }, \
    { of "fit", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_fit_names, \
      "sqrt: coefficients of the square root (banded), or the table's (blt); optimal: the best for the horizon" }, \
    { of "coefficients", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "banded: 1, c_1, c_2, ... instead" }, \
    { of "buffers", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blt: vectors kept, 1 to 8; 4 when absent" }, \
    { of "theta", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blt: decay of each buffer, instead of the table's" }, \
    { of "omega", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blt: weight of each buffer" }, \
    { of "matrix", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL, \
      "matrix: C, a row and a column for each leaf of the horizon, lower triangular, diagonal > 0: noise C^-1 z" }
/* clang-format on */

#endif
