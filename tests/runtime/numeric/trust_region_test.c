/* trust_region_test.c -- quadratics over a ball: numbers of the specification, the conditions of optimality on problems
 * of any inertia, nearly hard cases, extreme scales, refusals.
 * Depends on: check.h, fail_alloc.h, numeric/trust_region.h, numeric/symmetric.h, numeric/lapack.h, numeric/blas.h. */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "numeric/trust_region.h"

#define MOST 40

static double a[MOST * (MOST + 1) / 2], g[MOST], h[MOST], product[MOST], full[MOST * MOST], values[MOST];

static double uniform(void)
{
    static uint64_t state = 11;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1.0;
}

static size_t below(size_t n)
{
    return (size_t)(0.5 * (uniform() + 1.0) * (double)n) % n;
}

static double model(size_t n)
{
    pn_packed_times(0.5, a, n, h, 0.0, product);
    return pn_dot(n, g, h) + pn_dot(n, h, product);
}

/* second-order.md section 11, item 6: digits as printed there. */
static void test_numbers_of_the_specification(void)
{
    static const struct {
        double first, second, g[2], radius, h[2], multiplier;
        bool hard;
    } cases[] = {
        { 1, 2, { 3, 4 }, 0.5, { -.3192945, -.3847740 }, 8.3957138, false },
        { -1, 2, { .3, .4 }, 0.5, { -.4876046, -.1106423 }, 1.6152526, false },
        { -1, 2, { 0, .4 }, 0.5, { .4818944, -.1333333 }, 1.0, true },
        { 2, 4, { 1, 1 }, 1.0, { -.5, -.25 }, 0.0, false },
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const double packed[3] = { cases[k].first, 0.0, cases[k].second };
        pn_trust_step step;

        CHECK(pn_trust_region(&step, h, 2, packed, cases[k].g, cases[k].radius, NULL) == PN_OK);
        CHECK_CLOSE(h[0], cases[k].h[0], 5.1e-8);
        CHECK_CLOSE(h[1], cases[k].h[1], 5.1e-8);
        CHECK_CLOSE(step.multiplier, cases[k].multiplier, 5.1e-8);
        CHECK_CLOSE(step.least, cases[k].first, 1e-14);
        CHECK(step.hard == cases[k].hard);
        if (k == 2)
            CHECK_CLOSE(step.decrease, .1516667, 5.1e-8);
    }
}

/* lambda >= 0, A + lambda I >= 0, (A + lambda I) h = -g, ||h|| <= radius,
 * lambda (radius - ||h||) = 0: enough for a global minimum. */
static pn_trust_step check_optimal(size_t n, double radius, double tolerance)
{
    pn_trust_step step = { .multiplier = NAN };
    double size, scale, norm, slack;

    pn_packed_unpack(a, n, full);
    CHECK(pn_eigen_symmetric(values, full, (pn_mat){ full, n, n }, NULL) == PN_OK);
    CHECK(pn_trust_region(&step, h, n, a, g, radius, NULL) == PN_OK);
    norm = fmax(fabs(values[0]), fabs(values[n - 1]));
    scale = fmax(pn_lp_norm(PN_L2, n, g), radius * norm);
    size = pn_lp_norm(PN_L2, n, h);
    CHECK_CLOSE(step.least, values[0], 1e-13 * norm);
    CHECK(step.multiplier >= 0.0 && step.multiplier + values[0] >= -tolerance * norm);
    CHECK(size <= radius * (1.0 + 1e-14));
    slack = step.multiplier * (radius - size);
    if (!CHECK(fabs(slack) <= tolerance * scale))
        (void)fprintf(stderr, "    n = %zu, radius %g: multiplier %g, length %g\n", n, radius, step.multiplier, size);
    pn_packed_times(1.0, a, n, h, 0.0, product);
    for (size_t i = 0; i < n; i++)
        product[i] += step.multiplier * h[i] + g[i];
    if (!CHECK(pn_lp_norm(PN_L2, n, product) <= tolerance * scale))
        (void)fprintf(stderr, "    n = %zu, radius %g: %g of %g\n", n, radius, pn_lp_norm(PN_L2, n, product), scale);
    CHECK(step.decrease >= 0.0);
    CHECK_CLOSE(-model(n), step.decrease, tolerance * scale * radius);
    return step;
}

