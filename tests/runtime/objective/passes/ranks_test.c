/* ranks_test.c -- every pass of an objective gives the bits of one process on each of several ranks, which are threads
 * here; what one rank fails with all fail with.
 * Depends on: objective/, fake_ranks.h, batch_helpers.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <unistd.h>

#include "core/alloc.h"
#include "fake_ranks.h"
#include "geometry/sets/sets.h"
#include "objective/measures/smoothed.h"
#include "objective/passes/second_order.h"
#include "random/address.h"
#include "runtime/objective/passes/batch_helpers.h"

#define N        3001
#define P        17
#define DIM_MOST (3 * P) /* a network has 2 * P + 3 */
#define BATCH    12000
#define RESULT   (DIM_MOST * (DIM_MOST + 1) / 2 + 6 * N + 64)

/* What is asked: one array of numbers. */
typedef struct question {
    const pn_dataset *data;
    pn_loss *losses[FAKE_MOST + 1]; /* each rank its own */
    pn_set *sets[FAKE_MOST + 1];    /* the same: references are not counted across threads */
    double clip;
    const double *theta, *v;
    const size_t *rows;
    const pn_address_key *key;
    pn_task *tasks[FAKE_MOST + 1];
} question;

typedef pn_status (*ask_fn)(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err);

static pn_batch batch_of(const question *q)
{
    return (pn_batch){ q->rows, BATCH, 1000.0 };
}

static pn_status ask_evaluate(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    pn_status status = pn_objective_evaluate(objective, q->theta, out, out + 2, task, err);

    return status == PN_OK ? pn_objective_evaluate(objective, q->theta, out + 1, NULL, task, err) : status;
}

static pn_status ask_batch(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    pn_batch batch = batch_of(q), one = { q->rows, 1, 1.0 };
    pn_status status = pn_objective_losses(objective, &batch, q->theta, out, out + 3, task, err);

    if (status == PN_OK)
        status = pn_objective_losses(objective, &batch, q->theta, out + 1, NULL, task, err);
    return status == PN_OK ? pn_objective_losses(objective, &one, q->theta, out + 2, NULL, task, err) : status;
}

static pn_status ask_factors(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    return pn_objective_factors(objective, q->theta, out, out + N, task, err);
}

static pn_status ask_snapshot(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    double *factors = malloc(5 * N * sizeof *factors);
    pn_batch batch = batch_of(q);
    pn_status status = pn_objective_snapshot(objective, q->theta, factors, out, out + 1, task, err);

    if (status == PN_OK)
        status =
            pn_objective_batch_differences(objective, &batch, q->v, factors, INFINITY, out + 1 + DIM_MOST, task, err);
    free(factors);
    return status;
}

static pn_status ask_hessian_times(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    pn_batch batch = batch_of(q);
    pn_status status = pn_objective_hessian_times(objective, NULL, q->theta, q->v, out, task, err);

    return status == PN_OK ? pn_objective_hessian_times(objective, &batch, q->theta, q->v, out + DIM_MOST, task, err)
                           : status;
}

static pn_status ask_quadratic(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    return pn_objective_quadratic(objective, NULL, q->theta, out, out + 1, out + 1 + DIM_MOST, task, err);
}

static pn_status ask_batch_quadratic(const question *q, pn_objective *objective, double *out, pn_task *task,
                                     pn_err *err)
{
    pn_batch batch = batch_of(q);

    return pn_objective_quadratic(objective, &batch, q->theta, out, out + 1, out + 1 + DIM_MOST, task, err);
}

static pn_status ask_line(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    static const double steps[] = { 1.0, 0.5, 0.25 };
    size_t clipped = 0;
    pn_status status = pn_objective_line(objective, NULL, q->theta, q->v, steps, 3, 0.1, out, &clipped, task, err);

    out[3] = (double)clipped;
    return status;
}

static pn_status ask_differences(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    pn_batch batch = batch_of(q);
    pn_status status = pn_objective_differences(objective, NULL, q->theta, q->v, 1, 0.01, out, task, err);

    return status == PN_OK ? pn_objective_differences(objective, &batch, q->theta, q->v, 1, 0.01, out + 1, task, err)
                           : status;
}

