/* model_json_test.c -- models as JSON: what comes back, lies that are refused, noise, refused memory.
 * Depends on: model_kit.h, fail_alloc.h, model/model_json.h. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "fail_alloc.h"
#include "model/model_json.h"
#include "runtime/model/model_kit.h"

static char json[MOST + 1];
static size_t json_size;

static const char recipe[] = "{\"label\": {\"y\": [\"no\", \"yes\"]}, \"missing\": \"indicator\", \"clip\": 1.2,"
                             "\"features\": {\"a\": [0, 3], \"b\": [\"x\"]}}"; /* 2 + 3 + 1 features */

static pn_status read_json(const char *text, size_t size)
{
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_status status = pn_model_json_read(&fit, &about, text, size, "there", NULL);

    CHECK((status == PN_OK) == (fit != NULL && about != NULL));
    CHECK(!fit || (fit->p > 0 && isfinite(fit->theta[fit->p - 1])));
    pn_fit_free(fit);
    pn_model_about_free(about);
    return status;
}

/* A private run, whose model says that a recipe made its records; its JSON is in json. */
static void write_json(void)
{
    pn_recipe *made = NULL;
    pn_model_about about;
    run of = { 0 };

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_recipe_new(&made, recipe, NULL) == PN_OK && pn_recipe_features(made) == DIM);
    pn_model_about_of(&about, of.plan);
    about.plan = "a plan";
    about.recipe = pn_recipe_json(made);
    CHECK(pn_model_write(path, of.fit, &about, PN_MODEL_JSON, NULL) == PN_OK);
    json_size = read_file((unsigned char *)json);
    CHECK(json_size > 0 && json_size < MOST);
    json[json_size] = '\0';
    CHECK(read_json(json, json_size) == PN_OK);
    pn_recipe_free(made);
    clear(&of);
}

static void comes_back(void)
{
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    run of = { 0 };
    bool found = false;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_export(path, of.fit, of.plan, NULL) == PN_OK && pn_model_look(path, &found, NULL) == PN_OK);
    CHECK(found);
    if (CHECK(pn_model_load(&fit, &about, path, NULL) == PN_OK)) {
        CHECK(fit->p == DIM && memcmp(fit->theta, of.fit->theta, sizeof(double) * DIM) == 0);
        CHECK(fit->is_private && fit->rho == of.fit->rho && isnan(fit->epsilon) && fit->rows == 0);
        CHECK(strcmp(about->set, "l1_ball(dim=6, radius=1)") == 0 && !about->raw && !about->recipe);
        CHECK(about->records == 200 && about->row_bound[PN_L2] == 1.0 && about->label_low == -1.0);
    }
    pn_fit_free(fit);
    pn_model_about_free(about);
    clear(&of);
}

/* json with the first `from` become `to`. */
static pn_status changed(const char *from, const char *to)
{
    static char text[2 * MOST];
    const char *at = strstr(json, from);
    size_t before = at ? (size_t)(at - json) : 0;

    if (!CHECK(at != NULL && json_size + strlen(to) < sizeof text)) {
        (void)fprintf(stderr, "    %s\n", from);
        return PN_OK;
    }
    memcpy(text, json, before);
    (void)snprintf(text + before, sizeof text - before, "%s%s", to, at + strlen(from));
    return read_json(text, strlen(text));
}

