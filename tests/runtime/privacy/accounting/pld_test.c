/* pld_test.c -- the certificate itself: lattice laws above and below every pair, both ways to the composition, exact
 * answers inside, and memory that runs out anywhere.  Depends on: check.h, fail_alloc.h, privacy/.  Numbers:
 * accounting.md section 5, Gaussian and optimal composition in closed form (gaussian.h, composition.h). */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/composition.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_law.h"
#include "privacy/accounting/pld_side.h"
#include "privacy/event/gaussian.h"

static double real_delta(const pn_pair *pair, double loss)
{
    pn_tails t;

    pair->tails(pair, loss, &t);
    return t.p_above - exp(loss) * t.q_above;
}

/* ---- pairs ---- */

static void check_tails(const pn_pair *pair, double low, double high)
{
    pn_tails before = { 0.0, 0.0, 1.0, 1.0 };

    for (int i = 0; i <= 400; i++) {
        double loss = low + (high - low) * i / 400.0, p, q;
        pn_tails t;

        pair->tails(pair, loss, &t);
        CHECK_CLOSE(t.p_below + t.p_above, 1.0, 4e-16);
        CHECK_CLOSE(t.q_below + t.q_above, 1.0, 4e-16);
        CHECK(t.p_above <= before.p_above && t.q_above <= before.q_above);
        p = before.p_above - t.p_above;
        q = before.q_above - t.q_above;
        /* the mass between two losses has its ratio between their exponentials */
        if (i > 0 && q > 1e-9 && p > 1e-9)
            CHECK(p / q >= exp(loss - (high - low) / 400.0) * (1.0 - 1e-6) && p / q <= exp(loss) * (1.0 + 1e-6));
        before = t;
    }
}

static void test_pairs(void)
{
    pn_pair p[2];

    pn_pair_gaussian(&p[0], 0.7);
    check_tails(&p[0], -4.0, 5.0);
    CHECK_CLOSE(real_delta(&p[0], 0.5), pn_gaussian_delta(0.7, 0.5), 3e-13);
    pn_pair_laplace(&p[0], 1.2);
    check_tails(&p[0], -1.3, 1.3);
    /* the known profile of the Laplace mechanism: 1 - exp((l - e)/2) */
    for (double l = 0.0; l < 1.2; l += 0.1)
        CHECK_CLOSE(real_delta(&p[0], l), -expm1((l - 1.2) / 2.0), 1e-15);
    pn_pair_pure(&p[0], 0.3);
    CHECK_CLOSE(real_delta(&p[0], 0.0), tanh(0.15), 1e-15);
    CHECK(real_delta(&p[0], 0.3) == 0.0);
    pn_pair_bounded_range(&p[0], 0.8);
    check_tails(&p[0], -0.9, 0.9);
    pn_pair_poisson(p, 0.1, 0.9);
    check_tails(&p[0], -0.2, 4.0);
    check_tails(&p[1], -4.0, 0.2);
    pn_pair_fixed(&p[0], 0.1, 0.9);
    check_tails(&p[0], -4.0, 4.0);
    pn_pair_poisson_replace(&p[0], 0.1, 0.9);
    check_tails(&p[0], -4.0, 4.0);
}

/* The envelope over all two-point pairs of bounded range, by search. */
static void test_bounded_range_envelope(void)
{
    double e = 0.8;
    pn_pair pair;

    pn_pair_bounded_range(&pair, e);
    for (double loss = -0.75; loss < 0.8; loss += 0.05) {
        double best = 0.0, x = exp(loss);

        for (int i = 0; i <= 20000; i++) {
            double t = e * i / 20000.0, w = -expm1(t - e) / -expm1(-e), v = w * exp(-t);

            best = fmax(best, fmax(0.0, w - x * v) + fmax(0.0, (1.0 - w) - x * (1.0 - v)));
        }
        CHECK_CLOSE(real_delta(&pair, loss), best, 1e-9);
    }
}

/* ---- laws ---- */

static double law_delta(const pn_law *law, double loss)
{
    long double sum = law->infinite;

    for (size_t j = 0; j < law->n; j++) {
        double at = law->offset + (double)(law->first + (int64_t)j) * law->h;

        if (at > loss)
            sum += (long double)law->p[j] * -expm1l((long double)(loss - at));
    }
    return (double)sum;
}

