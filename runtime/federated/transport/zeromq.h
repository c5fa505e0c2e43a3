/* zeromq.h -- the transport over ZeroMQ with CURVE: server side, party side, keys.
 * The server binds a ROUTER, each party connects a DEALER.  CURVE authenticates both: the server by its public key, which a party must have;
 * a party by its own, which must be in the server's list (ZAP): a message belongs to the party whose key its connection has, whatever it
 * says.  Others are turned away.
 *
 * What a server does with what comes is at the top of zeromq_talk.c: a reply that answers nothing is dropped, bytes that are no message are
 * dropped up to a number, and a party that came back with other data, or without its memory of this run, stops it.  Whom a request does not
 * reach, or who comes back, is sent it again; a party that computes says nothing, so `timeout` bounds one answer, too.
 * Either end belongs to the process that opened it, not to a child of it.  Depends on: transport.h, libzmq.  Used by: bindings. */
#ifndef PN_FEDERATED_ZEROMQ_H
#define PN_FEDERATED_ZEROMQ_H

#include "federated/transport/transport.h"
#include "federated/wire/wire.h"

#define PN_CURVE_TEXT 41 /* a key in Z85, with its zero */

typedef struct pn_curve_keys {
    char public_key[PN_CURVE_TEXT], secret_key[PN_CURVE_TEXT];
} pn_curve_keys;

/** A new pair: the secret key to `path` (mode 600, refused if something is there), the public one to path.pub.
 *  Errors: PN_EIO; PN_EINVAL when a file is there already. */
pn_status pn_curve_make(const char *path, pn_curve_keys *keys, pn_err *err);
/** Errors: PN_EIO, also when others may read it; PN_EPARSE. */
pn_status pn_curve_read(const char *path, pn_curve_keys *keys, pn_err *err);
/** A public key as text, or the one in the file of that name.  Errors: PN_EPARSE (says what a key looks like). */
pn_status pn_curve_public(const char *text_or_path, char key[PN_CURVE_TEXT], pn_err *err);

typedef struct pn_zeromq_event { /* for logs: public */
    const char *what;            /* "joined", "back", "lost", "refused", "terms" ... static */
    const char *who;             /* party's name, or an address */
    const char *why;             /* or NULL */
} pn_zeromq_event;
typedef void (*pn_zeromq_log)(void *self, const pn_zeromq_event *event);

typedef struct pn_zeromq_server_options {
    const char *listen; /* "tcp://0.0.0.0:5571"; port 0 takes a free one: see pn_zeromq_endpoint */
    pn_curve_keys keys;
    size_t parties;
    const char *const *names;       /* [parties] */
    const char *const *public_keys; /* [parties] Z85 */
    double timeout;                 /* seconds of silence of a party before the run stops; 0: 60 */
    pn_wire_limits limits;
    pn_zeromq_log log;
    void *log_self;
} pn_zeromq_server_options;

/** Listens from here on; who knocks is let in while the transport gathers or exchanges.  Names and keys are copied.
 *  Errors: PN_EINVAL, PN_EPARSE for an option; PN_EIO where it cannot listen; PN_EUNSUPPORTED without CURVE; PN_ENOMEM. */
pn_status pn_transport_zeromq(pn_transport **out, const pn_zeromq_server_options *options, pn_err *err);
/** Where it really listens, with the port. */
const char *pn_zeromq_endpoint(const pn_transport *transport);

typedef struct pn_zeromq_party_options {
    const char *connect;
    pn_curve_keys keys;
    char server_key[PN_CURVE_TEXT];
    double timeout; /* seconds without a word of the server before it gives up; 0: 600 */
    pn_wire_limits limits;
    pn_zeromq_log log;
    void *log_self;
} pn_zeromq_party_options;

/** Serve until DONE or REFUSED.  Says HELLO when it connects and again while nothing is heard.  Waits without spinning.
 *  Errors: PN_EIO when the server is silent for longer than the time-out or cannot be understood; PN_EPRIVACY when it does not know this
 *  party's key; PN_EUNSUPPORTED for one of another version; PN_EINVAL for an option; PN_ECANCELLED; what pn_party_answer fails with. */
pn_status pn_zeromq_serve(pn_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err);

#endif
