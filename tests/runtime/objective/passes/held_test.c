/* held_test.c -- objectives whose records are shared out to ranks, which are threads here: the bits of one process that
 * has all of them, and refusals of whatever would read a record that is elsewhere.
 * Depends on: objective/, fake_ranks.h, batch_helpers.h. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "data/rows.h"
#include "fake_ranks.h"
#include "objective/passes/objective_impl.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/batch_helpers.h"

#define N        60000
#define P        5
#define DIM_MOST (3 * P)
#define RESULT   (4 * N + 1024)

typedef struct held {
    const pn_dataset *whole;
    const char *loss;
    double clip;
    bool tight;                 /* ranks hold less than their share */
    double *out[FAKE_MOST + 1]; /* [RESULT] of each rank; the last of one process */
    pn_status status[FAKE_MOST + 1];
    pn_err err[FAKE_MOST + 1];
    size_t records[FAKE_MOST];     /* that a rank holds */
    const char *failed[FAKE_MOST]; /* what a thread found */
} held;

/* Every kind of pass over all records, one after the other. */
static pn_status ask_all(pn_objective *objective, double *out, pn_err *err)
{
    static const double steps[] = { 1.0, 0.5 };
    size_t dim = pn_objective_dim(objective), margins = dim / P, clipped = 0;
    bool clip = pn_objective_clip(objective) > 0.0;
    double theta[DIM_MOST], v[DIM_MOST];
    pn_status status;

    some_point(theta, dim, 5);
    some_point(v, dim, 6);
    status = pn_objective_evaluate(objective, theta, out, out + 1, NULL, err);
    out += 1 + DIM_MOST;
    if (status == PN_OK)
        status = pn_objective_factors(objective, theta, out, out + N, NULL, err);
    out += (1 + margins) * N;
    if (status == PN_OK && !clip)
        status = pn_objective_hessian_times(objective, NULL, theta, v, out, NULL, err);
    out += DIM_MOST;
    if (status == PN_OK && !clip)
        status = pn_objective_quadratic(objective, NULL, theta, out, out + 1, out + 1 + DIM_MOST, NULL, err);
    out += 1 + DIM_MOST + DIM_MOST * DIM_MOST;
    if (status == PN_OK)
        status = pn_objective_line(objective, NULL, theta, v, steps, 2, 0.1, out, &clipped, NULL, err);
    out[2] = (double)clipped;
    if (status == PN_OK)
        status = pn_objective_differences(objective, NULL, theta, v, 1, 0.01, out + 3, NULL, err);
    if (status == PN_OK && pn_objective_data(objective)->bounds.labels_binary)
        status = pn_objective_accuracy(objective, theta, out + 4, NULL, err);
    return status;
}

static pn_objective *open_objective(const pn_dataset *data, pn_loss *loss, double clip, pn_ranks *ranks,
                                    pn_status *status, pn_err *err)
{
    pn_objective_parts parts = { .data = data, .loss = loss, .clip = clip, .ranks = ranks };
    pn_objective *objective = NULL;

    *status = pn_objective_new(&objective, &parts, err);
    return objective;
}

static void answer(held *self, const pn_dataset *data, pn_ranks *ranks, size_t which)
{
    pn_loss *loss = make_loss(self->loss);
    pn_objective *objective = open_objective(data, loss, self->clip, ranks, &self->status[which], &self->err[which]);

    memset(self->out[which], 0, RESULT * sizeof(double));
    if (objective)
        self->status[which] = ask_all(objective, self->out[which], &self->err[which]);
    pn_objective_free(objective);
    pn_loss_free(loss);
}

static pn_dataset *hold(const pn_dataset *whole, const pn_ranks *ranks, size_t less)
{
    pn_dataset *data = NULL;
    size_t begin, end;
    pn_err err;

    pn_objective_hold(whole, ranks, &begin, &end);
    if (pn_dataset_hold(&data, whole, begin, end - less, &err) != PN_OK)
        abort();
    return data;
}

static void answer_rank(pn_ranks *ranks, void *argument)
{
    held *self = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_dataset *data = hold(self->whole, ranks, self->tight && me == 1 ? N / 2 - 100 : 0);

    self->records[me] = data->held;
    answer(self, data, ranks, me);
    pn_dataset_free(data);
}

