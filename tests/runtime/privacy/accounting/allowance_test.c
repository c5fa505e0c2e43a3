/* allowance_test.c -- the budget of adaptive runs: what fits it a ledger admits, charge by charge, and next to nothing
 * is lost.  Coins come from seeded streams.  Numbers are those of second-order.md, items 2 and 10,
 * and of calibration by other code here.
 * Depends on: check.h, fail_alloc.h, privacy/. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/allowance.h"
#include "privacy/ledger/ledger.h"
#include "random/noise.h"
#include "random/rng.h"

enum { GRADIENT_DRAWS = 54, HESSIAN_DRAWS = 54 * 55 / 2 };

/* ---- programs: iterations of a gradient, a Hessian and (with `search`) a search, each on its own batch ---- */

typedef struct iteration {
    size_t n, batch, times;
    bool search, ideal;
} iteration;

static pn_status on_batch(pn_event **event, const iteration *self, pn_err *err)
{
    pn_event *inner = *event;
    pn_status status;

    if (self->batch == self->n)
        return PN_OK;
    status = pn_event_fixed_sampled(event, self->batch, self->n, inner, PN_REPLACE_ONE, err);
    pn_event_free(inner);
    return status;
}

static pn_status noisy(pn_event **out, const iteration *self, double z, size_t draws, pn_err *err)
{
    pn_status status = pn_event_gaussian(out, z, 1.0, self->ideal ? 0 : draws, PN_REPLACE_ONE, err);

    return status == PN_OK ? on_batch(out, self, err) : status;
}

static pn_status searching(pn_event **out, const iteration *self, double z, pn_err *err)
{
    pn_status status = pn_event_sparse_vector(out, 1.0 / z, 1, PN_REPLACE_ONE, err);

    return status == PN_OK ? on_batch(out, self, err) : status;
}

static pn_status release(void *at, double z, pn_event **event, size_t *count, pn_err *err)
{
    const iteration *self = at;
    pn_event *parts[3] = { NULL, NULL, NULL };
    pn_status status = noisy(&parts[0], self, z, GRADIENT_DRAWS, err);

    *count = self->times;
    if (status == PN_OK)
        status = noisy(&parts[1], self, z, HESSIAN_DRAWS, err);
    if (status == PN_OK && self->search)
        status = searching(&parts[2], self, z, err);
    if (status == PN_OK)
        status = pn_event_compose(event, parts, self->search ? 3 : 2, err);
    for (int i = 0; i < 3; i++)
        pn_event_free(parts[i]);
    return status;
}

static pn_run_budget budget_of(double epsilon, double delta, double rho)
{
    return (pn_run_budget){ .owner = "test", .accountant = "rdp", .epsilon = epsilon, .delta = delta, .rho = rho };
}

