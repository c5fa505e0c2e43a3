/* potential_euclidean.c -- Psi(x) = ||x - center||_2^2 / 2, over every set that has a projection.
 * Depends on: potential.h, upper.h.  Used by: potential.c's table.  See geometry.md section 3. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/upper.h"
#include "geometry/potentials/potential.h"

typedef struct euclidean {
    pn_potential base;
    double *center; /* [base.dim], or NULL: the origin */
} euclidean;

extern const pn_potential_ops pn_potential_euclidean;

enum { CENTER };

static const pn_param euclidean_params[] = {
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "where Psi is least; the origin when absent" },
    PN_PARAM_END,
};

static const double *center_of(const pn_potential *self)
{
    return ((const euclidean *)self)->center;
}

static void euclidean_destroy(pn_potential *self)
{
    pn_free(((euclidean *)self)->center);
    pn_free(self);
}

static pn_status euclidean_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    pn_vec center = args[CENTER].vector;
    euclidean *self;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.euclidean: out of memory"));
    if (args[CENTER].given && center.n == 0) {
        pn_free(self);
        return pn_fail(err, PN_EDIM, "potential.euclidean: center must have at least one entry");
    }
    status = pn_norm_from_args(&norm, "l2", (pn_arg[1]){ { .given = false } }, err);
    if (status == PN_OK && args[CENTER].given) {
        self->center = pn_alloc(center.n, sizeof *self->center);
        if (!self->center)
            status = pn_fail(err, PN_ENOMEM, "potential.euclidean: out of memory");
    }
    if (status != PN_OK) {
        pn_norm_free(norm);
        pn_free(self);
        return status;
    }
    if (self->center && center.n > 0)
        memcpy(self->center, center.data, center.n * sizeof *self->center);
    pn_potential_init(&self->base, &pn_potential_euclidean, self->center ? center.n : 0, 1.0, norm);
    *out = &self->base;
    return PN_OK;
}

static pn_status euclidean_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const double *center = center_of(self);
    double sum = 0.0;

    (void)err;
    for (size_t j = 0; j < n; j++) {
        double away = x[j] - (center ? center[j] : 0.0);

        sum += away * away;
    }
    *value = 0.5 * sum;
    return PN_OK;
}

static pn_status euclidean_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const double *center = center_of(self);

    (void)err;
    for (size_t j = 0; j < n; j++)
        out[j] = x[j] - (center ? center[j] : 0.0);
    return PN_OK;
}

static pn_status euclidean_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const double *center = center_of(self);

    (void)err;
    for (size_t j = 0; j < n; j++)
        out[j] = u[j] + (center ? center[j] : 0.0);
    return PN_OK;
}

/* argmin ||x - center||^2/2 - <c, x> is the projection of center + c. */
static pn_status euclidean_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    if (!pn_set_can_project(set))
        return PN_EUNSUPPORTED;
    if (!center_of(self) && set->ops->project) { /* c is finite, as the doors see to */
        if (x != c)
            memcpy(x, c, set->dim * sizeof *x);
        return set->ops->project(set, x, err);
    }
    (void)euclidean_inverse(self, c, set->dim, x, NULL);
    return pn_set_project(set, x, set->dim, err);
}

/* An upper bound of max_C ||x - center||_2; back [dim] is -center, or NULL. */
static double reach(const pn_set *set, const double *back)
{
    if (!back)
        return set->ops->radius(set, PN_L2);
    if (set->ops->image_radius)
        return set->ops->image_radius(set, 1.0, back, PN_L2);
    return pn_plus_up(set->ops->radius(set, PN_L2), pn_norm_upper(PN_L2, back, set->dim));
}

/* An upper bound of min_C ||x - center||_2, 1e-12 above it at most; center NULL: the origin.
 * Without a projection: +inf. */
static pn_status distance_to(const pn_set *set, const double *center, double *scratch, double *distance, pn_err *err)
{
    pn_status status;

    *distance = INFINITY;
    if (!pn_set_can_project(set))
        return PN_OK;
    for (size_t j = 0; j < set->dim; j++)
        scratch[j] = center ? center[j] : 0.0;
    status = pn_set_project(set, scratch, set->dim, err);
    if (status == PN_OK)
        *distance = pn_distance_upper(PN_L2, scratch, center, set->dim);
    return status;
}

/* When the set is a shifted one, its own radius about the center is what counts: C - center has it in closed form. */
static pn_status reach_about(const pn_set *set, const double *center, double *most, pn_err *err)
{
    double *back;
    pn_set *moved = NULL;
    pn_status status = PN_OK;

    if (!center) {
        *most = reach(set, NULL);
        return PN_OK;
    }
    PN_TRY(pn_new(&back, set->dim, err, "potential.euclidean: out of memory"));
    for (size_t j = 0; j < set->dim; j++)
        back[j] = -center[j];
    /* the reference that the shifted set takes is given back before this returns */
    status = pn_set_shift(&moved, (pn_set *)set, back, set->dim, err);
    if (status == PN_OK)
        *most = fmin(moved->ops->radius(moved, PN_L2), reach(set, back));
    pn_set_free(moved);
    pn_free(back);
    return status;
}

static pn_status euclidean_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double most = INFINITY, nearest = INFINITY, least, *scratch;
    pn_status status;

    if (!pn_set_is_bounded(set))
        return pn_fail(err, PN_EUNSUPPORTED, "the range of the potential euclidean: %s is unbounded", set->ops->name);
    PN_TRY(pn_new(&scratch, set->dim, err, "potential.euclidean: out of memory"));
    status = reach_about(set, center_of(self), &most, err);
    if (status == PN_OK)
        status = distance_to(set, center_of(self), scratch, &nearest, err);
    most = fmin(most, pn_plus_up(nearest, set->ops->diameter(set, PN_L2))); /* by way of the nearest point */
    least = isfinite(nearest) ? nearest * (1.0 - 1e-12) : 0.0;
    if (status == PN_OK) /* projections by iteration stop within 1e-10 of the squared size */
        *range = 0.5 * (most * most * (1.0 + (set->ops->project ? 1e-15 : 1e-9)) - least * least);
    pn_free(scratch);
    return status;
}

/* ||A||_F^2 */
static pn_status euclidean_trace(const pn_potential *self, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    double size = A.data ? pn_norm_upper(PN_L2, A.data, A.rows * A.cols) : 0.0;

    (void)self;
    (void)err;
    *trace = A.data ? pn_times_up(size, size) : (double)set->dim;
    return PN_OK;
}

static void euclidean_describe(const pn_potential *self, char *text, size_t size)
{
    (void)snprintf(text, size, "euclidean(%s)", center_of(self) ? "center" : "");
}

const pn_potential_ops pn_potential_euclidean = {
    .name = "euclidean",
    .doc = "||x - center||_2^2 / 2, strongly convex in the l2 norm: the mirror step is a projected gradient step.",
    .source = "Nemirovski and Yudin (1983)",
    .params = euclidean_params,
    .create = euclidean_create,
    .destroy = euclidean_destroy,
    .value = euclidean_value,
    .gradient = euclidean_gradient,
    .inverse_gradient = euclidean_inverse,
    .step = euclidean_step,
    .range = euclidean_range,
    .trace_through = euclidean_trace,
    .describe = euclidean_describe,
};
