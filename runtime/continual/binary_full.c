/* binary_full.c -- the best linear unbiased estimate of every prefix from all nodes of a complete tree: up by inverse
 * variance, then down: x(root) = e(root), x(child) = e(child) + (x(parent) - e(left) - e(right))/2.
 * Depends on: binary_prefix.h.  Used by: binary_prefix.c.  Source: Hay, Rastogi, Miklau, Suciu (2010).  Spec:
 * tree-mechanism.md section 4. */
#include "continual/binary_prefix.h"

#define STRIP 16 /* coordinates at once */

size_t binary_all_doubles(const pn_prefix_method *self)
{
    const binary_tree *tree = (const binary_tree *)self;

    return tree->estimator == PN_PREFIX_FULL ? tree->offset[tree->levels] * STRIP : 0;
}

static double *node_at(const binary_tree *tree, double *work, unsigned level, size_t index)
{
    return work + (tree->offset[level] + index - 1) * STRIP;
}

/* Where keep_measurement of binary_push.c has put it. */
static const double *measured(const binary_tree *tree, const void *state, size_t stride, unsigned level, size_t index)
{
    size_t words = 3 * (size_t)level + tree->offset[level] + 3 + index - 1;

    return (const double *)state + words * stride;
}

static void go_up(const binary_tree *tree, const double *state, size_t stride, size_t width, double *work)
{
    for (unsigned i = 0; i < tree->levels; i++) {
        double weight = i == 0 ? 1.0 : tree->estimate[i]; /* over the node's own variance, which is 1 */

        for (size_t j = 1; j <= binary_nodes(tree, i); j++) {
            const double *y = measured(tree, state, stride, i, j);
            double *e = node_at(tree, work, i, j);

            for (size_t c = 0; c < width; c++) {
                double children = 0.0;

                if (i > 0)
                    children = node_at(tree, work, i - 1, 2 * j - 1)[c] + node_at(tree, work, i - 1, 2 * j)[c];
                e[c] = weight * y[c] + (1.0 - weight) * children;
            }
        }
    }
}

static void go_down(const binary_tree *tree, size_t width, double *work)
{
    for (unsigned i = tree->levels - 1; i > 0; i--) {
        for (size_t j = 1; j <= binary_nodes(tree, i); j++) {
            const double *parent = node_at(tree, work, i, j);
            double *left = node_at(tree, work, i - 1, 2 * j - 1), *right = node_at(tree, work, i - 1, 2 * j);

            for (size_t c = 0; c < width; c++) {
                double half = (parent[c] - left[c] - right[c]) / 2.0;

                left[c] += half;
                right[c] += half;
            }
        }
    }
}

static void write_prefixes(const binary_tree *tree, size_t width, double *work, double *out, size_t out_stride)
{
    for (size_t t = 1; t <= tree->base.horizon; t++) {
        unsigned level = binary_level(tree, t);
        const double *last = node_at(tree, work, level, t >> level);
        size_t rest = t & (t - 1);

        for (size_t c = 0; c < width; c++)
            out[(t - 1) * out_stride + c] = last[c] + (rest > 0 ? out[(rest - 1) * out_stride + c] : 0.0);
    }
}

void binary_all(const pn_prefix_method *self, const void *state, const pn_prefix_step *step, double *work, double *out,
                size_t out_stride)
{
    const binary_tree *tree = (const binary_tree *)self;

    for (size_t first = 0; first < step->count; first += STRIP) {
        size_t width = step->count - first < STRIP ? step->count - first : STRIP;

        go_up(tree, (const double *)state + first, step->stride, width, work);
        go_down(tree, width, work);
        write_prefixes(tree, width, work, out + first, out_stride);
    }
}
