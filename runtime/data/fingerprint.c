/* fingerprint.c -- see fingerprint.h.  Depends on: fingerprint.h, build.h, random.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/fingerprint.h"
#include "random/rng.h"

#define MAX_RIDGE   ((size_t)1 << 20)
#define MAX_NUMBERS 2e8 /* of one data set: 1.6 GB */

/* ---- sizes ---- */

static size_t power_of_two_above(double x)
{
    size_t power = 1;

    while ((double)power < x)
        power *= 2;
    return power;
}

pn_status pn_fingerprint_scaled(pn_fingerprint_options *out, size_t m, pn_err *err)
{
    double real = (double)m;

    if (m < 3 || m > 40)
        return pn_fail(err, PN_EINVAL, "synthetic.fingerprint: m must be from 3 to 40, got %zu", m);
    out->users = (size_t)fmax(1.0, round(real / log(real)));
    out->ridge = power_of_two_above(real * real * real / log(real));
    out->p = m * m < out->ridge ? m * m : out->ridge;
    out->informative = (out->p + 31) / 32;
    return PN_OK;
}

static pn_status check_options(const pn_fingerprint_options *o, pn_err *err)
{
    if (o->users == 0 || o->p == 0)
        return pn_fail(err, PN_EINVAL, "synthetic.fingerprint: users and p must be at least 1, got %zu and %zu",
                       o->users, o->p);
    if (o->informative == 0 || o->informative > o->p)
        return pn_fail(err, PN_EINVAL, "synthetic.fingerprint: informative must be from 1 to p = %zu, got %zu", o->p,
                       o->informative);
    if (o->ridge < o->p || o->ridge > MAX_RIDGE || (o->ridge & (o->ridge - 1)) != 0)
        return pn_fail(
            err, PN_EINVAL,
            "synthetic.fingerprint: ridge must be a power of two from p = %zu to 2^20 (a Hadamard order), got %zu",
            o->p, o->ridge);
    if (((double)o->ridge + (double)o->users) * (double)o->p > MAX_NUMBERS)
        return pn_fail(err, PN_EINVAL, "synthetic.fingerprint: %zu records of %zu features are more than %.0f numbers",
                       o->ridge + o->users, o->p, MAX_NUMBERS);
    return PN_OK;
}

/* ---- the code ---- */

/* Tardos: q = sin^2 phi, phi uniform between asin sqrt t and its mirror image, t = 1/(300 (w + 1)). */
static double draw_bias(pn_rng *rng, size_t users)
{
    double least = asin(sqrt(1.0 / (300.0 * ((double)users + 1.0))));
    double phi = least + pn_rng_uniform(rng) * (acos(-1.0) / 2.0 - 2.0 * least);

    return sin(phi) * sin(phi);
}

static void draw_columns(pn_fingerprint *self, pn_rng *rng)
{
    size_t padding = self->p - self->informative;

    pn_rng_permutation(rng, self->p, self->place);
    for (size_t c = 0; c < self->p; c++) {
        bool informative = c < self->informative;
        double q = informative ? draw_bias(rng, self->users) : NAN;
        double constant = c - self->informative < (padding + 1) / 2 ? 1.0 : -1.0;
        size_t j = self->place[c];

        self->bias[j] = q;
        for (size_t u = 0; u <= self->users; u++)
            self->code[u * self->p + j] = !informative ? constant : pn_rng_uniform(rng) < q ? 1.0 : -1.0;
    }
}

