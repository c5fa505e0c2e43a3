/* l1_quadratic.c -- active sets for a quadratic plus l1 ||u||_1.  Depends on: l1_quadratic.h.
 * Used by: newton_descent.c.
 *
 * Two things in turn.  Sweeps of coordinate descent, or without the matrix a proximal gradient step, set coordinates to
 * 0 and free others.  Then the signs of the coordinates that are not 0 are held, on which face the function is
 * quadratic: conjugate gradients go to its minimum there.  Where a sign would change, the coordinate stops at 0, and
 * the longest of a few halved steps is taken that way with which the function falls; else the step ends where the first
 * sign changes.  The function falls every time; once the face is that of the minimum, conjugate gradients alone find
 * it.  Without l1 there is one face, and nothing else to do. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "minimise/l1_quadratic.h"

#define SWEEPS   8     /* of coordinates, as one round: chosen on a9a at l1 = 1/n, where 1, 2 and 4 took longer */
#define ROUNDING 1e-16 /* of all that the function has fallen by: a round that gains less is the last */
#define FLAT     1e-14 /* of the steepest curvature: rounding, in a direction along which the function does not bend */
#define SHARE    0.01  /* of the residual on a face, that conjugate gradients leave before signs are looked at again */

typedef struct search {
    const pn_l1_quadratic *of;
    size_t p, products;
    double *u, *slope;                                      /* [p] the caller's */
    double *least, *step, *image, *residual, *along, *bent; /* [p] each, one block with the rest; image = A step */
    double fall;                                            /* of the function since the start */
    double length; /* of proximal steps: A <= length diag(scale), as far as seen */
} search;

#define VECTORS 6

double pn_least_subgradient(size_t p, const double *u, const double *slope, double l1, double *out)
{
    for (size_t j = 0; j < p; j++) {
        if (u[j] != 0.0)
            out[j] = slope[j] + (u[j] > 0.0 ? l1 : -l1);
        else
            out[j] = slope[j] > l1 ? slope[j] - l1 : slope[j] < -l1 ? slope[j] + l1 : 0.0;
    }
    return pn_lp_norm(PN_L2, p, out);
}

static pn_status times(search *at, const double *v, double *out, pn_err *err)
{
    pn_status status = pn_task_stopped(at->of->task, at->of->owner, err);

    at->products++;
    if (status != PN_OK || !at->of->matrix)
        return status == PN_OK ? at->of->times(at->of->self, v, out, err) : status;
    pn_mat_times_vec((pn_mat){ at->of->matrix, at->p, at->p }, v, out);
    return PN_OK;
}

/* How much the function grows from u to u + step, image = A step. */
static double growth(const search *at)
{
    double sum = 0.0;

    for (size_t j = 0; j < at->p; j++)
        sum += at->of->l1 * (fabs(at->u[j] + at->step[j]) - fabs(at->u[j]));
    return sum + pn_dot(at->p, at->slope, at->step) + 0.5 * pn_dot(at->p, at->step, at->image);
}

static void take(search *at)
{
    at->fall -= growth(at);
    pn_axpy(at->p, 1.0, at->step, at->u);
    pn_axpy(at->p, 1.0, at->image, at->slope);
}

/* ---- coordinates that become 0 or leave it ---- */

static double soft(double x, double threshold)
{
    return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
}

/* Each coordinate by itself to its minimum, as long as a product takes. */
static void sweep(search *at)
{
    size_t p = at->p;

    for (size_t j = 0; j < p; j++) {
        const double *row = at->of->matrix + j * p;
        double to = row[j] > 0.0 ? soft(at->u[j] - at->slope[j] / row[j], at->of->l1 / row[j]) : at->u[j];

        double by = to - at->u[j];

        if (by == 0.0)
            continue;
        at->fall -= by * (at->slope[j] + 0.5 * row[j] * by) + at->of->l1 * (fabs(to) - fabs(at->u[j]));
        pn_axpy(p, by, row, at->slope);
        at->u[j] = to;
    }
    at->products++;
}

