/* binary_push.c -- one leaf, and the end, of a binary tree, on one block of coordinates.
 *
 * Plain with equal nodes: the state is the exact sum of all leaves and, for each level i, the SUM of the integer noise
 * of the nodes of NODE(t) down to level i: a release reads one of them, whatever t is.
 * Otherwise: for each level the exact sum of its last block, and what was released (the estimate R of the prefix) where
 * that block ended: float arithmetic on measurements is post-processing.  The estimate of a block is R at its end less
 * R before it, so that a node of level i that is measured as y turns C, the best estimate of prefix t from smaller
 * nodes, into C + weight (y - (C - R before the node)).
 * Depends on: binary_prefix.h.  Used by: binary_prefix.c.  See tree-mechanism.md sections 2.1, 2.3, 4. */
#include <math.h>
#include <string.h>

#include "continual/binary_prefix.h"
#include "core/mutant.h"

/* Levels of a tree that has t leaves. */
static unsigned levels_at(const binary_tree *tree, uint64_t t)
{
    unsigned levels = 64U - (unsigned)__builtin_clzll(t);

    return levels < tree->levels ? levels : tree->levels;
}

/* Level after level, so that growth appends: see binary_words. */
static size_t words_below(const binary_tree *tree, unsigned level)
{
    if (tree->integers)
        return 2 + (tree->regenerate ? 0 : level);
    return 3 * (size_t)level + (tree->estimator == PN_PREFIX_FULL ? tree->offset[level] : 0);
}

size_t binary_words(const pn_prefix_method *self, uint64_t t)
{
    const binary_tree *tree = (const binary_tree *)self;

    return words_below(tree, levels_at(tree, t));
}

static void *state_at(void *state, const pn_prefix_step *step, size_t words)
{
    return (char *)state + 8 * words * step->stride;
}

/* Sums take two words. */
static pn_exact_sums sums_at(void *state, const pn_prefix_step *step, size_t words)
{
    int64_t *low = state_at(state, step, words);

    return (pn_exact_sums){ low, low + step->stride };
}

/* sums += the leaf. */
static void add_rounded(const binary_tree *tree, const pn_prefix_step *step, pn_exact_sums sums)
{
    const double length = tree->base.step;

    if (pn_prefix_round(step, length, step->whole) || !pn_prefix_has_far(step, step->whole)) {
        pn_sums_add_whole(sums, step->whole, step->count);
        return;
    }
    if (!pn_sums_far(sums))
        pn_sums_mark(sums, step->count);
    for (size_t j = 0; j < step->count; j++)
        pn_sums_set(sums, j, pn_wrap_add_wide(pn_sums_at(sums, j), pn_prefix_far(step, length, tree->limit, j)));
}

/* ---- plain, equal nodes ---- */

static int64_t *noise_sum(void *state, const pn_prefix_step *step, unsigned level)
{
    return state_at(state, step, 2 + (size_t)level);
}

static void add_noise(const pn_prefix_step *step, uint64_t level, uint64_t index, int64_t *total)
{
    pn_prefix_noise(step, level, index, step->noise);
    for (size_t j = 0; j < step->count; j++)
        total[j] = pn_wrap_add(total[j], step->noise[j]);
}

/* total[count]: the noise of all nodes of NODE(t), drawn again. */
static void regenerate(const binary_tree *tree, const pn_prefix_step *step, int64_t *total)
{
    uint64_t t = step->t, fresh = PN_MUTANT("node_redrawn") ? t << 8 : 0;

    for (size_t j = 0; j < step->count; j++)
        total[j] = 0;
    if (binary_halves(tree, t))
        add_noise(step, (tree->levels - 1) | fresh, 1, total);
    if (binary_halves(tree, t))
        add_noise(step, (tree->levels - 1) | fresh, 2, total);
    for (unsigned i = 0; i < tree->levels; i++) {
        if (t >> i & 1)
            add_noise(step, i | fresh, t >> i, total);
    }
}

/* The sum of the nodes before the last one is where it was left when the last of them ended.
 * Returns the one with it. */
static const int64_t *extend(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    unsigned level = binary_level(tree, step->t);
    uint64_t rest = binary_halves(tree, step->t) ? step->t / 2 : step->t & (step->t - 1);
    int64_t *restrict kept = noise_sum(state, step, level);
    const int64_t *restrict noise = step->noise;

    if (rest == 0 || PN_MUTANT("node_skipped")) {
        pn_prefix_noise(step, level, step->t >> level, kept);
        return kept;
    }
    pn_prefix_noise(step, level, step->t >> level, step->noise);
    if (level == (unsigned)__builtin_ctzll(rest)) { /* the halves */
        for (size_t j = 0; j < step->count; j++)
            kept[j] = pn_wrap_add(kept[j], noise[j]);
    } else {
        const int64_t *restrict before = noise_sum(state, step, (unsigned)__builtin_ctzll(rest));

        for (size_t j = 0; j < step->count; j++)
            kept[j] = pn_wrap_add(before[j], noise[j]);
    }
    return kept;
}

