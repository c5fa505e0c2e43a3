/* line_search.c -- see line_search.h.
 * Depends on: line_search.h, geometry/kernels/upper.h, privacy (batch_sparse, sampler), objective.
 * Used by: second_order*.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/upper.h"
#include "privacy/mechanism/batch_sparse.h"
#include "privacy/mechanism/sampler.h"
#include "oracle/second_order/line_search.h"

/* What rounding may add to a record's certified change; the clip lets it pass. */
#define ROOM (1.0 + 0x1p-30)
/* Of the division, the sum and the subtraction after the pass over the data, relative to the bound on a query. */
#define ROUNDING 0x1p-50

struct pn_line_run {
    pn_line_search search;
    const pn_model *model;
    double most;             /* bound on a record's change per unit of t; +inf: none */
    double *t, *fixed, *q;   /* [tests] steps; what is public of their tests; the mean loss's falls */
    double bound;            /* public, on every |query|; +inf */
    pn_batch_sparse *sparse; /* NULL without noise */
    pn_sampler *sampler;     /* of a true batch without noise; NULL */
    bool drawn;              /* the sampler's batch */
    size_t count;            /* of it */
    bool looked;             /* q is known */
    size_t asked;
};

void pn_line_search_free(pn_line_run *run)
{
    if (!run)
        return;
    pn_batch_sparse_free(run->sparse);
    pn_sampler_free(run->sampler);
    pn_free(run->t);
    pn_free(run);
}

/* ---- the price ---- */

static pn_batch_sparse_options options_of(const pn_model *model, double epsilon)
{
    return (pn_batch_sparse_options){ .n = model->n,
                                      .batch = model->batch,
                                      .neighbours = model->neighbours,
                                      .epsilon = epsilon,
                                      .sensitivity = 1.0,
                                      .bound = INFINITY };
}

pn_status pn_line_search_event(const pn_model *model, double epsilon, pn_event **out, pn_err *err)
{
    pn_batch_sparse_options options = options_of(model, epsilon);

    return pn_batch_sparse_price(out, &options, err);
}

/* ---- what is public ---- */

static pn_status check(const pn_line_search *self, pn_err *err)
{
    if (self->tests > 0 && !(self->first > 0.0 && isfinite(self->first)))
        return pn_fail(err, PN_EINVAL, "line search: the first step must be a positive number, got %g", self->first);
    if (self->tests > 0 && !(self->factor > 0.0 && self->factor < 1.0))
        return pn_fail(err, PN_EINVAL, "line search: the factor must be between 0 and 1, got %g", self->factor);
    if (!(self->epsilon >= 0.0 && isfinite(self->epsilon)))
        return pn_fail(err, PN_EINVAL, "line search: epsilon must be a number, 0 or more, got %g", self->epsilon);
    return PN_OK;
}

/* fixed[k] = r(w) - r(w + t_k u) - required(t_k); not finite where r is not: that step is not taken,
 * and not asked about. */
static pn_status fix_public(pn_line_run *run, pn_err *err)
{
    const pn_line_search *of = &run->search;
    const pn_regulariser *reg = pn_objective_regulariser(run->model->objective);
    size_t dim = run->model->dim;
    double here = 0.0, there = 0.0, *trial = reg ? pn_alloc(dim, sizeof(double)) : NULL;
    pn_status status = PN_OK;

    if (reg && !trial)
        return pn_fail(err, PN_ENOMEM, "line search: out of memory for %zu coordinates", dim);
    if (reg)
        status = reg->ops->evaluate(reg, dim, of->point, &here, NULL, err);
    for (size_t k = 0; k < of->tests && status == PN_OK; k++) {
        double t = run->t[k];

        for (size_t j = 0; reg && j < dim; j++)
            trial[j] = of->point[j] + t * of->direction[j];
        if (reg)
            status = reg->ops->evaluate(reg, dim, trial, &there, NULL, err);
        run->fixed[k] = (here - there) - (of->linear + of->quadratic * t) * t;
        if (of->slope)
            run->fixed[k] /= t;
    }
    pn_free(trial);
    return status;
}

/* What q is measured in: a record moves the mean by at most most * unit_of(k) over the records of the batch. */
static double unit_of(const pn_line_run *run, size_t k)
{
    return run->search.slope ? 1.0 : run->t[k];
}

static pn_status open_public(pn_line_run *run, pn_err *err)
{
    const pn_line_search *of = &run->search;
    double lipschitz = run->model->lipschitz, t = of->first;
    pn_status status;

    run->t = pn_alloc(of->tests, 3 * sizeof(double));
    PN_TRY(pn_made(run->t, err, "line search: out of memory for %zu steps", of->tests));
    run->fixed = run->t + of->tests;
    run->q = run->fixed + of->tests;
    for (size_t k = 0; k < of->tests; k++, t *= of->factor)
        run->t[k] = t;
    run->most =
        isfinite(lipschitz) ? lipschitz * pn_norm_upper(PN_L2, of->direction, run->model->dim) * ROOM : INFINITY;
    if (run->most == 0.0) /* a direction or a loss without change: any bound does */
        run->most = 0x1p-700;
    if ((status = fix_public(run, err)) != PN_OK)
        return status;
    run->bound = run->most * unit_of(run, 0);
    for (size_t k = 0; k < of->tests; k++) {
        if (isfinite(run->fixed[k]))
            run->bound = fmax(run->bound, fabs(run->fixed[k]) + run->most * unit_of(run, k));
    }
    run->bound *= ROOM;
    return PN_OK;
}

