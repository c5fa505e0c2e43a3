/* block_sampling_groups.c -- tau of every group: full and nice have one group, distributed has one for each party.
 * Every draw has K tau blocks, so that |A z_T|^2 <= K tau sum over T of |A_i z_i|^2: lambda'(P) is K tau,
 * reached at v_i = sqrt(p_i).
 * Depends on: block_sampling.h, sample.h.  Used by: block_sampling.c's table. */
#include <string.h>

#include "core/alloc.h"
#include "random/block_sampling.h"
#include "random/sample.h"

typedef struct grouped {
    pn_block_sampling base; /* first */
    size_t groups, tau;
    size_t first[]; /* [groups + 1] */
} grouped;

static const grouped *as_grouped(const pn_block_sampling *self)
{
    return (const grouped *)self;
}

static void grouped_destroy(pn_block_sampling *self)
{
    pn_free(self);
}

static pn_status grouped_draw(const pn_block_sampling *self, pn_rng *rng, size_t *indices, size_t *count, pn_err *err)
{
    const grouped *of = as_grouped(self);

    *count = 0;
    for (size_t k = 0; k < of->groups; k++) {
        size_t size = of->first[k + 1] - of->first[k], *out = indices + *count;
        pn_status status = PN_OK;

        if (of->tau < size)
            status = pn_sample_without_replacement(rng, size, of->tau, out, err);
        if (status != PN_OK)
            return status;
        for (size_t i = 0; i < of->tau; i++)
            out[i] = of->first[k] + (of->tau < size ? out[i] : i);
        *count += of->tau;
    }
    return PN_OK;
}

