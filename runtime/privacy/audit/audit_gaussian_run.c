/* audit_gaussian_run.c -- how many canaries may be guessed right in one run of a mechanism with a given trade-off
 * curve, a Gaussian's or any.
 * Depends on: audit_check.h, numeric/beta.h, numeric/root.h, numeric/special.h.  Used by: audit_one_run.c.
 *
 * As in audit_one_run.c let F_k = P(C = k) for the symmetric worst mechanism, T_j = P(C >= j), R_j = sum over k >= j of
 * (k/r) F_k and W_j = T_j - R_j.  Turn round canary i, on which a guess falls with chance r/m.  The event "the guess on
 * i is right, and C >= j + 1" has chance (r/m) R_{j+1}; seen from the other side it is "wrong, and C >= j", with (r/m)
 * W_j.  A mechanism with trade-off curve f, A(w) = 1 - f(w), has (r/m) R_{j+1} <= A((r/m) W_j),
 * that is W_j >= G(R_{j+1}) with G
 * increasing.  Put R_j = (j/r) T_j + (1/r) sum over i > j of T_i (summation by parts):
 *     T_j >= max(T_{j+1}, (G(R_{j+1}) + (1/r) sum over i > j of T_i) / (1 - j/r)),
 * where every term on the right grows with the T_i before.  So from T_v = p and T_i = 0 above, equality everywhere
 * gives the least T_0 there can be, and p is possible only if that is at most 1.
 * This is the recursion of Mahloujifar, Melis, Chaudhuri
 * (2025).  It looks at the events C >= j + 1 alone, so for an (epsilon, delta) curve it allows a little more than the
 * sharp formula of audit_one_run.c, and never less. */
#include <math.h>

#include "numeric/beta.h"
#include "numeric/root.h"
#include "numeric/special.h"
#include "privacy/audit/audit_check.h"

/* The smallest chance under the other data set of an event that has chance a: f-DP's A^-1. */
typedef double (*least_fn)(const void *parameters, double a);

static double gaussian_least(const void *mu, double a)
{
    return a < 1.0 ? exp(pn_log_normal_cdf(pn_normal_quantile(a) - *(const double *)mu)) : 1.0;
}

/* a <= exp(epsilon) w + delta of the event, and 1 - w <= exp(epsilon) (1 - a) + delta of its complement,
 * rounded down. */
static double curve_least(const void *parameters, double a)
{
    const pn_audit_curve *curve = parameters;
    double most = 0.0;

    for (size_t i = 0; i < curve->n; i++) {
        double ratio = exp(curve->epsilon[i]), delta = curve->delta[i];

        most = fmax(most, fmax((a - delta) / ratio, 1.0 - delta - ratio * (1.0 - a)) - 0x1p-50);
    }
    return fmin(most, a);
}

/* Could a run give `correct` or more right ones of `guesses` on m canaries with chance p? */
static bool possible(const pn_guesses *g, double p, least_fn least, const void *parameters)
{
    double r = (double)g->guesses, rate = r / (double)g->m, total = p, sum = 0.0;

    for (size_t j = g->correct; j-- > 0;) {
        double k = (double)j,
               right = (k + 1.0) / r * total + sum / r; /* R_{j+1}; total is T_{j+1}, sum that of the T above */
        double need;

        sum += total;
        need = (least(parameters, rate * right) / rate + sum / r) / (1.0 - k / r);
        total = fmax(total, need);
        if (!(total <= 1.0))
            return false;
    }
    return true;
}

typedef struct gaussian_question {
    pn_guesses guesses;
    double failure;
} gaussian_question;

static bool plausible(void *self, double mu)
{
    const gaussian_question *q = self;

    return possible(&q->guesses, q->failure, gaussian_least, &mu);
}

double pn_audit_run_mu(const pn_guesses *guesses, double failure)
{
    gaussian_question q = { *guesses, failure };

    return guesses->correct == 0 || plausible(&q, 0.0) ? 0.0 : pn_bisect(plausible, &q, 0.0, 32.0);
}

typedef struct curve_question {
    const pn_guesses *guesses;
    const pn_audit_curve *curve;
} curve_question;

static bool impossible(void *self, double p)
{
    const curve_question *q = self;

    return !possible(q->guesses, p, curve_least, q->curve);
}

double pn_audit_run_chance(const pn_guesses *guesses, const pn_audit_curve *curve)
{
    curve_question q = { guesses, curve };

    return guesses->correct == 0 ? 1.0 : pn_bisect(impossible, &q, 0.0, 1.0);
}
