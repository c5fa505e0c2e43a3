/* line_search_test.c -- private line search: which step is taken and how likely, what a record can move of a test, what
 * is charged, and that a search that was stopped goes on with the batch and the noise that it had.
 * Depends on: oracle/second_order/line_search.c, check.h. */
#include <stdlib.h>

#include "check.h"
#include "random/rng.h"

#include "oracle/second_order/line_search.c"

/* ---- pieces ---- */

typedef struct world {
    pn_dataset *data;
    pn_objective *objective;
    pn_model model;
    pn_ledger *ledger;
    pn_step_context context;
} world;

static void clear(world *of)
{
    pn_objective_free(of->objective);
    pn_dataset_free(of->data);
    pn_ledger_free(of->ledger);
    pn_rng_free(of->context.rng);
}

static pn_status make_objective(world *of, const char *loss, const double *X, size_t n, size_t p, const double *y)
{
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_from_dense(&raw, X, n, p, y, NULL, NULL);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(&of->data, raw, PN_L2, 1.0, NULL);
    pn_dataset_free(raw);
    parts.data = of->data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, loss, none, NULL);
    if (status == PN_OK)
        status = pn_objective_new(&of->objective, &parts, NULL);
    pn_loss_free(parts.loss);
    return status;
}

/* Records with a loss and a stream; rho 0: without privacy. */
static world make(const char *loss, const double *X, size_t n, size_t p, const double *y, size_t batch, double rho)
{
    world of = { 0 };
    pn_request request = { .kind = rho > 0.0 ? PN_RHO : PN_NONPRIVATE, .rho = rho };
    pn_budget budget = { .epsilon = NAN, .rho = rho, .teaching = true };

    CHECK(make_objective(&of, loss, X, n, p, y) == PN_OK);
    of.model = (pn_model){ .objective = of.objective,
                           .dim = p,
                           .n = n,
                           .batch = batch ? batch : n,
                           .neighbours = request.neighbours,
                           .is_private = rho > 0.0,
                           .lipschitz = pn_objective_bounds(of.objective)->lipschitz[PN_L2] };
    CHECK(pn_rng_seeded(&of.context.rng, 3, NULL) == PN_OK);
    if (rho > 0.0)
        CHECK(pn_ledger_new(&of.ledger, &budget, NULL) == PN_OK);
    of.context.ledger = of.ledger;
    return of;
}

static pn_status run_once(world *of, const pn_line_search *search, double *step, size_t *tested, bool *charged)
{
    pn_line_run *run = NULL;
    uint64_t records = 0;
    pn_status status = pn_line_search_open(&run, search, &of->model, &of->context, "search", charged, NULL);

    if (status == PN_OK)
        status = pn_line_search_ask(run, &of->context, step, tested, &records, NULL);
    pn_line_search_free(run);
    return status;
}

/* ---- without noise ---- */

/* second-order.md section 11, item 3: f = ||w||^2/2, ||w|| = 1, G = 1, c_g = .6: gamma_0 = 12, six tests fail,
 * the result is .6. */
static void test_the_worked_example(void)
{
    const double X[] = { 1.0, 0.0, 0.0, 1.0 }, y[] = { 0.0, 0.0 }, w[] = { 0.6, 0.8 }, u[] = { -0.6, -0.8 };
    world of = make("squared", X, 2, 2, y, 0, 0.0); /* f = ||w||^2/4: in half units */
    pn_line_search search = {
        .point = w, .direction = u, .first = 12.0, .factor = 0.6, .tests = 6, .otherwise = 0.6, .linear = 0.3
    };
    double step = 0.0;
    size_t tested = 0;
    bool charged;

    for (int slope = 0; slope < 2; slope++) {
        search.slope = slope;
        search.linear = 0.3;
        search.tests = 6;
        CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
        CHECK(tested == 6 && step == 0.6 && !charged);
        search.tests = 7; /* one more: .4 t - t^2/2 >= 0 below .8 */
        CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
        CHECK(tested == 7);
        CHECK_CLOSE(step, 12.0 * pow(0.6, 6), 1e-12);
        search.linear = 0.0; /* t - t^2/2 >= 0 below 2 */
        CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
        CHECK(tested == 5);
        search.quadratic = 0.25; /* t - t^2 >= 0 below 1 */
        CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
        CHECK(tested == 6);
        search.quadratic = 0.0;
    }
    clear(&of);
}

