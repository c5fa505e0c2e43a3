/* expected_curvature_corners.c -- the largest value of a convex quadratic form over all combinations of extreme points:
 * signs by a Gray code, one column a step, other points by depth-first search, one row a node.
 * Depends on: expected_curvature_impl.h, BLAS.  Used by: expected_curvature.c, expected_curvature_blocks.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/measures/expected_curvature_impl.h"

#define MOST_COMBINATIONS 1048576.0 /* 2^20 */
#define LOOK_MASK         0xffffu   /* of nodes: how often to look for a cancel */

/* ---- signs ---- */

static double quadratic_form(const double *Q, size_t d, const double *s)
{
    double value = 0.0;

    for (size_t i = 0; i < d; i++)
        value += s[i] * cblas_ddot((int)d, Q + i * d, 1, s, 1);
    return value;
}

/* s_k <- -s_k: the form changes by -4 s_k (Q s)_k + 4 Q_kk. */
static double flip(const double *Q, size_t d, size_t k, double *s, double *product)
{
    double change = 4.0 * (Q[k * d + k] - s[k] * product[k]);

    cblas_daxpy((int)d, -2.0 * s[k], Q + k * d, 1, product, 1);
    s[k] = -s[k];
    return change;
}

static size_t lowest_bit(size_t n)
{
    size_t k = 0;

    while (!(n & 1u)) {
        n >>= 1;
        k++;
    }
    return k;
}

/* The last sign stays: s and -s have the same value. */
pn_status pn_largest_corner(const double *Q, size_t d, double *value, pn_task *task, pn_err *err)
{
    double s[32] = { 0.0 }, best[32], product[32], now, largest;

    for (size_t i = 0; i < d; i++) {
        s[i] = 1.0;
        product[i] = 0.0;
        for (size_t j = 0; j < d; j++)
            product[i] += Q[i * d + j];
    }
    memcpy(best, s, sizeof best);
    largest = now = quadratic_form(Q, d, s);
    for (size_t step = 1; step < (size_t)1 << (d - 1); step++) {
        now += flip(Q, d, lowest_bit(step), s, product);
        if (now > largest) {
            largest = now;
            memcpy(best, s, sizeof best);
        }
        if ((step & LOOK_MASK) == 0) {
            PN_TRY(pn_task_report(task, "curvature", (double)step, (double)((size_t)1 << (d - 1)), err));
        }
    }
    *value = quadratic_form(Q, d, best); /* without the rounding of the steps to it */
    return PN_OK;
}

static pn_status corners(const pn_bent_blocks *bent, const pn_block_sampling *sampling, double *value, pn_task *task,
                         pn_err *err)
{
    size_t d = bent->dim;
    double Q[PN_CURVATURE_CORNERS * PN_CURVATURE_CORNERS];

    for (size_t k = 0; k < d * d; k++)
        Q[k] = bent->hessian[k] * sampling->ops->pair(sampling, k / d, k % d);
    return pn_largest_corner(Q, d, value, task, err);
}

/* ---- lists of points ---- */

bool pn_bent_enumerable(const pn_bent_blocks *bent)
{
    double combinations = 0.5;
    size_t points = 0;

    if (!bent->all)
        return bent->blocks->count <= PN_CURVATURE_CORNERS;
    for (size_t i = 0; i < bent->blocks->count; i++) {
        if (!bent->all[i].point)
            return false;
        combinations *= (double)bent->all[i].count;
        points += bent->all[i].count;
        if (combinations > MOST_COMBINATIONS || points > PN_CURVATURE_VERTICES)
            return false;
    }
    return true;
}

typedef struct search {
    size_t blocks, points;
    size_t *first;    /* [blocks + 1] point numbers */
    size_t *choice;   /* [blocks] */
    double *products; /* [points * points]: P_ij <A u, A v> */
    double largest;
    size_t nodes;
    pn_task *task;
    pn_err *err;
} search;

static void search_clear(search *at)
{
    pn_free(at->first);
    pn_free(at->choice);
    pn_free(at->products);
}

/* products of the points of blocks i and j, through `half` [points of i][dim of j]. */
static void multiply(search *at, const pn_bent_blocks *bent, size_t i, size_t j, double pair, double *half)
{
    const pn_differences *a = &bent->all[i], *b = &bent->all[j];
    const size_t *first = bent->blocks->first;
    int rows = (int)a->count, cols = (int)b->count, left = (int)(first[i + 1] - first[i]),
        right = (int)(first[j + 1] - first[j]);

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, right, left, pair, a->point, left,
                bent->hessian + first[i] * bent->dim + first[j], (int)bent->dim, 0.0, half, right);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, right, 1.0, half, right, b->point, right, 0.0,
                at->products + at->first[i] * at->points + at->first[j], (int)at->points);
}

static pn_status search_init(search *at, const pn_bent_blocks *bent, const pn_block_sampling *sampling, pn_err *err)
{
    double *half;

    at->blocks = bent->blocks->count;
    at->first = pn_calloc(at->blocks + 1, sizeof *at->first);
    at->choice = pn_calloc(at->blocks, sizeof *at->choice);
    PN_TRY(pn_made(at->first && at->choice, err, "curvature: out of memory for %zu blocks", at->blocks));
    for (size_t i = 0; i < at->blocks; i++)
        at->first[i + 1] = at->first[i] + bent->all[i].count;
    at->points = at->first[at->blocks];
    at->products = pn_alloc(at->points, at->points * sizeof(double));
    half = pn_alloc(at->points, bent->dim * sizeof(double));
    if (!at->products || !half) {
        pn_free(half);
        return pn_fail(err, PN_ENOMEM, "curvature: out of memory for %zu vertices", at->points);
    }
    for (size_t i = 0; i < at->blocks; i++) {
        for (size_t j = 0; j < at->blocks; j++)
            multiply(at, bent, i, j, sampling->ops->pair(sampling, i, j), half);
    }
    pn_free(half);
    return PN_OK;
}

/* Block i and those after it, the earlier ones fixed with value `so_far`. */
static pn_status descend(search *at, size_t i, double so_far)
{
    /* Of the first block one of u and -u is enough: lists have them side by side. */
    size_t stride = i == 0 && at->first[1] > 1 ? 2 : 1;

    if (i == at->blocks) {
        at->largest = fmax(at->largest, so_far);
        return PN_OK;
    }
    if ((++at->nodes & LOOK_MASK) == 0) {
        PN_TRY(pn_task_report(at->task, "curvature", (double)at->nodes, INFINITY, at->err));
    }
    for (size_t a = at->first[i]; a < at->first[i + 1]; a += stride) {
        const double *row = at->products + a * at->points;
        double along = 0.0;
        pn_status status;

        for (size_t j = 0; j < i; j++)
            along += row[at->choice[j]];
        at->choice[i] = a;
        status = descend(at, i + 1, so_far + row[a] + 2.0 * along);
        if (status != PN_OK)
            return status;
    }
    return PN_OK;
}

pn_status pn_bent_largest(const pn_bent_blocks *bent, const pn_block_sampling *sampling, double *value, pn_task *task,
                          pn_err *err)
{
    search at = { .task = task, .err = err };
    pn_status status;

    if (!bent->all)
        return corners(bent, sampling, value, task, err);
    status = search_init(&at, bent, sampling, err);
    if (status == PN_OK)
        status = descend(&at, 0, 0.0);
    if (status == PN_OK)
        *value = at.largest;
    search_clear(&at);
    return status;
}
