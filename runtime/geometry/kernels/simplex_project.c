/* simplex_project.c -- Euclidean projection onto a simplex: x_j = max(z_j - tau, 0) with tau such that the sum is
 * right; and onto the sphere of the l1 norm, where that is so of the sizes.
 * Entries <= any lower bound of tau cannot be positive.  The threshold of some of the entries is such a bound: a sample
 * drops most entries in the first pass, and repeated averages drop the rest.
 * Depends on: simplex_project.h.  Used by: simplex.c, l1_ball.c, group_ball.c. */
#include <math.h>
#include <stdbool.h>

#include "geometry/kernels/simplex_project.h"

#define SAMPLE_ABOVE  4096
#define SAMPLE_STRIDE 64

static inline double entry_of(double x, bool sizes)
{
    return sizes ? fabs(x) : x;
}

/* In eight lanes, which compile to vector instructions. */
static inline double largest(const double *x, size_t n, bool sizes)
{
    double lane[8], top;
    size_t j = 0;

    for (size_t k = 0; k < 8; k++)
        lane[k] = entry_of(x[0], sizes);
    for (; j + 8 <= n; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            double entry = entry_of(x[j + k], sizes);

            lane[k] = entry > lane[k] ? entry : lane[k];
        }
    }
    for (; j < n; j++)
        lane[0] = fmax(lane[0], entry_of(x[j], sizes));
    top = lane[0];
    for (size_t k = 1; k < 8; k++)
        top = fmax(top, lane[k]);
    return top;
}

/* Whether one of eight entries exceeds a bound: without branches, which compiles to vector instructions. */
static inline bool any_above(const double *x, double top, double bound, bool sizes)
{
    double most[4];

    for (size_t k = 0; k < 4; k++) {
        double a = entry_of(x[k], sizes), b = entry_of(x[k + 4], sizes);

        most[k] = a > b ? a : b;
    }
    for (size_t k = 0; k < 2; k++)
        most[k] = most[k] > most[k + 2] ? most[k] : most[k + 2];
    return (most[0] > most[1] ? most[0] : most[1]) - top > bound;
}

/* tau - top of the entries x[0], x[stride], ..., given a lower bound of tau - top; the bound when none exceeds it.
 * Differences to the largest entry keep their digits however large the entries are. */
static inline double threshold(const double *x, size_t n, size_t stride, double radius, double top, double bound,
                               double *kept, bool sizes)
{
    size_t count = 0, before;

    for (size_t j = 0; j < n; j += stride) {
        if (stride == 1 && j % 8 == 0 && j + 8 <= n && !any_above(x + j, top, bound, sizes)) {
            j += 7;
            continue;
        }
        kept[count] = entry_of(x[j], sizes) - top;
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

/* tau - top */
static inline double find_threshold(const double *x, size_t n, double radius, double top, double *scratch, bool sizes)
{
    double tau = -radius; /* the largest entry ends up at most at radius */

    if (n > SAMPLE_ABOVE)
        tau = threshold(x, n, SAMPLE_STRIDE, radius, top, tau, scratch, sizes);
    return threshold(x, n, 1, radius, top, tau, scratch, sizes);
}

void pn_simplex_project(double *x, size_t n, double radius, double *scratch)
{
    double top = largest(x, n, false), tau = find_threshold(x, n, radius, top, scratch, false);

    for (size_t j = 0; j < n; j++) {
        double above = (x[j] - top) - tau;

        x[j] = above > 0.0 ? above : 0.0;
    }
}

void pn_l1_sphere_project(double *x, size_t n, double radius, double *scratch)
{
    double top = largest(x, n, true), tau = find_threshold(x, n, radius, top, scratch, true);

    for (size_t j = 0; j < n; j++) {
        double above = (fabs(x[j]) - top) - tau, kept = copysign(above, x[j]);

        x[j] = above > 0.0 ? kept : 0.0;
    }
}

double pn_simplex_project_error(size_t n, double radius)
{
    double count = (double)n;

    return 4.0 * count * (count + 6.0) * 0x1p-53 * radius;
}
