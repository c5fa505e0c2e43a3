/* step_bench.c -- a private Frank-Wolfe step beyond its gradient costs O(p): time per step on almost no data
 * (64 records of one entry) as p grows, against one copy of the 2p scores.  The ratio must not grow with p. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    pn_plan *plan;
    pn_walk *walk;
    pn_rng *rng;
    double *from, *to;
    size_t bytes;
} world;

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "step_bench: %s\n", err.message);
        exit(1);
    }
}

static void one_step(void *context)
{
    world *self = context;
    pn_trace_row row;
    bool done;

    must(pn_walk_step(self->walk, &row, &done, &err));
}

static void copy_scores(void *context)
{
    world *self = context;

    memcpy(self->to, self->from, self->bytes);
    __asm__ volatile("" : : "r"(self->to) : "memory"); /* the copy is wanted */
}

static void make_data(world *self, size_t p)
{
    const size_t n = 64;

    memset(self, 0, sizeof *self);
    self->data = (pn_dataset){ .n = n, .p = p, .sparse = true };
    self->data.bounds =
        (pn_record_bounds){ .norm = { NAN, NAN, 1.0 }, .label_low = -1.0, .label_high = 1.0, .labels_binary = true };
    self->data.y = pn_alloc(n, sizeof(double));
    must(pn_csr_init(&self->data.csr, n, p, n, &err));
    for (size_t i = 0; i < n; i++) {
        self->data.csr.start[i + 1] = i + 1;
        self->data.csr.column[i] = (uint32_t)(i * (p / n));
        self->data.csr.value[i] = 1.0;
        self->data.y[i] = i % 2 ? 1.0 : -1.0;
    }
}

static void open_walk(world *self, size_t p)
{
    pn_arg set_args[3] = { { .given = true, .count = p }, { .given = true, .real = 1.0 }, { 0 } };
    pn_arg common[PN_OPT_COUNT] = { 0 }, own[2] = { 0 };
    pn_run_options run = { 0 };
    pn_loss *loss = NULL;
    pn_set *set = NULL;

    must(pn_loss_from_args(&loss, "logistic", NULL, &err));
    must(pn_set_from_args(&set, "l1_ball", set_args, &err));
    must(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss, .set = set },
                          &err));
    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 1.0 };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = 10000 };
    must(pn_plan_from_args(&self->plan, "frank_wolfe", self->objective, NULL, common, own, NULL, &err));
    must(pn_walk_new(&self->walk, self->plan, &run, &err));
    pn_loss_free(loss);
    pn_set_free(set);
}

int main(void)
{
    printf("private Frank-Wolfe step / copy of 2p scores\n");
    for (size_t p = 1000; p <= 1000000; p *= 10) {
        char name[64];
        world self;

        make_data(&self, p);
        open_walk(&self, p);
        self.bytes = 2 * p * sizeof(double);
        self.from = pn_calloc(2 * p, sizeof(double));
        self.to = pn_calloc(2 * p, sizeof(double));
        (void)snprintf(name, sizeof name, "  p = %zu", p);
        (void)bench_line(name, one_step, &self, copy_scores, &self, 51, 0.0);
        pn_walk_free(self.walk);
        pn_plan_free(self.plan);
        pn_objective_free(self.objective);
        pn_csr_clear(&self.data.csr);
        pn_free(self.data.y);
        pn_free(self.from);
        pn_free(self.to);
    }
    return 0;
}
