/* stationarity_test.c -- the Goldstein measure: numbers of the specification, upper bounds, the interval against closed
 * forms and its coverage, gradients outside of the objective's set, batches, differences, threads, cancel, memory,
 * bad input.
 * Depends on: objective/measures/stationarity.h, check.h, fail_alloc.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "objective/measures/stationarity.h"

/* ---- objectives ---- */

typedef struct problem {
    pn_dataset *data;
    pn_loss *loss;
    pn_set *set;
    pn_regulariser *reg;
    pn_objective *objective;
} problem;

static void clear(problem *self)
{
    pn_objective_free(self->objective);
    pn_loss_free(self->loss);
    pn_set_free(self->set);
    pn_regulariser_free(self->reg);
    pn_dataset_free(self->data);
}

/* Records as they are, or bounded by `bound` in l2, with labels in [-bound, bound]. */
static pn_status load(problem *self, const double *X, size_t n, size_t p, const double *y, double bound, pn_err *err)
{
    pn_dataset *plain = NULL, *rows = NULL;
    pn_status status = pn_dataset_from_dense(bound > 0.0 ? &plain : &self->data, X, n, p, y, "made", err);

    if (status == PN_OK && bound > 0.0)
        status = pn_dataset_clip_rows(&rows, plain, PN_L2, bound, err);
    if (status == PN_OK && bound > 0.0)
        status = pn_dataset_clip_labels(&self->data, rows, -bound, bound, err);
    pn_dataset_free(plain);
    pn_dataset_free(rows);
    return status;
}

static pn_status name_loss(problem *self, const char *name, pn_err *err)
{
    pn_arg args[4] = { { .given = false } };

    return pn_loss_from_args(&self->loss, name, args, err);
}

static pn_status assemble(problem *self, double clip, pn_err *err)
{
    return pn_objective_new(&self->objective,
                            &(pn_objective_parts){ self->data, self->loss, self->set, self->reg, clip, NULL }, err);
}

static void add_ball(problem *self, size_t dim, double radius)
{
    pn_arg ball[4] = { { .given = true, .count = dim }, { .given = true, .real = radius } };
    pn_err err;

    CHECK(pn_set_from_args(&self->set, "l2_ball", ball, &err) == PN_OK);
}

/* |x1| + 2 |x2|, as the mean of |2 x1| and |4 x2| */
static problem bent(double bound)
{
    static const double X[4] = { 2.0, 0.0, 0.0, 4.0 }, y[2] = { 0.0, 0.0 };
    problem self = { 0 };
    pn_err err;

    CHECK(load(&self, X, 2, 2, y, bound, &err) == PN_OK && name_loss(&self, "absolute", &err) == PN_OK);
    CHECK(assemble(&self, 0.0, &err) == PN_OK);
    return self;
}

static pn_status ask(pn_stationarity *out, const problem *self, const double *theta, pn_stationarity_options how,
                     uint64_t seed, pn_task *task, pn_err *err)
{
    pn_rng *rng = NULL;
    pn_status status = pn_rng_seeded(&rng, seed, err);

    if (status == PN_OK)
        status = pn_stationarity_measure(out, self->objective, theta, &how, rng, task, err);
    pn_rng_free(rng);
    return status;
}

static pn_stationarity measure(const problem *self, const double *theta, pn_stationarity_options how, uint64_t seed)
{
    pn_stationarity out = { .mean = NAN };
    pn_err err;

    CHECK(ask(&out, self, theta, how, seed, NULL, &err) == PN_OK);
    CHECK(out.hull <= out.mean && out.gap >= 0.0 && out.gap <= out.hull && out.low <= out.high);
    CHECK(out.hull <= out.largest && out.mean <= out.largest * (1.0 + 1e-12));
    return out;
}

/* ---- zeroth-order.md, item 7 ---- */

