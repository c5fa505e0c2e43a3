/* question_hvp.c -- the Hessian of the mean loss times a vector, and the difference of two mean gradients.
 *
 * Hessian.  A record's part is A v, A its Hessian, of operator norm at most L, the certified smoothness of every loss.
 * Replacing a record by one with the Hessian B moves the sum by (A - B) v: at most 2 L ||v||, and at most L ||v|| where
 * the loss is convex, since then -L <= -B <= A - B <= A <= L.  Leaving one out moves it by L ||v||.  So the noise for
 * ||v|| = 1 is multiplied by ||v||, which is public.
 *
 * Difference.  Every record's part is clipped to tau = min(reach L ||x - v||, 2 G); the noise for tau = 1 is multiplied
 * by tau.
 * Depends on: question.h, geometry/kernels/upper.h.  Used by: question.c's table. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/upper.h"
#include "oracle/question.h"

static pn_status need_smooth(const pn_question *self, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);

    if (self->exact || (bounds->loss.smooth && isfinite(bounds->loss_smoothness) && bounds->loss_smoothness > 0.0))
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "%s: every record's loss must be smooth with a certified constant, and that of %s is %g; take a "
                   "smooth loss, or " PN_HOW_TO_BOUND_ROWS,
                   self->ops->name, pn_objective_loss(self->objective)->name, bounds->loss_smoothness);
}

/* ---- hvp ---- */

/* Whether r has a Hessian is seen by asking: said before anything is paid. */
static pn_status check_regulariser(const pn_question *self, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->objective);
    size_t dim = pn_objective_dim(self->objective);
    pn_status status;
    double *room;

    if (!reg)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&room, 2 * dim, err, "hvp: out of memory"));
    status = reg->ops->curve(reg, dim, room, room, room + dim, err);
    pn_free(room);
    return status;
}

static pn_status certify_hvp(pn_question *self, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    size_t inputs = pn_loss_inputs(pn_objective_loss(self->objective));
    /* the coins of a record and of what replaces it are two: each decides about a whole contribution */
    bool coins = self->scheme && strcmp(self->scheme, "poisson") == 0;
    bool halved = bounds->loss.convex && self->neighbours == PN_REPLACE_ONE && !coins;

    PN_TRY(need_smooth(self, err));
    if (inputs > 1 && !self->exact) /* second derivatives of several inputs are not clamped in products */
        return pn_fail(err, PN_EUNSUPPORTED, "hvp: the loss must have one margin, and %s has %zu inputs; ask hessian",
                       pn_objective_loss(self->objective)->name, inputs);
    if (pn_objective_clip(self->objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "hvp: clipped gradients have no Hessian-vector products; leave clip out");
    PN_TRY(check_regulariser(self, err));
    self->dim = pn_objective_dim(self->objective);
    self->room = pn_objective_data(self->objective)->n;
    self->basis.rule = "smoothness";
    PN_TRY(pn_question_batches(self, self->exact ? 1.0 : bounds->loss_smoothness, err));
    if (!halved)
        return PN_OK;
    self->batches.contribution /= 2.0;
    self->basis.value -= self->basis.contributions / 2.0 * self->basis.contribution;
    self->basis.contributions /= 2.0;
    return PN_OK;
}

static double length(const pn_question *self, const pn_asked *asked)
{
    return pn_norm_upper(PN_L2, asked->v, pn_objective_dim(self->objective));
}

static pn_status compute_hvp(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                             double *value, double *out, pn_task *task, pn_err *err)
{
    pn_batch all = { .count = pn_objective_data(self->objective)->n, .denominator = 1.0 };

    (void)value;
    if (!batch->rows)
        all.rows = pn_question_everybody(self, room);
    return pn_objective_hessian_times(self->objective, batch->rows ? batch : &all, asked->x, asked->v, out, task, err);
}

const pn_question_ops pn_question_hvp = {
    .name = "hvp",
    .doc = "The Hessian of the mean loss at x times v, with Gaussian noise in proportion to ||v||.",
    .source = "sensitivity 2 L ||v||/n, half of it for convex losses",
    .answer = PN_ANSWER_NUMBERS,
    .two = true,
    .batches = true,
    .certify = certify_hvp,
    .compute = compute_hvp,
    .scale = length,
};

/* ---- difference ----
 * Scratch: the factors of every record at v, as long as v stays the same; v; whether there is one; and the numbers of
 * the records, where all are asked. */

static size_t inputs_of(const pn_question *self)
{
    return pn_loss_inputs(pn_objective_loss(self->objective));
}

void pn_difference_layout(const pn_question *self, size_t *room)
{
    size_t n = pn_objective_data(self->objective)->n;

    *room = n * inputs_of(self) + self->dim + 1 + (self->scheme ? 0 : n);
}

double *pn_difference_factors(const pn_question *self, double *room, const double *v)
{
    double *kept = room + pn_objective_data(self->objective)->n * inputs_of(self);

    memcpy(kept, v, self->dim * sizeof *kept);
    kept[self->dim] = 1.0;
    return room;
}

static pn_status certify_difference(pn_question *self, pn_err *err)
{
    PN_TRY(need_smooth(self, err));
    if (self->reach == 0.0)
        self->reach = 1.0;
    if (!(self->reach > 0.0 && isfinite(self->reach)))
        return pn_fail(err, PN_EINVAL, "difference: reach must be a positive number, got %g", self->reach);
    self->dim = pn_objective_dim(self->objective);
    self->looks = 2;
    pn_difference_layout(self, &self->room);
    return pn_question_batches(self, 1.0, err);
}

static double reach_of(const pn_question *self, const pn_asked *asked)
{
    const pn_bounds *bounds = pn_objective_bounds(self->objective);
    size_t dim = pn_objective_dim(self->objective);
    double squares = 0.0;

    if (asked->tau > 0.0)
        return asked->tau;
    for (size_t j = 0; j < dim; j++)
        squares += (asked->x[j] - asked->v[j]) * (asked->x[j] - asked->v[j]);
    return fmin(2.0 * bounds->lipschitz[PN_L2], self->reach * bounds->loss_smoothness * sqrt(squares));
}

static pn_status compute_difference(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                                    double *value, double *out, pn_task *task, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n;
    pn_batch all = { .count = n, .denominator = 1.0 };
    double *kept = room + n * inputs_of(self);

    (void)value;
    if (!batch->rows)
        all.rows = pn_question_everybody(self, kept + self->dim + 1);
    if (kept[self->dim] != 1.0 || memcmp(kept, asked->v, self->dim * sizeof *kept) != 0) {
        kept[self->dim] = 0.0;
        PN_TRY(pn_objective_factors(self->objective, asked->v, NULL, room, task, err));
        (void)pn_difference_factors(self, room, asked->v);
    }
    return pn_objective_batch_differences(self->objective, batch->rows ? batch : &all, asked->x, room,
                                          self->exact ? INFINITY : reach_of(self, asked), out, task, err);
}

const pn_question_ops pn_question_difference = {
    .name = "difference",
    .doc = "The mean gradient at x less that at v, every record's part clipped to reach L ||x - v||.",
    .source = "Wang, Ye, Xu (2017), with the clip",
    .answer = PN_ANSWER_NUMBERS,
    .two = true,
    .batches = true,
    .certify = certify_difference,
    .compute = compute_difference,
    .scale = reach_of,
};
