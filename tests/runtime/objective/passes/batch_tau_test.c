/* batch_tau_test.c -- what tau promises of a record's difference, in wider arithmetic: its part in a sum is never
 * longer, whatever the factors, features and tau; what is short enough stays as it is.
 * Beside it what batches refuse, and the smoothness of losses.
 * Depends on: batch_helpers.h. */
#include <float.h>
#include <stdint.h>

#include "runtime/objective/passes/batch_helpers.h"

#define P            3
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const double wild_factors[] = { 0.0,       -0.0,    1.0,     -0.5,     3.7e-5,          1e-320,
                                       5e-324,    -1e-300, 1e150,   -1e300,   DBL_MAX,         INFINITY,
                                       -INFINITY, NAN,     0x1p500, -0x1p501, 0x1p-1000,       0x1p-1001,
                                       123.456,   -7.0,    0x1p-60, 1e-200,   1.0 + 0x1.8p-52, -1e100 };
static const double wild_rows[][P] = {
    { 1.0, 0.0, 0.0 },          { 3.0, -4.0, 0.0 },        { 0.0, 0.0, 0.0 },          { 5e-324, 5e-324, 0.0 },
    { 5e-324, 1e-323, 5e-324 }, { 1e-310, -2e-310, 0.0 },  { 1e308, 1e308, -1e308 },   { DBL_MAX, 0.0, 0.0 },
    { 1e200, 1e-200, 1.0 },     { 0.1, 0.2, -0.3 },        { 1e-8, 1e8, 1.0 },         { 0x1p-1000, 0.0, 0x1p-1000 },
    { 1e154, 1e154, 1e154 },    { 0.6, 0.8, 0.0 },         { 1e-160, 1e-160, 1e-170 }, { 1.0 / 3.0, 2.0 / 3.0, 0.7 },
    { 1e30, -1e25, 3e29 },      { 0x1p990, 0.0, 0x1p989 }, { -2e-30, 1e-31, 0.0 },     { 0x1p-961, 3e-300, 0.0 },
    { 1e-290, 1e-289, 1e-288 }, { 2e-308, 2e-308, 0.0 },   { 0x1p-1022, 0.0, 3e-308 },
};
static const double wild_taus[] = { 1.0,      0.1,      1e-100,    0x1p-400, 0x1p400, 5.0,        1e20, 0x1p-40,
                                    0x1p-900, 0x1p-959, 0x1p-960,  1e-270,   1e300,   DBL_MAX,    0.0,  0x1.fp-961,
                                    DBL_MIN,  5e-324,   1.0 / 3.0, 1e-17,    0x1p-58, 123456789.0 };
enum { RECORDS = COUNT(wild_factors) * COUNT(wild_rows) + 1000 };

typedef struct case_set {
    size_t margins;
    double X[RECORDS * P], y[RECORDS], factors[3 * RECORDS], own[3 * RECORDS];
} case_set;

/* Every wild factor at every wild row, then random ones over 200 orders of magnitude.  y is such that theta = 0 has a
 * slope of 0, for the squared loss. */
static void fill(case_set *self, size_t margins)
{
    unsigned state = 7;
    size_t i = 0;

    self->margins = margins;
    for (size_t s = 0; s < COUNT(wild_factors); s++) {
        for (size_t r = 0; r < COUNT(wild_rows); r++, i++) {
            for (size_t k = 0; k < margins; k++)
                self->factors[k * RECORDS + i] = wild_factors[(s + 5 * k) % COUNT(wild_factors)];
            memcpy(self->X + i * P, wild_rows[r], sizeof wild_rows[r]);
        }
    }
    for (; i < RECORDS; i++) {
        double factor = pow(10.0, 100.0 * unit(&state) - 50.0), row = pow(10.0, 100.0 * unit(&state) - 50.0);

        for (size_t k = 0; k < margins; k++)
            self->factors[k * RECORDS + i] = factor * (2.0 * unit(&state) - 1.0);
        for (size_t j = 0; j < P; j++)
            self->X[i * P + j] = row * (2.0 * unit(&state) - 1.0);
    }
    for (i = 0; i < RECORDS; i++)
        self->y[i] = margins == 1 ? 0.0 : 1.0 + (double)(i % 3);
}

