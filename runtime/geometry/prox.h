/* prox.h -- proximal operators: prox(v, step) = argmin_x f(x) + ||x - v||^2 / (2 step), for closed convex f.
 * Depends on: set.h, norm.h.  Used by: solvers with composite objectives, bindings.
 * A new operator is one file or one row of prox.c's table.
 * Source: Parikh, Boyd (2014), Proximal algorithms. */
#ifndef PN_GEOMETRY_PROX_H
#define PN_GEOMETRY_PROX_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/set.h"

typedef struct pn_prox pn_prox;

typedef struct pn_prox_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;
    bool indicator; /* f is 0 or +inf: 0 at the result, also where rounding or a tolerance has it just outside */
    pn_status (*create)(pn_prox **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_prox *self);
    /* f(x), +inf outside an indicator's set.  NULL: not known. */
    pn_status (*value)(const pn_prox *self, const double *x, size_t n, double *value, pn_err *err);
    /* In place; a failure leaves x as it was.  n > 0, and dim when that is not 0; x finite, step > 0 and finite. */
    pn_status (*apply)(const pn_prox *self, double *x, size_t n, double step, pn_err *err);
    void (*describe)(const pn_prox *self, char *text, size_t size);
} pn_prox_ops;

/* Implementations embed this head first. */
struct pn_prox {
    const pn_prox_ops *ops;
    int references;
    size_t dim; /* 0: any */
};

/** The table, ended by NULL. */
const pn_prox_ops *const *pn_prox_table(void);
/** An operator by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); what pn_args_check and create return. */
pn_status pn_prox_new(pn_prox **out, const char *name, pn_arg *args, pn_err *err);

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
/** The operator of the conjugate f*, by Moreau's identity; that of f again for a conjugate.  Keeps `prox`.  Errors: PN_ENOMEM. */
pn_status pn_prox_conjugate(pn_prox **out, pn_prox *prox, pn_err *err);

pn_prox *pn_prox_keep(pn_prox *prox);
void pn_prox_free(pn_prox *prox); /* NULL allowed */

/** Checked: PN_EDIM, PN_EDOMAIN with position, PN_EINVAL for step <= 0; PN_ENUMERIC when the result is not finite; what a set or a
 *  function fails with.  A failure leaves x as it was. */
pn_status pn_prox_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err);
/** f(x).  Checked as above; PN_EUNSUPPORTED where f is not known. */
pn_status pn_prox_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err);
/** Moreau's envelope min_x f(x) + ||x - v||^2 / (2 step).  Errors as both. */
pn_status pn_prox_envelope(const pn_prox *prox, const double *v, size_t n, double step, double *value, pn_err *err);
/** One line for people: "l1(lambda=0.5)".  Truncates. */
void pn_prox_describe(const pn_prox *prox, char *text, size_t size);

/** For implementations: fill the head of a new operator with one reference. */
void pn_prox_init(pn_prox *prox, const pn_prox_ops *ops, size_t dim);

#endif
