/* channels.c -- see channels.h: opening, requests, replies.  Depends on: channels_impl.h.  Used by: lkernel.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "bindings/kernel/channels_impl.h"
#include "core/file.h"

#define LINGER_MS   1000
#define SIGNED_SIZE (2 * crypto_auth_hmacsha256_BYTES)

static const char delimiter[] = "<IDS|MSG>";

/* ---- names, headers, signatures ---- */

void pnl_channels_id(char out[PNL_ID_BYTES])
{
    unsigned char bytes[PNL_ID_BYTES / 2];

    randombytes_buf(bytes, sizeof bytes);
    (void)sodium_bin2hex(out, PNL_ID_BYTES, bytes, sizeof bytes);
}

const char *pnl_channels_session(const pnl_channels *self)
{
    return self->session;
}

void pnl_channels_header(const pnl_channels *self, const char *type, char *out, size_t size)
{
    char id[PNL_ID_BYTES], when[32];
    struct timespec now;
    struct tm utc;

    pnl_channels_id(id);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out, size,
                   "{\"msg_id\":\"%s\",\"session\":\"%s\",\"username\":\"kernel\",\"date\":\"%s.%06ldZ\","
                   "\"msg_type\":\"%s\",\"version\":\"5.3\"}",
                   id, self->session, when, now.tv_nsec / 1000, type);
}

static void sign(const pnl_channels *self, const pnl_bytes parts[PNL_PARTS], char out[SIGNED_SIZE + 1])
{
    crypto_auth_hmacsha256_state state;
    unsigned char digest[crypto_auth_hmacsha256_BYTES];

    crypto_auth_hmacsha256_init(&state, (const unsigned char *)self->key, self->key_size);
    for (int k = 0; k < PNL_PARTS; k++)
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)parts[k].data, parts[k].size);
    crypto_auth_hmacsha256_final(&state, digest);
    (void)sodium_bin2hex(out, SIGNED_SIZE + 1, digest, sizeof digest);
}

static bool is_signed(const pnl_channels *self, const pnl_bytes parts[PNL_PARTS], pnl_bytes signature)
{
    char wanted[SIGNED_SIZE + 1];

    sign(self, parts, wanted);
    return signature.size == SIGNED_SIZE && sodium_memcmp(wanted, signature.data, SIGNED_SIZE) == 0;
}

/* ---- frames ---- */

bool pnl_send_frame(void *socket, pnl_bytes frame, bool more)
{
    int sent;

    do
        sent = zmq_send(socket, frame.data, frame.size, more ? ZMQ_SNDMORE : 0);
    while (sent < 0 && zmq_errno() == EINTR); /* a signal is no reason to lose it */
    return sent >= 0;
}

bool pnl_send_signed(const pnl_channels *self, void *socket, const pnl_bytes parts[PNL_PARTS])
{
    char signature[SIGNED_SIZE + 1];
    bool fine;

    sign(self, parts, signature);
    fine = pnl_send_frame(socket, (pnl_bytes){ delimiter, sizeof delimiter - 1 }, true) &&
           pnl_send_frame(socket, (pnl_bytes){ signature, strlen(signature) }, true);
    for (int k = 0; fine && k < PNL_PARTS; k++)
        fine = pnl_send_frame(socket, parts[k], k + 1 < PNL_PARTS);
    return fine;
}

static pnl_bytes bytes_of(const zmq_msg_t *frame)
{
    zmq_msg_t *at = (zmq_msg_t *)(uintptr_t)frame; /* libzmq asks for no const */

    return (pnl_bytes){ zmq_msg_data(at), zmq_msg_size(at) };
}

static bool is_delimiter(pnl_bytes frame)
{
    return frame.size == sizeof delimiter - 1 && memcmp(frame.data, delimiter, frame.size) == 0;
}

