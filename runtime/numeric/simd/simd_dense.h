/* simd_dense.h -- the two dense kernels of a simd table, for a matrix of doubles or of floats; sums are of doubles.
 * Included by simd_body.h once for each kind of entry, after it has defined:
 *
 *   PN_X                                  the type of an entry of the matrix
 *   PN_LOAD_X(p) PN_LOAD_X_PART(p, m)     PN_WIDTH entries, or the selected ones, as doubles
 *   PN_NAMED(name)                        the name of a kernel for this kind of entry
 *
 * Depends on: simd_body.h. */

/* ---- dense_times: ROWS rows at once share each load of w ---- */

/* Every row has one accumulator and the same order of operations whatever ROWS is, so that its result does not depend
 * on where a caller cuts the matrix into blocks. */
#define PN_DOT_STEP(r) sum##r = PN_FMA(PN_LOAD_X(X + (r)*cols + j), wj, sum##r);
#define PN_DOT_PART(r) sum##r = PN_FMA(PN_LOAD_X_PART(X + (r)*cols + j, mask), wj, sum##r);

#define PN_DOT_LOOP(EACH)                                                                                              \
    do {                                                                                                               \
        size_t j = 0;                                                                                                  \
        for (; j + PN_WIDTH <= cols; j += PN_WIDTH) {                                                                  \
            PN_V wj = PN_LOAD(w + j);                                                                                  \
            EACH(PN_DOT_STEP)                                                                                          \
        }                                                                                                              \
        if (j < cols) {                                                                                                \
            PN_MASK mask = PN_MASK_OF(cols - j);                                                                       \
            PN_V wj = PN_LOAD_PART(w + j, mask);                                                                       \
            EACH(PN_DOT_PART)                                                                                          \
        }                                                                                                              \
    } while (0)

/* Ask for the row that comes `rows` later, which is the block that a caller walking down a matrix wants next: its first
 * kernel then finds it on the way, into the first cache: into the second, both kernels waited for half of it again.  An
 * address past the end of the matrix is harmless to a prefetch. */
PN_INLINE void PN_NAMED(prefetch_ahead)(const PN_X *row, size_t distance, size_t cols)
{
    uintptr_t at = (uintptr_t)row + distance * sizeof(PN_X);

    for (size_t byte = 0; byte < cols * sizeof(PN_X); byte += 64)
        __builtin_prefetch((const void *)(at + byte), 0, 3);
}

#define PN_FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define PN_ONE(DO)  DO(0)

PN_INLINE void PN_NAMED(four_dots)(const PN_X *X, size_t cols, const double *w, double *z)
{
    PN_V sum0 = PN_ZERO(), sum1 = PN_ZERO(), sum2 = PN_ZERO(), sum3 = PN_ZERO();

    PN_DOT_LOOP(PN_FOUR);
    z[0] = PN_SUM(sum0);
    z[1] = PN_SUM(sum1);
    z[2] = PN_SUM(sum2);
    z[3] = PN_SUM(sum3);
}

PN_INLINE void PN_NAMED(one_dot)(const PN_X *X, size_t cols, const double *w, double *z)
{
    PN_V sum0 = PN_ZERO();

    PN_DOT_LOOP(PN_ONE);
    z[0] = PN_SUM(sum0);
}

static void PN_NAMED(dense_times)(const PN_X *X, size_t rows, size_t cols, const double *w, double *z)
{
    size_t r = 0;

    for (; r + 4 <= rows; r += 4) {
        PN_NAMED(prefetch_ahead)(X + r * cols, PN_TIMES_AHEAD / sizeof(PN_X), 4 * cols);
        PN_NAMED(four_dots)(X + r * cols, cols, w, z + r);
    }
    for (; r < rows; r++)
        PN_NAMED(one_dot)(X + r * cols, cols, w, z + r);
}

/* ---- dense_add_transposed: a tile of g stays in registers while all rows pass ---- */

#define PN_TILE_VECTORS 8

/* `full` vectors and, when part is not 0, one more of `part` lanes; full + (part > 0) = count is a constant after
 * inlining, so the loops over v unroll and acc[] lives in registers. */
PN_INLINE void PN_NAMED(add_tile)(const int count, const PN_X *X, size_t rows, size_t cols, const double *a, double *g,
                                  size_t part, size_t ahead)
{
    PN_V acc[PN_TILE_VECTORS];
    PN_MASK mask = PN_MASK_OF(part ? part : 1);
    const int full = count - 1;

#pragma GCC unroll 8
    for (int v = 0; v < full; v++)
        acc[v] = PN_LOAD(g + v * PN_WIDTH);
    acc[full] = part ? PN_LOAD_PART(g + full * PN_WIDTH, mask) : PN_LOAD(g + full * PN_WIDTH);
    for (size_t r = 0; r < rows; r++, X += cols) {
        PN_V ar = PN_SET1(a[r]);

        if (ahead)
            PN_NAMED(prefetch_ahead)(X, ahead, cols);
#pragma GCC unroll 8
        for (int v = 0; v < full; v++)
            acc[v] = PN_FMA(ar, PN_LOAD_X(X + v * PN_WIDTH), acc[v]);
        acc[full] =
            PN_FMA(ar, part ? PN_LOAD_X_PART(X + full * PN_WIDTH, mask) : PN_LOAD_X(X + full * PN_WIDTH), acc[full]);
    }
#pragma GCC unroll 8
    for (int v = 0; v < full; v++)
        PN_STORE(g + v * PN_WIDTH, acc[v]);
    if (part)
        PN_STORE_PART(g + full * PN_WIDTH, mask, acc[full]);
    else
        PN_STORE(g + full * PN_WIDTH, acc[full]);
}

static void PN_NAMED(dense_add_transposed)(const PN_X *X, size_t rows, size_t cols, const double *a, double *g)
{
    const size_t tile = PN_TILE_VECTORS * PN_WIDTH;
    /* Only blocks that are small enough to live in the second cache are somebody's walk down a matrix. */
    size_t ahead = rows * cols <= PN_PREFETCH_BYTES / sizeof(PN_X) ? rows * cols : 0;
    size_t j = 0;

    for (; j + tile <= cols; j += tile) {
        PN_NAMED(add_tile)(PN_TILE_VECTORS, X + j, rows, cols, a, g + j, 0, j == 0 ? ahead : 0);
        ahead = 0;
    }
    if (j < cols) {
        size_t left = cols - j, part = left % PN_WIDTH;

        switch ((left + PN_WIDTH - 1) / PN_WIDTH) {
#define PN_TILE(count)                                                                                                 \
    case count:                                                                                                        \
        if (part)                                                                                                      \
            PN_NAMED(add_tile)(count, X + j, rows, cols, a, g + j, part, ahead);                                       \
        else                                                                                                           \
            PN_NAMED(add_tile)(count, X + j, rows, cols, a, g + j, 0, ahead);                                          \
        break;
            PN_TILE(1)
            PN_TILE(2)
            PN_TILE(3)
            PN_TILE(4)
            PN_TILE(5)
            PN_TILE(6)
            PN_TILE(7)
            PN_TILE(8)
#undef PN_TILE
        }
    }
}

#undef PN_DOT_STEP
#undef PN_DOT_PART
#undef PN_DOT_LOOP
#undef PN_FOUR
#undef PN_ONE
#undef PN_TILE_VECTORS
#undef PN_X
#undef PN_LOAD_X
#undef PN_LOAD_X_PART
#undef PN_NAMED
