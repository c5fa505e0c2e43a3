/* stream_json.c -- see stream_json.h.  Depends on: stream_json.h, receipt_json.h, random/noise.h.
 * Used by: fit_receipt.c, stream_receipt.c. */
#include <math.h>
#include <string.h>

#include "random/noise.h"
#include "receipt/receipt_json.h"
#include "receipt/stream_json.h"

static json_t *numbers_of(const double *values, size_t count)
{
    json_t *list = values && count > 0 ? json_array() : json_null();

    for (size_t i = 0; list && values && i < count; i++) {
        if (json_array_append_new(list, pn_receipt_real(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *factor_of(const pn_prefix_design *design, pn_prefix_number which)
{
    json_t *list = json_array();
    double number;

    for (size_t j = 0; list && pn_prefix_number_of(design, which, j, &number); j++) {
        if (json_array_append_new(list, pn_receipt_real(number)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    if (!list || json_array_size(list) > 0)
        return list;
    json_decref(list);
    return json_null();
}

/* Row t of a given matrix from its first entry that is not 0 to the diagonal. */
static json_t *rows_of(const pn_mat *matrix)
{
    json_t *list = matrix->rows > 0 ? json_array() : json_null();

    for (size_t t = 0; list && t < matrix->rows; t++) {
        const double *row = matrix->data + t * matrix->cols;
        size_t first = 0;

        while (first < t && row[first] == 0.0)
            first++;
        if (json_array_append_new(list, numbers_of(row + first, t - first + 1)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Nodes that a leaf is in: those of 1, 2, 4 ... leaves that are fewer than the horizon, and the root where it is made
 * or there is one leaf. */
static json_t *layers_of(const pn_prefix_options *options)
{
    size_t layers = 0;

    if (options->horizon == 0 || strcmp(options->factorization, "binary") != 0)
        return json_null();
    for (size_t nodes = 1; nodes < options->horizon; nodes *= 2)
        layers++;
    return json_integer((json_int_t)(layers + (options->keep_root || layers == 0)));
}

static json_t *lattice_of(const pn_prefix_design *design)
{
    const pn_prefix_options *options = pn_prefix_options_of(design);
    double sigma = pn_prefix_design_sigma(design);

    return json_pack("{s:o, s:o, s:I, s:o}", "scale", pn_receipt_real(sigma), "unit",
                     pn_receipt_real(pn_lattice_step(sigma)), "values", (json_int_t)options->dim, "bound",
                     pn_receipt_real(options->bound > 0.0 ? options->bound : (double)INFINITY));
}

/* What shapes the method and not its size. */
static json_t *method_of(const pn_prefix_design *design)
{
    const pn_prefix_options *options = pn_prefix_options_of(design);

    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:o}", "estimator",
                     pn_prefix_estimator_names[options->estimator], "memory", pn_prefix_memory_names[options->memory],
                     "scale", pn_prefix_scale_names[options->scale], "growth", pn_prefix_growth_names[options->growth],
                     "keep_root", (int)options->keep_root, "fit", pn_prefix_fit_names[options->fit], "coefficients",
                     factor_of(design, PN_PREFIX_COEFFICIENT), "theta", factor_of(design, PN_PREFIX_THETA), "omega",
                     factor_of(design, PN_PREFIX_OMEGA), "rows", rows_of(&options->matrix));
}

json_t *pn_receipt_design(const pn_prefix_design *design)
{
    const pn_prefix_options *options = pn_prefix_options_of(design);
    bool each = options->sensitivities != NULL;
    char words[200];

    pn_prefix_design_describe(design, words, sizeof words);
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
                     "factorization", options->factorization, "words", words, "horizon", (json_int_t)options->horizon,
                     "dim", (json_int_t)options->dim, "sensitivity",
                     each ? json_null() : pn_receipt_real(options->sensitivity), "sensitivities",
                     numbers_of(options->sensitivities, each ? options->horizon : 0), "bound",
                     pn_receipt_real(options->bound), "participations", (json_int_t)options->participations,
                     "separation", (json_int_t)options->separation, "layers", layers_of(options), "sigma",
                     pn_receipt_real(pn_prefix_design_sigma(design)), "gain", pn_receipt_real(pn_prefix_gain(design)),
                     "mu", pn_receipt_real(pn_prefix_design_mu(design)), "clamps", (int)options->clamp, "method",
                     method_of(design), "lattice", lattice_of(design));
}
