/* norm.h -- norms: each is the gauge of a symmetric set, and its dual norm that set's support function.  Depends
 * on: set.h. */
#ifndef PENUMBRA_NORM_H
#define PENUMBRA_NORM_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_norm pn_norm;

/** Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for parameters outside their ranges;
 *  PN_ENOMEM. */
pn_status pn_norm_new(pn_norm **out, const char *name, const pn_options *options, pn_err *err);

/** The norm whose unit ball is Q = conv(C u -C).  Keeps `set`.  Errors: PN_EUNSUPPORTED for an unbounded set;
 *  PN_ENOMEM. */
pn_status pn_norm_minkowski(pn_norm **out, pn_set *set, pn_err *err);

/** The dual norm; the dual of the dual is the norm itself.  Errors: PN_ENOMEM. */
pn_status pn_norm_dual(pn_norm **out, const pn_norm *norm, pn_err *err);

void pn_norm_free(pn_norm *norm); /* NULL allowed */

/** N(x), inf where x is outside the span of a flat ball.  Errors: PN_EDIM, PN_EDOMAIN as in set.h; what the ball's
 *  gauge or support function returns. */
pn_status pn_norm_value(const pn_norm *norm, const double *x, size_t n, double *value, pn_err *err);

/** The unit ball in dimension n, a new reference.  Errors: PN_EDIM when the norm has another dimension;
 *  PN_EUNSUPPORTED where no set has that shape. */
pn_status pn_norm_ball(pn_set **out, const pn_norm *norm, size_t n, pn_err *err);

size_t pn_norm_dim(const pn_norm *norm); /* 0: any */

/** One line for people: "interpolation(alpha=0.5)", "dual of group(k=4)".  Truncates. */
void pn_norm_describe(const pn_norm *norm, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
