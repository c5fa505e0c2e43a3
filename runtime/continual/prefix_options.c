/* prefix_options.c -- the options of prefix sums as tables of bindings and solvers take them.
 * Depends on: prefix_rows.h.  Used by: solvers, bindings, binary_prefix.c (names). */
#include "continual/prefix_rows.h"

const char *const pn_prefix_estimator_names[] = { "plain", "honaker", "full", NULL };
const char *const pn_prefix_memory_names[] = { "keep", "regenerate", NULL };
const char *const pn_prefix_scale_names[] = { "equal", "node", NULL };
const char *const pn_prefix_growth_names[] = { "doubling", "endless", NULL };
const char *const pn_prefix_fit_names[] = { "sqrt", "optimal", NULL };

const char *const pn_prefix_factorization_names[] = { "binary", "sqrt", "banded", "blt", NULL };

/* The order of PN_PREFIX_ROWS. */
enum { FACTORIZATION, ESTIMATOR, MEMORY, SCALE, KEEP_ROOT, GROWTH, BANDS, FIT, COEFFICIENTS, BUFFERS, THETA, OMEGA };

const pn_param pn_prefix_params[] = { PN_PREFIX_ROWS(""), PN_PARAM_END };

pn_status pn_prefix_read_options(pn_prefix_options *options, const char *owner, const pn_arg *args, pn_err *err)
{
    if (args[BUFFERS].given && args[BUFFERS].count > 8)
        return pn_fail(err, PN_EINVAL, "%s: buffers must be a whole number from 1 to 8, got %zu", owner,
                       args[BUFFERS].count);
    options->factorization =
        args[FACTORIZATION].given ? pn_prefix_factorization_names[args[FACTORIZATION].count] : NULL;
    options->estimator = (pn_prefix_estimator)args[ESTIMATOR].count;
    options->estimator_given = args[ESTIMATOR].given;
    options->memory = (pn_prefix_memory)args[MEMORY].count;
    options->scale = (pn_prefix_scale)args[SCALE].count;
    options->keep_root = args[KEEP_ROOT].flag;
    options->growth = (pn_prefix_growth)args[GROWTH].count;
    options->bands = args[BANDS].given ? args[BANDS].count : 0;
    options->fit = (pn_prefix_fit)args[FIT].count;
    options->coefficients = args[COEFFICIENTS].given ? args[COEFFICIENTS].vector : (pn_vec){ 0 };
    options->buffers = args[BUFFERS].given ? args[BUFFERS].count : 0;
    options->theta = args[THETA].given ? args[THETA].vector : (pn_vec){ 0 };
    options->omega = args[OMEGA].given ? args[OMEGA].vector : (pn_vec){ 0 };
    return PN_OK;
}
