/* prefix_design.c -- from options to a calibrated design: checks, defaults, the method, sigma,
 * and the event of a stream.
 *
 * mu of a stream is a bound on the l2 norm of what one record moves in all measurements together, each divided by its
 * noise.  The measurements of a stream are one adaptive Gaussian mechanism of that shift (prefix.h), so one event
 * `gaussian` says it all.  Of the scalar draws only those count that a record can move: the others have the same law
 * for both neighbours given what was released before, whatever law that is, and cancel in every likelihood ratio.
 * Depends on: prefix_impl.h, privacy/{accountant,calibrate,gaussian}.h.  Used by: solvers, bindings.
 * See tree-mechanism.md sections 1, 3, 5, 7, 8. */
#include <math.h>
#include <string.h>

#include "continual/prefix_impl.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/size.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/gaussian.h"

#define SMALLEST 0x1p-900
#define LARGEST  0x1p900

#define CHEAP_BYTES  0x1p26 /* of the square-root factorization, which keeps the noise of every leaf */
#define CHEAP_LEAVES 1024

/* ---- checks ---- */

static pn_status check_number(const char *name, double x, pn_err *err)
{
    if (x >= SMALLEST && x <= LARGEST)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "prefix: %s must be a positive number (2^-900 to 2^900), got %g", name,
                   isnan(x) ? (double)NAN : x);
}

static pn_status check_size(const pn_prefix_options *options, pn_err *err)
{
    if (options->dim == 0)
        return pn_fail(err, PN_EDIM, "prefix: dim must be at least 1, got 0");
    if (options->dim > PN_SIZE_MAX)
        return pn_size_check("prefix", "dim", options->dim, err);
    return pn_size_check("prefix", "horizon", options->horizon, err);
}

/* How often a record may take part. */
static pn_status check_participations(const pn_prefix_options *options, pn_err *err)
{
    if (options->participations > 1 && options->horizon == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: %zu participations of a record need a horizon; without one a record may be in one leaf",
                       options->participations);
    if (options->separation > 1 && options->participations <= 1)
        return pn_fail(err, PN_EINVAL, "prefix: separation %zu says how far apart participations are; give those too",
                       options->separation);
    if (options->neighbours != PN_REPLACE_ONE && options->neighbours != PN_ZERO_OUT)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "prefix: neighbours must be \"replace_one\" or \"zero_out\", got \"%s\": with a record added the leaves "
            "that follow would be made of others",
            pn_neighbours_names[options->neighbours]);
    return PN_OK;
}

/* Exactly one way to say how much noise. */
static pn_status check_noise(const pn_prefix_options *options, pn_err *err)
{
    bool curve = options->epsilon != 0.0 || options->delta != 0.0;
    int ways = (options->rho != 0.0) + curve + (options->sigma != 0.0) + options->noiseless;

    if (ways != 1)
        return pn_fail(err, PN_EINVAL,
                       "prefix: give one of rho, epsilon with delta, sigma, or no privacy at all; got %s",
                       ways == 0 ? "none" : "more than one");
    if (options->noiseless)
        return PN_OK;
    if (curve && !(options->epsilon > 0.0 && options->epsilon <= LARGEST))
        return pn_fail(err, PN_EINVAL, "prefix: epsilon must be a positive number, got %g", options->epsilon);
    if (curve && !(options->delta > 0.0 && options->delta < 1.0))
        return pn_fail(err, PN_EINVAL, "prefix: delta must be between 0 and 1, both excluded, got %g", options->delta);
    if (options->rho != 0.0)
        return check_number("rho", options->rho, err);
    return options->sigma != 0.0 ? check_number("sigma", options->sigma, err) : PN_OK;
}

