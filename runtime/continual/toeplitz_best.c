/* toeplitz_best.c -- the coefficients with the smallest largest error: min log ||c||^2 + log sum_{t < T} r_t^2, C r =
 * 1.  Gradients by one pass forwards and one back: with lambda = C^-T r, d(sum r^2) = -2 sum_j dc_j sum_t lambda_t
 * r_{t-j}.  Logarithms of what is positive make it a smooth problem without constraints, for L-BFGS.
 * Depends on: toeplitz.h, numeric/lbfgs.h.  Used by: banded_prefix.c, blt_prefix.c, blt_table.c's maker (its test).
 * See tree-mechanism.md 6. */
#include <math.h>
#include <string.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"
#include "numeric/lbfgs.h"

#define MOST_WORK 0x1p34 /* multiplications of a search, seconds: then the best that was found is taken */

static double square_of(size_t n, const double *x)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* ---- banded: x_j = log c_{j+1} ----
 *
 * r and lambda settle: C maps them to vectors that are constant far from the ends of time, and where 1/c(x) has no
 * pole in the closed unit disk, what the ends add falls geometrically and 1/c(1) times the constant is left.  Where
 * `bands` values in a row are that but for rounding, so is the next, and all are set to it.  So a value costs
 * O(horizon + bands^2) in place of O(horizon * bands), about.  The price of what is found is computed without this. */

#define SETTLED 0x1p-50 /* of the limit, for each term of a sum: what rounding may be */

/* Where a vector is one number, from <= t < to. */
typedef struct stretch {
    size_t from, to;
} stretch;

typedef struct banded {
    size_t bands, horizon;
    double *c;          /* [bands] */
    double *r, *lambda; /* [horizon] */
    pn_lbfgs_work work;
} banded;

static void turn_round(size_t n, double *x)
{
    for (size_t i = 0; i < n / 2; i++) {
        double first = x[i];

        x[i] = x[n - 1 - i];
        x[n - 1 - i] = first;
    }
}

/* Where the solution of C x = (1, 1, ...) settles. */
static double limit(const banded *self)
{
    double sum = 0.0;

    for (size_t j = self->bands; j-- > 0;)
        sum += self->c[j];
    return 1.0 / sum;
}

/* x[t] and what follows, up to x[still], are `value`; those after lose what it takes from them. */
static void settle(const banded *self, size_t t, size_t still, double value, double *x)
{
    double tail = 0.0;

    for (; t < still; t++)
        x[t] = value;
    for (size_t j = self->bands - 1; j > 0; j--) {
        tail += self->c[j];
        if (j <= self->horizon - still)
            x[still + j - 1] -= tail * value;
    }
}

/* x <- C^-1 x of an x whose first `still` are one number.  False: given up. */
static bool solve(banded *self, size_t still, double *x, stretch *settled)
{
    const size_t count = self->horizon, bands = self->bands;
    const double value = x[0] * limit(self), most = SETTLED * (double)bands * value;
    size_t alike = 0;

    *settled = (stretch){ count, count };
    for (size_t t = 0; t < count; t++) {
        const size_t reach = bands < count - t ? bands : count - t;

        alike = fabs(x[t] - value) <= most ? alike + 1 : 0;
        if (alike > bands && t + bands <= still) {
            *settled = (stretch){ t, still };
            settle(self, t, still, value, x);
            t = still - 1;
            continue;
        }
        for (size_t j = 1; j < reach; j++)
            x[t + j] -= self->c[j] * x[t];
        if (!pn_lbfgs_worked(&self->work, reach))
            return false;
    }
    return true;
}

/* d(sum r^2) over c_1, c_2, ..., but for a factor -2.  In the stretch of lambda r is one number as well. */
static bool banded_slope(banded *self, stretch settled, double *gradient)
{
    const size_t count = self->horizon, bands = self->bands;

    memset(gradient, 0, (bands - 1) * sizeof(double));
    for (size_t t = 0; t < count; t++) {
        if (t == settled.from && settled.to - t >= bands) {
            const size_t times = settled.to - t - (bands - 1);

            for (size_t j = 1; j < bands; j++)
                gradient[j - 1] += (double)times * self->lambda[t] * self->r[t];
            t += times - 1;
            continue;
        }
        for (size_t j = 1; j < bands && j < count - t; j++)
            gradient[j - 1] += self->lambda[t + j] * self->r[t];
        if (!pn_lbfgs_worked(&self->work, bands))
            return false;
    }
    return true;
}

