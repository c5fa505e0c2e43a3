/* data_threads_test.c -- what data sets of different threads share behind their backs: where their records came from,
 * the list of blocks that lie on a disk, and the choice of kernels, which whoever is first makes for all.  Each thread
 * has data of its own, as headers ask; ThreadSanitizer sees whether that is enough.
 * Depends on: check.h, data/dataset.h, core/vault.h, numeric/simd/simd.h, POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"
#include "core/vault.h"
#include "data/dataset.h"
#include "numeric/simd/simd.h"

#define THREADS 4
#define N       50
#define P       3
#define TURNS   40

typedef struct owner {
    pn_dataset *data; /* the thread's, of the same records as the others' */
    pthread_t thread;
    const pn_simd *kernels;
    size_t wrong;
} owner;

static pthread_barrier_t together;

/* A part of one's own data lives and goes, and a block on the disk beside those of the others. */
static bool turn(const owner *self, size_t number)
{
    const size_t rows[] = { number % N, (number + 7) % N };
    pn_dataset *part = NULL;
    double *block = pn_vault_alloc(N, sizeof *block);
    bool fine = block && pn_dataset_subset(&part, self->data, rows, 2, NULL) == PN_OK;

    for (size_t j = 0; block && j < N; j++)
        block[j] = (double)number;
    fine = fine && part->dense[0] == self->data->dense[rows[0] * P];
    for (size_t j = 0; block && j < N; j++)
        fine = fine && block[j] == (double)number;
    pn_dataset_free(part);
    pn_vault_free(block);
    return fine;
}

static void *live(void *argument)
{
    owner *self = argument;

    (void)pthread_barrier_wait(&together);
    self->kernels = pn_simd_best();
    (void)pn_vault_place("/tmp");
    for (size_t number = 0; number < TURNS; number++)
        self->wrong += !turn(self, number);
    (void)pn_vault_place(NULL);
    pn_dataset_free(self->data);
    return NULL;
}

static pn_dataset *records(void)
{
    static double x[N * P], y[N];
    pn_dataset *data = NULL;

    for (size_t k = 0; k < N * P; k++)
        x[k] = (double)k;
    CHECK(pn_dataset_from_dense(&data, x, N, P, y, "shared", NULL) == PN_OK);
    return data;
}

int main(void)
{
    owner all[THREADS] = { { .wrong = 0 } };
    pn_dataset *data = records();

    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pn_dataset_with_labels(&all[i].data, data, data->y, N, NULL) == PN_OK);
    pn_dataset_free(data);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&all[i].thread, NULL, live, &all[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(all[i].thread, NULL) == 0);
        CHECK(all[i].wrong == 0);
        CHECK(all[i].kernels == pn_simd_best());
    }
    (void)pthread_barrier_destroy(&together);
    return check_summary();
}
