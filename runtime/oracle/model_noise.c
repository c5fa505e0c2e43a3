/* model_noise.c -- what a record can move of a released gradient or Hessian, what a release costs,
 * and the plan's lines about both.
 * Depends on: model_noise.h, gradient_noise.h, objective/passes/second_order.h, numeric/symmetric.h.  Used by:
 * second_order*.c, trust_region*.c, newton*.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM,
 * with sensitivities derived anew. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "numeric/symmetric.h"
#include "oracle/gradient_noise.h"
#include "oracle/model_noise.h"

#define UPWARD (1.0 + 1e-14) /* for the rounding of what is computed here */
/* a Hessian that is 0 whatever the records are is given this bound: noise has to have a scale */
#define LEAST 0x1p-200
/* On slopes, for the rounding of their evaluation, and on radii, beyond which points may lie. */
#define SLACK 1e-9

static bool sees_all(const pn_model *self)
{
    return self->batch == self->n;
}

const char *const pn_hessian_noise_names[] = { "frobenius", "packed", NULL };
const char *const pn_hessian_bound_names[] = { "certified", "generic", NULL };

/* ---- reading ---- */

static pn_status read_shape(pn_model *self, const char *owner, const pn_request *request, size_t batch, pn_err *err)
{
    double entries = (double)self->dim * ((double)self->dim + 1.0) / 2.0;

    if (batch > self->n)
        return pn_fail(err, PN_EINVAL, "%s: batch must be at most the number of records, %zu, got %zu", owner, self->n,
                       batch);
    self->batch = batch == 0 ? self->n : batch;
    if (self->is_private && !sees_all(self) && request->neighbours != PN_REPLACE_ONE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: batches of a fixed size are priced for neighbours=\"replace_one\" only, got \"%s\"; leave "
                       "batch out",
                       owner, pn_neighbours_names[request->neighbours]);
    if (entries > 0x1p31)
        return pn_fail(err, PN_EDIM,
                       "%s: a Hessian of order %zu has %.4g entries and takes %.4g GB; at most 2^31 entries are stored",
                       owner, self->dim, entries, entries * 8e-9);
    self->order = self->dim;
    self->packed = pn_packed_size(self->order);
    return PN_OK;
}

