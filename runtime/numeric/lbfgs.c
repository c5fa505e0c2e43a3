/* lbfgs.c -- minima of smooth functions.  Depends on: lbfgs.h, core/stop.h.  Used by: lbfgs.h's callers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "numeric/lbfgs.h"

#define HISTORY     24    /* pairs that L-BFGS remembers */
#define STEPS       600   /* of L-BFGS, at most */
#define LINE_TRIALS 50    /* of one line search */
#define SMALL_SLOPE 1e-10 /* the largest entry of a gradient: then there is nothing to gain */
#define SMALL_GAIN  1e-14 /* of a step, five times in a row */

static bool may_go_on(const pn_lbfgs_work *work)
{
    return work->left > 0.0 && work->stopped == PN_OK;
}

bool pn_lbfgs_worked(pn_lbfgs_work *work, size_t more)
{
    work->left -= (double)more;
    work->stopped = pn_stop_worked(&work->unasked, more, work->err);
    return may_go_on(work);
}

/* All vectors in one block. */
typedef struct descent {
    size_t n;
    size_t pairs, next; /* pairs in the history, and the row of the next */
    double *x, *g, *at, *slope, *direction;
    double *moved, *turned; /* [HISTORY * n] steps and what they did to the gradient */
    double weight[HISTORY]; /* 1 / <moved, turned> */
    double *block;
} descent;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double largest(size_t n, const double *x)
{
    double most = 0.0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static pn_status descent_init(descent *self, size_t n, pn_err *err)
{
    const size_t vectors = 5 + 2 * HISTORY;

    memset(self, 0, sizeof *self);
    self->block = pn_calloc(n, vectors * sizeof(double));
    PN_TRY(pn_made(self->block, err, "lbfgs: out of memory"));
    self->n = n;
    self->x = self->block;
    self->g = self->x + n;
    self->at = self->g + n;
    self->slope = self->at + n;
    self->direction = self->slope + n;
    self->moved = self->direction + n;
    self->turned = self->moved + HISTORY * n;
    return PN_OK;
}

/* The row of the pair `back` pairs ago, 0 for the last. */
static size_t row_of(const descent *self, size_t back)
{
    return (self->next + 2 * HISTORY - 1 - back) % HISTORY;
}

/* direction = -H g by the two loops over the history. */
static void choose_direction(descent *self)
{
    const size_t n = self->n;
    double part[HISTORY], scale;

    for (size_t i = 0; i < n; i++)
        self->direction[i] = -self->g[i];
    for (size_t k = 0; k < self->pairs; k++) {
        size_t row = row_of(self, k);

        part[row] = self->weight[row] * dot(n, self->moved + row * n, self->direction);
        for (size_t i = 0; i < n; i++)
            self->direction[i] -= part[row] * self->turned[row * n + i];
    }
    if (self->pairs > 0) {
        const double *turned = self->turned + row_of(self, 0) * n;

        scale = 1.0 / (self->weight[row_of(self, 0)] * dot(n, turned, turned));
    } else {
        scale = 0.1 / fmax(largest(n, self->g), 0.1);
    }
    for (size_t i = 0; i < n; i++)
        self->direction[i] *= scale;
    for (size_t k = self->pairs; k-- > 0;) {
        size_t row = row_of(self, k);
        double back = self->weight[row] * dot(n, self->turned + row * n, self->direction);

        for (size_t i = 0; i < n; i++)
            self->direction[i] += (part[row] - back) * self->moved[row * n + i];
    }
}

/* Halve and double until the step is long enough and low enough (weak Wolfe); leaves the point in at, slope.
 * False: no such step. */
static bool line_search(descent *self, const pn_lbfgs_problem *problem, double *value)
{
    const double slope = dot(self->n, self->g, self->direction);
    double low = 0.0, high = INFINITY, step = 1.0;

    if (!(slope < 0.0))
        return false;
    for (int trial = 0; trial < LINE_TRIALS && may_go_on(problem->work); trial++) {
        double there;

        for (size_t i = 0; i < self->n; i++)
            self->at[i] = self->x[i] + step * self->direction[i];
        there = problem->value(problem->self, self->at, self->slope);
        if (!(there <= *value + 1e-4 * step * slope)) {
            high = step;
        } else if (dot(self->n, self->slope, self->direction) < 0.9 * slope) {
            low = step;
        } else {
            *value = there;
            return true;
        }
        step = isfinite(high) ? 0.5 * (low + high) : 2.0 * low;
    }
    return false;
}

/* Take the step of the line search, and remember it where it shows positive curvature. */
static void accept(descent *self)
{
    const size_t n = self->n;
    double *moved = self->moved + self->next * n, *turned = self->turned + self->next * n, curvature;

    for (size_t i = 0; i < n; i++) {
        moved[i] = self->at[i] - self->x[i];
        turned[i] = self->slope[i] - self->g[i];
        self->x[i] = self->at[i];
        self->g[i] = self->slope[i];
    }
    curvature = dot(n, moved, turned);
    if (!(curvature > 0.0))
        return;
    self->weight[self->next] = 1.0 / curvature;
    self->next = (self->next + 1) % HISTORY;
    if (self->pairs < HISTORY)
        self->pairs++;
}

/* From x to where no step helps any more; a history that leads nowhere is forgotten once. */
static void descend(descent *self, const pn_lbfgs_problem *problem)
{
    double value = problem->value(problem->self, self->x, self->g);
    int idle = 0;

    for (int step = 0; step < STEPS && idle < 5 && may_go_on(problem->work); step++) {
        double before = value;

        if (!(largest(self->n, self->g) > SMALL_SLOPE))
            return;

        choose_direction(self);
        if (line_search(self, problem, &value)) {
            accept(self);
            idle = before - value < SMALL_GAIN ? idle + 1 : 0;
        } else if (self->pairs > 0) {
            self->pairs = 0;
        } else {
            return;
        }
    }
}

pn_status pn_lbfgs(const pn_lbfgs_problem *problem, double *x, pn_err *err)
{
    descent self;

    PN_TRY(descent_init(&self, problem->n, err));
    memcpy(self.x, x, problem->n * sizeof *x);
    descend(&self, problem);
    memcpy(x, self.x, problem->n * sizeof *x);
    pn_free(self.block);
    return problem->work->stopped;
}
