/* longjmp.c -- the longjmp of libraries that were built with _FORTIFY_SOURCE, as Lua's is, for programs under
 * ThreadSanitizer.  Its runtime has no __longjmp_chk of its own: it would take the functions that an error of Lua
 * leaves for ones that still run, name them in reports, and end the program at the 65536th.
 * Depends on: libc.  Used by: make test-threads. */
#include <setjmp.h>

__attribute__((visibility("default"))) _Noreturn void __longjmp_chk(struct __jmp_buf_tag *to, int value);

void __longjmp_chk(struct __jmp_buf_tag *to, int value)
{
    longjmp(to, value);
}
