/* start_value.c -- see start_value.h.  Depends on: start_value.h, question.h, objective.  Used by: second_order*.c. */
#include <math.h>

#include "core/mutant.h"
#include "numeric/blas.h"
#include "oracle/start_value.h"

/* Where margins are at most the start's length times a row's; of all margins where rows are not bounded. */
static pn_status range_at(pn_interval *out, pn_objective *objective, const double *start, pn_err *err)
{
    const pn_record_bounds *records = &pn_objective_data(objective)->bounds;
    pn_interval known = pn_objective_bounds(objective)->margin, labels = pn_objective_labels(objective);
    double far = pn_lp_norm(PN_L2, pn_objective_dim(objective), start) * (1.0 + 1e-9);
    double margin = far == 0.0 ? 0.0 : far * records->norm[PN_L2];
    pn_loss_bounds here;
    pn_status status;

    if (!isfinite(margin))
        margin = INFINITY;
    if (known.high > 0.0)
        margin = fmin(margin, known.high);
    status = pn_loss_certify(pn_objective_loss(objective), (pn_interval){ -margin, margin }, labels, &here, err);
    *out = status == PN_OK ? here.value : (pn_interval){ -INFINITY, INFINITY };
    return status == PN_ENOMEM ? status : PN_OK; /* no memory is not no bound */
}

pn_status pn_start_value_read(pn_start_value *out, pn_objective *objective, pn_neighbours neighbours,
                              const double *start, pn_err *err)
{
    pn_interval each;
    double size;

    PN_TRY(range_at(&each, objective, start, err));
    size = pn_interval_magnitude(each);
    *out = (pn_start_value){ .objective = objective,
                             .neighbours = neighbours,
                             .each = each,
                             .bound = size,
                             .data_free = isfinite(size) && each.high - each.low <= 1e-12 * size };
    return PN_OK;
}

/* What one record moves, as it is computed.  Any order of summing n numbers is off by less than (n + 4) 2^-53 of their
 * sizes.  Of a quadratic loss it may be a form in w0 with sums over records as coefficients: of sizes
 * (|x| |w0| + |y|)^2/2, which is what bounds a record's loss, and with two more sums of p numbers each. */
static double sensitivity_of(const pn_start_value *self)
{
    double n = (double)pn_objective_data(self->objective)->n, p = (double)pn_objective_dim(self->objective);
    double moved = self->neighbours == PN_REPLACE_ONE ? self->each.high - self->each.low : self->bound;

    return (moved / n + 2.0 * (n + 2.0 * p + 12.0) * 0x1p-53 * self->bound) * (1.0 + 1e-9);
}

static double width_of(const pn_start_value *self)
{
    return self->each.high - self->each.low;
}

static void fill(const pn_start_value *self, double z, pn_question *out)
{
    out->dim = 1;
    out->noise = (pn_gradient_noise){ .sigma = z * self->sensitivity,
                                      .sensitivity = self->sensitivity,
                                      .bound = self->bound,
                                      .dim = 1,
                                      .neighbours = self->neighbours };
    out->noise.basis =
        (pn_basis){ .rule = "range",
                    .norm = "l2",
                    .contributions = self->neighbours == PN_REPLACE_ONE ? 2.0 : 2.0 * self->bound / width_of(self),
                    .contribution = width_of(self) / 2.0,
                    .factor = 1.0,
                    .divisor = (double)pn_objective_data(self->objective)->n,
                    .value = self->sensitivity };
    pn_basis_add(&out->noise.basis, "low", self->each.low);
    pn_basis_add(&out->noise.basis, "high", self->each.high);
}

/* One release at multiplier z: a pn_program. */
static pn_status release(void *of, double z, pn_event **event, size_t *count, pn_err *err)
{
    const pn_start_value *self = of;
    pn_question question = { .ops = &pn_question_point, .neighbours = self->neighbours };
    pn_status status;

    fill(self, z, &question);
    status = pn_question_price(&question, err);
    *event = question.event;
    *count = 1;
    return status;
}

pn_status pn_start_value_pay(pn_start_value *self, const pn_allowance *allowance, double share, pn_err *err)
{
    const pn_program program = { release, self };
    pn_event *event;
    size_t count;

    if (share == 0.0)
        return PN_OK;
    self->sensitivity = sensitivity_of(self);
    PN_TRY(pn_allowance_noise(allowance, share * allowance->total, &program, &self->z, err));
    PN_TRY(release(self, self->z, &event, &count, err));
    self->cost = pn_allowance_cost(allowance, event, count);
    pn_event_free(event);
    return PN_OK;
}

pn_status pn_start_value_ask(const pn_start_value *self, pn_plan *plan, const char *label, pn_err *err)
{
    pn_question *question;

    if (self->cost == 0.0)
        return PN_OK;
    PN_TRY(pn_plan_ask(&question, plan, &pn_question_point, err));
    fill(self, self->z, question);
    question->label = label;
    return pn_question_price(question, err);
}

pn_status pn_ask_start_value(pn_oracle *ask, const pn_start_value *self, const double *start, double *value,
                             pn_err *err)
{
    double exact;

    PN_TRY(pn_objective_losses(self->objective, NULL, start, &exact, NULL, pn_ask_task(ask), err));
    exact = exact >= -self->bound ? fmin(exact, self->bound) : -self->bound;
    PN_TRY(pn_ask_masked(ask, &exact, value, err));
    if (PN_MUTANT("second_order_value_folded"))
        *value = exact + fabs(*value - exact);
    return PN_OK;
}
