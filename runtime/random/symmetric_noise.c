/* symmetric_noise.c -- see symmetric_noise.h.  Depends on: symmetric_noise.h, address.h, rng.h, numeric/blas.h.
 * Used by: solvers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/symmetric.h"
#include "random/symmetric_noise.h"

/* first word of all addresses here: nothing else under the same key begins with it */
#define SPACE   0x73796d6d65747279u
#define NUMBERS 8192 /* in a block, about, at most: part of what E is */
#define WAVE    16   /* blocks that are drawn before they are used; changes no bit */

/* Block b is columns b * columns, ..., each from the top to the diagonal. */
typedef struct layout {
    size_t n, columns, blocks;
} layout;

static pn_status check(const pn_symmetric_noise *self, layout *plan, pn_err *err)
{
    if (!self->key.simulated)
        return pn_fail(err, PN_EPRIVACY,
                       "symmetric noise: the key must come from a seeded generator: these numbers protect nobody");
    if (pn_packed_size(self->n) == 0)
        return pn_fail(err, PN_EDIM, "symmetric noise: no packed matrix has order %zu", self->n);
    plan->n = self->n;
    plan->columns = self->n < NUMBERS ? NUMBERS / self->n : 1;
    plan->blocks = (self->n - 1) / plan->columns + 1;
    return PN_OK;
}

static size_t first_column(const layout *plan, size_t block)
{
    return block < plan->blocks ? block * plan->columns : plan->n;
}

/* All numbers of a block, into out[at most columns * n]. */
static void draw(const pn_symmetric_noise *self, const layout *plan, size_t block, pn_rng *rng, double *out)
{
    const uint64_t address[PN_ADDRESS_WORDS] = { SPACE, self->query, self->n, block };
    size_t begin = first_column(plan, block), end = first_column(plan, block + 1);
    size_t count = end * (end + 1) / 2 - begin * (begin + 1) / 2;

    pn_rng_address(rng, &self->key, address, count + 1);
    pn_rng_many_normals(rng, count, out);
    for (size_t j = begin; self->frobenius && j < end; j++) {
        for (size_t i = 0; i < j; i++)
            *out++ *= 0.70710678118654752440;
        out++;
    }
}

pn_status pn_symmetric_noise_fill(const pn_symmetric_noise *self, double *packed, pn_err *err)
{
    layout plan = { 0 };
    pn_rng *rng = NULL;
    pn_status status = check(self, &plan, err);

    if (status == PN_OK)
        status = pn_rng_for_key(&rng, &self->key, err);
    for (size_t block = 0; status == PN_OK && block < plan.blocks; block++) {
        size_t j = first_column(&plan, block);

        draw(self, &plan, block, rng, packed + j * (j + 1) / 2);
    }
    pn_rng_free(rng);
    return status;
}

/* ---- times ---- */

typedef struct wave {
    const pn_symmetric_noise *noise;
    layout plan;
    pn_rng **streams; /* [threads] */
    unsigned threads;
    size_t first, room; /* room: numbers of a block at most */
    double *numbers;    /* [WAVE * room] */
    double *sum;        /* [n] */
} wave;

static void draw_one(void *self, size_t block, unsigned worker)
{
    wave *at = self;

    draw(at->noise, &at->plan, at->first + block, at->streams[worker], at->numbers + block * at->room);
}

/* sum += E x, columns [begin, end) of the upper triangle and what stands opposite */
static void add_columns(const double *column, size_t begin, size_t end, const double *x, double *sum)
{
    for (size_t j = begin; j < end; j++) {
        sum[j] += pn_dot(j, column, x) + column[j] * x[j];
        pn_axpy(j, x[j], column, sum);
        column += j + 1;
    }
}

static void wave_clear(wave *at)
{
    for (unsigned i = 0; at->streams && i < at->threads; i++)
        pn_rng_free(at->streams[i]);
    pn_free(at->streams);
    pn_free(at->numbers);
    pn_free(at->sum);
}

static pn_status wave_init(wave *at, pn_task *task, pn_err *err)
{
    size_t room = at->plan.columns * at->plan.n, most = at->plan.blocks < WAVE ? at->plan.blocks : WAVE;
    pn_status status = PN_OK;

    at->room = room < pn_packed_size(at->plan.n) ? room : pn_packed_size(at->plan.n);
    at->threads = pn_task_threads(task);
    at->streams = pn_calloc(at->threads, sizeof(pn_rng *));
    at->numbers = pn_alloc(most * at->room, sizeof *at->numbers);
    at->sum = pn_calloc(at->plan.n, sizeof *at->sum);
    if (!at->streams || !at->numbers || !at->sum)
        status = pn_fail(err, PN_ENOMEM, "symmetric noise: out of memory");
    for (unsigned i = 0; status == PN_OK && i < at->threads; i++)
        status = pn_rng_for_key(&at->streams[i], &at->noise->key, err);
    return status;
}

pn_status pn_symmetric_noise_times(const pn_symmetric_noise *self, double scale, const double *x, double *y,
                                   pn_task *task, pn_err *err)
{
    wave at = { .noise = self };
    pn_status status;

    PN_TRY(check(self, &at.plan, err));
    status = wave_init(&at, task, err);
    for (; status == PN_OK && at.first < at.plan.blocks; at.first += WAVE) {
        size_t left = at.plan.blocks - at.first, count = left < WAVE ? left : WAVE;

        status = pn_parallel(task, count, draw_one, &at, err);
        for (size_t i = 0; status == PN_OK && i < count; i++)
            add_columns(at.numbers + i * at.room, first_column(&at.plan, at.first + i),
                        first_column(&at.plan, at.first + i + 1), x, at.sum);
    }
    if (status == PN_OK)
        pn_axpy(self->n, scale, at.sum, y);
    wave_clear(&at);
    return status;
}
