/* sampler_test.c -- every scheme draws what its event says: inclusion frequencies against the rate that is charged, and
 * the event's numbers against those of the batches.  Seeds are fixed;
 * a true law fails each check with probability 1e-6. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/event/event_leaf.h"
#include "privacy/mechanism/sampler.h"
#include "random/noise.h"
#include "random/sample.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

static pn_sampler *made(const char *name, size_t n, pn_arg second, pn_neighbours neighbours)
{
    pn_arg args[3] = { { .given = true, .count = n }, second, { 0 } };
    pn_sampler *sampler = NULL;
    pn_err err;

    if (!CHECK(pn_sampler_from_args(&sampler, name, args, neighbours, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return sampler;
}

static pn_arg size(size_t batch)
{
    return (pn_arg){ .given = true, .count = batch };
}

static pn_arg rate(double q)
{
    return (pn_arg){ .given = true, .real = q };
}

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_event *event_of(const pn_sampler *sampler, double sigma, double contribution, double rounding, size_t draws)
{
    pn_event *event = NULL;

    CHECK(pn_sampler_gaussian(&event, sampler, sigma, contribution, rounding, draws, NULL) == PN_OK);
    CHECK(event->neighbours == sampler->neighbours);
    return event;
}

/* The parameter `name` of an event. */
static pn_arg parameter(const pn_event *event, const char *name)
{
    pn_arg args[8];

    event->ops->args(event, args);
    return args[pn_param_find(event->ops->params, name)];
}

/* Batches are increasing lists of different records. */
static bool is_batch(const pn_sampler *sampler, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sampler->indices[i] >= sampler->n || (i > 0 && sampler->indices[i] <= sampler->indices[i - 1]))
            return false;
    }
    return count <= sampler->n;
}

/* Sum over the records of the squared standardised number of times each was drawn. */
static double inclusion_statistic(const double *times, size_t n, double draws, double q)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += (times[i] - draws * q) * (times[i] - draws * q) / (draws * q * (1.0 - q));
    return sum;
}

/* ---- frequencies ---- */

enum { DRAWS = 40000 };

static void count_inclusions(pn_sampler *sampler, uint64_t seed, double *times)
{
    pn_rng *rng = seeded(seed);
    bool good = true;

    for (int t = 0; t < DRAWS; t++) {
        size_t count = 0;

        good = good && pn_sampler_draw(sampler, rng, &count, NULL) == PN_OK && is_batch(sampler, count);
        for (size_t i = 0; i < count; i++)
            times[sampler->indices[i]]++;
    }
    CHECK(good);
    pn_rng_free(rng);
}

static void poisson_draws_at_the_rate_of_its_event(void)
{
    static const pn_neighbours relations[] = { PN_REPLACE_ONE, PN_ADD_REMOVE, PN_ZERO_OUT };

    for (size_t k = 0; k < 3; k++) {
        pn_sampler *sampler = made("poisson", 24, rate(0.3), relations[k]);
        pn_event *event = event_of(sampler, 2.0, 1.0, 0.0, 0);
        double times[24] = { 0.0 }, q = parameter(event, "q").real;

        count_inclusions(sampler, k, times);
        CHECK(q == pn_poisson_rate(0.3));
        CHECK(inclusion_statistic(times, 24, DRAWS, q) < CHI2_24);
        CHECK(inclusion_statistic(times, 24, DRAWS, q * 1.1) > CHI2_24);
        CHECK(inclusion_statistic(times, 24, DRAWS, q / 1.1) > CHI2_24);
        pn_event_free(event);
        pn_sampler_free(sampler);
    }
}

static pn_sampler *declared(double *q, size_t n, pn_neighbours neighbours)
{
    pn_arg args[2] = { { .given = true, .vector = { q, n } }, { 0 } };
    pn_sampler *sampler = NULL;

    CHECK(pn_sampler_from_args(&sampler, "declared", args, neighbours, NULL) == PN_OK);
    return sampler;
}

