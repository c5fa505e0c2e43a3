/* event_epsilon.c -- what an event costs by itself in (epsilon, delta),
 * the distance of sampled noise from the ideal included.
 * Depends on: accountant.h, conversion.h, event_leaf.h.  Used by: ledger, plans, calibration, accountants. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/gaussian.h"

/* ---- slack ---- */

double pn_ideal_delta(double delta)
{
    return delta * (1.0 - PN_TAIL_SHARE);
}

double pn_slack_tail(pn_slack slack, double epsilon)
{
    double carried = slack.tail > 0.0 ? exp(fmin(epsilon + log(slack.tail), 1.0)) * (1.0 + 0x1p-40) : 0.0;

    return fmin(carried, slack.window);
}

/* The next double above a sum that was rounded down. */
static double add_upward(double x, double y)
{
    double sum = x + y;

    return sum - x < y ? nextafter(sum, INFINITY) : sum;
}

const double pn_tail_shares[PN_TAIL_SHARES] = { PN_TAIL_SHARE, 0x1p-10, 0.5, 0.75, 1.0 - 0x1p-9, 1.0 };

/* In logarithms.  Where all of delta is for the tails, sums of deltas may be off by their last digit,
 * as sums of epsilon may. */
bool pn_tails_fit(pn_slack slack, double epsilon, double delta, double share, double room)
{
    double half = slack.epsilon / 2.0, part = share * (1.0 - 0x1p-7) * room;
    double tail = share > 0.5 ? slack.window : 2.0 * pn_slack_tail(slack, epsilon);

    if (slack.epsilon == 0.0 && tail == 0.0)
        return true;
    if (share == 1.0)
        return exp(fmin(half, 1.0)) * tail <= delta * (1.0 + 0x1p-50) && half < 1.0;
    return half + log1p(-share) <= log1p(-part) && (tail == 0.0 || half + log(tail) <= log(delta * part));
}

/* `epsilon` holds at delta (1 - share); less the room, so that a ledger's filter admits what is priced here. */
static double with_slack(double epsilon, double delta, double share, pn_slack slack)
{
    return pn_tails_fit(slack, epsilon, delta, share, 1.0 - 1e-6) ? add_upward(epsilon, slack.epsilon) : INFINITY;
}

double pn_slack_epsilon(double epsilon, double delta, pn_slack slack)
{
    return with_slack(epsilon, delta, PN_TAIL_SHARE, slack);
}

double pn_curve_release_epsilon(const pn_curve *curve, double rho, double delta, pn_slack slack, double *order)
{
    double ideal = pn_ideal_delta(delta), guess = ideal > 0.0 ? pn_zcdp_guess(rho, ideal) : 0.0;
    double epsilon = pn_curve_epsilon(curve, ideal, guess, order), total = pn_slack_epsilon(epsilon, delta, slack);

    for (size_t i = 1; i < PN_TAIL_SHARES && isinf(total) && isfinite(epsilon) && delta > 0.0; i++) {
        epsilon = pn_curve_epsilon(curve, delta * (1.0 - pn_tail_shares[i]), guess, order);
        total = with_slack(epsilon, delta, pn_tail_shares[i], slack);
    }
    if (order && isinf(total))
        *order = 0.0;
    return total;
}

double pn_slack_delta(double delta, double epsilon, pn_slack slack)
{
    double tail = pn_slack_tail(slack, epsilon);

    if (epsilon < slack.epsilon) /* below what drawn noise can have: H at 1 exceeds H at e^s by at most e^s - 1 */
        delta += expm1(slack.epsilon);
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

void pn_event_add_mu_squared(const pn_event *event, size_t count, pn_sum *sum)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);

    if (!terms)
        pn_sum_add(sum, (double)count, pn_gaussian_mu_squared(event));
    for (size_t i = 0; i < parts; i++)
        pn_sum_add(sum, (double)count * (double)terms[i].count, pn_gaussian_mu_squared(terms[i].event));
}

/* As the Gaussian filter of a ledger charges it: with the share of epsilon that the filter keeps for the slack, and a
 * little for the rounding of its inverse. */
double pn_gaussian_price(double mu_squared, double delta, pn_slack slack)
{
    double epsilon;

    if (!(isfinite(mu_squared) && mu_squared > 0.0 && delta > 0.0))
        return INFINITY;
    epsilon = pn_gaussian_epsilon(sqrt(mu_squared), pn_ideal_delta(delta));
    if (slack.epsilon > fmin(PN_SLACK_SHARE, epsilon / 4.0) ||
        isinf(with_slack(epsilon, delta, PN_TAIL_SHARE * (1.0 - 0x1p-7), slack)))
        return INFINITY;
    return (epsilon + fmin(PN_SLACK_SHARE, epsilon / 2.0)) * (1.0 + 0x1p-40);
}

double pn_event_epsilon(const pn_event *event, size_t count, double delta, double *order)
{
    pn_slack slack = pn_event_slack(event, count);
    pn_sum mu_squared = { 0.0, 0.0 };
    double exact;

    repeated r = { event, count };
    pn_curve curve = { repeated_rdp, &r };
    pn_sum rho = { 0.0, 0.0 };
    double renyi;

    pn_event_add_zcdp(event, count, &rho);
    pn_event_add_mu_squared(event, count, &mu_squared);
    exact = pn_gaussian_price(mu_squared.high, delta, slack);
    renyi = pn_curve_release_epsilon(&curve, rho.high, delta, slack, order);
    if (exact < renyi && order)
        *order = 0.0;
    return fmin(exact, renyi);
}
