/* objective.c -- the mean loss over a data set and a constraint set: construction, partition, rounding error.
 * Depends on: objective_impl.h.  Used by: solvers, bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "data/rows.h"
#include "numeric/blas.h"
#include "objective/passes/objective_impl.h"

#define BLOCK_BYTES 24576 /* three quarters of a 32 KiB first-level cache: the block, its margins and the gradient */

static size_t clamp_size(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- partition ---- */

/* Whole blocks. */
static size_t rows_per_chunk(const pn_objective *objective, size_t records, size_t chunks)
{
    size_t rows = (records + chunks - 1) / chunks;

    return (rows + objective->block_rows - 1) / objective->block_rows * objective->block_rows;
}

/* A bound on the chunks from below, by public numbers: n, dim and the storage, not the number of entries. */
static size_t fewest_chunks(const pn_dataset *data, size_t dim, size_t records)
{
    return data->sparse ? clamp_size(records / dim, 1, PN_CHUNKS_MAX) : PN_CHUNKS_MAX;
}

/* The partition depends on the data alone, so results do not depend on the machine.  A sparse pass writes one gradient
 * per chunk: few enough that this stays below the entries read. */
static size_t chunks_of(const pn_dataset *data, size_t dim, size_t records)
{
    size_t fewest = fewest_chunks(data, dim, records);
    double entries;

    if (!data->sparse)
        return fewest;
    entries = (double)data->csr.start[data->n] / (double)data->n * (double)records;
    return clamp_size((size_t)(entries / (4.0 * (double)dim)), fewest, PN_CHUNKS_MAX);
}

pn_partition pn_objective_partition(const pn_objective *objective, size_t records)
{
    size_t rows = rows_per_chunk(objective, records, chunks_of(objective->data, objective->dim, records));

    return (pn_partition){ (records + rows - 1) / rows, rows };
}

size_t pn_objective_longest_chunk(const pn_objective *objective)
{
    const pn_dataset *data = objective->data;

    return rows_per_chunk(objective, data->n, fewest_chunks(data, objective->dim, data->n));
}

/* Chunks are rounded up to whole blocks. */
void pn_objective_hold(const pn_dataset *data, const pn_ranks *ranks, size_t *begin, size_t *end)
{
    size_t chunks = chunks_of(data, data->p, data->n), rows = data->n / chunks + PN_BLOCK_ROWS_MAX;

    pn_ranks_hold(ranks, data->n, rows, begin, end);
}

/* ---- construction ---- */

/* How to come by the labels -1 and 1, or others. */
static const char *label_advice(const pn_labels *labels)
{
    bool binary = labels->kind == PN_LABELS_VALUES && labels->count == 2 &&
                  fmin(labels->values[0], labels->values[1]) == -1.0 &&
                  fmax(labels->values[0], labels->values[1]) == 1.0;

    return binary ? "load with labels=\"binary\" or labels={[a]=-1, [b]=1}, or map them with data:with_labels"
                  : "map them with data:with_labels";
}

static pn_status check_labels(const pn_dataset *data, const pn_loss *loss, pn_err *err)
{
    char wanted[160];

    pn_labels_describe(&loss->labels, wanted, sizeof wanted);
    if (loss->labels.kind == PN_LABELS_INTERVAL) {
        if (data->bounds.label_low >= loss->labels.range.low && data->bounds.label_high <= loss->labels.range.high)
            return PN_OK;
        return pn_fail(err, PN_EINVAL, "objective: %s takes labels %s; enforce that with data:clip_labels(%g, %g)",
                       loss->name, wanted, loss->labels.range.low, loss->labels.range.high);
    }
    if (data->absent) /* whoever has them checks them */
        return PN_OK;
    if (pn_labels_first_bad(&loss->labels, data->y, data->n) == data->n)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "objective: %s needs labels %s; %s", loss->name, wanted,
                   label_advice(&loss->labels));
}

