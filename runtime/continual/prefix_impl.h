/* prefix_impl.h -- the inside of designs and streams of prefix sums, and what a method fills in.
 *
 * Who does what.  prefix_design.c checks options, chooses sigma and makes the event; prefix_stream.c
 * (memory: prefix_state.c) checks leaves, splits coordinates into blocks, hands out noise by address, keeps the last
 * release and, for an unknown horizon, begins a new method and a new state at each epoch (doubling_prefix.c).  A METHOD
 * knows only this: one epoch of `horizon` leaves, numbers in units of sigma, and the arithmetic of one push on one
 * block of coordinates.  It sees no ledger, no thread, no failure once it exists, and no design without noise.  A
 * method is private arithmetic: it rounds each leaf (or each row of C r) to the lattice ONCE, adds integers, draws
 * whole vectors of integer noise by address, and whatever it does with the measurements after that is post-processing.
 * Private to continual/.  Depends on: prefix.h, random/address.h, random/noise.h.  Used by: continual/. */
#ifndef PN_CONTINUAL_PREFIX_IMPL_H
#define PN_CONTINUAL_PREFIX_IMPL_H

#include <sys/types.h>

#include "continual/exact_sums.h"
#include "continual/prefix.h"
#include "random/address.h"
#include "random/noise.h"

#define PN_PREFIX_BLOCK   4096                /* coordinates that are worked on at once */
#define PN_PREFIX_LONGEST ((uint64_t)1 << 48) /* leaves of any stream */

typedef struct pn_prefix_method pn_prefix_method;
typedef struct pn_prefix_step pn_prefix_step;

struct pn_prefix_ops {
    const char *name; /* "binary": what users ask for */
    const char *doc;  /* one sentence, and the source */
    /* create takes growth "endless" (horizon 0); all methods but "matrix" serve as epochs of "doubling" */
    bool unknown_horizon;

    /* no epoch of an unknown horizon has more draws of one coordinate that a record can move; 0: its leaves */
    double epoch_draws;

    /* The longest horizon it can be made for under these options; NULL: any.  Asked when no factorization was named,
     * and to bound the draws of an unknown horizon. */
    uint64_t (*longest)(const pn_prefix_options *options);

    /**
     * Make the method for options->horizon leaves, in units of sigma: fill in the head below but sigma and step.
     * options is the design's own copy: checks of a general kind are done, vectors are finite, participations and
     * separation are >= 1, horizon >= 1 (0 for growth "endless").  Check what concerns this method, and write the
     * defaults that were chosen into *options.
     * Errors: PN_EINVAL ("prefix: bands must ..."), PN_EUNSUPPORTED for combinations without a proof, PN_ENOMEM.
     */
    pn_status (*create)(pn_prefix_method **out, pn_prefix_options *options, pn_err *err);
    void (*destroy)(pn_prefix_method *self);

    /* Var of a coordinate of N_t over sigma^2, t in 1 .. horizon; and of t = 1 .. count in O(count) (see prefix.h). */
    double (*variance)(const pn_prefix_method *self, uint64_t t);
    void (*variances)(const pn_prefix_method *self, size_t count, double *out);

    /* 8-byte words of state per coordinate after t >= 1 leaves; does not fall with t.
     * (Toeplitz: a number, whatever t.) */
    size_t (*words)(const pn_prefix_method *self, uint64_t t);
    /**
     * Leaf step->t on one block of coordinates.  state: step->stride * words(self, step->t) words, aligned to 16 bytes:
     * what the push before left there, then zeros where words has grown.  All that it remembers is there, so that a
     * copy of the bytes is a checkpoint: arrays of step->stride numbers, one after the other, in whatever order the
     * method likes.  step->prefix[count]: in, the epoch's release before this push (0 before t = 1); out, the one
     * after.  Blocks run at once in several threads: nothing else may be written.  It cannot fail.
     */
    void (*push)(const pn_prefix_method *self, void *state, const pn_prefix_step *step);

    /* pn_prefix_complete after step->t leaves (step->leaf is NULL): the total in step->prefix,
     * and its variance over sigma^2.  NULL: not
     * there.  completes(): whether this one can, with these options. */
    bool (*completes)(const pn_prefix_method *self);
    void (*complete)(const pn_prefix_method *self, void *state, const pn_prefix_step *step);
    double (*complete_variance)(const pn_prefix_method *self, uint64_t t);

