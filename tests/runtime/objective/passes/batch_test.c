/* batch_test.c -- gradients and differences of gradients over batches against naive sums in wider arithmetic: for every
 * loss, dense, sparse and float32, clipped or not; the bound on their rounding;
 * the same bits on any number of threads; no allocation.
 * Depends on: batch_helpers.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "runtime/objective/passes/batch_helpers.h"

enum { N = 500, P = 37, DIM_MAX = 3 * P, BATCH_MAX = 400, INPUTS_MAX = 5 };

/* A loss over some data, a point and a snapshot taken at another one. */
typedef struct world {
    pn_dataset *data;
    pn_loss *loss;
    pn_objective *objective;
    size_t dim, margins, inputs;
    double theta[DIM_MAX], other[DIM_MAX], gradient[DIM_MAX], value;
    double *factors, *own; /* [inputs * N]: at `other`, at theta */
} world;

static void open_world(world *self, const char *loss, storage kind, double clip)
{
    pn_err err;

    memset(self, 0, sizeof *self);
    self->loss = make_loss(loss);
    self->data = make_data(kind, N, P, &self->loss->labels);
    self->objective = make_objective(self->data, self->loss, clip);
    self->dim = pn_objective_dim(self->objective);
    self->margins = self->loss->margins;
    self->inputs = pn_loss_inputs(self->loss);
    self->factors = malloc(self->inputs * N * sizeof(double));
    self->own = malloc(self->inputs * N * sizeof(double));
    some_point(self->theta, self->dim, 5);
    some_point(self->other, self->dim, 6);
    CHECK(pn_objective_snapshot(self->objective, self->other, self->factors, &self->value, self->gradient, NULL,
                                &err) == PN_OK);
    CHECK(pn_objective_factors(self->objective, self->theta, NULL, self->own, NULL, &err) == PN_OK);
}

static void close_world(world *self)
{
    pn_objective_free(self->objective);
    pn_dataset_free(self->data);
    pn_loss_free(self->loss);
    free(self->factors);
    free(self->own);
}

/* ---- naive sums ---- */

/* By what a record's difference is scaled: the norm is the row's own with clip, else the bound. */
static long double scale_of(const world *self, size_t i, double tau)
{
    long double norm = pn_objective_clip(self->objective) > 0.0 ? row_length(self->data, i) : (long double)RECORD_BOUND;
    long double sum = 0.0L;

    for (size_t k = 0; k < self->inputs; k++) {
        long double d = (long double)self->own[k * N + i] - (long double)self->factors[k * N + i];

        d *= k < self->margins ? norm : 1.0L;
        sum += d * d;
    }
    norm = sqrtl(sum);
    return norm > (long double)tau ? (long double)tau / norm : 1.0L;
}

/* factors: as in a difference; NULL: a gradient. */
static void naive(const world *self, const pn_batch *batch, const double *factors, double tau, long double *out)
{
    memset(out, 0, self->dim * sizeof *out);
    for (size_t r = 0; r < batch->count; r++) {
        size_t i = batch->rows[r];
        long double scale = factors ? scale_of(self, i, tau) : 1.0L;

        for (size_t k = 0; k < self->inputs; k++) {
            long double d = (long double)self->own[k * N + i] - (factors ? (long double)factors[k * N + i] : 0.0L);

            for (size_t j = 0; k < self->margins && j < P; j++)
                out[k * P + j] += scale * d * (long double)entry(self->data, i, j) / (long double)batch->denominator;
            if (k >= self->margins)
                out[self->margins * (P - 1) + k] += scale * d / (long double)batch->denominator;
        }
    }
}

/* Twice the bound of the sum's rounding, which scaling and the subtraction of factors add to, record by record. */
static void check_near(const world *self, const pn_batch *batch, const double *got, const long double *want)
{
    double bound = pn_objective_batch_error(self->objective, batch->count, 8.0) / batch->denominator;
    bool near = true;

    for (size_t j = 0; j < self->dim; j++)
        near = near && fabsl((long double)got[j] - want[j]) <= 2.0L * (long double)bound;
    CHECK(near);
}

/* ---- every loss ---- */

/* 0: picked at random, some twice; 1: in order. */
static pn_batch some_batch(size_t *rows, size_t count, int in_order)
{
    unsigned state = 77;

    for (size_t r = 0; r < count; r++)
        rows[r] = in_order ? r + 3 : (size_t)(unit(&state) * N);
    return (pn_batch){ rows, count, 0.75 * (double)count - 0.25 };
}

