/* gram.c -- the quadratic loss through its Gram matrix: f(theta) = theta^T H theta / 2 - b^T theta + f(0) with H = X^T
 * X / n, b = X^T y / n; a gradient then costs O(p^2) whatever n is.
 * Depends on: objective_impl.h, data/rows.h, BLAS.  Used by: objective.c, pass.c, expected_curvature.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/rows.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"
#include "objective/passes/objective_impl.h"

#define GRAM_MAX_P      2048
#define GRAM_BLOCK_ROWS 1024 /* one BLAS reduction runs over at most this many records: it bounds the rounding error */

void pn_gram_clear(pn_gram *gram)
{
    pn_free(gram->matrix);
    pn_free(gram->linear);
    pn_free(gram->product);
    memset(gram, 0, sizeof *gram);
}

size_t pn_gram_depth(const pn_objective *objective)
{
    return GRAM_BLOCK_ROWS + objective->data->n / GRAM_BLOCK_ROWS + 1;
}

/* Add the block's X^T X to the upper triangle, one record after the other. */
static void add_sparse_block(const pn_rows *from, size_t first, size_t last, double *block, double *linear)
{
    const pn_dataset *data = from->data;

    for (size_t r = first; r < last; r++) {
        size_t count;
        const double *value = pn_rows_get(from, r, &count);
        const uint32_t *column = data->csr.column + data->csr.start[r];

        for (size_t a = 0; a < count; a++) {
            double *row = block + (size_t)column[a] * data->p;

            for (size_t b = a; b < count; b++)
                row[column[b]] += value[a] * value[b];
            linear[column[a]] += value[a] * data->y[r];
        }
    }
}

/* `wide` [GRAM_BLOCK_ROWS * p] takes the rows of float32 data. */
static void add_dense_block(const pn_dataset *data, size_t first, size_t last, double *wide, double *block,
                            double *linear)
{
    const double *X = data->float32 ? wide : data->dense + first * data->p;
    int rows = (int)(last - first), p = (int)data->p;

    if (data->float32)
        pn_widen(wide, data->single + first * data->p, (last - first) * data->p);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, p, rows, 1.0, X, p, 0.0, block, p);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, p, 1.0, X, p, data->y + first, 1, 0.0, linear, 1);
}

/* The mean loss at theta = 0: what the quadratic form leaves out. */
static double mean_at_zero(const pn_objective *objective)
{
    const double zero[PN_LOSS_BLOCK] = { 0 };
    double values[PN_LOSS_BLOCK], sum = 0.0;
    size_t n = objective->data->n;

    for (size_t first = 0; first < n; first += PN_LOSS_BLOCK) {
        size_t count = n - first < PN_LOSS_BLOCK ? n - first : PN_LOSS_BLOCK;

        objective->loss->ops->evaluate(objective->loss, count, zero, objective->data->y + first, values, NULL);
        for (size_t i = 0; i < count; i++)
            sum += values[i];
    }
    return sum / (double)n;
}

/* Sum the blocks, each formed on its own in `scratch` (p*p matrix, then p linear, then room to widen rows). */
static pn_status add_blocks(const pn_rows *from, pn_gram *gram, double *scratch, pn_task *task, pn_err *err)
{
    const pn_dataset *data = from->data;
    size_t p = data->p;

    for (size_t first = 0; first < data->n; first += GRAM_BLOCK_ROWS) {
        size_t last = first + GRAM_BLOCK_ROWS < data->n ? first + GRAM_BLOCK_ROWS : data->n;

        PN_TRY(pn_task_report(task, "Gram matrix", (double)first, (double)data->n, err));
        memset(scratch, 0, (p * p + p) * sizeof *scratch);
        if (data->sparse)
            add_sparse_block(from, first, last, scratch, scratch + p * p);
        else
            add_dense_block(data, first, last, scratch + p * p + p, scratch, scratch + p * p);
        for (size_t i = 0; i < p; i++) {
            for (size_t j = i; j < p; j++)
                gram->matrix[i * p + j] += scratch[i * p + j];
            gram->linear[i] += scratch[p * p + i];
        }
    }
    return PN_OK;
}

static void finish(pn_gram *gram, size_t p, double n)
{
    for (size_t i = 0; i < p; i++) {
        for (size_t j = i; j < p; j++) {
            gram->matrix[i * p + j] /= n;
            gram->matrix[j * p + i] = gram->matrix[i * p + j];
        }
        gram->linear[i] /= n;
    }
}

