/* algebra_test.c -- sets made of sets: the properties that every one must have, on random compositions and directions,
 * and answers known in closed form.  Depends on: geometry/algebra/set_algebra.h, check.h, fail_alloc.h. */
#include <float.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width.h"
#include "numeric/blas.h"

#define MOST       12
#define DIRECTIONS 25

/* ---- sets to start from ---- */

static pn_set *ball(const char *name, size_t dim, double radius)
{
    pn_arg args[8] = { { .given = true, .count = dim }, { .given = true, .real = radius } };
    pn_set *set = NULL;
    pn_err err;

    CHECK(pn_set_from_args(&set, name, args, &err) == PN_OK);
    return set;
}

/* A set of the table by the names of its numbers. */
static pn_set *named(const char *name, const char *const *names, const double *values, size_t count)
{
    const pn_set_ops *const *row = pn_set_table();
    pn_arg args[16] = { { .given = false } };
    pn_set *set = NULL;

    while (strcmp((*row)->name, name) != 0)
        row++;
    for (size_t i = 0; i < count; i++)
        args[pn_param_find((*row)->params, names[i])] =
            (pn_arg){ .given = true, .real = values[i], .count = (size_t)values[i] };
    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

static pn_set *polytope(const double *rows, size_t count, size_t dim)
{
    double data[MOST * MOST];
    pn_arg args[1] = { { .given = true, .matrix = { data, count, dim } } };
    pn_set *set = NULL;
    pn_err err;

    memcpy(data, rows, count * dim * sizeof *data);
    CHECK(pn_set_from_args(&set, "polytope", args, &err) == PN_OK);
    return set;
}

static pn_set *box(const double *lower, const double *upper, size_t dim)
{
    double low[MOST], high[MOST];
    pn_arg args[2] = { { .given = true, .vector = { low, dim } }, { .given = true, .vector = { high, dim } } };
    pn_set *set = NULL;
    pn_err err;

    memcpy(low, lower, dim * sizeof *low);
    memcpy(high, upper, dim * sizeof *high);
    CHECK(pn_set_from_args(&set, "box", args, &err) == PN_OK);
    return set;
}

/* The constructor's result from parts that are dropped here: what is made keeps what it needs. */
typedef pn_status (*joiner)(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

static pn_set *joined(joiner make, pn_set *a, pn_set *b)
{
    pn_set *set = NULL;
    pn_err err = { .message = "" };

    if (!CHECK(make(&set, a, b, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_set_free(a);
    pn_set_free(b);
    return set;
}

static pn_set *scaled(pn_set *set, double factor)
{
    pn_set *out = NULL;
    pn_err err;

    CHECK(pn_set_scale(&out, set, factor, &err) == PN_OK);
    pn_set_free(set);
    return out;
}

static pn_set *shifted(pn_set *set, double by)
{
    double shift[MOST];
    pn_set *out = NULL;
    pn_err err;

    for (size_t j = 0; j < set->dim; j++)
        shift[j] = by * (double)(j + 1);
    CHECK(pn_set_shift(&out, set, shift, set->dim, &err) == PN_OK);
    pn_set_free(set);
    return out;
}

/* ---- the properties ---- */

static double inner(const double *a, const double *b, size_t n)
{
    return pn_dot(n, a, b);
}

static void check_support(const pn_set *set, pn_rng *rng, double slack)
{
    double f[MOST], g[MOST], sum[MOST], point[MOST], hf, hg, hs;
    size_t n = set->dim;
    bool inside = false;

    for (int k = 0; k < DIRECTIONS; k++) {
        pn_rng_normals(rng, n, f);
        pn_rng_normals(rng, n, g);
        for (size_t j = 0; j < n; j++)
            sum[j] = f[j] + 2.0 * g[j];
        CHECK(pn_set_support(set, f, n, &hf, point, NULL) == PN_OK);
        CHECK_CLOSE(inner(f, point, n), hf, slack);
        CHECK(pn_set_contains(set, point, n, slack, &inside, NULL) == PN_OK && inside);
        CHECK(pn_set_support(set, g, n, &hg, NULL, NULL) == PN_OK);
        CHECK(pn_set_support(set, sum, n, &hs, NULL, NULL) == PN_OK);
        CHECK(hs <= hf + 2.0 * hg + 3.0 * slack);
        for (size_t j = 0; j < n; j++)
            CHECK(fabs(point[j]) <= set->ops->radius(set, PN_LINF) + slack);
    }
}

/* <z - P(z), v - P(z)> <= 0 for v = the support point of z - P(z), which is the strongest test; P(P(z)) = P(z). */
static void check_project(const pn_set *set, pn_rng *rng, double spread, double slack)
{
    double z[MOST], p[MOST], again[MOST], out[MOST], v[MOST], h;
    size_t n = set->dim;
    bool inside = false;
    pn_err err;

    for (int k = 0; k < DIRECTIONS; k++) {
        pn_rng_normals(rng, n, z);
        for (size_t j = 0; j < n; j++)
            p[j] = z[j] *= spread;
        if (!CHECK(pn_set_project(set, p, n, &err) == PN_OK)) {
            (void)fprintf(stderr, "    %s\n", err.message);
            return;
        }
        for (size_t j = 0; j < n; j++)
            out[j] = z[j] - p[j];
        CHECK(pn_set_support(set, out, n, &h, v, NULL) == PN_OK);
        CHECK_CLOSE(h - inner(out, p, n), 0.0, slack * (1.0 + pn_lp_norm(PN_L2, n, out)));
        CHECK(pn_set_contains(set, p, n, slack, &inside, &err) == PN_OK && inside);
        memcpy(again, p, n * sizeof *p);
        CHECK(pn_set_project(set, again, n, &err) == PN_OK || fprintf(stderr, "%s\n", err.message) == 0);
        for (size_t j = 0; j < n; j++)
            CHECK_CLOSE(again[j], p[j], 3e2 * slack);
    }
}

/* x / gauge(x) is on the boundary, and |<x, y>| <= gauge(x) h(y). */
static void check_gauge(const pn_set *set, pn_rng *rng, double slack)
{
    double x[MOST], y[MOST], on[MOST], gauge, h;
    size_t n = set->dim;
    bool inside = false;

    memset(x, 0, sizeof x);
    if (pn_set_contains(set, x, n, 0.0, &inside, NULL) != PN_OK || !inside)
        return;
    for (int k = 0; k < DIRECTIONS; k++) {
        pn_rng_normals(rng, n, x);
        pn_rng_normals(rng, n, y);
        if (!CHECK(pn_set_gauge(set, x, n, &gauge, NULL) == PN_OK) || isinf(gauge))
            continue;
        for (size_t j = 0; j < n; j++)
            on[j] = x[j] / gauge;
        CHECK(pn_set_contains(set, on, n, slack, &inside, NULL) == PN_OK && inside);
        for (size_t j = 0; j < n; j++)
            on[j] *= 1.001;
        CHECK(pn_set_contains(set, on, n, 0.0, &inside, NULL) == PN_OK && !inside);
        CHECK(pn_set_support(set, y, n, &h, NULL, NULL) == PN_OK);
        CHECK(inner(x, y, n) <= gauge * h * (1.0 + 1e-9) + slack);
    }
}

/* A point on the border is rounded, and so is its norm: by a few units of the last place of the bound,
 * as the processor sums. */
static double up_to_rounding(double bound)
{
    return bound * (1.0 + 64.0 * DBL_EPSILON) + 1e-15;
}

/* Radii and diameters bound samples, and the center is inside. */
static void check_sizes(const pn_set *set, pn_rng *rng, double slack)
{
    double x[MOST], y[MOST], g[MOST];
    size_t n = set->dim;
    bool inside = false;

    set->ops->center(set, x);
    CHECK(pn_set_contains(set, x, n, slack, &inside, NULL) == PN_OK && inside);
    for (int k = 0; k < DIRECTIONS; k++) {
        CHECK(pn_set_sample(set, rng, x, NULL, NULL) == PN_OK);
        CHECK(pn_set_contains(set, x, n, slack, &inside, NULL) == PN_OK && inside);
        pn_rng_normals(rng, n, g);
        CHECK(pn_set_support(set, g, n, NULL, x, NULL) == PN_OK);
        for (size_t j = 0; j < n; j++)
            g[j] = -g[j];
        CHECK(pn_set_support(set, g, n, NULL, y, NULL) == PN_OK);
        for (size_t j = 0; j < n; j++)
            g[j] = y[j] - x[j];
        for (int norm = 0; norm < PN_LP_COUNT; norm++) {
            CHECK(pn_lp_norm((pn_lp)norm, n, x) <= up_to_rounding(set->ops->radius(set, (pn_lp)norm)));
            CHECK(pn_lp_norm((pn_lp)norm, n, g) <= up_to_rounding(set->ops->diameter(set, (pn_lp)norm)));
        }
    }
}

static void check_atoms(const pn_set *set, pn_rng *rng, double slack)
{
    double g[MOST], scores[4 * MOST], v[MOST], scratch[MOST], h, best = -INFINITY, first = 0.0;
    size_t n = set->dim;

    if (!pn_set_is_polytope(set))
        return;
    pn_rng_normals(rng, n, g);
    set->ops->atom_scores(set, g, scores);
    for (size_t i = 0; i < set->ops->atom_count(set); i++) {
        pn_atom atom;
        double product;

        memset(v, 0, sizeof v);
        set->ops->atom(set, i, &atom, scratch);
        pn_atom_add(&atom, 1.0, v);
        product = inner(g, v, n);
        best = fmax(best, product);
        first = i == 0 ? product - scores[0] : first;
        CHECK_CLOSE(product - scores[i], first, slack); /* about one common point */
        CHECK(fabs(scores[i]) <= up_to_rounding(pn_lp_norm(PN_L2, n, g) * set->ops->atom_radius(set, PN_L2)));
    }
    CHECK(pn_set_support(set, g, n, &h, NULL, NULL) == PN_OK);
    CHECK_CLOSE(h, best, slack);
}

static void conform(pn_set *set, double slack)
{
    pn_rng *rng = NULL;
    long before = check_broken;
    char text[200];

    CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    check_support(set, rng, slack);
    check_project(set, rng, 4.0, slack);
    check_project(set, rng, 0.3, slack);
    check_gauge(set, rng, slack);
    check_sizes(set, rng, slack);
    check_atoms(set, rng, slack);
    if (check_broken > before) {
        pn_set_describe(set, text, sizeof text);
        (void)fprintf(stderr, "    the set is %s\n", text);
    }
    pn_rng_free(rng);
    pn_set_free(set);
}

static const double triangle[] = { 1.0, 0.0, 0.0, 1.0, -1.0, -1.0 };
static const double low[] = { -1.0, 0.5, -3.0, 1.0 }, high[] = { 2.0, 5.0, -1.0, 1.0 };

static void test_negative_factors(void)
{
    conform(scaled(polytope(triangle, 3, 2), -2.0), 1e-9);
    conform(scaled(shifted(polytope(triangle, 3, 2), 0.1), -0.5), 1e-9);
    conform(shifted(scaled(box(low, high, 4), -1.5), 0.3), 1e-9);
    conform(scaled(ball("l1_ball", 4, 2.0), -1.0), 1e-9);
    conform(scaled(ball("simplex", 4, 2.0), -1.0), 1e-9);
}

static void test_sums(void)
{
    conform(joined(pn_set_sum, ball("l1_ball", 4, 1.0), ball("l2_ball", 4, 0.5)), 1e-9);
    conform(joined(pn_set_sum, ball("l2_ball", 10, 1.0), ball("l2_ball", 10, 0.5)), 1e-9);
    conform(joined(pn_set_sum, ball("simplex", 4, 2.0), box(low, high, 4)), 1e-9);
    conform(joined(pn_set_sum, polytope(triangle, 3, 2), scaled(polytope(triangle, 3, 2), -1.0)), 1e-9);
    conform(scaled(joined(pn_set_sum, ball("l1_ball", 5, 1.0), ball("l2_ball", 5, 0.5)), -3.0), 1e-9);
}

static void test_products(void)
{
    conform(joined(pn_set_product, ball("l1_ball", 4, 1.0), ball("l2_ball", 3, 0.5)), 1e-9);
    conform(joined(pn_set_product, ball("simplex", 4, 2.0), ball("linf_ball", 1, 0.5)), 1e-9);
    conform(shifted(joined(pn_set_product, ball("l1_ball", 2, 2.0), ball("l2_ball", 2, 0.5)), 0.5), 1e-9);
}

static void test_hulls(void)
{
    conform(joined(pn_set_hull, ball("l1_ball", 4, 1.0), ball("linf_ball", 4, 0.5)), 1e-9);
    conform(joined(pn_set_hull, ball("l1_ball", 4, 2.0), ball("l2_ball", 4, 1.2)), 1e-9);
    conform(joined(pn_set_hull, polytope(triangle, 3, 2), shifted(ball("l1_ball", 2, 1.0), 1.0)), 1e-9);
    conform(scaled(joined(pn_set_hull, shifted(ball("simplex", 3, 1.0), 2.0), ball("simplex", 3, 1.0)), -1.0), 1e-9);
}

static pn_set *image_of(pn_set *inner, double *data, size_t rows)
{
    pn_set *set = NULL;
    pn_err err;

    CHECK(pn_set_image(&set, inner, (pn_mat){ data, rows, inner->dim }, &err) == PN_OK);
    pn_set_free(inner);
    return set;
}

static void test_images(void)
{
    double A[] = { 1.0, 2.0, -1.0, 0.5, 0.0, 3.0, 1.0, 1.0, 1.0 };

    conform(image_of(ball("l1_ball", 3, 1.0), A, 3), 1e-9);
    conform(image_of(ball("l2_ball", 3, 1.0), A, 3), 1e-9);
    conform(image_of(ball("simplex", 3, 2.0), A, 2), 1e-9);
    conform(image_of(joined(pn_set_sum, ball("linf_ball", 3, 1.0), ball("l2_ball", 3, 0.1)), A, 2), 1e-9);
    conform(scaled(image_of(polytope(triangle, 3, 2), A, 2), -2.0), 1e-9);
}

static void test_intersections(void)
{
    conform(joined(pn_set_intersect, ball("l1_ball", 4, 1.5), ball("linf_ball", 4, 1.0)), 1e-8);
    conform(joined(pn_set_intersect, ball("l1_ball", 5, 1.5), ball("l2_ball", 5, 1.0)), 1e-8);
    conform(joined(pn_set_intersect, ball("simplex", 4, 1.0), scaled(ball("linf_ball", 4, 1.0), 0.4)), 1e-8);
    conform(joined(pn_set_intersect, ball("l2_ball", 3, 1.0), shifted(ball("l2_ball", 3, 1.0), 0.3)), 1e-8);
}

static pn_set *polar_of(pn_set *inner)
{
    pn_set *set = NULL;
    pn_err err = { .message = "" };

    if (!CHECK(pn_set_polar(&set, inner, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_set_free(inner);
    return set;
}

static void test_polars(void)
{
    static const double around[] = { -1.0, -0.5, -3.0, -1.0 }, up[] = { 2.0, 5.0, 1.0, 1.0 };

    conform(polar_of(ball("l1_ball", 4, 2.0)), 1e-9);
    conform(polar_of(named("lp_ball", (const char *[]){ "dim", "q" }, (double[]){ 3, 3 }, 2)), 1e-7);
    conform(polar_of(box(around, up, 4)), 1e-8);
    conform(polar_of(polytope(triangle, 3, 2)), 1e-8);
    conform(polar_of(joined(pn_set_sum, ball("l1_ball", 3, 1.0), ball("l2_ball", 3, 0.5))), 1e-7);
}

/* ---- known answers ---- */

static void projects(pn_set *set, const double *z, const double *want, double tolerance)
{
    double x[MOST];

    memcpy(x, z, set->dim * sizeof *x);
    CHECK(pn_set_project(set, x, set->dim, NULL) == PN_OK);
    for (size_t j = 0; j < set->dim; j++)
        CHECK_CLOSE(x[j], want[j], tolerance);
    pn_set_free(set);
}

static void test_known_projections(void)
{
    static const double z[] = { 3.0, -1.0, 0.5, 2.0 }, far[] = { 3.0, 4.0, 0.0, 0.0 }, slab[] = { 4.0, 3.0, 0.0, 0.0 };
    static const double minus[] = { -1.0, -1.0, 0.0, 0.0 }, plus[] = { 1.0, 1.0, 0.0, 0.0 };
    double stretch[] = { 2.0, 0.0, 0.0, 1.0 }, flat[] = { 1.0, 1.0 }, root = sqrt(13.0);

    projects(joined(pn_set_sum, ball("l2_ball", 4, 1.0), ball("l2_ball", 4, 0.5)), far,
             (double[]){ 0.9, 1.2, 0.0, 0.0 }, 1e-9); /* a ball of radius 1.5 */
    projects(joined(pn_set_sum, box(minus, plus, 4), ball("l2_ball", 4, 1.0)), slab,
             (double[]){ 1.0 + 3.0 / root, 1.0 + 2.0 / root, 0.0, 0.0 }, 1e-7); /* round the corner (1, 1) */
    projects(joined(pn_set_hull, ball("l1_ball", 4, 1.0), ball("l2_ball", 4, 0.1)), z, (double[]){ 1.0, 0.0, 0.0, 0.0 },
             1e-12); /* as on the l1 ball */
    projects(scaled(joined(pn_set_product, shifted(ball("l2_ball", 2, 0.5), 0.5), ball("l1_ball", 2, 1.0)), -1.0),
             (double[]){ -0.5, -2.0, 0.0, 3.0 }, (double[]){ -0.5, -1.5, 0.0, 1.0 }, 1e-12);
    projects(joined(pn_set_intersect, ball("linf_ball", 4, 1.0), ball("l1_ball", 4, 2.25)), z,
             (double[]){ 1.0, -0.25, 0.0, 1.0 }, 1e-10); /* thresholded by 0.75, clipped at 1 */
    projects(image_of(ball("l2_ball", 2, 1.0), stretch, 2), (double[]){ 5.0, 0.0 }, (double[]){ 2.0, 0.0 }, 1e-9);
    projects(image_of(ball("l2_ball", 2, 1.0), flat, 1), (double[]){ 7.0 }, (double[]){ sqrt(2.0) }, 1e-9);
}

/* A ball in 60 dimensions, known by its support function alone, from a point a thousand radii away. */
static void test_project_in_many_dimensions(void)
{
    pn_set *set = joined(pn_set_sum, ball("l2_ball", 60, 1.0), ball("l2_ball", 60, 1.0));
    double z[60], x[60], norm;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    for (double spread = 0.3; spread < 1e3; spread *= 30.0) {
        pn_rng_normals(rng, 60, z);
        norm = pn_lp_norm(PN_L2, 60, z);
        for (size_t j = 0; j < 60; j++)
            x[j] = z[j] *= spread;
        CHECK(pn_set_project(set, x, 60, NULL) == PN_OK);
        for (size_t j = 0; j < 60; j++)
            CHECK_CLOSE(x[j], z[j] * fmin(1.0, 2.0 / (norm * spread)), 1e-7);
    }
    pn_rng_free(rng);
    pn_set_free(set);
}

/* A point of the boundary is inside, and one a little further out is not, where a curved set has many directions. */
static void test_contains_in_many_dimensions(void)
{
    pn_set *set = joined(pn_set_sum, ball("l1_ball", 30, 1.0), ball("l2_ball", 30, 0.5));
    double g[30], x[30];
    pn_rng *rng = NULL;
    bool inside = false;

    CHECK(pn_rng_seeded(&rng, 7, NULL) == PN_OK);
    pn_rng_normals(rng, 30, g);
    CHECK(pn_set_support(set, g, 30, NULL, x, NULL) == PN_OK);
    CHECK(pn_set_contains(set, x, 30, 1e-9, &inside, NULL) == PN_OK && inside);
    for (size_t j = 0; j < 30; j++)
        x[j] *= 1.0 + 1e-4;
    CHECK(pn_set_contains(set, x, 30, 1e-9, &inside, NULL) == PN_OK && !inside);
    pn_rng_free(rng);
    pn_set_free(set);
}

/* Sets without end: x <= 1 and y <= 2, a quadrant; and cut by a ball. */
static pn_set *halfspace(double a, double b, double offset)
{
    double normal[2] = { a, b };
    pn_arg args[2] = { { .given = true, .vector = { normal, 2 } }, { .given = true, .real = offset } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, "halfspace", args, NULL) == PN_OK);
    return set;
}

static void test_unbounded_parts(void)
{
    pn_set *quadrant = joined(pn_set_intersect, halfspace(1.0, 0.0, 1.0), halfspace(0.0, 1.0, 2.0)), *cut;
    double value, x[2] = { 500.0, 300.0 };
    pn_err err;

    CHECK(pn_set_project(quadrant, x, 2, NULL) == PN_OK);
    CHECK_CLOSE(x[0], 1.0, 1e-9);
    CHECK_CLOSE(x[1], 2.0, 1e-9);
    CHECK(pn_set_support(quadrant, (double[]){ 1.0, 3.0 }, 2, &value, NULL, NULL) == PN_OK);
    CHECK_CLOSE(value, 7.0, 1e-8);
    CHECK(pn_set_support(quadrant, (double[]){ -1.0, 3.0 }, 2, &value, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "unbounded") != NULL);
    cut = joined(pn_set_intersect, quadrant, ball("l2_ball", 2, 2.0));
    x[0] = 400.0, x[1] = 300.0; /* far away, from which the radius of the cut bounds less than it seems */
    CHECK(pn_set_project(cut, x, 2, NULL) == PN_OK);
    CHECK_CLOSE(x[0], 1.0, 1e-8);
    CHECK_CLOSE(x[1], sqrt(3.0), 1e-8);
    conform(cut, 1e-8);
}

static void gauges(pn_set *set, const double *x, double want, double tolerance)
{
    double gauge = NAN;

    CHECK(pn_set_gauge(set, x, set->dim, &gauge, NULL) == PN_OK);
    CHECK_CLOSE(gauge, want, tolerance);
    pn_set_free(set);
}

static void test_known_gauges(void)
{
    static const double first[] = { 3.0, 0.0, 0.0, 0.0 }, ones[] = { 1.0, 1.0, 1.0, 1.0 },
                        third[] = { 0.0, 0.0, 1.0, 0.0 };
    static const double minus[] = { -1.0, -1.0, 0.0, 0.0 }, twice[] = { 2.0, 2.0, 0.0, 0.0 };
    pn_set *away = joined(pn_set_sum, ball("simplex", 4, 1.0), ball("l2_ball", 4, 0.1));
    double gauge = 7.0;
    pn_err err;

    gauges(joined(pn_set_sum, ball("l1_ball", 4, 1.0), ball("l2_ball", 4, 0.5)), first, 2.0, 1e-9);
    gauges(joined(pn_set_intersect, ball("linf_ball", 4, 1.0), ball("l1_ball", 4, 2.0)), ones, 2.0, 1e-9);
    gauges(joined(pn_set_product, ball("l1_ball", 1, 1.0), ball("l2_ball", 3, 0.5)), first, 3.0, 1e-12);
    gauges(scaled(box(minus, twice, 2), -2.0), (double[]){ 1.0, 0.0 }, 0.5, 1e-9); /* [-4, 2] */
    gauges(scaled(box(minus, twice, 2), -2.0), (double[]){ -1.0, 0.0 }, 0.25, 1e-9);
    gauges(joined(pn_set_sum, box(minus, twice, 4), box(minus, twice, 4)), third, INFINITY, 0.0);
    gauges(joined(pn_set_sum, box(minus, twice, 4), box(minus, twice, 4)), (double[]){ 0.0, 0.0, 0.0, 0.0 }, 0.0, 0.0);
    CHECK(pn_set_gauge(away, first, 4, &gauge, &err) == PN_EUNSUPPORTED && strstr(err.message, "origin is not in sum"));
    CHECK(gauge == 7.0);
    pn_set_free(away);
}

static void supports(pn_set *set, const double *g, double want, double tolerance)
{
    double value = NAN, point[MOST];

    CHECK(pn_set_support(set, g, set->dim, &value, point, NULL) == PN_OK);
    CHECK_CLOSE(value, want, tolerance);
    CHECK_CLOSE(inner(g, point, set->dim), want, tolerance);
    pn_set_free(set);
}

static void test_known_supports(void)
{
    static const double g[] = { 3.0, 2.0, 1.0, 0.0 }, minus[] = { -1.0, -1.0 }, half[] = { 0.5, 1.0 };

    supports(joined(pn_set_intersect, ball("linf_ball", 4, 1.0), ball("l1_ball", 4, 1.5)), g, 4.0, 1e-8);
    supports(joined(pn_set_intersect, ball("l2_ball", 2, 1.0), box(minus, half, 2)), (double[]){ 1.0, 1.0 },
             0.5 + sqrt(0.75), 2e-8);
    supports(joined(pn_set_intersect, ball("l2_ball", 2, 1.0), box(minus, half, 2)), (double[]){ 1.0, 0.0 }, 0.5, 1e-8);
    supports(scaled(box(minus, half, 2), -2.0), (double[]){ 1.0, -1.0 }, 4.0, 1e-15);  /* [-1, 2] x [-2, 2] */
    supports(polar_of(polytope(triangle, 3, 2)), (double[]){ -1.0, -0.5 }, 1.5, 1e-8); /* at (-2, 1) */
    supports(joined(pn_set_hull, ball("l1_ball", 4, 1.0), ball("l2_ball", 4, 0.9)), g, 0.9 * sqrt(14.0), 1e-14);
}

static void test_sizes(void)
{
    double A[] = { 3.0, 0.0, 4.0, 0.0 };
    pn_set *product = joined(pn_set_product, ball("l1_ball", 4, 3.0), ball("l2_ball", 3, 4.0));
    pn_set *image = image_of(ball("l2_ball", 2, 2.0), A, 2);
    pn_set *reflected = scaled(shifted(ball("simplex", 2, 1.0), 1.0), -2.0); /* corners (-4, -4), (-2, -6) */
    pn_set *both = joined(pn_set_hull, ball("l1_ball", 2, 1.0), polytope(triangle, 3, 2));
    pn_set *polar = polar_of(polytope(triangle, 3, 2));

    CHECK_CLOSE(product->ops->radius(product, PN_L2), 5.0, 5e-12);
    CHECK_CLOSE(product->ops->radius(product, PN_L1), 3.0 + 4.0 * sqrt(3.0), 1e-11);
    CHECK_CLOSE(product->ops->radius(product, PN_LINF), 4.0, 4e-12);
    CHECK_CLOSE(image->ops->radius(image, PN_L2), 10.0, 1e-11); /* A has the singular value 5 */
    CHECK(image->ops->radius(image, PN_L2) >= 10.0);
    CHECK_CLOSE(image->ops->radius(image, PN_LINF), 8.0, 1e-11);
    CHECK_CLOSE(reflected->ops->radius(reflected, PN_L2), sqrt(40.0), 1e-11);
    CHECK_CLOSE(reflected->ops->radius(reflected, PN_LINF), 6.0, 1e-11);
    CHECK(both->ops->atom_count(both) == 7);
    CHECK_CLOSE(both->ops->atom_radius(both, PN_L2), sqrt(2.0), 1e-15);
    CHECK(polar->ops->radius(polar, PN_LINF) >= 2.0 && polar->ops->radius(polar, PN_LINF) <= 2.0 + 1e-7);
    pn_set_free(product);
    pn_set_free(image);
    pn_set_free(reflected);
    pn_set_free(both);
    pn_set_free(polar);
}

static pn_width width_of(pn_set *set, pn_width_options how)
{
    pn_width width = { .value = NAN };

    CHECK(pn_set_width(set, &how, &width, NULL) == PN_OK);
    CHECK(width.low <= width.value && width.value <= width.high);
    pn_set_free(set);
    return width;
}

/* Widths of the l1 and l2 balls in ten dimensions: quadrature, and sqrt(2) Gamma(5.5)/Gamma(5). */
static void test_widths(void)
{
    const double of_l1 = 1.880715694, of_l2 = 3.084327760;
    pn_width_options plain = { .method = PN_WIDTH_AUTO };
    pn_set *drawn = joined(pn_set_hull, ball("l1_ball", 10, 1.0), ball("l2_ball", 10, 0.4));
    pn_width sum = width_of(joined(pn_set_sum, ball("l1_ball", 10, 1.0), ball("l2_ball", 10, 1.0)), plain), mixed;

    CHECK_CLOSE(sum.value, of_l1 + of_l2, 1e-8);
    CHECK(sum.method == PN_WIDTH_QUADRATURE && sum.confidence == 1.0 && sum.draws == 0);
    CHECK_CLOSE(width_of(joined(pn_set_product, ball("l1_ball", 10, 2.0), ball("l2_ball", 10, 1.0)), plain).value,
                2.0 * of_l1 + of_l2, 1e-8);
    CHECK_CLOSE(width_of(shifted(scaled(ball("l1_ball", 10, 1.0), -3.0), 2.0), plain).value, 3.0 * of_l1, 1e-8);
    mixed = width_of(joined(pn_set_sum, pn_set_keep(drawn), ball("l2_ball", 10, 1.0)), plain);
    CHECK(mixed.method == PN_WIDTH_MONTE_CARLO && mixed.draws > 0 && mixed.standard_error > 0.0);
    CHECK(mixed.confidence >= 0.99 && mixed.confidence < 1.0);
    CHECK(mixed.low >= of_l2 && mixed.high >= of_l2 + of_l1); /* the hull holds the l1 ball */
    CHECK_CLOSE(mixed.value - width_of(drawn, plain).value, of_l2, mixed.high - mixed.low);
}

/* ---- what is made of what, and what is refused ---- */

static void describes(pn_set *set, const char *want)
{
    char text[300];

    pn_set_describe(set, text, sizeof text);
    if (!CHECK(strcmp(text, want) == 0))
        (void)fprintf(stderr, "    got %s\n", text);
    pn_set_describe(set, text, 12);
    CHECK(strlen(text) <= 11 && strncmp(text, want, strlen(text)) == 0);
    pn_set_free(set);
}

static pn_set *symmetric_hull(pn_set *inner)
{
    pn_set *set = NULL;

    CHECK(pn_set_symmetric_hull(&set, inner, NULL) == PN_OK && set->ops->symmetric);
    pn_set_free(inner);
    return set;
}

static void test_descriptions(void)
{
    double A[] = { 1.0, 1.0 };

    describes(scaled(joined(pn_set_sum, ball("l1_ball", 4, 1.0), ball("l2_ball", 4, 0.5)), -2.0),
              "2 * (l1_ball(dim=4, radius=1) + l2_ball(dim=4, radius=0.5))");
    describes(scaled(ball("simplex", 3, 1.0), -0.5), "-0.5 * simplex(dim=3, radius=1)");
    describes(joined(pn_set_product, ball("l1_ball", 4, 1.0), ball("l2_ball", 1, 0.5)),
              "product(l1_ball(dim=4, radius=1), l2_ball(dim=1, radius=0.5))");
    describes(image_of(ball("l2_ball", 2, 1.0), A, 1), "image(l2_ball(dim=2, radius=1), rows=1)");
    describes(polar_of(ball("l1_ball", 4, 2.0)), "linf_ball(dim=4, radius=0.5)");
    describes(polar_of(scaled(ball("linf_ball", 4, 2.0), 2.0)), "0.5 * l1_ball(dim=4, radius=0.5)");
    describes(polar_of(named("nuclear_ball", (const char *[]){ "rows", "cols" }, (double[]){ 2, 3 }, 2)),
              "spectral_ball(dim=6, rows=2, cols=3, radius=1)");
    describes(polar_of(polar_of(polytope(triangle, 3, 2))), "polytope(dim=2, vertices=3, radius=1.414213562)");
    describes(symmetric_hull(scaled(ball("simplex", 4, 2.0), -1.0)), "l1_ball(dim=4, radius=2)");
    describes(symmetric_hull(ball("l2_ball", 2, 1.0)), "l2_ball(dim=2, radius=1)");
    describes(symmetric_hull(polytope(triangle, 3, 2)), "hull(polytope(dim=2, vertices=3, radius=1.414213562), -1 * "
                                                        "polytope(dim=2, vertices=3, radius=1.414213562))");
}

static void refused(joiner make, pn_set *a, pn_set *b, pn_status want, const char *part)
{
    pn_set *set = (pn_set *)1;
    pn_err err = { .message = "" };

    CHECK(make(&set, a, b, &err) == want && set == NULL);
    if (!CHECK(strstr(err.message, part) != NULL))
        (void)fprintf(stderr, "    got %s\n", err.message);
    pn_set_free(a);
    pn_set_free(b);
}

static void test_refusals(void)
{
    double A[] = { 1.0, NAN };
    pn_set *set = ball("l2_ball", 2, 1.0), *out = NULL, *twice;
    pn_err err;

    refused(pn_set_sum, ball("l2_ball", 2, 1.0), ball("l2_ball", 3, 1.0), PN_EDIM, "C has dimension 2, D has 3");
    refused(pn_set_hull, ball("l2_ball", 2, 1.0), ball("l2_ball", 3, 1.0), PN_EDIM, "C has dimension 2, D has 3");
    refused(pn_set_intersect, ball("l2_ball", 2, 1.0), ball("l2_ball", 3, 1.0), PN_EDIM, "C has dimension 2, D has 3");
    refused(pn_set_intersect, ball("l2_ball", 2, 1.0), shifted(ball("l1_ball", 2, 1.0), 5.0), PN_EINVAL,
            "no point in common; they are about");
    refused(pn_set_intersect, ball("simplex", 3, 1.0), ball("simplex", 3, 1.1), PN_EINVAL, "no point in common");
    CHECK(pn_set_image(&out, set, (pn_mat){ A, 1, 1 }, &err) == PN_EDIM && strstr(err.message, "1 x 1"));
    CHECK(pn_set_image(&out, set, (pn_mat){ A, 1, 2 }, &err) == PN_EDOMAIN && strstr(err.message, "row 1, column 2"));
    CHECK(pn_set_scale(&out, set, 0.0, &err) == PN_EINVAL && strstr(err.message, "other than 0, got 0"));
    pn_set_free(set);
    set = ball("simplex", 3, 1.0);
    CHECK(pn_set_polar(&out, set, &err) == PN_EUNSUPPORTED && strstr(err.message, "the origin is not in simplex"));
    for (int k = 0; k < 9; k++) { /* doubles each time: 2^9 sets and what joins them */
        twice = NULL;
        if (pn_set_sum(&twice, set, set, &err) != PN_OK)
            break;
        pn_set_free(set);
        set = twice;
    }
    CHECK(pn_set_sum(&twice, set, set, &err) == PN_EINVAL && strstr(err.message, "at most 1000 sets"));
    pn_set_free(set);
}

/* ---- memory ---- */

typedef pn_status (*maker)(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

static pn_status make_image(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    double A[] = { 1.0, 2.0, 3.0, -1.0, 0.0, 1.0 };

    (void)b;
    return pn_set_image(out, a, (pn_mat){ A, 2, 3 }, err);
}

static pn_status make_polar(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_set *sum = NULL;
    pn_status status = pn_set_sum(&sum, a, b, err);

    if (status == PN_OK)
        status = pn_set_polar(out, sum, err);
    pn_set_free(sum);
    return status;
}

static pn_status make_symmetric(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_set *moved = NULL;
    pn_status status = pn_set_shift(&moved, b, (double[]){ 0.2, 0.0, 0.1 }, 3, err);

    (void)a;
    if (status == PN_OK)
        status = pn_set_symmetric_hull(out, moved, err);
    pn_set_free(moved);
    return status;
}

static pn_status use(const pn_set *set, pn_err *err)
{
    double g[MOST] = { 1.0, -2.0, 0.5, 0.1, 0.2, 0.3 }, x[MOST], value;
    pn_rng *rng = NULL;
    bool inside;
    pn_status status = pn_set_support(set, g, set->dim, &value, x, err);

    memcpy(x, g, sizeof x);
    if (status == PN_OK) {
        status = pn_set_project(set, x, set->dim, err);
        CHECK(status == PN_OK || memcmp(x, g, sizeof x) == 0); /* untouched on failure */
    }
    if (status == PN_OK)
        status = pn_set_contains(set, g, set->dim, 1e-9, &inside, err);
    if (status == PN_OK)
        status = pn_set_gauge(set, g, set->dim, &value, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 3, err);
    if (status == PN_OK)
        status = pn_set_sample(set, rng, x, NULL, err);
    pn_rng_free(rng);
    return status;
}

static pn_status make_and_use(void *self, pn_err *err)
{
    const maker *make = self;
    pn_arg args[2][8] = { { { .given = true, .count = 3 }, { .given = true, .real = 1.0 } },
                          { { .given = true, .count = 3 }, { .given = true, .real = 0.5 } } };
    pn_set *a = NULL, *b = NULL, *set = NULL, *moved = NULL;
    pn_status status = pn_set_from_args(&a, "l1_ball", args[0], err);

    if (status == PN_OK)
        status = pn_set_from_args(&b, "l2_ball", args[1], err);
    if (status == PN_OK)
        status = (*make)(&set, a, b, err);
    if (status == PN_OK)
        status = pn_set_scale(&moved, set, -2.0, err);
    if (status == PN_OK)
        status = use(moved, err);
    pn_set_free(a);
    pn_set_free(b);
    pn_set_free(set);
    pn_set_free(moved);
    return status;
}

/* Every one of the first hundred allocations fails, and then ever rarer ones: support points take thousands. */
static void sweep(maker *make)
{
    for (long k = 1;; k = k < 100 ? k + 1 : k + k / 4) {
        fail_alloc count = { .fail_at = k };
        pn_status status = fail_alloc_run(&count, make_and_use, make);
        bool reached = atomic_load(&count.calls) >= k;

        CHECK(atomic_load(&count.live) == 0);
        if (!CHECK(status == (reached ? PN_ENOMEM : PN_OK)) || !reached)
            return;
    }
}

static void test_memory(void)
{
    static const struct {
        const char *name;
        maker make;
    } cases[] = {
        { "sum", pn_set_sum },
        { "product", pn_set_product },
        { "hull", pn_set_hull },
        { "intersect", pn_set_intersect },
        { "image", make_image },
        { "polar", make_polar },
        { "symmetric hull", make_symmetric },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        maker make = cases[i].make;

        sweep(&make);
    }
}

int main(void)
{
    test_known_projections();
    test_project_in_many_dimensions();
    test_contains_in_many_dimensions();
    test_unbounded_parts();
    test_known_gauges();
    test_known_supports();
    test_sizes();
    test_widths();
    test_descriptions();
    test_refusals();
    test_memory();
    test_images();
    test_intersections();
    test_polars();
    test_negative_factors();
    test_sums();
    test_products();
    test_hulls();
    return check_summary();
}
