/* toeplitz_stream_test.c -- streams of the Toeplitz factorizations: their noise is R z of the dense matrices, their
 * leaves add up exactly, and what one record moves stays within the price, rounding included. */
#include <stdint.h>
#include <string.h>

#include "continual/factored_prefix.h"
#include "numeric/lapack.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/continual/prefix_kit.h"

#define LEAVES 48
#define DIM    5

static double given[] = { 1.0, 0.5, -0.25, 0.125 };
static double theta3[] = { .995, .9, .5 }, omega3[] = { .02, .08, .25 };

#define KINDS 7

/* One of each kind of method. */
static pn_prefix_options kind(size_t index, size_t dim, size_t horizon)
{
    static const char *const names[KINDS] = { "sqrt", "banded", "banded", "banded", "blt", "blt", "blt" };
    pn_prefix_options options = unit_noise(dim, horizon);

    options.estimator_given = false;
    options.factorization = names[index];
    if (index == 1)
        options.bands = 5;
    if (index == 2)
        options.fit = PN_PREFIX_OPTIMAL;
    if (index == 3)
        options.coefficients = (pn_vec){ given, 4 };
    if (index == 6) {
        options.fit = PN_PREFIX_OPTIMAL;
        options.buffers = 2;
    }
    if (index == 5) {
        options.theta = (pn_vec){ theta3, 3 };
        options.omega = (pn_vec){ omega3, 3 };
    }
    return options;
}

static void fitted(size_t horizon, double *theta, double *omega)
{
    size_t m;

    CHECK(pn_toeplitz_blt_table(horizon, 2, &m, theta, omega) && m == 2);
    CHECK(pn_toeplitz_best_blt(2, horizon, theta, omega, NULL) == PN_OK);
}

/* c[horizon] of that kind. */
static void coefficients_of(size_t index, size_t horizon, double *c)
{
    double theta[8], omega[8];
    size_t m;

    memset(c, 0, horizon * sizeof *c);
    if (index == 0)
        pn_toeplitz_sqrt(horizon, c);
    if (index == 1)
        pn_toeplitz_sqrt(horizon < 5 ? horizon : 5, c);
    if (index == 2)
        CHECK(pn_toeplitz_best_banded(horizon < 8 ? horizon : 8, horizon, c, NULL) == PN_OK);
    if (index == 3)
        memcpy(c, given, (horizon < 4 ? horizon : 4) * sizeof *c);
    if (index == 4 && CHECK(pn_toeplitz_blt_table(horizon, 4, &m, theta, omega)))
        pn_toeplitz_blt(m, theta, omega, horizon, c);
    if (index == 5)
        pn_toeplitz_blt(3, theta3, omega3, horizon, c);
    if (index == 6) {
        fitted(horizon, theta, omega);
        pn_toeplitz_blt(2, theta, omega, horizon, c);
    }
}

/* w = C^-1 z by LAPACK. */
static void dense_solve(size_t n, const double *c, const double *z, double *w)
{
    double *C = calloc(n * n, sizeof *C);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            C[i * n + j] = c[i - j];
    CHECK(pn_linear_solve(w, (pn_mat){ .data = C, .rows = n, .cols = n }, z, NULL) == PN_OK);
    free(C);
}

static void noise_is_what_the_dense_inverse_makes_of_z(void)
{
    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_design *design = design_of(kind(index, DIM, LEAVES));
        pn_prefix *stream = stream_of(design, 11 + index);
        double out[LEAVES * DIM], c[LEAVES], z[LEAVES], w[LEAVES];

        push_zeros(stream, LEAVES, DIM, out);
        coefficients_of(index, LEAVES, c);
        for (size_t j = 0; j < DIM; j++) {
            double sum = 0.0;

            for (size_t t = 0; t < LEAVES; t++)
                z[t] = node_noise(stream, 0, t + 1, j);
            dense_solve(LEAVES, c, z, w);
            for (size_t t = 0; t < LEAVES; t++) {
                sum += w[t];
                CHECK_CLOSE(out[t * DIM + j], sum, 1e-10);
            }
        }
        pn_prefix_free(stream);
        pn_prefix_design_free(design);
    }
}

