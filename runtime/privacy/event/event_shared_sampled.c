/* event_shared_sampled.c -- one draw of Gaussian noise on the sum of a query on a batch and a query on all records.
 * Depends on: event_leaf.h, sampled_curve.h, numeric/root.h.  Used by: the table in event.c.
 * See variance-reduced.md section 3.
 *
 * Noise of variance sigma^2 is the sum of two independent draws of variances (1-rho) sigma^2 and rho sigma^2, so the
 * release can be computed from {batch query + first draw} and {query on all records + second draw}.
 * For every rho in (0, 1) and every order
 *     R(alpha) <= A(rho) + alpha W^2/(2 rho sigma^2),   A(rho) = R_wor(alpha; q = batch/n, z = sigma sqrt(1-rho)/S)
 * with S and W the sensitivities of the two queries and R_wor the curve of fixed_sampled.  Only the first part is
 * amplified: the second sees the record whatever batch was drawn.  Given the batch the sum moves by S + W at most, so
 * alpha (S+W)^2/(2 sigma^2) bounds it too, by joint quasi-convexity, and (S+W)^2/(2 sigma^2) is its rho-zCDP; no
 * smaller one holds at all orders, as the ratio tends to it. */
#include <float.h>
#include <math.h>

#include "numeric/root.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/sampled_curve.h"

enum { BATCH = 0, N, SIGMA, SAMPLED, WHOLE, DRAWS };

#define REFINEMENTS 5
#define NEGLIGIBLE  -16.0 /* ln rho */

static const double *values(const pn_event *self)
{
    return ((const pn_leaf *)self)->values;
}

static double level(const pn_event *self)
{
    return ((const pn_leaf *)self)->level;
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    double moves = args[SAMPLED].real + args[WHOLE].real;

    *out = NULL;
    if (neighbours != PN_REPLACE_ONE)
        return pn_fail(
            err, PN_EPRIVACY,
            "event.fixed_sampled_and_whole: a batch of fixed size has a proof for \"replace_one\" neighbours only, got "
            "\"%s\"",
            pn_neighbours_names[neighbours]);
    if (args[BATCH].count > args[N].count)
        return pn_fail(err, PN_EINVAL,
                       "event.fixed_sampled_and_whole: batch must be at most n = %zu, got %zu (draws with replacement "
                       "have no event)",
                       args[N].count, args[BATCH].count);
    if ((double)args[N].count > 0x1p53)
        return pn_fail(err, PN_EINVAL, "event.fixed_sampled_and_whole: n must be at most 2^53, got %zu", args[N].count);
    return pn_leaf_new(out, &pn_event_fixed_sampled_and_whole_ops, args, moves / args[SIGMA].real * (1.0 + DBL_EPSILON),
                       neighbours, err);
}

/* ---- the curve ---- */

typedef struct shared {
    double q, z, alpha; /* z = sigma/S */
    double whole;       /* alpha W^2/(2 sigma^2) */
    double ratio;       /* W/S */
} shared;

/* A(rho) at a noise multiplier rounded downward: at large orders the curve may change by much more than its
 * argument. */
static double sampled_part(const shared *s, double rho)
{
    return pn_curve_fixed_size(s->q, s->z * sqrt(1.0 - rho) * (1.0 - 0x1p-50), s->alpha);
}

/* The x = ln(rho/(1-rho)) where a (1-rho)^-k + whole/rho is least: there x - (k-1)/2 ln(1-rho) = ln(whole/(k a))/2,
 * whose left side rises.  Newton's method from `x`. */
static double least_of_power(double a, double k, double whole, double x)
{
    double target = 0.5 * log(whole / (k * a)), half = (k - 1.0) / 2.0;

    for (int i = 0; i < 8; i++) {
        double e = exp(-fabs(x)), log_stay = -(fmax(x, 0.0) + log1p(e)); /* ln(1 - rho) */
        double f = x - half * log_stay - target;

        x -= f / (1.0 + half / (1.0 + exp(-x)));
    }
    return x;
}

/* The sum at rho = 1/(1 + e^-x). */
static double at_place(void *self, double x)
{
    const shared *s = self;

    return (sampled_part(s, 1.0 / (1.0 + exp(-x))) + s->whole * (1.0 + exp(-x))) * (1.0 + 8.0 * DBL_EPSILON);
}

/* Around the best of the places asked for.  A rises no faster than it would without sampling, whose best rho/(1-rho) is
 * W/S; so the least of the sum is not below that, and the first place, of an A that rises as slowly as it may,
 * is not below it. */
