/* selection_mechanism.c -- the private choice of the largest of n scores: scores become integers before any noise is
 * drawn, the law is exact over them, and the event charges what the rounded parameters cost.
 * Depends on: mechanism.h, mechanism_row.h, score_choice.h.  Used by: mechanism.c's table,
 * solvers (pn_mechanism_selection). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/event/event_curve.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/mechanism_row.h"
#include "privacy/mechanism/score_choice.h"

const char *const pn_selection_names[] = { "exponential", "permute_and_flip", "laplace", NULL };

typedef struct selection_mechanism {
    pn_mechanism base; /* first */
    pn_selection law;
    pn_dyadic epsilon, law_epsilon; /* charged and drawn with: the same */
    double sensitivity;
    int unit_exponent; /* u = 2^unit_exponent */
    uint64_t shift;    /* D: one record moves an integer score by at most this */
    pn_score_choice choice;
} selection_mechanism;

/* ---- the lattice of scores ---- */

/* The exponent of the smallest power of two >= x, x positive and normal. */
static int exponent_above(double x)
{
    int exponent;

    return frexp(x, &exponent) == 0.5 ? exponent - 1 : exponent;
}

/* a + b, rounded upward. */
static double sum_above(double a, double b)
{
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);

    return error > 0.0 ? nextafter(sum, INFINITY) : sum;
}

/* The unit follows the error only as far as D stays large: the noise of few steps costs more. */
static int unit_exponent(const pn_selection_options *options)
{
    double follows = fmin(2.0 * options->score_error, options->sensitivity * 0x1p-12);

    return exponent_above(fmax(options->sensitivity * 0x1p-20, fmax(follows, options->score_bound * 0x1p-52)));
}

double pn_selection_unit(const pn_selection_options *options)
{
    return ldexp(1.0, unit_exponent(options));
}

/* Computed scores of neighbours are at most sensitivity + 2 score_error apart, and no more than twice their bound:
 * their floors at most D = ceil(that / u). */
static void choose_lattice(selection_mechanism *self, const pn_selection_options *options)
{
    double apart = fmin(sum_above(self->sensitivity, 2.0 * options->score_error), 2.0 * self->choice.bound);
    double shift;

    self->unit_exponent = unit_exponent(options);
    shift = ceil(ldexp(self->sensitivity, -self->unit_exponent)) + 1.0;
    self->shift = (uint64_t)fmax(shift, ceil(ldexp(apart, -self->unit_exponent)));
    if (PN_MUTANT("sensitivity_half"))
        self->shift = (self->shift + 1) / 2;
    self->choice.per_unit = ldexp(1.0, -self->unit_exponent);
}

/* ---- drawing ---- */

static pn_status selection_prepare(pn_mechanism *base, size_t n, pn_err *err)
{
    selection_mechanism *self = (selection_mechanism *)base;

    if (self->law == PN_SELECT_EXPONENTIAL)
        return pn_score_choice_reserve(&self->choice, n, self->law_epsilon, self->shift, err);
    return self->law == PN_SELECT_PERMUTE_AND_FLIP ? pn_score_choice_reserve_flip(&self->choice, n, err)
                                                   : pn_score_choice_reserve_scores(&self->choice, n, err);
}

static pn_status selection_draw(pn_mechanism *base, const double *input, size_t n, pn_rng *rng, pn_release *out,
                                pn_err *err)
{
    selection_mechanism *self = (selection_mechanism *)base;
    size_t count = pn_score_choice_candidates(&self->choice, n);

    if (self->law == PN_SELECT_EXPONENTIAL)
        return pn_score_choice_exponential(&self->choice, rng, input, n, self->law_epsilon, self->shift, &out->index,
                                           err);
    if (self->law == PN_SELECT_PERMUTE_AND_FLIP)
        return pn_score_choice_flip(&self->choice, rng, input, n, self->law_epsilon, self->shift, &out->index, err);
    pn_score_choice_scores(&self->choice, input, n);
    out->index = pn_select_laplace(rng, self->choice.scores, count, self->law_epsilon, self->shift);
    return PN_OK;
}

static void selection_destroy(pn_mechanism *base)
{
    selection_mechanism *self = (selection_mechanism *)base;

    pn_event_free(base->event);
    pn_score_choice_clear(&self->choice);
    pn_free(self);
}

