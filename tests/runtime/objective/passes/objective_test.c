/* objective_test.c -- what Lua cannot ask of objectives: the same bits on any number of threads, batches that point
 * nowhere, memory that runs out, black boxes that fail, the rounding bound of the Gram matrix.
 * Depends on: objective/passes/objective.h, expr/formula.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "expr/formula.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "objective/passes/objective.h"

enum { N = 6000, P = 11, DIRECTIONS = 3 };

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* n records of features in [-1, 1]; labels 1 to `classes`, or -1 and 1 for 0. */
static pn_status make_data(pn_dataset **out, size_t n, unsigned classes, pn_err *err)
{
    static double X[N * P], y[N];
    unsigned state = 3;

    for (size_t i = 0; i < n * P; i++)
        X[i] = 2.0 * unit(&state) - 1.0;
    for (size_t i = 0; i < n; i++)
        y[i] = classes ? 1.0 + (double)((unsigned)(unit(&state) * classes)) : unit(&state) < 0.5 ? -1.0 : 1.0;
    return pn_dataset_from_dense(out, X, n, P, y, "made", err);
}

/* (z - y)^2 / 2 as a user types it */
static pn_status make_typed(pn_loss **out, const pn_labels *labels, pn_err *err)
{
    static const char *const names[2] = { "z", "y" };
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);
    pn_node residual;

    if (status != PN_OK)
        return status;
    residual = pn_x_sub(graph, pn_x_var(graph, 0), pn_x_var(graph, 1));
    status = pn_loss_from_graph(out, graph, pn_x_scale(graph, 0.5, pn_x_square(graph, residual)), labels, err);
    pn_graph_free(graph);
    return status;
}

static pn_status make_named(pn_loss **out, const char *name, size_t classes, pn_err *err)
{
    pn_arg args[4] = { { .given = classes > 0, .count = classes } };

    return pn_loss_from_args(out, name, args, err);
}

/* ---- threads ---- */

typedef struct answers {
    double value, gradient[4 * P], batch_value, batch[4 * P], product[4 * P], differences[DIRECTIONS];
    double values[N], factors[4 * N];
} answers;

static void ask(pn_objective *objective, unsigned threads, answers *out)
{
    static size_t rows[5001];
    static double theta[4 * P], v[4 * P], directions[DIRECTIONS * 4 * P];
    const pn_batch batch = { rows, 5001, 4000.5 };
    pn_task *task = NULL;
    pn_err err;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < 5001; i++)
        rows[i] = i * 7919 % N;
    for (size_t j = 0; j < 4 * P; j++) {
        theta[j] = 0.1 * (double)(j % 7) - 0.25;
        v[j] = 0.2 * (double)(j % 5) - 0.3;
    }
    for (size_t j = 0; j < DIRECTIONS * 4 * P; j++)
        directions[j] = 0.1 * (double)(j % 13) - 0.6;
    CHECK(pn_task_new(&task, threads, &err) == PN_OK);
    CHECK(pn_objective_evaluate(objective, theta, &out->value, out->gradient, task, &err) == PN_OK);
    CHECK(pn_objective_losses(objective, &batch, theta, &out->batch_value, out->batch, task, &err) == PN_OK);
    CHECK(pn_objective_factors(objective, theta, out->values, out->factors, task, &err) == PN_OK);
    CHECK(pn_objective_differences(objective, &batch, theta, directions, DIRECTIONS, 0.01, out->differences, task,
                                   &err) == PN_OK);
    if (pn_objective_clip(objective) == 0.0)
        CHECK(pn_objective_hessian_times(objective, NULL, theta, v, out->product, task, &err) == PN_OK);
    pn_task_free(task);
}

