/* potential_composed.c -- potentials of sets made of sets: each part has its own, on points of its own, and one
 * gradient moves them all.
 *     C x D     Psi(x, y) = v Psi_C(x) + w Psi_D(y), theta = (x, y);
 *     C + D     the same, theta = x + y: both terms see the same gradient;
 *     A C + s   Psi_C(x), theta = A x + s: x sees A' g.
 * The step of each part is its own, with what it sees over its weight for a linear term.
 *
 * Constants, in squared norms: the norm of Psi has v ||x||_C^2 + w ||y||_D^2, of a sum its least over x + y = theta, of
 * an image the least ||x||_C^2 over A x = theta, whose unit ball is the image of that of C.
 * Ranges: D2 = v D2_C + w D2_D.  Noise: phi(c, d) = v phi_C(c/v) + w phi_D(d/w), whose Hessian is that of phi_C over v
 * and that of phi_D over w, so that K = K_C/v + K_D/w; for a sum, where both terms have the same c, the Hessians add
 * up, and their traces too.  D2 K is least for v = sqrt(K_C/D2_C), w = sqrt(K_D/D2_D):
 *     sqrt(D2 K) = sqrt(D2_C K_C) + sqrt(D2_D K_D),
 * costs add up, as widths do.  A part of one point, D2 = 0, moves nowhere: its K is 0, and its weight the other's.
 * Of an image phi(g) = phi_C(A' g), whose Hessian is A (Hess phi_C) A': K is the trace of that
 * (pn_potential_trace_through), and weights of parts inside are those for what is seen through A.
 * Depends on: potential.h, set_algebra.h.  Used by: potential_for_set.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"

typedef enum kind { NO_PARTS, PRODUCT, SUM, IMAGE } kind;

static const char *const names[] = { "", "product", "sum", "image" };

/* What a set is made of. */
typedef struct makeup {
    kind kind;
    size_t count;
    pn_set *part[2]; /* owned; scaled as the set is, of a product or sum shifted, too */
    pn_mat A;        /* of an image, borrowed, as is the shift, which is NULL for none */
    const double *shift;
} makeup;

typedef struct composed {
    pn_potential base;
    pn_potential_ops ops;  /* base.ops points here */
    pn_set *set;           /* kept: what it was made for */
    makeup of;             /* what that is made of */
    pn_potential *part[2]; /* owned */
    size_t size[2];        /* entries of a point of each */
    size_t theta[2];       /* and of what it stands for */
    double weight[2];
} composed;

static const composed *as_composed(const pn_potential *self)
{
    return (const composed *)self;
}

/* ---- what sets are made of ---- */

static void drop(makeup *of)
{
    pn_set_free(of->part[0]);
    pn_set_free(of->part[1]);
}

/* To be dropped, also after a failure. */
static pn_status take_apart(makeup *of, const pn_set *set, pn_err *err)
{
    double factor;
    const double *shift;
    const pn_set *parts[2], *inner = pn_set_unwrap(set, &factor, &shift);

    *of = (makeup){ .kind = NO_PARTS };
    if (pn_set_image_parts(inner, &parts[0], &of->A)) {
        of->kind = IMAGE;
        of->count = 1;
        of->shift = shift;
        return pn_set_moved(&of->part[0], parts[0], factor, NULL, err);
    }
    if (!pn_set_sum_parts(inner, &parts[0], &parts[1]) && !pn_set_product_parts(inner, &parts[0], &parts[1]))
        return PN_OK;
    of->kind = pn_set_sum_parts(inner, &parts[0], &parts[1]) ? SUM : PRODUCT;
    of->count = 2;
    PN_TRY(pn_set_moved(&of->part[0], parts[0], factor, shift, err));
    return pn_set_moved(&of->part[1], parts[1], factor, of->kind == SUM || !shift ? NULL : shift + parts[0]->dim, err);
}

static bool same_numbers(const double *a, const double *b, size_t n)
{
    return a == b || (a && b && memcmp(a, b, n * sizeof *a) == 0);
}

/* The parts may be others, of the same dimensions, the map and its shift not. */
static bool same_kind(const makeup *a, const makeup *b)
{
    if (a->kind != b->kind || a->part[0]->dim != b->part[0]->dim)
        return false;
    return a->kind != IMAGE || (a->A.rows == b->A.rows && same_numbers(a->A.data, b->A.data, a->A.rows * a->A.cols) &&
                                same_numbers(a->shift, b->shift, a->A.rows));
}

