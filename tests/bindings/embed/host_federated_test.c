/* host_federated_test.c -- one program in which everything works at once, each part in a thread and a state of its own:
 * a server and two parties of a federated run, a party whose server never comes and that is cancelled, and two curators
 * on one ledger that the program charges, too.  Also run under ThreadSanitizer (make test-threads).
 * Depends on: check.h, penumbra_lua.h, privacy/ledger/ledger.h, POSIX threads. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bindings/embed/penumbra_lua.h"
#include "check.h"
#include "core/alloc.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"

#define PARTIES  2
#define ANALYSTS 2
#define EACH     0.125 /* epsilon of a charge, exact in binary */
#define BUDGET   8.0

static char folder[] = "/tmp/penumbra-host-XXXXXX";

/* ---- threads with a state each ---- */

typedef struct actor {
    pthread_t thread;
    pnl_host *host;
    char code[1024];
    pn_status want;
    bool wrong; /* check.h counts for one thread */
} actor;

/* `pn`, `folder`, and what both sides agree on. */
static void open_host(actor *self)
{
    static const char setup[] = "folder = ...\n"
                                "function columns(from)\n"
                                "  local rng, rows, labels = pn.rng.seeded(11), {}, {}\n"
                                "  for i = 1, 80 do\n"
                                "    local x = { rng:uniform(), rng:uniform(), rng:uniform(), rng:uniform() }\n"
                                "    rows[i], labels[i] = { x[from], x[from + 1] }, x[2] - 0.5 * x[3]\n"
                                "  end\n"
                                "  return pn.data.from(rows, labels):clip_rows('linf', 1):clip_labels(-1, 1)\n"
                                "end\n";
    const pnl_host_options options = { .threads = 2 };

    CHECK(pnl_host_new(&self->host, &options, NULL) == PN_OK);
    if (CHECK(luaL_loadstring(pnl_host_state(self->host), setup) == LUA_OK)) {
        lua_pushstring(pnl_host_state(self->host), folder);
        CHECK(pnl_host_call(self->host, 1, 0, NULL) == PN_OK);
    }
}

static void *act(void *argument)
{
    actor *self = argument;
    pn_err err = { .message = "" };
    pn_status status = pnl_host_run(self->host, self->code, strlen(self->code), "act", NULL, &err);

    self->wrong = status != self->want;
    if (self->wrong)
        (void)fprintf(stderr, "    %s: %s\n    %s\n", pn_status_name(status), err.message, self->code);
    return NULL;
}

static void start(actor *self, pn_status want)
{
    self->want = want;
    CHECK(pthread_create(&self->thread, NULL, act, self) == 0);
}