static pn_status ask_smoothed(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    const pn_smoothing each = { PN_DIRECTIONS_ONE, 0.1, 5.0, 1, 0.0, false };
    const pn_smoothing group = { PN_DIRECTIONS_IID, 0.1, 5.0, 50, 0.0, false };
    uint64_t evaluations = 0, bad = 0;
    pn_smoothed_call call = { q->rows, 600, q->key, 3, &evaluations, &bad };
    pn_status status = pn_smoothed_gradient(objective, &each, &call, q->theta, out, task, err);

    if (status == PN_OK)
        status = pn_smoothed_difference(objective, &group, &call, q->theta, q->v, 9.0, out + DIM_MOST, task, err);
    out[2 * DIM_MOST] = (double)evaluations;
    out[2 * DIM_MOST + 1] = (double)bad;
    return status;
}

static pn_status ask_accuracy(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    return pn_objective_accuracy(objective, q->theta, out, task, err);
}

/* ---- one process, many ranks ---- */

typedef struct run {
    const question *q;
    ask_fn ask;
    double *out[FAKE_MOST + 1]; /* [RESULT] of each rank; the last of one process */
    pn_status status[FAKE_MOST + 1];
    pn_err err[FAKE_MOST + 1];
} run;

static void answer(pn_ranks *ranks, run *self, size_t which)
{
    pn_objective_parts parts = { .data = self->q->data,
                                 .loss = self->q->losses[which],
                                 .set = self->q->clip > 0.0 ? NULL : self->q->sets[which],
                                 .clip = self->q->clip,
                                 .ranks = ranks };
    pn_objective *objective = NULL;

    memset(self->out[which], 0, RESULT * sizeof(double));
    self->status[which] = pn_objective_new(&objective, &parts, &self->err[which]);
    if (self->status[which] == PN_OK)
        self->status[which] = self->ask(self->q, objective, self->out[which], self->q->tasks[which], &self->err[which]);
    pn_objective_free(objective);
}

static void answer_rank(pn_ranks *ranks, void *argument)
{
    answer(ranks, argument, pn_ranks_rank(ranks));
}

static void open_run(run *self, const question *q, ask_fn ask)
{
    *self = (run){ .q = q, .ask = ask };
    for (size_t r = 0; r <= FAKE_MOST; r++)
        self->out[r] = malloc(RESULT * sizeof(double));
}

static void close_run(run *self)
{
    for (size_t r = 0; r <= FAKE_MOST; r++)
        free(self->out[r]);
}

/* Same status and same bits; how often the ranks met. */
static size_t compare(const question *q, ask_fn ask, const char *name)
{
    size_t gathers = 0;
    fake_world world;
    run self;

    open_run(&self, q, ask);
    answer(NULL, &self, FAKE_MOST);
    for (size_t size = 1; size <= 3; size++) {
        fake_run(&world, size, answer_rank, &self);
        gathers += world.gathers;
        for (size_t r = 0; r < size; r++) {
            if (!CHECK(self.status[r] == self.status[FAKE_MOST]))
                (void)fprintf(stderr, "    %s\n", self.err[r].message);
            if (!CHECK(memcmp(self.out[r], self.out[FAKE_MOST], RESULT * sizeof(double)) == 0))
                (void)fprintf(stderr, "    %s with the %s loss: rank %zu of %zu\n", name, q->losses[0]->name, r, size);
        }
    }
    close_run(&self);
    return gathers;
}

static const struct {
    const char *name;
    ask_fn ask;
} asks[] = {
    { "evaluate", ask_evaluate },
    { "batch", ask_batch },
    { "factors", ask_factors },
    { "snapshot", ask_snapshot },
    { "hessian_times", ask_hessian_times },
    { "quadratic", ask_quadratic },
    { "batch quadratic", ask_batch_quadratic },
    { "line", ask_line },
    { "differences", ask_differences },
    { "smoothed", ask_smoothed },
    { "accuracy", ask_accuracy },
};
#define ASKS (sizeof asks / sizeof asks[0])

/* ---- questions ---- */

typedef struct setting {
    question q;
    pn_dataset *data;
    double theta[DIM_MOST], v[DIM_MOST];
    size_t rows[BATCH];
    pn_address_key key;
} setting;

