/* pld.c -- bounds on epsilon and delta of composed records: lattice, tilt, window, Fourier coefficients, root.
 * Depends on: pld.h, pld_side.h, pld_single.h, numeric/fft.h.  Used by: accountant_pld.c.
 * Spec: accounting.md section 5.
 *
 * The certificate.  Lattice laws above and below the record (pld_law.c); mass outside the window, dropped frequencies
 * and rounding of the transform (pld_side.c); rounding of the tails, which is the same as P, Q and the knots being off
 * by a relative 2^-48 a record, and of the tilt: delta times (1 +- 2^-44 records),
 * epsilon +- 2^-49 (128 + 4 max|L|) a record. */
#include <math.h>

#include "core/alloc.h"
#include "numeric/fft.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_side.h"
#include "privacy/accounting/pld_single.h"

#define MAX_POINTS   ((double)(1 << 22))
#define FARTHEST     0x1p61 /* steps from 0: where a window begins is an integer */
#define MAX_TOTAL    ((double)(1 << 23))
#define MAX_ATTEMPTS 6
#define ROOT_STEPS   44
#define EXPENSIVE    1e5
#define HARDLY       0.8 /* of the width is left: a finer lattice gains no more than its rounding and cut tails lose */

typedef struct problem {
    const pn_pld_record *records;
    size_t n;
    double h, delta, epsilon; /* the question: delta, or epsilon when delta is 0 */
    bool by_transform;
    pn_cells *cells[2];           /* dominating; attained, where it is another pair */
    pn_law *laws[2];              /* upper, lower */
    double shift, factor, points; /* points: of all lattices and the window, together */
    pn_pld_bounds answer;
} problem;

static double total_count(const pn_pld_record *records, size_t n)
{
    double sum = 0.0;

    for (size_t r = 0; r < n; r++)
        sum += (double)records[r].count;
    return sum;
}

/* ---- memory ---- */

static pn_status problem_init(problem *self, pn_err *err)
{
    bool enough = true;

    for (size_t i = 0; i < 2; i++) {
        self->cells[i] = pn_calloc(self->n, sizeof *self->cells[i]);
        self->laws[i] = pn_calloc(self->n, sizeof *self->laws[i]);
        enough = enough && self->cells[i] && self->laws[i];
    }
    return enough ? PN_OK : pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu records", self->n);
}

static void clear_laws(problem *self)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t r = 0; r < self->n; r++)
            pn_law_clear(&self->laws[i][r]);
}

static void clear_cells(problem *self)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t r = 0; r < self->n; r++)
            pn_cells_clear(&self->cells[i][r]);
}

static void problem_clear(problem *self)
{
    if (self->laws[0] && self->laws[1])
        clear_laws(self);
    if (self->cells[0] && self->cells[1])
        clear_cells(self);
    for (size_t i = 0; i < 2; i++) {
        pn_free(self->cells[i]);
        pn_free(self->laws[i]);
    }
}

/* ---- laws ---- */

static pn_status make_cells(problem *self, pn_err *err)
{
    double tail = (self->delta > 0.0 ? 1e-9 * self->delta : 1e-26) / total_count(self->records, self->n);
    pn_status status = PN_OK;

    self->shift = 0.0;
    self->factor = PN_PLD_SHARE;
    for (size_t r = 0; r < self->n && status == PN_OK; r++) {
        const pn_pld_record *record = &self->records[r];
        pn_cells *c = &self->cells[0][r];
        double count = (double)record->count;

        status = pn_cells_new(c, &record->dominating, self->h, tail, err);
        if (status == PN_OK && !record->same)
            status = pn_cells_new(&self->cells[1][r], &record->attained, self->h, tail, err);
        self->shift += count * 0x1p-49 *
                       (128.0 + 4.0 * fmax(fabs((double)c->first), fabs((double)c->first + (double)c->n)) * c->h);
        self->factor += count * 0x1p-44;
        self->points += (double)c->n;
        if (status == PN_OK && self->points > MAX_TOTAL)
            status = pn_fail(err, PN_EUNSUPPORTED,
                             "accountant.pld: a step of %g needs more than %.0f points for %zu different events",
                             self->h, MAX_TOTAL, self->n);
    }
    return status;
}

