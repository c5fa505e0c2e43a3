/* expected_curvature.c -- the expected curvature of an objective's own records: exactly where extreme points can be
 * listed, else the least of the propositions' bounds.  Depends on: expected_curvature_impl.h, objective_impl.h,
 * numeric/lapack.h.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/lapack.h"
#include "objective/measures/expected_curvature_impl.h"
#include "objective/passes/objective_impl.h"

#define MOST_EIGEN 1024

/* ---- A^T A ---- */

/* l'' <= beta: 1 of the squared loss. */
static pn_status find_bend(const pn_objective *objective, double *beta, pn_err *err)
{
    const pn_bounds *bounds = &objective->bounds;

    *beta = objective->loss->quadratic ? 1.0 : bounds->loss.smooth ? fmax(bounds->loss.curvature.high, 0.0) : INFINITY;
    if (objective->loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "curvature: a black box has no known curvature");
    if (objective->loss->extra > 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "curvature: the curvature of a loss with further parameters is not "
                       "known");
    if (!isfinite(*beta))
        return pn_fail(err, PN_EUNSUPPORTED, "curvature: nothing bounds the curvature of the loss %s: %.300s",
                       objective->loss->name, bounds->loss.missing[0] ? bounds->loss.missing : "its slope jumps");
    if (!isfinite(bounds->reg.largest_curvature))
        return pn_fail(err, PN_EUNSUPPORTED, "curvature: nothing bounds the curvature of the regulariser: %.300s",
                       bounds->reg.missing);
    return PN_OK;
}

/* beta X^T X / n for every margin, and the regulariser's bend on the diagonal. */
static void spread(double *hessian, const pn_objective *objective, const double *gram, double beta)
{
    size_t p = objective->data->p, dim = objective->dim;
    double bend = objective->bounds.reg.largest_curvature;

    for (size_t begin = 0; begin < dim; begin += p) {
        for (size_t i = 0; i < p; i++) {
            double *row = hessian + (begin + i) * dim + begin;

            for (size_t j = 0; j < p; j++)
                row[j] = beta * gram[i * p + j];
            row[i] += fmax(bend, 0.0);
        }
    }
}

static pn_status make_hessian(double **out, pn_objective *objective, pn_task *task, pn_err *err)
{
    size_t dim = objective->dim;
    pn_gram own = { NULL, NULL, 0.0, NULL };
    double beta;
    pn_status status = find_bend(objective, &beta, err);

    *out = NULL;
    if (status == PN_OK && dim > PN_CURVATURE_DIM)
        status = pn_fail(err, PN_EUNSUPPORTED, "curvature: at most %d dimensions, got %zu", PN_CURVATURE_DIM, dim);
    if (status == PN_OK && !objective->gram.matrix)
        status = pn_gram_make(&own, objective, task, err);
    if (status != PN_OK)
        return status;
    *out = pn_calloc(dim, dim * sizeof **out);
    if (*out)
        spread(*out, objective, objective->gram.matrix ? objective->gram.matrix : own.matrix, beta);
    else
        status = pn_fail(err, PN_ENOMEM, "curvature: out of memory for a matrix of order %zu", dim);
    pn_gram_clear(&own);
    return status;
}

/* A^T A is the Hessian itself, everywhere. */
static bool is_quadratic(const pn_objective *objective)
{
    const pn_regulariser_bounds *reg = &objective->bounds.reg;

    return objective->loss->quadratic &&
           (!objective->reg || (reg->largest_curvature >= 0.0 && reg->strong_convexity == reg->largest_curvature));
}

/* ---- the propositions ---- */

/* P_ij, or what it can be at most. */
static double pair_at_most(const pn_block_sampling *sampling, size_t i, size_t j)
{
    double pair = sampling->ops->pair(sampling, i, j);

    return isnan(pair) ? fmin(sampling->ops->inclusion(sampling, i), sampling->ops->inclusion(sampling, j)) : pair;
}

