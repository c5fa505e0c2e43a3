/* lend_test.c -- batches of records that are shared out to ranks, which are threads here: the bits of one process that
 * has all records, whoever holds which.
 * Depends on: objective/, fake_ranks.h, batch_helpers.h. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "fail_alloc.h"
#include "fake_ranks.h"
#include "objective/measures/smoothed.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/objective_impl.h"
#include "objective/passes/second_order.h"
#include "random/address.h"
#include "runtime/objective/passes/batch_helpers.h"

#define BATCHES   10
#define ROOM_MOST 200000
#define NOBODY    SIZE_MAX

typedef struct table {
    const char *loss;
    storage kind;
    size_t n, p;
    double clip;
    bool all_passes; /* not of so many features that a Hessian is large */
} table;

typedef struct world_of {
    const table *at;
    const pn_dataset *whole;
    bool wide;                  /* ranks hold what pn_objective_hold says, else no record twice */
    size_t gap;                 /* records at the end of rank 0's part that nobody holds */
    size_t strayed;             /* the rank that is given another batch; NOBODY */
    size_t only;                /* the one batch that is asked for; 0: all */
    size_t short_rank;          /* the rank that is refused memory once */
    double *out[FAKE_MOST + 1]; /* [ROOM_MOST] of each rank; the last of one process */
    size_t used;                /* of out */
    size_t gathers;             /* of a large batch, as rank 0 counts them */
    pn_status status[FAKE_MOST + 1];
    pn_err err[FAKE_MOST + 1];
} world_of;

/* ---- memory of one rank ---- */

static _Thread_local bool refusing; /* this thread's first call from a place that was not refused yet fails */
static uint64_t refused[4096];      /* places, as fail_alloc.h has them */
static size_t refusals;
static atomic_long live;

static bool refuses(void)
{
    uint64_t place = check_thorough() ? fail_calls_chain() : (uint64_t)(size_t)fail_calls_site();

    for (size_t i = 0; i < refusals; i++) {
        if (refused[i] == place)
            return false;
    }
    refused[refusals++ % 4096] = place;
    refusing = false;
    fail_calls_failed(fail_calls_site());
    return true;
}

static void *rank_allocate(void *self, size_t bytes)
{
    void *block = refusing && refuses() ? NULL : malloc(bytes);

    (void)self;
    atomic_fetch_add(&live, block != NULL);
    return block;
}

static void *rank_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    return realloc(block, bytes);
}

static void rank_release(void *self, void *block)
{
    (void)self;
    atomic_fetch_sub(&live, 1);
    free(block);
}

static const pn_allocator of_ranks = { rank_allocate, rank_resize, rank_release, NULL };

/* ---- batches ---- */

/* Batch `which`, rows[2 n] at most: its records. */
static size_t make_batch(size_t which, size_t n, size_t *rows)
{
    size_t count = 0;

    switch (which) {
    case 0: /* one, of the last rank */
        rows[count++] = n - 1;
        break;
    case 1: /* neighbours, on both sides of where a part begins */
    case 2:
        for (size_t i = n / (which + 1) - 10; i < n / (which + 1) + 11; i++)
            rows[count++] = i;
        break;
    case 3:
        for (size_t i = 0; i < n; i += 7)
            rows[count++] = i;
        break;
    case 4:
        for (size_t i = 1; i < n; i += 2)
            rows[count++] = i;
        break;
    case 5: /* in no order, some of them several times */
        for (size_t i = 0; i < n; i++)
            rows[count++] = i % 3 ? (i * 1009) % n : n - 2;
        break;
    case 6:
        for (size_t i = 0; i < n; i++)
            rows[count++] = i;
        break;
    case 7: /* none */
        break;
    case 8:
        rows[count++] = 0;
        break;
    default: /* none of rank 0's */
        for (size_t i = 2 * n / 3 + 1; i < n; i += 3)
            rows[count++] = i;
    }
    return count;
}

/* ---- passes ---- */

static pn_status ask_gradients(pn_objective *objective, const pn_batch *batch, const double *theta,
                               const double *factors, double **out, pn_err *err)
{
    size_t dim = pn_objective_dim(objective);
    pn_status status = pn_objective_losses(objective, batch, theta, *out, *out + 1, NULL, err);

    *out += 1 + dim;
    if (status == PN_OK)
        status = pn_objective_batch_differences(objective, batch, theta, factors, 0.05, *out, NULL, err);
    *out += dim;
    return status;
}

