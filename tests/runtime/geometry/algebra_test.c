/* algebra_test.c -- sets made of sets: the properties that every one must have, on random compositions and directions, and
 * answers known in closed form.  Depends on: geometry/set_algebra.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/set_algebra.h"
#include "numeric/blas.h"

#define MOST       12
#define DIRECTIONS 25

/* ---- sets to start from ---- */

static pn_set *ball(const char *name, size_t dim, double radius)
{
    pn_arg args[8] = { { .given = true, .count = dim }, { .given = true, .real = radius } };
    pn_set *set = NULL;
    pn_err err;

    CHECK(pn_set_new(&set, name, args, &err) == PN_OK);
    return set;
}

static pn_set *polytope(const double *rows, size_t count, size_t dim)
{
    double data[MOST * MOST];
    pn_arg args[1] = { { .given = true, .matrix = { data, count, dim } } };
    pn_set *set = NULL;
    pn_err err;

    memcpy(data, rows, count * dim * sizeof *data);
    CHECK(pn_set_new(&set, "polytope", args, &err) == PN_OK);
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
    CHECK(pn_set_new(&set, "box", args, &err) == PN_OK);
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
            CHECK(pn_norm((pn_lp)norm, n, x) <= set->ops->radius(set, (pn_lp)norm) + 1e-15);
            CHECK(pn_norm((pn_lp)norm, n, g) <= set->ops->diameter(set, (pn_lp)norm) + 1e-15);
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
        CHECK(fabs(scores[i]) <= pn_lp_norm(PN_L2, n, g) * set->ops->atom_radius(set, PN_L2) + 1e-15);
    }
    CHECK(pn_set_support(set, g, n, &h, NULL, NULL) == PN_OK);
    CHECK_CLOSE(h, best, slack);
}

static void conform(pn_set *set, double slack)
{
    pn_rng *rng = NULL;
    long before = check_failed;
    char text[200];

    CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    check_support(set, rng, slack);
    check_project(set, rng, 4.0, slack);
    check_project(set, rng, 0.3, slack);
    check_gauge(set, rng, slack);
    check_sizes(set, rng, slack);
    check_atoms(set, rng, slack);
    if (check_failed > before) {
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
    conform(polar_of(box(around, up, 4)), 1e-8);
    conform(polar_of(polytope(triangle, 3, 2)), 1e-8);
    conform(polar_of(joined(pn_set_sum, ball("l1_ball", 3, 1.0), ball("l2_ball", 3, 0.5))), 1e-7);
}

int main(void)
{
    test_images();
    test_intersections();
    test_polars();
    test_negative_factors();
    test_sums();
    test_products();
    test_hulls();
    return check_summary();
}