static pn_status make_laws(problem *self, bool upper, bool mirrored, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t r = 0; r < self->n && status == PN_OK; r++) {
        const pn_pld_record *record = &self->records[r];
        bool turn = mirrored && record->two_directions;
        const pn_cells *cells = &self->cells[upper || record->same ? 0 : 1][r];

        status = pn_law_new(&self->laws[upper ? 0 : 1][r], cells, upper, turn, (double)record->count, err);
    }
    return status;
}

/* ---- composition ---- */

static pn_status compose(problem *self, pn_side sides[2], bool *fits, pn_err *err)
{
    double low = fmin(sides[0].lowest, sides[1].lowest), high = fmax(sides[0].highest, sides[1].highest);
    double points = ceil((high - low) / self->h) + 3.0;
    bool done = false;
    pn_status status = PN_OK;

    *fits = points <= MAX_POINTS && fabs(low) / self->h <= FARTHEST; /* false for NaN and infinity too */
    if (!*fits && isfinite(points)) /* a coarser lattice will do: search tries one, unless the step was asked for */
        return pn_fail(err, PN_EUNSUPPORTED, "accountant.pld: a step of %g needs %.0f points, at most %.0f are allowed",
                       self->h, points, MAX_POINTS);
    if (!*fits)
        return PN_OK;
    self->points += points;
    for (size_t i = 0; i < 2; i++)
        pn_side_place(&sides[i], low, points < 32.0 ? 32 : (size_t)points);
    if (!self->by_transform && points > 2048.0)
        status = pn_side_by_band(sides, 2, &done, err);
    if (status != PN_OK || done)
        return status;
    for (size_t i = 0; i < 2; i++)
        pn_side_place(&sides[i], low, pn_fft_size(sides[i].size));
    return pn_side_by_transform(sides, 2, err);
}

/* ---- roots ---- */

static double window_start(const pn_side *side)
{
    return side->offset + (double)side->first * side->h;
}

static double window_low(const pn_side *side)
{
    return fmax(0.0, window_start(side));
}

static double window_high(const pn_side *side)
{
    return side->offset + (double)(side->first + (int64_t)side->size) * side->h;
}

/* Both return a point that has been evaluated, so that the answer does not rest on the bounds being monotone in
 * numbers: an upper epsilon at which the bound is at most delta (+inf when the window holds none) ... */