static long double length(const double *x, size_t n)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < n; j++)
        sum += (long double)x[j] * (long double)x[j];
    return sqrtl(sum);
}

static bool ordinary(double x)
{
    return fabs(x) >= 0x1p-800 && fabs(x) <= 0x1p400;
}

/* `norm` is what tau takes the record's to be.  Where neither it nor a factor is near the ends of the doubles, the part
 * is the one that the definition says; elsewhere it may be 0. */
static void check_record(const pn_objective *objective, const case_set *cases, size_t i, long double norm, double tau,
                         const double *out)
{
    const pn_dataset *data = pn_objective_data(objective);
    long double size = 0.0L, scale;
    bool tame = tau >= 0x1p-700 && norm <= 0x1p900L, near = true, zero = true;

    CHECK(length(out, cases->margins * P) <= (long double)tau);
    for (size_t j = 0; j < cases->margins * P; j++)
        zero = zero && out[j] == 0.0;
    if (tau < 0x1p-960)
        CHECK(zero);
    for (size_t k = 0; k < cases->margins; k++) {
        double d = cases->own[k * RECORDS + i] - cases->factors[k * RECORDS + i];

        tame = tame && (ordinary(d) || d == 0.0);
        size += (long double)d * (long double)d;
    }
    norm *= sqrtl(size);
    scale = norm > (long double)tau ? (long double)tau / norm : 1.0L;
    if (!tame || scale < 0x1p-150L || norm == (long double)tau)
        return;
    for (size_t k = 0; k < cases->margins; k++) {
        double d = cases->own[k * RECORDS + i] - cases->factors[k * RECORDS + i];

        for (size_t j = 0; j < P; j++) {
            long double want = scale * (long double)d * (long double)entry(data, i, j), got = out[k * P + j];

            if (norm < (long double)tau * (1.0L - 1e-14L))
                near = near && out[k * P + j] == d * entry(data, i, j);
            near = near && fabsl(got - want) <= 1e-14L * fabsl(want) + 0x1p-1074L;
        }
    }
    CHECK(near);
}

/* A batch of one record gives its part, the rounding of products included.  bound: the data set's,
 * where there is no clip. */
static void check_data(const pn_dataset *data, case_set *cases, double clip, double bound)
{
    pn_loss *loss = make_loss(cases->margins == 1 ? "squared" : "softmax");
    const pn_objective_parts parts = { .data = data, .loss = loss, .clip = clip };
    const double theta[3 * P] = { 0 };
    pn_objective *objective = NULL;
    double out[3 * P];
    pn_err err;

    CHECK(pn_objective_new(&objective, &parts, &err) == PN_OK);
    CHECK(pn_objective_factors(objective, theta, NULL, cases->own, NULL, &err) == PN_OK);
    for (size_t t = 0; t < COUNT(wild_taus); t++) {
        for (size_t i = t % 2; i < RECORDS; i += 2) {
            long double norm = clip > 0.0 ? row_length(data, i) : (long double)bound;
            const pn_batch batch = { &i, 1, 1.0 };

            CHECK(pn_objective_batch_differences(objective, &batch, theta, cases->factors, wild_taus[t], out, NULL,
                                                 &err) == PN_OK);
            check_record(objective, cases, i, norm < 0x1p-900L ? INFINITY : norm, wild_taus[t], out);
        }
    }
    pn_objective_free(objective);
    pn_loss_free(loss);
}

static void test_tau(size_t margins)
{
    static const double bounds[] = { 1.0, 0x1p-400, 0x1p400, 3.3 };
    case_set *cases = malloc(sizeof *cases);
    pn_dataset *raw, *data = NULL;
    pn_err err;

    fill(cases, margins);
    raw = from_rows(cases->X, RECORDS, P, cases->y, margins == 3);
    check_data(raw, cases, 1.0, NAN);
    check_data(raw, cases, 0x1p-400, NAN);
    for (size_t b = 0; b < COUNT(bounds); b++) {
        CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, bounds[b], &err) == PN_OK);
        check_data(data, cases, 0.0, bounds[b]);
        if (b == 0) {
            pn_dataset *floats = NULL;

            CHECK(pn_dataset_to_float32(&floats, data, &err) == PN_OK);
            check_data(floats, cases, 0.0, 1.0);
            check_data(floats, cases, 7.0, NAN);
            pn_dataset_free(floats);
        }
        pn_dataset_free(data);
    }
    pn_dataset_free(raw);
    free(cases);
}