/* All frames of a message, those beyond the room (buffers, which no request here has) read and dropped. */
static bool read_frames(void *socket, pnl_request *out)
{
    const size_t room = sizeof out->frames / sizeof *out->frames;
    bool more = true;

    while (more) {
        zmq_msg_t frame;

        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, 0) < 0) {
            zmq_msg_close(&frame);
            return false;
        }
        more = zmq_msg_more(&frame) != 0;
        if (out->count < room)
            out->frames[out->count++] = frame;
        else
            zmq_msg_close(&frame);
    }
    return true;
}

static bool is_whole(const pnl_channels *self, pnl_request *request)
{
    pnl_bytes parts[PNL_PARTS];
    size_t at = 0;

    while (at < request->count && !is_delimiter(bytes_of(&request->frames[at])))
        at++;
    if (at > PNL_ADDRESSES || at + 2 + PNL_PARTS > request->count)
        return false;
    request->addresses = at;
    for (int k = 0; k < PNL_PARTS; k++)
        parts[k] = pnl_request_part(request, k);
    return is_signed(self, parts, bytes_of(&request->frames[at + 1]));
}

void pnl_request_clear(pnl_request *request)
{
    for (size_t k = 0; k < request->count; k++)
        zmq_msg_close(&request->frames[k]);
    request->count = request->addresses = 0;
}

pnl_bytes pnl_request_part(const pnl_request *request, int part)
{
    return bytes_of(&request->frames[request->addresses + 2 + (size_t)part]);
}

bool pnl_channels_receive(pnl_channels *self, int ms, pnl_request *out)
{
    void *const sockets[] = { [PNL_SHELL] = self->shell, [PNL_CONTROL] = self->control };
    zmq_pollitem_t waiting[] = { { self->control, 0, ZMQ_POLLIN, 0 }, { self->shell, 0, ZMQ_POLLIN, 0 } };

    pnl_request_clear(out);
    if (zmq_poll(waiting, 2, ms) <= 0)
        return false;
    out->channel = waiting[0].revents ? PNL_CONTROL : PNL_SHELL;
    if (read_frames(sockets[out->channel], out) && is_whole(self, out))
        return true;
    pnl_request_clear(out);
    return false;
}

bool pnl_channels_reply(pnl_channels *self, const pnl_request *request, const pnl_bytes parts[PNL_PARTS])
{
    void *socket = request->channel == PNL_CONTROL ? self->control : self->shell;
    bool fine = true;

    for (size_t k = 0; fine && k < request->addresses; k++)
        fine = pnl_send_frame(socket, bytes_of(&request->frames[k]), true);
    return fine && pnl_send_signed(self, socket, parts);
}

/* ---- to the other thread ---- */

/* An order is done when its answer, an empty frame, comes: what is printed after it goes out after it. */
static bool is_done(pnl_channels *self)
{
    char answer;
    int got;

    do
        got = zmq_recv(self->orders, &answer, sizeof answer, 0);
    while (got < 0 && zmq_errno() == EINTR);
    return got >= 0;
}

bool pnl_channels_publish(pnl_channels *self, pnl_bytes topic, const pnl_bytes parts[PNL_PARTS])
{
    bool fine;

    (void)fflush(stdout);
    (void)fflush(stderr);
    fine = pnl_send_frame(self->orders, topic, true);
    for (int k = 0; fine && k < PNL_PARTS; k++)
        fine = pnl_send_frame(self->orders, parts[k], k + 1 < PNL_PARTS);
    return fine && is_done(self);
}

/* An order of one frame. */
bool pnl_channels_answer(pnl_channels *self, pnl_bytes header)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    return pnl_send_frame(self->orders, header, false) && is_done(self);
}

/* ---- opening ---- */

static void *bind_socket(pnl_channels *self, const pnl_connection *to, int kind, int port)
{
    void *socket = zmq_socket(self->context, kind);
    char address[300];
    int linger = LINGER_MS;
    bool tcp = strcmp(to->transport, "tcp") == 0;

    (void)snprintf(address, sizeof address, "%s://%s%c%d", to->transport, to->ip, tcp ? ':' : '-', port);
    if (socket && zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger) == 0 && zmq_bind(socket, address) == 0)
        return socket;
    if (socket)
        zmq_close(socket);
    return NULL;
}

