/* toeplitz_best.c -- the coefficients with the smallest largest error: min log ||c||^2 + log sum_{t < T} r_t^2, C r =
 * 1.  Gradients by one pass forwards and one back: with lambda = C^-T r, d(sum r^2) = -2 sum_j dc_j sum_t lambda_t
 * r_{t-j}.  Logarithms of what is positive make it a smooth problem without constraints, for L-BFGS.
 * Depends on: toeplitz.h.  Used by: banded_prefix.c, blt_prefix.c, blt_table.c's maker (its test).
 * Sources: Nocedal & Wright (2006), Algorithm 7.4; Lewis & Overton (2013) for the line search.
 * See tree-mechanism.md 6. */
#include <math.h>
#include <string.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"
#include "core/stop.h"

#define HISTORY     24    /* pairs that L-BFGS remembers */
#define STEPS       600   /* of L-BFGS, at most */
#define LINE_TRIALS 50    /* of one line search */
#define SMALL_SLOPE 1e-10 /* of the logarithm of the factor: then there is nothing to gain */
#define SMALL_GAIN  1e-14 /* the same of a step, five times in a row */

/* A smooth function of x[n]: its value, INFINITY outside its domain, and its gradient. */
typedef struct smooth {
    size_t n;
    double (*value)(void *self, const double *x, double *gradient);
    void *self;
    pn_status *stopped; /* not PN_OK: the value was given up, and no other one is wanted */
} smooth;