/* r(w) = ||w||^2/2 has no records at all: its part is exact, and not in the sensitivity. */
static void test_the_regulariser_is_exact(void)
{
    const double X[] = { 1.0, 0.0 }, y[] = { 1.0 }, w[] = { 0.0, 1.0 }, u[] = { 0.0, -1.0 };
    pn_arg weight[4] = { { .given = true, .real = 1.0 } };
    pn_objective_parts parts = { 0 };
    pn_arg none[4] = { { 0 } };
    world of = { 0 };
    pn_line_search search = { .point = w,
                              .direction = u,
                              .first = 12.0,
                              .factor = 0.6,
                              .tests = 9,
                              .otherwise = 0.1,
                              .linear = 0.6,
                              .epsilon = 400.0,
                              .slope = true };
    pn_budget budget = { .epsilon = NAN, .rho = 1e6, .teaching = true };
    double step = 0.0;
    size_t tested = 0;
    bool charged;

    CHECK(pn_dataset_from_dense(&of.data, X, 1, 2, y, NULL, NULL) == PN_OK);
    parts.data = of.data;
    CHECK(pn_loss_from_args(&parts.loss, "logistic", none, NULL) == PN_OK);
    CHECK(pn_regulariser_from_args(&parts.reg, "l2", weight, NULL) == PN_OK);
    CHECK(pn_objective_new(&of.objective, &parts, NULL) == PN_OK);
    pn_loss_free(parts.loss);
    pn_regulariser_free(parts.reg);
    of.model = (pn_model){
        .objective = of.objective, .dim = 2, .n = 1, .batch = 1, .is_private = true, .lipschitz = 1e-3
    }; /* the loss does not change along u */
    CHECK(pn_rng_seeded(&of.context.rng, 3, NULL) == PN_OK && pn_ledger_new(&of.ledger, &budget, NULL) == PN_OK);
    of.context.ledger = of.ledger;
    CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
    CHECK(charged && tested == 7); /* as in the worked example */
    CHECK_CLOSE(step, 12.0 * pow(0.6, 6), 1e-12);
    clear(&of);
}

static void test_without_tests_nothing_is_charged(void)
{
    const double X[] = { 1.0 }, y[] = { 1.0 }, w[] = { 0.0 }, u[] = { 1.0 };
    world of = make("logistic", X, 1, 1, y, 0, 1.0);
    pn_line_search search = { .point = w, .direction = u, .otherwise = 0.25, .epsilon = 1.0 };
    double step = 0.0;
    size_t tested = 9;
    bool charged = true;

    CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
    CHECK(step == 0.25 && tested == 0 && !charged && pn_ledger_spent(of.ledger) == 0.0);
    clear(&of);
}

static void test_numbers_out_of_range_are_refused(void)
{
    const double X[] = { 1.0 }, y[] = { 1.0 }, w[] = { 0.0 }, u[] = { 1.0 };
    const pn_line_search good = { .point = w, .direction = u, .first = 1.0, .factor = 0.5, .tests = 2, .epsilon = 1.0 };
    world of = make("logistic", X, 1, 1, y, 0, 1.0);
    pn_line_search bad[5] = { good, good, good, good, good };
    double step;
    size_t tested;
    bool charged;

    bad[0].first = 0.0;
    bad[1].first = NAN;
    bad[2].factor = 1.0;
    bad[3].factor = NAN;
    bad[4].epsilon = -1.0;
    for (int k = 0; k < 5; k++)
        CHECK(run_once(&of, &bad[k], &step, &tested, &charged) == PN_EINVAL && !charged);
    CHECK(pn_ledger_spent(of.ledger) == 0.0);
    clear(&of);
}

/* ---- the law ---- */

static double laplace_cdf(double x)
{
    return x < 0.0 ? 0.5 * exp(x) : 1.0 - 0.5 * exp(-x);
}

/* P(the first accepted is test k), k = 0 .. count: q in units of the scale of both noises,
 * by Simpson's rule over the threshold's. */
static void exact_law(const double *q, size_t count, double *law)
{
    const double from = -45.0, to = 45.0;
    const int cells = 90000;

    for (size_t k = 0; k <= count; k++)
        law[k] = 0.0;
    for (int i = 0; i <= cells; i++) {
        double z = from + (to - from) * i / cells, weight = (i == 0 || i == cells ? 1.0 : i % 2 ? 4.0 : 2.0);
        double none = 0.5 * exp(-fabs(z)) * weight * (to - from) / cells / 3.0;

        for (size_t k = 0; k < count; k++) {
            double below = laplace_cdf(z - q[k]);

            law[k] += none * (1.0 - below);
            none *= below;
        }
        law[count] += none;
    }
}

