/* expected_curvature_blocks.c -- what each block and each pair of blocks can add to |A z|^2: of intervals by their
 * lengths, of sets with vertices, listed or made of choices, by these where they are few, of others by the top
 * eigenvalue of their part and their diameter.
 * Depends on: expected_curvature_impl.h, geometry, numeric/lapack.h, BLAS.  Used by: expected_curvature.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/lapack.h"
#include "objective/measures/expected_curvature_impl.h"

#define MOST_VERTICES 45   /* of one block: their differences are as many as are kept of one */
#define MOST_SIGNS    10   /* of one block */
#define MOST_LISTED   1024 /* of one block: all pairs of them are compared */
#define MOST_EIGEN    1024 /* larger blocks: by row sums */

void pn_bent_blocks_clear(pn_bent_blocks *bent)
{
    for (size_t i = 0; bent->all && i < bent->blocks->count; i++)
        pn_free(bent->all[i].point);
    pn_free(bent->all);
    pn_free(bent->reach);
    pn_free(bent->hessian);
    memset(bent, 0, sizeof *bent);
}

double pn_bent_reach(const pn_bent_blocks *bent, size_t i, size_t j)
{
    return bent->reach ? bent->reach[i * bent->blocks->count + j] : fabs(bent->hessian[i * bent->dim + j]);
}

/* ---- extreme points of M_i - M_i, u and -u side by side ---- */

static pn_status no_room(size_t count, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "curvature: out of memory for %zu points", count);
}

/* Differences of few vertices. */
static pn_status list_differences(pn_differences *out, const pn_vertices *vertices, size_t dim, pn_err *err)
{
    size_t k = vertices->count, next = 0;

    out->count = k > 1 ? k * (k - 1) : 1;
    out->point = pn_calloc(out->count, dim * sizeof(double));
    if (!out->point)
        return no_room(out->count, err);
    for (size_t a = 0; a < k; a++) {
        for (size_t b = a + 1; b < k; b++, next += 2) {
            for (size_t j = 0; j < dim; j++) {
                out->point[next * dim + j] = vertices->point[a * dim + j] - vertices->point[b * dim + j];
                out->point[(next + 1) * dim + j] = -out->point[next * dim + j];
            }
        }
    }
    return PN_OK;
}

static pn_status list_box(pn_differences *out, const pn_set *set, pn_err *err)
{
    size_t dim = set->dim;
    double low[MOST_SIGNS], length[MOST_SIGNS];

    PN_TRY(pn_set_ends(low, length, set, err));
    for (size_t j = 0; j < dim; j++)
        length[j] -= low[j];
    out->count = (size_t)1 << dim;
    out->point = pn_alloc(out->count, dim * sizeof(double));
    if (!out->point)
        return no_room(out->count, err);
    for (size_t a = 0; a < out->count; a++) {
        size_t signs = a / 2; /* the last bit turns all: u and -u */

        for (size_t j = 0; j < dim; j++)
            out->point[a * dim + j] = ((signs >> j & 1u) != 0) == ((a & 1u) != 0) ? length[j] : -length[j];
    }
    return PN_OK;
}

static bool is_small_box(const pn_set *set)
{
    return (pn_set_is_intervals(set) || (set->dim == 1 && set->ops->support && pn_set_is_bounded(set))) &&
           set->dim <= MOST_SIGNS;
}

/* ---- one block ---- */

/* The top eigenvalue of the block's part, or a bound. */
static pn_status top_eigenvalue(double *top, const pn_bent_blocks *bent, size_t i, pn_err *err)
{
    size_t begin = bent->blocks->first[i], d = bent->blocks->first[i + 1] - begin;
    const double *part = bent->hessian + begin * bent->dim + begin;
    double *copy, *values;
    pn_status status;

    *top = 0.0;
    for (size_t r = 0; r < d; r++)
        *top = fmax(*top, cblas_dasum((int)d, part + r * bent->dim, 1));
    if (d > MOST_EIGEN)
        return PN_OK;
    copy = pn_alloc(d, d * sizeof *copy);
    values = pn_alloc(d, sizeof *values);
    if (!copy || !values) {
        pn_free(copy);
        pn_free(values);
        return no_room(d, err);
    }
    for (size_t r = 0; r < d; r++)
        memcpy(copy + r * d, part + r * bent->dim, d * sizeof *copy);
    status = pn_eigen_symmetric(values, copy, (pn_mat){ copy, d, d }, err);
    if (status == PN_OK)
        *top = fmin(*top, fmax(values[d - 1], 0.0) + 1e-13 * (double)d * *top);
    pn_free(copy);
    pn_free(values);
    return status;
}

/* The largest u^T H_ii u of the points, through `half` [dim of the block]. */
static double largest_of_points(const pn_bent_blocks *bent, size_t i, double *half)
{
    size_t begin = bent->blocks->first[i], d = bent->blocks->first[i + 1] - begin;
    double largest = 0.0;

    for (size_t a = 0; a < bent->all[i].count; a += 2) {
        const double *u = bent->all[i].point + a * d;

        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)d, (int)d, 1.0, bent->hessian + begin * bent->dim + begin,
                    (int)bent->dim, u, 1, 0.0, half, 1);
        largest = fmax(largest, cblas_ddot((int)d, half, 1, u, 1));
    }
    return largest;
}

