/* sufficient_statistics_plan.c -- options, noise, predicted risk and explanation of least squares by one release.
 * Depends on: sufficient_statistics.h, oracle/question.h, privacy.  Used by: sufficient_statistics.c.
 *
 * The risk that is predicted is that of isotropic rows of length R, a = 1/d on the diagonal of A, and ||theta|| R = Y:
 * |w|^2 = tau^2.  A's noise has a norm of about N = s sqrt(2 d), so that the ridge is lambda >= max(0, (damping + 1) N
 * - a).  With |u|^2 = 1 + |w|^2 the noise b - A w has d (s^2/2) (|u|^2 + |w|^2/d) in all, which makes
 *     (Y/tau)^2/2 [ (a (s^2/2)(d |u|^2 + |w|^2) + a lambda^2 |w|^2) / (a + lambda)^2 ],
 * and of no use is more than the answer 0 has, a |w|^2. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/symmetric.h"
#include "oracle/question.h"
#include "solvers/least_squares/sufficient_statistics.h"

#define DIM_MOST 4096 /* an eigendecomposition of that order takes half a minute */

const pn_param ss_params[] = {
    { "label_bound", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "labels are clipped to [-label_bound, label_bound], a public number, unit of the labels; by default the range "
      "that the data set enforces" },
    { "tau", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.70710678118654752, NULL,
      "weight of the label beside the features: tau^2 = (sqrt(1 + 8 t^2) - 1)/(4 t^2) is best for t = ||theta|| R/Y; "
      "the default for t = 1" },
    { "kappa", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.5, NULL,
      "weight of the constant feature of add_bias(); without it nothing" },
    { "damping", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "least eigenvalue that the ridge leaves, in norms of the noise, 1.5 say; by default the ridge is that with the "
      "least estimate of the risk from what was released" },
    PN_PARAM_END,
};

/* ---- what can be asked ---- */

static pn_status check_problem(const pn_plan *plan, const pn_arg *common, pn_err *err)
{
    const pn_objective *objective = plan->objective;
    const pn_loss *loss = pn_objective_loss(objective);
    const pn_bounds *bounds = pn_objective_bounds(objective);

    if (strcmp(loss->row->name, "squared") != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "second moments determine loss.squared, and not %s; use solve.auto",
                       loss->name);
    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the objective's clip= bounds gradients, which this solver does not ask for; leave clip= out");
    if (pn_objective_regulariser(objective) && !bounds->reg.convex)
        return pn_fail(err, PN_EUNSUPPORTED, "the regulariser is not known to be convex; use solve.gradient_descent");
    if (pn_objective_dim(objective) > DIM_MOST)
        return pn_fail(err, PN_EDIM,
                       "%zu columns have %.3g moments, and at most %d columns are taken; use solve.gradient_descent",
                       pn_objective_dim(objective), 0.5 * pow((double)pn_objective_dim(objective), 2.0), DIM_MOST);
    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "the solver has no calibration=\"paper\"; leave calibration out");
    if (common[PN_OPT_ITERATIONS].given && common[PN_OPT_ITERATIONS].count != 1)
        return pn_fail(err, PN_EINVAL, "the solver makes one release; leave iterations out");
    if (common[PN_OPT_START].given)
        return pn_fail(err, PN_EINVAL, "the solver has no first point; leave start out");
    PN_TRY(pn_request_need_n(&plan->request, plan->owner, err));
    return pn_request_need_delta(&plan->request, plan->owner, err);
}

/* ---- noise ---- */

static pn_status attach_noise(ss_plan *plan, pn_question *question, pn_err *err)
{
    pn_gradient_noise *noise = &question->noise;
    const pn_request *request = &plan->base.request;

    if (question->exact)
        return PN_OK;
    noise->sigma = pn_gradient_noise_tight(noise, request, 1);
    if (!(noise->sigma >= 0x1p-900 && noise->sigma <= 0x1p900))
        return pn_fail(err, PN_EBUDGET, "%s = %g is too small for one release; give %g or more",
                       request->kind == PN_RHO ? "rho" : "epsilon",
                       request->kind == PN_RHO ? request->rho : request->epsilon,
                       pn_gradient_noise_least(noise, request));
    PN_TRY(pn_question_price(question, err));
    plan->base.event = pn_event_keep(question->event);
    plan->base.charges = 1;
    plan->base.sigma = plan->like.deviation = noise->sigma;
    return PN_OK;
}

