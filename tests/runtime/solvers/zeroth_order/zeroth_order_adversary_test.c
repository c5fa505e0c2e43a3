/* zeroth_order_adversary_test.c -- two whole runs on neighbouring data with the same noise, the record that differs
 * answering as it likes: everything that is released differs in one leaf of a pass, by no more than the sensitivity,
 * and costs no more than the plan says.  The learner's steps are too small to move a point, so that both runs look at
 * the same points, as in the proof: given what was released.
 * Depends on: solvers/, check.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/zeroth_order/zeroth_order.h"

enum { N = 60, DIM = 5, OWN = 64, ROUNDS = 4, EPOCHS = 3, FIRST = 6, PASSES = 2 };

typedef struct world {
    size_t where;    /* the record that differs */
    int answer;      /* +1, -1: with the sign of the direction, as large as can be; 0: what is no number */
    bool at_a_point; /* it likes large coefficients, else large differences of two */
} world;

static pn_status values_of(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                           double *values, pn_err *err)
{
    const world *of = self;
    size_t points = count / (count % 4 == 0 && count > 2 * DIM ? 4 : 2);

    (void)err;
    for (size_t k = 0; k < count; k++) {
        size_t side = k / points;
        double way = (side % 2 ? -1.0 : 1.0) * (side < 2 || of->at_a_point ? 1.0 : -1.0);

        values[k] = (double)record->row * fabs(thetas[k * dim]); /* what is clipped for most records */
        if (record->row == of->where)
            values[k] = of->answer == 0 ? (double)NAN : 1e6 * way * of->answer;
    }
    return PN_OK;
}

typedef struct setting {
    bool naive;
    const char *factorization;
    pn_prefix_estimator estimator;
    pn_directions directions;
    size_t group, others; /* others: 3, and the first leaf of an epoch is what moves most; 1, and the others are */
    pn_neighbours neighbours;
} setting;

static void give(pn_arg *own, int option, size_t count, double real)
{
    own[option] = (pn_arg){ .given = true, .count = count, .real = real };
}

static void say(pn_arg *own, int option, const char *text)
{
    own[option] = (pn_arg){ .given = true, .text = text };
}

/* Rows of prefix= by name. */
static void say_prefix(pn_arg *own, const char *name, const char *text)
{
    int row = 0;

    while (strcmp(pn_prefix_params[row].name, name) != 0)
        row++;
    say(own, ZO_PREFIX + row, text);
}

static pn_plan *plan_for(pn_objective *objective, const setting *of)
{
    static double ones[DIM] = { 1.0, 1.0, 1.0, 1.0, 1.0 };
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN] = { { 0 } };
    pn_plan *plan = NULL;
    pn_err err;

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    common[PN_OPT_START] = (pn_arg){ .given = true, .vector = { ones, DIM } };
    say(common, PN_OPT_NEIGHBOURS, pn_neighbours_names[of->neighbours]);
    give(own, ZO_EPOCHS, EPOCHS, 0.0);
    give(own, ZO_ROUNDS, ROUNDS, 0.0);
    give(own, ZO_BATCH, of->others, 0.0);
    give(own, ZO_SMOOTHING, 0, 0.05);
    give(own, ZO_RADIUS, 0, 0.01);
    give(own, ZO_STEP, 0, 1e-300);
    give(own, ZO_PASSES, PASSES, 0.0);
    give(own, ZO_GROUP, of->group, 0.0);
    say(own, ZO_DIRECTIONS, pn_directions_names[of->directions]);
    if (!of->naive) {
        give(own, ZO_FIRST_BATCH, FIRST, 0.0);
        say(own, ZO_ORACLE, "variance_reduced");
        say_prefix(own, "factorization", of->factorization);
        if (strcmp(of->factorization, "binary") == 0)
            say_prefix(own, "estimator", pn_prefix_estimator_names[of->estimator]);
    }
    if (!CHECK(pn_plan_from_args(&plan, of->naive ? "zeroth_order_naive" : "zeroth_order", objective, NULL, common, own,
                                 NULL, &err) == PN_OK))
        (void)fprintf(stderr, "%s\n", err.message);
    return plan;
}

