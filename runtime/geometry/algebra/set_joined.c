/* set_joined.c -- {(x, y) : a N_C(x)^2 + b N_D(y)^2 <= 1} for the gauges of two symmetric bodies C and D and weights a
 * and b, or its image {x + y}: the unit ball of the norm in which potentials of pairs are strongly convex.
 * Its support function is sqrt(h_C(g)^2/a + h_D(h)^2/b).
 * Depends on: composite.h, upper.h.  Used by: potentials of products and sums. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"

typedef struct joined {
    pn_composite head;
    double weight[2];
    bool sum;
} joined;

static const joined *as_joined(const pn_set *set)
{
    return (const joined *)set;
}

static size_t second_at(const joined *set)
{
    return set->sum ? 0 : set->head.a->dim;
}

/* Both points, scaled: that of the whole is (h_C x/a, h_D y/b) / h. */
static pn_status joined_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const joined *set = as_joined(self);
    size_t at = second_at(set), n = set->head.a->dim, m = set->head.b->dim;
    double *x = pn_alloc(n + m, sizeof *x), h[2], share[2];
    pn_status status;

    PN_TRY(pn_made(x, err, "C:support: out of memory"));
    status = set->head.a->ops->support(set->head.a, g, x, &h[0], err);
    if (status == PN_OK)
        status = set->head.b->ops->support(set->head.b, g + at, x + n, &h[1], err);
    if (status == PN_OK) {
        *value = hypot(h[0] / sqrt(set->weight[0]), h[1] / sqrt(set->weight[1]));
        for (int k = 0; k < 2; k++)
            share[k] = *value > 0.0 ? h[k] / set->weight[k] / *value : 0.0;
        for (size_t j = 0; point && j < self->dim; j++)
            point[j] = 0.0;
        for (size_t j = 0; point && j < n; j++)
            point[j] = share[0] * x[j];
        for (size_t j = 0; point && j < m; j++)
            point[at + j] += share[1] * x[n + j];
    }
    pn_free(x);
    return status;
}

/* r_C s + r_D t over a s^2 + b t^2 <= 1 for l1 and for sums; in l2 and linf one part of a pair has it all. */
static double joined_radius(const pn_set *self, pn_lp norm)
{
    const joined *set = as_joined(self);
    double r[2] = { set->head.a->ops->radius(set->head.a, norm) / sqrt(set->weight[0]),
                    set->head.b->ops->radius(set->head.b, norm) / sqrt(set->weight[1]) };

    if (!set->sum && norm != PN_L1)
        return fmax(r[0], r[1]) * (1.0 + 1e-15);
    return pn_norm_upper(PN_L2, r, 2);
}

static void joined_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static pn_status joined_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const joined *set = as_joined(self);
    double part[2];

    PN_TRY(pn_set_gauge(set->head.a, x, set->head.a->dim, &part[0], err));
    PN_TRY(pn_set_gauge(set->head.b, x + set->head.a->dim, set->head.b->dim, &part[1], err));
    *value = hypot(sqrt(set->weight[0]) * part[0], sqrt(set->weight[1]) * part[1]);
    return PN_OK;
}

pn_status pn_set_joined(pn_set **out, pn_set *a, pn_set *b, const double weight[2], bool sum, pn_err *err)
{
    pn_composite *head;

    *out = NULL;
    PN_TRY(pn_composite_new(&head, sizeof(joined), "joined", sum ? a->dim : a->dim + b->dim, a, b, 0, err));
    ((joined *)head)->weight[0] = weight[0];
    ((joined *)head)->weight[1] = weight[1];
    ((joined *)head)->sum = sum;
    head->ops.doc = "{(x, y) : a N_C(x)^2 + b N_D(y)^2 <= 1}, or its image {x + y}";
    head->ops.symmetric = true;
    head->ops.support = joined_support;
    head->ops.radius = joined_radius;
    head->ops.center = joined_center;
    head->ops.gauge = sum ? NULL : joined_gauge;
    *out = &head->base;
    return PN_OK;
}

bool pn_set_joined_parts(const pn_set *set, const pn_set *parts[2], double weight[2])
{
    if (!pn_is_composite(set, "joined"))
        return false;
    parts[0] = pn_as_composite(set)->a;
    parts[1] = pn_as_composite(set)->b;
    weight[0] = as_joined(set)->weight[0];
    weight[1] = as_joined(set)->weight[1];
    return true;
}
