/* model.c -- a fit and what is known of its run, as the Model of model.proto.
 * Depends on: model_file.h, model_json.h, the code generated from model.proto, libprotobuf-c.
 * Used by: bindings, hosts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"
#include "model/model_file.h"
#include "model/model.pb-c.h"
#include "model/model_json.h"
#include "numeric/symmetric.h"

#define NAME_BYTES 128
#define MOST_KINDS 255

/* ---- packing: structs of the generated code that borrow what can be borrowed ---- */

typedef struct parcel {
    Penumbra__Model model;
    Penumbra__Privacy privacy;
    Penumbra__Certificate certificate;
    Penumbra__Trace trace;
    Penumbra__Figures figures;
    Penumbra__Moments moments;
    Penumbra__Curvature curvature;
    char solver[NAME_BYTES], loss[NAME_BYTES], accountant[NAME_BYTES], stopped[NAME_BYTES], status[NAME_BYTES];
    char *plan;
    void *columns[8]; /* owned: of the trace */
    size_t column_count;
    char *kinds[MOST_KINDS];
    Penumbra__Bounds bounds;
    char parameters[NAME_BYTES], set[PN_MODEL_WORDS], regulariser[PN_MODEL_WORDS], declared[PN_MODEL_WORDS];
    char *names, **features; /* owned */
    bool short_of_memory;
} parcel;

static void parcel_clear(parcel *p)
{
    pn_free(p->plan);
    pn_free(p->names);
    pn_free(p->features);
    for (size_t k = 0; k < p->column_count; k++)
        pn_free(p->columns[k]);
    pn_free(p);
}

/* What a terminal would obey becomes '?', so that a reader takes what a writer wrote. */
void pn_model_clean(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t step = *text == '\n' ? 1 : pn_text_printable(text, left);

        if (step == 0) {
            *text = '?';
            step = 1;
        }
        text += step;
        left -= step;
    }
}

/* In one line, too. */
static void clean_name(char *text)
{
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? '?' : *at;
    pn_model_clean(text);
}

static char *name_in(char out[NAME_BYTES], const char *name)
{
    (void)snprintf(out, NAME_BYTES, "%s", name && name[0] ? name : "?");
    clean_name(out);
    return out;
}

static void pack_privacy(parcel *p, const pn_fit *fit, const pn_model_about *about)
{
    if (!fit->is_private)
        return;
    p->privacy = (Penumbra__Privacy)PENUMBRA__PRIVACY__INIT;
    p->privacy.epsilon = fit->epsilon;
    p->privacy.delta = fit->delta;
    p->privacy.rho = fit->rho;
    p->privacy.charged_epsilon = fit->charged_epsilon;
    p->privacy.charged_rho = fit->charged_rho;
    p->privacy.neighbours = (uint32_t)fit->neighbours;
    p->privacy.simulated = fit->simulated;
    p->privacy.has_anytime = p->privacy.anytime = true;
    p->privacy.accountant = name_in(p->accountant, about->accountant);
    p->model.privacy = &p->privacy;
}

static void pack_certificate(parcel *p, const pn_fit *fit)
{
    const pn_certificate *of = &fit->certificate;

    if (!of->status)
        return;
    p->certificate = (Penumbra__Certificate)PENUMBRA__CERTIFICATE__INIT;
    p->certificate.status = name_in(p->status, of->status);
    p->certificate.gradient_norm = of->gradient_norm;
    p->certificate.eigenvalue = of->eigenvalue;
    p->certificate.failure = of->failure;
    p->certificate.noisy_gradient_norm = of->noisy_gradient_norm;
    p->certificate.noisy_eigenvalue = of->noisy_eigenvalue;
    p->certificate.gradient_error = of->gradient_error;
    p->certificate.hessian_error = of->hessian_error;
    p->certificate.gradient_target = of->gradient_target;
    p->certificate.eigenvalue_target = of->eigenvalue_target;
    p->model.certificate = &p->certificate;
}

/* ---- what the records were ---- */

/* A text that may be absent, or NULL. */
static char *words_in(char *out, size_t size, const char *text)
{
    if (!text[0])
        return NULL;
    (void)snprintf(out, size, "%s", text);
    pn_model_clean(out);
    return out;
}