static void selection_describe(const pn_mechanism *base, char *text, size_t size)
{
    static const char *const laws[] = {
        "chooses i with probability proportional to exp(-epsilon (max - score i) / (2 sensitivity))",
        "takes, in random order, candidate i with probability exp(-epsilon (max - score i) / (2 sensitivity))",
        "adds discrete Laplace noise to every score and chooses the largest",
    };
    const selection_mechanism *self = (const selection_mechanism *)base;
    bool bounded = isfinite(base->domain);
    char cost[256];

    pn_event_describe(base->event, cost, sizeof cost);
    (void)snprintf(text, size,
                   "%s: %s\n"
                   "  one release costs %s: epsilon %.17g, %s\n"
                   "  sensitivity %.9g; scores %s beyond +-%.9g%s, rounded down to multiples of 2^%d\n"
                   "  one record moves a rounded score by at most %llu units, and the law uses this number",
                   base->ops->name, laws[self->law], cost, pn_dyadic_value(self->epsilon),
                   pn_neighbours_names[base->event->neighbours], self->sensitivity,
                   bounded && !base->clamps ? "refused" : "clamped", self->choice.bound,
                   bounded ? "" : " (give score_bound= for another range)", self->unit_exponent,
                   (unsigned long long)self->shift);
}

/* ---- making ---- */

static const pn_mechanism_ops *ops_of(pn_selection law)
{
    static const pn_mechanism_ops *const ops[] = { &pn_mechanism_exponential, &pn_mechanism_permute_and_flip,
                                                   &pn_mechanism_report_noisy_max };

    return ops[law];
}

static bool outside(double x, double low, double high)
{
    return !(x >= low && x <= high);
}

static pn_status check_options(const pn_selection_options *options, pn_err *err)
{
    const char *name;

    if ((unsigned)options->law > PN_SELECT_LAPLACE)
        return pn_fail(err, PN_EINVAL, "selection: there is no law number %d", (int)options->law);
    name = ops_of(options->law)->name;
    if ((unsigned)options->neighbours > PN_ZERO_OUT)
        return pn_fail(err, PN_EINVAL, "mechanism.%s: there is no neighbouring relation number %d", name,
                       (int)options->neighbours);
    if (outside(options->epsilon, 0x1p-40, PN_SELECTION_EPSILON_MAX))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: epsilon of one release must be between 2^-40 and 1024, got %g",
                       name, options->epsilon);
    if (outside(options->sensitivity, 0x1p-900, 0x1p900))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: sensitivity must be from 2^-900 to 2^900, got %g", name,
                       options->sensitivity);
    if (outside(options->score_bound, 0x1p-900, 0x1p900))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: score_bound must be from 2^-900 to 2^900, got %g", name,
                       options->score_bound);
    if (outside(options->score_error, 0.0, 0x1p900))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: score_error must be a number from 0 to 2^900, got %g", name,
                       options->score_error);
    if (options->pairs != 0.0 && outside(fabs(options->pairs), 0x1p-900, 0x1p900))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: |pairs| must be 0 or from 2^-900 to 2^900, got %g", name,
                       options->pairs);
    return PN_OK;
}

/* The largest double at which an event costs epsilon at least: 2 sensitivity / scale, rounded upward as it does. */
static double scale_for(double sensitivity, double epsilon)
{
    double scale = nextafter(2.0 * sensitivity / epsilon, INFINITY);

    while (2.0 * pn_quotient_up(sensitivity, scale) < epsilon)
        scale = nextafter(scale, 0.0);
    return scale;
}

static pn_status make_event(selection_mechanism *self, pn_neighbours neighbours, pn_err *err)
{
    double epsilon = pn_dyadic_value(self->epsilon);
    uint64_t most = UINT64_C(1) << 30, steps = self->shift < most ? self->shift : most; /* more would cost less */
    pn_arg args[4] = { { .given = true, .real = scale_for(self->sensitivity, epsilon) },
                       { .given = true, .real = self->sensitivity },
                       { .given = self->law == PN_SELECT_LAPLACE, .count = (size_t)steps },
                       { 0 } };

    if (self->law == PN_SELECT_EXPONENTIAL)
        return pn_event_exponential(&self->base.event, epsilon, neighbours, err);
    return pn_event_from_args(&self->base.event, "report_noisy_max", args, neighbours, err);
}

