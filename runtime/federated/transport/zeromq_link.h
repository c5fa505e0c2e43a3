/* zeromq_link.h -- what both ends of the transport over ZeroMQ share: contexts, sockets, frames, the clock; and who may
 * come in.  Private to zeromq*.c and their tests.  Depends on: zeromq.h, libzmq.
 * Used by: zeromq_server.c, zeromq_party.c, zeromq_gate.c. */
#ifndef PN_FEDERATED_ZEROMQ_LINK_H
#define PN_FEDERATED_ZEROMQ_LINK_H

#include "federated/transport/zeromq.h"

#define PN_LINK_TICK   100 /* milliseconds: a cancel is seen within that */
#define PN_LINK_LINGER 500 /* milliseconds that a last word may take to leave */
#define PN_LINK_BAD    16  /* messages of a peer that cannot be read, and then it is given up */

/** Seconds of a clock that only goes forward. */
double pn_link_now(void);
/** "federated.zeromq: WHAT: " and libzmq's reason; PN_ENOMEM or PN_EIO. */
pn_status pn_link_fail(pn_err *err, const char *what);
/** A context without a waiting end.  pn_link_end waits for at most PN_LINK_LINGER.  Errors: as pn_link_fail. */
pn_status pn_link_begin(void **context, pn_err *err);
void pn_link_end(void *context);
/** A socket with heartbeats, limits of time, `bytes` at most in a message and `queue` messages at most waiting.
 *  Errors: as pn_link_fail, with *out NULL. */
pn_status pn_link_socket(void **out, void *context, int type, size_t bytes, int queue, pn_err *err);
/** Close it; what was said last may still leave for `linger` milliseconds. */
void pn_link_close(void *socket, int linger);
/** Whether `endpoint` is a "tcp://HOST:PORT" that `what` ("listen", "connect") can be. */
pn_status pn_link_check_endpoint(const char *endpoint, const char *what, pn_err *err);

/** Throw away what is left of a message of several frames.  The number of frames. */
size_t pn_link_skip(void *socket, bool more);
/** `text` if it is printable and short, else "?". */
const char *pn_link_printable(const char *text);

/* ---- zeromq_gate.c: the list of keys (ZAP, https://rfc.zeromq.org/spec/27) ---- */

typedef struct pn_gate pn_gate;

/** keys[count]: public, in Z85, all different.  One gate in each context;
 *  it must be there before a server socket listens.
 *  Errors: PN_EPARSE for a key, PN_EINVAL for one that is there twice (names both), PN_EIO, PN_ENOMEM. */
pn_status pn_gate_open(pn_gate **out, void *context, size_t count, const char *const *keys, const pn_peer *peers,
                       pn_err *err);
void pn_gate_close(pn_gate *gate); /* NULL allowed */
/** The socket to wait at, and what to do when there is something to read.  A party gets its index as User-Id. */
void *pn_gate_socket(const pn_gate *gate);
void pn_gate_answer(pn_gate *gate, pn_zeromq_log log, void *log_self);

/* ---- zeromq_party.c: the loop, whoever answers ---- */

typedef enum pn_link_next { PN_LINK_GOES_ON = 0, PN_LINK_OVER } pn_link_next;

typedef struct pn_link_party {
    void *self;
    void (*hello)(void *self, pn_message *hello);
    /* As pn_party_answer; *next: whether the run is over for this party. */
    pn_status (*answer)(void *self, const pn_message *request, pn_message *reply, pn_link_next *next, pn_task *task,
                        pn_err *err);
} pn_link_party;

pn_status pn_link_serve(const pn_link_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err);

#endif
