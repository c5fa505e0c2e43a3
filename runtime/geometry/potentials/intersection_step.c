/* intersection_step.c -- the mirror step onto C n D, where Psi has a closed step x_C over C and D has a projection.
 * With phi_C(c) = max over C of <c, x> - Psi(x), whose gradient is x_C, and h_D(y) = max over D of <y, x>,
 *     max over C n D of <c, x> - Psi(x)  =  min over y of F(y) = phi_C(c - y) + h_D(y),
 * and the step is x_C(c - y) at the minimum.  For {<a, x> <= b} only y = t a, t >= 0, has a finite h: a root in t of
 * <a, x_C(c - t a)> = b, which falls in t.
 *
 * Else accelerated proximal gradients on F: Psi is m-strongly convex in a norm with ||x||_2 <= R ||x||, hence x_C has
 * the Lipschitz constant R^2/m in l2, and steps are s = m/R^2.  The proximal step of s h_D is, by Moreau,
 * u - s P_D(u/s), where h_D(y) = <y, P_D(u/s)>: no support function is asked.  Momentum restarts when F rises.  With
 * more sets each has its y, and steps are s over their number.  This is Dykstra's cycle in the geometry of Psi.
 *
 * x_C(c - y) need not be in D.  A point of C n D far inside is mixed in until it is, which for a point x^ leaves
 *     Psi(x^) - <c, x^> + F(y) >= 0
 * above the minimum, at most: weak duality.  It ends when that is as small as asked, and ||x^ - x*|| <= sqrt(2 gap/m).
 *
 * A potential that is lifted for C, theta = A x + s, has theta in D: F(y) = phi_C(c - A' y) - <y, s> + h_D(y), whose
 * first terms have the gradient -theta, and constants of Psi are those in the norm of theta.  Points far inside are
 * then mixed as weights are; such a one is where Psi is least over C, which has to be in D.
 * Depends on: intersection_step.h, set_algebra.h.  Used by: potential.c.
 * Source: Beck & Teboulle (2009); Bauschke & Lewis (2000), Dykstra's algorithm with Bregman projections; O'Donoghue &
 * Candes (2015) for restarts. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/intersection_step.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"

#define MOST_SETS     16
#define UNLIMITED     100   /* times PN_STEP_ROUNDS, without a limit */
#define TOLERANCE     1e-13 /* then asked of the scale of the terms, */
#define ACCEPTED      1e-9  /* and what will do */
#define ROUNDING      1e-15
#define INSIDE        1e-12 /* of the size: how far a point may be outside of a set */
#define HALVINGS      40
#define MOST_ROOTS    200
#define PROJECT_EVERY 25 /* rounds */

typedef struct meet {
    const pn_potential *p;
    const pn_set *set;
    const double *c;         /* [m] */
    size_t n, m;             /* entries of a point of the sets, and of x, which are the same unless lifted */
    pn_set *sets[MOST_SETS]; /* owned; the first has the closed step */
    size_t count;
    double size, modulus, asked;
    double *room;                                        /* owned; the arrays below */
    double *x, *linear, *inside, *mixed, *best, *pulled; /* [m] */
    double *theta, *d, *sum;                             /* [n] */
    double *scratch;
    double *y, *ahead, *next; /* [count - 1][n] */
} meet;

/* ---- the sets ---- */

/* The sets of an intersection and of its parts, moved as it is. */
static pn_status gather(meet *at, const pn_set *set, double factor, const double *shift, pn_err *err)
{
    double inner_factor;
    const double *inner_shift;
    const pn_set *inner = pn_set_unwrap(set, &inner_factor, &inner_shift), *parts[2];
    pn_set *whole = NULL;
    pn_status status = PN_OK;

    if (pn_set_intersection_parts(inner, &parts[0], &parts[1])) {
        PN_TRY(pn_set_moved(&whole, set, factor, shift, err)); /* a wrapper of wrappers is one */
        inner = pn_set_unwrap(whole, &inner_factor, &inner_shift);
        for (int k = 0; k < 2 && status == PN_OK; k++)
            status = gather(at, parts[k], inner_factor, inner_shift, err);
        pn_set_free(whole);
        return status;
    }
    if (at->count == MOST_SETS)
        return PN_EUNSUPPORTED;
    PN_TRY(pn_set_moved(&at->sets[at->count], set, factor, shift, err));
    at->count++;
    return PN_OK;
}