/* A = Q diag(d) Q^T, Q by two reflections, and g = Q b. */
static void rotate_problem(size_t n, const double *d, const double *b)
{
    double v[2][MOST];

    memset(full, 0, sizeof full);
    for (size_t i = 0; i < n; i++)
        full[i * n + i] = d[i];
    memcpy(g, b, n * sizeof *g);
    for (int r = 0; r < 2; r++) {
        double size;

        for (size_t i = 0; i < n; i++)
            v[r][i] = uniform();
        size = pn_lp_norm(PN_L2, n, v[r]);
        for (size_t i = 0; i < n; i++)
            v[r][i] /= size;
        pn_axpy(n, -2.0 * pn_dot(n, v[r], g), v[r], g);
        for (size_t i = 0; i < n; i++) /* rows, then columns */
            pn_axpy(n, -2.0 * pn_dot(n, v[r], full + i * n), v[r], full + i * n);
        for (size_t j = 0; j < n; j++) {
            double along = 0.0;

            for (size_t i = 0; i < n; i++)
                along += v[r][i] * full[i * n + j];
            for (size_t i = 0; i < n; i++)
                full[i * n + j] -= 2.0 * along * v[r][i];
        }
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i <= j; i++)
            a[j * (j + 1) / 2 + i] = 0.5 * (full[i * n + j] + full[j * n + i]);
    }
}

static void test_any_inertia(void)
{
    double d[MOST], b[MOST];

    for (int round = 0; round < 300; round++) {
        size_t n = 1 + below(MOST);
        double middle = (double)(round % 3) - 1.0, radius = exp(4.0 * uniform());

        for (size_t i = 0; i < n; i++) {
            d[i] = middle + uniform();
            b[i] = uniform();
        }
        if (round % 5 == 0 && n > 2) /* a cluster */
            d[1] = d[2] = d[0];
        if (round % 7 == 0)
            memset(b, 0, sizeof b);
        rotate_problem(n, d, b);
        (void)check_optimal(n, radius, 1e-9);
    }
}

/* g's part along the least eigenvector falls from plain to nothing; so do those along a cluster of three. */
static void test_nearly_hard(void)
{
    static const double parts[] = { 1e-2, 1e-6, 1e-10, 1e-13, 1e-15, 1e-16, 1e-18, 1e-200, 0.0 };
    double d[12], b[12];

    for (size_t cluster = 1; cluster <= 3; cluster++) {
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            for (size_t i = 0; i < 12; i++) {
                d[i] = i < cluster ? -1.0 : 0.5 * (double)i;
                b[i] = i < cluster ? parts[k] : 0.1;
            }
            rotate_problem(12, d, b);
            for (double radius = 0.01; radius < 200.0; radius *= 10.0) {
                pn_trust_step step = check_optimal(12, radius, 1e-12);

                CHECK_CLOSE(pn_lp_norm(PN_L2, 12, h), radius, 1e-13 * radius);
                CHECK(!step.hard || parts[k] <= 1e-13);
                CHECK(step.hard || parts[k] > 1e-16 || radius < 0.2);
            }
        }
    }
}

/* A >= 0 of low rank, whose zero eigenvalues come out as rounding of either sign,
 * and g in its range: the shortest minimum, not the boundary. */
static void test_singular(void)
{
    double d[20] = { 1.0, 2.0, 3.0 }, b[20] = { 0.3, -0.4, 0.6 };

    for (int round = 0; round < 20; round++) {
        pn_trust_step step;

        rotate_problem(20, d, b);
        step = check_optimal(20, 10.0, 1e-12);
        CHECK(step.multiplier == 0.0 && !step.hard);
        CHECK_CLOSE(pn_lp_norm(PN_L2, 20, h), sqrt(0.09 + 0.04 + 0.04), 1e-12);
    }
}

