/* simplex_project.c -- Euclidean projection onto a simplex: x_j = max(z_j - tau, 0) with tau such that the sum is
 * right; and onto the sphere of the l1 norm, where that is so of the sizes.
 * Entries <= any lower bound of tau cannot be positive.  The threshold of some of the entries is such a bound: a sample
 * drops most entries in the first pass, and repeated averages drop the rest.
 * Depends on: simplex_project.h, numeric/blas.h, simd.h.  Used by: simplex.c, l1_ball.c, group_ball.c. */
#include <math.h>

#include "geometry/kernels/simplex_project.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

#define SAMPLE_ABOVE  4096
#define SAMPLE_STRIDE 64

/* tau - top of kept[count], which are above `bound`, a lower bound of it: the average of what is above the last one,
 * until nothing is dropped.  The bound when there are none. */
static double settle(double *kept, size_t count, double radius, double bound)
{
    size_t before = count + 1;

    while (count > 0 && count < before) {
        bound = (pn_sum(count, kept) - radius) / (double)count;
        before = count;
        count = pn_simd_best()->above(before, kept, 0, 0.0, bound, kept);
    }
    return bound;
}

/* tau - top of some entries, a lower bound of that of all.  Differences to the largest entry keep their digits however
 * large the entries are. */
static double sample(const double *x, size_t n, double radius, int sizes, double top, double *scratch)
{
    double bound = -radius; /* the largest entry ends up at most at radius */
    size_t count = 0;

    for (size_t j = 0; n > SAMPLE_ABOVE && j < n; j += SAMPLE_STRIDE) {
        scratch[count] = (sizes ? fabs(x[j]) : x[j]) - top;
        count += scratch[count] > bound;
    }
    return settle(scratch, count, radius, bound);
}

static void project(double *x, size_t n, double radius, int sizes, double *scratch)
{
    const pn_simd *simd = pn_simd_best();
    double top = simd->largest(n, x, sizes), bound = sample(x, n, radius, sizes, top, scratch);
    size_t count = simd->above(n, x, sizes, top, bound, scratch);

    simd->exceeding(n, x, sizes, top, settle(scratch, count, radius, bound), x);
}

void pn_simplex_project(double *x, size_t n, double radius, double *scratch)
{
    project(x, n, radius, 0, scratch);
}

void pn_l1_sphere_project(double *x, size_t n, double radius, double *scratch)
{
    project(x, n, radius, 1, scratch);
}

double pn_simplex_project_error(size_t n, double radius)
{
    double count = (double)n;

    return 4.0 * count * (count + 6.0) * 0x1p-53 * radius;
}