static bool lifted(const meet *at)
{
    return at->p->theta_dim > 0;
}

/* What x stands for. */
static const double *theta_of(const meet *at, const double *x)
{
    if (!lifted(at))
        return x;
    pn_potential_theta(at->p, x, at->n, at->theta, at->scratch);
    return at->theta;
}

/* x[m] = argmin over that set of Psi - <linear, .>; PN_EUNSUPPORTED unless it is a formula. */
static pn_status closed_step(const meet *at, const pn_set *set, const double *linear, double *x, pn_err *err)
{
    const pn_potential_ops *ops = at->p->ops;

    if (ops->step_within)
        return ops->step_within(at->p, set, linear, x, NULL, err);
    return ops->step ? ops->step(at->p, set, linear, x, err) : PN_EUNSUPPORTED;
}

/* The set with the closed step comes first, and x is the step over it. */
static pn_status find_closed(meet *at, pn_err *err)
{
    for (size_t k = 0; k < at->count; k++) {
        pn_status status = closed_step(at, at->sets[k], at->c, at->x, err);
        pn_set *found = at->sets[k];

        if (status == PN_EUNSUPPORTED || (status == PN_EINVAL && lifted(at)))
            continue;
        at->sets[k] = at->sets[0];
        at->sets[0] = found;
        return status;
    }
    return PN_EUNSUPPORTED;
}

static pn_status all_contain(const meet *at, const double *x, bool *inside, pn_err *err)
{
    const double *theta = theta_of(at, x);

    *inside = true;
    for (size_t k = 1; k < at->count && *inside; k++)
        PN_TRY(at->sets[k]->ops->contains(at->sets[k], theta, INSIDE * at->size, inside, err));
    return PN_OK;
}

static void close_meet(meet *at)
{
    for (size_t k = 0; k < at->count; k++)
        pn_set_free(at->sets[k]);
    pn_free(at->room);
}

static double *take(double **room, size_t count)
{
    double *taken = *room;

    *room += count;
    return taken;
}

/* R of the potential's norm; what is asked of the gap. */
static pn_status open_meet(meet *at, const pn_potential *p, const pn_set *set, const double *c, pn_err *err)
{
    size_t n = set->dim, m = p->theta_dim ? p->dim : n, all;
    double R = 1.0, *room;

    *at = (meet){ .p = p, .set = set, .c = c, .n = n, .m = m, .size = set->ops->radius(set, PN_L2) };
    PN_TRY(gather(at, set, 1.0, NULL, err));
    if (at->count < 2)
        return PN_EUNSUPPORTED;
    all = (at->count - 1) * n;
    at->room = room = pn_calloc(6 * m + 3 * n + p->room + 3 * all, sizeof *room);
    PN_TRY(pn_made(room, err, "mirror step: out of memory"));
    at->x = take(&room, m);
    at->linear = take(&room, m);
    at->inside = take(&room, m);
    at->mixed = take(&room, m);
    at->best = take(&room, m);
    at->pulled = take(&room, m);
    at->theta = take(&room, n);
    at->d = take(&room, n);
    at->sum = take(&room, n);
    at->scratch = take(&room, p->room);
    at->y = take(&room, all);
    at->ahead = take(&room, all);
    at->next = take(&room, all);
    PN_TRY(find_closed(at, err));
    PN_TRY(pn_norm_radius(p->norm, PN_L2, n, &R, err));
    at->modulus = p->strong_convexity / (R * R);
    return PN_OK;
}

/* ---- a root ---- */

typedef struct root {
    meet *at;
    const double *normal;
    double bound, way; /* way (<normal, x> - bound) is to be 0 */
} root;

