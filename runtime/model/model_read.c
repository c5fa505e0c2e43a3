/* model_read.c -- a fit from a Model, which may be damaged or made to do harm: the rules of model.proto are gone
 * through.  Depends on: model_file.h, recipe, the code generated from model.proto, core.  Used by: model_load.c,
 * model_json_read.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/text.h"
#include "model/model_file.h"
#include "model/model.pb-c.h"
#include "numeric/symmetric.h"
#include "privacy/event/event.h"
#include "recipe/recipe.h"

#define NAME_BYTES      128
#define NAME_OF_FEATURE ((size_t)1 << 16)
#define PLAN_BYTES      ((size_t)1 << 20)
#define RECEIPT_BYTES   ((size_t)1 << 26)
#define MOST_KINDS      255

typedef struct reading {
    const Penumbra__Model *model;
    pn_fit *fit;
    pn_model_about *about;
    char *room;        /* where the next text goes */
    pn_recipe *recipe; /* owned; NULL: none */
    const char *path;
    pn_err *err;
} reading;

/* The texts stand behind the struct that points at them. */
typedef struct record {
    pn_model_about about; /* first */
    char texts[];
} record;

static pn_status refuse(const reading *r, const char *what)
{
    return pn_fail(r->err, PN_EPARSE, "model: %.300s: %s", r->path, what);
}

/* ---- texts ---- */

static size_t room_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copied to where the about keeps them; NULL stays NULL. */
static const char *keep(reading *r, const char *text)
{
    char *kept = r->room;

    if (!text)
        return NULL;
    memcpy(kept, text, room_of(text));
    r->room += room_of(text);
    return kept;
}

static size_t room_for(const reading *r)
{
    const Penumbra__Model *m = r->model;
    size_t room = room_of(m->version) + room_of(m->solver) + room_of(m->loss) + room_of(m->plan) + room_of(m->stopped) +
                  room_of(m->receipt);

    if (m->privacy)
        room += room_of(m->privacy->accountant);
    if (m->certificate)
        room += room_of(m->certificate->status);
    for (size_t k = 0; m->trace && k < m->trace->n_kinds; k++)
        room += room_of(m->trace->kinds[k]);
    if (r->recipe)
        room += strlen(r->recipe->json) + 1 + r->recipe->name_bytes;
    for (size_t k = 0; k < m->n_features; k++)
        room += room_of(m->features[k]);
    return room;
}

static bool readable(const char *text, size_t most, bool lines)
{
    size_t left = strlen(text);

    if (left == 0 || left >= most)
        return false;
    while (left > 0) {
        size_t step = lines && *text == '\n' ? 1 : pn_text_printable(text, left);

        if (step == 0)
            return false;
        text += step;
        left -= step;
    }
    return true;
}

static bool is_name(const char *text)
{
    return readable(text, NAME_BYTES, false);
}

/* What may be absent. */
static bool are_words(const char *text, size_t most)
{
    return !text || readable(text, most, true);
}

static pn_status check_texts(const reading *r)
{
    const Penumbra__Model *m = r->model;
    bool fine = is_name(m->version) && is_name(m->solver) && is_name(m->loss) && readable(m->plan, PLAN_BYTES, true) &&
                (!m->stopped || is_name(m->stopped)) && (!m->privacy || is_name(m->privacy->accountant)) &&
                (!m->certificate || is_name(m->certificate->status));

    for (size_t k = 0; fine && m->trace && k < m->trace->n_kinds; k++)
        fine = is_name(m->trace->kinds[k]);
    for (size_t k = 0; fine && k < m->n_features; k++)
        fine = readable(m->features[k], NAME_OF_FEATURE, false);
    fine = fine && are_words(m->parameters, sizeof r->about->parameters) && are_words(m->set, PN_MODEL_WORDS) &&
           are_words(m->regulariser, PN_MODEL_WORDS) && are_words(m->declared, PN_MODEL_WORDS) &&
           are_words(m->receipt, RECEIPT_BYTES);
    return fine ? PN_OK : refuse(r, "a text in it is empty, too long or not readable");
}

/* ---- the rules ---- */

