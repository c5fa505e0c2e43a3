/* slope_inverse.h -- where the slope of a formula psi of one variable takes given values, for whole vectors of them.
 * Depends on: expr/.  Used by: potential_separable.c. */
#ifndef PN_GEOMETRY_SLOPE_INVERSE_H
#define PN_GEOMETRY_SLOPE_INVERSE_H

#include "expr/compiled.h"
#include "expr/interval.h"

/* psi' rises by at least `least` > 0 per unit of the domain. */
typedef struct pn_slope {
    const pn_compiled *formula;
    pn_interval domain;
    double least;
    double inside, at_inside; /* a point of the domain, and psi' there */
    double at_low, at_high;   /* psi' at the ends of the domain; infinite: none */
} pn_slope;

#define PN_SLOPE_NODES 128
#define PN_SLOPE_MOST  1024 /* slopes that are inverted at once: they stay in the first cache */

/* Points between two slopes at equal distances of psi', for good guesses of what is between them. */
typedef struct pn_slope_nodes {
    double first, spacing;           /* of psi'; spacing 0: no nodes */
    double cubic[PN_SLOPE_NODES][4]; /* between a node and the next: coefficients of 1, t, t^2, t^3, t from 0 to 1 */
} pn_slope_nodes;

/** Nodes for n slopes from low to high; none where they would cost more than they save. */
void pn_slope_nodes_fill(pn_slope_nodes *nodes, const pn_slope *of, double low, double high, size_t n);

/**
 * x[n] <- where psi' = u[n], or the end of the domain that comes nearest; curvature[n] <- psi'' there, +inf at such an
 * end.  n <= PN_SLOPE_MOST.  x is as near as the rounding of psi' lets tell; at most 200 evaluations of a slope.
 */
void pn_slope_invert(const pn_slope *of, const pn_slope_nodes *nodes, const double *u, size_t n, double *x,
                     double *curvature);

/** The same from the nodes alone, which are there: roughly, and without asking the formula; rate[n] <- dx/du. */
void pn_slope_guess(const pn_slope_nodes *nodes, const double *u, size_t n, double *x, double *rate);

#endif
