/* block_sampling_declared.c -- samplings whose inclusion probabilities are given: serial (one block, with weights) and
 * custom, which a host's callback draws.  Depends on: block_sampling.h, numeric/lapack.h.
 * Used by: block_sampling.c's table, bindings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/lapack.h"
#include "random/block_sampling.h"

typedef struct declared {
    pn_block_sampling base; /* first */
    double *p;              /* [blocks]; NULL: uniform, 1/blocks */
    double *rising;         /* [blocks] serial with weights: p_0 + ... + p_i */
    double *pairs;          /* [blocks * blocks] or NULL */
    double top;
    pn_block_draw draw; /* of custom */
} declared;

static const declared *as_declared(const pn_block_sampling *self)
{
    return (const declared *)self;
}

static void declared_destroy(pn_block_sampling *self)
{
    declared *of = (declared *)self;

    if (of->draw.release)
        of->draw.release(of->draw.self);
    pn_free(of->p);
    pn_free(of->rising);
    pn_free(of->pairs);
    pn_free(of);
}

static double declared_inclusion(const pn_block_sampling *self, size_t i)
{
    const declared *of = as_declared(self);

    return of->p ? of->p[i] : 1.0 / (double)self->blocks;
}

static double declared_top(const pn_block_sampling *self)
{
    return as_declared(self)->top;
}

static pn_status check_inclusions(const char *owner, const double *p, size_t blocks, pn_err *err)
{
    for (size_t i = 0; i < blocks; i++) {
        if (!(p[i] > 0.0 && p[i] <= 1.0))
            return pn_fail(err, PN_EINVAL, "%s: p must hold probabilities above 0 and at most 1, got %g at entry %zu",
                           owner, p[i], i + 1);
    }
    return PN_OK;
}

/* NULL: uniform */
static double least_of(const double *p, size_t blocks)
{
    double least = p ? p[0] : 1.0 / (double)blocks;

    for (size_t i = 1; p && i < blocks; i++)
        least = fmin(least, p[i]);
    return least;
}

/* ---- serial ---- */

#define SUM_TOLERANCE 1e-9 /* what numbers written by hand, as 0.333333333, may miss 1 by */

