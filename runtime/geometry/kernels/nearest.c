/* nearest.c -- Wolfe's minimum-norm-point method over the differences P = v - x, for points v of a convex set.
 * It keeps a corral S of affinely independent points and their affine minimiser y; a point with <y, P> < <y, y> enters,
 * and points whose weight would turn negative leave.  Over a polytope each corral is visited once, so it ends; over a
 * curved set the duality gap <y, y - P> bounds the squared error, and falls with each point that enters.
 * The minimiser comes from a QR factorisation of the differences P_a - P_0, by Gram-Schmidt run twice: points of a
 * curved set crowd together, and their Gram matrix would lose half of the digits.
 * Columns are kept as long as their points are.
 * Depends on: nearest.h, simd.h.  Used by: polytope.c, fallback.c. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/kernels/nearest.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

#define MOST_RESTARTS 50

typedef struct wolfe {
    const pn_least_oracle *oracle;
    const double *x;
    size_t dim;
    size_t count;    /* points in the corral */
    size_t factored; /* columns that hold */
    size_t room;     /* for so many points there is memory */
    double *points;  /* [room * dim] the P of the corral */
    double *basis;   /* [room * dim] Q, the first row unused */
    double *columns; /* [room (room + 1) / 2] R: column a, entries b <= a, those of index 0 unused */
    double *along;   /* [room] Q^T P_0 */
    double *weight;  /* [room] >= 0, sum 1 */
    double *trial;   /* [room] the affine minimiser's weights */
    double *y;       /* [dim] sum of weight P */
    double *next;    /* [dim] the point that may enter */
} wolfe;

static double *column_of(const wolfe *w, size_t a)
{
    return w->columns + a * (a + 1) / 2;
}

static double *point_of(const wolfe *w, size_t a)
{
    return w->points + a * w->dim;
}

static double *basis_of(const wolfe *w, size_t a)
{
    return w->basis + a * w->dim;
}

static bool grow_one(double **block, size_t count, size_t size)
{
    double *bigger = pn_resize(*block, count, size * sizeof **block);

    if (bigger)
        *block = bigger;
    return bigger != NULL;
}

static bool make_room(wolfe *w)
{
    size_t room = w->room ? 2 * w->room : 8;

    if (w->count < w->room)
        return true;
    if (!grow_one(&w->points, room, w->dim) || !grow_one(&w->basis, room, w->dim) || !grow_one(&w->along, room, 1) ||
        !grow_one(&w->columns, room * (room + 1) / 2, 1) || !grow_one(&w->weight, room, 1) ||
        !grow_one(&w->trial, room, 1))
        return false;
    w->room = room;
    return true;
}

/* The point `next` joins the corral. */
static bool enter(wolfe *w, double weight)
{
    if (!make_room(w))
        return false;
    memcpy(point_of(w, w->count), w->next, w->dim * sizeof *w->next);
    w->weight[w->count] = weight;
    w->count++;
    return true;
}

static void leave(wolfe *w, size_t at)
{
    size_t after = w->count - at - 1;

    memmove(w->weight + at, w->weight + at + 1, after * sizeof *w->weight);
    memmove(point_of(w, at), point_of(w, at + 1), after * w->dim * sizeof *w->points);
    w->count--;
    w->factored = at < w->factored ? at : w->factored;
}

/* One more column of the factorisation; false when the point depends on those before it. */
static bool factor_column(wolfe *w, size_t a)
{
    double *q = basis_of(w, a), *column = column_of(w, a), length;

    memcpy(q, point_of(w, a), w->dim * sizeof *q);
    pn_axpy(w->dim, -1.0, point_of(w, 0), q);
    memset(column, 0, (a + 1) * sizeof *column);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 1; b < a; b++) {
            double part = pn_dot(w->dim, basis_of(w, b), q);

            column[b] += part;
            pn_axpy(w->dim, -part, basis_of(w, b), q);
        }
    }
    length = sqrt(pn_dot(w->dim, q, q));
    if (!(length > 8.0 * DBL_EPSILON * sqrt(w->oracle->scale)))
        return false;
    for (size_t j = 0; j < w->dim; j++)
        q[j] /= length;
    column[a] = length;
    w->along[a] = pn_dot(w->dim, q, point_of(w, 0));
    return true;
}