/* prefix = (sum + noise) steps */
static void release_integers(const pn_prefix_step *step, pn_exact_sums sum, const int64_t *noise, double length)
{
    const int64_t *low = sum.low;

    if (pn_sums_far(sum)) {
        for (size_t j = 0; j < step->count; j++)
            step->prefix[j] = pn_sums_double(pn_wrap_add_wide(pn_sums_at(sum, j), noise[j])) * length;
        return;
    }
    for (size_t j = 0; j < step->count; j++)
        step->prefix[j] = (double)pn_wrap_add(low[j], noise[j]) * length;
}

static void push_integers(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    pn_exact_sums sum = sums_at(state, step, 0);
    const int64_t *total = step->noise;

    if (tree->regenerate || PN_MUTANT("node_redrawn")) {
        int64_t *again = (int64_t *)(void *)step->work[0];

        regenerate(tree, step, again);
        total = again;
    } else {
        total = extend(tree, state, step);
    }
    add_rounded(tree, step, sum);
    release_integers(step, sum, total, tree->base.step);
}

/* ---- estimates ---- */

static pn_exact_sums block_sum(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    return sums_at(state, step, words_below(tree, level));
}

static double *released(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    return state_at(state, step, words_below(tree, level) + 2);
}

/* Division to the nearest, halves away from zero; below 2^62 by a product: with 2^(bits-1) < by <= 2^bits and
 * factor = ceil(2^(63+bits) / by), floor(n / by) = floor(n factor / 2^(63+bits)) for n < 2^63
 * (Granlund and Montgomery 1994). */
typedef struct divisor {
    uint32_t by, half;
    unsigned bits;
    uint64_t factor;
} divisor;

static divisor divisor_of(uint32_t by)
{
    divisor it = { .by = by, .half = by / 2 };

    if (by == 1)
        return it;
    it.bits = 32U - (unsigned)__builtin_clz(by - 1);
    it.factor = (uint64_t)((((pn_prefix_wide_bits)1 << (63 + it.bits)) + by - 1) / by);
    return it;
}

static inline int64_t divide_small(const divisor *by, int64_t sum)
{
    uint64_t sign = sum < 0 ? UINT64_MAX : 0, n = (((uint64_t)sum ^ sign) - sign) + by->half;
    uint64_t quotient = (uint64_t)((pn_prefix_wide_bits)n * by->factor >> 64) >> (by->bits - 1);

    return (int64_t)((quotient ^ sign) - sign);
}

static inline pn_prefix_wide divide(const divisor *by, pn_prefix_wide sum)
{
    const pn_prefix_wide half = by->half;

    return pn_wrap_add_wide(sum, sum < 0 ? -half : half) / (pn_prefix_wide)by->by;
}

/* y[count]: step->sums + noise, in units of the leaves. */
static void measure(const binary_tree *tree, const pn_prefix_step *step, unsigned level, uint64_t index, double *y)
{
    const uint32_t multiple = binary_multiple(tree, level, index);
    const double length = tree->base.step / tree->unit * multiple;
    const divisor by = divisor_of(multiple);
    const int64_t *low = step->sums.low, *noise = step->noise;

    pn_prefix_noise(step, level, index, step->noise);
    if (pn_sums_far(step->sums)) {
        for (size_t j = 0; j < step->count; j++)
            y[j] = pn_sums_double(pn_wrap_add_wide(divide(&by, pn_sums_at(step->sums, j)), noise[j])) * length;
    } else if (multiple == 1) {
        for (size_t j = 0; j < step->count; j++)
            y[j] = (double)pn_wrap_add(low[j], noise[j]) * length;
    } else {
        for (size_t j = 0; j < step->count; j++)
            y[j] = (double)pn_wrap_add(divide_small(&by, low[j]), noise[j]) * length;
    }
}

/* step->sums: the leaf alone. */
static void round_leaf(const binary_tree *tree, const pn_prefix_step *step)
{
    const double length = tree->base.step / tree->unit;
    uint64_t seen = 0;

    if (!pn_prefix_round(step, length, step->sums.low)) {
        for (size_t j = 0; j < step->count; j++)
            seen |= pn_sums_seen(step->sums.low[j]);
    }
    pn_sums_end(step->sums, step->count, seen);
    for (size_t j = 0; pn_sums_far(step->sums) && j < step->count; j++)
        pn_sums_set(step->sums, j, pn_prefix_far(step, length, tree->limit, j));
}

static void keep_measurement(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level,
                             uint64_t index, const double *y)
{
    double *kept;

    if (tree->estimator != PN_PREFIX_FULL)
        return;
    kept = state_at(state, step, words_below(tree, level) + 3 + (size_t)(index - 1));
    memcpy(kept, y, step->count * sizeof *y);
}

/* R where the node of `level` that ends at t begins; NULL for 0. */
static const double *before(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    uint64_t start = step->t - ((uint64_t)1 << level);

    return start > 0 ? released(tree, state, step, (unsigned)__builtin_ctzll(start)) : NULL;
}