static void test_threads(const char *name, size_t classes, double clip)
{
    static answers one, other;
    pn_dataset *data = NULL;
    pn_loss *loss = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    CHECK(make_data(&data, N, (unsigned)classes, &err) == PN_OK);
    CHECK(make_named(&loss, name, classes, &err) == PN_OK);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss, .clip = clip }, &err) ==
          PN_OK);
    ask(objective, 1, &one);
    CHECK(one.gradient[0] != 0.0 && one.batch[1] != 0.0 && one.differences[2] != 0.0 && one.factors[N - 1] != 0.0);
    for (unsigned threads = 2; threads <= 3; threads++) {
        for (int again = 0; again < 3; again++) {
            ask(objective, threads, &other);
            CHECK(memcmp(&one, &other, sizeof one) == 0);
        }
    }
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_dataset_free(data);
}

/* ---- checks ---- */

static void test_bad_batches(void)
{
    const double theta[P] = { 0 };
    const size_t rows[3] = { 0, 10, 11 };
    double out[P], value;
    pn_dataset *data = NULL;
    pn_loss *loss = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    CHECK(make_data(&data, 11, 0, &err) == PN_OK && make_named(&loss, "logistic", 0, &err) == PN_OK);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    CHECK(pn_objective_bounds(objective)->hessian_lipschitz == INFINITY); /* records are not bounded; not NaN */
    CHECK(pn_objective_bounds(objective)->smoothness == INFINITY);
    CHECK(pn_objective_losses(objective, &(pn_batch){ rows, 2, 2.0 }, theta, &value, out, NULL, &err) == PN_OK);
    for (int bad = 0; bad < 4; bad++) {
        const pn_batch batches[4] = { { rows, 3, 3.0 }, { rows, 1, 0.0 }, { rows, 1, NAN }, { rows, 1, INFINITY } };

        CHECK(pn_objective_losses(objective, &batches[bad], theta, &value, out, NULL, &err) == PN_EINVAL);
        CHECK(pn_objective_hessian_times(objective, &batches[bad], theta, theta, out, NULL, &err) == PN_EINVAL);
        CHECK(pn_objective_differences(objective, &batches[bad], theta, theta, 1, 1.0, out, NULL, &err) == PN_EINVAL);
    }
    CHECK(pn_objective_differences(objective, NULL, theta, theta, 1, NAN, out, NULL, &err) == PN_EINVAL);
    CHECK(pn_objective_differences(objective, NULL, theta, theta, 0, 1.0, NULL, NULL, &err) == PN_OK);
    for (int bad = 0; bad < 3; bad++) {
        const double clips[3] = { -1.0, NAN, INFINITY };
        pn_objective *none = NULL;

        CHECK(pn_objective_new(&none, &(pn_objective_parts){ .data = data, .loss = loss, .clip = clips[bad] }, &err) ==
              PN_EINVAL);
        CHECK(none == NULL);
    }
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_dataset_free(data);
}

/* ---- rounding through the Gram matrix ---- */

static double error_of(const pn_dataset *data, pn_loss *loss, pn_set *set)
{
    pn_objective *objective = NULL;
    double error;
    pn_err err;

    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss, .set = set }, &err) == PN_OK);
    CHECK(pn_objective_bounds(objective)->certified);
    error = pn_objective_gradient_error(objective);
    pn_objective_free(objective);
    return error;
}

/* Labels that a typed squared loss lists are bounded by the list: the error must not forget them. */
static void test_gradient_error(void)
{
    const pn_labels listed = { .kind = PN_LABELS_VALUES, .count = 2, .values = { -1.0, 1.0 } };
    pn_dataset *plain = NULL, *clipped = NULL, *labelled = NULL;
    pn_loss *typed = NULL, *squared = NULL;
    pn_set *set = NULL;
    pn_arg args[8] = { { .given = false } };
    pn_err err;

    args[0] = (pn_arg){ .given = true, .count = P };
    args[1] = (pn_arg){ .given = true, .real = 1e-3 };
    CHECK(make_data(&plain, 50, 0, &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&clipped, plain, PN_LINF, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&labelled, clipped, -1.0, 1.0, &err) == PN_OK);
    CHECK(make_typed(&typed, &listed, &err) == PN_OK && make_named(&squared, "squared", 0, &err) == PN_OK);
    CHECK(typed->quadratic && squared->quadratic);
    if (CHECK(pn_set_from_args(&set, "l1_ball", args, &err) == PN_OK)) {
        double listed_error = error_of(clipped, typed, set), enforced_error = error_of(labelled, squared, set);

        CHECK(listed_error == enforced_error);
        CHECK(listed_error >= 1033.0 * 0x1p-53); /* (gamma of 1024 + 1 + 8) x 1 x |y| = 1, of the Gram matrix */
    }
    pn_set_free(set);
    pn_loss_free(typed);
    pn_loss_free(squared);
    pn_dataset_free(plain);
    pn_dataset_free(clipped);
    pn_dataset_free(labelled);
}

