/* pld_law.c -- from the tails of a pair to lattice laws above and below it.
 * Depends on: pld_law.h, numeric/root.h, numeric/simd/simd.h.  Used by: pld.c.  Spec: accounting.md section 5.
 *
 * In terms of the hockey stick H(x), convex, with knots x_j = exp(l_j): the upper law's is the chord through H(x_j)
 * (connect the dots; Doroshenko et al. 2022).  The lower law's is that chord with every knot lowered by c_j, where c_j
 * is at least the gap between chord and H in the two cells beside it; a cell with masses A and B at its ends has a gap
 * of at most A B (e^h - 1) / (A e^h + B), by Jensen's inequality.  Both errors are of second order in h.  Where
 * lowering would leave a negative mass (the gaps change too quickly there), it starts as a ramp from x = 0 on the left,
 * and cells are rounded down to their left knots on the right.  Total masses
 * need not be 1: if H <= H' for all x then compositions are ordered too, whatever non-negative measures these belong
 * to.  A relative error of 2^-48 in the masses is the same as P and Q scaled by 1 +- 2^-48; pld.c charges that. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"
#include "privacy/accounting/pld_law.h"

#define MAX_KNOTS ((size_t)1 << 22)
#define MAX_LOSS  600.0
#define FARTHEST  0x1p52 /* steps from 0, which an integer and a double both count */
#define SMALL     1e-26  /* cells with less P-mass are rounded down without a look */

/* ---- cells ---- */

typedef struct tail_search {
    const pn_pair *pair;
    double tail;
} tail_search;

static bool reaches(void *self, double loss)
{
    const tail_search *search = self;
    pn_tails t;

    search->pair->tails(search->pair, loss, &t);
    return t.p_below > search->tail || t.q_below > search->tail;
}

static bool covers(void *self, double loss)
{
    const tail_search *search = self;
    pn_tails t;

    search->pair->tails(search->pair, loss, &t);
    return t.p_above <= search->tail + search->pair->p_infinite && t.q_above <= search->tail;
}

/* *knots from low on go into the cells; false where there are too many, or too far out for an integer to say where. */
static bool take_knots(pn_cells *out, double low, double knots)
{
    if (!(knots <= (double)MAX_KNOTS && fabs(low) / out->h <= FARTHEST))
        return false;
    out->first = (int64_t)floor(low / out->h);
    out->n = knots < 2.0 ? 2 : (size_t)knots;
    return true;
}

/* A lattice that has `low` and `high` on it when there is an atom and h divides their distance; multiples of h
 * otherwise.  False, and how many knots it would have, where they are too many. */
static bool place(pn_cells *out, const pn_pair *pair, double tail, double *knots)
{
    tail_search search = { pair, tail };
    double low = pn_bisect(reaches, &search, fmax(pair->low, -MAX_LOSS), fmin(pair->high, MAX_LOSS));
    double high = pn_bisect(covers, &search, low, fmin(pair->high, MAX_LOSS)), h = out->h;
    double span = (pair->high - pair->low) / h;

    out->offset = 0.0;
    if (pair->p_high > 0.0 && fabs(span - rint(span)) <= 4e-15 * span && pair->high < MAX_LOSS) {
        *knots = rint(span) + 1.0;
        if (!take_knots(out, pair->low, *knots))
            return false;
        out->offset = pair->low - (double)out->first * h;
        out->p_top = pair->p_high;
        return true;
    }
    *knots = ceil(high / h) - floor(low / h) + 1.0;
    return take_knots(out, low, *knots);
}

static double knot(const pn_cells *cells, size_t j)
{
    return cells->offset + (double)(cells->first + (int64_t)j) * cells->h;
}

/* The difference of the tails that are the smaller ones. */
static void fill(pn_cells *out, const pn_pair *pair)
{
    pn_tails left, right;

    /* the knots on atoms must not miss them by rounding */
    pair->tails(pair, out->p_top > 0.0 ? pair->low : knot(out, 0), &left);
    out->p_below = left.p_below;
    out->q_below = left.q_below;
    for (size_t j = 0; j + 1 < out->n; j++, left = right) {
        bool top = j + 2 == out->n && out->p_top > 0.0;

        pair->tails(pair, top ? pair->high : knot(out, j + 1), &right);
        out->p[j] = fmax(0.0, left.p_above < 0.5 ? left.p_above - right.p_above : right.p_below - left.p_below);
        out->q[j] = fmax(0.0, left.q_above < 0.5 ? left.q_above - right.q_above : right.q_below - left.q_below);
    }
    out->p_above = left.p_above;
    out->q_above = left.q_above;
    if (out->p_top > 0.0) {
        out->p[out->n - 2] = fmax(0.0, out->p[out->n - 2] - out->p_top);
        out->q[out->n - 2] = fmax(0.0, out->q[out->n - 2] - out->p_top * exp(-pair->high));
        if (pair->atoms_only)
            out->p[out->n - 2] = out->q[out->n - 2] = 0.0;
    }
}