/* Two strata and records of their own, among them one that is never drawn and one that always is. */
static void declared_rates_are_those_of_the_coins(void)
{
    double q[26] = { 0.0, 1.0 }, times[26] = { 0.0 }, sum = 0.0, swapped = 0.0, most = 0.0, expected = 0.0;
    pn_sampler *sampler;
    pn_event *event;

    for (size_t i = 2; i < 26; i++)
        q[i] = i < 10 ? 0.3 : i < 18 ? 0.05 : 0.02 * (double)(i - 10);
    for (size_t i = 0; i < 26; i++)
        expected += q[i];
    sampler = declared(q, 26, PN_ZERO_OUT);
    event = event_of(sampler, 2.0, 1.0, 0.0, 0);
    CHECK(sampler->batch == (size_t)round(expected) && sampler->n == 26 && sampler->per_event == 1);
    CHECK(parameter(event, "q").real == 1.0);
    count_inclusions(sampler, 5, times);
    CHECK(times[0] == 0.0 && times[1] == DRAWS);
    for (size_t i = 2; i < 26; i++) {
        sum += inclusion_statistic(&times[i], 1, DRAWS, pn_poisson_rate(q[i]));
        swapped += inclusion_statistic(&times[i], 1, DRAWS, pn_poisson_rate(q[27 - i]));
        most = fmax(most, q[i]);
    }
    CHECK(sum < CHI2_24);
    CHECK(swapped > CHI2_24);
    pn_event_free(event);
    pn_sampler_free(sampler);
    sampler = declared(q + 2, 24, PN_REPLACE_ONE);
    event = event_of(sampler, 2.0, 1.0, 0.0, 0);
    CHECK(parameter(event, "q").real == pn_poisson_rate(most));
    pn_event_free(event);
    pn_sampler_free(sampler);
}

/* With one rate for all it is the scheme "poisson", coin by coin. */
static void equal_declared_rates_are_poisson_sampling(void)
{
    static const pn_neighbours relations[] = { PN_REPLACE_ONE, PN_ZERO_OUT };

    for (size_t k = 0; k < 2; k++) {
        double q[1000];
        pn_sampler *mine, *poisson = made("poisson", 1000, rate(0.07), relations[k]);
        pn_event *event = event_of(poisson, 2.0, 0.5, 1e-9, 3), *same;
        pn_rng *rng = seeded(9), *other = seeded(9);

        for (size_t i = 0; i < 1000; i++)
            q[i] = 0.07;
        mine = declared(q, 1000, relations[k]);
        same = event_of(mine, 2.0, 0.5, 1e-9, 3);
        CHECK(pn_event_same(event, same) && mine->batch == poisson->batch);
        for (int t = 0; t < 20; t++) {
            size_t count = 0, wanted = 0;

            CHECK(pn_sampler_draw(mine, rng, &count, NULL) == PN_OK);
            CHECK(pn_sampler_draw(poisson, other, &wanted, NULL) == PN_OK);
            CHECK(count == wanted && memcmp(mine->indices, poisson->indices, count * sizeof *mine->indices) == 0);
        }
        pn_event_free(event);
        pn_event_free(same);
        pn_rng_free(rng);
        pn_rng_free(other);
        pn_sampler_free(mine);
        pn_sampler_free(poisson);
    }
}

/* No record loses more than the event says, at any order and in any release. */
static void the_largest_declared_rate_costs_most(void)
{
    static const double orders[] = { 1.01, 1.5, 2.0, 8.0, 64.0, 1000.0 }, losses[] = { 0.0, 0.01, 0.3, 1.0, 4.0 };
    static const pn_neighbours relations[] = { PN_REPLACE_ONE, PN_ZERO_OUT };

    for (size_t k = 0; k < 2; k++) {
        double before[6] = { 0.0 }, delta[2][5] = { { 0.0 } };

        for (double q = 1e-4; q <= 1.0; q *= 1.7) {
            pn_sampler *sampler = declared(&q, 1, relations[k]);
            pn_event *event = event_of(sampler, 1.3, 1.0, 0.0, 0);
            pn_pair pairs[2];
            size_t directions = event->ops->pairs(event, false, pairs);

            for (size_t i = 0; i < 6; i++) {
                CHECK(event->ops->rdp(event, orders[i]) >= before[i]);
                before[i] = event->ops->rdp(event, orders[i]);
            }
            for (size_t i = 0; i < 5 * directions; i++) {
                double *last = &delta[i / 5][i % 5], now;
                pn_tails t;

                pairs[i / 5].tails(&pairs[i / 5], losses[i % 5], &t);
                now = t.p_above - exp(losses[i % 5]) * t.q_above;
                CHECK(now >= *last - 1e-15);
                *last = now;
            }
            pn_event_free(event);
            pn_sampler_free(sampler);
        }
    }
}

