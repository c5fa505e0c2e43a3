/* prox_separable.c -- proximal operators of sums over the coordinates: l1, squared_l2, elastic_net, huber.
 * One pass each, of arithmetic that compiles to vector instructions.
 * Depends on: prox.h.  Used by: prox.c's table.  Source: Parikh, Boyd (2014), Proximal algorithms, section 6. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/prox/prox.h"
#include "numeric/blas.h"

extern const pn_prox_ops pn_prox_l1, pn_prox_squared_l2, pn_prox_elastic_net, pn_prox_huber;

typedef struct separable {
    pn_prox base;
    double l1, l2; /* weights of |x| and of x^2/2 */
    double delta;  /* huber: where the square turns into a line; its weight is l2 */
} separable;

static const separable *as_separable(const pn_prox *prox)
{
    return (const separable *)prox;
}

static pn_status make(pn_prox **out, const pn_prox_ops *row, double l1, double l2, double delta, pn_err *err)
{
    separable *self;

    PN_TRY(pn_new(&self, 1, err, "prox.%s: out of memory", row->name));
    pn_prox_init(&self->base, row, 0);
    self->l1 = l1;
    self->l2 = l2;
    self->delta = delta;
    *out = &self->base;
    return PN_OK;
}

static void separable_destroy(pn_prox *self)
{
    pn_free(self);
}

static unsigned is_separable(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_SEPARABLE;
}

/* Weight 0 times an infinite norm is 0. */
static double times(double weight, double value)
{
    return weight > 0.0 ? weight * value : 0.0;
}

static pn_status net_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    const separable *self = as_separable(prox);

    (void)err;
    *value = times(self->l1, pn_lp_norm(PN_L1, n, x)) + times(0.5 * self->l2, pn_dot(n, x, x));
    return PN_OK;
}

/* Soft threshold, then shrink.  The shrinkage may underflow to 0, which is the limit. */
static pn_status net_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    const separable *self = as_separable(prox);
    double threshold = times(self->l1, step), shrink = 1.0 / (1.0 + times(self->l2, step));

    (void)err;
    for (size_t j = 0; j < n; j++) {
        double up = x[j] > -threshold ? x[j] : -threshold, middle = up < threshold ? up : threshold;

        x[j] = (x[j] - middle) * shrink; /* 0 - 0 is 0, not -0 */
    }
    return PN_OK;
}

/* The square is left to the sum, |x| stays. */
static pn_status net_split(const pn_prox *prox, double *square, pn_prox **rest, pn_err *err)
{
    const separable *self = as_separable(prox);

    *square = self->l2;
    *rest = NULL;
    return self->l1 > 0.0 ? make(rest, &pn_prox_l1, self->l1, 0.0, 0.0, err) : PN_OK;
}

static void net_weights(const pn_prox *prox, double *l1, double *l2)
{
    *l1 = as_separable(prox)->l1;
    *l2 = as_separable(prox)->l2;
}

/* ---- l1 ---- */

static const pn_param lambda_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight of the term" },
    PN_PARAM_END,
};

static pn_status l1_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_prox_l1, args[0].real, 0.0, 0.0, err);
}

static unsigned l1_traits(const pn_prox *prox)
{
    (void)prox;
    return PN_PROX_SEPARABLE | PN_PROX_HOMOGENEOUS;
}

static void l1_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "l1(lambda=%.10g)", as_separable(prox)->l1);
}

const pn_prox_ops pn_prox_l1 = {
    .name = "l1",
    .doc = "f(x) = lambda ||x||_1; the soft threshold.",
    .source = "Donoho (1995), De-noising by soft-thresholding",
    .params = lambda_params,
    .create = l1_create,
    .destroy = separable_destroy,
    .value = net_value,
    .apply = net_apply,
    .describe = l1_describe,
    .traits = l1_traits,
    .net = net_weights,
};

/* ---- squared_l2 ---- */

static pn_status squared_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_prox_squared_l2, 0.0, args[0].real, 0.0, err);
}

static void squared_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "squared_l2(lambda=%.10g)", as_separable(prox)->l2);
}

const pn_prox_ops pn_prox_squared_l2 = {
    .name = "squared_l2",
    .doc = "f(x) = lambda/2 ||x||_2^2; the vector shrinks by 1/(1 + step lambda).",
    .source = "Parikh, Boyd (2014), Proximal algorithms, section 6.1",
    .params = lambda_params,
    .create = squared_create,
    .destroy = separable_destroy,
    .value = net_value,
    .apply = net_apply,
    .describe = squared_describe,
    .traits = is_separable,
    .split = net_split,
    .net = net_weights,
};

/* ---- elastic_net ---- */

static const pn_param net_params[] = {
    { "l1", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL, "weight of ||x||_1" },
    { "l2", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL, "weight of ||x||_2^2 / 2" },
    PN_PARAM_END,
};

static pn_status net_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_prox_elastic_net, args[0].real, args[1].real, 0.0, err);
}

static void net_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "elastic_net(l1=%.10g, l2=%.10g)", as_separable(prox)->l1, as_separable(prox)->l2);
}

const pn_prox_ops pn_prox_elastic_net = {
    .name = "elastic_net",
    .doc = "f(x) = l1 ||x||_1 + l2/2 ||x||_2^2; the soft threshold, then shrinkage.",
    .source = "Zou, Hastie (2005), Regularization and variable selection via the elastic net",
    .params = net_params,
    .create = net_create,
    .destroy = separable_destroy,
    .value = net_value,
    .apply = net_apply,
    .describe = net_describe,
    .traits = is_separable,
    .split = net_split,
    .net = net_weights,
};

/* ---- huber ---- */

static const pn_param huber_params[] = {
    { "delta", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "where the square turns into a line" },
    { "lambda", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "weight of the term" },
    PN_PARAM_END,
};

static pn_status huber_create(pn_prox **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_prox_huber, 0.0, args[1].real, args[0].real, err);
}

static pn_status huber_value(const pn_prox *prox, const double *x, size_t n, double *value, pn_err *err)
{
    double delta = as_separable(prox)->delta, sum = 0.0;

    (void)err;
    for (size_t j = 0; j < n; j++) {
        double size = fabs(x[j]);

        sum += size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
    }
    *value = as_separable(prox)->l2 * sum;
    return PN_OK;
}

/* Where the result is at most delta it is v/(1 + t); beyond, the slope of f is t delta. */
static pn_status huber_apply(const pn_prox *prox, double *x, size_t n, double step, pn_err *err)
{
    double delta = as_separable(prox)->delta, t = as_separable(prox)->l2 * step;

    (void)err;
    for (size_t j = 0; j < n; j++) {
        double shrunk = x[j] / (1.0 + t), moved = x[j] - copysign(t * delta, x[j]);

        x[j] = fabs(shrunk) <= delta ? shrunk : moved;
    }
    return PN_OK;
}

static void huber_describe(const pn_prox *prox, char *text, size_t size)
{
    (void)snprintf(text, size, "huber(delta=%.10g, lambda=%.10g)", as_separable(prox)->delta, as_separable(prox)->l2);
}

const pn_prox_ops pn_prox_huber = {
    .name = "huber",
    .doc = "f(x) = lambda sum_j h(x_j), h(t) = t^2/2 for |t| <= delta, else delta (|t| - delta/2).",
    .source = "Huber (1964), Robust estimation of a location parameter",
    .params = huber_params,
    .create = huber_create,
    .destroy = separable_destroy,
    .value = huber_value,
    .apply = huber_apply,
    .describe = huber_describe,
    .traits = is_separable,
};
