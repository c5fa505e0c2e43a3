/* simd_arithmetic.h -- the arithmetic of one simd table: one operation a kernel, nothing fused, so every lane is IEEE's
 * result.  Included by simd_body.h, whose header says what is defined before; this part takes besides
 *
 *   PN_SUB PN_SQRT PN_NEG PN_ABS                          of the sign bit alone, the last two
 *   PN_IF_LT PN_IF_LE PN_IF_NE(a, b, x, y)                lanes of x where a < b (<=, !=), else of y;
 *       NaN is != everything
 *   PN_POW                                                SLEEF's, within 1 ulp
 *
 * Depends on: simd.h. */

/* A number becomes a vector in `room` that is loaded again and again: then one loop serves all steps. */
PN_INLINE const double *spread(const double *x, size_t step, double *room)
{
    if (step)
        return x;
    PN_STORE(room, PN_SET1(*x));
    return room;
}

#define PN_BINARY(name, CALL)                                                                                          \
    static void name##_n(size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out)        \
    {                                                                                                                  \
        double a_room[PN_WIDTH], b_room[PN_WIDTH];                                                                     \
        size_t i = 0;                                                                                                  \
                                                                                                                       \
        a = spread(a, a_step, a_room);                                                                                 \
        b = spread(b, b_step, b_room);                                                                                 \
        for (; i + PN_WIDTH <= n; i += PN_WIDTH, a += PN_WIDTH * a_step, b += PN_WIDTH * b_step)                       \
            PN_STORE(out + i, CALL(PN_LOAD(a), PN_LOAD(b)));                                                           \
        if (i < n) {                                                                                                   \
            PN_MASK mask = PN_MASK_OF(n - i);                                                                          \
            PN_STORE_PART(out + i, mask, CALL(PN_LOAD_PART(a, mask), PN_LOAD_PART(b, mask)));                          \
        }                                                                                                              \
    }

PN_INLINE PN_V min_v(PN_V a, PN_V b)
{
    return PN_IF_NE(a, a, a, PN_IF_LT(a, b, a, b));
}

PN_INLINE PN_V max_v(PN_V a, PN_V b)
{
    return PN_IF_NE(a, a, a, PN_IF_LT(b, a, a, b));
}

PN_INLINE PN_V lt_v(PN_V a, PN_V b)
{
    return PN_IF_LT(a, b, PN_SET1(1.0), PN_ZERO());
}

PN_INLINE PN_V le_v(PN_V a, PN_V b)
{
    return PN_IF_LE(a, b, PN_SET1(1.0), PN_ZERO());
}

/* The product of x with 0 is the sign of 0 and of NaN. */
PN_INLINE PN_V sign_v(PN_V x)
{
    PN_V zero = PN_ZERO();

    return PN_IF_LT(zero, x, PN_SET1(1.0), PN_IF_LT(x, zero, PN_SET1(-1.0), PN_MUL(x, zero)));
}

/* A square is the rounded product, whether its exponent is a number or the entry of a vector. */
PN_INLINE PN_V power_v(PN_V a, PN_V b)
{
    return PN_IF_NE(b, PN_SET1(2.0), PN_POW(a, b), PN_MUL(a, a));
}

PN_BINARY(add, PN_ADD)
PN_BINARY(subtract, PN_SUB)
PN_BINARY(multiply, PN_MUL)
PN_BINARY(divide, PN_DIV)
PN_BINARY(min, min_v)
PN_BINARY(max, max_v)
PN_BINARY(lt, lt_v)
PN_BINARY(le, le_v)
PN_BINARY(general_power, power_v)
PN_BINARY(sigmoid_of, sigmoid_of_v)
PN_BINARY(softplus_of, softplus_of_v)

static void power_n(size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out)
{
    if (!b_step && *b == 2.0)
        multiply_n(n, a, a_step, a, a_step, out);
    else
        general_power_n(n, a, a_step, b, b_step, out);
}

static void where_n(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
                    double *out)
{
    double a_room[PN_WIDTH], b_room[PN_WIDTH];
    PN_V zero = PN_ZERO();
    size_t i = 0;

    a = spread(a, a_step, a_room);
    b = spread(b, b_step, b_room);
    for (; i + PN_WIDTH <= n; i += PN_WIDTH, a += PN_WIDTH * a_step, b += PN_WIDTH * b_step)
        PN_STORE(out + i, PN_IF_NE(PN_LOAD(condition + i), zero, PN_LOAD(a), PN_LOAD(b)));
    if (i < n) {
        PN_MASK mask = PN_MASK_OF(n - i);
        PN_V chosen = PN_IF_NE(PN_LOAD_PART(condition + i, mask), zero, PN_LOAD_PART(a, mask), PN_LOAD_PART(b, mask));

        PN_STORE_PART(out + i, mask, chosen);
    }
}

/* ---- two operations in one pass, which saves a store and a load; each rounds on its own ---- */

#define PN_BACK(t, c) PN_SUB(c, t)

#define PN_CHAIN(name, INNER, OUTER)                                                                                   \
    static void name##_n(size_t n, const double *const *operands, const size_t *steps, double *out)                    \
    {                                                                                                                  \
        double a_room[PN_WIDTH], b_room[PN_WIDTH], c_room[PN_WIDTH];                                                   \
        const double *a = spread(operands[0], steps[0], a_room), *b = spread(operands[1], steps[1], b_room);           \
        const double *c = spread(operands[2], steps[2], c_room);                                                       \
        size_t i = 0, a_next = PN_WIDTH * steps[0], b_next = PN_WIDTH * steps[1], c_next = PN_WIDTH * steps[2];        \
                                                                                                                       \
        for (; i + PN_WIDTH <= n; i += PN_WIDTH, a += a_next, b += b_next, c += c_next)                                \
            PN_STORE(out + i, OUTER(INNER(PN_LOAD(a), PN_LOAD(b)), PN_LOAD(c)));                                       \
        if (i < n) {                                                                                                   \
            PN_MASK mask = PN_MASK_OF(n - i);                                                                          \
            PN_V inner = INNER(PN_LOAD_PART(a, mask), PN_LOAD_PART(b, mask));                                          \
                                                                                                                       \
            PN_STORE_PART(out + i, mask, OUTER(inner, PN_LOAD_PART(c, mask)));                                         \
        }                                                                                                              \
    }

#define PN_CHAINS_OF(inner, INNER)                                                                                     \
    PN_CHAIN(inner##_add, INNER, PN_ADD)                                                                               \
    PN_CHAIN(inner##_subtract, INNER, PN_SUB)                                                                          \
    PN_CHAIN(inner##_back, INNER, PN_BACK)                                                                             \
    PN_CHAIN(inner##_multiply, INNER, PN_MUL)

PN_CHAINS_OF(add, PN_ADD)
PN_CHAINS_OF(subtract, PN_SUB)
PN_CHAINS_OF(multiply, PN_MUL)

#define PN_CHAIN_ROW(inner)                                                                                            \
    {                                                                                                                  \
        inner##_add_n, inner##_subtract_n, inner##_back_n, inner##_multiply_n                                          \
    }

PN_ELEMENTWISE(negate, PN_NEG)
PN_ELEMENTWISE(abs, PN_ABS)
PN_ELEMENTWISE(sign, sign_v)
PN_ELEMENTWISE(sqrt, PN_SQRT)
