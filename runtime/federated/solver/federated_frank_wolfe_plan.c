/* federated_frank_wolfe_plan.c -- options of federated_frank_wolfe, what it can be used for, and its plan.
 * Depends on: federated_frank_wolfe_plan.h.  Used by: federated_frank_wolfe.c.
 * See distributed-frank-wolfe.md section 3.
 * Source: Lou, Cheung (2018), Algorithm 2, corrected. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/solver/federated_frank_wolfe_plan.h"

static const char *const transport_class[] = { "pn.transport", NULL };
static const char *const paper_scales[] = { "text", "table", NULL };

const pn_param federated_params[] = {
    { "transport", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, transport_class, "how the server reaches the parties" },
    { "mode", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_federated_mode_names,
      "product: each party moves within a set of its own, an l1 ball or its factor of the objective's set; ball: the "
      "best party moves, within the l1 ball or the simplex; paper: the article to the letter, unproven, for simulated "
      "runs" },
    { "sampled", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "how many of its columns a party looks at in a round, of an l1 ball; by default all" },
    { "radii", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "of mode \"product\" over one l1 ball: the l1 radius of each party [K], of sum at most its radius r; by default "
      "r/K" },
    { "clip", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, NAN, NULL,
      "clips the margins of records there, so that the sensitivity is fixed; 0: no clip, sensitivities are bounded "
      "anew in every round; by default 0 where the risk bound promises something, else at twice the largest that "
      "margins of records can be" },
    { "share", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.5, NULL, "part of the budget that pays for features" },
    { "stay", PN_FLAG, PN_OPTIONAL, PN_ANY, PN_DERIVED, NULL,
      "parties may stay where they are; product: true, without it sampling fewer columns does not converge; ball: true "
      "where fewer columns are sampled, which then costs a score" },
    { "sketch.kind", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, pn_sketch_names,
      "how features are shortened; by default gaussian, and identity where that has no more numbers" },
    { "sketch.m", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "numbers that a feature is shortened to; by default what sketch.accuracy needs" },
    { "sketch.seed", PN_COUNT, PN_OPTIONAL, PN_WORD, 1.0, NULL, "public seed of the sketch" },
    { "sketch.accuracy", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.5, NULL,
      "error of inner products of columns relative to their norms, in place of sketch.m" },
    { "sketch.failure", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.05, NULL,
      "probability that some pair of columns has a larger error" },
    { "paper_scale", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, paper_scales,
      "of mode \"paper\": the Laplace scale of the article's text, or of its Table 2, twice as large" },
    PN_PARAM_END,
};

/* ---- what it can be used for ---- */

static pn_status read_loss(fed_work *at, pn_err *err)
{
    const char *name = pn_objective_loss(at->objective)->name;

    for (int i = 0; pn_federated_loss_names[i]; i++) {
        if (strcmp(name, pn_federated_loss_names[i]) == 0) {
            at->loss = (pn_federated_loss)i;
            return PN_OK;
        }
    }
    return pn_fail(err, PN_EUNSUPPORTED,
                   "parties know the losses \"squared\" and \"logistic\" by name, this one is \"%.60s\"", name);
}

static pn_status read_set(fed_work *at, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);

    if (!set)
        return pn_fail(err, PN_EINVAL, "the objective has no constraint set; give set=pn.set.l1_ball{...}");
    at->positive = at->mode == PN_FEDERATED_BALL && pn_set_is(set, "simplex", &at->radius);
    at->blocks = !at->positive && !pn_set_is(set, "l1_ball", &at->radius);
    if (at->blocks && at->mode != PN_FEDERATED_PRODUCT)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "in mode=\"%s\" parties move along single columns, so the set must be an l1_ball about 0%s, "
            "got %s; mode=\"product\" takes products of boxes, simplices, hypersimplices, polytopes and l1 balls",
            pn_federated_mode_names[at->mode], at->mode == PN_FEDERATED_BALL ? " or a simplex" : "", set->ops->name);
    if (pn_objective_regulariser(at->objective))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the objective must not have a regulariser, since the set limits the "
                       "model; leave reg= out");
    if (pn_objective_clip(at->objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "no party sees a whole record whose gradient could be clipped; leave clip out of the "
                       "objective, and " PN_HOW_TO_BOUND_ROWS_IN("linf"));
    return PN_OK;
}

