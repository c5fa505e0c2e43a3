/* banded_prefix.c -- prefix sums by coefficients c_0 = 1, c_1 .. c_{bands-1}: noise w_t = K_t -
 * round(sum_{j >= 1} c_j w_{t-j}) from a ring of the last bands - 1 increments.  The square-root factorization is the
 * same with as many bands as leaves: its ring never turns.
 * Depends on: noise_ring.h.  Used by: prefix.c's table.
 * Sources: Fichtenberger, Henzinger, Upadhyay (2023); Choquette-Choo et al. (2023).  See tree-mechanism.md 2.3,
 * 3, 6. */
#include <math.h>
#include <stdio.h>

#include "continual/noise_ring.h"
#include "core/alloc.h"

#define DEFAULT_BANDS 8

typedef struct banded_method {
    pn_factored_method shared;
    size_t bands;  /* <= horizon */
    double *turns; /* [2 (bands - 1)]: c_{bands-1} .. c_1, twice: from any place on, c in the order of the ring */
    const char *origin;
} banded_method;

static void banded_destroy(pn_prefix_method *self)
{
    if (self)
        pn_free(((banded_method *)self)->turns);
    pn_factored_method_free((pn_factored_method *)self);
}

/* ---- the price ---- */

static pn_status price(banded_method *self, const pn_prefix_options *options, const double *c, pn_err *err)
{
    const double *r = self->shared.variances;
    double growth = 0.0, sum = 0.0, unit = pn_ring_error(self->bands - 1), sensitivity;
    pn_status status;

    for (size_t t = 0; t < options->horizon; t++)
        growth += fabs(r[t] - (t > 0 ? r[t - 1] : 0.0));
    PN_TRY(pn_factored_check_growth(growth, "coefficients after the first", err));
    for (size_t j = 1; j < self->bands; j++)
        sum += fabs(c[j]);
    status = pn_toeplitz_sensitivity(&sensitivity, self->bands, c, options->horizon, options->participations,
                                     options->separation, err);
    if (status != PN_OK)
        return status;
    pn_factored_price(&self->shared, options, sensitivity,
                      (pn_factored_error){ unit * sum * pn_factored_reach(growth), unit * sum * 1.01 });
    pn_factored_add_up(&self->shared);
    return PN_OK;
}

