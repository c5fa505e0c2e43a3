/* event_approximate_test.c -- (epsilon, delta)-DP mechanisms: what they cost, which budgets take them,
 * and what is left after.
 * Depends on: check.h, fail_alloc.h, privacy/. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/composition.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_leaf.h"
#include "privacy/ledger/ledger.h"

static pn_event *approximate(double epsilon, double delta)
{
    pn_event *event = NULL;

    CHECK(pn_event_approximate(&event, epsilon, delta, PN_REPLACE_ONE, NULL) == PN_OK);
    return event;
}

static pn_ledger *ledger_of(double epsilon, double delta)
{
    pn_budget budget = { .epsilon = epsilon, .delta = delta, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static bool spends(pn_ledger *ledger, pn_event *event, size_t count)
{
    return pn_ledger_spend(ledger, event, count, "x", NULL) == PN_OK;
}

static void test_costs_its_epsilon_at_its_delta(void)
{
    static const double epsilons[] = { 1e-4, 0.3, 1.0, 7.0, 80.0 },
                        deltas[] = { 1e-300, 1e-12, 1.0 / 3.0e6, 0.01, 0.9 };

    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            pn_event *event = approximate(epsilons[i], deltas[j]);

            CHECK(pn_event_epsilon(event, 1, deltas[j], NULL) == epsilons[i]);
            CHECK(isinf(pn_event_epsilon(event, 1, deltas[j] * 0.999, NULL)));
            CHECK(isinf(pn_event_epsilon(event, 1, 0.0, NULL)));
            CHECK(pn_event_epsilon(event, 1, fmin(0.99, 1.001 * deltas[j]), NULL) <= epsilons[i]);
            pn_event_free(event);
        }
    }
}

/* No bound may be below the exact composition of the optimal pair (Kairouz, Oh, Viswanath 2015). */
static void test_never_below_optimal_composition(void)
{
    static const double totals[] = { 1e-6, 3e-6, 1e-5, 1e-3 };

    for (size_t count = 1; count <= 100; count *= 10) {
        pn_event *event = approximate(0.1, 1e-6 / (double)count);

        for (size_t i = 0; i < 4; i++) {
            double exact = pn_kov_epsilon(0.1, 1e-6 / (double)count, count, totals[i] * (1.0 + 1e-9));
            double got = pn_event_epsilon(event, count, totals[i] * (1.0 + 1e-9), NULL);

            CHECK(got >= exact * (1.0 - 1e-9) && got <= 0.1 * (double)count * (1.0 + 1e-9));
        }
        pn_event_free(event);
    }
}

/* The budget of a plan admits its run, and nothing after it. */
static void test_a_ledger_admits_all_of_its_budget_at_once(void)
{
    static const double epsilons[] = { 0.01, 1.0, 3.0, 100.0 }, deltas[] = { 1e-9, 1.0 / 7.0e5, 0.05 };

    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            pn_ledger *ledger = ledger_of(epsilons[i], deltas[j]);
            pn_event *event = approximate(epsilons[i], deltas[j]), *more = approximate(1e-9, 1e-30);

            CHECK(spends(ledger, event, 1));
            CHECK(pn_ledger_spent(ledger) == epsilons[i] && pn_ledger_slack(ledger).window == deltas[j]);
            CHECK(!spends(ledger, more, 1));
            pn_event_free(more);
            pn_event_free(event);
            pn_ledger_free(ledger);
        }
    }
}

static void test_a_ledger_refuses_a_little_more(void)
{
    static const double too_much[][2] = { { 1.0 + 1e-12, 1e-6 }, { 1.0, 1e-6 * (1.0 + 1e-12) }, { 1e-9, 2e-6 } };

    for (size_t i = 0; i < 3; i++) {
        pn_ledger *ledger = ledger_of(1.0, 1e-6);
        pn_event *event = approximate(too_much[i][0], too_much[i][1]);

        CHECK(!spends(ledger, event, 1) && pn_ledger_entries(ledger) == 0);
        pn_event_free(event);
        pn_ledger_free(ledger);
    }
}

