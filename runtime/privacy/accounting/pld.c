/* pld.c -- bounds on epsilon and delta of composed records: as many frequencies as it takes, and the root.
 * Depends on: pld.h, pld_problem.h, pld_single.h.  Used by: accountant_pld.c.
 *
 * The certificate.  Laws above and below the record (pld_law.c); payoffs above and below the hockey stick, copies,
 * dropped frequencies and rounding of the sums (pld_part.c); rounding of the tails, which is the same as P, Q and the
 * knots being off by a relative 2^-48 a record, and of the tilt: delta times (1 +- 2^-44 records),
 * epsilon +- 2^-49 (128 + 4 max|L|) a record. */
#include <math.h>

#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_problem.h"
#include "privacy/accounting/pld_single.h"

#define FIRST      256   /* frequencies */
#define PER_LAW    50.0  /* products that a power is worth, ... */
#define PER_PART   150.0 /* ... and that an entry of the payoff is */
#define LAST       ((size_t)1 << 17)
#define LAST_ASKED ((size_t)1 << 19) /* with a step */
#define SEEN       3                 /* rounds, by which time a guess is known to be bad */
#define NEAR       0.6
#define NEAR_APART 0.8 /* where the guess decides what is large */
#define STILL      6   /* rounds after which ... */
#define HARDLY     0.9 /* of the width is left: more frequencies gain nothing */
#define EVEN       0.2 /* of the widest gap: parts that are refined with that one */
#define GUESSES    4
#define ROOT_STEPS 60
#define ROOT_ERROR 1e-12 /* of ln delta */

/* ---- roots ---- */

/* Where to look when Newton's step is no help.  A lower bound is hidden by its allowance far left of the answer and at
 * it, so the search goes left in growing steps. */
static double outside(const pn_side *side, double low, double high, double at, double *step, int i)
{
    if (isinf(high))
        return 2.0 * at + 1.0 / side->parts[0].tilt;
    if (low > 0.0 || (side->upper && i >= 4))
        return 0.5 * (low + high);
    *step *= 3.0;
    return side->upper ? 0.0 : fmax(0.0, at - *step);
}

/* A point at which the bound has been evaluated, so that the answer does not rest on its being monotone in numbers: an
 * upper epsilon at which it is at most delta (+inf when none was found), or a lower one at which it is at least delta
 * (0 for none). */
static double solve(const pn_side *side, double delta, double start)
{
    double low = 0.0, high = INFINITY, at = start, sign = side->upper ? -1.0 : 1.0, goal = log(delta), slope, value;
    double step = 1e-6 / side->parts[0].tilt;

    if (side->infinite >= delta)
        return INFINITY;
    for (int i = 0; i < ROOT_STEPS && (isinf(high) || high - low > 0x1p-51 * high); i++) {
        double next;

        value = log(pn_side_delta(side, at, &slope)) - goal;
        if (value <= 0.0)
            high = at;
        else
            low = at;
        if (value * sign >= 0.0 && fabs(value) <= ROOT_ERROR)
            break;
        if (value <= 0.0 && at == 0.0)
            break;
        next = at - (value - 0.5 * sign * ROOT_ERROR) / slope;
        if (!(next > low && next < high))
            next = outside(side, low, high, at, &step, i);
        at = next;
    }
    return side->upper ? high : low;
}

/* ---- one direction ---- */

/* delta at self->epsilon, which rounding has moved by at most `shift`. */
static pn_pld_bounds delta_at(const pn_problem *self, const pn_side sides[2], double shrink, double grow)
{
    pn_pld_bounds found = { 0 };
    double unused;

    found.high = fmin(1.0, pn_side_delta(&sides[0], self->epsilon - self->shift, &unused) * grow);
    found.low = pn_side_delta(&sides[1], self->epsilon + self->shift, &unused) * shrink;
    return found;
}

static pn_pld_bounds ask(const pn_problem *self, const pn_side sides[2])
{
    double shrink = 1.0 - fmin(1.0, self->factor), grow = 1.0 + self->factor;
    pn_pld_bounds found = { 0 };

    if (self->delta == 0.0)
        return delta_at(self, sides, shrink, grow);
    found.high = solve(&sides[0], self->delta * shrink, sides[0].guess) + self->shift;
    found.low = fmax(0.0, solve(&sides[1], self->delta * grow, fmin(found.high, sides[1].guess)) - self->shift);
    return found;
}

/* Products that more frequencies are worth, by how far apart the bounds are. */
static double worth(const pn_problem *self, pn_pld_bounds found)
{
    double width = found.high - found.low, relative = isinf(width) ? 1.0 : width / found.high;

    if (self->delta == 0.0)
        relative *= 0.1;
    else if (width < 1e-8 + 4.0 * self->shift)
        return 0.0;
    if (!(relative > 1e-9))
        return 0.0;
    if (relative > 2e-5)
        return relative > 5e-3 && width > 5e-5 ? 4e7 : 2.4e7;
    return relative > 5e-7 ? 1.4e7 : 1e6;
}