static void open_held(held *self, const pn_dataset *whole, const char *loss, double clip)
{
    *self = (held){ .whole = whole, .loss = loss, .clip = clip };
    for (size_t r = 0; r <= FAKE_MOST; r++)
        self->out[r] = malloc(RESULT * sizeof(double));
}

static void close_held(held *self)
{
    for (size_t r = 0; r <= FAKE_MOST; r++)
        free(self->out[r]);
}

static pn_dataset *data_for(const char *name, storage kind)
{
    pn_loss *loss = make_loss(name);
    pn_dataset *data = make_data(kind, N, P, &loss->labels);

    pn_loss_free(loss);
    return data;
}

static void compare(const char *loss, storage kind, double clip)
{
    pn_dataset *whole = data_for(loss, kind);
    fake_world world;
    held self;

    open_held(&self, whole, loss, clip);
    answer(&self, whole, NULL, FAKE_MOST);
    CHECK(self.status[FAKE_MOST] == PN_OK && self.out[FAKE_MOST][0] > 0.0);
    for (size_t size = 2; size <= 3; size++) {
        fake_run(&world, size, answer_rank, &self);
        for (size_t r = 0; r < size; r++) {
            CHECK(self.records[r] > 0 && self.records[r] < N * 2 / 3);
            if (!CHECK(self.status[r] == PN_OK))
                (void)fprintf(stderr, "    %s\n", self.err[r].message);
            if (!CHECK(memcmp(self.out[r], self.out[FAKE_MOST], RESULT * sizeof(double)) == 0))
                (void)fprintf(stderr, "    the %s loss: rank %zu of %zu\n", loss, r, size);
        }
    }
    close_held(&self);
    pn_dataset_free(whole);
}

static void passes_over_all_records_have_the_bits_of_one_process(void)
{
    compare("logistic", DENSE, 0.0);
    compare("logistic", FLOATS, 0.0);
    compare("squared", DENSE, 0.0);
    compare("softmax", DENSE, 0.0);
    compare("logistic", DENSE, 0.3);
    compare("logistic", FLOATS, 0.3);
    compare("logistic", SPARSE, 0.0);
    compare("logistic", SPARSE_FLOATS, 0.3);
    compare("softmax", SPARSE, 0.0);
}

/* ---- features that are many beside the entries ---- */

/* One entry a record. */
static pn_dataset *make_wide(size_t n, size_t p)
{
    size_t *start = malloc((n + 1) * sizeof *start);
    uint32_t *column = malloc(n * sizeof *column);
    double *value = malloc(2 * n * sizeof *value), *y = value + n;
    const pn_csr X = { n, p, start, column, value };
    pn_dataset *data = NULL;
    unsigned state = 3;

    for (size_t i = 0; i < n; i++) {
        start[i] = i;
        column[i] = (uint32_t)(unit(&state) * (double)p);
        value[i] = unit(&state) - 0.5;
        y[i] = unit(&state) < 0.5 ? -1.0 : 1.0;
    }
    start[n] = n;
    if (pn_dataset_from_csr(&data, &X, y, "wide", NULL) != PN_OK)
        abort();
    free(value);
    free(column);
    free(start);
    return data;
}

static void answer_wide(held *self, const pn_dataset *data, pn_ranks *ranks, size_t which)
{
    pn_loss *loss = make_loss("logistic");
    pn_objective *objective = open_objective(data, loss, 0.0, ranks, &self->status[which], &self->err[which]);
    double *theta = malloc(data->p * sizeof *theta), *out = self->out[which];

    some_point(theta, data->p, 5);
    if (objective)
        self->status[which] = pn_objective_losses(objective, NULL, theta, out, out + 1, NULL, &self->err[which]);
    free(theta);
    pn_objective_free(objective);
    pn_loss_free(loss);
}

static void answer_wide_rank(pn_ranks *ranks, void *argument)
{
    held *self = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_dataset *data = hold(self->whole, ranks, 0);

    self->records[me] = data->partial ? data->held : data->n;
    answer_wide(self, data, ranks, me);
    pn_dataset_free(data);
}

