/* base_curve.c -- delta(epsilon) of a mechanism from the best that is known of it.
 * Depends on: base_curve.h, event_leaf.h, gaussian.h.  Used by: event_selection.c, event_either.c. */
#include <math.h>

#include "privacy/event/base_curve.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/gaussian.h"

#define TAIL_ERROR 0x1p-44 /* relative, of a tail of a pair */

double pn_base_rdp(const pn_event *event, double alpha)
{
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_rdp(event, 1, alpha, &sum);
    return sum.high;
}

void pn_base_curve_read(pn_base_curve *out, const pn_event *event)
{
    double draws;

    out->event = event;
    if (!pn_event_is_gaussian(event, &out->mu, &draws))
        out->mu = NAN;
    for (int i = 0; i < PN_BASE_ORDERS; i++) {
        out->orders[i] = 1.0 + ldexp(1.0 + (i % 16) / 16.0, -4 + i / 16);
        out->divergences[i] = pn_base_rdp(event, out->orders[i]);
    }
}

/* Of one direction: P(L > epsilon) - e^epsilon Q(L > epsilon). */
static double of_tails(double p, double q, double epsilon)
{
    return pn_nonnegative(p - exp(fmin(epsilon, 700.0)) * q) + TAIL_ERROR * p;
}

static double of_pairs(const pn_event *event, double epsilon)
{
    pn_pair pairs[2];
    size_t directions, parts;
    double delta = 0.0;
    pn_tails above, below;

    if (pn_event_terms(event, &parts) || !event->ops->pairs)
        return 1.0;
    directions = event->ops->pairs(event, false, pairs);
    if (directions == 0)
        return 0.0;
    pairs[0].tails(&pairs[0], epsilon, &above);
    delta = of_tails(above.p_above, above.q_above, epsilon);
    pairs[0].tails(&pairs[0], -epsilon, &below);
    return directions == 1 ? delta : fmax(delta, of_tails(below.q_below, below.p_below, epsilon));
}

double pn_base_delta(const pn_base_curve *curve, double epsilon)
{
    double least, pure = pn_base_rdp(curve->event, INFINITY);

    if (!isnan(curve->mu))
        return pn_gaussian_delta(curve->mu, epsilon);
    if (epsilon >= pure)
        return 0.0;
    least = fmin(1.0, of_pairs(curve->event, epsilon));
    for (int i = 0; i < PN_BASE_ORDERS; i++) { /* Canonne, Kamath, Steinke (2020), Proposition 12 */
        double a = curve->orders[i], log_delta = (a - 1.0) * (curve->divergences[i] - epsilon) - log(a - 1.0);

        least = fmin(least, exp(fmin(0.0, log_delta + a * log1p(-1.0 / a))) * (1.0 + 1e-12));
    }
    return least;
}
