/* projection_error_test.c -- what sets promise of the rounding of their projections, against projections in long
 * double.  The references find the threshold by sorting, which is not how the sets find it.
 * Depends on: geometry/convex/set.h, check.h. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "random/rng.h"

#define MOST 200

typedef void (*reference_fn)(const long double *x, size_t n, double radius, long double *out);

static int falling(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;

    return (x < y) - (x > y);
}

/* Duchi et al. (2008), figure 1 */
static long double threshold(const long double *x, size_t n, double radius)
{
    long double sorted[MOST], sum = 0.0L, best = 0.0L;

    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, falling);
    for (size_t j = 0; j < n; j++) {
        long double tau;

        sum += sorted[j];
        tau = (sum - (long double)radius) / (long double)(j + 1);
        if (sorted[j] <= tau)
            break;
        best = tau;
    }
    return best;
}

static void onto_simplex(const long double *x, size_t n, double radius, long double *out)
{
    long double below[MOST], top = x[0], tau; /* differences to the largest keep their digits */

    for (size_t j = 1; j < n; j++)
        top = fmaxl(top, x[j]);
    for (size_t j = 0; j < n; j++)
        below[j] = x[j] - top;
    tau = threshold(below, n, radius);
    for (size_t j = 0; j < n; j++)
        out[j] = fmaxl(below[j] - tau, 0.0L);
}

static void onto_unit_simplex(const long double *x, size_t n, double radius, long double *out)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < n; j++) {
        out[j] = fmaxl(x[j], 0.0L);
        sum += out[j];
    }
    if (sum > (long double)radius)
        onto_simplex(x, n, radius, out);
}

static void onto_l1_ball(const long double *x, size_t n, double radius, long double *out)
{
    long double sizes[MOST] = { 0.0L };

    for (size_t j = 0; j < n; j++)
        sizes[j] = fabsl(x[j]);
    onto_unit_simplex(sizes, n, radius, out);
    for (size_t j = 0; j < n; j++)
        out[j] = copysignl(out[j], x[j]);
}

static void onto_l2_ball(const long double *x, size_t n, double radius, long double *out)
{
    long double square = 0.0L, factor;

    for (size_t j = 0; j < n; j++)
        square += x[j] * x[j];
    factor = fminl(1.0L, (long double)radius / sqrtl(square));
    for (size_t j = 0; j < n; j++)
        out[j] = factor * x[j];
}

static void onto_linf_ball(const long double *x, size_t n, double radius, long double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = fmaxl(-(long double)radius, fminl((long double)radius, x[j]));
}

static const struct {
    const char *name;
    reference_fn reference;
    double loose; /* no more than this many times what was seen over all trials */
} rows[] = {
    { "simplex", onto_simplex, 100.0 },   { "unit_simplex", onto_unit_simplex, 100.0 },
    { "l1_ball", onto_l1_ball, 100.0 },   { "l2_ball", onto_l2_ball, 10.0 },
    { "linf_ball", onto_linf_ball, 0.0 },
};

static pn_set *new_set(const char *name, size_t n, double radius)
{
    pn_arg args[4] = { { .given = true, .count = n }, { .given = true, .real = radius }, { 0 } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

/* Points of all sizes; some with many entries within rounding of each other, where thresholds are hardest;
 * some on the border. */
static void draw(pn_rng *rng, int trial, size_t n, double radius, double *x)
{
    double size = radius * ldexp(1.0, trial % 23 - 4);

    pn_rng_normals(rng, n, x);
    for (size_t j = 0; j < n; j++) {
        if (trial % 3 == 1)
            x[j] = j == 0 ? size + radius : size * (1.0 + 0x1p-51 * (double)(j % 5));
        else
            x[j] *= size;
    }
    if (trial % 3 == 2) {
        double sum = pn_lp_norm(trial % 2 ? PN_L1 : PN_L2, n, x);

        for (size_t j = 0; j < n; j++)
            x[j] *= radius / sum;
    }
}

static double distance(const double *x, const long double *y, size_t n)
{
    long double square = 0.0L;

    for (size_t j = 0; j < n; j++)
        square += ((long double)x[j] - y[j]) * ((long double)x[j] - y[j]);
    return (double)sqrtl(square);
}

/* The largest share of the promised error that was seen; `set` is factor * row + shift. */
static double seen(const pn_set *set, reference_fn reference, double radius, double factor, double shift, pn_rng *rng)
{
    double x[MOST], share = 0.0;
    long double back[MOST], want[MOST];
    size_t n = set->dim;

    for (int trial = 0; trial < 600; trial++) {
        double promised, off;

        draw(rng, trial, n, radius, x);
        for (size_t j = 0; j < n; j++) {
            x[j] = factor * x[j] + shift;
            back[j] = ((long double)x[j] - (long double)shift) / (long double)factor;
        }
        promised = pn_set_projection_error(set, pn_lp_norm(PN_L2, n, x));
        reference(back, n, radius, want);
        for (size_t j = 0; j < n; j++)
            want[j] = (long double)factor * want[j] + (long double)shift;
        CHECK(pn_set_project(set, x, n, NULL) == PN_OK);
        off = distance(x, want, n);
        CHECK(off <= promised);
        if (off > 0.0)
            share = fmax(share, off / promised);
    }
    return share;
}

static void test_rows(pn_rng *rng)
{
    static const size_t sizes[] = { 1, 2, 3, 20, MOST };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double share = 0.0;

        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            pn_set *set = new_set(rows[i].name, sizes[k], 0.7);

            share = fmax(share, seen(set, rows[i].reference, 0.7, 1.0, 0.0, rng));
            pn_set_free(set);
        }
        CHECK(rows[i].loose == 0.0 ? share == 0.0 : share * rows[i].loose >= 1.0);
    }
}

