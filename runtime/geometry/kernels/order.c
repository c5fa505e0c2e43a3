/* order.c -- ranks, selection by three-way partition, and the pool-adjacent-violators algorithm.
 * Depends on: order.h.  Used by: the sets of vectors of this room. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/kernels/order.h"

static int compare_down(const void *a, const void *b)
{
    const pn_ranked *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

void pn_rank_down(pn_ranked *items, const double *x, size_t n, bool sizes)
{
    for (size_t j = 0; j < n; j++) {
        items[j].value = sizes ? fabs(x[j]) : x[j];
        items[j].index = j;
    }
    qsort(items, n, sizeof *items, compare_down);
}

static double middle_of(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void swap(double *a, double *b)
{
    double kept = *a;

    *a = *b;
    *b = kept;
}

double pn_kth_largest(double *x, size_t n, size_t k)
{
    size_t low = 0, high = n; /* the answer is among x[low .. high), at place k - 1 */

    for (;;) {
        double pivot = middle_of(x[low], x[low + (high - low) / 2], x[high - 1]);
        size_t above = low, below = high; /* [low, above) > pivot, [above, i) equal, [below, high) < pivot */

        for (size_t i = low; i < below;) {
            if (x[i] > pivot)
                swap(&x[i++], &x[above++]);
            else if (x[i] < pivot)
                swap(&x[i], &x[--below]);
            else
                i++;
        }
        if (k - 1 < above)
            high = above;
        else if (k - 1 >= below)
            low = below;
        else
            return pivot;
    }
}

void pn_mark_largest(bool *which, const double *x, size_t n, size_t k, double *scratch)
{
    size_t above = 0;
    double last;

    memcpy(scratch, x, n * sizeof *x);
    last = pn_kth_largest(scratch, n, k);
    for (size_t j = 0; j < n; j++) {
        which[j] = x[j] > last;
        above += which[j];
    }
    for (size_t j = 0; above < k && j < n; j++) { /* n: a NaN is neither above nor equal */
        if (x[j] == last) {
            which[j] = true;
            above++;
        }
    }
}

size_t pn_pool_down(pn_block *blocks, const double *y, size_t n)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        pn_block last = { y[i], 1 };

        while (used > 0 && blocks[used - 1].sum * (double)last.count <= last.sum * (double)blocks[used - 1].count) {
            last.sum += blocks[used - 1].sum;
            last.count += blocks[used - 1].count;
            used--;
        }
        blocks[used++] = last;
    }
    return used;
}
