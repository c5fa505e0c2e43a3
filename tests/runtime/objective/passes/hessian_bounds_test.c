/* hessian_bounds_test.c -- what is stated of a record's Hessian holds for the matrices that are computed, whatever two
 * admissible records and theta a search finds, and where the constants are said to be reached it reaches them.
 * Depends on: hessian_helpers.h, objective/passes/second_order.h. */
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { P = 3, PACKED = 6 };

/* Two data sets of one record each, whose features and labels the search moves, and theta. */
typedef struct pair {
    pn_dataset *data[2];
    pn_objective *objective[2];
    double radius, reach, low, high; /* of records, of theta, labels; binary ones: -1 and 1 */
    bool binary;
} pair;

typedef struct place {
    double x[2][P], y[2], theta[P];
} place;

static pair open_pair(const char *loss, double radius, double reach, bool binary)
{
    static const double X[P] = { 0.5, 0.0, 0.0 }, y[1] = { 1.0 };
    pair self = { .radius = radius, .reach = reach, .low = -1.0, .high = 1.0, .binary = binary };

    for (int k = 0; k < 2; k++) {
        pn_dataset *raw = NULL, *rows = NULL;

        CHECK(pn_dataset_from_dense(&raw, X, 1, P, y, "made", NULL) == PN_OK);
        CHECK(pn_dataset_clip_rows(&rows, raw, PN_L2, radius, NULL) == PN_OK);
        CHECK(pn_dataset_clip_labels(&self.data[k], rows, self.low, self.high, NULL) == PN_OK);
        CHECK(objective_of(&self.objective[k], self.data[k], loss, 0.0, reach, NULL) == PN_OK);
        pn_dataset_free(raw);
        pn_dataset_free(rows);
    }
    return self;
}

static void close_pair(pair *self)
{
    for (int k = 0; k < 2; k++) {
        pn_objective_free(self->objective[k]);
        pn_dataset_free(self->data[k]);
    }
}

/* Onto the ball, its border in real arithmetic not crossed. */
static void into_ball(double *x, double radius)
{
    double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);

    for (size_t j = 0; norm > radius * (1.0 - 1e-15) && j < P; j++)
        x[j] *= radius * (1.0 - 1e-15) / norm;
}

static void admit(const pair *self, place *at)
{
    for (int k = 0; k < 2; k++) {
        into_ball(at->x[k], self->radius);
        at->y[k] = at->y[k] < self->low ? self->low : at->y[k] > self->high ? self->high : at->y[k];
        if (self->binary)
            at->y[k] = at->y[k] < 0.0 ? -1.0 : 1.0;
    }
    into_ball(at->theta, self->reach);
}

/* What a search climbs on: the difference's Frobenius norm, its packed norm, one record's Frobenius norm. */
typedef enum measure { REPLACE, PACKED_NORM, ZERO } measure;

static double size_of(const pair *self, const place *at, measure what)
{
    double H[2][PACKED], sum = 0.0;

    for (int k = 0; k < 2; k++) {
        memcpy(self->data[k]->dense, at->x[k], sizeof at->x[k]);
        self->data[k]->y[0] = at->y[k];
        CHECK(pn_objective_quadratic(self->objective[k], NULL, at->theta, NULL, NULL, H[k], NULL, NULL) == PN_OK);
    }
    for (size_t j = 0, e = 0; j < P; j++) {
        for (size_t i = 0; i <= j; i++, e++) {
            double d = H[0][e] - (what == ZERO ? 0.0 : H[1][e]);

            sum += (i < j && what != PACKED_NORM ? 2.0 : 1.0) * d * d;
        }
    }
    return sqrt(sum);
}

static void draw(double *x, size_t n, double scale, unsigned *state)
{
    for (size_t j = 0; j < n; j++)
        x[j] = scale * (2.0 * unit(state) - 1.0);
}

