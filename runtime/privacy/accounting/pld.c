/* pld.c -- bounds on epsilon and delta of composed records: knots, laws, tilt, coefficients, root.
 * Depends on: pld.h, pld_side.h, pld_single.h.  Used by: accountant_pld.c.  Spec: accounting.md section 5.
 *
 * The certificate.  Laws above and below the record (pld_law.c); payoffs above and below the hockey stick, copies,
 * dropped frequencies and rounding of the sums (pld_side.c); rounding of the tails, which is the same as P, Q and the
 * knots being off by a relative 2^-48 a record, and of the tilt: delta times (1 +- 2^-44 records),
 * epsilon +- 2^-49 (128 + 4 max|L|) a record. */
#include <math.h>
#include <stdint.h>

#include "core/alloc.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_side.h"
#include "privacy/accounting/pld_single.h"

#define CUT_SHARE  1e-6  /* of delta: what may have a loss beyond the knots */
#define KNOT_WIDTH 4e-6  /* of epsilon: what the laws may differ by */
#define KNOT_SHARE 2e-5  /* of delta: the same, in parts with large losses */
#define KNOTS      3000  /* of all records together, from which on they may differ by more */
#define FIRST      256   /* frequencies */
#define PER_LAW    50.0  /* products that a power is worth, ... */
#define PER_PART   150.0 /* ... and that an entry of the payoff is */
#define LAST       ((size_t)1 << 17)
#define LAST_ASKED ((size_t)1 << 19) /* with a step */
#define SEEN       3                 /* rounds, by which time a guess is known to be bad */
#define NEAR       0.6
#define STILL      6   /* rounds after which ... */
#define HARDLY     0.9 /* of the width is left: more frequencies gain nothing */
#define EVEN       0.2 /* of the widest gap: parts that are refined with that one */
#define GUESSES    4
#define ROOT_STEPS 60
#define ROOT_ERROR 1e-12 /* of ln delta */

typedef struct problem {
    const pn_pld_record *records;
    size_t n;
    double step, delta, epsilon; /* the question: delta, or epsilon when delta is 0 */
    pn_cells *cells;             /* of one side */
    pn_law *laws[2];             /* upper, lower */
    double shift, factor;
    bool apart, drowned; /* taken apart; rounding is what keeps the bounds apart */
    pn_pld_bounds answer;
} problem;

static double total_count(const problem *self)
{
    double sum = 0.0;

    for (size_t r = 0; r < self->n; r++)
        sum += (double)self->records[r].count;
    return sum;
}

/* ---- memory ---- */

static pn_status problem_init(problem *self, pn_err *err)
{
    self->cells = pn_calloc(self->n, sizeof *self->cells);
    self->laws[0] = pn_calloc(self->n, sizeof *self->laws[0]);
    self->laws[1] = pn_calloc(self->n, sizeof *self->laws[1]);
    return pn_made(self->cells && self->laws[0] && self->laws[1], err, "accountant.pld: out of memory for %zu records",
                   self->n);
}

static void clear_cells(problem *self)
{
    for (size_t r = 0; r < self->n; r++)
        pn_cells_clear(&self->cells[r]);
}

static void clear_laws(problem *self, size_t side)
{
    for (size_t r = 0; r < self->n; r++)
        pn_law_clear(&self->laws[side][r]);
}

static void problem_clear(problem *self)
{
    if (self->cells)
        clear_cells(self);
    for (size_t i = 0; i < 2; i++) {
        if (self->laws[i])
            clear_laws(self, i);
        pn_free(self->laws[i]);
    }
    pn_free(self->cells);
}

/* ---- laws ---- */

static const pn_pair *pair_of(const pn_pld_record *record, bool upper)
{
    return upper || record->same ? &record->dominating : &record->attained;
}

/* What the parts of a side, made from rough laws, want to know of record r. */
static void plan_parts(const pn_side *side, size_t r, pn_cells_part *parts)
{
    pn_law *law = &side->laws[r];

    for (size_t i = 0; i < side->count; i++) {
        const pn_part *part = &side->parts[i];
        size_t to = pn_law_until(law, part->to), from = isinf(part->from) ? to : pn_law_until(law, part->from);
        double t = part->tilt, scale = pn_law_log_mgf(law, t, 0, from), share = 3.0 / KNOTS * KNOT_SHARE, beyond = 1.0;

        if (isinf(part->from))
            share = 3.0 / KNOTS * t * KNOT_WIDTH * fmax(side->guess, 1e-3);
        else
            beyond = -expm1(-law->count * log1p(exp(pn_law_log_mgf(law, t, from, to) - scale)));
        parts[i] = (pn_cells_part){
            t, scale, part->from, part->to, law->count / share, law->count / share / fmax(beyond, 1e-300)
        };
        if (isinf(part->from))
            parts[i].from = INFINITY;
    }
}

