/* pld_part.c -- tilts, periods, and what a part of a composition adds to delta.
 * Depends on: pld_part.h.  Used by: pld.c.
 *
 * With t > 0 the tilt, M the moment generating function of the part at t, and ~ its law with density exp(t L)/M, the
 * part adds  M exp(-t eps) E~ g(L - eps)  to delta(eps), where  g(u) = exp(-t u) (1 - exp(-u))_+.
 *
 * Two functions around g have Fourier transforms that die out.  Let the composition be followed by one more Gaussian
 * release of loss N(s^2/2, s^2): its hockey stick can only grow, so that
 *   G(u) = exp(-t u) C(u),   C(u) = E (1 - exp(-u - N))_+ = Phi(s/2 + u/s) - exp(-u) Phi(-s/2 + u/s),
 * is above g.  C rises with s at the rate phi(s/2 + u/s), which is at most exp(-u/2) phi(u/s), growing in s; so
 *   C(u) - s exp(-u/2) phi(u/s) <= (1 - exp(-u))_+ <= C(u)   for all u.
 * With z = t - i w, transforms int f(u) exp(i w u) du are
 *   G: exp(s^2 z (z+1)/2) / (z (z+1)),    the bump that is taken off: s^2 exp(s^2/8) exp(s^2 z (z+1)/2).
 * The two bounds differ by s^2 times the density at eps, for whatever law: the error is of second order in the
 * resolution, and it is made once, not once a release.
 *
 * By Poisson's summation (1/W) sum_k F(w_k) conj phi~(w_k) exp(i w_k eps), w_k = 2 pi k/W, F either transform and phi~
 * the characteristic function, is E~ sum_n f(L - eps + n W).  Above, the copies n != 0 are non-negative and can stay.
 * Below they are at most sum_n g(u + n W), where
 *   1{v > 0} exp(-t v) <= exp(-b v) for n > 0 (0 < b <= t)   and   g(v) <= 1{v > 0} <= exp(b v) for n < 0
 * bound them by moment generating functions; W is chosen so that this is little.  Frequencies from w_K on are bounded
 * by |phi~| <= phi~(0) and |F(w)| <= exp(s^2 (t (t+1) - w^2)/2) (1/w^2 + s^2 exp(s^2/8)).
 *
 * Where s > 4, which is enough for an epsilon of thousands, that exponential is too much.  There N is N(0, s^2), and
 *   C(u - b) - P(N > b) <= (1 - exp(-u))_+ <= C(u + b) + P(N < -b)   with b = 37.2 s,
 * since the hockey stick rises with u and is at most 1; exp(s^2 z^2/2) takes the place of exp(s^2 z (z+1)/2).  What is
 * below 1e-300 of all mass is covered by REMOTE, as long as s t is at most 30: at u < 0 that is
 * exp(-(b - u)^2/(2 s^2) - t u).
 *
 * Rounding.  Angles w_k eps are off by 2^-52 of themselves, at whatever epsilon the sum is asked; exponents likewise by
 * 2^-52 of s^2 t (t+1).  Exponents above LARGEST do not fit: then the sum says nothing, and its slack is infinite. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/accounting/pld_part.h"
#include "privacy/event/event_curve.h"

#define WRAPPED    22.0 /* copies weigh at most exp of minus that */
#define STEEPER    2.0  /* ln of what a greater tilt may cost in digits */
#define CANDIDATES 9
#define COARSE     4.0
#define REACH      37.2
#define REMOTE     1e-280
#define LARGEST    690.0

void pn_part_init(pn_part *out, pn_law *laws, size_t n, bool upper, double from, double to)
{
    *out = (pn_part){ .laws = laws, .n = n, .upper = upper, .from = from, .to = to };
}

void pn_part_clear(pn_part *part)
{
    pn_free(part->re);
    part->re = part->im = part->error = part->payoff_re = part->payoff_im = NULL;
    part->frequencies = part->room = 0;
}

double pn_part_log_mgf(const pn_part *part, double s)
{
    double within = 0.0, beyond = 0.0;

    for (size_t r = 0; r < part->n; r++) {
        const pn_law *law = &part->laws[r];
        size_t to = pn_law_until(law, part->to), from = isinf(part->from) ? to : pn_law_until(law, part->from);
        double inner = pn_law_log_mgf(law, s, 0, from);

        within += law->count * inner;
        if (from < to)
            beyond += law->count * log1p(exp(pn_law_log_mgf(law, s, from, to) - inner));
    }
    if (isinf(part->from))
        return within;
    return within + (beyond < 600.0 ? log(expm1(beyond)) : beyond);
}

