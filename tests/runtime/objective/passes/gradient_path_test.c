/* gradient_path_test.c -- the whole-number gradient along Frank-Wolfe's iterates: the same as from the start, within
 * its certified sensitivity for every pair of neighbours, which it attains, and the gradient of the squared loss.
 * Seeds are fixed; nothing here is a statistical test. */
#include <string.h>

#include "fail_alloc.h"
#include "path_helpers.h"

enum { STEPS = 50 };
#define RADIUS 3.0

static double draw_label(void)
{
    return pn_rng_below(rng, 3) == 0 ? -YMAX : between(-YMAX, YMAX);
}

static pn_path_options squared(const pn_dataset *data, double radius, size_t steps)
{
    return (pn_path_options){ .data = data, .radius = radius, .steps = steps };
}

static bool suits(const pn_dataset *data, double radius, size_t steps)
{
    pn_path_options options = squared(data, radius, steps);

    return pn_gradient_path_suits(&options);
}

static pn_gradient_path *path_of(const pn_dataset *data, size_t steps)
{
    pn_path_options options = squared(data, RADIUS, steps);
    pn_gradient_path *path = NULL;

    if (!CHECK(pn_gradient_path_new(&path, &options, NULL) == PN_OK))
        exit(check_summary());
    return path;
}

/* ---- from the start ---- */

__extension__ typedef __int128 i128;

/* h, from the contribution at tau = 1: the largest shift that gives it. */
static unsigned shift_of(const pn_gradient_path *start)
{
    double ratio = YMAX / (RADIUS * XMAX);
    unsigned shift = 0;

    while (ceil(ldexp(1.0 + ratio, 60 - (int)shift)) + 2.0 > (double)pn_gradient_path_contribution(start) * 1.0000001)
        shift++;
    return shift;
}

/* sum_i (X M_i >> h) - tau sum_i (X Y_i >> h), with the margins of the weights v[P]. */
static void from_the_start(const pn_dataset *data, const int64_t *v, int64_t tau, unsigned shift, int64_t *out)
{
    const pn_csr *X = &data->csr;

    memset(out, 0, P * sizeof *out);
    for (size_t i = N; i-- > 0;) { /* in another order */
        int64_t margin = 0, label = (int64_t)(data->y[i] * (0x1p30 / (RADIUS * XMAX)));

        for (size_t e = X->start[i]; e < X->start[i + 1]; e++)
            margin += v[X->column[e]] * (int64_t)(X->value[e] * (0x1p30 / XMAX));
        for (size_t e = X->start[i]; e < X->start[i + 1]; e++) {
            i128 x = (int64_t)(X->value[e] * (0x1p30 / XMAX));

            out[X->column[e]] += (int64_t)((x * margin) >> shift) - tau * (int64_t)((x * label) >> shift);
        }
    }
}

