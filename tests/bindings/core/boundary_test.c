/* boundary_test.c -- every number that a function of the reference takes, at 0, 1, 2^31 ... 2^63 - 1, infinity and the
 * like: each call answers or raises (in the fast tier, every eleventh such call), within the limits of time and memory
 * of its host, in an ordinary state and in a curator's; and the plans of all solvers for budgets that no search for
 * noise expects.  boundary.lua makes the calls.
 *     boundary_test [NAME]    only the functions whose name contains NAME, each call named before it is made
 * Depends on: penumbra_lua.h, check.h. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bindings/embed/penumbra_lua.h"
#include "check.h"
#include "core/alloc.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"

#include <lauxlib.h>
#include <lualib.h>

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 5
#else
#define SLOWER 1
#endif
#define SECONDS    (0.01 * SLOWER)         /* for a call */
#define OVERSTAYED (2.0 * SLOWER)          /* seconds of the processor: who takes longer did not look at its task */
#define HANGS      (unsigned)(20 * SLOWER) /* seconds of the wall */

#define BATCH 200 /* cases in a script of the curator */

/* How many functions were called with valid values, and of those that take numbers, how many a curator's script has.  A
 * function more is one more; one less is an example that no longer works. */
#define BASES_HERE    504
#define BASES_CURATED 283

static const char *only; /* a part of a name, or NULL */

/* ---- the watchdog ---- */

static char current[200];

static void bark(int signal)
{
    static const char words[] = "\nthis call does not end: ";

    (void)signal;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    (void)!write(STDERR_FILENO, current, strlen(current));
    (void)!write(STDERR_FILENO, "\n", 1);
    abort();
}

static double seconds_of(clockid_t which)
{
    struct timespec t;

    (void)clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ignore(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    (void)self, (void)channel, (void)text, (void)size;
}

/* ---- the script ---- */

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 18);

    if (!CHECK(file && text && fread(text, 1, (1 << 18) - 1, file) > 1000 && feof(file)))
        exit(check_summary());
    (void)fclose(file);
    return text;
}

/* Calls exported NAME with the numbers given, without limits but that of memory; its results stay on the stack. */
static bool ask(lua_State *L, const char *name, int results, int count, const long *numbers)
{
    lua_settop(L, 1);
    lua_getfield(L, 1, name);
    for (int i = 0; i < count; i++)
        lua_pushinteger(L, numbers[i]);
    if (lua_pcall(L, count, results, 0) == LUA_OK)
        return true;
    (void)fprintf(stderr, "%s of %s: %s\n", name, current, lua_tostring(L, -1));
    return CHECK(!"a call of boundary.lua failed");
}

typedef struct tally {
    long answered, refused, late, short_of_memory;
} tally;

/* Calls exported NAME within the host's limits. */
static bool limited(pnl_host *host, const char *name, long number, tally *count)
{
    lua_State *L = pnl_host_state(host);
    double began = seconds_of(CLOCK_PROCESS_CPUTIME_ID), took;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    lua_getfield(L, 1, name);
    lua_pushinteger(L, number);
    (void)alarm(HANGS);
    status = pnl_host_call(host, 1, 1, &err);
    (void)alarm(0);
    took = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - began;
    if (took > OVERSTAYED) {
        (void)fprintf(stderr, "%s (%s %ld) took %.1f s\n", current, name, number, took);
        CHECK(!"a call went on when its time was over");
    }
    if (status == PN_OK)
        *(lua_toboolean(L, -1) ? &count->answered : &count->refused) += 1;
    else if (status == PN_ELIMIT)
        count->late++;
    else if (status == PN_ENOMEM)
        count->short_of_memory++;
    else {
        (void)fprintf(stderr, "%s: %s\n", current, pnl_host_message(host));
        CHECK(!"a call was answered with its host's failure");
    }
    return status != PN_ELIMIT;
}

static void report(const char *what, const tally *count)
{
    (void)printf("%s: %ld answered, %ld refused, %ld stopped by the limit of time, %ld by that of memory\n", what,
                 count->answered, count->refused, count->late, count->short_of_memory);
}

/* Makes the call of case i, and every step with the object that it answers: who is stopped in one goes on with the
 * next. */
