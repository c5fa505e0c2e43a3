/* ledger_test.c -- what Lua cannot reach: every allocation of an accountant's and a ledger's life may fail, the
 * conversions at one order, and sums that are exact.  Depends on: check.h, fail_alloc.h, privacy/.
 * Numbers: accounting.md item 9. */
#include <float.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/event_curve.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_link.h"

static void test_conversion_at_one_order(void)
{
    static const double order[] = { 10.0, 16.0, 32.0, 64.0 };
    static const double budget[] = { -0.149059697, 0.343219969, 0.705083179, 0.866010517 };

    for (size_t i = 0; i < 4; i++)
        CHECK_CLOSE(pn_rdp_budget(order[i], 1.0, 1e-5 / 8.0), budget[i], 6e-10);
    CHECK(pn_rdp_budget(INFINITY, 1.0, 1e-5) == 1.0);
    CHECK(pn_rdp_epsilon(INFINITY, 0.7, 1e-5) == 0.7);
    CHECK(isinf(pn_rdp_epsilon(4.0, INFINITY, 1e-5)));
    CHECK(isinf(pn_rdp_epsilon(4.0, 0.1, 0.0)));
    CHECK(pn_rdp_epsilon(4.0, 0.0, 0.99) == 0.0);
    for (double alpha = 1.0009765625; alpha < 1e6; alpha *= 1.7) {
        for (double epsilon = 1e-3; epsilon < 100.0; epsilon *= 3.0) {
            double rdp = pn_rdp_budget(alpha, epsilon, 1e-6);

            CHECK(rdp <= 0.0 || pn_rdp_epsilon(alpha, rdp, 1e-6) <= epsilon);
            CHECK(rdp <= 0.0 || pn_rdp_epsilon(alpha, rdp * (1.0 + 1e-9) + 1e-9, 1e-6) > epsilon);
        }
    }
}

/* 0.1 is not a tenth, so ten naive additions give 0.99999999999999989. */
static void test_sums_are_exact(void)
{
    pn_sum grouped = { 0.0, 0.0 }, single = { 0.0, 0.0 }, none = { 0.0, 0.0 };

    pn_sum_add(&grouped, 1e6, 0.1);
    for (int i = 0; i < 1000000; i++)
        pn_sum_add(&single, 1.0, 0.1);
    CHECK(grouped.high == single.high && grouped.low == single.low);
    CHECK(grouped.high == 1e5);
    pn_sum_add(&single, 1.0, INFINITY);
    pn_sum_add(&single, 5.0, 0.1);
    CHECK(isinf(single.high) && !isnan(single.low));
    pn_sum_add(&none, 0.0, 1.0);
    CHECK(none.high == 0.0 && none.low == 0.0);
}

static void test_calibration_refuses_nonsense(void)
{
    double order = 0.0;

    CHECK(isnan(pn_calibrate_gaussian_releases(&(pn_gaussian_releases){ 1.0, 1e-6, NAN, 0.0, 1.0, 3, 2 })));
    CHECK(isnan(pn_calibrate_gaussian_releases(&(pn_gaussian_releases){ 1.0, 1e-6, 0.5, 0.0, 1.0, 3, 2 })));
    CHECK(isnan(pn_calibrate_exponential(0.0, 1e-6, 1, true, NULL)));
    CHECK(isnan(pn_calibrate_exponential(NAN, 1e-6, 1, true, NULL)));
    CHECK(isnan(pn_calibrate_exponential(1.0, 1.0, 1, true, NULL)));
    CHECK(isnan(pn_calibrate_exponential(1.0, 1e-6, 0, true, NULL)));
    CHECK(isnan(pn_calibrate_exponential_rho(-1.0, 1, true)));
    CHECK(pn_calibrate_exponential(0.5, 0.0, 1, true, &order) == 0.5 && isinf(order));
}

/* ---- every allocation fails once ---- */

static pn_status use_ledger(pn_ledger *ledger, pn_event *event, pn_err *err)
{
    pn_ledger *parts[3] = { NULL, NULL, NULL };
    pn_status status = pn_ledger_split(ledger, 3, parts, err);
    static const char *const labels[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };

    for (size_t i = 0; status == PN_OK && i < 10; i++) {
        double before = pn_ledger_spent(parts[0]);

        status = pn_ledger_spend(parts[0], event, 1, labels[i], err);
        CHECK(status == PN_OK || pn_ledger_spent(parts[0]) == before); /* a failure charges nothing */
    }
    for (size_t i = 0; i < 3; i++)
        pn_ledger_free(parts[i]);
    return status;
}

