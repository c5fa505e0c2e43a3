/* query_test.c -- by how much one record moves what a query adds up, in exact whole numbers before there is noise: all
 * neighbours among small data sets of awkward values, against what the mechanism was made for.  The bounds are those of
 * Dwork, Roth (2014), section 3.3: a count moves by 1, a histogram by 1 in two bins, a sum of k columns by k ranges in
 * l1.  Depends on: check.h, query.c. */
#include <stdlib.h>

#include "check.h"

#include "objective/passes/query.c"

#define MOST      40 /* values of a column */
#define MOST_SUMS 16
#define SLACK     1e-9 /* of scales and costs, which are rounded outward */

typedef struct table {
    double X[8], y[4];
    size_t n, p;
} table;

/* What is released of `data`, before there is noise. */
static void exact(double *out, const pn_query *query, const table *data, pn_neighbours neighbours)
{
    pn_dataset *made = NULL;
    pn_query asked = *query;
    work at;
    pn_status status = pn_dataset_from_dense(&made, data->X, data->n, data->p, data->y, "t", NULL);

    asked.data = made;
    if (status == PN_OK)
        status = open_work(&at, &asked, neighbours, NULL);
    if (status != PN_OK) {
        CHECK(status == PN_OK);
        exit(1);
    }
    for (size_t i = 0; i < (query->kind == PN_QUERY_QUANTILE ? query->point_count : at.n); i++)
        out[i] = at.sums[i];
    clear_work(&at);
    pn_dataset_free(made);
}

/* The noise that this query gets for `price`: its scale, and its event's rho. */
static double noise(const pn_query *query, pn_query_price price, pn_neighbours neighbours, double *rho)
{
    pn_query asked = *query;
    work at = {
        .query = &asked, .neighbours = neighbours, .name = "test", .n = pn_query_values(query), .about_zero = true
    };
    pn_mechanism *made = NULL;
    double scale;
    pn_err err;

    asked.price = price;
    CHECK(make_mechanism(&made, &at, &err) == PN_OK);
    scale = made->scale;
    *rho = made->event->ops->zcdp(made->event);
    pn_mechanism_free(made);
    return scale;
}

/* ---- the largest move, and whether noise covers it ---- */

typedef struct moved {
    double l1, l2, most; /* of any two neighbours */
} moved;

static void compare(moved *so_far, const double *a, const double *b, size_t n)
{
    double l1 = 0.0, squared = 0.0;

    for (size_t i = 0; i < n; i++) {
        double change = fabs(a[i] - b[i]);

        l1 += change;
        squared += change * change;
        so_far->most = fmax(so_far->most, change);
    }
    so_far->l1 = fmax(so_far->l1, l1);
    so_far->l2 = fmax(so_far->l2, sqrt(squared));
}

/* Laplace noise of scale b costs l1 / b, Gaussian noise l2^2 / (2 sigma^2): at most what was asked for, and nothing is
 * wasted when some neighbours are as far apart as can be. */
static void check_covered(const pn_query *query, pn_neighbours neighbours, const moved *found, bool tight)
{
    pn_query_price laplace = { 0.5, NAN, NAN }, gauss = { NAN, NAN, 0.125 };
    double rho, b = noise(query, laplace, neighbours, &rho), sigma = noise(query, gauss, neighbours, &rho);
    double epsilon = found->l1 / b, cost = found->l2 * found->l2 / (2.0 * sigma * sigma);

    CHECK(epsilon <= 0.5 * (1.0 + SLACK));
    CHECK(cost <= 0.125 * (1.0 + SLACK) && rho <= 0.125);
    if (tight) {
        CHECK(epsilon >= 0.5 * (1.0 - 1e-5));
        CHECK(cost >= 0.125 * (1.0 - 1e-5));
    }
}

/* ---- neighbours ---- */

/* `data` and its neighbour: record 0 becomes `other`, or a record of zeros, or goes. */
static table neighbour_of(const table *data, const double *other, double label, pn_neighbours neighbours)
{
    table out = *data;

    if (neighbours == PN_ADD_REMOVE) {
        out.n--;
        memmove(out.X, out.X + out.p, out.n * out.p * sizeof *out.X);
        memmove(out.y, out.y + 1, out.n * sizeof *out.y);
        return out;
    }
    for (size_t j = 0; j < out.p; j++)
        out.X[j] = neighbours == PN_ZERO_OUT ? 0.0 : other[j];
    out.y[0] = neighbours == PN_ZERO_OUT ? 0.0 : label;
    return out;
}

