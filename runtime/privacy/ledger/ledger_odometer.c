/* ledger_odometer.c -- how much has been spent, valid wherever the analyst stops.
 * Depends on: ledger_impl.h, accountant.h.  Used by: bindings.  See accounting.md section 7.
 *
 * A filter's sums only grow, so whether the filter of a level is exhausted can be read off the sums of today: nothing
 * has to be kept while charging. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger_impl.h"

#define MOST_LEVELS 1000

pn_odometer pn_ledger_odometer_default(const pn_ledger *ledger)
{
    const pn_budget *budget = &ledger->budget;
    double delta = budget->delta > 0.0 ? budget->delta : 1e-6;
    double epsilon = pn_ledger_is_rho(ledger) ? pn_zcdp_epsilon(budget->rho, delta) : budget->epsilon;

    return (pn_odometer){ .first = epsilon / 32.0, .delta = delta };
}

/* Does some order of this level's filter survive all charges?  `uniform` by Ville's inequality: the supermartingale
 * exp((alpha - 1)(L - R)) ever exceeds J/delta with probability delta/J at most. */
static bool holds(const pn_ledger *ledger, double epsilon, double delta, bool uniform)
{
    double orders[PN_FILTER_DEFAULT_ORDERS], each = pn_ideal_delta(delta) / PN_FILTER_DEFAULT_ORDERS;
    pn_slack slack = pn_ledger_slack(ledger);

    pn_filter_default_orders(epsilon, delta, orders);
    for (int j = 0; j < PN_FILTER_DEFAULT_ORDERS; j++) {
        double total = pn_ledger_rdp(ledger, orders[j]), cost;

        cost = uniform ? total - log(each) / (orders[j] - 1.0) : pn_rdp_epsilon(orders[j], total, each);
        if (pn_slack_epsilon(cost, delta, slack) <= epsilon)
            return true;
    }
    return false;
}

static double odometer_locked(const pn_ledger *ledger, const pn_odometer *options, size_t *level)
{
    double epsilon = options->first;

    if (level)
        *level = 0;
    if (ledger->count == 0)
        return 0.0;
    for (size_t k = 1; k <= MOST_LEVELS && isfinite(epsilon *= 2.0); k++) {
        double share = options->delta / ((double)k * (double)(k + 1));

        if (level)
            *level = k;
        if (holds(ledger, epsilon, share, options->uniform))
            return epsilon;
    }
    return INFINITY;
}

double pn_ledger_odometer(const pn_ledger *ledger, const pn_odometer *options, size_t *level)
{
    double result;

    pn_ledger_lock(ledger);
    result = odometer_locked(ledger, options, level);
    pn_ledger_unlock(ledger);
    return result;
}
