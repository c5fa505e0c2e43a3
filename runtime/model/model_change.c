/* model_change.c -- a model in the coordinates that its records had before a public change of them.
 *
 * A run on records z = P x with labels y - <x, shift> gives theta with <z, theta> + <x, shift> = <x, shift + P^T theta>
 * for a prediction: of each margin alike, further parameters as they are.
 * Depends on: model_file.h, numeric/blas.h, core.  Used by: bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "data/dataset.h"
#include "model/model_file.h"
#include "numeric/blas.h"

static const char owner[] = "in_terms_of";

static size_t margins_of(const pn_model_about *about)
{
    return about->margins > 0 ? about->margins : 1;
}

static pn_status check_finite(const char *what, const double *numbers, size_t count, pn_err *err)
{
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(numbers[k]))
            return pn_fail(err, PN_EINVAL, "%s: entry %zu of %s must be finite, got %g", owner, k + 1, what,
                           numbers[k]);
    }
    return PN_OK;
}

static pn_status check_change(const pn_fit *fit, const pn_model_about *about, const pn_model_change *change,
                              pn_err *err)
{
    size_t margins = margins_of(about), own = (fit->p - about->extra) / margins, p = change->data->p;
    size_t from = change->map.data ? change->map.cols : own;

    if (change->data->n != about->records)
        return pn_fail(err, PN_EDIM, "%s: data has %zu records, the run had %zu", owner, change->data->n,
                       about->records);
    if (change->map.data && change->map.rows != own)
        return pn_fail(err, PN_EDIM, "%s: map has %zu rows, the run had %zu features", owner, change->map.rows, own);
    if (p != from)
        return pn_fail(err, PN_EDIM, "%s: data has %zu features, %s %zu", owner, p,
                       change->map.data ? "map has columns for" : "the run had", from);
    if (change->shift && change->shift_count != margins * p + about->extra)
        return pn_fail(err, PN_EDIM, "%s: shift has %zu entries, theta of these records has %zu", owner,
                       change->shift_count, margins * p + about->extra);
    PN_TRY(check_finite("shift", change->shift, change->shift ? change->shift_count : 0, err));
    return check_finite("map", change->map.data, change->map.data ? change->map.rows * change->map.cols : 0, err);
}

/* out[margins * p + extra] = shift + P^T theta */
static void fill(double *out, const pn_fit *fit, const pn_model_about *about, const pn_model_change *change)
{
    size_t margins = margins_of(about), own = (fit->p - about->extra) / margins, p = change->data->p;

    for (size_t k = 0; k < margins; k++) {
        double *to = out + k * p;
        const double *from = fit->theta + k * own;

        if (!change->map.data)
            memcpy(to, from, p * sizeof *to);
        for (size_t i = 0; change->map.data && i < own; i++)
            pn_axpy(p, from[i], change->map.data + i * p, to);
    }
    memcpy(out + margins * p, fit->theta + margins * own, about->extra * sizeof *out);
    for (size_t j = 0; change->shift && j < change->shift_count; j++)
        out[j] += change->shift[j];
}

pn_status pn_model_in_terms_of(pn_fit **fit_out, pn_model_about **about_out, const pn_fit *fit,
                               const pn_model_about *about, const pn_model_change *change, pn_err *err)
{
    pn_model_about changed = *about;
    pn_fit moved = *fit;
    pn_status status;

    PN_TRY(check_change(fit, about, change, err));
    moved.p = margins_of(about) * change->data->p + about->extra;
    PN_TRY(pn_new_zeroed(&moved.theta, moved.p, err, "%s: out of memory for %zu numbers", owner, moved.p));
    fill(moved.theta, fit, about, change);
    if (change->map.data || change->shift) { /* these are of the run's coordinates */
        changed.set[0] = changed.regulariser[0] = '\0';
        moved.certificate = (pn_certificate){ .status = NULL };
        moved.moments = NULL;
        moved.curvature = NULL;
        changed.raw = false;
        changed.value = NAN;
    }
    pn_model_about_records(&changed, change->data);
    (void)snprintf(changed.declared, sizeof changed.declared, "%s", change->declared);
    status = pn_model_copy(fit_out, about_out, &moved, &changed, err);
    pn_free(moved.theta);
    return status;
}
