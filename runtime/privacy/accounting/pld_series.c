/* pld_series.c -- Fourier coefficients of a part: sums over the atoms of its laws, and powers of them.
 * Depends on: pld_part.h, numeric/simd/simd.h.  Used by: pld_part.c.
 *
 * exp(i w_k loss_j) for k = from + 16 m + i is a product of one factor for i, tabulated, and one for m, which turns
 * with m; the sums over j are then products of a small matrix and a vector, which stay in the first-level cache.
 *
 * With a the sum over losses up to `from` and b that over the rest, the part's coefficient is prod (a + b)^count - prod
 * a^count = prod a^count expm1(sum count log1p(b/a)), which keeps the digits of b where b is rare.  It is a polynomial
 * in the a and b without negative coefficients: what it is off by is at most what it grows by when |a| and |b| grow by
 * their errors. */
#include <complex.h>
#include <math.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "numeric/simd/simd.h"
#include "privacy/accounting/pld_part.h"
#include "privacy/event/event_curve.h"

#ifndef CMPLX /* the C library defines it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

enum { ATOMS = 128, FINE = 16, REFRESH = 32 };

typedef struct block {
    double fine[2 * FINE * ATOMS];         /* cos, then sin, of i step loss_j */
    double turn_re[ATOMS], turn_im[ATOMS]; /* by FINE steps */
    double re[ATOMS], im[ATOMS];           /* mass_j exp(i w loss_j), w the first of FINE */
    const double *loss, *mass;
    size_t n;
} block;

static void waves(const double *loss, size_t n, double w, double *re, double *im)
{
    double angle[ATOMS];

    for (size_t j = 0; j < n; j++)
        angle[j] = w * loss[j];
    pn_simd_best()->cos(n, angle, re);
    pn_simd_best()->sin(n, angle, im);
}

static void place(block *b, double w)
{
    waves(b->loss, b->n, w, b->re, b->im);
    for (size_t j = 0; j < b->n; j++) {
        b->re[j] *= b->mass[j];
        b->im[j] *= b->mass[j];
    }
}

static void turn(block *b)
{
    for (size_t j = 0; j < b->n; j++) {
        double x = b->re[j] * b->turn_re[j] - b->im[j] * b->turn_im[j];

        b->im[j] = b->re[j] * b->turn_im[j] + b->im[j] * b->turn_re[j];
        b->re[j] = x;
    }
}

static void add_block(block *b, double step, size_t from, size_t to, double *re, double *im)
{
    const pn_simd *simd = pn_simd_best();
    double x[2 * FINE], y[2 * FINE];

    for (size_t i = 0; i < FINE; i++)
        waves(b->loss, b->n, step * (double)i, b->fine + i * b->n, b->fine + (FINE + i) * b->n);
    waves(b->loss, b->n, step * FINE, b->turn_re, b->turn_im);
    for (size_t k = from, m = 0; k < to; k += FINE, m++) {
        if (m % REFRESH == 0)
            place(b, step * (double)k);
        else
            turn(b);
        simd->dense_times(b->fine, 2 * FINE, b->n, b->re, x);
        simd->dense_times(b->fine, 2 * FINE, b->n, b->im, y);
        for (size_t i = 0; i < FINE && k + i < to; i++) {
            re[k + i - from] += x[i] - y[FINE + i];
            im[k + i - from] += y[i] + x[FINE + i];
        }
    }
}

/* A sum over atoms, for every frequency. */
typedef struct sum {
    double *re, *im;    /* [count] */
    double mass, reach; /* at frequency 0, and with |loss| */
    size_t atoms;
} sum;

static void add_atoms(sum *s, const pn_law *law, size_t first, size_t last, block *b, double step, size_t from,
                      size_t to)
{
    s->mass = s->reach = 0.0;
    s->atoms = last - first;
    for (size_t k = 0; k < to - from; k++)
        s->re[k] = s->im[k] = 0.0;
    for (size_t j = first; j < last; j += ATOMS) {
        b->loss = law->loss + j;
        b->mass = law->tilted + j;
        b->n = last - j < ATOMS ? last - j : ATOMS;
        add_block(b, step, from, to, s->re, s->im);
        for (size_t i = 0; i < b->n; i++) {
            s->mass += b->mass[i];
            s->reach += b->mass[i] * fabs(b->loss[i]);
        }
    }
}

/* What a sum is off by: products and additions, turns, and angles. */
static double error_of(const sum *s, double w)
{
    return s->mass * 0x1p-53 * (ATOMS + (double)(s->atoms / ATOMS) + 6.0 * REFRESH + 16.0) + 0x1p-51 * w * s->reach;
}

/* ---- one frequency, all records ---- */

/* prod a^count and a bound on it with every |a| larger by its error; for two sums also, as logarithms, prod
 * (a+b)^count, sum count log1p(b/a), and the like for the moduli as they are and with their errors. */
typedef struct whole {
    double complex inner, log_inner, log_all, ratio;
    double most, log_size, log_most, size_ratio, most_ratio;
    bool rare; /* every b is small beside its a */
} whole;

static const whole nothing = { .inner = 1.0, .most = 1.0, .rare = true };