static pn_status check_theta(const reading *r)
{
    const Penumbra__Model *m = r->model;

    if (m->n_theta == 0)
        return refuse(r, "it has no theta");
    for (size_t j = 0; j < m->n_theta; j++) {
        if (!isfinite(m->theta[j]))
            return pn_fail(r->err, PN_EPARSE, "model: %.300s: theta[%zu] is not finite", r->path, j + 1);
    }
    if (m->extra >= m->n_theta || (m->extra > 0 && m->margins == 0))
        return refuse(r, "theta has no room for its further parameters");
    if (m->margins > m->n_theta || (m->margins > 1 && (m->n_theta - m->extra) % m->margins != 0))
        return refuse(r, "theta does not have as many numbers for each class");
    if (m->iterations > PN_SIZE_MAX || m->records > PN_SIZE_MAX || m->steps > PN_SIZE_MAX)
        return refuse(r, "a count in it is more than 2^48");
    return PN_OK;
}

/* ---- what the records were ---- */

static pn_status check_features(const reading *r, size_t count, const char *whose)
{
    const Penumbra__Model *m = r->model;
    size_t p = m->margins > 0 ? (m->n_theta - (size_t)m->extra) / (size_t)m->margins : count;

    if (p != count)
        return pn_fail(r->err, PN_EPARSE, "model: %.300s: theta has %zu numbers for each margin, %s %zu features",
                       r->path, p, whose, count);
    return PN_OK;
}

static pn_status read_recipe(reading *r)
{
    const char *text = r->model->recipe;
    pn_err why;
    pn_status status;

    if (!text)
        return r->model->n_features ? check_features(r, r->model->n_features, "it names") : PN_OK;
    if (strlen(text) >= PN_MODEL_RECIPE || r->model->n_features > 0)
        return refuse(r, "its recipe is too long, or beside names that are not the recipe's");
    status = pn_recipe_new(&r->recipe, text, &why);
    if (status != PN_OK)
        return pn_fail(r->err, status == PN_ENOMEM ? status : PN_EPARSE, "model: %.300s: %.400s", r->path, why.message);
    return check_features(r, r->recipe->p, "the recipe has");
}

static bool is_bound_of(double bound)
{
    return isnan(bound) || (bound >= 0.0 && isfinite(bound));
}

static pn_status check_bounds(const reading *r)
{
    const Penumbra__Bounds *b = r->model->bounds;

    if (!b)
        return PN_OK;
    if (!is_bound_of(b->l1) || !is_bound_of(b->l2) || !is_bound_of(b->linf) || isinf(b->label_low) ||
        isinf(b->label_high) || b->label_low > b->label_high)
        return refuse(r, "its bounds of records make no sense");
    return PN_OK;
}

static bool is_cost(double value)
{
    return isnan(value) || value >= 0.0;
}

static pn_status check_statements(const reading *r)
{
    const Penumbra__Privacy *p = r->model->privacy;
    const Penumbra__Certificate *c = r->model->certificate;

    if (c && !(c->failure >= 0.0 && c->failure <= 1.0))
        return refuse(r, "its certificate makes no sense");
    if (!p)
        return PN_OK;
    if (!is_cost(p->epsilon) || !is_cost(p->rho) || !is_cost(p->charged_epsilon) || !is_cost(p->charged_rho) ||
        !(isnan(p->delta) || (p->delta >= 0.0 && p->delta < 1.0)) || p->neighbours >= PN_RELATIONS)
        return refuse(r, "its privacy statement makes no sense");
    return PN_OK;
}

static bool fits(size_t count, size_t rows)
{
    return count == 0 || count == rows;
}

/* Every column has a number for each row, or none. */
static pn_status check_trace(const reading *r, size_t *rows)
{
    const Penumbra__Trace *t = r->model->trace;
    const Penumbra__Figures *f = r->model->figures;
    bool fine;

    *rows = t ? t->n_step : 0;
    fine = !t || (*rows > 0 && fits(t->n_atom, *rows) && fits(t->n_step_size, *rows) && fits(t->n_certificate, *rows) &&
                  fits(t->n_gradient_norm, *rows) && fits(t->n_eigenvalue, *rows) && t->n_kinds <= MOST_KINDS &&
                  (t->has_kind ? t->kind.len == *rows : t->n_kinds == 0));
    fine =
        fine && (!f || (fits(f->n_row_gradients, *rows) && fits(f->n_row_value, *rows) && fits(f->n_row_gap, *rows)));
    for (size_t i = 0; fine && t && t->has_kind && i < *rows; i++)
        fine = t->kind.data[i] <= t->n_kinds;
    for (size_t i = 0; fine && i < *rows; i++)
        fine = t->step[i] >= 1 && t->step[i] <= PN_SIZE_MAX && (t->n_atom == 0 || t->atom[i] <= PN_SIZE_MAX);
    if (fine && f && !r->model->raw && (r->model->privacy || !isnan(f->value) || f->n_row_value || f->n_row_gap))
        return refuse(r, "it holds values of the records, and says that it does not");
    return fine ? PN_OK : refuse(r, "the columns of its trace do not fit");
}