static void after_any_steps_it_is_what_it_is_from_the_start(void)
{
    const long steps = check_times(1000, 10000);
    records made;
    pn_dataset *data;
    pn_gradient_path *path;
    int64_t v[P] = { 0 }, want[P];
    unsigned shift;

    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, (size_t)steps);
    shift = shift_of(path);
    for (long t = 0; t <= steps; t++) {
        size_t j = (size_t)pn_rng_below(rng, P);
        bool negative = pn_rng_below(rng, 2) == 1;

        if (t % 50 == 0 || t < 5) {
            from_the_start(data, v, t == 0 ? 1 : t * (t + 1) / 2, shift, want);
            for (size_t k = 0; k < P; k++)
                CHECK(pn_gradient_path_entry(path, k) == want[k]);
        }
        if (t == steps)
            break;
        v[j] += negative ? -(t + 1) : t + 1;
        take_one(path, j, negative);
    }
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* S is n tau 2^(60 - h)/(r xmax^2) times the gradient: 2^-30 of the largest slope is cut of each factor. */
static void it_is_the_gradient_of_the_squared_loss(void)
{
    records made;
    pn_dataset *data;
    pn_gradient_path *path;
    double theta[P] = { 0.0 };

    draw_records(&made);
    data = dataset_of(&made);
    path = path_of(data, STEPS);
    for (int t = 0; t < STEPS; t++) {
        size_t j = (size_t)pn_rng_below(rng, P);
        double mu = 2.0 / (t + 2.0), largest = 0.0, gradient[P] = { 0.0 };
        double unit = (double)pn_gradient_path_contribution(path) / (XMAX * (RADIUS * XMAX + YMAX));

        for (size_t i = 0; i < N; i++) {
            double slope = -data->y[i];

            for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++)
                slope += theta[data->csr.column[e]] * data->csr.value[e];
            for (size_t e = data->csr.start[i]; e < data->csr.start[i + 1]; e++)
                gradient[data->csr.column[e]] += slope * data->csr.value[e];
        }
        for (size_t k = 0; k < P; k++) {
            double got = (double)pn_gradient_path_entry(path, k);

            largest = fmax(largest, fabs(got / unit - gradient[k]));
        }
        CHECK(largest < 1e-7); /* N terms of up to 1.75, cut by 2^-30 each in three places */
        for (size_t k = 0; k < P; k++)
            theta[k] *= 1.0 - mu;
        theta[j] += mu * (t % 2 ? RADIUS : -RADIUS);
        take_one(path, j, t % 2 == 0);
    }
    pn_gradient_path_free(path);
    pn_dataset_free(data);
}

/* ---- reach ---- */

static void note(void *of, size_t k)
{
    ((bool *)of)[k] = true;
}

/* What bounds an entry, and that of a feature that no vertex moves until then, and is no looser than either end. */
static void the_reach_of_an_entry_holds_until_a_vertex_moves_it(void)
{
    long untouched = 0;

    for (int trial = 0; trial < 200; trial++) {
        size_t before = (size_t)pn_rng_below(rng, 10), until = before + 1 + (size_t)pn_rng_below(rng, 20);
        bool moved[P] = { false };
        double reach[P];
        records made;
        pn_dataset *data;
        pn_gradient_path *path;

        draw_records(&made);
        data = dataset_of(&made);
        path = path_of(data, STEPS);
        while (pn_gradient_path_taken(path) < before)
            take_one(path, (size_t)pn_rng_below(rng, P), false);
        memcpy(reach, pn_gradient_path_reaches(path, 0, P, until, 0, 1.0), sizeof reach);
        for (size_t k = 0; k < P; k++) {
            double up = pn_gradient_path_reach(path, k, until, 1), down = pn_gradient_path_reach(path, k, until, -1);
            double now = (double)pn_gradient_path_entry(path, k) / (double)pn_gradient_path_contribution(path);

            CHECK(reach[k] == pn_gradient_path_reach(path, k, until, 0) && reach[k] == fmax(up, down));
            CHECK(now <= up && -now <= down);
            /* what is added for rounding: 2^-40 of two sums of N terms */
            CHECK(pn_gradient_path_reach(path, k, before, 0) <= fabs(now) + 2.0 * N * 0x1p-40);
            CHECK(pn_gradient_path_reach(path, k, before, 1) <= now + 2.0 * N * 0x1p-40);
        }
        for (;;) {
            for (size_t k = 0; k < P; k++) {
                untouched += !moved[k];
                CHECK(moved[k] || fabs((double)pn_gradient_path_entry(path, k)) <=
                                      reach[k] * (double)pn_gradient_path_contribution(path) * (1.0 + 1e-15));
            }
            if (pn_gradient_path_taken(path) == until)
                break;
            take_one(path, 3, true);
            pn_gradient_path_moved(path, note, moved);
        }
        pn_gradient_path_free(path);
        pn_dataset_free(data);
    }
    CHECK(untouched > 10000); /* features 3 + 6 k and so on alone are moved, those of a few records */
}

/* ---- sensitivity ---- */