/* Nine entries of 1 or -1 are 3 long, which is the bound that clipping them in linf implies: there is no slack, and a
 * quotient tau / 3 that is rounded up is too large. */
static void test_longest_rows(void)
{
    const double theta[9] = { 0.25 }, factors[1] = { 1e9 };
    double X[9], out[9];
    pn_loss *loss = make_loss("logistic");
    pn_objective *objective = NULL;
    pn_dataset *data, *next = NULL;
    size_t row = 0;
    pn_err err;

    for (size_t j = 0; j < 9; j++)
        X[j] = j % 2 ? -1.0 : 1.0;
    data = from_rows(X, 1, 9, &(const double){ 1.0 }, false);
    CHECK(pn_dataset_clip_rows(&next, data, PN_LINF, 1.0, &err) == PN_OK);
    take(&data, next);
    CHECK(data->bounds.norm[PN_L2] == 3.0 && row_length(data, 0) == 3.0L);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    for (int i = 1; i < 200; i++) {
        double tau = sqrt((double)i);

        CHECK(pn_objective_batch_differences(objective, &(pn_batch){ &row, 1, 1.0 }, theta, factors, tau, out, NULL,
                                             &err) == PN_OK);
        CHECK(length(out, 9) <= (long double)tau && length(out, 9) >= (long double)tau * (1.0L - 1e-14L));
    }
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_loss_free(loss);
}

/* ---- what is refused ---- */

static pn_status half(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                      double *values, pn_err *err)
{
    (void)self, (void)thetas, (void)dim, (void)record, (void)err;
    for (size_t k = 0; k < count; k++)
        values[k] = 0.5;
    return PN_OK;
}

static pn_status differences(pn_objective *objective, size_t row, double denominator, const double *theta, double tau,
                             pn_err *err)
{
    const double factors[4] = { 0 };
    double out[P];

    return pn_objective_batch_differences(objective, &(pn_batch){ &row, 1, denominator }, theta, factors, tau, out,
                                          NULL, err);
}

static void check_refusals(pn_objective *objective, bool sparse, bool bounded)
{
    double theta[P] = { 0.5, 0.0, -0.25 };
    pn_err err;

    CHECK(differences(objective, 0, 1.0, theta, INFINITY, &err) == PN_OK);
    CHECK(differences(objective, 0, 1.0, theta, 1.0, &err) == (bounded ? PN_OK : PN_EPRIVACY));
    CHECK(bounded || (strstr(err.message, "clip_rows") && strstr(err.message, "clip=")));
    CHECK(differences(objective, 0, 1.0, theta, 0.0, &err) == (bounded ? PN_OK : PN_EPRIVACY));
    CHECK(differences(objective, 0, 1.0, theta, -1.0, &err) == PN_EINVAL && strstr(err.message, "-1"));
    CHECK(differences(objective, 0, 1.0, theta, NAN, &err) == PN_EINVAL);
    CHECK(differences(objective, 4, 1.0, theta, INFINITY, &err) == PN_EINVAL);
    CHECK(differences(objective, 0, 0.0, theta, INFINITY, &err) == PN_EINVAL);
    theta[0] = 1e308; /* the margin overflows, and theta is finite */
    CHECK(differences(objective, 1, 1.0, theta, INFINITY, &err) == PN_OK);
    for (int bad = 0; bad < 2; bad++) {
        double difference, factors[4] = { 0 };

        theta[0] = bad ? INFINITY : NAN; /* which only dense records read where they hold 0 */
        CHECK(differences(objective, 1, 1.0, theta, INFINITY, &err) == PN_EDOMAIN && strstr(err.message, "entry 1"));
        CHECK(differences(objective, 0, 1.0, theta, INFINITY, &err) == (sparse ? PN_OK : PN_EDOMAIN));
        CHECK(pn_objective_record_difference(objective, 1, theta, factors, &difference, &err) == PN_EDOMAIN);
    }
}

