/* lfederated_party.c -- pn.party: one party of a federated run, over sockets.
 * Depends on: lfederated.h, progress.h.  Used by: lfederated.c. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/federated/lfederated.h"
#include "federated/transport/ranks_transport.h"

typedef struct pnl_party {
    pn_party *party;
    pn_zeromq_party_options wire; /* its texts belong to strings that the box keeps */
    pn_ranks *ranks;              /* in place of it; NULL: sockets.  The box keeps it */
    char name[PN_NAME_BYTES];
    bool serving;
} pnl_party;

static void free_party(void *ud)
{
    pnl_party *self = ud;

    pn_party_free(self->party);
    sodium_memzero(self, sizeof *self);
    pn_free(self);
}

static pnl_party *party_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_party_class);
}

/* ---- making ---- */

enum { DATA, LEDGER, PERSON_EPSILON, NONPRIVATE, RNG, TIMEOUT, RANKS, OWN };

static const char *const data_class[] = { "pn.dataset", NULL };
static const char *const ledger_class[] = { "pn.ledger", NULL };
static const char *const rng_class[] = { "pn.rng", NULL };
static const char *const ranks_class[] = { "pn.ranks", NULL };
static const char *const string_type[] = { "string", NULL };
static const char *const function_type[] = { "function", NULL };

static const pn_param own_params[] = {
    { "data", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, data_class,
      "its columns of all records, and the labels; clip_rows(\"linf\", B) and clip_labels(lo, hi) have enforced "
      "bounds" },
    { "ledger", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ledger_class,
      "its own budget, which every release is charged to before it is drawn; with checkpoint it needs a file" },
    { "person_epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "the most that all parties together may spend on one person, at the delta of its ledger: terms that allow "
      "more are refused.  It counts what honest parties with this party's terms release; how many they are, and "
      "that the others got such terms, rests on the server's word" },
    { "nonprivate", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "agree to runs without any noise" },
    { "rng", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, rng_class,
      "where the key of its noise is drawn from; a seeded one is for teaching and agrees to simulated runs only" },
    { "timeout", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 600.0, NULL,
      "seconds without a word of the server before serve gives up" },
    { "ranks", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, ranks_class,
      "serve rank 0 of mpirun (federated.mpi) in place of a server with sockets: without connect, server and keys" },
    PN_PARAM_END,
};

static const char *const by_hand[] = { "connect", "server", "keys", "name", "checkpoint", "alignment", "log", NULL };

static const pn_param by_hand_params[] = {
    { "connect", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type, "where the server is, as \"tcp://host:5571\"" },
    { "server", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type,
      "the server's public key, or the file of it: the party talks to no other server" },
    { "keys", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, string_type,
      "the file of the party's own secret key, as federated.keygen makes it" },
    { "name", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type, "for messages and logs" },
    { "checkpoint", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type,
      "file of what it has released: a party that was restarted gives the same answers again and pays nothing for "
      "them" },
    { "alignment", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, string_type,
      "the digest that federated.align gave, 64 hexadecimal digits: a run starts only where all parties' are the "
      "same" },
    { "log", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_type,
      "log(line, what) is called when the server is found, lost or comes back" },
    PN_PARAM_END,
};

/* "name" of a kept string option, or NULL; it stays on the stack until it is kept. */
static const char *kept_text(lua_State *L, int box, const char *name)
{
    const char *text = pnl_text_option(L, 1, "federated.party", name);

    if (text)
        pnl_keep(L, box, -1);
    return text;
}

static bool read_digest(lua_State *L, unsigned char digest[PN_DIGEST_BYTES])
{
    const char *text = pnl_text_option(L, 1, "federated.party", "alignment"), *end = NULL;
    size_t length = 0;

    if (!text)
        return false;
    if (sodium_hex2bin(digest, PN_DIGEST_BYTES, text, strlen(text), NULL, &length, &end) != 0 ||
        length != PN_DIGEST_BYTES || *end)
        pnl_error(L, "federated.party: alignment must be a digest of %d hexadecimal digits, got %s",
                  2 * PN_DIGEST_BYTES, pnl_got(L, -1));
    return true;
}

/* Addresses and keys into the box. */
static void read_wire(lua_State *L, int box, pnl_party *self, double timeout)
{
    static const char owner[] = "federated.party";
    pn_err err;

    self->wire.connect = pnl_required_text(L, 1, owner, "connect", "where the server is, as \"tcp://localhost:5571\"");
    pnl_keep(L, box, -1);
    pnl_status(L,
               pn_curve_public(pnl_required_text(L, 1, owner, "server", "the server's public key, or the file of it"),
                               self->wire.server_key, &err),
               &err);
    pnl_status(L,
               pn_curve_read(pnl_required_text(L, 1, owner, "keys", "the file of the party's own secret key"),
                             &self->wire.keys, &err),
               &err);
    self->wire.timeout = timeout;
    self->wire.log_self = pnl_new_event_log(L, 1, owner);
    self->wire.log = self->wire.log_self ? pnl_log_event : NULL;
    pnl_keep(L, box, -1);
}

