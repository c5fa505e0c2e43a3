/* lend_bench.c -- what a rank, which is a thread here, is sent for a gradient over a batch of dense records that are
 * shared out: bytes without the words of agreement, beside those of a gradient of all records.  They are counted, so
 * that the machine does not matter.  At most 1.1 times as many are wanted of batches that have as many chunks. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "fake_ranks.h"
#include "objective/passes/objective.h"
#include "random/sample.h"

#define N       100000
#define P       100
#define LIMIT   1.1
#define AGREES  64 /* bytes of a rank's words and less: agreement, tallies */
#define BATCHES 6

static const size_t sizes[BATCHES] = { 100, 1000, 5000, 20000, 64000, 0 }; /* 0: all records, no batch */

typedef struct world {
    const pn_dataset *whole;
    pn_loss *loss;
    size_t *rows[BATCHES];
    size_t bytes; /* that rank 0 got */
} world;

static world the;
static pn_ranks_ops counting;

static void must(pn_status status, const pn_err *err)
{
    if (status != PN_OK) {
        fprintf(stderr, "lend_bench: %s\n", err->message);
        exit(1);
    }
}

/* ---- counting ---- */

static int count_gather(void *self, void *data, const size_t *offsets)
{
    size_t size = fake_size_of(self), rank = fake_rank_of(self);
    size_t others = offsets[size] - (offsets[rank + 1] - offsets[rank]);

    if (rank == 0 && others > AGREES * size)
        the.bytes += others;
    return fake_gather_all(self, data, offsets);
}

static int count_broadcast(void *self, void *data, size_t bytes)
{
    if (fake_rank_of(self) == 0)
        the.bytes += bytes; /* what the others get of it */
    return fake_broadcast(self, data, bytes);
}

/* ---- a world ---- */

static void *be_rank(void *context)
{
    fake_start *start = context;
    pn_objective_parts parts = { .loss = the.loss };
    double theta[P] = { 0.1 }, out[P];
    pn_objective *objective = NULL;
    pn_dataset *data = NULL;
    size_t begin, end, *answers = start->argument;
    pn_err err;

    must(pn_ranks_new(&parts.ranks, &counting, &start->self, &err), &err);
    pn_objective_hold(the.whole, parts.ranks, &begin, &end);
    must(pn_dataset_hold(&data, the.whole, begin, end, &err), &err);
    parts.data = data;
    must(pn_objective_new(&objective, &parts, &err), &err);
    for (size_t i = 0; i < BATCHES; i++) {
        const pn_batch batch = { the.rows[i], sizes[i], 1.0 };
        size_t before = the.bytes;

        must(pn_objective_losses(objective, sizes[i] ? &batch : NULL, theta, NULL, out, NULL, &err), &err);
        if (start->self.rank == 0)
            answers[i] = the.bytes - before;
    }
    pn_objective_free(objective);
    pn_ranks_free(parts.ranks);
    pn_dataset_free(data);
    return NULL;
}

static void run_ranks(size_t size, size_t *answers)
{
    pthread_t threads[FAKE_MOST];
    fake_start starts[FAKE_MOST];
    fake_world ranks = { .size = size };

    pthread_barrier_init(&ranks.barrier, NULL, (unsigned)size);
    for (size_t r = 0; r < size; r++) {
        starts[r] = (fake_start){ { &ranks, r }, NULL, answers };
        if (pthread_create(&threads[r], NULL, be_rank, &starts[r]) != 0)
            abort();
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&ranks.barrier);
}

static void open_world(void)
{
    pn_rng *rng = NULL;
    pn_arg args[8] = { { .given = false } };
    pn_synthetic_options how = { .n = N, .p = P, .sparsity = 5, .seed = 1 };
    pn_dataset *data = NULL;
    pn_err err;

    must(pn_dataset_synthetic_logistic(&data, &how, NULL, &err), &err);
    must(pn_loss_from_args(&the.loss, "logistic", args, &err), &err);
    must(pn_rng_seeded(&rng, 2, &err), &err);
    for (size_t i = 0; i < BATCHES; i++) {
        the.rows[i] = pn_alloc(N, sizeof(size_t));
        if (sizes[i])
            must(pn_sample_without_replacement(rng, N, sizes[i], the.rows[i], &err), &err);
    }
    pn_rng_free(rng);
    the.whole = data;
    counting = fake_ops;
    counting.gather_all = count_gather;
    counting.broadcast = count_broadcast;
}

int main(void)
{
    int over = 0;

    open_world();
    printf("%8s %8s %12s %8s\n", "ranks", "batch", "bytes", "of all");
    for (size_t size = 2; size <= 8; size *= 2) {
        size_t answers[BATCHES];

        run_ranks(size, answers);
        for (size_t i = 0; i < BATCHES; i++) {
            double ratio = (double)answers[i] / (double)answers[BATCHES - 1];
            bool limited = sizes[i] == 64000;

            printf("%8zu %8zu %12zu %8.2f", size, sizes[i] ? sizes[i] : (size_t)N, answers[i], ratio);
            printf(limited ? "  (limit %.2f)%s\n" : "\n", LIMIT, ratio > LIMIT ? "  OVER" : "");
            over += limited && ratio > LIMIT;
        }
    }
    for (size_t i = 0; i < BATCHES; i++)
        pn_free(the.rows[i]);
    pn_loss_free(the.loss);
    pn_dataset_free((pn_dataset *)the.whole);
    return over > 0;
}
