/* prefix_options.c -- the options of prefix sums as tables of bindings and solvers take them.
 * Depends on: prefix.h.  Used by: solvers, bindings, binary_prefix.c (names). */
#include "continual/prefix.h"

const char *const pn_prefix_estimator_names[] = { "plain", "honaker", "full", NULL };
const char *const pn_prefix_memory_names[] = { "keep", "regenerate", NULL };
const char *const pn_prefix_scale_names[] = { "equal", "node", NULL };
const char *const pn_prefix_growth_names[] = { "doubling", "endless", NULL };
const char *const pn_prefix_fit_names[] = { "sqrt", "optimal", NULL };

static const char *const factorizations[] = { "binary", "sqrt", "banded", "blt", NULL };

/* In this order in pn_prefix_read_options. */
enum { FACTORIZATION, ESTIMATOR, MEMORY, SCALE, KEEP_ROOT, GROWTH, BANDS, FIT, COEFFICIENTS, BUFFERS, THETA, OMEGA };

const pn_param pn_prefix_params[] = {
    [FACTORIZATION] = { "factorization", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, factorizations,
                        "how the sums are measured; chosen by horizon and dim when absent" },
    [ESTIMATOR] = { "estimator", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_estimator_names,
                    "binary: how nodes become prefixes; when absent plain, or honaker without a factorization or a "
                    "horizon" },
    [MEMORY] = { "memory", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_memory_names,
                 "binary, plain: keep the noise of nodes, or draw it again for each release" },
    [SCALE] = { "scale", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_scale_names,
                "binary: equal noise for all nodes, or in proportion to the largest sensitivity of a node's leaves" },
    [KEEP_ROOT] = { "keep_root", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                    "binary: measure the sum of all leaves too, so that a stream can be completed early" },
    [GROWTH] = { "growth", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_growth_names,
                 "unknown horizon: epochs that double, or one tree without end" },
    [BANDS] = { "bands", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                "banded: coefficients that are not 0; the separation of participations when absent, else 8" },
    [FIT] = { "fit", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_prefix_fit_names,
              "banded: coefficients of the square root, or the best ones" },
    [COEFFICIENTS] = { "coefficients", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "banded: 1, c_1, c_2, ... instead" },
    [BUFFERS] = { "buffers", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blt: vectors kept, 1 to 8; 4 when absent" },
    [THETA] = { "theta", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                "blt: decay of each buffer, instead of the table's" },
    [OMEGA] = { "omega", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "blt: weight of each buffer" },
    PN_PARAM_END,
};

pn_status pn_prefix_read_options(pn_prefix_options *options, const char *owner, const pn_arg *args, pn_err *err)
{
    if (args[BUFFERS].given && args[BUFFERS].count > 8)
        return pn_fail(err, PN_EINVAL, "%s: buffers must be a whole number from 1 to 8, got %zu", owner,
                       args[BUFFERS].count);
    options->factorization = args[FACTORIZATION].given ? factorizations[args[FACTORIZATION].count] : NULL;
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
