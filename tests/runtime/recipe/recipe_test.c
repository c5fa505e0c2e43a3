/* recipe_test.c -- recipes from C: days, bounds that hold in real arithmetic, the usual norm of rows, refused memory,
 * what features say.
 * Depends on: check.h, fail_alloc.h. */
#define _GNU_SOURCE /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "penumbra.h"
#include "recipe/recipe.h"

#include "check.h"
#include "fail_alloc.h"

static char path[] = "/tmp/penumbra_recipe_XXXXXX";

static const char json[] =
    "{\"label\": {\"y\": [\"no\", \"yes\"]}, \"missing\": \"indicator\", \"clip\": 1.5, \"features\": {"
    "\"a\": {\"values\": [0, 3], \"weight\": 0.3}, \"b\": [\"x\", \"y\"], \"c\": \"flag\", "
    "\"d\": {\"values\": [\"date\"], \"from\": \"2000-01-01\", \"to\": \"2020-12-31\", \"missing\": \"2010-01-01\"}}}";

static void write_records(void)
{
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL);
    if (!file)
        return;
    (void)fputs("a,b,c,d,y\n", file);
    for (int i = 0; i < 200; i++)
        (void)fprintf(file, "%g,%s,%d,20%02d-02-28,%s\n", i * 0.0173, i % 3 ? "x" : "\"z\"\"\n\"", i % 2, i % 30,
                      i % 5 ? "no" : "yes");
    (void)fputs(",,NA,?,no\n", file);
    (void)fclose(file);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_recipe_file options = { .encoding = PN_WINDOWS_1252 };
    pn_recipe *recipe = NULL;
    pn_dataset *data = NULL;
    pn_status status = pn_recipe_new(&recipe, json, err);

    (void)self;
    if (status == PN_OK)
        status = pn_recipe_load(&data, recipe, path, &options, NULL, err);
    pn_dataset_free(data);
    pn_recipe_free(recipe);
    return status;
}

static pn_status texts_scenario(void *self, pn_err *err)
{
    static const char *const names[] = { "y", "b" };
    pn_recipe_file options = { .encoding = PN_WINDOWS_1252 };
    pn_recipe_text texts[2] = { { 0 }, { 0 } };
    pn_status status = pn_recipe_texts(texts, names, 2, path, &options, NULL, err);

    (void)self;
    if (status == PN_OK)
        CHECK(texts[0].records == 201 && texts[1].records == 201 && strcmp(texts[1].bytes, "z\"\n") == 0);
    for (size_t c = 0; c < 2; c++)
        pn_recipe_text_clear(&texts[c]);
    return status;
}

/* Days of known dates: 2000-03-01 is day 11017, 1900-03-01 is day -25508 (1900 was no leap year). */
static void days(void)
{
    char text[32];
    double day;

    CHECK(pn_recipe_day("1970-01-01", 10, &day) && day == 0.0);
    CHECK(pn_recipe_day("2000-03-01", 10, &day) && day == 11017.0);
    CHECK(pn_recipe_day("2000-02-29T12:00", 16, &day) && day == 11016.0);
    CHECK(pn_recipe_day("1900-03-01", 10, &day) && day == -25508.0);
    CHECK(!pn_recipe_day("1900-02-29", 10, &day) && !pn_recipe_day("2000-13-01", 10, &day));
    CHECK(!pn_recipe_day("2000-1-01x", 10, &day) && !pn_recipe_day("2000-01-01x", 11, &day));
    for (int number = -719528; number <= 2932896; number += 37) { /* 0000-01-01 to 9999-12-31 */
        pn_recipe_day_text(text, number);
        if (!CHECK(pn_recipe_day(text, strlen(text), &day) && day == number))
            return;
    }
}

/* The largest row is (limit_1, ..., limit_B, intercept): its exact norm, in long doubles, is within the bound. */
static void bounds(void)
{
    static const char *const norms[] = { "l1", "l2", "linf" };
    char text[200];

    for (int k = 0; k < 300; k++) {
        pn_recipe *recipe = NULL;
        long double sum = 0.0L;
        pn_err err;

        (void)snprintf(
            text, sizeof text,
            "{\"norm\": \"%s\", \"intercept\": %.17g, \"features\": {\"a\": {\"values\": [0, 1], \"weight\": "
            "%.17g}, \"b\": {\"values\": [0, 1], \"weight\": %.17g}, \"c\": [0, 1]}}",
            norms[k % 3], 0.1 + 0.0317 * k, 1.0 / (k + 3), sqrt(k + 0.5));
        if (!CHECK(pn_recipe_new(&recipe, text, &err) == PN_OK))
            return;
        for (size_t j = 0; j < recipe->p; j++) {
            long double x = recipe->limit[j];

            sum = k % 3 == 0 ? sum + x : k % 3 == 1 ? sum + x * x : fmaxl(sum, x);
        }
        CHECK(sum <= 1.0L && sum > 1.0L - 1e-13L && pn_recipe_row_bound(recipe, (pn_lp)(k % 3)) == 1.0);
        pn_recipe_free(recipe);
    }
}

static double usual_of(const char *text)
{
    pn_recipe *recipe = NULL;
    double usual = NAN;
    pn_err err;

    if (CHECK(pn_recipe_new(&recipe, text, &err) == PN_OK))
        usual = recipe->usual;
    pn_recipe_free(recipe);
    return usual;
}