/* out[rounds][DIM]: what each round releases. */
static void run(const world *box, const setting *of, double (*out)[DIM], pn_plan **plan, pn_objective **objective,
                pn_dataset **data)
{
    double x[N] = { 0.0 }, y[N] = { 0.0 };
    pn_budget budget = { .epsilon = NAN, .rho = 0.5, .neighbours = of->neighbours, .teaching = true };
    pn_objective_parts parts = { 0 };
    pn_run_options options = { 0 };
    pn_walk *walk = NULL;
    bool done = false;

    CHECK(pn_dataset_from_dense(data, x, N, 1, y, NULL, NULL) == PN_OK);
    parts.data = *data;
    CHECK(pn_loss_black_box(&parts.loss, values_of, NULL, (void *)(size_t)(const void *)box, DIM, 2.0, NULL) == PN_OK);
    CHECK(pn_objective_new(objective, &parts, NULL) == PN_OK);
    pn_loss_free(parts.loss);
    *plan = plan_for(*objective, of);
    CHECK(pn_rng_seeded(&options.rng, 5, NULL) == PN_OK && pn_ledger_new(&options.ledger, &budget, NULL) == PN_OK);
    CHECK(pn_walk_new(&walk, *plan, &options, NULL) == PN_OK);
    for (size_t t = 0; !done && t < (*plan)->iterations; t++) {
        pn_trace_row row;

        CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_OK);
        memcpy(out[t], row.estimate, sizeof *out);
        for (size_t j = 0; j < DIM; j++)
            CHECK(row.point[j] == 1.0);
    }
    CHECK(done);
    pn_walk_free(walk);
    pn_ledger_free(options.ledger);
    pn_rng_free(options.rng);
}

/* The largest mu of a pass, relative to what is charged. */
static double share_moved(const setting *of, size_t where, bool at_a_point)
{
    enum { ALL = ROUNDS * EPOCHS * PASSES };
    static double out[2][ALL][DIM];
    const zo_plan *details;
    double most = 0.0, mu;

    for (int k = 0; k < 2; k++) {
        world box = { where, k == 0 ? 1 : of->neighbours == PN_ZERO_OUT ? 0 : -1, at_a_point };
        pn_dataset *data;
        pn_objective *objective;
        pn_plan *plan;
        size_t leaves = 0;

        run(&box, of, out[k], &plan, &objective, &data);
        details = (const zo_plan *)plan;
        mu = pn_prefix_design_mu(details->base.questions[0].design);
        for (size_t t = 0; k == 1 && t < plan->iterations; t++) {
            bool begins = of->naive || t % ROUNDS == 0;
            double square = 0.0;

            for (size_t j = 0; j < DIM; j++) {
                double now = out[1][t][j] - out[0][t][j], before = begins ? 0.0 : out[1][t - 1][j] - out[0][t - 1][j];

                square += (now - before) * (now - before);
            }
            leaves += sqrt(square) > 1e-6 * details->choice.sensitivity;
            CHECK(sqrt(square) <= details->choice.sensitivity * (1.0 + 1e-9));
            most = fmax(most,
                        sqrt(square) * pn_prefix_gain(details->base.questions[0].design) / details->choice.sigma / mu);
        }
        CHECK(k == 0 || leaves <= PASSES); /* a record is in one leaf of a pass, or in none */
        CHECK(plan->charges == PASSES && PASSES * mu * mu / 2.0 <= 0.5);
        pn_plan_free(plan);
        pn_objective_free(objective);
        pn_dataset_free(data);
    }
    CHECK(most <= 1.0 + 1e-9);
    return most;
}

int main(void)
{
    static const setting settings[] = {
        { .factorization = "binary", .directions = PN_DIRECTIONS_ORTHOGONAL },
        { .factorization = "binary", .directions = PN_DIRECTIONS_IID, .estimator = PN_PREFIX_HONAKER },
        { .factorization = "sqrt", .directions = PN_DIRECTIONS_ORTHOGONAL, .group = 4 },
        { .factorization = "blt", .directions = PN_DIRECTIONS_ORTHOGONAL, .neighbours = PN_ZERO_OUT },
        { .naive = true, .directions = PN_DIRECTIONS_ORTHOGONAL },
        { .naive = true, .directions = PN_DIRECTIONS_ONE, .neighbours = PN_ZERO_OUT },
    };

    for (size_t i = 0; i < 2 * sizeof settings / sizeof *settings; i++) {
        setting of = settings[i / 2];
        double most = 0.0;

        of.group = of.group ? of.group : 1;
        of.others = i % 2 ? 1 : 3;
        for (size_t where = 0; where < N; where += 3) {
            most = fmax(most, share_moved(&of, where, false));
            most = fmax(most, share_moved(&of, where, true));
        }
        CHECK(most > (of.directions == PN_DIRECTIONS_IID ? 0.2 : 1.0 - 1e-6));
    }
    return check_summary();
}