static pn_status read_bounds(fed_work *at, pn_err *err)
{
    const pn_dataset *data = pn_objective_data(at->objective);
    const pn_record_bounds *bounds = &data->bounds;

    at->n = (double)data->n;
    at->d = (double)data->p;
    at->X = bounds->norm[PN_LINF];
    at->Y = fmax(fabs(bounds->label_low), fabs(bounds->label_high));
    if (!(at->X > 0.0 && isfinite(at->X)))
        return pn_fail(err, PN_EPRIVACY,
                       "no bound on single entries of the records is enforced: " PN_HOW_TO_BOUND_ROWS_IN("linf"));
    if (!(isfinite(bounds->label_low) && isfinite(bounds->label_high) && at->Y > 0.0))
        return pn_fail(err, PN_EPRIVACY, "no bound on the labels is enforced; call data:clip_labels(-1, 1) first");
    return PN_OK;
}

static pn_status check_start(const pn_arg *start, pn_err *err)
{
    for (size_t i = 0; start->given && i < start->vector.n; i++) {
        if (start->vector.data[i] != 0.0)
            return pn_fail(err, PN_EUNSUPPORTED,
                           "start must be 0, since the server has no features yet; entry %zu of start is %g", i + 1,
                           start->vector.data[i]);
    }
    return PN_OK;
}

static pn_status check_request(const fed_work *at, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    bool paper = at->mode == PN_FEDERATED_PAPER;

    if (request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "neighbours=\"add_remove\" makes n secret, which all parties know; use \"replace_one\" or "
                       "\"zero_out\"");
    if (strcmp(at->common[PN_OPT_CALIBRATION].text, "paper") == 0 && !paper)
        return pn_fail(err, PN_EUNSUPPORTED, "the article's constants belong to its own algorithm; use mode=\"paper\"");
    if (paper && at->is_private && !(request->kind == PN_EPSILON_DELTA && request->delta > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED, "mode=\"paper\" is stated for epsilon and delta; give both");
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "features are released with Gaussian noise, which has no pure epsilon; give delta, or rho");
    if (paper && at->loss != PN_FEDERATED_SQUARED)
        return pn_fail(err, PN_EUNSUPPORTED, "mode=\"paper\" is stated for the squared loss");
    return PN_OK;
}

/* ---- the parties ---- */

static pn_status check_transport(const fed_work *at, pn_err *err)
{
    const pn_transport *transport = at->plan->transport;
    size_t d = (size_t)at->d, columns = 0;

    if (transport->gathered && transport->records != (uint64_t)at->n)
        return pn_fail(err, PN_EDIM, "the parties have %llu records, the objective has %g",
                       (unsigned long long)transport->records, at->n);
    if (d < transport->parties)
        return pn_fail(err, PN_EINVAL, "%zu columns are too few for %zu parties; each needs one", d,
                       transport->parties);
    for (size_t k = 0; k < transport->parties; k++)
        columns += (size_t)transport->peers[k].columns;
    if (columns > 0 && columns != d)
        return pn_fail(err, PN_EDIM, "the parties have %zu columns together, the objective has %zu", columns, d);
    for (size_t k = 0; columns > 0 && k < transport->parties; k++) {
        if (transport->peers[k].columns == 0)
            return pn_fail(err, PN_EINVAL, "party %zu has no columns; each needs one", k + 1);
    }
    return PN_OK;
}

/* Of peers that are known, else of equal parts. */
static size_t columns_of(const fed_work *at, size_t k)
{
    const pn_transport *transport = at->plan->transport;
    size_t known = 0;

    for (size_t i = 0; i < transport->parties; i++)
        known += (size_t)transport->peers[i].columns;
    return known > 0 ? (size_t)transport->peers[k].columns : pn_terms_columns((size_t)at->d, transport->parties, k);
}