/* Every record of `values` in place of every other, beside two more that stay; columns are 1, 2 and the label. */
static moved search(const pn_query *query, pn_neighbours neighbours, const double *values, size_t count)
{
    moved found = { 0.0, 0.0, 0.0 };
    size_t n = query->kind == PN_QUERY_QUANTILE ? query->point_count : pn_query_values(query);
    size_t others = neighbours != PN_REPLACE_ONE ? 1 : query->count == 1 ? count : count * count;
    double a[MOST_SUMS], b[MOST_SUMS];

    for (size_t first = 0; first < count * count; first++) {
        table data = { .n = 3, .p = 2 };

        for (size_t k = 0; k < 6; k++)
            data.X[k] = values[(first + k * k) % count];
        data.X[0] = values[first / count];
        data.X[1] = values[first % count];
        data.y[0] = values[(first / count + first) % count];
        data.y[1] = values[(first + 1) % count];
        data.y[2] = values[0];
        exact(a, query, &data, neighbours);
        for (size_t other = 0; other < others; other++) {
            double record[2] = { values[other % count], values[other / count] };
            table next = neighbour_of(&data, record, values[(other + other / count) % count], neighbours);

            exact(b, query, &next, neighbours);
            compare(&found, a, b, n);
        }
    }
    return found;
}

/* Where things happen: at the points, next to them, at zeros of both signs, and far beyond. */
static size_t corners(double *values, const double *points, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        values[n++] = points[i];
        values[n++] = nextafter(points[i], -INFINITY);
        values[n++] = nextafter(points[i], INFINITY);
        if (i > 0)
            values[n++] = points[i - 1] + (points[i] - points[i - 1]) / 2.0;
    }
    values[n++] = 0.0;
    values[n++] = -0.0;
    values[n++] = 1.7e308;
    values[n++] = -1.7e308;
    return n;
}

/* ---- the kinds ---- */

static const pn_neighbours relations[] = { PN_REPLACE_ONE, PN_ZERO_OUT, PN_ADD_REMOVE };

static void test_sums_and_counts(void)
{
    static const double ranges[][2] = {
        { 0.0, 1.0 },
        { -1.0, 3.0 },
        { -3.0, 1.0 },
        { 5.0, 10.0 },
        { -10.0, -5.0 },
        { 0.0, 5e-324 },
        { 1.0, 0x1.0000000000001p+0 },
        { -0x1p499, 0x1p499 },
        { -0x1p-1060, 0x1p-1060 },
        { 0x1p499, 0x1.8p499 },
    };
    static const size_t columns[] = { 1, 2, 0 };

    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        for (size_t k = 1; k <= (r % 3 == 0 ? 3 : 1); k += 2) {
            double low[3], high[3], values[MOST];
            size_t count = corners(values, ranges[r], 2);
            pn_query query = { .columns = columns, .count = k, .low = low, .high = high, .price = { 1.0, NAN, NAN } };

            for (size_t c = 0; c < k; c++) {
                low[c] = ranges[r][0];
                high[c] = ranges[r][1];
            }
            for (size_t at = 0; at < 3; at++) {
                moved found;

                query.kind = PN_QUERY_SUM;
                found = search(&query, relations[at], values, count);
                /* All columns at once are as far as can be where some record has both ends, or is far from 0. */
                check_covered(&query, relations[at], &found, k == 1 && (at != 1 || r < 3));
                CHECK(found.most <= UNITS);
                query.kind = PN_QUERY_COUNT;
                found = search(&query, relations[at], values, count);
                check_covered(&query, relations[at], &found, k == 1 && r == 3);
                CHECK(found.most <= 1.0);
            }
        }
    }
}