/* at->x <- x_C(c - way t normal); *above: how far it is beyond the bound. */
static pn_status above_at(const root *of, double t, double *above, pn_err *err)
{
    meet *at = of->at;

    PN_TRY(pn_stop_asked(err));
    memcpy(at->linear, at->c, at->n * sizeof *at->linear);
    pn_axpy(at->n, -of->way * t, of->normal, at->linear);
    PN_TRY(closed_step(at, at->sets[0], at->linear, at->x, err));
    *above = of->way * (pn_dot(at->n, of->normal, at->x) - of->bound);
    return PN_OK;
}

/* From t = low, above by `at_low`: t doubles until x is inside, then the Illinois method, on the inner side at last. */
static pn_status find_root(const root *of, double at_low, double *above, pn_err *err)
{
    double low = 0.0, high = fmax(at_low * of->at->modulus, 1e-300), at_high = INFINITY, last = 0.0;
    int calls = 0;

    for (; calls < MOST_ROOTS && isfinite(high); calls++) {
        PN_TRY(above_at(of, high, &at_high, err));
        if (at_high <= 0.0)
            break;
        low = high;
        at_low = at_high;
        high *= 2.0;
    }
    *above = at_high;
    for (; calls < MOST_ROOTS && at_high < -ROUNDING * of->at->size && high - low > 0x1p-50 * high; calls++) {
        double t = (low * -at_high + high * at_low) / (at_low - at_high), value;

        if (!(t > low && t < high))
            t = 0.5 * (low + high);
        PN_TRY(above_at(of, t, &value, err));
        if (value > 0.0) {
            low = t;
            at_low = value;
            at_high *= last > 0.0 ? 0.5 : 1.0;
        } else {
            high = t;
            at_high = value;
            at_low *= last < 0.0 ? 0.5 : 1.0;
        }
        last = value;
    }
    return *above <= 0.0 && last > 0.0 ? above_at(of, high, above, err) : PN_OK;
}

static bool has_slab(const meet *at)
{
    const double *normal;
    double lower, upper;

    return at->count == 2 && !lifted(at) && pn_set_slab_bounds(at->sets[1], &normal, &lower, &upper);
}

/* at->x is the step over the first set.  *done: whether at->x is now that over both. */
static pn_status slab_step(meet *at, bool *done, pn_err *err)
{
    const double *normal;
    double lower, upper, height, above = 0.0;
    root of = { .at = at };

    *done = false;
    if (!has_slab(at))
        return PN_OK;
    (void)pn_set_slab_bounds(at->sets[1], &normal, &lower, &upper);
    height = pn_dot(at->n, normal, at->x);
    of.normal = normal;
    of.way = height > upper ? 1.0 : -1.0;
    of.bound = height > upper ? upper : lower;
    if (height > upper || height < lower)
        PN_TRY(find_root(&of, fabs(height - of.bound), &above, err));
    *done = above <= INSIDE * at->size;
    return PN_OK;
}

/* ---- the dual ---- */

/* at->x <- x_C(c - A' sum y), and phi_C there, less <sum y, s>. */
static pn_status step_at(meet *at, const double *y, double *phi, pn_err *err)
{
    double value = NAN;

    memcpy(at->linear, at->c, at->m * sizeof *at->linear);
    memset(at->sum, 0, at->n * sizeof *at->sum);
    for (size_t k = 0; k + 1 < at->count; k++)
        pn_axpy(at->n, 1.0, y + k * at->n, at->sum);
    pn_potential_pull(at->p, at->sum, at->n, at->pulled, at->scratch);
    pn_axpy(at->m, -1.0, at->pulled, at->linear);
    PN_TRY(closed_step(at, at->sets[0], at->linear, at->x, err));
    if (!phi)
        return PN_OK;
    PN_TRY(at->p->ops->value(at->p, at->x, at->m, &value, err));
    *phi = lifted(at) ? pn_dot(at->m, at->c, at->x) - pn_dot(at->n, at->sum, theta_of(at, at->x))
                      : pn_dot(at->m, at->linear, at->x);
    *phi -= value;
    return PN_OK;
}