/* In the disc v1 < -delta/2 has the share (acos(1/2) - sqrt(3)/4) / pi, so E sign(.05 + v1) = 0.6089977810. */
#define HALFWAY 0.6089977810442293

static void item_seven(void)
{
    const double points[3][2] = { { 0.05, 0.3 }, { 0.05, 0.05 }, { 0.2, 0.3 } };
    const double hulls[3] = { 2.0, 0.0, sqrt(5.0) }, means[3] = { 2.090664558774744, 1.3617604365614295, sqrt(5.0) };
    problem plain = bent(0.0), bounded = bent(4.0);

    CHECK_CLOSE(means[1], HALFWAY * sqrt(5.0), 1e-12);
    for (int k = 0; k < 3; k++) {
        const pn_stationarity_options how = { .radius = 0.1, .samples = 4000, .confidence = 1.0 - 1e-6 };
        pn_stationarity out = measure(&plain, points[k], how, 3);

        CHECK_CLOSE(out.hull, hulls[k], 1e-9);
        /* ||mean X - g|| has a standard deviation of at most sqrt(5 (1 - HALFWAY^2) / 4000) = 0.028: five and a half of
         * it */
        CHECK_CLOSE(out.mean, means[k], 0.155);
        CHECK(out.exact && !out.differences && !out.guaranteed && out.samples == 4000 && out.batch == 0);
        CHECK_CLOSE(out.largest, sqrt(5.0), 1e-12);
        out = measure(&bounded, points[k], how, 3);
        CHECK_CLOSE(out.hull, hulls[k], 1e-9);
        CHECK(out.guaranteed && out.low <= means[k] && means[k] <= out.high); /* false alarms: 1e-6 each */
        CHECK(out.high <= 4.0 * (1.0 + 1e-9));                                /* the Lipschitz constant */
        CHECK(out.high - out.low < 1.6);
    }
    clear(&plain);
    clear(&bounded);
}

/* ---- the interval ---- */

/* X does not vary: the closed form of stationarity.h with s = c, R = 8, evaluated in Python. */
static void constant_gradient(void)
{
    const double theta[2] = { 0.2, 0.3 };
    problem self = bent(4.0);
    pn_stationarity out = measure(&self, theta, (pn_stationarity_options){ .radius = 0.1, .samples = 2000 }, 1);

    CHECK(out.confidence == 0.95);
    CHECK_CLOSE(out.low, sqrt(5.0) - 0.03853340915, 1e-9);
    CHECK_CLOSE(out.high, sqrt(5.0) + 0.03853340915, 1e-9);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 0.1, .samples = 100, .confidence = 0.99 }, 1);
    CHECK_CLOSE(out.low, sqrt(5.0) - 1.075300127, 1e-9);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 0.1, .samples = 1 }, 1);
    CHECK(out.low == 0.0 && out.high <= 4.0 * (1.0 + 1e-9));
    clear(&self);
    self = bent(0.0);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 0.1, .samples = 1 }, 1);
    CHECK(!out.guaranteed && out.low == 0.0 && isinf(out.high)); /* one gradient shows nothing */
    clear(&self);
}

/* 1000 intervals at confidence 0.9 for g = 0 from X = -1 or 1: more than 154 misses have a chance of 4e-8, and half the
 * length would miss about 160.  Once by kinks, once by batches of one record. */
static void coverage(void)
{
    static const double ones[2] = { 1.0, 1.0 }, kink[2] = { 0.0, 0.0 }, apart[2] = { -1.0, 1.0 };
    const double origin = 0.0;

    for (int batches = 0; batches < 2; batches++) {
        problem self = { 0 };
        int misses = 0;
        pn_err err;

        CHECK(load(&self, ones, 2, 1, batches ? apart : kink, 1.0, &err) == PN_OK);
        CHECK(name_loss(&self, "absolute", &err) == PN_OK && assemble(&self, 0.0, &err) == PN_OK);
        for (uint64_t seed = 1; seed <= 1000; seed++) {
            pn_stationarity out = measure(
                &self, &origin,
                (pn_stationarity_options){ .radius = 0.5, .samples = 200, .confidence = 0.9, .batch = batches ? 1 : 0 },
                seed);

            CHECK(out.guaranteed && out.batch == (batches ? 1u : 0u) && out.exact == !batches);
            CHECK_CLOSE(out.largest, 1.0, 1e-9);
            misses += out.low > 0.0;
        }
        CHECK(misses <= 154);
        clear(&self);
    }
}

