/* allowance.c -- the budget of an adaptive run in rho, in mu^2/2 of Gaussian noise,
 * or in the Renyi divergence of one order.
 * Depends on: allowance.h, accountant.h, conversion.h, event_leaf.h, gaussian.h, random/noise.h (constants).
 * Used by: solvers.
 * See accounting.md sections 3 and 7, second-order.md sections 3 to 6.
 *
 * Margins.  The total is 2^-40 below what the budget allows, sums may exceed it by 2^-45, and the event that stands for
 * all of it costs 2^-42 more than it: whatever fits here stays below the event, and the event below the budget,
 * by more than ledgers round. */
#include <math.h>

#include "core/stop.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/allowance.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/gaussian.h"
#include "random/noise.h"

#define LOWERED (1.0 - 0x1p-40)
#define SUMS    (1.0 + 0x1p-45)
#define WHOLE   (1.0 + 0x1p-42)

#define LEAST_NOISE 0x1p-30
#define MOST_NOISE  0x1p60

const char *const pn_unit_names[] = { "rho", "gaussian", "renyi", NULL };

/* ---- one event for all of it ---- */

static pn_status make_leaf(pn_event **out, const char *name, double first, double second, pn_neighbours neighbours,
                           pn_err *err)
{
    pn_arg args[3] = { { .given = true, .real = first }, { .given = true, .real = second }, { 0 } };

    return pn_event_from_args(out, name, args, neighbours, err);
}

/* All of the total, without draws.  At the order inf pure epsilons add up. */
static pn_status whole_event(const pn_allowance *self, size_t draws, pn_neighbours neighbours, pn_event **out,
                             pn_err *err)
{
    double total = self->total * WHOLE;

    *out = NULL;
    if (self->unit == PN_UNIT_GAUSSIAN)
        return pn_event_gaussian(out, 1.0 / sqrt(2.0 * total), 1.0, draws, neighbours, err);
    if (self->unit == PN_UNIT_RHO)
        return make_leaf(out, "zcdp", total, 0.0, neighbours, err);
    if (isinf(self->order))
        return make_leaf(out, "pure", total, 0.0, neighbours, err);
    return make_leaf(out, "rdp", self->order, total, neighbours, err);
}

/* Whether ledgers of the plan's budget find room for the tails in the usual part of delta, whichever way the draws fall
 * to releases: windows narrow with a release's share of the total, which nobody knows,
 * so that only what exp(epsilon) carries over is counted. */
static bool tails_fit(const pn_allowance *self, size_t draws)
{
    double count = (double)draws;
    pn_slack slack = { count * 2.0 * PN_GAUSSIAN_ETA, count * PN_GAUSSIAN_TAIL, 1.0 };

    if (isnan(self->limit))
        return true;
    if (self->unit == PN_UNIT_GAUSSIAN) { /* the windows of one release of everything are the narrowest */
        slack = pn_gaussian_slack(count, sqrt(2.0 * self->total * WHOLE));
        if (slack.epsilon > fmin(PN_SLACK_SHARE, self->limit / 4.0) * 0.5)
            return false;
    }
    slack.epsilon *= 1.02; /* and a little less of either than ledgers have room for */
    slack.tail *= 1.02;
    slack.window *= 1.02;
    return pn_tails_fit(slack, self->limit, self->delta, PN_TAIL_SHARE, 1.0);
}

pn_status pn_allowance_event(const pn_allowance *self, size_t draws, pn_neighbours neighbours, pn_event **out,
                             pn_err *err)
{
    *out = NULL;
    if (!tails_fit(self, draws))
        return pn_fail(err, PN_EBUDGET,
                       "allowance: at epsilon %g the tails of %zu draws of noise need more of delta %g than is set "
                       "aside for them; ask for a smaller epsilon or a larger delta",
                       self->limit, draws, self->delta);
    return whole_event(self, draws, neighbours, out, err);
}

/* ---- opening ---- */

