/* block_sampling.c -- the table of samplings of blocks, and what all of them share.
 * Depends on: block_sampling.h.  Used by: objective/expected_curvature*.c, solvers/block_frank_wolfe*.c, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random/block_sampling.h"

static const pn_block_sampling_ops *const sampling_table[] = {
    &pn_block_sampling_full, &pn_block_sampling_serial, &pn_block_sampling_nice, &pn_block_sampling_distributed, NULL,
};

const pn_block_sampling_ops *const *pn_block_sampling_table(void)
{
    return sampling_table;
}

pn_status pn_block_sampling_new(pn_block_sampling **out, const char *name, pn_arg *args, pn_err *err)
{
    char owner[64];

    *out = NULL;
    for (size_t i = 0; sampling_table[i]; i++) {
        pn_status status;

        if (strcmp(sampling_table[i]->name, name) != 0)
            continue;
        (void)snprintf(owner, sizeof owner, "sampling.%s", name);
        status = pn_args_check(owner, sampling_table[i]->params, args, err);
        if (status == PN_OK && args[0].count > PN_BLOCKS_MAX)
            status =
                pn_fail(err, PN_EINVAL, "%s: blocks must be at most %zu, got %zu", owner, PN_BLOCKS_MAX, args[0].count);
        return status == PN_OK ? sampling_table[i]->create(out, args, err) : status;
    }
    return pn_fail(err, PN_EUNSUPPORTED,
                   "sampling: there is no \"%.40s\"; there are full, serial, nice, distributed and custom", name);
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
