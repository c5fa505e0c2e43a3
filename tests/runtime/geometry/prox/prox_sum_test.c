/* prox_sum_test.c -- sums and groups under failing allocations, and what their doors promise about references and
 * untouched
 * vectors.  Numbers: prox_sum_spec.lua.  Depends on: geometry/prox/prox.h, check.h, fail_alloc.h. */
#include <math.h>
#include <string.h>

#include "geometry/prox/prox.h"

#include "check.h"
#include "fail_alloc.h"

#define DIM 4

static pn_status make(pn_prox **out, const char *name, double lambda, pn_err *err)
{
    pn_arg args[2] = { { .given = true, .real = lambda }, { .given = true, .real = 1.0, .count = 2 } };

    return pn_prox_from_args(out, name, args, err);
}

/* *total + *one, which are freed. */
static pn_status add(pn_prox **total, pn_prox *one, pn_err *err)
{
    pn_prox *sum;
    pn_status status = pn_prox_sum(&sum, *total, one, err);

    pn_prox_free(*total);
    pn_prox_free(one);
    *total = sum;
    return status;
}

/* l1 + each of the others in turn, applied each time: a square, a closed form, Dykstra's iteration. */
static pn_status use_sums(void *self, pn_err *err)
{
    static const char *const others[] = { "l2", "elastic_net", "linf", NULL };
    double x[DIM] = { 3, -1, 0.5, 2 }, value;
    pn_prox *total, *one;
    pn_status status = make(&total, "l1", 0.3, err);

    (void)self;
    for (size_t i = 0; status == PN_OK && others[i]; i++) {
        status = make(&one, others[i], 0.2, err);
        if (status == PN_OK)
            status = add(&total, one, err);
        if (status == PN_OK)
            status = pn_prox_apply(total, x, DIM, 0.5, err);
        if (status == PN_OK)
            status = pn_prox_value(total, x, DIM, &value, err);
    }
    pn_prox_free(total);
    return status;
}

static const size_t start[4] = { 0, 2, 4, 5 }, member[5] = { 0, 1, 1, 2, 3 };

static pn_status use_groups(void *self, pn_err *err)
{
    pn_group_list list = { 0.5, 3, start, member, NULL, DIM };
    double x[DIM] = { 3, -1, 0.5, 2 }, value;
    pn_prox *prox;
    pn_status status = pn_prox_groups(&prox, &list, err);

    (void)self;
    if (status == PN_OK)
        status = pn_prox_apply(prox, x, DIM, 0.5, err);
    if (status == PN_OK)
        status = pn_prox_value(prox, x, DIM, &value, err);
    pn_prox_free(prox);
    return status;
}

/* A part may be freed by its maker, and a failed call leaves x. */
static void a_sum_keeps_its_parts(void)
{
    double x[DIM] = { 3, -1, 0.5, 2 };
    const double before[DIM] = { 3, -1, 0.5, 2 };
    pn_prox *l1 = NULL, *l2 = NULL, *sum = NULL;
    pn_err err;

    CHECK(make(&l1, "l1", 1.0, &err) == PN_OK && make(&l2, "l2", 1.0, &err) == PN_OK);
    CHECK(pn_prox_sum(&sum, l1, l2, &err) == PN_OK);
    pn_prox_free(l1);
    pn_prox_free(l2);
    CHECK(pn_prox_apply(sum, x, DIM, -1.0, &err) == PN_EINVAL && memcmp(x, before, sizeof x) == 0);
    CHECK(pn_prox_apply(sum, x, DIM, 1.0, &err) == PN_OK);
    CHECK_CLOSE(x[0], 2.0 * (1.0 - 1.0 / sqrt(5.0)), 1e-15);
    CHECK_CLOSE(x[3], 1.0 - 1.0 / sqrt(5.0), 1e-15);
    CHECK(x[1] == 0.0 && x[2] == 0.0);
    pn_prox_free(sum);
}

static void groups_are_checked(void)
{
    const double weights[3] = { 1, NAN, 1 };
    pn_group_list list = { 0.5, 3, start, member, weights, DIM };
    pn_prox *prox;
    pn_err err;

    CHECK(pn_prox_groups(&prox, &list, &err) == PN_EINVAL && !prox);
    list.weight = NULL;
    list.lambda = INFINITY;
    CHECK(pn_prox_groups(&prox, &list, &err) == PN_EINVAL && !prox);
    list.lambda = 1.0;
    list.count = 0;
    CHECK(pn_prox_groups(&prox, &list, &err) == PN_EINVAL && !prox);
    list.count = 3;
    list.dim = 3;
    CHECK(pn_prox_groups(&prox, &list, &err) == PN_EDIM && !prox);
}

int main(void)
{
    a_sum_keeps_its_parts();
    groups_are_checked();
    CHECK(fail_alloc_sweep("sums", use_sums, NULL) > 8);
    CHECK(fail_alloc_sweep("groups", use_groups, NULL) > 8);
    return check_summary();
}
