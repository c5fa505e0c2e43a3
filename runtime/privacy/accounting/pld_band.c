/* pld_band.c -- composition by the low frequencies alone.
 * Depends on: pld_side.h, numeric/blas.h, numeric/simd/simd.h.  Used by: pld.c.
 *
 * A law composed many times is smooth: with phi the coefficient of one record, |phi|^count is negligible but at a few
 * low frequencies, which cost sums over the law instead of a transform.  That the others are negligible is shown, not
 * assumed.  For all angles w in [cut, pi] of one record that carries most of the variance:
 *   |phi(w)|^2 <= 1 - w^2 v + w^4 u         v, u from moments over a set: 1 - cos x >= x^2/2 - x^4/24,
 *       and >= 0 elsewhere
 *   |phi(w')|  <= |phi(w)| + |w' - w| E|J|  between the two others
 *   |phi(w)|   <= atoms + variation / (2 sin(w/2))         by summation by parts */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"
#include "privacy/accounting/pld_side.h"

enum { RINGS = 10, COLUMNS = 64, STEPS = 300 };

typedef struct shape {
    const pn_law *law;
    double limit; /* |phi| has to stay below this */
    double centre, deviation, absolute;
    double atoms, variation;
    double power[RINGS][5]; /* moments of j - centre over |j - centre| <= radius[i] deviations */
} shape;

static const double radius[RINGS] = { 1.5, 2.5, 4.0, 6.0, 10.0, 20.0, 50.0, 150.0, 1000.0, INFINITY };

/* ---- moments and variation ---- */

static void find_centre(shape *s)
{
    const double *p = s->law->tilted;
    double mass = 0.0, mean = 0.0, square = 0.0;

    for (size_t j = 0; j < s->law->n; j++) {
        mass += p[j];
        mean += p[j] * (double)j;
    }
    s->centre = mean / mass;
    for (size_t j = 0; j < s->law->n; j++) {
        double d = (double)j - s->centre;

        square += p[j] * d * d;
        s->absolute += p[j] * fabs(d);
    }
    s->deviation = sqrt(square / mass);
}

static void find_moments(shape *s)
{
    const double *p = s->law->tilted;

    for (size_t j = 0; j < s->law->n; j++) {
        double d = (double)j - s->centre, power = p[j];
        size_t ring = 0;

        while (ring + 1 < RINGS && fabs(d) > radius[ring] * s->deviation)
            ring++;
        for (size_t k = 0; k < 5; k++, power *= d)
            s->power[ring][k] += power;
    }
    for (size_t ring = 1; ring < RINGS; ring++)
        for (size_t k = 0; k < 5; k++)
            s->power[ring][k] += s->power[ring - 1][k];
}

/* What sticks out above both neighbours counts as an atom. */
static void find_variation(shape *s)
{
    const double *p = s->law->tilted;
    size_t n = s->law->n;
    double last = 0.0;

    for (size_t j = 0; j < n; j++) {
        double left = j ? p[j - 1] : 0.0, right = j + 1 < n ? p[j + 1] : 0.0;
        double rest = fmin(p[j], fmax(left, right));

        s->atoms += p[j] - rest;
        s->variation += fabs(rest - last);
        last = rest;
    }
    s->variation += last;
}

static double modulus(const shape *s, double w)
{
    double cosine[PN_LAW_BLOCK], sine[PN_LAW_BLOCK], re = 0.0, im = 0.0;

    for (size_t i = 0; i < PN_LAW_BLOCK; i++)
        cosine[i] = w * (double)i;
    pn_simd_best()->sin(PN_LAW_BLOCK, cosine, sine);
    pn_simd_best()->cos(PN_LAW_BLOCK, cosine, cosine);
    for (size_t j = 0; j < s->law->padded; j += PN_LAW_BLOCK) {
        double a = pn_dot(PN_LAW_BLOCK, s->law->tilted + j, cosine);
        double b = pn_dot(PN_LAW_BLOCK, s->law->tilted + j, sine), c = cos(w * (double)j), d = sin(w * (double)j);

        re += a * c - b * d;
        im += a * d + b * c;
    }
    return hypot(re, im);
}

/* ---- the cut ---- */

