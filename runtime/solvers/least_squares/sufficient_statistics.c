/* sufficient_statistics.c -- least squares by one release of all second moments: what is learnt of the records is a
 * symmetric matrix with noise, and the model, its ridge and its set are post-processing of it.
 * Depends on: sufficient_statistics.h, minimise/descent.h, oracle.  Used by: solvers.c's table.
 * Source: Wang (2018), AdaSSP; Dwork, Talwar, Thakurta, Zhang (2014), Analyze Gauss; one matrix, the public corner and
 * the ridge as derived in oracle/question_second_moments.c and minimise/least_squares.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "minimise/descent.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "oracle/question.h"
#include "solvers/least_squares/sufficient_statistics.h"

#define STEPS_MOST 200000
#define TOLERANCE  1e-10 /* of the gradient at 0 */
#define FLAT       1e-12 /* of the largest eigenvalue: below, it says nothing of how fast steps come down */

/* ---- the minimum ---- */

typedef struct quadratic {
    const ss_plan *plan;
    size_t p;
    double *numbers; /* owned: the arrays below */
    double *matrix, *linear, *full, *values;
} quadratic;

static pn_status open_quadratic(quadratic *of, pn_err *err)
{
    size_t p = of->p, packed = pn_packed_size(p);

    PN_TRY(pn_new_zeroed(&of->numbers, packed + p * p + 2 * p, err, "out of memory for %zu coordinates", p));
    of->matrix = of->numbers;
    of->linear = of->matrix + packed;
    of->full = of->linear + p;
    of->values = of->full + p * p;
    return PN_OK;
}

/* The gradient of all that has no proximal step. */
static pn_status slope(void *self, const double *x, double *gradient, pn_err *err)
{
    const quadratic *of = self;

    pn_packed_times(1.0, of->matrix, of->p, x, 0.0, gradient);
    pn_axpy(of->p, -1.0, of->linear, gradient);
    return pn_composite_gradient(&of->plan->public, x, of->p, gradient, err);
}

static pn_status descend(quadratic *of, double *theta, pn_err *err)
{
    const pn_composite *public = &of->plan->public;
    double top, low, size = pn_lp_norm(PN_L2, of->p, of->linear), certificate;
    pn_descent how = { .owner = of->plan->base.owner, .label = "minimum", .gradient = slope, .self = of };
    bool reached = false;

    pn_packed_unpack(of->matrix, of->p, of->full);
    PN_TRY(pn_eigen_symmetric(of->values, of->full, (pn_mat){ of->full, of->p, of->p }, err));
    top = of->values[of->p - 1] + public->smoothness;
    low = of->values[0] + (public->smooth ? public->strong_convexity : 0.0);
    how.prox = public->prox;
    how.p = of->p;
    how.strong_convexity = low > FLAT * top ? low : 0.0;
    how.smoothness = low > FLAT * top ? top : 0.0;
    how.tolerance = fmax(TOLERANCE * size, 0x1p-900);
    how.residual = public->prox != NULL;
    how.most_steps = STEPS_MOST;
    how.smooth = true;
    how.quiet = true;
    return pn_descend(&how, theta, &certificate, &reached, err); /* what rounding leaves is far below the noise */
}

static pn_status inside(const ss_plan *plan, const double *theta, bool *yes, pn_err *err)
{
    const pn_set *set = plan->public.set;

    *yes = true;
    return set ? set->ops->contains(set, theta, 0.0, yes, err) : PN_OK;
}

/* theta[p] = the least point of the released quadratic with the objective's regulariser over its set. */
static pn_status minimise(const ss_plan *plan, const pn_least_squares *of, double *theta, pn_err *err)
{
    const pn_submodel all = { .ridge = NAN };
    quadratic problem = { .plan = plan, .p = of->p };
    pn_submodel_fit about;
    double ridge;
    bool done = false;
    pn_status status = PN_OK;

    if (!pn_objective_regulariser(plan->base.objective)) {
        PN_TRY(pn_least_squares_solve(of, &all, theta, &about, err));
        PN_TRY(inside(plan, theta, &done, err));
    } else {
        memset(theta, 0, of->p * sizeof *theta);
    }
    if (done)
        return PN_OK;
    status = open_quadratic(&problem, err);
    if (status == PN_OK)
        status =
            pn_least_squares_quadratic(of, plan->public.strong_convexity, problem.matrix, problem.linear, &ridge, err);
    if (status == PN_OK)
        status = pn_composite_step(&plan->public, theta, of->p, 0x1p-40, err); /* into the set */
    if (status == PN_OK)
        status = descend(&problem, theta, err);
    pn_free(problem.numbers);
    return status;
}

/* ---- a run ---- */

typedef struct ss_state {
    pn_state base;           /* first */
    pn_least_squares *given; /* what was released; NULL before */
    double *zeros;           /* [p] where the question is asked, which does not matter */
    const double *answer;    /* of the oracle */
} ss_state;

static const ss_plan *plan_of(const ss_state *self)
{
    return (const ss_plan *)self->base.plan;
}

static void ss_rooms(pn_state *state, pn_room *room)
{
    pn_room_take(room, &((ss_state *)state)->zeros, state->dim);
}

static pn_status ss_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    ss_state *self = (ss_state *)state;
    const pn_asked asked = { .x = self->zeros };
    pn_answer answer = { 0 };

    (void)row;
    PN_TRY(pn_oracle_ask(ask, 0, &asked, &answer, err));
    self->answer = answer.numbers;
    return PN_OK;
}

static pn_status ss_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    ss_state *self = (ss_state *)state;

    (void)row;
    if (!self->given)
        PN_TRY(pn_least_squares_new(&self->given, &plan_of(self)->like, self->answer, err));
    return minimise(plan_of(self), self->given, state->theta, err);
}

static void ss_end(pn_state *state)
{
    pn_least_squares_free(((ss_state *)state)->given);
}

static const pn_least_squares *ss_moments(const pn_state *state)
{
    return ((const ss_state *)state)->given;
}

static const char *const noise_params[] = { "tau", "kappa", "damping", NULL };

const pn_solver_ops pn_solver_sufficient_statistics = {
    .name = "sufficient_statistics",
    .doc =
        "Least squares by one release of X^T X, X^T y and y^T y as one symmetric matrix with noise; the ridge that "
        "the noise asks for, the set, other ridges and models of fewer columns (fit:path) cost nothing more.  For "
        "loss.squared, rows and labels with public bounds.  The noise grows as the square of the row bound: clip rows "
        "tightly, scaled and centred by public numbers, and then add_bias(), which makes the intercept nearly free.",
    .source = "Wang (2018), Revisiting differentially private linear regression; Dwork, Talwar, Thakurta, Zhang "
              "(2014); one matrix and its constants as derived",
    .params = ss_params,
    .noise_params = noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .by_questions = true,
    .plan_size = sizeof(ss_plan),
    .fill = ss_fill,
    .destroy_plan = ss_plan_destroy,
    .state = sizeof(ss_state),
    .rooms = ss_rooms,
    .query = ss_query,
    .update = ss_update,
    .end = ss_end,
    .moments = ss_moments,
};
