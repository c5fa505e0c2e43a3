/* no_number_test.c -- slopes and curvatures that are no number, as 0 inf where exact ones are finite: they count as 0,
 * brought into the certified range, and not as its lower end. */
#include "check.h"
#include "geometry/sets/sets.h"
#include "objective/passes/objective.h"

#define N 7
#define P 2

static pn_interval slopes, curvatures;

static void nothing(const pn_loss *self, size_t count, const double *z, const double *y, double *value, double *slope)
{
    (void)self;
    (void)z;
    (void)y;
    for (size_t i = 0; i < count; i++) {
        if (value)
            value[i] = 0.0;
        if (slope)
            slope[i] = NAN;
    }
}

static void no_curve(const pn_loss *self, size_t count, const double *z, const double *y, const double *along,
                     double *out)
{
    (void)self;
    (void)z;
    (void)y;
    (void)along;
    for (size_t i = 0; i < count; i++)
        out[i] = NAN;
}

static pn_status claim(pn_loss *self, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    (void)self;
    (void)margin;
    (void)y;
    (void)err;
    *out = (pn_loss_bounds){ .value = { 0.0, 1.0 }, .slope = slopes, .curvature = curvatures, .third = { 0.0, 1.0 } };
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        out->slope_norm[norm] = 2.0;
    out->curvature_norm = 2.0;
    out->continuous = out->smooth = out->twice_smooth = true;
    return PN_OK;
}

static void destroy(pn_loss *self)
{
    (void)self;
}

static const pn_loss_ops ops = {
    .name = "nothing", .destroy = destroy, .evaluate = nothing, .curve = no_curve, .certify = claim
};

static void counts_as(pn_interval slope, pn_interval curvature, double first, double second)
{
    const double X[N * P] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 }, y[N] = { 0 }, theta[P] = { 0.5, 0.0 };
    double gradient[P], times[P];
    pn_dataset *data = NULL;
    pn_loss loss;
    pn_set *set = NULL;
    pn_arg args[8] = { { .given = true, .count = P }, { .given = true, .real = 1.0 } };
    pn_objective *objective = NULL;

    slopes = slope;
    curvatures = curvature;
    pn_loss_init(&loss, &ops, &ops);
    loss.margins = 1;
    CHECK(pn_set_from_args(&set, "l2_ball", args, NULL) == PN_OK);
    CHECK(pn_dataset_from_dense(&data, X, N, P, y, "x", NULL) == PN_OK);
    data->bounds = (pn_record_bounds){ .norm = { 1.0, 1.0, 1.0 }, .label_low = 0.0, .label_high = 0.0 };
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = &loss, .set = set }, NULL) ==
          PN_OK);
    CHECK(pn_objective_evaluate(objective, theta, NULL, gradient, NULL, NULL) == PN_OK);
    CHECK(gradient[0] == first && gradient[1] == 0.0);
    CHECK(pn_objective_hessian_times(objective, NULL, theta, (double[P]){ 2.0, 0.0 }, times, NULL, NULL) == PN_OK);
    CHECK(times[0] == second && times[1] == 0.0);
    pn_objective_free(objective);
    pn_set_free(set);
    pn_dataset_free(data);
}

int main(void)
{
    counts_as((pn_interval){ -0.75, 0.25 }, (pn_interval){ -1.0, 2.0 }, 0.0, 0.0);
    counts_as((pn_interval){ 0.25, 0.75 }, (pn_interval){ 0.5, 2.0 }, 0.25, 1.0);
    counts_as((pn_interval){ -0.75, -0.5 }, (pn_interval){ -2.0, -0.5 }, -0.5, -1.0);
    return check_summary();
}