pn_status pn_mechanism_selection(pn_mechanism **out, const pn_selection_options *options, pn_err *err)
{
    selection_mechanism *self;
    pn_status status;

    PN_TRY(check_options(options, err));
    PN_TRY(pn_new_zeroed(&self, 1, err, "%s: not enough memory", ops_of(options->law)->name));
    self->base.ops = ops_of(options->law);
    self->base.domain = INFINITY;
    self->law = options->law;
    self->epsilon = pn_dyadic_floor(options->epsilon);
    self->law_epsilon = self->epsilon;
    if (PN_MUTANT("noise_scale"))
        self->law_epsilon = pn_dyadic_floor(fmin(options->epsilon / 0.8, 0x1p10));
    self->sensitivity = options->sensitivity;
    self->choice.bound = options->score_bound;
    self->choice.pairs = options->pairs;
    choose_lattice(self, options);
    status = make_event(self, options->neighbours, err);
    if (status != PN_OK) {
        selection_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

/* ---- whole scores ---- */

pn_rate pn_mechanism_choice_rate(const pn_mechanism *base, uint64_t moved)
{
    const selection_mechanism *self = (const selection_mechanism *)base;

    return pn_rate_of(self->law_epsilon, PN_MUTANT("sensitivity_half") ? (moved + 1) / 2 : moved);
}

pn_status pn_mechanism_choose(pn_mechanism *base, pn_ledger *ledger, const char *label, pn_rng *rng,
                              const pn_level_view *view, uint64_t moved, size_t *j, bool *second, pn_err *err)
{
    const pn_rate rate = pn_mechanism_choice_rate(base, moved);
    bool flips = base->ops == &pn_mechanism_permute_and_flip;
    pn_status status;

    if ((base->ops != &pn_mechanism_exponential && !flips) || view->rate.num != rate.num || view->rate.den != rate.den)
        return pn_fail(err, PN_EINVAL, "%s: levels are those of another law or rate", base->ops->name);
    if (!PN_MUTANT("charge_after"))
        PN_TRY(pn_mechanism_pay(base, ledger, label, rng, err));
    status = (flips ? pn_score_levels_flip : pn_score_levels_draw)(rng, view, j, second, err);
    if (PN_MUTANT("charge_after"))
        (void)pn_mechanism_pay(base, ledger, label, rng, NULL);
    return status;
}

/* ---- the table rows ---- */

/* The rows of all three tables are in this order; the first is epsilon or scale. */
enum { STRENGTH, SENSITIVITY, SCORE_BOUND, SCORE_ERROR, STRICT };

#define SCORE_PARAMS                                                                                                   \
    { "sensitivity",                                                                                                   \
      PN_REAL,                                                                                                         \
      PN_REQUIRED,                                                                                                     \
      PN_POSITIVE,                                                                                                     \
      0.0,                                                                                                             \
      NULL,                                                                                                            \
      "the most that one record can move any score, in units of the scores" },                                         \
        { "score_bound",                                                                                               \
          PN_REAL,                                                                                                     \
          PN_OPTIONAL,                                                                                                 \
          PN_POSITIVE,                                                                                                 \
          0.0,                                                                                                         \
          NULL,                                                                                                        \
          "public bound on every |score|; what is beyond it is clamped to it; sensitivity 2^40 when absent" },         \
        { "score_error",                                                                                               \
          PN_REAL,                                                                                                     \
          PN_OPTIONAL,                                                                                                 \
          PN_NONNEGATIVE,                                                                                              \
          0.0,                                                                                                         \
          NULL,                                                                                                        \
          "public bound on the rounding error of every score" },                                                       \
        PN_STRICT_PARAM, PN_PARAM_END

static const pn_param epsilon_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "cost of one release, rounded down to 20 significant bits" },
    SCORE_PARAMS,
};

static const pn_param scale_params[] = {
    { "scale", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "of the Laplace noise, in units of the scores: one release costs epsilon = 2 sensitivity / scale" },
    SCORE_PARAMS,
};

