/* selections.c -- see selections.h.  Depends on: mechanism.h, mechanism_row.h, score_choice.h.  Used by: oracle. */
#include <math.h>
#include <stdint.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/mechanism_row.h"
#include "privacy/mechanism/score_choice.h"
#include "privacy/mechanism/selections.h"

struct pn_selections {
    pn_mechanism base; /* first: what is charged */
    pn_selections_options options;
    int unit_exponent; /* u = 2^unit_exponent */
    uint64_t shift;    /* b = 2 shift u: the law of random/selection.h with epsilon 1 */
    double cost;
    size_t left;
    double sum, square; /* of the d_r of levels since the charge */
    pn_score_choice choice;
};

static void selections_destroy(pn_mechanism *base)
{
    pn_selections *self = (pn_selections *)base;

    pn_event_free(base->event);
    pn_score_choice_clear(&self->choice);
    pn_free(self);
}

static const pn_mechanism_ops selections_ops = { .name = "exponential", .destroy = selections_destroy };
static const pn_mechanism_ops flips_ops = { .name = "permute_and_flip", .destroy = selections_destroy };

void pn_selections_free(pn_selections *self)
{
    if (self)
        selections_destroy(&self->base);
}

/* ---- the lattice of scores, and the price ---- */

/* Fine enough that what m selections add for rounding is 2^-20 of what they cost, as far as scores of up to 2^52 units
 * allow; the unit follows an error only while that is small, too: beyond, the price does. */
static void choose_lattice(pn_selections *self)
{
    const pn_selections_options *of = &self->options;
    double each = of->root / sqrt((double)of->count), b = of->scale;
    double unit = fmax(fmin(each, b) * 0x1p-20, fmin(2.0 * of->score_error, each * 0x1p-12));

    unit = fmax(fmax(unit, of->score_bound * 0x1p-52), b * 0x1p-50);
    (void)frexp(unit, &self->unit_exponent);
    self->shift = (uint64_t)fmax(ceil(ldexp(b, -self->unit_exponent - 1)), 1.0);
}

static pn_status make_event(pn_selections *self, pn_err *err)
{
    const pn_selections_options *of = &self->options;
    double u = ldexp(1.0, self->unit_exponent), b = 2.0 * (double)self->shift * u, m = (double)of->count;
    double each = 2.0 * of->score_error + u, root = (of->root + sqrt(m) * each) / b;
    pn_arg args[2] = { { .given = true }, { 0 } };

    self->cost = args[0].real =
        of->pure ? 2.0 * ((of->sum + m * each) / b) * (1.0 + 0x1p-48) : 0.5 * root * root * (1.0 + 0x1p-48);
    if (of->pure && !of->flips)
        return pn_event_exponential(&self->base.event, self->cost, of->neighbours, err);
    return pn_event_from_args(&self->base.event, of->pure ? "pure" : "zcdp", args, of->neighbours, err);
}

static bool within(double x)
{
    return x >= 0x1p-900 && x <= 0x1p900;
}

static pn_status check(const pn_selections_options *of, pn_err *err)
{
    if (!within(of->scale) || !within(of->sum) || !within(of->root) || !within(of->score_bound) ||
        !(of->score_error >= 0.0 && of->score_error <= 0x1p900))
        return pn_fail(err, PN_EINVAL,
                       "selections: scale %g, sensitivities %g and %g and score bound %g must be from 2^-900 to 2^900, "
                       "the score error %g at most that",
                       of->scale, of->sum, of->root, of->score_bound, of->score_error);
    if (of->count < 1 || of->most < 1)
        return pn_fail(err, PN_EINVAL, "selections: %zu selections of up to %zu candidates; give at least 1 of each",
                       of->count, of->most);
    if (of->flips && !of->pure)
        return pn_fail(err, PN_EINVAL,
                       "selections: permute-and-flip is charged as pure; give pure, or leave flips out");
    if (of->scale < of->root * 0x1p-40)
        return pn_fail(err, PN_EINVAL,
                       "selections: scale %g is too small for scores that move by %g; at least 2^-40 "
                       "of it can be drawn",
                       of->scale, of->root);
    return PN_OK;
}

