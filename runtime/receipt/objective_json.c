/* objective_json.c -- see objective_json.h.
 * Depends on: objective_json.h, receipt_json.h, expr.  Used by: fit_receipt.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "receipt/objective_json.h"
#include "receipt/receipt_json.h"

#define FORMULA_BYTES 65536

/* ---- the loss ---- */

static json_t *values_of(const pn_labels *labels)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < labels->count; i++) {
        if (json_array_append_new(list, pn_receipt_real(labels->values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *labels_of(const pn_objective *objective)
{
    static const char *const kinds[] = { "real", "values", "interval", "classes" };
    const pn_labels *labels = &pn_objective_loss(objective)->labels;
    pn_interval range = pn_objective_labels(objective);

    return json_pack("{s:s, s:o, s:I, s:o}", "kind", kinds[labels->kind], "values",
                     labels->kind == PN_LABELS_VALUES ? values_of(labels) : json_null(), "classes",
                     (json_int_t)(labels->kind == PN_LABELS_CLASSES ? labels->count : 0), "range",
                     pn_receipt_range(range.low, range.high));
}

/* Null for what is no formula, or too long for one. */
static json_t *formula_of(const pn_loss *loss)
{
    pn_node root;
    pn_graph *graph = pn_loss_graph(loss, &root);
    json_t *made;
    char *text;

    if (!graph)
        graph = pn_loss_joint_graph(loss, &root);
    if (!graph)
        return json_null();
    text = pn_alloc(FORMULA_BYTES, 1);
    if (!text)
        return NULL;
    pn_graph_text(graph, root, text, FORMULA_BYTES);
    made = strstr(text, "...") ? json_null() : json_string(text);
    pn_free(text);
    return made;
}

static json_t *loss_of(const pn_objective *objective)
{
    const pn_loss *loss = pn_objective_loss(objective);

    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:o}", "name", loss->name, "parameters", loss->parameters, "formula",
                     formula_of(loss), "margins", (json_int_t)loss->margins, "extra", (json_int_t)loss->extra, "labels",
                     labels_of(objective));
}

/* ---- what follows from it ---- */

static json_t *interval_of(pn_interval of)
{
    return pn_receipt_range(of.low, of.high);
}

/* In `gradient` the norm is that of the gradient: bounds->lipschitz has them by the norm of theta. */
static json_t *bounds_of(const pn_bounds *bounds)
{
    double gradient[PN_LP_COUNT];

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        gradient[pn_lp_dual((pn_lp)norm)] = bounds->lipschitz[norm];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "source",
                     pn_bound_source_names[bounds->source], "margin", interval_of(bounds->margin), "value",
                     interval_of(bounds->loss.value), "slope", interval_of(bounds->loss.slope), "curvature",
                     interval_of(bounds->loss.curvature), "slope_norm", pn_receipt_norms(bounds->loss.slope_norm),
                     "extra_norm", pn_receipt_norms(bounds->loss.extra_norm), "gradient", pn_receipt_norms(gradient),
                     "smoothness", pn_receipt_real(bounds->loss_smoothness), "strong_convexity",
                     pn_receipt_real(bounds->strong_convexity), "regulariser_gradient",
                     pn_receipt_real(bounds->reg.gradient), "regulariser_smoothness",
                     pn_receipt_real(bounds->reg.smoothness), "continuous", (int)bounds->loss.continuous, "convex",
                     (int)bounds->loss.convex);
}

static json_t *set_of(const pn_set *set)
{
    double radius[PN_LP_COUNT], atoms[PN_LP_COUNT];
    char words[256];

    if (!set)
        return json_null();
    pn_set_describe(set, words, sizeof words);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        radius[norm] = set->ops->radius(set, (pn_lp)norm);
        atoms[norm] = set->ops->atom_radius ? set->ops->atom_radius(set, (pn_lp)norm) : (double)NAN;
    }
    return json_pack("{s:s, s:s, s:I, s:o, s:o}", "name", set->ops->name, "words", words, "dim", (json_int_t)set->dim,
                     "radius", pn_receipt_norms(radius), "atom_radius", pn_receipt_norms(atoms));
}

static json_t *regulariser_of(const pn_regulariser *regulariser)
{
    char words[256];

    if (!regulariser)
        return json_null();
    regulariser->ops->describe(regulariser, words, sizeof words);
    return json_string(words);
}

json_t *pn_receipt_objective(const pn_objective *objective, bool knows_n)
{
    const pn_dataset *data = pn_objective_data(objective);
    double clip = pn_objective_clip(objective);

    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "records",
                     knows_n ? json_integer((json_int_t)data->n) : json_null(), "features", (json_int_t)data->p, "dim",
                     (json_int_t)pn_objective_dim(objective), "rows", pn_receipt_norms(data->bounds.norm), "clip",
                     clip > 0.0 ? pn_receipt_real(clip) : json_null(), "set", set_of(pn_objective_set(objective)),
                     "regulariser", regulariser_of(pn_objective_regulariser(objective)), "loss", loss_of(objective),
                     "bounds", bounds_of(pn_objective_bounds(objective)));
}
