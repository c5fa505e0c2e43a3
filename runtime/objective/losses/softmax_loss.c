/* softmax_loss.c -- l(z, y) = ln sum_k exp(z_k) - z_y for `classes` margins and labels 1 to classes.
 * With p = softmax(z): gradient p - e_y, Hessian diag(p) - p p^T.
 * Depends on: loss.h, numeric/simd/simd.h.  Used by: loss.c's table. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/simd/simd.h"
#include "objective/losses/loss.h"

extern const pn_loss_ops pn_loss_softmax;

#define CLASSES_MAX 1024.0

static const pn_param softmax_params[] = {
    { "classes", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of classes, 2 to 1024; labels are 1 to classes" },
    PN_PARAM_END,
};

static pn_status softmax_create(pn_loss **out, const pn_arg *args, pn_err *err)
{
    size_t classes = args[0].count;
    pn_loss *self;

    if (classes < 2 || (double)classes > CLASSES_MAX)
        return pn_fail(err, PN_EINVAL, "loss.softmax: classes must be a whole number from 2 to %g, got %zu",
                       CLASSES_MAX, classes);
    PN_TRY(pn_new_zeroed(&self, 1, err, "loss.softmax: out of memory"));
    pn_loss_init(self, &pn_loss_softmax, &pn_loss_softmax);
    self->labels = (pn_labels){ .kind = PN_LABELS_CLASSES, .count = classes };
    self->margins = classes;
    *out = self;
    return PN_OK;
}

static void softmax_destroy(pn_loss *self)
{
    pn_free(self);
}

/* top = max_k z_k, so that no exponential overflows */
static void largest(size_t classes, size_t count, const double *z, double *top)
{
    memcpy(top, z, count * sizeof *top);
    for (size_t k = 1; k < classes; k++) {
        for (size_t i = 0; i < count; i++)
            top[i] = z[k * count + i] > top[i] ? z[k * count + i] : top[i];
    }
}

/* e_k = exp(z_k - top) into row k of `rows` (or, when NULL, nowhere), their sum into `sum`. */
static void exponentials(size_t classes, size_t count, const double *z, const double *top, double *rows, double *sum)
{
    const pn_simd *simd = pn_simd_best();
    double spare[PN_LOSS_BLOCK] = { 0 };

    memset(sum, 0, count * sizeof *sum);
    for (size_t k = 0; k < classes; k++) {
        double *row = rows ? rows + k * count : spare;

        for (size_t i = 0; i < count; i++)
            row[i] = z[k * count + i] - top[i];
        simd->exp(count, row, row);
        for (size_t i = 0; i < count; i++)
            sum[i] += row[i];
    }
}

static void softmax_evaluate(const pn_loss *self, size_t count, const double *z, const double *y, double *value,
                             double *slope)
{
    double top[PN_LOSS_BLOCK], sum[PN_LOSS_BLOCK];
    size_t classes = self->margins;

    largest(classes, count, z, top);
    exponentials(classes, count, z, top, slope, sum);
    for (size_t k = 0; slope && k < classes; k++) {
        for (size_t i = 0; i < count; i++)
            slope[k * count + i] = slope[k * count + i] / sum[i] - (y[i] == (double)(k + 1) ? 1.0 : 0.0);
    }
    if (!value)
        return;
    pn_simd_best()->log(count, sum, sum);
    for (size_t i = 0; i < count; i++)
        value[i] = sum[i] + (top[i] - z[((size_t)y[i] - 1) * count + i]);
}

