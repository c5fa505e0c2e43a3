/* binary_prefix.c -- the method "binary": which nodes there are, how much noise each has, and what that costs.
 * Depends on: binary_prefix.h.  Used by: prefix.c's table.
 * Sources: Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015).
 * See tree-mechanism.md sections 2 to 5. */
#include <math.h>
#include <stdio.h>

#include "continual/binary_prefix.h"
#include "core/alloc.h"

#define NODE_UNIT   1024 /* node noise is a whole number of 1/1024 of the least, rounded up */
#define NODE_SPREAD 1024 /* largest over smallest sensitivity */

/* ---- nodes ---- */

unsigned binary_ceiling(uint64_t t)
{
    return t <= 1 ? 0 : 64U - (unsigned)__builtin_clzll(t - 1);
}

uint64_t binary_nodes(const binary_tree *tree, unsigned level)
{
    uint64_t horizon = tree->base.horizon;

    if (horizon == UINT64_MAX)
        return PN_PREFIX_LONGEST >> level;
    return tree->root ? ((horizon - 1) >> level) + 1 : horizon >> level;
}

uint32_t binary_multiple(const binary_tree *tree, unsigned level, uint64_t index)
{
    return tree->node_multiple ? tree->node_multiple[tree->offset[level] + index - 1] : tree->multiple[level];
}

double binary_own(const binary_tree *tree, unsigned level, uint64_t index)
{
    double scale = (double)binary_multiple(tree, level, index) / tree->unit;

    return scale * scale;
}

double binary_estimate(const binary_tree *tree, unsigned level, uint64_t index)
{
    return tree->node_estimate ? tree->node_estimate[tree->offset[level] + index - 1] : tree->estimate[level];
}

unsigned binary_level(const binary_tree *tree, uint64_t t)
{
    unsigned level = (unsigned)__builtin_ctzll(t);

    return level < tree->levels ? level : tree->levels - 1;
}

bool binary_halves(const binary_tree *tree, uint64_t t)
{
    return (unsigned)__builtin_ctzll(t) >= tree->levels;
}

/* ---- checks ---- */

static pn_status check_full(const pn_prefix_options *options, pn_err *err)
{
    size_t horizon = options->horizon;

    if (options->scale != PN_PREFIX_EQUAL)
        return pn_fail(err, PN_EUNSUPPORTED, "prefix: estimator \"full\" needs nodes of equal noise; use \"honaker\"");
    if (horizon == 0 || (horizon & (horizon - 1)) != 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: estimator \"full\" needs a horizon that is a power of two, got %zu; use \"honaker\"",
                       horizon);
    return PN_OK;
}

static pn_status check_scale(const pn_prefix_options *options, pn_err *err)
{
    double least = INFINITY, most = 0.0;

    if (!options->sensitivities)
        return pn_fail(err, PN_EINVAL, "prefix: scale \"node\" needs sensitivities, leaf by leaf");
    if (options->participations > 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: scale \"node\" is for records in one leaf, got %zu participations; use scale \"equal\"",
                       options->participations);
    for (size_t t = 0; t < options->horizon; t++) {
        least = fmin(least, options->sensitivities[t]);
        most = fmax(most, options->sensitivities[t]);
    }
    if (!(least * NODE_SPREAD >= most))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: scale \"node\" needs sensitivities within a factor of %d of each other, got %g and %g",
                       NODE_SPREAD, least, most);
    return PN_OK;
}

static pn_status check(const pn_prefix_options *options, pn_err *err)
{
    if (options->memory == PN_PREFIX_REGENERATE &&
        (options->estimator != PN_PREFIX_PLAIN || options->scale != PN_PREFIX_EQUAL ||
         (options->horizon == 0 && options->growth == PN_PREFIX_ENDLESS)))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "prefix: memory \"regenerate\" needs estimator \"plain\" and equal nodes: an estimate joins every node "
            "below it");
    if (options->scale == PN_PREFIX_BY_NODE) {
        PN_TRY(check_scale(options, err));
    }
    return options->estimator == PN_PREFIX_FULL ? check_full(options, err) : PN_OK;
}