static const pn_param serial_params[] = {
    { "blocks", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of blocks d" },
    { "p", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "probability of each block [d], positive, with sum 1; by default 1/d" },
    PN_PARAM_END,
};

static pn_status set_weights(declared *self, pn_vec p, size_t blocks, pn_err *err)
{
    double sum = 0.0;

    PN_TRY(check_inclusions("sampling.serial", p.data, blocks, err));
    self->p = pn_alloc(blocks, sizeof(double));
    self->rising = pn_alloc(blocks, sizeof(double));
    PN_TRY(pn_made(self->p && self->rising, err, "sampling.serial: out of memory for %zu blocks", blocks));
    for (size_t i = 0; i < blocks; i++) {
        sum += p.data[i];
        self->rising[i] = sum;
    }
    if (!(fabs(sum - 1.0) <= SUM_TOLERANCE))
        return pn_fail(err, PN_EINVAL, "sampling.serial: p must sum to 1, got %.12g", sum);
    for (size_t i = 0; i < blocks; i++)
        self->p[i] = p.data[i] / sum;
    return PN_OK;
}

static pn_status serial_create(pn_block_sampling **out, const pn_arg *args, pn_err *err)
{
    size_t blocks = args[0].count;
    pn_status status = PN_OK;
    declared *self;

    if (args[1].given && args[1].vector.n != blocks)
        return pn_fail(err, PN_EDIM, "sampling.serial: p has %zu entries, there are %zu blocks", args[1].vector.n,
                       blocks);
    PN_TRY(pn_new_zeroed(&self, 1, err, "sampling.serial: out of memory"));
    if (args[1].given)
        status = set_weights(self, args[1].vector, blocks, err);
    if (status != PN_OK) {
        declared_destroy(&self->base);
        return status;
    }
    self->top = 1.0;
    pn_block_sampling_init(&self->base, &pn_block_sampling_serial, blocks, least_of(self->p, blocks), 1.0);
    *out = &self->base;
    return PN_OK;
}

/* The first block whose running sum is above u. */
static pn_status serial_draw(const pn_block_sampling *self, pn_rng *rng, size_t *indices, size_t *count, pn_err *err)
{
    const declared *of = as_declared(self);
    size_t low = 0, high = self->blocks - 1;
    double u;

    (void)err;
    *count = 1;
    if (!of->rising) {
        indices[0] = (size_t)pn_rng_below(rng, self->blocks);
        return PN_OK;
    }
    u = pn_rng_uniform(rng) * of->rising[high];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (of->rising[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    indices[0] = low;
    return PN_OK;
}

static double serial_pair(const pn_block_sampling *self, size_t i, size_t j)
{
    return i == j ? declared_inclusion(self, i) : 0.0;
}

const pn_block_sampling_ops pn_block_sampling_serial = {
    .name = "serial",
    .doc = "One block, uniformly or with the weights p.",
    .source = "Richtarik, Takac (2016), serial sampling",
    .params = serial_params,
    .create = serial_create,
    .destroy = declared_destroy,
    .draw = serial_draw,
    .inclusion = declared_inclusion,
    .pair = serial_pair,
    .top = declared_top,
};

/* ---- custom ---- */

static int rising_order(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static pn_status custom_draw(const pn_block_sampling *self, pn_rng *rng, size_t *indices, size_t *count, pn_err *err)
{
    const declared *of = as_declared(self);

    PN_TRY(of->draw.draw(of->draw.self, rng, indices, count, self->blocks, err));
    if (*count > self->blocks)
        return pn_fail(err, PN_EINVAL, "sampling.custom: draw gave %zu indices, there are %zu blocks", *count,
                       self->blocks);
    qsort(indices, *count, sizeof *indices, rising_order);
    for (size_t i = 0; i < *count; i++) {
        if (indices[i] >= self->blocks)
            return pn_fail(err, PN_EINVAL, "sampling.custom: draw gave block %zu, there are %zu", indices[i] + 1,
                           self->blocks);
        if (i > 0 && indices[i] == indices[i - 1])
            return pn_fail(err, PN_EINVAL, "sampling.custom: draw gave block %zu twice", indices[i] + 1);
    }
    return PN_OK;
}

static double custom_pair(const pn_block_sampling *self, size_t i, size_t j)
{
    const declared *of = as_declared(self);

    if (i == j)
        return of->p[i];
    return of->pairs ? of->pairs[i * self->blocks + j] : (double)NAN;
}

static const pn_block_sampling_ops custom_ops = {
    .name = "custom",
    .doc = "Blocks that a function of the caller's draws, with declared probabilities.",
    .source = "Lou, Cheung (2018), Theorem 1",
    .destroy = declared_destroy,
    .draw = custom_draw,
    .inclusion = declared_inclusion,
    .pair = custom_pair,
    .top = declared_top,
};

#define PAIR_ROUNDING 1e-9

/* P(i and j) of any two events lies between p_i + p_j - 1 and the smaller of the two. */
static pn_status check_pairs(const double *p, const double *pairs, size_t blocks, pn_err *err)
{
    for (size_t i = 0; i < blocks; i++) {
        for (size_t j = 0; j < blocks; j++) {
            double pair = pairs[i * blocks + j], least = fmax(p[i] + p[j] - 1.0, 0.0), most = fmin(p[i], p[j]);

            if (i == j && fabs(pair - p[i]) <= PAIR_ROUNDING)
                continue;
            if (i == j)
                return pn_fail(err, PN_EINVAL,
                               "sampling.custom: pairs must have p on its diagonal, got %g for %g at %zu", pair, p[i],
                               i + 1);
            if (!(fabs(pair - pairs[j * blocks + i]) <= PAIR_ROUNDING))
                return pn_fail(err, PN_EINVAL,
                               "sampling.custom: pairs must be symmetric, got %g and %g for %zu and %zu", pair,
                               pairs[j * blocks + i], i + 1, j + 1);
            if (!(pair >= least - PAIR_ROUNDING && pair <= most + PAIR_ROUNDING))
                return pn_fail(err, PN_EINVAL,
                               "sampling.custom: the pair %zu, %zu must have a probability from %g to %g, got %g",
                               i + 1, j + 1, least, most, pair);
        }
    }
    return PN_OK;
}

/* Its rounding included: LAPACK's eigenvalues of a matrix of norm <= blocks are within a few n 2^-52 norms of the true
 * ones. */
static pn_status top_of_pairs(double *top, const double *p, const double *pairs, size_t blocks, pn_err *err)
{
    double *scaled = pn_alloc(blocks, blocks * sizeof *scaled), *values = pn_alloc(blocks, sizeof *values);
    double slack = 1e-12 * (double)blocks * (double)blocks;
    pn_status status = PN_OK;

    if (!scaled || !values)
        status = pn_fail(err, PN_ENOMEM, "sampling.custom: out of memory for %zu blocks", blocks);
    for (size_t k = 0; status == PN_OK && k < blocks * blocks; k++)
        scaled[k] = k / blocks == k % blocks ? 1.0 : pairs[k] / sqrt(p[k / blocks] * p[k % blocks]);
    if (status == PN_OK)
        status = pn_eigen_symmetric(values, scaled, (pn_mat){ scaled, blocks, blocks }, err);
    if (status == PN_OK && values[0] < -1e-6 * (double)blocks)
        status = pn_fail(err, PN_EINVAL,
                         "sampling.custom: no law of subsets has these pairs: their matrix has a negative eigenvalue");
    if (status == PN_OK)
        *top = values[blocks - 1] + slack;
    pn_free(scaled);
    pn_free(values);
    return status;
}

static pn_status declare(declared *self, size_t blocks, const double *p, const double *pairs, pn_err *err)
{
    self->p = pn_alloc(blocks, sizeof(double));
    self->pairs = pairs ? pn_alloc(blocks, blocks * sizeof(double)) : NULL;
    self->top = (double)blocks;
    if (!self->p || (pairs && !self->pairs))
        return pn_fail(err, PN_ENOMEM, "sampling.custom: out of memory for %zu blocks", blocks);
    memcpy(self->p, p, blocks * sizeof(double));
    if (!pairs)
        return PN_OK;
    memcpy(self->pairs, pairs, blocks * blocks * sizeof(double));
    return top_of_pairs(&self->top, p, pairs, blocks, err);
}

pn_status pn_block_sampling_custom(pn_block_sampling **out, size_t blocks, const double *p, const double *pairs,
                                   const pn_block_draw *draw, pn_err *err)
{
    pn_status status;
    double mean = 0.0;
    declared *self;

    *out = NULL;
    if (blocks == 0 || blocks > PN_BLOCKS_MAX)
        return pn_fail(err, PN_EINVAL, "sampling.custom: blocks must be from 1 to %zu, got %zu", PN_BLOCKS_MAX, blocks);
    status = check_inclusions("sampling.custom", p, blocks, err);
    if (status == PN_OK && pairs)
        status = check_pairs(p, pairs, blocks, err);
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "sampling.custom: out of memory"));
    status = declare(self, blocks, p, pairs, err);
    if (status != PN_OK) {
        declared_destroy(&self->base);
        return status;
    }
    for (size_t i = 0; i < blocks; i++)
        mean += p[i];
    pn_block_sampling_init(&self->base, &custom_ops, blocks, least_of(p, blocks), mean);
    self->draw = *draw;
    *out = &self->base;
    return PN_OK;
}
