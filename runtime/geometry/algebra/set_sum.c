/* set_sum.c -- the Minkowski sum C + D = {x + y : x in C, y in D}.  Support function, radius and width add; projection,
 * gauge and membership are found from the support.  Depends on: composite.h, upper.h.  Used by: set_algebra.h. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"

static pn_status support_with_point(const pn_composite *set, const double *g, double *point, double *value, pn_err *err)
{
    size_t dim = set->base.dim;
    double *other = pn_alloc(dim, sizeof *other), a, b;
    pn_status status;

    PN_TRY(pn_made(other, err, "C + D: out of memory in support"));
    status = set->b->ops->support(set->b, g, other, &b, err);
    if (status == PN_OK && isinf(b))
        *value = b; /* point is left alone */
    else if (status == PN_OK)
        status = set->a->ops->support(set->a, g, point, &a, err);
    if (status == PN_OK && isfinite(b)) {
        *value = a + b;
        for (size_t j = 0; isfinite(a) && j < dim; j++)
            point[j] += other[j];
    }
    pn_free(other);
    return status;
}

static pn_status sum_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    pn_status status;
    double a, b;

    if (point)
        return support_with_point(set, g, point, value, err);
    status = set->a->ops->support(set->a, g, NULL, &a, err);
    if (status == PN_OK)
        status = set->b->ops->support(set->b, g, NULL, &b, err);
    if (status == PN_OK)
        *value = a + b;
    return status;
}

static double sum_radius(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);

    return pn_plus_up(set->a->ops->radius(set->a, norm), set->b->ops->radius(set->b, norm));
}

static double sum_diameter(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);

    return pn_plus_up(set->a->ops->diameter(set->a, norm), set->b->ops->diameter(set->b, norm));
}

static void sum_center(const pn_set *self, double *x)
{
    const pn_composite *set = pn_as_composite(self);

    memcpy(x, set->numbers, self->dim * sizeof *x);
}

static void sum_describe(const pn_set *self, char *text, size_t size)
{
    pn_describe_parts(pn_as_composite(self), "", " + ", "", text, size);
}

static void fill_center(pn_composite *set, double *scratch)
{
    set->a->ops->center(set->a, set->numbers);
    set->b->ops->center(set->b, scratch);
    for (size_t j = 0; j < set->base.dim; j++)
        set->numbers[j] += scratch[j];
}

pn_status pn_set_sum(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_composite *set;
    size_t numbers = 0;
    pn_status status = pn_same_dim("C + D", a, b, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_need_support("C + D", a, err);
    if (status == PN_OK)
        status = pn_need_support("C + D", b, err);
    if (status == PN_OK)
        status = pn_size_product(&numbers, "C + D", "2 numbers for each coordinate", 2, a->dim, err);
    if (status == PN_OK)
        status = pn_composite_new(&set, sizeof *set, "sum", a->dim, a, b, numbers, err);
    if (status != PN_OK)
        return status;
    set->ops.doc = "C + D = {x + y : x in C, y in D}";
    set->ops.symmetric = a->ops->symmetric && b->ops->symmetric;
    set->ops.support = sum_support;
    set->ops.radius = sum_radius;
    set->ops.diameter = sum_diameter;
    set->ops.center = sum_center;
    set->ops.width = a->ops->width || b->ops->width ? pn_width_of_parts : NULL;
    set->ops.describe = sum_describe;
    fill_center(set, set->numbers + a->dim);
    *out = &set->base;
    return PN_OK;
}

bool pn_set_sum_parts(const pn_set *set, const pn_set **a, const pn_set **b)
{
    if (!pn_is_composite(set, "sum"))
        return false;
    *a = pn_as_composite(set)->a;
    *b = pn_as_composite(set)->b;
    return true;
}
