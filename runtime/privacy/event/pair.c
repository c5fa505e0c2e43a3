/* pair.c -- dominating pairs of the mechanisms that are not sampled.
 * Depends on: pair.h.  Used by: event_*.c, the PLD accountant.  See accounting.md section 5. */
#include <math.h>

#include "privacy/event/pair_event.h"

static const double sqrt_half = 0.70710678118654752440;

/* ---- gaussian ---- */

/* Under P the loss is N(mu^2/2, mu^2), under Q N(-mu^2/2, mu^2). */
static void gaussian_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double mu = self->parameters[0], under_p = loss / mu - mu / 2.0, under_q = loss / mu + mu / 2.0;

    out->p_above = 0.5 * erfc(under_p * sqrt_half);
    out->q_above = 0.5 * erfc(under_q * sqrt_half);
    out->p_below = 0.5 * erfc(-under_p * sqrt_half);
    out->q_below = 0.5 * erfc(-under_q * sqrt_half);
}

void pn_pair_gaussian(pn_pair *out, double mu)
{
    *out = (pn_pair){ .tails = gaussian_tails, .low = -INFINITY, .high = INFINITY, .parameters = { mu } };
}

double pn_pair_gaussian_mu(const pn_pair *pair)
{
    return pair->tails == gaussian_tails ? pair->parameters[0] : 0.0;
}

/* ---- laplace ---- */

/* Atoms at both ends; between them P(L > l) = 1 - exp(-(e-l)/2)/2 and Q(L > l) = exp(-(e+l)/2)/2. */
static void laplace_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double e = self->parameters[0];

    if (loss < -e) {
        *out = (pn_tails){ 0.0, 0.0, 1.0, 1.0 };
    } else if (loss >= e) {
        *out = (pn_tails){ 1.0, 1.0, 0.0, 0.0 };
    } else {
        out->p_below = 0.5 * exp(-(e - loss) / 2.0);
        out->q_above = 0.5 * exp(-(e + loss) / 2.0);
        out->p_above = 1.0 - out->p_below;
        out->q_below = 1.0 - out->q_above;
    }
}

void pn_pair_laplace(pn_pair *out, double e)
{
    *out = (pn_pair){ .tails = laplace_tails, .low = -e, .high = e, .parameters = { e }, .p_high = 0.5 };
}

/* ---- pure ---- */

static void pure_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double e = self->parameters[0], small = 1.0 / (1.0 + exp(e)), large = 1.0 / (1.0 + exp(-e));

    if (loss < -e)
        *out = (pn_tails){ 0.0, 0.0, 1.0, 1.0 };
    else if (loss >= e)
        *out = (pn_tails){ 1.0, 1.0, 0.0, 0.0 };
    else
        *out = (pn_tails){ small, large, large, small };
}

void pn_pair_pure(pn_pair *out, double e)
{
    *out = (pn_pair){ .tails = pure_tails,
                      .low = -e,
                      .high = e,
                      .parameters = { e },
                      .p_high = 1.0 / (1.0 + exp(-e)),
                      .atoms_only = true };
}

/* ---- bounded range ---- */

static void bounded_range_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double e = self->parameters[0], all = -expm1(-e);

    if (loss < -e) {
        *out = (pn_tails){ 0.0, 0.0, 1.0, 1.0 };
    } else if (loss >= e) {
        *out = (pn_tails){ 1.0, 1.0, 0.0, 0.0 };
    } else {
        out->p_above = -expm1((loss - e) / 2.0) / all;
        out->q_below = -expm1(-(loss + e) / 2.0) / all;
        out->p_below = -exp((loss - e) / 2.0) * expm1(-(loss + e) / 2.0) / all;
        out->q_above = -exp(-(loss + e) / 2.0) * expm1((loss - e) / 2.0) / all;
    }
}

void pn_pair_bounded_range(pn_pair *out, double e)
{
    *out = (pn_pair){ .tails = bounded_range_tails, .low = -e, .high = e, .parameters = { e } };
}
