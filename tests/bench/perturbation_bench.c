/* perturbation_bench.c -- objective perturbation on data of the shape of a9a (32,561 records, 123 features, 14 ones
 * each scaled into the unit ball): a whole private run, from the budget's charge to the answer, against one gradient,
 * on all processors. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

enum { N = 32561, P = 123, ONES = 14 };

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    pn_plan *plan;
    pn_task *task;
    double theta[P], gradient[P];
} world;

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "perturbation_bench: %s\n", err.message);
        exit(1);
    }
}

static void whole_run(void *context)
{
    world *self = context;
    pn_fit *fit = NULL;

    must(pn_plan_run(&fit, self->plan, &(pn_run_options){ .task = self->task }, &err));
    pn_fit_free(fit);
}

static void one_gradient(void *context)
{
    world *self = context;

    must(pn_objective_evaluate(self->objective, self->theta, NULL, self->gradient, self->task, &err));
}

/* One of the columns of each of 14 groups, as a census codes its answers; labels that the first groups tell of. */
static void make_data(world *self)
{
    unsigned state = 1;

    memset(self, 0, sizeof *self);
    self->data = (pn_dataset){ .n = N, .p = P, .sparse = true };
    self->data.bounds =
        (pn_record_bounds){ .norm = { NAN, 1.0, 1.0 }, .label_low = -1.0, .label_high = 1.0, .labels_binary = true };
    self->data.y = pn_alloc(N, sizeof(double));
    must(pn_csr_init(&self->data.csr, N, P, (size_t)N * ONES, &err));
    for (size_t i = 0; i < N; i++) {
        unsigned sum = 0;

        for (size_t k = 0; k < ONES; k++) {
            unsigned first = (unsigned)(k * P / ONES), width = (unsigned)((k + 1) * P / ONES) - first;

            state = state * 1664525u + 1013904223u;
            self->data.csr.column[i * ONES + k] = first + (state >> 8) % width;
            self->data.csr.value[i * ONES + k] = sqrt(1.0 / ONES) * (1.0 - 0x1p-50);
            sum += k < 4 ? (state >> 8) % width : 0;
        }
        self->data.csr.start[i + 1] = (i + 1) * ONES;
        self->data.y[i] = sum > 14 ? 1.0 : -1.0;
    }
}

static void open_plan(world *self, double epsilon)
{
    pn_arg common[PN_OPT_COUNT] = { 0 }, own[8] = { 0 };

    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = epsilon };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1.0 / ((double)N * N) };
    must(pn_plan_from_args(&self->plan, "objective_perturbation", self->objective, NULL, common, own, NULL, &err));
}

int main(void)
{
    static const double epsilons[] = { 0.1, 1.0, 10.0 };
    static const double limits[] = { 0.05, 0.14,
                                     0.14 }; /* seconds: a tenth of what public implementations take on a9a */
    int over = 0;
    pn_loss *loss = NULL;
    static world self;

    make_data(&self);
    must(pn_loss_from_args(&loss, "logistic", NULL, &err));
    must(pn_objective_new(&self.objective, &(pn_objective_parts){ .data = &self.data, .loss = loss }, &err));
    must(pn_task_new(&self.task, 0, &err));
    printf("objective perturbation, a whole run / one gradient\n");
    for (size_t i = 0; i < 3; i++) {
        char name[64];

        open_plan(&self, epsilons[i]);
        (void)snprintf(name, sizeof name, "  epsilon = %g", epsilons[i]);
        over += bench_line_seconds(name, whole_run, &self, one_gradient, &self, 31, limits[i]);
        pn_plan_free(self.plan);
    }
    pn_task_free(self.task);
    pn_objective_free(self.objective);
    pn_loss_free(loss);
    pn_csr_clear(&self.data.csr);
    pn_free(self.data.y);
    return over > 0;
}