static double solve_upper(const pn_side *side, double delta)
{
    double low = window_low(side), high = fmax(low, window_high(side));

    if (pn_side_delta(side, low) <= delta)
        return low;
    if (!(pn_side_delta(side, high) <= delta))
        return INFINITY;
    for (int i = 0; i < ROOT_STEPS && high - low > 1e-15 * high; i++) {
        double middle = 0.5 * (low + high);

        if (pn_side_delta(side, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ... or a lower one at which it is at least delta (0 for none).  Far below the answer the allowance hides it, so the
 * search starts from the upper one. */
static double solve_lower(const pn_side *side, double delta, double upper)
{
    double high = fmin(upper, window_high(side)), bottom = window_low(side),
           step = fmin(side->h, 1.0 / side->tilt) / 16.0, low;

    for (low = high; !(pn_side_delta(side, low) >= delta); step *= 2.0) {
        if (low <= bottom)
            return 0.0;
        high = low;
        low = fmax(bottom, low - step);
    }
    for (int i = 0; i < ROOT_STEPS && high - low > 1e-15 * high; i++) {
        double middle = 0.5 * (low + high);

        if (pn_side_delta(side, middle) >= delta)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- one direction ---- */

/* delta at self->epsilon, which rounding has moved by at most `shift`.  Hockey sticks are defined left of 0 too, where
 * the window begins when the question is epsilon = 0; and they fall, so that beyond the window its end is an upper
 * bound, and 0 a lower one. */
static pn_pld_bounds delta_at(const problem *self, const pn_side sides[2], double shrink, double grow)
{
    double above = fmin(self->epsilon - self->shift, window_high(&sides[0])), below = self->epsilon + self->shift;
    pn_pld_bounds found = { 0.0, 1.0 };

    if (above >= window_start(&sides[0]))
        found.high = fmin(1.0, pn_side_delta(&sides[0], above) * grow);
    if (below >= window_start(&sides[1]) && below <= window_high(&sides[1]))
        found.low = pn_side_delta(&sides[1], below) * shrink;
    return found;
}

static void take(problem *self, const pn_side sides[2])
{
    double shrink = 1.0 - fmin(1.0, self->factor), grow = 1.0 + self->factor;
    pn_pld_bounds found;

    if (self->delta > 0.0) {
        found.high = solve_upper(&sides[0], self->delta * shrink);
        found.low = solve_lower(&sides[1], self->delta * grow, found.high) - self->shift;
        found.high += self->shift;
    } else {
        found = delta_at(self, sides, shrink, grow);
    }
    self->answer.high = fmax(self->answer.high, found.high);
    self->answer.low = fmax(self->answer.low, found.low);
}

/* The window has to hold the epsilon that is asked about, as far as there are losses, or positive ones at least. */
static void widen(const problem *self, pn_side *side)
{
    if (self->delta > 0.0) {
        side->highest = fmax(side->highest, 2.0 * self->h);
    } else {
        double at = fmin(self->epsilon, side->highest), room = 2.0 * self->h + self->shift;

        side->lowest = fmin(side->lowest, at - room);
        side->highest = fmax(side->highest, at + room);
    }
}

static pn_status run_tilted(problem *self, pn_side sides[2], double tilt, pn_err *err)
{
    bool fits;
    pn_status status;

    for (size_t i = 0; i < 2; i++)
        pn_side_tilt(&sides[i], tilt);
    widen(self, &sides[0]);
    status = compose(self, sides, &fits, err);
    if (status == PN_OK && fits)
        take(self, sides);
    else if (status == PN_OK)
        self->answer.high = self->delta > 0.0 ? INFINITY : 1.0;
    return status;
}

static pn_status run_sides(problem *self, pn_side sides[2], bool mirrored, pn_err *err)
{
    double epsilon = INFINITY, tilt;

    PN_TRY(make_laws(self, true, mirrored, err));
    pn_side_init(&sides[0], self->laws[0], self->n, true);
    if (self->delta > 0.0)
        tilt = pn_side_tilt_for_delta(&sides[0], self->delta, &epsilon);
    else
        tilt = pn_side_tilt_for_epsilon(&sides[0], self->epsilon);
    if (epsilon + self->shift < self->answer.low && sides[0].infinite == 0.0)
        return PN_OK; /* the other direction is worse */
    PN_TRY(make_laws(self, false, mirrored, err));
    pn_side_init(&sides[1], self->laws[1], self->n, false);
    return run_tilted(self, sides, tilt, err);
}

static pn_status run_direction(problem *self, bool mirrored, pn_err *err)
{
    pn_side sides[2] = { { 0 }, { 0 } };
    pn_status status = run_sides(self, sides, mirrored, err);

    pn_side_clear(&sides[0]);
    pn_side_clear(&sides[1]);
    clear_laws(self);
    return status;
}

static pn_status attempt(problem *self, double h, pn_err *err)
{
    bool two = false;
    pn_status status;

    for (size_t r = 0; r < self->n; r++)
        two = two || self->records[r].two_directions;
    self->h = h;
    self->points = 0.0;
    self->answer = (pn_pld_bounds){ 0.0, 0.0 };
    status = make_cells(self, err);
    if (status == PN_OK)
        status = run_direction(self, false, err);
    if (status == PN_OK && two)
        status = run_direction(self, true, err);
    clear_cells(self);
    return status;
}

/* ---- the step ---- */

/* Upper and lower lattice law of n records differ by about n h^2 order / 4 in epsilon. */
static double step_for(const pn_pld_record *records, size_t n, const pn_pld_options *options)
{
    double order = options->order > 1.0 && isfinite(options->order) ? options->order : 20.0;
    double guess = options->guess > 0.0 && isfinite(options->guess) ? options->guess : 1.0;
    double width = fmin(3.5e-5 * fmax(1.0, guess / 6.0), 2e-3 * guess);

    return sqrt(4.0 * width / (total_count(records, n) * order));
}

/* The pair whose atoms weigh most, attained ones included; NULL without atoms. */
static const pn_pair *atomic_pair(const pn_pld_record *records, size_t n)
{
    const pn_pair *best = NULL;
    double most = 0.0;

    for (size_t r = 0; r < n; r++) {
        const pn_pair *pairs[2] = { &records[r].dominating, &records[r].attained };

        for (size_t i = 0; i < 2; i++) {
            double weight = pairs[i]->high * (double)records[r].count;

            if (pairs[i]->p_high > 0.0 && weight > most) {
                most = weight;
                best = pairs[i];
            }
        }
    }
    return best;
}

/* With atoms at both ends of a loss, the lattice should hold them; when there is nothing else,
 * their distance will do. */
static double fit_step(const pn_pld_record *records, size_t n, double h)
{
    const pn_pair *best = atomic_pair(records, n);
    bool alike = true;
    double span;

    if (!best)
        return h;
    span = best->high - best->low;
    for (size_t r = 0; r < n; r++)
        alike = alike && records[r].same && records[r].dominating.atoms_only &&
                records[r].dominating.high == best->high && records[r].dominating.low == best->low;
    return alike ? span : span / ceil(span / h);
}

/* How far apart the bounds may be; less is asked of a question that has become expensive. */
static double wanted_width(const problem *self)
{
    double high = self->answer.high;

    if (self->delta == 0.0)
        return 1e-2 * high;
    if (self->points > EXPENSIVE)
        return 2e-3 * high;
    return fmin(high < 10.0 ? 1e-4 : 2e-4 * high, 4e-3 * high);
}

static pn_status search(problem *self, const pn_pld_options *options, pn_err *err)
{
    bool fixed = options->step > 0.0, same = true, found = false;
    double h = fixed ? options->step : step_for(self->records, self->n, options);
    double width, before = INFINITY;
    pn_pld_bounds best = { 0.0, self->delta > 0.0 ? INFINITY : 1.0 };
    pn_status status = PN_OK;

    for (size_t r = 0; r < self->n; r++)
        same = same && self->records[r].same;
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        status = attempt(self, fixed ? h : fit_step(self->records, self->n, h), err);
        if (status == PN_EUNSUPPORTED && !fixed) {
            status = PN_OK;
            if (found)
                break;
            h *= 4.0;
            continue;
        }
        if (status != PN_OK)
            break;
        found = true;
        best.low = fmax(best.low, self->answer.low);
        best.high = fmin(best.high, self->answer.high);
        width = best.high - best.low;
        if (fixed || !same || width <= wanted_width(self) || width > HARDLY * before)
            break;
        before = width;
        h *= fmin(0.6, fmax(0.125, 0.8 * sqrt(wanted_width(self) / width)));
    }
    self->answer = best;
    return status;
}

static pn_status answer(pn_pld_bounds *out, problem *self, const pn_pld_options *options, pn_err *err)
{
    pn_status status = problem_init(self, err);

    if (status == PN_OK)
        status = search(self, options, err);
    if (status == PN_OK)
        *out = self->answer;
    problem_clear(self);
    return status;
}

pn_status pn_pld_epsilon(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double delta,
                         const pn_pld_options *options, pn_err *err)
{
    problem self = { .records = records, .n = n, .delta = delta, .by_transform = options->by_transform };

    if (n == 0) {
        *out = (pn_pld_bounds){ 0.0, 0.0 };
        return PN_OK;
    }
    if (n == 1 && records[0].count == 1) {
        *out = pn_pld_single_epsilon(&records[0], delta);
        return PN_OK;
    }
    return answer(out, &self, options, err);
}

pn_status pn_pld_delta(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double epsilon,
                       const pn_pld_options *options, pn_err *err)
{
    problem self = { .records = records, .n = n, .epsilon = epsilon, .by_transform = options->by_transform };

    if (n == 0) {
        *out = (pn_pld_bounds){ 0.0, 0.0 };
        return PN_OK;
    }
    if (n == 1 && records[0].count == 1) {
        *out = pn_pld_single_delta(&records[0], epsilon);
        return PN_OK;
    }
    return answer(out, &self, options, err);
}