/* The counts of n records whose sum is fixed: (n-1)/n times the sum has n - 1 degrees of freedom. */
static void fixed_batches_draw_at_the_rate_of_their_event(void)
{
    pn_sampler *sampler = made("fixed", 25, size(7), PN_REPLACE_ONE);
    pn_event *event = event_of(sampler, 2.0, 1.0, 0.0, 0);
    double times[25] = { 0.0 }, total = 0.0;
    double q = (double)parameter(event, "batch").count / (double)parameter(event, "n").count;

    count_inclusions(sampler, 7, times);
    for (size_t i = 0; i < 25; i++)
        total += times[i];
    CHECK(parameter(event, "batch").count == 7 && parameter(event, "n").count == 25);
    CHECK(total == 7.0 * DRAWS);
    CHECK(inclusion_statistic(times, 25, DRAWS, q) * 24.0 / 25.0 < CHI2_24);
    CHECK(inclusion_statistic(times, 25, DRAWS, q * 1.1) * 24.0 / 25.0 > CHI2_24);
    pn_event_free(event);
    pn_sampler_free(sampler);
}

/* The six pairs out of four. */
static void fixed_batches_are_subsets_alike(void)
{
    pn_sampler *sampler = made("fixed", 4, size(2), PN_REPLACE_ONE);
    const double law[6] = { 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6 };
    static const size_t cell[4][4] = { { 0, 0, 1, 2 }, { 0, 0, 3, 4 }, { 0, 0, 0, 5 } };
    double counts[6] = { 0.0 };
    pn_rng *rng = seeded(3);

    for (int t = 0; t < DRAWS; t++) {
        size_t count = 0;

        (void)pn_sampler_draw(sampler, rng, &count, NULL);
        counts[cell[sampler->indices[0]][sampler->indices[1]]]++;
    }
    CHECK(chi_square(counts, law, 6) < CHI2_5);
    pn_rng_free(rng);
    pn_sampler_free(sampler);
}

/* Every pass is a partition into batches, and each record's place in it is uniform. */
static void shuffled_passes_are_partitions_in_random_order(void)
{
    pn_sampler *sampler = made("shuffled", 25, size(1), PN_ZERO_OUT);
    double times[25] = { 0.0 }, law[25];
    pn_rng *rng = seeded(11);
    bool partition = true;

    CHECK(sampler->per_event == 25);
    for (int pass = 0; pass < DRAWS / 10; pass++) {
        unsigned seen = 0;

        for (size_t b = 0; b < 25; b++) {
            size_t count = 0;

            (void)pn_sampler_draw(sampler, rng, &count, NULL);
            partition = partition && count == 1 && !(seen >> sampler->indices[0] & 1);
            seen |= 1U << sampler->indices[0];
            times[b] += sampler->indices[0] == 3;
        }
    }
    for (size_t i = 0; i < 25; i++)
        law[i] = 1.0 / 25.0;
    CHECK(partition);
    CHECK(chi_square(times, law, 25) < CHI2_24);
    pn_rng_free(rng);
    pn_sampler_free(sampler);
}

static void the_last_batch_of_a_pass_may_be_smaller(void)
{
    static const size_t sizes[] = { 4, 4, 2 };
    pn_sampler *sampler = made("shuffled", 10, size(4), PN_REPLACE_ONE);
    pn_rng *rng = seeded(1);

    CHECK(sampler->per_event == 3 && sampler->batch == 4);
    for (int pass = 0; pass < 3; pass++) {
        unsigned seen = 0;

        for (size_t b = 0; b < 3; b++) {
            size_t count = 0;

            CHECK(pn_sampler_draw(sampler, rng, &count, NULL) == PN_OK && count == sizes[b]);
            CHECK(is_batch(sampler, count));
            for (size_t i = 0; i < count; i++)
                seen |= 1U << sampler->indices[i];
        }
        CHECK(seen == 0x3ff);
    }
    CHECK(pn_sampler_events(sampler, 1) == 1 && pn_sampler_events(sampler, 3) == 1);
    CHECK(pn_sampler_events(sampler, 4) == 2 && pn_sampler_events(sampler, 300) == 100);
    pn_rng_free(rng);
    pn_sampler_free(sampler);
}

static void full_batches_are_everything(void)
{
    pn_sampler *sampler = made("full", 5, (pn_arg){ 0 }, PN_ADD_REMOVE);
    pn_rng *rng = seeded(1), *same = seeded(1);
    size_t count = 0;

    CHECK(pn_sampler_draw(sampler, rng, &count, NULL) == PN_OK && count == 5 && !sampler->indices);
    CHECK(sampler->n == 5 && sampler->batch == 5 && sampler->per_event == 1);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(same));
    CHECK(pn_sampler_events(sampler, 7) == 7);
    pn_rng_free(rng);
    pn_rng_free(same);
    pn_sampler_free(sampler);
}

