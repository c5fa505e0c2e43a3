/* set.h -- convex constraint sets: by name, made of others, or of a host's own functions.  Immutable and shared: what
 * is made of a set keeps it.  Depends on: numbers.h, options.h, rng.h, task.h.
 * Source: Talwar, Thakurta, Zhang (2014); Jaggi (2013) for the linear minimisation oracles. */
#ifndef PENUMBRA_SET_H
#define PENUMBRA_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/numbers.h"
#include "penumbra/options.h"
#include "penumbra/rng.h"
#include "penumbra/status.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_set pn_set;

/** A set by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); what create returns. */
pn_status pn_set_new(pn_set **out, const char *name, const pn_options *options, pn_err *err);

typedef struct pn_custom_set {
    size_t dim;
    double radius;    /* l2, declared; +inf: unbounded.  It decides on steps and predictions, never on noise */
    const char *name; /* copied; NULL: "custom" */
    bool symmetric;   /* declared */
    /* [dim] copied, a point of the set; NULL: the origin when `contains` or `project` say that it is inside, else
     * a support point */
    const double *center;
    void *self;                  /* for the functions */
    void (*destroy)(void *self); /* or NULL */
    /* At least one of the first two. */
    pn_status (*support)(void *self, const double *g, size_t n, double *point, pn_err *err);
    pn_status (*project)(void *self, double *x, size_t n, pn_err *err);
    pn_status (*contains)(void *self, const double *x, size_t n, bool *inside,
                          pn_err *err); /* or NULL: by the projection */
} pn_custom_set;

/**
 * Takes over `self` on success.  Tries every function: PN_EDOMAIN for points that are not finite or lie beyond the
 * radius, PN_EINVAL where they contradict each other (the projection moves a point of the set, support returns the
 * smallest, contains refuses the center), PN_ENOMEM, and what the functions fail with.  Points are looked at on every
 * later call, too.  With a projection alone and a finite radius the support is that of support_by_project.h; with a
 * support alone the projection is that of fallback.h.
 */
pn_status pn_set_custom(pn_set **out, const pn_custom_set *parts, pn_err *err);

void pn_set_free(pn_set *set); /* drops one reference; NULL allowed */

/** One line for people: "l1_ball(dim=123, radius=10)".  Truncates. */
void pn_set_describe(const pn_set *set, char *text, size_t size);

/** The dimension of its points. */
size_t pn_set_dim(const pn_set *set);
/** max ||x|| and max ||x - y|| over the set, upper bounds within 1e-12 relative; +inf: unbounded. */
double pn_set_radius(const pn_set *set, pn_lp norm);
double pn_set_diameter(const pn_set *set, pn_lp norm);

/** Whether its l2 radius is finite. */
bool pn_set_is_bounded(const pn_set *set);

/** Whether it has a list of vertices, given or implicit. */
bool pn_set_is_polytope(const pn_set *set);

/** Whether pn_set_project can work. */
bool pn_set_can_project(const pn_set *set);

/* ---- points ----
 * PN_EDIM when n is not the set's dimension (names both), PN_EDOMAIN for NaN or infinity (with its position),
 * PN_EUNSUPPORTED when the set has no such thing (with the reason).  `value` and `point` may be NULL.  A failure
 * leaves x as it was. */

/** PN_EUNSUPPORTED also where g has no maximum over an unbounded set. */
pn_status pn_set_support(const pn_set *set, const double *g, size_t n, double *value, double *point, pn_err *err);

/** The nearest point.  Bounded sets without a projection of their own: Wolfe's minimum-norm-point method over support
 *  points, or turns of the projections of a sum, both from points farther out where x is near to the set: to 1e-8 of
 *  the size as a rule, and until the duality gap <x - y, v - y> is below 1e-10 of its square at least. */
pn_status pn_set_project(const pn_set *set, double *x, size_t n, pn_err *err);

/** *inside: whether x[n] is within `tolerance` >= 0 of every constraint. */
pn_status pn_set_contains(const pn_set *set, const double *x, size_t n, double tolerance, bool *inside, pn_err *err);

/** *gauge = min{t >= 0 : x in tC} (inf when none).  Sets that contain the origin and have no closed form: by
 *  bisection on pn_set_contains, to 1e-9 relative; PN_EUNSUPPORTED for others. */
pn_status pn_set_gauge(const pn_set *set, const double *x, size_t n, double *gauge, pn_err *err);

/** Uniform over the set; where it has no such law of its own, an average of support points in random directions with
 *  Dirichlet weights, which is in the set but not uniform: *uniform (may be NULL) tells.  x[dim]. */