    /* pn_prefix_all after the last leaf: row t - 1 of the block at out + (t - 1) * out_stride.  work: all_doubles(self)
     * of them.  NULL: not there; all_doubles = 0: not with these options. */
    size_t (*all_doubles)(const pn_prefix_method *self);
    void (*all)(const pn_prefix_method *self, const void *state, const pn_prefix_step *step, double *work, double *out,
                size_t out_stride);

    /* pn_prefix_number_of.  NULL: a name, a horizon and a matrix say it all. */
    bool (*number)(const pn_prefix_method *self, pn_prefix_number which, size_t j, double *out);

    /* "7 layers, plain": what comes after the name. */
    void (*describe)(const pn_prefix_method *self, char *text, size_t size);
};

/* The head of every method: comes first in its struct.
 * Privacy of one epoch: mu = pn_lattice_l2(gain * sensitivity, sigma, moved * dim, bound * reach, 1) / sigma +
 * sqrt(dim) settled 2^-40. */
struct pn_prefix_method {
    const pn_prefix_ops *ops;
    uint64_t horizon; /* UINT64_MAX: none */
    size_t dim;
    /* l2 norm of what one record moves in all measurements, each in units of its noise,
     * for leaves of sensitivity 1 and sigma 1 */
    double gain;
    /* (l2 norm of what rounding the leaf adds to that, in steps and for one coordinate)^2, but for its size: gain^2 */
    double moved;
    /* l2 norm of what other rounding adds, whose size is known: in steps, for one coordinate; 0 for trees,
     * factored_prefix.h */
    double settled;
    /* largest |entry| that is rounded, for leaves with entries up to 1 (1: only leaves are rounded); INFINITY:
     * unknown */
    double reach;
    /* where entries of leaves are cut, in steps: the integers have room for no more.  PN_LATTICE_FARTHEST says why they
     * are cut and not refused; a bound beyond is. */
    double farthest;
    double draws;       /* scalar draws, of one coordinate, in measurements that one record can move */
    double sigma, step; /* set by pn_prefix_calibrate: step = sigma 2^-40 */
};

/* One push on one block. */
struct pn_prefix_step {
    uint64_t t;         /* this leaf, from 1, <= horizon */
    size_t count;       /* coordinates, 1 .. PN_PREFIX_BLOCK */
    size_t stride;      /* of arrays in the state: count, rounded up to even */
    const double *leaf; /* [count], finite, within the bound */
    double *prefix;     /* [count] */

    /* where noise comes from: pn_prefix_noise */
    pn_rng *rng;
    const pn_address_key *key;
    uint64_t epoch, block;

    /* scratch, PN_PREFIX_BLOCK of each, the worker's own; contents are lost between calls */
    int64_t *noise, *whole;
    double *work[2], *clamped; /* clamped: the stream's */
    pn_exact_sums sums;
};

/** out[step->count]: the integer noise K at (level, index) of this epoch and block; standard deviation 2^40.  The same
 *  whenever it is asked for: it may be forgotten and drawn again.  A measurement has one address, and an address one
 *  measurement: never use K of one address for two different values. */
void pn_prefix_noise(const pn_prefix_step *step, uint64_t level, uint64_t index, int64_t *out);
/** whole[step->count]: the leaf in steps, rounded once (pn_lattice_round at 2^62).  Whether all are below 2^50 in
 *  absolute value; they may be so otherwise too. */
bool pn_prefix_round(const pn_prefix_step *step, double length, int64_t *whole);
/** Whether one of whole[step->count] stands for more than it can say: its entry of the leaf is to be taken from
 *  pn_prefix_far. */
bool pn_prefix_has_far(const pn_prefix_step *step, const int64_t *whole);
/** Entry j of the leaf in steps, as far as `limit` of them. */
static inline pn_prefix_wide pn_prefix_far(const pn_prefix_step *step, double length, double limit, size_t j)
{
    return pn_lattice_round_far(step->leaf[j], length, limit);
}

/* ---- designs (prefix_design.c) ---- */

