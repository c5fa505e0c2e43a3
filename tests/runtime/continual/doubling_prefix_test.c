/* doubling_prefix_test.c -- streams without a horizon: epochs that double, each with noise of its own, and one tree
 * without end.  Numbers are those of tree-mechanism.md, section 9, item 9.
 * Depends on: check.h, prefix_kit.h, continual/. */
#include "runtime/continual/prefix_kit.h"

static pn_prefix_design *endless_or_doubling(pn_prefix_growth growth, pn_prefix_estimator estimator, double rho)
{
    pn_prefix_options options = unit_noise(1, 0);

    options.growth = growth;
    options.estimator = estimator;
    options.sigma = 0.0;
    options.rho = rho;
    options.bound = 1.0;
    return design_of(options);
}

static void has_the_factors_of_the_spec(void)
{
    static const uint64_t leaves[] = { 1, 3, 5, 8, 100, 1000 };
    static const double factors[2][6] = { { 1, 3, 6, 10, 42, 105 }, { 1, 2.3333, 4.3333, 8.0476, 26.3648, 59.3427 } };
    static double all[1000];

    for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_HONAKER; estimator++) {
        pn_prefix_design *design = endless_or_doubling(PN_PREFIX_DOUBLING, (pn_prefix_estimator)estimator, 0.5);

        pn_prefix_variances(design, 1000, all);
        for (size_t i = 0; i < 6; i++)
            CHECK_CLOSE(pn_prefix_design_variance(design, leaves[i]), factors[estimator][i], 6e-5);
        for (uint64_t t = 1; t <= 1000; t++)
            CHECK_CLOSE(all[t - 1], pn_prefix_design_variance(design, t), 1e-11);
        CHECK(isnan(pn_prefix_design_variance(design, 0)));
        CHECK(pn_prefix_design_variance(design, UINT64_C(1) << 47) > 0.0);
        CHECK_CLOSE(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)), 0.5, 1e-9);
        CHECK(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)) <= 0.5);
        pn_prefix_design_free(design);
    }
}

/* Each epoch by itself is within the budget: sigma_m = sqrt(m + 1) / mu. */
static void calibrates_every_epoch_to_the_same_price(void)
{
    pn_prefix_design *design = endless_or_doubling(PN_PREFIX_DOUBLING, PN_PREFIX_HONAKER, 0.08);

    for (uint64_t m = 0; m < 40; m++) {
        pn_prefix_method *method = NULL;

        CHECK(pn_prefix_epoch(&method, design, m, NULL) == PN_OK);
        CHECK(method->horizon == (uint64_t)1 << m);
        CHECK_CLOSE(method->sigma, sqrt((double)m + 1.0) / 0.4, 1e-9);
        CHECK(pn_prefix_charged(method, design) <= pn_prefix_design_mu(design));
        CHECK(method->draws <= pn_prefix_epoch_draws(design));
        method->ops->destroy(method);
    }
    pn_prefix_design_free(design);
}

/* Given sigma is that of the first leaf; what it costs, all later epochs cost. */
static void follows_a_sigma_that_is_given(void)
{
    pn_prefix_options options = unit_noise(4, 0);
    pn_prefix_design *design;
    pn_prefix_method *method = NULL;

    options.sigma = 5.0;
    options.sensitivity = 2.0;
    design = design_of(options);
    CHECK(pn_prefix_design_sigma(design) == 5.0);
    CHECK_CLOSE(pn_prefix_design_mu(design), 0.4, 1e-8);
    CHECK_CLOSE(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)), 0.08, 1e-8);
    CHECK(pn_prefix_epoch(&method, design, 3, NULL) == PN_OK);
    CHECK_CLOSE(method->sigma, 10.0, 1e-7);
    CHECK(pn_prefix_charged(method, design) <= pn_prefix_design_mu(design));
    method->ops->destroy(method);
    pn_prefix_design_free(design);
}

/* Across an epoch's end the noise of what came before stays, and the new epoch's nodes come on top,
 * at addresses of their own. */
