/* synthetic_matrices.c -- data whose truth is a matrix: clusters of several classes,
 * and signs that sense a matrix of low rank.
 * Depends on: dataset.h, build.h, synthetic.h, core, random.  Used by: bindings, tests, examples.
 *
 * Frames are made here and not by LAPACK, whose signs and last bits are the machine's: the same seed gives the same
 * data. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/synthetic.h"

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

static void add(double *x, double factor, const double *v, size_t n)
{
    for (size_t j = 0; j < n; j++)
        x[j] += factor * v[j];
}

static void draw_direction(pn_rng *rng, double *u, size_t dim)
{
    double norm;

    do {
        pn_rng_normals(rng, dim, u);
        norm = sqrt(dot(u, u, dim));
    } while (!(norm > 0.0));
    for (size_t j = 0; j < dim; j++)
        u[j] /= norm;
}

/* `count` <= dim orthonormal rows in random directions: Gram and Schmidt, twice for what rounding leaves.  Of thousands
 * that takes minutes, so `task` is asked before each. */
static pn_status draw_frame(pn_rng *rng, double *frame, size_t count, size_t dim, const pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t k = 0; k < count && (status = pn_task_stopped(task, "synthetic", err)) == PN_OK; k++) {
        double *u = frame + k * dim;

        draw_direction(rng, u, dim);
        for (unsigned pass = 0; pass < 2; pass++) {
            double norm;

            for (size_t i = 0; i < k; i++)
                add(u, -dot(u, frame + i * dim, dim), frame + i * dim, dim);
            norm = sqrt(dot(u, u, dim));
            for (size_t j = 0; j < dim; j++)
                u[j] /= norm;
        }
    }
    return status;
}

/* ---- classes ---- */

static pn_status check_classes(const pn_classification_options *of, pn_err *err)
{
    static const char owner[] = "synthetic.classification";
    size_t entries;

    if (of->n == 0 || of->p == 0 || of->classes < 2)
        return pn_fail(err, PN_EINVAL,
                       "%s: n and p must be at least 1 and classes at least 2, got n = %zu, p = %zu, classes = %zu",
                       owner, of->n, of->p, of->classes);
    PN_TRY(pn_size_product(&entries, owner, "classes x p", of->classes, of->p, err));
    if (!(of->separation > 0.0) || !isfinite(of->separation))
        return pn_fail(err, PN_EINVAL, "%s: separation must be a positive number, got %g", owner, of->separation);
    if (!(of->noise >= 0.0 && of->noise <= 1.0))
        return pn_fail(err, PN_EINVAL, "%s: noise must be a number from 0 to 1, got %g", owner, of->noise);
    return PN_OK;
}

/* mean[classes][p].  The columns of Helmert's contrasts are the vertices of a regular simplex with edges sqrt 2. */
static pn_status draw_means(pn_rng *rng, const pn_classification_options *of, double *mean, double *frame, pn_err *err)
{
    size_t K = of->classes, p = of->p;
    double edge = of->separation / sqrt(2.0), count = (double)K;
    pn_status status;

    memset(mean, 0, K * p * sizeof *mean);
    if (K > p + 1) {
        for (size_t k = 0; k < K; k++) {
            draw_direction(rng, frame, p);
            add(mean + k * p, edge * sqrt((count - 1.0) / count), frame, p);
        }
        return PN_OK;
    }
    status = draw_frame(rng, frame, K - 1, p, of->task, err);
    for (size_t j = 1; j < K && status == PN_OK; j++) {
        double size = edge / sqrt((double)j * (double)(j + 1));

        for (size_t k = 0; k < j; k++)
            add(mean + k * p, size, frame + (j - 1) * p, p);
        add(mean + j * p, -(double)j * size, frame + (j - 1) * p, p);
        status = pn_task_stopped(of->task, "synthetic", err);
    }
    return status;
}

static pn_status draw_clusters(pn_rng *rng, const pn_classification_options *of, const double *mean, pn_dataset *data,
                               pn_err *err)
{
    size_t K = of->classes;
    pn_status status = PN_OK;

    pn_rng_normals(rng, of->n * of->p, data->dense);
    for (size_t i = 0; status == PN_OK && i < of->n; i++) {
        size_t k = (size_t)pn_rng_below(rng, K);

        add(data->dense + i * of->p, 1.0, mean + k * of->p, of->p);
        if (pn_rng_uniform(rng) < of->noise)
            k = (k + 1 + (size_t)pn_rng_below(rng, K - 1)) % K;
        data->y[i] = (double)(k + 1);
        if (i % 1024 == 0)
            status = pn_task_report(of->task, "synthetic.classification", (double)i, (double)of->n, err);
    }
    return status;
}