/* H of the lower law <= H <= H of the upper law at and between the knots; how far apart they get in *gap. */
static void check_laws(const pn_pair *pair, double h, bool mirrored, double *gap_total)
{
    pn_cells cells;
    pn_law upper, lower;

    *gap_total = 0.0;
    if (!CHECK(pn_cells_new(&cells, pair, h, 1e-18, NULL) == PN_OK))
        return;
    CHECK(pn_law_new(&upper, &cells, true, mirrored, 1.0, NULL) == PN_OK);
    CHECK(pn_law_new(&lower, &cells, false, mirrored, 1.0, NULL) == PN_OK);
    for (size_t j = 0; j < lower.n; j++)
        CHECK(lower.p[j] >= 0.0 && upper.p[j] >= 0.0);
    for (double at = -0.75; at < 2.0; at += 0.19 * h + 1e-3) {
        pn_tails t;
        double exact;

        pair->tails(pair, mirrored ? -at : at, &t);
        exact = mirrored ? t.q_below - exp(at) * t.p_below : t.p_above - exp(at) * t.q_above;
        CHECK(law_delta(&upper, at) >= exact - 4e-15);
        CHECK(law_delta(&lower, at) <= exact + 4e-15);
        *gap_total = fmax(*gap_total, law_delta(&upper, at) - law_delta(&lower, at));
    }
    pn_law_clear(&upper);
    pn_law_clear(&lower);
    pn_cells_clear(&cells);
}

static void test_laws_enclose_the_record(void)
{
    pn_pair p[2];
    double coarse, fine;

    pn_pair_gaussian(&p[0], 0.3);
    check_laws(&p[0], 0.02, false, &coarse);
    check_laws(&p[0], 0.01, false, &fine);
    CHECK(fine < 0.3 * coarse); /* of second order */
    pn_pair_laplace(&p[0], 0.9);
    check_laws(&p[0], 1.8 / 64, false, &coarse);
    check_laws(&p[0], 0.031, false, &fine); /* atoms between knots */
    CHECK(coarse < 1e-3);
    pn_pair_pure(&p[0], 0.4);
    check_laws(&p[0], 0.8, false, &coarse);
    CHECK(coarse < 1e-15);
    check_laws(&p[0], 0.033, false, &fine);
    pn_pair_bounded_range(&p[0], 0.5);
    check_laws(&p[0], 0.01, false, &coarse);
    pn_pair_fixed(&p[0], 0.1, 0.8);
    check_laws(&p[0], 0.01, false, &coarse);
    pn_pair_poisson_replace(&p[0], 0.1, 0.8);
    check_laws(&p[0], 0.01, false, &coarse);
    pn_pair_poisson(p, 0.05, 0.8);
    for (double h = 0.02; h > 4e-4; h /= 3.0) {
        check_laws(&p[0], h, false, &coarse);
        check_laws(&p[0], h, true, &fine);
    }
}

/* ---- mass that the lattice does not reach ---- */

/* With a tail cut so early that every bit of it shows: the upper law has all of P's mass, and its hockey stick is above
 * the pair's from far left of the knots to far right of them; the lower law's is below. */
static void check_cut(const pn_pair *pair, double h, bool mirrored, double tail)
{
    pn_cells cells;
    pn_law upper, lower;
    long double mass;

    if (!CHECK(pn_cells_new(&cells, pair, h, tail, NULL) == PN_OK))
        return;
    CHECK(pn_law_new(&upper, &cells, true, mirrored, 1.0, NULL) == PN_OK);
    CHECK(pn_law_new(&lower, &cells, false, mirrored, 1.0, NULL) == PN_OK);
    mass = (long double)upper.infinite;
    for (size_t j = 0; j < upper.n; j++)
        mass += (long double)upper.p[j];
    CHECK_CLOSE((double)mass, 1.0, 1e-12);
    CHECK(lower.infinite == 0.0);
    for (double at = -8.0; at < 12.0; at += 0.0617) {
        pn_tails t;
        double exact;

        pair->tails(pair, mirrored ? -at : at, &t);
        exact = mirrored ? t.q_below - exp(at) * t.p_below : t.p_above - exp(at) * t.q_above;
        CHECK(law_delta(&upper, at) >= exact - 4e-15 * fmax(1.0, exp(at)));
        CHECK(law_delta(&lower, at) <= exact + 4e-15 * fmax(1.0, exp(at)));
    }
    pn_law_clear(&upper);
    pn_law_clear(&lower);
    pn_cells_clear(&cells);
}

