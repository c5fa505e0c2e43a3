/* nearest_in_hull_test.c -- the point of least norm of a hull: closed forms, every face of small hulls, certificates of
 * large ones, degenerate points, any scale, threads, cancel, memory.
 * Depends on: objective/measures/stationarity.h, check.h, fail_alloc.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "objective/measures/stationarity.h"

enum { MOST = 7, MOST_DIM = 5 };

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* ---- closed forms ---- */

static void expect(const double *points, size_t m, size_t dim, double want)
{
    double nearest[64], norm = -1.0, gap = -1.0;
    pn_err err;

    CHECK(pn_nearest_in_hull(points, m, dim, 1e-12, nearest, &norm, &gap, NULL, &err) == PN_OK);
    CHECK_CLOSE(norm, want, 1e-12 * (1.0 + want));
    CHECK(gap >= 0.0 && gap <= norm && gap <= 1e-11);
}

static void closed_forms(void)
{
    const double one[] = { 3.0, -4.0 }, origin[] = { 0.0, 0.0, 0.0 };
    const double segment[] = { 1.0, 2.0, 1.0, -1.0 };                            /* (1, 0) lies on it */
    const double ray[] = { 2.0, 4.0, 1.0, 2.0, 5.0, 10.0, 1.0, 2.0 };            /* on a line through the origin */
    const double through[] = { 2.0, 4.0, -1.0, -2.0, 5.0, 10.0 };                /* the origin between them */
    const double aside[] = { 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.5, 1.0 }; /* on a line past it */
    const double same[] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
    const double signs[] = { 1.0, 2.0, -1.0, 2.0, 1.0, -2.0, -1.0, -2.0 }; /* gradients of |x1| + 2 |x2| about 0 */
    const double kink[] = { 1.0, 2.0, -1.0, 2.0 };
    double basis[30 * 30] = { 0 };

    expect(one, 1, 2, 5.0);
    expect(origin, 1, 3, 0.0);
    expect(segment, 2, 2, 1.0);
    expect(ray, 4, 2, sqrt(5.0));
    expect(through, 3, 2, 0.0);
    expect(aside, 5, 2, 1.0);
    expect(same, 2, 3, sqrt(3.0));
    expect(signs, 4, 2, 0.0);
    expect(kink, 2, 2, 2.0);
    expect(same, 6, 1, 1.0);
    for (size_t j = 0; j < 30; j++)
        basis[j * 31] = 2.0;
    expect(basis, 30, 30, 2.0 / sqrt(30.0)); /* the middle of a simplex */
}

/* ---- every face of small hulls ---- */

/* Weights of the point of least norm in the affine hull of the points of `mask`, by Gauss on the optimality conditions;
 * false when those points are dependent. */
static bool affine_weights(const double *points, size_t dim, const size_t *chosen, size_t k, long double *weight)
{
    long double a[MOST + 1][MOST + 2] = { { 0 } };

    for (size_t r = 0; r < k; r++) {
        for (size_t c = 0; c < k; c++) {
            for (size_t j = 0; j < dim; j++)
                a[r][c] += (long double)points[chosen[r] * dim + j] * (long double)points[chosen[c] * dim + j];
        }
        a[r][k] = a[k][r] = 1.0L;
    }
    a[k][k + 1] = 1.0L;
    for (size_t c = 0; c <= k; c++) {
        size_t pivot = c;

        for (size_t r = c; r <= k; r++)
            pivot = fabsl(a[r][c]) > fabsl(a[pivot][c]) ? r : pivot;
        if (fabsl(a[pivot][c]) < 1e-12L)
            return false;
        for (size_t j = 0; j < k + 2; j++) {
            long double held = a[c][j];

            a[c][j] = a[pivot][j];
            a[pivot][j] = held;
        }
        for (size_t r = 0; r <= k; r++) {
            long double factor = r == c ? 0.0L : a[r][c] / a[c][c];

            for (size_t j = c; j < k + 2; j++)
                a[r][j] -= factor * a[c][j];
        }
    }
    for (size_t r = 0; r < k; r++)
        weight[r] = a[r][k + 1] / a[r][r];
    return true;
}