static void make_case(pnl_host *host, long i, tally *calls, tally *steps)
{
    lua_State *L = pnl_host_state(host);

    if (!ask(L, "ready", 0, 1, &i))
        return;
    if (!limited(host, "attempt", i, calls))
        (void)ask(L, "late", 0, 1, &i);
    if (ask(L, "judge", 1, 1, &i) && lua_tointeger(L, -1) > 0) {
        while (!limited(host, "step", i, steps))
            (void)ask(L, "late_step", 0, 1, &i);
    }
    (void)ask(L, "drop", 0, 0, NULL);
}

static bool name_case(lua_State *L, long i)
{
    bool named = ask(L, "describe", 1, 1, &i);

    (void)snprintf(current, sizeof current, "%s", named ? lua_tostring(L, -1) : "?");
    return !only || strstr(current, only);
}

static void in_an_ordinary_state(pnl_host *host, long cases)
{
    lua_State *L = pnl_host_state(host);
    tally calls = { 0 }, steps = { 0 };

    for (long i = 1; i <= cases; i++) {
        if (!name_case(L, i))
            continue;
        if (only)
            (void)fprintf(stderr, "%s\n", current);
        make_case(host, i, &calls, &steps);
    }
    report("calls", &calls);
    report("objects", &steps);
    if (ask(L, "unclean", 1, 0, NULL) && !CHECK(lua_tostring(L, -1)[0] == '\0'))
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
}

/* ---- the curator ---- */

enum { BASES, DENIED, ANSWERED, REFUSED, DENIED_CALLS, COUNTS };

typedef struct curated {
    pnl_curator *curator;
    lua_State *L; /* of boundary.lua */
    long counts[COUNTS], stopped, scripts;
} curated;

/* Records like those of the examples, registered as "logistic3": labels 1 and -1, or "lasso3": between them. */
#define N 40
static const size_t widths[] = { 3, 4, 5, 6, 10, 20 };

static pn_dataset *records(size_t p, bool classes)
{
    pn_dataset *raw = NULL, *rows = NULL, *data = NULL;
    double X[N * 20], y[N];
    uint32_t state = 1;
    pn_err err;

    for (size_t i = 0; i < N * p; i++)
        X[i] = (double)(state = 1664525u * state + 1013904223u) / 4294967296.0 - 0.5;
    for (size_t i = 0; i < N; i++)
        y[i] = classes ? (X[i * p] > 0.0 ? 1.0 : -1.0) : X[i * p];
    CHECK(pn_dataset_from_dense(&raw, X, N, p, y, NULL, &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_L2, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&data, rows, PN_LINF, 1.0, &err) == PN_OK);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    return data;
}

/* Runs cases first to last; a script that a limit stopped is cut in halves until what stopped it stands alone. */
static void run_curated(curated *at, long first, long last)
{
    char *answer = NULL, *end;
    pn_status status;
    pn_err err;
    size_t size;
    const char *code;

    if (!ask(at->L, "script", 1, 2, (const long[]){ first, last }))
        return;
    code = lua_tolstring(at->L, -1, &size); /* on the stack until another is asked for */
    if (size == 0)
        return;
    lua_setfield(at->L, LUA_REGISTRYINDEX, "script");
    if (first == last)
        (void)name_case(at->L, first);
    else
        (void)snprintf(current, sizeof current, "a script of cases %ld to %ld", first, last);
    at->scripts++;
    (void)alarm(HANGS);
    status = pnl_curator_run(at->curator, code, size, "script", &answer, &err);
    (void)alarm(0);
    if (status == PN_OK) {
        end = answer;
        for (size_t i = 0; i < COUNTS; i++)
            at->counts[i] += strtol(end, &end, 10);
        if (!CHECK(strcmp(end, "\t") == 0))
            (void)fprintf(stderr, "a call that succeeds elsewhere fails in a curator: %s\n", end);
    } else if (first < last) {
        run_curated(at, first, (first + last) / 2);
        run_curated(at, (first + last) / 2 + 1, last);
    } else if (status == PN_ELIMIT || status == PN_ENOMEM) {
        at->stopped++;
    } else {
        (void)name_case(at->L, first);
        (void)fprintf(stderr, "%s: %s\n", current, err.message);
        CHECK(!"a script was answered with its host's failure");
    }
    pn_free(answer);
}

