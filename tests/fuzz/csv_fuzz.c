/* csv_fuzz.c -- CSV files, under each way to read them.  The first byte chooses the options, the rest is the file.
 * What is read has the size that it says and finite numbers only.
 * Depends on: fuzz.h, records.h, data/alignment.h. */
#include "data/alignment.h"
#include "fuzz/records.h"

enum {
    HEADER = 3,
    BY_NAME = 4,
    BINARY = 8,
    TEXTS = 16,
    DECLARED = 32,
    MAPPED = 64,
    RECIPE = 128,
    COLUMN = RECIPE | 64
};

static void load(const char *path, uint8_t how)
{
    static const char *const categories[] = { "cook", "clerk", "7" }, *const labels[] = { "yes", "no" };
    static const double to[] = { 1.0, -1.0 };
    const pn_csv_one_hot job = { .name = how & BY_NAME ? "job" : NULL,
                                 .column = 1,
                                 .categories = categories,
                                 .count = 3,
                                 .unknown_zeros = (how & TEXTS) != 0 };
    pn_csv_options options = { .label_name = how & BY_NAME ? "buys" : NULL,
                               .header = (pn_header)((how & HEADER) % 3),
                               .one_hot_text = (how & TEXTS) != 0 };
    pn_dataset *records = NULL;
    pn_err err = { 0 };
    pn_status status;

    if (how & DECLARED) {
        options.one_hot = &job;
        options.one_hot_count = 1;
    }
    options.labels.binary = (how & BINARY) != 0;
    if (how & MAPPED)
        options.labels = (pn_label_options){ .to = to, .text = labels, .count = 2 };
    status = pn_dataset_load_csv(&records, path, &options, NULL, &err);
    fuzz_records(records, status, &err);
    pn_dataset_free(records);
}

static void load_by_recipe(const char *path, uint8_t how)
{
    static const char json[] = "{\"label\": {\"buys\": [\"no\", \"yes\"]}, \"features\": {\"age\": [18, 80], \"job\": "
                               "[\"cook\", \"clerk\"], \"born\": {\"values\": [\"date\"], \"from\": \"1930-01-01\", "
                               "\"to\": \"2010-12-31\"}, \"member\": \"flag\"}, \"missing\": \"indicator\"}";
    static const char *const header[] = { "age", "job", "born", "member", "buys" };
    pn_recipe_file options = { .no_label = (how & 1) != 0,
                               .decimal_comma = (how & 2) != 0,
                               .encoding = how & 4 ? PN_WINDOWS_1252 : PN_UTF_8 };
    pn_recipe *recipe = NULL;
    pn_dataset *records = NULL;
    pn_err err = { 0 };
    pn_status status;

    if (how & 8) {
        options.header = header;
        options.header_count = sizeof header / sizeof *header;
    }
    FUZZ_HOLDS(pn_recipe_new(&recipe, json, &err) == PN_OK);
    status = pn_recipe_load(&records, recipe, path, &options, NULL, &err);
    fuzz_records(records, status, &err);
    pn_dataset_free(records);
    pn_recipe_free(recipe);
}

static void load_column(const char *path, uint8_t how)
{
    const pn_csv_column_options options = { .name = how & BY_NAME ? "job" : NULL, .column = 1, .records = 2 };
    pn_identifiers list = { 0 };
    pn_err err = { 0 };

    if (pn_csv_column(&list, path, &options, NULL, &err) != PN_OK)
        FUZZ_HOLDS(err.message[0] != '\0');
    else
        FUZZ_HOLDS(list.count == 2);
    pn_identifiers_clear(&list);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_file("records.csv", data + 1, size - 1);
    if ((*data & COLUMN) == COLUMN)
        load_column(path, *data);
    else if (*data & RECIPE)
        load_by_recipe(path, *data);
    else
        load(path, *data);
    return 0;
}
