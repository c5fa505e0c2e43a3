/* mechanism.c -- the table of private releases, and the one function through which noise leaves: check, charge, draw.
 * Depends on: mechanism.h, mechanism_row.h, core/.  Used by: solvers, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mutant.h"
#include "core/options.h"
#include "core/table.h"
#include "core/view.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/mechanism_row.h"

#define ROW(name) &pn_mechanism_##name,
static const pn_mechanism_ops *const rows[] = { PN_MECHANISMS(ROW) NULL };
PN_TABLE(mechanisms, pn_mechanism_ops, "mechanism", "mechanism", rows);

const pn_mechanism_ops *const *pn_mechanism_table(void)
{
    return rows;
}

pn_status pn_mechanism_from_args(pn_mechanism **out, const char *name, pn_arg *args, pn_neighbours neighbours,
                                 pn_err *err)
{
    pn_status status;
    const pn_mechanism_ops *row = pn_table_open(&mechanisms, __func__, name, args, &status, err);

    return row ? row->create(out, args, neighbours, err) : status;
}

pn_status pn_mechanism_new(pn_mechanism **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_neighbours neighbours = PN_REPLACE_ONE;
    pn_status status = pn_neighbours_read(&neighbours, options, &mechanisms, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_mechanism_from_args(out, name, args, neighbours, err) : status;
}

void pn_mechanism_free(pn_mechanism *mechanism)
{
    if (mechanism)
        mechanism->ops->destroy(mechanism);
}

/* ---- the door ---- */

pn_status pn_mechanism_source(const pn_mechanism *mechanism, const pn_ledger *ledger, const pn_rng *rng, pn_err *err)
{
    const char *name = mechanism->ops->name;

    if (!ledger)
        return pn_fail(err, PN_EINVAL, "%s: a release needs a ledger to pay from", name);
    if (pn_rng_simulated(rng) && !pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "%s: this stream is seeded (simulated noise, no privacy) and the ledger is a real budget; use a "
                       "secure stream, or a ledger opened with teaching = true",
                       name);
    return PN_OK;
}

static pn_status check_shape(const pn_mechanism *mechanism, size_t n, const pn_release *out, pn_err *err)
{
    const char *name = mechanism->ops->name;
    pn_output gives = mechanism->ops->output;

    if (n == 0)
        return pn_fail(err, PN_EDIM, "%s: the query has 0 values, a release needs at least 1", name);
    if (mechanism->dim != 0 && n != mechanism->dim)
        return pn_fail(err, PN_EDIM, "%s: the query has %zu value%s and the mechanism was made with dim = %zu", name, n,
                       n == 1 ? "" : "s", mechanism->dim);
    if ((gives == PN_GIVES_VALUES && !out->values) || (gives == PN_GIVES_ANSWERS && !out->above))
        return pn_fail(err, PN_EINVAL, "%s: a release needs a buffer for what it gives", name);
    return PN_OK;
}

/* Looks at all of them: when it stops would say where the first one is.  Numbers of a sign are ordered as their bits
 * are, infinity and NaN last: a loop over whole numbers, which compiles to vectors. */
static bool goes_beyond(const double *x, size_t n, double bound)
{
    uint64_t limit, beyond = 0;

    memcpy(&limit, &bound, sizeof limit);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, &x[i], sizeof bits);
        beyond |= limit - (bits & (UINT64_MAX >> 1)); /* wraps, and has the first bit, beyond the limit */
    }
    return beyond >> 63 != 0;
}

pn_status pn_mechanism_admits(const pn_mechanism *mechanism, const double *input, size_t n, pn_err *err)
{
    bool bounded = isfinite(mechanism->domain);

    if (bounded && mechanism->clamps)
        return PN_OK;
    if (bounded && !goes_beyond(input, n, mechanism->domain))
        return PN_OK;
    if (pn_first_nonfinite(input, n) != n)
        return pn_fail(err, PN_EDOMAIN, "%s: the query must hold finite numbers, but there is a NaN or infinity",
                       mechanism->ops->name);
    if (bounded)
        return pn_fail(err, PN_EDOMAIN,
                       "%s: the query goes beyond the bound %g that it was promised to keep; clip it first",
                       mechanism->ops->name, mechanism->domain);
    return PN_OK;
}