pn_status pn_gram_make(pn_gram *out, const pn_objective *objective, pn_task *task, pn_err *err)
{
    size_t p = objective->data->p;
    pn_gram gram = { pn_calloc(p, p * sizeof(double)), pn_calloc(p, sizeof(double)), 0.0, pn_alloc(p, sizeof(double)) };
    bool widens = objective->data->float32 && !objective->data->sparse;
    double *scratch = pn_alloc(p + 1 + (widens ? GRAM_BLOCK_ROWS : 0), p * sizeof(double));
    pn_rows rows = { NULL, NULL };
    pn_status status = pn_rows_open(&rows, objective->data, err);

    if (status == PN_OK && (!gram.matrix || !gram.linear || !gram.product || !scratch))
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for a Gram matrix of order %zu", p);
    if (status == PN_OK)
        status = add_blocks(&rows, &gram, scratch, task, err);
    pn_rows_close(&rows);
    pn_free(scratch);
    if (status != PN_OK) {
        pn_gram_clear(&gram);
        return status;
    }
    finish(&gram, p, (double)objective->data->n);
    *out = gram;
    return PN_OK;
}

pn_status pn_gram_form(pn_objective *objective, pn_task *task, pn_err *err)
{
    pn_gram gram;

    PN_TRY(pn_gram_make(&gram, objective, task, err));
    gram.constant = mean_at_zero(objective);
    pn_gram_clear(&objective->gram); /* a progress function may have formed one meanwhile, by a run of its own */
    objective->gram = gram;
    return PN_OK;
}

bool pn_objective_uses_gram(const pn_objective *objective)
{
    return objective->loss->quadratic && objective->clip == 0.0;
}

/* Multiplications to form the matrix: sum of squared row counts. */
static double forming_cost(const pn_dataset *data)
{
    double cost = 0.0;

    if (!data->sparse)
        return 0.25 * (double)data->n * (double)data->p *
               (double)data->p; /* dsyrk does four times the work per second */
    for (size_t r = 0; r < data->n; r++) {
        double count = (double)(data->csr.start[r + 1] - data->csr.start[r]);

        cost += 0.5 * count * count;
    }
    return cost + (double)(data->n / GRAM_BLOCK_ROWS + 1) * (double)data->p * (double)data->p;
}

pn_status pn_objective_prepare(pn_objective *objective, size_t passes, pn_task *task, pn_err *err)
{
    const pn_dataset *data = objective->data;
    double entries = data->sparse ? (double)data->csr.start[data->n] : (double)data->n * (double)data->p;
    double saved = (double)passes * (2.0 * entries - (double)data->p * (double)data->p);

    if (!pn_objective_uses_gram(objective) || objective->gram.matrix || data->partial || data->p > GRAM_MAX_P ||
        forming_cost(data) >= saved)
        return PN_OK;
    return pn_gram_form(objective, task, err);
}

/* Nothing clamps slopes here, so the certified sensitivity rests on the margins, and the bound on rounding on the l1
 * norm: on where theta is.  Solvers may be a rounding outside of the set, or more,
 * as far as a user's functions allow. */
bool pn_gram_serves(const pn_objective *objective, const double *theta)
{
    const pn_bounds *bounds = &objective->bounds;
    const pn_set *set = objective->set;
    double rounding = 1.0 + ((double)objective->dim + 4.0) * 0x1p-53, reach = INFINITY;

    if (!objective->gram.matrix)
        return false;
    if (bounds->source != PN_BOUND_CERTIFIED)
        return true;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double record = objective->data->bounds.norm[pn_lp_dual((pn_lp)norm)];

        if (pn_is_enforced(record))
            reach = fmin(reach, record * pn_lp_norm((pn_lp)norm, objective->dim, theta) * rounding);
    }
    return reach <= bounds->margin.high &&
           (!set || pn_lp_norm(PN_L1, objective->dim, theta) <= set->ops->radius(set, PN_L1) * PN_ASIDE);
}

/* Our own kernel on the caller's thread: a threaded BLAS call on so small a matrix waits longer than it works, and for
 * ages when the processors are busy elsewhere. */
void pn_gram_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient)
{
    const pn_gram *gram = &objective->gram;
    size_t p = objective->data->p;
    double bent = 0.0, along = 0.0;

    pn_simd_best()->dense_times(gram->matrix, p, p, theta, gram->product);
    for (size_t j = 0; j < p; j++) {
        bent += gram->product[j] * theta[j];
        along += gram->linear[j] * theta[j];
    }
    if (value)
        *value = 0.5 * bent - along + gram->constant;
    for (size_t j = 0; gradient && j < p; j++)
        gradient[j] = gram->product[j] - gram->linear[j];
}
