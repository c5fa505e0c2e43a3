/* curator_test.c -- curators in a host's C: many in many threads on one budget, cancelling, and answers that the
 * caller owns.  Depends on: check.h, penumbra_lua.h. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bindings/embed/penumbra_lua.h"
#include "check.h"
#include "core/alloc.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"

static const pnl_host_options limits = {
    .memory_bytes = (size_t)64 << 20, .seconds = 60.0, .instructions = 100000000, .threads = 1
};

static pn_ledger *open_ledger(double epsilon, double delta)
{
    pn_budget budget = { .epsilon = epsilon, .delta = delta, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    pn_ledger *ledger = NULL;
    pn_err err;

    CHECK(pn_ledger_new(&ledger, &budget, &err) == PN_OK);
    return ledger;
}

static pn_dataset *make_data(void)
{
    static const double X[] = { 0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.7, 0.8 }, y[] = { 1.0, -1.0, 1.0, -1.0 };
    pn_dataset *raw = NULL, *data = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&raw, X, 4, 2, y, "/secret/path", &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, &err) == PN_OK);
    pn_dataset_free(raw);
    return data;
}

static pn_status run(pnl_curator *curator, const char *code, char **answer, pn_err *err)
{
    return pnl_curator_run(curator, code, strlen(code), "script", answer, err);
}

/* ---- one curator ---- */

static void test_a_run(void)
{
    pn_ledger *ledger = open_ledger(1.0, 0.0);
    pn_dataset *data = make_data();
    pnl_host_options partial = limits;
    pnl_curator *curator = NULL;
    char *answer = NULL;
    pn_err err;

    partial.instructions = 0;
    CHECK(pnl_curator_new(&curator, &partial, ledger, &err) == PN_EINVAL && curator == NULL);
    CHECK(pnl_curator_new(&curator, NULL, ledger, &err) == PN_EINVAL);
    CHECK(pnl_curator_new(&curator, &limits, NULL, &err) == PN_EINVAL);
    CHECK(pnl_curator_new(&curator, &limits, ledger, &err) == PN_OK);
    CHECK(pnl_curator_data(curator, "d", data, &err) == PN_OK);
    CHECK(pnl_curator_data(curator, "d", data, &err) == PN_EINVAL);
    CHECK(pnl_curator_data(curator, "1d", data, &err) == PN_EINVAL);
    CHECK(run(curator, "return data.d.n, data.d.name", &answer, &err) == PN_OK);
    CHECK(answer && strcmp(answer, "4\td") == 0);
    pn_free(answer);
    CHECK(run(curator, "return data.d.n", NULL, &err) == PN_OK);
    CHECK(run(curator, "return data.d.X", &answer, &err) == PN_EPRIVACY && answer == NULL);
    CHECK(run(curator, "return os", &answer, &err) == PN_EPRIVACY);
    CHECK(run(curator, "x x", &answer, &err) == PN_EINVAL);
    CHECK(run(curator, "error 'e'", &answer, &err) == PN_ECALLBACK && strstr(err.message, "script:1: e"));
    CHECK(run(curator, "while true do end", &answer, &err) == PN_ELIMIT);
    CHECK(run(curator, "local s = 'x' while true do s = s .. s end", &answer, &err) == PN_ENOMEM);
    CHECK(run(curator, "pn.mechanism.laplace{epsilon=2, sensitivity=1}:release(1)", &answer, &err) == PN_EBUDGET);
    CHECK(pn_ledger_spent(ledger) == 0.0);
    pnl_curator_free(curator);
    pnl_curator_free(NULL);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
}

/* ---- many curators, one budget ---- */

#define THREADS 4

typedef struct analyst {
    pn_ledger *ledger;
    const pn_dataset *data;
    const char *code; /* answers how often it was answered */
    long released;
} analyst;

static void *ask(void *self)
{
    analyst *me = self;
    pnl_curator *curator = NULL;
    char *answer = NULL;
    pn_err err;

    if (pnl_curator_new(&curator, &limits, me->ledger, &err) == PN_OK &&
        pnl_curator_data(curator, "d", me->data, &err) == PN_OK && run(curator, me->code, &answer, &err) == PN_OK)
        me->released = strtol(answer, NULL, 10);
    else
        (void)fprintf(stderr, "%s\n", err.message);
    pn_free(answer);
    pnl_curator_free(curator);
    return NULL;
}