static void check_batch(world *self, size_t count, int in_order)
{
    static size_t rows[BATCH_MAX];
    const pn_batch batch = some_batch(rows, count, in_order);
    const double taus[] = { INFINITY, 1e6, 0.5, 0.01, 1e-9 };
    long double want[DIM_MAX];
    double out[DIM_MAX];
    pn_err err;

    CHECK(pn_objective_losses(self->objective, &batch, self->theta, NULL, out, NULL, &err) == PN_OK);
    naive(self, &batch, NULL, INFINITY, want);
    check_near(self, &batch, out, want);
    for (size_t t = 0; t < sizeof taus / sizeof taus[0]; t++) {
        CHECK(pn_objective_batch_differences(self->objective, &batch, self->theta, self->factors, taus[t], out, NULL,
                                             &err) == PN_OK);
        naive(self, &batch, self->factors, taus[t], want);
        check_near(self, &batch, out, want);
    }
}

/* The mean of the batch's values, too. */
static void check_values(world *self)
{
    size_t rows[40];
    const pn_batch batch = some_batch(rows, 40, 0);
    double values[N], value, out[DIM_MAX], alone[DIM_MAX], sum = 0.0;
    pn_err err;

    CHECK(pn_objective_factors(self->objective, self->theta, values, NULL, NULL, &err) == PN_OK);
    for (size_t r = 0; r < 40; r++)
        sum += values[rows[r]];
    CHECK(pn_objective_losses(self->objective, &batch, self->theta, &value, out, NULL, &err) == PN_OK);
    CHECK_CLOSE(value, sum / batch.denominator, 1e-13 * fabs(value));
    CHECK(pn_objective_losses(self->objective, &batch, self->theta, NULL, alone, NULL, &err) == PN_OK);
    CHECK(memcmp(out, alone, self->dim * sizeof *out) == 0);
    CHECK(pn_objective_losses(self->objective, &batch, self->theta, &sum, NULL, NULL, &err) == PN_OK);
    CHECK(sum == value);
}

/* A snapshot is a value, a gradient and its factors; where it was taken there is no difference,
 * not even of a rounding. */
static void check_snapshot(world *self)
{
    static size_t rows[BATCH_MAX];
    static double factors[INPUTS_MAX * N];
    double gradient[DIM_MAX], out[DIM_MAX], value;
    bool nothing = true;
    pn_batch batch = some_batch(rows, BATCH_MAX, 0);
    pn_err err;

    CHECK(pn_objective_losses(self->objective, NULL, self->other, &value, gradient, NULL, &err) == PN_OK);
    CHECK(value == self->value);
    CHECK(pn_objective_snapshot(self->objective, self->other, factors, NULL, out, NULL, &err) == PN_OK);
    CHECK(memcmp(gradient, out, self->dim * sizeof *out) == 0); /* without the value, too */
    CHECK(pn_objective_factors(self->objective, self->other, NULL, factors, NULL, &err) == PN_OK);
    CHECK(memcmp(gradient, self->gradient, self->dim * sizeof *gradient) == 0);
    CHECK(memcmp(factors, self->factors, self->inputs * N * sizeof *factors) == 0);
    for (batch.count = 1; batch.count <= BATCH_MAX; batch.count = batch.count * 3 + 1) {
        CHECK(pn_objective_batch_differences(self->objective, &batch, self->other, self->factors, INFINITY, out, NULL,
                                             &err) == PN_OK);
        for (size_t j = 0; j < self->dim; j++)
            nothing = nothing && out[j] == 0.0;
    }
    CHECK(nothing);
}

static void check_record(world *self)
{
    double difference;
    bool same = true;
    pn_err err;

    for (size_t i = 0; i < N && self->inputs == 1; i++) {
        CHECK(pn_objective_record_difference(self->objective, i, self->theta, self->factors, &difference, &err) ==
              PN_OK);
        same = same && difference == self->own[i] - self->factors[i];
    }
    CHECK(same);
    CHECK(pn_objective_record_difference(self->objective, N, self->theta, self->factors, &difference, &err) ==
          (self->inputs == 1 ? PN_EINVAL : PN_EUNSUPPORTED));
}

static void test_loss(const char *loss)
{
    for (int kind = 0; kind < STORAGES; kind++) {
        for (int clipped = 0; clipped < 2; clipped++) {
            world self;

            open_world(&self, loss, (storage)kind, clipped ? 0.3 : 0.0);
            CHECK(pn_objective_bounds(self.objective)->certified);
            check_batch(&self, 1, 0);
            check_batch(&self, 1, 1);
            check_batch(&self, 7, 0);
            check_batch(&self, 7, 1);
            check_batch(&self, BATCH_MAX, 0);
            check_batch(&self, BATCH_MAX, 1);
            check_values(&self);
            check_snapshot(&self);
            check_record(&self);
            close_world(&self);
        }
    }
}

