/* question_value.c -- means of numbers: of the losses at a point or at several, of phi(z, y), and the point of several
 * with the least mean loss.
 *
 * Every record's number is clipped to a public range [a, b], certified or given, and centred: c = number - (a + b)/2
 * has |c| <= h = (b - a)/2, rounding included in h.  Replacing a record moves the mean by 2 h/n; k means at once by
 * sqrt(k) times that in l2.  Under zero_out a null record is a row of zeros, whose number may be any of [a, b], or adds
 * nothing, which moves the sum by at most max(|a|, |b|) <= h + |a + b|/2: the larger of the two; a difference along a
 * direction is 0 for a row of zeros, and leaving it out moves the mean by h/n.
 *
 * The sum is compensated (Neumaier): its error is at most 3 u sum |c| for fewer than 2^40 records,
 * u = 2^-53, and the division adds one more.
 * Depends on: question.h.  Used by: question.c's table. */
#include <math.h>
#include <stdint.h>

#include "oracle/question.h"

#define ERROR 0x1p-51  /* of a mean, relative to h: 4 u */
#define LEAST 0x1p-400 /* noise has to have a scale, where all numbers are the same */

/* What a neighbour moves a sum by. */
static double moved(const pn_question *self)
{
    double h = self->reached;

    if (self->neighbours == PN_REPLACE_ONE)
        return 2.0 * h;
    return self->ops == &pn_question_differences ? h : fmax(2.0 * h, h + fabs(self->offset));
}

/* The range of a record's number: what was given, or what is certified. */
static pn_status read_range(pn_question *self, const char *what, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    bool given = self->clip.low < self->clip.high;
    pn_interval range = given ? self->clip : bounds->loss.value;
    double half = (range.high - range.low) / 2.0;

    if (self->exact) {
        self->clip = (pn_interval){ -INFINITY, INFINITY };
        return PN_OK;
    }
    if (!isfinite(range.low) || !isfinite(range.high) || !isfinite(half))
        return pn_fail(
            err, PN_EPRIVACY,
            "%s: %s is not bounded: for margins in [%g, %g] it is in [%g, %g]; give clip={low, high}, or the "
            "objective a bounded set",
            self->ops->name, what, bounds->margin.low, bounds->margin.high, range.low, range.high);
    self->clip = range;
    self->offset = range.low + half;
    self->reached = fmax(half * (1.0 + 0x1p-50) + fabs(self->offset) * 0x1p-52, LEAST);
    return PN_OK;
}

/* A choice counts every score by itself. */
static void say_basis(pn_question *self, size_t count)
{
    bool choice = self->ops->answer == PN_ANSWER_CHOICE;

    self->basis = (pn_basis){ .rule = self->ops == &pn_question_differences ? "difference" : "range",
                              .norm = choice ? "each" : "l2",
                              .contributions = moved(self) / self->reached,
                              .contribution = self->reached,
                              .factor = choice ? 1.0 : sqrt((double)count),
                              .divisor = (double)pn_objective_data(self->objective)->n,
                              .value = choice ? self->selection.sensitivity : self->noise.sensitivity };
    pn_basis_add(&self->basis, "low", self->clip.low);
    pn_basis_add(&self->basis, "high", self->clip.high);
}

/* `count` means: numbers of one answer, or scores. */
static void read_noise(pn_question *self, size_t count)
{
    double n = (double)pn_objective_data(self->objective)->n, h = self->reached;
    double one = moved(self) / n + 2.0 * h * ERROR;

    self->dim = count;
    self->room = (size_t)n;
    self->noise.dim = count;
    self->noise.neighbours = self->neighbours;
    self->noise.lipschitz = h;
    self->noise.sensitivity = one * sqrt((double)count) * (1.0 + 1e-14);
    self->noise.bound = h * (1.0 + 0x1p-30);
    self->selection = (pn_selection_options){ .law = PN_SELECT_EXPONENTIAL,
                                              .sensitivity = moved(self) / n * (1.0 + 1e-14),
                                              .score_error = h * ERROR,
                                              .score_bound = h * (1.0 + 0x1p-30),
                                              .neighbours = self->neighbours };
    say_basis(self, count);
}

static pn_status certify(pn_question *self, pn_err *err)
{
    PN_TRY(read_range(self, "the loss", err));
    read_noise(self, self->points);
    return PN_OK;
}

static pn_status certify_mean(pn_question *self, pn_err *err)
{
    PN_TRY(pn_question_of_phi(self, false, err));
    PN_TRY(read_range(self, "phi", err));
    read_noise(self, 1);
    return PN_OK;
}

/* The mean of the clipped and centred numbers; one that is no number counts as the least, where there is one. */
static double mean_of(const pn_question *self, const double *numbers)
{
    size_t n = pn_objective_data(self->objective)->n;
    double sum = 0.0, lost = 0.0;

    for (size_t i = 0; i < n; i++) {
        double c = self->exact ? numbers[i] : fmin(fmax(numbers[i], self->clip.low), self->clip.high) - self->offset;
        double next = sum + c;

        lost += fabs(sum) >= fabs(c) ? (sum - next) + c : (c - next) + sum;
        sum = next;
    }
    return (sum + lost) / (double)n;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    size_t dim = pn_objective_dim(self->objective);
    double sign = self->ops->answer == PN_ANSWER_CHOICE ? -1.0 : 1.0; /* the largest score is the least loss */

    (void)batch;
    for (size_t k = 0; k < self->points; k++) {
        PN_TRY(pn_objective_factors(self->objective, asked->x + k * dim, room, NULL, task, err));
        out[k] = sign * mean_of(self, room);
    }
    if (value)
        *value = sign * out[0] + self->offset;
    return PN_OK;
}