/* 2 x 5 cells at 5.6 standard deviations: false alarm below 10 x 2.2e-8 (normal) and,
 * with Bernstein's bound at these counts, below 1e-6. */
static void test_steps_are_accepted_as_often_as_the_law_says(void)
{
    enum { TESTS = 4 };
    const long runs = check_draws(20000, 1000);
    const double X[] = { 1.0 }, y[] = { 1.0 }, w[] = { -1.0 }, u[] = { 2.0 };

    for (int slope = 0; slope < 2; slope++) {
        world of = make("logistic", X, 1, 1, y, 0, 1e5);
        pn_line_search search = { .point = w,
                                  .direction = u,
                                  .first = 8.0,
                                  .factor = 0.4,
                                  .tests = TESTS,
                                  .otherwise = -1.0,
                                  .linear = slope ? 3.0 : 0.5,
                                  .epsilon = 1.5,
                                  .slope = slope };
        double q[TESTS], law[TESTS + 1], t = search.first, scale = 3.0 * 2.0 * 2.0 * (slope ? 1.0 : t) / 1.5;
        size_t seen[TESTS + 1] = { 0 };

        for (int k = 0; k < TESTS; k++, t *= search.factor) {
            q[k] = log1p(exp(1.0)) - log1p(exp(1.0 - 2.0 * t)) - search.linear * t;
            q[k] /= scale * (slope ? t : 1.0);
        }
        exact_law(q, TESTS, law);
        for (long i = 0; i < runs; i++) {
            double step = 0.0;
            size_t tested = 0;
            bool charged = false;

            if (!CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK && charged))
                break;
            seen[step == -1.0 ? TESTS : tested - 1]++;
        }
        for (int k = 0; k <= TESTS; k++)
            CHECK_CLOSE((double)seen[k], (double)runs * law[k],
                        5.6 * sqrt((double)runs * law[k] * (1.0 - law[k])) + 11.0);
        CHECK_CLOSE(pn_ledger_spent(of.ledger), (double)runs * 1.5 * 1.5 / 2.0, 1e-3);
        clear(&of);
    }
}

/* ---- what a record can move ---- */

enum { PLAY = 8 };

/* Largest |q - q'| in units of what noise is calibrated to, for records (cos a, sin a) r with label 1 at place
 * play[0 .. 3] and moved by play. */
static double moved(const double *play, bool slope)
{
    const double y[] = { 1.0, 1.0, -1.0 };
    double X[] = { 0.3, 0.1, -0.2, 0.5, 0.7, 0.2 }, w[] = { play[4], play[5] }, u[] = { play[6], play[7] }, q[2][4];
    pn_batch_sparse_options options = { 0 };
    double worst = 0.0;

    for (int side = 0; side < 2; side++) {
        world of;
        pn_line_search search = { .point = w,
                                  .direction = u,
                                  .first = 3.0,
                                  .factor = 0.5,
                                  .tests = 4,
                                  .linear = 0.1,
                                  .epsilon = 1.0,
                                  .slope = slope };
        pn_line_run *run = NULL;
        uint64_t records = 0;
        bool charged;

        X[0] = play[2 * side];
        X[1] = play[2 * side + 1];
        of = make("logistic", X, 3, 2, y, 0, 1.0);
        if (CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_OK) &&
            CHECK(look(run, &of.context, &records, NULL) == PN_OK)) {
            memcpy(q[side], run->q, sizeof q[0]);
            options = search_options(run);
            CHECK(records == 3);
        }
        pn_line_search_free(run);
        clear(&of);
    }
    for (int k = 0; k < 4; k++)
        worst = fmax(worst, fabs(q[0][k] - q[1][k]) / (options.sensitivity + 2.0 * options.error));
    return worst;
}

static void test_no_neighbour_moves_a_test_beyond_its_sensitivity(void)
{
    for (int slope = 0; slope < 2; slope++) {
        double play[PLAY] = { 1.0, 0.2, -0.5, 0.4, -0.5, 0.3, 1.0, 0.5 }, best = moved(play, slope), size = 2.0;
        pn_rng *rng = NULL;

        CHECK(pn_rng_seeded(&rng, 17, NULL) == PN_OK);
        for (int i = 0; i < 600; i++) {
            double next[PLAY], now;

            for (int k = 0; k < PLAY; k++) {
                double out = k >= 4 && k < 6 ? 8.0 : 1.0;

                next[k] = play[k] + (pn_rng_uniform(rng) - 0.5) * size * out;
            }
            now = moved(next, slope);
            CHECK(now <= 1.0);
            if (now >= best) {
                best = now;
                memcpy(play, next, sizeof play);
            } else {
                size = fmax(0.05, size * 0.99);
            }
        }
        CHECK(best > 0.9); /* and noise for half of it would be too little */
        pn_rng_free(rng);
    }
}

