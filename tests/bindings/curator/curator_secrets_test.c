/* curator_secrets_test.c -- what a curator keeps to itself, in whichever process scripts run: output of a script that
 * was cancelled, names of features, which may be categories that were found in the records,
 * and instructions that nobody pays for.
 * Depends on: check.h, penumbra_lua.h, bindings/curator/curator_impl.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bindings/curator/curator_impl.h"
#include "bindings/embed/host.h"
#include "check.h"
#include "core/alloc.h"
#include "data/shared.h"

static const pnl_host_options limits = {
    .memory_bytes = (size_t)64 << 20, .seconds = 60.0, .instructions = (uint64_t)1 << 40, .threads = 1
};

typedef struct listener {
    pnl_curator *curator;
    atomic_bool done;
    size_t heard, secrets;
} listener;

static void listen(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    listener *self = object;

    (void)channel;
    self->heard++;
    self->secrets += memmem(text, size, "illness", 7) != NULL;
}

static pn_ledger *ledger;

static void open_curator(listener *self, pnl_host_options with, bool here)
{
    with.log = listen;
    with.self = self;
    *self = (listener){ NULL, false, 0, 0 };
    CHECK(pnl_curator_new(&self->curator, &with, ledger, NULL) == PN_OK);
    pnl_curator_in_process(self->curator, here);
}

static pn_status run(const listener *self, const char *code, char **answer, pn_err *err)
{
    return pnl_curator_run(self->curator, code, strlen(code), "script", answer, err);
}

/* ---- cancelling ---- */

/* Again and again, for the script may not have started yet; whenever it is, nothing is told. */
static void *cancel(void *object)
{
    const struct timespec while_it_runs = { .tv_nsec = 20000000 };
    listener *self = object;

    while (!atomic_load(&self->done)) {
        (void)nanosleep(&while_it_runs, NULL);
        pnl_curator_cancel(self->curator);
    }
    return NULL;
}

/* How far it got would be a clock, of what depends on the records. */
static void a_cancelled_script_is_not_heard(bool here)
{
    static const char *const codes[] = {
        "print 'a' while true do end",
        "for i = 1, 1e9 do print(i % 7) while i > 50 do end end",
        "print 'a' while true do pcall(function() while true do end end) end",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        listener self;
        pthread_t thread;
        char *answer = NULL;
        pn_err err;

        open_curator(&self, limits, here);
        CHECK(pthread_create(&thread, NULL, cancel, &self) == 0);
        CHECK(run(&self, codes[i], &answer, &err) == PN_ECANCELLED && !answer);
        atomic_store(&self.done, true);
        (void)pthread_join(thread, NULL);
        CHECK(self.heard == 0);
        CHECK(strcmp(err.message, "script: stopped by the host") == 0);
        CHECK(run(&self, "print 'b' return 1", &answer, &err) == PN_OK && self.heard == 1); /* it would be heard */
        pn_free(answer);
        pnl_curator_free(self.curator);
    }
}

/* ---- names ---- */

static pn_dataset *named_data(void)
{
    static const double x[] = { 0.1, 0.2, 0.3, -0.4, 0.5, -0.6 }, y[] = { 1.0, -1.0, 1.0 };
    static const char names[] = "illness=rare\0illness=none";
    pn_dataset *raw = NULL, *data = NULL;

    CHECK(pn_dataset_from_dense(&raw, x, 3, 2, y, "/secret/illness.csv", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, NULL) == PN_OK);
    data->features = pn_alloc(sizeof names, 1);
    data->feature_bytes = sizeof names;
    memcpy(data->features, names, sizeof names);
    pn_dataset_free(raw);
    return data;
}

/* Every byte of what the script's process gets of the records. */
static bool shares(const pn_dataset *view, const char *word)
{
    int fd = -1;
    off_t size;
    char *bytes;
    bool found;

    CHECK(pn_dataset_publish(&fd, view, NULL) == PN_OK);
    size = lseek(fd, 0, SEEK_END);
    bytes = pn_alloc((size_t)size, 1);
    CHECK(bytes && pread(fd, bytes, (size_t)size, 0) == size);
    found = memmem(bytes, (size_t)size, word, strlen(word)) != NULL;
    pn_free(bytes);
    (void)close(fd);
    return found;
}

static void names_of_features_stay_with_the_curator(bool here)
{
    static const char *const codes[] = {
        "return data.d.features",
        "return data.d:add_bias().features",
        "return data.d, data.d.name, data.d.bounds",
        "print(data.d) print(data.d:clip_rows('l2', 0.5)) for k, v in pairs(data) do print(k, v) end return 1",
        "return pn.objective{data = data.d, loss = pn.loss.logistic()}",
        "local fit = pn.fit(data.d, {loss = 'logistic', epsilon = 1, delta = 1e-6}) print(fit) return fit",
        "return data.d:add_bias():clip_rows('l2', 1), pcall(function() return data.d.features[1] end)",
        "return select(2, pcall(function() return data.d:summary() end))",
    };
    pn_dataset *data = named_data();
    listener self;

    open_curator(&self, limits, here);
    CHECK(pnl_curator_data(self.curator, "d", data, NULL) == PN_OK);
    CHECK(self.curator->data[0]->view.features == NULL && self.curator->data[0]->view.feature_bytes == 0);
    CHECK(strcmp(self.curator->data[0]->view.name, "d") == 0);
    CHECK(!shares(&self.curator->data[0]->view, "illness"));
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char *answer = NULL;
        pn_err err = { .message = "" };

        (void)run(&self, codes[i], &answer, &err);
        CHECK(!strstr(err.message, "illness") && !(answer && strstr(answer, "illness")));
        pn_free(answer);
    }
    CHECK(self.secrets == 0);
    CHECK(data->features && strcmp(data->features, "illness=rare") == 0); /* the owner's are as they were */
    pnl_curator_free(self.curator);
    pn_dataset_free(data);
}

/* ---- instructions ---- */

/* A coroutine counts by itself, up to a grain that nobody would see: each is charged one.  A limit of so many grains is
 * reached after at most as many; what a script printed before it ran out of instructions is told. */
static void coroutines_are_charged(bool here)
{
    static const char *const codes[] = {
        "while true do print 'x' coroutine.wrap(function() end)() end",
        "while true do print 'x' coroutine.create(print) end",
        "local wrap = coroutine.wrap while true do print 'x' pcall(wrap, function() for i = 1, 20 do end end) end",
    };
    enum { GRAIN = 200, GRAINS = 200 }; /* host_limits.c */

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        pnl_host_options few = limits;
        listener self;
        pn_err err;

        few.instructions = GRAIN * GRAINS;
        open_curator(&self, few, here);
        CHECK(run(&self, codes[i], NULL, &err) == PN_ELIMIT);
        CHECK(self.heard > 0 && self.heard <= GRAINS);
        pnl_curator_free(self.curator);
    }
}

int main(void)
{
    const pn_budget budget = { .epsilon = 100.0, .delta = 1e-3, .rho = NAN, .neighbours = PN_REPLACE_ONE };

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    for (int here = 0; here < 2; here++) {
        a_cancelled_script_is_not_heard(here);
        names_of_features_stay_with_the_curator(here);
        coroutines_are_charged(here);
    }
    pn_ledger_free(ledger);
    return check_summary();
}