/* prefix + weight (y - (prefix - R)) */
static void combine(const pn_prefix_step *step, double weight, const double *restrict y, const double *restrict start)
{
    double *restrict prefix = step->prefix;

    if (start) {
        for (size_t j = 0; j < step->count; j++)
            prefix[j] += weight * (y[j] - (prefix[j] - start[j]));
    } else {
        for (size_t j = 0; j < step->count; j++)
            prefix[j] += weight * (y[j] - prefix[j]);
    }
}

/* R + y */
static void replace(const pn_prefix_step *step, const double *restrict y, const double *restrict start)
{
    double *restrict prefix = step->prefix;

    if (!start) {
        memcpy(prefix, y, step->count * sizeof *y);
        return;
    }
    for (size_t j = 0; j < step->count; j++)
        prefix[j] = start[j] + y[j];
}

/* prefix + y, where prefix is still that of the leaf before. */
static void add_leaf(const pn_prefix_step *step, const double *restrict y)
{
    double *restrict prefix = step->prefix;

    for (size_t j = 0; j < step->count; j++)
        prefix[j] += y[j];
}

/* The node that ends at t on `level`: its measurement, joined with what prefix knows from its children. */
static void join(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    const uint64_t index = step->t >> level;
    const double *y = step->work[0];
    double own = binary_own(tree, level, index), children;

    measure(tree, step, level, index, step->work[0]);
    keep_measurement(tree, state, step, level, index, y);
    if (level == 0) {
        add_leaf(step, y);
    } else if (tree->estimator == PN_PREFIX_PLAIN) {
        replace(step, y, before(tree, state, step, level));
    } else {
        children = binary_estimate(tree, level - 1, 2 * index - 1) + binary_estimate(tree, level - 1, 2 * index);
        combine(step, children / (children + own), y, before(tree, state, step, level));
    }
}

/* Works where the last node's sum is going to be kept; what was there is part of a longer block already.
 * (The last of two halves is not kept: no leaf follows.) */
static void push_estimates(const binary_tree *tree, void *state, const pn_prefix_step *given)
{
    const unsigned last = binary_level(tree, given->t);
    const bool halves = binary_halves(tree, given->t), plain = tree->estimator == PN_PREFIX_PLAIN;
    pn_prefix_step step = *given;

    if (!halves)
        step.sums = block_sum(tree, state, given, last);
    round_leaf(tree, &step);
    for (unsigned i = 0; i <= last; i++) {
        if (i > 0)
            pn_sums_add(step.sums, block_sum(tree, state, &step, i - 1), step.count);
        if (i == last || !plain)
            join(tree, state, &step, i);
    }
    if (!halves)
        memcpy(released(tree, state, &step, last), step.prefix, step.count * sizeof *step.prefix);
}

void binary_push(const pn_prefix_method *self, void *state, const pn_prefix_step *step)
{
    const binary_tree *tree = (const binary_tree *)self;

    if (tree->integers)
        push_integers(tree, state, step);
    else
        push_estimates(tree, state, step);
}

/* ---- completing ----
 * As if leaves of zero were pushed up to the next power of two.  That they are zero is public, so that no node of zeros
 * alone has to be measured: only the nodes that hold both. */

static void complete_integers(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    if ((step->t & (step->t - 1)) == 0) /* released already, and who resumed the stream would draw other noise */
        return;
    pn_prefix_noise(step, binary_ceiling(step->t), 1, step->noise);
    release_integers(step, sums_at(state, step, 0), step->noise, tree->base.step);
}

static void complete_estimates(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    const uint64_t t = step->t;
    const unsigned top = binary_ceiling(t);
    const bool plain = tree->estimator == PN_PREFIX_PLAIN;
    double variance = 0.0;

    for (size_t j = 0; j < step->count; j++)
        step->sums.low[j] = 0;
    step->sums.high[0] = 0;
    for (unsigned i = 0; i < top; i++) {
        uint64_t index = (t >> (i + 1)) + 1, start = (index - 1) << (i + 1);
        double own;

        if (t >> i & 1) {
            pn_sums_add(step->sums, block_sum(tree, state, step, i), step->count);
            variance += binary_estimate(tree, i, t >> i);
        }
        if (start == t) /* zeros alone */
            continue;
        own = binary_own(tree, i + 1, index);
        measure(tree, step, i + 1, index, step->work[0]);
        combine(step, plain ? 1.0 : variance / (variance + own), step->work[0],
                start > 0 ? released(tree, state, step, (unsigned)__builtin_ctzll(start)) : NULL);
        variance = variance * own / (variance + own);
    }
}

void binary_complete(const pn_prefix_method *self, void *state, const pn_prefix_step *step)
{
    const binary_tree *tree = (const binary_tree *)self;

    if (tree->integers)
        complete_integers(tree, state, step);
    else
        complete_estimates(tree, state, step);
}
