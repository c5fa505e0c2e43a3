/* ball.c -- the operations that bodies of a given radius share.  Depends on: ball.h, upper.h.
 * Used by: the sets of vectors of this room. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

void *pn_ball_new(size_t bytes, const pn_set_ops *ops, size_t dim, double radius, pn_err *err)
{
    pn_ball *ball = pn_calloc(1, bytes);

    if (!ball) {
        (void)pn_fail(err, PN_ENOMEM, "set.%s: out of memory", ops->name);
        return NULL;
    }
    pn_set_init(&ball->base, ops, dim);
    ball->radius = radius;
    return ball;
}

void pn_ball_destroy(pn_set *self)
{
    pn_free(self);
}

void pn_ball_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

double pn_ball_scale(const pn_set *self)
{
    return ((const pn_ball *)self)->radius;
}

double pn_ball_diameter(const pn_set *self, pn_lp norm)
{
    return 2.0 * self->ops->radius(self, norm);
}

/* The general line would show the l2 radius, which is not what the user gave. */
void pn_ball_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "%s(dim=%zu, radius=%.10g)", self->ops->name, self->dim, pn_ball_scale(self));
}

#define FAR        1e3 /* of the radius: three of sixteen digits */
#define HUGE_ENTRY 1e280

/* Where sums could overflow the direction is all that counts. */
static void come_closer(double *x, size_t n, double size)
{
    for (size_t j = 0; size > HUGE_ENTRY && j < n; j++)
        x[j] *= 0x1p-200;
}

static pn_status repeat(const pn_set *self, double *x, double size, double far, pn_project_fn once, pn_err *err)
{
    pn_status status = PN_OK;

    for (int pass = 0; pass < 40 && status == PN_OK; pass++) { /* 600 digits */
        come_closer(x, self->dim, size);
        status = once(self, x, err);
        if (!(size > far))
            break;
        size = pn_lp_norm(PN_LINF, self->dim, x);
    }
    return status;
}

pn_status pn_project_from_far(const pn_set *self, double *x, pn_project_fn once, pn_err *err)
{
    double size = pn_lp_norm(PN_LINF, self->dim, x), far = FAR * self->ops->radius(self, PN_LINF), *work;
    pn_status status;

    if (!(size > far))
        return once(self, x, err);
    PN_TRY(pn_new(&work, self->dim, err, "set.%s: out of memory in project", self->ops->name));
    memcpy(work, x, self->dim * sizeof *work);
    status = repeat(self, work, size, far, once, err);
    if (status == PN_OK)
        memcpy(x, work, self->dim * sizeof *x);
    pn_free(work);
    return status;
}

pn_status pn_ball_check_k(const char *owner, size_t k, size_t dim, pn_err *err)
{
    if (k > dim)
        return pn_fail(err, PN_EINVAL, "set.%s: k must be at most dim, which is %zu, got %zu", owner, dim, k);
    return PN_OK;
}

double pn_constant_norm(size_t count, double size, pn_lp norm)
{
    if (count == 0)
        return 0.0;
    switch (norm) {
    case PN_L1:
        return pn_times_up((double)count, size);
    case PN_L2:
        return count == 1 ? size : nextafter(nextafter(sqrt((double)count) * size, INFINITY), INFINITY);
    default:
        return size;
    }
}

pn_status pn_bounds_check(const char *owner, pn_vec lower, pn_vec upper, pn_err *err)
{
    if (lower.n != upper.n)
        return pn_fail(err, PN_EDIM, "%s: lower has %zu entries, upper has %zu", owner, lower.n, upper.n);
    if (lower.n == 0)
        return pn_fail(err, PN_EINVAL, "%s: lower and upper must have at least one entry", owner);
    for (size_t j = 0; j < lower.n; j++) {
        if (lower.data[j] > upper.data[j])
            return pn_fail(err, PN_EINVAL, "%s: lower must be <= upper, got %g > %g at entry %zu", owner, lower.data[j],
                           upper.data[j], j + 1);
    }
    return PN_OK;
}

void pn_atom_single(pn_atom *out, size_t index, double value)
{
    out->count = 1;
    out->index_of_one = index;
    out->value_of_one = value;
    out->index = &out->index_of_one;
    out->value = &out->value_of_one;
}
