/* pld_test.c -- the certificate itself: laws above and below every pair, payoffs above and below the hockey stick,
 * compositions in one part and in several, exact answers inside, and memory that runs out anywhere.  Depends on:
 * check.h, fail_alloc.h, privacy/.  Numbers: Gaussian and optimal composition in closed form (gaussian.h,
 * composition.h). */
#include <stdlib.h>
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
        if (law->loss[j] > loss)
            sum += (long double)law->p[j] * -expm1l((long double)loss - (long double)law->loss[j]);
    }
    return (double)sum;
}

/* Knots about every h where there is mass. */
static bool make_cells(pn_cells *out, const pn_pair *pair, double h, double tail)
{
    pn_cells_part part = { 1.0, 0.0, INFINITY, INFINITY, 1.0, 1.0 };
    pn_cells_plan plan = { .tail = tail, .parts = &part, .count = 1, .tolerance = h * h * h / 4.0, .most = 100000 };

    return pn_cells_new(out, pair, &plan, NULL) == PN_OK && out->n > 1;
}

/* H of the lower law <= H <= H of the upper law at and between the knots; how far apart they get in *gap. */
static void check_laws(const pn_pair *pair, double h, bool mirrored, double *gap_total)
{
    pn_cells cells;
    pn_law upper, lower;

    *gap_total = 0.0;
    if (!CHECK(make_cells(&cells, pair, h, 1e-18)))
        return;
    CHECK(pn_law_new(&upper, &cells, true, mirrored, 1.0, NULL) == PN_OK);
    CHECK(pn_law_new(&lower, &cells, false, mirrored, 1.0, NULL) == PN_OK);
    for (size_t j = 0; j < lower.n; j++)
        CHECK(lower.p[j] > 0.0 && (j == 0 || lower.loss[j] >= lower.loss[j - 1]));
    for (size_t j = 0; j < upper.n; j++)
        CHECK(upper.p[j] > 0.0 && (j == 0 || upper.loss[j] > upper.loss[j - 1]));
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

    if (!CHECK(make_cells(&cells, pair, h, tail)))
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
    CHECK(make_cells(&cells, &pair, 0.02, 1e-3));
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

static pn_pld_bounds bounds_of(const pn_pair *pair, size_t directions, size_t count, double delta, double step)
{
    pn_pld_record record = { *pair, *pair, true, directions == 2, count };
    pn_pld_bounds out = { NAN, NAN, NULL };

    CHECK(pn_pld_epsilon(&out, &record, 1, delta, step, NULL) == PN_OK);
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
            got = bounds_of(&pair, 1, count, 1e-6, 0.0);
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
            got = bounds_of(&pair, 1, counts[i], 1e-6, 0.0);
            CHECK(got.low <= exact * (1.0 + 1e-9) && exact <= got.high * (1.0 + 1e-9));
            CHECK(got.high - got.low <= 1e-6 * got.high);
        }
    }
}

/* A law of a few atoms, made by hand. */
static pn_law law_of(const double *loss, const double *p, size_t n, double count)
{
    pn_law law = { .n = n, .count = count };

    law.loss = malloc(4 * n * sizeof *law.loss);
    if (!CHECK(law.loss != NULL))
        exit(1);
    law.p = law.loss + n;
    law.log_p = law.p + n;
    law.tilted = law.log_p + n;
    for (size_t j = 0; j < n; j++) {
        law.loss[j] = loss[j];
        law.p[j] = p[j];
        law.log_p[j] = log(p[j]);
    }
    return law;
}

static void prepare(pn_part *part, double tilt, double epsilon, size_t frequencies)
{
    pn_part_tilt(part, tilt, epsilon);
    pn_part_place(part);
    CHECK(pn_part_extend(part, frequencies, NULL) == PN_OK);
}

/* One release of losses that are as bad as can be for smoothing: an atom at epsilon itself, next to it, far from it; of
 * ordinary size, and of the size at which the payoff is a step. */