struct pn_prefix_design {
    int references;
    pn_prefix_options options; /* with defaults; pointers are its own */
    const pn_prefix_ops *ops;
    bool doubling;            /* horizon unknown: epoch m has 2^m leaves and a method of its own */
    pn_prefix_method *method; /* of the known horizon or endless; of doubling: epoch 0's */
    double sensitivity;       /* of the leaf that moves most */
    double mu;                /* what the event charges; 0 without noise */
    double target;            /* what epochs are calibrated to, >= mu */
    pn_event *event;
};

/** The row of the table, or NULL. */
const pn_prefix_ops *pn_prefix_find(const char *name);
/** Fail for a name without a row.  PN_EUNSUPPORTED. */
pn_status pn_prefix_refuse(const char *name, pn_err *err);
/** Sets sigma and step so that mu is at most `mu`.  PN_EBUDGET when no noise on the lattice does. */
pn_status pn_prefix_calibrate(pn_prefix_method *method, const pn_prefix_design *design, double mu, pn_err *err);
/** mu of the method at its sigma, rounding included. */
double pn_prefix_charged(const pn_prefix_method *method, const pn_prefix_design *design);

/* ---- unknown horizons (doubling_prefix.c) ---- */

/** The calibrated method of epoch m >= 0 of a doubling design, which the caller destroys. */
pn_status pn_prefix_epoch(pn_prefix_method **out, const pn_prefix_design *design, uint64_t epoch, pn_err *err);
/** Draws of one coordinate that a record can move, whatever its epoch. */
double pn_prefix_epoch_draws(const pn_prefix_design *design);
/** pn_prefix_design_variance, pn_prefix_variances and pn_prefix_room of doubling designs; NaN when memory is short. */
double pn_prefix_doubling_variance(const pn_prefix_design *design, uint64_t t);
void pn_prefix_doubling_variances(const pn_prefix_design *design, size_t count, double *out);
double pn_prefix_doubling_words(const pn_prefix_design *design, uint64_t t);

/* ---- streams (prefix_stream.c) ---- */

typedef struct pn_prefix_worker pn_prefix_worker;

/* Called when the state after a push, or a completion, is complete and before its release is handed out; a failure ends
 * the stream, and nobody gets the release from it. */
typedef struct pn_prefix_follower {
    pn_status (*pushed)(void *self, const pn_prefix *stream, pn_err *err);
    void (*destroy)(void *self);
    void *self;
} pn_prefix_follower;

struct pn_prefix {
    pn_prefix_design *design; /* kept */

    /* What a checkpoint holds: these, and `state`. */
    pn_address_key key;
    uint64_t count; /* leaves */
    /* 0 but for doubling: leaf `count` is in the epoch of 2^epoch leaves before which 2^epoch - 1 came */
    uint64_t epoch;
    bool paid;
    bool teaching; /* what paid took simulated noise */
    bool ended;    /* completed: no more pushes */

    /* One allocation.  Block after block of PN_PREFIX_BLOCK coordinates (the last may be shorter, and is rounded up to
     * even): the method's words * stride; then stride doubles, the epoch's release; then, of doubling, stride doubles:
     * the sum that earlier epochs ended with. */
    unsigned char *state;
    size_t state_bytes, words;        /* words: the method's */
    size_t state_room, state_touched; /* bytes that there are, and those that may have held something */

    /* Made anew by whoever resumes. */
    pn_prefix_method *method; /* the design's, or of doubling the stream's own */
    pid_t owner;
    const char *closed; /* NULL, or why it takes no more pushes: "it was saved to ..."; static text or the follower's */
    bool withheld;      /* the last release is not in the file that follows: nobody may have it */
    pn_prefix_follower follower;
    pn_prefix_worker **workers; /* scratch */
    unsigned worker_count;
    unsigned char *done; /* [blocks] of the push that runs */
};

/** A stream with room for the state of `count` leaves, all zero, and no key: for pn_prefix_new and pn_prefix_resume,
 *  which copies state_bytes into it.  bytes: what a file says that the state has, 0 where there is none.
 *  Errors: PN_EPARSE, before memory is asked for, when the state has not so many bytes; PN_ENOMEM. */
pn_status pn_prefix_make(pn_prefix **out, pn_prefix_design *design, uint64_t count, uint64_t bytes, pn_err *err);

/* ---- rows ---- */

#define PN_DECLARE(name) extern const pn_prefix_ops pn_prefix_##name;
PN_PREFIXES(PN_DECLARE)
#undef PN_DECLARE

#endif
