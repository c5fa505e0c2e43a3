/* plan_memory_test.c -- a plan for which memory runs out is refused for that, whatever was being looked at: it is no
 * other plan, of another solver or from a worse bound.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include "check.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/solver.h"

enum { N = 200, DIM = 4, OWN_MAX = 24 };

typedef struct planned {
    const char *solver;
    double clip; /* 0: none */
    const char *set;
    pn_objective *objective;
} planned;

/* Logistic regression within unit rows, made before memory is short. */
static void open_objective(planned *self)
{
    pn_synthetic_options how = { .n = N, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { .clip = self->clip };
    pn_arg size[4] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 } };
    pn_dataset *raw = NULL, *data = NULL;

    CHECK(pn_dataset_synthetic_logistic(&raw, &how, NULL, NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, NULL) == PN_OK);
    CHECK(pn_loss_from_args(&parts.loss, "logistic", NULL, NULL) == PN_OK);
    CHECK(!self->set || pn_set_from_args(&parts.set, self->set, size, NULL) == PN_OK);
    parts.data = data;
    CHECK(pn_objective_new(&self->objective, &parts, NULL) == PN_OK);
    pn_set_free(parts.set);
    pn_loss_free(parts.loss);
    pn_dataset_free(data);
    pn_dataset_free(raw);
}

static pn_status make_plan(void *self, pn_err *err)
{
    const planned *what = self;
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };
    pn_plan *plan = NULL;
    pn_status status;

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    status = pn_plan_from_args(&plan, what->solver, what->objective, NULL, common, own, NULL, err);
    CHECK(status != PN_OK || plan);
    pn_plan_free(plan);
    return status;
}

/* What several solvers plan with. */
static pn_status read_slope(void *self, pn_err *err)
{
    double slope = 0.0;
    pn_status status = pn_margin_slope(&slope, ((const planned *)self)->objective, err);

    CHECK(status != PN_OK || slope == 1.0); /* of the loss, beyond the clip */
    return status;
}

static void sweep(const char *name, fail_alloc_fn scenario, planned what)
{
    open_objective(&what);
    fail_alloc_sweep(name, scenario, &what);
    pn_objective_free(what.objective);
}

int main(void)
{
    sweep("slope", read_slope, (planned){ .clip = 0.3 });
    sweep("gradient_descent", make_plan, (planned){ .solver = "gradient_descent", .set = "linf_ball" });
    sweep("auto", make_plan, (planned){ .solver = "auto", .set = "l2_ball" });
    return check_summary();
}