static void open_setting(setting *self, storage kind, const char *loss, double clip)
{
    pn_arg ball[4];
    pn_rng *rng = NULL;
    size_t dim;
    pn_err err;

    memset(self, 0, sizeof *self);
    for (size_t r = 0; r <= FAKE_MOST; r++)
        self->q.losses[r] = make_loss(loss);
    self->data = make_data(kind, N, P, &self->q.losses[0]->labels);
    dim = self->q.losses[0]->margins * P + self->q.losses[0]->extra;
    memset(ball, 0, sizeof ball);
    ball[0] = (pn_arg){ .given = true, .count = dim };
    ball[1] = (pn_arg){ .given = true, .real = SET_RADIUS };
    for (size_t r = 0; r <= FAKE_MOST; r++)
        CHECK(pn_set_from_args(&self->q.sets[r], "l2_ball", ball, &err) == PN_OK);
    some_point(self->theta, dim, 5);
    some_point(self->v, dim, 6);
    for (size_t r = 0; r < BATCH; r++)
        self->rows[r] = r * 1009 % N;
    CHECK(pn_rng_seeded(&rng, 8, &err) == PN_OK);
    pn_address_key_draw(&self->key, rng);
    pn_rng_free(rng);
    self->q.data = self->data;
    self->q.clip = clip;
    self->q.theta = self->theta;
    self->q.v = self->v;
    self->q.rows = self->rows;
    self->q.key = &self->key;
}

static void close_setting(setting *self)
{
    for (size_t r = 0; r <= FAKE_MOST; r++) {
        pn_loss_free(self->q.losses[r]);
        pn_set_free(self->q.sets[r]);
    }
    pn_dataset_free(self->data);
}

static bool is_quadratic(ask_fn ask)
{
    return ask == ask_quadratic || ask == ask_batch_quadratic;
}

static void every_pass_has_the_bits_of_one_process(void)
{
    static const char *const losses[] = { "logistic", "squared", "softmax", "network", NULL };

    for (int kind = DENSE; kind < STORAGES; kind++) {
        for (size_t l = 0; losses[l]; l++) {
            setting at;

            open_setting(&at, (storage)kind, losses[l], 0.0);
            for (size_t i = 0; i < ASKS; i++) {
                size_t gathers = compare(&at.q, asks[i].ask, asks[i].name);

                /* Sparse records make few chunks; one is not shared.  Several classes have no accuracy in one chunk of
                 * records.  A network has no packed Hessian, and no accuracy. */
                if (!CHECK(gathers > 0 || kind == SPARSE || kind == SPARSE_FLOATS || asks[i].ask == ask_accuracy ||
                           (at.q.losses[0]->extra > 0 && is_quadratic(asks[i].ask))))
                    (void)fprintf(stderr, "    %s of %s is not shared\n", asks[i].name, losses[l]);
            }
            close_setting(&at);
        }
    }
}

static void clipped_gradients_have_them_too(void)
{
    setting at;

    open_setting(&at, DENSE, "logistic", 0.3);
    for (size_t i = 0; i < ASKS; i++)
        (void)compare(&at.q, asks[i].ask, asks[i].name);
    close_setting(&at);
}

/* Predictions are in chunks of 4096. */
static void accuracy_is_shared(void)
{
    double *X = malloc(9000 * sizeof *X), *y = malloc(9000 * sizeof *y), theta = 1.0;
    question q = { .theta = &theta };
    pn_dataset *data = NULL, *labelled = NULL;
    unsigned state = 3;
    pn_err err;

    for (size_t i = 0; i < 9000; i++) {
        X[i] = 2.0 * unit(&state) - 1.0;
        y[i] = unit(&state) < 0.3 ? -1.0 : 1.0;
    }
    CHECK(pn_dataset_from_dense(&data, X, 9000, 1, y, "made", &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&labelled, data, PN_L2, 1.0, &err) == PN_OK);
    for (size_t r = 0; r <= FAKE_MOST; r++)
        q.losses[r] = make_loss("logistic");
    q.data = labelled;
    CHECK(compare(&q, ask_accuracy, "accuracy") > 0);
    for (size_t r = 0; r <= FAKE_MOST; r++)
        pn_loss_free(q.losses[r]);
    pn_dataset_free(labelled);
    pn_dataset_free(data);
    free(X);
    free(y);
}

/* ---- black boxes ---- */

typedef struct oracle {
    size_t calls;
    size_t fails_at; /* the record it fails at; N: none */
    pn_task *cancels;
} oracle;

static pn_status oracle_values(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                               double *values, pn_err *err)
{
    oracle *of = self;

    of->calls++;
    if (record->row == of->fails_at)
        return pn_fail(err, PN_ECALLBACK, "the oracle is silent");
    if (of->cancels && record->row > N / 2)
        pn_task_cancel(of->cancels);
    for (size_t k = 0; k < count; k++) {
        values[k] = 0.0;
        for (size_t j = 0; j < dim; j++)
            values[k] += fabs(record->x[j] - thetas[k * dim + j]);
    }
    return PN_OK;
}