/* A number in [-1, 1) from a counter. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1.0;
}

static void leaves_add_up_exactly_under_the_same_noise(void)
{
    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_design *design = design_of(kind(index, DIM, LEAVES));
        pn_prefix *stream = stream_of(design, 5), *empty = stream_of(design, 5);
        double zero[LEAVES * DIM], sum[DIM] = { 0.0 }, leaf[DIM], out[DIM];
        uint64_t state = index;

        push_zeros(empty, LEAVES, DIM, zero);
        for (size_t t = 0; t < LEAVES; t++) {
            for (size_t j = 0; j < DIM; j++) {
                leaf[j] = 1e3 * uniform(&state);
                sum[j] += leaf[j];
            }
            CHECK(pn_prefix_push(stream, leaf, out, NULL, NULL) == PN_OK);
            for (size_t j = 0; j < DIM; j++)
                CHECK_CLOSE(out[j] - zero[t * DIM + j], sum[j], 1e-9);
        }
        CHECK(pn_prefix_push(stream, leaf, out, NULL, NULL) == PN_EBUDGET);
        pn_prefix_free(stream);
        pn_prefix_free(empty);
        pn_prefix_design_free(design);
    }
}

/* ---- what one record moves ---- */

/* A method by itself, with steps of length 1: a push hands out the measurement u, a whole number. */
typedef struct bare {
    pn_prefix_method *method;
    double *state, *prefix, *leaf;
    pn_prefix_step step;
    pn_address_key key;
} bare;

static void bare_make(bare *self, size_t index, size_t dim, size_t horizon)
{
    pn_prefix_options options = kind(index, dim, horizon);
    const pn_prefix_ops *ops = pn_prefix_find(options.factorization);
    size_t stride = dim + dim % 2;

    memset(self, 0, sizeof *self);
    options.participations = options.separation = 1;
    CHECK(ops && ops->create(&self->method, &options, NULL) == PN_OK);
    self->method->sigma = 0x1p40;
    self->method->step = 1.0;
    self->state = calloc(stride * ops->words(self->method, horizon) + 1, sizeof(double));
    self->prefix = calloc(stride, sizeof(double));
    self->leaf = calloc(stride, sizeof(double));
    self->step = (pn_prefix_step){
        .count = dim, .stride = stride, .leaf = self->leaf, .prefix = self->prefix, .key = &self->key
    };
    CHECK(pn_rng_seeded(&self->step.rng, 3, NULL) == PN_OK);
    pn_address_key_draw(&self->key, self->step.rng);
    self->step.noise = calloc(stride, sizeof(int64_t));
    self->step.whole = calloc(stride, sizeof(int64_t));
    self->step.work[0] = calloc(stride, sizeof(double));
    self->step.work[1] = calloc(stride, sizeof(double));
}

static void bare_free(bare *self)
{
    self->method->ops->destroy(self->method);
    free(self->state);
    free(self->prefix);
    free(self->leaf);
    pn_rng_free(self->step.rng);
    free(self->step.noise);
    free(self->step.whole);
    free(self->step.work[0]);
    free(self->step.work[1]);
}

static void bare_push(bare *self, uint64_t t)
{
    self->step.t = t;
    memset(self->prefix, 0, self->step.count * sizeof(double));
    self->method->ops->push(self->method, self->state, &self->step);
}

static void thetas_of(size_t index, double *theta)
{
    double omega[8];
    size_t m;

    if (index == 4)
        CHECK(pn_toeplitz_blt_table(LEAVES, 4, &m, theta, omega));
    if (index == 5)
        memcpy(theta, theta3, sizeof theta3);
    if (index == 6)
        fitted(LEAVES, theta, omega);
}

/* The neighbour's state after the same release: its last increment was not the one just pushed, but u - m'. */
static void retell(bare *self, size_t index, const double *theta, uint64_t t, const double *before, const double *u)
{
    size_t words = self->method->ops->words(self->method, t), stride = self->step.stride;

    for (size_t k = 0; k < self->step.count; k++) {
        double w = u[k] - self->leaf[k];

        if (index < 4) {
            self->state[(t - 1) % words * stride + k] = w;
            continue;
        }
        for (size_t i = 0; i < words; i++) /* q <- theta q + w */
            self->state[i * stride + k] = theta[i] * before[i * stride + k] + w;
    }
}

