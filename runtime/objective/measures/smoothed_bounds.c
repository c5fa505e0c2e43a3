/* smoothed_bounds.c -- what is known of a smoothed gradient before any data is seen: norms, rounding,
 * variances, curvature.
 * Depends on: smoothed_impl.h, numeric/special.h.  Used by: smoothed.h's callers.
 * Source: zeroth-order.md sections 2 and 3.
 *
 * Variance.  c(u) = (f(x + mu u) - f(x - mu u)) / (2 mu) is odd and L-Lipschitz on the sphere, so E c^2 <= L^2 /
 * (d - 1) (Poincare), and d E c^2 <= kappa^2 L^2 for the largest norm kappa L of the coefficients of d orthonormal
 * directions, since each is uniform: |c_i| + |c_j| <= sqrt(2) L, from which kappa^2 = 1, 8 - 4 sqrt(2) half of it, d /
 * 2 for d = 1, 2, >= 3.  In differences q = c(x) - c(y) is 2 L-Lipschitz and at most L min(r / mu, 2).  Let Q bound d E
 * c^2 or d E q^2.  With the gradient g = d E c u of the record's own loss:
 *   orthogonal  E ||X||^2 = d E c^2 <= Q
 *   iid         E ||X||^2 = d E c^2 + (1 - 1/d) ||g||^2, and ||g||^2 <= min(L^2, Q), of differences <= Q
 *   one         E ||X||^2 = d^2 E c^2 <= d Q
 *   iid, level  E ||X||^2 <= level^2 E ||c||^2 <= level^2 Q, since accepted rows are uniform still
 * and records that are drawn independently with directions of their own divide it by their number B.
 *
 * Records that share U.  Given U the terms X_i of a group of m are independent with mean M(U), which is the estimate
 * for the ONE function F = E f, itself L-Lipschitz.  So Var(sum) = m E Var(X | U) + m^2 Var M = m Var X + m (m - 1) Var
 * M, and over all groups
 *   E || mean - E ||^2 <= V / B + W sum m (m - 1) / B^2,   V as above, W a bound on Var M: for one function,
 *       of which less is random.
 * c is odd: harmonics of degree 1, which make g and ||g||^2 / d of E c^2, and of degrees k >= 3.  The Laplacian's
 * eigenvalues are k (k + d - 2), so 3 (d + 1) E c_3+^2 <= L^2 (differences: 4 L^2).  With R =
 * min(Q, L^2 d / (3 (d + 1))), 4 L^2 for differences:
 *   orthogonal  E ||M||^2 - ||g||^2 = d E c_3+^2 <= R
 *   iid         d E c^2 + (1 - 1/d) ||g||^2 - ||g||^2 <= Q
 *   one         d^2 E c^2 - ||g||^2 <= d Q
 *   iid, level  level^2 Q
 * In one dimension there is one direction up to its sign, and W = 0. */
#include <math.h>

#include "geometry/kernels/upper.h"
#include "numeric/special.h"
#include "objective/measures/smoothed_impl.h"

#define UNIT_NUMBERS  1024.0  /* normal numbers of a unit: fewer cost more each */
#define UNIT_MOST     128.0   /* records of a unit */
#define CHUNK_NUMBERS 16384.0 /* of a chunk: a thread is worth no less */
#define RECORD_COST   32.0    /* of a record beside its directions, in such numbers */

/* ---- the cut ---- */

pn_smoothed_cut pn_smoothed_cut_of(const pn_smoothing *how, size_t dim, size_t count)
{
    pn_direction_kind kind = { how->directions, dim, 0.0, false };
    double numbers = (double)pn_direction_numbers(&kind), each = RECORD_COST + numbers;
    double unit = fmin(fmax(floor(UNIT_NUMBERS / numbers), 1.0), UNIT_MOST), units, together;
    pn_smoothed_cut out = { how->group > 1 ? how->group : (size_t)unit, 1, 0 };

    if (out.unit > count)
        out.unit = count;
    units = ceil((double)count / (double)out.unit);
    together = fmax(ceil(CHUNK_NUMBERS / each / (double)out.unit), ceil(units / PN_CHUNKS_MAX));
    together = fmin(together, units);
    out.chunks = (size_t)ceil(units / together);
    out.chunk_rows = (size_t)together * out.unit;
    return out;
}

/* ---- norms ---- */

double pn_smoothed_limit(const pn_smoothing *how, double distance)
{
    return how->lipschitz * fmin(distance / how->radius, 2.0);
}

