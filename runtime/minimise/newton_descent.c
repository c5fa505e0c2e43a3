/* newton_descent.c -- Newton steps for a smooth convex function plus l1 ||x||_1.
 * Depends on: newton_descent.h, l1_quadratic.h.
 * Used by: exact.c.
 *
 * A step goes towards the minimum of the quadratic that the function looks like at x, plus l1 ||.||_1 as it is, and is
 * halved until it is not overshot: along a convex function the slope at the new point tells that, and unlike values it
 * does not drown in rounding near the
 * minimum.  The Hessian is formed where that costs no more than the products that conjugate gradients would ask for:
 * all of it, or with l1 the rows and columns of a working set, the coordinates that are not 0 and of the others those
 * that have left 0's conditions farthest; the rest stays 0 in that step, and the next gradient tells which of them
 * should not have.  Else each product is a pass over the records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/symmetric.h"
#include "objective/passes/second_order.h"
#include "minimise/l1_quadratic.h"
#include "minimise/newton_descent.h"

/* How many coordinates join a working set, beside as many as are not 0: chosen on reuters,
 * where 50 to 200 took longer. */
#define NEW_MOST 25

#define DIRECT_MAX 2048 /* parameters up to which the Hessian may be formed */
#define PRODUCTS   30   /* passes that a formed Hessian may cost */
#define CG_STEPS   250  /* products that are passes, a Newton step */
#define HALVINGS   30
#define IDLE       10 /* steps in which the subgradient may fail to get smaller */

typedef struct search {
    const pn_newton_descent *how;
    size_t p;
    double *x, *g, *least, *trial, *trial_g, *model, *scale; /* [p] each, one block */
    bool whole;                                              /* the Hessian is formed in full */
    size_t *columns, count;                                  /* [count] of the working set */
    double *matrix;                                          /* [count * count], of it; NULL: there are products only */
    double norm;                                             /* of the least subgradient */
    double damping;                                          /* added to the Hessian's diagonal */
} search;

#define VECTORS 7

/* ---- the Hessian ---- */

/* Whether `count` rows and columns of the Hessian cost at most so many products with it.  Multiply-adds a record; a
 * second derivative counts as 20, and BLAS, which dense records in full go through, is 8 times as fast. */
static bool worth_forming(const pn_objective *objective, size_t count, double products)
{
    const pn_dataset *data = pn_objective_data(objective);
    double margins = (double)pn_objective_loss(objective)->margins, most = (double)count / margins;
    double stored =
        data->sparse && data->csr.start ? (double)data->csr.start[data->n] / (double)data->n : (double)data->p;
    double entries = fmin(stored, most), speed = !data->sparse && count == pn_objective_dim(objective) ? 8.0 : 1.0;
    double forming = margins * (margins + 1.0) / 2.0 * entries * entries / 2.0 / speed;

    return count <= DIRECT_MAX && forming <= products * margins * (4.0 * stored + 20.0);
}

static pn_status form_whole(search *at, pn_err *err)
{
    pn_objective *objective = at->how->objective;
    double *packed = pn_alloc(pn_packed_size(at->p), sizeof(double));
    pn_status status = packed ? pn_objective_quadratic(objective, NULL, at->x, NULL, NULL, packed, at->how->task, err)
                              : pn_fail(err, PN_ENOMEM, "%s: out of memory for %zu coordinates", at->how->owner, at->p);

    if (status == PN_OK)
        status = pn_objective_add_regular_hessian(objective, at->x, packed, err);
    if (status == PN_OK)
        pn_packed_unpack(packed, at->p, at->matrix);
    pn_free(packed);
    return status;
}

/* The matrix of the working set, and `scale`, its diagonal kept from 0. */
static pn_status form(search *at, pn_err *err)
{
    size_t count = at->count;
    double largest = 0.0;
    pn_status status;

    at->matrix = pn_alloc(count, count * sizeof(double));
    PN_TRY(pn_made(at->matrix, err, "%s: out of memory for a Hessian of order %zu", at->how->owner, count));
    if (at->whole)
        status = form_whole(at, err);
    else
        status =
            pn_objective_hessian_columns(at->how->objective, at->x, at->columns, count, at->matrix, at->how->task, err);
    for (size_t k = 0; status == PN_OK && k < count; k++) {
        at->matrix[k * count + k] += at->damping + (at->whole ? 0.0 : at->how->l2);
        largest = fmax(largest, at->matrix[k * count + k]);
    }
    for (size_t k = 0; status == PN_OK && k < count; k++)
        at->scale[k] = largest > 0.0 ? fmax(at->matrix[k * count + k], 1e-10 * largest) : 1.0;
    return status;
}

