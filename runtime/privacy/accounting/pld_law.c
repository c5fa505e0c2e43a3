/* pld_law.c -- from the masses of cells to laws of finitely many losses above and below the record's.
 * Depends on: pld_law.h, numeric/blas.h, numeric/simd/simd.h.  Used by: pld.c.
 *
 * Above: the masses P and Q of a cell are split between its two ends so that both stay; the hockey stick is then the
 * chord between the knots, and hockey sticks are convex (connect the dots; Doroshenko et al. 2022).  What is below the
 * first knot goes there, what is above the last counts with as much loss as its Q-mass allows, the rest as infinite.
 * Below: a cell is one outcome, of the loss ln(P/Q): who reports the cell alone has processed the output, which no
 * hockey stick grows by.  Total masses need not be 1: if H <= H' for all x then compositions are ordered too, whatever
 * non-negative measures these belong to, and a mass may be moved to a lower loss or dropped from the second law.
 *
 * Rounding.  With tails off by a relative u, the hockey stick of either law is, at a knot, P(L > l)(1+u') - x Q(L > l)
 * (1-u'), which is that of the record at x (1 -+ 2u), times 1 +- u; the law above is linear between knots, and the one
 * below has its maximum over sets of outcomes at a knot, since losses rise from cell to cell (pld_cells.c merges those
 * that do not).  pld.c charges both. */
#include <math.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"
#include "privacy/accounting/pld_law.h"

/* The cells as seen from the law under construction. */
typedef struct view {
    const pn_cells *cells;
    bool mirrored;
    double p_below, q_below, p_above, q_above;
    double p_infinite, q_infinite;
} view;

static view view_of(const pn_cells *c, bool mirrored)
{
    if (!mirrored)
        return (view){ c, false, c->p_below, c->q_below, c->p_above, c->q_above, c->p_infinite, c->q_infinite };
    return (view){ c, true, c->q_above, c->p_above, c->q_below, c->p_below, c->q_infinite, c->p_infinite };
}

static double knot(const view *v, size_t j)
{
    return v->mirrored ? -v->cells->loss[v->cells->n - 1 - j] : v->cells->loss[j];
}

static void cell(const view *v, size_t j, double *p, double *q)
{
    size_t at = v->mirrored ? v->cells->n - 2 - j : j;

    *p = v->mirrored ? v->cells->q[at] : v->cells->p[at];
    *q = v->mirrored ? v->cells->p[at] : v->cells->q[at];
}

static void put(pn_law *law, double loss, double mass)
{
    if (!(mass > 0.0))
        return;
    law->loss[law->n] = loss;
    law->p[law->n++] = mass;
}

/* The part of p that goes to the left end. */
static double left_part(double p, double q, double l, double r)
{
    double h = r - l, loss = log(p / q), a;

    a = h > 500.0 ? exp(l - loss) : expm1(r - loss) / expm1(h);
    return a > 0.0 ? p * fmin(a, 1.0) : 0.0; /* 0 for NaN, of q = 0 */
}

static void upper_masses(pn_law *law, const view *v)
{
    size_t knots = v->cells->n;
    double waiting = v->p_below, last = knot(v, knots - 1), at_top = fmin(v->p_above, v->q_above * exp(last));

    for (size_t j = 0; j + 1 < knots; j++) {
        double p, q, l = knot(v, j), left;

        cell(v, j, &p, &q);
        left = p > 0.0 ? left_part(p, q, l, knot(v, j + 1)) : 0.0;
        put(law, l, waiting + left);
        waiting = p - left;
    }
    put(law, last, waiting + at_top);
    law->infinite = v->p_above - at_top <= 0x1p-48 * v->p_above ? 0.0 : v->p_above - at_top;
}

static void lower_masses(pn_law *law, const view *v)
{
    size_t knots = v->cells->n;
    double finite = v->q_below - v->q_infinite, below = finite > 0x1p-30 * v->q_below ? finite : v->q_below;

    if (below > 0.0 && v->p_below > 0.0)
        put(law, fmin(knot(v, 0), log(v->p_below / below)), v->p_below);
    for (size_t j = 0; j + 1 < knots; j++) {
        double p, q, l = knot(v, j), r = knot(v, j + 1);

        cell(v, j, &p, &q);
        put(law, q > 0.0 ? fmin(r, log(p / q)) : l, p);
    }
    put(law, knot(v, knots - 1), v->p_above - v->p_infinite);
    law->infinite = v->p_infinite;
}

pn_status pn_law_new(pn_law *out, const pn_cells *cells, bool upper, bool mirrored, double count, pn_err *err)
{
    view v = view_of(cells, mirrored);
    size_t room = cells->n + 1;

    *out = (pn_law){ .count = count };
    PN_TRY(pn_new(&out->loss, 4 * room, err, "accountant.pld: out of memory for %zu points", room));
    out->p = out->loss + room;
    out->log_p = out->p + room;
    out->tilted = out->log_p + room;
    if (upper)
        upper_masses(out, &v);
    else
        lower_masses(out, &v);
    pn_simd_best()->log(out->n, out->p, out->log_p);
    return PN_OK;
}

void pn_law_clear(pn_law *law)
{
    pn_free(law->loss);
    *law = (pn_law){ 0 };
}

/* ---- moment generating function ---- */

size_t pn_law_until(const pn_law *law, double loss)
{
    size_t low = 0, high = law->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (law->loss[middle] <= loss)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double pn_law_log_mgf(const pn_law *law, double s, size_t from, size_t to)
{
    double top = -INFINITY;

    for (size_t j = from; j < to; j++) {
        double x = law->log_p[j] + s * law->loss[j];

        law->tilted[j] = x;
        top = x > top ? x : top;
    }
    if (isinf(top))
        return top;
    for (size_t j = from; j < to; j++)
        law->tilted[j] -= top;
    pn_simd_best()->exp(to - from, law->tilted + from, law->tilted + from);
    return top + log(pn_sum(to - from, law->tilted + from));
}

void pn_law_tilt(pn_law *law, double s, double log_scale, size_t to)
{
    for (size_t j = 0; j < to; j++)
        law->tilted[j] = fmin(s * law->loss[j] - log_scale, 700.0);
    pn_simd_best()->exp(to, law->tilted, law->tilted);
    for (size_t j = 0; j < to; j++)
        law->tilted[j] *= law->p[j];
}
