/* smoothed_call_test.c -- a call for a smoothed gradient: losses of margins and black boxes agree, dense, sparse and
 * float32 too; threads change no bit; what is counted; what is refused; memory that runs out; cancelling.
 * Depends on: smoothed_helpers.h, batch_helpers.h, fail_alloc.h. */
#include "runtime/objective/measures/smoothed_helpers.h"
#include "runtime/objective/passes/batch_helpers.h"

#include "fail_alloc.h"

enum { N = 40, P = 6, DIM = 3 * P, COUNT = 700 };

static pn_smoothing way(pn_directions directions, size_t group)
{
    return (pn_smoothing){ .directions = directions, .radius = 0.3, .lipschitz = 1.5, .group = group };
}

static void some_call(world *at, pn_dataset *data, pn_loss *loss)
{
    pn_objective_parts parts = { .data = data, .loss = loss };
    pn_rng *rng = NULL;
    pn_err err;

    at->data = data;
    at->loss = loss;
    CHECK(pn_objective_new(&at->objective, &parts, &err) == PN_OK);
    for (size_t r = 0; r < 4096; r++)
        at->rows[r] = r * 7 % data->n;
    CHECK(pn_rng_seeded(&rng, 5, &err) == PN_OK);
    pn_address_key_draw(&at->key, rng);
    at->key.simulated = false; /* as in a private run: check_summary looks where its streams lie */
    pn_rng_free(rng);
}

/* ---- a black box that says what a loss of margins says ---- */

static double softmax(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    double z[3], sum = 0.0;

    (void)context, (void)dim;
    for (size_t k = 0; k < 3; k++) {
        z[k] = 0.0;
        for (size_t j = 0; j < record->p; j++)
            z[k] += record->x[j] * theta[k * record->p + j];
        sum += exp(z[k]);
    }
    return log(sum) - z[(size_t)record->y - 1];
}

static double network(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    const double *w = theta + 2 * record->p;
    double sum = w[2] - record->y;

    (void)context, (void)dim;
    for (size_t k = 0; k < 2; k++) {
        double z = 0.0;

        for (size_t j = 0; j < record->p; j++)
            z += record->x[j] * theta[k * record->p + j];
        sum += w[k] * tanh(z);
    }
    return 0.5 * sum * sum;
}

static double logistic(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    double z = 0.0;

    (void)context;
    for (size_t j = 0; j < dim; j++)
        z += record->x[j] * theta[j];
    return log1p(exp(-record->y * z));
}

static double hinge(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    double z = 0.0;

    (void)context;
    for (size_t j = 0; j < dim; j++)
        z += record->x[j] * theta[j];
    return fmax(1.0 - record->y * z, 0.0);
}

/* Both kinds of loss, every kind of data, both calls. */
static void check_agreement(const char *name, point_fn f, size_t dim, const pn_smoothing *how, storage kind)
{
    static world typed, boxed;
    double theta[DIM], other[DIM], a[DIM], b[DIM];
    pn_loss *loss = make_loss(name), *black = NULL;
    pn_err err;

    memset(&typed, 0, sizeof typed);
    memset(&boxed, 0, sizeof boxed);
    boxed.box.f = f;
    CHECK(pn_loss_black_box(&black, box_values, NULL, &boxed.box, dim, 1.0, &err) == PN_OK);
    some_call(&typed, make_data(kind, N, P, &loss->labels), loss);
    some_call(&boxed, make_data(kind, N, P, &loss->labels), black);
    some_point(theta, dim, 3);
    some_point(other, dim, 4);
    for (size_t count = 1; count <= 23; count += 11) {
        gradient(&typed, how, count, 9, theta, a);
        gradient(&boxed, how, count, 9, theta, b);
        for (size_t j = 0; j < dim; j++)
            CHECK_CLOSE(a[j], b[j], 1e-12);
        CHECK(length(dim, a) > 0.0);
        difference(&typed, how, count, 10, theta, other, 0.4, a);
        difference(&boxed, how, count, 10, theta, other, 0.4, b);
        for (size_t j = 0; j < dim; j++)
            CHECK_CLOSE(a[j], b[j], 1e-12);
        difference(&typed, how, count, 10, theta, theta, 0.4, a);
        difference(&boxed, how, count, 10, theta, theta, 0.4, b);
        CHECK(length(dim, a) == 0.0 && length(dim, b) == 0.0);
    }
    world_close(&typed);
    world_close(&boxed);
}

static void check_all_agreements(void)
{
    for (pn_directions directions = PN_DIRECTIONS_ORTHOGONAL; directions <= PN_DIRECTIONS_ONE; directions++) {
        for (size_t group = 0; group <= 100; group = group ? 10 * group + 70 : 3) {
            for (storage kind = DENSE; kind < STORAGES; kind++) {
                pn_smoothing how = way(directions, group);

                check_agreement("logistic", logistic, P, &how, kind);
                check_agreement("hinge", hinge, P, &how, kind);
                check_agreement("softmax", softmax, 3 * P, &how, kind);
                check_agreement("network", network, 2 * P + 3, &how, kind);
            }
        }
    }
}

