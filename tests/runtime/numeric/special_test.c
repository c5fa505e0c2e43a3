/* special_test.c -- the normal law in its tails.  Numbers: mpmath, 80 digits.
 * Depends on: check.h, numeric/special.h. */
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

static void test_gamma_tails(void)
{
    static const double row[][4] = {
        { 0.5, 1e-8, 0.000112837916333424871, 0.999887162083666575 },
        { 0.5, 0.3, 0.561421973919000136, 0.438578026080999864 },
        { 0.5, 20, 0.999999999746037141, 2.53962858947086497e-10 },
        { 1, 1, 0.632120558828557678, 0.367879441171442322 },
        { 1.5, 0.2, 0.0597575051606392632, 0.940242494839360737 },
        { 1.5, 9, 0.999560150347161171, 0.000439849652838829003 },
        { 3.5, 3, 0.46025064960444259, 0.53974935039555741 },
        { 14.5, 40, 0.999998841517915392, 1.15848208460789488e-6 },
        { 15.5, 15, 0.482703450685104216, 0.517296549314895784 },
        { 50, 30, 0.000518891462548034293, 0.999481108537451966 },
        { 50, 80, 0.99986921602340859, 0.000130783976591410337 },
        { 500, 400, 8.10938107879915979e-7, 0.99999918906189212 },
        { 500, 500.5, 0.514861081231948484, 0.485138918768051516 },
        { 500000.0, 498000, 0.00231480548460393966, 0.99768519451539606 },
        { 500000.0, 503000, 0.999988554915817051, 0.0000114450841829491267 },
        { 20, 0.001, 4.10640490283012522e-79, 1.0 },
    };
    double below, above;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        pn_gamma_tails(row[i][0], row[i][1], &below, &above);
        CHECK_CLOSE(below / row[i][2], 1.0, 2e-13);
        CHECK_CLOSE(above / row[i][3], 1.0, 2e-13);
    }
    pn_gamma_tails(2.0, 0.0, &below, &above);
    CHECK(below == 0.0 && above == 1.0);
    pn_gamma_tails(2.0, INFINITY, &below, &above);
    CHECK(below == 1.0 && above == 0.0);
    pn_gamma_tails(2.0, 1e300, &below, &above);
    CHECK(below == 1.0 && above == 0.0);
}

static void test_gamma_half_ratio(void)
{
    static const double row[][2] = {
        { 0.5, 0.56418958354775628695 }, { 1, 0.88622692545275801365 },     { 3.5, 1.8054066673528201182 },
        { 50, 7.0534125148769133255 },   { 1000000, 999.9998750000078125 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        CHECK_CLOSE(pn_gamma_half_ratio(row[i][0]) / row[i][1], 1.0, 3e-15);
}

int main(void)
{
    test_gamma_tails();
    test_gamma_half_ratio();
    test_log_normal_cdf();
    test_erfcx();
    return check_summary();
}
