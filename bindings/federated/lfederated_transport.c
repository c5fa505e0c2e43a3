/* lfederated_transport.c -- pn.transport: how a server reaches its parties, and what has gone up and down.
 * Depends on: lfederated.h, ldata.h, progress.h.  Used by: lfederated_open.c, other transports' bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/federated/lfederated.h"

static pn_transport *transport_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_transport_class);
}

pn_transport **pnl_new_transport(lua_State *L)
{
    return (pn_transport **)pnl_newbox(L, &pnl_transport_class);
}

/* ---- traffic ---- */

typedef struct traffic {
    uint64_t bytes, scalars, messages;
} traffic;

static traffic traffic_of(const pn_peer *peer, bool up)
{
    return up ? (traffic){ peer->bytes_up, peer->scalars_up, peer->messages_up }
              : (traffic){ peer->bytes_down, peer->scalars_down, peer->messages_down };
}

static traffic total_of(const pn_transport *self, bool up)
{
    traffic total = { 0, 0, 0 };

    for (size_t k = 0; k < self->parties; k++) {
        traffic one = traffic_of(&self->peers[k], up);

        total.bytes += one.bytes;
        total.scalars += one.scalars;
        total.messages += one.messages;
    }
    return total;
}

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void push_counts(lua_State *L, traffic counts, int parties)
{
    lua_createtable(L, parties, 3);
    set_integer(L, "bytes", counts.bytes);
    set_integer(L, "scalars", counts.scalars);
    set_integer(L, "messages", counts.messages);
    pnl_list(L);
}