/* Its length is right once <step, A step> <= length <step, diag(scale) step>. */
static pn_status proximal_step(search *at, pn_err *err)
{
    const double *scale = at->of->scale;

    for (int tries = 0; tries < 60; tries++) {
        double bend, size = 0.0;
        pn_status status;

        for (size_t j = 0; j < at->p; j++) {
            double weight = at->length * scale[j];

            at->step[j] = soft(at->u[j] - at->slope[j] / weight, at->of->l1 / weight) - at->u[j];
            size += scale[j] * at->step[j] * at->step[j];
        }
        status = times(at, at->step, at->image, err);
        if (status != PN_OK)
            return status;
        bend = pn_dot(at->p, at->step, at->image);
        if (!(bend > at->length * size * (1.0 + 1e-12)))
            break;
        at->length = fmax(2.0 * at->length, bend / size);
    }
    take(at);
    return PN_OK;
}

static pn_status change_face(search *at, pn_err *err)
{
    if (!at->of->matrix)
        return proximal_step(at, err);
    for (int i = 0; i < SWEEPS; i++)
        sweep(at);
    return pn_task_stopped(at->of->task, at->of->owner, err);
}

/* ---- conjugate gradients on a face ---- */

static bool on_face(const search *at, size_t j)
{
    return at->of->l1 == 0.0 || at->u[j] != 0.0;
}

/* <x, diag(scale) x> */
static double squared(const search *at, const double *x)
{
    double sum = 0.0;

    for (size_t j = 0; j < at->p; j++)
        sum += at->of->scale[j] * x[j] * x[j];
    return sum;
}

/* The product of the residual and the residual over scale. */
static double precondition(search *at)
{
    double sum = 0.0;

    for (size_t j = 0; j < at->p; j++)
        sum += at->residual[j] * (at->residual[j] / at->of->scale[j]);
    return sum;
}

static void turn(search *at, double weight)
{
    for (size_t j = 0; j < at->p; j++)
        at->along[j] = at->residual[j] / at->of->scale[j] + weight * at->along[j];
}

/* Whether the step changes a sign. */
static bool crosses(const search *at)
{
    for (size_t j = 0; at->of->l1 > 0.0 && j < at->p; j++) {
        if (at->u[j] * (at->u[j] + at->step[j]) < 0.0)
            return true;
    }
    return false;
}

/* Where the function falls along a direction in which it does not bend, l1 ends the fall when signs change: step += as
 * much of it as all of those changes take. */
static void follow(search *at)
{
    double last = 0.0;

    for (size_t j = 0; at->of->l1 > 0.0 && j < at->p; j++) {
        double to = at->u[j] + at->step[j];

        if (to * at->along[j] < 0.0 && to * at->u[j] > 0.0)
            last = fmax(last, 2.0 * to / -at->along[j]);
    }
    pn_axpy(at->p, last, at->along, at->step);
    pn_axpy(at->p, last, at->bent, at->image);
}

/* step = about the way to the minimum on the face of u, image = A step. */
static pn_status face_step(search *at, pn_err *err)
{
    double norm, enough, product, steepest = 0.0, size;

    memset(at->step, 0, at->p * sizeof *at->step);
    memset(at->image, 0, at->p * sizeof *at->image);
    for (size_t j = 0; j < at->p; j++)
        at->residual[j] = on_face(at, j) ? -at->least[j] : 0.0;
    norm = pn_lp_norm(PN_L2, at->p, at->residual);
    enough = fmax(0.5 * at->of->tolerance, SHARE * (at->of->l1 > 0.0 ? norm : 0.0));
    product = precondition(at);
    memset(at->along, 0, at->p * sizeof *at->along);
    turn(at, 0.0);
    while (norm > enough && norm < INFINITY && at->products < at->of->most && !crosses(at)) {
        pn_status status = times(at, at->along, at->bent, err);
        double bend = pn_dot(at->p, at->along, at->bent), next;

        if (status != PN_OK)
            return status;
        size = squared(at, at->along);
        steepest = fmax(steepest, bend / size);
        if (!(bend > FLAT * steepest * size)) {
            follow(at);
            break;
        }
        pn_axpy(at->p, product / bend, at->along, at->step);
        pn_axpy(at->p, product / bend, at->bent, at->image);
        for (size_t j = 0; j < at->p; j++)
            at->residual[j] -= on_face(at, j) ? product / bend * at->bent[j] : 0.0;
        next = precondition(at);
        turn(at, next / product);
        for (size_t j = 0; j < at->p; j++)
            at->along[j] = on_face(at, j) ? at->along[j] : 0.0;
        product = next;
        norm = pn_lp_norm(PN_L2, at->p, at->residual);
    }
    return PN_OK;
}