/* ---- what the structs of the runtime get ---- */

static void read_about(reading *r)
{
    const Penumbra__Model *m = r->model;

    *r->about = (pn_model_about){
        .solver = keep(r, m->solver),
        .loss = keep(r, m->loss),
        .accountant = m->privacy ? keep(r, m->privacy->accountant) : NULL,
        .plan = keep(r, m->plan),
        .receipt = keep(r, m->receipt),
        .version = keep(r, m->version),
        .iterations = (size_t)m->iterations,
        .records = (size_t)m->records,
        .margins = (size_t)m->margins,
        .extra = (size_t)m->extra,
        .bias = m->bias,
        .adaptive = m->adaptive,
        .draws = m->draws,
        .raw = m->raw,
        .value = m->figures ? m->figures->value : NAN,
    };
}

static void copy_words(char *out, const char *text)
{
    if (text)
        memcpy(out, text, strlen(text) + 1);
}

static void read_features(reading *r)
{
    const Penumbra__Model *m = r->model;
    pn_model_about *about = r->about;

    if (r->recipe) {
        about->recipe = keep(r, r->recipe->json);
        about->features = memcpy(r->room, r->recipe->names, r->recipe->name_bytes);
        about->feature_count = r->recipe->p;
        r->room += r->recipe->name_bytes;
        return;
    }
    for (size_t k = 0; k < m->n_features; k++) {
        const char *name = keep(r, m->features[k]);

        about->features = k == 0 ? name : about->features;
    }
    about->feature_count = m->n_features;
}

static void read_records(reading *r)
{
    const Penumbra__Model *m = r->model;
    const Penumbra__Bounds *b = m->bounds;
    pn_model_about *about = r->about;

    copy_words(about->parameters, m->parameters);
    copy_words(about->set, m->set);
    copy_words(about->regulariser, m->regulariser);
    copy_words(about->declared, m->declared);
    read_features(r);
    about->row_bound[PN_L1] = b ? b->l1 : NAN;
    about->row_bound[PN_L2] = b ? b->l2 : NAN;
    about->row_bound[PN_LINF] = b ? b->linf : NAN;
    about->label_low = b ? b->label_low : NAN;
    about->label_high = b ? b->label_high : NAN;
}

/* Whether the epsilon of a file is a bound.  Files that were written before runs which are stopped stated their whole
 * plan hold the price of the steps taken, which is none. */
static bool is_bound(const Penumbra__Model *m)
{
    const char *why = m->stopped;
    bool by_others = !why || strcmp(why, "interrupted") == 0 || strcmp(why, "limit") == 0 || strcmp(why, "budget") == 0;

    return m->privacy->anytime || m->adaptive || m->steps >= m->iterations || !by_others;
}

static double bound_of(const Penumbra__Model *m, double stated)
{
    return is_bound(m) || !(stated > 0.0) ? stated : INFINITY;
}

static void read_privacy(reading *r)
{
    const Penumbra__Privacy *p = r->model->privacy;
    pn_fit *fit = r->fit;

    fit->epsilon = fit->delta = fit->rho = fit->charged_epsilon = fit->charged_rho = NAN;
    if (!p)
        return;
    fit->is_private = true;
    fit->simulated = p->simulated;
    fit->epsilon = bound_of(r->model, p->epsilon);
    fit->delta = p->delta;
    fit->rho = bound_of(r->model, p->rho);
    fit->charged_epsilon = p->charged_epsilon;
    fit->charged_rho = p->charged_rho;
    fit->neighbours = (pn_neighbours)p->neighbours;
}

static void read_certificate(reading *r)
{
    const Penumbra__Certificate *c = r->model->certificate;

    if (!c)
        return;
    r->fit->certificate = (pn_certificate){
        .status = keep(r, c->status),
        .gradient_norm = c->gradient_norm,
        .eigenvalue = c->eigenvalue,
        .failure = c->failure,
        .noisy_gradient_norm = c->noisy_gradient_norm,
        .noisy_eigenvalue = c->noisy_eigenvalue,
        .gradient_error = c->gradient_error,
        .hessian_error = c->hessian_error,
        .gradient_target = c->gradient_target,
        .eigenvalue_target = c->eigenvalue_target,
    };
}