/* ---- noise of each node ---- */

static pn_status allocate_nodes(binary_tree *tree, pn_err *err)
{
    size_t count = tree->offset[tree->levels];

    tree->node_multiple = pn_alloc(count, sizeof *tree->node_multiple);
    tree->node_estimate = pn_alloc(count, sizeof *tree->node_estimate);
    PN_TRY(pn_made(tree->node_multiple && tree->node_estimate, err, "prefix: out of memory for %zu nodes", count));
    return PN_OK;
}

/* Noise in proportion to the largest sensitivity of a node's leaves.  Returns the gain: the root of the largest sum,
 * over the nodes that hold a leaf, of squares of its sensitivity (in units of the largest) over their noise. */
static double fill_by_node(binary_tree *tree, const pn_prefix_options *options)
{
    double least = INFINITY, most = 0.0, worst = 0.0;

    for (size_t t = 0; t < options->horizon; t++) {
        least = fmin(least, options->sensitivities[t]);
        most = fmax(most, options->sensitivities[t]);
    }
    for (size_t v = 0; v < tree->offset[tree->levels]; v++)
        tree->node_multiple[v] = 1;
    for (size_t t = 0; t < options->horizon; t++) {
        uint32_t multiple = (uint32_t)ceil(options->sensitivities[t] / least * NODE_UNIT * (1.0 - 0x1p-50));

        for (unsigned i = 0; i < tree->levels && t >> i < binary_nodes(tree, i); i++) {
            uint32_t *of = tree->node_multiple + tree->offset[i] + (t >> i);

            *of = *of > multiple ? *of : multiple;
        }
        tree->unit = tree->unit > multiple ? tree->unit : multiple;
    }
    for (size_t t = 0; t < options->horizon; t++) {
        double share = options->sensitivities[t] / most, sum = 0.0;

        for (unsigned i = 0; i < tree->levels && t >> i < binary_nodes(tree, i); i++)
            sum += share * share / binary_own(tree, i, (t >> i) + 1);
        worst = fmax(worst, sum);
    }
    return sqrt(worst) * (1.0 + 0x1p-45); /* more than the roundings of the sum */
}

static void fill_equal(binary_tree *tree, const pn_prefix_options *options)
{
    double squared =
        binary_gain_squared(tree, options->horizon, options->participations, options->separation, &tree->base.draws);

    for (unsigned i = 0; i < tree->levels; i++)
        tree->multiple[i] = 1;
    tree->base.gain = sqrt(squared);
    tree->base.moved = squared;
}

/* Level i has noise of i + 1 times the leaves': 1/(i + 1)^2 adds up to pi^2/6, whatever the number of levels. */
static void fill_endless(binary_tree *tree)
{
    const double pi = 3.14159265358979323846;

    for (unsigned i = 0; i < tree->levels; i++)
        tree->multiple[i] = i + 1;
    tree->base.gain = pi / sqrt(6.0);
    tree->base.moved = 4.0 * tree->levels;
    tree->base.draws = tree->levels;
}

/* Fills in unit, limit, multiple, estimate; gain, moved, reach, farthest, draws.  moved: with unequal nodes a leaf is
 * rounded, and the sum once more. */
static pn_status fill_noise(binary_tree *tree, const pn_prefix_options *options, pn_err *err)
{
    pn_status status = PN_OK;

    tree->unit = 1;
    tree->base.reach = 1.0;
    if (tree->base.horizon == UINT64_MAX) {
        fill_endless(tree);
    } else if (options->scale == PN_PREFIX_BY_NODE) {
        status = allocate_nodes(tree, err);
        if (status != PN_OK)
            return status;
        tree->base.gain = fill_by_node(tree, options);
        tree->base.moved = 4.0 * tree->levels;
        tree->base.reach = (double)tree->unit / NODE_UNIT;
        tree->base.draws = tree->levels;
    } else {
        fill_equal(tree, options);
    }
    tree->limit = 0x1p124 / fmin((double)tree->base.horizon, (double)PN_PREFIX_LONGEST);
    tree->base.farthest = tree->limit / tree->unit;
    binary_fill_estimates(tree);
    return PN_OK;
}

