/* directions.c -- see directions.h.  Depends on: directions.h, numeric/.  Used by: smoothed*.c. */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/simd/simd.h"
#include "objective/measures/directions.h"

#define TRIES 32 /* of iid directions within the level */

const char *const pn_directions_names[] = { "orthogonal", "iid", "one", NULL };

static bool is_orthogonal(const pn_direction_kind *kind)
{
    return kind->directions == PN_DIRECTIONS_ORTHOGONAL;
}

static bool has_level(const pn_direction_kind *kind)
{
    return kind->directions == PN_DIRECTIONS_IID && kind->level > 0.0;
}

size_t pn_direction_rows(const pn_direction_kind *kind)
{
    return kind->directions == PN_DIRECTIONS_ONE ? 1 : kind->dim;
}

static size_t reflections(size_t dim)
{
    return dim * (dim + 1) / 2;
}

size_t pn_direction_numbers(const pn_direction_kind *kind)
{
    return is_orthogonal(kind) ? reflections(kind->dim) : pn_direction_rows(kind) * kind->dim;
}

size_t pn_direction_room(const pn_direction_kind *kind)
{
    size_t factors = 2 * kind->dim, matrix = (kind->dim + 1) * kind->dim; /* and a row of work */

    if (has_level(kind))
        return factors + matrix;
    return is_orthogonal(kind) ? factors + (kind->formed ? matrix : 0) : 0;
}

double pn_direction_rounding(const pn_direction_kind *kind)
{
    double d = (double)kind->dim;

    return 4.0 * d * (d + 8.0) * 0x1p-53 * 1.01;
}

/* ---- reflections ---- */

/* numbers: Gaussian vectors of d, d - 1 ... 2 entries and one sign, one after the other.  Vector k becomes the h of H_k
 * = I - scale[k] h h^T with H_k v = -+||v|| e_1; sign[] are those that make the diagonal of R positive. */
static void make_reflections(size_t dim, double *v, double *scale, double *sign)
{
    for (size_t k = 0; k + 1 < dim; v += dim - k, k++) {
        double norm = sqrt(pn_dot(dim - k, v, v)), first = norm + fabs(v[0]);

        sign[k] = v[0] < 0.0 ? 1.0 : -1.0;
        scale[k] = norm > 0x1p-100 ? 1.0 / (norm * first) : 0.0; /* shorter: not once in the life of the universe */
        v[0] = v[0] < 0.0 ? -first : first;
    }
    scale[dim - 1] = 0.0;
    sign[dim - 1] = v[0] < 0.0 ? -1.0 : 1.0;
}

static void reflect(const pn_simd *simd, size_t n, const double *h, double scale, double *w)
{
    double along;

    simd->dense_times(h, 1, n, w, &along);
    along *= -scale;
    simd->dense_add_transposed(h, 1, n, &along, w);
}

/* out = H_1 ... H_{d-1} D x */
static void reflect_back(const pn_direction_set *set, const double *x, double *out)
{
    size_t dim = set->kind->dim;
    const double *scale = set->room, *sign = scale + dim, *h = set->numbers + reflections(dim) - 1;
    const pn_simd *simd = pn_simd_best();

    for (size_t j = 0; j < dim; j++)
        out[j] = sign[j] * x[j];
    for (size_t k = dim - 1; k-- > 0;) {
        h -= dim - k;
        reflect(simd, dim - k, h, scale[k], out + k);
    }
}

/* out = D H_{d-1} ... H_1 c */
static void reflect_on(const pn_direction_set *set, const double *c, double *out)
{
    size_t dim = set->kind->dim;
    const double *scale = set->room, *sign = scale + dim, *h = set->numbers;
    const pn_simd *simd = pn_simd_best();

    memcpy(out, c, dim * sizeof *out);
    for (size_t k = 0; k + 1 < dim; h += dim - k, k++)
        reflect(simd, dim - k, h, scale[k], out + k);
    for (size_t j = 0; j < dim; j++)
        out[j] *= sign[j];
}

