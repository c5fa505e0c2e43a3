/* question_second_moments.c -- the mean of v v^T over the records, v = (x/R, tau (y - m)/Y): X^T X, X^T y and y^T y in
 * one release, all that least squares needs.
 *
 * Sensitivity, of the sum, in Frobenius norm.  u = (x/R, tau (y - m)/Y) has |u|^2 <= rho = 1 + tau^2.
 *   replace_one   |u u^T - z z^T|^2 = |u|^4 + |z|^4 - 2 <u, z>^2 <= 2 rho^2, of orthogonal u and z.
 *   constant      v = (kappa, u): the corner kappa^2 is the same for all records and cancels; beside it stands
 *                 2 kappa^2 |u - z|^2.  With |u|^2 = |z|^2 = rho, <u, z> = -t it is
 *                 2 rho^2 - 2 t^2 + 2 kappa^2 (2 rho + 2 t), largest
 *                 at t = min(kappa^2, rho): 2 (rho + kappa^2)^2, or 8 kappa^2 rho where kappa^2 > rho.
 *   zero_out      the null adds 0 beside the corner, |u|^4 + 2 kappa^2 |u|^2 <= rho^2 + 2 kappa^2 rho; or is a row of
 *                 zeros with any label, z = (0, b): with a^2, b^2 <= tau^2 the label parts and |x| = R it is
 *                 (1 + a^2)^2 + b^4 - 2 a^2 b^2 + 2 kappa^2 (1 + a^2), convex in a^2 and in b^2: no corner of these is
 *                 larger.
 * y^T y costs nothing: without that entry 2 - 2 c^2 + 4 tau^2 (1 + c) with c = <x, z>/R^2 has the same maximum.  The
 * corner is public, n records of kappa^2 each: it is released as it is.
 *
 * Rounding counts twice, once in each neighbour's matrix: of the pass for X^T X, of that for X^T y, of the compensated
 * sum of squares (relative 2^-51), and of the scaling, each factor and product 2^-53 of an entry and together less than
 * 2^-49 of the matrix's norm.  Entries beside the diagonal are multiplied by sqrt(2) before the noise and divided by it
 * after: isotropic in Frobenius norm.
 * Depends on: question.h, objective/passes/second_order.h, expr/formula.h, numeric/symmetric.h.
 * Used by: question.c's table, solvers/least_squares.
 * Source: Dwork, Talwar, Thakurta, Zhang (2014), Analyze Gauss; Wang (2018), AdaSSP; one matrix, and its constants, as
 * derived here. */
#include <math.h>

#include "core/mutant.h"
#include "expr/formula.h"
#include "numeric/symmetric.h"
#include "objective/passes/second_order.h"
#include "oracle/question.h"

#define UPWARD (1.0 + 1e-14) /* for the rounding of what is computed here, and of a record's own numbers */

/* What one record moves the sum by, in Frobenius norm, the constant's corner left out. */
static double moved_by(const pn_moments_shape *shape, pn_neighbours neighbours)
{
    double rho = 1.0 + shape->tau * shape->tau, square = shape->kappa * shape->kappa;

    if (PN_MUTANT("moments_constant_free"))
        square = 0.0;
    if (neighbours != PN_REPLACE_ONE)
        return sqrt(rho * rho + 2.0 * square * rho) * UPWARD;
    return (square <= rho ? sqrt(2.0) * (rho + square) : sqrt(8.0 * square * rho)) * UPWARD;
}

/* ---- certifying ---- */

/* R: of the features beside the constant, whose own part of the bound is 1. */
static pn_status read_rows(pn_question *self, pn_err *err)
{
    const pn_record_bounds *bounds = &pn_objective_data(self->objective)->bounds;
    double norm = bounds->norm[PN_L2];

    if (!bounds->constant)
        self->shape.kappa = 0.0;
    else if (isfinite(norm))
        norm = sqrt(fmax(norm * norm * (1.0 + 0x1p-50) - 1.0, 0.0)) * UPWARD;
    if (!isfinite(norm) && !self->exact)
        return pn_fail(
            err, PN_EPRIVACY,
            "nothing bounds how long a row is, so one record could move the sums by anything; " PN_HOW_TO_BOUND_ROWS);
    self->shape.row = norm >= 0x1p-400 && isfinite(norm) ? norm : 1.0;
    return PN_OK;
}

