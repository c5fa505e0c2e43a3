/* question.h -- a question about the records, as a plan has it: what one answer may show of a record, what that costs,
 * and how it is answered.  All of it is public and fixed before anything is drawn.
 *
 * A new kind is one file that fills a pn_question_ops and one line in question.c's table.  Whoever asks, a solver of
 * this library or of a user's, does so through oracle.h, which charges, draws and remembers.
 * Depends on: gradient_noise.h, privacy/mechanism.  Used by: oracle.c, plans of solvers. */
#ifndef PN_ORACLE_QUESTION_H
#define PN_ORACLE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "continual/prefix.h"
#include "continual/single_pass.h"
#include "core/status.h"
#include "core/task.h"
#include "geometry/algebra/choices.h"
#include "geometry/algebra/coordinate_choices.h"
#include "objective/measures/smoothed.h"
#include "objective/passes/gradient_path.h"
#include "objective/passes/objective.h"
#include "oracle/gradient_noise.h"
#include "oracle/model_noise.h"
#include "privacy/accounting/calibrate_program.h"
#include "privacy/event/event.h"
#include "privacy/mechanism/batch_release.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/perturbation.h"
#include "privacy/mechanism/selections.h"

/* What a question is asked with: released or public numbers, borrowed for the call. */
typedef struct pn_asked {
    const double *x; /* [dim of the objective] the point; of several points [count][dim] */
    const double *v; /* [dim] the second point or the direction; NULL where the kind takes none */
    double tau;      /* what records are clipped to, or measured by; of difference 0: reach x smoothness x ||x - v|| */
} pn_asked;

/* Of second_moments: a record (x, y) becomes v = (x/row, tau (y - middle)/label); of an x whose last feature is the
 * constant 1 that one becomes kappa. */
typedef struct pn_moments_shape {
    double row, label, middle, tau;
    double kappa; /* 0: there is no such feature */
} pn_moments_shape;

/* What comes back. */
typedef enum pn_answer_kind {
    PN_ANSWER_NUMBERS = 0, /* [dim], with Gaussian noise */
    PN_ANSWER_CHOICE,      /* an index from 0, by private choice among `dim` scores */
    PN_ANSWER_SUMS,        /* [dim]: a running sum, of a stream that one event pays for */
    PN_ANSWER_SMOOTHED,    /* [dim]: an estimate from values, of a stream over records that are used once */
    PN_ANSWER_MASKED,      /* [dim]: a point that the solver computed from the records, with noise; a run's last word */
    PN_ANSWER_VERTEX,      /* [dim]: a vertex, by several private choices that one event pays for */
    PN_ANSWER_ABOVE        /* whether a number is at or above a threshold, of a run that one event pays for */
} pn_answer_kind;

struct pn_question_ops {
    const char *name;
    const char *doc;
    const char *source;
    pn_answer_kind answer;
    bool two;     /* it takes asked.v */
    bool batches; /* it may be asked of a batch */
    /* Fill in dim and what bounds an answer's dependence on a record (`noise` or `selection`, and `batches`), from
     * certified bounds alone.  Errors: PN_EPRIVACY where nothing bounds it, PN_EUNSUPPORTED. */
    pn_status (*certify)(pn_question *self, pn_err *err);
    /* out[dim]: the exact answer, or what a choice is made by (the largest score wins): the mean over all records, or
     * with a batch the sum over it divided by its denominator.  *value (may be NULL) = the mean loss at x.
     * room[self->room]: scratch. */
    pn_status (*compute)(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err);
    /* What `noise` is multiplied with: for questions whose sensitivity follows public arguments; NULL: 1. */
    double (*scale)(const pn_question *self, const pn_asked *asked);
    /* Undo on released numbers what compute() did to make them cheap; NULL: nothing. */
    void (*finish)(const pn_question *self, double *out);
};

