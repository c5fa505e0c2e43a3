/* party_impl.h -- what the files of a party share: its state, its scores, its accounts.
 * Private to party*.c and their tests.
 * Depends on: party.h.  See distributed-frank-wolfe.md section 3. */
#ifndef PN_FEDERATED_PARTY_IMPL_H
#define PN_FEDERATED_PARTY_IMPL_H

#include <sys/types.h>

#include "continual/checkpoint_file.h"
#include "federated/party/party.h"
#include "federated/wire/block.h"
#include "federated/wire/release.h"
#include "objective/losses/loss.h"
#include "privacy/mechanism/mechanism.h"
#include "random/address.h"

typedef enum party_kind {
    PARTY_SELECTION = PN_RELEASE_SELECTION,
    PARTY_FEATURE = PN_RELEASE_FEATURE,
    PARTY_SCORE = PN_RELEASE_SCORE,
    PARTY_KINDS = PN_RELEASE_KINDS
} party_kind;

/* A ledger, and how many charges for this run it holds: `known` when the last release was recorded, `there` now.  One
 * more than known is a release that was paid for and never handed out. */
typedef struct party_account {
    pn_ledger *ledger; /* kept; NULL: none */
    uint64_t known[PARTY_KINDS], there[PARTY_KINDS];
} party_account;

/* A round as it was answered. */
typedef struct party_reply {
    unsigned char digest[PN_DIGEST_BYTES]; /* of the request */
    int64_t code;
    double score, stay_score;
} party_reply;

/* Records as columns. */
typedef struct party_data {
    size_t n, columns;
    bool is_sparse;
    double *dense; /* [columns][n], NULL when sparse */
    pn_csr sparse; /* columns x n */
    double *y;     /* [n] */
} party_data;

/* What is made of the terms and the data: S = J A and A^T y, and the price of one release of each kind. */
typedef struct party_run {
    pn_sketch *sketch;   /* NULL: not made, or no longer needed */
    double *sketched;    /* [columns][m]; NULL for the identity, whose columns are the data's */
    double *products;    /* [columns] A^T y; NULL: nothing of all this is made */
    pn_choices *choices; /* of a block; NULL: the l1 ball */
    size_t width;        /* most entries of its vertices that are not 0 */
    pn_loss *loss;       /* logistic */
    double feature_sensitivity;
    pn_event *price[PARTY_KINDS];          /* at most; NULL: there is none */
    unsigned char digest[PN_DIGEST_BYTES]; /* keyed, of `sketched` and `products` */
} party_run;

enum { PARTY_CHOSEN = 1, PARTY_RELEASED = 2 }; /* what a column is */

struct pn_party {
    char name[PN_NAME_BYTES];
    party_data data;
    double feature_bound, label_bound; /* enforced; 0: not */
    bool labels_binary, nonprivate;
    double person_epsilon; /* the owner's cap; 0: none */
    unsigned char alignment[PN_DIGEST_BYTES], session[PN_SESSION_BYTES];
    pid_t owner;
    pn_address_key key;
    pn_rng *rng;               /* becomes the stream at an address */
    party_account accounts[2]; /* its own, the overall one */
    pn_checkpoint_file *file;  /* NULL: none */

    /* Of the run; written to the checkpoint, with key and session. */
    pn_party_phase phase;
    uint64_t epoch; /* runs begun under this key: part of every address */
    pn_terms terms;
    unsigned char terms_digest[PN_DIGEST_BYTES], run_digest[PN_DIGEST_BYTES];
    party_reply *replies; /* [rounds] */
    size_t rounds, room;  /* replies there is room for */
    uint32_t *picks;      /* [rounds][each] of a block, what makes its vertices */
    size_t each;
    unsigned char *state; /* [columns] */
    uint64_t count[PARTY_KINDS];
    double *model; /* [columns] */

    party_run run;
    pn_message last;
};

/* ---- party_price.c: errors, all rounded outward, and prices ---- */

/** sum x_j y_j, and the relative error of its sum of |x_j y_j| over n. */
double party_dot(size_t n, const double *x, const double *y);
double party_dot_error(size_t n);
/** Whether gradients are sums over records of weights, not products of sketches. */
bool party_by_records(const pn_terms *terms);
/** The most that one record's term of n times a gradient entry is: X (margin + Y), or X for slopes of at most 1. */
double party_pull(const pn_terms *terms, double margin);
/** |computed - exact| of n times a gradient entry, by records. */
double party_sum_error(const pn_terms *terms, double pull);
/** |score| of any candidate, and |computed - exact| of one: given the error of n times a gradient entry and how many
 *  entries x_k has. */
