/* lfederated.c -- pn.federated: keys, and the library that the other files of the binding add to.
 * Depends on: lfederated.h.  Used by: module.c. */
#include <sodium.h>
#include <string.h>

#include "bindings/federated/lfederated.h"
#include "federated/solver/federated_frank_wolfe.h"

static int keygen(lua_State *L)
{
    const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
    pn_curve_keys keys;
    pn_status status;
    pn_err err;

    if (!path || !*path || strlen(path) != lua_rawlen(L, 1))
        return pnl_error(L, "federated.keygen: expected the path of a new file, got %s", pnl_got(L, 1));
    status = pn_curve_make(path, &keys, &err);
    sodium_memzero(keys.secret_key, sizeof keys.secret_key);
    pnl_status(L, status, &err);
    lua_pushstring(L, keys.public_key);
    return 1;
}

static int failure(lua_State *L)
{
    pnl_push_failure(L);
    return 1;
}

static const pnl_row rows[] = {
    { "keygen", keygen, PNL_FUNCTION, PNL_NOTHING | PNL_FILES, "pn.federated.keygen(path) -> string",
      "A new pair of keys: the secret one is written to path, for its owner only (mode 600), the public one, which is "
      "returned, to path.pub, to be given to the others.  A secret key without its path.pub gets it.  Errors: any "
      "other file that is there already." },
    { "failure", failure, PNL_FUNCTION, PNL_NOTHING | PNL_PROCESSES, "pn.federated.failure() -> string or nil",
      "What kind of error the runtime raised last, since this was asked before: \"EBUDGET\" and \"EPRIVACY\" are "
      "refusals, \"EIO\" files, the network and parties that are silent, \"ECANCELLED\" Ctrl-C, \"EINVAL\" and others "
      "wrong arguments; nil for none.  For programs that decide whether to try again." },
    PNL_ROW_END,
};

void pnl_open_federated(lua_State *L)
{
    pn_err err;

    pnl_status(L, pn_federated_open(&err), &err);
    pnl_library(L, "federated",
                "Parties that hold different columns of the same records train one model: transports for "
                "solve.federated_frank_wolfe, parties, keys, the order of records.",
                rows);
    pnl_open_transports(L);
    pnl_open_party(L);
    pnl_open_alignment(L);
    pnl_open_federated_mpi(L);
    lua_setfield(L, -2, "federated");
}
