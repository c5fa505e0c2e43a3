/* objective.c -- the mean loss over a data set and a constraint set: construction and certified bounds.
 * Depends on: data, geometry, loss.h.  Used by: solvers, bindings.
 *
 * The bounds follow one chain.  |<x, theta>| <= radius of the set in a norm times the record bound in the dual norm gives the
 * margin interval; the loss's own range over that interval gives slope and curvature; their products with the record bounds
 * give Lipschitz constants, smoothness and the Frank-Wolfe curvature. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/objective_impl.h"

/* Covers the rounding of the few products below: outward. */
#define OUTWARD     (1.0 + 1e-14)
#define BLOCK_BYTES 24576 /* three quarters of a 32 KiB first-level cache: the block, its margins and the gradient */
#define MAX_CHUNKS  64

static bool enforced(double bound)
{
    return !isnan(bound) && isfinite(bound);
}

/* min over norms of size(norm) * record bound in the dual norm; +inf when no record bound is enforced. */
static double dual_product(const pn_record_bounds *records, const pn_set *set, double (*size)(const pn_set *, pn_lp))
{
    double best = INFINITY;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double record = records->norm[pn_lp_dual((pn_lp)norm)];

        if (enforced(record))
            best = fmin(best, size(set, (pn_lp)norm) * record);
    }
    return best * OUTWARD;
}

static void missing(pn_bounds *bounds, const char *what)
{
    bounds->certified = false;
    (void)snprintf(bounds->missing, sizeof bounds->missing, "%.*s", (int)sizeof bounds->missing - 1, what);
}

static bool label_interval(const pn_objective *objective, pn_interval *labels)
{
    const pn_record_bounds *records = &objective->data->bounds;

    if (objective->loss->ops->labels == PN_LABELS_BINARY) {
        *labels = (pn_interval){ -1.0, 1.0 };
        return true;
    }
    *labels = (pn_interval){ records->label_low, records->label_high };
    return enforced(records->label_low) && enforced(records->label_high);
}

static void derive(pn_objective *objective)
{
    pn_bounds *bounds = &objective->bounds;
    const pn_record_bounds *records = &objective->data->bounds;
    const pn_set *set = objective->set;
    double margin, across;
    pn_interval labels;
    pn_err err;

    if (!set) {
        missing(bounds, "the objective has no constraint set: give set=, e.g. pn.set.l1_ball{dim=p, radius=1}");
        return;
    }
    margin = dual_product(records, set, set->ops->radius);
    if (!isfinite(margin)) {
        missing(bounds, "no bound on the records is enforced: clip them first, e.g. data:clip_rows(\"l2\", 1)");
        return;
    }
    if (!label_interval(objective, &labels)) {
        missing(bounds, "no bound on the labels is enforced: clip them first, e.g. data:clip_labels(-1, 1)");
        return;
    }
    bounds->margin = (pn_interval){ -margin, margin };
    if (objective->loss->ops->range(objective->loss, bounds->margin, labels, &bounds->loss, &err) != PN_OK) {
        missing(bounds, err.message);
        return;
    }
    bounds->certified = true;
    bounds->slope = fmax(fabs(bounds->loss.slope.low), fabs(bounds->loss.slope.high));
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double record = records->norm[pn_lp_dual((pn_lp)norm)];

        bounds->lipschitz[norm] = enforced(record) ? bounds->slope * record * OUTWARD : INFINITY;
    }
    bounds->smoothness = enforced(records->norm[PN_L2])
                             ? bounds->loss.curvature.high * records->norm[PN_L2] * records->norm[PN_L2] * OUTWARD
                             : INFINITY;
    across = dual_product(records, set, set->ops->diameter);
    bounds->curvature = fmax(bounds->loss.curvature.high, 0.0) * across * across * OUTWARD;
}

static void unknown_bounds(pn_bounds *bounds)
{
    memset(bounds, 0, sizeof *bounds);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        bounds->lipschitz[norm] = INFINITY;
    bounds->slope = bounds->smoothness = bounds->curvature = INFINITY;
    bounds->margin = (pn_interval){ -INFINITY, INFINITY };
    bounds->loss.value = bounds->loss.slope = bounds->loss.curvature = bounds->margin;
}