static void test_refusals(void)
{
    const double X[4 * P] = { 0.0, 1.0, 1.0, 30.0, 1.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, -1.0 }, y[4] = { 1, -1, 1, -1 };

    for (int which = 0; which < 4; which++) {
        bool sparse = which % 2, bounded = which / 2;
        pn_dataset *data = from_rows(X, 4, P, y, sparse), *next = NULL;
        pn_loss *loss = make_loss("logistic");
        pn_objective *objective = NULL;
        pn_err err;

        if (bounded) {
            CHECK(pn_dataset_clip_rows(&next, data, PN_L2, 35.0, &err) == PN_OK);
            take(&data, next);
        }
        CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
        check_refusals(objective, sparse, bounded);
        pn_objective_free(objective);
        pn_loss_free(loss);
        CHECK(pn_loss_black_box(&loss, half, NULL, NULL, 0, 1.0, &err) == PN_OK);
        CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
        CHECK(differences(objective, 0, 1.0, X, INFINITY, &err) == PN_EUNSUPPORTED);
        CHECK(pn_objective_snapshot(objective, X, NULL, NULL, NULL, NULL, &err) == PN_EUNSUPPORTED);
        CHECK(pn_objective_bounds(objective)->loss_smoothness == INFINITY);
        pn_objective_free(objective);
        pn_loss_free(loss);
        pn_dataset_free(data);
    }
}

/* ---- the smoothness of a record's loss ---- */

enum { FEATURES = 8, LINES = 200 };

/* No record's gradient, clipped or not, changes faster than the bound says, between points of the set. */
static void check_smoothness(pn_objective *objective, double bound)
{
    const pn_dataset *data = pn_objective_data(objective);
    static double a[3 * FEATURES], b[3 * FEATURES], at_a[3 * LINES], at_b[3 * LINES];
    size_t dim = pn_objective_dim(objective);
    double fastest = 0.0;
    pn_err err;

    for (unsigned seed = 1; seed < 40; seed++) {
        double moved = 0.0;

        some_point(a, dim, seed);
        some_point(b, dim, seed % 2 ? seed + 1000 : seed);
        b[0] += 0.001;
        for (size_t j = 0; j < dim; j++)
            moved += (a[j] - b[j]) * (a[j] - b[j]);
        CHECK(pn_objective_factors(objective, a, NULL, at_a, NULL, &err) == PN_OK);
        CHECK(pn_objective_factors(objective, b, NULL, at_b, NULL, &err) == PN_OK);
        for (size_t i = 0; i < LINES; i++) {
            double sum = 0.0;

            for (size_t k = 0; k < dim / FEATURES; k++)
                sum += (at_a[k * LINES + i] - at_b[k * LINES + i]) * (at_a[k * LINES + i] - at_b[k * LINES + i]);
            fastest = fmax(fastest, sqrt(sum / moved) * (double)row_length(data, i));
        }
    }
    CHECK(fastest <= bound * (1.0 + 1e-9) && fastest > 0.0);
}

static void test_smoothness(const char *name, double curvature)
{
    const double expected = curvature * RECORD_BOUND * RECORD_BOUND;
    pn_loss *loss = make_loss(name);
    pn_dataset *data = make_data(DENSE, LINES, FEATURES, &loss->labels);

    for (int clipped = 0; clipped < 2; clipped++) {
        pn_objective *objective = make_objective(data, loss, clipped ? 0.4 : 0.0);
        const pn_bounds *bounds = pn_objective_bounds(objective);

        CHECK(isfinite(curvature) ? fabs(bounds->loss_smoothness - expected) <= 1e-9 * expected
                                  : bounds->loss_smoothness == INFINITY);
        CHECK(bounds->smoothness == bounds->loss_smoothness); /* without r */
        if (isfinite(curvature))
            check_smoothness(objective, bounds->loss_smoothness);
        pn_objective_free(objective);
    }
    pn_dataset_free(data);
    pn_loss_free(loss);
}

int main(void)
{
    test_tau(1);
    test_tau(3);
    test_longest_rows();
    test_refusals();
    test_smoothness("logistic", 0.25);
    test_smoothness("squared", 1.0);
    test_smoothness("huber", 1.0);
    test_smoothness("smooth_hinge", 1.0);
    test_smoothness("softmax", 0.5);
    test_smoothness("hinge", INFINITY);
    test_smoothness("absolute", INFINITY);
    return check_summary();
}
