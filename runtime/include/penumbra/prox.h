/* prox.h -- proximal operators: prox(v, step) = argmin_x f(x) + ||x - v||^2 / (2 step), for closed convex f.  Depends
 * on: set.h.
 * Source: Parikh, Boyd (2014), Proximal algorithms. */
#ifndef PENUMBRA_PROX_H
#define PENUMBRA_PROX_H

#include <stddef.h>

#include "penumbra/set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_prox pn_prox;

/** An operator by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL, PN_EDOMAIN for
 *  options; PN_ENOMEM. */
pn_status pn_prox_new(pn_prox **out, const char *name, const pn_options *options, pn_err *err);

/* An operator of a user's own. */
typedef struct pn_custom_prox {
    size_t dim;                  /* 0: any */
    void *self;                  /* for the functions */
    void (*destroy)(void *self); /* or NULL */
    /* x[n] = prox(v[n], step). */
    pn_status (*apply)(void *self, const double *v, size_t n, double step, double *x, pn_err *err);
    pn_status (*value)(void *self, const double *x, size_t n, double *value, pn_err *err); /* or NULL: not known */
} pn_custom_prox;

/** Takes over `self` on success.  Errors: PN_ENOMEM. */
pn_status pn_prox_custom(pn_prox **out, const pn_custom_prox *parts, pn_err *err);

/** The projection on `set`, which is kept: the operator of its indicator.  Errors: PN_EUNSUPPORTED when it has
 *  none; PN_ENOMEM. */
pn_status pn_prox_of_set(pn_prox **out, pn_set *set, pn_err *err);

/** The operator of f_a + f_b; keeps both.  Closed forms where one is proven, else Dykstra's iteration until two
 *  successive points are within d = 1e-12 (1 + ||v||_2); of two functions the result is then within sqrt(2 step slope
 *  d) of the minimum, slope a bound on the subgradients of the first, and mostly far closer.  Indicators come last,
 *  so that the result is in the last one's set as a projection on it is.
 *  Errors: PN_EDIM when both have a dimension and they differ; PN_ENOMEM.  Its pn_prox_apply: PN_ENUMERIC after
 *          10^4 rounds. */
pn_status pn_prox_sum(pn_prox **out, pn_prox *a, pn_prox *b, pn_err *err);

void pn_prox_free(pn_prox *prox); /* NULL allowed */

/** Checked: PN_EDIM, PN_EDOMAIN with position, PN_EINVAL for step <= 0; PN_ENUMERIC when the result is not finite;
 *  what a set or a function fails with.  A failure leaves x as it was. */
pn_status pn_prox_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err);

/** f(x).  Checked as above; PN_EUNSUPPORTED where f is not known. */
pn_status pn_prox_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err);

/** One line for people: "l1(lambda=0.5)".  Truncates. */
void pn_prox_describe(const pn_prox *prox, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