static double atoms_of(const pn_part *part)
{
    double sum = PER_PART;

    for (size_t r = 0; r < part->n; r++)
        sum += (double)pn_law_until(&part->laws[r], part->to) + PER_LAW;
    return sum;
}

/* Twice the frequencies for the parts in which the bounds are farthest apart, if that is worth it.  *spent counts
 * products. */
static pn_status extend(pn_problem *self, pn_side sides[2], pn_pld_bounds found, double *spent, bool *done, pn_err *err)
{
    double at = self->delta > 0.0 ? found.high : self->epsilon, gap[PN_SIDE_PARTS], most = 0.0, cost = 0.0, unused;

    for (size_t i = 0; i < sides[0].count; i++) {
        gap[i] = pn_part_delta(&sides[0].parts[i], at, &unused);
        if (i < sides[1].count)
            gap[i] -= pn_part_delta(&sides[1].parts[i], at, &unused);
        most = fmax(most, gap[i]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t side = 0; side < 2; side++) {
            for (size_t i = 0; i < sides[side].count; i++) {
                pn_part *part = &sides[side].parts[i];
                size_t n = 2 * part->frequencies;

                if (part->frequencies > 0 && i < sides[0].count && !(gap[i] >= EVEN * most))
                    continue;
                n = n > FIRST ? n : FIRST;
                if (pass == 0)
                    cost += (double)(n - part->frequencies) * atoms_of(part);
                else if (n <= LAST)
                    PN_TRY(pn_part_extend(part, n, err));
                else
                    *done = true;
            }
        }
        *done = *done || (pass == 0 && sides[0].parts[0].frequencies > 0 && *spent + cost > worth(self, found));
        if (*done)
            return PN_OK;
    }
    *spent += cost;
    return PN_OK;
}

/* The answer is far from the guess, or the composition had better be taken apart. */
static bool should_restart(pn_problem *self, const pn_side *side, pn_pld_bounds found)
{
    bool by_delta = self->delta > 0.0, wide = found.high - found.low > 1e-2 * found.high, before = self->apart;
    double at = by_delta ? found.high : self->epsilon, delta = by_delta ? self->delta : found.high;

    if (by_delta && found.high < 1e-6)
        return false;
    self->apart = self->apart || pn_side_is_mixed(side, at, delta, wide);
    return self->apart != before || (by_delta && found.high < (before ? NEAR_APART : NEAR) * side->guess);
}

/* As many frequencies as the step asks for. */
static pn_status compose_at_step(pn_problem *self, pn_side sides[2], pn_pld_bounds *found, pn_err *err)
{
    for (size_t i = 0; i < 2; i++) {
        pn_part *part = &sides[i].parts[0];
        double n = pn_part_set_step(part, self->step);

        if (!(n <= (double)LAST_ASKED))
            return pn_fail(err, PN_EUNSUPPORTED,
                           "accountant.pld: a step of %g needs %.0f points, at most %zu are allowed", self->step, n,
                           LAST_ASKED);
        PN_TRY(pn_part_extend(part, (size_t)n, err));
    }
    *found = ask(self, sides);
    return PN_OK;
}

/* More and more frequencies, until the bounds are close, no longer get closer, or the answer turns out to be far from
 * the guess. */
static pn_status compose(pn_problem *self, pn_side sides[2], pn_pld_bounds *found, double *spent, bool *far,
                         pn_err *err)
{
    bool done = false;
    double before = INFINITY;

    if (self->step > 0.0) {
        *far = false;
        return compose_at_step(self, sides, found, err);
    }
    for (int round = 1; round < 64; round++) {
        pn_pld_bounds now;

        PN_TRY(extend(self, sides, *found, spent, &done, err));
        if (done)
            break;
        now = ask(self, sides);
        found->low = fmax(found->low, now.low);
        found->high = fmin(found->high, now.high);
        if (found->high <= self->answer.high)
            break; /* the other direction is worse */
        if (*far && round >= SEEN && should_restart(self, &sides[0], *found))
            return PN_OK;
        if (found->low > 0.0 && round >= STILL && found->high - found->low > HARDLY * before)
            break;
        before = found->high - found->low;
    }
    *far = false;
    return PN_OK;
}

/* What rounding adds to the upper delta and takes from the lower one, beside what they are apart. */
static bool is_drowned(const pn_problem *self, const pn_side sides[2], pn_pld_bounds found)
{
    double at = self->delta > 0.0 ? found.high : self->epsilon, noise = 0.0, unused;
    double gap = pn_side_delta(&sides[0], at, &unused) - pn_side_delta(&sides[1], at, &unused);

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sides[i].count; j++)
            noise += pn_part_slack(&sides[i].parts[j], at);
    return noise > 0.3 * gap || (self->delta > 0.0 && self->shift > 0.2 * (found.high - found.low));
}