/*
 * Two neighbours that release the same numbers: how far apart were the means of the noise?  By (C D)_t,
 * up to the rounding that is
 * charged.  Leaves are large, so that an error in proportion to them would be seen.
 */
static void a_record_moves_no_more_than_is_charged(size_t index, size_t at, double size)
{
    bare one, two;
    double c[LEAVES], u[DIM], shift[DIM] = { 0.0 }, moved[DIM], worst = 0.0, allowed;
    double theta[8];
    size_t bytes;
    uint64_t state = 77 + at;

    thetas_of(index, theta);
    bare_make(&one, index, DIM, LEAVES);
    bare_make(&two, index, DIM, LEAVES);
    coefficients_of(index, LEAVES, c);
    allowed = one.method->settled / sqrt(LEAVES - 1.0);
    CHECK(allowed >= 1.0 && allowed < 3.1); /* steps: one for two roundings, the rest for sums under the worst noise */
    bytes = one.step.stride * one.method->ops->words(one.method, LEAVES) * sizeof(double);
    for (size_t k = 0; k < DIM; k++)
        moved[k] = floor(size * uniform(&state));
    for (uint64_t t = 1; t <= LEAVES; t++) {
        double *before = malloc(bytes + 1);

        for (size_t k = 0; k < DIM; k++) {
            one.leaf[k] = floor(0x1p50 * uniform(&state));
            two.leaf[k] = one.leaf[k] + (t == at ? moved[k] : 0.0);
        }
        memcpy(before, two.state, bytes);
        bare_push(&one, t);
        bare_push(&two, t); /* the same K: what differs is the mean */
        memcpy(u, one.prefix, sizeof u);
        for (size_t k = 0; k < DIM; k++) {
            double mean = two.prefix[k] - one.prefix[k], exact = t >= at ? c[t - at] * moved[k] : 0.0;

            CHECK(t >= at || mean == 0.0);
            CHECK(fabs(mean - exact) <= allowed + 1e-12 * fabs(moved[k]));
            worst = fmax(worst, fabs(mean - exact));
            shift[k] += mean * mean;
        }
        retell(&two, index, theta, t, before, u);
        free(before);
    }
    for (size_t k = 0; k < DIM; k++)
        CHECK(sqrt(shift[k]) <= one.method->gain * fabs(moved[k]) + one.method->settled);
    CHECK(worst > 0.2 && worst < 1.05); /* rounding was seen */
    bare_free(&one);
    bare_free(&two);
}

static void prices_of_neighbours(void)
{
    for (size_t index = 0; index < KINDS; index++)
        for (size_t at = 1; at <= 21; at += 10) {
            a_record_moves_no_more_than_is_charged(index, at, 0x1p41);
            a_record_moves_no_more_than_is_charged(index, at, 3.0e3);
        }
}

/* The error of the buffers' sum under the noise that is worst for them, against long double. */
static void the_sum_of_buffers_is_as_exact_as_charged(size_t horizon, double *error, double *charged)
{
    double theta[8], omega[8], *sign = calloc(horizon, sizeof *sign), q[8] = { 0.0 };
    long double exact[8] = { 0.0L };
    size_t m = 0;
    pn_prefix_options options = kind(4, 1, horizon);
    pn_prefix_method *method;

    options.participations = options.separation = 1;
    CHECK(pn_prefix_blt.create(&method, &options, NULL) == PN_OK);
    *charged = 0.5 * (method->settled / sqrt((double)horizon - 1.0) - 1.0);
    method->ops->destroy(method);
    CHECK(pn_toeplitz_blt_table(horizon, 4, &m, theta, omega));
    for (size_t t = 0; t < horizon; t++) { /* the response of the slowest buffer, backwards: every K adds to it */
        double w = t == 0 ? 1.0 : 0.0;

        for (size_t i = 0; i < m; i++)
            w -= omega[i] * q[i];
        for (size_t i = 0; i < m; i++)
            q[i] = theta[i] * q[i] + w;
        sign[horizon - 1 - t] = q[0] < 0.0 ? -1.0 : 1.0;
    }
    memset(q, 0, sizeof q);
    *error = 0.0;
    for (size_t t = 0; t < horizon; t++) {
        double sum = 0.0, w;
        long double wide = 0.0L;

        for (size_t i = 0; i < m; i++) {
            sum += omega[i] * q[i];
            wide += (long double)omega[i] * exact[i];
        }
        *error = fmax(*error, (double)fabsl(wide - (long double)sum));
        w = sign[t] * 13.0 * 0x1p40 - nearbyint(sum);
        for (size_t i = 0; i < m; i++) {
            q[i] = theta[i] * q[i] + w;
            exact[i] = (long double)theta[i] * exact[i] + (long double)w;
        }
    }
    free(sign);
}

