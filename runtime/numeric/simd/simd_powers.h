/* simd_powers.h -- powers of shifted entries and their sums in one pass: what mirror steps spend their time on.
 * Included by simd_body.h, whose header says what is defined before; this part takes besides
 *
 *   PN_PACK(p, v, bound)  stores the lanes of v that are above those of bound at p, in order, and gives their number;
 *       p has room for PN_WIDTH.
 *   PN_UNPACK(&p, v) a vector with the numbers at p, in order, in the lanes where v is above 0, and 0 elsewhere;
 *       p moves past them.
 *   Both are optional.
 *
 * Depends on: simd.h. */

#define PN_PACKED 512 /* entries of a piece: these stay in the first cache */

#ifndef PN_PACK
#define PN_PACK(p, v, bound) pack_v(p, v, bound)
PN_INLINE size_t pack_v(double *p, PN_V v, PN_V bound)
{
    double lane[PN_WIDTH], least[PN_WIDTH];
    size_t count = 0;

    PN_STORE(lane, v);
    PN_STORE(least, bound);
    for (size_t k = 0; k < PN_WIDTH; k++) {
        p[count] = lane[k];
        count += lane[k] > least[k];
    }
    return count;
}
#endif

#ifndef PN_UNPACK
#define PN_UNPACK(p, v) unpack_v(p, v)
PN_INLINE PN_V unpack_v(const double **p, PN_V v)
{
    double lane[PN_WIDTH];

    PN_STORE(lane, v);
    for (size_t k = 0; k < PN_WIDTH; k++) {
        int above = lane[k] > 0.0;

        lane[k] = above ? **p : 0.0;
        *p += above;
    }
    return PN_LOAD(lane);
}
#endif

/* The constants of a pn_powers, one a lane. */
typedef struct powers_v {
    PN_V base, add, size;
    int magnitude, divide; /* size: the divisor, or the factor */
} powers_v;

PN_INLINE powers_v spread_powers(const pn_powers *of)
{
    int divide = !(of->size > 1e-300 && of->size < 1e300);

    return (powers_v){ PN_SET1(of->base), PN_SET1(of->add), PN_SET1(divide ? of->size : 1.0 / of->size), of->magnitude,
                       divide };
}

/* u, 0 where it is not positive; NaN counts as not positive. */
PN_INLINE PN_V shifted_v(PN_V x, const powers_v *by)
{
    PN_V entry = by->magnitude ? PN_ABS(x) : x, zero = PN_ZERO();
    PN_V u = PN_ADD(PN_SUB(entry, by->base), by->add);

    u = by->divide ? PN_DIV(u, by->size) : PN_MUL(u, by->size);

    return PN_IF_LT(zero, u, u, zero);
}

/* The positive u of x[n], n <= PN_PACKED, and 0 behind them; their number. */
PN_INLINE size_t pack_n(size_t n, const double *x, const powers_v *by, double *u)
{
    double last[PN_WIDTH];
    PN_V zero = PN_ZERO();
    size_t i = 0, count = 0;

    for (; i + PN_WIDTH <= n; i += PN_WIDTH)
        count += PN_PACK(u + count, shifted_v(PN_LOAD(x + i), by), zero);
    if (i < n) {
        for (size_t k = 0; k < PN_WIDTH; k++)
            last[k] = i + k < n ? x[i + k] : __builtin_nan(""); /* shifts to 0 */
        count += PN_PACK(u + count, shifted_v(PN_LOAD(last), by), zero);
    }
    PN_STORE(u + count, zero);
    return count;
}

/* w = u^exponent of count packed numbers and of the 0 behind them.  In two loops, since a logarithm and its exponential
 * in one would wait for each other. */
PN_INLINE void raise_n(size_t count, const double *u, double exponent, double *w)
{
    PN_V zero = PN_ZERO(), by = PN_SET1(exponent);

    if (exponent == 1.0 || exponent == 0.0) {
        for (size_t i = 0; i < count; i += PN_WIDTH) {
            PN_V one = PN_LOAD(u + i);

            PN_STORE(w + i, exponent == 1.0 ? one : PN_IF_LT(zero, one, PN_SET1(1.0), zero));
        }
        return;
    }
    for (size_t i = 0; i < count; i += PN_WIDTH)
        PN_STORE(w + i, PN_MUL(by, PN_LOG(PN_LOAD(u + i)))); /* ln 0 = -inf, and e^-inf = 0 */
    for (size_t i = 0; i < count; i += PN_WIDTH)
        PN_STORE(w + i, PN_EXP(PN_LOAD(w + i)));
}

/* sums[k] += the sum of w u^k */
PN_INLINE void add_sums(size_t count, const double *u, const double *w, size_t terms, double *sums)
{
    PN_V below = PN_ZERO(), at = PN_ZERO(), above = PN_ZERO();

    for (size_t i = 0; i < count; i += PN_WIDTH) {
        PN_V one = PN_LOAD(u + i), power = PN_LOAD(w + i), once = PN_MUL(power, one);

        below = PN_ADD(below, power);
        at = PN_ADD(at, once);
        above = PN_FMA(once, one, above);
    }
    sums[0] += PN_SUM(below);
    sums[1] += PN_SUM(at);
    if (terms > 2)
        sums[2] += PN_SUM(above);
}

static void power_sums_n(size_t n, const double *x, const pn_powers *of, double *sums)
{
    double u[PN_PACKED + PN_WIDTH], w[PN_PACKED + PN_WIDTH];
    powers_v by = spread_powers(of);

    for (size_t first = 0; first < n; first += PN_PACKED) {
        size_t count = pack_n(n - first < PN_PACKED ? n - first : PN_PACKED, x + first, &by, u);

        raise_n(count, u, of->exponent, w);
        add_sums(count, u, w, 3, sums);
    }
}

static void powers_n(size_t n, const double *x, const pn_powers *of, double factor, double *out, double *sums)
{
    double u[PN_PACKED + PN_WIDTH], w[PN_PACKED + PN_WIDTH], last[PN_WIDTH];
    powers_v by = spread_powers(of);
    PN_V scale = PN_SET1(factor), zero = PN_ZERO();

    for (size_t first = 0; first < n; first += PN_PACKED) {
        size_t end = n - first < PN_PACKED ? n : first + PN_PACKED;
        size_t count = pack_n(end - first, x + first, &by, u);
        const double *next = w;

        PN_STORE(w + count, zero);
        raise_n(count, u, of->exponent, w);
        add_sums(count, u, w, 2, sums);
        for (size_t i = first; i < end; i += PN_WIDTH) {
            size_t left = end - i < PN_WIDTH ? end - i : PN_WIDTH;
            PN_V entry, power;

            for (size_t k = 0; left < PN_WIDTH && k < PN_WIDTH; k++)
                last[k] = k < left ? x[i + k] : __builtin_nan("");
            entry = PN_LOAD(left < PN_WIDTH ? last : x + i);
            power = shifted_v(entry, &by);
            power = PN_UNPACK(&next, power);
            power = PN_MUL(scale, power);
            if (of->magnitude)
                power = PN_ADD(PN_IF_LT(entry, zero, PN_NEG(power), power), zero); /* no -0 */
            PN_STORE(left < PN_WIDTH ? last : out + i, power);
            for (size_t k = 0; left < PN_WIDTH && k < left; k++)
                out[i + k] = last[k];
        }
    }
}
