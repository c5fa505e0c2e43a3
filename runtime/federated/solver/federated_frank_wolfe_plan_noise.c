/* federated_frank_wolfe_plan_noise.c -- the noise with which a whole federated run costs what was asked for, and its
 * events.  All releases of a round read the same records, those of different parties, too: they add up.  A run is K T
 * selections, F features and, where the best party is looked for, K T scores.
 * Depends on: federated_frank_wolfe_plan.h, privacy/accounting/calibrate_program.h, random/selection.h.
 * Used by: federated_frank_wolfe_plan.c.
 * See distributed-frank-wolfe.md section 3, "Calibration". */
#include <math.h>

#include "core/alloc.h"
#include "federated/solver/federated_frank_wolfe_plan.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate_program.h"
#include "random/selection.h"

#define LEAST_EPSILON 0x1p-39 /* of one selection */
#define MOST_EPSILON  0x1p10

/* ---- shares of the budget ---- */

/* ln of the number of candidates. */
static double choices_of(const pn_terms *terms)
{
    bool stays = terms->stay && terms->mode == PN_FEDERATED_PRODUCT;

    return log((terms->positive ? 1.0 : 2.0) * (double)terms->sampled + (stays ? 1.0 : 0.0));
}

static void count_choices(fed_work *at)
{
    const fed_plan *plan = at->plan;

    if (plan->choices)
        return; /* fed_read_blocks has */
    at->choices = 0.0;
    for (size_t k = 0; k < plan->parties; k++) {
        double one = plan->terms[k].radius * choices_of(&plan->terms[k]);

        at->choices = at->mode == PN_FEDERATED_BALL ? fmax(at->choices, one) : at->choices + one;
    }
}

/* What features leave is shared by choices and scores: their errors a/sqrt(s) and b/sqrt(1 - s) are least together
 * where s : 1 - s is a^(2/3) : b^(2/3).  With all else equal a = ln(candidates)/sqrt(2) and b is that of the best of K,
 * or K + 1, scores. */
void fed_share_budget(fed_work *at)
{
    double K = at->parties, a, b, part;

    count_choices(at);
    a = at->choices / at->reach / sqrt(2.0);
    b = sqrt(at->plan->terms[0].stay ? (K + 1.0) * log(2.0 * K) : log(K));
    part = cbrt(b * b) / (cbrt(a * a) + cbrt(b * b));
    at->share = at->own[FED_SHARE].real;
    at->score_share = at->mode == PN_FEDERATED_BALL ? (1.0 - at->share) * fmin(fmax(part, 0.01), 0.99) : 0.0;
}

/* ---- releases ---- */

static double features_of(const fed_work *at, size_t k, double rounds)
{
    return fmin((double)at->plan->terms[k].columns, rounds * (at->plan->width ? (double)at->plan->width[k] : 1.0));
}

double fed_most_features(const fed_work *at, double rounds)
{
    double sum = 0.0;

    if (at->mode == PN_FEDERATED_BALL)
        return fmin(at->d, rounds);
    for (size_t k = 0; k < at->plan->parties; k++)
        sum += features_of(at, k, rounds);
    return sum;
}

double fed_most_features_of_one(const fed_work *at, double rounds)
{
    double most = 0.0;

    for (size_t k = 0; k < at->plan->parties; k++)
        most = fmax(most, features_of(at, k, rounds));
    return most;
}

double fed_request_rho(const fed_work *at)
{
    const pn_request *request = &at->plan->base.request;

    return request->kind == PN_RHO ? request->rho : pn_zcdp_rho(request->epsilon, request->delta);
}