/* What a set that it fits is made of, to be dropped, also after a failure. */
static pn_status parts_of(makeup *out, const composed *self, const pn_set *set, pn_err *err)
{
    if (set == self->set) {
        *out = self->of;
        for (size_t k = 0; k < out->count; k++)
            (void)pn_set_keep(out->part[k]);
        return PN_OK;
    }
    PN_TRY(take_apart(out, set, err));
    if (same_kind(out, &self->of))
        return PN_OK;
    return self->base.theta_dim ? pn_fail(err, PN_EINVAL, "the potential of %s %s: the set %s is not one of such parts",
                                          self->of.kind == IMAGE ? "an" : "a", self->ops.name, set->ops->name)
                                : PN_EUNSUPPORTED;
}

/* Where the theta of part k begins in that of the whole. */
static size_t theta_at(const makeup *of, int k)
{
    return of->kind == PRODUCT && k == 1 ? of->part[0]->dim : 0;
}

/* *out: what part k is seen through where the whole is seen through A (data NULL: as it is), with *room to be freed. */
static pn_status seen_through(pn_mat *out, double **room, const makeup *of, int k, pn_mat A, pn_err *err)
{
    size_t first = theta_at(of, k);

    *room = NULL;
    *out = A.data ? A : of->A;
    if (!A.data || of->kind == SUM)
        return PN_OK;
    *out = (pn_mat){ .rows = A.rows, .cols = of->part[k]->dim };
    PN_TRY(pn_new(room, out->rows * out->cols, err, "potential: out of memory"));
    out->data = *room;
    if (of->kind == IMAGE)
        return pn_mat_times_mat(*out, A, of->A, err);
    for (size_t i = 0; i < A.rows; i++)
        memcpy(*room + i * out->cols, A.data + i * A.cols + first, out->cols * sizeof **room);
    return PN_OK;
}

static void composed_destroy(pn_potential *potential)
{
    composed *self = (composed *)potential;

    pn_potential_free(self->part[0]);
    pn_potential_free(self->part[1]);
    drop(&self->of);
    pn_set_free(self->set);
    pn_free(self);
}

/* ---- entry by entry ---- */

static pn_status composed_value(const pn_potential *potential, const double *x, size_t n, double *value, pn_err *err)
{
    const composed *self = as_composed(potential);
    double one = 0.0;

    (void)n;
    *value = 0.0;
    for (size_t k = 0; k < self->of.count; x += self->size[k], k++) {
        PN_TRY(self->part[k]->ops->value(self->part[k], x, self->size[k], &one, err));
        *value += self->weight[k] * one;
    }
    return PN_OK;
}

static pn_status composed_gradient(const pn_potential *potential, const double *x, size_t n, double *out, pn_err *err)
{
    const composed *self = as_composed(potential);

    (void)n;
    for (size_t k = 0; k < self->of.count; x += self->size[k], out += self->size[k], k++) {
        PN_TRY(self->part[k]->ops->gradient(self->part[k], x, self->size[k], out, err));
        for (size_t j = 0; j < self->size[k]; j++)
            out[j] *= self->weight[k];
    }
    return PN_OK;
}

static pn_status composed_inverse(const pn_potential *potential, const double *u, size_t n, double *out, pn_err *err)
{
    const composed *self = as_composed(potential);

    (void)n;
    for (size_t k = 0; k < self->of.count; u += self->size[k], out += self->size[k], k++) {
        for (size_t j = 0; j < self->size[k]; j++)
            out[j] = u[j] / self->weight[k];
        PN_TRY(self->part[k]->ops->inverse_gradient(self->part[k], out, self->size[k], out, err));
    }
    return PN_OK;
}

/* ---- over a set ---- */

/* What may be missing is shared by the parts. */
static pn_status step_part(const composed *self, size_t k, const pn_set *set, size_t at, const double *c, double *x,
                           pn_step_limit *limit, pn_err *err)
{
    double w = self->weight[k];
    pn_step_limit own = { 0 };

    if (limit)
        own = (pn_step_limit){ .gap = limit->gap / (double)self->of.count / w,
                               .warm = limit->warm ? limit->warm + at : NULL };
    for (size_t j = at; j < at + self->size[k]; j++)
        x[j] = c[j] / w;
    PN_TRY(pn_potential_step_within(self->part[k], set, x + at, x + at, limit ? &own : NULL, err));
    if (limit)
        *limit = (pn_step_limit){ .gap = limit->gap,
                                  .warm = limit->warm,
                                  .rounds = limit->rounds + own.rounds,
                                  .reached = limit->reached + w * own.reached };
    return PN_OK;
}

static pn_status composed_step(const pn_potential *potential, const pn_set *set, const double *c, double *x,
                               pn_step_limit *limit, pn_err *err)
{
    const composed *self = as_composed(potential);
    makeup of;
    pn_status status = parts_of(&of, self, set, err);

    for (size_t k = 0; k < self->of.count && status == PN_OK; k++)
        status = step_part(self, k, of.part[k], k ? self->size[0] : 0, c, x, limit, err);
    drop(&of);
    return status;
}