/* values of all records, differences, smoothed gradients. */
static pn_status ask_oracle(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    pn_status status = pn_objective_factors(objective, q->theta, out, NULL, task, err);

    if (status == PN_OK)
        status = ask_differences(q, objective, out + N, task, err);
    return status == PN_OK ? ask_smoothed(q, objective, out + N + 2, task, err) : status;
}

static void open_oracles(setting *at, oracle *oracles)
{
    pn_err err;

    open_setting(at, DENSE, "logistic", 0.0);
    for (size_t r = 0; r <= FAKE_MOST; r++) {
        oracles[r] = (oracle){ .fails_at = N };
        pn_loss_free(at->q.losses[r]);
        CHECK(pn_loss_black_box(&at->q.losses[r], oracle_values, NULL, &oracles[r], P, 0.0, &err) == PN_OK);
    }
}

static void records_of_a_black_box_are_shared(void)
{
    oracle oracles[FAKE_MOST + 1];
    setting at;

    open_oracles(&at, oracles);
    CHECK(compare(&at.q, ask_oracle, "black box") > 0);
    /* Of three ranks each makes a third of the calls, up to chunks that cannot be cut. */
    CHECK(oracles[2].calls * 5 < oracles[FAKE_MOST].calls * 2);
    CHECK(oracles[2].calls * 5 > oracles[FAKE_MOST].calls);
    close_setting(&at);
}

static void a_silent_oracle_is_told_to_all(void)
{
    oracle oracles[FAKE_MOST + 1];
    fake_world world;
    setting at;
    run self;

    open_oracles(&at, oracles);
    for (size_t r = 0; r < 2; r++)
        oracles[r].fails_at = N - 1;
    open_run(&self, &at.q, ask_oracle);
    fake_run(&world, 2, answer_rank, &self);
    CHECK(self.status[1] == PN_ECALLBACK && self.status[0] == PN_EIO);
    CHECK(strcmp(self.err[0].message, "rank 1: the oracle is silent") == 0);
    close_run(&self);
    close_setting(&at);
}

static void a_cancelled_rank_stops_all(void)
{
    oracle oracles[FAKE_MOST + 1];
    fake_world world;
    setting at;
    run self;
    pn_err err;

    open_oracles(&at, oracles);
    CHECK(pn_task_new(&at.q.tasks[2], 1, &err) == PN_OK);
    oracles[2].cancels = at.q.tasks[2];
    open_run(&self, &at.q, ask_oracle);
    fake_run(&world, 3, answer_rank, &self);
    for (size_t r = 0; r < 3; r++)
        CHECK(self.status[r] == PN_ECANCELLED);
    close_run(&self);
    pn_task_free(at.q.tasks[2]);
    close_setting(&at);
}

/* An oracle that asks the objective itself: every rank answers such a question alone,
 * for the others are at other records. */
typedef struct inner {
    pn_objective *objective;
    const double *theta;
} inner;

static pn_status inner_values(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                              double *values, pn_err *err)
{
    inner *of = self;
    pn_status status = PN_OK;

    (void)dim;
    for (size_t k = 0; k < count && status == PN_OK; k++)
        status = pn_objective_evaluate(of->objective, thetas + k, values + k, NULL, record->task, err);
    return status;
}

static void ask_inner(pn_ranks *ranks, void *argument)
{
    run *self = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_loss *loss = NULL, *box = NULL;
    inner of = { 0 };
    pn_objective_parts parts = { .data = self->q->data, .ranks = ranks };
    pn_objective *objective = NULL;
    double theta[P] = { 0.25 };
    pn_status status;

    loss = parts.loss = pn_loss_keep(self->q->losses[me]);
    status = pn_objective_new(&of.objective, &parts, &self->err[me]);
    if (status == PN_OK)
        status = pn_loss_black_box(&box, inner_values, NULL, &of, P, 0.0, &self->err[me]);
    parts.loss = box;
    if (status == PN_OK)
        status = pn_objective_new(&objective, &parts, &self->err[me]);
    if (status == PN_OK)
        status = pn_objective_evaluate(objective, theta, self->out[me], NULL, NULL, &self->err[me]);
    if (status == PN_OK)
        status = pn_objective_evaluate(of.objective, theta, self->out[me] + 1, NULL, NULL, &self->err[me]);
    self->status[me] = status;
    pn_objective_free(objective);
    pn_objective_free(of.objective);
    pn_loss_free(box);
    pn_loss_free(loss);
}

