/* doubling_prefix.c -- an unknown horizon: epoch m holds leaves 2^m .. 2^(m+1) - 1 in a method of its own for 2^m
 * leaves, calibrated to the same mu; what an epoch ends with is frozen and added to all later releases.
 * Depends on: prefix_impl.h.  Used by: prefix.c, prefix_design.c, prefix_stream.c.  Source: Chan, Shi, Song (2011),
 * section 4; tree-mechanism.md section 5. */
#include <math.h>

#include "continual/prefix_impl.h"

static pn_status create_epoch(pn_prefix_method **out, const pn_prefix_design *design, uint64_t epoch, pn_err *err)
{
    pn_prefix_options options = design->options;

    options.horizon = (size_t)1 << epoch;
    options.keep_root = true; /* what an epoch ends with is its root */
    options.growth = PN_PREFIX_DOUBLING;
    return design->ops->create(out, &options, err);
}

pn_status pn_prefix_epoch(pn_prefix_method **out, const pn_prefix_design *design, uint64_t epoch, pn_err *err)
{
    pn_status status = create_epoch(out, design, epoch, err);

    if (status == PN_OK && epoch == 0) { /* sigma may have been given */
        (*out)->sigma = design->method->sigma;
        (*out)->step = design->method->step;
    } else if (status == PN_OK) {
        status = pn_prefix_calibrate(*out, design, design->target, err);
    }
    if (status != PN_OK && *out) {
        (*out)->ops->destroy(*out);
        *out = NULL;
    }
    return status;
}

double pn_prefix_epoch_draws(const pn_prefix_design *design)
{
    uint64_t longest = design->ops->longest ? design->ops->longest(&design->options) : PN_PREFIX_LONGEST;

    if (design->ops->epoch_draws > 0.0)
        return design->ops->epoch_draws;
    return (double)(longest < PN_PREFIX_LONGEST ? longest : PN_PREFIX_LONGEST);
}

static unsigned epoch_of(uint64_t t)
{
    return 63U - (unsigned)__builtin_clzll(t);
}

/* What all epochs before `epoch` end with. */
static double frozen(const pn_prefix_design *design, uint64_t epoch)
{
    double sum = 0.0;

    for (uint64_t m = 0; m < epoch; m++) {
        pn_prefix_method *method = NULL;

        if (pn_prefix_epoch(&method, design, m, NULL) != PN_OK)
            return NAN;
        sum += method->sigma * method->sigma * method->ops->variance(method, method->horizon);
        method->ops->destroy(method);
    }
    return sum;
}

double pn_prefix_doubling_variance(const pn_prefix_design *design, uint64_t t)
{
    uint64_t epoch = epoch_of(t);
    pn_prefix_method *method = NULL;
    double before = frozen(design, epoch), own;

    if (pn_prefix_epoch(&method, design, epoch, NULL) != PN_OK)
        return NAN;
    own = method->sigma * method->sigma * method->ops->variance(method, t - method->horizon + 1);
    method->ops->destroy(method);
    return before + own;
}

void pn_prefix_doubling_variances(const pn_prefix_design *design, size_t count, double *out)
{
    double before = 0.0;

    for (uint64_t epoch = 0; ((size_t)1 << epoch) <= count; epoch++) {
        size_t first = ((size_t)1 << epoch) - 1; /* leaves before */
        size_t here = count - first < first + 1 ? count - first : first + 1;
        pn_prefix_method *method = NULL;
        bool made = pn_prefix_epoch(&method, design, epoch, NULL) == PN_OK;
        double square = made ? method->sigma * method->sigma : (double)NAN;

        if (made)
            method->ops->variances(method, here, out + first);
        for (size_t i = 0; i < here; i++)
            out[first + i] = made ? before + square * out[first + i] : (double)NAN;
        before = out[first + here - 1]; /* the epoch's end, where there is a next one */
        if (made)
            method->ops->destroy(method);
    }
}

double pn_prefix_doubling_words(const pn_prefix_design *design, uint64_t t)
{
    pn_prefix_method *method = NULL;
    double words;

    if (pn_prefix_epoch(&method, design, t > 0 ? epoch_of(t) : 0, NULL) != PN_OK)
        return NAN;
    words = (double)method->ops->words(method, t > 0 ? t - method->horizon + 1 : 1);
    method->ops->destroy(method);
    return words;
}
