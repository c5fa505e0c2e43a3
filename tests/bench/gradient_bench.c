/* gradient_bench.c -- one full logistic gradient against one streaming read of the matrix, two dgemv, and its own
 * threads; the formula as a user types it against the built-in one; Hessian-vector products; sparse gradients against
 * the entries they read.  Uses Covertype's shape (581,012 x 54, random values): the time depends on the shape,
 * not on the values. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "expr/formula.h"
#include "objective/passes/objective.h"
#include "random/rng.h"

extern void openblas_set_num_threads(int threads);

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    pn_task *task;
    double *theta, *gradient, *z;
    struct world *cached; /* the first CACHED records, which stay in the second-level cache */
    volatile double sink;
} world;

#define CACHED 512

static void fused_gradient(void *context)
{
    world *self = context;

    (void)pn_objective_evaluate(self->objective, self->theta, NULL, self->gradient, self->task, NULL);
}

static void value_and_gradient(void *context)
{
    world *self = context;
    double value = 0.0;

    (void)pn_objective_evaluate(self->objective, self->theta, &value, self->gradient, self->task, NULL);
    self->sink += value;
}

static void hessian_times(void *context)
{
    world *self = context;

    (void)pn_objective_hessian_times(self->objective, NULL, self->theta, self->theta, self->gradient, self->task, NULL);
}

/* Sixteen accumulators: as fast as one thread can read. */
static void streaming_read(void *context)
{
    world *self = context;
    const double *x = self->data.dense;
    double sum[16] = { 0 };
    size_t count = self->data.n * self->data.p / 16 * 16;

    for (size_t i = 0; i < count; i += 16) {
        for (size_t k = 0; k < 16; k++)
            sum[k] += x[i + k];
    }
    for (size_t k = 0; k < 16; k++)
        self->sink += sum[k];
}

/* What a pass takes when reading and arithmetic do not overlap at all: the read, and the same pass over as many records
 * that are in the cache. */
static void read_and_compute(world *self, bench_fn pass)
{
    streaming_read(self);
    for (size_t done = 0; done < self->data.n; done += CACHED)
        pass(self->cached);
}

static void read_and_gradient(void *context)
{
    read_and_compute(context, fused_gradient);
}

static void read_and_value(void *context)
{
    read_and_compute(context, value_and_gradient);
}

static void two_dgemv(void *context)
{
    world *self = context;
    int n = (int)self->data.n, p = (int)self->data.p;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, p, 1.0, self->data.dense, p, self->theta, 1, 0.0, self->z, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, p, 1.0, self->data.dense, p, self->z, 1, 0.0, self->gradient, 1);
}

static void sparse_read(void *context)
{
    world *self = context;
    const pn_csr *csr = &self->data.csr;

    for (size_t r = 0; r < csr->rows; r++) {
        double sum = 0.0;

        for (size_t k = csr->start[r]; k < csr->start[r + 1]; k++)
            sum += csr->value[k] * self->theta[csr->column[k]];
        self->z[r] = sum;
    }
    memset(self->gradient, 0, csr->cols * sizeof(double));
    for (size_t r = 0; r < csr->rows; r++) {
        for (size_t k = csr->start[r]; k < csr->start[r + 1]; k++)
            self->gradient[csr->column[k]] += self->z[r] * csr->value[k];
    }
}

static void fill(world *self, size_t n, size_t p, pn_rng *rng)
{
    memset(self, 0, sizeof *self);
    self->data.n = n;
    self->data.p = p;
    self->data.y = pn_alloc(n, sizeof(double));
    self->theta = pn_calloc(p, sizeof(double));
    self->gradient = pn_calloc(p, sizeof(double));
    self->z = pn_calloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++)
        self->data.y[i] = pn_rng_below(rng, 2) ? 1.0 : -1.0;
    for (size_t j = 0; j < p; j++)
        self->theta[j] = pn_rng_uniform(rng) - 0.5;
    self->data.bounds =
        (pn_record_bounds){ .norm = { NAN, NAN, NAN }, .label_low = -1.0, .label_high = 1.0, .labels_binary = true };
}

