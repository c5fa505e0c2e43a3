/* toeplitz.c -- coefficients, sums and norms of lower-triangular Toeplitz factorizations, by recursion.
 * Everything rests on C r = 1: the partial sums r of 1/c(x) are what C maps to the vector of ones.
 * Depends on: toeplitz.h.  Used by: banded_prefix.c, blt_prefix.c, toeplitz_best.c.  See tree-mechanism.md 3, 6. */
#include <math.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"
#include "core/stop.h"

/* A sum of doubles that keeps what every addition loses: off by one unit of its last place,
 * not by one for each term. */
typedef struct wide_sum {
    double high, low;
} wide_sum;

static void wide_add(wide_sum *sum, double x)
{
    double total = sum->high + x, part = total - sum->high;

    sum->low += (sum->high - (total - part)) + (x - part);
    sum->high = total;
}

static double wide_value(const wide_sum *sum)
{
    return sum->high + sum->low;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- coefficients ---- */

void pn_toeplitz_sqrt(size_t count, double *c)
{
    for (size_t j = 0; j < count; j++)
        c[j] = j == 0 ? 1.0 : c[j - 1] * ((2.0 * (double)j - 1.0) / (2.0 * (double)j));
}

void pn_toeplitz_blt(size_t m, const double *theta, const double *omega, size_t count, double *c)
{
    for (size_t j = 0; j < count; j++)
        c[j] = j == 0 ? 1.0 : 0.0;
    for (size_t i = 0; i < m; i++) {
        double term = omega[i];

        for (size_t j = 1; j < count; j++, term *= theta[i])
            c[j] += term;
    }
}

/* ---- the sums of 1/c(x) ---- */

pn_status pn_toeplitz_solve(size_t bands, const double *c, size_t count, double *x, pn_err *err)
{
    pn_status status = PN_OK;
    size_t work = 0;

    for (size_t t = 0; t < count && status == PN_OK; t++) {
        size_t reach = least(bands, count - t);
        double done = x[t];

        for (size_t j = 1; j < reach; j++)
            x[t + j] -= c[j] * done;
        status = pn_stop_worked(&work, reach, err);
    }
    return status;
}

pn_status pn_toeplitz_inverse_sums(size_t bands, const double *c, size_t count, double *r, pn_err *err)
{
    for (size_t t = 0; t < count; t++)
        r[t] = 1.0;
    return pn_toeplitz_solve(bands, c, count, r, err);
}

double pn_toeplitz_blt_next(size_t m, const double *theta, const double *omega, double *buffer)
{
    double rest = 1.0;

    for (size_t i = 0; i < m; i++)
        rest -= omega[i] * buffer[i];
    for (size_t i = 0; i < m; i++)
        buffer[i] = theta[i] * buffer[i] + rest;
    return rest;
}

void pn_toeplitz_blt_sums(size_t m, const double *theta, const double *omega, size_t count, double *r)
{
    double buffer[PN_BLT_BUFFERS_MAX] = { 0.0 };

    for (size_t t = 0; t < count; t++)
        r[t] = pn_toeplitz_blt_next(m, theta, omega, buffer);
}

/* ---- norms ---- */

double pn_toeplitz_square(size_t bands, const double *c, size_t count)
{
    wide_sum sum = { 0.0, 0.0 };

    for (size_t j = 0; j < bands && j < count; j++)
        wide_add(&sum, c[j] * c[j]);
    return wide_value(&sum);
}

double pn_toeplitz_blt_square(size_t m, const double *theta, const double *omega, size_t count)
{
    double square = count > 0 ? 1.0 : 0.0;

    if (count < 2)
        return square;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) {
            /* 1 - theta_i theta_k without cancellation: 1 - theta is exact from 1/2 on */
            double gap = (1.0 - theta[i]) + theta[i] * (1.0 - theta[k]);

            square += omega[i] * omega[k] * -expm1((double)(count - 1) * log1p(-gap)) / gap;
        }
    return square;
}