/* trial = the weights of the affine minimiser, P_0 - Q Q^T P_0.  False when the corral is dependent. */
static bool affine_minimiser(wolfe *w)
{
    size_t m = w->count;

    w->factored = w->factored > 0 ? w->factored : 1; /* there is no column of P_0 */
    for (; w->factored < m; w->factored++) {
        if (!factor_column(w, w->factored))
            return false;
    }
    w->trial[0] = 1.0;
    for (size_t a = 1; a < m; a++)
        w->trial[a] = -w->along[a];
    for (size_t a = m; a-- > 1;) {
        w->trial[a] /= column_of(w, a)[a];
        pn_axpy(a, -w->trial[a], column_of(w, a), w->trial); /* entry 0 of a column is 0 */
        w->trial[0] -= w->trial[a];
    }
    return true;
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
    if (blocking == w->count) {
        memcpy(w->weight, w->trial, w->count * sizeof *w->weight); /* small weights to all their digits */
        return true;
    }
    for (size_t a = 0; a < w->count; a++)
        w->weight[a] += fraction * (w->trial[a] - w->weight[a]);
    w->weight[blocking] = 0.0;
    for (size_t a = w->count; a-- > 0;) {
        if (!(w->weight[a] > 0.0) && w->count > 1)
            leave(w, a);
    }
    return false;
}

/* y <- sum of weight P */
static double refresh_point(wolfe *w)
{
    memset(w->y, 0, w->dim * sizeof *w->y);
    for (size_t a = 0; a < w->count; a++)
        pn_axpy(w->dim, w->weight[a], point_of(w, a), w->y);
    return pn_dot(w->dim, w->y, w->y);
}

/* The same at the affine minimiser, and normal to the corral to all digits: when y is short, the rounding of the sum,
 * which is one of its terms', would turn it. */
static double refresh_minimiser(wolfe *w)
{
    (void)refresh_point(w);
    for (size_t a = 1; a < w->count; a++)
        pn_axpy(w->dim, -pn_dot(w->dim, basis_of(w, a), w->y), basis_of(w, a), w->y);
    return pn_dot(w->dim, w->y, w->y);
}

/* next <- the point of least <y, P>. */
static pn_status find_next(wolfe *w, pn_err *err)
{
    pn_status status = w->oracle->least(w->oracle->self, w->y, w->next, err);

    for (size_t j = 0; status == PN_OK && j < w->dim; j++)
        w->next[j] -= w->x[j];
    return status;
}

static bool is_member(const wolfe *w)
{
    for (size_t a = 0; a < w->count; a++) {
        if (memcmp(point_of(w, a), w->next, w->dim * sizeof *w->next) == 0)
            return true;
    }
    return false;
}

/* <y, y - P> by differences, which loses less than the difference of products. */
static double gap_of(const wolfe *w)
{
    double gap = 0.0;

    for (size_t j = 0; j < w->dim; j++)
        gap += w->y[j] * (w->y[j] - w->next[j]);
    return gap;
}

typedef enum progress { GOING, DONE, STUCK } progress;

/* Is y good enough?  STUCK: this arithmetic gets no nearer. */
static progress judge(const wolfe *w, double size, double gap, double *distance)
{
    double reach = w->oracle->reach, least = size - gap;

    *distance = sqrt(size);
    if (*distance <= reach || size <= 1e-30 * w->oracle->scale)
        return DONE;
    if (reach >= 0.0 && least > reach * *distance * (1.0 + 1e-9)) { /* a hyperplane beyond reach separates x */
        *distance = least / *distance;
        return DONE;
    }
    if (gap <= 1e-15 * sqrt(w->oracle->scale) * *distance)
        return DONE;
    if (fmin(*distance, gap / *distance) <= w->oracle->near && w->oracle->near > 0.0)
        return DONE;
    return is_member(w) ? STUCK : GOING;
}

/* `next` enters, for which there is room, and y moves to the new minimiser. */
static progress major_step(wolfe *w, double *size)
{
    double before = *size;

    (void)enter(w, 0.0);
    do {
        if (!affine_minimiser(w)) { /* numerically dependent */
            *size = refresh_point(w);
            return STUCK;
        }
    } while (!step_to_trial(w));
    *size = refresh_minimiser(w);
    return *size < before ? GOING : STUCK;
}

static pn_status find_next_and_gap(wolfe *w, double *gap, pn_err *err)
{
    pn_status status = find_next(w, err);

    if (status == PN_OK)
        *gap = gap_of(w);
    return status;
}

/* The corral has become dependent: its minimiser alone, which is a point of the set, takes its place. */
static void start_over(wolfe *w)
{
    memcpy(point_of(w, 0), w->y, w->dim * sizeof *w->y);
    w->weight[0] = 1.0;
    w->count = 1;
    w->factored = 0;
}

