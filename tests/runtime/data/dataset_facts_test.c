/* dataset_facts_test.c -- what a data set says of itself to those who cannot look into it.  Depends on: check.h. */
#include <string.h>

#include "data/dataset.h"

#include "check.h"
#include "fail_alloc.h"

static const double X[] = { 1.0, 0.0, 2.0, 0.0, 0.0, -3.0, 0.5, 0.0, 0.0, 0.0, 4.0, 0.0 }; /* 4 x 3 */
static const double y[] = { 1.0, -1.0, 1.0, 5.0 };

static pn_dataset *dense(void)
{
    pn_dataset *data = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&data, X, 4, 3, y, "four", &err) == PN_OK);
    return data;
}

static pn_dataset *sparse(void)
{
    size_t start[] = { 0, 2, 3, 4, 5 };
    uint32_t column[] = { 0, 2, 2, 0, 1 };
    double value[] = { 1.0, 2.0, -3.0, 0.5, 4.0 };
    const pn_csr csr = { 4, 3, start, column, value };
    pn_dataset *data = NULL;
    pn_err err;

    CHECK(pn_dataset_from_csr(&data, &csr, y, "four", &err) == PN_OK);
    return data;
}

static bool holds_the_records(const pn_dataset *data)
{
    bool fine = true;
    pn_err err;

    for (size_t i = 0; i < 4; i++) {
        double x[] = { 9.0, 9.0, 9.0 };

        fine = fine && pn_dataset_record(data, i, x, &err) == PN_OK && memcmp(x, X + 3 * i, sizeof x) == 0;
    }
    return fine;
}

static void sizes_and_records_are_told(void)
{
    pn_dataset *one = dense(), *other = sparse(), *narrow = NULL;
    double x[3];
    pn_err err;

    CHECK(pn_dataset_records(one) == 4 && pn_dataset_features(one) == 3 && strcmp(pn_dataset_name(one), "four") == 0);
    CHECK(!pn_dataset_is_sparse(one) && pn_dataset_is_sparse(other));
    CHECK(memcmp(pn_dataset_labels(one), y, sizeof y) == 0);
    CHECK(holds_the_records(one) && holds_the_records(other));
    CHECK(pn_dataset_to_float32(&narrow, other, &err) == PN_OK && holds_the_records(narrow));
    CHECK(pn_dataset_record(one, 4, x, &err) == PN_EDIM && strstr(err.message, "pn_dataset_record") != NULL);
    pn_dataset_free(one);
    pn_dataset_free(other);
    pn_dataset_free(narrow);
}

static void bounds_are_what_is_enforced(void)
{
    pn_dataset *raw = dense(), *rows = NULL, *both = NULL;
    double low = 0.0, high = 0.0;
    pn_err err;

    CHECK(isnan(pn_dataset_row_bound(raw, PN_L2)) && !pn_dataset_label_range(raw, &low, &high));
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_L2, 2.0, &err) == PN_OK && pn_dataset_row_bound(rows, PN_L2) == 2.0);
    CHECK(pn_dataset_clip_labels(&both, rows, -1.0, 2.0, &err) == PN_OK);
    CHECK(pn_dataset_label_range(both, &low, &high) && low == -1.0 && high == 2.0);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    pn_dataset_free(both);
}

static void a_split_shares_out_every_record_once(void)
{
    pn_dataset *data = dense(), *first = NULL, *second = NULL;
    pn_rng *rng = NULL;
    double sum = 0.0;
    pn_err err;

    CHECK(pn_rng_seeded(&rng, 1, &err) == PN_OK);
    CHECK(pn_dataset_split(&first, &second, data, 0.25, rng, &err) == PN_OK);
    CHECK(pn_dataset_records(first) == 1 && pn_dataset_records(second) == 3);
    sum = pn_dataset_labels(first)[0];
    for (size_t i = 0; i < 3; i++)
        sum += pn_dataset_labels(second)[i];
    CHECK(sum == 6.0);
    pn_dataset_free(first);
    pn_dataset_free(second);
    CHECK(pn_dataset_split(&first, &second, data, 0.01, rng, &err) == PN_EINVAL && !first && !second);
    CHECK(pn_dataset_split(&first, &second, data, (double)NAN, rng, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "pn_dataset_split: fraction") != NULL);
    pn_rng_free(rng);
    pn_dataset_free(data);
}

/* ---- short memory ---- */

/* In two, the second of which is a copy in single precision whose first record is read. */
static pn_status split_and_read(void *self, pn_err *err)
{
    pn_dataset *first = NULL, *second = NULL, *narrow = NULL;
    pn_rng *rng = NULL;
    double x[3];
    pn_status status = pn_rng_seeded(&rng, 1, err);

    if (status == PN_OK)
        status = pn_dataset_split(&first, &second, self, 0.5, rng, err);
    CHECK((status == PN_OK) == (first && second));
    if (status == PN_OK)
        status = pn_dataset_to_float32(&narrow, second, err);
    if (status == PN_OK)
        status = pn_dataset_record(narrow, 0, x, err);
    pn_dataset_free(narrow);
    pn_dataset_free(second);
    pn_dataset_free(first);
    pn_rng_free(rng);
    return status;
}

static void short_memory_leaves_nothing(void)
{
    pn_dataset *one = dense(), *other = sparse();

    fail_alloc_sweep_all("split", split_and_read, one);
    fail_alloc_sweep_all("split of sparse records", split_and_read, other);
    pn_dataset_free(one);
    pn_dataset_free(other);
}

int main(void)
{
    sizes_and_records_are_told();
    bounds_are_what_is_enforced();
    a_split_shares_out_every_record_once();
    short_memory_leaves_nothing();
    return check_summary();
}