/* Without privacy nothing rests on them, and what is unknown may stay so. */
static pn_status read_bounds(pn_model *self, const char *owner, pn_err *err)
{
    pn_status status = pn_objective_hessian_bounds(self->objective, &self->bounds, err);

    if (status == PN_EPRIVACY && !self->is_private) {
        self->bounds = (pn_hessian_bounds){ INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
        return PN_OK;
    }
    if (status != PN_OK)
        return pn_fail_in(err, status, owner);
    if (self->is_private && !(isfinite(self->bounds.record) && isfinite(self->bounds.replace)))
        return pn_fail(err, PN_EPRIVACY, "%s: the Hessian of a record is not bounded; " PN_HOW_TO_BOUND_ROWS, owner);
    return PN_OK;
}

/* Whether r has a Hessian is seen by asking for one; the run will need the memory anyway. */
static pn_status check_regulariser(const pn_model *self, const char *owner, pn_err *err)
{
    double *at, *packed;
    pn_status status;

    if (!pn_objective_regulariser(self->objective))
        return PN_OK;
    at = pn_calloc(self->dim, sizeof *at);
    packed = pn_calloc(self->packed, sizeof *packed);
    status = at && packed ? pn_objective_add_regular_hessian(self->objective, at, packed, err)
                          : pn_fail(err, PN_ENOMEM, "out of memory for a Hessian of order %zu", self->dim);
    pn_free(at);
    pn_free(packed);
    return status == PN_OK ? PN_OK : pn_fail_in(err, status, owner);
}

/* ---- sensitivities ---- */

/* In a mean over all records gradients may come from a pass of their own or together with the Hessian: the larger error
 * of the two. */
static void read_gradient(pn_model *self, const pn_gradient_noise *whole)
{
    double m = (double)self->batch, d = sqrt((double)self->dim), each = self->lipschitz * UPWARD;
    double error = pn_objective_batch_error(self->objective, self->batch, each) / m * UPWARD;
    double exact = pn_contributions(self->neighbours) * each / m;

    self->gradient_sensitivity = (exact + 2.0 * d * error) * UPWARD;
    if (sees_all(self))
        self->gradient_sensitivity = fmax(self->gradient_sensitivity, whole->sensitivity);
    self->gradient_bound = fmax(each * (1.0 + 0x1p-30) + error, whole->bound);
    self->gradient_basis = (pn_basis){ .rule = "gradient",
                                       .norm = "l2",
                                       .contributions = pn_contributions(self->neighbours),
                                       .contribution = self->lipschitz,
                                       .factor = 1.0,
                                       .divisor = m,
                                       .value = self->gradient_sensitivity };
}

/* What a neighbour moves of the exact sum of Hessians, in Frobenius norm. */
static double hessian_moved(const pn_model *self)
{
    const pn_hessian_bounds *bounds = &self->bounds;
    bool replace = self->neighbours == PN_REPLACE_ONE;
    double certified = replace ? bounds->replace : bounds->zero;

    return self->generic ? fmax(certified, replace ? bounds->generic : bounds->generic / 2.0) : certified;
}

static void say_hessian_basis(pn_model *self)
{
    double record = fmax(self->bounds.zero, LEAST);

    self->hessian_basis = (pn_basis){ .rule = "hessian",
                                      .norm = self->frobenius ? "frobenius" : "l2",
                                      .contributions = fmax(hessian_moved(self), LEAST) / record,
                                      .contribution = record,
                                      .factor = 1.0,
                                      .divisor = (double)self->batch,
                                      .value = self->hessian_sensitivity };
    pn_basis_add(&self->hessian_basis, "record", record);
    pn_basis_add(&self->hessian_basis, "operator", self->bounds.record);
    pn_basis_add(&self->hessian_basis, "replace", self->bounds.replace);
}

/* Rounding counts twice, once in each neighbour's matrix: of the sum; and of the products with sqrt(2) (itself rounded)
 * and of the division by n, each 2^-53 of an entry and together less than 2^-51 of the mean's norm. */
static void read_hessian(pn_model *self)
{
    const pn_hessian_bounds *bounds = &self->bounds;
    double m = (double)self->batch;
    double error = (pn_objective_hessian_error(self->objective, self->batch) / m + 0x1p-51) * bounds->zero;

    self->hessian_sensitivity = (fmax(hessian_moved(self), LEAST) / m + 2.0 * error) * UPWARD;
    if (PN_MUTANT("hessian_sensitivity_half"))
        self->hessian_sensitivity *= 0.5;
    say_hessian_basis(self);
    /* sqrt(2) |H_ij| is within the Frobenius norm, |H_ij| within the operator norm. */
    self->hessian_bound = fmax(self->frobenius ? bounds->zero : bounds->record, LEAST) * (1.0 + 0x1p-30) + error;
}

pn_status pn_model_read(pn_model *out, const char *owner, pn_objective *objective, const pn_request *request,
                        size_t batch, bool frobenius, bool generic, pn_err *err)
{
    pn_gradient_noise whole;
    pn_status status;

    PN_TRY(pn_gradient_noise_read(&whole, owner, objective, request, err));
    *out = (pn_model){ .objective = objective,
                       .dim = pn_objective_dim(objective),
                       .n = pn_objective_data(objective)->n,
                       .neighbours = request->neighbours,
                       .is_private = request->kind != PN_NONPRIVATE,
                       .frobenius = frobenius,
                       .generic = generic,
                       .convex = pn_objective_bounds(objective)->loss.convex,
                       .lipschitz = whole.lipschitz };
    status = read_shape(out, owner, request, batch, err);
    if (status == PN_OK)
        status = read_bounds(out, owner, err);
    if (status == PN_OK)
        status = check_regulariser(out, owner, err);
    if (status != PN_OK || !out->is_private)
        return status;
    read_gradient(out, &whole);
    read_hessian(out);
    return PN_OK;
}

/* A record's part is w x x^T, 0 <= w <= B, or B x x^T, and B |x|^2 <= B_H. */
pn_model pn_model_majorant(const pn_model *of)
{
    pn_model self = *of;

    self.majorant = self.bare = true;
    self.order = pn_objective_data(of->objective)->p;
    self.packed = pn_packed_size(self.order);
    self.bounds.zero = self.bounds.record;
    self.bounds.replace = self.bounds.generic = sqrt(2.0) * self.bounds.record * UPWARD;
    self.generic = false;
    if (self.is_private)
        read_hessian(&self);
    return self;
}

/* ---- events ---- */

static pn_batch_release_options options_of(const pn_model *self, size_t dim, double sensitivity, double bound, double z)
{
    double unit = sees_all(self) ? 1.0 : (double)self->batch;

    return (pn_batch_release_options){ .scheme = sees_all(self) ? "full" : "fixed",
                                       .n = self->n,
                                       .batch = self->batch,
                                       .neighbours = self->neighbours,
                                       .dim = dim,
                                       .contribution = sensitivity * unit / pn_contributions(self->neighbours),
                                       .bound = bound * unit * UPWARD,
                                       .sigma = z * sensitivity * unit };
}

pn_batch_release_options pn_model_gradient_options(const pn_model *self, double z)
{
    return options_of(self, self->dim, self->gradient_sensitivity, self->gradient_bound, z);
}

pn_batch_release_options pn_model_hessian_options(const pn_model *self, double z)
{
    return options_of(self, self->packed, self->hessian_sensitivity, self->hessian_bound, z);
}

pn_status pn_model_gradient_event(const pn_model *self, double z, pn_event **out, pn_err *err)
{
    pn_batch_release_options options = pn_model_gradient_options(self, z);

    return pn_batch_release_price(out, NULL, &options, err);
}

pn_status pn_model_hessian_event(const pn_model *self, double z, pn_event **out, pn_err *err)
{
    pn_batch_release_options options = pn_model_hessian_options(self, z);

    return pn_batch_release_price(out, NULL, &options, err);
}

/* ---- a run of many releases ---- */

void pn_model_rests(pn_plan *plan, const pn_model_part *parts, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const pn_model *model = parts[k].model;
        pn_plan_rest rest = { .of = parts[k].hessian ? "hessian" : "gradient",
                              .basis = parts[k].hessian ? model->hessian_basis : model->gradient_basis,
                              .release = parts[k].hessian ? pn_model_hessian_options(model, parts[k].z)
                                                          : pn_model_gradient_options(model, parts[k].z),
                              .times = parts[k].times };

        if (parts[k].times > 0)
            pn_plan_rests_on(plan, &rest);
    }
}