/* m and Y: middle and half width of what labels may be. */
static pn_status read_labels(pn_question *self, pn_err *err)
{
    const pn_record_bounds *bounds = &pn_objective_data(self->objective)->bounds;
    double low = isnan(bounds->label_low) ? -INFINITY : bounds->label_low;
    double high = isnan(bounds->label_high) ? INFINITY : bounds->label_high;

    if (self->clip.low < self->clip.high && (low >= self->clip.high || high <= self->clip.low))
        return pn_fail(err, PN_EINVAL, "all labels, within [%g, %g], are outside of [%g, %g]; give a larger bound", low,
                       high, self->clip.low, self->clip.high);
    if (self->clip.low < self->clip.high) {
        low = fmax(low, self->clip.low);
        high = fmin(high, self->clip.high);
    }
    if (!(isfinite(low) && isfinite(high) && isfinite(high - low)) && !self->exact)
        return pn_fail(err, PN_EPRIVACY,
                       "nothing bounds the labels; give label_bound=, or clip them, data:clip_labels(-1, 1)");
    self->clip = (pn_interval){ low, high };
    self->shape.middle = self->shape.kappa > 0.0 && isfinite(high - low) ? low + (high - low) / 2.0 : 0.0;
    self->shape.label = fmax(fabs(low - self->shape.middle), fabs(high - self->shape.middle));
    if (!(self->shape.label >= 0x1p-400 && isfinite(self->shape.label)))
        self->shape.label = 1.0;
    if (self->shape.label > 0x1p400 || self->shape.row > 0x1p400)
        return pn_fail(err, PN_EUNSUPPORTED, "labels and rows are summed up to 2^400, got labels of %g; scale them",
                       self->shape.label);
    return PN_OK;
}

/* The label as it is summed: clipped, less the middle. */
static double centred(const pn_question *self, double y)
{
    double c = fmin(fmax(y, self->clip.low), self->clip.high) - self->shape.middle;

    return self->exact ? c : fmin(fmax(c, -self->shape.label), self->shape.label);
}

/* The sum of its products with rows is a gradient, of a loss that has it for a slope. */
static pn_status take_label_loss(pn_question *self, pn_err *err)
{
    static const char *const names[] = { "z", "y" };
    pn_objective *whole = self->objective;
    pn_status status;
    pn_graph *g;
    pn_node y;

    if (self->inner)
        return PN_OK;
    PN_TRY(pn_graph_new(&self->graph, names, 2, err));
    g = self->graph;
    y = pn_x_var(g, 1);
    if (isfinite(self->clip.low))
        y = pn_x_max(g, y, pn_x_const(g, self->clip.low));
    if (isfinite(self->clip.high)) /* min */
        y = pn_x_neg(g, pn_x_max(g, pn_x_neg(g, y), pn_x_const(g, -self->clip.high)));
    self->phi = self->shape.middle == 0.0 ? y : pn_x_sub(g, y, pn_x_const(g, self->shape.middle));
    status = pn_question_of_phi(self, true, err);
    self->objective = whole;
    return status;
}

/* Of the mean, in Frobenius norm and in the units of v. */
static double rounding_of(const pn_question *self)
{
    const pn_moments_shape *shape = &self->shape;
    const pn_dataset *data = pn_objective_data(self->objective);
    double n = (double)data->n, norm = data->bounds.norm[PN_L2], label = pn_objective_bounds(self->inner)->slope;
    double unit = fmax(1.0 / shape->row, shape->kappa), tau = shape->tau / shape->label;
    double features = pn_objective_hessian_error(self->objective, data->n) / n * norm * norm * unit * unit;
    double both = pn_objective_batch_error(self->inner, data->n, label * norm) / n * sqrt((double)data->p) * unit * tau;

    both = fmax(both, pn_objective_gradient_error(self->inner) * sqrt((double)data->p) * unit * tau);
    return features + sqrt(2.0) * both +
           0x1p-49 * (1.0 + shape->tau * shape->tau + shape->kappa * shape->kappa) * (1.0 + norm * unit);
}

