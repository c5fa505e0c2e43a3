/* host_test.c -- states that hosts make: what a run returns, every limit and every way around it, memory that runs out
 * at each allocation, and that a state can be used again after all of it.
 * Depends on: check.h, fail_alloc.h, Lua, bindings/. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bindings/embed/host.h"
#include "bindings/embed/penumbra_lua.h"
#include "core/account.h"

#include "fail_alloc.h"

#define MEGABYTE ((size_t)1 << 20)

static pnl_host *new_host(const pnl_host_options *options)
{
    pnl_host *host = NULL;
    pn_err err = { .message = "" };

    if (!CHECK(pnl_host_new(&host, options, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s\n", err.message);
        exit(check_summary());
    }
    return host;
}

static pn_status run(pnl_host *host, const char *code, int *results, pn_err *err)
{
    err->message[0] = '\0';
    return pnl_host_run(host, code, strlen(code), "test.lua", results, err);
}

/* The state is as it was, and works: given time, for a limit of some milliseconds may also end what is only not
 * scheduled so soon. */
static void works(pnl_host *host)
{
    lua_State *L = pnl_host_state(host);
    int results = -1, base = lua_gettop(L);
    double seconds = host->options.seconds;
    pn_err err;

    host->options.seconds = seconds > 0.0 ? 3600.0 : 0.0;
    if (!CHECK(run(host, "return 20 + 22, #pn.vec { 1, 2, 3 }", &results, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    CHECK(results == 2 && lua_gettop(L) == base + 2);
    CHECK(lua_tointeger(L, -2) == 42 && lua_tointeger(L, -1) == 3);
    lua_settop(L, base);
    host->options.seconds = seconds;
}

static void fails(pnl_host *host, const char *code, pn_status want, const char *text)
{
    pn_err err;
    int results = -1, base = lua_gettop(pnl_host_state(host));
    pn_status status = run(host, code, &results, &err);

    if (!CHECK(status == want) || !CHECK(strstr(err.message, text) != NULL) || !CHECK(err.status == want))
        (void)fprintf(stderr, "    %s\n    %s: %s\n", code, pn_status_name(status), err.message);
    CHECK(results == 0 && lua_gettop(pnl_host_state(host)) == base);
    CHECK(strncmp(pnl_host_message(host), err.message, strlen(err.message)) == 0);
    CHECK(pn_account_current() == NULL);
    works(host);
}

/* ---- what a run is ---- */

static void options_that_make_no_sense_are_refused(void)
{
    pnl_host *host = NULL;
    pn_err err;

    CHECK(pnl_host_new(&host, &(pnl_host_options){ .seconds = -1.0 }, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "host: seconds must be finite and not negative (0: no limit), got -1") == 0);
    CHECK(pnl_host_new(&host, &(pnl_host_options){ .seconds = NAN }, &err) == PN_EINVAL);
    CHECK(pnl_host_new(&host, &(pnl_host_options){ .seconds = INFINITY }, &err) == PN_EINVAL);
    CHECK(pnl_host_new(&host, &(pnl_host_options){ .memory_bytes = 4 * MEGABYTE - 1 }, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "host: memory_bytes must be at least 4194304 (0: no limit), got 4194303") == 0);
    CHECK(pnl_host_new(&host, &(pnl_host_options){ .seconds = -1.0 }, NULL) == PN_EINVAL);
    CHECK(host == NULL);
    pnl_host_free(NULL);
}

static void a_run_returns_values_and_keeps_globals(void)
{
    pnl_host *host = new_host(NULL);
    lua_State *L = pnl_host_state(host);
    int results;
    pn_err err;

    works(host);
    CHECK(run(host, "x = (x or 0) + 1", &results, &err) == PN_OK && results == 0);
    CHECK(run(host, "x = x + 1 return x, 'two', nil", NULL, &err) == PN_OK && lua_gettop(L) == 3);
    CHECK(lua_tointeger(L, 1) == 2);
    lua_settop(L, 0);
    CHECK(pnl_host_run(host, "return 'a\0b'", 12, "zero", &results, NULL) == PN_OK);
    CHECK(lua_rawlen(L, -1) == 3);
    lua_settop(L, 0);
    CHECK(strcmp(pnl_host_message(host), "") == 0);
    pnl_host_free(host);
}

static void failures_say_what_and_where(void)
{
    pnl_host *host = new_host(NULL);
    pn_err err;

    fails(host, "local x = = 1", PN_EINVAL, "test.lua:1: unexpected symbol near '='");
    fails(host, "\n\nerror 'boom'", PN_ECALLBACK, "test.lua:3: boom\nstack traceback:");
    fails(host, "local function f() error('deep') end\nf()", PN_ECALLBACK, "test.lua:1: deep");
    CHECK(strstr(pnl_host_message(host), "") != NULL);
    fails(host, "error(setmetatable({}, { __tostring = function() return 'my own' end }))", PN_ECALLBACK, "my own");
    fails(host, "error()", PN_ECALLBACK, "(the error is a nil, not a message)");
    fails(host, "error{1, 2}", PN_ECALLBACK, "(the error is a table, not a message)");
    fails(host, "error(4.5)", PN_ECALLBACK, "4.5");
    fails(host, "error(setmetatable({}, { __tostring = error }))", PN_ECALLBACK, "");
    fails(host, "pn.set.l1_ball { dim = 2, radius = -1 }", PN_ECALLBACK,
          "test.lua:1: set.l1_ball: radius must be a positive number, got -1");
    fails(host, "\x1bLua", PN_EINVAL, "binary chunk");
    fails(host, "local ok, why = load(string.dump(function() end), 'x', 'b') error(why)", PN_ECALLBACK, "binary chunk");
    fails(host, "local f = load(function() return nil end) assert(f) error(f())", PN_ECALLBACK, "is a nil, not");
    fails(host, "os.exit(3)", PN_ECALLBACK, "os.exit: a script cannot end the program that runs it");
    fails(host, "local function f() return f() + 1 end f()", PN_ECALLBACK, "stack overflow");
    fails(host, "error(('x'):rep(2000))", PN_ECALLBACK, "xxxx");
    (void)run(host, "error(('x'):rep(2000), 0)", NULL, &err);
    CHECK(strspn(pnl_host_message(host), "x") == 2000); /* err has its beginning */
    CHECK(strlen(err.message) == PN_ERR_MAX - 1);
    CHECK(pnl_host_run(host, "error 'x'", 9, "quiet", NULL, NULL) == PN_ECALLBACK);
    pnl_host_free(host);
}

static void standard_functions_do_what_they_did(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .seconds = 3600.0 });
    pn_err err;

    if (!CHECK(run(host,
                   "local t = { 1, 2, 3 }\n"
                   "table.insert(t, 4) table.insert(t, 1, 0)\n"
                   "assert(table.concat(t, ',') == '0,1,2,3,4')\n"
                   "assert(table.remove(t) == 4 and table.remove(t, 1) == 0 and table.concat(t, ',') == '1,2,3')\n"
                   "assert(table.remove({}) == nil and table.remove({}, 0) == nil and table.remove(t, 4) == nil)\n"
                   "assert(not pcall(table.remove, t, 5) and not pcall(table.remove, t, -1))\n"
                   "assert(not pcall(table.insert, t, 5, 0) and not pcall(table.insert, t, 0, 0))\n"
                   "assert(not pcall(table.insert, t) and not pcall(table.insert, t, 1, 2, 3) and #t == 3)\n"
                   "assert(table.concat(table.move({ 1, 2, 3, 4 }, 1, 3, 2), ',') == '1,1,2,3')\n"
                   "assert(table.concat(table.move({ 1, 2, 3, 4 }, 2, 4, 1), ',') == '2,3,4,4')\n"
                   "assert(table.concat(table.move({ 1, 2 }, 1, 2, 3, { 7, 8 }), ',') == '7,8,1,2')\n"
                   "assert(#table.move({ 1 }, 1, 0, 1, {}) == 0)\n"
                   "assert(not pcall(table.move, {}, 1, math.maxinteger, 2))\n"
                   "assert(('ab'):rep(2, '-') == 'ab-ab' and (''):rep(3, '-') == '--' and (''):rep(9) == '')\n"
                   "assert(select('#', xpcall(function(...) return ... end, print, 1, nil, nil)) == 4)\n"
                   "local ok, m = xpcall(error, function(e) return e .. '!' end, 'x') assert(not ok and m == 'x!')\n"
                   "local co = coroutine.wrap(function(a) local b = select(2, xpcall(coroutine.yield, print, a))\n"
                   "  return b + 1 end)\n"
                   "assert(co(1) == 1 and co(5) == 6)\n"
                   "assert(load('return ...', 'n', 't', {})(3) == 3 and load('x = 1', 'n', nil, _ENV)() == nil)\n"
                   "assert(x == 1 and load('return y', 'n', 't', { y = 2 })() == 2 and select(2, load('=')))\n"
                   "assert(setmetatable({}, { __index = { z = 1 } }).z == 1 and debug.traceback())\n"
                   "assert(io.type(io.stdout) == 'file' and not debug.sethook and not debug.getregistry)\n",
                   NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pnl_host_free(host);
}

static int add_one(lua_State *L)
{
    lua_pushinteger(L, luaL_checkinteger(L, 1) + 1);
    return 1;
}

static int start_another(lua_State *L)
{
    pnl_host *host = lua_touserdata(L, lua_upvalueindex(1));
    pn_err err;

    CHECK(pnl_host_run(host, "return 1", 8, "inner", NULL, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "host: a run is going on; a function that it calls cannot start another") == 0);
    return 0;
}

static void hosts_register_functions_and_call_those_of_scripts(void)
{
    pnl_host *host = new_host(NULL);
    lua_State *L = pnl_host_state(host);
    pn_err err;

    lua_register(L, "add_one", add_one);
    lua_pushlightuserdata(L, host);
    lua_pushcclosure(L, start_another, 1);
    lua_setglobal(L, "another");
    CHECK(run(host, "another() function f(x, y) return add_one(x), y end return add_one(41)", NULL, &err) == PN_OK);
    CHECK(lua_tointeger(L, -1) == 42);
    lua_getglobal(L, "f");
    lua_pushinteger(L, 1);
    lua_pushliteral(L, "two");
    CHECK(pnl_host_call(host, 2, 2, &err) == PN_OK);
    CHECK(lua_gettop(L) == 3 && lua_tointeger(L, 2) == 2 && strcmp(lua_tostring(L, 3), "two") == 0);
    lua_settop(L, 0);
    lua_getglobal(L, "f");
    lua_pushliteral(L, "x");
    CHECK(pnl_host_call(host, 1, LUA_MULTRET, &err) == PN_ECALLBACK && strstr(err.message, "number expected"));
    CHECK(lua_gettop(L) == 0);
    works(host);
    pnl_host_free(host);
}

/* ---- the host is told ---- */

typedef struct told {
    char output[400], warnings[400];
    long reports;
    double done;
    pn_status answer;
} told;

static void log_text(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    told *all = self;
    char *to = channel == PNL_OUTPUT ? all->output : all->warnings;

    CHECK(strlen(text) == size && pn_account_current() == NULL);
    (void)strncat(to, text, 100);
    (void)strcat(to, "|");
}

static pn_status hear(void *self, const pn_progress *progress, pn_err *err)
{
    told *all = self;

    CHECK(pn_account_current() == NULL);
    all->reports++;
    all->done = progress->done;
    return all->answer == PN_OK ? PN_OK : pn_fail(err, all->answer, "the host has had enough");
}

static const char fit[] =
    "local d = pn.data.synthetic.lasso { n = 2000, p = 20, seed = 1 }\n"
    "local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 20, radius = 1 } }\n"
    "local options = { rho = 0.5, iterations = N or 50, rng = pn.rng.seeded(7), progress = false }\n"
    "return pn.solve.frank_wolfe(obj, options)";

static void what_is_printed_goes_to_the_log(void)
{
    told all = { .output = "" };
    pnl_host *host = new_host(&(pnl_host_options){ .log = log_text, .self = &all });
    pn_err err;

    CHECK(run(host, "print('a', 1, nil, setmetatable({}, { __tostring = function() return 'b' end })) print()", NULL,
              &err) == PN_OK);
    CHECK(strcmp(all.output, "a\t1\tnil\tb||") == 0);
    CHECK(run(host, "warn('@off') warn('not') warn('@on') warn('one ', 'two') warn('@other')", NULL, &err) == PN_OK);
    CHECK(strcmp(all.warnings, "one two|") == 0);
    CHECK(run(host, "warn(('x'):rep(5000))", NULL, &err) == PN_OK); /* is cut, and nothing else */
    pnl_host_free(host);
}

static void progress_is_heard_and_may_stop_the_work(void)
{
    told all = { .answer = PN_OK };
    pnl_host *host = new_host(&(pnl_host_options){ .progress = hear, .self = &all });
    pn_err err;

    CHECK(run(host, fit, NULL, &err) == PN_OK);
    CHECK(all.reports > 0);
    lua_settop(pnl_host_state(host), 0);
    all.answer = PN_ECALLBACK;
    fails(host, fit, PN_ECALLBACK, "the host has had enough");
    pnl_host_free(host);
}

/* ---- limits ---- */

/* Each runs for ever, or until a limit: what tries to swallow it does not. */
static const char *const endless[] = {
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function f() while true do end end while true do xpcall(f, f) end",
    "xpcall(function() while true do end end, function() while true do end end)",
    "xpcall(function() error 'x' end, function() while true do end end)",
    "pcall(string.rep, 'x', -1) repeat pcall(error) until false",
    "local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end",
    "while true do coroutine.wrap(function() for i = 1, 50 do end end)() end",
    "while true do coroutine.resume(coroutine.create(function() end)) end",
    "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    "local t = setmetatable({}, { __index = function() while true do end end }) return t.x",
    "local t = setmetatable({}, { __lt = function() while true do end end }) return t < t",
    "print(setmetatable({}, { __tostring = function() while true do end end }))",
    "error(setmetatable({}, { __tostring = function() while true do end end }))",
    "do local x <close> = setmetatable({}, { __close = function() while true do end end }) end",
    "do local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end end",
    "local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function()\n"
    "  while true do end end }) coroutine.yield() end) coroutine.resume(co) coroutine.close(co)",
    "table.sort({ 3, 2, 1 }, function() while true do end end)",
    "string.gsub('aaa', 'a', function() while true do end end)",
    "load(function() while true do end end) while true do end",
    "table.move({}, 1, 1 << 60, 2)",
    "local a = {} while true do pcall(table.move, {}, 1, 1 << 60, 2, a) end",
    "table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 2)",
    "table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)",
    "local f f = function() local ok = pcall(f) return f() end f()",
    "local function f(...) return select('#', ...) > 9 and f() or f(1, ...) end f()",
    "for k in pairs(setmetatable({}, { __pairs = function() return function() return 1 end end })) do end",
    "goto again ::again:: goto again",
    "local p = function() while true do end end\n"
    "pn.set.custom { dim = 2, radius = 1, project = p, contains = p, support = p }:project { 3, 4 }",
    "pn.audit(function() while true do end end, { neighbours = { {}, { 1 } }, trials = 100, delta = 0.1,\n"
    "  event = pn.event.pure { epsilon = 3 }, progress = false, rng = pn.rng.seeded(1) })",
    "while true do pcall(pn.set.l1_ball, { dim = 0 }) end",
    "while true do local v = pn.vec.zeros(10) + 1 end",
};

static void instructions_are_limited(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .instructions = 300000, .threads = 1 });

    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        fails(host, endless[i], PN_ELIMIT, "the limit of 300000 instructions was reached");
    fails(host, "setmetatable({}, { __gc = print })", PN_ECALLBACK, "__gc is not available");
    fails(host, "getmetatable(io.stdout).__gc = print", PN_ECALLBACK, "index");
    pnl_host_free(host);
}

/* Lua calls no finalizer where exactly one call more than the stack of C admits would be needed, and never asks again:
 * what a script leaves behind is collected before the next one can go that deep. */
static void a_script_cannot_spoil_the_finalizers_of_those_before(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .instructions = 300000, .threads = 1 });
    size_t before = 0, used = 0;
    pn_err err;

    for (int round = 0; round < 6; round++) {
        CHECK(run(host, "for i = 1, 2000 do local v = pn.vec.zeros(1000) end", NULL, &err) == PN_OK);
        fails(host, "local f f = function() local t = {} local ok = pcall(f) t = {} return f() end f()", PN_ELIMIT,
              "the limit of 300000 instructions was reached");
        lua_gc(pnl_host_state(host), LUA_GCCOLLECT);
        pnl_host_memory(host, &used, NULL);
        before = round == 0 ? used : before;
    }
    if (!CHECK(used < before + 8000)) /* of one vector */
        (void)fprintf(stderr, "    %zu bytes, and %zu before\n", used, before);
    pnl_host_free(host);
}

