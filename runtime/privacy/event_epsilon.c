/* event_epsilon.c -- what an event costs by itself in (epsilon, delta), the distance of sampled noise from the ideal included.
 * Depends on: accountant.h, conversion.h, event_leaf.h.  Used by: ledger, plans, calibration, accountants. */
#include <math.h>

#include "privacy/accountant.h"
#include "privacy/conversion.h"
#include "privacy/event_leaf.h"

/* ---- slack ---- */

double pn_ideal_delta(double delta)
{
    return delta * (1.0 - PN_TAIL_SHARE);
}

/* exp(half) (delta (1 - share) + exp(epsilon) tail) <= delta, in logarithms. */
double pn_slack_epsilon(double epsilon, double delta, pn_slack slack)
{
    double half = slack.epsilon / 2.0, room = -expm1(half + log1p(-PN_TAIL_SHARE));

    if (slack.epsilon == 0.0 && slack.tail == 0.0)
        return epsilon;
    if (!(room > 0.0) || (slack.tail > 0.0 && !(epsilon + half + log(slack.tail) <= log(delta * room))))
        return INFINITY;
    return epsilon + slack.epsilon;
}

double pn_slack_delta(double delta, double epsilon, pn_slack slack)
{
    double tail = slack.tail > 0.0 ? exp(fmin(epsilon + log(slack.tail), 1.0)) : 0.0;

    return fmin(1.0, exp(slack.epsilon / 2.0) * (delta + tail) * (1.0 + 0x1p-50));
}

/* ---- an event by itself ---- */

typedef struct repeated {
    const pn_event *event;
    size_t count;
} repeated;

static double repeated_rdp(const void *self, double alpha)
{
    const repeated *r = self;
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_rdp(r->event, r->count, alpha, &sum);
    return sum.high;
}

double pn_event_epsilon(const pn_event *event, size_t count, double delta, double *order)
{
    repeated r = { event, count };
    pn_curve curve = { repeated_rdp, &r };
    pn_sum rho = { 0.0, 0.0 };
    double ideal = pn_ideal_delta(delta), epsilon;

    pn_event_add_zcdp(event, count, &rho);
    epsilon = pn_curve_epsilon(&curve, ideal, ideal > 0.0 ? pn_zcdp_guess(rho.high, ideal) : 0.0, order);
    return pn_slack_epsilon(epsilon, delta, pn_event_slack(event, count));
}
