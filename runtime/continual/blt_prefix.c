/* blt_prefix.c -- prefix sums by buffers: c_j = sum_i omega_i theta_i^(j-1),
 * so the noise of all earlier leaves is in m vectors.
 *     w = K - round(sum_i omega_i q_i),   q_i = theta_i q_i + w.
 * Depends on: factored_prefix.h.  Used by: prefix.c's table.
 * Source: Dvijotham, McMahan, Pillutla, Steinke, Thakurta (2024).  See tree-mechanism.md 2.3, 6. */
#include <math.h>
#include <stdio.h>

#include "continual/factored_prefix.h"
#include "core/alloc.h"

#define DEFAULT_BUFFERS 4

typedef struct blt_method {
    pn_factored_method shared;
    size_t m;
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX];
    const char *origin;
} blt_method;

static void blt_destroy(pn_prefix_method *self)
{
    pn_factored_method_free((pn_factored_method *)self);
}

/* ---- the price ---- */

/* growth of w, and that of each buffer: absolute sums of what a first 1 in the place of K leads to. */
static double growths(const blt_method *self, double *buffers)
{
    double q[PN_BLT_BUFFERS_MAX] = { 0.0 }, growth = 0.0;

    for (size_t i = 0; i < self->m; i++)
        buffers[i] = 0.0;
    for (uint64_t t = 0; t < self->shared.base.horizon; t++) {
        double w = t == 0 ? 1.0 : 0.0;

        for (size_t i = 0; i < self->m; i++)
            w -= self->omega[i] * q[i];
        for (size_t i = 0; i < self->m; i++) {
            q[i] = self->theta[i] * q[i] + w;
            buffers[i] += fabs(q[i]);
        }
        growth += fabs(w);
    }
    return growth;
}

/* A buffer rounds twice a push, by 2^-53 of its size, and remembers that for 1 / (1 - theta) pushes;
 * the sum over buffers has m
 * products.  A change D of some w's adds at most its own sum to each buffer. */
static pn_factored_error sum_error(const blt_method *self, const double *buffers)
{
    pn_factored_error error = { 0.0, 0.0 };

    for (size_t i = 0; i < self->m; i++) {
        double unit = 0x1p-53 * (2.0 / (1.0 - self->theta[i]) + (double)self->m + 1.0) * self->omega[i] * 1.01;

        error.relative += unit;
        error.steps += unit * pn_factored_reach(buffers[i]);
    }
    return error;
}

static pn_status sensitivity_of(double *out, const blt_method *self, const pn_prefix_options *options, pn_err *err)
{
    size_t horizon = options->horizon;
    double *c;
    pn_status status;

    if (options->participations <= 1) {
        *out = sqrt(pn_toeplitz_blt_square(self->m, self->theta, self->omega, horizon)) * (1.0 + 0x1p-40);
        return PN_OK;
    }
    PN_TRY(pn_new(&c, horizon, err, "prefix: out of memory for %zu coefficients", horizon));
    pn_toeplitz_blt(self->m, self->theta, self->omega, horizon, c);
    status = pn_toeplitz_sensitivity(out, horizon, c, horizon, options->participations, options->separation, err);
    *out *= 1.0 + 0x1p-40; /* powers by repeated products */
    pn_free(c);
    return status;
}

static pn_status price(blt_method *self, const pn_prefix_options *options, pn_err *err)
{
    double buffers[PN_BLT_BUFFERS_MAX], sensitivity;
    pn_status status = pn_factored_check_growth(growths(self, buffers), "omega", err);

    if (status == PN_OK)
        status = sensitivity_of(&sensitivity, self, options, err);
    if (status != PN_OK)
        return status;
    pn_toeplitz_blt_sums(self->m, self->theta, self->omega, options->horizon, self->shared.variances);
    pn_factored_price(&self->shared, options, sensitivity, sum_error(self, buffers));
    pn_factored_add_up(&self->shared);
    return PN_OK;
}

/* ---- making ---- */

static pn_status given_parameters(blt_method *self, pn_prefix_options *options, pn_err *err)
{
    size_t m = options->theta.n;

    if (m != options->omega.n)
        return pn_fail(err, PN_EDIM, "prefix: theta and omega have one entry for each buffer, got %zu and %zu", m,
                       options->omega.n);
    if (options->buffers > 0 && options->buffers != m)
        return pn_fail(err, PN_EINVAL, "prefix: buffers is %zu, but theta has %zu entries", options->buffers, m);
    self->m = m;
    options->buffers = m;
    if (m <= PN_BLT_BUFFERS_MAX) {
        memcpy(self->theta, options->theta.data, m * sizeof(double));
        memcpy(self->omega, options->omega.data, m * sizeof(double));
    }
    if (options->fit == PN_PREFIX_OPTIMAL)
        return pn_fail(err, PN_EINVAL,
                       "prefix: fit \"optimal\" finds theta and omega; give fit, or theta and "
                       "omega, not both");
    return pn_toeplitz_blt_check("prefix", m, options->theta.data, options->omega.data, err);
}

