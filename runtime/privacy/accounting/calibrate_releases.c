/* calibrate_releases.c -- the noise of equal Gaussian releases on the lattice under one budget.
 * Depends on: calibrate.h, accountant.h, gaussian.h.  Used by: additive_mechanism.c, solvers (plans). */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/gaussian.h"
#include "random/noise.h"

double pn_scale_for(pn_charged_sensitivity charged, double sensitivity, size_t n, double bound, double ratio)
{
    double low = sensitivity / ratio, high = low;

    if (!(low >= 0x1p-900 && low <= 0x1p900)) /* also 0 and NaN, which no doubling brings anywhere */
        return NAN;
    while (high <= 0x1p900 && !(pn_quotient_up(charged(sensitivity, high, n, bound, 1), high) <= ratio))
        high *= 2.0;
    if (!(high <= 0x1p900))
        return NAN;
    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2.0;

        if (pn_quotient_up(charged(sensitivity, middle, n, bound, 1), middle) <= ratio)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Exact epsilon at delta of count x gaussian(sigma, charged sensitivity, draws), sampled noise included. */
static double cost(const pn_gaussian_releases *want, double sigma)
{
    double mu = pn_quotient_up(pn_lattice_l2(want->sensitivity, sigma, want->dim, want->bound, 1), sigma);
    double total = mu * sqrt((double)want->count) * (1.0 + 0x1p-51);
    pn_slack slack = pn_gaussian_slack((double)want->dim * (double)want->count, mu);

    return pn_slack_epsilon(pn_gaussian_epsilon(total, pn_ideal_delta(want->delta)), want->delta, slack);
}

/* The little that the price of an event and the Gaussian filter of a ledger keep is left out of the total, so that a
 * ledger of just (epsilon, delta) admits the releases. */
static double by_curve(const pn_gaussian_releases *want)
{
    double total = want->epsilon, count = (double)want->count;
    double epsilon = total - fmin(0x1p-35, total / 2.0) - 0x1p-38 * total;
    double slack = (double)want->dim * count * 2.0 * PN_GAUSSIAN_ETA;
    double mu = epsilon > slack ? pn_gaussian_mu(epsilon - slack, pn_ideal_delta(want->delta)) / sqrt(count) : 0.0;
    double sigma = mu > 0.0 ? pn_scale_for(pn_lattice_l2, want->sensitivity, want->dim, want->bound, mu) : NAN;

    for (double inflate = 0x1p-52; sigma <= 0x1p900 && inflate < 0x1p-20; inflate *= 2.0) {
        if (cost(want, sigma) <= epsilon)
            return sigma;
        sigma *= 1.0 + inflate;
    }
    return NAN;
}

double pn_calibrate_gaussian_releases(const pn_gaussian_releases *want)
{
    double mu;

    if (isnan(want->rho))
        return by_curve(want);
    mu = sqrt(2.0 * want->rho / (double)want->count) * (1.0 - 0x1p-50);
    return mu > 0.0 ? pn_scale_for(pn_lattice_l2, want->sensitivity, want->dim, want->bound, mu) : NAN;
}