static pn_status open_terms(fed_work *at, pn_err *err)
{
    fed_plan *plan = at->plan;

    PN_TRY(check_transport(at, err));
    plan->parties = plan->transport->parties;
    at->parties = (double)plan->parties;
    PN_TRY(pn_new_zeroed(&plan->terms, plan->parties, err, "out of memory for %zu parties", plan->parties));
    for (size_t k = 0; k < plan->parties; k++) {
        plan->terms[k] = (pn_terms){ .mode = at->mode,
                                     .loss = at->loss,
                                     .neighbours = plan->base.request.neighbours,
                                     .is_private = at->is_private,
                                     .records = (uint64_t)at->n,
                                     .parties = (uint32_t)plan->parties,
                                     .feature_bound = at->X,
                                     .label_bound = at->Y,
                                     .party = (uint32_t)k,
                                     .columns = columns_of(at, k),
                                     .positive = at->positive,
                                     .radius = at->radius };
        if (plan->terms[k].columns > plan->terms[at->largest].columns)
            at->largest = k;
    }
    return PN_OK;
}

static pn_status read_sampled(fed_work *at, pn_err *err)
{
    const pn_arg *arg = &at->own[FED_SAMPLED];
    fed_plan *plan = at->plan;

    if (arg->given && (plan->choices || at->positive))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "sampled applies to l1 balls, whose vertices are single columns; over %s leave it out",
                       pn_objective_set(at->objective)->ops->name);
    if (arg->given && arg->count > plan->terms[at->largest].columns)
        return pn_fail(err, PN_EINVAL, "sampled is %zu, but no party has more than %llu columns", arg->count,
                       (unsigned long long)plan->terms[at->largest].columns);
    plan->p = 1.0;
    for (size_t k = 0; k < plan->parties; k++) {
        pn_terms *terms = &plan->terms[k];

        terms->sampled = arg->given && arg->count < terms->columns ? arg->count : terms->columns;
        plan->p = fmin(plan->p, (double)terms->sampled / (double)terms->columns);
    }
    return PN_OK;
}

static pn_status read_radii(fed_work *at, pn_err *err)
{
    const pn_arg *arg = &at->own[FED_RADII];
    fed_plan *plan = at->plan;

    if (at->blocks && arg->given)
        return pn_fail(err, PN_EINVAL, "radii are for an l1_ball that is split; the factors of %s have their own",
                       pn_objective_set(at->objective)->ops->name);
    if (at->blocks)
        return PN_OK;
    at->reach = at->radius;
    if (arg->given && at->mode != PN_FEDERATED_PRODUCT)
        return pn_fail(err, PN_EINVAL, "radii are for mode=\"product\"; leave them out of mode \"%s\"",
                       pn_federated_mode_names[at->mode]);
    if (at->mode != PN_FEDERATED_PRODUCT)
        return PN_OK;
    if (arg->given && arg->vector.n != plan->parties)
        return pn_fail(err, PN_EDIM, "radii has %zu entries, there are %zu parties", arg->vector.n, plan->parties);
    at->reach = 0.0;
    for (size_t k = 0; k < plan->parties; k++) {
        double radius = arg->given ? arg->vector.data[k] : at->radius / at->parties;

        if (!(radius > 0.0))
            return pn_fail(err, PN_EINVAL, "radii must be positive numbers, entry %zu is %g", k + 1, radius);
        plan->terms[k].radius = radius;
        at->reach += radius;
    }
    if (!(at->reach <= at->radius * (1.0 + 1e-12)))
        return pn_fail(err, PN_EINVAL,
                       "radii sum to %.9g, which leaves the l1 ball of radius %.9g; their sum may be that at most",
                       at->reach, at->radius);
    at->reach = fmin(at->reach, at->radius);
    return PN_OK;
}

/* ---- how a round goes ---- */

static pn_status read_stay(fed_work *at, pn_err *err)
{
    const pn_arg *arg = &at->own[FED_STAY];
    fed_plan *plan = at->plan;
    bool stay = arg->given ? arg->flag : at->mode == PN_FEDERATED_PRODUCT && !plan->choices;

    if (stay && plan->choices)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "stay is for l1 balls, which parties may sample columns of; over %s leave it out",
                       pn_objective_set(at->objective)->ops->name);

    if (arg->given && at->mode == PN_FEDERATED_PAPER)
        return pn_fail(err, PN_EINVAL, "mode=\"paper\" has no \"stay\"; leave it out");
    if (at->mode == PN_FEDERATED_BALL && plan->p < 1.0 && !stay)
        return pn_fail(err, PN_EINVAL,
                       "in mode=\"ball\" a sample may have no column worth moving to: leave sampled out, or let "
                       "parties release what staying is worth, stay=true");
    if (at->mode == PN_FEDERATED_BALL && plan->p == 1.0 && stay)
        return pn_fail(err, PN_EINVAL,
                       "with all columns sampled staying is never the best, and its score would cost; leave stay "
                       "out, or give sampled");
    for (size_t k = 0; k < plan->parties; k++)
        plan->terms[k].stay = stay;
    return PN_OK;
}

