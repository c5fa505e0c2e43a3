/* active_set.c -- the dual active-set method of Goldfarb and Idnani for a Euclidean distance, and linear programs by
 * it.  x = z - sum w_i a_i with w >= 0 on the active rows; the most violated row enters,
 * and rows whose weight would turn negative
 * leave.  Active rows are kept as Q R, orthogonalised twice, and are rebuilt when one leaves.
 * Depends on: active_set.h, blas.h.  Used by: polyhedron.c, polytope.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/kernels/active_set.h"
#include "numeric/blas.h"

#define DEPENDENT 1e-11 /* a unit row this near to the span of others belongs to it */

typedef struct search {
    pn_inequalities in;
    size_t dim, room; /* room = min(rows, dim) + 1 */
    size_t count;     /* active rows */
    size_t *active;   /* [room] */
    double *weight;   /* [room] of the active rows */
    double *step;     /* [room] how fast the weights fall */
    double *x, *d;    /* [dim] */
    double *Q;        /* [room * dim] orthonormal rows */
    double *R;        /* [room * room], column i (row i here) holds <q_j, a_i>, j <= i */
    double *block;
} search;

static const double *row_of(const search *s, size_t i)
{
    return s->in.A.data + i * s->dim;
}

static double right_side(const search *s, size_t i)
{
    return s->in.b ? s->in.b[i] : 0.0;
}

/* rest <- what is left of `rest` beside Q; along[count] <- its inner products with Q.
 * Returns the length of the rest. */
static double orthogonalise(const search *s, size_t count, double *rest, double *along)
{
    memset(along, 0, count * sizeof *along);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < count; j++) {
            double product = pn_dot(s->dim, s->Q + j * s->dim, rest);

            along[j] += product;
            pn_axpy(s->dim, -product, s->Q + j * s->dim, rest);
        }
    }
    return pn_lp_norm(PN_L2, s->dim, rest);
}

/* Row `at` of the active list into Q and R. */
static void factor_row(search *s, size_t at)
{
    double *q = s->Q + at * s->dim, *r = s->R + at * s->room, length;

    memcpy(q, row_of(s, s->active[at]), s->dim * sizeof *q);
    length = orthogonalise(s, at, q, r);
    r[at] = length;
    for (size_t j = 0; j < s->dim; j++)
        q[j] /= length;
}

static void drop(search *s, size_t at)
{
    s->count--;
    for (size_t i = at; i < s->count; i++) {
        s->active[i] = s->active[i + 1];
        s->weight[i] = s->weight[i + 1];
    }
    for (size_t i = at; i < s->count; i++)
        factor_row(s, i);
}

/* d <- the part of row p beside the active rows, step <- the weights of the other part; returns |d|. */
static double directions(search *s, size_t p)
{
    double length;

    memcpy(s->d, row_of(s, p), s->dim * sizeof *s->d);
    length = orthogonalise(s, s->count, s->d, s->step);
    for (size_t i = s->count; i-- > 0;) { /* R step = Q a_p, R upper triangular by columns */
        s->step[i] /= s->R[i * s->room + i];
        for (size_t j = 0; j < i; j++)
            s->step[j] -= s->R[i * s->room + j] * s->step[i];
    }
    return length;
}

/* The row that x violates most, or the number of rows. */
static size_t most_violated(const search *s, double tolerance, double *by)
{
    size_t worst = s->in.A.rows;

    *by = tolerance;
    for (size_t i = 0; i < s->in.A.rows; i++) {
        double off = pn_dot(s->dim, row_of(s, i), s->x) - right_side(s, i);

        if (off > *by) {
            *by = off;
            worst = i;
        }
    }
    return worst;
}

/* The active row whose weight is first to reach 0, or count. */
static size_t first_to_leave(const search *s, double *limit)
{
    size_t first = s->count;

    *limit = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        if (s->step[i] > DBL_EPSILON && s->weight[i] / s->step[i] < *limit) {
            *limit = s->weight[i] / s->step[i];
            first = i;
        }
    }
    return first;
}

/* Row p enters, after as many rows have left as must.  False: the rows contradict each other. */
static bool enter(search *s, size_t p)
{
    double entering = 0.0;

    for (;;) {
        double length = directions(s, p), limit, full = INFINITY, t;
        size_t first = first_to_leave(s, &limit);
        bool moves = length > DEPENDENT && s->count < s->dim;

        if (moves)
            full = fmax(pn_dot(s->dim, row_of(s, p), s->x) - right_side(s, p), 0.0) / (length * length);
        t = fmin(limit, full);
        if (isinf(t))
            return false;
        if (moves)
            pn_axpy(s->dim, -t, s->d, s->x);
        for (size_t i = 0; i < s->count; i++)
            s->weight[i] = fmax(s->weight[i] - t * s->step[i], 0.0);
        entering += t;
        if (full <= limit) {
            s->active[s->count] = p;
            s->weight[s->count] = entering;
            factor_row(s, s->count++);
            return true;
        }
        drop(s, first);
    }
}

/* Steps have rounded: move x onto the active planes, within the span of their normals. */
static void settle(search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const double *r = s->R + i * s->room;
        double off = pn_dot(s->dim, row_of(s, s->active[i]), s->x) - right_side(s, s->active[i]);

        /* what the earlier planes need is done: q_i is orthogonal to them */
        pn_axpy(s->dim, -off / r[i], s->Q + i * s->dim, s->x);
    }
}

