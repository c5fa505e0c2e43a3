/* slope_lines_test.c -- gradients along Frank-Wolfe's iterates with slopes that are tangents, or stale: the same in
 * whatever order records come, within their certified sensitivity for every pair of neighbours, which they attain,
 * and as far from the gradient as is said.  Seeds are fixed; nothing here is a statistical test. */
#include <string.h>

#include "objective/losses/loss.h"

#include "fail_alloc.h"
#include "path_helpers.h"

enum { STEPS = 60 };
#define KAPPA 0.1
#define CURVE 0.25 /* max l'' of the logistic loss, max |l'''| 1/(6 sqrt 3) */
#define THIRD 0.096225044864937627

static pn_loss *logistic;

static double draw_label(void)
{
    return pn_rng_below(rng, 2) == 0 ? -1.0 : 1.0;
}

static pn_path_options options_of(const pn_dataset *data, double radius, pn_path_slopes slopes)
{
    return (pn_path_options){ .data = data,
                              .radius = radius,
                              .steps = STEPS,
                              .slopes = slopes,
                              .loss = logistic,
                              .slope = 1.0,
                              .curvature = CURVE,
                              .kappa = KAPPA };
}

static pn_gradient_path *path_of(const pn_dataset *data, double radius, pn_path_slopes slopes)
{
    pn_path_options options = options_of(data, radius, slopes);
    pn_gradient_path *path = NULL;

    if (!CHECK(pn_gradient_path_new(&path, &options, NULL) == PN_OK))
        exit(check_summary());
    return path;
}

static const pn_path_slopes both[] = { PN_PATH_LINEARISED, PN_PATH_STALE };

/* ---- order ---- */

/* A record's line must not depend on where it stands, nor on what others do. */
static void it_is_the_same_in_another_order(pn_path_slopes slopes)
{
    records made, turned;
    pn_dataset *data[2];
    pn_gradient_path *path[2];

    draw_records(&made);
    for (size_t i = 0; i < N; i++) {
        memcpy(&turned.value[i * EACH], &made.value[(N - 1 - i) * EACH], EACH * sizeof *made.value);
        memcpy(&turned.column[i * EACH], &made.column[(N - 1 - i) * EACH], EACH * sizeof *made.column);
        memcpy(&turned.row[i * EACH], &made.row[i * EACH], EACH * sizeof *made.row);
        turned.y[i] = made.y[N - 1 - i];
    }
    for (int side = 0; side < 2; side++) {
        data[side] = dataset_of(side == 0 ? &made : &turned);
        path[side] = path_of(data[side], 20.0, slopes);
    }
    for (int t = 0; t < STEPS; t++) {
        size_t j = (size_t)pn_rng_below(rng, P);

        for (size_t k = 0; k < P; k++)
            CHECK(pn_gradient_path_entry(path[0], k) == pn_gradient_path_entry(path[1], k));
        for (int side = 0; side < 2; side++)
            take_one(path[side], j, t % 3 == 0);
    }
    for (int side = 0; side < 2; side++) {
        pn_gradient_path_free(path[side]);
        pn_dataset_free(data[side]);
    }
}

/* ---- what they are off by ---- */

static double slope_at(double z, double y)
{
    return -y / (1.0 + exp(y * z));
}

/* The slopes that the rule says, in doubles: of the margin at the last vertex that had a feature of the record. */
typedef struct plain {
    double theta[P], stale[N], slope[N];
} plain;

static double margin_of(const pn_dataset *data, const double *theta, size_t i)
{
    double z = 0.0;

    for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++)
        z += theta[data->csr.column[e]] * data->csr.value[e];
    return z;
}

static void plain_step(plain *at, const pn_dataset *data, int t, size_t j, double vertex)
{
    double mu = 2.0 / (t + 2.0);

    for (size_t k = 0; k < P; k++)
        at->theta[k] *= 1.0 - mu;
    at->theta[j] += mu * vertex;
    for (size_t i = 0; i < N; i++) {
        double z = margin_of(data, at->theta, i);

        at->slope[i] = slope_at(z, data->y[i]);
        for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++) {
            if (data->csr.column[e] == j)
                at->stale[i] = at->slope[i];
        }
    }
}

