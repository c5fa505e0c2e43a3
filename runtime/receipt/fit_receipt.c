/* fit_receipt.c -- the receipt of a run: its plan, what it was charged, what holds of it.
 * Depends on: receipt.h, receipt_json.h, objective_json.h, oracle/question.h.  Used by: model, bindings. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "oracle/question.h"
#include "random/noise.h"
#include "receipt/objective_json.h"
#include "receipt/receipt.h"
#include "receipt/receipt_json.h"
#include "receipt/stream_json.h"

/* ---- what a plan releases ---- */

/* The lattice that an answer's noise is drawn on. */
static json_t *lattice_of(double scale, size_t values, double bound)
{
    return json_pack("{s:o, s:o, s:I, s:o}", "scale", pn_receipt_real(scale), "unit",
                     pn_receipt_real(pn_lattice_step(scale)), "values", (json_int_t)values, "bound",
                     pn_receipt_real(bound));
}

static json_t *scores_of(const pn_question *question)
{
    const pn_selection_options *of = &question->selection;

    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "law", pn_selection_names[of->law], "epsilon",
                     pn_receipt_real(of->epsilon), "sensitivity", pn_receipt_real(of->sensitivity), "score_error",
                     pn_receipt_real(of->score_error), "score_bound", pn_receipt_real(of->score_bound));
}

static json_t *selections_of(const pn_question *question)
{
    const pn_selections_options *of = &question->selections;

    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:b}", "scale", pn_receipt_real(of->scale), "count",
                     (json_int_t)of->count, "sum", pn_receipt_real(of->sum), "root", pn_receipt_real(of->root),
                     "score_error", pn_receipt_real(of->score_error), "score_bound", pn_receipt_real(of->score_bound),
                     "pure", (int)of->pure);
}

static json_t *batches_of(const pn_batch_release_options *of)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "scheme", of->scheme, "batch", (json_int_t)of->batch, "q",
                     pn_receipt_real(of->q), "contribution", pn_receipt_real(of->contribution), "error",
                     pn_receipt_real(of->error), "whole", pn_receipt_real(of->whole), "lattice",
                     lattice_of(of->sigma, of->dim, of->bound));
}

static json_t *perturbation_of(const pn_perturbation_options *of)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "sigma", pn_receipt_real(of->sigma), "sensitivity",
                     pn_receipt_real(of->sensitivity), "jacobian", pn_receipt_real(of->jacobian), "strong_convexity",
                     pn_receipt_real(of->strong_convexity), "offset", pn_receipt_real(of->offset), "sigma_out",
                     pn_receipt_real(of->sigma_out), "dim", (json_int_t)of->dim, "bound", pn_receipt_real(of->bound));
}

/* The mechanism beside its event: what its own rounding is worked out from. */
static json_t *mechanism_of(const pn_question *question)
{
    switch (question->ops->answer) {
    case PN_ANSWER_CHOICE:
        return json_pack("{s:s, s:o}", "kind", "choice", "choice", scores_of(question));
    case PN_ANSWER_VERTEX:
        return json_pack("{s:s, s:o}", "kind", "choices", "choices", selections_of(question));
    case PN_ANSWER_ABOVE:
        return json_pack("{s:s, s:o}", "kind", "watch", "answers", json_integer((json_int_t)question->answers));
    case PN_ANSWER_SUMS:
    case PN_ANSWER_SMOOTHED:
        return json_pack("{s:s, s:o}", "kind", "stream", "stream",
                         question->design ? pn_receipt_design(question->design) : json_null());
    case PN_ANSWER_NUMBERS:
    case PN_ANSWER_MASKED:
        break;
    }
    if (question->ops == &pn_question_minimum)
        return json_pack("{s:s, s:o}", "kind", "perturbation", "perturbation",
                         perturbation_of(&question->perturbation));
    if (question->batches.scheme)
        return json_pack("{s:s, s:o}", "kind", "batches", "batches", batches_of(&question->batches));
    return json_pack("{s:s, s:o}", "kind", question->laplace ? "laplace" : "gaussian", "lattice",
                     lattice_of(question->noise.sigma, question->dim, question->noise.bound));
}