static pnl_party *new_party(lua_State *L)
{
    void **slot = pnl_newbox(L, &pnl_party_class);
    pnl_party *self = pn_calloc(1, sizeof *self);

    if (!self)
        pnl_no_memory(L, "federated.party: out of memory");
    *slot = self;
    return self;
}

static int make_party(lua_State *L)
{
    static const char owner[] = "federated.party";
    unsigned char digest[PN_DIGEST_BYTES];
    pn_party_options options = { 0 };
    pnl_party *self;
    pn_arg args[OWN];
    pn_err err;
    int box;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, own_params, args, by_hand);
    pnl_status(L, pn_args_check(owner, own_params, args, &err), &err);
    self = new_party(L);
    box = lua_gettop(L);
    self->ranks = (pn_ranks *)(size_t)args[RANKS].object;
    self->wire.timeout = args[TIMEOUT].real;
    if (!self->ranks)
        read_wire(L, box, self, args[TIMEOUT].real);
    options.name = kept_text(L, box, "name");
    if (options.name && strlen(options.name) >= PN_NAME_BYTES)
        return pnl_error(L, "federated.party: name is longer than %d bytes", PN_NAME_BYTES - 1);
    memcpy(self->name, options.name ? options.name : "party", strlen(options.name ? options.name : "party") + 1);
    options.checkpoint = kept_text(L, box, "checkpoint");
    options.alignment = read_digest(L, digest) ? digest : NULL;
    for (size_t i = 0; i < OWN; i++) { /* data and rng are borrowed */
        if (own_params[i].kind == PN_OBJECT && lua_getfield(L, 1, own_params[i].name) != LUA_TNIL)
            pnl_keep(L, box, -1);
    }
    options.data = args[DATA].object;
    options.ledger = (pn_ledger *)(size_t)args[LEDGER].object;
    options.rng = (pn_rng *)(size_t)args[RNG].object;
    options.person_epsilon = args[PERSON_EPSILON].real;
    options.nonprivate = args[NONPRIVATE].flag;
    pnl_status(L, pn_party_new(&self->party, &options, &err), &err);
    lua_settop(L, box);
    return 1;
}

/* ---- what it did ---- */

static const char *const phase_names[] = { "new", "ready", "running", "done", "refused" };

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void push_theta(lua_State *L, const pn_party *party)
{
    pn_party_model(party, pnl_new_vec(L, pn_party_columns(party)));
}

/* Seeded noise protects nobody: its epsilon is infinite, and what it would have been stands beside it. */
static void add_privacy(lua_State *L, const pn_party_report *report)
{
    set_number(L, "epsilon", report->simulated && !isnan(report->epsilon) ? INFINITY : report->epsilon);
    set_number(L, "delta", report->delta);
    set_number(L, "rho", report->simulated && !isnan(report->rho) ? INFINITY : report->rho);
    if (report->simulated) {
        set_number(L, "nominal_epsilon", report->epsilon);
        set_number(L, "nominal_rho", report->rho);
    }
    set_number(L, "charged_epsilon", report->charged_epsilon);
    set_number(L, "charged_rho", report->charged_rho);
    if (isfinite(report->person_epsilon))
        set_number(L, "person_epsilon", report->simulated ? INFINITY : report->person_epsilon);
    if (report->simulated)
        set_number(L, "nominal_person_epsilon", report->person_epsilon);
    lua_pushboolean(L, report->simulated);
    lua_setfield(L, -2, "simulated");
}

static int party_report(lua_State *L)
{
    const pnl_party *self = party_of(L);
    pn_party_report report;
    pn_err err;

    pnl_status(L, pn_party_report_of(self->party, &report, &err), &err);
    lua_createtable(L, 0, 20);
    set_text(L, "phase", phase_names[report.phase]);
    set_integer(L, "parties", report.parties);
    set_integer(L, "rounds", report.round);
    set_integer(L, "selections", report.selections);
    set_integer(L, "features", report.features);
    set_integer(L, "scores", report.scores);
    add_privacy(L, &report);
    if (report.phase == PN_PARTY_DONE) {
        push_theta(L, self->party);
        lua_setfield(L, -2, "theta");
    }
    if (report.last && report.last->kind == PN_MESSAGE_REFUSED) {
        set_text(L, "status", pn_status_name(report.last->status) + strlen("PN_"));
        set_text(L, "reason", report.last->reason);
    }
    pnl_list(L);
    return 1;
}

static int party_phase(lua_State *L)
{
    lua_pushstring(L, phase_names[pn_party_phase_of(party_of(L)->party)]);
    return 1;
}

PNL_GETTER(party_name, party_of(L)->name);
PNL_GETTER(party_columns, pn_party_columns(party_of(L)->party));

static int party_theta(lua_State *L)
{
    push_theta(L, party_of(L)->party);
    return 1;
}

