/* boxed_entropy.c -- the mirror step of an entropy over {low <= x <= high} and one scalar constraint, by the multiplier
 * nu of that constraint: each entry is the clipped one of the step without a box, and a mass that falls in nu has one
 * root.
 *
 * Simplex: x_j = clip(radius e^(c_j/radius - nu)); their sum is the mass, size the aim.
 * l1 ball, in weights a_j, b_j >= 0 of mass sum (a + b) = 1 with y = x/radius = a - b, u = c/radius: the step without a
 * box has y_j = v sinh u_j and mass v cosh u_j, v = 2 e^-nu.  Where y_j is held at an end e,
 * a ln a + b ln b + nu (a + b) is least over a - b = e for a b = v^2/4, so that its mass is sqrt(e^2 + v^2).
 *
 * The root is that of ln(mass/aim), which is a straight line in nu where nothing is clipped: Newton's steps inside a
 * bracket, each O(n).  What rounding leaves of it the simplex spreads over the entries that are free.
 * Depends on: boxed_entropy.h, root.h, simd.h.  Used by: potential_entropy.c, potential_signed_entropy.c. */
#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "geometry/potentials/boxed_entropy.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"

#define FAR       1e200 /* a box is asked for its corners by points beyond it */
#define DOUBLINGS 60
#define INSIDE    0x1p-48 /* of the radius: at the border of the ball the gradient is infinite */

typedef struct boxed {
    const double *c, *low, *high; /* [n] */
    size_t n;
    double radius, aim;
} boxed;

/* *ends[2n]: the corners of the box, owned. */
static pn_status corners(const pn_set *box, double **ends, pn_err *err)
{
    size_t n = box->dim;
    pn_status status = PN_OK;

    PN_TRY(pn_new(ends, 2 * n, err, "mirror step: out of memory"));
    for (size_t j = 0; j < 2 * n; j++)
        (*ends)[j] = j < n ? -FAR : FAR;
    for (size_t k = 0; k < 2 && status == PN_OK; k++)
        status = pn_set_project(box, *ends + k * n, n, err);
    if (status != PN_OK)
        pn_free(*ends);
    return status;
}

/* The root of a falling f, searched outward from nu; an end of the search where it has none. */
static double root_of(double (*f)(void *self, double nu, double *slope), void *self, double nu)
{
    double slope, value = f(self, nu, &slope), way = value > 0.0 ? 1.0 : -1.0;

    for (int k = 0; k < DOUBLINGS && value != 0.0; k++, way *= 2.0) {
        double next = nu + way, there = f(self, next, &slope);

        if (there == 0.0 || (there > 0.0) != (value > 0.0))
            return pn_newton(f, self, fmin(nu, next), fmax(nu, next));
        nu = next;
    }
    return nu;
}

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static size_t piece_at(const boxed *of, size_t at)
{
    return of->n - at < PN_POTENTIAL_PIECE ? of->n - at : PN_POTENTIAL_PIECE;
}

/* ---- the simplex ---- */

/* x[count] <- radius e^(c/radius - nu) from entry `at` on */
static void powers_at(const boxed *of, double nu, size_t at, size_t count, double *x)
{
    for (size_t j = 0; j < count; j++)
        x[j] = of->c[at + j] / of->radius - nu;
    pn_simd_best()->exp(count, x, x);
    for (size_t j = 0; j < count; j++)
        x[j] *= of->radius;
}

/* *held: the mass of the entries at an end; *loose: of the others. */
static void masses(const boxed *of, double nu, double *held, double *loose)
{
    double piece[PN_POTENTIAL_PIECE];

    *held = *loose = 0.0;
    for (size_t at = 0; at < of->n; at += PN_POTENTIAL_PIECE) {
        size_t count = piece_at(of, at);

        powers_at(of, nu, at, count, piece);
        for (size_t j = 0; j < count; j++) {
            double inside = clip(piece[j], of->low[at + j], of->high[at + j]);

            *loose += inside == piece[j] ? inside : 0.0;
            *held += inside == piece[j] ? 0.0 : inside;
        }
    }
}

static double simplex_excess(void *self, double nu, double *slope)
{
    const boxed *of = self;
    double held, loose, mass;

    masses(of, nu, &held, &loose);
    mass = fmax(held + loose, DBL_MIN);
    *slope = -loose / mass;
    return log(mass / of->aim);
}

/* ln of sum e^(c/radius), or of sum 2 cosh(c/radius) */
static double log_sum(const boxed *of, bool both)
{
    double top = (both ? pn_potential_magnitude(of->c, of->n) : pn_potential_largest(of->c, of->n)) / of->radius;
    double piece[PN_POTENTIAL_PIECE], sum = 0.0;

    for (size_t at = 0; at < of->n; at += PN_POTENTIAL_PIECE) {
        size_t count = piece_at(of, at);

        for (int sign = 1; sign >= (both ? -1 : 1); sign -= 2) {
            for (size_t j = 0; j < count; j++)
                piece[j] = sign * of->c[at + j] / of->radius - top;
            pn_simd_best()->exp(count, piece, piece);
            sum += pn_sum(count, piece);
        }
    }
    return top + log(fmax(sum, 1.0)); /* the largest is e^0 */
}

