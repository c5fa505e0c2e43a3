/* loss_test.c -- what Lua cannot ask of losses: outputs that are not wanted, references, failing allocations.
 * Depends on: objective/losses/loss.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "objective/losses/loss.h"

/* What a loss has no default for. */
static void require_options(const pn_loss_ops *ops, pn_arg *args)
{
    for (size_t i = 0; ops->params && ops->params[i].name; i++) {
        if (ops->params[i].need != PN_REQUIRED)
            continue;
        args[i].given = true;
        args[i].real = 0.25;
        args[i].count = 3;
    }
}

static pn_status make_loss(void *self, pn_err *err)
{
    const pn_loss_ops *ops = self;
    pn_loss *loss = NULL;
    pn_arg args[16] = { { .given = false } };
    pn_status status;

    require_options(ops, args);
    status = pn_loss_from_args(&loss, ops->name, args, err);
    pn_loss_free(loss);
    return status;
}

/* Bounds found, and those found with memory to spare. */
typedef struct certificate {
    const pn_loss_ops *ops;
    pn_loss_bounds found;
} certificate;

static pn_status certify_loss(void *ud, pn_err *err)
{
    certificate *self = ud;
    pn_loss *loss = NULL;
    pn_arg args[16] = { { .given = false } };
    pn_status status;

    require_options(self->ops, args);
    memset(&self->found, 0, sizeof self->found);
    status = pn_loss_from_args(&loss, self->ops->name, args, err);
    if (status == PN_OK)
        status = pn_loss_certify(loss, (pn_interval){ -1.0, 2.0 }, (pn_interval){ -1.0, 1.0 }, &self->found, err);
    pn_loss_free(loss);
    return status;
}

/* Where memory runs out there are no bounds, or the very same ones: only the text may lack a part. */
static void test_certify_without_memory(const pn_loss_ops *ops)
{
    certificate want = { .ops = ops }, got = { .ops = ops };
    fail_alloc count = { .fail_at = 0 };

    CHECK(fail_alloc_run(&count, certify_loss, &want) == PN_OK);
    for (long k = 1, last = count.calls; k <= last; k++) {
        fail_alloc round = { .fail_at = k };
        pn_status status = fail_alloc_run(&round, certify_loss, &got);

        CHECK(round.live == 0);
        memset(got.found.missing, 0, sizeof got.found.missing);
        memset(want.found.missing, 0, sizeof want.found.missing);
        CHECK(status == PN_ENOMEM || (status == PN_OK && memcmp(&got.found, &want.found, sizeof got.found) == 0));
    }
}

/* Each output alone must be what it is beside the others. */
static void test_single_outputs(const pn_loss_ops *ops)
{
    enum { N = PN_LOSS_BLOCK, K = 3 };
    static double z[K * N], along[K * N], y[N], value[2][N], slope[2][K * N];
    pn_arg args[16] = { { .given = false } };
    pn_loss *loss = NULL;
    size_t slopes;
    pn_err err;

    require_options(ops, args);
    CHECK(pn_loss_from_args(&loss, ops->name, args, &err) == PN_OK);
    for (size_t i = 0; i < K * N; i++) {
        z[i] = 0.05 * (double)i - 14.0;
        along[i] = 1.0;
    }
    for (size_t i = 0; i < N; i++)
        y[i] = i % 3 || loss->margins > 1 ? 1.0 : -1.0;
    slopes = loss->margins * N * sizeof(double);
    loss->ops->evaluate(loss, N, z, y, value[0], slope[0]);
    loss->ops->evaluate(loss, N, z, y, value[1], NULL);
    loss->ops->evaluate(loss, N, z, y, NULL, slope[1]);
    loss->ops->evaluate(loss, N, z, y, NULL, NULL);
    CHECK(memcmp(value[0], value[1], sizeof value[0]) == 0);
    CHECK(memcmp(slope[0], slope[1], slopes) == 0);
    loss->ops->evaluate(loss, 0, z, y, value[1], slope[1]);
    loss->ops->curve(loss, 0, z, y, along, slope[1]);
    CHECK(memcmp(value[0], value[1], sizeof value[0]) == 0 && memcmp(slope[0], slope[1], slopes) == 0);
    CHECK(pn_loss_keep(loss) == loss && loss->references == 2);
    pn_loss_free(loss);
    pn_loss_free(loss);
}

static void test_unknown_name(void)
{
    pn_loss *loss = (pn_loss *)1;
    pn_err err;

    CHECK(pn_loss_from_args(&loss, "cubic", NULL, &err) == PN_EUNSUPPORTED);
    CHECK(loss == NULL);
    CHECK(strstr(err.message, "pn_loss_from_args: there is no loss \"cubic\"; known are squared, ") != NULL);
    for (size_t i = 0; pn_loss_table()[i]; i++)
        CHECK(strstr(err.message, pn_loss_table()[i]->name) != NULL);
    pn_loss_free(NULL);
}

int main(void)
{
    for (size_t i = 0; pn_loss_table()[i]; i++) {
        CHECK(fail_alloc_sweep(pn_loss_table()[i]->name, make_loss, (void *)(size_t)pn_loss_table()[i]) > 0);
        test_certify_without_memory(pn_loss_table()[i]);
        test_single_outputs(pn_loss_table()[i]);
    }
    test_unknown_name();
    return check_summary();
}
