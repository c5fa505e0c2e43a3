/* schedule.c -- see schedule.h.  Depends on: schedule.h.  Used by: the solvers that take `step`. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/engine/schedule.h"

double pn_step_number(const pn_schedule *self, const pn_arg *step)
{
    if (self->each)
        return self->eta;
    return step->given && !step->text && !pn_arg_lists(step) ? step->real : 0.0;
}

static pn_status fill(double *each, const pn_plan *plan, const pn_arg *step, pn_err *err)
{
    const pn_sequence *function = step->object;

    if (function)
        return function->fill(function->self, plan->iterations, each, err);
    memcpy(each, step->vector.data, plan->iterations * sizeof *each);
    return PN_OK;
}

pn_status pn_schedule_read(pn_schedule *out, const pn_plan *plan, const pn_param *row, const pn_arg *step, pn_err *err)
{
    size_t steps = plan->iterations;
    bool share = row->range == PN_SHARE;

    if (!pn_arg_lists(step) || out->each || steps == 0)
        return PN_OK;
    if (!step->object && step->vector.n != steps)
        return pn_fail(
            err, PN_EDIM,
            "%s: step is a list of %zu numbers, and the run has %zu steps; give one number for each step, or "
            "iterations=%zu",
            plan->owner, step->vector.n, steps, step->vector.n);
    *out = (pn_schedule){ .law = PN_STEP_CONSTANT };
    PN_TRY(pn_new(&out->each, steps, err, "%s: out of memory for %zu steps", plan->owner, steps));
    PN_TRY(fill(out->each, plan, step, err));
    for (size_t t = 0; t < steps; t++) {
        if (!pn_in_range(row->range, out->each[t]))
            return pn_fail(err, PN_EINVAL, "%s: step must be %s, got %g at step %zu", plan->owner,
                           share ? "a number above 0, at most 1" : "a positive, finite number",
                           isnan(out->each[t]) ? (double)NAN : out->each[t], t + 1);
        out->eta = fmax(out->eta, out->each[t]);
    }
    return PN_OK;
}

void pn_schedule_clear(pn_schedule *self)
{
    pn_free(self->each);
    self->each = NULL;
}

double pn_schedule_at(const pn_schedule *self, size_t t)
{
    if (self->each)
        return self->each[t - 1];
    switch (self->law) {
    case PN_STEP_SQRT:
        return self->eta / sqrt((double)t);
    case PN_STEP_INVERSE:
        return self->eta / (double)t;
    case PN_STEP_HARMONIC:
        return 2.0 / (self->eta * ((double)t + 1.0));
    case PN_STEP_CONSTANT:
        break;
    }
    return self->eta;
}

void pn_schedule_explain(const pn_schedule *self, pn_plan *plan, const char *name, double number, const char *formula,
                         ...)
{
    char text[224];
    va_list args;

    if (self->each) {
        (void)snprintf(text, sizeof text, "%.4g to %.4g", self->each[0], self->each[plan->iterations - 1]);
        pn_plan_add_text(plan, name, text, "as given, from the first step to the last; at most %.4g", self->eta);
        return;
    }
    va_start(args, formula);
    (void)vsnprintf(text, sizeof text, formula, args);
    va_end(args);
    pn_plan_add(plan, name, number, "%s", text);
}
