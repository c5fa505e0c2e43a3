/* slope_inverse.c -- psi'(x) = u for many u at once.  Two steps of Newton's method for all, from a cubic through nodes
 * where the inverse and its derivative are known; what has not arrived then goes on by itself, by Newton's steps inside
 * a bracket that every slope narrows.
 * Depends on: slope_inverse.h, numeric/root.h, simd.h.  Used by: potential_separable.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "geometry/kernels/slope_inverse.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"

#define PIECE       PN_SLOPE_MOST
#define MOST_ROUNDS 200
#define PATIENCE    20
#define ARRIVED     1e-13 /* relative: Newton's method squares what a step this long leaves */
#define NEAR        1e-9  /* relative: steps this short that shrink no more are rounding */
#define FEW         1024  /* slopes for which nodes are not worth it */

static void derivatives(const pn_slope *of, size_t n, const double *x, double *slope, double *curvature)
{
    pn_compiled_run(of->formula, n, (const double *[1]){ x }, NULL, slope);
    pn_program_run(of->formula->curvature, n, (const double *[1]){ x }, &curvature);
}

/* ---- what is left: one bracket each ---- */

typedef struct search {
    double u, x, low, high, last; /* last: |psi' - u| before */
    size_t at;
} search;

/* |x - inside| <= |u - psi'(inside)| / least. */
static void bracket(const pn_slope *of, double u, double *low, double *high)
{
    double away = (u - of->at_inside) / of->least;

    *low = fmax(of->domain.low, of->inside + fmin(away, 0.0));
    *high = fmin(of->domain.high, of->inside + fmax(away, 0.0));
    if (u <= of->at_low)
        *high = *low = of->domain.low;
    if (u >= of->at_high)
        *low = *high = of->domain.high;
}

/* The next x; whether it is the last.  Steps that are long for many rounds, as powers make them from far, give way to
 * the middle of the doubles, which is never far for long. */
static bool narrow(search *s, double slope, double curvature, int round)
{
    double off = slope - s->u, step = off / curvature, next = s->x - step, shrunk = s->last;

    s->last = fabs(off);
    if (off == 0.0)
        return true;
    if (off < 0.0)
        s->low = s->x;
    else if (off > 0.0)
        s->high = s->x;
    if (fabs(step) <= 0.5 * DBL_EPSILON * fabs(s->x) || (fabs(off) > 0.5 * shrunk && fabs(step) <= NEAR * fabs(s->x)))
        return true;
    if (!(next > s->low && next < s->high) || fabs(off) > 0.5 * shrunk ||
        (round > PATIENCE && fabs(step) > 1e-3 * fabs(s->x)))
        next = pn_middle(s->low, s->high);
    if (!(next > s->low && next < s->high))
        return true;
    s->x = next;
    return false;
}

/* x[s.at] and its curvature for all searches, which are used up. */
static void finish(const pn_slope *of, search *searches, size_t count, double *x, double *curvature)
{
    double at[PIECE], slope[PIECE], bend[PIECE];

    for (int round = 0; count > 0; round++) {
        size_t left = 0;

        for (size_t k = 0; k < count; k++)
            at[k] = searches[k].x;
        derivatives(of, count, at, slope, bend);
        for (size_t k = 0; k < count; k++) {
            search *s = &searches[k];

            x[s->at] = at[k];
            curvature[s->at] = bend[k];
            if (!narrow(s, slope[k], bend[k], round) && round < MOST_ROUNDS)
                searches[left++] = *s;
        }
        count = left;
    }
}

static search begin(const pn_slope *of, double u, double x, size_t at)
{
    search s = { .u = u, .last = INFINITY, .at = at };

    bracket(of, u, &s.low, &s.high);
    s.x = x > s.low && x < s.high ? x : 0.5 * s.low + 0.5 * s.high;
    return s;
}

/* ---- the first steps ---- */

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

void pn_slope_guess(const pn_slope_nodes *nodes, const double *u, size_t n, double *x, double *rate)
{
    double first = nodes->first, scale = 1.0 / nodes->spacing, most = (double)(PN_SLOPE_NODES - 1) - 1e-9;

    for (size_t j = 0; j < n; j++) {
        double place = (u[j] - first) * scale, t;
        const double *c;

        place = place > 0.0 ? place : 0.0;
        place = place < most ? place : most;
        c = nodes->cubic[(int)place];
        t = place - (double)(int)place;
        x[j] = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
        rate[j] = scale * (c[1] + t * (2.0 * c[2] + 3.0 * t * c[3]));
    }
}

