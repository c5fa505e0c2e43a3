/* nearest.c -- Wolfe's minimum-norm-point method over the differences P_i = v_i - x.
 * It keeps a corral S of affinely independent points and their affine minimiser y; a point P_j with <y, P_j> < <y, y>
 * enters, and points whose weight would turn negative leave.  Each corral is visited once, so it ends.
 * The Gram matrix is a packed lower triangle in units of the largest |P_i|^2.
 * Depends on: nearest.h, simd.h.  Used by: polytope.c. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/nearest.h"
#include "numeric/simd.h"

typedef struct wolfe {
    pn_mat v;
    const double *x;
    double scale;    /* max |P_i|^2 */
    size_t count;    /* points in the corral */
    size_t room;     /* for so many points there is memory */
    size_t *member;  /* [room] rows of v */
    double *weight;  /* [room] >= 0, sum 1 */
    double *trial;   /* [room] the affine minimiser's weights */
    double *gram;    /* [room (room + 1) / 2] <P_a, P_b> / scale + 1, row a holds b <= a */
    double *factor;  /* its Cholesky factor */
    double *y;       /* [cols] sum of weight P */
    double *product; /* [rows] <y, v_i> */
} wolfe;

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

static double difference_dot(const wolfe *w, size_t a, size_t b)
{
    const double *va = w->v.data + a * w->v.cols, *vb = w->v.data + b * w->v.cols;
    double sum = 0.0;

    for (size_t j = 0; j < w->v.cols; j++)
        sum += (va[j] - w->x[j]) * (vb[j] - w->x[j]);
    return sum;
}

static double *triangle_row(double *triangle, size_t a)
{
    return triangle + a * (a + 1) / 2;
}

static bool grow_one(double **block, size_t count)
{
    double *bigger = pn_resize(*block, count, sizeof **block);

    if (bigger)
        *block = bigger;
    return bigger != NULL;
}

static bool make_room(wolfe *w)
{
    size_t room = w->room ? 2 * w->room : 8, *member;

    if (w->count < w->room)
        return true;
    member = pn_resize(w->member, room, sizeof *member);
    if (!member)
        return false;
    w->member = member;
    if (!grow_one(&w->weight, room) || !grow_one(&w->trial, room) || !grow_one(&w->gram, room * (room + 1) / 2) ||
        !grow_one(&w->factor, room * (room + 1) / 2))
        return false;
    w->room = room;
    return true;
}

static bool enter(wolfe *w, size_t row, double weight)
{
    double *gram;

    if (!make_room(w))
        return false;
    gram = triangle_row(w->gram, w->count);
    w->member[w->count] = row;
    w->weight[w->count] = weight;
    w->count++;
    for (size_t b = 0; b < w->count; b++)
        gram[b] = difference_dot(w, row, w->member[b]) / w->scale + 1.0;
    return true;
}

static void leave(wolfe *w, size_t at)
{
    for (size_t a = at + 1; a < w->count; a++) {
        double *from = triangle_row(w->gram, a), *into = triangle_row(w->gram, a - 1);

        for (size_t b = 0, kept = 0; b <= a; b++) {
            if (b != at)
                into[kept++] = from[b];
        }
        w->member[a - 1] = w->member[a];
        w->weight[a - 1] = w->weight[a];
    }
    w->count--;
}

/* trial = the weights of the affine minimiser: (Gram + 1 1^T) u = 1, normalised.  False when the corral is dependent. */
static bool affine_minimiser(wolfe *w)
{
    size_t m = w->count;
    double total = 0.0;

    for (size_t a = 0; a < m; a++) {
        double *la = triangle_row(w->factor, a), *ga = triangle_row(w->gram, a);

        for (size_t b = 0; b < a; b++) {
            double *lb = triangle_row(w->factor, b);

            la[b] = (ga[b] - dot(la, lb, b)) / lb[b];
        }
        la[a] = ga[a] - dot(la, la, a);
        if (!(la[a] > 4.0 * DBL_EPSILON * ga[a]))
            return false;
        la[a] = sqrt(la[a]);
        w->trial[a] = (1.0 - dot(la, w->trial, a)) / la[a];
    }
    for (size_t a = m; a-- > 0;) {
        for (size_t b = a + 1; b < m; b++)
            w->trial[a] -= triangle_row(w->factor, b)[a] * w->trial[b];
        w->trial[a] /= triangle_row(w->factor, a)[a];
        total += w->trial[a];
    }
    for (size_t a = 0; a < m; a++)
        w->trial[a] /= total;
    return total > 0.0;
}

