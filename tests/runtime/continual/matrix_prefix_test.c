/* matrix_prefix_test.c -- streams of a factorization of the caller's own: the same bits as the library's where the
 * matrix is theirs, the noise C^-1 z, its exact variances, and prices of single and of several participations.
 * Depends on: check.h, fail_alloc.h, prefix_kit.h, continual/, numeric/lapack.h. */
#include <stdint.h>
#include <string.h>

#include "continual/factored_prefix.h"
#include "continual/participation.h"
#include "numeric/lapack.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/continual/prefix_kit.h"

enum { LEAVES = 24, DIM = 5 };

static uint64_t random_state = 77;

static double draw(void) /* [-1, 1) */
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(random_state >> 11) * 0x1p-52 - 1.0;
}

/* n x n, zero; the caller frees it. */
static double *square_of(size_t n)
{
    double *c = calloc(n * n, sizeof *c);

    if (!c)
        exit(1);
    return c;
}

static void fill_toeplitz(double *C, size_t n, size_t bands, const double *c)
{
    memset(C, 0, n * n * sizeof *C);
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s <= t; s++)
            C[t * n + s] = t - s < bands ? c[t - s] : 0.0;
}

/* Of any signs, with a diagonal from 1/2 to 5 and no band beyond `bands`. */
static void fill_any(double *C, size_t n, size_t bands)
{
    memset(C, 0, n * n * sizeof *C);
    for (size_t t = 0; t < n; t++)
        for (size_t s = t + 1 > bands ? t + 1 - bands : 0; s <= t; s++)
            C[t * n + s] = s == t ? 0.5 + 2.25 * (1.0 + draw()) : 0.5 * draw();
}

static pn_prefix_options options_of(double *C, size_t dim, size_t horizon)
{
    pn_prefix_options options = unit_noise(dim, horizon);

    options.estimator_given = false;
    options.factorization = "matrix";
    options.matrix = (pn_mat){ C, horizon, horizon };
    return options;
}

static void push_leaves(pn_prefix *stream, size_t count, size_t dim, double *out)
{
    double leaf[DIM];

    random_state = 5;
    for (size_t t = 0; t < count; t++) {
        for (size_t j = 0; j < dim; j++)
            leaf[j] = 100.0 * draw();
        CHECK(pn_prefix_push(stream, leaf, out + t * dim, NULL, NULL) == PN_OK);
    }
}

/* ---- what the library has itself ---- */

static void same_bits(pn_prefix_options own, double *C)
{
    pn_prefix_options given = options_of(C, DIM, LEAVES);
    pn_prefix_design *theirs = design_of(own), *ours = design_of(given);
    pn_prefix *one = stream_of(theirs, 3), *two = stream_of(ours, 3);
    double want[LEAVES * DIM], got[LEAVES * DIM];

    push_leaves(one, LEAVES, DIM, want);
    push_leaves(two, LEAVES, DIM, got);
    CHECK(memcmp(want, got, sizeof want) == 0);
    CHECK_CLOSE(pn_prefix_gain(ours), pn_prefix_gain(theirs), 1e-11 * pn_prefix_gain(theirs));
    CHECK_CLOSE(pn_prefix_design_mu(ours), pn_prefix_design_mu(theirs), 1e-9);
    for (uint64_t t = 1; t <= LEAVES; t++)
        CHECK_CLOSE(pn_prefix_design_variance(ours, t), pn_prefix_design_variance(theirs, t), 1e-12 * (double)t);
    pn_prefix_free(one);
    pn_prefix_free(two);
    pn_prefix_design_free(theirs);
    pn_prefix_design_free(ours);
}