/* ---- making ---- */

/* Levels of created nodes.  The node of all of 2^k leaves is not worth its noise: the two halves stand for it. */
static unsigned levels_of(const pn_prefix_options *options, bool root)
{
    uint64_t horizon = options->horizon;
    unsigned levels;

    if (horizon == 0)
        return 49;
    levels = 64U - (unsigned)__builtin_clzll(horizon);
    if (root)
        return binary_ceiling(horizon) + 1;
    return horizon > 1 && (horizon & (horizon - 1)) == 0 ? levels - 1 : levels;
}

static void binary_destroy(pn_prefix_method *self)
{
    binary_tree *tree = (binary_tree *)self;

    pn_free(tree->node_multiple);
    pn_free(tree->node_estimate);
    pn_free(tree);
}

static pn_status binary_create(pn_prefix_method **out, pn_prefix_options *options, pn_err *err)
{
    pn_status status = check(options, err);
    binary_tree *tree;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&tree, 1, err, "prefix: out of memory"));
    options->keep_root = options->keep_root || options->estimator == PN_PREFIX_FULL || options->horizon == 0;
    tree->base.ops = &pn_prefix_binary;
    tree->base.dim = options->dim;
    tree->base.horizon = options->horizon > 0 ? options->horizon : UINT64_MAX;
    tree->root = options->keep_root;
    tree->levels = levels_of(options, tree->root);
    tree->estimator = options->estimator;
    tree->regenerate = options->memory == PN_PREFIX_REGENERATE;
    tree->integers = options->estimator == PN_PREFIX_PLAIN && options->scale == PN_PREFIX_EQUAL && options->horizon > 0;
    for (unsigned i = 0; i < tree->levels; i++)
        tree->offset[i + 1] = tree->offset[i] + (size_t)binary_nodes(tree, i);
    status = fill_noise(tree, options, err);
    if (status != PN_OK) {
        binary_destroy(&tree->base);
        return status;
    }
    *out = &tree->base;
    return PN_OK;
}

static bool binary_completes(const pn_prefix_method *self)
{
    return ((const binary_tree *)self)->root;
}

static void binary_describe(const pn_prefix_method *self, char *text, size_t size)
{
    const binary_tree *tree = (const binary_tree *)self;
    char layers[40] = "";

    if (self->horizon == UINT64_MAX)
        (void)snprintf(layers, sizeof layers, ", without end");
    else if (tree->levels > 1) /* one: also the first epoch of many, which stands for all of them */
        (void)snprintf(layers, sizeof layers, ", %u layers", tree->levels);
    (void)snprintf(text, size, "binary tree, %s%s%s", pn_prefix_estimator_names[tree->estimator], layers,
                   tree->node_multiple ? ", noise by node"
                   : tree->regenerate  ? ", noise drawn again"
                                       : "");
}

const pn_prefix_ops pn_prefix_binary = {
    .name = "binary",
    .doc = "Sums over dyadic blocks, each with its own noise; a prefix is the sum of at most log2 t + 1 of them.  "
           "Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015)",
    .unknown_horizon = true,
    .epoch_draws = BINARY_LEVELS,
    .create = binary_create,
    .destroy = binary_destroy,
    .variance = binary_variance,
    .variances = binary_variances,
    .words = binary_words,
    .push = binary_push,
    .completes = binary_completes,
    .complete = binary_complete,
    .complete_variance = binary_complete_variance,
    .all_doubles = binary_all_doubles,
    .all = binary_all,
    .describe = binary_describe,
};
