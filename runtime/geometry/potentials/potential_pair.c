/* potential_pair.c -- Psi(x, y) = v Psi_C(x) + w Psi_D(y) over C x D, and over C + D, where theta = x + y and both
 * terms see the same gradient: the step of each part is its own, with c/v and c/w for its linear term.
 *
 * Constants, in squared norms: the norm of Psi has v ||x||_C^2 + w ||y||_D^2, of a sum its least over x + y = theta.
 * Ranges: D2 = v D2_C + w D2_D.  Noise: phi(c, d) = v phi_C(c/v) + w phi_D(d/w), whose Hessian is that of phi_C over v
 * and that of phi_D over w, so that K = K_C/v + K_D/w; for a sum, where both terms have the same c, the Hessians add
 * up, and their traces too.  D2 K is least for v = sqrt(K_C/D2_C), w = sqrt(K_D/D2_D):
 *     sqrt(D2 K) = sqrt(D2_C K_C) + sqrt(D2_D K_D),
 * costs add up, as widths do.  A part of one point, D2 = 0, moves nowhere: its K is 0, and its weight the other's.
 * Depends on: potential.h, set_algebra.h.  Used by: potential_for_set.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"

typedef struct pair {
    pn_potential base;
    pn_potential_ops ops;  /* base.ops points here */
    pn_set *set;           /* kept: what it was made for */
    pn_set *part_set[2];   /* kept: its parts, scaled and shifted as it is */
    pn_potential *part[2]; /* kept */
    size_t size[2];        /* entries of a point of each */
    size_t theta[2];       /* and of what it stands for */
    double weight[2];
    bool sum;
} pair;

static const pair *as_pair(const pn_potential *self)
{
    return (const pair *)self;
}

static void drop(pn_set *parts[2])
{
    pn_set_free(parts[0]);
    pn_set_free(parts[1]);
}

static void pair_destroy(pn_potential *self)
{
    pair *of = (pair *)self;

    for (int k = 0; k < 2; k++)
        pn_potential_free(of->part[k]);
    drop(of->part_set);
    pn_set_free(of->set);
    pn_free(of);
}

/* ---- entry by entry ---- */

static pn_status pair_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const pair *of = as_pair(self);
    double one = 0.0;

    (void)n;
    *value = 0.0;
    for (int k = 0; k < 2; x += of->size[k], k++) {
        PN_TRY(of->part[k]->ops->value(of->part[k], x, of->size[k], &one, err));
        *value += of->weight[k] * one;
    }
    return PN_OK;
}

static pn_status pair_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const pair *of = as_pair(self);

    (void)n;
    for (int k = 0; k < 2; x += of->size[k], out += of->size[k], k++) {
        PN_TRY(of->part[k]->ops->gradient(of->part[k], x, of->size[k], out, err));
        for (size_t j = 0; j < of->size[k]; j++)
            out[j] *= of->weight[k];
    }
    return PN_OK;
}

static pn_status pair_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const pair *of = as_pair(self);

    (void)n;
    for (int k = 0; k < 2; u += of->size[k], out += of->size[k], k++) {
        for (size_t j = 0; j < of->size[k]; j++)
            out[j] = u[j] / of->weight[k];
        PN_TRY(of->part[k]->ops->inverse_gradient(of->part[k], out, of->size[k], out, err));
    }
    return PN_OK;
}

/* ---- over a set ---- */

/* The two parts of a set, scaled and shifted as it is, to be dropped, also after a failure; NULL: it has none. */
static pn_status split(const pn_set *set, pn_set *parts[2], bool *sum, pn_err *err)
{
    double factor;
    const double *shift;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift), *of[2];

    parts[0] = parts[1] = NULL;
    *sum = pn_set_sum_parts(inner, &of[0], &of[1]);
    if (!*sum && !pn_set_product_parts(inner, &of[0], &of[1]))
        return PN_OK;
    PN_TRY(pn_set_moved(&parts[0], of[0], factor, shift, err));
    return pn_set_moved(&parts[1], of[1], factor, *sum || !shift ? NULL : shift + of[0]->dim, err);
}