static pn_status ledger_scenario(void *self, pn_err *err)
{
    static const double orders[] = { 8, 16, 24, 32, 40, 48, 56, 64, 72 };
    pn_budget budget = { .epsilon = 10.0, .delta = 1e-5, .rho = NAN, .orders = orders, .order_count = 9 };
    pn_event *one = NULL, *both = NULL, *many = NULL;
    pn_ledger *ledger = NULL;
    pn_status status = pn_event_exponential(&one, 0.01, PN_REPLACE_ONE, err);

    (void)self;
    if (status == PN_OK)
        status = pn_event_compose(&both, (pn_event *[]){ one, one, one }, 3, err);
    if (status == PN_OK)
        status = pn_event_repeated(&many, both, 4, err);
    if (status == PN_OK)
        status = pn_ledger_new(&ledger, &budget, err);
    if (status == PN_OK)
        status = use_ledger(ledger, many, err);
    pn_ledger_free(ledger);
    pn_event_free(many);
    pn_event_free(both);
    pn_event_free(one);
    return status;
}

/* Both ends in one process. */
static pn_status ask(void *self, const pn_ledger_question *question, pn_ledger_answer *answer, pn_err *err)
{
    (void)err;
    pn_ledger_answer_to(self, question, answer);
    return PN_OK;
}

static pn_status link_scenario(void *self, pn_err *err)
{
    const pn_budget budget = { .epsilon = 1.0, .delta = 0.0, .rho = NAN };
    pn_ledger *real = NULL, *linked = NULL;
    pn_event *event = NULL;
    pn_status status = pn_event_exponential(&event, 0.01, PN_REPLACE_ONE, err);

    (void)self;
    if (status == PN_OK)
        status = pn_ledger_new(&real, &budget, err);
    if (status == PN_OK)
        status = pn_ledger_linked(&linked, &budget, ask, real, err);
    if (status == PN_OK) {
        status = pn_ledger_spend(linked, event, 3, "three", err);
        CHECK((status == PN_OK) == (pn_ledger_spent(real) > 0.0)); /* a failure charges nothing */
    }
    pn_ledger_free(linked);
    pn_ledger_free(real);
    pn_event_free(event);
    return status;
}

static pn_status accountant_scenario(void *self, pn_err *err)
{
    pn_accountant *accountant = NULL;
    double epsilon;
    pn_status status = pn_accountant_from_args(&accountant, self, NULL, err);

    for (int i = 1; status == PN_OK && i <= 20; i++) {
        pn_event *event = NULL;

        status = pn_event_exponential(&event, 0.01 * i, PN_REPLACE_ONE, err);
        if (status == PN_OK)
            status = pn_accountant_add(accountant, event, 2, err);
        pn_event_free(event);
    }
    if (status == PN_OK)
        status = accountant->ops->epsilon(accountant, 1e-6, &epsilon, NULL, err);
    if (status == PN_OK)
        CHECK(accountant->events == 20 && epsilon > 0.0);
    pn_accountant_free(accountant);
    return status;
}

/* ---- messages and relations ---- */

static void test_unknown_names(void)
{
    pn_event *event = NULL;
    pn_accountant *accountant = NULL;
    pn_err err;

    CHECK(pn_event_from_args(&event, "cauchy", NULL, PN_REPLACE_ONE, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "pn_event_from_args: there is no event \"cauchy\"") &&
          strstr(err.message, "exponential, report_noisy_max"));
    CHECK(pn_accountant_from_args(&accountant, "abacus", NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "pn_accountant_from_args: there is no accountant \"abacus\"; known are rdp, zcdp") !=
          NULL);
}

static void test_event_outlives_its_maker(void)
{
    pn_budget budget = { .epsilon = 1.0, .delta = 0.0, .rho = NAN };
    pn_ledger *ledger = NULL;
    pn_event *event = NULL;

    CHECK(pn_event_exponential(&event, 0.25, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 2, NULL, NULL) == PN_OK);
    pn_event_free(event);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 2);
    CHECK(pn_ledger_entry(ledger, 0).event->ops->zcdp(pn_ledger_entry(ledger, 0).event) == 0.0078125);
    CHECK(pn_ledger_keep(ledger) == ledger);
    pn_ledger_free(ledger);
    CHECK(pn_ledger_remaining(ledger) == 0.5);
    pn_ledger_free(ledger);
}

int main(void)
{
    char rdp[] = "rdp", zcdp[] = "zcdp";

    test_conversion_at_one_order();
    test_sums_are_exact();
    test_calibration_refuses_nonsense();
    test_unknown_names();
    test_event_outlives_its_maker();
    fail_alloc_sweep("ledger", ledger_scenario, NULL);
    fail_alloc_sweep_all("linked ledger", link_scenario, NULL);
    fail_alloc_sweep("rdp accountant", accountant_scenario, rdp);
    fail_alloc_sweep("zcdp accountant", accountant_scenario, zcdp);
    return check_summary();
}
