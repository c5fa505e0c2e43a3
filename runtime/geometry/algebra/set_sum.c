/* set_sum.c -- the Minkowski sum C + D = {x + y : x in C, y in D}.  Support function, radius and width add; projection,
 * gauge and membership are found from the support.
 *
 * Where both parts are projected on by formulas, the point nearest to z is approached by turns, which keep no list of
 * support points:
 *     y = P_D(z - ahead),  x = P_C(z - y),
 * the accelerated projected gradient method for half the squared distance of z - x to D, as a function of x in C, with
 * restarts.  The residual w = z - x - y is normal to C at x, so that for v in C + D
 *     <w, v - (x + y)>  <=  h_D(w) - <w, y>,
 * which bounds the squared distance of x + y from the nearest point.  Near the border they start from points farther
 * out (far_points.c).
 * Depends on: composite.h, upper.h.  Used by: set_algebra.h.
 * Source: Beck & Teboulle (2009); O'Donoghue & Candes (2015) for restarts. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/stop.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

#define MOST_TURNS 2000
#define STILL      (8.0 * DBL_EPSILON) /* of the size: x no longer moves */

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

/* ---- the nearest point ---- */

typedef struct turns {
    const pn_composite *set;
    size_t dim;
    const double *z;
    double *x, *before, *ahead, *y, *w;
} turns;

/* The next x and y, and the residual; *moved: how far x is from where the gradient was taken. */
static pn_status take_turn(turns *at, double *moved, pn_err *err)
{
    double *spare = at->before;

    at->before = at->x;
    at->x = spare;
    for (size_t j = 0; j < at->dim; j++)
        at->y[j] = at->z[j] - at->ahead[j];
    PN_TRY(pn_set_project(at->set->b, at->y, at->dim, err));
    for (size_t j = 0; j < at->dim; j++)
        at->x[j] = at->z[j] - at->y[j];
    PN_TRY(pn_set_project(at->set->a, at->x, at->dim, err));
    *moved = 0.0;
    for (size_t j = 0; j < at->dim; j++) {
        at->w[j] = (at->z[j] - at->y[j]) - at->x[j];
        *moved += (at->ahead[j] - at->x[j]) * (at->ahead[j] - at->x[j]);
    }
    *moved = sqrt(*moved);
    return PN_OK;
}

/* ahead <- x + momentum (x - before), without momentum once it points uphill. */
static void look_ahead(turns *at, double *theta)
{
    double uphill = 0.0, next, momentum;

    for (size_t j = 0; j < at->dim; j++)
        uphill += (at->ahead[j] - at->x[j]) * (at->x[j] - at->before[j]);
    if (uphill > 0.0)
        *theta = 1.0;
    next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *theta * *theta));
    momentum = (*theta - 1.0) / next;
    *theta = next;
    for (size_t j = 0; j < at->dim; j++)
        at->ahead[j] = at->x[j] + momentum * (at->x[j] - at->before[j]);
}

static pn_status take_turns(turns *at, double *gap, pn_err *err)
{
    double theta = 1.0, moved = INFINITY, size = pn_lp_norm(PN_L2, at->dim, at->z), value = 0.0;

    size += at->set->base.ops->radius(&at->set->base, PN_L2);
    for (int turn = 0; turn < MOST_TURNS && moved > STILL * size; turn++) {
        PN_TRY(pn_stop_asked(err));
        PN_TRY(take_turn(at, &moved, err));
        look_ahead(at, &theta);
    }
    PN_TRY(at->set->b->ops->support(at->set->b, at->w, NULL, &value, err));
    *gap = fmax(value - pn_dot(at->dim, at->w, at->y), 0.0) + DBL_EPSILON * size * pn_lp_norm(PN_L2, at->dim, at->w);
    return PN_OK;
}

static pn_status sum_approach(const pn_set *self, double *x, double *gap, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    size_t dim = self->dim;
    double *room = pn_alloc(dim, 5 * sizeof *room);
    turns at = { .set = set, .dim = dim, .z = x, .x = room };
    pn_status status;

    PN_TRY(pn_made(room, err, "C + D: out of memory in project"));
    at.before = room + dim;
    at.ahead = room + 2 * dim;
    at.y = room + 3 * dim;
    at.w = room + 4 * dim;
    set->a->ops->center(set->a, at.x);
    memcpy(at.ahead, at.x, dim * sizeof *at.x);
    status = take_turns(&at, gap, err);
    for (size_t j = 0; j < dim && status == PN_OK; j++)
        x[j] = at.x[j] + at.y[j];
    pn_free(room);
    return status;
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
    if (isfinite(pn_set_projection_error(a, 1.0)) && isfinite(pn_set_projection_error(b, 1.0)))
        set->ops.approach = sum_approach;
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
