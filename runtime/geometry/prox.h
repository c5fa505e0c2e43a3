/* prox.h -- proximal operators: prox(v, step) = argmin_x f(x) + ||x - v||^2 / (2 step).
 * Depends on: set.h.  Used by: solvers with composite objectives, bindings.
 * A new operator is one file or one row of prox.c's table. */
#ifndef PN_GEOMETRY_PROX_H
#define PN_GEOMETRY_PROX_H

#include <stddef.h>

#include "geometry/set.h"

typedef struct pn_prox pn_prox;

typedef struct pn_prox_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;
    pn_status (*create)(pn_prox **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_prox *self);
    double (*value)(const pn_prox *self, const double *x, size_t n); /* f(x), +inf outside an indicator's set */
    pn_status (*apply)(const pn_prox *self, double *x, size_t n, double step, pn_err *err); /* in place */
    void (*describe)(const pn_prox *self, char *text, size_t size);
} pn_prox_ops;

/* Implementations embed this head first. */
struct pn_prox {
    const pn_prox_ops *ops;
    int references;
    size_t dim; /* 0: any */
};

const pn_prox_ops *const *pn_prox_table(void);
pn_status pn_prox_new(pn_prox **out, const char *name, pn_arg *args, pn_err *err);
pn_prox *pn_prox_keep(pn_prox *prox);
void pn_prox_free(pn_prox *prox); /* NULL allowed */
/** Checked: PN_EDIM, PN_EDOMAIN with position, PN_EINVAL for step <= 0.  A failure leaves x as it was. */
pn_status pn_prox_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err);
pn_status pn_prox_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err);
void pn_prox_describe(const pn_prox *prox, char *text, size_t size);

#endif