pn_status pn_selections_new(pn_selections **out, const pn_selections_options *options, pn_err *err)
{
    pn_selections *self;
    pn_status status;

    *out = NULL;
    PN_TRY(check(options, err));
    PN_TRY(pn_new_zeroed(&self, 1, err, "selections: out of memory"));
    self->base.ops = options->flips ? &flips_ops : &selections_ops;
    self->options = *options;
    choose_lattice(self);
    self->choice.bound = options->score_bound;
    self->choice.per_unit = ldexp(1.0, -self->unit_exponent);
    status = options->flips
                 ? pn_score_choice_reserve_flip(&self->choice, options->most, err)
                 : pn_score_choice_reserve(&self->choice, options->most, pn_dyadic_floor(1.0), self->shift, err);
    if (status == PN_OK)
        status = make_event(self, err);
    if (status != PN_OK) {
        selections_destroy(&self->base);
        return status;
    }
    if (PN_MUTANT("noise_scale"))
        self->shift = (uint64_t)fmax(0.8 * (double)self->shift, 1.0);
    if (PN_MUTANT("sensitivity_half"))
        self->shift = (self->shift + 1) / 2;
    *out = self;
    return PN_OK;
}

pn_event *pn_selections_event(const pn_selections *self)
{
    return self->base.event;
}

double pn_selections_cost(const pn_selections *self)
{
    return self->cost;
}

pn_status pn_selections_scale(double *scale, const pn_selections_options *asked, double budget, pn_err *err)
{
    pn_selections_options options = *asked;
    double more = 0x1p-40;

    *scale = NAN;
    options.scale = options.pure ? 2.0 * options.sum / budget : options.root / sqrt(2.0 * budget);
    for (int i = 0; i < 64 && isfinite(options.scale); i++) {
        pn_selections *made;
        pn_status status = pn_selections_new(&made, &options, err);
        double cost;

        if (status != PN_OK) /* PN_EINVAL: a scale that cannot be drawn */
            return status == PN_ENOMEM ? status : PN_OK;
        cost = pn_selections_cost(made);
        pn_selections_free(made);
        if (cost <= budget) {
            *scale = options.scale;
            return PN_OK;
        }
        options.scale *= (options.pure ? cost / budget : sqrt(cost / budget)) * (1.0 + more);
        more *= 2.0; /* scales are multiples of 2u: what is missing may be less than that */
    }
    return PN_OK;
}

/* ---- the door ---- */

pn_status pn_selections_pay(pn_selections *self, pn_ledger *ledger, const char *label, const pn_rng *rng, pn_err *err)
{
    if (!PN_MUTANT("charge_after"))
        PN_TRY(pn_mechanism_pay(&self->base, ledger, label, rng, err));
    self->left = self->options.count;
    self->sum = self->square = 0.0;
    return PN_OK;
}

void pn_selections_paid(pn_selections *self)
{
    self->left = self->options.count;
    self->sum = self->square = 0.0;
}

static pn_status take_one(pn_selections *self, pn_err *err)
{
    if (self->left == 0)
        return pn_fail(err, PN_EPRIVACY, "selections: all %zu selections that were paid for have been made",
                       self->options.count);
    self->left--;
    return PN_OK;
}

pn_status pn_selections_pick(pn_selections *self, pn_rng *rng, const double *scores, size_t n, size_t *chosen,
                             pn_err *err)
{
    PN_TRY(take_one(self, err));
    return (self->options.flips ? pn_score_choice_flip : pn_score_choice_exponential)(
        &self->choice, rng, scores, n, pn_dyadic_floor(1.0), self->shift, chosen, err);
}

/* ---- whole scores ---- */

pn_rate pn_selections_rate(const pn_selections *self, double moves, uint64_t moved)
{
    double b = ldexp((double)self->shift, self->unit_exponent + 1);

    return pn_rate_of(pn_dyadic_floor(2.0 * moves / b * (1.0 - 0x1p-48)), moved);
}

pn_status pn_selections_choose(pn_selections *self, pn_rng *rng, const pn_level_view *view, double moves,
                               uint64_t moved, size_t *j, bool *second, pn_err *err)
{
    const pn_selections_options *of = &self->options;
    const pn_rate rate = pn_selections_rate(self, moves, moved);

    if (view->rate.num != rate.num || view->rate.den != rate.den)
        return pn_fail(err, PN_EINVAL, "selections: levels are those of another rate");
    PN_TRY(take_one(self, err));
    self->sum += moves;
    self->square += moves * moves;
    if (!(of->pure ? self->sum <= of->sum * (1.0 + 1e-12) : sqrt(self->square) <= of->root * (1.0 + 1e-12)))
        return pn_fail(err, PN_EPRIVACY, "selections: choices move by more than was paid for");
    return (of->flips ? pn_score_levels_flip : pn_score_levels_draw)(rng, view, j, second, err);
}