/* matrix = H_1 ... H_{d-1} D, of which H_k changes only the rows and columns from k on. */
static void form(size_t dim, const double *numbers, const double *factors, double *matrix)
{
    const double *scale = factors, *sign = scale + dim, *h = numbers + reflections(dim) - 1;
    double *along = matrix + dim * dim;

    memset(matrix, 0, dim * dim * sizeof *matrix);
    for (size_t j = 0; j < dim; j++)
        matrix[j * dim + j] = sign[j];
    for (size_t k = dim - 1; k-- > 0;) {
        size_t n = dim - k;

        h -= n;
        memset(along, 0, n * sizeof *along);
        for (size_t i = 0; i < n; i++)
            pn_axpy(n, h[i], matrix + (k + i) * dim + k, along);
        for (size_t i = 0; i < n; i++)
            pn_axpy(n, -scale[k] * h[i], along, matrix + (k + i) * dim + k);
    }
}

/* ---- rows ---- */

static void normalise(size_t rows, size_t dim, double *matrix)
{
    for (size_t r = 0; r < rows; r++) {
        double *row = matrix + r * dim, norm = sqrt(pn_dot(dim, row, row));

        if (!(norm > 0x1p-100)) { /* not once in the life of the universe */
            memset(row, 0, dim * sizeof *row);
            row[0] = norm = 1.0;
        }
        for (size_t j = 0; j < dim; j++)
            row[j] /= norm;
    }
}

/* Whether the largest singular value of U is at most `level`, surely: level^2 I - U U^T has a Cholesky factor.  It is
 * off by d^2 u for the products and d (d + 2) u level^2 for the factor,
 * and so the level that is tried is a little smaller. */
static bool within(size_t dim, const double *matrix, double level, double *work)
{
    double d = (double)dim, square = level * level * (1.0 - 4.0 * d * (d + 2.0) * 0x1p-53);

    for (size_t r = 0; r < dim; r++) {
        pn_simd_best()->dense_times(matrix, dim, dim, matrix + r * dim, work + r * dim);
        for (size_t j = 0; j < dim; j++)
            work[r * dim + j] = (r == j ? square : 0.0) - work[r * dim + j];
    }
    return pn_positive_definite(work, dim);
}

static void make_within(const pn_direction_set *set, pn_rng *rng)
{
    size_t dim = set->kind->dim;
    double *matrix = set->room + 2 * dim;

    for (int tries = 1; !within(dim, set->numbers, set->kind->level, matrix); tries++) {
        if (tries == TRIES) {
            pn_rng_many_normals(rng, reflections(dim), set->numbers);
            make_reflections(dim, set->numbers, set->room, set->room + dim);
            form(dim, set->numbers, set->room, matrix);
            memcpy(set->numbers, matrix, dim * dim * sizeof *matrix);
            return;
        }
        pn_rng_many_normals(rng, dim * dim, set->numbers);
        normalise(dim, dim, set->numbers);
    }
}

/* ---- the interface ---- */

void pn_direction_make(const pn_direction_set *set, pn_rng *rng)
{
    const pn_direction_kind *kind = set->kind;

    if (is_orthogonal(kind)) {
        make_reflections(kind->dim, set->numbers, set->room, set->room + kind->dim);
        if (kind->formed)
            form(kind->dim, set->numbers, set->room, set->room + 2 * kind->dim);
        return;
    }
    normalise(pn_direction_rows(kind), kind->dim, set->numbers);
    if (has_level(kind))
        make_within(set, rng);
}

const double *pn_direction_matrix(const pn_direction_set *set)
{
    return is_orthogonal(set->kind) ? set->room + 2 * set->kind->dim : set->numbers;
}

void pn_direction_times(const pn_direction_set *set, const double *x, double *out)
{
    const pn_direction_kind *kind = set->kind;

    if (is_orthogonal(kind) && !kind->formed)
        reflect_back(set, x, out);
    else
        pn_simd_best()->dense_times(pn_direction_matrix(set), pn_direction_rows(kind), kind->dim, x, out);
}

void pn_direction_combine(const pn_direction_set *set, const double *c, double *out)
{
    const pn_direction_kind *kind = set->kind;

    if (is_orthogonal(kind)) {
        reflect_on(set, c, out);
    } else if (kind->directions == PN_DIRECTIONS_ONE) {
        double weight = (double)kind->dim * c[0];

        for (size_t j = 0; j < kind->dim; j++)
            out[j] = weight * set->numbers[j];
    } else {
        memset(out, 0, kind->dim * sizeof *out);
        pn_simd_best()->dense_add_transposed(pn_direction_matrix(set), kind->dim, kind->dim, c, out);
    }
}