static pn_status check_sensitivities(const pn_prefix_options *options, pn_err *err)
{
    double largest = 0.0;

    if (options->horizon == 0)
        return pn_fail(err, PN_EINVAL, "prefix: sensitivities leaf by leaf need a horizon");
    for (size_t t = 0; t < options->horizon; t++) {
        double s = options->sensitivities[t];

        if (s != 0.0 && !(s >= SMALLEST && s <= LARGEST))
            return pn_fail(err, PN_EINVAL, "prefix: sensitivities must be numbers >= 0, got %g for leaf %zu", s, t + 1);
        largest = s > largest ? s : largest;
    }
    if (!(largest > 0.0))
        return pn_fail(err, PN_EINVAL, "prefix: at least one of the sensitivities must be positive");
    return PN_OK;
}

static pn_status check_leaves(const pn_prefix_options *options, pn_err *err)
{
    if (options->bound != 0.0 && !(options->bound >= SMALLEST && options->bound <= LARGEST))
        return pn_fail(err, PN_EINVAL, "prefix: bound must be a positive number (2^-900 to 2^900), got %g",
                       options->bound);
    if (options->sensitivities && options->sensitivity != 0.0)
        return pn_fail(err, PN_EINVAL, "prefix: give either sensitivity or sensitivities, not both");
    if (options->noiseless && !options->sensitivities && options->sensitivity == 0.0)
        return PN_OK;
    return options->sensitivities ? check_sensitivities(options, err)
                                  : check_number("sensitivity", options->sensitivity, err);
}

static pn_status check_options(const pn_prefix_options *options, pn_err *err)
{
    pn_status status = check_size(options, err);

    if (status == PN_OK)
        status = check_participations(options, err);
    if (status == PN_OK)
        status = check_noise(options, err);
    return status == PN_OK ? check_leaves(options, err) : status;
}

/* ---- defaults ---- */

/* An option that only one method has names the method. */
const char *pn_prefix_implied(const pn_prefix_options *options)
{
    if (options->estimator_given || options->memory != PN_PREFIX_KEEP || options->scale != PN_PREFIX_EQUAL ||
        options->keep_root || options->growth != PN_PREFIX_DOUBLING || options->noiseless)
        return "binary";
    if (options->bands > 0 || options->coefficients.n > 0)
        return "banded";
    if (options->buffers > 0 || options->theta.n > 0 || options->omega.n > 0)
        return "blt";
    if (options->matrix.rows > 0)
        return "matrix";
    return options->fit != PN_PREFIX_CLOSED_FORM ? "banded" : NULL;
}

static const char *chosen(const pn_prefix_options *options)
{
    const pn_prefix_ops *blt = pn_prefix_find("blt");
    double bytes = 8.0 * (double)options->dim * (double)options->horizon;

    if (pn_prefix_implied(options))
        return pn_prefix_implied(options);
    if (options->horizon == 0)
        return "binary";
    if (pn_prefix_find("sqrt") && options->horizon <= CHEAP_LEAVES && bytes <= CHEAP_BYTES)
        return "sqrt";
    return blt && (!blt->longest || options->horizon <= blt->longest(options)) ? "blt" : "binary";
}

static pn_status choose_method(pn_prefix_design *design, pn_err *err)
{
    pn_prefix_options *options = &design->options;
    const char *asked = options->factorization ? options->factorization : chosen(options);

    design->ops = pn_prefix_find(asked);
    if (!design->ops)
        return pn_prefix_refuse(asked, err);
    if (!options->estimator_given && (options->horizon == 0 || !options->factorization) &&
        options->memory == PN_PREFIX_KEEP && design->ops == &pn_prefix_binary)
        options->estimator = PN_PREFIX_HONAKER;
    options->factorization = design->ops->name;
    options->estimator_given = true;
    options->participations = options->participations ? options->participations : 1;
    options->separation = options->separation ? options->separation : 1;
    design->doubling = options->horizon == 0 && options->growth == PN_PREFIX_DOUBLING && !options->noiseless;
    if (design->ops == &pn_prefix_matrix && options->horizon == 0)
        return pn_fail(err, PN_EINVAL, "prefix: factorization \"matrix\" needs a horizon, the rows of its matrix");
    if (options->estimator == PN_PREFIX_FULL && options->horizon == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "prefix: estimator \"full\" needs a horizon; use \"honaker\"");
    if (options->growth == PN_PREFIX_ENDLESS && options->horizon > 0)
        return pn_fail(err, PN_EINVAL, "prefix: growth \"endless\" is for an unknown horizon, got horizon %zu",
                       options->horizon);
    if (options->growth == PN_PREFIX_ENDLESS && !design->ops->unknown_horizon)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: \"%s\" has a horizon; with growth \"doubling\" it serves an unknown one",
                       design->ops->name);
    return PN_OK;
}