static pn_status ask(ss_plan *plan, const pn_arg *own, pn_question **out, pn_err *err)
{
    double bound = own[SS_LABEL_BOUND].real;
    pn_question *question;

    PN_TRY(pn_plan_ask(&question, &plan->base, &pn_question_second_moments, err));
    if (own[SS_LABEL_BOUND].given)
        question->clip = (pn_interval){ -bound, bound };
    question->shape = (pn_moments_shape){ .tau = own[SS_TAU].real, .kappa = own[SS_KAPPA].real };
    PN_TRY(pn_question_certify(question, err));
    if (own[SS_KAPPA].given && !(question->shape.kappa > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "kappa= weighs the feature of add_bias(), and the data has none; call add_bias, or leave kappa "
                       "out");
    *out = question;
    plan->like = (pn_least_squares){ .p = pn_objective_dim(plan->base.objective),
                                     .n = pn_objective_data(plan->base.objective)->n,
                                     .constant = question->shape.kappa > 0.0,
                                     .row = question->shape.row,
                                     .label = question->shape.label,
                                     .middle = question->shape.middle,
                                     .tau = question->shape.tau,
                                     .kappa = question->shape.kappa,
                                     .damping = own[SS_DAMPING].real };
    return attach_noise(plan, question, err);
}

/* ---- its lines ---- */

static double risk_at(const pn_least_squares *like, double lambda)
{
    double d = fmax((double)(like->p - like->constant), 1.0), a = 1.0 / d, s = like->deviation;
    double w2 = like->tau * like->tau, noise = a * s * s / 2.0 * (d * (1.0 + w2) + w2);

    return pow(like->label / like->tau, 2.0) / 2.0 * (noise + a * lambda * lambda * w2) / pow(a + lambda, 2.0);
}

/* With the ridge of `damping`, or the best one. */
static double predict(const pn_least_squares *like, double *ridge)
{
    double d = fmax((double)(like->p - like->constant), 1.0), norm = like->deviation * sqrt(2.0 * d);
    double floor = like->damping > 0.0 ? like->damping : PN_LS_FLOOR, least = fmax(0.0, (floor + 1.0) * norm - 1.0 / d);
    double best = risk_at(like, least);

    *ridge = least;
    for (double lambda = 0x1p-10 / d; like->damping == 0.0 && lambda < 0x1p10 / d; lambda *= 1.1) {
        if (lambda > least && risk_at(like, lambda) < best) {
            best = risk_at(like, lambda);
            *ridge = lambda;
        }
    }
    return best;
}

static void explain_scale(const ss_plan *plan, const pn_question *question, pn_plan *base)
{
    const pn_least_squares *like = &plan->like;

    pn_plan_add(base, "records n", (double)like->n, "public");
    pn_plan_add(base, "row bound R", like->row, "l2, enforced by the data set%s",
                like->constant ? "; beside the constant" : "");
    pn_plan_add(base, "label bound Y", like->label, "labels are within Y of %g", like->middle);
    pn_plan_add(base, "tau", like->tau, "weight of the label in v = (x/R, tau (y - %g)/Y)", like->middle);
    if (like->constant)
        pn_plan_add(base, "kappa", like->kappa, "weight of the constant feature; its square is public");
    pn_plan_add(base, "moments", (double)question->dim, "of the mean of v v^T, released together once");
    if (!question->exact)
        pn_plan_add(base, "sensitivity", question->noise.sensitivity,
                    base->request.neighbours == PN_REPLACE_ONE
                        ? like->kappa * like->kappa > 1.0 + like->tau * like->tau
                              ? "sqrt(8 kappa^2 (1 + tau^2))/n in Frobenius norm, rounding included"
                              : "sqrt(2)(1 + tau^2 + kappa^2)/n in Frobenius norm, rounding included"
                        : "sqrt((1 + tau^2)^2 + 2 kappa^2 (1 + tau^2))/n in Frobenius norm, rounding included");
}

static void explain_noise(ss_plan *plan)
{
    const pn_least_squares *like = &plan->like;
    double d = (double)(like->p - like->constant), norm = like->deviation * sqrt(2.0 * d), ridge;
    pn_plan *base = &plan->base;

    pn_plan_add(base, "noise s", like->deviation, "on the diagonal, 1/sqrt(2) of it beside: isotropic");
    pn_plan_add(base, "noise norm", norm, "s sqrt(2 d); eigenvalues are 1/d = %.3g on average at most", 1.0 / d);
    if (like->damping > 0.0)
        pn_plan_add(base, "least eigenvalue", like->damping * norm,
                    "the ridge is what raises the released matrix to %g x the norm, or 0", like->damping);
    else
        pn_plan_add_text(base, "ridge", "by estimate", "%s",
                         "that with the least Stein estimate of the risk, from what was released");
    base->predicted = predict(like, &ridge);
    pn_plan_add(base, "predicted risk", base->predicted,
                "for rows of length R in all directions alike and ||theta|| R = Y; ridge %.3g", ridge);
    if (norm > 1.0 / d)
        pn_plan_warn(base,
                     "the noise has a norm of %.3g, where eigenvalues of rows of length R are 1/d = %.3g on average: "
                     "the ridge shrinks all of the model; more records, fewer columns or a larger budget would help",
                     norm, 1.0 / d);
}

pn_status ss_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    ss_plan *plan = (ss_plan *)base;
    pn_question *question = NULL;

    PN_TRY(check_problem(base, common, err));
    PN_TRY(pn_composite_open(&plan->public, base->owner, base->objective, NULL, err));
    base->iterations = 1;
    PN_TRY(ask(plan, own, &question, err));
    explain_scale(plan, question, base);
    if (!question->exact)
        explain_noise(plan);
    base->gradients = (double)plan->like.n;
    pn_plan_add(base, "gradients", base->gradients, "n: one pass");
    (void)pn_plan_bounds(base, NAN, "what is proven needs the least eigenvalue of the records' moments", "%s", "");
    pn_plan_set(base, "tau", plan->like.tau, false);
    if (own[SS_DAMPING].given)
        pn_plan_set(base, "damping", plan->like.damping, false);
    return PN_OK;
}

void ss_plan_destroy(pn_plan *plan)
{
    pn_composite_clear(&((ss_plan *)plan)->public);
    pn_free(plan);
}
