/* gradient_batch.h -- gradients of batches in place of those of all records: the option, the question, its noise and
 * the plan's lines about it.
 * Depends on: question.h.  Used by: gradient_noise.c, sgd*.c, bindings/solvers/lask_options.c. */
#ifndef PN_ORACLE_GRADIENT_BATCH_H
#define PN_ORACLE_GRADIENT_BATCH_H

#include "oracle/question.h"

extern const char *const pn_batch_schemes[];

/* `batch`, for the tables of what takes it: {scheme=, size=} or {scheme=, rate=}, and a number for {size=}. */
#define PN_BATCH_PARAMS                                                                                                \
    { "batch.scheme",                                                                                                  \
      PN_CHOICE,                                                                                                       \
      PN_OPTIONAL,                                                                                                     \
      PN_ANY,                                                                                                          \
      PN_DERIVED,                                                                                                      \
      pn_batch_schemes,                                                                                                \
      "how the records of a step are drawn; by default fixed, under zero_out poisson" },                               \
        { "batch.size",                                                                                                \
          PN_COUNT,                                                                                                    \
          PN_OPTIONAL,                                                                                                 \
          PN_ANY,                                                                                                      \
          0.0,                                                                                                         \
          NULL,                                                                                                        \
          "records of a step, of poisson expected; batch=b is {size=b}.  By default a step takes all" },               \
    {                                                                                                                  \
        "batch.rate", PN_REAL, PN_OPTIONAL, PN_SHARE, 0.0, NULL, "in place of size: the part of n"                     \
    }
enum { PN_BATCH_SCHEME = 0, PN_BATCH_SIZE, PN_BATCH_RATE, PN_BATCH_OPTIONS };

/** Scheme and batch of a question that has its objective and neighbours; as they were where `given`
 *  (args[PN_BATCH_OPTIONS] of those rows) has none.  Errors: PN_EINVAL. */
pn_status pn_batch_read(pn_question *self, const char *owner, const pn_arg *given, pn_err *err);

/** Plan it once a step: fills plan->gradients, samples, event, charges and sigma, and noise->sigma, the least that fits
 *  the request by `accountant`, or that of noise->paper, on a sum.  "pld" charges the run as a whole.
 *  Errors: as pn_askings_calibrate. */
pn_status pn_batch_attach(pn_plan *plan, pn_gradient_noise *noise, const char *accountant, pn_err *err);
/** The noise on each coordinate of the mean gradient, for any batch and steps; NaN where none fits. */
double pn_batch_noise_at(const pn_plan *plan, const char *scheme, size_t batch, size_t steps);

/** E ||mean gradient over the batch - mean gradient||^2, at most, of records with gradients up to `slope`; of poisson
 *  the sum is divided by the expected size. */
double pn_batch_variance(const char *scheme, double n, double batch, double slope);

/** Lines: the scheme; for a private plan the rate, the noise's multiplier and what it is by, sigma, and a warning where
 *  secrecy earns nothing. */
void pn_batch_explain(pn_plan *plan, const pn_question *of, const char *by);

#endif