static void test_scaled_and_shifted(pn_rng *rng)
{
    double shift[20];

    for (size_t j = 0; j < 20; j++)
        shift[j] = 1000.0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pn_set *body = new_set(rows[i].name, 20, 0.7), *scaled = NULL, *moved = NULL;

        CHECK(pn_set_scale(&scaled, body, 0.25, NULL) == PN_OK &&
              pn_set_shift(&moved, scaled, shift, 20, NULL) == PN_OK);
        CHECK(seen(moved, rows[i].reference, 0.7, 0.25, 1000.0, rng) > 1e-3);
        pn_set_free(moved);
        pn_set_free(scaled);
        pn_set_free(body);
    }
}

/* The formulas, at numbers by hand. */
static void test_values(void)
{
    pn_set *l2 = new_set("l2_ball", 8, 3.0), *l1 = new_set("l1_ball", 10, 2.0), *simplex = new_set("simplex", 4, 1.0);
    pn_set *box = new_set("linf_ball", 4, 1.0), *both = NULL, *far = NULL;
    double shift[4] = { 3e6, 0.0, 4e6, 0.0 };

    CHECK(pn_set_projection_error(l2, 1e9) == 16.0 * 0x1p-53 * 3.0);
    CHECK(pn_set_projection_error(l1, 0.0) == 640.0 * 0x1p-53 * 2.0);
    CHECK(pn_set_projection_error(simplex, 1.0) == 160.0 * 0x1p-53);
    CHECK(pn_set_projection_error(box, 1e9) == 0.0);
    CHECK(pn_set_product(&both, l2, l1, NULL) == PN_OK);
    CHECK_CLOSE(pn_set_projection_error(both, 1.0) / 0x1p-53, 48.0 + 1280.0, 1e-6);
    CHECK(pn_set_shift(&far, box, shift, 4, NULL) == PN_OK);
    CHECK_CLOSE(pn_set_projection_error(far, 2e6) / 0x1p-53, 4.0 * (7e6 + 2.0 + 5e6), 1.0);
    pn_set_free(far);
    pn_set_free(both);
    pn_set_free(box);
    pn_set_free(simplex);
    pn_set_free(l1);
    pn_set_free(l2);
}

/* A projection by iteration promises nothing, and neither does what is made of it. */
static void test_unknown(void)
{
    pn_arg parts[8] = { { .given = true, .count = 4 }, { .given = true, .real = 3.0 }, { .given = true, .real = 1.0 } };
    pn_set *lp = NULL, *l2 = new_set("l2_ball", 4, 1.0), *both = NULL, *twice = NULL;

    CHECK(pn_set_from_args(&lp, "lp_ball", parts, NULL) == PN_OK);
    CHECK(pn_set_product(&both, l2, lp, NULL) == PN_OK && pn_set_scale(&twice, both, 2.0, NULL) == PN_OK);
    CHECK(isinf(pn_set_projection_error(lp, 1.0)) && isinf(pn_set_projection_error(both, 1.0)));
    CHECK(isinf(pn_set_projection_error(twice, 1.0)));
    pn_set_free(twice);
    pn_set_free(both);
    pn_set_free(lp);
    pn_set_free(l2);
}

int main(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    test_rows(rng);
    test_scaled_and_shifted(rng);
    test_values();
    test_unknown();
    pn_rng_free(rng);
    return check_summary();
}