static pn_status ask_curves(pn_objective *objective, const pn_batch *batch, const double *theta, const double *v,
                            double **out, pn_err *err)
{
    size_t dim = pn_objective_dim(objective);
    pn_status status = pn_objective_hessian_times(objective, batch, theta, v, *out, NULL, err);

    *out += dim;
    if (status == PN_OK)
        status = pn_objective_quadratic(objective, batch, theta, *out, *out + 1, *out + 1 + dim, NULL, err);
    *out += 1 + dim + pn_hessian_size(dim);
    return status;
}

static pn_status ask_moves(pn_objective *objective, const pn_batch *batch, const double *theta, const double *v,
                           double **out, pn_err *err)
{
    static const double steps[] = { 1.0, 0.5 };
    const pn_smoothing each = { PN_DIRECTIONS_ONE, 0.1, 5.0, 1, 0.0, false };
    pn_address_key key = { { 1 }, true };
    const pn_smoothed_call call = { batch->rows, batch->count, &key, 3, NULL, NULL };
    size_t dim = pn_objective_dim(objective), clipped = 0;
    pn_status status = pn_objective_line(objective, batch, theta, v, steps, 2, 0.1, *out, &clipped, NULL, err);

    (*out)[2] = (double)clipped;
    if (status == PN_OK)
        status = pn_objective_differences(objective, batch, theta, v, 1, 0.01, *out + 3, NULL, err);
    *out += 4;
    if (status == PN_OK && batch->count > 0)
        status = pn_smoothed_gradient(objective, &each, &call, theta, *out, NULL, err);
    *out += dim;
    return status;
}

/* The passes over every batch, one after the other. */
static pn_status ask_all(const world_of *self, pn_objective *objective, size_t me, double *out, size_t *used,
                         pn_err *err)
{
    size_t n = self->at->n, dim = pn_objective_dim(objective), inputs = pn_loss_inputs(objective->loss);
    size_t *rows = malloc(2 * n * sizeof *rows);
    double *theta = malloc(2 * dim * sizeof *theta), *v = theta + dim, *begin = out;
    double *factors = malloc(inputs * n * sizeof *factors);
    pn_status status = PN_OK;

    some_point(theta, dim, 5);
    some_point(v, dim, 6);
    for (size_t i = 0; i < inputs * n; i++)
        factors[i] = 0.01 * (double)(i % 17);
    for (size_t which = 0; which < BATCHES && status == PN_OK; which++) {
        size_t count = make_batch(me == self->strayed ? 3 : which, n, rows);
        const pn_batch batch = { rows, count, (double)count + 1.0 };

        if (self->only && which != self->only)
            continue;
        status = ask_gradients(objective, &batch, theta, factors, &out, err);
        if (status == PN_OK && self->at->all_passes && self->at->clip == 0.0)
            status = ask_curves(objective, &batch, theta, v, &out, err);
        if (status == PN_OK && self->at->all_passes)
            status = ask_moves(objective, &batch, theta, v, &out, err);
    }
    *used = (size_t)(out - begin);
    free(factors);
    free(theta);
    free(rows);
    return status;
}

static void answer(world_of *self, const pn_dataset *data, pn_ranks *ranks, size_t which)
{
    pn_loss *loss = make_loss(self->at->loss);
    pn_objective_parts parts = { .data = data, .loss = loss, .clip = self->at->clip, .ranks = ranks };
    pn_objective *objective = NULL;
    size_t used = 0;

    memset(self->out[which], 0, ROOM_MOST * sizeof(double));
    self->status[which] = pn_objective_new(&objective, &parts, &self->err[which]);
    refusing = which == self->short_rank;
    if (objective)
        self->status[which] = ask_all(self, objective, which, self->out[which], &used, &self->err[which]);
    refusing = false;
    if (!ranks)
        self->used = used;
    pn_objective_free(objective);
    pn_loss_free(loss);
}

static pn_dataset *hold(const world_of *self, const pn_ranks *ranks)
{
    size_t n = self->at->n, size = pn_ranks_size(ranks), me = pn_ranks_rank(ranks);
    size_t begin = n * me / size, end = n * (me + 1) / size - (me == 0 ? self->gap : 0);
    pn_dataset *data = NULL;

    if (self->wide)
        pn_objective_hold(self->whole, ranks, &begin, &end);
    if (pn_dataset_hold(&data, self->whole, begin, end, NULL) != PN_OK)
        abort();
    return data;
}

