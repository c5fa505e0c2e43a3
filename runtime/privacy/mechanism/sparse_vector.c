/* sparse_vector.c -- which values of a stream reach a threshold: one price for any number of queries,
 * until so many were above.
 *
 * Threshold noise of scale b, drawn once; query noise of scale w b, drawn for every query; c positive answers.  A
 * record moves a rounded value by at most D' = D + what rounding adds, so the cost is D'/b for the threshold and 2 c
 * D'/(w b) for the positive answers (c D'/(w b) when all values move the same way), whatever the number of negative
 * ones.  Both noises live on the lattice of step b 2^-40, and w is a whole number: the comparison is one of integers,
 * and a tie is "above".  The integers have 128 bits and noise has no cap, so that a threshold and values of any size
 * are compared by the same law; what is beyond 2^85 b is cut (PN_LATTICE_FARTHEST says why that may be), and a
 * threshold there is refused.
 *
 * The published variants that are not private cannot be written with it: the threshold is always noisy, its noise is
 * never reused after a restart, query noise grows with the number of positive answers, a run ends when they are used
 * up, and nothing but a boolean leaves.
 *
 * Depends on: mechanism.h, mechanism_row.h, random/noise.h.  Used by: mechanism.c's table,
 * bindings (pn_sparse_run_new).
 * See noise.md section 7, accounting.md section 2. */
#include <math.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/mechanism/mechanism_row.h"
#include "random/noise.h"

#define MAX_QUERIES ((size_t)1 << 40) /* of one run, so that the sampler's distance from its law stays below SLACK */
#define SLACK       0x1p-48           /* 2^-89 for the comparison of every draw of a run, and as much again */
#define MAX_ANSWERS ((size_t)1 << 30)

typedef struct sparse_law {
    double step; /* b 2^-40 */
    uint32_t w;  /* query noise over threshold noise */
    pn_steps threshold;
    size_t answers; /* positive ones before it halts */
    bool restart;   /* fresh threshold noise after every positive answer */
} sparse_law;

typedef struct sparse_vector {
    pn_mechanism base; /* first */
    sparse_law law;
    double scale; /* b */
    double threshold, sensitivity, charged;
    bool monotone;
} sparse_vector;

struct pn_sparse_run {
    pn_mechanism face; /* for checks and messages; its event is the ledger's business */
    sparse_law law;
    pn_rng *rng;
    pn_steps noisy_threshold;
    size_t left, asked;
    pid_t owner; /* one payment is for the answers of one process */
};

/* ---- a run ---- */

static pn_steps noise(pn_rng *rng, uint32_t w)
{
    int64_t k;

    pn_noise_laplace(rng, w, 1, &k);
    return pn_noise_laplace_uncapped(rng, w, k);
}

static void draw_threshold(pn_sparse_run *run)
{
    run->noisy_threshold = run->law.threshold + noise(run->rng, 1);
}

static void begin(pn_sparse_run *run, const sparse_vector *self, pn_rng *rng)
{
    run->face = (pn_mechanism){ .ops = self->base.ops, .domain = self->base.domain, .clamps = self->base.clamps };
    run->law = self->law;
    run->rng = rng;
    run->left = self->law.answers;
    run->asked = 0;
    run->owner = pn_process();
    draw_threshold(run);
}

static bool answer(pn_sparse_run *run, double value)
{
    double taken = run->face.clamps ? pn_mechanism_clamp(&run->face, value) : value;
    pn_steps m = pn_lattice_round_far(taken, run->law.step, PN_LATTICE_FARTHEST);
    bool above = m + noise(run->rng, run->law.w) >= run->noisy_threshold;

    run->asked++;
    if (above) {
        run->left--;
        if (run->law.restart && run->left > 0)
            draw_threshold(run);
    }
    return above;
}

/* ---- as a mechanism ---- */

static pn_status sparse_prepare(pn_mechanism *base, size_t n, pn_err *err)
{
    if (n > MAX_QUERIES)
        return pn_fail(err, PN_EDIM, "%s: one run answers at most 2^40 queries, got %zu", base->ops->name, n);
    return PN_OK;
}

static pn_status sparse_draw(pn_mechanism *base, const double *input, size_t n, pn_rng *rng, pn_release *out,
                             pn_err *err)
{
    pn_sparse_run run;
    size_t i;

    (void)err;
    begin(&run, (const sparse_vector *)base, rng);
    for (i = 0; i < n && run.left > 0; i++)
        out->above[i] = answer(&run, input[i]);
    out->count = i;
    return PN_OK;
}

static void sparse_destroy(pn_mechanism *base)
{
    pn_event_free(base->event);
    pn_free(base);
}

