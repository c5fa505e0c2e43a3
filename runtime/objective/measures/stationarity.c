/* stationarity.c -- gradients at random points of a ball, their mean, an interval for what it estimates, and the least
 * norm of their hull.  Not private.
 * Depends on: objective.h, smoothed.h, random/sample.h.  Used by: stationarity.h's callers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "objective/measures/smoothed.h"
#include "objective/measures/stationarity.h"
#include "random/sample.h"

#define OWNER          "stationarity"
#define LEAST_SAMPLES  100
#define USUAL_NUMBERS  ((size_t)1 << 26) /* gradients that are kept without being asked for: 512 MiB */
#define MOST_NUMBERS   ((size_t)1 << 28)
#define HULL_TOLERANCE 1e-10
#define DISTINCT       1e-12 /* a step below that share of theta is lost in rounding */

typedef struct probe {
    pn_objective *local; /* the same f, its bounds certified over a ball that holds every point */
    const double *theta;
    size_t dim, records; /* records of the data set */
    pn_stationarity_options how;
    bool differences;
    double *gradients; /* [samples * dim] */
    double *point;     /* [dim] */
    double *axes;      /* [dim * dim], of differences */
    size_t *rows;      /* [batch] and scratch behind, of batches */
    pn_rng *rng;
    pn_task *task;
} probe;

static double *gradient_at(const probe *self, size_t i)
{
    return self->gradients + i * self->dim;
}

/* ---- options ---- */

static size_t usual_samples(size_t dim)
{
    size_t wanted = dim > LEAST_SAMPLES / 10 ? 10 * dim : LEAST_SAMPLES, room = USUAL_NUMBERS / dim;

    return wanted <= room ? wanted : room > 2 ? room : 2;
}

/* theta + step is another point than theta, in every coordinate. */
static pn_status check_step(const probe *self, const char *what, double step, pn_err *err)
{
    double largest = pn_lp_norm(PN_LINF, self->dim, self->theta);

    if (!(step > 0.0) || isinf(step))
        return pn_fail(err, PN_EINVAL, OWNER ": %s must be a positive number, got %g", what, step);
    if (!(step > DISTINCT * largest) || !isfinite(largest + step))
        return pn_fail(err, PN_EINVAL,
                       OWNER ": %s = %g cannot be told from rounding beside a theta with entries up to %g; it must be "
                             "above %g",
                       what, step, largest, DISTINCT * largest);
    return PN_OK;
}

static pn_status check_theta(const probe *self, pn_err *err)
{
    size_t bad = pn_first_nonfinite(self->theta, self->dim);

    if (bad < self->dim)
        return pn_fail(err, PN_EDOMAIN, OWNER ": theta must hold finite numbers, got %g at entry %zu", self->theta[bad],
                       bad + 1);
    return PN_OK;
}

/* How much memory the gradients may take. */
static pn_status check_samples(const probe *self, pn_err *err)
{
    if (self->how.samples > MOST_NUMBERS / self->dim)
        return pn_fail(err, PN_EINVAL,
                       OWNER ": samples = %zu gradients of %zu entries are too many to keep; at most %zu",
                       self->how.samples, self->dim, MOST_NUMBERS / self->dim);
    return PN_OK;
}

static pn_status settle_options(probe *self, const pn_stationarity_options *options, pn_err *err)
{
    pn_stationarity_options *how = &self->how;
    pn_status status = check_theta(self, err);

    *how = *options;
    how->samples = how->samples ? how->samples : usual_samples(self->dim);
    how->confidence = how->confidence != 0.0 ? how->confidence : 0.95;
    how->smoothing = how->smoothing != 0.0 ? how->smoothing : how->radius / 100.0;
    if (status == PN_OK)
        status = check_step(self, "radius", how->radius, err);
    if (status == PN_OK)
        status = check_samples(self, err);
    if (status == PN_OK && !(how->confidence > 0.0 && how->confidence < 1.0))
        status = pn_fail(err, PN_EINVAL, OWNER ": confidence must be in (0, 1), got %g", how->confidence);
    if (status == PN_OK && how->batch > self->records)
        status = pn_fail(err, PN_EINVAL, OWNER ": batch = %zu records of %zu", how->batch, self->records);
    if (how->batch == self->records)
        how->batch = 0; /* all of them: the whole gradient */
    return status;
}

/* ---- the objective about theta ---- */

/* f over { ||w|| <= ||theta|| + radius }: the bounds of the objective hold in its own set only, and gradients outside
 * of that are clamped to them. */
