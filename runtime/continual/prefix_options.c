/* prefix_options.c -- the options of prefix sums as tables of bindings and solvers take them.
 * Depends on: prefix_rows.h.  Used by: solvers, bindings, binary_prefix.c (names). */
#include <string.h>

#include "continual/prefix_rows.h"

const char *const pn_prefix_estimator_names[] = { "plain", "honaker", "full", NULL };
const char *const pn_prefix_memory_names[] = { "keep", "regenerate", NULL };
const char *const pn_prefix_scale_names[] = { "equal", "node", NULL };
const char *const pn_prefix_growth_names[] = { "doubling", "endless", NULL };
const char *const pn_prefix_fit_names[] = { "sqrt", "optimal", NULL };

#define NAME(name) #name,
const char *const pn_prefix_factorization_names[] = { PN_PREFIXES(NAME) NULL };

/* The order of PN_PREFIX_ROWS. */
enum {
    FACTORIZATION,
    ESTIMATOR,
    MEMORY,
    SCALE,
    KEEP_ROOT,
    GROWTH,
    BANDS,
    FIT,
    COEFFICIENTS,
    BUFFERS,
    THETA,
    OMEGA,
    MATRIX
};

const pn_param pn_prefix_params[] = { PN_PREFIX_ROWS(""), PN_PARAM_END };

/* An option that does something, and the methods that have it. */
typedef struct owned {
    const char *option, *method, *other; /* other: a second method, or NULL */
    bool effective;
} owned;

static bool is_of(const owned *part, const char *method)
{
    return strcmp(part->method, method) == 0 || (part->other && strcmp(part->other, method) == 0);
}

/* What another method would pass over in silence is refused. */
static pn_status check_method(const pn_prefix_options *options, const char *owner, pn_err *err)
{
    const owned parts[] = {
        { "estimator", "binary", NULL, options->estimator_given && options->estimator != PN_PREFIX_PLAIN },
        { "memory", "binary", NULL, options->memory != PN_PREFIX_KEEP },
        { "scale", "binary", NULL, options->scale != PN_PREFIX_EQUAL },
        { "keep_root", "binary", NULL, options->keep_root },
        { "bands", "banded", NULL, options->bands > 0 },
        { "coefficients", "banded", NULL, options->coefficients.n > 0 },
        { "buffers", "blt", NULL, options->buffers > 0 },
        { "theta", "blt", NULL, options->theta.n > 0 },
        { "omega", "blt", NULL, options->omega.n > 0 },
        { "matrix", "matrix", NULL, options->matrix.rows > 0 },
        { "fit", "banded", "blt", options->fit != PN_PREFIX_CLOSED_FORM },
    };
    const owned *first = NULL;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].effective)
            continue;
        if (options->factorization && !is_of(&parts[i], options->factorization))
            return pn_fail(err, PN_EINVAL, "%s: %s belongs to factorization \"%s\", got \"%s\"", owner, parts[i].option,
                           parts[i].method, options->factorization);
        if (first && !is_of(&parts[i], first->method))
            return pn_fail(err, PN_EINVAL,
                           "%s: %s belongs to factorization \"%s\", %s to \"%s\"; give options of "
                           "one",
                           owner, first->option, first->method, parts[i].option, parts[i].method);
        first = first ? first : &parts[i];
    }
    return PN_OK;
}

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
    options->matrix = args[MATRIX].given ? args[MATRIX].matrix : (pn_mat){ 0 };
    for (int i = COEFFICIENTS; i <= OMEGA; i++) {
        if (args[i].given && pn_prefix_params[i].kind == PN_VECTOR && args[i].vector.n == 0)
            return pn_fail(err, PN_EINVAL, "%s: %s is an empty vector", owner, pn_prefix_params[i].name);
    }
    return check_method(options, owner, err);
}
