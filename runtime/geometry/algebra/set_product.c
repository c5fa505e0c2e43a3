/* set_product.c -- C x D in dimension dim C + dim D: every operation block by block.  Squares of l2 radii add, gauges
 * take the larger, widths add.  Depends on: composite.h, upper.h.  Used by: set_algebra.h, block-coordinate solvers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "geometry/sets/sets.h"

static pn_status product_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    size_t cut = set->a->dim;
    double a, b;
    pn_status status = set->b->ops->support(set->b, g + cut, NULL, &b, err);

    if (status == PN_OK && isfinite(b))
        status = set->a->ops->support(set->a, g, point, &a, err);
    else
        a = 0.0;
    if (status == PN_OK && point && isfinite(a) && isfinite(b))
        status = set->b->ops->support(set->b, g + cut, point + cut, &b, err);
    if (status == PN_OK)
        *value = a + b;
    return status;
}

static double join(pn_lp norm, double a, double b)
{
    double both[2] = { a, b };

    return norm == PN_L1 ? pn_plus_up(a, b) : pn_norm_upper(norm, both, 2);
}

static double product_radius(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);

    return join(norm, set->a->ops->radius(set->a, norm), set->b->ops->radius(set->b, norm));
}

static double product_diameter(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);

    return join(norm, set->a->ops->diameter(set->a, norm), set->b->ops->diameter(set->b, norm));
}

static double product_image_radius(const pn_set *self, double factor, const double *shift, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);
    const double *rest = shift ? shift + set->a->dim : NULL;

    return join(norm, set->a->ops->image_radius(set->a, factor, shift, norm),
                set->b->ops->image_radius(set->b, factor, rest, norm));
}

static pn_status product_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    pn_status status = set->a->ops->contains(set->a, x, tolerance, inside, err);

    if (status != PN_OK || !*inside)
        return status;
    return set->b->ops->contains(set->b, x + set->a->dim, tolerance, inside, err);
}

static void product_center(const pn_set *self, double *x)
{
    const pn_composite *set = pn_as_composite(self);

    set->a->ops->center(set->a, x);
    set->b->ops->center(set->b, x + set->a->dim);
}

/* The first block is kept aside, so that a failure in the second leaves x as it was. */
static pn_status product_project(const pn_set *self, double *x, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    size_t cut = set->a->dim;
    double *first;
    pn_status status;

    PN_TRY(pn_new(&first, cut, err, "C:product: out of memory in project"));
    memcpy(first, x, cut * sizeof *first);
    status = pn_set_project(set->a, first, cut, err);
    if (status == PN_OK)
        status = pn_set_project(set->b, x + cut, set->b->dim, err);
    if (status == PN_OK)
        memcpy(x, first, cut * sizeof *first);
    pn_free(first);
    return status;
}

static pn_status product_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    double other;
    pn_status status = set->a->ops->gauge(set->a, x, value, err);

    if (status == PN_OK)
        status = set->b->ops->gauge(set->b, x + set->a->dim, &other, err);
    if (status == PN_OK)
        *value = fmax(*value, other);
    return status;
}

static pn_status product_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    pn_status status = set->a->ops->sample(set->a, rng, x, err);

    return status == PN_OK ? set->b->ops->sample(set->b, rng, x + set->a->dim, err) : status;
}

/* Where a part is projected on by its support points, the point is in the set and not quite the nearest: iterations may
 * not end. */
static double product_shortfall(const pn_set *self)
{
    if (!pn_as_composite(self)->a->ops->project || !pn_as_composite(self)->b->ops->project)
        return INFINITY;
    return pn_set_shortfall(pn_as_composite(self)->a) + pn_set_shortfall(pn_as_composite(self)->b);
}

static double product_projection_error(const pn_set *self, double size)
{
    const pn_composite *set = pn_as_composite(self);

    return (pn_set_projection_error(set->a, size) + pn_set_projection_error(set->b, size)) * (1.0 + 0x1p-40);
}