pn_status pn_cells_new(pn_cells *out, const pn_pair *pair, double h, double tail, pn_err *err)
{
    double knots;

    *out = (pn_cells){ .h = h, .p_infinite = pair->p_infinite, .q_infinite = pair->q_infinite };
    if (!place(out, pair, tail, &knots))
        return pn_fail(err, PN_EUNSUPPORTED, "accountant.pld: a step of %g needs %.15g points, at most %zu are allowed",
                       h, knots, MAX_KNOTS);
    out->p = pn_calloc(out->n, sizeof *out->p);
    out->q = pn_calloc(out->n, sizeof *out->q);
    if (!out->p || !out->q) {
        pn_cells_clear(out);
        return pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu points", out->n);
    }
    fill(out, pair);
    return PN_OK;
}

void pn_cells_clear(pn_cells *cells)
{
    pn_free(cells->p);
    pn_free(cells->q);
    *cells = (pn_cells){ 0 };
}

/* ---- laws ---- */

/* The cells as seen from the law under construction. */
typedef struct view {
    const pn_cells *cells;
    bool mirrored;
    double p_below, q_below, p_above, q_above, p_top, loss_first, loss_last;
    double p_infinite, q_infinite;
} view;

static view view_of(const pn_cells *c, bool mirrored)
{
    double first = knot(c, 0), last = knot(c, c->n - 1);

    if (!mirrored)
        return (view){ c,        false, c->p_below, c->q_below,    c->p_above,   c->q_above,
                       c->p_top, first, last,       c->p_infinite, c->q_infinite };
    return (view){ .cells = c,
                   .mirrored = true,
                   .p_below = c->q_above + c->p_top * exp(-last),
                   .q_below = c->p_above + c->p_top,
                   .p_above = c->q_below,
                   .q_above = c->p_below,
                   .loss_first = -last,
                   .loss_last = -first,
                   .p_infinite = c->q_infinite,
                   .q_infinite = c->p_infinite };
}

/* Split cell j between its ends so that both masses stay: *left at l_j, the rest of the returned P-mass at l_{j+1}. */
static double split(const view *v, size_t j, double grow, double spread, double *left)
{
    size_t cell = v->mirrored ? v->cells->n - 2 - j : j;
    double p = v->mirrored ? v->cells->q[cell] : v->cells->p[cell];
    double q = v->mirrored ? v->cells->p[cell] : v->cells->q[cell];

    *left = (grow * q - p) / spread;
    *left = *left > 0.0 ? *left : 0.0;
    *left = *left < p ? *left : p;
    return p;
}

/* exp(loss at the right end of cell j), from an anchor every 16 cells. */
typedef struct growth {
    double base, h, value;
} growth;

static double grow_at(growth *g, size_t j, double step)
{
    if (j % 16 == 0)
        g->value = exp(g->base + (double)(j + 1) * g->h);
    else
        g->value *= step;
    return g->value;
}

static void upper_masses(pn_law *law, const view *v)
{
    double spread = expm1(law->h), step = exp(law->h), left;
    growth g = { v->loss_first, law->h, 0.0 };
    size_t n = law->n;
    double at_top = fmin(v->p_above, v->q_above * exp(v->loss_last));

    for (size_t j = 0; j + 1 < n; j++) {
        double p = split(v, j, grow_at(&g, j, step), spread, &left);

        law->p[j] += left;
        law->p[j + 1] += p - left;
    }
    law->p[0] += v->p_below;
    law->p[n - 1] += v->p_top;
    law->p[n - 1] += at_top;
    law->infinite = v->p_above - at_top <= 0x1p-48 * v->p_above ? 0.0 : v->p_above - at_top;
}

/* Masses at the ends of every cell, and the gaps; a cell that is rounded down has its whole P-mass at the left and no
 * gap. */
