/* event_sampled_test.c -- what Lua cannot reach: the fields that pair code reads, arguments given back, slack, failing
 * allocations, and calibration of programs that fail.  Depends on: check.h, fail_alloc.h, privacy/. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/event_sampled.h"
#include "random/noise.h"

static pn_event *gaussian(double sigma, size_t draws, pn_neighbours neighbours)
{
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, sigma, 2.0, draws, neighbours, NULL) == PN_OK);
    return event;
}

static void test_fields_and_arguments(void)
{
    pn_event *inner = gaussian(3.0, 7, PN_REPLACE_ONE), *event = NULL, *again = NULL;
    const pn_sampled *s;
    pn_arg args[8];

    CHECK(pn_event_fixed_sampled(&event, 25, 100, inner, PN_REPLACE_ONE, NULL) == PN_OK);
    s = pn_event_sampled(event);
    CHECK(s && s->inner == inner && s->batch == 25 && s->n == 100 && s->q == 0.25 && s->gaussian && s->level == 1.5);
    CHECK(!pn_event_sampled(inner));
    memset(args, 0, sizeof args);
    event->ops->args(event, args);
    CHECK(pn_event_from_args(&again, event->ops->name, args, event->neighbours, NULL) == PN_OK);
    CHECK(again != event && again->ops->rdp(again, 3.3) == event->ops->rdp(event, 3.3));
    pn_event_free(again);
    pn_event_free(event);

    CHECK(pn_event_poisson_sampled(&event, 0.125, inner, PN_REPLACE_ONE, NULL) == PN_OK);
    s = pn_event_sampled(event);
    CHECK(s && s->batch == 0 && s->n == 0 && s->q == 0.125);
    event->ops->args(event, args);
    CHECK(args[0].real == 0.125 && args[1].object == inner);
    pn_event_free(event);
    pn_event_free(inner);
}

/* Every release draws, whoever is in the sample. */
static void test_slack_passes_on(void)
{
    pn_event *inner = gaussian(3.0, 7, PN_ADD_REMOVE), *event = NULL, *ideal = gaussian(3.0, 0, PN_ADD_REMOVE);
    pn_slack slack;

    CHECK(pn_event_poisson_sampled(&event, 0.1, inner, PN_ADD_REMOVE, NULL) == PN_OK);
    slack = pn_event_slack(event, 10);
    CHECK(slack.epsilon == 140.0 * PN_GAUSSIAN_ETA && slack.tail == 70.0 * PN_GAUSSIAN_TAIL);
    pn_event_free(event);
    CHECK(pn_event_poisson_sampled(&event, 0.1, ideal, PN_ADD_REMOVE, NULL) == PN_OK);
    slack = pn_event_slack(event, 10);
    CHECK(slack.epsilon == 0.0 && slack.tail == 0.0);
    pn_event_free(event);
    pn_event_free(ideal);
    pn_event_free(inner);
}

/* Under one coin the values of two data sets differ by one contribution,
 * by two where a record may become its opposite. */
static void test_windows_hold_what_a_coin_moves(void)
{
    static const pn_neighbours relation[] = { PN_ADD_REMOVE, PN_ZERO_OUT, PN_REPLACE_ONE };

    for (size_t i = 0; i < 3; i++) {
        pn_event *inner = gaussian(0.5, 7, relation[i]), *event = NULL;
        double mu = relation[i] == PN_REPLACE_ONE ? 8.0 : 4.0;

        CHECK(pn_event_poisson_sampled(&event, 0.1, inner, relation[i], NULL) == PN_OK);
        CHECK(pn_event_slack(event, 1).window == pn_gaussian_slack(7.0, mu).window);
        pn_event_free(event);
        pn_event_free(inner);
    }
}

/* A run of sparse vector keeps its number of answers, and costs the same whatever it is. */
static void test_sparse_vector(void)
{
    pn_event *event = NULL;
    pn_arg args[4];
    char text[80];

    CHECK(pn_event_sparse_vector(&event, 0.5, 9, PN_ZERO_OUT, NULL) == PN_OK);
    event->ops->args(event, args);
    CHECK(args[0].real == 0.5 && args[1].count == 9);
    pn_event_describe(event, text, sizeof text);
    CHECK(strcmp(text, "sparse_vector(epsilon=0.5, answers=9)") == 0);
    CHECK(event->ops->rdp(event, INFINITY) == 0.5 && event->ops->zcdp(event) == 0.125);
    CHECK(event->ops->rdp(event, 3.0) < 0.375);
    pn_event_free(event);
}

