/* hessian_bench.c -- what second-order methods pay beyond gradients: Hessian-vector products against a gradient, the
 * packed Hessian (with value and gradient) against one dsyrk of the same matrix, all steps of a line search against a
 * gradient.  Uses Covertype's shape (581,012 x 54, random values): the time depends on the shape, not on the values. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "objective/passes/second_order.h"
#include "random/rng.h"

extern void openblas_set_num_threads(int threads);

#define STEPS 20

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    pn_task *task;
    double *theta, *gradient, *full, *packed, value;
} world;

static void gradient(void *context)
{
    world *self = context;

    (void)pn_objective_losses(self->objective, NULL, self->theta, NULL, self->gradient, self->task, NULL);
}

static void hessian_times(void *context)
{
    world *self = context;

    (void)pn_objective_hessian_times(self->objective, NULL, self->theta, self->theta, self->gradient, self->task, NULL);
}

static void packed_hessian(void *context)
{
    world *self = context;

    (void)pn_objective_quadratic(self->objective, NULL, self->theta, &self->value, self->gradient, self->packed,
                                 self->task, NULL);
}

static void dsyrk(void *context)
{
    world *self = context;
    int n = (int)self->data.n, p = (int)self->data.p;

    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, p, n, 1.0, self->data.dense, p, 0.0, self->full, p);
}

static void line(void *context)
{
    world *self = context;
    double t[STEPS], out[STEPS];

    for (int k = 0; k < STEPS; k++)
        t[k] = pow(0.6, k);
    (void)pn_objective_line(self->objective, NULL, self->theta, self->gradient, t, STEPS, 1.0, out, NULL, self->task,
                            NULL);
}

static void fill(world *self, size_t n, size_t p, pn_rng *rng)
{
    memset(self, 0, sizeof *self);
    self->data.n = n;
    self->data.p = p;
    self->data.bounds =
        (pn_record_bounds){ .norm = { NAN, NAN, NAN }, .label_low = NAN, .label_high = NAN, .labels_binary = true };
    self->data.y = pn_alloc(n, sizeof(double));
    self->theta = pn_calloc(p, sizeof(double));
    self->gradient = pn_calloc(p, sizeof(double));
    for (size_t i = 0; i < n; i++)
        self->data.y[i] = pn_rng_below(rng, 2) ? 1.0 : -1.0;
    for (size_t j = 0; j < p; j++)
        self->theta[j] = 0.1 * (pn_rng_uniform(rng) - 0.5);
}

static void fill_dense(world *self, size_t n, size_t p, pn_rng *rng)
{
    fill(self, n, p, rng);
    self->data.dense = pn_alloc(n * p, sizeof(double));
    self->full = pn_alloc(p, p * sizeof(double));
    self->packed = pn_alloc(p * (p + 1) / 2, sizeof(double));
    for (size_t k = 0; k < n * p; k++)
        self->data.dense[k] = pn_rng_uniform(rng) - 0.5;
}

static void fill_sparse(world *self, size_t n, size_t p, size_t per_row, pn_rng *rng)
{
    fill(self, n, p, rng);
    self->data.sparse = true;
    if (pn_csr_init(&self->data.csr, n, p, n * per_row, NULL) != PN_OK)
        exit(1);
    for (size_t r = 0; r < n; r++) {
        uint32_t column = 0;

        self->data.csr.start[r + 1] = (r + 1) * per_row;
        for (size_t k = 0; k < per_row; k++) {
            column += 1 + (uint32_t)pn_rng_below(rng, p / per_row - 1);
            self->data.csr.column[r * per_row + k] = column;
            self->data.csr.value[r * per_row + k] = pn_rng_uniform(rng);
        }
    }
}

static void open_objective(world *self, const char *name)
{
    pn_arg args[4] = { { 0 } };
    pn_loss *loss = NULL;
    pn_err err;

    if (pn_loss_from_args(&loss, name, args, &err) != PN_OK ||
        pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss }, &err) != PN_OK) {
        fprintf(stderr, "hessian_bench: %s\n", err.message);
        exit(1);
    }
    pn_loss_free(loss);
}

static void close_world(world *self)
{
    pn_objective_free(self->objective);
    pn_free(self->data.dense);
    pn_csr_clear(&self->data.csr);
    pn_free(self->data.y);
    pn_free(self->theta);
    pn_free(self->gradient);
    pn_free(self->full);
    pn_free(self->packed);
}

/* Another loss of the same records. */
static int other_loss(const world *like, const char *name, const char *text)
{
    world self = *like;
    int over;

    open_objective(&self, name);
    over = bench_line_busy(text, packed_hessian, &self, dsyrk, &self, 11, 3.0);
    pn_objective_free(self.objective);
    return over;
}

