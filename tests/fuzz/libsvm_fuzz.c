/* libsvm_fuzz.c -- LIBSVM text.  The first byte chooses the options, the rest is the file.
 * Depends on: fuzz.h, records.h, data/dataset.h. */
#include "fuzz/records.h"

enum { STORAGE = 3, COLUMNS = 4, BINARY = 8, MAPPED = 16 };

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static const double from[] = { 0.0, 1.0 }, to[] = { -1.0, 1.0 };
    pn_libsvm_options options = { 0 };
    pn_dataset *records = NULL;
    pn_err err = { 0 };
    pn_status status;
    const char *path;

    if (size == 0)
        return 0;
    options.storage = (pn_storage)((*data & STORAGE) % 3);
    options.cols = *data & COLUMNS ? 9 : 0;
    options.labels.binary = (*data & BINARY) != 0;
    if (*data & MAPPED)
        options.labels = (pn_label_options){ .from = from, .to = to, .count = 2 };
    path = fuzz_file("records.svm", data + 1, size - 1);
    status = pn_dataset_load_libsvm(&records, path, &options, NULL, &err);
    fuzz_records(records, status, &err);
    pn_dataset_free(records);
    return 0;
}