/* Reserved whole, then charged one by one: basic composition up to the last digit of epsilon and delta. */
static void test_parts_of_a_reserved_run_are_admitted(void)
{
    static const size_t counts[] = { 2, 3, 7, 10, 1000 };

    for (size_t i = 0; i < 5; i++) {
        pn_ledger *ledger = ledger_of(1.0, 1e-6);
        pn_event *event = approximate(1.0 / (double)counts[i], 1e-6 / (double)counts[i]);
        bool all = true;

        CHECK(pn_ledger_reserve(ledger, event, counts[i], NULL) == PN_OK);
        for (size_t k = 0; k < counts[i]; k++)
            all = all && spends(ledger, event, 1);
        CHECK(all && !spends(ledger, event, 1));
        pn_event_free(event);
        pn_ledger_free(ledger);
    }
}

/* When a run takes less than nine tenths of delta, Renyi orders keep the rest, for any other event. */
static void test_what_is_left_serves_other_events(void)
{
    static const double takes[] = { 1e-12, 1e-7, 4e-7, 7e-7, 9.8e-7 };

    for (size_t i = 0; i < 5; i++) {
        pn_ledger *ledger = ledger_of(2.0, 1e-6);
        pn_event *run = approximate(0.5, takes[i]), *noise = NULL, *both[2], *together = NULL;
        double before;

        CHECK(pn_event_gaussian(&noise, 20.0, 1.0, 100, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(spends(ledger, run, 1));
        before = pn_ledger_spent(ledger);
        CHECK(before <= 0.5);
        CHECK(spends(ledger, noise, 3) && pn_ledger_spent(ledger) > before);
        while (spends(ledger, noise, 1))
            ;
        both[0] = run;
        both[1] = noise;
        CHECK(pn_event_compose(&together, both, 2, NULL) == PN_OK);
        CHECK(pn_ledger_spent(ledger) <= 2.0 && pn_ledger_slack(ledger).window <= 1e-6);
        CHECK(pn_event_epsilon(together, 1, 1e-6, NULL) > pn_event_epsilon(noise, 1, 1e-6, NULL));
        pn_event_free(together);
        pn_event_free(noise);
        pn_event_free(run);
        pn_ledger_free(ledger);
    }
}

/* Whatever the share: the deltas that were admitted and the part that Renyi orders use are no more than the whole. */
static void test_shares_never_give_more_than_delta(void)
{
    for (size_t i = 0; i < PN_TAIL_SHARES; i++) {
        double share = pn_tail_shares[i], most = 0.0;

        CHECK(share > (i ? pn_tail_shares[i - 1] : 0.0) && share <= 1.0);
        for (double part = 1e-12; part <= 1.0; part *= 1.001) {
            pn_slack slack = { 0.0, part * 1e-6, part * 1e-6 };

            if (pn_tails_fit(slack, 1.0, 1e-6, share, 1.0))
                most = part;
        }
        CHECK(most + (1.0 - share) <= 1.0 && most <= share &&
              (share <= 0.5 ? most <= share / 2.0 : most > 0.98 * share));
    }
    CHECK(pn_tails_fit((pn_slack){ 0.0, 1e-6, 1e-6 }, 1.0, 1e-6, 1.0, 1.0));
    CHECK(!pn_tails_fit((pn_slack){ 1e-12, 1e-6, 1e-6 }, 1.0, 1e-6, 1.0, 1.0));
    CHECK(!pn_tails_fit((pn_slack){ 3.0, 1e-9, 1e-9 }, 1.0, 1e-6, 1.0, 1.0));
    CHECK(pn_tail_shares[PN_TAIL_SHARES - 1] == 1.0);
}

static void check_refusal(pn_budget budget, pn_event *first, const char *says)
{
    pn_event *event = approximate(0.1, 1e-7);
    pn_ledger *ledger = NULL;
    pn_err err;

    budget.neighbours = PN_REPLACE_ONE;
    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    CHECK(!first || spends(ledger, first, 1));
    CHECK(pn_ledger_spend(ledger, event, 1, "x", &err) == PN_EBUDGET);
    if (!CHECK(strstr(err.message, says) != NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
    CHECK(pn_ledger_entries(ledger) == (first ? 1 : 0));
    pn_ledger_free(ledger);
    pn_event_free(event);
}

static void test_budgets_without_a_place_for_its_delta_say_so(void)
{
    static const double orders[] = { 8.0, 16.0 };
    pn_event *noise = NULL;

    CHECK(pn_event_gaussian(&noise, 20.0, 1.0, 0, PN_REPLACE_ONE, NULL) == PN_OK);
    check_refusal((pn_budget){ .epsilon = NAN, .rho = 1.0 }, NULL, "takes delta 1e-07, and a budget of rho has none");
    check_refusal((pn_budget){ .epsilon = 1.0, .rho = NAN, .alpha = 4.0 }, NULL,
                  "a budget of one Renyi order has none");
    check_refusal((pn_budget){ .epsilon = 1.0, .rho = NAN, .alpha = INFINITY }, NULL, "one Renyi order has none");
    check_refusal((pn_budget){ .epsilon = 1.0, .rho = NAN }, NULL, "a budget of pure epsilon has none");
    check_refusal((pn_budget){ .epsilon = 1.0, .delta = 1e-6, .rho = NAN, .gaussian = true }, NULL,
                  "admits gaussian events only");
    check_refusal((pn_budget){ .epsilon = 2.0, .delta = 1e-6, .rho = NAN, .orders = orders, .order_count = 2 }, NULL,
                  "when the ledger was opened with orders");
    check_refusal((pn_budget){ .epsilon = 2.0, .delta = 1e-6, .rho = NAN }, noise, "at the first charge");
    check_refusal((pn_budget){ .epsilon = 2.0, .delta = 1e-8, .rho = NAN }, NULL, "Requested delta 1e-07");
    pn_event_free(noise);
}

static void test_has_no_other_bound(void)
{
    pn_event *event = approximate(0.5, 1e-7), *twice = NULL, *bad = NULL;

    CHECK(isinf(event->ops->zcdp(event)));
    CHECK(event->ops->rdp(event, INFINITY) == 0.5);
    CHECK(pn_event_repeated(&twice, event, 2, NULL) == PN_OK);
    CHECK(pn_event_own_delta(twice, 3) == 6e-7 && pn_event_own_delta(event, 1) == 1e-7);
    CHECK(pn_event_poisson_sampled(&bad, 0.1, event, PN_REPLACE_ONE, NULL) == PN_EUNSUPPORTED);
    CHECK(pn_event_approximate(&bad, 0.5, 0.0, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(pn_event_approximate(&bad, 0.5, 1.0, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(pn_event_approximate(&bad, INFINITY, 0.1, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(!bad);
    pn_event_free(twice);
    pn_event_free(event);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_budget budget = { .epsilon = 1.0, .delta = 1e-6, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    pn_event *event = NULL;
    pn_ledger *ledger = NULL;
    pn_status status = pn_event_approximate(&event, 1.0, 1e-6, PN_REPLACE_ONE, err);

    (void)self;
    if (status == PN_OK)
        status = pn_ledger_new(&ledger, &budget, err);
    if (status == PN_OK)
        status = pn_ledger_spend(ledger, event, 1, "x", err);
    pn_ledger_free(ledger);
    pn_event_free(event);
    return status;
}

int main(void)
{
    test_costs_its_epsilon_at_its_delta();
    test_never_below_optimal_composition();
    test_a_ledger_admits_all_of_its_budget_at_once();
    test_a_ledger_refuses_a_little_more();
    test_parts_of_a_reserved_run_are_admitted();
    test_what_is_left_serves_other_events();
    test_shares_never_give_more_than_delta();
    test_budgets_without_a_place_for_its_delta_say_so();
    test_has_no_other_bound();
    fail_alloc_sweep("an (epsilon, delta) mechanism", scenario, NULL);
    return check_summary();
}
