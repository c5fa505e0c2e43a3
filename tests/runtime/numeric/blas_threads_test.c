/* blas_threads_test.c -- small decompositions use one thread of OpenBLAS, and a host's setting is back afterwards.
 * Depends on: numeric/blas_threads.h, numeric/lapack.h, check.h. */
#include <string.h>

#include "check.h"
#include "core/task.h"
#include "numeric/blas_threads.h"
#include "numeric/lapack.h"

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static void test_nesting(void)
{
    bool outer, inner, large;

    openblas_set_num_threads(2);
    large = pn_blas_alone(5000);
    CHECK(!large && openblas_get_num_threads() == 2);
    pn_blas_alone_end(large);
    outer = pn_blas_alone(10);
    CHECK(outer && openblas_get_num_threads() == 1);
    inner = pn_blas_alone(20);
    CHECK(inner && openblas_get_num_threads() == 1);
    pn_blas_alone_end(inner);
    CHECK(openblas_get_num_threads() == 1);
    pn_blas_alone_end(outer);
    CHECK(openblas_get_num_threads() == 2);
}

static void decompose(void *self, size_t block, unsigned worker)
{
    double A[64], U[64], s[8], Vt[64];

    (void)self;
    (void)worker;
    for (size_t i = 0; i < 64; i++)
        A[i] = (double)((i * 7 + block) % 13) - 6.0;
    CHECK(pn_svd(U, s, Vt, (pn_mat){ A, 8, 8 }, NULL) == PN_OK);
}

static void test_threads(void)
{
    pn_task *task = NULL;

    openblas_set_num_threads(2);
    CHECK(pn_task_new(&task, 4, NULL) == PN_OK);
    CHECK(pn_parallel(task, 500, decompose, NULL, NULL) == PN_OK);
    CHECK(openblas_get_num_threads() == 2);
    pn_task_free(task);
}

int main(void)
{
    if (openblas_set_num_threads && openblas_get_num_threads) {
        test_nesting();
        test_threads();
    }
    CHECK(pn_blas_alone(0) || !openblas_set_num_threads);
    return check_summary();
}
