/* binary_prefix.h -- the binary tree: node (i, j), i >= 0, j >= 1, covers leaves (j-1) 2^i + 1 .. j 2^i, and prefix t
 * is the sum of the nodes (i, t >> i) over the set bits i of t.  Private to binary_*.c.
 * Depends on: prefix_impl.h.  See tree-mechanism.md sections 2 to 5. */
#ifndef PN_CONTINUAL_BINARY_PREFIX_H
#define PN_CONTINUAL_BINARY_PREFIX_H

#include "continual/prefix_impl.h"

#define BINARY_LEVELS 50

typedef struct binary_tree {
    pn_prefix_method base; /* first */
    unsigned levels;       /* nodes of levels 0 .. levels - 1 are created */
    pn_prefix_estimator estimator;
    bool regenerate;
    bool root;     /* it has a node of all leaves, also when the horizon is no power of two */
    bool integers; /* plain, equal nodes: one exact sum, and integer noise */

    /* Noise of node (i, j) has the standard deviation sigma * multiple / unit: leaves are kept in steps of step / unit,
     * and a block sum is rounded once more to its node's own step. */
    uint32_t unit;
    double limit;                     /* where an entry of a leaf is cut, in these: the sum of all leaves has room */
    uint32_t multiple[BINARY_LEVELS]; /* by level */
    double estimate[BINARY_LEVELS];   /* variance of a node's own honaker estimate, over sigma^2 */
    uint32_t *node_multiple;          /* by node instead: at offset[i] + j - 1; NULL otherwise */
    double *node_estimate;            /* */
    size_t offset[BINARY_LEVELS + 1]; /* also where the measurements of a level are for estimator "full" */
} binary_tree;

/* Nodes (i, 1 .. count) can be drawn. */
uint64_t binary_nodes(const binary_tree *tree, unsigned level);
uint32_t binary_multiple(const binary_tree *tree, unsigned level, uint64_t index);
/* Variance over sigma^2 of what a node contributes: its own noise, or its estimate. */
double binary_own(const binary_tree *tree, unsigned level, uint64_t index);
double binary_estimate(const binary_tree *tree, unsigned level, uint64_t index);
/* The level of the node that ends at t: of the last of 2^k leaves without a root, the level of its halves. */
unsigned binary_level(const binary_tree *tree, uint64_t t);
/* Whether t is the last leaf of 2^k without a root: released as its two halves. */
bool binary_halves(const binary_tree *tree, uint64_t t);
/* The smallest k with 2^k >= t. */
unsigned binary_ceiling(uint64_t t);

/* binary_variance.c */
double binary_variance(const pn_prefix_method *self, uint64_t t);
void binary_variances(const pn_prefix_method *self, size_t count, double *out);
double binary_complete_variance(const pn_prefix_method *self, uint64_t t);
/* Fills in estimate and node_estimate. */
void binary_fill_estimates(binary_tree *tree);
/* (l2 norm of what q leaves, b apart, move in all nodes for leaves of sensitivity 1)^2, at most;
 * *touched: nodes that they can be in. */
double binary_gain_squared(const binary_tree *tree, uint64_t horizon, uint64_t q, uint64_t b, double *touched);

/* binary_push.c */
size_t binary_words(const pn_prefix_method *self, uint64_t t);
void binary_push(const pn_prefix_method *self, void *state, const pn_prefix_step *step);
void binary_complete(const pn_prefix_method *self, void *state, const pn_prefix_step *step);
/* binary_full.c */
size_t binary_all_doubles(const pn_prefix_method *self);
void binary_all(const pn_prefix_method *self, const void *state, const pn_prefix_step *step, double *work, double *out,
                size_t out_stride);

#endif
