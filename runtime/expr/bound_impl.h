/* bound_impl.h -- the parts of the bounds: a case (an expression of few variables over a box), its sweep, the search.
 * Depends on: bound.h.  Used by: bound*.c. */
#ifndef PN_EXPR_BOUND_IMPL_H
#define PN_EXPR_BOUND_IMPL_H

#include "expr/bound.h"

#define PN_BOUND_WHY PN_WHY_MAX

/* ---- bound_case.c: what is left of an expression once listed values and a common sub-expression are put in ---- */

typedef struct pn_case {
    pn_graph *graph; /* its own, over `dims` variables that the root needs */
    pn_node root;
    unsigned dims;
    pn_interval range[PN_BOUND_VARS_MAX];
    /* every number in it is a value of the variable; low > high: none is known */
    pn_interval attained[PN_BOUND_VARS_MAX];
    double *list[PN_BOUND_VARS_MAX]; /* sorted, owned, [count]; NULL: an interval */
    size_t count[PN_BOUND_VARS_MAX];
    unsigned source[PN_BOUND_VARS_MAX]; /* which of the caller's variables; of an unreduced case */
    bool reduced;                       /* the one variable is `common` of `inner`, a case of its own */
    struct pn_case *inner;              /* owned; root: the common sub-expression */
    size_t boxes;                       /* that its range took */
} pn_case;

/** Which variables the root needs, a bit each.  Errors: PN_ENOMEM. */
pn_status pn_case_needs(unsigned *needed, const pn_graph *graph, pn_node root, pn_err *err);
/** How many cases the domains make: the product of the short lists of needed variables. */
size_t pn_case_count(const pn_graph *graph, unsigned needed, const pn_domain *domains);
/** Errors: PN_ENOMEM, PN_EUNSUPPORTED (too many operations), PN_ECANCELLED.  On failure nothing is left to free. */
pn_status pn_case_open(pn_case *out, const pn_graph *graph, pn_node root, unsigned needed, const pn_domain *domains,
                       size_t index, pn_task *task, pn_err *err);
void pn_case_close(pn_case *self);
/** The text of a node of the case's graph in the caller's variables.  Errors: PN_ENOMEM. */
pn_status pn_case_text(const pn_case *self, pn_node node, char *text, size_t size, pn_err *err);
/** The expression alone in a graph of its own (owned by the caller) over the same variables. */
pn_status pn_bound_copy(pn_graph **out, pn_node *out_root, const pn_graph *graph, pn_node root, pn_err *err);
/** Refuse domains that are none. */
pn_status pn_bound_check(const pn_graph *graph, const pn_domain *domains, pn_err *err);

/* ---- bound_sweep.c: one pass over the nodes that several expressions need ---- */

typedef struct pn_step_list {
    uint8_t op;
    uint32_t a, b, c; /* slots */
} pn_sweep_step;

/* A value as |x|^power * factor for one variable x whose box keeps its sign: see bound_tail.c. */
typedef struct pn_scaled {
    double power;
    pn_interval factor;
} pn_scaled;

typedef struct pn_sweep {
    unsigned dims;
    size_t first;         /* slots 0..dims-1 are variables, those up to `first` constants, then one for each step */
    size_t steps, middle; /* steps below `middle` make output 0 */
    pn_sweep_step *step;
    pn_interval *value; /* by slot */
    unsigned char *doubt;
    pn_scaled *scaled;
    pn_node *node;    /* by slot, in the graph */
    uint32_t *output; /* [outputs] slots */
    int tail;         /* the variable that scales, or -1 */
    pn_interval base; /* |x| of it */
} pn_sweep;

/** outputs[count]; output 0 needs the steps below `middle`.  Errors: PN_ENOMEM. */
pn_status pn_sweep_open(pn_sweep *out, const pn_graph *graph, const pn_node *outputs, size_t count, pn_err *err);
void pn_sweep_close(pn_sweep *self);
/** Set the box of the variables. */
void pn_sweep_set(pn_sweep *self, const pn_interval *box);
/** Run steps from..to-1. */
void pn_sweep_run(pn_sweep *self, size_t from, size_t to);

static inline pn_interval pn_sweep_value(const pn_sweep *self, size_t output)
{
    return self->value[self->output[output]];
}
static inline unsigned pn_sweep_doubt(const pn_sweep *self, size_t output)
{
    return self->doubt[self->output[output]];
}

/** The scaled form of a step, into self->scaled[slot]; returns the interval that it amounts to. */
pn_interval pn_sweep_tail(pn_sweep *self, const pn_sweep_step *step, size_t slot);

/* ---- bound_search.c ---- */

typedef struct pn_span {
    pn_extremes range;      /* ends may be infinite */
    bool undefined;         /* on part of the domain */
    bool may_jump;          /* when it is not known to be continuous */
    char why[PN_BOUND_WHY]; /* when undefined, or an outer end is infinite */
} pn_span;

/** The extremes of one case within `limit` boxes.  Errors: PN_ENOMEM,
 *  PN_EUNSUPPORTED (too many operations), PN_ECANCELLED. */
pn_status pn_search(pn_span *out, const pn_case *what, size_t limit, pn_task *task, pn_err *err);
/** Where to cut a box in two. */
double pn_search_middle(pn_interval x);
/** Say in `why` which operation first has no bound, or no value, in the box that the sweep was last run on.
 *  Errors: PN_ENOMEM. */
pn_status pn_search_explain(char *why, const pn_sweep *sweep, const pn_case *what, bool undefined, pn_err *err);

/* ---- bound_jump.c ---- */

/** The jumps of the expression at `root`, a node of the case's graph, as its only variable grows;
 *  without `variable`'s sign. */
pn_status pn_jump_of_case(pn_jump *out, const pn_case *what, pn_node root, pn_task *task, pn_err *err);

/** pn_bound_jump without checks; the graph may have failed to grow. */
pn_status pn_jump_over(pn_jump *out, const pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                       pn_task *task, pn_err *err);

/* ---- bound.c ---- */

/** As pn_bound_range, but being unbounded or undefined is not an error. */
pn_status pn_bound_span(pn_span *out, const pn_graph *graph, pn_node root, const pn_domain *domains, pn_task *task,
                        pn_err *err);

#endif
