/* crash_test.c -- every program of writers.lua writes its file, and at each system call that it makes on the way it is
 * killed, or the call fails, or the disk is full from there on; then what is there is judged.  campaign.lua says what
 * must hold.  One process: each try is a forked child, whose calls wait for this one's answer.
 * Depends on: check.h, calls.h, bindings/, Lua, Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <lauxlib.h>
#include <lualib.h>

#include "bindings/embed/penumbra_lua.h"
#include "bindings/kernel/lkernel.h"
#include "bindings/prompt/repl.h"
#include "check.h"
#include "crash/calls.h"
#include "crash/federated.h"

#define TEMPORARY "/tmp/lua_" /* what os.tmpname names */
#define FILES     32
#define HANGS     120000 /* milliseconds without a call: a writer that waits for ever is a finding */

/* What becomes of the call whose turn it is:
 *   NONE nobody looks; COUNT nothing; KILL the process ends before it; TEAR in the middle of its bytes; FAIL it fails
 *   (EIO); FULL it and all later ones that make files grow fail (ENOSPC), a write after half of its bytes; DEAD it and
 *   all later ones fail (EIO). */
typedef enum fate { NONE, COUNT, KILL, TEAR, FAIL, FULL, DEAD } fate;
static const char *const fates[] = { "none", "count", "kill", "tear", "fail", "full", "dead", NULL };

typedef struct
try {
    fate fate;
    long at;           /* the number of the call, from 1 */
    lua_Integer limit; /* on the size of files; negative: none */
    lua_State *L;      /* the table of its outcome is on the top */
    pid_t child;
    int pidfd, listener;
    long calls;
    bool killed;
    const char *lost; /* the call that failed was to make bytes durable that nothing else did: "sync" or "close" */
    char dirty[FILES][TEXT], strays[FILES][TEXT]; /* files with bytes that are not durable; temporary ones */
}
try;

static char folder[256]; /* where the writers write */