static pn_status read_clip(fed_work *at, pn_err *err)
{
    const pn_arg *arg = &at->own[FED_CLIP];

    if (!arg->given)
        return PN_OK;
    if (at->mode == PN_FEDERATED_PAPER)
        return pn_fail(err, PN_EINVAL, "mode=\"paper\" clips nothing; leave clip out");
    if (at->loss == PN_FEDERATED_LOGISTIC)
        return pn_fail(err, PN_EINVAL,
                       "slopes of the logistic loss are at most 1 whatever the margins are; leave clip out");
    for (size_t k = 0; k < at->plan->parties; k++)
        at->plan->terms[k].clip = arg->real;
    return PN_OK;
}

/* ---- the sketch ---- */

static pn_status check_sketch(const fed_work *at, pn_err *err)
{
    const pn_arg *kind = &at->own[FED_SKETCH_KIND], *rows = &at->own[FED_SKETCH_ROWS];
    bool accuracy = at->own[FED_SKETCH_ACCURACY].given;

    if (rows->given && accuracy)
        return pn_fail(err, PN_EINVAL, "give either sketch.m or sketch.accuracy, not both");
    if (rows->given && rows->count > PN_SKETCH_ROWS_MAX)
        return pn_fail(err, PN_EINVAL, "sketch.m is %zu, at most %u are possible", rows->count, PN_SKETCH_ROWS_MAX);
    if (kind->given && kind->count == PN_SKETCH_IDENTITY && (accuracy || (rows->given && rows->count != (size_t)at->n)))
        return pn_fail(err, PN_EINVAL,
                       "sketch.kind=\"identity\" keeps all %g numbers of a column; leave sketch.m and "
                       "sketch.accuracy out",
                       at->n);
    return PN_OK;
}

static pn_status choose_shape(fed_work *at, pn_err *err)
{
    const pn_arg *kind = &at->own[FED_SKETCH_KIND], *rows = &at->own[FED_SKETCH_ROWS];
    size_t n = (size_t)at->n;
    size_t m =
        rows->given ? rows->count : pn_sketch_rows(at->own[FED_SKETCH_ACCURACY].real, at->failure, (size_t)at->d);

    at->shape = (pn_sketch_shape){ .kind = kind->given ? (pn_sketch_kind)kind->count : PN_SKETCH_GAUSSIAN,
                                   .m = m,
                                   .n = n,
                                   .seed = (uint64_t)at->own[FED_SKETCH_SEED].count };
    if (!kind->given && m >= n)
        at->shape.kind = PN_SKETCH_IDENTITY;
    at->identity = at->shape.kind == PN_SKETCH_IDENTITY;
    if (at->identity)
        at->shape.m = n;
    if (at->shape.m > pn_sketch_rows_most(n))
        return pn_fail(err, PN_EINVAL,
                       "%s %zu rows for %zu records, parties accept %zu at most; sketch.kind=\"identity\" sends "
                       "columns as they are",
                       rows->given ? "sketch.m asks for" : "sketch.accuracy needs", at->shape.m, n,
                       pn_sketch_rows_most(n));
    return PN_OK;
}

static pn_status open_sketch(fed_work *at, pn_err *err)
{
    fed_plan *plan = at->plan;
    pn_sketch *sketch = NULL;
    pn_status status;

    PN_TRY(check_sketch(at, err));
    at->failure = at->own[FED_SKETCH_FAILURE].real;
    PN_TRY(choose_shape(at, err));
    at->accuracy = at->identity ? 0.0 : pn_sketch_accuracy(at->shape.kind, at->shape.m, at->failure, (size_t)at->d);
    for (size_t k = 0; k < plan->parties; k++)
        plan->terms[k].sketch = at->shape;
    status = pn_sketch_new(&sketch, &at->shape, plan->base.request.task, err);
    if (status == PN_OK) {
        at->column_norm = pn_sketch_column_norm(sketch);
        at->feature_sensitivity = pn_release_feature_sensitivity(&plan->terms[0], sketch);
        at->top = 1.0;
        if (at->mode == PN_FEDERATED_PAPER && !at->identity)
            status = fed_top_singular(&at->top, sketch, plan->base.request.task, err);
    }
    pn_sketch_free(sketch);
    return status;
}

