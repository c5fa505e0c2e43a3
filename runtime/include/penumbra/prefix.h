/* prefix.h -- private sums of a growing stream of vectors: after leaf t, r_1 + ... + r_t + N_t is released for every
 * t, at a price that grows with the logarithm of the number of leaves and not with their number.  Leaves may depend
 * on what was released before.
 *
 * A DESIGN is a method with its parameters, calibrated: immutable, shared by any number of streams.  A STREAM is the
 * running sum of one sequence under a design.  A record influences one leaf, or at most `participations` leaves that
 * are at least `separation` apart, each by at most the leaf's sensitivity in l2.  The object cannot see records:
 * whoever makes the leaves clips them.  Depends on: event.h, ledger.h, numbers.h, rng.h, task.h.
 * Sources: Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015); Henzinger, Upadhyay,
 * Upadhyay (2023); Denisov, McMahan, Rush, Smith, Thakurta (2022); Choquette-Choo, Ganesh, McKenna, McMahan, Rush,
 * Thakurta, Xu (2023); Dvijotham, McMahan, Pillutla, Steinke, Thakurta (2024). */
#ifndef PENUMBRA_PREFIX_H
#define PENUMBRA_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penumbra/event.h"
#include "penumbra/ledger.h"
#include "penumbra/numbers.h"
#include "penumbra/rng.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_prefix_design pn_prefix_design;
typedef struct pn_prefix pn_prefix;

/* How a binary tree's nodes become prefixes. */
typedef enum pn_prefix_estimator {
    PN_PREFIX_PLAIN = 0, /* the sum of the nodes of NODE(t) */
    PN_PREFIX_HONAKER,   /* every node with what its children say, by inverse variance; streaming */
    /* honaker while it runs; pn_prefix_all gives the best estimate of every prefix after the last leaf */
    PN_PREFIX_FULL
} pn_prefix_estimator;

typedef enum pn_prefix_memory { PN_PREFIX_KEEP = 0, PN_PREFIX_REGENERATE } pn_prefix_memory;
typedef enum pn_prefix_scale { PN_PREFIX_EQUAL = 0, PN_PREFIX_BY_NODE } pn_prefix_scale;      /* of node noise */
typedef enum pn_prefix_growth { PN_PREFIX_DOUBLING = 0, PN_PREFIX_ENDLESS } pn_prefix_growth; /* unknown horizon */
typedef enum pn_prefix_fit { PN_PREFIX_CLOSED_FORM = 0, PN_PREFIX_OPTIMAL } pn_prefix_fit;    /* banded coefficients */

/* Everything public and fixed before the first leaf.  Zero means "not given" but where said otherwise. */
typedef struct pn_prefix_options {
    size_t dim;
    size_t horizon;              /* most leaves; 0: unknown, see growth */
    double sensitivity;          /* l2, of every leaf under replace_one, as computed; > 0 */
    const double *sensitivities; /* [horizon] leaf by leaf instead; borrowed for the call */
    double bound;                /* public bound on every |entry| of a leaf; 0: none */
    double rho;                  /* zCDP of the whole stream ... */
    double epsilon, delta;       /* ... or (epsilon, delta)-DP of it ... */
    double sigma;   /* ... or the noise itself, on each coordinate of one node (tree) or of z (factorizations) */
    bool noiseless; /* ... or none at all: no event, no rng; for non-private runs */
    bool clamp; /* entries beyond the bound are clamped to it, and a NaN to -bound; otherwise such a leaf is refused */
    pn_neighbours neighbours; /* replace_one or zero_out */
    size_t participations;    /* leaves that one record may influence; 0: 1 */
    size_t separation;        /* leaves from one to the next of them, at least; 0: 1 */

    const char *factorization; /* NULL: chosen by horizon and dim; else "binary", "sqrt", "banded", "blt" or "matrix" */
    pn_prefix_estimator estimator; /* binary */
    bool estimator_given;    /* otherwise: honaker for an unknown horizon or without a factorization, else plain */
    pn_prefix_memory memory; /* binary, plain */
    pn_prefix_scale scale;   /* binary, plain or honaker, with sensitivities */
    bool keep_root;          /* binary: create the node of all 2^k leaves, for pn_prefix_complete */
    pn_prefix_growth growth; /* horizon 0 */
    size_t bands;            /* banded; 0: separation where there are participations, else 8 */
    pn_prefix_fit fit;       /* banded; blt: the table, or the best that seconds of search find for this very horizon */
    pn_vec coefficients;     /* banded: c_0 = 1, c_1, ... instead */
    size_t buffers;          /* blt, 1 to 8; 0: 4 */
    pn_vec theta, omega;     /* blt: parameters instead of the table's, both of one length */
    /* matrix: C, horizon x horizon, lower triangular with a positive diagonal: leaves have the noise C^-1 z.  Of
     * several participations its sensitivity is exact for 2 of them, where C has at most 2 separation bands, and for
     * falling Toeplitz coefficients >= 0; otherwise an upper bound (pn_prefix_design_describe says which). */
    pn_mat matrix;
} pn_prefix_options;

/** Errors: PN_EINVAL with the option, its value and what would be right; PN_EUNSUPPORTED for combinations without a
 *  proof (says which are there); PN_EBUDGET when no noise on the lattice fits; PN_ENOMEM. */