/* A method for c[bands], with r[horizon] in its variances where `square_root` says that R = C. */
static pn_status make(pn_prefix_method **out, const pn_prefix_ops *ops, const pn_prefix_options *options, size_t bands,
                      const double *c, const char *origin, pn_err *err)
{
    pn_factored_method *shared;
    banded_method *self;
    size_t ring = bands - 1;
    pn_status status = pn_factored_method_new(&shared, sizeof *self, ops, options, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = (banded_method *)shared;
    self->bands = bands;
    self->origin = origin;
    self->turns = pn_alloc(2 * ring, sizeof(double));
    if (!self->turns) {
        banded_destroy(&shared->base);
        return pn_fail(err, PN_ENOMEM, "prefix: out of memory");
    }
    for (size_t i = 0; i < 2 * ring; i++)
        self->turns[i] = c[ring - i % ring];
    if (origin)
        status = pn_toeplitz_inverse_sums(bands, c, options->horizon, shared->variances, err);
    else
        memcpy(shared->variances, c, bands * sizeof(double)); /* R = C */
    if (status == PN_OK)
        status = price(self, options, c, err);
    if (status != PN_OK) {
        banded_destroy(&shared->base);
        return status;
    }
    *out = &shared->base;
    return PN_OK;
}

/* ---- making ---- */

static double *coefficients(size_t count, pn_err *err)
{
    double *c = pn_alloc(count, sizeof *c);

    if (c)
        pn_toeplitz_sqrt(count, c);
    else
        (void)pn_fail(err, PN_ENOMEM, "prefix: out of memory for %zu coefficients", count);
    return c;
}

static pn_status sqrt_create(pn_prefix_method **out, pn_prefix_options *options, pn_err *err)
{
    double *c;
    pn_status status = pn_factored_check_horizon(&pn_prefix_sqrt, options, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    c = coefficients(options->horizon, err);
    if (!c)
        return PN_ENOMEM;
    status = make(out, &pn_prefix_sqrt, options, options->horizon, c, NULL, err);
    pn_free(c);
    return status;
}

static pn_status check_given(const pn_prefix_options *options, pn_err *err)
{
    const pn_vec *c = &options->coefficients;

    if (c->n > 0 && options->fit != PN_PREFIX_CLOSED_FORM)
        return pn_fail(err, PN_EINVAL,
                       "prefix: fit \"optimal\" finds the coefficients; give fit or coefficients, "
                       "not both");
    if (c->n > 0 && options->bands > 0 && options->bands != c->n)
        return pn_fail(err, PN_EINVAL, "prefix: bands is %zu, but there are %zu coefficients", options->bands, c->n);
    if (c->n > 0 && c->data[0] != 1.0)
        return pn_fail(err, PN_EINVAL, "prefix: the first of the coefficients must be 1, got %g", c->data[0]);
    for (size_t j = 0; j < c->n; j++)
        if (!(fabs(c->data[j]) <= 128.0))
            return pn_fail(err, PN_EINVAL, "prefix: coefficients must be at most 128, got %g at index %zu", c->data[j],
                           j + 1);
    return PN_OK;
}

static pn_status banded_create(pn_prefix_method **out, pn_prefix_options *options, pn_err *err)
{
    pn_status status = pn_factored_check_horizon(&pn_prefix_banded, options, err);
    const char *origin = "given coefficients";
    size_t bands;
    double *c;

    *out = NULL;
    if (status == PN_OK)
        status = check_given(options, err);
    if (status != PN_OK)
        return status;
    if (options->coefficients.n > 0)
        options->bands = options->coefficients.n;
    else if (options->bands == 0)
        options->bands = options->participations > 1 ? options->separation : DEFAULT_BANDS;
    bands = options->bands < options->horizon ? options->bands : options->horizon;
    c = coefficients(bands, err);
    if (!c)
        return PN_ENOMEM;
    if (options->coefficients.n > 0) {
        memcpy(c, options->coefficients.data, bands * sizeof(double));
    } else {
        origin = pn_prefix_fit_names[options->fit];
        if (options->fit == PN_PREFIX_OPTIMAL)
            status = pn_toeplitz_best_banded(bands, options->horizon, c, err);
    }
    if (status == PN_OK)
        status = make(out, &pn_prefix_banded, options, bands, c, origin, err);
    pn_free(c);
    return status;
}

/* ---- pushing ---- */

static size_t banded_words(const pn_prefix_method *self, uint64_t t)
{
    (void)t;
    return ((const banded_method *)self)->bands - 1;
}

static void banded_push(const pn_prefix_method *method, void *state, const pn_prefix_step *step)
{
    const banded_method *self = (const banded_method *)method;
    const uint64_t length = self->bands - 1, before = step->t - 1;
    /* row i holds w_{t-j}, j = (before - i) mod length or length, and turns[x] = c_j for j = length - x mod length */
    const size_t turned = length > 0 ? (size_t)((length - before % length) % length) : 0;

    pn_ring_push(step, method->step, state, (size_t)length, self->turns + turned);
}

/* ---- the rows ---- */

static void sqrt_describe(const pn_prefix_method *self, char *text, size_t size)
{
    (void)snprintf(text, size, "square root, %zu coefficients", ((const banded_method *)self)->bands);
}

static void banded_describe(const pn_prefix_method *self, char *text, size_t size)
{
    const banded_method *method = (const banded_method *)self;

    (void)snprintf(text, size, "banded, %zu bands, %s", method->bands, method->origin);
}

static bool banded_number(const pn_prefix_method *self, pn_prefix_number which, size_t j, double *out)
{
    const banded_method *method = (const banded_method *)self;

    if (which != PN_PREFIX_COEFFICIENT || j >= method->bands)
        return false;
    *out = j > 0 ? method->turns[method->bands - 1 - j] : 1.0;
    return true;
}

static uint64_t banded_longest(const pn_prefix_options *options)
{
    (void)options;
    return PN_FACTORED_LONGEST;
}

const pn_prefix_ops pn_prefix_sqrt = {
    .name = "sqrt",
    .doc = "square-root Toeplitz factorization: nearly the least error there is, and remembers a vector for every leaf "
           "(Fichtenberger, Henzinger, Upadhyay 2023)",
    .longest = banded_longest,
    .create = sqrt_create,
    .destroy = banded_destroy,
    .variance = pn_factored_variance,
    .variances = pn_factored_variances,
    .words = banded_words,
    .push = banded_push,
    .describe = sqrt_describe,
};

const pn_prefix_ops pn_prefix_banded = {
    .name = "banded",
    .doc = "banded Toeplitz factorization, for records that take part again after at least so many leaves "
           "(Choquette-Choo et al. 2023)",
    .longest = banded_longest,
    .create = banded_create,
    .destroy = banded_destroy,
    .variance = pn_factored_variance,
    .variances = pn_factored_variances,
    .words = banded_words,
    .push = banded_push,
    .number = banded_number,
    .describe = banded_describe,
};
