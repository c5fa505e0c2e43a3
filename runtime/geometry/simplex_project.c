/* simplex_project.c -- Euclidean projection onto a simplex: x_j = max(z_j - tau, 0) with tau such that the sum is right.
 * Entries <= any lower bound of tau cannot be positive.  The threshold of some of the entries is such a bound: a sample
 * drops most entries in the first pass, and repeated averages drop the rest.
 * Depends on: simplex_project.h.  Used by: simplex.c, l1_ball.c. */
#include "geometry/simplex_project.h"

#define SAMPLE_ABOVE  4096
#define SAMPLE_STRIDE 64

static double largest(const double *x, size_t n)
{
    double top = x[0];

    for (size_t j = 1; j < n; j++)
        top = x[j] > top ? x[j] : top;
    return top;
}

/* tau - top of the entries x[0], x[stride], ..., given a lower bound of tau - top; the bound when none exceeds it.
 * Differences to the largest entry keep their digits however large the entries are. */
static double threshold(const double *x, size_t n, size_t stride, double radius, double top, double bound, double *kept)
{
    size_t count = 0, before;

    for (size_t j = 0; j < n; j += stride) {
        kept[count] = x[j] - top;
        count += kept[count] > bound;
    }
    do {
        double sum = 0.0;

        if (count == 0)
            return bound;
        for (size_t j = 0; j < count; j++)
            sum += kept[j];
        bound = (sum - radius) / (double)count;
        before = count;
        count = 0;
        for (size_t j = 0; j < before; j++) {
            double entry = kept[j];

            kept[count] = entry;
            count += entry > bound;
        }
    } while (count < before);
    return bound;
}

void pn_simplex_project(double *x, size_t n, double radius, double *scratch)
{
    double top = largest(x, n), tau = -radius; /* the largest entry ends up at most at radius */

    if (n > SAMPLE_ABOVE)
        tau = threshold(x, n, SAMPLE_STRIDE, radius, top, tau, scratch);
    tau = threshold(x, n, 1, radius, top, tau, scratch);
    for (size_t j = 0; j < n; j++) {
        double above = (x[j] - top) - tau;

        x[j] = above > 0.0 ? above : 0.0;
    }
}