static void test_payoffs_enclose_the_hockey_stick(void)
{
    static const double p[] = { 0.4, 0.3, 0.2, 0.1 };

    for (double size = 1.0; size < 1e6; size *= 3e4) {
        double loss[] = { -0.7 * size, 0.3 * size, 0.9 * size, 1.7 * size }, before = INFINITY;

        for (size_t n = 256; n <= 4096; n *= 4) {
            double widest = 0.0;

            for (double epsilon = -0.2 * size; epsilon < 1.6 * size; epsilon += 0.1 * size) {
                long double exact = 0.0L;
                double sums[2], unused;

                for (size_t j = 0; j < 4; j++)
                    if (loss[j] > epsilon)
                        exact += (long double)p[j] * -expm1l((long double)epsilon - (long double)loss[j]);
                for (int upper = 0; upper < 2; upper++) {
                    pn_law law = law_of(loss, p, 4, 1.0);
                    pn_part part;

                    pn_part_init(&part, &law, 1, upper, -INFINITY, INFINITY);
                    prepare(&part, 3.0 / size, epsilon, n);
                    sums[upper] = pn_part_delta(&part, epsilon, &unused);
                    CHECK(size == 1.0 || n > 256 || part.shift > 0.0);
                    pn_part_clear(&part);
                    free(law.loss);
                }
                CHECK(sums[0] <= (double)exact * (1.0 + 1e-15) && (double)exact <= sums[1] * (1.0 + 1e-15));
                widest = fmax(widest, sums[1] - sums[0]);
            }
            CHECK(widest < before);
            before = widest;
        }
        CHECK(before < (size == 1.0 ? 4e-3 : 0.31)); /* at the atoms of a step the width is that of the atom */
    }
}

/* The coefficients against powers in long double, and the errors that are claimed for them. */
static void check_coefficients(double from, double count)
{
    static const double loss[] = { -0.01, 0.004, 0.02, 0.8, 2.5 }, p[] = { 0.5, 0.4, 0.1 - 2e-9, 1.5e-9, 0.5e-9 };
    pn_law law = law_of(loss, p, 5, count);
    long double mass = 0.0L;
    pn_part part;

    pn_part_init(&part, &law, 1, true, from, INFINITY);
    prepare(&part, 1.7, 0.5, 512);
    for (size_t k = 0; k < 512; k += 37) {
        long double w = (long double)PN_TURN * (long double)k / (long double)part.period, sums[2][2] = { { 0 } };
        long double re[2], im[2];

        for (size_t j = 0; j < 5; j++) {
            long double weight = (long double)p[j] * expl((long double)part.tilt * (long double)loss[j]),
                        x = w * (long double)loss[j];

            for (size_t all = loss[j] > from && !isinf(from); all < 2; all++) {
                sums[all][0] += weight * cosl(x);
                sums[all][1] += weight * sinl(x);
            }
        }
        for (size_t all = 0; all < 2; all++) {
            long double size =
                expl((long double)count * 0.5L * logl(sums[all][0] * sums[all][0] + sums[all][1] * sums[all][1]));
            long double angle = (long double)count * atan2l(sums[all][1], sums[all][0]);

            re[all] = size * cosl(angle);
            im[all] = size * sinl(angle);
        }
        if (!isinf(from)) {
            re[1] -= re[0];
            im[1] -= im[0];
        }
        mass = k ? mass : re[1];
        CHECK(fabsl((long double)part.re[k] - re[1] / mass) <=
              (long double)part.error[k] + 1e-18L * (long double)count / mass);
        CHECK(fabsl((long double)part.im[k] - im[1] / mass) <=
              (long double)part.error[k] + 1e-18L * (long double)count / mass);
        CHECK(part.error[k] < 1e-12 * count);
    }
    CHECK_CLOSE(part.log_scale, (double)logl(mass), 1e-9);
    pn_part_clear(&part);
    free(law.loss);
}

static void test_coefficients(void)
{
    check_coefficients(-INFINITY, 1.0);
    check_coefficients(-INFINITY, 1000.0);
    check_coefficients(0.1, 1.0);
    check_coefficients(0.1, 50.0);
    check_coefficients(0.1, 100000.0);
}