pn_status pn_model_run_event(pn_event **out, const pn_model_part *parts, size_t count, pn_err *err)
{
    pn_event *all[PN_MODEL_PARTS] = { NULL };
    size_t kinds = 0;
    pn_status status = PN_OK;

    for (size_t k = 0; k < count && status == PN_OK; k++) {
        const pn_model_part *part = &parts[k];
        pn_event *one = NULL;

        if (part->times == 0)
            continue;
        status = (part->hessian ? pn_model_hessian_event : pn_model_gradient_event)(part->model, part->z, &one, err);
        if (status == PN_OK)
            status = pn_event_repeated(&all[kinds++], one, part->times, err);
        pn_event_free(one);
    }
    if (status == PN_OK)
        status = pn_event_compose(out, all, kinds, err);
    for (size_t k = 0; k < kinds; k++)
        pn_event_free(all[k]);
    return status;
}

pn_status pn_model_allowance(pn_allowance *out, double *z, const pn_model *self, const pn_plan *plan,
                             const pn_arg *common, pn_counting how, const pn_program *program, pn_err *err)
{
    const pn_request *request = &plan->request;
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 && sees_all(self);
    pn_allowance renyi;
    double by_rho, by_renyi;

    if (paper || request->kind == PN_RHO)
        return pn_request_allowance(out, z, request, plan->owner, PN_UNIT_RHO, paper, program, err);
    if (how.gaussian && sees_all(self) && !pn_request_is_renyi(request))
        return pn_request_allowance(out, z, request, plan->owner, PN_UNIT_GAUSSIAN, false, program, err);
    if (!how.either || !sees_all(self))
        return pn_request_allowance(out, z, request, plan->owner, PN_UNIT_RENYI, false, program, err);
    PN_TRY(pn_request_allowance(out, &by_rho, request, plan->owner, PN_UNIT_RHO, false, program, err));
    PN_TRY(pn_request_allowance(&renyi, &by_renyi, request, plan->owner, PN_UNIT_RENYI, false, program, err));
    if (by_renyi < by_rho)
        *out = renyi;
    if (z)
        *z = fmin(by_rho, by_renyi);
    return PN_OK;
}

