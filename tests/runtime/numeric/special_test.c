/* special_test.c -- the normal law in its tails.  Numbers: mpmath, 80 digits.  Depends on: check.h, numeric/special.h. */
#include <stddef.h>

#include "check.h"
#include "numeric/special.h"

static void test_log_normal_cdf(void)
{
    static const double row[][2] = {
        { -1e5, -5000000012.431864 },     { -300.0, -45006.622732118663 }, { -40.0, -804.60844201375379 },
        { -38.0, -726.55721601882013 },   { -17.0, -148.25558265098039 },  { -5.0, -15.064998393988726 },
        { -4.9, -14.551182689355313 },    { -1.0, -1.8410216450092635 },   { -1e-9, -0.69314718135782987 },
        { 0.0, -0.69314718055994531 },    { 0.5, -0.36894641528865639 },   { 3.0, -0.0013508099647481938 },
        { 8.0, -6.2209605742717861e-16 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        CHECK_CLOSE(pn_log_normal_cdf(row[i][0]) / row[i][1], 1.0, row[i][0] > 4.0 ? 1e-14 : 2e-15);
    CHECK(pn_log_normal_cdf(INFINITY) == 0.0);
    CHECK(pn_log_normal_cdf(50.0) == 0.0);
    CHECK(pn_log_normal_cdf(-INFINITY) == -INFINITY);
    CHECK(isfinite(pn_log_normal_cdf(-1e150)));
}

static void test_erfcx(void)
{
    static const double row[][2] = {
        { -20.0, 1.0442939379528288e+174 }, { -3.0, 16205.988853999587 },
        { -0.5, 1.9523604891825571 },       { 0.0, 1.0 },
        { 0.3, 0.73459933456765515 },       { 1.0, 0.427583576155807 },
        { 5.0, 0.11070463773306863 },       { 11.9, 0.047245232484087669 },
        { 12.1, 0.046469607339835012 },     { 26.0, 0.021683584850562907 },
        { 100.0, 0.0056416137829894329 },   { 1e6, 5.6418958354747419e-7 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        CHECK_CLOSE(pn_erfcx(row[i][0]) / row[i][1], 1.0, 2e-15);
    CHECK(pn_erfcx(INFINITY) == 0.0);
    CHECK(pn_erfcx(1e200) > 0.0);
    CHECK(isinf(pn_erfcx(-30.0)));
}

int main(void)
{
    test_log_normal_cdf();
    test_erfcx();
    return check_summary();
}
