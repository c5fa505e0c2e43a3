/* accelerated_mirror_descent.h -- what the plan and the steps of accelerated mirror descent share.  Private to
 * accelerated_mirror_descent*.c.  Depends on: gradient_noise.h, mirror_geometry.h, first_order.h. */
#ifndef PN_SOLVERS_ACCELERATED_MIRROR_DESCENT_H
#define PN_SOLVERS_ACCELERATED_MIRROR_DESCENT_H

#include "solvers/engine/first_order.h"
#include "solvers/engine/schedule.h"
#include "oracle/gradient_noise.h"
#include "solvers/first_order/mirror_geometry.h"

typedef struct amd_plan {
    pn_plan base; /* first */
    pn_gradient_noise noise;
    pn_first_order first;  /* with another than the Euclidean potential all of r is taken by its gradient */
    pn_mirror_space space; /* of z */
    bool euclidean;        /* the z-step is the composite's proximal step */
    bool printed;          /* the y-step is a projection instead of a triangle's corner */
    double smoothness;     /* L_C: of F (and of what of r is taken by its gradient) in the potential's norm */
    pn_schedule scale;     /* c: A = c (k + 2) / (4 L_C) */
    double near;           /* step of the projection: squared l2 radius of the norm's ball over L_C */
} amd_plan;

/* What the bound depends on; see accelerated_mirror_descent_bound.c. */
typedef struct amd_terms {
    double L; /* L_C */
    /* at least the distance B_w(x*, x_0) of the potential made 1-strongly convex, or a guess of it; +inf: unknown */
    double B;
    double K;     /* what noise costs in its geometry (pn_potential_trace) */
    double dual;  /* E ||b||^2 in the dual norm, at most: what it costs the printed y-step */
    double unit;  /* sigma = unit sqrt(T); 0 without noise */
    double scale; /* c as given, or 0 */
    bool printed;
    size_t given, most; /* steps asked for, or 0; the most by default */
} amd_terms;

/** The c that is given, else 1, or less where noise makes shorter steps better.  sigma: of one gradient. */
double amd_scale(const amd_terms *of, double T, double sigma);
/** Bound on the expected excess after T steps of scale c: *bias of the method, *noise of sigma.
 *  +inf where c is too long. */
double amd_bound(const amd_terms *of, double T, double sigma, double c, double *bias, double *noise);
/** Its sum for noise of unit sqrt(T) and the scale that is then taken; +inf for T = 0. */
double amd_bound_at(const amd_terms *of, double T);
/** How many steps: the given number; without noise AMD_DEFAULT_STEPS; else what the bound favours. */
size_t amd_steps(const amd_terms *of);

#define AMD_DEFAULT_STEPS 1000

extern const pn_param amd_params[];
enum { AMD_POTENTIAL = 0, AMD_STEP, AMD_YSTEP, AMD_PROX, AMD_SMOOTHNESS, AMD_C, AMD_BATCH };

pn_status amd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