/* ---- period ---- */

/* What the copies on either side weigh at epsilon. */
static double wrapped(const pn_part *part, double epsilon)
{
    double left = exp(part->left_scale + part->left * (epsilon - part->period)) / -expm1(-part->left * part->period);
    double right =
        exp(part->right_scale - part->right * (epsilon + part->period)) / -expm1(-part->right * part->period);

    return (left + right) * (1.0 + 1e-6);
}

/* Second difference of ln E exp(t L): the variance of the tilted part, about. */
static double deviation_of(const pn_part *part)
{
    double h = 1e-3 * part->tilt, above = pn_part_log_mgf(part, part->tilt + h),
           below = pn_part_log_mgf(part, part->tilt - h), square = (above - 2.0 * part->log_scale + below) / (h * h);

    return square > 0.0 && isfinite(square) ? sqrt(square) : 1.0 / part->tilt;
}

/* ln E exp((t + away) L) less that at t. */
static double ratio_at(const pn_part *part, double away)
{
    return pn_part_log_mgf(part, part->tilt + away) - part->log_scale;
}

void pn_part_tilt(pn_part *part, double tilt, double epsilon)
{
    part->tilt = tilt;
    part->guess = epsilon;
    part->log_scale = pn_part_log_mgf(part, tilt);
}

/* A payoff that is flat over many deviations makes the period long: then a greater tilt, as long as the part at epsilon
 * does not get too rare. */
static void steepen(pn_part *part)
{
    double all = pn_part_log_mgf(part, 0.0), first = part->log_scale - part->tilt * part->guess;

    for (int i = 0; i < 40; i++) {
        double t = part->tilt, length = part->guess + (all - part->log_scale + WRAPPED) / t;
        double next = pn_part_log_mgf(part, 2.0 * t), shorter = part->guess + (all - next + WRAPPED) / (2.0 * t);

        if (!(shorter < 0.75 * length && length > 10.0 * deviation_of(part)) ||
            !(next - 2.0 * t * part->guess - first < STEEPER && next < PN_PART_LARGEST))
            return;
        part->tilt = 2.0 * t;
        part->log_scale = next;
    }
}

void pn_part_place(pn_part *part)
{
    double scale, deviation, left = INFINITY, right = INFINITY;

    if (!(part->log_scale > -INFINITY))
        return;
    if (isinf(part->from))
        steepen(part);
    deviation = deviation_of(part);
    scale = sqrt(2.0 * WRAPPED) / fmax(deviation, 1e-3 / part->tilt);
    for (int i = 0; i < CANDIDATES; i++) {
        double b = scale * pow(2.0, 1.0 - i), down = fmin(b, part->tilt), below = ratio_at(part, -down);
        double above = ratio_at(part, b), length = part->guess + (below + WRAPPED) / down;

        if (length < left) {
            left = length;
            part->left = down;
            part->left_scale = below;
        }
        length = (above + WRAPPED) / b - part->guess;
        if (length < right) {
            right = length;
            part->right = b;
            part->right_scale = above;
        }
    }
    part->period = fmax(fmax(left, right), 1e-9);
}

void pn_part_place_like(pn_part *part, const pn_part *other)
{
    part->period = other->period;
    part->left = other->left;
    part->left_scale = ratio_at(part, -part->left);
    part->right = other->right;
    part->right_scale = ratio_at(part, part->right);
}

/* ---- payoff ---- */

/* s times the first frequency that is left out, which costs exp(-cut^2/2): less of it the closer the bounds can be. */
static double cut_at(size_t frequencies)
{
    return 4.9 + 0.4 * log2(fmax(1.0, (double)frequencies / 256.0));
}

double pn_part_set_step(pn_part *part, double step)
{
    double n = 16.0;

    part->step = step;
    while (n < 1e15 && n < cut_at((size_t)n) / step * part->period / PN_TURN)
        n = ceil(n * 1.05);
    return n;
}

