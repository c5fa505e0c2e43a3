/* gradient_path_shape_test.c -- the whole-number gradient along iterates whose vertices have a shift and three entries,
 * from a start of its own: the gradient of the loss, the same in any order of the records, and within its certified
 * sensitivity for every pair of neighbours, which it attains.  Seeds are fixed; nothing here is a statistical test. */
#include <string.h>

#include "objective/losses/loss.h"

#include "fail_alloc.h"
#include "path_helpers.h"

enum { STEPS = 40, ENTRIES = 3 };
#define RADIUS  3.0
#define SHIFTED (0.1 * P * XMAX) /* of |<x, shift>| */

static const pn_path_slopes all[] = { PN_PATH_SQUARED, PN_PATH_LINEARISED, PN_PATH_STALE };
static const double part[ENTRIES] = { 0.5, 0.3, 0.2 };
static double shift[P], start[P];
static pn_loss *logistic;

static double draw_label(void)
{
    return pn_rng_below(rng, 2) == 0 ? -1.0 : 1.0;
}

static void draw_shape(void)
{
    for (size_t j = 0; j < P; j++) {
        shift[j] = between(-0.1, 0.1);
        start[j] = shift[j] + RADIUS / P * (j % 2 ? 1.0 : -1.0);
    }
}

static pn_path_options options_of(const pn_dataset *data, pn_path_slopes slopes)
{
    return (pn_path_options){ .data = data,
                              .radius = RADIUS,
                              .shift = shift,
                              .start = start,
                              .shifted = SHIFTED,
                              .steps = STEPS,
                              .slopes = slopes,
                              .loss = logistic,
                              .slope = 1.0,
                              .curvature = 0.25,
                              .kappa = 1e-9 };
}

static pn_gradient_path *path_of(const pn_dataset *data, pn_path_slopes slopes)
{
    pn_path_options options = options_of(data, slopes);
    pn_gradient_path *path = NULL;

    if (!CHECK(pn_gradient_path_new(&path, &options, NULL) == PN_OK))
        exit(check_summary());
    return path;
}

/* One entry of each third of the coordinates, sometimes the same as before. */
static void draw_vertex(pn_path_entry *entries)
{
    for (size_t r = 0; r < ENTRIES; r++) {
        int64_t share = (int64_t)ldexp(part[r], PN_PATH_BITS);

        entries[r] = (pn_path_entry){ r * 8 + (size_t)pn_rng_below(rng, 8), pn_rng_below(rng, 2) ? share : -share };
    }
}

/* ---- the gradient ---- */

static void plain_gradient(const pn_dataset *data, const double *theta, bool squared, double *out)
{
    memset(out, 0, P * sizeof *out);
    for (size_t i = 0; i < N; i++) {
        double z = 0.0, y = data->y[i], slope;

        for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++)
            z += theta[data->csr.column[e]] * data->csr.value[e];
        slope = squared ? z - y : -y / (1.0 + exp(y * z));
        for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++)
            out[data->csr.column[e]] += slope * data->csr.value[e];
    }
}

/* Margins are cut by 2^-30 of RADIUS XMAX in a few places, slopes and features likewise, N terms of each. */
static void it_is_the_gradient_of_the_loss(bool squared)
{
    double limit = squared ? RADIUS * XMAX + SHIFTED + YMAX : 1.0 + 0x1p-12, theta[P], gradient[P];
    pn_path_entry entries[ENTRIES];
    pn_gradient_path *path;
    pn_dataset *data;
    records made;

    draw_shape();
    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, squared ? PN_PATH_SQUARED : PN_PATH_LINEARISED);
    memcpy(theta, start, sizeof theta);
    for (int t = 0; t < STEPS; t++) {
        double mu = 2.0 / (t + 2.0), unit = (double)pn_gradient_path_contribution(path) / (XMAX * limit);

        plain_gradient(data, theta, squared, gradient);
        for (size_t k = 0; k < P; k++)
            CHECK(fabs((double)pn_gradient_path_entry(path, k) / unit - gradient[k]) < 1e-6);
        draw_vertex(entries);
        for (size_t k = 0; k < P; k++)
            theta[k] = (1.0 - mu) * theta[k] + mu * shift[k];
        for (size_t r = 0; r < ENTRIES; r++)
            theta[entries[r].j] += mu * RADIUS * part[r] * (entries[r].share > 0 ? 1.0 : -1.0);
        pn_gradient_path_take(path, entries, ENTRIES);
    }
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