static void test_sign_of_the_hard_case(void)
{
    double d[5] = { -1.0, 0.5, 1.0, 1.0, 2.0 }, b[5] = { 0 };

    for (int round = 0; round < 20; round++) {
        size_t top = 0;

        rotate_problem(5, d, b);
        CHECK(check_optimal(5, 1.0, 1e-12).hard);
        for (size_t i = 1; i < 5; i++)
            top = fabs(h[i]) > fabs(h[top]) ? i : top;
        CHECK(h[top] > 0.0);
    }
}

/* The same problem in other units: h in units of the radius, g and A such that the model scales. */
static void test_scales(void)
{
    static const double radii[] = { 1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300 };
    const double plain[6] = { -1.0, 0.3, 2.0, -0.2, 0.1, 0.5 }, slope[3] = { 0.3, -0.4, 0.1 };
    double base[3];
    pn_trust_step one;

    CHECK(pn_trust_region(&one, base, 3, plain, slope, 0.7, NULL) == PN_OK);
    for (size_t k = 0; k < sizeof radii / sizeof radii[0]; k++) {
        double unit = radii[k], packed[6], scaled[3];
        pn_trust_step step;

        for (size_t i = 0; i < 6; i++)
            packed[i] = plain[i] / unit; /* g 1, A 1/unit, h unit */
        CHECK(pn_trust_region(&step, h, 3, packed, slope, 0.7 * unit, NULL) == PN_OK);
        CHECK_CLOSE(step.multiplier * unit, one.multiplier, 1e-12);
        CHECK_CLOSE(step.decrease / unit, one.decrease, 1e-12);
        for (size_t i = 0; i < 3; i++)
            CHECK_CLOSE(h[i] / unit, base[i], 1e-12);
        for (size_t i = 0; i < 3; i++)
            scaled[i] = slope[i] * unit; /* g and A by unit */
        for (size_t i = 0; i < 6; i++)
            packed[i] = plain[i] * unit;
        CHECK(pn_trust_region(&step, h, 3, packed, scaled, 0.7, NULL) == PN_OK);
        for (size_t i = 0; i < 3; i++)
            CHECK_CLOSE(h[i], base[i], 1e-12);
        CHECK_CLOSE(step.multiplier / unit, one.multiplier, 1e-12);
    }
}

static void test_far_apart(void)
{
    double packed[3] = { 1e-200, 0.0, 2e-200 }, slope[2] = { 3e200, 4e200 };
    pn_trust_step step;

    CHECK(pn_trust_region(&step, h, 2, packed, slope, 1e-9, NULL) == PN_OK); /* all slope */
    CHECK_CLOSE(h[0], -0.6e-9, 1e-21);
    CHECK_CLOSE(h[1], -0.8e-9, 1e-21);
    CHECK_CLOSE(step.multiplier, 5e209, 1e197);
    packed[0] = 1e200;
    packed[2] = 2e200;
    slope[0] = 3e-100;
    slope[1] = 4e-100;
    CHECK(pn_trust_region(&step, h, 2, packed, slope, 1.0, NULL) == PN_OK); /* a tiny step inside */
    CHECK_CLOSE(h[0], -3e-300, 1e-312);
    CHECK_CLOSE(h[1], -2e-300, 1e-312);
    CHECK(step.multiplier == 0.0);
    packed[0] = packed[2] = DBL_MAX;
    packed[1] = -DBL_MAX;
    slope[0] = slope[1] = DBL_MAX;
    CHECK(pn_trust_region(&step, h, 2, packed, slope, 1.0, NULL) == PN_OK); /* A is singular along g */
    CHECK_CLOSE(h[0], -sqrt(0.5), 1e-14);
    CHECK_CLOSE(h[1], -sqrt(0.5), 1e-14);
}

