/* without_records.c -- see without_records.h.  Depends on: without_records.h, objective, data.  Used by: solver.c.
 *
 * A record enters a run through slope_i x_i, and slopes are clamped to their certified range (pn_objective_evaluate).
 * Where that range is [0, 0] every gradient of the losses is 0 whatever the records are, also where the loss itself
 * jumps: solvers by gradients never see a jump.  Solvers by values do, so these need a loss that does not jump, which
 * is then constant.  Over a set of one point the answer is that point.  Noise in proportion to a sensitivity of 0 would
 * be none, at no price: that is what the plan says, and the run is one without noise on a stand-in objective with the
 * same set and regulariser and records of zeros.  The loss there is the logistic one, which has the curvature that step
 * sizes follow from; its gradient is slope x 0 = 0. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/engine/without_records.h"

const char *pn_without_records_why(const pn_solver_ops *solver, const pn_objective *objective)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_set *set = pn_objective_set(objective);

    if (solver->remote || solver->by_questions || pn_objective_loss(objective)->margins == 0 ||
        pn_objective_clip(objective) > 0.0)
        return NULL;
    if (set && set->ops->diameter(set, PN_L2) == 0.0)
        return "the set is one point, whatever the records are";
    if (bounds->certified && bounds->slope == 0.0 && (!solver->clips_values || bounds->loss.continuous))
        return "the certified slope of the loss is 0, whatever the record";
    return NULL;
}

/* Some label that the loss takes. */
static double some_label(const pn_loss *loss)
{
    return loss->labels.kind == PN_LABELS_VALUES     ? loss->labels.values[0]
           : loss->labels.kind == PN_LABELS_INTERVAL ? loss->labels.range.high
                                                     : 1.0;
}

static pn_status zero_records(pn_dataset **out, const pn_dataset *like, double label, pn_err *err)
{
    pn_csr none;
    double *labels;
    pn_status status;

    PN_TRY(pn_new(&labels, like->n, err, "out of memory"));
    for (size_t i = 0; i < like->n; i++)
        labels[i] = label;
    status = pn_csr_init(&none, like->n, like->p, 0, err);
    if (status == PN_OK) {
        status = pn_dataset_from_csr(out, &none, labels, like->name, err);
        pn_csr_clear(&none);
    }
    pn_free(labels);
    if (status == PN_OK)
        (*out)->bounds = (pn_record_bounds){
            .norm = { 1.0, 1.0, 1.0 }, .label_low = label, .label_high = label, .labels_binary = true
        };
    return status;
}

/* Of several inputs the loss itself. */
static pn_status stand_in_loss(pn_loss **out, pn_loss *loss, pn_err *err)
{
    pn_status status;

    if (pn_loss_inputs(loss) > 1) {
        *out = pn_loss_keep(loss);
        return PN_OK;
    }
    status = pn_loss_from_args(out, "logistic", NULL, err);
    if (status == PN_OK)
        memcpy((*out)->name, loss->name, sizeof loss->name);
    return status;
}

static pn_status open_stand_in(pn_without_records **out, pn_objective *objective, const pn_request *asked, pn_err *err)
{
    const pn_loss *own = pn_objective_loss(objective);
    double label = pn_loss_inputs(own) > 1 ? some_label(own) : 1.0; /* which the logistic one takes */
    pn_without_records *self;
    pn_loss *loss = NULL;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "out of memory"));
    self->asked = *asked;
    self->asked.task = NULL;
    self->objective = objective;
    status = zero_records(&self->data, pn_objective_data(objective), label, err);
    if (status == PN_OK)
        status = stand_in_loss(&loss, pn_objective_loss(objective), err);
    if (status == PN_OK) {
        pn_objective_parts parts = { .data = self->data,
                                     .loss = loss,
                                     .set = pn_objective_set(objective),
                                     .reg = pn_objective_regulariser(objective) };

        status = pn_objective_new(&self->stand_in, &parts, err);
    }
    pn_loss_free(loss);
    if (status == PN_OK)
        *out = self;
    else
        pn_without_records_free(self);
    return status;
}

/* What the solver explained is about the stand-in. */
static void explain(pn_plan *plan, const char *why)
{
    plan->lines.count = plan->later = 0;
    memset(plan->warnings, 0, sizeof plan->warnings);
    plan->bound = NAN;
    plan->predicted = plan->sigma = plan->gradients = 0.0;
    plan->proven = true;
    plan->simulation_only = plan->hopeless = false;
    pn_plan_add(plan, "records n", (double)pn_objective_data(plan->objective)->n, "public; none of them is read");
    pn_plan_add(plan, "sensitivity", 0.0, "%s", why);
    pn_plan_add_text(plan, "noise", "none", "nothing is released about the records, so nothing is charged");
    pn_plan_add(plan, "steps T", (double)plan->iterations,
                "on the regulariser over the set, which is all that is left");
}

/* In the measure that was asked for. */
static void price(pn_plan *plan)
{
    const pn_request *asked = &plan->without_records->asked;
    bool rho = asked->kind == PN_RHO;

    plan->epsilon = rho ? NAN : 0.0;
    plan->delta = rho ? NAN : asked->delta;
    plan->rho = 0.0;
    plan->order = NAN;
}

pn_status pn_without_records_plan(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective,
                                  const pn_request *request, const pn_arg *common, const pn_arg *own, const char *why,
                                  pn_err *err)
{
    pn_request exact = { .solver = solver,
                         .neighbours = request->neighbours,
                         .epsilon = NAN,
                         .delta = NAN,
                         .rho = NAN,
                         .task = request->task,
                         .without_records = true };
    pn_arg shared[PN_OPT_COUNT];
    pn_without_records *self = NULL;
    pn_plan *plan = NULL;
    pn_status status;

    PN_TRY(open_stand_in(&self, objective, request, err));
    memcpy(shared, common, sizeof shared);
    shared[PN_OPT_CALIBRATION].text = "tight"; /* an article's noise for a sensitivity of 0 is none, too */
    status = pn_plan_make(&plan, solver, self->stand_in, &exact, shared, own, err);
    if (status != PN_OK) {
        pn_without_records_free(self);
        return status;
    }
    plan->request.task = NULL;
    plan->without_records = self;
    explain(plan, why);
    price(plan);
    *out = plan;
    return PN_OK;
}

void pn_without_records_free(pn_without_records *self)
{
    if (!self)
        return;
    pn_objective_free(self->stand_in);
    pn_dataset_free(self->data);
    pn_free(self);
}