static void is_the_toeplitz_factorization_of_the_same_matrix(void)
{
    double c[LEAVES], *C = square_of(LEAVES);
    pn_prefix_options options = unit_noise(DIM, LEAVES);

    options.estimator_given = false;
    pn_toeplitz_sqrt(LEAVES, c);
    fill_toeplitz(C, LEAVES, LEAVES, c);
    options.factorization = "sqrt";
    same_bits(options, C);
    fill_toeplitz(C, LEAVES, 5, c);
    options.factorization = "banded";
    options.bands = 5;
    same_bits(options, C);
    fill_toeplitz(C, LEAVES, 1, c);
    options.bands = 1;
    same_bits(options, C); /* independent noise on every leaf */
    free(C);
}

/* The releases of the tree have a covariance L L^T; C = L^-1 A makes the same.  Its price is no more, since the tree
 * measures nodes of which the releases are made. */
static void is_the_tree_of_the_same_releases(void)
{
    enum { T = 8 };
    double L[T][T] = { { 0.0 } }, *C = square_of(T);
    pn_prefix_options options = unit_noise(1, T);
    pn_prefix_design *tree = design_of(options), *ours;

    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j <= i; j++) {
            /* without the root t = 8 has the nodes of 1..4 and 5..8; two releases share the nodes that both have */
            static const unsigned nodes[T] = { 0x1, 0x2, 0x6, 0x8, 0x18, 0x28, 0x68, 0x88 };
            double sum = (double)__builtin_popcount(nodes[i] & nodes[j]);

            for (size_t k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (size_t s = 0; s < T; s++) { /* column s of L^-1 A, by forward substitution */
        for (size_t t = s; t < T; t++) {
            double sum = 1.0;

            for (size_t k = s; k < t; k++)
                sum -= L[t][k] * C[k * T + s];
            C[t * T + s] = fabs(sum) > 1e-12 ? sum / L[t][t] : 0.0;
        }
    }
    ours = design_of(options_of(C, 1, T));
    for (uint64_t t = 1; t <= T; t++)
        CHECK_CLOSE(pn_prefix_design_variance(ours, t), pn_prefix_design_variance(tree, t), 1e-12);
    CHECK(pn_prefix_gain(ours) <= pn_prefix_gain(tree) * (1.0 + 1e-12) && pn_prefix_gain(ours) > 1.0);
    pn_prefix_design_free(tree);
    pn_prefix_design_free(ours);
    free(C);
}

/* Units of C are those of z: twice C, twice the noise of z, the same releases. */
static void does_not_depend_on_the_scale_of_the_matrix(void)
{
    double *C = square_of(LEAVES), out[2][LEAVES * DIM];

    random_state = 9;
    fill_any(C, LEAVES, LEAVES);
    for (int twice = 0; twice < 2; twice++) {
        pn_prefix_options options = options_of(C, DIM, LEAVES);
        pn_prefix_design *design;
        pn_prefix *stream;

        options.sigma = twice ? 2.0 : 1.0;
        design = design_of(options);
        stream = stream_of(design, 3);
        push_leaves(stream, LEAVES, DIM, out[twice]);
        pn_prefix_free(stream);
        pn_prefix_design_free(design);
        for (size_t i = 0; i < (size_t)LEAVES * LEAVES; i++)
            C[i] *= 2.0;
    }
    CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
    free(C);
}

/* ---- C^-1 z ---- */

static void noise_is_what_the_inverse_makes_of_z(void)
{
    static const size_t bands[] = { 1, 2, 7, LEAVES };
    double *C = square_of(LEAVES), out[LEAVES * DIM], z[LEAVES], w[LEAVES];

    for (size_t k = 0; k < sizeof bands / sizeof *bands; k++) {
        pn_prefix_design *design;
        pn_prefix *stream;

        random_state = k;
        fill_any(C, LEAVES, bands[k]);
        design = design_of(options_of(C, DIM, LEAVES));
        stream = stream_of(design, 11 + k);
        push_zeros(stream, LEAVES, DIM, out);
        CHECK(design->ops->words(design->method, 1) == bands[k] - 1);
        for (size_t j = 0; j < DIM; j++) {
            double sum = 0.0;

            for (size_t t = 0; t < LEAVES; t++)
                z[t] = node_noise(stream, 0, t + 1, j);
            CHECK(pn_linear_solve(w, (pn_mat){ C, LEAVES, LEAVES }, z, NULL) == PN_OK);
            for (size_t t = 0; t < LEAVES; t++) {
                sum += w[t];
                CHECK_CLOSE(out[t * DIM + j], sum, 1e-9);
            }
        }
        pn_prefix_free(stream);
        pn_prefix_design_free(design);
    }
    free(C);
}

static void leaves_add_up_under_the_same_noise(void)
{
    double *C = square_of(LEAVES), zero[LEAVES * DIM], out[LEAVES * DIM], sum[DIM] = { 0.0 };
    pn_prefix_design *design;
    pn_prefix *stream, *empty;

    random_state = 4;
    fill_any(C, LEAVES, 6);
    design = design_of(options_of(C, DIM, LEAVES));
    stream = stream_of(design, 5);
    empty = stream_of(design, 5);
    push_zeros(empty, LEAVES, DIM, zero);
    push_leaves(stream, LEAVES, DIM, out);
    random_state = 5;
    for (size_t t = 0; t < LEAVES; t++)
        for (size_t j = 0; j < DIM; j++) {
            sum[j] += 100.0 * draw();
            CHECK_CLOSE(out[t * DIM + j] - zero[t * DIM + j], sum[j], 1e-9);
        }
    CHECK(pn_prefix_push(stream, sum, out, NULL, NULL) == PN_EBUDGET);
    pn_prefix_free(stream);
    pn_prefix_free(empty);
    pn_prefix_design_free(design);
    free(C);
}

/* || row t of A C^-1 ||^2 by LAPACK, row by row: C^T x = (1, .., 1, 0, ..). */
static void variances_are_exact(void)
{
    double *C = square_of(LEAVES), *transposed = square_of(LEAVES), ones[LEAVES] = { 0.0 }, x[LEAVES];
    double all[LEAVES];
    pn_prefix_design *design;

    random_state = 12;
    fill_any(C, LEAVES, 9);
    for (size_t t = 0; t < LEAVES; t++)
        for (size_t s = 0; s < LEAVES; s++)
            transposed[s * LEAVES + t] = C[t * LEAVES + s];
    design = design_of(options_of(C, 1, LEAVES));
    pn_prefix_variances(design, LEAVES, all);
    for (size_t t = 0; t < LEAVES; t++) {
        double want = 0.0;

        ones[t] = 1.0;
        CHECK(pn_linear_solve(x, (pn_mat){ transposed, LEAVES, LEAVES }, ones, NULL) == PN_OK);
        for (size_t s = 0; s < LEAVES; s++)
            want += x[s] * x[s];
        CHECK_CLOSE(all[t], want, 1e-12 * want);
        CHECK(pn_prefix_design_variance(design, t + 1) == all[t]);
    }
    CHECK(isnan(pn_prefix_design_variance(design, LEAVES + 1)));
    pn_prefix_design_free(design);
    free(C);
    free(transposed);
}

/* z = C times the noise of the leaves, over `dim` independent coordinates; how many standard deviations the worst entry
 * of its mean square is from the identity. */
static double off(const double *C, size_t n, size_t dim, const double *out)
{
    double *z = calloc(n * dim, sizeof *z), worst = 0.0;

    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s <= t; s++)
            for (size_t j = 0; j < dim; j++)
                z[t * dim + j] += C[t * n + s] * (out[s * dim + j] - (s > 0 ? out[(s - 1) * dim + j] : 0.0));
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s <= t; s++) {
            double sum = 0.0;

            for (size_t j = 0; j < dim; j++)
                sum += z[t * dim + j] * z[s * dim + j];
            worst = fmax(worst, fabs(sum / (double)dim - (s == t)) * sqrt((double)dim / (s == t ? 2.0 : 1.0)));
        }
    free(z);
    return worst;
}