static double banded_value(void *ud, const double *x, double *gradient)
{
    banded *self = ud;
    const size_t count = self->horizon, bands = self->bands;
    stretch of_r, of_lambda;
    double square, sum;

    self->c[0] = 1.0;
    for (size_t j = 1; j < bands; j++)
        self->c[j] = exp(x[j - 1]);
    square = pn_toeplitz_square(bands, self->c, count);
    for (size_t t = 0; t < count; t++)
        self->r[t] = 1.0;
    if (!pn_lbfgs_worked(&self->work, 8 * count) || !solve(self, count, self->r, &of_r))
        return INFINITY;
    sum = square_of(count, self->r);
    if (!isfinite(square) || !isfinite(sum))
        return INFINITY;

    memcpy(self->lambda, self->r, count * sizeof(double)); /* C^T is C when time runs back */
    turn_round(count, self->lambda);
    if (!solve(self, count - of_r.from, self->lambda, &of_lambda))
        return INFINITY;
    turn_round(count, self->lambda);
    if (!banded_slope(self, (stretch){ count - of_lambda.to, count - of_lambda.from }, gradient))
        return INFINITY;
    for (size_t j = 1; j < bands; j++)
        gradient[j - 1] = self->c[j] * (2.0 * self->c[j] / square - 2.0 * gradient[j - 1] / sum);
    return log(square) + log(sum);
}

pn_status pn_toeplitz_best_banded(size_t bands, size_t horizon, double *c, pn_err *err)
{
    banded self = { .bands = bands < horizon ? bands : horizon,
                    .horizon = horizon,
                    .c = c,
                    .work = { .left = MOST_WORK, .err = err } };
    pn_lbfgs_problem problem = { self.bands - 1, banded_value, &self, &self.work };
    pn_status status;
    double *x;

    pn_toeplitz_sqrt(self.bands, c);
    for (size_t j = self.bands; j < bands; j++)
        c[j] = 0.0;
    if (self.bands < 2)
        return PN_OK;
    x = pn_alloc(problem.n + 2 * horizon, sizeof *x);
    PN_TRY(pn_made(x, err, "toeplitz: out of memory"));
    self.r = x + problem.n;
    self.lambda = self.r + horizon;
    for (size_t j = 1; j < self.bands; j++)
        x[j - 1] = log(c[j]);
    status = pn_lbfgs(&problem, x, err);
    for (size_t j = 1; j < self.bands; j++)
        c[j] = exp(x[j - 1]);
    pn_free(x);
    return status;
}

/* ---- buffers: x_i = log((1 - theta_i) / theta_i), x_{m+i} = log omega_i ---- */

typedef struct buffers {
    size_t m, horizon;
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX];
    double *r; /* [horizon] */
    pn_lbfgs_work work;
} buffers;

/* ||c||^2 and its gradient, from sum_{j < n} p^j and its derivative at p = theta_i theta_k, n = horizon - 1. */
static double buffers_square(const buffers *self, double *by_theta, double *by_omega)
{
    const double n = (double)(self->horizon - 1);

    for (size_t i = 0; i < self->m; i++) {
        by_theta[i] = by_omega[i] = 0.0;
        for (size_t k = 0; k < self->m; k++) {
            double gap = (1.0 - self->theta[i]) + self->theta[i] * (1.0 - self->theta[k]);
            double sum = -expm1(n * log1p(-gap)) / gap;
            double rise = n * gap > 1e-6 ? (sum - n * exp((n - 1.0) * log1p(-gap))) / gap : 0.5 * n * (n - 1.0);

            by_omega[i] += 2.0 * self->omega[k] * sum;
            by_theta[i] += 2.0 * self->omega[i] * self->omega[k] * self->theta[k] * rise;
        }
    }
    return pn_toeplitz_blt_square(self->m, self->theta, self->omega, self->horizon);
}

/* d(sum r^2) = -2 sum_s r_s d(omega_i P_i(s)) with P_i(s) = sum_j theta_i^(j-1) lambda_{s+j},
 * and rise its derivative by theta_i. */