static void sparse_describe(const pn_mechanism *base, char *text, size_t size)
{
    const sparse_vector *self = (const sparse_vector *)base;
    char cost[256];

    pn_event_describe(base->event, cost, sizeof cost);
    (void)snprintf(
        text, size,
        "%s: says which values of a stream reach %.9g, until %zu did, and releases nothing but true or false\n"
        "  one run costs %s, whatever the number of queries\n"
        "  %s\n"
        "  discrete Laplace noise of scale %.9g on the threshold (%s), of scale %.9g on every value\n"
        "  compared as integers of %.9g, ties are above; rounding adds %.3g to the sensitivity %.9g%s: paid for\n"
        "  values beyond +-%.9g are %s%s",
        base->ops->name, self->threshold, self->law.answers, cost, pn_mechanism_protects(base->event->neighbours),
        self->scale, self->law.restart ? "anew after every positive answer" : "once", self->scale * self->law.w,
        pn_lattice_step(self->scale), self->charged - self->sensitivity, self->sensitivity,
        self->monotone ? " (one direction)" : "", isfinite(base->domain) ? base->domain : pn_lattice_reach(self->scale),
        isfinite(base->domain) && !base->clamps ? "refused" : "clamped",
        isfinite(base->domain) ? "" : ", 2^85 scales of the noise: the lattice ends there");
}

/* ---- the adaptive form ---- */

pn_status pn_sparse_run_new(pn_sparse_run **out, pn_mechanism *mechanism, pn_ledger *ledger, const char *label,
                            pn_rng *rng, pn_err *err)
{
    pn_sparse_run *run;
    pn_status status;

    *out = NULL;
    if (mechanism->ops != &pn_mechanism_sparse_vector)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: only sparse_vector answers a stream; use release",
                       mechanism->ops->name);
    PN_TRY(pn_new_zeroed(&run, 1, err, "%s: out of memory", mechanism->ops->name));
    status = pn_mechanism_pay(mechanism, ledger, label, rng, err);
    if (status != PN_OK) {
        pn_free(run);
        return status;
    }
    begin(run, (const sparse_vector *)mechanism, rng);
    *out = run;
    return PN_OK;
}

pn_status pn_sparse_run_above(pn_sparse_run *run, double value, bool *above, pn_err *err)
{
    pn_status status;

    if (run->owner != pn_process())
        return pn_fail(err, PN_EPRIVACY,
                       "sparse_vector: this run was paid for by process %ld; a forked child opens its own",
                       (long)run->owner);
    if (run->left == 0)
        return pn_fail(err, PN_EBUDGET, "sparse_vector: it has said above %zu time%s and halted; open a new run",
                       run->law.answers, run->law.answers == 1 ? "" : "s");
    if (run->asked >= MAX_QUERIES)
        return pn_fail(err, PN_EBUDGET, "sparse_vector: one run answers at most 2^40 queries; open a new run");
    status = pn_mechanism_admits(&run->face, &value, 1, err);
    if (status == PN_OK)
        *above = answer(run, value);
    return status;
}

size_t pn_sparse_run_left(const pn_sparse_run *run)
{
    return run->left;
}

bool pn_sparse_run_simulated(const pn_sparse_run *run)
{
    return pn_rng_simulated(run->rng);
}

void pn_sparse_run_free(pn_sparse_run *run)
{
    pn_free(run);
}

/* ---- making ---- */

enum { EPSILON, SENSITIVITY, THRESHOLD, ANSWERS, MONOTONE, RESTART, BOUND, STRICT };

static const pn_param sparse_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "cost of one whole run, not exceeded" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the most that one record can move any value" },
    { "threshold", PN_REAL, PN_OPTIONAL, PN_ANY, 0.0, NULL, "public; values at or above it count as above" },
    { "answers", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "how often it says above before it halts" },
    { "monotone", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "you vouch that between any two neighbours all values move in the same direction, as counts do when a record is "
      "added: less noise; not under replace_one" },
    { "restart", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "one run of epsilon/answers for every positive answer, each with fresh threshold noise: cheaper than one long "
      "run under rho or delta when answers is large" },
    { "bound", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "public bound on every |value|; what is beyond it is clamped to it; makes the allowance for rounding smaller" },
    PN_STRICT_PARAM,
    PN_PARAM_END,
};

/* Epsilon of one run in units of D'/b: the threshold's share and that of `answers` positive answers. */
static double shares(bool monotone, double answers, uint32_t w)
{
    return 1.0 + (monotone ? 1.0 : 2.0) * answers / w;
}

/* The variance of the difference that is compared is 2 b^2 (1 + w^2), and b is in proportion to the shares; its minimum
 * over real w is at the cube root that gives the split 1 : (2c)^(2/3). */
static uint32_t best_ratio(bool monotone, double answers)
{
    uint32_t low = (uint32_t)cbrt((monotone ? 1.0 : 2.0) * answers), best = low > 1 ? low : 1;
    double w = best, next = best + 1;

    if (shares(monotone, answers, best + 1) * sqrt(1.0 + next * next) <
        shares(monotone, answers, best) * sqrt(1.0 + w * w))
        best++;
    return best;
}

/* The largest epsilon of one of `runs` runs that together cost no more than `total`. */
static double one_run(double total, double runs)
{
    double epsilon = total / runs;

    while (fma(runs, epsilon, -total) > 0.0)
        epsilon = nextafter(epsilon, 0.0);
    return epsilon;
}