/* The parts of a set that it fits, to be dropped, also after a failure. */
static pn_status parts_of(const pair *of, const pn_set *set, pn_set *parts[2], pn_err *err)
{
    bool sum;

    if (set == of->set) {
        for (int k = 0; k < 2; k++)
            parts[k] = pn_set_keep(of->part_set[k]);
        return PN_OK;
    }
    PN_TRY(split(set, parts, &sum, err));
    if (parts[0] && sum == of->sum && parts[0]->dim == of->theta[0])
        return PN_OK;
    return of->base.theta_dim ? pn_fail(err, PN_EINVAL, "the potential of a %s: the set %s is not one of such parts",
                                        of->ops.name, set->ops->name)
                              : PN_EUNSUPPORTED;
}

/* Half of what may be missing is each part's. */
static pn_status step_part(const pair *of, int k, const pn_set *set, size_t at, const double *c, double *x,
                           pn_step_limit *limit, pn_err *err)
{
    double w = of->weight[k];
    pn_step_limit own = { 0 };

    if (limit)
        own = (pn_step_limit){ .gap = 0.5 * limit->gap / w, .warm = limit->warm ? limit->warm + at : NULL };
    for (size_t j = at; j < at + of->size[k]; j++)
        x[j] = c[j] / w;
    PN_TRY(pn_potential_step_within(of->part[k], set, x + at, x + at, limit ? &own : NULL, err));
    if (limit)
        *limit = (pn_step_limit){ .gap = limit->gap,
                                  .warm = limit->warm,
                                  .rounds = limit->rounds + own.rounds,
                                  .reached = limit->reached + w * own.reached };
    return PN_OK;
}

static pn_status pair_step(const pn_potential *self, const pn_set *set, const double *c, double *x,
                           pn_step_limit *limit, pn_err *err)
{
    const pair *of = as_pair(self);
    pn_set *parts[2];
    pn_status status = parts_of(of, set, parts, err);

    for (int k = 0; k < 2 && status == PN_OK; k++)
        status = step_part(of, k, parts[k], k ? of->size[0] : 0, c, x, limit, err);
    drop(parts);
    return status;
}

/* *trace: 0 for a set of one point */
static pn_status measure_part(const pn_potential *part, const pn_set *set, double *range, double *trace, pn_err *err)
{
    *trace = 0.0;
    PN_TRY(pn_potential_range(part, set, range, err));
    return *range > 0.0 ? pn_potential_trace(part, set, trace, err) : PN_OK;
}

static pn_status measure(const pair *of, const pn_set *set, double *range, double *trace, pn_err *err)
{
    pn_set *parts[2];
    double D2 = 0.0, K = 0.0;
    pn_status status = parts_of(of, set, parts, err);

    *range = *trace = 0.0;
    for (int k = 0; k < 2 && status == PN_OK; k++) {
        status = measure_part(of->part[k], parts[k], &D2, &K, err);
        *range = pn_potential_up(*range + of->weight[k] * D2);
        *trace = pn_potential_up(*trace + K / of->weight[k]);
    }
    drop(parts);
    return status;
}

static pn_status pair_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double unused;

    return measure(as_pair(self), set, range, &unused, err);
}

static pn_status pair_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    double unused;

    return measure(as_pair(self), set, &unused, trace, err);
}

/* ---- lifted ---- */

static void pair_add_theta(const pn_potential *self, const double *x, double *theta)
{
    const pair *of = as_pair(self);

    for (int k = 0; k < 2; x += of->size[k], theta += of->sum ? 0 : of->theta[k], k++) {
        if (of->part[k]->theta_dim)
            of->part[k]->ops->add_theta(of->part[k], x, theta);
        else
            pn_axpy(of->size[k], 1.0, x, theta);
    }
}

static void pair_pull(const pn_potential *self, const double *g, double *out)
{
    const pair *of = as_pair(self);

    for (int k = 0; k < 2; out += of->size[k], g += of->sum ? 0 : of->theta[k], k++)
        pn_potential_pull(of->part[k], g, of->theta[k], out);
}

static void pair_describe(const pn_potential *self, char *text, size_t size)
{
    const pair *of = as_pair(self);

    (void)snprintf(text, size, "%s(%.4g %s, %.4g %s)", self->ops->name, of->weight[0], of->part[0]->ops->name,
                   of->weight[1], of->part[1]->ops->name);
}

