/* server_impl.h -- the server's insides, shared by server*.c only. */
#ifndef PN_FEDERATED_SERVER_IMPL_H
#define PN_FEDERATED_SERVER_IMPL_H

#include "continual/checkpoint_file.h"
#include "federated/server/server.h"
#include "federated/wire/block.h"
#include "federated/wire/release.h"

#define PN_SERVER_DIGEST 32

/* A feature that was uploaded, in the order in which they came. */
typedef struct pn_server_feature {
    uint32_t party, column;
    double *vector; /* [m]; NULL: known to have been released, to be asked for again */
} pn_server_feature;

struct pn_server {
    pn_transport *transport;
    size_t parties, dim, m;
    pn_terms *terms; /* [parties] */
    size_t *first;   /* [parties + 1] where a party's columns begin in x */
    double p;        /* min tau_k / c_k */

    uint64_t rounds, asked;
    double *x, *q; /* [dim], [m] */
    pn_server_feature *features;
    size_t feature_count, feature_room;
    size_t *cached; /* [dim] 1 + the number of the column's feature; 0: none */
    size_t *counts; /* [parties] features of each */

    /* What a round is made in; swapped with x and q when it has succeeded. */
    double *next_x, *next_q;
    pn_message *requests, *replies; /* [parties]; requests borrow all that they hold */
    int64_t *moves;                 /* [parties] the codes that count */
    pn_choices **choices;           /* [parties] of blocks; entries are NULL where terms have none */
    double *vertex;                 /* [dim] of blocks: what the parties chose */
    double *room;                   /* for making one of them */
    size_t *next;                   /* [parties] columns before it need no feature any more */
    uint32_t *index;                /* [dim] and the values: the x_k of all parties without their zeros */
    double *value;

    pn_ledger *overall;
    pn_event *selection, *feature;
    uint64_t paid[PN_RELEASE_KINDS]; /* releases that `overall` has paid for; what it need not pay for included */
    unsigned char *requested;        /* [dim] the column's feature has been asked for, and charged */
    size_t requests_made;            /* how many of them */

    pn_checkpoint_file *checkpoint;
    bool finished, broken;          /* broken: a party refused or lied, so that nothing goes on */
    char farewell[PN_REASON_BYTES]; /* why, for the others */
};

/* ---- server_state.c: what a restarted server knows ---- */

/* Read the checkpoint if there is one: run id, rounds, x, the list of features (without vectors).
 * *there: whether there was.
 * Errors: PN_EINVAL where it is of other terms; as pn_checkpoint_open; PN_ENOMEM. */
pn_status pn_server_resume(pn_server *server, const char *path, bool *there, pn_err *err);
/* Make the file, of a run that begins.  Errors: as pn_checkpoint_make. */
pn_status pn_server_record(pn_server *server, const char *path, pn_err *err);
/* Write the state of `rounds` done with x; nothing without a checkpoint.  Errors: as pn_checkpoint_commit. */
pn_status pn_server_save(pn_server *server, uint64_t rounds, const double *x, pn_err *err);

/* ---- server.c ---- */

/* Room for one more feature.  Errors: PN_ENOMEM. */
pn_status pn_server_room(pn_server *server, pn_err *err);
/* Put it at the end of the list, in which there is room.  `vector` is taken; NULL: to be fetched again. */
void pn_server_add_feature(pn_server *server, uint32_t party, uint32_t column, double *vector);

/* ---- server_talk.c ---- */

/* requests[party], of this run, with nothing in it yet. */
pn_message *pn_server_request(pn_server *server, size_t party, pn_message_kind kind, uint64_t round);
/* x_k without its zeros, borrowed. */
void pn_server_attach_model(pn_server *server, size_t party, pn_message *message);
/* requests -> replies.  Errors: PN_EPRIVACY, PN_EBUDGET for a party that refused; as pn_transport_exchange. */
pn_status pn_server_exchange(pn_server *server, pn_task *task, pn_err *err);
/* PN_EIO "party answered WHAT in round t": the run is over. */
pn_status pn_server_lied(pn_server *server, size_t party, const char *what, pn_err *err);

/* ---- server_account.c: the overall ledger, if there is one ---- */

/* See what it has paid for of a run that begins or goes on.  Errors: PN_EPRIVACY where it is another run's. */
pn_status pn_server_account(pn_server *server, pn_err *err);
/* Charge what is not paid of the round whose requests are ready, or of a feature that is about to be asked for.
 * Errors: as pn_ledger_spend; PN_ENOMEM. */
pn_status pn_server_charge_round(pn_server *server, pn_err *err);
pn_status pn_server_charge_feature(pn_server *server, size_t party, size_t column, pn_err *err);
/* What the rest of the run may still charge, with `features` in all; NULL: nothing.  Errors: PN_ENOMEM. */
pn_status pn_server_unpaid(pn_server *server, size_t features, pn_event **out, pn_err *err);

/* ---- server_step.c ---- */

/* Fetch the features of the list that have no vector. */
pn_status pn_server_fetch_again(pn_server *server, pn_task *task, pn_err *err);
/* q[m] = sum_i x_i v_i. */
void pn_server_combine(const pn_server *server, const double *x, double *q);

#endif