static void lower_parts(const pn_law *law, const view *v, double *a, double *b)
{
    double spread = expm1(law->h), step = exp(law->h);
    growth g = { v->loss_first, law->h, 0.0 };
    size_t cells = law->n - 1;

    for (size_t j = 0; j < cells; j++) {
        double p = split(v, j, grow_at(&g, j, step), spread, &a[j]);

        b[j] = p - a[j];
        if (p < SMALL || j + 1 == cells) {
            a[j] = p;
            b[j] = 0.0;
        }
    }
}

/* What is below the first knot counts when it is an atom on the knot, and is dropped otherwise (at most the tail). */
static double kept_below(const view *v)
{
    double on_knot = (v->q_below - v->q_infinite) * exp(v->loss_first);

    return fabs(v->p_below - on_knot) <= 0x1p-45 * v->p_below ? v->p_below : 0.0;
}

/* What is above the last knot may come down to it: the Q-mass there, with the P-mass that it has at that loss. */
static double kept_above(const view *v)
{
    return v->p_top + v->q_above * exp(v->loss_last);
}

/* The law under construction: what each knot has from the chords, and by how much it is lowered. */
typedef struct lowering {
    pn_law *law;
    const view *v;
    double *a, *b, *c; /* [n - 1], [n - 1], [n] */
    double step, spread;
    size_t ramp; /* left of this knot the lowering is linear in x, from 0 at x = 0 */
} lowering;

static double gap(const lowering *l, size_t cell)
{
    double a = l->a[cell], b = l->b[cell];

    return b > 0.0 ? (1.0 + 0x1p-30) * a * b * l->spread / (a * l->step + b) : 0.0;
}

static double needed(const lowering *l, size_t j)
{
    return fmax(j > 0 ? gap(l, j - 1) : 0.0, j + 1 < l->law->n ? gap(l, j) : 0.0);
}

/* The chords' mass minus the second difference of c. */
static double mass_at(const lowering *l, size_t j)
{
    size_t n = l->law->n;
    double mass = (j + 1 < n ? l->a[j] : kept_above(l->v)) + (j > 0 ? l->b[j - 1] : kept_below(l->v));
    double right = ((j + 1 < n ? l->c[j + 1] : 0.0) - l->c[j]) / l->spread;

    if (j < l->ramp)
        return mass;
    return mass - right + (j == l->ramp ? l->c[j] : (l->c[j] - l->c[j - 1]) * l->step / l->spread);
}

/* Where the mass grows faster than lowering allows, at the left edge of the loss: start it further right. */
static void find_ramp(lowering *l, size_t mode)
{
    double reach = l->c[0];

    for (size_t j = 0; j <= mode; j++)
        if (l->law->p[j] < 0.0)
            l->ramp = j + 1;
    for (size_t j = 1; j <= l->ramp; j++)
        reach = fmax(reach * l->step, l->c[j]);
    l->c[l->ramp] = reach;
    while (l->ramp + 2 < l->law->n && (mass_at(l, l->ramp) < 0.0 || mass_at(l, l->ramp + 1) < 0.0)) {
        l->ramp++;
        l->c[l->ramp] = reach = fmax(reach * l->step, l->c[l->ramp]);
    }
    for (size_t j = 0; j <= l->ramp + 1; j++)
        l->law->p[j] = mass_at(l, j);
}

/* Rounds the cell down to its left knot. */
static void round_down(lowering *l, size_t cell)
{
    l->a[cell] += l->b[cell];
    l->b[cell] = 0.0;
    l->c[cell] = needed(l, cell);
    l->c[cell + 1] = needed(l, cell + 1);
}

/* Right of the mode: round down the cells whose gaps take more from knot j than it has.  False when none is left. */
static bool mend(lowering *l, size_t j)
{
    size_t n = l->law->n, from = j < l->ramp + 4 ? l->ramp + 2 : j - 2;
    bool any = false;

    for (size_t cell = from; cell <= j + 1 && cell + 1 < n; cell++) {
        any = any || l->b[cell] > 0.0;
        round_down(l, cell);
    }
    for (size_t i = from - 1; i <= j + 3 && i < n; i++)
        l->law->p[i] = mass_at(l, i);
    return any;
}

static void round_all_down(lowering *l)
{
    l->ramp = 0;
    memset(l->c, 0, l->law->n * sizeof *l->c);
    for (size_t j = 0; j + 1 < l->law->n; j++) {
        l->a[j] += l->b[j];
        l->b[j] = 0.0;
    }
    for (size_t j = 0; j < l->law->n; j++)
        l->law->p[j] = mass_at(l, j);
}