/* ---- rows that are longer than what is gathered, and fill several chunks ---- */

static void test_long_rows(storage kind, size_t n, size_t p)
{
    pn_loss *loss = make_loss("logistic");
    pn_dataset *data = make_data(kind, n, p, &loss->labels);
    pn_objective *objective = make_objective(data, loss, 0.0);
    double *theta = malloc(p * sizeof *theta), *factors = malloc(n * sizeof *factors), *out = malloc(p * sizeof *out);
    double *first = malloc(p * sizeof *first), *own = malloc(n * sizeof *own);
    size_t *rows = malloc(n * sizeof *rows);
    double bound = pn_objective_batch_error(objective, n, RECORD_BOUND);
    pn_err err;

    for (size_t i = 0; i < n; i++) {
        rows[i] = i * 7919 % n;
        factors[i] = -0.25;
    }
    some_point(theta, p, 9);
    CHECK(pn_objective_factors(objective, theta, NULL, own, NULL, &err) == PN_OK);
    for (unsigned threads = 1; threads <= 3; threads++) {
        pn_task *task = NULL;

        CHECK(pn_task_new(&task, threads, &err) == PN_OK);
        CHECK(pn_objective_batch_differences(objective, &(pn_batch){ rows, n, 1.0 }, theta, factors, INFINITY,
                                             threads == 1 ? first : out, task, &err) == PN_OK);
        CHECK(threads == 1 || memcmp(first, out, p * sizeof *out) == 0);
        pn_task_free(task);
    }
    for (size_t j = 0; j < p; j += 97) {
        long double want = 0.0L;

        for (size_t i = 0; i < n; i++)
            want += (long double)(own[i] - factors[i]) * (long double)entry(data, i, j);
        CHECK(fabsl((long double)first[j] - want) <= (long double)bound);
    }
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_loss_free(loss);
    free(theta);
    free(factors);
    free(out);
    free(first);
    free(own);
    free(rows);
}

/* ---- the bound on rounding ---- */

/* Records that are all alike, 1/10 in two columns, labels and theta such that every factor is 1/3 or its like: each
 * addition rounds the same way.  Two wide sums: the bound holds, and is within a factor of 1000 of what happens. */
static void test_error_bound(storage kind, size_t n)
{
    const double theta[2] = { 0.0, 0.0 }, tenth = 0.1;
    double *X = malloc(2 * n * sizeof *X), *y = malloc(n * sizeof *y), out[2], bound;
    size_t *rows = malloc(n * sizeof *rows);
    pn_loss *loss = make_loss("squared");
    pn_dataset *data, *next = NULL;
    pn_objective *objective;
    long double off;
    pn_err err;

    for (size_t i = 0; i < n; i++) {
        X[2 * i] = X[2 * i + 1] = tenth;
        y[i] = 1.0 / 3.0;
        rows[i] = i;
    }
    data = from_rows(X, n, 2, y, kind == SPARSE);
    CHECK(pn_dataset_clip_labels(&next, data, 0.0, 1.0, &err) == PN_OK);
    take(&data, next);
    objective = make_objective(data, loss, 1.0);
    bound = pn_objective_batch_error(objective, n, tenth / 3.0 * (1.0 + 1e-15));
    CHECK(pn_objective_losses(objective, &(pn_batch){ rows, n, 1.0 }, theta, NULL, out, NULL, &err) == PN_OK);
    off = fabsl((long double)out[0] + (long double)n * (long double)(1.0 / 3.0) * (long double)tenth);
    CHECK(off <= (long double)bound);
    if (n > 10)
        CHECK(off >= (long double)bound / 1000.0L);
    CHECK(pn_objective_losses(objective, &(pn_batch){ rows, n, 7.0 }, theta, NULL, out, NULL, &err) == PN_OK);
    off = fabsl((long double)out[1] + (long double)n * (long double)(1.0 / 3.0) * (long double)tenth / 7.0L);
    CHECK(off <= (long double)bound / 7.0L);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_loss_free(loss);
    free(X);
    free(y);
    free(rows);
}