static pn_status check_args(const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    if (!(args[EPSILON].real >= 0x1p-40 && args[EPSILON].real <= 0x1p10))
        return pn_fail(err, PN_EINVAL, "mechanism.sparse_vector: epsilon must be between 2^-40 and 1024, got %g",
                       args[EPSILON].real);
    if (!(args[SENSITIVITY].real >= 0x1p-800 && args[SENSITIVITY].real <= 0x1p800))
        return pn_fail(err, PN_EINVAL, "mechanism.sparse_vector: sensitivity must be between 2^-800 and 2^800, got %g",
                       args[SENSITIVITY].real);
    if (args[ANSWERS].count > MAX_ANSWERS)
        return pn_fail(err, PN_EINVAL, "mechanism.sparse_vector: answers must be at most 2^30, got %zu",
                       args[ANSWERS].count);
    if (args[MONOTONE].flag && neighbours == PN_REPLACE_ONE)
        return pn_fail(
            err, PN_EPRIVACY,
            "mechanism.sparse_vector: monotone is not for neighbours = \"replace_one\": exchanging a record moves some "
            "values up and others down; use \"add_remove\" or \"zero_out\", or leave monotone out");
    return PN_OK;
}

/* b, w and the threshold in steps. */
static pn_status choose_law(sparse_vector *self, const pn_arg *args, double epsilon, pn_err *err)
{
    double answers = self->law.restart ? 1.0 : (double)self->law.answers;
    double bound = args[BOUND].given ? args[BOUND].real : INFINITY, ratio, parts;

    self->law.w = best_ratio(self->monotone, answers);
    parts = shares(self->monotone, answers, self->law.w);
    ratio = (epsilon - SLACK) / parts * (1.0 - 0x1p-50);
    self->scale = ratio > 0.0 ? pn_scale_for(pn_lattice_l1, self->sensitivity, 1, bound, ratio) : NAN;
    if (isnan(self->scale))
        return pn_fail(
            err, PN_EINVAL,
            "mechanism.sparse_vector: no noise on the lattice gives epsilon %g a run with %g positive answers", epsilon,
            answers);
    self->charged = pn_lattice_l1(self->sensitivity, self->scale, 1, bound, 1);
    self->law.step = pn_lattice_step(self->scale);
    if (PN_MUTANT("sensitivity_half"))
        self->law.step /= 2.0;
    if (PN_MUTANT("noise_scale"))
        self->law.step *= 0.8;
    if (!(fabs(self->threshold) <= pn_lattice_reach(self->scale)))
        return pn_fail(
            err, PN_EINVAL,
            "mechanism.sparse_vector: threshold %g is more than 2^85 noise scales (%g) away from 0, where the "
            "lattice ends; give one nearer to 0",
            self->threshold, self->scale);
    self->law.threshold = pn_lattice_round_far(self->threshold, self->law.step, PN_LATTICE_FARTHEST);
    return pn_mechanism_set_domain(&self->base, &args[BOUND], "bound", &args[STRICT], pn_lattice_reach(self->scale),
                                   err);
}

static pn_status make_event(sparse_vector *self, double epsilon, pn_neighbours neighbours, pn_err *err)
{
    pn_event *one = NULL;
    pn_status status =
        pn_event_sparse_vector(&one, epsilon, self->law.restart ? 1 : self->law.answers, neighbours, err);

    if (status != PN_OK || !self->law.restart || self->law.answers == 1) {
        self->base.event = one;
        return status;
    }
    status = pn_event_repeated(&self->base.event, one, self->law.answers, err);
    pn_event_free(one);
    return status;
}

static pn_status sparse_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_status status = check_args(args, neighbours, err);
    sparse_vector *self;
    double epsilon;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "mechanism.sparse_vector: out of memory"));
    self->base = (pn_mechanism){ .ops = &pn_mechanism_sparse_vector };
    self->law.answers = args[ANSWERS].count;
    self->law.restart = args[RESTART].flag;
    self->sensitivity = args[SENSITIVITY].real;
    self->threshold = args[THRESHOLD].real;
    self->monotone = args[MONOTONE].flag;
    epsilon = self->law.restart ? one_run(args[EPSILON].real, (double)self->law.answers) : args[EPSILON].real;
    status = choose_law(self, args, epsilon, err);
    if (status == PN_OK)
        status = make_event(self, epsilon, neighbours, err);
    if (status != PN_OK) {
        sparse_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

const pn_mechanism_ops pn_mechanism_sparse_vector = {
    .name = "sparse_vector",
    .doc =
        "Says for each value of a stream whether it reaches the threshold, and halts after so many that did.  "
        "Guarantee, between neighbours that move every value by at most sensitivity: epsilon-DP and epsilon^2/2-zCDP "
        "for the whole run, however many queries and however chosen.  release answers a list, open a stream.  A number "
        "for a value that was above is a release of its own.",
    .source = "Dwork, Naor, Reingold, Rothblum, Vadhan (2009); Lyu, Su, Li (2017), Algorithm 7 with its best split",
    .params = sparse_params,
    .output = PN_GIVES_ANSWERS,
    .create = sparse_create,
    .destroy = sparse_destroy,
    .prepare = sparse_prepare,
    .draw = sparse_draw,
    .describe = sparse_describe,
};