/* next <- the proximal step from `ahead` along at->x; *h = the sum of h_D there. */
static pn_status proximal_step(meet *at, double *h, pn_err *err)
{
    double s = at->modulus / (double)(at->count - 1), *d = at->d;
    const double *theta = theta_of(at, at->x);

    *h = 0.0;
    for (size_t k = 1; k < at->count; k++) {
        const double *from = at->ahead + (k - 1) * at->n;
        double *to = at->next + (k - 1) * at->n;

        for (size_t j = 0; j < at->n; j++)
            d[j] = from[j] / s + theta[j];
        for (size_t j = 0; j < at->n; j++)
            to[j] = s * d[j];
        PN_TRY(pn_set_project(at->sets[k], d, at->n, err));
        pn_axpy(at->n, -s, d, to);
        *h += pn_dot(at->n, to, d);
    }
    return PN_OK;
}

/* at->mixed <- x + t (inside - x) with the least t at which it is in all sets. */
static pn_status mix(meet *at, bool *inside, pn_err *err)
{
    double low = 0.0, high = 1.0, t = 0.0;

    for (int k = 0; k <= HALVINGS + 1; k++) {
        pn_mix(at->m, t, at->inside, at->x, at->mixed);
        PN_TRY(all_contain(at, at->mixed, inside, err));
        if ((t == 0.0 && *inside) || k == HALVINGS + 1)
            return PN_OK;
        if (*inside)
            high = t;
        else
            low = t;
        t = k == HALVINGS ? high : 0.5 * (low + high);
    }
    return PN_OK;
}

/* The gap of the point at->mixed; the best one is kept. */
static pn_status judge(meet *at, double F, double *gap, pn_err *err)
{
    double value = INFINITY, mixed;

    PN_TRY(at->p->ops->value(at->p, at->mixed, at->m, &value, err));
    mixed = value - pn_dot(at->m, at->c, at->mixed) + F;
    if (!(mixed < *gap))
        return PN_OK;
    *gap = fmax(mixed, 0.0);
    memcpy(at->best, at->mixed, at->m * sizeof *at->best);
    return PN_OK;
}

/* A point near at->x that is in all sets, and its gap.  Where `inside` is at a border the projection finds one, at the
 * price of iterations of its own. */
static pn_status look(meet *at, double F, bool project, double *gap, pn_err *err)
{
    bool inside = false;

    PN_TRY(mix(at, &inside, err));
    if (inside)
        PN_TRY(judge(at, F, gap, err));
    if (*gap <= at->asked || !project || lifted(at)) /* no projection has weights */
        return PN_OK;
    memcpy(at->mixed, at->x, at->n * sizeof *at->mixed);
    PN_TRY(pn_set_project(at->set, at->mixed, at->n, err));
    return judge(at, F, gap, err);
}

/* ahead <- next + momentum (next - y), y <- next */
static void look_ahead(meet *at, double *theta)
{
    double after = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *theta * *theta)), momentum = (*theta - 1.0) / after;
    size_t all = (at->count - 1) * at->n;

    for (size_t j = 0; j < all; j++)
        at->ahead[j] = at->next[j] + momentum * (at->next[j] - at->y[j]);
    memcpy(at->y, at->next, all * sizeof *at->y);
    *theta = after;
}

/* at->best, *gap and the number of rounds; at->y is where it ended. */
static pn_status run(meet *at, size_t most, size_t *rounds, double *gap, pn_err *err)
{
    double theta = 1.0, F = INFINITY, h = 0.0, phi = 0.0;
    size_t all = (at->count - 1) * at->n;

    *gap = INFINITY;
    memcpy(at->ahead, at->y, all * sizeof *at->ahead);
    for (*rounds = 0; *rounds < most && !(*gap <= at->asked);) {
        bool last = ++*rounds == most, rises;

        PN_TRY(pn_stop_asked(err));
        PN_TRY(step_at(at, at->ahead, NULL, err));
        PN_TRY(proximal_step(at, &h, err));
        PN_TRY(step_at(at, at->next, &phi, err));
        rises = phi + h > F;
        if (rises && theta > 1.0 && !last) {
            theta = 1.0;
            memcpy(at->ahead, at->y, all * sizeof *at->ahead);
            continue;
        }
        F = phi + h;
        h -= pn_dot(at->n, at->sum, theta_of(at, at->x)); /* sum: of next */
        if (fabs(h) <= at->asked || last)
            PN_TRY(look(at, F, last || *rounds % PROJECT_EVERY == 0, gap, err));
        look_ahead(at, &theta);
    }
    return PN_OK;
}

