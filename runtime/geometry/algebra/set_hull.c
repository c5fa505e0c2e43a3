/* set_hull.c -- conv(C u D), and Q = conv(C u -C).  The support function is the larger of the two; where both parts
 * list their vertices the hull lists all of them, so private selection works on it.
 * Depends on: composite.h, upper.h.  Used by: set_algebra.h. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

/* numbers: the center, for polytopes the first vertex of C and the first of D, and scratch. */
typedef struct hull {
    pn_composite head;
    size_t count_a, count_b;
} hull;

static const hull *as_hull(const pn_set *set)
{
    return (const hull *)set;
}

static pn_status hull_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    double a, b;
    pn_status status = set->b->ops->support(set->b, g, NULL, &b, err);

    if (status == PN_OK)
        status = set->a->ops->support(set->a, g, NULL, &a, err);
    if (status != PN_OK)
        return status;
    *value = fmax(a, b);
    if (!point || isinf(*value))
        return PN_OK;
    return b > a ? set->b->ops->support(set->b, g, point, &b, err) : set->a->ops->support(set->a, g, point, &a, err);
}

static double hull_radius(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);

    return fmax(set->a->ops->radius(set->a, norm), set->b->ops->radius(set->b, norm));
}

/* Both ends in one part, or one in each. */
static double hull_diameter(const pn_set *self, pn_lp norm)
{
    const pn_composite *set = pn_as_composite(self);
    double across = pn_plus_up(set->a->ops->radius(set->a, norm), set->b->ops->radius(set->b, norm));

    return fmax(across, fmax(set->a->ops->diameter(set->a, norm), set->b->ops->diameter(set->b, norm)));
}

static void hull_center(const pn_set *self, double *x)
{
    memcpy(x, pn_as_composite(self)->numbers, self->dim * sizeof *x);
}

static size_t hull_atom_count(const pn_set *self)
{
    return as_hull(self)->count_a + as_hull(self)->count_b;
}

/* A part's scores are about a point of its own, <v, g> - <c, g>; its first vertex tells <c, g>. */
static void scores_about_origin(const pn_set *part, const double *first, const double *g, double *scores, size_t count)
{
    double offset;

    part->ops->atom_scores(part, g, scores);
    offset = pn_dot(part->dim, first, g) - scores[0];
    for (size_t i = 0; i < count; i++)
        scores[i] += offset;
}

static void hull_atom_scores(const pn_set *self, const double *g, double *scores)
{
    const hull *set = as_hull(self);
    const double *first_a = set->head.numbers + self->dim, *first_b = first_a + self->dim;

    scores_about_origin(set->head.a, first_a, g, scores, set->count_a);
    scores_about_origin(set->head.b, first_b, g, scores + set->count_a, set->count_b);
}

static void hull_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    const hull *set = as_hull(self);
    const pn_set *part = i < set->count_a ? set->head.a : set->head.b;

    part->ops->atom(part, i < set->count_a ? i : i - set->count_a, out, scratch);
}

/* dense[dim] <- the part's first vertex */
static void copy_first(const pn_set *part, double *dense, double *scratch)
{
    pn_atom atom;

    part->ops->atom(part, 0, &atom, scratch);
    memset(dense, 0, part->dim * sizeof *dense);
    pn_atom_add(&atom, 1.0, dense);
}

static void fill_atoms(hull *set)
{
    size_t dim = set->head.base.dim;
    double *numbers = set->head.numbers, *scratch = numbers + 3 * dim;

    copy_first(set->head.a, numbers + dim, scratch);
    copy_first(set->head.b, numbers + 2 * dim, scratch);
    set->count_a = set->head.a->ops->atom_count(set->head.a);
    set->count_b = set->head.b->ops->atom_count(set->head.b);
    set->head.ops.atom_count = hull_atom_count;
    set->head.ops.atom_scores = hull_atom_scores;
    set->head.ops.atom_radius = hull_radius; /* about the origin; a polytope's radius is at a vertex */
    set->head.ops.atom = hull_atom;
}

static void fill_center(hull *set)
{
    size_t dim = set->head.base.dim;
    double *middle = set->head.numbers, *other = middle + 3 * dim;

    set->head.a->ops->center(set->head.a, middle);
    set->head.b->ops->center(set->head.b, other);
    for (size_t j = 0; j < dim; j++)
        middle[j] = 0.5 * middle[j] + 0.5 * other[j];
}

pn_status pn_set_hull(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_composite *head;
    size_t numbers = 0;
    pn_status status = pn_same_dim("C:hull", a, b, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_need_support("C:hull", a, err);
    if (status == PN_OK)
        status = pn_need_support("C:hull", b, err);
    if (status == PN_OK)
        status = pn_size_product(&numbers, "C:hull", "4 numbers for each coordinate", 4, a->dim, err);
    if (status == PN_OK)
        status = pn_composite_new(&head, sizeof(hull), "hull", a->dim, a, b, numbers, err);
    if (status != PN_OK)
        return status;
    head->ops.doc = "conv(C u D)";
    head->ops.symmetric = a->ops->symmetric && b->ops->symmetric;
    head->ops.support = hull_support;
    head->ops.radius = hull_radius;
    head->ops.diameter = hull_diameter;
    head->ops.center = hull_center;
    if (pn_set_is_polytope(a) && pn_set_is_polytope(b))
        fill_atoms((hull *)head);
    fill_center((hull *)head);
    *out = &head->base;
    return PN_OK;
}

bool pn_set_hull_parts(const pn_set *set, const pn_set **a, const pn_set **b)
{
    if (!pn_is_composite(set, "hull"))
        return false;
    *a = pn_as_composite(set)->a;
    *b = pn_as_composite(set)->b;
    return true;
}

/* Of conv(C u -C), where C knows it. */
static pn_status reflected_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const pn_set *set = pn_as_composite(self)->a;

    return set->ops->hull_gauge(set, x, value, err);
}

/* The named body is found through a reflection too. */
static bool is_simplex(const pn_set *set, double *radius)
{
    const double *shift;
    double factor;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);

    if (shift || strcmp(inner->ops->name, "simplex") != 0 || !inner->ops->scale)
        return false;
    *radius = fabs(factor) * inner->ops->scale(inner);
    return true;
}

static pn_status hull_with_reflection(pn_set **out, pn_set *set, pn_err *err)
{
    pn_set *back = NULL;
    pn_status status = pn_set_scale(&back, set, -1.0, err);

    if (status == PN_OK)
        status = pn_set_hull(out, set, back, err);
    pn_set_free(back);
    if (status == PN_OK) {
        pn_composite *head = (pn_composite *)*out;

        head->ops.symmetric = true;
        head->ops.gauge = set->ops->hull_gauge ? reflected_gauge : NULL;
    }
    return status;
}

pn_status pn_set_symmetric_hull(pn_set **out, pn_set *set, pn_err *err)
{
    double radius;

    *out = NULL;
    if (set->ops->symmetric) {
        *out = pn_set_keep(set);
        return PN_OK;
    }
    if (is_simplex(set, &radius))
        return pn_set_ball_like(out, "l1_ball", set, radius, err);
    return hull_with_reflection(out, set, err);
}