static void errors_of_buffers(void)
{
    double error, charged;

    for (size_t horizon = 64; horizon <= 65536; horizon *= 16) {
        the_sum_of_buffers_is_as_exact_as_charged(horizon, &error, &charged);
        CHECK(error > 0.0 && error <= charged);
        CHECK(charged < 1e3); /* steps: 2^-40 of sigma */
    }
}

/* ---- laws ---- */

/* dim independent coordinates: 6.5 deviations of a sample variance, 2^-33 to each side, LEAVES * KINDS of them. */
static void variances_are_those_of_the_releases(bool doubling)
{
    const size_t dim = 30000, leaves = 12;
    double *out = malloc(leaves * dim * sizeof *out), want[12];

    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_design *design = design_of(kind(index, dim, doubling ? 0 : 40));
        pn_prefix *stream = stream_of(design, 900 + index);

        push_zeros(stream, leaves, dim, out);
        pn_prefix_variances(design, leaves, want);
        for (size_t t = 0; t < leaves; t++) {
            double square = 0.0;

            for (size_t j = 0; j < dim; j++)
                square += out[t * dim + j] * out[t * dim + j];
            CHECK_CLOSE(square / (double)dim, want[t], want[t] * 6.5 * sqrt(2.0 / (double)dim));
            CHECK(pn_prefix_design_variance(design, t + 1) == want[t]);
        }
        pn_prefix_free(stream);
        pn_prefix_design_free(design);
    }
    free(out);
}

static void variances_and_prices_are_those_of_the_coefficients(void)
{
    double c[LEAVES], r[LEAVES], sum, want;

    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_options options = kind(index, DIM, LEAVES);
        pn_prefix_design *design;

        options.sigma = 0.0;
        options.rho = 0.5; /* mu = 1 */
        options.bound = 10.0;
        options.sensitivity = 2.0;
        design = design_of(options);
        coefficients_of(index, LEAVES, c);
        CHECK(pn_toeplitz_inverse_sums(LEAVES, c, LEAVES, r, NULL) == PN_OK);
        want = sqrt(pn_toeplitz_square(LEAVES, c, LEAVES));
        CHECK_CLOSE(pn_prefix_gain(design), want, 1e-11 * want);
        CHECK(pn_prefix_gain(design) >= want);
        CHECK(design->method->draws == LEAVES && design->method->reach == 1.0); /* a record moves every later row */
        CHECK_CLOSE(pn_prefix_design_sigma(design), 2.0 * want, 1e-6);
        CHECK(pn_prefix_design_mu(design) <= 1.0 && pn_prefix_design_mu(design) > 1.0 - 1e-6);
        sum = 0.0;
        for (size_t t = 0; t < LEAVES; t++) {
            sum += r[t] * r[t];
            want = sum * pn_prefix_design_sigma(design) * pn_prefix_design_sigma(design);
            CHECK_CLOSE(pn_prefix_design_variance(design, t + 1), want, 1e-12 * want);
        }
        CHECK(isnan(pn_prefix_design_variance(design, LEAVES + 1)) && isnan(pn_prefix_design_variance(design, 0)));
        pn_prefix_design_free(design);
    }
}

/* No leaf's size enters what later rows round: the price of a long stream is that of its coefficients,
 * bound or no bound. */