/* The cubics from the nodes x and dx/d psi' times the spacing there. */
static void fill_cubics(pn_slope_nodes *nodes, const double *x, const double *rise)
{
    for (size_t k = 0; k + 1 < PN_SLOPE_NODES; k++) {
        double across = x[k + 1] - x[k], a = rise[k] - across, b = across - rise[k + 1];

        nodes->cubic[k][0] = x[k];
        nodes->cubic[k][1] = rise[k];
        nodes->cubic[k][2] = b - 2.0 * a;
        nodes->cubic[k][3] = a - b;
    }
}

/* at[]: the places of those that have not arrived. */
static size_t list_late(const double *beyond, size_t n, size_t *at)
{
    size_t count = 0;

    for (size_t j = 0; j < n; j++) {
        at[count] = j;
        count += !(beyond[j] <= 0.0);
    }
    return count;
}

static bool is_beyond(const pn_slope *of, double u, double x)
{
    return (x == of->domain.low && u <= of->at_low) || (x == of->domain.high && u >= of->at_high);
}

/* Those that have not arrived after two steps from x, or three where that is for many. */
static size_t first_steps(const pn_slope *of, const double *u, size_t n, double *x, double *curvature, search *left)
{
    double slope[PIECE], beyond[PIECE];
    size_t late[PIECE], count = n, kept = 0;

    for (int k = 0; k < 2 || (k == 2 && count > n / 16); k++) {
        derivatives(of, n, x, slope, curvature);
        pn_simd_best()->newton(n, of->domain.low, of->domain.high, ARRIVED, u, slope, curvature, x, beyond);
        count = k > 0 ? list_late(beyond, n, late) : n;
    }
    for (size_t k = 0; k < count; k++) {
        size_t j = late[k];

        if (!is_beyond(of, u[j], x[j]))
            left[kept++] = begin(of, u[j], x[j], j);
    }
    return kept;
}

/* What rounding leaves of the way to an end. */
static void hold_at_ends(pn_interval domain, size_t n, double *x, double *curvature)
{
    double low = domain.low + 1e-15 * fabs(domain.low), high = domain.high - 1e-15 * fabs(domain.high);

    low = isfinite(domain.low) ? low : domain.low;
    high = isfinite(domain.high) ? high : domain.high;
    for (size_t j = 0; j < n; j++) {
        if (x[j] > low && x[j] < high)
            continue;
        x[j] = x[j] <= low ? domain.low : domain.high;
        curvature[j] = INFINITY;
    }
}

void pn_slope_invert(const pn_slope *of, const pn_slope_nodes *nodes, const double *u, size_t n, double *x,
                     double *curvature)
{
    search left[PIECE];
    size_t count = n;

    if (nodes->spacing > 0.0) {
        pn_slope_guess(nodes, u, n, x, curvature); /* which is not asked for */
        count = first_steps(of, u, n, x, curvature, left);
    } else {
        for (size_t j = 0; j < n; j++)
            left[j] = begin(of, u[j], NAN, j);
    }
    finish(of, left, count, x, curvature);
    hold_at_ends(of->domain, n, x, curvature);
}

void pn_slope_nodes_fill(pn_slope_nodes *nodes, const pn_slope *of, double low, double high, size_t n)
{
    double u[PN_SLOPE_NODES], x[PN_SLOPE_NODES], rise[PN_SLOPE_NODES];

    nodes->spacing = 0.0;
    low = clip(low, of->at_low, of->at_high);
    high = clip(high, of->at_low, of->at_high);
    if (n < FEW || !(high > low) || !isfinite(high - low))
        return;
    for (size_t k = 0; k < PN_SLOPE_NODES; k++)
        u[k] = low + (high - low) * ((double)k / (double)(PN_SLOPE_NODES - 1));
    pn_slope_invert(of, nodes, u, PN_SLOPE_NODES, x, rise);
    nodes->first = low;
    nodes->spacing = (high - low) / (double)(PN_SLOPE_NODES - 1);
    for (size_t k = 0; k < PN_SLOPE_NODES; k++)
        rise[k] = isfinite(rise[k]) ? nodes->spacing / rise[k] : 0.0;
    fill_cubics(nodes, x, rise);
}
