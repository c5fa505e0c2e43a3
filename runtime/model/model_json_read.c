/* model_json_read.c -- a fit from JSON, which may be damaged or made to do harm: it becomes a Model, and goes through
 * the rules that model files go through.
 * Depends on: model_json.h, recipe, the code generated from model.proto, jansson, core.  Used by: model_read.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/json.h"
#include "model/model.pb-c.h"
#include "model/model_json.h"
#include "model/model_use.h"
#include "privacy/event/event.h"
#include "recipe/recipe_spec.h"

typedef struct reading {
    Penumbra__Model model; /* texts belong to the JSON */
    Penumbra__Privacy privacy;
    Penumbra__Bounds bounds;
    double *theta;
    char **features, *recipe; /* owned */
    const char *wrong;        /* the first key with a value that it does not take, or that is not there */
    const char *unknown;      /* the first key that is none */
    bool short_of_memory;
} reading;

/* ---- values ---- */

/* The value of a key; an absent one is wrong. */
static const json_t *need(reading *r, const json_t *object, const char *key, bool fine(const json_t *value))
{
    const json_t *value = json_object_get(object, key);

    if ((!value || !fine(value)) && !r->wrong)
        r->wrong = key;
    return value;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_text_or_null(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

static bool is_object_or_null(const json_t *value)
{
    return json_is_object(value) || json_is_null(value);
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_infinite(const json_t *value)
{
    return json_is_string(value) &&
           (strcmp(json_string_value(value), "inf") == 0 || strcmp(json_string_value(value), "-inf") == 0);
}

static bool is_real(const json_t *value)
{
    return json_is_number(value) || json_is_null(value) || is_infinite(value);
}

static bool is_flag_of(reading *r, const json_t *object, const char *key)
{
    return json_is_true(need(r, object, key, is_flag));
}

static char *text_of(reading *r, const json_t *object, const char *key)
{
    return (char *)(uintptr_t)json_string_value(need(r, object, key, is_text));
}

static char *words_of(reading *r, const json_t *object, const char *key)
{
    return (char *)(uintptr_t)json_string_value(need(r, object, key, is_text_or_null));
}

static uint64_t count_of(reading *r, const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(need(r, object, key, is_count));
}

static double real_in(const json_t *value)
{
    if (is_infinite(value))
        return json_string_value(value)[0] == '-' ? -INFINITY : INFINITY;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double real_of(reading *r, const json_t *object, const char *key)
{
    return real_in(need(r, object, key, is_real));
}

static void check_keys(reading *r, const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t k = 0;

        while (known[k] && strcmp(known[k], key) != 0)
            k++;
        if (!known[k] && !r->unknown)
            r->unknown = key;
    }
}

/* ---- parts ---- */

static void read_theta(reading *r, const json_t *root)
{
    const json_t *list = need(r, root, "theta", is_list);
    size_t count = json_array_size(list);

    r->theta = pn_alloc(count, sizeof *r->theta);
    if (!r->theta) {
        r->short_of_memory = true;
        return;
    }
    for (size_t j = 0; j < count; j++) {
        if (!json_is_number(json_array_get(list, j)) && !r->wrong)
            r->wrong = "theta";
        r->theta[j] = json_number_value(json_array_get(list, j));
    }
    r->model.theta = r->theta;
    r->model.n_theta = count;
}

/* Of a recipe they are looked at when it is known (check_features). */
static void read_names(reading *r, const json_t *root)
{
    static const char *const known[] = { "name", NULL };
    const json_t *list = need(r, root, "features", is_list);
    size_t count = json_array_size(list);

    if (json_is_object(json_object_get(root, "recipe")))
        return;
    r->features = pn_alloc(count, sizeof *r->features);
    if (!r->features) {
        r->short_of_memory = true;
        return;
    }
    for (size_t k = 0; k < count; k++) {
        check_keys(r, json_array_get(list, k), known);
        r->features[k] = text_of(r, json_array_get(list, k), "name");
    }
    r->model.features = r->features;
    r->model.n_features = count;
}

static void read_loss(reading *r, const json_t *root)
{
    static const char *const known[] = { "name", "parameters", NULL };
    const json_t *loss = need(r, root, "loss", is_object);

    check_keys(r, loss, known);
    r->model.loss = text_of(r, loss, "name");
    r->model.parameters = words_of(r, loss, "parameters");
}

static void read_bounds(reading *r, const json_t *root)
{
    static const char *const known[] = { "l1", "l2", "linf", "clip", NULL };
    const json_t *rows = need(r, root, "rows", is_object), *labels = need(r, root, "labels", is_list);

    check_keys(r, rows, known);
    r->bounds = (Penumbra__Bounds)PENUMBRA__BOUNDS__INIT;
    r->bounds.l1 = real_of(r, rows, "l1");
    r->bounds.l2 = real_of(r, rows, "l2");
    r->bounds.linf = real_of(r, rows, "linf");
    (void)real_of(r, rows, "clip");
    if (json_array_size(labels) != 2 || !is_real(json_array_get(labels, 0)) || !is_real(json_array_get(labels, 1)))
        r->wrong = r->wrong ? r->wrong : "labels";
    r->bounds.label_low = real_in(json_array_get(labels, 0));
    r->bounds.label_high = real_in(json_array_get(labels, 1));
    r->model.bounds = &r->bounds;
}

static void read_training(reading *r, const json_t *root)
{
    static const char *const known[] = { "solver",      "iterations", "steps", "stopped", "records",  "set", "plan",
                                         "regulariser", "adaptive",   "draws", "proven",  "declared", NULL };
    const json_t *training = need(r, root, "training", is_object);
    Penumbra__Model *m = &r->model;

    check_keys(r, training, known);
    m->solver = text_of(r, training, "solver");
    m->iterations = count_of(r, training, "iterations");
    m->steps = count_of(r, training, "steps");
    m->stopped = words_of(r, training, "stopped");
    m->records = count_of(r, training, "records");
    m->set = words_of(r, training, "set");
    m->regulariser = words_of(r, training, "regulariser");
    if (json_object_get(training, "declared")) /* files from before it have none */
        m->declared = words_of(r, training, "declared");
    m->adaptive = is_flag_of(r, training, "adaptive");
    m->draws = is_flag_of(r, training, "draws");
    m->proven = is_flag_of(r, training, "proven");
    m->plan = text_of(r, training, "plan");
}

static uint32_t relation_of(reading *r, const json_t *privacy)
{
    const char *name = text_of(r, privacy, "neighbours");

    for (uint32_t k = 0; name && k < PN_RELATIONS; k++) {
        if (strcmp(pn_neighbours_names[k], name) == 0)
            return k;
    }
    r->wrong = r->wrong ? r->wrong : "neighbours";
    return 0;
}

static void read_privacy(reading *r, const json_t *root)
{
    static const char *const known[] = { "epsilon",         "delta",       "rho",
                                         "charged_epsilon", "charged_rho", "neighbours",
                                         "accountant",      "simulated",   NULL };
    const json_t *privacy = need(r, root, "privacy", is_object_or_null);
    Penumbra__Privacy *p = &r->privacy;

    if (!json_is_object(privacy))
        return;
    check_keys(r, privacy, known);
    *p = (Penumbra__Privacy)PENUMBRA__PRIVACY__INIT;
    p->epsilon = real_of(r, privacy, "epsilon");
    p->delta = real_of(r, privacy, "delta");
    p->rho = real_of(r, privacy, "rho");
    p->charged_epsilon = real_of(r, privacy, "charged_epsilon");
    p->charged_rho = real_of(r, privacy, "charged_rho");
    p->neighbours = relation_of(r, privacy);
    p->accountant = text_of(r, privacy, "accountant");
    p->simulated = is_flag_of(r, privacy, "simulated");
    p->has_anytime = p->anytime = true;
    r->model.privacy = p;
}

static void read_root(reading *r, const json_t *root)
{
    static const char *const known[] = { "format", "format_version", "version", "link",     "loss",   "margins",
                                         "extra",  "bias",           "theta",   "features", "recipe", "rows",
                                         "labels", "training",       "privacy", NULL };

    check_keys(r, root, known);
    r->model = (Penumbra__Model)PENUMBRA__MODEL__INIT;
    r->model.version = text_of(r, root, "version");
    (void)text_of(r, root, "link");
    r->model.margins = count_of(r, root, "margins");
    r->model.extra = count_of(r, root, "extra");
    r->model.has_extra = r->model.extra > 0;
    r->model.bias = is_flag_of(r, root, "bias");
    (void)need(r, root, "recipe", is_object_or_null);
    read_loss(r, root);
    read_theta(r, root);
    read_names(r, root);
    read_bounds(r, root);
    read_training(r, root);
    read_privacy(r, root);
}

/* ---- what others compute from must be what this library computes from ---- */

static pn_status differs(const char *path, const char *what, pn_err *err)
{
    return pn_fail(err, PN_EPARSE, "model: %.300s: \"%s\" is not what follows from its recipe and loss", path, what);
}

static pn_status check_features(const json_t *root, const pn_recipe *recipe, const char *path, pn_err *err)
{
    json_t *expected = pn_model_json_features(recipe);
    const json_t *clip = json_object_get(json_object_get(root, "rows"), "clip");
    double clip_to = isfinite(recipe->clip_to) ? recipe->clip_to : NAN, found = real_in(clip);
    bool same;

    PN_TRY(pn_made(expected, err, "model: out of memory"));
    same = json_equal(expected, json_object_get(root, "features")) == 1;
    json_decref(expected);
    if (!same)
        return differs(path, "features", err);
    return found == clip_to || (isnan(found) && isnan(clip_to)) ? PN_OK : differs(path, "clip", err);
}

static pn_status take_recipe(reading *r, const json_t *root, const char *path, pn_err *err)
{
    const json_t *spec = json_object_get(root, "recipe");
    pn_recipe *recipe = NULL;
    pn_err why;
    pn_status status;

    if (!json_is_object(spec))
        return PN_OK;
    PN_TRY(pn_json_text(&r->recipe, spec, JSON_COMPACT, "model", err));
    if (strlen(r->recipe) >= PN_MODEL_RECIPE)
        return pn_fail(err, PN_EPARSE, "model: %.300s: its recipe is too long", path);
    status = pn_recipe_new(&recipe, r->recipe, &why);
    if (status != PN_OK)
        return pn_fail(err, status == PN_ENOMEM ? status : PN_EPARSE, "model: %.300s: %.400s", path, why.message);
    status = check_features(root, recipe, path, err);
    pn_recipe_free(recipe);
    r->model.recipe = r->recipe;
    return status;
}

static pn_status check_root(const reading *r, const json_t *root, const char *path, pn_err *err)
{
    const char *link = json_string_value(json_object_get(root, "link"));

    if (r->short_of_memory)
        return pn_fail(err, PN_ENOMEM, "model: %.300s: out of memory", path);
    if (r->unknown)
        return pn_fail(err, PN_EPARSE, "model: %.300s: \"%.80s\" is not a key of a model", path, r->unknown);
    if (r->wrong)
        return pn_fail(err, PN_EPARSE, "model: %.300s: \"%s\" is missing or malformed", path, r->wrong);
    if (strcmp(link, pn_model_link_names[pn_model_link_of(r->model.loss, (size_t)r->model.margins)]) != 0)
        return differs(path, "link", err);
    return PN_OK;
}

/* ---- the whole ---- */

static pn_status check_format(const json_t *root, const char *path, pn_err *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    const json_t *version = json_object_get(root, "format_version");

    if (!format || strcmp(format, PN_MODEL_JSON_FORMAT) != 0)
        return pn_fail(err, PN_EPARSE, "model: %.300s: this JSON is not a model; fit:export writes them", path);
    if (!json_is_integer(version) || json_integer_value(version) != PN_MODEL_JSON_VERSION)
        return pn_fail(err, PN_EUNSUPPORTED, "model: %.300s: \"format_version\" is not %d, which this library reads",
                       path, PN_MODEL_JSON_VERSION);
    return PN_OK;
}

static pn_status accept(pn_fit **fit, pn_model_about **about, const json_t *root, const char *path, pn_err *err)
{
    reading r = { .wrong = NULL };
    pn_status status = check_format(root, path, err);

    if (status == PN_OK) {
        read_root(&r, root);
        status = check_root(&r, root, path, err);
    }
    if (status == PN_OK)
        status = take_recipe(&r, root, path, err);
    if (status == PN_OK)
        status = pn_model_accept(fit, about, &r.model, path, err);
    pn_free(r.theta);
    pn_free(r.features);
    pn_free(r.recipe);
    return status;
}

static pn_status read_text(pn_fit **fit, pn_model_about **about, const char *text, size_t size, const char *path,
                           pn_err *err)
{
    json_error_t wrong;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
    pn_status status;

    if (!root && pn_json_status(&wrong) == PN_ENOMEM)
        return pn_fail(err, PN_ENOMEM, "model: %.300s: out of memory for the JSON", path);
    if (!root)
        return pn_fail(err, PN_EPARSE, "model: %.300s: line %d, column %d of the JSON: %.120s", path, wrong.line,
                       wrong.column, wrong.text);
    status = accept(fit, about, root, path, err);
    json_decref(root);
    return status;
}

pn_status pn_model_json_read(pn_fit **fit, pn_model_about **about, const char *text, size_t size, const char *path,
                             pn_err *err)
{
    pn_status status = read_text(fit, about, text, size, path, err);

    if (status != PN_OK && err)
        pn_model_clean(err->message); /* it quotes the text */
    return status;
}
