/* event_leaf.h -- events that are a name and a few numbers, and how composed events are walked.  Private to privacy/.
 * Depends on: event.h, event_curve.h.  Used by: event*.c, accountant*.c, ledger*.c, calibrate.c. */
#ifndef PN_PRIVACY_EVENT_LEAF_H
#define PN_PRIVACY_EVENT_LEAF_H

#include <stdint.h>

#include "privacy/event/event.h"
#include "privacy/event/event_curve.h"

#define PN_LEAF_VALUES 6

/* Needs no memory but its own, so searches over a parameter make it on the stack
 * (with one reference that nobody drops). */
typedef struct pn_leaf {
    pn_event base;
    double values[PN_LEAF_VALUES]; /* the parameters, in the order of the table row; counts as doubles */
    double level;                  /* what the curves need: epsilon, sensitivity/scale or rho */
} pn_leaf;

/* One row, one line. */
#define PN_EVENTS(X)                                                                                                   \
    X(exponential)                                                                                                     \
    X(report_noisy_max)                                                                                                \
    X(pure)                                                                                                            \
    X(approximate)                                                                                                     \
    X(laplace)                                                                                                         \
    X(gaussian)                                                                                                        \
    X(zcdp)                                                                                                            \
    X(rdp)                                                                                                             \
    X(curve)                                                                                                           \
    X(loss_distribution)                                                                                               \
    X(sparse_vector)                                                                                                   \
    X(objective_perturbation)                                                                                          \
    X(either)                                                                                                          \
    X(selection)                                                                                                       \
    X(poisson_sampled)                                                                                                 \
    X(fixed_sampled)                                                                                                   \
    X(fixed_sampled_and_whole)
#define PN_DECLARE(name) extern const pn_event_ops pn_event_##name##_ops;
PN_EVENTS(PN_DECLARE)
#undef PN_DECLARE

/** A leaf on the heap with the values of `args`.  Errors: PN_ENOMEM; PN_EINVAL when `level` is outside [1e-150, 1e150]:
 *  its square must be a number. */
pn_status pn_leaf_new(pn_event **out, const pn_event_ops *ops, const pn_arg *args, double level,
                      pn_neighbours neighbours, pn_err *err);
void pn_leaf_destroy(pn_event *self);
void pn_leaf_args(const pn_event *self, pn_arg *args);
/** "name(first=..., second=...)" by the parameter table, each number in the fewest digits that give it back; optional
 *  parameters that have their fallback are left out. */
void pn_leaf_describe(const pn_event *self, char *text, size_t size);

/** What the events approximate in `count` times `event` take out of the budget's delta; 0 where there are none. */
double pn_event_own_delta(const pn_event *event, size_t count);

/* Of epsilon, what the Gaussian filter leaves for the slack of the exponents: 2^-36,
 * and a quarter of a tiny epsilon. */
#define PN_SLACK_SHARE 0x1p-36

/** (sensitivity/sigma)^2 of a leaf; infinite for what is not Gaussian noise. */
double pn_gaussian_mu_squared(const pn_event *leaf);
/** sum += count * mu^2 over the flattened terms. */
void pn_event_add_mu_squared(const pn_event *event, size_t count, pn_sum *sum);
/** The exact epsilon at delta of Gaussian noise of that total mu^2, slack included; +inf where there is none. */
double pn_gaussian_price(double mu_squared, double delta, pn_slack slack);

/* Events inside events are flattened when they are composed, so that a sum never recurses. */
typedef struct pn_term {
    pn_event *event; /* no composition itself */
    size_t count;
} pn_term;

/** The terms of a composed event; NULL and 0 for a leaf. */
const pn_term *pn_event_terms(const pn_event *event, size_t *count);

/** sum += count * rdp(event, alpha), respectively count * zcdp(event), over the flattened terms: exact, see pn_sum. */
void pn_event_add_rdp(const pn_event *event, size_t count, double alpha, pn_sum *sum);
void pn_event_add_zcdp(const pn_event *event, size_t count, pn_sum *sum);

/** The same number for events that are the same. */
uint64_t pn_event_hash(const pn_event *event);

/** `value` in the fewest digits that read back as the same double. */
void pn_shortest(double value, char *text, size_t size);

#endif
