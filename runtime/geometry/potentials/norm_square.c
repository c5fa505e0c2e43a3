/* norm_square.c -- how large standard normal noise is in a dual norm, without drawing any: with Q the unit ball of the
 * norm, R its l2 radius and G its Gaussian width, E max_Q <b, v>^2 <= G^2 + R^2 (Poincare), and <= dim R^2.
 * Of an image, max_Q <b, A v>^2 is a convex function f of A' b, and f(||A|| b) is larger in the mean, as ||A|| b is
 * A' b plus independent noise (Jensen); of an l2 ball of radius r it is r^2 ||A||_F^2.
 * Depends on: norm.h, set_algebra.h, width.h, width_bound.h.  Used by: potential.c, plans of mirror descent. */
#include <math.h>

#include "geometry/algebra/set_algebra.h"
#include "geometry/algebra/width_bound.h"
#include "geometry/kernels/upper.h"
#include "geometry/potentials/norm.h"
#include "geometry/width/width.h"

/* E of the largest of k Gaussians of deviation 1. */
static double largest_of(double k)
{
    return sqrt(2.0 * log(k));
}

/* An upper bound of G by a formula, where nothing exact is known; +inf. */
static double width_upper(const pn_set *ball, double R)
{
    double m1, m2, a, p = (double)ball->dim, size;

    if (pn_set_is(ball, "nuclear_ball", &size) && pn_set_number(ball, "rows", &m1) && pn_set_number(ball, "cols", &m2))
        return size * (sqrt(m1) + sqrt(m2));
    if (pn_set_is(ball, "interpolation_ball", &size) && pn_set_number(ball, "alpha", &a)) /* the mean of two polars */
        return size * ((1.0 - a) * largest_of(2.0 * p) + a * sqrt(p));
    return pn_set_is_polytope(ball) ? R * largest_of((double)ball->ops->atom_count(ball)) : INFINITY;
}

static pn_status square_over(const pn_set *ball, double *square, pn_err *err);

static pn_status square_over_image(const pn_set *ball, const pn_set *inner, pn_mat A, double *square, pn_err *err)
{
    double norms[PN_LP_COUNT][PN_LP_COUNT], R = ball->ops->radius(ball, PN_L2), G = INFINITY, size;

    PN_TRY(square_over(inner, square, err));
    PN_TRY(pn_set_width_at_most(&G, ball, err));
    pn_set_image_norms(ball, norms);
    *square = pn_times_up(pn_times_up(norms[PN_L2][PN_L2], norms[PN_L2][PN_L2]), *square);
    *square = fmin(*square, fmin((double)ball->dim * R * R, G * G + R * R));
    if (pn_set_is(inner, "l2_ball", &size)) {
        size = pn_times_up(size, pn_norm_upper(PN_L2, A.data, A.rows * A.cols));
        *square = fmin(*square, pn_times_up(size, size));
    }
    return PN_OK;
}

/* E max_Q <b, v>^2 of a ball; of joined ones it is the sum of the parts' over the weights. */
static pn_status square_over(const pn_set *ball, double *square, pn_err *err)
{
    pn_width_options exact = { .method = PN_WIDTH_QUADRATURE };
    pn_width width = { .high = INFINITY };
    double R = ball->ops->radius(ball, PN_L2), G, weight[2], other;
    const pn_set *parts[2];
    pn_mat A;
    pn_status status;

    if (pn_set_image_parts(ball, &parts[0], &A))
        return square_over_image(ball, parts[0], A, square, err);
    if (pn_set_joined_parts(ball, parts, weight)) {
        PN_TRY(square_over(parts[0], square, err));
        PN_TRY(square_over(parts[1], &other, err));
        *square = pn_times_up(1.0 + 1e-15, *square / weight[0] + other / weight[1]);
        return PN_OK;
    }
    status = pn_set_width(ball, &exact, &width, err);
    G = status == PN_OK ? width.high : width_upper(ball, R);
    *square = fmin((double)ball->dim * R * R, G * G + R * R);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

pn_status pn_norm_dual_square(const pn_norm *norm, size_t dim, double *square, pn_err *err)
{
    pn_set *ball = NULL;
    pn_status status;
    pn_lp lp;

    *square = (double)dim;
    if (pn_norm_is_lp(norm, &lp) && lp == PN_L2)
        return PN_OK;
    PN_TRY(pn_norm_ball(&ball, norm, dim, err));
    status = square_over(ball, square, err);
    pn_set_free(ball);
    return status;
}
