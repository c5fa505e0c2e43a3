/* size_test.c -- sums and products of sizes at the cap and where they would wrap.  Depends on: check.h. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/param.h"
#include "core/size.h"

#include "check.h"

static void sums_and_products(void)
{
    size_t out = 7;

    CHECK(pn_size_add(&out, PN_SIZE_MAX - 1, 1) && out == PN_SIZE_MAX);
    CHECK(!pn_size_add(&out, PN_SIZE_MAX, 1) && out == PN_SIZE_MAX);
    CHECK(!pn_size_add(&out, (size_t)INT64_MAX, (size_t)INT64_MAX)); /* 2^64 - 2 */
    CHECK(!pn_size_add(&out, SIZE_MAX, 3));                          /* wraps to 2 */
    CHECK(pn_size_multiply(&out, (size_t)1 << 24, (size_t)1 << 24) && out == PN_SIZE_MAX);
    CHECK(!pn_size_multiply(&out, (size_t)1 << 24, ((size_t)1 << 24) + 1));
    CHECK(!pn_size_multiply(&out, (size_t)1 << 62, 4)); /* wraps to 0 */
    CHECK(pn_size_multiply(&out, 0, SIZE_MAX) && out == 0);
}

static void numbers(void)
{
    static const double others[] = { -1.0, -0x1p-1000, 0.5,      0x1p48 + 1.0, 0x1p63, 0x1p64,
                                     1e30, 1e300,      INFINITY, -INFINITY,    NAN };
    size_t out = 7;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!pn_size_from(&out, others[i]) && out == 7);
    CHECK(pn_size_from(&out, 0x1p48) && out == PN_SIZE_MAX);
    CHECK(pn_size_from(&out, 0.0) && out == 0);
}

static void messages(void)
{
    size_t out = 7;
    pn_err err;

    CHECK(pn_size_sum(&out, "C:product", "the dimensions", SIZE_MAX, 3, &err) == PN_EINVAL && out == 7);
    CHECK(strcmp(err.message, "C:product: the dimensions, 18446744073709551615 + 3, must be at most 2^48") == 0);
    CHECK(pn_size_product(&out, "set.nuclear_ball", "rows x cols", PN_SIZE_MAX, 2, &err) == PN_EINVAL && out == 7);
    CHECK(strcmp(err.message, "set.nuclear_ball: rows x cols, 281474976710656 x 2, must be at most 2^48") == 0);
    CHECK(pn_size_check("set.free", "dim", PN_SIZE_MAX, &err) == PN_OK);
    CHECK(pn_size_check("set.free", "dim", PN_SIZE_MAX + 1, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "set.free: dim must be at most 2^48, got 281474976710657") == 0);
}

static void tables(void)
{
    static const pn_param params[] = {
        { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
        { "seed", PN_COUNT, PN_OPTIONAL, PN_WORD, 1.0, NULL, "public" },
        PN_PARAM_END,
    };
    pn_arg args[2] = { { .given = true, .count = PN_SIZE_MAX }, { .given = true, .count = SIZE_MAX / 2 } };
    pn_err err;

    CHECK(pn_args_check("test", params, args, &err) == PN_OK);
    args[0].count++;
    CHECK(pn_args_check("test", params, args, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "test: dim must be at most 2^48, got 281474976710657") == 0);
}

int main(void)
{
    sums_and_products();
    numbers();
    messages();
    tables();
    return check_summary();
}