/* The interval of w^2 on which the moments over ring i are enough; false when there is none. */
static bool moment_interval(const shape *s, size_t i, double *from, double *to)
{
    const double *m = s->power[i];
    double v = m[0] * m[2] - m[1] * m[1], u = (m[0] * m[4] - 4.0 * m[1] * m[3] + 3.0 * m[2] * m[2]) / 12.0;
    double need = 1.0 - s->limit * s->limit, root = v * v - 4.0 * u * need;

    if (!(v > 0.0 && u > 0.0 && root > 0.0))
        return false;
    root = sqrt(root);
    *from = 2.0 * need / (v + root) * (1.0 + 1e-9);
    *to = (v + root) / (2.0 * u) * (1.0 - 1e-9);
    return *from < *to;
}

static bool moment_range(const shape *s, double *from, double *to)
{
    double a, b;
    bool more = true;

    *from = INFINITY;
    *to = 0.0;
    for (size_t i = 0; i < RINGS; i++) {
        if (moment_interval(s, i, &a, &b) && a < *from) {
            *from = a;
            *to = b;
        }
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < RINGS; i++) {
            if (moment_interval(s, i, &a, &b) && a <= *to && b > *to) {
                *to = b;
                more = true;
            }
        }
    }
    *from = sqrt(*from);
    *to = sqrt(*to);
    return isfinite(*from);
}

/* The angle from which on |phi| <= limit, or +inf when that could not be shown. */
static double find_cut(shape *s)
{
    double from, to, room = s->limit - s->atoms, end;

    if (!(room > 0.0) || s->variation / (2.0 * room) >= 1.0 || !moment_range(s, &from, &to))
        return INFINITY;
    end = 2.0 * asin(s->variation / (2.0 * room)) * (1.0 + 1e-9);
    for (int i = 0; i < STEPS && to < end; i++) {
        double step = (s->limit - modulus(s, to)) / s->absolute;

        if (!(step > 0.01 * to))
            return INFINITY;
        to += step;
    }
    return to >= end ? fmin(from, end) : INFINITY;
}

/* The record with the largest share of the variance. */
static const pn_law *carrier(const pn_side *side)
{
    const pn_law *best = NULL;
    double most = -1.0;

    if (side->n == 1)
        return side->laws;
    for (size_t r = 0; r < side->n; r++) {
        shape s = { .law = &side->laws[r] };
        double share;

        if (!s.law->p)
            continue;
        find_centre(&s);
        share = s.deviation * s.deviation * s.law->count;
        if (share > most) {
            most = share;
            best = s.law;
        }
    }
    return best;
}

/* Frequencies to keep; 0 when it cannot be said.  *loss is ln of what a dropped one is at most. */
static size_t kept(const pn_side *side, double *loss)
{
    shape s = { .law = carrier(side) };
    double cut;

    *loss = PN_SIDE_TAIL + 4.0 + log(1.0 + 1.0 / (side->tilt * side->h + 1.0 / (double)side->size));
    s.limit = exp(-*loss / s.law->count) - 1e-12; /* what |phi| and the total mass are rounded by */
    find_centre(&s);
    find_moments(&s);
    find_variation(&s);
    cut = find_cut(&s) * (double)side->size / (PN_TURN);
    return cut < 0.4 * (double)side->size ? (size_t)cut + 2 : 0;
}

/* ---- the sums ---- */

typedef struct table {
    double *wave; /* [2 columns x 256]: cos of 2 pi k i/size for every k, and then sin */
    double sums[2 * COLUMNS], re[COLUMNS], im[COLUMNS], log_size[COLUMNS], log_error[COLUMNS];
    size_t from, columns, size;
} table;

static void fill_wave(table *t)
{
    const pn_simd *simd = pn_simd_best();
    double step = PN_TURN / (double)t->size;

    for (size_t k = 0; k < t->columns; k++) {
        double *row = t->wave + k * PN_LAW_BLOCK, *sine = row + t->columns * PN_LAW_BLOCK;

        for (size_t i = 0; i < PN_LAW_BLOCK; i++)
            row[i] = step * (double)((t->from + k) * i % t->size);
        simd->sin(PN_LAW_BLOCK, row, sine);
        simd->cos(PN_LAW_BLOCK, row, row);
    }
}

/* exp(i 2 pi k (first + 256 a)/size) by exact arithmetic on the index. */
static void add_block(table *t, const pn_law *law, size_t a)
{
    double step = PN_TURN / (double)t->size;
    int64_t size = (int64_t)t->size, at = (law->first + (int64_t)(a * PN_LAW_BLOCK)) % size;

    pn_simd_best()->dense_times(t->wave, 2 * t->columns, PN_LAW_BLOCK, law->tilted + a * PN_LAW_BLOCK, t->sums);
    for (size_t k = 0; k < t->columns; k++) {
        double angle = step * (double)((int64_t)(t->from + k) * at % size), c = cos(angle), s = sin(angle);

        t->re[k] += c * t->sums[k] - s * t->sums[t->columns + k];
        t->im[k] += s * t->sums[k] + c * t->sums[t->columns + k];
    }
}

