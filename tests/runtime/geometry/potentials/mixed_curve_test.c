/* mixed_curve_test.c -- tabulated roots of y^e + y = tau against tau computed from them,
 * for tau on both sides of the table.
 * Depends on: check.h, geometry/potentials/mixed_curve.h. */
#include "check.h"
#include "geometry/potentials/mixed_curve.h"

int main(void)
{
    enum { N = 500 };
    static pn_mixed_curve curve;
    static double tau[N], log_tau[N], y[N], slope[N];
    const double exponents[] = { 0.11, 0.103, 0.0724, 0.05 };

    for (size_t i = 0; i < 4; i++) {
        double e = exponents[i];

        pn_mixed_curve_open(&curve, e);
        for (int part = 0; part < 6; part++) {
            const double from[] = { -20.0, -5.0, -0.5, 0.0, 1.9, 10.0 }, to[] = { -5.0, -0.5, 0.0, 2.1, 12.0, 80.0 };

            for (size_t j = 0; j < N; j++) {
                log_tau[j] = from[part] + (to[part] - from[part]) * ((double)j + 0.5) / N;
                tau[j] = exp(log_tau[j]);
            }
            pn_mixed_curve_at(&curve, N, tau, log_tau, y, slope);
            for (size_t j = 0; j < N; j++) {
                long double power = powl(y[j], e), back = power + y[j];

                CHECK_CLOSE((double)(back / tau[j]), 1.0, 2e-14);
                CHECK_CLOSE(slope[j] * (double)(e * power + y[j]) / y[j], 1.0, 1e-5);
            }
        }
    }
    return check_summary();
}