/* X = 1 with chance 0.9, else -1: s is near 0.6, and l = ln 40, R = 2, m = 20000 make the half-length 0.0120.  The
 * pairs' mean is 0.36 with a standard deviation of 0.0077; five of them move the half-length by less than 0.0008. */
static void length_by_variance(void)
{
    static const double one[1] = { 1.0 }, zero[1] = { 0.0 };
    const double theta = 0.4;
    problem self = { 0 };
    pn_stationarity out;
    pn_err err;

    CHECK(load(&self, one, 1, 1, zero, 1.0, &err) == PN_OK && name_loss(&self, "absolute", &err) == PN_OK);
    CHECK(assemble(&self, 0.0, &err) == PN_OK);
    out = measure(&self, &theta, (pn_stationarity_options){ .radius = 0.5, .samples = 20000, .confidence = 0.9 }, 2);
    CHECK_CLOSE(0.5 * (out.high - out.low), 0.0120, 0.0009);
    CHECK_CLOSE(out.mean, 0.8, 0.025); /* 0.6 / sqrt(20000) = 0.0042 */
    clear(&self);
}

/* (theta - 3)^2 / 2 + (theta2 + 1)^2 / 2 has grad f_delta = grad f: the smoothness makes the interval short. */
static void smooth_losses(void)
{
    static const double X[4] = { 1.0, 0.0, 0.0, 1.0 }, y[2] = { 3.0, -1.0 };
    const double theta[2] = { 1.0, 1.0 };
    problem self = { 0 };
    pn_stationarity out;
    pn_err err;

    CHECK(load(&self, X, 2, 2, y, 4.0, &err) == PN_OK && name_loss(&self, "squared", &err) == PN_OK);
    CHECK(assemble(&self, 0.0, &err) == PN_OK);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 1e-3, .confidence = 1.0 - 1e-6 }, 5);
    CHECK(out.samples == 100 && out.exact && out.guaranteed);
    CHECK(out.low <= sqrt(2.0) && sqrt(2.0) <= out.high); /* (-2/2, 2/2); false alarm 1e-6 */
    CHECK(out.high - out.low < 0.05);                     /* 2 x 0.93 x the smoothness 16 x 1e-3 */
    CHECK(out.hull < sqrt(2.0) && out.hull > sqrt(2.0) - 1e-3);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 1e-3, .batch = 1 }, 5);
    CHECK(out.high - out.low > 0.5 && !out.exact); /* records differ however small the ball is */
    clear(&self);
}

/* The objective's set is smaller than the ball: its gradients are clamped outside of it, those of f are not. */
static void beyond_the_set(void)
{
    static const double X[1] = { 1.0 }, y[1] = { 0.0 };
    const double theta = 0.1;
    problem self = { 0 };
    pn_stationarity out;
    pn_err err;

    add_ball(&self, 1, 0.1);
    CHECK(load(&self, X, 1, 1, y, 1.0, &err) == PN_OK && name_loss(&self, "squared", &err) == PN_OK);
    CHECK(assemble(&self, 0.0, &err) == PN_OK);
    out = measure(&self, &theta, (pn_stationarity_options){ .radius = 5.0, .samples = 1000 }, 5);
    CHECK(out.largest > 4.9 && out.largest < 5.1 &&
          out.hull <= 1e-9); /* 1000 draws below 4.9 / 5.1 of the range: 1e-17 */
    clear(&self);
}