static void lower_masses(lowering *l)
{
    size_t n = l->law->n, mode = 0;

    for (size_t j = 0; j < n; j++) {
        l->c[j] = needed(l, j);
        mode = l->c[j] > l->c[mode] ? j : mode;
    }
    for (size_t j = 0; j < n; j++)
        l->law->p[j] = mass_at(l, j);
    find_ramp(l, mode);
    for (size_t j = 0; j < n; j++) {
        if (l->law->p[j] >= 0.0)
            continue;
        if (!mend(l, j)) {
            round_all_down(l);
            return;
        }
        j = j > 4 ? j - 4 : 0; /* what was right before may not be any more */
    }
}

static pn_status lower_law(pn_law *law, const view *v, pn_err *err)
{
    lowering l = { .law = law, .v = v, .step = exp(law->h), .spread = expm1(law->h) };
    pn_status status = PN_OK;

    l.a = pn_alloc(law->n, sizeof *l.a);
    l.b = pn_alloc(law->n, sizeof *l.b);
    l.c = pn_alloc(law->n, sizeof *l.c);
    if (l.a && l.b && l.c) {
        lower_parts(law, v, l.a, l.b);
        lower_masses(&l);
    } else {
        status = pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu points", law->n);
    }
    pn_free(l.a);
    pn_free(l.b);
    pn_free(l.c);
    return status;
}

pn_status pn_law_new(pn_law *out, const pn_cells *cells, bool upper, bool mirrored, double count, pn_err *err)
{
    view v = view_of(cells, mirrored);
    pn_status status = PN_OK;

    *out = (pn_law){ .n = cells->n, .h = cells->h, .count = count };
    out->padded = (cells->n + PN_LAW_BLOCK - 1) / PN_LAW_BLOCK * PN_LAW_BLOCK;
    out->first = mirrored ? -(cells->first + (int64_t)cells->n - 1) : cells->first;
    out->offset = mirrored ? -cells->offset : cells->offset;
    out->p = pn_calloc(out->padded, sizeof *out->p);
    out->tilted = pn_calloc(out->padded, sizeof *out->tilted);
    if (!out->p || !out->tilted)
        status = pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu points", cells->n);
    else if (upper)
        upper_masses(out, &v);
    else
        status = lower_law(out, &v, err);
    if (!upper)
        out->infinite = v.p_infinite;
    if (status != PN_OK)
        pn_law_clear(out);
    return status;
}

void pn_law_clear(pn_law *law)
{
    pn_free(law->p);
    pn_free(law->tilted);
    *law = (pn_law){ 0 };
}

/* ---- moment generating function ---- */

static double loss_at(const pn_law *law, size_t j)
{
    return law->offset + (double)(law->first + (int64_t)j) * law->h;
}

/* Blocks share one table of exponentials; the blocks' sums are added in logarithms. */
double pn_law_log_mgf(const pn_law *law, double s)
{
    double table[PN_LAW_BLOCK], top = -INFINITY, sum = 0.0;
    size_t block = PN_LAW_BLOCK;

    if (!law->p)
        return 0.0;
    while (block > 1 && fabs(s) * law->h * (double)block > 500.0)
        block /= 2;
    for (size_t i = 0; i < block; i++)
        table[i] = exp(s * law->h * (double)i);
    for (size_t j = 0; j < law->padded; j += block) {
        double part = 0.0, more[4] = { 0.0, 0.0, 0.0, 0.0 }, at;

        for (size_t i = 0; i + 4 <= block; i += 4)
            for (size_t k = 0; k < 4; k++)
                more[k] += law->p[j + i + k] * table[i + k];
        for (size_t i = block / 4 * 4; i < block; i++)
            part += law->p[j + i] * table[i];
        part += (more[0] + more[1]) + (more[2] + more[3]);
        if (!(part > 0.0))
            continue;
        at = log(part) + s * loss_at(law, j);
        sum = at > top ? sum * exp(top - at) + 1.0 : sum + exp(at - top);
        top = fmax(top, at);
    }
    return top + log(sum);
}

void pn_law_tilt(pn_law *law, double s)
{
    const pn_simd *simd = pn_simd_best();

    if (!law->p)
        return;
    law->log_mgf = pn_law_log_mgf(law, s);
    for (size_t j = 0; j < law->n; j++)
        law->tilted[j] = fmin(s * loss_at(law, j) - law->log_mgf, 700.0);
    simd->exp(law->n, law->tilted, law->tilted);
    for (size_t j = 0; j < law->n; j++)
        law->tilted[j] = law->p[j] > 0.0 ? law->tilted[j] * law->p[j] : 0.0;
}