/* ---- black boxes ---- */

typedef struct box {
    size_t calls, fail_at, released, visits, most;
    double returns;
} box;

static pn_status box_value(void *ud, const double *thetas, size_t count, size_t dim, const pn_record *record,
                           double *values, pn_err *err)
{
    box *self = ud;

    self->visits++;
    self->most = count > self->most ? count : self->most;
    for (size_t k = 0; k < count; k++) {
        self->calls++;
        if (self->calls == self->fail_at)
            return pn_fail(err, PN_ECALLBACK, "the box broke");
        values[k] = self->returns;
        for (size_t j = 0; j < dim; j++)
            values[k] += thetas[k * dim + j] * record->x[j] * record->y;
    }
    return PN_OK;
}

/* The same of the first entries of a longer theta. */
static pn_status box_head(void *ud, const double *thetas, size_t count, size_t dim, const pn_record *record,
                          double *values, pn_err *err)
{
    box *self = ud;
    size_t visits = self->visits, most = self->most;
    pn_status status = PN_OK;

    for (size_t k = 0; k < count && status == PN_OK; k++)
        status = box_value(ud, thetas + k * dim, 1, record->p, record, values + k, err);
    self->visits = visits + 1;
    self->most = count > most ? count : most;
    return status;
}

static void box_release(void *ud)
{
    ((box *)ud)->released++;
}