static void regularisers(void)
{
    static const double X[2] = { 0.0, 0.0 }, y[1] = { 0.0 };
    const double theta[2] = { 3.0, 4.0 };
    pn_arg args[4] = { { .given = true, .real = 0.5 } };
    problem self = { 0 };
    pn_stationarity out;
    pn_err err;

    CHECK(load(&self, X, 1, 2, y, 1e-9, &err) == PN_OK && name_loss(&self, "absolute", &err) == PN_OK);
    CHECK(pn_regulariser_from_args(&self.reg, "l2", args, &err) == PN_OK && assemble(&self, 0.0, &err) == PN_OK);
    out = measure(&self, theta, (pn_stationarity_options){ .radius = 0.5, .samples = 3000, .batch = 1 }, 5);
    CHECK_CLOSE(out.mean, 2.5, 0.05);  /* lambda theta; its deviation is below 0.25 / sqrt(3000) = 0.0046 */
    CHECK_CLOSE(out.hull, 2.25, 0.02); /* lambda (||theta|| - delta) */
    CHECK(out.guaranteed && out.low < 2.5 && out.high > 2.5 && out.batch == 0 && out.exact);
    CHECK_CLOSE(0.5 * (out.high - out.low), 0.0105, 0.001); /* R = 0.5, s^2 = 0.25^2 / 2, l = ln 80 */
    clear(&self);
}

/* ---- differences ---- */

typedef struct box {
    size_t calls, fail_at, cancel_at;
    pn_task *task;
    double step; /* a jump at x1 = 0 */
} box;

/* |2 x1| or |4 x2| by the record, and the jump */
static pn_status box_value(void *ud, const double *thetas, size_t count, size_t dim, const pn_record *record,
                           double *values, pn_err *err)
{
    box *self = ud;

    for (size_t k = 0; k < count; k++) {
        double z = 0.0;

        self->calls++;
        if (self->calls == self->fail_at)
            return pn_fail(err, PN_ECALLBACK, "the box broke");
        if (self->calls == self->cancel_at)
            pn_task_cancel(self->task);
        for (size_t j = 0; j < dim; j++)
            z += thetas[k * dim + j] * record->x[j];
        values[k] = fabs(z) + (thetas[k * dim] > 0.0 ? self->step : 0.0);
    }
    return PN_OK;
}

static problem boxed(box *self, double lipschitz)
{
    static const double X[4] = { 2.0, 0.0, 0.0, 4.0 }, y[2] = { 0.0, 0.0 };
    problem out = { 0 };
    pn_err err;

    CHECK(load(&out, X, 2, 2, y, 0.0, &err) == PN_OK);
    CHECK(pn_loss_black_box(&out.loss, box_value, NULL, self, 0, lipschitz, &err) == PN_OK);
    CHECK(assemble(&out, 0.0, &err) == PN_OK);
    return out;
}

static void differences(void)
{
    const double points[3][2] = { { 0.05, 0.3 }, { 0.05, 0.05 }, { 0.2, 0.3 } };
    const double hulls[3] = { 2.0, 0.0, sqrt(5.0) }, means[3] = { 2.090664558774744, 1.3617604365614295, sqrt(5.0) };
    box inside = { 0 };
    problem self = boxed(&inside, 4.0), unknown = boxed(&inside, 0.0);

    for (int k = 0; k < 3; k++) {
        const pn_stationarity_options how = { .radius = 0.1, .samples = 1000, .confidence = 1.0 - 1e-6 };
        pn_stationarity out = measure(&self, points[k], how, 3);

        CHECK(out.differences && !out.exact && out.guaranteed && out.smoothing == 0.001);
        CHECK_CLOSE(out.hull, hulls[k], 1e-9);
        CHECK(out.low <= means[k] && means[k] <= out.high); /* false alarms: 1e-6 each */
        out = measure(&unknown, points[k], how, 3);
        CHECK(out.differences && !out.guaranteed);
    }
    CHECK(inside.calls == 2 * 3 * 1000 * 2 * 2 * 2); /* samples x coordinates x sides x records */
    clear(&self);
    clear(&unknown);
}

