/* block_sampling.c -- the table of samplings of blocks, and what all of them share.
 * Depends on: block_sampling.h.  Used by: objective/expected_curvature*.c, solvers/block_frank_wolfe*.c, bindings. */
#include <math.h>

#include "core/table.h"
#include "random/block_sampling.h"

static const pn_block_sampling_ops *const rows[] = {
    &pn_block_sampling_full, &pn_block_sampling_serial, &pn_block_sampling_nice, &pn_block_sampling_distributed, NULL,
};
PN_TABLE(samplings, pn_block_sampling_ops, "sampling", "sampling", rows);

const pn_block_sampling_ops *const *pn_block_sampling_table(void)
{
    return rows;
}

pn_status pn_block_sampling_new(pn_block_sampling **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_block_sampling_ops *row = pn_table_open(&samplings, __func__, name, args, &status, err);

    *out = NULL;
    if (row && args[0].count > PN_BLOCKS_MAX)
        return pn_fail(err, PN_EINVAL, "sampling.%s: blocks must be at most %zu, got %zu", name, PN_BLOCKS_MAX,
                       args[0].count);
    return row ? row->create(out, args, err) : status;
}

void pn_block_sampling_init(pn_block_sampling *self, const pn_block_sampling_ops *ops, size_t blocks, double least,
                            double mean)
{
    *self = (pn_block_sampling){ .ops = ops, .blocks = blocks, .least = least, .mean = mean, .references = 1 };
}

pn_block_sampling *pn_block_sampling_keep(pn_block_sampling *sampling)
{
    if (sampling)
        sampling->references++;
    return sampling;
}

void pn_block_sampling_free(pn_block_sampling *sampling)
{
    if (sampling && --sampling->references == 0)
        sampling->ops->destroy(sampling);
}

pn_status pn_block_sampling_draw(const pn_block_sampling *sampling, pn_rng *rng, size_t *indices, size_t *count,
                                 pn_err *err)
{
    return sampling->ops->draw(sampling, rng, indices, count, err);
}

bool pn_block_sampling_has_pairs(const pn_block_sampling *sampling)
{
    return sampling->blocks == 1 || !isnan(sampling->ops->pair(sampling, 0, 1));
}

double pn_block_sampling_top(const pn_block_sampling *sampling)
{
    return fmin(fmax(sampling->ops->top(sampling), 1.0), (double)sampling->blocks);
}

bool pn_block_sampling_groups(const pn_block_sampling *sampling, pn_block_groups *out)
{
    if (!sampling->ops->groups)
        return false;
    sampling->ops->groups(sampling, out);
    return true;
}