/* ---- sigma ---- */

static double bound_of(const pn_prefix_method *method, const pn_prefix_design *design)
{
    return design->options.bound > 0.0 ? design->options.bound * method->reach : (double)INFINITY;
}

static double moved_by(const pn_prefix_method *method, const pn_prefix_design *design)
{
    return method->gain * design->sensitivity * (PN_MUTANT("leaf_sensitivity") ? 0.5 : 1.0);
}

/* A count that is a double, as a size; counts of this size are bounds. */
static size_t whole_count(double count)
{
    return count < 0x1p62 ? (size_t)ceil(count) : (size_t)1 << 62;
}

/* What rounding adds to mu whatever sigma is: a step is sigma 2^-40. */
static double settled_mu(const pn_prefix_method *method)
{
    return sqrt((double)method->dim) * method->settled * pn_lattice_step(1.0) * (1.0 + 0x1p-50);
}

static double charged_shift(const pn_prefix_method *method, const pn_prefix_design *design)
{
    size_t rounded = whole_count(method->moved * (double)method->dim);
    double shift = pn_lattice_l2(moved_by(method, design), method->sigma, rounded, bound_of(method, design), 1);

    return method->settled > 0.0 ? (shift + settled_mu(method) * method->sigma) * (1.0 + 0x1p-51) : shift;
}

double pn_prefix_charged(const pn_prefix_method *method, const pn_prefix_design *design)
{
    return charged_shift(method, design) / method->sigma;
}

static void set_sigma(pn_prefix_method *method, double sigma)
{
    method->sigma = sigma;
    method->step = pn_lattice_step(sigma);
}

pn_status pn_prefix_calibrate(pn_prefix_method *method, const pn_prefix_design *design, double mu, pn_err *err)
{
    double left = method->settled > 0.0 ? mu * (1.0 - 0x1p-49) - settled_mu(method) : mu;
    pn_gaussian_releases want = { .rho = fmax(0.0, left) * left / 2.0,
                                  .sensitivity = moved_by(method, design),
                                  .bound = bound_of(method, design),
                                  .dim = whole_count(method->moved * (double)method->dim),
                                  .count = 1 };
    double sigma = pn_calibrate_gaussian_releases(&want);

    if (!(sigma >= SMALLEST && sigma <= LARGEST))
        return pn_fail(err, PN_EBUDGET,
                       "prefix: no noise on the lattice gives rho %g with sensitivity %g, dim %zu and horizon %llu",
                       mu * mu / 2.0, design->sensitivity, method->dim, (unsigned long long)method->horizon);
    set_sigma(method, sigma);
    return PN_OK;
}