pn_status pn_prefix_design_new(pn_prefix_design **out, const pn_prefix_options *options, pn_err *err);

void pn_prefix_design_free(pn_prefix_design *design); /* NULL allowed */

/** sigma as in the options; 0 without noise. */
double pn_prefix_design_sigma(const pn_prefix_design *design);

/** mu = sqrt(2 rho) of what the event charges, rounding included; 0 without noise. */
double pn_prefix_design_mu(const pn_prefix_design *design);

/** Var of one coordinate of N_t, t >= 1, exact up to rounding to doubles; of estimator "full" that of pn_prefix_all.
 *  NaN for t = 0 and past the horizon. */
double pn_prefix_design_variance(const pn_prefix_design *design, uint64_t t);

/** The event of a whole stream up to the horizon (for an unknown one: of all of it, for ever); borrowed; NULL
 *  without noise. */
pn_event *pn_prefix_design_event(const pn_prefix_design *design);

/** "binary tree, plain, 7 layers, horizon 100": for printing. */
void pn_prefix_design_describe(const pn_prefix_design *design, char *text, size_t size);

/* ---- a stream ---- */

/** A stream at t = 0; keeps the design.  rng: 32 bytes of it are drawn as the key of all noise; NULL if and only if
 *  the design has none.
 *  Errors: PN_EINVAL; PN_ENOMEM. */
pn_status pn_prefix_new(pn_prefix **out, pn_prefix_design *design, pn_rng *rng, pn_err *err);
void pn_prefix_free(pn_prefix *stream); /* NULL allowed; erases keys and noise */

/**
 * Charge the event of the whole stream, once, before the first push; nothing to do without noise.
 * `paid_elsewhere`: the caller has charged an event that covers it (a solver's plan).
 * Errors: PN_EINVAL without a ledger or when it has been paid for; PN_EPRIVACY for simulated noise on a ledger that
 *         is not teaching, for a ledger of another relation and in a forked child; PN_EBUDGET and all of
 *         pn_ledger_spend.
 */
pn_status pn_prefix_pay(pn_prefix *stream, pn_ledger *ledger, const char *label, bool paid_elsewhere, pn_err *err);

/**
 * Leaf t + 1: leaf[dim]; out[dim] (may be leaf, or NULL) = the prefix sum that is released.  A failure changes
 * nothing: the same push may be made again, with the same noise.
 *   task  NULL: one thread.  It can be stopped before, not within.
 * Errors: PN_EBUDGET past the horizon; PN_EDOMAIN, where nothing clamps, for a leaf that is not finite or beyond the
 *         bound (its position, not its value); PN_EPRIVACY before it was paid for and in a forked child; PN_ENOMEM
 *         (unknown horizon).
 * Privacy: pn_prefix_design_event, once for all pushes.
 */
pn_status pn_prefix_push(pn_prefix *stream, const double *leaf, double *out, pn_task *task, pn_err *err);

/** The release after the last push again: the same numbers, never fresh noise.  Errors: PN_EINVAL before the first
 *  push. */
pn_status pn_prefix_read(const pn_prefix *stream, double *out, pn_err *err);
uint64_t pn_prefix_count(const pn_prefix *stream);
bool pn_prefix_simulated(const pn_prefix *stream);

/** End the stream early and estimate its total best: binary trees with their root kept; leaves of zero up to the next
 *  power of two, then the root.  No more pushes.  *variance may be NULL.  Errors: PN_EUNSUPPORTED otherwise;
 *  PN_EINVAL before the first push. */
pn_status pn_prefix_complete(pn_prefix *stream, double *out, double *variance, pn_task *task, pn_err *err);

/** Estimator "full", after the last leaf of a horizon 2^k: out[horizon * dim], the best linear unbiased estimate of
 *  every prefix.  Not causal: it uses noise that came later.  Errors: PN_EUNSUPPORTED; PN_EINVAL before the last
 *  leaf. */
pn_status pn_prefix_all(const pn_prefix *stream, double *out, pn_task *task, pn_err *err);

/* ---- checkpoints ----
 * A stream is in one place at a time: two that go on from the same state would draw noise for the same record twice.
 * So saving hands it over to the file, and going on from the file takes it out of there. */

/**
 * Write the stream to `path` (mode 600; whole or not at all; durable) and close it: every later push fails and says
 * where it went.  The file holds the exact sums and the key: it is as secret as the data.
 * Errors: PN_EIO (the stream stays open, unless the file is there and only its name could not be made durable: then
 *         the file has it); PN_EINVAL for a closed stream, or a file at `path` that is no checkpoint of this stream.
 */
pn_status pn_prefix_save(pn_prefix *stream, const char *path, pn_err *err);

/**
 * Go on from a file: where it was saved, the file is marked as taken, durably, and will not be resumed again; where
 * it is followed, the new stream follows it.  What was paid for stays paid for.
 * Errors: PN_EPRIVACY when it has been taken (it would reuse noise), for a copy of the file that was saved, and for a
 *         file into which an earlier copy was put back (where the file system has extended attributes); PN_EIO when
 *         another process follows it or it cannot be read or marked; PN_EPARSE when it is no checkpoint, of another
 *         version or was changed.
 */
pn_status pn_prefix_resume(pn_prefix **out, const char *path, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