/* Sums of n x slope, and of |x|. */
static void plain_gradient(const pn_dataset *data, const double *slope, double *gradient, double *weight)
{
    memset(gradient, 0, P * sizeof *gradient);
    memset(weight, 0, P * sizeof *weight);
    for (size_t i = 0; i < N; i++) {
        for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++) {
            gradient[data->csr.column[e]] += data->csr.value[e] * slope[i];
            weight[data->csr.column[e]] += fabs(data->csr.value[e]);
        }
    }
}

/* Tangents: within max |l'''| kappa^2/2 a record; stale ones: those of the rule, which are far from the true ones. */
static void they_are_off_by_what_is_said(pn_path_slopes slopes, double radius)
{
    double off = slopes == PN_PATH_STALE ? 0.0 : THIRD * KAPPA * KAPPA / 2.0, furthest = 0.0;
    double gradient[P], weight[P], truth[P];
    plain at = { .theta = { 0.0 } };
    pn_gradient_path *path;
    pn_dataset *data;
    records made;

    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, radius, slopes);
    for (size_t i = 0; i < N; i++)
        at.stale[i] = at.slope[i] = slope_at(0.0, data->y[i]);
    for (int t = 0; t < STEPS; t++) {
        /* C is of slopes up to L, which is 1 and 2^-12 of it and a few units more */
        double unit = (double)pn_gradient_path_contribution(path) / (XMAX * (1.0 + 0x1p-12));
        size_t j = (size_t)pn_rng_below(rng, 5);

        plain_gradient(data, at.slope, truth, weight);
        plain_gradient(data, slopes == PN_PATH_STALE ? at.stale : at.slope, gradient, weight);
        for (size_t k = 0; k < P; k++) {
            double got = (double)pn_gradient_path_entry(path, k) / unit;

            CHECK(fabs(got - gradient[k]) <= weight[k] * (off + 1e-6)); /* unit is off by less than 1e-6 */
            furthest = fmax(furthest, fabs(got - truth[k]));
        }
        plain_step(&at, data, t, j, t % 4 == 0 ? -radius : radius);
        take_one(path, j, t % 4 == 0);
    }
    CHECK(slopes == PN_PATH_STALE ? furthest > 0.1 : furthest > 1e-6); /* neither is the gradient itself */
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* Far fewer lines are renewed than records have been touched, and none too late. */
static void tangents_are_renewed_now_and_then(void)
{
    size_t renewed = 0;
    pn_gradient_path *path;
    pn_dataset *data;
    records made;

    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, 2.0, PN_PATH_LINEARISED);
    for (int t = 0; t < STEPS; t++) {
        take_one(path, (size_t)pn_rng_below(rng, P), t % 2 == 0);
        renewed += t >= STEPS / 2 ? pn_gradient_path_moves(path) / EACH : 0;
    }
    CHECK(renewed > 0 && renewed < N * STEPS / 2 / 2);
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* ---- sensitivity ---- */

static void a_record_moves_an_entry_by_at_most_twice_its_contribution(pn_path_slopes slopes, double radius)
{
    for (long pair = 0; pair < check_times(100, 1000); pair++) {
        records made;
        pn_dataset *data[2];
        pn_gradient_path *path[2];

        draw_records(&made);
        for (int side = 0; side < 2; side++) {
            data[side] = dataset_of(&made);
            path[side] = path_of(data[side], radius, slopes);
            draw_record(&made, (size_t)pn_rng_below(rng, N));
        }
        for (int t = 0; t < STEPS; t++) {
            size_t j = (size_t)pn_rng_below(rng, 3);

            CHECK(furthest(path) <= 2 * pn_gradient_path_contribution(path[0]));
            for (int side = 0; side < 2; side++)
                take_one(path[side], j, t % 3 == 0);
        }
        for (int side = 0; side < 2; side++) {
            pn_gradient_path_free(path[side]);
            pn_dataset_free(data[side]);
        }
    }
}

