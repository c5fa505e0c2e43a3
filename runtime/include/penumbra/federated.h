/* federated.h -- training over parties that hold different columns of the same records: a party, a server, and how
 * they reach each other.  A program that uses it links libpenumbra_federated: pkg-config penumbra-federated.
 *
 * The server makes a transport, calls pn_federated_open once, and plans with the solver "federated_frank_wolfe",
 * whose option "transport" is an object "pn.transport"; the objective is over pn_transport_shape's data set where the
 * server has no records.  A party is opened over its own columns, with a ledger of its own, and serves.  Depends
 * on: dataset.h, ledger.h, objective.h, plan.h, ranks.h. */
#ifndef PENUMBRA_FEDERATED_H
#define PENUMBRA_FEDERATED_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/dataset.h"
#include "penumbra/ledger.h"
#include "penumbra/objective.h"
#include "penumbra/plan.h"
#include "penumbra/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds federated_frank_wolfe to the table of solvers, for the process: again it changes nothing, also from
 *  several threads at once.  A thread calls it before it plans.  Errors:
 *  PN_EINVAL where the table has no room. */
pn_status pn_federated_open(pn_err *err);

/* ---- a party: its columns, its noise, its ledger ---- */

#define PN_DIGEST_BYTES 32

typedef struct pn_party pn_party;

typedef struct pn_party_options {
    const char *name; /* for messages and logs; NULL: "party" */
    /* borrowed, must outlive the party: its columns and the labels; linf and label bounds enforced */
    const pn_dataset *data;
    size_t first, columns; /* its columns are first .. first + columns - 1 of data; columns 0: all from `first` on */
    pn_ledger *ledger;     /* kept; required unless the run is not private */
    /* kept; NULL, or charged for the same releases after `ledger`: of an orchestrator in the same process */
    pn_ledger *overall;
    pn_rng *rng;            /* borrowed while opening: the key of its noise is drawn from it; NULL: a secure one */
    const char *checkpoint; /* NULL, or a path; needs a ledger that has a file */
    const unsigned char *alignment; /* [PN_DIGEST_BYTES] or NULL */
    bool nonprivate;                /* agrees to terms that are not private */
    /* 0, or the most that terms may let all parties together spend on one person (below), at the delta of its
     * ledger; terms beyond are refused */
    double person_epsilon;
} pn_party_options;

/** Errors: PN_EPRIVACY where the data enforces no linf or label bound; PN_EINVAL; PN_EPARSE, PN_EIO, PN_EPRIVACY for
 *  the checkpoint; PN_ENOMEM. */
pn_status pn_party_new(pn_party **out, const pn_party_options *options, pn_err *err);
void pn_party_free(pn_party *party);

/** x[columns]: its part of the model after DONE, zeros before. */
void pn_party_model(const pn_party *party, double *x);
size_t pn_party_columns(const pn_party *party);

/* ---- transports: how the server reaches its parties ---- */

typedef struct pn_transport pn_transport;

pn_transport *pn_transport_keep(pn_transport *transport);
void pn_transport_free(pn_transport *transport); /* drops one reference; NULL allowed */

/** Wait until every party has said who it is.
 *  Errors: PN_EINVAL where their records or the order of these differ; PN_EIO when one is silent for too long
 *          (names it); PN_ECANCELLED. */
pn_status pn_transport_gather(pn_transport *transport, pn_task *task, pn_err *err);

/** A data set of the records and columns of all parties, without entries: bounds and sizes for a plan where nobody
 *  has the records.  Objectives over it have bounds, and refuse to be evaluated.  Errors: PN_EINVAL before
 *  pn_transport_gather; PN_ENOMEM. */
pn_status pn_transport_shape(const pn_transport *transport, pn_dataset **out, pn_err *err);

typedef struct pn_in_process_options {
    size_t parties;
    const size_t *columns; /* [parties], sum d; NULL: about as many each */
    /* [parties] each party's own, kept; NULL: one is made for each that holds exactly its part of the plan */
    pn_ledger *const *ledgers;
} pn_in_process_options;

/** Errors: PN_EINVAL for no or too many parties; PN_ENOMEM. */
pn_status pn_transport_in_process(pn_transport **out, const pn_in_process_options *options, pn_err *err);

/** On rank 0.  `ranks` is kept.  timeout: seconds of silence of a party before the run stops; 0: 60.  Errors:
 *  PN_EINVAL on other ranks, and where there is one rank only; PN_ENOMEM. */
pn_status pn_transport_ranks(pn_transport **out, pn_ranks *ranks, double timeout, pn_err *err);

/** On the other ranks: say HELLO, serve until DONE or REFUSED.  Waits without spinning.  timeout: seconds without a
 *  word of the server before it gives up; 0: 600.  Errors: PN_EINVAL on rank 0; PN_EIO when the server is silent;
 *  PN_EPARSE for bytes that are no message; PN_ECANCELLED; PN_ENOMEM, PN_EIO of the ledger or the checkpoint. */
pn_status pn_party_serve_ranks(pn_party *party, pn_ranks *ranks, double timeout, pn_task *task, pn_err *err);

/* ---- ZeroMQ with CURVE: both sides are authenticated by key, and everything is encrypted ---- */

#define PN_CURVE_TEXT 41 /* a key in Z85, with its zero */

typedef struct pn_curve_keys {
    char public_key[PN_CURVE_TEXT], secret_key[PN_CURVE_TEXT];
} pn_curve_keys;

/** A new pair: the secret key to `path` (mode 600), the public one to path.pub.  A secret key that is there without its
 *  path.pub, of a call that was killed, gets it, and is the pair.  Errors: PN_EIO; PN_EINVAL when anything else is
 *  there already. */
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

/* What a reader accepts; 0 in any field: the default. */
typedef struct pn_wire_limits {
    size_t bytes;  /* of one message: 256 MiB */
    size_t vector; /* entries of q or a feature: 2^24 */
    size_t block;  /* entries of x_k: 2^24 */
} pn_wire_limits;

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
 *  Errors: PN_EINVAL, PN_EPARSE for an option; PN_EIO where it cannot listen; PN_EUNSUPPORTED without CURVE;
 *          PN_ENOMEM. */
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

/** Serve until DONE or REFUSED.  Says HELLO when it connects and again while nothing is heard.  Waits without
 *  spinning.
 *  Errors: PN_EIO when the server is silent for longer than the time-out or cannot be understood; PN_EPRIVACY when it
 *  does not know this party's key; PN_EUNSUPPORTED for one of another version; PN_EINVAL for an option;
 *  PN_ECANCELLED; PN_ENOMEM, PN_EIO of the ledger or the checkpoint. */
pn_status pn_party_serve_zeromq(pn_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