static void test_mass_that_is_cut_stays_in_the_upper_law(void)
{
    for (double tail = 0.1; tail > 1e-6; tail *= 0.03) {
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            pn_pair p[2];

            pn_pair_gaussian(&p[0], 0.9);
            check_cut(&p[0], 0.02, mirrored, tail);
            pn_pair_laplace(&p[0], 0.9);
            check_cut(&p[0], 1.8 / 64, mirrored, tail);
            check_cut(&p[0], 0.031, mirrored, tail);
            pn_pair_bounded_range(&p[0], 0.5);
            check_cut(&p[0], 0.01, mirrored, tail);
            pn_pair_fixed(&p[0], 0.1, 0.8);
            check_cut(&p[0], 0.01, mirrored, tail);
            pn_pair_poisson(p, 0.05, 0.8);
            check_cut(&p[0], 0.01, mirrored, tail);
            check_cut(&p[1], 0.01, mirrored, tail);
        }
    }
}

/* Of `count` events at least one has it with chance 1 - (1 - m)^count, and then no epsilon is large enough. */
static void test_infinite_mass_is_composed(void)
{
    pn_law laws[2];
    pn_cells cells;
    pn_side side;
    pn_pair pair;
    double left, most;

    pn_pair_gaussian(&pair, 0.9);
    CHECK(pn_cells_new(&cells, &pair, 0.02, 1e-3, NULL) == PN_OK);
    CHECK(pn_law_new(&laws[0], &cells, true, false, 40.0, NULL) == PN_OK);
    CHECK(pn_law_new(&laws[1], &cells, true, true, 3.0, NULL) == PN_OK);
    CHECK(laws[0].infinite > 1e-5 && laws[1].infinite > 1e-5);
    left = pow(1.0 - laws[0].infinite, 40.0) * pow(1.0 - laws[1].infinite, 3.0);
    most = fmax(laws[0].infinite, laws[1].infinite);
    pn_side_init(&side, laws, 2, true);
    CHECK(side.infinite >= 40.0 * laws[0].infinite * 0.9 && side.infinite > most);
    CHECK_CLOSE(side.infinite, 1.0 - left, 1e-12);
    pn_side_clear(&side);
    for (int i = 0; i < 2; i++)
        pn_law_clear(&laws[i]);
    pn_cells_clear(&cells);
}

/* ---- composition ---- */

static pn_pld_bounds bounds_of(const pn_pair *pair, size_t directions, size_t count, double delta, double step,
                               bool by_transform)
{
    pn_pld_record record = { *pair, *pair, true, directions == 2, count };
    pn_pld_options options = { .step = step, .by_transform = by_transform };
    pn_pld_bounds out = { NAN, NAN };

    CHECK(pn_pld_epsilon(&out, &record, 1, delta, &options, NULL) == PN_OK);
    return out;
}

static void test_exact_gaussian_is_inside(void)
{
    for (double mu = 0.01; mu <= 10.01; mu *= 10.0) {
        for (size_t count = 1; count <= 100000; count *= 100) {
            double total = mu * sqrt((double)count), exact = pn_gaussian_epsilon(total, 1e-6);
            pn_pld_bounds got;
            pn_pair pair;

            if (exact > 500.0)
                continue; /* the accountant takes Gaussians for one and never comes here */
            pn_pair_gaussian(&pair, mu);
            got = bounds_of(&pair, 1, count, 1e-6, 0.0, false);
            CHECK(got.low <= exact && exact <= got.high);
            CHECK(got.high - got.low <= 0.01 * got.high);
        }
    }
}

static void test_optimal_composition_is_inside(void)
{
    static const size_t counts[] = { 2, 30, 100, 5000 };

    for (double e = 0.01; e < 2.0; e *= 5.0) {
        for (size_t i = 0; i < 4; i++) {
            double exact = pn_kov_epsilon(e, 0.0, counts[i], 1e-6);
            pn_pld_bounds got;
            pn_pair pair;

            pn_pair_pure(&pair, e);
            got = bounds_of(&pair, 1, counts[i], 1e-6, 0.0, false);
            CHECK(got.low <= exact * (1.0 + 1e-9) && exact <= got.high * (1.0 + 1e-9));
            CHECK(got.high - got.low <= 1e-6 * got.high);
        }
    }
}

static void test_both_ways_agree(void)
{
    static const double deltas[] = { 1e-3, 1e-5, 1e-12 };
    pn_pair p[2];

    pn_pair_poisson(p, 0.02, 1.1);
    for (size_t i = 0; i < 3; i++) {
        pn_pld_bounds band = bounds_of(p, 2, 2000, deltas[i], 2e-4, false);
        pn_pld_bounds transform = bounds_of(p, 2, 2000, deltas[i], 2e-4, true);

        CHECK_CLOSE(band.low, transform.low, 1e-7);
        CHECK_CLOSE(band.high, transform.high, 1e-7);
        CHECK(band.low < band.high);
    }
}

