/* main.c -- the program `penumbra`: scripts, -e, the prompt, the services `penumbra party` and `penumbra server`, and
 * `penumbra train`, `penumbra predict`, `penumbra receipt`, `penumbra kernel`, `penumbra course`.
 * Depends on: repl.h, lkernel.h, pnl.h (the C half of the module is linked in), penumbra.prompt.program,
 * penumbra.programs (stdlib/).  Used by: people, Jupyter. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/curator/serve.h"
#include "bindings/kernel/lkernel.h"
#include "bindings/prompt/repl.h"
#include "core/file.h"
#include "numeric/blas_threads.h"

#define EXIT_USAGE       2
#define EXIT_INTERRUPTED 5  /* of services */
#define PROGRAM_MIB      96 /* of addresses, without what OpenBLAS takes: measured, 70 */

typedef struct options {
    bool interactive, strict, version, help;
    bool code;           /* at least one -e */
    int script;          /* index of the script's name ("-" for stdin) in argv; argc when there is none */
    const char *service; /* a word of program_of, which stands at `script`, or NULL */
} options;

typedef struct invocation {
    int argc;
    char **argv;
    int exit_status;
} invocation;

static const char usage[] =
    "usage: penumbra [options] [script [arguments]]\n"
    "       penumbra party CONFIG     one party of a federated run\n"
    "       penumbra server CONFIG    its server; --help explains either\n"
    "       penumbra train KIND CSV --recipe FILE --epsilon E    fit a private model to a file\n"
    "       penumbra predict MODEL CSV    predict the records of a file; --help explains it\n"
    "       penumbra receipt FILE         what a model, ledger or tree was charged for, as JSON; --help explains it\n"
    "       penumbra kernel --install     make the kernel known to Jupyter; --help explains it\n"
    "       penumbra lesson export NAME   a lesson as a notebook or a handout; --help explains it\n"
    "       penumbra course new DIR       a course of lessons: make, take and grade it; --help explains it\n"
    "       penumbra examples         list the examples that are installed\n"
    "  -e CODE        run CODE; may be given several times\n"
    "  -i             show the prompt after -e and the script\n"
    "  --strict       only `pn` and `help` as globals, not its parts (set, loss ...)\n"
    "  -v, --version  print the version\n"
    "  -h, --help     print this\n"
    "  -              read the script from standard input\n"
    "  --             the next argument is the script, whatever it looks like\n"
    "With nothing to run: the prompt on a terminal, else a script on standard input.\n"
    "Ctrl-C stops the running fit and keeps what it reached; again, the script.\n";

/* ---- the command line ---- */

static int complain(const char *what, const char *argument)
{
    (void)fprintf(stderr, "penumbra: %s '%s'\n%s", what, argument, usage);
    return EXIT_USAGE;
}

/* The code of "-e CODE" or "-eCODE" at argv[*i], which moves to its last word; NULL when this is not -e. */
static const char *code_at(char **argv, int *i)
{
    if (strncmp(argv[*i], "-e", 2) != 0)
        return NULL;
    return argv[*i][2] ? argv[*i] + 2 : argv[++*i];
}

/* The module of the program of that name, or NULL. */
static const char *program_of(const char *word)
{
    static const char *const programs[][2] = {
        { "party", "penumbra.programs.federated" }, { "server", "penumbra.programs.federated" },
        { "train", "penumbra.programs.train" },     { "predict", "penumbra.programs.predict" },
        { "kernel", "penumbra.programs.kernel" },   { "lesson", "penumbra.programs.lesson" },
        { "course", "penumbra.programs.course" },   { "examples", "penumbra.programs.examples" },
        { "receipt", "penumbra.programs.receipt" },
    };

    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        if (strcmp(word, programs[k][0]) == 0)
            return programs[k][1];
    }
    return NULL;
}

static bool is_service(const char *word)
{
    return program_of(word) != NULL;
}

