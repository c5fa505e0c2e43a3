/* perturbed_plane_test.c -- the exact law of the minimiser in the plane, against the bounds that the event is charged
 * by: two data sets of a few logistic losses that differ in one record, densities on a grid.  With b =
 * -(sum of gradients + Lam theta) the minimiser has the density phi(b/sigma) det H/sigma^2.
 * Depends on: check.h, privacy/event/perturbed_objective.h. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "privacy/event/perturbed_objective.h"

#define MOST 4   /* records */
#define SIDE 401 /* of the grid */

typedef struct records {
    size_t count;
    double x[MOST], y[MOST]; /* points of the unit disc, labels included */
} records;

typedef struct law {
    double *density; /* [SIDE * SIDE] */
    double step;
} law;

/* sum of the slopes' gradients and Hessian at (a, b) */
static double density_at(const records *data, double lam, double sigma, double a, double b)
{
    double gx = lam * a, gy = lam * b, xx = lam, yy = lam, xy = 0.0;

    for (size_t i = 0; i < data->count; i++) {
        double slope = 1.0 / (1.0 + exp(data->x[i] * a + data->y[i] * b)), bend = slope * (1.0 - slope);

        gx -= slope * data->x[i];
        gy -= slope * data->y[i];
        xx += bend * data->x[i] * data->x[i];
        yy += bend * data->y[i] * data->y[i];
        xy += bend * data->x[i] * data->y[i];
    }
    return exp(-(gx * gx + gy * gy) / (2.0 * sigma * sigma)) * (xx * yy - xy * xy) /
           (2.0 * 3.14159265358979323846 * sigma * sigma);
}

/* Where the density is above e^-32 of its size: |b| <= 8 sigma. */
static law law_of(const records *data, double lam, double sigma, double reach)
{
    law made = { malloc(SIDE * SIDE * sizeof(double)), 2.0 * reach / (SIDE - 1) };
    double total = 0.0;

    CHECK(made.density != NULL);
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            double *at = &made.density[i * SIDE + j];

            *at = density_at(data, lam, sigma, (double)i * made.step - reach, (double)j * made.step - reach);
            total += *at * made.step * made.step;
        }
    }
    CHECK_CLOSE(total, 1.0, 1e-9);
    return made;
}

static double hockey_stick(const law *p, const law *q, double epsilon)
{
    double sum = 0.0;

    for (size_t k = 0; k < SIDE * SIDE; k++)
        sum += fmax(p->density[k] - exp(epsilon) * q->density[k], 0.0);
    return sum * p->step * p->step;
}

static double renyi(const law *p, const law *q, double alpha)
{
    double sum = 0.0;

    for (size_t k = 0; k < SIDE * SIDE; k++) {
        if (p->density[k] > 1e-200 && q->density[k] > 1e-200)
            sum += p->density[k] * pow(p->density[k] / q->density[k], alpha - 1.0);
    }
    return log(sum * p->step * p->step) / (alpha - 1.0);
}

/* Largest ratio of what is to what is claimed. */
typedef struct tightness {
    double delta, renyi;
} tightness;

static void compare(const law *p, const law *q, double s, double jacobian, int rank, tightness *most)
{
    for (double epsilon = 0.0; epsilon < 2.6; epsilon += 0.25) {
        double claimed = pn_perturbed_delta(epsilon, s, jacobian, rank), is = hockey_stick(p, q, epsilon);

        CHECK(is <= claimed * (1.0 + 1e-3) + 1e-9); /* the kink of the integrand costs a square of the step */
        if (claimed > 1e-4)
            most->delta = fmax(most->delta, is / claimed);
    }
    for (double alpha = 1.5; alpha < 9.0; alpha *= 2.0) {
        double claimed = pn_perturbed_rdp(s, jacobian, rank, alpha), is = renyi(p, q, alpha);

        CHECK(is <= claimed * (1.0 + 1e-6));
        CHECK(is <= pn_perturbed_zcdp(s, jacobian, rank) * alpha * (1.0 + 1e-6));
        most->renyi = fmax(most->renyi, is / claimed);
    }
}

/* The sensitivity is `contributions` times the largest gradient, 1. */
static void neighbours(const records *a, const records *b, double lam, double s, double contributions, int rank,
                       tightness *most)
{
    double sigma = contributions / s, jacobian = log1p(0.25 / lam);
    double reach = ((double)a->count + 8.0 * sigma) / lam;
    law p = law_of(a, lam, sigma, reach), q = law_of(b, lam, sigma, reach);

    compare(&p, &q, s, jacobian, rank, most);
    compare(&q, &p, s, jacobian, rank, most);
    free(p.density);
    free(q.density);
}

static records around(size_t count, double angle, double turn)
{
    records made = { .count = count };

    for (size_t i = 0; i < count; i++) {
        double size = i == 0 ? 1.0 : 0.3 + 0.2 * (double)i;

        made.x[i] = size * cos(angle + turn * (double)i);
        made.y[i] = size * sin(angle + turn * (double)i);
    }
    return made;
}

static void test_replaced_records_keep_delta_and_the_curve(void)
{
    static const double apart[] = { 3.14159265358979323846, 1.5707963267948966, 0.7 }, lams[] = { 0.25, 1.0, 4.0 },
                        ratios[] = { 0.3, 0.8 };
    tightness most = { 0.0, 0.0 };

    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            for (size_t m = 0; m < 2; m++) {
                records a = around(1 + i, 0.4, 2.0), b = a;

                b.x[0] = cos(0.4 + apart[k]);
                b.y[0] = sin(0.4 + apart[k]);
                neighbours(&a, &b, lams[i], ratios[m], 2.0, 2, &most);
            }
        }
    }
    CHECK(most.delta > 0.2 && most.renyi > 0.05); /* not so loose that nothing could fail */
}

static void test_records_that_become_null_span_a_line(void)
{
    static const double lams[] = { 0.25, 1.0, 4.0 }, ratios[] = { 0.3, 0.8 };
    tightness most = { 0.0, 0.0 };

    for (size_t i = 0; i < 3; i++) {
        for (size_t m = 0; m < 2; m++) {
            records a = around(1 + i, 0.9, 1.1), b = a;

            b.x[0] = b.y[0] = 0.0;
            neighbours(&a, &b, lams[i], ratios[m], 1.0, 1, &most);
        }
    }
    CHECK(most.delta > 0.2 && most.renyi > 0.05);
}

int main(void)
{
    test_replaced_records_keep_delta_and_the_curve();
    test_records_that_become_null_span_a_line();
    return check_summary();
}