static pn_status make_local(probe *self, const pn_objective *objective, pn_err *err)
{
    double reach = (pn_lp_norm(PN_L2, self->dim, self->theta) + self->how.radius) * (1.0 + 1e-9);
    pn_objective_parts parts = { .data = pn_objective_data(objective),
                                 .loss = pn_objective_loss(objective),
                                 .reg = pn_objective_regulariser(objective) };
    pn_arg ball[4] = { { .given = true, .count = self->dim }, { .given = true, .real = reach } };
    pn_status status;

    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       OWNER ": the objective clips gradients to norm %g, and clipped gradients are not those of its "
                             "loss; measure an objective of the same parts without clip=",
                       pn_objective_clip(objective));
    status = pn_set_from_args(&parts.set, "l2_ball", ball, err);
    if (status == PN_OK)
        status = pn_objective_new(&self->local, &parts, err);
    pn_set_free(parts.set);
    if (status != PN_OK)
        return status;
    self->differences =
        pn_objective_loss(objective)->margins == 0 || !pn_objective_bounds(self->local)->loss.continuous;
    if (!self->differences && self->how.batch == 0)
        status = pn_objective_prepare(self->local, self->how.samples, self->task, err);
    return self->differences ? check_step(self, "smoothing", self->how.smoothing, err) : status;
}

static pn_status make_room(probe *self, pn_err *err)
{
    size_t batch = self->how.batch, scratch = batch ? pn_sample_scratch(self->records, batch) : 0;

    self->gradients = pn_alloc(self->how.samples, self->dim * sizeof *self->gradients);
    self->point = pn_alloc(self->dim, sizeof *self->point);
    if (self->differences)
        self->axes = pn_calloc(self->dim, self->dim * sizeof *self->axes);
    if (batch)
        self->rows = pn_calloc(batch + scratch, sizeof *self->rows);
    if (!self->gradients || !self->point || (self->differences && !self->axes) || (batch && !self->rows))
        return pn_fail(err, PN_ENOMEM, OWNER ": out of memory for %zu gradients of %zu entries", self->how.samples,
                       self->dim);
    for (size_t j = 0; self->differences && j < self->dim; j++)
        self->axes[j * self->dim + j] = 1.0;
    return PN_OK;
}

/* ---- gradients ---- */

/* gradient[dim] at self->point */
static pn_status take_gradient(probe *self, double *gradient, pn_err *err)
{
    const pn_batch batch = { self->rows, self->how.batch, (double)self->how.batch };
    const pn_batch *which = self->how.batch ? &batch : NULL;
    pn_regulariser *reg = pn_objective_regulariser(self->local);
    pn_status status;

    if (self->differences)
        status = pn_objective_differences(self->local, which, self->point, self->axes, self->dim, self->how.smoothing,
                                          gradient, self->task, err);
    else
        status = pn_objective_losses(self->local, which, self->point, NULL, gradient, self->task, err);
    if (status == PN_OK && reg)
        status = reg->ops->evaluate(reg, self->dim, self->point, NULL, gradient, err);
    if (status == PN_OK && pn_first_nonfinite(gradient, self->dim) < self->dim)
        status = pn_objective_undefined(self->local, OWNER, err);
    return status;
}

static pn_status sample_gradients(probe *self, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; status == PN_OK && i < self->how.samples; i++) {
        status = pn_task_report(self->task, OWNER, (double)i, (double)self->how.samples, err);
        if (status != PN_OK)
            break;
        pn_sample_ball(self->rng, self->dim, self->point);
        for (size_t j = 0; j < self->dim; j++)
            self->point[j] = self->theta[j] + self->how.radius * self->point[j];
        if (self->how.batch)
            pn_sample_subset(self->rng, self->records, self->how.batch, self->rows + self->how.batch, self->rows);
        status = take_gradient(self, gradient_at(self, i), err);
    }
    return status;
}

/* ---- how far the mean may be from what it estimates ---- */

/* 0 times infinity is 0 here: where nothing moves, nothing is unbounded. */
static double times(double a, double b)
{
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}

/* Radius of a ball that holds every possible gradient; +inf when nothing is known.  *slope: Lipschitz constant of f. */
static double certified_reach(const probe *self, double *slope)
{
    const pn_bounds *bounds = pn_objective_bounds(self->local);
    bool known =
        bounds->source == PN_BOUND_DECLARED || (bounds->source == PN_BOUND_CERTIFIED && bounds->loss.continuous);
    double root = sqrt((double)self->dim), loss = known ? bounds->lipschitz[PN_L2] : INFINITY;
    double reg = times(root, bounds->reg.gradient), reach = self->differences ? root * loss : loss;

    *slope = loss + reg;
    if (!self->differences && self->how.batch == 0)
        reach = fmin(reach, times(self->how.radius, bounds->loss_smoothness));
    return reach + fmin(reg, times(self->how.radius, bounds->reg.smoothness));
}

/* Largest distance of a gradient from mean[dim]. */
static double seen_reach(const probe *self, const double *mean)
{
    double largest = 0.0;

    for (size_t i = 0; i < self->how.samples; i++) {
        memcpy(self->point, mean, self->dim * sizeof *mean);
        pn_axpy(self->dim, -1.0, gradient_at(self, i), self->point);
        largest = fmax(largest, pn_lp_norm(PN_L2, self->dim, self->point));
    }
    return self->how.samples > 1 ? largest : INFINITY;
}

