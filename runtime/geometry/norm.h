/* norm.h -- norms: each is the gauge of a symmetric set, its dual norm is that set's support function.
 * So a norm is a table row that makes a unit ball for a dimension, and everything else is the ball's.
 * Depends on: set.h.  Used by: potential.h, data (rows clipped to a norm, by its ball's radius), bindings. */
#ifndef PN_GEOMETRY_NORM_H
#define PN_GEOMETRY_NORM_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/set.h"

typedef struct pn_norm pn_norm;

typedef struct pn_norm_ops {
    const char *name; /* "interpolation" */
    const char *doc;
    const char *source;
    const pn_param *params;
    /* The only dimension that these parameters allow, or 0 for any. */
    size_t (*dim)(const pn_arg *args);
    /* {x : N(x) <= 1} in dimension n, and {y : N*(y) <= 1}. */
    pn_status (*ball)(pn_set **out, const pn_arg *args, size_t n, pn_err *err);
    pn_status (*dual_ball)(pn_set **out, const pn_arg *args, size_t n, pn_err *err);
} pn_norm_ops;

const pn_norm_ops *const *pn_norm_table(void);

/** Errors: PN_EUNSUPPORTED for an unknown name; PN_EINVAL for parameters outside their ranges; PN_ENOMEM. */
pn_status pn_norm_new(pn_norm **out, const char *name, pn_arg *args, pn_err *err);
/** The norm whose unit ball is Q = conv(C u -C).  Keeps `set`.  Errors: PN_EUNSUPPORTED for an unbounded set; PN_ENOMEM. */
pn_status pn_norm_minkowski(pn_norm **out, pn_set *set, pn_err *err);
/** The dual norm; the dual of the dual is the norm itself. */
pn_status pn_norm_dual(pn_norm **out, pn_norm *norm, pn_err *err);
pn_norm *pn_norm_keep(pn_norm *norm);
void pn_norm_free(pn_norm *norm); /* NULL allowed */

/** N(x), inf where x is outside the span of a flat ball.  Errors: PN_EDIM, PN_EDOMAIN as in set.h. */
pn_status pn_norm_value(const pn_norm *norm, const double *x, size_t n, double *value, pn_err *err);
/** The unit ball in dimension n, a new reference.  Errors: PN_EDIM when the norm has another dimension. */
pn_status pn_norm_ball(pn_set **out, const pn_norm *norm, size_t n, pn_err *err);
size_t pn_norm_dim(const pn_norm *norm); /* 0: any */
/** One line for people: "interpolation(alpha=0.5)", "dual of group(k=4)". */
void pn_norm_describe(const pn_norm *norm, char *text, size_t size);
/** The same norm (same row, parameters and side; for minkowski the same set). */
bool pn_norm_same(const pn_norm *a, const pn_norm *b);

#endif
