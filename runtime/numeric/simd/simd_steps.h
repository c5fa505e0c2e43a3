/* simd_steps.h -- the passes of mirror steps over simplices and l1 balls: the largest entry, those above a threshold,
 * what exceeds it, hyperbolic sines of sums with the sum of the cosines; and a step of Newton's method for many
 * equations.
 * Included by simd_body.h after simd_powers.h, for PN_PACK.  Depends on: simd.h. */

#define PN_ACROSS 4 /* accumulators, so that one need not wait for itself */

PN_INLINE PN_V entry_v(const double *x, int magnitude)
{
    return magnitude ? PN_ABS(PN_LOAD(x)) : PN_LOAD(x);
}

PN_INLINE double entry_of(double x, int magnitude)
{
    return magnitude && x < 0.0 ? -x : x;
}

static double largest_n(size_t n, const double *x, int magnitude)
{
    double top = entry_of(x[0], magnitude), lane[PN_WIDTH];
    PN_V most[PN_ACROSS];
    size_t i = 0;

    for (size_t k = 0; k < PN_ACROSS; k++)
        most[k] = PN_SET1(top);
    for (; i + PN_ACROSS * PN_WIDTH <= n; i += PN_ACROSS * PN_WIDTH) {
        for (size_t k = 0; k < PN_ACROSS; k++)
            most[k] = PN_MAX(most[k], entry_v(x + i + k * PN_WIDTH, magnitude));
    }
    PN_STORE(lane, PN_MAX(PN_MAX(most[0], most[1]), PN_MAX(most[2], most[3])));
    for (size_t k = 0; k < PN_WIDTH; k++)
        top = lane[k] > top ? lane[k] : top;
    for (; i < n; i++)
        top = entry_of(x[i], magnitude) > top ? entry_of(x[i], magnitude) : top;
    return top;
}

/* A vector is stored where at most as many entries were kept as were read: kept[n] has room for it. */
static size_t above_n(size_t n, const double *x, int magnitude, double top, double bound, double *kept)
{
    PN_V from = PN_SET1(top), least = PN_SET1(bound);
    size_t i = 0, count = 0;

    for (; i + PN_WIDTH <= n; i += PN_WIDTH)
        count += PN_PACK(kept + count, PN_SUB(entry_v(x + i, magnitude), from), least);
    for (; i < n; i++) {
        kept[count] = entry_of(x[i], magnitude) - top;
        count += kept[count] > bound;
    }
    return count;
}

PN_INLINE PN_V exceeding_v(PN_V x, int magnitude, PN_V top, PN_V tau)
{
    PN_V zero = PN_ZERO(), over = PN_SUB(PN_SUB(magnitude ? PN_ABS(x) : x, top), tau);
    PN_V kept = magnitude ? PN_IF_LT(x, zero, PN_NEG(over), over) : over;

    return PN_IF_LT(zero, over, kept, zero);
}

static void exceeding_n(size_t n, const double *x, int magnitude, double top, double tau, double *out)
{
    PN_V from = PN_SET1(top), least = PN_SET1(tau);
    size_t i = 0;

    for (; i + PN_WIDTH <= n; i += PN_WIDTH)
        PN_STORE(out + i, exceeding_v(PN_LOAD(x + i), magnitude, from, least));
    if (i < n) {
        PN_MASK mask = PN_MASK_OF(n - i);

        PN_STORE_PART(out + i, mask, exceeding_v(PN_LOAD_PART(x + i, mask), magnitude, from, least));
    }
}

/* What the entries of a vector have in common. */
typedef struct sines_v {
    PN_V by, top, across;
    int divide, apart; /* by: the divisor, or the factor; apart: e^(-2 top) underflows */
} sines_v;