pn_status pn_entropy_boxed_step(double radius, double size, const pn_set *box, const double *c, double *x, pn_err *err)
{
    boxed of = { .c = c, .n = box->dim, .radius = radius, .aim = size };
    double *ends, nu, held, loose, factor, piece[PN_POTENTIAL_PIECE], least = DBL_MIN * fmax(radius, 1.0);

    PN_TRY(corners(box, &ends, err));
    of.low = ends;
    of.high = ends + of.n;
    for (size_t j = 0; j < of.n; j++) {
        if (of.high[j] < 0.0) {
            pn_free(ends);
            return pn_fail(err, PN_EDOMAIN, "potential.entropy: the set has no point with entry %zu >= 0", j + 1);
        }
    }
    nu = root_of(simplex_excess, &of, log_sum(&of, false) - log(size / radius));
    masses(&of, nu, &held, &loose);
    factor = loose > 0.0 ? clip((size - held) / loose, 0.5, 2.0) : 1.0;
    for (size_t at = 0; at < of.n; at += PN_POTENTIAL_PIECE) {
        size_t count = piece_at(&of, at);

        powers_at(&of, nu, at, count, piece);
        for (size_t j = 0; j < count; j++) {
            double inside = clip(piece[j], of.low[at + j], of.high[at + j]);

            inside = inside == piece[j] ? clip(factor * inside, of.low[at + j], of.high[at + j]) : inside;
            x[at + j] = fmin(fmax(inside, least), of.high[at + j]);
        }
    }
    pn_free(ends);
    return PN_OK;
}

/* ---- the l1 ball ---- */

/* up[count], down[count] <- the two weights of the step without a box. */
static void weights_at(const boxed *of, double nu, size_t at, size_t count, double *up, double *down)
{
    for (size_t j = 0; j < count; j++) {
        up[j] = of->c[at + j] / of->radius - nu;
        down[j] = -of->c[at + j] / of->radius - nu;
    }
    pn_simd_best()->exp(count, up, up);
    pn_simd_best()->exp(count, down, down);
}

/* y, held between the ends; where weights are beyond the range of numbers it is the end on the side of c. */
static double entry_of(const boxed *of, size_t j, double up, double down)
{
    double y = isinf(up) || isinf(down) ? copysign(INFINITY, of->c[j]) : up - down;

    return clip(y, of->low[j] / of->radius, of->high[j] / of->radius);
}

static double ball_excess(void *self, double nu, double *slope)
{
    const boxed *of = self;
    double up[PN_POTENTIAL_PIECE], down[PN_POTENTIAL_PIECE], mass = 0.0, square = 4.0 * exp(-2.0 * nu);

    *slope = 0.0;
    for (size_t at = 0; at < of->n; at += PN_POTENTIAL_PIECE) {
        size_t count = piece_at(of, at);

        weights_at(of, nu, at, count, up, down);
        for (size_t j = 0; j < count; j++) {
            double y = entry_of(of, at + j, up[j], down[j]);
            bool held = y != up[j] - down[j];
            double one = held ? sqrt(y * y + square) : up[j] + down[j];

            mass += one;
            *slope -= !held ? one : one > 0.0 ? square / one : 0.0;
        }
    }
    mass = fmax(mass, DBL_MIN);
    *slope /= mass;
    return log(mass);
}

pn_status pn_signed_entropy_boxed_step(double radius, const pn_set *box, const double *c, double *x, pn_err *err)
{
    boxed of = { .c = c, .n = box->dim, .radius = radius, .aim = 1.0 };
    double *ends, nu, norm, up[PN_POTENTIAL_PIECE], down[PN_POTENTIAL_PIECE];

    PN_TRY(corners(box, &ends, err));
    of.low = ends;
    of.high = ends + of.n;
    nu = root_of(ball_excess, &of, log_sum(&of, true));
    for (size_t at = 0; at < of.n; at += PN_POTENTIAL_PIECE) {
        size_t count = piece_at(&of, at);

        weights_at(&of, nu, at, count, up, down);
        for (size_t j = 0; j < count; j++)
            up[j] = radius * entry_of(&of, at + j, up[j], down[j]);
        for (size_t j = 0; j < count; j++)
            x[at + j] = clip(up[j], of.low[at + j], of.high[at + j]);
    }
    norm = pn_lp_norm(PN_L1, of.n, x) / radius;
    for (size_t j = 0; norm > 1.0 - INSIDE && j < of.n; j++)
        x[j] *= (1.0 - INSIDE) / norm;
    pn_free(ends);
    return PN_OK;
}