static void add_record(table *t, pn_side *side, const pn_law *law)
{
    size_t blocks = law->padded / PN_LAW_BLOCK;
    double error = 0x1p-53 * (2.0 * PN_LAW_BLOCK + (double)blocks + 16.0);

    memset(t->re, 0, sizeof t->re);
    memset(t->im, 0, sizeof t->im);
    for (size_t a = 0; a < blocks; a++)
        add_block(t, law, a);
    for (size_t k = 0; k < t->columns; k++) {
        double modulus_k = hypot(t->re[k], t->im[k]);

        t->log_size[k] += law->count * log(modulus_k + 1e-300);
        t->log_error[k] += law->count * log(modulus_k + error + 1e-300);
    }
    pn_side_multiply_power(side->re + t->from, side->im + t->from, t->re, t->im, t->columns, law->count);
}

/* |prod phi^count| may be off by what every |phi| being larger by its error would make of it. */
static void add_errors(const table *t, pn_side *side)
{
    for (size_t k = 0; k < t->columns && t->from + k < side->frequencies; k++) {
        double weight = (t->from + k ? 2.0 : 1.0) / (double)side->size, size = exp(fmin(t->log_size[k], 1.0));
        double error = size * expm1(fmin(t->log_error[k] - t->log_size[k], 600.0));

        side->error_mean += weight * (error + 0x1p-44 * size);
    }
}

static void add_columns(table *t, pn_side *side)
{
    for (size_t k = 0; k < t->columns; k++) {
        side->re[t->from + k] = 1.0;
        side->im[t->from + k] = 0.0;
        t->log_size[k] = t->log_error[k] = 0.0;
    }
    for (size_t r = 0; r < side->n; r++)
        if (side->laws[r].p)
            add_record(t, side, &side->laws[r]);
    add_errors(t, side);
}

static pn_status sum_all(pn_side *sides, size_t n, size_t frequencies, pn_err *err)
{
    table t = { .size = sides[0].size };
    bool enough;

    t.wave = pn_alloc((size_t)2 * PN_LAW_BLOCK * COLUMNS, sizeof *t.wave);
    enough = t.wave != NULL;
    for (size_t part = 0; part < n; part++) {
        sides[part].re = pn_alloc(frequencies, sizeof *sides[part].re);
        sides[part].im = pn_alloc(frequencies, sizeof *sides[part].im);
        enough = enough && sides[part].re && sides[part].im;
    }
    for (t.from = 0; enough && t.from < frequencies; t.from += t.columns) {
        t.columns = frequencies - t.from < COLUMNS ? frequencies - t.from : COLUMNS;
        fill_wave(&t);
        for (size_t part = 0; part < n; part++)
            add_columns(&t, &sides[part]);
    }
    pn_free(t.wave);
    return enough ? PN_OK : pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu frequencies", frequencies);
}

/* In seconds, about: 2 flops a product at 8 Gflop/s against a transform at 6 ns n log2 n. */
static bool worth_it(const pn_side *sides, size_t n, size_t frequencies)
{
    double products = 0.0, size = (double)sides[0].size;

    for (size_t part = 0; part < n; part++)
        for (size_t r = 0; r < sides[part].n; r++)
            products += (double)sides[part].laws[r].padded * 2.0 * (double)frequencies;
    return products * 0.25e-9 < 6e-9 * ((double)sides[0].n + 1.0) * size * log2(size);
}

pn_status pn_side_by_band(pn_side *sides, size_t n, bool *done, pn_err *err)
{
    size_t most = 0;
    pn_status status;

    *done = false;
    for (size_t part = 0; part < n; part++) {
        double loss;

        sides[part].frequencies = kept(&sides[part], &loss);
        if (sides[part].frequencies == 0)
            return PN_OK;
        sides[part].error_mean = exp(-loss);
        most = sides[part].frequencies > most ? sides[part].frequencies : most;
    }
    if (!worth_it(sides, n, most))
        return PN_OK;
    for (size_t part = 0; part < n; part++)
        sides[part].frequencies = most;
    status = sum_all(sides, n, most, err);
    *done = status == PN_OK;
    return status;
}