/* Knots for the parts of `rough`, or without parts.  *fits is false when there would be more than `most`. */
static pn_status make_cells(problem *self, const pn_side *rough, bool upper, bool mirrored, double tolerance,
                            size_t most, bool *fits, pn_err *err)
{
    double share = self->delta > 0.0 ? CUT_SHARE * self->delta : 1e-26, count = total_count(self);
    pn_cells_part parts[PN_SIDE_PARTS];
    size_t knots = 0;

    *fits = true;
    clear_cells(self);
    for (size_t r = 0; r < self->n && *fits; r++) {
        const pn_pld_record *record = &self->records[r];
        pn_cells_plan plan = { .tail = share / count,
                               .mirrored = mirrored && record->two_directions,
                               .parts = parts,
                               .count = rough ? rough->count : 0,
                               .tolerance = tolerance };

        if (rough)
            plan_parts(rough, r, parts);
        plan.most = most - knots;
        PN_TRY(pn_cells_new(&self->cells[r], pair_of(record, upper), &plan, err));
        *fits = self->cells[r].n > 0;
        knots += self->cells[r].n;
    }
    return PN_OK;
}

static pn_status make_laws(problem *self, bool upper, bool mirrored, pn_err *err)
{
    size_t side = upper ? 0 : 1;

    clear_laws(self, side);
    for (size_t r = 0; r < self->n; r++) {
        const pn_pld_record *record = &self->records[r];

        PN_TRY(pn_law_new(&self->laws[side][r], &self->cells[r], upper, mirrored && record->two_directions,
                          (double)record->count, err));
    }
    return PN_OK;
}

static void set_rounding(problem *self, const pn_law *laws)
{
    double shift = 0.0, factor = PN_PLD_SHARE;

    for (size_t r = 0; r < self->n; r++) {
        const pn_law *law = &laws[r];
        double most = law->n ? fmax(fabs(law->loss[0]), fabs(law->loss[law->n - 1])) : 0.0;

        shift += law->count * 0x1p-49 * (128.0 + 4.0 * most);
        factor += law->count * 0x1p-44;
    }
    self->shift = fmax(self->shift, shift);
    self->factor = fmax(self->factor, factor);
}

/* Parts and tilts for the question: at epsilon, or at delta, of whose answer `at` is a guess, or 0.  Returns a bound on
 * epsilon. */
static double tilt(const problem *self, pn_side *side, double at)
{
    double first = 0.0, epsilon = self->delta > 0.0 ? at : self->epsilon, left = self->delta - side->infinite;

    if (self->delta > 0.0 && at == 0.0)
        epsilon = pn_side_epsilon(side, left > 0.0 ? left : self->delta, &first);
    pn_side_tilt(side, epsilon, first, self->apart);
    return epsilon;
}

/* Rough laws say which parts and tilts, and with these the knots are placed; once more if that moves the first tilt. */
static pn_status refine(problem *self, pn_side *side, bool mirrored, double at, pn_err *err)
{
    double before = INFINITY;

    for (int i = 0; i < 3 && fabs(log(side->parts[0].tilt / before)) > 0.2; i++) {
        double tolerance = 1.0;
        bool fits = false;

        before = side->parts[0].tilt;
        for (int j = 0; j < 60 && !fits; j++, tolerance *= 8.0)
            PN_TRY(make_cells(self, side, side->upper, mirrored, tolerance, KNOTS + 100 * (self->n - 1), &fits, err));
        PN_TRY(pn_made(fits, err, "accountant.pld: no knots for %zu records", self->n));
        PN_TRY(make_laws(self, side->upper, mirrored, err));
        pn_side_init(side, side->laws, self->n, side->upper);
        (void)tilt(self, side, at);
    }
    pn_side_place(side);
    return PN_OK;
}

static pn_status make_side(problem *self, pn_side *side, bool upper, bool mirrored, double at, bool *needless,
                           pn_err *err)
{
    double epsilon;
    bool fits;

    PN_TRY(make_cells(self, NULL, upper, mirrored, 1.0, SIZE_MAX, &fits, err));
    PN_TRY(make_laws(self, upper, mirrored, err));
    pn_side_init(side, self->laws[!upper], self->n, upper);
    epsilon = tilt(self, side, at);
    set_rounding(self, side->laws);
    *needless =
        upper && self->delta > 0.0 && epsilon + self->shift < self->answer.low && side->infinite < self->delta;
    return *needless ? PN_OK : refine(self, side, mirrored, at, err);
}

/* The lower law of the same pairs has the same knots, and nearly the same composition. */
static pn_status make_sides(problem *self, pn_side sides[2], bool mirrored, double at, bool *needless, pn_err *err)
{
    bool same = true, unused;

    for (size_t r = 0; r < self->n; r++)
        same = same && self->records[r].same;
    pn_side_clear(&sides[0]);
    pn_side_clear(&sides[1]);
    PN_TRY(make_side(self, &sides[0], true, mirrored, at, needless, err));
    if (*needless)
        return PN_OK;
    if (!same)
        return make_side(self, &sides[1], false, mirrored, at, &unused, err);
    PN_TRY(make_laws(self, false, mirrored, err));
    pn_side_init(&sides[1], self->laws[1], self->n, false);
    pn_side_place_like(&sides[1], &sides[0]);
    return PN_OK;
}