/* A recipe has the names, too. */
static void pack_names(parcel *p, const pn_model_about *about)
{
    size_t used = 0;

    for (size_t k = 0; k < about->feature_count; k++)
        used += strlen(about->features + used) + 1;
    if (about->recipe || used == 0)
        return;
    p->names = pn_alloc(used, 1);
    p->features = pn_alloc(about->feature_count, sizeof *p->features);
    if (!p->names || !p->features) {
        p->short_of_memory = true;
        return;
    }
    memcpy(p->names, about->features, used);
    used = 0;
    for (size_t k = 0; k < about->feature_count; k++) {
        p->features[k] = p->names + used;
        used += strlen(p->names + used) + 1;
        clean_name(p->features[k]);
    }
    p->model.n_features = about->feature_count;
    p->model.features = p->features;
}

static void pack_records(parcel *p, const pn_model_about *about)
{
    Penumbra__Bounds *b = &p->bounds;

    pack_names(p, about);
    p->model.recipe = (char *)(uintptr_t)about->recipe;
    p->model.parameters = words_in(p->parameters, sizeof p->parameters, about->parameters);
    p->model.set = words_in(p->set, sizeof p->set, about->set);
    p->model.regulariser = words_in(p->regulariser, sizeof p->regulariser, about->regulariser);
    p->model.declared = words_in(p->declared, sizeof p->declared, about->declared);
    *b = (Penumbra__Bounds)PENUMBRA__BOUNDS__INIT;
    b->l1 = about->row_bound[PN_L1];
    b->l2 = about->row_bound[PN_L2];
    b->linf = about->row_bound[PN_LINF];
    b->label_low = about->label_low;
    b->label_high = about->label_high;
    p->model.bounds = b;
}

/* ---- the trace, by columns ---- */

static void *new_column(parcel *p, size_t rows, size_t size)
{
    void *column = pn_alloc(rows, size);

    if (!column)
        p->short_of_memory = true;
    else
        p->columns[p->column_count++] = column;
    return column;
}

typedef double (*figure_fn)(const pn_trace_row *row);

static double step_size_of(const pn_trace_row *row)
{
    return row->step_size;
}

static double certificate_of(const pn_trace_row *row)
{
    return row->certificate;
}

static double gradient_norm_of(const pn_trace_row *row)
{
    return row->gradient_norm;
}

static double eigenvalue_of(const pn_trace_row *row)
{
    return row->eigenvalue;
}

static double value_of(const pn_trace_row *row)
{
    return row->value;
}

static double gap_of(const pn_trace_row *row)
{
    return row->gap;
}

/* Nothing for a column of NaN. */
static void pack_reals(parcel *p, size_t *count, double **out, const pn_fit *fit, figure_fn of)
{
    bool known = false;

    for (size_t i = 0; i < fit->rows && !known; i++)
        known = !isnan(of(&fit->trace[i]));
    if (!known || !(*out = new_column(p, fit->rows, sizeof(double))))
        return;
    for (size_t i = 0; i < fit->rows; i++)
        (*out)[i] = of(&fit->trace[i]);
    *count = fit->rows;
}

typedef uint64_t (*count_fn)(const pn_trace_row *row);

static uint64_t step_of(const pn_trace_row *row)
{
    return row->step;
}

static uint64_t atom_of(const pn_trace_row *row)
{
    return row->atom;
}

static uint64_t gradients_of(const pn_trace_row *row)
{
    return row->gradients;
}

/* Nothing for a column of zeros, or of what was not saved before. */
static void pack_counts(parcel *p, size_t *count, uint64_t **out, const pn_fit *fit, count_fn of)
{
    bool known = false;

    for (size_t i = 0; i < fit->rows && !known; i++)
        known = of(&fit->trace[i]) != 0 && of(&fit->trace[i]) != PN_NOT_SAVED;
    if (!known || !(*out = new_column(p, fit->rows, sizeof(uint64_t))))
        return;
    for (size_t i = 0; i < fit->rows; i++)
        (*out)[i] = of(&fit->trace[i]);
    *count = fit->rows;
}

