/* prefix_kit.h -- designs, paid streams and single nodes of noise, for the tests of this folder.
 * Depends on: check.h, continual/prefix_impl.h. */
#ifndef PN_TESTS_PREFIX_KIT_H
#define PN_TESTS_PREFIX_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "continual/prefix_impl.h"
#include "core/alloc.h"

#include "check.h"

/* sigma 1, sensitivity 1, binary, plain. */
static inline pn_prefix_options unit_noise(size_t dim, size_t horizon)
{
    return (pn_prefix_options){ .dim = dim,
                                .horizon = horizon,
                                .sensitivity = 1.0,
                                .sigma = 1.0,
                                .neighbours = PN_REPLACE_ONE,
                                .factorization = "binary",
                                .estimator = PN_PREFIX_PLAIN,
                                .estimator_given = true };
}

static inline pn_prefix_design *design_of(pn_prefix_options options)
{
    pn_prefix_design *design = NULL;
    pn_err err;

    if (!CHECK(pn_prefix_design_new(&design, &options, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return design;
}

static inline pn_ledger *teaching_ledger(pn_neighbours neighbours)
{
    pn_budget terms = { .epsilon = NAN, .rho = 1e300, .neighbours = neighbours, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    return ledger;
}

/* A paid stream from a seed. */
static inline pn_prefix *stream_of(pn_prefix_design *design, uint64_t seed)
{
    pn_prefix *stream = NULL;
    pn_rng *rng = NULL;
    pn_err err;

    if (!design->options.noiseless)
        CHECK(pn_rng_seeded(&rng, seed, &err) == PN_OK);
    if (!CHECK(pn_prefix_new(&stream, design, rng, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    pn_rng_free(rng);
    stream->paid = true; /* what it costs is not what these tests are about */
    return stream;
}

/* `count` leaves of zero; out[count * dim] the releases. */
static inline void push_zeros(pn_prefix *stream, size_t count, size_t dim, double *out)
{
    double *zero = calloc(dim, sizeof *zero);

    for (size_t t = 0; t < count; t++)
        CHECK(pn_prefix_push(stream, zero, out ? out + t * dim : NULL, NULL, NULL) == PN_OK);
    free(zero);
}

/* Noise of coordinate j (of the first block) at (level, index), in units of the leaves,
 * as a node of unit noise has it. */
static inline double node_noise(const pn_prefix *stream, uint64_t level, uint64_t index, size_t j)
{
    size_t dim = stream->design->options.dim, count = dim < PN_PREFIX_BLOCK ? dim : PN_PREFIX_BLOCK;
    static int64_t noise[PN_PREFIX_BLOCK];
    pn_prefix_step step = { .count = count, .key = &stream->key, .epoch = stream->epoch };

    CHECK(pn_rng_seeded(&step.rng, 0, NULL) == PN_OK);
    pn_prefix_noise(&step, level, index, noise);
    pn_rng_free(step.rng);
    return (double)noise[j] * stream->method->step;
}

#endif
