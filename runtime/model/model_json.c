/* model_json.c -- a model as JSON, for programs that are not this one.
 * Depends on: model_json.h, recipe, the code generated from model.proto, jansson.  Used by: model.c. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/alloc.h"
#include "core/file.h"
#include "model/model.pb-c.h"
#include "model/model_json.h"
#include "model/model_use.h"
#include "privacy/event/event.h"
#include "recipe/recipe_spec.h"

/* As in recipe_write.c: a call that fails leaves NULL behind, which json_pack refuses. */

/* null is "not known", "inf" no bound. */
static json_t *real_of(double x)
{
    if (isnan(x))
        return json_null();
    return isinf(x) ? json_string(x > 0.0 ? "inf" : "-inf") : json_real(x);
}

static json_t *theta_of(const Penumbra__Model *m)
{
    json_t *list = json_array();

    for (size_t j = 0; list && j < m->n_theta; j++) {
        if (json_array_append_new(list, json_real(m->theta[j])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *privacy_of(const Penumbra__Privacy *p)
{
    if (!p)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b}", "epsilon", real_of(p->epsilon), "delta",
                     real_of(p->delta), "rho", real_of(p->rho), "charged_epsilon", real_of(p->charged_epsilon),
                     "charged_rho", real_of(p->charged_rho), "neighbours", pn_neighbours_names[p->neighbours],
                     "accountant", p->accountant, "simulated", (int)p->simulated);
}

static json_t *training_of(const Penumbra__Model *m)
{
    return json_pack("{s:s, s:I, s:I, s:s?, s:I, s:s?, s:s?, s:s?, s:b, s:b, s:b, s:s}", "solver", m->solver,
                     "iterations", (json_int_t)m->iterations, "steps", (json_int_t)m->steps, "stopped", m->stopped,
                     "records", (json_int_t)m->records, "set", m->set, "regulariser", m->regulariser, "declared",
                     m->declared, "adaptive", (int)m->adaptive, "draws", (int)m->draws, "proven", (int)m->proven,
                     "plan", m->plan);
}

/* ---- features ---- */

static json_t *feature_of(const pn_recipe *recipe, size_t k)
{
    pn_recipe_feature f;

    if (pn_recipe_describe(recipe, k, &f, NULL) != PN_OK)
        return NULL;
    return json_pack("{s:s, s:s?, s:s, s:s?, s:f, s:f}", "name", f.name, "column", f.column, "kind", f.kind, "category",
                     f.category, "offset", f.offset, "scale", f.scale);
}

json_t *pn_model_json_features(const pn_recipe *recipe)
{
    json_t *list = json_array();

    for (size_t k = 0; list && k < recipe->p; k++) {
        if (json_array_append_new(list, feature_of(recipe, k)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *names_of(const Penumbra__Model *m)
{
    json_t *list = json_array();

    for (size_t k = 0; list && k < m->n_features; k++) {
        if (json_array_append_new(list, json_pack("{s:s}", "name", m->features[k])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *rows_of(const Penumbra__Bounds *b, const pn_recipe *recipe)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "l1", real_of(b->l1), "l2", real_of(b->l2), "linf", real_of(b->linf),
                     "clip", recipe && isfinite(recipe->clip_to) ? json_real(recipe->clip_to) : json_null());
}

/* ---- the whole ---- */

static json_t *model_of(const Penumbra__Model *m, const pn_recipe *recipe)
{
    const char *link = pn_model_link_names[pn_model_link_of(m->loss, (size_t)m->margins)];

    return json_pack("{s:s, s:i, s:s, s:s, s:{s:s, s:s?}, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:[o, o], s:o, s:o}",
                     "format", PN_MODEL_JSON_FORMAT, "format_version", PN_MODEL_JSON_VERSION, "version", m->version,
                     "link", link, "loss", "name", m->loss, "parameters", m->parameters, "margins",
                     (json_int_t)m->margins, "extra", (json_int_t)m->extra, "bias", (int)m->bias, "theta", theta_of(m),
                     "features", recipe ? pn_model_json_features(recipe) : names_of(m), "recipe",
                     recipe ? json_loads(recipe->json, 0, NULL) : json_null(), "rows", rows_of(m->bounds, recipe),
                     "labels", real_of(m->bounds->label_low), real_of(m->bounds->label_high), "training",
                     training_of(m), "privacy", privacy_of(m->privacy));
}

static pn_status put(const char *path, const char *text, pn_err *err)
{
    size_t size = strlen(text);
    int error;

    if (size > PN_MODEL_JSON_MOST)
        return pn_fail(err, PN_EINVAL,
                       "model: %.300s: it would take %zu bytes as JSON, at most %zu are read; save a model file, or "
                       "theta alone",
                       path, size, PN_MODEL_JSON_MOST);
    error = pn_file_put(path, text, size, 0600, true);
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "model: out of memory for a path");
    return error ? pn_fail(err, PN_EIO, "model: %.300s: cannot be written: %s", path, strerror(error)) : PN_OK;
}

pn_status pn_model_json_put(const char *path, const Penumbra__Model *model, pn_err *err)
{
    pn_recipe *recipe = NULL;
    char *text = NULL;
    json_t *root;
    pn_status status = model->recipe ? pn_recipe_new(&recipe, model->recipe, err) : PN_OK;

    if (status != PN_OK)
        return status;
    root = model_of(model, recipe);
    status = pn_json_text(&text, root, JSON_INDENT(1), "model", err);
    json_decref(root);
    pn_recipe_free(recipe);
    if (status == PN_OK)
        status = put(path, text, err);
    pn_free(text);
    return status;
}
