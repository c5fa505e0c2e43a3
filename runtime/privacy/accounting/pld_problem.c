/* pld_problem.c -- knots where a question needs them, and laws, parts and tilts with which it is answered.
 * Depends on: pld_problem.h, core/alloc.h.  Used by: pld.c. */
#include <math.h>
#include <stdint.h>

#include "core/alloc.h"
#include "privacy/accounting/pld_problem.h"

#define CUT_SHARE  1e-6 /* of delta: what may have a loss beyond the knots */
#define KNOT_WIDTH 4e-6 /* of epsilon: what the laws may differ by */
#define KNOT_SHARE 2e-5 /* of delta: the same, in parts with large losses */
#define KNOTS      3000 /* of all records together, from which on they may differ by more */

static double total_count(const pn_problem *self)
{
    double sum = 0.0;

    for (size_t r = 0; r < self->n; r++)
        sum += (double)self->records[r].count;
    return sum;
}

/* ---- memory ---- */

pn_status pn_problem_init(pn_problem *self, pn_err *err)
{
    self->cells = pn_calloc(self->n, sizeof *self->cells);
    self->laws[0] = pn_calloc(self->n, sizeof *self->laws[0]);
    self->laws[1] = pn_calloc(self->n, sizeof *self->laws[1]);
    return pn_made(self->cells && self->laws[0] && self->laws[1], err, "accountant.pld: out of memory for %zu records",
                   self->n);
}

static void clear_cells(pn_problem *self)
{
    for (size_t r = 0; r < self->n; r++)
        pn_cells_clear(&self->cells[r]);
}

static void clear_laws(pn_problem *self, size_t side)
{
    for (size_t r = 0; r < self->n; r++)
        pn_law_clear(&self->laws[side][r]);
}

void pn_problem_clear(pn_problem *self)
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
static pn_status make_cells(pn_problem *self, const pn_side *rough, bool upper, bool mirrored, double tolerance,
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

static pn_status make_laws(pn_problem *self, bool upper, bool mirrored, pn_err *err)
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

static void set_rounding(pn_problem *self, const pn_law *laws)
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
static double tilt(const pn_problem *self, pn_side *side, double at)
{
    double first = 0.0, epsilon = self->delta > 0.0 ? at : self->epsilon, left = self->delta - side->infinite;

    if (self->delta > 0.0 && at == 0.0)
        epsilon = pn_side_epsilon(side, left > 0.0 ? left : self->delta, &first);
    pn_side_tilt(side, epsilon, first, self->apart);
    return epsilon;
}

/* Rough laws say which parts and tilts, and with these the knots are placed; once more if that moves the first tilt. */
static pn_status refine(pn_problem *self, pn_side *side, bool mirrored, double at, pn_err *err)
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

static pn_status make_side(pn_problem *self, pn_side *side, bool upper, bool mirrored, double at, bool *needless,
                           pn_err *err)
{
    double epsilon;
    bool fits;

    PN_TRY(make_cells(self, NULL, upper, mirrored, 1.0, SIZE_MAX, &fits, err));
    PN_TRY(make_laws(self, upper, mirrored, err));
    pn_side_init(side, self->laws[!upper], self->n, upper);
    epsilon = tilt(self, side, at);
    set_rounding(self, side->laws);
    *needless = upper && self->delta > 0.0 && epsilon + self->shift < self->answer.low && side->infinite < self->delta;
    return *needless ? PN_OK : refine(self, side, mirrored, at, err);
}

/* The lower law of the same pairs has the same knots, and nearly the same composition. */
pn_status pn_problem_make_sides(pn_problem *self, pn_side sides[2], bool mirrored, double at, bool *needless,
                                pn_err *err)
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