/* What is not made of vertices, or of too many: lambda_max |z|^2. */
static pn_status measure_by_size(pn_bent_blocks *bent, size_t i, double *reach, pn_err *err)
{
    double diameter = bent->blocks->diameter[i];
    pn_status status = top_eigenvalue(reach, bent, i, err);

    bent->sharp = false;
    *reach = *reach == 0.0 ? 0.0 : *reach * diameter * diameter;
    return status;
}

/* Extreme points of few vertices stay, for combinations with those of other blocks. */
static pn_status measure_block(pn_bent_blocks *bent, size_t i, double *half, double *reach, pn_err *err)
{
    const pn_set *set = bent->blocks->set[i];
    const double *part = bent->hessian + bent->blocks->first[i] * (bent->dim + 1);
    pn_vertices vertices = { NULL, 0 };
    pn_status status =
        is_small_box(set) ? list_box(&bent->all[i], set, err) : pn_vertices_list(&vertices, set, MOST_LISTED, err);

    if (status == PN_OK && vertices.count > 0 && vertices.count <= MOST_VERTICES)
        status = list_differences(&bent->all[i], &vertices, set->dim, err);
    if (status == PN_OK && bent->all[i].point)
        *reach = largest_of_points(bent, i, half);
    else if (status == PN_OK && vertices.count > 0)
        status = pn_vertices_spread(reach, &vertices, part, set->dim, bent->dim, err);
    else if (status == PN_OK)
        status = measure_by_size(bent, i, reach, err);
    pn_vertices_clear(&vertices);
    return status;
}

/* ---- pairs ---- */

/* The largest <u, H_ij v> of the points of two blocks, row by row; `half` [dim of block j]. */
static double largest_of_pairs(const pn_bent_blocks *bent, size_t i, size_t j, double *half)
{
    const size_t *first = bent->blocks->first;
    size_t left = first[i + 1] - first[i], right = first[j + 1] - first[j];
    double largest = 0.0;

    for (size_t a = 0; a < bent->all[i].count; a += 2) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)left, (int)right, 1.0,
                    bent->hessian + first[i] * bent->dim + first[j], (int)bent->dim, bent->all[i].point + a * left, 1,
                    0.0, half, 1);
        for (size_t b = 0; b < bent->all[j].count; b += 2)
            largest = fmax(largest, fabs(cblas_ddot((int)right, half, 1, bent->all[j].point + b * right, 1)));
    }
    return largest;
}

static pn_status measure_pairs(pn_bent_blocks *bent, double *half, pn_task *task, pn_err *err)
{
    size_t count = bent->blocks->count;

    for (size_t i = 0; i < count; i++) {
        PN_TRY(pn_task_report(task, "curvature", (double)i, (double)count, err));
        for (size_t j = i + 1; j < count; j++) {
            double by_size = sqrt(bent->reach[i * count + i]) * sqrt(bent->reach[j * count + j]);

            if (bent->all[i].point && bent->all[j].point)
                by_size = fmin(by_size, largest_of_pairs(bent, i, j, half));
            bent->reach[i * count + j] = bent->reach[j * count + i] = by_size;
        }
    }
    return PN_OK;
}

static void scale_intervals(pn_bent_blocks *bent)
{
    const pn_blocks *blocks = bent->blocks;

    for (size_t i = 0; i < bent->dim; i++) {
        for (size_t j = 0; j < bent->dim; j++)
            bent->hessian[i * bent->dim + j] *= (blocks->high[i] - blocks->low[i]) * (blocks->high[j] - blocks->low[j]);
    }
}

static pn_status measure(pn_bent_blocks *bent, pn_task *task, pn_err *err)
{
    size_t count = bent->blocks->count;
    double *half = pn_alloc(bent->dim, sizeof *half);
    pn_status status = PN_OK;
    size_t points = 0;

    bent->reach = pn_calloc(count, count * sizeof *bent->reach);
    bent->all = pn_calloc(count, sizeof *bent->all);
    if (!half || !bent->reach || !bent->all)
        status = no_room(count, err);
    for (size_t i = 0; status == PN_OK && i < count; i++) {
        status = measure_block(bent, i, half, &bent->reach[i * count + i], err);
        points += bent->all[i].count;
        if (points > PN_CURVATURE_VERTICES) { /* too many to go through in pairs */
            pn_free(bent->all[i].point);
            bent->all[i].point = NULL;
        }
    }
    if (status == PN_OK)
        status = measure_pairs(bent, half, task, err);
    pn_free(half);
    return status;
}

pn_status pn_bent_blocks_init(pn_bent_blocks *out, const pn_blocks *blocks, double *hessian, pn_task *task, pn_err *err)
{
    pn_bent_blocks bent = { .blocks = blocks, .dim = blocks->first[blocks->count], .hessian = hessian, .sharp = true };
    pn_status status = PN_OK;

    memset(out, 0, sizeof *out);
    if (blocks->low)
        scale_intervals(&bent);
    else
        status = measure(&bent, task, err);
    if (status != PN_OK)
        pn_bent_blocks_clear(&bent);
    else
        *out = bent;
    return status;
}