static void say_basis(pn_question *self)
{
    const pn_moments_shape *shape = &self->shape;

    self->noise.basis = (pn_basis){ .rule = "moments",
                                    .norm = "frobenius",
                                    .contributions = 1.0,
                                    .contribution = moved_by(shape, self->neighbours),
                                    .factor = 1.0,
                                    .divisor = (double)pn_objective_data(self->objective)->n,
                                    .value = self->noise.sensitivity };
    pn_basis_add(&self->noise.basis, "row", shape->row);
    pn_basis_add(&self->noise.basis, "label", shape->label);
    pn_basis_add(&self->noise.basis, "middle", shape->middle);
    pn_basis_add(&self->noise.basis, "tau", shape->tau);
    pn_basis_add(&self->noise.basis, "kappa", shape->kappa);
}

static pn_status certify(pn_question *self, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(self->objective);
    double whole, error;

    if (!loss->quadratic || pn_objective_clip(self->objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "second moments are of the squared loss without clip=, got %s%s",
                       loss->name, pn_objective_clip(self->objective) > 0.0 ? " with clip=" : "");
    PN_TRY(read_rows(self, err));
    PN_TRY(read_labels(self, err));
    PN_TRY(take_label_loss(self, err));
    self->dim = pn_packed_size(pn_objective_dim(self->objective) + 1);
    self->room = pn_objective_dim(self->objective);
    self->noise.dim = self->dim;
    self->noise.neighbours = self->neighbours;
    if (self->exact)
        return PN_OK;
    self->shape.label = fmax(self->shape.label, pn_objective_bounds(self->inner)->slope);
    whole = 1.0 + self->shape.tau * self->shape.tau + self->shape.kappa * self->shape.kappa;
    error = rounding_of(self);
    self->noise.lipschitz = whole;
    self->noise.sensitivity =
        (moved_by(&self->shape, self->neighbours) / (double)pn_objective_data(self->objective)->n + 2.0 * error) *
        UPWARD;
    self->noise.bound = whole * (1.0 + 0x1p-30) + error;
    say_basis(self);
    return PN_OK;
}

/* ---- answering ---- */

/* The mean of squares, compensated. */
static double mean_square(const pn_question *self)
{
    const pn_dataset *data = pn_objective_data(self->objective);
    double sum = 0.0, lost = 0.0;

    for (size_t i = 0; i < data->n; i++) {
        double c = centred(self, data->y[i]), square = c * c, next = sum + square;

        lost += sum >= square ? (sum - next) + square : (square - next) + sum;
        sum = next;
    }
    return (sum + lost) / (double)data->n;
}

/* To the units of v; the corner of the constant is public, and nothing of it is drawn for. */
static void rescale(const pn_question *self, size_t p, double *packed)
{
    const pn_moments_shape *shape = &self->shape;
    size_t constant = shape->kappa > 0.0 ? p - 1 : SIZE_MAX;

    for (size_t j = 0; j <= p; j++) {
        double column = j == p ? shape->tau / shape->label : j == constant ? shape->kappa : 1.0 / shape->row;

        for (size_t i = 0; i <= j; i++) {
            double row = i == p ? shape->tau / shape->label : i == constant ? shape->kappa : 1.0 / shape->row;

            packed[j * (j + 1) / 2 + i] *= row * column;
        }
    }
    if (constant != SIZE_MAX)
        packed[pn_packed_size(p) - 1] = 0.0;
    pn_packed_scale_off(packed, p + 1, sqrt(2.0));
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    size_t p = pn_objective_dim(self->objective);

    (void)asked;
    (void)batch;
    (void)value;
    PN_TRY(pn_objective_quadratic(self->objective, NULL, room, NULL, NULL, out, task, err)); /* room: zeros */
    PN_TRY(pn_objective_losses(self->inner, NULL, room, NULL, out + pn_packed_size(p), task, err));
    out[self->dim - 1] = mean_square(self);
    rescale(self, p, out);
    return PN_OK;
}

static void finish(const pn_question *self, double *out)
{
    size_t p = pn_objective_dim(self->objective);

    pn_packed_scale_off(out, p + 1, sqrt(0.5));
    if (self->shape.kappa > 0.0)
        out[pn_packed_size(p) - 1] = self->shape.kappa * self->shape.kappa;
}

const pn_question_ops pn_question_second_moments = {
    .name = "second_moments",
    .doc = "The mean of v v^T over the records, v = (x/R, tau (y - m)/Y), packed, with symmetric Gaussian noise.",
    .source = "Dwork, Talwar, Thakurta, Zhang (2014); Wang (2018); sensitivity as derived",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify,
    .compute = compute,
    .finish = finish,
};
