/* mechanism.h -- private releases: the interface, the table, and the ONE function through which noise leaves.
 * Depends on: event.h, ledger.h, random.  Used by: solvers, bindings.  Spec: noise.md section 7, accounting.md section 2. */
#ifndef PN_PRIVACY_MECHANISM_H
#define PN_PRIVACY_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "privacy/event.h"
#include "privacy/ledger.h"
#include "random/rng.h"

typedef struct pn_mechanism pn_mechanism;

/* What came out.  Selection: index (from 0).  Additive noise: values[n], the caller's buffer, untouched on failure. */
typedef struct pn_release {
    size_t index;
    double *values;
    bool simulated; /* true when the noise was seeded: no privacy */
} pn_release;

typedef struct pn_mechanism_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params; /* the binding adds `neighbours` */
    bool selects;           /* a choice among scores, not a noisy vector */
    pn_status (*create)(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err);
    void (*destroy)(pn_mechanism *self);
    /* Scratch for n inputs; called before the charge, so that short memory costs nothing. */
    pn_status (*prepare)(pn_mechanism *self, size_t n, pn_err *err);
    /* Draw.  Inputs are finite and already paid for; work on scratch, publish on success. */
    pn_status (*draw)(pn_mechanism *self, const double *input, size_t n, pn_rng *rng, pn_release *out, pn_err *err);
    void (*describe)(const pn_mechanism *self, char *text, size_t size);
} pn_mechanism_ops;

struct pn_mechanism {
    const pn_mechanism_ops *ops;
    pn_event *event; /* owned: what one release costs, all rounding included */
};

const pn_mechanism_ops *const *pn_mechanism_table(void);
pn_status pn_mechanism_new(pn_mechanism **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
void pn_mechanism_free(pn_mechanism *mechanism);

/**
 * Charge, then draw, then publish.
 *   ledger  required.   label  what the report says.   input[n]  the query's exact values (private).
 * Errors:  PN_EPRIVACY for a simulated rng on a ledger that is not teaching; PN_EDOMAIN for NaN or infinity in input (before
 *          any charge; the message has no value); PN_EBUDGET (nothing charged, nothing drawn); PN_EDIM for n = 0.
 */
pn_status pn_mechanism_release(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                               const double *input, size_t n, pn_release *out, pn_err *err);

/* Selection among scores (larger is better), exact (noise.md section 7).  */
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

#endif
