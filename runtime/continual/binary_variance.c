/* binary_variance.c -- numbers of a binary tree: what a prefix varies by, and what a record moves.
 * Depends on: binary_prefix.h.  Used by: binary_prefix.c, binary_push.c.  See tree-mechanism.md sections 2.2,
 * 3, 4. */
#include <math.h>

#include "continual/binary_prefix.h"

static double term(const binary_tree *tree, unsigned level, uint64_t index)
{
    return tree->estimator == PN_PREFIX_PLAIN ? binary_own(tree, level, index) : binary_estimate(tree, level, index);
}

/* ---- estimates by inverse variance ---- */

static double joined(double own, double children)
{
    return own * children / (own + children);
}

static void fill_nodes(binary_tree *tree)
{
    for (unsigned i = 0; i < tree->levels; i++) {
        for (uint64_t j = 1; j <= binary_nodes(tree, i); j++) {
            double own = binary_own(tree, i, j), children = 0.0;

            if (i > 0 && 2 * j <= binary_nodes(tree, i - 1))
                children = binary_estimate(tree, i - 1, 2 * j - 1) + binary_estimate(tree, i - 1, 2 * j);
            tree->node_estimate[tree->offset[i] + j - 1] = children > 0.0 ? joined(own, children) : own;
        }
    }
}

void binary_fill_estimates(binary_tree *tree)
{
    if (tree->node_multiple) {
        fill_nodes(tree);
        return;
    }
    for (unsigned i = 0; i < tree->levels; i++) {
        double own = binary_own(tree, i, 1);

        tree->estimate[i] = i == 0 ? own : joined(own, 2.0 * tree->estimate[i - 1]);
    }
}

/* ---- full ----
 * Given the total X of a node of height i and all that was measured below it, the sum of its first u leaves is alpha X
 * + noise of the variance beta.  The halves given X: X(left) = X/2 + noise of V/2,
 * V the variance of a child's own estimate. */
static double full_variance(const binary_tree *tree, uint64_t t)
{
    unsigned top = tree->levels - 1, low = (unsigned)__builtin_ctzll(t);
    double alpha = 1.0, beta = 0.0;

    for (unsigned i = low; i < top; i++) { /* from the node that ends at t to the root */
        double half = tree->estimate[i] / 2.0;

        if (i > low && (t >> i & 1)) { /* t is in the right half of node i + 1 */
            beta += (1.0 - alpha) * (1.0 - alpha) * half;
            alpha = (1.0 + alpha) / 2.0;
        } else {
            beta += alpha * alpha * half;
            alpha = alpha / 2.0;
        }
    }
    return alpha * alpha * tree->estimate[top] + beta;
}

/* ---- prefixes ---- */

static double last_term(const binary_tree *tree, uint64_t t)
{
    unsigned level = binary_level(tree, t);

    return term(tree, level, t >> level);
}

double binary_variance(const pn_prefix_method *self, uint64_t t)
{
    const binary_tree *tree = (const binary_tree *)self;
    double sum = 0.0;

    if (tree->estimator == PN_PREFIX_FULL)
        return full_variance(tree, t);
    if (binary_halves(tree, t))
        return term(tree, tree->levels - 1, 1) + term(tree, tree->levels - 1, 2);
    for (; t > 0; t &= t - 1)
        sum += last_term(tree, t);
    return sum;
}

void binary_variances(const pn_prefix_method *self, size_t count, double *out)
{
    const binary_tree *tree = (const binary_tree *)self;

    for (size_t t = 1; t <= count; t++) {
        size_t rest = t & (t - 1);

        if (tree->estimator == PN_PREFIX_FULL || rest == 0)
            out[t - 1] = binary_variance(self, t);
        else
            out[t - 1] = out[rest - 1] + last_term(tree, t);
    }
}

/* The recursion of complete_estimates in binary_push.c. */
double binary_complete_variance(const pn_prefix_method *self, uint64_t t)
{
    const binary_tree *tree = (const binary_tree *)self;
    const unsigned top = binary_ceiling(t);
    double variance = 0.0;

    if ((t & (t - 1)) == 0)
        return term(tree, top, 1);
    if (tree->estimator == PN_PREFIX_PLAIN)
        return binary_own(tree, top, 1);
    for (unsigned i = 0; i < top; i++) {
        if (t >> i & 1)
            variance += binary_estimate(tree, i, t >> i);
        if (variance > 0.0)
            variance = joined(binary_own(tree, i + 1, (t >> (i + 1)) + 1), variance);
    }
    return variance;
}

/* ---- what a record moves ---- */

/* On level i a node holds at most c = floor((2^i - 1)/b) + 1 of the q leaves, and squares of counts that add up to q
 * are largest together when as many as possible are c. */
double binary_gain_squared(const binary_tree *tree, uint64_t horizon, uint64_t q, uint64_t b, double *touched)
{
    uint64_t most = (horizon - 1) / b + 1;
    double sum = 0.0;

    q = q < most ? q : most;
    *touched = 0.0;
    for (unsigned i = 0; i < tree->levels; i++) {
        uint64_t nodes = binary_nodes(tree, i), c = (((uint64_t)1 << i) - 1) / b + 1, full;

        c = c < q ? c : q;
        full = q / c < nodes ? q / c : nodes;
        sum += (double)full * (double)c * (double)c;
        *touched += (double)(q < nodes ? q : nodes);
        if (full < nodes)
            sum += (double)(q % c) * (double)(q % c);
    }
    return sum;
}