/* Of one part, seen through A as the whole is.  *trace: 0 for a set of one point; NULL: not asked for. */
static pn_status measure_part(const pn_potential *part, const makeup *of, int k, pn_mat A, double *range, double *trace,
                              pn_err *err)
{
    pn_mat seen;
    double *room = NULL;
    pn_status status;

    PN_TRY(pn_potential_range(part, of->part[k], range, err));
    if (!trace)
        return PN_OK;
    *trace = 0.0;
    if (!(*range > 0.0))
        return PN_OK;
    status = seen_through(&seen, &room, of, k, A, err);
    if (status == PN_OK)
        status = pn_potential_trace_through(part, of->part[k], seen, trace, err);
    pn_free(room);
    return status;
}

static pn_status composed_range(const pn_potential *potential, const pn_set *set, double *range, pn_err *err)
{
    const composed *self = as_composed(potential);
    pn_mat as_it_is = { .data = NULL };
    makeup of;
    double D2 = 0.0;
    pn_status status = parts_of(&of, self, set, err);

    *range = 0.0;
    for (int k = 0; k < (int)self->of.count && status == PN_OK; k++) {
        status = measure_part(self->part[k], &of, k, as_it_is, &D2, NULL, err);
        *range = pn_potential_up(*range + self->weight[k] * D2);
    }
    drop(&of);
    return status;
}

static pn_status composed_trace(const pn_potential *potential, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    const composed *self = as_composed(potential);
    makeup of;
    double D2 = 0.0, K = 0.0;
    pn_status status = parts_of(&of, self, set, err);

    *trace = 0.0;
    for (int k = 0; k < (int)self->of.count && status == PN_OK; k++) {
        status = measure_part(self->part[k], &of, k, A, &D2, &K, err);
        *trace = pn_potential_up(*trace + K / self->weight[k]);
    }
    drop(&of);
    return status;
}

/* ---- lifted ---- */

/* theta += the theta of part k */
static void add_part(const composed *self, size_t k, const double *x, double *theta, double *room)
{
    if (self->part[k]->theta_dim)
        self->part[k]->ops->add_theta(self->part[k], x, theta, room);
    else
        pn_axpy(self->size[k], 1.0, x, theta);
}

static void composed_add_theta(const pn_potential *potential, const double *x, double *theta, double *room)
{
    const composed *self = as_composed(potential);

    for (int k = 0; k < 2; x += self->size[k], k++)
        add_part(self, (size_t)k, x, theta + theta_at(&self->of, k), room);
}

static void composed_pull(const pn_potential *potential, const double *g, double *out, double *room)
{
    const composed *self = as_composed(potential);

    for (int k = 0; k < 2; out += self->size[k], k++)
        pn_potential_pull(self->part[k], g + theta_at(&self->of, k), self->theta[k], out, room);
}

static void image_add_theta(const pn_potential *potential, const double *x, double *theta, double *room)
{
    const composed *self = as_composed(potential);
    pn_mat A = self->of.A;

    if (self->part[0]->theta_dim) {
        memset(room, 0, A.cols * sizeof *room);
        self->part[0]->ops->add_theta(self->part[0], x, room, room + A.cols);
        x = room;
    }
    for (size_t i = 0; i < A.rows; i++)
        theta[i] += pn_dot(A.cols, A.data + i * A.cols, x) + (self->of.shift ? self->of.shift[i] : 0.0);
}

static void image_pull(const pn_potential *potential, const double *g, double *out, double *room)
{
    const composed *self = as_composed(potential);
    pn_mat A = self->of.A;
    double *pulled = self->part[0]->theta_dim ? room : out;

    memset(pulled, 0, A.cols * sizeof *pulled);
    for (size_t i = 0; i < A.rows; i++)
        pn_axpy(A.cols, g[i], A.data + i * A.cols, pulled);
    if (pulled != out)
        self->part[0]->ops->pull(self->part[0], pulled, out, room + A.cols);
}

static void composed_describe(const pn_potential *potential, char *text, size_t size)
{
    const composed *self = as_composed(potential);
    char inner[200];

    pn_potential_describe(self->part[0], inner, sizeof inner);
    if (self->of.kind == IMAGE)
        (void)snprintf(text, size, "image(%s)", inner);
    else
        (void)snprintf(text, size, "%s(%.4g %s, %.4g %s)", self->ops.name, self->weight[0], self->part[0]->ops->name,
                       self->weight[1], self->part[1]->ops->name);
}

/* ---- creation ---- */

static const pn_potential_ops composed_ops = {
    .doc = "A potential for each part of a set, with weights at which noise costs least.",
    .source = "Costs of products add up as Gaussian widths do",
    .destroy = composed_destroy,
    .value = composed_value,
    .gradient = composed_gradient,
    .inverse_gradient = composed_inverse,
    .step_within = composed_step,
    .range = composed_range,
    .trace_through = composed_trace,
    .describe = composed_describe,
};

