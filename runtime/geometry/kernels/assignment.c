/* assignment.c -- rows enter one after the other; each takes a column by the shortest path of exchanges, measured in
 * reduced costs cost[i][j] - row_price[i] - column_price[j] >= 0 that are 0 on the columns taken.
 * Depends on: assignment.h.  Used by: birkhoff.c. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/alloc.h"
#include "core/view.h"
#include "geometry/kernels/assignment.h"

#define NOBODY SIZE_MAX

typedef struct search {
    size_t n;
    const double *G;
    double scale; /* cost = -scale G, of size at most 1 */
    double *row_price, *column_price, *distance;
    size_t *owner; /* [n] the row that has a column */
    size_t *from;  /* [n] the column before this one on the path; NOBODY: the new row itself */
    size_t *open;  /* [n] columns whose distance may still fall, in order */
} search;

/* Better distances by way of `row`, which the path reaches through `through` at `base`. */
static void relax(search *s, size_t row, size_t through, double base, size_t open)
{
    const double *g = s->G + row * s->n;
    double price = s->row_price[row] - base;

    for (size_t k = 0; k < open; k++) {
        size_t j = s->open[k];
        double distance = -s->scale * g[j] - s->column_price[j] - price;

        if (distance < s->distance[j]) {
            s->distance[j] = distance;
            s->from[j] = through;
        }
    }
}

/* Removes and returns the nearest open column, the lowest of equals. */
static size_t take_nearest(search *s, size_t *open)
{
    size_t best = 0, j;

    for (size_t k = 1; k < *open; k++)
        best = s->distance[s->open[k]] < s->distance[s->open[best]] ? k : best;
    j = s->open[best];
    for (size_t k = best + 1; k < *open; k++)
        s->open[k - 1] = s->open[k];
    (*open)--;
    return j;
}

/* Gives `row` a column.  Closed columns keep their distance; prices move by what is left to the end of the path. */
static void enter(search *s, size_t row)
{
    size_t open = s->n, at = NOBODY, current = row;
    double base = 0.0;

    for (size_t j = 0; j < s->n; j++) {
        s->open[j] = j;
        s->distance[j] = INFINITY;
        s->from[j] = NOBODY;
    }
    for (;;) {
        relax(s, current, at, base, open);
        at = take_nearest(s, &open);
        base = s->distance[at];
        if (s->owner[at] == NOBODY)
            break;
        current = s->owner[at];
    }
    s->row_price[row] += base;
    for (size_t k = 0; k < open; k++)
        s->distance[s->open[k]] = INFINITY; /* not on any path */
    for (size_t j = 0; j < s->n; j++) {
        double left = base - s->distance[j];

        if (s->distance[j] < INFINITY && s->owner[j] != NOBODY) {
            s->row_price[s->owner[j]] += left;
            s->column_price[j] -= left;
        }
    }
    while (s->from[at] != NOBODY) {
        s->owner[at] = s->owner[s->from[at]];
        at = s->from[at];
    }
    s->owner[at] = row;
}

static double scale_of(const double *G, size_t count)
{
    double largest = 0.0;
    int exponent;

    for (size_t i = 0; i < count; i++)
        largest = fabs(G[i]) > largest ? fabs(G[i]) : largest;
    (void)frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

pn_status pn_assignment(size_t *column, double *price, const double *G, size_t n, pn_err *err)
{
    search s = { .n = n, .G = G };
    double *numbers;
    size_t *places;

    if (pn_first_nonfinite(G, n * n) < n * n) /* no distance would be the least, and rows stay without a column */
        return pn_fail(err, PN_EDOMAIN, "assignment: the gains are out of the range of numbers");
    numbers = pn_calloc(n, 3 * sizeof *numbers);
    places = pn_alloc(n, 3 * sizeof *places);
    if (!numbers || !places) {
        pn_free(numbers);
        pn_free(places);
        return pn_fail(err, PN_ENOMEM, "assignment: out of memory");
    }
    s.scale = scale_of(G, n * n);
    s.row_price = numbers;
    s.column_price = numbers + n;
    s.distance = numbers + 2 * n;
    s.owner = places;
    s.from = places + n;
    s.open = places + 2 * n;
    for (size_t j = 0; j < n; j++)
        s.owner[j] = NOBODY;
    for (size_t i = 0; i < n; i++)
        enter(&s, i);
    for (size_t j = 0; j < n; j++)
        column[s.owner[j]] = j;
    for (size_t i = 0; price && i < 2 * n; i++)
        price[i] = -numbers[i] / s.scale; /* row_price, then column_price */
    pn_free(numbers);
    pn_free(places);
    return PN_OK;
}
