/* party.h -- one party: its columns, its noise, its ledger.  A request goes in, a reply comes out;
 * it knows nothing of transports.
 *
 * What leaves is a choice among its sampled columns (exponential mechanism), the sketch of a chosen column with
 * Gaussian noise, once, and in ball mode a noisy score.  The party computes every sensitivity itself, from its enforced
 * bounds, the public sketch and the q that it was sent: a server that lies can waste its budget, not overdraw it.  Each
 * release is charged to the party's own ledger before it is drawn.
 *
 * Noise has addresses (random/address.h) under a key that the party keeps: asked again for what it has released, after
 * a restart too, it gives the same bytes and pays nothing.  Asked another question under an old number
 * (a ROUND t with another q) it refuses.  With `checkpoint` the key, the replies and digests of their requests are in a
 * file, durable before a reply is handed out; what the ledger was charged for and the file does not know was never
 * handed out, and is not paid for again.  Labels of charges name run and party, so a ledger that knows of more, or of
 * less, than the file tells of a file that was put back or of another ledger.  Whenever a party is opened, what it has
 * yet to release gets addresses of its own, so that a copy draws no noise twice; a seeded party's stay,
 * so that the same seed gives the same run.
 *
 * A person is at every party.  What all of them release about one is beyond what a party can see: it knows the terms
 * that it was sent, how many parties these name, and that each honest one keeps to its own.  So `person_epsilon` is the
 * price of K times what its terms let a party release, every round with a new column at parties whose columns it does
 * not know.  That there are K, and that the others got the same noise and rounds, is the server's word.
 *
 * A released score is <ghat_k, s> of the chosen vertex s: less is better; it and <ghat_k,
 * x_k> are in units of the round's sensitivity.
 * Depends on: message.h, data, privacy, random.  Used by: transports, bindings.  Source: Lou,
 * Cheung (2018), corrected. */
#ifndef PN_FEDERATED_PARTY_H
#define PN_FEDERATED_PARTY_H

#include "data/dataset.h"
#include "federated/wire/message.h"
#include "privacy/ledger/ledger.h"
#include "penumbra/federated.h"

/** What it says when it connects. */
void pn_party_hello(const pn_party *party, pn_message *hello);

/**
 * Answer a request.  *reply is cleared first.  A request that the party will not serve
 * (other terms, a budget that does not cover them, a round out of order, q with NaN) gives a REFUSED reply and PN_OK:
 * the party goes on.
 * Errors: PN_ENOMEM, PN_EIO (ledger, checkpoint), PN_ECANCELLED: no reply, nothing was released;
 * asking again is allowed.
 */
pn_status pn_party_answer(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err);

typedef enum pn_party_phase {
    PN_PARTY_NEW = 0,
    PN_PARTY_READY,
    PN_PARTY_RUNNING,
    PN_PARTY_DONE,
    PN_PARTY_REFUSED
} pn_party_phase;

/* All public or paid. */
typedef struct pn_party_report {
    pn_party_phase phase;
    uint64_t round;                        /* last answered */
    uint64_t selections, features, scores; /* released, each paid for once */
    double epsilon, delta,
        /* of all that the terms let this party release, at its ledger's delta; 0 before it has released anything; NaN
         * when not private.  That holds wherever a run ends: how many features are released, and in which round it
         * stops, is read off releases */
        rho;
    double charged_epsilon,
        charged_rho; /* of what it has released, at least what its ledger was charged: no guarantee */
    /* most that `parties` honest parties with terms like its own release about one person, at `delta`; infinite where
     * nothing is proven; NaN before there are terms */
    double person_epsilon;
    double person_cap; /* pn_party_options.person_epsilon */
    uint64_t parties;  /* K of the terms: the server's word; 0 before there are any */
    bool simulated;
    const pn_message *last; /* DONE or REFUSED; NULL before.  Borrowed */
} pn_party_report;
/** Errors: PN_ENOMEM, where the cost could not be worked out; the rest is there. */
pn_status pn_party_report_of(const pn_party *party, pn_party_report *out, pn_err *err);
pn_party_phase pn_party_phase_of(const pn_party *party);

#endif
