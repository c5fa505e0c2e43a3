/* width.h -- the Gaussian width G_C = E max_{v in C} <b, v>, b standard normal: what the error of private learning over C
 * follows (the dimension enters only through it).  Depends on: core, random.  Used by: set.h, solvers (plans), bindings.
 * Source: Talwar, Thakurta, Zhang (2014), section 2; geometry.md sections 1 and 2. */
#ifndef PN_GEOMETRY_WIDTH_H
#define PN_GEOMETRY_WIDTH_H

#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "random/rng.h"

struct pn_set;

typedef enum pn_width_method {
    PN_WIDTH_AUTO = 0,
    PN_WIDTH_EXACT,      /* a formula in known functions */
    PN_WIDTH_QUADRATURE, /* a one-dimensional integral, to 1e-12 relative */
    PN_WIDTH_MONTE_CARLO /* a mean of draws with a certified interval */
} pn_width_method;

extern const char *const pn_width_methods[]; /* "auto", "exact", "quadrature", "monte_carlo", NULL */

/* What the caller wants.  Zeros stand for the defaults. */
typedef struct pn_width_options {
    pn_width_method method;
    double
        tolerance; /* half the length of a Monte Carlo interval, relative to min(l2 radius, diameter/2); default 0.01 */
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
 * The width by the method asked for; auto takes the first of exact, quadrature, composition, Monte Carlo that the set has.  Asking
 * for "quadrature" is content with an exact value.  A scaled, reflected or shifted set has |factor| times the width of what it wraps.
 * Monte Carlo: the mean of N draws of w(b) = max <b, v>, or of (w(b) + w(-b))/2 where the set is not symmetric and half its diameter
 * is less than its radius.  Either is a function of b with mean G_C and Lipschitz constant rho = min(radius, diameter/2), so the
 * half-width is rho sqrt(2 ln(2/(1 - confidence))/N).  (Half the diameter alone is no such constant of w(b): the simplex has the
 * circumradius sqrt(1 - 1/p) > sqrt(1/2).)  The same seed gives the same numbers whatever the number of threads; a second call with
 * the same rng draws anew.
 * Errors: PN_EUNSUPPORTED for an unbounded set, and for a method that the set does not have; PN_EINVAL for a tolerance <= 0, one
 * that takes more than 1e9 draws, or a confidence outside (0, 1); PN_ECANCELLED; PN_ENOMEM; what the set's support fails with.
 * *out is untouched on failure.
 */
pn_status pn_set_width(const struct pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err);

#endif