/* out = p (along - <p, along>) */
static void softmax_curve(const pn_loss *self, size_t count, const double *z, const double *y, const double *along,
                          double *out)
{
    double top[PN_LOSS_BLOCK], sum[PN_LOSS_BLOCK], mean[PN_LOSS_BLOCK] = { 0 };
    size_t classes = self->margins;

    (void)y;
    largest(classes, count, z, top);
    exponentials(classes, count, z, top, out, sum);
    for (size_t k = 0; k < classes; k++) {
        for (size_t i = 0; i < count; i++) {
            out[k * count + i] /= sum[i];
            mean[i] += out[k * count + i] * along[k * count + i];
        }
    }
    for (size_t k = 0; k < classes; k++) {
        for (size_t i = 0; i < count; i++)
            out[k * count + i] *= along[k * count + i] - mean[i];
    }
}

/* With all margins in an interval of width w every probability is at least 1/(1 + (K-1) e^w): entries of the gradient
 * lie in [-(1 - least), most].  ||p - e_y||_1 = 2 (1 - p_y), ||p - e_y||_2 <= sqrt(2) (1 - p_y).  The Hessian is the
 * covariance of a variable on the unit vectors: along a unit vector its range is at most sqrt(2), so the variance is at
 * most 1/2 and the third central moment at most sqrt(2)^3 / (6 sqrt(3)).  Its Frobenius norm is at most 1/2 as well:
 * with s_m = sum_k p_k^m it is s_2 - 2 s_3 + s_2^2, and s_3 >= s_2^2 by Cauchy and Schwarz,
 * so at most s_2 (1 - s_2) <= 1/4. */
static pn_status softmax_certify(pn_loss *self, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    const double outward = 1.0 + ((double)self->margins + 16.0) * 0x1p-50, third = 0.2721655269759087 * outward;
    /* A model may lie outside the set by 1e-12 of its radius, and entries are clamped one by one. */
    double others = (double)self->margins - 1.0, width = (margin.high - margin.low) * (1.0 + 1e-10);
    double far = others * exp(width), most = fmin(1.0 / (1.0 + others * exp(-width)) * outward, 1.0);
    double gap = fmin(isfinite(far) ? far / (1.0 + far) * outward : 1.0, 1.0); /* 1 - least */

    (void)y;
    (void)err;
    *out = (pn_loss_bounds){
        .value = { 0.0, (isfinite(far) ? log1p(far) : log(others) + width) * outward },
        .slope = { -gap, most },
        .curvature = { 0.0, 0.5 * outward },
        .third = { -third, third },
        .curvature_norm = 0.5 * outward,
        .slope_norm = { [PN_L1] = 2.0 * gap * outward, [PN_L2] = sqrt(2.0) * gap * outward, [PN_LINF] = gap },
        .continuous = true,
        .smooth = true,
        .twice_smooth = true,
        .convex = true
    };
    return PN_OK;
}

/* l(0) = ln K.  l is least where the other margins are equal, by convexity and symmetry: ln(1 + (K-1) e^-t), t what the
 * label's margin has more than each of them.  In the ball of radius `norm`, a^2 + (K-1) b^2 <= norm^2 for margins a and
 * -b, so a + b <= norm sqrt(1 + 1/(K-1)) by Cauchy and Schwarz; in the box it is 2 margin. */
static pn_status softmax_fall(pn_loss *self, double margin, double norm, pn_interval y, double *out, pn_err *err)
{
    double others = (double)self->margins - 1.0, start = log1p(others);
    double t = fmin(norm * sqrt(1.0 + 1.0 / others), 2.0 * margin) * (1.0 + 0x1p-50);

    (void)y;
    (void)err;
    *out = fmax(start - log1p(others * exp(-t)) + start * 0x1p-48, 0.0); /* the roundings, rounded up */
    return PN_OK;
}

const pn_loss_ops pn_loss_softmax = {
    .name = "softmax",
    .doc = "Multinomial logistic loss ln sum_k exp(z_k) - z_y for labels 1 to classes; theta holds one row of p "
           "numbers a class.",
    .source = "Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.4",
    .params = softmax_params,
    .create = softmax_create,
    .destroy = softmax_destroy,
    .evaluate = softmax_evaluate,
    .curve = softmax_curve,
    .certify = softmax_certify,
    .fall = softmax_fall,
};