/* 55 entries at 6.5 deviations: 55 * 2^-33 = 6.4e-9 for a true law.  A diagonal entry that is off by a factor of 1.1
 * is 14 deviations off on average, and missed with a probability of 2^-38. */
static void the_noise_has_the_covariance_of_the_matrix(void)
{
    enum { T = 10, WIDE = 40000 };
    double *C = square_of(T), *out = calloc((size_t)T * WIDE, sizeof *out);
    pn_prefix_design *design;
    pn_prefix *stream;

    random_state = 3;
    fill_any(C, T, 4);
    design = design_of(options_of(C, WIDE, T));
    stream = stream_of(design, 2024);
    push_zeros(stream, T, WIDE, out);
    CHECK(off(C, T, WIDE, out) < 6.5);
    for (size_t t = 0; t < T; t++) { /* of a matrix that is another, it is seen */
        const double is = C[t * T + t];

        for (size_t s = 0; s <= t; s++)
            C[t * T + s] *= sqrt(1.1);
        CHECK(off(C, T, WIDE, out) > 6.5);
        for (size_t s = 0; s <= t; s++)
            C[t * T + s] *= is / C[t * T + t];
    }
    C[9 * T + 7] += 0.2;
    CHECK(off(C, T, WIDE, out) > 6.5);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
    free(C);
    free(out);
}