static pn_status theta_size(size_t *out, const pn_objective_parts *parts, pn_err *err)
{
    size_t margins = parts->loss->margins ? parts->loss->margins : 1;

    *out = parts->loss->dim;
    if (*out)
        return pn_size_check("objective", "dim of the loss", *out, err);
    PN_TRY(pn_size_product(out, "objective", "margins x features", margins, parts->data->p, err));
    *out += parts->loss->extra;
    return pn_size_check("objective", "entries of theta", *out, err);
}

static pn_status check_sizes(const pn_objective_parts *parts, size_t *theta, pn_err *err)
{
    size_t margins = parts->loss->margins ? parts->loss->margins : 1, dim = 0;

    PN_TRY(theta_size(&dim, parts, err));
    *theta = dim;
    if (parts->set && parts->set->dim != dim && parts->loss->extra)
        return pn_fail(err, PN_EDIM,
                       "objective: the set has dimension %zu, theta has %zu margins x %zu features + %zu further "
                       "parameters = %zu",
                       parts->set->dim, margins, parts->data->p, parts->loss->extra, dim);
    if (parts->set && parts->set->dim != dim && margins > 1)
        return pn_fail(err, PN_EDIM, "objective: the set has dimension %zu, theta has %zu classes x %zu features = %zu",
                       parts->set->dim, margins, parts->data->p, dim);
    if (parts->set && parts->set->dim != dim && parts->loss->dim)
        return pn_fail(err, PN_EDIM, "objective: the set has dimension %zu, the loss says dim = %zu", parts->set->dim,
                       dim);
    if (parts->set && parts->set->dim != dim)
        return pn_fail(err, PN_EDIM, "objective: the set has dimension %zu, the data has %zu features", parts->set->dim,
                       dim);
    return parts->reg && parts->reg->ops->fits ? parts->reg->ops->fits(parts->reg, dim, err) : PN_OK;
}

