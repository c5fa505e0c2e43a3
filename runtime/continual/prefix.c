/* prefix.c -- the table of methods, and what a design says about itself.
 * Depends on: prefix_impl.h.  Used by: solvers, bindings. */
#include <math.h>
#include <stdio.h>

#include "core/table.h"
#include "continual/prefix_impl.h"

#define ROW(name) &pn_prefix_##name,
static const pn_prefix_ops *const rows[] = { PN_PREFIXES(ROW) NULL };

const pn_prefix_ops *const *pn_prefix_table(void)
{
    return rows;
}

const pn_prefix_ops *pn_prefix_find(const char *name)
{
    return pn_table_find(rows, name);
}

pn_status pn_prefix_refuse(const char *name, pn_err *err)
{
    static const pn_table factorizations = { "prefix", "factorization", rows };

    return pn_table_refuse(&factorizations, "prefix", name, err);
}

const char *pn_prefix_name(const pn_prefix_ops *ops)
{
    return ops->name;
}

const char *pn_prefix_doc(const pn_prefix_ops *ops)
{
    return ops->doc;
}

/* ---- what a design says ---- */

const pn_prefix_options *pn_prefix_options_of(const pn_prefix_design *design)
{
    return &design->options;
}

double pn_prefix_design_sigma(const pn_prefix_design *design)
{
    return design->options.noiseless ? 0.0 : design->method->sigma;
}

double pn_prefix_design_farthest(const pn_prefix_design *design)
{
    const pn_prefix_method *method = design->method;

    return design->options.noiseless ? (double)INFINITY : method->farthest * method->step;
}

double pn_prefix_gain(const pn_prefix_design *design)
{
    return design->method->gain;
}

bool pn_prefix_number_of(const pn_prefix_design *design, pn_prefix_number which, size_t j, double *out)
{
    const pn_prefix_method *method = design->method;

    return method->ops->number && method->ops->number(method, which, j, out);
}

double pn_prefix_design_mu(const pn_prefix_design *design)
{
    return design->mu;
}

pn_event *pn_prefix_design_event(const pn_prefix_design *design)
{
    return design->event;
}

double pn_prefix_design_variance(const pn_prefix_design *design, uint64_t t)
{
    const pn_prefix_method *method = design->method;

    if (t == 0 || t > PN_PREFIX_LONGEST || (design->options.horizon > 0 && t > design->options.horizon))
        return NAN;
    if (design->options.noiseless)
        return 0.0;
    if (design->doubling)
        return pn_prefix_doubling_variance(design, t);
    return method->sigma * method->sigma * method->ops->variance(method, t);
}

void pn_prefix_variances(const pn_prefix_design *design, size_t count, double *out)
{
    const pn_prefix_method *method = design->method;

    if (design->options.noiseless) {
        for (size_t t = 0; t < count; t++)
            out[t] = 0.0;
    } else if (design->doubling) {
        pn_prefix_doubling_variances(design, count, out);
    } else {
        method->ops->variances(method, count, out);
        for (size_t t = 0; t < count; t++)
            out[t] *= method->sigma * method->sigma;
    }
}

double pn_prefix_room(const pn_prefix_design *design, uint64_t t)
{
    const pn_prefix_method *method = design->method;
    double words = 0.0;

    if (design->doubling)
        words = 1.0 + pn_prefix_doubling_words(design, t);
    else if (!design->options.noiseless)
        words = (double)method->ops->words(method, t > 0 ? t : 1);
    return (words + 1.0) * (double)design->options.dim;
}

static void horizon_text(const pn_prefix_design *design, char *text, size_t size)
{
    if (design->options.horizon > 0)
        (void)snprintf(text, size, "horizon %zu", design->options.horizon);
    else
        (void)snprintf(text, size, "unknown horizon%s", design->doubling ? ", epochs that double" : "");
}

void pn_prefix_design_describe(const pn_prefix_design *design, char *text, size_t size)
{
    const pn_prefix_method *method = design->method;
    char horizon[80], of_method[160];

    horizon_text(design, horizon, sizeof horizon);
    method->ops->describe(method, of_method, sizeof of_method);
    if (design->options.noiseless)
        (void)snprintf(text, size, "no noise, %s", horizon);
    else
        (void)snprintf(text, size, "%s, %s", of_method, horizon);
}