struct pn_question {
    const pn_question_ops *ops;
    pn_objective *objective; /* of the plan, which outlives the question; of moment and mean: `inner` */
    pn_neighbours neighbours;
    bool exact;        /* of a run without privacy: nothing has to be bounded, and answers have no noise */
    size_t points;     /* in asked.x */
    size_t each;       /* how often one step may ask it */
    size_t times;      /* in a whole run; 0: `each` a step, or of what is asked by itself once */
    size_t looks;      /* at each record, for an answer */
    const char *label; /* of its charges; NULL: the solver's name */
    double share;      /* precision relative to other questions of a plan: its noise multiplier is z/share */
    double budget;     /* part of the plan's budget that pays for it by itself, in (0, 1); 0: z/share counts */

    /* What it was told, before it is certified; zeros where its kind takes none. */
    const char *scheme;       /* of batches: "poisson", "fixed", "shuffled"; NULL: all records */
    size_t batch;             /* records of one, or as many as are expected */
    pn_interval clip;         /* to which values are clipped; {0, 0}: the certified range */
    pn_path_options along;    /* of vertex and choices: with steps, of a run that asks at its own iterates */
    bool clips;               /* of gradient: what is asked says how long a record's part may be, asked.tau */
    double reach;             /* of difference: clipped at reach x smoothness x ||x - v||; 0: 1 */
    double radius;            /* of differences */
    double threshold;         /* of above ... */
    size_t answers;           /* ... and how often it says so before it ends; 0: 1 */
    pn_prefix_options prefix; /* of prefix: the method; its numbers are owned, as `numbers` */
    double *numbers;
    pn_graph *graph;        /* kept: of moment and mean, in the variables z and y ... */
    pn_node phi;            /* ... and its root */
    pn_moments_shape shape; /* of second_moments: tau and kappa as wanted; the rest is filled in */
    char about[96];         /* what tells two of a kind apart: the text of phi */

    size_t dim;                         /* numbers of an answer, or candidates */
    size_t computed;                    /* numbers that compute() writes for a choice; 0: dim, a score each */
    size_t room;                        /* doubles of scratch that computing one takes */
    pn_gradient_noise noise;            /* of numbers about all records */
    pn_batch_release_options batches;   /* of numbers about batches, or whose noise is scaled; scheme NULL: neither */
    double divisor;                     /* what a released sum is divided by */
    double offset;                      /* added to released numbers: values are centred before they are summed */
    double reached;                     /* bound on what one record adds, where compute() clips to it */
    pn_selection_options selection;     /* of choices */
    pn_selections_options selections;   /* of several choices ... */
    pn_choices *choices;                /* ... and what they are: owned */
    pn_coordinate_choices *coordinates; /* of vertex and choices, owned; NULL: vertices have more entries */
    pn_model model;                     /* of hessian */
    pn_smoothing smoothing;             /* of smoothed: the estimator, and how the records are shared out */
    pn_single_pass_options slices;
    bool laplace; /* of point: noise.sigma is the scale of Laplace noise, noise.sensitivity in l2 */
    pn_perturbation_options perturbation; /* of minimum */
    pn_prefix_design *design;             /* owned: of prefix */
    pn_loss *phi_loss;                    /* owned, with inner: the objective whose loss, or slope, phi is */
    pn_objective *inner;

    pn_basis basis; /* why a record moves an answer by no more than it is charged for; rule NULL: that of `noise` */

    pn_event *event;  /* owned: of per_event answers; NULL before it has a price */
    size_t per_event; /* answers that one event pays for */
};

/** How many numbers compute() writes. */
size_t pn_question_computed(const pn_question *self);

/** Free what it owns; safe on a zeroed one. */
void pn_question_clear(pn_question *self);

/** A question by itself: `self` has ops, objective, neighbours and what it is told; the rest is filled in, from
 *  certified bounds.  Clear it also after a failure.  Errors: PN_EPRIVACY, with what nothing bounds;
 *  PN_EUNSUPPORTED. */
pn_status pn_question_certify(pn_question *self, pn_err *err);