/* *dim = the size of theta. */
static pn_status check_parts(const pn_objective_parts *parts, size_t *dim, pn_err *err)
{
    pn_status status;

    if (!parts->data || !parts->loss)
        return pn_fail(err, PN_EINVAL, "objective: the parts have no %s", parts->data ? "loss" : "data");
    if ((status = check_labels(parts->data, parts->loss, err)) != PN_OK)
        return status;
    if (parts->data->partial && pn_ranks_size(parts->ranks) < 2)
        return pn_fail(err, PN_EINVAL,
                       "objective: this rank holds records %zu to %zu of %zu; give the ranks that hold the others",
                       parts->data->first + 1, pn_dataset_held_end(parts->data), parts->data->n);
    if (parts->data->partial && parts->loss->margins == 0)
        return pn_dataset_need_records(parts->data, "objective: a black box", err);
    if (parts->clip != 0.0 && !(parts->clip >= PN_CLIP_LEAST && parts->clip <= PN_CLIP_MOST))
        return pn_fail(err, PN_EINVAL, "objective: clip must be a number in [2^-400, 2^400], got %g", parts->clip);
    if (parts->clip > 0.0 && parts->loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: a black box has no gradients to clip; declare its lipschitz= instead");
    return check_sizes(parts, dim, err);
}

/* Upper bounds of the rows' l2 norms, with room for `roundings` more of 2^-53 that follow.  Scaled by the largest
 * entry, so that squares neither over- nor underflow.  Denormal norms lose digits: no factor takes those rows near a
 * clip.  Here: the division, the square and the sum count at most (3 + count) / 2, root, product and factor 4. */
static double norm_above(const double *x, size_t count, double roundings)
{
    double largest = 0.0, sum = 0.0;

    for (size_t j = 0; j < count; j++)
        largest = fmax(largest, fabs(x[j]));
    if (largest == 0.0)
        return 0.0;
    for (size_t j = 0; j < count; j++)
        sum += (x[j] / largest) * (x[j] / largest);
    return largest * sqrt(sum) * (1.0 + (0.5 * (double)count + 6.0 + roundings) * 0x1p-53);
}

pn_status pn_objective_measure(const pn_objective *objective, const pn_dataset *from, const size_t *numbers,
                               pn_err *err)
{
    /* In clip.c the norm of the factors takes (3 + margins) / 2 + 2, product, quotient and scaling 3; what they
     * are multiplied by in a gradient 1. */
    double roundings = 0.5 * (double)pn_loss_inputs(objective->loss) + 8.0;
    pn_rows rows;

    PN_TRY(pn_rows_open_held(&rows, from, err));
    for (size_t i = from->first; i < pn_dataset_held_end(from); i++) {
        size_t count;
        const double *x = pn_rows_get(&rows, i, &count);

        objective->norms[numbers ? numbers[i] : i] = norm_above(x, count, roundings);
    }
    pn_rows_close(&rows);
    return PN_OK;
}

static pn_status measure_rows(pn_objective *objective, pn_err *err)
{
    PN_TRY(pn_new(&objective->norms, objective->data->n, err, "objective: out of memory for %zu norms",
                  objective->data->n));
    return pn_objective_measure(objective, objective->data, NULL, err);
}

pn_status pn_objective_new(pn_objective **out, const pn_objective_parts *parts, pn_err *err)
{
    pn_objective *objective;
    size_t dim = 0;
    pn_status status;

    PN_TRY(check_parts(parts, &dim, err));
    PN_TRY(pn_new_zeroed(&objective, 1, err, "objective: out of memory"));
    objective->data = parts->data;
    objective->loss = pn_loss_keep(parts->loss);
    objective->set = parts->set ? pn_set_keep(parts->set) : NULL;
    objective->reg = parts->reg ? pn_regulariser_keep(parts->reg) : NULL;
    objective->clip = parts->clip;
    objective->ranks = parts->ranks ? pn_ranks_keep(parts->ranks) : NULL;
    objective->dim = dim;
    objective->reach = NAN;
    objective->block_rows = clamp_size(BLOCK_BYTES / (8 * parts->data->p), 8, PN_BLOCK_ROWS_MAX) & ~(size_t)7;
    status = pn_objective_derive_bounds(objective, err);
    if (status == PN_OK && objective->data->partial)
        status = pn_lent_new(&objective->lent, objective->ranks, err);
    if (status == PN_OK && objective->clip > 0.0)
        status = measure_rows(objective, err);
    if (status != PN_OK) {
        pn_objective_free(objective);
        return status;
    }
    *out = objective;
    return PN_OK;
}

void pn_objective_free(pn_objective *objective)
{
    if (!objective)
        return;
    pn_gram_clear(&objective->gram);
    pn_lent_free(objective->lent);
    pn_free(objective->norms);
    pn_free(objective->slopes);
    pn_loss_free(objective->loss);
    pn_set_free(objective->set);
    pn_regulariser_free(objective->reg);
    pn_ranks_free(objective->ranks);
    pn_free(objective);
}

/* ---- parts ---- */

const pn_dataset *pn_objective_data(const pn_objective *objective)
{
    return objective->data;
}

pn_loss *pn_objective_loss(const pn_objective *objective)
{
    return objective->loss;
}

pn_set *pn_objective_set(const pn_objective *objective)
{
    return objective->set;
}

pn_set *pn_objective_constraint(const pn_objective *objective)
{
    pn_set *set = objective->set;

    return set && strcmp(set->ops->name, "free") != 0 ? set : NULL;
}

pn_interval pn_objective_labels(const pn_objective *objective)
{
    const pn_record_bounds *records = &objective->data->bounds;
    bool known = isfinite(records->label_low) && isfinite(records->label_high);

    return known ? (pn_interval){ records->label_low, records->label_high } : (pn_interval){ -INFINITY, INFINITY };
}

pn_regulariser *pn_objective_regulariser(const pn_objective *objective)
{
    return objective->reg;
}

pn_status pn_objective_regular_slope(const pn_objective *objective, const double *theta, double *value, double *slope,
                                     pn_err *err)
{
    const pn_regulariser *reg = objective->reg;
    double *gradient;
    pn_status status;

    if (value)
        *value = 0.0;
    *slope = 0.0;
    if (!reg)
        return PN_OK;
    PN_TRY(
        pn_new_zeroed(&gradient, objective->dim, err, "objective: out of memory for %zu coordinates", objective->dim));
    status = reg->ops->evaluate(reg, objective->dim, theta, value, gradient, err);
    *slope = pn_lp_norm(PN_L2, objective->dim, gradient) * (1.0 + 1e-9);
    pn_free(gradient);
    return status;
}

double pn_objective_clip(const pn_objective *objective)
{
    return objective->clip;
}

pn_ranks *pn_objective_ranks(const pn_objective *objective)
{
    return objective->ranks;
}

const pn_bounds *pn_objective_bounds(const pn_objective *objective)
{
    return &objective->bounds;
}

size_t pn_objective_dim(const pn_objective *objective)
{
    return objective->dim;
}

/* ---- rounding ---- */

/* gamma = depth * 2^-53 bounds the relative error of a sum of that depth, products and division included.  The depth is
 * that of the coarsest partition: the real one may depend on the number of entries, which is not public. */
static double pass_error(const pn_objective *objective)
{
    double depth = (double)pn_objective_longest_chunk(objective) + PN_CHUNKS_MAX + 8.0;

    return depth * 0x1p-53 * 1.01 * objective->bounds.lipschitz[PN_L1];
}

/* max |y| over what is enforced or admitted: labels that a loss lists need no range. */
static double largest_label(const pn_objective *objective)
{
    const pn_labels *labels = &objective->loss->labels;
    double largest = 0.0;

    if (labels->kind != PN_LABELS_VALUES)
        return pn_interval_magnitude(
            (pn_interval){ objective->data->bounds.label_low, objective->data->bounds.label_high });
    for (size_t i = 0; i < labels->count; i++)
        largest = fmax(largest, fabs(labels->values[i]));
    return largest;
}

/* gradient = H theta - b: the errors of H and b, and those of the product, over ||theta||_1 <= radius. */
static double gram_error(const pn_objective *objective)
{
    const pn_record_bounds *records = &objective->data->bounds;
    double gamma = ((double)pn_gram_depth(objective) + 8.0) * 0x1p-53 * 1.01;
    double product = ((double)objective->data->p + 4.0) * 0x1p-53 * 1.01;
    double theta = objective->set ? objective->set->ops->radius(objective->set, PN_L1) * PN_ASIDE : INFINITY;
    double label = largest_label(objective), linf = records->norm[PN_LINF];

    return (gamma + product) * linf * (theta * linf + label);
}

double pn_objective_gradient_error(const pn_objective *objective)
{
    double pass;

    if (!objective->bounds.certified || !isfinite(objective->bounds.lipschitz[PN_L1]))
        return INFINITY;
    pass = pass_error(objective);
    /* Neighbours may take different ways: whether the matrix pays depends on the number of entries. */
    return pn_objective_uses_gram(objective) ? pass + gram_error(objective) : pass;
}

/* ---- what is certified, one by one ---- */

bool pn_objective_is_certified(const pn_objective *objective, const char **missing)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);

    if (missing)
        *missing = bounds->missing;
    return bounds->certified;
}

double pn_objective_lipschitz(const pn_objective *objective, pn_lp norm)
{
    return pn_objective_bounds(objective)->lipschitz[norm];
}

double pn_objective_smoothness(const pn_objective *objective)
{
    return pn_objective_bounds(objective)->smoothness;
}

double pn_objective_strong_convexity(const pn_objective *objective)
{
    return pn_objective_bounds(objective)->strong_convexity;
}

bool pn_objective_is_convex(const pn_objective *objective)
{
    return pn_objective_bounds(objective)->convex;
}