/* *known: whether the parts have ranges, and an image more than one point */
static pn_status find_weights(composed *self, pn_mat A, bool *known, pn_err *err)
{
    double range[2], trace[2];

    for (int k = 0; k < (int)self->of.count; k++) {
        pn_status status = measure_part(self->part[k], &self->of, k, A, &range[k], &trace[k], err);

        *known = status != PN_EUNSUPPORTED;
        if (status != PN_OK)
            return *known ? status : PN_OK;
        self->weight[k] = range[k] > 0.0 ? sqrt(trace[k] / range[k]) : 0.0;
    }
    if (self->of.kind == IMAGE) {
        *known = trace[0] > 0.0;
        self->weight[0] = 1.0;
        return PN_OK;
    }
    for (int k = 0; k < 2; k++) {
        if (!(self->weight[k] > 0.0))
            self->weight[k] = self->weight[1 - k] > 0.0 ? self->weight[1 - k] : 1.0;
    }
    return PN_OK;
}

/* The norm that the joined unit balls of the parts' norms have, or the image of the one. */
static pn_status find_norm(const composed *self, pn_norm **norm, pn_err *err)
{
    pn_set *balls[2] = { NULL, NULL }, *ball = NULL;
    double weight[2];
    pn_status status = PN_OK;

    for (size_t k = 0; k < self->of.count && status == PN_OK; k++) {
        weight[k] = self->weight[k] * self->part[k]->strong_convexity;
        status = pn_norm_ball(&balls[k], self->part[k]->norm, self->theta[k], err);
    }
    if (status == PN_OK && self->of.kind == IMAGE)
        status = pn_set_image(&ball, balls[0], self->of.A, err);
    else if (status == PN_OK)
        status = pn_set_joined(&ball, balls[0], balls[1], weight, self->of.kind == SUM, err);
    if (status == PN_OK)
        status = pn_norm_minkowski(norm, ball, err);
    pn_set_free(ball);
    pn_set_free(balls[0]);
    pn_set_free(balls[1]);
    return status;
}

static bool has_lifted_part(const composed *self)
{
    return self->part[0]->theta_dim || (self->part[1] && self->part[1]->theta_dim);
}

static pn_status fill(composed *self, pn_err *err)
{
    pn_potential_ops *ops = &self->ops;
    bool image = self->of.kind == IMAGE, inverse = true, sums = false;
    pn_norm *norm = NULL;
    size_t size = 0, room = 0;

    for (size_t k = 0; k < self->of.count; k++) {
        const pn_potential *part = self->part[k];

        self->theta[k] = self->of.part[k]->dim;
        self->size[k] = part->theta_dim ? part->dim : self->theta[k];
        size += self->size[k];
        room = part->room > room ? part->room : room;
        inverse = inverse && part->ops->inverse_gradient;
        sums = sums || part->keeps_sums;
    }
    PN_TRY(find_norm(self, &norm, err));
    *ops = composed_ops;
    ops->name = names[self->of.kind];
    if (!inverse)
        ops->inverse_gradient = NULL;
    pn_potential_init(&self->base, ops, size, image ? self->part[0]->strong_convexity : 1.0, norm);
    self->base.keeps_sums = sums;
    if (self->of.kind == PRODUCT && !has_lifted_part(self))
        return PN_OK;
    self->base.theta_dim = self->set->dim;
    self->base.room = room + (image && has_lifted_part(self) ? self->theta[0] : 0);
    ops->add_theta = image ? image_add_theta : composed_add_theta;
    ops->pull = image ? image_pull : composed_pull;
    return PN_OK;
}

pn_status pn_potential_composed(pn_potential **out, pn_set *set, pn_mat A, pn_part_potential fitting, pn_err *err)
{
    bool known = false;
    composed *self;
    pn_status status;

    *out = NULL;
    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.for_set: out of memory"));
    self->set = pn_set_keep(set);
    status = take_apart(&self->of, set, err);
    for (int k = 0; k < (int)self->of.count && status == PN_OK; k++) {
        pn_mat seen;
        double *room = NULL;

        status = seen_through(&seen, &room, &self->of, k, A, err);
        if (status == PN_OK)
            status = fitting(&self->part[k], self->of.part[k], seen, err);
        pn_free(room);
    }
    if (status == PN_OK && self->of.kind != NO_PARTS)
        status = find_weights(self, A, &known, err);
    if (status == PN_OK && known)
        status = fill(self, err);
    if (status == PN_OK && known)
        *out = &self->base;
    else
        composed_destroy(&self->base);
    return status;
}
