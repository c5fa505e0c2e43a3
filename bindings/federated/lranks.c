/* lranks.c -- pn.ranks: the processes that mpirun has started together; the transport of federated runs over them.
 * Depends on: pnl.h, lfederated.h, federated/transport/ranks_transport.h, core/ranks.h, random/shared_stream.h,
 * penumbra.mpi (bindings/mpi/).  Used by: module.c. */
#include <stdlib.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/federated/lfederated.h"

#include "core/ranks.h"
#include "federated/transport/ranks_transport.h"
#include "random/shared_stream.h"

static const char ranks_key = 'r';

static pn_ranks *self_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ranks_class);
}

/* ---- fields and methods ---- */

PNL_GETTER(ranks_rank, pn_ranks_rank(self_of(L)));
PNL_GETTER(ranks_size, pn_ranks_size(self_of(L)));
PNL_GETTER(ranks_name, pn_ranks_name(self_of(L)));

static int ranks_rng(lua_State *L)
{
    pn_ranks *self = self_of(L);
    pn_rng **slot = (pn_rng **)pnl_newbox(L, &pnl_rng_class);
    pn_err err;

    pnl_status(L, pn_rng_shared(slot, self, &err), &err);
    return 1;
}

static int ranks_barrier(lua_State *L)
{
    pn_ranks *self = self_of(L);
    pn_err err;

    if (pn_ranks_size(self) > 1)
        pnl_status(L, pn_ranks_complete(self, 0, NULL, NULL, 0, 0, PN_OK, &err), &err);
    return 0;
}

static int ranks_tostring(lua_State *L)
{
    const pn_ranks *self = self_of(L);

    lua_pushfstring(L, "ranks: rank %d of %d, %s", (int)pn_ranks_rank(self), (int)pn_ranks_size(self),
                    pn_ranks_name(self));
    return 1;
}

static const pnl_row ranks_rows[] = {
    { "rank", ranks_rank, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "ranks.rank -> integer",
      "Which of the processes this is, from 0: `if ranks.rank == 0` before what only one rank should do, such as "
      "printing, writing files and opening the ledger's file (the others take a ledger of the same budget in "
      "memory)." },
    { "size", ranks_size, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "ranks.size -> integer",
      "How many processes there are." },
    { "name", ranks_name, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "ranks.name -> string",
      "What they are ranks of: \"mpi\"." },
    { "rng", ranks_rng, PNL_METHOD, PNL_NOTHING | PNL_PROCESSES, "ranks:rng() -> rng",
      "A secure stream that is the same on all ranks: rank 0 asks its operating system for the key.  All ranks are one "
      "curator: each holds the noise.  Every rank has to call it, and to make the same draws.  Runs over an objective "
      "with ranks= take one by themselves." },
    { "barrier", ranks_barrier, PNL_METHOD, PNL_NOTHING | PNL_PROCESSES, "ranks:barrier()",
      "Wait until all ranks are here.  Error when another rank does something else." },
    { "__tostring", ranks_tostring, PNL_META, PNL_NOTHING | PNL_PROCESSES, "tostring(ranks) -> string",
      "Rank, size and name." },
    PNL_ROW_END,
};

static void free_ranks(void *ranks)
{
    pn_ranks_free(ranks);
}

const pnl_class pnl_ranks_class = {
    "pn.ranks",
    free_ranks,
    ranks_rows,
    "Processes that run the same script and share the work: each pass of an objective with ranks= is cut into the same "
    "chunks as in one process, each rank computes some, and all add up all of them.",
    NULL,
    NULL,
};

/* ---- pn.ranks() ---- */

/* Open MPI's mpirun, and those of MPICH and its kin or of SLURM. */
static bool started_together(void)
{
    static const char *const marks[] = { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", NULL };

    for (size_t i = 0; marks[i]; i++) {
        if (getenv(marks[i]))
            return true;
    }
    return false;
}

/* Push the table of penumbra.mpi. */
static const pn_ranks_ops *load_module(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.mpi");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        const char *why = lua_tostring(L, -1);

        if (!why || strstr(why, "module 'penumbra.mpi' not found"))
            pnl_error(L, "ranks: the module penumbra.mpi is not there; install Open MPI (Debian: libopenmpi-dev and "
                         "openmpi-bin) and build Penumbra again");
        pnl_error(L, "ranks: %s", why);
    }
    if (!lua_islightuserdata(L, -1))
        pnl_error(L, "ranks: the module penumbra.mpi did not return a table of ranks");
    return lua_touserdata(L, -1);
}

static int open_ranks(lua_State *L)
{
    const pn_ranks_ops *ops;
    pn_ranks **slot;
    pn_err err;

    lua_settop(L, 0);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &ranks_key) == LUA_TUSERDATA)
        return 1;
    if (!started_together())
        return pnl_error(L, "ranks: this process stands alone; start the script with `mpirun -n 2 penumbra SCRIPT`");
    ops = load_module(L);
    slot = (pn_ranks **)pnl_newbox(L, &pnl_ranks_class);
    pnl_status(L, pn_ranks_new(slot, ops, NULL, &err), &err);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &ranks_key);
    return 1;
}

/* ---- pn.federated.mpi ---- */

enum { MPI_RANKS, MPI_TIMEOUT, MPI_OWN };

static const char *const ranks_type[] = { "pn.ranks", NULL };

static const pn_param mpi_params[] = {
    { "ranks", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, ranks_type, "pn.ranks(): rank k is party k" },
    { "timeout", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 60.0, NULL,
      "seconds of silence of a party before a run stops with an error that names it" },
    PN_PARAM_END,
};

static int federated_mpi(lua_State *L)
{
    pn_arg args[MPI_OWN];
    pn_transport **slot;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "federated.mpi", mpi_params, args, NULL);
    pnl_status(L, pn_args_check("federated.mpi", mpi_params, args, &err), &err);
    slot = pnl_new_transport(L);
    pnl_status(L, pn_transport_ranks(slot, (pn_ranks *)(size_t)args[MPI_RANKS].object, args[MPI_TIMEOUT].real, &err),
               &err);
    return 1;
}

void pnl_open_federated_mpi(lua_State *L)
{
    lua_pushcfunction(L, federated_mpi);
    lua_setfield(L, -2, "mpi");
    pnl_reference(L, "federated", "mpi", PNL_NOTHING | PNL_PROCESSES, "pn.federated.mpi{ranks=, timeout=} -> transport",
                  "On rank 0 of `mpirun -n K+1`: the server of K parties, which are the other ranks; these call "
                  "pn.federated.party{ranks=, data=, ledger=}:serve().  For simulation at scale on one's own machines: "
                  "nobody is authenticated and nothing is encrypted.  Errors: on another rank than 0, with one rank.",
                  "Lou, Cheung (2018), corrected", mpi_params);
}

void pnl_open_ranks(lua_State *L)
{
    pnl_open_class(L, &pnl_ranks_class);
    lua_pushcfunction(L, open_ranks);
    lua_setfield(L, -2, "ranks");
    pnl_reference(
        L, "", "ranks", PNL_NOTHING | PNL_PROCESSES, "pn.ranks() -> ranks",
        "The processes that `mpirun -n N penumbra SCRIPT` has started together, for pn.objective{ranks=}: all run the "
        "same script with the same data, and results have the bits of one process.  A rank that ends with an error "
        "ends all.  Errors: a process that stands alone; Penumbra built without MPI.",
        NULL, NULL);
}
