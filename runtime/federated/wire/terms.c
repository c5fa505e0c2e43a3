/* terms.c -- what terms may say, and which columns a party looks at in a round.
 * Depends on: terms.h, random/address.h, random/sample.h.  Used by: party, server, plan. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/wire/terms.h"
#include "random/address.h"
#include "random/sample.h"

#define BOUND_MIN      0x1p-400 /* as data sets enforce bounds (data/dataset.h) */
#define BOUND_MAX      0x1p400
#define ITERATIONS_MAX (UINT64_C(1) << 40)

const char *const pn_federated_mode_names[] = { "product", "ball", "paper", NULL };
const char *const pn_federated_loss_names[] = { "squared", "logistic", NULL };

static pn_status check_bound(const char *name, double value, pn_err *err)
{
    if (!(value >= BOUND_MIN && value <= BOUND_MAX))
        return pn_fail(err, PN_EINVAL, "terms: %s must be from 2^-400 to 2^400, got %g", name, value);
    return PN_OK;
}

/* A scale of noise is positive when it is used, and 0 when it is not. */
static pn_status check_noise(const char *name, double value, bool used, pn_err *err)
{
    if (used && !(value > 0.0 && value <= BOUND_MAX))
        return pn_fail(err, PN_EINVAL, "terms: %s must be positive and at most 2^400, got %g", name, value);
    if (!used && !(value == 0.0))
        return pn_fail(err, PN_EINVAL, "terms: %s must be 0 in this run, got %g", name, value);
    return PN_OK;
}

static pn_status check_count(const char *name, uint64_t value, uint64_t most, pn_err *err)
{
    if (value < 1 || value > most)
        return pn_fail(err, PN_EINVAL, "terms: %s must be from 1 to %" PRIu64 ", got %" PRIu64, name, most, value);
    return PN_OK;
}

static pn_status check_kinds(const pn_terms *terms, pn_err *err)
{
    if ((int)terms->mode < 0 || terms->mode > PN_FEDERATED_PAPER)
        return pn_fail(err, PN_EINVAL, "terms: mode %d does not exist; there are 0 to %d", (int)terms->mode,
                       (int)PN_FEDERATED_PAPER);
    if ((int)terms->loss < 0 || terms->loss > PN_FEDERATED_LOGISTIC)
        return pn_fail(err, PN_EINVAL, "terms: loss %d does not exist; there are 0 to %d", (int)terms->loss,
                       (int)PN_FEDERATED_LOGISTIC);
    if (terms->neighbours != PN_REPLACE_ONE && terms->neighbours != PN_ZERO_OUT)
        return pn_fail(err, PN_EINVAL,
                       "terms: neighbours must be replace_one or zero_out, since the number of records is public");
    if (terms->mode == PN_FEDERATED_PAPER && terms->loss != PN_FEDERATED_SQUARED)
        return pn_fail(err, PN_EINVAL, "terms: mode paper has the loss squared only, got %s",
                       pn_federated_loss_names[terms->loss]);
    return PN_OK;
}

static pn_status check_sketch(const pn_terms *terms, pn_err *err)
{
    pn_status status = pn_sketch_check(&terms->sketch, err);

    if (status != PN_OK)
        return pn_fail_in(err, status, "terms");
    if (terms->sketch.n != terms->records)
        return pn_fail(err, PN_EINVAL, "terms: the sketch is of %zu records, the run of %" PRIu64, terms->sketch.n,
                       terms->records);
    return PN_OK;
}

static pn_status check_sizes(const pn_terms *terms, pn_err *err)
{
    pn_status status = check_count("records", terms->records, UINT64_C(1) << 48, err);

    if (status == PN_OK)
        status = check_count("parties", terms->parties, PN_PARTIES_MAX, err);
    if (status == PN_OK)
        status = check_count("iterations", terms->iterations, ITERATIONS_MAX, err);
    if (status == PN_OK)
        status = check_count("columns", terms->columns, UINT32_MAX - 1, err);
    if (status == PN_OK)
        status = check_count("sampled columns", terms->sampled, terms->columns, err);
    if (status == PN_OK && terms->party >= terms->parties)
        return pn_fail(err, PN_EINVAL, "terms: party %" PRIu32 " of %" PRIu32 "; they are counted from 0", terms->party,
                       terms->parties);
    return status;
}

static pn_status check_bounds(const pn_terms *terms, pn_err *err)
{
    pn_status status = check_bound("feature_bound", terms->feature_bound, err);

    if (status == PN_OK)
        status = check_bound("label_bound", terms->label_bound, err);
    if (status == PN_OK)
        status = check_bound("radius", terms->radius, err);
    if (status == PN_OK && !(terms->clip == 0.0))
        status = check_bound("clip", terms->clip, err);
    return status;
}

/* The vertex of a block is the best of those looked at only: without "stay" a party that looks at some of its columns
 * goes astray, which the ball cannot repair; where "stay" does not exist it must not be asked for. */
