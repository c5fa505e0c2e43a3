/* event.h -- what a release costs: immutable descriptions of private mechanisms, and their curves.
 * Every event carries its neighbouring relation; composing different ones is an error.
 * Depends on: core, numeric.  Used by: accountant, ledger, mechanism, solvers.
 * See accounting.md sections 1 and 2. */
#ifndef PN_PRIVACY_EVENT_H
#define PN_PRIVACY_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/options.h"
#include "core/status.h"
#include "privacy/event/pair.h"
#include "penumbra/event.h"

#define PN_RELATIONS 3 /* between neighbours */
/** "replace_one", "add_remove", "zero_out"; the NULL-terminated list for PN_CHOICE parameters. */
extern const char *const pn_neighbours_names[];

/** By how many records' contributions a neighbour's sum over all records differs. */
static inline double pn_contributions(pn_neighbours neighbours)
{
    return neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
}

/* The option "neighbours", which everything that has a relation takes beside its own. */
extern const pn_param pn_neighbours_params[];
/** pn_options_read for a table whose rows have a relation. */
pn_status pn_neighbours_read(pn_neighbours *neighbours, const pn_options *options, const pn_table *table,
                             const char *caller, const char *name, pn_arg args[PN_ARGS_MAX], pn_err *err);

/* Sampled noise differs a little from the ideal law (random/noise.h), and is cut: an output in the window that one data
 * set can reach may lie outside that of its neighbour.  If the ideal interaction is (epsilon, delta)-DP,
 * the one that ran is
 *     (epsilon + slack.epsilon, exp(slack.epsilon/2) (delta + min(exp(epsilon) slack.tail, slack.window))) - DP.
 * tail: the mass outside the window of the data set itself, which exp(epsilon) carries over to the neighbour; window:
 * the mass outside the neighbour's window, 2 Q(13 - mu) a draw, which needs no epsilon.  The delta of an event
 * approximate is both.  Slacks add up. */
typedef struct pn_slack {
    double epsilon, tail, window;
} pn_slack;

typedef struct pn_event_ops {
    const char *name; /* "exponential" */
    const char *doc;
    const char *source;
    const pn_param *params; /* the binding adds `neighbours` to every row */
    pn_status (*create)(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err);
    void (*destroy)(pn_event *self);
    /* What create was given, one value per row of params; borrowed from the event.  NULL for compose and repeated. */
    void (*args)(const pn_event *self, pn_arg *args);

    /* Renyi divergence bound of order alpha in (1, inf]; +inf where there is none.  Never NaN. */
    double (*rdp)(const pn_event *self, double alpha);
    /* Smallest known rho with rdp(alpha) <= rho alpha for all alpha > 1; +inf when none. */
    double (*zcdp)(const pn_event *self);
    /* "exponential(epsilon=0.1)" */
    void (*describe)(const pn_event *self, char *text, size_t size);

    /* What the noise as drawn may add to the ideal statement; NULL for nothing. */
    pn_slack (*slack)(const pn_event *self);
    /* Privacy loss by its dominating pairs; NULL when none is known.  Returns 1 when one pair serves both directions, 2
     * for {remove, add}.  `attained`: pairs of some mechanism that this event describes, for lower bounds. */
    size_t (*pairs)(const pn_event *self, bool attained, pn_pair pairs[2]);
} pn_event_ops;

struct pn_event {
    const pn_event_ops *ops;
    pn_neighbours neighbours;
    int references;
};

/** The table, ended by NULL. */
const pn_event_ops *const *pn_event_table(void);

/** pn_event_new with its arguments, one for each row of its table, and a relation. */
pn_status pn_event_from_args(pn_event **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err);
pn_event *pn_event_keep(pn_event *event);

/** Convenience for the tables of other rooms.  All PN_ENOMEM or PN_EINVAL. */
pn_status pn_event_exponential(pn_event **out, double epsilon, pn_neighbours neighbours, pn_err *err);
pn_status pn_event_report_noisy_max(pn_event **out, double scale, double sensitivity, pn_neighbours n, pn_err *err);
/** `draws` scalar draws of lattice noise; 0 for the ideal mechanism. */
pn_status pn_event_gaussian(pn_event **out, double sigma, double sensitivity, size_t draws, pn_neighbours n,
                            pn_err *err);
pn_status pn_event_laplace(pn_event **out, double scale, double sensitivity, size_t draws, pn_neighbours n,
                           pn_err *err);
/** Each record by a coin of rate q, then `inner` (kept; its sensitivity is one record's contribution). */
pn_status pn_event_poisson_sampled(pn_event **out, double q, pn_event *inner, pn_neighbours n, pn_err *err);
/** batch of n records without replacement, then `inner` (kept; its sensitivity is the replace-one one of the batch
 *  query). */
pn_status pn_event_fixed_sampled(pn_event **out, size_t batch, size_t n, pn_event *inner, pn_neighbours neighbours,
                                 pn_err *err);
/** ONE draw of noise of std sigma on a query on `batch` of n records (without replacement) plus a query on all of them;
 *  the sensitivities are replace-one ones.  Errors: also PN_EPRIVACY for another relation than PN_REPLACE_ONE. */
pn_status pn_event_sampled_and_whole(pn_event **out, size_t batch, size_t n, double sigma, double sampled_sensitivity,
                                     double whole_sensitivity, size_t draws, pn_neighbours neighbours, pn_err *err);
/** Any (epsilon, delta)-DP mechanism, such as a whole run at the price of its loss distribution; epsilon > 0,
 *  delta in (0, 1). */
pn_status pn_event_approximate(pn_event **out, double epsilon, double delta, pn_neighbours n, pn_err *err);
/** At most `answers` times "above" for an adaptive stream of queries; pure epsilon in total. */
pn_status pn_event_sparse_vector(pn_event **out, double epsilon, size_t answers, pn_neighbours n, pn_err *err);

/** The exact minimiser of convex losses of one margin plus a Gaussian linear term of `dim` entries
 *  (perturbed_objective.h): sigma and sensitivity of the sum of gradients, jacobian = ln(1 + beta/Lam) >= 0. */
pn_status pn_event_objective_perturbation(pn_event **out, double sigma, double sensitivity, double jacobian, size_t dim,
                                          pn_neighbours n, pn_err *err);

/** Whether it is Gaussian noise alone, composed or not: then it is one release of *mu = sensitivity/sigma (rounded
 *  upward) and *draws scalar draws of lattice noise. */
bool pn_event_is_gaussian(const pn_event *event, double *mu, double *draws);

/** Same mechanism, same numbers, same relation. */
bool pn_event_same(const pn_event *a, const pn_event *b);
/** How many releases a composed event is; 1 for any other. */
double pn_event_releases(const pn_event *event);
/** The slack of `draws` scalar Gaussian draws whose values a record moves by at most mu standard deviations. */
pn_slack pn_gaussian_slack(double draws, double mu);
/** sum += count * one. */
void pn_slack_add(pn_slack *sum, double count, pn_slack one);
/** The slack of `event` taken `count` times. */
pn_slack pn_event_slack(const pn_event *event, size_t count);

#endif
