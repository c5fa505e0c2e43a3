/* fail_calls.h -- who allocates: every call of an allocating function in runtime/, bindings/ or a test goes through a
 * wrapper (the linker's --wrap), which knows the place of the call, can make just that call fail, and remembers that it
 * did.  At its end a process writes the places to a file in the folder that PN_FAILED_CALLS names: the module, the
 * address to which the call returns, and F where the call was made to fail, else S (tests/build/fail_calls_spec.lua).
 * Depends on: libc.  Used by: fail_alloc.h, fail_calls.c, fail_lua.c. */
#ifndef PN_TESTS_FAIL_CALLS_H
#define PN_TESTS_FAIL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/** What the wrappers ask: whether the call that comes from `site` fails.  A sweep sets it; NULL: none does. */
typedef bool (*fail_calls_fn)(void *self, const void *site);
void fail_calls_ask(fail_calls_fn refuses, void *self);

/** The place of the last allocating call of this thread. */
const void *fail_calls_site(void);
/** A wrapper notes its place, and says nothing about failing: the allocator behind it is asked. */
void fail_calls_note(const void *site);
/** As fail_calls_note; and whether this call is to fail. */
bool fail_calls_refuses(const void *site);
/** The place was made to fail. */
void fail_calls_failed(const void *site);
/** Whether it was, at some time in this process. */
bool fail_calls_has_failed(const void *site);
/** How many programs this process has started. */
long fail_calls_started(void);
/** The last calls that lead here, the place and its callers, as a number. */
uint64_t fail_calls_chain(void);

/* Of the function that the wrapper stands for. */
#define FAIL_CALLS_HERE __builtin_return_address(0)
#define FAIL_CALLS_DECLARE(type, name, params)                                                                         \
    type __real_##name params; /* NOLINT: the linker's names */                                                        \
    type __wrap_##name params;
/** The function is asked through the allocator that stands behind it. */
#define FAIL_CALLS_NOTE(type, name, params, args)                                                                      \
    FAIL_CALLS_DECLARE(type, name, params)                                                                             \
    type __wrap_##name params                                                                                          \
    {                                                                                                                  \
        fail_calls_note(FAIL_CALLS_HERE);                                                                              \
        return __real_##name args;                                                                                     \
    }
/** The function fails by itself, with this value. */
#define FAIL_CALLS_WRAP(type, name, params, args, failure)                                                             \
    FAIL_CALLS_DECLARE(type, name, params)                                                                             \
    type __wrap_##name params                                                                                          \
    {                                                                                                                  \
        if (fail_calls_refuses(FAIL_CALLS_HERE))                                                                       \
            return failure;                                                                                            \
        return __real_##name args;                                                                                     \
    }

#endif