/* Without variance the length is known: s = c, R = 2 sqrt(2) 4, and sqrt(2) a L mu / (2 delta) = 0.8 / (pi sqrt(2)) for
 * mu = delta / 20, as a = 4 / pi in the plane. */
static void difference_interval(void)
{
    const double theta[2] = { 0.2, 0.3 };
    box inside = { 0 };
    problem self = boxed(&inside, 4.0);
    pn_stationarity out =
        measure(&self, theta, (pn_stationarity_options){ .radius = 0.1, .samples = 2000, .smoothing = 0.005 }, 1);

    CHECK_CLOSE(out.low, sqrt(5.0) - 0.03853340915 * sqrt(2.0) - 0.8 / (3.14159265358979 * sqrt(2.0)), 1e-8);
    CHECK(out.smoothing == 0.005);
    clear(&self);
}

/* ---- the same numbers for any number of threads, others for another seed ---- */

static void threads(void)
{
    enum { N = 3000, P = 12 };
    static double X[N * P], y[N];
    const double theta[P] = { 0.1, -0.2, 0.3 };
    const pn_stationarity_options how = { .radius = 0.2, .batch = 2000 };
    pn_stationarity out[4];
    problem self = { 0 };
    pn_err err;

    for (size_t i = 0; i < N * P; i++)
        X[i] = sin((double)(i * i % 1009));
    for (size_t i = 0; i < N; i++)
        y[i] = i % 3 ? 1.0 : -1.0;
    CHECK(load(&self, X, N, P, y, 1.0, &err) == PN_OK && name_loss(&self, "hinge", &err) == PN_OK);
    CHECK(assemble(&self, 0.0, &err) == PN_OK);
    memset(out, 0, sizeof out);
    for (unsigned k = 0; k < 4; k++) {
        pn_task *task = NULL;

        CHECK(pn_task_new(&task, 1 + k % 3, &err) == PN_OK);
        CHECK(ask(&out[k], &self, theta, how, k < 3 ? 7 : 8, task, &err) == PN_OK);
        pn_task_free(task);
    }
    CHECK(out[0].samples == 120 && out[0].batch == 2000 && !out[0].exact);
    for (int k = 1; k < 3; k++) {
        CHECK(out[k].mean == out[0].mean && out[k].hull == out[0].hull && out[k].low == out[0].low);
        CHECK(out[k].gap == out[0].gap && out[k].high == out[0].high && out[k].largest == out[0].largest);
    }
    CHECK(out[3].mean != out[0].mean);
    clear(&self);
}

/* ---- refusals ---- */

static void refuse(const problem *self, const double *theta, pn_stationarity_options how, pn_status want,
                   const char *words)
{
    pn_stationarity out = { .mean = 7.0 };
    pn_err err = { .message = "" };

    CHECK(ask(&out, self, theta, how, 1, NULL, &err) == want);
    if (!CHECK(strstr(err.message, words) != NULL))
        (void)fprintf(stderr, "    said: %s\n", err.message);
    CHECK(out.mean == 7.0);
}