pn_status pn_fingerprint_new(pn_fingerprint **out, const pn_fingerprint_options *options, pn_err *err)
{
    pn_status status = check_options(options, err);
    pn_fingerprint *self;
    pn_rng *rng = NULL;

    if (status != PN_OK || (status = pn_rng_seeded(&rng, options->seed, err)) != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (self) {
        self->users = options->users;
        self->p = options->p;
        self->informative = options->informative;
        self->ridge = options->ridge;
        self->code = pn_alloc((options->users + 1) * options->p, sizeof *self->code);
        self->bias = pn_alloc(options->p, sizeof *self->bias);
        self->place = pn_alloc(options->p, sizeof *self->place);
    }
    if (!self || !self->code || !self->bias || !self->place) {
        pn_fingerprint_free(self);
        pn_rng_free(rng);
        return pn_fail(err, PN_ENOMEM, "synthetic.fingerprint: out of memory for %zu x %zu entries", options->users + 1,
                       options->p);
    }
    draw_columns(self, rng);
    pn_rng_free(rng);
    *out = self;
    return PN_OK;
}

void pn_fingerprint_free(pn_fingerprint *code)
{
    if (!code)
        return;
    pn_free(code->code);
    pn_free(code->bias);
    pn_free(code->place);
    pn_free(code);
}

/* ---- data sets ---- */

/* Sylvester's Hadamard matrix: the parity of the bits that i and j share. */
static double hadamard(size_t i, size_t j)
{
    return __builtin_parityll((unsigned long long)(i & j)) ? -1.0 : 1.0;
}

pn_status pn_fingerprint_dataset(pn_dataset **out, const pn_fingerprint *code, size_t without, pn_err *err)
{
    size_t n = code->ridge + code->users, p = code->p, row = code->ridge;
    pn_dataset *data = NULL;
    pn_status status;

    if (without > code->users)
        return pn_fail(err, PN_EINVAL, "fingerprint:dataset: the user to leave out must be from 1 to %zu, got %zu",
                       code->users + 1, without + 1);
    if ((status = pn_dataset_shell(&data, n, p, "fingerprint", err)) != PN_OK)
        return status;
    data->dense = pn_dataset_alloc_rows(n, p);
    if (!data->dense) {
        pn_dataset_free(data);
        return pn_fail(err, PN_ENOMEM, "fingerprint:dataset: %s for %zu x %zu numbers", pn_vault_lack(), n, p);
    }
    for (size_t i = 0; i < code->ridge; i++) {
        for (size_t j = 0; j < p; j++)
            data->dense[i * p + j] = hadamard(i, j);
        data->y[i] = 0.0;
    }
    for (size_t u = 0; u <= code->users; u++) {
        if (u == without)
            continue;
        memcpy(data->dense + row * p, code->code + u * p, p * sizeof *code->code);
        data->y[row++] = 1.0;
    }
    pn_bounds_tighten(&data->bounds, p, PN_LINF, 1.0);
    data->bounds.label_low = 0.0;
    data->bounds.label_high = 1.0;
    *out = data;
    return PN_OK;
}

/* ---- consensus, lemma, tracing ---- */

double pn_fingerprint_consensus(const pn_fingerprint *code, size_t without, double *s)
{
    size_t none = 0;

    for (size_t j = 0; j < code->p; j++) {
        double sum = 0.0;

        for (size_t u = 0; u <= code->users; u++)
            sum += u == without ? 0.0 : code->code[u * code->p + j];
        s[j] = fabs(sum) == (double)code->users ? copysign(1.0, sum) : 0.0;
        none += s[j] == 0.0;
    }
    return (double)none / (double)code->p;
}

static double loss_of(const pn_fingerprint *code, size_t without, const double *theta)
{
    double squares = 0.0, loss = 0.0;

    for (size_t j = 0; j < code->p; j++)
        squares += theta[j] * theta[j];
    for (size_t u = 0; u <= code->users; u++) {
        const double *x = code->code + u * code->p;
        double z = 0.0;

        for (size_t j = 0; j < code->p; j++)
            z += x[j] * theta[j];
        loss += u == without ? 0.0 : (z - 1.0) * (z - 1.0);
    }
    return loss + (double)code->ridge * squares;
}

pn_status pn_fingerprint_check(const pn_fingerprint *code, size_t without, const double *theta,
                               pn_fingerprint_lemma *out, pn_err *err)
{
    double *s = pn_alloc(code->p, sizeof *s), kappa, left;
    size_t agreed = 0;

    PN_TRY(pn_made(s, err, "fingerprint:lemma: out of memory"));
    memset(out, 0, sizeof *out);
    out->disagreed = pn_fingerprint_consensus(code, without, s);
    out->loss = loss_of(code, without, theta);
    out->tau = (double)code->ridge / ((double)code->users * (double)code->p);
    for (size_t j = 0; j < code->p; j++) {
        out->l1 += fabs(theta[j]);
        agreed += s[j] != 0.0 && theta[j] * s[j] > 0.0;
    }
    pn_free(s);
    kappa = out->loss / (out->tau * (double)code->users);
    left = 1.0 - sqrt(kappa * out->disagreed) - sqrt(kappa * out->tau);
    out->guaranteed = left > 0.0 ? left * left / kappa : 0.0;
    out->agreed = (double)agreed / (double)code->p;
    out->holds = out->l1 > 1.0 + 1e-12 || out->agreed >= out->guaranteed;
    return PN_OK;
}

void pn_fingerprint_trace(const pn_fingerprint *code, const double *theta, double *scores)
{
    for (size_t u = 0; u <= code->users; u++) {
        const double *x = code->code + u * code->p;

        scores[u] = 0.0;
        for (size_t j = 0; j < code->p; j++) {
            double q = code->bias[j], sign = (theta[j] > 0.0) - (theta[j] < 0.0);

            if (!isnan(q))
                scores[u] += sign * (x[j] > 0.0 ? sqrt((1.0 - q) / q) : -sqrt(q / (1.0 - q)));
        }
    }
}