static void note(void *of, size_t k)
{
    ((bool *)of)[k] = true;
}

/* Both sides of an entry are within its reach until a vertex is said to move it, also where records have several of the
 * vertex's features. */
static void what_moves_is_said(pn_path_slopes slopes)
{
    double up[P], down[P];
    bool moved[P] = { false };
    pn_path_entry entries[ENTRIES];
    pn_gradient_path *path;
    pn_dataset *data;
    records made;
    long unmoved = 0;

    draw_shape();
    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, slopes);
    for (int t = 0; t < STEPS; t++) {
        double contribution;

        for (size_t k = 0; k < P; k++) {
            up[k] = pn_gradient_path_reach(path, k, (size_t)t + 1, 1);
            down[k] = pn_gradient_path_reach(path, k, (size_t)t + 1, -1);
        }
        draw_vertex(entries);
        entries[1].j = entries[0].j = 0; /* all records of the column are renewed twice */
        pn_gradient_path_take(path, entries, ENTRIES);
        memset(moved, 0, sizeof moved);
        pn_gradient_path_moved(path, note, moved);
        CHECK(pn_gradient_path_moves(path) <= N * EACH);
        contribution = (double)pn_gradient_path_contribution(path);
        for (size_t k = 0; k < P; k++) {
            double share = (double)pn_gradient_path_entry(path, k) / contribution;

            unmoved += !moved[k];
            CHECK(moved[k] || (share <= up[k] * (1.0 + 1e-15) && -share <= down[k] * (1.0 + 1e-15) + 1e-15));
        }
    }
    CHECK(slopes == PN_PATH_LINEARISED || unmoved > 50); /* tangents of that kappa are all renewed in every step */
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* ---- two paths side by side ---- */

static void pair_of(pn_dataset **data, pn_gradient_path **path, const records *one, const records *two,
                    pn_path_slopes slopes)
{
    data[0] = dataset_of(one);
    data[1] = dataset_of(two);
    for (int side = 0; side < 2; side++)
        path[side] = path_of(data[side], slopes);
}

static void free_pair(pn_dataset **data, pn_gradient_path **path)
{
    for (int side = 0; side < 2; side++) {
        pn_gradient_path_free(path[side]);
        pn_dataset_free(data[side]);
    }
}

/* Every line is a function of its record and the vertices, and sums are exact. */
static void it_is_the_same_in_another_order(pn_path_slopes slopes)
{
    static records made, turned;
    pn_path_entry entries[ENTRIES];
    pn_gradient_path *path[2];
    pn_dataset *data[2];

    draw_shape();
    draw_records(&made);
    turned = made;
    for (size_t i = 0; i < N; i++) {
        memcpy(&turned.column[i * EACH], &made.column[(N - 1 - i) * EACH], EACH * sizeof *made.column);
        memcpy(&turned.value[i * EACH], &made.value[(N - 1 - i) * EACH], EACH * sizeof *made.value);
        turned.y[i] = made.y[N - 1 - i];
    }
    pair_of(data, path, &made, &turned, slopes);
    for (int t = 0; t < STEPS; t++) {
        CHECK(furthest(path) == 0);
        draw_vertex(entries);
        for (int side = 0; side < 2; side++)
            pn_gradient_path_take(path[side], entries, ENTRIES);
    }
    free_pair(data, path);
}