pn_status pn_model_run_noise(double *z, const pn_model *self, const pn_plan *plan, const pn_arg *common,
                             const pn_program *program, pn_err *err)
{
    pn_allowance allowance;

    *z = 0.0;
    if (!self->is_private)
        return PN_OK;
    return pn_model_allowance(&allowance, z, self, plan, common, (pn_counting){ .gaussian = true }, program, err);
}

/* ---- the plan's lines ---- */

static void explain_bounds(const pn_model *self, pn_plan *plan)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);

    pn_plan_add(plan, "bound B_g", self->lipschitz, "of a record, l2; %s",
                bounds->source == PN_BOUND_CLIPPED ? "enforced by clip" : "largest slope of the loss x row bound");
    pn_plan_add(plan, "bound B_H", self->bounds.record, "of a record, operator norm; %s",
                "largest second derivative of the loss x row bound^2");
    pn_plan_add(plan, "Hessian change M", self->bounds.lipschitz, "of the mean loss, per unit of distance; %s",
                isfinite(self->bounds.lipschitz) ? "third derivative of the loss x row bound^3" : "unknown");
}

static const char *hessian_source(const pn_model *self)
{
    if (self->generic)
        return self->neighbours == PN_REPLACE_ONE
                   ? "2 sqrt(d) B_H/m, the article's, or what is certified where that is more"
                   : "sqrt(d) B_H/m, half of the article's, or what is certified where that is more";
    if (self->neighbours != PN_REPLACE_ONE)
        return "a record's Frobenius norm/m";
    return self->convex && self->bounds.replace < 1.42 * self->bounds.record
               ? "sqrt(2) B_H/m: of two Hessians that have no negative eigenvalue"
               : "certified for the loss, at most 2 B_H/m where it has one margin";
}

void pn_model_explain(const pn_model *self, double z, pn_plan *plan)
{
    explain_bounds(self, plan);
    if (!self->is_private)
        return;
    if (!sees_all(self))
        pn_plan_add(plan, "batch m", (double)self->batch, "of every query its own, without replacement");
    pn_plan_add(plan, "sensitivity D_g", self->gradient_sensitivity, "%g B_g/m, rounding included",
                pn_contributions(self->neighbours));
    pn_plan_add(plan, "sensitivity D_H", self->hessian_sensitivity, "%s, in Frobenius norm", hessian_source(self));
    if (!(z > 0.0))
        return;
    pn_plan_add(plan, "gradient noise", self->gradient_sensitivity * z, "z D_g on each coordinate");
    pn_plan_add(plan, "Hessian noise", self->hessian_sensitivity * z,
                self->frobenius ? "z D_H on the diagonal, 1/sqrt(2) of it beside: isotropic in Frobenius norm"
                                : "z D_H on each entry on and above the diagonal");
}

