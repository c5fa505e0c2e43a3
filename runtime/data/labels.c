/* labels.c -- what the loaders do to labels: binary ones, mapped ones, and what that enforces.
 * Depends on: labels.h, build.h.  Used by: libsvm.c, csv.c, csv_label.c. */
#include <math.h>
#include <stdio.h>

#include "data/build.h"
#include "data/labels.h"

pn_status pn_labels_check(const char *owner, const pn_label_options *options, pn_err *err)
{
    if (!options->to)
        return PN_OK;
    if (options->count == 0)
        return pn_fail(err, PN_EINVAL, "%s: the label mapping is empty", owner);
    if (options->binary)
        return pn_fail(err, PN_EINVAL, "%s: binary labels and a label mapping exclude each other", owner);
    for (size_t i = 0; i < options->count; i++) {
        bool text = options->text && options->text[i];

        if ((!text && !isfinite(options->from[i])) || !isfinite(options->to[i]))
            return pn_fail(err, PN_EINVAL, "%s: pair %zu of the label mapping is not finite", owner, i + 1);
    }
    return PN_OK;
}

pn_status pn_labels_make_binary(pn_dataset *data, const char *path, pn_err *err)
{
    pn_dataset_summary facts;

    pn_dataset_label_facts(data, &facts);
    if (facts.second_count == 0)
        return pn_fail(err, PN_EDOMAIN, "%.300s: binary labels need two label values, found only %.17g", path,
                       facts.first_label);
    if (facts.other_count > 0)
        return pn_fail(err, PN_EDOMAIN,
                       "%.300s: binary labels need two label values, found %.17g, %.17g and others; say which becomes "
                       "what with `labels`",
                       path, facts.first_label, facts.second_label);
    for (size_t i = 0; i < data->n; i++)
        data->y[i] = data->y[i] == facts.first_label ? -1.0 : 1.0;
    return PN_OK;
}

/* A mapping names every label that can occur, so its range is enforced. */
static void enforce_mapping(pn_dataset *data, const pn_label_options *options)
{
    double low = options->to[0], high = low;
    bool binary = true;

    for (size_t i = 0; i < options->count; i++) {
        low = fmin(low, options->to[i]);
        high = fmax(high, options->to[i]);
        binary = binary && fabs(options->to[i]) == 1.0;
    }
    data->bounds.label_low = binary ? -1.0 : low;
    data->bounds.label_high = binary ? 1.0 : high;
    data->bounds.labels_binary = binary;
}

void pn_labels_enforce(pn_dataset *data, const pn_label_options *options)
{
    if (options->to)
        enforce_mapping(data, options);
    else
        pn_dataset_see_labels(data);
    if (options->binary) /* whatever the file holds, the labels are -1 and 1, or there is an error */
        data->bounds.label_low = -(data->bounds.label_high = 1.0);
}

void pn_labels_list(char *text, size_t size, const pn_label_options *options)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < options->count && used < size; i++) {
        const char *comma = i > 0 ? ", " : "";
        int wrote = options->text && options->text[i]
                        ? snprintf(text + used, size - used, "%s%s", comma, options->text[i])
                        : snprintf(text + used, size - used, "%s%.6g", comma, options->from[i]);

        used += wrote > 0 ? (size_t)wrote : size;
    }
}
