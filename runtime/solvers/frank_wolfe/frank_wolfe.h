/* frank_wolfe.h -- what the plans and the steps of the two private Frank-Wolfe methods share: vertices chosen privately
 * (frank_wolfe), or the exact vertex of a gradient with noise (frank_wolfe_convex).
 * Private to frank_wolfe*.c and block_frank_wolfe*.c.
 * Depends on: question.h, schedule.h. */
#ifndef PN_SOLVERS_FRANK_WOLFE_H
#define PN_SOLVERS_FRANK_WOLFE_H

#include "oracle/gradient_batch.h"
#include "oracle/question.h"
#include "solvers/engine/schedule.h"

typedef struct fw_plan {
    pn_plan base;            /* first */
    pn_gradient_noise noise; /* of frank_wolfe_convex */
    bool several;            /* of frank_wolfe: a vertex is made of several choices */
    pn_schedule step;        /* mu */
} fw_plan;

/* `step` of both. */
extern const char *const fw_steps[];
#define FW_STEP_PARAM                                                                                                  \
    {                                                                                                                  \
        "step", PN_SCHEDULE, PN_OPTIONAL, PN_SHARE, 0.0, fw_steps,                                                     \
            "mu of every iteration; standard: 2/(t+1), t from 1; paper: constant 1/(T+2), does not converge"           \
    }

/* `preset` of both. */
extern const char *const fw_presets[];
enum { FW_PRACTICAL, FW_THEORY };
#define FW_PRESET_PARAM                                                                                                \
    {                                                                                                                  \
        "preset", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, fw_presets,                                                     \
            "practical: an eighth of the theory's steps, where the noise of so many is at most the excess of the "     \
            "start; theory: those that minimise the risk bound.  By default theory beside calibration=\"paper\", and " \
            "where frank_wolfe makes a vertex of several choices, for which there is no other"                         \
    }

extern const pn_param fw_params[], fw_convex_params[];
enum { FW_SELECTION = 0, FW_STEP, FW_PRESET, FW_GRADIENT, FW_KAPPA };
enum { FW_CONVEX_STEP = 0, FW_CONVEX_PRESET, FW_CONVEX_BATCH, FW_CONVEX_WIDTH = FW_CONVEX_BATCH + PN_BATCH_OPTIONS };

/* What the predictions are computed from, public all of it. */
typedef struct fw_problem {
    const pn_objective *objective;
    const pn_set *set;
    const pn_bounds *bounds;
    const pn_request *request;
    double n;
    double gamma;        /* worst-case curvature; 0 when nothing bounds it */
    bool bounded;        /* something does */
    const double *start; /* [dim] of the plan */
    const pn_arg *step;  /* the option; NULL: of a method whose steps are not those */
    double k, delta_q;   /* of frank_wolfe: vertices, and the sensitivity of every score */
    double seconds;      /* of a step, estimated (work.h), ... */
    double kept_seconds; /* ... of one whose gradient is kept, and of the look at the records before the first */
    double first_seconds;
    double gap;            /* the excess of the start is at most that; 0: steps are the theory's */
    pn_path_slopes slopes; /* of frank_wolfe, where the gradient is kept from step to step ... */
    double kappa;          /* ... and what its tangents may be off in the margin */
    bool asked;            /* the option `gradient` wants it kept */
    bool passes;           /* it is computed anew, by a pass at every step */
    double lag;            /* risk from slopes that are not those of f; +inf: nothing bounds it */
} fw_problem;

/** A bounded set with a support function, or an error that says what is missing. */
pn_status fw_check_set(const pn_plan *plan, pn_err *err);
/** The problem and the start of a plan, or a reason why this objective cannot have one: no set, an unbounded one,
 *  no memory for a start. */
pn_status fw_read(fw_problem *at, pn_plan *plan, const pn_arg *start, const pn_arg *step, pn_err *err);
/** theta[count] <- (1 - mu) theta + mu atom; exactly the atom when mu is 1.  The one way that all move: with all blocks
 *  in a step the bits are the same. */
void fw_move(double *theta, size_t count, const pn_atom *atom, double mu);
/** Steps are 2/(t+1), which the theory is about. */
bool fw_is_standard(const fw_problem *at);
/** The line of the slope bound or the clip, and that of the curvature. */
void fw_explain_gradient(pn_plan *plan, const fw_problem *at);
void fw_explain_curvature(pn_plan *plan, const fw_problem *at);
/** Why there is no bound on the excess risk, or NULL. */
const char *fw_no_bound(const fw_problem *at);
/** The steps' sizes, last. */
pn_status fw_choose_step(fw_plan *plan, const fw_problem *at, pn_err *err);
/** Iterations, lines and bound of a run without privacy. */
void fw_plan_nonprivate(fw_plan *plan, const fw_problem *at, const pn_arg *common);
/** The plan of frank_wolfe over a set without a list of vertices: several choices make one. */
pn_status fw_plan_choices(fw_plan *plan, fw_problem *at, const pn_arg *common, const pn_arg *own, pn_err *err);
/** The T in 1 .. 1e7 that minimises 2 Gamma/T + a sqrt(T): (4 Gamma/a)^(2/3); `fallback` when a or Gamma is 0. */
size_t fw_best_steps(double gamma, double a, size_t fallback);
/** at->gap, by `preset` and `calibration`.  Errors: PN_ENOMEM, what the regulariser fails with. */
pn_status fw_read_preset(fw_problem *at, const pn_plan *plan, const pn_arg *preset, const pn_arg *common, pn_err *err);
/** The default T where `best` minimises the bound: its eighth, if the noise of so many steps, a sqrt(T), is at most
 *  at->gap; else `best`. */
size_t fw_practical_steps(const fw_problem *at, double a, size_t best);
/** The line of the theory's steps, of a plan that has fewer: the bound with `best` of them, whose noise costs
 *  a sqrt(T). */
void fw_explain_theory(pn_plan *plan, const fw_problem *at, double a, size_t best);

/** at->slopes, kappa, lag and kept_seconds, from the options `gradient` and `kappa`.
 *  Errors: PN_EINVAL; PN_EUNSUPPORTED, which says what is missing, where it was asked for and cannot be. */
pn_status fw_read_kept(fw_problem *at, const pn_question *vertex, const pn_arg *own, pn_err *err);
/** The line of what tangents cost, where they do. */
void fw_explain_lag(pn_plan *plan, const fw_problem *at);
/** The most steps of `each` seconds by default, of which `first` seconds are gone: three quarters at most count. */
size_t fw_steps_within(double each, double first);
/** Whether so many steps by that law can be made along a kept gradient. */
bool fw_keeps(const fw_problem *at, const pn_question *vertex, pn_selection law, size_t steps);
/** Once law and steps are chosen: the question that keeps its gradient, and the line that says so; or *kept is
 *  false. */
pn_status fw_keep(fw_plan *plan, const fw_problem *at, pn_question *vertex, size_t steps, bool *kept, pn_err *err);
extern const char *const fw_gradients[];
#define FW_FEW 512 /* vertices, up to which a pass takes no time that matters */
/** Whether noisy gradients of all records find a way where vertices do not. */
bool fw_descent_pays(const fw_problem *at);

#define FW_PRACTICAL_RULE "an eighth of what minimises the risk bound; its noise is at most the start's excess"
#define FW_DEFAULT_STEPS  100
#define FW_MAX_STEPS      10000000.0

pn_status fw_convex_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
pn_status fw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