/* Of coefficients of at most 1, rounded up: three products and what directions.h says. */
static double norm_factor(const pn_smoothing *how, size_t dim)
{
    pn_direction_kind kind = { how->directions, dim, how->level, false };
    double d = (double)dim, factor = d;

    if (how->directions == PN_DIRECTIONS_ORTHOGONAL)
        factor = sqrt(d);
    else if (how->directions == PN_DIRECTIONS_IID && how->level > 0.0)
        factor = fmin(d, sqrt(d) * how->level);
    return factor * (1.0 + pn_direction_rounding(&kind) + 8.0 * 0x1p-53);
}

double pn_smoothed_norm(const pn_smoothing *how, size_t dim)
{
    return pn_times_up(norm_factor(how, dim), how->lipschitz);
}

double pn_smoothed_difference_norm(const pn_smoothing *how, size_t dim, double distance)
{
    return pn_times_up(norm_factor(how, dim), pn_smoothed_limit(how, distance));
}

/* A record's term goes through the additions of its chunk and of the chunks, each of which takes in a new record or
 * chunk, and a division: relative to the sum of all norms.  Groups add up coefficients, `unit` of them, and then make
 * one product with U, whose rounding is not in the norm. */
double pn_smoothed_error(const pn_smoothing *how, size_t dim, size_t count, double norm)
{
    pn_direction_kind kind = { how->directions, dim, how->level, false };
    pn_smoothed_cut cut = pn_smoothed_cut_of(how, dim, count ? count : 1);
    double roundings = fmin((double)count, (double)(cut.chunk_rows + cut.chunks)) + 4.0, product = 0.0;

    if (how->group > 1) {
        roundings += (double)cut.unit;
        product = pn_direction_rounding(&kind);
    }
    return norm * 1.02 * (roundings * 0x1p-53 + product);
}

double pn_smoothed_sensitivity(const pn_smoothing *how, size_t dim, size_t count, double norm)
{
    return (2.0 * norm / (double)count + 2.0 * pn_smoothed_error(how, dim, count, norm)) * (1.0 + 0x1p-50);
}

/* ---- variances ---- */

/* d E c^2 <= this, for an odd c on the sphere that is `slope`-Lipschitz and at most `most`. */
static double mean_square(double d, double slope, double most)
{
    double poincare = d > 1.0 ? slope * slope * d / (d - 1.0) : slope * slope;

    return fmin(poincare, d * most * most);
}

/* V and W above, from Q, R and what bounds ||g||^2. */
static double variance(const pn_smoothing *how, size_t dim, size_t count, double Q, double R, double gradient)
{
    double d = (double)dim, B = (double)count, one = Q, common = fmin(Q, R), shared = 0.0;
    double level = how->level > 0.0 ? how->level * how->level * Q : INFINITY;

    if (how->directions == PN_DIRECTIONS_IID) {
        one = how->level > 0.0 ? level : Q + (1.0 - 1.0 / d) * fmin(gradient, Q);
        common = how->level > 0.0 ? level : Q;
    } else if (how->directions == PN_DIRECTIONS_ONE) {
        one = common = d * Q;
    }
    if (how->group > 1) {
        double group = (double)how->group, rest = (double)(count % how->group);

        shared = ((B - rest) * (group - 1.0) + rest * fmax(rest - 1.0, 0.0)) / B;
    }
    return (one + (dim > 1 ? common * shared : 0.0)) / B;
}

double pn_smoothed_variance(const pn_smoothing *how, size_t dim, size_t count)
{
    double d = (double)dim, L = how->lipschitz, Q = mean_square(d, L, L);

    if (dim == 2)
        Q = fmin(Q, (8.0 - 4.0 * sqrt(2.0)) / 2.0 * L * L);
    return variance(how, dim, count, Q, L * L * d / (3.0 * (d + 1.0)), L * L);
}

double pn_smoothed_difference_variance(const pn_smoothing *how, size_t dim, size_t count, double distance)
{
    double d = (double)dim, L = how->lipschitz, most = pn_smoothed_limit(how, distance);
    double Q = mean_square(d, 2.0 * L, most);

    return variance(how, dim, count, Q, 4.0 * L * L * d / (3.0 * (d + 1.0)), Q);
}

double pn_smoothed_curvature(size_t dim)
{
    double d = (double)dim;

    /* Gamma(d/2 + 1) / Gamma(d/2 + 1/2) */
    return 2.0 / sqrt(acos(-1.0)) * pn_gamma_half_ratio(0.5 * d + 0.5);
}