static void a_pass_within_a_pass_is_not_shared(void)
{
    fake_world world;
    setting at;
    run self;

    open_setting(&at, DENSE, "logistic", 0.0);
    open_run(&self, &at.q, NULL);
    fake_run(&world, 3, ask_inner, &self);
    for (size_t r = 0; r < 3; r++) {
        CHECK(self.status[r] == PN_OK);
        CHECK_CLOSE(self.out[r][0], self.out[r][1], 1e-12); /* the mean over records of the same mean */
    }
    close_run(&self);
    close_setting(&at);
}

/* ---- failures ---- */

static _Thread_local long allocations_left = -1; /* of this thread; < 0: no limit */

static bool may_allocate(void)
{
    return allocations_left < 0 || allocations_left-- > 0;
}

static void *limited_allocate(void *self, size_t bytes)
{
    (void)self;
    return may_allocate() ? malloc(bytes) : NULL;
}

static void *limited_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    return may_allocate() ? realloc(block, bytes) : NULL;
}

static void limited_release(void *self, void *block)
{
    (void)self;
    free(block);
}

typedef struct scarce {
    run run;
    atomic_long limit;
} scarce;

/* Rank 1 runs out of memory after so many allocations of the question itself.  What fails before a shared pass begins,
 * or in one that every rank computes alone, the others learn only when the program ends: not asked here. */
static pn_status ask_scarcely(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    const scarce *self = (const scarce *)(const void *)q->key;
    pn_status status;

    if (pn_ranks_rank(pn_objective_ranks(objective)) == 1)
        allocations_left = atomic_load(&self->limit);
    status = ask_evaluate(q, objective, out, task, err);
    if (status == PN_OK)
        status = ask_batch(q, objective, out, task, err);
    if (status == PN_OK)
        status = ask_line(q, objective, out, task, err);
    if (status == PN_OK)
        status = ask_differences(q, objective, out, task, err);
    allocations_left = -1;
    return status;
}

static void no_rank_waits_for_one_without_memory(void)
{
    static const pn_allocator limited = { limited_allocate, limited_resize, limited_release, NULL };
    fake_world world;
    setting at;
    scarce self;
    long limit = 0;
    size_t failures = 0;

    open_setting(&at, DENSE, "logistic", 0.0);
    at.q.key = (const pn_address_key *)(const void *)&self;
    open_run(&self.run, &at.q, ask_scarcely);
    do {
        pn_allocator_set(&limited);
        atomic_store(&self.limit, limit++);
        fake_run(&world, 3, answer_rank, &self.run);
        pn_allocator_set(NULL);
        for (size_t r = 0; r < 3; r++)
            CHECK(self.run.status[r] == self.run.status[1]);
        failures += self.run.status[1] == PN_ENOMEM;
    } while (self.run.status[1] != PN_OK && limit < 1000);
    CHECK(self.run.status[1] == PN_OK && failures > 15);
    close_run(&self.run);
    close_setting(&at);
}

/* Rank 1 is elsewhere. */
static pn_status ask_elsewhere(const question *q, pn_objective *objective, double *out, pn_task *task, pn_err *err)
{
    bool other = pn_ranks_rank(pn_objective_ranks(objective)) == 1;

    return pn_objective_evaluate(objective, other ? q->v : q->theta, out, NULL, task, err);
}

static void ranks_at_different_points_are_told(void)
{
    fake_world world;
    setting at;
    run self;

    open_setting(&at, DENSE, "logistic", 0.0);
    open_run(&self, &at.q, ask_elsewhere);
    fake_run(&world, 2, answer_rank, &self);
    for (size_t r = 0; r < 2; r++)
        CHECK(self.status[r] == PN_EIO && strstr(self.err[r].message, "rank 1 diverged from rank 0"));
    close_run(&self);
    close_setting(&at);
}

int main(void)
{
    (void)alarm(300); /* ranks that wait for each other for ever */
    every_pass_has_the_bits_of_one_process();
    clipped_gradients_have_them_too();
    accuracy_is_shared();
    records_of_a_black_box_are_shared();
    a_silent_oracle_is_told_to_all();
    a_cancelled_rank_stops_all();
    a_pass_within_a_pass_is_not_shared();
    no_rank_waits_for_one_without_memory();
    ranks_at_different_points_are_told();
    return check_summary();
}