static void lies_are_refused(void)
{
    static const char *const changes[][2] = {
        { "\"theta\": [", "\"theta\": [1," },
        { "\"theta\": [", "\"theta\": [1e999," },
        { "\"theta\": [", "\"theta\": [NaN," },
        { "\"theta\": [", "\"theta\": [null," },
        { "\"theta\": [", "\"theta\": {}, \"x\": [" },
        { "\"theta\": [", "\"theta\": [], \"theta\": [" },
        { "\"theta\": [", "\"theta\": [], \"bias\": [" },
        { "\"margins\": 1", "\"margins\": 2" },
        { "\"margins\": 1", "\"margins\": 1.5" },
        { "\"margins\": 1", "\"margins\": -1" },
        { "\"margins\": 1", "\"margins\": 99999999999999999999999" },
        { "\"margins\": 1", "\"margins\": 9223372036854775807" },
        { "\"extra\": 0", "\"extra\": 6" },
        { "\"records\": 200", "\"records\": 9223372036854775807" },
        { "\"link\": \"logistic\"", "\"link\": \"softmax\"" },
        { "\"name\": \"logistic\"", "\"name\": \"hinge\"" },
        { "\"name\": \"logistic\"", "\"name\": \"\"" },
        { "\"name\": \"logistic\"", "\"name\": \"a\\u001b[2J\"" },
        { "\"neighbours\": \"replace_one\"", "\"neighbours\": \"friends\"" },
        { "\"simulated\": false", "\"simulated\": 0" },
        { "\"rho\": 0.", "\"rho\": -0." },
        { "\"rho\": 0.", "\"rho\": \"none\", \"proven\": 0." },
        { "\"epsilon\": null", "\"epsilon\": \"-inf\"" },
        { "\"l2\": 1.0", "\"l2\": -1.0" },
        { "\"l2\": 1.0", "\"l2\": \"inf\"" },
        { "\"clip\": ", "\"clip\": 0" },
        { "\"scale\": ", "\"scale\": 9" },
        { "\"kind\": \"number\"", "\"kind\": \"flag\"" },
        { "\"recipe\": {", "\"recipe\": {\"moon\": 1," },
        { "\"recipe\": {", "\"recipe\": 7, \"privacy\": {" },
        { "penumbra recipe", "penumbra model" },
        { "\"penumbra model\"", "\"penumbra recipe\"" },
        { "\"version\"", "\"verse\"" },
        { "\"proven\"", "\"proved\"" },
        { "{", "[{" },
        { "{", "{\"x\": \"\xc3(\"," },
    };

    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        if (!CHECK(changed(changes[k][0], changes[k][1]) == PN_EPARSE))
            (void)fprintf(stderr, "    change %zu: %s\n", k, changes[k][1]);
    }
    CHECK(changed("\"format_version\": 1", "\"format_version\": 2") == PN_EUNSUPPORTED);
    CHECK(changed("\"rho\": 0.", "\"rho\": 0.2") == PN_OK); /* no checksum: MODEL-JSON.md says so */
}

static void deep_nesting_is_refused(void)
{
    static char deep[1 << 20];

    memset(deep, '[', sizeof deep);
    CHECK(read_json(deep, sizeof deep - 1) == PN_EPARSE);
    for (size_t k = 0; k + 5 < sizeof deep; k += 5)
        memcpy(deep + k, "{\"a\":", 5);
    CHECK(read_json(deep, sizeof deep / 5 * 5) == PN_EPARSE);
}

/* Any text: a model or a refusal, and never a crash. */
static void noise_is_survived(void)
{
    static const char bytes[] = "{}[]\",:0123456789-+.eEnulltrufas\\ \n\x80\xff";
    static char spoiled[MOST + 1];
    uint64_t state = 88172645463325252u;
    size_t taken = 0, refusals = 0;

    for (size_t round = 0; round < 20000; round++) {
        size_t length = json_size;

        memcpy(spoiled, json, json_size + 1);
        for (size_t k = 0; k <= round % 3; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia (2003), xorshift64 */
            spoiled[state % json_size] = bytes[(state >> 32) % (sizeof bytes - 1)];
            if (state % 16 == 0)
                length = (size_t)(state >> 8) % (json_size + 1);
        }
        spoiled[length] = '\0';
        *(read_json(spoiled, length) == PN_OK ? &taken : &refusals) += 1;
    }
    CHECK(taken > 200 && refusals > 1000); /* both paths were walked */
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_status status = pn_model_json_read(&fit, &about, json, json_size, "there", err);

    (void)self;
    if (status == PN_OK)
        status = pn_model_write(path, fit, about, PN_MODEL_JSON, err);
    pn_fit_free(fit);
    pn_model_about_free(about);
    return status;
}

/* A message quotes a stranger's file: nothing in it moves the cursor. */
static void messages_are_clean(void)
{
    static const char text[] = "{\"format\": \"penumbra model\", \"format_version\": 1, \"\\u001b[2J\\u009b\": 1}";
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_err err;

    CHECK(pn_model_json_read(&fit, &about, text, sizeof text - 1, "there", &err) == PN_EPARSE);
    CHECK(!strchr(err.message, '\x1b') && !strstr(err.message, "\xc2\x9b") && strstr(err.message, "[2J"));
}

int main(void)
{
    if (!open_folder("model_json_test"))
        return check_summary();
    comes_back();
    write_json();
    lies_are_refused();
    deep_nesting_is_refused();
    messages_are_clean();
    noise_is_survived();
    fail_alloc_sweep("model as JSON", scenario, NULL);
    close_folder();
    return check_summary();
}
