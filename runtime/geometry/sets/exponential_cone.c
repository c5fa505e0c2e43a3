/* exponential_cone.c -- the closure of { (x, y, z) : y exp(x/y) <= z, y > 0 }.
 * Off the cone, its polar and the flat face, v = a (q, 1, e^q) + b (1, 1 - q, -e^-q) with a,
 * b > 0: the first part is the
 * projection.  x and y give a and b as functions of q, and z an equation that increases in q, solved to the last bit.
 * Depends on: cone.h, root.h.  Used by: sets.c's table.
 * Source: Friberg (2023), Projection onto the exponential cone: a univariate root-finding problem. */
#include <math.h>
#include <string.h>

#include "geometry/convex/cone.h"
#include "numeric/root.h"

#define FAR 700.0 /* e^q is a number up to here, and nothing beside 1 below -FAR */

extern const pn_set_ops pn_set_exponential_cone;

static const pn_param exponential_cone_params[] = {
    PN_PARAM_END,
};

static pn_status exponential_cone_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    (void)args;
    return pn_cone_new(out, &pn_set_exponential_cone, 3, err);
}

static bool in_cone(const double *v)
{
    if (v[1] > 0.0)
        return v[1] * exp(v[0] / v[1]) <= v[2];
    return v[1] == 0.0 && v[0] <= 0.0 && v[2] >= 0.0;
}

static bool in_polar(const double *v)
{
    if (v[0] > 0.0)
        return v[0] * exp(v[1] / v[0] - 1.0) <= -v[2];
    return v[0] == 0.0 && v[1] <= 0.0 && v[2] <= 0.0;
}

static double in_plane(double q)
{
    return q * q - q + 1.0;
}

/* The weights of the two rays. */
static double weight_a(const double *v, double q)
{
    return fmax(((q - 1.0) * v[0] + v[1]) / in_plane(q), 0.0);
}

static double weight_b(const double *v, double q)
{
    return fmax((v[0] - q * v[1]) / in_plane(q), 0.0);
}

static bool beyond_root(void *self, double q)
{
    const double *v = self;

    return weight_a(v, q) * exp(q) - weight_b(v, q) * exp(-q) > v[2];
}

/* The q with a > 0 and b > 0, where x > 0 or y > 0. */
static void bracket(const double *v, double *low, double *high)
{
    *low = v[0] > 0.0 ? 1.0 - v[1] / v[0] : -INFINITY;
    *high = v[1] > 0.0 ? v[0] / v[1] : INFINITY;
}

/* Entries of v are at most 1 in absolute value. */
static void project_unit(double *v)
{
    double low, high, q, a, b;

    bracket(v, &low, &high);
    if (low >= FAR) { /* next to the ray of z */
        v[0] = v[1] = 0.0;
        v[2] = fmax(v[2], 0.0);
        return;
    }
    if (high <= -FAR) { /* next to the face of x and y */
        v[2] = 0.0;
        return;
    }
    q = pn_bisect(beyond_root, v, fmax(low, -FAR), fmin(high, FAR));
    b = weight_b(v, q);
    if (q > 0.0) { /* a is a small difference that e^q would blow up: take it from z */
        v[2] = fmax(v[2] + b * exp(-q), 0.0);
        v[1] = v[2] * exp(-q);
        v[0] = v[1] * q;
        return;
    }
    a = weight_a(v, q);
    v[0] -= b;
    v[1] = a;
    v[2] = a * exp(q);
}

static pn_status exponential_cone_project(const pn_set *self, double *x, pn_err *err)
{
    double unit = fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2]));

    (void)self;
    (void)err;
    if (in_cone(x))
        return PN_OK;
    if (in_polar(x)) {
        memset(x, 0, 3 * sizeof *x);
        return PN_OK;
    }
    if (x[0] <= 0.0 && x[1] <= 0.0) {
        x[1] = 0.0;
        x[2] = fmax(x[2], 0.0);
        return PN_OK;
    }
    for (int j = 0; j < 3; j++)
        x[j] /= unit;
    project_unit(x);
    for (int j = 0; j < 3; j++)
        x[j] *= unit;
    return PN_OK;
}

const pn_set_ops pn_set_exponential_cone = {
    .name = "exponential_cone",
    .doc = "The closure of {(x, y, z) : y exp(x/y) <= z, y > 0}, in dimension 3.  Unbounded.",
    .source = "Friberg (2023), Projection onto the exponential cone: a univariate root-finding problem",
    .params = exponential_cone_params,
    .create = exponential_cone_create,
    .destroy = pn_cone_destroy,
    .cone = true,
    .support = pn_cone_support,
    .radius = pn_unbounded_size,
    .diameter = pn_unbounded_size,
    .contains = pn_cone_contains,
    .center = pn_cone_center,
    .project = exponential_cone_project,
    .gauge = pn_cone_gauge,
};