/* ---- the plan ---- */

/* Of f over what x can reach.  f >= 0, and convex: f(0) - f* <= reach ||gradient at 0||_inf.  Columns that are not
 * alike have inner products that vanish beside their norms, and from one vertex to another |z|^2 is 2 sum r_k^2 where
 * the worst case has (2 sum r_k)^2. */
static void measure_objective(fed_work *at)
{
    const pn_set *set = pn_objective_set(at->objective);
    double part = at->reach / at->radius, squares = 0.0, size;

    at->curvature = pn_objective_bounds(at->objective)->curvature * part * part;
    for (size_t k = 0; k < at->plan->parties; k++)
        squares += at->plan->terms[k].radius * at->plan->terms[k].radius;
    if (at->mode == PN_FEDERATED_BALL)
        squares = at->reach * at->reach;
    at->unlike = at->curvature * squares / (2.0 * at->reach * at->reach);
    if (at->plan->choices) { /* a polytope of one point: no curvature */
        size = set->ops->diameter(set, PN_L1);
        at->unlike = size > 0.0 ? at->curvature * pow(fmin(set->ops->diameter(set, PN_L2) / size, 1.0), 2) : 0.0;
    }
    at->start_gap = at->loss == PN_FEDERATED_LOGISTIC ? log(2.0) - log1p(exp(-at->X * at->Y * at->reach))
                                                      : fmin(at->Y * at->Y / 2.0, at->X * at->Y * at->reach);
}

static pn_status read_problem(fed_work *at, pn_err *err)
{
    pn_status status = read_loss(at, err);

    at->mode = (pn_federated_mode)at->own[FED_MODE].count;
    if (status == PN_OK)
        status = read_set(at, err);
    if (status == PN_OK)
        status = check_request(at, err);
    if (status == PN_OK)
        status = read_bounds(at, err);
    if (status == PN_OK)
        status = check_start(&at->common[PN_OPT_START], err);
    if (status == PN_OK)
        status = open_terms(at, err);
    if (status == PN_OK && at->blocks)
        status = fed_read_blocks(at, err);
    if (status == PN_OK)
        status = read_sampled(at, err);
    if (status == PN_OK)
        status = read_radii(at, err);
    if (status == PN_OK)
        status = read_stay(at, err);
    if (status == PN_OK)
        status = read_clip(at, err);
    return status;
}

pn_status fed_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    fed_plan *plan = (fed_plan *)base;
    fed_work *at = &(fed_work){ .plan = plan,
                                .objective = base->objective,
                                .common = common,
                                .own = own,
                                .is_private = base->request.kind != PN_NONPRIVATE };

    plan->transport = pn_transport_keep((pn_transport *)own[FED_TRANSPORT].object);
    plan->party_epsilon = plan->party_rho = NAN;
    PN_TRY(read_problem(at, err));
    PN_TRY(open_sketch(at, err));
    fed_share_budget(at);
    measure_objective(at);
    fed_choose_rounds(at);
    for (size_t k = 0; k < plan->parties; k++)
        plan->terms[k].iterations = base->iterations;
    base->charges = 1;
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    base->gradients = at->n * (double)base->iterations;
    PN_TRY(fed_set_noise(at, err));
    fed_predict_traffic(at);
    fed_explain(at);
    return PN_OK;
}

void fed_plan_destroy(pn_plan *plan)
{
    fed_plan *self = (fed_plan *)plan;

    pn_transport_free(self->transport);
    pn_event_free(self->selection);
    pn_event_free(self->feature);
    pn_event_free(self->score);
    pn_event_free(self->party_event);
    for (size_t k = 0; k < self->parties; k++) {
        if (self->choices)
            pn_choices_free(self->choices[k]);
        if (self->terms)
            pn_terms_drop(&self->terms[k]);
    }
    pn_free(self->choices);
    pn_free(self->width);
    pn_free(self->terms);
    pn_free(self);
}