static pn_status create(pn_mechanism **out, pn_selection law, double epsilon, const pn_arg *args,
                        pn_neighbours neighbours, pn_err *err)
{
    pn_selection_options options = {
        .law = law,
        .epsilon = epsilon,
        .sensitivity = args[SENSITIVITY].real,
        .score_error = args[SCORE_ERROR].real,
        .score_bound =
            args[SCORE_BOUND].given ? args[SCORE_BOUND].real : fmin(args[SENSITIVITY].real * 0x1p40, 0x1p900),
        .neighbours = neighbours,
    };
    pn_status status;

    PN_TRY(pn_mechanism_selection(out, &options, err));
    status = pn_mechanism_set_domain(*out, &args[SCORE_BOUND], "score_bound", &args[STRICT], INFINITY, err);
    if (status != PN_OK) {
        selection_destroy(*out);
        *out = NULL;
    }
    return status;
}

static pn_status exponential_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return create(out, PN_SELECT_EXPONENTIAL, args[STRENGTH].real, args, neighbours, err);
}

static pn_status permute_and_flip_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return create(out, PN_SELECT_PERMUTE_AND_FLIP, args[STRENGTH].real, args, neighbours, err);
}

static pn_status noisy_max_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    double epsilon = 2.0 * args[SENSITIVITY].real / args[STRENGTH].real;

    if (outside(epsilon, 0x1p-40, 0x1p10))
        return pn_fail(err, PN_EINVAL,
                       "mechanism.report_noisy_max: scale %g with sensitivity %g costs epsilon %g; it must be between "
                       "2^-40 and 1024",
                       args[STRENGTH].real, args[SENSITIVITY].real, epsilon);
    return create(out, PN_SELECT_LAPLACE, epsilon, args, neighbours, err);
}

const pn_mechanism_ops pn_mechanism_exponential = {
    .name = "exponential",
    .doc = "Chooses one of n scores (larger is better) with probability proportional to exp(epsilon score / (2 "
           "sensitivity)).  Guarantee, between neighbours that move every score by at most sensitivity: epsilon-DP, of "
           "bounded range epsilon and so epsilon^2/8-zCDP: many of them add up best under rho or delta.",
    .source = "McSherry, Talwar (2007); Canonne, Kamath, Steinke (2020) for the exact coins",
    .params = epsilon_params,
    .output = PN_GIVES_INDEX,
    .create = exponential_create,
    .destroy = selection_destroy,
    .prepare = selection_prepare,
    .draw = selection_draw,
    .describe = selection_describe,
};

const pn_mechanism_ops pn_mechanism_permute_and_flip = {
    .name = "permute_and_flip",
    .doc =
        "Chooses one of n scores (larger is better) by visiting them in random order and taking each with probability "
        "exp(-epsilon (max - score) / (2 sensitivity)), which is report noisy max with exponential noise.  Guarantee, "
        "between neighbours that move every score by at most sensitivity: epsilon-DP and epsilon^2/2-zCDP.  Never "
        "worse in expected score than the exponential mechanism at the same epsilon; that one adds up better over "
        "many.",
    .source = "McKenna, Sheldon (2020)",
    .params = epsilon_params,
    .output = PN_GIVES_INDEX,
    .create = permute_and_flip_create,
    .destroy = selection_destroy,
    .prepare = selection_prepare,
    .draw = selection_draw,
    .describe = selection_describe,
};

const pn_mechanism_ops pn_mechanism_report_noisy_max = {
    .name = "report_noisy_max",
    .doc =
        "Adds discrete Laplace noise of the given scale to n scores (larger is better) and reveals only which one is "
        "the largest.  Guarantee, between neighbours that move every score by at most sensitivity: epsilon-DP and "
        "epsilon^2/2-zCDP with epsilon = 2 sensitivity / scale, rounded down to 20 significant bits.",
    .source = "Dwork, Roth (2014), section 3.3; Canonne, Kamath, Steinke (2020), Algorithm 2",
    .params = scale_params,
    .output = PN_GIVES_INDEX,
    .create = noisy_max_create,
    .destroy = selection_destroy,
    .prepare = selection_prepare,
    .draw = selection_draw,
    .describe = selection_describe,
};
