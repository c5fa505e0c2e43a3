/* question.c -- what all kinds of questions share: the table, a place in a plan, batches, noise and a price.
 * Depends on: question.h, privacy/mechanism.  Used by: oracle.c, plans of solvers, bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "core/table.h"
#include "oracle/question.h"

#define ROW(name) &pn_question_##name,

static const pn_question_ops *const rows[] = { PN_QUESTIONS(ROW) NULL };

const pn_question_ops *const *pn_question_table(void)
{
    return rows;
}

const pn_question_ops *pn_question_find(const char *name)
{
    return pn_table_find(rows, name);
}

bool pn_question_is_open(const pn_question_ops *ops)
{
    return ops->answer != PN_ANSWER_MASKED && ops->answer != PN_ANSWER_SMOOTHED && ops->answer != PN_ANSWER_VERTEX &&
           ops != &pn_question_second_moments;
}

/* ---- life ---- */

void pn_question_clear(pn_question *self)
{
    pn_event_free(self->event);
    pn_objective_free(self->inner);
    pn_loss_free(self->phi_loss);
    pn_graph_free(self->graph);
    pn_prefix_design_free(self->design);
    pn_choices_free(self->choices);
    pn_coordinate_choices_free(self->coordinates);
    pn_free(self->numbers);
    self->choices = NULL;
    self->coordinates = NULL;
    self->design = NULL;
    self->numbers = NULL;
    self->event = NULL;
    self->inner = NULL;
    self->phi_loss = NULL;
    self->graph = NULL;
}

void pn_plan_question(pn_question *out, const pn_plan *plan, const pn_question_ops *ops)
{
    *out = (pn_question){ .ops = ops,
                          .objective = plan->objective,
                          .neighbours = plan->request.neighbours,
                          .exact = plan->request.kind == PN_NONPRIVATE,
                          .points = 1,
                          .each = 1,
                          .looks = 1,
                          .share = 1.0,
                          .divisor = 1.0,
                          .per_event = 1 };
}

pn_status pn_plan_ask(pn_question **out, pn_plan *plan, const pn_question_ops *ops, pn_err *err)
{
    pn_question *grown;

    if (plan->question_count == PN_PLAN_QUESTIONS)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: a plan has at most %d kinds of questions", plan->owner,
                       PN_PLAN_QUESTIONS);
    grown = pn_resize(plan->questions, plan->question_count + 1, sizeof *grown);
    PN_TRY(pn_made(grown, err, "%s: out of memory", plan->owner));
    plan->questions = grown;
    *out = &grown[plan->question_count++];
    pn_plan_question(*out, plan, ops);
    return PN_OK;
}

/* ---- what the kinds share ---- */

/* The sum is computed over all records at once, or over a batch of at most `most`. */
pn_status pn_question_batches(pn_question *self, double contribution, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n, batch = self->scheme ? self->batch : n;
    bool coins = self->scheme && strcmp(self->scheme, "poisson") == 0;
    size_t most = coins ? n : batch; /* records in a sum */
    double each = contribution * (1.0 + 1e-14), error = pn_objective_batch_error(self->objective, most, each);

    if (batch < 1 || batch > n)
        return pn_fail(err, PN_EINVAL, "%s: a batch has 1 to %zu records, got %zu", self->ops->name, n, batch);
    self->batches = (pn_batch_release_options){ .scheme = self->scheme ? self->scheme : "full",
                                                .n = n,
                                                .batch = batch,
                                                .q = (double)batch / (double)n,
                                                .neighbours = self->neighbours,
                                                .dim = self->dim,
                                                .contribution = each,
                                                .error = error,
                                                .bound = each * (double)most * (1.0 + 0x1p-30) + error };
    self->divisor = (double)batch;
    self->basis.rule = self->basis.rule ? self->basis.rule : "unit";
    self->basis.norm = "l2";
    self->basis.contributions = pn_question_moved(self);
    self->basis.contribution = each;
    self->basis.factor = self->basis.divisor = 1.0;
    self->basis.value = self->basis.contributions * each + 2.0 * sqrt((double)self->dim) * error;
    return PN_OK;
}

