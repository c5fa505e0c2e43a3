/* mechanism.c -- the table of private releases, and the one function through which noise leaves: check, charge, draw.
 * Depends on: mechanism.h, core/.  Used by: solvers, bindings. */
#include <stdio.h>
#include <string.h>

#include "core/view.h"
#include "privacy/mechanism.h"

extern const pn_mechanism_ops pn_mechanism_exponential;
extern const pn_mechanism_ops pn_mechanism_permute_and_flip;
extern const pn_mechanism_ops pn_mechanism_report_noisy_max;

static const pn_mechanism_ops *const table[] = {
    &pn_mechanism_exponential,
    &pn_mechanism_permute_and_flip,
    &pn_mechanism_report_noisy_max,
    NULL,
};

const pn_mechanism_ops *const *pn_mechanism_table(void)
{
    return table;
}

static pn_status unknown(const char *name, pn_err *err)
{
    char known[256];
    size_t used = 0;

    for (size_t i = 0; table[i] && used < sizeof known; i++) {
        int n = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", table[i]->name);

        used += n > 0 ? (size_t)n : 0;
    }
    return pn_fail(err, PN_EUNSUPPORTED, "mechanism: no mechanism is called '%.60s'; there are %s", name, known);
}

pn_status pn_mechanism_new(pn_mechanism **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    for (size_t i = 0; table[i]; i++) {
        char owner[64];
        pn_status status;

        if (strcmp(table[i]->name, name) != 0)
            continue;
        (void)snprintf(owner, sizeof owner, "mechanism.%s", name);
        status = pn_args_check(owner, table[i]->params, args, err);
        return status == PN_OK ? table[i]->create(out, args, neighbours, err) : status;
    }
    return unknown(name, err);
}

void pn_mechanism_free(pn_mechanism *mechanism)
{
    if (mechanism)
        mechanism->ops->destroy(mechanism);
}

/* The message says nothing of where the bad number is: that is the data's. */
static pn_status check_release(const pn_mechanism *mechanism, const pn_ledger *ledger, const pn_rng *rng,
                               const double *input, size_t n, pn_err *err)
{
    const char *name = mechanism->ops->name;

    if (!ledger)
        return pn_fail(err, PN_EINVAL, "%s: a release needs a ledger to pay from", name);
    if (n == 0)
        return pn_fail(err, PN_EDIM, "%s: the query has 0 values, a release needs at least 1", name);
    if (pn_rng_simulated(rng) && !pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "%s: this stream is seeded (simulated noise, no privacy) and the ledger is a real budget; use a "
                       "secure stream, or a ledger opened with teaching = true",
                       name);
    if (pn_first_nonfinite(input, n) != n)
        return pn_fail(err, PN_EDOMAIN, "%s: the query must hold finite numbers, but there is a NaN or infinity", name);
    return PN_OK;
}

pn_status pn_mechanism_release(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                               const double *input, size_t n, pn_release *out, pn_err *err)
{
    pn_status status = check_release(mechanism, ledger, rng, input, n, err);

    if (status == PN_OK)
        status = mechanism->ops->prepare(mechanism, n, err);
    if (status == PN_OK)
        status = pn_ledger_spend(ledger, mechanism->event, 1, label ? label : mechanism->ops->name, err);
    if (status == PN_OK)
        status = mechanism->ops->draw(mechanism, input, n, rng, out, err);
    if (status == PN_OK)
        out->simulated = pn_rng_simulated(rng);
    return status;
}