static size_t clamp_size(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Whole blocks. */
static size_t rows_per_chunk(const pn_objective *objective, size_t chunks)
{
    size_t rows = (objective->data->n + chunks - 1) / chunks;

    return (rows + objective->block_rows - 1) / objective->block_rows * objective->block_rows;
}

/* A bound on the chunks from below, by public numbers: n, p and the storage, not the number of entries. */
static size_t fewest_chunks(const pn_dataset *data)
{
    return data->sparse ? clamp_size(data->n / data->p, 1, MAX_CHUNKS) : MAX_CHUNKS;
}

/* The partition depends on the data alone, so results do not depend on the machine.  A sparse pass writes one gradient per
 * chunk: few enough that this stays below the entries read. */
static void partition(pn_objective *objective)
{
    const pn_dataset *data = objective->data;
    size_t chunks = fewest_chunks(data);

    if (data->sparse)
        chunks = clamp_size(data->csr.start[data->n] / (4 * data->p), chunks, MAX_CHUNKS);
    objective->block_rows = clamp_size(BLOCK_BYTES / (8 * data->p), 8, PN_BLOCK_ROWS_MAX) & ~(size_t)7;
    objective->chunk_rows = rows_per_chunk(objective, chunks);
    objective->chunks = (data->n + objective->chunk_rows - 1) / objective->chunk_rows;
}

static pn_status check_parts(const pn_dataset *data, const pn_loss *loss, const pn_set *set, pn_err *err)
{
    if (set && set->dim != data->p)
        return pn_fail(err, PN_EDIM, "objective: the set has dimension %zu, the data has %zu features", set->dim,
                       data->p);
    if (loss->ops->labels == PN_LABELS_BINARY && !data->bounds.labels_binary)
        return pn_fail(err, PN_EINVAL,
                       "objective: %s needs labels -1 and 1; load with labels=\"binary\" or labels={[a]=-1, [b]=1}",
                       loss->ops->name);
    return PN_OK;
}

pn_status pn_objective_new(pn_objective **out, const pn_dataset *data, pn_loss *loss, pn_set *set, pn_err *err)
{
    pn_objective *objective;
    pn_status status = check_parts(data, loss, set, err);

    if (status != PN_OK)
        return status;
    objective = pn_calloc(1, sizeof *objective);
    if (!objective)
        return pn_fail(err, PN_ENOMEM, "objective: out of memory");
    objective->data = data;
    objective->loss = pn_loss_keep(loss);
    objective->set = set ? pn_set_keep(set) : NULL;
    partition(objective);
    objective->partial = pn_alloc(objective->chunks, (data->p + 1) * sizeof(double));
    if (!objective->partial) {
        size_t chunks = objective->chunks;

        pn_objective_free(objective);
        return pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu partial gradients of %zu entries", chunks,
                       data->p);
    }
    unknown_bounds(&objective->bounds);
    derive(objective);
    *out = objective;
    return PN_OK;
}

void pn_objective_free(pn_objective *objective)
{
    if (!objective)
        return;
    pn_gram_clear(&objective->gram);
    pn_free(objective->partial);
    pn_loss_free(objective->loss);
    pn_set_free(objective->set);
    pn_free(objective);
}

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

const pn_bounds *pn_objective_bounds(const pn_objective *objective)
{
    return &objective->bounds;
}

/* gamma = depth * 2^-53 bounds the relative error of a sum of that depth, products and division included.  The depth is that
 * of the coarsest partition: the real one may depend on the number of entries, which is not public. */
static double pass_error(const pn_objective *objective, double record_linf)
{
    double depth = (double)rows_per_chunk(objective, fewest_chunks(objective->data)) + MAX_CHUNKS + 8.0;

    return depth * 0x1p-53 * 1.01 * objective->bounds.slope * record_linf;
}

/* gradient = H theta - b: the errors of H and b, and those of the product, over ||theta||_1 <= radius. */
static double gram_error(const pn_objective *objective, double record_linf)
{
    const pn_record_bounds *records = &objective->data->bounds;
    double gamma = ((double)pn_gram_depth(objective) + 8.0) * 0x1p-53 * 1.01;
    double product = ((double)objective->data->p + 4.0) * 0x1p-53 * 1.01;
    double theta = objective->set->ops->radius(objective->set, PN_L1);
    double label = fmax(fabs(records->label_low), fabs(records->label_high));

    return (gamma + product) * record_linf * (theta * record_linf + label);
}

double pn_objective_gradient_error(const pn_objective *objective)
{
    double linf = objective->data->bounds.norm[PN_LINF], pass;

    if (!objective->bounds.certified || !enforced(linf))
        return INFINITY;
    pass = pass_error(objective, linf);
    return objective->loss->ops->quadratic ? fmax(pass, gram_error(objective, linf)) : pass;
}