/* What the price of an event and the Gaussian filter of a ledger keep is left out, as in calibrate_releases.c. */
static pn_status mu_for_curve(double *out, const pn_prefix_design *design, size_t draws, pn_err *err)
{
    const pn_prefix_options *options = &design->options;
    double total = options->epsilon, epsilon = total - fmin(0x1p-35, total / 2.0) - 0x1p-38 * total;
    double mu = pn_gaussian_mu(epsilon, pn_ideal_delta(options->delta));

    /* Where epsilon is large the tails of the noise as drawn decide, and mu has a long way to go. */
    for (double least = 0x1p-20 * mu, less = 0x1p-52; mu > least; less = fmin(2.0 * less, 0.125)) {
        pn_event *event = NULL;
        pn_status status = pn_event_gaussian(&event, 1.0, mu, draws, options->neighbours, err);
        bool fits = status == PN_OK && pn_event_epsilon(event, 1, options->delta, NULL) <= epsilon;

        pn_event_free(event);
        *out = mu;
        if (status != PN_OK || fits)
            return status;
        mu *= 1.0 - less;
    }
    return pn_fail(err, PN_EBUDGET, "prefix: no noise on the lattice gives epsilon %g at delta %g with dim %zu", total,
                   options->delta, options->dim);
}

/* The event of a whole stream.  Of doubling too: a record is in one leaf, so in one epoch; the other epochs are made of
 * leaves that its neighbour has as well (given what was released), so that what one epoch costs is what all of them
 * cost together. */
static pn_status calibrate(pn_prefix_design *design, pn_err *err)
{
    const pn_prefix_options *options = &design->options;
    double draws = design->doubling ? pn_prefix_epoch_draws(design) : design->method->draws;
    double target = sqrt(2.0 * options->rho) * (1.0 - 0x1p-50); /* its square is at most 2 rho */
    size_t count = whole_count(draws * (double)options->dim);
    pn_status status = PN_OK;

    if (options->epsilon > 0.0)
        status = mu_for_curve(&target, design, count, err);
    if (status == PN_OK && options->sigma > 0.0)
        set_sigma(design->method, options->sigma);
    else if (status == PN_OK)
        status = pn_prefix_calibrate(design->method, design, target, err);
    if (status != PN_OK)
        return status;
    design->mu = pn_prefix_charged(design->method, design);
    design->target = options->sigma > 0.0 ? design->mu : target;
    if (!design->doubling)
        return pn_event_gaussian(&design->event, design->method->sigma, charged_shift(design->method, design), count,
                                 options->neighbours, err);
    design->mu = design->target;
    return pn_event_gaussian(&design->event, 1.0, design->target, count, options->neighbours, err);
}

/* ---- making ---- */

static pn_status copy_numbers(const double **out, const double *from, size_t n, pn_err *err)
{
    double *copy = NULL;

    *out = NULL;
    if (!from || n == 0)
        return PN_OK;
    PN_TRY(pn_new(&copy, n, err, "prefix: out of memory"));
    memcpy(copy, from, n * sizeof *copy);
    *out = copy;
    return PN_OK;
}

static pn_status copy_vector(const char *name, pn_vec *vector, pn_vec from, pn_err *err)
{
    const double *copy = NULL;
    size_t bad = from.n > 0 ? pn_first_nonfinite(from.data, from.n) : 0;
    pn_status status;

    if (bad < from.n)
        return pn_fail(err, PN_EDOMAIN, "prefix: %s must hold finite numbers, got %g at entry %zu", name,
                       from.data[bad], bad + 1);
    status = copy_numbers(&copy, from.data, from.n, err);
    *vector = (pn_vec){ .data = (double *)copy, .n = copy ? from.n : 0 };
    return status;
}

static pn_status copy_matrix(pn_mat *matrix, pn_mat from, pn_err *err)
{
    size_t entries = from.rows * from.cols, bad = entries > 0 ? pn_first_nonfinite(from.data, entries) : 0;
    const double *copy;

    if (bad < entries)
        return pn_fail(err, PN_EDOMAIN, "prefix: matrix must hold finite numbers, got %g at row %zu, column %zu",
                       from.data[bad], bad / from.cols + 1, bad % from.cols + 1);
    PN_TRY(copy_numbers(&copy, from.data, entries, err));
    *matrix = (pn_mat){ (double *)copy, copy ? from.rows : 0, copy ? from.cols : 0 };
    return PN_OK;
}

