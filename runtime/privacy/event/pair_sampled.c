/* pair_sampled.c -- dominating pairs of a Gaussian on a random part of the records.
 * Depends on: pair.h.  Used by: event_sampled.c, the PLD accountant.  See accounting.md sections 4 and 5.
 *
 * The noise is N(0, z^2) under Q and (1-q) N(0, z^2) + q N(1, z^2) under P; every loss is a monotone function of the
 * released number x, so a tail of L is a tail of x. */
#include <math.h>

#include "privacy/event/pair.h"

enum { Q = 0, Z = 1, LOG_ODDS = 2 };

static const double sqrt_half = 0.70710678118654752440, log_two = 0.69314718055994530942;

/* P(N(0,1) > y) */
static double normal_above(double y)
{
    return 0.5 * erfc(y * sqrt_half);
}

/* ---- 4a ---- */

/* x with ln(1 - q + q exp((2x-1)/(2z^2))) = loss; -inf below ln(1-q). */
static double remove_position(const pn_pair *self, double loss)
{
    double q = self->parameters[Q], z = self->parameters[Z], odds;

    if (loss < -0.5) /* (1-q) may be tiny beside 1, and e^loss as tiny */
        odds = loss > log1p(-q) ? loss + log(-expm1(log1p(-q) - loss)) - log(q) : -INFINITY;
    else if (loss > 1.0)
        odds = loss + log1p(-(1.0 - q) * exp(-loss)) - log(q);
    else
        odds = expm1(loss) + q > 0.0 ? log((expm1(loss) + q) / q) : -INFINITY;
    return z * z * odds + 0.5;
}

static void mixture_above(const pn_pair *self, double x, double *p, double *q_mass)
{
    double q = self->parameters[Q], z = self->parameters[Z];

    *q_mass = normal_above(x / z);
    *p = (1.0 - q) * *q_mass + q * normal_above((x - 1.0) / z);
}

static void mixture_below(const pn_pair *self, double x, double *p, double *q_mass)
{
    double q = self->parameters[Q], z = self->parameters[Z];

    *q_mass = normal_above(-x / z);
    *p = (1.0 - q) * *q_mass + q * normal_above((1.0 - x) / z);
}

/* One side by erfc, the other as the rest: where x > 1 the upper tails are the small ones. */
static void remove_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double x = remove_position(self, loss);

    if (x > 0.5) {
        mixture_above(self, x, &out->p_above, &out->q_above);
        out->p_below = 1.0 - out->p_above;
        out->q_below = 1.0 - out->q_above;
    } else {
        mixture_below(self, x, &out->p_below, &out->q_below);
        out->p_above = 1.0 - out->p_below;
        out->q_above = 1.0 - out->q_below;
    }
}

static void add_tails(const pn_pair *self, double loss, pn_tails *out)
{
    pn_tails other;

    remove_tails(self, -loss, &other);
    *out = (pn_tails){ other.q_above, other.p_above, other.q_below, other.p_below };
}

void pn_pair_poisson(pn_pair out[2], double q, double z)
{
    out[0] = (pn_pair){ .tails = remove_tails, .low = log1p(-q), .high = INFINITY, .parameters = { q, z } };
    out[1] = (pn_pair){ .tails = add_tails, .low = -INFINITY, .high = -log1p(-q), .parameters = { q, z } };
}

/* ---- 4b ---- */

/* For L > 0 the tails of 4a, for L < 0 their mirror image; what is left is equal under both and sits at L = 0. */
static void fixed_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double x = remove_position(self, fabs(loss)), p, q;

    mixture_above(self, x, &p, &q);
    if (loss >= 0.0)
        *out = (pn_tails){ 1.0 - p, 1.0 - q, p, q };
    else
        *out = (pn_tails){ q, p, 1.0 - q, 1.0 - p };
}

void pn_pair_fixed(pn_pair *out, double q, double z)
{
    *out = (pn_pair){ .tails = fixed_tails, .low = -INFINITY, .high = INFINITY, .parameters = { q, z } };
}

/* ---- 4c ---- */

/* With y = exp(x/z^2) and b = q exp(-1/(2z^2)) the loss is ln((1-q + b y) / (1-q + b/y)); that quadratic in y is solved
 * by ln y = l/2 + asinh((1-q) sinh(l/2) / b).  LOG_ODDS is ln((1-q)/b). */
static double replace_position(const pn_pair *self, double loss)
{
    double z = self->parameters[Z], half = fabs(loss) / 2.0, log_odds = self->parameters[LOG_ODDS];
    double log_sinh = half > 20.0 ? half - log_two : log(sinh(half));
    double u = log_sinh + log_odds;
    double y = half + (u > 20.0 ? u + log_two : asinh(exp(u)));

    return copysign(z * z * y, loss);
}

static void replace_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double q = self->parameters[Q], z = self->parameters[Z], x = replace_position(self, loss);
    double centre_above = normal_above(x / z), centre_below = normal_above(-x / z);

    out->p_above = (1.0 - q) * centre_above + q * normal_above((x - 1.0) / z);
    out->q_above = (1.0 - q) * centre_above + q * normal_above((x + 1.0) / z);
    out->p_below = (1.0 - q) * centre_below + q * normal_above((1.0 - x) / z);
    out->q_below = (1.0 - q) * centre_below + q * normal_above((-1.0 - x) / z);
}

void pn_pair_poisson_replace(pn_pair *out, double q, double z)
{
    double log_odds = log1p(-q) - log(q) + 0.5 / (z * z);

    *out = (pn_pair){ .tails = replace_tails, .low = -INFINITY, .high = INFINITY, .parameters = { q, z, log_odds } };
}