static pn_allowance opened(pn_run_budget budget, pn_unit unit, bool paper, const pn_program *program)
{
    pn_allowance self = { .total = NAN };
    pn_err err;

    if (!CHECK(pn_allowance_open(&self, &budget, unit, paper, program, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return self;
}

static double noise_for(const pn_allowance *self, double share, iteration with)
{
    pn_program program = { release, &with };
    double z = NAN;
    pn_err err;

    if (!CHECK(pn_allowance_noise(self, share, &program, &z, &err) == PN_OK))
        (void)fprintf(stderr, "%s\n", err.message);
    return z;
}

/* ---- totals ---- */

/* The spec's rho by the article's conversion at n = 581012, delta = 1/n; the optimal conversion allows 68, 49 and 41%
 * more, and so proves an epsilon 24, 19 and 17% below the article's for its rho. */
static void the_articles_rho_is_that_of_the_specification(void)
{
    static const double rows[3][4] = { { 0.2, 7.478123e-4, 1.679, 0.759 },
                                       { 0.6, 6.631853e-3, 1.487, 0.809 },
                                       { 1.0, 1.815806e-2, 1.409, 0.832 } };

    for (int i = 0; i < 3; i++) {
        pn_run_budget budget = budget_of(rows[i][0], 1.0 / 581012.0, NAN);
        pn_allowance paper = opened(budget, PN_UNIT_RHO, true, NULL), tight = opened(budget, PN_UNIT_RHO, false, NULL);

        CHECK_CLOSE(paper.total, rows[i][1], 5e-7 * rows[i][1]);
        CHECK_CLOSE(tight.total / paper.total, rows[i][2], 1e-3);
        CHECK_CLOSE(tight.total, pn_zcdp_rho(rows[i][0], budget.delta), 1e-9 * tight.total);
        CHECK_CLOSE(paper.epsilon / rows[i][0], rows[i][3], 1e-3);
    }
}

static void two_gaussians_an_iteration_get_the_sigma_of_the_specification(void)
{
    pn_allowance self = opened(budget_of(1.0, 1.0 / 581012.0, NAN), PN_UNIT_RHO, true, NULL);
    iteration ideal = { .n = 581012, .batch = 581012, .times = 421, .ideal = true };
    double z = noise_for(&self, self.total, ideal);

    CHECK_CLOSE(z, 152.267, 1e-3);
    CHECK_CLOSE(z, sqrt(2.0 / (2.0 * self.total / 421.0)), 2e-6 * z);
    CHECK(noise_for(&self, self.total / 421.0, (iteration){ 581012, 581012, 1, false, true }) <= z * (1.0 + 2e-6));
}

/* A price that is all of what was asked for, and not more. */
static void all_of_it_is_priced_at_what_was_asked_for(void)
{
    static const double epsilons[] = { 1e-3, 0.1, 1.0, 8.0, 20.0 }, deltas[] = { 1e-12, 1e-6, 0.01 };

    for (int i = 0; i < 15; i++) {
        iteration with = { .n = 1000, .batch = 20, .times = 100, .search = true };
        pn_program program = { release, &with };
        pn_run_budget budget = budget_of(epsilons[i / 3], deltas[i % 3], NAN);

        for (int unit = 0; unit <= PN_UNIT_RENYI; unit++) {
            pn_allowance self = opened(budget, (pn_unit)unit, false, unit == PN_UNIT_RENYI ? &program : NULL);
            pn_event *event = NULL;
            double price;

            CHECK(pn_allowance_event(&self, 100000, PN_REPLACE_ONE, &event, NULL) == PN_OK);
            price = pn_event_epsilon(event, 1, budget.delta, NULL);
            CHECK(price <= budget.epsilon && price == self.epsilon);
            CHECK(price >= budget.epsilon * (1.0 - 1e-7)); /* 2^-35 of it is for draws */
            CHECK(self.limit == budget.epsilon && self.delta == budget.delta);
            pn_event_free(event);
        }
    }
}

static void gaussian_noise_loses_nothing(void)
{
    static const double epsilons[] = { 0.01, 0.2, 1.0, 5.0 };

    for (int i = 0; i < 4; i++) {
        for (size_t times = 1; times <= 10000; times *= 100) {
            pn_gaussian_releases want = { epsilons[i], 1e-6, NAN, 0.7, 3.0, 54, times };
            pn_allowance self = opened(budget_of(epsilons[i], 1e-6, NAN), PN_UNIT_GAUSSIAN, false, NULL);
            double sigma = pn_calibrate_gaussian_releases(&want);
            double charged = pn_lattice_l2(0.7, sigma, 54, 3.0, 1), mu = charged / sigma;

            CHECK_CLOSE((double)times * mu * mu / 2.0 / self.total, 1.0, 1e-9);
        }
    }
}

static void one_order_loses_nothing(void)
{
    static const double epsilons[] = { 0.05, 1.0, 6.0 };

    for (int i = 0; i < 12; i++) {
        iteration with = { .n = 10000, .batch = i & 1 ? 100 : 1000, .times = 200, .search = (i & 2) != 0 };
        pn_program program = { release, &with };
        pn_run_budget budget = budget_of(epsilons[i / 4], 1e-6, NAN);
        pn_allowance self = opened(budget, PN_UNIT_RENYI, false, &program);
        double z, reached;

        CHECK(pn_calibrate_run(&z, &reached, &budget, &program, NULL) == PN_OK);
        CHECK(noise_for(&self, self.total, with) <= z * (1.0 + 1.1e-6));
    }
}

/* Item 10: multipliers at q = .01, T = 421, delta = 1e-6, "within 1%".  Ours are .01, .04 and .22% smaller: all orders
 * are searched and the search is charged as randomised response, below min(alpha eps'^2/2, eps'). */
static void batches_get_the_multipliers_of_the_specification(void)
{
    static const double rows[3][4] = { { 1.0, 0, 1.7277, 1.72751 },
                                       { 1.0, 1, 2.0333, 2.03237 },
                                       { 0.2, 0, 6.3805, 6.36622 } };

    for (int i = 0; i < 3; i++) {
        iteration with = { .n = 10000, .batch = 100, .times = 421, .search = rows[i][1] > 0.0, .ideal = true };
        pn_program program = { release, &with };
        pn_allowance self = opened(budget_of(rows[i][0], 1e-6, NAN), PN_UNIT_RENYI, false, &program);
        double z = noise_for(&self, self.total, with);

        CHECK_CLOSE(z / rows[i][2], 1.0, 0.01);
        CHECK(z <= rows[i][2]);
        CHECK_CLOSE(z, rows[i][3], 2e-5 * z);
    }
}

/* ---- runs ---- */

typedef struct run {
    pn_allowance self;
    pn_ledger *ledger;
    pn_rng *rng;
    iteration with;
    size_t charges, draws;
} run;

static bool coin(run *r, double chance)
{
    return pn_rng_uniform(r->rng) < chance;
}

static void charge(run *r, pn_event *event, const char *label)
{
    double cost = pn_allowance_cost(&r->self, event, 1);
    pn_err err;

    CHECK(pn_allowance_fits(&r->self, cost));
    if (!CHECK(pn_ledger_spend(r->ledger, event, 1, label, &err) == PN_OK))
        (void)fprintf(stderr, "charge %zu of unit %s at order %.17g: %s\n", r->charges, pn_unit_names[r->self.unit],
                      r->self.order, err.message);
    pn_allowance_take(&r->self, cost);
    r->charges++;
    pn_event_free(event);
}

/* One iteration: it is begun only where the dearest branch fits, and charges what it runs. */
static bool iterate(run *r, double z)
{
    iteration one = r->with;
    pn_event *all = NULL, *event = NULL;
    size_t count;
    bool fits;

    one.times = 1;
    CHECK(release(&one, z, &all, &count, NULL) == PN_OK);
    fits = pn_allowance_fits(&r->self, pn_allowance_cost(&r->self, all, count));
    pn_event_free(all);
    if (!fits)
        return false;
    CHECK(noisy(&event, &one, z, GRADIENT_DRAWS, NULL) == PN_OK);
    charge(r, event, "gradient");
    r->draws += GRADIENT_DRAWS;
    if (coin(r, 0.5)) {
        CHECK(noisy(&event, &one, z, HESSIAN_DRAWS, NULL) == PN_OK);
        charge(r, event, "hessian");
        r->draws += HESSIAN_DRAWS;
    }
    if (one.search && coin(r, 0.8)) {
        CHECK(searching(&event, &one, z, NULL) == PN_OK);
        charge(r, event, "search");
    }
    return true;
}

/* Phases by chance, each calibrated on a part of what is left; the last goes on until nothing fits. */
static void run_to_the_end(run *r)
{
    for (int phase = 0;; phase++) {
        bool last = phase == 3 || coin(r, 0.4);
        size_t steps = 1 + (size_t)(pn_rng_uniform(r->rng) * 40.0);
        double part = last || coin(r, 0.3) ? 1.0 : pn_rng_uniform(r->rng), z;
        iteration planned = r->with;

        planned.times = steps;
        z = noise_for(&r->self, part * pn_allowance_left(&r->self), planned);
        for (size_t k = 0; iterate(r, z) && (last || k + 1 < steps); k++)
            continue;
        if (last)
            return;
    }
}

typedef struct setup {
    pn_unit unit;
    bool paper, search, rho;
    size_t batch; /* of 1000 */
    double epsilon, delta;
} setup;

static const setup setups[] = {
    { PN_UNIT_RENYI, false, true, false, 20, 1.0, 1e-6 },
    { PN_UNIT_RENYI, false, false, false, 20, 0.1, 1e-9 },
    { PN_UNIT_RENYI, false, true, false, 20, 8.0, 1e-6 },
    { PN_UNIT_RENYI, false, true, false, 1000, 1.0, 1e-6 },
    { PN_UNIT_RENYI, false, false, false, 1000, 1.0, 1e-6 },
    { PN_UNIT_RHO, false, true, false, 1000, 1.0, 1e-6 },
    { PN_UNIT_RHO, true, true, false, 1000, 1.0, 1e-6 },
    { PN_UNIT_RHO, true, true, false, 20, 0.2, 1e-6 },
    { PN_UNIT_RHO, false, true, true, 1000, 0.05, 0.0 },
    { PN_UNIT_GAUSSIAN, false, false, true, 1000, 0.05, 0.0 },
    { PN_UNIT_GAUSSIAN, false, false, false, 1000, 1.0, 1e-6 },
    { PN_UNIT_GAUSSIAN, false, false, false, 1000, 0.01, 1e-9 },
    { PN_UNIT_GAUSSIAN, false, false, false, 1000, 12.0, 1e-6 },
};
#define SETUPS (sizeof setups / sizeof setups[0])
#define DRAWS  10000000

static run begun(const setup *with, uint64_t seed)
{
    run r = { .with = { .n = 1000, .batch = with->batch, .times = 30, .search = with->search } };
    pn_program program = { release, &r.with };
    pn_run_budget budget = with->rho ? budget_of(NAN, NAN, with->epsilon) : budget_of(with->epsilon, with->delta, NAN);

    r.self = opened(budget, with->unit, with->paper, with->unit == PN_UNIT_RENYI ? &program : NULL);
    CHECK(pn_rng_seeded(&r.rng, seed, NULL) == PN_OK);
    return r;
}

static void end(run *r)
{
    pn_ledger_free(r->ledger);
    pn_rng_free(r->rng);
}

/* A ledger of the budget that was asked for, of the plan's price, or `more` of the first. */
static void reserve(run *r, const setup *with, bool of_the_plan, double more)
{
    pn_budget terms = { .epsilon = with->rho ? NAN : with->epsilon * more,
                        .delta = with->delta,
                        .rho = with->rho ? with->epsilon * more : NAN };
    pn_event *event = NULL;
    pn_err err;

    CHECK(pn_allowance_event(&r->self, DRAWS, PN_REPLACE_ONE, &event, NULL) == PN_OK);
    if (of_the_plan) {
        terms.epsilon = r->self.epsilon;
        terms.rho = with->rho ? event->ops->zcdp(event) : NAN;
    }
    CHECK(pn_ledger_new(&r->ledger, &terms, NULL) == PN_OK);
    if (!CHECK(pn_ledger_reserve(r->ledger, event, 1, &err) == PN_OK))
        (void)fprintf(stderr, "%s\n", err.message);
    pn_event_free(event);
}

static void ledgers_admit_whatever_fits(void)
{
    for (size_t k = 0; k < SETUPS; k++) {
        for (uint64_t seed = 0; seed < 24; seed++) {
            run r = begun(&setups[k], seed);

            reserve(&r, &setups[k], seed % 3 == 0, seed % 3 == 1 ? 1.5 : 1.0);
            run_to_the_end(&r);
            CHECK(r.charges > 0 && r.draws <= DRAWS);
            CHECK(r.self.spent <= r.self.total * (1.0 + 0x1p-45));
            if (seed % 3 != 1)
                CHECK(pn_ledger_spent(r.ledger) <=
                      (setups[k].rho ? setups[k].epsilon : r.self.limit) * (1.0 + 0x1p-49));
            end(&r);
        }
    }
}

/* Orders that were fixed by another's charge know the run by its bound at the allowance's order alone. */
static void ledgers_with_orders_of_their_own_admit_it_too(void)
{
    for (size_t k = 0; k < SETUPS; k++) {
        const setup *with = &setups[k];
        double more = with->epsilon * (with->rho ? 2.0 : 6.0);
        run r = begun(with, 3);
        pn_budget terms = { .epsilon = with->rho ? NAN : more, .delta = with->delta, .rho = with->rho ? more : NAN };
        pn_event *event = NULL, *before = NULL;
        size_t dead = 0;
        bool alive;

        CHECK(pn_ledger_new(&r.ledger, &terms, NULL) == PN_OK);
        CHECK(pn_event_gaussian(&before, 4.0 / with->epsilon, 1.0, 1, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(pn_ledger_spend(r.ledger, before, 1, "before", NULL) == PN_OK);
        CHECK(pn_allowance_event(&r.self, DRAWS, PN_REPLACE_ONE, &event, NULL) == PN_OK);
        CHECK(pn_ledger_reserve(r.ledger, event, 1, NULL) == PN_OK);
        CHECK(with->rho || pn_ledger_order_count(r.ledger) == 8);
        run_to_the_end(&r);
        for (size_t j = 0; j < pn_ledger_order_count(r.ledger); j++) {
            (void)pn_ledger_order(r.ledger, j, &alive);
            dead += !alive;
        }
        CHECK(with->rho || dead > 0); /* an order above the allowance's, or one without budget */
        pn_event_free(event);
        pn_event_free(before);
        end(&r);
    }
}

static pn_status two_searches(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    (void)self;
    *count = 2;
    return pn_event_sparse_vector(event, 1.0 / z, 1, PN_REPLACE_ONE, err);
}

/* Few releases of a pure epsilon, at a tiny delta: the order is inf, where they add up. */
static void pure_runs_add_up_at_the_order_inf(void)
{
    pn_program program = { two_searches, NULL };
    pn_allowance self = opened(budget_of(1.0, 1e-12, NAN), PN_UNIT_RENYI, false, &program);
    pn_budget terms = { .epsilon = 1.0, .delta = 1e-12, .rho = NAN };
    pn_ledger *ledger = NULL;
    pn_event *whole = NULL, *event = NULL;
    double z;

    CHECK(isinf(self.order) && self.total <= 1.0 && self.total >= 1.0 - 0x1p-39);
    CHECK(pn_allowance_noise(&self, self.total, &program, &z, NULL) == PN_OK && z >= 2.0 && z <= 2.0 * (1.0 + 1.1e-6));
    CHECK(pn_allowance_event(&self, 0, PN_REPLACE_ONE, &whole, NULL) == PN_OK);
    CHECK(pn_event_sparse_vector(&event, 1.0 / z, 1, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK && pn_ledger_reserve(ledger, whole, 1, NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 1, "one", NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 1, "two", NULL) == PN_OK);
    CHECK(pn_ledger_covers(ledger, event, 1, NULL) == PN_EBUDGET);
    CHECK(!pn_allowance_fits(&self, pn_allowance_cost(&self, event, 3)));
    pn_event_free(whole);
    pn_event_free(event);
    pn_ledger_free(ledger);
}

/* Where the allowance is full a ledger of just the plan is full too: a thousand
 * equal parts fit, and not one more.  The Gaussian and the Renyi filters lose nothing. */
static void ledgers_refuse_soon_after(void)
{
    for (size_t k = 0; k < SETUPS; k++) {
        run r = begun(&setups[k], 7);
        iteration one = r.with;
        pn_event *event = NULL;
        size_t count;
        double z;

        one.search = false;
        one.times = 1000;
        reserve(&r, &setups[k], true, 1.0);
        z = noise_for(&r.self, r.self.total, one);
        CHECK(release(&one, z, &event, &count, NULL) == PN_OK);
        CHECK(pn_ledger_spend(r.ledger, event, count, "all", NULL) == PN_OK);
        if (setups[k].unit != PN_UNIT_RHO || setups[k].batch == 1000) /* rho knows no amplification, orders do */
            CHECK(pn_ledger_covers(r.ledger, event, 1, NULL) == PN_EBUDGET);
        CHECK(!pn_allowance_fits(&r.self, pn_allowance_cost(&r.self, event, count + 1)));
        pn_event_free(event);
        end(&r);
    }
}

/* The order of a ledger is the allowance's, or the double below it. */
static void a_ledger_takes_the_order_of_the_allowance(void)
{
    for (size_t k = 0; k < 5; k++) {
        run r = begun(&setups[k], 1);
        double order;

        reserve(&r, &setups[k], true, 1.0);
        CHECK(pn_ledger_order_count(r.ledger) == 1);
        order = pn_ledger_order(r.ledger, 0, NULL);
        CHECK(order <= r.self.order && order >= r.self.order * (1.0 - 1e-13));
        end(&r);
    }
}

/* At a small epsilon and with very many draws, what these add to exponents (above 10^-8 of the total) is far above all
 * margins. */
static void the_slack_of_draws_is_counted(void)
{
    static const pn_unit units[] = { PN_UNIT_RHO, PN_UNIT_RENYI };
    const size_t draws = (size_t)1 << 30, count = 200;
    iteration with = { .n = 1000, .batch = 1000, .times = 30 };
    pn_program program = { release, &with };

    for (int i = 0; i < 2; i++) {
        pn_allowance self = opened(budget_of(1e-6, 1e-4, NAN), units[i], false, i ? &program : NULL);
        double each = self.total / (double)count, order = i ? self.order : 1.0;
        pn_budget terms = { .epsilon = 1e-6, .delta = 1e-4, .rho = NAN };
        pn_ledger *ledger = NULL;
        pn_event *whole = NULL, *event = NULL;

        CHECK(pn_event_gaussian(&event, sqrt(order / (2.0 * each)), 1.0, draws, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(pn_allowance_cost(&self, event, 1) > each * (1.0 + 1e-8));
        CHECK(pn_allowance_event(&self, draws * count, PN_REPLACE_ONE, &whole, NULL) == PN_OK);
        CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK && pn_ledger_reserve(ledger, whole, 1, NULL) == PN_OK);
        for (size_t k = 0; pn_allowance_fits(&self, pn_allowance_cost(&self, event, 1)); k++) {
            CHECK(k + 1 < count && pn_ledger_spend(ledger, event, 1, "draws", NULL) == PN_OK);
            pn_allowance_take(&self, pn_allowance_cost(&self, event, 1));
        }
        if (i) /* whose order is the ledger's: that many would be one too many there too */
            CHECK(pn_ledger_covers(ledger, event, 1, NULL) == PN_EBUDGET);
        pn_event_free(whole);
        pn_event_free(event);
        pn_ledger_free(ledger);
    }
}

/* ---- tails ---- */

static size_t most_draws(const pn_allowance *self)
{
    size_t most = 0;

    for (size_t draws = 1; draws < (size_t)1 << 50; draws *= 2) {
        pn_event *event = NULL;

        if (pn_allowance_event(self, draws, PN_REPLACE_ONE, &event, NULL) == PN_OK)
            most = draws;
        pn_event_free(event);
    }
    return most;
}

/* As many draws as an allowance takes, in one release of nearly everything, have room in a ledger. */
static void tails_that_are_allowed_are_admitted(void)
{
    static const double epsilons[] = { 15.0, 25.0, 35.0 };

    for (int i = 0; i < 9; i++) {
        iteration with = { .n = 1000, .batch = 20, .times = 3 };
        pn_program program = { release, &with };
        pn_run_budget budget = budget_of(epsilons[i / 3], 1e-6, NAN);
        pn_allowance self = opened(budget, (pn_unit)(i % 3), false, i % 3 == PN_UNIT_RENYI ? &program : NULL);
        size_t draws = most_draws(&self);
        pn_budget terms = { .epsilon = budget.epsilon, .delta = 1e-6, .rho = NAN };
        double mu = sqrt(2.0 * self.total / (i % 3 == PN_UNIT_RENYI ? self.order : 1.0)) * (1.0 - 1e-9);
        pn_ledger *ledger = NULL;
        pn_event *whole = NULL, *event = NULL;
        pn_err err;

        CHECK(draws >= 1000 || i / 3 == 2);
        CHECK(pn_allowance_event(&self, draws, PN_REPLACE_ONE, &whole, NULL) == PN_OK);
        CHECK(pn_event_gaussian(&event, 1.0 / mu, 1.0, draws, PN_REPLACE_ONE, NULL) == PN_OK);
        CHECK(pn_allowance_fits(&self, pn_allowance_cost(&self, event, 1)));
        CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK && pn_ledger_reserve(ledger, whole, 1, NULL) == PN_OK);
        if (!CHECK(pn_ledger_spend(ledger, event, 1, "all", &err) == PN_OK))
            (void)fprintf(stderr, "unit %s, epsilon %g: %s\n", pn_unit_names[i % 3], budget.epsilon, err.message);
        pn_event_free(whole);
        pn_event_free(event);
        pn_ledger_free(ledger);
    }
}

static void tails_that_have_no_room_are_refused(void)
{
    pn_allowance self = opened(budget_of(60.0, 1e-9, NAN), PN_UNIT_RHO, false, NULL);
    pn_event *event = NULL;
    pn_err err;

    CHECK(pn_allowance_event(&self, 1000, PN_REPLACE_ONE, &event, &err) == PN_EBUDGET && !event);
    CHECK(strstr(err.message, "epsilon 60") && strstr(err.message, "1000 draws"));
    CHECK(pn_allowance_event(&self, 0, PN_REPLACE_ONE, &event, &err) == PN_OK || isinf(self.epsilon));
    pn_event_free(event);
}

/* ---- counting ---- */

static void events_outside_the_unit_cost_everything(void)
{
    pn_allowance gaussian = opened(budget_of(1.0, 1e-6, NAN), PN_UNIT_GAUSSIAN, false, NULL);
    pn_allowance rho = opened(budget_of(1.0, 1e-6, NAN), PN_UNIT_RHO, false, NULL);
    pn_event *search = NULL, *other = NULL;

    CHECK(pn_event_sparse_vector(&search, 1e-3, 1, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_event_approximate(&other, 1e-3, 1e-9, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_allowance_cost(&gaussian, search, 1) == INFINITY && pn_allowance_cost(&rho, other, 1) == INFINITY);
    CHECK_CLOSE(pn_allowance_cost(&rho, search, 3), 1.5e-6, 1e-18);
    CHECK(!pn_allowance_fits(&gaussian, INFINITY) && !pn_allowance_fits(&gaussian, NAN));
    CHECK(!pn_allowance_fits(&gaussian, -1.0));
    pn_event_free(search);
    pn_event_free(other);
}

static void sums_are_exact_whatever_the_number_of_parts(void)
{
    pn_allowance self = opened(budget_of(NAN, NAN, 1.0), PN_UNIT_RHO, false, NULL);
    const size_t parts = 3000000;
    double part = self.total / (double)parts;

    CHECK(pn_allowance_fits(&self, self.total * (1.0 + 0x1p-46)));
    CHECK(!pn_allowance_fits(&self, self.total * (1.0 + 0x1p-44)));
    for (size_t i = 0; i < parts; i++) {
        if (i % 500000 == 0)
            CHECK(pn_allowance_fits(&self, part));
        pn_allowance_take(&self, part);
    }
    CHECK_CLOSE(self.spent, self.total, 0x1p-51);
    CHECK(pn_allowance_left(&self) <= 0x1p-51 && !pn_allowance_fits(&self, part));
}

/* ---- noise ---- */

typedef struct odd {
    double refuses_below, infinite_below;
    pn_status otherwise;
} odd;

static pn_status odd_release(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const odd *with = self;

    *count = 1;
    if (with->otherwise != PN_OK)
        return pn_fail(err, with->otherwise, "as told");
    if (z < with->refuses_below)
        return pn_fail(err, PN_EINVAL, "z is too small");
    if (z < with->infinite_below)
        return pn_event_approximate(event, 1.0, 1e-3, PN_REPLACE_ONE, err);
    return pn_event_gaussian(event, z, 1.0, 0, PN_REPLACE_ONE, err);
}

static pn_status odd_noise(const pn_allowance *self, odd with, double share, double *z, pn_err *err)
{
    pn_program program = { odd_release, &with };

    *z = NAN;
    return pn_allowance_noise(self, share, &program, z, err);
}

static void noise_is_the_least_that_fits(void)
{
    pn_allowance self = opened(budget_of(NAN, NAN, 1e6), PN_UNIT_RHO, false, NULL);
    const odd plain = { 0.0, 0.0, PN_OK };
    double z;
    pn_err err;

    for (double share = 1e-10; share < 1e6; share *= 7.3) {
        double want = 1.0 / sqrt(2.0 * share);

        CHECK(odd_noise(&self, plain, share, &z, &err) == PN_OK && z >= want && z <= want * (1.0 + 1.1e-6));
        CHECK(odd_noise(&self, (odd){ 3.0, 0.0, PN_OK }, share, &z, &err) == PN_OK);
        CHECK(z >= fmax(want, 3.0) && z <= fmax(want, 3.0) * (1.0 + 1.1e-6));
        CHECK(odd_noise(&self, (odd){ 0.1, 0.3, PN_OK }, share, &z, &err) == PN_OK);
        CHECK(z >= fmax(want, 0.3) && z <= fmax(want, 0.3) * (1.0 + 1.1e-6));
    }
    CHECK(odd_noise(&self, plain, 1e30, &z, &err) == PN_OK && z == 0x1p-30);
    CHECK(odd_noise(&self, plain, 0.0, &z, &err) == PN_EBUDGET && isnan(z));
    CHECK(odd_noise(&self, (odd){ 1e300, 0.0, PN_OK }, 1.0, &z, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "z is too small") == 0);
    CHECK(odd_noise(&self, (odd){ 0.0, 0.0, PN_ECANCELLED }, 1.0, &z, &err) == PN_ECANCELLED && isnan(z));
}

/* ---- what makes no sense ---- */

static pn_status refused(pn_run_budget budget, pn_unit unit, bool paper, const char *word)
{
    pn_allowance self = { .total = -7.0 };
    pn_err err;
    pn_status status = pn_allowance_open(&self, &budget, unit, paper, NULL, &err);

    CHECK(self.total == -7.0 && strstr(err.message, word) && strncmp(err.message, "test: ", 6) == 0);
    return status;
}

static void budgets_that_make_no_sense_are_refused(void)
{
    static const double bad[] = { 0.0, -1.0, INFINITY };

    for (int i = 0; i < 3; i++) {
        CHECK(refused(budget_of(bad[i], 1e-6, NAN), PN_UNIT_RHO, false, "epsilon") == PN_EINVAL);
        CHECK(refused(budget_of(NAN, NAN, bad[i]), PN_UNIT_RHO, false, "rho") == PN_EINVAL);
        CHECK(refused(budget_of(1.0, i == 2 ? 1.0 : bad[i], NAN), PN_UNIT_RHO, false, "delta") == PN_EINVAL);
    }
    CHECK(refused(budget_of(NAN, 1e-6, NAN), PN_UNIT_RHO, false, "epsilon") == PN_EINVAL);
    CHECK(refused(budget_of(1.0, NAN, NAN), PN_UNIT_RHO, false, "delta") == PN_EINVAL);
    CHECK(refused(budget_of(1.0, 1e-6, NAN), PN_UNIT_RENYI, false, "program") == PN_EINVAL);
    CHECK(refused(budget_of(1.0, 1e-6, NAN), PN_UNIT_GAUSSIAN, true, "article") == PN_EINVAL);
    CHECK(refused(budget_of(NAN, NAN, 1.0), PN_UNIT_RHO, true, "article") == PN_EINVAL);
    CHECK(refused(budget_of(1.0, 1e-6, NAN), (pn_unit)9, false, "unit") == PN_EINVAL);
    CHECK(refused(budget_of(1e-250, 1e-6, NAN), PN_UNIT_RHO, false, "nothing to spend") == PN_EBUDGET);
}

/* ---- memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    iteration with = { .n = 100, .batch = 10, .times = 10, .search = true };
    pn_program program = { release, &with };
    pn_run_budget budget = budget_of(1.0, 1e-6, NAN);
    pn_allowance allowance;
    pn_event *event = NULL;
    double z;
    pn_status status = pn_allowance_open(&allowance, &budget, PN_UNIT_RENYI, false, &program, err);

    (void)self;
    if (status == PN_OK)
        status = pn_allowance_noise(&allowance, allowance.total, &program, &z, err);
    if (status == PN_OK)
        status = pn_allowance_event(&allowance, 100, PN_REPLACE_ONE, &event, err);
    pn_event_free(event);
    return status;
}

int main(void)
{
    the_articles_rho_is_that_of_the_specification();
    two_gaussians_an_iteration_get_the_sigma_of_the_specification();
    all_of_it_is_priced_at_what_was_asked_for();
    gaussian_noise_loses_nothing();
    one_order_loses_nothing();
    batches_get_the_multipliers_of_the_specification();
    ledgers_admit_whatever_fits();
    ledgers_with_orders_of_their_own_admit_it_too();
    pure_runs_add_up_at_the_order_inf();
    ledgers_refuse_soon_after();
    a_ledger_takes_the_order_of_the_allowance();
    the_slack_of_draws_is_counted();
    tails_that_are_allowed_are_admitted();
    tails_that_have_no_room_are_refused();
    events_outside_the_unit_cost_everything();
    sums_are_exact_whatever_the_number_of_parts();
    noise_is_the_least_that_fits();
    budgets_that_make_no_sense_are_refused();
    CHECK(fail_alloc_sweep("allowance", scenario, NULL) >= 20);
    return check_summary();
}