/* Losses from 1e-6 to 3: taken apart or not, delta is the same; and so is the mass. */
static void test_parts_add_up(void)
{
    pn_pair p[2];
    pn_cells cells;
    pn_law law;
    pn_side whole, apart;
    double at = 0.2, slope, mass = 0.0, one[2], several[2];

    pn_pair_poisson(p, 1e-3, 0.6);
    CHECK(make_cells(&cells, &p[0], 2e-3, 1e-15));
    for (int upper = 0; upper < 2; upper++) {
        CHECK(pn_law_new(&law, &cells, true, false, 300.0, NULL) == PN_OK);
        pn_side_init(&whole, &law, 1, upper);
        pn_side_tilt(&whole, at, 0.0, false);
        pn_side_init(&apart, &law, 1, upper);
        pn_side_tilt(&apart, at, 0.0, true);
        CHECK(whole.count == 1 && apart.count >= 3);
        pn_side_place(&whole);
        pn_side_place(&apart);
        CHECK(pn_part_extend(&whole.parts[0], 16384, NULL) == PN_OK);
        mass = 0.0;
        for (size_t i = 0; i < apart.count; i++) {
            CHECK(pn_part_extend(&apart.parts[i], 4096, NULL) == PN_OK);
            mass += exp(pn_part_log_mgf(&apart.parts[i], 0.0));
        }
        CHECK_CLOSE(mass, exp(pn_part_log_mgf(&whole.parts[0], 0.0)), 1e-12);
        one[upper] = pn_side_delta(&whole, at, &slope);
        several[upper] = pn_side_delta(&apart, at, &slope);
        pn_side_clear(&whole);
        pn_side_clear(&apart);
        pn_law_clear(&law);
    }
    pn_cells_clear(&cells);
    CHECK(one[0] <= several[1] && several[0] <= one[1]);
    CHECK(several[1] - several[0] < 1e-3 * several[1] && one[1] - one[0] < 1e-2 * one[1]);
}

static void test_finer_lattices_are_nested(void)
{
    pn_pair p[2];
    pn_pld_bounds coarse, fine;

    pn_pair_poisson(p, 0.01, 1.0);
    coarse = bounds_of(p, 2, 1000, 1e-5, 4e-4);
    fine = bounds_of(p, 2, 1000, 1e-5, 1e-4);
    CHECK(coarse.low <= fine.low && fine.low <= fine.high && fine.high <= coarse.high);
}

static void test_delta_inverts_epsilon(void)
{
    pn_pair p[2];
    pn_pld_record record = { .same = true, .two_directions = true, .count = 500 };
    pn_pld_bounds epsilon, at_high, at_low;

    pn_pair_poisson(p, 0.03, 1.2);
    record.dominating = record.attained = p[0];
    CHECK(pn_pld_epsilon(&epsilon, &record, 1, 1e-6, 2e-4, NULL) == PN_OK);
    CHECK(pn_pld_delta(&at_high, &record, 1, epsilon.high, 2e-4, NULL) == PN_OK);
    CHECK(pn_pld_delta(&at_low, &record, 1, epsilon.low, 2e-4, NULL) == PN_OK);
    CHECK(at_high.high <= 1e-6 * (1.0 + 1e-6) && at_high.high > 0.99e-6);
    CHECK(at_low.low >= 1e-6 * (1.0 - 1e-6) && at_low.low < 1.01e-6);
    CHECK(at_low.low <= at_low.high && at_high.low <= at_high.high);
}

static void test_nothing_costs_nothing(void)
{
    pn_pld_bounds out = { NAN, NAN, NULL };

    CHECK(pn_pld_epsilon(&out, NULL, 0, 1e-6, 0.0, NULL) == PN_OK && out.low == 0.0 && out.high == 0.0);
    CHECK(pn_pld_delta(&out, NULL, 0, 0.0, 0.0, NULL) == PN_OK && out.high == 0.0);
}

static void test_a_step_that_is_too_small(void)
{
    pn_pair pair;
    pn_pld_record record;
    pn_pld_bounds out;
    pn_err err;

    pn_pair_gaussian(&pair, 1.0);
    record = (pn_pld_record){ pair, pair, true, false, 10 };
    CHECK(pn_pld_epsilon(&out, &record, 1, 1e-6, 1e-9, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "step of 1e-09") != NULL);
}

/* ---- memory ---- */

/* The two ways in turn, an event that has two pairs, and the accountant around them. */
static pn_status compose_something(void *self, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_event *inner = NULL, *sampled = NULL, *laplace = NULL, *select = NULL;
    pn_arg args[2] = { { .given = true, .real = 5e-2 }, { 0 } };
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
    test_payoffs_enclose_the_hockey_stick();
    test_parts_add_up();
    test_coefficients();
    test_finer_lattices_are_nested();
    test_delta_inverts_epsilon();
    test_nothing_costs_nothing();
    test_a_step_that_is_too_small();
    CHECK(fail_alloc_sweep("pld", compose_something, NULL) > 20);
    return check_summary();
}
