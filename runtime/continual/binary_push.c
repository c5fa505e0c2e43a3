/* binary_push.c -- one leaf, and the end, of a binary tree, on one block of coordinates.
 *
 * Plain with equal nodes: the state is the exact sum of all leaves and, for each level i, the SUM of the integer noise of the nodes of
 * NODE(t) down to level i: a release reads one of them, whatever t is.
 * Otherwise: for each level the exact sum of its block and the estimate of that sum, which is all that is ever released: float
 * arithmetic on measurements is post-processing.
 * Depends on: binary_prefix.h.  Used by: binary_prefix.c.  Spec: tree-mechanism.md sections 2.1, 2.3, 4. */
#include <math.h>

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

/* Conversions of 128 bits are calls; nearly all sums need 64. */
static inline double as_double(pn_prefix_wide x)
{
    return x == (int64_t)x ? (double)(int64_t)x : (double)x;
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
        total[j] += step->noise[j];
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

/* The sum of the nodes before the last one is where it was left when the last of them ended. */
static void extend(const binary_tree *tree, void *state, const pn_prefix_step *step, int64_t *total)
{
    unsigned level = binary_level(tree, step->t);
    uint64_t rest = binary_halves(tree, step->t) ? step->t / 2 : step->t & (step->t - 1);
    int64_t *kept = noise_sum(state, step, level);

    pn_prefix_noise(step, level, step->t >> level, total);
    if (rest > 0 && !PN_MUTANT("node_skipped")) {
        const int64_t *before = noise_sum(state, step, (unsigned)__builtin_ctzll(rest));

        for (size_t j = 0; j < step->count; j++)
            total[j] += before[j];
    }
    for (size_t j = 0; j < step->count; j++)
        kept[j] = total[j];
}

static void push_integers(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    pn_prefix_wide *sum = state;
    int64_t *total = (int64_t *)(void *)step->work[0];

    pn_prefix_round(step, tree->base.step, step->whole);
    if (tree->regenerate || PN_MUTANT("node_redrawn"))
        regenerate(tree, step, total);
    else
        extend(tree, state, step, total);
    for (size_t j = 0; j < step->count; j++) {
        sum[j] += step->whole[j];
        step->prefix[j] = as_double(sum[j] + total[j]) * tree->base.step;
    }
}

/* ---- estimates ---- */

static pn_prefix_wide *block_sum(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    return state_at(state, step, words_below(tree, level));
}

static double *block_estimate(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    return state_at(state, step, words_below(tree, level) + 2);
}

/* To the nearest, halves away from zero. */
static inline pn_prefix_wide divide(pn_prefix_wide sum, uint32_t by)
{
    pn_prefix_wide half = by / 2;

    if (by == 1)
        return sum;
    if (sum == (int64_t)sum && sum < (int64_t)1 << 62 && sum > -((int64_t)1 << 62))
        return ((int64_t)sum + (sum < 0 ? -(int64_t)half : (int64_t)half)) / (int64_t)by;
    return (sum + (sum < 0 ? -half : half)) / by;
}

/* y[count]: block sum + noise, in units of the leaves. */
static void measure(const binary_tree *tree, const pn_prefix_step *step, unsigned level, uint64_t index,
                    const pn_prefix_wide *sum, double *y)
{
    uint32_t multiple = binary_multiple(tree, level, index);
    double length = tree->base.step / tree->unit * multiple;

    pn_prefix_noise(step, level, index, step->noise);
    for (size_t j = 0; j < step->count; j++)
        y[j] = as_double(divide(sum[j], multiple) + step->noise[j]) * length;
}

/* In steps of the finest node over 1024 there is not always room in 64 bits for what 2^62 of that node's own steps are. */
static pn_prefix_wide round_far(double x, double length, double limit)
{
    double steps = x / length;

    if (fabs(steps) < 0x1p62)
        return pn_lattice_round(x, length, 0x1p62);
    return (pn_prefix_wide)fmax(-limit, fmin(limit, steps)); /* whole already */
}

static void round_leaf(const binary_tree *tree, const pn_prefix_step *step, pn_prefix_wide *sums)
{
    double length = tree->base.step / tree->unit;

    pn_prefix_round(step, length, step->whole);
    for (size_t j = 0; j < step->count; j++)
        sums[j] = step->whole[j];
    for (size_t j = 0; tree->node_multiple && j < step->count; j++)
        sums[j] = round_far(step->leaf[j], length, 0x1p72);
}

/* e[count], the sum of the children's estimates, becomes the node's own by inverse variance. */
static void combine(const pn_prefix_step *step, double weight, const double *y, double *e)
{
    for (size_t j = 0; j < step->count; j++)
        e[j] = weight * y[j] + (1.0 - weight) * e[j];
}

static void keep_measurement(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level,
                             uint64_t index, const double *y)
{
    double *kept;

    if (tree->estimator != PN_PREFIX_FULL)
        return;
    kept = state_at(state, step, words_below(tree, level) + 3 + (size_t)(index - 1));
    for (size_t j = 0; j < step->count; j++)
        kept[j] = y[j];
}

/* The node that ends at t on `level`: its measurement, joined with e, what its children say. */
static void join(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    uint64_t index = step->t >> level;
    double own = binary_own(tree, level, index), children = 0.0;

    measure(tree, step, level, index, step->sums, step->work[1]);
    keep_measurement(tree, state, step, level, index, step->work[1]);
    if (level > 0)
        children = binary_estimate(tree, level - 1, 2 * index - 1) + binary_estimate(tree, level - 1, 2 * index);
    combine(step, level > 0 && tree->estimator != PN_PREFIX_PLAIN ? children / (children + own) : 1.0, step->work[1],
            step->work[0]);
}

static void add_level(const binary_tree *tree, void *state, const pn_prefix_step *step, unsigned level)
{
    const pn_prefix_wide *sum = block_sum(tree, state, step, level);
    const double *left = block_estimate(tree, state, step, level);

    for (size_t j = 0; j < step->count; j++) {
        step->sums[j] += sum[j];
        step->work[0][j] += left[j];
    }
}

/* prefix = the estimates of all blocks but the last, whose estimate is in work[0]. */
static void release(const binary_tree *tree, void *state, const pn_prefix_step *step, uint64_t rest)
{
    for (size_t j = 0; j < step->count; j++)
        step->prefix[j] = step->work[0][j];
    for (unsigned i = 0; i < tree->levels; i++) {
        const double *estimate = block_estimate(tree, state, step, i);

        for (size_t j = 0; (rest >> i & 1) && j < step->count; j++)
            step->prefix[j] += estimate[j];
    }
}

static void push_estimates(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    unsigned last = binary_level(tree, step->t);
    bool halves = binary_halves(tree, step->t), plain = tree->estimator == PN_PREFIX_PLAIN;

    round_leaf(tree, step, step->sums);
    for (size_t j = 0; j < step->count; j++)
        step->work[0][j] = 0.0;
    for (unsigned i = 0; i <= last; i++) {
        if (i > 0)
            add_level(tree, state, step, i - 1);
        if (i == last || !plain)
            join(tree, state, step, i);
    }
    release(tree, state, step, halves ? step->t / 2 : step->t & (step->t - 1));
    if (halves) /* no leaf follows */
        return;
    for (size_t j = 0; j < step->count; j++) {
        block_sum(tree, state, step, last)[j] = step->sums[j];
        block_estimate(tree, state, step, last)[j] = step->work[0][j];
    }
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
 * As if leaves of zero were pushed up to the next power of two.  That they are zero is public, so that no node of zeros alone has to be
 * measured: only the nodes that hold both. */

static void complete_integers(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    const pn_prefix_wide *sum = state;

    if ((step->t & (step->t - 1)) == 0) /* released already, and who resumed the stream would draw other noise */
        return;
    pn_prefix_noise(step, binary_ceiling(step->t), 1, step->noise);
    for (size_t j = 0; j < step->count; j++)
        step->prefix[j] = as_double(sum[j] + step->noise[j]) * tree->base.step;
}

static void complete_estimates(const binary_tree *tree, void *state, const pn_prefix_step *step)
{
    const uint64_t t = step->t;
    const unsigned top = binary_ceiling(t);
    double variance = 0.0;

    for (size_t j = 0; j < step->count; j++) {
        step->work[0][j] = 0.0;
        step->sums[j] = 0;
    }
    for (unsigned i = 0; i < top; i++) {
        uint64_t index = (t >> (i + 1)) + 1;
        double own;

        if (t >> i & 1) {
            add_level(tree, state, step, i);
            variance += binary_estimate(tree, i, t >> i);
        }
        if ((t & (((uint64_t)2 << i) - 1)) == 0) /* zeros alone */
            continue;
        own = binary_own(tree, i + 1, index);
        measure(tree, step, i + 1, index, step->sums, step->work[1]);
        combine(step, tree->estimator == PN_PREFIX_PLAIN ? 1.0 : variance / (variance + own), step->work[1],
                step->work[0]);
        variance = variance * own / (variance + own);
    }
    if ((t & (t - 1)) == 0)
        add_level(tree, state, step, top);
    for (size_t j = 0; j < step->count; j++)
        step->prefix[j] = step->work[0][j];
}

void binary_complete(const pn_prefix_method *self, void *state, const pn_prefix_step *step)
{
    const binary_tree *tree = (const binary_tree *)self;

    if (tree->integers)
        complete_integers(tree, state, step);
    else
        complete_estimates(tree, state, step);
}