/* EXIT_SUCCESS, or EXIT_USAGE after a message. */
static int parse(int argc, char **argv, options *out)
{
    bool plain = true; /* the next word may be a service */
    int i;

    memset(out, 0, sizeof *out);
    for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *word = argv[i];

        if (strcmp(word, "--") == 0) {
            plain = false;
            i++;
            break;
        }
        if (strcmp(word, "-i") == 0) {
            out->interactive = true;
        } else if (strcmp(word, "--strict") == 0) {
            out->strict = true;
        } else if (strcmp(word, "-v") == 0 || strcmp(word, "--version") == 0) {
            out->version = true;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            out->help = true;
        } else if (strncmp(word, "-e", 2) == 0) {
            if (!code_at(argv, &i))
                return complain("code is missing after", word);
            out->code = true;
        } else {
            return complain("unknown option", word);
        }
    }
    out->script = i;
    if (plain && i == 1 && i < argc && is_service(argv[i]))
        out->service = argv[i];
    return EXIT_SUCCESS;
}

/* ---- finding the Lua half ---- */

/* Push the folder of the executable, or NULL where that cannot be known. */
static const char *push_own_folder(lua_State *L)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (length <= 0)
        return NULL;
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return lua_pushstring(L, path);
}

/* Put "<folder>/?.lua;<folder>/?/init.lua" before package.path, and "<modules>/?.so" before package.cpath,
 * when the module is there. */
static bool add_folder(lua_State *L, const char *folder, const char *modules)
{
    int top = lua_gettop(L);
    bool found = access(lua_pushfstring(L, "%s/penumbra/init.lua", folder), R_OK) == 0;

    if (found) {
        lua_getglobal(L, LUA_LOADLIBNAME);
        lua_getfield(L, -1, "path");
        lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", folder, folder, lua_tostring(L, -1));
        lua_setfield(L, -3, "path");
        lua_getfield(L, -2, "cpath");
        lua_pushfstring(L, "%s/?.so;%s", modules, lua_tostring(L, -1));
        lua_setfield(L, -4, "cpath");
    }
    lua_settop(L, top);
    return found;
}

/* Beside the executable in a build tree, under share/ where it is installed; else wherever package.path leads. */
static void find_lua_half(lua_State *L)
{
    const char *folder = push_own_folder(L), *beside = folder ? lua_pushfstring(L, "%s/lua", folder) : NULL;

    if (folder && !add_folder(L, beside, beside))
        (void)add_folder(L, lua_pushfstring(L, "%s/../share/lua/" LUA_VERSION_MAJOR "." LUA_VERSION_MINOR, folder),
                         lua_pushfstring(L, "%s/../lib/lua/" LUA_VERSION_MAJOR "." LUA_VERSION_MINOR, folder));
    lua_settop(L, 0);
}

/* Push the function that the file of the Lua half returns; false after a message. */
static bool push_program_module(lua_State *L)
{
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "searchpath");
    lua_pushliteral(L, "penumbra.prompt.program");
    lua_getfield(L, -3, "path");
    if (repl_call(L, 2, 1, REPL_SCRIPT) == LUA_OK && lua_isnil(L, -1)) {
        (void)fputs("penumbra: its Lua half is missing: it belongs into lua/penumbra beside the program, or into\n"
                    "../share/lua/" LUA_VERSION_MAJOR "." LUA_VERSION_MINOR
                    "/penumbra; `make install` puts it there, and LUA_PATH may name another place\n",
                    stderr);
        return false;
    }
    lua_settop(L, 0);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.prompt.program");
    if (repl_call(L, 1, 1, REPL_SCRIPT) == LUA_OK)
        return true;
    repl_report(L, "penumbra: its Lua half did not load: ");
    return false;
}

static bool open_penumbra(lua_State *L, const options *asked)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_penumbra_core);
    lua_setfield(L, -2, "penumbra.core");
    lua_pushcfunction(L, repl_open_terminal);
    lua_setfield(L, -2, "penumbra.terminal");
    lua_pushcfunction(L, repl_open_confined);
    lua_setfield(L, -2, "penumbra.confined");
    lua_pushcfunction(L, pnl_open_kernel);
    lua_setfield(L, -2, "penumbra.kernel");
    find_lua_half(L);
    if (!push_program_module(L))
        return false;
    lua_pushboolean(L, asked->strict);
    if (repl_call(L, 1, 0, REPL_SCRIPT) == LUA_OK)
        return true;
    repl_report(L, "penumbra: ");
    return false;
}

/* ---- running ---- */