static void a_rate_of_one_takes_everybody(void)
{
    pn_sampler *sampler = made("poisson", 9, rate(1.0), PN_ADD_REMOVE);
    pn_rng *rng = seeded(1);
    size_t count = 0;

    CHECK(pn_sampler_draw(sampler, rng, &count, NULL) == PN_OK && count == 9 && is_batch(sampler, 9));
    pn_rng_free(rng);
    pn_sampler_free(sampler);
}

/* ---- events ---- */

/* What the Gaussian event at the core says. */
static void check_core(const pn_event *gaussian, double sigma, double sensitivity, size_t draws)
{
    CHECK(strcmp(gaussian->ops->name, "gaussian") == 0);
    CHECK(parameter(gaussian, "sigma").real == sigma);
    CHECK(parameter(gaussian, "sensitivity").real >= sensitivity);
    CHECK_CLOSE(parameter(gaussian, "sensitivity").real, sensitivity, 0x1p-51);
    CHECK(parameter(gaussian, "draws").count == draws);
}

static void the_sensitivity_is_that_of_scheme_and_relation(void)
{
    static const struct {
        const char *scheme;
        pn_neighbours neighbours;
        double factor; /* of the contribution */
    } cases[] = { { "full", PN_REPLACE_ONE, 2.0 },   { "full", PN_ADD_REMOVE, 1.0 },
                  { "full", PN_ZERO_OUT, 1.0 },      { "poisson", PN_REPLACE_ONE, 1.0 },
                  { "poisson", PN_ADD_REMOVE, 1.0 }, { "poisson", PN_ZERO_OUT, 1.0 },
                  { "fixed", PN_REPLACE_ONE, 2.0 },  { "shuffled", PN_REPLACE_ONE, 2.0 },
                  { "shuffled", PN_ZERO_OUT, 1.0 } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool poisson = strcmp(cases[i].scheme, "poisson") == 0, fixed = strcmp(cases[i].scheme, "fixed") == 0;
        pn_sampler *sampler = made(cases[i].scheme, 100, poisson ? rate(0.25) : size(25), cases[i].neighbours);
        pn_event *event = event_of(sampler, 3.0, 0.5, 0.125, 10), *exact = event_of(sampler, 3.0, 0.5, 0.0, 0);
        bool wrapped = poisson || fixed;

        CHECK(strcmp(event->ops->name, poisson ? "poisson_sampled" : fixed ? "fixed_sampled" : "gaussian") == 0);
        check_core(wrapped ? parameter(event, "event").object : event, 3.0, 0.5 * cases[i].factor + 0.125, 10);
        check_core(wrapped ? parameter(exact, "event").object : exact, 3.0, 0.5 * cases[i].factor, 0);
        CHECK(sampler->ops->sensitivity(sampler) == cases[i].factor);
        CHECK(poisson ? sampler->batch == 25 : true);
        pn_event_free(event);
        pn_event_free(exact);
        pn_sampler_free(sampler);
    }
}

/* q = 0.01, order 2, z = 1.5 relative to C (closed form), 2 C and C (quadrature in an independent program). */
static void the_curves_are_those_of_the_schemes(void)
{
    pn_sampler *removed = made("poisson", 1000, rate(0.01), PN_ADD_REMOVE);
    pn_sampler *replaced = made("poisson", 1000, rate(0.01), PN_REPLACE_ONE);
    pn_sampler *fixed = made("fixed", 1000, size(10), PN_REPLACE_ONE);
    pn_event *events[] = { event_of(removed, 1.5, 1.0, 0.0, 0), event_of(fixed, 3.0, 1.0, 0.0, 0),
                           event_of(replaced, 1.5, 1.0, 0.0, 0) };

    CHECK_CLOSE(events[0]->ops->rdp(events[0], 2.0), log1p(1e-4 * expm1(1.0 / 2.25)), 1e-16);
    CHECK_CLOSE(events[1]->ops->rdp(events[1], 2.0), 8.295114e-5, 1e-11);
    CHECK_CLOSE(events[2]->ops->rdp(events[2], 2.0), 1.8243518e-4, 1e-11);
    for (size_t i = 0; i < 3; i++)
        pn_event_free(events[i]);
    pn_sampler_free(removed);
    pn_sampler_free(replaced);
    pn_sampler_free(fixed);
}

/* ---- what is refused ---- */

