/* model_small.h -- 24 records in four dimensions, and one release of gradient and Hessian.
 * Depends on: model_kit.h.  Used by: model_test.c, model_refusal_test.c. */
#ifndef PN_TESTS_NOISY_MODEL_SMALL_H
#define PN_TESTS_NOISY_MODEL_SMALL_H

#include "runtime/oracle/model_kit.h"

enum { N = 24, DIM = 4, PACKED = 10 };

static const double theta[DIM] = { 0.3, -0.2, 0.5, 0.1 };

typedef struct outcome {
    double value, gradient[DIM], packed[PACKED];
} outcome;

/* A model of `of`, and one release of both from the stream `seed`; z 0: without privacy. */
static inline pn_model release_from(world *of, size_t batch, bool frobenius, double z, const double *at, uint64_t seed,
                                    outcome *out)
{
    pn_request request = z > 0.0 ? request_for(PN_REPLACE_ONE) : no_privacy();
    pn_step_context context = context_of(seed, 1e9);
    pn_model_release *release = NULL;
    pn_model model;

    CHECK(pn_model_read(&model, "test", of->objective, &request, batch, frobenius, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, z, z, NULL) == PN_OK);
    CHECK(pn_model_both(release, &context, "test", at, &out->value, out->gradient, out->packed, NULL, NULL) == PN_OK);
    pn_model_close(release);
    context_free(&context);
    return model;
}

static inline double vector_distance(const double *a, const double *b)
{
    double d[DIM];

    for (size_t j = 0; j < DIM; j++)
        d[j] = a[j] - b[j];
    return l2_norm(d, DIM);
}

#endif
