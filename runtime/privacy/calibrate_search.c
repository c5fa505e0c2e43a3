/* calibrate_search.c -- where the cost of a program reaches a target: bracket by doubling, then false position in logarithms.
 * Depends on: calibrate.h, accountant.h.  Used by: bindings, plans. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "privacy/accountant.h"
#include "privacy/calibrate.h"

#define MAX_PARAMS 16

typedef struct asked {
    double x, cost;
} asked;

typedef struct search {
    const pn_goal *goal;
    const pn_program *program;
    const char *accountant;
    double tolerance;
} search;

static pn_status open_accountant(const char *name, pn_accountant **out, pn_err *err)
{
    pn_arg args[MAX_PARAMS];

    memset(args, 0, sizeof args);
    return pn_accountant_new(out, name, args, err);
}

static pn_status price(const char *name, pn_event *event, size_t count, double delta, double *epsilon, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_status status = open_accountant(name, &accountant, err);

    if (status == PN_OK)
        status = pn_accountant_add(accountant, event, count, err);
    if (status == PN_OK)
        status = accountant->ops->epsilon(accountant, delta, epsilon, NULL, err);
    pn_accountant_free(accountant);
    return status;
}

static pn_status ask(const search *s, double x, asked *answer, pn_err *err)
{
    pn_event *event = NULL;
    size_t count = 1;
    pn_status status = s->program->release(s->program->self, x, &event, &count, err);

    answer->x = x;
    if (status == PN_OK)
        status = price(s->accountant, event, count, s->goal->delta, &answer->cost, err);
    pn_event_free(event);
    if (status == PN_OK && isnan(answer->cost))
        return pn_fail(err, PN_ENUMERIC, "%s: the cost at %s = %.10g is not a number", s->goal->owner,
                       s->goal->parameter, x);
    return status;
}

static bool fits(const search *s, const asked *a)
{
    return a->cost <= s->goal->epsilon;
}

/* One stride, e^step, toward higher or lower cost; kept in the range and, where asked for, whole. */
static double move(const search *s, double x, double step, bool costlier)
{
    double next = costlier == s->goal->rises ? x * exp(step) : x / exp(step);

    if (s->goal->whole)
        next = rint(next) != x ? rint(next) : next > x ? x + 1.0 : x - 1.0;
    return fmin(fmax(next, s->goal->low), s->goal->high);
}

static pn_status unreachable(const search *s, const asked *best, pn_err *err)
{
    if (isinf(best->cost) && s->goal->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the event has no finite epsilon at delta 0 (Gaussian noise never has); give delta > 0",
                       s->goal->owner);
    if (s->goal->whole)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: %.6g of it cost epsilon %.6g at delta %.6g already, more than %.6g",
                       s->goal->owner, best->x, best->cost, s->goal->delta, s->goal->epsilon);
    return pn_fail(err, PN_EUNSUPPORTED,
                   "%s: no %s from %.6g to %.6g reaches epsilon %.6g at delta %.6g; the least is epsilon %.6g, at "
                   "%.6g",
                   s->goal->owner, s->goal->parameter, s->goal->low, s->goal->high, s->goal->epsilon, s->goal->delta,
                   best->cost, best->x);
}

/* Neighbours in, out with in fitting and out not; out = in when all of the range up to its costlier end fits. */
static pn_status bracket(const search *s, double start, double step, asked *in, asked *out, pn_err *err)
{
    asked now;
    pn_status status = ask(s, start, &now, err);
    bool costlier = status == PN_OK && fits(s, &now);

    *in = *out = now;
    while (status == PN_OK) {
        double next = move(s, now.x, step, costlier);

        if (next == now.x)
            return costlier ? PN_OK : unreachable(s, &now, err);
        status = ask(s, next, &now, err);
        *(costlier ? out : in) = now;
        if (status == PN_OK && fits(s, &now) != costlier)
            break;
        *(costlier ? in : out) = now;
        step *= 1.5;
    }
    return status;
}

/* The next x between the two; weights halve the pull of an end that stays (the Illinois rule). */
static double between(const search *s, const asked *in, const asked *out, double in_weight, double out_weight)
{
    double low = log(in->x), high = log(out->x), margin = fmin(0.4 * s->tolerance / fabs(high - low), 0.3), x;
    double at_in = in_weight * log(in->cost / s->goal->epsilon),
           at_out = out_weight * log(out->cost / s->goal->epsilon);
    double part = isfinite(at_in) && isfinite(at_out) && at_out > at_in ? -at_in / (at_out - at_in) : 0.5;

    part = fmin(fmax(part, margin), 1.0 - margin);
    x = exp(low + part * (high - low));
    if (s->goal->whole)
        x = fmin(fmax(rint(x), fmin(in->x, out->x) + 1.0), fmax(in->x, out->x) - 1.0);
    return x;
}