/* The last group that begins at or before block i. */
static size_t group_of(const grouped *of, size_t i)
{
    size_t low = 0, high = of->groups;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (of->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double size_of(const grouped *of, size_t group)
{
    return (double)(of->first[group + 1] - of->first[group]);
}

static double grouped_inclusion(const pn_block_sampling *self, size_t i)
{
    const grouped *of = as_grouped(self);

    return (double)of->tau / size_of(of, group_of(of, i));
}

static double grouped_pair(const pn_block_sampling *self, size_t i, size_t j)
{
    const grouped *of = as_grouped(self);
    size_t mine = group_of(of, i), other = group_of(of, j);
    double tau = (double)of->tau, size = size_of(of, mine);

    if (i == j)
        return tau / size;
    return mine == other ? tau * (tau - 1.0) / (size * (size - 1.0)) : tau / size * (tau / size_of(of, other));
}

static double grouped_top(const pn_block_sampling *self)
{
    return (double)as_grouped(self)->groups * (double)as_grouped(self)->tau;
}

static void grouped_groups(const pn_block_sampling *self, pn_block_groups *out)
{
    *out = (pn_block_groups){ as_grouped(self)->groups, as_grouped(self)->tau, as_grouped(self)->first };
}

/* ---- construction ---- */

/* Room for the groups, to be filled in and finished. */
static pn_status grouped_new(grouped **out, const char *name, size_t groups, size_t tau, pn_err *err)
{
    grouped *self = pn_calloc(1, sizeof *self + (groups + 1) * sizeof self->first[0]);

    PN_TRY(pn_made(self, err, "sampling.%s: out of memory for %zu groups", name, groups));
    self->groups = groups;
    self->tau = tau;
    *out = self;
    return PN_OK;
}

static pn_status finish(pn_block_sampling **out, grouped *self, const pn_block_sampling_ops *ops, pn_err *err)
{
    size_t largest = 0;

    for (size_t k = 0; k < self->groups; k++) {
        size_t size = self->first[k + 1] - self->first[k];

        largest = size > largest ? size : largest;
        if (self->tau > size) {
            pn_status status =
                self->groups == 1
                    ? pn_fail(err, PN_EINVAL, "sampling.%s: tau must be at most the %zu blocks, got %zu", ops->name,
                              size, self->tau)
                    : pn_fail(err, PN_EINVAL, "sampling.%s: tau must be at most %zu, the blocks in group %zu, got %zu",
                              ops->name, size, k + 1, self->tau);

            pn_free(self);
            return status;
        }
    }
    pn_block_sampling_init(&self->base, ops, self->first[self->groups], (double)self->tau / (double)largest,
                           (double)self->groups * (double)self->tau);
    *out = &self->base;
    return PN_OK;
}

static pn_status one_group(pn_block_sampling **out, const pn_block_sampling_ops *ops, size_t blocks, size_t tau,
                           pn_err *err)
{
    grouped *self = NULL;

    PN_TRY(grouped_new(&self, ops->name, 1, tau, err));
    self->first[1] = blocks;
    return finish(out, self, ops, err);
}

static const pn_param full_params[] = {
    { "blocks", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of blocks d" },
    PN_PARAM_END,
};

static pn_status full_create(pn_block_sampling **out, const pn_arg *args, pn_err *err)
{
    return one_group(out, &pn_block_sampling_full, args[0].count, args[0].count, err);
}

static const pn_param nice_params[] = {
    { "blocks", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of blocks d" },
    { "tau", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "blocks in a draw, from 1 to d" },
    PN_PARAM_END,
};

static pn_status nice_create(pn_block_sampling **out, const pn_arg *args, pn_err *err)
{
    return one_group(out, &pn_block_sampling_nice, args[0].count, args[1].count, err);
}

enum { BLOCKS, GROUPS, TAU, SIZES };

static const pn_param distributed_params[] = {
    { "blocks", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of blocks d" },
    { "groups", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "number of groups K, of d/K blocks each; where that is no whole number the first ones have one more" },
    { "tau", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "blocks that a draw takes of each group" },
    { "sizes", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blocks in each group [K], in place of d/K" },
    PN_PARAM_END,
};

static pn_status fill_sizes(grouped *self, size_t blocks, pn_vec sizes, pn_err *err)
{
    if (sizes.n != self->groups)
        return pn_fail(err, PN_EDIM, "sampling.distributed: sizes has %zu entries, there are %zu groups", sizes.n,
                       self->groups);
    for (size_t k = 0; k < self->groups; k++) {
        double size = sizes.data[k];

        if (!(size >= 1.0 && size <= (double)blocks && size == (double)(size_t)size))
            return pn_fail(err, PN_EINVAL,
                           "sampling.distributed: sizes must be whole numbers from 1 to %zu, got %g at entry %zu",
                           blocks, size, k + 1);
        self->first[k + 1] = self->first[k] + (size_t)size;
        if (self->first[k + 1] > blocks)
            break;
    }
    if (self->first[self->groups] != blocks)
        return pn_fail(err, PN_EINVAL, "sampling.distributed: sizes must sum to the %zu blocks", blocks);
    return PN_OK;
}

static pn_status distributed_create(pn_block_sampling **out, const pn_arg *args, pn_err *err)
{
    size_t blocks = args[BLOCKS].count, groups = args[GROUPS].count;
    grouped *self = NULL;
    pn_status status;

    if (groups > blocks)
        return pn_fail(err, PN_EINVAL, "sampling.distributed: groups must be at most the %zu blocks, got %zu", blocks,
                       groups);
    status = grouped_new(&self, "distributed", groups, args[TAU].count, err);
    if (status != PN_OK)
        return status;
    if (args[SIZES].given) {
        status = fill_sizes(self, blocks, args[SIZES].vector, err);
    } else {
        for (size_t k = 0; k < groups; k++)
            self->first[k + 1] = self->first[k] + blocks / groups + (k < blocks % groups ? 1 : 0);
    }
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    return finish(out, self, &pn_block_sampling_distributed, err);
}

const pn_block_sampling_ops pn_block_sampling_full = {
    .name = "full",
    .doc = "All blocks, always: the steps of the ordinary method.",
    .source = "Richtarik, Takac (2016), elementary sampling on [d]",
    .params = full_params,
    .create = full_create,
    .destroy = grouped_destroy,
    .draw = grouped_draw,
    .inclusion = grouped_inclusion,
    .pair = grouped_pair,
    .top = grouped_top,
    .groups = grouped_groups,
};

const pn_block_sampling_ops pn_block_sampling_nice = {
    .name = "nice",
    .doc = "tau of the blocks, every subset of that size equally likely.",
    .source = "Richtarik, Takac (2016), tau-nice sampling",
    .params = nice_params,
    .create = nice_create,
    .destroy = grouped_destroy,
    .draw = grouped_draw,
    .inclusion = grouped_inclusion,
    .pair = grouped_pair,
    .top = grouped_top,
    .groups = grouped_groups,
};

const pn_block_sampling_ops pn_block_sampling_distributed = {
    .name = "distributed",
    .doc = "Blocks in groups, one for each party: tau of every group, every subset of that size equally likely.",
    .source = "Richtarik, Takac (2016), (K, tau)-distributed sampling; Lou, Cheung (2018)",
    .params = distributed_params,
    .create = distributed_create,
    .destroy = grouped_destroy,
    .draw = grouped_draw,
    .inclusion = grouped_inclusion,
    .pair = grouped_pair,
    .top = grouped_top,
    .groups = grouped_groups,
};
