/* loss.h -- losses of one record: the interface and the table of known losses.
 * A new loss l(z, y) of a linear predictor z = <x, theta> is one formula and one line in loss.c's table: derivatives,
 * bounds and evaluation come from the expression (formula_loss.c), for built-in and typed losses alike; so they do for
 * a typed loss of several margins and further parameters (joint_loss.c).  Softmax, or a loss of the whole record
 * (black_box), fills the functions itself.
 * Depends on: core, expr.  Used by: objective.c, bindings. */
#ifndef PN_OBJECTIVE_LOSS_H
#define PN_OBJECTIVE_LOSS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "expr/bound.h"
#include "penumbra/loss.h"

/* ---- labels ---- */

typedef enum pn_label_kind {
    PN_LABELS_REAL = 0, /* any number; bounds need a range that the data set enforces */
    PN_LABELS_VALUES,   /* one of values[count], public schema; other labels are refused */
    PN_LABELS_INTERVAL, /* within range; the data set must enforce that */
    PN_LABELS_CLASSES   /* a whole number from 1 to count, public schema */
} pn_label_kind;

#define PN_LABEL_VALUES_MAX 64

typedef struct pn_labels {
    pn_label_kind kind;
    size_t count;
    double values[PN_LABEL_VALUES_MAX];
    pn_interval range;
} pn_labels;

/** Index of the first of y[n] that the labels do not admit (their range included), or n. */
size_t pn_labels_first_bad(const pn_labels *labels, const double *y, size_t n);
/** "-1 and 1", "0, 1 or 2", "in [0, 1]", "real". */
void pn_labels_describe(const pn_labels *labels, char *text, size_t size);

/* ---- what is certified of a loss over a range of margins ---- */

/* All admissible labels, every margin in the range.  Infinite where unbounded: `missing` says which sub-expression
 * where. */
typedef struct pn_loss_bounds {
    /* l and its derivatives in one margin; softmax: of every entry of the gradient, eigenvalues of the Hessian,
     * third derivative along unit vectors */
    pn_interval value, slope, curvature, third;
    double slope_norm[PN_LP_COUNT]; /* largest norm of the gradient in the margins; all equal for one margin */
    double extra_norm[PN_LP_COUNT]; /* of that in the further parameters; 0 where there are none */
    double curvature_norm;          /* Frobenius norm of the Hessian in the margins and further parameters */
    bool continuous;   /* l does not jump: slope bounds its Lipschitz constant.  When false, slope still bounds
                                       what a record adds to a gradient, but not how far its loss moves with theta. */
    bool smooth;       /* the slope does not jump: curvature bounds its Lipschitz constant */
    bool twice_smooth; /* nor does the curvature */
    bool convex;
    char missing[256];
} pn_loss_bounds;

/* ---- the interface ---- */

typedef struct pn_loss_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;

    /* Either a formula in the graph's variables 0 (z) and 1 (y) and the labels that it takes ... */
    pn_node (*formula)(pn_graph *graph, const pn_arg *args);
    pn_labels labels;
    /* ... or a constructor that fills in the rest. */
    pn_status (*create)(pn_loss **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_loss *self);

    /* A block of `count` <= PN_LOSS_BLOCK records; z, slope, along and out are [inputs][count],
     * y and value [count].  value or slope may be
     * NULL.  Thread-safe, allocates nothing. */
    void (*evaluate)(const pn_loss *self, size_t count, const double *z, const double *y, double *value, double *slope);
    /* out = (Hessian in the inputs) along; NULL: not known */
    void (*curve)(const pn_loss *self, size_t count, const double *z, const double *y, const double *along,
                  double *out);
    /* margin: range of every margin, ends may be infinite; y: enforced range of the labels, of which those that the
     * loss admits count (classes: all of them). */
    pn_status (*certify)(pn_loss *self, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err);
    /* The same over a range of each input, [inputs], with the range of each slope, [inputs], within which the norms of
     * gradients are those of `out`.  NULL: the loss bounds what it has by `certify`. */
    pn_status (*enclose)(pn_loss *self, const pn_interval *inputs, pn_interval y, pn_loss_bounds *out,
                         pn_interval *slopes, pn_err *err);
    /* *out >= l(0, y) - l(z, y) for every label and margins z of at most `margin` each and `norm` in l2.  NULL: not
     * known.  Errors: PN_EUNSUPPORTED where nothing bounds it, and as certify. */
    pn_status (*fall)(pn_loss *self, double margin, double norm, pn_interval y, double *out, pn_err *err);
} pn_loss_ops;

#define PN_LOSS_BLOCK 256

#define PN_LOSS_NAME       32
#define PN_LOSS_PARAMETERS 64