/* out = (H + damping) v */
static pn_status hessian_times(void *self, const double *v, double *out, pn_err *err)
{
    search *at = self;
    pn_status status = pn_objective_hessian_times(at->how->objective, NULL, at->x, v, out, at->how->task, err);

    if (status == PN_OK && at->damping > 0.0)
        pn_axpy(at->p, at->damping, v, out);
    return status;
}

/* ---- the working set ---- */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* The least part of its subgradient that brings a coordinate which is 0 into the set; `room` [p]. */
static double threshold(const search *at, double *room)
{
    size_t held = 0, outside = 0;

    for (size_t j = 0; j < at->p; j++) {
        held += at->x[j] != 0.0;
        if (at->x[j] == 0.0 && at->least[j] != 0.0)
            room[outside++] = fabs(at->least[j]);
    }
    if (outside <= held + NEW_MOST)
        return 0.0;
    qsort(room, outside, sizeof *room, falling);
    return room[held + NEW_MOST];
}

/* All coordinates, unless the Hessian is worth forming for some of them only. */
static void choose(search *at)
{
    double above = !at->whole && at->columns ? threshold(at, at->model) : 0.0;

    at->count = at->p;
    if (at->whole || !at->columns)
        return;
    at->count = 0;
    for (size_t j = 0; j < at->p; j++) {
        if (at->x[j] != 0.0 || fabs(at->least[j]) > above)
            at->columns[at->count++] = j;
    }
    if (!worth_forming(at->how->objective, at->count, CG_STEPS))
        at->count = at->p;
}

/* ---- a step ---- */

/* trial = about the minimum of the model over the working set.  What is left of its subgradient falls faster than that
 * of the function. */
static pn_status minimise_model(search *at, double share, pn_err *err)
{
    bool some = at->count < at->p;
    double *u = some ? at->least : at->trial;
    pn_l1_quadratic model = { .owner = at->how->owner,
                              .p = at->count,
                              .times = hessian_times,
                              .self = at,
                              .matrix = at->matrix,
                              .scale = at->scale,
                              .l1 = at->how->l1,
                              .task = at->how->task,
                              .tolerance = share * at->norm,
                              .most = at->matrix ? 20 * at->count + 200 : CG_STEPS };
    pn_status status;

    memcpy(at->trial, at->x, at->p * sizeof(double));
    for (size_t k = 0; k < at->count; k++) {
        u[k] = at->x[some ? at->columns[k] : k];
        at->model[k] = at->g[some ? at->columns[k] : k];
    }
    status = pn_l1_quadratic_minimise(&model, u, at->model, err);
    for (size_t k = 0; some && k < at->count; k++)
        at->trial[at->columns[k]] = u[k];
    return status;
}

static pn_status find_target(search *at, double first, pn_err *err)
{
    double share;
    pn_status status = PN_OK;

    choose(at);
    if (at->whole || at->count < at->p)
        status = form(at, err);
    for (size_t j = 0; !at->matrix && j < at->p; j++)
        at->scale[j] = 1.0;
    share = at->matrix ? fmin(1e-2, fmax(at->norm / first, 1e-4)) : fmin(0.1, fmax(sqrt(at->norm / first), 1e-3));
    if (status == PN_OK)
        status = minimise_model(at, share, err);
    pn_free(at->matrix);
    at->matrix = NULL;
    return status;
}

/* The one-sided derivative along step[p] of l1 ||.||_1, leaving x or arriving there. */
static double kink_slope(const search *at, const double *x, const double *step, double side)
{
    double sum = 0.0;

    for (size_t j = 0; at->how->l1 > 0.0 && j < at->p; j++)
        sum += x[j] > 0.0 ? step[j] : x[j] < 0.0 ? -step[j] : side * fabs(step[j]);
    return at->how->l1 * sum;
}

/* The step to `trial`, in `model`, halved until it is not overshot; *moved is false when no part of it helps. */
static pn_status line_search(search *at, bool *moved, int *halved, pn_err *err)
{
    double *step = at->model, slope;

    for (size_t j = 0; j < at->p; j++)
        step[j] = at->trial[j] - at->x[j];
    slope = pn_dot(at->p, at->g, step) + kink_slope(at, at->x, step, 1.0);
    *moved = false;
    for (*halved = 0; slope < 0.0 && *halved < HALVINGS && !*moved; ++*halved) {
        pn_status status;

        if (*halved > 0) {
            double size = ldexp(1.0, -*halved);

            for (size_t j = 0; j < at->p; j++)
                at->trial[j] = at->x[j] + size * step[j];
        }
        if (pn_lp_norm(PN_LINF, at->p, at->trial) < INFINITY) {
            status = at->how->gradient(at->how->self, at->trial, at->trial_g, err);
            if (status != PN_OK)
                return status;
            *moved = pn_dot(at->p, at->trial_g, step) + kink_slope(at, at->trial, step, -1.0) <= -0.5 * slope;
        }
    }
    return PN_OK;
}