static void buffers_back(const buffers *self, double *by_theta, double *by_omega)
{
    double after[PN_BLT_BUFFERS_MAX] = { 0.0 }, rise[PN_BLT_BUFFERS_MAX] = { 0.0 };

    for (size_t i = 0; i < self->m; i++)
        by_theta[i] = by_omega[i] = 0.0;
    for (size_t s = self->horizon; s-- > 0;) {
        double r = self->r[s], lambda = r;

        for (size_t i = 0; i < self->m; i++) {
            lambda -= self->omega[i] * after[i];
            by_omega[i] -= 2.0 * r * after[i];
            by_theta[i] -= 2.0 * r * rise[i];
        }
        for (size_t i = 0; i < self->m; i++) {
            rise[i] = self->theta[i] * rise[i] + after[i];
            after[i] = self->theta[i] * after[i] + lambda;
        }
    }
    for (size_t i = 0; i < self->m; i++)
        by_theta[i] *= self->omega[i];
}

/* theta and omega of x; false outside the domain. */
static bool buffers_set(buffers *self, const double *x)
{
    double at_minus_one = 1.0;

    for (size_t i = 0; i < self->m; i++) {
        self->theta[i] = 1.0 / (1.0 + exp(x[i]));
        self->omega[i] = exp(x[self->m + i]);
        if (!(self->theta[i] > 0.0 && self->theta[i] < 1.0 && self->omega[i] > 0.0))
            return false;
        at_minus_one -= self->omega[i] / (1.0 + self->theta[i]);
    }
    return at_minus_one > 0.0; /* as pn_toeplitz_blt_check */
}

static double buffers_value(void *ud, const double *x, double *gradient)
{
    buffers *self = ud;
    double square_theta[PN_BLT_BUFFERS_MAX], square_omega[PN_BLT_BUFFERS_MAX];
    double sum_theta[PN_BLT_BUFFERS_MAX], sum_omega[PN_BLT_BUFFERS_MAX], square, sum;

    if (!pn_lbfgs_worked(&self->work, 16 * self->m * self->horizon) || !buffers_set(self, x))
        return INFINITY;
    square = buffers_square(self, square_theta, square_omega);
    pn_toeplitz_blt_sums(self->m, self->theta, self->omega, self->horizon, self->r);
    sum = square_of(self->horizon, self->r);
    buffers_back(self, sum_theta, sum_omega);
    for (size_t i = 0; i < self->m; i++) {
        double by_theta = square_theta[i] / square + sum_theta[i] / sum;

        gradient[i] = -self->theta[i] * (1.0 - self->theta[i]) * by_theta;
        gradient[self->m + i] = self->omega[i] * (square_omega[i] / square + sum_omega[i] / sum);
    }
    return log(square) + log(sum);
}

/* j^(-1/2) = integral of s^(-1/2) e^(-s j) ds / sqrt(pi), so c_j ~ sum_i sqrt(s_i) h / pi theta_i^j,
 * log s_i at distances h. */
void pn_toeplitz_blt_start(size_t m, size_t horizon, double *theta, double *omega)
{
    const double pi = acos(-1.0), span = log(1.0 + (double)horizon), distance = span / (double)m;

    for (size_t i = 0; i < m; i++) {
        double s = exp(-span + ((double)i + 0.5) * distance);

        theta[i] = exp(-s);
        omega[i] = fmin(sqrt(s) * distance / pi, 1.0 / (double)m);
    }
}

static void sort_falling(size_t m, double *theta, double *omega)
{
    for (size_t i = 1; i < m; i++)
        for (size_t k = i; k > 0 && theta[k] > theta[k - 1]; k--) {
            double first = theta[k], weight = omega[k];

            theta[k] = theta[k - 1];
            omega[k] = omega[k - 1];
            theta[k - 1] = first;
            omega[k - 1] = weight;
        }
}

pn_status pn_toeplitz_best_blt(size_t m, size_t horizon, double *theta, double *omega, pn_err *err)
{
    buffers self = { .m = m, .horizon = horizon, .work = { .left = MOST_WORK, .err = err } };
    pn_lbfgs_problem problem = { 2 * m, buffers_value, &self, &self.work };
    pn_status status = pn_toeplitz_blt_check("toeplitz", m, theta, omega, err);
    double x[2 * PN_BLT_BUFFERS_MAX];

    if (status != PN_OK || horizon < 2)
        return status;
    PN_TRY(pn_new(&self.r, horizon, err, "toeplitz: out of memory"));
    for (size_t i = 0; i < m; i++) {
        x[i] = log((1.0 - theta[i]) / theta[i]);
        x[m + i] = log(omega[i]);
    }
    status = pn_lbfgs(&problem, x, err);
    (void)buffers_set(&self, x);
    memcpy(theta, self.theta, m * sizeof(double));
    memcpy(omega, self.omega, m * sizeof(double));
    sort_falling(m, theta, omega);
    pn_free(self.r);
    return status;
}
