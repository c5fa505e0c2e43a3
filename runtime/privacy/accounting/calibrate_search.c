/* calibrate_search.c -- where the cost of a program reaches a target: bracket by doubling, then false position in
 * logarithms; for slow accountants, secants from the answer of a quick one.
 * Depends on: calibrate.h, accountant.h, event_leaf.h.  Used by: bindings, plans. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "core/stop.h"
#include "privacy/accounting/accountant_ops.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/event_leaf.h"

#define MAX_PARAMS 16
#define FARTHEST   4.0 /* times the last stride */

typedef struct asked {
    double x, cost;
} asked;

typedef struct search {
    const pn_goal *goal;
    const pn_program *program;
    pn_price price;
    const char *accountant;
    double target, tolerance;
    asked last; /* the latest question, with what was priced for it */
    size_t *questions;
    pn_event *event;
    size_t count;
} search;

static pn_status open_accountant(pn_accountant **out, const pn_goal *goal, const char *name, pn_err *err)
{
    pn_arg args[MAX_PARAMS];

    memset(args, 0, sizeof args);
    return pn_accountant_open(out, goal->owner, name, args, err);
}

static double rho_of(const pn_event *event, size_t count)
{
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_zcdp(event, count, &sum);
    return sum.high;
}

static pn_status price(const search *s, pn_event *event, size_t count, double delta, double *epsilon, pn_err *err)
{
    pn_accountant *accountant = NULL;
    pn_status status;

    if (s->price != PN_PRICE_ACCOUNTANT) {
        *epsilon = s->price == PN_PRICE_RHO ? rho_of(event, count) : pn_event_epsilon(event, count, delta, NULL);
        return PN_OK;
    }
    status = open_accountant(&accountant, s->goal, s->accountant, err);
    if (status == PN_OK)
        status = pn_accountant_add(accountant, event, count, err);
    if (status == PN_OK)
        status = accountant->ops->epsilon(accountant, delta, epsilon, NULL, err);
    pn_accountant_free(accountant);
    return status;
}

/* How many questions there will be is not known. */
static pn_status tell(const search *s, pn_err *err)
{
    pn_progress now = { s->goal->owner, (double)(*s->questions)++, 0.0, s->event ? s->last.cost : NAN, NAN, NAN, NULL };

    return pn_task_tell(s->goal->task, &now, err);
}

static pn_status ask(search *s, double x, asked *answer, pn_err *err)
{
    pn_event *event = NULL;
    size_t count = 1;
    pn_status status = tell(s, err);

    if (status == PN_OK)
        status = pn_stop_asked(err);

    answer->x = x;
    if (status == PN_OK)
        status = s->program->release(s->program->self, x, &event, &count, err);
    if (status == PN_OK && s->event && x == s->last.x && count == s->count && pn_event_same(event, s->event))
        answer->cost = s->last.cost; /* the same question has the same answer */
    else if (status == PN_OK)
        status = price(s, event, count, s->goal->delta, &answer->cost, err);
    if (status == PN_OK && isnan(answer->cost))
        status = pn_fail(err, PN_ENUMERIC, "%s: the cost at %s = %.10g is not a number", s->goal->owner,
                         s->goal->parameter, x);
    pn_event_free(s->event);
    s->event = event;
    s->count = count;
    s->last = *answer;
    return status;
}

static bool fits(const search *s, const asked *a)
{
    return a->cost <= s->target;
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
    if (s->price == PN_PRICE_RHO)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: no %s from %.6g to %.6g reaches rho %.6g; the least is rho %.6g, at %.6g", s->goal->owner,
                       s->goal->parameter, s->goal->low, s->goal->high, s->goal->epsilon, best->cost, best->x);
    if (isinf(best->cost) && s->goal->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the event has no finite epsilon at delta 0 (Gaussian noise never has); give delta > 0",
                       s->goal->owner);
    if (s->goal->whole)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: %.6g of it cost epsilon %.6g at delta %.6g already, more than %.6g",
                       s->goal->owner, best->x, best->cost, s->goal->delta, s->goal->epsilon);
    return pn_fail(err, PN_EUNSUPPORTED,
                   "%s: no %s from %.6g to %.6g reaches epsilon %.6g at delta %.6g; the least is epsilon %.6g, at %.6g",
                   s->goal->owner, s->goal->parameter, s->goal->low, s->goal->high, s->goal->epsilon, s->goal->delta,
                   best->cost, best->x);
}

/* Neighbours in, out with in fitting and out not; out = in when all of the range up to its costlier end fits. */
static pn_status bracket(search *s, double start, double step, asked *in, asked *out, pn_err *err)
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
    double at_in = in_weight * log(in->cost / s->target), at_out = out_weight * log(out->cost / s->target);
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
static pn_status narrow(search *s, asked *in, asked *out, pn_err *err)
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

static pn_status solve(search *s, double start, double step, asked *answer, pn_err *err)
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
        return pn_fail(err, PN_EINVAL, "%s: %s must be a positive number, got %g", goal->owner,
                       goal->price == PN_PRICE_RHO ? "rho" : "epsilon", goal->epsilon);
    if (!(goal->delta >= 0.0 && goal->delta < 1.0))
        return pn_fail(err, PN_EINVAL, "%s: delta must be a number from 0 up to but not including 1, got %g",
                       goal->owner, goal->delta);
    if (!(goal->low > 0.0 && goal->low <= goal->start && goal->start <= goal->high && isfinite(goal->high)))
        return pn_fail(err, PN_EINVAL, "%s: the range of %s must be 0 < low <= start <= high, got %g, %g, %g",
                       goal->owner, goal->parameter, goal->low, goal->start, goal->high);
    if (goal->price != PN_PRICE_ACCOUNTANT)
        return PN_OK;
    status = open_accountant(&accountant, goal, goal->accountant, err); /* before the program is asked anything */
    pn_accountant_free(accountant);
    return status;
}