static double complex product(double complex a, double complex b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

static double complex log1p_of(double complex z)
{
    double x = creal(z), y = cimag(z);

    return CMPLX(0.5 * log1p(x * (2.0 + x) + y * y), atan2(y, 1.0 + x));
}

static double complex expm1_of(double complex z)
{
    double half = sin(cimag(z) / 2.0), grow = exp(creal(z));

    return CMPLX(expm1(creal(z)) - 2.0 * grow * half * half, grow * sin(cimag(z)));
}

/* ln z, accurate where |z| is about 1. */
static double complex log_of(double complex z)
{
    double square = creal(z) * creal(z) + cimag(z) * cimag(z);

    return square > 0.25 ? CMPLX(0.5 * log1p(square - 1.0), atan2(cimag(z), creal(z))) : clog(z + 1e-300);
}

/* By squaring: z^count, and the same of the modulus with its error. */
static void add_power(whole *w, double count, double complex z, double error)
{
    double most = cabs(z) + error;

    while (count > 0.0) {
        double half = floor(count / 2.0);

        if (count - 2.0 * half > 0.5) {
            w->inner = product(w->inner, z);
            w->most *= most;
        }
        z = product(z, z);
        most = fmin(most * most, 1e150);
        count = half;
    }
}

static void add_two(whole *w, double count, double complex a, double complex b, double error_a, double error_b)
{
    double size = cabs(a) + 1e-300;

    w->log_inner += count * log_of(a);
    w->log_size += count * log(size);
    w->log_most += count * log(size + error_a);
    w->rare = w->rare && cabs(b) < 0.25 * size;
    w->log_all += count * log_of(a + b);
    w->ratio += count * log1p_of(b / (a + 1e-300));
    w->size_ratio += count * log1p(cabs(b) / size);
    w->most_ratio += count * log1p((cabs(b) + error_b) / (size + error_a));
}

/* exp(x) (exp(y) - 1), limited to what fits. */
static double grown(double x, double y)
{
    return exp(fmin(600.0, x + (y < 600.0 ? log(expm1(y)) : y)));
}

/* log_mass: of the part at frequency 0, when it has two sums. */
static void finish(pn_part *part, size_t k, const whole *w, double log_mass, double count)
{
    double complex value = w->inner;
    double most = w->most, size = cabs(value);

    if (!isinf(part->from)) {
        value = w->rare ? product(cexp(w->log_inner - log_mass), expm1_of(w->ratio))
                        : cexp(w->log_all - log_mass) - cexp(w->log_inner - log_mass);
        most = grown(w->log_most - log_mass, w->most_ratio);
        size = grown(w->log_size - log_mass, w->size_ratio);
    }
    part->re[k] = creal(value);
    part->im[k] = cimag(value);
    part->error[k] = pn_nonnegative(most - size) + most * (count * 0x1p-49 + 0x1p-48);
}

typedef struct work {
    block *block;
    whole *wholes;  /* [count] */
    double *memory; /* [4 count] */
} work;

static pn_status run(pn_part *part, const work *w, size_t from, size_t to, pn_err *err)
{
    size_t n = to - from;
    double step = PN_TURN / part->period, log_mass = part->log_scale, count = 0.0;
    sum inner = { w->memory, w->memory + n, 0.0, 0.0, 0 },
        outer = { w->memory + 2 * n, w->memory + 3 * n, 0.0, 0.0, 0 };

    for (size_t k = 0; k < n; k++)
        w->wholes[k] = nothing;
    for (size_t r = 0; r < part->n; r++) {
        pn_law *law = &part->laws[r];
        size_t last = pn_law_until(law, part->to), middle = isinf(part->from) ? last : pn_law_until(law, part->from);
        double scale = pn_law_log_mgf(law, part->tilt, 0, middle);

        PN_TRY(pn_stop_asked(err));
        pn_law_tilt(law, part->tilt, scale, last);
        log_mass -= law->count * scale;
        count += law->count;
        add_atoms(&inner, law, 0, middle, w->block, step, from, to);
        add_atoms(&outer, law, middle, last, w->block, step, from, to);
        for (size_t k = 0; k < n; k++) {
            double at = step * (double)(from + k);

            if (isinf(part->from))
                add_power(&w->wholes[k], law->count, CMPLX(inner.re[k], inner.im[k]), error_of(&inner, at));
            else
                add_two(&w->wholes[k], law->count, CMPLX(inner.re[k], inner.im[k]), CMPLX(outer.re[k], outer.im[k]),
                        error_of(&inner, at), error_of(&outer, at));
        }
    }
    for (size_t k = 0; k < n; k++)
        finish(part, from + k, &w->wholes[k], isinf(part->from) ? 0.0 : log_mass, count);
    return PN_OK;
}

pn_status pn_part_coefficients(pn_part *part, size_t from, size_t to, pn_err *err)
{
    size_t n = to - from;
    work w = { pn_alloc(1, sizeof *w.block), pn_alloc(n, sizeof *w.wholes), pn_alloc(4 * n, sizeof *w.memory) };
    pn_status status =
        pn_made(w.block && w.wholes && w.memory, err, "accountant.pld: out of memory for %zu frequencies", n);

    if (status == PN_OK)
        status = run(part, &w, from, to, err);
    pn_free(w.block);
    pn_free(w.wholes);
    pn_free(w.memory);
    return status;
}

double pn_series_at(const double *re, const double *im, size_t n, double angle, double *fall)
{
    double x[ATOMS], c[ATOMS], d[ATOMS], total = 0.0, weighted = 0.0;

    for (size_t k = 0; k < n; k += ATOMS) {
        size_t count = n - k < ATOMS ? n - k : ATOMS;
        double plain = 0.0, more = 0.0;

        for (size_t i = 0; i < count; i++)
            x[i] = angle * (double)(k + i);
        pn_simd_best()->cos(count, x, c);
        pn_simd_best()->sin(count, x, d);
        for (size_t i = 0; i < count; i++) {
            plain += re[k + i] * c[i] - im[k + i] * d[i];
            more += (re[k + i] * d[i] + im[k + i] * c[i]) * (double)(k + i);
        }
        total += plain;
        weighted += more;
    }
    *fall = weighted;
    return total;
}
