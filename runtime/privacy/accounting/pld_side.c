/* pld_side.c -- tilting, windows, and what a composed law says about delta.
 * Depends on: pld_side.h, numeric/root.h.  Used by: pld.c.  Spec: accounting.md section 5.
 *
 * With t the tilt and M the product of moment generating functions, delta(eps) = M exp(-t eps) E~[g(L)] for the payoff
 * g(l) = exp(-t (l - eps)) - exp(-(t+1) (l - eps)) on l > eps, which is at most 1. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/root.h"
#include "privacy/accounting/pld_side.h"

void pn_side_init(pn_side *out, pn_law *laws, size_t n, bool upper)
{
    double finite = 0.0;

    *out = (pn_side){ .laws = laws, .n = n, .upper = upper };
    for (size_t r = 0; r < n; r++) {
        if (!laws[r].p)
            continue;
        out->h = laws[r].h;
        out->offset += laws[r].count * laws[r].offset;
        finite += laws[r].count * log1p(-laws[r].infinite);
    }
    out->infinite = -expm1(finite);
}

void pn_side_clear(pn_side *side)
{
    pn_free(side->re);
    pn_free(side->im);
    pn_free(side->decayed);
    pn_free(side->decayed_more);
    side->re = side->im = side->decayed = side->decayed_more = NULL;
}

double pn_side_log_mgf(const pn_side *side, double s)
{
    double sum = 0.0;

    for (size_t r = 0; r < side->n; r++)
        if (side->laws[r].p)
            sum += side->laws[r].count * pn_law_log_mgf(&side->laws[r], s);
    return sum;
}

/* ---- tilt ---- */

typedef struct tilt_search {
    const pn_side *side;
    double log_delta, epsilon;
} tilt_search;

/* The conversion of Canonne, Kamath, Steinke at order 1 + s. */
static double epsilon_at(void *self, double log_s)
{
    const tilt_search *search = self;
    double s = exp(log_s), value = pn_side_log_mgf(search->side, s);

    value = (value - search->log_delta - log1p(s)) / s - log1p(1.0 / s);
    return isnan(value) ? INFINITY : value;
}

static double log_delta_at(void *self, double log_s)
{
    const tilt_search *search = self;
    double s = exp(log_s), value = pn_side_log_mgf(search->side, s);

    value = value - s * search->epsilon - log(s) - (1.0 + s) * log1p(1.0 / s);
    return isnan(value) ? INFINITY : value;
}

/* Tilts below this say no more: the payoff is flat over the whole window. */
static double least_tilt(const pn_side *side)
{
    double span = 0.0;

    for (size_t r = 0; r < side->n; r++)
        span = fmax(span, (double)side->laws[r].n * side->laws[r].h);
    return log(1e-3 / span);
}

/* ... and above this one it falls faster than the lattice can show. */
static double greatest_tilt(const pn_side *side)
{
    return log(20.0 / side->h);
}

double pn_side_tilt_for_delta(const pn_side *side, double delta, double *epsilon)
{
    tilt_search search = { side, log(delta), 0.0 };
    double at = pn_golden_min(epsilon_at, &search, least_tilt(side), greatest_tilt(side), 0.02);

    *epsilon = epsilon_at(&search, at);
    return exp(at);
}

double pn_side_tilt_for_epsilon(const pn_side *side, double epsilon)
{
    tilt_search search = { side, 0.0, epsilon };

    return exp(pn_golden_min(log_delta_at, &search, least_tilt(side), greatest_tilt(side), 0.02));
}

static void add_moments(pn_side *side, const pn_law *law)
{
    double mass = 0.0, mean = 0.0, square = 0.0, centre;

    for (size_t j = 0; j < law->n; j++) {
        mass += law->tilted[j];
        mean += law->tilted[j] * (double)j;
    }
    centre = mean / mass;
    for (size_t j = 0; j < law->n; j++)
        square += law->tilted[j] * ((double)j - centre) * ((double)j - centre);
    side->mean += law->count * (law->offset + ((double)law->first + centre) * law->h);
    side->deviation += law->count * square / mass * law->h * law->h;
}

/* Chernoff: P~(L > b) <= exp(K(t+s) - K(t) - s b), at a few s around the one that is best for a normal law. */
static void find_ends(pn_side *side)
{
    static const double factor[] = { 0.125, 0.25, 0.5, 1.0, 2.0 };

    side->lowest = -INFINITY;
    side->highest = INFINITY;
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
        double s = factor[i] * sqrt(2.0 * PN_SIDE_TAIL) / fmax(side->deviation, 1e-3 * side->h);
        double up = pn_side_log_mgf(side, side->tilt + s) - side->log_scale + PN_SIDE_TAIL;
        double down = pn_side_log_mgf(side, side->tilt - s) - side->log_scale + PN_SIDE_TAIL;

        side->highest = fmin(side->highest, isnan(up) ? INFINITY : up / s);
        side->lowest = fmax(side->lowest, isnan(down) ? -INFINITY : -down / s);
    }
}