static void must(pn_status status, const pn_err *err)
{
    if (status == PN_OK)
        return;
    fprintf(stderr, "gradient_bench: %s\n", err->message);
    exit(1);
}

static void open_with(world *self, pn_loss *loss)
{
    pn_err err;

    must(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss }, &err), &err);
    pn_loss_free(loss);
}

static void open_objective(world *self)
{
    pn_loss *loss = NULL;
    pn_err err;

    must(pn_loss_from_args(&loss, "logistic", NULL, &err), &err);
    open_with(self, loss);
}

/* log(1 + exp(-y z)), as somebody would type it */
static void open_typed(world *self)
{
    static const char *const names[2] = { "z", "y" };
    const pn_labels labels = { .kind = PN_LABELS_VALUES, .count = 2, .values = { -1.0, 1.0 } };
    pn_graph *graph = NULL;
    pn_loss *loss = NULL;
    pn_node root;
    pn_err err;

    must(pn_graph_new(&graph, names, 2, &err), &err);
    root = pn_x_unary(graph, PN_X_EXP, pn_x_mul(graph, pn_x_neg(graph, pn_x_var(graph, 1)), pn_x_var(graph, 0)));
    root = pn_x_unary(graph, PN_X_LOG, pn_x_add(graph, pn_x_const(graph, 1.0), root));
    must(pn_loss_from_graph(&loss, graph, root, &labels, &err), &err);
    pn_graph_free(graph);
    open_with(self, loss);
}

static void close_world(world *self)
{
    pn_objective_free(self->objective);
    pn_free(self->data.dense);
    pn_csr_clear(&self->data.csr);
    pn_free(self->data.y);
    pn_free(self->theta);
    pn_free(self->gradient);
    pn_free(self->z);
}

/* The same records as float32. */
static int single_line(world *wide)
{
    world self = *wide;
    size_t count = wide->data.n * wide->data.p;
    int over;

    self.objective = NULL;
    self.data.dense = NULL;
    self.data.float32 = true;
    self.data.single = pn_alloc(count, sizeof(float));
    for (size_t k = 0; k < count; k++)
        self.data.single[k] = (float)wide->data.dense[k];
    open_objective(&self);
    over = bench_line_busy("  float32 gradient / float64 gradient, one thread", fused_gradient, &self, fused_gradient,
                           wide, 21, 0.8);
    pn_objective_free(self.objective);
    pn_free(self.data.single);
    return over;
}

static int typed_line(world *built_in)
{
    world self = *built_in;
    int over;

    open_typed(&self);
    over = bench_line_busy("  value and gradient: typed / built-in", value_and_gradient, &self, value_and_gradient,
                           built_in, 21, 1.15);
    pn_objective_free(self.objective);
    return over;
}

static int dense_table(pn_task *task, pn_rng *rng)
{
    world self, cached;
    int over = 0;
    double one, two, ratio;

    fill(&self, 581012, 54, rng);
    self.data.dense = pn_alloc(self.data.n * self.data.p, sizeof(double));
    for (size_t i = 0; i < self.data.n * self.data.p; i++)
        self.data.dense[i] = pn_rng_uniform(rng);
    open_objective(&self);
    cached = self;
    cached.data.n = CACHED;
    open_objective(&cached);
    self.cached = &cached;
    openblas_set_num_threads(1);
    printf("dense logistic gradient, 581012 x 54\n");
    bench_line_busy("  fused pass / streaming read, one thread", fused_gradient, &self, streaming_read, &self, 21, 0.0);
    over += bench_line_busy("  fused pass / read and arithmetic in turn", fused_gradient, &self, read_and_gradient,
                            &self, 21, 1.0);
    over += bench_line_busy("  fused pass / two dgemv, one thread", fused_gradient, &self, two_dgemv, &self, 21, 0.7);
    over += bench_line_busy("  value and gradient / read and arithmetic in turn", value_and_gradient, &self,
                            read_and_value, &self, 21, 1.0);
    over += typed_line(&self);
    over +=
        bench_line_busy("  Hessian-vector product / gradient", hessian_times, &self, fused_gradient, &self, 21, 1.6);
    bench_pair(fused_gradient, &self, streaming_read, &self, 21, &one, &two, &ratio);
    self.task = task;
    bench_pair(fused_gradient, &self, streaming_read, &self, 21, &two, &ratio, &ratio);
    printf("  %u threads: %.3f ms, speed-up %.2f\n", pn_task_threads(task), 1e3 * two, one / two);
    self.task = NULL;
    over += single_line(&self);
    pn_objective_free(cached.objective);
    close_world(&self);
    return over;
}