static double search_split(shared *s, const double *x, const double *value, int count)
{
    double low = log(s->ratio), high = x[0];
    int best = 0;

    for (int i = 1; i < count; i++)
        best = value[i] < value[best] ? i : best;
    for (int i = 0; i < count; i++) {
        low = x[i] < x[best] ? fmax(low, x[i]) : low;
        high = x[i] > x[best] ? fmin(high, x[i]) : high;
    }
    return low < high ? fmin(value[best], at_place(s, pn_golden_min(at_place, s, low, high, 5e-3))) : value[best];
}

/* Between two evaluations A is nearly a power of 1 - rho: fit it, go where the sum would then be least, again.  Next to
 * the order where the sampled part turns into the whole of it there is a kink, and the fit may not settle: then search.
 * Every rho gives a bound, so what either misses costs a little and breaks nothing. */
static double best_split(shared *s)
{
    double x[REFINEMENTS], value[REFINEMENTS], k = 1.0, constant = sampled_part(s, 0.0), last = constant, stay = 0.0;
    int i;

    if (!(constant > 0.0 && isfinite(constant)))
        return INFINITY;
    for (i = 0; i < REFINEMENTS; i++) {
        double a, now_stay;

        x[i] = fmin(fmax(least_of_power(constant, k, s->whole, i ? x[i - 1] : 0.0), -30.0), 14.0);
        now_stay = -log1p(exp(x[i]));
        value[i] = at_place(s, x[i]);
        if (i && fabs(x[i] - x[i - 1]) < 2e-3)
            return fmin(value[i], value[i - 1]);
        a = value[i] - s->whole * (1.0 + exp(-x[i]));
        k = fmin(fmax(log(a / last) / (stay - now_stay), 1.0), 1e6);
        constant = a * exp(k * now_stay);
        last = a;
        stay = now_stay;
        if (!(a > 0.0 && constant > 0.0) || x[i] < NEGLIGIBLE)
            return value[i];
    }
    return search_split(s, x, value, i);
}

static double zcdp(const pn_event *self)
{
    return pn_product_up(level(self), level(self)) / 2.0;
}

static double rdp(const pn_event *self, double alpha)
{
    const double *v = values(self);
    double unsampled = pn_curve_zcdp(zcdp(self), alpha), ratio = pn_quotient_up(v[WHOLE], v[SIGMA]);
    shared s = { pn_quotient_up(v[BATCH], v[N]), pn_quotient_down(v[SIGMA], v[SAMPLED]), alpha,
                 alpha * ratio * ratio / 2.0, v[WHOLE] / v[SAMPLED] };

    if (isinf(alpha) || s.q >= 1.0)
        return unsampled;
    return fmin(best_split(&s), unsampled);
}

/* One draw an entry, whatever it is the sum of; under one batch the values of neighbours differ by S + W at most. */
static pn_slack slack(const pn_event *self)
{
    return pn_gaussian_slack(values(self)[DRAWS], level(self));
}

/* ---- the row ---- */

static const pn_param params[] = {
    { "batch", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in the batch, drawn without replacement; at most n" },
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in the data" },
    { "sigma", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "standard deviation of the noise, unit of the queries" },
    { "sampled_sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "l2 sensitivity of the batch query when a record of the batch is replaced" },
    { "whole_sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "l2 sensitivity of the query on all records when one is replaced" },
    { "draws", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "scalar draws of lattice noise in one release, whose distance from the ideal law is then charged; ideal noise "
      "when absent" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_fixed_sampled_and_whole_ops = {
    .name = "fixed_sampled_and_whole",
    .doc =
        "One draw of Gaussian noise on the sum of a query on a batch of fixed size, drawn anew without replacement, "
        "and a query on all records, as in the steps of SVRG; for replace_one neighbours only. The noise is split in "
        "two independent parts, the shares chosen for each Renyi order: one makes the batch query an event "
        "fixed_sampled, the other the query on all records an event gaussian, which no sampling amplifies. zCDP of "
        "both sensitivities together; no pure epsilon and no privacy loss distribution, as the split depends on the "
        "order.",
    .source = "Balle, Barthe, Gaboardi (2018); Wang, Ye, Xu (2017), whose steps it prices",
    .params = params,
    .create = create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = pn_leaf_describe,
    .slack = slack,
};

pn_status pn_event_sampled_and_whole(pn_event **out, size_t batch, size_t n, double sigma, double sampled_sensitivity,
                                     double whole_sensitivity, size_t draws, pn_neighbours neighbours, pn_err *err)
{
    pn_arg args[7] = { { .given = true, .count = batch },
                       { .given = true, .count = n },
                       { .given = true, .real = sigma },
                       { .given = true, .real = sampled_sensitivity },
                       { .given = true, .real = whole_sensitivity },
                       { .given = draws > 0, .count = draws },
                       { 0 } };

    return pn_event_from_args(out, "fixed_sampled_and_whole", args, neighbours, err);
}
