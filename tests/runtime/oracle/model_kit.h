/* model_kit.h -- a small problem, a model of it, and releases from streams with a seed.
 * Depends on: oracle/model_release.h, check.h.  Used by: model_small.h,
 * model_law_test.c, model_bound_test.c. */
#ifndef PN_TESTS_NOISY_MODEL_KIT_H
#define PN_TESTS_NOISY_MODEL_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "privacy/accounting/accountant.h"
#include "oracle/model_release.h"

typedef struct world {
    pn_dataset *data;
    pn_objective *objective;
} world;

typedef struct recipe {
    const char *loss; /* NULL: logistic; labels -1 and 1 */
    const double *x, *y;
    size_t n, p;
    double nonconvex; /* weight of the regulariser; 0: none */
    double clip;
    bool sparse, float32;
} recipe;

static inline pn_status world_data(pn_dataset **out, const recipe *of, pn_err *err)
{
    pn_dataset *raw = NULL, *clipped = NULL;
    size_t nnz = 0;
    size_t *start = pn_calloc(of->n + 1, sizeof *start);
    uint32_t *column = pn_calloc(of->n * of->p, sizeof *column);
    double *value = pn_calloc(of->n * of->p, sizeof *value);
    pn_status status = start && column && value ? PN_OK : pn_fail(err, PN_ENOMEM, "test: out of memory");

    for (size_t i = 0; status == PN_OK && i < of->n; i++) {
        for (size_t j = 0; j < of->p; j++) {
            if (of->x[i * of->p + j] != 0.0) {
                column[nnz] = (uint32_t)j;
                value[nnz++] = of->x[i * of->p + j];
            }
        }
        start[i + 1] = nnz;
    }
    if (status == PN_OK && of->sparse)
        status = pn_dataset_from_csr(&raw, &(pn_csr){ of->n, of->p, start, column, value }, of->y, "made", err);
    else if (status == PN_OK)
        status = pn_dataset_from_dense(&raw, of->x, of->n, of->p, of->y, "made", err);
    if (status == PN_OK)
        status = pn_dataset_clip_rows(of->float32 ? &clipped : out, raw, PN_L2, 1.0, err);
    if (status == PN_OK && of->float32)
        status = pn_dataset_to_float32(out, clipped, err);
    pn_dataset_free(raw);
    pn_dataset_free(clipped);
    pn_free(start);
    pn_free(column);
    pn_free(value);
    return status;
}

static inline pn_status world_make(world *out, const recipe *of, pn_err *err)
{
    pn_arg none[8] = { { 0 } }, weight[4] = { { .given = true, .real = of->nonconvex }, { 0 } };
    pn_objective_parts parts = { .clip = of->clip };
    pn_status status;

    *out = (world){ NULL, NULL };
    status = world_data(&out->data, of, err);
    parts.data = out->data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, of->loss ? of->loss : "logistic", none, err);
    if (status == PN_OK && of->nonconvex > 0.0)
        status = pn_regulariser_from_args(&parts.reg, "nonconvex", weight, err);
    if (status == PN_OK)
        status = pn_objective_new(&out->objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_regulariser_free(parts.reg);
    return status;
}

static inline void world_free(world *of)
{
    pn_objective_free(of->objective);
    pn_dataset_free(of->data);
    *of = (world){ NULL, NULL };
}

/* Rows of length 1 in random directions, labels of random sign. */
static inline void random_rows(uint64_t seed, size_t n, size_t p, double *x, double *y)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    pn_rng_normals(rng, n * p, x);
    for (size_t i = 0; i < n; i++) {
        double norm = 0.0;

        for (size_t j = 0; j < p; j++)
            norm += x[i * p + j] * x[i * p + j];
        for (size_t j = 0; j < p; j++)
            x[i * p + j] /= sqrt(norm);
        y[i] = pn_rng_u64(rng) & 1 ? 1.0 : -1.0;
    }
    pn_rng_free(rng);
}

static inline pn_request request_for(pn_neighbours neighbours)
{
    return (pn_request){ .kind = PN_RHO, .epsilon = NAN, .delta = NAN, .rho = 1.0, .neighbours = neighbours };
}

static inline pn_request no_privacy(void)
{
    return (pn_request){ .kind = PN_NONPRIVATE, .epsilon = NAN, .delta = NAN, .rho = NAN };
}

static inline pn_ledger *teaching(double rho, pn_neighbours neighbours)
{
    pn_budget budget = { .epsilon = NAN, .rho = rho, .neighbours = neighbours, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static inline pn_step_context context_of(uint64_t seed, double rho)
{
    pn_step_context context = { .ledger = teaching(rho, PN_REPLACE_ONE) };

    CHECK(pn_rng_seeded(&context.rng, seed, NULL) == PN_OK);
    return context;
}

static inline void context_free(pn_step_context *context)
{
    pn_ledger_free(context->ledger);
    pn_rng_free(context->rng);
}

static inline double l2_norm(const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static inline size_t charges(const pn_ledger *ledger)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        sum += pn_ledger_entry(ledger, i).count;
    return sum;
}

#endif