static double climb(const pair *self, measure what, int round, unsigned *state)
{
    place at, trial;
    double best, step = 1.0;

    draw(at.x[0], 2 * P, 2.0 * self->radius, state);
    draw(at.y, 2, 1.5, state);
    draw(at.theta, P, self->reach, state);
    for (int k = 0; what == PACKED_NORM && k < 2; k++) { /* between axes the packed norm has less to climb on */
        memset(at.x[k], 0, sizeof at.x[k]);
        at.x[k][round == 0 ? (size_t)k : (size_t)(P * unit(state))] = self->radius;
        at.y[k] = round == 0 ? 0.0 : at.y[k];
    }
    if (what == PACKED_NORM && round % 2 == 0)
        memset(at.theta, 0, sizeof at.theta);
    admit(self, &at);
    best = size_of(self, &at, what);
    for (int k = 0; k < 3000; k++) {
        double move[3 * P + 2], found;

        draw(move, 3 * P + 2, step, state);
        for (size_t j = 0; k % 2 && j < 3 * P + 2; j++) /* a few coordinates at a time, every other time */
            move[j] *= unit(state) < 0.3;
        trial = at;
        for (size_t j = 0; j < P; j++) {
            trial.x[0][j] += self->radius * move[j];
            trial.x[1][j] += self->radius * move[P + j];
            trial.theta[j] += self->reach * move[2 * P + j];
        }
        trial.y[0] += move[3 * P];
        trial.y[1] += move[3 * P + 1];
        admit(self, &trial);
        found = size_of(self, &trial, what);
        step *= found > best ? 1.5 : 0.96;
        step = step < 1e-5 ? 1e-5 : step > 1.0 ? 1.0 : step;
        if (found > best) {
            best = found;
            at = trial;
        }
    }
    return best;
}

/* high, low: of l'' over the margins; replace is then radius^2 max(high - low, sqrt(2) max(high, -low)). */
static void test_search(const char *loss, double radius, double reach, bool binary, double low, double high)
{
    pair self = open_pair(loss, radius, reach, binary);
    pn_hessian_bounds bounds;
    double found[3] = { 0 }, squared = radius * radius, most = fmax(-low, high);
    const int all = 24, rounds = (int)check_draws(all, 2);
    unsigned state = 11;

    CHECK(pn_objective_hessian_bounds(self.objective[0], &bounds, NULL) == PN_OK);
    CHECK_CLOSE(bounds.record, most * squared, 1e-9 * squared);
    CHECK_CLOSE(bounds.zero, most * squared, 1e-9 * squared);
    CHECK_CLOSE(bounds.replace, squared * fmax(high - low, sqrt(2.0) * most), 1e-9 * squared);
    CHECK_CLOSE(bounds.generic, 2.0 * sqrt(3.0) * most * squared, 1e-8 * squared);
    for (int k = 0; k < rounds; k++) {
        for (int what = REPLACE; what <= ZERO; what++)
            found[what] = fmax(found[what], climb(&self, (measure)what, k, &state));
    }
    CHECK(found[REPLACE] <= bounds.replace && found[PACKED_NORM] <= bounds.replace && found[ZERO] <= bounds.zero);
    if (rounds == all) {
        CHECK(found[REPLACE] >= bounds.replace * (1.0 - 1e-6));
        CHECK(found[PACKED_NORM] >= bounds.replace * (1.0 - 1e-6));
        CHECK(found[ZERO] >= bounds.zero * (1.0 - 1e-6));
    }
    close_pair(&self);
}

/* With bends of one sign, and with both, of every ratio: the formula is the maximum over <u, v> and the two sizes. */
static void test_formula(void)
{
    for (int k = 0; k <= 100; k++) {
        double low = -0.01 * k, high = 1.0, best = 0.0;

        for (int a = 0; a <= 50; a++) {
            for (int b = 0; b <= 50; b++) {
                for (int c = 0; c <= 10; c++) {
                    double A = low + (high - low) * 0.02 * a, B = low + (high - low) * 0.02 * b;

                    best = fmax(best, A * A + B * B - 2.0 * A * B * 0.01 * c * c);
                }
            }
        }
        CHECK_CLOSE(sqrt(best), fmax(high - low, sqrt(2.0) * high), 1e-12);
    }
}

