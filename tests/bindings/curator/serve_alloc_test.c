/* serve_alloc_test.c -- the process of a script when memory runs out: whichever of its allocations fails, its curator
 * is told so, or gets the answer.
 * Depends on: check.h, fail_calls.h, bindings/curator/serve.h, wire.h, POSIX. */
#define _GNU_SOURCE
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bindings/curator/serve.h"
#include "bindings/curator/wire.h"
#include "penumbra/version.h"

#include "check.h"
#include "fail_calls.h"

/* Tables that grow: blocks that are moved. */
static const char script[] = "local t = {} for i = 1, 3000 do t[i] = i end return #t";

enum { PLACES = 2000, COMMON = 2000 /* calls */ };

typedef struct place {
    const void *at;
    long calls, first;
} place;

/* What a script's process does and this one sees. */
typedef struct seen {
    long fail_at; /* the call that fails, from 1; 0: none, and places are noted */
    long calls;
    const void *failed;
    place places[PLACES]; /* the first without one ends them */
} seen;

static void note(seen *self, const void *site)
{
    place *one = self->places;

    while (one->at && one->at != site && one < self->places + PLACES - 1)
        one++;
    if (one->calls++ == 0)
        *one = (place){ site, 1, self->calls };
}

static bool refuses(void *object, const void *site)
{
    seen *self = object;

    self->calls++;
    if (self->fail_at == 0)
        note(self, site);
    if (self->calls != self->fail_at)
        return false;
    fail_calls_failed(self->failed = site);
    return true;
}

static pn_status until_ready(void *self, int fd, short events, pn_err *err)
{
    struct pollfd at = { .fd = fd, .events = events };

    (void)self, (void)err;
    (void)poll(&at, 1, -1);
    return PN_OK;
}

static _Noreturn void be_the_process(int fd, seen *self)
{
    (void)dup2(fd, PNL_SERVE_DESCRIPTOR);
    fail_calls_ask(refuses, self);
    _exit(pnl_serve());
}

static void put_start(pnl_frame *out)
{
    static const double budget[] = { 1.0, 0.0, NAN, 0.0 };

    pnl_frame_begin(out, PNL_FRAME_START);
    pnl_put_text(out, pn_version(), strlen(pn_version()));
    pnl_put_count(out, (uint64_t)64 << 20);
    pnl_put_real(out, 60.0);
    pnl_put_count(out, 100000000);
    pnl_put_count(out, 1); /* thread */
    pnl_put_count(out, 0); /* no progress */
    for (size_t i = 0; i < sizeof budget / sizeof *budget; i++)
        pnl_put_real(out, budget[i]);
    pnl_put_count(out, PN_REPLACE_ONE);
    pnl_put_count(out, 0);
    pnl_put_text(out, "script", 6);
    pnl_put_text(out, script, sizeof script - 1);
    pnl_put_count(out, 0); /* data sets */
}

/* What the process says at its end. */
static pn_status hear_end(int fd, pnl_frame *in, const char **text, pn_err *err)
{
    pn_status status;

    do
        status = pnl_frame_receive(in, fd, PNL_FRAME_FROM_SCRIPT, NULL, until_ready, NULL, err);
    while (status == PN_OK && in->kind != PNL_FRAME_END);
    *text = "nothing";
    if (status != PN_OK)
        return status;
    status = pnl_get_status(in);
    *text = pnl_get_text(in, NULL);
    return status;
}

static void one_process(seen *self)
{
    pnl_frame out = { 0 }, in = { 0 };
    int ends[2], how = -1;
    const char *text;
    pn_status status;
    pn_err err = { .message = "" };
    pid_t pid;

    self->calls = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    (void)fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_the_process(ends[1], self);
    (void)close(ends[1]);
    put_start(&out);
    CHECK(pid > 0 && pnl_frame_send(&out, ends[0], -1, until_ready, NULL, &err) == PN_OK);
    status = hear_end(ends[0], &in, &text, &err);
    if (!CHECK(status == PN_OK ? strcmp(text, "3000") == 0 : status == PN_ENOMEM && strstr(text, "memory")) ||
        !CHECK(waitpid(pid, &how, 0) == pid && WIFEXITED(how)) || !CHECK(status == PN_OK || self->failed))
        (void)fprintf(stderr, "    call %ld of %ld, at %p: %s, %s %s\n", self->fail_at, self->calls, self->failed,
                      pn_status_name(status), text, err.message);
    (void)close(ends[0]);
    pnl_frame_clear(&out);
    pnl_frame_clear(&in);
}

int main(void)
{
    seen *self = mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long all, common = 0;

    one_process(self);
    all = self->calls;
    CHECK(all > 1000 && !self->failed);
    /* Most open the state, alike. */
    for (long k = 1; k <= all; k += k < 8 ? 1 : 1 + k / check_times(1, 60)) {
        self->fail_at = k;
        one_process(self);
    }
    for (const place *one = self->places; one->at; one++) {
        if (one->calls < COMMON)
            continue;
        self->fail_at = one->first;
        one_process(self);
        common++;
    }
    CHECK(common > 1); /* blocks that are new, and blocks that are moved */
    CHECK(munmap(self, sizeof *self) == 0);
    return check_summary();
}