/* Pairs of data sets that differ in one record, over the same vertices. */
static void a_record_moves_an_entry_by_at_most_twice_its_contribution(void)
{
    for (long pair = 0; pair < check_times(100, 1000); pair++) {
        records made;
        pn_dataset *data[2];
        pn_gradient_path *path[2];

        draw_records(&made);
        for (int side = 0; side < 2; side++) {
            data[side] = dataset_of(&made);
            path[side] = path_of(data[side], STEPS);
            draw_record(&made, (size_t)pn_rng_below(rng, N));
        }
        CHECK(pn_gradient_path_contribution(path[0]) == pn_gradient_path_contribution(path[1]));
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

/* Records (xmax, +-xmax) with label -ymax, over vertices that are all +r e_0: the slope is the largest there is, and
 * the entry of the second feature is moved by 2 C but for what is cut, 2^-30 of a label and the 2 of the shifts. */
static void the_sensitivity_is_attained(void)
{
    pn_dataset *data[2];
    pn_gradient_path *path[2];
    records made;
    uint64_t contribution;

    draw_records(&made);
    made.y[0] = -YMAX;
    for (size_t k = 0; k < EACH; k++) {
        made.column[k] = k;
        made.value[k] = XMAX;
    }
    for (int side = 0; side < 2; side++) {
        data[side] = dataset_of(&made);
        path[side] = path_of(data[side], STEPS);
        made.value[1] = -XMAX;
    }
    for (int t = 0; t < STEPS; t++) {
        for (int side = 0; side < 2; side++)
            take_one(path[side], 0, false);
        contribution = pn_gradient_path_contribution(path[0]);
        CHECK(furthest(path) <= 2 * contribution);
        CHECK(furthest(path) >= 2 * contribution - (contribution >> 28));
    }
    for (int side = 0; side < 2; side++) {
        pn_gradient_path_free(path[side]);
        pn_dataset_free(data[side]);
    }
}

/* ---- what suits ---- */

static void what_does_not_fit_is_refused(void)
{
    pn_gradient_path *path = NULL;
    pn_path_options options;
    records made;
    pn_dataset *data;
    pn_err err;

    draw_records(&made);
    data = dataset_of(&made);
    CHECK(suits(data, RADIUS, 1) && suits(data, RADIUS, 65535));
    CHECK(!suits(data, RADIUS, 65536));
    CHECK(!suits(data, 1e-9, 10)); /* labels of 2^32 slopes */
    CHECK(!suits(data, NAN, 10));
    options = squared(data, RADIUS, 65536);
    CHECK(pn_gradient_path_new(&path, &options, &err) == PN_EINVAL && path == NULL);
    data->bounds.label_high = NAN; /* nothing enforced */
    CHECK(!suits(data, RADIUS, 10));
    data->bounds.label_high = YMAX;
    data->bounds.norm[PN_LINF] = NAN;
    CHECK(!suits(data, RADIUS, 10));
    data->bounds.norm[PN_LINF] = XMAX;
    data->n = (size_t)1 << 40; /* 2^40 records and 2^20 in tau leave nothing for the numbers */
    CHECK(!suits(data, RADIUS, 1500));
    data->n = N;
    pn_dataset_free(data);
}

static pn_status make_and_step(void *self, pn_err *err)
{
    pn_path_options options = squared(self, RADIUS, STEPS);
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

    if (!CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK))
        return check_summary();
    after_any_steps_it_is_what_it_is_from_the_start();
    it_is_the_gradient_of_the_squared_loss();
    the_reach_of_an_entry_holds_until_a_vertex_moves_it();
    a_record_moves_an_entry_by_at_most_twice_its_contribution();
    the_sensitivity_is_attained();
    what_does_not_fit_is_refused();
    draw_records(&made);
    data = dataset_of(&made);
    fail_alloc_sweep("gradient_path", make_and_step, data);
    pn_dataset_free(data);
    pn_rng_free(rng);
    return check_summary();
}
