/* simd.c -- picks the table.  Depends on: simd_tables.h.  Used by: numeric, data, objective, bindings. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/simd/simd_tables.h"

/* Best first. */
static const pn_simd *const tables[] = {
#if defined(__x86_64__)
    &pn_simd_avx512,
    &pn_simd_avx2,
#endif
    &pn_simd_base,
};

#define TABLE_COUNT (sizeof tables / sizeof tables[0])

static bool runs_here(const pn_simd *table)
{
#if defined(__x86_64__)
    if (table == &pn_simd_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    if (table == &pn_simd_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return table == &pn_simd_base;
}

const pn_simd *pn_simd_at(size_t index)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (runs_here(tables[i]) && index-- == 0)
            return tables[i];
    }
    return NULL;
}

/* The first table that runs here, from the one named by PN_SIMD on; other names ask for nothing. */
static const pn_simd *resolve(void)
{
    const char *wish = getenv("PN_SIMD");
    size_t first = 0;

    for (size_t i = 0; wish && i < TABLE_COUNT; i++) {
        if (strcmp(tables[i]->name, wish) == 0)
            first = i;
    }
    while (!runs_here(tables[first]))
        first++;
    return tables[first];
}

const pn_simd *pn_simd_best(void)
{
    static _Atomic(const pn_simd *) best; /* resolved once; racing threads find the same answer */
    const pn_simd *table = atomic_load_explicit(&best, memory_order_acquire);

    if (!table) {
        table = resolve();
        atomic_store_explicit(&best, table, memory_order_release);
    }
    return table;
}
