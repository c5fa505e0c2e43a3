/* selftest.c -- every event under every accountant.
 * Depends on: selftest_internal.h, event_leaf.h.  Used by: bindings, hosts, tests.  See accounting.md, item 8. */
#include "privacy/audit/selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/audit/selftest_internal.h"
#include "privacy/event/event_leaf.h"

enum { TIMES = 7 };
static const double delta = 1e-5;

/* ---- rows ---- */

static void row(pn_selftest_run *run, const char *claim, const char *subject, double got, double want, bool passed)
{
    pn_selftest_row one = { claim, subject, got, want, passed };

    if (run->status == PN_OK)
        run->status = run->report(run->self, &one, run->err);
}

void pn_selftest_at_most(pn_selftest_run *run, const char *claim, const char *subject, double got, double want,
                         double slack)
{
    row(run, claim, subject, got, want, got <= want || got <= want + slack * fabs(want));
}

void pn_selftest_equal(pn_selftest_run *run, const char *claim, const char *subject, double got, double want,
                       double slack)
{
    row(run, claim, subject, got, want, got == want || fabs(got - want) <= slack * fabs(want));
}

/* ---- sample events ---- */

typedef struct sample {
    const char *name;
    double values[PN_LEAF_VALUES]; /* 0: left out; a vector takes two */
    double inner;                  /* sigma of a Gaussian that is the parameter `event`, 0 for none */
    pn_neighbours neighbours;
} sample;

static const sample samples[] = {
    { "exponential", { 0.1 }, 0.0, PN_REPLACE_ONE },
    { "report_noisy_max", { 20.0, 1.0 }, 0.0, PN_REPLACE_ONE },
    { "pure", { 0.1 }, 0.0, PN_REPLACE_ONE },
    { "approximate", { 0.1, 1e-20 }, 0.0, PN_REPLACE_ONE },
    { "laplace", { 10.0, 1.0 }, 0.0, PN_REPLACE_ONE },
    { "gaussian", { 5.0, 1.0 }, 0.0, PN_REPLACE_ONE },
    { "zcdp", { 0.01 }, 0.0, PN_REPLACE_ONE },
    { "rdp", { 8.0, 0.05 }, 0.0, PN_REPLACE_ONE },
    { "curve", { 2.0, 8.0, 0.01, 0.05 }, 0.0, PN_REPLACE_ONE },
    { "loss_distribution", { 0.55, 0.45, 0.5, 0.5 }, 0.0, PN_REPLACE_ONE },
    { "sparse_vector", { 0.1 }, 0.0, PN_REPLACE_ONE },
    { "objective_perturbation", { 20.0, 1.0, 0.01, 3.0 }, 0.0, PN_REPLACE_ONE },
    { "poisson_sampled", { 0.02 }, 1.5, PN_ADD_REMOVE },
    { "fixed_sampled", { 2.0, 100.0 }, 1.5, PN_REPLACE_ONE },
    { "either", { 0.0 }, 10.0, PN_REPLACE_ONE },
    { "selection", { 0.0, 0.0, 3.0 }, 10.0, PN_REPLACE_ONE }, /* event, law, mean */
    { "fixed_sampled_and_whole", { 2.0, 100.0, 1.5, 1.0, 0.01 }, 0.0, PN_REPLACE_ONE },
};

static const sample *sample_of(const char *name)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    return NULL;
}

static pn_status make(pn_event **out, const pn_event_ops *ops, const sample *from, pn_err *err)
{
    pn_arg args[PN_LEAF_VALUES + 2] = { 0 };
    pn_event *inner = NULL;
    pn_status status = PN_OK;

    *out = NULL;
    if (from->inner > 0.0)
        status = pn_event_gaussian(&inner, from->inner, 1.0, 0, from->neighbours, err);
    for (size_t i = 0, next = 0; ops->params[i].name; i++) {
        double value = next < PN_LEAF_VALUES ? from->values[next] : 0.0;

        next += ops->params[i].kind == PN_VECTOR ? 2 : 1;
        if (value != 0.0 && ops->params[i].kind == PN_VECTOR)
            args[i] = (pn_arg){ .given = true, .vector = { (double *)(size_t)&from->values[next - 2], 2 } };
        else if (ops->params[i].kind == PN_OBJECT && inner)
            args[i] = (pn_arg){ .given = true, .object = inner };
        else if (value != 0.0)
            args[i] =
                (pn_arg){ .given = true, .real = value, .count = ops->params[i].kind == PN_COUNT ? (size_t)value : 0 };
    }
    if (status == PN_OK)
        status = pn_args_check(ops->name, ops->params, args, err);
    if (status == PN_OK)
        status = ops->create(out, args, from->neighbours, err);
    pn_event_free(inner);
    return status;
}

/* ---- questions ---- */

typedef struct answer {
    bool taken; /* false: the accountant refuses such events */
    double epsilon, low, delta;
} answer;

