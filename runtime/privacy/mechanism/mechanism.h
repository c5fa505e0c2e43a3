/* mechanism.h -- private releases: the interface, the table, and the ONE function through which noise leaves.
 * Depends on: event.h, ledger.h, random.  Used by: solvers, bindings.  See noise.md section 7,
 * accounting.md section 2. */
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
#include "random/score_levels.h"
#include "penumbra/mechanism.h"

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
    /* of inputs: what is beyond +-domain is clamped or refused; INFINITY: clamped by the lattice alone */
    double domain;
    size_t dim;   /* number of inputs that the event is for; 0: any number */
    double scale; /* of the noise on each value: sigma or b, public; 0 where values are not released */
    bool clamps;  /* what is beyond the domain is clamped to it, by draw(); else refused before the charge */
};

/** The table, ended by NULL. */
const pn_mechanism_ops *const *pn_mechanism_table(void);
/** pn_mechanism_new with its arguments, one for each row of its table, and a relation. */
pn_status pn_mechanism_from_args(pn_mechanism **out, const char *name, pn_arg *args, pn_neighbours neighbours,
                                 pn_err *err);

/* Selection among scores (larger is better), exact: random/selection.h has the laws. */
typedef enum pn_selection { PN_SELECT_EXPONENTIAL = 0, PN_SELECT_PERMUTE_AND_FLIP, PN_SELECT_LAPLACE } pn_selection;
extern const char *const pn_selection_names[]; /* "exponential", "permute_and_flip", "laplace", NULL */

#define PN_SELECTION_EPSILON_MAX 0x1p10 /* of one release */

typedef struct pn_selection_options {
    pn_selection law;
    double epsilon;     /* of one selection; rounded down to 20 significant bits */
    double sensitivity; /* of every score, absolute, > 0: certified by the caller */
    double score_error; /* bound on |computed - exact| of every score, >= 0, public */
    double score_bound; /* bound on |score|, > 0, public; scores beyond it are clamped */
    pn_neighbours neighbours;
    double pairs; /* not 0: a number x to choose by is two candidates, 2j of score pairs x and 2j + 1 of -pairs x */
} pn_selection_options;

/** The unit u that scores are rounded down to multiples of: the smallest power of two >= max(sensitivity 2^-20,
 *  min(2 score_error, sensitivity 2^-12), score_bound 2^-52). */
double pn_selection_unit(const pn_selection_options *options);
/** A selection mechanism.  Dividing by its unit is exact, so score_error is all that rounding can add.  A record moves
 *  the integers by at most D = max(ceil(sensitivity/u) + 1, ceil((sensitivity + 2 score_error)/u)); the law uses 2 D.
 *  Its event: exponential{epsilon} for the first law, report_noisy_max{scale, sensitivity} for the others, where
 *  2 sensitivity/scale is epsilon and never less.  A mechanism has scratch: one thread at a time.
 *  Errors: PN_EINVAL for a law or relation that does not exist, epsilon outside [2^-40, 2^10], bounds outside [2^-900,
 *  2^900]; PN_ENOMEM. */
pn_status pn_mechanism_selection(pn_mechanism **out, const pn_selection_options *options, pn_err *err);

/* Scores that are whole already and stand on levels (random/score_levels.h), of the exponential law or of
 * permute-and-flip, which looks at view->best. */

/** The rate of scores that a record moves by at most `moved` units: what levels are to be made with. */
pn_rate pn_mechanism_choice_rate(const pn_mechanism *mechanism, uint64_t moved);
/** pn_mechanism_release of one of them, which the mechanism's own lattice and sensitivity have no part in.
 *  Errors: as that; PN_EINVAL for levels of another rate; as pn_score_levels_draw. */
pn_status pn_mechanism_choose(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                              const pn_level_view *view, uint64_t moved, size_t *j, bool *second, pn_err *err);

/** True when its noise is seeded: no privacy. */
bool pn_sparse_run_simulated(const pn_sparse_run *run);

#endif
