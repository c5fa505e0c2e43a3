/* factored_prefix.c -- the price and the variances of factorizations.
 * Depends on: factored_prefix.h.  Used by: banded_prefix.c, blt_prefix.c, matrix_prefix.c. */
#include <math.h>

#include "continual/factored_prefix.h"
#include "core/alloc.h"

#define OUTWARD      (1.0 + 0x1p-40) /* more than all roundings of the few operations here */
#define GROWTH_LIMIT 128.0           /* 128 * 13 * 2^40 < 2^51 */

pn_status pn_factored_check_horizon(const pn_prefix_ops *ops, const pn_prefix_options *options, pn_err *err)
{
    if (options->horizon <= PN_FACTORED_LONGEST)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "prefix: horizon must be at most %llu with factorization \"%s\", got %zu; \"binary\" has no limit",
                   (unsigned long long)PN_FACTORED_LONGEST, ops->name, options->horizon);
}

pn_status pn_factored_method_new(pn_factored_method **out, size_t size, const pn_prefix_ops *ops,
                                 const pn_prefix_options *options, pn_err *err)
{
    pn_factored_method *self;
    pn_status status = pn_factored_check_horizon(ops, options, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, size);
    PN_TRY(pn_made(self, err, "prefix: out of memory"));
    self->base.ops = ops;
    self->base.horizon = options->horizon;
    self->base.dim = options->dim;
    self->base.farthest = PN_LATTICE_FARTHEST;
    self->variances = pn_alloc(options->horizon, sizeof(double));
    if (!self->variances) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "prefix: out of memory for the variances of %zu leaves", options->horizon);
    }
    *out = self;
    return PN_OK;
}

void pn_factored_method_free(pn_factored_method *self)
{
    if (self)
        pn_free(self->variances);
    pn_free(self);
}

void pn_factored_price(pn_factored_method *self, const pn_prefix_options *options, double sensitivity,
                       pn_factored_error error)
{
    const double horizon = (double)options->horizon, times = (double)options->participations;
    const double relative = error.relative * fmin(times, horizon) * sqrt(horizon);

    self->base.gain = (sensitivity + relative) * OUTWARD;
    self->base.moved = self->base.gain * self->base.gain * OUTWARD;
    self->base.settled = sqrt(horizon - 1.0) * (1.0 + 2.0 * error.steps) * OUTWARD;
    self->base.reach = 1.0;
    self->base.draws = horizon;
}

void pn_factored_add_up(pn_factored_method *self)
{
    double sum = 0.0;

    for (size_t t = 0; t < self->base.horizon; t++) {
        sum += self->variances[t] * self->variances[t];
        self->variances[t] = sum;
    }
}

double pn_factored_reach(double growth)
{
    return growth * (PN_GAUSSIAN_CUT * 0x1p40 + 1.0) * 1.001; /* K, and rounding; the rest for the sum and for errors */
}

pn_status pn_factored_check_growth(double growth, const char *smaller, pn_err *err)
{
    if (growth <= GROWTH_LIMIT)
        return PN_OK;
    return pn_fail(
        err, PN_EINVAL,
        "prefix: the inverse of C makes noise larger, by up to %g (at most %g is supported): smaller %s do not", growth,
        GROWTH_LIMIT, smaller);
}

double pn_factored_variance(const pn_prefix_method *self, uint64_t t)
{
    const pn_factored_method *method = (const pn_factored_method *)self;

    return t >= 1 && t <= self->horizon ? method->variances[t - 1] : (double)NAN;
}

void pn_factored_variances(const pn_prefix_method *self, size_t count, double *out)
{
    memcpy(out, ((const pn_factored_method *)self)->variances, count * sizeof(double));
}
