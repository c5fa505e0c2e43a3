/* norm.h -- norms: each is the gauge of a symmetric set, its dual norm is that set's support function.
 * So a norm is a table row that makes a unit ball for a dimension, and everything else is the ball's.
 * Depends on: set.h.  Used by: potential.h, bindings (rows clipped to a norm, by its ball's radius). */
#ifndef PN_GEOMETRY_NORM_H
#define PN_GEOMETRY_NORM_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/convex/set.h"
#include "penumbra/norm.h"

#define PN_NORM_PARAMS 2 /* at most, numbers and counts only */

typedef struct pn_norm_ops {
    const char *name; /* "interpolation" */
    const char *doc;
    const char *source;
    const pn_param *params;
    /* What the ranges of params cannot say; called before they are checked.  NULL: nothing. */
    pn_status (*check)(const char *owner, const pn_arg *args, pn_err *err);
    /* The only dimension that these parameters allow; NULL: any. */
    size_t (*dim)(const pn_arg *args);
    /* The set of pn_set_table that is {x : N(x) <= 1}.  It takes the options of `params` by their names, and dim. */
    const char *ball;
    /* N(x) without a ball; NULL: the gauge of the ball. */
    double (*value)(const double *x, size_t n);
    /* The name of the row whose norm is the dual, and its arguments.  NULL: the dual is known by its ball alone,
     * as "dual of". */
    const char *(*dual)(const pn_arg *args, pn_arg *dual_args);
} pn_norm_ops;

/** The table, ended by NULL. */
const pn_norm_ops *const *pn_norm_table(void);

/** pn_norm_new with its arguments, one for each row of its table. */
pn_status pn_norm_from_args(pn_norm **out, const char *name, pn_arg *args, pn_err *err);
pn_norm *pn_norm_keep(pn_norm *norm);

/* N(x) by a caller; x[n] is finite. */
typedef pn_status (*pn_norm_function)(void *self, const double *x, size_t n, double *value, pn_err *err);
/** The norm with that value, whose unit ball is `ball`: symmetric and bounded, kept; its support function is the dual
 *  norm.  That they fit is the caller's promise.  self: lives as long as the ball.  Errors: PN_ENOMEM. */
pn_status pn_norm_custom(pn_norm **out, pn_set *ball, pn_norm_function value, void *self, pn_err *err);

/** max ||x||_lp over N(x) <= 1 in dimension n, an upper bound as set.h says.  Errors as pn_norm_ball. */
pn_status pn_norm_radius(const pn_norm *norm, pn_lp lp, size_t n, double *radius, pn_err *err);
/** An upper bound of E ||b||^2 in the dual norm, b ~ N(0, I) in dimension n: at most G^2 + R^2, width and l2 radius of
 *  the unit ball, and n R^2.  No draws.  Errors as pn_norm_ball. */
pn_status pn_norm_dual_square(const pn_norm *norm, size_t n, double *square, pn_err *err);
/** Whether it is the row l1, l2 or linf, and which. */
bool pn_norm_is_lp(const pn_norm *norm, pn_lp *lp);
/** The same norm (same row, parameters and side; for minkowski the same set). */
bool pn_norm_same(const pn_norm *a, const pn_norm *b);

#endif