/* The caller's arrays become the design's. */
static pn_status own_arrays(pn_prefix_design *design, const pn_prefix_options *options, pn_err *err)
{
    pn_prefix_options *own = &design->options;
    pn_status status = copy_numbers(&own->sensitivities, options->sensitivities, options->horizon, err);

    if (status == PN_OK)
        status = copy_vector("coefficients", &own->coefficients, options->coefficients, err);
    if (status == PN_OK)
        status = copy_vector("theta", &own->theta, options->theta, err);
    if (status == PN_OK)
        status = copy_vector("omega", &own->omega, options->omega, err);
    return status == PN_OK ? copy_matrix(&own->matrix, options->matrix, err) : status;
}

static double largest_sensitivity(const pn_prefix_options *options)
{
    double largest = options->sensitivity;

    for (size_t t = 0; options->sensitivities && t < options->horizon; t++)
        largest = fmax(largest, options->sensitivities[t]);
    return largest;
}

static pn_status make_method(pn_prefix_design *design, pn_err *err)
{
    pn_prefix_options *options = &design->options;

    if (options->horizon == 0 && (design->doubling || options->noiseless)) {
        pn_prefix_options first = *options;
        pn_status status;

        first.horizon = 1;
        first.keep_root = true;
        first.growth = PN_PREFIX_DOUBLING;
        status = design->ops->create(&design->method, &first, err);
        options->bands = first.bands;
        options->buffers = first.buffers;
        return status;
    }
    return design->ops->create(&design->method, options, err);
}

/* What is within the bound is carried.  Of a leaf alone: epochs of an unknown horizon have room for 2^84 sigma over
 * their leaves, which no sum of leaves of this bound exceeds before there are 2^84 sigma / bound of them. */
static pn_status check_reach(const pn_prefix_design *design, pn_err *err)
{
    double farthest = pn_prefix_design_farthest(design);

    if (!(design->options.bound > farthest))
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "prefix: bound = %g is beyond what the lattice carries with this noise, %g; give bound up to that%s",
                   design->options.bound, farthest,
                   design->method->horizon == UINT64_MAX ? ", or growth=\"doubling\", or a horizon"
                                                         : ", or more noise");
}

static pn_status fill(pn_prefix_design *design, const pn_prefix_options *options, pn_err *err)
{
    pn_status status = own_arrays(design, options, err);

    if (status == PN_OK)
        status = choose_method(design, err);
    if (status != PN_OK)
        return status;
    design->sensitivity = largest_sensitivity(&design->options);
    status = make_method(design, err);
    if (status == PN_OK && !design->options.noiseless)
        status = calibrate(design, err);
    return status == PN_OK ? check_reach(design, err) : status;
}

pn_status pn_prefix_design_new(pn_prefix_design **out, const pn_prefix_options *options, pn_err *err)
{
    pn_status status = check_options(options, err);
    pn_prefix_design *design;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&design, 1, err, "prefix: out of memory"));
    design->references = 1;
    design->options = *options;
    design->options.sensitivities = NULL;
    design->options.coefficients = design->options.theta = design->options.omega = (pn_vec){ 0 };
    design->options.matrix = (pn_mat){ 0 };
    status = fill(design, options, err);
    if (status != PN_OK) {
        pn_prefix_design_free(design);
        return status;
    }
    *out = design;
    return PN_OK;
}

pn_prefix_design *pn_prefix_design_keep(pn_prefix_design *design)
{
    design->references++;
    return design;
}

void pn_prefix_design_free(pn_prefix_design *design)
{
    if (!design || --design->references > 0)
        return;
    if (design->method)
        design->method->ops->destroy(design->method);
    pn_event_free(design->event);
    pn_free((double *)design->options.sensitivities);
    pn_free(design->options.coefficients.data);
    pn_free(design->options.theta.data);
    pn_free(design->options.omega.data);
    pn_free(design->options.matrix.data);
    pn_free(design);
}
