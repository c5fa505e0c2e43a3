/* selftest_exact.c -- the accountants against results that are known exactly, and against their own monotonicity.
 * Depends on: selftest_internal.h, composition.h, gaussian.h, pld.h.  Used by: selftest.c. */
#include <math.h>
#include <stdio.h>

#include "privacy/accounting/composition.h"
#include "privacy/accounting/pld.h"
#include "privacy/audit/selftest_internal.h"
#include "privacy/event/gaussian.h"

static const double delta = 1e-5;

/* epsilon of `count` events by accountant number `which`; takes over the event. */
static double cost(pn_selftest_run *run, pn_event *event, size_t count, size_t which, double at_delta, double *low)
{
    pn_accountant *accountant = NULL;
    double epsilon = NAN;
    pn_arg args[4] = { 0 };

    if (run->status == PN_OK)
        run->status = run->accountants[which]->create(&accountant, args, run->err);
    if (run->status == PN_OK)
        run->status = pn_accountant_add(accountant, event, count, run->err);
    if (run->status == PN_OK)
        run->status = accountant->ops->epsilon(accountant, at_delta, &epsilon, NULL, run->err);
    if (run->status == PN_OK && accountant->ops->interval && low)
        run->status = accountant->ops->interval(accountant, at_delta, low, &epsilon, run->err);
    if (run->status == PN_EUNSUPPORTED)
        run->status = PN_OK;
    pn_accountant_free(accountant);
    pn_event_free(event);
    return epsilon;
}

static pn_event *gaussian(pn_selftest_run *run, double sigma, pn_neighbours neighbours)
{
    pn_event *event = NULL;

    if (run->status == PN_OK)
        run->status = pn_event_gaussian(&event, sigma, 1.0, 0, neighbours, run->err);
    return event;
}

static pn_event *poisson(pn_selftest_run *run, double q, double sigma, pn_neighbours neighbours)
{
    pn_event *event = NULL, *inner = gaussian(run, sigma, neighbours);

    if (run->status == PN_OK)
        run->status = pn_event_poisson_sampled(&event, q, inner, neighbours, run->err);
    pn_event_free(inner);
    return event;
}

static pn_event *fixed(pn_selftest_run *run, size_t batch, size_t n, double sigma)
{
    pn_event *event = NULL, *inner = gaussian(run, sigma, PN_REPLACE_ONE);

    if (run->status == PN_OK)
        run->status = pn_event_fixed_sampled(&event, batch, n, inner, PN_REPLACE_ONE, run->err);
    pn_event_free(inner);
    return event;
}

static pn_event *pure(pn_selftest_run *run, double epsilon)
{
    pn_event *event = NULL;

    if (run->status == PN_OK)
        run->status = pn_event_from_args(&event, "pure", (pn_arg[]){ { .given = true, .real = epsilon }, { 0 } },
                                         PN_REPLACE_ONE, run->err);
    return event;
}

/* ---- exact results ---- */

static void check_gaussian(pn_selftest_run *run, size_t which, const char *name)
{
    double exact = pn_gaussian_epsilon(1.0, delta), low = 0.0;
    double epsilon = cost(run, gaussian(run, 10.0, PN_REPLACE_ONE), 100, which, delta, &low);

    if (isnan(epsilon))
        return;
    pn_selftest_at_most(run, "100 Gaussians cost no less than their exact value", name, exact, epsilon, 1e-9);
    pn_selftest_at_most(run, "the lower end is below the exact Gaussian", name, low, exact, 1e-9);
}