/* A limit is for one run, and counts to within a grain. */
static void the_count_of_instructions_begins_with_each_run(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .instructions = 100000 });
    pn_err err;

    for (int i = 0; i < 3; i++)
        CHECK(run(host, "for i = 1, 98000 do end", NULL, &err) == PN_OK); /* one instruction a round */
    fails(host, "for i = 1, 101000 do end", PN_ELIMIT, "the limit of 100000 instructions was reached");
    CHECK(run(host, "for i = 1, 98000 do end", NULL, &err) == PN_OK);
    pnl_host_free(host);
    host = new_host(&(pnl_host_options){ .instructions = 50 });
    CHECK(run(host, "for i = 1, 30 do end", NULL, &err) == PN_OK);
    fails(host, "for i = 1, 110 do end", PN_ELIMIT, "the limit of 50 instructions was reached");
    pnl_host_free(host);
}

static void time_is_limited(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .seconds = 0.02, .threads = 2 });

    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        fails(host, endless[i], PN_ELIMIT, "the limit of 0.02 seconds was reached");
    pnl_host_free(host);
}

static void loops_of_the_runtime_end_with_the_time(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .seconds = 0.2, .threads = 2 });
    pn_err err;
    double seconds;
    struct timespec begun, ended;

    lua_pushinteger(pnl_host_state(host), 10000000);
    lua_setglobal(pnl_host_state(host), "N");
    clock_gettime(CLOCK_MONOTONIC, &begun);
    CHECK(run(host, fit, NULL, &err) == PN_ELIMIT && strstr(err.message, "the limit of 0.2 seconds was reached"));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    seconds = (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
    CHECK(seconds < 20.0); /* ten million steps take minutes */
    works(host);
    pnl_host_free(host);
}