/* The part of the step until the first sign changes, 1 where none does. */
static double until_first(const search *at, size_t *first)
{
    double part = 1.0;

    *first = at->p;
    for (size_t j = 0; j < at->p; j++) {
        if (at->u[j] * (at->u[j] + at->step[j]) < 0.0 && -at->u[j] / at->step[j] < part) {
            part = -at->u[j] / at->step[j];
            *first = j;
        }
    }
    return part;
}

/* Take the step, signs kept. */
static pn_status take_kept(search *at, pn_err *err)
{
    size_t first;
    double part = at->of->l1 > 0.0 ? until_first(at, &first) : 1.0;

    if (part == 1.0) {
        take(at);
        return PN_OK;
    }
    memcpy(at->residual, at->step, at->p * sizeof *at->step);
    memcpy(at->along, at->image, at->p * sizeof *at->image);
    for (double size = 1.0; size > part; size *= 0.5) {
        pn_status status;

        for (size_t j = 0; j < at->p; j++) {
            at->step[j] = size * at->residual[j];
            if (at->u[j] * (at->u[j] + at->step[j]) < 0.0)
                at->step[j] = -at->u[j];
        }
        status = times(at, at->step, at->image, err);
        if (status != PN_OK)
            return status;
        if (growth(at) < 0.0) {
            take(at);
            return PN_OK;
        }
    }
    for (size_t j = 0; j < at->p; j++) {
        at->step[j] = j == first ? -at->u[j] : part * at->residual[j];
        at->image[j] = part * at->along[j];
    }
    take(at);
    return PN_OK;
}

/* ---- both in turn ---- */

static pn_status alternate(search *at, pn_err *err)
{
    double norm = pn_least_subgradient(at->p, at->u, at->slope, at->of->l1, at->least), before = -1.0;
    pn_status status = PN_OK;

    while (status == PN_OK && norm > at->of->tolerance && at->products < at->of->most &&
           at->fall - before > ROUNDING * at->fall) {
        before = at->fall;
        if (at->of->l1 > 0.0)
            status = change_face(at, err);
        (void)pn_least_subgradient(at->p, at->u, at->slope, at->of->l1, at->least);
        if (status == PN_OK)
            status = face_step(at, err);
        if (status == PN_OK)
            status = take_kept(at, err);
        norm = pn_least_subgradient(at->p, at->u, at->slope, at->of->l1, at->least);
    }
    return status;
}

pn_status pn_l1_quadratic_minimise(const pn_l1_quadratic *of, double *u, double *slope, pn_err *err)
{
    size_t p = of->p;
    search at = {
        .of = of, .p = p, .u = u, .slope = slope, .least = pn_alloc(VECTORS, p * sizeof(double)), .length = 1.0
    };
    pn_status status;

    PN_TRY(pn_made(at.least, err, "%s: out of memory for %zu coordinates", of->owner, p));
    at.step = at.least + p;
    at.image = at.least + 2 * p;
    at.residual = at.least + 3 * p;
    at.along = at.least + 4 * p;
    at.bent = at.least + 5 * p;
    status = alternate(&at, err);
    pn_free(at.least);
    return status;
}