/** The noise of multiplier z > 0, and its event: sigma = z/share times the sensitivity; of a choice epsilon =
 *  2 share/z, which costs the same zCDP, within [2^-39, 2^10].  Errors: as pn_question_price. */
pn_status pn_question_set_noise(pn_question *self, double z, pn_err *err);
/** How often a run that asks it so many times is charged its event: once in all of what is a stream or a watch. */
size_t pn_question_events(const pn_question *self, size_t times);
/** A running sum's method for a run of so many steps, without noise yet. */
pn_status pn_question_set_horizon(pn_question *self, size_t steps, pn_err *err);
/** The noise of a running sum that by itself costs the whole request.  Errors: as pn_prefix_design_new. */
pn_status pn_question_design(pn_question *self, const pn_request *request, pn_err *err);
/** The same with noise of that multiplier, in what a whole stream moves for leaves of its sensitivity. */
pn_status pn_question_design_at(pn_question *self, double multiplier, pn_err *err);
/** Of a point, whose sensitivity, bound and dim are known: sigma, or the scale of Laplace noise for a pure epsilon,
 *  with which it costs the whole request, and its event.  Errors: PN_EBUDGET, beginning with `owner`, with the least
 *  budget that pays. */
pn_status pn_point_noise(pn_question *self, const pn_request *request, const char *owner, pn_err *err);
/** Of smoothed, when its smoothing, reach, slices (but for their design) and prefix are known: what a record moves the
 *  first leaf of a stream and every other one in l2; 0 where there is no other. */
void pn_smoothed_sensitivities(const pn_question *self, double *first, double *others);
/** Of smoothed, certified: the noise with which its passes cost the request, and the event of one; leaves the design in
 *  slices, too.  Errors: PN_EBUDGET, beginning with `owner`; as pn_prefix_design_new. */
pn_status pn_smoothed_design(pn_question *self, const pn_request *request, const char *owner, pn_err *err);
/** Contributions by which a neighbour's sum differs: one where a coin decides about a record. */
double pn_question_moved(const pn_question *self);
/** Standard deviation of the noise on each number of an answer (for scale 1; of a running sum the last); of a choice
 *  the Gumbel scale. */
double pn_question_sigma(const pn_question *self);

/** The event of what is certified and has its noise (sigma, or epsilon of a choice).  Errors: what the mechanism
 *  refuses. */
pn_status pn_question_price(pn_question *self, pn_err *err);

/** A certified question of numbers about all records, without a scheme: let it be paid with the rest of a run that is
 *  charged as a whole, as a batch of all records is. */
void pn_question_join_whole(pn_question *self);

/** What draws the answers of one whose batches.scheme is NULL.  Errors: what the mechanism refuses. */
pn_status pn_question_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err);

/**
 * The noise of all questions of the plan, certified, for its iterations and request: fills event, charges, sigma,
 * gradients and the lines about noise.  One question of numbers about all records gets the sigma of gradient_descent,
 * one choice the epsilon of frank_wolfe.  With `pld` the run is priced by its loss distribution and charged as a whole.
 * Errors: PN_EINVAL for a plan without questions; PN_EUNSUPPORTED for Gaussian noise without a delta; PN_EBUDGET where
 * nothing fits; as pn_calibrate_run.
 */
pn_status pn_plan_calibrate(pn_plan *plan, bool pld, pn_err *err);

/* A question, and how often a run asks it. */
typedef struct pn_asking {
    pn_question *question;
    size_t times;
    bool priced; /* it has its noise already */
} pn_asking;

/** What is asked for, for pn_calibrate_run. */
pn_run_budget pn_request_budget(const pn_request *request, const char *owner, const char *accountant);
/** The noise of those that have none: one multiplier *z (may be NULL) for all, with which the run costs what is asked
 *  for: *reached (may be NULL), by `accountant`: "rdp", or "pld"; NULL: the exact curve where all are Gaussian about
 *  all records, else "rdp".  Errors: as pn_calibrate_run, whose messages begin with `owner`. */
