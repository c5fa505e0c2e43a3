/* box.c -- { x in R^dim : lower <= x <= upper, entry by entry }.  lower = upper fixes a coordinate.
 * Its vertices are not listed.  Depends on: ball.h, upper.h, width_quadrature.h.  Used by: sets.c's table.
 * See geometry.md section 2.4. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/upper.h"
#include "geometry/width/width_quadrature.h"

typedef struct box {
    pn_set base;
    pn_set_ops ops;        /* base.ops points here: whether it is symmetric is known when it is made */
    double *lower, *upper; /* [dim], one block owned through lower */
} box;

extern const pn_set_ops pn_set_box;

enum { LOWER, UPPER };

static const pn_param box_params[] = {
    { "lower", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the least value of each entry" },
    { "upper", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the largest value of each entry" },
    PN_PARAM_END,
};

static const box *as_box(const pn_set *set)
{
    return (const box *)set;
}

static bool is_symmetric(pn_vec lower, pn_vec upper)
{
    bool same = true;

    for (size_t j = 0; same && j < lower.n; j++)
        same = lower.data[j] == -upper.data[j];
    return same;
}

static pn_status box_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_vec lower = args[LOWER].vector, upper = args[UPPER].vector;
    pn_status status = pn_bounds_check("set.box", lower, upper, err);
    box *self;

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new(&self, 1, err, "set.box: out of memory"));
    self->lower = pn_alloc(lower.n, 2 * sizeof *self->lower);
    if (!self->lower) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "set.box: out of memory");
    }
    self->ops = pn_set_box;
    self->ops.symmetric = is_symmetric(lower, upper);
    pn_set_init(&self->base, &self->ops, lower.n);
    self->upper = self->lower + lower.n;
    memcpy(self->lower, lower.data, lower.n * sizeof *self->lower);
    memcpy(self->upper, upper.data, upper.n * sizeof *self->upper);
    *out = &self->base;
    return PN_OK;
}

static void box_destroy(pn_set *self)
{
    pn_free(((box *)self)->lower);
    pn_free(self);
}

static pn_status box_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const box *b = as_box(self);
    double sum = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        double entry = g[j] < 0.0 ? b->lower[j] : b->upper[j];

        sum += entry * g[j];
        if (point)
            point[j] = entry;
    }
    *value = sum;
    return PN_OK;
}

/* max ||factor x + shift||; shift may be NULL.  Each entry is largest at one of its two ends. */
static double box_image_radius(const pn_set *self, double factor, const double *shift, pn_lp norm)
{
    const box *b = as_box(self);
    long double joined = 0.0L;

    for (size_t j = 0; j < self->dim; j++) {
        long double move = shift ? shift[j] : 0.0L;
        long double low = fabsl((long double)factor * b->lower[j] + move);
        long double high = fabsl((long double)factor * b->upper[j] + move);

        joined = pn_norm_join(norm, joined, pn_norm_term(norm, fmaxl(low, high)));
    }
    return pn_norm_finish(norm, joined, self->dim);
}

static double box_radius(const pn_set *self, pn_lp norm)
{
    return box_image_radius(self, 1.0, NULL, norm);
}

static double box_diameter(const pn_set *self, pn_lp norm)
{
    return pn_distance_upper(norm, as_box(self)->upper, as_box(self)->lower, self->dim);
}

static pn_status box_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const box *b = as_box(self);

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        if (!(x[j] >= b->lower[j] - tolerance && x[j] <= b->upper[j] + tolerance)) {
            *inside = false;
            return PN_OK;
        }
    }
    *inside = true;
    return PN_OK;
}

static void box_center(const pn_set *self, double *x)
{
    for (size_t j = 0; j < self->dim; j++)
        x[j] = 0.5 * as_box(self)->lower[j] + 0.5 * as_box(self)->upper[j];
}

static pn_status box_project(const pn_set *self, double *x, pn_err *err)
{
    const box *b = as_box(self);

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        double low = b->lower[j], high = b->upper[j],
               least = x[j] > low ? x[j] : low; /* loads without branches: vectors */

        x[j] = least < high ? least : high;
    }
    return PN_OK;
}

/* Comparisons are exact. */
static double box_projection_error(const pn_set *self, double size)
{
    (void)self;
    (void)size;
    return 0.0;
}

/* Keep the t with bound t <= x in [low, high]: t below x / bound for bound > 0, above it for bound < 0. */
static void restrict_factor(double bound, double x, double *low, double *high)
{
    if (bound > 0.0)
        *high = fmin(*high, x / bound);
    else if (bound < 0.0)
        *low = fmax(*low, x / bound);
    else if (x < 0.0)
        *high = -INFINITY;
}

/* t lower <= x and -t upper <= -x, entry by entry: an interval of t. */
static pn_status box_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const box *b = as_box(self);
    double low = 0.0, high = INFINITY;

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        restrict_factor(b->lower[j], x[j], &low, &high);
        restrict_factor(-b->upper[j], -x[j], &low, &high);
    }
    *value = low <= high * (1.0 + 4.0 * DBL_EPSILON) ? low : INFINITY;
    return PN_OK;
}

/* Each entry alone: E max over an interval of length d is d E max(0, b) = d / sqrt(2 pi). */
static pn_status box_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = pn_width_exactly(box_diameter(self, PN_L1) * 0.39894228040143267794 /* 1/sqrt(2 pi) */);
    return PN_OK;
}

static pn_status box_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    const box *b = as_box(self);

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        double t = pn_rng_uniform(rng);

        x[j] = (1.0 - t) * b->lower[j] + t * b->upper[j];
    }
    return PN_OK;
}

static void box_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "box(dim=%zu, diameter=%.10g)", self->dim, box_diameter(self, PN_L2));
}

const pn_set_ops pn_set_box = {
    .name = "box",
    .doc = "The box {x : lower_j <= x_j <= upper_j for all j}.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 8.1",
    .params = box_params,
    .create = box_create,
    .destroy = box_destroy,
    .support = box_support,
    .radius = box_radius,
    .diameter = box_diameter,
    .contains = box_contains,
    .center = box_center,
    .project = box_project,
    .projection_error = box_projection_error,
    .gauge = box_gauge,
    .width = box_width,
    .sample = box_sample,
    .image_radius = box_image_radius,
    .describe = box_describe,
};