static void rounding_costs_next_to_nothing_without_a_bound(void)
{
    static const size_t horizons[] = { 256, 257, 4096, 65536 };

    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++)
        for (int bounded = 0; bounded < 2; bounded++) {
            pn_prefix_options options = kind(0, 1000, horizons[i]);
            pn_prefix_design *design;

            options.sigma = 0.0;
            options.rho = 0.5; /* mu = 1 */
            options.bound = bounded ? 10.0 : 0.0;
            design = design_of(options);
            CHECK(pn_prefix_design_sigma(design) >= pn_prefix_gain(design) * options.sensitivity);
            CHECK(pn_prefix_design_sigma(design) <= pn_prefix_gain(design) * options.sensitivity * (1.0 + 2e-5));
            CHECK(pn_prefix_design_mu(design) <= 1.0 && pn_prefix_design_mu(design) > 1.0 - 1e-9);
            pn_prefix_design_free(design);
        }
}

/* The sum inside G_t under the noise that is worst for it, all of one sign and as large as noise can be,
 * in 128 bits. */
static void long_sums_are_as_exact_as_charged(void)
{
    enum { HORIZON = 3000 };
    double c[HORIZON], charged;
    long double exact = 0.0L;
    uint64_t state = 5;
    bare it;

    bare_make(&it, 0, 1, HORIZON); /* sqrt */
    pn_toeplitz_sqrt(HORIZON, c);
    charged = 0.5 * (it.method->settled / sqrt(HORIZON - 1.0) - 1.0);
    for (size_t j = 1; j < HORIZON; j++) { /* w_{t-j} is in row t - 1 - j of a ring that has not turned */
        double w = floor(pn_factored_reach(2.0) * (0.75 + 0.25 * uniform(&state)));

        it.state[(HORIZON - 1 - j) * it.step.stride] = w;
        exact += (long double)c[j] * (long double)w;
    }
    bare_push(&it, HORIZON);
    /* one leaf: prefix - K = leaf - round(sum) */
    CHECK(fabsl((long double)it.step.noise[0] - (long double)it.prefix[0] - exact) <= (long double)charged + 0.5L);
    CHECK(charged < 4e3); /* 3002 roundings in a row would be 3.9e4 */
    bare_free(&it);
}

static void several_participations_cost_what_their_columns_do(void)
{
    double c[LEAVES], want;

    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_options options = kind(index, DIM, LEAVES);
        pn_prefix_design *design = NULL;

        options.participations = 3;
        options.separation = 7;
        if (index == 3) { /* a negative coefficient: no proof */
            CHECK(pn_prefix_design_new(&design, &options, NULL) == PN_EUNSUPPORTED && !design);
            continue;
        }
        design = design_of(options);
        coefficients_of(index, LEAVES, c);
        if (index == 2) /* bands: the separation */
            CHECK(pn_prefix_options_of(design)->bands == 7 && pn_toeplitz_best_banded(7, LEAVES, c, NULL) == PN_OK &&
                  (c[7] = 0.0) == 0.0);
        CHECK(pn_toeplitz_sensitivity(&want, LEAVES, c, LEAVES, 3, 7, NULL) == PN_OK);
        CHECK_CLOSE(pn_prefix_gain(design), want, 1e-11 * want);
        if (index == 1 || index == 2) /* columns that do not overlap */
            CHECK_CLOSE(want, sqrt(3.0 * pn_toeplitz_square(LEAVES, c, LEAVES)), 1e-12);
        pn_prefix_design_free(design);
    }
}

/* ---- words and refusals ---- */

static void says_what_it_is_and_what_it_keeps(void)
{
    static const char *const say[KINDS] = { "square root, 48 coefficients",
                                            "banded, 5 bands, sqrt",
                                            "banded, 8 bands, optimal",
                                            "banded, 4 bands, given coefficients",
                                            "buffered, 3 buffers, from the table",
                                            "buffered, 3 buffers, given parameters",
                                            "buffered, 2 buffers, optimal" };
    static const size_t words[KINDS] = { 47, 4, 7, 3, 3, 3, 2 };
    char text[100];

    for (size_t index = 0; index < KINDS; index++) {
        pn_prefix_design *design = design_of(kind(index, DIM, LEAVES));

        design->ops->describe(design->method, text, sizeof text);
        CHECK(strcmp(text, say[index]) == 0);
        CHECK(design->ops->words(design->method, 1) == words[index]);
        pn_prefix_design_free(design);
    }
}