/* The least norm is attained in the relative interior of some simplex of independent points. */
static double least_by_faces(const double *points, size_t m, size_t dim)
{
    long double best = INFINITY;

    for (unsigned mask = 1; mask < 1u << m; mask++) {
        long double weight[MOST], square = 0.0L;
        size_t chosen[MOST], k = 0;
        bool inside = true;

        for (size_t i = 0; i < m; i++) {
            if (mask & 1u << i)
                chosen[k++] = i;
        }
        if (!affine_weights(points, dim, chosen, k, weight))
            continue;
        for (size_t i = 0; i < k; i++)
            inside = inside && weight[i] >= -1e-15L;
        for (size_t j = 0; j < dim && inside; j++) {
            long double entry = 0.0L;

            for (size_t i = 0; i < k; i++)
                entry += weight[i] * (long double)points[chosen[i] * dim + j];
            square += entry * entry;
        }
        if (inside && square < best)
            best = square;
    }
    return (double)sqrtl(best);
}

/* Odd rounds on a small grid, so that points repeat, align and hold the origin. */
static void small_hulls(void)
{
    unsigned state = 5, zeros = 0;

    for (int round = 0; round < 4000; round++) {
        size_t m = 1 + (size_t)(unit(&state) * MOST), dim = 1 + (size_t)(unit(&state) * MOST_DIM);
        double points[MOST * MOST_DIM], nearest[MOST_DIM], norm = -1.0, gap = -1.0, want;
        bool grid = round % 2;
        pn_err err;

        for (size_t i = 0; i < m * dim; i++)
            points[i] = grid ? floor(5.0 * unit(&state)) - 1.0 : 2.0 * unit(&state) - 0.7;
        want = least_by_faces(points, m, dim);
        zeros += want < 1e-9;
        CHECK(pn_nearest_in_hull(points, m, dim, 1e-12, nearest, &norm, &gap, NULL, &err) == PN_OK);
        if (!CHECK(fabs(norm - want) <= 1e-9 && gap <= 1e-10))
            (void)fprintf(stderr, "    round %d: %zu points of %zu: %.17g, want %.17g\n", round, m, dim, norm, want);
    }
    CHECK(zeros > 100 && zeros < 3000);
}

/* ---- large hulls ---- */

static double *cloud(size_t m, size_t dim, double shift)
{
    double *points = malloc(m * dim * sizeof *points);
    unsigned state = 9;

    for (size_t i = 0; i < m * dim; i++)
        points[i] = 2.0 * unit(&state) - 1.0 + shift;
    return points;
}

/* Nothing is believed: y must be as long as said, and no point may lie below norm (norm - gap) in its direction; that y
 * is in the hull is what the small hulls show, and here the support of the hull in eight directions. */
static void check_certificate(const double *points, size_t m, size_t dim, double tol)
{
    double *y = malloc(dim * sizeof *y), norm = -1.0, gap = -1.0, length = 0.0, least = INFINITY, largest = 0.0;
    pn_err err;

    CHECK(pn_nearest_in_hull(points, m, dim, tol, y, &norm, &gap, NULL, &err) == PN_OK);
    for (size_t j = 0; j < dim; j++)
        length += y[j] * y[j];
    CHECK_CLOSE(sqrt(length), norm, 1e-12);
    for (size_t i = 0; i < m; i++) {
        double product = 0.0, square = 0.0;

        for (size_t j = 0; j < dim; j++) {
            product += y[j] * points[i * dim + j];
            square += points[i * dim + j] * points[i * dim + j];
        }
        least = fmin(least, product);
        largest = fmax(largest, sqrt(square));
    }
    CHECK(gap <= tol * largest);
    CHECK(least >= norm * (norm - gap) - 1e-12 && norm > 0.0);
    for (int k = 0; k < 8; k++) {
        double of_y = 0.0, most = -INFINITY;

        for (size_t i = 0; i < m; i++) {
            double product = 0.0;

            for (size_t j = 0; j < dim; j++)
                product += cos((double)(k + 1) * (double)(j + 1)) * points[i * dim + j];
            most = fmax(most, product);
        }
        for (size_t j = 0; j < dim; j++)
            of_y += cos((double)(k + 1) * (double)(j + 1)) * y[j];
        CHECK(of_y <= most + 1e-12);
    }
    free(y);
}