/* For "at most count records": what holds for more holds for fewer.  Sums of more than 2^21 records use all chunks. */
static void test_error_grows(void)
{
    for (int kind = DENSE; kind <= SPARSE; kind++) {
        world self;
        double last = 0.0;

        open_world(&self, "logistic", (storage)kind, 0.0);
        for (size_t count = 1; count < 20000; count++) {
            double bound = pn_objective_batch_error(self.objective, count, 1.0);

            if (!(bound > last))
                CHECK(bound > last);
            last = bound;
        }
        CHECK(pn_objective_batch_error(self.objective, 1, 1.0) <= 8 * 0x1p-53);
        CHECK_CLOSE(pn_objective_batch_error(self.objective, (size_t)1 << 24, 1.0), 0x1p24 * 0x1p18 * 0x1p-53,
                    0.05 * 0x1p-11);
        CHECK(pn_objective_batch_error(self.objective, 100, 2.0) >=
              2.0 * pn_objective_batch_error(self.objective, 100, 1.0) * (1.0 - 1e-12));
        close_world(&self);
    }
}

/* ---- records outside of the batch ---- */

enum { OTHERS = 39, DRAWN = 30000, WIDE = 20000 };

/* out[p] of a batch of 39 records that are drawn again and again, all but the first, which has `entries` features. */
static void without_first(storage kind, size_t p, size_t entries, double *out)
{
    double *X = calloc((OTHERS + 1) * p, sizeof *X), *theta = malloc(p * sizeof *theta), y[OTHERS + 1];
    size_t *rows = malloc(DRAWN * sizeof *rows);
    pn_loss *loss = make_loss("logistic");
    pn_objective *objective;
    pn_dataset *data;
    unsigned state = 3;
    pn_err err;

    for (size_t i = 0; i <= OTHERS; i++) {
        y[i] = i % 3 ? 1.0 : -1.0;
        for (size_t j = 0; i > 0 && j < 3; j++)
            X[i * p + j] = unit(&state);
    }
    for (size_t j = 0; j < entries; j++)
        X[j] = 0.5;
    for (size_t r = 0; r < DRAWN; r++)
        rows[r] = 1 + r * 7 % OTHERS;
    some_point(theta, p, 4);
    data = from_rows(X, OTHERS + 1, p, y, kind == SPARSE);
    objective = make_objective(data, loss, 0.1);
    CHECK(pn_objective_losses(objective, &(pn_batch){ rows, DRAWN, 1.0 }, theta, NULL, out, NULL, &err) == PN_OK);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_loss_free(loss);
    free(X);
    free(theta);
    free(rows);
}

/* Not even how many entries they have: what sampling hides must not come back through the order of a sum. */
static void test_outside(void)
{
    static double none[WIDE], all[WIDE];

    for (int kind = DENSE; kind <= SPARSE; kind++) {
        size_t p = kind == SPARSE ? WIDE : 5;

        without_first((storage)kind, p, 0, none);
        without_first((storage)kind, p, p, all);
        CHECK(none[0] != 0.0 && none[2] != 0.0 && memcmp(none, all, p * sizeof none[0]) == 0);
    }
}

/* ---- allocation ---- */

static pn_status small_calls(void *context, pn_err *err)
{
    world *self = context;
    size_t rows[200];
    pn_batch batch = some_batch(rows, 200, 0);
    double out[DIM_MAX], value;
    pn_status status = pn_objective_losses(self->objective, &batch, self->theta, &value, out, NULL, err);

    if (status == PN_OK)
        status =
            pn_objective_batch_differences(self->objective, &batch, self->theta, self->factors, 0.1, out, NULL, err);
    batch.count = 1;
    if (status == PN_OK)
        status =
            pn_objective_batch_differences(self->objective, &batch, self->theta, self->factors, 0.1, out, NULL, err);
    return status;
}

static void test_allocates_nothing(void)
{
    static const char *const losses[] = { "logistic", "softmax", "network" };

    for (size_t which = 0; which < 3 * STORAGES; which++) {
        fail_alloc count = { .fail_at = 0 };
        world self;

        open_world(&self, losses[which % 3], (storage)(which / 3), 0.2);
        CHECK(fail_alloc_run(&count, small_calls, &self) == PN_OK);
        CHECK(count.calls == 0);
        close_world(&self);
    }
}

int main(void)
{
    for (size_t i = 0; pn_loss_table()[i]; i++)
        test_loss(pn_loss_table()[i]->name);
    test_loss("network");
    for (int kind = 0; kind < STORAGES; kind++) {
        test_long_rows((storage)kind, 300, 1500);
        test_long_rows((storage)kind, 200, 4001);
        test_long_rows((storage)kind, 40000, 20);
    }
    for (size_t n = 1; n <= 3000000; n = n < 50 ? n + 1 : n * 7) {
        test_error_bound(DENSE, n);
        test_error_bound(SPARSE, n);
    }
    test_error_grows();
    test_outside();
    test_allocates_nothing();
    return check_summary();
}
