/* draw.c -- uniform points: exponentials over their sum are uniform on a simplex; with one more in the sum,
 * in the filled simplex.
 * Depends on: draw.h, numeric/simd/simd.h, numeric/blas.h.  Used by: the sets of vectors of this room. */
#include <math.h>

#include "geometry/kernels/draw.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

void pn_draw_exponentials(pn_rng *rng, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = 1.0 - pn_rng_uniform(rng); /* in (0, 1] */
    pn_simd_best()->log(n, out, out);
    pn_simd_best()->negate(n, out, out);
}

double pn_draw_gamma(pn_rng *rng, double shape)
{
    double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);

    for (;;) {
        double x, v, u = 1.0 - pn_rng_uniform(rng);

        pn_rng_normals(rng, 1, &x);
        v = 1.0 + c * x;
        v = v * v * v;
        if (v > 0.0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return shape < 1.0 ? d * v * pow(1.0 - pn_rng_uniform(rng), 1.0 / shape) : d * v;
    }
}

static void divide(double *out, size_t n, double by)
{
    for (size_t j = 0; j < n; j++)
        out[j] /= by;
}

void pn_draw_simplex(pn_rng *rng, size_t n, double *out)
{
    if (n == 1) {
        out[0] = 1.0;
        return;
    }
    pn_draw_exponentials(rng, n, out);
    divide(out, n, pn_sum(n, out));
}

void pn_draw_unit_simplex(pn_rng *rng, size_t n, double *out)
{
    double rest;

    pn_draw_exponentials(rng, 1, &rest);
    pn_draw_exponentials(rng, n, out);
    divide(out, n, pn_sum(n, out) + rest);
}

void pn_draw_l1_ball(pn_rng *rng, size_t n, double *out)
{
    pn_draw_unit_simplex(rng, n, out);
    for (size_t j = 0; j < n; j++)
        out[j] = pn_rng_uniform(rng) < 0.5 ? -out[j] : out[j];
}