static void a_record_moves_an_entry_by_at_most_twice_its_contribution(pn_path_slopes slopes)
{
    for (long pair = 0; pair < check_times(100, 1000); pair++) {
        static records one, two;
        pn_path_entry entries[ENTRIES];
        pn_gradient_path *path[2];
        pn_dataset *data[2];

        draw_shape();
        draw_records(&one);
        two = one;
        draw_record(&two, (size_t)pn_rng_below(rng, N));
        pair_of(data, path, &one, &two, slopes);
        CHECK(pn_gradient_path_contribution(path[0]) == pn_gradient_path_contribution(path[1]));
        for (int t = 0; t < STEPS; t++) {
            CHECK(furthest(path) <= 2 * pn_gradient_path_contribution(path[0]));
            draw_vertex(entries);
            for (int side = 0; side < 2; side++)
                pn_gradient_path_take(path[side], entries, ENTRIES);
        }
        free_pair(data, path);
    }
}

/* Records (xmax, xmax, xmax, +-xmax) over vertices that are all positive in these, shifts that are as large as is said
 * and labels that pull the other way: the slope is the largest there is. */
static void the_sensitivity_is_attained(void)
{
    static records one, two;
    pn_path_entry entries[ENTRIES];
    pn_gradient_path *path[2];
    pn_dataset *data[2];

    draw_records(&one);
    one.y[0] = -YMAX;
    for (size_t k = 0; k < EACH; k++) {
        one.column[k] = k;
        one.value[k] = XMAX;
    }
    two = one;
    two.value[EACH - 1] = -XMAX;
    memset(shift, 0, sizeof shift);
    memset(start, 0, sizeof start);
    shift[0] = start[0] = SHIFTED / XMAX;
    for (size_t r = 0; r < ENTRIES; r++)
        entries[r] = (pn_path_entry){ r, (int64_t)ldexp(part[r], PN_PATH_BITS) };
    pair_of(data, path, &one, &two, PN_PATH_SQUARED);
    for (int t = 0; t < STEPS; t++) {
        uint64_t contribution;

        for (int side = 0; side < 2; side++)
            pn_gradient_path_take(path[side], entries, ENTRIES);
        contribution = pn_gradient_path_contribution(path[0]);
        CHECK(furthest(path) <= 2 * contribution);
        CHECK(furthest(path) >= 2 * contribution - (contribution >> 24)); /* cut in some places by 2^-30 of a slope */
    }
    free_pair(data, path);
}

static pn_status make_and_step(void *self, pn_err *err)
{
    pn_path_options options = options_of(self, PN_PATH_LINEARISED);
    pn_path_entry entries[ENTRIES];
    pn_gradient_path *path = NULL;
    pn_status status = pn_gradient_path_new(&path, &options, err);

    draw_vertex(entries);
    if (status == PN_OK)
        pn_gradient_path_take(path, entries, ENTRIES);
    pn_gradient_path_free(path);
    return status;
}

int main(void)
{
    records made;
    pn_dataset *data;

    if (!CHECK(pn_rng_seeded(&rng, 2, NULL) == PN_OK && pn_loss_from_args(&logistic, "logistic", NULL, NULL) == PN_OK))
        return check_summary();
    it_is_the_gradient_of_the_loss(true);
    it_is_the_gradient_of_the_loss(false);
    for (int k = 0; k < 3; k++) {
        what_moves_is_said(all[k]);
        it_is_the_same_in_another_order(all[k]);
        a_record_moves_an_entry_by_at_most_twice_its_contribution(all[k]);
    }
    the_sensitivity_is_attained();
    draw_records(&made);
    data = dataset_of(&made);
    fail_alloc_sweep("gradient_path", make_and_step, data);
    pn_dataset_free(data);
    pn_loss_free(logistic);
    pn_rng_free(rng);
    return check_summary();
}
