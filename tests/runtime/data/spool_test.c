/* store_test.c -- the compact record store gives back what went in, dense and sparse.  Depends on: check.h. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/spool.h"

#include "check.h"

/* Values of every stored width, and the borders between them. */
static const double values[] = { 1.0,           -1.0,    2.0,    127.0,   128.0,   -128.0,       -129.0,
                                 32767.0,       32768.0, -32768, -32769., 65536.0, 2147483647.0, -2147483648.,
                                 2147483648.0,  -3e9,    0.5,    -0.1,    1e300,   4.9e-324,     0.0,
                                 -2147483649.0, 3.5,     1e15,   1e-310 };
#define VALUES (sizeof values / sizeof values[0])

static uint64_t state = 42;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* n records of p columns, about 1 entry in `rarity`; `want` is the dense matrix. */
static bool fill(pn_spool *store, double *want, double *labels, size_t n, size_t p, size_t rarity)
{
    memset(want, 0, n * p * sizeof *want);
    for (size_t i = 0; i < n; i++) {
        labels[i] = values[below(VALUES)];
        if (!pn_spool_label(store, labels[i]))
            return false;
        for (size_t j = 0; j < p; j++) {
            if (below(rarity) != 0)
                continue;
            want[i * p + j] = values[below(VALUES)];
            if (!pn_spool_entry(store, (uint32_t)(j + 1), want[i * p + j]))
                return false;
        }
    }
    return true;
}

static bool same_sparse(const pn_csr *csr, const double *want, size_t p)
{
    size_t k = 0;

    for (size_t i = 0; i < csr->rows; i++) {
        if (csr->start[i] != k)
            return false;
        for (size_t j = 0; j < p; j++) {
            if (want[i * p + j] == 0.0)
                continue;
            if (csr->column[k] != j || csr->value[k] != want[i * p + j])
                return false;
            k++;
        }
    }
    return csr->start[csr->rows] == k;
}

/* The shape decides what is tried: many chunks, records longer than a chunk, steps wider than a tag holds. */
static void round_trip(size_t n, size_t p, size_t rarity, pn_storage storage, bool sparse)
{
    double *want = malloc(n * p * sizeof *want), *labels = malloc(n * sizeof *labels);
    pn_spool store = { 0 };
    pn_dataset *data = NULL;
    pn_err err;

    if (CHECK(want && labels) && CHECK(fill(&store, want, labels, n, p, rarity)) &&
        CHECK(pn_spool_finish(&data, &store, p, storage, NULL, "round trip", &err) == PN_OK)) {
        CHECK(store.last == NULL);
        CHECK(data->n == n && data->p == p && data->sparse == sparse);
        CHECK(memcmp(data->y, labels, n * sizeof *labels) == 0);
        if (sparse)
            CHECK(same_sparse(&data->csr, want, p));
        else
            CHECK(memcmp(data->dense, want, n * p * sizeof *want) == 0);
    }
    pn_dataset_free(data);
    free(want);
    free(labels);
}

/* Blocks given out by the allocator: the most that were there at one time, in bytes. */
static size_t held, most_held;

static void *count_allocate(void *self, size_t bytes)
{
    size_t *block = malloc(bytes + 16);

    (void)self;
    if (!block)
        return NULL;
    block[0] = bytes;
    held += bytes;
    most_held = held > most_held ? held : most_held;
    return block + 2;
}

static void count_release(void *self, void *pointer)
{
    size_t *block = (size_t *)pointer - 2;

    (void)self;
    held -= block[0];
    free(block);
}

static void *count_resize(void *self, void *pointer, size_t bytes)
{
    void *larger = count_allocate(self, bytes);
    size_t old = pointer ? ((size_t *)pointer)[-2] : 0;

    if (larger && pointer) {
        memcpy(larger, pointer, old < bytes ? old : bytes);
        count_release(self, pointer);
    }
    return larger;
}

/* What is kept before the matrix is there must be at most 1.3 times the matrix, even for full rows of long numbers: tag
 * and value take 9 bytes against the 8 of a matrix entry. */
static void stays_small_before_the_matrix_is_made(void)
{
    static const pn_allocator counting = { count_allocate, count_resize, count_release, NULL };
    size_t n = 200000, p = 20;
    pn_spool store = { 0 };
    bool kept = true;

    pn_allocator_set(&counting);
    for (size_t i = 0; i < n; i++) {
        kept = kept && pn_spool_label(&store, 0.1);
        for (size_t j = 1; j <= p; j++)
            kept = kept && pn_spool_entry(&store, (uint32_t)j, 0.1 * (double)j);
    }
    CHECK(kept);
    CHECK((double)most_held < 1.3 * (double)(n * p * sizeof(double)));
    pn_spool_clear(&store);
    pn_allocator_set(NULL);
    CHECK(held == 0);
}

int main(void)
{
    round_trip(1, 1, 1, PN_STORAGE_AUTO, false);
    round_trip(5000, 40, 1, PN_STORAGE_AUTO, false);
    round_trip(5000, 40, 3, PN_STORAGE_SPARSE, true);
    round_trip(3000, 700, 40, PN_STORAGE_AUTO, true);
    round_trip(3000, 700, 40, PN_STORAGE_DENSE, false);
    round_trip(3, 300000, 1, PN_STORAGE_AUTO, false);
    round_trip(3, 300000, 1, PN_STORAGE_SPARSE, true);
    round_trip(2000, 10, 1000000, PN_STORAGE_AUTO, true); /* rows without entries */
    round_trip(2000, 10, 1000000, PN_STORAGE_DENSE, false);
    stays_small_before_the_matrix_is_made();
    return check_summary();
}