/* sum_ij P_ij max <A_i z_i, A_j z_j>; *apart: no two blocks are ever drawn together,
 * so that the maxima are taken one by one. */
static double bound_entries(const pn_bent_blocks *bent, const pn_block_sampling *sampling, bool *apart)
{
    double sum = 0.0, off = 0.0;

    *apart = true;
    for (size_t i = 0; i < sampling->blocks; i++) {
        sum += sampling->ops->inclusion(sampling, i) * pn_bent_reach(bent, i, i);
        for (size_t j = 0; j < i; j++) {
            double pair = pair_at_most(sampling, i, j);

            *apart = *apart && pair == 0.0;
            off += pair * pn_bent_reach(bent, i, j);
        }
    }
    return sum + 2.0 * off;
}

/* lambda'(A^T A) of intervals; their number where that takes long. */
static pn_status top_of_hessian(const pn_bent_blocks *bent, double *top, pn_err *err)
{
    size_t d = bent->dim;
    double *scaled, *values;
    pn_status status = PN_OK;

    *top = (double)d;
    if (d > MOST_EIGEN)
        return PN_OK;
    scaled = pn_alloc(d, d * sizeof *scaled);
    values = pn_alloc(d, sizeof *values);
    if (!scaled || !values)
        status = pn_fail(err, PN_ENOMEM, "curvature: out of memory for a matrix of order %zu", d);
    for (size_t k = 0; status == PN_OK && k < d * d; k++) {
        double size = sqrt(bent->hessian[k / d * d + k / d]) * sqrt(bent->hessian[k % d * d + k % d]);

        scaled[k] = k / d == k % d ? 1.0 : size > 0.0 ? bent->hessian[k] / size : 0.0;
    }
    if (status == PN_OK)
        status = pn_eigen_symmetric(values, scaled, (pn_mat){ scaled, d, d }, err);
    if (status == PN_OK)
        *top = fmin(*top, values[d - 1] + 1e-13 * (double)d * (double)d);
    pn_free(scaled);
    pn_free(values);
    return status;
}

/* Proposition 1. */
static double bound_eso(const pn_bent_blocks *bent, const pn_block_sampling *sampling, double top)
{
    double least = fmin(pn_block_sampling_top(sampling), top), sum = 0.0;

    for (size_t i = 0; i < sampling->blocks; i++)
        sum += sampling->ops->inclusion(sampling, i) * pn_bent_reach(bent, i, i);
    return least * sum;
}

static size_t next_group(const pn_block_groups *groups, size_t group, size_t i)
{
    return i == groups->first[group + 1] ? group + 1 : group;
}

/* Propositions 3 and 4, with tau^2 of each pair of parties where the article has 1. */
static double bound_mu(const pn_bent_blocks *bent, const pn_block_sampling *sampling)
{
    double one = 0.0, same = 0.0, other = 0.0, k, tau;
    pn_block_groups groups;
    size_t mine = 0;

    if (!pn_block_sampling_groups(sampling, &groups))
        return INFINITY;
    for (size_t i = 0; i < sampling->blocks; i++) {
        mine = next_group(&groups, mine, i);
        one = fmax(one, pn_bent_reach(bent, i, i));
        for (size_t j = 0; j < i; j++) {
            double reach = pn_bent_reach(bent, i, j);

            if (j >= groups.first[mine])
                same = fmax(same, reach);
            else
                other = fmax(other, reach);
        }
    }
    k = (double)groups.count;
    tau = (double)groups.tau;
    return k * tau * one + k * tau * (tau - 1.0) * same + k * (k - 1.0) * tau * tau * other;
}

/* ---- one sampling ---- */

static void take_least(pn_expected_curvature *out, double value, const char *method)
{
    if (value < out->value) {
        out->value = value;
        out->method = method;
    }
}

