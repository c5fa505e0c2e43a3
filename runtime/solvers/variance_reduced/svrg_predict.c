/* svrg_predict.c -- the excess risk to be expected of a private SVRG run, from public numbers: no bound, but what
 * defaults and plan:tune compare.
 * Depends on: svrg.h.  Used by: svrg_shape.c, svrg_plan.c.
 *
 * Strongly convex: a quadratic with EIGENVALUES curvatures spread evenly in logarithms from mu to L, of p/EIGENVALUES
 * coordinates each, that starts half of the largest gap away.  With h such a curvature, t = eta m and B = E exp(-h t U)
 * over the weights U of an epoch's average, an epoch takes the squared distance of a coordinate x^2 to B^2 x^2 and the
 * variance v to
 *     B^2 v + (1 - B)^2 (sigma_a/h)^2 + eta sigma_b^2 (1 - B^2)/(2 h),
 * sigma_a of the snapshot's gradient, sigma_b of inner steps, which follows the distance d that an epoch goes: d^2 sums
 * (1 - B)^2 (x^2 + v + (sigma_a/h)^2), and what its own noise adds.  In 48 simulated runs each at three condition
 * numbers and budgets the logarithms of prediction and risk correlate by 0.93 to 0.98,
 * most values within a factor of two.
 *
 * Convex: a third of D^2/(4 t) + p t sigma_a^2 c/2 and the noise of inner steps, t = eta times all steps and c the sum
 * over epochs of (m_s/M)^2, 1/T for equal ones, since an epoch keeps its noise;
 * a third of the bound is about what real data show. */
#include <math.h>

#include "solvers/variance_reduced/svrg.h"

#define EIGENVALUES 12
#define NODES       50

/* E exp(-c U) for U with density (a + 1) u^a on (0, 1): iterate t of an epoch weighs like t^a. */
static double shrinkage(double c, double a)
{
    double sum = 0.0, weight = 0.0;

    for (int i = 0; i < NODES; i++) {
        double u = ((double)i + 0.5) / NODES, w = pow(u, a);

        sum += w * exp(-c * u);
        weight += w;
    }
    return sum / weight;
}

typedef struct spectrum {
    double h[EIGENVALUES], B[EIGENVALUES];
    double weight; /* coordinates of each */
} spectrum;

static spectrum make_spectrum(const svrg_plan *plan, const svrg_shape *shape)
{
    double L = plan->problem.smoothness, mu = plan->problem.strong_convexity;
    spectrum s = { .weight = (double)plan->problem.p / EIGENVALUES };

    for (int j = 0; j < EIGENVALUES; j++) {
        s.h[j] = L * pow(mu / L, (double)j / (EIGENVALUES - 1));
        s.B[j] = shrinkage(s.h[j] * shape->step * (double)shape->inner, plan->tail);
    }
    return s;
}

/* Of inner noise: how much of the distance that an epoch goes its own noise makes. */
static double feedback(const spectrum *s, const svrg_shape *shape, double pull)
{
    double sum = 0.0;

    for (int j = 0; j < EIGENVALUES; j++)
        sum += s->weight * shape->step * (1.0 - s->B[j] * s->B[j]) / (2.0 * s->h[j]);
    return pull * pull * sum;
}

/* Of one run: sigma of the snapshots, and of inner steps either fixed (printed) or 2 zeta tau. */
typedef struct noise {
    double anchor, fixed, zeta;
} noise;

static double spectral_risk(const svrg_plan *plan, const svrg_shape *shape, noise by)
{
    spectrum s = make_spectrum(plan, shape);
    double reach = plan->reach * pn_objective_bounds(plan->base.objective)->loss_smoothness;
    double most = 2.0 * plan->problem.lipschitz, trace = 0.0, risk = 0.0;
    double x2[EIGENVALUES], v[EIGENVALUES] = { 0.0 }, q = feedback(&s, shape, 2.0 * by.zeta * reach);

    if (!(q < 0.9))
        return INFINITY;
    for (int j = 0; j < EIGENVALUES; j++)
        trace += s.weight * s.h[j];
    for (int j = 0; j < EIGENVALUES; j++)
        x2[j] = plan->first_gap / trace;
    for (size_t epoch = 0; epoch < shape->epochs; epoch++) {
        double d2 = 0.0, sigma;

        for (int j = 0; j < EIGENVALUES; j++)
            d2 +=
                s.weight * (1.0 - s.B[j]) * (1.0 - s.B[j]) * (x2[j] + v[j] + by.anchor * by.anchor / (s.h[j] * s.h[j]));
        sigma = by.fixed + 2.0 * by.zeta * fmin(most, reach * sqrt(d2 / (1.0 - q)));
        for (int j = 0; j < EIGENVALUES; j++) {
            double B2 = s.B[j] * s.B[j], still = (1.0 - s.B[j]) * by.anchor / s.h[j];

            v[j] = B2 * v[j] + still * still + shape->step * sigma * sigma * (1.0 - B2) / (2.0 * s.h[j]);
            x2[j] *= B2;
        }
    }
    for (int j = 0; j < EIGENVALUES; j++)
        risk += s.weight * s.h[j] / 2.0 * (x2[j] + v[j]);
    return risk;
}

/* Sum over epochs of the square of their share of all steps. */
static double concentration(const svrg_shape *shape)
{
    double T = (double)shape->epochs, r = ldexp(1.0, (int)fmin(T, 60.0));

    return shape->doubling ? (r + 1.0) / (3.0 * (r - 1.0)) : 1.0 / T;
}

static double convex_risk(const svrg_plan *plan, const svrg_shape *shape, noise by)
{
    double p = (double)plan->problem.p, T = (double)shape->epochs, t = shape->step * svrg_all_steps(shape);
    double L = pn_objective_bounds(plan->base.objective)->loss_smoothness, G = plan->problem.lipschitz;
    double D = pn_usual_distance(G / L, plan->problem.usual, p, plan->problem.diameter / 2.0);
    double sigma = by.fixed + 2.0 * by.zeta * fmin(2.0 * G, plan->reach * L * D / T);

    return pn_usual_excess(
        D, t, p * t * concentration(shape) * by.anchor * by.anchor / 2.0 + p * shape->step * sigma * sigma / 2.0);
}

double svrg_predict(const svrg_plan *plan, const svrg_shape *shape, double anchor, double inner)
{
    double b = (double)shape->batch;
    noise by = { plan->printed ? 0.0 : anchor, plan->printed ? inner / b : 0.0,
                 plan->printed ? 0.0 : inner / (2.0 * b) };
    bool curved = plan->problem.strong_convexity > 0.0 && !shape->doubling && !plan->limited;

    return fmin(curved ? spectral_risk(plan, shape, by) : convex_risk(plan, shape, by), plan->first_gap);
}

/* By the exact Gaussian curve of what the anchors leave; sampling makes it about 1.3 times that. */
double svrg_guess_inner(const svrg_plan *plan, const svrg_shape *shape, double inflation, double rho)
{
    double mu = sqrt(2.0 * rho), b = (double)shape->batch;
    double z = 1.3 * b * sqrt(svrg_all_steps(shape)) / (plan->problem.n * mu);

    return plan->printed
               ? 4.0 * plan->problem.lipschitz * z
               : pn_contributions(plan->base.request.neighbours) * z / sqrt(1.0 - 1.0 / (inflation * inflation));
}