/* ---- prices ---- */

static void prices_are_those_of_the_participations(void)
{
    static const size_t ways[][2] = { { 1, 1 }, { 2, 3 }, { 4, 5 }, { 3, 12 }, { 100, 1 } };
    double *C = square_of(LEAVES);

    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        pn_prefix_options options = options_of(C, DIM, LEAVES);
        pn_participation moved;
        pn_prefix_design *design;
        double sigma;

        random_state = 40 + k;
        fill_any(C, LEAVES, 8);
        options.sigma = 0.0;
        options.rho = 0.5; /* mu = 1 */
        options.sensitivity = 2.0;
        options.participations = ways[k][0];
        options.separation = ways[k][1];
        CHECK(pn_participation_sensitivity(&moved, options.matrix, 8, ways[k][0], ways[k][1], NULL) == PN_OK);
        design = design_of(options);
        sigma = pn_prefix_design_sigma(design);
        CHECK(pn_prefix_gain(design) >= moved.certified);
        CHECK_CLOSE(pn_prefix_gain(design), moved.certified, 1e-11 * moved.certified);
        CHECK(sigma >= 2.0 * moved.certified);
        CHECK_CLOSE(sigma, 2.0 * moved.certified, 1e-6 * sigma);
        CHECK(pn_prefix_design_mu(design) <= 1.0 && pn_prefix_design_mu(design) > 1.0 - 1e-9);
        CHECK(design->method->draws == LEAVES);
        /* a step for each row but the first, and what the sums inside are off by */
        CHECK(design->method->settled >= sqrt(LEAVES - 1.0) && design->method->settled < 2.0 * sqrt(LEAVES - 1.0));
        pn_prefix_design_free(design);
    }
    free(C);
}

/* ---- words, refusals, memory ---- */

static void says_what_it_is(void)
{
    double c[LEAVES], *C = square_of(LEAVES);
    pn_prefix_options options = options_of(C, 1, LEAVES);
    pn_prefix_design *design;
    char text[200];

    pn_toeplitz_sqrt(LEAVES, c);
    fill_toeplitz(C, LEAVES, LEAVES, c);
    options.participations = 5;
    options.factorization = NULL; /* the matrix says which */
    design = design_of(options);
    pn_prefix_design_describe(design, text, sizeof text);
    CHECK(strcmp(text, "given matrix, 24 bands, sensitivity exact, horizon 24") == 0);
    pn_prefix_design_free(design);
    random_state = 1;
    fill_any(C, LEAVES, 20);
    design = design_of(options);
    pn_prefix_design_describe(design, text, sizeof text);
    CHECK(strstr(text, "given matrix, 20 bands, sensitivity an upper bound, at most ") && strstr(text, "% high"));
    pn_prefix_design_free(design);
    free(C);
}

