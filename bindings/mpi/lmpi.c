/* lmpi.c -- the Lua module penumbra.mpi: ranks by MPI, as the table of core/ranks.h in a light userdata.  It links
 * libmpi and nothing of Penumbra's, so that Penumbra itself needs no MPI.
 * Depends on: core/ranks.h (types only), Lua, MPI.  Used by: pn.ranks (bindings/federated/lranks.c).
 *
 * A process that ends with success says goodbye in order; one that ends with an error ends all the others, which would
 * wait for it.  The module stays mapped when Lua closes (-z nodelete), for that happens after. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <mpi.h>

#include "core/ranks.h"

#define PIECE     ((size_t)1 << 30) /* bytes of one call, whose counts are int */
#define TAG       1
#define NAP_LEAST 20000    /* nanoseconds between two looks for a message, */
#define NAP_MOST  10000000 /* doubled up to this */

/* Of the process, like MPI itself. */
static MPI_Comm world = MPI_COMM_NULL;
static int *counts; /* [2 size] of a gather; kept, for the others would wait for a rank that has no memory for it */

static size_t mpi_rank(void *self)
{
    int rank = 0;

    (void)self;
    (void)MPI_Comm_rank(world, &rank);
    return (size_t)rank;
}

static size_t mpi_size(void *self)
{
    int size = 1;

    (void)self;
    (void)MPI_Comm_size(world, &size);
    return (size_t)size;
}

/* ---- collectives ---- */

static int broadcast_from(int root, void *data, size_t bytes)
{
    int code = MPI_SUCCESS;

    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += PIECE)
        code = MPI_Bcast((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, root, world);
    return code;
}

static int gather_small(void *data, const size_t *offsets, size_t size)
{
    int *begins = counts + size;

    for (size_t r = 0; r < size; r++) {
        counts[r] = (int)(offsets[r + 1] - offsets[r]);
        begins[r] = (int)offsets[r];
    }
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, begins, MPI_BYTE, world);
}

static int mpi_gather_all(void *self, void *data, const size_t *offsets)
{
    size_t size = mpi_size(self);
    int code = MPI_SUCCESS;

    if (offsets[size] <= PIECE)
        return gather_small(data, offsets, size);
    for (size_t r = 0; r < size && code == MPI_SUCCESS; r++)
        code = broadcast_from((int)r, (char *)data + offsets[r], offsets[r + 1] - offsets[r]);
    return code;
}

static int mpi_broadcast(void *self, void *data, size_t bytes)
{
    (void)self;
    return broadcast_from(0, data, bytes);
}

/* ---- messages ---- */

static int mpi_send(void *self, size_t to, const void *data, size_t bytes)
{
    (void)self;
    return bytes > INT_MAX ? MPI_ERR_COUNT : MPI_Send(data, (int)bytes, MPI_BYTE, (int)to, TAG, world);
}

/* Open MPI would spin until something comes. */
static int mpi_probe(void *self, size_t from, double seconds, size_t *bytes)
{
    double until = MPI_Wtime() + seconds;
    struct timespec nap = { 0, NAP_LEAST };
    int there = 0, count = 0, code;
    MPI_Status status;

    (void)self;
    *bytes = 0;
    for (;;) {
        code = MPI_Iprobe((int)from, TAG, world, &there, &status);
        if (code != MPI_SUCCESS || there || MPI_Wtime() >= until)
            break;
        (void)nanosleep(&nap, NULL);
        nap.tv_nsec = 2 * nap.tv_nsec < NAP_MOST ? 2 * nap.tv_nsec : NAP_MOST;
    }
    if (code == MPI_SUCCESS && there) {
        code = MPI_Get_count(&status, MPI_BYTE, &count);
        *bytes = (size_t)count;
    }
    return code;
}

static int mpi_receive(void *self, size_t from, void *data, size_t bytes)
{
    (void)self;
    return bytes > INT_MAX ? MPI_ERR_COUNT
                           : MPI_Recv(data, (int)bytes, MPI_BYTE, (int)from, TAG, world, MPI_STATUS_IGNORE);
}

static void mpi_explain(void *self, int code, char *text, size_t size)
{
    char room[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    (void)self;
    if (MPI_Error_string(code, room, &length) != MPI_SUCCESS)
        (void)snprintf(room, sizeof room, "error %d", code);
    (void)snprintf(text, size, "%s", room);
}

static const pn_ranks_ops ops = {
    .version = PN_RANKS_VERSION,
    .name = "mpi",
    .rank = mpi_rank,
    .size = mpi_size,
    .gather_all = mpi_gather_all,
    .broadcast = mpi_broadcast,
    .send = mpi_send,
    .probe = mpi_probe,
    .receive = mpi_receive,
    .explain = mpi_explain,
};

/* ---- beginning and end ---- */

static void leave(int status)
{
    int over = 0;

    (void)MPI_Finalized(&over);
    if (over)
        return;
    if (status != 0) {
        (void)fflush(NULL);
        (void)MPI_Abort(MPI_COMM_WORLD, status);
    }
    (void)MPI_Finalize();
}

#ifdef __GLIBC__
static void leave_with(int status, void *unused)
{
    (void)unused;
    leave(status);
}

static int arrange_to_leave(void)
{
    return on_exit(leave_with, NULL);
}
#else /* who cannot know how the process ends waits for the others */
static void leave_in_order(void)
{
    leave(0);
}

static int arrange_to_leave(void)
{
    return atexit(leave_in_order);
}
#endif

static int make_counts(void)
{
    int size = 1, code = MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (code == MPI_SUCCESS && !counts)
        counts = malloc(2 * (size_t)size * sizeof *counts);
    return code == MPI_SUCCESS && !counts ? MPI_ERR_NO_MEM : code;
}

static int join(void)
{
    int code = MPI_SUCCESS, there = 0, level;

    if (world != MPI_COMM_NULL)
        return code;
    (void)MPI_Initialized(&there);
    if (!there) {
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
        if (code == MPI_SUCCESS && arrange_to_leave() != 0)
            code = MPI_ERR_NO_MEM;
    }
    if (code == MPI_SUCCESS)
        code = make_counts();
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(MPI_COMM_WORLD, &world); /* messages of others in this process stay apart */
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    return code;
}

/* require "penumbra.mpi" -> light userdata */
__attribute__((visibility("default"))) int luaopen_penumbra_mpi(lua_State *L)
{
    char text[256];
    int code = join();

    if (code != MPI_SUCCESS) {
        mpi_explain(NULL, code, text, sizeof text);
        return luaL_error(L, "penumbra.mpi: MPI did not start: %s", text);
    }
    lua_pushlightuserdata(L, (void *)(size_t)&ops);
    return 1;
}