static void memory_is_limited(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .memory_bytes = 16 * MEGABYTE, .threads = 2 });
    size_t used, peak;

    fails(host, "return ('x'):rep(1 << 30)", PN_ENOMEM,
          "test.lua: out of memory: the limit is 16777216 bytes, of which ");
    fails(host, "local t = {} while true do t[#t + 1] = {} end", PN_ENOMEM, "out of memory");
    fails(host, "local s = 'x' while true do s = s .. s end", PN_ENOMEM, "out of memory");
    fails(host, "local t = {} for i = 1, 1e9 do t[i] = pn.vec.zeros(1000) end", PN_ENOMEM, "memory");
    fails(host, "return pn.data.synthetic.lasso { n = 100000, p = 100, seed = 1 }", PN_ENOMEM, "memory");
    fails(host, "return pn.vec.zeros(1 << 40)", PN_ENOMEM, "memory");
    fails(host, "local t = {} while true do t[#t + 1] = coroutine.create(print) end", PN_ENOMEM, "memory");
    fails(host, "local s = 'x = {' for i = 1, 24 do s = s .. s end return load(s)", PN_ENOMEM, "memory");
    fails(host, "local function f() return f() + 1 end f()", PN_ENOMEM, "memory");
    pnl_host_memory(host, &used, &peak);
    CHECK(used <= peak && peak <= 16 * MEGABYTE && peak > 8 * MEGABYTE);
    pnl_host_free(host);
}