/* ---- creation ---- */

static const pn_potential_ops pair_ops = {
    .doc = "A potential for each part of a set, with weights at which noise costs least.",
    .source = "Costs of products add up as Gaussian widths do",
    .destroy = pair_destroy,
    .value = pair_value,
    .gradient = pair_gradient,
    .inverse_gradient = pair_inverse,
    .step_within = pair_step,
    .range = pair_range,
    .trace = pair_trace,
    .describe = pair_describe,
};

/* *known: whether the parts have ranges */
static pn_status find_weights(pair *of, bool *known, pn_err *err)
{
    double range[2], trace[2];

    for (int k = 0; k < 2; k++) {
        pn_status status = measure_part(of->part[k], of->part_set[k], &range[k], &trace[k], err);

        *known = status != PN_EUNSUPPORTED;
        if (status != PN_OK)
            return *known ? status : PN_OK;
        of->weight[k] = range[k] > 0.0 ? sqrt(trace[k] / range[k]) : 0.0;
    }
    for (int k = 0; k < 2; k++) {
        if (!(of->weight[k] > 0.0))
            of->weight[k] = of->weight[1 - k] > 0.0 ? of->weight[1 - k] : 1.0;
    }
    return PN_OK;
}

/* The norm that the joined unit balls of the parts' norms have. */
static pn_status find_norm(pair *of, pn_norm **norm, pn_err *err)
{
    pn_set *balls[2] = { NULL, NULL }, *ball = NULL;
    double weight[2];
    pn_status status = PN_OK;

    for (int k = 0; k < 2 && status == PN_OK; k++) {
        weight[k] = of->weight[k] * of->part[k]->strong_convexity;
        status = pn_norm_ball(&balls[k], of->part[k]->norm, of->theta[k], err);
    }
    if (status == PN_OK)
        status = pn_set_joined(&ball, balls[0], balls[1], weight, of->sum, err);
    if (status == PN_OK)
        status = pn_norm_minkowski(norm, ball, err);
    pn_set_free(ball);
    pn_set_free(balls[0]);
    pn_set_free(balls[1]);
    return status;
}

static pn_status fill(pair *of, pn_err *err)
{
    pn_potential_ops *ops = &of->ops;
    pn_norm *norm = NULL;
    size_t size = 0;

    for (int k = 0; k < 2; k++) {
        of->theta[k] = of->part_set[k]->dim;
        of->size[k] = of->part[k]->theta_dim ? of->part[k]->dim : of->theta[k];
        size += of->size[k];
    }
    PN_TRY(find_norm(of, &norm, err));
    *ops = pair_ops;
    ops->name = of->sum ? "sum" : "product";
    if (!of->part[0]->ops->inverse_gradient || !of->part[1]->ops->inverse_gradient)
        ops->inverse_gradient = NULL;
    pn_potential_init(&of->base, ops, size, 1.0, norm);
    of->base.keeps_sums = of->part[0]->keeps_sums || of->part[1]->keeps_sums;
    if (of->sum || of->part[0]->theta_dim || of->part[1]->theta_dim) {
        of->base.theta_dim = of->set->dim;
        ops->add_theta = pair_add_theta;
        ops->pull = pair_pull;
    }
    return PN_OK;
}

pn_status pn_potential_pair(pn_potential **out, pn_set *set,
                            pn_status (*fitting)(pn_potential **out, pn_set *part, pn_err *err), pn_err *err)
{
    bool known = false;
    pair *of;
    pn_status status;

    *out = NULL;
    PN_TRY(pn_new_zeroed(&of, 1, err, "potential.for_set: out of memory"));
    of->set = pn_set_keep(set);
    status = split(set, of->part_set, &of->sum, err);
    for (int k = 0; k < 2 && status == PN_OK && of->part_set[0]; k++)
        status = fitting(&of->part[k], of->part_set[k], err);
    if (status == PN_OK && of->part_set[0])
        status = find_weights(of, &known, err);
    if (status == PN_OK && known)
        status = fill(of, err);
    if (status == PN_OK && known)
        *out = &of->base;
    else
        pair_destroy(&of->base);
    return status;
}