/* second-order.md section 11, item 12: with a certified constant the clip never acts;
 * with too small a one it does, and holds. */
static void test_only_a_wrong_constant_clips(void)
{
    enum { N = 200, P = 3 };
    double X[N * P], y[N], w[P], u[P], q[5];
    pn_rng *rng = NULL;
    world of;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    pn_rng_normals(rng, N * P, X);
    for (int i = 0; i < N; i++)
        y[i] = i % 2 ? 1.0 : -1.0;
    of = make("logistic", X, N, P, y, 0, 1.0);
    for (int i = 0; i < 200; i++) {
        pn_line_search search = {
            .point = w, .direction = u, .first = i < 100 ? 20.0 : 1e-6, .factor = 0.5, .tests = 5
        };
        pn_line_run *run = NULL;
        size_t clipped = 1;
        bool charged;

        pn_rng_normals(rng, P, w);
        pn_rng_normals(rng, P, u);
        of.model.lipschitz = 1.0;
        CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_OK);
        CHECK(pn_objective_line(of.objective, NULL, w, u, run->t, 5, run->most, q, &clipped, NULL, NULL) == PN_OK);
        CHECK(clipped == 0);
        pn_line_search_free(run);
        of.model.lipschitz = 0.01;
        CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_OK);
        CHECK(pn_objective_line(of.objective, NULL, w, u, run->t, 5, run->most, q, &clipped, NULL, NULL) == PN_OK);
        CHECK(clipped > 0);
        for (int k = 0; k < 5; k++)
            CHECK(fabs(q[k]) <= run->most * run->t[k] * (1.0 + 1e-12));
        pn_line_search_free(run);
    }
    pn_rng_free(rng);
    clear(&of);
}

/* ---- batches, money, and going on ---- */

static void test_a_search_has_a_batch_of_its_own(void)
{
    enum { N = 40, M = 7 };
    double X[N], y[N], w[] = { 0.3 }, u[] = { 1.5 };
    size_t first[M], differ = 0;
    pn_event *event = NULL;
    world of;

    for (int i = 0; i < N; i++) {
        X[i] = (i + 1.0) / N;
        y[i] = i % 3 ? 1.0 : -1.0;
    }
    of = make("logistic", X, N, 1, y, M, 1e4);
    for (int i = 0; i < 10; i++) {
        pn_line_search search = {
            .point = w, .direction = u, .first = 2.0, .factor = 0.5, .tests = 3, .linear = 0.1, .epsilon = 1.0
        };
        pn_line_run *run = NULL;
        const size_t *rows;
        size_t count = 0;
        uint64_t records = 0;
        double sum = 0.0;
        bool charged;

        CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_OK && charged);
        rows = pn_batch_sparse_rows(run->sparse, &count);
        CHECK(count == M && look(run, &of.context, &records, NULL) == PN_OK && records == M);
        for (size_t k = 0; k < count; k++) {
            double x = X[rows[k]] * y[rows[k]];

            sum += log1p(exp(-x * w[0])) - log1p(exp(-x * (w[0] + 2.0 * u[0])));
        }
        CHECK_CLOSE(run->q[0], sum / M - 0.2, 1e-12);
        CHECK_CLOSE(search_options(run).sensitivity, 2.0 * 1.5 * 2.0 / M, 1e-6);
        if (i == 0)
            memcpy(first, rows, sizeof first);
        differ += memcmp(first, rows, sizeof first) != 0;
        pn_line_search_free(run);
    }
    CHECK(differ == 9); /* a repeat has chance 9/C(40, 7) = 5e-7 */
    CHECK(pn_line_search_event(&of.model, 1.0, &event, NULL) == PN_OK);
    CHECK_CLOSE(pn_ledger_spent(of.ledger), 10.0 * event->ops->zcdp(event), 1e-9);
    /* second-order.md section 6: eps' = ln(1 + q (e^eps - 1)) */
    CHECK_CLOSE(event->ops->zcdp(event), pow(log1p(7.0 / 40.0 * expm1(1.0)), 2.0) / 2.0, 1e-6);
    pn_event_free(event);
    clear(&of);
}