static double real_at(const double *column, size_t count, size_t i)
{
    return count ? column[i] : NAN;
}

static void read_trace(reading *r)
{
    static const Penumbra__Figures none = PENUMBRA__FIGURES__INIT;
    const Penumbra__Trace *t = r->model->trace;
    const Penumbra__Figures *f = r->model->figures ? r->model->figures : &none;
    const char *kinds[MOST_KINDS + 1] = { NULL };

    for (size_t k = 0; t && k < t->n_kinds; k++)
        kinds[k + 1] = keep(r, t->kinds[k]);
    for (size_t i = 0; i < r->fit->rows; i++) {
        r->fit->trace[i] = (pn_trace_row){
            .step = (size_t)t->step[i],
            .atom = t->n_atom ? (size_t)t->atom[i] : 0,
            .step_size = real_at(t->step_size, t->n_step_size, i),
            .certificate = real_at(t->certificate, t->n_certificate, i),
            .gradient_norm = real_at(t->gradient_norm, t->n_gradient_norm, i),
            .eigenvalue = real_at(t->eigenvalue, t->n_eigenvalue, i),
            .kind = t->has_kind ? kinds[t->kind.data[i]] : NULL,
            .gradients = f->n_row_gradients ? f->row_gradients[i]
                         : f == &none       ? PN_NOT_SAVED
                                            : 0,
            .value = real_at(f->row_value, f->n_row_value, i),
            .gap = real_at(f->row_gap, f->n_row_gap, i),
        };
    }
}

static pn_status read_fit(reading *r, size_t rows)
{
    const Penumbra__Model *m = r->model;
    pn_fit *fit = r->fit;

    fit->theta = pn_alloc(m->n_theta, sizeof *fit->theta);
    fit->trace = pn_alloc(rows, sizeof *fit->trace);
    PN_TRY(
        pn_made(fit->theta && fit->trace, r->err, "model: %.300s: out of memory for %zu numbers", r->path, m->n_theta));
    memcpy(fit->theta, m->theta, m->n_theta * sizeof *fit->theta);
    fit->p = m->n_theta;
    fit->rows = rows;
    fit->steps = (size_t)m->steps;
    fit->gradients = m->figures ? m->figures->gradients : PN_NOT_SAVED;
    fit->seconds = m->figures ? m->figures->seconds : NAN;
    fit->proven = m->proven;
    read_about(r);
    read_records(r);
    fit->stopped = keep(r, m->stopped);
    read_privacy(r);
    read_certificate(r);
    read_trace(r);
    return pn_model_read_matrices(fit, m, r->err);
}

/* ---- whole models ---- */

static pn_status check_all(reading *r, size_t *rows)
{
    PN_TRY(check_texts(r));
    PN_TRY(check_theta(r));
    PN_TRY(check_statements(r));
    PN_TRY(check_bounds(r));
    PN_TRY(pn_model_check_matrices(r->model, r->path, r->err));
    PN_TRY(check_trace(r, rows));
    return read_recipe(r);
}

static pn_status read_model(reading *r, pn_fit **fit, pn_model_about **about)
{
    record *kept = NULL;
    size_t rows = 0;
    pn_status status = check_all(r, &rows);

    if (status != PN_OK)
        return status;
    kept = pn_calloc(1, sizeof *kept + room_for(r));
    r->fit = pn_calloc(1, sizeof *r->fit);
    if (kept && r->fit) {
        r->about = &kept->about;
        r->room = kept->texts;
        status = read_fit(r, rows);
    } else {
        status = pn_fail(r->err, PN_ENOMEM, "model: %.300s: out of memory", r->path);
    }
    if (status != PN_OK) {
        pn_fit_free(r->fit);
        pn_free(kept);
        return status;
    }
    *fit = r->fit;
    *about = &kept->about;
    return PN_OK;
}

pn_status pn_model_accept(pn_fit **fit, pn_model_about **about, const Penumbra__Model *model, const char *path,
                          pn_err *err)
{
    reading r = { .model = model, .path = path, .err = err };
    pn_status status = read_model(&r, fit, about);

    pn_recipe_free(r.recipe);
    return status;
}