/* The function or message of a load is on the top, below `arguments` of a call.  True when it ran. */
static bool run_loaded(lua_State *L, int status, int arguments)
{
    if (status == LUA_OK)
        status = repl_call(L, arguments, 0, REPL_SCRIPT);
    else if (status == LUA_ERRSYNTAX)
        repl_explain_syntax(L);
    if (status == LUA_OK)
        return true;
    repl_report(L, "penumbra: ");
    return false;
}

static bool run_codes(lua_State *L, const invocation *self, const options *asked)
{
    for (int i = 1; i < asked->script; i++) {
        const char *code = code_at(self->argv, &i);

        if (code && !run_loaded(L, luaL_loadbufferx(L, code, strlen(code), "=(-e)", "t"), 0))
            return false;
    }
    return true;
}

/* arg: [0] the script, [1] ... its arguments, [-1] ... what stands before it. */
static void set_arg(lua_State *L, const invocation *self, int script)
{
    int zero = script < self->argc ? script : 0;

    lua_createtable(L, self->argc - zero, zero + 1);
    for (int i = 0; i < self->argc; i++) {
        lua_pushstring(L, self->argv[i]);
        lua_rawseti(L, -2, i - zero);
    }
    lua_setglobal(L, "arg");
}

/* `name` NULL reads stdin. */
static bool run_script(lua_State *L, const char *name, int argc, char **argv)
{
    int status = luaL_loadfile(L, name && strcmp(name, "-") != 0 ? name : NULL);

    if (status != LUA_OK)
        return run_loaded(L, status, 0);
    luaL_checkstack(L, argc + 4, "too many arguments");
    for (int i = 0; i < argc; i++)
        lua_pushstring(L, argv[i]);
    return run_loaded(L, LUA_OK, argc);
}

/* Push the version, as the module knows it. */
static const char *push_version(lua_State *L)
{
    luaL_requiref(L, "penumbra.core", luaopen_penumbra_core, 0);
    lua_getfield(L, -1, "version");
    return lua_tostring(L, -1);
}

static void greet(lua_State *L)
{
    if (isatty(STDIN_FILENO))
        (void)printf("Penumbra %s (%s).  help() shows what there is, ?name explains,\n"
                     "Tab completes, %%help lists the prompt's own words, Ctrl-D leaves.\n",
                     push_version(L), LUA_RELEASE);
}

static bool run_prompt(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.prompt");
    if (!run_loaded(L, LUA_OK, 1))
        return false;
    greet(L);
    lua_settop(L, 0);
    return repl_run(L) == 0;
}

static bool run(lua_State *L, const invocation *self, const options *asked)
{
    bool has_script = asked->script < self->argc, tty = isatty(STDIN_FILENO) != 0;
    bool prompt = asked->interactive || (!has_script && !asked->code && tty), fine;

    set_arg(L, self, asked->script);
    if (!open_penumbra(L, asked))
        return false;
    fine = run_codes(L, self, asked);
    if (fine && has_script)
        fine = run_script(L, self->argv[asked->script], self->argc - asked->script - 1, self->argv + asked->script + 1);
    else if (fine && !asked->code && !prompt)
        fine = run_script(L, NULL, 0, NULL);
    if (!fine && repl_was_interrupted() && !asked->interactive)
        repl_die_of_interrupt();
    return prompt ? run_prompt(L) : fine; /* -i shows the prompt after an error, too: to look around */
}

/* A program that wants the prompt next returns "prompt" in place of its exit status. */
static int finish_service(lua_State *L)
{
    if (lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "prompt") == 0)
        return run_prompt(L) ? EXIT_SUCCESS : EXIT_FAILURE;
    return (int)lua_tointeger(L, -1);
}

/* The kernel waits for requests most of the time: an interrupt is for the calls that these make. */
static repl_place place_of(const options *asked)
{
    return strcmp(asked->service, "kernel") == 0 ? REPL_EDITING : REPL_ENTRY;
}

/* EXIT_SUCCESS with the result on the top; the file of stdlib/programs catches what it can,
 * so what comes here is early or unforeseen. */
static int call_service(lua_State *L, int arguments, repl_place place)
{
    if (repl_call(L, arguments, 1, place) == LUA_OK)
        return EXIT_SUCCESS;
    repl_report(L, "penumbra: ");
    return repl_was_interrupted() ? EXIT_INTERRUPTED : EXIT_FAILURE;
}