pn_status pn_set_sample(const pn_set *set, pn_rng *rng, double *x, bool *uniform, pn_err *err);

/* ---- sets made of sets ---- */

/** factor * C, factor finite and not 0; -1 * C is the reflection.  Keeps `set`.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_set_scale(pn_set **out, pn_set *set, double factor, pn_err *err);

/** C + shift, shift[n] copied.  Keeps `set`.  Errors: PN_EDIM when n is not the dimension, PN_EDOMAIN, PN_ENOMEM.
 *  The radius is exact for sets with image_radius or atoms; else it is ||shift|| plus the radius of C. */
pn_status pn_set_shift(pn_set **out, pn_set *set, const double *shift, size_t n, pn_err *err);

/* The rest: PN_EDIM when dimensions do not fit (names both), PN_EINVAL for sizes above 2^48, PN_ENOMEM.  Parts are
 * kept. */

/** C + D = {x + y}.  Support, radius (bound) and width add.  Projection by the support points. */
pn_status pn_set_sum(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

/** C n D.  Projection by Dykstra's alternation to 1e-10; support by projecting far points, to 1e-9 of the size (1e-6
 *  where steps are short).  PN_EINVAL when the sets are found to be disjoint. */
pn_status pn_set_intersect(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

/** C x D in dimension dim C + dim D: everything blockwise. */
pn_status pn_set_product(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

/** conv(C u D).  Support is the larger one. */
pn_status pn_set_hull(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

/** {A x : x in C}, A copied [rows x dim].  Support of g is that of A^T g. */
pn_status pn_set_image(pn_set **out, pn_set *set, pn_mat A, pn_err *err);

/** {y : <y, x> <= 1 for all x in C}.  Support and gauge change places.  Balls of the table give the ball of the dual
 *  norm.  PN_EUNSUPPORTED unless the origin is inside and a gauge exists. */
pn_status pn_set_polar(pn_set **out, pn_set *set, pn_err *err);

/* ---- the Gaussian width E max over C of <b, x>, b standard normal: what the error of private learning follows ---- */

typedef enum pn_width_method {
    PN_WIDTH_AUTO = 0,
    PN_WIDTH_EXACT,      /* a formula in known functions */
    PN_WIDTH_QUADRATURE, /* a one-dimensional integral, to 1e-12 relative */
    PN_WIDTH_MONTE_CARLO /* a mean of draws with a certified interval */
} pn_width_method;

/* What the caller of pn_set_width wants.  Zeros stand for the defaults. */
typedef struct pn_width_options {
    pn_width_method method;
    /* half the length of a Monte Carlo interval, relative to min(l2 radius, diameter/2); default 0.01 */
    double tolerance;
    double confidence; /* that the interval holds; default 0.99 */
    size_t draws;      /* instead of tolerance */
    pn_rng *rng;       /* NULL: a seeded one, since a width depends on no data */
    pn_task *task;     /* NULL: one thread, not to be stopped */
} pn_width_options;

typedef struct pn_width {
    double value, low, high; /* low <= G_C <= high, surely or with `confidence` */
    pn_width_method method;  /* what was done; a composed set: the least certain of its parts */
    size_t draws;            /* 0 unless Monte Carlo */
    double confidence;       /* 1 unless Monte Carlo */
    double standard_error;   /* of the sample, 0 unless Monte Carlo; inf of one draw */
} pn_width;

/**
 * The width by the method asked for; auto takes the first of exact, quadrature, composition, Monte Carlo that the set
 * has.  Asking for "quadrature" is content with an exact value.  A scaled, reflected or shifted set has |factor|
 * times the width of what it wraps.  Monte Carlo: the mean of N draws of w(b) = max <b, v>, or of (w(b) + w(-b))/2
 * where the set is not symmetric and half its diameter is less than its radius.  Either is a function of b with mean
 * G_C and Lipschitz constant rho = min(radius, diameter/2), so the half-width is rho sqrt(2 ln(2/(1 -
 * confidence))/N).  (Half the diameter alone is no such constant of w(b): the simplex has the circumradius sqrt(1 -
 * 1/p) > sqrt(1/2).)  The same seed gives the same numbers whatever the number of threads; a second call with the
 * same rng draws anew.
 * Errors: PN_EUNSUPPORTED for an unbounded set, and for a method that the set does not have; PN_EINVAL for a
 * tolerance <= 0, one that takes more than 1e9 draws, or a confidence outside (0, 1); PN_ECANCELLED; PN_ENOMEM; what
 * the set's support fails with.  *out is untouched on failure.
 */
pn_status pn_set_width(const pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