static void large_hulls(void)
{
    double *points = cloud(2000, 40, 0.6), norm, gap, loose, loose_gap;
    pn_err err;

    check_certificate(points, 2000, 40, 1e-10);
    check_certificate(points, 2000, 40, 1e-2);
    CHECK(pn_nearest_in_hull(points, 2000, 40, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_OK);
    CHECK(pn_nearest_in_hull(points, 2000, 40, 0.5, NULL, &loose, &loose_gap, NULL, &err) == PN_OK);
    CHECK(loose > norm && loose - loose_gap <= norm); /* an early stop, and it says so */
    free(points);
    points = cloud(1500, 30, 0.0); /* the origin inside */
    CHECK(pn_nearest_in_hull(points, 1500, 30, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_OK);
    CHECK(norm <= 1e-9 && gap <= norm);
    free(points);
}

/* ---- any scale ---- */

static void scales(void)
{
    const double factors[] = { 1e-300, 1e-150, 1e-5, 1e5, 1e150, 1e300 };
    double *points = cloud(50, 6, 0.5), scaled[300], norm, gap, other, y[6], z[6];
    pn_err err;

    CHECK(pn_nearest_in_hull(points, 50, 6, 1e-12, y, &norm, &gap, NULL, &err) == PN_OK && norm > 0.1);
    for (size_t k = 0; k < 6; k++) {
        for (size_t i = 0; i < 300; i++)
            scaled[i] = factors[k] * points[i];
        CHECK(pn_nearest_in_hull(scaled, 50, 6, 1e-12, z, &other, &gap, NULL, &err) == PN_OK);
        CHECK_CLOSE(other / factors[k], norm, 1e-11);
        CHECK_CLOSE(z[3] / factors[k], y[3], 1e-6);
    }
    for (size_t i = 0; i < 300; i++)
        scaled[i] = ldexp(points[i], 700);
    CHECK(pn_nearest_in_hull(scaled, 50, 6, 1e-12, z, &other, &gap, NULL, &err) == PN_OK);
    CHECK(other == ldexp(norm, 700) && z[0] == ldexp(y[0], 700)); /* the same steps, bit for bit */
    for (size_t i = 0; i < 300; i++)
        scaled[i] = 1.7e308 * points[i];
    (void)pn_nearest_in_hull(scaled, 50, 6, 1e-12, z, &other, &gap, NULL, &err); /* an answer or a refusal, no crash */
    free(points);
}

/* ---- the task ---- */

static void threads_and_cancel(void)
{
    double *points = cloud(9000, 60, 0.5), norm[3], y[3][60], gap; /* three blocks */
    pn_task *task = NULL;
    pn_err err;

    for (unsigned threads = 1; threads <= 3; threads++) {
        CHECK(pn_task_new(&task, threads, &err) == PN_OK);
        CHECK(pn_nearest_in_hull(points, 9000, 60, 1e-10, y[threads - 1], &norm[threads - 1], &gap, task, &err) ==
              PN_OK);
        pn_task_free(task);
    }
    CHECK(memcmp(y[0], y[1], sizeof y[0]) == 0 && memcmp(y[0], y[2], sizeof y[0]) == 0 && norm[0] == norm[2]);
    CHECK(pn_task_new(&task, 2, &err) == PN_OK);
    pn_task_cancel(task);
    norm[0] = 7.0;
    CHECK(pn_nearest_in_hull(points, 9000, 60, 1e-10, NULL, &norm[0], &gap, task, &err) == PN_ECANCELLED);
    CHECK(norm[0] == 7.0);
    pn_task_free(task);
    free(points);
}

static pn_status one_hull(void *self, pn_err *err)
{
    double norm, gap;

    return pn_nearest_in_hull(self, 200, 20, 1e-10, NULL, &norm, &gap, NULL, err);
}

/* ---- bad input ---- */

static void bad_input(void)
{
    double points[6] = { 1, 2, 3, 4, NAN, 6 }, norm = 7.0, gap = 7.0;
    const double tols[] = { 0.0, -1.0, 1.0, 1e-16, NAN };
    pn_err err;

    CHECK(pn_nearest_in_hull(points, 2, 3, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 2 of point 2") != NULL);
    points[4] = INFINITY;
    CHECK(pn_nearest_in_hull(points, 3, 2, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 1 of point 3") != NULL);
    points[4] = points[5] = 1.7e308;
    CHECK(pn_nearest_in_hull(points, 3, 2, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "point 3 is out of the range") != NULL);
    CHECK(pn_nearest_in_hull(points, 0, 2, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_EINVAL);
    CHECK(pn_nearest_in_hull(points, 2, 0, 1e-10, NULL, &norm, &gap, NULL, &err) == PN_EINVAL);
    for (size_t k = 0; k < 5; k++)
        CHECK(pn_nearest_in_hull(points, 2, 2, tols[k], NULL, &norm, &gap, NULL, &err) == PN_EINVAL);
    CHECK(norm == 7.0 && gap == 7.0);
}

int main(void)
{
    double *points = cloud(200, 20, 0.4);

    closed_forms();
    small_hulls();
    large_hulls();
    scales();
    threads_and_cancel();
    bad_input();
    CHECK(fail_alloc_sweep("hull", one_hull, points) > 5);
    free(points);
    return check_summary();
}