static bool refused(pn_prefix_options options, pn_status want, const char *word)
{
    pn_prefix_design *design = NULL;
    pn_err err;
    pn_status status = pn_prefix_design_new(&design, &options, &err);

    pn_prefix_design_free(design);
    if (status == want && strstr(err.message, word))
        return true;
    (void)fprintf(stderr, "%s: %s\n", pn_status_name(status), status == PN_OK ? "" : err.message);
    return false;
}

static void refuses_what_it_cannot_do(void)
{
    double flat[1000], theta[] = { .5, .5 }, large[] = { .1, 1.6 };
    pn_prefix_options options;

    options = kind(3, 1, 100);
    options.bands = 5;
    CHECK(refused(options, PN_EINVAL, "bands is 5, but there are 4 coefficients"));
    options = kind(3, 1, 100);
    options.fit = PN_PREFIX_OPTIMAL;
    CHECK(refused(options, PN_EINVAL, "fit"));
    options = kind(3, 1, 100);
    options.coefficients = (pn_vec){ theta, 2 };
    CHECK(refused(options, PN_EINVAL, "must be 1, got 0.5"));
    for (size_t j = 0; j < 1000; j++)
        flat[j] = j < 2;
    options.coefficients = (pn_vec){ flat, 2 }; /* 1/c(x) = 1 - x + x^2 - ... */
    CHECK(refused(kind(3, 1, 100), PN_OK, "") && refused(options, PN_OK, ""));
    options.horizon = 1000;
    CHECK(refused(options, PN_EINVAL, "at most 128"));
    flat[1] = 1e200;
    CHECK(refused(options, PN_EINVAL, "1e+200 at index 2"));
    flat[1] = 100.0;
    CHECK(refused(options, PN_EINVAL, "makes noise larger"));
    options = kind(5, 1, 100);
    options.theta = (pn_vec){ theta, 2 };
    CHECK(refused(options, PN_EDIM, "one entry for each buffer, got 2 and 3"));
    options.omega = (pn_vec){ omega3, 2 };
    CHECK(refused(options, PN_EINVAL, "must differ"));
    options.theta = (pn_vec){ theta3, 2 };
    options.omega = (pn_vec){ large, 2 };
    CHECK(refused(options, PN_OK, ""));
    large[0] = 0.7;
    CHECK(refused(options, PN_EINVAL, "grow without bound"));
    options = kind(5, 1, 100);
    options.buffers = 2;
    CHECK(refused(options, PN_EINVAL, "buffers is 2, but theta has 3 entries"));
    options = kind(5, 1, 100);
    options.fit = PN_PREFIX_OPTIMAL;
    CHECK(refused(options, PN_EINVAL, "fit"));
    options = kind(4, 1, 1048577);
    CHECK(refused(options, PN_EUNSUPPORTED, "up to 1048576, got 1048577"));
    options.horizon = 100;
    options.buffers = 9;
    CHECK(refused(options, PN_EINVAL, "buffers must be 1 to 8, got 9"));
    CHECK(refused(kind(1, 1, ((size_t)1 << 24) + 1), PN_EUNSUPPORTED, "at most 16777216"));
}

static pn_status make_one(void *self, pn_err *err)
{
    pn_prefix_options options = kind(*(const size_t *)self, 3, 20);
    pn_prefix_method *method = NULL;
    pn_status status;

    options.participations = 2;
    options.separation = 4;
    if (options.coefficients.n > 0)
        options.coefficients.n = 2;
    status = pn_prefix_find(options.factorization)->create(&method, &options, err);
    if (method)
        method->ops->destroy(method);
    return status;
}

int main(void)
{
    noise_is_what_the_dense_inverse_makes_of_z();
    leaves_add_up_exactly_under_the_same_noise();
    prices_of_neighbours();
    errors_of_buffers();
    variances_are_those_of_the_releases(false);
    variances_are_those_of_the_releases(true);
    variances_and_prices_are_those_of_the_coefficients();
    rounding_costs_next_to_nothing_without_a_bound();
    long_sums_are_as_exact_as_charged();
    several_participations_cost_what_their_columns_do();
    says_what_it_is_and_what_it_keeps();
    refuses_what_it_cannot_do();
    for (size_t index = 0; index < KINDS; index++)
        fail_alloc_sweep("method", make_one, &index);
    return check_summary();
}