static void relations_without_proof_are_refused_with_the_reason(void)
{
    static const struct {
        const char *scheme;
        pn_neighbours neighbours;
        const char *reason;
    } cases[] = { { "fixed", PN_ADD_REMOVE, "it has replace_one" },
                  { "fixed", PN_ZERO_OUT, "same n" },
                  { "shuffled", PN_ADD_REMOVE, "adding a record would move the batches; it has replace_one, zero_out" },
                  { "declared", PN_ADD_REMOVE, "say how many there are; it has replace_one, zero_out" } };
    double half = 0.5;
    pn_sampler *sampler = NULL;
    pn_err err;

    for (size_t i = 0; i < 4; i++) {
        pn_arg args[3] = { size(10), size(5), { 0 } };

        args[0].vector = (pn_vec){ &half, 1 };
        CHECK(pn_sampler_from_args(&sampler, cases[i].scheme, args, cases[i].neighbours, &err) == PN_EUNSUPPORTED);
        CHECK(strstr(err.message, cases[i].reason) != NULL);
    }
    CHECK(sampler == NULL);
}

static void schemes_and_numbers_that_do_not_exist_are_refused(void)
{
    pn_arg plenty[3] = { size(10), size(11), { 0 } }, often[3] = { size(10), rate(1.5), { 0 } };
    pn_sampler *sampler = NULL, *full = made("full", 3, (pn_arg){ 0 }, PN_REPLACE_ONE);
    pn_event *event = NULL;
    pn_err err;

    CHECK(pn_sampler_from_args(&sampler, "with_replacement", plenty, PN_REPLACE_ONE, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "no bound for that composes") != NULL);
    CHECK(pn_sampler_from_args(&sampler, "dice", plenty, PN_REPLACE_ONE, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "full, poisson, declared, fixed, shuffled") != NULL);
    CHECK(pn_sampler_from_args(&sampler, "fixed", plenty, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_sampler_from_args(&sampler, "shuffled", plenty, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_sampler_from_args(&sampler, "poisson", often, PN_REPLACE_ONE, &err) == PN_EINVAL);
    CHECK(pn_sampler_from_args(&sampler, "full", plenty, (pn_neighbours)7, &err) == PN_EINVAL);
    CHECK(sampler == NULL);
    CHECK(pn_sampler_gaussian(&event, full, 0.0, 1.0, 0.0, 1, &err) == PN_EINVAL);
    CHECK(pn_sampler_gaussian(&event, full, 1.0, -1.0, 0.0, 1, &err) == PN_EINVAL);
    CHECK(pn_sampler_gaussian(&event, full, 1.0, 1.0, NAN, 1, &err) == PN_EINVAL);
    CHECK(event == NULL);
    pn_sampler_free(full);
    pn_sampler_free(NULL);
}

static pn_status make_and_draw(void *scheme, pn_err *err)
{
    pn_arg args[3] = { size(50), size(5), { 0 } };
    pn_sampler *sampler = NULL;
    pn_event *event = NULL;
    pn_rng *rng = NULL;
    size_t drawn;
    pn_status status;

    double q[50] = { 0.1, 0.2 };

    args[1].real = 0.1;
    if (strcmp(scheme, "declared") == 0)
        args[0] = (pn_arg){ .given = true, .vector = { q, 50 } };
    status = pn_sampler_from_args(&sampler, scheme, args, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_sampler_gaussian(&event, sampler, 1.0, 1.0, 1e-9, 5, err);
    if (status == PN_OK)
        status = pn_sampler_draw(sampler, rng, &drawn, err);
    pn_event_free(event);
    pn_sampler_free(sampler);
    pn_rng_free(rng);
    return status;
}

int main(void)
{
    poisson_draws_at_the_rate_of_its_event();
    declared_rates_are_those_of_the_coins();
    equal_declared_rates_are_poisson_sampling();
    the_largest_declared_rate_costs_most();
    fixed_batches_draw_at_the_rate_of_their_event();
    fixed_batches_are_subsets_alike();
    shuffled_passes_are_partitions_in_random_order();
    the_last_batch_of_a_pass_may_be_smaller();
    full_batches_are_everything();
    a_rate_of_one_takes_everybody();
    the_sensitivity_is_that_of_scheme_and_relation();
    the_curves_are_those_of_the_schemes();
    relations_without_proof_are_refused_with_the_reason();
    schemes_and_numbers_that_do_not_exist_are_refused();
    for (const pn_sampler_ops *const *ops = pn_sampler_table(); *ops; ops++)
        fail_alloc_sweep((*ops)->name, make_and_draw, (void *)(size_t)(*ops)->name);
    return check_summary();
}