pn_status pn_askings_calibrate(const pn_asking *askings, size_t count, const pn_request *request, const char *owner,
                               const char *accountant, double *z, double *reached, pn_err *err);
/** All that such a run is charged, as one event.  Errors: PN_ENOMEM. */
pn_status pn_askings_event(const pn_asking *askings, size_t count, pn_event **out, pn_err *err);

/** The table, ended by NULL; NULL for a name that there is not. */
const pn_question_ops *const *pn_question_table(void);
const pn_question_ops *pn_question_find(const char *name);

/** Of vertex and choices, certified and with its law, in a private run: how `steps` answers, the first at start[p] and
 *  each other at what steps 2/(t+1) make of those before, come from the one kept gradient (vertex_path.c), whose slopes
 *  are as said, with tangents renewed before a margin has moved by kappa.  NULL; or what it lacks: it is for sparse
 *  records over l1 balls, simplices and their products, by the exponential law or permute-and-flip, PN_PATH_SQUARED for
 *  the squared loss, where whole numbers move by what the question is charged for.  What it rests on is public.  start
 *  is kept. */
const char *pn_question_vertex_path(pn_path_options *out, const pn_question *self, const double *start, size_t steps,
                                    pn_path_slopes slopes, double kappa);
/** Answer it so: by a number for each range of self->coordinates, 2j + 1 where the entry j of the vertex is negative,
 *  else 2j. */
void pn_question_vertex_along(pn_question *self, const pn_path_options *along);
/** Of such a question: the most that a record moves an entry of the gradient by. */
double pn_question_entry_moves(const pn_question *self);

/* ---- for the kinds ---- */

/** Every record's number, in room of that many doubles: a batch of all, where a sum over all has the regulariser. */
size_t *pn_question_everybody(const pn_question *self, double *room);
/** PN_EPRIVACY, with what to do, where nothing bounds the l2 norms of records, by which gradients are clipped. */
pn_status pn_question_need_norms(const pn_question *self, pn_err *err);
/** The release of sums over batches of what a record adds `contribution` to, or (scheme NULL) over all records: for
 *  kinds whose noise is scaled.  Fills batches and divisor. */
pn_status pn_question_batches(pn_question *self, double contribution, pn_err *err);
/** Make `inner`, with phi as its loss, or as the slope of its loss; the question is then about that.
 *  Errors: PN_EUNSUPPORTED for losses of several margins; as pn_objective_new. */
pn_status pn_question_of_phi(pn_question *self, bool slope, pn_err *err);

/** Whether users may ask it: what a solver computes from the records itself is for those of the library. */
bool pn_question_is_open(const pn_question_ops *ops);

/* Of difference: the doubles of its scratch; and where in it the factors of the records at v are kept (they are written
 * there by who computes them, and are then those at v). */
void pn_difference_layout(const pn_question *self, size_t *room);
double *pn_difference_factors(const pn_question *self, double *room, const double *v);

/* One row, one line. */
#define PN_QUESTIONS(X)                                                                                                \
    X(gradient)                                                                                                        \
    X(moment)                                                                                                          \
    X(difference)                                                                                                      \
    X(hessian)                                                                                                         \
    X(second_moments)                                                                                                  \
    X(hvp)                                                                                                             \
    X(mean)                                                                                                            \
    X(within)                                                                                                          \
    X(value)                                                                                                           \
    X(values)                                                                                                          \
    X(differences)                                                                                                     \
    X(vertex)                                                                                                          \
    X(choices)                                                                                                         \
    X(choose)                                                                                                          \
    X(prefix)                                                                                                          \
    X(above)                                                                                                           \
    X(smoothed)                                                                                                        \
    X(point)                                                                                                           \
    X(minimum)

#define PN_QUESTION_DECLARE(name) extern const pn_question_ops pn_question_##name;
PN_QUESTIONS(PN_QUESTION_DECLARE)
#undef PN_QUESTION_DECLARE

#endif
