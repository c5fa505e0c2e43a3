/* stopping.c -- the laws of the number of runs: their parameter from their mean, their masses, the coin.
 * Depends on: stopping.h, numeric/root.h.  Used by: event_selection.c, bindings (pn.tune). */
#include <math.h>
#include <stdint.h>

#include "core/mutant.h"
#include "numeric/root.h"
#include "privacy/event/stopping.h"

#define MOST_RUNS 1e5   /* of a mean: quantiles sum over the law */
#define GREAT_X   500.0 /* ln(1/gamma): beyond, gamma would be next to no number */

const char *const pn_stopping_names[] = { "geometric", "logarithmic",  "negative_binomial",
                                          "poisson",   "known_target", NULL };

/* E K = eta (1 - gamma)/(gamma (1 - gamma^eta)), (1/gamma - 1)/ln(1/gamma) at eta = 0; grows with x. */
static double mean_of(double eta, double x)
{
    return expm1(x) * (eta == 0.0 ? 1.0 / x : eta / -expm1(-eta * x));
}

static bool too_many(void *self, double x)
{
    const pn_stopping *law = self;

    return mean_of(law->eta, x) > law->mean;
}

pn_status pn_stopping_make(pn_stopping *out, pn_stopping_kind kind, double mean, double eta, const char *owner,
                           pn_err *err)
{
    bool poisson = kind == PN_STOP_POISSON;

    *out = (pn_stopping){ .kind = kind, .mean = mean };
    out->eta = kind == PN_STOP_GEOMETRIC ? 1.0 : kind == PN_STOP_NEGATIVE_BINOMIAL ? eta : 0.0;
    if (!(mean <= MOST_RUNS && (poisson ? mean > 0.0 : mean > 1.0)))
        return pn_fail(err, PN_EINVAL, "%s: mean must be %s and at most %g runs, got %g%s", owner,
                       poisson ? "above 0" : "above 1", MOST_RUNS, mean,
                       mean == 1.0 ? "; one run is the base mechanism by itself" : "");
    if (!(out->eta > -1.0 && out->eta <= 100.0))
        return pn_fail(err, PN_EINVAL, "%s: eta must be above -1 and at most 100, got %g", owner, eta);
    if (poisson)
        return PN_OK;
    if (kind == PN_STOP_GEOMETRIC || kind == PN_STOP_KNOWN_TARGET) {
        out->x = log(mean);
        out->gamma = 1.0 / mean;
        return PN_OK;
    }
    if (!too_many(out, GREAT_X))
        return pn_fail(err, PN_EINVAL, "%s: eta = %g is too near -1 for a mean of %g runs; give a larger eta", owner,
                       eta, mean);
    out->x = pn_bisect(too_many, out, 0x1p-60, GREAT_X);
    out->gamma = exp(-out->x);
    return PN_OK;
}

/* ---- masses ---- */

/* P(K <= k), summed until it is at least `enough`; the last k in *at. */
static double sum_masses(const pn_stopping *law, double k, double enough, double *at)
{
    bool poisson = law->kind == PN_STOP_POISSON;
    double stays = -expm1(-law->x), mass, sum;

    *at = poisson ? 0.0 : 1.0;
    if (poisson)
        mass = exp(-law->mean);
    else
        mass = stays * (law->eta == 0.0 ? 1.0 / law->x : law->eta / expm1(law->eta * law->x));
    for (sum = mass; *at < k && sum < enough && mass > 0.0; sum += mass) {
        mass *= poisson ? law->mean / (*at + 1.0) : stays * (*at + law->eta) / (*at + 1.0);
        *at += 1.0;
    }
    return fmin(sum, 1.0);
}

static bool is_coin(const pn_stopping *law)
{
    return law->kind == PN_STOP_GEOMETRIC || law->kind == PN_STOP_KNOWN_TARGET;
}

double pn_stopping_below(const pn_stopping *law, double k)
{
    double at;

    if (k < (law->kind == PN_STOP_POISSON ? 0.0 : 1.0))
        return 0.0;
    return is_coin(law) ? -expm1(floor(k) * log1p(-law->gamma)) : sum_masses(law, floor(k), INFINITY, &at);
}

double pn_stopping_quantile(const pn_stopping *law, double p)
{
    double at;

    if (is_coin(law))
        return fmax(1.0, ceil(log1p(-p) / log1p(-law->gamma) * (1.0 - 0x1p-50)));
    (void)sum_masses(law, INFINITY, p, &at);
    return at;
}

/* 1 - f(1 - fraction), f the generating function of K: with u = gamma + (1 - gamma) fraction,
 * f = (u^-eta - 1)/(gamma^-eta - 1), at eta = 0 ln(u)/ln(gamma). */
double pn_stopping_chance(const pn_stopping *law, double fraction)
{
    double u = law->gamma + (1.0 - law->gamma) * fraction;

    if (law->kind == PN_STOP_POISSON)
        return -expm1(-law->mean * fraction);
    if (is_coin(law))
        return fraction / u;
    if (law->eta == 0.0)
        return 1.0 + log(u) / law->x;
    return 1.0 - expm1(-law->eta * log(u)) / expm1(law->eta * law->x);
}

bool pn_stopping_toss(const pn_stopping *law, pn_rng *rng)
{
    double bar = ceil(ldexp(law->gamma, 64)); /* gamma < 1 has at most 53 bits, so this is below 2^64 */

    if (PN_MUTANT("selection_runs_fixed")) /* the first of a number that is known */
        return true;
    return pn_rng_u64(rng) < (uint64_t)bar;
}