/* The number from 1 of a kind of step; 0 for none, and for what would be too many. */
static uint8_t kind_number(parcel *p, const char *kind)
{
    size_t k = 0;

    if (!kind)
        return 0;
    while (k < p->trace.n_kinds && strcmp(p->kinds[k], kind) != 0)
        k++;
    if (k == MOST_KINDS)
        return 0;
    if (k == p->trace.n_kinds)
        p->kinds[p->trace.n_kinds++] = (char *)(uintptr_t)kind; /* static, or of the file it was loaded from */
    return (uint8_t)(k + 1);
}

static void pack_kinds(parcel *p, const pn_fit *fit)
{
    uint8_t *numbers = new_column(p, fit->rows, 1);

    if (!numbers)
        return;
    for (size_t i = 0; i < fit->rows; i++)
        numbers[i] = kind_number(p, fit->trace[i].kind);
    if (p->trace.n_kinds == 0)
        return;
    p->trace.kinds = p->kinds;
    p->trace.has_kind = true;
    p->trace.kind = (ProtobufCBinaryData){ fit->rows, numbers };
}

static void pack_trace(parcel *p, const pn_fit *fit)
{
    Penumbra__Trace *t = &p->trace;

    if (fit->rows == 0)
        return;
    *t = (Penumbra__Trace)PENUMBRA__TRACE__INIT;
    pack_counts(p, &t->n_step, &t->step, fit, step_of);
    pack_counts(p, &t->n_atom, &t->atom, fit, atom_of);
    pack_reals(p, &t->n_step_size, &t->step_size, fit, step_size_of);
    pack_reals(p, &t->n_certificate, &t->certificate, fit, certificate_of);
    pack_reals(p, &t->n_gradient_norm, &t->gradient_norm, fit, gradient_norm_of);
    pack_reals(p, &t->n_eigenvalue, &t->eigenvalue, fit, eigenvalue_of);
    pack_kinds(p, fit);
    p->model.trace = t;
}

/* Without privacy they say more of the records than theta does. */
static void pack_moments(parcel *p, const pn_fit *fit, const pn_model_about *about)
{
    const pn_least_squares *of = fit->moments;
    Penumbra__Moments *m = &p->moments;

    if (!of || (!fit->is_private && !about->raw))
        return;
    *m = (Penumbra__Moments)PENUMBRA__MOMENTS__INIT;
    m->row = of->row;
    m->label = of->label;
    m->middle = of->middle;
    m->tau = of->tau;
    m->kappa = of->constant ? of->kappa : 0.0;
    m->deviation = of->deviation;
    m->damping = of->damping;
    m->n_packed = pn_packed_size(of->p + 1);
    m->packed = of->moments;
    p->model.moments = m;
}

/* Only private runs release it. */
static void pack_curvature(parcel *p, const pn_fit *fit)
{
    const pn_curvature *of = fit->curvature;
    Penumbra__Curvature *c = &p->curvature;

    if (!of || !fit->is_private)
        return;
    *c = (Penumbra__Curvature)PENUMBRA__CURVATURE__INIT;
    c->deviation = of->deviation;
    c->frobenius = of->frobenius;
    c->gradient = of->gradient;
    c->damping = of->damping;
    c->clip = of->clip;
    c->n_packed = pn_packed_size(of->p);
    c->packed = of->packed;
    c->n_diagonal = c->n_slope = c->n_pull = of->p;
    c->diagonal = of->diagonal;
    c->slope = of->slope;
    c->pull = of->pull;
    p->model.curvature = c;
}

/* ---- what is not private ---- */

static void pack_figures(parcel *p, const pn_fit *fit, const pn_model_about *about)
{
    Penumbra__Figures *f = &p->figures;

    if ((fit->is_private && !about->raw) || fit->gradients == PN_NOT_SAVED)
        return;
    *f = (Penumbra__Figures)PENUMBRA__FIGURES__INIT;
    f->seconds = fit->seconds;
    f->gradients = fit->gradients;
    f->value = about->raw ? about->value : NAN;
    pack_counts(p, &f->n_row_gradients, &f->row_gradients, fit, gradients_of);
    if (about->raw) {
        pack_reals(p, &f->n_row_value, &f->row_value, fit, value_of);
        pack_reals(p, &f->n_row_gap, &f->row_gap, fit, gap_of);
    }
    p->model.figures = f;
}

/* ---- whole models ---- */