static void advance(search *at)
{
    double *x = at->x, *g = at->g;

    at->x = at->trial;
    at->g = at->trial_g;
    at->trial = x;
    at->trial_g = g;
    at->norm = pn_least_subgradient(at->p, at->x, at->g, at->how->l1, at->least);
}

/* Where steps are overshot the Hessian is raised, as by Levenberg, from a part of its size along the step. */
static void adapt_damping(search *at, int halved)
{
    double largest = pn_lp_norm(PN_LINF, at->p, at->scale);

    if (halved > 2)
        at->damping = fmax(8.0 * at->damping, 1e-4 * largest);
    else
        at->damping = at->damping > 1e-8 * largest ? at->damping / 8.0 : 0.0;
}

static pn_status tell(const search *at, size_t step, double certificate, pn_err *err)
{
    const pn_progress now = {
        at->how->label, (double)step, 0.0, isfinite(certificate) ? certificate : NAN, NAN, NAN, NULL
    };

    return pn_task_tell(at->how->task, &now, err);
}

static pn_status iterate(search *at, pn_verdict *verdict, size_t *steps, pn_err *err)
{
    const pn_newton_descent *how = at->how;
    double certificate = NAN, first, best = INFINITY;
    bool moved = false;
    int halved = 0, idle = 0;
    pn_status status = how->gradient(how->self, at->x, at->g, err);

    first = at->norm = pn_least_subgradient(at->p, at->x, at->g, how->l1, at->least);
    for (*steps = 0; status == PN_OK && idle < IDLE && at->norm < INFINITY; ++*steps) {
        status = how->judge(how->self, at->x, at->g, at->norm, verdict, &certificate, err);
        if (status != PN_OK || *verdict != PN_GO_ON || *steps == how->most_steps)
            return status;
        status = tell(at, *steps, certificate, err);
        if (status == PN_OK)
            status = find_target(at, first, err);
        if (status == PN_OK)
            status = line_search(at, &moved, &halved, err);
        if (status == PN_OK && moved)
            advance(at);
        idle = at->norm < best ? 0 : idle + 1;
        best = fmin(best, at->norm);
        adapt_damping(at, moved ? halved : HALVINGS);
    }
    return status;
}

/* ---- all together ---- */

pn_status pn_newton_suits(const pn_objective *objective, bool *suits, double *l1, double *l2, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_loss *loss = pn_objective_loss(objective);
    const pn_regulariser *reg = pn_objective_regulariser(objective);
    pn_prox *kinks = NULL;
    pn_prox_net net;
    pn_status status;

    *l1 = *l2 = 0.0;
    *suits = loss->margins > 0 && loss->ops->curve && bounds->loss.smooth && bounds->convex &&
             pn_objective_clip(objective) == 0.0;
    if (!*suits || !reg || isfinite(bounds->reg.largest_curvature))
        return PN_OK;
    status = pn_regulariser_prox(reg, &kinks, err);
    *suits = status == PN_OK && kinks && pn_prox_as_net(&net, kinks) && !net.clip;
    if (*suits) {
        *l1 = net.l1;
        *l2 = net.l2;
    }
    pn_prox_free(kinks);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

static bool make_room(search *at)
{
    size_t p = at->p;
    bool some = at->how->l1 > 0.0 && pn_objective_loss(at->how->objective)->margins == 1;

    at->whole = worth_forming(at->how->objective, p, PRODUCTS) ||
                (pn_objective_loss(at->how->objective)->quadratic && p <= DIRECT_MAX);
    at->x = pn_alloc(VECTORS, p * sizeof(double));
    at->columns = some && !at->whole ? pn_alloc(p, sizeof *at->columns) : NULL;
    return at->x && (at->columns || !some || at->whole);
}

pn_status pn_newton_descend(const pn_newton_descent *how, double *x, pn_verdict *verdict, size_t *steps, pn_err *err)
{
    size_t p = pn_objective_dim(how->objective);
    search at = { .how = how, .p = p };
    bool room = make_room(&at);
    double *block = at.x;
    pn_status status = PN_OK;

    *verdict = PN_GO_ON;
    *steps = 0;
    if (room) {
        at.g = block + p;
        at.least = block + 2 * p;
        at.trial = block + 3 * p;
        at.trial_g = block + 4 * p;
        at.model = block + 5 * p;
        at.scale = block + 6 * p;
        memcpy(at.x, x, p * sizeof(double));
        status = iterate(&at, verdict, steps, err);
        memcpy(x, at.x, p * sizeof(double));
    } else {
        status = pn_fail(err, PN_ENOMEM, "%s: out of memory for %zu coordinates", how->owner, p);
    }
    pn_free(at.columns);
    pn_free(block);
    return status;
}