static int dense_table(pn_task *task, pn_rng *rng)
{
    world self;
    int over = 0;

    fill_dense(&self, 581012, 54, rng);
    open_objective(&self, "logistic");
    printf("dense logistic loss, 581012 x 54\n");
    openblas_set_num_threads(1);
    over += bench_line_busy("  Hessian-vector product / gradient, one thread", hessian_times, &self, gradient, &self,
                            21, 1.6);
    over += bench_line_busy("  packed Hessian / dsyrk, one thread", packed_hessian, &self, dsyrk, &self, 11, 3.0);
    over += other_loss(&self, "sigmoid", "  the same, l'' of either sign");
    over += bench_line_busy("  20 steps along a line / gradient, one thread", line, &self, gradient, &self, 11, 0.0);
    self.task = task;
    openblas_set_num_threads((int)pn_task_threads(task));
    over +=
        bench_line("  Hessian-vector product / gradient, all threads", hessian_times, &self, gradient, &self, 21, 1.6);
    over += bench_line("  packed Hessian / dsyrk, all threads", packed_hessian, &self, dsyrk, &self, 11, 3.0);
    close_world(&self);
    return over;
}

static int wide_table(pn_task *task, pn_rng *rng)
{
    world self;
    int over = 0;

    fill_dense(&self, 20000, 800, rng);
    open_objective(&self, "logistic");
    printf("dense logistic loss, 20000 x 800\n");
    openblas_set_num_threads(1);
    over += bench_line_busy("  packed Hessian / dsyrk, one thread", packed_hessian, &self, dsyrk, &self, 5, 3.0);
    self.task = task;
    openblas_set_num_threads((int)pn_task_threads(task));
    over += bench_line("  packed Hessian / dsyrk, all threads", packed_hessian, &self, dsyrk, &self, 5, 3.0);
    close_world(&self);
    return over;
}

static int sparse_table(pn_task *task, pn_rng *rng)
{
    world self;
    int over = 0;

    fill_sparse(&self, 200000, 50000, 50, rng);
    open_objective(&self, "logistic");
    printf("sparse logistic loss, 200000 x 50000, 1e7 entries\n");
    over += bench_line_busy("  Hessian-vector product / gradient, one thread", hessian_times, &self, gradient, &self,
                            11, 1.6);
    close_world(&self);
    fill_sparse(&self, 200000, 123, 14, rng);
    self.packed = pn_alloc(123 * 62, sizeof(double));
    open_objective(&self, "logistic");
    printf("sparse logistic loss, 200000 x 123, 14 entries a row\n");
    over += bench_line_busy("  Hessian-vector product / gradient, one thread", hessian_times, &self, gradient, &self,
                            21, 1.6);
    over += bench_line_busy("  packed Hessian / gradient, one thread", packed_hessian, &self, gradient, &self, 11, 0.0);
    self.task = task;
    over += bench_line("  packed Hessian / gradient, all threads", packed_hessian, &self, gradient, &self, 11, 0.0);
    close_world(&self);
    return over;
}

int main(void)
{
    pn_task *task = NULL;
    pn_rng *rng = NULL;
    int over;

    if (pn_task_new(&task, 0, NULL) != PN_OK || pn_rng_seeded(&rng, 1, NULL) != PN_OK)
        return 1;
    over = dense_table(task, rng) + wide_table(task, rng) + sparse_table(task, rng);
    pn_rng_free(rng);
    pn_task_free(task);
    return over != 0;
}