static pn_status table_parameters(blt_method *self, pn_prefix_options *options, pn_err *err)
{
    if (options->buffers == 0)
        options->buffers = DEFAULT_BUFFERS;
    if (options->buffers > PN_BLT_BUFFERS_MAX)
        return pn_fail(err, PN_EINVAL, "prefix: buffers must be 1 to %d, got %zu", PN_BLT_BUFFERS_MAX,
                       options->buffers);
    if (pn_toeplitz_blt_table(options->horizon, options->buffers, &self->m, self->theta, self->omega))
        return PN_OK;
    if (options->fit != PN_PREFIX_OPTIMAL)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "prefix: there are parameters of buffers for horizons up to %zu, got %zu: give theta and omega, or use "
            "factorization \"binary\"",
            pn_toeplitz_blt_longest(), options->horizon);
    return PN_OK;
}

static pn_status parameters(blt_method *self, pn_prefix_options *options, pn_err *err)
{
    pn_status status;

    self->origin = options->fit == PN_PREFIX_OPTIMAL ? "optimal" : "from the table";
    if (options->theta.n > 0 || options->omega.n > 0) {
        self->origin = "given parameters";
        return given_parameters(self, options, err);
    }
    status = table_parameters(self, options, err);
    if (status != PN_OK || options->fit != PN_PREFIX_OPTIMAL)
        return status;
    return pn_toeplitz_best_blt(self->m, options->horizon, self->theta, self->omega, err);
}

static pn_status blt_create(pn_prefix_method **out, pn_prefix_options *options, pn_err *err)
{
    pn_factored_method *shared;
    blt_method *self;
    pn_status status = pn_factored_method_new(&shared, sizeof *self, &pn_prefix_blt, options, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = (blt_method *)shared;
    status = parameters(self, options, err);
    if (status == PN_OK)
        status = price(self, options, err);
    if (status != PN_OK) {
        blt_destroy(&shared->base);
        return status;
    }
    *out = &shared->base;
    return PN_OK;
}

/* ---- pushing ---- */

static size_t blt_words(const pn_prefix_method *self, uint64_t t)
{
    (void)t;
    return ((const blt_method *)self)->m;
}

/* One pass for a number of buffers that the compiler knows: all of a coordinate stays in registers. */
static inline void push_known(const blt_method *self, size_t m, bool far, double *restrict q,
                              const pn_prefix_step *step)
{
    const size_t stride = step->stride, count = step->count;
    const int64_t *restrict noise = step->noise, *restrict whole = step->whole;
    const double length = self->shared.base.step;
    double *restrict prefix = step->prefix;
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX];

    for (size_t i = 0; i < m; i++) {
        theta[i] = self->theta[i];
        omega[i] = self->omega[i];
    }
    for (size_t k = 0; k < count; k++) {
        double mixed = 0.0, w;
        int64_t increment;

        for (size_t i = 0; i < m; i++)
            mixed += omega[i] * q[i * stride + k];
        increment = pn_factored_increment(noise[k], mixed);
        w = pn_factored_double(increment);
        for (size_t i = 0; i < m; i++)
            q[i * stride + k] = theta[i] * q[i * stride + k] + w;
        prefix[k] +=
            far ? pn_factored_far(step, length, k, increment) : (double)pn_wrap_add(whole[k], increment) * length;
    }
}

static void blt_push(const pn_prefix_method *method, void *state, const pn_prefix_step *step)
{
    const blt_method *self = (const blt_method *)method;

    pn_prefix_noise(step, 0, step->t, step->noise);
    if (!pn_prefix_round(step, method->step, step->whole) && pn_prefix_has_far(step, step->whole)) {
        push_known(self, self->m, true, state, step);
        return;
    }
    switch (self->m) {
    case 1:
        push_known(self, 1, false, state, step);
        break;
    case 2:
        push_known(self, 2, false, state, step);
        break;
    case 3:
        push_known(self, 3, false, state, step);
        break;
    case 4:
        push_known(self, 4, false, state, step);
        break;
    case 5:
        push_known(self, 5, false, state, step);
        break;
    default:
        push_known(self, self->m, false, state, step);
    }
}

/* ---- the row ---- */

static void blt_describe(const pn_prefix_method *self, char *text, size_t size)
{
    const blt_method *method = (const blt_method *)self;

    (void)snprintf(text, size, "buffered, %zu buffers, %s", method->m, method->origin);
}

static bool blt_number(const pn_prefix_method *self, pn_prefix_number which, size_t j, double *out)
{
    const blt_method *method = (const blt_method *)self;

    if (which == PN_PREFIX_COEFFICIENT || j >= method->m)
        return false;
    *out = which == PN_PREFIX_THETA ? method->theta[j] : method->omega[j];
    return true;
}

static uint64_t blt_longest(const pn_prefix_options *options)
{
    return options->theta.n > 0 || options->fit == PN_PREFIX_OPTIMAL ? PN_FACTORED_LONGEST : pn_toeplitz_blt_longest();
}

const pn_prefix_ops pn_prefix_blt = {
    .name = "blt",
    .doc = "buffered linear Toeplitz factorization: close to the least error, in as many vectors as there are buffers "
           "(Dvijotham et al. 2024)",
    .longest = blt_longest,
    .create = blt_create,
    .destroy = blt_destroy,
    .variance = pn_factored_variance,
    .variances = pn_factored_variances,
    .words = blt_words,
    .push = blt_push,
    .number = blt_number,
    .describe = blt_describe,
};