/* *up = e^(u - top), u = |x| / radius; *down = e^(-u - top), as a quotient where digits allow, which costs less. */
PN_INLINE void halves_v(PN_V x, const sines_v *of, PN_V *up, PN_V *down)
{
    PN_V u = of->divide ? PN_DIV(PN_ABS(x), of->by) : PN_MUL(PN_ABS(x), of->by);

    *up = PN_EXP(PN_SUB(u, of->top));
    *down = of->apart ? PN_EXP(PN_SUB(PN_NEG(u), of->top)) : PN_DIV(of->across, *up);
}

PN_INLINE PN_V sine_v(PN_V x, PN_V up, PN_V down)
{
    PN_V size = PN_ABS(PN_SUB(up, down));

    return PN_IF_LT(x, PN_ZERO(), PN_NEG(size), size);
}

static void sines_n(size_t n, const double *x, double radius, double top, double across, double *out, double *sums)
{
    int divide = !(radius > 1e-300 && radius < 1e300);
    sines_v of = { PN_SET1(divide ? radius : 1.0 / radius), PN_SET1(top), PN_SET1(across), divide, !(across > 0.0) };
    PN_V up, down;

    for (size_t first = 0; first < n; first += PN_PACKED) {
        size_t end = n - first < PN_PACKED ? n : first + PN_PACKED, i = first;
        PN_V won = PN_ZERO(), lost = PN_ZERO();

        for (; i + PN_WIDTH <= end; i += PN_WIDTH) {
            PN_V entry = PN_LOAD(x + i);

            halves_v(entry, &of, &up, &down);
            PN_STORE(out + i, sine_v(entry, up, down));
            won = PN_ADD(won, up);
            lost = PN_ADD(lost, down);
        }
        sums[0] += PN_SUM(won);
        sums[1] += PN_SUM(lost);
        for (; i < end; i++) {
            double lanes[PN_WIDTH];

            halves_v(PN_SET1(x[i]), &of, &up, &down);
            PN_STORE(lanes, sine_v(PN_SET1(x[i]), up, down));
            out[i] = lanes[0];
            PN_STORE(lanes, up);
            sums[0] += lanes[0];
            PN_STORE(lanes, down);
            sums[1] += lanes[0];
        }
    }
}

/* The ends of the domain, and the length of a step that has arrived, relatively. */
typedef struct ends_v {
    PN_V low, high, arrived;
} ends_v;

PN_INLINE PN_V step_v(PN_V x, PN_V off, PN_V curvature, const ends_v *of, PN_V *beyond)
{
    PN_V one = PN_SET1(1.0), next = PN_SUB(x, PN_DIV(off, curvature));

    next = PN_IF_LT(next, of->low, of->low, next);
    next = PN_IF_LT(of->high, next, of->high, next);
    *beyond = PN_SUB(PN_ABS(PN_SUB(next, x)), PN_MUL(of->arrived, PN_ABS(next)));
    *beyond = PN_IF_LT(of->low, next, *beyond, one);
    *beyond = PN_IF_LT(next, of->high, *beyond, one);
    return next;
}

static void newton_n(size_t n, double low, double high, double arrived, const double *u, const double *slope,
                     const double *curvature, double *x, double *beyond)
{
    ends_v of = { PN_SET1(low), PN_SET1(high), PN_SET1(arrived) };
    PN_V more;
    size_t i = 0;

    for (; i + PN_WIDTH <= n; i += PN_WIDTH) {
        PN_STORE(x + i, step_v(PN_LOAD(x + i), PN_SUB(PN_LOAD(slope + i), PN_LOAD(u + i)), PN_LOAD(curvature + i), &of,
                               &more));
        PN_STORE(beyond + i, more);
    }
    if (i < n) {
        PN_MASK mask = PN_MASK_OF(n - i);
        PN_V off = PN_SUB(PN_LOAD_PART(slope + i, mask), PN_LOAD_PART(u + i, mask));

        PN_STORE_PART(x + i, mask,
                      step_v(PN_LOAD_PART(x + i, mask), off, PN_LOAD_PART(curvature + i, mask), &of, &more));
        PN_STORE_PART(beyond + i, mask, more);
    }
}
