/* noise_table_levels_test.c -- the masses of levels, and what is kept of them, against exp(-d) in whole numbers of 512
 * bits that are made here from the sum of (-1)^k/k!. */
#include <stdbool.h>
#include <string.h>

#include "random/tables/noise_table.h"
#include "random/selection.h"

#include "check.h"

static pn_u128 mass_at(unsigned below)
{
    return (pn_u128)pn_noise_levels[below].mass.high << 64 | pn_noise_levels[below].mass.low;
}

#define LIMBS 16 /* of 32 bits, the first has the whole part */

static void divide(uint32_t *x, uint32_t by)
{
    uint64_t rest = 0;

    for (int i = 0; i < LIMBS; i++) {
        rest = rest << 32 | x[i];
        x[i] = (uint32_t)(rest / by);
        rest %= by;
    }
}

static void add(uint32_t *x, const uint32_t *y, bool minus)
{
    int64_t carry = 0;

    for (int i = LIMBS - 1; i >= 0; i--) {
        carry += (int64_t)x[i] + (minus ? -(int64_t)y[i] : (int64_t)y[i]);
        x[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* x <- x y, cut to what x holds. */
static void multiply(uint32_t *x, const uint32_t *y)
{
    uint64_t sum[2 * LIMBS] = { 0 };

    for (int i = LIMBS - 1; i >= 0; i--) {
        uint64_t carry = 0;

        for (int j = LIMBS - 1; j >= 0; j--) {
            carry += (uint64_t)x[i] * y[j] + sum[i + j + 1];
            sum[i + j + 1] = (uint32_t)carry;
            carry >>= 32;
        }
        sum[i] = carry;
    }
    for (int i = 0; i < LIMBS; i++) /* both have their point after the first limb */
        x[i] = (uint32_t)sum[i + 1];
}

/* exp(-1) = sum (-1)^k/k!. */
static void exp_minus_one(uint32_t *out)
{
    uint32_t term[LIMBS] = { 1 };

    memset(out, 0, LIMBS * sizeof *out);
    for (uint32_t k = 1; k < 120; k++) {
        add(out, term, k % 2 == 0);
        divide(term, k);
    }
}

/* E kept = exp(-d) from below to 2^-315 of it, and E - 1 < 2^96 exp(-d) <= E. */
static void the_table_is_exp(void)
{
    uint32_t step[LIMBS], power[LIMBS] = { 1 };

    exp_minus_one(step);
    for (unsigned d = 0; d < PN_LEVEL_COUNT; d++) {
        const pn_level_mass *row = &pn_noise_levels[d];
        uint32_t made[LIMBS] = { (uint32_t)(row->mass.high >> 32), (uint32_t)row->mass.high,
                                 (uint32_t)(row->mass.low >> 32), (uint32_t)row->mass.low };
        uint32_t kept_part[LIMBS] = { d == 0 };
        pn_u128 floor96 = ((pn_u128)power[0] << 96) + ((pn_u128)power[1] << 64) + ((uint64_t)power[2] << 32) + power[3];

        for (int i = 0; d > 0 && i < PN_LEVEL_WORDS; i++) {
            kept_part[1 + 2 * i] = (uint32_t)(row->kept[i] >> 32);
            kept_part[2 + 2 * i] = (uint32_t)row->kept[i];
        }
        CHECK(mass_at(d) == floor96 + (d > 0));
        multiply(made, kept_part);
        add(power, made, true); /* what the table lacks */
        for (int i = 0; i < 10; i++)
            CHECK(power[i] == 0);
        add(power, made, false);
        multiply(power, step);
    }
    CHECK(mass_at(1) == (pn_u128)UINT64_C(29146412150787779) * UINT64_C(1000000000000) + UINT64_C(157341161347));
    CHECK(mass_at(10) == (pn_u128)UINT64_C(3596953013358) * UINT64_C(1000000000000) + UINT64_C(336146105487));
    CHECK(mass_at(PN_LEVEL_COUNT - 1) == 2);
}

int main(void)
{
    the_table_is_exp();
    return check_summary();
}