static void test_a_refused_charge_leaves_nothing(void)
{
    const double X[] = { 1.0, 0.5, 0.2 }, y[] = { 1.0, 1.0, -1.0 }, w[] = { 0.0 }, u[] = { 1.0 };
    world of = make("logistic", X, 3, 1, y, 2, 0.01);
    pn_line_search search = { .point = w, .direction = u, .first = 1.0, .factor = 0.5, .tests = 3, .epsilon = 1.0 };
    pn_line_run *run = NULL;
    pn_rng *fresh = NULL;
    bool charged = true;

    CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_EBUDGET);
    CHECK(!run && !charged && pn_ledger_spent(of.ledger) == 0.0);
    CHECK(pn_rng_seeded(&fresh, 3, NULL) == PN_OK);
    CHECK(pn_rng_u64(fresh) == pn_rng_u64(of.context.rng));
    pn_rng_free(fresh);
    clear(&of);
}

/* Cancelled while it looks at the records: the same batch and the same noise afterwards, at one price. */
static void test_a_stopped_search_goes_on(void)
{
    enum { N = 50 };
    double X[N], y[N], w[] = { 0.3 }, u[] = { 1.5 }, step[2] = { 0.0, 0.0 };
    size_t tested[2] = { 0, 0 };

    for (int i = 0; i < N; i++) {
        X[i] = (i + 1.0) / N;
        y[i] = i % 3 ? 1.0 : -1.0;
    }
    for (int broken = 0; broken < 2; broken++) {
        world of = make("logistic", X, N, 1, y, 20, 10.0);
        pn_line_search search = { .point = w,
                                  .direction = u,
                                  .first = 8.0,
                                  .factor = 0.7,
                                  .tests = 30,
                                  .otherwise = 1e-9,
                                  .linear = 0.35,
                                  .epsilon = 1.0,
                                  .slope = true };
        pn_line_run *run = NULL;
        pn_task *task = NULL;
        uint64_t records = 0;
        double paid;
        bool charged;

        CHECK(pn_line_search_open(&run, &search, &of.model, &of.context, "", &charged, NULL) == PN_OK);
        paid = pn_ledger_spent(of.ledger);
        CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
        if (broken) {
            pn_task_cancel(task);
            of.context.task = task;
            CHECK(pn_line_search_ask(run, &of.context, &step[1], &tested[1], &records, NULL) == PN_ECANCELLED);
            CHECK(step[1] == 0.0 && records == 0);
            of.context.task = NULL;
        }
        CHECK(pn_line_search_ask(run, &of.context, &step[broken], &tested[broken], &records, NULL) == PN_OK);
        CHECK(pn_ledger_spent(of.ledger) == paid && records == 20);
        pn_line_search_free(run);
        pn_task_free(task);
        clear(&of);
    }
    CHECK(step[0] == step[1] && tested[0] == tested[1]);
}

/* A loss that overflows along the line is a test that fails, with noise as without. */
static void test_a_step_into_the_undefined_is_not_taken(void)
{
    const double X[] = { 1.0 }, y[] = { 0.5 }, w[] = { 0.0 }, u[] = { 1.0 };
    world of = make("squared", X, 1, 1, y, 0, 1e9);
    pn_line_search search = { .point = w,
                              .direction = u,
                              .first = 1e200,
                              .factor = 1e-200,
                              .tests = 2,
                              .otherwise = 0.125,
                              .linear = 0.2,
                              .epsilon = 900.0,
                              .slope = true };
    double step = 0.0;
    size_t tested = 0;
    bool charged;

    of.model.lipschitz = 1.0;
    CHECK(run_once(&of, &search, &step, &tested, &charged) == PN_OK);
    CHECK(step == 0.125 && tested == 2); /* the second, of 1, does not lower (w - 1/2)^2/2 */
    clear(&of);
}

int main(void)
{
    test_the_worked_example();
    test_the_regulariser_is_exact();
    test_without_tests_nothing_is_charged();
    test_numbers_out_of_range_are_refused();
    test_steps_are_accepted_as_often_as_the_law_says();
    test_no_neighbour_moves_a_test_beyond_its_sensitivity();
    test_only_a_wrong_constant_clips();
    test_a_search_has_a_batch_of_its_own();
    test_a_refused_charge_leaves_nothing();
    test_a_stopped_search_goes_on();
    test_a_step_into_the_undefined_is_not_taken();
    return check_summary();
}
