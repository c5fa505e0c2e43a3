/* zeromq_link.c -- contexts, sockets and frames of libzmq, with the settings that both ends want.
 * Depends on: zeromq_link.h, libzmq.
 * Used by: zeromq_server.c, zeromq_party.c. */
#define _GNU_SOURCE

#include <errno.h>
#include <string.h>
#include <time.h>

#include <zmq.h>

#include "core/file.h"
#include "federated/transport/zeromq_link.h"
#include "federated/wire/wire_check.h"

#define HANDSHAKE_MS 10000
#define BEAT_MS      5000
#define BEAT_LOST_MS 20000
#define RETRY_MS     100
#define RETRY_MAX_MS 5000

double pn_link_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

pn_status pn_link_fail(pn_err *err, const char *what)
{
    int error = errno;

    return pn_fail(err, error == ENOMEM ? PN_ENOMEM : PN_EIO, "federated.zeromq: %s: %s", what, zmq_strerror(error));
}

pn_status pn_link_begin(void **context, pn_err *err)
{
    /* Its threads open sockets whenever they like, and not by our door. */
    *context = pn_file_fill_standard() ? zmq_ctx_new() : NULL;
    if (!*context)
        return pn_link_fail(err, "a context");
    (void)zmq_ctx_set(*context, ZMQ_BLOCKY, 0);
    return PN_OK;
}

void pn_link_end(void *context)
{
    while (context && zmq_ctx_term(context) != 0 && errno == EINTR)
        ;
}

static int set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value);
}

pn_status pn_link_socket(void **out, void *context, int type, size_t bytes, int queue, pn_err *err)
{
    int64_t most = bytes > (size_t)INT64_MAX ? INT64_MAX : (int64_t)bytes;
    void *socket = zmq_socket(context, type);
    int failed;

    *out = NULL;
    if (!socket)
        return pn_link_fail(err, "a socket");
    failed = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    failed |= set(socket, ZMQ_LINGER, 0);
    failed |= set(socket, ZMQ_SNDHWM, queue);
    failed |= set(socket, ZMQ_RCVHWM, queue);
    failed |= set(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
    failed |= set(socket, ZMQ_HEARTBEAT_IVL, BEAT_MS);
    failed |= set(socket, ZMQ_HEARTBEAT_TIMEOUT, BEAT_LOST_MS);
    failed |= set(socket, ZMQ_HEARTBEAT_TTL, BEAT_LOST_MS);
    failed |= set(socket, ZMQ_RECONNECT_IVL, RETRY_MS);
    failed |= set(socket, ZMQ_RECONNECT_IVL_MAX, RETRY_MAX_MS);
    failed |= set(socket, ZMQ_CONNECT_TIMEOUT, RETRY_MAX_MS);
    if (failed) {
        pn_status status = pn_link_fail(err, "an option of a socket");

        (void)zmq_close(socket);
        return status;
    }
    *out = socket;
    return PN_OK;
}

void pn_link_close(void *socket, int linger)
{
    if (!socket)
        return;
    (void)set(socket, ZMQ_LINGER, linger);
    (void)zmq_close(socket);
}

/* 5571, and for who listens * and 0; ZeroMQ would take 80000 for 14464. */
static bool is_port(const char *text)
{
    unsigned long port = 0;

    if (strcmp(text, "*") == 0)
        return true;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 5)
            return false;
        port = 10 * port + (unsigned long)(text[i] - '0');
    }
    return text[0] != '\0' && port <= 65535;
}

pn_status pn_link_check_endpoint(const char *endpoint, const char *what, pn_err *err)
{
    const char *colon = endpoint ? strrchr(endpoint, ':') : NULL;

    if (endpoint && strncmp(endpoint, "tcp://", 6) == 0 && strlen(endpoint) < 256 && colon - endpoint > 6 &&
        is_port(colon + 1) && pn_wire_printable(endpoint, strlen(endpoint) + 1))
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "federated.zeromq: %s must be \"tcp://HOST:PORT\" with a port up to 65535, got \"%.200s\"", what,
                   endpoint ? endpoint : "");
}

size_t pn_link_skip(void *socket, bool more)
{
    size_t frames = 0;

    while (more) {
        zmq_msg_t frame;

        (void)zmq_msg_init(&frame);
        more = zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&frame) != 0;
        (void)zmq_msg_close(&frame);
        frames++;
    }
    return frames;
}

const char *pn_link_printable(const char *text)
{
    return text && strlen(text) < 128 && pn_wire_printable(text, strlen(text) + 1) ? text : "?";
}