double party_score_bound(const pn_terms *terms, double pull);
double party_score_error(const pn_terms *terms, double pull, double gradient_error, size_t count);
/** Likewise of a candidate of a block. */
double party_block_error(const pn_terms *terms, const pn_choices *choices, double pull, double gradient_error);

/** Events of one release of each kind into run->price.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status party_price(party_run *run, const pn_terms *terms, pn_err *err);
/** counts[kind] releases of each kind as one event; NULL when there is nothing to pay.  Errors: PN_ENOMEM. */
pn_status party_price_all(pn_event **out, const party_run *run, const uint64_t counts[PARTY_KINDS], pn_err *err);

/** The most that the terms let this party release: of each kind.  The run is made. */
void party_most(const pn_party *party, uint64_t counts[PARTY_KINDS]);
/** Likewise all parties together, where others have columns that nobody counts: a new one in each round, or with
 *  blocks as many as the terms let any party upload. */
void party_most_of_all(const pn_party *party, uint64_t counts[PARTY_KINDS]);
/** The delta of epsilons that a ledger does not fix: its own, or its odometer's. */
double party_delta(const pn_party *party);
/** What all parties together may spend on a person, as the terms have it; infinite where they prove nothing.
 *  Errors: PN_ENOMEM. */
pn_status party_person_epsilon(double *out, const pn_party *party, pn_err *err);

/* ---- party_open.c ---- */

void party_run_clear(party_run *run);
/** Give back what takes much room; what a report says of costs stays.
 *  party_prepare makes it again when the run goes on. */
void party_run_rest(party_run *run);

/* ---- party_scores.c ---- */

/* Everything about one round before noise. */
typedef struct party_scores {
    size_t sampled, candidates, sides; /* sides: 2, or 1 of a simplex */
    uint32_t *columns;                 /* [sampled] rising */
    double *gradient;                  /* [columns of the party]: n times the entries that were asked for */
    /* [candidates] larger is better: -+r_k ghat_i (of a simplex -r ghat_i) for each sampled i, and -<ghat, x_k>
     * last when it stays */
    double *score;
    double stay;                      /* <ghat, x_k> */
    double weight;                    /* ||x_k||_1 / r, at most 1 */
    double sensitivity, error, bound; /* of scores */
    /* Of a block: its direction -ghat is in `score` [columns], `sensitivity` is of its entries, and the vertex
     * [columns] that is chosen, with room for choosing it, is here. */
    double *vertex;
    double unit; /* of those that are released: what a record moves them by as they are computed */
} party_scores;

/** <a_i, w> over the records, within party_dot_error of its terms. */
double party_column_dot(const party_data *data, size_t i, const double *w);
/** Errors: PN_EINVAL for numbers beyond what can be computed with; PN_ENOMEM; PN_ECANCELLED. */
pn_status party_scores_of(pn_party *party, const pn_message *request, party_scores *out, pn_task *task, pn_err *err);
void party_scores_clear(party_scores *scores);

/* ---- party_release.c ---- */

/** Count what both ledgers hold of this run.  `resumed`: it went on before, so what they hold must fit what is known.
 *  Errors: PN_EPRIVACY when it does not. */
pn_status party_accounts_open(pn_party *party, bool resumed, pn_err *err);
/** The answer to a round, from its scores; not recorded yet.  reply->digest is there already.  Of a block: picks[each]
 *  and scores->vertex. */
pn_status party_choose(pn_party *party, uint64_t round, party_scores *scores, party_reply *reply, uint32_t *picks,
                       pn_err *err);
/** out[m]: the feature of column i with its noise; `paid`: released before. */
pn_status party_feature(pn_party *party, uint32_t i, bool paid, double *out, pn_err *err);
/** The last release is recorded: its charge belongs to it. */
void party_accounts_settle(pn_party *party, party_kind kind);

/* ---- party_terms.c ---- */

/** Take the terms; PN_OK: ready. */
pn_status party_begin(pn_party *party, const pn_message *request, pn_task *task, pn_err *err);
/** Whether the terms that a checkpoint has are ones that a run of this party can have begun with. */
bool party_terms_fit(const pn_party *party);
/** Make S and A^T y if they are not there, and see that the ledgers cover what is left of the run. */
pn_status party_prepare(pn_party *party, pn_task *task, pn_err *err);

/* ---- party_checkpoint.c ---- */

/** Open or make the file.  Errors: as pn_party_new. */
pn_status party_checkpoint_open(pn_party *party, const char *path, pn_err *err);
/** Durable on return.  Without a file: nothing.  Errors: PN_EIO, PN_ENOMEM. */
pn_status party_checkpoint_write(pn_party *party, pn_err *err);

#endif
