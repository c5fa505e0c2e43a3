/* terms.h -- what a federated run is, in public numbers: the same at the server and at every party.
 * n records are split by columns over K parties; every party has the labels, too.  The server fixes the terms before
 * anything is released and sends them to each party, which checks them against its own data,
 * its own ledger and its own limits.
 * Depends on: core, objective (losses).  Used by: message.h, party.h, server.h, federated_frank_wolfe*.c.
 * Source: Lou, Cheung (2018), Algorithm 2, corrected. */
#ifndef PN_FEDERATED_TERMS_H
#define PN_FEDERATED_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "federated/sketch/sketch.h"
#include "privacy/event/event.h"

#define PN_PARTIES_MAX 4096
#define PN_RUN_ID      16

typedef enum pn_federated_mode {
    /* over the product of K l1 balls of radius r_k, or of K blocks: every party moves in every round */
    PN_FEDERATED_PRODUCT = 0,
    PN_FEDERATED_BALL, /* over the l1 ball of radius r, or the simplex: the best party moves */
    PN_FEDERATED_PAPER /* the article to the letter, for comparison: x may leave the ball, and nothing is proven */
} pn_federated_mode;
extern const char *const pn_federated_mode_names[]; /* "product", "ball", "paper", NULL */

/* The losses that parties know by number: what a party computes of its records must not be the server's choice. */
typedef enum pn_federated_loss { PN_FEDERATED_SQUARED = 0, PN_FEDERATED_LOGISTIC } pn_federated_loss;
extern const char *const pn_federated_loss_names[]; /* as in the table of losses: "squared", "logistic", NULL */

typedef struct pn_terms {
    unsigned char run[PN_RUN_ID]; /* random: which run this is, also after a restart */
    pn_federated_mode mode;
    pn_federated_loss loss;
    pn_neighbours neighbours; /* replace_one or zero_out: n is public */
    bool is_private;          /* false: no noise at all, parties must agree */
    bool simulated;           /* seeded noise: parties refuse unless they were opened for it */
    uint64_t records;         /* n */
    uint32_t parties;         /* K */
    uint64_t iterations;      /* T */
    double feature_bound;     /* |a_ij| <= this, enforced by every party: > 0 */
    double label_bound;       /* |y_j| <= this, likewise */
    pn_sketch_shape sketch;   /* J: kind, m, n, public seed */

    /* Of the party that these terms are sent to. */
    uint32_t party;   /* from 0 */
    uint64_t columns; /* c_k */
    uint64_t sampled; /* tau_k columns are looked at in a round, 1 .. c_k */
    double radius;    /* r_k of the product, r of the ball; of a block: max ||x_k||_1 */
    /* PN_FEDERATED_PRODUCT: the set that x_k is in, as block.h has it, owned; NULL: the l1 ball of that radius.  All
     * parties of a run have one, or none has. */
    double *block;
    size_t block_size;
    uint64_t features; /* of blocks, else 0: no party uploads more; each sees to that its own block does not */

    /* The noise.  A selection is exponential with epsilon0 whatever its sensitivity,
     * which each party computes in every round.  With blocks all choices of a round together cost rho =
     * epsilon0^2/8. */
    double epsilon0;      /* of one selection; 0 without privacy, and in PN_FEDERATED_PAPER, which has: */
    double laplace_scale; /* on each gradient entry, PN_FEDERATED_PAPER; else 0 */
    double sigma_feature; /* std of the noise on each entry of an uploaded feature */
    double sigma_score; /* PN_FEDERATED_BALL, else 0: of released scores, in units of the round's Delta_t (release.h) */
    double clip;   /* > 0: margins (J^T q)_j are clipped to +-clip; 0: their public bound is computed in each round */
    bool positive; /* PN_FEDERATED_BALL over {x >= 0 : sum x = r}: vertices are +r e_i alone */
    bool stay; /* "stay" is among the candidates (product), or its score is released (ball with sampled < columns) */
} pn_terms;

/** What is wrong with them, before anybody's data is looked at.  Errors: PN_EINVAL, naming the term,
 *  its value and the range. */
pn_status pn_terms_check(const pn_terms *terms, pn_err *err);

/** *to = from with a block of its own.  Errors: PN_ENOMEM, with *to that owns nothing. */
pn_status pn_terms_copy(pn_terms *to, const pn_terms *from, pn_err *err);
/** Frees what they own, and zeroes them. */
void pn_terms_drop(pn_terms *terms);

/** c_k columns of d over K parties: d/K each, the first d mod K one more. */
size_t pn_terms_columns(size_t d, size_t parties, size_t party);

/** The columns that party `party` looks at in round `round`: indices[sampled] rising, of 0 .. columns - 1, by public
 *  randomness that depends on the sketch's seed, the party and the round only. */
pn_status pn_terms_sample(const pn_terms *terms, uint64_t round, uint32_t *indices, pn_err *err);

#endif