/* ---- threads ---- */

static void check_threads(pn_smoothing how, const char *name)
{
    static world at;
    pn_loss *loss = make_loss(name);
    double theta[DIM], other[DIM], alone[2][DIM], out[DIM];
    size_t dim = loss->margins * P;
    pn_err err;

    memset(&at, 0, sizeof at);
    some_call(&at, make_data(DENSE, N, P, &loss->labels), loss);
    some_point(theta, dim, 3);
    some_point(other, dim, 4);
    for (unsigned threads = 1; threads <= 4; threads++) {
        pn_smoothed_call of = call_of(&at, COUNT, 2);
        pn_task *task = NULL;

        CHECK(pn_task_new(&task, threads, &err) == PN_OK);
        CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, task, &err) == PN_OK);
        if (threads == 1)
            memcpy(alone[0], out, sizeof out);
        CHECK(memcmp(alone[0], out, dim * sizeof *out) == 0);
        CHECK(pn_smoothed_difference(at.objective, &how, &of, theta, other, 1.0, out, task, &err) == PN_OK);
        if (threads == 1)
            memcpy(alone[1], out, sizeof out);
        CHECK(memcmp(alone[1], out, dim * sizeof *out) == 0);
        pn_task_free(task);
    }
    world_close(&at);
}

/* ---- addresses ---- */

static void check_addresses(void)
{
    static world at;
    pn_smoothing how = way(PN_DIRECTIONS_IID, 0);
    double theta[DIM] = { 0.1, -0.2 }, first[DIM], again[DIM], other[DIM];
    pn_loss *loss = make_loss("logistic");

    memset(&at, 0, sizeof at);
    some_call(&at, make_data(DENSE, N, P, &loss->labels), loss);
    gradient(&at, &how, 30, 1, theta, first);
    gradient(&at, &how, 30, 1, theta, again);
    gradient(&at, &how, 30, 2, theta, other);
    CHECK(memcmp(first, again, P * sizeof *first) == 0);
    CHECK(memcmp(first, other, P * sizeof *first) != 0);
    at.key.bytes[3] ^= 1;
    gradient(&at, &how, 30, 1, theta, other);
    CHECK(memcmp(first, other, P * sizeof *first) != 0);
    world_close(&at);
}

/* ---- counts, and values that are no numbers ---- */

static double sometimes(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context, (void)dim;
    return record->row % 2 ? NAN : theta[0];
}

static void check_counts(void)
{
    static world at;
    const double x[4] = { 0.0 }, y[4] = { 0.0 };
    pn_smoothing how = way(PN_DIRECTIONS_ORTHOGONAL, 0);
    double theta[5] = { 0.0 }, out[5];
    uint64_t evaluations = 5, bad = 7;
    pn_smoothed_call of;
    pn_loss *loss = NULL;
    pn_err err;

    memset(&at, 0, sizeof at);
    at.box.f = sometimes;
    CHECK(pn_loss_black_box(&loss, box_values, NULL, &at.box, 5, 1.0, &err) == PN_OK);
    world_open(&at, loss, x, 4, 1, y);
    of = call_of(&at, 4, 0);
    of.evaluations = &evaluations;
    of.bad = &bad;
    CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, NULL, &err) == PN_OK);
    CHECK(evaluations == 5 + 4 * 10 && bad == 7 + 2 * 5);
    CHECK(at.box.calls == 4 && at.box.points == 40);
    CHECK_CLOSE(out[0], 0.5, 1e-13); /* half of the records say nothing */
    CHECK(pn_smoothed_difference(at.objective, &how, &of, theta, theta, 1.0, out, NULL, &err) == PN_OK);
    CHECK(evaluations == 45 + 4 * 20 && bad == 17 + 2 * 5);
    how.strict = true;
    out[0] = 77.0;
    CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, NULL, &err) == PN_EDOMAIN);
    CHECK(out[0] == 77.0 && evaluations == 125 && bad == 27);
    at.box.fails = PN_ECALLBACK;
    CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, NULL, &err) == PN_ECALLBACK);
    CHECK(strcmp(err.message, "the box fails") == 0);
    world_close(&at);
}

/* ---- what is refused ---- */

static pn_status refusal(world *at, pn_smoothing how, size_t count, const double *theta, double distance)
{
    double out[P];
    pn_smoothed_call of = call_of(at, count, 0);
    pn_err err;

    return distance != 0.0 ? pn_smoothed_difference(at->objective, &how, &of, theta, theta, distance, out, NULL, &err)
                           : pn_smoothed_gradient(at->objective, &how, &of, theta, out, NULL, &err);
}

