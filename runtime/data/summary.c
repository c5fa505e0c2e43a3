/* summary.c -- observed facts about a data set.  They are not private.
 * Depends on: dataset.h, build.h, rows.h.  Used by: libsvm.c (binary labels), bindings. */
#include <math.h>
#include <string.h>

#include "data/build.h"
#include "data/rows.h"

/* Smallest and second smallest value, and how often each occurs. */
void pn_dataset_label_facts(const pn_dataset *data, pn_dataset_summary *out)
{
    double sum = 0.0;

    out->first_label = out->label_min = INFINITY;
    out->second_label = INFINITY;
    out->label_max = -INFINITY;
    out->first_count = out->second_count = out->other_count = 0;
    for (size_t i = 0; i < data->n; i++) {
        double label = data->y[i];

        out->label_max = fmax(out->label_max, label);
        sum += label;
        if (label < out->first_label) {
            out->other_count += out->second_count;
            out->second_label = out->first_label;
            out->second_count = out->first_count;
            out->first_label = label;
            out->first_count = 1;
        } else if (label == out->first_label) {
            out->first_count++;
        } else if (label < out->second_label) {
            out->other_count += out->second_count;
            out->second_label = label;
            out->second_count = 1;
        } else if (label == out->second_label) {
            out->second_count++;
        } else {
            out->other_count++;
        }
    }
    out->label_min = out->first_label;
    out->label_mean = sum / (double)data->n;
    if (out->second_count == 0)
        out->second_label = NAN;
}

pn_status pn_dataset_summarise(const pn_dataset *data, pn_dataset_summary *out, pn_err *err)
{
    pn_rows rows;
    pn_status status;

    memset(out, 0, sizeof *out);
    status = pn_rows_open(&rows, data, err);
    if (status != PN_OK)
        return status;
    pn_dataset_label_facts(data, out);
    for (size_t i = 0; i < data->n && status == PN_OK; i++) {
        size_t count;
        const double *entries = pn_rows_get(&rows, i, &count);

        for (size_t j = 0; j < count; j++)
            out->nonzeros += entries[j] != 0.0;
        for (int norm = 0; norm < PN_LP_COUNT; norm++) {
            double mantissa;
            int exponent;

            pn_row_norm(entries, count, (pn_lp)norm, &mantissa, &exponent);
            out->max_norm[norm] = fmax(out->max_norm[norm], ldexp(mantissa, exponent));
        }
        status = pn_rows_stopped(i, err);
    }
    pn_rows_close(&rows);
    return status;
}