static pn_status check_budget(const pn_run_budget *budget, pn_unit unit, bool paper, const pn_program *program,
                              pn_err *err)
{
    bool rho = !isnan(budget->rho);

    if (rho && !(budget->rho > 0.0 && isfinite(budget->rho)))
        return pn_fail(err, PN_EINVAL, "%s: rho must be a positive number, got %g", budget->owner, budget->rho);
    if (!rho && !(budget->epsilon > 0.0 && isfinite(budget->epsilon)))
        return pn_fail(err, PN_EINVAL, "%s: epsilon must be a positive number, got %g", budget->owner, budget->epsilon);
    if (!rho && !(budget->delta > 0.0 && budget->delta < 1.0))
        return pn_fail(err, PN_EINVAL, "%s: delta must be a number between 0 and 1, got %g", budget->owner,
                       budget->delta);
    if ((unsigned)unit > PN_UNIT_RENYI)
        return pn_fail(err, PN_EINVAL, "%s: there is no unit number %d", budget->owner, (int)unit);
    if (paper && (rho || unit != PN_UNIT_RHO))
        return pn_fail(err, PN_EINVAL, "%s: the article's total is a rho for a budget of epsilon and delta",
                       budget->owner);
    if (unit == PN_UNIT_RENYI && (rho || !program))
        return pn_fail(err, PN_EINVAL, "%s: the unit renyi is for a budget of epsilon and delta, and needs a program",
                       budget->owner);
    return PN_OK;
}

/* That at which noise of a Gaussian alone is priced by its Renyi curve. */
static pn_status gaussian_order(double *order, const pn_run_budget *budget, pn_err *err)
{
    pn_event *event = NULL;
    pn_status status = make_leaf(&event, "zcdp", pn_zcdp_rho(budget->epsilon, budget->delta), 0.0, PN_REPLACE_ONE, err);

    if (status == PN_OK)
        (void)pn_event_epsilon(event, 1, budget->delta, order);
    pn_event_free(event);
    return status;
}

/* The order that prices the worst-case run, calibrated to all of the budget. */
static pn_status find_order(double *order, const pn_run_budget *budget, const pn_program *program, pn_err *err)
{
    pn_run_budget by_renyi = *budget;
    pn_event *event = NULL;
    size_t count = 1;
    double z;
    pn_status status;

    by_renyi.accountant = "rdp";
    status = pn_calibrate_run(&z, NULL, &by_renyi, program, err);
    if (status == PN_OK)
        status = program->release(program->self, z, &event, &count, err);
    if (status != PN_OK)
        return status;
    (void)pn_event_epsilon(event, count, budget->delta, order);
    pn_event_free(event);
    return *order > 0.0 ? PN_OK : gaussian_order(order, budget, err);
}

static double article_rho(double epsilon, double delta)
{
    double root = epsilon / (sqrt(epsilon - log(delta)) + sqrt(-log(delta)));

    return root * root;
}

/* mu^2/2 of all that the Gaussian filter of a ledger admits; what is left out is what calibration leaves out
 * (calibrate_releases.c). */
static double gaussian_total(double epsilon, double delta)
{
    double mu = pn_gaussian_mu(epsilon - fmin(0x1p-35, epsilon / 2.0) - 0x1p-38 * epsilon, pn_ideal_delta(delta));

    return mu * mu / 2.0;
}

static double total_of(const pn_allowance *self, const pn_run_budget *budget, bool paper)
{
    if (!isnan(budget->rho))
        return budget->rho;
    if (paper)
        return article_rho(budget->epsilon, budget->delta);
    if (self->unit == PN_UNIT_GAUSSIAN)
        return gaussian_total(budget->epsilon, budget->delta);
    if (self->unit == PN_UNIT_RHO)
        return pn_zcdp_rho(budget->epsilon, budget->delta);
    return pn_rdp_budget(self->order, budget->epsilon, pn_ideal_delta(budget->delta));
}

/* What all of it costs; lower totals until that is what was asked for,
 * since searches over orders waver in their last digits. */
static pn_status settle(pn_allowance *self, const pn_run_budget *budget, pn_err *err)
{
    for (int i = 0; i < 40; i++) {
        pn_event *event = NULL;

        PN_TRY(whole_event(self, 0, PN_REPLACE_ONE, &event, err));
        self->epsilon = pn_event_epsilon(event, 1, budget->delta, NULL);
        pn_event_free(event);
        if (self->epsilon <= budget->epsilon)
            return PN_OK;
        self->total *= 1.0 - ldexp(1.0, i - 44);
    }
    return pn_fail(err, PN_ENUMERIC, "%s: no part of the allowance costs at most epsilon %g at delta %g", budget->owner,
                   budget->epsilon, budget->delta);
}

pn_status pn_allowance_open(pn_allowance *out, const pn_run_budget *budget, pn_unit unit, bool paper,
                            const pn_program *program, pn_err *err)
{
    bool rho = !isnan(budget->rho);
    pn_allowance self = { .unit = unit, .epsilon = NAN, .limit = NAN };
    pn_status status = check_budget(budget, unit, paper, program, err);

    if (status == PN_OK && unit == PN_UNIT_RENYI)
        status = find_order(&self.order, budget, program, err);
    if (status != PN_OK)
        return status;
    self.total = total_of(&self, budget, paper) * LOWERED;
    if (!(self.total >= 1e-140))
        return pn_fail(err, PN_EBUDGET, "%s: %s %g leaves nothing to spend", budget->owner, rho ? "rho" : "epsilon",
                       rho ? budget->rho : budget->epsilon);
    if (!rho) {
        self.limit = budget->epsilon;
        self.delta = budget->delta;
        status = settle(&self, budget, err);
    }
    if (status == PN_OK)
        *out = self;
    return status;
}

