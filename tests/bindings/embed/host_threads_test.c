/* host_threads_test.c -- many states in many threads at once: they train, plan, fail and are cancelled side by side,
 * and what they compute is bit for bit what one thread alone computes.  Also run under ThreadSanitizer (SAN=thread).
 * Depends on: check.h, Lua, bindings/, POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bindings/embed/penumbra_lua.h"

#include "check.h"

#define THREADS 8
#define ROUNDS  3

/* What the scripts answer: numbers, exactly. */
static const char *const scripts[] = {
    /* training */
    "local d = pn.data.synthetic.lasso { n = 400, p = 10, seed = 1 }\n"
    "local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 10, radius = 1 } }\n"
    "local fit = pn.solve.frank_wolfe(obj, { rho = 0.5, iterations = 20, rng = pn.rng.seeded(7), progress = false })\n"
    "local out = {}\n"
    "for i = 1, #fit.theta do out[i] = ('%a'):format(fit.theta[i]) end\n"
    "return table.concat(out, ' ')",
    "local d = pn.data.synthetic.logistic { n = 300, p = 8, seed = 2 }\n"
    "local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 8, radius = 1 } }\n"
    "local fit = pn.solve.mirror_descent(obj, { rho = 0.5, iterations = 15, rng = pn.rng.seeded(3), progress = false "
    "})\n"
    "return ('%a'):format(fit.theta:norm(2))",
    /* planning and accounting */
    "local d = pn.data.synthetic.lasso { n = 500, p = 10, seed = 1 }\n"
    "local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 10, radius = 1 } }\n"
    "local acc = pn.accountant.pld {}\n"
    "acc:add(pn.event.gaussian { sigma = 4, sensitivity = 1 }, 20)\n"
    "return tostring(pn.solve.frank_wolfe.plan(obj, { rho = 0.5, iterations = 9 })) .. "
    "('%a'):format(acc:epsilon(1e-6))",
    /* geometry: matrices, that is BLAS and LAPACK */
    "local rng, out = pn.rng.seeded(5), {}\n"
    "local A = pn.vec.normal(36, rng):reshape(6, 6)\n"
    "local U, s, V = A:svd()\n"
    "local C = pn.set.nuclear_ball { rows = 6, cols = 6, radius = 1 }\n"
    "return ('%a %a'):format(s[1], C:project(A:vec()):norm(2))",
    /* functions of a script's own: traced, and called back */
    "local loss = pn.loss.glm(function(z, y) return pn.log(1 + pn.exp(-y * z)) end, { labels = { -1, 1 } })\n"
    "local d = pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 })\n"
    "local obj = pn.objective { data = d, loss = loss, clip = 0.5 }\n"
    "local f = function(v) return v * (1 / math.max(1, v:norm())) end\n"
    "local C = pn.set.custom { dim = 2, radius = 1, project = f, contains = function(v) return v:norm() <= 1 end }\n"
    "return ('%a %a'):format(obj:value { 1, 2 }, (C + C):project({ 9, 0 })[1])",
    /* a ledger that refuses */
    "local L = pn.ledger { epsilon = 1, delta = 1e-6 }\n"
    "L:spend(pn.event.gaussian { sigma = 9, sensitivity = 1 }, 'first')\n"
    "local ok, why = pcall(L.spend, L, pn.event.pure { epsilon = 5 }, 'too much')\n"
    "return tostring(ok) .. why .. ('%a'):format(L.remaining)",
};

#define SCRIPTS (sizeof scripts / sizeof scripts[0])

typedef struct actor {
    pthread_t thread;
    unsigned index;
    char *answers[SCRIPTS]; /* of the first round; all rounds must agree */
    long wrong;             /* check.h counts for one thread */
} actor;

static pnl_host *new_host(actor *self, unsigned threads)
{
    pnl_host_options options = { .memory_bytes = (size_t)64 << 20, .instructions = 5000000, .threads = threads };
    pnl_host *host = NULL;

    self->wrong += pnl_host_new(&host, &options, NULL) != PN_OK;
    return host;
}