/* All vectors in one block. */
typedef struct descent {
    size_t n;
    size_t pairs, next; /* pairs in the history, and the row of the next */
    double *x, *g, *at, *slope, *direction;
    double *moved, *turned; /* [HISTORY * n] steps and what they did to the gradient */
    double weight[HISTORY]; /* 1 / <moved, turned> */
    double *block;
} descent;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double largest(size_t n, const double *x)
{
    double most = 0.0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static pn_status descent_init(descent *self, size_t n, pn_err *err)
{
    const size_t vectors = 5 + 2 * HISTORY;

    memset(self, 0, sizeof *self);
    self->block = pn_calloc(n, vectors * sizeof(double));
    PN_TRY(pn_made(self->block, err, "toeplitz: out of memory"));
    self->n = n;
    self->x = self->block;
    self->g = self->x + n;
    self->at = self->g + n;
    self->slope = self->at + n;
    self->direction = self->slope + n;
    self->moved = self->direction + n;
    self->turned = self->moved + HISTORY * n;
    return PN_OK;
}

/* The row of the pair `back` pairs ago, 0 for the last. */
static size_t row_of(const descent *self, size_t back)
{
    return (self->next + 2 * HISTORY - 1 - back) % HISTORY;
}

/* direction = -H g by the two loops over the history. */
static void choose_direction(descent *self)
{
    const size_t n = self->n;
    double part[HISTORY], scale;

    for (size_t i = 0; i < n; i++)
        self->direction[i] = -self->g[i];
    for (size_t k = 0; k < self->pairs; k++) {
        size_t row = row_of(self, k);

        part[row] = self->weight[row] * dot(n, self->moved + row * n, self->direction);
        for (size_t i = 0; i < n; i++)
            self->direction[i] -= part[row] * self->turned[row * n + i];
    }
    if (self->pairs > 0) {
        const double *turned = self->turned + row_of(self, 0) * n;

        scale = 1.0 / (self->weight[row_of(self, 0)] * dot(n, turned, turned));
    } else {
        scale = 0.1 / fmax(largest(n, self->g), 0.1);
    }
    for (size_t i = 0; i < n; i++)
        self->direction[i] *= scale;
    for (size_t k = self->pairs; k-- > 0;) {
        size_t row = row_of(self, k);
        double back = self->weight[row] * dot(n, self->turned + row * n, self->direction);

        for (size_t i = 0; i < n; i++)
            self->direction[i] += (part[row] - back) * self->moved[row * n + i];
    }
}

/* Halve and double until the step is long enough and low enough (weak Wolfe); leaves the point in at, slope.
 * False: no such step. */
static bool line_search(descent *self, const smooth *problem, double *value)
{
    const double slope = dot(self->n, self->g, self->direction);
    double low = 0.0, high = INFINITY, step = 1.0;

    if (!(slope < 0.0))
        return false;
    for (int trial = 0; trial < LINE_TRIALS && *problem->stopped == PN_OK; trial++) {
        double there;

        for (size_t i = 0; i < self->n; i++)
            self->at[i] = self->x[i] + step * self->direction[i];
        there = problem->value(problem->self, self->at, self->slope);
        if (!(there <= *value + 1e-4 * step * slope)) {
            high = step;
        } else if (dot(self->n, self->slope, self->direction) < 0.9 * slope) {
            low = step;
        } else {
            *value = there;
            return true;
        }
        step = isfinite(high) ? 0.5 * (low + high) : 2.0 * low;
    }
    return false;
}

/* Take the step of the line search, and remember it where it shows positive curvature. */
static void accept(descent *self)
{
    const size_t n = self->n;
    double *moved = self->moved + self->next * n, *turned = self->turned + self->next * n, curvature;

    for (size_t i = 0; i < n; i++) {
        moved[i] = self->at[i] - self->x[i];
        turned[i] = self->slope[i] - self->g[i];
        self->x[i] = self->at[i];
        self->g[i] = self->slope[i];
    }
    curvature = dot(n, moved, turned);
    if (!(curvature > 0.0))
        return;
    self->weight[self->next] = 1.0 / curvature;
    self->next = (self->next + 1) % HISTORY;
    if (self->pairs < HISTORY)
        self->pairs++;
}

/* From x to where no step helps any more; a history that leads nowhere is forgotten once. */
static void descend(descent *self, const smooth *problem)
{
    double value = problem->value(problem->self, self->x, self->g);
    int idle = 0;

    for (int step = 0; step < STEPS && idle < 5 && *problem->stopped == PN_OK; step++) {
        double before = value;

        if (!(largest(self->n, self->g) > SMALL_SLOPE))
            return;

        choose_direction(self);
        if (line_search(self, problem, &value)) {
            accept(self);
            idle = before - value < SMALL_GAIN ? idle + 1 : 0;
        } else if (self->pairs > 0) {
            self->pairs = 0;
        } else {
            return;
        }
    }
}

/* ---- banded: x_j = log c_{j+1} ---- */

typedef struct banded {
    size_t bands, horizon;
    double *c;          /* [bands] */
    double *r, *lambda; /* [horizon] */
    pn_status stopped;
    pn_err *err;
} banded;

static void turn_round(size_t n, double *x)
{
    for (size_t i = 0; i < n / 2; i++) {
        double first = x[i];

        x[i] = x[n - 1 - i];
        x[n - 1 - i] = first;
    }
}

/* d(sum r^2) over c_1, c_2, ..., but for a factor -2. */
static pn_status banded_slope(const banded *self, double *gradient)
{
    const size_t count = self->horizon, bands = self->bands;
    pn_status status = PN_OK;
    size_t work = 0;

    memset(gradient, 0, (bands - 1) * sizeof(double));
    for (size_t t = 0; t < count && status == PN_OK; t++) {
        for (size_t j = 1; j < bands && j < count - t; j++)
            gradient[j - 1] += self->lambda[t + j] * self->r[t];
        status = pn_toeplitz_worked(&work, bands, self->err);
    }
    return status;
}

static double banded_value(void *ud, const double *x, double *gradient)
{
    banded *self = ud;
    const size_t count = self->horizon, bands = self->bands;
    double square, sum;

    self->c[0] = 1.0;
    for (size_t j = 1; j < bands; j++)
        self->c[j] = exp(x[j - 1]);
    square = pn_toeplitz_square(bands, self->c, count);
    self->stopped = pn_toeplitz_inverse_sums(bands, self->c, count, self->r, self->err);
    sum = dot(count, self->r, self->r);
    if (self->stopped != PN_OK || !isfinite(square) || !isfinite(sum))
        return INFINITY;

    memcpy(self->lambda, self->r, count * sizeof(double)); /* C^T is C when time runs back */
    turn_round(count, self->lambda);
    self->stopped = pn_toeplitz_solve(bands, self->c, count, self->lambda, self->err);
    turn_round(count, self->lambda);
    if (self->stopped == PN_OK)
        self->stopped = banded_slope(self, gradient);
    if (self->stopped != PN_OK)
        return INFINITY;
    for (size_t j = 1; j < bands; j++)
        gradient[j - 1] = self->c[j] * (2.0 * self->c[j] / square - 2.0 * gradient[j - 1] / sum);
    return log(square) + log(sum);
}

pn_status pn_toeplitz_best_banded(size_t bands, size_t horizon, double *c, pn_err *err)
{
    banded self = { .bands = bands < horizon ? bands : horizon, .horizon = horizon, .c = c, .err = err };
    smooth problem = { self.bands - 1, banded_value, &self, &self.stopped };
    descent search;

    pn_toeplitz_sqrt(self.bands, c);
    for (size_t j = self.bands; j < bands; j++)
        c[j] = 0.0;
    if (self.bands < 2)
        return PN_OK;
    PN_TRY(descent_init(&search, problem.n, err));
    self.r = pn_alloc(horizon, 2 * sizeof(double));
    if (!self.r) {
        pn_free(search.block);
        return pn_fail(err, PN_ENOMEM, "toeplitz: out of memory");
    }
    self.lambda = self.r + horizon;
    for (size_t j = 1; j < self.bands; j++)
        search.x[j - 1] = log(c[j]);
    descend(&search, &problem);
    for (size_t j = 1; j < self.bands; j++)
        c[j] = exp(search.x[j - 1]);
    pn_free(self.r);
    pn_free(search.block);
    return self.stopped;
}

/* ---- buffers: x_i = log((1 - theta_i) / theta_i), x_{m+i} = log omega_i ---- */

typedef struct buffers {
    size_t m, horizon;
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX];
    double *r; /* [horizon] */
    pn_status stopped;
    pn_err *err;
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

    self->stopped = pn_stop_asked(self->err); /* a value takes a fraction of a second at most */
    if (self->stopped != PN_OK || !buffers_set(self, x))
        return INFINITY;
    square = buffers_square(self, square_theta, square_omega);
    pn_toeplitz_blt_sums(self->m, self->theta, self->omega, self->horizon, self->r);
    sum = dot(self->horizon, self->r, self->r);
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
    buffers self = { .m = m, .horizon = horizon, .err = err };
    smooth problem = { 2 * m, buffers_value, &self, &self.stopped };
    descent search;
    pn_status status = pn_toeplitz_blt_check("toeplitz", m, theta, omega, err);

    if (status != PN_OK || horizon < 2)
        return status;
    PN_TRY(descent_init(&search, problem.n, err));
    self.r = pn_alloc(horizon, sizeof(double));
    if (!self.r) {
        pn_free(search.block);
        return pn_fail(err, PN_ENOMEM, "toeplitz: out of memory");
    }
    for (size_t i = 0; i < m; i++) {
        search.x[i] = log((1.0 - theta[i]) / theta[i]);
        search.x[m + i] = log(omega[i]);
    }
    descend(&search, &problem);
    (void)buffers_set(&self, search.x);
    memcpy(theta, self.theta, m * sizeof(double));
    memcpy(omega, self.omega, m * sizeof(double));
    sort_falling(m, theta, omega);
    pn_free(self.r);
    pn_free(search.block);
    return self.stopped;
}