/* ---- counting ---- */

double pn_allowance_cost(const pn_allowance *self, const pn_event *event, size_t count)
{
    double drawn = isnan(self->limit) ? 0.0 : pn_event_slack(event, count).epsilon;
    pn_sum sum = { 0.0, 0.0 };

    if (self->unit == PN_UNIT_GAUSSIAN) { /* whose total leaves room for the draws */
        pn_event_add_mu_squared(event, count, &sum);
        return sum.high / 2.0;
    }
    if (pn_event_own_delta(event, count) > 0.0)
        return INFINITY;
    if (self->unit == PN_UNIT_RHO)
        pn_event_add_zcdp(event, count, &sum);
    else
        pn_event_add_rdp(event, count, self->order, &sum);
    return sum.high + drawn;
}

double pn_allowance_left(const pn_allowance *self)
{
    return fmax(0.0, self->total - self->spent - self->carry);
}

bool pn_allowance_fits(const pn_allowance *self, double cost)
{
    pn_sum sum = { self->spent, self->carry };

    if (!(cost >= 0.0)) /* NaN too */
        return false;
    pn_sum_add_one(&sum, cost);
    return sum.high <= self->total * SUMS;
}

void pn_allowance_take(pn_allowance *self, double cost)
{
    pn_sum sum = { self->spent, self->carry };

    pn_sum_add_one(&sum, cost);
    self->spent = sum.high;
    self->carry = sum.low;
}

/* ---- noise ---- */

/* Tails of drawn noise: at large epsilon they need more room than the total of Gaussian noise leaves,
 * and less noise makes it worse. */
static bool has_room(const pn_allowance *self, const pn_event *event, size_t count)
{
    return self->unit != PN_UNIT_GAUSSIAN || isnan(self->limit) ||
           pn_event_epsilon(event, count, self->delta, NULL) <= self->limit;
}

/* +inf where the program has no event, which *refused then says. */
static pn_status cost_at(const pn_allowance *self, const pn_program *program, double z, double *cost,
                         pn_status *refused, pn_err *err)
{
    pn_event *event = NULL;
    size_t count = 1;
    pn_status status = pn_stop_asked(err);

    if (status == PN_OK)
        status = program->release(program->self, z, &event, &count, err);
    *refused = status;
    *cost = status == PN_OK && has_room(self, event, count) ? pn_allowance_cost(self, event, count) : INFINITY;
    pn_event_free(event);
    return status == PN_EINVAL || status == PN_EUNSUPPORTED ? PN_OK : status;
}

/* low does not fit, high does: to 1e-6, in logarithms, since costs fall over orders of magnitude. */
static pn_status narrow(const pn_allowance *self, double share, const pn_program *program, double low, double *high,
                        pn_err *err)
{
    pn_status status = PN_OK, refused;

    while (status == PN_OK && *high > low * (1.0 + 1e-6)) {
        double middle = sqrt(low) * sqrt(*high), cost;

        status = cost_at(self, program, middle, &cost, &refused, err);
        *(cost <= share ? high : &low) = middle;
    }
    return status;
}

pn_status pn_allowance_noise(const pn_allowance *self, double share, const pn_program *program, double *z, pn_err *err)
{
    double at = 1.0, low, high, cost;
    pn_status refused, status = cost_at(self, program, at, &cost, &refused, err);
    bool fits = cost <= share;

    while (status == PN_OK && (fits ? at > LEAST_NOISE : at < MOST_NOISE)) {
        double next = fits ? at / 2.0 : at * 2.0;

        status = cost_at(self, program, next, &cost, &refused, err);
        if ((cost <= share) != fits) {
            low = fits ? next : at;
            high = fits ? at : next;
            if (status == PN_OK)
                status = narrow(self, share, program, low, &high, err);
            if (status == PN_OK)
                *z = high;
            return status;
        }
        at = next;
    }
    if (status == PN_OK && fits)
        *z = at;
    else if (status == PN_OK && refused != PN_OK)
        status = refused;
    else if (status == PN_OK)
        status = pn_fail(err, PN_EBUDGET, "allowance: no noise multiplier up to 2^60 costs at most %g", share);
    return status;
}