static pn_status check_stay(const pn_terms *terms, pn_err *err)
{
    if (terms->mode == PN_FEDERATED_PAPER && terms->stay)
        return pn_fail(err, PN_EINVAL, "terms: mode paper has no candidate \"stay\"");
    if (terms->mode == PN_FEDERATED_BALL && terms->sampled < terms->columns && !terms->stay)
        return pn_fail(err, PN_EINVAL,
                       "terms: mode ball with %" PRIu64 " of %" PRIu64
                       " columns sampled needs \"stay\"; or sample all columns",
                       terms->sampled, terms->columns);
    return PN_OK;
}

static pn_status check_block(const pn_terms *terms, pn_err *err)
{
    if (!terms->block)
        return terms->features == 0
                   ? PN_OK
                   : pn_fail(err, PN_EINVAL, "terms: features are limited for blocks only, got %" PRIu64,
                             terms->features);
    if (terms->mode != PN_FEDERATED_PRODUCT || terms->stay || terms->sampled != terms->columns)
        return pn_fail(
            err, PN_EINVAL,
            "terms: parties with sets of their own move in mode product, look at all columns, and never stay");
    return check_count("features", terms->features, UINT32_MAX - 1, err);
}

/* Where nobody has moved x is no point of a simplex. */
static pn_status check_positive(const pn_terms *terms, pn_err *err)
{
    if (terms->positive && (terms->mode != PN_FEDERATED_BALL || terms->sampled != terms->columns || terms->stay))
        return pn_fail(err, PN_EINVAL,
                       "terms: over a simplex mode must be ball, and parties look at all columns and never stay");
    return PN_OK;
}

static pn_status check_scales(const pn_terms *terms, pn_err *err)
{
    bool noisy = terms->is_private, paper = terms->mode == PN_FEDERATED_PAPER;
    pn_status status = check_noise("epsilon0", terms->epsilon0, noisy && !paper, err);

    if (status == PN_OK)
        status = check_noise("laplace_scale", terms->laplace_scale, noisy && paper, err);
    if (status == PN_OK)
        status = check_noise("sigma_feature", terms->sigma_feature, noisy, err);
    if (status == PN_OK)
        status = check_noise("sigma_score", terms->sigma_score, noisy && terms->mode == PN_FEDERATED_BALL, err);
    return status;
}

pn_status pn_terms_check(const pn_terms *terms, pn_err *err)
{
    static pn_status (*const checks[])(const pn_terms *, pn_err *) = { check_kinds,    check_sizes, check_sketch,
                                                                       check_bounds,   check_stay,  check_block,
                                                                       check_positive, check_scales };
    pn_status status = PN_OK;

    for (size_t i = 0; status == PN_OK && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](terms, err);
    return status;
}

pn_status pn_terms_copy(pn_terms *to, const pn_terms *from, pn_err *err)
{
    pn_terms copy = *from;

    memset(to, 0, sizeof *to);
    copy.block = NULL;
    if (from->block) {
        PN_TRY(pn_new(&copy.block, from->block_size, err, "terms: out of memory for a set of %zu numbers",
                      from->block_size));
        memcpy(copy.block, from->block, from->block_size * sizeof *copy.block);
    }
    *to = copy;
    return PN_OK;
}

void pn_terms_drop(pn_terms *terms)
{
    pn_free(terms->block);
    memset(terms, 0, sizeof *terms);
}

size_t pn_terms_columns(size_t d, size_t parties, size_t party)
{
    return d / parties + (party < d % parties);
}

static pn_status draw_subset(const pn_terms *terms, uint64_t round, size_t *chosen, pn_err *err)
{
    const uint64_t seed = terms->sketch.seed, address[PN_ADDRESS_WORDS] = { terms->party, round, 0, 0 };
    pn_address_key key;
    pn_rng *rng = NULL;
    pn_status status = pn_rng_seeded(&rng, seed, err);

    if (status == PN_OK) {
        pn_address_key_public(&key, "sampled-columns", &seed, 1);
        pn_rng_address(rng, &key, address, (size_t)terms->sampled);
        status = pn_sample_without_replacement(rng, (size_t)terms->columns, (size_t)terms->sampled, chosen, err);
    }
    pn_rng_free(rng);
    return status;
}

pn_status pn_terms_sample(const pn_terms *terms, uint64_t round, uint32_t *indices, pn_err *err)
{
    size_t count = (size_t)terms->sampled, *chosen;
    pn_status status = PN_OK;

    if (terms->sampled >= terms->columns) {
        for (size_t i = 0; i < count; i++)
            indices[i] = (uint32_t)i;
        return PN_OK;
    }
    PN_TRY(pn_new(&chosen, count, err, "terms: not enough memory to sample %zu columns", count));
    status = draw_subset(terms, round, chosen, err);
    for (size_t i = 0; status == PN_OK && i < count; i++)
        indices[i] = (uint32_t)chosen[i];
    pn_free(chosen);
    return status;
}