pn_status pn_question_of_phi(pn_question *self, bool slope, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(self->objective);
    pn_objective_parts parts = { .data = pn_objective_data(self->objective),
                                 .set = pn_objective_set(self->objective),
                                 .ranks = pn_objective_ranks(self->objective) };

    if (self->inner)
        return PN_OK;
    if (!self->graph)
        return pn_fail(err, PN_EINVAL, "%s: give a function of the margin z and the label y", self->ops->name);
    if (pn_loss_inputs(loss) != 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the loss must have one margin and nothing else, and %s has %zu inputs", self->ops->name,
                       loss->name, pn_loss_inputs(loss));
    PN_TRY(
        (slope ? pn_loss_from_slope : pn_loss_from_graph)(&self->phi_loss, self->graph, self->phi, &loss->labels, err));
    parts.loss = self->phi_loss;
    PN_TRY(pn_objective_new(&self->inner, &parts, err));
    self->objective = self->inner;
    return PN_OK;
}

size_t *pn_question_everybody(const pn_question *self, double *room)
{
    size_t *numbers = (size_t *)(void *)room, n = pn_objective_data(self->objective)->n;

    for (size_t i = 0; i < n; i++)
        numbers[i] = i;
    return numbers;
}

pn_status pn_question_need_norms(const pn_question *self, pn_err *err)
{
    if (pn_objective_clip(self->objective) > 0.0 || isfinite(pn_objective_data(self->objective)->bounds.norm[PN_L2]))
        return PN_OK;
    return pn_fail(
        err, PN_EPRIVACY,
        "%s: nothing bounds how long a record's gradient is; give pn.objective a clip=, the largest length that "
        "is asked about, or " PN_HOW_TO_BOUND_ROWS,
        self->ops->name);
}

pn_status pn_question_certify(pn_question *self, pn_err *err)
{
    self->points = self->points ? self->points : 1;
    self->each = self->each ? self->each : 1;
    self->looks = self->looks ? self->looks : 1;
    self->share = self->share > 0.0 ? self->share : 1.0;
    self->divisor = 1.0;
    self->per_event = 1;
    if (self->neighbours == PN_ADD_REMOVE && !self->exact)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: neighbours=\"add_remove\" makes n secret, and means are divided by n; use \"replace_one\" "
                       "or \"zero_out\"",
                       self->ops->name);
    if (self->scheme && !self->ops->batches)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: the question is asked of all records; leave batch out",
                       self->ops->name);
    PN_TRY(self->ops->certify(self, err));
    if (PN_MUTANT("question_sensitivity_half")) {
        self->noise.sensitivity *= 0.5;
        self->selection.sensitivity *= 0.5;
        self->selections.sum *= 0.5;
        self->selections.root *= 0.5;
        self->batches.contribution *= 0.5;
    }
    return PN_OK;
}

size_t pn_question_computed(const pn_question *self)
{
    return self->computed ? self->computed : self->dim;
}

/* ---- noise and price ---- */

double pn_question_moved(const pn_question *self)
{
    bool coins = self->batches.scheme && strcmp(self->batches.scheme, "poisson") == 0;

    return self->neighbours == PN_REPLACE_ONE && !coins ? 2.0 : 1.0;
}

pn_status pn_question_set_noise(pn_question *self, double z, pn_err *err)
{
    double each = z / (PN_MUTANT("share_ignored") ? 1.0 : self->share);

    if (self->ops->answer == PN_ANSWER_SUMS)
        return pn_question_design_at(self, each, err);
    if (self->ops->answer == PN_ANSWER_ABOVE)
        self->selection.epsilon = fmin(fmax(1.0 / each, 0x1p-39), 0x1p10);
    else if (self->ops->answer == PN_ANSWER_CHOICE)
        self->selection.epsilon = fmin(fmax(2.0 / each, 0x1p-39), 0x1p10); /* what can be drawn */
    else if (self->batches.scheme)
        self->batches.sigma = each * pn_question_moved(self) * self->batches.contribution;
    else
        self->noise.sigma = each * self->noise.sensitivity;
    return pn_question_price(self, err);
}