static void test_degenerate(void)
{
    const double zero[3] = { 0 }, slope[2] = { 3.0, -4.0 }, minus = -2.0, flat = 0.0, plus = 4.0, one = 1.0,
                 nothing = 0.0;
    const double singular[3] = { 1.0, -1.0, 1.0 }, along[2] = { 0.1, -0.1 };
    pn_trust_step step;

    CHECK(pn_trust_region(&step, h, 2, zero, slope, 10.0, NULL) == PN_OK);
    CHECK(fabs(h[0] + 6.0) < 1e-14 && fabs(h[1] - 8.0) < 1e-14 && !step.hard);
    CHECK_CLOSE(step.multiplier, 0.5, 1e-15);
    CHECK_CLOSE(step.decrease, 50.0, 1e-13);
    CHECK(pn_trust_region(&step, h, 2, zero, zero, 10.0, NULL) == PN_OK);
    CHECK(h[0] == 0.0 && h[1] == 0.0 && step.multiplier == 0.0 && step.decrease == 0.0 && !step.hard);
    CHECK(pn_trust_region(&step, h, 1, &minus, &nothing, 3.0, NULL) == PN_OK);
    CHECK(h[0] == 3.0 && step.hard && step.multiplier == 2.0 && step.decrease == 9.0 && step.least == -2.0);
    CHECK(pn_trust_region(&step, h, 1, &minus, &one, 3.0, NULL) == PN_OK);
    CHECK_CLOSE(h[0], -3.0, 1e-15);
    CHECK_CLOSE(step.multiplier, 7.0 / 3.0, 1e-14);
    CHECK(pn_trust_region(&step, h, 1, &flat, &one, 3.0, NULL) == PN_OK);
    CHECK_CLOSE(h[0], -3.0, 1e-15);
    CHECK(pn_trust_region(&step, h, 1, &plus, &one, 3.0, NULL) == PN_OK);
    CHECK(h[0] == -0.25 && step.multiplier == 0.0 && step.decrease == 0.125);
    CHECK(pn_trust_region(&step, h, 2, singular, along, 10.0, NULL) ==
          PN_OK); /* the shortest of the minima, not the boundary */
    CHECK_CLOSE(h[0], -0.05, 1e-15);
    CHECK_CLOSE(h[1], 0.05, 1e-15);
    CHECK(step.multiplier == 0.0 && !step.hard);
}

static void test_refusals(void)
{
    static const double bads[] = { 0.0, -1.0, NAN, INFINITY };
    double packed[6] = { 1, 2, 3, 4, 5, 6 }, slope[3] = { 1, 2, 3 };
    pn_trust_step step;
    pn_err err;

    for (size_t k = 0; k < 4; k++) {
        CHECK(pn_trust_region(&step, h, 3, packed, slope, bads[k], &err) == PN_EINVAL);
        CHECK(strstr(err.message, "radius must be a positive number") != NULL);
    }
    CHECK(pn_trust_region(&step, h, 0, packed, slope, 1.0, &err) == PN_EDIM);
    CHECK(pn_trust_region(&step, h, SIZE_MAX / 2, packed, slope, 1.0, &err) == PN_EDIM);
    slope[2] = NAN;
    CHECK(pn_trust_region(&step, h, 3, packed, slope, 1.0, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 3 of the gradient") != NULL);
    packed[4] = INFINITY;
    CHECK(pn_trust_region(&step, h, 3, packed, slope, 1.0, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "(2, 3)") != NULL);
}

static pn_status without_memory(void *self, pn_err *err)
{
    pn_trust_step step;

    (void)self;
    return pn_trust_region(&step, h, 12, a, g, 1.0, err);
}

int main(void)
{
    test_numbers_of_the_specification();
    test_any_inertia();
    test_nearly_hard();
    test_singular();
    test_sign_of_the_hard_case();
    test_scales();
    test_far_apart();
    test_degenerate();
    test_refusals();
    CHECK(fail_alloc_sweep("trust region", without_memory, NULL) > 0);
    return check_summary();
}
