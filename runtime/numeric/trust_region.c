/* trust_region.c -- min g^T h + h^T A h/2 over ||h|| <= radius.
 *
 * With A = Q diag(l) Q^T, b = Q^T g and h = Q u: u_i = -b_i/(l_i + lambda).  lambda = base + t, base = max(0, -l_1), is
 * found through t, and l_i + lambda as (l_i + base) + t: near the hard case t is tiny beside l_1, and every digit of it
 * counts.  All is solved for u/2^a, scaled by powers of two so that nothing overflows or is lost, and scaled back.
 * Depends on: trust_region.h, symmetric.h, lapack.h, root.h, blas.h, simd.h.  Used by: solvers.
 * Source: More, Sorensen (1983); Conn, Gould, Toint (2000), chapter 7. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/view.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"
#include "numeric/symmetric.h"
#include "numeric/trust_region.h"

typedef struct problem {
    size_t n;
    double *l;                 /* [n] eigenvalues; then l_i + base, >= 0 */
    double *b;                 /* [n] parts of g */
    double *u;                 /* [n] the solution */
    double *Q;                 /* [n * n] eigenvectors in rows */
    double radius;             /* in [1/2, 1) */
    double base;               /* max(0, -l_1) */
    int l_at, b_at, radius_at; /* the exponents of two that were taken out of A, g and radius */
} problem;

static int exponent_of(double x)
{
    int exponent;

    (void)frexp(x, &exponent);
    return exponent;
}

static double length(size_t n, const double *u)
{
    return pn_lp_norm(PN_L2, n, u);
}

/* u(t); 0/0 is 0. */
static double fill(problem *self, double t)
{
    for (size_t i = 0; i < self->n; i++)
        self->u[i] = self->b[i] == 0.0 ? 0.0 : -self->b[i] / (self->l[i] + t); /* both are 0: infinite, and too long */
    return length(self->n, self->u);
}

/* 1/||u(t)|| - 1/radius rises and is nearly a straight line. */
static double excess(void *self, double t, double *slope)
{
    problem *p = self;
    double size = fill(p, t), sum = 0.0;

    for (size_t i = 0; i < p->n; i++) {
        double unit = p->u[i] / size;

        if (unit != 0.0)
            sum += unit * unit / (p->l[i] + t);
    }
    *slope = sum / size;
    return 1.0 / size - 1.0 / p->radius;
}

/* ||u(t)|| >= |b_i|/(l_i + t) for each i, and is between ||b||/(l_n + t) and ||b||/(l_1 + t). */
static double solve_boundary(problem *self)
{
    double size = length(self->n, self->b), high = size / self->radius - self->l[0], low = 0.0, t;

    for (size_t i = 0; i < self->n; i++)
        low = fmax(low, fabs(self->b[i]) / self->radius - self->l[i]);
    low = fmax(low, size / self->radius - self->l[self->n - 1]);
    t = pn_newton(excess, self, low, fmax(low, high));
    size = fill(self, t);
    for (size_t i = 0; i < self->n; i++)
        self->u[i] *= self->radius / size;
    return t;
}

/* Along the first eigenvector up to the boundary. */
static void reach_boundary(problem *self, double size)
{
    const double *q = self->Q;
    size_t top = 0;

    for (size_t i = 1; i < self->n; i++)
        top = fabs(q[i]) > fabs(q[top]) ? i : top;
    self->u[0] = copysign(sqrt((self->radius - size) * (self->radius + size)), q[top]);
}

/* Take what rounding made of zeros for zeros, and bring l and b to one scale: the larger of ||g|| and radius ||A|| is
 * near 1. */
static void prepare(problem *self)
{
    size_t n = self->n;
    double norm = fmax(fabs(self->l[0]), fabs(self->l[n - 1])), size = length(n, self->b), none = (double)n * 0x1p-50;
    double shift = self->l[0] < -none * norm ? -self->l[0] : 0.0;
    int l_at = self->l_at + self->radius_at, at = size > 0.0 ? self->b_at : l_at;

    if (norm > 0.0 && l_at > at)
        at = l_at;
    for (size_t i = 0; i < n; i++) {
        double above = fmax(self->l[i] + shift, 0.0);

        if (above <= none * norm && fabs(self->b[i]) <= none * size)
            self->b[i] = 0.0;
        self->l[i] = ldexp(above, l_at - at);
        self->b[i] = ldexp(self->b[i], self->b_at - at);
    }
    self->base = ldexp(shift, l_at - at);
    self->b_at = at;
}