/* What is dead is collected before the limit is reached, although Lua does not see its size. */
static void dead_objects_of_the_runtime_do_not_count(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .memory_bytes = 16 * MEGABYTE, .threads = 1 });
    pn_err err;

    if (!CHECK(run(host,
                   "for i = 1, 3000 do local v = pn.vec.zeros(10000) local w = v + 1 end\n"
                   "for i = 1, 200 do local d = pn.data.synthetic.lasso { n = 1000, p = 50, seed = 1 } end",
                   NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pnl_host_free(host);
}

/* ---- cancelling ---- */

static pnl_host *to_stop;

static void stop_it(int signal_number)
{
    (void)signal_number;
    pnl_host_cancel(to_stop);
}

typedef struct stopper {
    pnl_host *host;
    atomic_bool done;
} stopper;

/* Again and again, for the run may not have begun yet. */
static void *stop_later(void *argument)
{
    struct timespec pause = { 0, 20000000 };
    stopper *self = argument;

    while (!atomic_load(&self->done)) {
        (void)nanosleep(&pause, NULL);
        pnl_host_cancel(self->host);
    }
    return NULL;
}

static void cancels_in_another_thread(pnl_host *host, const char *code)
{
    stopper self = { host, false };
    pthread_t other;
    pn_err err;

    CHECK(pthread_create(&other, NULL, stop_later, &self) == 0);
    CHECK(run(host, code, NULL, &err) == PN_ECANCELLED && strstr(err.message, "stopped by the host"));
    atomic_store(&self.done, true);
    CHECK(pthread_join(other, NULL) == 0);
    works(host);
}

/* As stop_later, the signal comes until the run has ended. */
static void cancels_in_a_signal_handler(pnl_host *host)
{
    const struct itimerval every = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = stop_it }, before;
    pn_err err;

    to_stop = host;
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    CHECK(run(host, "while true do end", NULL, &err) == PN_ECANCELLED);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    works(host);
}

static void runs_are_cancelled_from_threads_and_signal_handlers(void)
{
    pnl_host *host = new_host(&(pnl_host_options){ .threads = 2 });
    pn_err err;

    pnl_host_cancel(host); /* no run: nothing */
    works(host);
    cancels_in_another_thread(host, "while true do end");
    cancels_in_another_thread(host, "while true do pcall(function() while true do end end) end");
    CHECK(run(host, "N = 100000000", NULL, &err) == PN_OK);
    cancels_in_another_thread(host, fit);
    cancels_in_another_thread(host, "while true do pcall(string.rep) end");
    cancels_in_a_signal_handler(host);
    pnl_host_free(host);
}

/* ---- memory that runs out ---- */

static const char scenario_code[] =
    "local d = pn.data.synthetic.lasso { n = 20, p = 3, seed = 1 }\n"
    "local set = pn.set.l1_ball { dim = 3, radius = 1 }\n"
    "local obj = pn.objective { data = d, loss = pn.loss.squared(), set = set }\n"
    "local fit = pn.solve.frank_wolfe(obj, { rho = 0.5, iterations = 2, progress = false })\n"
    "assert(fit.steps == 2)\n"
    "print('done', tostring(fit))\n"
    "local f = function(v) return v * (1 / math.max(1, v:norm())) end\n"
    "local C = pn.set.custom { dim = 2, radius = 1, project = f, contains = function(v) return v:norm() <= 1 end }\n"
    "return C:project { 3, 4 }\n";

static void discard(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    (void)self;
    (void)channel;
    (void)text;
    (void)size;
}

static pn_status scenario(void *self, pn_err *err)
{
    pnl_host_options options = { .threads = 1, .log = discard };
    pnl_host *host = NULL;
    pn_status status = pnl_host_new(&host, &options, err);

    (void)self;
    if (status == PN_OK)
        status = pnl_host_run(host, scenario_code, sizeof scenario_code - 1, "scenario.lua", NULL, err);
    pnl_host_free(host);
    return status;
}

/* Opening alone makes some 25000 allocations, which are alike: a sample of them, and all of the run. */
static void any_allocation_may_fail(void)
{
    fail_alloc count = { .fail_at = 0 };
    long total, refused = 0;

    if (!CHECK(fail_alloc_run(&count, scenario, NULL) == PN_OK))
        return;
    total = count.calls;
    CHECK(count.live == 0 && total > 1000);
    for (long k = 1; k <= total; k += k < 50 || k > total - 1500 ? 3 : 101) {
        fail_alloc one = { .fail_at = k };
        pn_status status = fail_alloc_run(&one, scenario, NULL);

        refused += status == PN_ENOMEM;
        if (!CHECK(status == PN_OK || status == PN_ENOMEM) || !CHECK(one.live == 0))
            (void)fprintf(stderr, "    allocation %ld of %ld: %s\n", k, total, pn_status_name(status));
    }
    CHECK(refused > 0); /* most a full collection mends */
}

/* A script that fails, with the k-th allocation of its run refused, too. */
static pn_status fails_without_memory(void *object, pn_err *err)
{
    fail_alloc *count = object;
    pnl_host *host = new_host(&(pnl_host_options){ .threads = 1, .log = discard });
    long before, calls = 1;

    for (long k = 1; k <= calls; k++) {
        before = atomic_load(&count->calls);
        count->fail_at = before + k;
        CHECK(run(host, "error 'enough'", NULL, err) == PN_ECALLBACK || err->status == PN_ENOMEM);
        count->fail_at = 0;
        calls = atomic_load(&count->calls) - before;
        CHECK(strstr(err->message, err->status == PN_ENOMEM ? "out of memory" : "enough") != NULL);
        CHECK(strncmp(pnl_host_message(host), err->message, strlen(err->message)) == 0);
    }
    CHECK(calls > 1);
    CHECK(run(host, "return 1", NULL, err) == PN_OK && strcmp(pnl_host_message(host), "") == 0);
    pnl_host_free(host);
    return PN_OK;
}

/* Where there is none for the whole message, the short one stands for it. */
static void every_failure_has_a_message(void)
{
    fail_alloc count = { .fail_at = 0 };

    CHECK(fail_alloc_run(&count, fails_without_memory, &count) == PN_OK);
    CHECK(count.live == 0);
}

/* The limit itself at any height, with the state used again. */
static void any_limit_of_memory_is_survived(void)
{
    long passed = 0, refused = 0;

    for (size_t extra = 0; extra < 400000; extra += 4001) {
        pnl_host *host = new_host(&(pnl_host_options){ .memory_bytes = 8 * MEGABYTE, .threads = 1, .log = discard });
        lua_State *L = pnl_host_state(host);
        size_t used, fill;
        pn_status status;
        pn_err err;

        lua_gc(L, LUA_GCCOLLECT);
        pnl_host_memory(host, &used, NULL);
        fill = 8 * MEGABYTE - used - 40 - extra;
        memset(lua_newuserdatauv(L, fill, 0), 1, fill);
        status = pnl_host_run(host, scenario_code, sizeof scenario_code - 1, "scenario.lua", NULL, &err);
        if (!CHECK(status == PN_OK || status == PN_ENOMEM))
            (void)fprintf(stderr, "    %zu bytes: %s\n", extra, err.message);
        passed += status == PN_OK;
        refused += status == PN_ENOMEM;
        lua_settop(L, 0);
        lua_gc(L, LUA_GCCOLLECT);
        works(host);
        pnl_host_free(host);
    }
    CHECK(passed > 0 && refused > 0);
}

int main(void)
{
    options_that_make_no_sense_are_refused();
    a_run_returns_values_and_keeps_globals();
    failures_say_what_and_where();
    standard_functions_do_what_they_did();
    hosts_register_functions_and_call_those_of_scripts();
    what_is_printed_goes_to_the_log();
    progress_is_heard_and_may_stop_the_work();
    instructions_are_limited();
    a_script_cannot_spoil_the_finalizers_of_those_before();
    the_count_of_instructions_begins_with_each_run();
    time_is_limited();
    loops_of_the_runtime_end_with_the_time();
    memory_is_limited();
    dead_objects_of_the_runtime_do_not_count();
    runs_are_cancelled_from_threads_and_signal_handlers();
    any_allocation_may_fail();
    every_failure_has_a_message();
    any_limit_of_memory_is_survived();
    return check_summary();
}