static void check_refusals(void)
{
    static world at;
    const pn_smoothing good = way(PN_DIRECTIONS_IID, 0);
    const double numbers[] = { 0.0, -1.0, NAN, INFINITY };
    double theta[P] = { 0.0 }, odd[P] = { 0.0, NAN };
    pn_loss *loss = make_loss("logistic");
    pn_smoothing how;

    memset(&at, 0, sizeof at);
    some_call(&at, make_data(DENSE, N, P, &loss->labels), loss);
    CHECK(refusal(&at, good, 3, theta, 0.0) == PN_OK);
    for (size_t i = 0; i < 4; i++) {
        how = good, how.radius = numbers[i];
        CHECK(refusal(&at, how, 3, theta, 0.0) == PN_EINVAL);
        how = good, how.lipschitz = numbers[i];
        CHECK(refusal(&at, how, 3, theta, 0.0) == (i == 3 ? PN_OK : PN_EINVAL));
        how = good, how.level = numbers[i];
        CHECK(refusal(&at, how, 3, theta, 0.0) == (i == 0 ? PN_OK : PN_EINVAL));
        if (i > 0)
            CHECK(refusal(&at, good, 3, theta, numbers[i]) == PN_EINVAL);
    }
    how = good, how.level = 1.0;
    CHECK(refusal(&at, how, 3, theta, 0.0) == PN_EINVAL);
    how = good, how.directions = (pn_directions)3;
    CHECK(refusal(&at, how, 3, theta, 0.0) == PN_EINVAL);
    CHECK(refusal(&at, good, 0, theta, 0.0) == PN_EINVAL);
    CHECK(refusal(&at, good, 3, odd, 0.0) == PN_EDOMAIN);
    CHECK(refusal(&at, good, 3, odd, 1.0) == PN_EDOMAIN);
    at.rows[1] = N;
    CHECK(refusal(&at, good, 3, theta, 0.0) == PN_EINVAL);
    CHECK(refusal(&at, good, 1, theta, 0.0) == PN_OK);
    world_close(&at);
}

/* ---- cancelling, memory ---- */

static void check_cancel(void)
{
    static world at;
    pn_smoothing how = way(PN_DIRECTIONS_ORTHOGONAL, 0);
    double theta[P] = { 0.0 }, out[P] = { 77.0 };
    pn_loss *loss = make_loss("logistic"), *black = NULL;
    pn_smoothed_call of;
    pn_task *task = NULL;
    pn_err err;

    CHECK(pn_task_new(&task, 2, &err) == PN_OK);
    memset(&at, 0, sizeof at);
    some_call(&at, make_data(DENSE, N, P, &loss->labels), loss);
    of = call_of(&at, COUNT, 0);
    pn_task_cancel(task);
    CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, task, &err) == PN_ECANCELLED);
    CHECK(out[0] == 77.0);
    world_close(&at);
    pn_task_reset(task);
    memset(&at, 0, sizeof at);
    at.box = (box){ .f = logistic, .cancels = task };
    CHECK(pn_loss_black_box(&black, box_values, NULL, &at.box, P, 1.0, &err) == PN_OK);
    some_call(&at, make_data(DENSE, N, P, &(pn_labels){ .kind = PN_LABELS_REAL }), black);
    of = call_of(&at, COUNT, 0);
    CHECK(pn_smoothed_gradient(at.objective, &how, &of, theta, out, task, &err) == PN_ECANCELLED);
    CHECK(at.box.calls == 1 && out[0] == 77.0);
    world_close(&at);
    pn_task_free(task);
}

typedef struct short_of_memory {
    world *at;
    pn_smoothing how;
} short_of_memory;

static pn_status one_call(void *context, pn_err *err)
{
    short_of_memory *self = context;
    double theta[DIM] = { 0.0 }, out[DIM];
    pn_smoothed_call of = call_of(self->at, 20, 0);

    return pn_smoothed_gradient(self->at->objective, &self->how, &of, theta, out, NULL, err);
}

static void check_memory(void)
{
    static world at;
    pn_loss *loss = make_loss("softmax");

    memset(&at, 0, sizeof at);
    some_call(&at, make_data(DENSE, N, P, &loss->labels), loss);
    for (size_t group = 0; group <= 5; group += 5) {
        short_of_memory self = { &at, way(PN_DIRECTIONS_ORTHOGONAL, group) };

        fail_alloc_sweep("smoothed", one_call, &self);
    }
    world_close(&at);
}

int main(void)
{
    pn_smoothing within = way(PN_DIRECTIONS_IID, 0);

    check_all_agreements();
    for (size_t group = 0; group <= 90; group += 90) {
        check_threads(way(PN_DIRECTIONS_ORTHOGONAL, group), "logistic");
        check_threads(way(PN_DIRECTIONS_ORTHOGONAL, group), "softmax");
        check_threads(way(PN_DIRECTIONS_IID, group), "hinge");
        check_threads(way(PN_DIRECTIONS_ONE, group), "softmax");
    }
    within.level = 1.7;
    check_threads(within, "logistic");
    check_addresses();
    check_counts();
    check_refusals();
    check_cancel();
    check_memory();
    return check_summary();
}