/* Analyst i runs script i; -> how often all were answered. */
static long race(pn_ledger *ledger, const char *const codes[THREADS])
{
    pn_dataset *data = make_data();
    analyst analysts[THREADS];
    pthread_t threads[THREADS];
    long released = 0;

    for (size_t i = 0; i < THREADS; i++) {
        analysts[i] = (analyst){ ledger, data, codes[i], -1 };
        CHECK(pthread_create(&threads[i], NULL, ask, &analysts[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK(analysts[i].released >= 0);
        released += analysts[i].released;
    }
    pn_dataset_free(data);
    return released;
}

static void test_races(void)
{
    static const char code[] = "local m, n = pn.mechanism.laplace{epsilon=0.125, sensitivity=1}, 0\n"
                               "local obj = pn.objective{data=data.d, loss=pn.loss.logistic(), "
                               "set=pn.set.l1_ball{dim=2, radius=1}}\n"
                               "assert(not pcall(obj.value, obj, {0, 0}))\n"
                               "while pcall(m.release, m, 1) do n = n + 1 end\n"
                               "assert(budget.remaining < 0.13)\n"
                               "return n";
    pn_ledger *ledger = open_ledger(32.0, 0.0);
    long released = race(ledger, (const char *const[THREADS]){ code, code, code, code });

    /* A release costs 0.125 and what rounding adds: 256 would not fit. */
    CHECK(released > 200 && released <= 256);
    CHECK(pn_ledger_spent(ledger) <= 32.0);
    CHECK(pn_ledger_remaining(ledger) < 0.13);
    pn_ledger_free(ledger);
}

/* Each goes on until it is refused: runs to the end, */
#define OBJECTIVE                                                                                                      \
    "local obj = pn.objective{data=data.d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=2, radius=1}}\n"
static const char runs[] =
    OBJECTIVE "local made, plan = pcall(pn.solve.sgd.plan, obj, {rho=0.01, iterations=5, batch=2})\n"
              "local n = 0\n"
              "while made and pcall(plan.run, plan) do n = n + 1 end\n"
              "return n";
/* runs by the step, */
static const char steps[] =
    OBJECTIVE "local made, plan = pcall(pn.solve.gradient_descent.plan, obj, {rho=0.002, iterations=20})\n"
              "local n = 0\n"
              "local function walk() for state in plan:steps() do n = n + 1 end end\n"
              "while made and pcall(walk) do end\n"
              "return n";
/* questions, */
static const char questions[] = "local n, of = 0, {data=data.d, columns={1, 2}, low={-1, -1}, high={1, 1}, rho=0.002}\n"
                                "while pcall(pn.query.mean, of) do n = n + 1 end\n"
                                "return n";
/* and releases, after which a plan that was made when there was more is refused, too. */
static const char releases[] = OBJECTIVE "local options = {epsilon=1, delta=1e-7, iterations=2}\n"
                                         "local made, plan = pcall(pn.solve.gradient_descent.plan, obj, options)\n"
                                         "local n, noise = 0, pn.mechanism.gaussian{sigma=20, sensitivity=1}\n"
                                         "while pcall(noise.release, noise, 1) do n = n + 1 end\n"
                                         "assert(not (made and pcall(plan.run, plan)))\n"
                                         "return n";

static void test_races_of_kinds(void)
{
    pn_ledger *ledger = open_ledger(8.0, 1e-5);

    CHECK(race(ledger, (const char *const[THREADS]){ runs, steps, questions, releases }) > 100);
    CHECK(pn_ledger_spent(ledger) <= 8.0);
    CHECK(pn_ledger_remaining(ledger) >= 0.0 && pn_ledger_remaining(ledger) < 0.8);
    pn_ledger_free(ledger);
}

/* ---- cancelling ---- */

typedef struct stopper {
    pnl_curator *curator;
    atomic_bool done;
} stopper;

/* Again and again, for the script may not have started yet. */
static void *cancel_later(void *object)
{
    const struct timespec while_it_runs = { .tv_nsec = 50000000 };
    stopper *self = object;

    while (!atomic_load(&self->done)) {
        (void)nanosleep(&while_it_runs, NULL);
        pnl_curator_cancel(self->curator);
    }
    return NULL;
}

static void test_cancelling(void)
{
    pn_ledger *ledger = open_ledger(1.0, 0.0);
    pnl_host_options long_limits = limits;
    stopper self = { NULL, false };
    pthread_t thread;
    pn_err err;

    long_limits.instructions = (uint64_t)1 << 60;
    CHECK(pnl_curator_new(&self.curator, &long_limits, ledger, &err) == PN_OK);
    pnl_curator_cancel(self.curator); /* nothing runs: nothing happens */
    CHECK(pthread_create(&thread, NULL, cancel_later, &self) == 0);
    CHECK(run(self.curator, "while true do pcall(function() while true do end end) end", NULL, &err) == PN_ECANCELLED);
    CHECK(strcmp(err.message, "script: stopped by the host") == 0);
    atomic_store(&self.done, true);
    (void)pthread_join(thread, NULL);
    CHECK(run(self.curator, "return 1", NULL, &err) == PN_OK);
    pnl_curator_free(self.curator);
    pn_ledger_free(ledger);
}

/* ---- one script at a time ---- */

typedef struct listener {
    pnl_curator *curator;
    int heard;
} listener;

static void run_another(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    listener *self = object;
    pn_err err;

    CHECK(channel == PNL_OUTPUT && size == 2 && memcmp(text, "hi", 2) == 0);
    CHECK(run(self->curator, "return 1", NULL, &err) == PN_EINVAL && strstr(err.message, "a curator for each thread"));
    self->heard++;
}

static void test_one_at_a_time(void)
{
    pn_ledger *ledger = open_ledger(1.0, 0.0);
    pnl_host_options heard = limits;
    listener self = { NULL, 0 };
    pn_err err;

    heard.log = run_another;
    heard.self = &self;
    CHECK(pnl_curator_new(&self.curator, &heard, ledger, &err) == PN_OK);
    for (int i = 1; i <= 2; i++) { /* the refusal leaves it in order */
        CHECK(run(self.curator, "print 'hi'", NULL, &err) == PN_OK);
        CHECK(self.heard == i);
    }
    CHECK(run(self.curator, "print 'hi' error 'e'", NULL, &err) == PN_ECALLBACK && self.heard == 3);
    pnl_curator_free(self.curator);
    pn_ledger_free(ledger);
}

/* ---- what is heard and what is answered ---- */

static void cancel_in_the_telling(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    listener *self = object;

    (void)channel, (void)text, (void)size;
    pnl_curator_cancel(self->curator);
    self->heard++;
}

/* Who hears what a script printed is told that it ended, also where it is cancelled, or its time runs out,
 * in the telling. */
static void test_no_output_of_a_stopped_script(void)
{
    pn_ledger *ledger = open_ledger(1.0, 0.0);
    pnl_host_options heard = limits;
    listener self = { NULL, 0 };
    char *answer = NULL;
    pn_err err;

    heard.log = cancel_in_the_telling;
    heard.self = &self;
    heard.instructions = (uint64_t)1 << 60;
    CHECK(pnl_curator_new(&self.curator, &heard, ledger, &err) == PN_OK);
    CHECK(run(self.curator, "print 'a' print 'b' return 1", &answer, &err) == PN_OK);
    CHECK(self.heard == 2 && answer && strcmp(answer, "1") == 0);
    pn_free(answer);
    pnl_curator_free(self.curator);
    heard.seconds = 0.2;
    self.heard = 0;
    CHECK(pnl_curator_new(&self.curator, &heard, ledger, &err) == PN_OK);
    CHECK(run(self.curator, "print 'a' while true do end", NULL, &err) == PN_ELIMIT && self.heard == 0);
    pnl_curator_free(self.curator);
    pn_ledger_free(ledger);
}

int main(void)
{
    test_a_run();
    test_races();
    test_races_of_kinds();
    test_cancelling();
    test_one_at_a_time();
    test_no_output_of_a_stopped_script();
    return check_summary();
}