static int push_link(lua_State *L, bool up)
{
    const pn_transport *self = transport_of(L);

    push_counts(L, total_of(self, up), (int)self->parties);
    for (size_t k = 0; k < self->parties; k++) {
        push_counts(L, traffic_of(&self->peers[k], up), 0);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    return 1;
}

static int transport_uplink(lua_State *L)
{
    return push_link(L, true);
}

static int transport_downlink(lua_State *L)
{
    return push_link(L, false);
}

/* ---- who is there ---- */

PNL_GETTER(transport_parties, transport_of(L)->parties);
PNL_GETTER(transport_name, transport_of(L)->ops->name);

static bool is_kind(const pn_transport *self, const char *name)
{
    return strcmp(self->ops->name, name) == 0;
}

PNL_GETTER_IF(transport_endpoint, is_kind(transport_of(L), "zeromq"), pn_zeromq_endpoint(transport_of(L)));

static void set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* What a party in this process says of itself; others tell nobody. */
static void add_own(lua_State *L, const pn_party *party)
{
    pn_party_report report;
    pn_err err;

    if (!party)
        return;
    pnl_status(L, pn_party_report_of(party, &report, &err), &err);
    set_integer(L, "columns", pn_party_columns(party));
    set_integer(L, "selections", report.selections);
    set_integer(L, "features", report.features);
    set_number(L, "epsilon", report.simulated && !isnan(report.epsilon) ? INFINITY : report.epsilon);
    set_number(L, "delta", report.delta);
    set_number(L, "rho", report.simulated && !isnan(report.rho) ? INFINITY : report.rho);
    if (report.simulated) {
        set_number(L, "nominal_epsilon", report.epsilon);
        set_number(L, "nominal_rho", report.rho);
    }
    set_number(L, "charged_epsilon", report.charged_epsilon);
    set_number(L, "charged_rho", report.charged_rho);
}

static void push_peer(lua_State *L, const pn_transport *self, size_t k)
{
    static const char *const names[2][3] = { { "bytes_down", "scalars_down", "messages_down" },
                                             { "bytes_up", "scalars_up", "messages_up" } };
    const pn_peer *peer = &self->peers[k];

    lua_createtable(L, 0, 14);
    lua_pushstring(L, peer->name);
    lua_setfield(L, -2, "name");
    if (peer->columns)
        set_integer(L, "columns", peer->columns);
    for (int up = 0; up < 2; up++) {
        traffic counts = traffic_of(peer, up != 0);

        set_integer(L, names[up][0], counts.bytes);
        set_integer(L, names[up][1], counts.scalars);
        set_integer(L, names[up][2], counts.messages);
    }
    if (is_kind(self, "in_process"))
        add_own(L, pn_in_process_party(self, k));
    pnl_list(L);
}

static int transport_report(lua_State *L)
{
    const pn_transport *self = transport_of(L);

    lua_createtable(L, (int)self->parties, 0);
    for (size_t k = 0; k < self->parties; k++) {
        push_peer(L, self, k);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    pnl_list(L);
    return 1;
}

/* ---- gathering ---- */

static int transport_data(lua_State *L)
{
    static const pn_param none[] = { PN_PARAM_END };
    static const char *const extra[] = { "progress", NULL };
    pn_transport *self = transport_of(L);
    pn_arg unused[1];
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "transport:data", none, unused, extra);
    if (!self->ops->gather)
        return pnl_error(L, "transport:data: parties of %s take their columns from the objective that a run is given",
                         self->ops->name);
    if (lua_istable(L, 2))
        lua_getfield(L, 2, "progress");
    else
        lua_pushnil(L);
    lua_replace(L, 2);
    slot = pnl_new_data(L);
    pnl_run_begin_at(L, 2, "transport:data");
    pnl_busy(L, 1, true);
    status = pn_transport_gather(self, pnl_task(L), &err);
    if (status == PN_OK)
        status = pn_transport_shape(self, slot, &err);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

static int transport_close(lua_State *L)
{
    if (pnl_test(L, 1, &pnl_transport_class) && !pnl_release(L, 1, &pnl_transport_class))
        return pnl_error(L, "transport:close: a call is using it");
    return 0;
}

/* "12.3 kB" */
static void format_bytes(char *out, size_t size, uint64_t bytes)
{
    static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000.0;
        unit++;
    }
    (void)snprintf(out, size, "%.*f %s", unit == 0 || value >= 99.95 ? 0 : 1, value, units[unit]);
}

static int transport_tostring(lua_State *L)
{
    const pn_transport *self = transport_of(L);
    char up[32], down[32];

    format_bytes(up, sizeof up, total_of(self, true).bytes);
    format_bytes(down, sizeof down, total_of(self, false).bytes);
    lua_pushfstring(L, "transport: %s, %d parties", self->ops->name, (int)self->parties);
    if (is_kind(self, "zeromq"))
        lua_pushfstring(L, ", at %s, %s", pn_zeromq_endpoint(self), self->gathered ? "all there" : "not gathered");
    else
        lua_pushliteral(L, "");
    lua_pushfstring(L, "\n  up %s, down %s", up, down);
    lua_concat(L, 3);
    return 1;
}

static const pnl_row transport_rows[] = {
    { "uplink", transport_uplink, PNL_FIELD, PNL_PAID | PNL_PROCESSES, "transport.uplink -> table",
      "What came from the parties so far: {bytes=, scalars=, messages=}, and [1] ... [K] the same of each.  Bytes are "
      "of messages: framing and encryption of a network are not counted, repetitions are; scalars are numbers that "
      "speak of the run: 1 for a code or an index, m for a feature." },
    { "downlink", transport_downlink, PNL_FIELD, PNL_PAID | PNL_PROCESSES, "transport.downlink -> table",
      "What went to the parties so far, as transport.uplink." },
    { "parties", transport_parties, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "transport.parties -> integer",
      "K, how many parties." },
    { "name", transport_name, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "transport.name -> string",
      "Which transport it is: in_process, zeromq, mpi." },
    { "endpoint", transport_endpoint, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "transport.endpoint -> string or nil",
      "Where a server listens, with the port that it got; nil for other transports." },
    { "report", transport_report, PNL_METHOD, PNL_PAID | PNL_PROCESSES, "transport:report() -> table",
      "One row a party: name, columns, bytes_up, scalars_up, messages_up, bytes_down, scalars_down, messages_down; of "
      "parties in this process also selections, features (distinct columns whose sketch was uploaded) and what this "
      "party's own releases cost: epsilon and delta, and rho, of all that its terms let it release, which holds "
      "wherever the run ends (infinite with seeded noise, beside nominal_epsilon and nominal_rho), and charged_epsilon "
      "and charged_rho of what it has released, as charged.  Of a person, who is at every party, what is proven is the "
      "plan's." },
    { "data", transport_data, PNL_METHOD, PNL_NOTHING | PNL_PROCESSES, "transport:data{progress=} -> data",
      "Wait until every party is there; a data set of their records and columns without any entry: its sizes and "
      "bounds make the objective of a plan where nobody has the records.  Columns stand in the order of the parties.  "
      "Errors: a party that does not come in time; parties that differ in the number of records or in the digest of "
      "their order (names them)." },
    { "close", transport_close, PNL_METHOD, PNL_NOTHING | PNL_PROCESSES, "transport:close()",
      "Let go of it; a server's port is free again once no plan or fit holds it either." },
    { "__tostring", transport_tostring, PNL_META, PNL_NOTHING | PNL_PROCESSES, "tostring(transport)",
      "Kind, parties, bytes up and down." },
    PNL_ROW_END,
};

const pnl_class pnl_transport_class = {
    "pn.transport", (void (*)(void *))pn_transport_free,
    transport_rows, "How the server of a federated run reaches its parties, and the counts of its traffic.",
    NULL,           NULL,
};
