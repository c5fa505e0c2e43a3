/* lrng.c -- pn.rng: random streams, and the module's own secure one.
 * Depends on: pnl.h, random/rng.h, random/sample.h.  Used by: every binding that draws (pnl_rng). */
#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"

#include "random/sample.h"

static const char default_key = 'd';

static pn_rng *check_rng(lua_State *L)
{
    return pnl_check(L, 1, &pnl_rng_class);
}

/* ---- methods ---- */

PNL_GETTER(rng_simulated, pn_rng_simulated(check_rng(L)));

static int rng_uniform(lua_State *L)
{
    lua_pushnumber(L, pn_rng_uniform(check_rng(L)));
    return 1;
}

static int rng_integer(lua_State *L)
{
    pn_rng *rng = check_rng(L);
    size_t n = pnl_check_word(L, 2, "rng:integer: n");

    lua_pushinteger(L, (lua_Integer)pn_rng_below(rng, n) + 1);
    return 1;
}

/* The buffer is a userdata, so that a failed table leaves nothing behind. */
static int rng_permutation(lua_State *L)
{
    pn_rng *rng = check_rng(L);
    size_t n = pnl_check_count(L, 2, "rng:permutation: n");
    size_t *order;

    if (n > (size_t)1 << 30)
        return pnl_error(L, "rng:permutation: n must be at most 2^30, got %zu", n);
    order = lua_newuserdatauv(L, n * sizeof *order, 0);
    pn_rng_permutation(rng, n, order);
    pnl_push_indices(L, "rng:permutation", order, n);
    return 1;
}

static int rng_sphere(lua_State *L)
{
    pn_rng *rng = check_rng(L);
    size_t n = pnl_check_count(L, 2, "rng:sphere: n");

    pn_sample_sphere(rng, n, pnl_new_vec(L, n));
    return 1;
}

static int rng_ball(lua_State *L)
{
    pn_rng *rng = check_rng(L);
    size_t n = pnl_check_count(L, 2, "rng:ball: n");

    pn_sample_ball(rng, n, pnl_new_vec(L, n));
    return 1;
}

static int rng_split(lua_State *L)
{
    const pn_rng *parent = check_rng(L);
    int exact = 0;
    lua_Integer stream = lua_tointegerx(L, 2, &exact);
    pn_rng **slot;
    pn_err err;

    if (lua_type(L, 2) != LUA_TNUMBER || !exact)
        return pnl_error(L, "rng:split: the stream must be a whole number, got %s", pnl_got(L, 2));
    slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pnl_status(L, pn_rng_split(slot, parent, (uint64_t)stream, &err), &err);
    return 1;
}

static int rng_tostring(lua_State *L)
{
    lua_pushstring(L, pn_rng_simulated(check_rng(L)) ? "pn.rng (seeded: simulated noise, no privacy)"
                                                     : "pn.rng (secure: keyed by the operating system)");
    return 1;
}

static const pnl_row rng_rows[] = {
    { "simulated", rng_simulated, PNL_FIELD, PNL_NOTHING, "rng.simulated -> boolean",
      "True for a seeded stream: noise from it protects nobody, and a ledger refuses it unless it was opened with "
      "teaching = true." },
    { "uniform", rng_uniform, PNL_METHOD, PNL_NOTHING, "rng:uniform() -> number",
      "A number in [0, 1) with 53 random bits.  For simulation and data, never for private noise." },
    { "integer", rng_integer, PNL_METHOD, PNL_NOTHING, "rng:integer(n) -> integer",
      "A whole number from 1 to n, exactly uniform.  For simulation and data, never for private noise.  Error unless n "
      "is a whole number from 1." },
    { "permutation", rng_permutation, PNL_METHOD, PNL_NOTHING, "rng:permutation(n) -> table",
      "The numbers 1 to n in a uniformly random order.  For simulation and data, never for private noise.  Error "
      "unless n is a whole number from 1 to 2^30." },
    { "sphere", rng_sphere, PNL_METHOD, PNL_NOTHING, "rng:sphere(n) -> vec",
      "A direction: a vector of n numbers, uniform on the unit sphere.  For simulation and starts, never for private "
      "noise.  Error unless n is a whole number from 1." },
    { "ball", rng_ball, PNL_METHOD, PNL_NOTHING, "rng:ball(n) -> vec",
      "A vector of n numbers, uniform in the unit ball.  For simulation and starts, never for private noise.  Error "
      "unless n is a whole number from 1." },
    { "split", rng_split, PNL_METHOD, PNL_NOTHING, "rng:split(stream) -> rng",
      "An independent stream.  Of a seeded one: determined by its seed and the whole number `stream`, whatever has "
      "been drawn before.  Of a secure one: keyed anew by the operating system.  Error unless stream is a whole "
      "number." },
    { "__tostring", rng_tostring, PNL_META, PNL_NOTHING, "tostring(rng) -> string",
      "Whether the stream is secure or seeded." },
    PNL_ROW_END,
};

static void free_rng(void *rng)
{
    pn_rng_free(rng);
}

const pnl_class pnl_rng_class = {
    "pn.rng",
    free_rng,
    rng_rows,
    "A stream of random numbers (ChaCha20).  Secure streams are keyed by the operating system and differ in a forked "
    "child; seeded ones repeat, are marked simulated and give no privacy.",
    NULL,
    NULL,
};

/* ---- the library ---- */

static int new_secure(lua_State *L)
{
    pn_rng **slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pn_err err;

    pnl_status(L, pn_rng_secure(slot, &err), &err);
    return 1;
}

static int new_seeded(lua_State *L)
{
    int exact = 0;
    lua_Integer seed;
    pn_rng **slot;
    pn_err err;

    seed = lua_tointegerx(L, 1, &exact);
    if (lua_type(L, 1) != LUA_TNUMBER || !exact)
        return pnl_error(L, "rng.seeded: the seed must be a whole number, got %s", pnl_got(L, 1));
    slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pnl_status(L, pn_rng_seeded(slot, (uint64_t)seed, &err), &err);
    return 1;
}

static const pnl_row library_rows[] = {
    { "secure", new_secure, PNL_FUNCTION, PNL_NOTHING, "pn.rng.secure() -> rng",
      "A stream keyed by the operating system (libsodium): the only kind that protects anybody." },
    { "seeded", new_seeded, PNL_FUNCTION, PNL_NOTHING | PNL_SEEDED, "pn.rng.seeded(seed) -> rng",
      "The same stream for the same whole number on every platform, for teaching and tests.  rng.simulated is true, "
      "and whatever it touches is marked so.  Error unless the seed is a whole number." },
    PNL_ROW_END,
};

pn_rng *pnl_rng(lua_State *L, int index)
{
    pn_rng *rng;

    if (!lua_isnoneornil(L, index)) {
        rng = pnl_check(L, index, &pnl_rng_class);
        if (pn_rng_simulated(rng))
            pnl_refuse_analyst(L, "seeded noise", "it protects nobody; leave rng out");
        return rng;
    }
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &default_key) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        new_secure(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &default_key);
    }
    rng = pnl_check(L, -1, &pnl_rng_class);
    lua_pop(L, 1);
    return rng;
}

void pnl_open_rng(lua_State *L)
{
    pnl_open_class(L, &pnl_rng_class);
    pnl_library(L, "rng", "Random streams: secure for noise, seeded for teaching and tests.", library_rows);
    lua_setfield(L, -2, "rng");
}