/* 1/3 of the square of a number's and a date's weight, all of the others', the features within the clip. */
static void usual_norms(void)
{
    static const char columns[] = "\"features\": {\"a\": {\"values\": [0, 3], \"weight\": 2}, \"b\": [\"x\", \"y\"], "
                                  "\"c\": \"flag\", \"d\": {\"values\": [\"date\"], \"from\": \"2000-01-01\", \"to\": "
                                  "\"2020-12-31\", \"missing\": \"indicator\"}}}";
    const double squares = 4.0 / 3.0 + 1.0 + 1.0 + 1.0 / 3.0;
    char text[600];

    (void)snprintf(text, sizeof text, "{%s", columns);
    CHECK_CLOSE(usual_of(text), sqrt((squares + 1.0) / 8.0), 1e-14);
    (void)snprintf(text, sizeof text, "{\"intercept\": false, %s", columns);
    CHECK_CLOSE(usual_of(text), sqrt(squares / 7.0), 1e-14);
    (void)snprintf(text, sizeof text, "{\"clip\": 2, %s", columns);
    CHECK_CLOSE(usual_of(text), sqrt((squares + 1.0) / 5.0), 1e-14);
    (void)snprintf(text, sizeof text, "{\"clip\": 1.5, %s", columns); /* less than is usual */
    CHECK_CLOSE(usual_of(text), 1.0, 1e-14);
    (void)snprintf(text, sizeof text, "{\"norm\": \"l1\", %s", columns);
    CHECK_CLOSE(usual_of(text), sqrt(squares + 1.0) / 6.0, 1e-14);
}

/* A guess stays with rows that stay what they are, whatever is enforced of them; others have none. */
static void the_usual_norm_of_data_sets(void)
{
    static const size_t some[] = { 1, 4, 7 };
    double low[10], high[10], ones[10];
    pn_recipe *recipe = NULL;
    pn_dataset *data = NULL, *made = NULL;
    pn_err err;

    for (int j = 0; j < 10; j++) {
        low[j] = -1.0;
        high[j] = ones[j] = 1.0;
    }
    CHECK(pn_recipe_new(&recipe,
                        "{\"features\": {\"a\": {\"values\": [0, 3], \"weight\": 3, \"missing\": \"indicator\"}}}",
                        &err) == PN_OK);
    CHECK(pn_recipe_load(&data, recipe, path, &(pn_recipe_file){ .encoding = PN_WINDOWS_1252 }, NULL, &err) == PN_OK);
    if (!data)
        return;
    CHECK_CLOSE(data->bounds.usual, sqrt(0.4), 1e-14);
    CHECK_CLOSE(pn_usual_part(&data->bounds), sqrt(0.4), 1e-14);
    CHECK(pn_dataset_subset(&made, data, some, 3, &err) == PN_OK && made->bounds.usual == data->bounds.usual);
    pn_dataset_free(made);
    CHECK(pn_dataset_clip_rows(&made, data, PN_L2, 2.0, &err) == PN_OK &&
          pn_usual_part(&made->bounds) == pn_usual_part(&data->bounds));
    pn_dataset_free(made);
    CHECK(pn_dataset_clip_rows(&made, data, PN_L2, 0.5, &err) == PN_OK && pn_usual_part(&made->bounds) == 1.0);
    pn_dataset_free(made);
    CHECK(pn_dataset_add_bias(&made, data, &err) == PN_OK && fabs(made->bounds.usual - sqrt(1.4)) < 1e-14);
    pn_dataset_free(made);
    CHECK(pn_dataset_rescale(&made, data, low, high, data->p, &err) == PN_OK && pn_usual_part(&made->bounds) == 1.0);
    pn_dataset_free(made);
    CHECK(pn_dataset_transform(&made, data, (pn_mat){ .rows = 1, .cols = data->p, .data = ones }, &err) == PN_OK &&
          pn_usual_part(&made->bounds) == 1.0);
    pn_dataset_free(made);
    pn_dataset_free(data);
    pn_recipe_free(recipe);
}

static void features(void)
{
    pn_recipe *recipe = NULL;
    pn_recipe_feature feature;
    pn_err err;

    CHECK(pn_recipe_new(&recipe, json, &err) == PN_OK && pn_recipe_features(recipe) == 10);
    CHECK(pn_recipe_describe(recipe, 4, &feature, &err) == PN_OK && strcmp(feature.name, "b=other") == 0 &&
          !feature.category && strcmp(feature.kind, "category") == 0);
    CHECK(pn_recipe_describe(recipe, 9, &feature, &err) == PN_OK && strcmp(feature.kind, "intercept") == 0);
    CHECK(pn_recipe_describe(recipe, 10, &feature, &err) == PN_EDIM);
    pn_recipe_free(recipe);
    pn_recipe_free(NULL);
    recipe = NULL;
    CHECK(pn_recipe_new(&recipe, "{", &err) == PN_EPARSE && pn_recipe_new(&recipe, "{}", &err) == PN_EINVAL && !recipe);
}

int main(void)
{
    int file = mkstemp(path);

    CHECK(file >= 0);
    (void)close(file);
    write_records();
    days();
    bounds();
    usual_norms();
    the_usual_norm_of_data_sets();
    features();
    fail_alloc_sweep("recipe", scenario, NULL);
    fail_alloc_sweep("texts of columns", texts_scenario, NULL);
    (void)unlink(path);
    return check_summary();
}