static bool bind_all(pnl_channels *self, const pnl_connection *to)
{
    self->shell = bind_socket(self, to, ZMQ_ROUTER, to->shell);
    self->control = self->shell ? bind_socket(self, to, ZMQ_ROUTER, to->control) : NULL;
    self->input = self->control ? bind_socket(self, to, ZMQ_ROUTER, to->stdin_port) : NULL;
    self->iopub = self->input ? bind_socket(self, to, ZMQ_PUB, to->iopub) : NULL;
    self->heartbeat = self->iopub ? bind_socket(self, to, ZMQ_REP, to->heartbeat) : NULL;
    return self->heartbeat != NULL;
}

static bool join_threads(pnl_channels *self)
{
    self->orders = zmq_socket(self->context, ZMQ_PAIR);
    self->obeys = zmq_socket(self->context, ZMQ_PAIR);
    return self->orders && self->obeys && zmq_bind(self->obeys, "inproc://orders") == 0 &&
           zmq_connect(self->orders, "inproc://orders") == 0;
}

/* From now on file `number` is the end of a pipe, self->printed[which] the other. */
static bool take_over(pnl_channels *self, int which, int number)
{
    int ends[2];
    bool fine;

    if (!pn_file_pipe(ends))
        return false;
    self->printed[which] = ends[0];
    fine = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && pn_file_stand_in(number, ends[1], &self->before[which]);
    close(ends[1]);
    return fine;
}

static bool begin_thread(pnl_channels *self)
{
    sigset_t all, before;

    sigfillset(&all); /* signals are for the thread that runs Lua */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    self->runs = pthread_create(&self->thread, NULL, pnl_publish_loop, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return self->runs;
}

pnl_channels *pnl_channels_open(const pnl_connection *connection, const char **why)
{
    pnl_channels *self = calloc(1, sizeof *self);

    *why = "out of memory";
    if (!self)
        return NULL;
    self->before[0] = self->before[1] = self->printed[0] = self->printed[1] = -1;
    self->key_size = strlen(connection->key);
    self->key = strdup(connection->key);
    self->context = zmq_ctx_new();
    if (!self->key || !self->context || sodium_init() < 0)
        goto failed;
    pnl_channels_id(self->session);
    if (!bind_all(self, connection) || !join_threads(self)) {
        *why = zmq_strerror(zmq_errno());
        goto failed;
    }
    *why = "standard output and error could not be redirected";
    (void)fflush(stdout);
    (void)fflush(stderr);
    if (!take_over(self, 0, STDOUT_FILENO) || !take_over(self, 1, STDERR_FILENO))
        goto failed;
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    *why = "out of memory or threads";
    if (begin_thread(self))
        return self;
failed:
    pnl_channels_close(self);
    return NULL;
}

static void give_back(pnl_channels *self, int which, int number)
{
    if (self->before[which] >= 0)
        (void)pn_file_stand_in(number, self->before[which], NULL);
}

static void close_file(int file)
{
    if (file >= 0)
        close(file);
}

void pnl_channels_close(pnl_channels *self)
{
    void *sockets[6];

    if (!self)
        return;
    (void)fflush(stdout);
    (void)fflush(stderr);
    give_back(self, 0, STDOUT_FILENO);
    give_back(self, 1, STDERR_FILENO);
    if (self->runs) {
        (void)pnl_send_frame(self->orders, (pnl_bytes){ "", 0 }, false); /* the end */
        pthread_join(self->thread, NULL);
    }
    memcpy(sockets, (void *[]){ self->shell, self->control, self->input, self->iopub, self->heartbeat, self->obeys },
           sizeof sockets);
    for (size_t k = 0; k < sizeof sockets / sizeof *sockets; k++)
        if (sockets[k])
            zmq_close(sockets[k]);
    if (self->orders)
        zmq_close(self->orders);
    if (self->context)
        zmq_ctx_term(self->context);
    for (int k = 0; k < 2; k++) {
        close_file(self->before[k]);
        close_file(self->printed[k]);
    }
    free(self->parent);
    free(self->key);
    free(self);
}
