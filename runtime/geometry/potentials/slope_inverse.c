/* slope_inverse.c -- psi'(x) = u for many u at once.  Two steps of Newton's method for all, from a cubic through nodes
 * where the inverse and its derivative are known; what has not arrived then goes on by itself, by Newton's steps inside
 * a bracket that every slope narrows.
 * Depends on: slope_inverse.h, numeric/root.h.  Used by: potential_separable.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "geometry/potentials/slope_inverse.h"
#include "numeric/root.h"

#define PIECE       PN_POTENTIAL_PIECE
#define MOST_ROUNDS 200
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

/* The next x; whether it is the last. */
static bool narrow(search *s, double slope, double curvature)
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
    if (!(next > s->low && next < s->high) || fabs(off) > 0.5 * shrunk)
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
            if (!narrow(s, slope[k], bend[k]) && round < MOST_ROUNDS)
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

/* The cubic of the nodes around u. */
static double guess_at(const pn_slope_nodes *nodes, double u)
{
    double place = clip((u - nodes->first) / nodes->spacing, 0.0, (double)(PN_SLOPE_NODES - 1)), t, a, b, across;
    size_t k = (size_t)place;

    k = k > PN_SLOPE_NODES - 2 ? PN_SLOPE_NODES - 2 : k;
    t = place - (double)k;
    across = nodes->x[k + 1] - nodes->x[k];
    a = nodes->rise[k] - across;
    b = across - nodes->rise[k + 1];
    return nodes->x[k] + t * (across + (1.0 - t) * (a * (1.0 - t) + b * t));
}

/* x <- x - (slope - u)/curvature within the domain; steps[n]: by how much.  How many steps were long. */
static size_t newton_step(const pn_slope *of, const double *u, size_t n, const double *slope, const double *curvature,
                          double *x, double *steps)
{
    size_t count = 0;

    for (size_t j = 0; j < n; j++) {
        double next = clip(x[j] - (slope[j] - u[j]) / curvature[j], of->domain.low, of->domain.high);

        steps[j] = fabs(next - x[j]);
        count += steps[j] > ARRIVED * fabs(next);
        x[j] = next;
    }
    return count;
}

static bool is_at_end(const pn_slope *of, double u, double x)
{
    return (x == of->domain.low && u <= of->at_low) || (x == of->domain.high && u >= of->at_high);
}

/* Which have not arrived after two steps from x, or three where that is for many. */
static size_t first_steps(const pn_slope *of, const double *u, size_t n, double *x, double *curvature, search *left)
{
    double slope[PIECE], steps[PIECE];
    size_t count = n;

    for (int k = 0; k < 2 || (k == 2 && count > n / 16); k++) {
        derivatives(of, n, x, slope, curvature);
        count = newton_step(of, u, n, slope, curvature, x, steps);
    }
    count = 0;
    for (size_t j = 0; j < n; j++) {
        bool inside = x[j] > of->domain.low && x[j] < of->domain.high;

        if (!(inside && steps[j] <= ARRIVED * fabs(x[j])) && !is_at_end(of, u[j], x[j]))
            left[count++] = begin(of, u[j], x[j], j);
    }
    return count;
}

static void hold_at_ends(const pn_slope *of, size_t n, double *x, double *curvature)
{
    for (size_t j = 0; j < n; j++) {
        if (of->domain.high - x[j] <= 1e-15 * fabs(x[j]))
            x[j] = of->domain.high;
        if (x[j] - of->domain.low <= 1e-15 * fabs(x[j]))
            x[j] = of->domain.low;
        if (x[j] == of->domain.low || x[j] == of->domain.high)
            curvature[j] = INFINITY;
    }
}

void pn_slope_invert(const pn_slope *of, const pn_slope_nodes *nodes, const double *u, size_t n, double *x,
                     double *curvature)
{
    search left[PIECE];
    size_t count = n;

    if (nodes->spacing > 0.0) {
        for (size_t j = 0; j < n; j++)
            x[j] = guess_at(nodes, u[j]);
        count = first_steps(of, u, n, x, curvature, left);
    } else {
        for (size_t j = 0; j < n; j++)
            left[j] = begin(of, u[j], NAN, j);
    }
    finish(of, left, count, x, curvature);
    hold_at_ends(of, n, x, curvature);
}

void pn_slope_nodes_fill(pn_slope_nodes *nodes, const pn_slope *of, double low, double high, size_t n)
{
    double u[PN_SLOPE_NODES];

    nodes->spacing = 0.0;
    low = clip(low, of->at_low, of->at_high);
    high = clip(high, of->at_low, of->at_high);
    if (n < FEW || !(high > low) || !isfinite(high - low))
        return;
    for (size_t k = 0; k < PN_SLOPE_NODES; k++)
        u[k] = low + (high - low) * ((double)k / (double)(PN_SLOPE_NODES - 1));
    pn_slope_invert(of, nodes, u, PN_SLOPE_NODES, nodes->x, nodes->rise);
    nodes->first = low;
    nodes->spacing = (high - low) / (double)(PN_SLOPE_NODES - 1);
    for (size_t k = 0; k < PN_SLOPE_NODES; k++)
        nodes->rise[k] = isfinite(nodes->rise[k]) ? nodes->spacing / nodes->rise[k] : 0.0;
}