/* `first` and then `second` (may be NULL), each `count` times by `calls` calls. */
static answer ask(pn_selftest_run *run, const pn_accountant_ops *ops, pn_event *first, pn_event *second, size_t calls,
                  size_t count)
{
    answer got = { 0 };
    pn_accountant *accountant = NULL;
    pn_event *const events[] = { first, second };
    pn_arg args[4] = { 0 };

    if (run->status != PN_OK)
        return got;
    run->status = ops->create(&accountant, args, run->err);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < calls && run->status == PN_OK && events[i]; j++)
            run->status = pn_accountant_add(accountant, events[i], count, run->err);
    if (run->status == PN_EUNSUPPORTED) {
        run->status = PN_OK;
        pn_accountant_free(accountant);
        return got;
    }
    if (run->status == PN_OK)
        run->status = accountant->ops->epsilon(accountant, delta, &got.epsilon, NULL, run->err);
    if (run->status == PN_OK && accountant->ops->interval)
        run->status = accountant->ops->interval(accountant, delta, &got.low, &got.epsilon, run->err);
    if (run->status == PN_OK)
        run->status = accountant->ops->delta(accountant, got.epsilon, &got.delta, run->err);
    got.taken = run->status == PN_OK;
    pn_accountant_free(accountant);
    return got;
}

/* ---- one event under one accountant ---- */

static void check_pair(pn_selftest_run *run, const pn_accountant_ops *ops, pn_event *event, pn_event *other,
                       const char *subject)
{
    pn_event *repeated = NULL;
    answer once = ask(run, ops, event, NULL, 1, 1), many = ask(run, ops, event, NULL, 1, TIMES);
    answer loop = ask(run, ops, event, NULL, TIMES, 1), twice = ask(run, ops, event, NULL, 2, TIMES), nested, ab, ba;

    if (run->status != PN_OK || !many.taken)
        return;
    run->status = pn_event_repeated(&repeated, event, TIMES, run->err);
    if (run->status != PN_OK)
        return;
    nested = ask(run, ops, repeated, NULL, 1, 1);
    pn_event_free(repeated);
    ab = ask(run, ops, event, other, 1, TIMES);
    ba = ask(run, ops, other, event, 1, TIMES);
    pn_selftest_equal(run, "count k equals k times", subject, loop.epsilon, many.epsilon, 1e-12);
    pn_selftest_equal(run, "repeated equals k times", subject, nested.epsilon, many.epsilon, 1e-12);
    pn_selftest_equal(run, "the order does not matter", subject, ab.epsilon, ba.epsilon, 1e-9);
    pn_selftest_at_most(run, "once costs no more than k times", subject, once.epsilon, many.epsilon, 1e-12);
    if (isfinite(many.epsilon))
        pn_selftest_at_most(run, "k times cost less than 2k times", subject, many.epsilon * (1.0 + 1e-6), twice.epsilon,
                            0.0);
    pn_selftest_at_most(run, "more events cost no less", subject, many.epsilon, ab.epsilon, 1e-9);
    pn_selftest_at_most(run, "delta at that epsilon is delta", subject, many.delta, delta, 1e-2);
    pn_selftest_at_most(run, "the lower end is below the upper", subject, many.low, many.epsilon, 0.0);
}

/* What `low` certifies, no other accountant can undercut. */
static void check_bounds(pn_selftest_run *run, pn_event *event, const char *name)
{
    double low = 0.0;

    for (size_t i = 0; run->accountants[i]; i++)
        if (run->accountants[i]->interval)
            low = fmax(low, ask(run, run->accountants[i], event, NULL, 1, TIMES).low);
    for (size_t i = 0; run->accountants[i] && run->status == PN_OK; i++) {
        answer got = ask(run, run->accountants[i], event, NULL, 1, TIMES);
        char subject[96];

        (void)snprintf(subject, sizeof subject, "%s, %s", name, run->accountants[i]->name);
        if (got.taken)
            pn_selftest_at_most(run, "no accountant is below the certified lower end", subject, low, got.epsilon, 0.0);
    }
}

static void check_curve(pn_selftest_run *run, const pn_event *event, const char *name)
{
    static const double orders[] = { 1.01, 1.5, 2.0, 4.7, 16.0, 100.0 };
    double rho = event->ops->zcdp(event), before = 0.0;

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        double value = event->ops->rdp(event, orders[i]);

        pn_selftest_at_most(run, "Renyi divergence grows with its order", name, before, value, 1e-12);
        pn_selftest_at_most(run, "Renyi divergence is at most rho times its order", name, value, rho * orders[i],
                            1e-12);
        before = value;
    }
}

static void check_event(pn_selftest_run *run, const pn_event_ops *ops)
{
    const sample *from = sample_of(ops->name);
    pn_event *event = NULL, *other = NULL;

    if (!from) {
        row(run, "the self-test has sample parameters", ops->name, 0.0, 1.0, false);
        return;
    }
    run->status = make(&event, ops, from, run->err);
    if (run->status == PN_OK)
        run->status = pn_event_from_args(&other, "pure", (pn_arg[]){ { .given = true, .real = 0.07 }, { 0 } },
                                         from->neighbours, run->err);
    for (size_t i = 0; run->accountants[i] && run->status == PN_OK; i++) {
        char subject[96];

        (void)snprintf(subject, sizeof subject, "%s, %s", ops->name, run->accountants[i]->name);
        check_pair(run, run->accountants[i], event, other, subject);
    }
    if (run->status == PN_OK) {
        check_bounds(run, event, ops->name);
        check_curve(run, event, ops->name);
    }
    pn_event_free(event);
    pn_event_free(other);
}

pn_status pn_selftest(const pn_event_ops *const *events, const pn_accountant_ops *const *accountants,
                      pn_selftest_fn report, void *self, pn_err *err)
{
    pn_selftest_run run = { accountants ? accountants : pn_accountant_table(), report, self, err, PN_OK };

    events = events ? events : pn_event_table();
    for (size_t i = 0; events[i] && run.status == PN_OK; i++)
        check_event(&run, events[i]);
    pn_selftest_exact(&run);
    return run.status;
}
