/* bound.h -- certified extremes of an expression over a box, by outward-rounded intervals with branch and bound.
 * Depends on: graph.h, interval.h.  Used by: objective, bindings.
 * Source: Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, chapters 6 and 11
 * (mean value form, monotonicity test); the error-free transformations are Knuth's and Dekker's. */
#ifndef PN_EXPR_BOUND_H
#define PN_EXPR_BOUND_H

#include "core/task.h"
#include "expr/interval.h"

/* Variables that a search or a function that a user traces may have.  Of more: pn_enclose. */
#define PN_BOUND_VARS_MAX 16

/* Where a variable ranges: an interval (ends may be infinite), or a list of values when count > 0. */
typedef struct pn_domain {
    pn_interval range;
    const double *values; /* [count], borrowed */
    size_t count;
} pn_domain;

typedef struct pn_extremes {
    pn_interval min, max; /* the minimum lies in `min`, the maximum in `max`; all values in [min.low, max.high] */
    bool converged;       /* both to the tolerance; otherwise the bounds still hold */
    size_t boxes;         /* that were looked at */
} pn_extremes;

/* What a search aims at, relative to max(|min|, |max|): after half of its boxes 1e-6, after three quarters 1e-3 will
 * do.  It may cost PN_BOUND_BOXES boxes, fewer when the expression and its derivatives have more than a hundred
 * operations. */
#define PN_BOUND_TOLERANCE 1e-9
#define PN_BOUND_BOXES     20000

/**
 * Enclose the extremes of the expression at `root` for variables in domains[pn_graph_variables].  The graph is left as
 * it is.  Deterministic: the effort is a number of boxes, not a time.  What is bounded is the expression over the real
 * numbers: that doubles round when it is evaluated is the evaluator's matter.
 * Errors: PN_EUNSUPPORTED when it is unbounded or could not be bounded: the message names the sub-expression and the
 * interval
 *         of its argument, "log(z) is unbounded where z is in [0, 1e-12]";
 *             PN_EDOMAIN when it may be undefined, likewise;
 *         PN_EINVAL for a domain with low > high or NaN (names the variable) and for more than PN_BOUND_VARS_MAX
 *         variables; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_bound_range(pn_extremes *out, pn_graph *graph, pn_node root, const pn_domain *domains, pn_task *task,
                         pn_err *err);

/**
 * The most that the expression f falls below its value at 0: *out is at least f(0, u) - f(x, u), and at least 0, for x
 * in the domains of the first `moving` variables, which hold 0, and u in those of the others; to the tolerance above
 * where the search converges.  The graph is left as it is.
 * Errors: as pn_bound_range, PN_EUNSUPPORTED where nothing bounds it.
 */
pn_status pn_bound_fall(double *out, const pn_graph *graph, pn_node root, unsigned moving, const pn_domain *domains,
                        pn_task *task, pn_err *err);

/* How an expression jumps where one of its switches (where, sign, conditions) turns, as variable `variable` grows. */
typedef struct pn_jump {
    /* false: could not be shown either way */
    bool decided;
    /* Bounds on the sizes of jumps upward and downward.  0 when one-sided limits agree within 2^-40 of the expression's
     * magnitude, or of the numbers that it is computed from at the jump, whichever is less, which is as near as doubles
     * can tell; inf when not decided. */
    double up, down;
    /* the variable's value at the largest jump */
    double where;
} pn_jump;

/**
 * Errors as pn_bound_range, except that unboundedness is `decided = false`.
 * Exact when, apart from `variable`, the expression depends on variables with lists of values only, or on all variables
 * through one common sub-expression such as z - y.
 */
pn_status pn_bound_jump(pn_jump *out, pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                        pn_task *task, pn_err *err);

/* All that is certified of f as a function of one variable, the others ranging over their domains.
 * Ranges are outward and have infinite ends where unbounded; ranges of derivatives hold wherever the derivative exists,
 * and for the values that pn_graph_derivative gives at kinks. */
typedef struct pn_shape {
    pn_interval value, slope, curvature, third;
    bool continuous;   /* f does not jump */
    bool smooth;       /* nor does its slope: `curvature` bounds the Lipschitz constant of the slope */
    bool twice_smooth; /* nor does its curvature: `third` bounds the Lipschitz constant of the curvature */
    bool convex;       /* continuous, curvature >= 0, the slope only jumps upward */
    char missing
        [256]; /* why the first of value, slope, curvature, third is infinite, or what jumps; "" when all is well */
} pn_shape;

/** Errors: PN_EINVAL, PN_EDOMAIN (undefined on part of the domain), PN_ENOMEM, PN_ECANCELLED.
 *  Unbounded parts are no error. */
pn_status pn_shape_of(pn_shape *out, pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                      pn_task *task, pn_err *err);

/* What one expression of several is enclosed by. */
typedef struct pn_enclosed {
    pn_interval range; /* infinite ends where unbounded; all of the line where it may be undefined */
    bool may_jump;     /* as the variables that move do */
} pn_enclosed;

#define PN_WHY_MAX 256

/**
 * Enclose the expressions roots[count] over a box at once, by one sweep of intervals and no search: of any number of
 * variables, in time proportional to the operations, as wide as intervals make it.  Of one variable at most the domain
 * may be a list of values: each is put in by itself.
 *   out        [count]
 *   moving     the variables below it move; others may choose, by `where`, without a jump.
 *   why        [PN_WHY_MAX]: which operation is unbounded or undefined first, and where; "" when none is.
 *   undefined  whether some expression may be undefined.
 * Errors: PN_EINVAL for a second list of values; PN_ENOMEM.
 */
pn_status pn_enclose(pn_enclosed *out, char *why, bool *undefined, const pn_graph *graph, const pn_node *roots,
                     size_t count, unsigned moving, const pn_domain *domains, pn_err *err);

#endif
