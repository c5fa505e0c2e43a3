/* query.c -- noisy counts, sums, means, histograms and quantiles: what is added up, by how much a record moves it, and
 * the mechanism that releases it.  Depends on: query.h, data/rows.h, privacy/mechanism/mechanism.h.
 * Used by: bindings/objective/lquery.c.
 *
 * A value v of a column with range [low, high] becomes a whole number of 2^-24 of the range, from -2^23 to 2^23 about
 * the middle; where the number of records is secret (add_remove) or a null record adds nothing (zero_out), of 2^-24 of
 * a = max(|low|, |high|), from -2^24 to 2^24 about 0.  Either way a record moves a sum of these by at most 2^24
 * (a null record of zeros: clamped 0 is within a of every v, if 0 is in the range, and within high - low <= a
 * otherwise).  Sums of fewer than 2^28 are exact in doubles: there is no rounding that a record could move.  What comes
 * after the noise is post-processing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/table.h"
#include "data/rows.h"
#include "objective/passes/query.h"
#include "privacy/mechanism/mechanism.h"

#define UNITS        PN_QUERY_UNITS
#define MOST_RECORDS ((size_t)1 << 28)
#define MOST_COLUMNS ((size_t)4096)
#define MOST_VALUES  ((size_t)1 << 20)
#define MOST_BINS    ((size_t)256)
#define CONFIDENCE   0.95 /* of rank_error */

static const char *const names[] = { "count", "sum", "mean", "histogram", "quantile", "describe" };

typedef struct work {
    const pn_query *query;
    pn_neighbours neighbours;
    const char *name;
    size_t n;        /* values that are released */
    double *sums;    /* [n]; of a quantile the scores */
    double *record;  /* [count]: its values */
    size_t *place;   /* [p]: column j is record[place[j] - 1]; sparse rows only */
    bool about_zero; /* sums are about 0 */
} work;

size_t pn_query_values(const pn_query *query)
{
    switch (query->kind) {
    case PN_QUERY_SUM:
    case PN_QUERY_MEAN:
        return query->count;
    case PN_QUERY_HISTOGRAM:
        return query->point_count - 1;
    case PN_QUERY_DESCRIBE:
        return query->count * (PN_DESCRIBED + query->bins);
    default:
        return 1;
    }
}

static bool has_points(const pn_query *query)
{
    return query->kind == PN_QUERY_HISTOGRAM || query->kind == PN_QUERY_QUANTILE;
}

/* ---- checking: nothing here looks at a record ---- */

static pn_status check_columns(const pn_query *query, const char *name, pn_err *err)
{
    if (query->count == 0 || query->count > MOST_COLUMNS)
        return pn_fail(err, PN_EINVAL, "query.%s: columns must name from 1 to %zu columns, got %zu", name, MOST_COLUMNS,
                       query->count);
    if (has_points(query) && query->count != 1)
        return pn_fail(err, PN_EINVAL, "query.%s: give one column, got %zu", name, query->count);
    for (size_t c = 0; c < query->count; c++) {
        if (query->columns[c] > query->data->p)
            return pn_fail(err, PN_EINVAL, "query.%s: columns are from 1 to %zu, and 0 for the label; got %zu", name,
                           query->data->p, query->columns[c]);
        for (size_t d = 0; d < c; d++) {
            if (query->columns[c] == query->columns[d])
                return pn_fail(err, PN_EINVAL, "query.%s: column %zu is given twice", name, query->columns[c]);
        }
    }
    return PN_OK;
}