/* ---- calibration ---- */

typedef struct program {
    pn_status fails;
    int calls;
    bool drifts; /* costs more each time it is asked */
} program;

static pn_status release(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    program *p = self;

    p->calls++;
    *count = 100;
    if (p->fails != PN_OK && p->calls > 3)
        return pn_fail(err, p->fails, "not today");
    return pn_event_gaussian(event, p->drifts ? x / (1.0 + 0.01 * p->calls) : x, 1.0, 0, PN_ZERO_OUT, err);
}

static const pn_goal noise = { .owner = "test",
                               .parameter = "sigma",
                               .accountant = "rdp",
                               .epsilon = 1.0,
                               .delta = 1e-5,
                               .low = 0x1p-10,
                               .start = 1.0,
                               .high = 0x1p20 };

static void test_calibration_reaches_the_target(void)
{
    static const double epsilons[] = { 1e-3, 0.1, 1.0, 30.0 };

    for (size_t i = 0; i < 4; i++) {
        program p = { PN_OK, 0, false };
        pn_program asks = { release, &p };
        pn_goal goal = noise;
        double sigma, reached;

        goal.epsilon = epsilons[i];
        CHECK(pn_calibrate(&sigma, &reached, &goal, &asks, NULL) == PN_OK);
        CHECK(reached <= goal.epsilon && reached > goal.epsilon * (1.0 - 1e-5));
        CHECK(p.calls <= 40);
        CHECK(reached == pn_zcdp_epsilon(50.0 / sigma / sigma, pn_ideal_delta(1e-5)) ||
              fabs(reached / pn_zcdp_epsilon(50.0 / sigma / sigma, pn_ideal_delta(1e-5)) - 1.0) < 1e-12);
    }
}

static void test_calibration_passes_failures_on(void)
{
    program failing = { PN_ECALLBACK, 0, false }, drifting = { PN_OK, 0, true };
    pn_program asks = { release, &failing };
    pn_goal goal = noise;
    double sigma = -1.0;
    pn_err err;

    CHECK(pn_calibrate(&sigma, NULL, &goal, &asks, &err) == PN_ECALLBACK && strcmp(err.message, "not today") == 0);
    asks.self = &drifting;
    CHECK(pn_calibrate(&sigma, NULL, &goal, &asks, &err) == PN_ENUMERIC);
    CHECK(strstr(err.message, "changed when it was asked again") != NULL);
    goal.epsilon = NAN;
    CHECK(pn_calibrate(&sigma, NULL, &goal, &asks, &err) == PN_EINVAL);
    goal.epsilon = 1.0;
    goal.delta = 1.0;
    CHECK(pn_calibrate(&sigma, NULL, &goal, &asks, &err) == PN_EINVAL);
    goal.delta = 0.1;
    goal.low = 0.0;
    CHECK(pn_calibrate(&sigma, NULL, &goal, &asks, &err) == PN_EINVAL);
    CHECK(sigma == -1.0);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_event *inner = NULL, *event = NULL;
    pn_status status = pn_event_gaussian(&inner, 3.0, 1.0, 5, PN_REPLACE_ONE, err);
    program p = { PN_OK, 0, false };
    pn_program asks = { release, &p };
    pn_goal goal = noise;
    double sigma;
    size_t steps;

    (void)self;
    if (status == PN_OK)
        status = pn_event_fixed_sampled(&event, 1, 10, inner, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_calibrate_steps(&steps, NULL, &goal, event, err);
    pn_event_free(event);
    event = NULL;
    if (status == PN_OK)
        status = pn_event_poisson_sampled(&event, 0.1, inner, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_calibrate(&sigma, NULL, &goal, &asks, err);
    pn_event_free(event);
    pn_event_free(inner);
    return status;
}

int main(void)
{
    test_fields_and_arguments();
    test_slack_passes_on();
    test_windows_hold_what_a_coin_moves();
    test_sparse_vector();
    test_calibration_reaches_the_target();
    test_calibration_passes_failures_on();
    fail_alloc_sweep("sampled events and calibration", scenario, NULL);
    return check_summary();
}
