/* expected_curvature_public.c -- the expected curvature from enforced bounds alone: no record is read.
 * Of one margin E sum_ij P_ij <A_i z_i, A_j z_j> is a mean over records of E (sum over T of a_i)^2, a_i = <x_i, z_i>,
 * times a bound on l'': at most lambda'(P) sum_i p_i a_i^2, where |a_i| <= ||x_i||_* ||z_i||.  The blocks of a record
 * share its l2 or l1 norm, so that the largest p_i diameter_i^2 takes the place of their sum; and E |<x, z_T>|^2 <=
 * ||x||_2^2 E ||z_T||^2 needs no lambda'.
 * Depends on: objective_impl.h, expected_curvature.h.  Used by: expected_curvature.c,
 * solvers/frank_wolfe/block_frank_wolfe_plan.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/measures/expected_curvature.h"
#include "objective/passes/objective_impl.h"

/* A bound on sup sum_i w_i |a_i|^2 and the like in one norm, per unit of l''; for K margins a_i has K entries, of which
 * rows of theta share the l1 and the l2 norm, not the largest entry. */
static double in_norm(const pn_objective *objective, const pn_blocks *blocks, const double *weights, double top,
                      pn_lp norm)
{
    double record = objective->data->bounds.norm[pn_lp_dual(norm)], sum = 0.0, largest = 0.0, best;
    double margins = (double)objective->loss->margins;

    if (!pn_is_enforced(record))
        return INFINITY;
    if (record == 0.0)
        return 0.0;
    for (size_t i = 0; i < blocks->count; i++) {
        double reach = pn_block_diameter(blocks, i, norm) * record;
        double square = weights[i] * reach * reach;

        sum += square;
        largest = fmax(largest, square);
    }
    best = top * sum * (norm == PN_LINF ? margins : 1.0);
    if (norm == PN_L2)
        best = fmin(best, sum);
    if (norm != PN_L1 && margins == 1.0)
        best = fmin(best, top * largest);
    return best;
}

double pn_objective_weighted_curvature(const pn_objective *objective, const pn_blocks *blocks, const double *weights,
                                       double top)
{
    const pn_bounds *bounds = &objective->bounds;
    bool known = bounds->loss.smooth && objective->loss->extra == 0; /* further parameters move without a record */
    double upper = known ? fmax(bounds->loss.curvature.high, 0.0) : INFINITY;
    double most = INFINITY, moved = 0.0, bend = bounds->reg.largest_curvature;

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        most = fmin(most, in_norm(objective, blocks, weights, top, (pn_lp)norm));
    most = upper == 0.0 || most == 0.0 ? 0.0 : upper * most;
    for (size_t i = 0; i < blocks->count; i++)
        moved += weights[i] * blocks->diameter[i] * blocks->diameter[i];
    if (bend > 0.0 && moved > 0.0)
        most += bend * moved;
    return most * (1.0 + 1e-14 * (8.0 + (double)blocks->count / 64.0)); /* sums of that many terms round */
}

static pn_status weigh(double **out, const pn_block_sampling *sampling, pn_err *err)
{
    PN_TRY(pn_new(out, sampling->blocks, err, "curvature: out of memory for %zu blocks", sampling->blocks));
    for (size_t i = 0; i < sampling->blocks; i++)
        (*out)[i] = sampling->ops->inclusion(sampling, i);
    return PN_OK;
}

static pn_status bound_blocks(const pn_objective *objective, const pn_blocks *blocks, const pn_block_sampling *sampling,
                              pn_expected_curvature *out, pn_err *err)
{
    double *weights;

    PN_TRY(weigh(&weights, sampling, err));
    *out = (pn_expected_curvature){ .method = "bounds", .mu = INFINITY };
    out->eso = pn_objective_weighted_curvature(objective, blocks, weights, pn_block_sampling_top(sampling));
    for (size_t i = 0; i < blocks->count; i++)
        weights[i] = 1.0;
    out->set_curvature = fmin(objective->bounds.curvature,
                              pn_objective_weighted_curvature(objective, blocks, weights, (double)blocks->count));
    out->value = fmin(out->eso, out->set_curvature); /* (z)_T is in M - M, too */
    pn_free(weights);
    return PN_OK;
}

pn_status pn_objective_public_curvature(const pn_objective *objective, const pn_block_sampling *sampling,
                                        pn_expected_curvature *out, pn_err *err)
{
    pn_block_structure *structure;
    pn_status status = pn_block_structure_new(&structure, objective->set, err);

    if (status != PN_OK)
        return status;
    if (sampling->blocks != pn_block_structure_blocks(structure)->count)
        status = pn_fail(err, PN_EDIM, "curvature: the sampling has %zu blocks, the set has %zu", sampling->blocks,
                         pn_block_structure_blocks(structure)->count);
    else
        status = bound_blocks(objective, pn_block_structure_blocks(structure), sampling, out, err);
    pn_block_structure_free(structure);
    return status;
}
