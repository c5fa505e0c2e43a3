/* loss.c -- the table of losses, their reference counts and their labels.  Depends on: loss.h.
 * Used by: objective.c, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "core/table.h"
#include "objective/losses/formula_loss.h"

/* One row, one line. */
#define LOSSES(X)                                                                                                      \
    X(squared)                                                                                                         \
    X(logistic)                                                                                                        \
    X(hinge)                                                                                                           \
    X(smooth_hinge)                                                                                                    \
    X(huber)                                                                                                           \
    X(absolute)                                                                                                        \
    X(quantile)                                                                                                        \
    X(poisson)                                                                                                         \
    X(sigmoid)                                                                                                         \
    X(cauchy)                                                                                                          \
    X(softmax)

#define DECLARE(name) extern const pn_loss_ops pn_loss_##name;
LOSSES(DECLARE)

#define ROW(name) &pn_loss_##name,
static const pn_loss_ops *const rows[] = { LOSSES(ROW) NULL };
PN_TABLE(losses, pn_loss_ops, "loss", "loss", rows);

const pn_loss_ops *const *pn_loss_table(void)
{
    return rows;
}

/* What the arguments were, or are when absent. */
static void say_parameters(pn_loss *loss, const pn_param *params, const pn_arg *args)
{
    size_t used = 0;

    for (size_t k = 0; k < pn_param_count(params) && used < sizeof loss->parameters; k++) {
        char *at = loss->parameters + used;
        size_t left = sizeof loss->parameters - used;
        int n = params[k].kind == PN_COUNT
                    ? snprintf(at, left, "%s%s=%zu", k ? ", " : "", params[k].name, args[k].count)
                    : snprintf(at, left, "%s%s=%.9g", k ? ", " : "", params[k].name, args[k].real);

        used += n > 0 ? (size_t)n : 0;
    }
}

pn_status pn_loss_from_args(pn_loss **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_loss_ops *row = pn_table_open(&losses, __func__, name, args, &status, err);

    *out = NULL;
    if (!row)
        return status;
    status = row->formula ? pn_formula_loss_new(out, row, args, err) : row->create(out, args, err);
    if (status == PN_OK)
        say_parameters(*out, row->params, args);
    return status;
}

pn_status pn_loss_new(pn_loss **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &losses, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_loss_from_args(out, name, args, err) : status;
}

void pn_loss_init(pn_loss *loss, const pn_loss_ops *ops, const pn_loss_ops *row)
{
    *loss = (pn_loss){ .ops = ops, .row = row, .references = 1 };
    (void)snprintf(loss->name, sizeof loss->name, "%s", row->name);
}

pn_status pn_loss_rename(pn_loss *loss, const char *name, pn_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
    size_t length = strlen(name);

    if (length == 0 || length >= sizeof loss->name || strspn(name, allowed) != length)
        return pn_fail(err, PN_EINVAL, "loss: name must be 1 to %d letters, digits, spaces, '_' or '-', got \"%.40s\"",
                       PN_LOSS_NAME - 1, name);
    memcpy(loss->name, name, length + 1);
    return PN_OK;
}

pn_loss *pn_loss_keep(pn_loss *loss)
{
    loss->references++;
    return loss;
}

void pn_loss_free(pn_loss *loss)
{
    if (loss && --loss->references == 0)
        loss->ops->destroy(loss);
}

static pn_status check_interval(const char *what, pn_interval part, pn_err *err)
{
    if (!(part.low <= part.high))
        return pn_fail(err, PN_EINVAL, "loss: %s must be an interval {lo, hi} with lo <= hi, got {%g, %g}", what,
                       part.low, part.high);
    return PN_OK;
}

pn_status pn_loss_certify(pn_loss *loss, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    pn_status status = check_interval("the margin", margin, err);

    if (status == PN_OK)
        status = check_interval("the labels", y, err);
    if (status == PN_OK && !loss->ops->certify)
        status = pn_fail(err, PN_EUNSUPPORTED, "loss.%s: the loss is a black box, so no slope or curvature is known",
                         loss->name);
    return status == PN_OK ? loss->ops->certify(loss, margin, y, out, err) : status;
}

/* ---- labels ---- */

static bool admits(const pn_labels *labels, double y)
{
    switch (labels->kind) {
    case PN_LABELS_REAL:
        return true;
    case PN_LABELS_INTERVAL:
        return y >= labels->range.low && y <= labels->range.high;
    case PN_LABELS_CLASSES:
        return y >= 1.0 && y <= (double)labels->count && y == floor(y);
    case PN_LABELS_VALUES:
        for (size_t i = 0; i < labels->count; i++) {
            if (labels->values[i] == y)
                return true;
        }
        return false;
    }
    return false;
}

size_t pn_labels_first_bad(const pn_labels *labels, const double *y, size_t n)
{
    size_t i = 0;

    while (i < n && admits(labels, y[i]))
        i++;
    return i;
}

void pn_labels_describe(const pn_labels *labels, char *text, size_t size)
{
    size_t used = 0;

    switch (labels->kind) {
    case PN_LABELS_REAL:
        (void)snprintf(text, size, "real");
        return;
    case PN_LABELS_INTERVAL:
        (void)snprintf(text, size, "in [%g, %g]", labels->range.low, labels->range.high);
        return;
    case PN_LABELS_CLASSES:
        (void)snprintf(text, size, "1 to %zu", labels->count);
        return;
    case PN_LABELS_VALUES:
        text[0] = '\0';
        for (size_t i = 0; i < labels->count && used < size; i++) {
            int n = snprintf(text + used, size - used, "%s%g",
                             i == 0                   ? ""
                             : i + 1 == labels->count ? " and "
                                                      : ", ",
                             labels->values[i]);

            used += n > 0 ? (size_t)n : 0;
        }
        return;
    }
}

pn_status pn_loss_label_domain(pn_domain *out, const pn_loss *loss, pn_interval enforced, double *values, pn_err *err)
{
    const pn_labels *labels = &loss->labels;
    char wanted[200];

    *out = (pn_domain){ enforced, NULL, 0 };
    if (labels->kind == PN_LABELS_INTERVAL)
        out->range = (pn_interval){ fmax(enforced.low, labels->range.low), fmin(enforced.high, labels->range.high) };
    if (labels->kind == PN_LABELS_VALUES) {
        for (size_t i = 0; i < labels->count; i++) {
            if (labels->values[i] >= enforced.low && labels->values[i] <= enforced.high)
                values[out->count++] = labels->values[i];
        }
        out->values = values;
        out->range = (pn_interval){ 0.0, 0.0 };
    }
    if (out->range.low <= out->range.high && (labels->kind != PN_LABELS_VALUES || out->count > 0))
        return PN_OK;
    pn_labels_describe(labels, wanted, sizeof wanted);
    return pn_fail(err, PN_EINVAL, "loss.%s: the labels must be %s, got the interval {%g, %g}", loss->name, wanted,
                   enforced.low, enforced.high);
}

const char *pn_loss_name(const pn_loss *loss)
{
    return loss->name;
}