static void answer(actor *self, pnl_host *host, size_t which)
{
    lua_State *L = pnl_host_state(host);
    const char *text;
    pn_err err;

    if (pnl_host_run(host, scripts[which], strlen(scripts[which]), "script", NULL, &err) != PN_OK) {
        (void)fprintf(stderr, "    script %zu: %s\n", which, err.message);
        self->wrong++;
        return;
    }
    text = lua_tostring(L, -1);
    if (!self->answers[which])
        self->answers[which] = strdup(text);
    else
        self->wrong += strcmp(self->answers[which], text) != 0;
    lua_settop(L, 0);
}

static void fail(actor *self, pnl_host *host)
{
    static const char *const bad[] = { "error 'x'", "while true do end", "return ('x'):rep(1 << 30)", "x = = 1" };
    static const pn_status want[] = { PN_ECALLBACK, PN_ELIMIT, PN_ENOMEM, PN_EINVAL };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        self->wrong += pnl_host_run(host, bad[i], strlen(bad[i]), "bad", NULL, NULL) != want[i];
}

typedef struct stopper {
    pnl_host *host;
    atomic_bool done;
} stopper;

/* Until the run has ended: before it begins it is nothing. */
static void *stop_soon(void *argument)
{
    struct timespec pause = { 0, 2000000 };
    stopper *self = argument;

    while (!atomic_load(&self->done)) {
        (void)nanosleep(&pause, NULL);
        pnl_host_cancel(self->host);
    }
    return NULL;
}

static void be_cancelled(actor *self)
{
    static const char code[] = "local d = pn.data.synthetic.lasso { n = 400, p = 10, seed = 1 }\n"
                               "local obj = pn.objective { data = d, loss = pn.loss.squared(),\n"
                               "  set = pn.set.l1_ball { dim = 10, radius = 1 } }\n"
                               "while true do pcall(pn.solve.frank_wolfe, obj, { rho = 0.5, iterations = 1000000,\n"
                               "  rng = pn.rng.seeded(7), progress = false }) end";
    pnl_host_options options = { .threads = 2 };
    stopper stop = { NULL, false };
    pthread_t other;

    self->wrong += pnl_host_new(&stop.host, &options, NULL) != PN_OK;
    self->wrong += pthread_create(&other, NULL, stop_soon, &stop) != 0;
    self->wrong += pnl_host_run(stop.host, code, sizeof code - 1, "cancelled", NULL, NULL) != PN_ECANCELLED;
    atomic_store(&stop.done, true);
    self->wrong += pthread_join(other, NULL) != 0;
    pnl_host_free(stop.host);
}

static void *act(void *argument)
{
    actor *self = argument;

    for (int round = 0; round < ROUNDS; round++) {
        pnl_host *host = new_host(self, 1 + self->index % 3);

        for (size_t i = 0; host && i < SCRIPTS; i++)
            answer(self, host, (i + self->index) % SCRIPTS);
        if (host)
            fail(self, host);
        if (host && self->index < THREADS)
            answer(self, host, self->index % SCRIPTS);
        pnl_host_free(host);
    }
    if (self->index < THREADS)
        be_cancelled(self);
    return NULL;
}

int main(void)
{
    actor alone = { .index = THREADS }, all[THREADS] = { 0 };

    (void)act(&alone);
    CHECK(alone.wrong == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        all[i].index = i;
        CHECK(pthread_create(&all[i].thread, NULL, act, &all[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(all[i].thread, NULL) == 0);
        CHECK(all[i].wrong == 0);
        for (size_t k = 0; k < SCRIPTS; k++) {
            CHECK(all[i].answers[k] && alone.answers[k] && strcmp(all[i].answers[k], alone.answers[k]) == 0);
            free(all[i].answers[k]);
        }
    }
    for (size_t k = 0; k < SCRIPTS; k++)
        free(alone.answers[k]);
    return check_summary();
}