/* Move the weights to the trial ones, or as far as they stay >= 0 and drop what became 0; true when all the way. */
static bool step_to_trial(wolfe *w)
{
    double fraction = 1.0;
    size_t blocking = w->count;

    for (size_t a = 0; a < w->count; a++) {
        double room = w->weight[a] - w->trial[a];

        if (w->trial[a] > 0.0)
            continue;
        room = room > 0.0 ? w->weight[a] / room : 0.0;
        if (blocking == w->count || room < fraction) {
            fraction = room;
            blocking = a;
        }
    }
    for (size_t a = 0; a < w->count; a++)
        w->weight[a] += fraction * (w->trial[a] - w->weight[a]);
    if (blocking == w->count)
        return true;
    w->weight[blocking] = 0.0;
    for (size_t a = w->count; a-- > 0;) {
        if (!(w->weight[a] > 0.0) && w->count > 1)
            leave(w, a);
    }
    return false;
}

static double refresh_point(wolfe *w)
{
    size_t cols = w->v.cols;

    memset(w->y, 0, cols * sizeof *w->y);
    for (size_t a = 0; a < w->count; a++) {
        const double *v = w->v.data + w->member[a] * cols;

        for (size_t j = 0; j < cols; j++)
            w->y[j] += w->weight[a] * (v[j] - w->x[j]);
    }
    return dot(w->y, w->y, cols);
}

/* The row of least <y, P_i>, and that product. */
static size_t least_product(wolfe *w, double *least)
{
    size_t best = 0;

    pn_simd_best()->dense_times(w->v.data, w->v.rows, w->v.cols, w->y, w->product);
    for (size_t i = 1; i < w->v.rows; i++)
        best = w->product[i] < w->product[best] ? i : best;
    *least = 0.0;
    for (size_t j = 0; j < w->v.cols; j++)
        *least += w->y[j] * (w->v.data[best * w->v.cols + j] - w->x[j]);
    return best;
}

static bool is_member(const wolfe *w, size_t row)
{
    for (size_t a = 0; a < w->count; a++) {
        if (w->member[a] == row)
            return true;
    }
    return false;
}

static size_t start_row(wolfe *w)
{
    size_t nearest = 0;
    double least = INFINITY;

    for (size_t i = 0; i < w->v.rows; i++) {
        double size = difference_dot(w, i, i);

        w->scale = fmax(w->scale, size);
        if (size < least) {
            least = size;
            nearest = i;
        }
    }
    if (!(w->scale > 0.0))
        w->scale = 1.0; /* every vertex is x */
    return nearest;
}

static pn_status iterate(wolfe *w, double reach, double *distance, pn_err *err)
{
    size_t limit = 1000 + 20 * (w->v.rows + w->v.cols);
    double size = refresh_point(w);

    for (size_t turn = 0; turn < limit; turn++) {
        double least, smaller;
        size_t row = least_product(w, &least);

        *distance = sqrt(size);
        if (*distance <= reach || size <= 1e-30 * w->scale)
            return PN_OK;
        if (reach >= 0.0 && least > reach * *distance * (1.0 + 1e-9)) { /* a hyperplane beyond reach separates x */
            *distance = least / *distance;
            return PN_OK;
        }
        if (size - least <= 1e-15 * sqrt(w->scale) * *distance || is_member(w, row))
            return PN_OK;
        if (!enter(w, row, 0.0))
            return pn_fail(err, PN_ENOMEM, "polytope: out of memory");
        do {
            if (!affine_minimiser(w)) { /* numerically dependent: as near as this arithmetic gets */
                size = refresh_point(w);
                *distance = sqrt(size);
                return PN_OK;
            }
        } while (!step_to_trial(w));
        smaller = refresh_point(w);
        if (!(smaller < size)) {
            *distance = sqrt(smaller);
            return PN_OK;
        }
        size = smaller;
    }
    return pn_fail(err, PN_ENUMERIC, "polytope: the nearest point was not found in %zu steps", limit);
}

pn_status pn_nearest_point(double *residual, double *distance, pn_mat vertices, const double *x, double reach,
                           pn_err *err)
{
    wolfe w = { .v = vertices, .x = x, .y = residual };
    pn_status status = PN_OK;

    w.product = pn_alloc(vertices.rows, sizeof *w.product);
    if (!w.product || !enter(&w, start_row(&w), 1.0))
        status = pn_fail(err, PN_ENOMEM, "polytope: out of memory");
    if (status == PN_OK)
        status = iterate(&w, reach, distance, err);
    pn_free(w.product);
    pn_free(w.member);
    pn_free(w.weight);
    pn_free(w.trial);
    pn_free(w.gram);
    pn_free(w.factor);
    return status;
}