/* Logistic loss over unit rows, no set: the constants of the article. */
static void test_logistic(void)
{
    pn_dataset *raw = NULL, *data = NULL;
    pn_objective *objective = NULL;
    pn_hessian_bounds bounds;
    pn_err err;

    CHECK(made(&data, 20, 54, DENSE, 1.0, NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == PN_OK);
    CHECK_CLOSE(bounds.record, 0.25, 1e-9);
    CHECK_CLOSE(bounds.replace, 0.25 * sqrt(2.0), 1e-9);
    CHECK_CLOSE(bounds.zero, 0.25, 1e-9);
    CHECK_CLOSE(bounds.generic / bounds.replace, 10.392304845413264, 1e-6); /* sqrt(2 * 54) */
    CHECK_CLOSE(bounds.lipschitz, 0.09622504486493762, 1e-8);               /* 1/(6 sqrt(3)) */
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "logistic", 0.3, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == PN_OK);
    CHECK_CLOSE(bounds.replace, 0.25 * sqrt(2.0), 1e-9);
    CHECK(isinf(bounds.lipschitz)); /* the clip's edge is a jump */
    pn_objective_free(objective);
    pn_dataset_free(data);
    CHECK(made(&raw, 20, 4, DENSE, 0.0, NULL) == PN_OK);
    CHECK(objective_of(&objective, raw, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "clip_rows"));
    pn_objective_free(objective);
    pn_dataset_free(raw);
}

/* ||H(theta) - H(theta')|| <= M ||theta - theta'||, M of the loss alone: of records that all point one way the norm is
 * a trace. */
static void test_lipschitz(const char *loss, double radius)
{
    static const double X[P] = { 1.0, 0.0, 0.0 }, y[1] = { 1.0 };
    pn_dataset *raw = NULL, *data = NULL, *labelled = NULL;
    pn_objective *objective = NULL;
    pn_hessian_bounds bounds;
    double most = 0.0;

    CHECK(pn_dataset_from_dense(&raw, (const double[]){ radius, X[1], X[2] }, 1, P, y, "made", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, radius, NULL) == PN_OK);
    CHECK(pn_dataset_clip_labels(&labelled, data, -1.0, 1.0, NULL) == PN_OK);
    CHECK(objective_of(&objective, labelled, loss, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == PN_OK);
    for (int k = -4000; k < 4000; k++) {
        double here[P] = { 0.001 * k, 0.0, 0.0 }, there[P] = { 0.001 * (k + 1), 0.0, 0.0 }, H[2][PACKED];

        CHECK(pn_objective_quadratic(objective, NULL, here, NULL, NULL, H[0], NULL, NULL) == PN_OK);
        CHECK(pn_objective_quadratic(objective, NULL, there, NULL, NULL, H[1], NULL, NULL) == PN_OK);
        most = fmax(most, fabs(H[1][0] - H[0][0]) / 0.001);
    }
    CHECK(most <= bounds.lipschitz * (1.0 + 1e-9) && most >= bounds.lipschitz * (1.0 - 1e-3));
    pn_objective_free(objective);
    pn_dataset_free(labelled);
    pn_dataset_free(data);
    pn_dataset_free(raw);
}

static void test_refusals(void)
{
    static const double X[2] = { 0.5, 0.5 }, y[1] = { 1.0 };
    pn_dataset *raw = NULL, *data = NULL;
    pn_objective *objective = NULL;
    pn_hessian_bounds bounds;
    pn_err err;

    CHECK(pn_dataset_from_dense(&raw, X, 1, 2, y, "made", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "poisson", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, &err) == PN_EPRIVACY); /* exp(z) on the whole line */
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "poisson", 0.0, 2.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, &err) == PN_OK);
    CHECK_CLOSE(bounds.record, exp(2.0), 1e-8);
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "hinge", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "slope jumps"));
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_dataset_free(raw);
}

/* What is wrong is the kink, also where nothing bounds records and labels and the first thing that is missing is a
 * bound. */