void pn_side_tilt(pn_side *side, double tilt)
{
    side->tilt = tilt;
    side->log_scale = side->mean = side->deviation = 0.0;
    for (size_t r = 0; r < side->n; r++) {
        pn_law *law = &side->laws[r];

        if (!law->p)
            continue;
        pn_law_tilt(law, tilt);
        side->log_scale += law->count * law->log_mgf;
        add_moments(side, law);
    }
    side->deviation = sqrt(side->deviation);
    find_ends(side);
}

void pn_side_place(pn_side *side, double low, size_t size)
{
    side->first = (int64_t)floor((low - side->offset) / side->h);
    side->size = size;
}

/* ---- delta ---- */

/* sum_{m<count} exp(-(a + i w) m), turn = w count up to whole turns; w = 0 with a = 0 is count. */
static void geometric(double a, double w, double turn, double count, double *re, double *im)
{
    double shrink = exp(-a), half = sin(w / 2.0), end = exp(-a * count), half_turn = sin(turn / 2.0);
    double dre = -expm1(-a) + 2.0 * shrink * half * half, dim = shrink * sin(w);
    double nre = -expm1(-a * count) + 2.0 * end * half_turn * half_turn, nim = end * sin(turn);
    double norm = dre * dre + dim * dim;

    *re = norm > 0.0 ? (nre * dre + nim * dim) / norm : count;
    *im = norm > 0.0 ? (nim * dre - nre * dim) / norm : 0.0;
}

/* The two discounted sums from `start` on, by Parseval: every coefficient meets a geometric sum. */
static void sums_by_band(const pn_side *side, size_t start, double *decayed, double *decayed_more)
{
    double n = (double)side->size, count = (double)(side->size - start), step = PN_TURN / n;
    int64_t from = side->first + (int64_t)start, wrap = (int64_t)side->size;
    double plain = 0.0, more = 0.0;

    from = (from % wrap + wrap) % wrap;
    for (size_t k = 0; k < side->frequencies; k++) {
        double w = step * (double)k, turn = step * (double)((int64_t)k * from % wrap), weight = k ? 2.0 : 1.0;
        double last = step * (double)((int64_t)k * (wrap - (int64_t)start) % wrap);
        double re = side->re[k] * cos(turn) + side->im[k] * sin(turn);
        double im = side->im[k] * cos(turn) - side->re[k] * sin(turn), gre, gim;

        geometric(side->tilt * side->h, w, last, count, &gre, &gim);
        plain += weight * (re * gre - im * gim);
        geometric((side->tilt + 1.0) * side->h, w, last, count, &gre, &gim);
        more += weight * (re * gre - im * gim);
    }
    *decayed = plain / n;
    *decayed_more = more / n;
}

/* What the numbers may be off by: the payoff is at most 1, falls like exp(-t d),
 * and its sum is that of the first form. */
static double allowance(const pn_side *side, size_t start, double epsilon)
{
    double count = (double)(side->size - start), sum, unused;
    double top = side->offset + (double)(side->first + (int64_t)side->size) * side->h;
    double beyond = exp(-PN_SIDE_TAIL);

    geometric(side->tilt * side->h, 0.0, 0.0, count, &sum, &unused);
    beyond *= side->upper ? exp(-side->tilt * fmax(0.0, top - epsilon)) : 2.0;
    return beyond + side->error_mean * sum + side->error_norm * sqrt(sum);
}

double pn_side_delta(const pn_side *side, double epsilon)
{
    double at = ceil((epsilon - side->offset) / side->h) - (double)side->first, distance, plain, more, value, scale;
    size_t start = at <= 0.0 ? 0 : (at >= (double)side->size ? side->size : (size_t)at);

    distance = side->offset + ((double)side->first + (double)start) * side->h - epsilon;
    if (side->decayed) {
        plain = side->decayed[start];
        more = side->decayed_more[start];
    } else {
        sums_by_band(side, start, &plain, &more);
    }
    value = exp(-side->tilt * distance) * plain - exp(-(side->tilt + 1.0) * distance) * more;
    value += (side->upper ? 1.0 : -1.0) * allowance(side, start, epsilon);
    scale = side->log_scale - side->tilt * epsilon;
    if (isnan(value) || isnan(scale))
        return side->upper ? 1.0 : 0.0;
    if (value <= 0.0)
        return side->infinite;
    return fmin(1.0, side->infinite + exp(fmin(scale + log(value), 1.0)));
}