static bool close_enough(const search *s, const asked *in, const asked *out)
{
    double apart = fabs(out->x - in->x);

    return s->goal->whole ? apart <= fmax(1.0, (s->tolerance - 1e-6) * out->x) : apart <= s->tolerance * out->x;
}

/* False position, and halving when it has not halved the interval in three steps. */
static pn_status narrow(const search *s, asked *in, asked *out, pn_err *err)
{
    double in_weight = 1.0, out_weight = 1.0, checkpoint = INFINITY;
    pn_status status = PN_OK;

    for (int i = 0; status == PN_OK && !close_enough(s, in, out); i++) {
        double apart = fabs(log(out->x) - log(in->x));
        bool halve = i % 3 == 2 && apart > 0.5 * checkpoint;
        asked next;

        if (i % 3 == 2 || i == 0)
            checkpoint = apart;
        status = ask(s, halve ? between(s, in, out, INFINITY, INFINITY) : between(s, in, out, in_weight, out_weight),
                     &next, err);
        if (status != PN_OK)
            break;
        if (fits(s, &next)) {
            *in = next;
            in_weight = 1.0;
            out_weight *= 0.5;
        } else {
            *out = next;
            out_weight = 1.0;
            in_weight *= 0.5;
        }
    }
    return status;
}

static pn_status solve(const search *s, double start, double step, asked *answer, pn_err *err)
{
    asked out;
    pn_status status = bracket(s, start, step, answer, &out, err);

    return status == PN_OK && answer->x != out.x ? narrow(s, answer, &out, err) : status;
}

static pn_status check_goal(const pn_goal *goal, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_status status;

    if (!(goal->epsilon > 0.0 && isfinite(goal->epsilon)))
        return pn_fail(err, PN_EINVAL, "%s: epsilon must be a positive number, got %g", goal->owner, goal->epsilon);
    if (!(goal->delta >= 0.0 && goal->delta < 1.0))
        return pn_fail(err, PN_EINVAL, "%s: delta must be a number from 0 up to but not including 1, got %g",
                       goal->owner, goal->delta);
    if (!(goal->low > 0.0 && goal->low <= goal->start && goal->start <= goal->high && isfinite(goal->high)))
        return pn_fail(err, PN_EINVAL, "%s: the range of %s must be 0 < low <= start <= high, got %g, %g, %g",
                       goal->owner, goal->parameter, goal->low, goal->start, goal->high);
    status = open_accountant(goal->accountant, &accountant, err); /* before the program is asked anything */
    pn_accountant_free(accountant);
    return status;
}

/* Cheap accountants answer at once; the others begin near the answer of "rdp", which is seldom far. */
static pn_status first_guess(const search *s, double *start, double *step, pn_err *err)
{
    search rough = { s->goal, s->program, "rdp", 0.01 };
    asked answer;
    pn_status status;

    *start = s->goal->start;
    *step = 0.69314718055994530942;
    if (strcmp(s->accountant, "rdp") == 0 || strcmp(s->accountant, "zcdp") == 0)
        return PN_OK;
    status = solve(&rough, *start, *step, &answer, err);
    if (status == PN_OK) {
        *start = answer.x;
        *step = 0.03;
    }
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

pn_status pn_calibrate(double *out, double *reached, const pn_goal *goal, const pn_program *program, pn_err *err)
{
    search s = { goal, program, goal->accountant, 1e-6 };
    pn_status status = check_goal(goal, err);
    asked answer = { NAN, NAN };
    double start = 0.0, step = 0.0;

    if (status == PN_OK)
        status = first_guess(&s, &start, &step, err);
    if (status == PN_OK)
        status = solve(&s, start, step, &answer, err);
    if (status == PN_OK)
        status = ask(&s, answer.x, &answer, err);
    if (status == PN_OK && !fits(&s, &answer))
        status =
            pn_fail(err, PN_ENUMERIC,
                    "%s: the cost at %s = %.10g changed when it was asked again; the event must depend on %s alone",
                    goal->owner, goal->parameter, answer.x, goal->parameter);
    if (status != PN_OK)
        return status;
    *out = answer.x;
    if (reached)
        *reached = answer.cost;
    return PN_OK;
}

/* ---- steps ---- */

static pn_status many(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    (void)err;
    *event = pn_event_keep(self);
    *count = (size_t)x;
    return PN_OK;
}

pn_status pn_calibrate_steps(size_t *out, double *reached, const pn_goal *goal, pn_event *event, pn_err *err)
{
    pn_program program = { many, event };
    pn_goal steps = *goal;
    double x;
    pn_status status;

    steps.rises = steps.whole = true;
    steps.low = steps.start = 1.0;
    steps.high = SIZE_MAX < 0x1p52 ? (double)(SIZE_MAX / 2) : 0x1p52;
    status = pn_calibrate(&x, reached, &steps, &program, err);
    if (status != PN_OK)
        return status;
    if (x >= steps.high)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: %.6g steps still fit; the event costs next to nothing", goal->owner,
                       x);
    *out = (size_t)x;
    return PN_OK;
}