/* Records (xmax, +-xmax) with label -1, over vertices that are all +20 e_0: margins are 10, slopes almost 1. */
static void the_sensitivity_is_attained(pn_path_slopes slopes)
{
    pn_dataset *data[2];
    pn_gradient_path *path[2];
    records made;
    uint64_t contribution;

    draw_records(&made);
    made.y[0] = -1.0;
    for (size_t k = 0; k < EACH; k++) {
        made.column[k] = k;
        made.value[k] = XMAX;
    }
    for (int side = 0; side < 2; side++) {
        data[side] = dataset_of(&made);
        path[side] = path_of(data[side], 20.0, slopes);
        made.value[1] = -XMAX;
    }
    for (int t = 0; t < STEPS; t++) {
        for (int side = 0; side < 2; side++)
            take_one(path[side], 0, false);
        contribution = pn_gradient_path_contribution(path[0]);
        CHECK(furthest(path) <= 2 * contribution);
        CHECK(furthest(path) >= 2 * contribution - (contribution >> 10)); /* 1 - l'(10) = 5e-5, and 2^-12 */
    }
    for (int side = 0; side < 2; side++) {
        pn_gradient_path_free(path[side]);
        pn_dataset_free(data[side]);
    }
}

/* The tangent of a margin of -2 rises to .33 where the margin falls to 0, and slopes are cut to .3: it is renewed
 * before, though kappa lets it go on.  Only record 0 has features 0 to 3. */
static void no_line_leaves_its_limit(void)
{
    pn_path_options options;
    pn_gradient_path *path = NULL;
    pn_dataset *data;
    records made;

    draw_records(&made);
    for (size_t k = 0; k < N * EACH; k++)
        made.column[k] = k < EACH ? k : 4 + k % EACH * 5;
    made.y[0] = -1.0;
    made.value[0] = made.value[1] = XMAX;
    data = dataset_of(&made);
    options = options_of(data, 4.0, PN_PATH_LINEARISED);
    options.slope = 0.3;
    options.kappa = 10.0;
    if (!CHECK(pn_gradient_path_new(&path, &options, NULL) == PN_OK))
        exit(check_summary());
    for (int t = 0; t < STEPS; t++) {
        double share = (double)pn_gradient_path_entry(path, 1) / (double)pn_gradient_path_contribution(path);

        CHECK(fabs(share) <= 1.0);
        CHECK(t < STEPS - 1 || share > 0.99);
        take_one(path, t == 0 ? 0 : 20, t == 0);
    }
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* ---- what suits ---- */

static void what_does_not_fit_is_refused(void)
{
    pn_path_options options;
    records made;
    pn_dataset *data;

    draw_records(&made);
    data = dataset_of(&made);
    options = options_of(data, 2.0, PN_PATH_LINEARISED);
    CHECK(pn_gradient_path_suits(&options));
    options.steps = 65536;
    CHECK(!pn_gradient_path_suits(&options));
    options = options_of(data, 2.0, PN_PATH_LINEARISED);
    options.curvature = INFINITY;
    CHECK(!pn_gradient_path_suits(&options));
    options.slopes = PN_PATH_STALE;
    CHECK(pn_gradient_path_suits(&options));
    options.slope = NAN;
    CHECK(!pn_gradient_path_suits(&options));
    options = options_of(data, 1e-9, PN_PATH_STALE); /* slopes of 2^30 margins */
    CHECK(!pn_gradient_path_suits(&options));
    pn_dataset_free(data);
}

static pn_status make_and_step(void *self, pn_err *err)
{
    pn_path_options options = options_of(self, 2.0, PN_PATH_LINEARISED);
    pn_gradient_path *path = NULL;
    pn_status status = pn_gradient_path_new(&path, &options, err);

    if (status == PN_OK)
        take_one(path, 1, true);
    pn_gradient_path_free(path);
    return status;
}

int main(void)
{
    records made;
    pn_dataset *data;

    if (!CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK && pn_loss_from_args(&logistic, "logistic", NULL, NULL) == PN_OK))
        return check_summary();
    for (int k = 0; k < 2; k++) {
        it_is_the_same_in_another_order(both[k]);
        they_are_off_by_what_is_said(both[k], 2.0);
        they_are_off_by_what_is_said(both[k], 20.0);
        a_record_moves_an_entry_by_at_most_twice_its_contribution(both[k], 2.0);
        a_record_moves_an_entry_by_at_most_twice_its_contribution(both[k], 40.0);
        the_sensitivity_is_attained(both[k]);
    }
    tangents_are_renewed_now_and_then();
    no_line_leaves_its_limit();
    what_does_not_fit_is_refused();
    draw_records(&made);
    data = dataset_of(&made);
    fail_alloc_sweep("slope_lines", make_and_step, data);
    pn_dataset_free(data);
    pn_loss_free(logistic);
    pn_rng_free(rng);
    return check_summary();
}
