/* root_test.c -- bisection to the last bit, golden section.  Depends on: check.h, numeric/root.h. */
#include <float.h>
#include <math.h>

#include "check.h"
#include "numeric/root.h"

typedef struct step {
    double at; /* above(x) is x > at */
    int calls;
} step;

static bool above_step(void *self, double x)
{
    step *s = self;

    s->calls++;
    return x > s->at;
}

static bool square_above_two(void *self, double x)
{
    (void)self;
    return x * x > 2.0;
}

static double parabola(void *self, double x)
{
    double d = x - *(double *)self;

    return d * d;
}

static double wall(void *self, double x)
{
    return x < *(double *)self ? INFINITY : x;
}

static void test_bisect(void)
{
    static const double ats[] = { 0.0,  -0.0,    1.0,      -1.0,    0.1,          -1e-300,       5e-324,
                                  1e99, DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_EPSILON, 1.0 / 3.0e200, 123456789.123 };
    double root = pn_bisect(square_above_two, NULL, 0.0, 10.0);

    for (size_t i = 0; i < sizeof ats / sizeof ats[0]; i++) {
        step s = { ats[i], 0 };

        CHECK(pn_bisect(above_step, &s, -DBL_MAX, DBL_MAX) == ats[i]);
        CHECK(s.calls <= 66);
    }
    CHECK(root * root <= 2.0 && nextafter(root, 2.0) * nextafter(root, 2.0) > 2.0);
    CHECK(pn_bisect(above_step, &(step){ 5.0, 0 }, 0.0, 3.0) == 3.0);  /* never true: the high end */
    CHECK(pn_bisect(above_step, &(step){ -5.0, 0 }, 0.0, 3.0) == 0.0); /* already true: the low end */
    CHECK(pn_bisect(above_step, &(step){ 0.0, 0 }, 1.0, 1.0) == 1.0);
}

static void test_golden(void)
{
    double inside = 1.3, left = -7.0, right = 99.0, at;

    /* A parabola is flat to within eps of its minimum over sqrt(eps). */
    CHECK_CLOSE(pn_golden_min(parabola, &inside, -5.0, 9.0, 1e-9), 1.3, 1e-7);
    CHECK_CLOSE(pn_golden_min(parabola, &inside, 9.0, -5.0, 1e-9), 1.3, 1e-7);
    CHECK_CLOSE(pn_golden_min(parabola, &inside, -5.0, 9.0, 0.0), 1.3, 1e-7); /* ends at the spacing of doubles */
    CHECK(pn_golden_min(parabola, &left, -5.0, 9.0, 1e-9) == -5.0);
    CHECK(pn_golden_min(parabola, &right, -5.0, 9.0, 1e-9) == 9.0);
    CHECK(pn_golden_min(parabola, &inside, 2.0, 2.0, 1e-9) == 2.0);
    at = pn_golden_min(wall, &inside, 0.0, 4.0, 1e-9);
    CHECK(at >= 1.3 && at <= 1.3 + 1e-8);
}

/* f and f' of (x - at)^3 + (x - at), of exp(-x) - 1e-40, and of clip(x - 2, -1, 1),
 * which is flat but for an interval. */
static double cubic(void *self, double x, double *slope)
{
    double d = x - *(double *)self;

    *slope = 3.0 * d * d + 1.0;
    return d * d * d + d;
}

static double decay(void *self, double x, double *slope)
{
    ++*(int *)self;
    *slope = -exp(-x);
    return exp(-x) - 1e-40;
}

static double ramp(void *self, double x, double *slope)
{
    (void)self;
    *slope = x > 1.0 && x < 3.0 ? 1.0 : 0.0;
    return fmax(fmin(x - 2.0, 1.0), -1.0);
}

static double wrong_slope(void *self, double x, double *slope)
{
    *slope = *(double *)self;
    return x - 0.3;
}

static void test_newton(void)
{
    double at = 0.7, nan = NAN, zero = 0.0, infinite = INFINITY, minus = -1.0;
    int calls = 0;

    CHECK_CLOSE(pn_newton(cubic, &at, -1e6, 1e6), 0.7, 1e-15);
    CHECK_CLOSE(pn_newton(decay, &calls, 0.0, 1e5), 40.0 * log(10.0), 1e-12);
    CHECK(calls < 150);
    CHECK_CLOSE(pn_newton(ramp, NULL, -1e9, 1e9), 2.0, 1e-15);
    CHECK_CLOSE(pn_newton(wrong_slope, &nan, -1.0, 1.0), 0.3, 1e-15);
    CHECK_CLOSE(pn_newton(wrong_slope, &zero, -1.0, 1.0), 0.3, 1e-15);
    CHECK_CLOSE(pn_newton(wrong_slope, &infinite, -1.0, 1.0), 0.3, 1e-15);
    CHECK_CLOSE(pn_newton(wrong_slope, &minus, -1.0, 1.0), 0.3, 1e-15);
    CHECK(pn_newton(cubic, &at, 1.0, 2.0) == 1.0); /* one sign: the end nearer to 0 */
    CHECK(pn_newton(cubic, &at, -2.0, 0.5) == 0.5);
    CHECK(pn_newton(cubic, &at, 0.7, 9.0) == 0.7);
}

/* (x - root)^3 + (x - root), times a factor; calls are counted. */
typedef struct counted {
    double root, factor;
    int calls;
} counted;

static double counted_cubic(void *self, double x, double *slope)
{
    counted *of = self;
    double d = x - of->root;

    of->calls++;
    *slope = of->factor * (3.0 * d * d + 1.0);
    return of->factor * (d * d * d + d);
}

static void test_newton_near(void)
{
    double nan = NAN, minus = -1.0;

    for (int falls = 0; falls < 2; falls++) {
        counted near = { 0.7, falls ? -2.0 : 2.0, 0 }, far = near, outside = near, at = near;

        CHECK_CLOSE(pn_newton_near(counted_cubic, &near, 0.7 + 1e-6, -1e6, 1e6), 0.7, 1e-15);
        CHECK(near.calls <= 3);
        CHECK_CLOSE(pn_newton_near(counted_cubic, &far, 9e5, -1e6, 1e6), 0.7, 1e-15);
        CHECK_CLOSE(pn_newton_near(counted_cubic, &outside, 5.0, -1.0, 1.0), 0.7, 1e-15);
        CHECK_CLOSE(pn_newton_near(counted_cubic, &outside, NAN, -1.0, 1.0), 0.7, 1e-15);
        CHECK(pn_newton_near(counted_cubic, &at, 0.7, -1.0, 1.0) == 0.7 && at.calls == 1);
        CHECK(pn_newton_near(counted_cubic, &at, 1.5, 1.0, 2.0) == 1.0); /* one sign */
    }
    CHECK_CLOSE(pn_newton_near(wrong_slope, &nan, 0.5, -1.0, 1.0), 0.3, 1e-15);
    CHECK(fabs(pn_newton_near(wrong_slope, &minus, 0.5, -1.0, 1.0)) <= 1.0); /* a lie ends, too */
}

int main(void)
{
    test_newton();
    test_newton_near();
    test_bisect();
    test_golden();
    return check_summary();
}
