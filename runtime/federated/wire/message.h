/* message.h -- what server and parties say to each other: explicit structs.  The server's and the parties' code touches
 * nothing else, so that the same code runs over every transport; wire.h turns a message into bytes and back.
 *
 *     party                         server
 *     HELLO (who, n, c, digest) ->                 at every (re)connect, and while nothing is heard
 *                               <- TERMS           what the run is
 *     READY, or REFUSED         ->                 the party has checked terms and budget
 *                               <- ROUND t, x_k, q
 *     CHOICE code (scores)      ->                 paid for; the same bytes again if asked again
 *                               <- FETCH i         only for a column that this server has not got, one after the other
 *     FEATURE J a_i + noise     ->                 paid for at the first time
 *                               <- DONE x_k        or REFUSED: the run is over
 *
 * A reply repeats run, party, round of its request.  Depends on: terms.h.  Used by: wire.h, party.h,
 * server.h, transport.h. */
#ifndef PN_FEDERATED_MESSAGE_H
#define PN_FEDERATED_MESSAGE_H

#include "federated/wire/terms.h"
#include "penumbra/federated.h"

typedef enum pn_message_kind {
    PN_MESSAGE_NONE = 0, /* nothing is said to this party */
    PN_MESSAGE_HELLO,
    PN_MESSAGE_TERMS,
    PN_MESSAGE_READY,
    PN_MESSAGE_ROUND,
    PN_MESSAGE_CHOICE,
    PN_MESSAGE_FETCH,
    PN_MESSAGE_FEATURE,
    PN_MESSAGE_DONE,
    PN_MESSAGE_REFUSED
} pn_message_kind;
extern const char *const pn_message_names[]; /* "none", "hello", ... */

#define PN_SESSION_BYTES 16
#define PN_NAME_BYTES    64
#define PN_REASON_BYTES  512

typedef struct pn_message {
    pn_message_kind kind;
    unsigned char run[PN_RUN_ID]; /* zeros in HELLO */
    uint32_t party;               /* from 0; not looked at in HELLO: who speaks is known by key */
    uint64_t round;               /* from 1 in ROUND and CHOICE, FETCH, FEATURE; else 0 */

    /* HELLO */
    char name[PN_NAME_BYTES];
    uint64_t records, columns;
    /* digest of the order of the records (data/alignment.h); zeros: not stated */
    unsigned char alignment[PN_DIGEST_BYTES];
    /* which memory this party has of what it has released: new when it has none */
    unsigned char session[PN_SESSION_BYTES];
    double feature_bound, label_bound; /* what it enforces */

    /* TERMS */
    pn_terms terms;

    /* ROUND, DONE: x_k, its entries that are not 0, by rising index; ROUND: q.  FEATURE: J a_i + noise.
     * Owned by the message. */
    size_t count;
    uint32_t *index; /* [count] columns of the party, from 0 */
    double *value;   /* [count] */
    size_t size;
    double *vector; /* [size] */

    /* CHOICE: 0 stays, +-(i + 1) moves toward +-r_k e_i; of a block the candidates that make its vertex (block.h), and
     * code 0.  Owned by the message.  FETCH, FEATURE: column i. */
    size_t picks;
    uint32_t *pick; /* [picks] */
    int64_t code;
    double score,
        /* released in PN_FEDERATED_BALL, NaN elsewhere: <vertex, ghat> of the choice and <x_k, ghat_k>, the smaller the
         * better, in a unit that is the same at all parties of a round */
        stay_score;
    uint32_t column;

    /* REFUSED */
    pn_status status;
    char reason[PN_REASON_BYTES]; /* public: no value computed from records */
} pn_message;

/** Frees what it owns and zeroes it. */
void pn_message_clear(pn_message *message);
/** Room for x_k and a vector, uninitialised; what was there is freed.  Errors: PN_ENOMEM. */
pn_status pn_message_reserve(pn_message *message, size_t count, size_t size, pn_err *err);
/** Room for the choices that make a vertex, likewise. */
pn_status pn_message_reserve_picks(pn_message *message, size_t picks, pn_err *err);
/** Make `message` a REFUSED answer to `request` (NULL: to nobody) with the status and message of err. */
void pn_message_refuse(pn_message *message, const pn_message *request, const pn_err *err);

/** Whether `reply` is one to `request`: run, party, round and kind (REFUSED answers all), of FETCH also the column;
 *  and nothing answers NONE. */
bool pn_message_answers(const pn_message *request, const pn_message *reply);

/** Numbers in it that speak of the run: 1 for a code or choice, a score, the column of FETCH; 2 for each entry of x_k;
 *  `size` for a vector.  For the accounts of traffic. */
size_t pn_message_scalars(const pn_message *message);

#endif