/* ---- opening ---- */

/* Of the search at hand: what a neighbour's batch moves of any of its tests. */
static pn_batch_sparse_options search_options(const pn_line_run *run)
{
    const pn_model *model = run->model;
    pn_batch_sparse_options options = options_of(model, run->search.epsilon);
    double each = run->most * unit_of(run, 0) / (double)model->batch;

    options.sensitivity = pn_contributions(model->neighbours) * each;
    options.error = each * pn_objective_line_error(model->objective, model->batch) + ROUNDING * run->bound;
    options.bound = run->bound;
    return options;
}

static pn_status pay(pn_line_run *run, pn_step_context *context, const char *label, pn_err *err)
{
    pn_batch_sparse_options options = search_options(run);
    pn_event *event = NULL;
    pn_status status;

    if (!isfinite(options.sensitivity) || !isfinite(options.error))
        return pn_fail(err, PN_EPRIVACY,
                       "line search: nothing bounds how much a record's loss changes along a line; give clip= to "
                       "pn.objective, or " PN_HOW_TO_BOUND_ROWS);
    PN_TRY(pn_batch_sparse_price(&event, &options, err));
    status = pn_receipt_room(context->receipt, event, err);
    if (status == PN_OK)
        status = pn_batch_sparse_open(&run->sparse, &options, context->ledger, label, context->rng, err);
    if (status == PN_OK)
        pn_receipt_add(context->receipt, event, 1);
    pn_event_free(event);
    return status;
}

static pn_status open_sampler(pn_line_run *run, pn_err *err)
{
    pn_arg args[] = { { .given = true, .count = run->model->n }, { .given = true, .count = run->model->batch }, { 0 } };

    return run->model->batch < run->model->n ? pn_sampler_from_args(&run->sampler, "fixed", args, PN_REPLACE_ONE, err)
                                             : PN_OK;
}

pn_status pn_line_search_open(pn_line_run **out, const pn_line_search *self, const pn_model *model,
                              pn_step_context *context, const char *label, bool *charged, pn_err *err)
{
    pn_status status = check(self, err);
    pn_line_run *run;

    *out = NULL;
    *charged = false;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&run, 1, err, "line search: out of memory"));
    run->search = *self;
    run->model = model;
    if (self->tests > 0) {
        status = open_public(run, err);
        if (status == PN_OK)
            status = self->epsilon > 0.0 ? pay(run, context, label, err) : open_sampler(run, err);
    }
    if (status != PN_OK) {
        pn_line_search_free(run);
        return status;
    }
    *charged = run->sparse != NULL;
    *out = run;
    return PN_OK;
}

/* ---- asking ---- */

static pn_status batch_of(pn_line_run *run, pn_step_context *context, pn_batch *batch, pn_err *err)
{
    pn_status status = PN_OK;

    *batch = (pn_batch){ .count = run->model->n, .denominator = (double)run->model->batch };
    if (run->sparse) {
        batch->rows = pn_batch_sparse_rows(run->sparse, &batch->count);
    } else if (run->sampler) {
        if (!run->drawn)
            status = pn_sampler_draw(run->sampler, context->rng, &run->count, err);
        run->drawn = status == PN_OK;
        batch->rows = run->sampler->indices;
        batch->count = run->count;
    }
    return status;
}

/* All tests' differences, in one pass. */
static pn_status look(pn_line_run *run, pn_step_context *context, uint64_t *records, pn_err *err)
{
    const pn_line_search *of = &run->search;
    pn_batch batch;
    pn_status status = batch_of(run, context, &batch, err);

    if (status == PN_OK)
        status = pn_objective_line(run->model->objective, batch.rows ? &batch : NULL, of->point, of->direction, run->t,
                                   of->tests, run->most, run->q, NULL, context->task, err);
    if (status != PN_OK)
        return status;
    for (size_t k = 0; k < of->tests; k++) {
        double q = (of->slope ? run->q[k] / run->t[k] : run->q[k]) + run->fixed[k];

        /* Never beyond the public bound: whether a run fails must not depend on the records. */
        run->q[k] = q >= -run->bound ? fmin(q, run->bound) : -run->bound;
    }
    *records += run->model->batch;
    run->looked = true;
    return PN_OK;
}

static pn_status ask(pn_line_run *run, size_t k, bool *above, pn_err *err)
{
    *above = false;
    if (!isfinite(run->fixed[k]))
        return PN_OK;
    if (run->sparse)
        return pn_batch_sparse_above(run->sparse, run->q[k], above, err);
    *above = run->q[k] >= 0.0;
    return PN_OK;
}

pn_status pn_line_search_ask(pn_line_run *run, pn_step_context *context, double *step, size_t *tested,
                             uint64_t *records, pn_err *err)
{
    size_t tests = run->search.tests;
    bool above = false;
    pn_status status = tests > 0 && !run->looked ? look(run, context, records, err) : PN_OK;

    while (status == PN_OK && !above && run->asked < tests) {
        status = ask(run, run->asked, &above, err);
        run->asked += status == PN_OK;
    }
    if (status != PN_OK)
        return status;
    *step = above ? run->t[run->asked - 1] : run->search.otherwise;
    *tested = run->asked;
    return PN_OK;
}