/* How many of its event a whole run takes; null where what is released decides. */
static json_t *times_of(const pn_plan *plan, const pn_question *question)
{
    bool once = question->each == SIZE_MAX || question->ops->answer == PN_ANSWER_MASKED;
    size_t asked = question->times ? question->times : once ? 1 : plan->iterations * question->each;

    if (question->ops->answer == PN_ANSWER_SMOOTHED)
        asked = question->slices.passes;
    if (plan->solver->adaptive || !question->event)
        return json_null();
    return json_integer((json_int_t)pn_question_events(question, asked));
}

static json_t *release_of(const pn_plan *plan, const pn_question *question)
{
    const pn_basis *basis = question->basis.rule ? &question->basis : &question->noise.basis;

    return json_pack("{s:s, s:s, s:s?, s:I, s:o, s:o, s:o, s:o}", "question", question->ops->name, "label",
                     question->label ? question->label : plan->name, "about",
                     question->about[0] ? question->about : NULL, "dim", (json_int_t)question->dim, "times",
                     times_of(plan, question), "event",
                     question->event ? pn_receipt_event(question->event) : json_null(), "mechanism",
                     mechanism_of(question), "sensitivity", pn_receipt_basis(basis));
}

static json_t *event_of_rest(const pn_plan_rest *rest)
{
    pn_event *event = NULL;
    json_t *made;

    if (!rest->release.scheme)
        return rest->event ? pn_receipt_event(rest->event) : json_null();
    if (pn_batch_release_price(&event, NULL, &rest->release, NULL) != PN_OK)
        return NULL;
    made = pn_receipt_event(event);
    pn_event_free(event);
    return made;
}

static json_t *rest_of(const pn_plan *plan, const pn_plan_rest *rest)
{
    bool batches = rest->release.scheme != NULL;

    return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "question", rest->of, "label", plan->name, "about",
                     json_null(), "dim", (json_int_t)(batches ? rest->release.dim : 1), "times",
                     plan->solver->adaptive || rest->times == 0 ? json_null() : json_integer((json_int_t)rest->times),
                     "event", event_of_rest(rest), "mechanism",
                     batches ? json_pack("{s:s, s:o}", "kind", "batches", "batches", batches_of(&rest->release))
                             : json_pack("{s:s}", "kind", "search"),
                     "sensitivity", pn_receipt_basis(&rest->basis));
}

static json_t *releases_of(const pn_plan *plan)
{
    json_t *list = json_array();
    bool fine = list != NULL;

    for (size_t i = 0; fine && i < plan->question_count; i++)
        fine = json_array_append_new(list, release_of(plan, &plan->questions[i])) == 0;
    for (size_t i = 0; fine && i < plan->rest_count; i++)
        fine = json_array_append_new(list, rest_of(plan, &plan->rests[i])) == 0;
    if (fine)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- what a plan asks for ---- */

static json_t *price_of(double epsilon, double delta, double rho)
{
    return json_pack("{s:o, s:o, s:o}", "epsilon", pn_receipt_real(epsilon), "delta", pn_receipt_real(delta), "rho",
                     pn_receipt_real(rho));
}

static json_t *settings_of(const pn_plan *plan)
{
    json_t *all = json_object();
    bool fine = all != NULL;

    for (size_t i = 0; fine && i < plan->setting_count; i++)
        fine = pn_receipt_set(all, plan->settings[i].name, pn_receipt_real(plan->settings[i].value));
    if (fine)
        return all;
    json_decref(all);
    return NULL;
}

static const char *accountant_of(const pn_plan *plan)
{
    if (plan->without_records)
        return "none";
    if (isnan(plan->epsilon))
        return "zcdp";
    if (plan->accountant)
        return plan->accountant;
    return plan->order == 0.0 ? "gaussian" : isinf(plan->order) ? "pure" : "rdp";
}

static json_t *request_of(const pn_plan *plan)
{
    const pn_request *request = &plan->request;
    bool rho = request->kind == PN_RHO;

    return json_pack("{s:s, s:o, s:o, s:o}", "unit", rho ? "rho" : "epsilon", "epsilon",
                     pn_receipt_real(rho ? (double)NAN : request->epsilon), "delta",
                     pn_receipt_real(rho ? (double)NAN : request->delta), "rho",
                     pn_receipt_real(rho ? request->rho : (double)NAN));
}

static json_t *plan_of(const pn_plan *plan)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:s, s:o, s:b, s:b, s:o, s:o, s:o}", "solver", plan->solver->name, "steps",
                     (json_int_t)plan->iterations, "settings", settings_of(plan), "asked", request_of(plan),
                     "accountant", accountant_of(plan), "order", pn_receipt_real(plan->order), "whole",
                     (int)plan->whole, "proven", (int)plan->proven, "charge",
                     plan->event ? pn_receipt_times(plan->event, pn_plan_charges(plan)) : json_null(), "price",
                     price_of(plan->epsilon, plan->delta, plan->rho), "releases", releases_of(plan));
}

