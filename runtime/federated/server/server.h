/* server.h -- the server's side of a federated run, over any transport: x, the features that it was given, q, rounds
 * and their checkpoint.  Everything here is post-processing of what parties released:
 *     x <- moved by the codes of each round, q = sum_i x_i v_i over the features v_i that were uploaded
 *         (never noised again).
 * q is computed anew in each round, in the order in which features came.  A restarted server reads x and the list of
 * features from its checkpoint and asks for the features again, which parties give for nothing: q is the same to the
 * last bit, and so is the run.
 * Depends on: transport.h.  Used by: federated_frank_wolfe.c. */
#ifndef PN_FEDERATED_SERVER_H
#define PN_FEDERATED_SERVER_H

#include "federated/transport/transport.h"

typedef struct pn_server pn_server;

typedef struct pn_server_options {
    pn_transport *transport; /* kept */
    const pn_terms *terms;   /* [parties], copied: the same but for `party`, `columns`, `sampled`, `radius` */
    /* NULL, or a path: there already, the run in it goes on if its terms are these (but for the run's id) */
    const char *checkpoint;
    /* kept; NULL, or charged for all parties before a request is sent (of transports whose parties do not do it).  With
     * a file: each release once, restarts or not */
    pn_ledger *overall;
    pn_event *selection, *feature; /* kept; what is charged of one release at one party; scores: pn_release_score */
} pn_server_options;

/** Gathers the parties, sends the terms, waits until all are ready.  The transport has begun a run, which ends with the
 *  server, or with a failure here.  Errors: PN_EPRIVACY when a party refused (its reason), PN_EBUDGET when its budget
 *  was why; PN_EINVAL when the parties are not those of the terms, the checkpoint is of other terms, or there is one
 *  and parties forget; PN_EPRIVACY for a file's ledger that is not the one that the run was charged to; as the
 *  transport's and those of checkpoints. */
pn_status pn_server_new(pn_server **out, const pn_server_options *options, pn_task *task, pn_err *err);
/**
 * What a run over `options->checkpoint` would still charge to `overall`: options as for pn_server_new,
 * without a transport.
 *   features  the most that the whole run uploads.
 *   *resumed  false, with *out NULL, where there is no checkpoint of these terms that can be read now: the run begins.
 *   *out      NULL where nothing is left.
 * Errors: PN_EPRIVACY when the ledger is not the one that the run was charged to; PN_ENOMEM.
 */
pn_status pn_server_left(const pn_server_options *options, size_t features, bool *resumed, pn_event **out, pn_err *err);
/** The server's side of a run over `transport` is kept in a file at `path`, copied: pn_solver_federated_frank_wolfe
 *  goes on with it, and one that is done needs no parties any more: then peers are as they were in it.  A file that
 *  cannot be read: as if it were not there.
 *  Errors: PN_ENOMEM. */
pn_status pn_server_keep_at(pn_transport *transport, const char *path, pn_err *err);
/** One party's score where those of a round cost the most together: x spread evenly in the sense of release.h. */
pn_status pn_server_spread_score(pn_event **out, const pn_terms *terms, pn_err *err);
/** NULL allowed.  Says goodbye with REFUSED "stopped", or why, unless pn_server_finish was called; says nothing where a
 *  checkpoint lets the run go on later. */
void pn_server_free(pn_server *server);

/* What a round did; public or paid. */
typedef struct pn_server_round {
    uint64_t round;   /* from 1 */
    double step_size; /* gamma */
    size_t moved;     /* parties that did not stay */
    size_t features;  /* uploaded in this round */
    size_t best;      /* ball: the party that moved, from 1; 0: all stayed */
    int64_t code;     /* ball: toward +-r e_i of all of x, +-(i + 1); 0: all stayed */
} pn_server_round;

/** One round.  A failure before its end leaves the state as it was: it may be called again, and asks the same.
 *  Errors: PN_EINVAL when all rounds are done; PN_EPRIVACY, PN_EBUDGET when a party refused; PN_EIO when one answered
 *  what no party may; PN_EBUDGET, PN_EIO of the ledger, PN_EIO of the checkpoint; as the transport's. */
pn_status pn_server_step(pn_server *server, pn_server_round *out, pn_task *task, pn_err *err);
uint64_t pn_server_rounds(const pn_server *server); /* done, those before a restart included */
/** Rounds that parties may have paid for: the one that failed last included. */
uint64_t pn_server_asked(const pn_server *server);
/** Likewise features, each once. */
size_t pn_server_asked_features(const pn_server *server);
/** Every party receives its part of the model. */
void pn_server_finish(pn_server *server);

/** x[d], parties one after the other; q[m] borrowed. */
void pn_server_model(const pn_server *server, double *x);
const double *pn_server_margin(const pn_server *server); /* zeros where a restart found that all rounds were done */
/** Distinct features uploaded so far by `party`, and by all. */
size_t pn_server_features(const pn_server *server, size_t party);
size_t pn_server_all_features(const pn_server *server);

#endif