static pn_status open_search(search *s, pn_inequalities in, pn_err *err)
{
    size_t rows = in.A.rows, dim = in.A.cols, room = (rows < dim ? rows : dim) + 1;

    *s = (search){ .in = in, .dim = dim, .room = room };
    s->block = pn_alloc(2 * room + 2 * dim + room * dim + room * room, sizeof *s->block);
    s->active = pn_alloc(room, sizeof *s->active);
    PN_TRY(pn_made(s->block && s->active, err, "polyhedron: out of memory for %zu x %zu", rows, dim));
    s->weight = s->block;
    s->step = s->weight + room;
    s->x = s->step + room;
    s->d = s->x + dim;
    s->Q = s->d + dim;
    s->R = s->Q + room * dim;
    return PN_OK;
}

static pn_status iterate(search *s, bool *empty, pn_err *err)
{
    size_t limit = 1000 + 50 * (s->in.A.rows + s->dim);
    double size = pn_lp_norm(PN_L2, s->dim, s->x), tolerance, by;

    if (s->in.b)
        size = fmax(size, pn_lp_norm(PN_LINF, s->in.A.rows, s->in.b));
    tolerance = 1e-13 * size;
    for (size_t turn = 0; turn < limit; turn++) {
        size_t p = most_violated(s, tolerance, &by);

        PN_TRY(pn_stop_asked(err));
        if (p == s->in.A.rows)
            return PN_OK;
        if (!enter(s, p)) {
            *empty = true;
            return PN_OK;
        }
        settle(s);
    }
    return pn_fail(err, PN_ENUMERIC, "polyhedron: the nearest point was not found in %zu steps", limit);
}

pn_status pn_nearest_in(double *x, double *weight, bool *empty, pn_inequalities in, pn_err *err)
{
    search s;
    pn_status status = open_search(&s, in, err);

    *empty = false;
    if (status == PN_OK) {
        memcpy(s.x, x, s.dim * sizeof *x);
        status = iterate(&s, empty, err);
    }
    if (status == PN_OK && !*empty) {
        memcpy(x, s.x, s.dim * sizeof *x);
        if (weight)
            memset(weight, 0, in.A.rows * sizeof *weight);
        for (size_t i = 0; weight && i < s.count; i++)
            weight[s.active[i]] = s.weight[i];
    }
    pn_free(s.block);
    pn_free(s.active);
    return status;
}

/* ---- linear programs ---- */

/* <c, x> has a maximum when no direction of { A x <= 0 } goes along c, that is when c projects to 0 there (Moreau). */
static pn_status has_maximum(bool *found, const double *c, double length, pn_inequalities in, double *scratch,
                             pn_err *err)
{
    pn_inequalities recession = { in.A, NULL };
    bool empty;
    pn_status status;

    memcpy(scratch, c, in.A.cols * sizeof *c);
    status = pn_nearest_in(scratch, NULL, &empty, recession, err);
    *found = status == PN_OK && pn_lp_norm(PN_L2, in.A.cols, scratch) <= 1e-11 * length;
    return status;
}

/* x <- nearest to x + t c until it stays: then t c is a sum of active rows with weights >= 0,
 * which proves the maximum. */
static pn_status climb(double *x, double *weight, const double *c, double length, pn_inequalities in, double *before,
                       pn_err *err)
{
    size_t dim = in.A.cols;
    double unit = in.b ? pn_lp_norm(PN_LINF, in.A.rows, in.b) : 0.0, t = fmax(unit, pn_lp_norm(PN_L2, dim, x));

    t = t > 0.0 ? t : 1.0;
    for (int turn = 0; turn < 200; turn++) {
        double moved;
        bool empty;
        pn_status status;

        memcpy(before, x, dim * sizeof *x);
        pn_axpy(dim, t / length, c, x);
        status = pn_nearest_in(x, weight, &empty, in, err);
        if (status != PN_OK)
            return status;
        pn_axpy(dim, -1.0, x, before);
        moved = pn_lp_norm(PN_L2, dim, before);
        if (empty || moved <= 1e-12 * fmax(pn_lp_norm(PN_L2, dim, x), t)) {
            for (size_t i = 0; weight && i < in.A.rows; i++)
                weight[i] *= length / t;
            return PN_OK;
        }
        t *= turn < 12 ? 4.0 : 1.0;
    }
    return pn_fail(err, PN_ENUMERIC, "polyhedron: the support point was not found in 200 steps");
}

pn_status pn_maximise_in(double *value, double *x, double *weight, const double *c, pn_inequalities in, pn_err *err)
{
    size_t dim = in.A.cols;
    double *scratch = pn_alloc(2 * dim, sizeof *scratch), *trial, length = pn_lp_norm(PN_L2, dim, c);
    bool found = false;
    pn_status status;

    PN_TRY(pn_made(scratch, err, "polyhedron: out of memory for %zu coordinates", dim));
    trial = scratch + dim;
    memcpy(trial, x, dim * sizeof *x);
    status = has_maximum(&found, c, length, in, scratch, err);
    if (status == PN_OK && found && length > 0.0)
        status = climb(trial, weight, c, length, in, scratch, err);
    else if (status == PN_OK && found && weight)
        memset(weight, 0, in.A.rows * sizeof *weight);
    if (status == PN_OK && found)
        memcpy(x, trial, dim * sizeof *x);
    if (status == PN_OK)
        *value = found ? pn_dot(dim, c, x) : INFINITY;
    pn_free(scratch);
    return status;
}