/* The accountant takes all Gaussians for one; here the numeric composition has to do it. */
static void check_composition(pn_selftest_run *run)
{
    pn_pld_record record = { .same = true, .count = 100 };
    pn_pld_bounds got = { 0 };
    double exact = pn_gaussian_epsilon(1.0, delta);

    pn_pair_gaussian(&record.dominating, 0.1);
    record.attained = record.dominating;
    if (run->status == PN_OK)
        run->status = pn_pld_epsilon(&got, &record, 1, delta, 0.0, run->err);
    pn_selftest_at_most(run, "the interval's lower end is below the exact Gaussian", "pld", got.low, exact, 0.0);
    pn_selftest_at_most(run, "the interval's upper end is above the exact Gaussian", "pld", exact, got.high, 0.0);
    pn_selftest_at_most(run, "the interval's ends are close", "pld", got.high, got.low, 1e-3);
}

static void check_pure(pn_selftest_run *run, size_t which, const char *name)
{
    double exact = pn_kov_epsilon(0.1, 0.0, 100, delta), low = 0.0;
    double epsilon = cost(run, pure(run, 0.1), 100, which, delta, &low);

    if (isnan(epsilon))
        return;
    pn_selftest_at_most(run, "100 pure releases cost no less than their exact value", name, exact, epsilon, 1e-9);
    pn_selftest_at_most(run, "the lower end is below optimal composition", name, low, exact, 1e-9);
}

static void check_full_sample(pn_selftest_run *run, size_t which, const char *name)
{
    double plain = cost(run, gaussian(run, 3.0, PN_ADD_REMOVE), 5, which, delta, NULL);
    double doubled = cost(run, gaussian(run, 1.5, PN_ADD_REMOVE), 5, which, delta, NULL);

    if (isnan(plain))
        return;
    pn_selftest_equal(run, "Poisson sampling at rate 1 is no sampling (add_remove)", name,
                      cost(run, poisson(run, 1.0, 3.0, PN_ADD_REMOVE), 5, which, delta, NULL), plain, 1e-9);
    pn_selftest_equal(run, "Poisson sampling at rate 1 is no sampling (zero_out)", name,
                      cost(run, poisson(run, 1.0, 3.0, PN_ZERO_OUT), 5, which, delta, NULL), plain, 1e-9);
    pn_selftest_equal(run, "Poisson sampling at rate 1 is no sampling (replace_one)", name,
                      cost(run, poisson(run, 1.0, 3.0, PN_REPLACE_ONE), 5, which, delta, NULL), doubled, 1e-9);
    pn_selftest_equal(run, "a batch of everything is no sampling", name,
                      cost(run, fixed(run, 50, 50, 3.0), 5, which, delta, NULL), plain, 1e-9);
}

/* ---- monotone ---- */

static void check_monotone(pn_selftest_run *run, size_t which, const char *name)
{
    double base = cost(run, poisson(run, 0.02, 1.5, PN_ADD_REMOVE), 100, which, delta, NULL);

    if (isnan(base))
        return;
    pn_selftest_at_most(run, "more noise costs less", name,
                        cost(run, poisson(run, 0.02, 1.6, PN_ADD_REMOVE), 100, which, delta, NULL), base, 0.0);
    pn_selftest_at_most(run, "a smaller sample costs less", name,
                        cost(run, poisson(run, 0.018, 1.5, PN_ADD_REMOVE), 100, which, delta, NULL), base, 0.0);
    pn_selftest_at_most(run, "fewer releases cost less", name,
                        cost(run, poisson(run, 0.02, 1.5, PN_ADD_REMOVE), 90, which, delta, NULL), base, 0.0);
    pn_selftest_at_most(run, "a larger delta costs less", name,
                        cost(run, poisson(run, 0.02, 1.5, PN_ADD_REMOVE), 100, which, 2.0 * delta, NULL), base, 0.0);
}

void pn_selftest_exact(pn_selftest_run *run)
{
    for (size_t i = 0; run->accountants[i] && run->status == PN_OK; i++) {
        const char *name = run->accountants[i]->name;

        check_gaussian(run, i, name);
        check_pure(run, i, name);
        check_full_sample(run, i, name);
        check_monotone(run, i, name);
    }
    check_composition(run);
}