void fed_noise_at(const fed_work *at, double rho, double rounds, fed_noise *out)
{
    double selections = at->parties * rounds, features = fed_most_features(at, rounds);
    double epsilon0 = sqrt(8.0 * (1.0 - at->share - at->score_share) * rho / selections);

    *out = (fed_noise){ .epsilon0 = fmin(fmax(epsilon0, LEAST_EPSILON), MOST_EPSILON),
                        .sigma_feature = at->feature_sensitivity * sqrt(features / (2.0 * at->share * rho)) };
    if (at->mode == PN_FEDERATED_BALL) {
        double scores = selections + (at->plan->terms[0].stay ? rounds : 0.0); /* K + 1 a round */

        out->sigma_score = sqrt(scores / (2.0 * at->score_share * rho));
    }
}

/* ---- events ---- */

/* What the party of `terms` releases, each once; its score with that weight of "stay". */
typedef struct one_each {
    pn_event *selection, *feature, *score; /* NULL without */
} one_each;

static void one_each_clear(one_each *one)
{
    pn_event_free(one->selection);
    pn_event_free(one->feature);
    pn_event_free(one->score);
    *one = (one_each){ NULL, NULL, NULL };
}

static pn_status one_each_init(one_each *one, const fed_work *at, const fed_noise *noise, double weight, pn_err *err)
{
    pn_terms terms = at->plan->terms[at->largest];
    pn_status status;

    *one = (one_each){ NULL, NULL, NULL };
    terms.epsilon0 = noise->epsilon0;
    terms.laplace_scale = noise->laplace;
    terms.sigma_feature = noise->sigma_feature;
    terms.sigma_score = noise->sigma_score;
    status = pn_release_selection(&one->selection, &terms, err);
    if (status == PN_OK)
        status = pn_release_feature_event(&one->feature, &terms, at->feature_sensitivity, err);
    if (status == PN_OK && at->mode == PN_FEDERATED_BALL)
        status = pn_release_score_event(&one->score, &terms, weight, err);
    if (status != PN_OK)
        one_each_clear(one);
    return status;
}

static pn_status compose(pn_event **out, const one_each *one, size_t selections, size_t features, pn_err *err)
{
    pn_event *const each[3] = { one->selection, one->feature, one->score };
    const size_t counts[3] = { selections, features, selections };
    pn_event *parts[3] = { NULL, NULL, NULL };
    size_t used = one->score ? 3 : 2;
    pn_status status = PN_OK;

    *out = NULL;
    for (size_t i = 0; i < used && status == PN_OK; i++)
        status = pn_event_repeated(&parts[i], each[i], counts[i], err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, used, err);
    for (size_t i = 0; i < used; i++)
        pn_event_free(parts[i]);
    return status;
}

/* Choices and scores are in units of what a record moves them by, which follows public margins: the basis is 1. */
static pn_basis relative_basis(const fed_work *at, double factor, double value)
{
    pn_basis basis = { .rule = "relative",
                       .norm = "each",
                       .contributions = 1.0,
                       .contribution = 1.0,
                       .factor = factor,
                       .divisor = 1.0,
                       .value = value };

    pn_basis_add(&basis, "feature", at->X);
    pn_basis_add(&basis, "label", at->Y);
    pn_basis_add(&basis, "radius", at->radius);
    pn_basis_add(&basis, "parties", at->parties);
    pn_basis_add(&basis, "stay", at->plan->terms[0].stay ? 1.0 : 0.0);
    return basis;
}

static pn_basis feature_basis(const fed_work *at)
{
    double moved = pn_release_contributions(at->plan->base.request.neighbours);
    pn_basis basis = { .rule = "column",
                       .norm = "l2",
                       .contributions = moved,
                       .contribution = at->X * at->column_norm,
                       .factor = 1.0,
                       .divisor = 1.0,
                       .value = at->feature_sensitivity };

    pn_basis_add(&basis, "feature", at->X);
    pn_basis_add(&basis, "column", at->column_norm);
    return basis;
}