static void freezes_what_an_epoch_ends_with(void)
{
    pn_prefix_options options = unit_noise(3, 0);
    pn_prefix_design *design = design_of(options);
    pn_prefix *stream = stream_of(design, 9);
    double out[16][3], base[3] = { 0.0 };

    for (size_t t = 1; t <= 15; t++) {
        uint64_t epoch = 63U - (unsigned)__builtin_clzll(t), u = t - ((uint64_t)1 << epoch) + 1;

        push_zeros(stream, 1, 3, out[t]);
        CHECK(stream->epoch == epoch);
        if (u == 1 && t > 1)
            memcpy(base, out[t - 1], sizeof base);
        for (size_t j = 0; j < 3; j++) {
            double noise = base[j];

            for (unsigned i = 0; i < 5; i++)
                noise += u >> i & 1 ? node_noise(stream, i, u >> i, j) : 0.0;
            CHECK_CLOSE(out[t][j], noise, 1e-12);
        }
    }
    CHECK(out[2][0] - out[1][0] != out[1][0]);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* Level i has sigma_0 (i + 1), and 1 + 1/4 + 1/9 + ... = pi^2/6: prefix 2^k - 1 has 1 + 4 + ... + k^2. */
static void prices_a_tree_without_end_by_all_of_its_levels(void)
{
    pn_prefix_design *design = endless_or_doubling(PN_PREFIX_ENDLESS, PN_PREFIX_PLAIN, 0.5);
    double square = pn_prefix_design_sigma(design) * pn_prefix_design_sigma(design), sum = 0.0, harmonic = 0.0;
    static double all[1023];

    CHECK_CLOSE(square, 1.6449340668, 1e-8);
    pn_prefix_variances(design, 1023, all);
    for (uint64_t k = 1; k <= 48; k++) {
        sum += (double)(k * k);
        harmonic += 1.0 / (double)(k * k);
        CHECK_CLOSE(pn_prefix_design_variance(design, ((uint64_t)1 << k) - 1) / square, sum, 1e-9 * sum);
    }
    CHECK(harmonic <= pn_prefix_gain(design) * pn_prefix_gain(design));
    for (uint64_t t = 1; t <= 1023; t++)
        CHECK_CLOSE(all[t - 1], pn_prefix_design_variance(design, t), 1e-11 * all[t - 1]);
    CHECK(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)) <= 0.5);
    pn_prefix_design_free(design);
}

/* A tree has the memory of the layers that there are. */
static void grows_with_its_leaves(void)
{
    pn_prefix_design *design = endless_or_doubling(PN_PREFIX_ENDLESS, PN_PREFIX_HONAKER, 0.5);
    pn_prefix *stream = stream_of(design, 1);
    size_t before = stream->state_bytes;

    CHECK(pn_prefix_room(design, 1) == 4.0 && pn_prefix_room(design, 1024) == 34.0);
    push_zeros(stream, 1024, 1, NULL);
    CHECK(before == 2 * 8 * 4 && stream->state_bytes == 2 * 8 * 34); /* one coordinate has the room of two */
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

static void chooses_by_what_is_known(void)
{
    pn_prefix_options options = { .dim = 2, .sensitivity = 1.0, .rho = 0.5, .neighbours = PN_REPLACE_ONE };
    pn_prefix_design *design = design_of(options);
    char text[200];

    CHECK(strcmp(pn_prefix_options_of(design)->factorization, "binary") == 0);
    CHECK(pn_prefix_options_of(design)->estimator == PN_PREFIX_HONAKER);
    pn_prefix_design_describe(design, text, sizeof text);
    CHECK(strcmp(text, "binary tree, honaker, unknown horizon, epochs that double") == 0);
    pn_prefix_design_free(design);
    options.horizon = 100;
    options.factorization = "binary";
    design = design_of(options);
    CHECK(pn_prefix_options_of(design)->estimator == PN_PREFIX_PLAIN);
    pn_prefix_design_describe(design, text, sizeof text);
    CHECK(strcmp(text, "binary tree, plain, 7 layers, horizon 100") == 0);
    pn_prefix_design_free(design);
    options.factorization = NULL;
    options.keep_root = true;
    design = design_of(options);
    CHECK(strcmp(pn_prefix_options_of(design)->factorization, "binary") == 0);
    pn_prefix_design_free(design);
}

int main(void)
{
    has_the_factors_of_the_spec();
    calibrates_every_epoch_to_the_same_price();
    follows_a_sigma_that_is_given();
    freezes_what_an_epoch_ends_with();
    prices_a_tree_without_end_by_all_of_its_levels();
    grows_with_its_leaves();
    chooses_by_what_is_known();
    return check_summary();
}
