/* quadrature_test.c -- integrals with known values.  Depends on: check.h, numeric/quadrature.h. */
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "numeric/quadrature.h"

static double power_of(void *self, double x)
{
    return pow(x, *(int *)self);
}

static double root(void *self, double x)
{
    (void)self;
    return sqrt(x);
}

static double peak(void *self, double x)
{
    double width = *(double *)self;

    return width / (width * width + (x - 0.3) * (x - 0.3));
}

static double step(void *self, double x)
{
    (void)self;
    return x < 1.0 / 3.0 ? 2.0 : -1.0;
}

static double wave(void *self, double x)
{
    (void)self;
    return sin(50.0 * x);
}

int main(void)
{
    double error, got, width = 1e-3;

    /* The 15 points are exact to degree 22, so a wrong digit of a node or weight shows. */
    for (int degree = 0; degree <= 22; degree++) {
        got = pn_integrate(power_of, &degree, -1.0, 2.0, 1.0, &error);
        CHECK_CLOSE(got / ((pow(2.0, degree + 1) - pow(-1.0, degree + 1)) / (degree + 1)), 1.0, 4e-15);
    }
    got = pn_integrate(root, NULL, 0.0, 4.0, 1e-13, &error);
    CHECK_CLOSE(got, 16.0 / 3.0, 1e-12);
    CHECK(fabs(got - 16.0 / 3.0) <= error && error < 1e-12);
    got = pn_integrate(peak, &width, 0.0, 1.0, 1e-13, &error);
    CHECK_CLOSE(got, atan(0.7 / width) + atan(0.3 / width), 1e-12);
    got = pn_integrate(wave, NULL, 0.0, 10.0, 1e-12, &error);
    CHECK_CLOSE(got, (1.0 - cos(500.0)) / 50.0, 1e-13);
    CHECK(fabs(got - (1.0 - cos(500.0)) / 50.0) <= error);
    got = pn_integrate(step, NULL, 0.0, 1.0, 1e-10, &error); /* a jump: halved to the last doubles */
    CHECK(fabs(got) <= error && error < 1e-9);
    CHECK(pn_integrate(root, NULL, 2.0, 2.0, 1e-12, NULL) == 0.0);
    return check_summary();
}