/* What the receipt says of the whole run: its three kinds of releases, whose events the plan takes over. */
static void say_rests(fed_work *at, const one_each *one, size_t selections, size_t features)
{
    pn_event *const each[] = { one->selection, one->feature, one->score };
    double stays = at->plan->terms[0].stay ? 1.0 / at->parties : 0.0, factor = sqrt(1.0 + stays);
    const pn_basis bases[] = { relative_basis(at, 1.0, 1.0), feature_basis(at),
                               relative_basis(at, factor, factor * (1.0 + 0x1p-20)) };

    for (size_t k = 0; k < PN_RELEASE_KINDS; k++) {
        pn_plan_rest rest = { .of = pn_release_names[k],
                              .basis = bases[k],
                              .event = each[k] ? pn_event_keep(each[k]) : NULL,
                              .times = k == 1 ? features : selections };

        if (each[k])
            pn_plan_rests_on(&at->plan->base, &rest);
    }
}

/* All parties, where weights of "stay" cost most. */
static pn_status run_event(pn_event **out, fed_work *at, const fed_noise *noise, bool says, pn_err *err)
{
    size_t selections = at->plan->parties * at->plan->base.iterations;
    size_t features = (size_t)fed_most_features(at, (double)at->plan->base.iterations);
    one_each one;
    pn_status status = one_each_init(&one, at, noise, sqrt(1.0 / at->parties), err);

    *out = NULL;
    if (status == PN_OK)
        status = compose(out, &one, selections, features, err);
    if (status == PN_OK && says)
        say_rests(at, &one, selections, features);
    one_each_clear(&one);
    return status;
}

/* The party with the most columns by itself, with all of x in its own. */
static pn_status party_event(fed_work *at, const fed_noise *noise, pn_err *err)
{
    fed_plan *plan = at->plan;
    const pn_request *request = &plan->base.request;
    size_t rounds = plan->base.iterations;
    one_each one;
    pn_status status = one_each_init(&one, at, noise, 1.0, err);

    if (status == PN_OK)
        status = compose(&plan->party_event, &one, rounds, (size_t)fed_most_features_of_one(at, (double)rounds), err);
    if (status != PN_OK) {
        one_each_clear(&one);
        return status;
    }
    plan->selection = one.selection;
    plan->feature = one.feature;
    plan->score = one.score;
    plan->party_rho = plan->party_event->ops->zcdp(plan->party_event);
    if (request->kind == PN_EPSILON_DELTA)
        plan->party_epsilon = pn_event_epsilon(plan->party_event, 1, request->delta, NULL);
    return PN_OK;
}

/* ---- calibration ---- */

typedef struct run_program {
    fed_work *at;
} run_program;

/* The run of a budget rho = 1/(2 z^2). */
static pn_status run_release(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const run_program *program = self;
    fed_noise noise;

    *count = 1;
    fed_noise_at(program->at, 0.5 / (z * z), (double)program->at->plan->base.iterations, &noise);
    return run_event(event, program->at, &noise, false, err);
}

static pn_status calibrate(fed_work *at, fed_noise *out, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    size_t rounds = at->plan->base.iterations;
    run_program self = { at };
    const pn_program program = { run_release, &self };
    pn_run_budget budget = { .owner = at->plan->base.owner,
                             .accountant = "rdp",
                             .epsilon = request->epsilon,
                             .delta = request->delta,
                             .rho = request->kind == PN_RHO ? request->rho : NAN };
    double z;

    PN_TRY(pn_calibrate_run(&z, NULL, &budget, &program, err));
    fed_noise_at(at, 0.5 / (z * z), (double)rounds, out);
    if (!(out->epsilon0 > LEAST_EPSILON))
        return pn_fail(err, PN_EBUDGET, "the budget is too small for %zu parties and %zu rounds; use fewer iterations",
                       at->plan->parties, rounds);
    out->epsilon0 = pn_dyadic_value(pn_dyadic_floor(out->epsilon0));
    return PN_OK;
}