/* ---- several participations ---- */

static pn_status check_falling(size_t bands, const double *c, size_t horizon, pn_err *err)
{
    for (size_t j = 1; j < bands && j < horizon; j++)
        if (!(c[j] >= 0.0) || !(c[j] <= c[j - 1]))
            return pn_fail(err, PN_EUNSUPPORTED,
                           "toeplitz: with several participations the coefficients must not increase nor be negative, "
                           "got %g after %g at index %zu; use participations 1, or factorization \"matrix\"",
                           c[j], c[j - 1], j);
    return PN_OK;
}

static double coefficient(size_t bands, const double *c, size_t j)
{
    return j < bands ? c[j] : 0.0;
}

/* sums[t] = c_t + c_{t-b} + ... , at most q of them, each from the one that is b before it. */
static double participation_square(wide_sum *sums, size_t bands, const double *c, size_t horizon, size_t q, size_t b)
{
    wide_sum square = { 0.0, 0.0 };

    for (size_t t = 0; t < horizon; t++) {
        double value;

        sums[t] = t >= b ? sums[t - b] : (wide_sum){ 0.0, 0.0 };
        wide_add(&sums[t], coefficient(bands, c, t));
        if (t / b >= q)
            wide_add(&sums[t], -coefficient(bands, c, t - q * b));
        value = wide_value(&sums[t]);
        wide_add(&square, value * value);
    }
    return wide_value(&square);
}

pn_status pn_toeplitz_sensitivity(double *out, size_t bands, const double *c, size_t horizon, size_t q, size_t b,
                                  pn_err *err)
{
    const double outward = 1.0 + 0x1p-48; /* a few units for the squares, the sums and the root */
    wide_sum *sums;

    if (q <= 1 || b >= horizon) {
        *out = sqrt(pn_toeplitz_square(bands, c, horizon)) * outward;
        return PN_OK;
    }
    PN_TRY(check_falling(bands, c, horizon, err));
    PN_TRY(pn_new(&sums, horizon, err, "toeplitz: out of memory"));
    *out = sqrt(participation_square(sums, least(bands, horizon), c, horizon, q, b)) * outward;
    pn_free(sums);
    return PN_OK;
}

/* ---- parameters of buffers ---- */

pn_status pn_toeplitz_blt_check(const char *owner, size_t m, const double *theta, const double *omega, pn_err *err)
{
    double at_minus_one = 1.0;

    if (m < 1 || m > PN_BLT_BUFFERS_MAX)
        return pn_fail(err, PN_EINVAL, "%s: there must be 1 to %d buffers, got %zu", owner, PN_BLT_BUFFERS_MAX, m);
    for (size_t i = 0; i < m; i++) {
        if (!(theta[i] > 0.0 && theta[i] < 1.0))
            return pn_fail(err, PN_EINVAL, "%s: theta[%zu] must be between 0 and 1, got %g", owner, i + 1, theta[i]);
        if (!(omega[i] > 0.0 && omega[i] <= 2.0))
            return pn_fail(err, PN_EINVAL, "%s: omega[%zu] must be positive and below 2, got %g", owner, i + 1,
                           omega[i]);
        for (size_t k = 0; k < i; k++)
            if (theta[k] == theta[i])
                return pn_fail(err, PN_EINVAL, "%s: theta[%zu] and theta[%zu] must differ, both are %g", owner, k + 1,
                               i + 1, theta[i]);
        at_minus_one -= omega[i] / (1.0 + theta[i]);
    }
    /* The poles of 1/c(x) are the inverse eigenvalues of diag(theta) - sqrt(omega) sqrt(omega)^T, which are real, below
     * 1 and all above -1 just when c(-1) > 0. */
    if (!(at_minus_one > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "%s: the noise would grow without bound: omega_i / (1 + theta_i) must add up to less than 1, "
                       "got %g",
                       owner, 1.0 - at_minus_one);
    return PN_OK;
}