static void fill_ops(pn_composite *set)
{
    const pn_set_ops *a = set->a->ops, *b = set->b->ops;

    set->ops.doc = "C x D: the pairs (x, y), x in C and y in D, written one after the other";
    set->ops.symmetric = a->symmetric && b->symmetric;
    set->ops.support = a->support && b->support ? product_support : NULL;
    set->ops.radius = product_radius;
    set->ops.diameter = product_diameter;
    set->ops.image_radius = a->image_radius && b->image_radius ? product_image_radius : NULL;
    set->ops.contains = product_contains;
    set->ops.shortfall = product_shortfall;
    set->ops.projection_error = product_projection_error;
    set->ops.center = product_center;
    set->ops.project = pn_set_can_project(set->a) && pn_set_can_project(set->b) ? product_project : NULL;
    set->ops.gauge = a->gauge && b->gauge ? product_gauge : NULL;
    set->ops.width = a->width || b->width ? pn_width_of_parts : NULL;
    set->ops.sample = a->sample && b->sample ? product_sample : NULL;
}

pn_status pn_set_product(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_composite *set;
    size_t dim = 0;
    pn_status status = pn_size_sum(&dim, "C:product", "the dimensions of both sets", a->dim, b->dim, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_composite_new(&set, sizeof *set, "product", dim, a, b, 0, err);
    if (status != PN_OK)
        return status;
    fill_ops(set);
    *out = &set->base;
    return PN_OK;
}

bool pn_set_product_parts(const pn_set *set, const pn_set **a, const pn_set **b)
{
    if (!pn_is_composite(set, "product"))
        return false;
    *a = pn_as_composite(set)->a;
    *b = pn_as_composite(set)->b;
    return true;
}

/* ---- parts ---- */

static pn_status slice_box(pn_set **out, const pn_set *set, size_t first, size_t count, pn_err *err)
{
    pn_arg ends[2] = { { .given = true }, { .given = true } };
    double *low = pn_alloc(set->dim, 2 * sizeof *low);
    pn_status status;

    PN_TRY(pn_made(low, err, "C:slice: out of memory for %zu intervals", set->dim));
    status = pn_set_ends(low, low + set->dim, set, err);
    ends[0].vector = (pn_vec){ .data = low + first, .n = count };
    ends[1].vector = (pn_vec){ .data = low + set->dim + first, .n = count };
    if (status == PN_OK)
        status = pn_set_from_args(out, "box", ends, err);
    pn_free(low);
    return status;
}

static pn_status slice(pn_set **out, const pn_set *set, size_t first, size_t count, size_t before, pn_err *err);

static pn_status slice_factors(pn_set **out, const pn_set *a, const pn_set *b, size_t first, size_t count,
                               size_t before, pn_err *err)
{
    size_t cut = a->dim, left = first >= cut ? 0 : first + count > cut ? cut - first : count;
    pn_set *one = NULL, *two = NULL;
    pn_status status;

    if (left == count)
        return slice(out, a, first, count, before, err);
    if (left == 0)
        return slice(out, b, first - cut, count, before + cut, err);
    status = slice(&one, a, first, left, before, err);
    if (status == PN_OK)
        status = slice(&two, b, 0, count - left, before + cut, err);
    if (status == PN_OK)
        status = pn_set_product(out, one, two, err);
    pn_set_free(one);
    pn_set_free(two);
    return status;
}

/* `before`: coordinates of the whole before those of set. */
static pn_status slice(pn_set **out, const pn_set *set, size_t first, size_t count, size_t before, pn_err *err)
{
    double factor;
    const double *shift;
    const pn_set *a, *b, *whole;
    pn_set *inner = NULL;
    pn_status status;

    if (count == set->dim) {
        *out = pn_set_keep((pn_set *)(size_t)set);
        return PN_OK;
    }
    if (pn_set_is_intervals(set))
        return slice_box(out, set, first, count, err);
    whole = pn_set_unwrap(set, &factor, &shift);
    if (!pn_set_product_parts(whole, &a, &b))
        return pn_fail(err, PN_EUNSUPPORTED, "coordinates %zu to %zu cut through the %s of coordinates %zu to %zu",
                       before + first + 1, before + first + count, whole->ops->name, before + 1, before + set->dim);
    status = slice_factors(&inner, a, b, first, count, before, err);
    if (status == PN_OK)
        status = pn_set_moved(out, inner, factor, shift ? shift + first : NULL, err);
    pn_set_free(inner);
    return status;
}

pn_status pn_set_slice(pn_set **out, const pn_set *set, size_t first, size_t count, pn_err *err)
{
    *out = NULL;
    if (count < 1 || first >= set->dim || count > set->dim - first)
        return pn_fail(err, PN_EDIM, "C:slice: coordinates %zu to %zu of %zu", first + 1, first + count, set->dim);
    return slice(out, set, first, count, 0, err);
}
