/* model_fuzz.c -- model files, and recipes.  The first byte says what the rest is: what stands between head and digest
 * of a model file, the JSON of a model, any file, or the JSON of a recipe.  What is read is written, in both forms,
 * and read again.
 * Depends on: fuzz.h, model/model_file.h, recipe/recipe.h. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "fuzz/fuzz.h"
#include "model/model_file.h"
#include "model/model_json.h"
#include "recipe/recipe.h"

enum { BODY, JSON, FILE_AS_IT_IS, RECIPE, KINDS };

static void check(const pn_fit *fit, const pn_model_about *about, pn_status status, const pn_err *err)
{
    FUZZ_HOLDS((status == PN_OK) == (fit != NULL) && (status == PN_OK) == (about != NULL));
    if (status != PN_OK) {
        FUZZ_HOLDS(err->message[0] != '\0');
        return;
    }
    FUZZ_HOLDS(fit->p > 0);
    for (size_t i = 0; i < fit->p; i++)
        FUZZ_HOLDS(isfinite(fit->theta[i]));
}

static void write_and_read(const pn_fit *fit, const pn_model_about *about, pn_model_form form)
{
    const char *path = fuzz_path("again.model");
    pn_fit *same = NULL;
    pn_model_about *known = NULL;
    pn_err err = { 0 };

    FUZZ_HOLDS(pn_model_write(path, fit, about, form, &err) == PN_OK);
    FUZZ_HOLDS(pn_model_load(&same, &known, path, &err) == PN_OK);
    FUZZ_HOLDS(same->p == fit->p && memcmp(same->theta, fit->theta, fit->p * sizeof *fit->theta) == 0);
    pn_fit_free(same);
    pn_model_about_free(known);
}

static void read_model(int kind, const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_err err = { 0 };
    pn_status status;

    FUZZ_HOLDS(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (kind == BODY)
        status = pn_model_decode(&fit, &about, (const unsigned char *)text, size, "model", &err);
    else if (kind == JSON)
        status = pn_model_json_read(&fit, &about, text, size, "model", &err);
    else
        status = pn_model_load(&fit, &about, fuzz_file("any.model", data, size), &err);
    check(fit, about, status, &err);
    if (status == PN_OK) {
        write_and_read(fit, about, PN_MODEL_FILE);
        write_and_read(fit, about, PN_MODEL_JSON);
    }
    pn_fit_free(fit);
    pn_model_about_free(about);
    free(text);
}

static void read_recipe(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    pn_recipe *recipe = NULL, *again = NULL;
    pn_err err = { 0 };

    FUZZ_HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (pn_recipe_new(&recipe, text, &err) == PN_OK) {
        for (size_t i = 0; i < pn_recipe_features(recipe); i++) {
            pn_recipe_feature feature;

            FUZZ_HOLDS(pn_recipe_describe(recipe, i, &feature, NULL) == PN_OK);
            FUZZ_HOLDS(feature.name && isfinite(feature.offset) && isfinite(feature.scale));
        }
        FUZZ_HOLDS(pn_recipe_row_bound(recipe, PN_L2) > 0.0 && isfinite(pn_recipe_row_bound(recipe, PN_L2)));
        FUZZ_HOLDS(pn_recipe_new(&again, pn_recipe_json(recipe), &err) == PN_OK);
        FUZZ_HOLDS(strcmp(pn_recipe_json(again), pn_recipe_json(recipe)) == 0);
    } else {
        FUZZ_HOLDS(!recipe && err.message[0] != '\0');
    }
    pn_recipe_free(again);
    pn_recipe_free(recipe);
    free(text);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (*data % KINDS == RECIPE)
        read_recipe(data + 1, size - 1);
    else
        read_model(*data % KINDS, data + 1, size - 1);
    return 0;
}
