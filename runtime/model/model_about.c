/* model_about.c -- what is known of a run besides its fit, from its plan.
 * Depends on: model.h, solvers, objective, data.  Used by: model.c, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

/* Only data whose features have names say so. */
static bool ends_in_bias(const pn_dataset *data)
{
    static const char bias[] = "bias";

    return data->features && data->feature_bytes > sizeof bias &&
           memcmp(data->features + data->feature_bytes - sizeof bias, bias, sizeof bias) == 0 &&
           data->features[data->feature_bytes - sizeof bias - 1] == '\0';
}

static const char *accountant_of(const pn_plan *plan)
{
    if (plan->without_records)
        return "nothing released";
    if (plan->request.kind == PN_NONPRIVATE)
        return NULL;
    if (isnan(plan->epsilon))
        return "zcdp";
    if (plan->accountant)
        return plan->accountant;
    return plan->order == 0.0 ? "gaussian" : "rdp";
}

static void describe_parts(pn_model_about *out, const pn_objective *objective)
{
    const pn_set *set = pn_objective_set(objective);
    const pn_regulariser *regulariser = pn_objective_regulariser(objective);

    (void)snprintf(out->parameters, sizeof out->parameters, "%s", pn_objective_loss(objective)->parameters);
    if (set)
        pn_set_describe(set, out->set, sizeof out->set);
    if (regulariser)
        regulariser->ops->describe(regulariser, out->regulariser, sizeof out->regulariser);
}

void pn_model_about_records(pn_model_about *out, const pn_dataset *data)
{
    out->records = data->n;
    out->bias = ends_in_bias(data);
    out->features = data->features;
    out->feature_count = data->features ? data->p : 0;
    out->recipe = data->recipe;
    memcpy(out->row_bound, data->bounds.norm, sizeof out->row_bound);
    out->label_low = data->bounds.label_low;
    out->label_high = data->bounds.label_high;
}

void pn_model_about_of(pn_model_about *out, const pn_plan *plan)
{
    const pn_objective *objective = pn_plan_objective(plan);
    const pn_loss *loss = pn_objective_loss(objective);

    *out = (pn_model_about){
        .solver = plan->solver->name,
        .loss = loss->name,
        .accountant = accountant_of(plan),
        .iterations = plan->iterations,
        .margins = loss->margins,
        .extra = loss->extra,
        .adaptive = plan->solver->adaptive,
        .draws = plan->draws,
        .value = NAN,
    };
    describe_parts(out, objective);
    pn_model_about_records(out, pn_objective_data(objective));
}