/* 20,000 rows of 50 entries in 50,000 columns. */
static int sparse_table(pn_rng *rng)
{
    const size_t per_row = 50;
    world self;
    int over;

    fill(&self, 200000, 50000, rng);
    self.data.sparse = true;
    if (pn_csr_init(&self.data.csr, self.data.n, self.data.p, self.data.n * per_row, NULL) != PN_OK)
        exit(1);
    for (size_t r = 0; r < self.data.n; r++) {
        uint32_t column = 0;

        self.data.csr.start[r + 1] = (r + 1) * per_row;
        for (size_t k = 0; k < per_row; k++) {
            column += 1 + (uint32_t)pn_rng_below(rng, self.data.p / per_row - 1);
            self.data.csr.column[r * per_row + k] = column;
            self.data.csr.value[r * per_row + k] = pn_rng_uniform(rng);
        }
    }
    open_objective(&self);
    printf("sparse logistic gradient, 200000 x 50000, 1e7 entries\n");
    over = bench_line_busy("  fused pass / plain product pair, one thread", fused_gradient, &self, sparse_read, &self,
                           11, 2.0);
    close_world(&self);
    return over;
}

/* The real a9a, where PENUMBRA_DATA has it. */
static int a9a_lines(void)
{
    const char *folder = getenv("PENUMBRA_DATA");
    char path[512];
    pn_dataset *data = NULL;
    pn_err err;
    world self = { 0 };
    int over;

    (void)snprintf(path, sizeof path, "%s/a9a.gz", folder ? folder : "");
    if (!folder ||
        pn_dataset_load_libsvm(&data, path, &(pn_libsvm_options){ .labels.binary = true }, NULL, &err) != PN_OK) {
        printf("a9a: PENUMBRA_DATA does not name a folder with a9a.gz: skipped\n");
        return 0;
    }
    self.data = *data;
    self.theta = pn_calloc(data->p, sizeof(double));
    self.gradient = pn_calloc(data->p, sizeof(double));
    self.z = pn_calloc(data->n, sizeof(double));
    printf("logistic loss on a9a, CSR\n");
    open_objective(&self);
    over = bench_line_busy("  gradient / plain product pair, one thread", fused_gradient, &self, sparse_read, &self,
                           101, 2.0);
    over += typed_line(&self);
    over +=
        bench_line_busy("  Hessian-vector product / gradient", hessian_times, &self, fused_gradient, &self, 101, 1.6);
    pn_objective_free(self.objective);
    pn_free(self.theta);
    pn_free(self.gradient);
    pn_free(self.z);
    pn_dataset_free(data);
    return over;
}

int main(void)
{
    pn_task *task = NULL;
    pn_rng *rng = NULL;
    int over;

    if (pn_task_new(&task, 0, NULL) != PN_OK || pn_rng_seeded(&rng, 1, NULL) != PN_OK)
        return 1;
    over = dense_table(task, rng) + sparse_table(rng) + a9a_lines();
    pn_rng_free(rng);
    pn_task_free(task);
    return over != 0;
}