static void in_a_curator(lua_State *L, long cases)
{
    pnl_host_options limits = { .memory_bytes = (size_t)128 << 20,
                                .seconds = 2.0 * SLOWER,
                                .instructions = 1000000000,
                                .threads = 1,
                                .log = ignore };
    pn_budget budget = { .epsilon = 1e6, .delta = 0.5, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    pn_dataset *data[12] = { NULL };
    curated at = { .L = L };
    pn_ledger *ledger = NULL;
    char name[20];
    pn_err err;

    CHECK(pn_ledger_new(&ledger, &budget, &err) == PN_OK);
    CHECK(pnl_curator_new(&at.curator, &limits, ledger, &err) == PN_OK);
    for (size_t i = 0; i < 12; i++) {
        data[i] = records(widths[i / 2], i % 2);
        (void)snprintf(name, sizeof name, "%s%zu", i % 2 ? "logistic" : "lasso", widths[i / 2]);
        CHECK(pnl_curator_data(at.curator, name, data[i], &err) == PN_OK);
    }
    for (long i = 1; i <= cases; i += only ? 1 : BATCH) {
        if (!only)
            run_curated(&at, i, i + BATCH - 1 < cases ? i + BATCH - 1 : cases);
        else if (name_case(L, i))
            run_curated(&at, i, i);
    }
    CHECK(only || at.counts[BASES] == BASES_CURATED);
    (void)printf("curated: %ld bases answered, %ld not for analysts; %ld calls answered, %ld refused, %ld not for "
                 "analysts, %ld scripts, %ld stopped\n",
                 at.counts[BASES], at.counts[DENIED], at.counts[ANSWERED], at.counts[REFUSED], at.counts[DENIED_CALLS],
                 at.scripts, at.stopped);
    pnl_curator_free(at.curator);
    for (size_t i = 0; i < 12; i++)
        pn_dataset_free(data[i]);
    pn_ledger_free(ledger);
}

/* ---- all ---- */

#define TEXTS 4

static void run_all(char *const texts[TEXTS])
{
    const long stride = only ? 1 : check_times(19, 1); /* of the cases that are kept */
    pnl_host_options limits = { .memory_bytes = (size_t)64 << 20, .seconds = SECONDS, .threads = 1, .log = ignore };
    pnl_host *host = NULL;
    lua_State *L;
    pn_err err;

    if (!CHECK(pnl_host_new(&host, &limits, &err) == PN_OK))
        return;
    L = pnl_host_state(host);
    CHECK(luaL_loadbufferx(L, texts[0], strlen(texts[0]), "=boundary.lua", "t") == LUA_OK);
    for (int i = 1; i < TEXTS; i++)
        lua_pushstring(L, texts[i]);
    if (!CHECK(lua_pcall(L, TEXTS - 1, 1, 0) == LUA_OK)) {
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
    } else if (ask(L, "prepare", 2, 1, &stride)) {
        if (!CHECK(lua_tointeger(L, -2) == BASES_HERE))
            (void)fprintf(stderr, "%lld bases answered\n", (long long)lua_tointeger(L, -2));
        if (!CHECK(lua_tostring(L, -1)[0] == '\0'))
            (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
        if (ask(L, "count", 3, 0, NULL)) {
            long cases = (long)lua_tointeger(L, -2);

            (void)printf("%ld functions, %ld numbers in them, %ld calls; %.1f s\n", (long)lua_tointeger(L, -3),
                         (long)lua_tointeger(L, -1), cases, seconds_of(CLOCK_PROCESS_CPUTIME_ID));
            in_an_ordinary_state(host, cases);
            (void)printf("%.1f s\n", seconds_of(CLOCK_PROCESS_CPUTIME_ID));
            in_a_curator(L, cases);
            (void)printf("%.1f s\n", seconds_of(CLOCK_PROCESS_CPUTIME_ID));
        }
    }
    pnl_host_free(host);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/boundary_XXXXXX", command[64];
    char *texts[] = { read_all("tests/bindings/core/boundary.lua"), read_all("tests/bindings/core/boundary_calls.lua"),
                      read_all("tests/bindings/core/boundary_curated.lua"),
                      read_all("tests/bindings/core/boundary_budgets.lua") };

    only = argc > 1 ? argv[1] : NULL;
    (void)signal(SIGALRM, bark);
    if (!CHECK(mkdtemp(folder) && chdir(folder) == 0)) /* some write files */
        return check_summary();
    run_all(texts);
    for (size_t i = 0; i < TEXTS; i++)
        free(texts[i]);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(chdir("/") == 0 && system(command) == 0);
    return check_summary();
}