/* n / p chunks, here 10 and 1: a rank holds what its chunks need, and all records where there is one. */
static void compare_wide(size_t n, size_t p)
{
    fake_world world;
    held self;

    open_held(&self, make_wide(n, p), "logistic", 0.0);
    answer_wide(&self, self.whole, NULL, FAKE_MOST);
    CHECK(self.status[FAKE_MOST] == PN_OK);
    for (size_t size = 2; size <= 3; size++) {
        fake_run(&world, size, answer_wide_rank, &self);
        for (size_t r = 0; r < size; r++) {
            CHECK((self.records[r] == n) == (n == p));
            CHECK(self.status[r] == PN_OK);
            CHECK(memcmp(self.out[r], self.out[FAKE_MOST], (1 + p) * sizeof(double)) == 0);
        }
    }
    close_held(&self);
    pn_dataset_free((pn_dataset *)self.whole);
}

static void wide_sparse_passes_have_the_bits_of_one_process(void)
{
    compare_wide(200000, 20000);
    compare_wide(20000, 20000);
}

/* Rank 1 lacks the end of its share: no rank gets a number. */
static void a_share_that_is_not_held_is_an_error_everywhere(void)
{
    pn_dataset *whole = data_for("logistic", DENSE);
    fake_world world;
    held self;

    open_held(&self, whole, "logistic", 0.0);
    self.tight = true;
    fake_run(&world, 2, answer_rank, &self);
    CHECK(self.status[0] == PN_EUNSUPPORTED && strncmp(self.err[0].message, "rank 1: objective: ", 19) == 0);
    CHECK(self.status[1] == PN_EUNSUPPORTED);
    CHECK(strcmp(self.err[1].message, "objective: this rank's share of the pass is records 30721 to 60000, and it "
                                      "holds 30001 to 30100 of 60000; load or make the data without ranks") == 0);
    close_held(&self);
    pn_dataset_free(whole);
}

/* ---- what would read records that are elsewhere ---- */

static pn_status nothing(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                         double *values, pn_err *err)
{
    (void)self, (void)thetas, (void)dim, (void)record, (void)err;
    memset(values, 0, count * sizeof *values);
    return PN_OK;
}

#define REFUSED(status) ((status) == PN_EUNSUPPORTED && strstr(err.message, "of 60000"))

static void refuse_rank(pn_ranks *ranks, void *argument)
{
    held *self = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_dataset *data = hold(self->whole, ranks, 0);
    pn_loss *loss = make_loss("squared"), *box = NULL;
    double theta[DIM_MOST] = { 0.1 }, out;
    pn_gram gram;
    pn_objective *objective = open_objective(data, loss, 0.0, ranks, &self->status[me], &self->err[me]), *boxed;
    pn_err err;

    self->failed[me] = objective ? NULL : "the objective";
    if (objective && !REFUSED(pn_objective_record_difference(objective, 1, theta, theta, &out, &err)))
        self->failed[me] = "a record";
    if (objective && !REFUSED(pn_gram_make(&gram, objective, NULL, &err)))
        self->failed[me] = "a Gram matrix";
    pn_objective_free(objective);
    if (pn_loss_black_box(&box, nothing, NULL, NULL, P, 0.0, &err) != PN_OK)
        abort();
    boxed = open_objective(data, box, 0.0, ranks, &self->status[me], &err);
    if (boxed || !REFUSED(self->status[me]))
        self->failed[me] = "a black box";
    pn_objective_free(boxed);
    pn_loss_free(box);
    pn_loss_free(loss);
    pn_dataset_free(data);
}

static void other_passes_are_refused(void)
{
    pn_dataset *whole = data_for("squared", DENSE);
    fake_world world;
    held self = { .whole = whole };

    fake_run(&world, 2, refuse_rank, &self);
    for (size_t r = 0; r < 2; r++) {
        if (!CHECK(!self.failed[r]))
            (void)fprintf(stderr, "    %s: %s\n", self.failed[r], self.err[r].message);
    }
    pn_dataset_free(whole);
}