pn_status pn_mechanism_set_domain(pn_mechanism *mechanism, const pn_arg *bound, const char *name, const pn_arg *strict,
                                  double reach, pn_err *err)
{
    if (bound->given && bound->real > reach)
        return pn_fail(err, PN_EINVAL,
                       "mechanism.%s: %s = %g is beyond what the lattice carries with this noise, %g (2^85 of its "
                       "scales); give %s= up to that, or more noise",
                       mechanism->ops->name, name, bound->real, reach, name);
    if (strict->flag && !bound->given)
        return pn_fail(err, PN_EINVAL, "mechanism.%s: strict applies to a bound; give %s as well", mechanism->ops->name,
                       name);
    mechanism->domain = bound->given ? bound->real : INFINITY;
    mechanism->clamps = bound->given && !strict->flag;
    return PN_OK;
}

static pn_status spend(const pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_err *err)
{
    return pn_ledger_spend(ledger, mechanism->event, 1, label ? label : mechanism->ops->name, err);
}

pn_status pn_mechanism_pay(const pn_mechanism *mechanism, pn_ledger *ledger, const char *label, const pn_rng *rng,
                           pn_err *err)
{
    pn_status status = pn_mechanism_source(mechanism, ledger, rng, err);

    return status == PN_OK ? spend(mechanism, ledger, label, err) : status;
}

/* Draw; under the fault "noise_reuse" from a stream that begins anew for every release. */
static pn_status draw(pn_mechanism *mechanism, const double *input, size_t n, pn_rng *rng, pn_release *out, pn_err *err)
{
    pn_rng *again = NULL;
    pn_status status = PN_MUTANT("noise_reuse") ? pn_rng_seeded(&again, 1, err) : PN_OK;

    if (status == PN_OK)
        status = mechanism->ops->draw(mechanism, input, n, again ? again : rng, out, err);
    pn_rng_free(again);
    return status;
}

pn_status pn_mechanism_release(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                               const double *input, size_t n, pn_release *out, pn_err *err)
{
    pn_status status = pn_mechanism_source(mechanism, ledger, rng, err);

    if (status == PN_OK)
        status = check_shape(mechanism, n, out, err);
    if (status == PN_OK)
        status = pn_mechanism_admits(mechanism, input, n, err);
    if (status == PN_OK)
        status = mechanism->ops->prepare(mechanism, n, err);
    if (status == PN_OK && !PN_MUTANT("charge_after"))
        status = spend(mechanism, ledger, label, err);
    if (status == PN_OK)
        status = draw(mechanism, input, n, rng, out, err);
    if (status == PN_OK && PN_MUTANT("charge_after"))
        (void)spend(mechanism, ledger, label, NULL);
    if (status == PN_OK)
        out->simulated = pn_rng_simulated(rng);
    return status;
}

/* ---- for the rows ---- */

const char *pn_mechanism_protects(pn_neighbours neighbours)
{
    static const char *const who[] = {
        "replace_one: hides whether one record was exchanged for another",
        "add_remove: hides whether one record is there",
        "zero_out: hides whether one record was made null",
    };

    return who[neighbours];
}

/* ---- what is known of it ---- */

pn_event *pn_mechanism_event(const pn_mechanism *mechanism)
{
    return mechanism->event;
}

double pn_mechanism_scale(const pn_mechanism *mechanism)
{
    return mechanism->scale;
}

void pn_mechanism_describe(const pn_mechanism *mechanism, char *text, size_t size)
{
    mechanism->ops->describe(mechanism, text, size);
}
