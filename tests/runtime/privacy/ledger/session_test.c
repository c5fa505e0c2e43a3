/* session_test.c -- what a session counts: equal releases together, refused ones not at all, runs without a ledger of
 * the caller's as their whole plan; and the limits that data sets may have.
 * Depends on: check.h, fail_alloc.h, privacy/ledger/session.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/event_leaf.h"
#include "privacy/ledger/session.h"
#include "privacy/ledger/session_text.h"

static pn_event *gaussian(double sigma, pn_neighbours relation)
{
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, sigma, 1.0, 1, relation, NULL) == PN_OK);
    return event;
}

static pn_ledger *ledger_of(double epsilon, double delta)
{
    pn_budget budget = { .epsilon = epsilon, .delta = delta, .rho = NAN };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static pn_bill *account_of(pn_session *session, uint64_t content)
{
    pn_origin *origin = NULL;
    pn_bill *account = NULL;

    CHECK(pn_origin_new(&origin, (pn_content){ { content, 7 } }, 1000, "people.csv", NULL) == PN_OK);
    CHECK(pn_session_account(session, origin, &account, NULL) == PN_OK);
    CHECK(pn_session_find(session, origin) == account);
    pn_origin_free(origin);
    return account;
}

/* ---- tallies ---- */

static void test_equal_events_are_one_entry(void)
{
    pn_tally tally = { 0 };
    double delta = 1e-6, epsilon = 0.0;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++) { /* made anew each time, in turns */
            pn_event *event = gaussian(50.0 + i, PN_REPLACE_ONE);

            CHECK(pn_tally_add(&tally, event, 3, NULL) == PN_OK);
            pn_event_free(event);
        }
    }
    CHECK(tally.count == 500 && tally.room == 512);
    for (size_t i = 0; i < tally.count; i++)
        CHECK(tally.entry[i].count == 60);
    pn_tally_clear(&tally);

    for (int i = 0; i < 1000; i++) {
        pn_event *event = gaussian(100.0, PN_REPLACE_ONE);

        CHECK(pn_tally_add(&tally, event, 1, NULL) == PN_OK);
        pn_event_free(event);
    }
    CHECK(tally.count == 1);
    CHECK(pn_tally_epsilon(&tally, &delta, &epsilon, NULL) == PN_OK);
    CHECK(delta == 1e-6 && epsilon == pn_event_epsilon(tally.entry[0].event, 1000, 1e-6, NULL));
    CHECK_CLOSE(pn_tally_rho(&tally), 1000 * 0.5e-4, 1e-12);
    pn_tally_clear(&tally);
}