static void test_finer_lattices_are_nested(void)
{
    pn_pair p[2];
    pn_pld_bounds coarse, fine;

    pn_pair_poisson(p, 0.01, 1.0);
    coarse = bounds_of(p, 2, 1000, 1e-5, 4e-4, false);
    fine = bounds_of(p, 2, 1000, 1e-5, 1e-4, false);
    CHECK(coarse.low <= fine.low && fine.low <= fine.high && fine.high <= coarse.high);
}

static void test_delta_inverts_epsilon(void)
{
    pn_pair p[2];
    pn_pld_record record = { .same = true, .two_directions = true, .count = 500 };
    pn_pld_options options = { .step = 2e-4 };
    pn_pld_bounds epsilon, at_high, at_low;

    pn_pair_poisson(p, 0.03, 1.2);
    record.dominating = record.attained = p[0];
    CHECK(pn_pld_epsilon(&epsilon, &record, 1, 1e-6, &options, NULL) == PN_OK);
    CHECK(pn_pld_delta(&at_high, &record, 1, epsilon.high, &options, NULL) == PN_OK);
    CHECK(pn_pld_delta(&at_low, &record, 1, epsilon.low, &options, NULL) == PN_OK);
    CHECK(at_high.high <= 1e-6 * (1.0 + 1e-6) && at_high.high > 0.99e-6);
    CHECK(at_low.low >= 1e-6 * (1.0 - 1e-6) && at_low.low < 1.01e-6);
    CHECK(at_low.low <= at_low.high && at_high.low <= at_high.high);
}

static void test_nothing_costs_nothing(void)
{
    pn_pld_options options = { 0 };
    pn_pld_bounds out = { NAN, NAN };

    CHECK(pn_pld_epsilon(&out, NULL, 0, 1e-6, &options, NULL) == PN_OK && out.low == 0.0 && out.high == 0.0);
    CHECK(pn_pld_delta(&out, NULL, 0, 0.0, &options, NULL) == PN_OK && out.high == 0.0);
}

static void test_a_step_that_is_too_small(void)
{
    pn_pair pair;
    pn_pld_record record;
    pn_pld_options options = { .step = 1e-9 };
    pn_pld_bounds out;
    pn_err err;

    pn_pair_gaussian(&pair, 1.0);
    record = (pn_pld_record){ pair, pair, true, false, 10 };
    CHECK(pn_pld_epsilon(&out, &record, 1, 1e-6, &options, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "step of 1e-09") != NULL);
}

/* ---- memory ---- */

/* The two ways in turn, an event that has two pairs, and the accountant around them. */
static pn_status compose_something(void *self, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_event *inner = NULL, *sampled = NULL, *laplace = NULL, *select = NULL;
    pn_arg args[2] = { { .given = true, .real = 2e-3 }, { 0 } };
    double low, high, delta;
    pn_status status = pn_accountant_from_args(&accountant, "pld", args, err);

    (void)self;
    if (status == PN_OK)
        status = pn_event_gaussian(&inner, 1.0, 1.0, 0, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_event_fixed_sampled(&sampled, 1, 20, inner, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_event_laplace(&laplace, 10.0, 1.0, 0, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_event_exponential(&select, 0.1, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, sampled, 3000, err);
    if (status == PN_OK)
        status = accountant->ops->interval(accountant, 1e-5, &low, &high, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, laplace, 3, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, select, 2, err);
    if (status == PN_OK)
        status = accountant->ops->delta(accountant, 3.0, &delta, err);
    pn_accountant_free(accountant);
    pn_event_free(inner);
    pn_event_free(sampled);
    pn_event_free(laplace);
    pn_event_free(select);
    return status;
}

int main(void)
{
    test_pairs();
    test_bounded_range_envelope();
    test_laws_enclose_the_record();
    test_mass_that_is_cut_stays_in_the_upper_law();
    test_infinite_mass_is_composed();
    test_exact_gaussian_is_inside();
    test_optimal_composition_is_inside();
    test_both_ways_agree();
    test_finer_lattices_are_nested();
    test_delta_inverts_epsilon();
    test_nothing_costs_nothing();
    test_a_step_that_is_too_small();
    CHECK(fail_alloc_sweep("pld", compose_something, NULL) > 20);
    return check_summary();
}