void pn_model_explain_allowance(const pn_allowance *of, pn_plan *plan, const pn_arg *common)
{
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0;
    const char *formula = of->unit == PN_UNIT_GAUSSIAN ? "mu^2/2 of Gaussian releases: the exact curve"
                          : of->unit == PN_UNIT_RENYI  ? "Renyi divergence of one order, which prices T iterations best"
                          : plan->request.kind == PN_RHO ? "rho of zCDP, as given"
                          : paper                        ? "(sqrt(epsilon + ln 1/delta) - sqrt(ln 1/delta))^2 of zCDP"
                                                         : "rho of zCDP, by the optimal conversion";

    pn_plan_add(plan, "budget", of->total, "%s", formula);
    if (of->unit == PN_UNIT_RENYI)
        pn_plan_add(plan, "Renyi order", of->order, "fixed with the plan; what ran is counted at it");
}

/* ---- slopes that are known beforehand: how much less a neighbour moves of the gradient at such a point, and of what
 * later gradients differ from that one ---- */

static double known_max(double so_far, double found)
{
    return isnan(found) ? INFINITY : fmax(so_far, found);
}

/* What one range of labels adds.  Of several margins the slopes are a vector, of which intervals bound the entries
 * only: norms of both ends stand for the range of a change. */
static pn_status add_slopes(pn_objective *objective, pn_interval near, pn_interval labels, pn_slopes *out, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    pn_loss *loss = pn_objective_loss(objective);
    double reach = pn_interval_magnitude(bounds->margin) + pn_interval_magnitude(near), apart;
    pn_loss_bounds here, anywhere;

    PN_TRY(pn_loss_certify(loss, near, labels, &here, err));
    PN_TRY(pn_loss_certify(loss, bounds->margin, labels, &anywhere, err));
    apart = known_max(known_max(0.0, anywhere.slope.high - here.slope.low), here.slope.high - anywhere.slope.low);
    if (loss->margins > 1)
        apart = anywhere.slope_norm[PN_L2] + here.slope_norm[PN_L2];
    out->start = known_max(out->start, here.slope_norm[PN_L2]);
    out->change = known_max(out->change, fmin(apart, anywhere.curvature_norm * reach));
    return PN_OK;
}

/* Label by label where there are few, so that a slope is compared with that of the same label. */
static pn_status all_slopes(pn_objective *objective, pn_interval near, pn_slopes *out, pn_err *err)
{
    const pn_labels *labels = &pn_objective_loss(objective)->labels;
    pn_interval range = pn_objective_labels(objective);

    if (labels->kind != PN_LABELS_VALUES)
        return add_slopes(objective, near, range, out, err);
    for (size_t k = 0; k < labels->count; k++) {
        double value = labels->values[k];

        if (value >= range.low && value <= range.high)
            PN_TRY(add_slopes(objective, near, (pn_interval){ value, value }, out, err));
    }
    return PN_OK;
}

pn_status pn_slopes_read(pn_slopes *out, pn_objective *objective, const double *start, pn_err *err)
{
    double row = pn_objective_data(objective)->bounds.norm[PN_L2], length = 0.0, reach;
    pn_slopes found = { -1.0, -1.0 }; /* nothing seen */
    pn_status status;

    *out = (pn_slopes){ pn_objective_bounds(objective)->loss.slope_norm[PN_L2], INFINITY };
    for (size_t j = 0; j < pn_objective_dim(objective); j++)
        length = hypot(length, start[j]);
    if (!isfinite(row))
        return PN_OK;
    reach = length * row * (1.0 + SLACK);
    status = all_slopes(objective, (pn_interval){ -reach, reach }, &found, err);
    if (status == PN_ENOMEM)
        return status;
    if (status != PN_OK || found.start < 0.0) /* what is unknown is no gain */
        return PN_OK;
    out->start = fmin(out->start, found.start * (1.0 + SLACK));
    out->change = found.change * (1.0 + SLACK);
    return PN_OK;
}

double pn_model_moved(const pn_model *self, double slope, double passes)
{
    double count = pn_contributions(self->neighbours), n = (double)self->n;
    double each = slope * pn_objective_data(self->objective)->bounds.norm[PN_L2];
    double rounding = self->gradient_sensitivity - count * self->lipschitz / n + 0x1p-50 * self->gradient_sensitivity;

    return (count * each / n + passes * rounding + (passes - 1.0) * 0x1p-52 * each) * (1.0 + 1e-14);
}
