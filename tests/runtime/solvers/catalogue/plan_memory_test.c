/* plan_memory_test.c -- the plan of every solver when memory runs out: it says so.  None goes on without what there was
 * no memory for, and solve.auto takes no other solver instead.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include "penumbra/objective.h"
#include "penumbra/plan.h"

#include "core/options.h"
#include "data/dataset.h"
#include "geometry/sets/sets.h"
#include "objective/losses/loss.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/first_order.h"

#include "check.h"
#include "fail_alloc.h"

typedef struct problem {
    const char *solver;
    pn_dataset *data;
    pn_objective *objective;
} problem;

static void open_problem(problem *self, const char *loss, const char *set, double clip)
{
    const double X[] = { 0.1, 0.2, 0.3, -0.4, 0.5, -0.6, 0.7, 0.8 }, y[] = { 1.0, -1.0, 1.0, -1.0 };
    pn_objective_parts parts = { .clip = clip };
    pn_dataset *raw = NULL, *rows = NULL;
    pn_options *dim = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&raw, X, 4, 2, y, "records", &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_L2, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&self->data, rows, -1.0, 1.0, &err) == PN_OK);
    CHECK(pn_options_new(&dim, &err) == PN_OK);
    pn_options_count(dim, "dim", 2);
    CHECK(pn_loss_new(&parts.loss, loss, NULL, &err) == PN_OK);
    CHECK(!set || pn_set_new(&parts.set, set, dim, &err) == PN_OK);
    parts.data = self->data;
    CHECK(pn_objective_new(&self->objective, &parts, &err) == PN_OK);
    pn_loss_free(parts.loss);
    pn_set_free(parts.set);
    pn_options_free(dim);
    pn_dataset_free(rows);
    pn_dataset_free(raw);
}

static pn_status plan(void *object, pn_err *err)
{
    const problem *self = object;
    pn_options *options = NULL;
    pn_plan *made = NULL;
    pn_status status = pn_options_new(&options, err);

    if (status != PN_OK)
        return status;
    pn_options_real(options, "rho", 0.5);
    status = pn_plan_new(&made, self->solver, self->objective, NULL, options, NULL, err);
    pn_options_free(options);
    pn_plan_free(made);
    return status;
}

/* How many solvers make plans for this. */
static long all_plans(const char *loss, const char *set)
{
    problem self = { NULL, NULL, NULL };
    long planned = 0;
    pn_err err;

    open_problem(&self, loss, set, 0.0);
    for (size_t i = 0; pn_solver_table()[i]; i++) {
        self.solver = pn_solver_table()[i]->name;
        if (!check_thorough() && strcmp(self.solver, "second_order") == 0) /* all of its rounds take a second */
            continue;
        if (plan(&self, &err) == PN_OK) /* and the objective keeps what is found with the first */
            planned += CHECK(fail_alloc_sweep(self.solver, plan, &self) > 0);
    }
    pn_objective_free(self.objective);
    pn_dataset_free(self.data);
    return planned;
}

/* What several plans take as known of a loss whose gradients are clipped: its own slope, not that of the clip. */
static pn_status read_slope(void *object, pn_err *err)
{
    double slope = 0.0;
    pn_status status = pn_margin_slope(&slope, ((const problem *)object)->objective, err);

    CHECK(status != PN_OK || slope == 1.0);
    return status;
}

static void the_slope_beyond_a_clip(void)
{
    problem self = { NULL, NULL, NULL };

    open_problem(&self, "logistic", NULL, 0.3);
    CHECK(fail_alloc_sweep("slope", read_slope, &self) > 0);
    pn_objective_free(self.objective);
    pn_dataset_free(self.data);
}

int main(void)
{
    CHECK(all_plans("logistic", "l2_ball") > 8);
    CHECK(all_plans("squared", "l1_ball") > 8);
    CHECK(all_plans("logistic", "linf_ball") > 8);
    CHECK(all_plans("logistic", NULL) > 4);
    the_slope_beyond_a_clip();
    return check_summary();
}