/* Coefficients times transform, and everything that the sum is off by. */
static void set_payoff(pn_part *part)
{
    double t = part->tilt, step = PN_TURN / part->period, last = step * (double)part->frequencies;
    double s = part->step > 0.0 ? part->step : cut_at(part->frequencies) / last, cut = s * last;
    double half = s > COARSE ? 0.0 : 1.0, bump = s > COARSE ? 0.0 : s * s * exp(s * s / 8.0), size = 0.0, off = 0.0;
    double grown = 0.5 * s * s * t * (t + half), most = exp(grown) * (part->re[0] + part->error[0]);

    part->smoothing = s;
    part->shift = s > COARSE ? REACH * s : 0.0;
    for (size_t k = 0; k < part->frequencies; k++) {
        double w = step * (double)k, x = t * (t + 1.0) - w * w, y = -w * (2.0 * t + 1.0), norm = x * x + y * y;
        double fre = x / norm - (part->upper ? 0.0 : bump), fim = -y / norm;
        double scale = exp(0.5 * s * s * (t * (t + half) - w * w)), turn = -0.5 * s * s * w * (2.0 * t + half);
        double c = scale * cos(turn), d = scale * sin(turn), re = fre * c - fim * d, im = fre * d + fim * c;
        double weight = (k ? 2.0 : 1.0) / part->period;

        /* times the conjugate */
        part->payoff_re[k] = weight * (re * part->re[k] + im * part->im[k]);
        part->payoff_im[k] = weight * (im * part->re[k] - re * part->im[k]);
        weight *= scale * hypot(fre, fim);
        size += weight * (hypot(part->re[k], part->im[k]) + part->error[k]);
        off += weight * part->error[k];
    }
    part->wave = size * 0x1p-52 * last;
    off += size * 0x1p-52 * (64.0 + (double)part->frequencies + 8.0 * grown + last * s * s * (2.0 * t + 1.0));
    off += 2.0 / PN_TURN * most * (1.0 / (last * last) + bump) * exp(-0.5 * cut * cut) / (s * cut) *
           (1.0 + step * s * cut);
    part->slack = !(grown < LARGEST) || (s > COARSE && s * t > 30.0) ? INFINITY : off * (1.0 + 1e-9) + REMOTE;
}

static bool reserve(pn_part *part, size_t n)
{
    double *block;

    if (n <= part->room)
        return true;
    block = pn_alloc(5 * n, sizeof *block);
    if (!block)
        return false;
    for (size_t k = 0; k < part->frequencies; k++) {
        block[k] = part->re[k];
        block[n + k] = part->im[k];
        block[2 * n + k] = part->error[k];
    }
    pn_free(part->re);
    part->re = block;
    part->im = block + n;
    part->error = block + 2 * n;
    part->payoff_re = block + 3 * n;
    part->payoff_im = block + 4 * n;
    part->room = n;
    return true;
}

pn_status pn_part_extend(pn_part *part, size_t n, pn_err *err)
{
    if (!(part->log_scale > -INFINITY))
        return PN_OK;
    PN_TRY(pn_made(reserve(part, n), err, "accountant.pld: out of memory for %zu frequencies", n));
    PN_TRY(pn_part_coefficients(part, part->frequencies, n, err));
    part->frequencies = n;
    set_payoff(part);
    return PN_OK;
}

/* ---- delta ---- */

static double scale_at(const pn_part *part, double epsilon)
{
    return exp(fmin(part->log_scale - part->tilt * epsilon, 700.0));
}

/* With a shift, copies of the payoff begin that much farther left, and are higher there. */
static double uncertainty(const pn_part *part, double epsilon)
{
    return part->slack + part->wave * (fabs(epsilon) + part->shift) +
           (part->upper ? 0.0 : exp(part->tilt * part->shift) * wrapped(part, epsilon));
}

double pn_part_slack(const pn_part *part, double epsilon)
{
    return part->frequencies > 0 ? scale_at(part, epsilon) * uncertainty(part, epsilon) : 0.0;
}

/* At most E~ g <= 1, Chernoff's bound, whatever the sum says. */
double pn_part_delta(const pn_part *part, double epsilon, double *slope)
{
    double at = epsilon + (part->upper ? -part->shift : part->shift), angle = PN_TURN / part->period;
    double scale = scale_at(part, at), most = part->upper ? scale_at(part, epsilon) : 0.0, fall, value, more;

    *slope = 0.0;
    if (part->frequencies == 0)
        return part->log_scale != -INFINITY && part->upper ? INFINITY : 0.0;
    value = pn_series_at(part->payoff_re, part->payoff_im, part->frequencies, angle * at, &fall);
    more = uncertainty(part, epsilon);
    *slope = -scale * (angle * fall + part->tilt * value);
    value = scale * (part->upper ? value + more : value - more);
    if (!part->upper)
        return fmax(0.0, value); /* 0 for NaN */
    if (value < most)
        return pn_nonnegative(value);
    *slope = -part->tilt * most;
    return isnan(most) ? INFINITY : most;
}