static int party_serve(lua_State *L)
{
    static const pn_param none[] = { PN_PARAM_END };
    static const char *const extra[] = { "progress", NULL };
    pnl_party *self = party_of(L);
    pn_arg unused[1];
    pn_status status;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "party:serve", none, unused, extra);
    if (self->serving)
        return pnl_error(L, "party:serve: it is serving already");
    if (lua_istable(L, 2))
        lua_getfield(L, 2, "progress");
    else
        lua_pushnil(L);
    pnl_run_begin_at(L, -1, "party:serve");
    pnl_busy(L, 1, true);
    self->serving = true;
    status = self->ranks ? pn_party_serve_ranks(self->party, self->ranks, self->wire.timeout, pnl_task(L), &err)
                         : pn_party_serve_zeromq(self->party, &self->wire, pnl_task(L), &err);
    self->serving = false;
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_settop(L, 1);
    return party_report(L);
}

static int party_tostring(lua_State *L)
{
    const pnl_party *self = party_of(L);
    pn_party_report report;
    pn_err err;

    pnl_status(L, pn_party_report_of(self->party, &report, &err), &err);
    lua_pushfstring(L, "party: %s, %d columns, %s; %d selections and %d features released", self->name,
                    (int)pn_party_columns(self->party), phase_names[report.phase], (int)report.selections,
                    (int)report.features);
    return 1;
}

static const pnl_row party_rows[] = {
    { "serve", party_serve, PNL_METHOD, PNL_PAID | PNL_PROCESSES, "party:serve{progress=} -> table",
      "Answer the server until the run is over: party:report().  Ctrl-C stops it with an error; after that, or after a "
      "crash, a party with the same checkpoint and ledger goes on where it was.  Errors: a server that is silent for "
      "longer than timeout; a ledger or checkpoint that cannot be written." },
    { "report", party_report, PNL_METHOD, PNL_PAID | PNL_PROCESSES, "party:report() -> table",
      "{phase=, parties=, rounds=, selections=, features=, scores=, epsilon=, delta=, rho=, simulated=}: what was "
      "released, each paid for once.  epsilon and rho are what all that the terms let this party release costs, "
      "which holds wherever the run ends (0 before its first release; infinite with seeded noise, beside "
      "nominal_epsilon and nominal_rho); charged_epsilon and charged_rho the price of what it has released, as its "
      "ledger was charged, which is not a guarantee; person_epsilon the most that honest parties with such terms, "
      "as many as these name, release together about one person.  After the run theta: its part of the model.  When "
      "the run was refused reason and status, as \"EBUDGET\"." },
    { "phase", party_phase, PNL_FIELD, PNL_PAID | PNL_PROCESSES, "party.phase -> string",
      "\"new\", \"ready\" (the terms fit its data and budget), \"running\", \"done\" or \"refused\"." },
    { "name", party_name, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "party.name -> string",
      "Its name in messages and logs." },
    { "columns", party_columns, PNL_FIELD, PNL_NOTHING | PNL_PROCESSES, "party.columns -> integer",
      "How many columns it has." },
    { "theta", party_theta, PNL_FIELD, PNL_PAID | PNL_PROCESSES, "party.theta -> vec",
      "Its part of the model after the run; zeros before." },
    { "__tostring", party_tostring, PNL_META, PNL_NOTHING | PNL_PROCESSES, "tostring(party)",
      "Name, columns, phase, how much was released." },
    PNL_ROW_END,
};

const pnl_class pnl_party_class = {
    "pn.party", free_party, party_rows, "A party of a federated run: its columns, its noise, its ledger.", NULL, NULL,
};

/* ---- the library's row ---- */

void pnl_open_party(lua_State *L)
{
    pn_param params[OWN + sizeof by_hand_params / sizeof by_hand_params[0]];
    size_t by_hand_count = pn_param_count(by_hand_params);

    pnl_open_class(L, &pnl_party_class);
    memcpy(params, by_hand_params, by_hand_count * sizeof *params);
    memcpy(params + by_hand_count, own_params, (OWN + 1) * sizeof *params);
    lua_pushcfunction(L, make_party);
    lua_setfield(L, -2, "party");
    pnl_reference(
        L, "federated", "party", PNL_NOTHING | PNL_PROCESSES,
        "pn.federated.party{connect=, server=, keys=, data=, ledger=, person_epsilon=, name=, checkpoint=, alignment=, "
        "timeout=, nonprivate=, rng=, log=, ranks=} -> party",
        "A party of a run: it keeps its columns, and releases noisy choices among them and sketches of chosen columns "
        "with noise, each charged to its own ledger before it is drawn.  party:serve() answers the server.  It "
        "computes every sensitivity itself, and a budget that does not cover the terms of a run is a refusal: a server "
        "that lies can waste its budget, not overdraw it.  As a program: `penumbra party config.lua`.",
        "Lou, Cheung (2018), corrected", params);
}
