/* prox.h -- proximal operators: prox(v, step) = argmin_x f(x) + ||x - v||^2 / (2 step), for closed convex f.
 * Depends on: set.h, norm.h.  Used by: solvers with composite objectives, bindings.
 * A new operator is one file or one row of prox.c's table.
 * Source: Parikh, Boyd (2014), Proximal algorithms. */
#ifndef PN_GEOMETRY_PROX_H
#define PN_GEOMETRY_PROX_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/convex/set.h"
#include "penumbra/prox.h"

/* What pn_prox_sum asks of f to find a closed form for f + g; see prox_sum.c for the pairs. */
enum {
    PN_PROX_SEPARABLE = 1,   /* f(x) = sum_j f_j(x_j) */
    PN_PROX_INTERVALS = 2,   /* the indicator of a product of intervals: the operator clips */
    PN_PROX_HOMOGENEOUS = 4, /* f(cx) = c f(x) for c > 0: norms, indicators of cones */
    PN_PROX_RADIAL = 8,      /* f(x) = h(||x||_2): the operator multiplies x by a number from [0, 1] */
    PN_PROX_BLOCKS = 16      /* a sum of such functions of disjoint blocks of coordinates */
};

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
    /* Of those above, which hold.  NULL: none known. */
    unsigned (*traits)(const pn_prox *self);
    /* f = *square/2 ||x||^2 + *rest, a new reference, NULL when nothing is left.  NULL: f has no such part. */
    pn_status (*split)(const pn_prox *self, double *square, pn_prox **rest, pn_err *err);
    /* f = *l1 ||x||_1 + *l2/2 ||x||^2.  NULL: f is not of this form. */
    void (*net)(const pn_prox *self, double *l1, double *l2);
} pn_prox_ops;

/* Implementations embed this head first. */
struct pn_prox {
    const pn_prox_ops *ops;
    int references;
    size_t dim; /* 0: any */
};

/** The table, ended by NULL. */
const pn_prox_ops *const *pn_prox_table(void);
/** pn_prox_new with its arguments, one for each row of its table. */
pn_status pn_prox_from_args(pn_prox **out, const char *name, pn_arg *args, pn_err *err);

/** The operator of the conjugate f*, by Moreau's identity; that of f again for a conjugate.  Keeps `prox`.
 *  Errors: PN_ENOMEM. */
pn_status pn_prox_conjugate(pn_prox **out, pn_prox *prox, pn_err *err);

/* lambda sum_g weight_g ||x_g||_2 over groups of coordinates that may share some;
 * those in no group are free.  Borrowed. */
typedef struct pn_group_list {
    double lambda;
    size_t count;         /* of groups */
    const size_t *start;  /* [count + 1] into member */
    const size_t *member; /* coordinates from 0, group by group */
    const double *weight; /* [count], or NULL for the root of each group's size */
    size_t dim;           /* 0: any that holds the members */
} pn_group_list;
/** Disjoint groups in closed form, others as a pn_prox_sum of as few sets of disjoint ones as the order of the list
 *  gives.
 *  Errors: PN_EINVAL for no or an empty group, a coordinate twice in one, a lambda or weight that is no positive
 *  number; PN_EDIM for a coordinate from dim on; PN_ENOMEM. */
pn_status pn_prox_groups(pn_prox **out, const pn_group_list *groups, pn_err *err);

/* f(x) = l1 ||x||_1 + l2/2 ||x||^2 + the indicator of a product of intervals, whose operator takes each coordinate by
 * itself: the soft threshold step l1, the factor 1/(1 + step l2), and then the nearest point of the interval. */
typedef struct pn_prox_net {
    double l1, l2;
    const pn_prox *clip; /* borrowed from the operator; NULL: no intervals */
} pn_prox_net;
/** Whether f is one; *out is set only then. */
bool pn_prox_as_net(pn_prox_net *out, const pn_prox *prox);

pn_prox *pn_prox_keep(pn_prox *prox);

/** Moreau's envelope min_x f(x) + ||x - v||^2 / (2 step).  Errors: as pn_prox_apply and pn_prox_value. */
pn_status pn_prox_envelope(const pn_prox *prox, const double *v, size_t n, double step, double *value, pn_err *err);

/** For implementations: fill the head of a new operator with one reference. */
void pn_prox_init(pn_prox *prox, const pn_prox_ops *ops, size_t dim);

#endif
