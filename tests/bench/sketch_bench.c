/* sketch_bench.c -- sketches of columns against what the same numbers cost without a sketch: the product with a kept
 * gaussian J at 70 % of a matrix product's rate at least, a sparse one faster than that product,
 * J^T q like one reading of J.  One thread each.
 * Depends on: federated/sketch/sketch.h, numeric, CBLAS, bench.h.  Run with `make bench`. */
#include <cblas.h>

#include "bench/bench.h"
#include "federated/sketch/sketch.h"
#include "numeric/blas.h"
#include "numeric/blas_threads.h"
#include "numeric/simd/simd.h"
#include "random/rng.h"

typedef struct job {
    size_t m, n, c;
    pn_sketch *sketch;
    double *columns, *matrix, *out; /* [c][n], [n][m], [c][m] or [n] */
    double sink;
} job;

static void must(pn_status status)
{
    if (status != PN_OK)
        exit(1);
}

static void sketch_columns(void *self)
{
    job *it = self;

    must(pn_sketch_columns(it->sketch, it->columns, it->c, it->out, NULL, NULL));
}

static void matrix_product(void *self)
{
    job *it = self;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)it->c, (blasint)it->m, (blasint)it->n, 1.0,
                it->columns, (blasint)it->n, it->matrix, (blasint)it->m, 0.0, it->out, (blasint)it->m);
}

static void transpose(void *self)
{
    job *it = self;

    must(pn_sketch_transpose(it->sketch, it->columns, it->out, NULL, NULL));
}

/* A dot product of J with itself reads it once. */
static void read_once(void *self)
{
    job *it = self;

    it->sink += pn_dot(it->m * it->n, it->matrix, it->matrix);
}

static void vector_product(void *self)
{
    job *it = self;

    pn_simd_best()->dense_times(it->matrix, it->n, it->m, it->columns, it->out);
}

static void make(void *self)
{
    job *it = self;
    pn_sketch_shape shape = *pn_sketch_shape_of(it->sketch);

    pn_sketch_free(it->sketch);
    must(pn_sketch_new(&it->sketch, &shape, NULL, NULL));
}

static void draw(void *self)
{
    job *it = self;
    pn_rng *rng = NULL;

    must(pn_rng_seeded(&rng, 1, NULL));
    pn_rng_normals(rng, it->m * it->n, it->matrix);
    pn_rng_free(rng);
}

static double *numbers(size_t n)
{
    double *x = malloc(n * sizeof *x);

    if (!x)
        exit(1);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)((i * 2654435761u) % 1000) * 1e-3 - 0.5;
    return x;
}

static job job_of(pn_sketch_kind kind, size_t m, size_t n, size_t c)
{
    pn_sketch_shape shape = { kind, m, n, 1 };
    job it = { .m = m, .n = n, .c = c };

    must(pn_sketch_new(&it.sketch, &shape, NULL, NULL));
    it.columns = numbers(c * n > m ? c * n : m);
    it.matrix = numbers(m * n);
    it.out = numbers(c * m > n ? c * m : n);
    return it;
}

static void job_clear(job *it)
{
    pn_sketch_free(it->sketch);
    free(it->columns);
    free(it->matrix);
    free(it->out);
}

static int compare(const char *name, pn_sketch_kind kind, size_t m, size_t n, size_t c, double limit)
{
    job it = job_of(kind, m, n, c);
    int over = bench_line_busy(name, sketch_columns, &it, c > 1 ? matrix_product : read_once, &it, 7, limit);

    job_clear(&it);
    return over;
}

static int compare_others(void)
{
    job it = job_of(PN_SKETCH_GAUSSIAN, 256, 100000, 1);
    int over = bench_line_busy("J^T q, 256 x 1e5 / reading J", transpose, &it, read_once, &it, 7, 1.75);

    over += bench_line_busy("J^T q, 256 x 1e5 / dense_times", transpose, &it, vector_product, &it, 7, 0.0);
    over += bench_line_busy("making J, 256 x 1e5 / polar normals", make, &it, draw, &it, 3, 1.0);
    job_clear(&it);
    return over;
}

int main(void)
{
    const pn_sketch_kind gaussian = PN_SKETCH_GAUSSIAN, sparse = PN_SKETCH_SPARSE;
    bool alone = pn_blas_alone(0);
    int over = 0;

    over += compare("gaussian 64 x 1e5, 128 columns / dgemm", gaussian, 64, 100000, 128, 1.0 / 0.7);
    over += compare("gaussian 512 x 2e4, 256 columns / dgemm", gaussian, 512, 20000, 256, 1.0 / 0.7);
    over += compare("gaussian 2048 x 1e4, 256 columns / dgemm", gaussian, 2048, 10000, 256, 1.0 / 0.7);
    (void)compare("gaussian 512 x 1e5, made again, 256 / dgemm", gaussian, 512, 100000, 256, 0.0);
    over += compare("gaussian 64 x 1e5, 1 column / reading J", gaussian, 64, 100000, 1, 0.0);
    over += compare("sparse 64 x 1e5, 128 columns / dgemm", sparse, 64, 100000, 128, 1.0);
    over += compare("sparse 512 x 2e4, 256 columns / dgemm", sparse, 512, 20000, 256, 1.0);
    over += compare("sparse 64 x 1e5, 1 column / reading J", sparse, 64, 100000, 1, 0.0);
    over += compare_others();
    pn_blas_alone_end(alone);
    return over > 0;
}