/* at->inside <- the center, or where Psi is least over the first set. */
static pn_status find_inside(meet *at, pn_err *err)
{
    bool inside = false;

    if (!lifted(at)) {
        at->set->ops->center(at->set, at->inside);
        return PN_OK;
    }
    memset(at->linear, 0, at->m * sizeof *at->linear);
    PN_TRY(closed_step(at, at->sets[0], at->linear, at->inside, err));
    PN_TRY(all_contain(at, at->inside, &inside, err));
    return inside ? PN_OK
                  : pn_fail(err, PN_EUNSUPPORTED,
                            "mirror step: the potential %s is least at a point of %s that is not in the sets which "
                            "this meets",
                            at->p->ops->name, at->sets[0]->ops->name);
}

/* at->x is the step over the first set. */
static pn_status dual(meet *at, double *y, pn_step_limit *limit, pn_err *err)
{
    double value = 0.0, scale, gap = INFINITY;
    bool warm = limit && limit->warm && at->m >= at->n;
    size_t most = limit ? PN_STEP_ROUNDS : UNLIMITED * PN_STEP_ROUNDS, rounds = 0;

    PN_TRY(at->p->ops->value(at->p, at->x, at->m, &value, err));
    scale = fabs(value) + fabs(pn_dot(at->m, at->c, at->x));
    at->asked = fmax(limit ? limit->gap : TOLERANCE * scale, 10.0 * ROUNDING * scale);
    PN_TRY(find_inside(at, err));
    if (warm)
        memcpy(at->y, limit->warm, at->n * sizeof *at->y);
    PN_TRY(run(at, most, &rounds, &gap, err));
    if (!limit && !(gap <= ACCEPTED * scale))
        return pn_fail(err, PN_ENUMERIC, "mirror step: the gap is not below %g of its terms after %zu rounds", ACCEPTED,
                       rounds);
    memcpy(y, at->best, at->m * sizeof *y);
    if (limit) {
        limit->rounds = rounds;
        limit->reached = gap <= at->asked ? 0.0 : gap;
    }
    if (warm)
        memcpy(limit->warm, at->y, at->n * sizeof *limit->warm);
    for (size_t k = 1; warm && k + 1 < at->count; k++)
        pn_axpy(at->n, 1.0, at->y + k * at->n, limit->warm);
    return PN_OK;
}

pn_status pn_dual_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_step_limit *limit,
                       pn_err *err)
{
    meet at;
    pn_status status = open_meet(&at, p, set, c, err);

    if (status == PN_OK)
        status = dual(&at, y, limit, err);
    close_meet(&at);
    return status;
}

pn_status pn_intersection_step(const pn_potential *p, const pn_set *set, const double *c, double *y,
                               pn_step_limit *limit, pn_err *err)
{
    meet at;
    bool done = false;
    pn_status status = open_meet(&at, p, set, c, err);

    if (status == PN_OK)
        status = all_contain(&at, at.x, &done, err);
    if (status == PN_OK && !done)
        status = slab_step(&at, &done, err);
    if (status == PN_OK && done) {
        memcpy(y, at.x, at.m * sizeof *y);
        if (limit)
            limit->rounds = has_slab(&at) ? 0 : 1;
    }
    if (status == PN_OK && !done)
        status = find_closed(&at, err); /* which the root has moved */
    if (status == PN_OK && !done)
        status = dual(&at, y, limit, err);
    close_meet(&at);
    return status;
}
