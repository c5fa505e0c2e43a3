/* squared_loss.c -- l(z, y) = (z - y)^2 / 2, so that f = (1/2n) ||X theta - y||^2.
 * Depends on: loss.h, loss_range.h.  Used by: loss.c's table.  Spec: frank-wolfe.md section 5. */
#include <math.h>

#include "core/alloc.h"
#include "objective/loss.h"
#include "objective/loss_range.h"

extern const pn_loss_ops pn_loss_squared;

static pn_status squared_create(pn_loss **out, const pn_arg *args, pn_err *err)
{
    (void)args;
    *out = pn_alloc(1, sizeof **out);
    if (!*out)
        return pn_fail(err, PN_ENOMEM, "loss.squared: out of memory");
    **out = (pn_loss){ .ops = &pn_loss_squared, .references = 1 };
    return PN_OK;
}

static void squared_destroy(pn_loss *self)
{
    pn_free(self);
}

static void squared_evaluate(const pn_loss *self, size_t count, const double *z, const double *y, double *value,
                             double *slope, double *curvature)
{
    (void)self;
    for (size_t i = 0; value && i < count; i++)
        value[i] = 0.5 * (z[i] - y[i]) * (z[i] - y[i]);
    for (size_t i = 0; slope && i < count; i++)
        slope[i] = z[i] - y[i];
    for (size_t i = 0; curvature && i < count; i++)
        curvature[i] = 1.0;
}

static pn_status squared_range(const pn_loss *self, pn_interval z, pn_interval y, pn_loss_range *out, pn_err *err)
{
    pn_status status = pn_check_margin("loss.squared", z, err);
    pn_interval slope;
    double near, far;

    (void)self;
    if (status == PN_OK)
        status = pn_check_labels("loss.squared", y, err);
    if (status != PN_OK)
        return status;
    slope = pn_outward(z.low - y.high, z.high - y.low);
    far = fmax(-slope.low, slope.high);
    near = slope.low > 0.0 ? slope.low : slope.high < 0.0 ? -slope.high : 0.0;
    if (!isfinite(far * far))
        return pn_fail(err, PN_EUNSUPPORTED, "loss.squared: margins and labels up to %g overflow; scale the data", far);
    out->slope = slope;
    out->value = pn_cut(pn_outward(0.5 * near * near, 0.5 * far * far), 0.0, INFINITY);
    out->curvature = (pn_interval){ 1.0, 1.0 };
    return PN_OK;
}

const pn_loss_ops pn_loss_squared = {
    .name = "squared",
    .doc = "Squared error l(z, y) = (z - y)^2 / 2 for real labels; slope z - y, curvature 1.",
    .source = "Talwar, Thakurta, Zhang (2014), the LASSO objective",
    .labels = PN_LABELS_REAL,
    .convex = true,
    .quadratic = true,
    .create = squared_create,
    .destroy = squared_destroy,
    .evaluate = squared_evaluate,
    .range = squared_range,
};
