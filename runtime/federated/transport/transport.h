/* transport.h -- how the server reaches its parties: the interface and the accounts of traffic.
 *   in_process  parties in this process, which share the columns of one data set between them: to learn, to simulate
 *   zeromq      one process per party, any host, CURVE: both sides are authenticated by key and everything is encrypted
 *   mpi         rank 0 is the server, the others are parties (needs the module with MPI)
 * Every transport passes bytes of wire.h, also within one process: the accounts are those of a network.
 * Depends on: message.h, wire.h, party.h.  Used by: server.h, bindings. */
#ifndef PN_FEDERATED_TRANSPORT_H
#define PN_FEDERATED_TRANSPORT_H

#include "core/task.h"
#include "federated/party/party.h"
#include "federated/wire/message.h"
#include "objective/passes/objective.h"
#include "penumbra/federated.h"

/* One party as the server sees it. */
typedef struct pn_peer {
    char name[PN_NAME_BYTES];
    uint64_t records, columns;                /* 0: not known yet */
    unsigned char alignment[PN_DIGEST_BYTES]; /* zeros: not stated */
    unsigned char session[PN_SESSION_BYTES];
    double feature_bound, label_bound;
    uint64_t bytes_up, bytes_down;     /* of messages of the run, framing and encryption not counted; repetitions are */
    uint64_t scalars_up, scalars_down; /* pn_message_scalars */
    uint64_t messages_up, messages_down;
} pn_peer;

/* What a run needs besides terms, where parties are made by the transport itself. */
typedef struct pn_transport_run {
    const pn_objective *objective; /* in_process: whose columns are split */
    /* in_process: party k draws from split k of it, or from others once something was drawn; NULL: secure */
    pn_rng *rng;
    pn_ledger *overall; /* in_process: charged by the parties */
    bool is_private;
    /* in_process: of the ledger that is made for a party which has none.  Not looked at without privacy */
    pn_budget party;
} pn_transport_run;

typedef struct pn_transport_ops {
    const char *name, *doc;
    bool forgets; /* its parties do not outlive a run, nor what they know of it: no checkpoint */
    bool charges; /* its parties charge pn_transport_run's `overall` themselves, before they draw */
    void (*destroy)(pn_transport *self);
    /* Wait until every party has said who it is; peers[] are filled in.  Done before: nothing.  NULL for in_process,
     * where a plan asks for the columns of an objective (pn_terms_columns). */
    pn_status (*gather)(pn_transport *self, pn_task *task, pn_err *err);
    /* Begin a run; terms themselves go by `exchange`.  NULL: there is nothing to do. */
    pn_status (*begin)(pn_transport *self, const pn_transport_run *run, pn_err *err);
    /* requests[parties] (kind NONE: nothing for this one) and replies[parties], cleared first.  Returns when every
     * request has its reply of the right kind, run, party and round; a REFUSED reply is a reply.
     * Repeats requests to parties that reconnect.
     * Errors: PN_EIO when a party is silent for longer than the time-out (names it), PN_EPRIVACY when one came back
     * without its memory; PN_ECANCELLED; PN_ENOMEM; of in_process what pn_party_answer fails with. */
    pn_status (*exchange)(pn_transport *self, const pn_message *requests, pn_message *replies, pn_task *task,
                          pn_err *err);
    /* The run is over here: tell everybody (farewells[parties]: DONE, REFUSED, or NONE for nothing), as far as it can
     * be done in a moment; no reply is awaited. */
    void (*end)(pn_transport *self, const pn_message *farewells);
} pn_transport_ops;

/* Implementations embed this head first. */
struct pn_transport {
    const pn_transport_ops *ops;
    size_t parties;
    pn_peer *peers; /* [parties] */
    uint64_t records;
    double feature_bound, label_bound; /* the least bounds that hold at all parties, once gathered; 0 before */
    bool gathered, running;
    bool recalled;    /* gathered from the checkpoint of a run that is done: who is still there is only told so */
    char *checkpoint; /* where the server's side of a run is kept (pn_server_keep_at); NULL: nowhere */
    /* Does it hold a run that is done?  Then peers are as they were in it.  Errors: PN_ENOMEM */
    pn_status (*recall)(pn_transport *self, bool *done, pn_err *err);
    int references;
};

/** Checked doors: replies[parties] are zeroed or hold messages, which are cleared; after a failure they are empty.
 *  Errors: as the ops; PN_EIO for a reply that does not answer its request.
 *  Traffic is counted by the implementations, who know the bytes. */
/** The accounts of traffic begin anew.  Also PN_EINVAL while another run goes on over it. */
pn_status pn_transport_begin(pn_transport *transport, const pn_transport_run *run, pn_err *err);
void pn_transport_end(pn_transport *transport, const pn_message *farewells); /* NULL: nothing is said */
pn_status pn_transport_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies, pn_task *task,
                                pn_err *err);
/** For implementations: a head with `parties` peers; add a message of `bytes` to the accounts. */
pn_status pn_transport_init(pn_transport *transport, const pn_transport_ops *ops, size_t parties, pn_err *err);
/** For implementations: what a party's HELLO says of it. */
void pn_transport_meet(pn_transport *transport, size_t party, const pn_message *hello);
void pn_transport_count(pn_transport *transport, size_t party, const pn_message *message, size_t bytes, bool up);
void pn_transport_clear(pn_transport *transport); /* the head's own memory */

/* ---- in_process.c ---- */

/** Party k of the last run, for reports; NULL before.  It refers to the data of that run's objective, which must not be
 *  freed while a run goes on. */
const pn_party *pn_in_process_party(const pn_transport *transport, size_t party);

#endif