const pn_question_ops pn_question_value = {
    .name = "value",
    .doc = "The mean loss with Gaussian noise; every record's loss is clipped to its certified range, or to clip.",
    .source = "sensitivity (range)/n",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify,
    .compute = compute,
};

const pn_question_ops pn_question_values = {
    .name = "values",
    .doc = "The mean losses at several points, released together.",
    .source = "sensitivity (range) sqrt(k)/n",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify,
    .compute = compute,
};

const pn_question_ops pn_question_mean = {
    .name = "mean",
    .doc = "The mean of phi(z, y) over the records, z = <x, theta>, with Gaussian noise; phi is traced and bounded.",
    .source = "sensitivity (range of phi)/n",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify_mean,
    .compute = compute,
};

const pn_question_ops pn_question_choose = {
    .name = "choose",
    .doc = "The number of the point with the least mean loss, by private choice.",
    .source = "McSherry, Talwar (2007); sensitivity (range)/n of every score",
    .answer = PN_ANSWER_CHOICE,
    .certify = certify,
    .compute = compute,
};

/* ---- watching a number ---- */

static pn_status certify_above(pn_question *self, pn_err *err)
{
    if (!isfinite(self->threshold))
        return pn_fail(err, PN_EINVAL, "above: threshold must be a number, got %g", self->threshold);
    self->answers = self->answers ? self->answers : 1;
    self->each = SIZE_MAX; /* one price for any number of questions */
    if (self->graph)
        PN_TRY(pn_question_of_phi(self, false, err));
    PN_TRY(read_range(self, self->graph ? "phi" : "the loss", err));
    read_noise(self, 1);
    return PN_OK;
}

const pn_question_ops pn_question_above = {
    .name = "above",
    .doc =
        "Whether the mean loss, or the mean of phi(z, y), is at or above a threshold: one price until it has been so "
        "often.",
    .source = "Dwork, Roth (2014), section 3.6; sensitivity (range)/n",
    .answer = PN_ANSWER_ABOVE,
    .certify = certify_above,
    .compute = compute,
};

/* ---- differences along directions ----
 * x holds the point and then the directions, [1 + k][dim].  A record's number is (l(x + r u) - l(x - r u))/(2 r),
 * clipped to +- G, which it is within for ||u|| <= 1 where the loss is continuous, or to clip. */

static pn_status certify_differences(pn_question *self, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    bool given = self->clip.low < self->clip.high;
    double most = given ? fmax(fabs(self->clip.low), fabs(self->clip.high)) : bounds->lipschitz[PN_L2];

    if (self->points < 2)
        return pn_fail(err, PN_EINVAL, "differences: give a point and at least one direction");
    if (!(self->radius > 0.0 && isfinite(self->radius)))
        return pn_fail(err, PN_EINVAL, "differences: radius must be a positive number, got %g", self->radius);
    if (!given && !self->exact && !(bounds->loss.continuous && isfinite(most)))
        return pn_fail(err, PN_EPRIVACY,
                       "differences: nothing bounds how much a record's loss changes with the point; give clip=");
    self->clip = (pn_interval){ -most, most };
    self->reached = fmax(most * (1.0 + 0x1p-50), LEAST);
    read_noise(self, self->points - 1);
    self->room = 2 * pn_objective_data(self->objective)->n + pn_objective_dim(self->objective);
    return PN_OK;
}

static pn_status compute_differences(const pn_question *self, const pn_asked *asked, const pn_batch *batch,
                                     double *room, double *value, double *out, pn_task *task, pn_err *err)
{
    size_t dim = pn_objective_dim(self->objective), n = pn_objective_data(self->objective)->n;
    double *near = room, *far = room + n, *point = room + 2 * n;

    (void)batch;
    (void)value;
    for (size_t k = 1; k < self->points; k++) {
        for (int side = 0; side < 2; side++) {
            for (size_t j = 0; j < dim; j++)
                point[j] = asked->x[j] + (side ? -self->radius : self->radius) * asked->x[k * dim + j];
            PN_TRY(pn_objective_factors(self->objective, point, side ? far : near, NULL, task, err));
        }
        for (size_t i = 0; i < n; i++)
            near[i] = (near[i] - far[i]) / (2.0 * self->radius);
        out[k - 1] = mean_of(self, near);
    }
    return PN_OK;
}

const pn_question_ops pn_question_differences = {
    .name = "differences",
    .doc = "Central differences of the mean loss along directions, every record's clipped, released together.",
    .source = "Nesterov, Spokoiny (2017); sensitivity 2 G sqrt(k)/n",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify_differences,
    .compute = compute_differences,
};