/* Laplace noise and sigma(J) as they are printed, for X and Y that may not be 1. */
static void article_noise(const fed_work *at, fed_noise *out)
{
    const pn_request *request = &at->plan->base.request;
    double rounds = (double)at->plan->base.iterations, half = request->epsilon / 2.0;
    double slope = at->X * (at->X * at->radius + at->Y); /* G = r + 1 */
    double text =
        2.0 * slope * at->radius / (at->parties * at->n) * sqrt(2.0 * rounds * log(2.0 / request->delta)) / half;

    *out = (fed_noise){
        .laplace = at->own[FED_PAPER_SCALE].count == FED_PAPER_TABLE ? 2.0 * text : text,
        .sigma_feature =
            at->top * at->X * sqrt(at->parties * rounds) * sqrt(2.0 * (log(1.0 / request->delta) + half)) / half,
    };
}

static void write_noise(fed_work *at, const fed_noise *noise)
{
    for (size_t k = 0; k < at->plan->parties; k++) {
        pn_terms *terms = &at->plan->terms[k];

        terms->epsilon0 = noise->epsilon0;
        terms->laplace_scale = noise->laplace;
        terms->sigma_feature = noise->sigma_feature;
        terms->sigma_score = noise->sigma_score;
    }
}

/* No party uploads more. */
static void write_features(fed_work *at)
{
    for (size_t k = 0; at->plan->choices && k < at->plan->parties; k++)
        at->plan->terms[k].features = (uint64_t)fed_most_features_of_one(at, (double)at->plan->base.iterations);
}

pn_status fed_set_noise(fed_work *at, pn_err *err)
{
    fed_plan *plan = at->plan;
    bool paper = at->mode == PN_FEDERATED_PAPER;
    fed_noise noise = { 0 };
    pn_status status = PN_OK;

    plan->features = (size_t)fed_most_features(at, (double)plan->base.iterations);
    write_features(at);
    plan->base.proven = !paper || !at->is_private;
    plan->base.simulation_only = paper && at->is_private;
    if (!at->is_private)
        return PN_OK;
    if (paper)
        article_noise(at, &noise);
    else
        status = calibrate(at, &noise, err);
    if (status == PN_OK)
        status = run_event(&plan->base.event, at, &noise, true, err);
    if (status == PN_OK)
        status = party_event(at, &noise, err);
    if (status == PN_OK)
        write_noise(at, &noise);
    return status;
}

/* ---- the largest singular value ---- */

static double normalise(double *x, size_t n)
{
    double sum = 0.0, norm;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    norm = sqrt(sum);
    for (size_t i = 0; i < n && norm > 0.0; i++)
        x[i] /= norm;
    return norm;
}

pn_status fed_top_singular(double *out, const pn_sketch *sketch, pn_task *task, pn_err *err)
{
    const pn_sketch_shape *shape = pn_sketch_shape_of(sketch);
    double *q = pn_alloc(shape->m, sizeof *q), *z = pn_alloc(shape->n, sizeof *z);
    double found = 0.0, last = -1.0;
    pn_status status = PN_OK;

    if (!q || !z)
        status = pn_fail(err, PN_ENOMEM, "out of memory for a sketch of %zu x %zu", shape->m, shape->n);
    for (size_t i = 0; status == PN_OK && i < shape->m; i++) /* no direction that J could be blind to */
        q[i] = 1.0 + 0.5 * sin((double)i + 1.0);
    if (status == PN_OK)
        (void)normalise(q, shape->m);
    for (int i = 0; status == PN_OK && i < 500 && fabs(found - last) > 1e-7 * found; i++) {
        last = found;
        status = pn_sketch_transpose(sketch, q, z, task, err);
        if (status == PN_OK) {
            found = normalise(z, shape->n);
            status = pn_sketch_columns(sketch, z, 1, q, task, err);
        }
        if (status == PN_OK)
            (void)normalise(q, shape->m);
    }
    if (status == PN_OK)
        *out = found;
    pn_free(q);
    pn_free(z);
    return status;
}
