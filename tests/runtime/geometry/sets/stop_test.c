/* stop_test.c -- what sets compute ends when the task that their thread has entered is cancelled, on that thread alone.
 * Depends on: core/stop.h, geometry/algebra/set_algebra.h, check.h, POSIX threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/stop.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"

#define DIM  6
#define MANY 100 /* from where turns project on a sum */

static pn_set *ball(const char *name, double radius)
{
    pn_arg args[8] = { { .given = true, .count = DIM }, { .given = true, .real = radius } };
    pn_set *set = NULL;

    if (!CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK))
        exit(check_summary());
    return set;
}

/* l1 and l2 balls neither of which holds the other */
static pn_set *lens(void)
{
    pn_set *a = ball("l1_ball", 1.5), *b = ball("l2_ball", 1.0), *both = NULL;

    if (!CHECK(pn_set_intersect(&both, a, b, NULL) == PN_OK))
        exit(check_summary());
    pn_set_free(a);
    pn_set_free(b);
    return both;
}

static const double far[DIM] = { 3.0, -2.0, 1.0, 0.5, 2.5, -1.0 };

static pn_status project(const pn_set *set, double *x, pn_err *err)
{
    memcpy(x, far, sizeof far);
    return pn_set_project(set, x, DIM, err);
}

static void *project_elsewhere(void *set)
{
    double x[DIM];

    return project(set, x, NULL) == PN_OK ? set : NULL;
}

static void test_stops(const pn_set *set, pn_task *task)
{
    const pn_task *before = pn_stop_enter(task);
    double x[DIM], value;
    pn_err err = { 0 };

    CHECK(project(set, x, NULL) == PN_OK); /* entered, but not cancelled */
    pn_task_cancel(task);
    CHECK(project(set, x, &err) == PN_ECANCELLED);
    CHECK(strcmp(err.message, "stopped by the user") == 0);
    CHECK(memcmp(x, far, sizeof far) == 0); /* untouched on failure */
    CHECK(pn_set_support(set, far, DIM, &value, NULL, NULL) == PN_ECANCELLED);
    CHECK(pn_stop_enter(before) == task);
    CHECK(project(set, x, NULL) == PN_OK); /* no longer its business */
    pn_task_reset(task);
}

/* Its projection alone is an iteration. */
static void test_sum_stops(pn_task *task)
{
    pn_arg many[8] = { { .given = true, .count = MANY }, { .given = true, .real = 1.0 } };
    pn_set *a = NULL, *b = NULL, *sum = NULL;
    double x[MANY], before[MANY];

    for (size_t j = 0; j < MANY; j++)
        x[j] = before[j] = 0.1 * (double)j;
    CHECK(pn_set_from_args(&a, "l1_ball", many, NULL) == PN_OK && pn_set_from_args(&b, "l2_ball", many, NULL) == PN_OK);
    CHECK(pn_set_sum(&sum, a, b, NULL) == PN_OK);
    (void)pn_stop_enter(task);
    pn_task_cancel(task);
    CHECK(pn_set_project(sum, x, MANY, NULL) == PN_ECANCELLED);
    CHECK(memcmp(x, before, sizeof x) == 0);
    pn_task_reset(task);
    CHECK(pn_set_project(sum, x, MANY, NULL) == PN_OK);
    (void)pn_stop_enter(NULL);
    pn_set_free(a);
    pn_set_free(b);
    pn_set_free(sum);
}

static void test_other_threads_go_on(pn_set *set, pn_task *task)
{
    const pn_task *before = pn_stop_enter(task);
    pthread_t other;
    void *result = NULL;

    pn_task_cancel(task);
    if (CHECK(pthread_create(&other, NULL, project_elsewhere, set) == 0))
        pthread_join(other, &result);
    CHECK(result == set);
    pn_task_reset(task);
    (void)pn_stop_enter(before);
}

int main(void)
{
    pn_set *set = lens();
    pn_task *task = NULL;

    if (!CHECK(pn_task_new(&task, 1, NULL) == PN_OK))
        return check_summary();
    CHECK(pn_stop_enter(NULL) == NULL);
    test_stops(set, task);
    test_sum_stops(task);
    test_other_threads_go_on(set, task);
    pn_task_free(task);
    pn_set_free(set);
    return check_summary();
}
