/* perturbed_objective.c -- delta, loss pair, Renyi divergence and zCDP of the minimiser of a perturbed objective,
 * all in closed form.
 * Depends on: perturbed_objective.h, gaussian.h, numeric/special.h, numeric/root.h.
 * Used by: event_objective.c, solvers.
 *
 * With e = epsilon - J, r = (e - s^2/2)/s >= 0 and Q the normal tail, integrating over the law of chi gives
 *     rank 1 (density 2 phi):            delta = 2 (Q(r) - exp(e) Q(r + s)),
 *         twice that of Gaussian noise with mu = s at e;
 *     rank 2 (density r exp(-r^2/2)):    delta = s sqrt(2 pi) exp(e) Q(r + s) = s sqrt(pi/2) exp(-r^2/2)
 *         erfcx((r + s)/sqrt 2),
 * products of positive numbers; for r < 0 every chi counts, and delta is of the size of s, so that the difference from
 * 1 is good.  Likewise E exp(t chi) is 2 exp(t^2/2) Phi(t), respectively 1 + t sqrt(2 pi) exp(t^2/2) Phi(t). */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "numeric/root.h"
#include "numeric/special.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/gaussian.h"
#include "privacy/event/perturbed_objective.h"

static const double sqrt_half = 0.70710678118654752440, root_half_pi = 1.25331413731550025121,
                    log_root_half_pi = 0.22579135264472743236, mean_half_normal = 0.79788456080286535588;

static bool is_valid(double s, double jacobian, int rank)
{
    return s > 0.0 && jacobian >= 0.0 && (rank == 1 || rank == 2);
}

static double upward(double x)
{
    return x + x * 1e-12 + DBL_MIN;
}

/* Every chi counts: 1 - exp(e) E exp(-s^2/2 - s chi), e < s^2/2. */
static double everything(double e, double s, int rank)
{
    double mean = rank == 1 ? pn_erfcx(s * sqrt_half) : 1.0 - s * root_half_pi * pn_erfcx(s * sqrt_half);

    return 1.0 - exp(e - 0.5 * s * s) * mean + 0x1p-50;
}

double pn_perturbed_delta(double epsilon, double s, double jacobian, int rank)
{
    double e = epsilon - jacobian, r = e / s - 0.5 * s;

    if (!(is_valid(s, jacobian, rank) && epsilon >= 0.0))
        return NAN;
    if (isinf(s) || isinf(jacobian))
        return 1.0;
    if (r < 0.0)
        return fmin(1.0, upward(everything(e, s, rank)));
    if (rank == 1)
        return fmin(1.0, 2.0 * pn_gaussian_delta(s, e));
    return fmin(1.0, upward(s * root_half_pi * exp(-0.5 * r * r) * pn_erfcx((r + s) * sqrt_half)));
}

/* 1 - s m(y) for y >= s > 0, m(y) = Q(y)/phi(y).  With m(y) = 1/(y + K), K = 1/(y + 2/(y + 3/(y + ...))), it is
 * (y - s + K)/(y + K), where nothing cancels; k levels leave about exp(-2 y sqrt k). */
static double less_mills(double y, double s)
{
    double part = s * root_half_pi * pn_erfcx(y * sqrt_half), K = 0.0;

    if (part <= 0.75)
        return 1.0 - part;
    for (double k = 4.0 + ceil(400.0 / (y * y)); k >= 1.0; k--)
        K = k / (y + K);
    return (y - s + K) / (y + K);
}

/* r = (loss - J - s^2/2)/s.  Under P the loss is X, and under Q it has exp(-X) of that mass;
 * the rest of Q is at a loss of -inf. */
static void perturbed_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double s = self->parameters[0], jacobian = self->parameters[1], rank = self->parameters[2];
    double r = pn_nonnegative((loss - jacobian - 0.5 * s * s) / s), y = r + s;

    if (rank == 1.0) {
        out->p_above = erfc(r * sqrt_half);
        out->p_below = erf(r * sqrt_half);
        out->q_above = exp(-jacobian) * erfc(y * sqrt_half);
        out->q_below = -expm1(-jacobian) + exp(-jacobian) * erf(y * sqrt_half);
    } else {
        double peak = exp(-jacobian - 0.5 * y * y);

        out->p_above = exp(-0.5 * r * r);
        out->p_below = -expm1(-0.5 * r * r);
        out->q_above = peak * less_mills(y, s);
        out->q_below = -expm1(-jacobian - 0.5 * y * y) + peak * s * root_half_pi * pn_erfcx(y * sqrt_half);
    }
}

void pn_pair_perturbed(pn_pair *out, double s, double jacobian, int rank)
{
    *out = (pn_pair){
        .tails = perturbed_tails, .low = -INFINITY, .high = INFINITY, .parameters = { s, jacobian, (double)rank }
    };
}

typedef struct question {
    double epsilon, delta, jacobian;
    int rank;
} question;

static bool too_much(void *self, double s)
{
    const question *q = self;

    return pn_perturbed_delta(q->epsilon, s, q->jacobian, q->rank) > q->delta;
}

double pn_perturbed_s(double epsilon, double delta, double jacobian, int rank)
{
    question q = { epsilon, delta, jacobian, rank };
    double low = 1.0, high = 1.0;

    if (!(epsilon >= 0.0 && delta > 0.0 && delta < 1.0 && is_valid(1.0, jacobian, rank)))
        return NAN;
    if (isinf(epsilon))
        return INFINITY;
    if (jacobian >= epsilon)
        return 0.0;
    while (low > 0.0 && too_much(&q, low))
        low /= 2.0;
    while (isfinite(high) && !too_much(&q, high))
        high *= 2.0;
    return low > 0.0 && isfinite(high) ? pn_bisect(too_much, &q, low, high) : low;
}

/* ln(2 Phi(t)), t >= 0 */
static double log_twice_phi(double t)
{
    return log1p(erf(t * sqrt_half));
}

/* ln E exp(t chi), t > 0 */
static double log_moment(double t, int rank)
{
    double twice = log_twice_phi(t);

    if (rank == 1)
        return 0.5 * t * t + twice;
    if (t < 30.0) /* exp(450): log1p keeps small t right */
        return log1p(t * root_half_pi * exp(0.5 * t * t + twice));
    return log(t) + log_root_half_pi + 0.5 * t * t + twice + DBL_EPSILON;
}

double pn_perturbed_rdp(double s, double jacobian, int rank, double alpha)
{
    double a = alpha - 1.0;

    if (!(is_valid(s, jacobian, rank) && alpha > 1.0))
        return NAN;
    if (isinf(alpha) || isinf(jacobian))
        return INFINITY;
    return upward(jacobian + 0.5 * s * s + log_moment(a * s, rank) / a);
}

/* chi is a 1-Lipschitz function of a Gaussian, so ln E exp(t (chi - E chi)) <= t^2/2 and (alpha times E X) grows faster
 * than the divergence, which starts from E X. */
double pn_perturbed_zcdp(double s, double jacobian, int rank)
{
    if (!is_valid(s, jacobian, rank))
        return NAN;
    return upward(jacobian + 0.5 * s * s + s * (rank == 1 ? mean_half_normal : root_half_pi));
}