static pn_status run_direction(pn_problem *self, bool mirrored, pn_err *err)
{
    pn_side sides[2] = { { .count = 0 }, { .count = 0 } };
    pn_pld_bounds found = { .high = INFINITY };
    bool needless = false, far = true;
    double at = 0.0, spent = 0.0;
    pn_status status = PN_OK;

    self->shift = self->factor = 0.0;
    self->apart = false;
    for (int i = 0; i < GUESSES && status == PN_OK && far && !needless; i++) {
        far = i + 1 < GUESSES;
        status = pn_problem_make_sides(self, sides, mirrored, at, &needless, err);
        if (status == PN_OK && !needless)
            status = compose(self, sides, &found, &spent, &far, err);
        at = self->delta > 0.0 ? found.high : 0.0;
    }
    if (!needless) {
        self->drowned = is_drowned(self, sides, found);
        self->answer.high = fmax(self->answer.high, found.high);
        self->answer.low = fmax(self->answer.low, found.low);
    }
    pn_side_clear(&sides[0]);
    pn_side_clear(&sides[1]);
    return status;
}

/* Why an interval of epsilon is wider than it should be, or NULL. */
static const char *why_wide(const pn_problem *self)
{
    double width = self->answer.high - self->answer.low;
    bool same = true;

    for (size_t r = 0; r < self->n; r++)
        same = same && self->records[r].same;
    if (self->delta == 0.0 || !(width > 1e-4 && width > 1e-2 * self->answer.high))
        return NULL;
    if (!same)
        return "the upper end is for all candidates together, the lower one for some";
    if (self->step > 0.0)
        return "a smaller discretization would make it narrower";
    return self->drowned ? "rounding errors, of large losses that are rare beside small ones or of many releases"
                         : "as far as its limit of time goes";
}

static pn_status answer(pn_pld_bounds *out, pn_problem *self, pn_err *err)
{
    bool two = false;
    pn_status status = pn_problem_init(self, err);

    for (size_t r = 0; r < self->n; r++)
        two = two || self->records[r].two_directions;
    if (status == PN_OK)
        status = run_direction(self, false, err);
    if (status == PN_OK && two)
        status = run_direction(self, true, err);
    if (status == PN_OK) {
        if (self->delta > 0.0) {
            self->answer.low = fmax(self->answer.low, self->largest.low);
            self->answer.high = fmin(self->answer.high, self->largest.high);
        }
        *out = self->answer;
        out->wide = why_wide(self);
    }
    pn_problem_clear(self);
    return status;
}

/* What the largest losses say by themselves: epsilon is at most their sum, and where they are atoms, P of all of them
 * together times 1 - exp(epsilon - sum) is part of delta. */
static pn_pld_bounds bounds_by_largest(const pn_pld_record *records, size_t n, double delta)
{
    pn_pld_bounds found = { .low = -INFINITY };
    double sum = 0.0, log_p = 0.0, total = 0.0, missed;

    for (size_t r = 0; r < n; r++) {
        const pn_pair *upper = &records[r].dominating, *lower = &records[r].attained;
        double count = (double)records[r].count;
        bool infinite = upper->p_infinite > 0.0 || (records[r].two_directions && upper->q_infinite > 0.0);

        total += count;
        found.high += infinite ? INFINITY : count * fmax(upper->high, records[r].two_directions ? -upper->low : 0.0);
        sum += count * lower->high;
        log_p += count * log(lower->p_high);
    }
    found.high *= 1.0 + 0x1p-40;
    missed = delta * (1.0 + PN_PLD_SHARE) * exp(-log_p) * (1.0 + total * 0x1p-40);
    if (isfinite(sum) && missed < 1.0)
        found.low = sum * (1.0 - 0x1p-40) + log1p(-missed) * (1.0 + 0x1p-40);
    return found;
}

pn_status pn_pld_epsilon(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double delta, double step,
                         pn_err *err)
{
    pn_problem self = { .records = records, .n = n, .delta = delta, .step = step };

    if (n == 0) {
        *out = (pn_pld_bounds){ 0 };
        return PN_OK;
    }
    if (n == 1 && records[0].count == 1) {
        *out = pn_pld_single_epsilon(&records[0], delta);
        return PN_OK;
    }
    self.largest = bounds_by_largest(records, n, delta);
    if (isfinite(self.largest.high) && self.largest.high - self.largest.low <= 1e-9 * self.largest.high) {
        *out = self.largest;
        return PN_OK;
    }
    return answer(out, &self, err);
}

pn_status pn_pld_delta(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double epsilon, double step,
                       pn_err *err)
{
    pn_problem self = { .records = records, .n = n, .epsilon = epsilon, .step = step };

    if (n == 0) {
        *out = (pn_pld_bounds){ 0 };
        return PN_OK;
    }
    if (n == 1 && records[0].count == 1) {
        *out = pn_pld_single_delta(&records[0], epsilon);
        return PN_OK;
    }
    return answer(out, &self, err);
}
