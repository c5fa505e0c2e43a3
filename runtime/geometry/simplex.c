/* simplex.c -- { x in R^dim : x >= 0, sum x = radius }, the hull of radius e_1 .. radius e_dim.
 * Depends on: set.h, simplex_project.h.  Used by: set.c's table.  Spec: geometry.md section 2.3. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/set.h"
#include "geometry/simplex_project.h"

typedef struct simplex {
    pn_set base;
    double radius;
} simplex;

extern const pn_set_ops pn_set_simplex;

enum { DIM, RADIUS };

static const pn_param simplex_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the sum of the entries" },
    PN_PARAM_END,
};

static double radius_of(const pn_set *self)
{
    return ((const simplex *)self)->radius;
}

static pn_status simplex_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    simplex *self = pn_alloc(1, sizeof *self);

    if (!self)
        return pn_fail(err, PN_ENOMEM, "set.simplex: out of memory");
    pn_set_init(&self->base, &pn_set_simplex, args[DIM].count);
    self->radius = args[RADIUS].real;
    *out = &self->base;
    return PN_OK;
}

static void simplex_destroy(pn_set *self)
{
    pn_free(self);
}

static pn_status simplex_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double radius = radius_of(self);
    size_t best = 0;

    (void)err;
    for (size_t j = 1; j < self->dim; j++)
        best = g[j] > g[best] ? j : best;
    if (point) {
        memset(point, 0, self->dim * sizeof *point);
        point[best] = radius;
    }
    *value = radius * g[best];
    return PN_OK;
}

static double simplex_radius(const pn_set *self, pn_lp norm)
{
    (void)norm; /* at a vertex, whose norms agree */
    return radius_of(self);
}

/* Between two vertices radius e_i and radius e_j. */
static double simplex_diameter(const pn_set *self, pn_lp norm)
{
    double radius = radius_of(self);

    if (self->dim == 1)
        return 0.0;
    switch (norm) {
    case PN_L1:
        return 2.0 * radius;
    case PN_L2:
        return nextafter(sqrt(2.0) * radius, INFINITY);
    default:
        return radius;
    }
}

static pn_status simplex_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double sum = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        if (!(x[j] >= -tolerance)) {
            *inside = false;
            return PN_OK;
        }
        sum += x[j];
    }
    *inside = fabs(sum - radius_of(self)) <= tolerance;
    return PN_OK;
}

static void simplex_center(const pn_set *self, double *x)
{
    for (size_t j = 0; j < self->dim; j++)
        x[j] = radius_of(self) / (double)self->dim;
}

static pn_status simplex_project(const pn_set *self, double *x, pn_err *err)
{
    double *scratch = pn_alloc(self->dim, sizeof *scratch);

    if (!scratch)
        return pn_fail(err, PN_ENOMEM, "set.simplex: out of memory in project");
    pn_simplex_project(x, self->dim, radius_of(self), scratch);
    pn_free(scratch);
    return PN_OK;
}

/* The cone over the simplex is x >= 0; elsewhere no multiple of the set has x. */
static pn_status simplex_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    double sum = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        if (x[j] < 0.0) {
            *value = INFINITY;
            return PN_OK;
        }
        sum += x[j];
    }
    *value = sum / radius_of(self);
    return PN_OK;
}

static size_t simplex_atom_count(const pn_set *self)
{
    return self->dim;
}

static void simplex_atom_scores(const pn_set *self, const double *g, double *scores)
{
    for (size_t j = 0; j < self->dim; j++)
        scores[j] = radius_of(self) * g[j];
}

static void simplex_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    (void)scratch;
    out->count = 1;
    out->index_of_one = i;
    out->value_of_one = radius_of(self);
    out->index = &out->index_of_one;
    out->value = &out->value_of_one;
}

const pn_set_ops pn_set_simplex = {
    .name = "simplex",
    .doc = "The simplex {x in R^dim : x >= 0, sum x = radius}: mixtures and portfolios; dim vertices.",
    .source = "Michelot (1986); Condat (2016), Fast projection onto the simplex and the l1 ball",
    .params = simplex_params,
    .create = simplex_create,
    .destroy = simplex_destroy,
    .support = simplex_support,
    .radius = simplex_radius,
    .diameter = simplex_diameter,
    .contains = simplex_contains,
    .center = simplex_center,
    .project = simplex_project,
    .gauge = simplex_gauge,
    .atom_count = simplex_atom_count,
    .atom_scores = simplex_atom_scores,
    .atom_radius = simplex_radius,
    .atom = simplex_atom,
    .scale = radius_of,
};