static pn_status evaluate(const pn_bent_blocks *bent, const pn_block_sampling *sampling, double top,
                          pn_expected_curvature *out, pn_task *task, pn_err *err)
{
    bool apart;
    double entries = bound_entries(bent, sampling, &apart), value;

    *out = (pn_expected_curvature){ .value = INFINITY,
                                    .eso = bound_eso(bent, sampling, top),
                                    .mu = bound_mu(bent, sampling) };
    if (apart && bent->sharp) {
        out->value = entries;
        out->exact = true;
        out->method = "serial";
        return PN_OK;
    }
    if (pn_block_sampling_has_pairs(sampling) && pn_bent_enumerable(bent)) {
        pn_status status = pn_bent_largest(bent, sampling, &value, task, err);

        out->value = value;
        out->exact = true;
        out->method = bent->all ? "vertices" : "corners";
        return status;
    }
    take_least(out, entries, "entries");
    take_least(out, out->eso, "eso");
    take_least(out, out->mu, "mu");
    return PN_OK;
}

/* Both samplings: the one that is asked for, and the full one. */
static pn_status evaluate_both(const pn_bent_blocks *bent, const pn_block_sampling *sampling,
                               pn_expected_curvature *out, pn_task *task, pn_err *err)
{
    pn_arg blocks = { .given = true, .count = sampling->blocks };
    pn_block_sampling *full = NULL;
    pn_expected_curvature whole;
    double top = (double)sampling->blocks;
    pn_status status = pn_block_sampling_new(&full, "full", &blocks, err);

    if (status == PN_OK && !bent->all)
        status = top_of_hessian(bent, &top, err);
    if (status == PN_OK)
        status = evaluate(bent, full, top, &whole, task, err);
    if (status == PN_OK)
        status = evaluate(bent, sampling, top, out, task, err);
    if (status == PN_OK)
        out->set_curvature = whole.value;
    pn_block_sampling_free(full);
    return status;
}

/* What bounds on the records say is true of them, too. */
static pn_status refine(const pn_objective *objective, const pn_block_sampling *sampling, pn_expected_curvature *out,
                        pn_err *err)
{
    pn_expected_curvature open;

    PN_TRY(pn_objective_public_curvature(objective, sampling, &open, err));
    out->set_curvature = fmin(out->set_curvature, open.set_curvature);
    if (out->exact)
        out->exact = is_quadratic(objective);
    if (out->exact)
        return PN_OK;
    take_least(out, out->set_curvature, "set");
    take_least(out, open.value, "bounds");
    return PN_OK;
}

static pn_status of_blocks(pn_objective *objective, const pn_blocks *blocks, const pn_block_sampling *sampling,
                           pn_expected_curvature *out, pn_task *task, pn_err *err)
{
    pn_expected_curvature found;
    pn_bent_blocks bent;
    double *hessian;
    pn_status status;

    if (sampling->blocks != blocks->count)
        return pn_fail(err, PN_EDIM, "curvature: the sampling has %zu blocks, the set has %zu", sampling->blocks,
                       blocks->count);
    status = make_hessian(&hessian, objective, task, err);
    if (status == PN_OK)
        status = pn_bent_blocks_init(&bent, blocks, hessian, task, err);
    if (status != PN_OK)
        return status;
    status = evaluate_both(&bent, sampling, &found, task, err);
    pn_bent_blocks_clear(&bent);
    if (status == PN_OK)
        status = refine(objective, sampling, &found, err);
    if (status == PN_OK)
        *out = found;
    return status;
}

pn_status pn_objective_expected_curvature(pn_objective *objective, const pn_block_sampling *sampling,
                                          pn_expected_curvature *out, pn_task *task, pn_err *err)
{
    pn_block_structure *structure;
    pn_status status;

    PN_TRY(pn_block_structure_new(&structure, objective->set, err));
    status = of_blocks(objective, pn_block_structure_blocks(structure), sampling, out, task, err);
    pn_block_structure_free(structure);
    return status;
}