static pn_status iterate(wolfe *w, double *distance, pn_err *err)
{
    double size = refresh_point(w), gap = INFINITY, enough = w->oracle->gap;
    progress state = GOING;
    size_t turn = 0, restarts = 0;

    for (; state == GOING && turn < w->oracle->limit; turn++) {
        pn_status status = pn_stop_asked(err);

        if (status == PN_OK)
            status = find_next_and_gap(w, &gap, err);
        if (status != PN_OK)
            return status;
        state = judge(w, size, gap, distance);
        if (state == GOING && !make_room(w))
            return pn_fail(err, PN_ENOMEM, "%s: out of memory", w->oracle->owner);
        if (state != GOING)
            break;
        state = major_step(w, &size);
        *distance = sqrt(size);
        if (state == STUCK && isfinite(enough) && (status = find_next_and_gap(w, &gap, err)) != PN_OK)
            return status;
        if (state == STUCK && isfinite(enough) && gap > enough && restarts++ < MOST_RESTARTS) {
            start_over(w);
            state = GOING;
        }
    }
    if (state == DONE || (state == STUCK && isinf(enough)))
        return PN_OK;
    if (gap <= enough && isfinite(enough)) {
        if (w->oracle->reach >= 0.0) /* no plane was found that separates x by more */
            *distance = fmin(*distance, w->oracle->reach);
        return PN_OK;
    }
    return pn_fail(err, PN_ENUMERIC, "%s: the nearest point was not found in %zu steps: the duality gap stays at %.3g",
                   w->oracle->owner, turn, gap);
}

pn_status pn_nearest_by(double *residual, double *distance, const pn_least_oracle *oracle, const double *x,
                        const double *start, pn_err *err)
{
    wolfe w = { .oracle = oracle, .x = x, .dim = oracle->dim, .y = residual };
    pn_status status = PN_OK;

    w.next = pn_alloc(w.dim, sizeof *w.next);
    for (size_t j = 0; w.next && j < w.dim; j++)
        w.next[j] = start[j] - x[j];
    if (!w.next || !enter(&w, 1.0))
        status = pn_fail(err, PN_ENOMEM, "%s: out of memory", oracle->owner);
    if (status == PN_OK)
        status = iterate(&w, distance, err);
    pn_free(w.next);
    pn_free(w.points);
    pn_free(w.basis);
    pn_free(w.columns);
    pn_free(w.along);
    pn_free(w.weight);
    pn_free(w.trial);
    return status;
}

/* ---- the rows of a matrix ---- */

typedef struct row_search {
    pn_mat vertices;
    double *product; /* [rows] */
} row_search;

static pn_status least_row(void *self, const double *y, double *point, pn_err *err)
{
    row_search *rows = self;
    pn_mat v = rows->vertices;
    size_t best = 0;

    (void)err;
    pn_simd_best()->dense_times(v.data, v.rows, v.cols, y, rows->product);
    for (size_t i = 1; i < v.rows; i++)
        best = rows->product[i] < rows->product[best] ? i : best;
    memcpy(point, v.data + best * v.cols, v.cols * sizeof *point);
    return PN_OK;
}

static double squared_distance(const double *v, const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += (v[j] - x[j]) * (v[j] - x[j]);
    return sum;
}

pn_status pn_nearest_point(double *residual, double *distance, pn_mat vertices, const double *x, double reach,
                           pn_err *err)
{
    row_search rows = { vertices, pn_alloc(vertices.rows, sizeof *rows.product) };
    pn_least_oracle oracle = { .self = &rows, .dim = vertices.cols, .least = least_row, .reach = reach };
    double least = INFINITY;
    size_t nearest = 0;
    pn_status status;

    PN_TRY(pn_made(rows.product, err, "polytope: out of memory"));
    for (size_t i = 0; i < vertices.rows; i++) {
        double size = squared_distance(vertices.data + i * vertices.cols, x, vertices.cols);

        oracle.scale = fmax(oracle.scale, size);
        nearest = size < least ? i : nearest;
        least = fmin(size, least);
    }
    if (!(oracle.scale > 0.0))
        oracle.scale = 1.0; /* every vertex is x */
    oracle.gap = INFINITY;
    oracle.limit = 1000 + 20 * (vertices.rows + vertices.cols);
    oracle.owner = "polytope";
    status = pn_nearest_by(residual, distance, &oracle, x, vertices.data + nearest * vertices.cols, err);
    pn_free(rows.product);
    return status;
}