/* ---- roots ---- */

/* A point at which the bound has been evaluated, so that the answer does not rest on its being monotone in numbers: an
 * upper epsilon at which it is at most delta (+inf when none was found), or a lower one at which it is at least delta (0
 * for none). */
static double solve(const pn_side *side, double delta, double start)
{
    double low = 0.0, high = INFINITY, at = start, sign = side->upper ? -1.0 : 1.0, goal = log(delta), slope, value;

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
            next =
                isinf(high) ? 2.0 * at + 1.0 / side->parts[0].tilt : (low == 0.0 && i < 4 ? 0.0 : 0.5 * (low + high));
        at = next;
    }
    return side->upper ? high : low;
}

/* ---- one direction ---- */

/* delta at self->epsilon, which rounding has moved by at most `shift`. */
static pn_pld_bounds delta_at(const problem *self, const pn_side sides[2], double shrink, double grow)
{
    pn_pld_bounds found = { 0 };
    double unused;

    found.high = fmin(1.0, pn_side_delta(&sides[0], self->epsilon - self->shift, &unused) * grow);
    found.low = pn_side_delta(&sides[1], self->epsilon + self->shift, &unused) * shrink;
    return found;
}

static pn_pld_bounds ask(const problem *self, const pn_side sides[2])
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
static double worth(const problem *self, pn_pld_bounds found)
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
static pn_status extend(problem *self, pn_side sides[2], pn_pld_bounds found, double *spent, bool *done, pn_err *err)
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
static bool should_restart(problem *self, const pn_side *side, pn_pld_bounds found)
{
    bool by_delta = self->delta > 0.0, wide = found.high - found.low > 1e-2 * found.high, before = self->apart;
    double at = by_delta ? found.high : self->epsilon, delta = by_delta ? self->delta : found.high;

    if (by_delta && found.high < 1e-6)
        return false;
    self->apart = self->apart || pn_side_is_mixed(side, at, delta, wide);
    return self->apart != before || (by_delta && found.high < NEAR * side->guess);
}

/* As many frequencies as the step asks for. */
static pn_status compose_at_step(problem *self, pn_side sides[2], pn_pld_bounds *found, pn_err *err)
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
static pn_status compose(problem *self, pn_side sides[2], pn_pld_bounds *found, double *spent, bool *far, pn_err *err)
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
static bool is_drowned(const problem *self, const pn_side sides[2], pn_pld_bounds found)
{
    double at = self->delta > 0.0 ? found.high : self->epsilon, noise = 0.0, unused;
    double gap = pn_side_delta(&sides[0], at, &unused) - pn_side_delta(&sides[1], at, &unused);

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sides[i].count; j++)
            noise += pn_part_slack(&sides[i].parts[j], at);
    return noise > 0.3 * gap || (self->delta > 0.0 && self->shift > 0.2 * (found.high - found.low));
}

static pn_status run_direction(problem *self, bool mirrored, pn_err *err)
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
        status = make_sides(self, sides, mirrored, at, &needless, err);
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
static const char *why_wide(const problem *self)
{
    double width = self->answer.high - self->answer.low;
    bool same = true;

    for (size_t r = 0; r < self->n; r++)
        same = same && self->records[r].same;
    if (self->delta == 0.0 || !(width > 1e-4 && width > 1e-2 * self->answer.high))
        return NULL;
    if (!same)
        return "the upper end is for all candidates together, the lower one for two";
    if (self->step > 0.0)
        return "a smaller discretization would make it narrower";
    return self->drowned ? "rounding errors of so many releases" : "as far as its limit of time goes";
}

static pn_status answer(pn_pld_bounds *out, problem *self, pn_err *err)
{
    bool two = false;
    pn_status status = problem_init(self, err);

    for (size_t r = 0; r < self->n; r++)
        two = two || self->records[r].two_directions;
    if (status == PN_OK)
        status = run_direction(self, false, err);
    if (status == PN_OK && two)
        status = run_direction(self, true, err);
    if (status == PN_OK) {
        *out = self->answer;
        out->wide = why_wide(self);
    }
    problem_clear(self);
    return status;
}

pn_status pn_pld_epsilon(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double delta, double step,
                         pn_err *err)
{
    problem self = { .records = records, .n = n, .delta = delta, .step = step };

    if (n == 0) {
        *out = (pn_pld_bounds){ 0 };
        return PN_OK;
    }
    if (n == 1 && records[0].count == 1) {
        *out = pn_pld_single_epsilon(&records[0], delta);
        return PN_OK;
    }
    return answer(out, &self, err);
}

pn_status pn_pld_delta(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double epsilon, double step,
                       pn_err *err)
{
    problem self = { .records = records, .n = n, .epsilon = epsilon, .step = step };

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
