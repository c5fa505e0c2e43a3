/* composition.c -- optimal homogeneous composition by its binomial sum, and advanced composition.
 * Depends on: composition.h, numeric/root.h, libm.  Used by: accountants, tests. */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "numeric/root.h"
#include "privacy/accounting/composition.h"

/* ln of the term of l: C(k,l) (e^((k-l)e) - e^(target + l e)) / (1 + e^e)^k; -inf where it is cut off. */
static double log_term(double e, double k, double l, double target)
{
    double gap = fma(k - 2.0 * l, e, -target); /* next to k e every digit of the product counts */

    if (!(gap > 0.0))
        return -INFINITY;
    return lgamma(k + 1.0) - lgamma(l + 1.0) - lgamma(k - l + 1.0) - l * e - k * log1p(exp(-e)) + log(-expm1(-gap));
}

double pn_kov_delta(double epsilon, double delta, size_t count, double target)
{
    double k = (double)count, top = -INFINITY, sum = 0.0, pure, value;

    if (!(epsilon > 0.0 && isfinite(epsilon) && delta >= 0.0 && delta < 1.0 && count > 0 && target >= 0.0))
        return NAN;
    for (double l = 0.0; l < k && fma(k - 2.0 * l, epsilon, -target) > 0.0; l += 1.0) {
        double x = log_term(epsilon, k, l, target);

        if (x > top) {
            sum *= exp(top - x);
            top = x;
        }
        sum += exp(x - top);
    }
    pure = sum > 0.0 ? fmin(1.0, exp(top + log(sum))) : 0.0;
    value = -expm1(k * log1p(-delta) + log1p(-pure));
    return fmin(1.0, value * (1.0 + 8.0 * DBL_EPSILON * (fabs(lgamma(k + 1.0)) + k * epsilon + 8.0)));
}

typedef struct question {
    double epsilon, delta, target;
    size_t count;
} question;

static bool is_private(void *self, double epsilon)
{
    const question *q = self;

    return pn_kov_delta(q->epsilon, q->delta, q->count, epsilon) <= q->target;
}

double pn_kov_epsilon(double epsilon, double delta, size_t count, double target)
{
    question q = { epsilon, delta, target, count };
    double high = (double)count * epsilon;

    if (fma((double)count, epsilon, -high) > 0.0)
        high = nextafter(high, INFINITY);
    if (isnan(pn_kov_delta(epsilon, delta, count, 0.0)) || !(target > 0.0 && target < 1.0))
        return NAN;
    if (is_private(&q, 0.0))
        return 0.0;
    if (!is_private(&q, high))
        return INFINITY;
    return fmin(high, nextafter(pn_bisect(is_private, &q, 0.0, high), INFINITY));
}

double pn_advanced_epsilon(double epsilon, size_t count, double slack_delta)
{
    double k = (double)count, value = k * epsilon * expm1(epsilon) + epsilon * sqrt(-2.0 * k * log(slack_delta));

    return value * (1.0 + 8.0 * DBL_EPSILON);
}

double pn_advanced_drift(double epsilon)
{
    return epsilon * tanh(epsilon / 2.0) * (1.0 + 4.0 * DBL_EPSILON);
}

double pn_advanced_epsilon_sums(double sum_drift, double sum_squares, double slack_delta)
{
    return (sum_drift + sqrt(-2.0 * log(slack_delta) * sum_squares)) * (1.0 + 8.0 * DBL_EPSILON);
}
