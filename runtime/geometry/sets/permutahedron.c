/* permutahedron.c -- the hull of all permutations of a vector w: {x : sum x = sum w, the k largest entries of x have at
 * most the sum of the k largest of w, for each k}.  Sorting gives its support,
 * sorting and monotone regression its projection.
 * Depends on: ball.h, order.h, upper.h.  Used by: sets.c's table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/order.h"
#include "geometry/kernels/upper.h"

typedef struct permutahedron {
    pn_set base;
    double *weights; /* [dim], owned, from the largest */
    double radius[PN_LP_COUNT], diameter[PN_LP_COUNT];
} permutahedron;

extern const pn_set_ops pn_set_permutahedron;

enum { DIM, VECTOR };

static const pn_param permutahedron_params[] = {
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "number of coordinates, instead of vector = {1, .., dim}" },
    { "vector", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the entries to be permuted" },
    PN_PARAM_END,
};

static const permutahedron *as_permutahedron(const pn_set *set)
{
    return (const permutahedron *)set;
}

static void permutahedron_destroy(pn_set *self)
{
    pn_free(((permutahedron *)self)->weights);
    pn_free(self);
}

/* All vertices have the same norms.  Two are farthest apart, in every norm,
 * when their entries are in opposite order. */
static void find_sizes(permutahedron *self, const double *reversed)
{
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        self->radius[norm] = pn_norm_upper((pn_lp)norm, self->weights, self->base.dim);
        self->diameter[norm] = pn_distance_upper((pn_lp)norm, self->weights, reversed, self->base.dim);
    }
}

static pn_status fill(permutahedron *self, const pn_vec *vector, pn_err *err)
{
    size_t n = self->base.dim;
    pn_ranked *items = pn_alloc(n, sizeof *items);
    double *reversed = pn_alloc(n, sizeof *reversed);
    pn_status status = PN_OK;

    if (items && reversed) {
        for (size_t j = 0; j < n; j++)
            reversed[j] = vector ? vector->data[j] : (double)(j + 1);
        pn_rank_down(items, reversed, n, false);
        for (size_t j = 0; j < n; j++)
            self->weights[j] = reversed[n - 1 - j] = items[j].value;
        find_sizes(self, reversed);
    } else {
        status = pn_fail(err, PN_ENOMEM, "set.permutahedron: out of memory");
    }
    pn_free(items);
    pn_free(reversed);
    return status;
}

static pn_status permutahedron_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    const pn_vec *vector = args[VECTOR].given ? &args[VECTOR].vector : NULL;
    size_t dim = vector ? vector->n : args[DIM].count;
    permutahedron *self;
    pn_status status;

    if (!vector && !args[DIM].given)
        return pn_fail(err, PN_EINVAL, "set.permutahedron: give dim or vector");
    if (vector && args[DIM].given && args[DIM].count != dim)
        return pn_fail(err, PN_EDIM, "set.permutahedron: vector has %zu entries, dim is %zu", dim, args[DIM].count);
    if (dim == 0)
        return pn_fail(err, PN_EINVAL, "set.permutahedron: vector must have at least one entry");
    self = pn_calloc(1, sizeof *self);
    if (self)
        self->weights = pn_alloc(dim, sizeof *self->weights);
    if (!self || !self->weights) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "set.permutahedron: out of memory");
    }
    pn_set_init(&self->base, &pn_set_permutahedron, dim);
    status = fill(self, vector, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        permutahedron_destroy(&self->base);
    return status;
}

/* The entries of x from the largest; NULL when memory is short. */
static pn_ranked *ranked(const pn_set *self, const double *x, pn_err *err)
{
    pn_ranked *items = pn_alloc(self->dim, sizeof *items);

    if (items)
        pn_rank_down(items, x, self->dim, false);
    else
        (void)pn_fail(err, PN_ENOMEM, "set.permutahedron: out of memory");
    return items;
}

static pn_status permutahedron_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const double *weights = as_permutahedron(self)->weights;
    pn_ranked *items = ranked(self, g, err);

    if (!items)
        return PN_ENOMEM;
    *value = 0.0;
    for (size_t i = 0; i < self->dim; i++) {
        *value += weights[i] * items[i].value;
        if (point)
            point[items[i].index] = weights[i];
    }
    pn_free(items);
    return PN_OK;
}

static double permutahedron_radius(const pn_set *self, pn_lp norm)
{
    return as_permutahedron(self)->radius[norm];
}

static double permutahedron_diameter(const pn_set *self, pn_lp norm)
{
    return as_permutahedron(self)->diameter[norm];
}

static pn_status permutahedron_contains(const pn_set *self, const double *x, double tolerance, bool *inside,
                                        pn_err *err)
{
    pn_ranked *items = ranked(self, x, err);
    double excess = 0.0;

    if (!items)
        return PN_ENOMEM;
    *inside = true;
    for (size_t i = 0; i < self->dim; i++) {
        excess += items[i].value - as_permutahedron(self)->weights[i];
        *inside = *inside && excess <= tolerance;
    }
    *inside = *inside && excess >= -tolerance;
    pn_free(items);
    return PN_OK;
}

static void permutahedron_center(const pn_set *self, double *x)
{
    double mean = 0.0;

    for (size_t j = 0; j < self->dim; j++)
        mean += as_permutahedron(self)->weights[j] / (double)self->dim;
    for (size_t j = 0; j < self->dim; j++)
        x[j] = mean;
}

/* x - v in the order of x, where v is the nearest falling sequence to x - w. */
static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    size_t n = self->dim, used, i = 0;
    pn_ranked *items = ranked(self, x, err);
    pn_block *blocks = pn_alloc(n, sizeof *blocks);
    double *gap = pn_alloc(n, sizeof *gap);

    if (items && blocks && gap) {
        for (size_t j = 0; j < n; j++)
            gap[j] = items[j].value - as_permutahedron(self)->weights[j];
        used = pn_pool_down(blocks, gap, n);
        for (size_t b = 0; b < used; b++) {
            for (size_t end = i + blocks[b].count; i < end; i++)
                x[items[i].index] = items[i].value - blocks[b].sum / (double)blocks[b].count;
        }
    }
    pn_free(items);
    pn_free(blocks);
    pn_free(gap);
    return i == n ? PN_OK : pn_fail(err, PN_ENOMEM, "set.permutahedron: out of memory in project");
}

static pn_status permutahedron_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static void permutahedron_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "permutahedron(dim=%zu, from %.10g to %.10g)", self->dim,
                   as_permutahedron(self)->weights[self->dim - 1], as_permutahedron(self)->weights[0]);
}

const pn_set_ops pn_set_permutahedron = {
    .name = "permutahedron",
    .doc = "The permutahedron: the hull of all permutations of a vector (of 1, .., dim): rankings.",
    .source = "Lim, Wright (2016), Efficient Bregman projections onto the permutahedron and related polytopes",
    .params = permutahedron_params,
    .create = permutahedron_create,
    .destroy = permutahedron_destroy,
    .support = permutahedron_support,
    .radius = permutahedron_radius,
    .diameter = permutahedron_diameter,
    .contains = permutahedron_contains,
    .center = permutahedron_center,
    .project = permutahedron_project,
    .describe = permutahedron_describe,
};
