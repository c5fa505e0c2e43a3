/* black_box_loss.c -- l(theta, x, y) as a callback: nothing is known of its inside,
 * so it has values and no derivatives.
 * Depends on: loss.h.  Used by: objective.c, bindings. */
#include <math.h>

#include "core/alloc.h"
#include "objective/losses/loss.h"

typedef struct black_box {
    pn_loss base;
    pn_record_fn values;
    void (*release)(void *self);
    void *self;
    double lipschitz;
} black_box;

static void black_box_destroy(pn_loss *loss)
{
    black_box *self = (black_box *)loss;

    if (self->release)
        self->release(self->self);
    pn_free(self);
}

static const pn_loss_ops black_box_ops = {
    .name = "black_box",
    .doc = "A loss that is called back for every record; it has values, no derivatives.",
    .source = "Zhang, Tran, Cutkosky (2024) train on such losses",
    .destroy = black_box_destroy,
};

pn_status pn_loss_black_box(pn_loss **out, pn_record_fn values, void (*release)(void *self), void *self, size_t dim,
                            double lipschitz, pn_err *err)
{
    black_box *loss;

    if (!(lipschitz >= 0.0) || isinf(lipschitz))
        return pn_fail(err, PN_EINVAL, "loss.black_box: lipschitz must be a positive number, got %g", lipschitz);
    PN_TRY(pn_new_zeroed(&loss, 1, err, "loss.black_box: out of memory"));
    *loss = (black_box){ .values = values, .release = release, .self = self, .lipschitz = lipschitz };
    pn_loss_init(&loss->base, &black_box_ops, &black_box_ops);
    loss->base.dim = dim;
    *out = &loss->base;
    return PN_OK;
}

pn_record_fn pn_loss_record(const pn_loss *loss, void **self, double *lipschitz)
{
    const black_box *box = (const black_box *)loss;

    if (loss->ops != &black_box_ops)
        return NULL;
    *self = box->self;
    *lipschitz = box->lipschitz;
    return box->values;
}
