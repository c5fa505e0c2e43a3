/* model_use.c -- margins, what they say, and coefficients in the units of columns.
 * Depends on: model_use.h, recipe.  Used by: model_json*.c, bindings.
 *
 * Original units.  A feature is (x - o) s, of a category or an indicator s x with x in {0, 1}, of the intercept s; so
 * z = sum theta_j s_j x_j + (theta_I s_I - sum theta_j s_j o_j).  A label y of the range [low, high] was mapped to
 * t = 2 (y - low)/(high - low) - 1, so y = middle + half t: coefficients times half, and middle added. */
#include <math.h>
#include <string.h>

#include "model/model_use.h"

const char *const pn_model_link_names[PN_LINK_COUNT] = { "none", "identity", "exp", "sign", "logistic", "softmax" };

pn_model_link pn_model_link_of(const char *loss, size_t margins)
{
    static const struct {
        const char *loss;
        pn_model_link link;
    } known[] = {
        { "squared", PN_LINK_IDENTITY },  { "huber", PN_LINK_IDENTITY },  { "absolute", PN_LINK_IDENTITY },
        { "quantile", PN_LINK_IDENTITY }, { "cauchy", PN_LINK_IDENTITY }, { "poisson", PN_LINK_EXP },
        { "logistic", PN_LINK_LOGISTIC }, { "hinge", PN_LINK_SIGN },      { "smooth_hinge", PN_LINK_SIGN },
        { "sigmoid", PN_LINK_SIGN },      { "softmax", PN_LINK_SOFTMAX },
    };

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(known[k].loss, loss) == 0 && (margins == 1 || known[k].link == PN_LINK_SOFTMAX))
            return margins > 0 ? known[k].link : PN_LINK_NONE;
    }
    return PN_LINK_NONE;
}

/* ---- values ---- */

static size_t classes_of(const pn_recipe *recipe)
{
    return recipe && recipe->label.kind == PN_LABEL_CLASSES ? recipe->label.classes.count : 0;
}

static bool fits(pn_model_link link, const pn_model_about *about, const pn_recipe *recipe)
{
    size_t classes = classes_of(recipe);
    bool has_range = recipe && recipe->label.kind == PN_LABEL_RANGE;

    if (link == PN_LINK_SOFTMAX)
        return !has_range && (classes == 0 || (classes > 2 && classes == about->margins));
    if (link == PN_LINK_SIGN || link == PN_LINK_LOGISTIC)
        return !has_range && (classes == 0 || classes == 2);
    return classes == 0 || (classes == 2 && link == PN_LINK_IDENTITY);
}

static double value_of(pn_model_link link, const double *z, size_t margins, bool is_class)
{
    size_t best = 0;

    switch (link) {
    case PN_LINK_EXP:
        return exp(z[0]);
    case PN_LINK_SIGN:
    case PN_LINK_LOGISTIC:
        return z[0] > 0.0 ? 1.0 : -1.0;
    case PN_LINK_SOFTMAX:
        for (size_t k = 1; k < margins; k++)
            best = z[k] > z[best] ? k : best;
        return (double)(best + 1);
    case PN_LINK_NONE:
    case PN_LINK_IDENTITY:
        break;
    }
    if (is_class)
        return z[0] > 0.0 ? 1.0 : -1.0;
    return z[0];
}

static double middle_of(const pn_recipe_label *label)
{
    return 0.5 * label->low + 0.5 * label->high;
}

static double half_of(const pn_recipe_label *label)
{
    return 0.5 * label->high - 0.5 * label->low;
}

static pn_status check_label(pn_model_link link, const pn_model_about *about, const pn_recipe *recipe, const char *who,
                             pn_err *err)
{
    if (fits(link, about, recipe))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "%s: the loss %.40s does not fit the recipe's label %.80s; fit:predict(d.X) gives the margins", who,
                   about->loss, recipe->label.name);
}

pn_status pn_model_values(const pn_model_about *about, const pn_recipe *recipe, const double *margins, size_t n,
                          double *values, pn_err *err)
{
    pn_model_link link = pn_model_link_of(about->loss, about->margins);
    bool has_range = recipe && recipe->label.kind == PN_LABEL_RANGE;

    if (link == PN_LINK_NONE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "predict: what the margins of the loss %.40s say of a label is not known; give a matrix, d.X, "
                       "for the margins themselves",
                       about->loss);
    PN_TRY(check_label(link, about, recipe, "predict", err));
    for (size_t i = 0; i < n; i++) {
        values[i] = value_of(link, margins + i * about->margins, about->margins, classes_of(recipe) > 0);
        if (has_range)
            values[i] = middle_of(&recipe->label) + half_of(&recipe->label) * values[i];
    }
    return PN_OK;
}

/* ---- probabilities ---- */

pn_status pn_model_classes(const pn_model_about *about, const pn_recipe *recipe, size_t *classes, pn_err *err)
{
    pn_model_link link = pn_model_link_of(about->loss, about->margins);

    *classes = link == PN_LINK_SOFTMAX ? about->margins : 2;
    if (link == PN_LINK_SOFTMAX || link == PN_LINK_LOGISTIC)
        return check_label(link, about, recipe, "probabilities", err);
    return pn_fail(err, PN_EUNSUPPORTED,
                   "probabilities: the loss %.40s is no likelihood of classes, so its margins say nothing of "
                   "probabilities; those of logistic and softmax do",
                   about->loss);
}

/* exp(z_k - max) / sum: no overflow, and no 0/0. */
static void softmax(const double *z, size_t classes, double *out)
{
    double top = z[0], sum = 0.0;

    for (size_t k = 1; k < classes; k++)
        top = fmax(top, z[k]);
    for (size_t k = 0; k < classes; k++) {
        out[k] = exp(z[k] - top);
        sum += out[k];
    }
    for (size_t k = 0; k < classes; k++)
        out[k] /= sum;
}

void pn_model_probabilities(const pn_model_about *about, const double *margins, size_t n, double *probabilities)
{
    if (pn_model_link_of(about->loss, about->margins) == PN_LINK_SOFTMAX) {
        for (size_t i = 0; i < n; i++)
            softmax(margins + i * about->margins, about->margins, probabilities + i * about->margins);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        probabilities[2 * i] = 1.0 / (1.0 + exp(margins[i]));
        probabilities[2 * i + 1] = 1.0 / (1.0 + exp(-margins[i]));
    }
}

/* ---- coefficients ---- */

void pn_model_original(const pn_recipe *recipe, const double *theta, bool unit, double *original)
{
    bool has_range = unit && recipe->label.kind == PN_LABEL_RANGE;
    double half = has_range ? half_of(&recipe->label) : 1.0, constant = has_range ? middle_of(&recipe->label) : 0.0;

    for (size_t j = 0; j < recipe->p; j++) {
        original[j] = half * (theta[j] * recipe->scale[j]);
        constant -= original[j] * recipe->offset[j];
    }
    if (recipe->intercept > 0.0)
        constant += original[recipe->p - 1];
    original[recipe->p] = constant;
}