static void answer_rank(pn_ranks *ranks, void *argument)
{
    world_of *self = argument;
    pn_dataset *data = hold(self, ranks);

    answer(self, data, ranks, pn_ranks_rank(ranks));
    pn_dataset_free(data);
}

/* ---- the bits of one process ---- */

static void open_world(world_of *self, const table *at)
{
    pn_loss *loss = make_loss(at->loss);

    *self = (world_of){
        .at = at, .whole = make_data(at->kind, at->n, at->p, &loss->labels), .strayed = NOBODY, .short_rank = NOBODY
    };
    for (size_t r = 0; r <= FAKE_MOST; r++)
        self->out[r] = malloc(ROOM_MOST * sizeof(double));
    pn_loss_free(loss);
}

static void close_world(world_of *self)
{
    for (size_t r = 0; r <= FAKE_MOST; r++)
        free(self->out[r]);
    pn_dataset_free((pn_dataset *)self->whole);
}

static void compare(const table *at)
{
    fake_world world;
    world_of self;

    open_world(&self, at);
    answer(&self, self.whole, NULL, FAKE_MOST);
    CHECK(self.status[FAKE_MOST] == PN_OK && self.out[FAKE_MOST][0] > 0.0);
    CHECK(self.used > 0 && self.used <= ROOM_MOST);
    for (size_t size = 2; size <= 3; size++) {
        for (int wide = 0; wide < 2; wide++) {
            self.wide = wide;
            fake_run(&world, size, answer_rank, &self);
            for (size_t r = 0; r < size; r++) {
                if (!CHECK(self.status[r] == PN_OK))
                    (void)fprintf(stderr, "    %s\n", self.err[r].message);
                if (!CHECK(memcmp(self.out[r], self.out[FAKE_MOST], self.used * sizeof(double)) == 0))
                    (void)fprintf(stderr, "    the %s loss, storage %d: rank %zu of %zu\n", at->loss, (int)at->kind, r,
                                  size);
            }
        }
    }
    close_world(&self);
}