static void data_sets_refuse_what_moves_records(storage kind)
{
    pn_dataset *whole = data_for("logistic", kind), *data = NULL, *made = NULL;
    const size_t rows[] = { 20000 };
    const double low[P] = { 0 }, high[P] = { 1, 1, 1, 1, 1 };
    double theta[P] = { 0 }, z;
    pn_loss *loss = make_loss("logistic");
    pn_dataset_summary summary;
    pn_status status;
    pn_rows open;
    pn_err err;

    CHECK(pn_dataset_hold(&data, whole, 15000, 40000, &err) == PN_OK);
    CHECK(REFUSED(pn_dataset_subset(&made, data, rows, 1, &err)));
    CHECK(REFUSED(pn_dataset_add_bias(&made, data, &err)));
    CHECK(REFUSED(pn_dataset_rescale(&made, data, low, high, P, &err)));
    CHECK(REFUSED(pn_dataset_summarise(data, &summary, &err)));
    CHECK(REFUSED(pn_rows_open(&open, data, &err)));
    CHECK(REFUSED(pn_dataset_predict(data, theta, P, &z, NULL, &err)));
    CHECK(REFUSED(pn_dataset_hold(&made, data, 15000, 16000, &err)));
    CHECK(!open_objective(data, loss, 0.0, NULL, &status, &err) && status == PN_EINVAL);
    CHECK(strcmp(err.message, "objective: this rank holds records 15001 to 40000 of 60000; give the ranks that hold "
                              "the others") == 0);
    CHECK(pn_dataset_hold(&made, whole, 5, 5, &err) == PN_EDIM);
    CHECK(pn_dataset_hold(&made, whole, 5, N + 1, &err) == PN_EDIM);
    pn_loss_free(loss);
    pn_dataset_free(data);
    pn_dataset_free(whole);
}

/* Whether records 15000 .. 39999, which `some` holds, have the bits that `all` has. */
static bool same_rows(const pn_dataset *some, const pn_dataset *all)
{
    bool same = true;
    pn_rows a, b;

    CHECK(pn_rows_open_held(&a, some, NULL) == PN_OK && pn_rows_open(&b, all, NULL) == PN_OK);
    for (size_t i = 15000; i < 40000; i++) {
        size_t count, all_count;
        const double *x = pn_rows_get(&a, i, &count), *y = pn_rows_get(&b, i, &all_count);

        same = same && count == all_count && memcmp(x, y, count * sizeof *x) == 0;
        same = same && (!all->sparse || memcmp(some->csr.column + pn_csr_place(some, i),
                                               all->csr.column + all->csr.start[i], count * sizeof(uint32_t)) == 0);
    }
    pn_rows_close(&a);
    pn_rows_close(&b);
    return same;
}

/* Clipped, narrowed and relabelled before or after: the same. */
static void what_works_on_a_record_by_itself_is_done(storage kind)
{
    pn_dataset *whole = data_for("squared", kind), *a = NULL, *b = NULL, *c = NULL;
    pn_err err;

    CHECK(pn_dataset_hold(&a, whole, 15000, 40000, &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&b, a, PN_L1, 0.5, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&c, b, 0.25, 0.5, &err) == PN_OK);
    take(&a, NULL);
    take(&b, NULL);
    CHECK(pn_dataset_to_float32(&a, c, &err) == PN_OK);
    take(&c, NULL);
    CHECK(pn_dataset_clip_rows(&b, whole, PN_L1, 0.5, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&c, b, 0.25, 0.5, &err) == PN_OK);
    take(&b, NULL);
    CHECK(pn_dataset_to_float32(&b, c, &err) == PN_OK);
    CHECK(a->partial && a->first == 15000 && a->held == 25000 && a->n == N && !b->partial);
    CHECK(same_rows(a, b));
    CHECK(memcmp(a->y, b->y, N * sizeof(double)) == 0);
    CHECK(a->bounds.norm[PN_L1] == 0.5 && a->bounds.label_low == 0.25);
    pn_dataset_free(a);
    pn_dataset_free(b);
    pn_dataset_free(c);
    pn_dataset_free(whole);
}

int main(void)
{
    (void)alarm(300); /* ranks that wait for each other for ever */
    passes_over_all_records_have_the_bits_of_one_process();
    wide_sparse_passes_have_the_bits_of_one_process();
    a_share_that_is_not_held_is_an_error_everywhere();
    other_passes_are_refused();
    for (storage kind = DENSE; kind <= SPARSE; kind++) {
        data_sets_refuse_what_moves_records(kind);
        what_works_on_a_record_by_itself_is_done(kind);
    }
    return check_summary();
}
