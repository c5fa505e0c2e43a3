/* describe.c -- see describe.h.  Nothing here sees a record.
 * Depends on: describe.h.  Used by: bindings/objective/ldescribe.c. */
#include <math.h>

#include "objective/passes/describe.h"

/* A count in the units of query.c, and one column's values there: v = middle + half x, x = sum / (n one). */
typedef struct frame {
    double middle, half, one;
} frame;

static frame frame_of(const pn_query *query, pn_neighbours neighbours, size_t c)
{
    double low = query->low[c], high = query->high[c];

    if (neighbours == PN_REPLACE_ONE)
        return (frame){ low + (high - low) / 2.0, (high - low) / 2.0, PN_QUERY_UNITS / 2.0 };
    return (frame){ 0.0, fmax(fabs(low), fabs(high)), PN_QUERY_UNITS };
}

static double within(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static double total(const double *bins, size_t count)
{
    double sum = 0.0;

    for (size_t b = 0; b < count; b++)
        sum += bins[b];
    return sum / PN_QUERY_UNITS;
}

/* Noise may make the sums fall: the largest so far stands for them. */
static double quantile(const double *bins, size_t count, double n, double share, double low, double high)
{
    double sum = 0.0, before = 0.0, reached = share * n, width = (high - low) / (double)count;

    for (size_t b = 0; b < count; b++) {
        sum += bins[b] / PN_QUERY_UNITS;
        if (sum >= reached && sum > before)
            return within(low + width * ((double)b + within((reached - before) / (sum - before), 0.0, 1.0)), low, high);
        before = fmax(before, sum);
    }
    return high;
}

void pn_describe_columns(const pn_query *query, pn_neighbours neighbours, const pn_query_answer *answer,
                         const double *shares, size_t share_count, pn_column_facts *facts, double *quantiles)
{
    for (size_t c = 0; c < query->count; c++) {
        const double *values = answer->values + c * (PN_DESCRIBED + query->bins), *bins = values + PN_DESCRIBED;
        double low = query->low[c], high = query->high[c], seen = total(bins, query->bins);
        double n = neighbours == PN_ADD_REMOVE ? fmax(1.0, seen) : (double)query->data->n;
        frame in = frame_of(query, neighbours, c);
        double x = values[1] / (n * in.one), square = values[2] / (n * PN_QUERY_UNITS);

        facts[c].outside = values[0] / PN_QUERY_UNITS;
        facts[c].mean = within(in.middle + in.half * x, low, high);
        facts[c].sd = within(in.half * sqrt(fmax(0.0, square - x * x)), 0.0, (high - low) / 2.0);
        facts[c].mean_deviation = in.half * answer->deviations[1] / (n * in.one);
        for (size_t k = 0; k < share_count; k++)
            quantiles[c * share_count + k] = quantile(bins, query->bins, fmax(seen, 0.0), shares[k], low, high);
    }
}

double pn_describe_count_deviation(const pn_query_answer *answer)
{
    return answer->deviations[0] / PN_QUERY_UNITS;
}