/* The exit status: the file of stdlib/programs says which there are. */
static int run_service(lua_State *L, const invocation *self, const options *asked)
{
    int status;

    set_arg(L, self, asked->script);
    if (!open_penumbra(L, asked))
        return repl_was_interrupted() ? EXIT_INTERRUPTED : EXIT_FAILURE;
    lua_getglobal(L, "require");
    lua_pushstring(L, program_of(asked->service));
    status = call_service(L, 1, REPL_ENTRY);
    if (status != EXIT_SUCCESS)
        return status;
    luaL_checkstack(L, self->argc + 4, "too many arguments");
    for (int i = asked->script; i < self->argc; i++)
        lua_pushstring(L, self->argv[i]);
    status = call_service(L, self->argc - asked->script, place_of(asked));
    return status == EXIT_SUCCESS ? finish_service(L) : status;
}

static int protected_main(lua_State *L)
{
    invocation *self = lua_touserdata(L, 1);
    options asked;

    lua_settop(L, 0);
    self->exit_status = parse(self->argc, self->argv, &asked);
    if (self->exit_status != EXIT_SUCCESS)
        return 0;
    if (asked.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    if (asked.version) {
        (void)printf("Penumbra %s (%s)\n", push_version(L), LUA_RELEASE);
        return 0;
    }
    luaL_openlibs(L);
    lua_warning(L, "@on", 0);
    repl_catch_interrupts(L);
    pnl_run_print_beside_bar(L);
    if (asked.service) {
        if (place_of(&asked) == REPL_ENTRY && strcmp(asked.service, "course") != 0)
            repl_catch_termination(); /* a course has nothing to put away, and may become the prompt */
        self->exit_status = run_service(L, self, &asked);
        return 0;
    }
    self->exit_status = run(L, self, &asked) ? EXIT_SUCCESS : EXIT_FAILURE;
    return 0;
}

/* A write to a terminal fails also where Ctrl-C cut it off, which is what was wanted;
 * and who sits there sees what is missing. */
static bool output_is_lost(void)
{
    return (fflush(stdout) != 0 || ferror(stdout)) && !isatty(STDOUT_FILENO);
}

/* Vectors come and go all the time; by default glibc gives their pages back at once, and the system takes longer to
 * hand out new ones than most loops over them take. */
static void keep_pages(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

/* Under a limit this small OpenBLAS's threads would wait for ever, at the latest when the process ends. */
static void warn_of_few_addresses(void)
{
    const rlim_t needed = (rlim_t)pn_blas_addresses() + ((rlim_t)PROGRAM_MIB << 20);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed)
        return;
    (void)fprintf(
        stderr,
        "penumbra: warning: the limit on address space, %llu MiB, is below the %llu MiB that this program and "
        "OpenBLAS's threads map; OpenBLAS waits for ever where it gets less.  Raise `ulimit -v`, or set "
        "OPENBLAS_NUM_THREADS=1\n",
        (unsigned long long)(limit.rlim_cur >> 20), (unsigned long long)(needed >> 20));
}

int main(int argc, char **argv)
{
    invocation self = { argc, argv, EXIT_FAILURE };
    bool filled;
    lua_State *L;

    if (argc == 2 && strcmp(argv[1], "--curated") == 0) /* by a curator, with its socket */
        return pnl_serve();
    keep_pages();
    (void)signal(SIGXFSZ, SIG_IGN);   /* a write beyond a limit on the sizes of files fails, and is told */
    filled = pn_file_fill_standard(); /* first of all: no other file may get the place of one that is closed */
    if (!filled) {
        (void)fputs(
            "penumbra: standard input, output or error is closed, and /dev/null cannot be opened in its place\n",
            stderr);
        return EXIT_FAILURE;
    }
    warn_of_few_addresses();
    L = luaL_newstate();
    if (!L) {
        (void)fputs("penumbra: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &self);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        repl_report(L, "penumbra: ");
        self.exit_status = EXIT_FAILURE;
    }
    lua_close(L);
    if (output_is_lost() && self.exit_status == EXIT_SUCCESS) {
        (void)fputs("penumbra: standard output could not be written: not all of it is there\n", stderr);
        self.exit_status = EXIT_FAILURE;
    }
    return self.exit_status;
}
