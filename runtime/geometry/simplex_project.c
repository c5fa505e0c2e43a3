/* simplex_project.c -- Euclidean projection onto a simplex: x_j = max(z_j - tau, 0) with tau such that the sum is right.
 * Depends on: simplex_project.h.  Used by: simplex.c, l1_ball.c. */
#include "geometry/simplex_project.h"

static double largest(const double *x, size_t n)
{
    double top = x[0];

    for (size_t j = 1; j < n; j++)
        top = x[j] > top ? x[j] : top;
    return top;
}

/* tau - top.  Differences to the largest entry keep their digits however large the entries are. */
static double threshold(const double *x, size_t n, double radius, double top, double *kept)
{
    size_t count = 0, before;
    double tau = -radius;

    for (size_t j = 0; j < n; j++) {
        kept[count] = x[j] - top;
        count += kept[count] > tau;
    }
    do {
        double sum = 0.0;

        for (size_t j = 0; j < count; j++)
            sum += kept[j];
        tau = (sum - radius) / (double)count;
        before = count;
        count = 0;
        for (size_t j = 0; j < before; j++) {
            double entry = kept[j];

            kept[count] = entry;
            count += entry > tau;
        }
    } while (count < before && count > 0);
    return tau;
}

void pn_simplex_project(double *x, size_t n, double radius, double *scratch)
{
    double top = largest(x, n);
    double tau = threshold(x, n, radius, top, scratch);

    for (size_t j = 0; j < n; j++) {
        double above = (x[j] - top) - tau;

        x[j] = above > 0.0 ? above : 0.0;
    }
}