static bool is_quick(const search *s)
{
    return s->price != PN_PRICE_ACCOUNTANT || strcmp(s->accountant, "rdp") == 0 || strcmp(s->accountant, "zcdp") == 0;
}

/* Where "rdp" reaches `target`, to a thousandth, from `start`. */
static pn_status rough_answer(const search *s, double target, double start, double step, double *x, pn_err *err)
{
    search rough = { .goal = s->goal,
                     .program = s->program,
                     .accountant = "rdp",
                     .target = target,
                     .tolerance = 1e-3,
                     .questions = s->questions };
    asked answer = { NAN, NAN };
    pn_status status = solve(&rough, start, step, &answer, err);

    pn_event_free(rough.event);
    if (status == PN_OK)
        *x = answer.x;
    return status;
}

/* What is known on either side of the target; x is NaN as long as nothing is. */
typedef struct sides {
    asked in, out;
} sides;

static void note(const search *s, sides *known, const asked *now)
{
    asked *side = fits(s, now) ? &known->in : &known->out;

    if (isnan(side->x) || fabs(log(now->cost / s->target)) < fabs(log(side->cost / s->target)))
        *side = *now;
}

static bool surrounded(const sides *known)
{
    return !isnan(known->in.x) && !isnan(known->out.x);
}

/* Where a line through two points in logarithms reaches the target, a little to the safe side; no farther than FARTHEST
 * times the distance of the two, since costs can fall off a cliff. */
static double along(const search *s, const asked *before, const asked *now, double slope)
{
    double most = FARTHEST * fabs(log(now->x / before->x));
    double move = log(s->target * (1.0 - 0.4 * s->tolerance) / now->cost) / slope;

    return fmin(fmax(now->x * exp(fmin(fmax(move, -most), most)), s->goal->low), s->goal->high);
}

/* Two points where the costs are near the target: where "rdp" reaches it,
 * and where it would if it were wrong there by the same
 * factor.  Then secants until they arrive, which *found says, or have the target between them. */
static pn_status secants(search *s, double *x, sides *known, bool *found, pn_err *err)
{
    asked before, now;
    pn_status status = ask(s, *x, &before, err);

    *found = false;
    if (status == PN_OK && before.cost > 0.0 && isfinite(before.cost))
        status = rough_answer(s, s->target * s->target / before.cost, *x, 0.1, x, err);
    if (status == PN_OK) {
        note(s, known, &before);
        status = ask(s, *x, &now, err);
    }
    for (int i = 0; status == PN_OK && i < 12; i++) {
        double slope = log(now.cost / before.cost) / log(now.x / before.x);

        *x = now.x;
        note(s, known, &now);
        *found = fits(s, &now) && now.cost >= s->target * (1.0 - s->tolerance);
        if (*found || !isfinite(slope) || (slope > 0.0) != s->goal->rises || (i > 1 && surrounded(known)))
            break;
        *x = along(s, &before, &now, slope);
        before = now;
        status = ask(s, *x, &now, err);
    }
    return status;
}

static pn_status find(search *s, asked *answer, pn_err *err)
{
    double x = s->goal->start, step = 0.69314718055994530942;
    sides known = { { NAN, NAN }, { NAN, NAN } };
    bool found = false;
    pn_status status = PN_OK;

    if (!is_quick(s)) {
        status = rough_answer(s, s->target, x, step, &x, err);
        if (status == PN_OK && !s->goal->whole)
            status = secants(s, &x, &known, &found, err);
        if (status == PN_OK)
            step = s->goal->whole ? 0.03 : 0.003;
        else if (status == PN_EUNSUPPORTED) /* out of the reach of "rdp" only */
            status = PN_OK;
    }
    *answer = s->last;
    if (status == PN_OK && !found && surrounded(&known)) {
        *answer = known.in;
        return narrow(s, answer, &known.out, err);
    }
    return status == PN_OK && !found ? solve(s, x, step, answer, err) : status;
}

pn_status pn_calibrate(double *out, double *reached, const pn_goal *goal, const pn_program *program, pn_err *err)
{
    size_t questions = 0;
    search s = { .goal = goal,
                 .program = program,
                 .price = goal->price,
                 .accountant = goal->accountant,
                 .target = goal->epsilon,
                 .questions = &questions,
                 .tolerance = goal->tolerance > 0.0 ? goal->tolerance : 1e-6 };
    pn_status status = check_goal(goal, err);
    asked answer = { NAN, NAN };

    if (status == PN_OK)
        status = find(&s, &answer, err);
    if (status == PN_OK)
        status = ask(&s, answer.x, &answer, err);
    if (status == PN_OK && !fits(&s, &answer))
        status =
            pn_fail(err, PN_ENUMERIC,
                    "%s: the cost at %s = %.10g changed when it was asked again; the event must depend on %s alone",
                    goal->owner, goal->parameter, answer.x, goal->parameter);
    pn_event_free(s.event);
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

    steps.rises = steps.whole = true;
    steps.low = steps.start = 1.0;
    steps.high = (double)PN_SIZE_MAX;
    PN_TRY(pn_calibrate(&x, reached, &steps, &program, err));
    if (x >= steps.high)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: %.6g steps still fit; the event costs next to nothing", goal->owner,
                       x);
    *out = (size_t)x;
    return PN_OK;
}
