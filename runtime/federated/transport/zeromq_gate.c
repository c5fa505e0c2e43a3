/* zeromq_gate.c -- who may connect: libzmq asks for every connection whether its CURVE key is in the list (ZAP), and
 * the answer binds the connection to a party.  Depends on: zeromq_link.h, libzmq.  Used by: zeromq_server.c.
 *
 * libzmq asks over a socket of its own in the context; the server's loop waits at it together with the messages, so
 * nothing here needs a thread, and connections are let in while the server listens. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <zmq.h>

#include "core/alloc.h"
#include "federated/transport/zeromq_link.h"

#define KEY_BYTES   32
#define FRAMES      7 /* version, request id, domain, address, routing id, mechanism, key */
#define FRAME_BYTES 256
#define AT_ONCE     64  /* questions; others have a turn, too */
#define QUIET       1.0 /* seconds between two lines of the log about strangers */

typedef struct frame {
    size_t size; /* FRAME_BYTES: too long */
    unsigned char data[FRAME_BYTES + 1];
} frame;

struct pn_gate {
    void *socket;
    size_t count;
    unsigned char (*keys)[KEY_BYTES];
    double told;          /* when a stranger was last spoken of */
    unsigned long untold; /* since then */
};

static pn_status read_keys(pn_gate *gate, const char *const *keys, const pn_peer *peers, pn_err *err)
{
    for (size_t k = 0; k < gate->count; k++) {
        if (strlen(keys[k]) != PN_CURVE_TEXT - 1 || !zmq_z85_decode(gate->keys[k], keys[k]))
            return pn_fail(err, PN_EPARSE, "federated.zeromq: the key of %s must be 40 characters of Z85",
                           peers[k].name);
        for (size_t other = 0; other < k; other++) {
            if (memcmp(gate->keys[k], gate->keys[other], KEY_BYTES) == 0)
                return pn_fail(err, PN_EINVAL,
                               "federated.zeromq: %s and %s have the same key; each party needs its own",
                               peers[other].name, peers[k].name);
        }
    }
    return PN_OK;
}

pn_status pn_gate_open(pn_gate **out, void *context, size_t count, const char *const *keys, const pn_peer *peers,
                       pn_err *err)
{
    pn_gate *gate = pn_calloc(1, sizeof *gate);
    pn_status status = PN_OK;

    *out = NULL;
    PN_TRY(pn_made(gate, err, "federated.zeromq: out of memory for %zu keys", count));
    gate->count = count;
    gate->told = -QUIET;
    gate->keys = pn_alloc(count, sizeof *gate->keys);
    if (!gate->keys)
        status = pn_fail(err, PN_ENOMEM, "federated.zeromq: out of memory for %zu keys", count);
    if (status == PN_OK)
        status = read_keys(gate, keys, peers, err);
    if (status == PN_OK) {
        gate->socket = zmq_socket(context, ZMQ_REP);
        if (!gate->socket || zmq_bind(gate->socket, "inproc://zeromq.zap.01") != 0)
            status = pn_link_fail(err, "the gate");
    }
    if (status != PN_OK) {
        pn_gate_close(gate);
        return status;
    }
    *out = gate;
    return PN_OK;
}

void pn_gate_close(pn_gate *gate)
{
    if (!gate)
        return;
    pn_link_close(gate->socket, 0);
    pn_free(gate->keys);
    pn_free(gate);
}

void *pn_gate_socket(const pn_gate *gate)
{
    return gate->socket;
}

/* All frames of a question; how many there were, 0 when there is no question. */
static size_t read_question(void *socket, frame frames[FRAMES])
{
    size_t count = 0;
    bool more = true;

    memset(frames, 0, FRAMES * sizeof *frames);
    while (more && count < FRAMES) {
        zmq_msg_t message;
        frame *f = &frames[count];

        (void)zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) < 0) {
            (void)zmq_msg_close(&message);
            return 0;
        }
        f->size = zmq_msg_size(&message) < FRAME_BYTES ? zmq_msg_size(&message) : FRAME_BYTES;
        memcpy(f->data, zmq_msg_data(&message), f->size);
        more = zmq_msg_more(&message) != 0;
        (void)zmq_msg_close(&message);
        count++;
    }
    return count + pn_link_skip(socket, more);
}

static bool frame_is(const frame *f, const char *text)
{
    return f->size == strlen(text) && memcmp(f->data, text, f->size) == 0;
}

/* The party with this key; gate->count when there is none. */
static size_t find(const pn_gate *gate, const unsigned char *key)
{
    size_t k = 0;

    while (k < gate->count && memcmp(gate->keys[k], key, KEY_BYTES) != 0)
        k++;
    return k;
}

static void send_frame(void *socket, const void *data, size_t size, bool more)
{
    (void)zmq_send(socket, data, size, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
}

static void reply(const pn_gate *gate, const frame *id, bool welcome, const char *user)
{
    const char *text = welcome ? "welcome" : "unknown key";

    send_frame(gate->socket, "1.0", 3, true);
    send_frame(gate->socket, id->data, id->size, true);
    send_frame(gate->socket, welcome ? "200" : "400", 3, true);
    send_frame(gate->socket, text, strlen(text), true);
    send_frame(gate->socket, user, strlen(user), true);
    send_frame(gate->socket, "", 0, false);
}

/* Strangers may knock as often as they like; the log hears of it once a second. */
static void tell(pn_gate *gate, const frame *address, const frame *key, pn_zeromq_log log, void *log_self)
{
    char text[PN_CURVE_TEXT] = "", why[160];
    pn_zeromq_event event = { "refused", pn_link_printable((const char *)address->data), why };

    if (!log || pn_link_now() - gate->told < QUIET) {
        gate->untold++;
        return;
    }
    if (key->size == KEY_BYTES)
        (void)zmq_z85_encode(text, key->data, KEY_BYTES);
    if (gate->untold > 0)
        (void)snprintf(why, sizeof why, "its key %s is not in the list (and %lu more)", text, gate->untold);
    else
        (void)snprintf(why, sizeof why, "its key %s is not in the list", text);
    gate->told = pn_link_now();
    gate->untold = 0;
    log(log_self, &event);
}

void pn_gate_answer(pn_gate *gate, pn_zeromq_log log, void *log_self)
{
    frame frames[FRAMES];
    size_t count;

    for (int i = 0; i < AT_ONCE && (count = read_question(gate->socket, frames)) > 0; i++) {
        bool asked = count == FRAMES && frame_is(&frames[0], "1.0") && frame_is(&frames[5], "CURVE") &&
                     frames[6].size == KEY_BYTES;
        size_t party = asked ? find(gate, frames[6].data) : gate->count;
        char user[24] = "";

        if (party < gate->count)
            (void)snprintf(user, sizeof user, "%zu", party);
        reply(gate, &frames[1], party < gate->count, user);
        if (party == gate->count)
            tell(gate, &frames[3], &frames[6], log, log_self);
    }
}