/* Events within events and vectors, of which a hash might see too little or too much. */
static void test_equal_events_have_equal_hashes(void)
{
    pn_tally tally = { 0 };

    for (int round = 0; round < 3; round++) {
        pn_event *inner = gaussian(2.0, PN_REPLACE_ONE), *sampled = NULL, *twice = NULL;

        CHECK(pn_event_fixed_sampled(&sampled, 10, 1000, inner, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(pn_event_compose(&twice, (pn_event *[]){ inner, sampled }, 2, NULL) == PN_OK);
        CHECK(pn_tally_add(&tally, inner, 1, NULL) == PN_OK);
        CHECK(pn_tally_add(&tally, sampled, 1, NULL) == PN_OK);
        CHECK(pn_tally_add(&tally, twice, 1, NULL) == PN_OK);
        pn_event_free(twice);
        pn_event_free(sampled);
        pn_event_free(inner);
    }
    CHECK(tally.count == 3);
    pn_tally_clear(&tally);
}

/* (epsilon, delta)-DP mechanisms bring their deltas along. */
static void test_deltas_of_their_own_add_up(void)
{
    pn_tally tally = { 0 };
    pn_event *approximate = NULL, *noise = gaussian(5.0, PN_REPLACE_ONE);
    double delta = 1e-6, epsilon = 0.0;

    CHECK(pn_event_approximate(&approximate, 1.0, 1e-6, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_tally_add(&tally, approximate, 1, NULL) == PN_OK);
    CHECK(pn_tally_epsilon(&tally, &delta, &epsilon, NULL) == PN_OK);
    CHECK(delta == 1e-6 && epsilon == 1.0);
    CHECK(pn_tally_add(&tally, approximate, 1, NULL) == PN_OK);
    CHECK(pn_tally_epsilon(&tally, &delta, &epsilon, NULL) == PN_OK);
    CHECK(delta == 2e-6 && epsilon == 2.0);
    CHECK(pn_tally_add(&tally, noise, 1, NULL) == PN_OK);
    delta = 1e-6;
    CHECK(pn_tally_epsilon(&tally, &delta, &epsilon, NULL) == PN_OK);
    CHECK(fabs(delta - 3e-6) < 1e-20 && epsilon < 2.0 + 1.1 * pn_event_epsilon(noise, 1, 1e-6, NULL));
    pn_tally_clear(&tally);
    pn_event_free(noise);
    pn_event_free(approximate);
}

/* ---- spending ---- */

static void test_what_is_refused_does_not_count(void)
{
    pn_session *session = NULL;
    pn_bill *account;
    pn_ledger *ledger = ledger_of(0.5, 1e-6);
    pn_event *small = gaussian(20.0, PN_REPLACE_ONE), *large = gaussian(0.5, PN_REPLACE_ONE);
    pn_spending spending;
    pn_status status;

    CHECK(pn_session_new(&session, NULL) == PN_OK);
    account = account_of(session, 1);
    pn_spending_init(&spending, account, false);
    status = PN_SPENDING(&spending, pn_ledger_spend(ledger, large, 1, "x", NULL));
    CHECK(status == PN_EBUDGET && account->releases[0] == 0 && account->tally[0].count == 0);
    status = PN_SPENDING(&spending, pn_ledger_spend(ledger, small, 1, "x", NULL));
    CHECK(status == PN_OK && account->releases[0] == 1);
    status = PN_SPENDING(&spending, pn_ledger_spend(ledger, small, 1, "x", NULL));
    CHECK(status == PN_OK && account->releases[0] == 1); /* one run */
    CHECK(account->tally[0].count == 1 && account->tally[0].entry[0].count == 2);
    CHECK(pn_ledger_spend(ledger, small, 1, "by hand", NULL) == PN_OK); /* nobody watches */
    CHECK(account->tally[0].entry[0].count == 2);
    pn_event_free(small);
    pn_event_free(large);
    pn_ledger_free(ledger);
    pn_session_free(session);
}

/* A run without a ledger counts as its plan from the first charge on; seeded noise by number alone. */
static void test_whole_plans_and_simulations(void)
{
    pn_session *session = NULL;
    pn_bill *account;
    pn_ledger *ledger = ledger_of(10.0, 1e-6);
    pn_event *event = gaussian(20.0, PN_ZERO_OUT), *step = gaussian(20.0, PN_REPLACE_ONE);
    pn_spending run, seeded, nobody;
    pn_status status;

    CHECK(pn_session_new(&session, NULL) == PN_OK);
    account = account_of(session, 1);
    pn_spending_init(&run, account, false);
    run.whole = event;
    run.times = 30;
    pn_spending_init(&seeded, account, true);
    pn_spending_init(&nobody, NULL, false);
    status = PN_SPENDING(&run, PN_SPENDING(&nobody, pn_ledger_spend(ledger, step, 1, "", NULL)));
    CHECK(status == PN_OK && account->releases[PN_ZERO_OUT] == 0);
    for (int i = 0; i < 5; i++) {
        status = PN_SPENDING(&run, pn_ledger_spend(ledger, step, 1, "", NULL));
        CHECK(status == PN_OK);
        status = PN_SPENDING(&seeded, pn_ledger_spend(ledger, step, 1, "", NULL));
        CHECK(status == PN_OK);
    }
    CHECK(account->releases[PN_ZERO_OUT] == 1 && account->releases[PN_REPLACE_ONE] == 0 && account->simulated == 1);
    CHECK(account->tally[PN_ZERO_OUT].count == 1 && account->tally[PN_ZERO_OUT].entry[0].count == 30);
    pn_event_free(step);
    pn_event_free(event);
    pn_ledger_free(ledger);
    pn_session_free(session);
}

static pn_status refuse(void *self, const pn_ledger *ledger, pn_event *event, size_t count, pn_err *err)
{
    (void)self, (void)ledger, (void)event, (void)count;
    return pn_fail(err, PN_ENOMEM, "no");
}

static void test_who_watches_may_refuse(void)
{
    pn_ledger *ledger = ledger_of(1.0, 1e-6);
    pn_event *event = gaussian(20.0, PN_REPLACE_ONE);
    pn_ledger_watch watch = { refuse, NULL };

    CHECK(pn_ledger_watched(&watch) == NULL);
    CHECK(pn_ledger_spend(ledger, event, 1, "x", NULL) == PN_ENOMEM);
    CHECK(pn_ledger_watched(NULL) == &watch);
    CHECK(pn_ledger_entries(ledger) == 0 && pn_ledger_spent(ledger) == 0.0);
    CHECK(pn_ledger_spend(ledger, event, 1, "x", NULL) == PN_OK && pn_ledger_entries(ledger) == 1);
    pn_event_free(event);
    pn_ledger_free(ledger);
}

/* ---- limits ---- */

static void test_a_limit_counts_what_was_before(void)
{
    pn_session *session = NULL;
    pn_bill *account;
    pn_ledger *tight = ledger_of(0.1, 1e-6), *wide = ledger_of(3.0, 1e-6), *other = ledger_of(3.0, 1e-6), *slice = NULL,
              *out = NULL;
    pn_event *event = gaussian(10.0, PN_REPLACE_ONE);
    pn_budget small = { .epsilon = 0.5, .delta = 1e-6, .rho = NAN };
    pn_err err;

    CHECK(pn_session_new(&session, NULL) == PN_OK);
    account = account_of(session, 1);
    CHECK(pn_bill_ledger(account, NULL, "run", &out, NULL) == PN_OK && out == NULL);
    CHECK(pn_bill_ledger(NULL, other, "run", &out, NULL) == PN_OK && out == other);
    CHECK(pn_tally_add(&account->tally[0], event, 5, NULL) == PN_OK);
    CHECK(pn_bill_limit(account, tight, &err) == PN_EBUDGET && account->budget == NULL);
    CHECK(strstr(err.message, "has spent already") != NULL);
    CHECK(pn_ledger_entries(tight) == 0);
    CHECK(pn_bill_limit(account, wide, &err) == PN_OK && account->budget == wide);
    CHECK_CLOSE(pn_ledger_spent(wide), pn_event_epsilon(event, 5, 1e-6, NULL), 1e-9);
    CHECK(pn_bill_limit(account, other, &err) == PN_EINVAL);
    CHECK(pn_bill_ledger(account, NULL, "run", &out, NULL) == PN_OK && out == wide);
    CHECK(pn_bill_ledger(account, other, "run", &out, &err) == PN_EPRIVACY);
    CHECK(strncmp(err.message, "run: \"people.csv\" has a budget", 30) == 0);
    CHECK(pn_ledger_slice(&slice, wide, "a", &small, NULL) == PN_OK);
    CHECK(pn_bill_ledger(account, slice, "run", &out, NULL) == PN_OK && out == slice);
    CHECK(pn_bill_ledger(account_of(session, 2), other, "run", &out, NULL) == PN_OK && out == other);
    pn_event_free(event);
    pn_ledger_free(slice);
    pn_ledger_free(tight);
    pn_ledger_free(wide);
    pn_ledger_free(other);
    pn_session_free(session);
}

static void test_a_limit_has_the_relation_of_what_was_before(void)
{
    pn_session *session = NULL;
    pn_bill *account;
    pn_ledger *ledger = ledger_of(3.0, 1e-6);
    pn_event *event = gaussian(10.0, PN_ZERO_OUT);
    pn_err err;

    CHECK(pn_session_new(&session, NULL) == PN_OK);
    account = account_of(session, 1);
    CHECK(pn_tally_add(&account->tally[PN_ZERO_OUT], event, 1, NULL) == PN_OK);
    CHECK(pn_bill_limit(account, ledger, &err) == PN_EPRIVACY && account->budget == NULL);
    CHECK(strstr(err.message, "give neighbours=\"zero_out\"") != NULL);
    pn_event_free(event);
    pn_ledger_free(ledger);
    pn_session_free(session);
}

static void test_many_data_sets(void)
{
    pn_session *session = NULL;
    pn_bill *first;

    CHECK(pn_session_new(&session, NULL) == PN_OK);
    first = account_of(session, 1);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 1; i <= 1000; i++)
            (void)account_of(session, i);
    }
    CHECK(pn_session_count(session) == 1000 && account_of(session, 1) == first && pn_session_at(session, 0) == first);
    CHECK(pn_bill_delta(first) == 1e-6);
    pn_session_free(session);
    pn_session_free(NULL);
}

/* ---- as text ---- */

static void test_a_text_counts_elsewhere(void)
{
    pn_session *here = NULL, *there = NULL;
    pn_bill *first, *second, *got;
    pn_event *event = gaussian(10.1, PN_REPLACE_ONE), *other = gaussian(3.7, PN_ZERO_OUT);
    pn_text text = { 0 };
    pn_err err;

    CHECK(pn_session_new(&here, NULL) == PN_OK && pn_session_new(&there, NULL) == PN_OK);
    CHECK(pn_session_write(here, &text, NULL) == PN_OK && text.data == NULL);
    first = account_of(here, UINT64_MAX);
    second = account_of(here, 2);
    (void)account_of(here, 3);
    CHECK(pn_tally_add(&first->tally[PN_REPLACE_ONE], event, 3, NULL) == PN_OK);
    CHECK(pn_tally_add(&first->tally[PN_ZERO_OUT], other, 1, NULL) == PN_OK);
    first->releases[PN_REPLACE_ONE] = first->releases[PN_ZERO_OUT] = 1;
    second->exact = 4;
    second->simulated = 5;
    CHECK(pn_session_write(here, &text, NULL) == PN_OK);
    for (int i = 1; i <= 2; i++) {
        CHECK(pn_session_absorb(there, text.data, &err) == PN_OK);
        got = account_of(there, UINT64_MAX);
        CHECK(pn_session_count(there) == 2 && got->releases[PN_REPLACE_ONE] == (size_t)i);
        CHECK(got->tally[0].count == 1 && got->tally[0].entry[0].count == 3 * (size_t)i);
        CHECK(pn_event_same(got->tally[PN_ZERO_OUT].entry[0].event, other));
        CHECK(account_of(there, 2)->exact == 4 * (size_t)i && account_of(there, 2)->simulated == 5 * (size_t)i);
        CHECK(strcmp(pn_origin_name(got->origin), "people.csv") == 0 && pn_origin_records(got->origin) == 1000);
    }
    for (size_t cut = 1; cut < strlen(text.data); cut++) { /* whatever is cut off or changed, it is no crash */
        char kept = text.data[cut];

        text.data[cut] = '\0';
        (void)pn_session_absorb(there, text.data, &err);
        text.data[cut] = '!';
        (void)pn_session_absorb(there, text.data, &err);
        text.data[cut] = kept;
    }
    pn_session_restart(here);
    CHECK(first->tally[0].count == 0 && first->releases[0] == 0 && second->exact == 0 && pn_session_count(here) == 3);
    pn_text_clear(&text);
    pn_event_free(event);
    pn_event_free(other);
    pn_session_free(here);
    pn_session_free(there);
}

/* ---- memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    pn_session *session = NULL;
    pn_origin *origin = NULL;
    pn_bill *account = NULL;
    pn_event *event = NULL;
    double delta, epsilon;
    pn_status status = pn_session_new(&session, err);

    (void)self;
    if (status == PN_OK)
        status = pn_origin_new(&origin, (pn_content){ { 1, 2 } }, 10, "x", err);
    if (status == PN_OK)
        status = pn_session_account(session, origin, &account, err);
    for (int i = 0; i < 20 && status == PN_OK; i++) {
        pn_event_free(event);
        event = NULL;
        status = pn_event_gaussian(&event, 10.0 + i, 1.0, 1, PN_REPLACE_ONE, err);
        if (status == PN_OK)
            status = pn_tally_add(&account->tally[0], event, 1, err);
    }
    if (status == PN_OK)
        status = pn_bill_price(account, PN_REPLACE_ONE, &delta, &epsilon, err);
    pn_event_free(event);
    pn_origin_free(origin);
    pn_session_free(session);
    return status;
}

int main(void)
{
    test_equal_events_are_one_entry();
    test_equal_events_have_equal_hashes();
    test_deltas_of_their_own_add_up();
    test_what_is_refused_does_not_count();
    test_whole_plans_and_simulations();
    test_who_watches_may_refuse();
    test_a_limit_counts_what_was_before();
    test_a_limit_has_the_relation_of_what_was_before();
    test_many_data_sets();
    test_a_text_counts_elsewhere();
    fail_alloc_sweep("session", scenario, NULL);
    return check_summary();
}