pn_status pn_dataset_synthetic_classification(pn_dataset **out, const pn_classification_options *options, double *truth,
                                              pn_err *err)
{
    size_t K = options->classes, p = options->p;
    pn_dataset *data = NULL;
    pn_rng *rng = NULL;
    double *mean = NULL, *frame = NULL;
    pn_status status = check_classes(options, err);

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, options->seed, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, options->n, p, "synthetic classification", err);
    if (status != PN_OK)
        goto done;
    mean = pn_alloc(K * p, sizeof *mean);
    frame = pn_alloc(K * p, sizeof *frame);
    data->dense = pn_dataset_alloc_rows(options->n, p);
    if (!mean || !frame || !data->dense) {
        status = pn_fail(err, PN_ENOMEM, "synthetic.classification: %s for %zu x %zu numbers", pn_vault_lack(),
                         options->n, p);
        goto done;
    }
    status = draw_means(rng, options, mean, frame, err);
    if (status == PN_OK)
        status = draw_clusters(rng, options, mean, data, err);
    if (status != PN_OK)
        goto done;
    data->bounds.label_low = 1.0;
    data->bounds.label_high = (double)K;
    if (truth)
        memcpy(truth, mean, K * p * sizeof *truth);
    *out = data;
    data = NULL;

done:
    pn_dataset_free(data);
    pn_rng_free(rng);
    pn_free(mean);
    pn_free(frame);
    return status;
}

/* ---- a matrix of low rank ---- */

static pn_status check_low_rank(const pn_low_rank_options *of, pn_err *err)
{
    static const char owner[] = "synthetic.low_rank";
    size_t least = of->rows < of->cols ? of->rows : of->cols, entries;

    if (of->n == 0 || least == 0)
        return pn_fail(err, PN_EINVAL, "%s: n, rows and cols must be at least 1, got %zu, %zu and %zu", owner, of->n,
                       of->rows, of->cols);
    PN_TRY(pn_size_product(&entries, owner, "rows x cols", of->rows, of->cols, err));
    if (of->rank == 0 || of->rank > least)
        return pn_fail(err, PN_EINVAL, "%s: rank must be from 1 to %zu, the smaller of rows and cols, got %zu", owner,
                       least, of->rank);
    if (!(of->noise >= 0.0) || !isfinite(of->noise))
        return pn_fail(err, PN_EINVAL, "%s: noise must be a number >= 0, got %g", owner, of->noise);
    if (!(of->signal >= 0.0) || !isfinite(of->signal))
        return pn_fail(err, PN_EINVAL, "%s: signal must be a number >= 0, got %g", owner, of->signal);
    return PN_OK;
}

/* M[rows][cols] of `rank` singular values signal/rank; left[rank][rows] and right[rank][cols] are scratch. */
static pn_status draw_matrix(pn_rng *rng, const pn_low_rank_options *of, double *M, double *left, double *right,
                             pn_err *err)
{
    double size = of->signal / (double)of->rank;
    pn_status status = draw_frame(rng, left, of->rank, of->rows, of->task, err);

    if (status == PN_OK)
        status = draw_frame(rng, right, of->rank, of->cols, of->task, err);
    memset(M, 0, of->rows * of->cols * sizeof *M);
    for (size_t k = 0; k < of->rank && status == PN_OK; k++) {
        for (size_t a = 0; a < of->rows; a++)
            add(M + a * of->cols, size * left[k * of->rows + a], right + k * of->cols, of->cols);
        status = pn_task_stopped(of->task, "synthetic", err);
    }
    return status;
}

static pn_status sense(pn_rng *rng, const pn_low_rank_options *of, const double *M, pn_dataset *data, pn_err *err)
{
    size_t p = data->p;

    PN_TRY(pn_synthetic_signs(rng, data->dense, of->n, p, "synthetic.low_rank", of->task, err));
    pn_rng_normals(rng, of->n, data->y);
    for (size_t i = 0; i < of->n; i++)
        data->y[i] = fmin(fmax(dot(data->dense + i * p, M, p) + of->noise * data->y[i], -1.0), 1.0);
    pn_bounds_tighten(&data->bounds, p, PN_LINF, 1.0);
    data->bounds.label_low = -1.0;
    data->bounds.label_high = 1.0;
    return PN_OK;
}

pn_status pn_dataset_synthetic_low_rank(pn_dataset **out, const pn_low_rank_options *options, double *truth,
                                        pn_err *err)
{
    size_t p = 0;
    pn_dataset *data = NULL;
    pn_rng *rng = NULL;
    double *M = NULL, *left = NULL, *right = NULL;
    pn_status status = check_low_rank(options, err);

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, options->seed, err);
    if (status != PN_OK)
        goto done;
    p = options->rows * options->cols;
    status = pn_dataset_shell(&data, options->n, p, "synthetic low rank", err);
    if (status != PN_OK)
        goto done;
    M = pn_alloc(p, sizeof *M);
    left = pn_alloc(options->rank * options->rows, sizeof *left);
    right = pn_alloc(options->rank * options->cols, sizeof *right);
    data->dense = pn_dataset_alloc_rows(options->n, p);
    if (!M || !left || !right || !data->dense) {
        status =
            pn_fail(err, PN_ENOMEM, "synthetic.low_rank: %s for %zu x %zu numbers", pn_vault_lack(), options->n, p);
        goto done;
    }
    status = draw_matrix(rng, options, M, left, right, err);
    if (status == PN_OK)
        status = sense(rng, options, M, data, err);
    if (status != PN_OK)
        goto done;
    if (truth)
        memcpy(truth, M, p * sizeof *truth);
    *out = data;
    data = NULL;

done:
    pn_dataset_free(data);
    pn_rng_free(rng);
    pn_free(M);
    pn_free(left);
    pn_free(right);
    return status;
}
