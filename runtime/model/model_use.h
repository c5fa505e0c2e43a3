/* model_use.h -- what a model's margins say in the label's units, and its coefficients in those of the columns.
 * Depends on: model.h, recipe.  Used by: model_json*.c, bindings. */
#ifndef PN_MODEL_MODEL_USE_H
#define PN_MODEL_MODEL_USE_H

#include "model/model.h"
#include "recipe/recipe.h"

/* How a margin z becomes what is predicted. */
typedef enum pn_model_link {
    PN_LINK_NONE,     /* not known: the loss is the user's own */
    PN_LINK_IDENTITY, /* z is the label: squared, huber, absolute, quantile, cauchy */
    PN_LINK_EXP,      /* exp(z) is its mean: poisson */
    PN_LINK_SIGN,     /* class 1 where z > 0, else -1: hinge, smooth_hinge, sigmoid, which are no likelihoods */
    PN_LINK_LOGISTIC, /* likewise; 1/(1 + exp(-z)) is the probability of class 1 */
    PN_LINK_SOFTMAX   /* the class of the largest margin; exp(z_k)/sum exp(z) are the probabilities */
} pn_model_link;
#define PN_LINK_COUNT 6
extern const char *const pn_model_link_names[PN_LINK_COUNT];

pn_model_link pn_model_link_of(const char *loss, size_t margins);

/** values[n]: for margins[n][about->margins] of records of the recipe (NULL: none), the label in its own unit, or its
 *  class as data sets have it: -1 or 1, or 1, 2, ...  A regression's loss on two classes tells them by the sign of z.
 *  Errors: PN_EUNSUPPORTED where the margins of the loss have no known meaning, or do not fit the label. */
pn_status pn_model_values(const pn_model_about *about, const pn_recipe *recipe, const double *margins, size_t n,
                          double *values, pn_err *err);
/** Classes that pn_model_probabilities has.  Errors: PN_EUNSUPPORTED where the loss is no likelihood of
 *  classes, or does not fit the label. */
pn_status pn_model_classes(const pn_model_about *about, const pn_recipe *recipe, size_t *classes, pn_err *err);
/** probabilities[n][classes], in the order of the classes: -1, 1, or 1, 2, ...  The model's, not calibrated. */
void pn_model_probabilities(const pn_model_about *about, const double *margins, size_t n, double *probabilities);

/**
 * original[p + 1]: coefficients of a linear model of the columns themselves, for theta[p] of one margin of records of
 * the recipe, and last its constant:
 *   z = constant + sum of original_j x_j, x_j a number, a day (from 1970-01-01), 0 or 1, as long as nothing is clipped.
 * A hole with an indicator counts as the middle of the column's range.
 *   unit  true: of a label that is a range, in its unit (not of z in [-1, 1]).
 */
void pn_model_original(const pn_recipe *recipe, const double *theta, bool unit, double *original);

#endif