static bool inside(const char *path)
{
    size_t length = strlen(folder);

    return (strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0')) ||
           strncmp(path, TEMPORARY, sizeof TEMPORARY - 1) == 0;
}

/* ---- what is durable ---- */

static char (*find(char set[FILES][TEXT], const char *path))[TEXT]
{
    for (size_t i = 0; i < FILES; i++) {
        if (strcmp(set[i], path) == 0)
            return &set[i];
    }
    return NULL;
}

static void add(char set[FILES][TEXT], const char *path)
{
    char(*place)[TEXT] = find(set, path) ? NULL : find(set, "");

    if (place)
        (void)snprintf(*place, TEXT, "%s", path);
}

/* Adds a word to the list `field` of the outcome. */
static void note(const try *self, const char *field, const char *word)
{
    (void)luaL_getsubtable(self->L, -1, field);
    lua_pushstring(self->L, word);
    lua_rawseti(self->L, -2, (lua_Integer)lua_rawlen(self->L, -2) + 1);
    lua_pop(self->L, 1);
}

/* The call is about to be done. */
static void follow(try *self, const call_row *row, const char *file)
{
    char(*dirty)[TEXT] = find(self->dirty, file);
    struct stat info;

    if (row->kind == CALL_OPEN && strncmp(file, TEMPORARY, sizeof TEMPORARY - 1) == 0)
        add(self->strays, file);
    if ((row->kind == CALL_WRITE || row->kind == CALL_CUT) && stat(file, &info) == 0 && S_ISREG(info.st_mode))
        add(self->dirty, file);
    if (row->kind == CALL_SYNC && dirty)
        (*dirty)[0] = '\0';
    if (row->kind == CALL_NAME && dirty) {
        note(self, "hasty", strrchr(file, '/') + 1); /* a crash of the machine would show the name and not the bytes */
        (*dirty)[0] = '\0';
    }
}

/* ---- answers ---- */

static bool changes(const struct seccomp_notif *asked, const call_row *row)
{
    char name[64], line[128] = "", text[32];
    unsigned flags = 0;
    FILE *info;

    if (row->kind == CALL_OPEN) {
        flags = strcmp(row->name, "creat") == 0 ? O_WRONLY | O_CREAT : (unsigned)asked->data.args[row->path + 1];
        return (flags & (O_CREAT | O_TRUNC)) != 0;
    }
    if (row->kind != CALL_CLOSE)
        return row->kind != CALL_READ;
    (void)snprintf(name, sizeof name, "/proc/%ld/fdinfo/%d", (long)asked->pid, (int)asked->data.args[0]);
    info = fopen(name, "re");
    while (info && fgets(line, sizeof line, info)) {
        if (sscanf(line, "flags: %31s", text) == 1)
            flags = (unsigned)strtoul(text, NULL, 8);
    }
    if (info)
        (void)fclose(info);
    return (flags & O_ACCMODE) != O_RDONLY;
}

/* The first half of a write, on the process's behalf; how many bytes. */
static long write_half(const try *self, const struct seccomp_notif *asked, const call_row *row)
{
    const __u64 *args = asked->data.args;
    size_t size = strcmp(row->name, "writev") == 0 ? 0 : (size_t)args[2] / 2;
    char *bytes = malloc(size + 1);
    ssize_t done = -1;
    int fd = -1;

    if (bytes && size > 0 && memory_of((pid_t)asked->pid, args[1], bytes, size) == (ssize_t)size)
        fd = (int)syscall(SYS_pidfd_getfd, self->pidfd, (int)args[0], 0);
    if (fd >= 0) {
        done = strcmp(row->name, "pwrite") == 0 ? pwrite(fd, bytes, size, (off_t)args[3]) : write(fd, bytes, size);
        (void)close(fd);
    }
    free(bytes);
    return done > 0 ? (long)done : 0;
}

static void end_child(try *self, const struct seccomp_notif *asked)
{
    if ((pid_t)asked->pid != self->child)
        (void)kill((pid_t)asked->pid, SIGKILL);
    (void)kill(self->child, SIGKILL);
    self->killed = true;
}

/* A close that fails has closed the descriptor; this one stays open, but for its lock. */
static void unlock(const try *self, const struct seccomp_notif *asked)
{
    int fd = (int)syscall(SYS_pidfd_getfd, self->pidfd, (int)asked->data.args[0], 0);

    if (fd >= 0) {
        (void)flock(fd, LOCK_UN);
        (void)close(fd);
    }
}

static void fail_call(try *self, const struct seccomp_notif *asked, struct seccomp_notif_resp *reply,
                      const call_row *row, const char *file, int error)
{
    if (row->kind == CALL_CLOSE)
        unlock(self, asked);
    if (row->kind == CALL_SYNC)
        self->lost = "sync";
    else if (!self->lost && row->kind == CALL_CLOSE && find(self->dirty, file))
        self->lost = "close";
    reply->error = -error;
}

/* The fate of a call on a file of the folder; reply is "goes on" until something else is said. */
static void decide(try *self, const struct seccomp_notif *asked, struct seccomp_notif_resp *reply, const call_row *row,
                   const char *file)
{
    bool changing = changes(asked, row), now;
    bool grows = changing && (row->kind == CALL_OPEN || row->kind == CALL_WRITE || row->kind == CALL_NAME ||
                              row->kind == CALL_MAKE);
    char word[64];

    if (row->kind == CALL_CLOSE && !changing)
        return;
    now = ++self->calls == self->at;
    if (self->fate == COUNT) {
        (void)snprintf(word, sizeof word, "%s%s%s", row->name, changing ? " changes" : "", grows ? " grows" : "");
        note(self, "calls", word);
    }
    if (now && (self->fate == KILL || self->fate == TEAR)) {
        if (self->fate == TEAR)
            (void)write_half(self, asked, row);
        end_child(self, asked);
    } else if (now && self->fate == FULL && row->kind == CALL_WRITE &&
               (reply->val = write_half(self, asked, row)) > 0) {
        add(self->dirty, file);
        reply->flags = 0;
    } else if ((now && self->fate == FAIL) || (self->fate == DEAD && self->calls >= self->at)) {
        fail_call(self, asked, reply, row, file, EIO);
    } else if (self->fate == FULL && (now || (self->calls > self->at && grows))) {
        fail_call(self, asked, reply, row, file, ENOSPC);
    } else {
        follow(self, row, file);
    }
}

static void answer(try *self, struct seccomp_notif *asked, struct seccomp_notif_resp *reply)
{
    const call_row *row;
    char file[TEXT];

    memset(asked, 0, sizeof *asked);
    if (seccomp_notify_receive(self->listener, asked) != 0)
        return; /* it has ended meanwhile */
    *reply = (struct seccomp_notif_resp){ .id = asked->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
    row = call_of(asked->data.nr);
    if (!self->killed && row && find_file(asked, row, file) && inside(file))
        decide(self, asked, reply, row, file);
    if (reply->error)
        reply->flags = 0;
    if (!self->killed)
        (void)seccomp_notify_respond(self->listener, reply);
}

/* ---- a try ---- */

static void watch(try *self)
{
    struct seccomp_notif *asked = NULL;
    struct seccomp_notif_resp *reply = NULL;
    struct pollfd on[2] = { { self->pidfd, POLLIN, 0 }, { self->listener, POLLIN, 0 } };
    int more = 1;

    if (self->listener >= 0 && seccomp_notify_alloc(&asked, &reply) != 0)
        (void)kill(self->child, SIGKILL);
    while (asked && (more = poll(on, 2, HANGS)) > 0 && !(on[0].revents & POLLIN)) {
        if (on[1].revents & POLLIN)
            answer(self, asked, reply);
        else if (on[1].revents)
            on[1].fd = -1; /* nobody is left who could ask */
    }
    if (more == 0)
        (void)kill(self->child, SIGKILL);
    seccomp_notify_free(asked, reply);
    if (self->listener >= 0)
        (void)close(self->listener);
}

/* tell(): one more step is done, and may be acted upon. */
static int tell(lua_State *L)
{
    if (write((int)lua_tointeger(L, lua_upvalueindex(1)), "t", 1) != 1)
        return luaL_error(L, "tell: nobody listens");
    return 0;
}

static _Noreturn void say(int to, char how, const char *text)
{
    (void)!write(to, &how, 1);
    if (text)
        (void)!write(to, text, strlen(text));
    _exit(0);
}

/* The child's life: `before`, then `body` with what may happen to it.  What it prints goes to `shown`. */
static _Noreturn void live(lua_State *L, const try *self, int to, int through, int shown)
{
    const struct rlimit size = { (rlim_t)self->limit, RLIM_INFINITY };

    (void)lua_gc(L, LUA_GCSTOP); /* it would touch, and so copy, all that the parent has */
    if (chdir(folder) != 0 || dup2(shown, STDOUT_FILENO) < 0 || dup2(shown, STDERR_FILENO) < 0)
        say(to, 'b', strerror(errno));
    if (lua_getfield(L, 1, "before") != LUA_TNIL && lua_pcall(L, 0, 0, 0) != LUA_OK)
        say(to, 'b', luaL_tolstring(L, -1, NULL));
    if ((self->limit >= 0 && setrlimit(RLIMIT_FSIZE, &size) != 0) || (self->fate != NONE && !ask_parent(through)))
        say(to, 'b', "this system gives no filter of system calls or no limit");
    (void)lua_getfield(L, 1, "body");
    lua_pushinteger(L, to);
    lua_pushcclosure(L, tell, 1);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        say(to, 'f', luaL_tolstring(L, -1, NULL));
    say(to, 'd', lua_isnoneornil(L, -1) ? NULL : luaL_tolstring(L, -1, NULL));
}

/* Whatever the pipe or file has, as a string on the top. */
static void push_all(lua_State *L, int from)
{
    luaL_Buffer text;
    char some[1024];
    ssize_t got;

    luaL_buffinit(L, &text);
    while ((got = read(from, some, sizeof some)) > 0)
        luaL_addlstring(&text, some, (size_t)got);
    luaL_pushresult(&text);
}

/* heard = steps told, then how the child ended and its words. */
static void set_outcome(try *self, int heard, int shown, int ended)
{
    lua_State *L = self->L;
    const char *words, *end;

    push_all(L, heard);
    words = lua_tostring(L, -1);
    end = words + strspn(words, "t");
    lua_pushinteger(L, end - words);
    lua_setfield(L, -3, "told");
    lua_pushstring(L, self->killed ? "killed" : *end == 'd' ? "done" : *end == 'f' ? "failed" : "broken");
    lua_setfield(L, -3, "ended");
    if (!self->killed && !*end && WIFSIGNALED(ended))
        lua_pushfstring(L, "signal %d (%s)", WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    else
        lua_pushstring(L, *end ? end + 1 : "");
    lua_setfield(L, -3, "text");
    lua_pop(L, 1);
    push_all(L, shown);
    lua_setfield(L, -2, "shown");
    lua_pushstring(L, self->lost); /* nil for NULL */
    lua_setfield(L, -2, "lost");
    for (size_t i = 0; i < FILES; i++) { /* those that are still there */
        if (self->strays[i][0] && unlink(self->strays[i]) == 0)
            note(self, "strays", self->strays[i]);
    }
}

/* try{fate=, at=, limit=, before=, body=} -> {ended=, told=, text=, shown=, calls=, hasty=, strays=, lost=} */
static int run_try(lua_State *L)
{
    static try self; /* large */
    int heard[2], shown[2], through[2], ended = 0;

    lua_settop(L, 1);
    memset(&self, 0, sizeof self);
    self.L = L;
    (void)lua_getfield(L, 1, "fate");
    self.fate = (fate)luaL_checkoption(L, -1, "none", fates);
    (void)lua_getfield(L, 1, "at");
    self.at = (long)luaL_optinteger(L, -1, 0);
    (void)lua_getfield(L, 1, "limit");
    self.limit = luaL_optinteger(L, -1, -1);
    lua_settop(L, 1);
    if (pipe2(heard, O_CLOEXEC) != 0 || pipe2(shown, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, through) != 0)
        return luaL_error(L, "try: %s", strerror(errno));
    self.child = fork();
    if (self.child == 0)
        live(L, &self, heard[1], through[1], shown[1]);
    (void)close(heard[1]);
    (void)close(shown[1]);
    (void)close(through[1]);
    self.pidfd = (int)syscall(SYS_pidfd_open, self.child, 0);
    self.listener = self.fate == NONE ? -1 : take_fd(through[0]); /* -1, too, when it ended before it had one */
    lua_newtable(L);
    watch(&self);
    (void)waitpid(self.child, &ended, 0);
    (void)fcntl(heard[0], F_SETFL, O_NONBLOCK); /* what it started may live on and have the other end */
    (void)fcntl(shown[0], F_SETFL, O_NONBLOCK);
    set_outcome(&self, heard[0], shown[0], ended);
    (void)close(self.pidfd);
    (void)close(heard[0]);
    (void)close(through[0]);
    (void)close(shown[0]);
    return 1;
}

/* ---- the folder ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind;
    return at->level == 0 ? 0 : remove(path);
}

static int empty(lua_State *L)
{
    lua_pushboolean(L, nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    return 1;
}

static lua_State *listing;

static int list_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    if (at->level > 0 && kind != FTW_D) {
        lua_pushinteger(listing, (lua_Integer)info->st_size);
        lua_setfield(listing, -2, path + strlen(folder) + 1);
    }
    return 0;
}

/* files() -> the sizes of the files that are there, by their names */
static int files(lua_State *L)
{
    lua_newtable(L);
    listing = L;
    (void)nftw(folder, list_one, 16, FTW_PHYS);
    return 1;
}

/* remember(path, entry) -> kept: what the prompt does with an entry that was typed at a terminal. */
static int remember(lua_State *L)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), terminal = -1;

    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
        terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (terminal < 0 || dup2(terminal, STDIN_FILENO) < 0)
        return luaL_error(L, "no terminal: %s", strerror(errno));
    (void)setenv("PENUMBRA_HISTORY", luaL_checkstring(L, 1), 1);
    repl_input_open(L);
    lua_pushboolean(L, repl_input_remember(luaL_checkstring(L, 2)));
    return 1;
}

static int run_campaign(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "try", run_try },
        { "empty", empty },
        { "files", files },
        { "remember", remember },
        { "party", federated_party },
        { "server", federated_server },
        { "forget", federated_forget },
        { NULL, NULL },
    };

    luaL_newlib(L, functions);
    lua_pushboolean(L, check_thorough());
    lua_setfield(L, -2, "thorough");
    lua_setglobal(L, "crash");
    if (luaL_dofile(L, "tests/crash/campaign.lua") != LUA_OK)
        return lua_error(L);
    return 1;
}

static void preload(lua_State *L, const char *name, lua_CFunction open)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

int main(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    lua_State *L = luaL_newstate();

    (void)snprintf(folder, sizeof folder, "%s/penumbra-crash-XXXXXX", base);
    if (!CHECK(L != NULL && mkdtemp(folder) != NULL))
        return check_summary();
    (void)setenv("PENUMBRA_STARTUP", "", 1);
    luaL_openlibs(L);
    pnl_open(L);
    preload(L, "penumbra.terminal", repl_open_terminal);
    preload(L, "penumbra.confined", repl_open_confined);
    preload(L, "penumbra.kernel", pnl_open_kernel);
    lua_pushcfunction(L, run_campaign);
    if (!CHECK(lua_pcall(L, 0, 1, 0) == LUA_OK))
        (void)fprintf(stderr, "    %s\n", lua_tostring(L, -1));
    else
        CHECK(lua_tointeger(L, -1) == 0); /* findings, each of which campaign.lua has printed */
    lua_close(L);
    CHECK(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 && rmdir(folder) == 0);
    return check_summary();
}
