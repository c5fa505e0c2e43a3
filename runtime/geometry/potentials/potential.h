/* potential.h -- potentials (distance generating functions) of mirror descent, and the mirror step over a set.
 * A potential Psi is strongly convex with a known constant with respect to a known norm.  Bodies of radius r use r^2
 * Psi(x/r), which keeps the constant, and a center shifts both: such rows take `radius` and `center`.
 * A new potential is one file that fills a pn_potential_ops and one line in potential.c's table.
 * Depends on: set.h, norm.h, expr (traced ones).  Used by: solvers, bindings.  See geometry.md section 3. */
#ifndef PN_GEOMETRY_POTENTIAL_H
#define PN_GEOMETRY_POTENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/convex/set.h"
#include "geometry/potentials/norm.h"
#include "penumbra/potential.h"

#define PN_STEP_ROUNDS 500

/* How near a step by iteration has to come, and how near it came.  A step that is off by d in the norm of Psi adds at
 * most d times the gradient's size in the dual norm to the risk of a run: runs ask for no more than they need. */
typedef struct pn_step_limit {
    double gap;    /* asked: how far Psi - <c, .> may be above its minimum; d^2/2 for a constant of 1 */
    double *warm;  /* [as a point] in: where the last step's iteration ended, zeros at first; out: where this one's did.
                     * NULL: none */
    size_t rounds; /* out: of its iteration, at least 1 where one may be needed; 0: it is a formula, or roots */
    double reached; /* out: 0, or the gap of a step that did not come as near: the best point is taken, and no error */
} pn_step_limit;

typedef struct pn_potential_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;
    pn_status (*create)(pn_potential **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_potential *self);

    /* Psi(x), +inf outside its domain; with the constant chosen so that formulas of the spec hold as written. */
    pn_status (*value)(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err);
    /* out[n] = grad Psi(x).  PN_EDOMAIN where there is none (says where).  Here and below out may be the array that is
     * read; it holds nothing of use after a failure. */
    pn_status (*gradient)(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err);
    /* out[n] = argmax <u, x> - Psi(x) over the whole domain; NULL where none is known. */
    pn_status (*inverse_gradient)(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err);
    /* x[dim] = argmin over C of Psi(x) - <c, x>, in closed form or by scalar roots.  PN_EUNSUPPORTED for a set that the
     * row does not know: the numeric step takes over.  c and x may be the same array. */
    pn_status (*step)(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err);
    /* The same for potentials made of others, whose steps may be iterations; limit NULL: as pn_potential_step.  Instead
     * of `step`. */
    pn_status (*step_within)(const pn_potential *self, const pn_set *set, const double *c, double *x,
                             pn_step_limit *limit, pn_err *err);
    /* An upper bound of max_C Psi - min_C Psi.  PN_EUNSUPPORTED: the vertices of a polytope are tried. */
    pn_status (*range)(const pn_potential *self, const pn_set *set, double *range, pn_err *err);
    /* An upper bound of tr (Hess Psi)^-1 over the points of C, of a lifted one's image under the lift.
     * NULL: what the norm tells (pn_potential_trace). */
    pn_status (*trace)(const pn_potential *self, const pn_set *set, double *trace, pn_err *err);
    /* The same of A (Hess Psi)^-1 A', A.data NULL: of A = I.  Instead of `trace`; NULL: what norms tell of A. */
    pn_status (*trace_through)(const pn_potential *self, const pn_set *set, pn_mat A, double *trace, pn_err *err);
    /* Of lifted ones, theta = A x + s: theta[theta_dim] += A x + s, and out[dim] = A' g for a gradient g in theta.
     * room[self->room]: scratch. */
    void (*add_theta)(const pn_potential *self, const double *x, double *theta, double *room);
    void (*pull)(const pn_potential *self, const double *g, double *out, double *room);
    void (*describe)(const pn_potential *self, char *text, size_t size);
} pn_potential_ops;

/* Implementations embed this head first. */
struct pn_potential {
    const pn_potential_ops *ops;
    int references;
    size_t dim;              /* of x; 0: any */
    double strong_convexity; /* with respect to `norm`: D(x, y) >= strong_convexity norm(x - y)^2 / 2 */
    pn_norm *norm;           /* owned */
    /* Lifted: theta is affine in x, which are weights on vertices, the terms of a sum or what an image is of, and
     * `norm` measures theta, of so many entries.  0: x is theta. */
    size_t theta_dim;
    size_t room; /* doubles of scratch that pn_potential_theta and pn_potential_pull take */
    /* Rounding loses the gradient of points near the border of the set: runs keep their linear term instead. */
    bool keeps_sums;
    double declared_range; /* over the set that it is for, by who made it; 0: none */
};

/** The table, ended by NULL. */
const pn_potential_ops *const *pn_potential_table(void);
/** pn_potential_new with its arguments, one for each row of its table. */
pn_status pn_potential_from_args(pn_potential **out, const char *name, pn_arg *args, pn_err *err);
pn_potential *pn_potential_keep(pn_potential *potential);