/* Count, sum, sum of squares and bins in one release.  No record is at both ends of all of them. */
static void test_descriptions(void)
{
    static const double ranges[][2] = { { 0.0, 1.0 },   { -1.0, 3.0 },   { 5.0, 10.0 },
                                        { -2.0, -1.0 }, { 0.0, 5e-324 }, { -0x1p499, 0x1p499 } };
    static const size_t columns[] = { 1, 0 };

    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        double values[MOST], low[2] = { ranges[r][0], ranges[r][0] }, high[2] = { ranges[r][1], ranges[r][1] };
        size_t count = corners(values, ranges[r], 2);

        for (size_t at = 0; at < 3; at++) {
            for (size_t k = 1; k <= 2; k++) {
                pn_query query = { .kind = PN_QUERY_DESCRIBE,
                                   .columns = columns,
                                   .count = k,
                                   .low = low,
                                   .high = high,
                                   .bins = 2 + r % 4 };
                moved found = search(&query, relations[at], values, count);
                double parts = (double)k * (relations[at] == PN_ADD_REMOVE ? 4.0 : 5.0);

                check_covered(&query, relations[at], &found, false);
                CHECK(found.most == UNITS && found.l1 <= parts * UNITS &&
                      found.l2 <= sqrt(parts) * UNITS * (1.0 + SLACK));
                CHECK(found.l1 > 0.6 * parts * UNITS);
            }
        }
    }
}

static void test_histograms(void)
{
    static const double edges[] = { -1.0, 0.0, 5e-324, 0.5, 2.0 };
    static const size_t columns[] = { 1, 0 };
    double values[MOST];
    size_t count = corners(values, edges, 5);

    for (size_t at = 0; at < 3; at++) {
        for (size_t c = 0; c < 2; c++) {
            for (size_t points = 2; points <= 5; points++) {
                pn_query query = { .kind = PN_QUERY_HISTOGRAM,
                                   .columns = columns + c,
                                   .count = 1,
                                   .points = edges,
                                   .point_count = points };
                moved found = search(&query, relations[at], values, count);

                check_covered(&query, relations[at], &found, points == 5 || relations[at] == PN_ADD_REMOVE);
                CHECK(found.most <= 1.0);
            }
        }
    }
}

/* The scores of the exponential mechanism, whose sensitivity make_mechanism says is 1. */
static void test_quantiles(void)
{
    static const double candidates[] = { -1.0, 0.0, 0.5, 2.0 }, q[] = { 0.0, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0 };
    static const size_t columns[] = { 1, 0 };
    double values[MOST];
    size_t count = corners(values, candidates, 4);

    for (size_t at = 0; at < 3; at++) {
        double most = 0.0;

        for (size_t i = 0; i < sizeof q / sizeof q[0]; i++) {
            pn_query query = { .kind = PN_QUERY_QUANTILE,
                               .columns = columns + i % 2,
                               .count = 1,
                               .points = candidates,
                               .point_count = 4,
                               .quantile = q[i] };
            moved found = search(&query, relations[at], values, count);

            CHECK(found.most <= 1.0 + 0x1p-24);
            most = fmax(most, found.most);
        }
        CHECK(most >= 1.0 - 0x1p-24);
    }
}

/* Straight from the definition, by counting: a candidate c is off by how far q n is from the ranks that c may have,
 * #{v < c} to #{v <= c}, and by nothing in between.  q n is not rounded: with n of 2 to 4,
 * most of these are between two ranks. */
static void check_ranks(const table *data, double q)
{
    static const double candidates[] = { -1.0, 0.0, 0.5, 2.0 };
    static const size_t label = 0;
    const pn_query query = {
        .kind = PN_QUERY_QUANTILE, .columns = &label, .count = 1, .points = candidates, .point_count = 4, .quantile = q
    };
    double got[4];

    exact(got, &query, data, PN_REPLACE_ONE);
    for (size_t c = 0; c < 4; c++) {
        double below = 0.0, upto = 0.0, target = q * (double)data->n;

        for (size_t i = 0; i < data->n; i++) {
            below += data->y[i] < candidates[c];
            upto += data->y[i] <= candidates[c];
        }
        CHECK_CLOSE(got[c], target < below ? target - below : target > upto ? upto - target : 0.0, 1e-15);
    }
}

static void test_ranks_are_counted_from_q_times_n(void)
{
    static const double q[] = { 0.0, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.7, 0.99, 1.0 }, v[] = { -2.0, 0.0, 0.25, 0.5, 3.0 };

    for (size_t i = 0; i < sizeof q / sizeof q[0]; i++) {
        for (size_t code = 0; code < 625; code++) {
            table data = { .y = { v[code % 5], v[code / 5 % 5], v[code / 25 % 5], v[code / 125] }, .p = 1 };

            for (data.n = 2; data.n <= 4; data.n++)
                check_ranks(&data, q[i]);
        }
    }
}

int main(void)
{
    test_ranks_are_counted_from_q_times_n();
    test_sums_and_counts();
    test_histograms();
    test_descriptions();
    test_quantiles();
    return check_summary();
}
