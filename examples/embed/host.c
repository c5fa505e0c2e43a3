/* host.c -- a C program that runs Lua scripts with Penumbra in them, under limits, several at once.
 *
 *     cc host.c $(pkg-config --cflags --libs penumbra-lua) -pthread -o host
 *     ./host report.lua other.lua       each in a thread and a state of its own
 *
 * Scripts see the global `pn`, and `records()`, which this program registers.  Ctrl-C stops them all. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <penumbra_lua.h>

#define MOST_SCRIPTS 16

typedef struct job {
    const char *path;
    pthread_t thread;
    pnl_host *host;
    unsigned reports; /* of progress */
    pn_status status;
} job;

static job jobs[MOST_SCRIPTS];
static int job_count;

static void stop_all(int signal_number)
{
    (void)signal_number;
    for (int i = 0; i < job_count; i++)
        if (jobs[i].host)
            pnl_host_cancel(jobs[i].host);
}

/* ---- what scripts get from this program ---- */

/* records() -> n, p: as any function of Lua's C API. */
static int records(lua_State *L)
{
    lua_pushinteger(L, 5000);
    lua_pushinteger(L, 20);
    return 2;
}

/* ---- what this program hears of them: each on the thread of its script ---- */

static void hear_text(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    const job *from = self;

    (void)size; /* text ends with a zero byte, too, but may hold others */
    (void)fprintf(channel == PNL_WARNING ? stderr : stdout, "%s: %s\n", from->path, text);
}

static pn_status hear_progress(void *self, const pn_progress *progress, pn_err *err)
{
    (void)progress;
    (void)err;
    ((job *)self)->reports++;
    return PN_OK; /* anything else would stop the computation */
}

/* ---- one script ---- */

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length;

    if (file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        text = malloc((size_t)length + 1);
        *size = text ? fread(text, 1, (size_t)length, file) : 0;
    }
    if (file)
        (void)fclose(file);
    return text;
}

static void run(job *self, const char *code, size_t size)
{
    int results;
    size_t peak;
    pn_err err;

    self->status = pnl_host_run(self->host, code, size, self->path, &results, &err);
    if (self->status == PN_OK && results > 0)
        (void)printf("%s: returned %s\n", self->path, luaL_tolstring(pnl_host_state(self->host), -results, NULL));
    else if (self->status != PN_OK)
        (void)printf("%s: %s: %s\n", self->path, pn_status_name(self->status), pnl_host_message(self->host));
    pnl_host_memory(self->host, NULL, &peak);
    (void)printf("%s: %s, at most %.0f MB\n", self->path, self->reports ? "reported progress" : "reported nothing",
                 (double)peak / 1e6);
}

static void *work(void *argument)
{
    job *self = argument;
    size_t size = 0;
    char *code = read_file(self->path, &size);

    if (code)
        run(self, code, size);
    else
        (void)printf("%s: cannot be read\n", self->path);
    free(code);
    return NULL;
}

static pn_status prepare(job *self, const char *path, pn_err *err)
{
    pnl_host_options options = {
        .memory_bytes = (size_t)200 << 20, /* of Lua and of the library's numbers together */
        .seconds = 10.0,
        .instructions = 50000000,
        .threads = 1,
        .progress = hear_progress,
        .log = hear_text,
        .self = self,
    };
    pn_status status = pnl_host_new(&self->host, &options, err);

    self->path = path;
    self->status = PN_EIO;
    if (status == PN_OK)
        lua_register(pnl_host_state(self->host), "records", records);
    return status;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = stop_all };
    int started = 0, failed = 0;
    pn_err err;

    if (argc < 2 || argc > MOST_SCRIPTS + 1) {
        (void)fprintf(stderr, "usage: %s SCRIPT ... (at most %d)\n", argv[0], MOST_SCRIPTS);
        return 2;
    }
    for (; job_count < argc - 1; job_count++)
        if (prepare(&jobs[job_count], argv[job_count + 1], &err) != PN_OK) {
            (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
            return EXIT_FAILURE;
        }
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    while (started < job_count && pthread_create(&jobs[started].thread, NULL, work, &jobs[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        (void)pthread_join(jobs[i].thread, NULL);
    (void)signal(SIGINT, SIG_DFL);
    for (int i = 0; i < job_count; i++) {
        failed += jobs[i].status != PN_OK;
        pnl_host_free(jobs[i].host);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
