/* pld_transform.c -- composition by a Fourier transform of the whole window.
 * Depends on: pld_side.h, numeric/fft.h.  Used by: pld.c.  Spec: accounting.md section 5.
 *
 * Two real laws travel as the real and imaginary part of one complex sequence, there and back. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/fft.h"
#include "privacy/accounting/pld_side.h"

#define CHUNK 256

typedef struct work {
    pn_fft *plan;
    double *in, *out; /* [2 size] */
    double *re[2], *im[2];
    size_t size;
} work;

/* z^count by squaring, a chunk at a time; zero stays zero. */
static void chunk_power(double *re, double *im, double *zre, double *zim, size_t n, double count)
{
    while (count > 0.0) {
        double half = floor(count / 2.0);
        bool odd = count - 2.0 * half > 0.5;

        for (size_t k = 0; odd && k < n; k++) {
            double x = re[k] * zre[k] - im[k] * zim[k];

            im[k] = re[k] * zim[k] + im[k] * zre[k];
            re[k] = x;
        }
        for (size_t k = 0; k < n; k++) {
            double x = zre[k] * zre[k] - zim[k] * zim[k];

            zim[k] = 2.0 * zre[k] * zim[k];
            zre[k] = x;
        }
        count = half;
    }
}

void pn_side_multiply_power(double *re, double *im, double *zre, double *zim, size_t n, double count)
{
    for (size_t k = 0; k < n; k += CHUNK)
        chunk_power(re + k, im + k, zre + k, zim + k, n - k < CHUNK ? n - k : CHUNK, count);
}

/* Law -> part 0 or 1 of `in`, wrapped around the circle. */
static void load(work *w, const pn_law *law, size_t part)
{
    int64_t size = (int64_t)w->size;
    size_t at;

    if (!law->p) {
        w->in[part] = 1.0;
        return;
    }
    at = (size_t)((law->first % size + size) % size);
    for (size_t j = 0; j < law->n; j++) {
        w->in[2 * at + part] += law->tilted[j];
        at = at + 1 == w->size ? 0 : at + 1;
    }
}

/* F(a + i b) at k and -k gives F(a) and F(b) at k; only k = 0 ... size/2 are kept. */
static void multiply_record(work *w, const pn_law *laws, size_t n)
{
    double zre[2][CHUNK], zim[2][CHUNK];
    size_t half = w->size / 2 + 1;

    for (size_t from = 0; from < half; from += CHUNK) {
        size_t count = half - from < CHUNK ? half - from : CHUNK;

        for (size_t i = 0; i < count; i++) {
            size_t k = from + i, other = k ? w->size - k : 0;
            double x = w->out[2 * k], y = w->out[2 * k + 1], u = w->out[2 * other], v = w->out[2 * other + 1];

            zre[0][i] = 0.5 * (x + u);
            zim[0][i] = 0.5 * (y - v);
            zre[1][i] = 0.5 * (y + v);
            zim[1][i] = 0.5 * (u - x);
        }
        for (size_t part = 0; part < n; part++)
            if (laws[part].p)
                chunk_power(w->re[part] + from, w->im[part] + from, zre[part], zim[part], count, laws[part].count);
    }
}

static pn_status forward(work *w, const pn_side *sides, size_t n, pn_err *err)
{
    pn_status status = PN_OK;
    size_t half = w->size / 2 + 1;

    for (size_t part = 0; part < n; part++)
        for (size_t k = 0; k < half; k++) {
            w->re[part][k] = 1.0;
            w->im[part][k] = 0.0;
        }
    for (size_t r = 0; r < sides[0].n && status == PN_OK; r++) {
        pn_law laws[2] = { sides[0].laws[r], sides[n - 1].laws[r] };

        memset(w->in, 0, 2 * w->size * sizeof *w->in);
        for (size_t part = 0; part < n; part++)
            load(w, &laws[part], part);
        status = pn_fft_run(w->plan, w->in, w->out, err);
        if (status == PN_OK)
            multiply_record(w, laws, n);
    }
    return status;
}