static pn_status check_theta(const pn_fit *fit, const char *path, pn_err *err)
{
    for (size_t j = 0; j < fit->p; j++) {
        if (!isfinite(fit->theta[j]))
            return pn_fail(err, PN_EINVAL,
                           "model: %.300s: theta[%zu] is not finite: the run diverged and left no model to save", path,
                           j + 1);
    }
    return PN_OK;
}

static pn_status pack(parcel *p, const pn_fit *fit, const pn_model_about *about, pn_err *err)
{
    Penumbra__Model *m = &p->model;
    size_t length = strlen(about->plan) + 1;

    PN_TRY(pn_new(&p->plan, length, err, "model: out of memory"));
    memcpy(p->plan, about->plan, length);
    pn_model_clean(p->plan);
    *m = (Penumbra__Model)PENUMBRA__MODEL__INIT;
    m->version = (char *)(uintptr_t)pn_version();
    m->solver = name_in(p->solver, about->solver);
    m->loss = name_in(p->loss, about->loss);
    m->plan = p->plan;
    m->receipt = (char *)(uintptr_t)about->receipt;
    m->iterations = about->iterations;
    m->records = about->records;
    m->margins = about->margins;
    m->has_extra = about->extra > 0;
    m->extra = about->extra;
    m->bias = about->bias;
    m->adaptive = about->adaptive;
    m->draws = about->draws;
    m->proven = fit->proven;
    m->raw = about->raw;
    m->steps = fit->steps;
    m->stopped = fit->stopped ? name_in(p->stopped, fit->stopped) : NULL;
    m->n_theta = fit->p;
    m->theta = fit->theta;
    pack_privacy(p, fit, about);
    pack_records(p, about);
    pack_certificate(p, fit);
    pack_trace(p, fit);
    pack_figures(p, fit, about);
    pack_moments(p, fit, about);
    pack_curvature(p, fit);
    return p->short_of_memory ? pn_fail(err, PN_ENOMEM, "model: out of memory for the trace") : PN_OK;
}

static pn_status put(const parcel *p, const char *path, pn_err *err)
{
    size_t size = penumbra__model__get_packed_size(&p->model);
    unsigned char *bytes;
    pn_status status;

    if (size > PN_MODEL_MOST)
        return pn_fail(err, PN_EINVAL,
                       "model: %.300s: it would take %zu bytes, model files at most %zu; theta alone can be kept as "
                       "numbers",
                       path, size, PN_MODEL_MOST);
    PN_TRY(pn_new(&bytes, PN_MODEL_HEAD + size + PN_MODEL_DIGEST, err, "model: out of memory for %zu bytes", size));
    (void)penumbra__model__pack(&p->model, bytes + PN_MODEL_HEAD);
    status = pn_model_file_put(path, bytes, size, err);
    pn_free(bytes);
    return status;
}

static pn_status check_recipe(const char *path, const char *recipe, pn_err *err)
{
    if (recipe && strlen(recipe) >= PN_MODEL_RECIPE)
        return pn_fail(err, PN_EINVAL, "model: %.300s: the recipe has %zu bytes as JSON, models keep at most %zu", path,
                       strlen(recipe), PN_MODEL_RECIPE - 1);
    return PN_OK;
}

pn_status pn_model_write(const char *path, const pn_fit *fit, const pn_model_about *about, pn_model_form form,
                         pn_err *err)
{
    pn_status status = check_theta(fit, path, err);
    parcel *p;

    if (status == PN_OK)
        status = check_recipe(path, about->recipe, err);
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&p, 1, err, "model: out of memory"));
    status = pack(p, fit, about, err);
    if (status == PN_OK)
        status = form == PN_MODEL_JSON ? pn_model_json_put(path, &p->model, err) : put(p, path, err);
    parcel_clear(p);
    return status;
}

pn_status pn_model_copy(pn_fit **fit_out, pn_model_about **about_out, const pn_fit *fit, const pn_model_about *about,
                        pn_err *err)
{
    parcel *p;
    pn_status status = check_theta(fit, "a copy", err);

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&p, 1, err, "model: out of memory"));
    status = pack(p, fit, about, err);
    if (status == PN_OK)
        status = pn_model_accept(fit_out, about_out, &p->model, "a copy", err);
    parcel_clear(p);
    if (status == PN_OK)
        (*about_out)->version = NULL;
    return status;
}
