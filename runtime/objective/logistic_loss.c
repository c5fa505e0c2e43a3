/* logistic_loss.c -- l(z, y) = ln(1 + exp(-y z)), labels -1 and 1.
 * Everything is a function of t = -y z: softplus(t), slope -y sigmoid(t), curvature sigmoid(t) sigmoid(-t).
 * Depends on: loss.h, loss_range.h, simd.h.  Used by: loss.c's table. */
#include <math.h>

#include "core/alloc.h"
#include "numeric/simd.h"
#include "objective/loss.h"
#include "objective/loss_range.h"

#define CHUNK 256

extern const pn_loss_ops pn_loss_logistic;

static pn_status logistic_create(pn_loss **out, const pn_arg *args, pn_err *err)
{
    (void)args;
    *out = pn_alloc(1, sizeof **out);
    if (!*out)
        return pn_fail(err, PN_ENOMEM, "loss.logistic: out of memory");
    **out = (pn_loss){ .ops = &pn_loss_logistic, .references = 1 };
    return PN_OK;
}

static void logistic_destroy(pn_loss *self)
{
    pn_free(self);
}

static void chunk_slope(const pn_simd *simd, size_t n, const double *t, const double *y, double *slope)
{
    simd->sigmoid(n, t, slope);
    for (size_t i = 0; i < n; i++)
        slope[i] *= -y[i];
}

/* e / (1 + e)^2 with e = exp(-|t|): even in t, and no cancellation on either side. */
static void chunk_curvature(const pn_simd *simd, size_t n, const double *t, double *curvature)
{
    for (size_t i = 0; i < n; i++)
        curvature[i] = -fabs(t[i]);
    simd->exp(n, curvature, curvature);
    for (size_t i = 0; i < n; i++)
        curvature[i] = curvature[i] / ((1.0 + curvature[i]) * (1.0 + curvature[i]));
}

static void logistic_evaluate(const pn_loss *self, size_t count, const double *z, const double *y, double *value,
                              double *slope, double *curvature)
{
    const pn_simd *simd = pn_simd_best();
    double t[CHUNK];

    (void)self;
    for (size_t start = 0; start < count; start += CHUNK) {
        size_t n = count - start < CHUNK ? count - start : CHUNK;

        for (size_t i = 0; i < n; i++)
            t[i] = -y[start + i] * z[start + i];
        if (value)
            simd->softplus(n, t, value + start);
        if (slope)
            chunk_slope(simd, n, t, y + start, slope + start);
        if (curvature)
            chunk_curvature(simd, n, t, curvature + start);
    }
}

static double sigmoid(double t)
{
    double e = exp(-fabs(t));

    return t >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

static double softplus(double t)
{
    return fmax(t, 0.0) + log1p(exp(-fabs(t)));
}

static double curvature_at(double t)
{
    return sigmoid(t) * sigmoid(-t);
}

/* Of t = -y z over the labels -1 and 1 that the interval of labels admits. */
static pn_status range_of_t(pn_interval z, pn_interval y, pn_interval *t, bool *plus, bool *minus, pn_err *err)
{
    *plus = y.low <= 1.0 && 1.0 <= y.high;
    *minus = y.low <= -1.0 && -1.0 <= y.high;
    if (!*plus && !*minus)
        return pn_fail(err, PN_EINVAL, "loss.logistic: the labels must be -1 and 1, got the interval {%g, %g}", y.low,
                       y.high);
    t->low = *plus && *minus ? fmin(-z.high, z.low) : *plus ? -z.high : z.low;
    t->high = *plus && *minus ? fmax(-z.low, z.high) : *plus ? -z.low : z.high;
    return PN_OK;
}

static pn_status logistic_range(const pn_loss *self, pn_interval z, pn_interval y, pn_loss_range *out, pn_err *err)
{
    pn_status status = pn_check_margin("loss.logistic", z, err);
    double near, far;
    bool plus, minus;
    pn_interval t = { 0.0, 0.0 };

    (void)self;
    if (status == PN_OK)
        status = range_of_t(z, y, &t, &plus, &minus, err);
    if (status != PN_OK)
        return status;
    out->value = pn_cut(pn_outward(softplus(t.low), softplus(t.high)), 0.0, INFINITY);
    /* label 1: slope -sigmoid(-z); label -1: slope sigmoid(z); both rise with z */
    out->slope = pn_cut(
        pn_outward(plus ? -sigmoid(-z.low) : sigmoid(z.low), minus ? sigmoid(z.high) : -sigmoid(-z.high)), -1.0, 1.0);
    near = z.low > 0.0 ? z.low : z.high < 0.0 ? -z.high : 0.0;
    far = fmax(-z.low, z.high);
    out->curvature = pn_cut(pn_outward(curvature_at(far), curvature_at(near)), 0.0, 0.25);
    return PN_OK;
}

const pn_loss_ops pn_loss_logistic = {
    .name = "logistic",
    .doc = "Logistic loss l(z, y) = ln(1 + exp(-y z)) for labels -1 and 1; |slope| < 1, curvature <= 1/4.",
    .source = "Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.4",
    .labels = PN_LABELS_BINARY,
    .convex = true,
    .create = logistic_create,
    .destroy = logistic_destroy,
    .evaluate = logistic_evaluate,
    .range = logistic_range,
};