/* What a chunk returns, as a text that lives as long as the host. */
static const char *said(actor *self, const char *code)
{
    pn_err err = { .message = "" };

    if (!CHECK(pnl_host_run(self->host, code, strlen(code), "said", NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return luaL_tolstring(pnl_host_state(self->host), -1, NULL);
}

/* ---- the federated run ---- */

static const char open_server[] =
    "pn.federated.keygen(folder .. '/server')\n"
    "local parties = {}\n"
    "for k = 1, 2 do parties[k] = { name = 'p' .. k, key = pn.federated.keygen(folder .. '/p' .. k) } end\n"
    "transport = pn.federated.server { listen = 'tcp://127.0.0.1:0', keys = folder .. '/server', parties = parties }\n"
    "return transport.endpoint";

static const char lead[] =
    "local data = transport:data { progress = false }\n"
    "local set = pn.set.l1_ball { dim = 4, radius = 1 }\n"
    "fit = pn.solve.federated_frank_wolfe(pn.objective { data = data, loss = pn.loss.squared(), set = set },\n"
    "  { transport = transport, epsilon = 4, delta = 1e-3, iterations = 6, progress = false,\n"
    "    sketch = { kind = 'gaussian', m = 8, seed = 3 } })\n"
    "transport:close()";

static void prepare(actor *server, actor parties[PARTIES], actor *lonely)
{
    const char *endpoint;

    open_host(server);
    endpoint = said(server, open_server);
    (void)strcpy(server->code, lead);
    for (int k = 0; k < PARTIES; k++) {
        open_host(&parties[k]);
        (void)snprintf(
            parties[k].code, sizeof parties[k].code,
            "local party = pn.federated.party { connect = '%s', server = folder .. '/server.pub',\n"
            "  keys = folder .. '/p%d', data = columns(%d), ledger = pn.ledger { epsilon = 9, delta = 1e-3 },\n"
            "  name = 'p%d' }\n"
            "party:serve { progress = false }",
            endpoint, k + 1, 2 * k + 1, k + 1);
    }
    open_host(lonely);
    (void)snprintf(lonely->code, sizeof lonely->code,
                   "local party = pn.federated.party { connect = 'tcp://127.0.0.1:9', data = columns(1),\n"
                   "  server = folder .. '/server.pub', keys = folder .. '/p1', nonprivate = true }\n"
                   "party:serve { progress = false }");
}

/* ---- one ledger ---- */

typedef struct analyst {
    pthread_t thread;
    pn_ledger *ledger;
    const pn_dataset *data;
    bool wrong;
} analyst;

static void *ask(void *argument)
{
    static const pnl_host_options limits = {
        .memory_bytes = (size_t)64 << 20, .seconds = 60.0, .instructions = 100000000, .threads = 1
    };
    static const char code[] = "local m = pn.mechanism.laplace { epsilon = 0.125, sensitivity = 1 }\n"
                               "while pcall(m.release, m, data.d.n) do end\n"
                               "return budget.remaining < 0.13";
    analyst *self = argument;
    pnl_curator *curator = NULL;
    char *answer = NULL;

    self->wrong = pnl_curator_new(&curator, &limits, self->ledger, NULL) != PN_OK;
    if (!self->wrong) {
        pnl_curator_in_process(curator, true);
        self->wrong = pnl_curator_data(curator, "d", self->data, NULL) != PN_OK ||
                      pnl_curator_run(curator, code, sizeof code - 1, "ask", &answer, NULL) != PN_OK ||
                      strcmp(answer, "true") != 0;
    }
    pn_free(answer);
    pnl_curator_free(curator);
    return NULL;
}

static pn_dataset *make_data(void)
{
    static const double X[] = { 0.1, 0.2, 0.3, -0.4 }, y[] = { 1.0, -1.0 };
    pn_dataset *raw = NULL, *data = NULL;

    CHECK(pn_dataset_from_dense(&raw, X, 2, 2, y, "records", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, NULL) == PN_OK);
    pn_dataset_free(raw);
    return data;
}

/* Until it is refused. */
static void charge(pn_ledger *ledger)
{
    pn_arg args[4] = { 0 };
    pn_event *event = NULL;
    pn_status status;

    args[0].given = true;
    args[0].real = EACH;
    CHECK(pn_event_from_args(&event, "pure", args, PN_REPLACE_ONE, NULL) == PN_OK);
    while ((status = pn_ledger_spend(ledger, event, 1, "the program", NULL)) == PN_OK)
        continue;
    CHECK(status == PN_EBUDGET);
    pn_event_free(event);
}

/* ---- all of it ---- */

typedef struct stopper {
    pnl_host *host;
    atomic_bool done;
} stopper;

/* Until the run has ended: before it begins a call is nothing. */
static void *stop_soon(void *argument)
{
    const struct timespec pause = { 0, 20000000 };
    stopper *self = argument;

    while (!atomic_load(&self->done)) {
        (void)nanosleep(&pause, NULL);
        pnl_host_cancel(self->host);
    }
    return NULL;
}

static void remove_folder(void)
{
    static const char *const names[] = { "server", "server.pub", "p1", "p1.pub", "p2", "p2.pub" };
    char path[64];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

static void all_at_once(void)
{
    const pn_budget budget = { .epsilon = BUDGET, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    actor server = { 0 }, parties[PARTIES] = { 0 }, lonely = { 0 };
    analyst analysts[ANALYSTS] = { 0 };
    pn_ledger *ledger = NULL;
    pn_dataset *data = make_data();
    stopper stop = { NULL, false };
    pthread_t stopping;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    prepare(&server, parties, &lonely);
    start(&server, PN_OK);
    for (int k = 0; k < PARTIES; k++)
        start(&parties[k], PN_OK);
    start(&lonely, PN_ECANCELLED);
    stop.host = lonely.host;
    CHECK(pthread_create(&stopping, NULL, stop_soon, &stop) == 0);
    for (int k = 0; k < ANALYSTS; k++) {
        analysts[k] = (analyst){ .ledger = ledger, .data = data };
        CHECK(pthread_create(&analysts[k].thread, NULL, ask, &analysts[k]) == 0);
    }
    charge(ledger);
    for (int k = 0; k < ANALYSTS; k++)
        CHECK(pthread_join(analysts[k].thread, NULL) == 0 && !analysts[k].wrong);
    for (int k = 0; k < PARTIES; k++)
        CHECK(pthread_join(parties[k].thread, NULL) == 0 && !parties[k].wrong);
    CHECK(pthread_join(server.thread, NULL) == 0 && !server.wrong);
    CHECK(pthread_join(lonely.thread, NULL) == 0 && !lonely.wrong);
    atomic_store(&stop.done, true);
    CHECK(pthread_join(stopping, NULL) == 0);

    CHECK(strcmp(said(&server, "return fit.steps .. ' ' .. #fit.theta"), "6 4") == 0);
    CHECK(pn_ledger_spent(ledger) <= BUDGET && pn_ledger_remaining(ledger) < 0.13);
    pnl_host_free(lonely.host);
    pnl_host_free(server.host);
    for (int k = 0; k < PARTIES; k++)
        pnl_host_free(parties[k].host);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_summary();
    all_at_once();
    remove_folder();
    return check_summary();
}
