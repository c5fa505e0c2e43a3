/* width_bound.c -- upper bounds of Gaussian widths that take no draws.  G is that of (C - C)/2, too, and grows with the
 * set; so with the radii and half the diameters r of C in l1, l2 and linf
 *     G <= r_2 E ||b||_2,   r_1 E max |b_j|,   r_inf dim sqrt(2/pi),
 * and with k vertices at most R from a common point G <= R sqrt(2 ln k), at most D from each other
 *     G <= D/sqrt(2) E max(b_1, .., b_k)     (Sudakov, Fernique),
 * which is the width of a simplex.  Of sets made of sets:
 *     product and sum    G_C + G_D;
 *     intersection       min(G_C, G_D);
 *     hull of both       max(G_C, G_D) + max(R_C, R_D) sqrt(2 ln 2) for the l2 radii R: a support function is
 *                        Lipschitz with constant R, hence sub-Gaussian about its mean, and so is what the larger of
 *                        the two has above the larger mean;
 *     image by A         ||A|| G_C in the spectral norm (Sudakov, Fernique).
 * Depends on: width_bound.h, width_quadrature.h, set_algebra.h.  Used by: solvers (plans).
 * Source: Boucheron, Lugosi, Massart (2013), sections 2.5 and 5.4; Vershynin (2018), section 7.2. */
#include <math.h>

#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "geometry/width/width.h"
#include "geometry/algebra/width_bound.h"
#include "geometry/width/width_quadrature.h"

static const double pi = 3.14159265358979323846;

static double size_in(const pn_set *set, pn_lp norm)
{
    return fmin(set->ops->radius(set, norm), 0.5 * set->ops->diameter(set, norm));
}

/* By what is around the set, and by its vertices. */
static double from_outside(const pn_set *set)
{
    double p = (double)set->dim, most = size_in(set, PN_L2) * pn_width_of_l2(set->dim).high;

    most = fmin(most, size_in(set, PN_L1) * pn_width_of_l1(set->dim).high);
    most = fmin(most, size_in(set, PN_LINF) * p * sqrt(2.0 / pi));
    if (pn_set_is_polytope(set)) {
        size_t k = set->ops->atom_count(set);

        most = fmin(most, set->ops->atom_radius(set, PN_L2) * sqrt(2.0 * log((double)k)));
        most = fmin(most, set->ops->diameter(set, PN_L2) * sqrt(0.5) * pn_width_of_simplex(k).high);
    }
    return most * (1.0 + 1e-14);
}

static pn_status of_both(const pn_set *parts[2], double of[2], pn_err *err)
{
    for (int k = 0; k < 2; k++)
        PN_TRY(pn_set_width_at_most(&of[k], parts[k], err));
    return PN_OK;
}

/* By what the set is made of; +inf for a set that is not made of others. */
static pn_status from_inside(double *most, const pn_set *set, pn_err *err)
{
    const pn_set *parts[2];
    double of[2], norms[PN_LP_COUNT][PN_LP_COUNT];
    pn_mat A;

    *most = INFINITY;
    if (pn_set_image_parts(set, &parts[0], &A)) {
        PN_TRY(pn_set_width_at_most(&of[0], parts[0], err));
        pn_set_image_norms(set, norms);
        *most = pn_times_up(norms[PN_L2][PN_L2], of[0]);
    } else if (pn_set_product_parts(set, &parts[0], &parts[1]) || pn_set_sum_parts(set, &parts[0], &parts[1])) {
        PN_TRY(of_both(parts, of, err));
        *most = pn_plus_up(of[0], of[1]);
    } else if (pn_set_intersection_parts(set, &parts[0], &parts[1])) {
        PN_TRY(of_both(parts, of, err));
        *most = fmin(of[0], of[1]);
    } else if (pn_set_hull_parts(set, &parts[0], &parts[1])) {
        PN_TRY(of_both(parts, of, err));
        *most = pn_plus_up(fmax(of[0], of[1]), set->ops->radius(set, PN_L2) * sqrt(2.0 * log(2.0)));
    }
    return PN_OK;
}

pn_status pn_set_width_at_most(double *most, const pn_set *set, pn_err *err)
{
    pn_width_options exact = { .method = PN_WIDTH_QUADRATURE };
    const double *shift;
    double factor, inside;
    const pn_set *body = pn_set_unwrap(set, &factor, &shift); /* a shift changes no width */
    pn_width found;
    pn_status status = PN_EUNSUPPORTED;

    *most = INFINITY;
    if (pn_set_is_bounded(body))
        status = pn_set_width(body, &exact, &found, err);
    if (status != PN_OK && status != PN_EUNSUPPORTED)
        return status;
    if (status == PN_OK) {
        *most = fabs(factor) * found.high;
        return PN_OK;
    }
    PN_TRY(from_inside(&inside, body, err));
    if (pn_set_is_bounded(body))
        inside = fmin(inside, from_outside(body));
    *most = factor == 0.0 ? 0.0 : fabs(factor) * inside;
    return PN_OK;
}