static void refusals(void)
{
    const double theta[2] = { 0.1, 0.2 }, bad[2] = { 0.1, NAN }, far[2] = { 0.0, 1e20 },
                 bads[] = { 0.0, -1.0, NAN, INFINITY };
    const double chances[] = { 1.0, -0.5, NAN };
    box inside = { 0 };
    problem self = bent(4.0), clipped = { 0 }, black = boxed(&inside, 4.0);
    pn_err err;

    for (int k = 0; k < 4; k++)
        refuse(&self, theta, (pn_stationarity_options){ .radius = bads[k] }, PN_EINVAL, "radius must be a positive");
    for (int k = 0; k < 3; k++)
        refuse(&self, theta, (pn_stationarity_options){ .radius = 1.0, .confidence = chances[k] }, PN_EINVAL,
               "confidence must be in (0, 1)");
    refuse(&self, bad, (pn_stationarity_options){ .radius = 1.0 }, PN_EDOMAIN, "entry 2");
    refuse(&self, far, (pn_stationarity_options){ .radius = 1.0 }, PN_EINVAL, "cannot be told from rounding");
    refuse(&self, theta, (pn_stationarity_options){ .radius = 1.0, .batch = 3 }, PN_EINVAL, "batch = 3 records of 2");
    refuse(&self, theta, (pn_stationarity_options){ .radius = 1.0, .samples = (size_t)1 << 40 }, PN_EINVAL,
           "at most 134217728");
    refuse(&black, theta, (pn_stationarity_options){ .radius = 1.0, .smoothing = -1.0 }, PN_EINVAL, "smoothing");
    refuse(&black, theta, (pn_stationarity_options){ .radius = 1.0, .smoothing = 1e-20 }, PN_EINVAL, "smoothing");
    inside.fail_at = 100;
    refuse(&black, theta, (pn_stationarity_options){ .radius = 1.0 }, PN_ECALLBACK, "the box broke");
    CHECK(load(&clipped, (const double[]){ 1.0, 2.0 }, 1, 2, (const double[]){ 0.0 }, 0.0, &err) == PN_OK);
    CHECK(name_loss(&clipped, "squared", &err) == PN_OK && assemble(&clipped, 0.5, &err) == PN_OK);
    refuse(&clipped, theta, (pn_stationarity_options){ .radius = 1.0 }, PN_EUNSUPPORTED, "without clip=");
    clear(&self);
    clear(&clipped);
    clear(&black);
}

static void cancelling(void)
{
    const double theta[2] = { 0.1, 0.2 };
    pn_stationarity out = { .mean = 7.0 };
    box inside = { .cancel_at = 500 };
    problem self = boxed(&inside, 4.0);
    pn_err err;

    CHECK(pn_task_new(&inside.task, 2, &err) == PN_OK);
    CHECK(ask(&out, &self, theta, (pn_stationarity_options){ .radius = 1.0, .samples = 100000 }, 1, inside.task,
              &err) == PN_ECANCELLED);
    CHECK(inside.calls < 600 && out.mean == 7.0);
    pn_task_free(inside.task);
    clear(&self);
}

/* ---- memory ---- */

static pn_status scenario(void *ud, pn_err *err)
{
    static const double X[6] = { 1.0, 0.0, 0.5, 0.5, 0.0, 1.0 }, y[3] = { -1.0, 1.0, 1.0 }, theta[2] = { 0.1, 0.2 };
    const int *kind = ud;
    box inside = { 0 };
    problem self = { 0 };
    pn_stationarity out;
    pn_status status = load(&self, X, 3, 2, y, 1.0, err);

    if (status == PN_OK)
        status = *kind == 1 ? pn_loss_black_box(&self.loss, box_value, NULL, &inside, 0, 4.0, err)
                            : name_loss(&self, "logistic",
                                        err); /* nothing of it wants explaining, which may fail and be left out */
    if (status == PN_OK)
        status = assemble(&self, 0.0, err);
    if (status == PN_OK)
        status =
            ask(&out, &self, theta,
                (pn_stationarity_options){ .radius = 0.3, .samples = 20, .batch = *kind == 2 ? 2 : 0 }, 1, NULL, err);
    clear(&self);
    return status;
}

int main(void)
{
    item_seven();
    constant_gradient();
    coverage();
    length_by_variance();
    smooth_losses();
    beyond_the_set();
    regularisers();
    differences();
    difference_interval();
    threads();
    refusals();
    cancelling();
    for (int kind = 0; kind < 3; kind++)
        CHECK(fail_alloc_sweep("stationarity", scenario, &kind) > 10);
    return check_summary();
}
