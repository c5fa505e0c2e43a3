/* peek.c -- planted memory errors: a library pn.peek by which a script reads and writes at addresses.  Linked into the
 * tests' own program with faults (build/mutants/program) alone, to show what a memory error in a script's process can
 * reach and what it cannot.
 * Depends on: pnl.h, core/vault.h, Linux (/proc).  Used by: module.c and serve.c where PN_MUTANTS is defined. */
#define _GNU_SOURCE /* sigsetjmp, MAP_ANONYMOUS */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bindings/core/pnl.h"
#include "core/vault.h"
#include "tools/peek.h"

#define MOST_RANGES 512
#define GROWTH      ((uintptr_t)8 << 20) /* a heap may have grown since the map was read */

static struct range {
    uintptr_t begin, end;
} ranges[MOST_RANGES];
static size_t range_count;

/* Before the process gives up files. */
void pnl_peek_read_map(void)
{
    FILE *map = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char line[512];

    for (range_count = 0; map && range_count < MOST_RANGES && fgets(line, sizeof line, map);) {
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && !strstr(line, "[v"))
            ranges[range_count++] = (struct range){ begin, end };
    }
    if (map)
        (void)fclose(map);
}

static sigjmp_buf faulted;

static void on_fault(int number)
{
    siglongjmp(faulted, number);
}

/* Occurrences of the bytes pattern[i] ^ 0x5a, which stand nowhere themselves, in one page; -1: it cannot be read. */
static long in_page(const unsigned char *page, size_t size, const unsigned char *pattern, size_t length)
{
    long found = 0;

    if (sigsetjmp(faulted, 1) != 0)
        return -1;
    for (size_t i = 0; i + length <= size; i++) {
        size_t k = 0;

        while (k < length && ((const volatile unsigned char *)page)[i + k] == (pattern[k] ^ 0x5a))
            k++;
        found += k == length;
    }
    return found;
}

/* peek.find(masked) -> how often the bytes are in readable memory, how many pages were read, how many refused.  Pages
 * are looked at one by one, at all alignments within them. */
static int find(lua_State *L)
{
    size_t length, page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *pattern = (const unsigned char *)luaL_checklstring(L, 1, &length);
    volatile lua_Integer found = 0, read = 0, refused = 0;
    void (*segv)(int) = signal(SIGSEGV, on_fault), (*bus)(int) = signal(SIGBUS, on_fault);

    if (range_count == 0)
        pnl_peek_read_map();
    for (volatile size_t r = 0; r < range_count; r++) {
        uintptr_t end = ranges[r].end - ranges[r].begin < GROWTH ? ranges[r].end + GROWTH : ranges[r].end;

        if (r + 1 < range_count && end > ranges[r + 1].begin)
            end = ranges[r + 1].begin;
        for (volatile uintptr_t at = ranges[r].begin; at < end; at += page) {
            long here = in_page((const unsigned char *)at, page, pattern, length);

            if (here < 0)
                refused++;
            else
                read++;
            found += here > 0 ? here : 0;
            if (here < 0 && at - ranges[r].begin > (uintptr_t)1 << 28)
                break;
        }
    }
    (void)signal(SIGSEGV, segv);
    (void)signal(SIGBUS, bus);
    lua_pushinteger(L, found);
    lua_pushinteger(L, read);
    lua_pushinteger(L, refused);
    return 3;
}

/* peek.records(i) -> the address where the i-th set of shared records is mapped. */
static int records(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)(uintptr_t)pn_vault_pages((size_t)luaL_checkinteger(L, 1) - 1));
    return 1;
}

static int read_at(lua_State *L)
{
    lua_pushlstring(L, (const char *)(uintptr_t)luaL_checkinteger(L, 1), (size_t)luaL_checkinteger(L, 2));
    return 1;
}

static int write_at(lua_State *L)
{
    *(volatile unsigned char *)(uintptr_t)luaL_checkinteger(L, 1) = (unsigned char)luaL_checkinteger(L, 2);
    return 0;
}

/* What a process that was taken over would try first; 0 where it is allowed. */
static int try_call(const char *name)
{
    int result = -1;

    if (strcmp(name, "open") == 0)
        result = open("/dev/null", O_RDONLY);
    else if (strcmp(name, "socket") == 0)
        result = socket(AF_UNIX, SOCK_STREAM, 0);
    else if (strcmp(name, "signal") == 0)
        return kill(getppid(), 0);
    else if (strcmp(name, "execute") == 0)
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
    else if (strcmp(name, "fork") == 0 && (result = fork()) == 0)
        _exit(0);
    return result < 0 ? -1 : 0;
}

/* peek.call(name) -> whether it was allowed */
static int call(lua_State *L)
{
    lua_pushboolean(L, try_call(luaL_checkstring(L, 1)) == 0);
    return 1;
}

void pnl_open_peek(lua_State *L)
{
    static const pnl_row rows[] = {
        { "find", find, PNL_FUNCTION, PNL_NOTHING, "pn.peek.find(masked) -> count, read, refused", "Planted." },
        { "records", records, PNL_FUNCTION, PNL_NOTHING, "pn.peek.records(i) -> address", "Planted." },
        { "read", read_at, PNL_FUNCTION, PNL_NOTHING, "pn.peek.read(address, n) -> string", "Planted." },
        { "write", write_at, PNL_FUNCTION, PNL_NOTHING, "pn.peek.write(address, byte)", "Planted." },
        { "call", call, PNL_FUNCTION, PNL_NOTHING, "pn.peek.call(name) -> boolean", "Planted." },
        PNL_ROW_END,
    };

    pnl_library(L, "peek", "Planted memory errors.", rows);
    lua_setfield(L, -2, "peek");
}