pn_status pn_potential_inverse_gradient(const pn_potential *p, const double *u, size_t n, double *out, pn_err *err);
/** D(a, b) = Psi(a) - Psi(b) - <grad Psi(b), a - b>. */
pn_status pn_potential_bregman(const pn_potential *p, const double *a, const double *b, size_t n, double *value,
                               pn_err *err);

/**
 * y = argmin over C of Psi(y) - <c, y>: the row's own step, that of an intersection by a root or on the dual
 * (intersection_step.c), or else the numeric one (numeric_step.c): accelerated
 * projected gradient with backtracking until the Frank-Wolfe gap is below 1e-9 of the scale of the terms
 * (C by pn_set_project).  For a lifted potential C must be the set that it was made for, or what
 * others leave of it.
 * Errors: PN_EDIM; PN_EUNSUPPORTED when neither works (says what is missing); PN_ENUMERIC when it does not converge;
 * what a callback returns.
 */
pn_status pn_potential_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_err *err);
/** The same, as near as `limit` says where it is an iteration; of at most PN_STEP_ROUNDS rounds. */
pn_status pn_potential_step_within(const pn_potential *p, const pn_set *set, const double *c, double *y,
                                   pn_step_limit *limit, pn_err *err);
/** y from x: c = grad Psi(x) - eta g.  x, g, y [n]; y may be x or g. */
pn_status pn_mirror_step(const pn_potential *p, const pn_set *set, const double *x, const double *g, double eta,
                         size_t n, double *y, pn_err *err);
/** The same, as near as `limit` says. */
pn_status pn_mirror_step_within(const pn_potential *p, const pn_set *set, const double *x, const double *g, double eta,
                                size_t n, double *y, pn_step_limit *limit, pn_err *err);
/** argmin over C of Psi: where mirror descent starts. */
pn_status pn_potential_start(const pn_potential *p, const pn_set *set, double *x, pn_err *err);
/** As pn_potential_for_set, but of the l1 ball the powers that Talwar, Thakurta and Zhang (2014) have, in their sharper
 *  form: group with blocks of 1. */
pn_status pn_potential_of_article(pn_potential **out, pn_set *set, const char **why, pn_err *err);
/** An upper bound of max_C Psi - min_C Psi (D2 of the spec when strong_convexity is 1);
 *  PN_EUNSUPPORTED when nothing bounds it. */
pn_status pn_potential_range(const pn_potential *p, const pn_set *set, double *range, pn_err *err);

/**
 * K: with phi(c) = max_C <c, x> - Psi(x) and b ~ N(0, I) of the set's dimension, E phi(c + a b) <= phi(c) + a^2 K/2 for
 * all c and a: what noise costs in this geometry.  By the heat equation phi rises by half the mean trace of its
 * Hessian, which is the Jacobian J of the step, and J H J <= J for H = Hess Psi at the step's end: tr J <= tr H^-1.
 * Rows without a formula have E ||b||^2 in the norm's dual, over the constant of Psi (pn_norm_dual_square).
 */
pn_status pn_potential_trace(const pn_potential *p, const pn_set *set, double *trace, pn_err *err);
/** The same of the potential of {A x : x in C}, which has phi(A' g) in place of phi: an upper bound of tr A J A'.
 *  A.data NULL: pn_potential_trace.  Where a row has no formula, the least of ||A||^2 K in the spectral norm, as
 *  J >= 0, and E ||A' b||^2 in the norm's dual over the constant.  Errors: PN_ENOMEM; those of the norm's ball. */
pn_status pn_potential_trace_through(const pn_potential *p, const pn_set *set, pn_mat A, double *trace, pn_err *err);

/** x -> factor^2 Psi((x - shift) / factor), with the same constant in the same norm.  Keeps `potential`;
 *  shift[n] is copied, NULL for none.
 *  Errors: PN_EDIM (both sizes), PN_EINVAL for a factor that is 0 or not finite,
 *  PN_EUNSUPPORTED for a lifted one, PN_ENOMEM. */
pn_status pn_potential_affine(pn_potential **out, pn_potential *potential, double factor, const double *shift, size_t n,
                              pn_err *err);

/** What x stands for: theta[n] = x[n], of lifted ones theta[theta_dim] = A x[dim] + s; and back, of gradients, A' g.
 *  room[p->room]: scratch. */
void pn_potential_theta(const pn_potential *p, const double *x, size_t n, double *theta, double *room);
void pn_potential_pull(const pn_potential *p, const double *g, size_t n, double *out, double *room);
/** The vertices of a polytope's, one in each row; data NULL for others. */
pn_mat pn_potential_vertices(const pn_potential *p);

/* For implementations. */
void pn_potential_init(pn_potential *potential, const pn_potential_ops *ops, size_t dim, double strong_convexity,
                       pn_norm *norm /* taken over */);

#endif