static bool refused(pn_prefix_options options, pn_status want, const char *word)
{
    pn_prefix_design *design = NULL;
    pn_err err;
    pn_status status = pn_prefix_design_new(&design, &options, &err);

    pn_prefix_design_free(design);
    if (status == want && (status == PN_OK || strstr(err.message, word)))
        return true;
    (void)fprintf(stderr, "%s: %s\n", pn_status_name(status), status == PN_OK ? "" : err.message);
    return false;
}

static void refuses_what_is_no_factorization(void)
{
    double C[9] = { 1.0, 0.0, 0.0, 0.5, 2.0, 0.0, -0.5, 0.0, 1.0 };
    const pn_prefix_options good = options_of(C, 1, 3);
    pn_prefix_options options = good;

    CHECK(refused(good, PN_OK, ""));
    options.matrix.rows = 0;
    CHECK(refused(options, PN_EINVAL, "needs a matrix of 3 x 3"));
    options = good;
    options.horizon = 4;
    CHECK(
        refused(options, PN_EDIM, "matrix must be 4 x 4, a row and a column for each leaf of the horizon, got 3 x 3"));
    options.horizon = 0;
    CHECK(refused(options, PN_EINVAL, "needs a horizon"));
    options = good;
    options.growth = PN_PREFIX_ENDLESS;
    CHECK(refused(options, PN_EINVAL, "unknown horizon"));
    C[2] = 1e-9;
    CHECK(refused(good, PN_EINVAL, "lower triangular, got 1e-09 at row 1, column 3"));
    C[2] = 0.0;
    C[5] = 3.0;
    CHECK(refused(good, PN_EINVAL, "lower triangular, got 3 at row 2, column 3"));
    C[5] = 0.0;
    C[4] = 0.0;
    CHECK(refused(good, PN_EINVAL, "the diagonal of matrix must be positive (2^-64 to 2^64), got 0 at row 2"));
    C[4] = -2.0;
    CHECK(refused(good, PN_EINVAL, "got -2 at row 2"));
    C[4] = 1e-300;
    CHECK(refused(good, PN_EINVAL, "got 1e-300 at row 2"));
    C[4] = NAN;
    CHECK(refused(good, PN_EDOMAIN, "finite numbers, got nan at row 2, column 2"));
    C[4] = 1.0;
    C[3] = INFINITY;
    CHECK(refused(good, PN_EDOMAIN, "got inf at row 2, column 1"));
    C[3] = 1e30;
    CHECK(refused(good, PN_EINVAL, "at most 2^64, got 1e+30 at row 2, column 1"));
    C[3] = 200.0;
    CHECK(
        refused(good, PN_EINVAL, "makes noise larger, by up to 201 (at most 128 is supported): smaller entries below"));
    C[3] = 0.5;
    C[0] = 0x1p-64; /* a leaf that is as good as not measured, and next to it one that is */
    C[8] = 0x1p60;
    C[3] = 0x1p-66;
    C[6] = 0.0;
    CHECK(refused(good, PN_OK, ""));
}

static pn_status make_one(void *self, pn_err *err)
{
    pn_prefix_options options = options_of(self, 3, 6);
    pn_prefix_design *design = NULL;
    pn_status status;

    options.participations = 3;
    options.separation = 2;
    status = pn_prefix_design_new(&design, &options, err);
    pn_prefix_design_free(design);
    return status;
}

int main(void)
{
    double *C = square_of(6);

    is_the_toeplitz_factorization_of_the_same_matrix();
    is_the_tree_of_the_same_releases();
    does_not_depend_on_the_scale_of_the_matrix();
    noise_is_what_the_inverse_makes_of_z();
    leaves_add_up_under_the_same_noise();
    variances_are_exact();
    the_noise_has_the_covariance_of_the_matrix();
    prices_are_those_of_the_participations();
    says_what_it_is();
    refuses_what_is_no_factorization();
    fill_any(C, 6, 6);
    fail_alloc_sweep("design", make_one, C);
    free(C);
    return check_summary();
}
