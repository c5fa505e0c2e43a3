/* level_coin.h -- 2^96 exp(-d) out of whole numbers: the mass of a level, and the coin that makes it exact.
 * Depends on: noise_table.h, selection.h, stream.h.  Used by: score_levels.c, permute_and_flip.c. */
#ifndef PN_RANDOM_LEVEL_COIN_H
#define PN_RANDOM_LEVEL_COIN_H

#include "random/tables/noise_table.h"
#include "random/selection.h"
#include "random/stream.h"

#ifndef LEVEL_MASSES /* a test that enumerates the draws has its own, with shorter digits */
#define LEVEL_MASSES pn_noise_levels
#define LEVEL_WORDS  PN_LEVEL_WORDS
#define LEVEL_BITS   96
#endif

/** E = ceil(2^96 exp(-below)). */
static inline pn_u128 pn_mass_of_level(unsigned below)
{
    return (pn_u128)LEVEL_MASSES[below].mass.high << 64 | LEVEL_MASSES[below].mass.low;
}

/** True with probability 2^96 exp(-below)/E: a digit below the table's keeps, one above it does not. */
static inline bool pn_level_coin(pn_rng *rng, unsigned below)
{
    const uint64_t *digits = LEVEL_MASSES[below].kept;

    if (below == 0)
        return true;
    for (size_t i = 0; i < LEVEL_WORDS; i++) {
        uint64_t digit = pn_stream_word(rng);

        if (digit != digits[i])
            return digit < digits[i];
    }
    return false;
}

#endif
