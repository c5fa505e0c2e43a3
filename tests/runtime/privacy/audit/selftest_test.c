/* selftest_test.c -- the self-test holds, and notices what is wrong: events and accountants with one lie each.
 * Depends on: check.h, fail_alloc.h, privacy/. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/audit/selftest.h"

typedef struct tally {
    size_t passed, failed;
    const char *wanted; /* a claim ... */
    size_t caught;      /* ... and how often it failed */
    bool show;
} tally;

static pn_status count_row(void *self, const pn_selftest_row *row, pn_err *err)
{
    tally *t = self;

    (void)err;
    if (row->passed)
        t->passed++;
    else
        t->failed++;
    if (!row->passed && t->wanted && strcmp(row->claim, t->wanted) == 0)
        t->caught++;
    if (!row->passed && t->show)
        (void)fprintf(stderr, "    %s: %s: %.17g against %.17g\n", row->subject, row->claim, row->got, row->want);
    return PN_OK;
}

static void test_all_is_well(void)
{
    tally t = { .show = true };

    CHECK(pn_selftest(NULL, NULL, count_row, &t, NULL) == PN_OK);
    CHECK(t.failed == 0);
    CHECK(t.passed > 400);
}

/* ---- wrong events ---- */

static pn_event_ops wrong_event;

static const pn_event_ops *find_event(const char *name)
{
    const pn_event_ops *const *table = pn_event_table();

    while (strcmp((*table)->name, name) != 0)
        table++;
    return *table;
}

static pn_status create_wrong(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_status status = find_event("pure")->create(out, args, neighbours, err);

    if (status == PN_OK)
        (*out)->ops = &wrong_event;
    return status;
}

static double half_rdp(const pn_event *self, double alpha)
{
    return 0.1 * find_event("pure")->rdp(self, alpha);
}

static double large_rdp(const pn_event *self, double alpha)
{
    return 1.0 / alpha + find_event("pure")->rdp(self, alpha);
}

static const pn_accountant_ops *find_accountant(const char *name)
{
    const pn_accountant_ops *const *table = pn_accountant_table();

    while (strcmp((*table)->name, name) != 0)
        table++;
    return *table;
}

/* Of what the events say themselves, one accountant is enough; lower ends are certified by another. */
static size_t caught_event(const char *name, double (*rdp)(const pn_event *, double), const char *claim, bool certified)
{
    const pn_event_ops *const events[] = { &wrong_event, NULL };
    const pn_accountant_ops *const rdp_alone[] = { find_accountant("rdp"), NULL };
    tally t = { .wanted = claim };

    wrong_event = *find_event("pure");
    wrong_event.name = name;
    wrong_event.create = create_wrong;
    if (rdp)
        wrong_event.rdp = rdp;
    CHECK(pn_selftest(events, certified ? NULL : rdp_alone, count_row, &t, NULL) == PN_OK);
    CHECK(t.failed > 0);
    return t.caught;
}

static void test_wrong_events_are_caught(void)
{
    CHECK(caught_event("pure", half_rdp, "no accountant is below the certified lower end", true) > 0);
    CHECK(caught_event("pure", large_rdp, "Renyi divergence grows with its order", false) > 0);
    CHECK(caught_event("brand_new", NULL, "the self-test has sample parameters", false) == 1);
}

/* ---- wrong accountants ---- */

static pn_accountant_ops wrong_accountant;

static pn_status create_wrong_accountant(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    pn_status status = find_accountant("rdp")->create(out, args, err);

    if (status == PN_OK)
        (*out)->ops = &wrong_accountant;
    return status;
}

static pn_status add_ignoring_count(pn_accountant *self, pn_event *event, size_t count, pn_err *err)
{
    (void)count;
    return find_accountant("rdp")->add(self, event, 1, err);
}

static pn_status epsilon_too_small(const pn_accountant *self, double delta, double *epsilon, double *order, pn_err *err)
{
    pn_status status = find_accountant("rdp")->epsilon(self, delta, epsilon, order, err);

    *epsilon *= 0.5;
    return status;
}

/* Alone, with every event; or beside the one that certifies lower ends, the dearest by far, with two events. */
static size_t caught_accountant(const char *claim, bool certified)
{
    const pn_accountant_ops *const both[] = { &wrong_accountant, certified ? find_accountant("pld") : NULL, NULL };
    const pn_event_ops *const two[] = { find_event("pure"), find_event("gaussian"), NULL };
    tally t = { .wanted = claim };

    CHECK(pn_selftest(certified ? two : NULL, both, count_row, &t, NULL) == PN_OK);
    CHECK(t.failed > 0);
    return t.caught;
}

static void test_wrong_accountants_are_caught(void)
{
    wrong_accountant = *find_accountant("rdp");
    wrong_accountant.create = create_wrong_accountant;
    wrong_accountant.add = add_ignoring_count;
    CHECK(caught_accountant("count k equals k times", false) >= 10); /* with every event of the table */
    wrong_accountant.add = find_accountant("rdp")->add;
    wrong_accountant.epsilon = epsilon_too_small;
    CHECK(caught_accountant("no accountant is below the certified lower end", true) > 0);
    CHECK(caught_accountant("100 Gaussians cost no less than their exact value", true) == 1);
}

static pn_status stop(void *self, const pn_selftest_row *row, pn_err *err)
{
    (void)row;
    ++*(int *)self;
    return pn_fail(err, PN_ECALLBACK, "enough");
}

static void test_the_callback_may_stop(void)
{
    int calls = 0;
    pn_err err;

    CHECK(pn_selftest(NULL, NULL, stop, &calls, &err) == PN_ECALLBACK);
    CHECK(calls == 1);
}

int main(void)
{
    test_all_is_well();
    test_wrong_events_are_caught();
    test_wrong_accountants_are_caught();
    test_the_callback_may_stop();
    return check_summary();
}