static pn_status check_ranges(const pn_query *query, const char *name, pn_err *err)
{
    for (size_t c = 0; !has_points(query) && c < query->count; c++) {
        double low = query->low[c], high = query->high[c];

        if (!(low < high) || !(fabs(low) < 0x1p500 && fabs(high) < 0x1p500))
            return pn_fail(err, PN_EINVAL, "query.%s: low must be below high, both finite, got %g and %g", name, low,
                           high);
    }
    if (query->kind == PN_QUERY_DESCRIBE && (query->bins < 2 || query->bins > MOST_BINS))
        return pn_fail(err, PN_EINVAL, "query.describe: bins must be from 2 to %zu, got %zu", MOST_BINS, query->bins);
    if (!has_points(query))
        return PN_OK;
    if (query->point_count < 2 || query->point_count > MOST_VALUES)
        return pn_fail(err, PN_EINVAL, "query.%s: give from 2 to %zu %s, got %zu", name, MOST_VALUES,
                       query->kind == PN_QUERY_QUANTILE ? "candidates" : "edges", query->point_count);
    for (size_t i = 0; i < query->point_count; i++) {
        if (!isfinite(query->points[i]) || (i > 0 && !(query->points[i] > query->points[i - 1])))
            return pn_fail(err, PN_EINVAL, "query.%s: %s must increase, entry %zu is %g", name,
                           query->kind == PN_QUERY_QUANTILE ? "candidates" : "edges", i + 1, query->points[i]);
    }
    if (query->kind == PN_QUERY_QUANTILE && !(query->quantile >= 0.0 && query->quantile <= 1.0))
        return pn_fail(err, PN_EINVAL, "query.quantile: q must be from 0 to 1, got %g", query->quantile);
    return PN_OK;
}

static pn_status check_price(const pn_query *query, const char *name, pn_err *err)
{
    const pn_query_price *price = &query->price;

    if (isnan(price->rho) == isnan(price->epsilon) || (!isnan(price->rho) && !isnan(price->delta)))
        return pn_fail(err, PN_EINVAL, "query.%s: the price is missing; give epsilon, epsilon with delta, or rho",
                       name);
    if (query->kind == PN_QUERY_QUANTILE && (isnan(price->epsilon) || !isnan(price->delta)))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "query.quantile: the exponential mechanism chooses the quantile; give epsilon alone");
    return PN_OK;
}

static pn_status check(const pn_query *query, const pn_ledger *ledger, pn_err *err)
{
    const char *name = names[query->kind];
    pn_status status = check_columns(query, name, err);

    if (status == PN_OK)
        status = check_ranges(query, name, err);
    if (status == PN_OK)
        status = check_price(query, name, err);
    if (status != PN_OK)
        return status;
    if (!ledger)
        return pn_fail(err, PN_EINVAL, "query.%s: a query needs a ledger to pay from", name);
    if (query->kind == PN_QUERY_MEAN && pn_ledger_budget(ledger)->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EPRIVACY,
                       "query.mean: \"add_remove\" neighbours keep the number of records secret; ask query.sum and "
                       "query.count");
    if (query->data->n >= MOST_RECORDS || query->data->absent || query->data->partial)
        return pn_fail(err, PN_EUNSUPPORTED, "query.%s: this process must hold all records, and fewer than 2^28", name);
    return PN_OK;
}

/* ---- reading records ---- */

static void read_record(const work *at, const pn_rows *rows, size_t i)
{
    const pn_query *query = at->query;
    const pn_dataset *data = query->data;
    size_t entries;
    const double *row = pn_rows_get(rows, i, &entries);

    for (size_t c = 0; c < query->count; c++) {
        if (query->columns[c] == 0)
            at->record[c] = data->y[i];
        else
            at->record[c] = data->sparse ? 0.0 : row[query->columns[c] - 1];
    }
    for (size_t e = 0; data->sparse && e < entries; e++) {
        size_t place = at->place[data->csr.column[data->csr.start[i] + e]];

        if (place > 0)
            at->record[place - 1] = row[e];
    }
}

/* ---- adding up ---- */

static bool inside(const work *at)
{
    bool all = true;

    for (size_t c = 0; c < at->query->count; c++)
        all = all && at->record[c] >= at->query->low[c] && at->record[c] <= at->query->high[c];
    return all;
}

static double largest(double low, double high)
{
    return fmax(fabs(low), fabs(high));
}

/* The value of column c in whole units. */
static double in_units(const work *at, size_t c)
{
    double low = at->query->low[c], high = at->query->high[c], v = fmin(fmax(at->record[c], low), high);

    if (at->about_zero)
        return rint(fmin(fmax(v / largest(low, high), -1.0), 1.0) * UNITS);
    return rint(fmin(fmax((v - low) / (high - low), 0.0), 1.0) * UNITS) - UNITS / 2.0;
}

