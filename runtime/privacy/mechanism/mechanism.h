/* mechanism.h -- private releases: the interface, the table, and the ONE function through which noise leaves.
 * Depends on: event.h, ledger.h, random.  Used by: solvers, bindings.  Spec: noise.md section 7, accounting.md section 2. */
#ifndef PN_PRIVACY_MECHANISM_H
#define PN_PRIVACY_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

typedef struct pn_mechanism pn_mechanism;

/* What came out; untouched on failure. */
typedef struct pn_release {
    size_t index;   /* selection: the chosen one, from 0 */
    double *values; /* additive noise: values[n], the caller's buffer; may be the input */
    bool *above;    /* sparse vector: above[n], the caller's buffer; `count` of them were answered before it halted */
    size_t count;
    bool simulated; /* true when the noise was seeded: no privacy */
} pn_release;

typedef enum pn_output { PN_GIVES_INDEX = 0, PN_GIVES_VALUES, PN_GIVES_ANSWERS } pn_output; /* which field above */

typedef struct pn_mechanism_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params; /* the binding adds `neighbours` */
    pn_output output;
    pn_status (*create)(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err);
    void (*destroy)(pn_mechanism *self);
    /* Scratch for n inputs; called before the charge, so that short memory costs nothing. */
    pn_status (*prepare)(pn_mechanism *self, size_t n, pn_err *err);
    /* Draw.  Inputs are finite (unless `clamps`) and already paid for; work on scratch, publish on success. */
    pn_status (*draw)(pn_mechanism *self, const double *input, size_t n, pn_rng *rng, pn_release *out, pn_err *err);
    void (*describe)(const pn_mechanism *self, char *text, size_t size);
} pn_mechanism_ops;

struct pn_mechanism {
    const pn_mechanism_ops *ops;
    pn_event *event; /* owned: what one release costs, all rounding included */
    double
        domain;   /* of inputs: what is beyond +-domain is clamped or refused; INFINITY: clamped by the lattice alone */
    size_t dim;   /* number of inputs that the event is for; 0: any number */
    double scale; /* of the noise on each value: sigma or b, public; 0 where values are not released */
    bool clamps;  /* what is beyond the domain is clamped to it, by draw(); else refused before the charge */
};

/** The table, ended by NULL. */
const pn_mechanism_ops *const *pn_mechanism_table(void);
/** A mechanism by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for options; PN_ENOMEM. */
pn_status pn_mechanism_new(pn_mechanism **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
void pn_mechanism_free(pn_mechanism *mechanism);

/* Rows of the table: exponential, permute_and_flip, report_noisy_max (selection_mechanism.c); gaussian, analytic_gaussian,
 * laplace (additive_mechanism.c); sparse_vector (sparse_vector.c).
 *
 * A bound that the user of a row states (`bound`, `score_bound`) is the domain: what lies beyond is clamped to it, and a NaN counts as
 * -bound.  Clamping to public limits moves no two values further apart, so the sensitivity holds as it was.  With `strict` what lies beyond
 * is refused instead, because a value outside a promise means that the promised sensitivity is in doubt too.  The refusal happens before
 * the charge and says neither the value nor its position; but that it happens at all depends on the data and costs nothing, so whoever
 * chooses the bound could read a sum off it: it is for the owner of the data, who knows that it never happens. */

/**
 * Charge, then draw, then publish.
 *   ledger  required.   label  what the report says; NULL: the mechanism's name.
 *   input[n]  the query's exact values (private).
 * Errors:  PN_EINVAL without a ledger or the buffer that the output needs; PN_EPRIVACY for a simulated rng on a ledger that
 *          is not teaching; PN_EDIM for n = 0 or another n than the event is for; PN_EDOMAIN where nothing clamps, for NaN,
 *          infinity or a value beyond the domain (the message has no value); PN_ENOMEM; PN_EBUDGET.  All before the charge and the first draw,
 *          so a failed release costs nothing, gives nothing and leaves the stream where it was.
 * Privacy: one mechanism->event. */
pn_status pn_mechanism_release(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                               const double *input, size_t n, pn_release *out, pn_err *err);

/* Selection among scores (larger is better), exact: random/selection.h has the laws. */
typedef enum pn_selection { PN_SELECT_EXPONENTIAL = 0, PN_SELECT_PERMUTE_AND_FLIP, PN_SELECT_LAPLACE } pn_selection;
extern const char *const pn_selection_names[]; /* "exponential", "permute_and_flip", "laplace", NULL */

typedef struct pn_selection_options {
    pn_selection law;
    double epsilon;     /* of one selection; rounded down to 20 significant bits */
    double sensitivity; /* of every score, absolute, > 0: certified by the caller */
    double score_error; /* bound on |computed - exact| of every score, >= 0, public */
    double score_bound; /* bound on |score|, > 0, public; scores beyond it are clamped */
    pn_neighbours neighbours;
} pn_selection_options;

/** A selection mechanism.  Scores are rounded down to multiples of a unit u, the smallest power of two >= max(sensitivity
 *  2^-20, 2 score_error, score_bound 2^-52): dividing by it is exact, so score_error is all that rounding can add.  A
 *  record moves the integers by at most D = ceil(sensitivity/u) + 1, and the law uses 2 D.
 *  Its event: exponential{epsilon} for the first law, report_noisy_max{scale, sensitivity} for the others, where
 *  2 sensitivity/scale is epsilon and never less.  A mechanism has scratch: one thread at a time.
 *  Errors: PN_EINVAL for a law or relation that does not exist, epsilon outside [2^-40, 2^10], bounds outside [2^-900,
 *  2^900]; PN_ENOMEM. */
pn_status pn_mechanism_selection(pn_mechanism **out, const pn_selection_options *options, pn_err *err);

/* ---- sparse vector: an adaptive stream of queries against a threshold ---- */

/* One run of above-threshold: charged once when opened, then it answers until it has said "above" `answers` times. */
typedef struct pn_sparse_run pn_sparse_run;

/** Charge `mechanism` (a row "sparse_vector") to the ledger and draw the threshold's noise.  The run copies what it needs of
 *  the mechanism and borrows the rng.  Errors: PN_EUNSUPPORTED for another mechanism; as pn_mechanism_release.
 *  Privacy: mechanism->event pays for all answers of the run. */
pn_status pn_sparse_open(pn_sparse_run **out, pn_mechanism *mechanism, pn_ledger *ledger, const char *label,
                         pn_rng *rng, pn_err *err);
/** Is value + noise at or above the noisy threshold?  Nothing but this boolean ever leaves: not the noisy value, not the
 *  noisy threshold, not by how much.  Errors: PN_EDOMAIN as for a release (nothing is drawn); PN_EBUDGET once it has halted. */
pn_status pn_sparse_above(pn_sparse_run *run, double value, bool *above, pn_err *err);
/** Positive answers left; 0 when it has halted.  Depends on the answers only. */
size_t pn_sparse_left(const pn_sparse_run *run);
/** True when its noise is seeded: no privacy. */
bool pn_sparse_simulated(const pn_sparse_run *run);
void pn_sparse_free(pn_sparse_run *run);

#endif
