/* serve.c -- the script's end of the socket: takes the script and the records, gives up its rights, runs it with a
 * curator of its own whose ledger is linked to the real one, and sends back what the script printed and returned.
 * Depends on: serve.h, wire.h, curator_impl.h, core/vault.h, data/shared.h.  Used by: main.c. */
#define _GNU_SOURCE /* close_range, explicit_bzero, malloc_usable_size */
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bindings/curator/curator_impl.h"
#include "bindings/curator/serve.h"
#include "bindings/curator/wire.h"
#include "core/vault.h"
#include "data/shared.h"
#include "random/rng.h"
#ifdef PN_MUTANTS
#include "tools/peek.h"
#endif

#define FAILED 3 /* exit status: the curator has said why, or is gone */

typedef struct server {
    int fd;
    pnl_frame in, out, said; /* said: kept until the script has ended */
    pnl_host_options limits;
    pn_budget budget;
    const char *code, *name; /* in `start` */
    size_t size, data;
    pnl_frame start;
    pn_ledger *ledger;
    pnl_curator *curator;
} server;

/* ---- talking ---- */

static pn_status until_ready(void *self, int fd, short events, pn_err *err)
{
    struct pollfd at = { .fd = fd, .events = events };

    (void)self, (void)err;
    (void)poll(&at, 1, -1);
    return PN_OK;
}

static pn_status send_frame(server *self, pnl_frame *frame, pn_err *err)
{
    return pnl_frame_send(frame, self->fd, -1, until_ready, NULL, err);
}

/* Send what is in `out` and receive the reply of this kind into `in`. */
static pn_status ask(server *self, pnl_frame_kind reply, pn_err *err)
{
    pn_account *outer = pn_account_enter(NULL); /* frames are not the script's memory */
    pn_status status = send_frame(self, &self->out, err);

    if (status == PN_OK)
        status = pnl_frame_receive(&self->in, self->fd, PNL_FRAME_TO_SCRIPT, NULL, until_ready, NULL, err);
    if (status == PN_OK && self->in.kind != reply)
        status = pn_fail(err, PN_EIO, "curator: the reply is of the wrong kind");
    (void)pn_account_enter(outer);
    return status;
}

static pn_status ask_ledger(void *object, const pn_ledger_question *question, pn_ledger_answer *answer, pn_err *err)
{
    server *self = object;

    pnl_frame_begin(&self->out, PNL_FRAME_QUESTION);
    pnl_put_question(&self->out, question);
    PN_TRY(ask(self, PNL_FRAME_ANSWER, err));
    pnl_get_answer(&self->in, answer);
    return pnl_frame_done(&self->in) ? PN_OK : pn_fail(err, PN_EIO, "curator: the answer cannot be read");
}

static pn_status tell_progress(void *object, const pn_progress *progress, pn_err *err)
{
    server *self = object;
    const char *message;
    pn_status status;

    pnl_frame_begin(&self->out, PNL_FRAME_PROGRESS);
    pnl_put_text(&self->out, progress->label, progress->label ? strlen(progress->label) : 0);
    pnl_put_real(&self->out, progress->done);
    pnl_put_real(&self->out, progress->total);
    pnl_put_real(&self->out, progress->value);
    pnl_put_real(&self->out, progress->spent);
    pnl_put_real(&self->out, progress->budget);
    pnl_put_text(&self->out, progress->unit, progress->unit ? strlen(progress->unit) : 0);
    PN_TRY(ask(self, PNL_FRAME_HEARD, err));
    status = pnl_get_status(&self->in);
    message = pnl_get_text(&self->in, NULL);
    return status == PN_OK ? PN_OK : pn_fail(err, status, "%s", message ? message : "stopped");
}

static void hear(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    server *self = object;
    pn_err err;

    pnl_frame_begin(&self->said, PNL_FRAME_OUTPUT);
    pnl_put_count(&self->said, channel);
    pnl_put_text(&self->said, text, size);
    (void)send_frame(self, &self->said, &err);
}

/* ---- memory ---- */

/* What is freed is erased: exact values, and copies of records in scratch. */
static void *allocate(void *self, size_t bytes)
{
    (void)self;
    return malloc(bytes);
}

static void release(void *self, void *block)
{
    (void)self;
    if (block)
        explicit_bzero(block, malloc_usable_size(block));
    free(block);
}

static void *resize(void *self, void *block, size_t bytes)
{
    size_t room = block ? malloc_usable_size(block) : 0;
    void *made;

    if (bytes <= room && bytes > room / 2)
        return block;
    made = malloc(bytes);
    if (!made)
        return NULL;
    if (block)
        memcpy(made, block, bytes < room ? bytes : room);
    release(self, block);
    return made;
}

static const pn_allocator erasing = { allocate, resize, release, NULL };

/* ---- what comes first ---- */