static void test_black_box(void)
{
    box self = { .fail_at = 7 };
    double theta[P] = { 1.0 }, out[P], value = 42.0, values[11];
    pn_dataset *data = NULL;
    pn_loss *loss = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    CHECK(make_data(&data, 11, 0, &err) == PN_OK);
    CHECK(pn_loss_black_box(&loss, box_value, box_release, &self, 0, NAN, &err) == PN_EINVAL);
    CHECK(pn_loss_black_box(&loss, box_value, box_release, &self, 0, 2.0, &err) == PN_OK);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    CHECK(pn_objective_bounds(objective)->source == PN_BOUND_DECLARED && !pn_objective_bounds(objective)->certified);
    CHECK(pn_objective_evaluate(objective, theta, &value, NULL, NULL, &err) == PN_ECALLBACK && value == 42.0);
    CHECK(self.calls == 7 && strcmp(err.message, "the box broke") == 0);
    CHECK(pn_objective_evaluate(objective, theta, &value, NULL, NULL, &err) == PN_OK && self.calls == 18);
    CHECK(pn_objective_factors(objective, theta, values, NULL, NULL, &err) == PN_OK);
    CHECK_CLOSE((values[0] + values[1] + values[2] + values[3] + values[4] + values[5] + values[6] + values[7] +
                 values[8] + values[9] + values[10]) /
                    11.0,
                value, 1e-15);
    CHECK(pn_objective_evaluate(objective, theta, NULL, out, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(pn_objective_factors(objective, theta, NULL, out, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(pn_objective_hessian_times(objective, NULL, theta, theta, out, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(pn_objective_accuracy(objective, theta, &value, NULL, &err) == PN_EUNSUPPORTED);
    self.returns = INFINITY;
    CHECK(pn_objective_evaluate(objective, theta, &value, NULL, NULL, &err) == PN_EDOMAIN);
    self.returns = NAN;
    CHECK(pn_objective_differences(objective, NULL, theta, theta, 1, 1.0, out, NULL, &err) == PN_EDOMAIN);
    self.returns = 0.0;
    CHECK(pn_objective_differences(objective, NULL, theta, theta, 1, 1.7e308, out, NULL, &err) == PN_OK);
    theta[0] = 1e308; /* theta + radius u is no number */
    CHECK(pn_objective_differences(objective, NULL, theta, theta, 1, 10.0, out, NULL, &err) == PN_EDOMAIN);
    CHECK(self.released == 0);
    pn_loss_free(loss);
    pn_objective_free(objective);
    CHECK(self.released == 1);
    pn_dataset_free(data);
}

/* Bit for bit what two means a direction give, in one visit to a record;
 * a long theta takes its points in several visits. */
static void test_black_box_differences(void)
{
    enum { LONG = 50000, COUNT = 5 };
    static double theta[LONG], directions[COUNT * LONG];
    double out[COUNT], point[LONG], ends[2];
    box self = { .fail_at = 0 };
    pn_dataset *data = NULL;
    pn_err err;

    for (size_t j = 0; j < COUNT * LONG; j++)
        directions[j] = sin((double)j);
    CHECK(make_data(&data, 11, 0, &err) == PN_OK);
    for (int is_long = 0; is_long < 2; is_long++) {
        size_t dim = is_long ? LONG : P;
        pn_loss *loss = NULL;
        pn_objective *objective = NULL;

        CHECK(pn_loss_black_box(&loss, is_long ? box_head : box_value, NULL, &self, is_long ? LONG : 0, 2.0, &err) ==
              PN_OK);
        CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
        CHECK(pn_objective_dim(objective) == dim);
        self = (box){ .fail_at = 0 };
        CHECK(pn_objective_differences(objective, NULL, theta, directions, COUNT, 0.125, out, NULL, &err) == PN_OK);
        CHECK(self.calls == 2 * COUNT * 11);
        CHECK(self.visits == (is_long ? 3 * 11 : 11) && self.most == (is_long ? 4 : 2 * COUNT));
        for (size_t k = 0; k < COUNT; k++) {
            for (int side = 0; side < 2; side++) {
                for (size_t j = 0; j < dim; j++)
                    point[j] = theta[j] + (side ? -0.125 : 0.125) * directions[k * dim + j];
                CHECK(pn_objective_evaluate(objective, point, &ends[side], NULL, NULL, &err) == PN_OK);
            }
            CHECK(out[k] == 0.5 * ((ends[0] - ends[1]) / 0.125) && out[k] != 0.0);
        }
        self = (box){ .fail_at = 2 * COUNT * 11 }; /* the last: nothing is half written */
        out[0] = 42.0;
        CHECK(pn_objective_differences(objective, NULL, theta, directions, COUNT, 0.125, out, NULL, &err) ==
              PN_ECALLBACK);
        CHECK(out[0] == 42.0);
        pn_objective_free(objective);
        pn_loss_free(loss);
    }
    pn_dataset_free(data);
}

static void test_cancelling(void)
{
    box self = { .fail_at = 0 };
    const double theta[P] = { 0 };
    double value = 42.0, gradient[P];
    pn_dataset *data = NULL;
    pn_loss *loss[2] = { NULL };
    pn_task *task = NULL;
    pn_err err;

    CHECK(pn_task_new(&task, 2, &err) == PN_OK && make_data(&data, N, 0, &err) == PN_OK);
    CHECK(pn_loss_black_box(&loss[0], box_value, NULL, &self, 0, 0.0, &err) == PN_OK);
    CHECK(make_named(&loss[1], "hinge", 0, &err) == PN_OK);
    for (int k = 0; k < 2; k++) {
        pn_objective *objective = NULL;

        CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss[k] }, &err) == PN_OK);
        pn_task_cancel(task);
        CHECK(pn_objective_evaluate(objective, theta, &value, k ? gradient : NULL, task, &err) == PN_ECANCELLED);
        CHECK(value == 42.0);
        CHECK(pn_objective_differences(objective, NULL, theta, theta, 1, 1.0, &value, task, &err) == PN_ECANCELLED);
        CHECK(value == 42.0);
        pn_task_reset(task);
        CHECK(pn_objective_evaluate(objective, theta, &value, NULL, task, &err) == PN_OK);
        value = 42.0;
        pn_objective_free(objective);
        pn_loss_free(loss[k]);
    }
    CHECK(self.calls == N);
    pn_task_free(task);
    pn_dataset_free(data);
}

/* ---- memory ---- */

typedef struct scenario {
    const char *loss;
    size_t classes;
    double clip;
    bool batch;
} scenario;

static pn_interval found_slope, found_third; /* by the last scenario */

static pn_status use(pn_objective *objective, const scenario *self, pn_err *err)
{
    static const size_t rows[3] = { 4, 0, 4 };
    static const pn_batch some = { rows, 3, 2.0 };
    const pn_batch *batch = self->batch ? &some : NULL;
    double theta[3 * P] = { 0.5 }, out[3 * P], value, factors[3 * 8];
    pn_status status = pn_objective_losses(objective, batch, theta, &value, out, NULL, err);

    if (status == PN_OK)
        status = pn_objective_factors(objective, theta, NULL, factors, NULL, err);
    if (status == PN_OK)
        status = pn_objective_differences(objective, batch, theta, theta, 1, 0.5, &value, NULL, err);
    if (status == PN_OK && self->clip == 0.0)
        status = pn_objective_hessian_times(objective, batch, theta, theta, out, NULL, err);
    return status;
}

static pn_status run_scenario(void *ud, pn_err *err)
{
    const scenario *self = ud;
    pn_dataset *data = NULL;
    pn_loss *loss = NULL;
    pn_objective *objective = NULL;
    pn_status status = make_data(&data, 8, (unsigned)self->classes, err);

    if (status == PN_OK)
        status = self->loss ? make_named(&loss, self->loss, self->classes, err)
                            : make_typed(&loss, &(pn_labels){ .kind = PN_LABELS_REAL }, err);
    if (status == PN_OK)
        status =
            pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss, .clip = self->clip }, err);
    if (status == PN_OK) {
        found_slope = pn_objective_bounds(objective)->loss.slope;
        found_third = pn_objective_bounds(objective)->loss.third;
        status = use(objective, self, err);
    }
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_dataset_free(data);
    return status;
}

/* The text of what is not bounded may be lost: then all goes well without it. */
static void sweep(scenario *self)
{
    fail_alloc count = { .fail_at = 0 };
    pn_interval slope, third;
    long failed = 0;

    CHECK(fail_alloc_run(&count, run_scenario, self) == PN_OK && count.live == 0);
    slope = found_slope;
    third = found_third;
    for (long k = 1, last = count.calls; k <= last; k++) {
        fail_alloc round = { .fail_at = k };
        pn_status status = fail_alloc_run(&round, run_scenario, self);

        /* never bounds that are missing for want of memory */
        CHECK(found_slope.low == slope.low && found_slope.high == slope.high);
        CHECK(found_third.low == third.low && found_third.high == third.high);
        CHECK((status == PN_OK || status == PN_ENOMEM) && round.live == 0);
        failed += status == PN_ENOMEM;
    }
    CHECK(failed > 5);
}

int main(void)
{
    scenario scenarios[] = { { "softmax", 3, 0.0, false }, { "softmax", 3, 0.1, true }, { "logistic", 0, 0.0, true },
                             { "huber", 0, 0.1, false },   { NULL, 0, 0.0, false },     { NULL, 0, 2.0, true } };

    test_threads("logistic", 0, 0.0);
    test_threads("cauchy", 0, 0.0);
    test_threads("softmax", 4, 0.0);
    test_threads("huber", 0, 0.125);
    test_threads("softmax", 4, 0.125);
    test_bad_batches();
    test_gradient_error();
    test_black_box();
    test_black_box_differences();
    test_cancelling();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        sweep(&scenarios[i]);
    return check_summary();
}