/* Mean of ||X_{2i-1} - X_{2i}||^2 / 2 in units of reach^2. */
static double pair_variance(const probe *self, double reach)
{
    size_t pairs = self->how.samples / 2;
    double sum = 0.0;

    for (size_t i = 0; i < pairs; i++) {
        double apart;

        memcpy(self->point, gradient_at(self, 2 * i), self->dim * sizeof *self->point);
        pn_axpy(self->dim, -1.0, gradient_at(self, 2 * i + 1), self->point);
        apart = pn_lp_norm(PN_L2, self->dim, self->point) / reach;
        sum += 0.5 * apart * apart;
    }
    return pairs ? sum / (double)pairs : 0.0;
}

/* The half-length of the interval: stationarity.h has the derivation.  In units of reach, so that R = 2. */
static double deviation(const probe *self, double reach)
{
    double m = (double)self->how.samples, beta = 1.0 - self->how.confidence, l = log(4.0 / beta), linear, c, s = 1.0;

    if (reach == 0.0 || isinf(reach))
        return reach;
    if (self->how.samples > 1) {
        c = 2.0 * sqrt(log(2.0 / beta) / (double)(self->how.samples / 2));
        s = fmin(s, 0.5 * c + sqrt(0.25 * c * c + pair_variance(self, reach)));
    }
    linear = 2.0 * l / (3.0 * m);
    return reach * (linear + sqrt(linear * linear + 2.0 * s * s * l / m));
}

static void find_interval(const probe *self, const double *mean, pn_stationarity *out)
{
    double slope, reach = certified_reach(self, &slope), away;

    out->guaranteed = isfinite(reach) && (isfinite(slope) || !self->differences);
    if (!out->guaranteed)
        reach = seen_reach(self, mean);
    away = deviation(self, reach);
    if (self->differences)
        away += 0.5 * sqrt((double)self->dim) * pn_smoothed_curvature(self->dim) *
                (out->guaranteed ? slope : out->largest) * (self->how.smoothing / self->how.radius);
    out->high = out->guaranteed ? fmin(out->mean + away, slope) : out->mean + away;
    out->low = fmin(fmax(0.0, out->mean - away), out->high);
}

static pn_status summarise(const probe *self, pn_stationarity *out, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->local);
    double *mean;
    pn_status status;

    PN_TRY(pn_new_zeroed(&mean, self->dim, err, OWNER ": out of memory for a mean of %zu entries", self->dim));
    out->largest = 0.0;
    for (size_t i = 0; i < self->how.samples; i++) {
        pn_axpy(self->dim, 1.0 / (double)self->how.samples, gradient_at(self, i), mean);
        out->largest = fmax(out->largest, pn_lp_norm(PN_L2, self->dim, gradient_at(self, i)));
    }
    out->mean = pn_lp_norm(PN_L2, self->dim, mean);
    find_interval(self, mean, out);
    pn_free(mean);
    out->exact = !self->differences && self->how.batch == 0 && isfinite(bounds->reg.gradient);
    out->differences = self->differences;
    out->radius = self->how.radius;
    out->smoothing = self->differences ? self->how.smoothing : 0.0;
    out->confidence = self->how.confidence;
    out->samples = self->how.samples;
    out->batch = self->how.batch;
    status = pn_nearest_in_hull(self->gradients, self->how.samples, self->dim, HULL_TOLERANCE, NULL, &out->hull,
                                &out->gap, self->task, err);
    if (status == PN_OK && out->hull > out->mean) { /* by rounding: the mean is in the hull */
        out->gap = fmax(0.0, out->gap - (out->hull - out->mean));
        out->hull = out->mean;
    }
    return status;
}

pn_status pn_stationarity_measure(pn_stationarity *out, pn_objective *objective, const double *theta,
                                  const pn_stationarity_options *options, pn_rng *rng, pn_task *task, pn_err *err)
{
    probe self = { .theta = theta,
                   .dim = pn_objective_dim(objective),
                   .records = pn_objective_data(objective)->n,
                   .rng = rng,
                   .task = task };
    pn_stationarity found;
    pn_status status = settle_options(&self, options, err);

    if (status == PN_OK)
        status = make_local(&self, objective, err);
    if (status == PN_OK)
        status = make_room(&self, err);
    if (status == PN_OK)
        status = sample_gradients(&self, err);
    if (status == PN_OK)
        status = summarise(&self, &found, err);
    if (status == PN_OK)
        *out = found;
    pn_free(self.gradients);
    pn_free(self.point);
    pn_free(self.axes);
    pn_free(self.rows);
    pn_objective_free(self.local);
    return status;
}