/* How many of points[count] are <= v (or < v). */
static size_t rank_of(const double *points, size_t count, double v, bool or_equal)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (points[middle] < v || (or_equal && points[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Bins are [edge, next edge); the last has both ends, and the first and last what lies beyond. */
static void add_to_bin(const work *at)
{
    const pn_query *query = at->query;
    size_t rank = rank_of(query->points, query->point_count, at->record[0], true);

    rank = rank > 0 ? rank - 1 : 0;
    at->sums[rank < at->n ? rank : at->n - 1] += 1.0;
}

/* What is released of column c, each in units of which a record moves it by at most UNITS: whether the value is beyond
 * the range; the value; its square, of x in [-1, 1], so in [0, UNITS]; its bin. */
static void add_described(const work *at, size_t c)
{
    const pn_query *query = at->query;
    double low = query->low[c], high = query->high[c], v = at->record[c];
    double *sums = at->sums + c * (PN_DESCRIBED + query->bins), bins = (double)query->bins;
    double units = in_units(at, c), x = units / (at->about_zero ? UNITS : UNITS / 2.0);
    double bin = floor((v - low) / (high - low) * bins);

    sums[0] += v < low || v > high ? UNITS : 0.0;
    sums[1] += units;
    sums[2] += rint(x * x * UNITS);
    sums[PN_DESCRIBED + (size_t)fmin(fmax(bin, 0.0), bins - 1.0)] += UNITS;
}

static void add_record(const work *at)
{
    switch (at->query->kind) {
    case PN_QUERY_COUNT:
        at->sums[0] += inside(at) ? 1.0 : 0.0;
        break;
    case PN_QUERY_HISTOGRAM:
        add_to_bin(at);
        break;
    case PN_QUERY_DESCRIBE:
        for (size_t c = 0; c < at->query->count; c++)
            add_described(at, c);
        break;
    default:
        for (size_t c = 0; c < at->n; c++)
            at->sums[c] += in_units(at, c);
        break;
    }
}

/* Candidate c is >= v for `upto`, > v for `below`: counts of records at the first such candidate,
 * then added up from the left. */
static void score(const work *at, double *upto, double *below, size_t candidates)
{
    double target = at->query->quantile * (double)at->query->data->n, seen = 0.0, before = 0.0;

    for (size_t c = 0; c < candidates; c++) {
        seen += upto[c];
        before += below[c];
        at->sums[c] = -fmax(0.0, fmax(before - target, target - seen));
    }
}

static size_t nearest_zero(const double *points, size_t count)
{
    size_t best = 0;

    for (size_t c = 1; c < count; c++)
        best = fabs(points[c]) < fabs(points[best]) ? c : best;
    return best;
}

/* A weight exp(-lean k) is -2 lean k/epsilon added to the score, which moves no more for it; its rounding is within the
 * score error that is declared. */
static void lean_to_zero(const work *at, size_t candidates)
{
    const pn_query *query = at->query;
    size_t zero = nearest_zero(query->points, candidates);
    double step = 2.0 * query->lean / query->price.epsilon;

    for (size_t c = 0; c < candidates && query->lean > 0.0; c++)
        at->sums[c] -= step * (double)(c > zero ? c - zero : zero - c);
}

static pn_status add_up(const work *at, pn_err *err)
{
    const pn_query *query = at->query;
    size_t candidates = query->kind == PN_QUERY_QUANTILE ? query->point_count : 0;
    double *counts;
    pn_status status;
    pn_rows rows;

    PN_TRY(pn_new_zeroed(&counts, 2 * (candidates + 1), err, "query.%s: out of memory", at->name));
    status = pn_rows_open(&rows, query->data, err);
    for (size_t i = 0; status == PN_OK && i < query->data->n; i++) {
        read_record(at, &rows, i);
        if (candidates > 0) {
            counts[rank_of(query->points, candidates, at->record[0], false)] += 1.0;
            counts[candidates + 1 + rank_of(query->points, candidates, at->record[0], true)] += 1.0;
        } else {
            add_record(at);
        }
    }
    if (status == PN_OK)
        pn_rows_close(&rows);
    if (status == PN_OK && candidates > 0)
        score(at, counts, counts + candidates + 1, candidates);
    if (status == PN_OK && candidates > 0)
        lean_to_zero(at, candidates);
    pn_free(counts);
    return status;
}

/* ---- the mechanism ---- */

static void set_arg(const pn_mechanism_ops *ops, pn_arg *args, const char *name, double value)
{
    size_t at = pn_param_find(ops->params, name);

    if (ops->params[at].name) {
        args[at].given = true;
        args[at].real = value;
        args[at].count = value >= 0.0 && value <= (double)PN_SIZE_MAX ? (size_t)value : 0; /* a dim is */
    }
}

#define MOST_ARGS 16

static pn_status make_additive(pn_mechanism **out, const work *at, const char *name, double first, double second,
                               double sensitivity, pn_err *err)
{
    pn_arg args[MOST_ARGS] = { 0 };
    const pn_mechanism_ops *ops = pn_table_find(pn_mechanism_table(), name);

    set_arg(ops, args, strcmp(name, "gaussian") == 0 ? "sigma" : "epsilon", first);
    set_arg(ops, args, "delta", second);
    set_arg(ops, args, "sensitivity", sensitivity);
    set_arg(ops, args, "dim", (double)at->n);
    return pn_mechanism_from_args(out, name, args, at->neighbours, err);
}

/* The noise whose event has at most this rho: what rounding adds to the sensitivity depends a little on sigma. */
static pn_status make_rho(pn_mechanism **out, const work *at, double rho, double sensitivity, pn_err *err)
{
    double sigma = sensitivity / sqrt(2.0 * rho);

    if (!(rho > 0.0))
        return pn_fail(err, PN_EINVAL, "query.%s: rho must be a positive number, got %g", at->name, rho);
    for (int i = 0; i < 8; i++) {
        pn_status status = make_additive(out, at, "gaussian", sigma, NAN, sensitivity, err);
        double cost;

        if (status != PN_OK)
            return status;
        cost = (*out)->event->ops->zcdp((*out)->event);
        if (cost <= rho)
            return PN_OK;
        sigma *= sqrt(cost / rho) * (1.0 + 0x1p-50);
        pn_mechanism_free(*out);
        *out = NULL;
    }
    return pn_fail(err, PN_ENUMERIC, "query.%s: no noise on the lattice costs rho %g", at->name, rho);
}

static pn_status make_mechanism(pn_mechanism **out, const work *at, pn_err *err)
{
    const pn_query *query = at->query;
    const pn_query_price *price = &query->price;
    bool sums = query->kind == PN_QUERY_SUM || query->kind == PN_QUERY_MEAN;
    bool described = query->kind == PN_QUERY_DESCRIBE;
    double counts = at->neighbours == PN_ADD_REMOVE ? 1.0 : 2.0; /* of a histogram */
    double moved = query->kind == PN_QUERY_HISTOGRAM ? counts
                   : described                       ? (double)query->count * (PN_DESCRIBED + counts)
                   : sums                            ? (double)at->n
                                                     : 1.0; /* so many entries by `unit` each */
    double unit = sums || described ? UNITS : 1.0, l2 = nextafter(sqrt(moved), INFINITY) * unit;
    pn_selection_options selection = { .law = PN_SELECT_EXPONENTIAL,
                                       .epsilon = price->epsilon,
                                       .sensitivity = 1.0,
                                       .score_error = 0x1p-24,
                                       .score_bound = (double)MOST_RECORDS,
                                       .neighbours = at->neighbours };

    if (query->kind == PN_QUERY_QUANTILE)
        return pn_mechanism_selection(out, &selection, err);
    if (!isnan(price->rho))
        return make_rho(out, at, price->rho, moved == 1.0 ? unit : l2, err);
    if (!isnan(price->delta))
        return make_additive(out, at, "analytic_gaussian", price->epsilon, price->delta, moved == 1.0 ? unit : l2, err);
    return make_additive(out, at, "laplace", price->epsilon, NAN, moved * unit, err);
}

/* ---- the answer ---- */

/* From units to the column's, and what noise of deviation 1 there is here. */
static double to_column(const work *at, size_t c, double units, double *scale)
{
    const pn_query *query = at->query;
    double low, high, n = query->kind == PN_QUERY_MEAN ? (double)query->data->n : 1.0;

    *scale = 1.0;
    if (query->kind != PN_QUERY_SUM && query->kind != PN_QUERY_MEAN)
        return units;
    low = query->low[c];
    high = query->high[c];
    *scale = (at->about_zero ? largest(low, high) : high - low) / UNITS / n;
    return units * *scale + (at->about_zero ? 0.0 : (double)query->data->n / n * (low + (high - low) / 2.0));
}

static void answer_with(const work *at, const pn_mechanism *mechanism, const pn_release *released, double deviation,
                        pn_query_answer *answer)
{
    if (at->query->kind == PN_QUERY_QUANTILE) {
        answer->values[0] = at->query->points[released->index];
        answer->deviations[0] = NAN;
        answer->rank_error = 2.0 * log((double)at->query->point_count / (1.0 - CONFIDENCE)) / at->query->price.epsilon;
    }
    for (size_t c = 0; c < at->n && at->query->kind != PN_QUERY_QUANTILE; c++) {
        double scale;

        answer->values[c] = to_column(at, c, at->sums[c], &scale);
        answer->deviations[c] = scale * deviation;
    }
    answer->event = pn_event_keep(mechanism->event);
}

static pn_status release(const work *at, pn_ledger *ledger, const char *label, pn_rng *rng, pn_query_answer *answer,
                         pn_err *err)
{
    size_t inputs = at->query->kind == PN_QUERY_QUANTILE ? at->query->point_count : at->n;
    pn_release out = { .values = at->sums };
    pn_mechanism *mechanism = NULL;
    pn_status status = make_mechanism(&mechanism, at, err);

    if (status == PN_OK)
        status = pn_mechanism_release(mechanism, ledger, label, rng, at->sums, inputs, &out, err);
    if (status == PN_OK) {
        bool laplace = strcmp(mechanism->ops->name, "laplace") == 0;

        answer_with(at, mechanism, &out, mechanism->scale * (laplace ? sqrt(2.0) : 1.0), answer);
    }
    pn_mechanism_free(mechanism);
    return status;
}

static void clear_work(work *at)
{
    pn_free(at->sums);
    pn_free(at->record);
    pn_free(at->place);
}

/* What was checked, and added up: the exact values, which are private. */
static pn_status open_work(work *at, const pn_query *query, pn_neighbours neighbours, pn_err *err)
{
    pn_status status;

    *at = (work){ .query = query, .neighbours = neighbours, .name = names[query->kind], .n = pn_query_values(query) };
    at->about_zero = neighbours != PN_REPLACE_ONE;
    at->sums = pn_calloc(query->kind == PN_QUERY_QUANTILE ? query->point_count : at->n, sizeof *at->sums);
    at->record = pn_alloc(query->count, sizeof *at->record);
    at->place = pn_calloc(query->data->p, sizeof *at->place);
    if (!at->sums || !at->record || !at->place) {
        clear_work(at);
        return pn_fail(err, PN_ENOMEM, "query.%s: out of memory", at->name);
    }
    for (size_t c = 0; c < query->count; c++) {
        if (query->columns[c] > 0)
            at->place[query->columns[c] - 1] = c + 1;
    }
    status = add_up(at, err);
    if (status != PN_OK)
        clear_work(at);
    return status;
}

pn_status pn_query_ask(const pn_query *query, pn_ledger *ledger, const char *label, pn_rng *rng,
                       pn_query_answer *answer, pn_err *err)
{
    pn_status status = check(query, ledger, err);
    work at;

    if (status == PN_OK)
        status = open_work(&at, query, pn_ledger_budget(ledger)->neighbours, err);
    if (status != PN_OK)
        return status;
    status = release(&at, ledger, label, rng, answer, err);
    clear_work(&at);
    return status;
}