size_t pn_question_events(const pn_question *self, size_t times)
{
    if (self->ops->answer == PN_ANSWER_SUMS || self->ops->answer == PN_ANSWER_ABOVE)
        return 1;
    return times / self->per_event + (times % self->per_event != 0);
}

double pn_question_sigma(const pn_question *self)
{
    if (self->ops->answer == PN_ANSWER_SUMS)
        return sqrt(pn_prefix_design_variance(self->design, self->prefix.horizon));
    if (self->ops->answer == PN_ANSWER_ABOVE)
        return self->noise.sensitivity / self->selection.epsilon;
    if (self->ops->answer == PN_ANSWER_CHOICE)
        return 2.0 * self->selection.sensitivity / self->selection.epsilon;
    return self->batches.scheme ? self->batches.sigma / self->divisor : self->noise.sigma;
}

static pn_status watch_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err)
{
    pn_arg args[] = { { .given = true, .real = self->selection.epsilon },
                      { .given = true, .real = self->noise.sensitivity },
                      { .given = true, .real = self->threshold - self->offset },
                      { .given = true, .count = self->answers },
                      { .given = false },
                      { .given = false },
                      { .given = true, .real = self->noise.bound },
                      { .given = true, .flag = true } };

    return pn_mechanism_from_args(out, "sparse_vector", args, self->neighbours, err);
}

static pn_status laplace_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err)
{
    const pn_gradient_noise *noise = &self->noise;
    pn_arg args[] = { { .given = true, .real = noise->sigma },
                      { .given = false },
                      { .given = true, .real = sqrt((double)self->dim) * noise->sensitivity * (1.0 + 0x1p-50) },
                      { .given = true, .count = self->dim },
                      { .given = true, .real = noise->bound },
                      { .given = true, .flag = true } /* strict: the bound is certified */ };

    return pn_mechanism_from_args(out, "laplace", args, self->neighbours, err);
}

pn_status pn_question_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err)
{
    const pn_gradient_noise *noise = &self->noise;
    pn_arg args[] = { { .given = true, .real = noise->sigma },
                      { .given = true, .real = noise->sensitivity },
                      { .given = true, .count = self->dim },
                      { .given = true, .real = noise->bound },
                      { .given = false },
                      { .given = true, .flag = true } /* strict: the bound is certified */ };

    if (self->ops->answer == PN_ANSWER_CHOICE)
        return pn_mechanism_selection(out, &self->selection, err);
    if (self->ops->answer == PN_ANSWER_ABOVE)
        return watch_mechanism(out, self, err);
    if (self->laplace)
        return laplace_mechanism(out, self, err);
    return pn_mechanism_from_args(out, "gaussian", args, self->neighbours, err);
}

void pn_question_join_whole(pn_question *self)
{
    const pn_gradient_noise *of = &self->noise;

    self->batches = (pn_batch_release_options){ .scheme = "full",
                                                .n = pn_objective_data(self->objective)->n,
                                                .neighbours = self->neighbours,
                                                .dim = self->dim,
                                                .contribution = of->sensitivity / pn_question_moved(self),
                                                .bound = of->bound,
                                                .sigma = of->sigma };
}

static pn_status price_selections(pn_question *self, pn_err *err)
{
    pn_selections *selections;

    PN_TRY(pn_selections_new(&selections, &self->selections, err));
    self->event = pn_event_keep(pn_selections_event(selections));
    pn_selections_free(selections);
    return PN_OK;
}

pn_status pn_question_price(pn_question *self, pn_err *err)
{
    pn_mechanism *mechanism = NULL;

    pn_event_free(self->event);
    self->event = NULL;
    if (self->ops == &pn_question_minimum)
        return pn_perturbation_event(&self->event, &self->perturbation, err);
    if (self->ops->answer == PN_ANSWER_VERTEX)
        return price_selections(self, err);
    if (self->batches.scheme)
        return pn_batch_release_price(&self->event, &self->per_event, &self->batches, err);
    PN_TRY(pn_question_mechanism(&mechanism, self, err));
    self->event = pn_event_keep(mechanism->event);
    pn_mechanism_free(mechanism);
    return PN_OK;
}