struct pn_loss {
    const pn_loss_ops *ops;              /* of formula losses: evaluate, curve and certify are the common ones */
    const pn_loss_ops *row;              /* the table's row: name, doc, source */
    char name[PN_LOSS_NAME];             /* as printed: the row's, or what a user called it */
    char parameters[PN_LOSS_PARAMETERS]; /* of a row of the table, as "width=0.5"; may be empty */
    int references;
    pn_labels labels;
    size_t margins; /* linear predictors a record has: theta begins with [margins][p]; 0 for a black box */
    size_t extra;   /* further parameters, theta's last entries, which are the same for every record */
    size_t dim;     /* of a black box: entries of theta; 0: as many as a record has.  Other losses: 0 */
    bool quadratic; /* d2l/dz2 is 1: the gradient may come from the Gram matrix */
};

/** What l is a function of besides the label: margins, then further parameters. */
static inline size_t pn_loss_inputs(const pn_loss *loss)
{
    return loss->margins + loss->extra;
}

/** The table, ended by NULL. */
const pn_loss_ops *const *pn_loss_table(void);
/** pn_loss_new with its arguments, one for each row of its table. */
pn_status pn_loss_from_args(pn_loss **out, const char *name, pn_arg *args, pn_err *err);
pn_loss *pn_loss_keep(pn_loss *loss);

/**
 * A loss from an expression in variables 0 = z and 1 = y of `graph` (kept).  Compiles value, slope and curvature.
 * Errors: what the graph, its derivatives and the compiler refuse; PN_ENOMEM.
 */
pn_status pn_loss_from_graph(pn_loss **out, pn_graph *graph, pn_node root, const pn_labels *labels, pn_err *err);

/** A loss of which that expression is the slope in z, and nothing else is known: for sums of phi(z, y) x, which are its
 *  gradients.  Errors: as pn_loss_from_graph. */
pn_status pn_loss_from_slope(pn_loss **out, pn_graph *graph, pn_node root, const pn_labels *labels, pn_err *err);

/** The most inputs of a loss from an expression. */
#define PN_JOINT_INPUTS_MAX 255

/**
 * A loss of `margins` linear predictors and `extra` further parameters from an expression: variables of `graph` (kept)
 * are the margins, the further parameters, the label, then as many as the first two for the machinery, of which `root`
 * has none.  Of one margin alone it is a formula loss, of variables z and y only.
 * Errors: PN_EINVAL for margins < 1 or more than PN_JOINT_INPUTS_MAX inputs; what the graph, its derivatives and the
 * compiler refuse; PN_ENOMEM.
 */
pn_status pn_loss_from_joint_graph(pn_loss **out, pn_graph *graph, pn_node root, size_t margins, size_t extra,
                                   const pn_labels *labels, pn_err *err);

/** The labels that the loss admits within `enforced` as a domain; a list goes to values[PN_LABEL_VALUES_MAX].
 *  Errors: PN_EINVAL when there are none. */
pn_status pn_loss_label_domain(pn_domain *out, const pn_loss *loss, pn_interval enforced, double *values, pn_err *err);

/** For constructors: the head of a new loss of that row, with one reference; the rest is zero. */
void pn_loss_init(pn_loss *loss, const pn_loss_ops *ops, const pn_loss_ops *row);
/** Give the loss a name of the user's.  Errors: PN_EINVAL unless it is 1 to 31 letters, digits, spaces, _ or -. */
pn_status pn_loss_rename(pn_loss *loss, const char *name, pn_err *err);

/** The graph and root of a loss of several inputs from an expression, else NULL. */
pn_graph *pn_loss_joint_graph(const pn_loss *loss, pn_node *root);

/** The graph and root of a formula loss, else NULL. */
pn_graph *pn_loss_graph(const pn_loss *loss, pn_node *root);

/**
 * *out >= |dl/dz as computed - dl/dz| over the same ranges: of the formula's program, certified
 * (expr/rounding.h; a bound of at most `enough` is not improved on), +inf where rounding cannot be bounded.  Losses
 * that are no formula state `enough`, their own claim.
 * Errors: as pn_loss_certify.
 */
pn_status pn_loss_rounding(pn_loss *loss, pn_interval margin, pn_interval y, double enough, double *out, pn_err *err);

/** As ops->certify after checks: PN_EINVAL when an interval has low > high or NaN, or when no admissible label lies in
 *  y; PN_EUNSUPPORTED for a black box; PN_EDOMAIN when the loss is undefined on part of it.
 *  Unbounded is no error: see `missing`. */
pn_status pn_loss_certify(pn_loss *loss, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err);

/* ---- black boxes ---- */

/** The callback of a black box; NULL for other losses. */
pn_record_fn pn_loss_record(const pn_loss *loss, void **self, double *lipschitz);

#endif