static pn_status take_start(server *self, pn_err *err)
{
    pnl_frame *in = &self->start;
    pn_status status = pnl_frame_receive(in, self->fd, PNL_FRAME_TO_SCRIPT, NULL, until_ready, NULL, err);
    const char *version;

    if (status != PN_OK)
        return status;
    version = pnl_get_text(in, NULL);
    if (in->kind != PNL_FRAME_START || !version || strcmp(version, pn_version()) != 0)
        return pn_fail(err, PN_EIO, "curator: this is penumbra %s, and the curator's library is %.30s", pn_version(),
                       version ? version : "another");
    self->limits.memory_bytes = (size_t)pnl_get_count(in);
    self->limits.seconds = pnl_get_real(in);
    self->limits.instructions = pnl_get_count(in);
    self->limits.threads = (unsigned)pnl_get_count(in);
    self->limits.progress = pnl_get_count(in) ? tell_progress : NULL;
    self->limits.log = hear;
    self->limits.self = self;
    self->budget.epsilon = pnl_get_real(in);
    self->budget.delta = pnl_get_real(in);
    self->budget.rho = pnl_get_real(in);
    self->budget.alpha = pnl_get_real(in);
    self->budget.neighbours = (pn_neighbours)pnl_get_count(in);
    self->budget.gaussian = pnl_get_count(in) > 0;
    self->name = pnl_get_text(in, NULL);
    self->code = pnl_get_text(in, &self->size);
    self->data = (size_t)pnl_get_count(in);
    return pnl_frame_done(in) ? PN_OK : pn_fail(err, PN_EIO, "curator: the script cannot be read");
}

static pn_status take_data(server *self, pn_err *err)
{
    pn_dataset *data = NULL;
    const char *name;
    int fd;
    pn_status status;

    PN_TRY(pnl_frame_receive(&self->in, self->fd, PNL_FRAME_TO_SCRIPT, &fd, until_ready, NULL, err));
    name = pnl_get_text(&self->in, NULL);
    if (self->in.kind != PNL_FRAME_DATA || fd < 0 || !name)
        return pn_fail(err, PN_EIO, "curator: the data set cannot be read");
    status = pn_dataset_attach(&data, fd, name, err);
    (void)close(fd);
    return status == PN_OK ? pnl_curator_data(self->curator, name, data, err) : status;
}

/* Addresses cost nothing, unless they are limited, too. */
static size_t vault_room(size_t memory)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY ? 16 * memory : memory;
}

static pn_status get_ready(server *self, pn_err *err)
{
    pn_status status = take_start(self, err);

    if (status == PN_OK)
        status = pn_ledger_linked(&self->ledger, &self->budget, ask_ledger, self, err);
    if (status == PN_OK)
        status = pnl_curator_new(&self->curator, &self->limits, self->ledger, err);
    for (size_t i = 0; status == PN_OK && i < self->data; i++)
        status = take_data(self, err);
    if (status != PN_OK)
        return status;
    pnl_curator_in_process(self->curator, true);
#ifdef PN_MUTANTS
    pnl_peek_read_map();
#endif
    pn_vault_arm(vault_room(self->limits.memory_bytes), pn_rng_renew);
    return pnl_confine(self->limits.threads != 1, err);
}

/* ---- the end ---- */

static void put_end(server *self, pn_status status, const char *text)
{
    pnl_frame_begin(&self->out, PNL_FRAME_END);
    pnl_put_count(&self->out, status);
    pnl_put_text(&self->out, text ? text : "", text ? strlen(text) : 0);
}

static void send_end(server *self, pn_status status, const char *text)
{
    pn_err err;

    put_end(self, status, text);
    if (self->out.failed)
        put_end(self, PN_ENOMEM, "curator: out of memory for the end of the script");
    (void)send_frame(self, &self->out, &err);
}

static int run(server *self)
{
    char *answer = NULL;
    pn_err err;
    pn_status status = get_ready(self, &err);

    if (status != PN_OK) {
        send_end(self, status == PN_ENOMEM ? status : PN_EIO, err.message);
        return FAILED;
    }
    pnl_frame_begin(&self->out, PNL_FRAME_READY);
    if (send_frame(self, &self->out, &err) != PN_OK)
        return FAILED;
    status = pnl_curator_run(self->curator, self->code, self->size, self->name, &answer, &err);
    send_end(self, status, status == PN_OK ? answer : err.message);
    return EXIT_SUCCESS;
}

static bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

int pnl_serve(void)
{
    server self = { .fd = PNL_SERVE_DESCRIPTOR };

    if (!is_socket(self.fd))
        return FAILED;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)close_range(PNL_SERVE_DESCRIPTOR + 1, ~0u, 0);
    pn_allocator_set(&erasing);
    /* Nothing is given back: the system does, and faster. */
    _exit(run(&self));
}