static void solve(problem *self, pn_trust_step *out)
{
    double size = fill(self, 0.0), t = 0.0, lambda, sum = 0.0;

    if (!(size <= self->radius)) {
        t = solve_boundary(self);
    } else if (self->base > 0.0) {
        reach_boundary(self, size);
        out->hard = true;
    }
    lambda = self->base + t;
    size = length(self->n, self->u);
    for (size_t i = 0; i < self->n;
         i++) /* -(b u + u L u/2) with b u = -u (L + lambda) u: a sum of what is not negative */
        sum += self->u[i] * self->u[i] * (self->l[i] + t);
    out->decrease = ldexp(0.5 * sum + 0.5 * lambda * size * size, self->b_at + self->radius_at);
    out->multiplier = ldexp(lambda, self->b_at - self->radius_at);
    for (size_t i = 0; i < self->n; i++)
        self->u[i] = ldexp(self->u[i], self->radius_at);
}

static pn_status allocate(problem *self, size_t n, pn_err *err)
{
    size_t size;

    *self = (problem){ .n = n, .l = pn_alloc(n, 3 * sizeof *self->l) };
    if (self->l && pn_size_multiply(&size, n, n))
        self->Q = pn_alloc(size, sizeof *self->Q);
    if (!self->Q) {
        pn_free(self->l);
        return pn_fail(err, PN_ENOMEM, "trust region: not enough memory for %zu x %zu", n, n);
    }
    self->b = self->l + n;
    self->u = self->b + n;
    return PN_OK;
}

static pn_status check(size_t n, const double *packed, const double *g, double radius, pn_err *err)
{
    pn_status status = pn_packed_check("trust region", packed, n, err);
    size_t bad = status == PN_OK ? pn_first_nonfinite(g, n) : n;

    if (status != PN_OK)
        return status;
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "trust region: entry %zu of the gradient is not finite", bad + 1);
    if (!(radius > 0.0 && isfinite(radius)))
        return pn_fail(err, PN_EINVAL, "trust region: radius must be a positive number, got %g", radius);
    return PN_OK;
}

/* x[n] * 2^-e, the largest entry in [1/2, 1); returns e. */
static int take_out(size_t n, const double *x, double *out)
{
    double largest = pn_lp_norm(PN_LINF, n, x);
    int exponent = largest > 0.0 ? exponent_of(largest) : 0;

    for (size_t i = 0; i < n; i++)
        out[i] = ldexp(x[i], -exponent);
    return exponent;
}

pn_status pn_trust_region(pn_trust_step *out, double *h, size_t n, const double *packed, const double *g, double radius,
                          pn_err *err)
{
    pn_status status = check(n, packed, g, radius, err);
    problem self;

    if (status == PN_OK)
        status = allocate(&self, n, err);
    if (status != PN_OK)
        return status;
    pn_packed_unpack(packed, n, self.Q);
    self.l_at = take_out(n * n, self.Q, self.Q);
    self.b_at = take_out(n, g, self.u);
    self.radius_at = take_out(1, &radius, &self.radius);
    status = pn_eigen_symmetric(self.l, self.Q, (pn_mat){ self.Q, n, n }, err);
    if (status == PN_OK) {
        *out = (pn_trust_step){ .least = ldexp(self.l[0], self.l_at) };
        pn_simd_best()->dense_times(self.Q, n, n, self.u, self.b);
        prepare(&self);
        solve(&self, out);
        memset(h, 0, n * sizeof *h);
        pn_simd_best()->dense_add_transposed(self.Q, n, n, self.u, h);
    }
    pn_free(self.l);
    pn_free(self.Q);
    return status;
}
