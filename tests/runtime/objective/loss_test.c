/* loss_test.c -- what Lua cannot ask of losses: outputs that are not wanted, references, failing allocations.
 * Depends on: objective/loss.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "objective/loss.h"

static pn_status make_loss(void *self, pn_err *err)
{
    const pn_loss_ops *ops = self;
    pn_loss *loss = NULL;
    pn_arg args[16] = { { .given = false } };
    pn_status status = pn_loss_new(&loss, ops->name, args, err);

    pn_loss_free(loss);
    return status;
}

/* Each output alone must be what it is beside the others. */
static void test_single_outputs(const pn_loss_ops *ops)
{
    double z[600], y[600], all[3][600], one[600];
    pn_arg args[16] = { { .given = false } };
    pn_loss *loss = NULL;
    pn_err err;

    for (size_t i = 0; i < 600; i++) {
        z[i] = 0.05 * (double)i - 14.0;
        y[i] = i % 3 ? 1.0 : -1.0;
    }
    CHECK(pn_loss_new(&loss, ops->name, args, &err) == PN_OK);
    ops->evaluate(loss, 600, z, y, all[0], all[1], all[2]);
    for (int part = 0; part < 3; part++) {
        ops->evaluate(loss, 600, z, y, part == 0 ? one : NULL, part == 1 ? one : NULL, part == 2 ? one : NULL);
        CHECK(memcmp(one, all[part], sizeof one) == 0);
    }
    ops->evaluate(loss, 0, NULL, NULL, NULL, NULL, NULL);
    CHECK(pn_loss_keep(loss) == loss && loss->references == 2);
    pn_loss_free(loss);
    pn_loss_free(loss);
}

static void test_unknown_name(void)
{
    pn_loss *loss = (pn_loss *)1;
    pn_err err;

    CHECK(pn_loss_new(&loss, "cubic", NULL, &err) == PN_EUNSUPPORTED);
    CHECK(loss == NULL);
    for (size_t i = 0; pn_loss_table()[i]; i++)
        CHECK(strstr(err.message, pn_loss_table()[i]->name) != NULL);
    pn_loss_free(NULL);
}

int main(void)
{
    for (size_t i = 0; pn_loss_table()[i]; i++) {
        CHECK(fail_alloc_sweep(pn_loss_table()[i]->name, make_loss, (void *)(size_t)pn_loss_table()[i]) > 0);
        test_single_outputs(pn_loss_table()[i]);
    }
    test_unknown_name();
    return check_summary();
}
