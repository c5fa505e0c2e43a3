/* regulariser.h -- data-free terms r(theta) of an objective: the interface and the table of known ones.
 * A separable regulariser r(theta) = sum_j f(theta_j) is one formula and one line in regulariser.c's table: gradient,
 * Hessian and bounds come from the expression (formula_regulariser.c), for built-in and typed ones alike; the others
 * (group, nuclear) fill the functions themselves.  No privacy is involved: r does not depend on records.
 * Depends on: core, numeric, expr, geometry/prox/prox.h.  Used by: objective.c, solvers, bindings.
 * See variance-reduced.md section 8 for the scaling (l2 is lambda/2 ||theta||^2);
 * second-order.md section 9 for nonconvex. */
#ifndef PN_OBJECTIVE_REGULARISER_H
#define PN_OBJECTIVE_REGULARISER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "expr/bound.h"
#include "geometry/prox/prox.h"
#include "penumbra/regulariser.h"

/* What is certified of r over all theta whose coordinates lie in a range. */
typedef struct pn_regulariser_bounds {
    /* largest |entry| of the (sub)gradient that `evaluate` gives; +inf when unbounded */
    double gradient;
    /* Lipschitz constant of the gradient in l2: largest |eigenvalue| of the Hessian; +inf at a kink */
    double smoothness;
    /* largest eigenvalue; what bounds the growth above the tangent; +inf at a kink that bends upward */
    double largest_curvature;
    /* lower bound on the Hessian's eigenvalues; negative when r is not convex,
     * -inf when unknown or at a kink that bends down */
    double strong_convexity;
    /* of theta -> Hessian, operator norm over l2; +inf when unknown or at a kink */
    double hessian_lipschitz;
    bool convex;
    char missing[256]; /* what is not bounded and why; "" when all is well */
} pn_regulariser_bounds;

typedef struct pn_regulariser_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;

    /* Either f in the graph's variable 0 ... */
    pn_node (*formula)(pn_graph *graph, const pn_arg *args);
    /* ... or a constructor and all of the following. */
    pn_status (*create)(pn_regulariser **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_regulariser *self);
    /* Whether r is defined on R^dim: sizes of groups and matrices.  Errors: PN_EDIM with both sizes. */
    pn_status (*fits)(const pn_regulariser *self, size_t dim, pn_err *err);
    /* *value = r(theta), gradient += its gradient; either may be NULL.  At the kinks of the table's regularisers: the
     * subgradient of smallest norm; of typed formulas: what pn_graph_derivative says.  Errors: PN_EDOMAIN for NaN or
     * inf in theta (nuclear), PN_ENOMEM, PN_ENUMERIC (nuclear).  A failure leaves both as they were. */
    pn_status (*evaluate)(const pn_regulariser *self, size_t dim, const double *theta, double *value, double *gradient,
                          pn_err *err);
    /* out += Hessian(theta) v where r is twice differentiable; a coordinate or group at its kink adds 0.  Errors:
     * PN_EUNSUPPORTED when there is no Hessian (nuclear). */
    pn_status (*curve)(const pn_regulariser *self, size_t dim, const double *theta, const double *v, double *out,
                       pn_err *err);
    /* coordinate: range of every theta_j, ends may be infinite.  Errors: PN_EDOMAIN where r is undefined, PN_ENOMEM. */
    pn_status (*certify)(pn_regulariser *self, pn_interval coordinate, pn_regulariser_bounds *out, pn_err *err);
    /* r(w) with its parameters, one line.  Truncates. */
    void (*describe)(const pn_regulariser *self, char *text, size_t size);
    /* The proximal operator of r with all its weights, a new reference; NULL in *out for r = 0.  NULL: there is no
     * closed form.  Of formulas too: pn_formula_regulariser_number has their parameters.  Errors: PN_ENOMEM. */
    pn_status (*prox)(const pn_regulariser *self, pn_prox **out, pn_err *err);
} pn_regulariser_ops;

struct pn_regulariser {
    const pn_regulariser_ops *ops; /* of formulas: the common functions */
    const pn_regulariser_ops *row; /* the table's row: name, doc, source */
    int references;
};

/** The table, ended by NULL. */
const pn_regulariser_ops *const *pn_regulariser_table(void);
/** pn_regulariser_new with its arguments, one for each row of its table. */
pn_status pn_regulariser_from_args(pn_regulariser **out, const char *name, pn_arg *args, pn_err *err);
pn_regulariser *pn_regulariser_keep(pn_regulariser *regulariser);

/** Whether it is one of the table's, whose least value is 0, and not a typed formula. */
bool pn_regulariser_in_table(const pn_regulariser *regulariser);

/** As ops->certify after a check: PN_EINVAL when the range has low > high or NaN.
 *  Unbounded is no error: see `missing`. */
pn_status pn_regulariser_certify(pn_regulariser *regulariser, pn_interval coordinate, pn_regulariser_bounds *out,
                                 pn_err *err);

/** sum_j f(theta_j) for f in the only variable of `graph` (kept).  Errors: PN_EINVAL for a graph of several variables;
 *  as pn_loss_from_graph. */
pn_status pn_regulariser_from_graph(pn_regulariser **out, pn_graph *graph, pn_node root, pn_err *err);
/** *out >= |df/dw as computed - df/dw| for w in `coordinate`, of a regulariser that is a formula: as
 *  pn_loss_rounding. */
pn_status pn_regulariser_rounding(const pn_regulariser *regulariser, pn_interval coordinate, double enough, double *out,
                                  pn_err *err);
/** The graph and root of a separable regulariser, else NULL. */
pn_graph *pn_regulariser_graph(const pn_regulariser *regulariser, pn_node *root);

#endif