static void test_kinks(bool bounded)
{
    static const double X[2] = { 0.5, 0.5 }, y[1] = { 1.0 };
    static const char *const kinks[] = { "absolute", "hinge" };
    pn_dataset *raw = NULL, *data = NULL;
    pn_objective *objective = NULL;
    pn_hessian_bounds bounds;
    pn_err err;

    CHECK(pn_dataset_from_dense(&raw, X, 1, 2, y, "made", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, NULL) == PN_OK);
    for (size_t k = 0; k < sizeof kinks / sizeof *kinks; k++) {
        CHECK(objective_of(&objective, bounded ? data : raw, kinks[k], 0.0, 0.0, NULL) == PN_OK);
        CHECK(pn_need_hessian(objective, &err) == PN_EUNSUPPORTED);
        CHECK(strstr(err.message, kinks[k]) && strstr(err.message, "slope jumps") && !strstr(err.message, "unbounded"));
        CHECK(pn_objective_hessian_bounds(objective, &bounds, &err) == PN_EUNSUPPORTED);
        pn_objective_free(objective);
    }
    CHECK(objective_of(&objective, bounded ? data : raw, "huber", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_need_hessian(objective, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == (bounded ? PN_OK : PN_EPRIVACY));
    CHECK(!bounded || (isfinite(bounds.record) && isinf(bounds.lipschitz))); /* its curvature jumps */
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_dataset_free(raw);
}

static pn_status no_values(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                           double *values, pn_err *err)
{
    (void)self, (void)thetas, (void)dim, (void)record, (void)err;
    for (size_t k = 0; k < count; k++)
        values[k] = 0.0;
    return PN_OK;
}

static void test_black_box(void)
{
    pn_objective_parts parts = { 0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    CHECK(made(&data, 20, 4, DENSE, 1.0, NULL) == PN_OK);
    CHECK(pn_loss_black_box(&parts.loss, no_values, NULL, NULL, 0, 1.0, NULL) == PN_OK);
    parts.data = data;
    CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
    CHECK(pn_need_hessian(objective, &err) == PN_EUNSUPPORTED &&
          strstr(err.message, "a black box has values, but no Hessian"));
    pn_objective_free(objective);
    pn_loss_free(parts.loss);
    pn_dataset_free(data);
}

/* ---- the regulariser ---- */

static pn_regulariser *regulariser(const char *name, double strength)
{
    pn_arg args[6] = { { .given = true, .real = strength } };
    pn_regulariser *out = NULL;

    CHECK(pn_regulariser_from_args(&out, name, args, NULL) == PN_OK);
    return out;
}

static pn_objective *regularised(const pn_dataset *data, pn_regulariser *reg)
{
    pn_arg args[4] = { { 0 } };
    pn_objective_parts parts = { .data = data, .reg = reg };
    pn_objective *out = NULL;

    CHECK(pn_loss_from_args(&parts.loss, "logistic", args, NULL) == PN_OK);
    CHECK(pn_objective_new(&out, &parts, NULL) == PN_OK);
    pn_loss_free(parts.loss);
    return out;
}

/* r_i'' = lambda (2 - 6 w^2)/(1 + w^2)^3, added to what is there. */
static void test_nonconvex(void)
{
    pn_regulariser *reg = regulariser("nonconvex", 1e-3);
    pn_dataset *data = NULL;
    pn_objective *objective;
    double theta[P] = { 0.0, -0.7, 2.0 }, packed[PACKED] = { 1, 2, 3, 4, 5, 6 };

    CHECK(made(&data, 10, P, DENSE, 0.0, NULL) == PN_OK);
    objective = regularised(data, reg);
    CHECK(pn_objective_add_regular_hessian(objective, theta, packed, NULL) == PN_OK);
    for (size_t j = 0, e = 0; j < P; j++) {
        for (size_t i = 0; i <= j; i++, e++) {
            double w = theta[i] * theta[i], r = 1e-3 * (2.0 - 6.0 * w) / pow(1.0 + w, 3.0);

            CHECK_CLOSE(packed[e], (double)(e + 1) + (i == j ? r : 0.0), 1e-15);
        }
    }
    theta[1] = NAN;
    CHECK(pn_objective_add_regular_hessian(objective, theta, packed, NULL) == PN_EDOMAIN);
    pn_objective_free(objective);
    pn_regulariser_free(reg);
    objective = regularised(data, NULL);
    theta[1] = 0.0;
    packed[0] = 7.0;
    CHECK(pn_objective_add_regular_hessian(objective, theta, packed, NULL) == PN_OK && packed[0] == 7.0);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    const double third = 0.09622504486493762;

    test_formula();
    test_search("logistic", 1.0, 3.0, true, 0.0, 0.25);
    test_search("logistic", 0.5, 1.0, true, 0.0, 0.25);
    test_search("sigmoid", 1.0, 3.0, true, -third, third);
    test_search("cauchy", 1.0, 3.0, false, -0.125, 1.0);
    test_search("squared", 2.0, 3.0, false, 0.0, 1.0);
    test_search("wavy", 1.0, 3.0, true, -4.0 / 3.0, 4.0 / 3.0);
    test_logistic();
    test_lipschitz("logistic", 1.0);
    test_lipschitz("logistic", 2.0);
    test_lipschitz("sigmoid", 1.0);
    test_refusals();
    test_kinks(false);
    test_kinks(true);
    test_black_box();
    test_nonconvex();
    return check_summary();
}