/* The inverse of z is the conjugate of the transform of conj(z), over size. */
static pn_status backward(work *w, size_t n, pn_err *err)
{
    for (size_t k = 0; k <= w->size / 2; k++) {
        size_t other = k ? w->size - k : 0;
        double a = w->re[0][k], b = w->im[0][k], c = n > 1 ? w->re[1][k] : 0.0, d = n > 1 ? w->im[1][k] : 0.0;

        w->in[2 * k] = a - d;
        w->in[2 * k + 1] = -(b + c);
        w->in[2 * other] = a + d;
        w->in[2 * other + 1] = -(c - b);
    }
    return pn_fft_run(w->plan, w->in, w->out, err);
}

/* The discounted sums from each point of the window on. */
static pn_status finish(work *w, pn_side *side, size_t part, pn_err *err)
{
    double sign = part ? -1.0 : 1.0, scale = sign / (double)w->size;
    double shrink = exp(-side->tilt * side->h), shrink_more = exp(-(side->tilt + 1.0) * side->h);
    int64_t size = (int64_t)w->size;
    size_t at = (size_t)(((side->first - 1) % size + size) % size);

    side->decayed = pn_alloc(w->size + 1, sizeof *side->decayed);
    side->decayed_more = pn_alloc(w->size + 1, sizeof *side->decayed_more);
    PN_TRY(pn_made(side->decayed && side->decayed_more, err, "accountant.pld: out of memory for %zu points", w->size));
    side->decayed[w->size] = side->decayed_more[w->size] = 0.0;
    for (size_t i = w->size; i-- > 0; at = at ? at - 1 : w->size - 1) {
        double mass = scale * w->out[2 * at + part];

        side->decayed[i] = mass + shrink * side->decayed[i + 1];
        side->decayed_more[i] = mass + shrink_more * side->decayed_more[i + 1];
    }
    return PN_OK;
}

static double square_norm(const pn_law *law)
{
    double sum = law->p ? 0.0 : 1.0;

    for (size_t j = 0; j < law->n; j++)
        sum += law->tilted[j] * law->tilted[j];
    return sum;
}

/* The transform of both sides together is off by at most eta of its Euclidean norm;
 * a power by its exponent times that. */
static void set_errors(pn_side *sides, size_t n, size_t size)
{
    double eta = 0x1p-49 * log2((double)size + 2.0), sum = 2.0 * eta;

    for (size_t r = 0; r < sides[0].n; r++) {
        double square = 0.0;

        for (size_t part = 0; part < n; part++)
            square += square_norm(&sides[part].laws[r]);
        sum += fmax(sides[0].laws[r].count, sides[n - 1].laws[r].count) * (2.0 * eta * sqrt(square) + 0x1p-50);
    }
    for (size_t part = 0; part < n; part++) {
        sides[part].error_norm = sum;
        sides[part].error_mean = 0x1p-51; /* the running sums: at most 1 each, rounded once a point */
    }
}

static void work_clear(work *w)
{
    pn_fft_free(w->plan);
    pn_free(w->in);
    pn_free(w->out);
    for (size_t part = 0; part < 2; part++) {
        pn_free(w->re[part]);
        pn_free(w->im[part]);
    }
}

static pn_status work_init(work *w, size_t size, size_t parts, pn_err *err)
{
    bool enough;

    *w = (work){ .size = size };
    w->in = pn_alloc(2 * size, sizeof *w->in);
    w->out = pn_alloc(2 * size, sizeof *w->out);
    enough = w->in && w->out;
    for (size_t part = 0; part < parts; part++) {
        w->re[part] = pn_alloc(size / 2 + 1, sizeof *w->re[part]);
        w->im[part] = pn_alloc(size / 2 + 1, sizeof *w->im[part]);
        enough = enough && w->re[part] && w->im[part];
    }
    PN_TRY(pn_made(enough, err, "accountant.pld: out of memory for %zu points", size));
    return pn_fft_new(&w->plan, size, err);
}

pn_status pn_side_by_transform(pn_side *sides, size_t n, pn_err *err)
{
    work w;
    pn_status status = work_init(&w, sides[0].size, n, err);

    if (status == PN_OK)
        status = forward(&w, sides, n, err);
    if (status == PN_OK)
        status = backward(&w, n, err);
    for (size_t part = 0; part < n && status == PN_OK; part++) {
        status = finish(&w, &sides[part], part, err);
    }
    set_errors(sides, n, w.size);
    work_clear(&w);
    return status;
}