/* ---- what became of it ---- */

/* Wherever it is stopped, the whole plan's price holds; while nothing was charged nothing is owed. */
static json_t *stops_of(const pn_plan *plan)
{
    bool rho = isnan(plan->epsilon);
    double none = rho ? (double)NAN : 0.0;

    return json_pack("[{s:b, s:I, s:I, s:o}, {s:b, s:I, s:I, s:o}]", "charged", 0, "from", (json_int_t)0, "to",
                     (json_int_t)0, "price", price_of(none, none, 0.0), "charged", 1, "from", (json_int_t)0, "to",
                     (json_int_t)plan->iterations, "price",
                     price_of(plan->epsilon, plan->delta, plan->simulation_only ? (double)INFINITY : plan->rho));
}

static json_t *run_of(const pn_fit *fit)
{
    return json_pack("{s:I, s:s?, s:o, s:o}", "steps", (json_int_t)fit->steps, "stopped", fit->stopped, "paid",
                     fit->charged ? pn_receipt_times(fit->charged, fit->charged_times) : json_null(), "paid_price",
                     price_of(fit->charged_epsilon, fit->delta, fit->charged_rho));
}

static json_t *guarantee_of(const pn_fit *fit)
{
    return json_pack("{s:b, s:b, s:o}", "holds", (int)(fit->proven && !fit->simulated), "proven", (int)fit->proven,
                     "price", price_of(fit->epsilon, fit->delta, fit->rho));
}

/* theta as little-endian doubles: whoever has the model can see that the receipt is of it. */
static json_t *theta_digest(const pn_fit *fit)
{
    unsigned char *bytes = pn_alloc(fit->p, sizeof(uint64_t));
    json_t *made;

    if (!bytes)
        return NULL;
    for (size_t j = 0; j < fit->p; j++) {
        uint64_t bits;

        memcpy(&bits, &fit->theta[j], sizeof bits);
        for (size_t k = 0; k < sizeof bits; k++)
            bytes[sizeof bits * j + k] = (unsigned char)(bits >> (8 * k));
    }
    made = pn_receipt_digest(bytes, fit->p * sizeof(uint64_t));
    pn_free(bytes);
    return made;
}

static json_t *digests_of(const pn_fit *fit, const pn_plan *plan)
{
    return json_pack("{s:o, s:o, s:o}", "plan", pn_receipt_charge_digest(plan->event, pn_plan_charges(plan)), "paid",
                     pn_receipt_charge_digest(fit->charged, fit->charged_times), "theta", theta_digest(fit));
}

pn_status pn_fit_receipt(char **out, const pn_fit *fit, const pn_plan *plan, const char *lua, pn_err *err)
{
    pn_neighbours relation = fit->neighbours;
    json_t *root;
    bool fine;

    if (!fit->is_private)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "receipt: the run has no privacy, so there is nothing that a receipt could state");
    root = pn_receipt_begin("fit", relation, fit->simulated, lua);
    fine = root && pn_receipt_set(root, "objective",
                                  pn_receipt_objective(pn_plan_objective((pn_plan *)plan), relation != PN_ADD_REMOVE));
    fine = fine && pn_receipt_set(root, "plan", plan_of(plan));
    fine = fine && pn_receipt_set(root, "stops", stops_of(plan));
    fine = fine && pn_receipt_set(root, "run", run_of(fit));
    fine = fine && pn_receipt_set(root, "guarantee", guarantee_of(fit));
    fine = fine && pn_receipt_set(root, "digests", digests_of(fit, plan));
    if (!fine) {
        json_decref(root);
        root = NULL;
    }
    return pn_receipt_text(out, root, err);
}