/* Dense chunks of a batch have 10^5 / p records or more, sparse ones 2048: both with one chunk and with several. */
static void passes_over_batches_have_the_bits_of_one_process(void)
{
    static const table tables[] = {
        { "logistic", DENSE, 1200, 5, 0.0, true },    { "logistic", SPARSE, 9000, 5, 0.0, true },
        { "softmax", FLOATS, 900, 5, 0.0, true },     { "softmax", SPARSE_FLOATS, 900, 5, 0.0, true },
        { "logistic", DENSE, 1000, 400, 0.3, false }, { "logistic", SPARSE_FLOATS, 9000, 5, 0.3, true },
        { "squared", FLOATS, 150, 2500, 0.0, false }, /* rows that are read where they are */
        { "squared", DENSE, 150, 2500, 0.0, false },
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        compare(&tables[i]);
}

/* ---- who moves what ---- */

static void ask_large(pn_ranks *ranks, void *argument)
{
    world_of *self = argument;
    pn_dataset *data = hold(self, ranks);
    pn_loss *loss = make_loss("logistic");
    pn_objective_parts parts = { .data = data, .loss = loss, .ranks = ranks };
    pn_objective *objective = NULL;
    size_t *rows = malloc(2 * self->at->n * sizeof *rows), me = pn_ranks_rank(ranks);
    const pn_batch batch = { rows, make_batch(4, self->at->n, rows), 1.0 };
    double *theta = calloc(self->at->p, sizeof *theta);

    self->status[me] = pn_objective_new(&objective, &parts, &self->err[me]);
    for (int again = 0; again <= (int)self->gathers && self->status[me] == PN_OK; again++)
        self->status[me] = pn_objective_losses(objective, &batch, theta, NULL, self->out[me], NULL, &self->err[me]);
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_dataset_free(data);
    free(theta);
    free(rows);
}

/* Gathers of one further pass over a large batch. */
static size_t gathers_of_a_pass(world_of *self)
{
    size_t gathers[2];
    fake_world world;

    for (size_t more = 0; more < 2; more++) {
        self->gathers = more;
        fake_run(&world, 3, ask_large, self);
        for (size_t r = 0; r < 3; r++)
            CHECK(self->status[r] == PN_OK);
        gathers[more] = world.gathers;
    }
    return gathers[1] - gathers[0];
}

/* What each says, the tallies and the sums of the chunks; then two more where rows are lent. */
static void a_large_batch_moves_no_row_between_shares(void)
{
    static const table large = { "logistic", DENSE, 12000, 600, 0.0, false };
    world_of self;

    open_world(&self, &large);
    self.wide = true;
    CHECK(gathers_of_a_pass(&self) == 3);
    self.wide = false;
    CHECK(gathers_of_a_pass(&self) == 5);
    close_world(&self);
}

/* ---- what fails fails everywhere ---- */

static void a_record_that_nobody_holds_is_an_error_everywhere(void)
{
    static const table at = { "logistic", DENSE, 1200, 5, 0.0, false };
    fake_world world;
    world_of self;

    open_world(&self, &at);
    self.gap = 5;
    fake_run(&world, 2, answer_rank, &self);
    for (size_t r = 0; r < 2; r++) {
        CHECK(self.status[r] == PN_EUNSUPPORTED);
        CHECK(strcmp(self.err[r].message, "objective: record 596 of a batch is held by no rank") == 0);
    }
    close_world(&self);
}

/* Rank 1 wants rows that rank 0 does not know of. */
static void ranks_with_different_batches_are_told(void)
{
    static const table at = { "logistic", SPARSE, 1200, 5, 0.0, false };
    fake_world world;
    world_of self;

    open_world(&self, &at);
    for (size_t strayed = 0; strayed < 2; strayed++) {
        self.strayed = strayed;
        fake_run(&world, 2, answer_rank, &self);
        for (size_t r = 0; r < 2; r++)
            CHECK(self.status[r] == PN_EIO && strstr(self.err[r].message, "rank 1 diverged from rank 0"));
    }
    close_world(&self);
}

static void refuse_each(world_of *self, size_t size)
{
    bool refused_one = true;

    for (refusals = 0; refused_one && refusals < 4096;) {
        size_t before = refusals;
        fake_world world;

        atomic_store(&live, 0);
        pn_allocator_set(&of_ranks);
        fake_run(&world, size, answer_rank, self);
        pn_allocator_set(NULL);
        CHECK(atomic_load(&live) == 0);
        refused_one = refusals > before;
        for (size_t r = 0; r < size; r++) {
            if (!CHECK(self->status[r] == (refused_one ? PN_ENOMEM : PN_OK)))
                (void)fprintf(stderr, "    refusal %zu of rank %zu, rank %zu: %s\n", refusals, self->short_rank, r,
                              self->err[r].message);
        }
    }
    CHECK(refusals > 10 && !refused_one);
}

static pn_status share_an_objective(void *self, pn_err *err)
{
    fake_world world = { .size = 2 };
    fake_rank me = { &world, 1 };
    pn_objective_parts parts = *(const pn_objective_parts *)self;
    pn_objective *objective = NULL;
    pn_status status = pn_ranks_new(&parts.ranks, &fake_ops, &me, err);

    if (status == PN_OK)
        status = pn_objective_new(&objective, &parts, err);
    pn_objective_free(objective);
    pn_ranks_free(parts.ranks);
    return status;
}

static void memory_for_an_objective_of_ranks(void)
{
    pn_loss *loss = make_loss("logistic");
    pn_dataset *data = make_data(DENSE, 20, 3, &loss->labels), *part = NULL;

    CHECK(pn_dataset_hold(&part, data, 10, 20, NULL) == PN_OK);
    fail_alloc_sweep("objective of ranks", share_an_objective, &(pn_objective_parts){ .data = part, .loss = loss });
    pn_dataset_free(part);
    pn_dataset_free(data);
    pn_loss_free(loss);
}

/* Each place where a rank allocates in passes over a batch whose rows are lent. */
static void memory_that_one_rank_lacks_is_an_error_everywhere(void)
{
    static const table tables[] = {
        { "logistic", SPARSE, 200, 5, 0.0, true },
        { "softmax", DENSE, 200, 5, 0.0, true },
    };
    world_of self;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        open_world(&self, &tables[i]);
        self.only = 3;
        for (self.short_rank = 0; self.short_rank < 2; self.short_rank++) {
            if (check_thorough() || self.short_rank == i)
                refuse_each(&self, 2);
        }
        close_world(&self);
    }
}

int main(void)
{
    (void)alarm(300); /* ranks that wait for each other for ever */
    passes_over_batches_have_the_bits_of_one_process();
    a_large_batch_moves_no_row_between_shares();
    a_record_that_nobody_holds_is_an_error_everywhere();
    ranks_with_different_batches_are_told();
    memory_for_an_objective_of_ranks();
    memory_that_one_rank_lacks_is_an_error_everywhere();
    return check_summary();
}
